//! ℓ(u, y) = log(1 + e^{−yu}), y = ±1.

use crate::loss::ScalarLoss;

/// The logistic loss, with conjugate (−ya) log(−ya) + (1 + ya) log(1 + ya), 0 ≤ −ya ≤ 1 (MATH 2.2).
#[derive(Debug, Clone, Copy)]
pub struct Logistic;

/// How far from the ends of its domain the derivative of the conjugate is still evaluated; it is infinite there.
const INTERIOR: f64 = 1e-12;

impl ScalarLoss for Logistic {
    #[inline(always)]
    fn mu(self, _y: f64) -> f64 {
        4.0
    }

    #[inline(always)]
    fn value(self, u: f64, y: f64) -> f64 {
        let m = y * u;
        // log(1 + e^{−m}) without overflow.
        (-m.abs()).exp().ln_1p() + (-m).max(0.0)
    }

    #[inline(always)]
    fn derivative(self, u: f64, y: f64) -> f64 {
        let e = (-(y * u).abs()).exp();
        let tail = e / (1.0 + e);
        -y * if y * u > 0.0 { tail } else { 1.0 - tail }
    }

    #[inline(always)]
    fn curvature(self, u: f64, _y: f64) -> f64 {
        let e = (-u.abs()).exp();
        e / ((1.0 + e) * (1.0 + e))
    }

    #[inline(always)]
    fn conjugate(self, a: f64, y: f64) -> f64 {
        let s = -y * a;
        if !(0.0..=1.0).contains(&s) {
            return f64::INFINITY;
        }
        // 0 · log 0 = 0 at both ends; ln_1p keeps the digits of 1 − s for small s.
        let (lower, upper) =
            (if s > 0.0 { s * s.ln() } else { 0.0 }, if s < 1.0 { (1.0 - s) * (-s).ln_1p() } else { 0.0 });
        lower + upper
    }

    #[inline(always)]
    fn conjugate_derivative(self, a: f64, y: f64) -> f64 {
        let s = (-y * a).clamp(INTERIOR, 1.0 - INTERIOR);
        -y * (s.ln() - (-s).ln_1p())
    }

    fn domain(self, y: f64) -> (f64, f64) {
        if y > 0.0 { (-1.0, 0.0) } else { (0.0, 1.0) }
    }
}
