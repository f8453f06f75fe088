//! The subsets S with I ⊆ S ⊆ I ∪ U, and what every change of I or U by one feature does to their fits.
//!
//! With A = X̂ᵀX̂ + 2λ2 Id and Υ = X̂ᵀŷ, fit(S) = ½‖ŷ‖² − ½ Υ_Sᵀ A_SS⁻¹ Υ_S (MATH 11.28) and (MATH 11.29)
//!
//!   A_{U|I} = A_UU − A_UI A_II⁻¹ A_IU,   q = Υ_U − A_UI A_II⁻¹ Υ_I:     adding j to I lowers fit(I) by q_j² / (2 A_{j|I});
//!   (A⁻¹)_UU = A_{U|I}⁻¹ over I ∪ U,   β_U = A_{U|I}⁻¹q:     dropping j from I ∪ U raises fit(I ∪ U) by β_j² / (2 (A⁻¹)_jj).
//!
//! Taking j into I eliminates it from (A_{U|I}, q) and forgets it in (A⁻¹, β); taking it out of U does the reverse. Every S costs
//! at least fit(I ∪ U), and one without j at least fit(I ∪ U) + β_j² / (2 (A⁻¹)_jj).

use crate::leaps::form::Form;
use serde::{Deserialize, Serialize};

/// I, U and the two forms.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Family {
    /// I.
    pub inside: Vec<u32>,
    /// U, in the order of the forms.
    pub free: Vec<u32>,
    /// (A_{U|I}, q): prices are gains of adding.
    pub gains: Form,
    /// (A⁻¹, β) over I ∪ U, of U: prices are costs of dropping.
    pub costs: Form,
    /// fit(I).
    pub fit_inside: f64,
    /// fit(I ∪ U), the bound.
    pub fit_all: f64,
    /// The smallest size that may hold something better.
    pub low: usize,
    /// The largest.
    pub high: usize,
}

impl Family {
    /// |I|.
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

    /// The position to branch on, gain + 4·cost the largest: a feature that gains much makes the subsets with it good, one that
    /// costs much makes those without it hopeless, and both together need fewer nodes than either alone.
    pub fn branch(&self) -> Option<usize> {
        largest(self.free.len(), |j| self.gains.price(j) + 4.0 * self.costs.price(j)).map(|best| best.0)
    }

    /// fit(I ∪ U) + (the (k − |I| + 1)-th largest cost) ≤ fit(S) for |S| = k (MATH 11.31): all but k − |I| of U are dropped, so
    /// that one of the k − |I| + 1 dearest is.
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
