//! The largest entries of each row of Q̃. It is symmetric: each pair of features is multiplied once, and looked at from both sides.

use crate::control::Limits;
use crate::design::{Design, LargeProducts, PairsAsked};
use crate::error::Result;
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par};
use rayon::prelude::*;

/// Largest entries of a row that are kept: a subset with more features outside Â is out of reach.
pub(super) const LARGEST: usize = 31;

/// Samples summed before the next are added: sums of sums round less.
pub(super) const SAMPLES: usize = 1024;

/// Rows made together at the most: two blocks of columns stay near the processor.
const BLOCK: usize = 128;

/// Rows made together at first, when every entry may be among the largest of its row: about as many as are kept.
const FIRST: usize = 32;

/// Rows after which the lists are brought up to date at the latest: what is found in between waits in memory.
const BAND: usize = 4096;

/// Entries compared at once, without a branch for each: a vector of sixteen.
const LANES: usize = 16;

/// Entries of a row after which the lesser ones are forgotten.
const FULL: usize = 4 * LARGEST;

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

/// The [`LARGEST`] largest |Q̃_jk|, k ≠ j, of each row j, largest first, with Q̃_jk = (rest of j)ᵀ(column k) for j < k; `None` where the
/// limits end it.
///
/// After every band of rows it is known what an entry must exceed to be among the largest of its row: few do.
pub(super) fn largest_entries(
    rests: MatRef<'_, f32>,
    columns: MatRef<'_, f32>,
    limits: &Limits,
) -> Option<Vec<Vec<LargeEntry>>> {
    let count = columns.ncols();
    let (mut lists, mut least): (Vec<Vec<LargeEntry>>, Vec<f32>) = (vec![Vec::new(); count], vec![-1.0; count]);
    let mut first = 0;
    while first < count {
        let end = (first + first.clamp(FIRST, BAND)).min(count);
        let height = (end - first).min(BLOCK);
        let block = |from: usize| {
            let rows = (from, height.min(end - from));
            limits.stop(0).is_none().then(|| found_entries(rests, columns, rows, &least))
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
fn found_entries(
    rests: MatRef<'_, f32>,
    columns: MatRef<'_, f32>,
    (from, height): (usize, usize),
    least: &[f32],
) -> Vec<FoundEntry> {
    let products = products(rests.subcols(from, height), columns.subcols(from, columns.ncols() - from));
    let mut found = Vec::new();
    for a in 0..height {
        let row = from + a;
        let (mut own, mut own_least) = (Vec::new(), least[row]);
        let values = products.col_as_slice(a)[a + 1..].chunks(LANES);
        for (block, (values, least)) in values.zip(least[row + 1..].chunks(LANES)).enumerate() {
            // What is no number is not small.
            let is_small = |v: &f32, than: f32| v.abs() <= than;
            if values.iter().zip(least).fold(true, |all, (v, l)| all & is_small(v, *l) & is_small(v, own_least)) {
                continue;
            }
            for (e, (&value, &least)) in values.iter().zip(least).enumerate() {
                let other = (row + 1 + block * LANES + e) as u32;
                if !is_small(&value, least) {
                    found.push(FoundEntry { row: other, entry: LargeEntry { value, place: row as u32 } });
                }
                if !is_small(&value, own_least) {
                    own.push(LargeEntry { value, place: other });
                }
            }
            if own.len() > FULL {
                own_least = keep_largest(&mut own);
            }
        }
        found.extend(own.into_iter().map(|entry| FoundEntry { row: row as u32, entry }));
    }
    found
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
            let found = largest_entries(columns.as_ref(), columns.as_ref(), &monitor).unwrap();
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
