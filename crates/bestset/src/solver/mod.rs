//! One way to solve a problem: [`solve`].

pub mod augmented;
pub mod convex;
pub mod descend;
mod everywhere;
pub mod exact;
pub(crate) mod exchange;
mod explore;
pub mod incremental;
pub(crate) mod ladder;
pub mod memory;
mod monitor;
mod options;
pub mod primal;
pub mod published;
pub mod quadratic;
pub mod rules;
pub mod screening;
pub mod tableau;
mod widen;
pub mod workspace;

pub use memory::Memory;
pub use monitor::{CancelFlag, Limits, Monitor, Observer};
pub use options::{Method, Options, Published, Step, Stop};

use crate::certificate::Certificate;
use crate::error::Result;
use crate::problem::Problem;
use crate::solution::{Coefficients, Local, Ranked, Screened, Solution, Status};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};

/// Solves the problem with the method of the options.
///
/// Errors mean that it could not start. Limits and cancellation return the best solution with a valid bound.
pub fn solve(problem: &Problem<'_>, options: &Options) -> Result<Solution> {
    solve_observed(problem, options, &mut ())
}

/// As [`solve`], with an observer that sees every trace row as it is made.
pub fn solve_observed(problem: &Problem<'_>, options: &Options, observer: &mut dyn Observer) -> Result<Solution> {
    solve_kept(problem, options, observer, None)
}

/// As [`solve_observed`]; branch and bound goes on from the journal and keeps it up to date.
pub(crate) fn solve_kept(
    problem: &Problem<'_>,
    options: &Options,
    observer: &mut dyn Observer,
    journal: Option<&mut exact::Journal<'_>>,
) -> Result<Solution> {
    options.validate(problem)?;
    let mut monitor = Monitor::new(options, observer);
    let run = |monitor: &mut Monitor<'_>| {
        Ok(match options.method {
            Method::Incremental => incremental::solve(problem, options, monitor),
            Method::Exact => exact::solve_kept(problem, options, monitor, journal)?,
            Method::PrimalDual { dynamic: true } => published::dynamic::solve(problem, options, monitor),
            Method::PrimalDual { dynamic: false } => published::primal_dual::solve(problem, options, monitor, true),
            Method::DualAscent => published::primal_dual::solve(problem, options, monitor, false),
            Method::DualIht => published::dual_iht::solve(problem, options, monitor),
            Method::Cdss => published::cdss::solve(problem, options, monitor),
        })
    };
    let outcome = on_threads(options.threads, || run(&mut monitor))?;
    Ok(finish(problem, options, monitor, outcome))
}

/// What a solver hands back: its best coefficients, a dual point with the bound it proves, and how its loop ended.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The best primal point found.
    pub coefficients: Coefficients,
    /// The least R met, `None` where R is not the relaxation.
    pub relaxation: Option<f64>,
    /// The best bound proved, −∞ if none.
    pub lower_bound: f64,
    /// The dual point that proves it.
    pub dual: Vec<f64>,
    /// How the loop ended.
    pub ended: Status,
    /// Iterations in the unit of the method.
    pub iterations: usize,
    /// What screening did.
    pub screened: Screened,
    /// Which changes of the support cannot lower P.
    pub local: Local,
    /// The best subsets, best first, from branch and bound.
    pub ranked: Vec<Ranked>,
    /// Features taken for combinations of each other, by leaps and bounds.
    pub dependent: Vec<Vec<usize>>,
}

impl Outcome {
    /// Evaluates P from scratch and derives the status from the gap alone; what a monitor knows is left empty.
    pub fn certified(self, problem: &Problem<'_>, options: &Options) -> Solution {
        let Self {
            coefficients, relaxation, lower_bound, dual, iterations, screened, local, ranked, dependent, ..
        } = self;
        let objective = problem.value(&coefficients);
        // R of the answer is at most its P: rounding may have said otherwise.
        let relaxation = relaxation.map(|r| r.min(objective));
        let certificate = Certificate::new(objective, relaxation, lower_bound);
        let status = certificate.status(self.ended, options.absolute(problem), options.gap);
        // A limit that struck before as many subsets were ranked as were asked for: the search is not done.
        let unranked = options.top > 1 && (ranked.len() < options.top || ranked.iter().any(|r| !r.proved));
        let searches = options.method == Method::Exact && self.ended != Status::Converged;
        let status = if unranked && searches { self.ended } else { status };
        let (passes, seconds, trace) = (0.0, 0.0, Vec::new());
        Solution {
            coefficients,
            certificate,
            status,
            dual,
            iterations,
            passes,
            seconds,
            screened,
            local,
            rule: None,
            trace,
            ranked,
            dependent,
        }
    }
}

fn finish(problem: &Problem<'_>, options: &Options, mut monitor: Monitor<'_>, outcome: Outcome) -> Solution {
    let solution = outcome.certified(problem, options);
    let Certificate { objective, lower_bound, .. } = solution.certificate;
    monitor.conclude(objective, lower_bound, solution.iterations, solution.coefficients.nonzeros());
    Solution {
        seconds: monitor.seconds(),
        passes: monitor.passes,
        rule: monitor.rule,
        trace: monitor.trace,
        ..solution
    }
}

/// The most threads for each processor: more only wait for each other.
const THREADS: usize = 4;

/// Runs `body` with this many threads, as far as there are processors for them, or with those of the caller.
pub(crate) fn on_threads<T: Send>(threads: Option<usize>, body: impl FnOnce() -> T + Send) -> T {
    match threads {
        Some(threads) => {
            let processors = std::thread::available_parallelism().map_or(1, usize::from);
            pool(threads.min(THREADS * processors)).install(body)
        }
        None => body(),
    }
}

/// Thread pools are kept: building one costs more than a small fit.
fn pool(threads: usize) -> Arc<rayon::ThreadPool> {
    static POOLS: OnceLock<Mutex<HashMap<usize, Arc<rayon::ThreadPool>>>> = OnceLock::new();
    let mut pools = POOLS.get_or_init(Mutex::default).lock().unwrap_or_else(|e| e.into_inner());
    let build = || rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pools.entry(threads).or_insert_with(|| Arc::new(build().expect("the system can start threads"))).clone()
}
