//! Runs the engine on its own threads while R's thread looks for interrupts and shows how far it is.

use crate::fields::Failure;
use crate::interrupt;
use bestset::select::Progress;
use bestset::CancelFlag;
use rayon::{ThreadPool, ThreadPoolBuilder};
use savvy::{FunctionArgs, FunctionSexp};
use std::any::Any;
use std::collections::HashMap;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::mpsc::{channel, RecvTimeoutError};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

/// How often interrupts are looked for.
const LOOK: Duration = Duration::from_millis(100);

/// How a call is run.
pub struct Caller {
    /// Threads; `None` for one per processor.
    pub threads: Option<usize>,
    /// The flag of the options that the engine works with.
    pub cancel: CancelFlag,
    /// Called with what is done and how far, on R's thread.
    pub progress: Option<FunctionSexp>,
}

/// How far the work is, as it was last heard.
#[derive(Default)]
pub struct Heard(Mutex<Option<Progress>>);

impl Heard {
    /// To be called from any thread.
    pub fn note(&self, progress: Progress) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(progress);
    }

    fn take(&self) -> Option<Progress> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Runs `work` on another thread. An interrupt asks it to end, and what it returns then is the answer.
pub fn run<T, F>(caller: &Caller, work: F) -> savvy::Result<T>
where
    T: Send,
    F: FnOnce(&Heard) -> Result<T, Failure> + Send,
{
    let pool = pool(caller.threads)?;
    // savvy's hook, which it puts back in the end, prints; R must not be called from other threads.
    std::panic::set_hook(Box::new(|_| ()));
    let heard = Heard::default();
    let (sender, receiver) = channel();
    pool.in_place_scope(|scope| {
        let heard = &heard;
        scope.spawn(move |_| {
            let outcome = catch_unwind(AssertUnwindSafe(|| work(heard)));
            let _ = sender.send(outcome.unwrap_or_else(|panic| Err(internal(&*panic))));
        });
        let mut failed = None;
        loop {
            match receiver.recv_timeout(LOOK) {
                Ok(outcome) => return failed.map_or(outcome.map_err(savvy::Error::new), Err),
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(savvy::Error::new("the solver ended without an answer"))
                }
                Err(RecvTimeoutError::Timeout) => {
                    if interrupt::pending() {
                        caller.cancel.cancel();
                    }
                    if let Err(error) = show(caller.progress.as_ref(), heard) {
                        caller.cancel.cancel();
                        failed.get_or_insert(error);
                    }
                }
            }
        }
    })
}

fn show(progress: Option<&FunctionSexp>, heard: &Heard) -> savvy::Result<()> {
    let (Some(function), Some(now)) = (progress, heard.take()) else { return Ok(()) };
    let (what, done, all) = match now {
        Progress::Path(size) => ("path", size, 0),
        Progress::Folds(done, all) => ("folds", done, all),
        Progress::Solving => ("solving", 0, 0),
    };
    let mut words = FunctionArgs::new();
    words.add("what", what)?;
    words.add("done", done as f64)?;
    words.add("all", all as f64)?;
    function.call(words).map(|_| ())
}

fn internal(panic: &(dyn Any + Send)) -> Failure {
    let text = panic.downcast_ref::<&str>().map(|s| (*s).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "unknown".to_owned());
    format!("internal error of bestset: {text}")
}

/// By process and number of threads.
type Pools = HashMap<(u32, usize), Arc<ThreadPool>>;

/// The pool of this many threads. Pools are kept, but not over a fork: the threads of the parent do not exist in the child.
fn pool(threads: Option<usize>) -> Result<Arc<ThreadPool>, Failure> {
    static POOLS: OnceLock<Mutex<Pools>> = OnceLock::new();
    let threads = threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
    if threads == 0 {
        return Err("threads is 0; it must be at least 1".to_owned());
    }
    let mut pools = POOLS.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner);
    let key = (std::process::id(), threads);
    if let Some(pool) = pools.get(&key) {
        return Ok(pool.clone());
    }
    let built = ThreadPoolBuilder::new().num_threads(threads).thread_name(|k| format!("bestset-{k}")).build();
    let built = Arc::new(built.map_err(|e| format!("cannot start {threads} threads: {e}"))?);
    pools.insert(key, built.clone());
    Ok(built)
}
