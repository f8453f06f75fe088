//! Least squares on a few columns from the data alone, by QR: what normal equations claim is checked here, and what they cannot tell
//! from a dependence is told.

use crate::error::{Error, Result};
use crate::kernel;
use crate::problem::Problem;
use crate::problem::whitened::Frame;
use crate::solution::Coefficients;
use faer::linalg::solvers::SolveLstsqCore;
use faer::{Conj, Mat};

/// A column of which less than this share of its square is left when others are projected out is not told from a combination of
/// them by inner products: fits with it would be made of rounding.
pub const DEPENDENT: f64 = 1e-11;

/// What is left of a combination of columns, relative to its terms, when it is zero but for rounding: that of a file with fifteen
/// digits, and of the combination itself. Columns further apart than this differ, and what they differ by could be fitted.
const EXACT: f64 = 4e-15;

/// Coefficients below this are rounding.
const NOTHING: f64 = 1e-8;

/// 16 + √n, the rounding of a fit in units of ε ‖A⁻¹‖ ½‖ŷ‖² (MATH 11.34): an error err in the entries of A moves fit(S) by
/// ½ err ‖β‖², and ‖β‖² ≤ ‖A⁻¹‖ ‖ŷ‖². Sums over n samples are off by about √n ε.
pub fn rounding(n: usize) -> f64 {
    16.0 + (n as f64).sqrt()
}

/// A column as fits take it.
#[derive(Debug, Clone)]
pub struct Term {
    /// The feature.
    pub feature: usize,
    /// √w ∘ (x − x̄) · scale.
    pub values: Vec<f64>,
    /// What a coefficient of the values is to be multiplied by.
    pub scale: f64,
    /// λ2 of that coefficient.
    pub ridge: f64,
    /// As in [`Unit`](crate::problem::whitened::Unit).
    pub reach: f64,
    pub effort: f64,
}

/// ŷ as fits take it.
pub struct Targets<'t, 'p, 'a> {
    /// The problem.
    pub problem: &'p Problem<'a>,
    /// Its rows and their weights.
    pub frame: &'t Frame<'p>,
    /// ŷ.
    pub values: &'t [f64],
    /// ½‖ŷ‖².
    pub total: f64,
}

/// A fit on a few columns.
#[derive(Debug, Clone)]
pub struct Refit {
    /// On the scale of the design.
    pub coefficients: Coefficients,
    /// Its loss and shrinkage, from the data.
    pub value: f64,
    /// How far the rounding of that evaluation reaches.
    pub evaluation: f64,
}

impl Targets<'_, '_, '_> {
    /// The fit by QR, its value from the data, and how far the rounding of that evaluation reaches (MATH 11.35).
    pub fn refit(&self, terms: &[Term]) -> Result<Refit> {
        let problem = self.problem;
        let solution = least_squares(terms, self.values);
        let pair = |(t, g): (&Term, &f64)| (t.feature, g * t.scale);
        let mut coefficients = Coefficients::from_pairs(terms.iter().zip(&solution).map(pair).collect(), 0.0);
        let (u, far) = problem.predictor(&coefficients)?;
        if problem.has_intercept() {
            coefficients.intercept = problem.best_intercept(&u, far) - far;
        }
        let shrunk: f64 = terms.iter().zip(&solution).map(|(t, g)| t.ridge * g * g).sum();
        let value = problem.loss_at(&coefficients)? + shrunk;
        // The evaluation rounds too: a residual is as exact as the terms it is the rest of, and an intercept as its last digit.
        let sizes: f64 = terms.iter().zip(&solution).map(|(t, g)| g.abs() * t.effort).sum();
        let length = (2.0 * self.total).sqrt() + self.frame.length(&self.frame.whiten(problem.null_margins()));
        let digit = f64::EPSILON * (far.abs() + coefficients.intercept.abs());
        let evaluation = rounding(u.len()) * f64::EPSILON * (sizes + length) * (2.0 * value).sqrt();
        Ok(Refit { coefficients, value, evaluation: evaluation + 4.0 * self.frame.total() * digit * digit })
    }

    /// A value that fit(S) of the columns is not below, `inverse` ≥ ‖A⁻¹‖: QR is backward stable, the fit it ends at is above the
    /// least by ((16 + √n) ε)² (2|S| ‖A⁻¹‖ fit(S) + ‖ŷ‖²) at most (MATH 11.35).
    pub fn at_least(&self, refit: &Refit, size: usize, inverse: f64) -> f64 {
        let stretched = size as f64 * inverse * 2.0 * refit.value;
        let excess = (rounding(self.values.len()) * f64::EPSILON).powi(2) * (stretched + 2.0 * self.total);
        refit.value - refit.evaluation - excess
    }
}

/// argmin_γ ‖target − Σ_a γ_a x̂_a‖² + 2λ2 Σ (s_a γ_a)², s the scales of the columns.
pub fn least_squares(terms: &[Term], target: &[f64]) -> Vec<f64> {
    let (n, k) = (target.len(), terms.len());
    let matrix = Mat::from_fn(n + k, k, |i, a| match i.checked_sub(n) {
        None => terms[a].values[i],
        Some(row) if row == a => (2.0 * terms[a].ridge).sqrt(),
        Some(_) => 0.0,
    });
    let mut solution = Mat::from_fn(n + k, 1, |i, _| if i < n { target[i] } else { 0.0 });
    matrix.qr().solve_lstsq_in_place_with_conj(Conj::No, solution.as_mut());
    (0..k).map(|a| solution[(a, 0)]).collect()
}

/// The others of which a column is a combination, by their places, if it is one exactly: an error if not. Never with a ridge, under
/// which two copies fit better than one.
pub fn circuit(own: &Term, others: &[Term]) -> Result<Vec<usize>> {
    let rough = least_squares(others, &own.values);
    let places: Vec<usize> = (0..others.len()).filter(|&a| rough[a].abs() > NOTHING).collect();
    let parts: Vec<Term> = places.iter().map(|&a| others[a].clone()).collect();
    let gamma = least_squares(&parts, &own.values);
    let mut rest = own.values.clone();
    for (part, g) in parts.iter().zip(&gamma) {
        rest.iter_mut().zip(&part.values).for_each(|(r, x)| *r -= g * x);
    }
    let left = kernel::squares(&rest).sqrt();
    // The entries were rounded when they were made, and centring does not make that less.
    let terms = own.reach + parts.iter().zip(&gamma).map(|(part, g)| g.abs() * part.reach).sum::<f64>();
    if own.ridge == 0.0 && left <= EXACT * terms {
        return Ok(places);
    }
    // The others are told by the part they have in it.
    let large = 1e-3 * gamma.iter().fold(0.0f64, |most, g| most.max(g.abs()));
    let named = gamma.iter().zip(&parts).filter(|p| p.0.abs() >= large).map(|p| p.1.feature).collect();
    Err(Error::Dependent { column: own.feature, others: named, share: left * left })
}
