//! lower bound ≤ P* ≤ objective, for every algorithm, loss, bounds, weights and intercept.

use super::data::{METHODS, options, random, variants};
use crate::common::{Case, UNIFORM, enumerate};
use bestset::{Method, Options, Solution, Status, Step, Stop, solve};

fn check(case: &Case, options: &Options, best: f64, label: &str) -> Solution {
    let x = case.matrix();
    let problem = case.problem(&x);
    let solution = solve(&problem, options).unwrap();
    let c = &solution.certificate;
    let near = 1e-8 * (1.0 + best.abs());
    assert!(c.lower_bound <= best + near, "{label}: bound {} above the optimum {best}", c.lower_bound);
    assert!(c.objective >= best - near, "{label}: objective {} below the optimum {best}", c.objective);
    let from_scratch = case.objective(&solution.coefficients);
    assert!((from_scratch - c.objective).abs() <= near, "{label}: P {from_scratch} reported as {}", c.objective);
    // The dual point returned proves the bound returned.
    let dual = problem.lower_bound(&solution.dual).unwrap();
    let proved = if dual > f64::NEG_INFINITY { dual.max(0.0) } else { dual };
    assert!(proved == c.lower_bound || (proved - c.lower_bound).abs() <= near, "{label}: {proved} {}", c.lower_bound);
    if let Some(relaxation) = c.relaxation {
        assert!(relaxation >= c.lower_bound - near, "{label}: R {relaxation} below D {}", c.lower_bound);
    }
    if solution.status == Status::Optimal {
        assert!(c.objective <= best + near, "{label}: called optimal at {} for {best}", c.objective);
    }
    check_trace(&solution, label);
    solution
}

/// Best objective falls, best bound rises, iterations and time never go back.
fn check_trace(solution: &Solution, label: &str) {
    let trace = &solution.trace;
    assert!(!trace.is_empty() && trace.len() < 2000, "{label}: {} rows", trace.len());
    for rows in trace.windows(2) {
        let (a, b) = (&rows[0], &rows[1]);
        assert!(b.objective <= a.objective && b.lower_bound >= a.lower_bound, "{label}: {a:?} then {b:?}");
        assert!(b.iteration >= a.iteration && b.seconds >= a.seconds, "{label}: {a:?} then {b:?}");
    }
    let last = trace.last().unwrap();
    assert_eq!(last.lower_bound, solution.certificate.lower_bound, "{label}");
    assert_eq!(last.iteration, solution.iterations, "{label}");
    let off = (last.objective - solution.objective()).abs();
    assert!(off <= 1e-12 * (1.0 + solution.objective()), "{label}: trace ends {off} off the answer");
}

#[test]
fn every_method_brackets_the_enumerated_optimum() {
    for loss in UNIFORM {
        for (number, case) in variants(11, loss, 24, 6).into_iter().enumerate() {
            let best = enumerate(&case).least(&case);
            let x = case.matrix();
            let zero = case.problem(&x).objective(&Default::default()).unwrap();
            for method in METHODS {
                for stop in Stop::ALL {
                    let label = format!("{} {} {} variant {number}", method.name(), stop.name(), loss.name());
                    let mut options = options(method, 0.02);
                    options.published.stop = stop;
                    let solution = check(&case, &options, best, &label);
                    assert!(solution.objective() <= zero, "{label}");
                }
            }
        }
    }
}

#[test]
fn diminishing_steps_bracket_it_too() {
    for loss in UNIFORM {
        for (number, case) in variants(5, loss, 20, 5).into_iter().enumerate() {
            let best = enumerate(&case).least(&case);
            for method in METHODS {
                let mut options = options(method, 1.0);
                options.published.step = Step::Diminishing { gamma: loss.mu(1.0) };
                options.published.stop = Stop::Patient;
                options.max_iterations = Some(20_000);
                check(&case, &options, best, &format!("{} {} variant {number}", method.name(), loss.name()));
            }
        }
    }
}

/// A step far too long makes the iteration cycle or blow up: it must end, honestly.
#[test]
fn wild_steps_end_with_valid_bounds() {
    for loss in UNIFORM {
        let case = Case { intercept: true, ..random(3, loss, 20, 5) };
        let best = enumerate(&case).least(&case);
        for method in METHODS {
            for stop in Stop::ALL {
                let mut options = options(method, 30.0);
                options.published.stop = stop;
                let solution = check(&case, &options, best, &format!("{} {}", method.name(), loss.name()));
                assert!(solution.objective().is_finite() && solution.certificate.lower_bound.is_finite());
            }
        }
    }
}

/// λ2 = 0 within bounds has a certificate; without bounds only CDSS runs and proves nothing.
#[test]
fn without_ridge_bounds_are_needed_for_a_certificate() {
    for loss in UNIFORM {
        let mut case = random(8, loss, 40, 5);
        case.penalty = bestset::Penalty::new(0.5, 0.0, 0.0);
        let free = check(&case, &options(Method::Cdss, 0.02), enumerate(&case).least(&case), loss.name());
        assert_eq!(free.certificate.gap(), f64::INFINITY);
        assert_ne!(free.status, Status::Optimal);
        case.penalty = case.penalty.with_bounds(bestset::Bounds::All(-1.0, 1.0));
        let best = enumerate(&case).least(&case);
        for method in METHODS {
            let bounded = check(&case, &options(method, 0.02), best, &format!("{} {}", method.name(), loss.name()));
            assert!(bounded.certificate.gap().is_finite());
        }
    }
}

#[test]
fn dual_iht_brackets_the_enumerated_k_sparse_optimum() {
    for loss in UNIFORM {
        for (number, mut case) in variants(21, loss, 24, 6).into_iter().enumerate() {
            case.penalty.lambda0 = if number % 3 == 2 { 0.1 } else { 0.0 };
            for k in [1, 2, 4] {
                case.max_size = Some(k);
                let best = enumerate(&case).least(&case);
                let label = format!("{} variant {number} k {k}", loss.name());
                let solution = check(&case, &options(Method::DualIht, 0.02), best, &label);
                assert!(solution.coefficients.nonzeros() <= k, "{label}");
                assert!(solution.certificate.lower_bound.is_finite(), "{label}");
            }
        }
    }
}

/// A start from anywhere, also outside the bounds or the size, is never made worse.
#[test]
fn the_answer_is_never_worse_than_the_start() {
    for loss in UNIFORM {
        for (number, case) in variants(31, loss, 20, 5).into_iter().enumerate() {
            let all = enumerate(&case);
            let (best, b) = (all.best, all.coefficients.intercept);
            let far = bestset::Coefficients::from_dense(&[0.3, -0.2, 0.0, 5.0, 0.1], b);
            for (warm, label) in [(all.coefficients, "best"), (far, "random")] {
                let x = case.matrix();
                let at_start = case.problem(&x).objective(&warm).unwrap();
                for method in METHODS {
                    let mut options = options(method, 0.02);
                    options.warm_start = Some(warm.clone());
                    let label = format!("{} {} variant {number} from {label}", method.name(), loss.name());
                    let solution = check(&case, &options, best, &label);
                    assert!(solution.objective() <= at_start * (1.0 + 1e-12), "{label}");
                }
            }
        }
    }
}
