//! ℓ(u, y) = (y + θ) log((θ + e^u)/(θ + y)) − y (u − log y), y ≥ 0: half the deviance of a count with mean e^u and variance
//! e^u + e^{2u}/θ.

use crate::loss::{ScalarLoss, chord, log, log_difference};

/// e^x is no number beyond this.
const FAR: f64 = 700.0;

/// The negative binomial loss with the log link and a known θ, with conjugate
/// (a + y) log(a + y) − y log y + (θ − a) log(1 − a/θ), −y ≤ a ≤ θ (MATH 2.13).
#[derive(Debug, Clone, Copy)]
pub struct NegativeBinomial {
    /// How little the counts vary beyond Poisson, positive: their variance is m + m²/θ.
    pub theta: f64,
}

impl NegativeBinomial {
    /// log(θ + e^u) without overflow.
    #[inline(always)]
    fn log_sum(self, u: f64) -> f64 {
        let v = u - self.theta.ln();
        u.max(self.theta.ln()) + (-v.abs()).exp().ln_1p()
    }

    /// (θ − a) log(1 − a/θ).
    #[inline(always)]
    fn upper(self, a: f64) -> f64 {
        let rest = self.theta - a;
        if rest <= 0.0 {
            0.0
        } else if a.abs() < 0.5 * self.theta {
            rest * (-a / self.theta).ln_1p()
        } else {
            rest * (rest / self.theta).ln()
        }
    }
}

impl ScalarLoss for NegativeBinomial {
    #[inline(always)]
    fn mu(self, y: f64) -> f64 {
        4.0 / (y + self.theta)
    }

    #[inline(always)]
    fn value(self, u: f64, y: f64) -> f64 {
        let (theta, total) = (self.theta, y + self.theta);
        if y == 0.0 {
            let v = u - theta.ln();
            return theta * (v.max(0.0) + (-v.abs()).exp().ln_1p());
        }
        let t = u - y.ln();
        let value = if theta < y && t > -FAR {
            // (θ + e^u)/(θ + y) = e^t(1 + (e^−t − 1) θ/(θ + y)): the share of y cancels, and what is left has the digits of θ.
            theta * t + total * ((-t).exp_m1() * (theta / total)).ln_1p()
        } else if t.abs() < 0.5 {
            // (θ + e^u)/(θ + y) = 1 + (e^t − 1) y/(θ + y), near one.
            total * (t.exp_m1() * (y / total)).ln_1p() - y * t
        } else if t > 0.0 {
            // The share of y in both terms cancels: what is left has the digits of θ.
            theta * t + total * (self.log_sum(u) - u + y.ln() - total.ln())
        } else {
            total * (self.log_sum(u) - total.ln()) - y * t
        };
        value.max(0.0)
    }

    #[inline(always)]
    fn derivative(self, u: f64, y: f64) -> f64 {
        let v = u - self.theta.ln();
        let e = (-v.abs()).exp();
        let tail = (y + self.theta) * (e / (1.0 + e));
        (if v > 0.0 { self.theta - tail } else { tail - y }).clamp(-y, self.theta)
    }

    #[inline(always)]
    fn curvature(self, u: f64, y: f64) -> f64 {
        let e = (-(u - self.theta.ln()).abs()).exp();
        (y + self.theta) * e / ((1.0 + e) * (1.0 + e))
    }

    #[inline(always)]
    fn careful_curvature(self, u: f64, y: f64) -> f64 {
        chord(self, u, y)
    }

    #[inline(always)]
    fn curvature_of_slope(self, a: f64, y: f64) -> f64 {
        let (above, below) = ((a + y).max(0.0), (self.theta - a).max(0.0));
        above * (below / (y + self.theta))
    }

    #[inline(always)]
    fn conjugate(self, a: f64, y: f64) -> f64 {
        if a >= -y && a <= self.theta { log_difference(a, y) + self.upper(a) } else { f64::INFINITY }
    }

    fn parts(self, a: f64, y: f64) -> f64 {
        3.0 * a.abs() * (1.0 + log(y).abs()) + self.upper(a).abs()
    }

    #[inline(always)]
    fn conjugate_derivative(self, a: f64, y: f64) -> f64 {
        let log_of = |m: f64| m.max(f64::MIN_POSITIVE).ln();
        log_of(a + y) - log_of(self.theta - a) + self.theta.ln()
    }

    fn domain(self, y: f64) -> (f64, f64) {
        (-y, self.theta)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where counts are many, θ(t + e^−t − 1) but for θ/y: sums of terms as large as y had no digit of it left.
    #[test]
    fn large_counts_keep_their_digits() {
        for theta in [0.01, 0.1, 3.0] {
            for y in [1e9, 1e12, 1e15] {
                for t in [-3.0, -1.0, -0.1, 0.1, 1.0, 5.0] {
                    let loss = NegativeBinomial { theta };
                    let (value, limit) = (loss.value(t + f64::ln(y), y), theta * (t + f64::exp_m1(-t)));
                    let room = 1e-11 + 100.0 * theta / y;
                    assert!((value - limit).abs() <= room * limit, "{theta} {y} {t}: {value} {limit}");
                }
            }
        }
        // Where nearly nothing is expected e^−t is no number, and the loss is one.
        let far = NegativeBinomial { theta: 1.0 }.value(-900.0, 5.0);
        assert!(far.is_finite() && far > 4000.0, "{far}");
    }
}
