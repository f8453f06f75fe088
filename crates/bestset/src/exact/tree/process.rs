//! What happens to a node: it is relaxed, decided about, strengthened and rounded, then closed or split.

use crate::control::{Limits, Monitor};
use crate::error::Result;
use crate::exact::node::bound::solves;
use crate::exact::node::branch::branch;
use crate::exact::node::decide::decide;
use crate::exact::node::relax::{Goal, relax};
use crate::exact::node::round::{RoundedPoint, only_subset, round};
use crate::exact::node::start::start;
use crate::exact::node::{Choice, Link, Node, NodeContext, NodeRelaxation};
use crate::exact::strengthen::strengthen;
use crate::exact::tree::Tree;
use rayon::prelude::*;
use std::sync::Arc;

impl Tree<'_, '_> {
    /// Relaxes the nodes side by side, then takes the results in order.
    pub(in crate::exact) fn process(&mut self, batch: Vec<Node>, monitor: &mut Monitor<'_>) -> Result<()> {
        self.processed += batch.len();
        let (near, far): (Vec<Node>, Vec<Node>) = batch.into_iter().partition(|n| n.far.is_empty());
        if !far.is_empty() {
            self.look_far(far, monitor)?;
        }
        let (goal, context, limits) = (self.goal(), self.context(), monitor.limits().clone());
        let one = |node: &Node| look_at(&context, node, &goal, &limits);
        let results: Vec<_> = near.par_iter().map(one).collect();
        for (node, (relaxed, rounded)) in near.into_iter().zip(results) {
            if let Some(RoundedPoint { value, beta }) = rounded
                && value < self.pool.limit()
            {
                self.offer(&beta, relaxed.intercept, monitor)?;
            }
            self.close_or_split(node, relaxed, monitor)?;
        }
        self.extend_core();
        Ok(())
    }

    /// What nodes are relaxed for, with the answers there are.
    pub(super) fn goal(&self) -> Goal {
        Goal { best: self.pool.limit(), cutoff: self.cutoff(), room: self.node_room() }
    }

    /// Closes a node, or splits it.
    pub(super) fn close_or_split(
        &mut self,
        node: Node,
        relaxed: NodeRelaxation,
        monitor: &mut Monitor<'_>,
    ) -> Result<()> {
        if relaxed.bound > self.cutoff() {
            self.frontier.close(relaxed.bound, false);
            return Ok(());
        }
        let decisions = node.decisions(&relaxed.members, self.near.active.features());
        let (context, is_single) = (self.context(), self.setting.options.top == 1);
        let (beta, branch) = (relaxed.members.nonzeros(), branch(&context, &relaxed));
        let solved = solves(&context, &relaxed, self.node_room());
        if solved && !relaxed.stale {
            let answer = if branch.is_none() { only_subset(&context, &relaxed) } else { beta.clone() };
            self.offer(&answer, relaxed.intercept, monitor)?;
        }
        let sides: &[Choice] = match branch {
            // The minimiser is an answer: the node is done, unless others of it are wanted as well.
            _ if solved && is_single && !relaxed.stale => &[],
            Some(_) if !(solved && is_single) => &[Choice::Out, Choice::In],
            _ if !decisions.inside.is_empty() || !decisions.outside.is_empty() => &[Choice::Free],
            _ => &[],
        };
        if sides.is_empty() {
            // A relaxation that a limit cut short may leave better subsets than its point between its value and its bound.
            let tight = relaxed.value - relaxed.bound <= self.room();
            self.frontier.close(relaxed.bound, solved && tight && (is_single || branch.is_none()));
            return Ok(());
        }
        self.join_core(&relaxed)?;
        let position = branch.map(|a| relaxed.members.positions[a] as u32);
        let known = self.near.active.len();
        let (bound, multiplier, moved) = (relaxed.bound, relaxed.multiplier, relaxed.inherited);
        let parent = Node { bound, beta, known, multiplier, moved, ..node };
        sides.iter().for_each(|&side| {
            let child = self.child(&parent, step(&decisions, position, side));
            self.frontier.push(child);
        });
        Ok(())
    }

    /// The next node, like its parent but for one more step of decisions.
    pub(super) fn child(&mut self, parent: &Node, step: Link) -> Node {
        let id = self.made;
        self.made += 1;
        Node { id, link: Some(Arc::new(step)), ..parent.clone() }
    }

    /// The features that are not zero join the core. Where few members are left their curvature is looked at in every node, and that
    /// takes the inner products of all of them.
    fn join_core(&mut self, relaxed: &NodeRelaxation) -> Result<()> {
        let (members, tuning) = (&relaxed.members, &self.setting.tuning);
        let few = members.len() <= self.most_curved().min(3 * self.setting.problem.nrows() / 2)
            && self.core.active.len() < tuning.most_core;
        let joining = members.positions.iter().zip(&members.beta).filter(|p| few || *p.1 != 0.0);
        let most = self.core.most_columns(tuning.memory_for_columns);
        self.core.include_until(joining.map(|(&k, _)| self.near.active.features()[k]), most)
    }
}

/// A node relaxed, decided about and strengthened; rounded to an answer where it stays open and its turn has come.
fn look_at(
    context: &NodeContext<'_, '_, '_>,
    node: &Node,
    goal: &Goal,
    limits: &Limits,
) -> (NodeRelaxation, Option<RoundedPoint>) {
    let mut relaxed = relax(context, start(context, node), goal, limits);
    if relaxed.bound <= goal.cutoff {
        decide(context, &mut relaxed, goal.best);
    }
    // Where features wait that are to be split on first, that is what raises the bound most.
    if context.first_free(&relaxed).is_empty() {
        relaxed = strengthen(context, relaxed, goal, limits);
    }
    let tuning = context.tuning;
    let has_turn = node.id < tuning.rounded_nodes || node.id.is_multiple_of(tuning.rounded_every);
    let is_rounded = relaxed.bound <= goal.cutoff && has_turn;
    let rounded = is_rounded.then(|| round(context, &relaxed, limits));
    (relaxed, rounded)
}

/// The decisions, with the position on one side.
fn step(decisions: &Link, position: Option<u32>, side: Choice) -> Link {
    let Link { parent, inside, outside } = decisions;
    let (parent, mut inside, mut outside) = (parent.clone(), inside.clone(), outside.clone());
    match side {
        Choice::In => inside.extend(position),
        Choice::Out => outside.extend(position),
        Choice::Free => {}
    }
    Link { parent, inside, outside }
}
