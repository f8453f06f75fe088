//! Leaps and bounds (MATH 11.28–11.35): the best subsets of a least-squares fit (λ1 = 0, no bounds, ridge allowed) of each size,
//! or at the price λ0, when there are more samples than features; without a ridge also with a few more features than that
//! ([`cover`]).
//!
//! A node is a [family](family::Family) of subsets, bounded by the fit on everything in it (Furnival & Wilson 1974). Two matrices
//! give the gain of every feature that may be added and the cost of every one that may be dropped: what is too dear to drop is
//! taken in, a feature that gains or costs much is branched on, and the last two features are found by looking at all pairs.
//!
//! Costs of single features are all the bound there is: pairs too dear to drop together cost more to count than they save.

mod cell;

mod cover;
mod dependence;
mod equations;
mod family;
mod form;
mod incumbents;
mod refit;
mod start;
mod tree;

use crate::certificate::Certificate;
use crate::control::{Monitor, Options};
use crate::error::Result;
use crate::loss::Loss;
use crate::problem::Problem;
use crate::snapshot::Journal;
use crate::solution::{Coefficients, Ranked, Status, TraceRow};
use crate::solver::{Outcome, incremental};
use incumbents::{Contender, Incumbents};
use tree::Leaps;

pub(crate) use cell::Cell;
pub(crate) use cover::{determined, is_small};
pub(crate) use equations::Equations;
pub(crate) use family::Family;
pub(crate) use form::Form;
pub(crate) use tree::SavedLeaps;

/// Whether this is least squares without λ1 and bounds, every feature at the same price.
pub fn is_plain(problem: &Problem<'_>) -> bool {
    let first = problem.coordinate(0);
    let is_free = |j: usize| {
        let c = problem.coordinate(j);
        c.l1 == 0.0 && c.lower == f64::NEG_INFINITY && c.upper == f64::INFINITY && (c.l0, c.l2) == (first.l0, first.l2)
    };
    problem.loss() == Loss::Squared && (0..problem.ncols()).all(is_free)
}

/// Whether leaps and bounds serve subsets of at most `most` features: plain least squares with more samples than features or, without
/// a ridge, with few enough families of subsets.
pub fn applies(problem: &Problem<'_>, most: usize) -> bool {
    let samples = problem.weights().map_or(problem.nrows(), |w| w.iter().filter(|w| **w > 0.0).count());
    let few = || problem.coordinate(0).l2 == 0.0 && cover::is_small(problem, most);
    is_plain(problem) && (samples > problem.ncols() || few())
}

/// The largest size that they serve where there are too many features for the samples.
pub fn largest_size(problem: &Problem<'_>) -> usize {
    cover::largest(problem)
}

/// Whether it [`applies`] and there is no ridge: nothing else has a bound then.
pub fn is_needed(problem: &Problem<'_>) -> bool {
    problem.coordinate(0).l2 == 0.0 && applies(problem, problem.max_size().unwrap_or(problem.ncols()))
}

/// The best subset of one size.
#[derive(Debug, Clone)]
pub struct BestOfSize {
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
) -> Result<(Vec<BestOfSize>, Full, Vec<Vec<usize>>)> {
    if let Some(status) = refused(problem, options, monitor) {
        return Ok((vec![unsearched(problem, status); most], Full { loss: 0.0, rank: problem.ncols() }, Vec::new()));
    }
    let equations = Equations::new(problem, most)?;
    let rank = equations.rank();
    let mut incumbents = Incumbents::new(most.min(rank), None, equations.total).with_doubt(2.0 * equations.slack);
    start::offer_all(&equations, &mut incumbents, monitor);
    let (mut searched, mut spent) = (Vec::new(), 0);
    // A search for each size has sharper bounds than one for all, and no more nodes.
    for size in 1..=most.min(rank) {
        let mut tree = Leaps::new(&equations, incumbents, size, size)?;
        let ended = run(&mut tree, options, monitor, spent, None)?;
        spent += tree.nodes;
        searched.push((size, tree.bound(size), ended, tree.nodes));
        incumbents = tree.incumbents;
    }
    // Refitted last: the search for one size may better another that was cut short.
    let mut bests: Vec<BestOfSize> = Vec::with_capacity(most);
    for found in searched {
        let own = settled(&equations, &incumbents, found)?;
        let own = match bests.last() {
            Some(before) => at_most(problem, before, own)?,
            None => own,
        };
        bests.push(own);
    }
    if equations.is_wide() {
        let beyond = fit_perfectly(&equations, &incumbents, most - bests.len())?;
        bests.extend(beyond);
        return Ok((bests, Full { loss: 0.0, rank: cover::determined(problem) }, equations.dependent));
    }
    // More features than independent columns fit no better; without any, nothing fits better than none.
    let (coefficients, total) = (equations.refit(&[], equations.total)?, (equations.total - equations.slack).max(0.0));
    let nothing = BestOfSize { coefficients, lower_bound: total, ended: Status::Converged, nodes: 0 };
    let last = bests.last().map_or(nothing, |best| BestOfSize { nodes: 0, ..best.clone() });
    bests.resize(most, last);
    let all = equations.cells.first().map(Cell::members).unwrap_or_default();
    let full = equations.refit(&all, equations.fit(&all))?;
    let full = Full { loss: problem.loss_at(&full)?, rank };
    Ok((bests, full, equations.dependent))
}

/// The best subset of a size, its bound and how its search ended. What the normal equations do not tell from it is looked at again
/// by QR, unless the search was cut short.
fn settled(
    equations: &Equations<'_, '_>,
    incumbents: &Incumbents,
    (size, bound, ended, nodes): (usize, f64, Status, usize),
) -> Result<BestOfSize> {
    let best = incumbents.best(size);
    let contenders = incumbents.contenders(size).filter(|_| ended == Status::Converged);
    let (coefficients, lower_bound) = match contenders {
        Some(contenders) => equations.least(&contenders)?,
        None => (equations.refit(&best.members, best.fit)?, best.fit),
    };
    // The first is a bound whenever the search ended; the second is what was left when it was cut short.
    let lower_bound = if ended == Status::Converged { lower_bound.max(bound) } else { bound.min(best.fit) };
    Ok(BestOfSize { coefficients, lower_bound: lower_bound.max(0.0), ended, nodes })
}

/// At most so many: where columns stand for others, a smaller subset may have no larger one with its fit.
fn at_most(problem: &Problem<'_>, before: &BestOfSize, own: BestOfSize) -> Result<BestOfSize> {
    let lower_bound = own.lower_bound.min(before.lower_bound);
    let is_worse = problem.value(&before.coefficients)? < problem.value(&own.coefficients)?;
    let coefficients = if is_worse { before.coefficients.clone() } else { own.coefficients };
    Ok(BestOfSize { coefficients, lower_bound, ..own })
}

/// Sizes from the number of columns that fit any targets on: the perfect fit, if there is one, and no bound but 0.
fn fit_perfectly(equations: &Equations<'_, '_>, incumbents: &Incumbents, count: usize) -> Result<Vec<BestOfSize>> {
    if count == 0 {
        return Ok(Vec::new());
    }
    let largest = incumbents.best(incumbents.most());
    let coefficients = match equations.interpolate(&largest.members)? {
        Some(perfect) => perfect,
        None => match equations.refit(&largest.members, largest.fit) {
            Err(error) if error.is_of_reading() => return Err(error),
            fit => fit.unwrap_or_default(),
        },
    };
    Ok(vec![BestOfSize { coefficients, lower_bound: 0.0, ended: Status::Converged, nodes: 0 }; count])
}

/// Minimises P of a problem that [`applies`]: λ0 ≥ 0, the size limited or not.
pub(crate) fn solve(
    problem: &Problem<'_>,
    options: &Options,
    monitor: &mut Monitor<'_>,
    mut journal: Option<&mut Journal<'_, SavedLeaps>>,
) -> Result<Outcome> {
    if let Some(status) = refused(problem, options, monitor) {
        return without_search(problem, options, monitor, status);
    }
    let largest = problem.max_size().unwrap_or(usize::MAX);
    let equations = Equations::new(problem, largest)?;
    let most = largest.min(equations.rank());
    let mut tree = match journal.as_mut().and_then(|j| j.start.take()) {
        Some(saved) => Leaps::restore(&equations, saved, most, monitor)?,
        None => {
            let price = problem.coordinate(0).l0;
            let mut incumbents = Incumbents::new(most, Some(price), equations.total).with_top(options.top);
            start::offer_all(&equations, &mut incumbents, monitor);
            Leaps::new(&equations, incumbents, 1, most)?
        }
    };
    let ended = run(&mut tree, options, monitor, 0, journal)?;
    // What a perfect fit costs, where the size allows one.
    let perfect = cover::determined(problem);
    let beyond = if equations.is_wide() && largest >= perfect {
        perfect as f64 * problem.coordinate(0).l0
    } else {
        f64::INFINITY
    };
    let mut ranked = best_of(problem, &equations, &tree, options, beyond)?;
    let first = &mut ranked[0];
    let (lower_bound, iterations) = (tree.bound_of_all().min(beyond), tree.nodes);
    let certificate = Certificate::new(first.objective, None, lower_bound);
    first.proved = certificate.status(ended, options.absolute(problem), options.gap) == Status::Optimal;
    let coefficients = first.coefficients.clone();
    let mut dual = vec![0.0; problem.nrows()];
    let (u, b) = problem.predictor(&coefficients)?;
    problem.dual_point(&u, b, &mut dual);
    let known = Outcome::new(coefficients, lower_bound, dual, ended);
    Ok(Outcome { iterations, ranked, dependent: equations.dependent, ..known })
}

/// The best subsets, at least one, by their objectives as the data have them. They are proved where every other subset costs as much;
/// columns that others stand for, or that do not vary, make subsets which were not looked at, and with them nothing is.
fn best_of(
    problem: &Problem<'_>,
    equations: &Equations<'_, '_>,
    tree: &Leaps<'_, '_, '_>,
    options: &Options,
    beyond: f64,
) -> Result<Vec<Ranked>> {
    let (known, others) = (&tree.incumbents, tree.priced_bound().min(beyond));
    let (complete, absolute) = (equations.is_complete(), options.absolute(problem));
    let cheapest = known.best(known.cheapest());
    let found = known.ranked().iter().filter(|found| found.members != cheapest.members);
    let one = |found: &Contender| {
        let coefficients = equations.refit(&found.members, found.fit)?;
        let objective = problem.value(&coefficients)?;
        let room = absolute.max(options.gap * objective.abs());
        Ok(Ranked { coefficients, objective, proved: complete && objective <= others + room })
    };
    let mut ranked = std::iter::once(cheapest).chain(found).map(one).collect::<Result<Vec<_>>>()?;
    if beyond < f64::INFINITY
        && let Some(coefficients) = equations.interpolate(&known.best(known.most()).members)?
    {
        // One of many: others of its size are not looked at.
        ranked.push(Ranked { objective: problem.value(&coefficients)?, coefficients, proved: false });
    }
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

/// Why the normal equations and the families of the first levels cannot be made, if so: memory has no room for them, or there is no
/// time.
fn refused(problem: &Problem<'_>, options: &Options, monitor: &Monitor<'_>) -> Option<Status> {
    let (n, p) = (problem.nrows() as f64, problem.ncols() as f64);
    if !options.memory().allows(64.0 * p * p, 1) {
        return Some(Status::MemoryLimit);
    }
    let late = !monitor.has_time_for(0.5 * n * p * p + p * p * p);
    monitor.stop(0).or(late.then_some(Status::TimeLimit))
}

/// Nothing but that P ≥ 0, where there is no room or time for more.
fn unsearched(problem: &Problem<'_>, ended: Status) -> BestOfSize {
    let u = problem.null_margins();
    let coefficients = Coefficients { intercept: problem.best_intercept(&u, 0.0), ..Coefficients::default() };
    BestOfSize { coefficients, lower_bound: 0.0, ended, nodes: 0 }
}

/// The answer of the default solver, with no bound but 0; of the null model where the size is limited.
fn without_search(
    problem: &Problem<'_>,
    options: &Options,
    monitor: &mut Monitor<'_>,
    ended: Status,
) -> Result<Outcome> {
    let null = unsearched(problem, ended);
    let mut outcome = incremental::solve(&problem.without_max_size(), options, monitor)?;
    if problem.max_size().is_some_and(|k| outcome.coefficients.nonzeros() > k) {
        outcome.coefficients = null.coefficients;
    }
    Ok(Outcome { lower_bound: 0.0, ended, ..outcome })
}

/// Searches to the end or to a limit; `spent` nodes count already.
fn run(
    tree: &mut Leaps<'_, '_, '_>,
    options: &Options,
    monitor: &mut Monitor<'_>,
    spent: usize,
    mut journal: Option<&mut Journal<'_, SavedLeaps>>,
) -> Result<Status> {
    let memory = options.memory();
    while !tree.is_done() {
        let left = options.max_nodes.map_or(usize::MAX, |most| most.saturating_sub(spent + tree.nodes));
        if left == 0 {
            return Ok(Status::NodeLimit);
        }
        let given = options.max_memory.is_some_and(|most| tree.memory() > most / 2);
        if given || !memory.allows(tree.memory() as f64, 2) {
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
            (journal.keep)(&|| tree.save(monitor))?;
        }
    }
    Ok(Status::Converged)
}

fn record(tree: &Leaps<'_, '_, '_>, monitor: &mut Monitor<'_>) {
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
