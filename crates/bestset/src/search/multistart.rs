//! Primal phase (MATH 7.4–7.9): several starts, descent with T, exact refits, exchanges until none helps; the best is kept.

use crate::control::{Limits, Monitor, Options};
use crate::error::Result;
use crate::relaxation::convex::Relaxed;
use crate::relaxation::workspace::Workspace;
use crate::search::exchange::{Priced, exchange, exchange_all, is_by_pivots};
use crate::search::fit::{BUDGET, Incumbent, descend, refit};
use crate::search::rules::Rules;
use crate::search::widen::{self, Known};
use crate::solution::{Coefficients, Local};
use std::collections::HashSet;

/// Searches from several starts around the relaxation's minimiser, which the workspace holds, then further off.
pub fn solve(
    work: &mut Workspace<'_, '_>,
    others: &[Coefficients],
    relaxed: &mut Relaxed,
    options: &Options,
    monitor: &mut Monitor<'_>,
) -> Result<Incumbent> {
    let mut budget = BUDGET;
    let (mut best, rules, priced) = search(work, others, relaxed, &mut budget, monitor)?;
    if work.problem.penalty().lambda0 > 0.0 {
        let known = Known { rules: &rules, priced };
        search_outside(work, &mut best, relaxed, known, options, &mut budget, monitor)?;
    }
    Ok(best)
}

/// The first part of [`solve`]: the best of several starts after descent and exchanges within the active set, the rules that
/// say which features matter, and the tableau of these there, if it was needed.
pub fn search(
    work: &mut Workspace<'_, '_>,
    others: &[Coefficients],
    relaxed: &mut Relaxed,
    budget: &mut f64,
    monitor: &mut Monitor<'_>,
) -> Result<(Incumbent, Rules, Option<Priced>)> {
    let (root, mut best) = (work.coefficients(), Incumbent::none());
    if work.problem.penalty().lambda0 == 0.0 {
        take_convex(work, others, relaxed, &mut best, monitor)?;
        return Ok((best, Rules::none(), None));
    }
    let found = descend_from(work, &starts(work, &root, others), &mut best, monitor)?;
    work.load(&best.coefficients)?;
    descend(work, monitor);
    best.offer(work, monitor);
    let rules = Rules::new(work.problem, relaxed, best.objective, monitor)?;
    // Where the rules leave much open each start is worth its own way down; where they leave little, one tableau of that is best.
    let narrow = 2 * rules.open(work, best.objective).len() < work.active.len();
    if narrow && is_by_pivots(work) {
        widen::take_in(work, &rules, best.objective)?;
        let undecided = undecided(work, &root, &found);
        let priced = exchange_all(work, &found, &undecided, &rules, budget, monitor)?;
        best.offer(work, monitor);
        return Ok((best, rules, priced));
    }
    let mut seen = HashSet::new();
    for start in found {
        work.load(&start)?;
        if work.problem.loss().is_quadratic() {
            descend(work, monitor);
        }
        rules.conform(work, best.objective, monitor)?;
        if seen.insert(work.support()) {
            exchange(work, &rules, best.objective, budget, monitor)?;
        }
        best.offer(work, monitor);
    }
    Ok((best, rules, None))
}

/// An answer within the active set before the rules are known: the best of the usual starts after descent, improved by exchanges. Leaves
/// the workspace where it was.
pub fn first(work: &mut Workspace<'_, '_>, others: &[Coefficients], monitor: &mut Monitor<'_>) -> Result<Incumbent> {
    let (root, mut best) = (work.coefficients(), Incumbent::none());
    descend_from(work, &starts(work, &root, others), &mut best, monitor)?;
    work.load(&best.coefficients)?;
    improve(work, monitor)?;
    best.offer(work, monitor);
    work.load(&root)?;
    Ok(best)
}

/// λ0 = 0, nothing to choose: P is R, and its minimiser, once found, leaves nothing to any move.
fn take_convex(
    work: &mut Workspace<'_, '_>,
    others: &[Coefficients],
    relaxed: &Relaxed,
    best: &mut Incumbent,
    monitor: &mut Monitor<'_>,
) -> Result<()> {
    best.offer(work, monitor);
    // A gap closed to eight digits leaves four of a coefficient: P is flat at its minimum.
    if !work.problem.loss().is_quadratic() && work.can_price(work.support().len()) {
        refit(work, monitor);
        best.offer(work, monitor);
    }
    for start in others {
        work.load(start)?;
        best.offer(work, monitor);
    }
    let found = relaxed.relaxation - relaxed.lower_bound <= 1e-8 * relaxed.relaxation.abs();
    best.local = if found { Local::Swap } else { Local::None };
    Ok(())
}

/// Where descent with T ends from each start, each support once, the most promising first: they may use up the budget.
fn descend_from(
    work: &mut Workspace<'_, '_>,
    starts: &[Coefficients],
    best: &mut Incumbent,
    monitor: &mut Monitor<'_>,
) -> Result<Vec<Coefficients>> {
    let (mut seen, mut found) = (HashSet::new(), Vec::new());
    for start in starts {
        work.load(start)?;
        best.offer(work, monitor);
        // Even in a hurry no start is forgotten: the answer is never worse than the caller's.
        if best.objective.is_finite() && monitor.stop(0).is_some() {
            continue;
        }
        match work.problem.loss().is_quadratic() {
            true => work.threshold_descent(monitor),
            false => descend(work, monitor),
        }
        best.offer(work, monitor);
        if seen.insert(work.support()) {
            found.push((work.objective(), work.coefficients()));
        }
    }
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    Ok(found.into_iter().map(|f| f.1).collect())
}

/// Whether R's minimiser, with a coefficient before its knee, or the starts disagree about a position: among these the choice
/// is made first.
fn undecided(work: &Workspace<'_, '_>, root: &Coefficients, starts: &[Coefficients]) -> Vec<bool> {
    let mut votes = vec![0; work.active.len()];
    starts.iter().flat_map(|s| &s.support).filter_map(|&j| work.position(j)).for_each(|k| votes[k] += 1);
    let mut undecided: Vec<bool> = votes.iter().map(|&v| v > 0 && v < starts.len()).collect();
    let between = |&(j, b): &(usize, f64)| b.abs() < work.problem.coordinate(j).knee(b > 0.0);
    root.iter().filter(between).filter_map(|(j, _)| work.position(j)).for_each(|k| undecided[k] = true);
    undecided
}

/// The second part: a walk past the local minimum and a look at all of X, with the bound of the convex phase.
fn search_outside(
    work: &mut Workspace<'_, '_>,
    best: &mut Incumbent,
    relaxed: &mut Relaxed,
    known: Known<'_>,
    options: &Options,
    budget: &mut f64,
    monitor: &mut Monitor<'_>,
) -> Result<()> {
    let problem = work.problem;
    let mut bound = |met: Option<widen::Met<'_>>| {
        if let Some((alpha, features, tau)) = met {
            relaxed.offer_dual(problem, alpha, features, tau)?;
        }
        Ok(relaxed.lower_bound)
    };
    widen::search_outside(work, best, &mut bound, known, options, budget, monitor)
}

/// As [`solve`], from the starts given and R's minimiser `root` rounded at half its knee: the best of them after descent with T is
/// improved by exchanges.
pub fn neighbour(
    work: &mut Workspace<'_, '_>,
    others: &[Coefficients],
    root: &Coefficients,
    relaxed: &mut Relaxed,
    options: &Options,
    monitor: &mut Monitor<'_>,
) -> Result<Incumbent> {
    let mut best = Incumbent::none();
    let knee = |j: usize, b: f64| work.problem.coordinate(j).knee(b > 0.0);
    let large = root.iter().filter(|&(j, b)| b.abs() >= 0.5 * knee(j, b)).collect();
    let rounded = Coefficients::from_pairs(large, root.intercept);
    for start in others.iter().chain([&rounded]) {
        work.load(start)?;
        best.offer(work, monitor);
        if best.objective.is_finite() && monitor.stop(0).is_some() {
            continue;
        }
        descend(work, monitor);
        best.offer(work, monitor);
    }
    let rules = Rules::new(work.problem, relaxed, best.objective, monitor)?;
    let known = Known { rules: &rules, priced: None };
    search_outside(work, &mut best, relaxed, known, options, &mut BUDGET.clone(), monitor)?;
    Ok(best)
}

/// R's minimiser whole and rounded at several sizes, the link of its dual point, the caller's starts, and nothing. The
/// workspace is at R's minimiser.
fn starts(work: &Workspace<'_, '_>, root: &Coefficients, others: &[Coefficients]) -> Vec<Coefficients> {
    let mut starts = vec![root.clone()];
    let knee = |j: usize, b: f64| work.problem.coordinate(j).knee(b > 0.0);
    for share in [0.5, 0.9, 0.25] {
        let large = root.iter().filter(|&(j, b)| b.abs() >= share * knee(j, b)).collect();
        starts.push(Coefficients::from_pairs(large, root.intercept));
    }
    // The link of the dual point (MATH 3.4) asks for coefficients beyond the knee wherever it asks for any.
    let link = |(k, tau): (usize, f64)| (work.active.features()[k], work.coordinates[k].link(tau));
    let linked: Vec<(usize, f64)> = work.gradients().into_iter().enumerate().map(link).collect();
    if linked.iter().all(|p| p.1.is_finite()) {
        starts.push(Coefficients::from_pairs(linked, root.intercept));
    }
    starts.extend(others.iter().cloned());
    starts.push(Coefficients::default());
    starts
}

/// Lowers P from the workspace's point by descent with T and exchanges.
pub fn improve(work: &mut Workspace<'_, '_>, monitor: &Limits) -> Result<()> {
    descend(work, monitor);
    exchange(work, &Rules::none(), f64::INFINITY, &mut (0.1 * BUDGET), monitor)?;
    Ok(())
}
