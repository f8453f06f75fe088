//! Why a published algorithm ended before one of its own rules did.

use crate::error::{Error, Result};
use crate::solution::Status;

/// Why a run ended before one of its own rules did.
#[derive(Debug)]
pub(super) enum Halt {
    /// A limit struck.
    Stopped(Status),
    /// Columns could not be read.
    Failed(Error),
}

impl From<Status> for Halt {
    fn from(status: Status) -> Self {
        Self::Stopped(status)
    }
}

impl From<Error> for Halt {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

impl Halt {
    /// The status of the limit; a failure stays one.
    pub(super) fn status(self) -> Result<Status> {
        match self {
            Self::Stopped(status) => Ok(status),
            Self::Failed(error) => Err(error),
        }
    }
}
