//! Features that are kept out, where a proof is of problems without bounds alone: the problem of the others is the same one (MATH 11.42).

use crate::control::Options;
use crate::design::ColumnSubset;
use crate::error::{Error, Result};
use crate::loss::Loss;
use crate::penalty::{Bounds, Penalty};
use crate::problem::Problem;
use crate::solution::{Coefficients, Solution};

/// The features that may be in.
pub(crate) struct Rest<'r> {
    features: Vec<usize>,
    columns: ColumnSubset<'r>,
}

impl<'r> Rest<'r> {
    /// Those of least squares that has no bound because of them alone: nothing where there is one, and where none is kept out.
    pub(crate) fn new(problem: &'r Problem<'_>) -> Result<Option<Self>> {
        let (p, penalty) = (problem.ncols(), problem.penalty());
        if problem.loss() != Loss::Squared || penalty.has_certificate(p) {
            return Ok(None);
        }
        let features: Vec<usize> = (0..p).filter(|&j| penalty.bounds.at(j) != (0.0, 0.0)).collect();
        if features.len() == p {
            return Ok(None);
        }
        let columns = ColumnSubset::new(problem.design(), features.clone())?;
        Ok(Some(Self { features, columns }))
    }

    /// min over β with β_j = 0 for j ∉ U is that over β_U (MATH 11.42): what `solve` finds of these features alone, by their numbers among
    /// all.
    pub(crate) fn solved(
        &self,
        whole: &Problem<'_>,
        options: &Options,
        solve: impl FnOnce(&Problem<'_>, &Options) -> Result<Solution>,
    ) -> Result<Solution> {
        options.validate_ranges(whole)?;
        let found = solve(&self.problem(whole)?, &self.options(options));
        let mut found = found.map_err(|error| self.named(error))?;
        found.coefficients = self.outward(&found.coefficients);
        for ranked in &mut found.ranked {
            ranked.coefficients = self.outward(&ranked.coefficients);
        }
        found.dependent.iter_mut().for_each(|list| self.rename(list));
        Ok(found)
    }

    /// The options of a solve of them alone.
    pub(crate) fn options(&self, options: &Options) -> Options {
        let warm_start = options.warm_start.as_ref().map(|start| self.inward(start));
        Options { warm_start, ..options.clone() }
    }

    /// The problem of their columns alone.
    pub(crate) fn problem(&self, whole: &Problem<'_>) -> Result<Problem<'_>> {
        let penalty = whole.penalty().of(&self.features);
        let is_free = |k: usize| penalty.bounds.at(k) == (f64::NEG_INFINITY, f64::INFINITY);
        let bounds = if (0..self.features.len()).all(is_free) { Bounds::Free } else { penalty.bounds.clone() };
        let rest = whole.with_columns(&self.columns, Penalty { bounds, ..penalty })?;
        rest.knows_columns_of(whole, &self.features);
        match whole.max_size() {
            Some(k) => rest.with_max_size(k.min(self.features.len())),
            None => Ok(rest),
        }
    }

    fn inward(&self, start: &Coefficients) -> Coefficients {
        let place = |(j, b): (usize, f64)| self.features.binary_search(&j).ok().map(|k| (k, b));
        Coefficients::from_pairs(start.iter().filter_map(place).collect(), start.intercept)
    }

    /// Coefficients of these features by their numbers among all.
    pub(crate) fn outward(&self, found: &Coefficients) -> Coefficients {
        let support = found.support.iter().map(|&k| self.features[k]).collect();
        Coefficients { support, ..found.clone() }
    }

    /// The same of a list of them.
    pub(crate) fn rename(&self, list: &mut [usize]) {
        list.iter_mut().for_each(|k| *k = self.features[*k]);
    }

    /// An error that names columns, by their numbers among all.
    fn named(&self, mut error: Error) -> Error {
        match &mut error {
            Error::Dependent { column, others, .. } => {
                *column = self.features[*column];
                self.rename(others);
            }
            Error::Dependences { columns, .. } => self.rename(columns),
            _ => {}
        }
        error
    }
}
