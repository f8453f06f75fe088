//! A node made stronger by curvature moved between loss and penalty, again as long as that pays.
//!
//! The bound is concave in d. Where coefficients are fractional tells to first order what is worth moving, and how they answer to second
//! order ([`crate::exact::curvature`]): a move goes on from what the node inherits, and a second one is worth its cost only as long as the
//! first gains.
//!
//! With fewer members more curvature can be moved, and with more of it moved fewer members hold out when they are probed
//! ([`crate::exact::probe`]): the two take turns.

use crate::control::Limits;
use crate::exact::curvature::move_curvature;
use crate::exact::node::decide::decide;
use crate::exact::node::relax::{Goal, relax};
use crate::exact::node::{Choice, NodeContext, NodeRelaxation};
use crate::exact::probe::probe_members;

/// The node with curvature moved as long as that pays, the rules applied after each move, up to the one whose bound prunes it.
/// What the node is left with is the move of the best bound.
pub fn strengthen(
    context: &NodeContext<'_, '_, '_>,
    mut node: NodeRelaxation,
    goal: &Goal,
    limits: &Limits,
) -> NodeRelaxation {
    let tuning = context.tuning;
    let mut moves = Moves { context, goal, limits, best: None };
    let mut last = f64::NEG_INFINITY;
    for look in 0..tuning.curvature_looks {
        let rises = node.dual - last;
        if node.bound > goal.cutoff
            || limits.stop(0).is_some()
            || !should_move(context, &node)
            || goal.best - node.dual > tuning.looks_left * rises
        {
            break;
        }
        last = node.dual;
        for pool in [false, true] {
            let count = node.members.len();
            // After a pool φ′ is less, and so are the shares of the next: a second one hardly gains.
            let is_due = if pool { look == 0 && count >= tuning.least_pooled } else { count <= tuning.most_unpooled };
            if is_due {
                node = moves.make(node, pool);
                if node.bound > goal.cutoff {
                    return node;
                }
            }
        }
    }
    match moves.best {
        Some(best) if best.dual > node.dual => best.follow(&node),
        _ => node,
    }
}

/// The moves of curvature in one node.
struct Moves<'s, 'g, 'p, 'a> {
    context: &'s NodeContext<'g, 'p, 'a>,
    goal: &'s Goal,
    limits: &'s Limits,
    /// The node before the move that it was strongest before.
    best: Option<NodeRelaxation>,
}

impl Moves<'_, '_, '_, '_> {
    /// One move, with or without a pool; relaxes, decides and probes after it.
    fn make(&mut self, mut node: NodeRelaxation, pool: bool) -> NodeRelaxation {
        let Self { context, goal, limits, .. } = *self;
        if node.stale {
            node = relax(context, node, goal, limits);
            if node.bound > goal.cutoff {
                return node;
            }
        }
        let before = node.clone();
        let is_moved = move_curvature(context, &mut node, pool.then_some(goal.best), limits);
        if !is_moved {
            return node;
        }
        if self.best.as_ref().is_none_or(|best| best.dual < before.dual) {
            self.best = Some(before);
        }
        node = relax(context, node, goal, limits);
        if node.bound > goal.cutoff {
            return node;
        }
        decide(context, &mut node, goal.best);
        probe_if_promising(context, node, goal, limits)
    }
}

/// The node with its members probed on either side, where enough of them may fall.
fn probe_if_promising(
    context: &NodeContext<'_, '_, '_>,
    mut node: NodeRelaxation,
    goal: &Goal,
    limits: &Limits,
) -> NodeRelaxation {
    if !may_fall(context, &node, goal.best) {
        return node;
    }
    if node.stale {
        node = relax(context, node, goal, limits);
    }
    if node.bound <= goal.cutoff {
        probe_members(context, &mut node, goal.best, limits);
    }
    node
}

/// Whether enough members at zero could be excluded if no other answered to them.
pub fn may_fall(context: &NodeContext<'_, '_, '_>, node: &NodeRelaxation, best: f64) -> bool {
    let members = &node.members;
    let could_fall = |&a: &usize| {
        let square = context.bounds.square(context.feature(node, a));
        let alone = context.coordinate(node, a).curved((square - members.moved[a]).max(0.0));
        members.beta[a] == 0.0 && members.choices[a] == Choice::Free && node.dual + alone.phi(members.tau[a]) > best
    };
    let count = (0..members.len()).filter(could_fall).count();
    count as f64 >= context.tuning.falling_share * members.len() as f64
}

/// Whether the curvature can be looked at: there are few enough members.
pub fn should_move(context: &NodeContext<'_, '_, '_>, node: &NodeRelaxation) -> bool {
    context.problem().loss().is_quadratic() && node.members.len() <= context.most_curved
}
