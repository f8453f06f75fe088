//! What would be proved where the problem as it is was not, and of which subsets it is: a larger λ2, smaller coefficients, fewer features.

use crate::coherence::{self, Look};
use crate::control::{Method, Monitor, Options};
use crate::enumerate;
use crate::error::Result;
use crate::leaps;
use crate::penalty::{Bounds, Penalty};
use crate::problem::Problem;
use crate::select::Posed;
use crate::solution::{Coefficients, Solution, Status};
use crate::solve::solve;
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};

/// Nodes within which a proof counts as one that is soon made.
const NODES: usize = 50;

/// λ2 is tried between these shares of the answer's squared column lengths, each about three times the last: below, it bounds
/// nothing; above, it is no longer the same model.
const SHARES: (f64, f64) = (1e-4, 0.5);

/// Bounds on coefficients are tried at so many times the largest of the answer: they leave the answer as it is, and some room.
const ROOM: f64 = 1.25;

/// Share of P that the dual point of an answer may leave where a proof is to be expected. Of 16 problems (40 × 80 and 100 × 400, correlations 0 to
/// 0.9, prices and sizes) every one that it left at most this of was proved within 150 nodes, of four that it left about a third of three.
const NARROW: f64 = 0.25;

/// What is tried on a larger problem where there is no time limit ends after this.
const LONGEST: Duration = Duration::from_secs(10);

/// Entries of X up to which everything is tried, whatever the clock says: some hundreds of nodes are a moment's work there, and the
/// same is said on every machine.
const SMALL: usize = 100_000;

/// What is proved of fewer subsets than asked for, and what would be proved.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Provable {
    /// No subset of at most so many features is better than the answer: proved (MATH 13.7).
    pub within: Option<usize>,
    /// No subset that adds at most so many features to the answer's is better: proved (MATH 13.7).
    pub added: Option<usize>,
    /// A larger λ2 with which a proof was soon made or, where `is_tried` is not set, may be expected.
    pub lambda2: Option<f64>,
    /// Whether a proof was made with that λ2.
    pub is_tried: bool,
    /// A bound on the size of every coefficient, beyond all of the answer, with which a proof was soon made.
    pub bound: Option<f64>,
    /// The largest size whose subsets can all be looked at, where that asked for is larger.
    pub most: Option<usize>,
}

impl Provable {
    fn or_none(self) -> Option<Self> {
        let Self { within, added, lambda2, bound, most, .. } = self;
        let is_known = within.or(added).or(most).is_some() || lambda2.or(bound).is_some();
        is_known.then_some(self)
    }
}

impl std::fmt::Display for Provable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let within = self.within.map(|k| format!("no subset of at most {} is better: that is proved", features(k)));
        let added = self.added.filter(|_| self.within.is_none());
        let added = added.map(|m| format!("no subset that adds at most {} is better: that is proved", features(m)));
        let ridge = self.lambda2.map(|lambda2| match self.is_tried {
            true => format!("with lambda2 = {lambda2} a proof is soon made"),
            false => format!("with lambda2 = {lambda2} a proof may be expected"),
        });
        let bound = self.bound.map(|b| format!("with every coefficient within {b} of zero a proof is soon made"));
        let most = self.most.map(|most| format!("with at most {} all subsets can be looked at", features(most)));
        let ways: Vec<String> = [within, added, ridge, bound, most].into_iter().flatten().collect();
        f.write_str(&ways.join("; "))
    }
}

pub(super) fn features(count: usize) -> String {
    if count == 1 { "1 feature".to_owned() } else { format!("{count} features") }
}

/// A question about an answer that is not proved.
pub(super) struct Unproved<'u, 'a> {
    pub(super) posed: &'u Posed<'a>,
    pub(super) problem: &'u Problem<'a>,
    pub(super) solution: &'u Solution,
    /// With what is left of the time.
    pub(super) options: Options,
}

impl Unproved<'_, '_> {
    /// What was tried and found proved.
    pub(super) fn tried(&self) -> Option<Provable> {
        let begun = Instant::now();
        let time = self.time();
        let left = || time.saturating_sub(begun.elapsed());
        let (within, added) = self.by_coherence(time / 2).ok().flatten().unwrap_or_default();
        let bound = self.bounded(left);
        let lambda2 = self.ridges().into_iter().find(|&lambda2| {
            let penalty = Penalty { lambda2, ..self.problem.penalty().clone() };
            self.is_soon_proved(penalty, left())
        });
        let is_tried = lambda2.is_some();
        // Where time did not last for trials, what a few passes say.
        let lambda2 = lambda2.or_else(|| if left().is_zero() { self.expected_ridge() } else { None });
        Provable { within, added, lambda2, is_tried, bound, most: self.most() }.or_none()
    }

    /// What a few passes say.
    pub(super) fn expected(&self) -> Option<Provable> {
        Provable { lambda2: self.expected_ridge(), most: self.most(), ..Provable::default() }.or_none()
    }

    /// The least λ2 with which the dual point of the answer alone, fitted anew, leaves little: a pass over X for each that is asked. The
    /// relaxation's own bound is no less, and a tree closes such a gap as a rule.
    fn expected_ridge(&self) -> Option<f64> {
        let begun = Instant::now();
        let is_late = || self.options.cancel.is_cancelled() || begun.elapsed() > self.time();
        let ridges = self.ridges();
        let is_narrow = |lambda2: &f64| !is_late() && self.is_narrow(*lambda2).unwrap_or(false);
        ridges.get(ridges.partition_point(|lambda2| !is_narrow(lambda2))).copied()
    }

    /// What all that is tried may take.
    fn time(&self) -> Duration {
        let is_small = self.problem.nrows().saturating_mul(self.problem.ncols()) <= SMALL;
        let longest = if is_small { Duration::MAX } else { LONGEST };
        self.options.time_limit.map_or(longest, |time| time.min(LONGEST))
    }

    fn most(&self) -> Option<usize> {
        let most = leaps::largest_size(self.problem).max(enumerate::largest_size(self.problem));
        self.problem.max_size().filter(|&k| k > most && most > 0).map(|_| most)
    }

    /// Larger λ2 than that of the problem, to one digit, for people to read.
    fn ridges(&self) -> Vec<f64> {
        let answer = &self.solution.coefficients;
        let Ok(squares) = self.problem.squares() else { return Vec::new() };
        let squares: f64 = answer.support.iter().map(|&j| squares[j]).sum();
        let typical = squares / answer.nonzeros().max(1) as f64;
        // Nothing is in: no scale to say a ridge on.
        if !(typical > 0.0 && typical.is_finite()) {
            return Vec::new();
        }
        let next = |lambda2: &f64| Some(one_digit(3.0 * lambda2));
        let first = next(&self.problem.penalty().lambda2.max(SHARES.0 * typical));
        std::iter::successors(first, next).take_while(|lambda2| *lambda2 <= 3.0 * SHARES.1 * typical).collect()
    }

    fn is_soon_proved(&self, penalty: Penalty, time: Duration) -> bool {
        if time.is_zero() || self.options.cancel.is_cancelled() {
            return false;
        }
        let settings = Options {
            method: Method::Exact,
            max_nodes: Some(NODES),
            time_limit: Some(time),
            warm_start: Some(self.solution.coefficients.clone()),
            top: 1,
            trace: false,
            ..self.options.clone()
        };
        let found = self.problem.with_penalty(penalty).and_then(|problem| solve(&problem, &settings));
        found.is_ok_and(|found| found.status == Status::Optimal)
    }

    /// A bound that leaves the answer as it is, if a proof is soon made with it.
    fn bounded(&self, left: impl Fn() -> Duration) -> Option<f64> {
        let outside = self.posed.outward(&self.solution.coefficients);
        let largest = outside.values.iter().map(|b| b.abs()).fold(0.0, f64::max);
        let size = two_digits(ROOM * largest);
        if self.posed.setup.bounds != Bounds::Free || !(size > 0.0 && size.is_finite()) {
            return None;
        }
        let penalty = self.problem.penalty().clone().with_bounds(self.posed.within(size));
        self.is_soon_proved(penalty, left()).then_some(size)
    }

    /// The largest size up to which, and the most features with whose addition, no subset is better than the answer.
    fn by_coherence(&self, time: Duration) -> Result<Option<(Option<usize>, Option<usize>)>> {
        let (options, mut silent) = (Options { time_limit: Some(time), ..self.options.clone() }, ());
        let monitor = Monitor::new(&options, &mut silent);
        let can =
            coherence::applies(self.problem, &options.memory()) && monitor.has_time_for(coherence::cost(self.problem));
        if !can {
            return Ok(None);
        }
        let best = self.problem.value(&self.solution.coefficients)?;
        let target = best - 0.5 * options.absolute(self.problem).max(options.gap * best.abs());
        let Some(look) = Look::new(self.problem, &self.solution.coefficients)? else { return Ok(None) };
        Ok(look.reach((best, target), monitor.limits())?.map(|(within, added)| {
            (within.filter(|k| *k > 0 && self.problem.max_size().is_none()), added.filter(|m| *m > 0))
        }))
    }

    /// Whether P − D (MATH 3.9, 6.5) at the dual point of the answer fitted anew is a small share of P.
    fn is_narrow(&self, lambda2: f64) -> Result<bool> {
        let problem = self.problem.with_penalty(Penalty { lambda2, ..self.problem.penalty().clone() })?;
        let fit = self.fitted(&problem)?;
        let alpha = problem.dual_point_of(&fit)?;
        let tau = problem.correlations(&alpha)?;
        let (bound, _) = problem.lower_bounds()?.best_multiple(&alpha, &problem.features(), &tau);
        let value = problem.value(&fit)?;
        Ok(value - bound <= NARROW * value)
    }

    /// The features of the answer, fitted with another penalty.
    fn fitted(&self, problem: &Problem<'_>) -> Result<Coefficients> {
        let (mut lower, mut upper) = (vec![0.0; problem.ncols()], vec![0.0; problem.ncols()]);
        for &j in self.solution.support() {
            (lower[j], upper[j]) = problem.penalty().bounds.at(j);
        }
        let penalty = Penalty { lambda0: 0.0, ..problem.penalty().clone() }.with_bounds(Bounds::Each(lower, upper));
        let options = Options {
            method: Method::Incremental,
            time_limit: Some(self.time()),
            warm_start: Some(self.solution.coefficients.clone()),
            trace: false,
            top: 1,
            ..self.options.clone()
        };
        Ok(solve(&problem.without_max_size().with_penalty(penalty)?, &options)?.coefficients)
    }
}

/// Rounded to one digit, for people to read.
fn one_digit(x: f64) -> f64 {
    format!("{x:.0e}").parse().unwrap_or(x)
}

/// Rounded to two digits.
fn two_digits(x: f64) -> f64 {
    format!("{x:.1e}").parse().unwrap_or(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_kept() {
        assert_eq!([0.0312, 0.96, 3.0, 271.0].map(one_digit), [0.03, 1.0, 3.0, 300.0]);
        assert_eq!([0.0312, 0.996, 3.0, 271.0].map(two_digits), [0.031, 1.0, 3.0, 270.0]);
    }

    #[test]
    fn a_sentence_says_what_is_known() {
        let all = Provable {
            within: Some(1),
            added: Some(2),
            lambda2: Some(0.03),
            is_tried: true,
            bound: Some(1.3),
            most: Some(3),
        };
        assert_eq!(
            all.to_string(),
            "no subset of at most 1 feature is better: that is proved; with lambda2 = 0.03 a proof is soon made; with every \
             coefficient within 1.3 of zero a proof is soon made; with at most 3 features all subsets can be looked at"
        );
        let expected = Provable { is_tried: false, within: None, bound: None, most: None, ..all };
        assert_eq!(
            expected.to_string(),
            "no subset that adds at most 2 features is better: that is proved; with lambda2 = 0.03 a proof may be expected"
        );
        assert_eq!(Provable { lambda2: None, added: None, ..expected }.or_none(), None);
    }
}
