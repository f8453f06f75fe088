//! When a pass over X that lives elsewhere is no longer wanted.

use bestset::{CancelFlag, Limits};
use pyo3::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The share of a time limit that a pass may take beyond it: what ends a search in time are the questions between its steps, and what comes
/// after it is a pass or two for its bound.
const BEYOND: f64 = 0.1;

/// The same in seconds, at the least.
const BEYOND_AT_LEAST: f64 = 1.0;

/// When nobody waits any longer, for as long as the call lasts.
pub struct Over {
    cancel: CancelFlag,
    until: Option<Instant>,
    has_ended: AtomicBool,
}

impl Over {
    pub fn new(cancel: CancelFlag, until: Option<Instant>) -> Arc<Self> {
        Arc::new(Self { cancel, until, has_ended: AtomicBool::new(false) })
    }

    /// For passes of a call within these limits.
    pub(super) fn of_passes(limits: &Limits) -> Arc<Self> {
        let beyond = |left: Duration| Duration::from_secs_f64((BEYOND * left.as_secs_f64()).max(BEYOND_AT_LEAST));
        let until = limits.left().and_then(|left| Instant::now().checked_add(left.saturating_add(beyond(left))));
        Self::new(limits.cancel().clone(), until)
    }

    pub fn is_over(&self) -> bool {
        let is_late = self.until.is_some_and(|until| Instant::now() >= until);
        (self.cancel.is_cancelled() || is_late) && !self.has_ended.load(Ordering::Relaxed)
    }
}

/// Whether the call that X belongs to is to end: what an object may ask in the middle of a long pass.
#[pyclass(frozen)]
pub struct Stopped(pub Arc<Over>);

#[pymethods]
impl Stopped {
    fn __call__(&self) -> bool {
        self.0.is_over()
    }
}

/// With it the call ends: the object serves others, whatever became of this one.
pub(super) struct EndOfCall(pub(super) Arc<Over>);

impl Drop for EndOfCall {
    fn drop(&mut self) {
        self.0.has_ended.store(true, Ordering::Relaxed);
    }
}
