//! The spread of residuals, by which Huber's loss is made for the units of y.

use super::run::Run;
use super::{Posed, Prove, Samples, Selection, Setup};
use crate::control::{Limits, Options};
use crate::criteria::{Criterion, Fit, usual_size};
use crate::error::{Error, Result};
use crate::loss::Loss;
use crate::path::Search;
use crate::solution::{Coefficients, Status};

/// Median of |r| over the standard deviation of normal r, inverted: what makes of a median absolute deviation a standard deviation.
const NORMAL: f64 = 1.4826;

/// Paths at the most: each has δ of the spread that the last one left.
const PATHS: usize = 5;

/// The share of the last spread above which the next is taken for the same: δ need not be known better than that.
const NEAR: f64 = 0.8;

/// A spread below this share of the last is rounding: the features interpolate, and the last serves.
const LEAST: f64 = 1e-8;

impl Setup {
    /// The same with δ in the units of y, where it is given in spreads of the residuals (MATH 2.17).
    pub(super) fn in_units(&self, samples: &Samples<'_>, limits: &Limits) -> Result<Option<Self>> {
        let Loss::Huber { delta } = self.loss else { return Ok(None) };
        if !self.delta_in_spreads {
            return Ok(None);
        }
        let of = |delta: f64| Self { loss: Loss::Huber { delta }, delta_in_spreads: false, ..self.clone() };
        let own = spread_of_targets(samples);
        // What is wrong with δ, or with samples of other lengths or without numbers, is said where the problem is posed.
        if !(own > 0.0 && own.is_finite() && delta > 0.0) {
            return Ok(Some(of(delta)));
        }
        let mut spread = own;
        for _ in 0..PATHS {
            let setup = of(delta * spread);
            let found = setup.pose_within(samples, limits, |posed| spread_of_residuals(posed, spread, limits));
            // Where a limit strikes the last one serves: what is left to do ends at once.
            let Some(found) = found.or_else(unless_stopped)? else { break };
            let is_near = found > NEAR * spread;
            spread = found;
            if is_near {
                break;
            }
        }
        Ok(Some(of(delta * spread)))
    }
}

/// Nothing where a limit struck in a pass over X.
fn unless_stopped(error: Error) -> Result<Option<f64>> {
    if error == Error::Stopped { Ok(None) } else { Err(error) }
}

/// 1.4826 med|y − o − med(y − o)| (MATH 2.17); where half of the values are the same, the standard deviation of the others around them.
fn spread_of_targets(samples: &Samples<'_>) -> f64 {
    let (y, n) = (samples.y, samples.x.nrows());
    let has_length = |v: Option<&[f64]>| v.is_none_or(|v| v.len() == n);
    if y.len() != n || !has_length(samples.weights) || !has_length(samples.offset) {
        return f64::NAN;
    }
    let weight = |i: usize| samples.weights.map_or(1.0, |w| w[i]);
    let rest: Vec<(f64, f64)> = (0..n).map(|i| (y[i] - samples.offset.map_or(0.0, |o| o[i]), weight(i))).collect();
    let centre = median(rest.clone());
    let spread = deviation(&rest);
    if spread > 0.0 {
        return spread;
    }
    let (sum, total) = rest.iter().fold((0.0, 0.0), |(s, t), (r, w)| (s + w * (r - centre).powi(2), t + w));
    // A target that does not vary has no spread: any will do.
    if sum > 0.0 { (sum / total).sqrt() } else { 1.0 }
}

/// The spread (MATH 2.17) of the residuals of the point that EBIC takes along a path; nothing where they are rounding, or where a limit has
/// cut the path short.
fn spread_of_residuals(posed: &Posed<'_>, last: f64, limits: &Limits) -> Result<Option<f64>> {
    let solve = Options { time_limit: limits.left(), cancel: limits.cancel().clone(), ..Options::default() };
    // Cheap where X takes long to read, and no proof where nobody sees it.
    let options = Selection { search: Search::Light, prove: Prove::No, solve, ..Selection::default() };
    let options = posed.selection_within(&options);
    let run = Run::new(posed, &options, &|_| ());
    let problem = &posed.problem;
    let path = run.path(&run.path_options(run.most(usual_size(problem))?, Vec::new()))?;
    if path.points.is_empty() || path.status != Status::Converged {
        return Ok(None);
    }
    let best = Criterion::Ebic { gamma: 1.0 }.best(problem, &path)?;
    let chosen = &path.points[best].solution.coefficients;
    let fit = Fit::new(problem, chosen)?;
    let share = (fit.samples / (fit.samples - fit.fitted()).max(1.0)).sqrt();
    let found = deviation(&residuals(posed, chosen)?) * share;
    Ok(Some(found).filter(|found| *found > LEAST * last))
}

fn residuals(posed: &Posed<'_>, coefficients: &Coefficients) -> Result<Vec<(f64, f64)>> {
    let problem = &posed.problem;
    let u = problem.margins(coefficients)?;
    let weight = |i: usize| problem.weights().map_or(1.0, |w| w[i]);
    Ok((0..u.len()).map(|i| (problem.y()[i] - u[i] - coefficients.intercept, weight(i))).collect())
}

/// 1.4826 med|r − med r| of values with weights.
fn deviation(values: &[(f64, f64)]) -> f64 {
    let centre = median(values.to_vec());
    NORMAL * median(values.iter().map(|(r, w)| ((r - centre).abs(), *w)).collect())
}

/// The middle of the values below and above which there is at most half of the weight.
fn median(mut values: Vec<(f64, f64)>) -> f64 {
    values.retain(|v| v.1 > 0.0);
    values.sort_by(|a, b| a.0.total_cmp(&b.0));
    let half = 0.5 * values.iter().map(|v| v.1).sum::<f64>();
    let mut below = 0.0;
    for (k, &(value, weight)) in values.iter().enumerate() {
        below += weight;
        if below == half {
            return 0.5 * (value + values.get(k + 1).map_or(value, |next| next.0));
        }
        if below > half {
            return value;
        }
    }
    f64::NAN
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_by_hand() {
        let plain = |v: &[f64]| median(v.iter().map(|v| (*v, 1.0)).collect());
        assert_eq!((plain(&[3.0, 1.0, 2.0]), plain(&[4.0, 1.0, 3.0, 2.0])), (2.0, 2.5));
        // Weights are counts, and those of zero are none.
        assert_eq!(median(vec![(1.0, 3.0), (7.0, 1.0), (9.0, 0.0)]), 1.0);
        assert_eq!(median(vec![(1.0, 2.0), (7.0, 1.0), (9.0, 1.0)]), 4.0);
        assert!(median(Vec::new()).is_nan());
        let spread = deviation(&[(1.0, 1.0), (2.0, 1.0), (3.0, 1.0), (100.0, 1.0), (-50.0, 1.0)]);
        assert_eq!(spread, NORMAL);
    }
}
