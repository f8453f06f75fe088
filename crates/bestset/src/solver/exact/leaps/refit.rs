//! Least squares from the data alone, by QR of the columns: what the normal equations claim is checked here.

use super::equations::{Equations, rounding};
use crate::error::{Error, Result};
use crate::problem::Problem;
use crate::solution::Coefficients;
use faer::linalg::solvers::SolveLstsqCore;
use faer::{Conj, Mat};

impl Equations<'_, '_> {
    /// argmin_γ Σ w (target − Σ_a γ_a s_a x̃_a)² + 2λ2 Σ (s_a γ_a)², for the columns in units of their scales s.
    pub fn least_squares(&self, members: &[u32], target: &[f64]) -> Vec<f64> {
        let (n, k) = (target.len(), members.len());
        let (roots, ridge) = (self.root_weights(), (2.0 * self.ridge).sqrt());
        let columns: Vec<Vec<f64>> = members.iter().map(|&m| column(self.problem, self.features[m as usize])).collect();
        let entry = |i: usize, a: usize| match i.checked_sub(n) {
            None => columns[a][i] * roots[i],
            Some(row) if row == a => ridge,
            Some(_) => 0.0,
        };
        let matrix = Mat::from_fn(n + k, k, |i, a| entry(i, a) * self.scales[members[a] as usize]);
        let mut solution = Mat::from_fn(n + k, 1, |i, _| if i < n { target[i] * roots[i] } else { 0.0 });
        matrix.qr().solve_lstsq_in_place_with_conj(Conj::No, solution.as_mut());
        (0..k).map(|a| solution[(a, 0)]).collect()
    }

    /// √w.
    pub fn root_weights(&self) -> Vec<f64> {
        let n = self.problem.nrows();
        self.problem.weights().map_or_else(|| vec![1.0; n], |w| w.iter().map(|w| w.sqrt()).collect())
    }

    /// The fit on a subset; an error when the data do not confirm the `claimed` value.
    pub fn refit(&self, members: &[u32], claimed: f64) -> Result<Coefficients> {
        let problem = self.problem;
        let solution = self.least_squares(members, &self.target);
        let pair = |(&m, b): (&u32, f64)| (self.features[m as usize], b * self.scales[m as usize]);
        let mut coefficients = Coefficients::from_pairs(members.iter().zip(solution).map(pair).collect(), 0.0);
        let u = problem.margins(&coefficients);
        coefficients.intercept = problem.best_intercept(&u, 0.0);
        let squares: f64 = coefficients.values.iter().map(|b| b * b).sum();
        let found = problem.loss_sum(&u, coefficients.intercept) + self.ridge * squares;
        // The evaluation rounds too: a residual is as exact as the terms it is the rest of.
        let terms: f64 = coefficients.iter().map(|(j, b)| b.abs() * problem.squares(j).sqrt()).sum();
        let roots = self.root_weights();
        let size = |i: usize| roots[i] * (problem.y()[i].abs() + u[i].abs());
        let length = (0..u.len()).map(|i| size(i) * size(i)).sum::<f64>().sqrt();
        let evaluation = rounding(u.len()) * f64::EPSILON * (terms + length) * (2.0 * found).sqrt();
        let slack = self.slack + evaluation;
        match (found - claimed).abs() <= slack {
            true => Ok(coefficients),
            false => Err(Error::Recheck { what: "the fit on a subset", claimed, found, slack }),
        }
    }
}

/// Column j, centred when there is an intercept.
pub fn column(problem: &Problem<'_>, j: usize) -> Vec<f64> {
    let mut x = vec![0.0; problem.nrows()];
    problem.design().axpy(j, 1.0, &mut x);
    if problem.has_intercept() {
        let mean = problem.moments()[j].mean;
        x.iter_mut().for_each(|x| *x -= mean);
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::design::Dense;
    use crate::penalty::Penalty;

    /// A value that the data do not confirm is an error with both values; the one they do is accepted.
    #[test]
    fn a_wrong_fit_is_refused() {
        let x = Dense::new(5, 2, vec![1.0, 2.0, 3.0, 4.0, 5.0, 1.0, -1.0, 2.0, 0.0, 1.0]).unwrap();
        let problem = Problem::new(&x, vec![1.0, 2.5, 2.0, 4.5, 5.0], Penalty::new(0.0, 0.0, 0.1)).unwrap();
        let problem = problem.with_intercept(true).with_weights(vec![1.0, 2.0, 1.0, 0.5, 1.0]).unwrap();
        let equations = Equations::new(&problem).unwrap();
        for members in [&[0, 1][..], &[1], &[]] {
            let fit = equations.fit(members);
            let coefficients = equations.refit(members, fit).unwrap();
            assert!((problem.value(&coefficients) - fit).abs() < 1e-13 * fit);
            let error = equations.refit(members, fit * (1.0 + 1e-9)).unwrap_err();
            assert!(matches!(error, Error::Recheck { claimed, found, .. } if claimed > found), "{error}");
        }
    }
}
