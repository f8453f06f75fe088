//! From a file to an answer: load, pose, solve; then the model file and the page.

pub mod answer;
pub mod encoding;
pub mod fault;
pub mod genome;
pub mod load;
pub mod notes;
pub mod pose;
pub mod remark;
pub mod report;
pub mod survival;

pub use answer::Answer;
pub use encoding::Encoding;
pub use load::Loaded;
pub use pose::Posed;

use crate::args::{Clock, LimitArgs};
use crate::progress::Progress;
use bestset::CancelFlag;

/// What every step of a command needs: limits, the clock, cancellation and the progress line.
pub struct Session<'a> {
    pub limits: &'a LimitArgs,
    pub clock: Clock,
    pub cancel: &'a CancelFlag,
    pub progress: Progress,
}

impl<'a> Session<'a> {
    /// Starts the clock.
    pub fn start(limits: &'a LimitArgs, cancel: &'a CancelFlag) -> Self {
        Self { limits, clock: limits.clock(), cancel, progress: Progress::new() }
    }

    /// Options of a solve that begins now.
    pub fn options(&self, method: bestset::Method) -> bestset::Options {
        self.limits.options(method, &self.clock, self.cancel)
    }
}
