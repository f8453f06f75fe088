//! The report of a selection: one HTML page.

use crate::errors::Failure;
use crate::input::{Data, SetupArgument};
use crate::run::{Caller, run};
use bestset_report::Subject;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// A selection, kept for its report.
#[pyclass(frozen)]
pub struct Kept(pub bestset_report::Kept);

/// What the samples are called: `About` of `python/bestset/_report.py`.
#[derive(FromPyObject)]
pub struct About {
    source: String,
    target: String,
    classes: Option<(String, String)>,
    labels: Vec<String>,
    names: Option<Vec<String>>,
    command: String,
    seconds: f64,
}

/// The page.
#[pyfunction]
pub fn report<'py>(
    py: Python<'py>,
    data: Data<'py>,
    setup: SetupArgument<'py>,
    kept: PyRef<'py, Kept>,
    about: About,
) -> PyResult<String> {
    let input = data.borrow(&setup)?;
    let caller = Caller { threads: None, cancel: input.cancel.clone(), keep_answer: false, callback: None };
    let kept: &Kept = &kept;
    let page = run(py, &caller, |_| {
        input.pose(|posed| {
            let name = |j: usize| match &about.names {
                Some(names) => names[j].clone(),
                None => format!("x{j}"),
            };
            let subject = Subject {
                source: about.source.clone(),
                target: about.target.clone(),
                classes: about.classes.clone(),
                labels: about.labels.clone(),
                names: &name,
                notes: Vec::new(),
                seconds: Some(about.seconds),
                cancel: input.cancel.clone(),
            };
            let Some(mut report) = kept.0.report(posed, &subject)? else {
                let text =
                    "X is not what was fitted, or has been changed since: the report would not belong to the model";
                return Err(Failure::Python(PyValueError::new_err(text)));
            };
            report.command = about.command.clone();
            Ok(report.html())
        })
    })?;
    Ok(page)
}
