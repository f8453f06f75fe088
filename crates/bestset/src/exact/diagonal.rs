//! Curvature moved between the squared loss and the penalty, so that the envelope of the penalty is tighter where it matters.
//!
//! With Q the matrix of inner products of a node's members and d such that Q − diag(d) is positive semidefinite and
//! λ2 + d_j/2 ≥ 0,
//!
//!   ½‖y − Xβ‖² + Σ π_j(β_j)  =  { ½‖y − Xβ‖² − ½ Σ d_j β_j² }  +  Σ { π_j(β_j) + ½ d_j β_j² },
//!
//! the first part is convex and the second has the ridge λ2 + d_j/2: the more of it, the closer its envelope. From α = Xβ − y,
//!
//!   D′ = −Σ ℓ*(α_i) + ½ Σ d_j β_j² + Σ Ψ′_j(x_jᵀα − d_j β_j)
//!
//! bounds P on every subset of the node and of the nodes below it, and the optimality rules hold with φ′_j. Along d_j the
//! bound changes by w_j = ½ |β_j| (knee_j − |β_j|) for a fractional coefficient and not at all for one at zero whose
//! |x_jᵀα| is below its threshold, or beyond its knee, or in the model. So those give what they can spare (d_j < 0), and the
//! fractional ones take what maximises Σ w_j d_j ([`crate::exact::barrier`]).
//!
//! The loss is quadratic: P exceeds the terms of D′ by ½ ΔᵀMΔ ≥ ½ s_j Δ_j² where Δ is the distance from β, M = Q − diag(d) and
//! s_j ≤ 1/(M⁻¹)_jj. So the subsets with j, where β_j = 0, have P ≥ D′ − Ψ′_j + φ″_j with λ2 + (d_j + s_j)/2 in φ″, and those
//! without it have P ≥ D′ − Ψ′_j + ½ s_j β_j². For one feature at a time a giver so has back what it gave.

use crate::control::Limits;
use crate::exact::barrier::largest_diagonal;
use crate::exact::node::{Choice, Moved};
use crate::exact::relax::{Ground, PAIR, Relaxed};
use crate::exact::split;
use crate::exact::split::Split;
use faer::linalg::matmul::matmul;
use faer::linalg::solvers::{DenseSolveCore, Llt};
use faer::{Accum, Mat, Par, Side};
use std::sync::Arc;

/// Share of what they could take that the takers do where members are pooled, which have to give the less the more is left, at the
/// first trial and at those that follow.
const POOLED: [f64; 4] = [0.8, 0.8, 0.6, 0.3];

/// Share of the curvature left along one coefficient that is relied on, for the rounding of the inverse it comes from; none where
/// the inverse is larger than the second, relative to the columns.
const SURE: f64 = 0.98;
const WORST: f64 = 1e5;

/// Share of its distance from the threshold that a coefficient at zero keeps.
const KEPT: f64 = 0.2;

/// Share of its own ridge that a giver keeps.
const LEAST: f64 = 0.1;

impl Ground<'_, '_, '_> {
    /// Moves as much curvature as pays for the fractional coefficients of `guide`, the same members with other curvature moved or none;
    /// whether any was. With a pool, those that a subset better than `best` cannot hold many of give only what [`crate::exact::budget`] asks
    /// of them.
    pub fn move_curvature(&self, now: &mut Relaxed, guide: &Relaxed, best: f64, pool: bool, limits: &Limits) -> bool {
        let weight = |a: usize| {
            let (c, b) = (self.coordinate(guide, a), guide.beta[a]);
            let fractional = now.choices[a] == Choice::Free && c.fraction(b) < 1.0;
            if fractional { 0.5 * b.abs() * (c.knee(b > 0.0) - b.abs()) } else { 0.0 }
        };
        let weights: Vec<f64> = (0..now.beta.len()).map(weight).collect();
        if weights.iter().all(|w| *w <= 0.0) || !self.problem().loss().is_quadratic() {
            return false;
        }
        let none = vec![0.0; weights.len()];
        if pool {
            let mut shares = self.shares(now, best);
            // A taker is not kept at zero.
            shares.iter_mut().zip(&weights).filter(|p| *p.1 > 0.0).for_each(|(share, _)| *share = 0.0);
            for share_taken in POOLED {
                match self.move_with(now, guide, &weights, &shares, share_taken, limits) {
                    Ok(done) => return done,
                    // What would have to give more than it can gives as the others do.
                    Err(poor) => poor.into_iter().for_each(|a| shares[a] = 0.0),
                }
            }
        }
        self.move_with(now, guide, &weights, &none, 1.0, limits).unwrap_or(false)
    }

    /// The same with the pooled members known, those with a share; the ones among them that cannot give what they have to, if any.
    fn move_with(
        &self,
        now: &mut Relaxed,
        guide: &Relaxed,
        weights: &[f64],
        shares: &[f64],
        share_taken: f64,
        limits: &Limits,
    ) -> Result<bool, Vec<usize>> {
        let apart = |a: usize| shares[a] > 0.0;
        let takers: Vec<usize> = (0..weights.len()).filter(|&a| weights[a] > 0.0).collect();
        let givers: Vec<usize> = (0..weights.len()).filter(|&a| weights[a] <= 0.0 && !apart(a)).collect();
        let pooled: Vec<usize> = (0..weights.len()).filter(|&a| apart(a)).collect();
        let share_taken = if pooled.is_empty() { 1.0 } else { share_taken };
        let gifts: Vec<f64> = givers.iter().map(|&a| self.gift(guide, a)).collect();
        // Q carries the rounding of its sums and its factorisation that of its own: what is given and taken is believed only if
        // it holds with that much less given and more taken.
        let (m, n) = ((givers.len() + takers.len()) as f64, self.problem().nrows() as f64);
        let margin = 8.0 * f64::EPSILON * m * (m + n) + 1e-12;
        let sure: Vec<f64> = givers.iter().zip(&gifts).map(|(&a, gift)| gift - margin * self.square(now, a)).collect();
        let order: Vec<usize> = givers.iter().chain(&takers).map(|&a| now.members[a]).collect();
        let Some(mut split) = self.split(&order, &sure, margin, limits) else { return Ok(false) };
        let wanted: Vec<f64> = takers.iter().map(|&a| weights[a]).collect();
        let before: Vec<f64> = takers.iter().map(|&a| now.moved[a]).collect();
        let stop = || limits.stop(0).is_some();
        let d: Vec<f64> =
            largest_diagonal(&split.rest, &wanted, &before, stop).iter().map(|d| share_taken * d).collect();
        let squares: Vec<f64> = takers.iter().map(|&a| self.square(now, a)).collect();
        let longest = squares.iter().copied().fold(0.0, f64::max);
        let unsure = |a: usize| split.rounding * longest + margin * squares[a];
        let near = |move_by: &dyn Fn(usize) -> f64| {
            let matrix =
                Mat::from_fn(d.len(), d.len(), |a, b| split.rest[(a, b)] + if a == b { move_by(a) } else { 0.0 });
            Some(Llt::new(matrix.as_ref(), Side::Lower).ok()?.inverse())
        };
        let Some(inverse) = near(&|a| -d[a] - unsure(a)) else { return Ok(false) };
        let (mut taken, mut given) = (vec![0.0; takers.len()], vec![0.0; givers.len()]);
        if pooled.is_empty() {
            (taken, given) = spare(&inverse, &split.answers, &sure, &squares);
        } else {
            let Some(whole) = near(&|a| unsure(a)) else { return Ok(false) };
            if split.residuals.is_none() {
                let (weights, intercept) = (self.problem().weights(), self.problem().has_intercept());
                split = split.with_residuals(&split::whitened(&self.near.active, &order, weights, intercept));
            }
            // What rounding does to the givers' answers is the larger the less they give.
            let least = givers.iter().zip(&sure).map(|(&a, gift)| gift.max(0.0) / self.square(now, a));
            let frail = 1.0 / least.fold(1.0, f64::min).sqrt();
            let noise = 2.0 * frail * (split.rounding + margin) * longest.sqrt();
            if !self.fits(8.0 * pooled.len() as f64 * (self.problem().nrows() + 3 * takers.len()) as f64) {
                return Ok(false);
            }
            let positions: Vec<usize> = pooled.iter().map(|&a| now.members[a]).collect();
            let lengths: Vec<f64> = pooled.iter().map(|&a| self.square(now, a).sqrt()).collect();
            let pulls = self.pull(&split, &positions, &lengths, &inverse, &whole, noise);
            let needs: Vec<f64> = pooled.iter().zip(&pulls).map(|(&a, pull)| pull / shares[a]).collect();
            let can = |e: &usize| needs[*e] <= self.gift(guide, pooled[*e]);
            let poor: Vec<usize> = (0..pooled.len()).filter(|e| !can(e)).map(|e| pooled[e]).collect();
            if !poor.is_empty() {
                return Err(poor);
            }
            pooled.iter().zip(&needs).for_each(|(&a, need)| (now.moved[a], now.spare[a]) = (-need, 0.0));
        }
        for (e, &a) in takers.iter().enumerate() {
            (now.moved[a], now.spare[a]) = (d[e], taken[e]);
        }
        for (e, &a) in givers.iter().enumerate() {
            (now.moved[a], now.spare[a]) = (-gifts[e], given[e]);
        }
        now.share.copy_from_slice(shares);
        let listed = |a: usize| (now.members[a] as u32, now.moved[a], now.spare[a], now.share[a]);
        let by_position = (0..now.members.len()).map(listed).collect();
        let inside = now.choices.iter().filter(|c| **c == Choice::In).count();
        now.inherited = Some(Arc::new(Moved { by_position, members: now.members.len(), inside }));
        Ok(true)
    }

    /// What is left for the takers, the last of the positions, after the first have given.
    fn split(&self, order: &[usize], gifts: &[f64], margin: f64, limits: &Limits) -> Option<Split> {
        let (n, m, takers) = (self.problem().nrows() as f64, order.len() as f64, (order.len() - gifts.len()) as f64);
        let products = gifts.len() <= self.problem().nrows();
        let pairs = if products { PAIR * m * m } else { 24.0 * (n * (n + m) + takers * m) };
        let work =
            if products { m * m * (m / 3.0 + 0.5 * n) } else { n * n * (0.5 * m + n / 3.0) + n * takers * (n + m) };
        if !self.fits(pairs) || !limits.has_time_for(work) {
            return None;
        }
        if products {
            return Split::of_products(&self.inner_products(order), gifts, margin);
        }
        let (weights, intercept) = (self.problem().weights(), self.problem().has_intercept());
        Split::of_columns(split::whitened(&self.near.active, order, weights, intercept), gifts)
    }

    /// Square of the length of a column as stored, which a view's shift may cancel: rounding in Q is relative to it.
    pub(super) fn square(&self, now: &Relaxed, a: usize) -> f64 {
        let (problem, j) = (self.problem(), self.near.active.features()[now.members[a]]);
        let total = problem.weights().map_or(problem.nrows() as f64, crate::kernel::sum);
        (problem.squares(j).sqrt() + problem.design().offset(j) * total.sqrt()).powi(2)
    }

    /// The curvature that a coefficient can spare: its ridge may fall to the value at which it would begin to be charged.
    fn gift(&self, now: &Relaxed, a: usize) -> f64 {
        let own = self.near.coordinates[now.members[a]].priced(now.multiplier);
        let (b, tau) = (now.beta[a], now.tau[a].abs());
        let needed = match now.choices[a] {
            Choice::In => 0.0,
            _ if b != 0.0 => 1.1 * own.l0 / (b * b),
            _ => {
                let threshold = tau + KEPT * (own.threshold(now.tau[a]) - tau).max(0.0);
                (threshold - own.l1).max(0.0).powi(2) / (4.0 * own.l0)
            }
        };
        // A little from everyone keeps Q regular.
        (2.0 * (own.l2 - needed.max(LEAST * own.l2))).max(0.02 * own.l2)
    }

    /// ½ Σ d_j β_j², and what rounding in d_j β_j can have added to the bound: Ψ′ changes by at most the coefficient it asks
    /// for, which is not far from β.
    pub(super) fn moved_back(&self, now: &Relaxed) -> (f64, f64) {
        let (mut sum, mut size, mut lost) = (0.0, 0.0, 0.0);
        for a in (0..now.beta.len()).filter(|&a| now.moved[a] != 0.0 && now.beta[a] != 0.0) {
            let (d, b) = (now.moved[a], now.beta[a]);
            let asked = self.coordinate(now, a).selected().link(now.tau[a]).abs();
            sum += 0.5 * d * b * b;
            size += 0.5 * d.abs() * b * b;
            lost += 4.0 * f64::EPSILON * d.abs() * b.abs() * (2.0 * asked + b.abs());
        }
        (sum, lost + f64::EPSILON * (now.beta.len() + 4) as f64 * size)
    }
}

/// For each taker and each giver an s with M − s e_jeⱼᵀ ⪰ 0, where M = Q − diag(d): at most 1/(M⁻¹)_jj. `inverse` is that of the
/// takers' rest; a giver's part of M⁻¹ is (A⁻¹)_jj + u_jᵀ inverse u_j with A⁻¹ ⪯ diag(1/gifts) and u_j its answers.
fn spare(inverse: &Mat<f64>, answers: &Mat<f64>, gifts: &[f64], squares: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let (takers, givers) = (squares.len(), gifts.len());
    let condition: f64 = (0..takers).map(|a| inverse[(a, a)] * squares[a]).sum();
    if condition.is_nan() || condition > WORST * takers as f64 {
        return (vec![0.0; takers], vec![0.0; givers]);
    }
    let mut weighted = Mat::zeros(givers, takers);
    matmul(weighted.as_mut(), Accum::Replace, answers.as_ref(), inverse.as_ref(), 1.0, Par::Seq);
    let given = |g: usize| {
        let sum: f64 = (0..takers).map(|a| weighted[(g, a)] * answers[(g, a)]).sum();
        // What is sure of a gift may be less than nothing where the ridge is less than the rounding of the column.
        if gifts[g] > 0.0 { SURE / (1.0 / gifts[g] + sum.max(0.0)) } else { 0.0 }
    };
    ((0..takers).map(|a| SURE / inverse[(a, a)]).collect(), (0..givers).map(given).collect())
}

#[cfg(test)]
pub(super) mod tests {
    use crate::control::Monitor;
    use crate::design::{ColumnSubset, Dense, Design};
    use crate::exact::far::tests::numbers;
    use crate::exact::node::Choice;
    use crate::exact::{Ground, Relaxed};
    use crate::exact::{Seed, Tree};
    use crate::relaxation::workspace::Workspace;
    use crate::solver::incremental;
    use crate::{Bounds, Method, Options, Penalty, Problem, solve};
    use faer::linalg::solvers::Llt;
    use faer::{Mat, Side};

    pub(in crate::exact) fn make<'a>(
        x: &'a dyn Design,
        y: &'a [f64],
        w: &'a [f64],
        penalty: Penalty,
        intercept: bool,
    ) -> Problem<'a> {
        Problem::new(x, y, penalty).unwrap().with_weights(w).unwrap().with_intercept(intercept)
    }

    /// Nodes of random decisions in problems of seven features, of any scale and with near copies, curvature moved in the node or above
    /// it, with what every subset costs.
    pub(in crate::exact) fn for_each_node(trials: u64, mut visit: impl FnMut(&Ground<'_, '_, '_>, &Relaxed, &Subsets)) {
        for trial in 0..trials {
            let mut draw = numbers(trial);
            let (n, p) = (4 + trial as usize % 15, 7);
            let scale = |j: usize| if trial % 3 == 0 { 10f64.powi(j as i32 % 5 - 2) } else { 1.0 };
            let near = [1.0, 0.3, 0.05][trial as usize % 3];
            let common: Vec<f64> = (0..n).map(|_| draw()).collect();
            let mut x: Vec<f64> = (0..n * p).map(|i| scale(i / n) * (common[i % n] + near * draw())).collect();
            if trial % 5 == 1 {
                x.copy_within(..n, n);
            }
            let y: Vec<f64> = (0..n).map(|i| 1.0 + (x[i] - x[3 * n + i] / scale(3) + x[5 * n + i]) + draw()).collect();
            let w: Vec<f64> = (0..n).map(|i| if trial % 2 == 0 { 1.0 } else { (i % 4) as f64 }).collect();
            let bounds = if trial % 4 == 3 { Bounds::All(-0.7, 1.1) } else { Bounds::Free };
            let penalty = Penalty::new(0.3, 0.1 * (trial % 2) as f64, 0.2).with_bounds(bounds);
            let penalty = penalty.with_price((0..p).map(|j| 0.5 + (j % 3) as f64).collect());
            let penalty = penalty.with_shrinkage((0..p).map(|j| scale(j).powi(2)).collect());
            let design = Dense::new(n, p, x).unwrap();
            let problem = make(&design, &y, &w, penalty.clone(), trial % 4 < 2);
            let fit = |mask: usize| {
                let columns: Vec<usize> = (0..p).filter(|j| mask >> j & 1 == 1).collect();
                let prices: f64 = columns.iter().map(|&j| penalty.at(j).l0).sum();
                let shrinkage = columns.iter().map(|&j| penalty.shrinkage.at(j)).collect();
                if columns.is_empty() {
                    let zero = vec![0.0; n];
                    return problem.loss_sum(&zero, problem.best_intercept(&zero, 0.0));
                }
                let part = ColumnSubset::new(&design, columns).unwrap();
                let free = Penalty { lambda0: 0.0, price: Default::default(), ..penalty.clone() };
                let fitted = make(&part, &y, &w, free.with_shrinkage(shrinkage), trial % 4 < 2);
                prices + solve(&fitted, &Options::default()).unwrap().objective()
            };
            let costs: Vec<f64> = (0..1 << p).map(fit).collect();
            let (options, mut observer) = (Options { top: 1000, method: Method::Exact, ..Options::default() }, ());
            let mut monitor = Monitor::new(&options, &mut observer);
            let root = incremental::root(&mut Workspace::new(&problem), &options, &mut monitor);
            let mut tree = Tree::plant(&problem, None, &options, Seed { root, multiplier: 0.0 }, 4000);
            let (node, limits, ground) = (tree.open.pop().unwrap(), monitor.limits().clone(), tree.ground());
            let mut now = ground.relax(ground.start(&node), f64::MAX, 1e-10, &limits);
            assert_eq!(now.members, (0..p).collect::<Vec<usize>>(), "with room in the pool nothing is excluded");
            // Positions are features here; one more is decided at each step down.
            for depth in 0..5 {
                let plain = now.dual;
                let guide = if trial % 2 == 0 { now.clone() } else { ground.unmoved(&now, &limits) };
                let is_moved = depth % 2 == 0 && ground.move_curvature(&mut now, &guide, f64::INFINITY, false, &limits);
                if is_moved {
                    now = ground.relax(now, f64::MAX, 1e-10, &limits);
                }
                let feature = |a: usize| ground.near.active.features()[now.members[a]];
                let kinds: Vec<(usize, Choice)> =
                    (0..now.members.len()).map(|a| (feature(a), now.choices[a])).collect();
                let allows = |mask: &usize| {
                    (0..p).all(|j| match kinds.iter().find(|k| k.0 == j).map(|k| k.1) {
                        None => mask >> j & 1 == 0,
                        Some(Choice::In) => mask >> j & 1 == 1,
                        _ => true,
                    })
                };
                let costs = (0..1 << p).filter(allows).map(|mask| (mask, costs[mask])).collect();
                visit(&ground, &now, &Subsets { costs, label: format!("{trial}, {depth}"), is_moved, plain });
                let side = if draw() > 0.0 { Choice::In } else { Choice::Out };
                let Some(a) = ground.branch(&now) else { break };
                now.choices[a] = side;
                now.drop_out();
                now = ground.relax(now, f64::MAX, 1e-10, &limits);
            }
        }
    }

    /// The subsets of a node with what they cost, and how the node came about.
    pub(in crate::exact) struct Subsets {
        costs: Vec<(usize, f64)>,
        pub label: String,
        is_moved: bool,
        plain: f64,
    }

    impl Subsets {
        fn least(&self) -> f64 {
            self.costs.iter().map(|c| c.1).fold(f64::INFINITY, f64::min)
        }

        /// The least of those with the feature, or of those without it.
        pub fn least_on(&self, with: bool, j: usize) -> f64 {
            let sided = self.costs.iter().filter(|c| (c.0 >> j & 1 == 1) == with);
            sided.map(|c| c.1).fold(f64::INFINITY, f64::min)
        }
    }

    /// Q − diag(d) has no negative eigenvalue, and D′ is above no subset of the node.
    #[test]
    fn moved_curvature_leaves_the_loss_convex_and_the_bound_below_every_subset() {
        let (mut moved, mut better, mut alone) = (0, 0, 0);
        for_each_node(60, |ground, now, subsets| {
            (moved, better) = (
                moved + usize::from(subsets.is_moved),
                better + usize::from(subsets.is_moved && now.dual > subsets.plain),
            );
            let (q, m) = (ground.inner_products(&now.members), now.members.len());
            let room = |a: usize| 1e-10 * (ground.square(now, a) + now.moved[a].abs());
            let left = Mat::from_fn(m, m, |a, b| q.at(a, b) - if a == b { now.moved[a] - room(a) } else { 0.0 });
            assert!(Llt::new(left.as_ref(), Side::Lower).is_ok(), "{}: {:?}", subsets.label, now.moved);
            let least = subsets.least();
            assert!(now.dual <= least + 1e-9 * (1.0 + least), "{}: {} above {least}", subsets.label, now.dual);
            alone += check_alone(ground, now, subsets);
        });
        assert!(moved > 60 && 4 * better > 3 * moved && alone > 200, "{better} of {moved}, {alone}");
    }

    /// The bounds for one member alone are above no subset with it and none without it, and M − s e_jeⱼᵀ has no negative eigenvalue;
    /// how many had an s.
    fn check_alone(ground: &Ground<'_, '_, '_>, now: &Relaxed, subsets: &Subsets) -> usize {
        let (q, m) = (ground.inner_products(&now.members), now.members.len());
        let room = |a: usize| 1e-10 * (ground.square(now, a) + now.moved[a].abs());
        for a in 0..m {
            let own = |b: usize| now.moved[b] - room(b) + if a == b { now.spare[a] } else { 0.0 };
            let left = Mat::from_fn(m, m, |b, c| q.at(b, c) - if b == c { own(b) } else { 0.0 });
            assert!(Llt::new(left.as_ref(), Side::Lower).is_ok(), "{a}: {:?} {:?}", now.moved, now.spare);
            if now.choices[a] != Choice::Free {
                continue;
            }
            let (c, b, s) = (ground.coordinate(now, a), now.beta[a], now.spare[a]);
            let j = ground.near.active.features()[now.members[a]];
            let base = now.dual - c.psi(now.tau[a]) - 1e-9 * (1.0 + now.dual.abs());
            assert!(base + 0.5 * s * b * b <= subsets.least_on(false, j), "without {j}");
            if b == 0.0 {
                assert!(base + c.curved(s).phi(now.tau[a]) <= subsets.least_on(true, j), "with {j}");
            }
        }
        now.spare.iter().filter(|s| **s > 0.0).count()
    }
}
