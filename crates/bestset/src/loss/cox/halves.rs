//! Ranges of places, halved and halved again.

use crate::loss::cox::scale::Uneven;

/// A binary tree over places: sums over a range, or values added to a range, without a difference.
pub(super) struct Halves {
    pub(super) size: usize,
    pub(super) nodes: Vec<f64>,
}

impl Halves {
    pub(super) fn new(len: usize) -> Self {
        Self::filled(len, 0.0)
    }

    pub(super) fn filled(len: usize, value: f64) -> Self {
        let size = len.next_power_of_two();
        Self { size, nodes: vec![value; 2 * size] }
    }

    /// Sums over all ranges.
    pub(super) fn of(values: &[f64], scales: Option<&Uneven>) -> Self {
        let mut tree = Self::new(values.len());
        tree.nodes[tree.size..tree.size + values.len()].copy_from_slice(values);
        let part = |tree: &Self, node: usize| scales.map_or(1.0, |to| to.edge(node)) * tree.nodes[node];
        for node in (1..tree.size).rev() {
            tree.nodes[node] = part(&tree, 2 * node) + part(&tree, 2 * node + 1);
        }
        tree
    }

    /// The least values over all ranges.
    pub(super) fn least(values: &[f64]) -> Self {
        let mut tree = Self::filled(values.len(), f64::INFINITY);
        tree.nodes[tree.size..tree.size + values.len()].copy_from_slice(values);
        for node in (1..tree.size).rev() {
            tree.nodes[node] = tree.nodes[2 * node].min(tree.nodes[2 * node + 1]);
        }
        tree
    }

    /// The nodes that make up a range.
    fn parts(&self, from: usize, to: usize, mut visit: impl FnMut(usize)) {
        let (mut low, mut high) = (from + self.size, to + self.size);
        while low < high {
            if low & 1 == 1 {
                visit(low);
                low += 1;
            }
            if high & 1 == 1 {
                high -= 1;
                visit(high);
            }
            (low, high) = (low / 2, high / 2);
        }
    }

    /// What the parts of a range become.
    pub(super) fn change(&mut self, from: usize, to: usize, new: impl Fn(usize, f64) -> f64) {
        let mut parts = [0usize; 128];
        let mut count = 0;
        self.parts(from, to, |node| {
            parts[count] = node;
            count += 1;
        });
        parts[..count].iter().for_each(|&node| self.nodes[node] = new(node, self.nodes[node]));
    }

    pub(super) fn add(&mut self, from: usize, to: usize, x: impl Fn(usize) -> f64) {
        self.change(from, to, |node, value| value + x(node));
    }

    /// What was added to ranges, to all their places.
    pub(super) fn push_down(&mut self, scales: Option<&Uneven>) {
        for node in 2..self.nodes.len() {
            self.nodes[node] += scales.map_or(1.0, |to| to.edge(node)) * self.nodes[node / 2];
        }
    }

    pub(super) fn sum(&self, from: usize, to: usize, factor: impl Fn(usize) -> f64) -> f64 {
        let mut sum = 0.0;
        self.parts(from, to, |node| sum += factor(node) * self.nodes[node]);
        sum
    }

    pub(super) fn least_over(&self, from: usize, to: usize) -> f64 {
        let mut least = f64::INFINITY;
        self.parts(from, to, |node| least = least.min(self.nodes[node]));
        least
    }
}
