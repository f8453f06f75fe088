//! How many of the weak features a better subset can hold, and the curvature that they need not give therefore (MATH 11.20–11.22).
//!
//! At any α every subset S of a node has P ≥ D + Σ_{j∈S∩U} max(0, φ_j). So a subset better than P̂ has Σ_{j∈S∩U} θ_j ≤ 1 with
//! θ_j = max(0, φ_j)/(P̂ − D): of those with θ_j > ½ at most one, of those with θ_j > ⅓ at most two. Below a node it holds as well.
//!
//! M = Q − diag(d) must be semidefinite then for such subsets only, not for all members at once, and each of the pooled members W has
//! to give no more than (11.22), whatever the number of the others. They stay at zero in the relaxation, which is convex without
//! them; D′ has their Ψ′.

use crate::exact::curvature::split::CurvatureSplit;
use crate::exact::node::{Choice, NodeContext, NodeRelaxation};
use crate::exact::tuning::Tuning;
use crate::penalty::Coordinate;
use crate::problem::screening::MARGIN;
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par};

/// θ_j = max { θ ≤ 1 : φ_j^{+(d_j+θσ_j)}(τ_j) ≥ θ (P̂ − D′) } (MATH 11.20, 11.21) of the free members at zero that have one worth
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

/// The pooled members' columns x̂, and their lengths as stored.
pub struct Pooled {
    /// X̂_W.
    pub columns: Mat<f64>,
    /// The lengths, which rounding is relative to.
    pub lengths: Vec<f64>,
}

/// Inverses of the takers' curvature, each of a matrix moved to the safe side by more than its rounding.
pub struct Inverses {
    /// Π_d⁻¹, of a matrix lowered.
    pub lowered: Mat<f64>,
    /// Π⁻¹, of one raised.
    pub raised: Mat<f64>,
}

/// ζ_jᵀ(Π_d⁻¹ − Π⁻¹)ζ_j with ζ_j = X̂_VᵀC⁻¹x̂_j (MATH 11.14, 11.22), from above. `noise` is what rounding can have done to an entry of ζ_j
/// for columns of length one.
pub fn pull(split: &CurvatureSplit, pooled: &Pooled, inverses: &Inverses, noise: f64) -> Vec<f64> {
    let count = pooled.lengths.len();
    let Some(residuals) = &split.residuals else { return vec![f64::INFINITY; count] };
    let Inverses { lowered, raised } = inverses;
    let takers = residuals.ncols();
    let mut zeta = Mat::zeros(takers, count);
    matmul(zeta.as_mut(), Accum::Replace, residuals.transpose(), pooled.columns.as_ref(), 1.0, Par::Seq);
    let between = Mat::from_fn(takers, takers, |a, b| lowered[(a, b)] - raised[(a, b)]);
    let mut answered = Mat::zeros(takers, count);
    matmul(answered.as_mut(), Accum::Replace, between.as_ref(), zeta.as_ref(), 1.0, Par::Seq);
    let trace: f64 = (0..takers).map(|a| lowered[(a, a)] + raised[(a, a)]).sum();
    let size: f64 = (0..takers).map(|a| split.rest[(a, a)]).sum();
    // Inverses carry a relative rounding of their condition, here from above.
    let lost = 16.0 * f64::EPSILON * takers as f64 * (1.0 + trace * size) * trace;
    let one = |e: usize| {
        let (zeta, answered) = (zeta.col_as_slice(e), answered.col_as_slice(e));
        let square: f64 = zeta.iter().map(|x| x * x).sum();
        let (noise, sum) = (noise * pooled.lengths[e], answered.iter().map(|x| x.abs()).sum::<f64>());
        let value: f64 = zeta.iter().zip(answered).map(|(z, a)| z * a).sum();
        value.max(0.0) * (1.0 + 1e-9) + lost * square + 2.0 * noise * sum + trace * takers as f64 * noise * noise
    };
    (0..count).map(one).collect()
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
