//! Branch-and-bound (MATH §7.3): closes the gap of the default solver or says what remains of it.

mod bound;
mod far;
mod node;

use super::incremental::{self, Root};
use super::workspace::Workspace;
use super::{Monitor, Options, Outcome, primal, screening};
use crate::problem::Problem;
use crate::solution::{Local, Status, TraceRow};
use bound::{Ground, Relaxed};
use node::{Choice, Link, Node};
use rayon::prelude::*;
use std::collections::BinaryHeap;
use std::sync::Arc;

/// Nodes relaxed side by side: a constant, so that the tree does not depend on the number of threads.
const BATCH: usize = 8;

/// Open features up to this many are all copied into the active set; nodes look at more by passes over X.
#[cfg(not(test))]
fn near() -> usize {
    4000
}

/// Unit tests choose, so that small problems take the way of large ones.
#[cfg(test)]
fn near() -> usize {
    far::tests::NEAR.get()
}

/// Solves to proven optimality within the tolerances of the options, or to a limit.
pub fn solve(problem: &Problem<'_>, options: &Options, monitor: &mut Monitor<'_>) -> Outcome {
    let mut work = Workspace::new(problem);
    let root = incremental::root(&mut work, options, monitor);
    let mut tree = Tree::plant(&mut work, options, root);
    let mut ended = tree.outcome.ended;
    while let Some(batch) = tree.next_batch() {
        if let Some(status) = tree.limit(options, monitor) {
            ended = status;
            tree.open.extend(batch);
            break;
        }
        tree.process(batch, monitor);
        tree.record(monitor);
    }
    tree.harvest(ended)
}

/// The open nodes, the best answer, and what is known of the closed ones.
struct Tree<'t, 'p, 'a> {
    work: &'t mut Workspace<'p, 'a>,
    /// ∇q at β = 0 by position, for the squared loss.
    origin: Vec<f64>,
    /// The loss at β = 0.
    base: f64,
    open: BinaryHeap<Node>,
    best: f64,
    /// Least bound of the nodes that were closed.
    closed: f64,
    processed: usize,
    made: usize,
    absolute: f64,
    relative: f64,
    outcome: Outcome,
}

impl<'t, 'p, 'a> Tree<'t, 'p, 'a> {
    /// The root node: every feature that the optimality rules do not exclude is open.
    fn plant(work: &'t mut Workspace<'p, 'a>, options: &Options, root: Root) -> Self {
        let Root { outcome, minimiser, tau, objective: best } = root;
        let problem = work.problem;
        work.load(&minimiser);
        // Small problems have every feature that matters in memory by now, and the best answer. Unit tests start with
        // nothing, so that only the tree can find it, far away.
        #[cfg(test)]
        let (outcome, best) = {
            work.retain(&work.beta.iter().map(|b| *b != 0.0).collect::<Vec<bool>>());
            let zero = problem.null_margins();
            let intercept = problem.best_intercept(&zero, 0.0);
            let coefficients = crate::Coefficients { intercept, ..Default::default() };
            let nothing = problem.value(&coefficients);
            (Outcome { coefficients, ..outcome }, nothing.max(best))
        };
        let bound = outcome.lower_bound;
        let is_open = |j: usize| !screening::in_no_optimal_subset(problem.coordinate(j), tau[j], bound, best);
        let mut far: Vec<usize> = (0..tau.len()).filter(|&j| is_open(j)).collect();
        if far.len() <= near() {
            far.drain(..).for_each(|j| {
                work.include(j);
            });
        } else {
            far.retain(|&j| work.position(j).is_none());
        }
        let closed_out = |k: &usize| !is_open(work.active.features()[*k]);
        let outside = (0..work.active.len()).filter(closed_out).map(|k| k as u32).collect();
        let link = Some(Arc::new(Link { parent: None, inside: Vec::new(), outside }));
        let beta = sparse(&work.beta);
        let node = Node { bound, id: 0, link, beta, far: Arc::new(far), known: work.active.len() };
        let zero = problem.null_margins();
        let base = problem.loss_sum(&zero, problem.best_intercept(&zero, 0.0));
        let (absolute, relative) = (options.gap_absolute, options.gap);
        let open = BinaryHeap::from([node]);
        let closed = f64::INFINITY;
        Self { work, origin: Vec::new(), base, open, best, closed, processed: 0, made: 1, absolute, relative, outcome }
    }

    /// A node whose bound exceeds this holds nothing better than the best answer, within the tolerances.
    fn cutoff(&self) -> f64 {
        // Half of the tolerance: the other half is left for the rounding of the final evaluation.
        self.best - 0.5 * self.absolute.max(self.relative * self.best.abs())
    }

    /// What no subset can beat: the least bound of all nodes, open or closed.
    fn lower_bound(&self) -> f64 {
        let open = self.open.peek().map_or(f64::INFINITY, |n| n.bound);
        open.min(self.closed).min(self.best).max(self.outcome.lower_bound)
    }

    /// The open nodes with the lowest bounds; those that the best answer has meanwhile closed are dropped.
    fn next_batch(&mut self) -> Option<Vec<Node>> {
        let mut batch = Vec::new();
        while batch.len() < BATCH {
            let Some(node) = self.open.pop() else { break };
            if node.bound > self.cutoff() {
                self.closed = self.closed.min(node.bound);
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
        monitor.stop(0).or(nodes.then_some(Status::NodeLimit))
    }

    /// Relaxes the nodes side by side, then takes the results in order.
    fn process(&mut self, batch: Vec<Node>, monitor: &mut Monitor<'_>) {
        self.processed += batch.len();
        let (near, far): (Vec<Node>, Vec<Node>) = batch.into_iter().partition(|n| n.far.is_empty());
        for node in far {
            self.look_far(node, monitor);
        }
        if near.is_empty() {
            return;
        }
        let (best, cutoff) = (self.best, self.cutoff());
        let limits = monitor.limits().clone();
        let room = 0.2 * (best - cutoff);
        let results: Vec<Relaxed> = self.on_ground(|ground| {
            let one = |node: &Node| {
                let mut relaxed = ground.relax(node, cutoff, room, &limits);
                if relaxed.bound <= cutoff {
                    ground.decide(&mut relaxed, best);
                    ground.round(&mut relaxed, &limits);
                }
                relaxed
            };
            near.par_iter().map(one).collect()
        });
        for (node, relaxed) in near.into_iter().zip(results) {
            self.take(node, relaxed, monitor);
        }
    }

    /// Runs `body` with what nodes need of the active set.
    fn on_ground<T: Send>(&mut self, body: impl FnOnce(&Ground<'_, 'p, 'a>) -> T) -> T {
        let quadratic = self.work.problem.loss().is_quadratic()
            && self.work.prefers_gram(self.work.active.len())
            && !self.has_far_centres();
        if quadratic {
            self.work.gram();
            let problem = self.work.problem;
            let zero = problem.null_margins();
            let mut alpha = zero.clone();
            problem.dual_point(&zero, problem.best_intercept(&zero, 0.0), &mut alpha);
            for k in self.origin.len()..self.work.active.len() {
                self.origin.push(self.work.active.dot(k, &alpha));
            }
        }
        let gram = quadratic.then(|| self.work.kept_gram());
        body(&Ground { work: self.work, gram, origin: &self.origin, base: self.base })
    }

    /// Whether a view moves some column by much more than its length: inner products of what is stored then cancel, and a
    /// bound from them would be worth nothing. Nodes go by the samples instead.
    fn has_far_centres(&self) -> bool {
        let problem = self.work.problem;
        let total = problem.weights().map_or(problem.nrows() as f64, crate::kernel::sum).sqrt();
        let far = |&j: &usize| {
            let length = problem.squares(j).sqrt();
            length > 0.0 && problem.design().offset(j) * total > 30.0 * length
        };
        self.work.active.features().iter().any(far)
    }

    /// Closes a node, or splits it.
    fn take(&mut self, node: Node, mut relaxed: Relaxed, monitor: &mut Monitor<'_>) {
        if let Some((value, beta)) = relaxed.rounded.take()
            && value < self.best
        {
            self.offer(&beta, monitor);
        }
        if relaxed.bound > self.cutoff() {
            self.closed = self.closed.min(relaxed.bound);
            return;
        }
        let branch = self.on_ground(|ground| ground.branch(&relaxed));
        let before = node.choices(self.work.active.features());
        let changed = |to: Choice| -> Vec<u32> {
            let new = |i: &usize| relaxed.choices[*i] == to && (*i >= node.known || before[*i] != to);
            (0..before.len()).filter(new).map(|i| i as u32).collect()
        };
        let (inside, outside) = (changed(Choice::In), changed(Choice::Out));
        let sides: &[Choice] = match branch {
            Some(_) => &[Choice::Out, Choice::In],
            // Nothing fractional is left, but the rules have just changed the node: look again.
            None if !inside.is_empty() || !outside.is_empty() => &[Choice::Free],
            // The relaxation's value is P of its minimiser: the node is solved.
            None => {
                self.offer(&relaxed.beta, monitor);
                self.closed = self.closed.min(relaxed.bound);
                return;
            }
        };
        let beta = sparse(&relaxed.beta);
        for &side in sides {
            let (mut inside, mut outside) = (inside.clone(), outside.clone());
            match (side, branch) {
                (Choice::In, Some(k)) => inside.push(k as u32),
                (Choice::Out, Some(k)) => outside.push(k as u32),
                _ => {}
            }
            let link = Some(Arc::new(Link { parent: node.link.clone(), inside, outside }));
            let (id, bound, known) = (self.made, relaxed.bound, self.work.active.len());
            self.made += 1;
            self.open.push(Node { bound, id, link, beta: beta.clone(), far: node.far.clone(), known });
        }
    }

    /// Improves a point by exchanges and takes it over if P, evaluated from scratch, is lower.
    fn offer(&mut self, beta: &[f64], monitor: &mut Monitor<'_>) {
        self.work.beta = beta.to_vec();
        self.work.beta.resize(self.work.active.len(), 0.0);
        self.work.refresh();
        primal::improve(self.work, monitor);
        let coefficients = self.work.coefficients();
        let objective = self.work.problem.value(&coefficients);
        if objective < self.best {
            (self.best, self.outcome.coefficients) = (objective, coefficients);
            // What was checked was the answer before.
            self.outcome.local = Local::None;
        }
    }

    fn record(&self, monitor: &mut Monitor<'_>) {
        let (objective, lower_bound) = (self.best, self.lower_bound());
        monitor.record(TraceRow {
            seconds: 0.0,
            iteration: self.processed,
            objective,
            relaxation: self.outcome.relaxation.unwrap_or(f64::NAN),
            lower_bound,
            gap: objective - lower_bound,
            active: self.open.len(),
            support: self.outcome.coefficients.nonzeros(),
        });
    }

    fn harvest(self, ended: Status) -> Outcome {
        let lower_bound = self.lower_bound();
        Outcome { lower_bound, ended, iterations: self.processed, ..self.outcome }
    }
}

fn sparse(beta: &[f64]) -> Vec<(u32, f64)> {
    beta.iter().enumerate().filter(|p| *p.1 != 0.0).map(|(k, &b)| (k as u32, b)).collect()
}
