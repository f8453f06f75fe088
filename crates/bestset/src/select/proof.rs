//! The proof of a selection as a file, and the data as they were used as another.

use super::{Posed, Selected, Selection};
use crate::control::Options;
use crate::design::Column;
use crate::error::{Error, Result};
use crate::exact::proof::{ProofData, ProofSummary, check_loss, is_start, resume_proof};
use crate::file::replace;
use crate::solution::Status;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Where a proof goes, and what the columns are called in the data that it will be checked against.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProofFile {
    /// The proof.
    pub path: PathBuf,
    /// A CSV file that the data go into as they are used, for data that a checker cannot read as they are.
    pub data: Option<PathBuf>,
    /// Names of the features.
    pub names: Vec<String>,
    /// Names of the target, of weights and offsets; empty where there are none.
    pub target: String,
    /// See `target`.
    pub weights: String,
    /// See `target`.
    pub offset: String,
}

impl ProofFile {
    /// An error, before a search, where its files could not be written.
    pub fn check(&self) -> Result<()> {
        for path in [Some(&self.path), self.data.as_ref()].into_iter().flatten() {
            let failed =
                |error: io::Error| Error::File { what: "proof", reason: format!("{}: {error}", path.display()) };
            if path.is_dir() {
                return Err(failed(io::ErrorKind::IsADirectory.into()));
            }
            let part = with_end(path, ".part");
            let is_new = std::fs::symlink_metadata(&part).is_err();
            std::fs::OpenOptions::new().append(true).create(true).open(&part).map_err(failed)?;
            if is_new {
                std::fs::remove_file(&part).map_err(failed)?;
            }
        }
        Ok(())
    }

    /// Keeps the search before the proof in a file beside it, with `.search` at the end of its name, unless it is kept elsewhere: a limit
    /// leaves it, and the next call goes on from there; that of other data or settings is kept as `.search-1`. It goes once the proof is
    /// written.
    pub fn keep_search(&self, options: &mut Selection) {
        if options.checkpoint.is_none() && options.workers.is_none() {
            options.checkpoint = Some(with_end(&self.path, SEARCH));
        }
    }
}

/// The end of the name of a search that is kept beside its proof.
const SEARCH: &str = ".search";

/// Whether a file could not be gone on from as it is the search before another proof, and is now kept as `.search-1`.
pub(super) fn set_aside(file: &Path, error: &Error) -> Result<bool> {
    let is_own = file.as_os_str().as_encoded_bytes().ends_with(SEARCH.as_bytes());
    if !is_own || !crate::checkpoint::is_of_others(error) {
        return Ok(false);
    }
    let failed = |error: io::Error| Error::File { what: "checkpoint", reason: format!("{}: {error}", file.display()) };
    std::fs::rename(file, free_name(file)).map_err(failed)?;
    Ok(true)
}

impl Posed<'_> {
    /// Refuses, before a search, what there is no proof in a file of: groups, columns that are constant but for rounding, and losses that
    /// the checker does not know.
    pub fn check_proof(&self) -> Result<()> {
        // Many classes are groups too, but nobody has made them.
        check_loss(self.problem.loss())?;
        if self.groups().is_some() {
            return Err(Error::Unused {
                setting: "a proof file".to_owned(),
                place: "for groups of features",
                advice: "the checker knows single features only; choose each level alone",
            });
        }
        let all: Vec<usize> = (0..self.problem.variables()).collect();
        self.check_flat(&all, |_| true)
    }

    /// Writes a proof of a selection that was proved, which `bestset-check` verifies without this crate; what was written. Where a limit
    /// strikes, what there is stays beside it, with `.part` at the end of its name, and the next call goes on from there. What is there of
    /// another proof is kept as `.part-1`.
    pub fn write_proof(&self, selected: &Selected, options: &Options, file: &ProofFile) -> Result<ProofSummary> {
        self.check_proof()?;
        check_proved(selected.solution.status, &file.path)?;
        let priced = self.priced(selected.lambda0, selected.lambda2)?;
        let problem = match selected.k {
            None => priced,
            Some(k) => priced.with_max_size(k)?,
        };
        // A constant column is zero once centred, whatever it is divided by.
        let finite = |scale: &f64| if scale.is_finite() { *scale } else { 1.0 };
        let scale: Option<Vec<f64>> = self.view.map(|view| view.scale().iter().map(finite).collect());
        let data = ProofData {
            x: self.x,
            scale: scale.as_deref(),
            names: file.names.clone(),
            target: file.target.clone(),
            weights: if problem.weights().is_some() { file.weights.clone() } else { String::new() },
            offset: if problem.offset().is_some() { file.offset.clone() } else { String::new() },
        };
        if let Some(path) = &file.data {
            let columns = columns(&problem, &data)?;
            whole(path, |out| write_csv(&columns, out))?;
        }
        let part = with_end(&file.path, ".part");
        let mut start = std::fs::read(&part).unwrap_or_default();
        let failed = |error: io::Error| Error::File { what: "proof", reason: format!("{}: {error}", part.display()) };
        if !start.is_empty() && !is_start(&problem, &data, &selected.solution, options, &start)? {
            // What there is of another proof is not written over.
            std::fs::rename(&part, free_name(&part)).map_err(failed)?;
            start.clear();
        }
        let mut out = BufWriter::with_capacity(1 << 16, std::fs::File::create(&part).map_err(failed)?);
        let written = resume_proof(&problem, &data, &selected.solution, options, &start, &mut out);
        // What there is of it stays, to go on from.
        out.flush().map_err(failed)?;
        let written = written.map_err(|error| match error {
            Error::Unfinished { limit, is_interrupted, .. } => {
                let advice = format!(
                    "{} has what there is of it, and the same call with more time goes on from there",
                    part.display()
                );
                Error::Unfinished { limit, is_interrupted, advice }
            }
            other => other,
        })?;
        std::fs::rename(&part, &file.path).map_err(failed)?;
        // It may never have been needed.
        let _ = std::fs::remove_file(with_end(&file.path, SEARCH));
        Ok(written)
    }
}

/// An error where the answer was not proved.
fn check_proved(status: Status, path: &Path) -> Result<()> {
    match status {
        Status::Optimal => Ok(()),
        Status::Converged | Status::Stalled => Err(Error::Unused {
            setting: "a proof file".to_owned(),
            place: "for this answer",
            advice: "it is not proved to be the best",
        }),
        status => {
            let advice = format!(
                "the answer is not proved to be the best, and nothing is written to {}; ask again with more time",
                path.display()
            );
            let is_interrupted = status == Status::Interrupted;
            Err(Error::Unfinished { limit: status.to_string(), is_interrupted, advice })
        }
    }
}

/// The same name with more at its end.
fn with_end(path: &Path, end: &str) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(end);
    path.with_file_name(name)
}

/// The first of the names that end in -1, -2, … under which there is nothing.
fn free_name(path: &Path) -> PathBuf {
    let named = |number: usize| with_end(path, &format!("-{number}"));
    (1..).map(named).find(|name| std::fs::symlink_metadata(name).is_err()).unwrap_or_else(|| named(0))
}

/// A file that is whole or not there.
fn whole(path: &Path, fill: impl FnOnce(&mut BufWriter<&mut std::fs::File>) -> io::Result<()>) -> Result<()> {
    let written = replace(path, |file| {
        let mut out = BufWriter::with_capacity(1 << 16, file);
        fill(&mut out)?;
        out.flush()
    });
    written.map_err(|error| Error::File { what: "proof", reason: format!("{}: {error}", path.display()) })
}

/// Every column with its name.
fn columns(problem: &crate::Problem<'_>, data: &ProofData<'_>) -> Result<Vec<(String, Vec<f64>)>> {
    let mut all = Vec::new();
    let mut column = Column::default();
    for (j, name) in data.names.iter().enumerate() {
        data.x.column(j, &mut column)?;
        let mut values = vec![0.0; data.x.nrows()];
        column.to_dense(&mut values);
        all.push((name.clone(), values));
    }
    let others =
        [(&data.target, Some(problem.y())), (&data.weights, problem.weights()), (&data.offset, problem.offset())];
    all.extend(others.into_iter().filter_map(|(name, values)| Some((name.clone(), values?.to_vec()))));
    Ok(all)
}

/// Numbers come back bit for bit.
fn write_csv(columns: &[(String, Vec<f64>)], out: &mut dyn Write) -> io::Result<()> {
    let names: Vec<String> = columns.iter().map(|c| format!("\"{}\"", c.0.replace('"', "\"\""))).collect();
    writeln!(out, "{}", names.join(","))?;
    for i in 0..columns.first().map_or(0, |c| c.1.len()) {
        for (k, (_, values)) in columns.iter().enumerate() {
            let comma = if k == 0 { "" } else { "," };
            write!(out, "{comma}{:e}", values[i])?;
        }
        writeln!(out)?;
    }
    Ok(())
}
