//! What one fold finds: its answer for every λ2 and every size.

use crate::control::Options;
use crate::cv::score::{held_out, of_classes};
use crate::cv::{Score, SizeScore, Split};
use crate::error::{Error, Result};
use crate::path::{Grid, PathOptions, Point, cost, path};
use crate::problem::Problem;
use crate::solution::{Coefficients, Status};
use serde::{Deserialize, Serialize};
use std::time::Instant;

/// The answers of a fit that has not seen some samples.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct FoldFit {
    /// The samples it has not seen.
    pub(crate) test: Vec<usize>,
    /// For each λ2 the best known with at most 0, 1, … features; the last serves all larger sizes.
    answers: Vec<Vec<Coefficients>>,
    /// The intercepts of the classes of each of them, where there are many.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    intercepts: Vec<Vec<Vec<f64>>>,
}

impl FoldFit {
    /// The answer with at most `size` features.
    pub(super) fn answer(&self, strand: usize, size: usize) -> &Coefficients {
        let sizes = &self.answers[strand];
        &sizes[size.min(sizes.len() - 1)]
    }

    /// The scores of the answers on the samples that it has not seen, by strand and size, and what these samples weigh.
    pub(super) fn scores(
        &self,
        problem: &Problem<'_>,
        strands: usize,
        most: usize,
        score: Score,
    ) -> Result<Vec<Vec<(f64, f64)>>> {
        let of_strand = |strand| (0..=most).map(|size| self.score(problem, strand, size, score)).collect();
        (0..strands).map(of_strand).collect()
    }

    fn score(&self, problem: &Problem<'_>, strand: usize, size: usize, score: Score) -> Result<(f64, f64)> {
        let weight = |i: usize| problem.weights().map_or(1.0, |w| w[i]);
        let all = self.test.iter().map(|&i| weight(i)).sum::<f64>();
        if problem.classes() > 1 {
            return Ok((of_classes(problem, score, &self.class_margins(problem, strand, size)?, &self.test), all));
        }
        let coefficients = self.answer(strand, size);
        let u = problem.margins(coefficients)?;
        if let Some(own) = held_out(problem, score, &u, &self.test)? {
            return Ok(own);
        }
        let sample = |&i: &usize| (u[i] + coefficients.intercept, problem.y()[i], weight(i));
        Ok((score.value(problem.loss(), &self.test.iter().map(sample).collect::<Vec<_>>()), all))
    }

    /// u_ki with the intercepts of the fit for every row of the problem, classes one after the other.
    pub(super) fn class_margins(&self, problem: &Problem<'_>, strand: usize, size: usize) -> Result<Vec<f64>> {
        let mut u = problem.margins(self.answer(strand, size))?;
        let sizes = &self.intercepts[strand];
        let own = &sizes[size.min(sizes.len() - 1)];
        u.chunks_mut(problem.samples()).zip(own).for_each(|(block, c)| block.iter_mut().for_each(|u| *u += c));
        Ok(u)
    }
}

/// How the fit of a fold ended.
pub(crate) enum FoldEnd {
    Done(FoldFit),
    /// A limit struck, or columns could not be read, and why.
    Cut {
        status: Status,
        cause: Option<String>,
    },
}

/// The fits that were done, and how the first of the others ended.
pub(super) fn done(ends: Vec<FoldEnd>) -> (Vec<FoldFit>, Option<(Status, Option<String>)>) {
    let (mut fits, mut cut) = (Vec::new(), None);
    for end in ends {
        match end {
            FoldEnd::Done(fit) => fits.push(fit),
            FoldEnd::Cut { status, cause } => cut = cut.or(Some((status, cause))),
        }
    }
    (fits, cut)
}

/// λ1 → w̄λ1, λ2 → w̄λ2 (MATH 10.5): fits a fold, w̄ the share of the weight kept, up to `most` features; nothing where a limit
/// struck.
pub(super) fn fit(
    problem: &Problem<'_>,
    options: &PathOptions,
    split: &Split,
    most: usize,
    start: Instant,
) -> Result<FoldEnd> {
    answers(problem, options, split, most, start).or_else(|error| {
        let (status, cause) = cut(error, &options.solve)?;
        Ok(FoldEnd::Cut { status, cause })
    })
}

/// How work on a fold ended whose columns could not be read: by a limit of the options, or for the cause that is given.
fn cut(error: Error, options: &Options) -> Result<(Status, Option<String>)> {
    match error {
        Error::Stopped => Ok((options.limit(), None)),
        error if error.is_of_reading() => Ok((Status::ReadFailed, Some(error.to_string()))),
        error => Err(error),
    }
}

fn answers(
    problem: &Problem<'_>,
    options: &PathOptions,
    split: &Split,
    most: usize,
    start: Instant,
) -> Result<FoldEnd> {
    let weight = |i: usize| problem.weights().map_or(1.0, |w| w[i]);
    let mut kept = vec![0.0; problem.samples()];
    split.train.iter().for_each(|&i| kept[i] += weight(i));
    let (total, inside): (f64, f64) = ((0..kept.len()).map(weight).sum(), kept.iter().sum());
    let share = inside / total;
    let training = problem.clone().with_weights(problem.per_row(&kept))?;
    let own = [problem.penalty().lambda2];
    let ridges = if options.lambda2.is_empty() { &own[..] } else { &options.lambda2 };
    let (mut answers, mut intercepts) = (Vec::with_capacity(ridges.len()), Vec::new());
    for &lambda2 in ridges {
        let mut penalty = problem.penalty().clone();
        (penalty.lambda1, penalty.lambda2) = (share * penalty.lambda1, share * lambda2);
        let mut settings =
            PathOptions { grid: Grid::for_sizes(most), lambda2: Vec::new(), max_size: Some(most), ..options.clone() };
        settings.solve.threads = None;
        let left = |limit: std::time::Duration| limit.saturating_sub(start.elapsed());
        settings.solve.time_limit = settings.solve.time_limit.map(left);
        let training = training.with_penalty(penalty)?;
        let found = path(&training, &settings)?;
        if found.status != Status::Converged {
            return Ok(FoldEnd::Cut { status: found.status, cause: found.cause });
        }
        let sizes = by_size(&training, &found.points, options, most);
        if let Some(coupled) = training.coupled().filter(|loss| loss.classes() > 1) {
            let of = |answer: &Coefficients| Ok(coupled.intercepts(&training.margins(answer)?));
            intercepts.push(sizes.iter().map(of).collect::<Result<Vec<_>>>()?);
        }
        answers.push(sizes);
    }
    Ok(FoldEnd::Done(FoldFit { test: split.test.clone(), answers, intercepts }))
}

/// argmin { P − λ0 f(S) : |S| ≤ k } (MATH 10.6): entry k is the best fit among the points up to the first that has k features.
fn by_size(problem: &Problem<'_>, points: &[Point], options: &PathOptions, most: usize) -> Vec<Coefficients> {
    let size = |p: &Point| problem.size(&p.solution.coefficients);
    // P without what the features cost: a fit is compared at any price.
    let lack = |p: &Point| {
        p.solution.objective() - p.lambda0 * cost(problem, options.groups.as_ref(), &p.solution.coefficients)
    };
    let mut answers: Vec<Coefficients> = Vec::new();
    for k in 0..=most {
        let end = points.iter().position(|p| size(p) >= k).map_or(points.len(), |last| last + 1);
        let fitting = points[..end].iter().filter(|p| size(p) <= k);
        let best = fitting.min_by(|a, b| lack(a).total_cmp(&lack(b)));
        // Features that cost nothing may make every answer larger than this.
        let best = best.map(|p| &p.solution.coefficients).or(answers.last());
        let null = || points.first().map(|p| p.solution.coefficients.clone()).unwrap_or_default();
        let best = best.cloned().unwrap_or_else(null);
        answers.push(best);
        if end == points.len() && points.last().is_none_or(|p| size(p) < k) {
            break;
        }
    }
    answers
}

/// The fits with their scores, and what kept the first of the others from having one.
pub(super) struct JudgedFits<T> {
    pub(super) done: Vec<(FoldFit, T)>,
    pub(super) cut: Option<(Status, Option<String>)>,
}

/// What `scores` makes of each fit, within the limits of the options. One whose columns cannot be read is not done.
pub(super) fn judge<T>(
    fits: Vec<FoldFit>,
    scores: impl Fn(&FoldFit) -> Result<T>,
    options: &Options,
) -> Result<JudgedFits<T>> {
    let mut judged = JudgedFits { done: Vec::new(), cut: None };
    for fit in fits {
        match scores(&fit) {
            Ok(own) => judged.done.push((fit, own)),
            Err(error) => {
                let why = cut(error, options)?;
                judged.cut.get_or_insert(why);
            }
        }
    }
    Ok(judged)
}

/// Σ w_fold score_fold / Σ w_fold and its standard error (MATH 10.7, 10.8), of the scores and weights of the folds, over those whose
/// score is a number.
pub(super) fn mean(folds: impl Iterator<Item = (f64, f64)>) -> SizeScore {
    let (folds, weights): (Vec<f64>, Vec<f64>) = folds.unzip();
    let counted: Vec<(f64, f64)> =
        weights.iter().zip(&folds).map(|(&w, &s)| (w, s)).filter(|(w, s)| *w > 0.0 && !s.is_nan()).collect();
    let total: f64 = counted.iter().map(|c| c.0).sum();
    let mean = counted.iter().map(|(w, s)| w * s).sum::<f64>() / total;
    let spread = counted.iter().map(|(w, s)| w * (s - mean).powi(2)).sum::<f64>() / total;
    let standard_error = (spread / (counted.len() as f64 - 1.0)).sqrt();
    SizeScore { mean, standard_error, folds }
}
