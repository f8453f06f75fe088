//! A quadratic model of the loss on the active set, at a moving point.
//!
//! L̃(β) = ½ (β − β°)ᵀ Q (β − β°) + gᵀ(β − β°) with Q = X̃ᵀHX̃, H = diag(w ℓ″) and X̃ the active columns, centred with the
//! weights H when there is an intercept (which eliminates it). For the squared loss L̃ is the loss itself.

mod gram;
mod gram_model;
mod residual;

pub use gram::Gram;
pub use gram_model::GramModel;
pub use residual::ResidualModel;

use crate::relaxation::active_set::ActiveSet;

/// L̃ at a moving point β, which the caller keeps. Positions k are those of the active set.
pub trait Quadratic {
    /// Number of coefficients.
    fn len(&self) -> usize;

    /// Whether there is none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Q_kk.
    fn curvature(&self, k: usize) -> f64;

    /// ∂L̃/∂β_k at the current point.
    fn gradient(&self, k: usize) -> f64;

    /// Moves the point: β_k += delta.
    fn step(&mut self, k: usize, delta: f64);

    /// Approximately solves (Q_MM + diag(`diagonal`)) d = `rhs` on the positions M = `members`.
    fn solve(&mut self, members: &[usize], diagonal: &[f64], rhs: &[f64]) -> Option<Vec<f64>>;

    /// Prepares a move along d (on `members`) and returns dᵀQd.
    fn aim(&mut self, members: &[usize], d: &[f64]) -> f64;

    /// (Qd)_k for the direction of the last [`Quadratic::aim`].
    fn image(&self, k: usize) -> f64;

    /// Moves the point by t times the direction of the last [`Quadratic::aim`], [`Quadratic::head`] or [`Quadratic::damp`].
    fn advance(&mut self, t: f64);

    /// Leaves the coefficients for a point of the dual: from here on the point is one vector of gradients among others, to
    /// start with that of the last `Trail` if there is one. [`Quadratic::settle`] returns to coefficients.
    fn depart(&mut self);

    /// Prepares the move e to the coefficients that are d (on `members`) away from where [`Quadratic::depart`] was called;
    /// returns eᵀQe.
    fn head(&mut self, members: &[usize], d: &[f64]) -> f64;

    /// Shortens the move e of the last [`Quadratic::head`] to δ = (Id + Θ_MQ)⁻¹e (MATH 7.3), approximately, with Θ⁻¹ = `inverses` on
    /// the positions M = `members` and Θ = 0 elsewhere; returns eᵀQδ and δᵀQδ.
    fn damp(&mut self, members: &[usize], inverses: &[f64]) -> Option<(f64, f64)>;

    /// Moves to the coefficients d away from the point of departure, and leaves the dual point in the trail.
    fn settle(&mut self, members: &[usize], d: &[f64]);

    /// What the dual method left for its next call.
    fn trail(&mut self) -> &mut Trail;
}

/// Where the dual method ended: its next call on nearly the same problem goes on from there.
#[derive(Debug, Clone, Default)]
pub struct Trail {
    /// Length of the last proximal step, zero before the first.
    pub sigma: f64,
    /// The dual point, one entry for each sample; empty where there is none.
    pub dual: Vec<f64>,
}

/// Weights of the samples and the shift of each active column under which columns are used: x̃_k = x_k + shift_k.
///
/// With an intercept the shift is −(Σ h x_k)/(Σ h): the model is then minimised over the intercept at once.
#[derive(Debug, Clone)]
pub struct Metric {
    /// Σ h_i.
    pub total: f64,
    /// Σ_i h_i x_ik of the stored part of column k.
    pub sums: Vec<f64>,
    /// What is added to the stored part of column k.
    pub shifts: Vec<f64>,
}

impl Metric {
    /// Weights `h` (one if `None`) and the columns of `active`.
    pub fn new(active: &ActiveSet, h: Option<&[f64]>, intercept: bool) -> Self {
        let mut metric =
            Self { total: h.map_or(active.nrows() as f64, crate::kernel::sum), sums: Vec::new(), shifts: Vec::new() };
        metric.extend(active, h, intercept);
        metric
    }

    /// Takes in the columns added to `active` since.
    pub fn extend(&mut self, active: &ActiveSet, h: Option<&[f64]>, intercept: bool) {
        for k in self.sums.len()..active.len() {
            let sum = match h {
                Some(h) => active.dot_stored(k, h),
                None => crate::kernel::sum(active.entries(k).1),
            };
            self.sums.push(sum);
            self.shifts.push(match intercept {
                true if self.total > 0.0 => -sum / self.total,
                true => 0.0,
                false => active.shift(k),
            });
        }
    }

    /// Forgets the columns that `keep` drops.
    pub fn retain(&mut self, keep: &[bool]) {
        let mut marks = keep.iter();
        self.sums.retain(|_| *marks.next().unwrap_or(&false));
        let mut marks = keep.iter();
        self.shifts.retain(|_| *marks.next().unwrap_or(&false));
    }
}
