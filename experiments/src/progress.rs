//! A bar with the remaining time on a terminal, a line now and then elsewhere.

use indicatif::{ProgressBar, ProgressStyle};
use std::collections::HashMap;
use std::time::Instant;

/// Seconds between lines where there is no terminal.
const QUIET: f64 = 60.0;

/// How far a figure is. Runs differ by a factor of a thousand, so that the time left is estimated kind by kind.
pub struct Progress {
    bar: ProgressBar,
    left: HashMap<String, usize>,
    known: HashMap<String, (f64, usize)>,
    guess: f64,
    said: Instant,
    name: &'static str,
}

impl Progress {
    /// `kinds` has an entry for each run to be made; `guess` is the seconds of a kind that was never run.
    pub fn new(name: &'static str, kinds: impl Iterator<Item = String>, guess: f64) -> Self {
        let mut left = HashMap::new();
        kinds.for_each(|kind| *left.entry(kind).or_insert(0) += 1);
        let bar = ProgressBar::new(left.values().sum::<usize>() as u64);
        let style = ProgressStyle::with_template("{prefix:>10} [{bar:30}] {pos}/{len} {msg}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.set_prefix(name);
        Self { bar, left, known: HashMap::new(), guess, said: Instant::now(), name }
    }

    /// Seconds that a run of this kind took, in this or an earlier process.
    pub fn learn(&mut self, kind: &str, seconds: f64) {
        let entry = self.known.entry(kind.to_owned()).or_insert((0.0, 0));
        *entry = (entry.0 + seconds, entry.1 + 1);
    }

    /// A run of this kind is done.
    pub fn done(&mut self, kind: &str, seconds: f64, what: &str) {
        self.learn(kind, seconds);
        if let Some(left) = self.left.get_mut(kind) {
            *left = left.saturating_sub(1);
        }
        self.bar.inc(1);
        let message = format!("{} left · {what}", words(self.remaining()));
        if self.bar.is_hidden() && self.said.elapsed().as_secs_f64() > QUIET {
            eprintln!("{}: {} of {}, {message}", self.name, self.bar.position(), self.bar.length().unwrap_or(0));
            self.said = Instant::now();
        }
        self.bar.set_message(message);
    }

    /// Seconds left, by the mean of each kind.
    fn remaining(&self) -> f64 {
        let mean = |kind: &String| self.known.get(kind).map_or(self.guess, |(sum, count)| sum / *count as f64);
        self.left.iter().map(|(kind, count)| *count as f64 * mean(kind)).sum()
    }

    /// Clears the bar.
    pub fn finish(self) {
        self.bar.finish_and_clear();
    }
}

fn words(seconds: f64) -> String {
    match seconds {
        s if s < 90.0 => format!("{s:.0} s"),
        s if s < 5400.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_is_learned_kind_by_kind() {
        let kinds = ["slow", "slow", "fast", "new"].map(str::to_owned);
        let mut progress = Progress::new("test", kinds.into_iter(), 5.0);
        assert_eq!(progress.remaining(), 20.0);
        progress.learn("fast", 1.0);
        progress.done("slow", 100.0, "");
        assert_eq!(progress.remaining(), 100.0 + 1.0 + 5.0);
        assert_eq!((words(80.0), words(600.0), words(7200.0)), ("80 s".into(), "10 min".into(), "2.0 h".into()));
    }
}
