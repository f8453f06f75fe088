//! A node with its relaxation: where it starts, and what it has come to.

use crate::exact::node::{Choice, Members, MovedCurvature, Node, NodeContext};
use std::sync::Arc;

/// A node with its relaxation.
#[derive(Clone)]
pub struct NodeRelaxation {
    /// The features that are not out, with the minimiser's coefficients.
    pub members: Members,
    /// The minimiser's intercept.
    pub intercept: f64,
    /// The dual point of the minimiser.
    pub alpha: Vec<f64>,
    /// The price ν on top of λ0 (MATH 11.5).
    pub multiplier: f64,
    /// The members' curvature, as nodes below inherit it.
    pub inherited: Option<Arc<MovedCurvature>>,
    /// L at the minimiser.
    pub loss: f64,
    /// R_node at the minimiser (MATH 11.2).
    pub value: f64,
    /// −Σ_W Ψ′_j of the free members with a share: what the bound lacks because they stay at zero (MATH 11.22).
    pub owed: f64,
    /// D_node(α), or D′, less what rounding can have added (MATH 11.1, 11.8): what the optimality rules build on.
    pub dual: f64,
    /// The bound of the node: the better of its own and its parent's.
    pub bound: f64,
    /// Whether the rules have since decided about a coefficient that is not zero: the minimiser may move.
    pub stale: bool,
}

impl NodeRelaxation {
    /// The node at its parent's minimiser.
    pub fn start(context: &NodeContext<'_, '_, '_>, node: &Node) -> Self {
        let decided = node.choices(context.near.active.features());
        let inside = decided.iter().filter(|c| **c == Choice::In).count();
        let full = context.size.is_some_and(|k| inside >= k);
        let is_member = |k: &usize| decided[*k] == Choice::In || decided[*k] == Choice::Free && !full;
        let positions: Vec<usize> = (0..decided.len()).filter(is_member).collect();
        // A size that cannot be exceeded is no limit: its price would only be paid back for places left empty.
        let unlimited = full || context.size.is_some_and(|k| positions.len() + node.far.len() <= k);
        let choices = positions.iter().map(|&k| decided[k]).collect();
        Self {
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

    /// The same node, where nothing is known of any curvature that was moved.
    pub fn without_curvature(&self) -> Self {
        let mut plain = Self { inherited: None, ..self.clone() };
        plain.members.forget_curvature();
        plain
    }

    /// Decides about a member; its minimiser is another one then, if its coefficient was not zero.
    pub fn set(&mut self, a: usize, choice: Choice) {
        self.members.choices[a] = choice;
        self.stale |= self.members.beta[a] != 0.0;
    }

    /// Takes over what has been decided in `later`, the same node after more rules, and its bound if that is better.
    pub fn follow(mut self, later: &Self) -> Self {
        let mut kept = later.members.positions.iter().zip(&later.members.choices).peekable();
        for a in 0..self.members.len() {
            let position = self.members.positions[a];
            while kept.next_if(|k| *k.0 < position).is_some() {}
            let choice = kept.peek().filter(|k| *k.0 == position).map_or(Choice::Out, |k| *k.1);
            if choice != self.members.choices[a] {
                self.set(a, choice);
            }
        }
        self.bound = self.bound.max(later.bound);
        self.members.drop_out();
        self
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
