//! Branch-and-bound (MATH §7.3): closes the gap of the default solver or says what remains of it.

mod answers;
#[cfg(test)]
mod attack;
mod barrier;
mod branch;
mod budget;
mod diagonal;
mod far;
mod harvest;
mod multiplier;
mod node;
mod point;
mod pool;
mod recheck;
mod reduced;
mod relax;
mod size;
mod snapshot;
mod split;
mod strengthen;
mod trial;

pub(crate) use snapshot::SavedTree;

use crate::control::{Memory, Monitor, Options};
use crate::error::Result;
use crate::problem::Problem;
use crate::problem::screening;
use crate::relaxation::workspace::Workspace;
use crate::snapshot::Journal;
use crate::solution::Status;
use crate::solver::Outcome;
use crate::solver::incremental;
use crate::solver::incremental::Root;
use node::{Choice, Link, Node};
use pool::Pool;
use rayon::prelude::*;
use relax::{Ground, Relaxed};
use std::collections::BinaryHeap;
use std::sync::Arc;

/// Nodes relaxed side by side, the least and the most: an eighth of those that are open, so that few threads wait for the last in a
/// large tree and little is done in vain in a small one. The tree does not depend on the number of threads.
const BATCH: (usize, usize) = (8, 32);

/// Open features up to this many are all copied into memory; nodes look at more by passes over X.
const NEAR: usize = 4000;

/// Features of the root nearest to their thresholds that are copied even where there are more than that, besides those that
/// its convex phase looked at.
const FIRST: usize = 256;

/// Features whose inner products are kept beyond those that were not zero in some node.
const MOST_CORE: usize = 1500;

/// Members of a node whose curvature is looked at from the first node on, whatever that costs.
const CROWD: usize = 300;

/// Multiplications that a look at the curvature may cost in the first node, and as many more in later ones for each of the second.
const WORK: f64 = 2e9;
const WORKED: f64 = 64.0;

/// Every node up to this one is rounded to an answer, and every sixteenth after it.
const ROUNDED: usize = 256;

/// Nodes after which answers are looked for in all of X, with a walk past the minimum that exchanges led to: a tree that ends
/// before has no use for it.
const SEARCHED: usize = 64;

/// Shares of the limit on memory: one part in so many for the columns near, for the core's and for its inner products; for the open
/// nodes; and for what the nodes that are relaxed side by side take together.
const COLUMNS: usize = 8;
const OPEN: usize = 4;
const RELAXING: usize = 4;

/// Bytes for each pair of the core's features.
const PAIR: f64 = 26.0;

/// What the tree grows from: the default solver's answer and the price ν of a feature that a limited size adds.
struct Seed {
    root: Root,
    multiplier: f64,
}

/// Solves to proven optimality within the tolerances of the options, or to a limit; goes on from what the journal holds and keeps
/// it up to date.
pub(crate) fn solve(
    problem: &Problem<'_>,
    options: &Options,
    monitor: &mut Monitor<'_>,
    mut journal: Option<&mut Journal<'_, SavedTree>>,
) -> Result<Outcome> {
    let (unlimited, size) = (problem.without_max_size(), problem.max_size());
    let tree = match (journal.as_mut().and_then(|j| j.start.take()), size) {
        (Some(saved), _) => Tree::restore(&unlimited, size, options, saved, NEAR, monitor)?,
        (None, None) => {
            let mut work = Workspace::new(&unlimited).within(options.memory());
            let root = incremental::sketch(&mut work, options, monitor);
            drop(work);
            Tree::plant(&unlimited, size, options, Seed { root, multiplier: 0.0 }, NEAR)
        }
        (None, Some(k)) => Tree::plant(&unlimited, size, options, size::root(&unlimited, k, options, monitor), NEAR),
    };
    let root = tree.outcome.lower_bound;
    let outcome = tree.grow(options, monitor, journal)?;
    recheck::recheck(problem, &outcome, root)?;
    monitor.passes += 1.0;
    Ok(outcome)
}

/// The open nodes, the best answers, and what is known of the closed ones.
struct Tree<'p, 'a> {
    problem: &'p Problem<'a>,
    size: Option<usize>,
    /// The columns that nodes decide about.
    near: Workspace<'p, 'a>,
    /// How many of them there may be.
    most_near: usize,
    /// The features that were not zero in some node, with their inner products; the search for answers works on it.
    core: Workspace<'p, 'a>,
    open: BinaryHeap<Node>,
    pool: Pool,
    /// Least bound of the nodes that were closed.
    closed: f64,
    /// The same, of those that may hold subsets which were not looked at.
    unseen: f64,
    processed: usize,
    made: usize,
    /// Whether answers have been looked for outside the active set.
    searched: bool,
    /// Bytes of the open nodes.
    bytes: usize,
    memory: Memory,
    /// Whether memory had no room for features that a node needed.
    starved: bool,
    /// Whether there was no time left for a look at all features.
    out_of_time: bool,
    absolute: f64,
    relative: f64,
    top: usize,
    outcome: Outcome,
}

impl<'p, 'a> Tree<'p, 'a> {
    /// The root node: every feature that the optimality rules do not exclude is open.
    fn plant(problem: &'p Problem<'a>, size: Option<usize>, options: &Options, seed: Seed, most_near: usize) -> Self {
        let Seed { root: Root { outcome, minimiser, tau, objective, mut visited }, multiplier } = seed;
        let mut pool = Pool::new(options.top);
        pool.offer(objective, outcome.coefficients.clone());
        let (bound, best) = (outcome.lower_bound, pool.limit());
        let is_open = |j: usize| {
            let coordinate = problem.coordinate(j).priced(multiplier);
            !screening::in_no_optimal_subset(coordinate, tau[j], bound, best)
        };
        let memory = options.memory();
        let empty = || Workspace::new(problem).within(memory.clone());
        let (mut near, mut core) = (empty(), empty());
        let most_near = most_near.min(near.most_columns(COLUMNS));
        minimiser.support.iter().chain(&outcome.coefficients.support).for_each(|&j| {
            core.include(j);
        });
        let mut far: Vec<usize> = (0..tau.len()).filter(|&j| is_open(j)).collect();
        if far.len() > most_near {
            // What matters first, and what soon may; the rest by passes.
            let pull = |j: usize| tau[j].abs() / problem.coordinate(j).priced(multiplier).threshold(tau[j]);
            let mut pulled: Vec<(f64, usize)> = far.iter().map(|&j| (pull(j), j)).collect();
            let first = FIRST.min(most_near);
            if first < pulled.len() {
                pulled.select_nth_unstable_by(first, |a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            }
            visited.truncate(most_near.saturating_sub(first));
            visited.extend(pulled.iter().take(first).map(|p| p.1));
            visited.sort_unstable();
            let is_first = |j: &usize| core.position(*j).is_some() || visited.binary_search(j).is_ok();
            let (first, rest): (Vec<usize>, Vec<usize>) = far.into_iter().partition(is_first);
            first.into_iter().for_each(|j| {
                near.include(j);
            });
            far = rest;
        } else {
            far.drain(..).for_each(|j| {
                near.include(j);
            });
        }
        let beta = minimiser.iter().filter_map(|(j, b)| near.position(j).map(|k| (k as u32, b))).collect();
        let known = near.active.len();
        let node = Node { bound, id: 0, link: None, beta, far: Arc::new(far), known, multiplier, moved: None };
        near.intercept = minimiser.intercept;
        let bytes = node.bytes();
        let mut tree = Self {
            problem,
            size,
            near,
            most_near,
            core,
            open: BinaryHeap::from([node]),
            pool,
            closed: f64::INFINITY,
            unseen: f64::INFINITY,
            processed: 0,
            made: 1,
            searched: false,
            bytes,
            memory,
            starved: false,
            out_of_time: false,
            absolute: options.absolute(problem),
            relative: options.gap,
            top: options.top,
            outcome,
        };
        tree.extend_core();
        tree
    }

    /// Splits nodes until none is open or a limit strikes.
    fn grow(
        mut self,
        options: &Options,
        monitor: &mut Monitor<'_>,
        mut journal: Option<&mut Journal<'_, SavedTree>>,
    ) -> Result<Outcome> {
        let mut ended = self.outcome.ended;
        while let Some(batch) = self.next_batch() {
            if let Some(status) = self.limit(options, monitor) {
                ended = status;
                batch.into_iter().for_each(|node| self.push(node));
                break;
            }
            self.process(batch, monitor);
            if self.processed >= SEARCHED {
                self.search(options, monitor);
            }
            self.record(monitor);
            if let Some(journal) = &mut journal
                && monitor.stop(0).is_none()
            {
                // Nodes that a limit cut short are no part of what a search without limits would do.
                (journal.keep)(&|| self.save(monitor))?;
            }
        }
        if self.starved && ended == Status::Converged {
            ended = Status::MemoryLimit;
        }
        // The limit may have struck inside the last nodes.
        Ok(self.harvest(monitor.stop(0).unwrap_or(ended)))
    }

    /// Room that the tolerances leave below the value to beat.
    fn room(&self) -> f64 {
        let last = self.pool.entries().last().map_or(0.0, |e| e.0.abs());
        self.absolute.max(self.relative * last)
    }

    /// A node whose bound exceeds this holds nothing better than the answers, within the tolerances.
    fn cutoff(&self) -> f64 {
        let limit = self.pool.limit();
        // Half of the tolerance: the other half is left for the rounding of the final evaluation. Where there is none, as at P = 0,
        // what is no better than the answers is closed all the same.
        if limit.is_finite() { (limit - 0.5 * self.room()).min(limit.next_down()) } else { f64::INFINITY }
    }

    /// What no subset outside the pool can beat, nor one in it by more than rounding.
    fn lower_bound(&self) -> f64 {
        let open = self.open.peek().map_or(f64::INFINITY, |n| n.bound);
        let best = self.pool.entries().first().map_or(f64::INFINITY, |e| e.0);
        open.min(self.closed).min(best).max(self.outcome.lower_bound)
    }

    /// Closes a node; `seen` when its best subset, for `top` = 1, or its only one was offered to the pool.
    fn close(&mut self, bound: f64, seen: bool) {
        self.closed = self.closed.min(bound);
        if !seen {
            self.unseen = self.unseen.min(bound);
        }
    }

    fn push(&mut self, node: Node) {
        self.bytes += node.bytes();
        self.open.push(node);
    }

    /// The open nodes with the lowest bounds; those that the best answer has meanwhile closed are dropped.
    fn next_batch(&mut self) -> Option<Vec<Node>> {
        let (mut batch, size) = (Vec::new(), (self.open.len() / 8).clamp(BATCH.0, BATCH.1));
        while batch.len() < size {
            let Some(node) = self.open.pop() else { break };
            self.bytes -= node.bytes();
            if node.bound > self.cutoff() {
                self.close(node.bound, false);
                continue;
            }
            let alone = !node.far.is_empty();
            batch.push(node);
            if alone {
                break;
            }
        }
        (!batch.is_empty()).then_some(batch)
    }

    fn limit(&self, options: &Options, monitor: &Monitor<'_>) -> Option<Status> {
        let nodes = options.max_nodes.is_some_and(|most| self.processed >= most);
        let given = options.max_memory.is_some_and(|most| self.bytes >= most / OPEN);
        let memory = given || !self.memory.allows(self.bytes as f64, OPEN);
        let own = nodes.then_some(Status::NodeLimit).or(memory.then_some(Status::MemoryLimit));
        let late = self.out_of_time.then_some(Status::TimeLimit);
        monitor.stop(0).or(own).or(late)
    }

    /// Relaxes the nodes side by side, then takes the results in order.
    fn process(&mut self, batch: Vec<Node>, monitor: &mut Monitor<'_>) {
        self.processed += batch.len();
        let (near, far): (Vec<Node>, Vec<Node>) = batch.into_iter().partition(|n| n.far.is_empty());
        for node in far {
            self.look_far(node, monitor);
        }
        let (best, cutoff, room) = (self.pool.limit(), self.cutoff(), 0.1 * self.room());
        let limits = monitor.limits().clone();
        let ground = self.ground();
        let one = |node: &Node| {
            let mut relaxed = ground.relax(ground.start(node), cutoff, room, &limits);
            if relaxed.bound <= cutoff {
                ground.decide(&mut relaxed, best);
            }
            let relaxed = ground.strengthen(relaxed, (best, cutoff, room), &limits);
            let is_rounded = relaxed.bound <= cutoff && (node.id < ROUNDED || node.id.is_multiple_of(16));
            let rounded = is_rounded.then(|| ground.round(&relaxed, &limits));
            (relaxed, rounded)
        };
        let results: Vec<_> = near.par_iter().map(one).collect();
        for (node, (relaxed, rounded)) in near.into_iter().zip(results) {
            if let Some((value, point)) = rounded
                && value < self.pool.limit()
            {
                self.offer(&point, relaxed.intercept, monitor);
            }
            self.take(node, relaxed, monitor);
        }
        self.extend_core();
    }

    fn ground(&self) -> Ground<'_, 'p, 'a> {
        let best = self.pool.entries().first().map_or(0.0, |e| e.0.abs());
        let (near, core, size, memory) = (&self.near, &self.core, self.size, &self.memory);
        Ground { near, core, size, crowd: self.crowd(), scale: best, memory }
    }

    /// The most members m whose curvature is looked at: min(n, m)² m multiplications must be worth it, and in a tree that may end
    /// soon few are.
    fn crowd(&self) -> usize {
        let (n, work) = (self.problem.nrows() as f64, WORK * (1.0 + self.processed as f64 / WORKED));
        CROWD.max((work / (n * n)).max(work.cbrt().min(n)) as usize)
    }

    /// Inner products of what joined the core.
    fn extend_core(&mut self) {
        let pairs = (self.core.active.len() as f64).powi(2);
        if self.problem.loss().is_quadratic() && self.memory.allows(PAIR * pairs, COLUMNS) {
            self.core.gram();
        }
    }

    /// Closes a node, or splits it.
    fn take(&mut self, node: Node, relaxed: Relaxed, monitor: &mut Monitor<'_>) {
        if relaxed.bound > self.cutoff() {
            self.close(relaxed.bound, false);
            return;
        }
        let (inside, outside) = node.decisions(&relaxed, self.near.active.features());
        let ground = self.ground();
        let (beta, branch) = (ground.sparse(&relaxed), ground.branch(&relaxed));
        let solved = ground.solves(&relaxed, 0.1 * self.room());
        if solved && !relaxed.stale {
            let answer = if branch.is_none() { ground.only_subset(&relaxed) } else { beta.clone() };
            self.offer(&answer, relaxed.intercept, monitor);
        }
        let split: &[Choice] = match branch {
            // The minimiser is an answer: the node is done, unless others of it are wanted as well.
            _ if solved && self.top == 1 && !relaxed.stale => &[],
            Some(_) if !(solved && self.top == 1) => &[Choice::Out, Choice::In],
            _ if !inside.is_empty() || !outside.is_empty() => &[Choice::Free],
            _ => &[],
        };
        if split.is_empty() {
            // A relaxation that a limit cut short may leave better subsets than its point between its value and its bound.
            let tight = relaxed.value - relaxed.bound <= self.room();
            self.close(relaxed.bound, solved && tight && (self.top == 1 || branch.is_none()));
            return;
        }
        let position = branch.map(|a| relaxed.members[a] as u32);
        // Where few members are left their curvature is looked at in every node, and that takes their inner products.
        let few = relaxed.members.len() <= self.crowd().min(3 * self.problem.nrows() / 2)
            && self.core.active.len() < MOST_CORE;
        let known = relaxed.members.iter().zip(&relaxed.beta).filter(|p| few || *p.1 != 0.0);
        let most = self.core.most_columns(COLUMNS);
        for (&k, _) in known {
            if self.core.active.len() < most {
                self.core.include(self.near.active.features()[k]);
            }
        }
        for side in split {
            let (mut inside, mut outside) = (inside.clone(), outside.clone());
            match side {
                Choice::In => inside.extend(position),
                Choice::Out => outside.extend(position),
                Choice::Free => {}
            }
            let link = Some(Arc::new(Link { parent: node.link.clone(), inside, outside }));
            let (id, bound, known) = (self.made, relaxed.bound, self.near.active.len());
            self.made += 1;
            let (far, multiplier, moved) = (node.far.clone(), relaxed.multiplier, relaxed.inherited.clone());
            self.push(Node { bound, id, link, beta: beta.clone(), far, known, multiplier, moved });
        }
    }
}
