//! Cross-validation: the λ that predict best samples left out of the fit.
//!
//! The path of all samples gives the grid. Every fold is fitted on the same grid, its λ scaled by the share of the weight
//! that is left, since losses are summed (MATH §1): the penalty per sample is the same. Samples left out have weight zero,
//! so that any design serves, and a weighted problem is the problem with repeated rows.

mod folds;
mod score;
mod stability;

pub use folds::Folds;
pub use score::Score;
pub use stability::{Stability, StabilityOptions, stability};

use crate::error::{Error, Result};
use crate::path::{Grid, Path, PathOptions, Point, path};
use crate::problem::Problem;
use crate::solution::Status;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::time::Instant;

/// Settings of a cross-validation.
///
/// | field | default | purpose |
/// |---|---|---|
/// | `path` | the defaults of paths | grid and tolerances; time limit of the whole, cancellation |
/// | `folds` | ten random parts | what is left out together |
/// | `score` | squared error or deviance | what is best |
/// | `seed` | 0 | the division, nothing else |
#[derive(Debug, Clone, Default)]
pub struct CvOptions {
    /// The path.
    pub path: PathOptions,
    /// The parts.
    pub folds: Folds,
    /// The score; `None` for the usual one of the loss.
    pub score: Option<Score>,
    /// Seed of the division.
    pub seed: u64,
}

/// The score of one point of the path.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PointScore {
    /// Mean over the folds, each with the weight of its samples.
    pub mean: f64,
    /// Standard error of the mean.
    pub standard_error: f64,
    /// The score in each fold done.
    pub folds: Vec<f64>,
}

/// One division of the samples, in any overlap: a sample listed twice for the fit counts twice in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Split {
    /// The samples of the fit.
    pub train: Vec<usize>,
    /// The samples it predicts.
    pub test: Vec<usize>,
}

/// What cross-validation found.
#[derive(Debug, Clone, PartialEq)]
pub struct CrossValidation {
    /// The path of all samples, each point with its certificate.
    pub path: Path,
    /// The score at each point.
    pub scores: Vec<PointScore>,
    /// The point with the best mean.
    pub best: usize,
    /// The point with the fewest features whose mean is within one standard error of the best.
    pub one_se: usize,
    /// The part of each sample, for every repeat; empty where the splits were given.
    pub parts: Vec<Vec<usize>>,
    /// `Converged`, or the limit that struck: folds that it cut short do not count.
    pub status: Status,
}

impl CrossValidation {
    /// The best point.
    pub fn best_point(&self) -> &Point {
        &self.path.points[self.best]
    }

    /// The point of the one-standard-error rule.
    pub fn one_se_point(&self) -> &Point {
        &self.path.points[self.one_se]
    }
}

/// The scores of one fold and the weight of its samples.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct FoldScores {
    pub(crate) weight: f64,
    #[serde(with = "crate::file::floats")]
    pub(crate) scores: Vec<f64>,
}

/// Cross-validates a path.
///
/// ```
/// use bestset::cv::{CvOptions, Folds, cross_validate};
/// use bestset::design::Dense;
/// use bestset::{Penalty, Problem};
///
/// let x: Vec<f64> = (0..60).map(|k| ((k * k) as f64 * 0.7).sin()).collect();
/// let y: Vec<f64> = (0..20).map(|i| 3.0 * x[i] + 0.5 * (2.5 * i as f64).cos()).collect();
/// let x = Dense::new(20, 3, x)?;
/// let problem = Problem::new(&x, y, Penalty::new(0.0, 0.0, 0.01))?;
/// let folds = Folds::Random { folds: 5, repeats: 2 };
/// let found = cross_validate(&problem, &CvOptions { folds, ..CvOptions::default() })?;
///
/// assert!(found.one_se_point().solution.support().contains(&0));
/// assert!(found.scores[found.best].mean < found.scores[0].mean);
/// # Ok::<(), bestset::Error>(())
/// ```
pub fn cross_validate(problem: &Problem<'_>, options: &CvOptions) -> Result<CrossValidation> {
    let (parts, splits) = drawn(problem, options)?;
    let whole = |options: &PathOptions| path(problem, options);
    cross_validate_with(problem, options, (parts, &splits), whole, &|_| None, &|_, _| Ok(()))
}

/// As [`cross_validate`], with these splits in place of the folds of the options.
pub fn cross_validate_splits(problem: &Problem<'_>, options: &CvOptions, splits: &[Split]) -> Result<CrossValidation> {
    if splits.is_empty() {
        return Err(Error::Range { name: "splits", value: 0.0, range: "at least 1" });
    }
    for split in splits {
        for (what, list) in [("the samples of a fit", &split.train), ("the samples left out", &split.test)] {
            if let Some(position) = list.iter().position(|&i| i >= problem.nrows()) {
                let (index, problem) = (list[position], "beyond the last sample");
                return Err(Error::Index { what, position, index, problem });
            }
        }
    }
    let whole = |options: &PathOptions| path(problem, options);
    cross_validate_with(problem, options, (Vec::new(), splits), whole, &|_| None, &|_, _| Ok(()))
}

/// As [`cross_validate`], showing how many folds are done and how many there are; folds end in any order, on any thread.
pub fn cross_validate_observed(
    problem: &Problem<'_>,
    options: &CvOptions,
    observer: &(dyn Fn(usize, usize) + Sync),
) -> Result<CrossValidation> {
    let (parts, splits) = drawn(problem, options)?;
    let total = splits.len();
    let done = std::sync::atomic::AtomicUsize::new(0);
    let count = |_: usize, _: &FoldScores| {
        observer(1 + done.fetch_add(1, std::sync::atomic::Ordering::Relaxed), total);
        Ok(())
    };
    cross_validate_with(problem, options, (parts, &splits), |options| path(problem, options), &|_| None, &count)
}

/// As [`cross_validate`], for a division as [`drawn`]; `whole` makes the path of all samples, `known` may give the scores of a fold, and `done` sees those
/// that were computed.
pub(crate) fn cross_validate_with(
    problem: &Problem<'_>,
    options: &CvOptions,
    (parts, splits): (Vec<Vec<usize>>, &[Split]),
    whole: impl FnOnce(&PathOptions) -> Result<Path>,
    known: &(dyn Fn(usize) -> Option<FoldScores> + Sync),
    done: &(dyn Fn(usize, &FoldScores) -> Result<()> + Sync),
) -> Result<CrossValidation> {
    let start = Instant::now();
    let score = options.score.unwrap_or(Score::of(problem.loss()));
    score.validate(problem.loss())?;
    let whole = whole(&options.path)?;
    if whole.points.is_empty() {
        let (scores, best, one_se, status) = (Vec::new(), 0, 0, whole.status);
        return Ok(CrossValidation { path: whole, scores, best, one_se, parts, status });
    }
    let run = |(k, split): (usize, &Split)| -> Result<(Option<FoldScores>, Status)> {
        if let Some(scores) = known(k) {
            return Ok((Some(scores), Status::Converged));
        }
        let (scores, status) = fold(problem, options, &whole, split, score, start)?;
        if status != Status::Converged {
            return Ok((None, status));
        }
        done(k, &scores)?;
        Ok((Some(scores), status))
    };
    let fits: Result<Vec<_>> =
        crate::solver::on_threads(options.path.solve.threads, || splits.par_iter().enumerate().map(run).collect());
    let fits = fits?;
    let status = fits.iter().map(|f| f.1).find(|s| *s != Status::Converged).unwrap_or(whole.status);
    let complete: Vec<FoldScores> = fits.into_iter().filter_map(|f| f.0).collect();
    let scores: Vec<PointScore> = (0..whole.points.len()).map(|k| summarise(&complete, k)).collect();
    let (best, one_se) = choose(&scores, &whole, score);
    Ok(CrossValidation { path: whole, scores, best, one_se, parts, status })
}

/// The parts of the options' folds, and what each leaves out.
pub(crate) fn drawn(problem: &Problem<'_>, options: &CvOptions) -> Result<(Vec<Vec<usize>>, Vec<Split>)> {
    let parts = options.folds.draw(problem.y(), options.seed)?;
    let folds = |one: &[usize]| one.iter().max().map_or(0, |m| m + 1);
    let split = |one: &[usize], fold: usize| {
        let (test, train) = (0..one.len()).partition(|&i| one[i] == fold);
        Split { train, test }
    };
    let splits = parts.iter().flat_map(|one| (0..folds(one)).map(|f| split(one, f))).collect();
    Ok((parts, splits))
}

/// The scores of one fold at every point.
fn fold(
    problem: &Problem<'_>,
    options: &CvOptions,
    whole: &Path,
    split: &Split,
    score: Score,
    start: Instant,
) -> Result<(FoldScores, Status)> {
    let weight = |i: usize| problem.weights().map_or(1.0, |w| w[i]);
    let mut kept = vec![0.0; problem.nrows()];
    split.train.iter().for_each(|&i| kept[i] += weight(i));
    let (total, inside): (f64, f64) = ((0..kept.len()).map(weight).sum(), kept.iter().sum());
    let outside: f64 = split.test.iter().map(|&i| weight(i)).sum();
    let training = problem.clone().with_weights(kept)?;
    let mut solve = options.path.solve.clone();
    solve.time_limit = solve.time_limit.map(|limit| limit.saturating_sub(start.elapsed()));
    solve.threads = None;
    let share = inside / total;
    let mut scores = Vec::with_capacity(whole.points.len());
    for strand in whole.strands() {
        let mut penalty = problem.penalty().clone();
        penalty.lambda1 *= share;
        penalty.lambda2 = share * strand[0].lambda2;
        let grid = Grid::Given(scored(strand, &options.path.grid).iter().map(|lambda0| share * lambda0).collect());
        let settings = PathOptions {
            grid,
            lambda2: Vec::new(),
            max_size: Some(usize::MAX),
            solve: solve.clone(),
            ..options.path.clone()
        };
        let fitted = path(&training.with_penalty(penalty)?, &settings)?;
        if fitted.status != Status::Converged {
            return Ok((FoldScores { weight: outside, scores }, fitted.status));
        }
        for point in &fitted.points {
            let coefficients = &point.solution.coefficients;
            let u = problem.margins(coefficients);
            let samples: Vec<(f64, f64, f64)> =
                split.test.iter().map(|&i| (u[i] + coefficients.intercept, problem.y()[i], weight(i))).collect();
            scores.push(score.value(problem.loss(), &samples));
        }
    }
    Ok((FoldScores { weight: outside, scores }, Status::Converged))
}

/// The λ0 at which the folds of each point are fitted. A point of a dynamic grid is where its answer has just become the best:
/// there a fit on other samples often has one feature less, which would be held against the larger model. The answer is the
/// best down to the next point; the folds are fitted in the middle of that interval, of the logarithms.
fn scored(strand: &[Point], grid: &Grid) -> Vec<f64> {
    let is_dynamic = matches!(grid, Grid::Dynamic { .. });
    let next = |k: usize| strand.get(k + 1).filter(|_| is_dynamic).unwrap_or(&strand[k]);
    (0..strand.len()).map(|k| (strand[k].lambda0 * next(k).lambda0).sqrt()).collect()
}

/// Mean and standard error at point k over the folds whose score is a number.
fn summarise(folds: &[FoldScores], k: usize) -> PointScore {
    let values: Vec<f64> = folds.iter().map(|f| f.scores[k]).collect();
    let counted = || folds.iter().zip(&values).filter(|(f, s)| f.weight > 0.0 && !s.is_nan());
    let total: f64 = counted().map(|(f, _)| f.weight).sum();
    let mean = counted().map(|(f, s)| f.weight * s).sum::<f64>() / total;
    let spread = counted().map(|(f, s)| f.weight * (s - mean).powi(2)).sum::<f64>() / total;
    let standard_error = (spread / (counted().count() as f64 - 1.0)).sqrt();
    PointScore { mean, standard_error, folds: values }
}

/// The best point, the earlier of equals, and the sparsest within a standard error of it.
fn choose(scores: &[PointScore], path: &Path, score: Score) -> (usize, usize) {
    let sign = if score.is_maximised() { -1.0 } else { 1.0 };
    let known = || (0..scores.len()).filter(|&k| !scores[k].mean.is_nan());
    let value = |k: usize| sign * scores[k].mean;
    let Some(best) = known().min_by(|&a, &b| value(a).total_cmp(&value(b)).then(a.cmp(&b))) else {
        return (0, 0);
    };
    let error = scores[best].standard_error;
    let limit = value(best) + if error.is_nan() { 0.0 } else { error };
    let size = |k: usize| path.points[k].solution.support().len();
    let sparsest = known()
        .filter(|&k| value(k) <= limit)
        .min_by(|&a, &b| size(a).cmp(&size(b)).then(value(a).total_cmp(&value(b))).then(a.cmp(&b)));
    (best, sparsest.unwrap_or(best))
}

/// Refuses a subsample share that leaves nothing.
pub(crate) fn check_share(name: &'static str, value: f64) -> Result<()> {
    match value > 0.0 && value < 1.0 {
        true => Ok(()),
        false => Err(Error::Range { name, value, range: "strictly between 0 and 1" }),
    }
}
