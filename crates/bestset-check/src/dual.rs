//! A dual point of a loss that is not the squared one (PROOF, "Other losses").

use crate::header::Sparse;
use crate::model::Model;
use crate::round::{U, axpy, down, gamma, up};

/// Slopes a of the losses with what they prove: Σ w ℓ ≥ value + Σ_j g_jb_j, each g_j within `spread`‖x̃_j‖ of ⟨x̃_j, a⟩.
pub struct Dual {
    /// w ∘ a.
    pub weighted: Vec<f64>,
    /// At most −Σ w_i(ℓ*(a_i) − a_io_i) of the exact point that is meant.
    pub value: f64,
    /// See above.
    pub spread: f64,
}

/// v of [`crate::loss::Loss::slope`] at β with about the best intercept, and what rounding did to it.
struct Predicted {
    v: Vec<f64>,
    /// At least the norm of what rounding did to v.
    error: f64,
}

impl Predicted {
    fn new(model: &Model, beta: &Sparse) -> Self {
        let mut v = model.start();
        let mut size = if model.loss.is_of_difference() { model.y_norm } else { model.offset_norm };
        for &(j, b) in beta {
            axpy(b, model.column(j), &mut v);
            size = up(size + up(model.norms[j] * b.abs()));
        }
        let b0 = intercept(model, &v);
        v.iter_mut().for_each(|v| *v += b0);
        let error = up(up(up(gamma(beta.len() + 8) * size) + model.y_error) + up(4.0 * U * model.norm(&v)));
        Self { v, error }
    }
}

/// About the b with Σ w ℓ′(v + b) = 0, from the last one that was found: Newton's steps within a bracket. Nothing rests on it.
fn intercept(model: &Model, v: &[f64]) -> f64 {
    if !model.intercept {
        return 0.0;
    }
    let (mut low, mut high, mut width) = (f64::NEG_INFINITY, f64::INFINITY, model.loss.unit());
    let mut b = model.last_intercept.get();
    for _ in 0..200 {
        let (mut slope, mut curvature) = (0.0, 0.0);
        for (i, v) in v.iter().enumerate() {
            let (s, c) = model.loss.slope(v + b, model.y[i]);
            slope += model.weight(i) * s;
            curvature += model.weight(i) * c;
        }
        if slope > 0.0 {
            high = b;
        } else {
            low = b;
        }
        let newton = b - slope / curvature;
        let next = if newton > low && newton < high && (newton - b).abs() <= 4.0 * width {
            newton
        } else if low.is_finite() && high.is_finite() {
            0.5 * (low + high)
        } else {
            width *= 4.0;
            if slope > 0.0 { b - width } else { b + width }
        };
        let is_there = slope == 0.0 || (next - b).abs() <= 4.0 * U * b.abs().max(1e-3 * width.min(1.0));
        if is_there || !next.is_finite() {
            break;
        }
        b = next;
    }
    model.last_intercept.set(b);
    b
}

impl Dual {
    /// At β.
    pub fn new(model: &Model, beta: &Sparse) -> Self {
        let predicted = Predicted::new(model, beta);
        let slope = |(i, v): (usize, &f64)| {
            let y = model.y[i];
            if model.weight(i) > 0.0 { model.loss.feasible(model.loss.slope(*v, y).0, y) } else { 0.0 }
        };
        let mut a: Vec<f64> = predicted.v.iter().enumerate().map(slope).collect();
        if model.intercept {
            balance(model, &mut a);
        }
        let (mut total, mut size) = (0.0, 0.0);
        for (i, &a) in a.iter().enumerate().filter(|p| model.weight(p.0) > 0.0) {
            let (conjugate, fixed) = (model.loss.conjugate(a, model.y[i]), a * model.offset_of(i));
            total = up(total + up(model.weight(i) * up(conjugate - down(fixed))));
            size = up(size + up(model.weight(i) * up(conjugate.abs() + up(fixed.abs()))));
        }
        let (norm, share) = (model.norm(&a), imbalance(model, &a));
        let value = down(-up(total + up(share * size)) - up(norm * model.y_error));
        Self { weighted: model.weighted(&a), value, spread: up(up(model.gamma + share) * norm) }
    }
}

/// The heavier of the positive and the negative slopes shrunk, twice, so that little is left of Σ w a.
fn balance(model: &Model, a: &mut [f64]) {
    for _ in 0..2 {
        let sum = model.sum(a);
        let heavier: f64 = (0..a.len()).filter(|&i| a[i] * sum > 0.0).map(|i| model.weight(i) * a[i]).sum();
        let kept = 1.0 - sum / heavier;
        for (i, a) in a.iter_mut().enumerate().filter(|p| *p.1 * sum > 0.0 && kept.is_finite()) {
            *a = model.loss.feasible(*a * kept, model.y[i]);
        }
    }
}

/// At least the share s by which the heavier slopes are too heavy: shrunk by it, all of them add up to zero.
fn imbalance(model: &Model, a: &[f64]) -> f64 {
    if !model.intercept {
        return 0.0;
    }
    let size: f64 = a.iter().enumerate().map(|(i, a)| model.weight(i) * a.abs()).sum();
    if size == 0.0 {
        return 0.0;
    }
    let off = up(2.0 * model.gamma * size);
    let share = up(up(model.sum(a).abs() + off) / down(0.5 * down(size - off)));
    if (0.0..1.0).contains(&share) { share } else { f64::INFINITY }
}

/// At least Σ w ℓ at β with the best intercept.
pub fn loss(model: &Model, beta: &Sparse) -> f64 {
    let Predicted { v, error } = Predicted::new(model, beta);
    let mut total = 0.0;
    for (i, &v) in v.iter().enumerate().filter(|p| model.weight(p.0) > 0.0) {
        // Convex: the larger at the ends of what v can be.
        let off = up(error / down(model.weight(i).sqrt()));
        let at = |v: f64| model.loss.value(v, model.y[i]);
        total = up(total + up(model.weight(i) * at(down(v - off)).max(at(up(v + off)))));
    }
    total
}
