//! The root of a tree: which features are open, and whose columns come into memory.

use crate::control::Monitor;
use crate::error::Result;
use crate::exact::node::Node;
use crate::exact::seed::Seed;
use crate::exact::setting::Setting;
use crate::exact::tree::Tree;
use crate::kernel::each::chosen;
use crate::problem::screening;
use crate::solver::incremental::Root;
use std::sync::Arc;

/// The features whose columns come into memory, and those that are looked at by passes over X; both ascending.
struct OpenFeatures {
    near: Vec<usize>,
    far: Vec<usize>,
}

impl<'p, 'a> Tree<'p, 'a> {
    /// The root node: every feature that the optimality rules do not exclude (MATH 5.4) is open.
    pub fn plant(setting: Setting<'p, 'a>, seed: Seed, monitor: &mut Monitor<'_>) -> Result<Self> {
        let Seed { root: Root { outcome, minimiser, tau, objective, visited }, multiplier } = seed;
        let mut tree = Self::bare(setting, outcome)?;
        if !monitor.muted {
            monitor.so_far.offer(objective, || tree.outcome.coefficients.clone());
            monitor.so_far.offer_bound(tree.root_bound(), &tree.outcome.dual);
        }
        tree.pool.offer(objective, tree.outcome.coefficients.clone());
        tree.core.include_all(&minimiser.support)?;
        tree.core.include_all(&tree.outcome.coefficients.support)?;
        let (bound, best) = (tree.root_bound(), tree.pool.limit());
        // τ of the root is the end of its rounding interval where a term is least.
        let is_open =
            |j: usize| !screening::in_no_optimal_subset(tree.setting.priced(j, multiplier), tau[j], bound, best);
        let open = chosen(tau.len(), |j| is_open(j).then_some(j));
        let pull = |j: usize| tau[j].abs() / tree.setting.priced(j, multiplier).threshold(tau[j]);
        let OpenFeatures { near, far } = tree.divide(open, visited, pull);
        tree.near.include_all(&near)?;
        tree.near.intercept = minimiser.intercept;
        let known = tree.near.active.len();
        let beta = minimiser.iter().filter_map(|(j, b)| tree.near.position(j).map(|k| (k as u32, b))).collect();
        let far = Arc::new(far);
        tree.frontier.push(Node { bound, id: 0, link: None, beta, far, known, multiplier, moved: None, costs: None });
        tree.made = 1;
        tree.extend_core();
        Ok(tree)
    }

    /// All near where memory is to hold so many; else what matters first, and what soon may: the core, the features that the convex
    /// phase `visited`, and those with the greatest `pull` |τ|/τ₀.
    fn divide(&self, open: Vec<usize>, mut visited: Vec<usize>, pull: impl Fn(usize) -> f64) -> OpenFeatures {
        if open.len() <= self.most_near {
            return OpenFeatures { near: open, far: Vec::new() };
        }
        let mut pulled: Vec<(f64, usize)> = open.iter().map(|&j| (pull(j), j)).collect();
        let first = self.setting.tuning.first_near.min(self.most_near);
        if first < pulled.len() {
            pulled.select_nth_unstable_by(first, |a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        }
        visited.truncate(self.most_near.saturating_sub(first));
        visited.extend(pulled.iter().take(first).map(|p| p.1));
        visited.sort_unstable();
        let is_first = |j: &usize| self.core.position(*j).is_some() || visited.binary_search(j).is_ok();
        let (near, far) = open.into_iter().partition(is_first);
        OpenFeatures { near, far }
    }
}
