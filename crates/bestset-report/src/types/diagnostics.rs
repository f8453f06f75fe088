//! How well the model fits, sample by sample and as a whole.

use crate::number::{finite, finite_list};
use crate::thin::thin;
use crate::types::{ClassesFit, SurvivalFit};
use serde::{Deserialize, Serialize};

/// The most samples a report keeps: figures are of all samples, only the dots are fewer.
const MOST_SAMPLES: usize = 2000;
/// The most corners of a curve.
const MOST_CORNERS: usize = 400;
/// Groups of a calibration curve at the most.
const CALIBRATION_GROUPS: usize = 10;

/// How well the model fits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Diagnostics {
    /// Of numbers.
    Regression(Regression),
    /// Of two classes.
    Classification(Classification),
    /// Of more than two classes.
    Classes(ClassesFit),
    /// Of survival times.
    Survival(SurvivalFit),
}

/// Predictions of numbers.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Regression {
    /// Which samples these are; "the samples it was fitted on" unless said otherwise.
    pub samples: String,
    /// How many samples the figures are of.
    pub count: usize,
    /// Observed values, thinned to a few thousand.
    #[serde(with = "finite_list")]
    pub observed: Vec<f64>,
    /// Predictions for them.
    #[serde(with = "finite_list")]
    pub fitted: Vec<f64>,
    /// 1 − residual sum of squares over total sum of squares.
    #[serde(with = "finite")]
    pub r2: f64,
    /// Root of the mean squared residual.
    #[serde(with = "finite")]
    pub rmse: f64,
    /// Mean absolute residual.
    #[serde(with = "finite")]
    pub mae: f64,
}

impl Regression {
    /// From observed values and predictions, both of all samples; the shorter list decides how many count.
    pub fn new(observed: &[f64], fitted: &[f64]) -> Self {
        let pairs: Vec<(f64, f64)> = observed.iter().copied().zip(fitted.iter().copied()).collect();
        let n = pairs.len() as f64;
        let mean = pairs.iter().map(|p| p.0).sum::<f64>() / n;
        let total: f64 = pairs.iter().map(|p| (p.0 - mean).powi(2)).sum();
        let rest: f64 = pairs.iter().map(|p| (p.0 - p.1).powi(2)).sum();
        let absolute: f64 = pairs.iter().map(|p| (p.0 - p.1).abs()).sum();
        let kept = thin(pairs.len(), MOST_SAMPLES);
        Self {
            samples: FITTED_ON.to_owned(),
            count: pairs.len(),
            observed: kept.iter().map(|&i| pairs[i].0).collect(),
            fitted: kept.iter().map(|&i| pairs[i].1).collect(),
            r2: if total > 0.0 { 1.0 - rest / total } else { f64::NAN },
            rmse: (rest / n).sqrt(),
            mae: absolute / n,
        }
    }

    /// observed − fitted.
    pub fn residuals(&self) -> Vec<f64> {
        self.observed.iter().zip(&self.fitted).map(|(y, u)| y - u).collect()
    }
}

/// Predictions of one of two classes.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Classification {
    /// Which samples these are; "the samples it was fitted on" unless said otherwise.
    pub samples: String,
    /// How many samples the figures are of.
    pub count: usize,
    /// Whether the class is the positive one, thinned to a few thousand.
    pub labels: Vec<bool>,
    /// Scores for them: probabilities, or margins whose sign is the class.
    #[serde(with = "finite_list")]
    pub scores: Vec<f64>,
    /// Whether the scores are probabilities.
    pub probabilities: bool,
    /// (share of negatives taken for positive, share of positives found), from (0, 0) to (1, 1).
    pub roc: Vec<(f64, f64)>,
    /// Area under that curve.
    #[serde(with = "finite")]
    pub auc: f64,
    /// Right and wrong at the threshold: probability ½ or margin 0.
    pub confusion: Confusion,
    /// Predicted against observed shares; empty unless the scores are probabilities.
    pub calibration: Vec<Calibration>,
    /// Share of right classes.
    #[serde(with = "finite")]
    pub accuracy: f64,
    /// Mean of −log of the probability given to what happened; only of probabilities.
    pub log_loss: Option<f64>,
}

/// How many samples of each kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Confusion {
    /// Positive, taken for positive.
    pub true_positive: usize,
    /// Negative, taken for positive.
    pub false_positive: usize,
    /// Negative, taken for negative.
    pub true_negative: usize,
    /// Positive, taken for negative.
    pub false_negative: usize,
}

/// A group of samples with similar predicted probabilities.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Calibration {
    /// Mean predicted probability.
    #[serde(with = "finite")]
    pub predicted: f64,
    /// Share that was positive.
    #[serde(with = "finite")]
    pub observed: f64,
    /// Samples in the group.
    pub count: usize,
}

impl Classification {
    /// From classes and probabilities of the positive one.
    pub fn from_probabilities(labels: &[bool], probabilities: &[f64]) -> Self {
        let mut made = Self::make(labels, probabilities, 0.5);
        let kept = |p: f64| p.clamp(1e-15, 1.0 - 1e-15);
        let surprise = |(l, p): (&bool, &f64)| -if *l { kept(*p).ln() } else { (1.0 - kept(*p)).ln() };
        made.probabilities = true;
        made.log_loss = Some(labels.iter().zip(probabilities).map(surprise).sum::<f64>() / made.count as f64);
        made.calibration = calibration(labels, probabilities);
        made
    }

    /// From classes and margins, positive for the positive class.
    pub fn from_margins(labels: &[bool], margins: &[f64]) -> Self {
        Self::make(labels, margins, 0.0)
    }

    fn make(labels: &[bool], scores: &[f64], threshold: f64) -> Self {
        let count = labels.len().min(scores.len());
        let (labels, scores) = (&labels[..count], &scores[..count]);
        let confusion = Confusion::at(labels, scores, threshold);
        let right = confusion.true_positive + confusion.true_negative;
        let (roc, auc) = roc(labels, scores);
        let kept = thin(count, MOST_SAMPLES);
        Self {
            samples: FITTED_ON.to_owned(),
            count,
            labels: kept.iter().map(|&i| labels[i]).collect(),
            scores: kept.iter().map(|&i| scores[i]).collect(),
            probabilities: false,
            roc,
            auc,
            confusion,
            calibration: Vec::new(),
            accuracy: right as f64 / count as f64,
            log_loss: None,
        }
    }
}

impl Confusion {
    /// Counts scores above the threshold as positive.
    pub fn at(labels: &[bool], scores: &[f64], threshold: f64) -> Self {
        let mut made = Self::default();
        for (&label, &score) in labels.iter().zip(scores) {
            let cell = match (label, score > threshold) {
                (true, true) => &mut made.true_positive,
                (false, true) => &mut made.false_positive,
                (false, false) => &mut made.true_negative,
                (true, false) => &mut made.false_negative,
            };
            *cell += 1;
        }
        made
    }
}

/// What [`Regression::samples`] and [`Classification::samples`] say unless told otherwise.
pub(crate) const FITTED_ON: &str = "the samples it was fitted on";

/// Samples that are predicted by fits that have not seen them.
pub(crate) const LEFT_OUT: &str = "samples left out, each predicted by a fit of the same size that has not seen it";

/// The samples in few words.
pub(crate) fn brief(samples: &str) -> &str {
    if samples == LEFT_OUT { "samples left out" } else { samples }
}

impl Diagnostics {
    /// The same, said to be of these samples.
    pub(crate) fn of_samples(mut self, samples: &str) -> Self {
        match &mut self {
            Self::Regression(r) => r.samples = samples.to_owned(),
            Self::Classification(c) => c.samples = samples.to_owned(),
            Self::Classes(c) => c.samples = samples.to_owned(),
            Self::Survival(s) => s.samples = samples.to_owned(),
        }
        self
    }
}

/// The curve from (0, 0) to (1, 1), tied scores as one step, and the area below it; NaN without both classes.
pub(super) fn roc(labels: &[bool], scores: &[f64]) -> (Vec<(f64, f64)>, f64) {
    let mut order: Vec<usize> = (0..labels.len()).collect();
    order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
    let positives = labels.iter().filter(|l| **l).count() as f64;
    let negatives = labels.len() as f64 - positives;
    if positives == 0.0 || negatives == 0.0 {
        return (Vec::new(), f64::NAN);
    }
    let (mut corners, mut area) = (vec![(0.0, 0.0)], 0.0);
    let (mut found, mut mistaken) = (0.0, 0.0);
    for tied in order.chunk_by(|&a, &b| scores[a] == scores[b]) {
        let hits = tied.iter().filter(|&&i| labels[i]).count() as f64;
        let misses = tied.len() as f64 - hits;
        area += misses * (found + 0.5 * hits);
        (found, mistaken) = (found + hits, mistaken + misses);
        corners.push((mistaken / negatives, found / positives));
    }
    let kept = thin(corners.len(), MOST_CORNERS);
    (kept.into_iter().map(|k| corners[k]).collect(), area / (positives * negatives))
}

/// Groups of equal size by predicted probability, ties kept together.
fn calibration(labels: &[bool], probabilities: &[f64]) -> Vec<Calibration> {
    let mut order: Vec<(f64, bool)> = probabilities.iter().copied().zip(labels.iter().copied()).collect();
    order.sort_by(|a, b| a.0.total_cmp(&b.0));
    let n = order.len();
    // At least eight samples in a group: a share of fewer says little.
    let groups = CALIBRATION_GROUPS.min(n / 8).max(1);
    let (mut made, mut from) = (Vec::new(), 0);
    for k in 1..=groups {
        let mut to = (k * n / groups).max(from);
        while to > 0 && to < n && order[to].0 == order[to - 1].0 {
            to += 1;
        }
        let group = &order[from..to];
        if !group.is_empty() {
            let count = group.len();
            let predicted = group.iter().map(|g| g.0).sum::<f64>() / count as f64;
            let observed = group.iter().filter(|g| g.1).count() as f64 / count as f64;
            made.push(Calibration { predicted, observed, count });
        }
        from = to;
    }
    made
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regression_by_hand() {
        let made = Regression::new(&[1.0, 2.0, 3.0, 4.0], &[1.5, 1.5, 3.5, 3.5]);
        assert_eq!((made.r2, made.rmse, made.mae), (0.8, 0.5, 0.5));
        assert_eq!(made.residuals(), [-0.5, 0.5, -0.5, 0.5]);
        assert!(Regression::new(&[2.0, 2.0], &[2.0, 2.0]).r2.is_nan());
        assert_eq!(Regression::new(&[], &[]).count, 0);
    }

    #[test]
    fn many_samples_are_thinned_but_counted() {
        let y: Vec<f64> = (0..100_000).map(f64::from).collect();
        let made = Regression::new(&y, &y);
        assert_eq!((made.count, made.observed.len(), made.r2), (100_000, MOST_SAMPLES, 1.0));
        assert_eq!((made.observed[0], *made.observed.last().unwrap()), (0.0, 99_999.0));
    }

    #[test]
    fn classification_by_hand() {
        let (labels, scores) = ([true, true, false, true, false], [0.9, 0.8, 0.8, 0.3, 0.1]);
        let made = Classification::from_probabilities(&labels, &scores);
        // Pairs: 0.9 beats both, 0.8 ties one and beats one, 0.3 beats one: 4.5 of 6.
        assert_eq!(made.auc, 4.5 / 6.0);
        assert_eq!(made.roc, [(0.0, 0.0), (0.0, 1.0 / 3.0), (0.5, 2.0 / 3.0), (0.5, 1.0), (1.0, 1.0)]);
        let Confusion { true_positive, false_positive, true_negative, false_negative } = made.confusion;
        assert_eq!([true_positive, false_positive, true_negative, false_negative], [2, 1, 1, 1]);
        assert_eq!(made.accuracy, 0.6);
        let expected = -(0.9f64.ln() + 0.8f64.ln() + 0.2f64.ln() + 0.3f64.ln() + 0.9f64.ln()) / 5.0;
        assert!((made.log_loss.unwrap() - expected).abs() < 1e-12);
        assert!(Classification::from_margins(&[true, true], &[1.0, 2.0]).auc.is_nan());
    }

    #[test]
    fn calibration_groups_are_even_and_keep_ties() {
        let p: Vec<f64> = (0..100).map(|i| f64::from(i) / 100.0).collect();
        let labels: Vec<bool> = (0..100).map(|i| i % 2 == 0).collect();
        let groups = calibration(&labels, &p);
        assert_eq!(groups.len(), 10);
        assert!(groups.iter().all(|g| g.count == 10 && g.observed == 0.5));
        let tied = calibration(&labels, &[0.5; 100]);
        assert_eq!((tied.len(), tied[0].count), (1, 100));
        assert!(calibration(&[], &[]).is_empty());
    }
}
