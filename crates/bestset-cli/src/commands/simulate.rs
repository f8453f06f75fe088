//! `bestset simulate`: a file with data whose truth is known.

use crate::args::{DataArgs, format_parser};
use crate::exit::{Exit, Failure};
use crate::work::encoding::write_whole;
use bestset_data::{Format, Label, Matrix, Names, Simulation, SupportSize, Table, Task, write};
use clap::{Args, ValueEnum};
use std::io::Write;
use std::path::PathBuf;

/// Write simulated data with a known truth to a file.
#[derive(Debug, Args)]
#[command(after_help = "\
The data: features correlate as rho^|i-j|, every column has norm one, the target is y.
Examples: bestset simulate data.csv.gz --n 500 --p 2000 --true-features 10 --seed 7 --truth truth.csv
          bestset simulate labels.parquet --task classification")]
pub struct Simulate {
    /// File to write; its name says the format and the compression.
    file: PathBuf,
    #[command(flatten)]
    data: DataArgs,
    /// Targets or labels -1 and +1.
    #[arg(long, value_enum, default_value_t = TaskName::Regression, help_heading = "Data")]
    task: TaskName,
    /// Number of true features [default: 3 % of them].
    #[arg(long, value_name = "COUNT", help_heading = "Data", allow_negative_numbers = true)]
    true_features: Option<usize>,
    /// Format to write [default: by the name].
    #[arg(long, value_parser = format_parser(), help_heading = "Output")]
    format: Option<Format>,
    /// Write the true coefficients as CSV, for `certify`.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    truth: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum TaskName {
    Regression,
    Classification,
}

impl Simulate {
    pub fn run(&self, out: &mut dyn Write) -> Result<Exit, Failure> {
        let task = match self.task {
            TaskName::Regression => Task::Regression,
            TaskName::Classification => Task::Classification,
        };
        let mut simulator = self.data.simulator(task);
        if let Some(count) = self.true_features {
            simulator = simulator.support(SupportSize::Count(count));
        }
        let Simulation { n, p, x, response } = simulator.generate()?;
        let numbers = Matrix::Dense { rows: n, columns: p, data: x };
        let names = Names::Listed((0..p).map(|j| format!("x{j}")).collect());
        let label = Label { name: "y".to_owned(), values: response.y };
        let table = Table::of_numbers(self.file.clone(), numbers, names, Some(label));
        write(&table, &self.file, self.format)?;
        if let Some(path) = &self.truth {
            let mut text = "feature,coefficient\n".to_owned();
            response.truth.iter().for_each(|(j, b)| text.push_str(&format!("x{j},{b:?}\n")));
            write_whole(path, text.as_bytes())?;
        }
        let count = response.truth.nonzeros();
        writeln!(out, "{}: {n} samples, {p} features, {count} of them true", self.file.display())?;
        Ok(Exit::Done)
    }
}
