//! A long tree begun again, from all subsets bounded with products of coefficients taken (MATH 11.46).
//!
//! Such a look takes as long as hundreds of nodes and is of use to all of them: it leaves out features that no rule of a node does while its
//! gap is above a price.

use crate::control::Monitor;
use crate::exact::node::relax::relax;
use crate::exact::node::start::start;
use crate::exact::node::{Link, Node};
use crate::exact::signed::{self, Found};
use crate::exact::strengthen::strengthen;
use crate::exact::tree::Tree;
use std::sync::Arc;

impl Tree<'_, '_> {
    /// Whether a look may be made at all: at a price, for the best subset alone.
    pub(super) fn may_take_products(&self) -> bool {
        let setting = &self.setting;
        let is_priced = setting.problem.penalty().lambda0 > 0.0 && setting.size.is_none() && setting.added.is_none();
        is_priced && setting.options.top == 1 && setting.problem.loss().is_quadratic()
    }

    /// All subsets bounded once the tree is a long one, and the tree begun again with the features that are left. False where a limit cut it short.
    pub(super) fn look_at_products(&mut self, monitor: &mut Monitor<'_>) -> bool {
        if !self.products_due || self.processed < self.setting.tuning.nodes_before_products || self.frontier.len() == 0
        {
            return true;
        }
        let root = self.root_node();
        let (context, goal, limits) = (self.context(), self.goal(), monitor.limits().clone());
        let node = strengthen(&context, relax(&context, start(&context, &root), &goal, &limits), &goal, &limits);
        let found = signed::look(&context, node, &goal, &limits);
        if limits.stop(0).is_some() {
            return false;
        }
        self.products_due = false;
        if let Some(found) = found {
            self.replant(root, found);
        }
        true
    }

    /// A node of all subsets.
    fn root_node(&self) -> Node {
        Node {
            bound: self.root_bound(),
            id: self.made,
            link: None,
            beta: Vec::new(),
            far: Arc::new(Vec::new()),
            known: self.near.active.len(),
            multiplier: 0.0,
            moved: None,
            costs: None,
        }
    }

    /// The open nodes make room for one of all subsets, where more is known of it than of most of them.
    fn replant(&mut self, root: Node, found: Found) {
        let Found { bound, outside, inside } = found;
        if bound > self.cutoff() {
            while self.frontier.pop().is_some() {}
            return self.frontier.close(bound, false);
        }
        while self.frontier.pop().is_some() {}
        self.made += 1;
        let link = Link { parent: None, inside, outside };
        self.frontier.push(Node { bound: bound.max(root.bound), link: Some(Arc::new(link)), ..root });
    }
}
