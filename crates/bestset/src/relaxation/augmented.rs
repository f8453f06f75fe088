//! Semismooth Newton on the dual of proximal steps, for models too ill-conditioned for coordinate descent.
//!
//! Proximal step from a centre b° with metric ϖ_k = ϖ / √(Q_kk Q̄), Q̄ the geometric mean of the Q_kk (MATH 7.2):
//!
//!   min_b L̃(b) + Σ ρ_k(b_k) + Σ (b_k − b°_k)² / (2ϖ_k).
//!
//! The metric lies between one that lets all coefficients move alike and one that lets all columns: columns of very
//! different lengths make either of these crawl.
//!
//! Its dual is smooth and concave. A dual point is a vector of gradients τ = ∇L̃(z), not necessarily of any coefficients; the
//! best b for it is b_k = argmin ρ_k(b) + τ_k b + (b − b°_k)²/(2ϖ_k), the gradient of the dual is the move b − z, and the Newton
//! direction is Δ = (Id + diag(−∂b/∂τ) Q)⁻¹(b − z) (MATH 7.3): −∂b_k/∂τ_k is ϖ_k on the linear piece of ρ, ϖ_k/(1 + 2ϖ_kλ2) on
//! the quadratic, 0 where b_k = 0 or at a bound. The gap of b and τ for the problem without the proximal term is ½(b − z)ᵀQ(b − z) + Σ gap
//! shares (b_k, τ_k).

use crate::control::Limits;
use crate::penalty::Coordinate;
use crate::relaxation::gap::gap_share;
use crate::relaxation::quadratic::Quadratic;

/// Length of the first proximal step, in units of the curvature; it adapts from there. Not tuned further.
const FIRST_SIGMA: f64 = 10.0;

/// Newton steps allowed in one proximal step.
const STEPS: usize = 30;

/// min L̃(β) + Σ ρ_k(β_k) over `members` until the gap is at most `tolerance`; the model is left at `beta`.
pub fn minimise(
    model: &mut dyn Quadratic,
    coordinates: &[Coordinate],
    beta: &mut [f64],
    members: &[usize],
    tolerance: f64,
    monitor: &Limits,
) -> f64 {
    let members: Vec<usize> = members.iter().copied().filter(|&k| model.curvature(k) > 0.0).collect();
    let mut dual = Proximal::new(model, coordinates, beta, &members);
    let (mut gap, mut stalled) = (f64::INFINITY, 0);
    for _ in 0..100 {
        let (reached, steps) = dual.maximise(0.3 * tolerance, monitor);
        stalled = if reached < 0.9 * gap { 0 } else { stalled + 1 };
        // A proximal step that was not finished is no step: try a shorter one.
        if steps < STEPS || reached < gap {
            dual.recentre();
            gap = reached;
        }
        if reached <= tolerance || stalled > 4 || monitor.stop(0).is_some() {
            break;
        }
        dual.sigma *= if steps <= 3 {
            4.0
        } else if steps <= 8 {
            1.5
        } else if steps <= 15 {
            0.8
        } else {
            0.3
        };
    }
    dual.settle();
    gap
}

struct Proximal<'m, 'b> {
    model: &'m mut dyn Quadratic,
    coordinates: &'m [Coordinate],
    members: &'m [usize],
    /// The caller's coefficients: the centre.
    centre: &'b mut [f64],
    /// The coefficients at the start, √(Q_kk Q̄), τ and b, by place in `members`.
    origin: Vec<f64>,
    metric: Vec<f64>,
    tau: Vec<f64>,
    primal: Vec<f64>,
    sigma: f64,
}

impl<'m, 'b> Proximal<'m, 'b> {
    fn new(
        model: &'m mut dyn Quadratic,
        coordinates: &'m [Coordinate],
        beta: &'b mut [f64],
        members: &'m [usize],
    ) -> Self {
        let origin: Vec<f64> = members.iter().map(|&k| beta[k]).collect();
        let logs: f64 = members.iter().map(|&k| model.curvature(k).ln()).sum();
        let mean = (logs / members.len().max(1) as f64).exp();
        let metric = members.iter().map(|&k| (model.curvature(k) * mean).sqrt()).collect();
        let sigma = model.trail().sigma;
        let sigma = if sigma > 0.0 { sigma } else { FIRST_SIGMA };
        model.depart();
        let tau = members.iter().map(|&k| model.gradient(k)).collect();
        Self { model, coordinates, members, centre: beta, primal: origin.clone(), origin, metric, tau, sigma }
    }

    /// b for the correlation τ_k at the place `a`.
    #[inline]
    fn best(&self, a: usize, tau: f64) -> f64 {
        let (k, stiffness) = (self.members[a], self.metric[a] / self.sigma);
        self.coordinates[k].prox_envelope(stiffness, stiffness * self.centre[k] - tau)
    }

    /// The positions with b away from the start, and how far.
    fn moved(&self) -> (Vec<usize>, Vec<f64>) {
        let moves = (0..self.members.len()).map(|a| (self.members[a], self.primal[a] - self.origin[a]));
        moves.filter(|m| m.1 != 0.0).unzip()
    }

    /// Newton steps on the dual until ½(b − z)ᵀQ(b − z) is small beside the rest of the gap (MATH 7.3), or below `tolerance`;
    /// returns the gap.
    fn maximise(&mut self, tolerance: f64, monitor: &Limits) -> (f64, usize) {
        let mut gap = f64::INFINITY;
        for steps in 0..STEPS {
            for a in 0..self.members.len() {
                self.primal[a] = self.best(a, self.tau[a]);
            }
            let (positions, moves) = self.moved();
            let residual = 0.5 * self.model.head(&positions, &moves);
            let share = |(a, &k): (usize, &usize)| {
                gap_share(self.coordinates[k], self.primal[a], self.tau[a], self.model.curvature(k))
            };
            let shares: f64 = self.members.iter().enumerate().map(share).sum();
            gap = residual + shares;
            if residual <= (0.2 * shares).max(tolerance) || monitor.stop(0).is_some() || !self.newton() {
                return (gap, steps);
            }
        }
        (gap, STEPS)
    }

    /// τ ← τ + tQΔ, Δ = (Id + diag(−∂b/∂τ) Q)⁻¹(b − z) (MATH 7.3): one Newton step; the model is headed for b.
    fn newton(&mut self) -> bool {
        let softness = |a: usize| {
            let (k, b) = (self.members[a], self.primal[a]);
            let c = self.coordinates[k];
            let free = b != 0.0 && b > c.lower && b < c.upper;
            free.then(|| (k, self.metric[a] / self.sigma + c.envelope_piece(b).1))
        };
        let (positions, inverses): (Vec<usize>, Vec<f64>) = (0..self.members.len()).filter_map(softness).unzip();
        let Some((start, curved)) = self.model.damp(&positions, &inverses) else {
            return false;
        };
        let image: Vec<f64> = self.members.iter().map(|&k| self.model.image(k)).collect();
        let Some(t) = self.search(&image, start, curved) else {
            return false;
        };
        self.model.advance(t);
        self.tau.iter_mut().zip(&image).for_each(|(tau, q)| *tau += t * q);
        true
    }

    /// The t ≤ 1 at which the dual is highest along Δ (MATH 7.3) with QΔ = `image`: its derivative
    /// (b − z)ᵀQΔ − t ΔᵀQΔ + Σ (b_k(τ_k + t (QΔ)_k) − b_k(τ_k)) (QΔ)_k falls in t.
    fn search(&self, image: &[f64], start: f64, curved: f64) -> Option<f64> {
        let slope = |t: f64| {
            let pull = |a: usize| (self.best(a, self.tau[a] + t * image[a]) - self.primal[a]) * image[a];
            start - t * curved + (0..image.len()).filter(|&a| image[a] != 0.0).map(pull).sum::<f64>()
        };
        if start <= 0.0 {
            return None;
        }
        if slope(1.0) >= -0.5 * start {
            return Some(1.0);
        }
        let (mut t, mut low, mut high) = (1.0, 0.0, 1.0);
        for _ in 0..12 {
            t = 0.5 * (low + high);
            let s = slope(t);
            if s.abs() <= 0.3 * start {
                break;
            }
            if s > 0.0 { low = t } else { high = t }
        }
        Some(t)
    }

    /// The proximal step is done: its b is the next centre.
    fn recentre(&mut self) {
        for (a, &k) in self.members.iter().enumerate() {
            self.centre[k] = self.primal[a];
        }
    }

    /// Moves the model from the dual point to the coefficients.
    fn settle(mut self) {
        for (a, &k) in self.members.iter().enumerate() {
            self.primal[a] = self.centre[k];
        }
        let (positions, moves) = self.moved();
        self.model.settle(&positions, &moves);
        self.model.trail().sigma = self.sigma;
    }
}
