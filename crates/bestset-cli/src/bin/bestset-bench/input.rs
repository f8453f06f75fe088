//! Reading a problem directory.

use crate::BenchFailure;
use bestset::design::{Csc, Dense, Design, Element};
use bestset::{Coefficients, Loss, Method, Penalty, Problem};
use serde::{Deserialize, Deserializer, Serialize};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// The fields of `problem.json`.
#[derive(Debug, Deserialize)]
pub struct Header {
    /// Samples.
    pub n: usize,
    /// Features.
    pub p: usize,
    /// Dense or compressed columns.
    pub format: Format,
    /// Numbers X is kept in; files always hold `f64`.
    #[serde(default)]
    pub storage: Storage,
    /// The loss, `"squared"` or `{"huber": {"delta": 1.0}}`.
    pub loss: Loss,
    /// Price of a selected feature.
    pub lambda0: f64,
    /// Price of absolute size.
    pub lambda1: f64,
    /// Price of squared size.
    pub lambda2: f64,
    /// Whether to fit an intercept.
    #[serde(default)]
    pub intercept: bool,
    /// Relative gap of the relaxation asked for.
    pub gap: f64,
    /// Relative gap between the answer and its bound at which branch and bound stops.
    #[serde(default = "default_optimality")]
    pub optimality_gap: f64,
    /// Timed solves.
    #[serde(default = "three")]
    pub repeats: usize,
    /// Whether a solve that is not timed comes first.
    #[serde(default = "yes")]
    pub warm_up: bool,
    /// Threads.
    #[serde(default = "one")]
    pub threads: usize,
    /// How much of the default method runs.
    #[serde(default)]
    pub phase: Phase,
    /// The algorithm.
    #[serde(default = "default_method", deserialize_with = "method")]
    pub method: Method,
    /// Most features, for the k-sparse problem.
    #[serde(default)]
    pub k: Option<usize>,
    /// A file of p coefficients to start from.
    #[serde(default)]
    pub start: Option<String>,
    /// Seconds after which a solve ends with what it has.
    #[serde(default)]
    pub time_limit: Option<f64>,
    /// Nodes of branch and bound after which it ends with what it has.
    #[serde(default)]
    pub max_nodes: Option<usize>,
}

/// How X is stored on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// Column-major `x.f64`.
    Dense,
    /// Compressed columns.
    Csc,
}

/// How X is stored in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Storage {
    /// Eight bytes an entry.
    #[default]
    F64,
    /// Four bytes an entry.
    F32,
}

/// What is timed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// The convex phase alone; its minimiser of R is the answer.
    Convex,
    /// Convex phase and primal phase.
    #[default]
    Both,
}

fn one() -> usize {
    1
}

fn three() -> usize {
    3
}

fn yes() -> bool {
    true
}

fn default_optimality() -> f64 {
    bestset::Options::default().gap
}

fn default_method() -> Method {
    Method::Incremental
}

fn method<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Method, D::Error> {
    String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
}

/// A problem in memory.
pub struct Input {
    /// What was asked.
    pub header: Header,
    /// X.
    pub design: Box<dyn Design>,
    /// Targets or labels.
    pub y: Vec<f64>,
    /// Where the solves start, if not at zero.
    pub start: Option<Coefficients>,
}

impl Input {
    /// A fresh problem: nothing of an earlier solve, such as the norms of the columns, is kept.
    pub fn problem(&self) -> bestset::Result<Problem<'_>> {
        let header = &self.header;
        let penalty = Penalty::new(header.lambda0, header.lambda1, header.lambda2);
        let problem = Problem::new(self.design.as_ref(), self.y.as_slice(), penalty)?;
        let problem = problem.with_loss(header.loss)?.with_intercept(header.intercept);
        match header.k {
            Some(k) => problem.with_max_size(k),
            None => Ok(problem),
        }
    }
}

/// Reads and checks the directory.
pub fn read(directory: &Path) -> Result<Input, BenchFailure> {
    let path = directory.join("problem.json");
    let text = std::fs::read_to_string(&path).map_err(|source| BenchFailure::File { path: path.clone(), source })?;
    let header: Header = serde_json::from_str(&text).map_err(|source| BenchFailure::Header { path, source })?;
    for (name, value) in [("repeats", header.repeats), ("threads", header.threads)] {
        if value == 0 {
            return Err(BenchFailure::Zero { name, value });
        }
    }
    if let Some(value) = header.time_limit.filter(|s| !(*s > 0.0 && s.is_finite())) {
        return Err(BenchFailure::TimeLimit { value });
    }
    let y = read_array(&directory.join("y.f64"), header.n, f64::from_le_bytes)?;
    let design = match header.storage {
        Storage::F64 => read_design(directory, &header, f64::from_le_bytes)?,
        Storage::F32 => read_design(directory, &header, |bytes| f64::from_le_bytes(bytes) as f32)?,
    };
    let start = header.start.as_ref().map(|name| read_array(&directory.join(name), header.p, f64::from_le_bytes));
    let start = start.transpose()?.map(|beta| Coefficients::from_dense(&beta, 0.0));
    Ok(Input { header, design, y, start })
}

fn read_design<T: Element>(
    directory: &Path,
    header: &Header,
    convert: impl Fn([u8; 8]) -> T,
) -> Result<Box<dyn Design>, BenchFailure> {
    let (n, p) = (header.n, header.p);
    if header.format == Format::Dense {
        let x = read_array(&directory.join("x.f64"), n.saturating_mul(p), convert)?;
        return Ok(Box::new(Dense::new(n, p, x)?));
    }
    // A negative index becomes a huge one here, which the checks of file sizes and of the matrix refuse.
    let starts = read_array(&directory.join("indptr.i64"), p.saturating_add(1), |b| i64::from_le_bytes(b) as usize)?;
    let stored = starts[p];
    let rows = read_array(&directory.join("indices.i32"), stored, |b| i32::from_le_bytes(b) as u32)?;
    let values = read_array(&directory.join("data.f64"), stored, convert)?;
    Ok(Box::new(Csc::new(n, starts, rows, values)?))
}

/// `count` values of `WIDTH` bytes each, converted block by block, so that memory holds the values and one block.
fn read_array<T, const WIDTH: usize>(
    path: &Path,
    count: usize,
    convert: impl Fn([u8; WIDTH]) -> T,
) -> Result<Vec<T>, BenchFailure> {
    let failed = |source| BenchFailure::File { path: path.to_owned(), source };
    let mut file = File::open(path).map_err(failed)?;
    let found = file.metadata().map_err(failed)?.len();
    let expected = (count as u64).saturating_mul(WIDTH as u64);
    if found != expected {
        return Err(BenchFailure::Size { path: path.to_owned(), found, expected });
    }
    let mut values = Vec::with_capacity(count);
    let mut block = vec![0u8; WIDTH << 15];
    while values.len() < count {
        let bytes = (count - values.len()).saturating_mul(WIDTH).min(block.len());
        file.read_exact(&mut block[..bytes]).map_err(failed)?;
        let (chunks, _) = block[..bytes].as_chunks::<WIDTH>();
        values.extend(chunks.iter().map(|chunk| convert(*chunk)));
    }
    Ok(values)
}
