//! The relaxations of several points at once: minimised on one active set, while one sweep over X looks at all of them.

use crate::control::{Monitor, Options};
use crate::design::correlate_many;
use crate::error::Result;
use crate::problem::Problem;
use crate::relaxation::convex::Relaxed;
use crate::relaxation::workspace::{Columns, Workspace};
use crate::solution::Coefficients;
use crate::solver::incremental;

/// Sweeps over X at the most; the bounds hold whenever it ends.
const SWEEPS: usize = 30;

/// What the relaxation of one point found.
pub(super) struct BatchPoint {
    /// R, D and the dual point.
    pub(super) relaxed: Relaxed,
    /// x_jᵀα of every feature at the dual point; empty when no point had a bound.
    pub(super) tau: Vec<f64>,
    /// R's minimiser.
    pub(super) minimiser: Coefficients,
}

/// A point on the way.
struct Open {
    relaxed: Relaxed,
    coefficients: Coefficients,
    alpha: Vec<f64>,
    /// Of the dual point.
    tau: Vec<f64>,
    tolerance: f64,
    gap: f64,
    /// P of an answer that is known.
    best: f64,
    is_costly: bool,
    is_done: bool,
}

/// Minimises R of problems that differ in λ0 only, each from the minimiser of the one before and the first from `start`, until
/// (R − D)/|R| ≤ `options.relaxation_gap`, or R − D ≤ 0.05 (P̂ − R) where a step is costly (MATH 7.10), P̂ of `reached`. `columns` are
/// those known before; they are handed back with what was added.
pub(super) fn relax(
    problems: &[Problem<'_>],
    reached: &[f64],
    (mut columns, start): (Option<Columns>, &Coefficients),
    options: &Options,
    monitor: &mut Monitor<'_>,
) -> Result<(Vec<BatchPoint>, Option<Columns>)> {
    let Some(first) = problems.first() else { return Ok((Vec::new(), columns)) };
    let features: Vec<usize> = (0..first.ncols()).collect();
    let mut drafts: Vec<Open> = Vec::new();
    for sweep in 0..SWEEPS {
        let mut before = start.clone();
        for (k, problem) in problems.iter().enumerate() {
            let mut work = match columns.take() {
                Some(columns) => Workspace::with_columns(problem, columns),
                None => Workspace::new(problem),
            };
            if sweep == 0 {
                work.load(&before)?;
                drafts.push(Open::new(&work, reached[k], options));
            }
            let draft = &mut drafts[k];
            if !draft.is_done {
                draft.step(&mut work, sweep == 0, options, monitor)?;
            }
            before = draft.coefficients.clone();
            columns = Some(work.into_columns());
        }
        let open: Vec<usize> = (0..drafts.len()).filter(|&k| !drafts[k].is_done).collect();
        let vectors: Vec<&[f64]> = open.iter().map(|&k| drafts[k].alpha.as_slice()).collect();
        let mut swept = vec![0.0; features.len() * vectors.len()];
        correlate_many(first.design(), &features, &vectors, &mut swept, &|| monitor.check())?;
        monitor.passes += vectors.len() as f64;
        for (v, &k) in open.iter().enumerate() {
            let tau = swept.iter().skip(v).step_by(open.len()).copied().collect();
            drafts[k].look(&problems[k], &features, tau, options)?;
        }
        if drafts.iter().all(|d| d.is_done) || monitor.stop(0).is_some() {
            break;
        }
    }
    Ok((drafts.into_iter().map(Open::finish).collect(), columns))
}

impl Open {
    /// At the point of the workspace.
    fn new(work: &Workspace<'_, '_>, best: f64, options: &Options) -> Self {
        let tolerance = 0.2 * options.relaxation_gap * work.relaxation().abs();
        let (coefficients, alpha) = (work.coefficients(), work.alpha.clone());
        let (relaxed, tau, gap) = (Relaxed::new(work), Vec::new(), f64::INFINITY);
        Self { relaxed, coefficients, alpha, tau, tolerance, gap, best, is_costly: false, is_done: false }
    }

    /// Takes in the features that the last sweep found wanting and minimises on the active set.
    fn step(
        &mut self,
        work: &mut Workspace<'_, '_>,
        first: bool,
        options: &Options,
        monitor: &Monitor<'_>,
    ) -> Result<()> {
        if !first {
            work.load(&self.coefficients)?;
            let added = self.relaxed.include(work)?.unwrap_or(0);
            // The active set, which other points share, may hold what this one lacks.
            let gap = self.relaxed.relaxation - self.relaxed.lower_bound;
            if added == 0 && gap > 0.5 * self.gap {
                self.tolerance *= 0.1;
            }
            self.gap = gap;
        }
        let gradients = work.gradients();
        work.relax(gradients, self.tolerance, monitor);
        self.relaxed.relaxation = self.relaxed.relaxation.min(work.relaxation());
        (self.coefficients, self.alpha) = (work.coefficients(), work.alpha.clone());
        self.relaxed.iterations += 1;
        self.is_costly = incremental::is_costly(work, options);
        Ok(())
    }

    /// The bound of the point, from τ over all features.
    fn look(&mut self, problem: &Problem<'_>, features: &[usize], tau: Vec<f64>, options: &Options) -> Result<()> {
        let before = self.relaxed.lower_bound;
        self.relaxed.dual_value = self.relaxed.offer_dual(problem, &self.alpha, features, &tau)?;
        if self.relaxed.lower_bound > before {
            self.tau = tau.iter().map(|t| self.relaxed.scale * t).collect();
        }
        self.relaxed.tau = tau;
        let target = options.relaxation_gap * self.relaxed.relaxation.abs();
        let is_enough = self.is_costly && incremental::is_enough(&self.relaxed, self.best);
        self.is_done = is_enough || self.relaxed.relaxation - self.relaxed.lower_bound <= target;
        Ok(())
    }

    fn finish(self) -> BatchPoint {
        let Self { relaxed, coefficients, tau, .. } = self;
        BatchPoint { relaxed, tau, minimiser: coefficients }
    }
}
