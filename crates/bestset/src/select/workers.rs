//! Parts of a selection that others may do: folds of a cross-validation and slices of a branch-and-bound tree, as texts.
//!
//! What a part is, and how its results are put together, is decided here; those who do the parts carry texts. The results have the same
//! bits wherever they are made, and whatever is lost on the way is made here.

use super::run::Run;
use super::{Folded, How, Posed, Selection};
use crate::Loss;
use crate::control::{Monitor, Observer, Options, on_threads};
use crate::cv::{FoldEnd, FoldFit};
use crate::error::{Error, Result};
use crate::exact::slices::{self, GrownSlice};
use crate::exact::{SavedTree, Tuning};
use crate::problem::Problem;
use crate::solution::{Solution, Status};
use serde::{Deserialize, Serialize};
use std::fmt::Debug;

/// Those who do parts of a selection: each part is a text for [`Posed::part`] of the same samples and settings, anywhere.
pub trait Workers: Debug + Send + Sync {
    /// The results, in the order of the parts. An error where they cannot be had.
    fn run(&self, parts: Vec<String>) -> Result<Vec<String>>;
}

/// What is asked for.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum Asked {
    /// The fold of this number.
    Fold(usize),
    /// A slice of the tree of the problem with this price or size, and this δ of Huber's loss: one that is estimated where the slice is grown may
    /// have other last digits, and bounds of another problem.
    Slice { lambda0: f64, lambda2: f64, k: Option<usize>, delta: Option<f64>, tree: Box<SavedTree> },
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

/// The results of the parts.
fn ask(workers: &dyn Workers, parts: &[Asked]) -> Result<Vec<Done>> {
    let found = workers.run(parts.iter().map(text).collect::<Result<Vec<String>>>()?)?;
    if found.len() != parts.len() {
        return Err(misread(&format!("{} results of {} parts came back", found.len(), parts.len())));
    }
    found.iter().map(|done| serde_json::from_str(done).map_err(|e| misread(&e.to_string()))).collect()
}

/// The folds that workers have done, by their number; those that are missing are to be done here.
pub(super) fn folds(workers: &dyn Workers, count: usize) -> Vec<Option<FoldFit>> {
    let parts: Vec<Asked> = (0..count).map(Asked::Fold).collect();
    let found = ask(workers, &parts).unwrap_or_default();
    let mut fits: Vec<Option<FoldFit>> =
        found.into_iter().map(|done| if let Done::Fold(fit) = done { Some(fit) } else { None }).collect();
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
    let grow = |trees: Vec<SavedTree>| {
        let slice = |tree| Asked::Slice { lambda0, lambda2, k, delta, tree: Box::new(tree) };
        let parts: Vec<Asked> = trees.into_iter().map(slice).collect();
        let slices = ask(workers, &parts)?.into_iter().map(|done| match done {
            Done::Slice(grown) => Ok(*grown),
            Done::Fold(_) | Done::Cut(..) => Err(misread("a fold came back for a slice of a tree")),
        });
        slices.collect::<Result<Vec<GrownSlice>>>()
    };
    crate::solve::solve_in_slices(problem, options, observer, &grow)
}

impl Posed<'_> {
    /// A part of a selection with these settings, from one of the texts that [`Workers`] are given.
    pub fn part(&self, options: &Selection, asked: &str) -> Result<String> {
        let asked: Asked = serde_json::from_str(asked).map_err(|e| misread(&e.to_string()))?;
        let done = match (asked, &options.how) {
            (Asked::Fold(number), How::CrossValidation(folded)) => self.fold(options, folded, number)?,
            (Asked::Fold(_), _) => return Err(misread("a fold is asked for where nothing is cross-validated")),
            (Asked::Slice { lambda0, lambda2, k, delta, tree }, _) => {
                let problem = match k {
                    Some(k) => self.limited(k, lambda2)?,
                    None => self.priced(lambda0, lambda2)?,
                };
                let problem = match delta {
                    Some(delta) => problem.with_loss(Loss::Huber { delta })?,
                    None => problem,
                };
                let solve = Options { time_limit: None, trace: false, top: 1, ..options.solve.clone() };
                let mut observer = ();
                let mut monitor = Monitor::new(&solve, &mut observer);
                let grown = on_threads(solve.threads, || {
                    slices::grow_slice(&problem, &solve, &mut monitor, *tree, Tuning::default())
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
