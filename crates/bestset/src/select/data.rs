//! What there is to know about the samples, whatever is asked of them.

use crate::design::Standardized;
use crate::select::{Posed, Remark};

impl Posed<'_> {
    /// What a user should know who may not have meant it: that there is one sample only, or one value of the target.
    pub fn remarks(&self) -> Vec<Remark> {
        let (problem, samples) = (&self.problem, self.problem.samples());
        let is_counted = |i: &usize| problem.weights().is_none_or(|w| w[*i] > 0.0);
        let mut counted = (0..samples).filter(is_counted);
        let Some(first) = counted.next() else { return Vec::new() };
        let others: Vec<usize> = counted.collect();
        if others.is_empty() {
            return vec![Remark::OneSample];
        }
        // Without an intercept, and beside an offset, a constant may well be explained; classes and events are others' to check.
        let is_number = problem.coupled().is_none() && !problem.loss().is_classification();
        let is_plain = is_number && problem.has_intercept() && problem.offset().is_none();
        let value = problem.y()[first];
        match is_plain && others.iter().all(|&i| problem.y()[i] == value) {
            true => vec![Remark::ConstantTarget(value)],
            false => Vec::new(),
        }
    }

    /// Features that are constant, ascending: they are zero inside, for an intercept has what they say, and in no answer. Those that are so
    /// but for rounding are not among them: answers list these as dependent.
    pub fn constant(&self) -> Vec<usize> {
        let Some(view) = self.view else { return Vec::new() };
        let flat = Standardized::flat(view);
        let is_constant = |j: &usize| view.scale()[*j].is_infinite() && flat.binary_search(j).is_err();
        (0..view.scale().len()).filter(is_constant).collect()
    }
}
