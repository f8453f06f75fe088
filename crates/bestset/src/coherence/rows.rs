//! What is left of the curvature of a feature beside any m − 1 others (MATH 13.1).
//!
//!   Q̃ = Q_FF − Q_FÂ (Q_ÂÂ − ϱ Id)⁻¹ Q_ÂF,        d_j^m = Q̃_jj − sum of the m − 1 largest |Q̃_jk|, k ≠ j.

use super::Around;
use crate::control::Limits;
use crate::error::Result;
use crate::kernel;
use crate::problem::Problem;
use crate::problem::whitened::{Frame, is_constant};
use faer::linalg::matmul::matmul;
use faer::linalg::solvers::Solve;
use faer::{Accum, Mat, MatRef, Par, Side};
use rayon::prelude::*;

/// Largest entries of a row that are kept: a subset with more features outside Â is out of reach.
pub(super) const LARGEST: usize = 31;

/// Curvatures made together: two blocks of columns stay near the processor.
const BLOCK: usize = 128;

/// Columns that come together, where they are far.
const EXPECTED: usize = 8192;

/// Samples summed before the next are added: sums of sums round less.
const SAMPLES: usize = 1024;

/// Bytes for each entry of X: the column and what is left of it beside Â, in single precision, and copies of
/// both while they are made.
pub(super) const BYTES: f64 = 16.0;

/// Multiplications of single precision for one of double.
pub(super) const RATE: f64 = 20.0;

/// How many times as fast pairs are multiplied where the place of X does it: a device of two TFLOP/s and a processor of 20 GFLOP/s.
pub(super) const DEVICE_RATE: f64 = 100.0;

/// Rounding of single precision.
const SINGLE: f64 = 5.97e-8;

/// Bytes for each feature: the largest entries of its row of Q̃ and what is left of its curvature, twice.
pub(super) const BYTES_OF_ROW: f64 = 16.0 * 4.0 * (LARGEST + 1) as f64;

/// d_j^m for m = 1, 2, …, [`LARGEST`] + 1, side by side for each feature, at the least.
pub(super) struct Left(pub Vec<f64>);

impl Left {
    /// d_j^m of the feature at a place, m ≥ 1.
    pub fn at(&self, place: usize, m: usize) -> f64 {
        self.0[place * (LARGEST + 1) + m - 1]
    }
}

/// An entry of a row of Q̃.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct LargeEntry {
    pub value: f32,
    /// The place of the other feature.
    pub place: u32,
}

/// A row of Q̃.
pub(super) struct ListedRow {
    /// Q̃_jj.
    pub own: f64,
    /// What rounding may have done to each of its entries.
    pub error: f64,
    /// Its largest entries, largest first, the diagonal aside.
    pub largest: Vec<LargeEntry>,
}

/// The features outside Â that vary, and what correlates with each.
pub(super) struct Curvatures {
    /// F.
    pub features: Vec<usize>,
    /// 1/‖x̂_j‖.
    pub scales: Vec<f64>,
    /// |x̂_jᵀ(ŷ − X̂β̂)| / ‖x̂_j‖ at the most.
    pub pulls: Vec<f64>,
    pub rows: Vec<ListedRow>,
    /// d_j^m by single entries (MATH 13.1).
    pub plain: Left,
    columns: Mat<f32>,
    rests: Mat<f32>,
}

impl Curvatures {
    /// Q̃_jk of two places: kept, or made anew, within the error of either row.
    pub fn entry(&self, j: u32, k: u32) -> f64 {
        if j == k {
            return self.rows[j as usize].own;
        }
        let kept =
            |j: u32, k: u32| self.rows[j as usize].largest.iter().find(|e| e.place == k).map(|e| f64::from(e.value));
        let made = || {
            let (rest, column) = (self.rests.col_as_slice(j as usize), self.columns.col_as_slice(k as usize));
            rest.iter().zip(column).map(|(r, c)| f64::from(*r) * f64::from(*c)).sum()
        };
        kept(j, k).or_else(|| kept(k, j)).unwrap_or_else(made)
    }

    /// n|F|², the multiplications of a look at all pairs.
    pub fn work(&self) -> f64 {
        self.columns.nrows() as f64 * (self.features.len() as f64).powi(2)
    }

    /// d_j^m = Q̃_jj − (the m − 1 largest |Q̃_jk|) (MATH 13.1): one look at all pairs; nothing where columns have too few digits, or
    /// where the limits end it.
    pub fn new(
        problem: &Problem<'_>,
        frame: &Frame<'_>,
        around: &Around,
        delta: f64,
        limits: &Limits,
    ) -> Result<Option<Self>> {
        let (n, count) = (problem.nrows(), around.support.len());
        let may_enter = |j: &usize| {
            let c = problem.coordinate(*j);
            around.support.binary_search(j).is_err() && (c.lower, c.upper) != (0.0, 0.0)
        };
        let outside: Vec<usize> = (0..problem.ncols()).filter(may_enter).collect();
        let Some(metric) = Shifted::new(around, delta) else { return Ok(None) };
        // A constant column lowers no loss; one of which nothing but rounding is left might.
        let one = |&j: &usize| {
            Ok(match frame.unit(problem, j)? {
                Some(unit) if unit.reach < super::REACH => Some(Some((j, metric.take_from(around, unit)))),
                None if is_constant(problem, j)? => Some(None),
                _ => None,
            })
        };
        let mut made: Vec<Option<Option<(usize, OutsideColumn)>>> = Vec::with_capacity(outside.len());
        for soon in outside.chunks(EXPECTED) {
            problem.design().expect(soon)?;
            made.extend(soon.par_iter().map(one).collect::<Result<Vec<_>>>()?);
        }
        let Some(made) = made.into_iter().collect::<Option<Vec<_>>>() else { return Ok(None) };
        let made: Vec<(usize, OutsideColumn)> = made.into_iter().flatten().collect();
        // Sums of at most SAMPLES products in single precision, and sums of these, of columns rounded to it.
        let single = 1.01 * SINGLE * (SAMPLES.min(n) + n / SAMPLES + 8) as f64;
        let largest_reach = made.iter().map(|(_, m)| m.reach).fold(1.0, f64::max);
        let double = (f64::EPSILON * (n + 64 * (count + 1)) as f64 + metric.error) * largest_reach;
        let columns = Mat::from_fn(n, made.len(), |i, k| made[k].1.column[i]);
        let rests = Mat::from_fn(n, made.len(), |i, k| made[k].1.rest[i]);
        let Some(lists) = largest_entries(problem, &rests, &columns, limits)? else { return Ok(None) };
        let row = |(largest, (_, own)): (Vec<LargeEntry>, &(usize, OutsideColumn))| ListedRow {
            own: own.own,
            error: (single + double) * own.rest_length,
            largest,
        };
        let rows: Vec<ListedRow> = lists.into_iter().zip(&made).map(row).collect();
        let plain = Left(rows.iter().flat_map(ListedRow::left).collect());
        let (features, scales) = made.iter().map(|(j, m)| (*j, m.scale)).unzip();
        let pulls = made.iter().map(|(_, m)| m.pull).collect();
        Ok(Some(Self { features, scales, pulls, rows, plain, columns, rests }))
    }
}

/// The largest |Q̃_jk|, k ≠ j, of every row (MATH 13.1): by the place of X where that multiplies faster; nothing where the limits end it.
fn largest_entries(
    problem: &Problem<'_>,
    rests: &Mat<f32>,
    columns: &Mat<f32>,
    limits: &Limits,
) -> Result<Option<Vec<Vec<LargeEntry>>>> {
    let count = columns.ncols();
    if problem.design().multiplies_pairs() && count > 1 {
        let [left, right] = [rests, columns].map(|m| (0..count).map(|k| m.col_as_slice(k)).collect::<Vec<&[f32]>>());
        if let Some(lists) = problem.design().largest_products(&left, &right, LARGEST)? {
            let entry = |(place, value)| LargeEntry { value, place };
            let list = |list: Vec<(u32, f32)>| largest(list.into_iter().map(entry).collect());
            return Ok(Some(lists.into_par_iter().map(list).collect()));
        }
    }
    let blocks: Vec<usize> = (0..count).step_by(BLOCK).collect();
    let block = |first: usize| {
        if limits.stop(0).is_some() {
            return None;
        }
        let width = BLOCK.min(count - first);
        let products = products(rests.as_ref().subcols(first, width), columns.as_ref());
        let list = |a: usize| {
            // By columns: products holds one for each row of Q̃.
            let entry = |k: usize| LargeEntry { value: products[(k, a)], place: k as u32 };
            largest((0..count).filter(|&k| k != first + a).map(entry).collect())
        };
        Some((0..width).map(list).collect::<Vec<Vec<LargeEntry>>>())
    };
    let lists: Option<Vec<Vec<Vec<LargeEntry>>>> = blocks.into_par_iter().map(block).collect();
    Ok(lists.map(|lists| lists.into_iter().flatten().collect()))
}

/// The largest of some entries, largest first.
fn largest(mut entries: Vec<LargeEntry>) -> Vec<LargeEntry> {
    let order = |a: &LargeEntry, b: &LargeEntry| b.value.abs().total_cmp(&a.value.abs()).then(a.place.cmp(&b.place));
    if entries.len() > LARGEST {
        entries.select_nth_unstable_by(LARGEST, order);
        entries.truncate(LARGEST);
    }
    entries.sort_unstable_by(order);
    entries.shrink_to_fit();
    entries
}

impl ListedRow {
    /// d_j^m = Q̃_jj − (the m − 1 largest |Q̃_jk|) for m = 1, 2, …, each entry with its rounding (MATH 13.1).
    fn left(&self) -> Vec<f64> {
        let mut left = self.own - self.error;
        let sizes = self.largest.iter().map(|e| f64::from(e.value.abs()));
        let none = std::iter::repeat_n(0.0, LARGEST - self.largest.len());
        std::iter::once(left)
            .chain(sizes.chain(none).map(|size| {
                left -= (size + self.error) * (1.0 + 4.0 * f64::EPSILON);
                left
            }))
            .collect()
    }
}

/// A column outside Â, as the look at all pairs needs it.
struct OutsideColumn {
    column: Vec<f32>,
    /// x − X_Â (Q_ÂÂ − ϱ Id)⁻¹ X_Âᵀx.
    rest: Vec<f32>,
    /// Its length, at the most.
    rest_length: f64,
    /// Q̃_jj.
    own: f64,
    scale: f64,
    reach: f64,
    pull: f64,
}

/// (Q_ÂÂ − ϱ Id)⁻¹.
struct Shifted {
    factor: Option<faer::linalg::solvers::Llt<f64>>,
    /// What rounding of the solutions does to an entry of Q̃.
    error: f64,
}

impl Shifted {
    fn new(around: &Around, delta: f64) -> Option<Self> {
        let count = around.support.len();
        if count == 0 {
            return Some(Self { factor: None, error: 0.0 });
        }
        let shifted = Mat::from_fn(count, count, |a, b| around.gram[(a, b)] - if a == b { delta } else { 0.0 });
        let factor = shifted.llt(Side::Lower).ok()?;
        // A solution is off by |Â| ε ‖M⁻¹‖² ‖q‖, ‖q‖² ≤ |Â|, and is multiplied by another q; M itself is
        // off by the rounding of Q_ÂÂ (`Terms::new`).
        let inverse = 1.0 / (around.least - delta);
        let error = 64.0 * f64::EPSILON * (count as f64).powi(2) * inverse * inverse;
        (error < 1e-6).then_some(Self { factor: Some(factor), error })
    }

    fn take_from(&self, around: &Around, unit: crate::problem::whitened::Unit) -> OutsideColumn {
        let n = unit.values.len() as f64;
        let products: Vec<f64> = around.columns.iter().map(|a| kernel::dot(&a.values, &unit.values)).collect();
        let mut rest = unit.values.clone();
        if let Some(factor) = &self.factor {
            let right = Mat::from_fn(products.len(), 1, |a, _| products[a]);
            let solution = factor.solve(&right);
            for (a, column) in around.columns.iter().enumerate() {
                kernel::axpy(-solution[(a, 0)], &column.values, &mut rest);
            }
        }
        let own = kernel::dot(&unit.values, &rest);
        let rest_length = 1.01 * kernel::squares(&rest).sqrt();
        let length = kernel::squares(&around.residual).sqrt();
        let pull = kernel::dot(&unit.values, &around.residual).abs() + f64::EPSILON * (n + 64.0) * unit.reach * length;
        let single = |v: &[f64]| v.iter().map(|x| *x as f32).collect::<Vec<f32>>();
        let (column, rest) = (single(&unit.values), single(&rest));
        OutsideColumn { column, rest, rest_length, own, scale: unit.scale, reach: unit.reach, pull }
    }
}

/// Q̃ᵀ of the features of a block, whose rests are given, with all columns.
fn products(rests: MatRef<'_, f32>, columns: MatRef<'_, f32>) -> Mat<f32> {
    let n = columns.nrows();
    let mut sums = Mat::<f32>::zeros(columns.ncols(), rests.ncols());
    for from in (0..n).step_by(SAMPLES) {
        let samples = SAMPLES.min(n - from);
        let (left, right) = (columns.subrows(from, samples), rests.subrows(from, samples));
        matmul(sums.as_mut(), Accum::Add, left.transpose(), right, 1.0, Par::Seq);
    }
    sums
}
