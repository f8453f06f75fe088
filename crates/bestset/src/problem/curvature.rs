//! The second derivative of the loss at a point, with the intercept answering.

use crate::loss::CoupledCurvature;
use crate::problem::Problem;

/// H − H1(1ᵀH1)⁻¹1ᵀH (MATH 9.12) with H = diag(w_iℓ″(u_i + b, y_i)); H itself without an intercept.
pub(crate) struct Curvature {
    each: Vec<f64>,
    /// 1ᵀH1, where there is an intercept that answers.
    total: Option<f64>,
    /// Of a loss over all samples together.
    coupled: Option<Box<dyn CoupledCurvature>>,
}

impl Problem<'_> {
    /// The second derivative of the loss at u + b.
    pub(crate) fn curvature(&self, u: &[f64], b: f64) -> Curvature {
        if let Some(coupled) = self.coupled() {
            return Curvature { each: Vec::new(), total: None, coupled: Some(coupled.curvature(u)) };
        }
        let mut each = vec![0.0; u.len()];
        self.loss.curvatures(u, b, &self.y, self.weights(), &mut each);
        let total = self.intercept.then(|| crate::kernel::sum(&each)).filter(|total| *total > 0.0);
        Curvature { each, total, coupled: None }
    }

    /// w_iℓ′(u_i + b, y_i) (MATH 3.7), the intercept as it is; or ∇L(u) of a loss over all samples together.
    pub(crate) fn derivatives(&self, u: &[f64], b: f64, out: &mut [f64]) {
        match self.coupled() {
            Some(coupled) => coupled.gradient(u, out),
            None => self.loss.derivatives(u, b, &self.y, self.weights(), out),
        }
    }
}

impl Curvature {
    /// v ← Hv.
    pub(crate) fn multiply(&self, v: &mut [f64]) {
        if let Some(coupled) = &self.coupled {
            return coupled.multiply(v);
        }
        let mean = self.total.map_or(0.0, |total| crate::kernel::dot(&self.each, v) / total);
        v.iter_mut().zip(&self.each).for_each(|(v, h)| *v = h * (*v - mean));
    }

    /// As [`CoupledCurvature::per_class`].
    pub(crate) fn per_class(&self, x: &[f64], is_cut: &dyn Fn() -> bool) -> Option<Vec<f64>> {
        self.coupled.as_ref()?.per_class(x, is_cut)
    }

    /// xᵀHx; x is centred on the way, which H does not see where an intercept answers.
    pub(crate) fn square(&self, x: &mut [f64]) -> f64 {
        let Some(coupled) = &self.coupled else {
            let mean = self.total.map_or(0.0, |total| crate::kernel::dot(&self.each, x) / total);
            return self.each.iter().zip(x.iter()).map(|(h, x)| h * (x - mean) * (x - mean)).sum();
        };
        let (h, mut image) = (coupled.diagonal(), vec![0.0; coupled.rank()]);
        let mean = crate::kernel::dot(h, x) / crate::kernel::sum(h);
        // Losses over all samples do not see constants.
        x.iter_mut().filter(|_| mean.is_finite()).for_each(|x| *x -= mean);
        coupled.factor(x, &mut image);
        h.iter().zip(x.iter()).map(|(h, x)| h * x * x).sum::<f64>() - crate::kernel::squares(&image)
    }
}
