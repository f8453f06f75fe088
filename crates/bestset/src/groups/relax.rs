//! The relaxation with groups: block coordinate descent on R, whose dual points give the bound.
//!
//! Step of an open group with curvature c ≥ ‖X_g‖²/μ: [`Block::step`]. The features of a group that is in are descended on one by
//! one: nothing ties them together any more.

use crate::control::Limits;
use crate::error::Result;
use crate::groups::block::Block;
use crate::groups::{Decision, Grouped, Part};
use crate::relaxation::active_set::ActiveSet;
use crate::solution::Coefficients;

/// Sweeps over all groups at the most: the bound is valid whenever they end.
const SWEEPS: usize = 5000;

/// Sweeps between two looks at the bound, which cost a sweep each. Not tuned.
const LOOK: usize = 5;

/// What the relaxation found.
pub(crate) struct GroupRelaxation {
    /// R.
    pub(crate) value: f64,
    /// The best D met.
    pub(crate) bound: f64,
    /// λ0_g + νs_g + Σφ_j⁰ of the open groups at its dual point.
    pub(crate) worths: Vec<f64>,
    /// Its dual point.
    pub(crate) dual: Vec<f64>,
    /// R's minimiser, by feature.
    pub(crate) beta: Vec<f64>,
    /// Its intercept.
    pub(crate) intercept: f64,
}

/// Columns and penalties of the groups that are not out.
struct GroupDescent<'d, 'p, 'a> {
    grouped: &'d Grouped<'p, 'a>,
    part: &'d Part<'d>,
    columns: &'d ActiveSet,
    blocks: Vec<Option<Block>>,
}

/// Where a descent is.
struct Place {
    beta: Vec<f64>,
    /// u = o + Xβ.
    u: Vec<f64>,
    alpha: Vec<f64>,
    intercept: f64,
    /// The curvature that the next step of every group is made with, and of every feature of those that are in.
    curvatures: (Vec<f64>, Vec<f64>),
}

/// Doublings of a curvature in one step at the most: more than there are between any two numbers that matter.
const DOUBLINGS: usize = 200;

/// The columns of all features, in their order.
pub(crate) fn columns(grouped: &Grouped<'_, '_>) -> Result<ActiveSet> {
    let (design, p) = (grouped.problem.design(), grouped.problem.ncols());
    let mut columns = ActiveSet::new(design);
    columns.extend(design, &(0..p).collect::<Vec<_>>())?;
    Ok(columns)
}

/// Minimises R, from other coefficients and their intercept if there are any, until (R − D)/|R| is at most `gap` or `enough` says
/// so of R and D.
pub(crate) fn minimise(
    grouped: &Grouped<'_, '_>,
    part: &Part<'_>,
    columns: &ActiveSet,
    start: Option<(&[f64], f64)>,
    (gap, enough): (f64, &dyn Fn(f64, f64) -> bool),
    limits: &Limits,
) -> Result<GroupRelaxation> {
    let (problem, descent) = (grouped.problem, GroupDescent::new(grouped, part, columns));
    let mut at = descent.place(start)?;
    let intercept = at.intercept;
    let mut state = GroupRelaxation {
        value: f64::INFINITY,
        bound: f64::NEG_INFINITY,
        worths: vec![],
        dual: vec![],
        beta: vec![],
        intercept,
    };
    for sweep in 0..SWEEPS {
        if sweep % LOOK == 0 {
            at.intercept = problem.best_intercept(&at.u, at.intercept);
            problem.dual_point(&at.u, at.intercept, &mut at.alpha);
            state.look(&descent, &at)?;
            let target = gap.max(1e-9) * state.value.abs();
            let is_done = state.value - state.bound <= target || enough(state.value, state.bound);
            if is_done || limits.stop(0).is_some() {
                break;
            }
        }
        descent.sweep(&mut at);
        at.intercept = problem.best_intercept(&at.u, at.intercept);
    }
    Ok(state)
}

impl<'d, 'p, 'a> GroupDescent<'d, 'p, 'a> {
    fn new(grouped: &'d Grouped<'p, 'a>, part: &'d Part<'d>, columns: &'d ActiveSet) -> Self {
        let (nu, _) = part.price;
        let charge =
            |g: usize| if nu > 0.0 { grouped.price(g) + nu * grouped.size(g) as f64 } else { grouped.price(g) };
        let is_open = |g: &usize| part.choices[*g] == Decision::Open;
        let blocks =
            (0..grouped.groups.len()).map(|g| is_open(&g).then(|| Block::new(grouped, g, charge(g)))).collect();
        Self { grouped, part, columns, blocks }
    }

    /// The point of other coefficients and their intercept, or β = 0.
    fn place(&self, start: Option<(&[f64], f64)>) -> Result<Place> {
        let problem = self.grouped.problem;
        let (p, squares) = (problem.ncols(), problem.squares()?);
        let mut beta = start.map_or_else(|| vec![0.0; p], |s| s.0.to_vec());
        self.outside().for_each(|j| beta[j] = 0.0);
        let mut u = problem.null_margins();
        (0..p).filter(|&j| beta[j] != 0.0).for_each(|j| self.columns.axpy(j, beta[j], &mut u));
        let (mut alpha, intercept) = (vec![0.0; u.len()], problem.best_intercept(&u, start.map_or(0.0, |s| s.1)));
        problem.dual_point(&u, intercept, &mut alpha);
        let typical = problem.typical_curvature(&alpha);
        let groups = (0..self.blocks.len()).map(|g| typical * self.grouped.square(squares, g)).collect();
        let curvatures = (groups, squares.iter().map(|s| typical * s).collect());
        Ok(Place { beta, u, alpha, intercept, curvatures })
    }

    /// The features of the groups that are out.
    fn outside(&self) -> impl Iterator<Item = usize> {
        let out = (0..self.blocks.len()).filter(|&g| self.part.choices[g] == Decision::Out);
        out.flat_map(|g| self.grouped.groups.members[g].iter().copied())
    }

    /// A step of every group; the margins follow.
    fn sweep(&self, at: &mut Place) {
        for (g, members) in self.grouped.groups.members.iter().enumerate() {
            let curvature = at.curvatures.0[g];
            match (&self.blocks[g], self.part.choices[g]) {
                // Columns of zeros.
                _ if curvature <= 0.0 => {}
                (Some(block), _) => {
                    at.curvatures.0[g] = self.step(members, curvature, at, |c, own, tau| block.step(c, own, tau));
                }
                (None, Decision::In) => {
                    for &j in members {
                        let (curvature, selected) = (at.curvatures.1[j], self.grouped.selected(j));
                        let one =
                            |c: f64, own: &[f64], tau: &[f64]| vec![selected.prox_selected(c, c * own[0] - tau[0])];
                        if curvature > 0.0 {
                            at.curvatures.1[j] = self.step(&[j], curvature, at, one);
                        }
                    }
                }
                _ => {}
            }
        }
    }

    /// A step of some features together, `next` for the curvature c; the curvature of the step after it (MATH 9.12). A c ≥ ‖X_g‖²/μ is
    /// a bound; where there is none c is doubled until the loss lies below the model at the new point, and halved after it.
    fn step(
        &self,
        members: &[usize],
        curvature: f64,
        at: &mut Place,
        next: impl Fn(f64, &[f64], &[f64]) -> Vec<f64>,
    ) -> f64 {
        let problem = self.grouped.problem;
        problem.loss().derivatives(&at.u, at.intercept, problem.y(), problem.weights(), &mut at.alpha);
        let tau: Vec<f64> = members.iter().map(|&j| self.columns.dot(j, &at.alpha)).collect();
        let own: Vec<f64> = members.iter().map(|&j| at.beta[j]).collect();
        if !problem.loss().has_log_link() {
            members.iter().zip(next(curvature, &own, &tau)).for_each(|(&j, b)| self.change(j, b, &mut at.beta, &mut at.u));
            return curvature;
        }
        let (before, mut c) = (problem.loss_sum(&at.u, at.intercept), curvature);
        // What rounding does to a sum of this many losses.
        let rounding = 4.0 * f64::EPSILON * (at.u.len() as f64).sqrt() * before;
        for _ in 0..DOUBLINGS {
            let (mut u, mut model) = (at.u.clone(), before);
            let new = next(c, &own, &tau);
            if new == own {
                return c;
            }
            for (k, &j) in members.iter().enumerate().filter(|k| new[k.0] != own[k.0]) {
                let by = new[k] - own[k];
                self.columns.axpy(j, by, &mut u);
                model += (tau[k] + 0.5 * c * by) * by;
            }
            if problem.loss_sum(&u, at.intercept) <= model + rounding {
                at.u = u;
                members.iter().zip(new).for_each(|(&j, b)| at.beta[j] = b);
                return 0.5 * c;
            }
            c *= 2.0;
        }
        c
    }

    fn change(&self, j: usize, b: f64, beta: &mut [f64], u: &mut [f64]) {
        let change = b - beta[j];
        if change != 0.0 {
            beta[j] += change;
            self.columns.axpy(j, change, u);
        }
    }

    /// Σ_open ρ_g(β_g) + Σ_in (λ0_g + νs_g + Σ_{j∈g} (λ1|β_j| + λ2β_j²)) − νk (MATH 11.36).
    fn penalty(&self, beta: &[f64]) -> f64 {
        let (nu, most) = self.part.price;
        let one = |g: usize| {
            let members = &self.grouped.groups.members[g];
            let own: Vec<f64> = members.iter().map(|&j| beta[j]).collect();
            match (&self.blocks[g], self.part.choices[g]) {
                (Some(block), _) => block.envelope(&own),
                (None, Decision::In) => {
                    let shrunk = members.iter().map(|&j| self.grouped.selected(j).value(beta[j])).sum::<f64>();
                    self.grouped.price(g) + nu * members.len() as f64 + shrunk
                }
                _ => 0.0,
            }
        };
        (0..self.blocks.len()).map(one).sum::<f64>() - nu * most
    }
}

impl GroupRelaxation {
    /// R and D at a point, the better of each kept.
    fn look(&mut self, descent: &GroupDescent<'_, '_, '_>, at: &Place) -> Result<()> {
        let grouped = descent.grouped;
        let value = grouped.problem.loss_sum(&at.u, at.intercept) + descent.penalty(&at.beta);
        if value < self.value {
            (self.value, self.beta, self.intercept) = (value, at.beta.clone(), at.intercept);
        }
        let bound = grouped.bound(&at.alpha, descent.part)?;
        if bound.value > self.bound || self.dual.is_empty() {
            (self.bound, self.worths, self.dual) = (bound.value, bound.worths, at.alpha.clone());
        }
        Ok(())
    }

    /// The share of its price that the envelope charges for every open group, at the prices of a part.
    pub(crate) fn shares(&self, grouped: &Grouped<'_, '_>, part: &Part<'_>) -> Vec<f64> {
        let (nu, _) = part.price;
        let one = |g: usize| match part.choices[g] {
            Decision::Open => {
                let own: Vec<f64> = grouped.groups.members[g].iter().map(|&j| self.beta[j]).collect();
                Block::new(grouped, g, grouped.price(g) + nu * grouped.size(g) as f64).share(&own)
            }
            Decision::In => 1.0,
            Decision::Out => 0.0,
        };
        (0..grouped.groups.len()).map(one).collect()
    }

    /// The minimiser as coefficients, with the groups of which the envelope charges at least `share` of the price.
    pub(crate) fn rounded(&self, grouped: &Grouped<'_, '_>, part: &Part<'_>, share: f64) -> Coefficients {
        let shares = self.shares(grouped, part);
        let is_large = |g: &usize| shares[*g] > 0.0 && shares[*g] >= share;
        let chosen = (0..grouped.groups.len()).filter(is_large);
        let pairs = chosen.flat_map(|g| grouped.groups.members[g].iter().map(|&j| (j, self.beta[j]))).collect();
        Coefficients::from_pairs(pairs, self.intercept)
    }
}
