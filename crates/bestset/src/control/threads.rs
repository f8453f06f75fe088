//! Threads: those of the caller, or as many as were asked for.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};

/// The most threads for each processor: more only wait for each other.
const THREADS: usize = 4;

/// Runs `body` with this many threads, as far as there are processors for them, or with those of the caller.
pub(crate) fn on_threads<T: Send>(threads: Option<usize>, body: impl FnOnce() -> T + Send) -> T {
    match threads {
        Some(threads) => {
            let processors = std::thread::available_parallelism().map_or(1, usize::from);
            match pool(threads.min(THREADS * processors)) {
                Some(pool) => pool.install(body),
                // The system starts no more of them.
                None => body(),
            }
        }
        None => body(),
    }
}

/// Thread pools are kept: building one costs more than a small fit.
fn pool(threads: usize) -> Option<Arc<rayon::ThreadPool>> {
    static POOLS: OnceLock<Mutex<HashMap<usize, Arc<rayon::ThreadPool>>>> = OnceLock::new();
    let mut pools = POOLS.get_or_init(Mutex::default).lock().unwrap_or_else(|e| e.into_inner());
    if let Some(pool) = pools.get(&threads) {
        return Some(pool.clone());
    }
    let built = Arc::new(rayon::ThreadPoolBuilder::new().num_threads(threads).build().ok()?);
    pools.insert(threads, built.clone());
    Some(built)
}
