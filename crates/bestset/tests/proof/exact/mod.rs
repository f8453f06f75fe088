//! Branch-and-bound against enumeration, over the whole product of losses, bounds, weights, intercepts and designs.

mod attack;
mod far;

use crate::common::{Case, Enumeration, Shape, case, enumerate, holds, rng, share, sized};
use bestset::{CancelFlag, Loss, Method, Options, Problem, Status, TraceRow, solve};
use std::time::Duration;

fn scale(case: &Case, all: &Enumeration) -> f64 {
    case.null_loss() + all.best
}

fn exact(problem: &Problem<'_>, options: Options) -> bestset::Solution {
    solve(problem, &Options { method: Method::Exact, ..options }).unwrap()
}

/// Checks every claim of a solution against enumeration; whether it was proved optimal.
fn check(case: &Case, all: &Enumeration, solution: &bestset::Solution, context: &str) -> bool {
    let context = (context, case.loss, &case.penalty);
    holds(solution.certificate, solution.status, all.least(case), scale(case, all), &context)
}

#[test]
fn answers_equal_enumeration() {
    let mut rng = rng(81);
    let (mut proved, mut total) = (0, 0);
    for trial in 0..share(1500) {
        let shape = Shape { attained: true, certified: true, ..Shape::new(3..=20, 1..=10) };
        let case = case(&mut rng, &shape);
        let all = enumerate(&case);
        case.with_problem(|problem| {
            let solution = exact(problem, Options { max_nodes: Some(2000), ..Options::default() });
            proved += usize::from(check(&case, &all, &solution, &trial.to_string()));
            total += 1;
        });
    }
    // What is left is at the limit of rounding: column scales from 1e-6 to 1e6 in one problem.
    assert!(proved >= total * 98 / 100, "{proved} of {total}");
}

#[test]
fn interrupts_and_limits_return_valid_bounds() {
    let mut rng = rng(82);
    let (mut interrupted, mut limited, total) = (0, 0, share(200));
    for trial in 0..total {
        let case =
            case(&mut rng, &Shape { wild: false, attained: true, certified: true, ..Shape::new(8..=20, 8..=10) });
        let all = enumerate(&case);
        case.with_problem(|problem| {
            let cancel = CancelFlag::default();
            let (flag, after) = (cancel.clone(), trial % 9);
            let mut rows = 0;
            let mut observer = move |_: &TraceRow| {
                rows += 1;
                if rows > after {
                    flag.cancel();
                }
            };
            let options = Options { method: Method::Exact, cancel, ..Options::default() };
            let solution = bestset::solve_observed(problem, &options, &mut observer).unwrap();
            check(&case, &all, &solution, "interrupted");
            interrupted += usize::from(solution.status == Status::Interrupted);
            let time_limit = Some(Duration::from_micros(10 * trial as u64));
            let solution = exact(problem, Options { time_limit, ..Options::default() });
            check(&case, &all, &solution, "time limit");
            let solution = exact(problem, Options { max_nodes: Some(1), ..Options::default() });
            check(&case, &all, &solution, "node limit");
            limited += usize::from(solution.status == Status::NodeLimit);
        });
    }
    assert!(10 * interrupted > total && 40 * limited > total, "{interrupted} {limited}");
}

/// At most k features, λ0 or none besides: D_k of MATH §6 and better, closed by branching.
#[test]
fn the_best_subset_of_a_size_equals_enumeration() {
    let mut rng = rng(84);
    let (mut proved, mut split, mut total) = (0, 0, 0);
    for trial in 0..share(500) {
        let shape = Shape { wild: trial % 2 == 0, attained: true, certified: true, ..Shape::new(5..=20, 3..=9) };
        let mut case = case(&mut rng, &shape);
        if trial % 3 > 0 {
            case.penalty.lambda0 = 0.0;
        }
        let all = enumerate(&case);
        let k = 1 + trial % case.p.min(5);
        case.max_size = Some(k);
        case.with_problem(|problem| {
            let solution = exact(problem, Options { max_nodes: Some(2000), ..Options::default() });
            let context = format!("{trial}: k = {k}");
            assert!(solution.coefficients.nonzeros() <= k, "{context}");
            proved += usize::from(check(&case, &all, &solution, &context));
            split += usize::from(solution.iterations > 1);
            total += 1;
        });
    }
    assert!(proved >= total * 97 / 100 && split > total / 10, "{proved} of {total}, {split} split");
}

/// The N best subsets, in order, are those of the enumeration.
#[test]
fn ranked_subsets_equal_enumeration() {
    let mut rng = rng(85);
    let (mut proved, mut total) = (0, 0);
    for trial in 0..120 {
        let shape = Shape { wild: false, attained: true, certified: true, ..Shape::new(8..=20, 4..=8) };
        let case = case(&mut rng, &shape);
        let all = enumerate(&case);
        // A subset whose fit leaves a feature at zero is another subset.
        let mut seen = std::collections::HashSet::new();
        let costs: Vec<f64> = all.costs.iter().filter(|c| seen.insert(c.1.clone())).map(|c| c.0).collect();
        let top = 2 + trial % 6;
        case.with_problem(|problem| {
            let solution = exact(problem, Options { top, ..Options::default() });
            check(&case, &all, &solution, "ranked");
            assert!(solution.ranked.len() <= top);
            assert_eq!(solution.ranked[0].coefficients, solution.coefficients);
            total += top.min(costs.len());
            for (rank, (found, cost)) in solution.ranked.iter().zip(&costs).enumerate() {
                let context = format!("{trial}: rank {rank}, {} for {cost}, {:?}", found.objective, case.penalty);
                let room = 3e-6 * cost + 2e-9;
                assert!(found.objective >= cost - room, "better than the enumeration: {context}");
                if found.proved {
                    assert!(found.objective <= cost + room, "not the next best: {context}");
                    proved += 1;
                }
            }
        });
    }
    assert!(proved >= total * 97 / 100, "{proved} of {total}");
}

#[test]
fn any_number_of_threads_gives_the_same_answer() {
    let mut rng = rng(83);
    let mut compared = 0;
    for _ in 0..20 {
        let case =
            case(&mut rng, &Shape { wild: false, attained: true, certified: true, ..Shape::new(30..=60, 20..=40) });
        if case.loss != Loss::Squared {
            continue;
        }
        compared += 1;
        case.with_problem(|problem| {
            let options = |threads| Options { threads: Some(threads), max_nodes: Some(300), ..Options::default() };
            let one = exact(problem, options(1));
            for threads in [2, 4] {
                let other = exact(problem, options(threads));
                assert_eq!(one.coefficients, other.coefficients);
                assert_eq!((one.certificate, one.iterations), (other.certificate, other.iterations));
            }
        });
    }
    assert!(compared > 2, "{compared}");
}

/// What is counted as excluded with a limited size is excluded from the best subsets of that size, not from those of the
/// problem with a price that bounds it.
#[test]
fn counts_of_excluded_features_are_those_of_the_size() {
    let mut rng = rng(86);
    let (mut counted, total) = (0, share(120));
    for trial in 0..total {
        let mut case =
            case(&mut rng, &Shape { wild: false, attained: true, certified: true, ..Shape::new(8..=20, 5..=9) });
        case.penalty.lambda0 = 0.0;
        let (all, k) = (enumerate(&case), 1 + trial % 3);
        let room = 1e-9 * scale(&case, &all);
        let possible = (0..case.p).filter(|&j| all.with_sized[j][k] <= all.sized[k] + room).count();
        case.with_problem(|problem| {
            let solution = exact(&sized(problem.clone(), Some(k)), Options::default());
            assert!(solution.screened.excluded <= case.p - possible, "{trial}: {:?}", solution.screened);
            assert_eq!(solution.screened.included, 0);
            counted += solution.screened.excluded;
        });
    }
    assert!(6 * counted > 5 * total, "{counted}");
}

mod long {
    use super::*;

    /// As above with up to 14 features, where trees are deeper; 2^14 reference fits each, so fewer of them.
    #[test]
    fn answers_equal_enumeration_with_more_features() {
        let mut rng = rng(87);
        let mut proved = 0;
        for trial in 0..100 {
            let p = 11 + trial % 4;
            let shape = Shape { wild: false, attained: true, certified: true, ..Shape::new(10..=25, p..=p) };
            let case = case(&mut rng, &shape);
            let all = enumerate(&case);
            case.with_problem(|problem| {
                proved +=
                    usize::from(check(&case, &all, &exact(problem, Options::default()), &format!("{trial}, p = {p}")));
            });
        }
        assert!(proved >= 97, "{proved} of 100");
    }
}
