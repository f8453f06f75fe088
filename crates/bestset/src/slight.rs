//! Least squares without a ridge among more features than leaps and bounds can go through: branch and bound with a ridge too small to
//! matter (MATH 11.43).
//!
//! The relaxation says nothing without a ridge. With any it lives on the curvature that is moved, so that one which costs less than the tolerance is as good as a
//! large one; what the bound owes for it is taken off.

use crate::certificate::Certificate;
use crate::control::{Monitor, Options};
use crate::error::Result;
use crate::exact;
use crate::leaps::{self, Equations};
use crate::penalty::{Factors, Penalty};
use crate::problem::Problem;
use crate::solution::{Ranked, Status};
use crate::solver::Outcome;
use crate::wide;

/// Features up to which leaps and bounds mostly ends by itself. Not tuned.
const FEW: usize = 40;

/// Nodes of leaps and bounds that come first among so few: seconds. Not tuned.
const LEAPS_OF_FEW: usize = 2_000_000;

/// Nodes of it that come first among more, a tenth of a second: n = 500, p = 100 takes 43 nodes with the ridge where eleven million do not do. Not tuned.
const LEAPS: usize = 20_000;

/// Part of the tolerance that the ridge may cost.
const PART: f64 = 0.25;

/// The least ridge, for columns of length one: with less the relaxation has no digits left.
const LEAST: f64 = 1e-11;

/// The largest, which is large enough for any purpose.
const MOST: f64 = 1e-3;

/// By how much ‖A⁻¹‖ is raised for its rounding, which is far less with the least ridge.
const SURE: f64 = 1.01;

/// As [`leaps::solve`] without a checkpoint, for what [`leaps::is_needed`].
pub(crate) fn solve(problem: &Problem<'_>, options: &Options, monitor: &mut Monitor<'_>) -> Result<Outcome> {
    solve_after(if problem.ncols() <= FEW { LEAPS_OF_FEW } else { LEAPS }, problem, options, monitor)
}

/// As [`solve`], after so many nodes of leaps and bounds.
fn solve_after(nodes: usize, problem: &Problem<'_>, options: &Options, monitor: &mut Monitor<'_>) -> Result<Outcome> {
    let is_enough = options.top > 1 || options.max_nodes.is_some_and(|most| most <= nodes);
    if is_enough || !can_have_ridge(problem, options, monitor)? {
        return leaps::solve(problem, options, monitor, None);
    }
    let leapt = leaps::solve(problem, &Options { max_nodes: Some(nodes), ..options.clone() }, monitor, None)?;
    if leapt.ended != Status::NodeLimit {
        return Ok(leapt);
    }
    // What is not read, or stopped, from here on takes nothing away from this answer.
    monitor.offer(problem.value(&leapt.coefficients)?, || leapt.coefficients.clone());
    let max_nodes = options.max_nodes.map(|most| most.saturating_sub(nodes).max(1));
    let rest = Options { max_nodes, warm_start: Some(leapt.coefficients.clone()), ..options.clone() };
    let found = with_ridge(problem, &rest, monitor, &leapt)?;
    let is_limit = |found: &Outcome| !matches!(found.ended, Status::Converged | Status::Stalled | Status::Optimal);
    let iterations = leapt.iterations.saturating_add(found.as_ref().map_or(0, |f| f.iterations));
    let best = match found {
        Some(found) => wide::better_of(problem, found, Some(leapt))?,
        None => leapt,
    };
    if is_limit(&best) && best.ended != Status::NodeLimit || wide::is_proved(problem, options, &best)? {
        return ranked(problem, options, Outcome { iterations, ..best });
    }
    let left = options.max_nodes.map(|most| most.saturating_sub(iterations));
    if left == Some(0) {
        return ranked(problem, options, Outcome { iterations, ..best });
    }
    // Digits were not enough, as where the mean of a column is far from zero: leaps and bounds has them.
    let last = leaps::solve(problem, &Options { max_nodes: left, ..options.clone() }, monitor, None)?;
    let iterations = iterations.saturating_add(last.iterations);
    Ok(Outcome { iterations, ..wide::better_of(problem, last, Some(best))? })
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
    if is_enough {
        return Ok(None);
    }
    let is_sooner = problem.penalty().has_certificate(problem.ncols()) || can_have_ridge(problem, options, monitor)?;
    Ok(is_sooner.then_some(nodes))
}

/// Whether any answer can be proved with a slight ridge, as far as memory, time and the columns go: no answer is less than the fit on all features.
fn can_have_ridge(problem: &Problem<'_>, options: &Options, monitor: &Monitor<'_>) -> Result<bool> {
    let (n, p) = (problem.nrows() as f64, problem.ncols() as f64);
    // Where samples determine fewer columns there are no equations of all of them, but of very many families.
    let is_wide = problem.ncols() > leaps::determined(problem);
    if is_wide || !options.memory().allows(64.0 * p * p, 1) || !monitor.has_time_for(n * p * p + p * p * p) {
        return Ok(false);
    }
    let equations = Equations::new(problem, largest(problem))?;
    let least = equations.cells.first().map_or(equations.total, |cell| equations.fit(&cell.members()));
    Ok(ridge(&equations, options, least).is_some())
}

/// The most features that an answer may have.
fn largest(problem: &Problem<'_>) -> usize {
    problem.max_size().unwrap_or(problem.ncols())
}

/// The ridge of columns of length one that costs no answer of at least this value more than [`PART`] of the tolerance, and what it may cost (MATH 11.43).
fn ridge(equations: &Equations<'_, '_>, options: &Options, value: f64) -> Option<(f64, f64)> {
    if equations.is_wide() || !equations.is_complete() {
        return None;
    }
    let cost = 2.0 * SURE * equations.inverse * equations.total;
    let room = options.absolute(equations.problem).max(options.gap * value.abs());
    let epsilon = (PART * room / cost).min(MOST);
    // A NaN is none.
    (epsilon >= LEAST).then_some((epsilon, epsilon * cost))
}

/// min P_ε ≤ P + ε Σ‖x̂_j‖²β_j² at every fit, hence P ≥ min P_ε − 2ε ‖A⁻¹‖ fit(∅) (MATH 11.43): the best subset with the ridge, fitted without; `None` where
/// columns depend on each other, or nearly.
fn with_ridge(
    problem: &Problem<'_>,
    options: &Options,
    monitor: &mut Monitor<'_>,
    known: &Outcome,
) -> Result<Option<Outcome>> {
    let equations = Equations::new(problem, largest(problem))?;
    let Some((ridge, owed)) = ridge(&equations, options, problem.value(&known.coefficients)?) else { return Ok(None) };
    // λ1 of a plain problem has factors of zero, which are the ridge's here.
    let penalty = Penalty {
        lambda1: 0.0,
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
    // The answer with the ridge is one without, but a little worse.
    let fit = equations.refit(&members, equations.fit(&members));
    let coefficients = fit.unwrap_or_else(|_| found.coefficients.clone());
    let mut dual = vec![0.0; problem.nrows()];
    let (u, b) = problem.predictor(&coefficients)?;
    problem.dual_point(&u, b, &mut dual);
    // What else was found is of the problem with the ridge.
    let known = Outcome::new(coefficients, (found.lower_bound - owed).max(0.0), dual, found.ended);
    Ok(Some(Outcome { iterations: found.iterations, ..known }))
}

/// With the answer as the only one that is ranked.
fn ranked(problem: &Problem<'_>, options: &Options, mut outcome: Outcome) -> Result<Outcome> {
    let objective = problem.value(&outcome.coefficients)?;
    let certificate = Certificate::new(objective, None, outcome.lower_bound);
    let proved = certificate.status(outcome.ended, options.absolute(problem), options.gap) == Status::Optimal;
    outcome.ranked = vec![Ranked { coefficients: outcome.coefficients.clone(), objective, proved }];
    Ok(outcome)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Method;
    use crate::common::{Case, ChaCha8Rng, Convex, RngExt, normal, power, rng};
    use crate::design::Dense;

    /// More samples than features, columns of any scale, some of them much alike, weights, an intercept or none, a price or a size or both.
    fn draw(rng: &mut ChaCha8Rng) -> (Case, Option<usize>) {
        let p = rng.random_range(3..=8);
        let n = p + rng.random_range(2..=30);
        let scale: Vec<f64> = (0..p).map(|_| power(rng, -6.0, 6.0)).collect();
        let apart = [1.0, 1.0, 0.3, 0.05][rng.random_range(0..4)];
        let common: Vec<f64> = (0..n).map(|_| normal(rng)).collect();
        let x: Vec<f64> =
            (0..n * p).map(|i| scale[i / n] * (common[i % n] * (1.0 - apart) + apart * normal(rng))).collect();
        let noise = power(rng, -2.0, 0.5);
        let y = (0..n).map(|i| x[i] / scale[0] - x[2 * n + i] / scale[2] + noise * normal(rng)).collect();
        let size = rng.random_bool(0.5).then(|| rng.random_range(1..=p));
        let is_priced = size.is_none() || rng.random_bool(0.3);
        let lambda0 = if is_priced { n as f64 * power(rng, -4.0, -0.5) } else { 0.0 };
        let mut case = Case::dense(n, p, x, y, Penalty::new(lambda0, 0.0, 0.0));
        case.intercept = rng.random_bool(0.5);
        if rng.random_bool(0.2) {
            // As plain as without λ1.
            case.penalty = Penalty::new(lambda0, normal(rng).abs(), 0.0).with_shrinkage(vec![0.0; p]);
        }
        if rng.random_bool(0.3) {
            case.weights = Some((0..n).map(|_| rng.random_range(0.1..3.0)).collect());
        }
        (case, size)
    }

    /// Every fit, by the features it is on, as (P, β).
    fn fits(case: &Case) -> Vec<(f64, Vec<f64>)> {
        let model = case.model();
        let fit = |mask: usize| {
            let subset: Vec<usize> = (0..case.p).filter(|j| mask >> j & 1 == 1).collect();
            let penalties: Vec<Convex> = subset.iter().map(|&j| Convex::selected(&case.penalty, j)).collect();
            let found = model.minimise(&subset, &penalties);
            let mut beta = vec![0.0; case.p];
            subset.iter().zip(&found.beta).for_each(|(&j, b)| beta[j] = *b);
            (found.value + case.penalty.lambda0 * subset.len() as f64, beta)
        };
        (0..1 << case.p).map(fit).collect()
    }

    /// ε Σ‖x̂_j‖²β_j² of every fit is at most what is owed (MATH 11.43), and no bound is above the optimum.
    #[test]
    fn no_fit_owes_more_and_no_bound_is_above_the_optimum() {
        let (mut with, mut proved, mut close) = (0, 0, 0);
        for seed in 0..300 {
            let mut rng = rng(61_000 + seed);
            let (case, size) = draw(&mut rng);
            let design = Dense::new(case.n, case.p, case.x.clone()).unwrap();
            let problem = case.problem(&design);
            let problem = match size {
                Some(k) => problem.with_max_size(k).unwrap(),
                None => problem,
            };
            let options = Options { gap: [1e-4, 1e-6][seed as usize % 2], ..Options::with_method(Method::Exact) };
            let fits = fits(&case);
            let may = |m: &usize| size.is_none_or(|k| m.count_ones() as usize <= k);
            let optimum = (0..fits.len()).filter(may).map(|m| fits[m].0).fold(f64::INFINITY, f64::min);
            let equations = Equations::new(&problem, case.p).unwrap();
            if let Some((ridge, owed)) = ridge(&equations, &options, optimum) {
                for (_, beta) in &fits {
                    let shrinkage =
                        beta.iter().zip(&equations.scales).map(|(b, s)| ridge * (b / s).powi(2)).sum::<f64>();
                    assert!(shrinkage <= owed * (1.0 + 1e-6), "{seed}: {shrinkage} of {owed}, {case:?}");
                    close += usize::from(shrinkage > 0.2 * owed);
                }
                with += 1;
            }
            let mut silent = ();
            let mut monitor = Monitor::new(&options, &mut silent);
            let found = solve_after(1, &problem, &options, &mut monitor).unwrap();
            let slack = 1e-9 * fits[0].0;
            assert!(found.lower_bound <= optimum + slack, "{seed}: {} above {optimum}, {case:?}", found.lower_bound);
            assert!(monitor.so_far.lower_bound <= optimum + slack, "{seed}, on the way");
            if found.ended == Status::Converged {
                let value = problem.value(&found.coefficients).unwrap();
                let room = options.absolute(&problem).max(options.gap * value);
                assert!(value - found.lower_bound <= room + slack, "{seed}: {value}, {}", found.lower_bound);
                assert!(value <= optimum + room + slack, "{seed}: {value} for {optimum}");
                proved += 1;
            }
        }
        assert!(with > 150 && proved > 290 && close > 50, "{with} with a ridge, {proved} proved, {close} close");
    }

    /// What leaps and bounds proves to the end is proved with the ridge.
    #[test]
    fn the_answer_is_that_of_leaps_and_bounds() {
        let mut rng = rng(4);
        let (n, p) = (120, 45);
        let x: Vec<f64> = (0..n * p).map(|_| normal(&mut rng)).collect();
        let y: Vec<f64> =
            (0..n).map(|i| (0..12).map(|j| x[j * n + i] / (j + 1) as f64).sum::<f64>() + normal(&mut rng)).collect();
        let design = Dense::new(n, p, x).unwrap();
        let problem = Problem::new(&design, y, Penalty::new(2.0, 0.0, 0.0)).unwrap();
        let options = Options { gap: 1e-8, ..Options::with_method(Method::Exact) };
        let mut silent = ();
        let mut run = |nodes| {
            let found = solve_after(nodes, &problem, &options, &mut Monitor::new(&options, &mut silent)).unwrap();
            (problem.value(&found.coefficients).unwrap(), found)
        };
        let ((value, slight), (leapt, leaps)) = (run(1), run(usize::MAX));
        assert_eq!(slight.coefficients.support, leaps.coefficients.support);
        assert!((value - leapt).abs() <= 1e-12 * leapt && slight.lower_bound <= leapt, "{value}, {leapt}");
        assert!(
            value - slight.lower_bound <= 1e-8 * value && slight.iterations < leaps.iterations,
            "{}",
            slight.iterations
        );
    }
}
