//! The three rules of MATH §5, each against what it claims: the relaxation rules against an independent minimiser of R,
//! the optimality rules against all subsets. Each must fire, or the test would prove nothing.

use crate::common::{Case, ChaCha8Rng, Fit, RngExt, Shape, case, enumerate, normal, power, relaxed, rng};
use bestset::internals::{Monitor, Rules, Verdict, Workspace, convex};
use bestset::screening::{in_every_optimal_subset, in_no_optimal_subset, radius, zero_in_relaxation};
use bestset::{Options, Problem};

/// A dual point with everything the rules look at.
struct Point {
    alpha: Vec<f64>,
    tau: Vec<f64>,
    dual: f64,
}

fn point(problem: &Problem<'_>, mut alpha: Vec<f64>) -> Point {
    problem.project(&mut alpha);
    let features: Vec<usize> = (0..problem.ncols()).collect();
    let mut tau = vec![0.0; features.len()];
    problem.design().correlate(&features, &alpha, &mut tau).unwrap();
    let dual = problem.dual_value(&alpha, &features, &tau).unwrap();
    Point { alpha, tau, dual }
}

/// A primal point `noise` away from R's minimiser, on the scale of each coefficient, within the bounds.
fn near(case: &Case, best: &Fit, noise: f64, rng: &mut ChaCha8Rng) -> bestset::Coefficients {
    let moved = |(j, &b): (usize, &f64)| {
        let (lower, upper) = case.penalty.bounds.at(j);
        let step = noise * (b.abs() + 0.1 * case.typical_size(j) * f64::from(rng.random_bool(0.3))) * normal(rng);
        (b + step).clamp(lower, upper)
    };
    let beta: Vec<f64> = best.beta.iter().enumerate().map(moved).collect();
    bestset::Coefficients::from_dense(&beta, best.intercept)
}

/// √(Σ (a − b)²/w), the norm of the ball.
fn distance(case: &Case, a: &[f64], b: &[f64]) -> f64 {
    let counted = (0..case.n).filter(|&i| case.weight(i) > 0.0);
    counted.map(|i| (a[i] - b[i]).powi(2) / case.weight(i)).sum::<f64>().sqrt()
}

#[test]
fn the_ball_holds_the_dual_optimum_and_the_relaxation_rules_are_true() {
    let mut rng = rng(61);
    let (mut by_relaxation, mut by_publication, mut kept, mut tight) = (0, 0, 0, 0);
    for trial in 0..1200 {
        let case = case(&mut rng, &Shape { attained: true, certified: true, ..Shape::new(3..=25, 1..=20) });
        let (model, best) = (case.model(), relaxed(&case));
        case.with_problem(|problem| {
            let mu = problem.mu();
            // The reference dual optimum is itself known to within a ball.
            let known = radius(best.value, best.value - best.gap.max(1e-15 * best.value), mu);
            for noise in [0.0, 1e-6, 1e-3, 0.05, 1.0] {
                let coefficients = near(&case, &best, noise, &mut rng);
                let u = problem.margins(&coefficients).unwrap();
                let b = problem.best_intercept(&u, coefficients.intercept);
                let mut alpha = vec![0.0; case.n];
                problem.dual_point(&u, b, &mut alpha);
                let at = point(problem, alpha);
                let at_best = bestset::Coefficients { intercept: b, ..coefficients };
                let (p, r) = (problem.objective(&at_best).unwrap(), problem.relaxation(&at_best).unwrap().unwrap());
                let (ball, published) = (radius(r, at.dual, mu), radius(p, at.dual, mu));
                let off = distance(&case, &at.alpha, &best.alpha);
                assert!(off <= ball + known, "{trial}: {off:e} outside {ball:e} + {known:e}, noise {noise:e}");
                tight += usize::from(off > 0.3 * ball);
                for j in 0..case.p {
                    let (c, length) = (problem.coordinate(j), problem.lengths().unwrap().of(j));
                    let fires = zero_in_relaxation(c, at.tau[j], length, ball);
                    let fires_published = zero_in_relaxation(c, at.tau[j], length, published);
                    assert!(fires || !fires_published, "the larger ball proves less: {trial}");
                    by_relaxation += usize::from(fires);
                    by_publication += usize::from(fires_published);
                    kept += usize::from(!fires);
                    if fires {
                        assert!(
                            best.beta[j].abs() <= 1e-6 * case.typical_size(j),
                            "{trial}: R's minimiser has β[{j}] = {:e}",
                            best.beta[j]
                        );
                        // Zero in every minimiser: the optimal correlation is inside the thresholds of both sides.
                        let size: f64 = best.alpha.iter().map(|a| a * a).sum();
                        let rounding = 1e-15 * (problem.squares().unwrap()[j] * size).sqrt();
                        let (tau, room) = (model.dot(j, &best.alpha), length * known + rounding);
                        assert!(tau <= c.slope(false) + room && -tau <= c.slope(true) + room, "{trial}: {j}");
                    }
                }
            }
        });
    }
    assert!(
        by_relaxation > 10_000 && by_publication > 1000 && kept > 10_000,
        "{by_relaxation} {by_publication} {kept}"
    );
    assert!(tight > 100, "the ball is far too large: {tight}");
}

/// Where β = 0 is best for squared loss D falls off exactly as the ball says: no smaller one would do.
#[test]
fn the_ball_is_sharp() {
    let mut rng = rng(66);
    let mut sharp = 0;
    for trial in 0..800 {
        let mut case = case(&mut rng, &Shape { certified: true, wild: false, ..Shape::new(3..=20, 1..=6) });
        if case.loss != bestset::Loss::Squared {
            continue;
        }
        case.penalty.lambda0 = 1e6;
        case.with_problem(|problem| {
            let u = vec![0.0; case.n];
            let b = problem.best_intercept(&u, 0.0);
            let mut best = u.clone();
            problem.dual_point(&u, b, &mut best);
            let size = best.iter().fold(0.0f64, |m, a| m.max(a.abs()));
            let at = point(problem, best.iter().map(|a| a + 0.1 * size * normal(&mut rng)).collect());
            let zero = problem.relaxation(&bestset::Coefficients::from_pairs(vec![], b)).unwrap().unwrap();
            let (off, ball) = (distance(&case, &at.alpha, &best), radius(zero, at.dual, problem.mu()));
            assert!(off <= ball * (1.0 + 1e-9) && off >= ball * (1.0 - 1e-6), "{trial}: {off} {ball}");
            sharp += 1;
        });
    }
    assert!(sharp > 100, "{sharp}");
}

/// Weighted and centred lengths: |x_jᵀ(α − α′)| ≤ length · ‖α − α′‖ for any two dual points.
#[test]
fn lengths_bound_correlations() {
    let mut rng = rng(62);
    let mut sharp = 0;
    for trial in 0..600 {
        let case = case(&mut rng, &Shape::new(2..=12, 1..=6));
        case.with_problem(|problem| {
            for _ in 0..5 {
                let mut draw = || (0..case.n).map(|_| normal(&mut rng)).collect::<Vec<f64>>();
                let (a, b) = (point(problem, draw()), point(problem, draw()));
                let apart = distance(&case, &a.alpha, &b.alpha);
                for j in 0..case.p {
                    let (moved, bound) = ((a.tau[j] - b.tau[j]).abs(), problem.lengths().unwrap().of(j) * apart);
                    let wide = case.norm(j) + problem.design().offset(j) * (case.n as f64).sqrt();
                    let rounding = 1e-12 * wide * apart.max(1.0);
                    assert!(moved <= bound * (1.0 + 1e-12) + rounding, "{trial}: {moved:e} > {bound:e}");
                    sharp += usize::from(moved > 0.9 * bound && moved > rounding);
                }
            }
        });
    }
    assert!(sharp > 500, "{sharp}");
}

/// What the optimality rules claim is true for every optimal subset, from any α and any value that is attained.
#[test]
fn the_optimality_rules_are_true_of_all_subsets() {
    let mut rng = rng(63);
    let (mut excluded, mut included, mut near_ties) = (0, 0, 0);
    for trial in 0..1500 {
        let case = case(&mut rng, &Shape { attained: true, certified: true, ..Shape::new(3..=16, 2..=7) });
        let (all, best) = (enumerate(&case), relaxed(&case));
        case.with_problem(|problem| {
            let size = best.alpha.iter().fold(0.0f64, |m, a| m.max(a.abs()));
            for noise in [0.0, 1e-10, 1e-4, 1e-2, 0.3] {
                let at = point(problem, best.alpha.iter().map(|a| a + noise * size * normal(&mut rng)).collect());
                // The optimum itself, a hair above it, and values that a poor solution would have.
                let values =
                    [all.best, all.best * (1.0 + 1e-12), all.best * (1.0 + 1e-9), 1.01 * all.best, 1.2 * all.best];
                for attained in values {
                    for j in 0..case.p {
                        let c = problem.coordinate(j);
                        let out = in_no_optimal_subset(c, at.tau[j], at.dual, attained);
                        let inside = in_every_optimal_subset(c, at.tau[j], at.dual, attained);
                        assert!(!(out && inside), "{trial}: both for {j}");
                        if out {
                            assert!(
                                all.with[j] > attained,
                                "{trial}: {j} is in a subset of {}, at {attained}",
                                all.with[j]
                            );
                            excluded += 1;
                        }
                        if inside {
                            assert!(
                                all.without[j] > attained,
                                "{trial}: {} without {j}, at {attained}",
                                all.without[j]
                            );
                            included += 1;
                        }
                        let tie = (all.with[j] - all.without[j]).abs() < 1e-6 * all.best;
                        near_ties += usize::from(tie);
                    }
                }
            }
        });
    }
    assert!(excluded > 10_000 && included > 1000 && near_ties > 1000, "{excluded} {included} {near_ties}");
}

/// The verdicts that the search goes by, from the dual point of the convex phase.
#[test]
fn verdicts_are_true_of_all_subsets() {
    let mut rng = rng(66);
    let mut settled = [0, 0];
    for trial in 0..600 {
        let case = case(&mut rng, &Shape { attained: true, certified: true, ..Shape::new(3..=16, 2..=8) });
        let all = enumerate(&case);
        case.with_problem(|problem| {
            let (options, mut observer) = (Options::default(), ());
            let mut monitor = Monitor::new(&options, &mut observer);
            let mut relaxed = convex::solve(&mut Workspace::new(problem), &options, &mut monitor).unwrap();
            let rules = Rules::new(problem, &mut relaxed, 1.2 * all.best, &mut monitor).unwrap();
            for attained in [all.best * (1.0 + 1e-12), 1.01 * all.best, 1.2 * all.best] {
                for j in 0..case.p {
                    match rules.verdict(problem, j, attained) {
                        Verdict::In => assert!(all.without[j] > attained, "{trial}: {j}, at {attained}"),
                        Verdict::Out => assert!(all.with[j] > attained, "{trial}: {j}, at {attained}"),
                        Verdict::Open => continue,
                    }
                    settled[usize::from(all.without[j] > attained)] += 1;
                    assert_eq!(Rules::none().verdict(problem, j, attained), Verdict::Open);
                }
            }
        });
    }
    assert!(settled[0] > 1000 && settled[1] > 300, "{settled:?}");
}

/// With a limited size D_k in the place of D still proves that a feature is out.
#[test]
fn exclusion_holds_for_limited_sizes() {
    let mut rng = rng(64);
    let mut excluded = 0;
    for trial in 0..300 {
        let mut case = case(&mut rng, &Shape { attained: true, certified: true, ..Shape::new(3..=14, 2..=7) });
        case.penalty.lambda0 *= f64::from(u8::from(trial % 3 > 0));
        let (all, best) = (enumerate(&case), relaxed(&case));
        case.with_problem(|problem| {
            for k in 1..=case.p {
                let limited = problem.clone().with_max_size(k).unwrap();
                let at = point(&limited, best.alpha.iter().map(|a| a * (1.0 + 1e-3 * normal(&mut rng))).collect());
                for j in 0..case.p {
                    if in_no_optimal_subset(problem.coordinate(j), at.tau[j], at.dual, all.sized[k]) {
                        assert!(all.with_sized[j][k] > all.sized[k], "{trial}: {j}, k = {k}");
                        excluded += 1;
                    }
                }
            }
        });
    }
    assert!(excluded > 500, "{excluded}");
}

/// Two copies of one column: neither may be called indispensable, neither may be thrown out if one is needed.
#[test]
fn copies_are_neither_excluded_nor_required() {
    let mut rng = rng(65);
    let mut needed = 0;
    for trial in 0..400 {
        let mut case =
            case(&mut rng, &Shape { attained: true, certified: true, wild: false, ..Shape::new(5..=15, 3..=6) });
        let (n, scale) = (case.n, power(&mut rng, -6.0, 6.0));
        let mut x: Vec<f64> = case.x.iter().map(|x| scale * x).collect();
        x.copy_within(..n, n);
        case.replace(n, x);
        (case.penalty.lambda1, case.penalty.lambda2) =
            (case.penalty.lambda1 * scale, case.penalty.lambda2 * scale * scale);
        case.penalty.bounds = bestset::Bounds::Free;
        case.penalty.lambda2 = case.penalty.lambda2.max(1e-3 * scale * scale);
        let (all, best) = (enumerate(&case), relaxed(&case));
        case.with_problem(|problem| {
            let at = point(problem, best.alpha.clone());
            let fires = |j: usize, f: fn(bestset::Coordinate, f64, f64, f64) -> bool| {
                f(problem.coordinate(j), at.tau[j], at.dual, all.best)
            };
            let chosen = all.coefficients.support.iter().any(|&j| j < 2);
            for j in 0..2 {
                assert!(!chosen || !fires(j, in_no_optimal_subset), "{trial}");
                let alone = all.without[j] <= all.best * (1.0 + 1e-9);
                assert!(!alone || !fires(j, in_every_optimal_subset), "{trial}");
            }
            needed += usize::from(chosen);
        });
    }
    assert!(needed > 50, "{needed}");
}

/// An undefined value must not shrink the ball to a point, and nothing follows from an infinite one.
#[test]
fn undefined_values_prove_nothing() {
    let c = bestset::Coordinate { l0: 1.0, l1: 0.1, l2: 0.5, lower: f64::NEG_INFINITY, upper: f64::INFINITY };
    let (nan, inf) = (f64::NAN, f64::INFINITY);
    for (primal, dual) in [(nan, 1.0), (1.0, nan), (nan, nan), (inf, 1.0), (1.0, -inf), (inf, -inf), (inf, inf)] {
        let r = radius(primal, dual, 1.0);
        assert_eq!(r, inf, "{primal} {dual}");
        for length in [0.0, 1e-300, 1.0] {
            assert!(!zero_in_relaxation(c, 0.0, length, r), "{primal} {dual} {length}");
        }
    }
    assert_eq!(radius(3.0, 1.0, 4.0), 1.0);
    assert_eq!(radius(1.0, 1.0f64.next_up(), 1.0), 0.0);
    for odd in [nan, inf, -inf] {
        for (dual, best) in [(odd, 1.0), (1.0, odd), (odd, odd)] {
            if dual == inf || best == -inf {
                continue;
            }
            assert!(!in_no_optimal_subset(c, 0.0, dual, best), "{dual} {best}");
            assert!(!in_every_optimal_subset(c, 9.0, dual, best), "{dual} {best}");
        }
        assert!(!in_no_optimal_subset(c, nan, 1.0, 1.0) && !in_every_optimal_subset(c, nan, 1.0, 1.0));
        assert!(!zero_in_relaxation(c, nan, 1.0, 0.0));
    }
}
