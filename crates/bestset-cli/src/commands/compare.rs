//! `bestset compare`: every algorithm on the same simulated data, with traces.

use crate::args::{DataArgs, ProblemArgs, SolverArgs, Terms, method_parser, seconds};
use crate::exit::{Exit, Failure};
use crate::output::{self, Summary, number, trace};
use bestset::CancelFlag;
use bestset::{Coefficients, Method, Problem, Solution, Status};
use bestset_data::{Simulation, Simulator, recovery};
use clap::Args;
use serde::Serialize;
use std::io::Write;
use std::time::Duration;

/// Run every algorithm, the published ones, the default and the exact one, on the same simulated data and compare their
/// answers.
#[derive(Debug, Args)]
#[command(after_help = "\
A time limit that strikes is part of the comparison: the exit code is 0.
In the trace of exact, iterations are nodes and active are the open ones.
Example: bestset compare --methods cdss,incremental --n 400 --no-trace")]
pub struct Compare {
    #[command(flatten)]
    data: DataArgs,
    #[command(flatten)]
    problem: ProblemArgs,
    /// Algorithms, in the order they are to run [default: all; the default one and exact come last].
    #[arg(long, value_delimiter = ',', value_parser = method_parser(), help_heading = "Solver")]
    methods: Vec<Method>,
    #[command(flatten)]
    solver: SolverArgs,
    /// Seconds for each algorithm.
    #[arg(long, default_value = "20", value_name = "SECONDS", value_parser = seconds, allow_negative_numbers = true, help_heading = "Solver")]
    time_limit: Duration,
    /// One JSON object with full traces in place of tables; values that are not finite are null.
    #[arg(long, help_heading = "Output")]
    json: bool,
    /// Leave the traces out.
    #[arg(long, help_heading = "Output")]
    no_trace: bool,
}

/// The same data with a price per feature, and with at most k features, which concerns D-IHT alone.
struct Problems<'a> {
    priced: Problem<'a>,
    k_sparse: Problem<'a>,
}

/// One algorithm's run, or why it cannot solve the problem.
struct Run {
    method: Method,
    terms: Terms,
    outcome: bestset::Result<Solution>,
    /// P of the answer with the price per feature, also where the algorithm solved the k-sparse problem.
    priced: f64,
    hits: usize,
}

/// The JSON of `bestset compare`.
#[derive(Serialize)]
struct ComparisonJson<'a> {
    simulation: &'a Simulator,
    runs: Vec<RunReport<'a>>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum RunReport<'a> {
    Solved {
        problem: Terms,
        #[serde(flatten)]
        summary: Summary<'a>,
        hits: usize,
    },
    Refused {
        problem: Terms,
        method: &'static str,
        error: String,
    },
}

impl Compare {
    pub fn run(&self, cancel: &CancelFlag, out: &mut dyn Write) -> Result<Exit, Failure> {
        let simulator = self.data.simulator(self.problem.task());
        let data = simulator.generate()?;
        let design = data.design();
        // Posed before the first one runs: what is refused must not come to light after minutes.
        let (priced, k_sparse) = (self.problem.priced(), self.problem.k_sparse(data.truth().nonzeros()));
        let posed = Problems { priced: priced.pose(&design, data.y())?, k_sparse: k_sparse.pose(&design, data.y())? };
        if !self.json {
            self.write_opening(&data, out)?;
        }
        let mut runs = Vec::new();
        for method in self.methods() {
            let terms = if method == Method::DualIht { k_sparse } else { priced };
            let run = self.solve(method, terms, &posed, data.truth(), cancel)?;
            if !self.json {
                self.write_run(&run, out)?;
            }
            runs.push(run);
            if cancel.is_cancelled() {
                break;
            }
        }
        if self.json {
            let runs = runs.iter().map(|run| run.report(!self.no_trace)).collect();
            serde_json::to_writer_pretty(&mut *out, &ComparisonJson { simulation: &simulator, runs })?;
            writeln!(out)?;
        } else {
            write_summary(&runs, data.truth().nonzeros(), out)?;
        }
        out.flush()?;
        Ok(if cancel.is_cancelled() { Exit::Interrupted } else { Exit::Done })
    }

    /// The methods asked for; the published ones first, then the default and the proof, which the others are measured against.
    fn methods(&self) -> Vec<Method> {
        if !self.methods.is_empty() {
            return self.methods.clone();
        }
        let mut all = Method::ALL;
        all.rotate_left(2);
        all.to_vec()
    }

    /// Runs one method. Settings that no method accepts are an error; what this method alone cannot solve is reported in
    /// its place.
    fn solve(
        &self,
        method: Method,
        terms: Terms,
        posed: &Problems<'_>,
        truth: &Coefficients,
        cancel: &CancelFlag,
    ) -> Result<Run, Failure> {
        let problem = if terms.k.is_some() { &posed.k_sparse } else { &posed.priced };
        let options = self.solver.options(method, Some(self.time_limit), !self.no_trace, cancel);
        let outcome = match bestset::solve(problem, &options) {
            Err(error) if !matches!(error, bestset::Error::Unsupported { .. }) => return Err(error.into()),
            outcome => outcome,
        };
        let solution = outcome.as_ref().ok();
        let priced = solution.map(|s| posed.priced.objective(&s.coefficients)).transpose()?.unwrap_or(f64::NAN);
        let hits = solution.map_or(0, |s| recovery(&truth.support, s.support()).hits);
        Ok(Run { method, terms, outcome, priced, hits })
    }

    fn write_opening(&self, data: &Simulation, out: &mut dyn Write) -> Result<(), Failure> {
        let title =
            format!("Simulated data: {} samples, {} features, {} true", data.n, data.p, data.truth().nonzeros());
        output::heading(out, &title)?;
        let DataArgs { snr, rho, seed, .. } = self.data;
        let seconds = self.time_limit.as_secs_f64();
        Ok(writeln!(out, "SNR {snr}, rho {rho}, seed {seed}; at most {seconds} s for each algorithm\n")?)
    }

    fn write_run(&self, run: &Run, out: &mut dyn Write) -> Result<(), Failure> {
        output::heading(out, &format!("Method {}", run.method.name()))?;
        writeln!(out, "{}", output::describe(&run.terms))?;
        match &run.outcome {
            Err(error) => writeln!(out, "cannot run: {error}")?,
            Ok(solution) => {
                if !self.no_trace {
                    writeln!(out, "{}", trace::table(&solution.trace))?;
                }
                writeln!(out, "{}", output::certificate::line(solution))?;
            }
        }
        writeln!(out)?;
        Ok(out.flush()?)
    }
}

impl Run {
    fn report(&self, with_trace: bool) -> RunReport<'_> {
        let (problem, method) = (self.terms, self.method.name());
        match &self.outcome {
            Ok(s) => RunReport::Solved { problem, summary: Summary::new(self.method, s, with_trace), hits: self.hits },
            Err(error) => RunReport::Refused { problem, method, error: error.to_string() },
        }
    }

    fn row(&self, true_size: usize) -> Vec<String> {
        let Ok(solution) = &self.outcome else {
            let mut row = vec!["–".to_owned(); HEADER.len()];
            (row[0], row[HEADER.len() - 1]) = (self.method.name().to_owned(), "refused".to_owned());
            return row;
        };
        let certificate = &solution.certificate;
        vec![
            self.method.name().to_owned(),
            number(certificate.objective),
            output::certificate::lower(certificate),
            output::above(certificate.gap()),
            output::percent_above(certificate.relative_gap()),
            solution.coefficients.nonzeros().to_string(),
            format!("{} of {true_size}", self.hits),
            solution.iterations.to_string(),
            output::seconds(solution.seconds),
            solution.status.to_string(),
        ]
    }
}

const HEADER: [&str; 10] =
    ["method", "P", "D", "gap P−D", "relative", "non-zeros", "true found", "iterations", "seconds", "ended"];

fn write_summary(runs: &[Run], true_size: usize, out: &mut dyn Write) -> Result<(), Failure> {
    output::heading(out, "Comparison")?;
    writeln!(out, "{}", output::table(&HEADER, runs.iter().map(|run| run.row(true_size))))?;
    for run in runs {
        if let (Some(k), Ok(_)) = (run.terms.k, &run.outcome) {
            let (name, priced) = (run.method.name(), number(run.priced));
            writeln!(
                out,
                "{name} solves the problem of at most {k} features without lambda0: its P, D and gap are of"
            )?;
            writeln!(out, "that problem. With the price per feature of the others, its answer has P = {priced}.")?;
        }
    }
    let interrupted = |run: &&Run| run.outcome.as_ref().is_ok_and(|s| s.status == Status::Interrupted);
    if runs.iter().any(|run| interrupted(&run)) {
        writeln!(out, "Interrupted: the algorithms after the last row did not run.")?;
    }
    Ok(())
}
