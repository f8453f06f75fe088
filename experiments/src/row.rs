//! One run of one algorithm on one data set: a line of the CSV files.
//!
//! What does not depend on the machine comes first; times come last, and as ratios.

use crate::store::Keyed;
use bestset::StopRule;
use serde::{Deserialize, Serialize};

/// A line of `simulation.csv`, `news20.csv` or `quality.csv`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Name of the setting.
    pub setting: String,
    /// var(Xβ) / var(ε); NaN for data that were not simulated.
    pub snr: f64,
    /// Correlation of neighbouring features; NaN likewise.
    pub rho: f64,
    /// Samples.
    pub n: usize,
    /// Features.
    pub p: usize,
    /// Price per feature.
    pub lambda0: f64,
    /// Lasso term.
    pub lambda1: f64,
    /// Ridge term.
    pub lambda2: f64,
    /// Largest size, for D-IHT alone.
    pub k: usize,
    /// Replicate, from one.
    pub replicate: u64,
    /// Seed of the data.
    pub seed: u64,
    /// Label of the algorithm.
    pub algorithm: String,
    /// How it ended.
    pub status: String,
    /// Which of its rules ended an ascent, or the cap; none for other algorithms and where it was not recorded.
    pub ended_by: Option<Ended>,
    /// P of the answer with a price per feature, for D-IHT as well: what is compared.
    pub objective: f64,
    /// What the algorithm itself minimises: for D-IHT without the price.
    pub own_objective: f64,
    /// Its lower bound on that.
    pub own_bound: f64,
    /// The least R met; none where R is not the relaxation.
    pub relaxation: Option<f64>,
    /// own_objective − own_bound: the duality gap of the figures.
    pub gap: f64,
    /// Non-zero coefficients.
    pub nonzeros: usize,
    /// One when exactly the true features were selected: PSSR as a share of replicates.
    pub recovered: Option<u8>,
    /// Share of the true features selected: PSSR as a share of features.
    pub recovered_share: Option<f64>,
    /// ‖β − β*‖ / ‖β*‖.
    pub estimation_error: Option<f64>,
    /// Iterations, in the unit of the algorithm.
    pub iterations: usize,
    /// Passes over X, in units of one full pass.
    pub passes: f64,
    /// The same in bytes of X.
    pub bytes_read: f64,
    /// Share of the features that the ball with the radius from P screens at the best dual point; of the default solver's row.
    pub screened_by_p: Option<f64>,
    /// The same with the radius from R.
    pub screened_by_r: Option<f64>,
    /// Processor seconds allowed.
    pub cap: f64,
    /// One when that limit ended the run.
    pub capped: u8,
    /// Processor seconds over those of one pass Xᵀα.
    pub time_in_passes: f64,
    /// Processor seconds over those of CDSS on the same data, both in passes of their own run.
    pub time_to_cdss: Option<f64>,
    /// Processor seconds of one pass Xᵀα.
    pub pass_seconds: f64,
    /// Processor seconds.
    pub cpu_seconds: f64,
    /// Seconds of the clock.
    pub seconds: f64,
}

/// What ended an ascent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// The gap was below ε.
    Epsilon,
    /// The gap changed by less than ζ over two steps.
    Zeta,
    /// The gap was not decreasing.
    NotDecreasing,
    /// The cap of processor time.
    Cap,
}

impl From<StopRule> for Ended {
    fn from(rule: StopRule) -> Self {
        match rule {
            StopRule::Epsilon => Self::Epsilon,
            StopRule::Zeta => Self::Zeta,
            StopRule::NotDecreasing => Self::NotDecreasing,
        }
    }
}

impl Row {
    /// Whether the answer is proved best.
    pub fn is_optimal(&self) -> bool {
        self.status == "optimal"
    }

    /// Whether the bound is one on P with a price per feature.
    pub fn bounds_priced(&self) -> bool {
        self.algorithm != "D-IHT"
    }
}

impl Keyed for Row {
    fn key(&self) -> String {
        key(&self.setting, self.replicate, &self.algorithm)
    }

    fn allows(&self, cap: f64) -> bool {
        self.capped == 0 || self.cap >= cap
    }
}

/// What makes a run the same run.
pub fn key(setting: &str, replicate: u64, algorithm: &str) -> String {
    format!("{setting}/{replicate}/{algorithm}")
}
