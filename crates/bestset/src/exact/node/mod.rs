//! A node of the tree: what has been decided on the way to it, kept as differences to its parent.
//!
//! | file | what |
//! |---|---|
//! | here | [`Node`], as it waits to be looked at, and [`Link`], one step of decisions |
//! | `members` | [`Members`]: the features that are not out, with all that is known of each |
//! | `costs` | [`FarCosts`]: which far features no better subset of the node has together |
//! | `moved` | [`MovedCurvature`], as nodes hand it down |
//! | `context` | [`NodeContext`]: columns, inner products and limits that all nodes look at |
//! | `relaxation`, `start` | [`NodeRelaxation`]: a node with its minimiser, dual point and bound; where it starts |
//! | `bound` | R_node and D_node of a point |
//! | `minimise`, `relax` | the minimiser; the relaxation solved as far as its purpose asks |
//! | `products` | inner products of what a node works on, handed to those that it is split into |
//! | `decide`, `branch`, `round` | the optimality rules; the feature to split on; answers out of a node |

pub mod bound;
pub mod branch;
pub mod context;
pub mod costs;
pub mod decide;
pub mod members;
pub mod minimise;
pub mod moved;
pub mod products;
pub mod relax;
pub mod relaxation;
pub mod round;
pub mod start;

pub use context::NodeContext;
pub use members::{Choice, Members};
pub use moved::MovedCurvature;
pub use relaxation::NodeRelaxation;

pub use costs::FarCosts;
use moved::MemberCurvature;
use std::cmp::Ordering;
use std::sync::Arc;

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
    /// Features that are open here but whose columns are not in memory, ascending; some of a long list, which many nodes share, may have
    /// come near and be decided since.
    pub far: Arc<Vec<usize>>,
    /// How many columns were in memory when the node was made: positions added since are open only if `far` lists them.
    pub known: usize,
    /// Price ν of one feature on top of λ0, for a limited size (MATH 11.5), or the share ψ of λ0 outside the answer, among subsets that add some (MATH 13.11).
    pub multiplier: f64,
    /// Curvature moved between loss and penalty.
    pub moved: Option<Arc<MovedCurvature>>,
    /// What its far features cost beside each other, where that was looked at: of the node, or of one that it comes from.
    pub costs: Option<Arc<FarCosts>>,
}

impl Node {
    /// About the bytes it takes, with all that it shares with its sibling but the list of far features.
    pub fn bytes(&self) -> usize {
        let decided = self.link.as_ref().map_or(0, |l| l.inside.capacity() + l.outside.capacity());
        let moved = self.moved.as_ref().map_or(0, |m| size_of::<MemberCurvature>() * m.by_position.len());
        let lists = 4 * decided + size_of::<(u32, f64)>() * self.beta.len();
        size_of::<Self>() + size_of::<Link>() + 16 + lists + moved
    }

    /// The choice at each of the positions that stand for `features`.
    pub fn choices(&self, features: &[usize]) -> Vec<Choice> {
        let mut choices = vec![Choice::Free; features.len()];
        for (k, choice) in choices.iter_mut().enumerate().skip(self.known) {
            if !is_listed(&self.far, features[k]) {
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

    /// The step from here to what the node's rules have made of its members: positions that are in and out now and were not before.
    /// Of those that came after the node was made, all that are not open here: its children take them for open otherwise.
    pub fn decisions(&self, members: &Members, features: &[usize]) -> Link {
        let (before, mut after) = (self.choices(features), vec![Choice::Out; features.len()]);
        members.positions.iter().zip(&members.choices).for_each(|(&k, &choice)| after[k] = choice);
        let changed = |to: Choice| -> Vec<u32> {
            let new = |k: &usize| after[*k] == to && (*k >= self.known || before[*k] != to);
            (0..after.len()).filter(new).map(|k| k as u32).collect()
        };
        Link { parent: self.link.clone(), inside: changed(Choice::In), outside: changed(Choice::Out) }
    }
}

/// Whether an ascending list has the feature. Only so many can be missing before it as are missing of 0, 1, … up to the last: in a list of
/// nearly all features it is not far from its own number.
pub fn is_listed(features: &[usize], j: usize) -> bool {
    let Some(&last) = features.last() else { return false };
    let missing = last + 1 - features.len();
    let within = j.saturating_sub(missing).min(features.len())..features.len().min(j.saturating_add(1));
    j <= last && features[within].binary_search(&j).is_ok()
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Lists of nearly all features and of few, with gaps anywhere.
    #[test]
    fn what_a_list_has_is_found() {
        let lists: [Vec<usize>; 6] =
            [vec![], vec![0], vec![7], (0..50).collect(), (3..50).filter(|j| j % 9 > 0).collect(), vec![2, 40, 41]];
        for list in lists {
            for j in 0..60 {
                assert_eq!(is_listed(&list, j), list.contains(&j), "{j} of {list:?}");
            }
        }
        assert!(!is_listed(&[1, 2], usize::MAX));
    }
}
