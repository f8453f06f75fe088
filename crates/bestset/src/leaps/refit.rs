//! Least squares from the data alone, by QR of the columns: what the normal equations claim is checked here.

use crate::error::{Error, Result};
use crate::leaps::equations::{Equations, rounding};
use crate::leaps::incumbents::Contender;
use crate::solution::Coefficients;
use faer::linalg::solvers::SolveLstsqCore;
use faer::{Conj, Mat};

impl Equations<'_, '_> {
    /// argmin_γ ‖target − Σ_a γ_a x̂_a‖² + 2λ2 Σ (s_a γ_a)², s the scales of the columns.
    pub fn least_squares(&self, members: &[u32], target: &[f64]) -> Vec<f64> {
        let (n, k) = (target.len(), members.len());
        let columns: Vec<Vec<f64>> = members.iter().map(|&m| self.column(m)).collect();
        let matrix = Mat::from_fn(n + k, k, |i, a| match i.checked_sub(n) {
            None => columns[a][i],
            Some(row) if row == a => (2.0 * self.ridge_of(members[a])).sqrt(),
            Some(_) => 0.0,
        });
        let mut solution = Mat::from_fn(n + k, 1, |i, _| if i < n { target[i] } else { 0.0 });
        matrix.qr().solve_lstsq_in_place_with_conj(Conj::No, solution.as_mut());
        (0..k).map(|a| solution[(a, 0)]).collect()
    }

    /// A perfect fit: the subset, which leaves one degree of freedom, and the feature that brings most beside it.
    pub fn interpolate(&self, members: &[u32]) -> Option<Coefficients> {
        let outside = (0..self.len() as u32).filter(|k| !members.contains(k));
        let with = |k: u32| [members, &[k]].concat();
        // One of them may depend on the subset; what is fitted is evaluated from the data.
        let fits = outside.filter_map(|k| self.refit(&with(k), 0.0).ok());
        fits.map(|c| (self.problem.loss_at(&c), c)).reduce(|a, b| if b.0 < a.0 { b } else { a }).map(|best| best.1)
    }

    /// The fit on a subset; an error when the data do not confirm the `claimed` value.
    pub fn refit(&self, members: &[u32], claimed: f64) -> Result<Coefficients> {
        let (coefficients, found, evaluation) = self.evaluated(members);
        let slack = self.slack + evaluation;
        match (found - claimed).abs() <= slack {
            true => Ok(coefficients),
            false => Err(Error::Recheck { what: "the fit on a subset", claimed, found, slack }),
        }
    }

    /// The subset of least fit among some that the normal equations do not tell apart, with a value that none of them is below:
    /// QR is backward stable, the fit it ends at is above the least by ((16 + √n) ε)² (2|S| ‖A⁻¹‖ fit(S) + ‖ŷ‖²) at most
    /// (MATH 11.35).
    pub fn least(&self, contenders: &[&Contender]) -> Result<(Coefficients, f64)> {
        let (mut best, mut bound) = ((f64::INFINITY, Coefficients::default()), f64::INFINITY);
        for &Contender { ref members, fit: claimed } in contenders.iter().copied() {
            let (coefficients, found, evaluation) = self.evaluated(members);
            let slack = self.slack + evaluation;
            if (found - claimed).abs() > slack {
                return Err(Error::Recheck { what: "the fit on a subset", claimed, found, slack });
            }
            let stretched = members.len() as f64 * self.inverse * 2.0 * found;
            let excess = (rounding(self.target.len()) * f64::EPSILON).powi(2) * (stretched + 2.0 * self.total);
            bound = bound.min(found - evaluation - excess);
            if found < best.0 {
                best = (found, coefficients);
            }
        }
        Ok((best.1, bound))
    }

    /// The fit by QR, its value from the data, and how far the rounding of that evaluation reaches (MATH 11.35).
    fn evaluated(&self, members: &[u32]) -> (Coefficients, f64, f64) {
        let problem = self.problem;
        let solution = self.least_squares(members, &self.target);
        let pair = |(&m, g): (&u32, &f64)| (self.features[m as usize], g * self.scales[m as usize]);
        let mut coefficients = Coefficients::from_pairs(members.iter().zip(&solution).map(pair).collect(), 0.0);
        let (u, far) = problem.predictor(&coefficients);
        if problem.has_intercept() {
            coefficients.intercept = problem.best_intercept(&u, far) - far;
        }
        let shrunk: f64 = members.iter().zip(&solution).map(|(&m, g)| self.ridge_of(m) * g * g).sum();
        let found = problem.loss_at(&coefficients) + shrunk;
        // The evaluation rounds too: a residual is as exact as the terms it is the rest of, and an intercept as its last digit.
        let terms: f64 = members.iter().zip(&solution).map(|(&m, g)| g.abs() * self.effort[m as usize]).sum();
        let length = (2.0 * self.total).sqrt() + self.frame.length(&self.frame.whiten(problem.null_margins()));
        let digit = f64::EPSILON * (far.abs() + coefficients.intercept.abs());
        let evaluation = rounding(u.len()) * f64::EPSILON * (terms + length) * (2.0 * found).sqrt();
        (coefficients, found, evaluation + 4.0 * self.frame.total() * digit * digit)
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
            assert!((problem.value(&coefficients) - fit).abs() < 1e-13 * fit);
            let error = equations.refit(members, fit * (1.0 + 1e-9)).unwrap_err();
            assert!(matches!(error, Error::Recheck { claimed, found, .. } if claimed > found), "{error}");
        }
    }
}
