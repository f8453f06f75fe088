//! Algorithm 1 of the paper (MATH 6.1, 6.3) on all features.

use crate::control::{Monitor, Options};
use crate::error::Result;
use crate::problem::Problem;
use crate::solution::Screened;
use crate::solver::Outcome;
use crate::solver::published::ascent::{Ascent, start_dual};
use crate::solver::published::ledger;
use crate::solver::published::ledger::Ledger;
use crate::solver::published::primal::Primal;

/// Algorithm 1 on all features: PrimDual without screening and inclusion, or without the pass of T DualAst.
///
/// It ends as `Converged` when the gap is below ε, changes by less than ζ over two steps or is not decreasing, and as
/// `IterationLimit` also when the gap is no longer finite. The columns are copied.
pub fn solve(
    problem: &Problem<'_>,
    options: &Options,
    monitor: &mut Monitor<'_>,
    primal_pass: bool,
) -> Result<Outcome> {
    let start = ledger::start(problem, options)?;
    let alpha = start_dual(problem, options, &start)?;
    let mut ledger = Ledger::new(problem, &start, &alpha, monitor)?;
    let features: Vec<usize> = (0..problem.ncols()).collect();
    let ended = match Primal::new(problem, &features, monitor) {
        Ok(mut primal) => {
            let beta = start.to_dense(problem.ncols());
            primal.set(beta.into_iter());
            Ascent::new(problem, primal, alpha, primal_pass).run(options, &mut ledger, monitor)
        }
        Err(stopped) => Err(stopped),
    };
    ledger.finish_ascent(ended, Screened::default(), monitor)
}
