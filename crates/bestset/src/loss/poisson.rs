//! ℓ(u, y) = e^u − yu + y log y − y, y ≥ 0: half the deviance of a count with mean e^u.

use crate::loss::{ScalarLoss, chord, excess, exp, log, log_difference};

/// The Poisson loss with the log link, with conjugate (a + y) log(a + y) − y log y − a, a ≥ −y (MATH 2.11).
#[derive(Debug, Clone, Copy)]
pub struct Poisson;

impl ScalarLoss for Poisson {
    #[inline(always)]
    fn mu(self, _y: f64) -> f64 {
        0.0
    }

    #[inline(always)]
    fn value(self, u: f64, y: f64) -> f64 {
        if y == 0.0 {
            return u.exp();
        }
        let t = u - y.ln();
        // y (e^t − 1 − t), whose e^t overflows before e^u does where y is small.
        if t > 1.0 { (u.exp() - y) - y * t } else { y * excess(t) }
    }

    #[inline(always)]
    fn derivative(self, u: f64, y: f64) -> f64 {
        exp(u) - y
    }

    #[inline(always)]
    fn curvature(self, u: f64, _y: f64) -> f64 {
        exp(u)
    }

    #[inline(always)]
    fn careful_curvature(self, u: f64, y: f64) -> f64 {
        chord(self, u, y)
    }

    #[inline(always)]
    fn steepest(self, u: f64, _y: f64, reach: f64) -> f64 {
        exp(u + reach)
    }

    #[inline(always)]
    fn curvature_of_slope(self, a: f64, y: f64) -> f64 {
        (a + y).max(0.0)
    }

    #[inline(always)]
    fn conjugate(self, a: f64, y: f64) -> f64 {
        if a >= -y { log_difference(a, y) - a } else { f64::INFINITY }
    }

    fn parts(self, a: f64, y: f64) -> f64 {
        3.0 * a.abs() * (1.0 + log(y).abs())
    }

    #[inline(always)]
    fn conjugate_derivative(self, a: f64, y: f64) -> f64 {
        (a + y).max(f64::MIN_POSITIVE).ln()
    }

    fn domain(self, y: f64) -> (f64, f64) {
        (-y, f64::INFINITY)
    }
}
