//! Timed solves, timed passes over X, and memory.

use crate::BenchFailure;
use crate::input::{Input, Phase};
use bestset::internals::{Monitor, Workspace, convex};
use bestset::{Certificate, Coefficients, Method, Options, Status, TraceRow};
use bestset::{Published, Stop, solve_observed};
use rayon::ThreadPool;
use serde::Serialize;
use std::mem::size_of_val;
use std::time::{Duration, Instant};

/// Passes over X that are timed.
const PASSES: usize = 20;

/// The figures printed. Values that are not finite are `null`.
#[derive(Debug, Serialize)]
pub struct Figures {
    method: &'static str,
    phase: Phase,
    status: Status,
    /// Median over the timed solves; each includes what a caller pays for: checks, norms of the columns, the solve.
    seconds: f64,
    best_seconds: f64,
    all_seconds: Vec<f64>,
    /// Timed solves.
    calls: usize,
    /// Median processor time of the timed solves, all threads together; Unix only.
    cpu_seconds: Option<f64>,
    /// Median time of the convex phase alone, where the default method ran both.
    convex_seconds: Option<f64>,
    convex_cpu_seconds: Option<f64>,
    /// Median time of one full τ = Xᵀα with the same threads.
    correlate_seconds: f64,
    correlate_cpu_seconds: Option<f64>,
    objective: f64,
    relaxation: Option<f64>,
    lower_bound: f64,
    gap: f64,
    relative_gap: f64,
    relative_relaxation_gap: Option<f64>,
    nonzeros: usize,
    passes: f64,
    iterations: usize,
    /// Most columns in the active set at once, as far as the trace shows.
    active: usize,
    /// Most memory in use during the solves beyond what was in use before them, data included; Linux only.
    peak_rss_extra_bytes: Option<u64>,
    /// Memory of the answer itself.
    solution_bytes: usize,
}

/// Durations of repeated work.
#[derive(Default)]
struct Times {
    wall: Vec<f64>,
    processor: Vec<f64>,
}

impl Times {
    /// Runs and times `work`.
    fn add<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let (start, busy) = (Instant::now(), processor_seconds());
        let result = work();
        self.wall.push(start.elapsed().as_secs_f64());
        self.processor.extend(processor_seconds().zip(busy).map(|(end, start)| end - start));
        result
    }

    /// Median processor time, where there is such a clock.
    fn processor(&self) -> Option<f64> {
        (!self.processor.is_empty()).then(|| median(&self.processor))
    }
}

/// An answer of either phase.
struct Measured {
    coefficients: Coefficients,
    certificate: Certificate,
    status: Status,
    dual: Vec<f64>,
    passes: f64,
    iterations: usize,
    active: usize,
}

/// Runs the solves; returns the figures, the dense coefficients and the dual point of the last one.
pub fn measure(input: &Input) -> Result<(Figures, Vec<f64>, Vec<f64>), BenchFailure> {
    let header = &input.header;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(header.threads).build();
    let pool = pool.map_err(|source| BenchFailure::Threads { threads: header.threads, source })?;
    memory::reset_peak();
    let before = memory::resident();
    let (answer, times) = repeat(input, header.phase, &pool)?;
    let extra = memory::peak().zip(before).map(|(peak, before)| peak.saturating_sub(before));
    let both = header.phase == Phase::Both && header.method == Method::Incremental;
    let convex = both.then(|| repeat(input, Phase::Convex, &pool)).transpose()?.map(|(_, times)| times);
    let passes = time_passes(input, &answer.dual, &pool);
    let certificate = &answer.certificate;
    let figures = Figures {
        method: header.method.name(),
        phase: header.phase,
        status: answer.status,
        seconds: median(&times.wall),
        best_seconds: times.wall.iter().copied().fold(f64::INFINITY, f64::min),
        calls: times.wall.len(),
        cpu_seconds: times.processor(),
        all_seconds: times.wall,
        convex_seconds: convex.as_ref().map(|times| median(&times.wall)),
        convex_cpu_seconds: convex.as_ref().and_then(Times::processor),
        correlate_seconds: median(&passes.wall),
        correlate_cpu_seconds: passes.processor(),
        objective: certificate.objective,
        relaxation: certificate.relaxation,
        lower_bound: certificate.lower_bound,
        gap: certificate.gap(),
        relative_gap: certificate.relative_gap(),
        relative_relaxation_gap: certificate.relative_relaxation_gap(),
        nonzeros: answer.coefficients.nonzeros(),
        passes: answer.passes,
        iterations: answer.iterations,
        active: answer.active,
        peak_rss_extra_bytes: extra,
        solution_bytes: answer.bytes(),
    };
    Ok((figures, answer.coefficients.to_dense(header.p), answer.dual))
}

/// One solve that is not timed, if wanted, then the timed ones: the last answer and all times.
fn repeat(input: &Input, phase: Phase, pool: &ThreadPool) -> Result<(Measured, Times), BenchFailure> {
    let mut last = None;
    if input.header.warm_up {
        last = Some(pool.install(|| answer(input, phase))?);
    }
    let mut times = Times::default();
    loop {
        // Not two answers in memory at once.
        drop(last.take());
        let found = times.add(|| pool.install(|| answer(input, phase)))?;
        if times.wall.len() == input.header.repeats {
            return Ok((found, times));
        }
        last = Some(found);
    }
}

/// Processor time of this process so far.
fn processor_seconds() -> Option<f64> {
    #[cfg(unix)]
    {
        let now = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
        Some(now.tv_sec as f64 + 1e-9 * now.tv_nsec as f64)
    }
    #[cfg(not(unix))]
    None
}

/// Solves a fresh problem.
fn answer(input: &Input, phase: Phase) -> bestset::Result<Measured> {
    let header = &input.header;
    // The published ascents are given all the time there is: only their P counts.
    let published = Published { stop: Stop::Patient, ..Published::default() };
    let options = Options {
        published,
        relaxation_gap: header.gap,
        gap: header.optimality_gap,
        time_limit: header.time_limit.map(Duration::from_secs_f64),
        max_nodes: header.max_nodes,
        warm_start: input.start.clone(),
        ..Options::with_method(header.method)
    };
    let problem = input.problem()?;
    let mut active = 0;
    let mut observer = |row: &TraceRow| active = active.max(row.active);
    if phase == Phase::Both || header.method != Method::Incremental {
        let solution = solve_observed(&problem, &options, &mut observer)?;
        return Ok(Measured {
            coefficients: solution.coefficients,
            certificate: solution.certificate,
            status: solution.status,
            dual: solution.dual,
            passes: solution.passes,
            iterations: solution.iterations,
            active,
        });
    }
    options.validate(&problem)?;
    let mut monitor = Monitor::new(&options, &mut observer);
    let mut work = Workspace::new(&problem);
    if let Some(start) = &options.warm_start {
        work.load(start)?;
    }
    let relaxed = convex::solve(&mut work, &options, &mut monitor)?;
    let coefficients = work.coefficients();
    let (objective, relaxation) = (problem.objective(&coefficients)?, Some(relaxed.relaxation));
    let certificate = Certificate { objective, relaxation, lower_bound: relaxed.lower_bound };
    let status = certificate.status(relaxed.ended, options.gap_absolute, options.gap);
    let (passes, iterations) = (monitor.passes, relaxed.iterations);
    Ok(Measured { coefficients, certificate, status, dual: relaxed.dual, passes, iterations, active })
}

impl Measured {
    /// Memory it takes.
    fn bytes(&self) -> usize {
        let Coefficients { support, values, .. } = &self.coefficients;
        size_of_val(self)
            + size_of_val(support.as_slice())
            + size_of_val(values.as_slice())
            + size_of_val(self.dual.as_slice())
    }
}

/// Times of full passes over X, after one that is not timed.
fn time_passes(input: &Input, alpha: &[f64], pool: &ThreadPool) -> Times {
    let features: Vec<usize> = (0..input.header.p).collect();
    let mut tau = vec![0.0; features.len()];
    let mut times = Times::default();
    let mut pass = || input.design.correlate(&features, alpha, &mut tau).expect("columns in memory can be read");
    pool.install(|| {
        pass();
        (0..PASSES).for_each(|_| times.add(&mut pass));
    });
    times
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
