//! A line that shows what is going on, on a terminal; nothing elsewhere.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::time::Duration;

/// The line. It disappears when dropped.
pub struct Progress(ProgressBar);

impl Progress {
    /// An empty line.
    pub fn new() -> Self {
        // Hidden by itself where standard error is not a terminal.
        Self(ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr()))
    }

    /// Something whose end is not known.
    pub fn start(&self, what: impl Into<String>) {
        if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed} {msg}") {
            self.0.set_style(style);
        }
        self.0.set_message(what.into());
        self.0.enable_steady_tick(Duration::from_millis(100));
    }

    /// What is going on now.
    pub fn say(&self, what: impl Into<String>) {
        self.0.set_message(what.into());
    }

    /// Takes the line away.
    pub fn done(&self) {
        self.0.disable_steady_tick();
        self.0.finish_and_clear();
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.done();
    }
}
