//! Primal phase (MATH §7.2): several starts, descent with T, exact refits, exchanges until none helps; the best is kept.

use super::convex::Relaxed;
use super::quadratic::Gram;
use super::tableau::{Move, Tableau};
use super::workspace::Workspace;
use super::{Limits, Monitor};
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

/// Multiplications spent on exchanges at the most: a count, not a clock, so that the answer does not depend on the machine.
const BUDGET: f64 = 4e9;

/// Searches from several starts around the relaxation's minimiser, which the workspace holds.
pub fn solve(
    work: &mut Workspace<'_, '_>,
    others: &[Coefficients],
    relaxed: &mut Relaxed,
    monitor: &mut Monitor<'_>,
) -> Best {
    let root = work.coefficients();
    let mut best = Best { objective: f64::INFINITY, coefficients: Coefficients::default(), local: Local::None };
    if work.problem.penalty().lambda0 == 0.0 {
        // Nothing to choose: P is R, and its minimiser, once found, leaves nothing to any move.
        best.offer(work);
        for start in others {
            work.load(start);
            best.offer(work);
        }
        let found = relaxed.relaxation - relaxed.lower_bound <= 1e-8 * relaxed.relaxation.abs();
        best.local = if found { Local::Swap } else { Local::None };
        return best;
    }
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    for start in starts(work, &root, others) {
        work.load(&start);
        best.offer(work);
        // Even in a hurry no start is forgotten: the answer is never worse than the caller's.
        if best.objective.is_finite() && monitor.stop(0).is_some() {
            continue;
        }
        descend(work, monitor);
        best.offer(work);
        if seen.insert(work.support()) {
            found.push((work.objective(), work.coefficients()));
        }
    }
    // The most promising first: they may use up the budget.
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut budget = BUDGET;
    for (_, start) in found {
        work.load(&start);
        exchange(work, &mut budget, monitor);
        best.offer(work);
    }
    widen(work, &mut best, relaxed, &mut budget, monitor);
    best
}

/// As [`solve`], from the starts given and R's minimiser rounded at half its knee: the best of them after descent with T is
/// improved by exchanges.
pub fn neighbour(
    work: &mut Workspace<'_, '_>,
    others: &[Coefficients],
    relaxed: &mut Relaxed,
    monitor: &mut Monitor<'_>,
) -> Best {
    let root = work.coefficients();
    let mut best = Best { objective: f64::INFINITY, coefficients: Coefficients::default(), local: Local::None };
    let knee = |j: usize, b: f64| work.problem.coordinate(j).knee(b > 0.0);
    let large = root.iter().filter(|&(j, b)| b.abs() >= 0.5 * knee(j, b)).collect();
    let rounded = Coefficients::from_pairs(large, root.intercept);
    for start in others.iter().chain([&rounded]) {
        work.load(start);
        best.offer(work);
        if best.objective.is_finite() && monitor.stop(0).is_some() {
            continue;
        }
        descend(work, monitor);
        best.offer(work);
    }
    widen(work, &mut best, relaxed, &mut BUDGET.clone(), monitor);
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

/// R's minimiser whole and rounded at several sizes, the link of its dual point, the caller's starts, and nothing. The
/// workspace is at R's minimiser.
fn starts(work: &Workspace<'_, '_>, root: &Coefficients, others: &[Coefficients]) -> Vec<Coefficients> {
    let mut starts = vec![root.clone()];
    let knee = |j: usize, b: f64| work.problem.coordinate(j).knee(b > 0.0);
    for share in [0.5, 0.9, 0.25] {
        let large = root.iter().filter(|&(j, b)| b.abs() >= share * knee(j, b)).collect();
        starts.push(Coefficients::from_pairs(large, root.intercept));
    }
    // The link of the dual point (MATH §3) asks for coefficients beyond the knee wherever it asks for any.
    let link = |(k, tau): (usize, f64)| (work.active.features()[k], work.coordinates[k].link(tau));
    let linked: Vec<(usize, f64)> = work.gradients().into_iter().enumerate().map(link).collect();
    if linked.iter().all(|p| p.1.is_finite()) {
        starts.push(Coefficients::from_pairs(linked, root.intercept));
    }
    starts.extend(others.iter().cloned());
    starts.push(Coefficients::default());
    starts
}

/// Descent with T over the active set, then the exact fit on the support it leaves.
fn descend(work: &mut Workspace<'_, '_>, monitor: &Limits) {
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
fn refit(work: &mut Workspace<'_, '_>, monitor: &Limits) {
    let support = work.support();
    let coordinates: Vec<Coordinate> = work.coordinates.iter().map(|c| c.selected()).collect();
    let tolerance = 1e-13 * work.relaxation().abs().max(f64::MIN_POSITIVE);
    let gradients = work.gradients();
    work.minimise(&coordinates, &support, gradients, tolerance, monitor);
}

/// Lowers P from the workspace's point by descent with T and exchanges.
pub fn improve(work: &mut Workspace<'_, '_>, monitor: &Limits) {
    descend(work, monitor);
    exchange(work, &mut (0.1 * BUDGET), monitor);
}

/// Adds, drops and exchanges features of the active set until none lowers P. Returns whether every move was ruled out.
fn exchange(work: &mut Workspace<'_, '_>, budget: &mut f64, monitor: &Limits) -> bool {
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
fn with_tableau<T>(
    work: &mut Workspace<'_, '_>,
    budget: &mut f64,
    body: impl FnOnce(Tableau<'_>, &Gram, &[f64], &mut f64) -> T,
) -> Option<T> {
    let (gradients, beta, coordinates) = (work.gradients(), work.beta.clone(), work.coordinates.clone());
    *budget -= Tableau::build_cost(work.active.len(), work.support().len());
    let gram = work.gram();
    let tableau = Tableau::new(&gram, &coordinates, &beta, &gradients)?;
    Some(body(tableau, &gram, &gradients, budget))
}

/// Moves by pivots of the tableau alone, exact for the squared loss; how many, and whether no improving one is left.
fn pivots(work: &mut Workspace<'_, '_>, budget: &mut f64, monitor: &Limits) -> (usize, bool) {
    let (beta, margin) = (work.beta.clone(), 1e-10 * work.objective().abs());
    let done = with_tableau(work, budget, |mut tableau, gram, gradients, budget| {
        // −∇q(0) = Qβ − ∇q(β).
        let mut origin: Vec<f64> = gradients.iter().map(|g| -g).collect();
        for (k, &b) in beta.iter().enumerate().filter(|p| *p.1 != 0.0) {
            crate::kernel::axpy(b, gram.column(k), &mut origin);
        }
        let done = tableau.descend(gram, &origin, margin, budget, || monitor.stop(0).is_some());
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
    let (moves, mut complete) = with_tableau(work, budget, |tableau, gram, _, _| tableau.improving(gram, margin, 64))?;
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
fn apply(work: &mut Workspace<'_, '_>, step: Move) {
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

/// Looks at the features outside the active set from the best point: what could enter alone or in exchange is taken in, and
/// the search goes on until nothing can.
fn widen(
    work: &mut Workspace<'_, '_>,
    best: &mut Best,
    relaxed: &mut Relaxed,
    budget: &mut f64,
    monitor: &mut Monitor<'_>,
) {
    let problem = work.problem;
    let all: Vec<usize> = (0..problem.ncols()).collect();
    let mut tau = vec![0.0; all.len()];
    for _ in 0..20 {
        work.load(&best.coefficients);
        if monitor.stop(0).is_some() {
            return;
        }
        problem.design().correlate(&all, &work.alpha, &mut tau);
        monitor.passes += 1.0;
        relaxed.offer_dual(problem, &work.alpha, &all, &tau);
        let (entering, complete) = entering(work, &tau, budget);
        entering.iter().for_each(|&j| {
            work.include(j);
        });
        if !entering.is_empty() {
            descend(work, monitor);
        }
        let inescapable = exchange(work, budget, monitor) && complete;
        if !best.offer(work) {
            // A tie may have led elsewhere: only what was looked at is vouched for.
            let same = work.coefficients().support == best.coefficients.support;
            best.local = if inescapable && same && problem.loss().is_quadratic() {
                Local::Swap
            } else {
                work.load(&best.coefficients);
                if is_coordinatewise(work, &tau) { Local::Coordinate } else { Local::None }
            };
            return;
        }
    }
}

/// Whether no change of one coefficient (and the intercept) lowers P by more than rounding; τ = Xᵀα at the current point.
///
/// For the squared loss each coefficient's best value is known. Another loss is at least its tangent, which settles the
/// features outside; a change inside is stationary already, so that only zero remains, and is tried.
fn is_coordinatewise(work: &Workspace<'_, '_>, tau: &[f64]) -> bool {
    let (problem, objective) = (work.problem, work.objective());
    let (quadratic, margin) = (problem.loss().is_quadratic(), 1e-10 * objective.abs());
    let change = |j: usize| {
        let (c, b) = (problem.coordinate(j), work.position(j).map_or(0.0, |k| work.beta[k]));
        if quadratic {
            let curvature = problem.length(j).powi(2);
            let to = |new: f64| (0.5 * curvature * (new - b) + tau[j]) * (new - b) + c.value(new) - c.value(b);
            return to(0.0).min(to(c.prox_selected(curvature, curvature * b - tau[j])));
        }
        let Some(k) = work.position(j).filter(|_| b != 0.0) else { return c.psi(tau[j]) };
        let mut u = work.margins.clone();
        work.active.axpy(k, -b, &mut u);
        let without = problem.loss_sum(&u, problem.best_intercept(&u, work.intercept)) - c.value(b);
        (without - work.loss()).min(-c.selected().envelope_violation(b, tau[j]) * b.abs())
    };
    (0..problem.ncols()).all(|j| change(j) >= -margin)
}

/// Whether giving feature j a coefficient, all others fixed, lowers P: T with the curvature bound.
fn lowers(work: &Workspace<'_, '_>, j: usize, tau: f64) -> bool {
    let c = work.problem.squares(j) / work.problem.loss().mu();
    work.problem.coordinate(j).threshold_operator(c, -tau) != 0.0 && work.position(j).is_none()
}

/// Features outside the active set that could still enter alone or in exchange, and whether these are all. Adding j after
/// dropping i gains at most (|τ_j| + ‖x_j‖ reach_i − λ1)₊² / (4λ2), since its curvature is at least 2λ2; below the price of the
/// move it is ruled out. Of more than the matrix of inner products can take, those with the largest correlations are taken.
fn entering(work: &mut Workspace<'_, '_>, tau: &[f64], budget: &mut f64) -> (Vec<usize>, bool) {
    let problem = work.problem;
    let mut outside: Vec<usize> = (0..problem.ncols()).filter(|&j| work.position(j).is_none()).collect();
    let removals = match work.prefers_gram(work.active.len()) && *budget > 0.0 {
        true => with_tableau(work, budget, |tableau, _, _, _| tableau.removals()),
        false => None,
    };
    let Some(removals) = removals else {
        outside.retain(|&j| lowers(work, j, tau[j]));
        return (outside, false);
    };
    let worth = |j: usize| {
        let (c, length) = (problem.coordinate(j), problem.length(j) / problem.loss().mu().sqrt());
        let gain = |extra: f64| (tau[j].abs() + extra - c.l1).max(0.0).powi(2) / (4.0 * c.l2);
        let moves = removals.iter().map(|(cost, reach)| gain(reach * length) - cost);
        moves.fold(gain(0.0), f64::max) - c.l0
    };
    outside.retain(|&j| worth(j) > 0.0);
    let room = (4 * removals.len()).max(500);
    if outside.len() <= room || work.prefers_gram(work.active.len() + outside.len()) && *budget > 0.5 * BUDGET {
        return (outside, true);
    }
    let pull = |j: usize| tau[j].abs() / problem.length(j).max(f64::MIN_POSITIVE);
    outside.sort_by(|&a, &b| pull(b).total_cmp(&pull(a)).then(a.cmp(&b)));
    outside.truncate(room);
    (outside, false)
}
