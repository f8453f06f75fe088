//! Least squares without a ridge among more features than leaps and bounds can go through: branch and bound with a ridge too small to
//! matter (MATH 11.43).
//!
//! The relaxation says nothing without a ridge. With any it lives on the curvature that is moved, so that one which costs less than the tolerance is as good as a
//! large one; what the bound owes for it is taken off.

use crate::certificate::Certificate;
use crate::control::{Monitor, Options};
use crate::error::{Error, Result};
use crate::exact;
use crate::leaps::{self, Equations};
use crate::penalty::{Factors, Penalty};
use crate::problem::Problem;
use crate::solution::{Ranked, Status};
use crate::solver::Outcome;
use crate::wide;

/// Nodes of leaps and bounds that come first: those of up to so many features mostly end within them. n = 500, p = 100 takes 43 nodes with the ridge where
/// eleven million do not do, p = 20 some hundreds of a microsecond.
const FEW: usize = 40;
const LEAPS_OF_FEW: usize = 2_000_000;
const LEAPS: usize = 20_000;

/// Part of the tolerance that the ridge may cost.
const PART: f64 = 0.25;

/// The least ridge, for columns of length one: with less the relaxation has no digits left.
const LEAST: f64 = 1e-11;

/// What is left of ‖A⁻¹‖ for the rounding of an inverse that equations allow, which is far smaller.
const SURE: f64 = 1.01;

/// The largest, which is large enough for any purpose.
const MOST: f64 = 1e-3;

/// As [`leaps::solve`] without a checkpoint, for what [`leaps::is_needed`].
pub(crate) fn solve(problem: &Problem<'_>, options: &Options, monitor: &mut Monitor<'_>) -> Result<Outcome> {
    let nodes = if problem.ncols() <= FEW { LEAPS_OF_FEW } else { LEAPS };
    let is_enough = options.top > 1 || options.max_nodes.is_some_and(|most| most <= nodes);
    if is_enough || !has_room(problem, options, monitor) {
        return leaps::solve(problem, options, monitor, None);
    }
    let leapt = leaps::solve(problem, &Options { max_nodes: Some(nodes), ..options.clone() }, monitor, None)?;
    if leapt.ended != Status::NodeLimit {
        return Ok(leapt);
    }
    let max_nodes = options.max_nodes.map(|most| most.saturating_sub(nodes).max(1));
    let rest = Options { max_nodes, warm_start: Some(leapt.coefficients.clone()), ..options.clone() };
    match with_ridge(problem, &rest, monitor, &leapt)? {
        Some(found) => {
            let iterations = found.iterations.saturating_add(leapt.iterations);
            ranked(problem, options, Outcome { iterations, ..wide::better_of(problem, found, Some(leapt))? })
        }
        None => leaps::solve(problem, options, monitor, None),
    }
}

/// Nodes of leaps and bounds before sizes that are not proved by then are searched one by one; `None` where they go on to the end, as nothing else would be
/// sooner: among few features, and where the relaxation has no ridge and can be given none.
pub(crate) fn leaps_before(
    problem: &Problem<'_>,
    sizes: usize,
    options: &Options,
    monitor: &Monitor<'_>,
) -> Result<Option<usize>> {
    let nodes = LEAPS.saturating_mul(sizes);
    let is_enough = problem.ncols() <= FEW || options.max_nodes.is_some_and(|most| most <= nodes);
    if is_enough || !has_room(problem, options, monitor) {
        return Ok(None);
    }
    if problem.penalty().has_certificate(problem.ncols()) {
        return Ok(Some(nodes));
    }
    let equations = Equations::new(problem, problem.ncols())?;
    let all = equations.cells.first().map(|cell| equations.fit(&cell.members())).unwrap_or_default();
    Ok(ridge(&equations, options, all).map(|_| nodes))
}

/// The ridge of columns of length one that costs no answer of at least this value more than [`PART`] of the tolerance, and what it may cost (MATH 11.43).
fn ridge(equations: &Equations<'_, '_>, options: &Options, value: f64) -> Option<(f64, f64)> {
    if equations.is_wide() || !equations.is_complete() {
        return None;
    }
    let most = 2.0 * SURE * equations.inverse * equations.total;
    let room = options.absolute(equations.problem).max(options.gap * value.abs());
    let ridge = (PART * room / most).min(MOST);
    // A NaN is none.
    (ridge >= LEAST).then_some((ridge, ridge * most))
}

/// Whether there is memory and time for the inner products of all features.
fn has_room(problem: &Problem<'_>, options: &Options, monitor: &Monitor<'_>) -> bool {
    let (n, p) = (problem.nrows() as f64, problem.ncols() as f64);
    options.memory().allows(64.0 * p * p, 1) && monitor.has_time_for(n * p * p + p * p * p)
}

/// min P_ε ≤ P + ε Σ‖x̂_j‖²β_j² at every fit, hence P ≥ min P_ε − 2ε ‖A⁻¹‖ fit(∅) (MATH 11.43): the best subset with the ridge, fitted without; `None` where
/// columns depend on each other, or nearly.
fn with_ridge(
    problem: &Problem<'_>,
    options: &Options,
    monitor: &mut Monitor<'_>,
    known: &Outcome,
) -> Result<Option<Outcome>> {
    let equations = Equations::new(problem, problem.ncols())?;
    let Some((ridge, owed)) = ridge(&equations, options, problem.value(&known.coefficients)?) else { return Ok(None) };
    let penalty = Penalty {
        lambda2: ridge,
        shrinkage: Factors::Each(equations.scales.iter().map(|s| 1.0 / (s * s)).collect()),
        ..problem.penalty().clone()
    };
    let slight = problem.with_penalty(penalty)?;
    let halved = Options { gap: 0.5 * options.gap, gap_absolute: 0.5 * options.gap_absolute, ..options.clone() };
    monitor.so_far.owed = owed;
    let found = exact::solve(&slight, &halved, monitor, None, None);
    monitor.so_far.owed = 0.0;
    let found = found?;
    let position = |j: &usize| equations.features.binary_search(j).ok().map(|k| k as u32);
    let members: Vec<u32> = found.coefficients.support.iter().filter_map(position).collect();
    let coefficients = match equations.refit(&members, equations.fit(&members)) {
        Err(error) if error.is_of_reading() || matches!(error, Error::Stopped) => return Err(error),
        // The answer with the ridge is one without.
        fit => fit.unwrap_or_else(|_| found.coefficients.clone()),
    };
    Ok(Some(Outcome {
        coefficients,
        lower_bound: (found.lower_bound - owed).max(0.0),
        relaxation: None,
        dependent: Vec::new(),
        ranked: Vec::new(),
        ..found
    }))
}

/// With the answer as the only one that is ranked.
fn ranked(problem: &Problem<'_>, options: &Options, mut outcome: Outcome) -> Result<Outcome> {
    let objective = problem.value(&outcome.coefficients)?;
    let certificate = Certificate::new(objective, None, outcome.lower_bound);
    let proved = certificate.status(outcome.ended, options.absolute(problem), options.gap) == Status::Optimal;
    outcome.ranked = vec![Ranked { coefficients: outcome.coefficients.clone(), objective, proved }];
    Ok(outcome)
}
