//! Semismooth Newton on the dual of proximal steps, for models too ill-conditioned for coordinate descent.
//!
//! Proximal step from a centre c with metric σ_k = σ / Q_kk:
//!
//!   min_b q(b) + Σ ρ_k(b_k) + Σ (b_k − c_k)² / (2σ_k).
//!
//! Its dual Φ is smooth and concave. A dual point is kept as γ with τ = ∇q(γ); the best b for it is
//! b_k = argmin ρ_k(b) + τ_k b + (b − c_k)²/(2σ_k), ∇Φ is the image of e = b − γ, and the Newton direction is
//! δ = e − (Θ⁻¹ + Q_JJ)⁻¹(Qe)_J on J = {k: θ_k > 0}, θ = −∂b/∂τ: σ on the linear piece of ρ, σ/(1 + 2σλ2) on the quadratic.
//! The gap of the pair (b, γ) for the problem without the proximal term is ½ eᵀQe + Σ gap shares(b_k, τ_k).

use super::Limits;
use super::descend::gap_share;
use super::quadratic::Quadratic;
use crate::penalty::Coordinate;

const FIRST_SIGMA: f64 = 10.0;

/// Newton steps allowed in one proximal step.
const STEPS: usize = 30;

/// min q(β) + Σ ρ_k(β_k) over `members` until the gap is at most `tolerance`; the model is left at `beta`.
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
    let mut gap = f64::INFINITY;
    for _ in 0..100 {
        let (reached, steps) = dual.maximise(0.3 * tolerance, monitor);
        // A proximal step that was not finished is no step: try a shorter one.
        if steps < STEPS || reached < gap {
            dual.recentre();
            gap = reached;
        }
        if reached <= tolerance || monitor.stop(0).is_some() {
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
    /// γ, by place in `members`.
    dual: Vec<f64>,
    /// b, by place in `members`.
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
        let dual: Vec<f64> = members.iter().map(|&k| beta[k]).collect();
        Self { model, coordinates, members, primal: dual.clone(), dual, centre: beta, sigma: FIRST_SIGMA }
    }

    /// b for the correlation τ_k at the place `a`.
    #[inline]
    fn best(&self, a: usize, tau: f64) -> f64 {
        let k = self.members[a];
        let stiffness = self.model.curvature(k) / self.sigma;
        self.coordinates[k].prox_envelope(stiffness, stiffness * self.centre[k] - tau)
    }

    /// Newton steps on Φ until ½ eᵀQe is small beside the rest of the gap, or below `tolerance`; returns the gap.
    fn maximise(&mut self, tolerance: f64, monitor: &Limits) -> (f64, usize) {
        let mut gap = f64::INFINITY;
        for steps in 0..STEPS {
            for a in 0..self.members.len() {
                self.primal[a] = self.best(a, self.model.gradient(self.members[a]));
            }
            let (places, e): (Vec<usize>, Vec<f64>) =
                (0..self.members.len()).map(|a| (a, self.primal[a] - self.dual[a])).filter(|p| p.1 != 0.0).unzip();
            let positions: Vec<usize> = places.iter().map(|&a| self.members[a]).collect();
            let residual = 0.5 * self.model.aim(&positions, &e);
            let share = |a: usize| {
                let k = self.members[a];
                gap_share(self.coordinates[k], self.primal[a], self.model.gradient(k), self.model.curvature(k))
            };
            let shares: f64 = (0..self.members.len()).map(share).sum();
            gap = residual + shares;
            if residual <= (0.2 * shares).max(tolerance) || monitor.stop(0).is_some() || !self.newton(&places, &e) {
                return (gap, steps);
            }
        }
        (gap, STEPS)
    }

    /// One Newton step; the model's aim is at e.
    fn newton(&mut self, places: &[usize], e: &[f64]) -> bool {
        let softness = |a: usize| {
            let (k, b) = (self.members[a], self.primal[a]);
            let c = self.coordinates[k];
            let free = b != 0.0 && b > c.lower && b < c.upper;
            free.then(|| self.model.curvature(k) / self.sigma + c.envelope_piece(b).1)
        };
        let soft: Vec<(usize, f64)> =
            (0..self.members.len()).filter_map(|a| softness(a).map(|inverse| (a, inverse))).collect();
        let positions: Vec<usize> = soft.iter().map(|s| self.members[s.0]).collect();
        let inverses: Vec<f64> = soft.iter().map(|s| s.1).collect();
        let rhs: Vec<f64> = positions.iter().map(|&k| self.model.image(k)).collect();
        let Some(w) = self.model.solve(&positions, &inverses, &rhs) else {
            return false;
        };
        let mut delta = vec![0.0; self.members.len()];
        places.iter().zip(e).for_each(|(&a, e)| delta[a] = *e);
        soft.iter().zip(&w).for_each(|(s, w)| delta[s.0] -= w);
        self.move_along(&delta)
    }

    /// Moves γ by t δ with the t ≤ 1 at which Φ is highest along δ: its derivative
    /// −γᵀQδ − t δᵀQδ + Σ b_k(τ_k + t (Qδ)_k)(Qδ)_k falls in t; the constant part is the value at t = 0 less Σ b_k (Qδ)_k.
    fn move_along(&mut self, delta: &[f64]) -> bool {
        let (places, values): (Vec<usize>, Vec<f64>) = delta.iter().copied().enumerate().filter(|p| p.1 != 0.0).unzip();
        let positions: Vec<usize> = places.iter().map(|&a| self.members[a]).collect();
        let curved = self.model.aim(&positions, &values);
        let image: Vec<f64> = self.members.iter().map(|&k| self.model.image(k)).collect();
        let tau: Vec<f64> = self.members.iter().map(|&k| self.model.gradient(k)).collect();
        let fixed: f64 = image.iter().zip(&self.dual).map(|(q, g)| q * g).sum();
        let slope = |t: f64| {
            let pulled: f64 = (0..image.len())
                .filter(|&a| image[a] != 0.0)
                .map(|a| self.best(a, tau[a] + t * image[a]) * image[a])
                .sum();
            pulled - fixed - t * curved
        };
        let start = slope(0.0);
        if start <= 0.0 {
            return false;
        }
        let mut t = 1.0;
        if slope(1.0) < -0.5 * start {
            let (mut low, mut high) = (0.0, 1.0);
            for _ in 0..12 {
                t = 0.5 * (low + high);
                let s = slope(t);
                if s.abs() <= 0.3 * start {
                    break;
                }
                if s > 0.0 { low = t } else { high = t }
            }
        }
        self.model.advance(t);
        self.dual.iter_mut().zip(delta).for_each(|(g, d)| *g += t * d);
        true
    }

    /// The proximal step is done: its b is the next centre.
    fn recentre(&mut self) {
        for (a, &k) in self.members.iter().enumerate() {
            self.centre[k] = self.primal[a];
        }
    }

    /// Moves the model from γ to the coefficients.
    fn settle(self) {
        let e: Vec<f64> = self.members.iter().zip(&self.dual).map(|(&k, g)| self.centre[k] - g).collect();
        self.model.aim(self.members, &e);
        self.model.advance(1.0);
    }
}
