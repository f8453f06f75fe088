//! Families of subsets that fits may close, as the checker has them (PROOF, "FIT", "PAIRS"), and sets of features that depend on each other.

use super::rules::U;
use crate::error::Result;
use crate::kernel;
use crate::leaps::{Equations, Family, Form, determined, is_small};
use crate::loss::Loss;
use crate::problem::Problem;
use faer::linalg::solvers::{DenseSolveCore, Llt};
use faer::{Mat, Side};

/// The most features of a fit, as the checker has it.
const MOST_FITTED: usize = 256;

/// With a ridge and fewer features the relaxation of the root ends most proofs, and takes fewer bytes.
const LEAST_FITTED: usize = 12;

/// Times that the writer allows for what the checker takes off for rounding: both compute inner products, each in its own order.
const ALLOWED: f64 = 4.0;

/// The features that may enter, where all of them are plain and have one price: least squares of so many features as a fit may have.
fn plain(problem: &Problem<'_>) -> Option<Vec<usize>> {
    let may_enter = |j: &usize| (problem.coordinate(*j).lower, problem.coordinate(*j).upper) != (0.0, 0.0);
    let free: Vec<usize> = (0..problem.ncols()).filter(may_enter).collect();
    let first = problem.coordinate(*free.first()?);
    let is_plain = |j: &usize| {
        let c = problem.coordinate(*j);
        c == first && c.l1 == 0.0 && c.lower == f64::NEG_INFINITY && c.upper == f64::INFINITY
    };
    let is_meant = problem.loss() == Loss::Squared && problem.ncols() <= MOST_FITTED && free.iter().all(is_plain);
    is_meant.then_some(free)
}

/// The equations of a problem whose families fits may close; with a ridge, where there are more samples than columns.
pub(super) fn equations<'p, 'a>(problem: &'p Problem<'a>) -> Option<Equations<'p, 'a>> {
    let free = plain(problem)?;
    let has_ridge = problem.coordinate(free[0]).l2 > 0.0;
    if has_ridge && (free.len() < LEAST_FITTED || determined(problem) <= free.len()) {
        return None;
    }
    let made = Equations::of_columns(problem).ok()?;
    (made.features == free).then_some(made)
}

/// Sets of features that depend on each other as far as a search can tell, and that a subset below B could hold: without a ridge, what
/// rounding left of such columns could be fitted, and no bound holds against that.
pub(super) fn dependences(problem: &Problem<'_>, bound: f64) -> Vec<Vec<usize>> {
    let Some(free) = plain(problem) else { return Vec::new() };
    let first = problem.coordinate(free[0]);
    let affordable = if first.l0 > 0.0 { (bound / first.l0).max(0.0) as usize } else { usize::MAX };
    let most = affordable.min(problem.max_size().unwrap_or(usize::MAX)).min(free.len());
    if first.l2 > 0.0 || !is_small(problem, most) {
        return Vec::new();
    }
    let found = Equations::new(problem, most).map_or_else(|_| Vec::new(), |made| made.dependent);
    // A column that is constant but for rounding may not enter at all.
    found.into_iter().filter(|set| set.len() > 1).collect()
}

/// What the checker takes off for rounding in fits, in units of columns of length one.
#[derive(Clone, Copy)]
pub(super) struct FitRounding {
    /// η of (P10), of columns and of targets.
    pub eta: f64,
    /// At most what (P14) can take from a fit.
    pub slack: f64,
    /// ‖ι_y‖ of (P11).
    pub targets: f64,
}

impl FitRounding {
    /// Of fits that are to reach B, with these coefficients and curvatures of all features.
    pub fn new(equations: &Equations<'_, '_>, costs: &Form, bound: f64) -> Self {
        let problem = equations.problem;
        let (n, p, m) = (problem.nrows() as f64, problem.ncols() as f64, costs.len() as f64);
        let length = (2.0 * equations.total).sqrt();
        // Offsets are taken from targets that may be far from zero.
        let weight = |i: usize| problem.weights().map_or(1.0, |w| w[i]);
        let far =
            |o: &[f64]| problem.y().iter().zip(o).enumerate().map(|(i, (y, o))| weight(i) * (y - o).powi(2)).sum();
        let targets = 4.0 * U * (length + problem.offset().map_or(0.0, far).sqrt());
        let fitted: f64 = costs.vector().iter().map(|b| b.abs()).sum();
        let roots: f64 = (0..costs.len()).map(|j| costs.at(j, j).max(0.0).sqrt()).sum();
        let needed = (2.0 * bound.max(0.0)).sqrt();
        let off = U * (m + 12.0) * (length + fitted) + targets + 18.0 * U * needed * roots;
        let slack = ALLOWED * (2.0 * U * (m + 8.0) * bound.max(0.0) + needed * off + 0.5 * off * off);
        Self { eta: ALLOWED * U * (p + 1.0) * (n + 5.0 * p + 48.0), slack, targets }
    }
}

/// The family as the checker has it: fits of few features from inner products less η, costs of single ones from their inverse, and what is
/// left of the targets from the residual itself. `None` where columns depend on each other.
pub(super) fn family(equations: &Equations<'_, '_>, inside: &[u32], free: &[u32], eta: f64) -> Result<Option<Family>> {
    let members = [free, inside].concat();
    if members.len() >= determined(equations.problem) && equations.ridge == 0.0 {
        return Ok(None);
    }
    let Ok(all) = equations.family(&[], &members) else { return Ok(None) };
    let (form, m) = (equations.form(&members).less(eta), members.len());
    let Ok(factor) = Llt::new(Mat::from_fn(m, m, |i, j| form.at(i, j)).as_ref(), Side::Lower) else {
        return Ok(None);
    };
    let (inverse, beta) = (factor.inverse(), all.costs.vector());
    let costs = Form::new(beta[..free.len()].to_vec(), |i, j| inverse[(i, j)]);
    let (mut residual, mut fit_all) = (equations.target.clone(), 0.0);
    for (&k, b) in members.iter().zip(beta) {
        kernel::axpy(-b, &equations.column(k)?, &mut residual);
        fit_all += equations.ridge_of(k) * b * b;
    }
    fit_all += 0.5 * kernel::squares(&residual);
    Ok(Some(Family { costs, fit_all, ..blind(equations, inside, free, eta) }))
}

/// The family with the fits of few features alone: those of all say nothing, and each can be dropped for nothing.
pub(super) fn blind(equations: &Equations<'_, '_>, inside: &[u32], free: &[u32], eta: f64) -> Family {
    let mut gains = equations.form(&[free, inside].concat()).less(eta);
    let mut fit_inside = equations.total * (1.0 - eta);
    for last in (free.len()..gains.len()).rev() {
        let is_sound = gains.at(last, last) > eta;
        fit_inside = if is_sound { fit_inside - gains.price(last) } else { f64::NEG_INFINITY };
        gains.eliminate_last();
    }
    let costs = Form::new(vec![0.0; free.len()], |i, j| if i == j { f64::INFINITY } else { 0.0 });
    Family { inside: inside.to_vec(), free: free.to_vec(), gains, costs, fit_inside, fit_all: 0.0, low: 0, high: 0 }
}

/// A family, and what fits on all its features are to be above what is needed by; infinite where these say nothing.
#[derive(Default)]
pub(super) struct FitFamily {
    pub family: Family,
    pub slack: f64,
}

impl FitFamily {
    pub fn copy(&mut self, other: &Self) {
        self.family.copy(&other.family);
        self.slack = other.slack;
    }

    pub fn is_blind(&self) -> bool {
        self.slack == f64::INFINITY
    }
}
