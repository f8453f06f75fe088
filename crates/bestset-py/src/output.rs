//! Answers as dictionaries of numbers and arrays; `python/bestset/_core.pyi` names their fields.

use bestset::criteria::Criterion;
use bestset::cv::{CrossValidation, Stability};
use bestset::path::{Path, Point};
use bestset::select::{By, Posed, Provable, Remark, Selected, Standing};
use bestset::{Baseline, Certificate, ClassCoefficients, Coefficients, Ranked, Solution, Subset, TraceRow};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// A path on the scale of the columns given, with every criterion along it and what its points stand for.
pub struct ShownPath {
    path: Path,
    standings: Vec<Standing>,
    criteria: Vec<(Criterion, Vec<f64>)>,
    /// δ of the Huber loss, in the units of y.
    delta: Option<f64>,
}

impl ShownPath {
    /// Of a path on the scale inside; the criterion that chose, if one did, with its own γ.
    pub fn new(posed: &Posed<'_>, inside: &Path, chose: Option<Criterion>) -> bestset::Result<Self> {
        let problem = &posed.problem;
        let criteria = Criterion::all_along(problem, inside, chose)?;
        let standing = |p: &Point| {
            let (problem, found) = (posed.priced(p.lambda0, p.lambda2)?, &p.solution);
            Ok(Standing::new(&problem, &found.coefficients, &found.certificate, found.status))
        };
        let standings = inside.points.iter().map(standing).collect::<bestset::Result<_>>()?;
        let mut path = inside.clone();
        path.points.iter_mut().for_each(|p| p.solution = posed.outward_solution(&p.solution));
        Ok(Self { path, standings, criteria, delta: problem.loss().delta() })
    }

    /// As a dictionary; the dual points, one number per sample each, only if asked for.
    pub fn to_python<'py>(&self, py: Python<'py>, duals: bool) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        let points = PyList::empty(py);
        for (point, stands) in self.path.points.iter().zip(&self.standings) {
            let one = solution(py, &point.solution)?;
            standing(stands, &one)?;
            if !duals {
                one.set_item("dual", PyArray1::<f64>::zeros(py, 0, false))?;
            }
            one.set_item("lambda0", point.lambda0)?;
            one.set_item("lambda1", point.lambda1)?;
            one.set_item("lambda2", point.lambda2)?;
            points.append(one)?;
        }
        dict.set_item("points", points)?;
        dict.set_item("status", self.path.status.name())?;
        let criteria = PyDict::new(py);
        for (criterion, values) in &self.criteria {
            criteria.set_item(criterion.name(), PyArray1::from_slice(py, values))?;
        }
        dict.set_item("criteria", criteria)?;
        // Those of an answer are its own.
        dict.set_item("remarks", remarks(&[]))?;
        dict.set_item("delta", self.delta)?;
        Ok(dict)
    }
}

/// A selection on the scale of the columns given.
pub struct Shown {
    selected: Selected,
    path: Option<ShownPath>,
    /// How often each selected feature is in the folds' answers.
    frequencies: Vec<f64>,
    baseline: Option<Baseline>,
    classes: Option<ClassCoefficients>,
    /// Features left out because they are constant.
    constant: Vec<usize>,
    /// δ of the Huber loss, in the units of y.
    delta: Option<f64>,
}

impl Shown {
    /// Of a selection on the scale inside.
    pub fn new(posed: &Posed<'_>, mut selected: Selected) -> bestset::Result<Self> {
        let path = selected.chosen.as_ref().map(|chosen| {
            let criterion = match &chosen.by {
                By::Criterion(criterion, _) => Some(*criterion),
                By::CrossValidation(..) => None,
            };
            ShownPath::new(posed, &chosen.path, criterion)
        });
        let path = path.transpose()?;
        let (baseline, classes) = match posed.problem.coupled() {
            Some(_) => posed.model(&selected).map(|model| (model.baseline, model.classes))?,
            None => (None, None),
        };
        selected.solution = posed.outward_solution(&selected.solution);
        let support = selected.solution.support();
        let frequencies = match selected.chosen.as_ref().map(|chosen| &chosen.by) {
            Some(By::CrossValidation(found, _)) => {
                let shares = found.frequencies(selected.lambda2, support.len());
                let share = |j: &usize| shares.iter().find(|s| s.0 == *j).map_or(0.0, |s| s.1);
                support.iter().map(share).collect()
            }
            _ => Vec::new(),
        };
        let (constant, delta) = (posed.constant(), posed.problem.loss().delta());
        Ok(Self { selected, path, frequencies, baseline, classes, constant, delta })
    }

    /// As a dictionary.
    pub fn to_python<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let from = &self.selected;
        let one = solution(py, &from.solution)?;
        standing(&from.standing, &one)?;
        one.set_item("lambda0", from.lambda0)?;
        one.set_item("lambda1", from.lambda1)?;
        one.set_item("lambda2", from.lambda2)?;
        one.set_item("k", from.k)?;
        one.set_item("method", from.method.name())?;
        let dict = PyDict::new(py);
        dict.set_item("solution", one)?;
        dict.set_item("baseline", self.baseline.as_ref().map(crate::survival::shown))?;
        dict.set_item("classes", self.classes.as_ref().map(class_rows))?;
        dict.set_item("remarks", remarks(&from.remarks))?;
        dict.set_item("constant", &self.constant)?;
        dict.set_item("provable", provable(py, &from.remarks)?)?;
        dict.set_item("path", self.path.as_ref().map(|path| path.to_python(py, false)).transpose()?)?;
        dict.set_item("point", from.chosen.as_ref().map(|chosen| chosen.point))?;
        let (criterion, validation) = match from.chosen.as_ref().map(|chosen| &chosen.by) {
            Some(By::Criterion(criterion, _)) => (Some(criterion.title()), None),
            Some(By::CrossValidation(found, _)) => (None, Some(scores(py, found, &self.frequencies)?)),
            None => (None, None),
        };
        dict.set_item("delta", self.delta)?;
        dict.set_item("criterion", criterion)?;
        dict.set_item("validation", validation)?;
        Ok(dict)
    }
}

/// Remarks in words, with what they are about.
pub fn remarks(from: &[Remark]) -> Vec<(&'static str, String)> {
    from.iter().map(|remark| (remark.kind(), remark.to_string())).collect()
}

/// What is proved of fewer subsets, and what would be; empty where nothing is known.
fn provable<'py>(py: Python<'py>, remarks: &[Remark]) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for remark in remarks {
        let Remark::Provable(Provable { within, added, lambda2, is_tried, bound, most }) = *remark else { continue };
        for (name, count) in [("within", within), ("added", added), ("most", most)] {
            count.map(|count| dict.set_item(name, count)).transpose()?;
        }
        let ridge = if is_tried { "lambda2" } else { "lambda2_expected" };
        for (name, value) in [(ridge, lambda2), ("bound", bound)] {
            value.map(|value| dict.set_item(name, value)).transpose()?;
        }
    }
    Ok(dict)
}

/// The coefficients of every class for the features of the support, and the intercepts.
pub fn class_rows(from: &ClassCoefficients) -> (Vec<Vec<f64>>, Vec<f64>) {
    (from.values.clone(), from.intercepts.clone())
}

/// What is proved of an answer, in words and as R².
pub fn standing<'py>(from: &Standing, dict: &Bound<'py, PyDict>) -> PyResult<()> {
    dict.set_item("standing", from.to_string())?;
    dict.set_item("r2", from.r2)?;
    dict.set_item("r2_limit", from.r2_limit)
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
    dict.set_item("status", from.status.name())?;
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

/// One of the best subsets of every size.
pub fn subset<'py>(py: Python<'py>, from: &Subset) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    coefficients(py, &from.coefficients, &dict)?;
    certificate(&from.certificate, &dict)?;
    dict.set_item("status", from.status.name())?;
    dict.set_item("size", from.size)?;
    dict.set_item("reached", from.is_reached())?;
    dict.set_item("loss", from.loss)?;
    dict.set_item("r2", from.criteria.r2)?;
    dict.set_item("adjusted_r2", from.criteria.adjusted_r2)?;
    dict.set_item("cp", from.criteria.cp)?;
    dict.set_item("aic", from.criteria.aic)?;
    dict.set_item("bic", from.criteria.bic)?;
    Ok(dict)
}

/// The scores of a cross-validation, one list of folds per point, and the points chosen.
fn scores<'py>(py: Python<'py>, from: &CrossValidation, frequencies: &[f64]) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let column = |f: &dyn Fn(&bestset::cv::SizeScore) -> f64| PyArray1::from_iter(py, from.scores.iter().map(f));
    dict.set_item("mean", column(&|s| s.mean))?;
    dict.set_item("standard_error", column(&|s| s.standard_error))?;
    let folds = from.scores.iter().map(|s| PyArray1::from_slice(py, &s.folds));
    dict.set_item("folds", PyList::new(py, folds)?)?;
    dict.set_item("best", from.best)?;
    dict.set_item("one_se", from.one_se)?;
    dict.set_item("score", from.score.name())?;
    dict.set_item("frequencies", PyArray1::from_slice(py, frequencies))?;
    Ok(dict)
}

/// How often features are selected, by size and at the most.
pub fn stability<'py>(py: Python<'py>, from: &Stability) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("frequencies", &from.frequencies)?;
    dict.set_item("largest", &from.largest)?;
    dict.set_item("subsamples", from.subsamples)?;
    dict.set_item("status", from.status.name())?;
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
