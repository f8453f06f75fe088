//! The model through the samples: a step costs one column of X, whatever the number of features.

use crate::kernel;
use crate::relaxation::active_set::ActiveSet;
use crate::relaxation::quadratic::{Metric, Quadratic, Trail};

/// L̃ held as the vector v with gradient_k = x̃_kᵀ v.
///
/// v = stored + offset·h: adding a multiple of a shifted sparse column changes only its stored rows and one number.
#[derive(Debug)]
pub struct ResidualModel<'a> {
    active: &'a ActiveSet,
    metric: &'a Metric,
    h: Option<&'a [f64]>,
    curvatures: Vec<f64>,
    stored: Vec<f64>,
    stored_sum: f64,
    offset: f64,
    image: Vec<f64>,
    image_sum: f64,
    image_offset: f64,
    /// v at the point of departure.
    origin: Vec<f64>,
    trail: Trail,
}

impl<'a> ResidualModel<'a> {
    /// The model at the point whose dual vector is `alpha` = w ℓ′.
    pub fn new(active: &'a ActiveSet, metric: &'a Metric, h: Option<&'a [f64]>, alpha: &[f64]) -> Self {
        let curvatures = (0..active.len()).map(|k| curvature(active, metric, h, k)).collect();
        let (stored, stored_sum) = (alpha.to_vec(), kernel::sum(alpha));
        let image = vec![0.0; alpha.len()];
        Self {
            active,
            metric,
            h,
            curvatures,
            stored,
            stored_sum,
            offset: 0.0,
            image,
            image_sum: 0.0,
            image_offset: 0.0,
            origin: Vec::new(),
            trail: Trail::default(),
        }
    }

    /// The same, going on from where the dual method ended before.
    pub fn on_trail(self, trail: Trail) -> Self {
        Self { trail, ..self }
    }

    /// Σ u_i v_i / h_i, in which images have the inner product of Q.
    fn inner(&self, u: &[f64], v: &[f64]) -> f64 {
        match self.h {
            None => kernel::dot(u, v),
            Some(h) => u.iter().zip(v).zip(h).filter(|p| *p.1 > 0.0).map(|((u, v), h)| u * v / h).sum(),
        }
    }

    /// out += h ∘ (x + c·1).
    fn weigh(&self, x: &[f64], c: f64, out: &mut [f64]) {
        match self.h {
            None => out.iter_mut().zip(x).for_each(|(o, x)| *o += x + c),
            Some(h) => out.iter_mut().zip(x).zip(h).for_each(|((o, x), h)| *o += h * (x + c)),
        }
    }

    /// The diagonal 1 + h_i Σ_k θ_k x̃_ik² of I + H X̃ΘX̃ᵀ.
    fn diagonal(&self, members: &[usize], theta: &[f64]) -> Vec<f64> {
        let (mut sums, mut everywhere) = (vec![0.0; self.stored.len()], 0.0);
        for (&k, &t) in members.iter().zip(theta) {
            let ((rows, values), shift) = (self.active.entries(k), self.metric.shifts[k]);
            if self.active.is_sparse() {
                everywhere += t * shift * shift;
                rows.iter().zip(values).for_each(|(&i, x)| sums[i as usize] += t * x * (x + 2.0 * shift));
            } else {
                sums.iter_mut().zip(values).for_each(|(s, x)| *s += t * (x + shift) * (x + shift));
            }
        }
        let mut diagonal = vec![1.0; sums.len()];
        self.weigh(&sums, everywhere, &mut diagonal);
        diagonal
    }

    /// d = (Id + H X̃ΘX̃ᵀ)⁻¹ g by conjugate gradients in the inner product of [`ResidualModel::inner`], with the diagonal as
    /// preconditioner, until the square of the residual is below `share` of what it was. Over the samples, not over the
    /// coefficients, where a rough solution would not do: there d is a small difference of large terms.
    fn damped(&self, members: &[usize], theta: &[f64], g: &[f64], share: f64) -> Vec<f64> {
        let diagonal = self.diagonal(members, theta);
        let (mut d, mut r) = (vec![0.0; g.len()], g.to_vec());
        let mut z: Vec<f64> = r.iter().zip(&diagonal).map(|(r, s)| r / s).collect();
        let (mut p, mut rz) = (z.clone(), self.inner(&r, &z));
        let target = share * rz;
        let mut raw = vec![0.0; g.len()];
        for _ in 0..500 {
            let (sum, mut offset) = (kernel::sum(&p), 0.0);
            raw.fill(0.0);
            for (&k, t) in members.iter().zip(theta) {
                let x = t * self.product(k, &p, sum, 0.0);
                self.active.axpy_stored(k, x, &mut raw);
                offset += x * self.metric.shifts[k];
            }
            let mut image = p.clone();
            self.weigh(&raw, offset, &mut image);
            let curved = self.inner(&p, &image);
            if !(curved > 0.0 && rz > target) {
                break;
            }
            let a = rz / curved;
            kernel::axpy(a, &p, &mut d);
            kernel::axpy(-a, &image, &mut r);
            z.iter_mut().zip(&r).zip(&diagonal).for_each(|((z, r), s)| *z = r / s);
            let next = self.inner(&r, &z);
            let ratio = next / rz;
            p.iter_mut().zip(&z).for_each(|(p, z)| *p = z + ratio * *p);
            rz = next;
        }
        d
    }

    /// x̃_kᵀ (v + c·h) for a vector v with Σv = `sum`.
    #[inline]
    fn product(&self, k: usize, v: &[f64], sum: f64, offset: f64) -> f64 {
        let stored = self.active.dot_stored(k, v) + offset * self.metric.sums[k];
        stored + self.metric.shifts[k] * (sum + offset * self.metric.total)
    }

    /// out += a (h ∘ stored part of x_k).
    #[inline]
    fn scatter(active: &ActiveSet, h: Option<&[f64]>, k: usize, a: f64, out: &mut [f64]) {
        let (rows, values) = active.entries(k);
        match h {
            None => active.axpy_stored(k, a, out),
            Some(h) if active.is_sparse() => {
                for (&i, x) in rows.iter().zip(values) {
                    out[i as usize] += a * h[i as usize] * x;
                }
            }
            Some(h) => kernel::axpy_weighted(a, values, h, out),
        }
    }
}

/// Σ_i h_i (x_ik + shift_k)².
fn curvature(active: &ActiveSet, metric: &Metric, h: Option<&[f64]>, k: usize) -> f64 {
    let (rows, values) = active.entries(k);
    let shift = metric.shifts[k];
    let weight = |e: usize| h.map_or(1.0, |h| h[if active.is_sparse() { rows[e] as usize } else { e }]);
    let (mut inside, mut total) = (0.0, 0.0);
    for (e, x) in values.iter().enumerate() {
        let w = weight(e);
        inside += w;
        total += w * (x + shift) * (x + shift);
    }
    let outside = if active.is_sparse() { (metric.total - inside).max(0.0) } else { 0.0 };
    total + outside * shift * shift
}

impl Quadratic for ResidualModel<'_> {
    fn len(&self) -> usize {
        self.active.len()
    }

    #[inline]
    fn curvature(&self, k: usize) -> f64 {
        self.curvatures[k]
    }

    #[inline]
    fn gradient(&self, k: usize) -> f64 {
        self.product(k, &self.stored, self.stored_sum, self.offset)
    }

    #[inline]
    fn step(&mut self, k: usize, delta: f64) {
        Self::scatter(self.active, self.h, k, delta, &mut self.stored);
        self.stored_sum += delta * self.metric.sums[k];
        self.offset += delta * self.metric.shifts[k];
    }

    /// Conjugate gradients with the diagonal as preconditioner, stopped early: the caller searches along the result.
    fn solve(&mut self, members: &[usize], diagonal: &[f64], rhs: &[f64]) -> Option<Vec<f64>> {
        let scale: Vec<f64> =
            members.iter().zip(diagonal).map(|(&k, d)| 1.0 / (self.curvatures[k] + d).max(f64::MIN_POSITIVE)).collect();
        let mut d = vec![0.0; rhs.len()];
        let mut r = rhs.to_vec();
        let mut z: Vec<f64> = r.iter().zip(&scale).map(|(r, s)| r * s).collect();
        let mut p = z.clone();
        let mut rz = kernel::dot(&r, &z);
        let target = 1e-6 * rz;
        for _ in 0..60 {
            let curved = self.aim(members, &p) + p.iter().zip(diagonal).map(|(p, d)| p * p * d).sum::<f64>();
            if !(curved > 0.0 && rz > target) {
                break;
            }
            let a = rz / curved;
            for (e, &k) in members.iter().enumerate() {
                let qp = self.image(k) + diagonal[e] * p[e];
                d[e] += a * p[e];
                r[e] -= a * qp;
            }
            z.iter_mut().zip(&r).zip(&scale).for_each(|((z, r), s)| *z = r * s);
            let next = kernel::dot(&r, &z);
            let ratio = next / rz;
            p.iter_mut().zip(&z).for_each(|(p, z)| *p = z + ratio * *p);
            rz = next;
        }
        d.iter().all(|x| x.is_finite()).then_some(d)
    }

    fn aim(&mut self, members: &[usize], d: &[f64]) -> f64 {
        self.image.fill(0.0);
        self.image_offset = 0.0;
        for (&k, &x) in members.iter().zip(d) {
            Self::scatter(self.active, self.h, k, x, &mut self.image);
            self.image_offset += x * self.metric.shifts[k];
        }
        self.image_sum = kernel::sum(&self.image);
        // Σ (h ∘ Xd)² / h = dᵀQd; the part of the offset follows from the sums already known.
        let square = |h: Option<&[f64]>, v: &[f64]| match h {
            None => kernel::squared_norm(v),
            Some(h) => v.iter().zip(h).filter(|p| *p.1 > 0.0).map(|(v, h)| v * v / h).sum(),
        };
        let (c, total) = (self.image_offset, self.metric.total);
        square(self.h, &self.image) + 2.0 * c * self.image_sum + c * c * total
    }

    #[inline]
    fn image(&self, k: usize) -> f64 {
        self.product(k, &self.image, self.image_sum, self.image_offset)
    }

    fn advance(&mut self, t: f64) {
        kernel::axpy(t, &self.image, &mut self.stored);
        self.stored_sum += t * self.image_sum;
        self.offset += t * self.image_offset;
    }

    fn depart(&mut self) {
        let mut v = std::mem::take(&mut self.stored);
        self.weigh(&vec![0.0; v.len()], self.offset, &mut v);
        self.origin = v;
        let resumed = self.trail.dual.len() == self.origin.len();
        self.stored = if resumed { std::mem::take(&mut self.trail.dual) } else { self.origin.clone() };
        (self.stored_sum, self.offset) = (kernel::sum(&self.stored), 0.0);
    }

    fn head(&mut self, members: &[usize], d: &[f64]) -> f64 {
        let (mut raw, mut offset) = (vec![0.0; self.origin.len()], 0.0);
        for (&k, &x) in members.iter().zip(d) {
            self.active.axpy_stored(k, x, &mut raw);
            offset += x * self.metric.shifts[k];
        }
        let mut image: Vec<f64> = self.origin.iter().zip(&self.stored).map(|(o, v)| o - v).collect();
        self.weigh(&raw, offset, &mut image);
        (self.image_sum, self.image_offset) = (kernel::sum(&image), 0.0);
        self.image = image;
        self.inner(&self.image, &self.image)
    }

    /// The image d of δ of (MATH 7.3): (Id + H X̃_MΘX̃_Mᵀ) d = image of e.
    fn damp(&mut self, members: &[usize], inverses: &[f64]) -> Option<(f64, f64)> {
        let theta: Vec<f64> = inverses.iter().map(|i| 1.0 / i).collect();
        // To a tenth: the caller searches along the result.
        let d = self.damped(members, &theta, &self.image, 0.01);
        if !d.iter().all(|x| x.is_finite()) {
            return None;
        }
        let along = self.inner(&self.image, &d);
        self.image_sum = kernel::sum(&d);
        self.image = d;
        Some((along, self.inner(&self.image, &self.image)))
    }

    fn settle(&mut self, members: &[usize], d: &[f64]) {
        self.head(members, d);
        self.trail.dual = self.stored.clone();
        self.advance(1.0);
    }

    fn trail(&mut self) -> &mut Trail {
        &mut self.trail
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::design::{Csc, Design};
    use crate::relaxation::quadratic::{Gram, GramModel};

    const ROWS: usize = 12;
    const COLUMNS: usize = 5;

    fn wave(k: usize) -> f64 {
        (1.7 * k as f64).sin()
    }

    /// Sparse columns of very different lengths, weighted and centred.
    fn columns() -> (ActiveSet, Metric, Vec<f64>) {
        let stored = |j: usize| (0..ROWS).filter(move |i| !(i + j).is_multiple_of(3));
        let value = |i: usize, j: usize| (1.0 + 10.0 * j as f64) * wave(7 * i + 3 * j);
        let rows: Vec<u32> = (0..COLUMNS).flat_map(|j| stored(j).map(|i| i as u32)).collect();
        let values: Vec<f64> = (0..COLUMNS).flat_map(|j| stored(j).map(move |i| value(i, j))).collect();
        let starts: Vec<usize> = (0..=COLUMNS).map(|j| (0..j).map(|j| stored(j).count()).sum()).collect();
        let design = Csc::new(ROWS, starts, rows, values).unwrap();
        let mut active = ActiveSet::new(&design);
        active.extend(&design, &(0..design.ncols()).collect::<Vec<_>>()).unwrap();
        let h: Vec<f64> = (0..ROWS).map(|i| 1.5 + wave(i)).collect();
        let metric = Metric::new(&active, Some(&h), true);
        (active, metric, h)
    }

    fn close(a: f64, b: f64, room: f64) -> bool {
        (a - b).abs() <= room * b.abs().max(1e-9)
    }

    #[test]
    fn both_models_make_the_same_moves_in_the_dual() {
        let (active, metric, h) = columns();
        let alpha: Vec<f64> = (0..ROWS).map(|i| wave(i + 40)).collect();
        let mean = crate::kernel::sum(&alpha) / metric.total;
        let alpha: Vec<f64> = alpha.iter().zip(&h).map(|(a, h)| a - mean * h).collect();
        let mut gram = Gram::default();
        gram.extend(&active, Some(&h), &metric);
        let mut residual = ResidualModel::new(&active, &metric, Some(&h), &alpha);
        let gradients = (0..COLUMNS).map(|k| residual.gradient(k)).collect();
        let mut dense = GramModel::new(&gram, gradients);
        let (members, d, soft): (Vec<usize>, _, _) = ((0..COLUMNS).collect(), [0.5, -0.2, 0.3, 0.1, -0.4], [1, 3]);
        for model in [&mut residual as &mut dyn Quadratic, &mut dense] {
            model.depart();
        }
        for _ in 0..3 {
            let (a, b) = (residual.head(&members, &d), dense.head(&members, &d));
            assert!(close(a, b, 1e-8), "eᵀQe {a} {b}");
            assert!(members.iter().all(|&k| close(residual.image(k), dense.image(k), 1e-8)));
            let exact = residual.damped(&soft, &[1.0 / 30.0, 0.5], &residual.image, 1e-24);
            let (along, curved) = dense.damp(&soft, &[30.0, 2.0]).unwrap();
            assert!(close(residual.inner(&residual.image, &exact), along, 1e-8), "eᵀQδ {along}");
            assert!(close(residual.inner(&exact, &exact), curved, 1e-8), "δᵀQδ {curved}");
            let rough = residual.damp(&soft, &[30.0, 2.0]).unwrap();
            assert!(rough.0 > 0.0 && rough.0 <= along * (1.0 + 1e-8), "conjugate gradients climb to eᵀQδ");
            // The same step for both, so that the next round starts from the same point.
            residual.head(&members, &d);
            dense.head(&members, &d);
            [&mut residual as &mut dyn Quadratic, &mut dense].into_iter().for_each(|model| model.advance(0.5));
        }
        residual.settle(&members, &d);
        dense.settle(&members, &d);
        assert!(members.iter().all(|&k| close(residual.gradient(k), dense.gradient(k), 1e-8)));
        assert_eq!(residual.trail().dual.len(), ROWS);
    }
}
