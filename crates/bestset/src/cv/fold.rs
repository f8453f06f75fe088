//! What one fold finds: its answer for every λ2 and every size.

use crate::cv::{Score, SizeScore, Split};
use crate::error::Result;
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
}

impl FoldFit {
    /// The answer with at most `size` features.
    pub(super) fn answer(&self, strand: usize, size: usize) -> &Coefficients {
        let sizes = &self.answers[strand];
        &sizes[size.min(sizes.len() - 1)]
    }
}

/// λ1 → w̄λ1, λ2 → w̄λ2 (MATH 10.5): fits a fold, w̄ the share of the weight kept, up to `most` features; nothing where a limit
/// struck.
pub(super) fn fit(
    problem: &Problem<'_>,
    options: &PathOptions,
    split: &Split,
    most: usize,
    start: Instant,
) -> Result<(Option<FoldFit>, Status)> {
    let weight = |i: usize| problem.weights().map_or(1.0, |w| w[i]);
    let mut kept = vec![0.0; problem.nrows()];
    split.train.iter().for_each(|&i| kept[i] += weight(i));
    let (total, inside): (f64, f64) = ((0..kept.len()).map(weight).sum(), kept.iter().sum());
    let share = inside / total;
    let training = problem.clone().with_weights(kept)?;
    let own = [problem.penalty().lambda2];
    let ridges = if options.lambda2.is_empty() { &own[..] } else { &options.lambda2 };
    let mut answers = Vec::with_capacity(ridges.len());
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
            return Ok((None, found.status));
        }
        answers.push(by_size(&training, &found.points, options, most));
    }
    Ok((Some(FoldFit { test: split.test.clone(), answers }), Status::Converged))
}

/// argmin { P − λ0 f(S) : |S| ≤ k } (MATH 10.6): entry k is the best fit among the points up to the first that has k features.
fn by_size(problem: &Problem<'_>, points: &[Point], options: &PathOptions, most: usize) -> Vec<Coefficients> {
    let size = |p: &Point| p.solution.support().len();
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

/// Σ w_fold score_fold / Σ w_fold and its standard error (MATH 10.7, 10.8): the score of `size` features with a λ2, over the
/// folds whose score is a number.
pub(super) fn score(problem: &Problem<'_>, fits: &[FoldFit], strand: usize, size: usize, score: Score) -> SizeScore {
    let weight = |i: usize| problem.weights().map_or(1.0, |w| w[i]);
    let value = |fit: &FoldFit| {
        let coefficients = fit.answer(strand, size);
        let u = problem.margins(coefficients);
        let sample = |&i: &usize| (u[i] + coefficients.intercept, problem.y()[i], weight(i));
        score.value(problem.loss(), &fit.test.iter().map(sample).collect::<Vec<_>>())
    };
    let folds: Vec<f64> = fits.iter().map(value).collect();
    let weights = fits.iter().map(|fit| fit.test.iter().map(|&i| weight(i)).sum::<f64>());
    let counted: Vec<(f64, f64)> =
        weights.zip(&folds).map(|(w, &s)| (w, s)).filter(|(w, s)| *w > 0.0 && !s.is_nan()).collect();
    let total: f64 = counted.iter().map(|c| c.0).sum();
    let mean = counted.iter().map(|(w, s)| w * s).sum::<f64>() / total;
    let spread = counted.iter().map(|(w, s)| w * (s - mean).powi(2)).sum::<f64>() / total;
    let standard_error = (spread / (counted.len() as f64 - 1.0)).sqrt();
    SizeScore { mean, standard_error, folds }
}
