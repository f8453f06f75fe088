//! The best primal point and the best bound met so far, and the rows of the trace.

use crate::control::{Monitor, Options};
use crate::error::Result;
use crate::problem::Problem;
use crate::solution::{Coefficients, Screened, Status, StopRule, TraceRow};
use crate::solver::Outcome;
use crate::solver::published::halt::Halt;
use crate::solver::published::primal::Primal;

/// After this many rows the distance between two rows grows by one in this many: about 1100 rows for a hundred
/// million iterations.
const ROWS: usize = 70;

/// Decides which iterations get a row: all at first, then at a growing distance.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Schedule {
    next: usize,
}

impl Schedule {
    /// Whether `count` is due.
    pub(super) fn due(&mut self, count: usize) -> bool {
        let due = count >= self.next;
        if due {
            self.next = count + 1 + count / ROWS;
        }
        due
    }
}

/// What a run has found.
pub(super) struct Ledger<'p, 'a> {
    problem: &'p Problem<'a>,
    objective: f64,
    coefficients: Coefficients,
    relaxation: f64,
    lower_bound: f64,
    dual: Vec<f64>,
    schedule: Schedule,
    last: Option<TraceRow>,
    /// Iterations so far, in the unit of the method.
    pub iteration: usize,
}

impl<'p, 'a> Ledger<'p, 'a> {
    /// Knows the better of zero and the start, and the bound that α⁰ gives.
    ///
    /// Its one pass over X is made also by a run that is cancelled before it starts: a bound is always returned.
    pub(super) fn new(
        problem: &'p Problem<'a>,
        start: &Coefficients,
        alpha: &[f64],
        monitor: &mut Monitor<'_>,
    ) -> Result<Self> {
        let mut ledger = Self {
            problem,
            objective: f64::INFINITY,
            coefficients: Coefficients::default(),
            relaxation: f64::INFINITY,
            lower_bound: f64::NEG_INFINITY,
            dual: alpha.to_vec(),
            schedule: Schedule::default(),
            last: None,
            iteration: 0,
        };
        ledger.offer_coefficients(with_best_intercept(problem, Coefficients::default())?)?;
        ledger.offer_coefficients(start.clone())?;
        ledger.certify(alpha, monitor)?;
        let relaxation = problem.relaxation(start)?.unwrap_or(f64::NAN);
        ledger.row(relaxation, 0, start.nonzeros(), monitor);
        Ok(ledger)
    }

    fn offer_coefficients(&mut self, coefficients: Coefficients) -> Result<()> {
        let objective = self.problem.value(&coefficients)?;
        self.relaxation = self.relaxation.min(self.problem.relaxation(&coefficients)?.unwrap_or(f64::INFINITY));
        if objective < self.objective {
            (self.objective, self.coefficients) = (objective, coefficients);
        }
        Ok(())
    }

    /// Keeps the point if its P is the least so far; returns P.
    pub(super) fn offer(&mut self, point: &Primal<'_, '_>) -> f64 {
        let (objective, relaxation) = point.values();
        self.relaxation = self.relaxation.min(relaxation);
        if objective < self.objective {
            (self.objective, self.coefficients) = (objective, point.coefficients());
        }
        objective
    }

    /// Keeps a bound on the full problem if it is the best so far.
    pub(super) fn offer_bound(&mut self, bound: f64, alpha: &[f64]) {
        if bound > self.lower_bound {
            self.lower_bound = bound;
            self.dual.copy_from_slice(alpha);
        }
    }

    /// D(α) of the full problem and τ = Xᵀα: one pass over X.
    pub(super) fn certify(&mut self, alpha: &[f64], monitor: &mut Monitor<'_>) -> Result<(f64, Vec<f64>)> {
        let tau = self.problem.correlations(alpha)?;
        monitor.passes += 1.0;
        let bound = self.problem.dual_value(alpha, &self.problem.features(), &tau)?;
        self.offer_bound(bound, alpha);
        self.show(monitor);
        Ok((bound, tau))
    }

    /// Tells the monitor what there is to show.
    fn show(&self, monitor: &mut Monitor<'_>) {
        monitor.so_far.offer_bound(self.lower_bound, &self.dual);
        monitor.so_far.offer(self.objective, || self.coefficients.clone());
    }

    /// P − lower bound of the best found.
    pub(super) fn gap(&self) -> f64 {
        (self.objective - self.lower_bound).max(0.0)
    }

    /// Records the state at this point when a row is due.
    pub(super) fn record(&mut self, point: &Primal<'_, '_>, monitor: &mut Monitor<'_>) {
        if self.schedule.due(self.iteration) {
            self.record_now(point, monitor);
        }
    }

    /// Records the state at this point.
    pub(super) fn record_now(&mut self, point: &Primal<'_, '_>, monitor: &mut Monitor<'_>) {
        let relaxation = if self.problem.max_size().is_none() { point.values().1 } else { f64::NAN };
        self.row(relaxation, point.len(), point.support().len(), monitor);
    }

    fn row(&mut self, relaxation: f64, active: usize, support: usize, monitor: &mut Monitor<'_>) {
        let (objective, lower_bound, gap) = (self.objective, self.lower_bound, self.gap());
        let iteration = self.iteration;
        let row = TraceRow { seconds: 0.0, iteration, objective, relaxation, lower_bound, gap, active, support };
        self.last = Some(row);
        self.show(monitor);
        monitor.record(row);
    }

    /// As [`finish`](Self::finish), for an ascent that one of its rules ended or that was stopped before.
    pub(super) fn finish_ascent(
        self,
        ended: std::result::Result<StopRule, Halt>,
        screened: Screened,
        monitor: &mut Monitor<'_>,
    ) -> Result<Outcome> {
        let (rule, status) = match ended {
            Ok(rule) => (Some(rule), Status::Converged),
            Err(halt) => (None, halt.status()?),
        };
        monitor.rule = rule;
        Ok(self.finish(status, screened, monitor))
    }

    /// The answer; the trace ends with it.
    pub(super) fn finish(mut self, ended: Status, screened: Screened, monitor: &mut Monitor<'_>) -> Outcome {
        if let Some(last) = self.last
            && (last.iteration, last.objective, last.lower_bound) != (self.iteration, self.objective, self.lower_bound)
        {
            self.row(last.relaxation, last.active, last.support, monitor);
        }
        let relaxation = self.problem.max_size().is_none().then_some(self.relaxation);
        let known = Outcome::new(self.coefficients, self.lower_bound, self.dual, ended);
        Outcome { relaxation, iterations: self.iteration, screened, ..known }
    }
}

/// The warm start moved into the bounds, or zero; zero also when it has more features than allowed.
pub(super) fn start(problem: &Problem<'_>, options: &Options) -> Result<Coefficients> {
    let Some(warm) = &options.warm_start else {
        return with_best_intercept(problem, Coefficients::default());
    };
    let inside = |(j, b): (usize, f64)| (j, b.clamp(problem.coordinate(j).lower, problem.coordinate(j).upper));
    let clipped = Coefficients::from_pairs(warm.iter().map(inside).collect(), warm.intercept);
    let allowed = problem.max_size().is_none_or(|k| clipped.nonzeros() <= k);
    with_best_intercept(problem, if allowed { clipped } else { Coefficients::default() })
}

fn with_best_intercept(problem: &Problem<'_>, mut coefficients: Coefficients) -> Result<Coefficients> {
    let u = problem.margins(&coefficients)?;
    coefficients.intercept = problem.best_intercept(&u, coefficients.intercept);
    Ok(coefficients)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_runs_get_few_rows_and_short_ones_all() {
        let mut schedule = Schedule::default();
        assert!((0..ROWS).all(|t| schedule.due(t)));
        let mut rows = ROWS;
        for t in ROWS..2_000_000 {
            rows += usize::from(schedule.due(t));
        }
        assert!((500..1000).contains(&rows), "{rows}");
    }
}
