//! How often features are selected on subsamples, with the λ2 and the sizes of a selection.

use super::run::Run;
use super::{Posed, Selection};
use crate::cv::{Stability, StabilityOptions, stability};
use crate::error::Result;
use std::time::Instant;

impl Posed<'_> {
    /// Stability selection ([`stability`]) with the grid, sizes, λ2 and limits of a selection; `how`, `prove` and `checkpoint` are
    /// not used.
    pub fn stability(&self, options: &Selection, subsamples: usize, share: f64, seed: u64) -> Result<Stability> {
        let run = Run { posed: self, options, start: Instant::now(), progress: &|_| () };
        let most = options.max_size.unwrap_or_else(|| crate::path::usual_size(&self.problem)).min(self.problem.ncols());
        let path = run.path_options(most, options.lambda2.clone());
        stability(&self.problem, &StabilityOptions { path, subsamples, share, seed })
    }
}
