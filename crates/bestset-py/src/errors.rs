//! Errors of the engine as Python exceptions.

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

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

/// The error with Python's word for weights.
fn said(error: &bestset::Error) -> String {
    let text = error.to_string();
    if text.starts_with("weight[") { format!("sample_{text}") } else { text }
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        match failure {
            // A failed second computation is not the caller's mistake.
            Failure::Engine(error @ bestset::Error::Recheck { .. }) => PyRuntimeError::new_err(error.to_string()),
            Failure::Engine(error) => {
                let raised = PyValueError::new_err(said(&error));
                let columns = error.columns();
                if !columns.is_empty() {
                    // Python knows their names; without the numbers it says what is said here.
                    let _ = Python::attach(|py| raised.value(py).setattr("columns", columns));
                }
                raised
            }
            Failure::Panic(message) => PyRuntimeError::new_err(format!("internal error of bestset: {message}")),
            Failure::Python(error) => error,
        }
    }
}
