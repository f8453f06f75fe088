//! The report of a selection: one HTML page.

use crate::errors::Failure;
use crate::input::{Data, SetupArgument};
use crate::run::{Caller, run};
use bestset::select::{By, Posed, Selected};
use bestset_report::Subject;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// A selection on the scale inside, kept for its report.
#[pyclass(frozen)]
pub struct Kept {
    pub selected: Selected,
    /// Σ w ℓ of the answer: on other samples it would be another.
    loss: f64,
}

impl Kept {
    /// Without the dual points of the path, one number per sample each, which nobody asks for again.
    pub fn new(posed: &Posed<'_>, mut selected: Selected) -> Self {
        if let Some(chosen) = &mut selected.chosen {
            chosen.path.points.iter_mut().for_each(|p| p.solution.dual = Vec::new());
            if let By::CrossValidation(found, _) = &mut chosen.by {
                found.path.points.iter_mut().for_each(|p| p.solution.dual = Vec::new());
            }
        }
        let loss = posed.problem.loss_of(&selected.solution.coefficients, selected.solution.objective());
        Self { selected, loss }
    }
}

/// What the samples are called: `About` of `python/bestset/_report.py`.
#[derive(FromPyObject)]
pub struct About {
    source: String,
    target: String,
    classes: Option<(String, String)>,
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
            let loss = posed.problem.loss_at(&kept.selected.solution.coefficients)?;
            if (loss - kept.loss).abs() > 1e-9 * kept.loss.abs() {
                let text =
                    "X is not what was fitted, or has been changed since: the report would not belong to the model";
                return Err(Failure::Python(PyValueError::new_err(text)));
            }
            let name = |j: usize| match &about.names {
                Some(names) => names[j].clone(),
                None => format!("x{j}"),
            };
            let subject = Subject {
                source: about.source.clone(),
                target: about.target.clone(),
                classes: about.classes.clone(),
                names: &name,
                notes: Vec::new(),
                seconds: Some(about.seconds),
            };
            let mut report = bestset_report::build(posed, &kept.selected, &subject)?;
            report.command = about.command.clone();
            Ok(report.html())
        })
    })?;
    Ok(page)
}
