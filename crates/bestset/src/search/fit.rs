//! Fits on a support, fit(S) of the moves (MATH 7.4–7.7), and the best point found.

use crate::control::{Limits, Monitor};
use crate::penalty::Coordinate;
use crate::relaxation::workspace::Workspace;
use crate::search::tableau::Move;
use crate::solution::{Coefficients, Local};

/// The best primal point found and what is known of it.
pub(crate) struct Incumbent {
    /// P.
    pub objective: f64,
    /// The coefficients.
    pub coefficients: Coefficients,
    /// Which changes of the support cannot lower P.
    pub local: Local,
}

/// Multiplications spent on exchanges at the most: a count, not a clock, so that the answer does not depend on the machine.
pub(crate) const BUDGET: f64 = 4e9;

/// By how much P must fall for a change to count as better: 1e-10 |P|, well above what rounding does to it.
pub(crate) fn margin(objective: f64) -> f64 {
    1e-10 * objective.abs()
}

impl Incumbent {
    /// Nothing found yet.
    pub(crate) fn none() -> Self {
        Self { objective: f64::INFINITY, coefficients: Coefficients::default(), local: Local::None }
    }

    /// Takes the workspace's point if it is better, and shows it to the monitor.
    pub(crate) fn offer(&mut self, work: &Workspace<'_, '_>, monitor: &mut Monitor<'_>) -> bool {
        let objective = work.objective();
        let better = objective < self.objective;
        if better {
            (self.objective, self.coefficients) = (objective, work.coefficients());
            monitor.offer(objective, || self.coefficients.clone());
        }
        better
    }
}

/// Descent with T over the active set, then the exact fit on the support it leaves.
pub(crate) fn descend(work: &mut Workspace<'_, '_>, monitor: &Limits) {
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
pub(crate) fn refit(work: &mut Workspace<'_, '_>, monitor: &Limits) {
    fit(work, accuracy(work), monitor);
}

/// To which part of P a fit is made: one linear system gives that of least squares, and Newton steps square what is left. P is flat at
/// its minimum: a part of 1e-13 left to it is 1e-6 of a coefficient, which other programs have right.
pub(crate) fn accuracy(work: &Workspace<'_, '_>) -> f64 {
    if work.problem.loss().is_quadratic() { 1e-13 } else { 1e-17 }
}

/// As [`refit`], to a relative accuracy.
pub(crate) fn fit(work: &mut Workspace<'_, '_>, accuracy: f64, monitor: &Limits) {
    let support = work.support();
    let coordinates: Vec<Coordinate> = work.coordinates.iter().map(|c| c.selected()).collect();
    let tolerance = accuracy * work.relaxation().abs().max(f64::MIN_POSITIVE);
    let gradients = work.gradients_for(&support);
    work.minimise(&coordinates, &support, gradients, tolerance, monitor);
}

/// Changes the support; the entering coefficient starts at a value that is not zero so that the fit takes it in.
/// `squares` are those of all columns.
pub(crate) fn apply(work: &mut Workspace<'_, '_>, squares: &[f64], step: Move) {
    if let Some(i) = step.drop {
        work.beta[i] = 0.0;
        work.refresh();
    }
    if let Some(j) = step.add {
        let (c, before) =
            (squares[work.active.features()[j]] * work.problem.typical_curvature(&work.alpha), work.loss());
        let q = -work.active.dot(j, &work.alpha);
        work.beta[j] = work.coordinates[j].prox_selected(c, q);
        work.refresh();
        // Where c is no bound the step may be far too long.
        let is_worse = |loss: f64| loss.is_nan() || loss > before;
        while work.problem.loss().has_log_link() && is_worse(work.loss()) && work.beta[j].abs() > f64::MIN_POSITIVE {
            work.beta[j] *= 0.25;
            work.refresh();
        }
    }
}
