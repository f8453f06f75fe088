//! The relaxation of a node (MATH 11.2), solved as far as its purpose asks: until it prunes the node, or is good enough to split it
//! or to answer with it.

use crate::control::Limits;
use crate::exact::node::bound::{count, has_fractional, measure};
use crate::exact::node::members::BUDGET_ROUNDING;
use crate::exact::node::minimise::minimise;
use crate::exact::node::products::{LatestProducts, Products};
use crate::exact::node::{NodeContext, NodeRelaxation};

/// What a node is relaxed for.
#[derive(Debug, Clone, Copy)]
pub struct Goal {
    /// P̂, the value that a subset must be below to be of use.
    pub best: f64,
    /// A bound above this closes the node (MATH 11.3).
    pub cutoff: f64,
    /// A gap below this is none.
    pub room: f64,
}

/// min R_node = max D_node (MATH 11.2) until the node is pruned (bound > cutoff), is tight enough to branch on or, when there is
/// nothing to branch on, until its gap is below the room.
pub fn relax(context: &NodeContext<'_, '_, '_>, node: NodeRelaxation, goal: &Goal, limits: &Limits) -> NodeRelaxation {
    relax_after(context, node, &mut LatestProducts::after(&Products::default()), goal, limits)
}

/// As [`relax`], with inner products that are known. Σ_I θ_j > 1 closes the node (MATH 11.20).
pub fn relax_after(
    context: &NodeContext<'_, '_, '_>,
    mut node: NodeRelaxation,
    products: &mut LatestProducts<'_>,
    goal: &Goal,
    limits: &Limits,
) -> NodeRelaxation {
    if node.members.spent() > 1.0 + BUDGET_ROUNDING {
        node.bound = f64::INFINITY;
        return node;
    }
    let mut prices = context.multipliers();
    let mut best: Option<NodeRelaxation> = None;
    let mut precision = Precision::new(context, &node, goal);
    loop {
        minimise(context, &mut node, products, precision.tolerance, limits);
        measure(context, &mut node);
        if node.dual <= goal.cutoff && limits.stop(0).is_none() {
            if let Some(next) = prices.next(node.multiplier, count(context, &node), goal.cutoff - node.dual) {
                if best.as_ref().is_none_or(|b| b.dual < node.dual) {
                    best = Some(node.clone());
                }
                node.multiplier = next;
                continue;
            }
            if precision.is_refined(context, &node, goal) {
                continue;
            }
        }
        let mut node = match best {
            Some(best) if best.dual > node.dual => best,
            _ => node,
        };
        (node.bound, node.stale) = (node.dual.max(node.bound), false);
        return node;
    }
}

/// How tightly the relaxation is solved.
struct Precision {
    /// The gap that the next descent is to leave.
    tolerance: f64,
    /// The size of P, which rounding is relative to.
    scale: f64,
}

impl Precision {
    /// A small part of a feature's price, or of P, is enough for most nodes.
    fn new(context: &NodeContext<'_, '_, '_>, node: &NodeRelaxation, goal: &Goal) -> Self {
        let scale = if goal.cutoff.is_finite() { goal.cutoff.abs() } else { context.scale }.max(f64::MIN_POSITIVE);
        let price = context.price(node.multiplier);
        // Where it is known what to split on, a part of what that brings is enough.
        let part = if context.first_free(node).is_empty() { 0.05 } else { 0.5 };
        let tolerance = part * if price > 0.0 { price.min(1e-2 * scale) } else { 1e-2 * scale };
        Self { tolerance, scale }
    }

    /// Between D and R the cutoff is undecided: solve more tightly, as far as rounding lets one. What is owed does not become less
    /// then.
    fn is_refined(&mut self, context: &NodeContext<'_, '_, '_>, node: &NodeRelaxation, goal: &Goal) -> bool {
        let value = node.value - node.owed;
        let usable = value - node.dual <= goal.room || has_fractional(context, node);
        if (value <= goal.cutoff && usable) || self.tolerance <= 1e-12 * self.scale {
            return false;
        }
        let excess = if value > goal.cutoff { 0.3 * (value - goal.cutoff) } else { f64::INFINITY };
        self.tolerance = (0.1 * self.tolerance).min(excess).max(5e-13 * self.scale);
        true
    }
}
