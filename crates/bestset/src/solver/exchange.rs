//! Exchanges (MATH §7.2): features of the active set added, dropped and exchanged, priced from the tableau, while P falls.

use super::Limits;
use super::explore::{self, Neighbour};
use super::primal::{BUDGET, fit, refit};
use super::quadratic::Gram;
use super::tableau::{Move, Tableau};
use super::workspace::Workspace;
use crate::penalty::Bounds;
use crate::solution::Coefficients;
use std::collections::HashSet;

/// Positions that a walk may visit besides the support: so many for each of the support, and at least so many.
const ROOM: (usize, usize) = (2, 100);

/// Most steps without a lower P of a walk by pivots, and of one by fits, whose steps cost far more.
const PIVOTS: usize = 600;
const FITS: usize = 200;

/// Share of the budget that walks by fits may use.
const SHARE: f64 = 0.6;

/// Adds, drops and exchanges features of the active set until none lowers P. Returns whether every move was ruled out.
pub(super) fn exchange(work: &mut Workspace<'_, '_>, budget: &mut f64, monitor: &Limits) -> bool {
    if !work.prefers_gram(work.active.len()) {
        return false;
    }
    loop {
        if *budget <= 0.0 || monitor.stop(0).is_some() {
            return false;
        }
        if work.problem.loss().is_quadratic() {
            let (start, objective) = (work.coefficients(), work.objective());
            match pivots(work, budget, monitor) {
                (0, true) => return true,
                (0, false) => {}
                _ => {
                    refit(work, monitor);
                    if work.objective() < objective * (1.0 - 1e-12) {
                        continue;
                    }
                    work.load(&start);
                }
            }
        }
        match verified_moves(work, budget, monitor) {
            Some((0, complete)) => return complete && monitor.stop(0).is_none(),
            Some(_) => {}
            None => return false,
        }
    }
}

/// The tableau at the current fit and what it was made of.
pub(super) fn with_tableau<T>(
    work: &mut Workspace<'_, '_>,
    budget: &mut f64,
    body: impl FnOnce(Tableau, &Gram, &[f64], &mut f64) -> T,
) -> Option<T> {
    let (gradients, beta, coordinates) = (work.gradients(), work.beta.clone(), work.coordinates.clone());
    *budget -= Tableau::build_cost(work.active.len(), work.support().len());
    let gram = work.gram();
    let tableau = Tableau::new(&gram, &coordinates, &beta, &gradients)?;
    Some(body(tableau, &gram, &gradients, budget))
}

/// −∇q(0) = Qβ − ∇q(β).
fn origin(gram: &Gram, beta: &[f64], gradients: &[f64]) -> Vec<f64> {
    let mut origin: Vec<f64> = gradients.iter().map(|g| -g).collect();
    for (k, &b) in beta.iter().enumerate().filter(|p| *p.1 != 0.0) {
        crate::kernel::axpy(b, gram.column(k), &mut origin);
    }
    origin
}

/// Moves by pivots of the tableau alone, exact for the squared loss; how many, and whether no improving one is left.
fn pivots(work: &mut Workspace<'_, '_>, budget: &mut f64, monitor: &Limits) -> (usize, bool) {
    let (beta, margin) = (work.beta.clone(), 1e-10 * work.objective().abs());
    let done = with_tableau(work, budget, |mut tableau, gram, gradients, budget| {
        let origin = origin(gram, &beta, gradients);
        let done = tableau.descend(&origin, margin, budget, || monitor.stop(0).is_some());
        (done, tableau.beta())
    });
    let Some((done, beta)) = done else { return (0, false) };
    if done.0 > 0 {
        work.beta = beta;
        work.refresh();
    }
    done
}

/// Moves priced by the model at the current fit, each taken only if its refit lowers P. How many were, and whether every
/// other one that might help was tried; `None` without a price.
fn verified_moves(work: &mut Workspace<'_, '_>, budget: &mut f64, monitor: &Limits) -> Option<(usize, bool)> {
    let mut objective = work.objective();
    let margin = 1e-10 * objective.abs();
    let (moves, mut complete) = with_tableau(work, budget, |tableau, _, _, _| tableau.improving(margin, 64))?;
    let (mut start, mut count, mut failures) = (work.coefficients(), 0, 0);
    let mut touched = HashSet::new();
    for (_, step) in moves {
        // One pricing serves several moves as long as they concern different features.
        if failures > 3 || [step.drop, step.add].into_iter().flatten().any(|k| !touched.insert(k)) {
            complete = false;
            continue;
        }
        apply(work, step);
        refit(work, monitor);
        if work.objective() < objective - 0.01 * margin {
            (start, objective, count) = (work.coefficients(), work.objective(), count + 1);
        } else {
            work.load(&start);
            failures += 1;
        }
    }
    Some((count, complete))
}

/// Changes the support; the entering coefficient starts at a value that is not zero so that the fit takes it in.
pub(crate) fn apply(work: &mut Workspace<'_, '_>, step: Move) {
    if let Some(i) = step.drop {
        work.beta[i] = 0.0;
        work.refresh();
    }
    if let Some(j) = step.add {
        let c = work.problem.squares(work.active.features()[j]) / work.problem.loss().mu();
        let q = -work.active.dot(j, &work.alpha);
        work.beta[j] = work.coordinates[j].prox_selected(c, q);
        work.refresh();
    }
}

/// Walks on past the local minimum that exchanges ended in ([`explore`]) and takes what it finds; whether P fell.
pub(super) fn walk(work: &mut Workspace<'_, '_>, budget: &mut f64, monitor: &Limits) -> bool {
    if !work.prefers_gram(work.active.len()) {
        return false;
    }
    let (start, objective) = (work.coefficients(), work.objective());
    // Pivots know no bounds.
    let by_pivots = work.problem.loss().is_quadratic() && work.problem.penalty().bounds == Bounds::Free;
    let found = match by_pivots {
        true => walk_by_pivots(work, budget, monitor),
        false => walk_by_fits(work, budget, monitor),
    };
    let Some(found) = found else { return false };
    work.load(&found);
    refit(work, monitor);
    let better = work.objective() < objective * (1.0 - 1e-12);
    if !better {
        work.load(&start);
    }
    better
}

/// The walk for the squared loss without bounds, whose tableau stays exact: a step is a pivot.
fn walk_by_pivots(work: &mut Workspace<'_, '_>, budget: &mut f64, monitor: &Limits) -> Option<Coefficients> {
    let (beta, margin) = (work.beta.clone(), 1e-10 * work.objective().abs());
    let (positions, found) = with_tableau(work, budget, |tableau, gram, gradients, budget| {
        let positions = tableau.nearest(ROOM);
        let origin = origin(gram, &beta, gradients);
        let origin: Vec<f64> = positions.iter().map(|&k| origin[k]).collect();
        let tableau = tableau.select(&positions);
        let (value, cost) = (tableau.value(&origin), (positions.len() * positions.len()) as f64);
        let flip = |mut tableau: Tableau, k: usize| {
            let mut moved = vec![k];
            tableau.pivot(k);
            tableau.drop_turned(&mut moved);
            *budget -= (1 + moved.len()) as f64 * cost;
            let value = tableau.value(&origin);
            (*budget > 0.0 && monitor.stop(0).is_none()).then_some(Neighbour { tableau, value, moved })
        };
        let found = explore::walk((tableau, value), margin, PIVOTS, flip);
        (positions, found)
    })?;
    let feature = |&k: &usize| work.active.features()[k];
    Some(Coefficients::from_pairs(positions.iter().map(feature).zip(found?).collect(), work.intercept))
}

/// The walk for all other problems: each step is a fit, over the most promising features only. The curvatures that price
/// flips change slowly: most steps only pivot them and put in the gradients of the fit.
fn walk_by_fits(work: &mut Workspace<'_, '_>, budget: &mut f64, monitor: &Limits) -> Option<Coefficients> {
    let margin = 1e-10 * work.objective().abs();
    let positions = with_tableau(work, budget, |tableau, _, _, _| tableau.nearest(ROOM))?;
    let mut near = work.on_support();
    positions.iter().for_each(|&k| {
        near.include(work.active.features()[k]);
    });
    let start = (with_tableau(&mut near, budget, |tableau, _, _, _| tableau)?, near.objective());
    // A new tableau costs `renewal`; one is made whenever fits have cost as much since the last.
    let (renewal, mut spent) = ((near.active.stored() * near.active.len()) as f64, 0.0);
    let flip = |mut tableau: Tableau, k: usize| {
        let before = near.beta.clone();
        let inside = before[k] != 0.0;
        apply(&mut near, Move { drop: inside.then_some(k), add: (!inside).then_some(k) });
        // What is found is fitted again to the last digit.
        fit(&mut near, 1e-8, monitor);
        let work = 4.0 * (near.support().len().pow(2) * near.active.nrows()) as f64;
        (*budget, spent) = (*budget - work, spent + work);
        let mut moved: Vec<usize> =
            (0..before.len()).filter(|&l| (before[l] != 0.0) != (near.beta[l] != 0.0)).collect();
        if spent >= renewal {
            (*budget, spent) = (*budget - renewal, 0.0);
            tableau = with_tableau(&mut near, budget, |tableau, _, _, _| tableau)?;
        } else {
            moved.iter().for_each(|&l| tableau.pivot(l));
            tableau.retarget(&near.beta, &near.gradients());
        }
        // What the fit left out again rests as well.
        moved.push(k);
        let more = *budget > (1.0 - SHARE) * BUDGET && monitor.stop(0).is_none();
        more.then(|| Neighbour { tableau, value: near.objective(), moved })
    };
    let beta = explore::walk(start, margin, FITS, flip)?;
    Some(Coefficients::from_pairs(near.active.features().iter().copied().zip(beta).collect(), near.intercept))
}
