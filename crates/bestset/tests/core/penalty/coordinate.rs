//! The penalty of one coefficient against its definitions: every closed form by brute force.

use crate::common::{assert_close, envelope, minimum, pi, share, smooth};
use bestset::Coordinate;

const FREE: f64 = f64::INFINITY;

/// Bounds: none, wide, tight, one-sided, lopsided, closed.
const BOXES: [(f64, f64); 9] = [
    (-FREE, FREE),
    (-5.0, 5.0),
    (-0.7, 0.7),
    (-0.05, 0.05),
    (0.0, FREE),
    (-0.4, 0.0),
    (-0.3, 1.5),
    (-FREE, 0.02),
    (0.0, 0.0),
];

/// Every combination of zero, small and large λ with every box.
fn coordinates() -> Vec<Coordinate> {
    let mut all = Vec::new();
    for (lower, upper) in BOXES {
        for l0 in [0.0, 0.03, 2.0] {
            for l1 in [0.0, 0.2, 1.5] {
                for l2 in [0.0, 0.5, 3.0] {
                    all.push(Coordinate { l0, l1, l2, lower, upper });
                }
            }
        }
    }
    all
}

/// Whether |b| can grow without end at no quadratic cost.
fn is_open(c: Coordinate) -> bool {
    c.l2 == 0.0 && (c.lower.is_infinite() || c.upper.is_infinite())
}

const TAUS: [f64; 19] =
    [0.0, 0.1, -0.1, 0.2, -0.2, 0.5, -0.5, 1.0, -1.0, 1.49, 1.51, -1.7, 2.5, -2.5, 4.0, -4.0, 12.0, -12.0, 30.0];

#[test]
fn value_is_the_penalty_and_infinite_outside_the_bounds() {
    for c in coordinates() {
        for b in [-6.0, -0.5, -0.02, 0.0, 0.01, 0.3, 1.0, 7.0] {
            let inside = b == 0.0 || (b >= c.lower && b <= c.upper);
            let expected = if inside { pi(c, b) } else { f64::INFINITY };
            assert_close(c.value(b), expected, 1e-14 * expected.min(1e3), &(c, b));
        }
        assert_eq!(c.value(-0.0), 0.0);
        for end in [c.lower, c.upper].into_iter().filter(|e| e.is_finite()) {
            assert!(c.value(end).is_finite(), "the bounds belong to the domain: {c:?}");
        }
    }
}

#[test]
fn phi_psi_and_link_are_the_minimum_over_b() {
    for c in coordinates() {
        for tau in TAUS {
            let pulls = tau.abs() > c.l1 && if tau < 0.0 { c.upper == FREE } else { c.lower == -FREE };
            if c.l2 == 0.0 && pulls {
                assert_eq!(c.phi(tau), f64::NEG_INFINITY, "{c:?} {tau}");
                assert_eq!(c.psi(tau), f64::NEG_INFINITY);
                continue;
            }
            let (inside, _) = minimum(c, 40.0, (0.0, -tau), smooth);
            assert_close(c.phi(tau), c.l0 + inside, 1e-9, &(c, tau));
            let (least, _) = minimum(c, 40.0, (0.0, -tau), pi);
            assert_close(c.psi(tau), least, 1e-9, &(c, tau));
            let b = c.link(tau);
            assert!(b == 0.0 || (b >= c.lower && b <= c.upper), "{c:?} {tau}: link {b}");
            assert_close(tau * b + pi(c, b), least, 1e-9, &(c, tau, b));
            assert_eq!(b == 0.0, c.phi(tau) > 0.0 || c.selected().link(tau) == 0.0, "{c:?} {tau}");
        }
    }
}

#[test]
fn psi_is_negative_exactly_beyond_the_threshold_of_its_side() {
    let mut crossed = 0;
    for c in coordinates() {
        for positive in [true, false] {
            let slope = c.slope(positive);
            let side = if positive { -1.0 } else { 1.0 };
            if slope == f64::INFINITY {
                assert_eq!(if positive { c.upper } else { -c.lower }, 0.0, "only a closed side never pulls: {c:?}");
                assert_eq!(c.psi(side * 1e12), 0.0);
                continue;
            }
            assert_eq!(c.threshold(side * (slope + 1.0)), slope);
            // With λ0 = 0 the start is quadratic: a step large enough to be seen in rounding.
            assert!(c.psi(side * (slope + 1e-4)) < 0.0, "{c:?} {positive}");
            assert_eq!(c.psi(side * (slope - 1e-6).max(0.0)).min(0.0), 0.0, "{c:?} {positive}");
            crossed += 1;
        }
    }
    assert!(crossed > 300, "{crossed}");
}

/// ρ*(t) = sup_b { tb − π(b) } on a grid, for t on a grid; then ρ = ρ**.
#[test]
fn envelope_is_the_biconjugate_and_psi_its_conjugate() {
    for c in coordinates().into_iter().step_by(5 / share(5)) {
        let far = 6.0;
        let open = is_open(c);
        let conjugate = |t: f64| -minimum(c, far, (0.0, t), pi).0;
        // Subgradients on [−far, far] are at most this steep; λ0 over the shortest reach dominates.
        let steep = [c.slope(true), c.slope(false)].into_iter().filter(|s| s.is_finite()).fold(0.0, f64::max);
        let steep = steep + 2.0 * c.l2 * far + 1.0;
        let table: Vec<(f64, f64)> =
            (-600..=600).map(|k| f64::from(k) / 600.0 * steep).map(|t| (t, conjugate(t))).collect();
        for b in [-3.0, -1.0, -0.6, -0.3, -0.1, -0.04, -0.01, 0.0, 0.01, 0.02, 0.1, 0.5, 1.0, 1.4, 3.5] {
            if b < c.lower || b > c.upper {
                assert_eq!(c.envelope(b), f64::INFINITY);
                continue;
            }
            let biconjugate = table.iter().map(|(t, v)| t * b - v).fold(f64::NEG_INFINITY, f64::max);
            // Cut at `far` the penalty of an open coordinate still has an envelope a little above λ1|b|.
            let cut = if open { c.l0 * b.abs() / far } else { 0.0 };
            let mesh = 2.0 * steep / 600.0 * b.abs();
            let envelope = c.envelope(b);
            assert!(envelope >= biconjugate - cut - 1e-9, "{c:?} {b}: {envelope} < {biconjugate}");
            assert!(envelope <= biconjugate + mesh + 1e-9, "{c:?} {b}: {envelope} > {biconjugate}");
            assert!(envelope <= pi(c, b) + 1e-14, "below the penalty: {c:?} {b}");
        }
        if !open {
            for tau in TAUS {
                // Ψ(τ) = −ρ*(−τ), with the sup taken over the envelope this time.
                let (least, _) = minimum(c, 40.0, (0.0, -tau), envelope);
                assert_close(c.psi(tau), least, 1e-9, &(c, tau));
            }
        }
    }
}

#[test]
fn envelope_is_linear_to_the_knee_and_the_penalty_beyond() {
    for c in coordinates() {
        for positive in [true, false] {
            let (knee, slope) = (c.knee(positive), c.slope(positive));
            let reach = if positive { c.upper } else { -c.lower };
            let sign = if positive { 1.0 } else { -1.0 };
            assert!(knee <= reach, "{c:?}");
            for share in [0.1, 0.5, 0.9, 1.0] {
                let m = share * knee;
                if m > 0.0 && m.is_finite() {
                    assert_close(c.envelope(sign * m), slope * m, 1e-13 * slope * m, &(c, share));
                    let meets = pi(c, sign * m) - c.envelope(sign * m);
                    assert!(if share == 1.0 { meets.abs() < 1e-13 } else { meets > 0.0 }, "{c:?} {share}: {meets}");
                }
            }
            for m in [1.001 * knee, knee + 0.01, knee + 1.0] {
                if m <= reach && m.is_finite() && m > 0.0 {
                    assert_close(c.envelope(sign * m), pi(c, sign * m), 1e-13 * pi(c, m).max(1.0), &(c, m));
                }
            }
        }
    }
}

#[test]
fn prox_steps_are_minimisers() {
    let mut moved = [0; 3];
    for c in coordinates() {
        for curvature in [0.0, 0.4, 2.0, 50.0] {
            for q in TAUS {
                if curvature == 0.0 && is_open(c) {
                    continue;
                }
                let check = |b: f64, part: fn(Coordinate, f64) -> f64, name: &str| {
                    assert!(b == 0.0 || (b >= c.lower && b <= c.upper), "{name} {c:?} {curvature} {q}: {b}");
                    let (least, at) = minimum(c, 100.0, (curvature, q), part);
                    let found = (0.5 * curvature * b - q) * b + part(c, b);
                    assert!(found <= least + 1e-9, "{name} {c:?} {curvature} {q}: {b} ({found}), {at} ({least})");
                    assert!(found >= least - 1e-6, "the brute force is no brute force: {name} {c:?} {curvature} {q}");
                    usize::from(b != 0.0)
                };
                moved[0] += check(c.prox_envelope(curvature, q), envelope, "prox_envelope");
                moved[1] += check(c.threshold_operator(curvature, q), pi, "threshold_operator");
                moved[2] += check(c.prox_selected(curvature, q), smooth, "prox_selected");
            }
        }
    }
    assert!(moved.iter().all(|&m| m > 2000), "{moved:?}");
}

#[test]
fn envelope_violation_is_the_distance_to_the_subgradient() {
    let mut zero = 0;
    for c in coordinates() {
        let points = [0.0, 0.01, -0.01, 0.05, -0.05, 0.2, -0.2, 0.7, -0.4, 1.5, -2.0, 4.0, c.lower, c.upper];
        for b in points.into_iter().filter(|b| b.is_finite() && *b >= c.lower && *b <= c.upper) {
            // One-sided difference quotients; beyond a bound the subgradient has no end.
            let quotient = |h: f64| {
                let at = c.envelope(b + h);
                if at.is_finite() { (at - c.envelope(b)) / h } else { h.signum() * f64::INFINITY }
            };
            let (h, knees) = (1e-7, [c.knee(true), -c.knee(false)]);
            let near_knee = knees.iter().any(|k| *k != 0.0 && (b - k).abs() < 1e-5);
            let (left, right) = (quotient(-h), quotient(h));
            for gradient in TAUS {
                let pull = -gradient;
                let distance = (pull - right).max(left - pull).max(0.0);
                let tolerance = if near_knee { 1e-4 } else { 1e-5 } * (1.0 + c.l2);
                assert_close(c.envelope_violation(b, gradient), distance, tolerance, &(c, b, gradient, left, right));
            }
            // Zero exactly at the minimisers of gb + ρ.
            for gradient in TAUS {
                if is_open(c) {
                    continue;
                }
                let (least, _) = minimum(c, 40.0, (0.0, -gradient), envelope);
                let gap = gradient * b + c.envelope(b) - least;
                if c.envelope_violation(b, gradient) == 0.0 {
                    assert!(gap < 1e-9, "{c:?} {b} {gradient}: {gap}");
                    zero += 1;
                }
            }
        }
    }
    assert!(zero > 1000, "{zero}");
}

#[test]
fn pieces_and_slopes_of_the_envelope_are_its_derivatives() {
    let h = 1e-6;
    for c in coordinates() {
        for b in [0.0, 0.012, -0.012, 0.17, -0.17, 0.33, -0.33, 1.2, -2.0, 4.0] {
            let inside = |b: f64| b >= c.lower && b <= c.upper;
            let knees = [c.knee(true), -c.knee(false)];
            if !inside(b) || knees.iter().any(|k| *k != 0.0 && (b - k).abs() < 3.0 * h) {
                continue;
            }
            for (right, step) in [(true, h), (false, -h)] {
                if inside(b + step) {
                    let quotient = (c.envelope(b + step) - c.envelope(b)) / step;
                    assert_close(c.envelope_slope(b, right), quotient, 1e-5 * (1.0 + c.l2), &(c, b, right));
                }
            }
            if b != 0.0 && inside(b - h) && inside(b + h) {
                let (slope, curvature) = c.envelope_piece(b);
                let bend = c.envelope(b + h) - 2.0 * c.envelope(b) + c.envelope(b - h);
                assert_close(slope, (c.envelope(b + h) - c.envelope(b - h)) / (2.0 * h), 1e-6, &(c, b));
                assert_close(curvature, bend / (h * h), 0.02, &(c, b));
            }
        }
        // A closed side has no slope to leave by; the other side of zero may.
        assert_eq!(c.envelope_slope(0.0, true), c.slope(true));
        assert_eq!(c.envelope_slope(0.0, false), -c.slope(false));
    }
}
