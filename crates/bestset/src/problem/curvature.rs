//! The second derivative of the loss at a point, with the intercept answering.

use crate::loss::CoupledCurvature;
use crate::problem::Problem;

/// H − H1(1ᵀH1)⁻¹1ᵀH (MATH 9.12) with H = diag(w_iℓ″(u_i + b, y_i)), H itself without an intercept; diag(h) − FᵀF of a loss over all
/// samples together (MATH 15.2).
pub(crate) struct Curvature {
    each: Vec<f64>,
    /// 1ᵀH1, where there is an intercept that answers.
    total: Option<f64>,
    less: Option<Box<dyn CoupledCurvature>>,
}

impl Problem<'_> {
    /// The second derivative of the loss at u + b.
    pub(crate) fn curvature(&self, u: &[f64], b: f64) -> Curvature {
        if let Some(coupled) = self.coupled() {
            let less = coupled.curvature(u);
            return Curvature { each: less.diagonal().to_vec(), total: None, less: Some(less) };
        }
        let mut each = vec![0.0; u.len()];
        self.loss.curvatures(u, b, &self.y, self.weights(), &mut each);
        let total = self.intercept.then(|| crate::kernel::sum(&each)).filter(|total| *total > 0.0);
        Curvature { each, total, less: None }
    }
}

impl Curvature {
    /// v ← (H + FᵀF)v, and Fv as it was, which is empty where there is no F.
    pub(crate) fn multiply(&self, v: &mut [f64]) -> Vec<f64> {
        let mut image = vec![0.0; self.less.as_ref().map_or(0, |less| less.rank())];
        if let Some(less) = &self.less {
            less.factor(v, &mut image);
        }
        let mean = self.total.map_or(0.0, |total| crate::kernel::dot(&self.each, v) / total);
        v.iter_mut().zip(&self.each).for_each(|(v, h)| *v = h * (*v - mean));
        image
    }
}
