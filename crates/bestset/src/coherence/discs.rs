//! Discs with weights (MATH 13.8): a feature that the others pull at much is left more curvature where those that stand against it and would
//! hardly be worth adding are left less.

use super::pairs::LARGEST;
use super::rows::ListedRow;

/// Steps towards the best weights. n = 1000, p = 10³ and 10⁴: the fourth closes what thirty do.
pub(super) const STEPS: usize = 8;

/// Weights are within this factor of the middle one: larger ones would only cost those who have them among the features that their row
/// does not list. Not tuned: without it they are between 0.8 and 1.5 at n = 1000, p = 10⁴.
const MOST: f64 = 2.0;

/// By which share sums of at most [`LARGEST`] products may be too small.
const ROUNDING: f64 = 64.0 * f64::EPSILON;

/// A weight of each feature outside Â.
pub(super) struct Weights {
    of: Vec<f64>,
    /// The [`LARGEST`] largest, largest first.
    largest: Vec<f64>,
}

impl Weights {
    /// Any numbers serve; within [`MOST`] of their middle one they are as given.
    pub fn new(mut of: Vec<f64>) -> Self {
        let mut sorted: Vec<f64> = of.iter().copied().filter(|w| w.is_finite() && *w > 0.0).collect();
        let at = sorted.len() / 2;
        let middle = if sorted.is_empty() { 1.0 } else { *sorted.select_nth_unstable_by(at, f64::total_cmp).1 };
        // What is no number becomes the largest.
        of.iter_mut().for_each(|w| *w = if w.is_nan() { MOST } else { (*w / middle).clamp(1.0 / MOST, MOST) });
        let mut largest = of.clone();
        if largest.len() > LARGEST {
            largest.select_nth_unstable_by(LARGEST, |a, b| b.total_cmp(a));
            largest.truncate(LARGEST);
        }
        largest.sort_unstable_by(|a, b| b.total_cmp(a));
        Self { of, largest }
    }

    /// w_j.
    pub fn of(&self, place: usize) -> f64 {
        self.of[place]
    }

    /// (the sum of the m − 1 largest w_k|Q̃_jk|, k ≠ j) / w_j, at the most (MATH 13.8).
    pub fn disc(&self, row: &ListedRow, m: usize) -> f64 {
        let size = |value: f32| f64::from(value.abs()) + row.error;
        let mut products = [0.0; 2 * LARGEST];
        let mut count = 0;
        for entry in &row.largest {
            products[count] = size(entry.value) * self.of[entry.place as usize];
            count += 1;
        }
        // What is not listed is not larger than the last that is.
        if self.of.len() > row.largest.len() + 1 {
            let last = row.largest.last().map_or(0.0, |e| size(e.value));
            for weight in self.largest.iter().take(m - 1) {
                products[count] = last * weight;
                count += 1;
            }
        }
        let products = &mut products[..count];
        if m - 1 < count {
            products.select_nth_unstable_by(m - 1, |a, b| b.total_cmp(a));
        }
        products.iter().take(m - 1).sum::<f64>() / self.of[row.place] * (1.0 + ROUNDING)
    }

    /// d_j^m = Q̃_jj − (the disc of row j) (MATH 13.8).
    pub fn left(&self, row: &ListedRow, m: usize) -> f64 {
        let (disc, own) = (self.disc(row, m), row.own - row.error);
        own - disc - ROUNDING * (own.abs() + disc)
    }
}
