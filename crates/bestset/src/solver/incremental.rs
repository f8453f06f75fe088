//! The default solver (MATH §7): convex phase, then primal phase.

use super::workspace::Workspace;
use super::{Monitor, Options, Outcome, convex, primal};
use crate::problem::Problem;

/// Convex phase for the bound, primal phase for the answer.
pub fn solve(problem: &Problem<'_>, options: &Options, monitor: &mut Monitor<'_>) -> Outcome {
    let mut work = Workspace::new(problem);
    if let Some(start) = &options.warm_start {
        work.load(start);
    }
    let mut relaxed = convex::solve(&mut work, options, monitor);
    let best = primal::solve(&mut work, &mut relaxed, options, monitor);
    Outcome {
        coefficients: best.coefficients,
        relaxation: Some(relaxed.relaxation),
        lower_bound: relaxed.lower_bound,
        dual: relaxed.dual,
        ended: relaxed.ended,
        iterations: relaxed.iterations,
        screened: relaxed.screened,
        local: best.local,
    }
}
