//! A design that says when it is read.

use bestset::Result;
use bestset::design::{Column, Design};

/// Calls `before` with the number of columns before each reading, which fails where it does.
pub struct Watched<'d> {
    pub inner: &'d dyn Design,
    pub before: &'d (dyn Fn(usize) -> Result<()> + Sync),
}

impl Design for Watched<'_> {
    fn nrows(&self) -> usize {
        self.inner.nrows()
    }

    fn ncols(&self) -> usize {
        self.inner.ncols()
    }

    fn is_sparse(&self) -> bool {
        self.inner.is_sparse()
    }

    fn stored(&self) -> usize {
        self.inner.stored()
    }

    fn correlate(&self, features: &[usize], v: &[f64], out: &mut [f64]) -> Result<()> {
        (self.before)(features.len())?;
        self.inner.correlate(features, v, out)
    }

    fn axpy(&self, j: usize, a: f64, out: &mut [f64]) -> Result<()> {
        (self.before)(1)?;
        self.inner.axpy(j, a, out)
    }

    fn column(&self, j: usize, out: &mut Column) -> Result<()> {
        (self.before)(1)?;
        self.inner.column(j, out)
    }

    fn offset(&self, j: usize) -> f64 {
        self.inner.offset(j)
    }
}
