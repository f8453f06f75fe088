//! Losses over the whole vector u, whose samples are not apart from each other (MATH 15.1–15.4).
//!
//! Such a loss is convex and L(u + b1) = L(u): it has no intercept, or has minimised over its own. A problem holds one beside its
//! [`Loss`](crate::Loss), which only names it, and asks it wherever the losses of single samples are added up.

use crate::error::Result;
use crate::loss::{Baseline, RiskGroup, ScalarLoss, Survival};
use std::sync::Arc;

/// A loss L(u) of all samples together, with the weights of a problem within.
pub trait CoupledLoss: Send + Sync {
    /// Number of entries of u.
    fn nrows(&self) -> usize;

    /// The same loss with other weights of the samples: a sample of weight zero is not there.
    fn weighted(&self, weights: Option<&[f64]>) -> Result<Arc<dyn CoupledLoss>>;

    /// L(u) (MATH 15.1); +∞ where it is too large for numbers.
    fn value(&self, u: &[f64]) -> f64;

    /// What was taken from the negative logarithm of the likelihood to make L, zero unless L could be negative without (MATH 15.15).
    fn least(&self) -> f64 {
        0.0
    }

    /// Σ of the absolute values of what [`CoupledLoss::value`] adds up at u, and by how much L moves at the most when every u_i moves by at
    /// most `sizes`_i: what rounding in it is relative to.
    fn size(&self, u: &[f64], sizes: &[f64]) -> f64;

    /// α = ∇L(u), always inside the domain of the conjugate.
    fn gradient(&self, u: &[f64], alpha: &mut [f64]);

    /// ∇²L(u) = diag(h) − FᵀF (MATH 15.2).
    fn curvature(&self, u: &[f64]) -> Box<dyn CoupledCurvature>;

    /// c ≥ xᵀ∇²L(u)x for every u (MATH 15.3): the square of the length of x in a norm in which L is 1-smooth, and |xᵀ(α − α′)| ≤ √c ‖α
    /// − α′‖ in the norm in which L* is 1-strongly convex.
    fn steepest(&self, x: &[f64]) -> f64;

    /// L*(α′) of a point α′ of the domain next to α (MATH 15.4), or more; `None` where there is none near.
    fn conjugate(&self, alpha: &[f64]) -> Option<CoupledConjugate>;

    /// α into the domain of L*; one that is in it stays where it is, up to rounding.
    fn project(&self, alpha: &mut [f64]);

    /// Whether L(v + tu) falls for ever as t grows, whatever v (MATH 15.20): then L has no minimum along u. False where that is not known.
    fn falls_along(&self, u: &[f64]) -> bool {
        let _ = u;
        false
    }

    /// How many entries of u a sample has: its classes, in as many blocks of rows.
    fn classes(&self) -> usize {
        1
    }

    /// The intercepts of its own that it is least at, one for each block of rows, zeros where it is without; empty for losses that know none.
    fn intercepts(&self, u: &[f64]) -> Vec<f64> {
        let _ = u;
        Vec::new()
    }

    /// Whether it has intercepts of its own.
    fn has_intercepts(&self) -> bool {
        false
    }

    /// How many samples criteria count, and the sum of their weights.
    fn counted(&self) -> (f64, f64);

    /// The kind of sample i, of which every fold should have its share, such as events or classes.
    fn kind(&self, i: usize) -> usize {
        let _ = i;
        1
    }

    /// L(u) with these intercepts of its own in place of the best ones; L(u) where it has none.
    fn value_with(&self, u: &[f64], intercepts: &[f64]) -> f64 {
        let _ = intercepts;
        self.value(u)
    }

    /// The baseline hazard at u, of survival times.
    fn baseline(&self, u: &[f64]) -> Option<Baseline> {
        let _ = u;
        None
    }

    /// The times, of survival times.
    fn survival(&self) -> Option<&Survival> {
        None
    }

    /// Groups of the samples `rows` by u (MATH 15.17), of survival times: `count` of them at the most, the least risk first.
    fn risk_groups(&self, baseline: &Baseline, u: &[f64], rows: &[usize], count: usize) -> Vec<RiskGroup> {
        let _ = (baseline, u, rows, count);
        Vec::new()
    }

    /// Harrell's C of u among some samples, of survival times; NaN elsewhere.
    fn concordance(&self, u: &[f64], rows: &[usize]) -> f64 {
        let _ = (u, rows);
        f64::NAN
    }
}

/// ∇²L(u) = diag(h) − FᵀF at one point (MATH 15.2).
pub trait CoupledCurvature: Send + Sync {
    /// h ≥ 0.
    fn diagonal(&self) -> &[f64];

    /// Number of rows of F.
    fn rank(&self) -> usize;

    /// out = Fx.
    fn factor(&self, x: &[f64], out: &mut [f64]);

    /// v ← (diag(h) − FᵀF)v.
    fn multiply(&self, v: &mut [f64]);

    /// (X ⊗ Id_K)ᵀ(diag(h) − FᵀF)(X ⊗ Id_K), row by row, for columns x_j of the samples one after the other (MATH 16.3); none for losses
    /// that know no classes, and where `is_cut` says so between two of its parts.
    fn per_class(&self, x: &[f64], is_cut: &dyn Fn() -> bool) -> Option<Vec<f64>> {
        let _ = (x, is_cut);
        None
    }
}

/// The conjugate at α′ with |α′_i − α_i| ≤ `moved` · `reach`_i (MATH 15.4).
pub struct CoupledConjugate {
    /// L*(α′), or more.
    pub value: f64,
    /// Σ of the absolute values of the parts of its terms: what rounding in it is relative to.
    pub size: f64,
    /// By which share of `reach` the point moved at the most.
    pub moved: f64,
    /// |α_i| or more.
    pub reach: Vec<f64>,
}

/// The loss of one sample of a loss that has none: no numbers.
#[derive(Debug, Clone, Copy)]
pub(super) struct NotOfOne;

impl ScalarLoss for NotOfOne {
    /// Lengths are such that the loss is 1-smooth ([`CoupledLoss::steepest`]).
    fn mu(self, _y: f64) -> f64 {
        1.0
    }

    fn value(self, _u: f64, _y: f64) -> f64 {
        f64::NAN
    }

    fn derivative(self, _u: f64, _y: f64) -> f64 {
        f64::NAN
    }

    fn curvature(self, _u: f64, _y: f64) -> f64 {
        f64::NAN
    }

    fn conjugate(self, _a: f64, _y: f64) -> f64 {
        f64::NAN
    }

    fn conjugate_derivative(self, _a: f64, _y: f64) -> f64 {
        f64::NAN
    }

    fn domain(self, _y: f64) -> (f64, f64) {
        (f64::NEG_INFINITY, f64::INFINITY)
    }
}
