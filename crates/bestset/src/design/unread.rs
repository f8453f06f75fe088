//! A matrix that a limit has kept from being looked at.

use crate::design::{Column, Design};
use crate::error::{Error, Result};

/// As many rows and columns as there are; whatever is asked of its entries ends as a limit ends a pass.
pub(crate) struct Unread {
    pub(crate) rows: usize,
    pub(crate) columns: usize,
}

/// Nothing may be asked for: of no columns there is nothing to know.
fn stopped(is_nothing: bool) -> Result<()> {
    if is_nothing { Ok(()) } else { Err(Error::Stopped) }
}

impl Design for Unread {
    fn nrows(&self) -> usize {
        self.rows
    }

    fn ncols(&self) -> usize {
        self.columns
    }

    fn is_sparse(&self) -> bool {
        false
    }

    fn stored(&self) -> usize {
        self.rows * self.columns
    }

    fn correlate(&self, features: &[usize], _: &[f64], _: &mut [f64]) -> Result<()> {
        stopped(features.is_empty())
    }

    fn axpy(&self, _: usize, a: f64, _: &mut [f64]) -> Result<()> {
        stopped(a == 0.0)
    }

    fn column(&self, _: usize, _: &mut Column) -> Result<()> {
        stopped(false)
    }
}
