//! Branch and bound over groups, from the first answer to the proof.

use crate::certificate::Certificate;
use crate::control::{Limits, Monitor, Options};
use crate::error::{Error, Result};
use crate::groups::search::{Fits, GroupFit, search};
use crate::groups::tree::dual::DualNodes;
use crate::groups::tree::least_squares::{LeastSquaresNodes, applies};
use crate::groups::tree::{GroupTree, Start};
use crate::groups::{Decision, Grouped, Part, SHARES, is_single, problem_words};
use crate::penalty::Factors;
use crate::problem::Problem;
use crate::solution::{Coefficients, Solution, Status};
use crate::solver::incremental::HOPELESS;
use std::sync::Arc;

/// The most columns whose fit on all groups bounds nodes where the relaxation could: a fit takes the cube of their number. Not tuned.
const MOST_COLUMNS: usize = 256;

/// The problem of features that groups of one feature each are: prices of groups are those of their features.
pub(crate) fn of_features<'a>(grouped: &Grouped<'_, 'a>) -> Result<Problem<'a>> {
    let (problem, mut penalty) = (grouped.problem, grouped.problem.penalty().clone());
    let mut factors = vec![1.0; problem.ncols()];
    for g in 0..grouped.groups.len() {
        factors[grouped.groups.members[g][0]] = grouped.factor(g);
    }
    penalty.price = if factors.iter().all(|f| *f == 1.0) { Factors::One } else { Factors::Each(factors) };
    problem.with_penalty(penalty)
}

/// Whether the fit on all groups of a node bounds it.
fn is_by_least_squares(grouped: &Grouped<'_, '_>) -> bool {
    let problem = grouped.problem;
    let samples = problem.weights().map_or(problem.nrows(), |w| w.iter().filter(|w| **w > 0.0).count());
    let is_narrow = problem.ncols() <= MOST_COLUMNS && samples > problem.ncols();
    applies(grouped) && (problem.coordinate(0).l2 == 0.0 || is_narrow)
}

/// Whether branch and bound over groups has bounds for this problem.
pub(crate) fn check(grouped: &Grouped<'_, '_>) -> Result<()> {
    let problem = grouped.problem;
    if applies(grouped) || problem.penalty().has_certificate(problem.ncols()) {
        return Ok(());
    }
    let or = match problem.loss().is_quadratic() {
        true => "; least squares needs neither without lambda1, bounds and shrinkage factors",
        false => "",
    };
    Err(Error::Unpenalised { what: problem_words(problem), or })
}

/// The best choice of groups, of at most `size` features where that is limited, proved as far as the limits allow.
pub(crate) fn prove(
    problem: &Problem<'_>,
    grouped: &Grouped<'_, '_>,
    options: &Options,
    monitor: &mut Monitor<'_>,
) -> Result<Solution> {
    debug_assert!(!is_single(grouped.groups), "groups of one feature are features");
    let size = problem.max_size();
    check(grouped)?;
    if is_by_least_squares(grouped) {
        match by_least_squares(grouped, size, options, monitor) {
            // Under a ridge the relaxation has a bound whatever depends on what.
            Err(Error::Dependent { .. }) if grouped.problem.coordinate(0).l2 > 0.0 => {}
            other => return other,
        }
    }
    by_relaxation(grouped, size, options, monitor)
}

fn by_least_squares(
    grouped: &Grouped<'_, '_>,
    size: Option<usize>,
    options: &Options,
    monitor: &mut Monitor<'_>,
) -> Result<Solution> {
    let (n, p) = (grouped.problem.nrows() as f64, grouped.problem.ncols() as f64);
    let null = null_model(grouped)?;
    let has_room = options.memory().allows(64.0 * p * p, 1);
    let refused = if has_room { Status::TimeLimit } else { Status::MemoryLimit };
    if !has_room || !monitor.has_time_for(0.5 * n * p * p + p * p * p) {
        let mut tree = GroupTree::new(grouped, options, 0.0, None);
        tree.offer(&null);
        return Ok(concluded(grouped, &tree, options, monitor.stop(0).unwrap_or(refused), Vec::new(), monitor));
    }
    let mut nodes = LeastSquaresNodes::new(grouped, size)?;
    let mut tree = GroupTree::new(grouped, options, 0.0, None);
    tree.offer(&null);
    let start = options.warm_start.iter().map(|warm| grouped.chosen(warm));
    for start in start.filter(|s| size.is_none_or(|most| grouped.size_of(s) <= most)).chain([Vec::new()]) {
        tree.offer(&nodes.search(&start, monitor.limits())?);
    }
    let ended = tree.grow(&mut nodes, monitor)?;
    let dual = dual_of(grouped, tree.best())?;
    let mut solution = concluded(grouped, &tree, options, ended, dual, monitor);
    solution.dependent = nodes.dependent();
    // Choices that differ in combinations of other columns alone were not told apart: of the runners-up nothing is proved then.
    solution.ranked.iter_mut().skip(1).filter(|_| !solution.dependent.is_empty()).for_each(|r| r.proved = false);
    Ok(solution)
}

fn by_relaxation(
    grouped: &Grouped<'_, '_>,
    size: Option<usize>,
    options: &Options,
    monitor: &mut Monitor<'_>,
) -> Result<Solution> {
    let limits: Limits = monitor.limits().clone();
    let fits = Fits::new(grouped, options, &limits);
    // A first answer alone is asked for: its bound is worth no more than elsewhere.
    let hopeless = if options.max_nodes == Some(1) { HOPELESS } else { 0.0 };
    let mut nodes = DualNodes { grouped, fits, size, hopeless };
    let open = vec![Decision::Open; grouped.groups.len()];
    let grown = size.map(|most| grow(grouped, &mut nodes.fits, most, &limits)).transpose()?;
    let cutoff = grown.as_ref().map_or(f64::INFINITY, |grown| grown.0.objective);
    let (relaxed, nu) = nodes.relax(&open, grown.as_ref().map(|grown| &grown.1), cutoff, &limits)?;
    monitor.so_far.offer_bound(relaxed.bound, &relaxed.dual);
    let part = Part { choices: &open, price: (nu, size.unwrap_or(0) as f64) };
    let mut starts = SHARES.map(|share| relaxed.rounded(grouped, &part, share)).to_vec();
    starts.extend(options.warm_start.clone());
    let mut first = search(&mut nodes.fits, &starts, size, &limits)?;
    if let Some((grown, _)) = grown.filter(|grown| grown.0.objective < first.objective) {
        first = grown;
    }
    let (dual, root) = (relaxed.dual.clone(), relaxed.bound);
    let start = Start { beta: relaxed.beta, intercept: relaxed.intercept, nu };
    let mut tree = GroupTree::new(grouped, options, root, Some(Arc::new(start)));
    tree.offer(&null_model(grouped)?);
    tree.offer(&first);
    monitor.so_far.offer(first.objective, || first.coefficients.clone());
    let ended = tree.grow(&mut nodes, monitor)?;
    Ok(concluded(grouped, &tree, options, ended, dual, monitor))
}

/// An answer of at most `most` features, from nothing, and where its relaxation starts: without a price every group is in play, and R takes
/// longer than all else; at the price of the size few are.
fn grow(
    grouped: &Grouped<'_, '_>,
    fits: &mut Fits<'_, '_, '_>,
    most: usize,
    limits: &Limits,
) -> Result<(GroupFit, Start)> {
    let grown = climb(grouped, fits, most, limits)?;
    let nu = fits.price_of_size(&grown, most)?;
    let (beta, intercept) = (grown.coefficients.to_dense(grouped.problem.ncols()), grown.coefficients.intercept);
    Ok((grown, Start { beta, intercept, nu }))
}

/// Which share of the size a climb goes beyond it, by two features at least. Not tuned.
const BEYOND: usize = 5;

/// Up from size to size, with exchanges at each, beyond the size by a fifth, and down again: the better of what the size has on both ways; from it kicks go
/// on.
fn climb(grouped: &Grouped<'_, '_>, fits: &mut Fits<'_, '_, '_>, most: usize, limits: &Limits) -> Result<GroupFit> {
    let all = grouped.size_of(&(0..grouped.groups.len()).collect::<Vec<_>>());
    let largest = (most + (most / BEYOND).max(2)).min(all);
    let mut current = fits.fit(&[])?;
    let mut best = current.clone();
    let up = (1..=largest).map(|size| (size, false));
    for (size, is_down) in up.chain((most..largest).rev().map(|size| (size, true))) {
        if limits.stop(0).is_some() {
            break;
        }
        let start = match is_down {
            true => fits.shrunk(&current, size)?,
            false => current.coefficients.clone(),
        };
        current = search(fits, &[start], Some(size), limits)?;
        if size <= most && current.objective < best.objective {
            best = current.clone();
        }
    }
    match grouped.problem.coupled() {
        Some(_) => fits.kicked(best, most),
        None => Ok(best),
    }
}

/// Nothing but the intercept.
fn null_model(grouped: &Grouped<'_, '_>) -> Result<GroupFit> {
    let problem = grouped.problem;
    let intercept = problem.best_intercept(&problem.null_margins(), 0.0);
    let coefficients = Coefficients { intercept, ..Coefficients::default() };
    Ok(GroupFit { objective: grouped.objective(&coefficients)?, bound: 0.0, coefficients })
}

/// The dual point of an answer.
fn dual_of(grouped: &Grouped<'_, '_>, best: Option<&GroupFit>) -> Result<Vec<f64>> {
    let (problem, mut dual) = (grouped.problem, vec![0.0; grouped.problem.nrows()]);
    if let Some(best) = best {
        let (u, b) = problem.predictor(&best.coefficients)?;
        problem.dual_point(&u, b, &mut dual);
    }
    Ok(dual)
}

fn concluded(
    grouped: &Grouped<'_, '_>,
    tree: &GroupTree<'_, '_, '_>,
    options: &Options,
    ended: Status,
    dual: Vec<f64>,
    monitor: &mut Monitor<'_>,
) -> Solution {
    let (lower_bound, ranked) = (tree.lower_bound(), tree.ranked());
    let (coefficients, objective) = tree
        .best()
        .map_or_else(|| (Coefficients::default(), f64::INFINITY), |best| (best.coefficients.clone(), best.objective));
    let certificate = Certificate::new(objective, None, lower_bound);
    let status = certificate.status(ended, options.absolute(grouped.problem), options.gap);
    // A limit that struck before as many choices were ranked as were asked for: the search is not done.
    let is_unranked = options.top > 1 && (ranked.len() < options.top || ranked.iter().any(|r| !r.proved));
    let status = if is_unranked && ended != Status::Converged { ended } else { status };
    monitor.conclude(objective, lower_bound, tree.processed, grouped.problem.size(&coefficients));
    let (seconds, trace) = (monitor.seconds(), std::mem::take(&mut monitor.trace));
    let known = Solution::new(coefficients, certificate, status, dual);
    Solution { iterations: tree.processed, ranked, seconds, trace, ..known }
}
