//! A node with its relaxation.

use crate::exact::node::members::{Choice, Members};
use crate::exact::node::moved::MovedCurvature;
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
    /// The price ν on top of λ0 (MATH 11.5), or the share ψ of it outside the answer, among subsets that add some (MATH 13.11).
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
