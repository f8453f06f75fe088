//! Families of responses: fits against conditions of their own, likelihoods by hand, what is refused, and the way through paths,
//! folds, groups and files.

use crate::common::{
    LOSSES, Shape, Tally, assert_close, brackets, case, holds_between, least_of, normal, respond, rng, seeds, share,
    survival_case,
};
use bestset::criteria::{Criterion, Fit, refit};
use bestset::cv::{CvOptions, Folds, Score, cross_validate};
use bestset::design::Dense;
use bestset::model::Model;
use bestset::path::{PathOptions, path};
use bestset::sizes::sizes;
use bestset::{Coefficients, Error, Loss, Method, Options, Penalty, Problem, Status, solve};

const FAMILIES: [Loss; 3] = [Loss::Poisson, Loss::Gamma, Loss::NegativeBinomial { theta: 1.5 }];

/// n samples of p features, of which the first three carry a signal.
fn data(seed: u64, n: usize, p: usize, loss: Loss) -> (Dense<'static>, Vec<f64>) {
    let mut rng = rng(seed);
    let x: Vec<f64> = (0..n * p).map(|_| normal(&mut rng)).collect();
    let mut y: Vec<f64> = (0..n).map(|i| 1.0 + 0.6 * x[i] - 0.5 * x[n + i] + 0.4 * x[2 * n + i]).collect();
    respond(&mut rng, loss, &mut y);
    y[0] = y[0].min(20.0);
    (Dense::new(n, p, x).unwrap(), y)
}

/// Without penalties X'α = 0 and Σα = 0, with weights and an offset: the score equations of a generalised linear model.
#[test]
fn fits_solve_the_score_equations() {
    for loss in FAMILIES {
        let (n, p) = (80, 5);
        let (x, y) = data(1, n, p, loss);
        let weights: Vec<f64> = (0..n).map(|i| 0.5 + (i % 3) as f64).collect();
        let offset: Vec<f64> = (0..n).map(|i| 0.3 * ((i % 7) as f64 - 3.0)).collect();
        let problem = Problem::new(&x, y, Penalty::new(0.0, 0.0, 1.0)).unwrap().with_loss(loss).unwrap();
        let problem = problem.with_intercept(true).with_weights(weights).unwrap().with_offset(offset).unwrap();
        let fit = refit(&problem, &[0, 1, 2, 3, 4], &Options::default()).unwrap();
        let u = problem.margins(&fit).unwrap();
        let mut alpha = vec![0.0; n];
        problem.loss().derivatives(&u, fit.intercept, problem.y(), problem.weights(), &mut alpha);
        let size: f64 = alpha.iter().map(|a| a.abs()).sum();
        let mut tau = vec![0.0; p];
        problem.design().correlate(&[0, 1, 2, 3, 4], &alpha, &mut tau).unwrap();
        assert!(alpha.iter().sum::<f64>().abs() < 1e-9 * size, "{loss:?}");
        assert!(tau.iter().all(|t| t.abs() < 1e-8 * size), "{loss:?}: {tau:?} of {size}");
    }
}

/// The largest slope of P along a coefficient that is not zero, relative to what it is made of.
fn steepest(problem: &Problem<'_>, found: &Coefficients) -> f64 {
    let (u, mut alpha) = (problem.margins(found).unwrap(), vec![0.0; problem.nrows()]);
    problem.dual_point(&u, found.intercept, &mut alpha);
    let one = |(j, b): (usize, f64)| {
        let mut x = vec![0.0; problem.nrows()];
        problem.design().axpy(j, 1.0, &mut x).unwrap();
        let shrunk = problem.penalty().lambda1 * b.signum() + 2.0 * problem.penalty().lambda2 * b;
        let terms = || x.iter().zip(&alpha).map(|(x, a)| x * a);
        (terms().sum::<f64>() + shrunk).abs() / (terms().map(f64::abs).sum::<f64>() + shrunk.abs())
    };
    found.iter().filter(|c| c.1 != 0.0).map(one).fold(0.0, f64::max)
}

/// Slopes on the support are rounding (MATH 7.12), by price, by size and on a path, for columns of three lengths, with λ1 and without, with a
/// ridge or next to none: P alone, flat at its minimum, tells half the digits of a coefficient.
#[test]
fn answers_are_fitted_to_the_last_digit() {
    let (n, p, mut fitted) = (80, 6, 0);
    let scales = &[3.0, 0.1, 100.0][..share(3)];
    for (at, loss) in LOSSES.into_iter().enumerate().skip(1) {
        for &scale in scales {
            let (x, mut y) = data(7 + at as u64, n, p, loss);
            if matches!(loss, Loss::Huber { .. }) {
                // Without noise the residuals are rounding, and so are slopes beside them.
                y.iter_mut().enumerate().for_each(|(i, y)| *y += (1.7 * i as f64).sin());
            }
            let columns: Vec<f64> = (0..p)
                .flat_map(|j| {
                    let mut c = vec![0.0; n];
                    bestset::design::Design::axpy(&x, j, scale, &mut c).unwrap();
                    c
                })
                .collect();
            let x = Dense::new(n, p, columns).unwrap();
            for (l1, l2) in [(0.0, 1e-6), (0.0, 1e-2), (0.05, 1e-3), (0.0, 1.0)] {
                // Classes that are told apart perfectly have predictors in the hundreds next to no ridge, and slopes of their digits.
                let l2 = if loss.is_classification() { f64::max(l2, 1e-3) } else { l2 };
                let penalty = Penalty::new(0.5, l1 * scale, l2 * scale * scale);
                let problem =
                    Problem::new(&x, y.clone(), penalty).unwrap().with_loss(loss).unwrap().with_intercept(true);
                let unpriced = problem.with_penalty(Penalty { lambda0: 0.0, ..problem.penalty().clone() }).unwrap();
                let exact = Options::with_method(Method::Exact);
                let mut all: Vec<Coefficients> = vec![solve(&problem, &Options::default()).unwrap().coefficients];
                all.push(solve(&problem, &exact).unwrap().coefficients);
                all.push(solve(&unpriced, &Options::default()).unwrap().coefficients);
                all.extend(
                    sizes(&unpriced, &[1, 3], &Options::default())
                        .unwrap()
                        .solutions
                        .into_iter()
                        .map(|s| s.coefficients),
                );
                all.extend(
                    path(&problem, &PathOptions::default())
                        .unwrap()
                        .points
                        .into_iter()
                        .map(|p| p.solution.coefficients),
                );
                for found in all {
                    let slope = steepest(&problem, &found);
                    assert!(slope < 1e-12, "{loss:?} {scale} {l1} {l2}: {slope:e} at {found:?}");
                    fitted += found.nonzeros();
                }
            }
        }
    }
    assert!(fitted > 333 * scales.len(), "{fitted}");
}

/// A count of a million beside zeros, and columns of very different lengths, from a far start.
#[test]
fn hard_starts_end_at_the_same_fit() {
    let (n, p) = (40, 3);
    let mut rng = rng(5);
    let x: Vec<f64> = (0..n * p).map(|k| normal(&mut rng) * [1e3, 1.0, 1e-3][k / n]).collect();
    for loss in FAMILIES {
        let mut y: Vec<f64> = (0..n).map(|i| if i % 3 == 0 { 0.0 } else { 2.0 }).collect();
        y[3] = 1e6;
        if loss == Loss::Gamma {
            y.iter_mut().for_each(|y| *y += 1e-6);
        }
        let design = Dense::new(n, p, x.clone()).unwrap();
        let problem = Problem::new(&design, y, Penalty::new(0.0, 0.0, 1e-6)).unwrap();
        let problem = problem.with_loss(loss).unwrap().with_intercept(true);
        let plain = solve(&problem, &Options::default()).unwrap();
        assert_eq!(plain.status, Status::Optimal, "{loss:?}: {:?}", plain.certificate);
        for far in [[-0.5, 30.0, 1e4], [0.02, -40.0, -2e4]] {
            let start = Coefficients::from_dense(&far, -50.0);
            let options = Options { warm_start: Some(start), ..Options::default() };
            let found = solve(&problem, &options).unwrap();
            assert_eq!(found.status, Status::Optimal, "{loss:?} {far:?}: {:?}", found.certificate);
            assert_close(found.objective(), plain.objective(), 2e-6 * plain.objective(), &(loss, far));
        }
    }
}

/// −2 log-likelihood by the densities themselves.
#[test]
fn likelihoods_by_hand() {
    let log_factorial = |y: u32| (1..=y).map(|k| f64::from(k).ln()).sum::<f64>();
    let (y, u) = ([0u32, 1, 4, 9], [0.3, -0.2, 1.0, 2.4]);
    let (mut poisson, mut negative) = (0.0, 0.0);
    let theta = 2.0;
    for (&y, &u) in y.iter().zip(&u) {
        let mean = f64::exp(u);
        poisson += f64::from(y) * u - mean - log_factorial(y);
        // Γ(y + 2)/(Γ(2) y!) = y + 1.
        let share: f64 = mean / (theta + mean);
        negative += f64::from(y + 1).ln() + theta * (1.0 - share).ln() + f64::from(y) * share.ln();
    }
    let samples = || y.iter().map(|&y| (f64::from(y), 1.0));
    let deviance = |loss: Loss| 2.0 * y.iter().zip(&u).map(|(&y, &u)| loss.value(u, f64::from(y))).sum::<f64>();
    let of = |loss: Loss| loss.minus_twice_log_likelihood(deviance(loss), 4.0, samples()).unwrap();
    assert_close(of(Loss::Poisson), -2.0 * poisson, 1e-12, &());
    assert_close(of(Loss::NegativeBinomial { theta }), -2.0 * negative, 1e-12, &());
    // Of shape 2, the dispersion that the deviance is made to have: f(y) = (2/m)² y e^{−2y/m}.
    let amounts = [0.5, 3.0];
    let means = [1.0, 2.0];
    let loss = |m: f64, y: f64| Loss::Gamma.value(m.ln(), y);
    let deviance: f64 = 2.0 * amounts.iter().zip(&means).map(|(&y, &m)| loss(m, y)).sum::<f64>();
    let shape = 2.0 / deviance;
    let density = |y: f64, m: f64| shape * (shape / m).ln() + (shape - 1.0) * y.ln() - shape * y / m;
    // log Γ(shape) by its integral.
    let steps = 400_000;
    let gamma: f64 = (0..steps).map(|k| (k as f64 + 0.5) * 1e-4).map(|t| t.powf(shape - 1.0) * (-t).exp() * 1e-4).sum();
    let by_hand: f64 = amounts.iter().zip(&means).map(|(&y, &m)| density(y, m) - gamma.ln()).sum();
    let found = Loss::Gamma.minus_twice_log_likelihood(deviance, 2.0, amounts.iter().map(|&y| (y, 1.0))).unwrap();
    assert_close(found, -2.0 * by_hand, 1e-3, &shape);
    assert!(
        Loss::Huber { delta: 1.0 }.minus_twice_log_likelihood(1.0, 2.0, amounts.iter().map(|&y| (y, 1.0))).is_none()
    );
}

/// The way of a selection: path, criterion, cross-validation, proof, model file, means.
#[test]
fn every_family_goes_all_the_way() {
    for loss in FAMILIES {
        let (x, y) = data(3, 150, 12, loss);
        let problem = Problem::new(&x, y.clone(), Penalty::new(0.0, 0.0, 1.0)).unwrap().with_loss(loss).unwrap();
        let problem = problem.with_intercept(true);
        let found = path(&problem, &PathOptions::default()).unwrap();
        let best = Criterion::Bic.best(&problem, &found).unwrap();
        assert!([0, 1, 2].iter().all(|j| found.points[best].solution.support().contains(j)), "{loss:?}");
        let fit = Fit::new(&problem, &found.points[best].solution.coefficients).unwrap();
        assert!(fit.deviance > 0.0 && fit.deviance < fit.null_deviance);
        let options = CvOptions { folds: Folds::Random { folds: 5, repeats: 1 }, ..CvOptions::default() };
        let cv = cross_validate(&problem, &options).unwrap();
        assert!(cv.score == Score::Deviance && cv.scores[cv.best].mean < cv.scores[0].mean, "{loss:?}");
        let priced = problem.with_penalty(Penalty::new(found.points[best].lambda0, 0.0, 1.0)).unwrap();
        let proved = solve(&priced, &Options::with_method(Method::Exact)).unwrap();
        assert_eq!(proved.status, Status::Optimal, "{loss:?}");
        let model = Model::from_json(&Model::new(&priced, &proved).unwrap().to_json()).unwrap();
        assert_eq!(model.loss, loss);
        let (means, margins) = (model.means(&x, None).unwrap(), model.predict(&x).unwrap());
        assert!(means.iter().zip(&margins).all(|(m, u)| *m == u.exp()));
    }
}

/// Each bad input has its own error, named with its place and value.
#[test]
fn bad_targets_are_named() {
    let x = Dense::new(3, 1, vec![1.0, 2.0, 3.0]).unwrap();
    let posed = |y: [f64; 3], loss: Loss| {
        Problem::new(&x, y.to_vec(), Penalty::new(0.1, 0.0, 0.1)).and_then(|p| p.with_loss(loss)).map(|_| ())
    };
    for loss in FAMILIES {
        let error = posed([1.0, -2.0, 3.0], loss).unwrap_err();
        assert!(matches!(error, Error::Target { index: 1, value: -2.0, .. }), "{error}");
    }
    assert!(matches!(posed([1.0, 2.0, 0.0], Loss::Gamma), Err(Error::Target { index: 2, value: 0.0, .. })));
    assert!(matches!(posed([0.0; 3], Loss::Poisson), Err(Error::NoCounts { .. })));
    for theta in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let error = posed([1.0, 2.0, 3.0], Loss::NegativeBinomial { theta });
        assert!(matches!(error, Err(Error::Range { name: "theta", .. })));
    }
    // Counts above zero that do not count.
    let problem = Problem::new(&x, vec![0.0, 5.0, 0.0], Penalty::new(0.1, 0.0, 0.1)).unwrap();
    let problem = problem.with_loss(Loss::Poisson).unwrap();
    assert!(matches!(problem.clone().with_weights(vec![1.0, 0.0, 1.0]), Err(Error::NoCounts { .. })));
    for method in [Method::PrimalDual { dynamic: true }, Method::DualAscent, Method::Cdss] {
        assert!(matches!(solve(&problem, &Options::with_method(method)), Err(Error::Unsupported { .. })));
    }
    for loss in LOSSES {
        assert_eq!(Loss::named(loss.name(), 0.8, Some(1.5)).unwrap(), loss);
    }
}

/// Counts and amounts against enumeration, trees cut short after any number of nodes among them: columns of 1e-6 to 1e6, copies,
/// constants, weights, bounds, λ1. Where nothing else keeps coefficients finite they are shrunk: the reference needs it.
#[test]
fn certificates_hold_wherever_a_tree_is_cut() {
    let (seeds, mut tally) = (seeds(120), Tally::default());
    for seed in seeds.clone() {
        let mut rng = rng(77_000 + seed);
        let shape = Shape {
            attained: true,
            certified: true,
            wild: seed % 2 == 0,
            losses: &FAMILIES,
            ..Shape::new(3..=14, 1..=7)
        };
        let mut case = case(&mut rng, &shape);
        if case.penalty.lambda2 == 0.0 {
            case.penalty.lambda2 = 1e-3 * (0..case.p).map(|j| case.norm(j).powi(2)).fold(1e-6, f64::max);
        }
        let alone: Vec<Vec<usize>> = (0..case.p).map(|j| vec![j]).collect();
        let least = least_of(&brackets(&case, &alone), |mask| case.penalty.lambda0 * f64::from(mask.count_ones()));
        let scale = case.null_loss() + least.1.abs();
        case.with_problem(|problem| {
            for (method, max_nodes) in
                [(Method::Incremental, None), (Method::Exact, Some(1)), (Method::Exact, Some(4)), (Method::Exact, None)]
            {
                let options = Options { method, max_nodes, ..Options::default() };
                let found = solve(problem, &options).unwrap();
                let context = (seed, method, max_nodes, &case);
                let is_optimal = holds_between(found.certificate, found.status, least, scale, &context);
                tally.add("optimal", u64::from(is_optimal));
                tally.add(case.loss.name(), 1u64);
                tally.add("fits", 1u64);
            }
        });
        tally.add("problems", 1u64);
    }
    let least = [
        ("optimal", 500, "fits"),
        ("gamma", 200, "fits"),
        ("poisson", 200, "fits"),
        ("negative_binomial", 200, "fits"),
    ];
    tally.conclude("families", &seeds, &least);
}

mod long {
    use super::*;

    /// The same of survival times with ties, strata, entries and weights.
    #[test]
    fn answers_of_survival_times_are_fitted_to_the_last_digit() {
        let (mut rng, mut fitted) = (rng(4711), 0);
        for trial in 0..60 {
            let case = survival_case(&mut rng, 40 + trial, 4, false);
            let design = case.design();
            let problem = case.problem(&design);
            let unpriced = problem.with_penalty(Penalty { lambda0: 0.0, ..problem.penalty().clone() }).unwrap();
            for problem in [&problem, &unpriced] {
                let found = solve(problem, &Options::default()).unwrap().coefficients;
                let slope = steepest(problem, &found);
                assert!(slope < 1e-12, "{trial}: {slope:e} at {found:?}");
                fitted += found.nonzeros();
            }
        }
        assert!(fitted > 200, "{fitted}");
    }
}
