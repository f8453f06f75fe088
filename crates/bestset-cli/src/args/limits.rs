//! Limits on time, threads and memory.

use super::{bytes, seconds, threads};
use bestset::CancelFlag;
use bestset::{Method, Options};
use clap::Args;
use std::time::{Duration, Instant};

/// Limits of a computation.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Limits")]
pub struct LimitArgs {
    /// Seconds after which the best answer so far is returned, reading included.
    #[arg(long, value_name = "SECONDS", value_parser = seconds, allow_negative_numbers = true)]
    pub time_limit: Option<Duration>,
    /// Threads [default: all].
    #[arg(long, value_name = "COUNT", value_parser = threads, allow_negative_numbers = true)]
    pub threads: Option<usize>,
    /// Most memory for the data, and as much again for the solve: 512M, 8G [default: half of what the machine has to spare].
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    pub max_memory: Option<usize>,
    /// Most iterations, in the unit of the method.
    #[arg(long, value_name = "COUNT", allow_negative_numbers = true)]
    pub max_iterations: Option<usize>,
    /// Most nodes of branch and bound.
    #[arg(long, value_name = "COUNT", allow_negative_numbers = true)]
    pub max_nodes: Option<usize>,
    /// Relative gap between answer and bound at which the answer counts as proved.
    #[arg(long, value_name = "SHARE", default_value_t = 1e-6, allow_negative_numbers = true, value_parser = share)]
    pub gap: f64,
}

/// A share that says something: with one or more, every answer would be proved.
fn share(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(share) if (0.0..1.0).contains(&share) => Ok(share),
        _ => Err("at least 0 and below 1 is wanted".to_owned()),
    }
}

/// Time since the command started, and what is left of its limit.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    start: Instant,
    limit: Option<Duration>,
}

impl Clock {
    /// Seconds since the start.
    pub fn seconds(&self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }

    /// What is left.
    pub fn left(&self) -> Option<Duration> {
        self.limit.map(|limit| limit.saturating_sub(self.start.elapsed()))
    }
}

impl LimitArgs {
    /// Starts the clock.
    pub fn clock(&self) -> Clock {
        Clock { start: Instant::now(), limit: self.time_limit }
    }

    /// Options of a solve that begins now.
    pub fn options(&self, method: Method, clock: &Clock, cancel: &CancelFlag) -> Options {
        Options {
            time_limit: clock.left(),
            threads: self.threads,
            max_memory: self.max_memory,
            max_iterations: self.max_iterations,
            max_nodes: self.max_nodes,
            gap: self.gap,
            cancel: cancel.clone(),
            ..Options::with_method(method)
        }
    }
}
