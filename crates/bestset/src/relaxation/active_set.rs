//! The active set: a compact in-memory copy of the columns in play.

use crate::design::{Column, Design};
use crate::error::{Error, Result};
use crate::kernel;
use rayon::prelude::*;

/// Entries of columns in memory that one task multiplies, where there are several times as many: some hundredths of a millisecond.
const SHARED_PART: usize = 1 << 18;

/// Rows from which on columns are held once: they come by hundreds, of which each has a quarter of a megabyte or more.
pub const TALL: usize = 1 << 15;

/// Columns copied out of a design, in the order they were added.
///
/// A stored column is x_k = values_k + shift_k·1; a dense one has its shift applied.
#[derive(Debug, Clone)]
pub struct ActiveSet {
    n: usize,
    features: Vec<usize>,
    sparse: bool,
    starts: Vec<usize>,
    rows: Vec<u32>,
    values: Vec<f64>,
    shifts: Vec<f64>,
    /// The values once more in single precision, where that is asked for and is what they are.
    narrow: Option<Vec<f32>>,
}

impl ActiveSet {
    /// An empty set for columns of this design.
    pub fn new(design: &dyn Design) -> Self {
        Self {
            n: design.nrows(),
            features: Vec::new(),
            sparse: design.is_sparse(),
            starts: vec![0],
            rows: Vec::new(),
            values: Vec::new(),
            shifts: Vec::new(),
            narrow: None,
        }
    }

    /// Keeps dense columns of an empty set in single precision as well, as long as they have no more digits: products with many columns take as
    /// long as reading them does, and half of that so.
    pub fn also_narrow(mut self) -> Self {
        self.narrow = (!self.sparse && self.n < TALL && self.is_empty()).then(Vec::new);
        self
    }

    /// Whether columns are there twice.
    pub fn is_narrow(&self) -> bool {
        self.narrow.is_some()
    }

    /// Number of columns held.
    pub fn len(&self) -> usize {
        self.features.len()
    }

    /// Whether no column is held.
    pub fn is_empty(&self) -> bool {
        self.features.is_empty()
    }

    /// The feature behind each position.
    pub fn features(&self) -> &[usize] {
        &self.features
    }

    /// Number of entries stored: the cost of one sweep.
    pub fn stored(&self) -> usize {
        self.values.len()
    }

    /// Copies features in, in this order; those that could not be read, and all after them, are left out.
    pub fn extend(&mut self, design: &dyn Design, features: &[usize]) -> Result<()> {
        self.make_room(features.len())?;
        design.columns(features, &mut |k, column| self.take(features[k], column))
    }

    /// Room for so many dense columns: where there is none, an error leaves what there is to be returned. Tall ones have no more than that.
    fn make_room(&mut self, columns: usize) -> Result<()> {
        let entries = if self.sparse { 0 } else { columns.saturating_mul(self.n) };
        if self.narrow.as_mut().is_some_and(|narrow| narrow.try_reserve(entries).is_err()) {
            self.narrow = None;
        }
        let is_ahead = self.n < TALL && self.values.try_reserve(entries).is_ok();
        if is_ahead || self.values.try_reserve_exact(entries).is_ok() {
            return Ok(());
        }
        let bytes = self.values.len().saturating_add(entries).saturating_mul(size_of::<f64>());
        let (what, place) = ("X".to_owned(), format!("the {} columns in play", self.len() + columns));
        Err(Error::Read { what, place, reason: format!("there is no memory for their {bytes} bytes") })
    }

    fn take(&mut self, j: usize, column: &Column) {
        if self.sparse {
            self.rows.extend_from_slice(&column.rows);
            self.values.extend_from_slice(&column.values);
            self.shifts.push(column.shift);
        } else {
            self.values.extend(column.values.iter().map(|x| x + column.shift));
            self.shifts.push(0.0);
        }
        self.features.push(j);
        self.starts.push(self.values.len());
        let own = &self.values[self.starts[self.features.len() - 1]..];
        // Zeros of either sign are the same number, and what is no number goes with the columns as they are.
        if own.iter().any(|x| f64::from(*x as f32) != *x) {
            self.narrow = None;
        }
        self.narrow.iter_mut().for_each(|narrow| narrow.extend(own.iter().map(|x| *x as f32)));
    }

    /// A copy of the columns at `positions`.
    pub fn select(&self, positions: &[usize]) -> Self {
        let mut part = Self {
            n: self.n,
            features: positions.iter().map(|&k| self.features[k]).collect(),
            sparse: self.sparse,
            starts: vec![0],
            rows: Vec::new(),
            values: Vec::new(),
            shifts: positions.iter().map(|&k| self.shifts[k]).collect(),
            narrow: None,
        };
        for &k in positions {
            let (rows, values) = self.entries(k);
            part.rows.extend_from_slice(rows);
            part.values.extend_from_slice(values);
            part.starts.push(part.values.len());
        }
        part
    }

    /// Keeps the positions for which `keep` is true, in order.
    pub fn retain(&mut self, keep: &[bool]) {
        self.narrow = None;
        let (mut kept, mut end) = (0, 0);
        for k in 0..self.len() {
            if !keep[k] {
                continue;
            }
            let (from, to) = (self.starts[k], self.starts[k + 1]);
            self.values.copy_within(from..to, end);
            if self.sparse {
                self.rows.copy_within(from..to, end);
            }
            self.features[kept] = self.features[k];
            self.shifts[kept] = self.shifts[k];
            end += to - from;
            kept += 1;
            self.starts[kept] = end;
        }
        self.values.truncate(end);
        self.rows.truncate(end);
        self.features.truncate(kept);
        self.shifts.truncate(kept);
        self.starts.truncate(kept + 1);
    }

    /// The stored entries of column k, without its shift.
    #[inline]
    pub fn entries(&self, k: usize) -> (&[u32], &[f64]) {
        let range = self.starts[k]..self.starts[k + 1];
        (if self.sparse { &self.rows[range.clone()] } else { &[] }, &self.values[range])
    }

    /// All stored entries, column after column: the matrix itself when the columns are dense.
    pub fn all_values(&self) -> &[f64] {
        &self.values
    }

    /// Whether the columns are sparse.
    pub fn is_sparse(&self) -> bool {
        self.sparse
    }

    /// What is added to every row of column k.
    #[inline]
    pub fn shift(&self, k: usize) -> f64 {
        self.shifts[k]
    }

    /// The stored part of x_kᵀ v: the full product is this plus shift_k Σ v.
    #[inline]
    pub fn dot_stored(&self, k: usize, v: &[f64]) -> f64 {
        let (rows, values) = self.entries(k);
        if let Some(first) = run(rows) {
            kernel::dot(values, &v[first..first + values.len()])
        } else if self.sparse {
            rows.iter().zip(values).map(|(&i, x)| x * v[i as usize]).sum()
        } else {
            kernel::dot(values, v)
        }
    }

    /// x_kᵀ v.
    pub fn dot(&self, k: usize, v: &[f64]) -> f64 {
        let shift = self.shifts[k];
        self.dot_stored(k, v) + if shift != 0.0 { shift * kernel::sum(v) } else { 0.0 }
    }

    /// out_e = x_kᵀ v with k = positions_e, each with the bits that [`ActiveSet::dot`] gives it.
    pub fn dot_many(&self, positions: &[usize], v: &[f64], out: &mut [f64]) {
        if self.sparse {
            positions.iter().zip(out).for_each(|(&k, o)| *o = self.dot(k, v));
            return;
        }
        let columns = |(positions, out): (&[usize], &mut [f64])| match &self.narrow {
            Some(narrow) => kernel::dot_columns(narrow, self.n, positions, v, out),
            None => kernel::dot_columns(&self.values, self.n, positions, v, out),
        };
        let part = SHARED_PART.div_ceil(self.n.max(1));
        match positions.len() >= 4 * part {
            true => positions.par_chunks(part).zip(out.par_chunks_mut(part)).for_each(columns),
            false => columns((positions, out)),
        }
    }

    /// out += a · (stored part of x_k).
    #[inline]
    pub fn axpy_stored(&self, k: usize, a: f64, out: &mut [f64]) {
        let (rows, values) = self.entries(k);
        if let Some(first) = run(rows) {
            kernel::axpy(a, values, &mut out[first..first + values.len()]);
        } else if self.sparse {
            for (&i, x) in rows.iter().zip(values) {
                out[i as usize] += a * x;
            }
        } else {
            kernel::axpy(a, values, out);
        }
    }

    /// out += a x_k.
    pub fn axpy(&self, k: usize, a: f64, out: &mut [f64]) {
        self.axpy_stored(k, a, out);
        let shift = a * self.shifts[k];
        if shift != 0.0 {
            out.iter_mut().for_each(|o| *o += shift);
        }
    }

    /// Writes column k densely.
    pub fn write_dense(&self, k: usize, out: &mut [f64]) {
        out.fill(0.0);
        self.axpy(k, 1.0, out);
    }

    /// Number of rows.
    pub fn nrows(&self) -> usize {
        self.n
    }
}

/// Rows one after the other, as of a column that is there for one block of rows: the first, where there are enough to be worth it.
#[inline]
fn run(rows: &[u32]) -> Option<usize> {
    let (first, last) = (*rows.first()? as usize, *rows.last()? as usize);
    (rows.len() >= 16 && last - first + 1 == rows.len()).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::design::{Dense, Standardized};
    use crate::relaxation::quadratic::{Gram, Metric};

    /// Columns of single precision that are kept so as well have the same products, to the bit, and others are kept once.
    #[test]
    fn narrow_columns_have_the_same_products() {
        let (n, p) = (37, 9);
        let x: Vec<f32> = (0..n * p).map(|k| ((k * k % 101) as f32 * 0.37).sin()).collect();
        let v: Vec<f64> = (0..n).map(|i| (i as f64 * 0.7).cos()).collect();
        let wide: Vec<f64> = x.iter().map(|x| f64::from(*x) / 3.0).collect();
        let (single, double) = (Dense::new(n, p, x).unwrap(), Dense::new(n, p, wide).unwrap());
        for (design, is_narrow) in [(&single as &dyn Design, true), (&double, false)] {
            let [mut twice, mut once] = [ActiveSet::new(design).also_narrow(), ActiveSet::new(design)];
            for features in [&[3, 0][..], &[8, 1, 2]] {
                [&mut twice, &mut once].into_iter().for_each(|set| set.extend(design, features).unwrap());
            }
            assert_eq!((twice.is_narrow(), once.is_narrow()), (is_narrow, false));
            let (positions, mut own, mut other) = ([4, 0, 2, 3], [0.0; 4], [1.0; 4]);
            twice.dot_many(&positions, &v, &mut own);
            once.dot_many(&positions, &v, &mut other);
            assert_eq!(own, other);
            positions.iter().zip(own).for_each(|(&k, o)| assert_eq!(o, once.dot(k, &v)));
            twice.retain(&[true, false, true, true, true]);
            assert_eq!((twice.len(), twice.is_narrow()), (4, false));
        }
    }

    /// Tall columns take no more room than they have entries, however they come, and their inner products, made without a copy where they
    /// are centred, are those of a sum over the rows.
    #[test]
    fn tall_columns_are_held_once() {
        let (n, p) = (TALL, 5);
        let x: Vec<f64> = (0..n * p).map(|k| 3.0 + ((k * k % 1009) as f64 * 0.37).sin() + (k / n) as f64).collect();
        let inner = Dense::new(n, p, x).unwrap();
        let view = Standardized::fit(&inner, None, true, 1.0).unwrap();
        for design in [&view as &dyn Design, &inner] {
            let mut active = ActiveSet::new(design);
            for features in [&[3, 0][..], &[4], &[1]] {
                active.extend(design, features).unwrap();
                assert_eq!(active.values.capacity(), active.len() * n);
            }
            let (mut gram, metric) = (Gram::default(), Metric::new(&active, None, true));
            gram.extend(&active, None, &metric);
            let centred = |x: &[f64]| {
                let mean = x.iter().sum::<f64>() / n as f64;
                x.iter().map(|x| x - mean).collect()
            };
            let columns: Vec<Vec<f64>> = (0..active.len()).map(|k| centred(active.entries(k).1)).collect();
            for (k, a) in columns.iter().enumerate() {
                for (l, b) in columns.iter().enumerate() {
                    let plain: f64 = a.iter().zip(b).map(|(a, b)| a * b).sum();
                    let scale = (gram.at(k, k) * gram.at(l, l)).sqrt();
                    assert!((gram.at(k, l) - plain).abs() < 1e-11 * scale, "{k} {l}: {} {plain}", gram.at(k, l));
                }
            }
        }
    }
}
