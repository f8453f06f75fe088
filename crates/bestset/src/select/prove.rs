//! Proof where it is cheap: branch and bound for a bounded time after every fit.

use super::Prove;
use crate::error::{Error, Result};
use crate::problem::Problem;
use crate::solution::{Solution, Status, TraceRow};
use crate::solver::{Method, Observer, Options, solve_observed};
use std::time::Duration;

/// Nodes that the usual proof may take. Small problems end long before the clock: what they say does not depend on it.
const USUAL_NODES: usize = 400;

/// The usual proof takes as long again as the fit, and this long at least.
const USUAL_TIME: Duration = Duration::from_secs(1);

/// Raises the bound of an answer that took `fit` so far, and takes over a better answer if one turns up; the error that kept branch
/// and bound from starting, if there was one.
pub(super) fn prove(
    problem: &Problem<'_>,
    first: &mut Solution,
    prove: Prove,
    fit: Duration,
    options: &Options,
    observer: &mut dyn Observer,
) -> Result<Option<Error>> {
    let left = options.time_limit;
    let within = |time: Duration| Some(left.map_or(time, |left| left.min(time)));
    let (time_limit, max_nodes) = match prove {
        Prove::No => return Ok(None),
        Prove::Usual => {
            let nodes = options.max_nodes.map_or(USUAL_NODES, |most| most.min(USUAL_NODES));
            (within(fit.max(USUAL_TIME)), Some(nodes))
        }
        Prove::For(time) => (within(time), options.max_nodes),
        Prove::Fully => (left, options.max_nodes),
    };
    let struck = time_limit.is_some_and(|t| t.is_zero()) || options.cancel.is_cancelled();
    let is_done = first.status == Status::Optimal && options.top == 1;
    if struck || is_done {
        return Ok(None);
    }
    let warm_start = Some(first.coefficients.clone());
    let settings = Options { method: Method::Exact, warm_start, time_limit, max_nodes, ..options.clone() };
    let mut proved = match solve_observed(problem, &settings, observer) {
        Ok(proved) => proved,
        // Where branch and bound cannot start, the answer has the bound it has.
        Err(error @ (Error::Unsupported { .. } | Error::Dependent { .. } | Error::Dependences { .. })) => {
            return Ok(Some(error));
        }
        Err(error) => return Err(error),
    };
    // What was set aside for the proof is no limit that the user gave.
    let own_time = proved.status == Status::TimeLimit && time_limit != left;
    let own_nodes = proved.status == Status::NodeLimit && max_nodes != options.max_nodes;
    if own_time || own_nodes {
        proved.status = first.status;
    }
    take(first, proved);
    Ok(None)
}

/// The better answer of the two with the better bound, and the traces one after the other.
fn take(first: &mut Solution, mut proved: Solution) {
    let shift = first.seconds;
    let mut trace = std::mem::take(&mut first.trace);
    let (mut best, mut bound) = (f64::INFINITY, f64::NEG_INFINITY);
    trace.extend(proved.trace.iter().map(|row| TraceRow { seconds: row.seconds + shift, ..*row }));
    for row in &mut trace {
        (best, bound) = (best.min(row.objective), bound.max(row.lower_bound));
        (row.objective, row.lower_bound, row.gap) = (best, bound, (best - bound).max(0.0));
    }
    if first.certificate.objective < proved.certificate.objective {
        proved.coefficients = first.coefficients.clone();
        proved.certificate.objective = first.certificate.objective;
    }
    let known = &first.certificate;
    proved.certificate.lower_bound = proved.certificate.lower_bound.max(known.lower_bound);
    proved.certificate.relaxation = proved.certificate.relaxation.or(known.relaxation);
    (proved.trace, proved.seconds, proved.passes) = (trace, shift + proved.seconds, first.passes + proved.passes);
    proved.local = proved.local.max(first.local);
    *first = proved;
}
