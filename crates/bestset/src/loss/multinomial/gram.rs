//! Inner products of the columns of features and classes in the second derivative of the loss, feature by feature.

use crate::loss::multinomial::{MultinomialCurvature, forward};
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par};

/// Multiplications of the shortest product between two looks at whether it is cut: some milliseconds.
const UNASKED: usize = 20_000_000;

impl MultinomialCurvature {
    /// G_{jk,il} = Σ_s w_sp_ks(1_{k=l} − p_ls)x_sjx_si − (L⁻¹S)_{jk}ᵀ(L⁻¹S)_{il} (MATH 16.3): with X ⊗ Id_K a pair of classes is one
    /// product XᵀDX over the n samples, where columns one by one are K as long. None where it is cut between two blocks of these.
    pub(super) fn gram(&self, x: &[f64], is_cut: &dyn Fn() -> bool) -> Option<Vec<f64>> {
        let (n, classes) = (self.roots.len(), self.classes);
        let features = x.len() / n.max(1);
        let size = features * classes;
        let (mut gram, mut sums) = (vec![0.0; size * size], vec![0.0; size * classes]);
        let (own, mut scaled) = (MatRef::from_column_major_slice(x, n, features), vec![0.0; x.len()]);
        let most = (UNASKED / x.len().max(1)).clamp(1, features.max(1));
        for k in 0..classes {
            for l in 0..=k {
                let h = self.between_classes(k, l);
                for (j, (to, from)) in scaled.chunks_mut(n.max(1)).zip(x.chunks(n.max(1))).enumerate() {
                    to.iter_mut().zip(from.iter().zip(&h)).for_each(|(to, (x, h))| *to = h * x);
                    let sum = crate::kernel::sum(to);
                    sums[(j * classes + k) * classes + l] = sum;
                    sums[(j * classes + l) * classes + k] = sum;
                }
                for (number, some) in scaled.chunks((most * n).max(1)).enumerate() {
                    if is_cut() {
                        return None;
                    }
                    let right = MatRef::from_column_major_slice(some, n, some.len() / n.max(1));
                    let mut block: Mat<f64> = Mat::zeros(features, right.ncols());
                    matmul(block.as_mut(), Accum::Replace, own.transpose(), right, 1.0, Par::Seq);
                    for (j, i) in (0..features).flat_map(|j| (0..right.ncols()).map(move |i| (j, i))) {
                        let (row, column) = (j * classes + k, (number * most + i) * classes + l);
                        gram[row * size + column] = block[(j, i)];
                        gram[column * size + row] = block[(j, i)];
                    }
                }
            }
        }
        self.answered(&mut gram, &sums, size);
        Some(gram)
    }

    /// w_sp_ks(1_{k=l} − p_ls) of every sample.
    fn between_classes(&self, k: usize, l: usize) -> Vec<f64> {
        let n = self.roots.len();
        let is_own = if k == l { 1.0 } else { 0.0 };
        let (h, p) = (&self.diagonal[k * n..(k + 1) * n], &self.p[l * n..(l + 1) * n]);
        h.iter().zip(p).map(|(h, p)| h * (is_own - p)).collect()
    }

    /// G ← G − (L⁻¹S)ᵀ(L⁻¹S), what the intercepts answer, S = ZᵀH(X ⊗ Id_K) column by column.
    fn answered(&self, gram: &mut [f64], sums: &[f64], size: usize) {
        let Some(lower) = &self.lower else { return };
        let images: Vec<f64> = sums.chunks(self.classes).flat_map(|s| forward(lower, self.classes, s)).collect();
        let images = MatRef::from_column_major_slice(&images, self.classes, size);
        let gram = faer::MatMut::from_column_major_slice_mut(gram, size, size);
        matmul(gram, Accum::Add, images.transpose(), images, -1.0, Par::Seq);
    }
}

#[cfg(test)]
mod tests {
    use crate::loss::{CoupledLoss, Multinomial};

    #[test]
    fn products_by_feature_are_those_of_the_columns_one_by_one() {
        let (n, features, classes) = (17, 4, 3);
        let x: Vec<f64> = (0..n * features).map(|k| ((k * k) as f64 * 0.37).sin() * 3.0 + 1.0).collect();
        let labels: Vec<usize> = (0..n).map(|i| (i * 7 + i / 5) % classes).collect();
        let weights: Vec<f64> = (0..n).map(|i| 0.5 + (i % 4) as f64).collect();
        let u: Vec<f64> = (0..n * classes).map(|k| (k as f64 * 0.9).cos() * 2.0).collect();
        for intercept in [true, false] {
            let loss = Multinomial::new(labels.clone(), classes, intercept, Some(&weights.repeat(classes))).unwrap();
            let curvature = loss.curvature(&u);
            let gram = curvature.per_class(&x, &|| false).unwrap();
            let column = |c: usize| {
                let mut v = vec![0.0; n * classes];
                let (j, k) = (c / classes, c % classes);
                v[k * n..(k + 1) * n].copy_from_slice(&x[j * n..(j + 1) * n]);
                v
            };
            let size = features * classes;
            for a in 0..size {
                let mut image = column(a);
                curvature.multiply(&mut image);
                for b in 0..size {
                    let direct = crate::kernel::dot(&column(b), &image);
                    let scale = 1.0 + direct.abs();
                    assert!(
                        (gram[a * size + b] - direct).abs() < 1e-11 * scale,
                        "{a} {b}: {} {direct}",
                        gram[a * size + b]
                    );
                }
            }
        }
    }
}
