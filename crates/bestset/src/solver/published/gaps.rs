//! The rules by which the published ascents end, from the gaps they meet.

use crate::control::{Published, Step, Stop};
use crate::solution::StopRule;

/// A constant step ω moves α by a factor of e towards the maximum of a μ-strongly concave dual in 1/(ωμ) steps. When
/// the least gap has not fallen in this many times as long, the patient rule takes it for no longer decreasing.
const PATIENCE: f64 = 2.0;

/// A fall of the gap by less than this share of it is none to the patient rule.
const FALL: f64 = 1e-3;

/// The least number of steps without a fall of the gap before the patient rule ends a loop.
const LEAST_PATIENCE: usize = 200;

/// The gaps of one loop so far, as far as the rules look back.
pub(super) struct Gaps {
    published: Published,
    /// μ of the loss.
    mu: f64,
    steps: usize,
    /// gap_{t−2} and gap_{t−1}; infinite before the first, so that the first gap decreases.
    before: f64,
    previous: f64,
    /// The least gap, and the step it was met at.
    least: f64,
    least_at: usize,
}

impl Gaps {
    pub(super) fn new(published: Published, mu: f64) -> Self {
        let none = f64::INFINITY;
        Self { published, mu, steps: 0, before: none, previous: none, least: none, least_at: 0 }
    }

    /// gap < `epsilon`, |gap two steps before − gap| < `zeta`, or the gap no longer decreases (MATH 6.3): takes the gap of the
    /// next step; the rule that ends the loop with it, if one does.
    pub(super) fn end(&mut self, gap: f64) -> Option<StopRule> {
        self.steps += 1;
        if has_fallen(self.least, gap, self.published.zeta) {
            (self.least, self.least_at) = (gap, self.steps);
        }
        let rule = if gap < self.published.epsilon {
            Some(StopRule::Epsilon)
        } else if (self.before - gap).abs() < self.published.zeta {
            Some(StopRule::Zeta)
        } else {
            (!self.is_decreasing(gap)).then_some(StopRule::NotDecreasing)
        };
        (self.before, self.previous) = (self.previous, gap);
        rule
    }

    fn is_decreasing(&self, gap: f64) -> bool {
        match self.published.stop {
            Stop::Literal => gap < self.previous,
            Stop::Patient => self.steps - self.least_at <= self.patience(),
        }
    }

    /// max(200, 2/(ωμ)) for a constant step (MATH 6.3): how many steps may follow the one with the least gap without a fall.
    /// Diminishing steps take twice as many steps for the same way.
    fn patience(&self) -> usize {
        match self.published.step {
            Step::Constant(omega) => LEAST_PATIENCE.max((PATIENCE / (omega * self.mu)) as usize),
            Step::Diminishing { .. } => LEAST_PATIENCE.max(self.least_at),
        }
    }
}

/// gap < before − max(`zeta`, gap/1000) (MATH 6.3): it has fallen by more than a trifle.
pub(super) fn has_fallen(before: f64, gap: f64, zeta: f64) -> bool {
    gap < before - zeta.max(FALL * gap)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(stop: Stop, gaps: &[f64]) -> Option<(usize, StopRule)> {
        let published = Published { stop, epsilon: 0.1, zeta: 0.01, ..Published::default() };
        let mut seen = Gaps::new(published, 1.0);
        gaps.iter().enumerate().find_map(|(t, gap)| Some((t + 1, seen.end(*gap)?)))
    }

    #[test]
    fn the_literal_rule_ends_at_the_first_gap_that_is_not_lower() {
        assert_eq!(ended(Stop::Literal, &[9.0, 8.0, 7.0, 7.5, 1.0]), Some((4, StopRule::NotDecreasing)));
        assert_eq!(ended(Stop::Literal, &[9.0, 9.0]), Some((2, StopRule::NotDecreasing)), "equal is not lower");
        assert_eq!(ended(Stop::Literal, &[9.0, 8.0, 7.0, 6.0]), None);
        assert_eq!(ended(Stop::Literal, &[9e9]), None, "the first has nothing to be compared with");
    }

    #[test]
    fn epsilon_and_zeta_end_either() {
        for stop in Stop::ALL {
            assert_eq!(ended(stop, &[9.0, 0.05]), Some((2, StopRule::Epsilon)));
            assert_eq!(ended(stop, &[9.0, 8.998, 8.996]), Some((3, StopRule::Zeta)), "0.004 in two steps");
            assert_eq!(ended(stop, &[9.0, 8.994, 8.988]), None, "0.012 in two steps");
        }
    }

    #[test]
    fn the_patient_rule_waits_for_twice_the_time_constant() {
        // 2/(0.0005 · 1) = 4000 steps after the one with the least gap.
        let mut gaps = vec![9.0, 5.0];
        gaps.extend((0..4002).map(|t| 6.0 + f64::from(t % 3)));
        assert_eq!(ended(Stop::Patient, &gaps[..4002]), None);
        assert_eq!(ended(Stop::Patient, &gaps), Some((4003, StopRule::NotDecreasing)));
        // A trifle is no fall, more is one.
        (gaps[3000], gaps[3001]) = (4.999, 8.0);
        assert_eq!(ended(Stop::Patient, &gaps), Some((4003, StopRule::NotDecreasing)));
        gaps[3000] = 4.9;
        assert_eq!(ended(Stop::Patient, &gaps), None);
    }
}
