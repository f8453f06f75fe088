//! `bestset-bench DIRECTORY`: times the solver on a problem stored as raw arrays, for side-by-side benchmarks.
//!
//! The directory holds `problem.json` (see [`input::Header`]) and little-endian arrays: `y.f64`, and `x.f64`
//! (column-major) or `indptr.i64`, `indices.i32`, `data.f64` (compressed columns). One untimed solve warms up, then
//! `repeats` solves are timed. The coefficients go to `beta.f64`, the dual point that proves the bound to `alpha.f64`, one
//! JSON object with the figures to standard output.

mod input;
mod measure;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Why there is no measurement.
#[derive(Debug, thiserror::Error)]
enum BenchFailure {
    #[error("usage: bestset-bench DIRECTORY")]
    Usage,
    #[error("{path}: {source}", path = path.display())]
    File { path: PathBuf, source: io::Error },
    #[error("{path} holds {found} bytes, expected {expected}", path = path.display())]
    Size { path: PathBuf, found: u64, expected: u64 },
    #[error("{path}: {source}", path = path.display())]
    Header { path: PathBuf, source: serde_json::Error },
    #[error("{name} is {value}; it must be at least 1")]
    Zero { name: &'static str, value: usize },
    #[error("time_limit is {value}; it must be finite and above 0")]
    TimeLimit { value: f64 },
    #[error(transparent)]
    Problem(#[from] bestset::Error),
    #[error("cannot start {threads} threads: {source}")]
    Threads { threads: usize, source: rayon::ThreadPoolBuildError },
    #[error("cannot write the figures: {0}")]
    Output(#[from] io::Error),
    #[error("cannot write the figures: {0}")]
    Json(#[from] serde_json::Error),
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("error: {failure}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<(), BenchFailure> {
    let mut arguments = std::env::args_os().skip(1);
    let (Some(directory), None) = (arguments.next(), arguments.next()) else {
        return Err(BenchFailure::Usage);
    };
    let directory = Path::new(&directory);
    let input = input::read(directory)?;
    let (figures, beta, alpha) = measure::measure(&input)?;
    write_array(directory.join("beta.f64"), &beta)?;
    write_array(directory.join("alpha.f64"), &alpha)?;
    let mut out = io::stdout().lock();
    serde_json::to_writer(&mut out, &figures)?;
    Ok(writeln!(out)?)
}

fn write_array(path: PathBuf, values: &[f64]) -> Result<(), BenchFailure> {
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    std::fs::write(&path, bytes).map_err(|source| BenchFailure::File { path, source })
}
