//! What would be proved where the problem as it is was not: a larger λ2, or fewer features.

use crate::control::{Method, Options};
use crate::enumerate;
use crate::leaps;
use crate::problem::Problem;
use crate::select::Remark;
use crate::solution::{Coefficients, Status};
use crate::solve::solve;
use std::time::{Duration, Instant};

/// Nodes within which a proof counts as one that is soon made.
const NODES: usize = 50;

/// λ2 is tried between these shares of the answer's squared column lengths, each about three times the last: below, it bounds
/// nothing; above, it is no longer the same model.
const SHARES: (f64, f64) = (1e-4, 0.5);

/// The least λ2 tried at which a proof is soon made, within `time`, and the largest size whose subsets can all be looked at where that
/// is less than what is asked for. `None` where neither is known.
pub(super) fn provable(
    problem: &Problem<'_>,
    answer: &Coefficients,
    options: &Options,
    time: Option<Duration>,
) -> Option<Remark> {
    let lambda2 = least_ridge(problem, answer, options, time);
    let most = leaps::largest_size(problem).max(enumerate::largest_size(problem));
    let most = problem.max_size().filter(|&k| k > most && most > 0).map(|_| most);
    (lambda2.is_some() || most.is_some()).then_some(Remark::Provable { lambda2, most })
}

fn least_ridge(problem: &Problem<'_>, answer: &Coefficients, options: &Options, time: Option<Duration>) -> Option<f64> {
    let begun = Instant::now();
    let left = || time.map(|time| time.saturating_sub(begun.elapsed()));
    let squares = problem.squares().ok()?;
    let squares: f64 = answer.support.iter().map(|&j| squares[j]).sum();
    let typical = squares / answer.nonzeros().max(1) as f64;
    let mut lambda2 = problem.penalty().lambda2.max(SHARES.0 * typical);
    while lambda2 < SHARES.1 * typical && left().is_none_or(|left| !left.is_zero()) {
        lambda2 = one_digit(3.0 * lambda2);
        let penalty = crate::Penalty { lambda2, ..problem.penalty().clone() };
        let settings = Options {
            method: Method::Exact,
            max_nodes: Some(NODES),
            time_limit: left(),
            warm_start: Some(answer.clone()),
            top: 1,
            trace: false,
            ..options.clone()
        };
        let found = problem.with_penalty(penalty).and_then(|problem| solve(&problem, &settings));
        if found.is_ok_and(|found| found.status == Status::Optimal) {
            return Some(lambda2);
        }
    }
    None
}

/// Rounded to one digit, for people to read.
fn one_digit(x: f64) -> f64 {
    format!("{x:.0e}").parse().unwrap_or(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_digit_is_kept() {
        assert_eq!([0.0312, 0.96, 3.0, 271.0].map(one_digit), [0.03, 1.0, 3.0, 300.0]);
    }
}
