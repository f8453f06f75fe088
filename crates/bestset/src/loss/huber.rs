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

/// E ψ²/E ψ′ for normal errors of spread one and ψ(r) = r cut at ±c (MATH 10.23): what a feature that says nothing lowers the deviance by on
/// average where δ = c, one for squares.
pub(crate) fn gained_by_chance(c: f64) -> f64 {
    let (within, below) = within(c);
    // E ψ² = m − 2cφ(c) + c²(1 − m), of which c² may be too large for a number where nothing is cut.
    let cut = 1.0 - within;
    (below + if cut > 0.0 { c * c * cut } else { 0.0 }) / within
}

/// m = P(|r| ≤ c) = 2φ(c) Σ_k c^{2k+1}/(1·3⋯(2k+1)) of a normal r (MATH 10.23), and m − 2cφ(c), which is the sum without its first term.
pub(crate) fn within(c: f64) -> (f64, f64) {
    // Beyond, less than 1e-15 of the errors are cut, and the sum would be long.
    const UNCUT: f64 = 8.0;
    if c >= UNCUT {
        return (1.0, 1.0);
    }
    let twice = (2.0 / std::f64::consts::PI).sqrt() * (-0.5 * c * c).exp();
    let (mut term, mut rest, mut odd) = (c, 0.0, 1.0);
    while term > f64::EPSILON * (c + rest) {
        odd += 2.0;
        term *= c * c / odd;
        rest += term;
    }
    (twice * (c + rest), twice * rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against sums over a fine grid of errors, and its ends: √(π/2) c for a small c, one for a large one.
    #[test]
    fn what_chance_gains_by_its_definition() {
        for c in [0.01, 0.3, 1.0, 1.345, 2.0, 4.0, 7.9] {
            let (step, mut squares, mut within) = (1e-4, 0.0, 0.0);
            for k in 0..100_000 {
                let r: f64 = (f64::from(k) + 0.5) * step;
                let density = (-0.5 * r * r).exp();
                squares += density * r.min(c).powi(2);
                within += if r < c { density } else { 0.0 };
            }
            let (found, exact) = (gained_by_chance(c), squares / within);
            assert!((found - exact).abs() < 1e-6 * exact, "{c}: {found} {exact}");
        }
        let half = (0.5 * std::f64::consts::PI).sqrt();
        assert!((gained_by_chance(1e-9) / (half * 1e-9) - 1.0).abs() < 1e-8);
        assert!((gained_by_chance(7.999) - 1.0).abs() < 1e-12 && gained_by_chance(1e300) == 1.0);
    }
}
