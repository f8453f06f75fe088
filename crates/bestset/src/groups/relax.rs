//! The relaxation with groups: block coordinate descent on R, whose dual points give the bound.
//!
//! Step of a group with curvature L ≥ ‖X_g‖²/μ: z = β_g − ∇_g/L, soft-thresholded by λ1/L, then scaled to the length that
//! minimises ½L(m − ‖z‖)² + ρ_g(m).

use crate::control::{Limits, Options};
use crate::groups::Grouped;
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
    /// Its dual point.
    pub(crate) dual: Vec<f64>,
    /// R's minimiser, by feature.
    pub(crate) beta: Vec<f64>,
    /// Its intercept.
    pub(crate) intercept: f64,
}

/// Minimises R, from the minimiser of another λ0 if there is one, until (R − D)/|R| is at most the tolerance of the options.
pub(crate) fn minimise(
    grouped: &Grouped<'_, '_>,
    start: Option<&GroupRelaxation>,
    options: &Options,
    limits: &Limits,
) -> GroupRelaxation {
    let (problem, groups) = (grouped.problem, grouped.groups);
    let p = problem.ncols();
    let mut columns = ActiveSet::new(problem.design());
    (0..p).for_each(|j| columns.push(problem.design(), j));
    let curvatures: Vec<f64> = (0..groups.len()).map(|g| grouped.curvature(g)).collect();
    let mut beta = start.map_or_else(|| vec![0.0; p], |s| s.beta.clone());
    let mut u = problem.null_margins();
    (0..p).filter(|&j| beta[j] != 0.0).for_each(|j| columns.axpy(j, beta[j], &mut u));
    let mut alpha = vec![0.0; u.len()];
    let mut intercept = problem.best_intercept(&u, start.map_or(0.0, |s| s.intercept));
    let mut state =
        GroupRelaxation { value: f64::INFINITY, bound: f64::NEG_INFINITY, dual: vec![], beta: vec![], intercept };
    for sweep in 0..SWEEPS {
        if sweep % LOOK == 0 {
            intercept = problem.best_intercept(&u, intercept);
            problem.dual_point(&u, intercept, &mut alpha);
            state.look(grouped, &beta, &u, intercept, &alpha);
            let target = options.relaxation_gap.max(1e-9) * state.value.abs();
            if state.value - state.bound <= target || limits.stop(0).is_some() {
                break;
            }
        }
        for g in (0..groups.len()).filter(|&g| curvatures[g] > 0.0) {
            problem.loss().derivatives(&u, intercept, problem.y(), problem.weights(), &mut alpha);
            step(grouped, g, curvatures[g], &columns, &alpha, &mut beta, &mut u);
        }
        intercept = problem.best_intercept(&u, intercept);
    }
    state
}

impl GroupRelaxation {
    /// R and D at a point, the better of each kept.
    fn look(&mut self, grouped: &Grouped<'_, '_>, beta: &[f64], u: &[f64], intercept: f64, alpha: &[f64]) {
        let envelope: f64 = (0..grouped.groups.len()).map(|g| envelope(grouped, g, beta)).sum();
        let value = grouped.problem.loss_sum(u, intercept) + envelope;
        if value < self.value {
            (self.value, self.beta, self.intercept) = (value, beta.to_vec(), intercept);
        }
        let bound = grouped.lower_bound(alpha);
        if bound > self.bound || self.dual.is_empty() {
            (self.bound, self.dual) = (bound, alpha.to_vec());
        }
    }

    /// The minimiser as coefficients, with the groups whose length is at least `share` of their knee.
    pub(crate) fn rounded(&self, grouped: &Grouped<'_, '_>, share: f64) -> Coefficients {
        let large = |g: &usize| {
            let length = length(grouped, *g, &self.beta);
            length > 0.0 && length >= share * grouped.radial(*g).knee(true)
        };
        let chosen = (0..grouped.groups.len()).filter(large);
        let pairs = chosen.flat_map(|g| grouped.groups.members[g].iter().map(|&j| (j, self.beta[j]))).collect();
        Coefficients::from_pairs(pairs, self.intercept)
    }
}

fn length(grouped: &Grouped<'_, '_>, g: usize, beta: &[f64]) -> f64 {
    grouped.groups.members[g].iter().map(|&j| beta[j] * beta[j]).sum::<f64>().sqrt()
}

/// ρ_g(β_g) = λ1‖β_g‖₁ + ρ(‖β_g‖) with λ0_g, λ1 = 0, λ2 (MATH 9.6).
fn envelope(grouped: &Grouped<'_, '_>, g: usize, beta: &[f64]) -> f64 {
    let absolute: f64 = grouped.groups.members[g].iter().map(|&j| beta[j].abs()).sum();
    grouped.problem.penalty().lambda1 * absolute + grouped.radial(g).envelope(length(grouped, g, beta))
}

/// β_g ← (m/‖q⁺‖) q⁺ (MATH 9.7): the step of one group; the margins follow.
fn step(
    grouped: &Grouped<'_, '_>,
    g: usize,
    curvature: f64,
    columns: &ActiveSet,
    alpha: &[f64],
    beta: &mut [f64],
    u: &mut [f64],
) {
    let l1 = grouped.problem.penalty().lambda1;
    let members = &grouped.groups.members[g];
    let target = |&j: &usize| {
        let z = beta[j] - columns.dot(j, alpha) / curvature;
        z.signum() * (z.abs() - l1 / curvature).max(0.0)
    };
    let z: Vec<f64> = members.iter().map(target).collect();
    let size = z.iter().map(|z| z * z).sum::<f64>().sqrt();
    let scale = if size > 0.0 { grouped.radial(g).prox_envelope(curvature, curvature * size) / size } else { 0.0 };
    for (&j, z) in members.iter().zip(&z) {
        let change = scale * z - beta[j];
        if change != 0.0 {
            beta[j] += change;
            columns.axpy(j, change, u);
        }
    }
}
