//! x_jᵀα of every feature at the dual point that gives the bound, from a pass over X at a dual point nearby.
//!
//! For any s |x_jᵀα − s x_jᵀα₀| ≤ ‖x_j‖ ‖α − s α₀‖ (Cauchy–Schwarz). A feature that stays below its threshold all over that
//! interval has Ψ_j = 0 at α, and an optimality rule that says the same of both ends of it says so of x_jᵀα: only the others need
//! a pass.

use super::{Monitor, screening};
use crate::problem::{Problem, outer_end};

/// A dual point α₀ and x_jᵀα₀ of every feature, as a pass over X gave them.
pub struct Anchor {
    /// α₀.
    pub alpha: Vec<f64>,
    /// Xᵀα₀.
    pub tau: Vec<f64>,
}

/// What is known of every feature at one dual point.
#[derive(Debug, Clone)]
pub struct Everywhere {
    /// D(α).
    pub bound: f64,
    /// x_jᵀα, or near it where Ψ_j = 0 whatever it is.
    pub tau: Vec<f64>,
    /// The end of what x_jᵀα may be, rounding included, where φ_j is least.
    pub outer: Vec<f64>,
    /// How far x_jᵀα may be from `tau`; zero where it was passed over.
    reach: Vec<f64>,
}

impl Everywhere {
    /// At `alpha`: a pass over the features whose Ψ_j may be below zero as far as the anchor says, all without one.
    pub fn new(problem: &Problem<'_>, alpha: &[f64], anchor: Option<&Anchor>, monitor: &mut Monitor<'_>) -> Self {
        let p = problem.ncols();
        let carried = anchor.and_then(|a| problem.carry(&a.alpha, &a.tau, alpha));
        let (tau, reach) = carried.unwrap_or_else(|| (vec![0.0; p], vec![f64::INFINITY; p]));
        let zero = |j: usize| screening::zero_in_relaxation(problem.coordinate(j), tau[j], 1.0, reach[j]);
        let open: Vec<usize> = (0..p).filter(|&j| !zero(j)).collect();
        let outer = (0..p).map(|j| outer_end(problem.coordinate(j), tau[j], reach[j])).collect();
        let mut known = Self { bound: f64::NEG_INFINITY, tau, outer, reach };
        known.pass(problem, alpha, &open, monitor);
        let tau: Vec<f64> = open.iter().map(|&j| known.tau[j]).collect();
        known.bound = problem.dual_value(alpha, &open, &tau);
        known
    }

    /// A pass over the features of which the rule that excludes them, with P̂ = `best`, may say one thing or the other.
    pub fn decide(&mut self, problem: &Problem<'_>, alpha: &[f64], best: f64, monitor: &mut Monitor<'_>) {
        let excludes = |j: usize, t: f64| screening::in_no_optimal_subset(problem.coordinate(j), t, self.bound, best);
        let unclear = |&j: &usize| {
            // φ is largest where x_jᵀα is nearest to zero.
            let nearest = self.tau[j] - self.tau[j].clamp(-self.reach[j], self.reach[j]);
            self.reach[j] > 0.0 && excludes(j, nearest) && !excludes(j, self.outer[j])
        };
        let open: Vec<usize> = (0..self.tau.len()).filter(unclear).collect();
        self.pass(problem, alpha, &open, monitor);
    }

    fn pass(&mut self, problem: &Problem<'_>, alpha: &[f64], features: &[usize], monitor: &mut Monitor<'_>) {
        let mut tau = vec![0.0; features.len()];
        problem.design().correlate(features, alpha, &mut tau);
        monitor.passes += features.len() as f64 / problem.ncols() as f64;
        let outer = problem.outer_correlations(alpha, features, &tau, |k| problem.coordinate(features[k]));
        for (k, &j) in features.iter().enumerate() {
            (self.tau[j], self.outer[j], self.reach[j]) = (tau[k], outer[k], 0.0);
        }
    }
}
