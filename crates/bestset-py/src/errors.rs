//! Errors of the engine as Python exceptions.

use pyo3::PyErr;
use pyo3::exceptions::{PyRuntimeError, PyValueError};

/// Why a call brought no answer.
#[derive(Debug)]
pub enum Failure {
    /// Bad input, or a problem the method cannot solve.
    Engine(bestset::Error),
    /// A panic: a defect of the engine, not of the input.
    Panic(String),
    /// An exception raised by Python meanwhile: Ctrl-C, or the user's callback.
    Python(PyErr),
}

impl From<bestset::Error> for Failure {
    fn from(error: bestset::Error) -> Self {
        Self::Engine(error)
    }
}

impl From<PyErr> for Failure {
    fn from(error: PyErr) -> Self {
        Self::Python(error)
    }
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        match failure {
            // A failed second computation is not the caller's mistake.
            Failure::Engine(error @ bestset::Error::Recheck { .. }) => PyRuntimeError::new_err(error.to_string()),
            Failure::Engine(error) => PyValueError::new_err(error.to_string()),
            Failure::Panic(message) => PyRuntimeError::new_err(format!("internal error of bestset: {message}")),
            Failure::Python(error) => error,
        }
    }
}
