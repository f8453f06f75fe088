//! primal_dual.

use crate::problem::Problem;
use crate::solver::{Monitor, Options, Outcome};

/// Placeholder.
pub fn solve(problem: &Problem<'_>, options: &Options, monitor: &mut Monitor<'_>, _primal_pass: bool) -> Outcome {
    let _ = (problem, options, monitor);
    unimplemented!()
}
