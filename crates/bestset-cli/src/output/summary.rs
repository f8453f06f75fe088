//! A solution as JSON: flat, so that scripts find `lower_bound` and `objective` at once.

use bestset::{Coefficients, Local, Method, Screened, Solution, Status, StopRule, TraceRow};
use serde::Serialize;

/// The numbers of a solution. Values that are not finite become `null`.
#[derive(Debug, Serialize)]
pub struct Summary<'a> {
    method: &'static str,
    status: Status,
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<StopRule>,
    objective: f64,
    relaxation: Option<f64>,
    lower_bound: f64,
    gap: f64,
    relative_gap: f64,
    relaxation_gap: Option<f64>,
    nonzeros: usize,
    iterations: usize,
    passes: f64,
    seconds: f64,
    screened: Screened,
    local: Local,
    coefficients: &'a Coefficients,
    #[serde(skip_serializing_if = "Option::is_none")]
    trace: Option<&'a [TraceRow]>,
}

impl<'a> Summary<'a> {
    /// The summary, with the trace if asked for.
    pub fn new(method: Method, solution: &'a Solution, with_trace: bool) -> Self {
        let certificate = &solution.certificate;
        Self {
            method: method.name(),
            status: solution.status,
            rule: solution.rule,
            objective: certificate.objective,
            relaxation: certificate.relaxation,
            // Plus zero: the trivial bound may be a negative zero.
            lower_bound: certificate.lower_bound + 0.0,
            gap: certificate.gap(),
            relative_gap: certificate.relative_gap(),
            relaxation_gap: certificate.relaxation_gap(),
            nonzeros: solution.coefficients.nonzeros(),
            iterations: solution.iterations,
            passes: solution.passes,
            seconds: solution.seconds,
            screened: solution.screened,
            local: solution.local,
            coefficients: &solution.coefficients,
            trace: with_trace.then_some(solution.trace.as_slice()),
        }
    }
}
