//! Coordinate descent with spacer steps (MATH 6.2) and partial swaps (MATH 6.7): CDSS with PSI(1), Hazimeh & Mazumder.

use crate::control::{Monitor, Options};
use crate::error::Result;
use crate::problem::Problem;
use crate::solution::{Screened, Status};
use crate::solver::Outcome;
use crate::solver::published::halt::Halt;
use crate::solver::published::ledger;
use crate::solver::published::ledger::Ledger;
use crate::solver::published::primal::Primal;
use crate::solver::published::swap;
use crate::solver::published::swap::Swap;

/// A spacer step follows when this many passes in a row have left the support as it was.
const REPEATS: usize = 3;

/// A pass that can have lowered P by no more than this share of it has converged.
const TOLERANCE: f64 = 1e-16;

/// The same as a share of P at zero: below it steps are rounding.
const ROUNDING: f64 = 1e-18;

/// Passes of one spacer step; what is left to do is left to the next one.
const SPACER_PASSES: usize = 1000;

/// Cyclic coordinate descent on P from the warm start or zero, then, if asked for, swaps until P has no better
/// neighbour that differs by one feature taken out and one put in: the answer is then swap-inescapable, PSI(1).
///
/// P never rises. The bound is the best D at the dual points of the points where coordinate descent came to rest. The
/// columns are copied.
pub fn solve(problem: &Problem<'_>, options: &Options, monitor: &mut Monitor<'_>) -> Result<Outcome> {
    let start = ledger::start(problem, options)?;
    let mut alpha = vec![0.0; problem.nrows()];
    problem.dual_point(&problem.margins(&start)?, start.intercept, &mut alpha);
    let mut ledger = Ledger::new(problem, &start, &alpha, monitor)?;
    let features: Vec<usize> = (0..problem.ncols()).collect();
    let ended = match Primal::new(problem, &features, monitor) {
        Ok(mut primal) => {
            let zero = primal.values().0;
            primal.set(start.to_dense(features.len()).into_iter());
            Cdss { problem, primal, floor: ROUNDING * zero }.run(options, &mut ledger, monitor)?
        }
        Err(halt) => halt.status()?,
    };
    Ok(ledger.finish(ended, Screened::default(), monitor))
}

/// The point that descends, on all features.
struct Cdss<'p, 'a> {
    problem: &'p Problem<'a>,
    primal: Primal<'p, 'a>,
    /// Falls of P below this are rounding.
    floor: f64,
}

impl Cdss<'_, '_> {
    fn run(&mut self, options: &Options, ledger: &mut Ledger<'_, '_>, monitor: &mut Monitor<'_>) -> Result<Status> {
        loop {
            let stopped = self.descend(ledger, monitor);
            self.certify(ledger, monitor)?;
            if let Some(stopped) = stopped {
                return Ok(stopped);
            }
            if !options.published.swaps {
                return Ok(Status::Converged);
            }
            match swap::improve(self.problem, &mut self.primal, ledger, monitor) {
                Swap::Found => {}
                Swap::Inescapable => return Ok(Status::Converged),
                Swap::Halted(halt) => return Halt::status(halt),
            }
        }
    }

    /// Passes of T over all features with spacer steps between them, until a pass changes nothing to speak of.
    fn descend(&mut self, ledger: &mut Ledger<'_, '_>, monitor: &mut Monitor<'_>) -> Option<Status> {
        let (mut support, mut repeats) = (self.primal.support(), 0);
        let mut objective = ledger.offer(&self.primal);
        loop {
            if let Some(stopped) = monitor.stop(ledger.iteration) {
                return Some(stopped);
            }
            let moved =
                self.primal.pass(0..self.primal.len(), |coordinate, c, q| coordinate.threshold_operator(c, q), monitor);
            ledger.iteration += 1;
            let (before, now) = (objective, self.primal.support());
            objective = ledger.offer(&self.primal);
            ledger.record(&self.primal, monitor);
            // A pass cut short by an interrupt proves nothing; the next turn of the loop returns it.
            let interrupted = monitor.stop(0).is_some();
            let same = now == support;
            if !interrupted && (moved <= self.tolerance(objective) || (same && objective >= before)) {
                self.primal.rebuild();
                return None;
            }
            (support, repeats) = (now, if same { repeats + 1 } else { 0 });
            if repeats >= REPEATS {
                objective = self.spacer_step(&support, ledger, monitor);
                repeats = 0;
            }
        }
    }

    /// Spacer step: coordinate descent on the support without λ0, which fits the support exactly. It may empty
    /// a coefficient but adds none to the support, so P falls.
    fn spacer_step(&mut self, support: &[usize], ledger: &mut Ledger<'_, '_>, monitor: &mut Monitor<'_>) -> f64 {
        let tolerance = self.tolerance(self.primal.values().0);
        for _ in 0..SPACER_PASSES {
            let positions = support.iter().copied();
            let moved = self.primal.pass(positions, |coordinate, c, q| coordinate.prox_selected(c, q), monitor);
            if moved <= tolerance || monitor.stop(0).is_some() {
                break;
            }
        }
        ledger.offer(&self.primal)
    }

    fn tolerance(&self, objective: f64) -> f64 {
        TOLERANCE * objective + self.floor
    }

    /// D at the dual point of the current point.
    fn certify(&self, ledger: &mut Ledger<'_, '_>, monitor: &mut Monitor<'_>) -> Result<()> {
        let mut alpha = vec![0.0; self.problem.nrows()];
        self.problem.dual_point(self.primal.margins(), self.primal.intercept(), &mut alpha);
        ledger.certify(&alpha, monitor)?;
        Ok(())
    }
}
