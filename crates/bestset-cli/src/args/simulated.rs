//! Arguments of the commands that make their own data.

use super::{stop_parser, threads};
use bestset::design::Design;
use bestset::{CancelFlag, Published, Stop};
use bestset::{Loss, Method, Options, Penalty, Problem};
use bestset_data::{Simulator, Task};
use clap::{Args, ValueEnum};
use serde::Serialize;
use std::time::Duration;

/// Data with a known truth: features correlate as rho^|i-j|, columns have norm one, 3 % of the coefficients are
/// uniform in [-1, 1].
#[derive(Debug, Args)]
#[command(next_help_heading = "Data")]
pub struct DataArgs {
    /// Samples.
    #[arg(long, default_value_t = 200, value_name = "COUNT", allow_negative_numbers = true)]
    pub n: usize,
    /// Features.
    #[arg(long, default_value_t = 3000, value_name = "COUNT", allow_negative_numbers = true)]
    pub p: usize,
    /// Signal-to-noise ratio.
    #[arg(long, default_value_t = 20.0, value_name = "RATIO", allow_negative_numbers = true)]
    pub snr: f64,
    /// Correlation of neighbouring features.
    #[arg(long, default_value_t = 0.4, value_name = "CORRELATION", allow_negative_numbers = true)]
    pub rho: f64,
    /// Seed of the simulation: the same seed gives the same data.
    #[arg(long, default_value_t = 1, allow_negative_numbers = true)]
    pub seed: u64,
}

impl DataArgs {
    /// The simulation asked for.
    pub fn simulator(&self, task: Task) -> Simulator {
        Simulator::paper().n(self.n).p(self.p).snr(self.snr).rho(self.rho).seed(self.seed).task(task)
    }
}

/// Names of the losses that have targets here, as on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum LossName {
    Squared,
    Logistic,
    #[value(alias = "squared-hinge")]
    SquaredHinge,
    Huber,
}

impl LossName {
    /// The loss with its parameter.
    fn with_delta(self, delta: f64) -> Loss {
        match self {
            Self::Squared => Loss::Squared,
            Self::Logistic => Loss::Logistic,
            Self::SquaredHinge => Loss::SquaredHinge,
            Self::Huber => Loss::Huber { delta },
        }
    }
}

/// The problem posed on the data.
#[derive(Debug, Args)]
#[command(next_help_heading = "Problem")]
pub struct ProblemArgs {
    /// Price of one selected feature; none where k limits their number [default: 0.03 for targets, 0.3 for labels].
    #[arg(long, value_name = "PRICE", allow_negative_numbers = true)]
    pub lambda0: Option<f64>,
    /// Price of the absolute size of a coefficient.
    #[arg(long, default_value_t = 0.02, value_name = "PRICE", allow_negative_numbers = true)]
    pub lambda1: f64,
    /// Price of the squared size of a coefficient (no factor 1/2).
    #[arg(long, default_value_t = 1.0, value_name = "PRICE", allow_negative_numbers = true)]
    pub lambda2: f64,
    /// Loss; logistic and squared_hinge draw labels -1 and +1 in place of targets.
    #[arg(long, value_enum, default_value_t = LossName::Squared)]
    pub loss: LossName,
    /// Residual at which the Huber loss turns linear.
    #[arg(long, default_value_t = 0.3, value_name = "RESIDUAL", allow_negative_numbers = true)]
    pub delta: f64,
    /// Most features allowed, for dual_iht and exact [default: the true number for dual_iht, no limit for exact].
    #[arg(long, value_name = "COUNT", allow_negative_numbers = true)]
    pub k: Option<usize>,
}

/// What was asked, as reported in JSON.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Terms {
    pub loss: Loss,
    pub lambda0: f64,
    pub lambda1: f64,
    pub lambda2: f64,
    pub k: Option<usize>,
}

impl ProblemArgs {
    /// The loss with its parameter.
    pub fn loss(&self) -> Loss {
        self.loss.with_delta(self.delta)
    }

    /// Whether y are targets or labels.
    pub fn task(&self) -> Task {
        if self.loss().is_classification() { Task::Classification } else { Task::Regression }
    }

    /// The problem with a price per feature and no limit on their number.
    pub fn priced(&self) -> Terms {
        let usual = if self.task() == Task::Regression { 0.03 } else { 0.3 };
        let lambda0 = self.lambda0.unwrap_or(usual);
        Terms { loss: self.loss(), lambda0, lambda1: self.lambda1, lambda2: self.lambda2, k: None }
    }

    /// The problem of at most k features, without a price for each.
    pub fn k_sparse(&self, true_size: usize) -> Terms {
        Terms { lambda0: 0.0, k: Some(self.k.unwrap_or(true_size)), ..self.priced() }
    }
}

impl Terms {
    /// The problem on these data; every input is checked.
    pub fn pose<'a>(&self, design: &'a dyn Design, y: &'a [f64]) -> bestset::Result<Problem<'a>> {
        let penalty = Penalty::new(self.lambda0, self.lambda1, self.lambda2);
        let problem = Problem::new(design, y, penalty)?.with_loss(self.loss)?;
        match self.k {
            Some(k) => problem.with_max_size(k),
            None => Ok(problem),
        }
    }
}

/// Limits of a solve.
#[derive(Debug, Args)]
#[command(next_help_heading = "Solver")]
pub struct SolverArgs {
    /// Threads for passes over X [default: all].
    #[arg(long, value_name = "COUNT", value_parser = threads, allow_negative_numbers = true)]
    pub threads: Option<usize>,
    /// Most iterations, in the unit of the method: each counts its own kind of step.
    #[arg(long, value_name = "COUNT", allow_negative_numbers = true)]
    pub max_iterations: Option<usize>,
    /// Most nodes of branch and bound, for exact.
    #[arg(long, value_name = "COUNT", allow_negative_numbers = true)]
    pub max_nodes: Option<usize>,
    /// When primal_dual, primal_dual_plain and dual_ascent take their gap for no longer decreasing: at the first step that
    /// does not lower it, as the paper has it (literal), or when it has not fallen for long (patient).
    #[arg(long, default_value = Stop::default().name(), value_name = "RULE", value_parser = stop_parser())]
    pub stop: Stop,
}

impl SolverArgs {
    /// Options of a solve.
    pub fn options(&self, method: Method, time_limit: Option<Duration>, trace: bool, cancel: &CancelFlag) -> Options {
        Options {
            time_limit,
            threads: self.threads,
            max_iterations: self.max_iterations,
            max_nodes: self.max_nodes,
            trace,
            published: Published { stop: self.stop, ..Published::default() },
            cancel: cancel.clone(),
            ..Options::with_method(method)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_have_the_names_of_the_library() {
        for name in LossName::value_variants() {
            let args = ProblemArgs { lambda0: None, lambda1: 0.0, lambda2: 1.0, loss: *name, delta: 0.5, k: None };
            assert_eq!(name.to_possible_value().unwrap().get_name(), args.loss().name());
        }
    }
}
