//! Survival curves and concordance, as the core has them.

use crate::errors::Failure;
use crate::input::Times;
use bestset::{Baseline, Curve, concordance as core_concordance};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// A baseline hazard as Python has it: the centre, and for each stratum its number, event times and cumulative hazards.
pub type BaselineArgument = (f64, Vec<(usize, Vec<f64>, Vec<f64>)>);

/// From Python.
pub fn baseline(given: BaselineArgument) -> Baseline {
    let curve = |(stratum, times, hazards)| Curve { stratum, times, hazards };
    Baseline { centre: given.0, strata: given.1.into_iter().map(curve).collect() }
}

/// To Python.
pub fn shown(from: &Baseline) -> BaselineArgument {
    (from.centre, from.strata.iter().map(|c| (c.stratum, c.times.clone(), c.hazards.clone())).collect())
}

/// Cumulative hazards or survival at `times`, row by row, or medians, of samples with the linear predictor u.
#[pyfunction]
#[pyo3(signature = (given, u, what, times, strata=None))]
pub fn curves<'py>(
    py: Python<'py>,
    given: BaselineArgument,
    u: PyReadonlyArray1<'py, f64>,
    what: &str,
    times: Vec<f64>,
    strata: Option<Vec<usize>>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let (baseline, u) = (baseline(given), u.as_slice()?);
    let mut found = Vec::with_capacity(u.len() * times.len().max(1));
    for (i, &u) in u.iter().enumerate() {
        let stratum = strata.as_ref().and_then(|s| s.get(i).copied());
        let curve = baseline.curve(stratum).map_err(Failure::from)?;
        match what {
            "hazard" => found.extend(times.iter().map(|&t| baseline.hazard(curve, u, t))),
            "survival" => found.extend(times.iter().map(|&t| baseline.survival(curve, u, t))),
            "median" => found.push(baseline.median(curve, u)),
            other => return Err(PyValueError::new_err(format!("there is no prediction named {other:?}"))),
        }
    }
    Ok(PyArray1::from_vec(py, found))
}

/// Harrell's C.
#[pyfunction]
#[pyo3(signature = (times, u, weights=None))]
pub fn concordance<'py>(
    times: Times<'py>,
    u: PyReadonlyArray1<'py, f64>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
) -> PyResult<f64> {
    let (times, u) = (times.own()?, u.as_slice()?);
    times.validate().map_err(Failure::from)?;
    if u.len() != times.time.len() {
        return Err(PyValueError::new_err(format!("{} predictions for {} times", u.len(), times.time.len())));
    }
    let weights = weights.as_ref().map(|w| w.as_slice()).transpose()?;
    Ok(core_concordance(&times, weights, u, &(0..u.len()).collect::<Vec<_>>()))
}
