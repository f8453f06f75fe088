//! Algorithm 1 of the paper (MATH 6.1, 6.3): dual ascent, link, one pass of T, gap.
//!
//! The only loop of its kind: `primal_dual` runs it on all features, `dynamic` on a growing set and `dual_iht` with a link that
//! keeps k features.

use crate::control::{Monitor, Options};
use crate::error::Result;
use crate::loss::Loss;
use crate::problem::Problem;
use crate::solution::{Coefficients, Status, StopRule};
use crate::solver::published::gaps::Gaps;
use crate::solver::published::halt::Halt;
use crate::solver::published::ledger::Ledger;
use crate::solver::published::primal::Primal;

/// α⁰: the dual point of the warm start; without one zero (paper Algorithm 2), which lies in every domain, or for
/// the logistic loss, whose conjugate is infinitely steep there, the dual point of β = 0.
pub(super) fn start_dual(problem: &Problem<'_>, options: &Options, start: &Coefficients) -> Result<Vec<f64>> {
    let mut alpha = vec![0.0; problem.nrows()];
    if options.warm_start.is_some() || problem.loss() == Loss::Logistic {
        problem.dual_point(&problem.margins(start)?, start.intercept, &mut alpha);
    }
    Ok(alpha)
}

/// The pair (α, β) of Algorithm 1 on the columns of an active set.
pub(super) struct Ascent<'p, 'a> {
    problem: &'p Problem<'a>,
    /// β on the active set.
    pub primal: Primal<'p, 'a>,
    /// α, always in the dual domain.
    pub alpha: Vec<f64>,
    tau: Vec<f64>,
    primal_pass: bool,
}

impl<'p, 'a> Ascent<'p, 'a> {
    pub(super) fn new(problem: &'p Problem<'a>, primal: Primal<'p, 'a>, alpha: Vec<f64>, primal_pass: bool) -> Self {
        Self { problem, primal, alpha, tau: Vec::new(), primal_pass }
    }

    /// Runs Algorithm 1 "while the gap is decreasing": until the gap of the sub-problem is below ε, has changed by
    /// less than ζ over two steps, or does not decrease in the sense of [`Stop`](crate::control::Stop). Returns the
    /// rule that ended it, or what stopped it before.
    pub(super) fn run(
        &mut self,
        options: &Options,
        ledger: &mut Ledger<'_, '_>,
        monitor: &mut Monitor<'_>,
    ) -> std::result::Result<StopRule, Halt> {
        let mut gaps = Gaps::new(options.published, self.problem.mu());
        for t in 1usize.. {
            monitor.stop(ledger.iteration).map_or(Ok(()), Err)?;
            self.dual_step(options.published.step.at(t));
            if !self.primal_step(monitor) {
                continue;
            }
            ledger.iteration += 1;
            let gap = self.gap(ledger)?;
            ledger.record(&self.primal, monitor);
            if !gap.is_finite() {
                break;
            }
            if let Some(rule) = gaps.end(gap) {
                return Ok(rule);
            }
        }
        Err(Status::IterationLimit.into())
    }

    /// α ← Proj(α + ω w ∘ (u − ℓ*′(α/w))) (MATH 6.1), along a supergradient of D (MATH 3.8): a weight of w moves like w samples
    /// would.
    fn dual_step(&mut self, omega: f64) {
        let (loss, y, weights) = (self.problem.loss(), self.problem.y(), self.problem.weights());
        for (i, (a, u)) in self.alpha.iter_mut().zip(self.primal.margins()).enumerate() {
            let w = weights.map_or(1.0, |w| w[i]);
            if w > 0.0 {
                *a += omega * w * (u - loss.conjugate_derivative(*a / w, y[i]));
            }
        }
        self.problem.project(&mut self.alpha);
    }

    /// β ← 𝔅(Xᵀα) (MATH 6.1; paper eq. bigB), of which D-IHT keeps k; then β ← T(β). False when interrupted before β changed.
    fn primal_step(&mut self, monitor: &mut Monitor<'_>) -> bool {
        if !self.primal.correlate(&self.alpha, &mut self.tau, monitor) {
            return false;
        }
        let (problem, features) = (self.problem, self.primal.features().to_vec());
        let mut beta: Vec<f64> =
            features.iter().zip(&self.tau).map(|(&j, &tau)| problem.coordinate(j).link(tau)).collect();
        if let Some(k) = problem.max_size() {
            keep_largest(problem, &features, &self.tau, k, &mut beta);
        }
        self.primal.set(beta.into_iter());
        if self.primal_pass {
            self.primal.pass(0..features.len(), |coordinate, c, q| coordinate.threshold_operator(c, q), monitor);
        }
        true
    }

    /// P(β) − D(α) of the sub-problem (MATH 6.3). Only with all features is its D a bound for the full problem.
    fn gap(&self, ledger: &mut Ledger<'_, '_>) -> Result<f64> {
        let objective = ledger.offer(&self.primal);
        let bound = self.problem.dual_value(&self.alpha, self.primal.features(), &self.tau)?;
        if self.primal.len() == self.problem.ncols() {
            ledger.offer_bound(bound, &self.alpha);
        }
        Ok(objective - bound)
    }
}

/// 𝔅_k (MATH 6.5): sets all but the k coefficients with the least Ψ_j(τ_j) to zero: with equal bounds the k largest |τ_j|.
///
/// These are the minimisers of the Lagrangian over ‖β‖₀ ≤ k, so that X𝔅_k(α) − ℓ*′(α) is a supergradient of D_k.
pub(super) fn keep_largest(problem: &Problem<'_>, features: &[usize], tau: &[f64], k: usize, beta: &mut [f64]) {
    let psi = |position: usize| problem.coordinate(features[position]).psi(tau[position]);
    let selected = (0..beta.len()).filter(|&position| beta[position] != 0.0);
    let mut order: Vec<(f64, usize)> = selected.map(|position| (psi(position), position)).collect();
    if order.len() <= k {
        return;
    }
    // Ties go to the earlier feature, so that the answer does not depend on how they are ordered.
    order.select_nth_unstable_by(k, |a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    for &(_, position) in &order[k..] {
        beta[position] = 0.0;
    }
}
