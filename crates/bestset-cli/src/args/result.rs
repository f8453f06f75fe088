//! Arguments that say what becomes of the answer.

use crate::exit::Failure;
use clap::Args;
use std::path::{Path, PathBuf};

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
    /// Show the effort as well: iterations, passes over the data.
    #[arg(long)]
    pub verbose: bool,
    /// Largest coefficients to list.
    #[arg(long, default_value_t = 20, value_name = "COUNT", allow_negative_numbers = true)]
    pub top: usize,
    /// The command that the report names; `None` for the one that runs.
    #[arg(skip)]
    pub command: Option<String>,
}

impl OutputArgs {
    /// Refuses files that could not be written, or that are read, before any work is done.
    pub fn check(&self, read: &Path) -> Result<(), Failure> {
        let is_page = |path: &&PathBuf| path.extension().is_some_and(|e| e.eq_ignore_ascii_case("html"));
        if let Some(page) = self.model.as_ref().filter(is_page) {
            let page = page.display();
            return Err(Failure::Message(format!("{page}: -o saves the model, not the page: say --report {page}")));
        }
        [&self.model, &self.report].into_iter().flatten().try_for_each(|path| {
            check_place(path)?;
            check_apart(path, read)
        })
    }

    /// Whether a report is to be made.
    pub fn wants_report(&self) -> bool {
        self.report.is_some() || self.plots.is_some()
    }
}

/// Whether a file that is written is another than one that is read: nobody's data are lost to a slip of the hand.
pub fn check_apart(written: &Path, read: &Path) -> Result<(), Failure> {
    let is_same = match (written.canonicalize(), read.canonicalize()) {
        // Devices and pipes are not lost by being written into.
        (Ok(a), Ok(b)) => a == b && a.is_file(),
        _ => false,
    };
    if is_same {
        let name = written.display();
        return Err(Failure::Message(format!("{name}: is read here and would be overwritten: write to another file")));
    }
    Ok(())
}

/// Whether a file can be there: its folder is, and it is none itself.
pub fn check_place(path: &Path) -> Result<(), Failure> {
    let bad = |problem: String| Err(Failure::Message(format!("{}: {problem}", path.display())));
    match path.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.is_dir()) {
        Some(folder) => bad(format!("cannot be written: there is no folder {}", folder.display())),
        None if path.is_dir() => bad("cannot be written: it is a folder".to_owned()),
        None => Ok(()),
    }
}
