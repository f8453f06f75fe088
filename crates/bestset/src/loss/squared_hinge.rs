//! ℓ(u, y) = max(0, 1 − yu)², y = ±1.

use crate::loss::ScalarLoss;

/// The squared hinge loss, with conjugate ¼a² + ya, −ya ≥ 0 (MATH 2.3).
#[derive(Debug, Clone, Copy)]
pub struct SquaredHinge;

impl ScalarLoss for SquaredHinge {
    #[inline(always)]
    fn mu(self, _y: f64) -> f64 {
        0.5
    }

    #[inline(always)]
    fn value(self, u: f64, y: f64) -> f64 {
        let slack = (1.0 - y * u).max(0.0);
        slack * slack
    }

    #[inline(always)]
    fn derivative(self, u: f64, y: f64) -> f64 {
        -2.0 * y * (1.0 - y * u).max(0.0)
    }

    #[inline(always)]
    fn curvature(self, u: f64, y: f64) -> f64 {
        if y * u <= 1.0 { 2.0 } else { 0.0 }
    }

    #[inline(always)]
    fn conjugate(self, a: f64, y: f64) -> f64 {
        let s = -y * a;
        if s >= 0.0 { (0.25 * s - 1.0) * s } else { f64::INFINITY }
    }

    #[inline(always)]
    fn conjugate_derivative(self, a: f64, y: f64) -> f64 {
        y * (1.0 - 0.5 * (-y * a).max(0.0))
    }

    fn domain(self, y: f64) -> (f64, f64) {
        if y > 0.0 { (f64::NEG_INFINITY, 0.0) } else { (0.0, f64::INFINITY) }
    }
}
