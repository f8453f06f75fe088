//! Nodes with far features split on what is near alone, until as many leaves are there as share a pass over X (MATH 11.23, 11.24).

use crate::control::Monitor;
use crate::error::Result;
use crate::exact::node::bound::{correlate, measure, solves};
use crate::exact::node::branch::branch;
use crate::exact::node::minimise::next_working;
use crate::exact::node::{Link, Node, NodeRelaxation};
use crate::exact::tree::Tree;
use crate::exact::tree::far::Pending;
use rayon::prelude::*;

impl Tree<'_, '_> {
    /// Splits the nodes with the lowest values, which the near features alone give them, as many side by side as there were to begin with,
    /// until there are as many as share a pass or all seem to be closed. Nothing is decided on the word of such a value, but which nodes
    /// are looked at.
    pub(super) fn dive(&mut self, pending: &mut Vec<Pending>, monitor: &Monitor<'_>) -> Result<()> {
        let (begun, most) = (pending.len(), self.at_a_time(self.setting.tuning.nodes_per_pass));
        while pending.len() < most && monitor.stop(0).is_none() {
            let split = self.lowest_open(pending, begun.min(most - pending.len()));
            if split.is_empty() {
                return Ok(());
            }
            let context = self.context();
            let working = split.iter().flat_map(|(one, _)| next_working(&context, &one.relaxed)).collect();
            self.share_products(working)?;
            let mut children = Vec::with_capacity(2 * split.len());
            for (of, (one, member)) in split.iter().enumerate() {
                let (position, beta) = (one.relaxed.members.positions[*member] as u32, one.relaxed.members.nonzeros());
                let parent = Node { beta, multiplier: one.relaxed.multiplier, ..one.node.clone() };
                for (inside, outside) in [(vec![], vec![position]), (vec![position], vec![])] {
                    let child = self.child(&parent, Link { parent: parent.link.clone(), inside, outside });
                    children.push((of, child));
                }
            }
            self.processed += children.len();
            let (this, limits) = (&*self, monitor.limits());
            let relax = |(of, child): (usize, Node)| {
                let mut child = this.relax_near(child, &split[of].0.products, limits);
                this.blend_with_parent(&mut child.relaxed, &split[of].0.relaxed);
                child
            };
            pending.par_extend(children.into_par_iter().map(relax));
        }
        Ok(())
    }

    /// Takes out at most so many nodes that may be split, those with the lowest values, and the member that each is split on.
    fn lowest_open(&self, pending: &mut Vec<Pending>, most: usize) -> Vec<(Pending, usize)> {
        let (context, cutoff) = (self.context(), self.cutoff());
        let member = |p: &Pending| match p.relaxed.dual <= cutoff && !solves(&context, &p.relaxed, 0.0) {
            true => branch(&context, &p.relaxed),
            false => None,
        };
        let mut open: Vec<(usize, usize)> =
            (0..pending.len()).filter_map(|a| Some((a, member(&pending[a])?))).collect();
        open.sort_by(|a, b| pending[a.0].relaxed.dual.total_cmp(&pending[b.0].relaxed.dual));
        open.truncate(most);
        // The last first, so that the places of the others stay what they are.
        open.sort_unstable_by_key(|open| std::cmp::Reverse(open.0));
        open.into_iter().map(|(a, member)| (pending.remove(a), member)).collect()
    }

    /// α = (1 − ϑ)α_parent + ϑα_own, the least ϑ found with D_near > cutoff + 0.3(cutoff − D_parent) (MATH 11.24): moves the dual point of
    /// a node that seems closed back towards its parent's, where far features hardly violate anything, as far as it still seems closed
    /// there, with room for those that do. Any dual point gives a bound where no curvature is moved.
    fn blend_with_parent(&self, child: &mut NodeRelaxation, parent: &NodeRelaxation) {
        let (cutoff, tuning) = (self.cutoff(), &self.setting.tuning);
        let wanted = cutoff + tuning.spare_share * (cutoff - parent.dual);
        if child.dual <= wanted || child.inherited.is_some() {
            return;
        }
        let (context, own) = (self.context(), child.clone());
        let mut before = NodeRelaxation { alpha: parent.alpha.clone(), ..child.clone() };
        correlate(&context, &mut before);
        // D is concave along the way, and at its end more than is wanted.
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..tuning.blend_halvings {
            let theta = 0.5 * (low + high);
            child.alpha = blend(&before.alpha, &own.alpha, theta);
            child.members.tau = blend(&before.members.tau, &own.members.tau, theta);
            measure(&context, child);
            if child.dual > wanted { high = theta } else { low = theta }
        }
        child.alpha = blend(&before.alpha, &own.alpha, high);
        self.setting.problem.project(&mut child.alpha);
        correlate(&context, child);
        measure(&context, child);
        if child.dual <= cutoff {
            *child = own;
        }
    }
}

/// (1 − ϑ)a + ϑb.
fn blend(a: &[f64], b: &[f64], theta: f64) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| (1.0 - theta) * a + theta * b).collect()
}
