//! The coefficients of many classes (MATH §16): a column for each, where solvers have one long vector.

use crate::design::{self, Design};
use crate::error::{Error, Result, check_finite, check_length, check_weights};
use crate::loss::{CoupledLoss, Multinomial};
use crate::solution::Coefficients;
use serde::{Deserialize, Serialize};

/// Coefficients b_jk of features and classes, zero for features outside the support, and an intercept for each class.
///
/// Solvers have them as one vector, b_jk at j·K + k, the columns of a [`PerClass`](crate::design::PerClass) design.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ClassCoefficients {
    /// Feature indices, ascending.
    pub support: Vec<usize>,
    /// A row for each class, which has a value for each feature of the support.
    pub values: Vec<Vec<f64>>,
    /// c_k, zeros where there are none.
    pub intercepts: Vec<f64>,
}

impl ClassCoefficients {
    /// Of the vector of a solver, with these intercepts, one for each class.
    pub fn of_columns(columns: &Coefficients, intercepts: Vec<f64>) -> Self {
        let classes = intercepts.len().max(1);
        let support = columns.features(classes);
        let mut values = vec![vec![0.0; support.len()]; classes];
        for (j, b) in columns.iter() {
            if let Ok(place) = support.binary_search(&(j / classes)) {
                values[j % classes][place] = b;
            }
        }
        Self { support, values, intercepts }
    }

    /// The vector of a solver, without the intercepts.
    pub fn to_columns(&self) -> Coefficients {
        let classes = self.classes();
        let of = |(k, row): (usize, &Vec<f64>)| {
            self.support.iter().zip(row).map(move |(j, b)| (j * classes + k, *b)).collect::<Vec<_>>()
        };
        Coefficients::from_pairs(self.values.iter().enumerate().flat_map(of).collect(), 0.0)
    }

    /// K.
    pub fn classes(&self) -> usize {
        self.intercepts.len()
    }

    /// ‖b_j‖ of every feature of the support: which features are in, and how much they weigh over all classes.
    pub fn lengths(&self) -> Coefficients {
        let length = |place: usize| self.values.iter().map(|row| row[place] * row[place]).sum::<f64>().sqrt();
        let values = (0..self.support.len()).map(length).collect();
        Coefficients { support: self.support.clone(), values, intercept: 0.0 }
    }

    /// The same probabilities with Σ_k b_jk = 0 for every feature and Σ_k c_k = 0: a constant for all classes of a sample cancels, and
    /// the ridge is least there (MATH 16.1).
    pub fn centred(mut self) -> Self {
        let classes = self.classes() as f64;
        for place in 0..self.support.len() {
            let mean = self.values.iter().map(|row| row[place]).sum::<f64>() / classes;
            self.values.iter_mut().for_each(|row| row[place] -= mean);
        }
        let mean = self.intercepts.iter().sum::<f64>() / classes;
        self.intercepts.iter_mut().for_each(|c| *c -= mean);
        self
    }

    /// Checks lengths, order, range and finiteness for p features.
    pub fn validate(&self, p: usize) -> Result<()> {
        if self.classes() < 2 {
            let reason = "needs intercepts and coefficients of two classes at least";
            return Err(Error::Unsupported { method: "multinomial", reason });
        }
        check_length("rows of class coefficients", self.values.len(), self.classes())?;
        for row in &self.values {
            check_length("coefficient values", row.len(), self.support.len())?;
            check_finite("coefficient", row)?;
        }
        check_finite("intercept", &self.intercepts)?;
        self.lengths().check_places(p)
    }

    /// u_ki = o_ki + Σ_j x_ijb_jk + c_k at k·n + i, for the rows of a design with the same features.
    pub fn margins(&self, design: &dyn Design, offset: Option<&[f64]>) -> Result<Vec<f64>> {
        let n = design.nrows();
        let mut u = vec![0.0; n * self.classes()];
        // A design without rows has no blocks.
        for (k, block) in u.chunks_mut(n.max(1)).enumerate() {
            design::predict(design, &self.support, &self.values[k], self.intercepts[k], block)?;
        }
        if let Some(offset) = offset {
            check_length("offset, one for every sample and class,", offset.len(), u.len())?;
            u.iter_mut().zip(offset).for_each(|(u, o)| *u += o);
        }
        Ok(u)
    }
}

/// p_ki = e^{u_ki} / Σ_l e^{u_li} (MATH 16.2) of margins in K blocks, in the same order.
///
/// ```
/// let p = bestset::class_probabilities(&[0.0, 1.0, 0.0, 1.0, 0.0, 1.0], 3);
/// assert!(p.iter().all(|p| (p - 1.0 / 3.0).abs() < 1e-15));
/// ```
pub fn class_probabilities(margins: &[f64], classes: usize) -> Vec<f64> {
    let n = margins.len() / classes.max(1);
    let mut p = margins.to_vec();
    for i in 0..n {
        let most = (0..classes).map(|k| margins[k * n + i]).fold(f64::NEG_INFINITY, f64::max);
        (0..classes).for_each(|k| p[k * n + i] = (margins[k * n + i] - most).exp());
        let sum: f64 = (0..classes).map(|k| p[k * n + i]).sum();
        (0..classes).for_each(|k| p[k * n + i] /= sum);
    }
    p
}

/// The class of the largest margin of every sample, the first of equals.
pub fn likeliest_classes(margins: &[f64], classes: usize) -> Vec<usize> {
    let n = margins.len() / classes.max(1);
    let of =
        |i: usize| (1..classes).fold(0, |best, k| if margins[k * n + i] > margins[best * n + i] { k } else { best });
    (0..n).map(of).collect()
}

/// 1 − dev/dev_∅ (MATH 10.16) of the margins of K classes, a block of samples for each, against the classes of the samples; offsets, part
/// of the margins, have the same order. The null model has the shares of the classes that there are, beside the offset.
///
/// ```
/// use bestset::explained_by_classes;
///
/// let (labels, even) = ([0, 1, 2, 1], [0.0; 12]);
/// assert!(explained_by_classes(&labels, &even, None, None)? < 0.0);
/// let sure = [9.0, 0.0, 0.0, 0.0, 0.0, 9.0, 0.0, 9.0, 0.0, 0.0, 9.0, 0.0];
/// assert!(explained_by_classes(&labels, &sure, None, None)? > 0.99);
/// # Ok::<(), bestset::Error>(())
/// ```
pub fn explained_by_classes(
    labels: &[usize],
    margins: &[f64],
    offset: Option<&[f64]>,
    weights: Option<&[f64]>,
) -> Result<f64> {
    let (n, classes) = (labels.len(), margins.len() / labels.len().max(1));
    check_length("margins of classes", margins.len(), n * classes)?;
    weights.map_or(Ok(()), |w| check_weights(w, n))?;
    offset.map_or(Ok(()), |o| check_length("offset", o.len(), margins.len()))?;
    if let Some(index) = labels.iter().position(|y| *y >= classes) {
        return Err(Error::ClassNumber { index, value: labels[index] as f64, classes });
    }
    let weight = |i: usize| weights.map_or(1.0, |w| w[i]);
    let is_there = |k: &usize| (0..n).any(|i| labels[i] == *k && weight(i) > 0.0);
    // The shares of classes that are not there are zero.
    let present: Vec<usize> = (0..classes).filter(is_there).collect();
    if present.len() < 2 {
        return Err(Error::OneClass { label: present.first().map_or(0.0, |k| *k as f64) });
    }
    let places = labels.iter().map(|y| present.binary_search(y).unwrap_or(0)).collect();
    let stacked = weights.map(|w| w.repeat(present.len()));
    let shares = Multinomial::new(places, present.len(), true, stacked.as_deref())?;
    let fixed = |k: usize| offset.map_or_else(|| vec![0.0; n], |o| o[k * n..(k + 1) * n].to_vec());
    let null = shares.value(&present.iter().flat_map(|&k| fixed(k)).collect::<Vec<f64>>());
    let p = class_probabilities(margins, classes);
    let own = |i: usize| -weight(i) * p[labels[i] * n + i].max(f64::MIN_POSITIVE).ln();
    Ok(1.0 - (0..n).filter(|&i| weight(i) > 0.0).map(own).sum::<f64>() / null)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::design::Dense;

    fn example() -> ClassCoefficients {
        let values = vec![vec![1.0, 0.0], vec![-3.0, 2.0], vec![0.5, 0.0]];
        ClassCoefficients { support: vec![1, 4], values, intercepts: vec![0.3, 0.0, -1.0] }
    }

    #[test]
    fn columns_there_and_back() {
        let one = example();
        let columns = one.to_columns();
        assert_eq!(columns.support, [3, 4, 5, 13]);
        assert_eq!(ClassCoefficients::of_columns(&columns, one.intercepts.clone()), one);
        assert_eq!(one.lengths().values, [10.25f64.sqrt(), 2.0]);
        assert!(one.validate(5).is_ok() && one.validate(4).is_err());
    }

    #[test]
    fn centring_changes_no_probability() {
        let x = Dense::new(3, 5, (0..15).map(|k| f64::from(k * k % 7) - 2.0).collect::<Vec<_>>()).unwrap();
        let (one, centred) = (example(), example().centred());
        assert!(centred.values.iter().map(|row| row[0]).sum::<f64>().abs() < 1e-15);
        let p = |c: &ClassCoefficients| class_probabilities(&c.margins(&x, None).unwrap(), 3);
        p(&one).iter().zip(p(&centred)).for_each(|(a, b)| assert!((a - b).abs() < 1e-14));
        assert_eq!(
            likeliest_classes(&one.margins(&x, None).unwrap(), 3),
            likeliest_classes(&centred.margins(&x, None).unwrap(), 3)
        );
        assert!(one.margins(&x, Some(&[0.0; 3])).is_err());
    }

    #[test]
    fn deviance_explained_by_hand() {
        let margins = [0.5, 0.1, 0.3, -0.2, 0.0, 1.0, 0.2, 0.0, -1.0];
        let (p, labels, weights) = (class_probabilities(&margins, 3), [0, 1, 0], [1.0, 2.0, 3.0]);
        let own = -(p[0].ln() + 2.0 * p[4].ln() + 3.0 * p[2].ln());
        let null = -(4.0 * (4.0f64 / 6.0).ln() + 2.0 * (2.0f64 / 6.0).ln());
        let found = explained_by_classes(&labels, &margins, None, Some(&weights)).unwrap();
        assert!((found - (1.0 - own / null)).abs() < 1e-12, "{found}");
        assert_eq!(explained_by_classes(&[1; 3], &margins, None, None), Err(Error::OneClass { label: 1.0 }));
        assert!(explained_by_classes(&[3, 0, 1], &margins, None, None).is_err());
    }
}
