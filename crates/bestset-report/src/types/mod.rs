//! The data of a report.

mod classes;
mod diagnostics;
mod genome;
mod model;
mod proof;
mod selection;
mod survival;

pub use classes::{ClassFit, ClassesFit};
pub use diagnostics::{Calibration, Classification, Confusion, Diagnostics, Regression};
pub(crate) use diagnostics::{FITTED_ON, LEFT_OUT, brief};
pub use genome::{Chromosome, Genome, Locus, Neighbour};
pub use model::{Model, Ranked, Term};
pub use proof::{Certificate, Rule, Screening, TraceRow};
pub(crate) use proof::{gain, limit, measure, room};
pub use selection::{Criterion, CrossValidation, CvPoint, Path, PathPoint, Subset};
pub use survival::{SurvivalFit, SurvivalGroup};

use serde::{Deserialize, Serialize};

/// Everything a page shows.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Report {
    /// What it is about, for instance the name of the file.
    pub title: String,
    /// The command that makes it again; empty if there is none.
    pub command: String,
    /// The version of bestset.
    pub version: String,
    /// When, in any readable form; `None` for a page that is the same every time.
    pub created: Option<String>,
    /// Seconds from start to answer.
    pub seconds: Option<f64>,
    /// The data.
    pub data: Data,
    /// What was asked: settings that matter, in words.
    pub asked: Vec<Row>,
    /// Remarks for the reader, for instance imputed values; each one sentence.
    pub notes: Vec<String>,
    /// What is proved about the answer.
    pub certificate: Certificate,
    /// The answer.
    pub model: Model,
    /// How the proof came about, in the order of time.
    pub trace: Vec<TraceRow>,
    /// Which features were ruled out by which rule.
    pub screening: Option<Screening>,
    /// The path over λ0.
    pub path: Option<Path>,
    /// Cross-validation along the path.
    pub cv: Option<CrossValidation>,
    /// The best subset of each size, from the smallest up; empty if not asked for.
    pub subsets: Vec<Subset>,
    /// The best subsets of all, best first; empty if not asked for.
    pub ranked: Vec<Ranked>,
    /// How well the model fits.
    pub diagnostics: Option<Diagnostics>,
    /// D²: the share of the null model's deviance that the fit explains, of the samples it was fitted on.
    pub explained: Option<f64>,
    /// The deviance of the fit, of the samples it was fitted on.
    pub deviance: Option<f64>,
    /// Where the chosen features are on the genome, if they are variants.
    pub genome: Option<Genome>,
    /// A sentence for the methods section of a paper; empty if there is none.
    pub methods: String,
}

/// What the model was fitted to.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Data {
    /// Where it comes from, for instance a file name.
    pub source: String,
    /// Rows.
    pub samples: usize,
    /// Features to choose from.
    pub features: usize,
    /// The name of what is predicted.
    pub target: String,
    /// Regression or classification.
    pub task: Task,
    /// The loss, in words.
    pub loss: String,
    /// Names of the two classes, negative then positive; `None` for regression or unnamed classes.
    pub classes: Option<(String, String)>,
    /// Names of more than two classes, in the order of their numbers; empty otherwise.
    pub labels: Vec<String>,
}

/// What is predicted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Task {
    /// A number.
    #[default]
    Regression,
    /// One of two classes or more.
    Classification,
    /// The time until an event.
    Survival,
}

/// A label and its value, both as they are shown.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Row {
    /// The label.
    pub label: String,
    /// The value.
    pub value: String,
}

impl Row {
    /// From anything that is text.
    pub fn new(label: impl Into<String>, value: impl Into<String>) -> Self {
        Self { label: label.into(), value: value.into() }
    }
}
