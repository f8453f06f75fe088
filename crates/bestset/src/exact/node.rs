//! A node of the tree: what has been decided on the way to it, kept as differences to its parent.

use crate::exact::relax::Relaxed;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::sync::Arc;

/// What is decided about a feature in a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// Open.
    Free,
    /// In the model: its price λ0 is paid, its coefficient pays λ1 and λ2 only.
    In,
    /// Not in the model.
    Out,
}

/// The decisions of one step down the tree, by position in the active set.
#[derive(Debug)]
pub struct Link {
    /// The steps above.
    pub parent: Option<Arc<Link>>,
    /// Positions decided to be in.
    pub inside: Vec<u32>,
    /// Positions decided to be out.
    pub outside: Vec<u32>,
}

/// Curvature moved between loss and penalty, for a node and those below it (see [`crate::exact::diagonal`]).
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Moved {
    /// d, s and share by position; zero where none is listed.
    pub by_position: Vec<(u32, f64, f64, f64)>,
    /// Members of the node it was made for.
    pub members: usize,
    /// How many of them were in the model.
    pub inside: usize,
}

/// An open node.
#[derive(Debug, Clone)]
pub struct Node {
    /// No subset in this node has a lower P.
    pub bound: f64,
    /// Order of creation: breaks ties, so that the search does not depend on the number of threads.
    pub id: usize,
    /// The decisions that lead here.
    pub link: Option<Arc<Link>>,
    /// The parent's minimiser of the relaxation, to start from.
    pub beta: Vec<(u32, f64)>,
    /// Features that are open here but not in the active set, ascending.
    pub far: Arc<Vec<usize>>,
    /// Length of the active set when the node was made: positions added since are open only if `far` lists them.
    pub known: usize,
    /// Price ν of one feature on top of λ0, for a limited size.
    pub multiplier: f64,
    /// Curvature moved between loss and penalty.
    pub moved: Option<Arc<Moved>>,
}

impl Node {
    /// About the bytes it takes, with all that it shares with its sibling.
    pub fn bytes(&self) -> usize {
        let decided = self.link.as_ref().map_or(0, |l| l.inside.capacity() + l.outside.capacity());
        let moved = self.moved.as_ref().map_or(0, |m| size_of::<(u32, f64, f64, f64)>() * m.by_position.len());
        let lists = 4 * decided + size_of::<(u32, f64)>() * self.beta.len() + size_of::<usize>() * self.far.len();
        size_of::<Self>() + size_of::<Link>() + 16 + lists + moved
    }

    /// The choice at each of the positions that stand for `features`.
    pub fn choices(&self, features: &[usize]) -> Vec<Choice> {
        let mut choices = vec![Choice::Free; features.len()];
        for (k, choice) in choices.iter_mut().enumerate().skip(self.known) {
            if self.far.binary_search(&features[k]).is_err() {
                *choice = Choice::Out;
            }
        }
        let mut link = self.link.as_ref();
        while let Some(step) = link {
            step.inside.iter().for_each(|&k| choices[k as usize] = Choice::In);
            step.outside.iter().for_each(|&k| choices[k as usize] = Choice::Out);
            link = step.parent.as_ref();
        }
        choices
    }

    /// Positions that are in and out after the node's rules and were not before. Of those that came after the node was made, all
    /// that are not open here: its children take them for open otherwise.
    pub fn decisions(&self, relaxed: &Relaxed, features: &[usize]) -> (Vec<u32>, Vec<u32>) {
        let (before, mut after) = (self.choices(features), vec![Choice::Out; features.len()]);
        relaxed.members.iter().zip(&relaxed.choices).for_each(|(&k, &choice)| after[k] = choice);
        let changed = |to: Choice| -> Vec<u32> {
            let new = |k: &usize| after[*k] == to && (*k >= self.known || before[*k] != to);
            (0..after.len()).filter(new).map(|k| k as u32).collect()
        };
        (changed(Choice::In), changed(Choice::Out))
    }
}

impl PartialEq for Node {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Node {}

impl PartialOrd for Node {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Node {
    /// Greatest first out of the heap: the lowest bound, then the latest node, which dives.
    fn cmp(&self, other: &Self) -> Ordering {
        other.bound.total_cmp(&self.bound).then(self.id.cmp(&other.id))
    }
}
