//! Long work that survives a kill: paths and cross-validations whose progress is kept in a file.
//!
//! The file holds the points, or the folds, done so far, and a fingerprint of problem and settings: it is refused for any
//! other. It is written whole or not at all. What is resumed ends with the same bits as what was never stopped, except the
//! seconds it took.

use crate::cv::{CrossValidation, CvOptions, FoldScores, cross_validate_with, drawn};
use crate::error::{Error, Result};
use crate::path::{Path, PathOptions, State, path_from};
use crate::problem::Problem;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

const FORMAT: &str = "bestset checkpoint";
const VERSION: u32 = 1;

/// What the file holds.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Progress {
    format: String,
    version: u32,
    /// Of the problem and the settings, in hexadecimal.
    fingerprint: String,
    /// The paths done or begun, one for each λ2.
    strands: Vec<State>,
    /// The folds done.
    folds: BTreeMap<usize, FoldScores>,
}

/// Progress and the file it is kept in.
struct Keeper<'f> {
    file: &'f std::path::Path,
    progress: Mutex<Progress>,
}

impl<'f> Keeper<'f> {
    /// Reads the file if it is there; refuses one that is damaged or of other work.
    fn open(file: &'f std::path::Path, fingerprint: u64) -> Result<Self> {
        let fingerprint = format!("{fingerprint:016x}");
        let bad = |reason: String| Error::File { what: "checkpoint", reason: format!("{}: {reason}", file.display()) };
        let progress = if file.exists() {
            let text = crate::file::read(file, "checkpoint")?;
            let known: Progress = serde_json::from_str(&text).map_err(|e| bad(format!("it is damaged: {e}")))?;
            if known.format != FORMAT || known.version != VERSION {
                return Err(bad(format!("it is {:?} version {}", known.format, known.version)));
            }
            if known.fingerprint != fingerprint {
                return Err(bad("it belongs to other data or settings".to_owned()));
            }
            known
        } else {
            let (format, version) = (FORMAT.to_owned(), VERSION);
            Progress { format, version, fingerprint, strands: Vec::new(), folds: BTreeMap::new() }
        };
        Ok(Self { file, progress: Mutex::new(progress) })
    }

    /// Changes the progress and writes it.
    fn note(&self, change: impl FnOnce(&mut Progress)) -> Result<()> {
        let mut progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut progress);
        let text =
            serde_json::to_string(&*progress).map_err(|e| Error::File { what: "checkpoint", reason: e.to_string() })?;
        crate::file::write_whole(self.file, "checkpoint", text.as_bytes())
    }

    fn known(&self) -> Progress {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn path(&self, problem: &Problem<'_>, options: &PathOptions) -> Result<Path> {
        path_from(problem, options, self.known().strands, &mut |_| (), &mut |number, state| {
            self.note(|progress| {
                progress.strands.truncate(number);
                progress.strands.push(state.clone());
            })
        })
    }
}

/// As [`path`](crate::path::path()), going on from the file if it is there, and keeping it up to date.
pub fn path(problem: &Problem<'_>, options: &PathOptions, file: impl AsRef<std::path::Path>) -> Result<Path> {
    let fingerprint = fingerprint(problem, &settings(options));
    Keeper::open(file.as_ref(), fingerprint)?.path(problem, options)
}

/// As [`cross_validate`](crate::cv::cross_validate), going on from the file if it is there, and keeping it up to date.
pub fn cross_validate(
    problem: &Problem<'_>,
    options: &CvOptions,
    file: impl AsRef<std::path::Path>,
) -> Result<CrossValidation> {
    let CvOptions { path, folds, score, seed } = options;
    let fingerprint = fingerprint(problem, &format!("{} {folds:?} {score:?} {seed}", settings(path)));
    let keeper = Keeper::open(file.as_ref(), fingerprint)?;
    let known = keeper.known().folds;
    let (parts, splits) = drawn(problem, options)?;
    cross_validate_with(
        problem,
        options,
        (parts, &splits),
        |options| keeper.path(problem, options),
        &|fold| known.get(&fold).cloned(),
        &|fold, scores| {
            keeper.note(|progress| {
                progress.folds.insert(fold, scores.clone());
            })
        },
    )
}

/// The settings that the points depend on; limits, threads and the backward pass, which is made anew, are not among them.
fn settings(options: &PathOptions) -> String {
    let PathOptions { grid, lambda2, max_size, search, solve, .. } = options;
    let tolerances = (solve.gap, solve.gap_absolute, solve.relaxation_gap);
    format!("{grid:?} {lambda2:?} {max_size:?} {search:?} {tolerances:?}")
}

/// FNV-1a of the problem and the settings; X enters by the lengths of its columns and their products with y.
fn fingerprint(problem: &Problem<'_>, settings: &str) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    let mut add = |bytes: &[u8]| {
        for &byte in bytes {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    };
    let p = problem.ncols();
    add(format!("{} {p} {:?} {:?} {}", problem.nrows(), problem.loss(), problem.penalty(), problem.has_intercept())
        .as_bytes());
    add(settings.as_bytes());
    let features: Vec<usize> = (0..p).collect();
    let mut products = vec![0.0; p];
    problem.design().correlate(&features, problem.y(), &mut products);
    let lengths: Vec<f64> = features.iter().map(|&j| problem.squares(j)).collect();
    let vectors = [problem.y(), problem.weights().unwrap_or(&[]), problem.offset().unwrap_or(&[]), &products, &lengths];
    for vector in vectors {
        add(&vector.len().to_le_bytes());
        vector.iter().for_each(|x| add(&x.to_bits().to_le_bytes()));
    }
    hash
}
