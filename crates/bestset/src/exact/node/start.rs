//! Where the relaxation of a node starts.

use crate::exact::node::{Choice, Members, Node, NodeContext, NodeRelaxation};

/// The node at its parent's minimiser.
pub fn start(context: &NodeContext<'_, '_, '_>, node: &Node) -> NodeRelaxation {
    let decided = node.choices(context.near.active.features());
    let inside = decided.iter().filter(|c| **c == Choice::In).count();
    let full = context.size.is_some_and(|k| inside >= k);
    let is_member = |k: &usize| decided[*k] == Choice::In || decided[*k] == Choice::Free && !full;
    let positions: Vec<usize> = (0..decided.len()).filter(is_member).collect();
    // A size that cannot be exceeded is no limit: its price would only be paid back for places left empty.
    let unlimited = full || context.size.is_some_and(|k| positions.len() + node.far.len() <= k);
    let choices = positions.iter().map(|&k| decided[k]).collect();
    NodeRelaxation {
        members: inherit(Members::new(positions, choices), node, decided.len()),
        intercept: context.near.intercept,
        alpha: vec![0.0; context.problem().nrows()],
        multiplier: if unlimited { 0.0 } else { node.multiplier },
        inherited: node.moved.clone(),
        loss: f64::NAN,
        value: f64::NAN,
        owed: 0.0,
        dual: f64::NEG_INFINITY,
        bound: node.bound,
        stale: false,
    }
}

/// The members with the parent's coefficients and curvature, both listed by position out of `count`.
fn inherit(mut members: Members, node: &Node, count: usize) -> Members {
    let mut beta = vec![0.0; count];
    node.beta.iter().for_each(|&(k, b)| beta[k as usize] = b);
    members.positions.iter().zip(&mut members.beta).for_each(|(&k, b)| *b = beta[k]);
    if let Some(moved) = &node.moved {
        let mut of_position = vec![None; count];
        moved.by_position.iter().for_each(|one| of_position[one.position as usize] = Some(one));
        for (a, &k) in members.positions.iter().enumerate() {
            if let Some(one) = of_position[k] {
                (members.moved[a], members.spare[a], members.share[a]) = (one.moved, one.spare, one.share);
            }
        }
    }
    members
}
