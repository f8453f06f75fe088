//! The penalty λ0‖β‖₀ + λ1‖β‖₁ + λ2‖β‖² with optional bounds on each coefficient.
//!
//! All formulas live in [`Coordinate`], the penalty of one coefficient; [`Penalty`] says which coordinate penalty a
//! feature has.

mod coordinate;

pub use coordinate::Coordinate;

use crate::error::{Error, Result, check_length};
use serde::{Deserialize, Serialize};

/// Bounds lo_j ≤ β_j ≤ hi_j with lo_j ≤ 0 ≤ hi_j.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub enum Bounds {
    /// No bounds.
    #[default]
    Free,
    /// The same bounds for every coefficient; `All(0.0, f64::INFINITY)` is non-negativity.
    All(f64, f64),
    /// Lower and upper bounds, one each per feature.
    Each(Vec<f64>, Vec<f64>),
}

impl Bounds {
    /// The bounds of feature j.
    #[inline]
    pub fn at(&self, j: usize) -> (f64, f64) {
        match self {
            Self::Free => (f64::NEG_INFINITY, f64::INFINITY),
            Self::All(lower, upper) => (*lower, *upper),
            Self::Each(lower, upper) => (lower[j], upper[j]),
        }
    }
}

/// λ0‖β‖₀ + λ1‖β‖₁ + λ2‖β‖² within bounds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Penalty {
    /// Price of one selected feature, λ0 ≥ 0.
    pub lambda0: f64,
    /// Price of absolute size, λ1 ≥ 0.
    pub lambda1: f64,
    /// Price of squared size, λ2 ≥ 0 (no factor ½).
    pub lambda2: f64,
    /// Bounds on the coefficients.
    pub bounds: Bounds,
}

impl Penalty {
    /// The penalty without bounds.
    pub fn new(lambda0: f64, lambda1: f64, lambda2: f64) -> Self {
        Self { lambda0, lambda1, lambda2, bounds: Bounds::Free }
    }

    /// The same penalty within bounds.
    pub fn with_bounds(mut self, bounds: Bounds) -> Self {
        self.bounds = bounds;
        self
    }

    /// The penalty of coefficient j.
    #[inline]
    pub fn at(&self, j: usize) -> Coordinate {
        let (lower, upper) = self.bounds.at(j);
        Coordinate { l0: self.lambda0, l1: self.lambda1, l2: self.lambda2, lower, upper }
    }

    /// Checks ranges and shapes for p features.
    pub fn validate(&self, p: usize) -> Result<()> {
        let lambdas = [("lambda0", self.lambda0), ("lambda1", self.lambda1), ("lambda2", self.lambda2)];
        for (name, value) in lambdas {
            if !(value >= 0.0 && value.is_finite()) {
                return Err(Error::Range { name, value, range: "finite and at least 0" });
            }
        }
        if let Bounds::Each(lower, upper) = &self.bounds {
            check_length("lower bounds", lower.len(), p)?;
            check_length("upper bounds", upper.len(), p)?;
        }
        let count = if matches!(self.bounds, Bounds::Each(..)) { p } else { 1 };
        for feature in 0..count {
            let (lower, upper) = self.bounds.at(feature);
            if !(lower <= 0.0 && 0.0 <= upper) {
                return Err(Error::Bounds { feature, lower, upper });
            }
        }
        Ok(())
    }

    /// Whether the dual is finite everywhere: λ2 > 0, or every coefficient is bounded on both sides (MATH §3).
    pub fn has_certificate(&self, p: usize) -> bool {
        let bounded = |j| {
            let (lower, upper) = self.bounds.at(j);
            lower.is_finite() && upper.is_finite()
        };
        self.lambda2 > 0.0
            || match self.bounds {
                Bounds::Each(..) => (0..p).all(bounded),
                _ => bounded(0),
            }
    }
}
