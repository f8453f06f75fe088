//! The dual domain: projection onto it, dual points of primal points, and the intercept that makes them balanced.

use crate::common::{Case, ChaCha8Rng, RngExt, Shape, UNIFORM, assert_close, case, loss_at, normal, pick, power, rng};
use bestset::design::Dense;
use bestset::{Loss, Penalty, Problem};

/// Points near, far, on one side, and of wildly different sizes.
fn points(case: &Case, rng: &mut ChaCha8Rng) -> Vec<Vec<f64>> {
    let n = case.n;
    let mut all: Vec<Vec<f64>> = vec![vec![0.0; n], vec![1.0; n], vec![-3.0; n]];
    for size in [1e-12, 1e-2, 1.0, 50.0, 1e9] {
        all.push((0..n).map(|_| size * normal(rng)).collect());
        all.push((0..n).map(|_| size * (normal(rng) + 2.0)).collect());
    }
    all.push((0..n).map(|_| normal(rng) * power(rng, -9.0, 9.0)).collect());
    all.push((0..n).map(|i| -case.y[i] * power(rng, -2.0, 2.0)).collect());
    all
}

/// Fails unless every a_i is in w_i · domain and, with an intercept, Σ a_i = 0 up to rounding.
#[track_caller]
fn assert_feasible(case: &Case, a: &[f64], context: &dyn std::fmt::Debug) {
    for i in 0..case.n {
        let ((lower, upper), w) = (case.loss.domain(case.y[i]), case.weight(i));
        let (lower, upper) = if w > 0.0 { (w * lower, w * upper) } else { (0.0, 0.0) };
        assert!(lower <= a[i] && a[i] <= upper, "a[{i}] = {} not in [{lower}, {upper}]: {context:?}", a[i]);
    }
    if case.intercept {
        let (sum, size) = a.iter().fold((0.0, 0.0), |(s, m), a| (s + a, m + a.abs()));
        // Numbers below 1e-300 cannot be scaled any more.
        assert!(sum.abs() <= 1e-15 * case.n as f64 * size + 1e-300, "sum {sum:e} of {size:e}: {context:?}");
    }
}

#[test]
fn projection_is_feasible_idempotent_and_nearest() {
    let mut rng = rng(41);
    let mut moved = 0;
    for trial in 0..600 {
        let case = case(&mut rng, &Shape::new(2..=20, 1..=2));
        case.with_problem(|problem| {
            let start = points(&case, &mut rng);
            let project = |alpha: &[f64]| {
                let mut a = alpha.to_vec();
                problem.project(&mut a);
                a
            };
            let projected: Vec<Vec<f64>> = start.iter().map(|alpha| project(alpha)).collect();
            for (alpha, a) in start.iter().zip(&projected) {
                assert_feasible(&case, a, &(trial, case.loss, alpha));
                assert!(problem.dual_value(a, &[], &[]).unwrap().is_finite(), "{trial}: {a:?}");
                moved += usize::from(alpha != a);
                let size = alpha.iter().chain(a).fold(0.0f64, |m, a| m.max(a.abs()));
                for (first, second) in a.iter().zip(project(a)) {
                    assert_close(*first, second, 1e-13 * a.iter().fold(0.0f64, |m, a| m.max(a.abs())), &(trial, alpha));
                }
                // Nearest in the norm of the ball, √(Σ (α − a)²/w): no feasible direction leads closer.
                for z in &projected {
                    let (mut inner, mut scale) = (0.0, 0.0);
                    for i in (0..case.n).filter(|&i| case.weight(i) > 0.0) {
                        let term = (alpha[i] - a[i]) * (z[i] - a[i]) / case.weight(i);
                        inner += term;
                        // α_i − w_i ν is known to the last place of α_i.
                        scale += 1e-9 * term.abs() + 1e-15 * size * size / case.weight(i);
                    }
                    assert!(inner <= scale, "{trial}: {inner:e} of {scale:e}, {:?} {alpha:?} {a:?}", case.loss);
                }
            }
        });
    }
    assert!(moved > 3000, "{moved}");
}

/// Σ (a_i − α_i)² / w_i, the norm of the ball squared.
fn distance(a: &[f64], alpha: &[f64], w: &[f64]) -> f64 {
    (0..a.len()).map(|i| (a[i] - alpha[i]).powi(2) / w[i]).sum()
}

/// No shift of two entries against each other leads closer.
#[test]
fn projection_is_feasible_and_nearest_in_the_weighted_norm() {
    let (n, w) = (6, [0.5, 2.0, 1.0, 3.0, 1e-3, 1.0]);
    let x = Dense::new(n, 1, vec![1.0; n]).unwrap();
    let y = [1.0, -1.0, 1.0, -1.0, 1.0, -1.0];
    for loss in UNIFORM {
        let problem = Problem::new(&x, &y[..], Penalty::new(1.0, 0.0, 1.0)).unwrap();
        let problem = problem.with_loss(loss).unwrap().with_weights(&w[..]).unwrap().with_intercept(true);
        for shift in [-3.0, -0.2, 0.0, 0.4, 50.0] {
            let alpha: Vec<f64> = (0..n).map(|i| shift + (i as f64 * 1.7).sin()).collect();
            let mut a = alpha.clone();
            problem.project(&mut a);
            assert!(problem.dual_value(&a, &[], &[]).unwrap().is_finite(), "{loss:?} {shift}");
            // Moving along any feasible pair direction must not bring it nearer.
            for (i, k) in (0..n).flat_map(|i| (0..n).map(move |k| (i, k))).filter(|p| p.0 != p.1) {
                let mut moved = a.clone();
                (moved[i], moved[k]) = (a[i] + 1e-6, a[k] - 1e-6);
                if problem.dual_value(&moved, &[], &[]).unwrap().is_finite() {
                    let nearest = distance(&a, &alpha, &w);
                    assert!(distance(&moved, &alpha, &w) >= nearest - 1e-13 * nearest, "{loss:?} {shift}");
                }
            }
        }
    }
}

/// Mixtures of feasible points are feasible and must come back as they are.
#[test]
fn projection_leaves_the_domain_alone() {
    let mut rng = rng(42);
    for trial in 0..400 {
        let case = case(&mut rng, &Shape::new(2..=20, 1..=2));
        case.with_problem(|problem| {
            let mut all = points(&case, &mut rng);
            all.iter_mut().for_each(|a| problem.project(a));
            let share = rng.random_range(0.0..1.0);
            let mixed: Vec<f64> = all[3].iter().zip(&all[8]).map(|(a, b)| share * a + (1.0 - share) * b).collect();
            let size = mixed.iter().fold(0.0f64, |m, a| m.max(a.abs()));
            let mut again = mixed.clone();
            problem.project(&mut again);
            for (first, second) in mixed.iter().zip(&again) {
                assert_close(*first, *second, 1e-13 * size, &trial);
            }
        });
    }
}

/// Five samples at or within rounding of an end of their domain: the sum of the clipped point is never exactly zero, and
/// the search for the shift must not wander off because of it.
#[test]
fn a_feasible_point_at_the_ends_of_its_domain_comes_back() {
    let alpha =
        [0.0, 4.338575646570399, -2.6092815308052892, -0.9705013923564518, -0.7471304772180144, -0.011662246190643134];
    let weights =
        [40.0, 4.338575646570399, 5.771479740533261, 0.9705013923564575, 0.7471304772180188, 0.011662246190643204];
    let x = Dense::new(6, 1, vec![0.0; 6]).unwrap();
    let y = [1.0, -1.0, 1.0, 1.0, 1.0, 1.0];
    let problem = Problem::new(&x, y.to_vec(), Penalty::new(1.0, 0.0, 1.0)).unwrap();
    let problem =
        problem.with_loss(Loss::Logistic).unwrap().with_weights(weights.to_vec()).unwrap().with_intercept(true);
    let mut again = alpha;
    problem.project(&mut again);
    for i in 0..6 {
        assert_close(again[i], alpha[i], 1e-15 * alpha[i].abs() + 1e-16, &again);
    }
}

/// Σ α_i ≠ 0 lets the intercept take D to −∞ (MATH §2), however small the imbalance, as long as it is none of rounding.
#[test]
fn unbalanced_points_bound_nothing_with_an_intercept() {
    let mut rng = rng(45);
    for trial in 0..400 {
        let case = case(&mut rng, &Shape::new(2..=20, 1..=2));
        case.with_problem(|problem| {
            let mut alpha: Vec<f64> = (0..case.n).map(|_| normal(&mut rng)).collect();
            problem.project(&mut alpha);
            if alpha.iter().all(|a| a.abs() < 1e-6) {
                return;
            }
            assert!(problem.dual_value(&alpha, &[], &[]).unwrap().is_finite(), "{trial}");
            for share in [1e-9, 1e-3, 0.5] {
                // Shrinking one side stays inside every domain.
                let tilted: Vec<f64> = alpha.iter().map(|a| if *a > 0.0 { a * (1.0 - share) } else { *a }).collect();
                let finite = problem.dual_value(&tilted, &[], &[]).unwrap().is_finite();
                assert_eq!(finite, !case.intercept, "{trial}: {share}");
            }
        });
    }
}

#[test]
fn dual_points_are_derivatives_inside_the_domain_and_balanced() {
    let mut rng = rng(43);
    for trial in 0..1000 {
        let case = case(&mut rng, &Shape::new(2..=25, 1..=2));
        case.with_problem(|problem| {
            let size = power(&mut rng, -3.0, 3.0);
            let u: Vec<f64> = (0..case.n).map(|_| size * normal(&mut rng)).collect();
            let b = problem.best_intercept(&u, normal(&mut rng));
            let mut alpha = vec![f64::NAN; case.n];
            problem.dual_point(&u, b, &mut alpha);
            assert_feasible(&case, &alpha, &(trial, case.loss));
            let largest = alpha.iter().fold(0.0f64, |m, a| m.max(a.abs()));
            for i in 0..case.n {
                let plain = case.weight(i) * loss_at(case.loss, u[i] + b, case.y[i]).1;
                if case.intercept {
                    // At the best intercept the slopes cancel but for rounding, which balancing takes out.
                    let wide = case.n as f64 * largest.max(plain.abs()) + size;
                    assert_close(alpha[i], plain, 1e-9 * wide, &(trial, case.loss, i));
                } else {
                    // A mean less a count has the digits of the larger, a mean those of its logarithm.
                    let parts = if case.loss.has_log_link() {
                        (plain.abs() + 2.0 * case.weight(i) * case.y[i]) * (1.0 + u[i].abs())
                    } else {
                        plain.abs()
                    };
                    if plain.abs() < 1e90 {
                        assert_close(alpha[i], plain, 1e-14 * parts + 1e-300, &(trial, case.loss, i));
                    }
                }
            }
            assert!(problem.dual_value(&alpha, &[], &[]).unwrap().is_finite());
            // At any other intercept the point is still feasible.
            problem.dual_point(&u, b + 1e3 * normal(&mut rng), &mut alpha);
            if case.intercept {
                assert_feasible(&case, &alpha, &("elsewhere", trial, case.loss));
            }
        });
    }
}

/// Margins that make the one-dimensional problem in b hard.
fn margins(case: &Case, rng: &mut ChaCha8Rng) -> Vec<f64> {
    let n = case.n;
    let noise: Vec<f64> = (0..n).map(|_| normal(rng)).collect();
    match rng.random_range(0..6) {
        0 => noise,
        // Far from zero, where the intercept must bring it back.
        1 => noise.iter().map(|z| z + pick(rng, &[1e8, -1e8])).collect(),
        // Separated by a wide gap: flat between the classes.
        2 => (0..n).map(|i| 40.0 * case.y[i].signum() + noise[i]).collect(),
        // Separated the wrong way round.
        3 => (0..n).map(|i| -30.0 * case.y[i].signum() + noise[i]).collect(),
        // Some residuals far out.
        4 => noise.iter().map(|z| if z.abs() > 1.5 { 1e6 * z } else { *z }).collect(),
        _ => noise.iter().map(|z| 1e-9 * z).collect(),
    }
}

#[test]
fn the_intercept_is_optimal_from_any_guess() {
    let mut rng = rng(44);
    for trial in 0..3000 {
        let mut case = case(&mut rng, &Shape::new(2..=25, 1..=2));
        if !case.loss.is_classification() && !case.loss.has_log_link() && rng.random_bool(0.3) {
            let offset = pick(&mut rng, &[1e8, -1e4]);
            case.y.iter_mut().for_each(|y| *y += offset);
        }
        let u = margins(&case, &mut rng);
        case.with_problem(|problem| {
            let guess = pick(&mut rng, &[0.0, 1.0, -1e3, 1e8, -1e8, 1e15, 3e-9]);
            let b = problem.best_intercept(&u, guess);
            if !case.intercept {
                assert_eq!(b, 0.0);
                return;
            }
            // The monotone slope changes sign within a few units of the last place of what is added.
            let wide = u.iter().chain(&case.y).chain([&b]).fold(1.0f64, |m, v| m.max(v.abs()));
            let slope = |b: f64| {
                let at = |i: usize| case.weight(i) * loss_at(case.loss, u[i] + b, case.y[i]).1;
                (0..case.n).map(at).fold((0.0, 0.0), |(s, m), d| (s + d, m + d.abs()))
            };
            // Between separated classes the slope fades like e^{−distance} and nothing is left to gain.
            let faint = 1e-60 * (0..case.n).map(|i| case.weight(i)).sum::<f64>();
            let step = 1e-13 * wide;
            let ((low, low_size), (high, high_size)) = (slope(b - step), slope(b + step));
            assert!(
                low <= 1e-14 * low_size + faint && high >= -1e-14 * high_size - faint,
                "{trial}: {:?} b = {b} from {guess}: slopes {low:e} and {high:e}",
                case.loss
            );
            let loss = problem.loss_sum(&u, b);
            for other in [0.0, guess, b + 1e-6 * wide, b - 1e-6 * wide, b + 1.0, b - 1.0, 2.0 * b] {
                let found = problem.loss_sum(&u, other);
                assert!(loss <= found + 1e-13 * found + faint, "{trial}: {:?} {other} beats {b}", case.loss);
            }
        });
    }
}

/// Squared loss: the weighted mean; Huber with a huge δ: the same; a flat squared hinge: no slope left.
#[test]
fn intercepts_that_are_known() {
    let x = Dense::new(4, 1, vec![0.0; 4]).unwrap();
    let problem = |y: [f64; 4], loss: Loss| {
        let problem = Problem::new(&x, y.to_vec(), Penalty::new(1.0, 0.0, 1.0)).unwrap();
        problem.with_loss(loss).unwrap().with_intercept(true)
    };
    let (y, w) = ([1.0, 2.0, 4.0, 9.0], vec![1.0, 0.0, 3.0, 2.0]);
    for loss in [Loss::Squared, Loss::Huber { delta: 1e3 }] {
        assert_close(problem(y, loss).best_intercept(&[0.0; 4], 77.0), 4.0, 1e-14, &loss);
        let weighted = problem(y, loss).with_weights(w.clone()).unwrap();
        assert_close(weighted.best_intercept(&[0.0; 4], -5.0), 31.0 / 6.0, 1e-14, &loss);
    }
    // Huber with a small δ: the median, any point between the middle two.
    let median = problem(y, Loss::Huber { delta: 1e-3 }).best_intercept(&[0.0; 4], 0.0);
    assert!((2.0..=4.0).contains(&median), "{median}");
    // log(3/1) for three of four.
    let labels = [1.0, 1.0, -1.0, 1.0];
    assert_close(problem(labels, Loss::Logistic).best_intercept(&[0.0; 4], 0.0), 3f64.ln(), 1e-14, &labels);
    // Margins of two on the right side: any b in [−1, 1] has no loss.
    let b = problem(labels, Loss::SquaredHinge).best_intercept(&[2.0, 2.0, -2.0, 2.0], 50.0);
    assert!((-1.0..=1.0).contains(&b), "{b}");
}

/// Labels told apart by a huge margin, in both directions, with weights of very different size.
#[test]
fn nearly_separable_classes_keep_a_finite_intercept_and_a_valid_dual_point() {
    let n = 6;
    let x = Dense::new(n, 1, vec![1.0, -1.0, 0.5, -0.5, 2.0, -2.0]).unwrap();
    let y = [1.0, -1.0, 1.0, -1.0, 1.0, -1.0];
    for loss in UNIFORM {
        for size in [1.0, 1e3, 1e6, 1e150, -1e150] {
            for weights in [vec![1.0; n], vec![1e-12, 1e12, 1.0, 1.0, 1e6, 1e-6]] {
                let problem = Problem::new(&x, y.to_vec(), Penalty::new(0.1, 0.0, 1.0)).unwrap();
                let problem = problem.with_loss(loss).unwrap().with_weights(weights).unwrap().with_intercept(true);
                let u: Vec<f64> = y.iter().map(|y| size * y).collect();
                let b = problem.best_intercept(&u, 0.0);
                assert!(b.is_finite(), "{loss:?} {size:e}: {b}");
                let mut alpha = vec![0.0; n];
                problem.dual_point(&u, b, &mut alpha);
                let bound = problem.lower_bound(&alpha).unwrap();
                assert!(
                    !bound.is_nan() && bound <= problem.objective(&Default::default()).unwrap(),
                    "{loss:?} {size:e}: {bound}"
                );
            }
        }
    }
}
