//! `bestset report`: cross-validation, a proof, and a page that shows both.

use super::cv::Cv;
use crate::exit::{Exit, Failure};
use bestset::CancelFlag;
use clap::Args;
use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

/// Seconds that branch and bound may take unless told otherwise.
const PROVE: Duration = Duration::from_secs(5);

/// Cross-validate, fit, prove, and write a report: one HTML page that works offline.
///
/// The same as `cv` with --prove 5 and a report in the current directory unless --report names another place.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples: bestset report genes.csv.gz --target y
          bestset report trial.csv --target outcome --report trial.html --plots plots --prove 60")]
pub struct Report {
    #[command(flatten)]
    cv: Cv,
}

impl Report {
    /// Shows another command in the report than the one that runs.
    pub fn shown_as(&mut self, command: &str) {
        self.cv.output.command = Some(command.to_owned());
    }

    pub fn run(&self, cancel: &CancelFlag, out: &mut dyn Write) -> Result<Exit, Failure> {
        let Cv { input, fitting, cv, path, limits, prove, output } = &self.cv;
        let mut output = output.clone();
        output.report.get_or_insert_with(|| beside(&input.file));
        let (input, fitting, cv, path) = (input.clone(), fitting.clone(), cv.clone(), path.clone());
        let prove = Some(prove.unwrap_or(PROVE));
        Cv { input, fitting, cv, path, limits: limits.clone(), prove, output }.run(cancel, out)
    }
}

/// `genes.csv.gz` has its report in `genes.report.html` in the directory where the command runs.
fn beside(file: &std::path::Path) -> PathBuf {
    let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let stem = name.split('.').find(|part| !["", "-"].contains(part)).unwrap_or("bestset").to_owned();
    PathBuf::from(format!("{stem}.report.html"))
}
