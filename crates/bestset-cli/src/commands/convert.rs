//! `bestset convert`: a table from one format to another.

use crate::args::{ReadArgs, bytes, format_parser};
use crate::exit::{Exit, Failure};
use crate::work::load::say;
use bestset_data::{Format, Label, Table, read, write};
use clap::Args;
use std::io::Write;
use std::path::PathBuf;

/// Convert a file to another format.
///
/// The target becomes the label where the format has one: LIBSVM and NPZ.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples: bestset convert counts.libsvm.bz2 counts.npz
          bestset convert trial.csv trial.parquet
          bestset convert trial.csv trial.libsvm --target outcome --drop id")]
pub struct Convert {
    /// File to read; - is standard input.
    from: PathBuf,
    /// File to write; its name says the format and the compression.
    to: PathBuf,
    #[command(flatten)]
    read: ReadArgs,
    /// Format to write [default: by the name].
    #[arg(long, value_parser = format_parser(), help_heading = "Data")]
    to_format: Option<Format>,
    /// Column that becomes the label.
    #[arg(long, short = 't', value_name = "COLUMN", help_heading = "Data", allow_hyphen_values = true)]
    target: Option<String>,
    /// Columns to leave out, by name or number.
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', help_heading = "Data", allow_hyphen_values = true)]
    drop: Vec<String>,
    /// Most memory for the data.
    #[arg(long, value_name = "BYTES", value_parser = bytes, help_heading = "Limits")]
    max_memory: Option<usize>,
}

impl Convert {
    pub fn run(&self, out: &mut dyn Write) -> Result<Exit, Failure> {
        let mut table = read(&self.from, &self.read.options(self.max_memory))?;
        say(&table.notes);
        if let Some(target) = &self.target {
            let values = table.take_label(target)?;
            table.label = Some(Label { name: target.clone(), values });
        }
        table.drop_columns(&self.drop)?;
        write(&table, &self.to, self.to_format)?;
        match bestset::file::is_standard_output(&self.to) {
            // What follows the table there would be taken for a part of it.
            true => anstream::eprintln!("{}", describe(&table, &self.to)),
            false => writeln!(out, "{}", describe(&table, &self.to))?,
        }
        Ok(Exit::Done)
    }
}

fn describe(table: &Table, to: &std::path::Path) -> String {
    let label = table.label.as_ref().map_or(String::new(), |label| format!(", label {}", label.name));
    format!("{}: {} rows, {} columns{label}", to.display(), table.rows(), table.columns())
}
