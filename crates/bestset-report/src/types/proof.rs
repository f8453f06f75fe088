//! What is proved, and how.

use crate::number::{self, finite};
use bestset::select::Standing;
use bestset::shown::{Side, decimals};
use serde::{Deserialize, Serialize};

/// How good the answer is known to be.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Certificate {
    /// P of the answer.
    #[serde(with = "finite")]
    pub objective: f64,
    /// Minimum of the convex relaxation, where there is one.
    pub relaxation: Option<f64>,
    /// No choice of features has a lower objective; −∞ when nothing is proved.
    #[serde(with = "finite")]
    pub lower_bound: f64,
    /// Objective − lower bound; +∞ when nothing is proved.
    #[serde(with = "finite")]
    pub gap: f64,
    /// The gap relative to the objective; +∞ when nothing is proved.
    #[serde(with = "finite")]
    pub relative_gap: f64,
    /// How the computation ended, for instance `converged` or `time limit`.
    pub status: String,
    /// Whether the answer is proved best, within the tolerance.
    pub optimal: bool,
    /// The answer against no features and against what any subset can reach, where that is known.
    pub standing: Option<Standing>,
    /// What is proved, in a sentence or two.
    pub sentence: String,
}

impl Default for Certificate {
    fn default() -> Self {
        Self::new(f64::NAN, f64::NEG_INFINITY, "", false)
    }
}

impl Certificate {
    /// From the two numbers that matter; fills in the gaps and the sentence. A loss is never below zero, and neither is a bound.
    pub fn new(objective: f64, lower_bound: f64, status: impl Into<String>, optimal: bool) -> Self {
        let known = objective.is_finite() && lower_bound.is_finite();
        let lower_bound = if known { lower_bound.max(0.0) } else { lower_bound };
        let gap = if known { (objective - lower_bound).max(0.0) } else { f64::INFINITY };
        let relative_gap = if gap == 0.0 || gap.is_infinite() { gap } else { gap / objective.abs() };
        let sentence = sentence(gap, relative_gap, optimal);
        let status = status.into();
        let standing = None;
        Self { objective, relaxation: None, lower_bound, gap, relative_gap, status, optimal, standing, sentence }
    }

    /// The same with its standing, which is what the sentence is then about: a share of the objective flatters, because most of
    /// the objective is there without any feature.
    pub fn with_standing(mut self, standing: Standing) -> Self {
        let lead = if self.optimal {
            format!(
                "{} {}, of the best subset at this penalty. {}",
                measure(&standing),
                number::number(standing.r2, 4),
                self.sentence
            )
        } else {
            let gain = gain(&standing).map_or(String::new(), |share| {
                format!(" It has at least {share} of the largest possible gain over no features.")
            });
            format!("{}.{gain}", claim(&standing))
        };
        (self.standing, self.sentence) = (Some(standing), lead);
        self
    }

    /// Whether the bound says anything: a gap of the whole objective is what zero, a bound of everything, would give.
    pub fn is_useful(&self) -> bool {
        self.optimal || self.standing.map_or(self.relative_gap < 1.0, |s| s.r2_limit < 1.0 || s.gain > 0.0)
    }
}

/// What R² is called for the loss.
pub(crate) fn measure(standing: &Standing) -> &'static str {
    if standing.is_squared { "R²" } else { "Share of deviance explained" }
}

/// R² of an answer that is not proved best, and what no subset exceeds.
fn claim(standing: &Standing) -> String {
    let (name, r2) = (measure(standing), number::number(standing.r2, 4));
    match standing.r2_limit < 1.0 {
        true => format!("{name} {r2}; proved: no subset of this penalty exceeds {}", limit(standing)),
        false => format!("{name} {r2}; no limit below 1 is proved for other subsets"),
    }
}

/// What R² of no subset exceeds, rounded up: a limit that is shown must hold.
pub(crate) fn limit(standing: &Standing) -> String {
    number::trimmed(standing.limit()).replace('-', "−")
}

/// What R² of no subset is more above that of the answer, to four places, rounded up.
pub(crate) fn room(standing: &Standing) -> String {
    number::trimmed(decimals(standing.r2_limit - standing.r2, 4, Side::Above))
}

/// The share of the largest possible gain over no features that is certain, rounded down; `None` where that is nothing.
pub(crate) fn gain(standing: &Standing) -> Option<String> {
    let share = decimals(100.0 * standing.gain, 0, Side::Below);
    (share != "0").then(|| format!("{share}\u{a0}%"))
}

fn sentence(gap: f64, relative_gap: f64, optimal: bool) -> String {
    if optimal {
        "Proved: no other choice of features has a lower objective, within the tolerance.".to_owned()
    } else if relative_gap < 1.0 {
        let (gap, share) = (number::bound(gap, 4, Side::Above), number::percent_bound(relative_gap, Side::Above));
        format!("Proved: no other choice of features lowers the objective by more than {gap} ({share}).")
    } else {
        "Nothing is proved: a useful lower bound needs lambda2 > 0 or bounds on the coefficients, and time.".to_owned()
    }
}

/// The state of the proof at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct TraceRow {
    /// Seconds since the start.
    #[serde(with = "finite")]
    pub seconds: f64,
    /// Best objective so far.
    #[serde(with = "finite")]
    pub objective: f64,
    /// Best lower bound so far.
    #[serde(with = "finite")]
    pub lower_bound: f64,
}

/// What became of all features.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Screening {
    /// Features to begin with.
    pub features: usize,
    /// The rules in the order in which the page shows them.
    pub rules: Vec<Rule>,
    /// Features in the answer.
    pub selected: usize,
}

/// A rule, what it proves, and of how many features.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Rule {
    /// Its name.
    pub name: String,
    /// What it proves, for someone who has not read the mathematics.
    pub explanation: String,
    /// Features it decided.
    pub count: usize,
    /// Whether the features it decided are out for good, so that the funnel narrows by their number.
    pub removes: bool,
}
