//! The columns and the target as the normal equations take them: centred where there is an intercept, times the roots of the
//! weights, columns of length one.
//!
//! A mean is rounded, and far from zero that is a large part of what is left without it. So the rest is centred once more: x − m is
//! exact where x is near m, its own mean is small, and what is rounded now is relative to the spread.

use crate::design::{self, Column};
use crate::error::Result;
use crate::kernel;
use crate::problem::Problem;

/// What rounding may leave of a constant column, relative to it.
const CONSTANT: f64 = 16.0 * f64::EPSILON;

/// One column of length one, and how it came to be that.
#[derive(Debug, Clone)]
pub struct Unit {
    /// √w ∘ (x − x̄) · scale.
    pub values: Vec<f64>,
    /// One over the length of √w ∘ (x − x̄).
    pub scale: f64,
    /// The length of √w ∘ x over that of √w ∘ (x − x̄): the digits that centring costs.
    pub reach: f64,
    /// How much larger than the column the numbers are that a prediction adds up.
    pub effort: f64,
}

/// Rows, weights and whether there is an intercept.
pub struct Frame<'w> {
    roots: Option<Vec<f64>>,
    weights: Option<&'w [f64]>,
    rows: usize,
    intercept: bool,
}

impl<'w> Frame<'w> {
    pub fn new(problem: &'w Problem<'_>) -> Self {
        let weights = problem.weights();
        let roots = weights.map(|w| w.iter().map(|w| w.sqrt()).collect());
        Self { roots, weights, rows: problem.nrows(), intercept: problem.has_intercept() }
    }

    /// Σ w.
    pub fn total(&self) -> f64 {
        self.weights.map_or(self.rows as f64, kernel::sum)
    }

    /// Subtracts the weighted mean, twice (MATH 11.34).
    fn centre(&self, values: &mut [f64]) {
        for _ in 0..2 {
            let sum = self.weights.map_or_else(|| kernel::sum(values), |w| kernel::dot(values, w));
            let mean = sum / self.total();
            values.iter_mut().for_each(|x| *x -= mean);
        }
    }

    fn weigh(&self, values: &mut [f64]) {
        if let Some(roots) = &self.roots {
            values.iter_mut().zip(roots).for_each(|(x, root)| *x *= root);
        }
    }

    /// ‖√w ∘ v‖.
    pub fn length(&self, values: &[f64]) -> f64 {
        let mut values = values.to_vec();
        self.weigh(&mut values);
        kernel::squares(&values).sqrt()
    }

    /// v̂ = √w ∘ (v − v̄) (MATH 1.4).
    pub fn whiten(&self, mut values: Vec<f64>) -> Vec<f64> {
        if self.intercept {
            self.centre(&mut values);
        }
        self.weigh(&mut values);
        values
    }

    /// W(v − v̄): the vector whose product with any column x is x̂ᵀv̂ (MATH 1.4).
    pub fn weighted(&self, values: Vec<f64>) -> Vec<f64> {
        let mut values = self.whiten(values);
        self.weigh(&mut values);
        values
    }

    /// Column j, `None` where nothing but rounding is left of it.
    pub fn unit(&self, problem: &Problem<'_>, j: usize) -> Result<Option<Unit>> {
        let mut column = Column::default();
        problem.design().column(j, &mut column)?;
        let mut raw = vec![0.0; self.rows];
        column.to_dense(&mut raw);
        // In units of a power of two, which is exact: squares of the largest and of the smallest columns are numbers.
        let (shrink, grow) = near_one(&raw);
        raw.iter_mut().for_each(|x| *x *= shrink);
        let parts = if column.values.len() < self.rows { self.parts(&column, shrink) } else { 0.0 };
        let mut values = self.whiten(raw.clone());
        self.weigh(&mut raw);
        let (own, length) = (kernel::squares(&raw).sqrt().max(parts), kernel::squares(&values).sqrt());
        // A view has taken away what the entries were rounded with.
        let before = own.max(problem.design().offset(j) * shrink * self.total().sqrt());
        let scale = shrink / length;
        if !(length > CONSTANT * before && scale.is_finite() && (grow * length).is_finite()) {
            return Ok(None);
        }
        values.iter_mut().for_each(|x| *x /= length);
        let reach = before / length;
        let effort =
            if column.values.len() < self.rows { own / length } else { self.varying(&column, shrink) / length };
        Ok(Some(Unit { values, scale, reach, effort }))
    }

    /// The length of what a prediction multiplies of a column that stores all rows.
    fn varying(&self, column: &Column, shrink: f64) -> f64 {
        let far = column.anchor(self.rows, self.weights);
        self.length(&column.values.iter().map(|x| (x - far) * shrink).collect::<Vec<f64>>())
    }

    /// The length of what a sparse column is the sum of.
    fn parts(&self, column: &Column, shrink: f64) -> f64 {
        let weight = |i: u32| self.weights.map_or(1.0, |w| w[i as usize]);
        let stored = column.rows.iter().zip(&column.values).map(|(&i, x)| weight(i) * (x * shrink).powi(2));
        stored.sum::<f64>().sqrt() + (column.shift * shrink).abs() * self.total().sqrt()
    }
}

/// A power of two that brings the largest of the values near one, and the one that brings it back.
fn near_one(values: &[f64]) -> (f64, f64) {
    let largest = values.iter().fold(0.0f64, |most, x| most.max(x.abs()));
    if largest == 0.0 {
        return (1.0, 1.0);
    }
    // Within what has an inverse.
    let exponent = (largest.log2().floor() as i32).clamp(-1020, 1020);
    (2f64.powi(-exponent), 2f64.powi(exponent))
}

/// Whether the entries of feature j, but for those of weight zero, are one number.
pub fn is_constant(problem: &Problem<'_>, j: usize) -> Result<bool> {
    design::is_constant(problem.design(), problem.weights(), j)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::design::Dense;
    use crate::penalty::Penalty;

    /// Columns far from zero, of any scale, are those near zero to the last digits; what has no spread is no column.
    #[test]
    fn far_columns_are_centred_to_the_last_digits() {
        let near: Vec<f64> = (0..64).map(|i| f64::from(i * i % 37) / 64.0).collect();
        let weights: Vec<f64> = (0..64).map(|i| 0.25 + f64::from(i % 5)).collect();
        for (far, scale) in [(0.0, 1.0), (1e6, 1.0), (-1e13, 1.0), (3e8, 1e-150), (2e5, 1e140), (0.0, 1e-290)] {
            let x: Vec<f64> = near.iter().map(|x| (x + far) * scale).collect();
            let exact: Vec<f64> = x.iter().map(|v| (v - x[0]) / scale).collect();
            let designs = [Dense::new(64, 1, x).unwrap(), Dense::new(64, 1, exact).unwrap()];
            let units = designs.each_ref().map(|design| {
                let problem = Problem::new(design, vec![0.0; 64], Penalty::new(0.0, 0.0, 0.0)).unwrap();
                let problem = problem.with_intercept(true).with_weights(weights.clone()).unwrap();
                let frame = Frame::new(&problem);
                frame.unit(&problem, 0).unwrap().unwrap()
            });
            for (a, b) in units[0].values.iter().zip(&units[1].values) {
                assert!((a - b).abs() < 1e-14, "{far:e} {scale:e}: {a} {b}");
            }
            assert!((units[0].scale * scale / units[1].scale - 1.0).abs() < 1e-13, "{far:e} {scale:e}");
        }
        let flat = Dense::new(3, 1, vec![0.1 + 0.2, 0.3, 0.3]).unwrap();
        let problem = Problem::new(&flat, vec![0.0; 3], Penalty::new(0.0, 0.0, 0.0)).unwrap().with_intercept(true);
        assert!(Frame::new(&problem).unit(&problem, 0).unwrap().is_none() && !is_constant(&problem, 0).unwrap());
    }
}
