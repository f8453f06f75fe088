//! Parts of a selection that others may do: folds of a cross-validation and slices of a branch-and-bound tree, as texts.
//!
//! What a part is, and how its results are put together, is decided here; those who do the parts carry texts. The results have the same
//! bits wherever they are made, and whatever is lost on the way is made here.

use super::run::Run;
use super::{Folded, How, Posed, Selection, Setup};
use crate::Loss;
use crate::control::{Monitor, Observer, Options, on_threads};
use crate::cv::{FoldEnd, FoldFit};
use crate::error::{Error, Result};
use crate::exact::slices::{self, GrownSlice, Round};
use crate::exact::{SavedTree, Tuning};
use crate::problem::Problem;
use crate::solution::{Solution, Status};
use serde::{Deserialize, Serialize};
use std::fmt::Debug;
use std::time::{Duration, Instant};

/// Those who do parts of a selection: each part is a text for [`Posed::part`] of the same samples and settings, anywhere.
pub trait Workers: Debug + Send + Sync {
    /// The results, in the order of the parts; nothing in the place of those that are not there by `until`, or when the selection is
    /// cancelled: nobody waits for them any longer. An error where they cannot be had.
    fn run(&self, parts: Vec<String>, until: Option<Instant>) -> Result<Vec<Option<String>>>;
}

/// What is asked for.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum Asked {
    /// The fold of this number, in so many seconds.
    Fold { number: usize, delta: Option<f64>, seconds: Option<f64> },
    /// A slice of the tree of the problem with this price or size, to which so many nodes are added, in so many seconds.
    Slice {
        lambda0: f64,
        lambda2: f64,
        k: Option<usize>,
        delta: Option<f64>,
        nodes: usize,
        seconds: Option<f64>,
        tree: Box<SavedTree>,
    },
}

impl Asked {
    fn read(text: &str) -> Result<Self> {
        serde_json::from_str(text).map_err(|e| misread(&e.to_string()))
    }

    /// δ of Huber's loss in the units of y: to estimate it anew takes long, and one with other last digits would be another problem.
    fn delta(&self) -> Option<f64> {
        match self {
            Self::Fold { delta, .. } | Self::Slice { delta, .. } => *delta,
        }
    }
}

/// What is left until then, in seconds: a worker that nobody waits for any longer is soon free for others.
fn seconds_until(until: Option<Instant>) -> Option<f64> {
    until.map(|until| until.saturating_duration_since(Instant::now()).as_secs_f64())
}

fn limit(seconds: Option<f64>) -> Option<Duration> {
    // Beyond what a duration can hold is as good as no limit.
    seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
}

/// What comes back.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum Done {
    Fold(FoldFit),
    /// A fold that was cut short.
    Cut(Status, Option<String>),
    Slice(Box<GrownSlice>),
}

fn text(part: &impl Serialize) -> Result<String> {
    serde_json::to_string(part).map_err(|e| misread(&e.to_string()))
}

fn misread(reason: &str) -> Error {
    Error::Read { what: "the workers".into(), place: "a part of the work".into(), reason: reason.to_owned() }
}

/// The results of the parts, as far as there are any by then.
fn ask(workers: &dyn Workers, parts: &[Asked], until: Option<Instant>) -> Result<Vec<Option<Done>>> {
    let found = workers.run(parts.iter().map(text).collect::<Result<Vec<String>>>()?, until)?;
    if found.len() != parts.len() {
        return Err(misread(&format!("{} results of {} parts came back", found.len(), parts.len())));
    }
    let read = |done: Option<String>| done.map(|text| serde_json::from_str(&text)).transpose();
    found.into_iter().map(|done| read(done).map_err(|e| misread(&e.to_string()))).collect()
}

/// The folds that workers have done by then, by their number; those that are missing are to be done here.
pub(super) fn folds(
    workers: &dyn Workers,
    problem: &Problem<'_>,
    count: usize,
    until: Option<Instant>,
) -> Vec<Option<FoldFit>> {
    let (delta, seconds) = (problem.loss().delta(), seconds_until(until));
    let parts: Vec<Asked> = (0..count).map(|number| Asked::Fold { number, delta, seconds }).collect();
    let found = ask(workers, &parts, until).unwrap_or_default();
    let mut fits: Vec<Option<FoldFit>> =
        found.into_iter().map(|done| if let Some(Done::Fold(fit)) = done { Some(fit) } else { None }).collect();
    fits.resize_with(count, || None);
    fits
}

/// As [`solve_observed`](crate::solve_observed) with branch and bound, its tree grown in slices by the workers once it is no small one.
pub(super) fn prove(
    problem: &Problem<'_>,
    options: &Options,
    workers: &dyn Workers,
    observer: &mut dyn Observer,
) -> Result<Solution> {
    let penalty = problem.penalty();
    let (lambda0, lambda2, k, delta) = (penalty.lambda0, penalty.lambda2, problem.max_size(), problem.loss().delta());
    let grow = |trees: Vec<SavedTree>, round: Round| {
        let (nodes, seconds) = (round.nodes, seconds_until(round.until));
        let slice = |tree| Asked::Slice { lambda0, lambda2, k, delta, nodes, seconds, tree: Box::new(tree) };
        let parts: Vec<Asked> = trees.into_iter().map(slice).collect();
        let slices = ask(workers, &parts, round.until)?.into_iter().map(|done| match done {
            Some(Done::Slice(grown)) => Ok(Some(*grown)),
            None => Ok(None),
            Some(Done::Fold(_) | Done::Cut(..)) => Err(misread("a fold came back for a slice of a tree")),
        });
        slices.collect::<Result<Vec<Option<GrownSlice>>>>()
    };
    crate::solve::solve_in_slices(problem, options, observer, &grow)
}

impl Setup {
    /// The same for a part of a selection, which has the δ that the others have.
    pub fn of_part(&self, asked: &str) -> Result<Self> {
        Ok(match Asked::read(asked)?.delta() {
            Some(delta) => Self { loss: Loss::Huber { delta }, delta_in_spreads: false, ..self.clone() },
            None => self.clone(),
        })
    }
}

impl Posed<'_> {
    /// A part of a selection with these settings, from one of the texts that [`Workers`] are given; posed by [`Setup::of_part`].
    pub fn part(&self, options: &Selection, asked: &str) -> Result<String> {
        let asked = Asked::read(asked)?;
        if asked.delta() != self.problem.loss().delta() {
            return Err(misread("its delta is not that of the problem posed"));
        }
        let done = match (asked, &options.how) {
            (Asked::Fold { number, seconds, .. }, How::CrossValidation(folded)) => {
                let solve = Options { time_limit: limit(seconds), ..options.solve.clone() };
                self.fold(&Selection { solve, ..options.clone() }, folded, number)?
            }
            (Asked::Fold { .. }, _) => return Err(misread("a fold is asked for where nothing is cross-validated")),
            (Asked::Slice { lambda0, lambda2, k, nodes, seconds, tree, .. }, _) => {
                let problem = match k {
                    Some(k) => self.limited(k, lambda2)?,
                    None => self.priced(lambda0, lambda2)?,
                };
                let solve = Options { time_limit: limit(seconds), trace: false, top: 1, ..options.solve.clone() };
                let mut observer = ();
                let mut monitor = Monitor::new(&solve, &mut observer);
                let grown = on_threads(solve.threads, || {
                    slices::grow_slice(&problem, &solve, &mut monitor, *tree, nodes, Tuning::default())
                })?;
                Done::Slice(Box::new(grown))
            }
        };
        text(&done)
    }

    fn fold(&self, options: &Selection, folded: &Folded, number: usize) -> Result<Done> {
        let run = Run::new(self, options, &|_| ());
        Ok(match run.fold(folded, number)? {
            FoldEnd::Done(fit) => Done::Fold(fit),
            FoldEnd::Cut { status, cause } => Done::Cut(status, cause),
        })
    }
}
