//! `bestset demo --simulated`: simulate, solve, show the answer beside the truth.

use crate::args::{DataArgs, ProblemArgs, SolverArgs, Terms, method_parser, seconds};
use crate::exit::{Exit, Failure};
use crate::output::{self, Summary, features, number, trace};
use bestset::CancelFlag;
use bestset::{Method, Solution};
use bestset_data::{Recovery, Simulation, Simulator, estimation_error, recovery};
use clap::Args;
use serde::Serialize;
use std::io::Write;
use std::time::Duration;

/// Simulated data with a known truth, and how they are solved.
#[derive(Debug, Args)]
pub struct Simulated {
    #[command(flatten)]
    pub data: DataArgs,
    #[command(flatten)]
    problem: ProblemArgs,
    /// Algorithm; exact is branch and bound: it ends with a proof or at a limit, and can take very long.
    #[arg(long, default_value = "incremental", value_parser = method_parser(), help_heading = "Solver")]
    method: Method,
    #[command(flatten)]
    solver: SolverArgs,
    /// Seconds after which the best answer so far is returned.
    #[arg(long, value_name = "SECONDS", value_parser = seconds, allow_negative_numbers = true, help_heading = "Solver")]
    time_limit: Option<Duration>,
    /// One JSON object in place of tables; values that are not finite are null.
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    /// Show how objective and bound moved; for exact, iterations are nodes and active are the open ones.
    #[arg(long, help_heading = "Output")]
    trace: bool,
    /// Largest coefficients to list.
    #[arg(long, default_value_t = 20, value_name = "COUNT", allow_negative_numbers = true, help_heading = "Output")]
    top: usize,
}

/// The JSON of `bestset demo --simulated`.
#[derive(Serialize)]
struct SimulatedJson<'a> {
    simulation: &'a Simulator,
    problem: Terms,
    #[serde(flatten)]
    summary: Summary<'a>,
    truth: &'a bestset::Coefficients,
    recovery: Recovery,
    estimation_error: f64,
}

impl Simulated {
    pub fn run(&self, cancel: &CancelFlag, out: &mut dyn Write) -> Result<Exit, Failure> {
        let simulator = self.data.simulator(self.problem.task());
        let data = simulator.generate()?;
        let design = data.design();
        let k_sparse = self.method == Method::DualIht || self.problem.k.is_some();
        if k_sparse && self.problem.lambda0.is_some_and(|price| price != 0.0) {
            let message = "--lambda0 has no place where k limits the number of features (--k, --method dual_iht)";
            return Err(Failure::Usage(message));
        }
        let terms = if k_sparse { self.problem.k_sparse(data.truth().nonzeros()) } else { self.problem.priced() };
        let problem = terms.pose(&design, data.y())?;
        let options = self.solver.options(self.method, self.time_limit, self.trace, cancel);
        options.validate(&problem)?;
        if !self.json {
            // Before the solve: it may take long.
            self.write_opening(&data, terms, out)?;
        }
        let solution = bestset::solve(&problem, &options)?;
        if self.json {
            self.write_json(&simulator, &data, terms, &solution, out)?;
        } else {
            self.write_tables(&data, terms, &solution, out)?;
        }
        out.flush()?;
        Ok(Exit::of(&solution))
    }

    fn write_json(
        &self,
        simulation: &Simulator,
        data: &Simulation,
        problem: Terms,
        solution: &Solution,
        out: &mut dyn Write,
    ) -> Result<(), Failure> {
        let truth = data.truth();
        let recovery = recovery(&truth.support, solution.support());
        let estimation_error = estimation_error(truth, &solution.coefficients);
        let summary = Summary::new(self.method, solution, self.trace);
        let report = SimulatedJson { simulation, problem, summary, truth, recovery, estimation_error };
        serde_json::to_writer_pretty(&mut *out, &report)?;
        Ok(writeln!(out)?)
    }

    fn write_opening(&self, data: &Simulation, terms: Terms, out: &mut dyn Write) -> Result<(), Failure> {
        output::heading(out, &format!("Simulated data: {} samples, {} features", data.n, data.p))?;
        writeln!(out, "SNR {}, rho {}, seed {}", self.data.snr, self.data.rho, self.data.seed)?;
        writeln!(out, "{}, method {}\n", output::describe(&terms), self.method.name())?;
        Ok(out.flush()?)
    }

    fn write_tables(
        &self,
        data: &Simulation,
        terms: Terms,
        solution: &Solution,
        out: &mut dyn Write,
    ) -> Result<(), Failure> {
        if self.trace {
            output::heading(out, "Trace")?;
            writeln!(out, "{}\n", trace::table(&solution.trace))?;
        }
        self.write_features(data, solution, out)?;
        output::heading(out, "Certificate")?;
        writeln!(
            out,
            "{}\n{}",
            output::certificate::table(solution, true),
            output::certificate::verdict(solution, &terms)
        )?;
        Ok(())
    }

    fn write_features(&self, data: &Simulation, solution: &Solution, out: &mut dyn Write) -> Result<(), Failure> {
        let truth = data.truth();
        let found = recovery(&truth.support, solution.support());
        output::heading(out, &format!("Selected features: {}", found.selected))?;
        writeln!(
            out,
            "{} of the {} true features among them, {} others; features count from 0",
            found.hits,
            found.truth,
            found.false_hits()
        )?;
        if self.problem.loss().is_classification() {
            writeln!(out, "labels are the signs of X truth + noise: compare signs and ratios, not sizes")?;
        } else {
            writeln!(out, "relative estimation error {}", number(estimation_error(truth, &solution.coefficients)))?;
        }
        if self.top > 0 && found.selected > 0 {
            writeln!(out, "{}", features::table(&solution.coefficients, truth, self.top))?;
        }
        if self.top > 0 && found.selected > self.top {
            writeln!(out, "... and {} smaller ones (--top {})", found.selected - self.top, found.selected)?;
        }
        Ok(writeln!(out)?)
    }
}
