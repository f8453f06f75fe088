//! Exchanges (MATH 7.4–7.7): features of the active set added, dropped and exchanged, priced from the tableau, while P falls.

use crate::control::Limits;
use crate::error::Result;
use crate::penalty::Bounds;
use crate::relaxation::workspace::Workspace;
use crate::search::explore;
use crate::search::explore::Neighbour;
use crate::search::fit::{BUDGET, apply, fit, margin, refit};
use crate::search::rules::Rules;
use crate::search::tableau::{Move, Tableau};
use crate::solution::Coefficients;
use std::collections::HashSet;

/// Positions that a walk may visit besides the support: so many for each of the support, and at least so many.
const ROOM: (usize, usize) = (2, 100);

/// Most steps without a lower P of a walk by pivots (no record of how the number was chosen).
const PIVOTS: usize = 600;

/// The same of a walk by fits, whose steps cost far more.
const FITS: usize = 200;

/// Share of the budget that walks by fits may use.
const SHARE: f64 = 0.6;

/// Adds, drops and exchanges features of the active set until none lowers P. Returns whether every move was ruled out: those
/// of features that the rules have settled for the P of `best` or of a point met here cannot lower it.
pub(crate) fn exchange(
    work: &mut Workspace<'_, '_>,
    rules: &Rules,
    best: f64,
    budget: &mut f64,
    monitor: &Limits,
) -> Result<bool> {
    if !work.can_price(work.active.len()) || !monitor.has_time_for(work.gram_cost()) {
        return Ok(false);
    }
    loop {
        if *budget <= 0.0 || monitor.stop(0).is_some() {
            return Ok(false);
        }
        let view = rules.open(work, best.min(work.objective()));
        if work.problem.loss().is_quadratic() {
            let (start, objective) = (work.coefficients(), work.objective());
            match pivots(work, &view, budget, monitor) {
                (0, true, _) => return Ok(true),
                (0, false, _) => {}
                (_, complete, change) => {
                    let reached = work.beta.clone();
                    refit(work, monitor);
                    if work.objective() < objective * (1.0 - 1e-12) {
                        // The fit is the one that the tableau ended at, and what it says of the moves left holds.
                        let same = (work.objective() - objective - change).abs() <= margin(objective);
                        if complete && same && agree(&reached, &work.beta) {
                            return Ok(true);
                        }
                        continue;
                    }
                    work.load(&start)?;
                }
            }
        }
        match verified_moves(work, &view, budget, monitor)? {
            Some((0, complete)) => return Ok(complete && monitor.stop(0).is_none()),
            Some(_) => {}
            None => return Ok(false),
        }
    }
}

/// The tableau of the positions in view at the current fit.
pub(crate) fn tableau(work: &mut Workspace<'_, '_>, view: &[usize], budget: &mut f64) -> Option<Tableau> {
    let (gradients, beta, coordinates) = (work.gradients(), work.beta.clone(), work.coordinates.clone());
    *budget -= Tableau::build_cost(view.len(), work.support().len());
    Tableau::within(view, &work.gram(), &coordinates, &beta, &gradients)
}

/// Moves by pivots of the tableau alone, exact for the squared loss; how many, whether no improving one is left, and what
/// they change P by.
fn pivots(work: &mut Workspace<'_, '_>, view: &[usize], budget: &mut f64, monitor: &Limits) -> (usize, bool, f64) {
    let margin = margin(work.objective());
    let Some(mut tableau) = tableau(work, view, budget) else { return (0, false, 0.0) };
    let (moves, complete) = tableau.descend(margin, budget, || monitor.stop(0).is_some());
    if moves > 0 {
        view.iter().zip(tableau.beta()).for_each(|(&k, b)| work.beta[k] = b);
        work.refresh();
    }
    (moves, complete, tableau.value())
}

/// Whether the coefficients of a tableau are those of a fit. Pivots on columns that nearly depend on one another lose digits, of
/// these and of the prices alike.
fn agree(pivoted: &[f64], fitted: &[f64]) -> bool {
    let largest = fitted.iter().fold(0.0, |most: f64, b| most.max(b.abs()));
    pivoted.iter().zip(fitted).all(|(a, b)| (a - b).abs() <= 1e-8 * largest)
}

/// A tableau and the positions of the workspace that it is of.
pub struct Priced {
    tableau: Tableau,
    view: Vec<usize>,
    /// Positions that there were to see.
    seen: usize,
}

impl Priced {
    /// At the current fit, of the features that the rules leave open.
    fn new(work: &mut Workspace<'_, '_>, rules: &Rules, budget: &mut f64) -> Option<Self> {
        let (view, seen) = (rules.open(work, work.objective()), work.active.len());
        tableau(work, &view, budget).map(|tableau| Self { tableau, view, seen })
    }

    /// The tableau is at the support and the fit of the workspace and of all that is open there: puts in the fit to the last digit.
    fn is_at(&mut self, work: &Workspace<'_, '_>) -> bool {
        let pick = |of: &[f64]| -> Vec<f64> { self.view.iter().map(|&k| of[k]).collect() };
        let (beta, pivoted) = (pick(&work.beta), self.tableau.beta());
        // What came into the active set since is not in view.
        let same = self.seen == work.active.len()
            && beta.iter().enumerate().all(|(e, b)| self.tableau.contains(e) == (*b != 0.0))
            && agree(&pivoted, &beta);
        if same {
            self.tableau.retarget(&beta, &pick(&work.gradients()));
        }
        same
    }
}

/// Exchanges from the workspace's point, the best known, and from each of the starts, whose features it holds: among the
/// `undecided` positions first, then among all that the rules leave open. One tableau serves them all. Leaves the workspace at
/// the best of what they end at, with the tableau there.
pub(crate) fn exchange_all(
    work: &mut Workspace<'_, '_>,
    starts: &[Coefficients],
    undecided: &[bool],
    rules: &Rules,
    budget: &mut f64,
    monitor: &Limits,
) -> Result<Option<Priced>> {
    if !monitor.has_time_for(work.gram_cost()) {
        return Ok(None);
    }
    let (objective, before) = (work.objective(), work.coefficients());
    let Some(mut priced) = Priced::new(work, rules, budget) else { return Ok(None) };
    let chosen: Vec<usize> = (0..priced.view.len()).filter(|&e| undecided[priced.view[e]]).collect();
    let feature = |c: usize| work.active.features()[priced.view[chosen[c]]];
    let (base, margin) = (priced.tableau.select(&chosen), margin(objective));
    let stop = || monitor.stop(0).is_some();
    let (mut lowest, mut found) = (-margin, None);
    let (mut begun, mut ended) = (HashSet::new(), HashSet::new());
    for start in [&before].into_iter().chain(starts) {
        if *budget <= 0.0 || stop() {
            break;
        }
        let inside: Vec<usize> =
            (0..chosen.len()).filter(|&c| start.support.binary_search(&feature(c)).is_ok()).collect();
        // Without the rest many starts are one, and more of them end in one place.
        if !begun.insert(inside.clone()) {
            continue;
        }
        let mut part = base.clone();
        part.go(|c| inside.binary_search(&c).is_ok(), budget);
        part.descend(margin, budget, stop);
        let mut wanted: Vec<bool> = (0..priced.view.len()).map(|e| priced.tableau.contains(e)).collect();
        chosen.iter().enumerate().for_each(|(c, &e)| wanted[e] = part.contains(c));
        if !ended.insert(wanted.clone()) {
            continue;
        }
        let mut tableau = priced.tableau.clone();
        tableau.go(|e| wanted[e], budget);
        tableau.descend(margin, budget, stop);
        if tableau.value() < lowest {
            (lowest, found) = (tableau.value(), Some(tableau));
        }
    }
    let Some(found) = found else { return Ok(Some(priced)) };
    priced.tableau = found;
    priced.view.iter().zip(priced.tableau.beta()).for_each(|(&k, b)| work.beta[k] = b);
    work.refresh();
    refit(work, monitor);
    if work.objective() >= objective {
        work.load(&before)?;
        return Ok(None);
    }
    Ok(Some(priced))
}

/// Whether pivots alone are exact: they know neither bounds nor other losses.
pub(crate) fn is_by_pivots(work: &Workspace<'_, '_>) -> bool {
    let problem = work.problem;
    problem.loss().is_quadratic() && problem.penalty().bounds == Bounds::Free && work.can_price(work.active.len())
}

/// Moves priced by the model at the current fit, each taken only if its refit lowers P. How many were, and whether every
/// other one that might help was tried; `None` without a price.
fn verified_moves(
    work: &mut Workspace<'_, '_>,
    view: &[usize],
    budget: &mut f64,
    monitor: &Limits,
) -> Result<Option<(usize, bool)>> {
    let (problem, mut objective) = (work.problem, work.objective());
    let squares = problem.squares()?;
    let margin = margin(objective);
    let Some(tableau) = tableau(work, view, budget) else { return Ok(None) };
    let (moves, mut complete) = tableau.improving(margin, 64);
    let (mut start, mut count, mut failures) = (work.coefficients(), 0, 0);
    let mut touched = HashSet::new();
    for (_, step) in moves {
        // Each move is a fit, which on a large support takes its time.
        if *budget <= 0.0 || monitor.stop(0).is_some() {
            return Ok(Some((count, false)));
        }
        let step = Move { drop: step.drop.map(|k| view[k]), add: step.add.map(|k| view[k]) };
        // One pricing serves several moves as long as they concern different features.
        if failures > 3 || [step.drop, step.add].into_iter().flatten().any(|k| !touched.insert(k)) {
            complete = false;
            continue;
        }
        apply(work, squares, step);
        refit(work, monitor);
        *budget -= fit_cost(work);
        if work.objective() < objective - 0.01 * margin {
            (start, objective, count) = (work.coefficients(), work.objective(), count + 1);
        } else {
            work.load(&start)?;
            failures += 1;
        }
    }
    Ok(Some((count, complete)))
}

/// Multiplications of a fit on the support that is not one linear system: inner products of its columns for some Newton steps.
fn fit_cost(work: &Workspace<'_, '_>) -> f64 {
    4.0 * (work.support().len().pow(2) * work.active.nrows()) as f64
}

/// How a walk ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Walked {
    /// P is lower: by a walk, or by exchanges that were still to be had.
    Lower,
    /// P is what it was; whether every move of one feature was ruled out.
    Nowhere { inescapable: bool },
}

/// Walks on past the local minimum that exchanges ended in ([`explore`]), the best point known, over the features that the
/// rules leave open, and takes what it finds. `known` may be the tableau there.
pub(crate) fn walk(
    work: &mut Workspace<'_, '_>,
    known: Option<Priced>,
    rules: &Rules,
    budget: &mut f64,
    monitor: &Limits,
) -> Result<Walked> {
    let (start, objective) = (work.coefficients(), work.objective());
    let nowhere = |inescapable: bool| Walked::Nowhere { inescapable };
    if !work.can_price(work.active.len()) || !monitor.has_time_for(work.gram_cost()) {
        return Ok(nowhere(false));
    }
    let known = known.and_then(|mut known| known.is_at(work).then_some(known));
    let Some(Priced { tableau: prices, view, .. }) = known.or_else(|| Priced::new(work, rules, budget)) else {
        return Ok(nowhere(false));
    };
    let (moves, complete) = prices.improving(margin(objective), 1);
    if !moves.is_empty() {
        exchange(work, rules, objective, budget, monitor)?;
        if work.objective() < objective * (1.0 - 1e-12) {
            return Ok(Walked::Lower);
        }
        work.load(&start)?;
    }
    let inescapable = complete && moves.is_empty();
    let found = match is_by_pivots(work) {
        true => walk_by_pivots(work, prices, &view, budget, monitor),
        false => {
            let stroll = Stroll { patience: FITS, met: &mut |_| {} };
            walk_by_fits(work, &prices, &view, stroll, budget, monitor)?
        }
    };
    let Some(found) = found else { return Ok(nowhere(inescapable)) };
    work.load(&found)?;
    refit(work, monitor);
    if work.objective() < objective * (1.0 - 1e-12) {
        return Ok(Walked::Lower);
    }
    work.load(&start)?;
    Ok(nowhere(inescapable))
}

/// The walk for the squared loss without bounds, whose tableau stays exact: a step is a pivot.
fn walk_by_pivots(
    work: &Workspace<'_, '_>,
    prices: Tableau,
    view: &[usize],
    budget: &mut f64,
    monitor: &Limits,
) -> Option<Coefficients> {
    let margin = margin(work.objective());
    let positions = prices.nearest(ROOM);
    let tableau = prices.select(&positions);
    let (value, cost) = (tableau.value(), 0.5 * (positions.len() * positions.len()) as f64);
    let flip = |mut tableau: Tableau, k: usize| {
        let mut moved = vec![k];
        tableau.pivot(k);
        tableau.drop_turned(&mut moved);
        *budget -= (1 + moved.len()) as f64 * cost;
        let value = tableau.value();
        (*budget > 0.0 && monitor.stop(0).is_none()).then_some(Neighbour { tableau, value, moved })
    };
    let found = explore::walk((tableau, value), margin, PIVOTS, flip)?;
    let mut beta = work.beta.clone();
    positions.iter().zip(found).for_each(|(&k, b)| beta[view[k]] = b);
    Some(Coefficients::from_pairs(work.active.features().iter().copied().zip(beta).collect(), work.intercept))
}

/// How long a walk by fits goes on without a lower P, and who is shown every fit.
pub(crate) struct Stroll<'s> {
    pub(crate) patience: usize,
    pub(crate) met: &'s mut dyn FnMut(&Workspace<'_, '_>),
}

/// The walk for all other problems: each step is a fit, over the most promising features only. The curvatures that price
/// flips change slowly: most steps only pivot them and put in the gradients of the fit.
pub(crate) fn walk_by_fits(
    work: &Workspace<'_, '_>,
    prices: &Tableau,
    view: &[usize],
    Stroll { patience, met }: Stroll<'_>,
    budget: &mut f64,
    monitor: &Limits,
) -> Result<Option<Coefficients>> {
    let margin = margin(work.objective());
    let positions = prices.nearest(ROOM);
    let (problem, mut near) = (work.problem, work.on_support()?);
    let squares = problem.squares()?;
    let view = positions.iter().map(|&k| near.include(work.active.features()[view[k]])).collect::<Result<Vec<_>>>()?;
    let Some(first) = tableau(&mut near, &view, budget) else { return Ok(None) };
    let start = (first, near.objective());
    // A new tableau costs `renewal`; one is made whenever fits have cost as much since the last.
    let (renewal, mut spent) = ((near.active.stored() * near.active.len()) as f64, 0.0);
    let flip = |mut prices: Tableau, k: usize| {
        let before = near.beta.clone();
        let inside = before[view[k]] != 0.0;
        apply(&mut near, squares, Move { drop: inside.then_some(view[k]), add: (!inside).then_some(view[k]) });
        // What is found is fitted again to the last digit.
        fit(&mut near, 1e-8, monitor);
        met(&near);
        let work = fit_cost(&near);
        (*budget, spent) = (*budget - work, spent + work);
        let turned = |l: usize| (before[l] != 0.0) != (near.beta[l] != 0.0);
        let mut moved: Vec<usize> = (0..view.len()).filter(|&e| turned(view[e])).collect();
        if spent >= renewal {
            (*budget, spent) = (*budget - renewal, 0.0);
            prices = tableau(&mut near, &view, budget)?;
        } else {
            moved.iter().for_each(|&e| prices.pivot(e));
            let pick = |of: &[f64]| -> Vec<f64> { view.iter().map(|&l| of[l]).collect() };
            prices.retarget(&pick(&near.beta), &pick(&near.gradients()));
        }
        // What the fit left out again rests as well.
        moved.push(k);
        let more = *budget > (1.0 - SHARE) * BUDGET && monitor.stop(0).is_none();
        more.then(|| Neighbour { tableau: prices, value: near.objective(), moved })
    };
    let Some(found) = explore::walk(start, margin, patience, flip) else { return Ok(None) };
    let mut beta = near.beta.clone();
    view.iter().zip(found).for_each(|(&k, b)| beta[k] = b);
    let pairs = near.active.features().iter().copied().zip(beta).collect();
    Ok(Some(Coefficients::from_pairs(pairs, near.intercept)))
}
