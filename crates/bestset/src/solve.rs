//! One way to solve a problem: [`solve`].

use crate::certificate::Certificate;
use crate::control::{Method, Monitor, Observer, Options, SoFar, on_threads};
use crate::error::{Error, Result};
use crate::kept_out::Rest;
use crate::problem::Problem;
use crate::relaxation::workspace::Workspace;
use crate::snapshot::{Journal, misfit};
use crate::solution::{Coefficients, Solution, Status};
use crate::solver::incremental::Root;
use crate::solver::{Outcome, incremental, published};
use crate::{enumerate, exact, leaps, slight, wide};
use serde::{Deserialize, Serialize};

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

/// As [`solve_observed`], in turns: the default method leaves the root that it ends with, and branch and bound grows from it.
pub(crate) fn solve_rooted(
    problem: &Problem<'_>,
    options: &Options,
    observer: &mut dyn Observer,
    root: &mut Option<Root>,
) -> Result<Solution> {
    if let Some(rest) = rest(problem, options)? {
        return rest.solved(problem, options, |rest, options| solve_kept(rest, options, observer, None));
    }
    let mut monitor = Monitor::new(options, observer);
    let found = run(problem, options, &mut monitor, None, Some(root));
    ended(problem, monitor, found.and_then(|outcome| outcome.certified(problem, options)))
}

/// As [`solve`] with [`Method::Exact`], by looking at all subsets, whatever else could prove them and however many there are.
pub fn solve_by_enumeration(problem: &Problem<'_>, options: &Options) -> Result<Solution> {
    let (options, mut observer) = (Options { method: Method::Exact, ..options.clone() }, ());
    options.validate_ranges(problem)?;
    let mut monitor = Monitor::new(&options, &mut observer);
    let outcome = on_threads(options.threads, || enumerate::solve(problem, &options, &mut monitor))?;
    finish(problem, &options, monitor, outcome)
}

/// As [`solve`], an error also where columns could not be read after an answer was found: for fits that are part of something else.
pub(crate) fn solve_whole(problem: &Problem<'_>, options: &Options) -> Result<Solution> {
    let mut observer = ();
    let mut monitor = Monitor::new(options, &mut observer);
    match run(problem, options, &mut monitor, None, None) {
        Ok(outcome) => finish(problem, options, monitor, outcome),
        Err(Error::Stopped) => rescued(problem, monitor, Error::Stopped),
        Err(error) => Err(error),
    }
}

/// As [`solve`] with [`Method::Exact`], the tree of branch and bound grown in slices; other searches, and those for runners-up, as they are.
pub(crate) fn solve_in_slices(
    problem: &Problem<'_>,
    options: &Options,
    observer: &mut dyn Observer,
    grow: exact::slices::GrowSlices<'_>,
) -> Result<Solution> {
    let is_other = leaps::is_needed(problem) || enumerate::is_needed(problem) || options.top > 1;
    if is_other || !problem.penalty().has_certificate(problem.ncols()) {
        return solve_observed(problem, options, observer);
    }
    let mut monitor = Monitor::new(options, observer);
    options.validate(problem)?;
    monitor.so_far.most = problem.max_size().unwrap_or(usize::MAX);
    let grown = exact::slices::solve(problem, options, &mut monitor, grow, exact::Tuning::default());
    let polished = grown.and_then(|outcome| outcome.pruned(problem, &monitor)?.polished(problem, &monitor));
    ended(problem, monitor, polished.and_then(|outcome| outcome.certified(problem, options)))
}

/// As [`solve_observed`]; branch and bound goes on from the journal and keeps it up to date.
pub(crate) fn solve_kept(
    problem: &Problem<'_>,
    options: &Options,
    observer: &mut dyn Observer,
    journal: Option<&mut Journal<'_, Saved>>,
) -> Result<Solution> {
    if let Some(rest) = rest(problem, options)? {
        return rest.solved(problem, options, |rest, options| solve_kept(rest, options, observer, journal));
    }
    let mut monitor = Monitor::new(options, observer);
    let found =
        run(problem, options, &mut monitor, journal, None).and_then(|outcome| outcome.certified(problem, options));
    ended(problem, monitor, found)
}

/// The features that may be in, where a proof is asked for which others are in the way of.
fn rest<'r>(problem: &'r Problem<'_>, options: &Options) -> Result<Option<Rest<'r>>> {
    if options.method == Method::Exact { Rest::new(problem) } else { Ok(None) }
}

fn run(
    problem: &Problem<'_>,
    options: &Options,
    monitor: &mut Monitor<'_>,
    journal: Option<&mut Journal<'_, Saved>>,
    root: Option<&mut Option<Root>>,
) -> Result<Outcome> {
    options.validate(problem)?;
    let is_published = !matches!(options.method, Method::Incremental | Method::Exact);
    if is_published && problem.mu() == 0.0 {
        let reason =
            "needs a loss of bounded curvature; the Poisson and Gamma losses have the methods incremental and exact";
        return Err(Error::Unsupported { method: options.method.name(), reason });
    }
    monitor.so_far.most = problem.max_size().unwrap_or(usize::MAX);
    on_threads(options.threads, || {
        let found = match options.method {
            Method::Incremental => search(problem, options, monitor, root),
            Method::Exact => prove(problem, options, monitor, journal, root.and_then(Option::take)),
            Method::PrimalDual { dynamic: true } => published::dynamic::solve(problem, options, monitor),
            Method::PrimalDual { dynamic: false } => published::primal_dual::solve(problem, options, monitor, true),
            Method::DualAscent => published::primal_dual::solve(problem, options, monitor, false),
            Method::DualIht => published::dual_iht::solve(problem, options, monitor),
            Method::Cdss => published::cdss::solve(problem, options, monitor),
        };
        // Published algorithms end where they end.
        let found = if is_published { found? } else { found?.pruned(problem, monitor)? };
        found.polished(problem, monitor)
    })
}

/// The default method; a root that no limit cut short is left where there is a place for it.
fn search(
    problem: &Problem<'_>,
    options: &Options,
    monitor: &mut Monitor<'_>,
    place: Option<&mut Option<Root>>,
) -> Result<Outcome> {
    let Some(place) = place else { return incremental::solve(problem, options, monitor) };
    let root = incremental::root(&mut Workspace::new(problem).within(options.memory()), options, monitor)?;
    let outcome = root.outcome.clone();
    *place = Some(root).filter(|root| root.outcome.ended == Status::Converged);
    Ok(outcome)
}

/// The solution, or what is [`rescued`] of it. One that was cut short and has no bound above zero takes the last that was proved or, where
/// there was none, that of the null model's dual point, if it is a moment's work.
fn ended(problem: &Problem<'_>, monitor: Monitor<'_>, found: Result<Solution>) -> Result<Solution> {
    let SoFar { lower_bound, dual, .. } = monitor.so_far.clone();
    let mut solution = match found {
        Ok(solution) => concluded(solution, monitor),
        Err(error) => rescued(problem, monitor, error)?,
    };
    let was_cut = matches!(solution.status, Status::Interrupted | Status::TimeLimit);
    if was_cut && solution.certificate.lower_bound <= 0.0 {
        let known = (lower_bound > 0.0).then_some((lower_bound, dual));
        // Columns that cannot be read now take nothing away from what there is.
        let bound = known.or_else(|| problem.bound_after_a_stop().ok().flatten()).filter(|(bound, _)| *bound > 0.0);
        if let Some((bound, dual)) = bound {
            let Certificate { objective, relaxation, .. } = solution.certificate;
            (solution.certificate, solution.dual) = (Certificate::new(objective, relaxation, bound), dual);
        }
    }
    Ok(solution)
}

/// What there was when columns could not be read, or when a limit struck in the middle of a pass: the best answer and the last bound
/// proved. An error without an answer; of a limit the null model is one.
pub(crate) fn rescued(problem: &Problem<'_>, monitor: Monitor<'_>, error: Error) -> Result<Solution> {
    let (status, cause) = match error {
        Error::Stopped => (monitor.stop(0).unwrap_or(Status::Interrupted), None),
        error if error.is_of_reading() && monitor.so_far.answer.is_some() => {
            (Status::ReadFailed, Some(error.to_string()))
        }
        error => return Err(error),
    };
    let SoFar { answer, lower_bound, mut dual, .. } = monitor.so_far.clone();
    let null = || {
        let u = problem.null_margins();
        let intercept = problem.best_intercept(&u, 0.0);
        (problem.loss_sum(&u, intercept), Coefficients { intercept, ..Coefficients::default() })
    };
    let (objective, coefficients) = answer.unwrap_or_else(null);
    dual.resize(problem.nrows(), 0.0);
    // Where nothing is proved yet, P is at least 0.
    let certificate = Certificate::new(objective, None, lower_bound.max(0.0));
    Ok(concluded(Solution { cause, ..Solution::new(coefficients, certificate, status, dual) }, monitor))
}

/// The state of one of the two searches that end with a proof.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Saved {
    /// Branch and bound on the relaxation.
    Tree(Box<exact::SavedTree>),
    /// Leaps and bounds.
    Leaps(Box<leaps::SavedLeaps>),
}

/// Leaps and bounds, or a look at all subsets, where nothing else has a bound; branch and bound on the relaxation elsewhere.
fn prove(
    problem: &Problem<'_>,
    options: &Options,
    monitor: &mut Monitor<'_>,
    journal: Option<&mut Journal<'_, Saved>>,
    root: Option<Root>,
) -> Result<Outcome> {
    let (is_least_squares, is_small) = (leaps::is_needed(problem), enumerate::is_needed(problem));
    let has_other_way = check_searchable(problem).is_ok();
    let looks = journal.is_none() && wide::applies(problem, options) && (!has_other_way || wide::is_quick(problem));
    let seen = if looks { wide::look(problem, options, monitor)? } else { None };
    if let Some(seen) = &seen
        && (!has_other_way || wide::is_proved(problem, options, seen)?)
    {
        return Ok(seen.clone());
    }
    check_searchable(problem)?;
    if !is_least_squares && is_small {
        return match journal {
            None => wide::better_of(problem, enumerate::solve(problem, options, monitor)?, seen),
            Some(_) => Err(Error::Unused {
                setting: "a checkpoint".to_owned(),
                place: "where all subsets of a size are looked at",
                advice: "it takes minutes at most; leave it out, or set lambda2 > 0 for branch and bound",
            }),
        };
    }
    let Some(Journal { start, keep }) = journal else {
        return match is_least_squares {
            true => wide::better_of(problem, slight::solve(problem, options, monitor)?, seen),
            false => prove_size(problem, options, monitor, root),
        };
    };
    match (is_least_squares, start.take()) {
        (true, Some(Saved::Tree(_))) | (false, Some(Saved::Leaps(_))) => Err(misfit()),
        (true, start) => {
            let start = start.and_then(|s| if let Saved::Leaps(saved) = s { Some(*saved) } else { None });
            let mut keep = |state: &dyn Fn() -> leaps::SavedLeaps| keep(&|| Saved::Leaps(Box::new(state())));
            leaps::solve(problem, options, monitor, Some(&mut Journal { start, keep: &mut keep }))
        }
        (false, start) => {
            let start = start.and_then(|s| if let Saved::Tree(saved) = s { Some(*saved) } else { None });
            let mut keep = |state: &dyn Fn() -> exact::SavedTree| keep(&|| Saved::Tree(Box::new(state())));
            exact::solve(problem, options, monitor, Some(&mut Journal { start, keep: &mut keep }), root)
        }
    }
}

/// Whether a search, rather than one look, can prove the problem; the error names the sizes for which one can.
pub(crate) fn check_searchable(problem: &Problem<'_>) -> Result<()> {
    let has_bound = problem.penalty().has_certificate(problem.ncols());
    if has_bound || leaps::is_needed(problem) || enumerate::is_needed(problem) {
        return Ok(());
    }
    let most = leaps::largest_size(problem).max(enumerate::largest_size(problem));
    Err(Error::TooWide { samples: problem.nrows(), features: problem.ncols(), most })
}

/// Branch and bound and, where that has not proved a small size among many columns by the time in which all subsets could be looked
/// at, that look. What is proved within these nodes is the same as without it.
fn prove_size(
    problem: &Problem<'_>,
    options: &Options,
    monitor: &mut Monitor<'_>,
    root: Option<Root>,
) -> Result<Outcome> {
    let nodes = enumerate::nodes_before(problem).filter(|nodes| options.max_nodes.is_none_or(|most| most > *nodes));
    let Some(nodes) = nodes else { return exact::solve(problem, options, monitor, None, root) };
    let tree = exact::solve(problem, &Options { max_nodes: Some(nodes), ..options.clone() }, monitor, None, root)?;
    if tree.ended != Status::NodeLimit {
        return Ok(tree);
    }
    let max_nodes = options.max_nodes.map(|most| most.saturating_sub(tree.iterations).max(1));
    let warm_start = Some(tree.coefficients.clone());
    let looked = match enumerate::solve(problem, &Options { max_nodes, warm_start, ..options.clone() }, monitor) {
        Ok(looked) => looked,
        // Columns that are told apart by the ridge alone.
        Err(Error::Dependent { .. }) => return exact::solve(problem, options, monitor, None, None),
        Err(error) => return Err(error),
    };
    let (lower_bound, iterations) =
        (looked.lower_bound.max(tree.lower_bound), looked.iterations.saturating_add(tree.iterations));
    let is_worse = problem.value(&tree.coefficients)? < problem.value(&looked.coefficients)?;
    let best = if is_worse { Outcome { ended: looked.ended, ..tree.clone() } } else { looked };
    Ok(Outcome { lower_bound, iterations, dual: tree.dual, screened: tree.screened, ..best })
}

impl Options {
    /// Checks every field against its range and the method against the problem.
    pub fn validate(&self, problem: &Problem<'_>) -> Result<()> {
        self.validate_ranges(problem)?;
        self.validate_method(problem)
    }

    fn validate_method(&self, problem: &Problem<'_>) -> Result<()> {
        let method = self.method.name();
        if problem.classes() > 1 && problem.max_size().is_some() {
            let reason = "has features of several columns: sizes are those of solve_groups with Groups::per_class";
            return Err(Error::Unsupported { method: problem.loss().name(), reason });
        }
        if self.method == Method::Exact && (leaps::is_plain(problem) || enumerate::is_needed(problem)) {
            return Ok(());
        }
        if problem.coupled().is_some() && !matches!(self.method, Method::Incremental | Method::Exact) {
            return Err(Error::Unsupported { method, reason: "needs a loss that is a sum over samples" });
        }
        let needs_dual =
            matches!(self.method, Method::Exact | Method::PrimalDual { .. } | Method::DualAscent | Method::DualIht);
        if needs_dual && !problem.penalty().has_certificate(problem.ncols()) {
            let reason = match self.method {
                Method::Exact => {
                    "needs lambda2 > 0, bounds on every coefficient, or least squares without lambda1 and factors"
                }
                _ => "needs lambda2 > 0 or bounds on every coefficient",
            };
            return Err(Error::Unsupported { method, reason });
        }
        match (self.method, problem.max_size()) {
            (Method::DualIht, None) => Err(Error::Unsupported { method, reason: "needs a largest size k" }),
            (Method::DualIht | Method::Exact, Some(_)) => Ok(()),
            (_, Some(_)) => Err(Error::Unsupported { method, reason: "cannot limit the size; use dual_iht or exact" }),
            _ => Ok(()),
        }
    }
}

fn finish(problem: &Problem<'_>, options: &Options, monitor: Monitor<'_>, outcome: Outcome) -> Result<Solution> {
    Ok(concluded(outcome.certified(problem, options)?, monitor))
}

/// With what the monitor knows.
fn concluded(solution: Solution, mut monitor: Monitor<'_>) -> Solution {
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
