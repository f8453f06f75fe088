//! (1 − ε)Q − diag(d) ⪰ 0, by a Cholesky factorisation whose rounding is bounded beforehand (Rump; PROOF, "PSD").

use crate::model::Model;
use crate::round::{dot, down, gamma, up};

/// ε = 2⁻²⁴: the share of Q that pays for rounding in residuals.
pub const SHARE: f64 = 1.0 / (1 << 24) as f64;

/// The most features of a lemma: their inner products take 288 MB.
pub const MOST: usize = 6000;

/// Curvature d of some features, ascending, with (1 − ε)Q − diag(d) ⪰ 0 on them.
#[derive(Debug)]
pub struct Lemma {
    features: Vec<usize>,
    d: Vec<f64>,
}

impl Lemma {
    /// d_j, where the lemma is about j.
    pub fn of(&self, j: usize) -> Option<f64> {
        self.features.binary_search(&j).ok().map(|k| self.d[k])
    }

    /// One that has been proved.
    pub fn known(features: Vec<usize>, d: Vec<f64>) -> Self {
        Self { features, d }
    }

    /// Proves it, or says why not.
    pub fn new(model: &Model, products: &mut Products, features: Vec<usize>, d: Vec<f64>) -> Result<Self, String> {
        let m = features.len();
        if m > MOST {
            return Err(format!("a lemma about {m} features, more than {MOST}"));
        }
        let places = products.places(model, &features);
        // What the factorisation, the sums and the means of columns that are not quite centred can be off by, each as a share of a
        // diagonal: for any such errors |E_jl| ≤ e_je_l, E ⪰ −m diag(e²).
        let (of_factor, of_sums) = (2.0 * gamma(m + 3), model.gamma);
        let mut matrix = vec![0.0; m * m];
        for (a, &j) in features.iter().enumerate() {
            for b in 0..a {
                matrix[a * m + b] = (1.0 - SHARE) * products.at(places[a], places[b]);
            }
            let left = down(down((1.0 - SHARE) * products.at(places[a], places[a])) - d[a]);
            let square = up(model.norms[j] * model.norms[j]);
            let off = up(of_sums * square) + up(model.means[j] * model.means[j]) + up(of_factor * left.max(0.0));
            matrix[a * m + a] = down(left - up(up(off * (1.0 + 1e-15)) * m as f64));
        }
        match factor(&mut matrix, m) {
            None => Ok(Self { features, d }),
            Some(a) => Err(format!("the curvature of feature {} is more than the loss has to give", features[a])),
        }
    }
}

/// Cholesky's factorisation in place; the first place where it fails.
pub fn factor(matrix: &mut [f64], m: usize) -> Option<usize> {
    for a in 0..m {
        // A diagonal far from underflow keeps underflow elsewhere below what is allowed for.
        let is_sound = matrix[a * m + a] > 1e-100;
        if !is_sound {
            return Some(a);
        }
        let (above, row) = matrix.split_at_mut(a * m);
        for b in 0..a {
            let other = &above[b * m..b * m + b + 1];
            row[b] = (row[b] - dot(&row[..b], &other[..b])) / other[b];
        }
        let pivot = row[a] - dot(&row[..a], &row[..a]);
        if !(pivot > 0.0 && pivot.is_finite()) {
            return Some(a);
        }
        row[a] = pivot.sqrt();
    }
    None
}

/// Σ_i w_ix̃_ijx̃_il of some features, kept for the lemmas of nodes below, which have fewer of them.
#[derive(Default)]
pub struct Products {
    features: Vec<usize>,
    values: Vec<f64>,
}

impl Products {
    /// The product of two places.
    pub fn at(&self, a: usize, b: usize) -> f64 {
        let (a, b) = (a.max(b), a.min(b));
        self.values[a * (a + 1) / 2 + b]
    }

    /// Where the features are, their products made unless all are there.
    pub fn places(&mut self, model: &Model, features: &[usize]) -> Vec<usize> {
        let find =
            |all: &[usize]| -> Option<Vec<usize>> { features.iter().map(|j| all.binary_search(j).ok()).collect() };
        if let Some(places) = find(&self.features) {
            return places;
        }
        self.features = features.to_vec();
        self.values.clear();
        for (a, &j) in features.iter().enumerate() {
            let column = model.weighted(model.column(j));
            self.values.extend(features[..=a].iter().map(|&l| dot(&column, model.column(l))));
        }
        (0..features.len()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_matrix_that_is_not_definite_has_no_factor() {
        assert_eq!(factor(&mut [2.0, 0.0, 1.0, 2.0], 2), None);
        assert_eq!(factor(&mut [1.0, 0.0, 2.0, 2.0], 2), Some(1));
        assert_eq!(factor(&mut [1.0, 0.0, 1.0, 1.0], 2), Some(1));
        assert_eq!(factor(&mut [-1.0], 1), Some(0));
        assert_eq!(factor(&mut [f64::NAN], 1), Some(0));
    }
}
