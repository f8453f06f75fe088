//! Model files: the core's, with what Python knows of classes and columns beside the model.

use crate::errors::Failure;
use crate::input::loss;
use crate::output;
use crate::survival;
use bestset::model::Model;
use bestset::{Certificate, Coefficients, Loss, Status, Ties};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::PathBuf;

/// A model as Python has it: `Stored` of `python/bestset/_model.py`.
#[derive(FromPyObject)]
pub struct Stored {
    loss: String,
    delta: f64,
    theta: Option<f64>,
    lambda0: f64,
    lambda1: f64,
    lambda2: f64,
    n_features: usize,
    feature_names: Option<Vec<String>>,
    support: Vec<usize>,
    values: Vec<f64>,
    intercept: f64,
    objective: f64,
    relaxation: Option<f64>,
    lower_bound: f64,
    status: String,
    ties: String,
    baseline: Option<survival::BaselineArgument>,
    classes: Option<(Vec<Vec<f64>>, Vec<f64>)>,
}

impl Stored {
    fn model(self) -> PyResult<Model> {
        let status = Status::named(&self.status);
        let unknown = || PyValueError::new_err(format!("there is no status named {:?}", self.status));
        let count = self.classes.as_ref().map_or(0, |classes| classes.1.len());
        let support = self.support.clone();
        let classes =
            self.classes.map(|(values, intercepts)| bestset::ClassCoefficients { support, values, intercepts });
        let mut model = Model {
            loss: loss(&self.loss, self.delta, self.theta, &self.ties, count)?,
            lambda0: self.lambda0,
            lambda1: self.lambda1,
            lambda2: self.lambda2,
            features: self.n_features,
            names: Vec::new(),
            coefficients: Coefficients { support: self.support, values: self.values, intercept: self.intercept },
            certificate: Certificate {
                objective: self.objective,
                relaxation: self.relaxation,
                lower_bound: self.lower_bound,
            },
            status: status.ok_or_else(unknown)?,
            classes: None,
            baseline: self.baseline.map(survival::baseline),
        };
        if let Some(classes) = classes {
            model = model.with_classes(classes).map_err(Failure::from)?;
        }
        model.coefficients.validate(model.features).map_err(Failure::from)?;
        match self.feature_names {
            Some(names) => Ok(model.with_names(names).map_err(Failure::from)?),
            None => Ok(model),
        }
    }
}

/// Writes a model with its encoding.
#[pyfunction]
pub fn save_model(path: PathBuf, stored: Stored, encoding: &str) -> PyResult<()> {
    Ok(stored.model()?.save_encoded(path, encoding).map_err(Failure::from)?)
}

/// Reads the model in a text.
#[pyfunction]
pub fn read_model<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyDict>> {
    let model = Model::from_json(text).map_err(Failure::from)?;
    let dict = PyDict::new(py);
    output::coefficients(py, &model.coefficients, &dict)?;
    output::certificate(&model.certificate, &dict)?;
    dict.set_item("loss", model.loss.name())?;
    dict.set_item("delta", model.loss.delta())?;
    dict.set_item("theta", model.loss.theta())?;
    let ties = if let Loss::Cox { ties } = model.loss { ties } else { Ties::default() };
    dict.set_item("ties", ties.name())?;
    dict.set_item("baseline", model.baseline.as_ref().map(survival::shown))?;
    dict.set_item("class_rows", model.classes.as_ref().map(output::class_rows))?;
    dict.set_item("lambda0", model.lambda0)?;
    dict.set_item("lambda1", model.lambda1)?;
    dict.set_item("lambda2", model.lambda2)?;
    dict.set_item("n_features", model.features)?;
    dict.set_item("feature_names", Some(model.names).filter(|names| !names.is_empty()))?;
    dict.set_item("status", model.status.name())?;
    Ok(dict)
}
