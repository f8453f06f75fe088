//! ℓ(u, y) = ½(y − u)².

use crate::loss::{ScalarLoss, shifted_target};

/// ½(y − u)² (MATH 2.1), with conjugate ½a² + ya on all of ℝ, μ = 1.
#[derive(Debug, Clone, Copy)]
pub struct Squared;

impl ScalarLoss for Squared {
    #[inline(always)]
    fn mu(self, _y: f64) -> f64 {
        1.0
    }

    #[inline(always)]
    fn value(self, u: f64, y: f64) -> f64 {
        0.5 * (y - u) * (y - u)
    }

    #[inline(always)]
    fn derivative(self, u: f64, y: f64) -> f64 {
        u - y
    }

    #[inline(always)]
    fn curvature(self, _u: f64, _y: f64) -> f64 {
        1.0
    }

    #[inline(always)]
    fn conjugate(self, a: f64, y: f64) -> f64 {
        (0.5 * a + y) * a
    }

    #[inline(always)]
    fn conjugate_derivative(self, a: f64, y: f64) -> f64 {
        a + y
    }

    fn domain(self, _y: f64) -> (f64, f64) {
        (f64::NEG_INFINITY, f64::INFINITY)
    }

    #[inline(always)]
    fn shifted(self, u: f64, b: f64, y: f64) -> (f64, f64) {
        shifted_target(u, b, y)
    }
}
