//! Data for [`bestset`]: the files people have, simulated problems with a known truth, and how well an answer recovers it.
//!
//! - [`read`]: CSV, Parquet, LIBSVM, NPY, NPZ and Matrix Market files, plain or compressed, as a [`Table`] of columns.
//! - [`Table::into_dataset`]: which column is the target, the weights, the offset; texts coded as numbers: a [`Dataset`].
//! - [`read_cohort`]: genotypes as PLINK packs them, with traits and covariates joined to them: a [`Dataset`] as well.
//! - [`write()`]: a table into any of these formats; [`convert()`]: one that need not fit into memory.
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

#![cfg_attr(not(feature = "tables"), allow(dead_code, reason = "what only tables in files are made of"))]

#[cfg(feature = "tables")]
mod convert;
mod dataset;
mod error;
mod file;
mod levels;
mod matrix;
mod plink;
mod recovery;
#[cfg(feature = "tables")]
mod simulation;
mod table;
#[cfg(feature = "tables")]
mod write;

#[cfg(feature = "tables")]
pub use convert::{Converted, convert};
pub use dataset::{Apart, Category, Classes, Dataset, Impute, Imputed, Roles, Target, Usual};
pub use error::{Error, FileError, Result};
#[cfg(feature = "tables")]
pub use file::read;
pub use file::{Compression, Format, Header, ReadOptions};
pub use matrix::{Matrix, Names};
pub use plink::{
    CohortFiles, CohortOptions, Fit, Genotyped, KnownVariant, Person, Variant, find_variants, read_cohort,
};
pub use recovery::{Pssr, Recovery, estimation_error, pssr, recovery};
#[cfg(feature = "tables")]
pub use simulation::{Response, Scaling, Simulation, Simulator, SupportSize, Task, Values};
pub use table::{Gap, Label, Table, TextColumn};
#[cfg(feature = "tables")]
pub use write::write;

/// The example of the README, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

/// The examples of the site, run as tests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/site/ten-minutes.md")]
struct TenMinutes;
