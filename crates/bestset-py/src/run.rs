//! Runs the engine on its own threads while the calling thread answers signals and callbacks.

use crate::errors::Failure;
use bestset::CancelFlag;
use bestset::TraceRow;
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::any::Any;
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

/// How often signals are looked at: well within the quarter of a second in which Ctrl-C is to be answered.
const SIGNALS: Duration = Duration::from_millis(50);

/// How a call is run.
pub struct Caller<'c> {
    /// Threads; `None` for one per processor.
    pub threads: Option<usize>,
    /// The flag of the options that the engine works with.
    pub cancel: CancelFlag,
    /// Whether Ctrl-C ends the call with the best answer so far instead of an exception.
    pub keep_answer: bool,
    /// Called with every row of the trace, on the calling thread; stops the solve by returning true.
    pub callback: Option<&'c Bound<'c, PyAny>>,
    /// Called as often as signals are looked at, on the calling thread; ends the call by raising something, which is raised.
    pub check: Option<&'c Bound<'c, PyAny>>,
}

enum Message<T> {
    Row(TraceRow),
    Done(Result<T, Failure>),
}

/// Hands trace rows to the calling thread.
pub struct Rows<T>(Sender<Message<T>>, bool);

impl<T: Send> bestset::Observer for Rows<T> {
    fn record(&mut self, row: &TraceRow) {
        if self.1 {
            // The calling thread listens until the work is done; there is nobody to tell if it does not.
            let _ = self.0.send(Message::Row(*row));
        }
    }
}

/// Runs `work` with the interpreter released.
pub fn run<T, F>(py: Python<'_>, caller: &Caller<'_>, work: F) -> Result<T, Failure>
where
    T: Send,
    F: FnOnce(&mut Rows<T>) -> Result<T, Failure> + Send,
{
    let pool = pool(caller.threads)?;
    let callback: Option<Py<PyAny>> = caller.callback.map(|c| c.clone().unbind());
    let check: Option<Py<PyAny>> = caller.check.map(|c| c.clone().unbind());
    let (cancel, keep_answer, wants_rows) = (caller.cancel.clone(), caller.keep_answer, callback.is_some());
    py.detach(|| {
        let (sender, receiver) = channel();
        pool.in_place_scope(|scope| {
            scope.spawn(move |_| {
                let mut rows = Rows(sender.clone(), wants_rows);
                let outcome = catch_unwind(AssertUnwindSafe(|| work(&mut rows)));
                let outcome = outcome.unwrap_or_else(|panic| Err(Failure::Panic(message(&*panic))));
                let _ = sender.send(Message::Done(outcome));
            });
            let mut raised = None;
            loop {
                let heard = match receiver.recv_timeout(SIGNALS) {
                    Ok(Message::Done(outcome)) => return raised.map_or(outcome, |error| Err(Failure::Python(error))),
                    Ok(Message::Row(row)) if raised.is_none() => call(callback.as_ref(), &row, &cancel),
                    Ok(Message::Row(_)) => Ok(()),
                    Err(RecvTimeoutError::Timeout) => Python::attach(|py| {
                        py.check_signals()?;
                        check.as_ref().filter(|_| raised.is_none()).map_or(Ok(()), |c| c.call0(py).map(|_| ()))
                    }),
                    Err(RecvTimeoutError::Disconnected) => {
                        return Err(Failure::Panic("the solver ended without an answer".to_owned()));
                    }
                };
                if let Err(error) = heard {
                    cancel.cancel();
                    if !(keep_answer && is_interrupt(&error)) {
                        raised.get_or_insert(error);
                    }
                }
            }
        })
    })
}

/// Whether it is Ctrl-C, from a signal handler or out of the callback that it struck in.
fn is_interrupt(error: &PyErr) -> bool {
    Python::attach(|py| error.is_instance_of::<pyo3::exceptions::PyKeyboardInterrupt>(py))
}

fn call(callback: Option<&Py<PyAny>>, row: &TraceRow, cancel: &CancelFlag) -> PyResult<()> {
    let Some(callback) = callback else { return Ok(()) };
    Python::attach(|py| {
        py.check_signals()?;
        let stop = callback.call1(py, (crate::output::row(py, row)?,))?;
        if stop.bind(py).is_truthy()? {
            cancel.cancel();
        }
        Ok(())
    })
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|s| (*s).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "unknown".to_owned())
}

/// By process and number of threads.
type Pools = HashMap<(u32, usize), Arc<ThreadPool>>;

/// The pool of this many threads. Pools are kept, but not over a fork: the threads of the parent do not exist in the child.
fn pool(threads: Option<usize>) -> Result<Arc<ThreadPool>, Failure> {
    static POOLS: OnceLock<Mutex<Pools>> = OnceLock::new();
    let available = || std::thread::available_parallelism().map_or(1, usize::from);
    let threads = threads.unwrap_or_else(available);
    if threads == 0 {
        return Err(bestset::Error::Range { name: "threads", value: 0.0, range: "at least 1" }.into());
    }
    let mut pools = POOLS.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner);
    let key = (std::process::id(), threads);
    if let Some(pool) = pools.get(&key) {
        return Ok(pool.clone());
    }
    let built = ThreadPoolBuilder::new().num_threads(threads).thread_name(|k| format!("bestset-{k}")).build();
    let built = Arc::new(built.map_err(|e| Failure::Panic(format!("cannot start {threads} threads: {e}")))?);
    pools.insert(key, built.clone());
    Ok(built)
}
