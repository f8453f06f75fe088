//! What the normal equations claim of a subset, checked by the data.

use crate::error::{Error, Result};
use crate::leaps::cell::Cell;
use crate::leaps::cover::determined;
use crate::leaps::equations::Equations;
use crate::leaps::incumbents::Contender;
use crate::problem::refit::{Refit, Targets, Term};
use crate::solution::Coefficients;

impl<'p, 'a> Equations<'p, 'a> {
    /// The column at a position.
    pub fn term(&self, m: u32) -> Result<Term> {
        let k = m as usize;
        let (feature, scale) = (self.features[k], self.scales[k]);
        let (ridge, reach, effort) = (self.ridge_of(m), self.reach[k], self.effort[k]);
        Ok(Term { feature, values: self.column(m)?, scale, ridge, reach, effort })
    }

    /// The columns at the positions.
    pub fn terms(&self, members: &[u32]) -> Result<Vec<Term>> {
        members.iter().map(|&m| self.term(m)).collect()
    }

    /// ŷ.
    pub fn targets(&self) -> Targets<'_, 'p, 'a> {
        Targets { problem: self.problem, frame: &self.frame, values: &self.target, total: self.total }
    }

    /// A perfect fit: the subset, which leaves one degree of freedom, and the feature that brings most beside it. None where columns
    /// are so few without those that others stand for that they leave more.
    pub fn interpolate(&self, members: &[u32]) -> Result<Option<Coefficients>> {
        if members.len() + 1 != determined(self.problem) {
            return Ok(None);
        }
        let with = |k: u32| [members, &[k]].concat();
        // A column that the subset determines has no coefficient beside it.
        let is_new =
            |&k: &u32| !members.contains(&k) && self.dependent(&Cell { inside: with(k), free: Vec::new() }).is_none();
        let outside = (0..self.len() as u32).filter(is_new);
        let mut best: Option<(f64, Coefficients)> = None;
        for k in outside {
            let fit = match self.refit(&with(k), 0.0) {
                Err(error) if error.is_of_reading() => return Err(error),
                Err(_) => continue,
                Ok(fit) => fit,
            };
            let loss = self.problem.loss_at(&fit)?;
            if best.as_ref().is_none_or(|b| loss < b.0) {
                best = Some((loss, fit));
            }
        }
        Ok(best.map(|best| best.1))
    }

    /// The fit on a subset; an error when the data do not confirm the `claimed` value.
    pub fn refit(&self, members: &[u32], claimed: f64) -> Result<Coefficients> {
        Ok(self.confirmed(members, claimed)?.coefficients)
    }

    /// The subset of least fit among some that the normal equations do not tell apart, with a value that none of them is below
    /// (MATH 11.35).
    pub fn least(&self, contenders: &[&Contender]) -> Result<(Coefficients, f64)> {
        let (mut best, mut bound) = ((f64::INFINITY, Coefficients::default()), f64::INFINITY);
        for &Contender { ref members, fit: claimed } in contenders.iter().copied() {
            let fit = self.confirmed(members, claimed)?;
            bound = bound.min(self.targets().at_least(&fit, members.len(), self.inverse));
            if fit.value < best.0 {
                best = (fit.value, fit.coefficients);
            }
        }
        Ok((best.1, bound))
    }

    /// The fit by QR; an error when it is not what the normal equations claim, but for their rounding.
    fn confirmed(&self, members: &[u32], claimed: f64) -> Result<Refit> {
        let fit = self.targets().refit(&self.terms(members)?)?;
        let (found, slack) = (fit.value, self.slack + fit.evaluation);
        match (found - claimed).abs() <= slack {
            true => Ok(fit),
            false => Err(Error::Recheck { what: "the fit on a subset", claimed, found, slack }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::design::Dense;
    use crate::penalty::Penalty;
    use crate::problem::Problem;

    /// A value that the data do not confirm is an error with both values; the one they do is accepted.
    #[test]
    fn a_wrong_fit_is_refused() {
        let x = Dense::new(5, 2, vec![1.0, 2.0, 3.0, 4.0, 5.0, 1.0, -1.0, 2.0, 0.0, 1.0]).unwrap();
        let problem = Problem::new(&x, vec![1.0, 2.5, 2.0, 4.5, 5.0], Penalty::new(0.0, 0.0, 0.1)).unwrap();
        let problem = problem.with_intercept(true).with_weights(vec![1.0, 2.0, 1.0, 0.5, 1.0]).unwrap();
        let equations = Equations::new(&problem, 2).unwrap();
        for members in [&[0, 1][..], &[1], &[]] {
            let fit = equations.fit(members);
            let coefficients = equations.refit(members, fit).unwrap();
            assert!((problem.value(&coefficients).unwrap() - fit).abs() < 1e-13 * fit);
            let error = equations.refit(members, fit * (1.0 + 1e-9)).unwrap_err();
            assert!(matches!(error, Error::Recheck { claimed, found, .. } if claimed > found), "{error}");
        }
    }
}
