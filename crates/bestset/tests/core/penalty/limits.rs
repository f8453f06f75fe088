//! The penalty at its limits, where it must become a model that everyone knows, and at any scale.

use crate::common::{assert_close, share};
use bestset::{Bounds, Coordinate, Penalty};
use proptest::prelude::*;
use proptest::test_runner::{FileFailurePersistence, RngSeed};

const FREE: f64 = f64::INFINITY;

fn coordinate(l0: f64, l1: f64, l2: f64, lower: f64, upper: f64) -> Coordinate {
    Coordinate { l0, l1, l2, lower, upper }
}

fn grid() -> impl Iterator<Item = f64> {
    (-80..=80).map(|k| 0.1 * f64::from(k))
}

fn soft(q: f64, l1: f64) -> f64 {
    q.signum() * (q.abs() - l1).max(0.0)
}

#[test]
fn without_l0_it_is_the_elastic_net() {
    for (lower, upper) in [(-FREE, FREE), (-0.5, 1.0), (0.0, FREE)] {
        let c = coordinate(0.0, 0.7, 0.4, lower, upper);
        for q in grid() {
            let net = (soft(q, 0.7) / (2.0 + 0.8)).clamp(lower, upper);
            assert_close(c.prox_envelope(2.0, q), net, 1e-15, &q);
            assert_close(c.threshold_operator(2.0, q), net, 1e-15, &q);
            assert_close(c.prox_selected(2.0, q), net, 1e-15, &q);
            let b = q.clamp(lower, upper);
            assert_close(c.envelope(b), c.value(b), 1e-14, &b);
        }
        assert_eq!((c.knee(true), c.knee(false)), (0.0, 0.0));
        assert_eq!(c.slope(true), 0.7);
    }
}

#[test]
fn without_l0_and_l1_it_is_ridge() {
    let c = coordinate(0.0, 0.0, 0.4, -FREE, FREE);
    for q in grid() {
        for step in [c.prox_envelope(2.0, q), c.threshold_operator(2.0, q), c.prox_selected(2.0, q)] {
            assert_close(step, q / 2.8, 1e-15, &q);
        }
        assert_close(c.phi(q), -q * q / 1.6, 1e-12, &q);
        assert_close(c.link(q), -q / 0.8, 1e-12, &q);
    }
}

/// MATH §3 and §6 as printed there, without bounds.
#[test]
fn without_bounds_it_is_the_paper() {
    let (l0, l1, l2) = (0.3, 0.2, 0.5);
    let c = coordinate(l0, l1, l2, -FREE, FREE);
    let tau0 = l1 + 2.0 * (l0 * l2).sqrt();
    assert_close(c.threshold(1.0), tau0, 1e-15, &c);
    assert_close(c.knee(true), (l0 / l2).sqrt(), 1e-15, &c);
    for tau in grid() {
        assert_close(c.phi(tau), l0 - (tau.abs() - l1).max(0.0).powi(2) / (4.0 * l2), 1e-12, &tau);
        let link = if tau.abs() >= tau0 { -tau.signum() * (tau.abs() - l1) / (2.0 * l2) } else { 0.0 };
        assert_close(c.link(tau), link, 1e-12, &tau);
        for norm in [1.0, 0.3, 7.0] {
            let b = soft(tau, l1) / (norm + 2.0 * l2);
            let kept = if b * b >= 2.0 * l0 / (norm + 2.0 * l2) { b } else { 0.0 };
            assert_close(c.threshold_operator(norm, tau), kept, 1e-14, &tau);
        }
    }
}

/// λ2 = 0 with bounds: τ₀ = λ1 + λ0/M, and Ψ is linear beyond it.
#[test]
fn without_l2_the_bounds_make_the_dual_finite() {
    let (l0, l1) = (0.6, 0.1);
    for (lower, upper) in [(-0.5, 2.0), (-3.0, 0.1)] {
        let c = coordinate(l0, l1, 0.0, lower, upper);
        for (positive, reach) in [(true, upper), (false, -lower)] {
            let tau0 = l1 + l0 / reach;
            assert_close(c.slope(positive), tau0, 1e-14, &c);
            assert_eq!(c.knee(positive), reach);
            let side = if positive { -1.0 } else { 1.0 };
            for beyond in [0.0, 0.3, 5.0] {
                assert_close(c.psi(side * (tau0 + beyond)), -beyond * reach, 1e-13, &c);
            }
            assert_eq!(c.psi(side * tau0 * 0.999), 0.0);
            assert_eq!(c.link(side * (tau0 + 1.0)), -side * reach);
        }
    }
    // Tight bounds with λ2 > 0: τ₀ = λ1 + λ0/M + λ2 M (MATH §3).
    let tight = coordinate(1.0, 0.2, 0.5, -0.3, 0.3);
    assert_close(tight.slope(true), 0.2 + 1.0 / 0.3 + 0.15, 1e-14, &tight);
}

#[test]
fn a_closed_side_gives_zero_everywhere() {
    for c in [coordinate(1.0, 0.1, 0.5, 0.0, 0.0), coordinate(0.0, 0.0, 0.0, 0.0, 0.0)] {
        for q in grid() {
            assert_eq!(c.prox_envelope(1.0, q), 0.0);
            assert_eq!(c.threshold_operator(1.0, q), 0.0);
            assert_eq!(c.prox_selected(0.0, q), 0.0);
            assert_eq!(c.psi(q), 0.0);
            assert_eq!(c.phi(q), c.l0);
            assert_eq!(c.envelope_violation(0.0, q), 0.0);
        }
    }
    let positive = coordinate(0.1, 0.0, 0.5, 0.0, FREE);
    assert_eq!(positive.threshold_operator(1.0, -9.0), 0.0);
    assert_eq!(positive.prox_envelope(1.0, -9.0), 0.0);
    assert_eq!(positive.psi(9.0), 0.0);
    assert!(positive.psi(-9.0) < 0.0);
}

#[test]
fn the_non_zero_one_wins_a_tie_of_the_threshold_operator() {
    // ½cb² − qb + λ0 at b = q/c is zero: c = 2, λ0 = 1, q = 2.
    assert_eq!(coordinate(1.0, 0.0, 0.0, -FREE, FREE).threshold_operator(2.0, 2.0), 1.0);
    assert_eq!(coordinate(1.0, 0.0, 0.0, -FREE, FREE).threshold_operator(2.0, -2.0), -1.0);
    assert_eq!(coordinate(1.0, 0.0, 0.0, -FREE, FREE).threshold_operator(2.0, 2.0f64.next_down()), 0.0);
}

#[test]
fn a_certificate_needs_l2_or_bounds_on_both_sides() {
    let each = |lower: &[f64], upper: &[f64]| Bounds::Each(lower.to_vec(), upper.to_vec());
    let cases = [
        (0.5, Bounds::Free, true),
        (0.0, Bounds::Free, false),
        (0.0, Bounds::All(-1.0, 1.0), true),
        (0.0, Bounds::All(0.0, FREE), false),
        (1e-9, Bounds::All(0.0, FREE), true),
        (0.0, each(&[-1.0, 0.0], &[0.0, 3.0]), true),
        (0.0, each(&[-1.0, 0.0], &[0.0, FREE]), false),
    ];
    for (l2, bounds, expected) in cases {
        let penalty = Penalty::new(0.1, 0.2, l2).with_bounds(bounds);
        assert_eq!(penalty.has_certificate(2), expected, "{penalty:?}");
        let finite = (0..2).all(|j| [-1e3, 1e3].iter().all(|&t| penalty.at(j).psi(t).is_finite()));
        assert_eq!(finite, expected, "{penalty:?}");
    }
}

/// A value 0 or 10^u.
fn scale(zero: bool, u: f64) -> f64 {
    if zero { 0.0 } else { 10f64.powf(u) }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: share(20_000) as u32,
        rng_seed: RngSeed::Fixed(5),
        failure_persistence: Some(Box::new(FileFailurePersistence::WithSource("proptest-regressions"))),
        ..ProptestConfig::default()
    })]

    /// No candidate beats the closed forms, at any scale of any parameter.
    #[test]
    fn nothing_beats_the_closed_forms(
        zeros in prop::array::uniform6(prop::bool::weighted(0.2)),
        sizes in prop::array::uniform5(-6.0f64..6.0),
        (curvature, pull) in (-6.0f64..6.0, -6.0f64..6.0),
        (open_below, open_above, negative) in any::<(bool, bool, bool)>(),
        trial in -2.0f64..2.0,
    ) {
        let lower = if open_below { -FREE } else { -scale(zeros[3], sizes[3]) };
        let upper = if open_above { FREE } else { scale(zeros[4], sizes[4]) };
        let c = coordinate(scale(zeros[0], sizes[0]), scale(zeros[1], sizes[1]), scale(zeros[2], sizes[2]), lower, upper);
        let q = 10f64.powf(pull) * if negative { -1.0 } else { 1.0 };
        let k = 10f64.powf(curvature);
        let candidates = [
            0.0, lower, upper, c.knee(true), -c.knee(false), q / k, q / (k + 2.0 * c.l2), soft(q, c.l1) / (k + 2.0 * c.l2),
            soft(q, c.slope(q > 0.0).min(1e300)) / k, trial * q / k, -q / (2.0 * c.l2), -soft(q, c.l1) / (2.0 * c.l2), trial,
        ];
        let inside = |b: &f64| b.is_finite() && *b >= c.lower && *b <= c.upper;
        let best = |f: &dyn Fn(f64) -> f64, found: f64, name: &str| -> Result<(), TestCaseError> {
            prop_assert!(found == 0.0 || inside(&found), "{name}: {found}");
            let value = f(found);
            prop_assert!(value <= 0.0 || value <= 1e-12 * (q * found).abs(), "zero is better: {name}");
            for b in candidates.iter().copied().filter(inside) {
                let scale = (q * b).abs() + (q * found).abs() + k * b * b;
                prop_assert!(value <= f(b) + 1e-12 * scale, "{name}: {b} beats {found}");
            }
            Ok(())
        };
        let smooth = |b: f64| (0.5 * k * b - q) * b;
        best(&|b| smooth(b) + c.envelope(b), c.prox_envelope(k, q), "prox_envelope")?;
        best(&|b| smooth(b) + c.value(b), c.threshold_operator(k, q), "threshold_operator")?;
        best(&|b| smooth(b) + c.l1 * b.abs() + c.l2 * b * b, c.prox_selected(k, q), "prox_selected")?;
        let b = c.prox_envelope(k, q);
        let violation = c.envelope_violation(b, k * b - q);
        prop_assert!(violation <= 1e-9 * (q.abs() + k * b.abs()), "a minimiser has no violation: {violation}");
        if c.phi(q) > f64::NEG_INFINITY {
            best(&|b| q * b + c.value(b), c.link(q), "link")?;
            let b = c.link(q);
            prop_assert!((q * b + c.value(b) - c.psi(q)).abs() <= 1e-12 * ((q * b).abs() + c.value(b)));
        }
    }
}
