//! How good predictions are on samples that the fit has not seen.

use crate::error::{Error, Result};
use crate::loss::Loss;
use crate::problem::Problem;
use serde::{Deserialize, Serialize};

/// A score of margins u against targets y, with weights (MATH 10.9, 10.10).
///
/// | score | value | best |
/// |---|---|---|
/// | squared error | Σ w (y − m)² / Σ w, m = u, or e^u with the log link | least |
/// | absolute error | Σ w abs(y − m) / Σ w | least |
/// | deviance | 2 Σ w ℓ(u, y) / Σ w; ℓ is half the deviance of one sample | least |
/// | accuracy | share of samples with sign(u) = y | largest |
/// | AUC | share of pairs of the two classes in the right order, ties half | largest |
/// | concordance | share of comparable pairs of survival times in the right order, ties half (MATH 15.13) | largest |
///
/// The deviance of survival times is that of all samples less that of the training part, over the events left out (MATH 15.14).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Score {
    /// Mean squared error.
    SquaredError,
    /// Mean absolute error.
    AbsoluteError,
    /// Twice the mean loss.
    Deviance,
    /// Share of right classes.
    Accuracy,
    /// Area under the curve of true against false positives.
    Auc,
    /// Harrell's C.
    Concordance,
}

impl std::str::FromStr for Score {
    type Err = Error;

    /// The score of this [name](Score::name).
    fn from_str(name: &str) -> Result<Self> {
        let known = Self::ALL.into_iter().find(|s| s.name() == name);
        known.ok_or_else(|| Error::UnknownName { what: "score", name: name.to_owned() })
    }
}

impl Score {
    /// Every score.
    pub const ALL: [Self; 6] =
        [Self::SquaredError, Self::AbsoluteError, Self::Deviance, Self::Accuracy, Self::Auc, Self::Concordance];

    /// The name in every interface.
    pub fn name(self) -> &'static str {
        match self {
            Self::SquaredError => "squared_error",
            Self::AbsoluteError => "absolute_error",
            Self::Deviance => "deviance",
            Self::Accuracy => "accuracy",
            Self::Auc => "auc",
            Self::Concordance => "concordance",
        }
    }

    /// As it is written.
    pub fn title(self) -> &'static str {
        match self {
            Self::SquaredError => "mean squared error",
            Self::AbsoluteError => "mean absolute error",
            Self::Deviance => "mean deviance",
            Self::Accuracy => "accuracy",
            Self::Auc => "AUC",
            Self::Concordance => "concordance",
        }
    }

    /// The usual score of a loss: squared error for the squared loss, deviance for the others.
    pub fn of(loss: Loss) -> Self {
        if loss.is_quadratic() { Self::SquaredError } else { Self::Deviance }
    }

    /// Whether the largest value is best.
    pub fn is_maximised(self) -> bool {
        matches!(self, Self::Accuracy | Self::Auc | Self::Concordance)
    }

    /// Whether it makes sense for the loss.
    pub fn validate(self, loss: Loss) -> Result<()> {
        let (fits, reason) = match self {
            Self::Accuracy => {
                let has_classes = loss.is_classification() || matches!(loss, Loss::Multinomial { .. });
                (has_classes, "needs a classification loss")
            }
            Self::Auc => (loss.is_classification(), "needs a loss of two classes"),
            Self::Concordance => (matches!(loss, Loss::Cox { .. }), "needs survival times"),
            Self::Deviance => (true, ""),
            _ if matches!(loss, Loss::Multinomial { .. }) => {
                (false, "needs numbers to predict; use deviance or accuracy")
            }
            _ => (!loss.is_coupled(), "needs a loss that is a sum over samples; use deviance or concordance"),
        };
        let method = if self == Self::Auc { "AUC" } else { self.name() };
        if fits { Ok(()) } else { Err(Error::Unsupported { method, reason }) }
    }

    /// The score (MATH 10.9) of the samples given as (u, y, weight); NaN without weight, or for the AUC without both classes.
    pub fn value(self, loss: Loss, samples: &[(f64, f64, f64)]) -> f64 {
        let mean = |term: &dyn Fn(f64, f64) -> f64| {
            let counted = || samples.iter().filter(|s| s.2 > 0.0);
            counted().map(|&(u, y, w)| w * term(u, y)).sum::<f64>() / counted().map(|s| s.2).sum::<f64>()
        };
        // Labels are −1 and +1, margins their predictions.
        let response = |u: f64| if loss.has_log_link() { loss.mean(u) } else { u };
        match self {
            Self::SquaredError => mean(&|u, y| (y - response(u)).powi(2)),
            Self::AbsoluteError => mean(&|u, y| (y - response(u)).abs()),
            Self::Deviance => mean(&|u, y| 2.0 * loss.value(u, y)),
            Self::Accuracy => mean(&|u, y| f64::from(u8::from((u > 0.0) == (y > 0.0)))),
            Self::Auc => auc(samples),
            // Of samples together: see `held_out`.
            Self::Concordance => f64::NAN,
        }
    }
}

/// 2 Σ w_i (log Σ_k e^{u_ki} − u_{y_i i}) / Σ w_i, or the share of samples of `test` whose class has the largest u_ki (MATH 10.9).
pub(super) fn of_classes(problem: &Problem<'_>, score: Score, u: &[f64], test: &[usize]) -> f64 {
    let (n, classes) = (problem.samples(), problem.classes());
    let weight = |i: usize| problem.weights().map_or(1.0, |w| w[i]);
    let one = |i: usize| {
        let of = |k: usize| u[k * n + i];
        let own = (0..classes).find(|&k| problem.y()[k * n + i] == 1.0).unwrap_or(0);
        let most = (0..classes).map(of).fold(f64::NEG_INFINITY, f64::max);
        match score {
            // The first of equals is the prediction.
            Score::Accuracy => f64::from(u8::from((0..classes).position(|k| of(k) == most) == Some(own))),
            _ => 2.0 * ((0..classes).map(|k| (of(k) - most).exp()).sum::<f64>().ln() + (most - of(own))),
        }
    };
    let counted = || test.iter().copied().filter(|&i| weight(i) > 0.0);
    counted().map(|i| weight(i) * one(i)).sum::<f64>() / counted().map(weight).sum::<f64>()
}

/// The score of a loss over all samples together for those of `test`, and their weight: the deviance 2 (L(u) − L_train(u)) over the weight of
/// what it counts (MATH 15.14), or C among them (MATH 15.13).
pub(super) fn held_out(problem: &Problem<'_>, score: Score, u: &[f64], test: &[usize]) -> Result<Option<(f64, f64)>> {
    let Some(coupled) = problem.coupled() else { return Ok(None) };
    let mut kept = problem.weights().map_or_else(|| vec![1.0; problem.nrows()], <[f64]>::to_vec);
    test.iter().for_each(|&i| kept[i] = 0.0);
    let training = coupled.weighted(Some(&kept))?;
    let weight = coupled.counted().1 - training.counted().1;
    let value = match score {
        Score::Concordance => coupled.concordance(u, test),
        _ => 2.0 * (coupled.value(u) - training.value(u)) / weight,
    };
    Ok(Some((if weight > 0.0 { value } else { f64::NAN }, weight)))
}

/// Σ w_iw_l([u_i > u_l] + ½[u_i = u_l]) over pairs with y_i > 0 > y_l, divided by the same sum without the brackets (MATH 10.10).
fn auc(samples: &[(f64, f64, f64)]) -> f64 {
    let mut sorted: Vec<&(f64, f64, f64)> = samples.iter().collect();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut below, mut right, mut positive) = (0.0, 0.0, 0.0);
    for tied in sorted.chunk_by(|a, b| a.0 == b.0) {
        let weight = |up: bool| tied.iter().filter(|s| (s.1 > 0.0) == up).map(|s| s.2).sum::<f64>();
        let (up, down) = (weight(true), weight(false));
        right += up * (below + 0.5 * down);
        below += down;
        positive += up;
    }
    right / (positive * below)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_by_hand() {
        let samples = [(2.0, 1.0, 1.0), (-1.0, 1.0, 2.0), (0.5, -1.0, 1.0), (-1.0, -1.0, 1.0), (9.0, -1.0, 0.0)];
        let value = |score: Score| score.value(Loss::SquaredHinge, &samples);
        assert_eq!(value(Score::SquaredError), (1.0 + 2.0 * 4.0 + 2.25) / 5.0);
        assert_eq!(value(Score::AbsoluteError), (1.0 + 4.0 + 1.5) / 5.0);
        assert_eq!(value(Score::Deviance), 2.0 * (0.0 + 2.0 * 4.0 + 2.25 + 0.0) / 5.0);
        assert_eq!(value(Score::Accuracy), 2.0 / 5.0);
        // Pairs: (2, 0.5) and (2, −1) right; two copies of (−1, 0.5) wrong and of (−1, −1) tied.
        assert_eq!(value(Score::Auc), (2.0 + 2.0 * 0.5) / 6.0);
        assert!(Score::Auc.value(Loss::Logistic, &samples[..2]).is_nan());
        assert!(Score::Auc.validate(Loss::Squared).is_err() && Score::Auc.validate(Loss::Logistic).is_ok());
    }
}
