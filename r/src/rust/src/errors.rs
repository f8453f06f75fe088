//! Errors of the engine as R counts: rows, columns and samples from one.

use crate::fields::Failure;
use bestset::Error;

/// The error in words, those of `Surv()` for survival times.
pub fn said(error: Error) -> Failure {
    match error {
        Error::Entry { index, entry, time } => {
            format!("start[{}] is {entry}, not before the stop {time} of the same sample; it must be", index + 1)
        }
        other => from_one(other).to_string(),
    }
}

fn from_one(error: Error) -> Error {
    match error {
        Error::NonFiniteDesign { row, column, value } => {
            Error::NonFiniteDesign { row: row + 1, column: column + 1, value }
        }
        Error::NonFinite { what, index, value } => Error::NonFinite { what, index: index + 1, value },
        Error::Overflow { column, value } => Error::Overflow { column: column + 1, value },
        Error::InFile { path, cause } => Error::InFile { path, cause: Box::new(from_one(*cause)) },
        Error::Flat { column } => Error::Flat { column: column + 1 },
        Error::Row { row, found, expected } => Error::Row { row: row + 1, found, expected },
        Error::ClassNumber { index, value, classes } => Error::ClassNumber { index: index + 1, value, classes },
        Error::TooLarge { what, index, value } => Error::TooLarge { what, index: index + 1, value },
        Error::Time { index, value } => Error::Time { index: index + 1, value },
        Error::EmptyClass { class } => Error::EmptyClass { class: class + 1 },
        Error::NegativeWeight { index, value } => Error::NegativeWeight { index: index + 1, value },
        Error::Target { index, value, loss, range } => Error::Target { index: index + 1, value, loss, range },
        Error::Label { index, value } => Error::Label { index: index + 1, value },
        Error::Bounds { feature, lower, upper } => Error::Bounds { feature: feature + 1, lower, upper },
        Error::Factor { name, feature, value } => Error::Factor { name, feature: feature + 1, value },
        Error::PartlyFree { free, other } => Error::PartlyFree { free: free + 1, other: other + 1 },
        Error::Index { what, position, index, problem } => {
            Error::Index { what, position: position + 1, index: index + 1, problem }
        }
        Error::Name { index, name } => Error::Name { index: index + 1, name },
        Error::Dependent { column, others, share } => {
            Error::Dependent { column: column + 1, others: others.iter().map(|j| j + 1).collect(), share }
        }
        Error::Dependences { columns, most } => {
            Error::Dependences { columns: columns.iter().map(|j| j + 1).collect(), most }
        }
        other => other,
    }
}
