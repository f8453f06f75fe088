//! Primal phase (MATH §7.2): several starts, descent with T, exact refits, exchanges until none helps; the best is kept.

use super::convex::Relaxed;
use super::swaps::{Move, Prices};
use super::workspace::Workspace;
use super::{Monitor, Options};
use crate::penalty::Coordinate;
use crate::solution::{Coefficients, Local};
use std::collections::HashSet;

/// The best primal point found and what is known of it.
pub struct Best {
    /// P.
    pub objective: f64,
    /// The coefficients.
    pub coefficients: Coefficients,
    /// Which changes of the support cannot lower P.
    pub local: Local,
}

/// Supports of more features than this are not exchanged: pairs grow with the square.
const SWAP_LIMIT: usize = 2000;

/// Searches from several starts around the relaxation's minimiser, which the workspace holds.
pub fn solve(
    work: &mut Workspace<'_, '_>,
    relaxed: &mut Relaxed,
    options: &Options,
    monitor: &mut Monitor<'_>,
) -> Best {
    let root = work.coefficients();
    let mut best = Best { objective: f64::INFINITY, coefficients: Coefficients::default(), local: Local::None };
    let mut seen = HashSet::new();
    for start in starts(work, &root, options) {
        if best.objective.is_finite() && monitor.stop(0).is_some() {
            break;
        }
        work.load(&start);
        descend(work, monitor);
        if seen.insert(work.coefficients().support) {
            exchange(work, &mut seen, monitor);
        }
        best.offer(work);
    }
    widen(work, &mut best, relaxed, monitor);
    best
}

impl Best {
    /// Takes the workspace's point if it is better.
    fn offer(&mut self, work: &Workspace<'_, '_>) -> bool {
        let objective = work.objective();
        let better = objective < self.objective;
        if better {
            (self.objective, self.coefficients) = (objective, work.coefficients());
        }
        better
    }
}

/// R's minimiser whole and rounded at several sizes, and the caller's start.
fn starts(work: &Workspace<'_, '_>, root: &Coefficients, options: &Options) -> Vec<Coefficients> {
    let mut starts = vec![root.clone()];
    let knee = |j: usize, b: f64| work.problem.coordinate(j).knee(b > 0.0);
    for share in [0.5, 0.9, 0.25] {
        let large = root.iter().filter(|&(j, b)| b.abs() >= share * knee(j, b)).collect();
        starts.push(Coefficients::from_pairs(large, root.intercept));
    }
    starts.extend(options.warm_start.clone());
    starts.push(Coefficients::default());
    starts
}

/// Descent with T over the active set, then the exact fit on the support it leaves.
fn descend(work: &mut Workspace<'_, '_>, monitor: &Monitor<'_>) {
    for _ in 0..50 {
        let before = work.support();
        work.threshold_descent(monitor);
        refit(work, monitor);
        if work.support() == before || monitor.stop(0).is_some() {
            return;
        }
    }
}

/// min of P over the coefficients that are not zero now.
fn refit(work: &mut Workspace<'_, '_>, monitor: &Monitor<'_>) {
    let support = work.support();
    let coordinates: Vec<Coordinate> = work.coordinates.iter().map(|c| c.selected()).collect();
    let tolerance = 1e-13 * work.relaxation().abs().max(f64::MIN_POSITIVE);
    let gradients = work.gradients();
    work.minimise(&coordinates, &support, gradients, tolerance, monitor);
}

/// Adds, drops and exchanges features of the active set until none lowers P. Returns whether that was reached.
fn exchange(work: &mut Workspace<'_, '_>, seen: &mut HashSet<Vec<usize>>, monitor: &Monitor<'_>) -> bool {
    if !work.prefers_gram(work.active.len()) || work.support().len() > SWAP_LIMIT {
        return false;
    }
    loop {
        if monitor.stop(0).is_some() {
            return false;
        }
        let moves = price(work);
        let Some(moves) = moves else { return false };
        let (start, objective) = (work.coefficients(), work.objective());
        let margin = 1e-12 * objective.abs();
        let mut moved = false;
        for (_, step) in moves {
            apply(work, step);
            refit(work, monitor);
            if work.objective() < objective - margin {
                moved = true;
                break;
            }
            work.load(&start);
        }
        if !moved {
            return true;
        }
        // Another start has been here: it went on from the same point.
        if !seen.insert(work.coefficients().support) {
            return true;
        }
    }
}

/// The moves that lower P most by the model of the loss at the current fit.
fn price(work: &mut Workspace<'_, '_>) -> Option<Vec<(f64, Move)>> {
    let (support, gradients) = (work.support(), work.gradients());
    let candidates: Vec<usize> = (0..work.active.len()).filter(|&k| work.beta[k] == 0.0).collect();
    let margin = 1e-10 * work.objective().abs();
    let (coordinates, beta) = (work.coordinates.clone(), work.beta.clone());
    let gram = work.gram();
    let prices = Prices::new(&gram, &coordinates, &gradients, &beta, &support)?;
    Some(prices.improving(&candidates, margin, 4))
}

/// Changes the support; the entering coefficient starts at a value that is not zero so that the fit takes it in.
fn apply(work: &mut Workspace<'_, '_>, step: Move) {
    if let Some(i) = step.drop {
        work.beta[i] = 0.0;
    }
    work.refresh();
    if let Some(j) = step.add {
        let c = work.problem.squares(work.active.features()[j]) / work.problem.loss().mu();
        let q = -work.active.dot(j, &work.alpha);
        work.beta[j] = work.coordinates[j].prox_selected(c, q);
        work.refresh();
    }
}

/// Looks at the features outside the active set from the best point: what could enter alone or in exchange is taken in, and
/// the search goes on until nothing can.
fn widen(work: &mut Workspace<'_, '_>, best: &mut Best, relaxed: &mut Relaxed, monitor: &mut Monitor<'_>) {
    let problem = work.problem;
    let all: Vec<usize> = (0..problem.ncols()).collect();
    let mut tau = vec![0.0; all.len()];
    for _ in 0..20 {
        work.load(&best.coefficients);
        refit(work, monitor);
        best.offer(work);
        if monitor.stop(0).is_some() {
            return;
        }
        problem.design().correlate(&all, &work.alpha, &mut tau);
        monitor.passes += 1.0;
        relaxed.offer_dual(problem, &work.alpha, &all, &tau);
        let entering = entering(work, &tau);
        let Some(entering) = entering else { return };
        if entering.is_empty() {
            best.local = Local::Swap;
            return;
        }
        entering.iter().for_each(|&j| {
            work.include(j);
        });
        let mut seen = HashSet::new();
        if !exchange(work, &mut seen, monitor) {
            descend(work, monitor);
            best.offer(work);
            return;
        }
        if !best.offer(work) {
            best.local = Local::Swap;
            return;
        }
    }
}

/// Features outside the active set that could still enter alone or in exchange. Adding j after dropping i gains at most
/// (|τ_j| + ‖x_j‖ reach_i − λ1)₊² / (4λ2), since s_j ≥ 2λ2; below the price of the move it is ruled out.
fn entering(work: &mut Workspace<'_, '_>, tau: &[f64]) -> Option<Vec<usize>> {
    if !work.prefers_gram(work.active.len()) || work.support().len() > SWAP_LIMIT {
        return None;
    }
    let (support, gradients) = (work.support(), work.gradients());
    let (coordinates, beta) = (work.coordinates.clone(), work.beta.clone());
    let removal = {
        let gram = work.gram();
        Prices::new(&gram, &coordinates, &gradients, &beta, &support)?.removal()
    };
    let problem = work.problem;
    let worth = |j: usize| {
        let (c, length) = (problem.coordinate(j), problem.length(j) / problem.loss().mu().sqrt());
        let gain = |extra: f64| (tau[j].abs() + extra - c.l1).max(0.0).powi(2) / (4.0 * c.l2);
        let moves = removal.cost.iter().zip(&removal.reach).map(|(cost, reach)| gain(reach * length) - cost);
        moves.fold(gain(0.0) - c.l0, f64::max)
    };
    let outside = (0..problem.ncols()).filter(|&j| work.position(j).is_none());
    Some(outside.filter(|&j| worth(j) > 0.0).collect())
}
