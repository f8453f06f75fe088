//! Data for [`bestset`]: simulated problems with a known truth, and how well an answer recovers it.
//!
//! ```
//! use bestset_data::Simulator;
//!
//! let data = Simulator::paper().n(100).p(300).seed(7).generate()?;
//! assert_eq!(data.truth().nonzeros(), 9); // 3 % of 300 features
//! assert_eq!(data.y().len(), 100);
//! # Ok::<(), bestset_data::Error>(())
//! ```

mod error;
mod recovery;
mod simulation;

pub use error::{Error, Result};
pub use recovery::{Pssr, Recovery, estimation_error, pssr, recovery};
pub use simulation::{Response, Scaling, Simulation, Simulator, SupportSize, Task, Values};

/// The example of the README, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
