//! What a certificate claims, held against what is true; the seeds of an attack, and what came of them.

use super::Case;
use bestset::{Certificate, Status, Subset, Subsets};
use std::ops::Range;

/// lower bound ≤ P* ≤ objective and, where the answer is called optimal, objective ≤ P* but for the gap asked for (1e-6 of it, or
/// 1e-9 as it stands). `scale` is what rounding is relative to. Whether it is called optimal.
#[track_caller]
pub fn holds(c: Certificate, status: Status, least: f64, scale: f64, context: &dyn std::fmt::Debug) -> bool {
    holds_between(c, status, (least, least), scale, context)
}

/// The same where P* is known to be between two numbers.
#[track_caller]
pub fn holds_between(
    c: Certificate,
    status: Status,
    (low, high): (f64, f64),
    scale: f64,
    context: &dyn std::fmt::Debug,
) -> bool {
    let say = || format!("{status} {c:?}, P* = {low}..{high}, {context:?}");
    assert!(c.lower_bound <= high + 1e-12 * scale, "the bound is wrong by {:e}: {}", c.lower_bound - high, say());
    assert!(c.objective >= low - 1e-11 * scale, "better than best: {}", say());
    let is_optimal = status == Status::Optimal;
    assert!(!is_optimal || c.objective <= high + 1e-6 * high.abs() + 2e-9, "not optimal: {}", say());
    is_optimal
}

/// What rounding may do to P of given coefficients: u = Xβ is as exact as its largest term.
fn evaluation(data: &Case, s: &Subset) -> f64 {
    let length = |v: &[f64]| (0..data.n).map(|i| data.weight(i) * v[i] * v[i]).sum::<f64>().sqrt();
    let terms: f64 = s.coefficients.iter().map(|(j, b)| b.abs() * data.norm(j)).sum();
    let objective = s.certificate.objective;
    16.0 * f64::EPSILON * (terms + length(&data.y)) * (2.0 * objective).sqrt() + 1e-13 * objective
}

/// Checks every claim about the best subset of every size beside the least P of each, where numbers below `floor` are none and a gap of
/// `room` is no gap; how many are proved.
#[track_caller]
pub fn sizes_hold(data: &Case, best: &[f64], found: &Subsets, (floor, room): (f64, f64), context: &str) -> usize {
    let mut proved = 0;
    for (s, k) in found.sizes.iter().zip(1..) {
        let (c, least) = (s.certificate, best[k]);
        let say = || format!("{context}, size {k}: {} {c:?}, least {least}, {:?} {data:?}", s.status, s.coefficients);
        assert!(s.size == k && s.coefficients.nonzeros() <= k, "{}", say());
        assert!(c.lower_bound <= least.max(floor), "the bound is wrong: {}", say());
        assert!(c.objective >= least - evaluation(data, s), "better than best: {}", say());
        if s.status == Status::Optimal {
            assert!(c.objective <= least + 1e-6 * least + room, "not optimal: {}", say());
            proved += 1;
        }
    }
    proved
}

/// The variable that names other seeds than the usual ones: `BESTSET_ATTACK=first..last`, as `make attack` sets it.
pub const SEEDS: &str = "BESTSET_ATTACK";

/// The seeds 0..usual, or those that [`SEEDS`] names.
pub fn seeds(usual: u64) -> Range<u64> {
    let Ok(text) = std::env::var(SEEDS) else { return 0..usual };
    let number = |text: &str| text.trim().parse::<u64>().ok();
    let range = text.split_once("..").and_then(|(first, last)| Some(number(first)?..number(last)?));
    match range {
        Some(range) if !range.is_empty() => range,
        _ => panic!("{SEEDS} is {text:?}; it must be seeds as in 0..1000, the last one not included"),
    }
}

/// How many problems a test draws that draws so many: a fifth of them, and all with CHECK=yes, as CI has it.
pub fn share(all: usize) -> usize {
    let every = std::env::var_os("CHECK").is_some_and(|text| !text.is_empty());
    if every { all } else { all.div_ceil(5) }
}

/// What an attack counted; shown at its end.
#[derive(Debug, Default)]
pub struct Tally(Vec<(&'static str, u64)>);

impl Tally {
    /// So many more.
    pub fn add(&mut self, what: &'static str, count: impl TryInto<u64>) {
        let count = count.try_into().unwrap_or_else(|_| panic!("{what}"));
        match self.0.iter_mut().find(|(name, _)| *name == what) {
            Some((_, sum)) => *sum += count,
            None => self.0.push((what, count)),
        }
    }

    /// How many there are.
    pub fn of(&self, what: &str) -> u64 {
        self.0.iter().find(|(name, _)| *name == what).map_or(0, |(_, sum)| *sum)
    }

    /// Fails unless every seed is among the problems and there is as much of each first count as it should have, in thousandths of
    /// the last. Shares mean something for forty seeds or more.
    #[track_caller]
    pub fn conclude(&self, name: &str, seeds: &Range<u64>, least: &[(&str, u64, &str)]) {
        let counts: Vec<String> = self.0.iter().map(|(what, count)| format!("{count} {what}")).collect();
        println!("{name}, seeds {}..{}: {}", seeds.start, seeds.end, counts.join(", "));
        let problems = seeds.end - seeds.start;
        assert_eq!(self.of("problems"), problems, "{name}: some seeds were passed by");
        for (what, share, whole) in least.iter().filter(|_| problems >= 40) {
            let (found, all) = (self.of(what), self.of(whole));
            assert!(1000 * found >= share * all, "{name}: {found} {what} of {all} {whole}: {self:?}");
        }
    }
}
