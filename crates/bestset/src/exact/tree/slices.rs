//! A tree grown in slices, each of which may be grown elsewhere: open nodes and the best answer in, open nodes, answers and the bound of
//! what was closed out.
//!
//! How it is divided, and how many nodes a slice may take, does not depend on how many workers there are or how fast they are: the steps
//! are the same for any number of them, and for a slice that was lost and grown again. Only as a time limit nears do slices take fewer nodes.

use crate::control::{Monitor, Options};
use crate::error::{Error, Result};
use crate::exact::seed::Seed;
use crate::exact::setting::Setting;
use crate::exact::tree::Tree;
use crate::exact::tree::frontier::Frontier;
use crate::exact::tree::snapshot::SavedTree;
use crate::exact::tuning::Tuning;
use crate::problem::Problem;
use crate::solution::{Coefficients, Status, TraceRow};
use crate::solver::Outcome;
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};

/// The share of what is left of a time limit in which a round is to end: what it proves counts only if it does, and rounds may slow down.
const ROUND_SHARE: f64 = 0.5;

/// A slice as it comes back.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct GrownSlice {
    tree: SavedTree,
    ended: Status,
}

/// What slices of a round are told.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Round {
    /// Nodes that each takes before it comes back.
    pub(crate) nodes: usize,
    /// Until when they are waited for.
    pub(crate) until: Option<Instant>,
}

/// Grows slices, in any order and anywhere; gives them back in the order in which they came, nothing in the place of those that did not
/// come back until nobody waited for them any more.
pub(crate) type GrowSlices<'g> = &'g dyn Fn(Vec<SavedTree>, Round) -> Result<Vec<Option<GrownSlice>>>;

/// The slice with so many nodes more, or with fewer where none is left open.
pub(crate) fn grow_slice(
    problem: &Problem<'_>,
    options: &Options,
    monitor: &mut Monitor<'_>,
    slice: SavedTree,
    nodes: usize,
    tuning: Tuning,
) -> Result<GrownSlice> {
    let unlimited = problem.without_max_size();
    let options = Options { max_nodes: Some(nodes), ..options.clone() };
    let setting = Setting::new(&unlimited, problem.max_size(), &options, tuning);
    let mut tree = Tree::restore(setting, slice, monitor)?;
    let ended = tree.grow_on(monitor, None)?;
    Ok(GrownSlice { tree: tree.save(monitor).untraced(), ended })
}

/// As [`solve`](crate::exact::solve), the tree grown in slices once it has taken some nodes.
pub(crate) fn solve(
    problem: &Problem<'_>,
    options: &Options,
    monitor: &mut Monitor<'_>,
    grow: GrowSlices<'_>,
    tuning: Tuning,
) -> Result<Outcome> {
    let (unlimited, alone) = (problem.without_max_size(), tuning.nodes_before_slices);
    monitor.keep_back(problem.design().stored() as f64);
    let first = Options { max_nodes: Some(options.max_nodes.map_or(alone, |most| most.min(alone))), ..options.clone() };
    let setting = Setting::new(&unlimited, problem.max_size(), &first, tuning);
    let mut tree = Tree::plant(setting.clone(), Seed::new(&setting, monitor)?, monitor)?;
    let root = tree.root_bound();
    let ended = tree.grow_on(monitor, None)?;
    let goes_on = ended == Status::NodeLimit && options.max_nodes.is_none_or(|most| most > alone);
    let ended = if goes_on { Sliced::new(&mut tree, monitor).grow(options, monitor, grow)? } else { ended };
    let outcome = tree.harvest(ended)?;
    crate::exact::recheck::recheck(problem, &outcome, root)?;
    monitor.keep_back(0.0);
    monitor.passes += 1.0;
    Ok(outcome)
}

/// A tree whose open nodes are all in slices; what is closed, and the answers, come back to it.
struct Sliced<'t, 'p, 'a> {
    tree: &'t mut Tree<'p, 'a>,
    open: Vec<SavedTree>,
}

impl<'t, 'p, 'a> Sliced<'t, 'p, 'a> {
    fn new(tree: &'t mut Tree<'p, 'a>, monitor: &Monitor<'_>) -> Self {
        // The start is known here alone.
        let open = vec![tree.save(monitor).untraced().opened().searched(tree.is_searched())];
        let Frontier { closed, unseen, .. } = tree.frontier;
        tree.frontier = Frontier::new();
        (tree.frontier.closed, tree.frontier.unseen) = (closed, unseen);
        Self { tree, open }
    }

    /// Rounds of slices until none is open or a limit strikes.
    fn grow(mut self, options: &Options, monitor: &mut Monitor<'_>, grow: GrowSlices<'_>) -> Result<Status> {
        let mut ended = Status::Converged;
        // Of the nodes before: a round knows nothing of its own yet.
        let mut rate = self.tree.processed as f64 / monitor.seconds().max(f64::MIN_POSITIVE);
        while !self.open.is_empty() {
            let is_full = options.max_nodes.is_some_and(|most| self.tree.processed >= most);
            let limit = monitor.stop(0).or(is_full.then_some(Status::NodeLimit));
            let is_over = matches!(ended, Status::MemoryLimit | Status::TimeLimit | Status::Interrupted);
            if let Some(status) = limit.or(is_over.then_some(ended)) {
                ended = status;
                break;
            }
            self.divide();
            self.share();
            let round = self.round(rate, monitor);
            let (begun, before, slices) = (monitor.seconds(), self.tree.processed, std::mem::take(&mut self.open));
            let starts: Vec<f64> = slices.iter().map(SavedTree::least).collect();
            // An error ends with the bound of the rounds before: what was handed over was still open.
            let grown = grow(slices, round)?;
            let taken = self.take_all(grown, &starts, monitor.stop(0));
            rate = (self.tree.processed - before) as f64 / (monitor.seconds() - begun).max(f64::MIN_POSITIVE);
            self.record(monitor);
            ended = taken?.unwrap_or(ended);
        }
        let left: Vec<f64> = self.open.iter().map(SavedTree::least).collect();
        left.into_iter().for_each(|bound| self.tree.frontier.close(bound, false));
        Ok(ended)
    }

    /// What the slices of the next round are told, where so many nodes a second were taken by all: without a limit always the same.
    fn round(&self, rate: f64, monitor: &Monitor<'_>) -> Round {
        let tuning = &self.tree.setting.tuning;
        let within = |left: Duration| (ROUND_SHARE * left.as_secs_f64() * rate / self.open.len() as f64) as usize;
        let nodes = monitor.left().map_or(usize::MAX, within).max(tuning.least_slice_nodes).min(tuning.slice_nodes);
        Round { nodes, until: monitor.until() }
    }

    /// Takes the slices of a round, which began with these bounds; the limit that ended one of them, or the wait for those that are missing:
    /// these are as open as they were, and nobody goes on with them. An error where some are missing and no limit has struck.
    fn take_all(
        &mut self,
        mut grown: Vec<Option<GrownSlice>>,
        starts: &[f64],
        limit: Option<Status>,
    ) -> Result<Option<Status>> {
        let (count, came) = (starts.len(), grown.iter().flatten().count());
        let is_odd = grown.len() != count;
        if is_odd {
            // Nobody can tell which of them came.
            grown = starts.iter().map(|_| None).collect();
        }
        let mut ended = None;
        for (slice, start) in grown.into_iter().zip(starts) {
            let Some(slice) = slice else {
                self.tree.frontier.close(*start, false);
                continue;
            };
            if !matches!(slice.ended, Status::Converged | Status::NodeLimit) {
                ended = ended.or(Some(slice.ended));
            }
            self.take(slice.tree);
        }
        if is_odd || (came < count && limit.is_none()) {
            let reason = format!("{came} slices came back of {count}");
            return Err(Error::Read { what: "the workers".into(), place: "branch and bound".into(), reason });
        }
        Ok(if came < count { limit } else { ended })
    }

    /// As many slices as are grown at the same time, the largest divided first.
    fn divide(&mut self) {
        while self.open.len() < self.tree.setting.tuning.slices {
            let largest = (0..self.open.len()).max_by_key(|&k| (self.open[k].len(), std::cmp::Reverse(k)));
            let Some(largest) = largest.filter(|&k| self.open[k].len() > 1) else { return };
            let halves = self.open[largest].halves();
            self.open.splice(largest..=largest, halves);
        }
    }

    /// The best answer to all slices.
    fn share(&mut self) {
        if let Some((objective, answer)) = self.tree.pool.entries().first() {
            self.open.iter_mut().for_each(|slice| slice.offer(*objective, answer));
        }
    }

    fn take(&mut self, slice: SavedTree) {
        let (tree, known) = (&mut *self.tree, slice.known());
        tree.frontier.closed = tree.frontier.closed.min(known.closed);
        tree.frontier.unseen = tree.frontier.unseen.min(known.unseen);
        tree.processed += known.processed;
        let answers: Vec<(f64, Coefficients)> = known.pool.to_vec();
        for (objective, answer) in answers {
            tree.pool.offer(objective, answer);
        }
        if slice.len() > 0 {
            self.open.push(slice.opened());
        }
    }

    /// max(D_root, min(bounds of open and closed nodes, P of the answer)) (MATH 11.26), over all slices.
    fn lower_bound(&self) -> f64 {
        let open = self.open.iter().map(SavedTree::least).fold(f64::INFINITY, f64::min);
        open.min(self.tree.frontier.closed).max(self.tree.floor).min(self.tree.pool.best()).max(self.tree.root_bound())
    }

    fn record(&self, monitor: &mut Monitor<'_>) {
        let Some((objective, answer)) = self.tree.pool.entries().first() else { return };
        let lower_bound = self.lower_bound();
        monitor.so_far.offer(*objective, || answer.clone());
        monitor.so_far.offer_bound(lower_bound, &self.tree.outcome.dual);
        monitor.record(TraceRow {
            seconds: 0.0,
            iteration: self.tree.processed,
            objective: *objective,
            relaxation: self.tree.outcome.relaxation.unwrap_or(f64::NAN),
            lower_bound,
            gap: objective - lower_bound,
            active: self.open.iter().map(SavedTree::len).sum(),
            support: answer.nonzeros(),
        });
    }
}
