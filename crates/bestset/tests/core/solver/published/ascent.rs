//! Algorithm 1 as printed, its limit, and the counter-example of MATH §4.

use super::data::{METHODS, options, random, variants};
use crate::common::{Case, UNIFORM, enumerate, fit};
use bestset::design::Dense;
use bestset::{Bounds, Coefficients, Loss, Method, Penalty, Problem, Solution, Status, Step, Stop, solve};

const ASCENTS: [Method; 3] =
    [Method::PrimalDual { dynamic: true }, Method::PrimalDual { dynamic: false }, Method::DualAscent];

/// x = 1, y = √6, λ0 = λ2 = 1: P* = 3 and max D = 2√6 − 2 = 2.8990, whatever the algorithm.
#[test]
fn one_sample_shows_that_strong_duality_fails() {
    let x = Dense::new(1, 1, vec![1.0]).unwrap();
    let problem = Problem::new(&x, vec![6f64.sqrt()], Penalty::new(1.0, 0.0, 1.0)).unwrap();
    let (best, highest) = (3.0, 2.0 * 6f64.sqrt() - 2.0);
    for method in METHODS {
        let mut options = options(method, 1.0);
        options.published.step = Step::Diminishing { gamma: 1.0 };
        (options.published.stop, options.published.zeta) = (Stop::Patient, 0.0);
        options.max_iterations = Some(200_000);
        let solution = solve(&problem, &options).unwrap();
        assert!((solution.objective() - best).abs() < 1e-12, "{}: {}", method.name(), solution.objective());
        assert!(solution.certificate.lower_bound <= highest + 1e-12, "{}", method.name());
        assert_ne!(solution.status, Status::Optimal);
        if method == Method::DualAscent {
            assert_eq!(format!("{:.4}", solution.certificate.lower_bound), "2.8990");
        }
    }
}

fn run(case: &Case, method: Method, omega: f64, stop: Stop) -> Solution {
    let mut options = options(method, omega);
    options.published.stop = stop;
    (options.published.epsilon, options.published.zeta) = (1e-7, 0.0);
    let x = case.matrix();
    solve(&case.problem(&x), &options).unwrap()
}

/// Without λ0 the problem is the elastic net and D is smooth: the ascent reaches max D = min P. The ridge term is
/// large enough for the pass of T, which is no part of the supergradient, not to throw Algorithm 1 off its course.
#[test]
fn ascents_reach_the_elastic_net() {
    for loss in UNIFORM {
        for (number, mut case) in variants(41, loss, 20, 5).into_iter().enumerate() {
            (case.penalty.lambda0, case.penalty.lambda2) = (0.0, 3.0);
            let best = fit(&case, &[0, 1, 2, 3, 4]).value;
            for (method, stop) in ASCENTS.into_iter().flat_map(|method| Stop::ALL.map(|stop| (method, stop))) {
                let label = format!("{} {} {} variant {number}", method.name(), stop.name(), loss.name());
                let c = run(&case, method, 0.01, stop).certificate;
                assert!((c.objective - best).abs() < 1e-6, "{label}: {} for {best}", c.objective);
                assert!((c.lower_bound - best).abs() < 1e-6, "{label}: bound {} for {best}", c.lower_bound);
            }
        }
    }
}

/// More features than enter at once: inclusion brings in what is needed, and screening throws out nothing that is.
#[test]
fn inclusion_and_screening_keep_the_elastic_net() {
    let mut screened = 0;
    for loss in UNIFORM {
        let mut case = random(59, loss, 30, 60);
        // Short columns keep the pass of T, which is no part of the supergradient, from throwing it off its course.
        case.x.iter_mut().for_each(|x| *x *= if loss == Loss::SquaredHinge { 0.1 } else { 0.2 });
        case.penalty = Penalty::new(0.0, 0.4, 1.0);
        let fit = fit(&case, &(0..60).collect::<Vec<_>>());
        let best = fit.value;
        let solution = run(&case, Method::PrimalDual { dynamic: true }, 0.01, Stop::Patient);
        let c = &solution.certificate;
        assert!((c.objective - best).abs() < 1e-6, "{}: {} for {best}", loss.name(), c.objective);
        assert!((c.lower_bound - best).abs() < 1e-6, "{}: bound {} for {best}", loss.name(), c.lower_bound);
        let zeros = fit.beta.iter().filter(|b| **b == 0.0).count();
        let sizes: Vec<usize> = solution.trace.iter().map(|row| row.active).collect();
        assert!(solution.screened.published <= zeros, "{:?} of {zeros}", solution.screened);
        screened += solution.screened.published;
        assert!(sizes[1] == 17 && sizes.iter().any(|a| *a > 17), "the ceiling of 4 log 60 first, then more: {sizes:?}");
    }
    assert!(screened > 0, "the rule never fired");
}

/// The conjugate of the logistic loss is infinitely steep at zero, so that the ascent starts at the dual point of
/// β = 0; the others start at zero.
#[test]
fn the_ascent_starts_where_the_paper_says() {
    for loss in UNIFORM {
        let case = Case { intercept: true, ..random(3, loss, 20, 5) };
        let x = case.matrix();
        let problem = case.problem(&x);
        let mut alpha = vec![0.0; 20];
        if loss == Loss::Logistic {
            problem.dual_point(&[0.0; 20], problem.best_intercept(&[0.0; 20], 0.0), &mut alpha);
        }
        let expected = problem.lower_bound(&alpha).unwrap().max(0.0);
        for method in ASCENTS {
            let first = solve(&problem, &options(method, 0.01)).unwrap().trace[0];
            assert!((first.lower_bound - expected).abs() < 1e-12, "{} {}", method.name(), loss.name());
        }
    }
}

/// A small λ0 > 0 with every feature well above the threshold: the relaxation is tight and the gap closes.
#[test]
fn ascents_prove_the_optimum_when_the_relaxation_is_tight() {
    let mut case = random(43, Loss::Squared, 30, 3);
    case.penalty = Penalty::new(0.01, 0.05, 0.5);
    let all = enumerate(&case);
    let (best, beta) = (all.best, all.coefficients.to_dense(3));
    assert!(beta.iter().all(|b| b.abs() > 0.15), "{beta:?} must be off the knee at 0.141");
    for (method, stop) in ASCENTS.into_iter().flat_map(|method| Stop::ALL.map(|stop| (method, stop))) {
        let solution = run(&case, method, 0.02, stop);
        assert_eq!(solution.status, Status::Optimal, "{}: {:?}", method.name(), solution.certificate);
        assert!((solution.objective() - best).abs() < 1e-7);
    }
}

/// Best P and best D after each of `steps` iterations of Algorithm 1 for the squared loss, line by line.
fn printed_algorithm(case: &Case, omega: f64, primal_pass: bool, steps: usize) -> Vec<(f64, f64)> {
    let Case { n, p, .. } = *case;
    let (l0, l1, l2) = (case.penalty.lambda0, case.penalty.lambda1, case.penalty.lambda2);
    let x = |i: usize, j: usize| case.x[j * n + i];
    let threshold = (2.0 * (l0 * l2).sqrt() + l1) / (2.0 * l2);
    let (mut alpha, mut beta) = (vec![0.0; n], vec![0.0; p]);
    let value = |beta: &[f64]| case.objective(&Coefficients::from_dense(beta, 0.0));
    let mut best = (value(&beta), 0.0f64);
    let mut rows = vec![best];
    for _ in 0..steps {
        let fit: Vec<f64> = (0..n).map(|i| (0..p).map(|j| x(i, j) * beta[j]).sum()).collect();
        (0..n).for_each(|i| alpha[i] += omega * (fit[i] - case.y[i] - alpha[i]));
        let eta: Vec<f64> = (0..p).map(|j| -(0..n).map(|i| x(i, j) * alpha[i]).sum::<f64>() / (2.0 * l2)).collect();
        let shrunk = |eta: f64| eta.signum() * (eta.abs() - l1 / (2.0 * l2));
        beta = eta.iter().map(|&e| if e.abs() >= threshold { shrunk(e) } else { 0.0 }).collect();
        let psi = |e: f64| if e.abs() >= threshold { l0 - l2 * shrunk(e).powi(2) } else { 0.0 };
        let dual = -(0..n).map(|i| 0.5 * alpha[i].powi(2) + case.y[i] * alpha[i]).sum::<f64>()
            + eta.iter().map(|&e| psi(e)).sum::<f64>();
        for j in (0..p).filter(|_| primal_pass) {
            let c: f64 = (0..n).map(|i| x(i, j).powi(2)).sum();
            let residual = |i: usize| case.y[i] - (0..p).map(|k| x(i, k) * beta[k]).sum::<f64>();
            let pull = (0..n).map(|i| residual(i) * x(i, j)).sum::<f64>() + c * beta[j];
            let new = pull.signum() * (pull.abs() - l1).max(0.0) / (c + 2.0 * l2);
            beta[j] = if new * new >= 2.0 * l0 / (c + 2.0 * l2) { new } else { 0.0 };
        }
        best = (best.0.min(value(&beta)), best.1.max(dual));
        rows.push(best);
    }
    rows
}

#[test]
fn the_loop_is_algorithm_one_as_printed() {
    let case = random(47, Loss::Squared, 15, 6);
    for (method, primal_pass) in [(Method::PrimalDual { dynamic: false }, true), (Method::DualAscent, false)] {
        let mut options = options(method, 0.01);
        (options.published.epsilon, options.published.zeta) = (0.0, 0.0);
        options.published.stop = Stop::Patient;
        options.max_iterations = Some(60);
        let x = case.matrix();
        let trace = solve(&case.problem(&x), &options).unwrap().trace;
        let expected = printed_algorithm(&case, 0.01, primal_pass, 60);
        assert_eq!(trace.len(), expected.len());
        for (row, (objective, bound)) in trace.iter().zip(expected) {
            assert!((row.objective - objective).abs() < 1e-9, "{row:?} {objective}");
            assert!((row.lower_bound - bound).abs() < 1e-9, "{row:?} {bound}");
        }
    }
}

/// A sample of weight w is w samples: the same path, step by step.
#[test]
fn weights_are_repetitions() {
    for loss in UNIFORM {
        let mut weighted = random(53, loss, 12, 4);
        weighted.intercept = true;
        weighted.penalty = weighted.penalty.with_bounds(Bounds::All(-2.0, 0.6));
        weighted.weights = Some((0..12).map(|i| [1.0, 3.0, 0.0, 2.0][i % 4]).collect());
        let (repeated, _) = weighted.repeated();
        for method in METHODS {
            let solve_case = |case: &Case| {
                let mut options = options(method, 0.01);
                options.max_iterations = Some(60);
                let x = case.matrix();
                solve(&case.problem(&x), &options).unwrap()
            };
            let (a, b) = (solve_case(&weighted), solve_case(&repeated));
            assert_eq!(a.trace.len(), b.trace.len());
            for (a, b) in a.trace.iter().zip(&b.trace) {
                let label = format!("{} {}", method.name(), loss.name());
                assert!((a.objective - b.objective).abs() < 1e-8, "{label}: {a:?} {b:?}");
                assert!((a.lower_bound - b.lower_bound).abs() < 1e-8, "{label}: {a:?} {b:?}");
            }
        }
    }
}
