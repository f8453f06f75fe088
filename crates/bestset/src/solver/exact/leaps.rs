//! Leaps and bounds: the best subsets of a least-squares fit (λ1 = 0, no bounds, ridge allowed) of each size, or at the price λ0,
//! when there are more samples than features.
//!
//! A node is a [family](family::Family) of subsets, bounded by the fit on everything in it (Furnival & Wilson 1974). Two matrices
//! give the gain of every feature that may be added and the cost of every one that may be dropped: what is too dear to drop is
//! taken in, a feature that gains or costs much is branched on, and the last two features are found by looking at all pairs.
//!
//! Tried and not kept: counting the pairs too dear to drop together, of which each must hold a kept feature, saves a third of the
//! nodes and costs more than it saves; bounding what r features can gain by the correlations left between them proves nothing
//! that the costs have not.

mod columns;
mod equations;
mod family;
mod form;
mod incumbents;
mod refit;
mod split;
mod start;
mod tree;

use super::keep::{Journal, Saved};
use crate::certificate::Certificate;
use crate::error::{Error, Result};
use crate::loss::Loss;
use crate::problem::Problem;
use crate::solution::{Coefficients, Local, Ranked, Screened, Status, TraceRow};
use crate::solver::{Monitor, Options, Outcome};
use equations::Equations;
use incumbents::{Found, Incumbents};
use split::Split;
use tree::Tree;

pub(crate) use tree::SavedLeaps;

/// Whether this is least squares without λ1 and bounds, every feature at the same price, with more samples than features.
pub fn applies(problem: &Problem<'_>) -> bool {
    let first = problem.coordinate(0);
    let is_free = |j: usize| {
        let c = problem.coordinate(j);
        c.l1 == 0.0 && c.lower == f64::NEG_INFINITY && c.upper == f64::INFINITY && (c.l0, c.l2) == (first.l0, first.l2)
    };
    let samples = problem.weights().map_or(problem.nrows(), |w| w.iter().filter(|w| **w > 0.0).count());
    problem.loss() == Loss::Squared && samples > problem.ncols() && (0..problem.ncols()).all(is_free)
}

/// Whether it [`applies`] and there is no ridge: nothing else has a bound then.
pub fn is_needed(problem: &Problem<'_>) -> bool {
    problem.coordinate(0).l2 == 0.0 && applies(problem)
}

/// The best subset of one size.
#[derive(Debug, Clone)]
pub struct Best {
    /// The fit on it.
    pub coefficients: Coefficients,
    /// No subset of this size has a lower loss + λ2‖β‖².
    pub lower_bound: f64,
    /// How the search of this size ended.
    pub ended: Status,
    /// Nodes it took.
    pub nodes: usize,
}

/// The fit on all features.
#[derive(Debug, Clone, Copy)]
pub struct Full {
    /// Its loss.
    pub loss: f64,
    /// Number of independent columns, the intercept aside.
    pub rank: usize,
}

/// The best subsets of sizes 1..=most, λ0 left aside, the fit on all features, and the columns that others stand for.
pub fn sizes(
    problem: &Problem<'_>,
    most: usize,
    options: &Options,
    monitor: &mut Monitor<'_>,
) -> Result<(Vec<Best>, Full, Vec<Vec<usize>>)> {
    let equations = Equations::new(problem)?;
    let rank = equations.rank();
    let mut incumbents = Incumbents::new(most.min(rank), None, equations.total);
    start::offer_all(&equations, &mut incumbents, monitor);
    let (mut searched, mut spent) = (Vec::new(), 0);
    // A search for each size has sharper bounds than one for all, and no more nodes.
    for size in 1..=most.min(rank) {
        let mut tree = Tree::new(&equations, incumbents, size, size)?;
        let ended = run(&mut tree, options, monitor, spent, None)?;
        spent += tree.nodes;
        searched.push((size, tree.bound(size), ended, tree.nodes));
        incumbents = tree.incumbents;
    }
    // More features than independent columns fit no better; without any, nothing fits better than none.
    let nothing = (0, (equations.total - equations.slack).max(0.0), Status::Converged, 0);
    let last = searched.last().map_or(nothing, |&(size, bound, ended, _)| (size, bound, ended, 0));
    searched.resize(most, last);
    // At most so many: where columns stand for others, a smaller subset may have no larger one with its fit.
    let fit = |size: usize| incumbents.best(size).fit;
    for k in 1..most {
        let (before, now) = (searched[k - 1], &mut searched[k]);
        now.1 = now.1.min(before.1);
        now.0 = if fit(before.0) < fit(now.0) { before.0 } else { now.0 };
    }
    // Refitted last: the search for one size may better another that was cut short.
    let refit = |(size, bound, ended, nodes): (usize, f64, Status, usize)| {
        let best = incumbents.best(size);
        let coefficients = equations.refit(&best.members, best.fit)?;
        Ok(Best { coefficients, lower_bound: bound.min(best.fit).max(0.0), ended, nodes })
    };
    let bests = searched.into_iter().map(refit).collect::<Result<_>>()?;
    let all = equations.splits.first().map(Split::members).unwrap_or_default();
    let full = equations.refit(&all, equations.fit(&all))?;
    let full = Full { loss: problem.loss_at(&full), rank };
    Ok((bests, full, equations.dependent))
}

/// Minimises P of a problem that [`applies`]: λ0 ≥ 0, the size limited or not.
pub(crate) fn solve(
    problem: &Problem<'_>,
    options: &Options,
    monitor: &mut Monitor<'_>,
    mut journal: Option<&mut Journal<'_>>,
) -> Result<Outcome> {
    let equations = Equations::new(problem)?;
    let most = problem.max_size().unwrap_or(usize::MAX).min(equations.rank());
    let mut tree = match journal.as_mut().and_then(|j| j.start.take()) {
        Some(Saved::Leaps(saved)) => Tree::restore(&equations, *saved, most, monitor)?,
        Some(Saved::Tree(_)) => {
            let reason = "the search it holds does not fit the problem".to_owned();
            return Err(Error::File { what: "checkpoint", reason });
        }
        None => {
            let price = problem.coordinate(0).l0;
            let mut incumbents = Incumbents::new(most, Some(price), equations.total).with_top(options.top);
            start::offer_all(&equations, &mut incumbents, monitor);
            Tree::new(&equations, incumbents, 1, most)?
        }
    };
    let ended = run(&mut tree, options, monitor, 0, journal)?;
    let mut ranked = best_of(problem, &equations, &tree, options)?;
    let first = &mut ranked[0];
    let (lower_bound, iterations) = (tree.bound_of_all(), tree.nodes);
    let certificate = Certificate::new(first.objective, None, lower_bound);
    first.proved = certificate.status(ended, options.absolute(problem), options.gap) == Status::Optimal;
    let coefficients = first.coefficients.clone();
    let mut dual = vec![0.0; problem.nrows()];
    let (u, b) = problem.predictor(&coefficients);
    problem.dual_point(&u, b, &mut dual);
    let (relaxation, screened, local) = (None, Screened::default(), Local::None);
    let dependent = equations.dependent;
    Ok(Outcome { coefficients, relaxation, lower_bound, dual, ended, iterations, screened, local, ranked, dependent })
}

/// The best subsets, at least one, by their objectives as the data have them. They are proved where every other subset costs as much;
/// columns that others stand for, or that do not vary, make subsets which were not looked at, and with them nothing is.
fn best_of(
    problem: &Problem<'_>,
    equations: &Equations<'_, '_>,
    tree: &Tree<'_, '_, '_>,
    options: &Options,
) -> Result<Vec<Ranked>> {
    let (known, others) = (&tree.incumbents, tree.priced_bound());
    let (complete, absolute) = (equations.rank() == problem.ncols(), options.absolute(problem));
    let cheapest = known.best(known.cheapest());
    let found = known.ranked().iter().filter(|found| found.members != cheapest.members);
    let one = |found: &Found| {
        let coefficients = equations.refit(&found.members, found.fit)?;
        let objective = problem.value(&coefficients);
        let room = absolute.max(options.gap * objective.abs());
        Ok(Ranked { coefficients, objective, proved: complete && objective <= others + room })
    };
    let mut ranked = std::iter::once(cheapest).chain(found).map(one).collect::<Result<Vec<_>>>()?;
    ranked.sort_by(|a, b| a.objective.total_cmp(&b.objective));
    // A column that lowers no fit has the coefficient zero: with it a subset is the same answer as without.
    let mut seen = Vec::new();
    ranked.retain(|r| {
        let is_new = !seen.contains(&r.coefficients.support);
        seen.push(r.coefficients.support.clone());
        is_new
    });
    ranked.truncate(options.top);
    Ok(ranked)
}

/// Searches to the end or to a limit; `spent` nodes count already.
fn run(
    tree: &mut Tree<'_, '_, '_>,
    options: &Options,
    monitor: &mut Monitor<'_>,
    spent: usize,
    mut journal: Option<&mut Journal<'_>>,
) -> Result<Status> {
    while !tree.is_done() {
        let left = options.max_nodes.map_or(usize::MAX, |most| most.saturating_sub(spent + tree.nodes));
        if left == 0 {
            return Ok(Status::NodeLimit);
        }
        if options.max_memory.is_some_and(|most| tree.memory() > most) {
            return Ok(Status::MemoryLimit);
        }
        if let Some(status) = tree.step(monitor.limits(), left)? {
            return Ok(status);
        }
        if tree.incumbents.price().is_some() {
            record(tree, monitor);
        }
        // A step that the node limit cut short is none that a search without the limit would take.
        if let Some(journal) = &mut journal
            && left >= tree::STEP
        {
            (journal.keep)(&|| Saved::Leaps(Box::new(tree.save(monitor))))?;
        }
    }
    Ok(Status::Converged)
}

fn record(tree: &Tree<'_, '_, '_>, monitor: &mut Monitor<'_>) {
    let (size, lower_bound) = (tree.incumbents.cheapest(), tree.bound_of_all());
    let objective = tree.incumbents.cost(size);
    monitor.record(TraceRow {
        seconds: 0.0,
        iteration: tree.nodes,
        objective,
        relaxation: f64::NAN,
        lower_bound,
        gap: objective - lower_bound,
        active: tree.open(),
        support: size,
    });
}
