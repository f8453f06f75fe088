//! Nodes with more open features than memory holds: their relaxation is closed by passes over the rest of X.

use crate::exact::node::{Choice, Link, Node};
use crate::exact::relax::Relaxed;
use crate::exact::{COLUMNS, Monitor, Tree};
use crate::problem::screening;
use std::sync::Arc;

/// Nodes whose dual points share one pass over the far features: the pass costs the reading of X, whatever their number.
const LOOKS: usize = 12;

/// Share of the gap that a node which seems closed is to have to spare for the far features.
const SPARE: f64 = 0.3;

/// Far features that join a node with nothing else left to split on.
const JOINING: usize = 64;

/// Steps of the search for the dual point that has it.
const TEMPERED: usize = 5;

/// A node relaxed on the columns in memory alone.
struct Pending {
    node: Node,
    relaxed: Relaxed,
}

impl Tree<'_, '_> {
    /// Columns that may still come near; where all may, there is no limit: another node may have brought them near meanwhile.
    fn vacancies(&self) -> usize {
        match self.near.most_columns(COLUMNS) {
            most if most >= self.problem.ncols() => usize::MAX,
            most => most.saturating_sub(self.near.active.len()),
        }
    }

    /// Relaxes the nodes on the columns in memory, splits them as if these were all, and looks at the far features with the dual
    /// points of what that ends in, in one pass; takes in those that violate optimality, and repeats until each bound prunes or
    /// none does. Far features that the optimality rule excludes with a node's bound stay behind.
    pub(super) fn look_far(&mut self, node: Node, monitor: &mut Monitor<'_>) {
        // Of all nodes that it is split into.
        let open = node.far.clone();
        let mut pending = vec![self.relax_near(node, monitor)];
        self.plunge(&mut pending, monitor);
        while !pending.is_empty() {
            let far: Vec<usize> = open.iter().copied().filter(|&j| self.near.position(j).is_none()).collect();
            if !monitor.has_time_for(0.25 * (far.len() * pending.len() * self.problem.nrows()) as f64) {
                return self.postpone(pending.into_iter().map(|p| p.node));
            }
            let vectors: Vec<&[f64]> = pending.iter().map(|p| p.relaxed.alpha.as_slice()).collect();
            let mut rough = vec![0.0; far.len() * vectors.len()];
            self.problem.design().correlate_roughly(&far, &vectors, &mut rough);
            monitor.passes += far.len() as f64 / self.problem.ncols() as f64;
            let (count, mut unsettled) = (pending.len(), Vec::new());
            for (v, one) in pending.into_iter().enumerate() {
                let own: Vec<f64> = rough.iter().skip(v).step_by(count).map(|x| f64::from(*x)).collect();
                unsettled.extend(self.look(one, &far, &own, monitor));
            }
            pending = Vec::with_capacity(unsettled.len());
            let mut unsettled = unsettled.into_iter();
            while let Some(node) = unsettled.next() {
                // It starts with the inner products of all columns in memory.
                if !monitor.has_time_for((self.near.active.len() * self.problem.nrows()) as f64) {
                    return self.postpone(pending.into_iter().map(|p| p.node).chain([node]).chain(unsettled));
                }
                pending.push(self.relax_near(node, monitor));
            }
        }
    }

    /// Puts nodes back for which no time is left: what is known of them is what was of the node they come from.
    fn postpone(&mut self, nodes: impl IntoIterator<Item = Node>) {
        self.out_of_time = true;
        nodes.into_iter().for_each(|node| self.push(node));
    }

    fn relax_near(&self, node: Node, monitor: &Monitor<'_>) -> Pending {
        let ground = self.ground();
        let relaxed = ground.relax(ground.start(&node), self.cutoff(), 0.1 * self.room(), monitor.limits());
        Pending { node, relaxed }
    }

    /// Splits the node with the lowest value, which the columns in memory alone give it, until there are [`LOOKS`] or all seem
    /// to be closed. Nothing is decided on the word of such a value, but which nodes are looked at.
    fn plunge(&mut self, pending: &mut Vec<Pending>, monitor: &Monitor<'_>) {
        while pending.len() < LOOKS && monitor.stop(0).is_none() {
            let open = |p: &Pending| p.relaxed.dual <= self.cutoff() && !self.ground().solves(&p.relaxed, 0.0);
            let lowest = |&a: &usize, &b: &usize| pending[a].relaxed.dual.total_cmp(&pending[b].relaxed.dual);
            let Some(first) = (0..pending.len()).filter(|&a| open(&pending[a])).min_by(lowest) else { return };
            let Some(member) = self.ground().branch(&pending[first].relaxed) else { return };
            let Pending { node, relaxed } = pending.remove(first);
            let (position, beta) = (relaxed.members[member] as u32, self.ground().sparse(&relaxed));
            beta.iter().for_each(|p| {
                self.core.include(self.near.active.features()[p.0 as usize]);
            });
            self.extend_core();
            for (inside, outside) in [(vec![], vec![position]), (vec![position], vec![])] {
                let link = Some(Arc::new(Link { parent: node.link.clone(), inside, outside }));
                let child =
                    Node { id: self.made, link, beta: beta.clone(), multiplier: relaxed.multiplier, ..node.clone() };
                (self.made, self.processed) = (self.made + 1, self.processed + 1);
                let mut child = self.relax_near(child, monitor);
                self.temper(&mut child.relaxed, &relaxed);
                pending.push(child);
            }
        }
    }

    /// Moves the dual point of a node that seems closed back towards its parent's, where far features hardly violate anything, as
    /// far as it still seems closed there, with room for those that do: any dual point gives a bound.
    fn temper(&self, now: &mut Relaxed, parent: &Relaxed) {
        let cutoff = self.cutoff();
        let wanted = cutoff + SPARE * (cutoff - parent.dual);
        if now.dual <= wanted || now.inherited.is_some() {
            return;
        }
        let (ground, own) = (self.ground(), now.clone());
        let mut before = Relaxed { alpha: parent.alpha.clone(), ..now.clone() };
        ground.correlate(&mut before);
        // D is concave along the way, and at its end more than is wanted.
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..TEMPERED {
            let share = 0.5 * (low + high);
            let mix = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (1.0 - share) * a + share * b).collect();
            (now.alpha, now.tau) = (mix(&before.alpha, &own.alpha), mix(&before.tau, &own.tau));
            ground.measure(now);
            if now.dual > wanted { high = share } else { low = share }
        }
        let point = before.alpha.iter().zip(&own.alpha).map(|(a, b)| (1.0 - high) * a + high * b).collect();
        now.alpha = point;
        self.problem.project(&mut now.alpha);
        ground.correlate(now);
        ground.measure(now);
        if now.dual <= cutoff {
            *now = own;
        }
    }

    /// The bound of a node with the rough correlations of the far features at its dual point, those that may be beyond their
    /// threshold computed anew; gives the node back, the features that violate its optimality most taken in, when it is neither
    /// pruned nor settled.
    fn look(&mut self, one: Pending, far: &[usize], rough: &[f64], monitor: &mut Monitor<'_>) -> Option<Node> {
        let (problem, Pending { mut node, mut relaxed }) = (self.problem, one);
        let (best, cutoff) = (self.pool.limit(), self.cutoff());
        let coordinate = |k: usize| problem.coordinate(far[k]).priced(relaxed.multiplier);
        let places = problem.unsure(&relaxed.alpha, far, rough, coordinate);
        let beyond: Vec<usize> = places.iter().map(|&k| far[k]).collect();
        let mut tau = vec![0.0; beyond.len()];
        problem.design().correlate(&beyond, &relaxed.alpha, &mut tau);
        monitor.passes += beyond.len() as f64 / problem.ncols() as f64;
        let missing = problem.least_psi_sum(&relaxed.alpha, &beyond, &tau, |m| coordinate(places[m]));
        let dual = relaxed.dual + missing;
        let excess = |(m, t): (usize, &f64)| (t.abs() - coordinate(places[m]).threshold(*t), beyond[m]);
        let mut violating: Vec<(f64, usize)> = tau.iter().enumerate().map(excess).filter(|v| v.0 > 0.0).collect();
        let bound = dual.max(node.bound);
        // What the node is closed with if its minimiser is an answer must be as tight as that is.
        let answered = self.ground().solves(&relaxed, 0.1 * self.room());
        let small = if answered { 0.1 * self.room() } else { 0.01 * (best - bound).max(0.0) };
        let settled = missing >= -small || monitor.stop(0).is_some();
        if bound > cutoff {
            self.close(bound, false);
            return None;
        }
        // Columns that there is no room for are left where they are, with a bound that counts them.
        let room = self.vacancies();
        if violating.is_empty() || settled || room == 0 {
            self.starved |= !violating.is_empty() && !settled;
            let excludes = |k: usize, t: f64| screening::in_no_optimal_subset(coordinate(k), t, dual, best);
            let ends = problem.rough_ends(&relaxed.alpha, far, rough, coordinate);
            let kept = |&k: &usize| {
                // Where the ends disagree the correlation itself decides, so that single precision decides nothing.
                let outer = match excludes(k, ends[k].1) && !excludes(k, ends[k].0) {
                    true => self.outer_correlation(&relaxed, far[k]),
                    false => ends[k].0,
                };
                !excludes(k, outer)
            };
            node.far = Arc::new((0..far.len()).filter(kept).map(|k| far[k]).collect());
            (relaxed.dual, relaxed.bound) = (dual, bound);
            self.settle(node, relaxed, monitor);
            return None;
        }
        violating.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        violating.truncate(self.near.active.len().max(64).min(room));
        violating.iter().for_each(|v| {
            self.near.include(v.1);
        });
        (node.beta, node.multiplier) = (self.ground().sparse(&relaxed), relaxed.multiplier);
        Some(node)
    }

    /// x_jᵀα of one feature at the node's dual point, at the end of its rounding where φ is least.
    fn outer_correlation(&self, relaxed: &Relaxed, j: usize) -> f64 {
        let (problem, mut tau) = (self.problem, [0.0]);
        problem.design().correlate(&[j], &relaxed.alpha, &mut tau);
        let coordinate = problem.coordinate(j).priced(relaxed.multiplier);
        problem.outer_correlations(&relaxed.alpha, &[j], &tau, |_| coordinate)[0]
    }

    /// Decides, rounds and splits as for a node without far features; few enough of them join the columns in memory.
    fn settle(&mut self, mut node: Node, mut relaxed: Relaxed, monitor: &mut Monitor<'_>) {
        if relaxed.bound <= self.cutoff() {
            let ground = self.ground();
            ground.decide(&mut relaxed, self.pool.limit());
            let (value, point) = ground.round(&relaxed, monitor.limits());
            if value < self.pool.limit() {
                self.offer(&point, relaxed.intercept, monitor);
            }
        }
        let inside = relaxed.choices.iter().filter(|c| **c == Choice::In).count();
        if self.size.is_some_and(|k| inside >= k) {
            node.far = Arc::default();
        }
        // A node whose members are all decided still has the subsets with far features: some must join to be split on.
        let mut joining = match node.far.len() + self.near.active.len() <= self.most_near {
            true => usize::MAX,
            false if inside == relaxed.choices.len() => JOINING,
            false => 0,
        };
        let room = self.vacancies();
        self.starved |= room == 0 && joining == JOINING;
        joining = joining.min(room);
        let mut is_member = vec![false; self.near.active.len()];
        relaxed.members.iter().for_each(|&k| is_member[k] = true);
        for &j in node.far.iter() {
            // The children know these features by the list their parent keeps, then as positions of their own; another node may
            // have brought some of them in.
            let known = self.near.position(j);
            let position = if known.is_none() && joining > 0 { Some(self.near.include(j)) } else { known };
            joining -= usize::from(known.is_none() && joining > 0);
            if let Some(k) = position.filter(|&k| !is_member.get(k).is_some_and(|m| *m)) {
                relaxed.members.push(k);
                relaxed.choices.push(Choice::Free);
                relaxed.beta.push(0.0);
                relaxed.tau.push(0.0);
                relaxed.moved.push(0.0);
                relaxed.spare.push(0.0);
                relaxed.share.push(0.0);
            }
        }
        node.far = Arc::new(node.far.iter().copied().filter(|&j| self.near.position(j).is_none()).collect());
        self.take(node, relaxed, monitor);
    }
}

#[cfg(test)]
pub(super) mod tests {
    use crate::control::Monitor;
    use crate::design::{ColumnSubset, Dense, Design};
    use crate::exact::node::{Choice, Node};
    use crate::exact::{Seed, Tree};
    use crate::relaxation::workspace::Workspace;
    use crate::solver::{Outcome, incremental};
    use crate::{Bounds, Loss, Method, Options, Penalty, Problem, solve};

    /// Branch and bound with so much memory, from an answer of nothing said to be worth `known`: small problems have every
    /// feature that matters in memory after the root, and the best answer; so only the tree can find it, far away.
    ///
    /// Whatever is split, decided and brought near, the `best` subset stays in an open node until it is found.
    fn grow(problem: &Problem<'_>, most_near: usize, known: Option<f64>, best: (f64, u32)) -> Outcome {
        let (options, mut observer) = (Options::with_method(Method::Exact), ());
        let mut monitor = Monitor::new(&options, &mut observer);
        let mut root = incremental::root(&mut Workspace::new(problem), &options, &mut monitor);
        let zero = vec![0.0; problem.nrows()];
        let intercept = problem.best_intercept(&zero, 0.0);
        root.outcome.coefficients = crate::Coefficients { intercept, ..Default::default() };
        if known.is_some() {
            // Nothing is near at first either.
            root.minimiser = root.outcome.coefficients.clone();
        }
        root.objective = known.unwrap_or_else(|| problem.value(&root.outcome.coefficients));
        let mut tree = Tree::plant(problem, None, &options, Seed { root, multiplier: 0.0 }, most_near);
        while let Some(batch) = tree.next_batch() {
            tree.process(batch, &mut monitor);
            let found = problem.value(&tree.pool.entries()[0].1) <= best.0 * (1.0 + 1e-5);
            assert!(
                found || tree.open.iter().any(|node| holds(&tree, node, best.1 as usize)),
                "the best subset was lost"
            );
        }
        tree.harvest(crate::Status::Converged)
    }

    /// Whether the subset is one of the node's.
    pub(in crate::exact) fn holds(tree: &Tree<'_, '_>, node: &Node, mask: usize) -> bool {
        let choices = node.choices(tree.near.active.features());
        (0..tree.problem.ncols()).all(|j| match tree.near.position(j).map(|k| choices[k]) {
            Some(Choice::Free) => true,
            Some(Choice::In) => mask >> j & 1 == 1,
            Some(Choice::Out) => mask >> j & 1 == 0,
            None => mask >> j & 1 == 0 || node.far.binary_search(&j).is_ok(),
        })
    }

    /// A small generator: tests of this crate's inside need no more.
    pub(in crate::exact) fn numbers(seed: u64) -> impl FnMut() -> f64 {
        let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        move || {
            let mut sum = 0.0;
            for _ in 0..4 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                sum += (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5;
            }
            1.7 * sum
        }
    }

    /// Least P over all subsets, each fitted by the convex phase alone (λ0 = 0), and the subset.
    fn enumerate(problem: &Problem<'_>, remake: &dyn Fn(&ColumnSubset<'_>, Penalty) -> f64) -> (f64, u32) {
        let (p, penalty) = (problem.ncols(), problem.penalty());
        let zero = vec![0.0; problem.nrows()];
        let empty = problem.loss_sum(&zero, problem.best_intercept(&zero, 0.0));
        (1u32..1 << p).fold((empty, 0), |best, mask| {
            let columns: Vec<usize> = (0..p).filter(|j| mask >> j & 1 == 1).collect();
            let price = penalty.lambda0 * columns.len() as f64;
            let part = ColumnSubset::new(problem.design(), columns).unwrap();
            let value = price + remake(&part, Penalty { lambda0: 0.0, ..penalty.clone() });
            if value < best.0 { (value, mask) } else { best }
        })
    }

    fn make<'a>(design: &'a dyn Design, y: &'a [f64], penalty: Penalty, loss: Loss, intercept: bool) -> Problem<'a> {
        Problem::new(design, y, penalty).unwrap().with_loss(loss).unwrap().with_intercept(intercept)
    }

    /// What another node has brought near between a node's relaxation and its look far stays open in the node's children.
    #[test]
    fn features_that_came_near_meanwhile_stay_open() {
        for joins in [false, true] {
            let mut draw = numbers(5);
            let (n, p) = (12, 9);
            let x: Vec<f64> = (0..n * p).map(|_| draw()).collect();
            let y: Vec<f64> = (0..n).map(|i| x[i] + 0.8 * x[4 * n + i] + 0.5 * draw()).collect();
            let design = Dense::new(n, p, x).unwrap();
            let problem = make(&design, &y, Penalty::new(0.1, 0.0, 0.1), Loss::Squared, false);
            let (options, mut observer) = (Options { top: 100, method: Method::Exact, ..Options::default() }, ());
            let mut monitor = Monitor::new(&options, &mut observer);
            let root = incremental::root(&mut Workspace::new(&problem), &options, &mut monitor);
            let mut tree = Tree::plant(&problem, None, &options, Seed { root, multiplier: 0.0 }, 2);
            let node = tree.open.pop().unwrap();
            let pending = tree.relax_near(node, &monitor);
            let came = pending.node.far[0];
            tree.near.include(came);
            tree.most_near = if joins { 4000 } else { 2 };
            tree.settle(pending.node, pending.relaxed, &mut monitor);
            assert!(!tree.open.is_empty());
            for node in &tree.open {
                let choices = node.choices(tree.near.active.features());
                assert_eq!(choices[tree.near.position(came).unwrap()], Choice::Free, "{joins}");
            }
        }
    }

    #[test]
    fn trees_that_start_with_nothing_end_with_the_enumerated_optimum() {
        let (mut split, mut proved) = (0, 0);
        for trial in 0..160 {
            let most_near = if trial < 80 { 3 } else { 4000 };
            let mut draw = numbers(trial);
            let (n, p) = (10 + trial as usize % 7, 9);
            let mut x: Vec<f64> = (0..n * p).map(|_| draw()).collect();
            if trial % 4 == 1 {
                x.copy_within(..n, n);
            }
            // Columns that stand in for one another: what is far from the relaxation's minimiser matters deeper down.
            for i in (0..n * p).filter(|i| i / n % 3 > 0) {
                x[i] = 0.5 * x[i] + x[i % n + (i / n - i / n % 3) * n];
            }
            let loss = [Loss::Squared, Loss::Logistic, Loss::Squared, Loss::Huber { delta: 0.5 }][trial as usize % 4];
            let signal: Vec<f64> = (0..n).map(|i| x[i] + x[3 * n + i] - x[6 * n + i] + 0.7 * draw()).collect();
            let y: Vec<f64> = match loss {
                Loss::Logistic => (0..n).map(|i| if i == 0 || i > 1 && signal[i] > 0.0 { 1.0 } else { -1.0 }).collect(),
                _ => signal,
            };
            let bounds = if trial % 3 == 0 { Bounds::All(-0.6, 0.9) } else { Bounds::Free };
            let lambda2 = [0.02, 0.3, 0.1][trial as usize % 3];
            let penalty = Penalty::new(0.05 + 0.3 * (trial % 5) as f64 / 5.0, 0.02, lambda2).with_bounds(bounds);
            let design = Dense::new(n, p, x).unwrap();
            let intercept = trial % 2 == 0;
            let problem = make(&design, &y, penalty, loss, intercept);
            let best = enumerate(&problem, &|part, penalty| {
                solve(&make(part, &y, penalty, loss, intercept), &Options::default()).unwrap().objective()
            });
            let least = best.0;
            let outcome = grow(&problem, most_near, None, best);
            let (bound, objective) = (outcome.lower_bound, problem.value(&outcome.coefficients));
            let closed = objective - bound <= 1e-9f64.max(1e-6 * objective);
            assert!(bound <= least + 1e-9, "{trial}: {bound} above {least}");
            assert!(objective <= least * (1.0 + 1e-6) + 1e-9 || !closed, "{trial}: {objective} {least}");
            // A value just above the optimum closes every node that does not look far for it.
            let outcome = grow(&problem, most_near, Some(least * (1.0 + 1e-4)), best);
            let objective = problem.value(&outcome.coefficients);
            assert!(objective <= least * (1.0 + 1e-6) + 1e-9, "{trial}: {objective} missed {least}");
            split += usize::from(outcome.iterations > 1);
            proved += usize::from(closed);
        }
        assert!(split > 60 && proved > 150, "{split} {proved}");
    }
}
