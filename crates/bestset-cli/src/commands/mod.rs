//! The commands, one file each.

pub mod certify;
pub mod compare;
pub mod completions;
pub mod convert;
pub mod cv;
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

use crate::args::Command;
use crate::exit::{Exit, Failure};
use bestset::CancelFlag;
use std::io::Write;

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
