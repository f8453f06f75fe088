//! An answer with all that led to it.

use super::pose::with_names;
use super::{Posed, Session};
use crate::args::Terms;
use crate::exit::Failure;
use bestset::cv::CrossValidation;
use bestset::groups::{Groups, solve_groups};
use bestset::path::Path;
use bestset::sizes::sizes;
use bestset::solver::solve_observed;
use bestset::{Coefficients, Method, Options, Problem, Solution, Status, TraceRow, checkpoint};
use std::time::Duration;

/// A solution on both scales.
pub struct Answer {
    pub method: Method,
    pub terms: Terms,
    /// On the scale inside.
    pub solution: Solution,
    /// On the scale of the file.
    pub coefficients: Coefficients,
    /// How λ0 was chosen.
    pub chosen: Option<Chosen>,
    /// Why branch and bound could not raise the bound, if it was asked to.
    pub unproved: Option<String>,
}

/// A path from which the answer was chosen.
pub struct Chosen {
    pub path: Path,
    /// Position of the answer.
    pub point: usize,
    /// By what.
    pub by: By,
}

/// What chose a point of a path.
pub enum By {
    /// A criterion with its values.
    Criterion { title: &'static str, higher_is_better: bool, values: Vec<f64> },
    /// Scores on samples left out.
    CrossValidation {
        found: Box<CrossValidation>,
        metric: &'static str,
        higher_is_better: bool,
        folds: String,
        rule: &'static str,
    },
}

impl Chosen {
    /// In words.
    pub fn describe(&self) -> String {
        let points = self.path.points.len();
        match &self.by {
            By::Criterion { title, .. } => format!("lambda0 chosen by {title} along a path of {points} points"),
            By::CrossValidation { metric, folds, rule, .. } => {
                format!(
                    "lambda0 chosen by cross-validation ({metric}, {folds}, rule {rule}) along a path of {points} points"
                )
            }
        }
    }
}

impl Answer {
    pub fn new(posed: &Posed<'_>, method: Method, terms: Terms, solution: Solution) -> Self {
        let coefficients = posed.outside(&solution.coefficients);
        Self { method, terms, solution, coefficients, chosen: None, unproved: None }
    }
}

/// Solves the problem at one λ0.
pub fn at_price(
    posed: &Posed<'_>,
    lambda0: f64,
    start: Option<Coefficients>,
    session: &Session<'_>,
) -> Result<Answer, Failure> {
    let problem = posed.priced(lambda0)?;
    let terms = posed.terms(lambda0, None);
    session.progress.start("solving");
    if let Some(labels) = posed.data.groups() {
        let options = Options { warm_start: start, ..session.options(Method::Incremental) };
        let solution = grouped(&problem, &Groups::new(&labels), &options)?;
        return Ok(Answer::new(posed, Method::Incremental, terms, solution));
    }
    let options = Options { trace: true, warm_start: start, ..session.options(Method::Incremental) };
    let solution = observed(&problem, &options, session)?;
    Ok(Answer::new(posed, Method::Incremental, terms, solution))
}

/// Solves with the state shown as it moves.
pub fn observed(problem: &Problem<'_>, options: &Options, session: &Session<'_>) -> Result<Solution, Failure> {
    Ok(solve_observed(problem, options, &mut |row: &TraceRow| show(row, options.method, session))?)
}

/// Branch and bound that a file keeps.
pub fn kept(
    problem: &Problem<'_>,
    options: &Options,
    file: &std::path::Path,
    session: &Session<'_>,
) -> Result<Solution, Failure> {
    let mut show = |row: &TraceRow| show(row, options.method, session);
    Ok(checkpoint::exact_observed(problem, options, file, &mut show)?)
}

fn show(row: &TraceRow, method: Method, session: &Session<'_>) {
    let (p, d) = (crate::output::number(row.objective), crate::output::number(row.lower_bound));
    session.progress.say(format!("{}: P {p}, bound {d}, {} features", method.name(), row.support));
}

fn grouped(problem: &Problem<'_>, groups: &Groups, options: &Options) -> Result<Solution, Failure> {
    let start = std::time::Instant::now();
    let found = solve_groups(problem, groups, options)?;
    Ok(Solution {
        coefficients: found.coefficients,
        certificate: found.certificate,
        status: found.status,
        dual: found.dual,
        iterations: 0,
        passes: 0.0,
        seconds: start.elapsed().as_secs_f64(),
        screened: Default::default(),
        local: Default::default(),
        rule: None,
        trace: Vec::new(),
        ranked: Vec::new(),
        dependent: Vec::new(),
    })
}

/// The best found with at most k features.
pub fn at_size(posed: &Posed<'_>, k: usize, session: &Session<'_>) -> Result<Answer, Failure> {
    refuse_groups(posed, "a largest number of features")?;
    session.progress.start(format!("looking for the best {k} features"));
    let start = std::time::Instant::now();
    let found = sizes(&posed.problem, &[k], &session.options(Method::Incremental))?;
    let Some(mut solution) = found.solutions.into_iter().next() else {
        return Err(Failure::Usage("no size was asked for"));
    };
    solution.seconds = start.elapsed().as_secs_f64();
    Ok(Answer::new(posed, Method::Incremental, posed.terms(0.0, Some(k)), solution))
}

/// Categories that are chosen as a whole are not for every command.
pub fn refuse_groups(posed: &Posed<'_>, what: &str) -> Result<(), Failure> {
    if posed.data.groups().is_none() {
        return Ok(());
    }
    let widest = posed.data.set.categories.iter().max_by_key(|c| c.levels.len());
    let (column, levels) = widest.map_or(("", 0), |c| (c.column.as_str(), c.levels.len() + 1));
    Err(Failure::Message(format!(
        "category {column:?} with {levels} levels would be chosen as a whole, which {what} cannot do: \
         give --no-groups to let each level be chosen alone, or use fit, path, cv or report"
    )))
}

/// Raises the bound of an answer by branch and bound, for so long.
pub fn prove(posed: &Posed<'_>, answer: &mut Answer, time: Duration, session: &Session<'_>) -> Result<(), Failure> {
    let open = answer.solution.status != bestset::Status::Optimal && posed.data.groups().is_none();
    if !open || time.is_zero() || session.cancel.is_cancelled() {
        return Ok(());
    }
    let problem = posed.priced(answer.terms.lambda0)?;
    let problem = match answer.terms.k {
        Some(k) => problem.with_max_size(k)?,
        None => problem,
    };
    let limit = session.clock.left().map_or(time, |left| left.min(time));
    let start = Some(answer.solution.coefficients.clone());
    let options = Options { trace: true, warm_start: start, time_limit: Some(limit), ..session.options(Method::Exact) };
    session.progress.start("proving");
    let mut proved = match observed(&problem, &options, session) {
        Ok(proved) => proved,
        // Where branch and bound cannot start, the answer has the bound it has.
        Err(
            failure @ Failure::Problem(
                bestset::Error::Unsupported { .. }
                | bestset::Error::Dependent { .. }
                | bestset::Error::Dependences { .. },
            ),
        ) => {
            answer.unproved = Some(format!("Not proved: {}.", with_names(failure, posed.data)));
            return Ok(());
        }
        Err(failure) => return Err(failure),
    };
    if proved.status == Status::TimeLimit && session.clock.left().is_none_or(|left| !left.is_zero()) {
        // The time set aside for the proof is over, which is no limit that the user gave.
        proved.status = answer.solution.status;
    }
    take(posed, answer, proved);
    Ok(())
}

/// The better answer of the two with the better bound, and the traces one after the other.
fn take(posed: &Posed<'_>, answer: &mut Answer, proved: Solution) {
    let first = answer.solution.clone();
    let (shift, mut solution) = (first.seconds, proved);
    let mut trace = first.trace.clone();
    let (mut best, mut bound) = (f64::INFINITY, f64::NEG_INFINITY);
    trace.extend(solution.trace.iter().map(|row| TraceRow { seconds: row.seconds + shift, ..*row }));
    for row in &mut trace {
        (best, bound) = (best.min(row.objective), bound.max(row.lower_bound));
        (row.objective, row.lower_bound, row.gap) = (best, bound, (best - bound).max(0.0));
    }
    if first.certificate.objective < solution.certificate.objective {
        (solution.coefficients, solution.certificate.objective) = (first.coefficients, first.certificate.objective);
    }
    solution.certificate.lower_bound = solution.certificate.lower_bound.max(first.certificate.lower_bound);
    solution.certificate.relaxation = solution.certificate.relaxation.or(first.certificate.relaxation);
    (solution.trace, solution.seconds) = (trace, shift + solution.seconds);
    solution.local = solution.local.max(first.local);
    answer.coefficients = posed.outside(&solution.coefficients);
    (answer.solution, answer.method) = (solution, Method::Exact);
}
