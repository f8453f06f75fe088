//! The normal equations A β = c, columns scaled to unit length, and how far their rounding reaches.

use super::family::Family;
use super::form::Form;
use crate::error::{Error, Result};
use crate::kernel;
use crate::problem::Problem;
use crate::solution::Coefficients;
use crate::solver::quadratic::Gram;
use crate::solver::workspace::Workspace;
use faer::linalg::solvers::{DenseSolveCore, Llt, SolveLstsqCore};
use faer::{Conj, Mat, Side};

/// A column of which less than this share of the square is left when the others are projected out is not told from a combination
/// of them: fits with it would be made of rounding.
const DEPENDENT: f64 = 1e-11;

/// Rounding of a fit, in units of ε ‖A⁻¹‖ ½ỹᵀWỹ: an error δ in the entries of A moves fit(T) by ½ δ ‖β‖², and
/// ‖β‖² ≤ ‖A⁻¹‖ ỹᵀWỹ. Sums over n samples are off by about √n ε.
fn rounding(n: usize) -> f64 {
    16.0 + (n as f64).sqrt()
}

/// A, c and ½ỹᵀWỹ of the columns that vary.
pub struct Equations<'p, 'a> {
    problem: &'p Problem<'a>,
    /// The features that are not constant, by position: the others lower no fit.
    pub features: Vec<usize>,
    /// X̃ᵀWX̃.
    pub gram: Gram,
    /// c = X̃ᵀWỹ.
    pub moments: Vec<f64>,
    /// λ2.
    pub ridge: f64,
    /// ỹ, before weights.
    target: Vec<f64>,
    /// One over the root of the diagonal of A.
    scales: Vec<f64>,
    /// fit(∅) = ½ỹᵀWỹ.
    pub total: f64,
    /// What rounding may add to or take from a fit.
    pub slack: f64,
}

impl<'p, 'a> Equations<'p, 'a> {
    /// One pass over X; an error when the columns are linearly dependent.
    pub fn new(problem: &'p Problem<'a>) -> Result<Self> {
        let ridge = problem.coordinate(0).l2;
        let mut work = Workspace::new(problem);
        (0..problem.ncols()).filter(|&j| varies(problem, j)).for_each(|j| {
            work.include(j);
        });
        let mut target = problem.margins(&Coefficients::default());
        let centre = problem.best_intercept(&target, 0.0);
        target.iter_mut().zip(problem.y()).for_each(|(t, y)| *t = y - *t - centre);
        // Not the dual point at β = 0: that one is moved until it sums to zero exactly, and the fits with it.
        let weight = |i: usize| problem.weights().map_or(1.0, |w| w[i]);
        let weighted: Vec<f64> = target.iter().enumerate().map(|(i, t)| weight(i) * t).collect();
        let total = 0.5 * kernel::dot(&target, &weighted);
        let gram = work.gram().into_owned();
        let features = work.active.features().to_vec();
        let moments: Vec<f64> = features.iter().map(|&j| kernel::dot(&column(problem, j), &weighted)).collect();
        let scales: Vec<f64> = (0..features.len()).map(|k| 1.0 / (gram.at(k, k) + 2.0 * ridge).sqrt()).collect();
        // Inner products of sparse columns are centred afterwards, and lose what the stored entries have in excess.
        let stored = |k: usize| if work.active.is_sparse() { kernel::squares(work.active.entries(k).1) } else { 0.0 };
        let excess = (0..features.len()).map(|k| stored(k) * scales[k] * scales[k]).fold(1.0, f64::max);
        let mut equations = Self { problem, features, gram, moments, ridge, target, scales, total, slack: 0.0 };
        let inverse = equations.inverse_norm()?;
        equations.slack = rounding(problem.nrows()) * f64::EPSILON * excess * inverse * total;
        Ok(equations)
    }

    /// Number of columns that vary.
    pub fn len(&self) -> usize {
        self.features.len()
    }

    /// A and c over the listed positions.
    fn form(&self, members: &[u32]) -> Form {
        let scale = |k: u32| self.scales[k as usize];
        let vector = members.iter().map(|&k| self.moments[k as usize] * scale(k)).collect();
        Form::new(vector, |i, j| {
            let (a, b) = (members[i], members[j]);
            let diagonal = if i == j { 2.0 * self.ridge } else { 0.0 };
            (self.gram.at(a as usize, b as usize) + diagonal) * scale(a) * scale(b)
        })
    }

    /// ‖A⁻¹‖∞ ≥ ‖A⁻¹‖₂, or the column that makes A singular.
    fn inverse_norm(&self) -> Result<f64> {
        let all: Vec<u32> = (0..self.len() as u32).collect();
        let mut form = self.form(&all);
        while let Some(last) = form.len().checked_sub(1) {
            let share = form.at(last, last);
            if share.is_nan() || share <= DEPENDENT {
                return Err(Error::Dependent { column: self.features[last], share });
            }
            form.eliminate_last();
        }
        let family = self.family(&[], &all);
        let m = family.costs.len();
        let row = |i: usize| (0..m).map(|j| family.costs.at(i, j).abs()).sum::<f64>();
        Ok((0..m).map(row).fold(1.0, f64::max))
    }

    /// fit(T).
    pub fn fit(&self, members: &[u32]) -> f64 {
        self.eliminate(self.form(members), members.len()).1
    }

    /// Eliminates the last `count` positions; with the fit on them.
    fn eliminate(&self, mut form: Form, count: usize) -> (Form, f64) {
        let mut fit = self.total;
        for _ in 0..count {
            fit -= form.price(form.len() - 1);
            form.eliminate_last();
        }
        (form, fit)
    }

    /// The family of S and F from scratch: nothing of the rounding of earlier pivots is left in it.
    pub fn family(&self, inside: &[u32], free: &[u32]) -> Family {
        let members: Vec<u32> = free.iter().chain(inside).copied().collect();
        let (gains, fit_inside) = self.eliminate(self.form(&members), inside.len());
        let m = free.len();
        let inverse = match Llt::new(Mat::from_fn(m, m, |i, j| gains.at(i, j)).as_ref(), Side::Lower) {
            Ok(factor) => factor.inverse(),
            // Not reached: A is positive definite by the check on every pivot.
            Err(_) => Mat::from_fn(m, m, |i, j| if i == j { f64::INFINITY } else { 0.0 }),
        };
        let solution = |i: usize| (0..m).map(|j| inverse[(i, j)] * gains.vector()[j]).sum();
        let costs = Form::new((0..m).map(solution).collect(), |i, j| inverse[(i, j)]);
        let fit_all = fit_inside - 0.5 * kernel::dot(gains.vector(), costs.vector());
        let (inside, free) = (inside.to_vec(), free.to_vec());
        Family { inside, free, gains, costs, fit_inside, fit_all, low: 0, high: 0 }
    }

    /// The fit on a subset from the data alone, by QR of the columns: nothing of the normal equations enters. An error when it
    /// is not the `claimed` one.
    pub fn refit(&self, members: &[u32], claimed: f64) -> Result<Coefficients> {
        let problem = self.problem;
        let (n, k) = (problem.nrows(), members.len());
        let root = |i: usize| problem.weights().map_or(1.0, |w| w[i]).sqrt();
        let ridge = (2.0 * self.ridge).sqrt();
        let features: Vec<usize> = members.iter().map(|&m| self.features[m as usize]).collect();
        let columns: Vec<Vec<f64>> = features.iter().map(|&j| column(problem, j)).collect();
        let scale = |a: usize| self.scales[members[a] as usize];
        let entry = |i: usize, a: usize| match i.checked_sub(n) {
            None => columns[a][i] * root(i),
            Some(row) if row == a => ridge,
            Some(_) => 0.0,
        };
        let matrix = Mat::from_fn(n + k, k, |i, a| entry(i, a) * scale(a));
        let mut target = Mat::from_fn(n + k, 1, |i, _| if i < n { self.target[i] * root(i) } else { 0.0 });
        matrix.qr().solve_lstsq_in_place_with_conj(Conj::No, target.as_mut());
        let pairs = features.iter().enumerate().map(|(a, &j)| (j, target[(a, 0)] * scale(a))).collect();
        let mut coefficients = Coefficients::from_pairs(pairs, 0.0);
        let u = problem.margins(&coefficients);
        coefficients.intercept = problem.best_intercept(&u, 0.0);
        let squares: f64 = coefficients.values.iter().map(|b| b * b).sum();
        let found = problem.loss_sum(&u, coefficients.intercept) + self.ridge * squares;
        // The evaluation rounds too: a residual is as exact as the terms it is the rest of.
        let terms: f64 = coefficients.iter().map(|(j, b)| b.abs() * problem.squares(j).sqrt()).sum();
        let length = (0..n).map(|i| (root(i) * (problem.y()[i].abs() + u[i].abs())).powi(2)).sum::<f64>().sqrt();
        let evaluation = rounding(n) * f64::EPSILON * (terms + length) * (2.0 * found).sqrt();
        let slack = self.slack + evaluation;
        match (found - claimed).abs() <= slack {
            true => Ok(coefficients),
            false => Err(Error::Recheck { what: "the fit on a subset", claimed, found, slack }),
        }
    }
}

/// Whether feature j can lower a fit: not when rounding is all that is left of it once it is centred.
fn varies(problem: &Problem<'_>, j: usize) -> bool {
    let squares = problem.squares(j);
    let left = if problem.has_intercept() { problem.moments()[j].centred } else { squares };
    left > (16.0 * f64::EPSILON).powi(2) * squares
}

/// Column j, centred when there is an intercept.
fn column(problem: &Problem<'_>, j: usize) -> Vec<f64> {
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
            assert!((problem.objective(&coefficients) - fit).abs() < 1e-13 * fit);
            let error = equations.refit(members, fit * (1.0 + 1e-9)).unwrap_err();
            assert!(matches!(error, Error::Recheck { claimed, found, .. } if claimed > found), "{error}");
        }
    }

    /// Both forms of a family, from scratch and by pivots, price every change as the fits do.
    #[test]
    fn families_price_changes_as_fits() {
        let entry = |i: usize, j: usize| ((i * 7 + j * 13) as f64 * 0.61).sin() + if i == j { 1.0 } else { 0.0 };
        let x = Dense::new(9, 5, (0..45).map(|k| entry(k % 9, k / 9)).collect::<Vec<f64>>()).unwrap();
        let y: Vec<f64> = (0..9).map(|i| (i as f64 * 1.3).cos()).collect();
        let problem = Problem::new(&x, y, Penalty::new(0.0, 0.0, 0.0)).unwrap();
        let equations = Equations::new(&problem).unwrap();
        let mut pivoted = equations.family(&[], &[0, 1, 2, 3, 4]);
        pivoted.take_in(1);
        pivoted.take_out(2);
        let (inside, free) = (pivoted.inside.clone(), pivoted.free.clone());
        assert_eq!((&inside[..], free.len()), (&[1][..], 3));
        for family in [equations.family(&inside, &free), pivoted] {
            let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{a} {b}");
            let all = [&inside[..], &free].concat();
            close(family.fit_inside, equations.fit(&inside));
            close(family.fit_all, equations.fit(&all));
            for (j, &feature) in free.iter().enumerate() {
                close(family.fit_inside - family.gains.price(j), equations.fit(&[1, feature]));
                let rest: Vec<u32> = all.iter().copied().filter(|&k| k != feature).collect();
                close(family.fit_all + family.costs.price(j), equations.fit(&rest));
            }
            let (gain, i, j) = family.gains.best_pair(0.0).unwrap();
            close(family.fit_inside - gain, equations.fit(&[1, free[i], free[j]]));
        }
    }
}
