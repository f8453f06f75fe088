//! The command line: the commands, one file each.

pub mod certify;
pub mod compare;
pub mod completions;
pub mod convert;
pub mod cv;
mod deliver;
pub mod demo;
pub mod exact;
pub mod fit;
pub mod man;
pub mod path;
pub mod predict;
pub mod report;
pub mod simulate;
pub mod stability;
pub mod subsets;

use crate::exit::{Exit, Failure};
use bestset::CancelFlag;
use clap::{CommandFactory, Parser, Subcommand};
use std::io::Write;

/// Best subset selection with a proof: the few features that matter, and how good the answer is.
///
/// Minimises the sum of losses + lambda0 * (number of features) + lambda1 * sum |b| + lambda2 * sum b^2, and proves a lower
/// bound on what any subset could reach.
#[derive(Debug, Parser)]
#[command(name = "bestset", version, after_help = EXIT_CODES)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

const EXIT_CODES: &str = "\
Files: CSV and TSV (gzip, bzip2, zstd), Parquet, LIBSVM, NPY, NPZ, Matrix Market; - is standard input.
Genotypes: a .bed file of PLINK with .bim and .fam beside it.
Start: bestset demo, then bestset report YOUR.csv --target COLUMN
Exit codes: 0 done, 2 bad input or usage, or output that cannot be written;
with a valid result: 3 a limit struck, 130 interrupted.
Colours follow the terminal; NO_COLOR turns them off.";

/// The command line with what the attributes cannot say: options for simulated data need simulated data.
pub fn command() -> clap::Command {
    let needs = |group: clap::ArgGroup| group.requires("simulated");
    Cli::command().mut_subcommand("demo", |demo| {
        demo.mut_group("DataArgs", needs).mut_group("ProblemArgs", needs).mut_group("SolverArgs", needs)
    })
}

#[derive(Debug, Subcommand)]
pub enum Command {
    Fit(fit::Fit),
    Path(path::Path),
    Cv(cv::Cv),
    Subsets(subsets::Subsets),
    Stability(stability::Stability),
    Exact(exact::Exact),
    Predict(predict::Predict),
    Certify(certify::Certify),
    Report(report::Report),
    Simulate(simulate::Simulate),
    Convert(convert::Convert),
    Demo(demo::Demo),
    Compare(compare::Compare),
    Completions(completions::Completions),
    Man(man::Man),
}

/// Runs a command; errors mean that it gave no result.
pub fn run(command: &Command, cancel: &CancelFlag, out: &mut dyn Write) -> Result<Exit, Failure> {
    match command {
        Command::Fit(fit) => fit.run(cancel, out),
        Command::Path(path) => path.run(cancel, out),
        Command::Cv(cv) => cv.run(cancel, out),
        Command::Subsets(subsets) => subsets.run(cancel, out),
        Command::Stability(stability) => stability.run(cancel, out),
        Command::Exact(exact) => exact.run(cancel, out),
        Command::Predict(predict) => predict.run(out),
        Command::Certify(certify) => certify.run(cancel, out),
        Command::Report(report) => report.run(cancel, out),
        Command::Simulate(simulate) => simulate.run(out),
        Command::Convert(convert) => convert.run(out),
        Command::Demo(demo) => demo.run(cancel, out),
        Command::Compare(compare) => compare.run(cancel, out),
        Command::Completions(completions) => completions.run(out),
        Command::Man(man) => man.run(out),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        command().debug_assert();
    }

    #[test]
    fn every_command_has_an_example() {
        for command in command().get_subcommands_mut() {
            let help = command.render_long_help().to_string();
            assert!(help.contains("Example"), "{}", command.get_name());
        }
    }
}
