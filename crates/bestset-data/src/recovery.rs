//! How well an answer recovers the truth: support recovery and estimation error (MATH 8.3).

use bestset::Coefficients;
use serde::{Deserialize, Serialize};

/// How one answer's support compares with the true one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Recovery {
    /// True features.
    pub truth: usize,
    /// Features selected.
    pub selected: usize,
    /// True features selected.
    pub hits: usize,
}

impl Recovery {
    /// Whether exactly the true features were selected.
    pub fn is_exact(&self) -> bool {
        self.hits == self.truth && self.hits == self.selected
    }

    /// Share of the true features that were selected; one if there are none.
    pub fn share(&self) -> f64 {
        if self.truth == 0 { 1.0 } else { self.hits as f64 / self.truth as f64 }
    }

    /// Selected features that are not true.
    pub fn false_hits(&self) -> usize {
        self.selected - self.hits
    }
}

/// Compares two supports, each ascending without repetition, as in [`Coefficients`].
pub fn recovery(truth: &[usize], selected: &[usize]) -> Recovery {
    let hits = selected.iter().filter(|j| truth.binary_search(j).is_ok()).count();
    Recovery { truth: truth.len(), selected: selected.len(), hits }
}

/// The percentage of successful support recovery in both readings the paper leaves open, as shares in [0, 1].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Pssr {
    /// Share of replicates whose support was recovered exactly.
    pub replicates: f64,
    /// Share of true features selected, averaged over replicates.
    pub features: f64,
}

/// Both readings of PSSR over replicates; NaN for none.
///
/// ```
/// use bestset_data::{pssr, recovery};
///
/// let replicates = [recovery(&[1, 5], &[1, 5]), recovery(&[1, 5], &[5, 7])];
/// let both = pssr(&replicates);
/// assert_eq!((both.replicates, both.features), (0.5, 0.75));
/// ```
pub fn pssr(replicates: &[Recovery]) -> Pssr {
    let mean = |value: fn(&Recovery) -> f64| replicates.iter().map(value).sum::<f64>() / replicates.len() as f64;
    Pssr { replicates: mean(|r| f64::from(u8::from(r.is_exact()))), features: mean(Recovery::share) }
}

/// ‖β − β*‖ / ‖β*‖ (MATH 8.3) over all features, without the intercept; for β* = 0 it is 0 at β = 0 and +∞ elsewhere.
pub fn estimation_error(truth: &Coefficients, estimate: &Coefficients) -> f64 {
    let at = |c: &Coefficients, j: usize| c.support.binary_search(&j).map_or(0.0, |k| c.values[k]);
    let known: f64 = truth.iter().map(|(j, b)| (at(estimate, j) - b).powi(2)).sum();
    let extra = estimate.iter().filter(|(j, _)| truth.support.binary_search(j).is_err());
    let error = (known + extra.map(|(_, b)| b * b).sum::<f64>()).sqrt();
    let size = truth.values.iter().map(|b| b * b).sum::<f64>().sqrt();
    // Rust's empty sum is −0, and dividing by it would turn the sign.
    if error == 0.0 { 0.0 } else { error / size.abs() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recovery_counts_hits_and_false_hits() {
        let r = recovery(&[0, 3, 8], &[3, 4, 8, 9]);
        assert_eq!((r.hits, r.false_hits(), r.is_exact()), (2, 2, false));
        assert!((r.share() - 2.0 / 3.0).abs() < 1e-15);
        assert!(!recovery(&[0, 3], &[0, 3, 4]).is_exact(), "a superset is not exact");
        assert!(recovery(&[], &[]).is_exact());
        assert_eq!(recovery(&[], &[2]).share(), 1.0);
        assert!(pssr(&[]).features.is_nan());
    }

    #[test]
    fn estimation_error_is_the_relative_distance_of_the_dense_vectors() {
        let truth = Coefficients::from_dense(&[0.0, 1.0, -2.0, 0.0], 0.0);
        let estimate = Coefficients::from_dense(&[0.5, 1.5, 0.0, 0.0], 9.0);
        let expected = ((0.25f64 + 0.25 + 4.0) / 5.0).sqrt();
        assert!((estimation_error(&truth, &estimate) - expected).abs() < 1e-15);
        assert_eq!(estimation_error(&truth, &truth), 0.0);
        let zero = Coefficients::default();
        assert_eq!(estimation_error(&truth, &zero), 1.0);
        assert_eq!(estimation_error(&zero, &zero), 0.0);
        assert_eq!(estimation_error(&zero, &truth), f64::INFINITY);
    }
}
