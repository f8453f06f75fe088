//! Branch-and-bound against enumeration, over the whole product of losses, bounds, weights, intercepts and designs.

mod common;

use bestset::solver::CancelFlag;
use bestset::{Loss, Method, Options, Problem, Status, TraceRow, solve};
use common::{Case, Enumeration, Shape, case, enumerate, rng};
use std::time::Duration;

fn scale(case: &Case, all: &Enumeration) -> f64 {
    case.model().loss_sum(&vec![0.0; case.n], 0.0) + all.best
}

fn exact(problem: &Problem<'_>, options: Options) -> bestset::Solution {
    solve(problem, &Options { method: Method::Exact, ..options }).unwrap()
}

/// Checks every claim of a solution against enumeration; whether it was proved optimal.
fn check(case: &Case, all: &Enumeration, solution: &bestset::Solution, context: &str) -> bool {
    let (c, scale) = (solution.certificate, scale(case, all));
    let context =
        format!("{context}: {:?} {c:?}, P* = {}, {:?} {:?}", solution.status, all.best, case.loss, case.penalty);
    assert!(c.lower_bound <= all.best + 1e-12 * scale, "the bound is wrong: {context}");
    assert!(c.objective >= all.best - 1e-11 * scale, "better than best: {context}");
    if solution.status == Status::Optimal {
        assert!(c.objective <= all.best + 1e-6 * all.best + 2e-9, "not optimal: {context}");
    }
    solution.status == Status::Optimal
}

#[test]
fn answers_equal_enumeration() {
    let mut rng = rng(81);
    let (mut proved, mut total) = (0, 0);
    for trial in 0..1500 {
        let shape = Shape { attained: true, certified: true, ..Shape::new(3..=20, 1..=10) };
        let case = case(&mut rng, &shape);
        let all = enumerate(&case);
        case.with_problem(|problem| {
            let solution = exact(problem, Options { time_limit: Some(Duration::from_secs(5)), ..Options::default() });
            let optimal = check(&case, &all, &solution, &trial.to_string());
            if !optimal {
                eprintln!(
                    "{trial}: {} {:?} {:?} {:?} P* {}",
                    solution.status, solution.certificate, case.loss, case.penalty, all.best
                );
            }
            proved += usize::from(optimal);
            total += 1;
        });
    }
    eprintln!("{proved} of {total}");
    // What is left is at the limit of rounding: column scales from 1e-6 to 1e6 in one problem.
    assert!(proved >= total * 98 / 100, "{proved} of {total}");
}

#[test]
fn interrupts_and_limits_return_valid_bounds() {
    let mut rng = rng(82);
    let (mut interrupted, mut limited) = (0, 0);
    for trial in 0..200 {
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
            let solution = bestset::solver::solve_observed(problem, &options, &mut observer).unwrap();
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
    assert!(interrupted > 20 && limited > 5, "{interrupted} {limited}");
}

#[test]
fn any_number_of_threads_gives_the_same_answer() {
    let mut rng = rng(83);
    for _ in 0..20 {
        let case =
            case(&mut rng, &Shape { wild: false, attained: true, certified: true, ..Shape::new(30..=60, 20..=40) });
        if case.loss != Loss::Squared {
            continue;
        }
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
}
