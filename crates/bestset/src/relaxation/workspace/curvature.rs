//! The second derivative of a loss at a point, as the models of it use it.

use crate::loss::CoupledCurvature;
use crate::relaxation::active_set::ActiveSet;
use crate::relaxation::quadratic::{Gram, Metric};

/// diag(h), or diag(h) − FᵀF for a loss over all samples together (MATH 15.2).
pub(super) struct StepCurvature {
    /// h.
    pub(super) diagonal: Vec<f64>,
    /// F.
    pub(super) less: Option<Box<dyn CoupledCurvature>>,
    /// Whether constants are left out of columns: an intercept takes them up, or the loss does not see them.
    pub(super) centred: bool,
}

/// A quadratic model of the loss over some positions of the active set.
pub(super) struct StepModel {
    /// The positions.
    pub(super) chosen: Vec<usize>,
    /// Their columns.
    pub(super) columns: ActiveSet,
    pub(super) curvature: StepCurvature,
    /// Inner products of the columns, where they are worth having.
    pub(super) gram: Option<Gram>,
}

impl StepCurvature {
    /// With a share of the diagonal, and of its mean, added: a model that steps cannot run away from.
    pub(super) fn damped(coupled: Box<dyn CoupledCurvature>, share: f64) -> Self {
        let h = coupled.diagonal();
        let mean = crate::kernel::sum(h) / h.len() as f64;
        let diagonal = h.iter().map(|h| h + share * (h + mean)).collect();
        Self { diagonal, less: Some(coupled), centred: true }
    }

    /// X̃ᵀ(diag(h) − FᵀF)X̃ over the columns, centred where that changes nothing but digits.
    pub(super) fn gram(&self, active: &ActiveSet) -> Gram {
        let (mut gram, h) = (Gram::default(), Some(self.diagonal.as_slice()));
        let metric = Metric::new(active, h, self.centred);
        gram.extend(active, h, &metric);
        if let Some(less) = &self.less {
            let (mut x, mut images) = (vec![0.0; active.nrows()], vec![0.0; active.len() * less.rank()]);
            for (k, image) in images.chunks_mut(less.rank().max(1)).enumerate() {
                x.fill(metric.shifts[k]);
                active.axpy_stored(k, 1.0, &mut x);
                less.factor(&x, image);
            }
            gram.subtract(&images, less.rank());
        }
        gram
    }
}
