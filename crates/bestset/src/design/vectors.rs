//! Vectors that many parts of a pass are multiplied with.

use super::genotypes::Fixed;
use std::sync::OnceLock;

/// Vectors of one pass over columns, and what a design makes of them before it multiplies: made once for all parts of the pass.
pub struct Vectors<'v> {
    each: &'v [&'v [f64]],
    /// With a common unit, as packed genotypes add them up.
    fixed: OnceLock<Vec<Fixed>>,
}

impl<'v> Vectors<'v> {
    /// These vectors.
    pub fn new(each: &'v [&'v [f64]]) -> Self {
        Self { each, fixed: OnceLock::new() }
    }

    /// The vectors as they are.
    pub fn each(&self) -> &'v [&'v [f64]] {
        self.each
    }

    pub(super) fn fixed(&self) -> &[Fixed] {
        self.fixed.get_or_init(|| self.each.iter().map(|v| Fixed::new(v)).collect())
    }
}
