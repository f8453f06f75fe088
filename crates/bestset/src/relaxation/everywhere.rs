//! x_jᵀα of every feature at the dual point that gives the bound, from a pass over X at a dual point nearby.
//!
//! For any s |x_jᵀα − s x_jᵀα°| ≤ ‖x̂_j‖ ‖α − s α°‖ (MATH 5.7). A feature that stays below its threshold all over that
//! interval has Ψ_j = 0 at α, and an optimality rule that says the same of both ends of it says so of x_jᵀα: only the others need
//! a pass.

use crate::control::Monitor;
use crate::design::correlate;
use crate::error::Result;
use crate::kernel::each::{chosen, each};
use crate::problem::screening;
use crate::problem::{Problem, outer_end};

/// A dual point α° and x_jᵀα° of every feature, as a pass over X gave them.
pub struct Anchor {
    /// α°.
    pub alpha: Vec<f64>,
    /// Xᵀα°.
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
    /// At `alpha`: a pass over the features whose Ψ_j may be below zero as far as the anchor says (MATH 5.7), all without one.
    pub fn new(
        problem: &Problem<'_>,
        alpha: &[f64],
        anchor: Option<&Anchor>,
        monitor: &mut Monitor<'_>,
    ) -> Result<Self> {
        let (p, bounds) = (problem.ncols(), problem.lower_bounds()?);
        let carried = anchor.and_then(|a| bounds.carry(&a.alpha, &a.tau, alpha));
        let (tau, reach) = carried.unwrap_or_else(|| (vec![0.0; p], vec![f64::INFINITY; p]));
        let zero = |j: usize| screening::zero_in_relaxation(problem.coordinate(j), tau[j], 1.0, reach[j]);
        let open = chosen(p, |j| (!zero(j)).then_some(j));
        let outer = each(p, |j| outer_end(problem.coordinate(j), tau[j], reach[j]));
        let mut known = Self { bound: f64::NEG_INFINITY, tau, outer, reach };
        known.pass(problem, alpha, &open, monitor)?;
        let tau: Vec<f64> = open.iter().map(|&j| known.tau[j]).collect();
        known.bound = bounds.dual_value(alpha, &open, &tau);
        Ok(known)
    }

    /// A pass over the features of which the rule that excludes them, with P̂ = `best`, may say one thing or the other
    /// (MATH 5.4, 5.7).
    pub fn decide(&mut self, problem: &Problem<'_>, alpha: &[f64], best: f64, monitor: &mut Monitor<'_>) -> Result<()> {
        let excludes = |j: usize, t: f64| screening::in_no_optimal_subset(problem.coordinate(j), t, self.bound, best);
        let unclear = |j: usize| {
            // φ is largest where x_jᵀα is nearest to zero.
            let nearest = self.tau[j] - self.tau[j].max(-self.reach[j]).min(self.reach[j]);
            self.reach[j] > 0.0 && excludes(j, nearest) && !excludes(j, self.outer[j])
        };
        let open = chosen(self.tau.len(), |j| unclear(j).then_some(j));
        self.pass(problem, alpha, &open, monitor)
    }

    fn pass(
        &mut self,
        problem: &Problem<'_>,
        alpha: &[f64],
        features: &[usize],
        monitor: &mut Monitor<'_>,
    ) -> Result<()> {
        let mut tau = vec![0.0; features.len()];
        correlate(problem.design(), features, alpha, &mut tau, &|| monitor.check())?;
        monitor.passes += features.len() as f64 / problem.ncols() as f64;
        let bounds = problem.lower_bounds()?;
        let outer = bounds.outer_correlations(alpha, features, &tau, |k| problem.coordinate(features[k]));
        for (k, &j) in features.iter().enumerate() {
            (self.tau[j], self.outer[j], self.reach[j]) = (tau[k], outer[k], 0.0);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::design::{Dense, Design, Standardized};
    use crate::{Loss, Options, Penalty};

    /// Uniform in −1..1, from a generator of no more quality than that takes.
    fn numbers(seed: u64) -> impl FnMut() -> f64 {
        let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
        }
    }

    /// With and without weights, intercept, another loss and a view with large centres, from anchors near and far: each x_jᵀα is
    /// in its interval, the bound and what the rule excludes are those of a pass over all features, and many were not passed over.
    #[test]
    fn what_is_carried_over_is_true_of_a_pass_over_all_features() {
        let (options, mut observer, mut saved, mut excluded) = (Options::default(), (), 0.0, 0);
        for trial in 0..400 {
            let mut draw = numbers(trial);
            let (n, p) = (40, 60);
            let shift = if trial % 5 == 4 { 1e6 } else { 0.0 };
            let x = Dense::new(n, p, (0..n * p).map(|_| 0.2 * draw() + shift).collect::<Vec<f64>>()).unwrap();
            let standardized = Standardized::fit(&x, None, true, 1.0).unwrap();
            let design: &dyn Design = if shift > 0.0 { &standardized } else { &x };
            let loss = if trial % 3 == 2 { Loss::Logistic } else { Loss::Squared };
            let y: Vec<f64> = (0..n).map(|_| if trial % 3 == 2 { draw().signum() } else { draw() }).collect();
            let problem = Problem::new(design, y, Penalty::new(0.2, 0.02, 0.3)).unwrap().with_loss(loss).unwrap();
            let problem = problem.with_intercept(trial % 4 > 1);
            let weights: Vec<f64> = (0..n).map(|i| if i == 3 { 0.0 } else { 1.0 + 0.9 * draw() }).collect();
            let problem = if trial % 2 == 1 { problem.with_weights(weights).unwrap() } else { problem };
            let u: Vec<f64> = (0..n).map(|_| 0.3 * draw()).collect();
            let (mut start, mut alpha) = (vec![0.0; n], vec![0.0; n]);
            problem.dual_point(&u, problem.best_intercept(&u, 0.0), &mut start);
            let far = [0.0, 1e-9, 1e-3, 0.03, 0.3][trial as usize / 2 % 5];
            alpha.iter_mut().zip(&start).for_each(|(a, s)| *a = 0.9 * s * (1.0 + far * draw()));
            problem.project(&mut alpha);
            let all: Vec<usize> = (0..p).collect();
            let (mut tau, mut exact) = (vec![0.0; p], vec![0.0; p]);
            design.correlate(&all, &start, &mut tau).unwrap();
            design.correlate(&all, &alpha, &mut exact).unwrap();
            let mut monitor = Monitor::new(&options, &mut observer);
            let anchor = Anchor { alpha: start, tau };
            let mut known = Everywhere::new(&problem, &alpha, Some(&anchor), &mut monitor).unwrap();
            assert_eq!(known.bound, problem.dual_value(&alpha, &all, &exact).unwrap(), "{trial}");
            for j in 0..p {
                let c = problem.coordinate(j);
                assert!((exact[j] - known.tau[j]).abs() <= known.reach[j], "{trial}: {j} is outside its interval");
                assert!(c.phi(known.outer[j]) <= c.phi(exact[j]), "{trial}: {j}");
            }
            let bounds = problem.lower_bounds().unwrap();
            let outer = bounds.outer_correlations(&alpha, &all, &exact, |j| problem.coordinate(j));
            for above in [0.05, 0.1, 0.15, 0.19] {
                let (best, bound) = (known.bound + above, known.bound);
                known.decide(&problem, &alpha, best, &mut monitor).unwrap();
                for j in 0..p {
                    let excludes = |t: f64| screening::in_no_optimal_subset(problem.coordinate(j), t, bound, best);
                    assert_eq!(excludes(known.outer[j]), excludes(outer[j]), "{trial}: {j}, {above}");
                    excluded += usize::from(excludes(outer[j]));
                }
            }
            saved += 1.0 - monitor.passes;
        }
        assert!(saved > 100.0 && excluded > 10_000, "{saved} {excluded}");
    }
}
