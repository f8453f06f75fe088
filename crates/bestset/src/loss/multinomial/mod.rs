//! The multinomial loss of K classes over n samples, K intercepts of its own within (MATH 16.1–16.6).
//!
//! u has K blocks of n entries: u_{ki} at k·n + i is the predictor of class k for sample i.

mod dual;
mod gram;

use crate::error::{Error, Result, check_length};
use crate::loss::{CoupledConjugate, CoupledCurvature, CoupledLoss};
use std::sync::Arc;

/// Steps for the intercepts at the most.
const STEPS: usize = 100;

/// Halvings of a Newton step at the most.
const HALVINGS: i32 = 12;

/// An intercept moves by no more than this in one step: e^30 is any odds there are.
const STRIDE: f64 = 30.0;

/// min over c of Σ_i w_i (log Σ_k e^{u_ki + c_k} − u_{y_i i} − c_{y_i}) (MATH 16.1), c = 0 without intercepts.
#[derive(Debug, Clone)]
pub(crate) struct Multinomial {
    /// y_i.
    labels: Arc<Vec<usize>>,
    classes: usize,
    intercept: bool,
    /// w_i, one each where there are none.
    weights: Vec<f64>,
    /// Σ_i w_i.
    total: f64,
    /// n_k, Σ_i w_i over the samples of each class.
    class_weights: Vec<f64>,
}

/// The probabilities at a point, its intercepts and its loss.
struct FittedClasses {
    intercepts: Vec<f64>,
    /// p_ki, at k·n + i.
    p: Vec<f64>,
    value: f64,
}

impl Multinomial {
    /// Labels are 0, …, K − 1; every class needs weight.
    pub(crate) fn new(labels: Vec<usize>, classes: usize, intercept: bool, weights: Option<&[f64]>) -> Result<Self> {
        let n = labels.len();
        if let Some(index) = labels.iter().position(|y| *y >= classes) {
            return Err(Error::Label { index, value: labels[index] as f64 });
        }
        let weights = match weights {
            Some(stacked) => {
                check_length("weights", stacked.len(), n * classes)?;
                if (n..stacked.len()).any(|at| stacked[at] != stacked[at % n]) {
                    let reason = "needs the same weight for a sample in the block of every class";
                    return Err(Error::Unsupported { method: "multinomial", reason });
                }
                stacked[..n].to_vec()
            }
            None => vec![1.0; n],
        };
        let mut class_weights = vec![0.0; classes];
        labels.iter().zip(&weights).for_each(|(&y, w)| class_weights[y] += w);
        if let Some(class) = class_weights.iter().position(|s| *s <= 0.0) {
            return Err(Error::EmptyClass { class });
        }
        let total = weights.iter().sum();
        Ok(Self { labels: Arc::new(labels), classes, intercept, weights, total, class_weights })
    }

    fn samples(&self) -> usize {
        self.labels.len()
    }

    /// y_ki.
    fn is_class(&self, k: usize, i: usize) -> f64 {
        f64::from(u8::from(self.labels[i] == k))
    }

    /// p_ki = e^{u_ki + c_k} / Σ_l e^{u_li + c_l} and the loss (MATH 16.1, 16.2), at given intercepts.
    fn at(&self, u: &[f64], intercepts: Vec<f64>) -> FittedClasses {
        let (n, mut p, mut value) = (self.samples(), vec![0.0; u.len()], 0.0);
        for i in (0..n).filter(|&i| self.weights[i] > 0.0) {
            let score = |k: usize| u[k * n + i] + intercepts[k];
            let most = (0..self.classes).map(score).fold(f64::NEG_INFINITY, f64::max);
            let mut sum = 0.0;
            for k in 0..self.classes {
                p[k * n + i] = (score(k) - most).exp();
                sum += p[k * n + i];
            }
            (0..self.classes).for_each(|k| p[k * n + i] /= sum);
            value += self.weights[i] * (sum.ln() + (most - score(self.labels[i])));
        }
        FittedClasses { intercepts, p, value }
    }

    /// The best intercepts (MATH 16.3): Newton's steps, or where one does not lower the loss c_k + log(n_k/Σ_i w_ip_ki), which does.
    fn fit(&self, u: &[f64]) -> FittedClasses {
        let mut at = self.at(u, vec![0.0; self.classes]);
        if !self.intercept {
            return at;
        }
        let mut off = self.imbalance(&at.p);
        for _ in 0..STEPS {
            if off <= 2.0 * f64::EPSILON * self.total {
                break;
            }
            let newton = self.newton(&at.p).into_iter().flat_map(|step| {
                let halved = move |k: i32| step.iter().map(|s| s.clamp(-STRIDE, STRIDE) * 0.5f64.powi(k)).collect();
                (0..HALVINGS).map(halved).collect::<Vec<Vec<f64>>>()
            });
            let scaling =
                std::iter::once_with(|| self.scaling(&at.p).iter().map(|s| s.clamp(-STRIDE, STRIDE)).collect());
            let moved = newton.chain(scaling).find_map(|step: Vec<f64>| {
                let next = self.at(u, at.intercepts.iter().zip(step).map(|(c, s)| c + s).collect());
                let (own, digits) = (self.imbalance(&next.p), 1e-13 * (at.value.abs() + self.total));
                let is_better = next.value < at.value - digits || (next.value <= at.value + digits && own < off);
                is_better.then_some((next, own))
            });
            let Some(next) = moved else { break };
            (at, off) = next;
        }
        let mean = at.intercepts.iter().sum::<f64>() / self.classes as f64;
        at.intercepts.iter_mut().for_each(|c| *c -= mean);
        at
    }

    /// Σ_i w_ip_ki of every class.
    fn expected(&self, p: &[f64]) -> Vec<f64> {
        p.chunks(self.samples()).map(|p| crate::kernel::dot(p, &self.weights)).collect()
    }

    /// max_k |Σ_i w_i(p_ki − y_ki)|.
    fn imbalance(&self, p: &[f64]) -> f64 {
        self.expected(p).iter().zip(&self.class_weights).map(|(m, s)| (m - s).abs()).fold(0.0, f64::max)
    }

    fn scaling(&self, p: &[f64]) -> Vec<f64> {
        self.expected(p).iter().zip(&self.class_weights).map(|(m, s)| (s / m.max(f64::MIN_POSITIVE)).ln()).collect()
    }

    fn newton(&self, p: &[f64]) -> Option<Vec<f64>> {
        let right: Vec<f64> = self.expected(p).iter().zip(&self.class_weights).map(|(m, s)| s - m).collect();
        let lower = factor(self.between(p), self.classes)?;
        Some(backward(&lower, self.classes, &forward(&lower, self.classes, &right)))
    }

    /// ZᵀHZ + (Σw/K)11ᵀ (MATH 16.3), which has the inverse of ZᵀHZ on sums of zero, with the last digits added to its diagonal.
    fn between(&self, p: &[f64]) -> Vec<f64> {
        let (n, classes, mut form) = (self.samples(), self.classes, vec![0.0; self.classes * self.classes]);
        for k in 0..classes {
            for l in 0..=k {
                let both = (0..n).map(|i| self.weights[i] * p[k * n + i] * p[l * n + i]).sum::<f64>();
                let own = if k == l { (0..n).map(|i| self.weights[i] * p[k * n + i]).sum::<f64>() } else { 0.0 };
                let digits = if k == l { f64::EPSILON * self.total } else { 0.0 };
                form[k * classes + l] = own - both + self.total / classes as f64 + digits;
                form[l * classes + k] = form[k * classes + l];
            }
        }
        form
    }
}

impl CoupledLoss for Multinomial {
    fn nrows(&self) -> usize {
        self.samples() * self.classes
    }

    fn weighted(&self, weights: Option<&[f64]>) -> Result<Arc<dyn CoupledLoss>> {
        Ok(Arc::new(Self::new(self.labels.to_vec(), self.classes, self.intercept, weights)?))
    }

    fn value(&self, u: &[f64]) -> f64 {
        self.fit(u).value
    }

    fn size(&self, u: &[f64], sizes: &[f64]) -> f64 {
        let (n, at) = (self.samples(), self.fit(u));
        let of = |i: usize| {
            let each = (0..self.classes).map(|k| (u[k * n + i] + at.intercepts[k]).abs().max(sizes[k * n + i]));
            self.weights[i] * (1.0 + 4.0 * each.fold(0.0, f64::max))
        };
        at.value.abs() + (0..n).map(of).sum::<f64>()
    }

    /// α_ki = w_i(p_ki − y_ki) (MATH 16.2), with what rounding leaves of Σ_i α_ki taken out.
    fn gradient(&self, u: &[f64], alpha: &mut [f64]) {
        let (n, at) = (self.samples(), self.fit(u));
        for k in 0..self.classes {
            (0..n).for_each(|i| alpha[k * n + i] = self.weights[i] * (at.p[k * n + i] - self.is_class(k, i)));
        }
        self.balance(alpha);
    }

    fn curvature(&self, u: &[f64]) -> Box<dyn CoupledCurvature> {
        let at = self.fit(u);
        let diagonal =
            at.p.chunks(self.samples()).flat_map(|p| p.iter().zip(&self.weights).map(|(p, w)| p * w)).collect();
        let lower = self.intercept.then(|| factor(self.between(&at.p), self.classes)).flatten();
        let roots = self.weights.iter().map(|w| w.sqrt()).collect();
        Box::new(MultinomialCurvature { diagonal, p: at.p, roots, lower, classes: self.classes })
    }

    /// ¼Σ_i w_i (max_k x_ki − min_k x_ki)² (MATH 16.4).
    fn steepest(&self, x: &[f64]) -> f64 {
        let n = self.samples();
        let range = |i: usize| {
            let each = (0..self.classes).map(|k| x[k * n + i]);
            let ends = each.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)));
            ends.1 - ends.0
        };
        (0..n).filter(|&i| self.weights[i] > 0.0).map(|i| 0.25 * self.weights[i] * range(i).powi(2)).sum()
    }

    fn conjugate(&self, alpha: &[f64]) -> Option<CoupledConjugate> {
        self.conjugate_near(alpha)
    }

    fn project(&self, alpha: &mut [f64]) {
        self.enter_domain(alpha);
    }

    fn counted(&self) -> (f64, f64) {
        (self.weights.iter().filter(|w| **w > 0.0).count() as f64, self.total)
    }

    fn classes(&self) -> usize {
        self.classes
    }

    fn kind(&self, i: usize) -> usize {
        self.labels[i]
    }

    fn value_with(&self, u: &[f64], intercepts: &[f64]) -> f64 {
        self.at(u, intercepts.to_vec()).value
    }

    fn has_intercepts(&self) -> bool {
        self.intercept
    }

    fn intercepts(&self, u: &[f64]) -> Vec<f64> {
        self.fit(u).intercepts
    }
}

/// ∇²L = diag(wp) − FᵀF (MATH 16.3): a row √w_ip_i for every sample, and K more for the intercepts.
struct MultinomialCurvature {
    diagonal: Vec<f64>,
    p: Vec<f64>,
    roots: Vec<f64>,
    /// The Cholesky factor of ZᵀHZ + (Σw/K)11ᵀ, with a little on its diagonal, where intercepts answer.
    lower: Option<Vec<f64>>,
    classes: usize,
}

impl CoupledCurvature for MultinomialCurvature {
    fn diagonal(&self) -> &[f64] {
        &self.diagonal
    }

    fn rank(&self) -> usize {
        self.roots.len() + self.lower.as_ref().map_or(0, |_| self.classes)
    }

    fn factor(&self, x: &[f64], out: &mut [f64]) {
        let (own, answers) = out.split_at_mut(self.roots.len());
        own.copy_from_slice(&self.means(x));
        if let Some(lower) = &self.lower {
            let mut image = x.to_vec();
            self.plain(&mut image);
            let sums: Vec<f64> = image.chunks(own.len()).map(crate::kernel::sum).collect();
            answers.copy_from_slice(&forward(lower, self.classes, &sums));
        }
        own.iter_mut().zip(&self.roots).for_each(|(o, r)| *o *= r);
    }

    fn multiply(&self, v: &mut [f64]) {
        self.plain(v);
        let (n, Some(lower)) = (self.roots.len(), &self.lower) else { return };
        let sums: Vec<f64> = v.chunks(n).map(crate::kernel::sum).collect();
        let answers = backward(lower, self.classes, &forward(lower, self.classes, &sums));
        let mut constant: Vec<f64> = answers.iter().flat_map(|a| std::iter::repeat_n(*a, n)).collect();
        self.plain(&mut constant);
        v.iter_mut().zip(constant).for_each(|(v, c)| *v -= c);
    }

    fn per_class(&self, x: &[f64], is_cut: &dyn Fn() -> bool) -> Option<Vec<f64>> {
        self.gram(x, is_cut)
    }
}

impl MultinomialCurvature {
    /// Σ_k p_kix_ki of every sample.
    fn means(&self, x: &[f64]) -> Vec<f64> {
        let n = self.roots.len();
        let mut means = vec![0.0; n];
        for (p, x) in self.p.chunks(n).zip(x.chunks(n)) {
            means.iter_mut().zip(p.iter().zip(x)).for_each(|(m, (p, x))| *m += p * x);
        }
        means
    }

    /// v ← Hv with H = diag(wp) − Σ_i w_ip_ip_iᵀ, the intercepts as they are.
    fn plain(&self, v: &mut [f64]) {
        let means = self.means(v);
        for (v, h) in v.chunks_mut(means.len()).zip(self.diagonal.chunks(means.len())) {
            v.iter_mut().zip(h.iter().zip(&means)).for_each(|(v, (h, m))| *v = h * (*v - m));
        }
    }
}

/// The lower Cholesky factor of a small matrix, row by row.
fn factor(mut form: Vec<f64>, size: usize) -> Option<Vec<f64>> {
    for k in 0..size {
        for l in 0..=k {
            let sum: f64 = (0..l).map(|m| form[k * size + m] * form[l * size + m]).sum();
            let left = form[k * size + l] - sum;
            if k == l && (left.is_nan() || left <= 0.0) {
                return None;
            }
            form[k * size + l] = if k == l { left.sqrt() } else { left / form[l * size + l] };
        }
    }
    Some(form)
}

fn forward(lower: &[f64], size: usize, right: &[f64]) -> Vec<f64> {
    let mut out = right.to_vec();
    for k in 0..size {
        let sum: f64 = (0..k).map(|l| lower[k * size + l] * out[l]).sum();
        out[k] = (out[k] - sum) / lower[k * size + k];
    }
    out
}

fn backward(lower: &[f64], size: usize, right: &[f64]) -> Vec<f64> {
    let mut out = right.to_vec();
    for k in (0..size).rev() {
        let sum: f64 = (k + 1..size).map(|l| lower[l * size + k] * out[l]).sum();
        out[k] = (out[k] - sum) / lower[k * size + k];
    }
    out
}
