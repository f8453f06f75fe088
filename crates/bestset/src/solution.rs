//! What a solver returns.

use crate::certificate::Certificate;
use crate::error::{Error, Result, check_finite, check_length};
use serde::{Deserialize, Serialize};

/// Sparse coefficients: β_j = values_k for j = support_k, zero elsewhere, and the intercept.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Coefficients {
    /// Feature indices, ascending.
    pub support: Vec<usize>,
    /// Their values.
    pub values: Vec<f64>,
    /// The intercept, zero if the problem has none.
    pub intercept: f64,
}

impl Coefficients {
    /// From (feature, value) pairs in any order; zeros are dropped.
    pub fn from_pairs(mut pairs: Vec<(usize, f64)>, intercept: f64) -> Self {
        pairs.retain(|p| p.1 != 0.0);
        pairs.sort_unstable_by_key(|p| p.0);
        let (support, values) = pairs.into_iter().unzip();
        Self { support, values, intercept }
    }

    /// From a vector with one entry per feature.
    pub fn from_dense(beta: &[f64], intercept: f64) -> Self {
        Self::from_pairs(beta.iter().copied().enumerate().collect(), intercept)
    }

    /// A vector with one entry for each of p features.
    pub fn to_dense(&self, p: usize) -> Vec<f64> {
        let mut beta = vec![0.0; p];
        self.iter().for_each(|(j, b)| beta[j] = b);
        beta
    }

    /// (feature, value) pairs.
    pub fn iter(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        self.support.iter().copied().zip(self.values.iter().copied())
    }

    /// The features with a coefficient, ascending, where each has K columns, one for every class, at j·K + k.
    pub fn features(&self, classes: usize) -> Vec<usize> {
        let mut features: Vec<usize> = self.support.iter().map(|j| j / classes).collect();
        features.dedup();
        features
    }

    /// Number of non-zero coefficients.
    pub fn nonzeros(&self) -> usize {
        self.values.iter().filter(|b| **b != 0.0).count()
    }

    /// Checks lengths, order, range and finiteness for p features.
    pub fn validate(&self, p: usize) -> Result<()> {
        self.check_places(p)?;
        check_finite("coefficient", &self.values)?;
        check_finite("intercept", &[self.intercept])
    }

    /// Checks lengths, order and range for p features.
    pub(crate) fn check_places(&self, p: usize) -> Result<()> {
        check_length("coefficient values", self.values.len(), self.support.len())?;
        for (position, &index) in self.support.iter().enumerate() {
            let bad = |problem| Err(Error::Index { what: "the support", position, index, problem });
            if index >= p {
                return bad("beyond the last feature");
            }
            if position > 0 && self.support[position - 1] >= index {
                return bad("features must ascend strictly");
            }
        }
        Ok(())
    }
}

/// How a computation ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Status {
    /// The gap between objective and lower bound is within the tolerance: proved best.
    Optimal,
    /// The method met its own stopping rule; the gap says how good the answer is.
    Converged,
    /// The time limit struck.
    TimeLimit,
    /// The limit on branch-and-bound nodes struck.
    NodeLimit,
    /// The limit on memory struck; the bound holds, the gap says how far it got.
    MemoryLimit,
    /// The limit on iterations struck.
    IterationLimit,
    /// Rounding kept the convex phase from its tolerance; the bound holds, the gap says how far it got.
    Stalled,
    /// The caller cancelled.
    Interrupted,
    /// A column could not be read; the answer is the best so far, the bound the last that was proved.
    ReadFailed,
}

impl Status {
    const ALL: [Self; 9] = [
        Self::Optimal,
        Self::Converged,
        Self::TimeLimit,
        Self::NodeLimit,
        Self::MemoryLimit,
        Self::IterationLimit,
        Self::Stalled,
        Self::Interrupted,
        Self::ReadFailed,
    ];

    /// The name as an identifier: `time_limit`.
    pub fn name(self) -> String {
        self.to_string().replace(' ', "_")
    }

    /// The status of this [name](Self::name).
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.name() == name)
    }
}

impl std::fmt::Display for Status {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Optimal => "optimal",
            Self::Converged => "converged",
            Self::TimeLimit => "time limit",
            Self::NodeLimit => "node limit",
            Self::MemoryLimit => "memory limit",
            Self::IterationLimit => "iteration limit",
            Self::Stalled => "stalled",
            Self::Interrupted => "interrupted",
            Self::ReadFailed => "read failed",
        })
    }
}

/// Which of its own rules ended a published algorithm that climbs the dual (MATH §6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopRule {
    /// The gap is below ε.
    Epsilon,
    /// The gap changed by less than ζ over two steps.
    Zeta,
    /// The gap is not decreasing, in the sense of [`Stop`](crate::control::Stop).
    NotDecreasing,
}

impl std::fmt::Display for StopRule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Epsilon => "gap below epsilon",
            Self::Zeta => "gap changed by less than zeta",
            Self::NotDecreasing => "gap not decreasing",
        })
    }
}

/// One line of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TraceRow {
    /// Seconds since the start.
    pub seconds: f64,
    /// Iterations so far, in the unit of the method.
    pub iteration: usize,
    /// Best P so far.
    pub objective: f64,
    /// R of the current iterate; NaN where it is not defined.
    pub relaxation: f64,
    /// Best lower bound so far.
    pub lower_bound: f64,
    /// objective − lower_bound.
    pub gap: f64,
    /// Features in the active set.
    pub active: usize,
    /// Non-zero coefficients of the current iterate.
    pub support: usize,
}

/// How many features each rule removed or fixed; a rule is named for what it proves (MATH §5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Screened {
    /// By the published rule, with the radius from P.
    pub published: usize,
    /// Zero in every minimiser of the relaxation R.
    pub relaxation: usize,
    /// In no optimal subset.
    pub excluded: usize,
    /// In every optimal subset.
    pub included: usize,
}

/// Which changes of the support are known not to lower P: what can be said of an answer without a bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Local {
    /// Nothing was checked.
    #[default]
    None,
    /// No change of a single coefficient.
    Coordinate,
    /// No addition, removal or exchange of one feature, everything else refitted.
    Swap,
}

/// One of the best subsets, in their order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ranked {
    /// The best coefficients on this subset.
    pub coefficients: Coefficients,
    /// Their P.
    pub objective: f64,
    /// Whether no subset that is not listed is better, within the tolerances.
    pub proved: bool,
}

/// An answer with its certificate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Solution {
    /// The coefficients on the scale of the design given.
    pub coefficients: Coefficients,
    /// P, R, lower bound and gaps.
    pub certificate: Certificate,
    /// How it ended.
    pub status: Status,
    /// Why it ended, in words, where the status is [`Status::ReadFailed`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// The rule by which a published ascent ended; none where a limit did, nor from other methods.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<StopRule>,
    /// A dual point that gives the lower bound; after branch and bound, the bound before branching.
    pub dual: Vec<f64>,
    /// Iterations, in the unit of the method.
    pub iterations: usize,
    /// Passes over all of X, in units of one full pass.
    pub passes: f64,
    /// Wall-clock seconds.
    pub seconds: f64,
    /// What screening did.
    pub screened: Screened,
    /// Which changes of the support cannot lower P.
    pub local: Local,
    /// The trace, if asked for.
    pub trace: Vec<TraceRow>,
    /// The best subsets, best first, as many as [`Options::top`](crate::Options::top) asks branch and bound for; empty
    /// from other methods.
    pub ranked: Vec<Ranked>,
    /// Features of which each is a combination of the others of its list but for rounding, where leaps and bounds met any; alone: a
    /// column that is constant but for its last digits, which a selection names too. They were taken for exact combinations: a subset
    /// that holds all of one list was not told from that with one less, and the bound is not one for fits made of the difference.
    #[serde(default)]
    pub dependent: Vec<Vec<usize>>,
}

impl Solution {
    /// An answer with its certificate, its status and the dual point; nothing else is known of it.
    pub(crate) fn new(coefficients: Coefficients, certificate: Certificate, status: Status, dual: Vec<f64>) -> Self {
        Self {
            coefficients,
            certificate,
            status,
            cause: None,
            rule: None,
            dual,
            iterations: 0,
            passes: 0.0,
            seconds: 0.0,
            screened: Screened::default(),
            local: Local::None,
            trace: Vec::new(),
            ranked: Vec::new(),
            dependent: Vec::new(),
        }
    }

    /// P of the answer.
    pub fn objective(&self) -> f64 {
        self.certificate.objective
    }

    /// The selected features, ascending.
    pub fn support(&self) -> &[usize] {
        &self.coefficients.support
    }
}
