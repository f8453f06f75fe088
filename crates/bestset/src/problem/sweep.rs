//! What a sweep over the far features need not tell of: correlations so small that they change nothing.

use crate::penalty::Coordinate;
use crate::problem::bound::{LowerBounds, MeasuredPoint};
use crate::problem::screening;

/// Halvings of the search for the least correlation that does not exclude: to the last digit of single precision.
const HALVINGS: usize = 30;

/// Room for the rounding of limits themselves.
const ROOM: f64 = 1e-12;

/// What is known of the features that a sweep does not list.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Unlisted {
    /// Rough correlations below this are not listed.
    pub below: f64,
    /// Such features are in no optimal subset, with any bound of at least this (MATH 5.4); +∞ where nothing is known.
    pub excluded_from: f64,
}

impl LowerBounds<'_, '_> {
    /// L with |r_j| < L ⇒ Ψ_j(x_jᵀα) = 0 for rough correlations r (MATH 11.25), and also ⇒ D + max(0, φ_j(x_jᵀα)) > P̂ where that holds at r = 0 (MATH
    /// 5.4), for D ≥ `dual`. Each of these features has the penalty `one`, or one with a larger λ0, for which φ and τ₀ are larger, and no threshold below `least_threshold`; nothing is passed by where
    /// penalties differ between features.
    pub(crate) fn unlisted(
        &self,
        alpha: &[f64],
        (one, least_threshold): (Coordinate, f64),
        dual: f64,
        best: f64,
    ) -> Unlisted {
        let listed = Unlisted { below: f64::NEG_INFINITY, excluded_from: f64::NEG_INFINITY };
        let Some(point) = self.measure(alpha).filter(|_| self.penalty().is_uniform()) else { return listed };
        let zero = least_threshold - self.largest_rough_error(&point);
        let excludes = |t: f64| screening::in_no_optimal_subset(one, t, dual, best);
        if !(excludes(0.0) && excludes(-0.0)) {
            return Unlisted { below: zero * (1.0 - ROOM), excluded_from: f64::INFINITY };
        }
        let open = self.excluded_within(one, &point, |t| excludes(t) && excludes(-t));
        Unlisted { below: zero.min(open) * (1.0 - ROOM), excluded_from: dual }
    }

    /// The largest |r_j| found whose true correlation, at either end of its rounding, still excludes: φ is concave, so that all in between do.
    fn excluded_within(&self, one: Coordinate, point: &MeasuredPoint, excludes: impl Fn(f64) -> bool) -> f64 {
        let (mut low, mut high) = (0.0, one.least_slope());
        if !high.is_finite() {
            return 0.0;
        }
        for _ in 0..HALVINGS {
            let middle = 0.5 * (low + high);
            if excludes(middle) { low = middle } else { high = middle }
        }
        // Correlations in double precision, which the ends of rough ones are to hold, are as far as their own error from the true ones.
        low - 2.0 * self.largest_rough_error(point) - 32.0 * f64::EPSILON * low
    }
}
