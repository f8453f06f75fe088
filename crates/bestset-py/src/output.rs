//! Answers as dictionaries of numbers and arrays; `python/bestset/_core.pyi` names their fields.

use bestset::criteria::{Criterion, Fit};
use bestset::cv::CrossValidation;
use bestset::groups::GroupSolution;
use bestset::path::Path;
use bestset::{Certificate, Coefficients, Problem, Ranked, Solution, Status, Subset, TraceRow};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// Criteria shown along a path.
const CRITERIA: [(&str, Criterion); 7] = [
    ("aic", Criterion::Aic),
    ("bic", Criterion::Bic),
    ("ebic", Criterion::Ebic { gamma: 1.0 }),
    ("gic", Criterion::Gic),
    ("cp", Criterion::Cp),
    ("r2", Criterion::R2),
    ("adjusted_r2", Criterion::AdjustedR2),
];

/// The criterion of this name.
pub fn criterion(name: &str) -> Option<Criterion> {
    CRITERIA.iter().find(|c| c.0 == name).map(|c| c.1)
}

/// A path and every criterion along it.
pub struct JudgedPath {
    /// The points, on the scale of the columns given.
    pub path: Path,
    /// Values of [`CRITERIA`], in their order.
    criteria: Vec<Vec<f64>>,
}

impl JudgedPath {
    /// Evaluates the fits once for all criteria.
    pub fn new(problem: &Problem<'_>, path: Path) -> Self {
        let fits: Vec<Fit> = path.points.iter().map(|p| Fit::new(problem, &p.solution.coefficients)).collect();
        let fitted = |fit: &Fit| fit.size as f64 + f64::from(u8::from(fit.intercept));
        // σ² for Cp: that of the largest model which leaves degrees of freedom.
        let largest = fits.iter().filter(|fit| fitted(fit) < fit.samples).max_by_key(|fit| fit.size);
        let variance = largest.map_or(f64::NAN, |fit| fit.deviance / (fit.samples - fitted(fit)));
        let value = |fit: &Fit, c: Criterion| match c {
            Criterion::Cp if !fit.squared => f64::NAN,
            _ => fit.value(c, variance),
        };
        let criteria = CRITERIA.iter().map(|&(_, c)| fits.iter().map(|fit| value(fit, c)).collect()).collect();
        Self { path, criteria }
    }

    /// The best point by a criterion, the earliest of equals.
    pub fn best(&self, criterion: Criterion) -> Option<usize> {
        let place = CRITERIA.iter().position(|c| c.1 == criterion)?;
        let sign = if criterion.is_maximised() { -1.0 } else { 1.0 };
        let known = self.criteria[place].iter().enumerate().filter(|v| !v.1.is_nan());
        known.min_by(|a, b| (sign * a.1).total_cmp(&(sign * b.1)).then(a.0.cmp(&b.0))).map(|v| v.0)
    }

    /// As a dictionary; the dual points, one number per sample each, only if asked for.
    pub fn to_python<'py>(&self, py: Python<'py>, duals: bool) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        let points = PyList::empty(py);
        for point in &self.path.points {
            let one = solution(py, &point.solution)?;
            if !duals {
                one.set_item("dual", PyArray1::<f64>::zeros(py, 0, false))?;
            }
            one.set_item("lambda0", point.lambda0)?;
            one.set_item("lambda1", point.lambda1)?;
            one.set_item("lambda2", point.lambda2)?;
            points.append(one)?;
        }
        dict.set_item("points", points)?;
        dict.set_item("status", status(self.path.status))?;
        let criteria = PyDict::new(py);
        for ((name, _), values) in CRITERIA.iter().zip(&self.criteria) {
            criteria.set_item(name, PyArray1::from_slice(py, values))?;
        }
        dict.set_item("criteria", criteria)?;
        Ok(dict)
    }
}

/// The name of a status, as an identifier.
pub fn status(status: Status) -> String {
    status.to_string().replace(' ', "_")
}

/// Support, values and intercept.
pub fn coefficients<'py>(py: Python<'py>, from: &Coefficients, dict: &Bound<'py, PyDict>) -> PyResult<()> {
    let support = from.support.iter().map(|&j| j as i64);
    dict.set_item("support", PyArray1::from_iter(py, support))?;
    dict.set_item("values", PyArray1::from_slice(py, &from.values))?;
    dict.set_item("intercept", from.intercept)
}

/// Objective, relaxation, bound and gaps.
pub fn certificate<'py>(from: &Certificate, dict: &Bound<'py, PyDict>) -> PyResult<()> {
    dict.set_item("objective", from.objective)?;
    dict.set_item("relaxation", from.relaxation)?;
    dict.set_item("lower_bound", from.lower_bound)?;
    dict.set_item("gap", from.gap())?;
    dict.set_item("relative_gap", from.relative_gap())
}

/// A solution.
pub fn solution<'py>(py: Python<'py>, from: &Solution) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    coefficients(py, &from.coefficients, &dict)?;
    certificate(&from.certificate, &dict)?;
    dict.set_item("status", status(from.status))?;
    dict.set_item("n_iter", from.iterations)?;
    dict.set_item("passes", from.passes)?;
    dict.set_item("seconds", from.seconds)?;
    dict.set_item("excluded", from.screened.excluded)?;
    dict.set_item("included", from.screened.included)?;
    dict.set_item("dual", PyArray1::from_slice(py, &from.dual))?;
    dict.set_item("trace", trace(py, &from.trace)?)?;
    dict.set_item("ranked", from.ranked.iter().map(|r| ranked(py, r)).collect::<PyResult<Vec<_>>>()?)?;
    dict.set_item("dependent", &from.dependent)?;
    Ok(dict)
}

fn ranked<'py>(py: Python<'py>, from: &Ranked) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    coefficients(py, &from.coefficients, &dict)?;
    dict.set_item("objective", from.objective)?;
    dict.set_item("proved", from.proved)?;
    Ok(dict)
}

/// A solution made of groups.
pub fn group_solution<'py>(py: Python<'py>, from: &GroupSolution, seconds: f64) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    coefficients(py, &from.coefficients, &dict)?;
    certificate(&from.certificate, &dict)?;
    dict.set_item("status", status(from.status))?;
    dict.set_item("groups", PyArray1::from_iter(py, from.selected.iter().map(|&g| g as i64)))?;
    dict.set_item("dual", PyArray1::from_slice(py, &from.dual))?;
    dict.set_item("seconds", seconds)?;
    Ok(dict)
}

/// One of the best subsets of every size.
pub fn subset<'py>(py: Python<'py>, from: &Subset) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    coefficients(py, &from.coefficients, &dict)?;
    certificate(&from.certificate, &dict)?;
    dict.set_item("status", status(from.status))?;
    dict.set_item("size", from.size)?;
    dict.set_item("loss", from.loss)?;
    dict.set_item("r2", from.criteria.r2)?;
    dict.set_item("adjusted_r2", from.criteria.adjusted_r2)?;
    dict.set_item("cp", from.criteria.cp)?;
    dict.set_item("aic", from.criteria.aic)?;
    dict.set_item("bic", from.criteria.bic)?;
    Ok(dict)
}

/// The scores of a cross-validation, one list of folds per point, and the points chosen.
pub fn scores<'py>(py: Python<'py>, from: &CrossValidation) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let column = |f: &dyn Fn(&bestset::cv::PointScore) -> f64| PyArray1::from_iter(py, from.scores.iter().map(f));
    dict.set_item("mean", column(&|s| s.mean))?;
    dict.set_item("standard_error", column(&|s| s.standard_error))?;
    let folds = from.scores.iter().map(|s| PyArray1::from_slice(py, &s.folds));
    dict.set_item("folds", PyList::new(py, folds)?)?;
    dict.set_item("best", from.best)?;
    dict.set_item("one_se", from.one_se)?;
    dict.set_item("status", status(from.status))?;
    Ok(dict)
}

/// One row of a trace, for a callback.
pub fn row<'py>(py: Python<'py>, from: &TraceRow) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("seconds", from.seconds)?;
    dict.set_item("n_iter", from.iteration)?;
    dict.set_item("objective", from.objective)?;
    dict.set_item("relaxation", from.relaxation)?;
    dict.set_item("lower_bound", from.lower_bound)?;
    dict.set_item("gap", from.gap)?;
    dict.set_item("active", from.active)?;
    dict.set_item("support", from.support)?;
    Ok(dict)
}

/// A trace by columns.
fn trace<'py>(py: Python<'py>, rows: &[TraceRow]) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let floats = |field: fn(&TraceRow) -> f64| PyArray1::from_iter(py, rows.iter().map(field));
    let counts = |field: fn(&TraceRow) -> usize| PyArray1::from_iter(py, rows.iter().map(|r| field(r) as i64));
    dict.set_item("seconds", floats(|r| r.seconds))?;
    dict.set_item("n_iter", counts(|r| r.iteration))?;
    dict.set_item("objective", floats(|r| r.objective))?;
    dict.set_item("relaxation", floats(|r| r.relaxation))?;
    dict.set_item("lower_bound", floats(|r| r.lower_bound))?;
    dict.set_item("gap", floats(|r| r.gap))?;
    dict.set_item("active", counts(|r| r.active))?;
    dict.set_item("support", counts(|r| r.support))?;
    Ok(dict)
}
