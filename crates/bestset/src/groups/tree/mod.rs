//! Branch and bound over groups (MATH 11.36–11.41): a node has groups in, out and open; the open node of least bound is looked at
//! next, and every limit leaves a valid bound.
//!
//! | file | what |
//! |---|---|
//! | here | [`GroupTree`]: open nodes, answers, what is known of closed nodes |
//! | `dual` | nodes bounded by the relaxation: λ2 > 0 or bounds on every coefficient, any loss |
//! | `least_squares` | nodes bounded by the fit on all their groups: least squares, without λ2 too |
//! | `family` | that fit, and what it costs to drop a group |
//! | `tests` | what a look promises, against all choices |

pub(crate) mod dual;
mod family;
pub(crate) mod least_squares;
#[cfg(test)]
mod tests;

use crate::control::{Limits, Memory, Monitor, Options};
use crate::error::Result;
use crate::groups::search::GroupFit;
use crate::groups::{Decision, Grouped};
use crate::solution::{Ranked, Status, TraceRow};
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::sync::Arc;

/// Share of the limit on memory for open nodes: one part in so many.
const OPEN_SHARE: usize = 2;

/// Where the relaxation of a node starts.
#[derive(Debug)]
pub(crate) struct Start {
    pub(crate) beta: Vec<f64>,
    pub(crate) intercept: f64,
    /// ν of the parent.
    pub(crate) nu: f64,
}

/// An open node.
#[derive(Debug)]
pub(crate) struct GroupNode {
    /// No choice of groups in this node has a lower P.
    pub(crate) bound: f64,
    /// Order of creation: breaks ties.
    id: usize,
    pub(crate) choices: Vec<Decision>,
    pub(crate) start: Option<Arc<Start>>,
}

impl PartialEq for GroupNode {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for GroupNode {}

impl PartialOrd for GroupNode {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for GroupNode {
    /// Greatest first out of the heap: the lowest bound, then the latest node, which dives.
    fn cmp(&self, other: &Self) -> Ordering {
        other.bound.total_cmp(&self.bound).then(self.id.cmp(&other.id))
    }
}

/// What a look at a node found.
#[derive(Debug, Default)]
pub(crate) struct Look {
    /// No choice that the rules cut off has a lower P; +∞ where they cut off none.
    pub(crate) cut: f64,
    /// Fits on the way.
    pub(crate) found: Vec<GroupFit>,
    /// The only choice left, where there is one.
    pub(crate) leaf: Option<GroupFit>,
    /// The nodes that the rest is divided into, each with its bound.
    pub(crate) children: Vec<(f64, Vec<Decision>)>,
    /// Where these start.
    pub(crate) start: Option<Arc<Start>>,
}

/// How nodes are bounded.
pub(crate) trait Bounding {
    /// Looks at a node; choices with P above `cutoff` are of no interest.
    fn look(&mut self, node: &GroupNode, cutoff: f64, limits: &Limits) -> Result<Look>;
}

/// The open nodes, the best answers, and what is known of the closed nodes.
pub(crate) struct GroupTree<'t, 'p, 'a> {
    grouped: &'t Grouped<'p, 'a>,
    options: &'t Options,
    open: BinaryHeap<GroupNode>,
    /// The best fits, least first, each of other groups.
    pool: Vec<(GroupFit, Vec<usize>)>,
    /// No choice in a closed node has a lower P, but for those in the pool.
    closed: f64,
    /// No fit of a choice in the pool is below.
    leaves: f64,
    absolute: f64,
    memory: Memory,
    /// Nodes that were looked at.
    pub(crate) processed: usize,
    made: usize,
}

impl<'t, 'p, 'a> GroupTree<'t, 'p, 'a> {
    /// The root, which has every group open, with its bound.
    pub(crate) fn new(
        grouped: &'t Grouped<'p, 'a>,
        options: &'t Options,
        bound: f64,
        start: Option<Arc<Start>>,
    ) -> Self {
        let choices = vec![Decision::Open; grouped.groups.len()];
        let root = GroupNode { bound: bound.max(0.0), id: 0, choices, start };
        Self {
            grouped,
            options,
            open: BinaryHeap::from([root]),
            pool: Vec::new(),
            closed: f64::INFINITY,
            leaves: f64::INFINITY,
            absolute: options.absolute(grouped.problem),
            memory: options.memory(),
            processed: 0,
            made: 1,
        }
    }

    /// Takes a fit over if it is among the best.
    pub(crate) fn offer(&mut self, fit: &GroupFit) {
        let groups = self.grouped.chosen(&fit.coefficients);
        if let Some(known) = self.pool.iter_mut().find(|known| known.1 == groups) {
            if fit.objective < known.0.objective {
                known.0 = fit.clone();
            }
        } else {
            self.pool.push((fit.clone(), groups));
        }
        self.pool.sort_by(|a, b| a.0.objective.total_cmp(&b.0.objective));
        self.pool.truncate(self.options.top);
    }

    /// The value that a choice must be below to be of interest.
    fn limit(&self) -> f64 {
        self.pool.get(self.options.top - 1).map_or(f64::INFINITY, |last| last.0.objective)
    }

    fn room(&self, value: f64) -> f64 {
        self.absolute.max(self.options.gap * value.abs())
    }

    /// P̂ − ½ max(absolute, relative · |P̂|) (MATH 11.3).
    fn cutoff(&self) -> f64 {
        let limit = self.limit();
        if limit.is_finite() { (limit - 0.5 * self.room(limit)).min(limit.next_down()) } else { f64::INFINITY }
    }

    /// What no choice outside the pool is below.
    fn others(&self) -> f64 {
        self.open.peek().map_or(f64::INFINITY, |node| node.bound).min(self.closed)
    }

    /// What no choice is below (MATH 11.26).
    pub(crate) fn lower_bound(&self) -> f64 {
        let best = self.pool.first().map_or(f64::INFINITY, |b| b.0.objective);
        self.others().min(self.leaves).min(best)
    }

    /// The best fit.
    pub(crate) fn best(&self) -> Option<&GroupFit> {
        self.pool.first().map(|b| &b.0)
    }

    /// The best choices, each proved where no other that is not listed is better (MATH 11.27).
    pub(crate) fn ranked(&self) -> Vec<Ranked> {
        let others = self.others();
        let one = |(fit, _): &(GroupFit, Vec<usize>)| Ranked {
            coefficients: fit.coefficients.clone(),
            objective: fit.objective,
            proved: fit.objective <= others + self.room(fit.objective),
        };
        self.pool.iter().map(one).collect()
    }

    /// Looks at nodes until none is open that may hold something better, or a limit strikes.
    pub(crate) fn grow(&mut self, bounding: &mut dyn Bounding, monitor: &mut Monitor<'_>) -> Result<Status> {
        while let Some(node) = self.open.pop() {
            if node.bound > self.cutoff() {
                self.closed = self.closed.min(node.bound);
                continue;
            }
            if let Some(status) = self.limit_reached(monitor) {
                self.open.push(node);
                return Ok(status);
            }
            let look = bounding.look(&node, self.cutoff(), monitor.limits())?;
            // What a limit cut short may be no leaf and no division: the node stays.
            if let Some(status) = monitor.stop(0) {
                look.found.iter().for_each(|fit| self.offer(fit));
                self.open.push(node);
                return Ok(status);
            }
            self.processed += 1;
            self.settle(&node, look);
            self.record(monitor);
        }
        Ok(Status::Converged)
    }

    fn settle(&mut self, node: &GroupNode, look: Look) {
        look.found.iter().for_each(|fit| self.offer(fit));
        self.closed = self.closed.min(look.cut.max(node.bound));
        if let Some(leaf) = &look.leaf {
            self.offer(leaf);
            let bound = leaf.bound.max(node.bound).min(leaf.objective);
            // A fit that is not known to within the tolerance is one of which something better may be left.
            let is_known = leaf.objective - bound <= 0.5 * self.room(leaf.objective);
            let floor = if is_known { &mut self.leaves } else { &mut self.closed };
            *floor = floor.min(bound);
        }
        for (bound, choices) in look.children {
            let (id, start) = (self.made, look.start.clone());
            self.made += 1;
            self.open.push(GroupNode { bound: bound.max(node.bound), id, choices, start });
        }
    }

    fn limit_reached(&self, monitor: &Monitor<'_>) -> Option<Status> {
        let features = self.grouped.problem.ncols();
        let bytes = self.open.len() * (size_of::<GroupNode>() + self.grouped.groups.len() + 8 * features);
        let given = self.options.max_memory.is_some_and(|most| bytes >= most / OPEN_SHARE);
        let is_full = given || !self.memory.allows(bytes as f64, OPEN_SHARE);
        let nodes = self.options.max_nodes.is_some_and(|most| self.processed >= most);
        let of_tree = nodes.then_some(Status::NodeLimit).or(is_full.then_some(Status::MemoryLimit));
        monitor.stop(0).or(of_tree)
    }

    fn record(&self, monitor: &mut Monitor<'_>) {
        let (Some(best), lower_bound) = (self.best(), self.lower_bound()) else { return };
        monitor.so_far.offer(best.objective, || best.coefficients.clone());
        monitor.record(TraceRow {
            seconds: 0.0,
            iteration: self.processed,
            objective: best.objective,
            relaxation: f64::NAN,
            lower_bound,
            gap: best.objective - lower_bound,
            active: self.open.len(),
            support: self.grouped.problem.size(&best.coefficients),
        });
    }
}

/// The groups of one kind.
pub(super) fn of_kind(choices: &[Decision], kind: Decision) -> Vec<usize> {
    (0..choices.len()).filter(|&g| choices[g] == kind).collect()
}

/// Puts out the open groups that are larger than the room that the groups in leave; whether there were any.
pub(super) fn drop_large(grouped: &Grouped<'_, '_>, size: Option<usize>, choices: &mut [Decision]) -> bool {
    let Some(most) = size else { return false };
    let room = most.saturating_sub(grouped.size_of(&of_kind(choices, Decision::In)));
    let mut has_dropped = false;
    for g in 0..choices.len() {
        if choices[g] == Decision::Open && grouped.size(g) > room {
            (choices[g], has_dropped) = (Decision::Out, true);
        }
    }
    has_dropped
}

/// Whether the groups that are in are more than the largest size.
pub(super) fn is_too_large(grouped: &Grouped<'_, '_>, size: Option<usize>, choices: &[Decision]) -> bool {
    size.is_some_and(|most| grouped.size_of(&of_kind(choices, Decision::In)) > most)
}
