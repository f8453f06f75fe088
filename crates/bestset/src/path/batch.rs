//! The relaxations of several points at once: minimised on one active set, while one sweep over X looks at all of them.

use crate::control::{Monitor, Options};
use crate::design::correlate_many;
use crate::error::Result;
use crate::kernel::each::chosen;
use crate::problem::Problem;
use crate::relaxation::convex::Relaxed;
use crate::relaxation::workspace::{Columns, Workspace};
use crate::solution::Coefficients;
use crate::solver::incremental;

/// Sweeps over X at the most; the bounds hold whenever it ends.
const SWEEPS: usize = 30;

/// One in so many features may be left undecided for a sweep over these alone to be worth it: columns far apart on a disk take some four
/// times as long to read as neighbours do.
const LITTLE: usize = 4;

/// What the relaxation of one point found.
pub(super) struct BatchPoint {
    /// R, D and the dual point.
    pub(super) relaxed: Relaxed,
    /// x_jᵀα of every feature at the dual point, or, where that is known to be nearer to zero than it and Ψ_j = 0, another number; empty
    /// when no point had a bound.
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
        let all = || NextSweep { wanted: features.clone(), carried: vec![Vec::new(); open.len()] };
        let NextSweep { wanted, mut carried } = undecided(problems, &drafts, &open)?.unwrap_or_else(all);
        let mut swept = vec![0.0; wanted.len() * vectors.len()];
        correlate_many(first.design(), &wanted, &vectors, &mut swept, &|| monitor.check())?;
        monitor.passes += vectors.len() as f64 * wanted.len() as f64 / features.len() as f64;
        for (v, &k) in open.iter().enumerate() {
            let tau = swept.iter().skip(v).step_by(open.len()).copied().collect();
            drafts[k].look(&problems[k], (&wanted, tau), std::mem::take(&mut carried[v]), options)?;
        }
        if drafts.iter().all(|d| d.is_done) || monitor.stop(0).is_some() {
            break;
        }
    }
    Ok((drafts.into_iter().map(Open::finish).collect(), columns))
}

/// What the next sweep must read, and what need not be read again.
struct NextSweep {
    /// The features.
    wanted: Vec<usize>,
    /// For each open point x_jᵀα of all features, as far as it is known.
    carried: Vec<Vec<f64>>,
}

/// The features that the next sweep must read, and for each open point what is known of all features: those whose Ψ_j is zero at every
/// one of them, by what the last sweep over all features tells (MATH 5.7), are left out. `None` where that says little.
fn undecided(problems: &[Problem<'_>], drafts: &[Open], open: &[usize]) -> Result<Option<NextSweep>> {
    let (mut is_wanted, mut count, mut carried) = (Vec::new(), 0, Vec::with_capacity(open.len()));
    for &k in open {
        let Some((tau, undecided)) = drafts[k].relaxed.carried(&problems[k], &drafts[k].alpha)? else {
            return Ok(None);
        };
        is_wanted.resize(tau.len(), false);
        for j in undecided {
            count += usize::from(!std::mem::replace(&mut is_wanted[j], true));
        }
        if count > tau.len() / LITTLE {
            return Ok(None);
        }
        carried.push(tau);
    }
    Ok(Some(NextSweep { wanted: chosen(is_wanted.len(), |j| is_wanted[j].then_some(j)), carried }))
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

    /// The bound of the point, from τ of some features and what is known of the others; those are all where it is empty.
    fn look(
        &mut self,
        problem: &Problem<'_>,
        (features, tau): (&[usize], Vec<f64>),
        mut known: Vec<f64>,
        options: &Options,
    ) -> Result<()> {
        let before = self.relaxed.lower_bound;
        self.relaxed.dual_value = self.relaxed.offer_dual(problem, &self.alpha, features, &tau)?;
        match known.is_empty() {
            true => known = tau,
            false => features.iter().zip(tau).for_each(|(&j, t)| known[j] = t),
        }
        if self.relaxed.lower_bound > before {
            self.tau = known.iter().map(|t| self.relaxed.scale * t).collect();
        }
        self.relaxed.tau = known;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Penalty;
    use crate::design::{Dense, Design, Standardized};

    /// Sweeps that leave features out end with bounds that a pass over all features confirms, with correlations that are nowhere nearer
    /// to zero than the true ones, and they do leave some out. Columns of length one and a thousand, near zero and far, with an intercept.
    #[test]
    fn what_is_left_out_of_a_sweep_changes_no_bound() {
        let (n, p, mut left_out) = (60, 400, 0);
        for trial in 0..24_usize {
            let value = |k: usize| ((k * k + 5 * k * (trial + 2) + 3 * trial) as f64 * 0.137).sin();
            let (size, far) = ([1.0, 1000.0][trial % 2], [0.0, 1e5][trial / 2 % 2]);
            let x: Vec<f64> = (0..n * p).map(|k| size * (value(k) + far)).collect();
            let y: Vec<f64> = (0..n).map(|i| value(3 * n + i) - value(90 * n + i) + 0.7 * value(i + 99)).collect();
            let x = Dense::new(n, p, x).unwrap();
            let norm = if trial % 3 == 0 { 30.0 } else { 1.0 };
            let view = Standardized::fit(&x, None, true, norm).unwrap();
            let base =
                Problem::new(&view, y, Penalty::new(0.0, 0.0, [0.05, 0.3][trial / 4 % 2] * norm * norm)).unwrap();
            let base = base.with_intercept(true);
            let most = base.lambda0_max().unwrap();
            let at =
                |share: f64| base.with_penalty(Penalty { lambda0: share * most, ..base.penalty().clone() }).unwrap();
            let problems: Vec<Problem<'_>> = [0.8, 0.6, 0.45, 0.34].map(at).into_iter().collect();
            let options = Options { relaxation_gap: 1e-8, ..Options::default() };
            let mut silent = ();
            let mut monitor = Monitor::new(&options, &mut silent);
            let reached = vec![f64::NEG_INFINITY; problems.len()];
            let start =
                Coefficients { intercept: base.best_intercept(&base.null_margins(), 0.0), ..Default::default() };
            let (found, _) = relax(&problems, &reached, (None, &start), &options, &mut monitor).unwrap();
            left_out += usize::from(monitor.passes.fract() > 0.0);
            let all: Vec<usize> = (0..p).collect();
            for (problem, BatchPoint { relaxed, tau, .. }) in problems.iter().zip(found) {
                let mut exact = vec![0.0; p];
                view.correlate(&all, &relaxed.dual, &mut exact).unwrap();
                let bound = problem.dual_value(&relaxed.dual, &all, &exact).unwrap();
                let (ours, scale) = (relaxed.lower_bound, relaxed.relaxation.abs());
                assert!((ours - bound).abs() <= 1e-9 * scale, "trial {trial}: {ours} {bound}");
                assert!(relaxed.relaxation - ours <= 1e-7 * scale, "trial {trial}: {} {ours}", relaxed.relaxation);
                let is_inside =
                    |j: usize| exact[j].abs() <= tau[j].abs() * (1.0 + 1e-9) + 1e-9 * problem.least_threshold();
                assert!((0..p).all(is_inside), "trial {trial}");
            }
        }
        assert!(left_out > 8, "{left_out}");
    }
}
