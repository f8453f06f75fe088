//! How many of the weak features a better subset can hold (MATH 11.20, 11.21).
//!
//! At any α every subset S of a node has P ≥ D + Σ_{j∈S∩U} max(0, φ_j). So a subset better than P̂ has Σ_{j∈S∩U} θ_j ≤ 1 with
//! θ_j = max(0, φ_j)/(P̂ − D): of those with θ_j > ½ at most one, of those with θ_j > ⅓ at most two. Below a node it holds as well.
//!
//! M = Q − diag(d) must be semidefinite then for such subsets only, not for all members at once: what that asks of the pooled members is
//! in [`crate::exact::curvature::pool`].

use crate::exact::node::{Choice, NodeContext, NodeRelaxation};
use crate::exact::tuning::Tuning;
use crate::penalty::Coordinate;
use crate::problem::screening::MARGIN;

/// θ_j = max { θ ≤ 1 : φ_j^{+(d_j+θσ_j)}(τ_j) ≥ θ (P̂ − D′) } (MATH 11.21; with σ = 0 the least of one and θ_j of 11.20) of the free members at zero that have one worth
/// pooling, zero for the others; `best` is P̂.
pub fn shares(context: &NodeContext<'_, '_, '_>, node: &NodeRelaxation, best: f64) -> Vec<f64> {
    let members = &node.members;
    let mut shares = vec![0.0; members.len()];
    let gap = best - node.dual + MARGIN * (best.abs() + node.dual.abs());
    if !(gap > 0.0 && gap.is_finite()) {
        return shares;
    }
    let may = |a: &usize| members.choices[*a] == Choice::Free && members.beta[*a] == 0.0;
    let free: Vec<usize> = (0..members.len()).filter(may).collect();
    let coordinates: Vec<Coordinate> = free.iter().map(|&a| context.coordinate(node, a)).collect();
    let tau: Vec<f64> = free.iter().map(|&a| members.tau[a]).collect();
    let features: Vec<usize> = free.iter().map(|&a| context.feature(node, a)).collect();
    let outer = context.bounds.outer_correlations(&node.alpha, &features, &tau, |e| coordinates[e]);
    for (e, &a) in free.iter().enumerate() {
        shares[a] = share(coordinates[e], outer[e], members.spare[a], gap, context.tuning);
    }
    shares
}

/// θ = max { θ ≤ 1 : φ^{+θσ}(τ) ≥ θ (P̂ − D′) } (MATH 11.21), a little less, where φ ≥ 0 without σ; zero if that is below the least
/// share. Of the curvature σ left along each member alone, all of a subset together have what one has.
fn share(coordinate: Coordinate, tau: f64, spare: f64, gap: f64, tuning: &Tuning) -> f64 {
    let rise = |theta: f64| coordinate.curved(theta * spare).phi(tau) - gap * theta;
    if rise(0.0) < 0.0 || rise(tuning.least_share) < 0.0 {
        return 0.0;
    }
    let (mut low, mut high) = (tuning.least_share, 1.0);
    for _ in 0..tuning.share_halvings {
        let middle = 0.5 * (low + high);
        if rise(middle) >= 0.0 { low = middle } else { high = middle }
    }
    (1.0 - MARGIN) * low
}

#[cfg(test)]
mod tests {
    use crate::Penalty;
    use crate::exact::curvature::budget::share;
    use crate::exact::tuning::Tuning;

    /// φ at θσ pays for θ of the gap, and at a little more it does not.
    #[test]
    fn a_share_is_the_largest_that_its_own_part_of_the_spare_pays_for() {
        let (lambda0, lambda1, lambda2, mut inside) = (0.3, 0.1, 0.2, 0);
        let coordinate = Penalty::new(lambda0, lambda1, lambda2).at(0);
        let (tuning, phi) = (Tuning::default(), |tau: f64, s: f64| {
            lambda0 - (tau - lambda1).max(0.0).powi(2) / (4.0 * lambda2 + 2.0 * s)
        });
        for k in 0..2000 {
            let (tau, s, gap) = (0.03 * (k % 20) as f64, 0.2 * (k / 20 % 10) as f64, 0.1 + 0.2 * (k / 200) as f64);
            let theta = share(coordinate, tau, s, gap, &tuning);
            let pays = |theta: f64| phi(tau, 0.0) >= 0.0 && phi(tau, theta * s) >= theta * gap;
            match theta {
                0.0 => assert!(!pays(tuning.least_share * (1.0 + 1e-9)), "{tau} {s} {gap}"),
                _ => assert!(theta <= 1.0 && pays(theta), "{tau} {s} {gap}: {theta}"),
            }
            let further = theta + 1.0 / f64::from(1 << (tuning.share_halvings - 1));
            assert!(theta == 0.0 || further >= 1.0 || !pays(further), "{tau} {s} {gap}: {theta}");
            inside += usize::from(theta > tuning.least_share && theta < 0.99 && s > 0.0);
        }
        assert!(inside > 300, "{inside}");
    }
}
