//! The command line.

use crate::algorithm::{ALL, Algorithm};
use clap::{Parser, ValueEnum};
use std::path::PathBuf;

/// A figure, or all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Which {
    /// Figure 1 of the paper.
    Simulation,
    /// Figure 2 of the paper.
    News20,
    /// Answers against the certified optimum.
    Quality,
    /// Held-out error against lasso and relaxed lasso.
    Prediction,
}

/// Run the experiments and write the tables, the plots and RESULTS.md. Runs that are in the CSV files already are skipped:
/// kill it when you like and start it again.
#[derive(Debug, Parser)]
#[command(name = "bestset-experiments", version)]
pub struct Args {
    /// Figures to run [default: all].
    #[arg(value_enum)]
    pub figures: Vec<Which>,
    /// Write the report from the CSV files without running anything.
    #[arg(long)]
    pub report_only: bool,
    /// Where `results/` and `RESULTS.md` go.
    #[arg(long, default_value = "experiments", value_name = "DIR")]
    pub out: PathBuf,
    /// Where `news20.bz2` is [default: $BESTSET_DATA or ../shared/data].
    #[arg(
        long,
        env = "BESTSET_DATA",
        default_value = "../shared/data",
        hide_default_value = true,
        hide_env = true,
        value_name = "DIR"
    )]
    pub data: PathBuf,
    /// Remove earlier results in DIR/results first.
    #[arg(long)]
    pub fresh: bool,
    /// Fail when a bound exceeds an objective or the default solver is above a published one.
    #[arg(long)]
    pub check: bool,
    #[command(flatten)]
    pub plan: Plan,
}

/// Which runs are wanted.
#[derive(Debug, Clone, clap::Args)]
pub struct Plan {
    /// Replicates of each setting [default: those of the paper; 20 for the figures it does not have].
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    pub replicates: Option<u64>,
    /// Settings, for instance `snr5-n200,p2000-n300`; a `*` at the end stands for anything [default: all].
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    pub settings: Vec<String>,
    /// Algorithms, by the names in the figures [default: all].
    #[arg(long, value_delimiter = ',', value_parser = algorithm, value_name = "NAMES")]
    pub only: Vec<Algorithm>,
    /// Processor seconds allowed for each run.
    #[arg(long, default_value_t = 20.0, value_parser = seconds)]
    pub cap: f64,
}

impl Plan {
    /// Whether runs of this setting are wanted.
    pub fn wants_setting(&self, name: &str) -> bool {
        let fits = |pattern: &String| match pattern.strip_suffix('*') {
            Some(start) => name.starts_with(start),
            None => pattern == name,
        };
        self.settings.is_empty() || self.settings.iter().any(fits)
    }

    /// Whether runs of this algorithm are wanted.
    pub fn wants_algorithm(&self, algorithm: Algorithm) -> bool {
        self.only.is_empty() || self.only.contains(&algorithm)
    }
}

impl Args {
    /// Whether this figure is wanted.
    pub fn wants(&self, figure: Which) -> bool {
        self.figures.is_empty() || self.figures.contains(&figure)
    }
}

fn algorithm(name: &str) -> Result<Algorithm, String> {
    let known = ALL.map(|a| a.label).join(", ");
    Algorithm::find(name).ok_or_else(|| format!("no such algorithm; there are {known}"))
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if seconds > 0.0 && seconds <= 1e6 => Ok(seconds),
        _ => Err("seconds above 0 and at most 1000000 are wanted".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_pick_settings_and_algorithms() {
        let parse = |args: &[&str]| Args::try_parse_from(std::iter::once(&"x").chain(args)).unwrap();
        let args = parse(&["simulation", "--settings", "snr5-n200,snr2-*", "--only", "cdss,exact"]);
        assert!(args.wants(Which::Simulation) && !args.wants(Which::Quality));
        let plan = &args.plan;
        assert!(
            plan.wants_setting("snr5-n200") && !plan.wants_setting("snr5-n2000") && plan.wants_setting("snr2-n600")
        );
        assert!(plan.wants_algorithm(ALL[1]) && !plan.wants_algorithm(ALL[0]));
        assert!(parse(&[]).plan.wants_setting("anything"));
        for bad in [["--cap", "0"], ["--cap", "nan"], ["--only", "magic"], ["--replicates", "0"]] {
            assert!(Args::try_parse_from(std::iter::once("x").chain(bad)).is_err(), "{bad:?}");
        }
    }
}
