//! The features outside Â, and rows of Q̃ with what they leave of the curvature of a feature beside any m − 1 others (MATH 13.1).
//!
//!   Q̃ = Q_FF − Q_FÂ (Q_ÂÂ − ϱ Id)⁻¹ Q_ÂF,        d_j^m = Q̃_jj − sum of the m − 1 largest |Q̃_jk|, k ≠ j.

use super::pairs::{LARGEST, LargeEntry, SAMPLES, order, products};
use super::{Apart, Around};
use crate::design::correlate_many;
use crate::error::Result;
use crate::kernel;
use crate::kernel::each::{chosen, each, largest};
use crate::problem::Problem;
use crate::problem::whitened::{Frame, is_constant};
use faer::linalg::solvers::Solve;
use faer::{Mat, Side};
use rayon::prelude::*;

/// Columns that come together, where they are far.
const EXPECTED: usize = 8192;

/// Bytes for each entry of X: the column, where it is copied, and what is left of it beside Â, both in single precision, and copies
/// of these while they are made.
pub(super) const BYTES: f64 = 24.0;

/// How many times as fast pairs are multiplied where the place of X does it: a device of two TFLOP/s and a processor of 20 GFLOP/s.
pub(super) const DEVICE_RATE: f64 = 100.0;

/// The same where nothing need be copied and factors may be rounded. An H200 multiplies twenty thousand times as fast, but what is left shrinks
/// fast while nodes are split: at p = 10⁷ a look is due among some 700,000 features with this, and takes as long as the nodes that would halve them.
pub(super) const LISTING_RATE: f64 = 400.0;

/// Rounding of single precision.
const SINGLE: f64 = 5.97e-8;

/// Columns that are the difference of numbers this many times as large are copied, and do not stay where X is: their lengths there have too few
/// digits.
const FEW_DIGITS: f64 = 32.0;

/// Squares of columns that are shorter have too few digits for a length: those below 10⁻³⁰⁸ lose theirs.
const SHORTEST: f64 = 1e-140;

/// Bytes for each feature: the largest entries of its row of Q̃ and what is left of its curvature, twice.
pub(super) const BYTES_OF_ROW: f64 = 16.0 * 4.0 * (LARGEST + 1) as f64;

/// d_j^m for m = 1, 2, …, [`LARGEST`] + 1, side by side for each feature, at the least.
pub(super) struct Left(pub Vec<f64>);

impl Left {
    /// By the entries of these rows.
    pub fn of(rows: &[ListedRow]) -> Self {
        let mut left = vec![0.0; rows.len() * (LARGEST + 1)];
        left.par_chunks_mut(LARGEST + 1).zip(rows).for_each(|(left, row)| row.left(left));
        Self(left)
    }

    /// d_j^m of the feature at a place, m ≥ 1.
    pub fn at(&self, place: usize, m: usize) -> f64 {
        self.0[place * (LARGEST + 1) + m - 1]
    }
}

/// A row of Q̃.
pub(super) struct ListedRow {
    /// Of the feature whose row it is.
    pub place: usize,
    /// Q̃_jj.
    pub own: f64,
    /// What rounding may have done to each of its entries.
    pub error: f64,
    /// Its largest entries, largest first, the diagonal aside.
    pub largest: Vec<LargeEntry>,
}

/// The features outside Â that vary, or some of them, and how much each would like to be in.
pub(super) struct Pulled {
    /// F.
    pub features: Vec<usize>,
    /// 1/‖x̂_j‖.
    pub scales: Vec<f64>,
    /// |x̂_jᵀ(ŷ − X̂β̂)| / ‖x̂_j‖ at the most.
    pub pulls: Vec<f64>,
}

/// The columns of the features outside Â, and what is left of them beside Â.
pub(super) struct Outside {
    pub pulled: Pulled,
    /// Q̃_jj.
    pub own: Vec<f64>,
    /// What rounding may have done to each entry of Q̃. The longest rest stands for all: each entry is made of one of two, and none
    /// is longer than max(1, share/(1 − share)).
    pub error: f64,
    /// At least what the checker of a proof allows for in each entry.
    proof_error: f64,
    /// Whether a checker makes the entries itself, with an error of its own: ours is not to be larger for speed.
    pub is_for_proof: bool,
    pub columns: OutsideColumns,
}

/// The columns of the features outside Â.
pub(super) enum OutsideColumns {
    /// Copies of them, and what is left of each.
    Here(Copies),
    /// Where X is.
    There(Basis),
}

/// What the place of X is told of Â.
pub(super) struct Basis {
    /// The columns of Â, of length one.
    pub vectors: Vec<Vec<f64>>,
    /// (Q_ÂÂ − ϱ Id)⁻¹, row by row.
    pub inverse: Vec<f64>,
    pub is_centred: bool,
    /// What each feature costs, and what two of them may cost (MATH 13.10).
    pub apart: Option<(Vec<f64>, f64)>,
}

/// Columns and what is left of them beside Â.
pub(super) struct Copies {
    pub columns: Mat<f32>,
    pub rests: Mat<f32>,
}

impl Outside {
    /// With the rounding that the checker of a proof allows for.
    pub fn for_proof(self) -> Self {
        Self { error: self.error.max(self.proof_error), is_for_proof: true, ..self }
    }

    /// Nothing where columns have too few digits.
    pub fn new(problem: &Problem<'_>, frame: &Frame<'_>, around: &Around, delta: f64) -> Result<Option<Self>> {
        let (n, count) = (problem.nrows(), around.support.len());
        let outside: Vec<usize> = (0..problem.ncols()).filter(|&j| may_enter(problem, around, j)).collect();
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
        let largest = |of: fn(&OutsideColumn) -> f64, least: f64| made.iter().map(|(_, m)| of(m)).fold(least, f64::max);
        // Sums of at most SAMPLES products in single precision, and sums of these, of columns rounded to it.
        let single = 1.01 * SINGLE * (SAMPLES.min(n) + n / SAMPLES + 8) as f64;
        let double = (f64::EPSILON * (n + 64 * (count + 1)) as f64 + metric.error) * largest(|m| m.reach, 1.0);
        let error = (single + double) * largest(|m| m.rest_length, 0.0);
        // E of (PROOF P17) and its (1 − ε), by sums of 64 products in single precision; a tenth is for what is not known here.
        let share = 2.0 * 72.0 / f64::from(1 << 24) + f64::EPSILON * (2 * n + 8 * count + 512) as f64 + 1.2e-7;
        let proof_error = 1.1 * share * largest(|m| m.reached, 1.0).powi(2);
        let (columns, rests) = (side_by_side(n, &made, |m| &m.column), side_by_side(n, &made, |m| &m.rest));
        let (features, scales) = made.iter().map(|(j, m)| (*j, m.scale)).unzip();
        let pulled = Pulled { features, scales, pulls: made.iter().map(|(_, m)| m.pull).collect() };
        let own = made.iter().map(|(_, m)| m.own).collect();
        let columns = OutsideColumns::Here(Copies { columns, rests });
        Ok(Some(Self { pulled, own, error, proof_error, is_for_proof: false, columns }))
    }

    /// The same of columns that stay where X is: from their products with those of Â. Nothing where they have too few digits, or samples have
    /// weights. Features that no better subset has are left out.
    pub fn elsewhere(
        problem: &Problem<'_>,
        around: &Around,
        delta: f64,
        apart: Option<&Apart>,
    ) -> Result<Option<Self>> {
        let (n, count) = (problem.nrows(), around.support.len());
        let Some(metric) = Shifted::new(around, delta).filter(|_| problem.weights().is_none()) else { return Ok(None) };
        let (lengths, squares, design) = (problem.lengths()?, problem.squares()?, problem.design());
        let reach = |j: usize| squares[j].sqrt().max(design.offset(j) * (n as f64).sqrt()) / lengths.of(j);
        let may_be = |j: usize| may_enter(problem, around, j) && apart.is_none_or(|apart| apart.may_have(j));
        let features = chosen(problem.ncols(), |j| may_be(j).then_some(j));
        let largest_reach = largest(features.len(), |k| reach(features[k]).max(1.0));
        if !features.iter().all(|j| reach(*j) < FEW_DIGITS && lengths.of(*j) > SHORTEST) {
            return Ok(None);
        }
        let vectors: Vec<&[f64]> =
            around.columns.iter().map(|u| u.values.as_slice()).chain([around.residual.as_slice()]).collect();
        let mut products = vec![0.0; features.len() * (count + 1)];
        correlate_many(design, &features, &vectors, &mut products, &|| Ok(()))?;
        let scales = each(features.len(), |k| 1.0 / lengths.of(features[k]));
        // What a product of columns of length one may be off by.
        let off = (f64::EPSILON * (n + 64) as f64 + design.rounding()) * largest_reach;
        let length = kernel::squares(&around.residual).sqrt();
        let one = |k: usize| {
            let own = &products[k * (count + 1)..(k + 1) * (count + 1)];
            let (own, residual) = own.split_at(count);
            let scaled: Vec<f64> = own.iter().map(|q| q * scales[k]).collect();
            let left = metric.left(around, &scaled);
            // Scales are off by no more than the digits that centring costs.
            let pull = residual[0].abs() * scales[k] * (1.0 + off * largest_reach) + off * length;
            (left.own, left.length, pull)
        };
        let made = each(features.len(), one);
        let inverse_size = if count == 0 { 0.0 } else { 1.0 / (around.least - delta) };
        let double = 8.0 * (off * largest_reach * (1.0 + count as f64 * inverse_size) + metric.error * largest_reach);
        let error = double * made.iter().map(|m| m.1).fold(1.0, f64::max);
        let vectors = around.columns.iter().map(|u| u.values.clone()).collect();
        let (inverse, apart) = (metric.inverse(count), apart.map(|apart| apart.of(&features)));
        let basis = Basis { vectors, inverse, is_centred: problem.has_intercept(), apart };
        let pulled = Pulled { features, scales, pulls: made.iter().map(|m| m.2).collect() };
        let own = made.iter().map(|m| m.0).collect();
        Ok(Some(Self {
            pulled,
            own,
            error,
            proof_error: f64::INFINITY,
            is_for_proof: false,
            columns: OutsideColumns::There(basis),
        }))
    }

    /// The rows of the features that pull most.
    pub fn strongest(&self, count: usize) -> Vec<ListedRow> {
        let pulls = &self.pulled.pulls;
        let mut places: Vec<usize> = (0..pulls.len()).collect();
        places.sort_unstable_by(|a, b| pulls[*b].total_cmp(&pulls[*a]).then(a.cmp(b)));
        places.truncate(count);
        let OutsideColumns::Here(Copies { columns, rests }) = &self.columns else { return Vec::new() };
        let row = |&j: &usize| {
            let all = products(rests.as_ref().subcols(j, 1), columns.as_ref());
            let entry = |k: usize| LargeEntry { value: all[(k, 0)], place: k as u32 };
            let mut largest: Vec<LargeEntry> = (0..pulls.len()).filter(|k| *k != j).map(entry).collect();
            largest.sort_unstable_by(order);
            largest.truncate(LARGEST);
            ListedRow { place: j, own: self.own[j], error: self.error, largest }
        };
        places.par_iter().map(row).collect()
    }

    /// Some of the features, and what is left of the curvature of each beside any of all the others.
    pub fn some(&self, rows: &[ListedRow]) -> (Pulled, Left) {
        let Pulled { features, scales, pulls } = &self.pulled;
        let of = |values: &[f64]| rows.iter().map(|r| values[r.place]).collect();
        let features = rows.iter().map(|r| features[r.place]).collect();
        (Pulled { features, scales: of(scales), pulls: of(pulls) }, Left::of(rows))
    }
}

impl ListedRow {
    /// d_j^m = Q̃_jj − (the m − 1 largest |Q̃_jk|) for m = 1, 2, …, as many as there is room for, each entry with its rounding (MATH 13.1).
    fn left(&self, out: &mut [f64]) {
        let mut left = self.own - self.error;
        let sizes = self.largest.iter().map(|e| f64::from(e.value.abs())).chain(std::iter::repeat(0.0));
        out[0] = left;
        for (out, size) in out[1..].iter_mut().zip(sizes) {
            left -= (size + self.error) * (1.0 + 4.0 * f64::EPSILON);
            *out = left;
        }
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
    /// 1 + Σ|w_a|: the lengths of all that the rest is made of.
    reached: f64,
    pull: f64,
}

/// Whether a feature is outside Â and is not held at zero.
fn may_enter(problem: &Problem<'_>, around: &Around, j: usize) -> bool {
    let c = problem.coordinate(j);
    around.support.binary_search(&j).is_err() && (c.lower, c.upper) != (0.0, 0.0)
}

/// What is left of a column beside Â.
struct RestOf {
    /// Q̃_jj.
    own: f64,
    /// The length of the rest, at the most.
    length: f64,
}

/// One vector of each column, as a matrix.
fn side_by_side(n: usize, made: &[(usize, OutsideColumn)], of: fn(&OutsideColumn) -> &Vec<f32>) -> Mat<f32> {
    let mut all = Mat::zeros(n, made.len());
    let each: Vec<_> = all.col_iter_mut().zip(made).collect();
    each.into_par_iter().for_each(|(out, (_, m))| out.iter_mut().zip(of(m)).for_each(|(o, x)| *o = *x));
    all
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

    /// (Q_ÂÂ − ϱ Id)⁻¹, row by row.
    fn inverse(&self, count: usize) -> Vec<f64> {
        let Some(factor) = &self.factor else { return Vec::new() };
        let inverse = factor.solve(&Mat::<f64>::identity(count, count));
        (0..count * count).map(|k| inverse[(k / count, k % count)]).collect()
    }

    /// Of a column of length one with these products with those of Â.
    fn left(&self, around: &Around, products: &[f64]) -> RestOf {
        let Some(factor) = &self.factor else { return RestOf { own: 1.0, length: 1.01 } };
        let solution = factor.solve(&Mat::from_fn(products.len(), 1, |a, _| products[a]));
        let taken: f64 = products.iter().enumerate().map(|(a, q)| q * solution[(a, 0)]).sum();
        let of_taken = &around.gram * &solution;
        let squares: f64 = (0..products.len()).map(|a| of_taken[(a, 0)] * solution[(a, 0)]).sum();
        // ‖x − X_Âw‖² = 1 − 2qᵀw + wᵀQ_ÂÂw.
        RestOf { own: 1.0 - taken, length: 1.01 * (1.0 - 2.0 * taken + squares).max(0.0).sqrt() + 1e-6 }
    }

    fn take_from(&self, around: &Around, unit: crate::problem::whitened::Unit) -> OutsideColumn {
        let n = unit.values.len() as f64;
        let products: Vec<f64> = around.columns.iter().map(|a| kernel::dot(&a.values, &unit.values)).collect();
        let (mut rest, mut reached) = (unit.values.clone(), 1.0);
        if let Some(factor) = &self.factor {
            let right = Mat::from_fn(products.len(), 1, |a, _| products[a]);
            let solution = factor.solve(&right);
            for (a, column) in around.columns.iter().enumerate() {
                kernel::axpy(-solution[(a, 0)], &column.values, &mut rest);
                reached += solution[(a, 0)].abs();
            }
        }
        let own = kernel::dot(&unit.values, &rest);
        let rest_length = 1.01 * kernel::squares(&rest).sqrt();
        let length = kernel::squares(&around.residual).sqrt();
        let pull = kernel::dot(&unit.values, &around.residual).abs() + f64::EPSILON * (n + 64.0) * unit.reach * length;
        let single = |v: &[f64]| v.iter().map(|x| *x as f32).collect::<Vec<f32>>();
        let (column, rest) = (single(&unit.values), single(&rest));
        OutsideColumn { column, rest, rest_length, own, scale: unit.scale, reach: unit.reach, reached, pull }
    }
}
