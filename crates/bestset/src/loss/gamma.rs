//! ℓ(u, y) = y e^{−u} + u − log y − 1, y > 0: half the deviance of a positive amount with mean e^u.

use crate::loss::{ScalarLoss, chord, excess, exp};

/// The Gamma loss with the log link, with conjugate a log y + a + (1 − a) log(1 − a), a ≤ 1 (MATH 2.12).
#[derive(Debug, Clone, Copy)]
pub struct Gamma;

impl ScalarLoss for Gamma {
    #[inline(always)]
    fn mu(self, _y: f64) -> f64 {
        0.0
    }

    #[inline(always)]
    fn value(self, u: f64, y: f64) -> f64 {
        excess(y.ln() - u)
    }

    #[inline(always)]
    fn derivative(self, u: f64, y: f64) -> f64 {
        let t = y.ln() - u;
        // Where e^t is cut it is far beyond one.
        if t > 1.0 { 1.0 - exp(t) } else { -t.exp_m1() }
    }

    #[inline(always)]
    fn curvature(self, u: f64, y: f64) -> f64 {
        exp(y.ln() - u)
    }

    #[inline(always)]
    fn careful_curvature(self, u: f64, y: f64) -> f64 {
        chord(self, u, y)
    }

    #[inline(always)]
    fn steepest(self, u: f64, y: f64, reach: f64) -> f64 {
        exp(y.ln() - u + reach)
    }

    #[inline(always)]
    fn curvature_of_slope(self, a: f64, _y: f64) -> f64 {
        (1.0 - a).max(0.0)
    }

    #[inline(always)]
    fn conjugate(self, a: f64, y: f64) -> f64 {
        if a < 1.0 {
            a * y.ln() + (a + (1.0 - a) * (-a).ln_1p())
        } else if a == 1.0 {
            y.ln() + 1.0
        } else {
            f64::INFINITY
        }
    }

    fn parts(self, a: f64, y: f64) -> f64 {
        3.0 * a.abs() * (1.0 + y.ln().abs())
    }

    #[inline(always)]
    fn conjugate_derivative(self, a: f64, y: f64) -> f64 {
        y.ln() - (1.0 - a).max(f64::MIN_POSITIVE).ln()
    }

    fn domain(self, _y: f64) -> (f64, f64) {
        (f64::NEG_INFINITY, 1.0)
    }
}
