//! The report of a selection: one HTML page.

use crate::errors::Failure;
use crate::input::{Data, SetupArgument};
use crate::run::{Caller, run};
use bestset::Limits;
use bestset_report::About;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// A selection, kept for its report.
#[pyclass(frozen)]
pub struct Kept(pub bestset_report::Kept);

/// What the samples are called: `About` of `python/bestset/_report.py`.
#[derive(FromPyObject)]
pub struct AboutArgument {
    source: String,
    target: String,
    labels: Vec<String>,
    names: Option<Vec<String>>,
    command: String,
    seconds: f64,
}

impl From<AboutArgument> for About {
    fn from(given: AboutArgument) -> Self {
        let AboutArgument { source, target, labels, names, command, seconds } = given;
        Self { source, target, labels, names, first: 0, command, seconds }
    }
}

/// The page.
#[pyfunction]
pub fn report<'py>(
    py: Python<'py>,
    data: Data<'py>,
    setup: SetupArgument<'py>,
    kept: PyRef<'py, Kept>,
    about: AboutArgument,
) -> PyResult<String> {
    let input = data.borrow(&setup, Limits::default())?;
    let caller = Caller {
        threads: None,
        cancel: input.limits.cancel().clone(),
        keep_answer: false,
        callback: None,
        check: None,
    };
    let (kept, about): (&Kept, About) = (&kept, about.into());
    let page = run(py, &caller, |_| {
        input.pose(|posed| {
            let text = "X is not what was fitted, or has been changed since: the report would not belong to the model";
            kept.0
                .page(posed, &about, input.limits.cancel())?
                .ok_or_else(|| Failure::Python(PyValueError::new_err(text)))
        })
    })?;
    Ok(page)
}
