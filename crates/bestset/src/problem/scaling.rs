//! The best multiple of a dual point: with a ridge, a bound that is never trivial.

use crate::error::Result;
use crate::kernel::each::chosen;
use crate::problem::{LowerBounds, Problem};

/// Halvings after which there is no bound: 2⁻⁶⁰ of a dual point is nothing beside its rounding.
const HALVINGS: usize = 60;

/// Times a largest size: so many features may have the least Ψ_j at some multiple. With the same penalty for all they are the same at each.
const LEADING: usize = 4;

/// Entries of X that are read once more for a bound when a limit has struck before there was any: a tenth of a second.
const AFTER_A_STOP: usize = 100_000_000;

impl Problem<'_> {
    /// The bound of the null model's dual point at its best multiple (MATH 3.9), and that point, of a problem that a limit ended before it
    /// had one: `None` where the pass over X that it takes is more than a moment.
    pub(crate) fn bound_after_a_stop(&self) -> Result<Option<(f64, Vec<f64>)>> {
        if self.design().stored() > AFTER_A_STOP {
            return Ok(None);
        }
        let alpha = self.null_dual_point();
        let tau = self.correlations(&alpha)?;
        let (bound, s) = self.lower_bounds()?.best_multiple(&alpha, &self.features(), &tau);
        Ok(Some((bound, alpha.iter().map(|a| s * a).collect())))
    }
}

impl LowerBounds<'_, '_> {
    /// max_{0≤s≤1} D(sα) and its s (MATH 3.9), nearly: s is looked for with the features that count, D is of all of them. With a ridge D(sα) is
    /// above zero at some s for the dual point of the null model, as Ψ_j(sτ_j) is of the order of s², −ℓ* of that of s.
    pub(crate) fn best_multiple(&self, alpha: &[f64], features: &[usize], tau: &[f64]) -> (f64, f64) {
        let times = |s: f64, of: &[f64]| of.iter().map(|x| s * x).collect::<Vec<f64>>();
        let (leading, own) = self.leading(features, tau);
        let s = highest(|s| self.dual_value(&times(s, alpha), &leading, &times(s, &own)));
        let full = self.dual_value(alpha, features, tau);
        let scaled = if s < 1.0 { self.dual_value(&times(s, alpha), features, &times(s, tau)) } else { full };
        if scaled > full { (scaled, s) } else { (full, 1.0) }
    }

    /// The features with Ψ_j(τ_j) < 0, which no other has at a smaller multiple; of a limited size several times the least as many.
    fn leading(&self, features: &[usize], tau: &[f64]) -> (Vec<usize>, Vec<f64>) {
        let mut found = chosen(features.len(), |k| {
            let psi = self.coordinate(features[k]).psi(tau[k]);
            (psi < 0.0).then_some((psi, k))
        });
        let most = self.max_size().map_or(usize::MAX, |k| k.saturating_mul(LEADING));
        if found.len() > most {
            found.select_nth_unstable_by(most, |a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            found.truncate(most);
        }
        found.into_iter().map(|(_, k)| (features[k], tau[k])).unzip()
    }
}

/// The s ≤ 1 at which a concave `value` that is zero at 0 is about highest: halved while that helps, which it does where the value is
/// negative; a parabola through the last three points shows where between them it is highest.
fn highest(value: impl Fn(f64) -> f64) -> f64 {
    let (mut best, mut above, mut s) = ((value(1.0), 1.0), None, 1.0);
    for _ in 0..HALVINGS {
        s *= 0.5;
        let half = value(s);
        if half > best.0 {
            (above, best) = (Some(best), (half, s));
        } else if best.0 > f64::NEG_INFINITY {
            let ends = above.filter(|above| above.0.is_finite());
            let between = ends.and_then(|(at, high)| vertex([(s, half), (best.1, best.0), (high, at)]));
            return between.filter(|s| value(*s) > best.0).unwrap_or(best.1);
        }
    }
    best.1
}

/// Where the parabola through three points, from left to right, is highest; `None` if not between them or at one of them.
pub(crate) fn vertex([a, b, c]: [(f64, f64); 3]) -> Option<f64> {
    let (left, right) = ((b.1 - a.1) / (b.0 - a.0), (c.1 - b.1) / (c.0 - b.0));
    let bend = (right - left) / (c.0 - a.0);
    let s = 0.5 * (a.0 + b.0) - 0.5 * left / bend;
    let apart = 1e-3 * (c.0 - a.0);
    (s > a.0 + apart && s < c.0 - apart && (s - b.0).abs() > apart).then_some(s)
}
