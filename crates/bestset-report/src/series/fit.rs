//! Residuals, quantiles and scores.

use super::{short, shorts};
use crate::types::brief;
use crate::{Calibration, Classification, Regression};
use serde::Serialize;

/// The most quantiles drawn.
const MOST_QUANTILES: usize = 300;

/// Counts in bins of equal width.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Histogram {
    /// Edges, one more than bins.
    pub edges: Vec<Option<f64>>,
    /// One list of counts for each group.
    pub counts: Vec<Vec<usize>>,
}

impl Histogram {
    /// Of groups of values over the same bins; what is not finite does not count.
    pub fn new(groups: &[Vec<f64>], range: Option<(f64, f64)>) -> Option<Self> {
        let all = || groups.iter().flatten().copied().filter(|v| v.is_finite());
        let n = all().count();
        let (low, high) = range.unwrap_or((all().fold(f64::INFINITY, f64::min), all().fold(f64::MIN, f64::max)));
        let width = high - low;
        if n == 0 || !width.is_finite() || width <= 0.0 {
            return None;
        }
        // About the square root of the number of values, as many as can be told apart.
        let bins = ((n as f64).sqrt().ceil() as usize).clamp(6, 30);
        let bin = |v: f64| (((v - low) / width * bins as f64) as usize).min(bins - 1);
        let count = |group: &Vec<f64>| {
            let mut counts = vec![0; bins];
            group.iter().filter(|v| v.is_finite()).for_each(|&v| counts[bin(v)] += 1);
            counts
        };
        let edges = (0..=bins).map(|k| short(low + width * k as f64 / bins as f64)).collect();
        Some(Self { edges, counts: groups.iter().map(count).collect() })
    }
}

/// Fit of numbers.
#[derive(Debug, Clone, Serialize)]
pub struct RegressionSeries {
    /// Which samples these are, in few words.
    pub samples: String,
    /// Observed.
    pub observed: Vec<Option<f64>>,
    /// Fitted.
    pub fitted: Vec<Option<f64>>,
    /// Observed − fitted.
    pub residual: Vec<Option<f64>>,
    /// Residuals in bins.
    pub histogram: Option<Histogram>,
    /// (quantile of the normal distribution, residual in standard deviations).
    pub quantiles: Vec<(Option<f64>, Option<f64>)>,
}

impl RegressionSeries {
    /// `None` without samples.
    pub fn new(fit: &Regression) -> Option<Self> {
        let residuals = fit.residuals();
        if residuals.is_empty() {
            return None;
        }
        Some(Self {
            samples: brief(&fit.samples).to_owned(),
            observed: shorts(fit.observed.iter().copied()),
            fitted: shorts(fit.fitted.iter().copied()),
            histogram: Histogram::new(std::slice::from_ref(&residuals), None),
            quantiles: quantiles(&residuals),
            residual: shorts(residuals),
        })
    }
}

/// Sorted residuals in standard deviations against the normal quantiles of their ranks.
fn quantiles(residuals: &[f64]) -> Vec<(Option<f64>, Option<f64>)> {
    let mut sorted: Vec<f64> = residuals.iter().copied().filter(|r| r.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len() as f64;
    let mean = sorted.iter().sum::<f64>() / n;
    let deviation = (sorted.iter().map(|r| (r - mean).powi(2)).sum::<f64>() / n).sqrt();
    if deviation.is_nan() || deviation <= 0.0 {
        return Vec::new();
    }
    let at = |k: usize| {
        let share = (k as f64 + 0.5) / n;
        (short(normal_quantile(share)), short((sorted[k] - mean) / deviation))
    };
    crate::thin::thin(sorted.len(), MOST_QUANTILES).into_iter().map(at).collect()
}

/// The x with Φ(x) = share, by Acklam's rational approximation (relative error below 1.2e-9).
fn normal_quantile(share: f64) -> f64 {
    const A: [f64; 6] = [
        -3.969683028665376e1,
        2.209460984245205e2,
        -2.759285104469687e2,
        1.38357751867269e2,
        -3.066479806614716e1,
        2.506628277459239,
    ];
    const B: [f64; 5] =
        [-5.447609879822406e1, 1.615858368580409e2, -1.556989798598866e2, 6.680131188771972e1, -1.328068155288572e1];
    const C: [f64; 6] = [
        -7.784894002430293e-3,
        -3.223964580411365e-1,
        -2.400758277161838,
        -2.549732539343734,
        4.374664141464968,
        2.938163982698783,
    ];
    const D: [f64; 4] = [7.784695709041462e-3, 3.224671290700398e-1, 2.445134137142996, 3.754408661907416];
    let horner = |c: &[f64], x: f64| c.iter().fold(0.0, |sum, a| sum * x + a);
    let tail = |q: f64| horner(&C, q) / (horner(&D, q) * q + 1.0);
    if share < 0.02425 {
        tail((-2.0 * share.ln()).sqrt())
    } else if share > 1.0 - 0.02425 {
        -tail((-2.0 * (1.0 - share).ln()).sqrt())
    } else {
        let (q, r) = (share - 0.5, (share - 0.5).powi(2));
        horner(&A, r) * q / (horner(&B, r) * r + 1.0)
    }
}

/// Fit of classes.
#[derive(Debug, Clone, Serialize)]
pub struct ClassSeries {
    /// Which samples these are, in few words.
    pub samples: String,
    /// Whether scores are probabilities.
    pub probabilities: bool,
    /// (false positives, true positives).
    pub roc: Vec<(Option<f64>, Option<f64>)>,
    /// Area.
    pub auc: Option<f64>,
    /// Scores of the negative and the positive class in bins.
    pub histogram: Option<Histogram>,
    /// Groups.
    pub calibration: Vec<Calibration>,
}

impl ClassSeries {
    /// `None` without samples.
    pub fn new(fit: &Classification) -> Option<Self> {
        if fit.scores.is_empty() {
            return None;
        }
        let pick = |class: bool| fit.scores.iter().zip(&fit.labels).filter(|s| *s.1 == class).map(|s| *s.0).collect();
        let range = fit.probabilities.then_some((0.0, 1.0));
        Some(Self {
            samples: brief(&fit.samples).to_owned(),
            probabilities: fit.probabilities,
            roc: fit.roc.iter().map(|c| (short(c.0), short(c.1))).collect(),
            auc: short(fit.auc),
            histogram: Histogram::new(&[pick(false), pick(true)], range),
            calibration: fit.calibration.clone(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_finite_value_falls_into_a_bin() {
        let values = vec![0.0, 1.0, 0.5, f64::NAN, 0.25, f64::INFINITY];
        let made = Histogram::new(&[values, vec![0.9]], None).unwrap();
        assert_eq!(made.counts.iter().map(|c| c.iter().sum::<usize>()).collect::<Vec<_>>(), [4, 1]);
        assert_eq!((made.edges.len(), made.counts[0].len()), (7, 6));
        assert_eq!((made.counts[0][0], made.counts[0][5]), (1, 1));
        assert!(Histogram::new(&[vec![2.0; 5]], None).is_none());
        assert!(Histogram::new(&[vec![-f64::MAX, f64::MAX]], None).is_none());
    }

    #[test]
    fn normal_quantiles_of_the_tables() {
        for (share, x) in [(0.5, 0.0), (0.975, 1.959963985), (0.001, -3.090232306), (0.9, 1.281551566)] {
            assert!((normal_quantile(share) - x).abs() < 1e-8, "{share}");
        }
        let flat = quantiles(&[1.0; 5]);
        assert!(flat.is_empty());
    }
}
