//! The answer.

use crate::number::finite;
use serde::{Deserialize, Serialize};

/// The chosen features with their coefficients, on the scale of the data.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Model {
    /// The intercept; `None` if the model has none.
    pub intercept: Option<f64>,
    /// The intercepts of more than two classes; empty otherwise, or where there are none.
    pub intercepts: Vec<f64>,
    /// The features, in any order: the page sorts them.
    pub terms: Vec<Term>,
}

impl Model {
    /// The terms, most important first.
    pub fn by_importance(&self) -> Vec<&Term> {
        let mut sorted: Vec<&Term> = self.terms.iter().collect();
        sorted.sort_by(|a, b| b.importance().total_cmp(&a.importance()));
        sorted
    }
}

/// One chosen feature.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Term {
    /// Its name.
    pub name: String,
    /// Its coefficient on the scale of the data; of more than two classes the length ‖b_j‖ of its coefficients.
    #[serde(with = "finite")]
    pub coefficient: f64,
    /// Its coefficient for each of more than two classes; empty otherwise.
    #[serde(default)]
    pub by_class: Vec<f64>,
    /// The coefficient times the standard deviation of the feature: comparable between features.
    #[serde(default)]
    pub standardized: Option<f64>,
    /// How much the objective rises when the feature is dropped and the others are refitted.
    #[serde(default)]
    pub rise: Option<f64>,
    /// Share of the fits on parts of the samples, of the same size, that have the feature.
    #[serde(default)]
    pub frequency: Option<f64>,
}

impl Term {
    /// A feature of which nothing but the coefficient is known.
    pub fn new(name: impl Into<String>, coefficient: f64) -> Self {
        Self { name: name.into(), coefficient, by_class: Vec::new(), standardized: None, rise: None, frequency: None }
    }

    /// What features are ordered by: the rise, or the standardised coefficient, or the coefficient; always ≥ 0.
    pub fn importance(&self) -> f64 {
        let value = self.rise.or(self.standardized).unwrap_or(self.coefficient).abs();
        if value.is_finite() { value } else { 0.0 }
    }
}

/// One of the best subsets, in their order.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Ranked {
    /// Names of its features.
    pub features: Vec<String>,
    /// Its objective.
    #[serde(with = "finite")]
    pub objective: f64,
    /// Whether no subset that is not listed is better.
    pub proved: bool,
    /// R², or the share of deviance explained.
    #[serde(default)]
    pub r2: Option<f64>,
}
