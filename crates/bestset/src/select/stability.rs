//! How often features are selected on subsamples, with the λ2 and the sizes of a selection.

use super::check::Task;
use crate::cv::{Stability, StabilityOptions, stability};
use crate::error::Result;
use crate::select::run::Run;
use crate::select::{Posed, Selection};

impl Posed<'_> {
    /// Stability selection ([`stability`]) with the grid, sizes, one λ2 and limits of a selection; `how` and `prove` are not used.
    /// Unless a largest size is given, no more than half of the features are selected: with all of them nothing is told.
    pub fn stability(&self, options: &Selection, subsamples: usize, share: f64, seed: u64) -> Result<Stability> {
        options.check(self, Task::Stability)?;
        let options = &self.selection_within(options);
        let run = Run::new(self, options, &|_| ());
        let path = run.path_options(
            run.most(crate::criteria::usual_size(&self.problem).min(self.problem.variables().div_ceil(2)))?,
            options.lambda2.clone(),
        );
        stability(&self.problem, &StabilityOptions { path, subsamples, share, seed })
    }
}
