//! The open nodes, and what the closed ones prove.

use crate::exact::node::Node;
use std::collections::{BinaryHeap, HashMap};
use std::sync::Arc;

/// Every subset is in an open node, among the answers, or in a closed node whose bound counts here.
pub struct Frontier {
    open: BinaryHeap<Node>,
    /// Bytes of the open nodes.
    bytes: usize,
    /// How many of them share each list of far features, by where it is.
    sharing: HashMap<usize, usize>,
    /// Least bound of the nodes that were closed, +∞ without one.
    pub closed: f64,
    /// The same, of those that may hold subsets which were not looked at.
    pub unseen: f64,
}

impl Frontier {
    /// Nothing open, nothing closed.
    pub fn new() -> Self {
        Self {
            open: BinaryHeap::new(),
            bytes: 0,
            sharing: HashMap::new(),
            closed: f64::INFINITY,
            unseen: f64::INFINITY,
        }
    }

    /// One more open node.
    pub fn push(&mut self, node: Node) {
        self.bytes += node.bytes();
        let sharing = self.sharing.entry(Arc::as_ptr(&node.far).addr()).or_insert(0);
        *sharing += 1;
        if *sharing == 1 {
            self.bytes += bytes_of_list(&node);
        }
        self.open.push(node);
    }

    /// The open node with the lowest bound.
    pub fn pop(&mut self) -> Option<Node> {
        let node = self.open.pop()?;
        self.bytes -= node.bytes();
        let list = Arc::as_ptr(&node.far).addr();
        let left = self.sharing.get(&list).map_or(0, |sharing| sharing - 1);
        if left > 0 {
            self.sharing.insert(list, left);
        } else {
            self.sharing.remove(&list);
            self.bytes -= bytes_of_list(&node);
        }
        Some(node)
    }

    /// Closes a node; `seen` when its best subset, for `top` = 1, or its only one was offered to the answers.
    pub fn close(&mut self, bound: f64, seen: bool) {
        self.closed = self.closed.min(bound);
        if !seen {
            self.unseen = self.unseen.min(bound);
        }
    }

    /// The open nodes, in no order.
    pub fn open(&self) -> impl Iterator<Item = &Node> {
        self.open.iter()
    }

    /// How many are open.
    pub fn len(&self) -> usize {
        self.open.len()
    }

    /// Bytes of the open nodes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The least bound of the open nodes, +∞ without one.
    fn least_open(&self) -> f64 {
        self.open.peek().map_or(f64::INFINITY, |n| n.bound)
    }

    /// The least bound of all nodes, open and closed (MATH 11.26).
    pub fn bound(&self) -> f64 {
        self.least_open().min(self.closed)
    }

    /// The least P that a subset which was not offered can have (MATH 11.27).
    pub fn unseen_bound(&self) -> f64 {
        self.least_open().min(self.unseen)
    }
}

/// Of the list of far features, which nodes share, and of what these cost.
fn bytes_of_list(node: &Node) -> usize {
    size_of::<usize>() * node.far.len() + node.costs.as_ref().map_or(0, |costs| costs.parts.len())
}
