//! Time, cancellation, iteration limits and the trace: what every loop asks between two steps.

use crate::certificate::at_least_zero;
use crate::control::Options;
use crate::error::{Error, Result};
use crate::solution::{Coefficients, Status, StopRule, TraceRow};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A shared flag that stops a solve; clones share it.
#[derive(Debug, Clone, Default)]
pub struct CancelFlag(Arc<AtomicBool>);

impl CancelFlag {
    /// Asks the solve to stop at its next check.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether stopping was asked for.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Sees every trace row as it is made.
pub trait Observer: Send {
    /// Called for each row.
    fn record(&mut self, row: &TraceRow);
}

impl Observer for () {
    fn record(&mut self, _row: &TraceRow) {}
}

impl<F: FnMut(&TraceRow) + Send> Observer for F {
    fn record(&mut self, row: &TraceRow) {
        self(row);
    }
}

/// Multiplications in a second that any machine does.
const RATE: f64 = 1e9;

/// Multiplications of the shortest sweep whose time says how fast sweeps are: some milliseconds.
const TELLING: f64 = 1e7;

/// When a solve, or a call that it is part of, must end; may be shared between threads. By default never.
#[derive(Debug, Clone)]
pub struct Limits {
    start: Instant,
    time_limit: Option<Duration>,
    /// Of the time limit, kept for what comes after the search.
    kept_back: Duration,
    max_iterations: usize,
    cancel: CancelFlag,
}

impl Default for Limits {
    fn default() -> Self {
        Self::begin(None, CancelFlag::default())
    }
}

impl Limits {
    /// Those of a call that begins now: so much time, and a flag.
    pub fn begin(time_limit: Option<Duration>, cancel: CancelFlag) -> Self {
        Self { start: Instant::now(), time_limit, kept_back: Duration::ZERO, max_iterations: usize::MAX, cancel }
    }

    /// What ends it at once.
    pub fn cancel(&self) -> &CancelFlag {
        &self.cancel
    }

    /// Seconds since the start.
    pub fn seconds(&self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }

    /// When the time is up.
    pub(crate) fn until(&self) -> Option<Instant> {
        // Beyond what a clock can say is as good as never.
        self.left().and_then(|left| Instant::now().checked_add(left))
    }

    /// What is left of the time limit.
    pub fn left(&self) -> Option<Duration> {
        self.time_limit.map(|limit| limit.saturating_sub(self.kept_back).saturating_sub(self.start.elapsed()))
    }

    /// Whether so many multiplications, which nothing interrupts, fit into the time that is left: asked before they begin, so that a
    /// limit is kept.
    pub fn has_time_for(&self, multiplications: f64) -> bool {
        !self.cancel.is_cancelled() && self.left().is_none_or(|left| multiplications <= RATE * left.as_secs_f64())
    }

    /// An error where a limit struck: what a long pass asks between two blocks.
    pub fn check(&self) -> Result<()> {
        if self.stop(0).is_some() { Err(Error::Stopped) } else { Ok(()) }
    }

    /// Why the loop must end now, if it must: cancelled, out of time, or `iteration` reached the limit.
    pub fn stop(&self, iteration: usize) -> Option<Status> {
        if self.cancel.is_cancelled() {
            Some(Status::Interrupted)
        } else if self.left().is_some_and(|left| left.is_zero()) {
            Some(Status::TimeLimit)
        } else if iteration >= self.max_iterations {
            Some(Status::IterationLimit)
        } else {
            None
        }
    }
}

/// What a solve has to show at any moment: what it hands back when a pass over X fails or is stopped.
#[derive(Debug, Clone)]
pub struct SoFar {
    /// The best answer met, with its P.
    pub answer: Option<(f64, Coefficients)>,
    /// The best bound proved, −∞ if none.
    pub lower_bound: f64,
    /// A dual point that gives it, or the bound before branching.
    pub dual: Vec<f64>,
    /// The most features that an answer may have.
    pub most: usize,
    /// What is to be taken off bounds that are handed in, where what is worked on is the problem as posed with a little on top of P.
    pub owed: f64,
}

impl SoFar {
    /// Takes an answer to the problem as posed if its P is less.
    pub fn offer(&mut self, objective: f64, coefficients: impl FnOnce() -> Coefficients) {
        if objective.is_finite() && self.answer.as_ref().is_none_or(|known| objective < known.0) {
            let answer = Some((objective, coefficients()));
            self.answer = answer.filter(|(_, c)| c.nonzeros() <= self.most).or(self.answer.take());
        }
    }

    /// Takes a bound on the problem as posed, but for what is owed, if it is higher, with its dual point.
    pub fn offer_bound(&mut self, bound: f64, dual: &[f64]) {
        let bound = bound - self.owed;
        if bound > self.lower_bound || self.dual.is_empty() {
            self.lower_bound = self.lower_bound.max(bound);
            self.dual = dual.to_vec();
        }
    }
}

/// Limits and trace of one solve.
pub struct Monitor<'o> {
    limits: Limits,
    keep: bool,
    observer: &'o mut dyn Observer,
    last: Option<TraceRow>,
    /// While set, rows are dropped: those of a side problem would pass for bounds on this one.
    pub muted: bool,
    /// What there is to show so far, of the problem as posed.
    pub so_far: SoFar,
    /// The rows recorded so far.
    pub trace: Vec<TraceRow>,
    /// Passes over X so far, in units of one full pass.
    pub passes: f64,
    /// The rule of its own that ended a published ascent.
    pub rule: Option<StopRule>,
    /// Multiplications in a second of the last sweep over X, wherever that is.
    sweep_rate: f64,
}

impl std::ops::Deref for Monitor<'_> {
    type Target = Limits;
    fn deref(&self) -> &Limits {
        &self.limits
    }
}

impl<'o> Monitor<'o> {
    /// Starts the clock.
    pub fn new(options: &Options, observer: &'o mut dyn Observer) -> Self {
        Self {
            limits: Limits {
                max_iterations: options.max_iterations.unwrap_or(usize::MAX),
                ..Limits::begin(options.time_limit, options.cancel.clone())
            },
            keep: options.trace,
            observer,
            last: None,
            muted: false,
            so_far: SoFar {
                answer: None,
                lower_bound: f64::NEG_INFINITY,
                dual: Vec::new(),
                most: usize::MAX,
                owed: 0.0,
            },
            trace: Vec::new(),
            passes: 0.0,
            rule: None,
            sweep_rate: RATE,
        }
    }

    /// From here on the limit is earlier by what so many multiplications take, a tenth of it at the most: they are done whatever
    /// ended the search. Nothing is kept back with 0.
    pub(crate) fn keep_back(&mut self, multiplications: f64) {
        let most = self.limits.time_limit.unwrap_or_default() / 10;
        self.limits.kept_back = most.min(Duration::from_secs_f64(multiplications / RATE));
    }

    /// Takes note of how long a sweep over X of so many multiplications took.
    pub(crate) fn swept(&mut self, multiplications: f64, seconds: f64) {
        if multiplications >= TELLING {
            self.sweep_rate = multiplications / seconds.max(f64::MIN_POSITIVE);
        }
    }

    /// As [`Limits::has_time_for`], for multiplications of a sweep: a device, or many workers, do far more of them than any processor. Half
    /// as many as in the last sweep are counted on.
    pub(crate) fn has_time_to_sweep(&self, multiplications: f64) -> bool {
        self.limits.has_time_for(multiplications * (RATE / (0.5 * self.sweep_rate)).min(1.0))
    }

    /// The limits alone.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Goes on from where another monitor was.
    pub(crate) fn resume(&mut self, passes: f64, trace: Vec<TraceRow>) {
        self.last = trace.last().copied();
        (self.passes, self.trace) = (passes, trace);
    }

    /// Takes an answer, unless it is one to a side problem.
    pub(crate) fn offer(&mut self, objective: f64, coefficients: impl FnOnce() -> Coefficients) {
        if !self.muted {
            self.so_far.offer(objective, coefficients);
        }
    }

    /// Stamps a row with the time and hands it to the observer and the trace. Objective and bound are the best so far,
    /// whatever the iterate of the moment has.
    pub fn record(&mut self, mut row: TraceRow) {
        if self.muted {
            return;
        }
        row.seconds = self.seconds();
        row.lower_bound = at_least_zero(row.lower_bound - self.so_far.owed);
        self.so_far.lower_bound = self.so_far.lower_bound.max(row.lower_bound);
        row.gap = row.objective - row.lower_bound;
        if let Some(last) = &self.last {
            row.objective = row.objective.min(last.objective);
            row.lower_bound = row.lower_bound.max(last.lower_bound);
            row.gap = (row.objective - row.lower_bound).max(0.0);
        }
        self.last = Some(row);
        self.observer.record(&row);
        if self.keep {
            self.trace.push(row);
        }
    }

    /// Ends the trace with the answer, unless its last row shows it already.
    pub fn conclude(&mut self, objective: f64, lower_bound: f64, iteration: usize, support: usize) {
        let same = |a: f64, b: f64| a == b || (a - b).abs() <= 1e-12 * a.abs();
        if let Some(last) = self.last
            && !(same(last.objective, objective) && same(last.lower_bound, lower_bound))
        {
            let gap = (objective - lower_bound).max(0.0);
            self.record(TraceRow { objective, lower_bound, gap, iteration, support, ..last });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(objective: f64, lower_bound: f64) -> TraceRow {
        let gap = objective - lower_bound;
        TraceRow { seconds: 0.0, iteration: 0, objective, relaxation: 1.0, lower_bound, gap, active: 4, support: 3 }
    }

    #[test]
    fn what_is_kept_back_makes_the_limit_earlier() {
        let (hour, mut observer) = (Duration::from_secs(3600), ());
        let mut monitor = Monitor::new(&Options { time_limit: Some(hour), ..Options::default() }, &mut observer);
        assert!(monitor.left().unwrap() > hour / 2);
        monitor.keep_back(RATE * 60.0);
        assert!(monitor.left().unwrap() <= hour - Duration::from_secs(60));
        monitor.keep_back(RATE * 3600.0);
        let left = monitor.left().unwrap();
        assert!(left <= hour - hour / 10 && left > hour / 2, "a tenth at the most: {left:?}");
        assert!(!monitor.has_time_for(RATE * 3500.0));
        monitor.keep_back(0.0);
        assert!(monitor.left().unwrap() > hour - hour / 10);
    }

    #[test]
    fn sweeps_take_as_long_as_the_last_one_did() {
        let (minute, mut observer) = (Duration::from_secs(60), ());
        let mut monitor = Monitor::new(&Options { time_limit: Some(minute), ..Options::default() }, &mut observer);
        let hour = 3600.0 * RATE;
        assert!(!monitor.has_time_to_sweep(hour) && monitor.has_time_to_sweep(RATE));
        monitor.swept(1e12, 0.1);
        assert!(monitor.has_time_to_sweep(hour) && !monitor.has_time_for(hour));
        assert!(!monitor.has_time_to_sweep(60.0 * 1e13), "half of the rate is counted on");
        // One that is too short says nothing, and no machine is slower than that.
        monitor.swept(10.0, 5.0);
        assert!(monitor.has_time_to_sweep(hour));
        monitor.swept(1e9, 1e3);
        assert!(monitor.has_time_to_sweep(RATE));
    }

    #[test]
    fn rows_show_the_best_so_far_and_end_with_the_answer() {
        let mut observer = ();
        let mut monitor = Monitor::new(&Options { trace: true, ..Options::default() }, &mut observer);
        monitor.record(row(5.0, 1.0));
        monitor.record(row(7.0, 0.5));
        monitor.conclude(5.0, 1.0, 2, 3);
        assert_eq!(monitor.trace.len(), 2, "the last row shows the answer already");
        monitor.conclude(4.0, 1.5, 2, 6);
        let shown: Vec<_> = monitor.trace.iter().map(|r| (r.objective, r.lower_bound, r.gap)).collect();
        assert_eq!(shown, [(5.0, 1.0, 4.0), (5.0, 1.0, 4.0), (4.0, 1.5, 2.5)]);
        assert_eq!((monitor.trace[2].support, monitor.trace[2].active), (6, 4));
    }
}
