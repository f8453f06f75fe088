//! The relaxation gap, coefficient by coefficient (MATH 4.5).

use crate::penalty::Coordinate;

/// ρ(b) + bτ − Ψ(τ) ≥ 0 (MATH 4.5): the share of one coefficient in the relaxation gap R − D (Fenchel–Young).
///
/// At α = ℓ′(Xβ) the losses cancel and the gap is the sum of these. Where Ψ = −∞ (λ2 = 0 without bounds) the distance from
/// stationarity in the metric of the curvature c takes its place.
#[inline]
pub fn gap_share(coordinate: Coordinate, b: f64, tau: f64, c: f64) -> f64 {
    let psi = coordinate.psi(tau);
    if psi > f64::NEG_INFINITY {
        return (coordinate.envelope(b) + b * tau - psi).max(0.0);
    }
    let excess = tau.abs() - coordinate.slope(tau < 0.0);
    let moved = b - coordinate.prox_envelope(c, c * b - tau);
    excess.max(0.0) * moved.abs() + c * moved * moved
}
