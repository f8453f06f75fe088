//! How the model was chosen among others.

use crate::number::{finite, finite_list, finite_pairs};
use serde::{Deserialize, Serialize};

/// The answers for many λ0.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Path {
    /// Names of the features that are in some answer; the coefficients refer to them by position.
    pub features: Vec<String>,
    /// The points, λ0 descending within each λ2.
    pub points: Vec<PathPoint>,
    /// Measures of every point.
    pub criteria: Vec<Criterion>,
    /// The point that is the reported model, if it is one of them.
    pub chosen: Option<usize>,
    /// Whether coefficients are per standard deviation of their features, and not per unit.
    pub per_deviation: bool,
}

/// One answer of a path.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct PathPoint {
    /// λ0.
    #[serde(with = "finite")]
    pub lambda0: f64,
    /// λ2.
    #[serde(with = "finite")]
    pub lambda2: f64,
    /// Features in the answer.
    pub size: usize,
    /// Its objective.
    #[serde(with = "finite")]
    pub objective: f64,
    /// The bound at this λ0; −∞ when nothing is proved.
    #[serde(with = "finite")]
    pub lower_bound: f64,
    /// (position in [`Path::features`], coefficient).
    #[serde(with = "finite_pairs")]
    pub coefficients: Vec<(usize, f64)>,
}

/// A measure of every point of a path.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Criterion {
    /// Its name, for instance BIC.
    pub name: String,
    /// Whether the largest value is best.
    pub higher_is_better: bool,
    /// One value for each point.
    #[serde(with = "finite_list")]
    pub values: Vec<f64>,
}

/// Scores on samples left out.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CrossValidation {
    /// Name of the score, for instance mean squared error.
    pub metric: String,
    /// Whether the largest value is best.
    pub higher_is_better: bool,
    /// How it was done, in words, for instance "10 folds, 3 repeats, stratified".
    pub folds: String,
    /// Fits on parts of the samples that were done; zero where that is not known.
    pub fits: usize,
    /// Features that are not in the model and that fits of its size have: name and share of the fits, most frequent first.
    pub others: Vec<(String, f64)>,
    /// One for each point of the path, in the same order.
    pub points: Vec<CvPoint>,
    /// Position of the best mean.
    pub best: usize,
    /// Position of the sparsest point within one standard error of the best.
    pub one_se: usize,
}

/// The score of one point.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct CvPoint {
    /// λ0.
    #[serde(with = "finite")]
    pub lambda0: f64,
    /// λ2.
    #[serde(with = "finite", default)]
    pub lambda2: f64,
    /// Features of the answer on all samples.
    pub size: usize,
    /// Mean over the folds.
    #[serde(with = "finite")]
    pub mean: f64,
    /// Standard error of the mean.
    #[serde(with = "finite")]
    pub standard_error: f64,
}

/// The best subset of at most `size` features.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Subset {
    /// The size asked for.
    pub size: usize,
    /// Names of the features.
    pub features: Vec<String>,
    /// Their coefficients, in the same order.
    #[serde(with = "finite_list")]
    pub coefficients: Vec<f64>,
    /// The objective without λ0.
    #[serde(with = "finite")]
    pub objective: f64,
    /// No subset of this size has less; −∞ when nothing is proved.
    #[serde(with = "finite")]
    pub lower_bound: f64,
    /// Whether it is proved best of its size.
    pub optimal: bool,
    /// R², or the share of deviance explained.
    pub r2: Option<f64>,
    /// The same, adjusted for the size.
    pub adjusted_r2: Option<f64>,
    /// Mallows' Cp.
    pub cp: Option<f64>,
    /// Akaike's criterion.
    pub aic: Option<f64>,
    /// Schwarz's criterion.
    pub bic: Option<f64>,
}
