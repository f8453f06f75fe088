//! How often features are selected on subsamples, with the λ2 and the sizes of a selection.

use crate::cv::{Stability, StabilityOptions, stability};
use crate::error::Result;
use crate::select::run::Run;
use crate::select::{Posed, Selection};

impl Posed<'_> {
    /// Stability selection ([`stability`]) with the grid, sizes, λ2 and limits of a selection; `how`, `prove` and `checkpoint` are
    /// not used. Unless a largest size is given, no more than half of the features are selected: with all of them nothing is told.
    pub fn stability(&self, options: &Selection, subsamples: usize, share: f64, seed: u64) -> Result<Stability> {
        let run = Run::new(self, options, &|_| ());
        let path = run.path_options(
            run.most(crate::path::usual_size(&self.problem).min(self.problem.ncols().div_ceil(2)))?,
            options.lambda2.clone(),
        );
        stability(&self.problem, &StabilityOptions { path, subsamples, share, seed })
    }
}
