//! How a command ends: the exit code, or why it could not start.

use bestset::{Solution, Status};
use std::io;

/// Exit codes of every command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Done as asked.
    Done = 0,
    /// Bad input or usage, or output that could not be written; there is no result.
    BadInput = 2,
    /// A limit struck; the result is valid, with a valid bound.
    Limit = 3,
    /// Ctrl-C; the result is valid, with a valid bound.
    Interrupted = 130,
}

impl Exit {
    /// The exit code that goes with a solution.
    pub fn of(solution: &Solution) -> Self {
        Self::of_status(solution.status)
    }

    /// The exit code that goes with a status.
    pub fn of_status(status: Status) -> Self {
        match status {
            // Stalled: rounding allows no more, and the gap says how good that is.
            Status::Optimal | Status::Converged | Status::Stalled => Self::Done,
            Status::Interrupted => Self::Interrupted,
            // Time, nodes, iterations, and limits yet to come.
            _ => Self::Limit,
        }
    }
}

/// Why a command gave no result.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The data could not be made.
    #[error(transparent)]
    Data(#[from] bestset_data::Error),
    /// Arguments that contradict each other.
    #[error("{0}")]
    Usage(&'static str),
    /// Input that cannot be used, or a file that cannot be written, named.
    #[error("{0}")]
    Message(String),
    /// The problem or the settings were refused.
    #[error(transparent)]
    Problem(#[from] bestset::Error),
    /// The output could not be written.
    #[error("cannot write the output: {0}")]
    Output(#[from] io::Error),
    /// The result could not be put into JSON.
    #[error("cannot write JSON: {0}")]
    Json(#[from] serde_json::Error),
}

impl Failure {
    /// Whether the reader of our output went away.
    pub fn is_closed_output(&self) -> bool {
        match self {
            Self::Output(error) => error.kind() == io::ErrorKind::BrokenPipe,
            Self::Json(error) => error.io_error_kind() == Some(io::ErrorKind::BrokenPipe),
            _ => false,
        }
    }
}
