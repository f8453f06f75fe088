//! `bestset demo`: the built-in example, or simulated data.

mod simulated;

use super::{Cli, Command};
use crate::exit::{Exit, Failure};
use crate::work::encoding::write_whole;
use bestset::CancelFlag;
use clap::{Args, Parser};
use simulated::Simulated;
use std::io::Write;
use std::path::PathBuf;

/// The built-in example: rents of 160 flats that never were, made by a rule with seven of the 27 features.
const FLATS: &str = include_str!("../../../data/flats.csv");

/// Run the built-in example from file to report, or with --simulated solve a problem with a known truth.
///
/// The example: rents of 160 made-up flats with 27 features, seven of which the rent depends on: area, distances to centre and
/// station, ceiling, noise, balcony, furniture. The data, the report and the model are written to a directory.
#[derive(Debug, Args)]
#[command(after_help = "\
Simulated data: features correlate as rho^|i-j|, every column has norm one, 3 % of the true coefficients are not zero.
Examples: bestset demo
          bestset demo --simulated --n 400 --snr 5 --lambda0 0.1 --lambda1 0.2 --trace
          bestset demo --simulated --n 400 --snr 5 --lambda0 0.1 --lambda1 0.2 --method exact")]
pub struct Demo {
    /// Solve simulated data; the options below are for them.
    #[arg(long)]
    simulated: bool,
    /// Where the files of the example go [default: bestset-demo in the directory for temporary files].
    #[arg(long, value_name = "DIRECTORY", conflicts_with = "simulated")]
    directory: Option<PathBuf>,
    #[command(flatten)]
    rest: Simulated,
}

impl Demo {
    pub fn run(&self, cancel: &CancelFlag, out: &mut dyn Write) -> Result<Exit, Failure> {
        if self.simulated { self.rest.run(cancel, out) } else { self.run_example(cancel, out) }
    }

    fn run_example(&self, cancel: &CancelFlag, out: &mut dyn Write) -> Result<Exit, Failure> {
        let directory = self.directory.clone().unwrap_or_else(|| std::env::temp_dir().join("bestset-demo"));
        let failed = |e: std::io::Error| Failure::Message(format!("{}: {e}", directory.display()));
        std::fs::create_dir_all(&directory).map_err(failed)?;
        let place = |name: &str| directory.join(name).display().to_string();
        let (data, report, model) = (place("flats.csv"), place("report.html"), place("model.json"));
        write_whole(&directory.join("flats.csv"), FLATS.as_bytes())?;
        let mut words = vec!["bestset", "report", &data, "--target", "rent", "--report", &report, "--model", &model];
        if self.rest.json {
            words.push("--json");
        } else {
            writeln!(out, "$ bestset report flats.csv --target rent\n")?;
        }
        let Ok(Cli { command: Command::Report(mut command) }) = Cli::try_parse_from(words) else {
            return Err(Failure::Usage("the example cannot be run"));
        };
        command.shown_as("bestset report flats.csv --target rent");
        let exit = command.run(cancel, out)?;
        if !self.rest.json {
            writeln!(out, "\nNext: bestset predict {model} {data}")?;
            writeln!(out, "      bestset subsets {data} --target rent")?;
            writeln!(out, "      bestset report YOUR.csv --target COLUMN")?;
        }
        Ok(exit)
    }
}
