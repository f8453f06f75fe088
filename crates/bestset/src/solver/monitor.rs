//! Time, cancellation, iteration limits and the trace: what every loop asks between two steps.

use super::Options;
use crate::solution::{Status, TraceRow};
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

/// Limits and trace of one solve.
pub struct Monitor<'o> {
    start: Instant,
    time_limit: Option<Duration>,
    max_iterations: usize,
    cancel: CancelFlag,
    keep: bool,
    observer: &'o mut dyn Observer,
    /// The rows recorded so far.
    pub trace: Vec<TraceRow>,
    /// Passes over X so far, in units of one full pass.
    pub passes: f64,
}

impl<'o> Monitor<'o> {
    /// Starts the clock.
    pub fn new(options: &Options, observer: &'o mut dyn Observer) -> Self {
        Self {
            start: Instant::now(),
            time_limit: options.time_limit,
            max_iterations: options.max_iterations.unwrap_or(usize::MAX),
            cancel: options.cancel.clone(),
            keep: options.trace,
            observer,
            trace: Vec::new(),
            passes: 0.0,
        }
    }

    /// Seconds since the start.
    pub fn seconds(&self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }

    /// Why the loop must end now, if it must: cancelled, out of time, or `iteration` reached the limit.
    pub fn stop(&self, iteration: usize) -> Option<Status> {
        if self.cancel.is_cancelled() {
            Some(Status::Interrupted)
        } else if self.time_limit.is_some_and(|limit| self.start.elapsed() >= limit) {
            Some(Status::TimeLimit)
        } else if iteration >= self.max_iterations {
            Some(Status::IterationLimit)
        } else {
            None
        }
    }

    /// Stamps a row with the time and hands it to the observer and the trace.
    pub fn record(&mut self, mut row: TraceRow) {
        row.seconds = self.seconds();
        self.observer.record(&row);
        if self.keep {
            self.trace.push(row);
        }
    }
}
