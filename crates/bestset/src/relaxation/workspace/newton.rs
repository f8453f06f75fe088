//! Minimising losses that are not quadratic: proximal Newton on the workspace.

use crate::control::Limits;
use crate::penalty::Coordinate;
use crate::relaxation::descend;
use crate::relaxation::gap::gap_share;
use crate::relaxation::workspace::Workspace;
use crate::relaxation::workspace::curvature::StepModel;

/// From so many columns on the inner products of a model take longer than a step with those of the step before.
const MANY: usize = 48;

/// Part of the gap that may be left after a step for the next to go on with the same inner products: a new model squares what is left of
/// it, an old one leaves about as much as it did before. Three steps to a digit and a half are as fast as one.
const KEPT: f64 = 0.2;

/// Whether all of some positions, ascending, are among others, ascending.
fn is_within(some: &[usize], others: &[usize]) -> bool {
    let mut others = others.iter();
    some.iter().all(|k| others.any(|other| other == k))
}

impl Workspace<'_, '_> {
    /// Proximal Newton: quadratic models of the loss, each minimised by coordinate descent, with a search along the step. Of the
    /// gradients only those of the members are asked for.
    pub(crate) fn newton(
        &mut self,
        coordinates: &[Coordinate],
        members: &[usize],
        mut gradients: Vec<f64>,
        tolerance: f64,
        monitor: &Limits,
    ) -> usize {
        let (mut sweeps, mut failures, mut previous) = (0, 0, f64::INFINITY);
        let mut kept: Option<StepModel> = None;
        for _ in 0..200 {
            let share = |k: usize| gap_share(coordinates[k], self.beta[k], gradients[k], 1.0);
            let gap: f64 = members.iter().map(|&k| share(k)).sum();
            if gap <= tolerance || failures > 10 || monitor.stop(0).is_some() {
                break;
            }
            let chosen: Vec<usize> =
                members.iter().copied().filter(|&k| self.beta[k] != 0.0 || share(k) > 0.0).collect();
            let is_falling = gap <= KEPT * previous;
            let serves = |m: &StepModel| is_falling && chosen.len() >= MANY && is_within(&chosen, &m.chosen);
            let step = kept.take().filter(serves).unwrap_or_else(|| self.model(chosen));
            let penalties: Vec<Coordinate> = step.chosen.iter().map(|&k| coordinates[k]).collect();
            let all: Vec<usize> = (0..penalties.len()).collect();
            let (d, descent) = self.on_model(&step, &gradients, |model, beta| {
                descend::minimise(model, &penalties, beta, &all, 0.05 * gap, monitor)
            });
            sweeps += descent.sweeps;
            let slope = step.chosen.iter().zip(&d).map(|(&k, d)| gradients[k] * d).sum();
            if !self.line_search(&step.chosen, &penalties, &d, slope, &step.curvature.diagonal) {
                failures += 1;
            }
            (previous, kept) = (gap, Some(step));
            members.iter().for_each(|&k| gradients[k] = self.active.dot(k, &self.alpha));
        }
        sweeps
    }

    /// Backtracking on Σ loss + Σ ρ along d and the intercept step that the model implies; the floor on the curvature grows
    /// until a full step is safe (at 1/μ it majorises the loss) and shrinks when full steps succeed. Returns whether the
    /// decrease was more than rounding.
    fn line_search(&mut self, chosen: &[usize], penalties: &[Coordinate], d: &[f64], slope: f64, h: &[f64]) -> bool {
        let mut along = vec![0.0; self.margins.len()];
        for (&k, &x) in chosen.iter().zip(d) {
            if x != 0.0 {
                self.active.axpy(k, x, &mut along);
            }
        }
        let shift = match self.problem.has_intercept() {
            true => -along.iter().zip(h).map(|(a, h)| a * h).sum::<f64>() / h.iter().sum::<f64>(),
            false => 0.0,
        };
        let penalty = |t: f64| -> f64 {
            chosen.iter().zip(penalties).zip(d).map(|((&k, c), d)| c.envelope(self.beta[k] + t * d)).sum()
        };
        let (base, base_penalty) = (self.loss(), penalty(0.0));
        let decrease = slope + penalty(1.0) - base_penalty;
        // What rounding does to a sum of this many losses: a step that promises less is taken on the model's word.
        let rounding = f64::EPSILON * (along.len() as f64).sqrt() * base.abs();
        let mut t = 1.0;
        let mut trial = vec![0.0; along.len()];
        for _ in 0..40 {
            trial.iter_mut().zip(&self.margins).zip(&along).for_each(|((o, u), a)| *o = u + t * a);
            let change = self.problem.loss_sum(&trial, self.intercept + t * shift) - base + penalty(t) - base_penalty;
            if change <= 1e-4 * t * decrease.min(0.0) || (decrease.abs() <= rounding && change <= 4.0 * rounding) {
                break;
            }
            t *= 0.5;
        }
        self.floor = if t < 0.3 { (10.0 * self.floor).min(1.0) } else { (0.3 * self.floor).max(1e-7) };
        if t < 1e-10 {
            return false;
        }
        for (&k, d) in chosen.iter().zip(d) {
            self.beta[k] += t * d;
        }
        self.intercept += t * shift;
        self.refresh();
        -decrease > rounding
    }
}
