//! Timed solves, timed passes over X, and memory.

use crate::Failure;
use crate::input::Input;
use bestset::{Options, Solution, Status, solve};
use serde::Serialize;
use std::mem::size_of_val;
use std::time::Instant;

/// Passes over X that are timed.
const PASSES: usize = 20;

/// The figures printed. Values that are not finite are `null`.
#[derive(Debug, Serialize)]
pub struct Figures {
    method: &'static str,
    status: Status,
    /// Median over the timed solves; each includes what a caller pays for: checks, norms of the columns, the solve.
    seconds: f64,
    best_seconds: f64,
    all_seconds: Vec<f64>,
    /// Median time of one full τ = Xᵀα with the same threads.
    correlate_seconds: f64,
    objective: f64,
    relaxation: Option<f64>,
    lower_bound: f64,
    gap: f64,
    relative_gap: f64,
    relative_relaxation_gap: Option<f64>,
    nonzeros: usize,
    passes: f64,
    iterations: usize,
    /// Most memory in use during the solves beyond what was in use before them, data included; Linux only.
    peak_rss_extra_bytes: Option<u64>,
    /// Memory of the answer itself.
    solution_bytes: usize,
}

/// Runs the solves; returns the figures and the dense coefficients of the last one.
pub fn measure(input: &Input) -> Result<(Figures, Vec<f64>), Failure> {
    let options = options(input);
    memory::reset_peak();
    let before = memory::resident();
    solve(&input.problem()?, &options)?;
    let mut all_seconds = Vec::with_capacity(input.header.repeats);
    let mut last = None;
    for _ in 0..input.header.repeats {
        let start = Instant::now();
        last = Some(solve(&input.problem()?, &options)?);
        all_seconds.push(start.elapsed().as_secs_f64());
    }
    let peak = memory::peak();
    let solution = last.expect("there is at least one repeat");
    let correlate_seconds = time_passes(input, &solution.dual)?;
    let extra = peak.zip(before).map(|(peak, before)| peak.saturating_sub(before));
    let beta = solution.coefficients.to_dense(input.header.p);
    Ok((figures(input, &solution, all_seconds, correlate_seconds, extra), beta))
}

fn options(input: &Input) -> Options {
    let header = &input.header;
    Options { threads: Some(header.threads), ..Options::with_method(header.method) }
}

fn figures(
    input: &Input,
    solution: &Solution,
    all_seconds: Vec<f64>,
    correlate_seconds: f64,
    peak_rss_extra_bytes: Option<u64>,
) -> Figures {
    let certificate = &solution.certificate;
    Figures {
        method: input.header.method.name(),
        status: solution.status,
        seconds: median(&all_seconds),
        best_seconds: all_seconds.iter().copied().fold(f64::INFINITY, f64::min),
        all_seconds,
        correlate_seconds,
        objective: certificate.objective,
        relaxation: certificate.relaxation,
        lower_bound: certificate.lower_bound,
        gap: certificate.gap(),
        relative_gap: certificate.relative_gap(),
        relative_relaxation_gap: certificate.relative_relaxation_gap(),
        nonzeros: solution.coefficients.nonzeros(),
        passes: solution.passes,
        iterations: solution.iterations,
        peak_rss_extra_bytes,
        solution_bytes: size_of_val(solution.coefficients.support.as_slice())
            + size_of_val(solution.coefficients.values.as_slice())
            + size_of_val(solution.dual.as_slice())
            + size_of_val(solution.trace.as_slice())
            + size_of_val(solution),
    }
}

/// Median time of one full pass over X, after one that is not timed.
fn time_passes(input: &Input, alpha: &[f64]) -> Result<f64, Failure> {
    let threads = input.header.threads;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.map_err(|source| Failure::Threads { threads, source })?;
    let features: Vec<usize> = (0..input.header.p).collect();
    let mut tau = vec![0.0; features.len()];
    let mut pass = || {
        let start = Instant::now();
        input.design.correlate(&features, alpha, &mut tau);
        start.elapsed().as_secs_f64()
    };
    let seconds: Vec<f64> = pool.install(|| (0..=PASSES).map(|_| pass()).collect());
    Ok(median(&seconds[1..]))
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    if sorted.len() % 2 == 1 { sorted[middle] } else { 0.5 * (sorted[middle - 1] + sorted[middle]) }
}

/// Memory of this process as the kernel counts it; `None` where there is no such count.
mod memory {
    /// Bytes in use now.
    pub fn resident() -> Option<u64> {
        field("VmRSS:")
    }

    /// Most bytes in use since [`reset_peak`], or since the start where that is not allowed.
    pub fn peak() -> Option<u64> {
        field("VmHWM:")
    }

    /// Asks the kernel to forget the peak so far.
    pub fn reset_peak() {
        // Refused in some containers; reading the files then set a peak barely above what stays in use.
        let _ = std::fs::write("/proc/self/clear_refs", "5");
    }

    fn field(name: &str) -> Option<u64> {
        let status = std::fs::read_to_string("/proc/self/status").ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        let kilobytes: u64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
        Some(kilobytes * 1024)
    }
}

#[cfg(test)]
mod tests {
    use super::median;

    #[test]
    fn the_median_is_the_middle_one() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
    }
}
