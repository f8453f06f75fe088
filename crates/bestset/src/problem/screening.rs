//! Three rules with three names, each safe only for what it proves (MATH 5.1–5.5).
//!
//! Comparisons leave room for rounding: a rule fires only beyond a relative margin of [`MARGIN`].

use crate::penalty::Coordinate;

/// Relative room for rounding in every comparison.
pub const MARGIN: f64 = 1e-10;

/// r² = 2 (primal − D(α)) / μ (MATH 5.1): radius of the ball around α that holds the dual optimum (paper Theorem ball).
///
/// `primal` is P(β) for the published rule (MATH 5.3), R(β) for the relaxation rule; an undefined gap bounds nothing.
pub fn radius(primal: f64, dual: f64, mu: f64) -> f64 {
    let gap = primal - dual;
    // max(0, NaN) would be zero, a ball that proves everything; without a μ there is no ball.
    if gap.is_nan() || mu <= 0.0 { f64::INFINITY } else { (2.0 * gap.max(0.0) / mu).sqrt() }
}

/// |x_jᵀα| + ‖x̂_j‖ r < τ₀ (MATH 5.2), for either sign of the coefficient (paper eq. screen_rule).
///
/// With r from R(β): β_j = 0 in every minimiser of the relaxation R. With r from P(β), the published rule, the
/// ball is larger and proves the same. Neither proves that j is outside the best subset.
pub fn zero_in_relaxation(coordinate: Coordinate, tau: f64, length: f64, radius: f64) -> bool {
    // Inside the ball the correlation may have either sign, and the threshold is per side.
    let reach = |positive: bool| if positive { -tau } else { tau } + length * radius;
    let below = |positive: bool| reach(positive) < coordinate.slope(positive) * (1.0 - MARGIN);
    below(true) && below(false)
}

/// D(α) + max(0, φ_j(x_jᵀα)) > P̂ (MATH 5.4): feature j is in no optimal subset. Also with D_k(α) for a limited size.
pub fn in_no_optimal_subset(coordinate: Coordinate, tau: f64, dual: f64, best: f64) -> bool {
    dual + coordinate.phi(tau).max(0.0) > best + MARGIN * (best.abs() + dual.abs())
}

/// D(α) + max(0, −φ_j(x_jᵀα)) > P̂ (MATH 5.5): feature j is in every optimal subset.
///
/// Not with D_k(α): among at most k features another takes the place of the one left out, and the bound without j is
/// D_k − Ψ_j + Ψ_(k+1) (MATH 5.6).
pub fn in_every_optimal_subset(coordinate: Coordinate, tau: f64, dual: f64, best: f64) -> bool {
    dual + (-coordinate.phi(tau)).max(0.0) > best + MARGIN * (best.abs() + dual.abs())
}
