//! A fitted model: coefficients on the user's scale, predictions, a summary, and a file that keeps it.

mod file;
mod summary;

pub use file::{FORMAT, VERSION};

use crate::certificate::Certificate;
use crate::classes::{ClassCoefficients, class_probabilities, likeliest_classes};
use crate::design;
use crate::design::{Design, Standardized};
use crate::error::{Error, Result, check_length};
use crate::loss::{Baseline, Loss};
use crate::path::Point;
use crate::problem::Problem;
use crate::solution::{Coefficients, Solution, Status};
use serde::{Deserialize, Serialize};

/// A linear model u = Xβ + b with a few non-zero coefficients, and how good it is known to be.
///
/// An offset belongs to samples, not to the model: add that of new samples to what [`Model::predict`] returns.
///
/// ```
/// use bestset::design::Dense;
/// use bestset::model::Model;
/// use bestset::{Options, Penalty, Problem, solve};
///
/// let x = Dense::new(4, 2, vec![1.0, 2.0, 3.0, 4.0, 1.0, -1.0, 1.0, -1.0])?;
/// let problem = Problem::new(&x, vec![2.1, 3.9, 6.0, 8.1], Penalty::new(0.5, 0.0, 0.01))?;
/// let solution = solve(&problem, &Options::default())?;
/// let model = Model::new(&problem, &solution)?.with_names(vec!["dose".into(), "sign".into()])?;
///
/// let again = Model::from_json(&model.to_json())?;
/// assert_eq!(model, again);
/// assert_eq!(again.selected(), ["dose"]);
/// assert!((again.predict(&x)?[0] - 2.0).abs() < 0.1);
/// # Ok::<(), bestset::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Model {
    /// The loss it was fitted with.
    pub loss: Loss,
    /// λ0 of the fit.
    pub lambda0: f64,
    /// λ1 of the fit.
    pub lambda1: f64,
    /// λ2 of the fit.
    pub lambda2: f64,
    /// Number of features a row must have.
    pub features: usize,
    /// Names of the features; empty when they have none.
    pub names: Vec<String>,
    /// The coefficients on the scale of the user's columns.
    pub coefficients: Coefficients,
    /// P, R, bound and gaps on the scale the problem was solved on.
    pub certificate: Certificate,
    /// How the solve ended.
    pub status: Status,
    /// The coefficients of every class, where there are many; `coefficients` has their features and lengths then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub classes: Option<ClassCoefficients>,
    /// The baseline hazard, of survival times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<Baseline>,
}

impl Model {
    /// The model of a solution, on the scale of the problem's design.
    pub fn new(problem: &Problem<'_>, solution: &Solution) -> Result<Self> {
        solution.coefficients.validate(problem.ncols())?;
        let classes = match problem.coupled().filter(|loss| loss.classes() > 1) {
            Some(loss) => {
                let intercepts = loss.intercepts(&problem.margins(&solution.coefficients)?);
                Some(ClassCoefficients::of_columns(&solution.coefficients, intercepts))
            }
            None => None,
        };
        let penalty = problem.penalty();
        Ok(Self {
            loss: problem.loss(),
            lambda0: penalty.lambda0,
            lambda1: penalty.lambda1,
            lambda2: penalty.lambda2,
            features: problem.variables(),
            names: Vec::new(),
            coefficients: classes.as_ref().map_or_else(|| solution.coefficients.clone(), ClassCoefficients::lengths),
            classes,
            certificate: solution.certificate,
            status: solution.status,
            baseline: match problem.coupled() {
                Some(coupled) => coupled.baseline(&problem.margins(&solution.coefficients)?),
                None => None,
            },
        })
    }

    /// The model of a point of a path.
    pub fn from_point(problem: &Problem<'_>, point: &Point) -> Result<Self> {
        let (lambda0, lambda1, lambda2) = (point.lambda0, point.lambda1, point.lambda2);
        Ok(Self { lambda0, lambda1, lambda2, ..Self::new(problem, &point.solution)? })
    }

    /// The same model for the columns that were standardised: β_j / scale_j, and the intercept that the centring asks for.
    pub fn unstandardised(mut self, view: &Standardized<'_>) -> Result<Self> {
        check_length("scale", view.scale().len(), self.features)?;
        if let Some(mut classes) = self.classes.take() {
            for (row, intercept) in classes.values.iter_mut().zip(&mut classes.intercepts) {
                let (values, shift) = view.unscale(&classes.support, row);
                (*row, *intercept) = (values, *intercept + shift);
            }
            return self.with_classes(classes);
        }
        let (values, shift) = view.unscale(&self.coefficients.support, &self.coefficients.values);
        self.coefficients.values = values;
        self.coefficients.intercept += shift;
        Ok(self)
    }

    /// Names the features, one name each, all different.
    pub fn with_names(mut self, names: Vec<String>) -> Result<Self> {
        check_length("names", names.len(), self.features)?;
        let mut seen = std::collections::HashSet::new();
        if let Some(index) = names.iter().position(|name| !seen.insert(name)) {
            return Err(Error::Name { index, name: names[index].clone() });
        }
        self.names = names;
        Ok(self)
    }

    /// The same model with other coefficients, for instance refitted without shrinkage.
    pub fn with_coefficients(mut self, coefficients: Coefficients) -> Result<Self> {
        coefficients.validate(self.features)?;
        self.coefficients = coefficients;
        Ok(self)
    }

    /// The same model with other coefficients of its classes.
    pub fn with_classes(mut self, classes: ClassCoefficients) -> Result<Self> {
        classes.validate(self.features)?;
        self.coefficients = classes.lengths();
        self.classes = Some(classes);
        Ok(self)
    }

    /// The name of feature j, or `x` and its number.
    pub fn name(&self, j: usize) -> String {
        self.names.get(j).cloned().unwrap_or_else(|| format!("x{j}"))
    }

    /// The names of the selected features.
    pub fn selected(&self) -> Vec<String> {
        self.coefficients.support.iter().map(|&j| self.name(j)).collect()
    }

    /// u = Xβ + b for the rows of a design with the same features.
    pub fn predict(&self, design: &dyn Design) -> Result<Vec<f64>> {
        check_length("columns of X", design.ncols(), self.features)?;
        if self.classes.is_some() {
            let reason = "has a predictor for every class: see Model::class_margins";
            return Err(Error::Unsupported { method: "multinomial", reason });
        }
        let mut u = vec![0.0; design.nrows()];
        let Coefficients { support, values, intercept } = &self.coefficients;
        design::predict(design, support, values, *intercept, &mut u)?;
        Ok(u)
    }

    /// The probability of the label +1, 1/(1 + e^{−u}); for the logistic loss.
    pub fn probabilities(&self, design: &dyn Design) -> Result<Vec<f64>> {
        if self.loss != Loss::Logistic {
            let reason = "has probabilities for the logistic loss only";
            return Err(Error::Unsupported { method: "predict", reason });
        }
        Ok(self.predict(design)?.into_iter().map(|u| 1.0 / (1.0 + (-u).exp())).collect())
    }

    /// The mean of y in each row: e^u with the log link, the probability of +1 for the logistic loss, u for the others; `offset` is
    /// what belongs to the rows, such as the logarithm of their exposure.
    pub fn means(&self, design: &dyn Design, offset: Option<&[f64]>) -> Result<Vec<f64>> {
        let mut u = self.predict(design)?;
        if let Some(offset) = offset {
            check_length("offset", offset.len(), u.len())?;
            u.iter_mut().zip(offset).for_each(|(u, o)| *u += o);
        }
        Ok(u.into_iter().map(|u| self.loss.mean(u)).collect())
    }

    /// u_ki = o_ki + Σ_j x_ijb_jk + c_k of many classes, at k·n + i: a block of rows for each; `offset` has the same order.
    pub fn class_margins(&self, design: &dyn Design, offset: Option<&[f64]>) -> Result<Vec<f64>> {
        check_length("columns of X", design.ncols(), self.features)?;
        self.many_classes()?.margins(design, offset)
    }

    /// The probability of every class, in the order of [`Model::class_margins`].
    pub fn class_probabilities(&self, design: &dyn Design, offset: Option<&[f64]>) -> Result<Vec<f64>> {
        Ok(class_probabilities(&self.class_margins(design, offset)?, self.many_classes()?.classes()))
    }

    /// The number of the likeliest class of each row, the first of equals.
    pub fn likeliest_classes(&self, design: &dyn Design, offset: Option<&[f64]>) -> Result<Vec<usize>> {
        Ok(likeliest_classes(&self.class_margins(design, offset)?, self.many_classes()?.classes()))
    }

    fn many_classes(&self) -> Result<&ClassCoefficients> {
        let reason = "has coefficients for every class with the multinomial loss only";
        self.classes.as_ref().ok_or(Error::Unsupported { method: "predict", reason })
    }

    /// The label of each row, +1 where u > 0 and −1 elsewhere; for classification.
    pub fn classes(&self, design: &dyn Design) -> Result<Vec<f64>> {
        if !self.loss.is_classification() {
            let reason = "has classes for classification losses only";
            return Err(Error::Unsupported { method: "predict", reason });
        }
        Ok(self.predict(design)?.into_iter().map(|u| if u > 0.0 { 1.0 } else { -1.0 }).collect())
    }
}
