//! Many classes (MATH §16): a column for every feature and class inside, a row of coefficients for every class outside.

use super::{Posed, Setup};
use crate::classes::ClassCoefficients;
use crate::design::{PerClass, Standardized};
use crate::error::{Error, Result, check_length};
use crate::groups::{Grouped, Groups, is_single};
use crate::loss::Loss;
use crate::penalty::{Bounds, Factors, Penalty};
use crate::problem::Problem;
use crate::select::{Certified, Samples, Selected, Standing};
use crate::solution::{Coefficients, Status};
use crate::{Certificate, Options};

impl Setup {
    /// K, where the loss is that of many classes.
    pub(super) fn classes(&self) -> Option<usize> {
        if let Loss::Multinomial { classes } = self.loss { Some(classes) } else { None }
    }

    /// The problem of classes 0, …, K − 1 on a design with a column for each, given the penalty of the features.
    pub(super) fn problem_of_classes<'d>(
        &self,
        samples: &Samples<'d>,
        x: &'d PerClass<'d>,
        classes: usize,
        penalty: Penalty,
    ) -> Result<Problem<'d>> {
        if classes < 2 {
            return Err(Error::Range { name: "classes", value: classes as f64, range: "at least 2" });
        }
        check_length("y", samples.y.len(), samples.x.nrows())?;
        let is_class = |y: f64| y >= 0.0 && y < classes as f64 && y.fract() == 0.0;
        if let Some(index) = samples.y.iter().position(|y| !is_class(*y)) {
            return Err(Error::ClassNumber { index, value: samples.y[index], classes });
        }
        let labels: Vec<usize> = samples.y.iter().map(|y| *y as usize).collect();
        let mut problem = Problem::new(x, PerClass::targets(&labels, classes), of_columns(penalty, classes))?;
        if let Some(weights) = samples.weights {
            check_length("weights", weights.len(), labels.len())?;
            problem = problem.with_weights(weights.repeat(classes))?;
        }
        if let Some(offset) = samples.offset {
            check_length("offset, one for every sample and class,", offset.len(), labels.len() * classes)?;
            problem = problem.with_offset(offset)?;
        }
        problem.with_classes(classes, self.intercept)
    }

    /// A group of K columns for every feature, or for the features of every group, at its price.
    pub(super) fn groups_of_classes(&self, features: usize, classes: usize) -> Groups {
        let Some(groups) = self.groups.as_ref().filter(|groups| !is_single(groups)) else {
            return Groups::per_class(features, classes);
        };
        let columns = |members: &Vec<usize>| members.iter().flat_map(|j| j * classes..(j + 1) * classes).collect();
        Groups { members: groups.members.iter().map(columns).collect(), ..groups.clone() }
    }
}

/// The penalty of features as that of their columns, K for each.
fn of_columns(penalty: Penalty, classes: usize) -> Penalty {
    let each = |values: Vec<f64>| values.into_iter().flat_map(|v| std::iter::repeat_n(v, classes)).collect();
    let factors = |factors: Factors| match factors {
        Factors::Each(values) => Factors::Each(each(values)),
        one => one,
    };
    let bounds = match penalty.bounds {
        Bounds::Each(lower, upper) => Bounds::Each(each(lower), each(upper)),
        alike => alike,
    };
    Penalty { bounds, price: factors(penalty.price), shrinkage: factors(penalty.shrinkage), ..penalty }
}

impl Posed<'_> {
    /// K, where the loss is that of many classes.
    pub fn classes(&self) -> Option<usize> {
        self.setup.classes()
    }

    /// The coefficients of every class for the columns given; `None` where there are no classes. Without λ1 and bounds their sum over
    /// the classes is zero for every feature.
    pub fn outward_classes(&self, inside: &Coefficients) -> Result<Option<ClassCoefficients>> {
        let (Some(classes), Some(loss)) = (self.classes(), self.problem.coupled()) else { return Ok(None) };
        let intercepts = loss.intercepts(&self.problem.margins(inside)?);
        let mut outside = ClassCoefficients::of_columns(inside, intercepts);
        debug_assert_eq!(outside.classes(), classes);
        if self.setup.lambda1 == 0.0 && self.setup.bounds == Bounds::Free {
            outside = outside.centred();
        }
        if let Some(view) = self.view {
            self.rescale(view, &mut outside);
        }
        Ok(Some(outside))
    }

    fn rescale(&self, view: &Standardized<'_>, of: &mut ClassCoefficients) {
        for (row, intercept) in of.values.iter_mut().zip(&mut of.intercepts) {
            let (values, shift) = view.unscale(&of.support, row);
            let within = |(b, &j): (f64, &usize)| {
                let (lower, upper) = self.setup.bounds.at(j);
                b.clamp(lower, upper)
            };
            *row = values.into_iter().zip(&of.support).map(within).collect();
            *intercept += shift;
        }
    }

    /// ‖b_j‖ of every feature that is in, for the columns given.
    pub(super) fn outward_lengths(&self, inside: &Coefficients, classes: usize) -> Coefficients {
        let mut lengths = ClassCoefficients::of_columns(inside, vec![0.0; classes]).lengths();
        if let Some(view) = self.view {
            lengths.values = view.unscale(&lengths.support, &lengths.values).0;
        }
        lengths
    }

    /// Coefficients of classes for the columns inside, and the intercepts there.
    pub fn inward_classes(&self, outside: &ClassCoefficients) -> (Coefficients, Vec<f64>) {
        let mut inside = outside.clone();
        if let Some(view) = self.view {
            for (row, intercept) in inside.values.iter_mut().zip(&mut inside.intercepts) {
                for (b, &j) in row.iter_mut().zip(&outside.support) {
                    *intercept += view.centre()[j] * *b;
                    *b = view.inward(j, *b);
                }
            }
        }
        (inside.to_columns(), inside.intercepts)
    }

    /// P of coefficients of classes for the columns given, with the intercepts they have.
    fn objective_of(&self, problem: &Problem<'_>, outside: &ClassCoefficients) -> Result<(Coefficients, f64)> {
        let (Some(classes), Some(loss), Some(groups)) = (self.classes(), problem.coupled(), self.groups()) else {
            let reason = "has no classes: give one coefficient for each feature";
            return Err(Error::Unsupported { method: problem.loss().name(), reason });
        };
        outside.validate(problem.variables())?;
        check_length("classes of the coefficients", outside.classes(), classes)?;
        let (inside, intercepts) = self.inward_classes(outside);
        let grouped = Grouped { problem, groups };
        let own = loss.value_with(&problem.margins(&inside)?, &intercepts);
        let is_too_large = problem.max_size().is_some_and(|k| problem.size(&inside) > k);
        let rest = grouped.objective(&inside)? - problem.loss_at(&inside)?;
        Ok((inside, if is_too_large { f64::INFINITY } else { own + rest }))
    }

    /// The certificate of given coefficients beside what was found at the same price or size.
    pub(super) fn judged(
        &self,
        problem: &Problem<'_>,
        outside: &ClassCoefficients,
        found: Selected,
        options: &Options,
    ) -> Result<Certified> {
        let (inside, objective) = self.objective_of(problem, outside)?;
        let lower_bound = found.solution.certificate.lower_bound;
        let certificate = Certificate::new(objective, None, lower_bound);
        let status = certificate.status(Status::Converged, options.absolute(problem), options.gap);
        let standing = Standing::new(problem, &inside, &certificate, status);
        Ok(Certified { certificate, status, standing, found })
    }
}
