//! Best subset selection with a proof.

pub mod active;
mod certificate;
pub mod design;
mod error;
pub mod kernel;
mod loss;
mod penalty;
mod problem;
mod solution;
pub mod solver;

pub use certificate::Certificate;
pub use error::{Error, Result};
pub use loss::{Huber, Logistic, Loss, ScalarLoss, Squared, SquaredHinge};
pub use penalty::{Bounds, Coordinate, Penalty};
pub use problem::Problem;
pub use solution::{Coefficients, Local, Screened, Solution, Status, TraceRow};
pub use solver::{Method, Options, solve};
