//! ℓ(u, y) = ½r² for |r| ≤ δ, δ|r| − ½δ² beyond, r = y − u.

use crate::loss::{ScalarLoss, shifted_target};

/// ½r² for |r| ≤ δ, δ|r| − ½δ² beyond, r = y − u (MATH 2.4), with conjugate ½a² + ya on |a| ≤ δ.
#[derive(Debug, Clone, Copy)]
pub struct Huber {
    /// Where the loss turns from quadratic to linear, positive.
    pub delta: f64,
}

impl ScalarLoss for Huber {
    #[inline(always)]
    fn mu(self, _y: f64) -> f64 {
        1.0
    }

    #[inline(always)]
    fn value(self, u: f64, y: f64) -> f64 {
        let r = (y - u).abs();
        if r <= self.delta { 0.5 * r * r } else { self.delta * (r - 0.5 * self.delta) }
    }

    #[inline(always)]
    fn derivative(self, u: f64, y: f64) -> f64 {
        (u - y).clamp(-self.delta, self.delta)
    }

    #[inline(always)]
    fn curvature(self, u: f64, y: f64) -> f64 {
        if (y - u).abs() <= self.delta { 1.0 } else { 0.0 }
    }

    #[inline(always)]
    fn conjugate(self, a: f64, y: f64) -> f64 {
        if a.abs() <= self.delta { (0.5 * a + y) * a } else { f64::INFINITY }
    }

    #[inline(always)]
    fn conjugate_derivative(self, a: f64, y: f64) -> f64 {
        a.clamp(-self.delta, self.delta) + y
    }

    fn domain(self, _y: f64) -> (f64, f64) {
        (-self.delta, self.delta)
    }

    #[inline(always)]
    fn shifted(self, u: f64, b: f64, y: f64) -> (f64, f64) {
        shifted_target(u, b, y)
    }
}
