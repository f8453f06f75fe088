//! What is known about how good an answer is.

use crate::Status;
use serde::{Deserialize, Serialize};

/// How far above P, relative to it, a bound is not rounding any more: columns that differ in their last digits may have fits that no
/// search of subsets knows of. Where P is rounding itself, 0 is as good a bound.
const REFUTED: f64 = 1e-6;

/// The three numbers of an answer and the gaps between them (MATH 4.9, 4.10).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Certificate {
    /// P of the answer.
    #[serde(with = "crate::file::float")]
    pub objective: f64,
    /// R of the last iterate of the convex phase; `None` where R is not the relaxation (limited size) or not computed.
    pub relaxation: Option<f64>,
    /// A value proved to be at most the best possible P: that of a dual point, but not below 0; −∞ when nothing is proved.
    #[serde(with = "crate::file::float")]
    pub lower_bound: f64,
}

impl Certificate {
    /// From P of the answer, R and D(α) of a dual point: max(D(α), 0) is the bound (MATH 4.9), since losses and penalties are
    /// never negative; −∞, nothing proved, stays. A bound that the answer itself refutes says nothing: 0 is left of it.
    pub fn new(objective: f64, relaxation: Option<f64>, dual: f64) -> Self {
        let is_refuted = dual > objective + REFUTED * objective.abs();
        Self { objective, relaxation, lower_bound: if is_refuted { 0.0 } else { at_least_zero(dual) } }
    }

    /// P − lower bound ≥ 0 (MATH 4.10), what the answer can be off at most; +∞ without a certificate or a feasible answer.
    pub fn gap(&self) -> f64 {
        difference(self.objective, self.lower_bound)
    }

    /// The gap relative to |P|.
    pub fn relative_gap(&self) -> f64 {
        relative(self.gap(), self.objective)
    }

    /// R − lower bound (MATH 4.10): how far the convex phase is from its own optimum.
    pub fn relaxation_gap(&self) -> Option<f64> {
        self.relaxation.map(|r| difference(r, self.lower_bound))
    }

    /// The relaxation gap relative to |R|.
    pub fn relative_relaxation_gap(&self) -> Option<f64> {
        self.relaxation.map(|r| relative(difference(r, self.lower_bound), r))
    }

    /// gap ≤ max(absolute, relative · |P|) (MATH 4.11): `Optimal` then, otherwise how the loop ended.
    pub fn status(&self, ended: Status, absolute: f64, relative: f64) -> Status {
        let gap = self.gap();
        let closed = gap.is_finite() && gap <= absolute.max(relative * self.objective.abs());
        match ended {
            _ if closed => Status::Optimal,
            Status::Optimal => Status::Converged,
            other => other,
        }
    }
}

/// A bound on P that says no less than that P ≥ 0, if it says anything.
pub(crate) fn at_least_zero(bound: f64) -> f64 {
    if bound > f64::NEG_INFINITY { bound.max(0.0) } else { bound }
}

/// upper − lower, at least 0; +∞ unless both are finite: NaN and ∞ prove nothing.
fn difference(upper: f64, lower: f64) -> f64 {
    if upper.is_finite() && lower.is_finite() { (upper - lower).max(0.0) } else { f64::INFINITY }
}

fn relative(gap: f64, value: f64) -> f64 {
    if gap == 0.0 || gap.is_infinite() { gap } else { gap / value.abs() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the answer refutes proves nothing; what rounding may have done is left, and so is P = 0.
    #[test]
    fn a_bound_that_the_answer_refutes_is_dropped() {
        let of = |objective: f64, bound: f64| Certificate::new(objective, None, bound);
        assert_eq!(of(0.75, 98.2).lower_bound, 0.0);
        assert_eq!(of(0.75, 98.2).status(Status::Optimal, 1e-9, 1e-6), Status::Converged);
        assert_eq!(of(2.0, 2.0 + 1e-9).lower_bound, 2.0 + 1e-9);
        assert_eq!(of(1e-20, 1e-14).status(Status::Converged, 1e-9, 1e-6), Status::Optimal);
        assert_eq!(of(1.0, f64::NEG_INFINITY).lower_bound, f64::NEG_INFINITY);
    }
}
