//! Limits and interrupts return the best point with a valid bound, at once.

use super::data::{METHODS, options, random};
use crate::common::{Case, UNIFORM};
use bestset::{CancelFlag, Stop, solve_observed};
use bestset::{Loss, Method, Options, Problem, Solution, Status, TraceRow, solve};
use std::time::Duration;

fn all_methods() -> Vec<Method> {
    METHODS.into_iter().chain([Method::DualIht]).collect()
}

/// A problem that takes the methods many iterations.
fn long_case(loss: Loss, method: Method) -> Case {
    let mut case = random(97, loss, 60, 150);
    case.intercept = true;
    case.penalty.lambda0 = 0.02;
    case.max_size = (method == Method::DualIht).then_some(10);
    case
}

fn check(problem: &Problem<'_>, solution: &Solution, status: Status, label: &str) {
    let c = &solution.certificate;
    assert_eq!(solution.status, status, "{label}");
    assert!(c.lower_bound.is_finite() && c.lower_bound <= c.objective, "{label}: {c:?}");
    let proved = problem.lower_bound(&solution.dual).unwrap().max(0.0);
    assert!((proved - c.lower_bound).abs() <= 1e-9 * (1.0 + proved.abs()), "{label}: {proved} {}", c.lower_bound);
    assert!((problem.objective(&solution.coefficients).unwrap() - c.objective).abs() <= 1e-9, "{label}");
    assert!(c.objective <= problem.objective(&Default::default()).unwrap() * (1.0 + 1e-12), "{label}");
    assert!(!solution.trace.is_empty(), "{label}");
}

/// The paper's step; patient, as the literal rule may end a run before a limit does.
fn paper_options(method: Method) -> Options {
    let mut options = options(method, 0.0005);
    options.published.stop = Stop::Patient;
    options
}

/// Runs a test on the long problem of every loss and method, with a name for what fails.
fn on_every(body: impl Fn(&Problem<'_>, Method, &str)) {
    for loss in UNIFORM {
        for method in all_methods() {
            let case = long_case(loss, method);
            let x = case.matrix();
            body(&case.problem(&x), method, &format!("{} {}", method.name(), loss.name()));
        }
    }
}

#[test]
fn cancelled_before_the_start() {
    on_every(|problem, method, label| {
        let options = paper_options(method);
        options.cancel.cancel();
        let solution = solve(problem, &options).unwrap();
        check(problem, &solution, Status::Interrupted, label);
        assert_eq!(solution.iterations, 0, "{label}");
    });
}

#[test]
fn cancelled_by_an_observer() {
    on_every(|problem, method, label| {
        let options = paper_options(method);
        let (flag, rows): (CancelFlag, _) = (options.cancel.clone(), 3);
        let mut seen = 0;
        let mut observer = |_: &TraceRow| {
            seen += 1;
            if seen == rows {
                flag.cancel();
            }
        };
        let solution = solve_observed(problem, &options, &mut observer).unwrap();
        check(problem, &solution, Status::Interrupted, label);
        assert!((1..=rows).contains(&solution.iterations), "{label}: {} iterations", solution.iterations);
    });
}

/// No time at all allows no iteration; whenever a short time is over, what is returned holds.
#[test]
fn short_time_limits_are_kept() {
    on_every(|problem, method, label| {
        for limit in [Duration::ZERO, Duration::from_micros(1), Duration::from_millis(3)] {
            let options = Options { time_limit: Some(limit), ..paper_options(method) };
            let solution = solve(problem, &options).unwrap();
            let label = format!("{label} {limit:?}");
            // However far it came by then.
            let ended = solution.status;
            assert!(matches!(ended, Status::TimeLimit | Status::Converged | Status::Optimal), "{label}: {ended}");
            check(problem, &solution, ended, &label);
            assert!(limit > Duration::ZERO || (ended == Status::TimeLimit && solution.iterations == 0), "{label}");
        }
    });
}

#[test]
fn iteration_limits_are_kept() {
    on_every(|problem, method, label| {
        for limit in [1, 2, 3] {
            let options = Options { max_iterations: Some(limit), ..paper_options(method) };
            let solution = solve(problem, &options).unwrap();
            let label = format!("{label} {limit}");
            check(problem, &solution, Status::IterationLimit, &label);
            assert_eq!(solution.iterations, limit, "{label}");
            assert_eq!(solution.trace.last().unwrap().iteration, limit, "{label}");
            // One pass for the start; then link, and with the pass of T as much again.
            let passes = match method {
                Method::PrimalDual { dynamic: false } => 1.0 + 2.0 * limit as f64,
                Method::DualAscent | Method::DualIht => 1.0 + limit as f64,
                Method::Cdss => 2.0 + limit as f64,
                _ => solution.passes,
            };
            assert!((solution.passes - passes).abs() < 1e-9, "{label}: {} passes", solution.passes);
        }
    });
}

/// More time never gives a worse answer: a longer run passes through the shorter one.
#[test]
fn longer_runs_are_no_worse() {
    for method in METHODS {
        let case = long_case(Loss::Squared, method);
        let x = case.matrix();
        let problem = case.problem(&x);
        let mut last = (f64::INFINITY, f64::NEG_INFINITY);
        for limit in [1, 10, 100, 1000] {
            let options = Options { max_iterations: Some(limit), ..paper_options(method) };
            let c = solve(&problem, &options).unwrap().certificate;
            assert!(c.objective <= last.0 * (1.0 + 1e-12), "{} {limit}", method.name());
            // The other two compute a bound only where they come to rest or are stopped.
            if matches!(method, Method::PrimalDual { dynamic: false } | Method::DualAscent) {
                assert!(c.lower_bound >= last.1 - 1e-12, "{} {limit}", method.name());
            }
            last = (c.objective, c.lower_bound);
        }
    }
}

/// A warm start outside the bounds is moved inside, not thrown away.
#[test]
fn a_cancelled_run_returns_the_warm_start_within_the_bounds() {
    for method in METHODS {
        let mut case = random(7, Loss::Squared, 30, 4);
        case.penalty = case.penalty.with_bounds(bestset::Bounds::All(-1.0, 1.0));
        let x = case.matrix();
        let problem = case.problem(&x);
        let mut options = paper_options(method);
        options.warm_start = Some(bestset::Coefficients::from_dense(&[1.2, 0.0, -1.7, 0.0], 0.0));
        options.cancel.cancel();
        let solution = solve(&problem, &options).unwrap();
        check(&problem, &solution, Status::Interrupted, method.name());
        assert_eq!(solution.coefficients.to_dense(4), [1.0, 0.0, -1.0, 0.0], "{}", method.name());
    }
}
