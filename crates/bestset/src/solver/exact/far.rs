//! Nodes with more open features than memory holds: their relaxation is closed by passes over the rest of X.

use super::node::{Choice, Node};
use super::relax::Relaxed;
use super::{Monitor, Tree};
use crate::solver::screening;
use std::sync::Arc;

impl Tree<'_, '_> {
    /// Relaxes the node on the columns in memory, looks at the far features with its dual point, takes in those that violate
    /// its optimality, and repeats until the bound prunes or none does. Far features that the optimality rule excludes with
    /// the node's bound stay behind.
    pub(super) fn look_far(&mut self, mut node: Node, monitor: &mut Monitor<'_>) {
        let problem = self.problem;
        let (best, cutoff, room) = (self.pool.limit(), self.cutoff(), 0.1 * self.room());
        loop {
            let limits = monitor.limits().clone();
            let mut relaxed = {
                let ground = self.ground();
                ground.relax(ground.start(&node), cutoff, room, &limits)
            };
            let far: Vec<usize> = node.far.iter().copied().filter(|&j| self.near.position(j).is_none()).collect();
            let mut tau = vec![0.0; far.len()];
            problem.design().correlate(&far, &relaxed.alpha, &mut tau);
            monitor.passes += far.len() as f64 / problem.ncols() as f64;
            let coordinate = |k: usize| problem.coordinate(far[k]).priced(relaxed.multiplier);
            let missing = problem.least_psi_sum(&relaxed.alpha, &far, &tau, coordinate);
            let dual = relaxed.dual + missing;
            let excess = |(k, t): (usize, &f64)| (t.abs() - coordinate(k).threshold(*t), far[k]);
            let mut violating: Vec<(f64, usize)> = tau.iter().enumerate().map(excess).filter(|v| v.0 > 0.0).collect();
            let bound = dual.max(node.bound);
            let settled = missing > -0.01 * (best - bound).max(0.0) || monitor.stop(0).is_some();
            if bound > cutoff || violating.is_empty() || settled {
                let tau = problem.outer_correlations(&relaxed.alpha, &far, &tau, coordinate);
                let kept = |k: &usize| !screening::in_no_optimal_subset(coordinate(*k), tau[*k], dual, best);
                node.far = Arc::new((0..far.len()).filter(kept).map(|k| far[k]).collect());
                (relaxed.dual, relaxed.bound) = (dual, bound);
                self.settle(node, relaxed, monitor);
                return;
            }
            violating.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            violating.truncate(self.near.active.len().max(64));
            violating.iter().for_each(|v| {
                self.near.include(v.1);
            });
            node.beta = self.ground().sparse(&relaxed);
            node.multiplier = relaxed.multiplier;
        }
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
        if node.far.len() + self.near.active.len() <= self.most_near {
            // The children know these features by the list their parent keeps, then as positions of their own.
            let first = self.near.active.len();
            for &j in node.far.iter() {
                self.near.include(j);
            }
            for k in first..self.near.active.len() {
                relaxed.members.push(k);
                relaxed.choices.push(Choice::Free);
                relaxed.beta.push(0.0);
                relaxed.tau.push(0.0);
                relaxed.moved.push(0.0);
            }
        }
        node.far = Arc::new(node.far.iter().copied().filter(|&j| self.near.position(j).is_none()).collect());
        self.take(node, relaxed, monitor);
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::{Seed, Tree};
    use crate::design::{ColumnSubset, Dense, Design};
    use crate::solver::workspace::Workspace;
    use crate::solver::{Monitor, Outcome, incremental};
    use crate::{Bounds, Loss, Method, Options, Penalty, Problem, solve};

    /// Branch and bound with so much memory, from an answer of nothing said to be worth `known`: small problems have every
    /// feature that matters in memory after the root, and the best answer; so only the tree can find it, far away.
    fn grow(problem: &Problem<'_>, most_near: usize, known: Option<f64>) -> Outcome {
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
        Tree::plant(problem, None, &options, Seed { root, multiplier: 0.0 }, most_near)
            .grow(&options, &mut monitor, None)
            .unwrap()
    }

    /// A small generator: tests of this crate's inside need no more.
    pub(in super::super) fn numbers(seed: u64) -> impl FnMut() -> f64 {
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

    /// Least P over all subsets, each fitted by the convex phase alone (λ0 = 0).
    fn enumerate(problem: &Problem<'_>, remake: &dyn Fn(&ColumnSubset<'_>, Penalty) -> f64) -> f64 {
        let (p, penalty) = (problem.ncols(), problem.penalty());
        let zero = vec![0.0; problem.nrows()];
        let empty = problem.loss_sum(&zero, problem.best_intercept(&zero, 0.0));
        (1u32..1 << p).fold(empty, |best, mask| {
            let columns: Vec<usize> = (0..p).filter(|j| mask >> j & 1 == 1).collect();
            let price = penalty.lambda0 * columns.len() as f64;
            let part = ColumnSubset::new(problem.design(), columns).unwrap();
            best.min(price + remake(&part, Penalty { lambda0: 0.0, ..penalty.clone() }))
        })
    }

    fn make<'a>(design: &'a dyn Design, y: &'a [f64], penalty: Penalty, loss: Loss, intercept: bool) -> Problem<'a> {
        Problem::new(design, y, penalty).unwrap().with_loss(loss).unwrap().with_intercept(intercept)
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
            let least = enumerate(&problem, &|part, penalty| {
                solve(&make(part, &y, penalty, loss, intercept), &Options::default()).unwrap().objective()
            });
            let outcome = grow(&problem, most_near, None);
            let (bound, objective) = (outcome.lower_bound, problem.value(&outcome.coefficients));
            let closed = objective - bound <= 1e-9f64.max(1e-6 * objective);
            assert!(bound <= least + 1e-9, "{trial}: {bound} above {least}");
            assert!(objective <= least * (1.0 + 1e-6) + 1e-9 || !closed, "{trial}: {objective} {least}");
            // A value just above the optimum closes every node that does not look far for it.
            let outcome = grow(&problem, most_near, Some(least * (1.0 + 1e-4)));
            let objective = problem.value(&outcome.coefficients);
            assert!(objective <= least * (1.0 + 1e-6) + 1e-9, "{trial}: {objective} missed {least}");
            split += usize::from(outcome.iterations > 1);
            proved += usize::from(closed);
        }
        assert!(split > 60 && proved > 150, "{split} {proved}");
    }
}
