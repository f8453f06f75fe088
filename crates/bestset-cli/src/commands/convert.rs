//! `bestset convert`: a table from one format to another.

use crate::args::{ReadArgs, bytes, format_parser};
use crate::exit::{Exit, Failure};
use crate::work::load::say;
use bestset_data::{Format, Label, Matrix, Names, ReadOptions, Table, convert, read, write};
use clap::Args;
use std::io::Write;
use std::path::PathBuf;

/// Convert a file to another format.
///
/// The target becomes the label where the format has one: LIBSVM and NPZ. CSV, Parquet and NPY become an NPY file by columns, which may
/// stay on disk, and LIBSVM and Matrix Market a folder with the parts of a sparse matrix, within --max-memory: the file is read as
/// often as that takes. An NPY file has no place for names: they go into a file beside it, named after it with .names, which is read with it.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples: bestset convert counts.libsvm.bz2 counts.npz
          bestset convert trial.csv trial.parquet
          bestset convert wide.csv wide.npy --target y --target-to y.npy --max-memory 2GB
          bestset convert counts.libsvm counts/ --max-memory 2GB
          bestset convert trial.csv trial.libsvm --target outcome --drop id")]
pub struct Convert {
    /// File to read; - is standard input.
    from: PathBuf,
    /// File to write; its name says the format and the compression. Or a folder, which ends with /, for the parts of a sparse matrix.
    to: PathBuf,
    #[command(flatten)]
    read: ReadArgs,
    /// Format to write [default: by the name].
    #[arg(long, value_parser = format_parser(), help_heading = "Data")]
    to_format: Option<Format>,
    /// Column that becomes the label.
    #[arg(long, short = 't', value_name = "COLUMN", help_heading = "Data", allow_hyphen_values = true)]
    target: Option<String>,
    /// File for the label, where the format has no place for it: NPY.
    #[arg(long, value_name = "FILE", help_heading = "Data")]
    target_to: Option<PathBuf>,
    /// Columns to leave out, by name or number.
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', help_heading = "Data", allow_hyphen_values = true)]
    drop: Vec<String>,
    /// Most memory for the data [default: for tables into NPY half of what the machine has to spare, else what it takes].
    #[arg(long, value_name = "BYTES", value_parser = bytes, help_heading = "Limits")]
    max_memory: Option<usize>,
}

impl Convert {
    pub fn run(&self, out: &mut dyn Write) -> Result<Exit, Failure> {
        let options = self.read.options(self.max_memory);
        let is_array = self.to_format.is_none_or(|format| format == Format::Npy);
        let streamed = match is_array {
            true => convert(&self.from, &self.to, &options, self.target.as_deref(), &self.drop)?,
            false => None,
        };
        let (said, label) = match streamed {
            Some(done) => {
                say(&done.notes);
                let often = if done.readings > 1 { format!(", read {} times", done.readings) } else { String::new() };
                (format!("{} rows, {} columns{often}", done.rows, done.columns), done.label)
            }
            None => self.at_once(&options)?,
        };
        if let (Some(file), Some(label)) = (&self.target_to, &label) {
            let (rows, data) = (label.values.len(), label.values.clone());
            let names = Names::Listed(vec![label.name.clone()]);
            let table = Table::of_numbers(self.from.clone(), Matrix::Dense { rows, columns: 1, data }, names, None);
            write(&table, file, None)?;
        }
        let label = label.map_or(String::new(), |label| format!(", label {}", label.name));
        let said = format!("{}: {said}{label}", self.to.display());
        match bestset::file::is_standard_output(&self.to) {
            // What follows the table there would be taken for a part of it.
            true => anstream::eprintln!("{said}"),
            false => writeln!(out, "{said}")?,
        }
        Ok(Exit::Done)
    }

    /// The whole table by way of memory: its size in words, and its label.
    fn at_once(&self, options: &ReadOptions) -> Result<(String, Option<Label>), Failure> {
        let mut table = read(&self.from, options)?;
        say(&table.notes);
        if let Some(target) = &self.target {
            let values = table.take_label(target)?;
            table.label = Some(Label { name: target.clone(), values });
        }
        table.drop_columns(&self.drop)?;
        write(&table, &self.to, self.to_format)?;
        Ok((format!("{} rows, {} columns", table.rows(), table.columns()), table.label))
    }
}
