//! The problem posed on the data: columns standardised inside, coefficients on the scale of the file outside.

use super::Loaded;
use crate::args::{FittingArgs, Scale, Terms};
use crate::exit::Failure;
use bestset::design::{Design, Standardized, squares};
use bestset::{Bounds, Coefficients, Loss, Penalty, Problem};

/// λ2 unless given, as a share of the mean sum of squares of a column.
const USUAL_RIDGE: f64 = 0.01;

/// A problem with λ0 = 0 on data that stay where they are.
pub struct Posed<'a> {
    pub data: &'a Loaded,
    pub view: Option<&'a Standardized<'a>>,
    pub problem: Problem<'a>,
}

impl FittingArgs {
    /// Poses the problem and hands it on: views on the data live as long as that takes.
    pub fn pose<T>(&self, data: &Loaded, body: impl FnOnce(&Posed<'_>) -> Result<T, Failure>) -> Result<T, Failure> {
        self.pose_with(data, |_| USUAL_RIDGE, body)
    }

    /// As [`FittingArgs::pose`], where λ2 unless given may depend on the number of rows and columns.
    pub fn pose_with<T>(
        &self,
        data: &Loaded,
        usual_ridge: impl Fn(&Loaded) -> f64,
        body: impl FnOnce(&Posed<'_>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let design = data.set.design()?;
        let weights = data.set.weights.as_deref();
        let samples: f64 = weights.map_or(data.set.rows() as f64, |w| w.iter().sum());
        let norm = match self.standardize {
            Scale::Norm => Some(1.0),
            Scale::Variance => Some(samples.sqrt()),
            Scale::None => None,
        };
        let intercept = !self.no_intercept;
        let view = norm.map(|norm| Standardized::fit(design.as_ref(), weights, intercept, norm)).transpose()?;
        let x: &dyn Design = match &view {
            Some(view) => view,
            None => design.as_ref(),
        };
        let lambda2 =
            self.lambda2.unwrap_or_else(|| usual_ridge(data) * norm.map_or_else(|| mean_square(x), |n| n * n));
        let mut penalty = Penalty::new(0.0, self.lambda1, lambda2);
        if self.nonnegative {
            penalty = penalty.with_bounds(Bounds::All(0.0, f64::INFINITY));
        }
        let mut problem = Problem::new(x, data.target.values.as_slice(), penalty)?.with_intercept(intercept);
        if let Some(weights) = weights {
            problem = problem.with_weights(weights)?;
        }
        if let Some(offset) = data.set.offset.as_deref() {
            problem = problem.with_offset(offset)?;
        }
        let problem = problem.with_loss(data.loss)?;
        body(&Posed { data, view: view.as_ref(), problem }).map_err(|failure| with_names(failure, data))
    }
}

/// An error that speaks of columns by number says their names.
pub fn with_names(failure: Failure, data: &Loaded) -> Failure {
    match failure {
        Failure::Problem(bestset::Error::Dependent { column, others, share }) => {
            let others: Vec<String> = others.into_iter().map(|j| data.name(j)).collect();
            Failure::Message(format!(
                "{} is nearly a combination of {}: {share:.1e} of its square is left without; leave one of them out (--drop), or give a \
                 --lambda2 above 0",
                data.name(column),
                if others.is_empty() { "others".to_owned() } else { others.join(", ") }
            ))
        }
        Failure::Problem(bestset::Error::Dependences { columns, most }) => {
            let columns: Vec<String> = columns.into_iter().map(|j| data.name(j)).collect();
            Failure::Message(format!(
                "{} are combinations of each other, and there are more such lists: leaving out one of each makes more than {most} \
                 families of subsets; drop copies of columns, and one column of every category (--drop), or give a --lambda2 above 0",
                columns.join(", ")
            ))
        }
        other => other,
    }
}

fn mean_square(x: &dyn Design) -> f64 {
    let all = squares(x, None);
    let mean = all.iter().sum::<f64>() / all.len() as f64;
    if mean > 0.0 { mean } else { 1.0 }
}

impl Posed<'_> {
    /// Number of samples.
    pub fn rows(&self) -> usize {
        self.problem.nrows()
    }

    /// Number of features.
    pub fn features(&self) -> usize {
        self.problem.ncols()
    }

    /// The problem with a price of a feature.
    pub fn priced(&self, lambda0: f64) -> Result<Problem<'_>, Failure> {
        let penalty = Penalty { lambda0, ..self.problem.penalty().clone() };
        Ok(self.problem.with_penalty(penalty)?)
    }

    /// What is asked, in numbers.
    pub fn terms(&self, lambda0: f64, k: Option<usize>) -> Terms {
        let penalty = self.problem.penalty();
        let (lambda1, lambda2) = (penalty.lambda1, penalty.lambda2);
        Terms { loss: self.loss(), lambda0, lambda1, lambda2, k }
    }

    /// The loss.
    pub fn loss(&self) -> Loss {
        self.problem.loss()
    }

    /// Coefficients for the columns of the file.
    pub fn outside(&self, inside: &Coefficients) -> Coefficients {
        let Some(view) = self.view else { return inside.clone() };
        let (values, shift) = view.unscale(&inside.support, &inside.values);
        Coefficients { support: inside.support.clone(), values, intercept: inside.intercept + shift }
    }

    /// Coefficients for the columns as they are inside.
    pub fn inside(&self, outside: &Coefficients) -> Coefficients {
        let Some(view) = self.view else { return outside.clone() };
        let pairs = outside.iter().map(|(j, b)| (j, b * view.scale()[j])).collect();
        let shift: f64 = outside.iter().map(|(j, b)| view.centre()[j] * b).sum();
        Coefficients::from_pairs(pairs, outside.intercept + shift)
    }

    /// Margins of the samples, intercept and offset included.
    pub fn margins(&self, inside: &Coefficients) -> Vec<f64> {
        let mut u = self.problem.margins(inside);
        u.iter_mut().for_each(|u| *u += inside.intercept);
        u
    }
}
