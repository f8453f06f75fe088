//! Parts of a selection done elsewhere: a Python function that takes texts and gives texts.

use crate::ask::{Choice, Control};
use crate::calls::caller;
use crate::elsewhere::{Over, Stopped};
use crate::input::{Data, SetupArgument};
use crate::run::{Caller, run};
use bestset::select::Workers;
use bestset::{CancelFlag, Error, Result};
use pyo3::prelude::*;
use std::time::Instant;

/// The function, and whether anybody still waits for it.
#[derive(Debug)]
pub struct Elsewhere {
    pub function: Py<PyAny>,
    pub cancel: CancelFlag,
}

impl Workers for Elsewhere {
    fn run(&self, parts: Vec<String>, until: Option<Instant>) -> Result<Vec<Option<String>>> {
        let stopped = Over::new(self.cancel.clone(), until);
        let given = Stopped(stopped.clone());
        let found = Python::attach(|py| self.function.call1(py, (parts, given))?.extract::<Vec<Option<String>>>(py));
        found.map_err(|error| match stopped.is_over() {
            true => Error::Stopped,
            false => {
                Error::Read { what: "the workers".into(), place: "a round of tasks".into(), reason: error.to_string() }
            }
        })
    }
}

/// One part of a selection with the same samples and settings; `check` raises something where nobody waits for it any longer.
#[pyfunction]
#[pyo3(signature = (data, setup, choice, control, asked, check=None))]
pub fn part<'py>(
    py: Python<'py>,
    data: Data<'py>,
    setup: SetupArgument<'py>,
    choice: Choice,
    control: Control,
    asked: String,
    check: Option<Bound<'py, PyAny>>,
) -> PyResult<String> {
    let input = data.borrow(&setup, control.limits()?)?.of_part(&asked)?;
    let caller = Caller { check: check.as_ref(), ..caller(&control, &input, None) };
    let found = run(py, &caller, |_| {
        input.pose(|posed| Ok(posed.part(&choice.selection(posed, &control, &input.limits)?, &asked)?))
    })?;
    Ok(found)
}
