//! A report of one run of bestset: what was asked, what was chosen, what is proved, and how well it fits.
//!
//! [`Report`] is plain data. Fill it, then write the page with [`Report::html`] or single plots with `Report::plots` (feature `plots`, on unless
//! turned off).
//! Every part may be left empty: the page shows what is there.
//!
//! ```
//! use bestset_report::{Certificate, Data, Model, Report, Task, Term};
//!
//! let report = Report {
//!     title: "Blood pressure".into(),
//!     command: "bestset fit blood.csv --target pressure".into(),
//!     data: Data { source: "blood.csv".into(), samples: 90, features: 4000, task: Task::Regression, ..Data::default() },
//!     certificate: Certificate::new(12.5, 12.4, "converged", false),
//!     model: Model { intercept: Some(80.0), terms: vec![Term::new("age", 0.7), Term::new("salt", 1.9)], ..Model::default() },
//!     ..Report::default()
//! };
//! assert!(report.html().contains("Blood pressure"));
//! ```

mod build;
mod classes;
pub mod convert;
mod kept;
mod methods;
pub mod number;
mod series;
mod thin;
mod types;

pub use build::{Subject, build, chosen_by};
pub use kept::{About, Kept};
pub use types::{
    Calibration, Certificate, Chromosome, ClassFit, ClassesFit, Classification, Confusion, Criterion, CrossValidation,
    CvPoint, Data, Diagnostics, Genome, Locus, Model, Neighbour, Path, PathPoint, Ranked, Regression, Report, Row,
    Rule, Screening, Subset, SurvivalFit, SurvivalGroup, Task, Term, TraceRow,
};

mod page;
#[cfg(feature = "plots")]
mod plot;

#[cfg(feature = "plots")]
pub use plot::{Plot, PlotError};
