//! The conjugate of the multinomial loss (MATH 16.5, 16.6), as a number that rounding cannot have lowered, and its domain.

use super::Multinomial;
use crate::kernel::compensated::accurate_sum;
use crate::loss::CoupledConjugate;

/// A point further than this from a probability is outside the domain.
const NEAR: f64 = 1e-9;

impl Multinomial {
    /// L*(α″) = Σ_i w_i Σ_k p_ki log p_ki (MATH 16.5) at the point α″ of the domain next to α (MATH 16.6), or more.
    pub(super) fn conjugate_near(&self, alpha: &[f64]) -> Option<CoupledConjugate> {
        let (n, classes) = (self.samples(), self.classes as f64);
        let digits = (classes + 4.0) * f64::EPSILON;
        let (mut value, mut size, mut paid, mut farthest) = (0.0, 0.0, 0.0, 0.0f64);
        let mut off = vec![0.0; self.classes];
        for i in 0..n {
            let w = self.weights[i];
            if w == 0.0 {
                if (0..self.classes).any(|k| alpha[k * n + i] != 0.0) {
                    return None;
                }
                continue;
            }
            let (mut sum, mut entropy, mut lost) = (0.0, 0.0, 0.0f64);
            for k in 0..self.classes {
                let p = alpha[k * n + i] / w + self.is_class(k, i);
                if p.is_nan() || p < -NEAR {
                    return None;
                }
                // Below zero by rounding is zero; what that moves is counted.
                lost = lost.max(-p);
                let p = p.max(0.0);
                sum += p;
                entropy += if p > 0.0 { p * p.ln() } else { 0.0 };
            }
            // α′ has p/Σp in place of p.
            let moved = 1.1 * ((sum - 1.0).abs() + lost.max(0.0) + digits);
            if moved.is_nan() || moved > NEAR {
                return None;
            }
            value += w * entropy;
            size += w * (entropy.abs() + 1.0);
            paid += w * moved * (1.0 + classes.ln() + entropy.abs());
            farthest = farthest.max(moved);
            off.iter_mut().for_each(|o| *o += w * moved);
        }
        let mut blend = 0.0f64;
        if self.intercept {
            for (k, block) in alpha.chunks(n).enumerate() {
                let sum = accurate_sum(block.iter().copied()).abs() + off[k];
                blend = blend.max(1.1 * sum / self.class_weights[k]);
            }
        }
        if blend.is_nan() || blend > 1e-6 {
            return None;
        }
        paid += blend * self.total * classes.ln();
        let reach = (0..alpha.len()).map(|at| self.weights[at % n] * (1.0 + 4.0 * NEAR)).collect();
        Some(CoupledConjugate { value: value + 1.1 * paid, size: size + paid, moved: 1.1 * (farthest + blend), reach })
    }

    /// α ← (1 − θ)α + θα^c (MATH 16.6): Σ_i α_ki = 0 for every class, α in the domain before and after.
    pub(super) fn balance(&self, alpha: &mut [f64]) {
        if !self.intercept {
            return;
        }
        let n = self.samples();
        let off: Vec<f64> = alpha.chunks(n).map(|block| accurate_sum(block.iter().copied())).collect();
        // Σ_k off_k = 0, as every sample's sum is: the largest off_k/n_k is no less than zero.
        let ratio = off.iter().zip(&self.class_weights).map(|(d, s)| d / s).fold(0.0, f64::max);
        let theta = ratio / (1.0 + ratio);
        if !theta.is_finite() {
            return;
        }
        for (k, block) in alpha.chunks_mut(n).enumerate() {
            let share = self.class_weights[k] / self.total;
            for (i, a) in block.iter_mut().enumerate().filter(|(i, _)| self.weights[*i] > 0.0) {
                let w = self.weights[i];
                *a = (1.0 - theta) * *a
                    + w * (theta * (share - self.is_class(k, i)) - (1.0 - theta) * off[k] / self.total);
            }
        }
    }

    /// The nearest probabilities of every sample to α_i/w_i + y_i, then [`Multinomial::balance`].
    pub(super) fn enter_domain(&self, alpha: &mut [f64]) {
        let n = self.samples();
        for i in 0..n {
            let w = self.weights[i];
            if w == 0.0 {
                (0..self.classes).for_each(|k| alpha[k * n + i] = 0.0);
                continue;
            }
            let q: Vec<f64> = (0..self.classes).map(|k| alpha[k * n + i] / w + self.is_class(k, i)).collect();
            let is_inside = q.iter().all(|q| *q >= 0.0) && (q.iter().sum::<f64>() - 1.0).abs() <= 1e-14;
            if !is_inside {
                let p = nearest_probabilities(&q);
                (0..self.classes).for_each(|k| alpha[k * n + i] = w * (p[k] - self.is_class(k, i)));
            }
        }
        self.balance(alpha);
    }
}

/// argmin ‖p − q‖ over p ≥ 0, Σp = 1: (q − υ)₊ with the υ that sums to one.
fn nearest_probabilities(q: &[f64]) -> Vec<f64> {
    let mut sorted: Vec<f64> = q.iter().map(|q| if q.is_finite() { q.clamp(-1e100, 1e100) } else { 0.0 }).collect();
    sorted.sort_by(|a, b| b.total_cmp(a));
    let (mut sum, mut shift) = (0.0, sorted[0] - 1.0);
    for (k, x) in sorted.iter().enumerate() {
        sum += x;
        let candidate = (sum - 1.0) / (k + 1) as f64;
        if *x > candidate {
            shift = candidate;
        }
    }
    let p: Vec<f64> = q.iter().map(|q| if q.is_finite() { (q - shift).max(0.0) } else { 0.0 }).collect();
    let total: f64 = p.iter().sum();
    if total > 0.0 { p.iter().map(|p| p / total).collect() } else { vec![1.0 / q.len() as f64; q.len()] }
}
