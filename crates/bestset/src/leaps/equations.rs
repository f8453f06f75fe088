//! The normal equations A β = Υ (MATH 11.28), columns scaled to unit length, and how far their rounding reaches (MATH 11.34).

use crate::error::{Error, Result};
use crate::kernel;
use crate::leaps::cell::Cell;
use crate::leaps::cover;
use crate::leaps::family::Family;
use crate::leaps::form::Form;
use crate::problem::Problem;
use crate::problem::refit::rounding;
use crate::problem::whitened::{Frame, Unit, is_constant};
use crate::relaxation::quadratic::Gram;
use faer::linalg::matmul::matmul;
use faer::linalg::solvers::{DenseSolveCore, Llt};
use faer::{Accum, Mat, Par, Side};

/// Columns of which inner products are made together.
const BLOCK: usize = 64;

/// A, Υ and ½‖ŷ‖² of the columns that vary, each of length one.
pub struct Equations<'p, 'a> {
    /// The problem.
    pub problem: &'p Problem<'a>,
    /// The rows and their weights.
    pub frame: Frame<'p>,
    /// The features that are not constant, by position: the others lower no fit.
    pub features: Vec<usize>,
    /// X̂ᵀX̂.
    pub gram: Gram,
    /// Υ = X̂ᵀŷ.
    pub moments: Vec<f64>,
    /// λ2.
    pub ridge: f64,
    /// ŷ.
    pub target: Vec<f64>,
    /// What a coefficient of X̂ is to be multiplied by.
    pub scales: Vec<f64>,
    /// As in [`Unit`].
    pub reach: Vec<f64>,
    pub effort: Vec<f64>,
    /// fit(∅) = ½‖ŷ‖².
    pub total: f64,
    /// Families of linearly independent columns that hold a best subset of every size; one, unless columns depend on others.
    pub cells: Vec<Cell>,
    /// The features of every dependence that was taken for exact though it may be one but for rounding.
    pub dependent: Vec<Vec<usize>>,
    /// ‖A⁻¹‖ of the families at the most.
    pub inverse: f64,
    /// What rounding may add to or take from a fit.
    pub slack: f64,
}

impl<'p, 'a> Equations<'p, 'a> {
    /// A few passes over X; the families of independent columns and the rounding are still to be found.
    pub fn of_columns(problem: &'p Problem<'a>) -> Result<Self> {
        let (ridge, frame) = (problem.coordinate(0).l2, Frame::new(problem));
        // Each on its own: their difference would be rounded as the farther of the two.
        let (mut target, offset) = (frame.whiten(problem.y().to_vec()), frame.whiten(problem.null_margins()));
        target.iter_mut().zip(&offset).for_each(|(y, o)| *y -= o);
        let total = 0.5 * kernel::squares(&target);
        let mut equations = Self {
            problem,
            frame,
            features: Vec::new(),
            gram: Gram::default(),
            moments: Vec::new(),
            ridge,
            target,
            scales: Vec::new(),
            reach: Vec::new(),
            effort: Vec::new(),
            total,
            cells: Vec::new(),
            dependent: Vec::new(),
            inverse: 1.0,
            slack: 0.0,
        };
        for j in 0..problem.ncols() {
            match equations.frame.unit(problem, j)? {
                Some(unit) => equations.take(j, &unit),
                None if !is_constant(problem, j)? => equations.dependent.push(vec![j]),
                None => {}
            }
        }
        equations.gram = equations.products()?;
        Ok(equations)
    }

    /// slack = (16 + √n) ε ‖A⁻¹‖ ½‖ŷ‖² (MATH 11.34), ‖A⁻¹‖ that of the families: what rounding may do to a fit.
    pub fn measure(&mut self) -> Result<()> {
        self.inverse = self.inverse_norm()?;
        self.slack = self.slack_of(self.inverse);
        Ok(())
    }

    /// (16 + √n) ε ‖A⁻¹‖ ½‖ŷ‖² (MATH 11.34) of columns with this ‖A⁻¹‖.
    pub fn slack_of(&self, inverse: f64) -> f64 {
        // A sparse column is the sum of parts that may be larger, and rounded as they are.
        let is_sparse = self.problem.design().is_sparse();
        let excess = if is_sparse { self.effort.iter().copied().fold(1.0, f64::max) } else { 1.0 };
        rounding(self.problem.nrows()) * f64::EPSILON * excess * inverse * self.total
    }

    fn take(&mut self, j: usize, unit: &Unit) {
        // A_jj = 1 with the ridge, which has no rounding of its own.
        let scale = unit.scale / (1.0 + 2.0 * self.ridge * unit.scale * unit.scale).sqrt();
        self.features.push(j);
        self.moments.push(kernel::dot(&unit.values, &self.target) * (scale / unit.scale));
        self.scales.push(scale);
        self.reach.push(unit.reach);
        self.effort.push(unit.effort);
    }

    /// √w ∘ (x − x̄) times the scale, of the column at a position.
    pub fn column(&self, k: u32) -> Result<Vec<f64>> {
        let (j, scale) = (self.features[k as usize], self.scales[k as usize]);
        let Some(mut unit) = self.frame.unit(self.problem, j)? else { return Ok(vec![0.0; self.problem.nrows()]) };
        if self.ridge > 0.0 {
            unit.values.iter_mut().for_each(|x| *x *= scale / unit.scale);
        }
        Ok(unit.values)
    }

    /// X̂ᵀX̂, by blocks of columns: not all of X̂ is held at once.
    fn products(&self) -> Result<Gram> {
        let (n, count) = (self.problem.nrows(), self.features.len());
        let block = |from: usize| {
            let columns: Vec<Vec<f64>> =
                (from..(from + BLOCK).min(count)).map(|k| self.column(k as u32)).collect::<Result<_>>()?;
            Ok(Mat::from_fn(n, columns.len(), |i, a| columns[a][i]))
        };
        let mut all = Mat::zeros(count, count);
        for from in (0..count).step_by(BLOCK) {
            let own: Mat<f64> = block(from)?;
            for above in (0..=from).step_by(BLOCK) {
                let other = if above == from { own.clone() } else { block(above)? };
                let target = all.as_mut().submatrix_mut(above, from, other.ncols(), own.ncols());
                matmul(target, Accum::Replace, other.transpose(), own.as_ref(), 1.0, Par::Seq);
            }
        }
        Ok(Gram::new(count, |k, l| all[(k.min(l), k.max(l))]))
    }

    /// Number of columns that vary.
    pub fn len(&self) -> usize {
        self.features.len()
    }

    /// A and Υ over the listed positions.
    pub fn form(&self, members: &[u32]) -> Form {
        let vector = members.iter().map(|&k| self.moments[k as usize]).collect();
        Form::new(vector, |i, j| {
            let (a, b) = (members[i], members[j]);
            let diagonal = if i == j { self.ridge_of(a) } else { 0.0 };
            self.gram.at(a as usize, b as usize) + 2.0 * diagonal
        })
    }

    /// λ2 of the coefficient at a position, in its own units.
    pub fn ridge_of(&self, k: u32) -> f64 {
        self.ridge * self.scales[k as usize] * self.scales[k as usize]
    }

    /// The largest size of a subset that is searched: of independent columns, and with a degree of freedom left where there are more
    /// columns than samples determine.
    pub fn rank(&self) -> usize {
        self.cells.iter().map(Cell::len).max().unwrap_or(0)
    }

    /// Whether there are more columns than samples determine: any [`cover::determined`] independent ones fit perfectly.
    pub fn is_wide(&self) -> bool {
        self.len() > cover::determined(self.problem)
    }

    /// Whether every subset was looked at: no column is constant or was taken for a combination of others.
    pub fn is_complete(&self) -> bool {
        self.len() == self.problem.ncols() && self.dependent.is_empty()
    }

    /// ‖A⁻¹‖∞ ≥ ‖A⁻¹‖₂ (MATH 11.34), the largest of all cells.
    fn inverse_norm(&self) -> Result<f64> {
        let mut norm = 1.0f64;
        for cell in &self.cells {
            let family = self.family(&[], &cell.members())?;
            let row = |i: usize| (0..family.costs.len()).map(|j| family.costs.at(i, j).abs()).sum::<f64>();
            norm = (0..family.costs.len()).map(row).fold(norm, f64::max);
        }
        Ok(norm)
    }

    /// fit(S) = ½‖ŷ‖² − ½ Υ_Sᵀ A_SS⁻¹ Υ_S (MATH 11.28).
    pub fn fit(&self, members: &[u32]) -> f64 {
        self.eliminate(self.form(members), members.len()).1
    }

    /// Eliminates the last `count` positions; with the fit on them.
    pub fn eliminate(&self, mut form: Form, count: usize) -> (Form, f64) {
        let mut fit = self.total;
        for _ in 0..count {
            fit -= form.price(form.len() - 1);
            form.eliminate_last();
        }
        (form, fit)
    }

    /// The family of I and U with its gains and costs (MATH 11.29) from scratch: nothing of the rounding of earlier pivots is
    /// left in it.
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
        let equations = Equations::new(&problem, 5).unwrap();
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
