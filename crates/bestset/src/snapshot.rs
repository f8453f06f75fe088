//! What a search knows between two steps, in a form that a file holds: a search that goes on from it takes the same steps, to the
//! last bit, as one that was never stopped.

use crate::control::Monitor;
use crate::error::{Error, Result};
use crate::file::floats;
use crate::solution::TraceRow;
use serde::{Deserialize, Serialize};

/// Where a search keeps what it knows, and what it starts from; `S` is the state of the search.
pub(crate) struct Journal<'k, S> {
    /// What an earlier search kept.
    pub start: Option<S>,
    /// Called between steps; asks for the state when it is time to write it.
    pub keep: &'k mut Keep<'k, S>,
}

/// Takes a function that makes the state.
pub(crate) type Keep<'k, S> = dyn FnMut(&dyn Fn() -> S) -> Result<()> + Send + 'k;

/// A file whose search is not one of this problem.
pub(crate) fn misfit() -> Error {
    Error::File { what: "checkpoint", reason: "the search it holds does not fit the problem".to_owned() }
}

/// What was counted and shown so far.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SavedMonitor {
    passes: f64,
    /// Eight numbers for each row.
    #[serde(with = "floats")]
    trace: Vec<f64>,
}

impl SavedMonitor {
    /// Nothing counted, nothing shown.
    pub(crate) fn empty() -> Self {
        Self { passes: 0.0, trace: Vec::new() }
    }

    pub(crate) fn new(monitor: &Monitor<'_>) -> Self {
        let numbers = |r: &TraceRow| {
            let [iteration, active, support] = [r.iteration, r.active, r.support].map(|count| count as f64);
            [r.seconds, iteration, r.objective, r.relaxation, r.lower_bound, r.gap, active, support]
        };
        Self { passes: monitor.passes, trace: monitor.trace.iter().flat_map(numbers).collect() }
    }

    pub(crate) fn restore(self, monitor: &mut Monitor<'_>) {
        let row = |r: &[f64; 8]| TraceRow {
            seconds: r[0],
            iteration: r[1] as usize,
            objective: r[2],
            relaxation: r[3],
            lower_bound: r[4],
            gap: r[5],
            active: r[6] as usize,
            support: r[7] as usize,
        };
        let (rows, _) = self.trace.as_chunks();
        monitor.resume(self.passes, rows.iter().map(row).collect());
    }
}
