//! What dropping, adding and exchanging groups is worth by the quadratic model of the loss at a fit (MATH 9.15): which fits to make.

use crate::error::Result;
use crate::groups::Grouped;
use crate::groups::model::GroupModel;
use crate::relaxation::active_set::ActiveSet;
use crate::solution::Coefficients;
use faer::linalg::solvers::{Llt, Solve};
use faer::{Mat, Side};
use std::ops::Range;

/// A change of the groups in the model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Change {
    pub(super) drop: Option<usize>,
    pub(super) add: Option<usize>,
    /// What the model says that P changes by.
    pub(super) by: f64,
}

/// The changes that drop one of `chosen`, add one of `adding`, or both, the best by the model first.
pub(super) fn changes(
    grouped: &Grouped<'_, '_>,
    fit: &Coefficients,
    chosen: &[usize],
    adding: &[usize],
) -> Result<Vec<Change>> {
    let surface = Surface::new(grouped, fit, chosen, adding)?;
    let mut all = surface.without().unwrap_or_default();
    for entry in surface.entries() {
        all.push(entry.change());
        all.extend(surface.exchanges(&entry));
    }
    Ok(best_first(all))
}

/// The changes that drop one of `chosen` or add one of `adding`, the best by the model first.
pub(super) fn flips(
    grouped: &Grouped<'_, '_>,
    fit: &Coefficients,
    chosen: &[usize],
    adding: &[usize],
) -> Result<Vec<Change>> {
    let surface = Surface::new(grouped, fit, chosen, adding)?;
    let added = surface.entries().map(|entry| entry.change());
    Ok(best_first(surface.without().unwrap_or_default().into_iter().chain(added).collect()))
}

fn best_first(mut all: Vec<Change>) -> Vec<Change> {
    all.retain(|change| !change.by.is_nan());
    all.sort_by(|a, b| a.by.total_cmp(&b.by));
    all
}

/// max_j ½τ_j⁺ᵀΣ⁻¹τ_j⁺/f_j (MATH 9.15): the largest λ0 at which the model at a fit wants one more of these groups.
pub(crate) fn largest_entry(
    grouped: &Grouped<'_, '_>,
    fit: &Coefficients,
    chosen: &[usize],
    adding: &[usize],
) -> Result<f64> {
    let surface = Surface::new(grouped, fit, chosen, adding)?;
    let worth = |entry: GroupEntry| (grouped.price(entry.group) - entry.by) / grouped.factor(entry.group);
    Ok(surface.entries().map(worth).filter(|worth| worth.is_finite()).fold(0.0, f64::max))
}

/// The quadratic model around a fit: its groups, and those that may be added after them.
struct Surface<'s, 'p, 'a> {
    grouped: &'s Grouped<'p, 'a>,
    groups: Vec<usize>,
    /// The places of the columns of each.
    places: Vec<Range<usize>>,
    /// X_AᵀHX_A + 2λ2.
    form: Mat<f64>,
    /// The inverse of its part of the groups in the fit, as far as there is one.
    inverse: Option<Mat<f64>>,
    /// The coefficients of the groups in the fit, and what pulls at those of the others, less λ1.
    beta: Vec<f64>,
    pulls: Vec<f64>,
    chosen: usize,
}

impl<'s, 'p, 'a> Surface<'s, 'p, 'a> {
    fn new(grouped: &'s Grouped<'p, 'a>, fit: &Coefficients, chosen: &[usize], adding: &[usize]) -> Result<Self> {
        let (problem, groups) = (grouped.problem, [chosen, adding].concat());
        let (mut columns, mut places) = (ActiveSet::new(problem.design()), Vec::with_capacity(groups.len()));
        for &g in &groups {
            let from = columns.len();
            columns.extend(problem.design(), &grouped.groups.members[g])?;
            places.push(from..columns.len());
        }
        let (u, mut alpha) = (problem.margins(fit)?, vec![0.0; problem.nrows()]);
        problem.dual_point(&u, fit.intercept, &mut alpha);
        let mut model = GroupModel::default();
        // Few columns, a moment's work: nothing cuts it.
        model.form(problem, &columns, (&u, fit.intercept), &|| false);
        let (features, dense) = (columns.features(), fit.to_dense(problem.ncols()));
        let ridge = |k: usize| 2.0 * grouped.selected(features[k]).l2;
        let form =
            Mat::from_fn(columns.len(), columns.len(), |a, b| model.row(a)[b] + if a == b { ridge(a) } else { 0.0 });
        let inside = places[..chosen.len()].last().map_or(0, |last| last.end);
        let inverse = inverse(form.submatrix(0, 0, inside, inside).to_owned());
        let pull = |k: usize| {
            let t = columns.dot(k, &alpha);
            t.signum() * (t.abs() - grouped.selected(features[k]).l1).max(0.0)
        };
        let pulls = (0..columns.len()).map(pull).collect();
        let beta = features.iter().map(|&j| dense[j]).collect();
        Ok(Self { grouped, groups, places, form, inverse, beta, pulls, chosen: chosen.len() })
    }

    /// The groups outside the fit that have a curvature of their own there.
    fn entries(&self) -> impl Iterator<Item = GroupEntry> {
        (self.chosen..self.groups.len()).filter_map(|place| self.entry(place))
    }

    /// ½β_iᵀV_ii⁻¹β_i − λ0_i (MATH 9.15) of every group in the fit, V = Q_SS⁻¹.
    fn without(&self) -> Option<Vec<Change>> {
        let inverse = self.inverse.as_ref()?;
        let one = |place: usize| {
            let own = self.places[place].clone();
            let block = inverse.submatrix(own.start, own.start, own.len(), own.len()).to_owned();
            let by = 0.5 * quadratic(block, &self.beta[own])? - self.grouped.price(self.groups[place]);
            Some(Change { drop: Some(self.groups[place]), add: None, by })
        };
        Some((0..self.chosen).filter_map(one).collect())
    }

    /// λ0_j − ½τ_j⁺ᵀΣ⁻¹τ_j⁺ (MATH 9.15): the group at a place added.
    fn entry(&self, place: usize) -> Option<GroupEntry> {
        let (own, inverse) = (self.places[place].clone(), self.inverse.as_ref()?);
        let across = self.form.submatrix(0, own.start, inverse.nrows(), own.len());
        let moved = inverse * across;
        // What the others leave of its curvature.
        let left = self.form.submatrix(own.start, own.start, own.len(), own.len()) - across.transpose() * &moved;
        let left = Llt::new(left.as_ref(), Side::Lower).ok()?;
        let pull = Mat::from_fn(own.len(), 1, |k, _| self.pulls[own.start + k]);
        let step = left.solve(&pull);
        let price = self.grouped.price(self.groups[place]);
        let by = price - 0.5 * (0..own.len()).map(|k| pull[(k, 0)] * step[(k, 0)]).sum::<f64>();
        Some(GroupEntry { group: self.groups[place], moved, left, step, by })
    }

    /// λ0_j − λ0_i − ½τ_j⁺ᵀΣ⁻¹τ_j⁺ + ½rᵀ(V_ii + Z_iΣ⁻¹Z_iᵀ)⁻¹r (MATH 9.15): a group exchanged for each of those in the fit.
    fn exchanges(&self, entry: &GroupEntry) -> Vec<Change> {
        let (Some(inverse), width) = (self.inverse.as_ref(), entry.step.nrows()) else { return Vec::new() };
        let across_left = entry.left.solve(entry.moved.transpose().to_owned());
        let one = |other: usize| {
            let at = self.places[other].clone();
            let answer = entry.moved.submatrix(at.start, 0, at.len(), width);
            let widened = inverse.submatrix(at.start, at.start, at.len(), at.len())
                + answer * across_left.submatrix(0, at.start, width, at.len());
            let shift = |k: usize| (0..width).map(|l| answer[(k, l)] * entry.step[(l, 0)]).sum::<f64>();
            let gone: Vec<f64> = (0..at.len()).map(|k| self.beta[at.start + k] + shift(k)).collect();
            let by = entry.by + 0.5 * quadratic(widened, &gone)? - self.grouped.price(self.groups[other]);
            Some(Change { drop: Some(self.groups[other]), add: Some(entry.group), by })
        };
        (0..self.chosen).filter_map(one).collect()
    }
}

/// A group outside the fit, and what the model says of adding it: Z, Σ, Σ⁻¹τ⁺ and the change of P.
struct GroupEntry {
    group: usize,
    moved: Mat<f64>,
    left: Llt<f64>,
    step: Mat<f64>,
    by: f64,
}

impl GroupEntry {
    fn change(&self) -> Change {
        Change { drop: None, add: Some(self.group), by: self.by }
    }
}

fn inverse(form: Mat<f64>) -> Option<Mat<f64>> {
    let size = form.nrows();
    if size == 0 {
        return Some(form);
    }
    Some(Llt::new(form.as_ref(), Side::Lower).ok()?.solve(Mat::<f64>::identity(size, size)))
}

/// vᵀM⁻¹v.
fn quadratic(form: Mat<f64>, v: &[f64]) -> Option<f64> {
    let right = Mat::from_fn(v.len(), 1, |k, _| v[k]);
    let solved = Llt::new(form.as_ref(), Side::Lower).ok()?.solve(&right);
    Some((0..v.len()).map(|k| v[k] * solved[(k, 0)]).sum())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::common::{normal, rng};
    use crate::control::{Limits, Monitor, Options};
    use crate::design::Dense;
    use crate::groups::Groups;
    use crate::groups::search::Fits;
    use crate::penalty::Penalty;
    use crate::problem::Problem;

    /// Of least squares the model is the loss: what it says of a change is what the fits say.
    #[test]
    fn changes_of_least_squares_are_exact() {
        let mut rng = rng(62_000);
        let (n, p) = (40, 8);
        let x = Dense::new(n, p, (0..n * p).map(|_| normal(&mut rng)).collect::<Vec<_>>()).unwrap();
        let y: Vec<f64> = (0..n).map(|_| normal(&mut rng)).collect();
        for intercept in [false, true] {
            let problem = Problem::new(&x, y.clone(), Penalty::new(0.3, 0.0, 0.2)).unwrap().with_intercept(intercept);
            let groups = Groups::new(&[0, 0, 1, 2, 2, 2, 3, 3]);
            let grouped = Grouped { problem: &problem, groups: &groups };
            let options = Options { relaxation_gap: 1e-13, ..Options::default() };
            let mut silent = ();
            let limits: Limits = Monitor::new(&options, &mut silent).limits().clone();
            let mut fits = Fits::new(&grouped, &options, &limits);
            let (chosen, adding) = ([0, 2], [1, 3]);
            let fit = fits.fit(&chosen).unwrap();
            let all = changes(&grouped, &fit.coefficients, &chosen, &adding).unwrap();
            assert_eq!(all.len(), 2 + 2 + 4);
            for change in all {
                let mut other: Vec<usize> = chosen.into_iter().filter(|g| Some(*g) != change.drop).collect();
                other.extend(change.add);
                other.sort_unstable();
                let found = fits.fit(&other).unwrap().objective - fit.objective;
                assert!((found - change.by).abs() < 1e-6, "{intercept} {change:?}: {found}");
            }
        }
    }
}
