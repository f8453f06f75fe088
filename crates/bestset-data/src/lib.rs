//! Data for [`bestset`]: the files people have, simulated problems with a known truth, and how well an answer recovers it.
//!
//! - [`read`]: CSV, Parquet, LIBSVM, NPY, NPZ and Matrix Market files, plain or compressed, as a [`Table`] of columns.
//! - [`Table::into_dataset`]: which column is the target, the weights, the offset; texts coded as numbers: a [`Dataset`].
//! - [`read_cohort`]: genotypes as PLINK packs them, with traits and covariates joined to them: a [`Dataset`] as well.
//! - [`write()`]: a table into any of these formats.
//! - [`Simulator`]: data with a known truth; [`recovery`]: how much of it was found.
//!
//! ```
//! use bestset_data::Simulator;
//!
//! let data = Simulator::paper().n(100).p(300).seed(7).generate()?;
//! assert_eq!(data.truth().nonzeros(), 9); // 3 % of 300 features
//! assert_eq!(data.y().len(), 100);
//! # Ok::<(), bestset_data::Error>(())
//! ```

mod dataset;
mod error;
mod file;
mod levels;
mod matrix;
mod plink;
mod recovery;
mod simulation;
mod table;
mod write;

pub use dataset::{Category, Classes, Dataset, Impute, Imputed, Roles, Target, Usual};
pub use error::{Error, FileError, Result};
pub use file::{Compression, Format, Header, ReadOptions, read};
pub use matrix::{Matrix, Names};
pub use plink::{
    CohortFiles, CohortOptions, Fit, Genotyped, KnownVariant, Person, Variant, find_variants, read_cohort,
};
pub use recovery::{Pssr, Recovery, estimation_error, pssr, recovery};
pub use simulation::{Response, Scaling, Simulation, Simulator, SupportSize, Task, Values};
pub use table::{Gap, Label, Table, TextColumn};
pub use write::write;

/// The example of the README, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

/// The examples of the site, run as tests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/site/ten-minutes.md")]
struct TenMinutes;
