//! Moved curvature against every subset of a node, and against the eigenvalues of what is left of the loss.

use crate::control::Limits;
use crate::design::Dense;
use crate::exact::curvature::{Taker, Worth, move_curvature, taker};
use crate::exact::node::bound::measure;
use crate::exact::node::branch::branch;
use crate::exact::node::decide::decide;
use crate::exact::node::minimise::minimise;
use crate::exact::node::products::{LatestProducts, Products};
use crate::exact::node::relax::relax;
use crate::exact::node::{Choice, NodeContext, NodeRelaxation};
use crate::exact::tests::{NodeSubsets, Small, TIGHT, allows, decided, for_each_node, numbers};
use crate::{Bounds, Loss, Penalty};
use faer::linalg::solvers::Llt;
use faer::{Mat, Side};

/// Q − diag(d) has no negative eigenvalue, and D′ is above no subset of the node.
#[test]
fn moved_curvature_leaves_the_loss_convex_and_the_bound_below_every_subset() {
    let (mut moved, mut better, mut alone) = (0, 0, 0);
    for_each_node(60, |context, node, subsets| {
        moved += usize::from(subsets.is_moved);
        better += usize::from(subsets.is_moved && node.dual > subsets.plain);
        let all: Vec<usize> = (0..node.members.len()).collect();
        let room = |a: usize| context.stored_square(node, a) + node.members.moved[a].abs();
        let label = || format!("{}: {:?}", subsets.label, node.members.moved);
        assert!(is_convex(context, node, &all, |a| node.members.moved[a] - 1e-10 * room(a)), "{}", label());
        let least = subsets.least();
        assert!(node.dual <= least + 1e-9 * (1.0 + least), "{}: {} above {least}", subsets.label, node.dual);
        alone += check_alone(context, node, subsets);
    });
    assert!(moved > 60 && 4 * better > 3 * moved && alone > 200, "{better} of {moved}, {alone}");
}

/// v is the slope of min R′ along d and K how it falls (MATH 11.9), against differences; where no member comes to a threshold or a knee between.
#[test]
fn worth_is_how_the_bound_changes_with_what_is_moved() {
    let (mut slopes, mut falls) = (0, 0);
    for trial in 0..60u64 {
        let mut draw = numbers(trial + 1);
        let small =
            Small { penalty: Penalty::new(0.3, 0.05, 0.2), intercept: true, ..with_common_part(trial, &mut draw) };
        small.on_root(|context, mut node, limits| {
            let tight = |mut node: NodeRelaxation| {
                minimise(context, &mut node, &mut LatestProducts::after(&Products::default()), 1e-13, limits);
                measure(context, &mut node);
                node
            };
            for _ in 0..2 {
                move_curvature(context, &mut node, None, limits);
                node = tight(node);
            }
            let takers = |node: &NodeRelaxation| -> Vec<(usize, Taker)> {
                (0..node.members.len()).filter_map(|a| Some((a, taker(context, node, a)?))).collect()
            };
            let who = takers(&node);
            let worth = Worth::of(context, &node, &who, 1.0);
            let is_fractional = |node: &NodeRelaxation, a: usize| {
                let (b, c) = (node.members.beta[a], context.coordinate(node, a));
                (b != 0.0, b != 0.0 && c.fraction(b) < 1.0)
            };
            for (e, &(a, _)) in who.iter().enumerate().filter(|w| is_fractional(&node, w.1.0).1) {
                let h = 1e-3 * node.members.moved[a];
                let at = |step: f64| {
                    let mut other = node.clone();
                    other.members.moved[a] += step;
                    tight(other)
                };
                let (less, more) = (at(-h), at(h));
                let same =
                    |b: usize| [&less, &more].into_iter().all(|o| is_fractional(o, b) == is_fractional(&node, b));
                if h == 0.0 || !(0..node.members.len()).all(same) {
                    continue;
                }
                let slope = (more.dual - less.dual) / (2.0 * h);
                assert!(
                    (slope - worth.slopes[e]).abs() <= 1e-3 * worth.slopes[e] + 1e-7,
                    "{trial}: {slope}, {}",
                    worth.slopes[e]
                );
                slopes += 1;
                let mut d: Vec<f64> = who.iter().map(|w| node.members.moved[w.0]).collect();
                d[e] += h;
                let told = worth.rises(&d);
                for (f, &(b, _)) in who.iter().enumerate().filter(|w| is_fractional(&node, w.1.0).1) {
                    let of = |node: &NodeRelaxation| taker(context, node, b).map_or(0.0, |t| t.slope);
                    let (found, claimed) = ((of(&more) - of(&less)) / (2.0 * h), (told[f] - worth.slopes[f]) / h);
                    let size = worth.slopes[e].max(worth.slopes[f]) / node.members.moved[a];
                    assert!((found - claimed).abs() <= 0.02 * size.max(claimed.abs()), "{trial}: {found}, {claimed}");
                    falls += usize::from(claimed.abs() > 0.1 * size);
                }
            }
        });
    }
    assert!(slopes > 40 && falls > 60, "{slopes}, {falls}");
}

/// Whether Q − diag(less) has a factor on some of the members.
fn is_convex(
    context: &NodeContext<'_, '_, '_>,
    node: &NodeRelaxation,
    part: &[usize],
    less: impl Fn(usize) -> f64,
) -> bool {
    let q = context.inner_products(&node.members.positions);
    let left =
        Mat::from_fn(part.len(), part.len(), |e, f| q.at(part[e], part[f]) - if e == f { less(part[e]) } else { 0.0 });
    Llt::new(left.as_ref(), Side::Lower).is_ok()
}

/// The bounds for one member alone are above no subset with it and none without it, and M − σ e_je_jᵀ has no negative eigenvalue;
/// how many had a σ.
fn check_alone(context: &NodeContext<'_, '_, '_>, node: &NodeRelaxation, subsets: &NodeSubsets) -> usize {
    let members = &node.members;
    let all: Vec<usize> = (0..members.len()).collect();
    let room = |a: usize| 1e-10 * (context.stored_square(node, a) + members.moved[a].abs());
    for a in 0..members.len() {
        let less = |b: usize| members.moved[b] - room(b) + if a == b { members.spare[a] } else { 0.0 };
        assert!(is_convex(context, node, &all, less), "{a}: {:?} {:?}", members.moved, members.spare);
        if members.choices[a] != Choice::Free {
            continue;
        }
        let (c, b, s, j) = (context.coordinate(node, a), members.beta[a], members.spare[a], context.feature(node, a));
        let base = node.dual - c.psi(members.tau[a]) - 1e-9 * (1.0 + node.dual.abs());
        assert!(base + 0.5 * s * b * b <= subsets.least_on(false, j), "without {j}");
        if b == 0.0 {
            assert!(base + c.curved(s).phi(members.tau[a]) <= subsets.least_on(true, j), "with {j}");
        }
    }
    members.spare.iter().filter(|s| **s > 0.0).count()
}

/// Eight features with a common part, some of them the same.
fn with_common_part(trial: u64, draw: &mut impl FnMut() -> f64) -> Small {
    let (n, p) = (5 + trial as usize % 12, 8);
    let apart = [1.0, 0.4, 0.1][trial as usize % 3];
    let common: Vec<f64> = (0..n).map(|_| draw()).collect();
    let mut x: Vec<f64> = (0..n * p).map(|i| common[i % n] + apart * draw()).collect();
    if trial % 7 == 1 {
        x.copy_within(..n, n);
    }
    let y = (0..n).map(|i| x[i] - x[3 * n + i] + 0.7 * x[5 * n + i] + 0.5 * draw()).collect();
    let w = (0..n).map(|i| if trial.is_multiple_of(2) { 1.0 } else { (i % 3) as f64 }).collect();
    let bounds = if trial % 4 == 3 { Bounds::All(-0.8, 1.1) } else { Bounds::Free };
    let penalty = Penalty::new([0.3, 0.1][trial as usize % 2], 0.1, 0.3).with_bounds(bounds);
    Small { design: Dense::new(n, p, x).unwrap(), y, w, penalty, loss: Loss::Squared, intercept: trial % 4 < 2 }
}

/// What the nodes of the next test came to.
#[derive(Default)]
struct BudgetTally {
    pools: usize,
    pooled: usize,
    over_budget: usize,
    spending: usize,
}

/// In nodes of random decisions and for answers of different quality: no subset better than P̂ spends more than the budget,
/// Q − diag(d) has no negative eigenvalue on what the budget allows, and D′ is above no better subset. No rule decides against
/// such a subset, and none that decisions lead to is given up for what its features spend.
#[test]
fn better_subsets_keep_to_the_budget_and_above_the_bound() {
    let mut seen = BudgetTally::default();
    for trial in 0..180u64 {
        let mut draw = numbers(trial + 1000);
        let small = with_common_part(trial, &mut draw);
        let costs = small.costs();
        let least = costs.iter().copied().fold(f64::INFINITY, f64::min);
        let best = least * (1.0 + [1e-9, 0.05, 0.3][trial as usize / 3 % 3]) + 1e-9;
        small.on_root(|context, root, limits| {
            let way = WayDown { context, limits, costs: &costs, best, least, trial };
            way.check(root, &mut draw, &mut seen);
        });
    }
    let BudgetTally { pools, pooled, over_budget, spending } = seen;
    assert!(
        pools > 100 && pooled > 200 && over_budget > 1000 && spending > 20,
        "{pools} {pooled} {over_budget} {spending}"
    );
}

/// A way down the tree towards a better subset.
struct WayDown<'d, 'g, 'p, 'a> {
    context: &'d NodeContext<'g, 'p, 'a>,
    limits: &'d Limits,
    costs: &'d [f64],
    /// P̂.
    best: f64,
    least: f64,
    trial: u64,
}

impl WayDown<'_, '_, '_, '_> {
    fn check(&self, mut node: NodeRelaxation, draw: &mut impl FnMut() -> f64, seen: &mut BudgetTally) {
        for depth in 0..5 {
            if depth != 2 {
                node = self.with_curvature(node, depth as u64 != self.trial % 2);
            }
            let shared = node.members.share.iter().filter(|r| **r > 0.0).count();
            (seen.pools, seen.pooled) = (seen.pools + usize::from(shared > 0), seen.pooled + shared);
            let better = self.better(&node, depth);
            self.check_subsets(&node, depth, seen);
            // Towards a better subset, if there is one, by what it spends first.
            let goal = better.iter().copied().max_by(|&x, &y| self.spent(&node, x).total_cmp(&self.spent(&node, y)));
            let Some(a) = self.next(&node, goal) else { break };
            let is_in = goal.map_or_else(|| draw() > 0.0, |m| m >> self.context.feature(&node, a) & 1 == 1);
            seen.spending += usize::from(node.members.share[a] > 0.0 && is_in);
            let side = if is_in { Choice::In } else { Choice::Out };
            node = decided(self.context, node, (a, side), self.limits);
            if node.bound == f64::INFINITY {
                assert!(goal.is_none(), "given up: {}, {depth}", self.trial);
                break;
            }
        }
    }

    fn with_curvature(&self, mut node: NodeRelaxation, pool: bool) -> NodeRelaxation {
        let (context, limits) = (self.context, self.limits);
        let is_moved = move_curvature(context, &mut node, pool.then_some(self.best), limits);
        if is_moved { relax(context, node, &TIGHT, limits) } else { node }
    }

    /// Σ θ_j of the subset's members.
    fn spent(&self, node: &NodeRelaxation, mask: usize) -> f64 {
        let is_in = |a: &usize| mask >> self.context.feature(node, *a) & 1 == 1;
        (0..node.members.len()).filter(is_in).map(|a| node.members.share[a]).sum()
    }

    /// The node's subsets that are better than P̂; the rules leave all of them in it.
    fn better(&self, node: &NodeRelaxation, depth: usize) -> Vec<usize> {
        let mut after = node.clone();
        decide(self.context, &mut after, self.best);
        let is_better = |m: &usize| allows(self.context, node, *m) && self.costs[*m] < self.best;
        let better: Vec<usize> = (0..self.costs.len()).filter(is_better).collect();
        let is_left = |&m: &usize| allows(self.context, &after, m);
        assert!(better.iter().all(is_left), "decided against: {}, {depth}", self.trial);
        better
    }

    fn check_subsets(&self, node: &NodeRelaxation, depth: usize, seen: &mut BudgetTally) {
        let (context, members) = (self.context, &node.members);
        let q = context.inner_products(&members.positions);
        for mask in (0..self.costs.len()).filter(|&m| allows(context, node, m)) {
            let label = || format!("{}, {depth}, {mask:b}: {:?} {:?}", self.trial, members.share, members.moved);
            let (spent, cost) = (self.spent(node, mask), self.costs[mask]);
            if cost < self.best {
                assert!(spent <= 1.0 + 1e-7, "over budget: {}", label());
                assert!(node.dual <= cost + 1e-9 * (1.0 + self.least), "{} above: {}", node.dual, label());
            }
            if spent > 1.0 {
                seen.over_budget += 1;
                continue;
            }
            let is_held = |a: &usize| members.share[*a] == 0.0 || mask >> context.feature(node, *a) & 1 == 1;
            let part: Vec<usize> = (0..members.len()).filter(is_held).collect();
            let room = |a: usize| 1e-10 * (q.at(a, a) + members.moved[a].abs() + 1e-3);
            assert!(is_convex(context, node, &part, |a| members.moved[a] - room(a)), "not convex: {}", label());
        }
    }

    /// The member to decide about: one that the goal spends budget on, or the one that the tree would take.
    fn next(&self, node: &NodeRelaxation, goal: Option<usize>) -> Option<usize> {
        let members = &node.members;
        let spends = |a: &usize| {
            members.choices[*a] == Choice::Free
                && members.share[*a] > 0.0
                && goal.is_some_and(|m| m >> self.context.feature(node, *a) & 1 == 1)
        };
        (0..members.len()).find(spends).or_else(|| branch(self.context, node))
    }
}
