//! Cross-validation (MATH 10.5–10.8): how many features, and which λ2, predict samples left out of the fit best.
//!
//! The path of all samples gives the models. Every fold makes a path of its own, with λ1 and λ2 scaled by the share of the weight
//! that is left (losses are summed, MATH 1.1: the penalty per sample is the same), and what is compared is the *size*: the score
//! of
//! a model of k features is the mean score of the folds' answers with at most k. A price is no common measure: on other samples it
//! buys another number of features, half of the time one less where an answer has just become the best, and many more where the
//! features outnumber the samples.
//!
//! A score depends on its own size alone, not on where the path ends: answers do not depend on later points of their path, and a
//! fold's answer of size k is looked for no further than where its path first has k features.
//!
//! Samples left out have weight zero, so that any design serves, and a weighted problem is the problem with repeated rows.

mod fold;
mod folds;
mod score;
mod stability;

pub use folds::Folds;
pub use score::Score;
pub use stability::{STABLE_SHARE, Stability, StabilityOptions, stability};

pub(crate) use fold::{FoldEnd, FoldFit};

use crate::error::{Error, Result};
use crate::path::{Path, PathOptions, Point, path};
use crate::problem::Problem;
use crate::solution::Status;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// Settings of a cross-validation.
///
/// | field | default | purpose |
/// |---|---|---|
/// | `path` | the defaults of paths | the prices, the λ2 and the largest size compared; time limit of the whole, cancellation |
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

/// The score of models of one size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SizeScore {
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

impl Split {
    /// One for each part, ascending: its samples are left out of a fit of all others.
    ///
    /// ```
    /// use bestset::cv::Split;
    ///
    /// let splits = Split::by_part(&[7, 2, 7]);
    /// assert_eq!(splits[0], Split { train: vec![0, 2], test: vec![1] });
    /// assert_eq!(splits[1], Split { train: vec![1], test: vec![0, 2] });
    /// ```
    pub fn by_part(parts: &[usize]) -> Vec<Self> {
        let known: std::collections::BTreeSet<usize> = parts.iter().copied().collect();
        let split = |part| {
            let (test, train) = (0..parts.len()).partition(|&i| parts[i] == part);
            Self { train, test }
        };
        known.into_iter().map(split).collect()
    }
}

/// Which point cross-validation takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// The best mean score.
    #[default]
    Min,
    /// The fewest features whose mean is within one standard error of the best.
    #[serde(rename = "1se")]
    OneSe,
}

impl Rule {
    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Self::Min => "min",
            Self::OneSe => "1se",
        }
    }
}

/// What cross-validation found.
#[derive(Debug, Clone, PartialEq)]
pub struct CrossValidation {
    /// The path of all samples, each point with its certificate; none has more features than the largest size compared.
    pub path: Path,
    /// The score at each point.
    pub scores: Vec<SizeScore>,
    /// The point with the best mean.
    pub best: usize,
    /// The point with the fewest features whose mean is within one standard error of the best.
    pub one_se: usize,
    /// The part of each sample, for every repeat; empty where the splits were given.
    pub parts: Vec<Vec<usize>>,
    /// `Converged`, or the limit that struck: folds that it cut short do not count.
    pub status: Status,
    /// Why it ended, in words, where the status is [`Status::ReadFailed`].
    pub cause: Option<String>,
    /// The score that was taken.
    pub score: Score,
    /// The λ2 compared, and the score of every size from 0 up with each of them.
    by_size: Vec<(f64, Vec<SizeScore>)>,
    /// The answers of the folds done.
    fits: Vec<FoldFit>,
    /// How many columns a feature has.
    classes: usize,
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

    /// The point of a rule.
    pub fn chosen(&self, rule: Rule) -> usize {
        match rule {
            Rule::Min => self.best,
            Rule::OneSe => self.one_se,
        }
    }

    /// Folds done.
    pub fn folds(&self) -> usize {
        self.fits.len()
    }

    /// The score of `size` features with this λ2, if they were compared.
    pub fn score_of(&self, lambda2: f64, size: usize) -> Option<&SizeScore> {
        self.by_size.iter().find(|strand| strand.0 == lambda2)?.1.get(size)
    }

    /// How often each feature is in the folds' answers of this size with this λ2: (feature, share of the folds), ascending.
    pub fn frequencies(&self, lambda2: f64, size: usize) -> Vec<(usize, f64)> {
        let Some(strand) = self.strand(lambda2) else { return Vec::new() };
        let mut counts = std::collections::BTreeMap::new();
        for fit in &self.fits {
            let chosen = fit.answer(strand, size).features(self.classes);
            chosen.into_iter().for_each(|j| *counts.entry(j).or_insert(0usize) += 1);
        }
        counts.into_iter().map(|(j, c)| (j, c as f64 / self.fits.len() as f64)).collect()
    }

    /// The samples left out and their margins by the fits that have not seen them, with this size and λ2; a sample comes as often
    /// as it was left out.
    pub fn left_out(&self, problem: &Problem<'_>, lambda2: f64, size: usize) -> Result<Vec<(usize, f64)>> {
        let Some(strand) = self.strand(lambda2) else { return Ok(Vec::new()) };
        let margins = |fit: &FoldFit| {
            let coefficients = fit.answer(strand, size);
            let u = problem.margins(coefficients)?;
            Ok(fit.test.iter().map(|&i| (i, u[i] + coefficients.intercept)).collect::<Vec<_>>())
        };
        Ok(self.fits.iter().map(margins).collect::<Result<Vec<_>>>()?.concat())
    }

    /// As [`CrossValidation::left_out`], with the margins of every class.
    pub fn left_out_classes(&self, problem: &Problem<'_>, lambda2: f64, size: usize) -> Result<Vec<(usize, Vec<f64>)>> {
        let (n, Some(strand)) = (problem.samples(), self.strand(lambda2)) else { return Ok(Vec::new()) };
        let margins = |fit: &FoldFit| {
            let u = fit.class_margins(problem, strand, size)?;
            let of = |i: usize| (0..self.classes).map(|k| u[k * n + i]).collect();
            Ok(fit.test.iter().map(|&i| (i, of(i))).collect::<Vec<_>>())
        };
        Ok(self.fits.iter().map(margins).collect::<Result<Vec<_>>>()?.concat())
    }

    fn strand(&self, lambda2: f64) -> Option<usize> {
        self.by_size.iter().position(|strand| strand.0 == lambda2)
    }

    /// Takes other points, which have had their answers improved, and chooses among them again.
    pub(crate) fn judge_again(&mut self, points: Vec<Point>) {
        self.path.points = points;
        self.judge();
    }

    /// The scores of the points, and the choice among them.
    fn judge(&mut self) {
        let none = || SizeScore { mean: f64::NAN, standard_error: f64::NAN, folds: Vec::new() };
        let sizes: Vec<usize> =
            self.path.points.iter().map(|p| p.solution.coefficients.features(self.classes).len()).collect();
        let score = |(p, &size): (&Point, &usize)| self.score_of(p.lambda2, size).cloned().unwrap_or_else(none);
        self.scores = self.path.points.iter().zip(&sizes).map(score).collect();
        (self.best, self.one_se) = choose(&self.scores, &sizes, self.score);
    }
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
    cross_validate_observed(problem, options, &|_, _| ())
}

/// As [`cross_validate`], showing how many folds are done and how many there are; folds end in any order, on any thread.
pub fn cross_validate_observed(
    problem: &Problem<'_>,
    options: &CvOptions,
    observer: &(dyn Fn(usize, usize) + Sync),
) -> Result<CrossValidation> {
    Work { problem, options, parts: Division::drawn(problem, options)? }.observed(observer)
}

/// As [`cross_validate`], with these splits in place of the folds of the options.
pub fn cross_validate_splits(problem: &Problem<'_>, options: &CvOptions, splits: &[Split]) -> Result<CrossValidation> {
    Work { problem, options, parts: Division::given(problem, splits)? }.observed(&|_, _| ())
}

/// What is left out when.
#[derive(Debug, Clone)]
pub(crate) struct Division {
    /// The part of each sample, for every repeat; empty where the splits were given.
    parts: Vec<Vec<usize>>,
    pub(crate) splits: Vec<Split>,
}

impl Division {
    /// The parts of the options' folds, and what each leaves out.
    pub(crate) fn drawn(problem: &Problem<'_>, options: &CvOptions) -> Result<Self> {
        let kinds: Option<Vec<f64>> =
            problem.coupled().and(problem.kinds()).map(|k| k.iter().map(|&kind| kind as f64).collect());
        let parts = options.folds.draw(kinds.as_deref().unwrap_or(problem.y()), options.seed)?;
        let splits = parts.iter().flat_map(|one| Split::by_part(one)).collect();
        Ok(Self { parts, splits })
    }

    /// These splits, whose samples must exist.
    pub(crate) fn given(problem: &Problem<'_>, splits: &[Split]) -> Result<Self> {
        if splits.is_empty() {
            return Err(Error::Range { name: "splits", value: 0.0, range: "at least 1" });
        }
        for split in splits {
            for (what, list) in [("the samples of a fit", &split.train), ("the samples left out", &split.test)] {
                if let Some(position) = list.iter().position(|&i| i >= problem.samples()) {
                    let (index, problem) = (list[position], "beyond the last sample");
                    return Err(Error::Index { what, position, index, problem });
                }
            }
        }
        Ok(Self { parts: Vec::new(), splits: splits.to_vec() })
    }
}

/// A cross-validation to be done.
pub(crate) struct Work<'w, 'a> {
    pub(crate) problem: &'w Problem<'a>,
    pub(crate) options: &'w CvOptions,
    pub(crate) parts: Division,
}

impl Work<'_, '_> {
    pub(crate) fn observed(self, observer: &(dyn Fn(usize, usize) + Sync)) -> Result<CrossValidation> {
        let (total, problem) = (self.parts.splits.len(), self.problem);
        let done = AtomicUsize::new(0);
        let count = |_: usize, _: &FoldFit| {
            observer(1 + done.fetch_add(1, Ordering::Relaxed), total);
            Ok(())
        };
        self.run(|options| path(problem, options), &|_| None, &count)
    }

    /// As [`Work::observed`]; `folds` does some of them elsewhere, while the path of all samples is made here.
    pub(crate) fn with_folds(
        self,
        observer: &(dyn Fn(usize, usize) + Sync),
        folds: impl FnOnce() -> Vec<Option<FoldFit>> + Send,
    ) -> Result<CrossValidation> {
        let (total, problem) = (self.parts.splits.len(), self.problem);
        let fits: OnceLock<Vec<Option<FoldFit>>> = OnceLock::new();
        let count = AtomicUsize::new(0);
        let whole = |options: &PathOptions| {
            std::thread::scope(|scope| {
                let elsewhere = scope.spawn(folds);
                let found = path(problem, options);
                // What cannot be had is done here.
                let _ = fits.set(elsewhere.join().unwrap_or_default());
                found
            })
        };
        let seen = || observer(1 + count.fetch_add(1, Ordering::Relaxed), total);
        let known = |k: usize| {
            let fit = fits.get().and_then(|fits| fits.get(k).cloned().flatten());
            fit.inspect(|_| seen())
        };
        self.run(whole, &known, &|_, _| {
            seen();
            Ok(())
        })
    }

    /// The largest size and the settings of the paths.
    fn settings(&self) -> (usize, PathOptions) {
        let (problem, path) = (self.problem, &self.options.path);
        let most = path.max_size.unwrap_or_else(|| crate::criteria::usual_size(problem)).min(problem.variables());
        (most, PathOptions { max_size: Some(most), ..path.clone() })
    }

    /// One fold alone.
    pub(crate) fn fold(&self, number: usize) -> Result<FoldEnd> {
        let (most, settings) = self.settings();
        let split = self.parts.splits.get(number).ok_or(Error::Index {
            what: "the folds",
            position: 0,
            index: number,
            problem: "beyond the last one",
        })?;
        let fit = || fold::fit(self.problem, &settings, split, most, Instant::now());
        crate::control::on_threads(settings.solve.threads, fit)
    }

    /// `whole` makes the path of all samples, `known` may give a fold's answers, and `done` sees those that were computed.
    pub(crate) fn run(
        self,
        whole: impl FnOnce(&PathOptions) -> Result<Path>,
        known: &(dyn Fn(usize) -> Option<FoldFit> + Sync),
        done: &(dyn Fn(usize, &FoldFit) -> Result<()> + Sync),
    ) -> Result<CrossValidation> {
        let (problem, options, start) = (self.problem, self.options, Instant::now());
        let score = options.score.unwrap_or(Score::of(problem.loss()));
        score.validate(problem.loss())?;
        let (most, settings) = self.settings();
        let mut whole = whole(&settings)?;
        whole.points.retain(|p| problem.size(&p.solution.coefficients) <= most);
        let fold = |(k, split): (usize, &Split)| -> Result<FoldEnd> {
            if let Some(fit) = known(k) {
                return Ok(FoldEnd::Done(fit));
            }
            let end = fold::fit(problem, &settings, split, most, start)?;
            if let FoldEnd::Done(fit) = &end {
                done(k, fit)?;
            }
            Ok(end)
        };
        let splits = if whole.points.is_empty() { &[][..] } else { &self.parts.splits };
        let ends: Result<Vec<_>> =
            crate::control::on_threads(settings.solve.threads, || splits.par_iter().enumerate().map(fold).collect());
        let (fits, cut) = fold::done(ends?);
        let own = [problem.penalty().lambda2];
        let ridges = if settings.lambda2.is_empty() { &own[..] } else { &settings.lambda2 };
        let judged = fold::judge(fits, |fit| fit.scores(problem, ridges.len(), most, score), &settings.solve)?;
        let (fits, scores) = judged.done.into_iter().unzip::<_, _, Vec<_>, Vec<_>>();
        let of_size = |strand: usize, size: usize| fold::mean(scores.iter().map(|own| own[strand][size]));
        let sizes = |strand: usize| (0..=most).map(|size| of_size(strand, size)).collect::<Vec<SizeScore>>();
        let by_size = ridges.iter().enumerate().map(|(strand, &lambda2)| (lambda2, sizes(strand))).collect();
        let (status, cause) = cut.or(judged.cut).unwrap_or_else(|| (whole.status, whole.cause.clone()));
        let (scores, parts, classes) = (Vec::new(), self.parts.parts, problem.classes());
        let (best, one_se) = (0, 0);
        let mut found =
            CrossValidation { path: whole, scores, best, one_se, parts, status, cause, score, by_size, fits, classes };
        found.judge();
        Ok(found)
    }
}

/// The best point, the earlier of equals, and the sparsest within a standard error (MATH 10.8) of it.
fn choose(scores: &[SizeScore], sizes: &[usize], score: Score) -> (usize, usize) {
    let sign = if score.is_maximised() { -1.0 } else { 1.0 };
    let known = || (0..scores.len()).filter(|&k| !scores[k].mean.is_nan());
    let value = |k: usize| sign * scores[k].mean;
    let Some(best) = known().min_by(|&a, &b| value(a).total_cmp(&value(b)).then(a.cmp(&b))) else {
        return (0, 0);
    };
    let error = scores[best].standard_error;
    let limit = value(best) + if error.is_nan() { 0.0 } else { error };
    let sparsest = known()
        .filter(|&k| value(k) <= limit)
        .min_by(|&a, &b| sizes[a].cmp(&sizes[b]).then(value(a).total_cmp(&value(b))).then(a.cmp(&b)));
    (best, sparsest.unwrap_or(best))
}

/// Refuses a subsample share that leaves nothing.
pub(crate) fn check_share(name: &'static str, value: f64) -> Result<()> {
    match value > 0.0 && value < 1.0 {
        true => Ok(()),
        false => Err(Error::Range { name, value, range: "strictly between 0 and 1" }),
    }
}
