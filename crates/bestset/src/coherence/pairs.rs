//! The largest entries of each row of Q̃. It is symmetric: each pair of features is multiplied once, and looked at from both sides.

use crate::control::Limits;
use crate::design::{Design, LargeProducts, PairsAsked};
use crate::error::Result;
use crate::kernel::integers::{self, IntegerColumns};
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par};
use rayon::prelude::*;
use std::ops::Range;

/// Largest entries of a row that are kept: a subset with more features outside Â is out of reach.
pub(super) const LARGEST: usize = 31;

/// Samples summed before the next are added: sums of sums round less.
pub(super) const SAMPLES: usize = 1024;

/// Rows made together at the most: two blocks of columns stay near the processor.
const BLOCK: usize = 128;

/// Rows made together at first, when every entry may be among the largest of its row: about as many as are kept.
const FIRST: usize = 32;

/// Columns multiplied together with a block of rows: their products stay near the processor until they are looked at.
const WIDTH: usize = 2048;

/// Features from which on columns are rounded to integers: n = 1000, 10⁴ of them take 0.5 s in single precision. Fewer keep their digits.
const MANY: usize = 8192;

/// Multiplications of single precision, and of integers, that take as long as one of double precision where nothing is gained from memory that is near.
const RATES: (f64, f64) = (20.0, 60.0);

/// Samples up to which integers cost less than [`MOST_LOST`], as a rule.
const FEW_LOST: usize = 6000;

/// What rounding to integers may cost an entry of Q̃: a hundredth of what its largest ones are at n = 1000. It grows with √n.
const MOST_LOST: f64 = 1e-3;

/// Rows after which the lists are brought up to date at the latest: what is found in between waits in memory.
const BAND: usize = 4096;

/// Entries compared at once, without a branch for each: a vector of sixteen.
const LANES: usize = 16;

/// Entries of a row after which the lesser ones are forgotten.
const FULL: usize = 4 * LARGEST;

/// Multiplications among so many features of so many samples that take as long as one of double precision.
pub(super) fn rate(samples: usize, features: f64) -> f64 {
    let (single, integers) = RATES;
    if features >= MANY as f64 && samples <= FEW_LOST && integers::are_fast() { integers } else { single }
}

/// An entry of a row of Q̃.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct LargeEntry {
    pub value: f32,
    /// The place of the other feature.
    pub place: u32,
}

/// An entry that may be among the largest of a row.
struct FoundEntry {
    row: u32,
    entry: LargeEntry,
}

/// What entries of Q̃ are multiplied from.
enum PairFactors<'m> {
    Single { rests: MatRef<'m, f32>, columns: MatRef<'m, f32> },
    Integers { rests: IntegerColumns, columns: IntegerColumns },
}

impl<'m> PairFactors<'m> {
    /// In integers where they may be rounded to these, where that is worth it and costs few digits, with what it may cost an entry.
    fn new(rests: MatRef<'m, f32>, columns: MatRef<'m, f32>, may_round: bool) -> (Self, f64) {
        let integers = |m: MatRef<'m, f32>| {
            IntegerColumns::new(
                m.nrows(),
                (0..m.ncols()).map(|k| m.col(k).try_as_col_major().expect("columns").as_slice()),
            )
        };
        let made = if may_round && columns.ncols() >= MANY { integers(rests).zip(integers(columns)) } else { None };
        let made = made.map(|(rests, columns)| (rests.error(&columns), Self::Integers { rests, columns }));
        match made.filter(|made| made.0 <= MOST_LOST) {
            Some((error, factors)) => (factors, error),
            None => (Self::Single { rests, columns }, 0.0),
        }
    }

    fn count(&self) -> usize {
        match self {
            Self::Single { columns, .. } => columns.ncols(),
            Self::Integers { columns, .. } => columns.count(),
        }
    }

    /// The entries of some rows with some columns, those of a row side by side.
    fn entries(&self, rows: Range<usize>, columns: Range<usize>) -> Vec<f32> {
        match self {
            Self::Single { rests, columns: all } => {
                let found = products(rests.subcols(rows.start, rows.len()), all.subcols(columns.start, columns.len()));
                (0..rows.len()).flat_map(|a| found.col_as_slice(a).iter().copied()).collect()
            }
            Self::Integers { rests, columns: all } => {
                let mut found = vec![0.0; rows.len() * columns.len()];
                integers::products(rests, rows, all, columns, &mut found);
                found
            }
        }
    }
}

/// The largest entries of every row, and what rounding to integers may have done to each beside that to single precision.
pub(super) struct Listed {
    pub rows: Vec<Vec<LargeEntry>>,
    pub error: f64,
}

/// The [`LARGEST`] largest |Q̃_jk|, k ≠ j, of each row j, largest first, with Q̃_jk = (rest of j)ᵀ(column k) for j < k; `None` where the
/// limits end it.
pub(super) fn largest_entries(
    rests: MatRef<'_, f32>,
    columns: MatRef<'_, f32>,
    may_round: bool,
    limits: &Limits,
) -> Option<Listed> {
    let (factors, error) = PairFactors::new(rests, columns, may_round);
    Some(Listed { rows: largest_of(&factors, limits)?, error })
}

/// As [`largest_entries`]. After every band of rows it is known what an entry must exceed to be among the largest of its row: few do.
fn largest_of(factors: &PairFactors<'_>, limits: &Limits) -> Option<Vec<Vec<LargeEntry>>> {
    let count = factors.count();
    let (mut lists, mut least): (Vec<Vec<LargeEntry>>, Vec<f32>) = (vec![Vec::new(); count], vec![-1.0; count]);
    let mut first = 0;
    while first < count {
        let end = (first + first.clamp(FIRST, BAND)).min(count);
        let height = (end - first).min(BLOCK);
        let block = |from: usize| {
            let rows = (from, height.min(end - from));
            limits.stop(0).is_none().then(|| found_entries(factors, rows, &least))
        };
        let blocks: Vec<usize> = (first..end).step_by(height).collect();
        let found: Option<Vec<Vec<FoundEntry>>> = blocks.into_par_iter().map(block).collect();
        found?.into_iter().flatten().for_each(|c| lists[c.row as usize].push(c.entry));
        lists.par_iter_mut().zip(&mut least).for_each(|(list, least)| {
            if list.len() > LARGEST {
                *least = keep_largest(list);
            }
        });
        first = end;
    }
    lists.par_iter_mut().for_each(|list| {
        list.sort_unstable_by(order);
        list.shrink_to_fit();
    });
    Some(lists)
}

/// The same lists by the place of X, where that multiplies faster; each entry by the rest of its row.
pub(super) fn multiplied_elsewhere(
    design: &dyn Design,
    rests: &Mat<f32>,
    columns: &Mat<f32>,
) -> Result<Option<Vec<Vec<LargeEntry>>>> {
    let count = columns.ncols();
    if !design.multiplies_pairs() || count < 2 {
        return Ok(None);
    }
    let [left, right] = [rests, columns].map(|m| (0..count).map(|k| m.col_as_slice(k)).collect::<Vec<&[f32]>>());
    let found = design.largest_products(&left, &right, LARGEST)?;
    Ok(found.map(|lists| lists.into_par_iter().map(largest_first).collect()))
}

/// The same lists of columns that are not here, by the place of X, and what rounding there may have done to each entry; nothing where it has none.
pub(super) fn listed_elsewhere(
    design: &dyn Design,
    asked: &PairsAsked<'_>,
) -> Result<Option<(Vec<Vec<LargeEntry>>, f64)>> {
    let features = asked.features.len();
    // One feature has no pair, and an object need not know what to answer.
    if features < 2 {
        return Ok(Some((vec![Vec::new(); features], 0.0)));
    }
    let Some(found) = design.largest_pairs(asked)? else { return Ok(None) };
    // What a row does not list would be taken for nothing where it lists too few.
    let is_row = |row: &LargeProducts| row.len() == asked.count && row.iter().all(|e| (e.0 as usize) < features);
    let are_rows = found.rows.len() == features && found.rows.iter().all(is_row);
    let is_known = are_rows && found.error >= 0.0 && found.error.is_finite();
    Ok(is_known.then(|| (found.rows.into_par_iter().map(largest_first).collect(), found.error)))
}

/// The list of one row, no longer than others are.
fn largest_first(found: LargeProducts) -> Vec<LargeEntry> {
    let mut list: Vec<LargeEntry> = found.into_iter().map(|(place, value)| LargeEntry { value, place }).collect();
    list.sort_unstable_by(order);
    list.truncate(LARGEST);
    list
}

/// Largest first.
pub(super) fn order(a: &LargeEntry, b: &LargeEntry) -> std::cmp::Ordering {
    b.value.abs().total_cmp(&a.value.abs()).then(a.place.cmp(&b.place))
}

/// Forgets all but the largest; what others must exceed from now on.
fn keep_largest(list: &mut Vec<LargeEntry>) -> f32 {
    list.select_nth_unstable_by(LARGEST - 1, order);
    list.truncate(LARGEST);
    list[LARGEST - 1].value.abs()
}

/// The entries of a block of rows with all later columns that may be among the largest of their row, or of the other.
fn found_entries(factors: &PairFactors<'_>, (from, height): (usize, usize), least: &[f32]) -> Vec<FoundEntry> {
    let mut found = Vec::new();
    let mut rows: Vec<OwnEntries> = (from..from + height).map(|row| OwnEntries::new(row, least[row])).collect();
    for first in (from..factors.count()).step_by(WIDTH) {
        let columns = first..(first + WIDTH).min(factors.count());
        let width = columns.len();
        let entries = factors.entries(from..from + height, columns.clone());
        for (own, values) in rows.iter_mut().zip(entries.chunks(width)) {
            // Of its own block a row has the later ones alone.
            let later = (own.row + 1).clamp(columns.start, columns.end);
            own.look_at(later, &values[later - first..], &least[later..columns.end], &mut found);
        }
    }
    for OwnEntries { row, entries, .. } in rows {
        found.extend(entries.into_iter().map(|entry| FoundEntry { row: row as u32, entry }));
    }
    found
}

/// What a row has found for itself.
struct OwnEntries {
    row: usize,
    entries: Vec<LargeEntry>,
    /// What an entry must exceed.
    least: f32,
}

impl OwnEntries {
    fn new(row: usize, least: f32) -> Self {
        Self { row, entries: Vec::new(), least }
    }

    /// The entries with the columns from `first` on: those that may be among its largest, or among those of the other.
    fn look_at(&mut self, first: usize, values: &[f32], least: &[f32], found: &mut Vec<FoundEntry>) {
        // What is no number is not small.
        let is_small = |v: &f32, than: f32| v.abs() <= than;
        for (block, (values, least)) in values.chunks(LANES).zip(least.chunks(LANES)).enumerate() {
            if values.iter().zip(least).fold(true, |all, (v, l)| all & is_small(v, *l) & is_small(v, self.least)) {
                continue;
            }
            for (e, (&value, &least)) in values.iter().zip(least).enumerate() {
                let other = (first + block * LANES + e) as u32;
                if !is_small(&value, least) {
                    found.push(FoundEntry { row: other, entry: LargeEntry { value, place: self.row as u32 } });
                }
                if !is_small(&value, self.least) {
                    self.entries.push(LargeEntry { value, place: other });
                }
            }
            if self.entries.len() > FULL {
                self.least = keep_largest(&mut self.entries);
            }
        }
    }
}

/// Q̃ᵀ of the features of a block, whose rests are given, with some columns: a column for each of the block.
pub(super) fn products(rests: MatRef<'_, f32>, columns: MatRef<'_, f32>) -> Mat<f32> {
    let n = columns.nrows();
    let mut sums = Mat::<f32>::zeros(columns.ncols(), rests.ncols());
    for from in (0..n).step_by(SAMPLES) {
        let samples = SAMPLES.min(n - from);
        let (left, right) = (columns.subrows(from, samples), rests.subrows(from, samples));
        matmul(sums.as_mut(), Accum::Add, left.transpose(), right, 1.0, Par::Seq);
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Options;
    use crate::common::{normal, rng};
    use crate::control::Monitor;

    /// In integers every product that is listed is within the error that is stated of the one in double precision, no list lacks one that
    /// exceeds its last by more, and the error is not zero.
    #[test]
    fn lists_of_integers_have_the_largest_within_their_error() {
        let (mut rng, n, count) = (rng(7), 12, MANY + 3);
        let columns = Mat::<f32>::from_fn(n, count, |_, _| (normal(&mut rng) / (n as f64).sqrt()) as f32);
        let (mut silent, options) = ((), Options::default());
        let monitor = Monitor::new(&options, &mut silent);
        let listed = largest_entries(columns.as_ref(), columns.as_ref(), true, &monitor).unwrap();
        assert_eq!(listed.error > 0.0, integers::are_fast());
        assert!(listed.error < MOST_LOST, "{}", listed.error);
        let double = |j: usize| columns.col_as_slice(j).iter().map(|x| f64::from(*x)).collect::<Vec<f64>>();
        let wide: Vec<Vec<f64>> = (0..count).map(double).collect();
        let (error, mut off) = (listed.error + 1e-5, 0.0f64);
        for j in (0..count).step_by(257) {
            let row = &listed.rows[j];
            let exact = |k: usize| wide[j].iter().zip(&wide[k]).map(|(x, y)| x * y).sum::<f64>();
            assert_eq!(row.len(), LARGEST);
            for entry in row {
                let difference = (f64::from(entry.value) - exact(entry.place as usize)).abs();
                assert!(difference <= error, "{j}, {entry:?}: off by {difference}");
                off = off.max(difference);
            }
            let (last, places): (_, Vec<usize>) =
                (f64::from(row[LARGEST - 1].value.abs()), row.iter().map(|e| e.place as usize).collect());
            let others = (0..count).filter(|k| *k != j && !places.contains(k)).map(|k| exact(k).abs());
            assert!(others.fold(0.0, f64::max) <= last + error, "{j} lacks an entry");
        }
        // Single precision alone is off by a hundredth of that.
        assert!(!integers::are_fast() || off > 1e-6, "{off}");
    }

    /// The same lists as by a look at every row on its own; what is no number is among the largest.
    #[test]
    fn every_row_has_its_largest_entries() {
        for (seed, count) in [1, 2, 31, 33, 150, 700].into_iter().enumerate() {
            let (mut rng, n) = (rng(seed as u64), 40);
            let mut columns = Mat::<f32>::from_fn(n, count, |_, _| normal(&mut rng) as f32);
            if count == 150 {
                columns[(3, 100)] = f32::NAN;
            }
            let (mut silent, options) = ((), Options::default());
            let monitor = Monitor::new(&options, &mut silent);
            let found = largest_entries(columns.as_ref(), columns.as_ref(), true, &monitor).unwrap().rows;
            let all = products(columns.as_ref(), columns.as_ref());
            for (j, list) in found.iter().enumerate() {
                let mut sizes: Vec<f32> = (0..count).filter(|k| *k != j).map(|k| all[(k, j)].abs()).collect();
                sizes.sort_unstable_by(|a, b| b.total_cmp(a));
                sizes.truncate(LARGEST);
                assert_eq!(list.len(), sizes.len(), "{count}: row {j}");
                for (entry, size) in list.iter().zip(&sizes) {
                    let is_same = (entry.value.abs() - size).abs() <= 1e-3 || entry.value.is_nan() && size.is_nan();
                    assert!(is_same && entry.place as usize != j, "{count}: row {j}, {entry:?} for {size}");
                    let own = all[(entry.place as usize, j)];
                    assert!((own - entry.value).abs() <= 1e-3 || own.is_nan(), "{count}: row {j}, {entry:?}");
                }
            }
        }
    }
}
