//! How many of the weak features a better subset can hold, and the curvature that they need not give therefore.
//!
//! At any α every subset S of a node has P ≥ D + Σ_{j∈S} φ_j⁺. So a subset better than the answers has Σ_{j∈S} r_j ≤ 1 with
//! r_j = φ_j⁺ / (P̂ − D): of those with r_j > ½ at most one, of those with r_j > ⅓ at most two. Below a node it holds as well.
//!
//! Q − diag(d) must be semidefinite then for such subsets only, not for all members at once. With the pooled members W apart from
//! the givers G and takers T of [`crate::exact::diagonal`], K = I + X_G diag(1/g) X_Gᵀ, S = X_TᵀK⁻¹X_T and R = S − diag(d_T) ≻ 0, it is
//! for G, T and a part J of W when X_JᵀHX_J + diag(g_J) ⪰ 0, H = K⁻¹ − K⁻¹X_T R⁻¹ X_TᵀK⁻¹. As K⁻¹ ⪰ K⁻¹X_T S⁻¹ X_TᵀK⁻¹ and, where
//! Σ r_j ≤ 1, (Σ_J v_j)² ≤ Σ_J v_j² / r_j, each j ∈ W has to give no more than
//!
//!   g_j = u_jᵀ(R⁻¹ − S⁻¹)u_j / r_j,   u_j = X_TᵀK⁻¹x_j,
//!
//! whatever the number of the others. They stay at zero in the relaxation, which is convex without them; D′ has their Ψ′.

use crate::exact::node::Choice;
use crate::exact::relax::{Ground, Relaxed};
use crate::exact::split;
use crate::exact::split::Split;
use crate::penalty::Coordinate;
use crate::problem::screening::MARGIN;
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par};

/// Least share with which a member is pooled.
const LEAST_SHARE: f64 = 0.125;

/// The fewest members among which some are pooled. The tests of this crate's inside, whose problems are small, pool in every node.
pub const LEAST_POOLED: usize = if cfg!(test) { 0 } else { 1000 };

/// Steps of the search for a share.
const HALVINGS: usize = 12;

/// Room for rounding in Σ r_j ≤ 1.
pub const SPENT: f64 = 1e-9;

impl Relaxed {
    /// Σ r_j of the members that are in.
    pub(super) fn spent(&self) -> f64 {
        self.share.iter().zip(&self.choices).filter(|p| *p.1 == Choice::In).map(|p| p.0).sum()
    }
}

impl Ground<'_, '_, '_> {
    /// r_j of the members at zero that are free and have one worth pooling, zero for the others; `best` is P̂.
    pub(super) fn shares(&self, now: &Relaxed, best: f64) -> Vec<f64> {
        let mut shares = vec![0.0; now.members.len()];
        let gap = best - now.dual + MARGIN * (best.abs() + now.dual.abs());
        if !(gap > 0.0 && gap.is_finite()) {
            return shares;
        }
        let may = |a: &usize| now.choices[*a] == Choice::Free && now.beta[*a] == 0.0;
        let free: Vec<usize> = (0..now.members.len()).filter(may).collect();
        let coordinates: Vec<Coordinate> = free.iter().map(|&a| self.coordinate(now, a)).collect();
        let tau: Vec<f64> = free.iter().map(|&a| now.tau[a]).collect();
        let features: Vec<usize> = free.iter().map(|&a| self.near.active.features()[now.members[a]]).collect();
        let outer = self.problem().outer_correlations(&now.alpha, &features, &tau, |e| coordinates[e]);
        for (e, &a) in free.iter().enumerate() {
            shares[a] = share(coordinates[e], outer[e], now.spare[a], gap);
        }
        shares
    }

    /// The free members with a share whose correlation can be beyond a threshold.
    pub(super) fn shared(&self, now: &Relaxed) -> impl Iterator<Item = usize> {
        let pulled = |a: &usize| now.tau[*a].abs() > self.near.coordinates[now.members[*a]].l1;
        (0..now.share.len()).filter(|&a| now.share[a] > 0.0 && now.choices[a] == Choice::Free).filter(pulled)
    }

    /// u_jᵀ(R⁻¹ − S⁻¹)u_j of the pooled members, from above: `inverse` is R⁻¹ and `whole` S⁻¹, each of a matrix moved to the safe side
    /// by more than its rounding, `lengths` are those of the columns as stored, and `noise` is what rounding can have done to an entry
    /// of u for columns of length one.
    pub(super) fn pull(
        &self,
        split: &Split,
        pooled: &[usize],
        lengths: &[f64],
        inverse: &Mat<f64>,
        whole: &Mat<f64>,
        noise: f64,
    ) -> Vec<f64> {
        let Some(residuals) = &split.residuals else { return vec![f64::INFINITY; pooled.len()] };
        let (weights, intercept) = (self.problem().weights(), self.problem().has_intercept());
        let columns = split::whitened(&self.near.active, pooled, weights, intercept);
        let t = residuals.ncols();
        let mut u = Mat::zeros(t, pooled.len());
        matmul(u.as_mut(), Accum::Replace, residuals.transpose(), columns.as_ref(), 1.0, Par::Seq);
        let between = Mat::from_fn(t, t, |a, b| inverse[(a, b)] - whole[(a, b)]);
        let mut answered = Mat::zeros(t, pooled.len());
        matmul(answered.as_mut(), Accum::Replace, between.as_ref(), u.as_ref(), 1.0, Par::Seq);
        let trace: f64 = (0..t).map(|a| inverse[(a, a)] + whole[(a, a)]).sum();
        let size: f64 = (0..t).map(|a| split.rest[(a, a)]).sum();
        // Inverses carry a relative rounding of their condition, here from above.
        let lost = 16.0 * f64::EPSILON * t as f64 * (1.0 + trace * size) * trace;
        let one = |e: usize| {
            let (u, answered) = (u.col_as_slice(e), answered.col_as_slice(e));
            let square: f64 = u.iter().map(|x| x * x).sum();
            let (noise, sum) = (noise * lengths[e], answered.iter().map(|x| x.abs()).sum::<f64>());
            let value: f64 = u.iter().zip(answered).map(|(u, a)| u * a).sum();
            value.max(0.0) * (1.0 + 1e-9) + lost * square + 2.0 * noise * sum + trace * t as f64 * noise * noise
        };
        (0..pooled.len()).map(one).collect()
    }
}

/// The largest r ≤ 1 with φ(λ2 + r s/2) ≥ r (P̂ − D), a little less, where φ ≥ 0 without s; zero if that is below
/// [`LEAST_SHARE`]. Of the curvature s left along each member alone, all of a subset together have what one has.
fn share(coordinate: Coordinate, tau: f64, spare: f64, gap: f64) -> f64 {
    let rise = |r: f64| coordinate.curved(r * spare).phi(tau) - gap * r;
    if rise(0.0) < 0.0 || rise(LEAST_SHARE) < 0.0 {
        return 0.0;
    }
    let (mut low, mut high) = (LEAST_SHARE, 1.0);
    for _ in 0..HALVINGS {
        let middle = 0.5 * (low + high);
        if rise(middle) >= 0.0 { low = middle } else { high = middle }
    }
    (1.0 - MARGIN) * low
}

#[cfg(test)]
mod tests {
    use crate::control::Monitor;
    use crate::design::{ColumnSubset, Dense};
    use crate::exact::budget::{HALVINGS, LEAST_SHARE, Relaxed, share};
    use crate::exact::diagonal::tests::make;
    use crate::exact::far::tests::numbers;
    use crate::exact::node::Choice;
    use crate::exact::{Seed, Tree};
    use crate::relaxation::workspace::Workspace;
    use crate::solver::incremental;
    use crate::{Bounds, Method, Options, Penalty, solve};
    use faer::linalg::solvers::Llt;
    use faer::{Mat, Side};

    /// φ at r s pays for r of the gap, and at a little more it does not.
    #[test]
    fn a_share_is_the_largest_that_its_own_part_of_the_spare_pays_for() {
        let (lambda0, lambda1, lambda2, mut inside) = (0.3, 0.1, 0.2, 0);
        let coordinate = Penalty::new(lambda0, lambda1, lambda2).at(0);
        let phi = |tau: f64, s: f64| lambda0 - (tau - lambda1).max(0.0).powi(2) / (4.0 * lambda2 + 2.0 * s);
        for k in 0..2000 {
            let (tau, s, gap) = (0.03 * (k % 20) as f64, 0.2 * (k / 20 % 10) as f64, 0.1 + 0.2 * (k / 200) as f64);
            let r = share(coordinate, tau, s, gap);
            let pays = |r: f64| phi(tau, 0.0) >= 0.0 && phi(tau, r * s) >= r * gap;
            match r {
                0.0 => assert!(!pays(LEAST_SHARE * (1.0 + 1e-9)), "{tau} {s} {gap}"),
                _ => assert!(r <= 1.0 && pays(r), "{tau} {s} {gap}: {r}"),
            }
            let further = r + 1.0 / f64::from(1 << (HALVINGS - 1));
            assert!(r == 0.0 || further >= 1.0 || !pays(further), "{tau} {s} {gap}: {r}");
            inside += usize::from(r > LEAST_SHARE && r < 0.99 && s > 0.0);
        }
        assert!(inside > 300, "{inside}");
    }

    /// In nodes of random decisions and for answers of different quality: no subset better than P̂ spends more than the budget,
    /// Q − diag(d) has no negative eigenvalue on what the budget allows, and D′ is above no better subset. No rule decides against
    /// such a subset, and none that decisions lead to is given up for what its features spend.
    #[test]
    fn better_subsets_keep_to_the_budget_and_above_the_bound() {
        let (mut pools, mut pooled, mut strict, mut spending) = (0, 0, 0, 0);
        for trial in 0..180u64 {
            let mut draw = numbers(trial + 1000);
            let (n, p, intercept) = (5 + trial as usize % 12, 8, trial % 4 < 2);
            let near = [1.0, 0.4, 0.1][trial as usize % 3];
            let common: Vec<f64> = (0..n).map(|_| draw()).collect();
            let mut x: Vec<f64> = (0..n * p).map(|i| common[i % n] + near * draw()).collect();
            if trial % 7 == 1 {
                x.copy_within(..n, n);
            }
            let y: Vec<f64> = (0..n).map(|i| x[i] - x[3 * n + i] + 0.7 * x[5 * n + i] + 0.5 * draw()).collect();
            let w: Vec<f64> = (0..n).map(|i| if trial % 2 == 0 { 1.0 } else { (i % 3) as f64 }).collect();
            let bounds = if trial % 4 == 3 { Bounds::All(-0.8, 1.1) } else { Bounds::Free };
            let penalty = Penalty::new([0.3, 0.1][trial as usize % 2], 0.1, 0.3).with_bounds(bounds);
            let design = Dense::new(n, p, x).unwrap();
            let problem = make(&design, &y, &w, penalty.clone(), intercept);
            let fit = |mask: usize| {
                let columns: Vec<usize> = (0..p).filter(|j| mask >> j & 1 == 1).collect();
                let prices = penalty.lambda0 * columns.len() as f64;
                if columns.is_empty() {
                    let zero = vec![0.0; n];
                    return problem.loss_sum(&zero, problem.best_intercept(&zero, 0.0));
                }
                let part = ColumnSubset::new(&design, columns).unwrap();
                let fitted = make(&part, &y, &w, Penalty { lambda0: 0.0, ..penalty.clone() }, intercept);
                prices + solve(&fitted, &Options::default()).unwrap().objective()
            };
            let costs: Vec<f64> = (0..1 << p).map(fit).collect();
            let least = costs.iter().copied().fold(f64::INFINITY, f64::min);
            let best = least * (1.0 + [1e-9, 0.05, 0.3][trial as usize / 3 % 3]) + 1e-9;
            let (options, mut observer) = (Options { top: 1000, method: Method::Exact, ..Options::default() }, ());
            let mut monitor = Monitor::new(&options, &mut observer);
            let root = incremental::root(&mut Workspace::new(&problem), &options, &mut monitor);
            let mut tree = Tree::plant(&problem, None, &options, Seed { root, multiplier: 0.0 }, 4000);
            let (node, limits, ground) = (tree.open.pop().unwrap(), monitor.limits().clone(), tree.ground());
            let mut now = ground.relax(ground.start(&node), f64::MAX, 1e-10, &limits);
            for depth in 0..5 {
                let guide = if trial % 3 == 0 { now.clone() } else { ground.unmoved(&now, &limits) };
                let moved =
                    depth != 2 && ground.move_curvature(&mut now, &guide, best, depth != trial as usize % 2, &limits);
                if moved {
                    now = ground.relax(now, f64::MAX, 1e-10, &limits);
                }
                let shared = now.share.iter().filter(|r| **r > 0.0).count();
                (pools, pooled) = (pools + usize::from(shared > 0), pooled + shared);
                let feature = |a: usize| ground.near.active.features()[now.members[a]];
                let holds = |now: &Relaxed, mask: usize| {
                    let place = |j: usize| now.members.iter().position(|&k| ground.near.active.features()[k] == j);
                    (0..p).all(|j| match place(j).map(|a| now.choices[a]) {
                        None => mask >> j & 1 == 0,
                        Some(Choice::In) => mask >> j & 1 == 1,
                        _ => true,
                    })
                };
                let allowed = |mask: &usize| holds(&now, *mask);
                let mut decided = now.clone();
                ground.decide(&mut decided, best);
                let better: Vec<usize> = (0..1usize << p).filter(allowed).filter(|&m| costs[m] < best).collect();
                assert!(better.iter().all(|&m| holds(&decided, m)), "decided against: {trial}, {depth}");
                let spent = |mask: usize| -> f64 {
                    (0..now.members.len()).filter(|&a| mask >> feature(a) & 1 == 1).map(|a| now.share[a]).sum()
                };
                let q = ground.inner_products(&now.members);
                for mask in (0..1usize << p).filter(allowed) {
                    let context = format!("{trial}, {depth}, {mask:b}: {:?} {:?}", now.share, now.moved);
                    if costs[mask] < best {
                        assert!(spent(mask) <= 1.0 + 1e-7, "over budget: {context}");
                        assert!(now.dual <= costs[mask] + 1e-9 * (1.0 + least), "{} above: {context}", now.dual);
                    }
                    if spent(mask) > 1.0 {
                        strict += 1;
                        continue;
                    }
                    let part = (0..now.members.len()).filter(|&a| now.share[a] == 0.0 || mask >> feature(a) & 1 == 1);
                    let part: Vec<usize> = part.collect();
                    let room = |a: usize| 1e-10 * (q.at(a, a) + now.moved[a].abs() + 1e-3);
                    let left = Mat::from_fn(part.len(), part.len(), |e, f| {
                        let (a, b) = (part[e], part[f]);
                        q.at(a, b) - if a == b { now.moved[a] - room(a) } else { 0.0 }
                    });
                    assert!(Llt::new(left.as_ref(), Side::Lower).is_ok(), "not convex: {context}");
                }
                // Towards a better subset, if there is one, by what it spends first.
                let free = (0..now.members.len()).filter(|&a| now.choices[a] == Choice::Free);
                let goal = better.iter().copied().max_by(|&x, &y| spent(x).total_cmp(&spent(y)));
                let mut is_in = |a: usize| goal.map_or(draw() > 0.0, |m| m >> feature(a) & 1 == 1);
                let spends = |a: &usize| now.share[*a] > 0.0 && goal.is_some_and(|m| m >> feature(*a) & 1 == 1);
                let Some(a) = free.clone().find(spends).or_else(|| ground.branch(&now)) else { break };
                let choice = if is_in(a) { Choice::In } else { Choice::Out };
                spending += usize::from(now.share[a] > 0.0 && choice == Choice::In);
                now.choices[a] = choice;
                now.drop_out();
                now = ground.relax(now, f64::MAX, 1e-10, &limits);
                if now.bound == f64::INFINITY {
                    assert!(goal.is_none(), "given up: {trial}, {depth}");
                    break;
                }
            }
        }
        assert!(pools > 100 && pooled > 200 && strict > 1000 && spending > 20, "{pools} {pooled} {strict} {spending}");
    }
}
