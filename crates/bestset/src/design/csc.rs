//! Compressed sparse columns in `f64` or `f32`.

use crate::design::{Column, Design, farthest, in_blocks};
use crate::error::{Error, Result, check_length};
use crate::kernel;
use crate::kernel::Element;
use std::borrow::Cow;

/// A sparse matrix by columns: column j stores `values[starts[j]..starts[j + 1]]` at the same positions of `rows`.
#[derive(Debug, Clone)]
pub struct Csc<'a, T: Element = f64> {
    nrows: usize,
    starts: Cow<'a, [usize]>,
    rows: Cow<'a, [u32]>,
    values: Cow<'a, [T]>,
}

impl<'a, T: Element> Csc<'a, T> {
    /// Checks the structure (row indices strictly ascending within a column) and that every entry is finite.
    pub fn new(
        nrows: usize,
        starts: impl Into<Cow<'a, [usize]>>,
        rows: impl Into<Cow<'a, [u32]>>,
        values: impl Into<Cow<'a, [T]>>,
    ) -> Result<Self> {
        let (starts, rows, values) = (starts.into(), rows.into(), values.into());
        let ncols = starts.len().saturating_sub(1);
        if nrows == 0 || ncols == 0 {
            return Err(Error::Empty { rows: nrows, columns: ncols });
        }
        check_length("row indices of X", rows.len(), values.len())?;
        check_length("values of X (last column start)", values.len(), starts[ncols])?;
        let matrix = Self { nrows, starts, rows, values };
        for j in 0..ncols {
            matrix.check_column(j)?;
        }
        Ok(matrix)
    }

    /// The same of parts that are known to belong together.
    pub(crate) fn unchecked(
        nrows: usize,
        starts: impl Into<Cow<'a, [usize]>>,
        rows: impl Into<Cow<'a, [u32]>>,
        values: impl Into<Cow<'a, [T]>>,
    ) -> Self {
        Self { nrows, starts: starts.into(), rows: rows.into(), values: values.into() }
    }

    fn check_column(&self, j: usize) -> Result<()> {
        let (from, to) = (self.starts[j], self.starts[j + 1]);
        let bad = |problem| Error::Index { what: "column starts of X", position: j, index: from, problem };
        if from > to || to > self.values.len() {
            return Err(bad("starts must ascend and end at the number of values"));
        }
        if j == 0 && from != 0 {
            return Err(bad("the first column must start at 0"));
        }
        let mut squares = 0.0;
        for k in from..to {
            let (index, value) = (self.rows[k] as usize, self.values[k].wide());
            let bad = |problem| Error::Index { what: "row indices of X", position: k, index, problem };
            if index >= self.nrows {
                return Err(bad("beyond the last row"));
            }
            if k > from && self.rows[k - 1] >= self.rows[k] {
                return Err(bad("rows must ascend strictly within a column"));
            }
            if !value.is_finite() {
                return Err(Error::NonFiniteDesign { row: index, column: j, value });
            }
            squares += value * value;
        }
        match squares.is_finite() {
            true => Ok(()),
            false => {
                Err(Error::Overflow { column: j, value: farthest(self.values[from..to].iter().map(|x| x.wide())) })
            }
        }
    }

    fn col(&self, j: usize) -> (&[u32], &[T]) {
        let range = self.starts[j]..self.starts[j + 1];
        (&self.rows[range.clone()], &self.values[range])
    }
}

impl<T: Element> Design for Csc<'_, T> {
    fn nrows(&self) -> usize {
        self.nrows
    }

    fn ncols(&self) -> usize {
        self.starts.len() - 1
    }

    fn is_sparse(&self) -> bool {
        true
    }

    fn stored(&self) -> usize {
        self.values.len()
    }

    fn correlate(&self, features: &[usize], v: &[f64], out: &mut [f64]) -> Result<()> {
        let operations = self.values.len() * features.len() / self.ncols();
        in_blocks(features, out, operations, |features, out| {
            T::dot_sparse((&self.starts, &self.rows, &self.values), features, v, out);
        });
        Ok(())
    }

    fn axpy(&self, j: usize, a: f64, out: &mut [f64]) -> Result<()> {
        let (rows, values) = self.col(j);
        T::axpy_sparse(a, rows, values, out);
        Ok(())
    }

    fn column(&self, j: usize, out: &mut Column) -> Result<()> {
        let (rows, values) = self.col(j);
        out.sparse = true;
        out.shift = 0.0;
        out.rows.clear();
        out.rows.extend_from_slice(rows);
        T::widen(values, &mut out.values);
        // Inner products of sparse columns are centred afterwards: of one that is far from zero they would keep no digits.
        let far = out.anchor(self.nrows(), None);
        if far != 0.0 {
            out.values.iter_mut().for_each(|x| *x -= far);
            out.shift = far;
        }
        Ok(())
    }

    fn squared_norm(&self, j: usize, _buffer: &mut Column) -> Result<f64> {
        Ok(kernel::squares(self.col(j).1))
    }
}
