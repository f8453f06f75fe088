//! One run: the answer, what it proves, what it cost.

use crate::Result;
use crate::algorithm::{Algorithm, DEFAULT};
use crate::figures::{Data, Setting};
use crate::row::{Ended, Row};
use bestset::design::Design;
use bestset::screening;
use bestset::{Options, Penalty, Problem, Solution, Status, solve};
use bestset_data::{estimation_error, recovery};
use rustix::time::{ClockId, clock_gettime};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

/// Runs shorter than this together are repeated, and the middle one counts.
const SHORT: f64 = 0.1;
const REPEATS: usize = 5;

/// How often processor time is looked at, and how many times the cap the clock may show at the most.
const WATCH: Duration = Duration::from_millis(5);
const PATIENCE: f64 = 10.0;

/// Processor seconds of this process so far; on a shared machine they say more than the clock.
pub fn cpu_seconds() -> f64 {
    let now = clock_gettime(ClockId::ProcessCPUTime);
    now.tv_sec as f64 + 1e-9 * now.tv_nsec as f64
}

/// A data set posed both ways, with the cost of one pass over X.
pub struct Posed<'a> {
    setting: &'a Setting,
    data: &'a Data,
    design: &'a dyn Design,
    priced: Problem<'a>,
    pass_seconds: f64,
}

impl<'a> Posed<'a> {
    /// Poses the problems and times a pass.
    pub fn new(setting: &'a Setting, data: &'a Data, design: &'a dyn Design) -> Result<Self> {
        let mut posed = Self { setting, data, design, priced: pose(setting, data, design, false)?, pass_seconds: 0.0 };
        posed.pass_seconds = time_pass(design, &data.y)?;
        Ok(posed)
    }

    /// Runs one algorithm; `cdss` is the row of CDSS on the same data, if there is one.
    pub fn run(&self, algorithm: Algorithm, cap: f64, cdss: Option<&Row>) -> Result<Row> {
        let (solution, cpu_seconds) = self.timed(algorithm, cap)?;
        let mut row = self.row(algorithm, &solution)?;
        (row.cap, row.cpu_seconds, row.pass_seconds) = (cap, cpu_seconds, self.pass_seconds);
        row.time_in_passes = cpu_seconds / self.pass_seconds;
        row.time_to_cdss = match algorithm.label {
            "CDSS" => Some(1.0),
            _ => cdss.map(|cdss| row.time_in_passes / cdss.time_in_passes),
        };
        Ok(row)
    }

    /// The answer with the processor seconds of the middle one of up to five runs. The problem is posed anew for each:
    /// what it remembers of X would be a present to those that run later.
    fn timed(&self, algorithm: Algorithm, cap: f64) -> Result<(Solution, f64)> {
        let (mut runs, mut total) = (Vec::new(), 0.0);
        while runs.is_empty() || (total < SHORT && runs.len() < REPEATS) {
            let problem = pose(self.setting, self.data, self.design, algorithm.is_k_sparse())?;
            let (solution, spent) = solve_capped(&problem, algorithm, cap)?;
            total += spent;
            runs.push((solution, spent));
        }
        runs.sort_by(|a, b| a.1.total_cmp(&b.1));
        let middle = runs.len() / 2;
        Ok(runs.swap_remove(middle))
    }

    fn row(&self, algorithm: Algorithm, solution: &Solution) -> Result<Row> {
        let (setting, certificate) = (self.setting, &solution.certificate);
        let truth = self.data.truth.as_ref();
        let found = truth.map(|truth| recovery(&truth.support, solution.support()));
        let screened = (algorithm == DEFAULT).then(|| self.screened(solution)).transpose()?;
        let capped = matches!(solution.status, Status::Interrupted | Status::TimeLimit);
        let entry = if self.design.is_sparse() { 12.0 } else { 8.0 };
        Ok(Row {
            setting: setting.name.clone(),
            snr: setting.snr,
            rho: setting.rho,
            n: setting.n,
            p: setting.p,
            lambda0: setting.lambda[0],
            lambda1: setting.lambda[1],
            lambda2: setting.lambda[2],
            k: setting.k,
            replicate: self.data.replicate,
            seed: self.data.seed,
            algorithm: algorithm.label.to_owned(),
            status: if capped { Status::TimeLimit } else { solution.status }.to_string(),
            ended_by: match solution.rule {
                _ if capped => Some(Ended::Cap),
                rule => rule.map(Ended::from),
            },
            objective: self.priced.objective(&solution.coefficients)?,
            own_objective: certificate.objective,
            own_bound: certificate.lower_bound,
            relaxation: certificate.relaxation,
            gap: certificate.gap(),
            nonzeros: solution.coefficients.nonzeros(),
            recovered: found.map(|f| u8::from(f.is_exact())),
            recovered_share: found.map(|f| f.share()),
            estimation_error: truth.map(|truth| estimation_error(truth, &solution.coefficients)),
            iterations: solution.iterations,
            passes: solution.passes,
            bytes_read: solution.passes * self.design.stored() as f64 * entry,
            screened_by_p: screened.map(|s| s[0]),
            screened_by_r: screened.map(|s| s[1]),
            cap: 0.0,
            capped: u8::from(capped),
            time_in_passes: 0.0,
            time_to_cdss: None,
            pass_seconds: 0.0,
            cpu_seconds: 0.0,
            seconds: solution.seconds,
        })
    }

    /// Share of all features that the ball around the default solver's dual point screens, with the radius from P as
    /// published and with the radius from R (MATH §5).
    fn screened(&self, solution: &Solution) -> bestset::Result<[f64; 2]> {
        let (problem, certificate) = (&self.priced, &solution.certificate);
        let features: Vec<usize> = (0..problem.ncols()).collect();
        let mut tau = vec![0.0; features.len()];
        self.design.correlate(&features, &solution.dual, &mut tau)?;
        let (bound, lengths) = (problem.lower_bound(&solution.dual)?, problem.lengths()?);
        Ok([certificate.objective, certificate.relaxation.unwrap_or(f64::NAN)].map(|upper| {
            let radius = screening::radius(upper, bound, problem.mu());
            let zero =
                |j: &&usize| screening::zero_in_relaxation(problem.coordinate(**j), tau[**j], lengths.of(**j), radius);
            features.iter().filter(zero).count() as f64 / features.len() as f64
        }))
    }
}

/// The answer and its processor seconds. The cap is one of processor time as well: on a busy machine a cap by the clock would
/// cut the slow algorithms short.
fn solve_capped(problem: &Problem<'_>, algorithm: Algorithm, cap: f64) -> Result<(Solution, f64)> {
    let time_limit = Some(Duration::from_secs_f64(PATIENCE * cap));
    let mut options = Options { time_limit, ..Options::with_method(algorithm.method) };
    options.published.stop = algorithm.stop;
    let (over, ended) = mpsc::channel::<()>();
    let cancel = options.cancel.clone();
    let start = cpu_seconds();
    let watch = thread::spawn(move || {
        while let Err(RecvTimeoutError::Timeout) = ended.recv_timeout(WATCH) {
            if cpu_seconds() - start >= cap {
                return cancel.cancel();
            }
        }
    });
    let start = cpu_seconds();
    let solution = solve(problem, &options);
    let spent = cpu_seconds() - start;
    drop(over);
    watch.join().map_err(|_| "the watch failed")?;
    Ok((solution?, spent))
}

/// The problem with a price per feature, or with at most k features.
fn pose<'a>(setting: &Setting, data: &'a Data, design: &'a dyn Design, k_sparse: bool) -> Result<Problem<'a>> {
    let [l0, l1, l2] = setting.lambda;
    let price = if k_sparse { 0.0 } else { l0 };
    let problem = Problem::new(design, data.y.as_slice(), Penalty::new(price, l1, l2))?;
    Ok(if k_sparse { problem.with_max_size(setting.k)? } else { problem })
}

/// Processor seconds of one pass Xᵀα over all features.
fn time_pass(design: &dyn Design, v: &[f64]) -> Result<f64> {
    let features: Vec<usize> = (0..design.ncols()).collect();
    let mut out = vec![0.0; features.len()];
    // The first pass brings X into the caches, as the solvers' own first one does.
    design.correlate(&features, v, &mut out)?;
    let (start, mut count) = (cpu_seconds(), 0);
    while count < 5 || (cpu_seconds() - start < 0.02 && count < 1000) {
        design.correlate(&features, v, &mut out)?;
        count += 1;
    }
    Ok((cpu_seconds() - start) / f64::from(count))
}
