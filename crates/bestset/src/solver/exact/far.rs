//! Nodes with more open features than memory holds: their relaxation is closed by passes over the rest of X.

use super::bound::Relaxed;
use super::node::Node;
use super::{Monitor, Tree};
use crate::solver::screening;
use std::sync::Arc;

impl Tree<'_, '_, '_> {
    /// Relaxes the node on the active set, looks at the far features with its dual point, takes in those that violate its
    /// optimality, and repeats until the bound prunes or none does. Far features that the optimality rule excludes with the
    /// node's bound stay behind.
    pub(super) fn look_far(&mut self, mut node: Node, monitor: &mut Monitor<'_>) {
        let problem = self.work.problem;
        let (best, cutoff) = (self.best, self.cutoff());
        loop {
            let limits = monitor.limits().clone();
            let mut relaxed: Relaxed =
                self.on_ground(|ground| ground.relax(&node, cutoff, 0.2 * (best - cutoff), &limits));
            let far: Vec<usize> = node.far.iter().copied().filter(|&j| self.work.position(j).is_none()).collect();
            self.work.beta = relaxed.beta.clone();
            self.work.refresh();
            let mut tau = vec![0.0; far.len()];
            problem.design().correlate(&far, &self.work.alpha, &mut tau);
            monitor.passes += far.len() as f64 / problem.ncols() as f64;
            let missing: f64 = far.iter().zip(&tau).map(|(&j, &t)| problem.coordinate(j).psi(t)).sum();
            relaxed.bound = (relaxed.near_bound + missing * (1.0 + screening::MARGIN)).max(node.bound);
            let excess = |j: usize, t: f64| t.abs() - problem.coordinate(j).threshold(t);
            let mut violating: Vec<(f64, usize)> =
                far.iter().zip(&tau).map(|(&j, &t)| (excess(j, t), j)).filter(|v| v.0 > 0.0).collect();
            let settled = missing > -0.01 * (best - relaxed.bound).max(0.0) || monitor.stop(0).is_some();
            if relaxed.bound > cutoff || violating.is_empty() || settled {
                let kept =
                    |j: usize, t: f64| !screening::in_no_optimal_subset(problem.coordinate(j), t, relaxed.bound, best);
                let left: Vec<usize> = far.iter().zip(&tau).filter(|p| kept(*p.0, *p.1)).map(|p| *p.0).collect();
                node.far = Arc::new(left);
                self.settle(node, relaxed, monitor);
                return;
            }
            violating.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            violating.truncate(self.work.active.len().max(64));
            violating.iter().for_each(|v| {
                self.work.include(v.1);
            });
        }
    }

    /// Decides, rounds and splits as for a node without far features; few enough of them join the active set for good.
    fn settle(&mut self, mut node: Node, mut relaxed: Relaxed, monitor: &mut Monitor<'_>) {
        let (best, cutoff) = (self.best, self.cutoff());
        if relaxed.bound <= cutoff {
            let limits = monitor.limits().clone();
            self.on_ground(|ground| {
                ground.decide(&mut relaxed, best);
                ground.round(&mut relaxed, &limits);
            });
        }
        if node.far.len() + self.work.active.len() <= super::NEAR {
            // The children know these features by the list their parent keeps, then as positions of their own.
            let features: Vec<usize> = node.far.to_vec();
            features.iter().for_each(|&j| {
                self.work.include(j);
            });
        }
        let len = self.work.active.len();
        let grown = node.choices(self.work.active.features());
        relaxed.choices.extend_from_slice(&grown[relaxed.choices.len()..]);
        relaxed.beta.resize(len, 0.0);
        node.far = Arc::new(node.far.iter().copied().filter(|&j| self.work.position(j).is_none()).collect());
        self.take(node, relaxed, monitor);
    }
}
