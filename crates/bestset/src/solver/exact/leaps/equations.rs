//! The normal equations A β = c, columns scaled to unit length, and how far their rounding reaches.

use super::family::Family;
use super::form::Form;
use super::refit::column;
use super::split::Split;
use crate::error::{Error, Result};
use crate::kernel;
use crate::problem::Problem;
use crate::solution::Coefficients;
use crate::solver::quadratic::Gram;
use crate::solver::workspace::Workspace;
use faer::linalg::solvers::{DenseSolveCore, Llt};
use faer::{Mat, Side};

/// Rounding of a fit, in units of ε ‖A⁻¹‖ ½ỹᵀWỹ: an error δ in the entries of A moves fit(T) by ½ δ ‖β‖², and
/// ‖β‖² ≤ ‖A⁻¹‖ ỹᵀWỹ. Sums over n samples are off by about √n ε.
pub fn rounding(n: usize) -> f64 {
    16.0 + (n as f64).sqrt()
}

/// A, c and ½ỹᵀWỹ of the columns that vary.
pub struct Equations<'p, 'a> {
    /// The problem.
    pub problem: &'p Problem<'a>,
    /// The features that are not constant, by position: the others lower no fit.
    pub features: Vec<usize>,
    /// X̃ᵀWX̃.
    pub gram: Gram,
    /// c = X̃ᵀWỹ.
    pub moments: Vec<f64>,
    /// λ2.
    pub ridge: f64,
    /// ỹ, before weights.
    pub target: Vec<f64>,
    /// One over the root of the diagonal of A.
    pub scales: Vec<f64>,
    /// fit(∅) = ½ỹᵀWỹ.
    pub total: f64,
    /// Families of linearly independent columns that hold a best subset of every size; one, unless columns depend on others.
    pub splits: Vec<Split>,
    /// The features of every dependence that was taken for exact though it may be one but for rounding.
    pub dependent: Vec<Vec<usize>>,
    /// What rounding may add to or take from a fit.
    pub slack: f64,
}

impl<'p, 'a> Equations<'p, 'a> {
    /// One pass over X; an error when columns are nearly, but not exactly, combinations of others.
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
        let still = (0..problem.ncols()).filter(|&j| !varies(problem, j) && !is_constant(problem, j));
        let (splits, dependent, slack) = (Vec::new(), still.map(|j| vec![j]).collect(), 0.0);
        let mut equations =
            Self { problem, features, gram, moments, ridge, target, scales, total, splits, dependent, slack };
        equations.separate()?;
        let inverse = equations.inverse_norm()?;
        equations.slack = rounding(problem.nrows()) * f64::EPSILON * excess * inverse * total;
        Ok(equations)
    }

    /// Number of columns that vary.
    pub fn len(&self) -> usize {
        self.features.len()
    }

    /// A and c over the listed positions.
    pub fn form(&self, members: &[u32]) -> Form {
        let scale = |k: u32| self.scales[k as usize];
        let vector = members.iter().map(|&k| self.moments[k as usize] * scale(k)).collect();
        Form::new(vector, |i, j| {
            let (a, b) = (members[i], members[j]);
            let diagonal = if i == j { 2.0 * self.ridge } else { 0.0 };
            (self.gram.at(a as usize, b as usize) + diagonal) * scale(a) * scale(b)
        })
    }

    /// The largest size of a subset of independent columns.
    pub fn rank(&self) -> usize {
        self.splits.first().map_or(0, Split::len)
    }

    /// ‖A⁻¹‖∞ ≥ ‖A⁻¹‖₂, the largest of all splits.
    fn inverse_norm(&self) -> Result<f64> {
        let mut norm = 1.0f64;
        for split in &self.splits {
            let family = self.family(&[], &split.members())?;
            let row = |i: usize| (0..family.costs.len()).map(|j| family.costs.at(i, j).abs()).sum::<f64>();
            norm = (0..family.costs.len()).map(row).fold(norm, f64::max);
        }
        Ok(norm)
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
    pub fn family(&self, inside: &[u32], free: &[u32]) -> Result<Family> {
        let members: Vec<u32> = free.iter().chain(inside).copied().collect();
        let (gains, fit_inside) = self.eliminate(self.form(&members), inside.len());
        let m = free.len();
        let column = members.first().map_or(0, |&k| self.features[k as usize]);
        let singular = |_| Error::Dependent { column, others: Vec::new(), share: 0.0 };
        let factor = Llt::new(Mat::from_fn(m, m, |i, j| gains.at(i, j)).as_ref(), Side::Lower).map_err(singular)?;
        let inverse = factor.inverse();
        let solution = |i: usize| (0..m).map(|j| inverse[(i, j)] * gains.vector()[j]).sum();
        let costs = Form::new((0..m).map(solution).collect(), |i, j| inverse[(i, j)]);
        let fit_all = fit_inside - 0.5 * kernel::dot(gains.vector(), costs.vector());
        let (inside, free) = (inside.to_vec(), free.to_vec());
        Ok(Family { inside, free, gains, costs, fit_inside, fit_all, low: 0, high: 0 })
    }
}

/// Whether feature j can lower a fit: not when rounding is all that is left of it once it is centred.
fn varies(problem: &Problem<'_>, j: usize) -> bool {
    let squares = problem.squares(j);
    let left = if problem.has_intercept() { problem.moments()[j].centred } else { squares };
    left > (16.0 * f64::EPSILON).powi(2) * squares
}

/// Whether the entries of feature j are one number.
fn is_constant(problem: &Problem<'_>, j: usize) -> bool {
    let mut x = vec![0.0; problem.nrows()];
    problem.design().axpy(j, 1.0, &mut x);
    x.windows(2).all(|pair| pair[0] == pair[1])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::design::Dense;
    use crate::penalty::Penalty;

    /// Both forms of a family, from scratch and by pivots, price every change as the fits do.
    #[test]
    fn families_price_changes_as_fits() {
        let entry = |i: usize, j: usize| ((i * 7 + j * 13) as f64 * 0.61).sin() + if i == j { 1.0 } else { 0.0 };
        let x = Dense::new(9, 5, (0..45).map(|k| entry(k % 9, k / 9)).collect::<Vec<f64>>()).unwrap();
        let y: Vec<f64> = (0..9).map(|i| (i as f64 * 1.3).cos()).collect();
        let problem = Problem::new(&x, y, Penalty::new(0.0, 0.0, 0.0)).unwrap();
        let equations = Equations::new(&problem).unwrap();
        let mut pivoted = equations.family(&[], &[0, 1, 2, 3, 4]).unwrap();
        pivoted.take_in(1);
        pivoted.take_out(2);
        let (inside, free) = (pivoted.inside.clone(), pivoted.free.clone());
        assert_eq!((&inside[..], free.len()), (&[1][..], 3));
        for family in [equations.family(&inside, &free).unwrap(), pivoted] {
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
