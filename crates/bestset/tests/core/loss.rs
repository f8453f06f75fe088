//! Losses and conjugates of MATH §2 against their definitions.

use crate::common::{LOSSES, UNIFORM, assert_close, normal, respond, rng, share};
use bestset::Loss;
use proptest::prelude::*;
use proptest::test_runner::{FileFailurePersistence, RngSeed};

/// Targets that make sense for the loss.
fn targets(loss: Loss) -> Vec<f64> {
    match loss {
        Loss::Gamma => vec![1e-3, 0.25, 1.0, 40.0],
        Loss::Poisson | Loss::NegativeBinomial { .. } => vec![0.0, 0.25, 1.0, 3.0, 40.0],
        _ if loss.is_classification() => vec![-1.0, 1.0],
        _ => vec![-3.0, -0.25, 0.0, 1.0, 40.0],
    }
}

/// Every (loss, y), with more than one δ for Huber and θ for the negative binomial.
fn all() -> Vec<(Loss, f64)> {
    let more = [Loss::Huber { delta: 0.01 }, Loss::Huber { delta: 25.0 }];
    let more = more.into_iter().chain([0.01, 30.0].map(|theta| Loss::NegativeBinomial { theta }));
    LOSSES.into_iter().chain(more).flat_map(|loss| targets(loss).into_iter().map(move |y| (loss, y))).collect()
}

/// A grid of slopes that lies inside, at the ends of and outside every domain.
fn slopes() -> Vec<f64> {
    let grid = (-300..=300).map(|k| f64::from(k) * 0.01);
    let ends = [-30.0, -25.0, -1.0, -0.8, -0.01, 0.0, 0.01, 0.8, 1.0, 25.0, 30.0];
    let near = ends.iter().flat_map(|&a: &f64| [a, a.next_up(), a.next_down()]);
    grid.chain(near).chain([-1e-300, 1e-300, -1e6, 1e6]).collect()
}

/// sup_u { a u − ℓ(u, y) } on [−`far`, `far`] by bisection of the monotone derivative, from values of ℓ′ alone.
fn supremum(loss: Loss, a: f64, y: f64, far: f64) -> f64 {
    let (mut low, mut high) = (-far, far);
    for _ in 0..300 {
        let middle = 0.5 * (low + high);
        if loss.derivative(middle, y) < a { low = middle } else { high = middle }
    }
    let at = |u: f64| a * u - loss.value(u, y);
    at(low).max(at(high)).max(at(-far)).max(at(far)).max(at(0.0))
}

#[test]
fn conjugate_is_the_supremum_inside_its_domain_and_infinite_outside() {
    let (mut inside, mut outside) = (0, 0);
    for (loss, y) in all() {
        let (lower, upper) = loss.domain(y);
        for a in slopes() {
            let (closed, numeric) = (loss.conjugate(a, y), supremum(loss, a, y, if a.abs() > 1e3 { 1e8 } else { 1e4 }));
            if a >= lower && a <= upper {
                // At a closed end the supremum may be a limit that no finite u attains.
                assert_close(closed, numeric, 1e-9 * (1.0 + numeric.abs()), &(loss, y, a));
                inside += 1;
            } else {
                assert_eq!(closed, f64::INFINITY, "{loss:?} y = {y}, a = {a:e}");
                let beyond = (a - upper).max(lower - a);
                if beyond > 1e-3 {
                    // a u − ℓ(u) grows without end: ten times as far is more.
                    assert!(supremum(loss, a, y, 1e6) > supremum(loss, a, y, 1e5) + beyond * 1e4, "{loss:?} {y} {a}");
                }
                outside += 1;
            }
        }
    }
    assert!(inside > 5000 && outside > 2000, "{inside} {outside}");
}

#[test]
fn conjugates_at_the_closed_ends_and_one_step_beyond() {
    for y in [-1.0, 1.0] {
        // s = −ya: 0 · log 0 = 0 at both ends.
        assert_eq!(Loss::Logistic.conjugate(0.0, y), 0.0);
        assert_eq!(Loss::Logistic.conjugate(-y, y), 0.0);
        assert_eq!(Loss::Logistic.conjugate(-y * 1.0f64.next_up(), y), f64::INFINITY);
        assert_eq!(Loss::Logistic.conjugate(y * f64::from_bits(1), y), f64::INFINITY);
        assert!(Loss::Logistic.conjugate(-y * 1.0f64.next_down(), y) < 0.0);
        assert!(Loss::Logistic.conjugate(-y * 1e-300, y) < 0.0);
        assert_close(Loss::Logistic.conjugate(-0.5 * y, y), -(2.0f64.ln()), 1e-15, &y);
        assert_eq!(Loss::SquaredHinge.conjugate(0.0, y), 0.0);
        assert_eq!(Loss::SquaredHinge.conjugate(y * f64::from_bits(1), y), f64::INFINITY);
        assert_eq!(Loss::SquaredHinge.conjugate(-2.0 * y, y), -1.0);
    }
    for (delta, y) in [(0.8, 3.0), (1e-8, -2.0), (1e8, 0.0)] {
        let loss = Loss::Huber { delta };
        let end = 0.5 * delta * delta + y * delta;
        assert_close(loss.conjugate(delta, y), end, 1e-15 * end.abs(), &loss);
        assert_eq!(loss.conjugate(delta.next_up(), y), f64::INFINITY);
        assert_eq!(loss.conjugate(-delta.next_up(), y), f64::INFINITY);
    }
    for (loss, y) in all() {
        assert!(!loss.conjugate(f64::NAN, y).is_finite(), "{loss:?} accepts NaN");
        assert_eq!(loss.conjugate(0.0, y), 0.0, "min ℓ is zero for every loss: {loss:?}");
    }
}

#[test]
fn fenchel_young_holds_with_equality_at_the_derivative() {
    for (loss, y) in all() {
        for u in (-200..=200).map(|k| 0.05 * f64::from(k)) {
            let value = loss.value(u, y);
            for a in slopes() {
                let slack = value + loss.conjugate(a, y) - a * u;
                assert!(slack >= -1e-9 * (1.0 + a.abs()), "{loss:?} y = {y}, u = {u}, a = {a}: {slack}");
            }
            let a = loss.derivative(u, y);
            assert_close(value + loss.conjugate(a, y), a * u, 1e-12 * (1.0 + value + (a * u).abs()), &(loss, y, u));
        }
    }
}

#[test]
fn derivative_and_curvature_match_finite_differences() {
    let mut largest = std::collections::HashMap::new();
    for (loss, y) in all() {
        for u in (-400..=400).map(|k| 0.1 * f64::from(k) + 0.0137) {
            let h = 1e-5;
            let kink = match loss {
                Loss::SquaredHinge => (1.0 - y * u).abs(),
                Loss::Huber { delta } => ((y - u).abs() - delta).abs(),
                _ => f64::INFINITY,
            };
            let slope = (loss.value(u + h, y) - loss.value(u - h, y)) / (2.0 * h);
            assert_close(slope, loss.derivative(u, y), 1e-5 * (1.0 + slope.abs()), &(loss, y, u));
            if kink > 2.0 * h {
                let bend = (loss.derivative(u + h, y) - loss.derivative(u - h, y)) / (2.0 * h);
                assert_close(bend, loss.curvature(u, y), 1e-6 * (1.0 + bend.abs()), &(loss, y, u));
            }
            let most = largest.entry(loss.name()).or_insert(0.0f64);
            *most = most.max(loss.curvature(u, y));
        }
        let steepest = match loss {
            Loss::NegativeBinomial { theta } => theta.ln(),
            _ if loss.is_classification() => 0.0,
            _ => y,
        };
        if loss.mu(y) > 0.0 {
            assert_close(
                loss.curvature(steepest, y).max(loss.curvature(0.0, y)),
                1.0 / loss.mu(y),
                1e-12 / loss.mu(y),
                &(loss, y),
            );
        }
    }
    // μ is the inverse of the largest curvature, as a table and as measured.
    for (loss, mu) in UNIFORM.into_iter().zip([1.0, 4.0, 0.5, 1.0]) {
        assert_eq!(loss.mu(1.0), mu);
        let most = largest[loss.name()];
        assert!(most <= 1.0 / mu && most > 0.99 / mu, "{loss:?}: {most}");
    }
    // At a kink of ℓ′ the larger side.
    assert_eq!(Loss::SquaredHinge.curvature(-1.0, -1.0), 2.0);
    assert_eq!(Loss::Huber { delta: 0.5 }.curvature(1.5, 1.0), 1.0);
}

#[test]
fn conjugates_are_strongly_convex_with_mu() {
    for (loss, y) in all() {
        let inside: Vec<f64> =
            slopes().into_iter().filter(|&a| loss.conjugate(a, y).is_finite() && a.abs() < 50.0).collect();
        for &a in inside.iter().step_by(7) {
            for &c in inside.iter().step_by(11) {
                let (at_a, at_c, at_middle) =
                    (loss.conjugate(a, y), loss.conjugate(c, y), loss.conjugate(0.5 * (a + c), y));
                let bend = 0.5 * (at_a + at_c) - at_middle;
                let least = loss.mu(y) / 8.0 * (a - c) * (a - c);
                assert!(bend >= least - 1e-11 * (1.0 + at_a.abs() + at_c.abs()), "{loss:?} y = {y}: {a} {c}");
            }
        }
    }
}

#[test]
fn conjugate_derivative_is_a_finite_maximiser() {
    for (loss, y) in all() {
        for a in slopes() {
            let u = loss.conjugate_derivative(a, y);
            assert!(u.is_finite(), "{loss:?} y = {y}, a = {a}: {u}");
            if loss.conjugate(a, y).is_finite() {
                let attained = a * u - loss.value(u, y);
                assert_close(
                    attained,
                    loss.conjugate(a, y),
                    1e-9 * (1.0 + attained.abs() + (a * u).abs()),
                    &(loss, y, a),
                );
            }
        }
    }
}

#[test]
fn extreme_margins_stay_inside_the_domain_and_give_no_nan() {
    let sizes = [0.0, 1e-300, 1e-8, 1.0, 30.0, 37.0, 709.0, 710.0, 745.0, 800.0, 1e8, 1e16, 1e150, 1e300];
    for (loss, y) in all() {
        let (lower, upper) = loss.domain(y);
        assert!(lower <= 0.0 && upper >= 0.0, "every domain contains zero");
        for u in sizes.into_iter().flat_map(|u| [u, -u]) {
            let (value, a, curvature) = (loss.value(u, y), loss.derivative(u, y), loss.curvature(u, y));
            assert!(value >= 0.0, "{loss:?} y = {y}, u = {u:e}: value {value}");
            assert!(a.is_finite() && lower <= a && a <= upper, "{loss:?} y = {y}, u = {u:e}: derivative {a}");
            assert!((0.0..=1.0 / loss.mu(y)).contains(&curvature), "{loss:?} y = {y}, u = {u:e}: {curvature}");
            let conjugate = loss.conjugate(a, y);
            assert!(!conjugate.is_nan() && (u.abs() > 1e140 || conjugate.is_finite()), "{loss:?} y = {y}, u = {u:e}");
        }
    }
}

#[test]
fn sums_over_samples_match_plain_loops_and_skip_weight_zero() {
    let mut rng = rng(2);
    for loss in LOSSES {
        let n = 23;
        let u: Vec<f64> = (0..n).map(|_| 3.0 * normal(&mut rng)).collect();
        let mut y: Vec<f64> = u.iter().map(|u| if loss.is_classification() { *u } else { u + 1.0 }).collect();
        respond(&mut rng, loss, &mut y);
        let w: Vec<f64> = (0..n).map(|i| f64::from(i as u32 % 4) * 0.7).collect();
        for weights in [None, Some(w.as_slice())] {
            let weight = |i: usize| weights.map_or(1.0, |w| w[i]);
            let sum = |f: &dyn Fn(usize) -> f64| (0..n).map(|i| weight(i) * f(i)).sum::<f64>();
            let b = 0.3;
            assert_close(loss.total(&u, b, &y, weights), sum(&|i| loss.value(u[i] + b, y[i])), 1e-12, &loss);
            let (slope, curvature) = loss.slope_and_curvature(&u, b, &y, weights);
            assert_close(slope, sum(&|i| loss.derivative(u[i] + b, y[i])), 1e-12, &loss);
            assert_close(curvature, sum(&|i| loss.curvature(u[i] + b, y[i])), 1e-12, &loss);
            let (mut first, mut second) = (vec![f64::NAN; n], vec![f64::NAN; n]);
            loss.derivatives(&u, b, &y, weights, &mut first);
            loss.curvatures(&u, b, &y, weights, &mut second);
            for i in 0..n {
                assert_close(first[i], weight(i) * loss.derivative(u[i] + b, y[i]), 1e-13, &loss);
                assert_eq!(second[i], weight(i) * loss.curvature(u[i] + b, y[i]));
            }
        }
        // A sample of weight zero is not there, however large its loss.
        let far = [1e200, 0.5];
        assert!(loss.total(&far, 0.0, &[-1.0, 1.0], Some(&[0.0, 1.0])).is_finite());
    }
}

/// Where targets are far from zero the part that is as far, whether intercept or offset, is taken off them first: what is left is
/// exact, and so is the loss but for its own rounding.
#[test]
fn losses_of_far_targets_keep_their_digits() {
    let mut rng = rng(3);
    for loss in [Loss::Squared, Loss::Huber { delta: 0.7 }] {
        for far in [3e5, -7e10, 5e14] {
            let rest: Vec<f64> = (0..40).map(|_| normal(&mut rng)).collect();
            let y: Vec<f64> = (0..40).map(|_| far + normal(&mut rng)).collect();
            let near: Vec<f64> = y.iter().map(|y| y - far).collect();
            let plain = loss.total(&rest, 0.0, &near, None);
            assert_close(loss.total(&rest, far, &y, None), plain, 1e-14, &(loss, far));
            let offset = vec![far; 40];
            let plain = loss.total(&[0.0; 40], 0.25, &near, None);
            assert_close(loss.total(&offset, 0.25, &y, None), plain, 1e-14, &(loss, far));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: share(4000) as u32,
        rng_seed: RngSeed::Fixed(3),
        failure_persistence: Some(Box::new(FileFailurePersistence::WithSource("proptest-regressions"))),
        ..ProptestConfig::default()
    })]

    /// ℓ(u) + ℓ*(a) ≥ au at any scale, whatever the domain says.
    #[test]
    fn fenchel_young_at_any_scale(
        kind in 0usize..7,
        negative in any::<bool>(),
        (u, du) in (-1.0f64..1.0, -8.0f64..8.0),
        (a, da) in (-1.0f64..1.0, -8.0f64..8.0),
        (size, delta) in (-6.0f64..6.0, -6.0f64..6.0),
    ) {
        let loss = match LOSSES[kind] {
            Loss::Huber { .. } => Loss::Huber { delta: 10f64.powf(delta) },
            Loss::NegativeBinomial { .. } => Loss::NegativeBinomial { theta: 10f64.powf(delta) },
            other => other,
        };
        let y = if loss.is_classification() { 1.0 } else { 10f64.powf(size) };
        let y = if negative && !loss.has_log_link() { -y } else { y };
        let (u, a) = (u * 10f64.powf(du), a * 10f64.powf(da));
        let (value, conjugate) = (loss.value(u, y), loss.conjugate(a, y));
        let scale = value + conjugate.abs() + (a * u).abs() + (a * y).abs() + a * a + a.abs() * (1.0 + y.abs().ln().abs());
        prop_assert!(conjugate == f64::INFINITY || value + conjugate - a * u >= -1e-14 * scale);
        let slope = loss.derivative(u, y);
        let (lower, upper) = loss.domain(y);
        prop_assert!(lower <= slope && slope <= upper && loss.conjugate(slope, y).is_finite());
    }
}
