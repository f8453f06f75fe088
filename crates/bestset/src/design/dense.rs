//! Dense column-major storage in `f64` or `f32`.

use crate::design::{Column, Design, farthest, in_blocks};
use crate::error::{Error, Result, check_length};
use crate::kernel;
use crate::kernel::Element;
use std::borrow::Cow;

/// A dense matrix by columns: entry (i, j) is `data[j * nrows + i]`. Owned or borrowed.
#[derive(Debug, Clone)]
pub struct Dense<'a, T: Element = f64> {
    nrows: usize,
    ncols: usize,
    data: Cow<'a, [T]>,
}

impl<'a, T: Element> Dense<'a, T> {
    /// Takes `nrows * ncols` entries in column-major order; checks the shape and that every entry is finite.
    pub fn new(nrows: usize, ncols: usize, data: impl Into<Cow<'a, [T]>>) -> Result<Self> {
        let data = data.into();
        if nrows == 0 || ncols == 0 {
            return Err(Error::Empty { rows: nrows, columns: ncols });
        }
        check_length("X", data.len(), nrows.saturating_mul(ncols))?;
        // A column whose squares have a finite sum has finite entries: the scan for the culprit is the rare case.
        for (column, x) in data.chunks_exact(nrows).enumerate() {
            let squares = kernel::squares(x);
            if !squares.is_finite() {
                return Err(match x.iter().position(|x| !x.wide().is_finite()) {
                    Some(row) => Error::NonFiniteDesign { row, column, value: x[row].wide() },
                    None => Error::Overflow { column, value: farthest(x.iter().map(|x| x.wide())) },
                });
            }
        }
        Ok(Self { nrows, ncols, data })
    }

    /// As [`Dense::new`], without a look at the entries: for blocks whose numbers were found finite before. One that is not shows in every
    /// inner product with its column.
    pub fn trusted(nrows: usize, ncols: usize, data: impl Into<Cow<'a, [T]>>) -> Result<Self> {
        let data = data.into();
        if nrows == 0 || ncols == 0 {
            return Err(Error::Empty { rows: nrows, columns: ncols });
        }
        check_length("X", data.len(), nrows.saturating_mul(ncols))?;
        Ok(Self { nrows, ncols, data })
    }

    /// The same of entries that are known to be finite and to have this shape.
    pub(crate) fn unchecked(nrows: usize, ncols: usize, data: impl Into<Cow<'a, [T]>>) -> Self {
        let data = data.into();
        debug_assert_eq!(data.len(), nrows * ncols);
        Self { nrows, ncols, data }
    }

    /// Builds a matrix from rows.
    pub fn from_rows(rows: &[Vec<T>]) -> Result<Self> {
        let ncols = rows.first().map_or(0, Vec::len);
        if let Some(row) = rows.iter().position(|row| row.len() != ncols) {
            return Err(Error::Row { row, found: rows[row].len(), expected: ncols });
        }
        let data: Vec<T> = (0..ncols).flat_map(|j| rows.iter().map(move |row| row[j])).collect();
        Self::new(rows.len(), ncols, data)
    }

    /// The entries of column j.
    pub fn col(&self, j: usize) -> &[T] {
        &self.data[j * self.nrows..(j + 1) * self.nrows]
    }
}

impl<T: Element> Design for Dense<'_, T> {
    fn nrows(&self) -> usize {
        self.nrows
    }

    fn ncols(&self) -> usize {
        self.ncols
    }

    fn is_sparse(&self) -> bool {
        false
    }

    fn stored(&self) -> usize {
        self.data.len()
    }

    fn correlate(&self, features: &[usize], v: &[f64], out: &mut [f64]) -> Result<()> {
        in_blocks(features, out, features.len() * self.nrows, |features, out| {
            kernel::dot_columns(&self.data, self.nrows, features, v, out);
        });
        Ok(())
    }

    fn correlate_many(&self, features: &[usize], vectors: &[&[f64]], out: &mut [f64]) -> Result<()> {
        if vectors.is_empty() {
            return Ok(());
        }
        in_blocks(features, out, features.len() * self.nrows * vectors.len(), |features, out| {
            kernel::dot_columns_many(&self.data, self.nrows, features, vectors, out);
        });
        Ok(())
    }

    fn correlate_roughly(&self, features: &[usize], vectors: &[&[f64]], out: &mut [f32]) -> Result<()> {
        if vectors.is_empty() {
            return Ok(());
        }
        let narrowed = kernel::rough::narrowed(vectors);
        in_blocks(features, out, features.len() * self.nrows * vectors.len(), |features, out| {
            kernel::rough::dot_columns(&self.data, self.nrows, features, &narrowed, out);
        });
        Ok(())
    }

    fn axpy(&self, j: usize, a: f64, out: &mut [f64]) -> Result<()> {
        kernel::axpy(a, self.col(j), out);
        Ok(())
    }

    fn column(&self, j: usize, out: &mut Column) -> Result<()> {
        out.sparse = false;
        out.shift = 0.0;
        out.rows.clear();
        T::widen(self.col(j), &mut out.values);
        Ok(())
    }

    fn squared_norm(&self, j: usize, _buffer: &mut Column) -> Result<f64> {
        Ok(kernel::squares(self.col(j)))
    }
}
