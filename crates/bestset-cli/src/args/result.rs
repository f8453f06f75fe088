//! Arguments that say what becomes of the answer.

use clap::Args;
use std::path::PathBuf;

/// Where the answer goes.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Output")]
pub struct OutputArgs {
    /// One JSON object in place of tables; values that are not finite are null.
    #[arg(long)]
    pub json: bool,
    /// Save the model, for `predict` and `certify`.
    #[arg(long, short = 'o', value_name = "FILE")]
    pub model: Option<PathBuf>,
    /// Write a report: one HTML page that works offline.
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Write every plot of the report as SVG and PNG into this directory.
    #[arg(long, value_name = "DIRECTORY")]
    pub plots: Option<PathBuf>,
    /// Show how objective and bound moved.
    #[arg(long)]
    pub trace: bool,
    /// Largest coefficients to list.
    #[arg(long, default_value_t = 20, value_name = "COUNT", allow_negative_numbers = true)]
    pub top: usize,
    /// The command that the report names; `None` for the one that runs.
    #[arg(skip)]
    pub command: Option<String>,
}

impl OutputArgs {
    /// Whether a report is to be made.
    pub fn wants_report(&self) -> bool {
        self.report.is_some() || self.plots.is_some()
    }
}
