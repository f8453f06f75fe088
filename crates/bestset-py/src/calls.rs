//! The functions of the module. Each poses the problem inside the released section and returns dictionaries.

use crate::ask::{Choice, Control, Draws};
use crate::errors::Failure;
use crate::input::{Data, Input, SetupArgument};
use crate::output;
use crate::report::Kept;
use crate::run::{Caller, run};
use bestset::select::SUBSET_SIZES;
use bestset::shown::{Side, significant};
use bestset::{ClassCoefficients, Coefficients, Loss};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;

type Dict<'py> = PyResult<Bound<'py, PyDict>>;

/// How a call with this control is run.
pub fn caller<'c>(control: &Control, input: &Input<'_>, callback: Option<&'c Bound<'c, PyAny>>) -> Caller<'c> {
    let (threads, keep_answer) = (control.threads, control.keep_answer);
    Caller { threads, cancel: input.limits.cancel().clone(), keep_answer, callback, check: None }
}

/// A bound to so many significant digits: not below it, or not above.
#[pyfunction]
pub fn shown(value: f64, digits: usize, above: bool) -> String {
    significant(value, digits, if above { Side::Above } else { Side::Below })
}

/// A share as a percentage, rounded up.
#[pyfunction]
pub fn percent(share: f64) -> String {
    bestset::shown::percent(share, Side::Above)
}

/// Whether a number and its lower bound, as they are shown, make more of the gap between them than there is.
#[pyfunction]
pub fn misleads(value: &str, bound: &str, gap: f64) -> bool {
    bestset::shown::misleads(value, bound, gap)
}

/// The model at a price, of a size, or chosen by a criterion or by cross-validation.
#[pyfunction]
#[pyo3(signature = (data, setup, choice, control, callback=None))]
pub fn select<'py>(
    py: Python<'py>,
    data: Data<'py>,
    setup: SetupArgument<'py>,
    choice: Choice,
    control: Control,
    callback: Option<Bound<'py, PyAny>>,
) -> Dict<'py> {
    let input = data.borrow(&setup, control.limits()?)?;
    let caller = caller(&control, &input, callback.as_ref());
    let (found, kept, unfinished) = run(py, &caller, |rows| {
        input.pose(|posed| {
            let mut options = choice.selection(posed, &control, &input.limits)?;
            if let Some(file) = control.proof() {
                posed.check_proof()?;
                file.check()?;
                file.keep_search(&mut options);
            }
            let kept = bestset_report::Kept::new(posed, posed.select(&options, rows)?);
            let unfinished = match control.proof().map(|file| posed.write_proof(&kept.selected, &options.solve, &file))
            {
                // The answer stands, as after any limit.
                Some(Err(error @ bestset::Error::Unfinished { .. })) => Some(error.to_string()),
                written => written.transpose().map(|_| None)?,
            };
            Ok((output::Shown::new(posed, kept.selected.clone())?, kept, unfinished))
        })
    })?;
    let dict = found.to_python(py)?;
    dict.set_item("kept", Bound::new(py, Kept(kept))?)?;
    dict.set_item("unfinished", unfinished)?;
    Ok(dict)
}

/// The share of the deviance that margins explain.
#[pyfunction]
pub fn explained(
    loss: &str,
    theta: Option<f64>,
    y: PyReadonlyArray1<'_, f64>,
    margins: PyReadonlyArray1<'_, f64>,
    offset: Option<PyReadonlyArray1<'_, f64>>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
) -> PyResult<f64> {
    let loss = Loss::named(loss, 1.0, theta).map_err(Failure::from)?;
    let slice =
        |of: &Option<PyReadonlyArray1<'_, f64>>| of.as_ref().map(|a| a.as_slice().map(<[f64]>::to_vec)).transpose();
    let (offset, weights) = (slice(&offset)?, slice(&weights)?);
    let found =
        bestset::criteria::explained(loss, y.as_slice()?, margins.as_slice()?, offset.as_deref(), weights.as_deref());
    Ok(found.map_err(Failure::from)?)
}

/// Coefficients with an intercept, or rows of them with an intercept for each class.
#[derive(FromPyObject)]
pub enum Given {
    One(Vec<usize>, Vec<f64>, f64),
    Classes(Vec<usize>, Vec<Vec<f64>>, Vec<f64>),
}

/// A bound and gaps for the coefficients given; the answer that was found on the way comes along.
#[pyfunction]
pub fn certify<'py>(
    py: Python<'py>,
    data: Data<'py>,
    setup: SetupArgument<'py>,
    choice: Choice,
    control: Control,
    given: Given,
) -> Dict<'py> {
    let input = data.borrow(&setup, control.limits()?)?;
    let caller = caller(&control, &input, None);
    let (judged, found) = run(py, &caller, |_| {
        input.pose(|posed| {
            let options = choice.selection(posed, &control, &input.limits)?;
            let judged = match given {
                Given::One(support, values, intercept) => {
                    let outside = Coefficients { support, values, intercept };
                    outside.validate(posed.problem.variables())?;
                    posed.certify(&posed.inward(&outside), &options, &mut ())?
                }
                Given::Classes(support, values, intercepts) => {
                    let outside = ClassCoefficients { support, values, intercepts };
                    posed.certify_classes(&outside, &options, &mut ())?
                }
            };
            let found = output::Shown::new(posed, judged.found.clone())?;
            Ok((judged, found))
        })
    })?;
    let dict = PyDict::new(py);
    output::certificate(&judged.certificate, &dict)?;
    output::standing(&judged.standing, &dict)?;
    dict.set_item("status", judged.status.name())?;
    dict.set_item("selected", found.to_python(py)?)?;
    Ok(dict)
}

/// The path alone.
#[pyfunction]
pub fn path<'py>(
    py: Python<'py>,
    data: Data<'py>,
    setup: SetupArgument<'py>,
    choice: Choice,
    control: Control,
) -> Dict<'py> {
    let input = data.borrow(&setup, control.limits()?)?;
    let caller = caller(&control, &input, None);
    let (found, remarks) = run(py, &caller, |_| {
        input.pose(|posed| {
            let found = posed.path(&choice.selection(posed, &control, &input.limits)?)?;
            Ok((output::ShownPath::new(posed, &found, None)?, posed.remarks()))
        })
    })?;
    let dict = found.to_python(py, true)?;
    dict.set_item("remarks", output::remarks(&remarks))?;
    Ok(dict)
}

/// The best subset of every size up to `most`, and the features taken for combinations of each other.
#[pyfunction]
#[pyo3(signature = (data, setup, control, most=None))]
pub fn subsets<'py>(
    py: Python<'py>,
    data: Data<'py>,
    setup: SetupArgument<'py>,
    control: Control,
    most: Option<usize>,
) -> Dict<'py> {
    let input = data.borrow(&setup, control.limits()?)?;
    let caller = caller(&control, &input, None);
    let (found, remarks, constant) = run(py, &caller, |_| {
        input.pose(|posed| {
            let options = control.options(posed, &input.limits)?;
            let mut found = posed.subsets(most.unwrap_or(SUBSET_SIZES), &options)?;
            found.sizes.iter_mut().for_each(|s| s.coefficients = posed.outward(&s.coefficients));
            Ok((found, posed.remarks(), posed.constant()))
        })
    })?;
    let dict = PyDict::new(py);
    dict.set_item("sizes", found.sizes.iter().map(|s| output::subset(py, s)).collect::<PyResult<Vec<_>>>()?)?;
    dict.set_item("dependent", found.dependent)?;
    dict.set_item("constant", constant)?;
    dict.set_item("remarks", output::remarks(&remarks))?;
    Ok(dict)
}

/// How often each feature is selected on random subsamples.
#[pyfunction]
pub fn stability<'py>(
    py: Python<'py>,
    data: Data<'py>,
    setup: SetupArgument<'py>,
    choice: Choice,
    control: Control,
    draws: Draws,
) -> Dict<'py> {
    let input = data.borrow(&setup, control.limits()?)?;
    let caller = caller(&control, &input, None);
    let found = run(py, &caller, |_| {
        input.pose(|posed| {
            let options = choice.selection(posed, &control, &input.limits)?;
            Ok(posed.stability(&options, draws.subsamples, draws.share, draws.seed)?)
        })
    })?;
    output::stability(py, &found)
}
