//! fit(S) of the columns of some groups by the normal equations (MATH 11.28), what rounding may do to it (MATH 11.34), and what it
//! costs to drop a group (MATH 11.38).
//!
//! A column that others determine exactly adds nothing to a fit with them and is left out of it; one that they nearly determine is
//! an error, as in leaps and bounds.

use crate::error::{Error, Result};
use crate::groups::Grouped;
use crate::groups::search::GroupFit;
use crate::kernel;
use crate::leaps::{Cell, Equations, Form, determined};
use crate::problem::refit::rounding;
use faer::linalg::solvers::{DenseSolveCore, Llt};
use faer::{Mat, Side};

/// Of a column of length one less than one part in so many of the square is left beside the others: not told from a combination of
/// them by inner products.
const DEPENDENT: f64 = 1e11;

/// The columns of every group, and their normal equations.
pub(super) struct Families<'f, 'p, 'a> {
    pub(super) grouped: &'f Grouped<'p, 'a>,
    equations: Equations<'p, 'a>,
    /// The positions of each group's columns that vary and may have a coefficient.
    columns: Vec<Vec<u32>>,
    /// Combinations that were found exact, as positions.
    circuits: Vec<Vec<u32>>,
    /// n′, the number of independent columns that fit any targets.
    determined: usize,
}

/// The fit on the columns of some groups.
struct Fitted {
    /// The columns that are not combinations of others.
    basis: Vec<u32>,
    /// A⁻¹ of these.
    inverse: Mat<f64>,
    /// A⁻¹Υ.
    beta: Vec<f64>,
    /// fit(S).
    fit: f64,
    /// What rounding may have added to it.
    slack: f64,
}

/// The fit on all groups of a node that are not out, and what dropping each costs.
pub(super) struct GroupFamily {
    /// What no choice in the node is below, prices aside.
    pub(super) least: f64,
    /// What it rises by when a group is dropped, in the order asked for.
    pub(super) costs: Vec<f64>,
    /// What rounding may do to the fit of any of its choices; none where columns are combinations of others.
    pub(super) slack: Option<f64>,
}

impl<'f, 'p, 'a> Families<'f, 'p, 'a> {
    /// A few passes over X.
    pub(super) fn new(grouped: &'f Grouped<'p, 'a>) -> Result<Self> {
        let problem = grouped.problem;
        let equations = Equations::of_columns(problem)?;
        let may_enter = |j: usize| problem.coordinate(j).lower < 0.0;
        let place = |j: &usize| equations.features.binary_search(j).ok().filter(|_| may_enter(*j)).map(|k| k as u32);
        let columns = grouped.groups.members.iter().map(|m| m.iter().filter_map(place).collect()).collect();
        Ok(Self { grouped, columns, equations, circuits: Vec::new(), determined: determined(problem) })
    }

    /// The features of the combinations that were taken for exact, and those that do not vary but for rounding.
    pub(super) fn dependent(&self) -> Vec<Vec<usize>> {
        let named = |circuit: &Vec<u32>| {
            let mut features: Vec<usize> = circuit.iter().map(|&k| self.equations.features[k as usize]).collect();
            features.sort_unstable();
            features
        };
        self.equations.dependent.iter().cloned().chain(self.circuits.iter().map(named)).collect()
    }

    fn columns_of(&self, groups: &[usize]) -> Vec<u32> {
        groups.iter().flat_map(|&g| self.columns[g].iter().copied()).collect()
    }

    /// Whether so many columns may fit any targets.
    fn is_saturated(&self, columns: &[u32]) -> bool {
        self.equations.ridge == 0.0 && columns.len() >= self.determined
    }

    /// fit(I ∪ U) and the costs of the groups in U (MATH 11.38).
    pub(super) fn family(&mut self, inside: &[usize], open: &[usize]) -> Result<GroupFamily> {
        let all = [inside, open].concat();
        let columns = self.columns_of(&all);
        if self.is_saturated(&columns) {
            // No fit but 0 is known of them; without some groups there may be one.
            let costs = open.iter().map(|&g| self.without(&all, g)).collect::<Result<_>>()?;
            return Ok(GroupFamily { least: 0.0, costs, slack: None });
        }
        let fitted = self.fitted(columns.clone())?;
        // Twice: once for the fit, once for the costs.
        let least = (fitted.fit - 2.0 * fitted.slack).max(0.0);
        if fitted.basis.len() < columns.len() {
            let rise = |own: f64| (own - least).max(0.0);
            let costs = open.iter().map(|&g| Ok(rise(self.without(&all, g)?))).collect::<Result<_>>()?;
            return Ok(GroupFamily { least, costs, slack: None });
        }
        let mut first = self.columns_of(inside).len();
        let mut costs = Vec::with_capacity(open.len());
        for &g in open {
            let count = self.columns[g].len();
            costs.push(fitted.cost(first, count).unwrap_or(0.0));
            first += count;
        }
        Ok(GroupFamily { least, costs, slack: Some(fitted.slack) })
    }

    /// What no fit on I and at most two of the open groups is below, by what is added (MATH 11.41): Schur's complement of I prices
    /// them all.
    pub(super) fn completions(
        &self,
        inside: &[usize],
        open: &[usize],
        slack: f64,
        mut visit: impl FnMut(f64, &[usize]),
    ) {
        let count = self.columns_of(inside).len();
        let form = self.equations.form(&[self.columns_of(open), self.columns_of(inside)].concat());
        let (gains, fit) = self.equations.eliminate(form, count);
        let mut places: Vec<std::ops::Range<usize>> = Vec::with_capacity(open.len());
        for &g in open {
            let first = places.last().map_or(0, |p| p.end);
            places.push(first..first + self.columns[g].len());
        }
        let least = |columns: &[usize]| gain(&gains, columns).map_or(0.0, |gain| (fit - gain - 2.0 * slack).max(0.0));
        visit(least(&[]), &[]);
        for (i, &g) in open.iter().enumerate() {
            let mut columns: Vec<usize> = places[i].clone().collect();
            visit(least(&columns), &[g]);
            for (l, &h) in open.iter().enumerate().skip(i + 1) {
                columns.truncate(places[i].len());
                columns.extend(places[l].clone());
                visit(least(&columns), &[g, h]);
            }
        }
    }

    /// What no fit on these groups but one is below.
    fn without(&mut self, groups: &[usize], g: usize) -> Result<f64> {
        let rest: Vec<usize> = groups.iter().copied().filter(|&other| other != g).collect();
        let columns = self.columns_of(&rest);
        if self.is_saturated(&columns) {
            return Ok(0.0);
        }
        let fitted = self.fitted(columns)?;
        Ok((fitted.fit - 2.0 * fitted.slack).max(0.0))
    }

    /// fit(S) by the normal equations, prices aside; 0 where any targets are fitted.
    pub(super) fn value(&mut self, groups: &[usize]) -> Result<f64> {
        let columns = self.columns_of(groups);
        if self.is_saturated(&columns) { Ok(0.0) } else { Ok(self.fitted(columns)?.fit) }
    }

    /// The fit by QR, P of it from the data, and what no fit on these groups is below (MATH 11.35).
    pub(super) fn evaluated(&mut self, groups: &[usize]) -> Result<GroupFit> {
        let columns = self.columns_of(groups);
        let is_saturated = self.is_saturated(&columns);
        let (basis, norm) = match is_saturated {
            true => (self.spanning(columns), 0.0),
            false => self.fitted(columns).map(|fitted| (fitted.basis.clone(), fitted.inverse_norm()))?,
        };
        let (targets, grouped) = (self.equations.targets(), self.grouped);
        let refit = targets.refit(&self.equations.terms(&basis)?)?;
        let least = if is_saturated { 0.0 } else { targets.at_least(&refit, basis.len(), norm).max(0.0) };
        let coefficients = refit.coefficients;
        let prices: f64 = groups.iter().map(|&g| grouped.price(g)).sum();
        let bound = least + prices * (1.0 - f64::EPSILON * (groups.len() as f64 + 4.0));
        Ok(GroupFit { objective: grouped.objective(&coefficients)?, bound, coefficients })
    }

    /// Columns of which the others are combinations, but for rounding; no more than fit any targets.
    fn spanning(&self, mut columns: Vec<u32>) -> Vec<u32> {
        while let Some((j, _)) = self.equations.dependent(&Cell { inside: Vec::new(), free: columns.clone() }) {
            columns.retain(|&k| k != j);
        }
        columns
    }

    /// The fit on some columns.
    fn fitted(&mut self, mut columns: Vec<u32>) -> Result<Fitted> {
        loop {
            let solved = self.solve(&columns);
            if let Some(fitted) = solved.filter(Fitted::is_independent) {
                return Ok(fitted);
            }
            let Some((j, others)) = self.equations.dependent(&Cell { inside: Vec::new(), free: columns.clone() })
            else {
                // The pivots say that they are independent: then they have a factor.
                let column = columns.first().map_or(0, |&k| self.equations.features[k as usize]);
                let singular = Error::Dependent { column, others: Vec::new(), share: 0.0 };
                return self.solve(&columns).ok_or(singular);
            };
            self.verify(j, &others)?;
            columns.retain(|&k| k != j);
        }
    }

    fn solve(&self, columns: &[u32]) -> Option<Fitted> {
        let (equations, m) = (&self.equations, columns.len());
        let form = equations.form(columns);
        if m == 0 {
            let (fit, slack) = (equations.total, f64::EPSILON * rounding(equations.target.len()) * equations.total);
            return Some(Fitted { basis: Vec::new(), inverse: Mat::zeros(0, 0), beta: Vec::new(), fit, slack });
        }
        let factor = Llt::new(Mat::from_fn(m, m, |i, j| form.at(i, j)).as_ref(), Side::Lower).ok()?;
        let inverse = factor.inverse();
        let entry = |i: usize| (0..m).map(|j| inverse[(i, j)] * form.vector()[j]).sum();
        let beta: Vec<f64> = (0..m).map(entry).collect();
        let fit = equations.total - 0.5 * kernel::dot(form.vector(), &beta);
        let mut fitted = Fitted { basis: columns.to_vec(), inverse, beta, fit, slack: 0.0 };
        fitted.slack = equations.slack_of(fitted.inverse_norm());
        fitted.slack.is_finite().then_some(fitted)
    }

    /// Whether column j is a combination of the others exactly; an error if not.
    fn verify(&mut self, j: u32, others: &[u32]) -> Result<()> {
        let is_within =
            |circuit: &Vec<u32>| circuit.contains(&j) && circuit.iter().all(|k| *k == j || others.contains(k));
        if !self.circuits.iter().any(is_within) {
            let circuit = self.equations.circuit(j, others)?;
            self.circuits.push(circuit);
        }
        Ok(())
    }
}

/// ½ q_Jᵀ A_{JJ|I}⁻¹ q_J (MATH 11.41), J the listed positions; none where there is no factor.
fn gain(form: &Form, columns: &[usize]) -> Option<f64> {
    let right = columns.iter().map(|&k| form.vector()[k]).collect();
    half_square(columns.len(), |i, j| form.at(columns[i], columns[j]), right)
}

/// ½ rᵀM⁻¹r by Cholesky, none where M has no factor.
fn half_square(count: usize, entry: impl Fn(usize, usize) -> f64, mut right: Vec<f64>) -> Option<f64> {
    let mut lower = vec![0.0; count * count];
    for i in 0..count {
        for j in 0..=i {
            let done: f64 = (0..j).map(|k| lower[i * count + k] * lower[j * count + k]).sum();
            let rest = entry(i, j) - done;
            if i > j {
                lower[i * count + j] = rest / lower[j * count + j];
            } else if rest > 0.0 {
                lower[i * count + i] = rest.sqrt();
            } else {
                return None;
            }
        }
        let done: f64 = (0..i).map(|k| lower[i * count + k] * right[k]).sum();
        right[i] = (right[i] - done) / lower[i * count + i];
    }
    Some(0.5 * kernel::squares(&right))
}

impl Fitted {
    /// Whether every column has a part that the others do not determine.
    fn is_independent(&self) -> bool {
        (0..self.basis.len()).all(|k| self.inverse[(k, k)] <= DEPENDENT)
    }

    /// ‖A⁻¹‖∞ (MATH 11.34), at least one.
    fn inverse_norm(&self) -> f64 {
        let m = self.basis.len();
        let row = |i: usize| (0..m).map(|j| self.inverse[(i, j)].abs()).sum::<f64>();
        (0..m).map(row).fold(1.0, f64::max)
    }

    /// ½ β_gᵀ ((A⁻¹)_gg)⁻¹ β_g (MATH 11.38), g the `count` columns from `first` on; none where it has no factor.
    fn cost(&self, first: usize, count: usize) -> Option<f64> {
        let right = self.beta[first..first + count].to_vec();
        half_square(count, |i, j| self.inverse[(first + i, first + j)], right)
    }
}
