//! Passes over the columns: moments, sums of squares and inner products, in parts that can be ended and blocks for all threads.

use crate::design::{Column, Design, Moments, Vectors};
use crate::error::Result;
use crate::kernel;
use rayon::prelude::*;

/// Moments of every column, in parallel.
pub fn moments(design: &dyn Design, weights: Option<&[f64]>) -> Result<Vec<Moments>> {
    moments_while(design, weights, &|| Ok(()))
}

/// As [`moments`], with a question between its parts where it is long.
pub fn moments_while(design: &dyn Design, weights: Option<&[f64]>, check: Check<'_>) -> Result<Vec<Moments>> {
    if let Some(all) = design.all_moments(weights)? {
        return Ok(all);
    }
    if let Some(all) = design.kept_moments().filter(|_| weights.is_none()) {
        return Ok(all);
    }
    let n = design.nrows();
    let total = weights.map_or(n as f64, kernel::sum);
    let all = each_column_while(design, check, |design, buffer, j| {
        design.column(j, buffer)?;
        Ok(buffer.moments(n, weights, total))
    })?;
    if weights.is_none() {
        design.keep_moments(&all)?;
    }
    Ok(all)
}

/// Σ_i w_i x_ij² of every column, in parallel; weights default to one.
pub fn squares(design: &dyn Design, weights: Option<&[f64]>) -> Result<Vec<f64>> {
    match design.all_moments(weights)? {
        None if weights.is_none() => each_column(design, |design, buffer, j| design.squared_norm(j, buffer)),
        None => Ok(moments(design, weights)?.iter().map(|m| m.squares).collect()),
        Some(all) => Ok(all.iter().map(|m| m.squares).collect()),
    }
}

/// x_jᵀv into `out` and Σ_i x_ij² of every column in one reading of X: what is read for the first is still near for the second.
pub fn correlate_and_square(design: &dyn Design, v: &[f64], out: &mut [f64], check: Check<'_>) -> Result<Vec<f64>> {
    let (all, mut squares) = ((0..design.ncols()).collect::<Vec<usize>>(), vec![0.0; design.ncols()]);
    if let Some(known) = design.all_moments(None)? {
        correlate(design, &all, v, out, check)?;
        return Ok(known.iter().map(|m| m.squares).collect());
    }
    let is_done = design.each_block(&all, &mut |places, local, block| {
        if places.start > 0 {
            check()?;
        }
        near_and_square(block, local, v, &mut out[places.clone()], &mut squares[places])
    })?;
    if is_done {
        return Ok(squares);
    }
    let part = long_part(design, 1);
    for (k, features) in all.chunks(part).enumerate() {
        if k > 0 {
            check()?;
        }
        let places = k * part..k * part + features.len();
        near_and_square(design, features, v, &mut out[places.clone()], &mut squares[places])?;
    }
    Ok(squares)
}

/// x_jᵀv and Σ_i x_ij² of some columns in memory.
fn near_and_square(
    design: &dyn Design,
    features: &[usize],
    v: &[f64],
    out: &mut [f64],
    squares: &mut [f64],
) -> Result<()> {
    // Views do some work over the rows in each call, which eight columns make little of.
    let block = (NEARBY / design.nrows()).max(8);
    let body = |((features, out), squares): ((&[usize], &mut [f64]), &mut [f64])| {
        design.correlate(features, v, out)?;
        let mut buffer = Column::default();
        for (&j, s) in features.iter().zip(squares) {
            *s = design.squared_norm(j, &mut buffer)?;
        }
        Ok(())
    };
    if is_small(design.stored()) {
        features.chunks(block).zip(out.chunks_mut(block)).zip(squares.chunks_mut(block)).try_for_each(body)
    } else {
        let features = features.par_chunks(block);
        features.zip(out.par_chunks_mut(block)).zip(squares.par_chunks_mut(block)).try_for_each(body)
    }
}

/// What is asked between two parts of a long pass: an error ends it.
pub type Check<'c> = &'c dyn Fn() -> Result<()>;

/// Columns of a part of a long pass with so many vectors, between two questions.
pub(super) fn long_part(design: &dyn Design, vectors: usize) -> usize {
    if let Some(columns) = design.trip() {
        return columns.max(1);
    }
    (design.pace() / (design.stored() / design.ncols()).max(1) / vectors.max(1)).max(1)
}

/// As [`Design::correlate`], with a question between its parts where it is long.
pub fn correlate(design: &dyn Design, features: &[usize], v: &[f64], out: &mut [f64], check: Check<'_>) -> Result<()> {
    correlate_many(design, features, &[v], out, check)
}

/// As [`Design::correlate_many`], with a question between its parts where it is long.
pub fn correlate_many(
    design: &dyn Design,
    features: &[usize],
    vectors: &[&[f64]],
    out: &mut [f64],
    check: Check<'_>,
) -> Result<()> {
    let vectors = Vectors::new(vectors);
    in_parts(design, features, out, check, |design, features, out| design.correlate_part(features, &vectors, out))
}

/// As [`Design::correlate_roughly`], with a question between its parts where it is long.
pub fn correlate_roughly(
    design: &dyn Design,
    features: &[usize],
    vectors: &[&[f64]],
    out: &mut [f32],
    check: Check<'_>,
) -> Result<()> {
    in_parts(design, features, out, check, |design, features, out| design.correlate_roughly(features, vectors, out))
}

/// The same entries of `out` for every feature; no question before the first part, so that what is short is never cut. The blocks of
/// columns in files are parts: what reads ahead of them does not stop at a question.
fn in_parts<T>(
    design: &dyn Design,
    features: &[usize],
    out: &mut [T],
    check: Check<'_>,
    body: impl Fn(&dyn Design, &[usize], &mut [T]) -> Result<()>,
) -> Result<()> {
    let each = out.len() / features.len().max(1);
    let part = long_part(design, each);
    if features.len() <= part || each == 0 {
        return body(design, features, out);
    }
    if design.reads_ahead() {
        design.each_block(features, &mut |places, local, block| {
            if places.start > 0 {
                check()?;
            }
            body(block, local, &mut out[each * places.start..each * places.end])
        })?;
        return Ok(());
    }
    for (k, (features, out)) in features.chunks(part).zip(out.chunks_mut(each * part)).enumerate() {
        if k > 0 {
            check()?;
        }
        body(design, features, out)?;
    }
    Ok(())
}

/// Entries that stay near the processor until they are read again.
const NEARBY: usize = 1 << 15;

pub(crate) fn each_column<T: Send>(
    design: &dyn Design,
    one: impl Fn(&dyn Design, &mut Column, usize) -> Result<T> + Sync + Send,
) -> Result<Vec<T>> {
    each_column_while(design, &|| Ok(()), one)
}

/// With a question between two blocks; none before the first, so that what is short is never cut.
fn each_column_while<T: Send>(
    design: &dyn Design,
    check: Check<'_>,
    one: impl Fn(&dyn Design, &mut Column, usize) -> Result<T> + Sync + Send,
) -> Result<Vec<T>> {
    let of = |design: &dyn Design, features: &[usize]| -> Result<Vec<T>> {
        if is_small(design.stored()) {
            let mut buffer = Column::default();
            return features.iter().map(|&j| one(design, &mut buffer, j)).collect();
        }
        features.par_iter().map_init(Column::default, |buffer, &j| one(design, buffer, j)).collect()
    };
    let (all, mut made) = ((0..design.ncols()).collect::<Vec<usize>>(), Vec::new());
    let is_done = design.each_block(&all, &mut |places, local, block| {
        if !made.is_empty() {
            check()?;
        }
        made.push((places.start, of(block, local)?));
        Ok(())
    })?;
    if !is_done {
        for (k, features) in all.chunks(long_part(design, 1)).enumerate() {
            if k > 0 {
                check()?;
            }
            made.push((k, of(design, features)?));
        }
    }
    made.sort_unstable_by_key(|part| part.0);
    Ok(made.into_iter().flat_map(|part| part.1).collect())
}

/// Work too small to be worth handing to other threads.
fn is_small(operations: usize) -> bool {
    operations < 1 << 17 || rayon::current_num_threads() == 1
}

/// The number farthest from zero: the one to name where squares overflow.
pub(super) fn farthest(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(0.0, |most: f64, x| if x.abs() > most.abs() { x } else { most })
}

/// Splits `features` and `out`, a whole number of entries for each, into blocks and runs `body` on them, in parallel when
/// there is enough work.
pub(super) fn in_blocks<T: Send>(
    features: &[usize],
    out: &mut [T],
    operations: usize,
    body: impl Fn(&[usize], &mut [T]) + Sync,
) {
    let each = out.len() / features.len().max(1);
    debug_assert_eq!(each * features.len(), out.len());
    if is_small(operations) || each == 0 {
        return body(features, out);
    }
    let block = features.len().div_ceil(8 * rayon::current_num_threads()).max(16);
    on_all_threads(features.chunks(block).zip(out.chunks_mut(each * block)).collect(), &body);
}

/// `body` of every block, in parallel. Behind a reference, so that the compiler makes the threads' part once and not for every caller.
fn on_all_threads<T: Send>(blocks: Vec<(&[usize], &mut [T])>, body: &(dyn Fn(&[usize], &mut [T]) + Sync)) {
    blocks.into_par_iter().for_each(|(features, out)| body(features, out));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::design::Dense;

    #[test]
    fn one_reading_gives_the_correlations_and_the_squares() {
        // Blocks of many columns and of the fewest, the last one not full.
        for (n, p) in [(3, 20_001), (5000, 13)] {
            let x = Dense::new(n, p, (0..n * p).map(|i| (i as f64 * 0.37).sin()).collect::<Vec<f64>>()).unwrap();
            let v: Vec<f64> = (0..n).map(|i| (i as f64 * 0.91).cos()).collect();
            let (mut found, mut expected) = (vec![0.0; p], vec![0.0; p]);
            let square = correlate_and_square(&x, &v, &mut found, &|| Ok(())).unwrap();
            assert_eq!(square, squares(&x, None).unwrap());
            x.correlate(&(0..p).collect::<Vec<_>>(), &v, &mut expected).unwrap();
            assert_eq!(found, expected);
        }
    }
}
