//! The subsets T with S ⊆ T ⊆ S ∪ F, and what every change of S or F by one feature does to their fits.
//!
//! With A = X̃ᵀWX̃ + 2λ2 I and c = X̃ᵀWỹ (columns centred when there is an intercept), fit(T) = ½ỹᵀWỹ − ½ c_Tᵀ A_TT⁻¹ c_T and
//!
//!   C = A_FF − A_FS A_SS⁻¹ A_SF,   q = c_F − A_FS A_SS⁻¹ c_S:     adding j to S lowers fit(S) by q_j² / (2 C_jj);
//!   B = C⁻¹ = (A⁻¹ over S ∪ F)_FF,   b = Bq, the fitted β_F:      dropping j from S ∪ F raises fit(S ∪ F) by b_j² / (2 B_jj).
//!
//! Taking j into S eliminates it from (C, q) and forgets it in (B, b); taking it out of F does the reverse. Every T costs at least
//! fit(S ∪ F), and one without j at least fit(S ∪ F) + b_j² / (2 B_jj).

use crate::leaps::form::Form;
use serde::{Deserialize, Serialize};

/// S, F and the two forms.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Family {
    /// S.
    pub inside: Vec<u32>,
    /// F, in the order of the forms.
    pub free: Vec<u32>,
    /// (C, q): prices are gains of adding.
    pub gains: Form,
    /// (B, b): prices are costs of dropping.
    pub costs: Form,
    /// fit(S).
    pub fit_inside: f64,
    /// fit(S ∪ F), the bound.
    pub fit_all: f64,
    /// The smallest size that may hold something better.
    pub low: usize,
    /// The largest.
    pub high: usize,
}

impl Family {
    /// |S|.
    pub fn size(&self) -> usize {
        self.inside.len()
    }

    /// Copies another family into the storage at hand: nodes are visited too often to ask for memory each time.
    pub fn copy(&mut self, other: &Self) {
        self.inside.clone_from(&other.inside);
        self.free.clone_from(&other.free);
        self.gains.copy(&other.gains);
        self.costs.copy(&other.costs);
        (self.fit_inside, self.fit_all) = (other.fit_inside, other.fit_all);
        (self.low, self.high) = (other.low, other.high);
    }

    fn swap_last(&mut self, j: usize) {
        let last = self.free.len() - 1;
        self.free.swap(j, last);
        self.gains.swap_last(j);
        self.costs.swap_last(j);
    }

    /// Keeps the subsets with the feature at position j.
    pub fn take_in(&mut self, j: usize) {
        self.fit_inside -= self.gains.price(j);
        self.swap_last(j);
        self.gains.eliminate_last();
        self.costs.truncate_last();
        self.inside.extend(self.free.pop());
    }

    /// Keeps the subsets without the feature at position j.
    pub fn take_out(&mut self, j: usize) {
        self.fit_all += self.costs.price(j);
        self.swap_last(j);
        self.costs.eliminate_last();
        self.gains.truncate_last();
        self.free.pop();
    }

    /// The position with the largest gain, and that gain.
    pub fn best_gain(&self) -> Option<(usize, f64)> {
        largest(self.gains.len(), |j| self.gains.price(j))
    }

    /// The position with the largest cost, and that cost.
    pub fn largest_cost(&self) -> Option<(usize, f64)> {
        largest(self.costs.len(), |j| self.costs.price(j))
    }

    /// The position to branch on: a feature that gains much makes the subsets with it good, one that costs much makes those
    /// without it hopeless. Measured on real data, 4 : 1 needs a third of the nodes of either alone; 2 : 1 and 8 : 1 are as good.
    pub fn branch(&self) -> Option<usize> {
        largest(self.free.len(), |j| self.gains.price(j) + 4.0 * self.costs.price(j)).map(|best| best.0)
    }

    /// A lower bound on fit(T) for |T| = size: all but size − |S| of F are dropped, so that one of the size − |S| + 1 dearest is.
    pub fn bound(&self, size: usize) -> f64 {
        let mut prices: Vec<f64> = (0..self.costs.len()).map(|j| self.costs.price(j)).collect();
        prices.sort_unstable_by(|a, b| b.total_cmp(a));
        self.fit_all + prices.get(size.saturating_sub(self.size())).copied().unwrap_or(0.0)
    }
}

/// The first position of the largest value.
fn largest(len: usize, value: impl Fn(usize) -> f64) -> Option<(usize, f64)> {
    let values = (0..len).map(|j| (j, value(j)));
    values.reduce(|best, next| if next.1 > best.1 { next } else { best })
}
