//! What is proved of an answer, in the words of a statistician.

use crate::certificate::Certificate;
use crate::loss::Loss;
use crate::problem::Problem;
use crate::shown::{Side, decimals};
use crate::solution::{Coefficients, Status};
use serde::{Deserialize, Serialize};

/// An answer against the null model, and against what any subset could reach (MATH 10.18, 10.19).
///
/// With L the loss of the answer, L_∅ and P_∅ those without features and the gap P − D of its certificate:
///
/// - R² = 1 − L/L_∅, the share of the deviance explained;
/// - every β of at most the same penalty has P(β) ≥ D, so L(β) ≥ L − gap: its R² is at most R² + gap/L_∅;
/// - the answer lowers P of the null model by P_∅ − P, no subset by more than P_∅ − D.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Standing {
    /// R² of the answer: for other losses than the squared one the share of the deviance explained.
    pub r2: f64,
    /// What R² of no subset of at most the same penalty exceeds; at most one.
    pub r2_limit: f64,
    /// (P_∅ − P)/(P_∅ − D): the share of the largest possible gain over the null model that is certain to be reached.
    pub gain: f64,
    /// Whether the answer is proved best.
    pub is_best: bool,
    /// Whether the loss is the squared one, whose R² is called that.
    pub is_squared: bool,
    /// The size that subsets were limited to, if they were.
    pub most: Option<usize>,
}

impl Standing {
    /// R², the least of 1 and R² + (P − D)/L_∅ (MATH 10.18), and (P_∅ − P)/(P_∅ − D) (MATH 10.19), no less than 0 and 1 where P_∅ ≤ D.
    pub fn new(problem: &Problem<'_>, coefficients: &Coefficients, certificate: &Certificate, status: Status) -> Self {
        let u = problem.null_margins();
        let null = problem.loss_sum(&u, problem.best_intercept(&u, 0.0));
        let loss = problem.loss_of(coefficients, certificate.objective);
        let r2 = if null > 0.0 { 1.0 - loss / null } else { 0.0 };
        let room = if null > 0.0 { certificate.gap() / null } else { 0.0 };
        let (gained, possible) = (null - certificate.objective, null - certificate.lower_bound);
        let gain = if possible > 0.0 { (gained / possible).clamp(0.0, 1.0) } else { 1.0 };
        Self {
            r2,
            r2_limit: (r2 + room).min(1.0),
            gain,
            is_best: status == Status::Optimal,
            is_squared: problem.loss() == Loss::Squared,
            most: problem.max_size(),
        }
    }

    /// What R² of no subset exceeds, to four places, or to as many as show that it is below one; rounded up, so that it still is a limit.
    pub fn limit(&self) -> String {
        // The places that a double below one has.
        const MOST: usize = 16;
        let shown = |places: usize| decimals(self.r2_limit, places, Side::Above);
        let is_below = |text: &String| self.r2_limit >= 1.0 || text.parse().is_ok_and(|limit: f64| limit < 1.0);
        (4..MOST).map(shown).find(is_below).unwrap_or_else(|| shown(MOST))
    }
}

impl std::fmt::Display for Standing {
    /// One line.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let measure = if self.is_squared { "R²" } else { "share of deviance explained" };
        let subset = match self.most {
            None => "no subset".to_owned(),
            Some(1) => "no subset of at most 1 feature".to_owned(),
            Some(k) => format!("no subset of at most {k} features"),
        };
        let r2 = self.r2;
        if self.is_best {
            return write!(
                f,
                "{measure} {r2:.4}; proved best possible at this penalty: {subset} has a lower objective"
            );
        }
        if self.r2_limit >= 1.0 {
            return write!(f, "{measure} {r2:.4}; no limit below 1 is proved for other subsets");
        }
        write!(f, "{measure} {r2:.4}; proved: {subset} of at most this penalty exceeds {}", self.limit())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_rounded_up_and_stays_below_one() {
        let cases = [
            (0.79673, "0.7968"),
            (0.7967, "0.7967"),
            (0.5, "0.5000"),
            (0.99996, "0.99996"),
            (0.9999999, "0.9999999"),
            (-0.00001, "0.0000"),
            (1.0, "1.0000"),
        ];
        for (r2_limit, text) in cases {
            let standing = Standing { r2: 0.4, r2_limit, gain: 0.5, is_best: false, is_squared: true, most: Some(2) };
            assert_eq!(standing.limit(), text, "{r2_limit}");
            if r2_limit < 1.0 {
                assert!(standing.to_string().ends_with(&format!("at most this penalty exceeds {text}")), "{standing}");
            }
        }
    }
}
