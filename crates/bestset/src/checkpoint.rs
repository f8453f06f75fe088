//! Long work that survives a kill: paths, cross-validations and branch and bound whose progress is kept in a file.
//!
//! The file holds the points, the folds or the open nodes so far, a fingerprint of problem and settings (it is refused for any
//! other) and a check sum. It is written whole or not at all. What is resumed ends with the same bits as what was never stopped,
//! except the seconds it took.

use crate::control::{Method, Observer, Options};
use crate::cv::{CrossValidation, CvOptions, Division, FoldFit, Split, Work};
use crate::error::{Error, Result};
use crate::path::{Path, PathOptions, Point, State, path_from};
use crate::problem::Problem;
use crate::snapshot::Journal;
use crate::solution::Solution;
use crate::solve::Saved;
use crate::solve::solve_kept;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The first words of a file.
const FORMAT: &str = "bestset checkpoint";
/// Raised whenever a file of before could not be gone on from: 7 moves curvature by another rule, so that a search of
/// before would go on as none does.
const VERSION: u32 = 7;
/// Paths and folds of this version and those after it are the same.
const WITHOUT_SEARCH: u32 = 5;

/// Branch and bound writes no more often than this, and spends a twentieth of its time on it at most.
const PAUSE: Duration = Duration::from_millis(50);

/// What the file holds.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredWork {
    format: String,
    version: u32,
    /// Of the problem and the settings, in hexadecimal.
    fingerprint: String,
    /// The paths done or begun, one for each λ2.
    strands: Vec<State>,
    /// The folds done.
    folds: BTreeMap<usize, FoldFit>,
    /// The open nodes of branch and bound.
    search: Option<Saved>,
}

/// What is said of a file of other work.
const OF_OTHERS: &str = "it belongs to other data or settings";

/// Whether an error is that a file belongs to other work.
pub(crate) fn is_of_others(error: &Error) -> bool {
    matches!(error, Error::File { what: "checkpoint", reason } if reason.contains(OF_OTHERS))
}

/// What was done, and the file it is kept in.
struct Keeper<'f> {
    file: &'f std::path::Path,
    progress: Mutex<StoredWork>,
}

impl<'f> Keeper<'f> {
    /// Reads the file if it is there; refuses one that is damaged or of other work.
    fn open(file: &'f std::path::Path, fingerprint: u64) -> Result<Self> {
        let fingerprint = format!("{fingerprint:016x}");
        let bad = |reason: String| Error::File { what: "checkpoint", reason: format!("{}: {reason}", file.display()) };
        // From a device or a pipe, which may stand here as well, nothing comes back.
        let progress = if file.is_file() {
            let text = crate::file::read(file, "checkpoint")?;
            let (json, sum) = text.trim_end().rsplit_once('\n').unwrap_or((&text, ""));
            let known: StoredWork = serde_json::from_str(json).map_err(|e| bad(format!("it is damaged: {e}")))?;
            let is_known = known.version == VERSION
                || (WITHOUT_SEARCH..VERSION).contains(&known.version) && known.search.is_none();
            if known.format != FORMAT || !is_known {
                let what = format!("it is {:?} version {}", known.format, known.version);
                return Err(bad(format!("{what}; remove it, or name another file")));
            }
            if known.fingerprint != fingerprint {
                return Err(bad(format!("{OF_OTHERS}; remove it, or name another file")));
            }
            if sum != check_sum(json) {
                return Err(bad("it is damaged: its check sum is wrong".to_owned()));
            }
            known
        } else {
            let (format, version) = (FORMAT.to_owned(), VERSION);
            StoredWork { format, version, fingerprint, strands: Vec::new(), folds: BTreeMap::new(), search: None }
        };
        Ok(Self { file, progress: Mutex::new(progress) })
    }

    /// Changes the progress and writes it.
    fn note(&self, change: impl FnOnce(&mut StoredWork)) -> Result<()> {
        let mut progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut progress);
        let mut text =
            serde_json::to_string(&*progress).map_err(|e| Error::File { what: "checkpoint", reason: e.to_string() })?;
        let sum = check_sum(&text);
        text.extend(["\n", &sum, "\n"]);
        crate::file::write_whole(self.file, "checkpoint", text.as_bytes())
    }

    fn known(&self) -> StoredWork {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn path(
        &self,
        problem: &Problem<'_>,
        options: &PathOptions,
        observer: &mut (dyn FnMut(&Point) + Send),
    ) -> Result<Path> {
        path_from(problem, options, self.known().strands, observer, &mut |number, state| {
            self.note(|progress| {
                progress.strands.truncate(number);
                progress.strands.push(state.clone());
            })
        })
    }
}

/// As [`path`](crate::path::path()), going on from the file if it is there, and keeping it up to date.
pub fn path(problem: &Problem<'_>, options: &PathOptions, file: impl AsRef<std::path::Path>) -> Result<Path> {
    path_observed(problem, options, file, &mut |_| ())
}

/// As [`path()`], showing every point as [`path_observed`](crate::path::path_observed) does, those of the file first.
pub fn path_observed(
    problem: &Problem<'_>,
    options: &PathOptions,
    file: impl AsRef<std::path::Path>,
    observer: &mut (dyn FnMut(&Point) + Send),
) -> Result<Path> {
    let fingerprint = fingerprint(problem, &settings(options))?;
    Keeper::open(file.as_ref(), fingerprint)?.path(problem, options, observer)
}

/// As [`cross_validate`](crate::cv::cross_validate), going on from the file if it is there, and keeping it up to date.
pub fn cross_validate(
    problem: &Problem<'_>,
    options: &CvOptions,
    file: impl AsRef<std::path::Path>,
) -> Result<CrossValidation> {
    let parts = Division::drawn(problem, options)?;
    cross_validate_work(Work { problem, options, parts }, file.as_ref(), &|_, _| ())
}

/// As [`cross_validate_splits`](crate::cv::cross_validate_splits), going on from the file if it is there, and keeping it up to date.
pub fn cross_validate_splits(
    problem: &Problem<'_>,
    options: &CvOptions,
    splits: &[Split],
    file: impl AsRef<std::path::Path>,
) -> Result<CrossValidation> {
    let parts = Division::given(problem, splits)?;
    cross_validate_work(Work { problem, options, parts }, file.as_ref(), &|_, _| ())
}

/// A cross-validation that goes on from the file, showing how many folds are done, those of the file among them.
pub(crate) fn cross_validate_work(
    work: Work<'_, '_>,
    file: &std::path::Path,
    observer: &(dyn Fn(usize, usize) + Sync),
) -> Result<CrossValidation> {
    let Work { problem, options, parts } = &work;
    let (problem, total) = (*problem, parts.splits.len());
    let settings = format!("{} {:?} {:?}", settings(&options.path), options.score, parts.splits);
    let keeper = Keeper::open(file, fingerprint(problem, &settings)?)?;
    let known = keeper.known().folds;
    let count = AtomicUsize::new(known.len());
    let done = |fold: usize, fit: &FoldFit| {
        keeper.note(|progress| {
            progress.folds.insert(fold, fit.clone());
        })?;
        observer(1 + count.fetch_add(1, Ordering::Relaxed), total);
        Ok(())
    };
    work.run(|options| keeper.path(problem, options, &mut |_| ()), &|fold| known.get(&fold).cloned(), &done)
}

/// As [`solve`](crate::solve()) with [`Method::Exact`], whatever the options say, going on from the file if it is there, and
/// keeping it up to date: a kill costs the last moments. A search that a limit ends goes on from there with a higher limit.
pub fn exact(problem: &Problem<'_>, options: &Options, file: impl AsRef<std::path::Path>) -> Result<Solution> {
    exact_observed(problem, options, file, &mut ())
}

/// As [`exact`], with an observer that sees every trace row as it is made.
pub fn exact_observed(
    problem: &Problem<'_>,
    options: &Options,
    file: impl AsRef<std::path::Path>,
    observer: &mut dyn Observer,
) -> Result<Solution> {
    let options = Options { method: Method::Exact, ..options.clone() };
    let Options { gap, gap_absolute, relaxation_gap, warm_start, top, .. } = &options;
    let tolerances = (gap, gap_absolute, relaxation_gap);
    let settings = format!("exact {:?} {tolerances:?} {warm_start:?} {top}", problem.max_size());
    let keeper = Keeper::open(file.as_ref(), fingerprint(problem, &settings)?)?;
    let start = keeper.progress.lock().unwrap_or_else(PoisonError::into_inner).search.take();
    let mut next = Instant::now();
    let mut keep = |state: &dyn Fn() -> Saved| {
        let begin = Instant::now();
        if begin < next {
            return Ok(());
        }
        keeper.note(|progress| progress.search = Some(state()))?;
        next = Instant::now() + PAUSE.max(20 * begin.elapsed());
        Ok(())
    };
    solve_kept(problem, &options, observer, Some(&mut Journal { start, keep: &mut keep }))
}

/// The settings that the points depend on; limits and threads are not among them.
fn settings(options: &PathOptions) -> String {
    let PathOptions { grid, lambda2, max_size, until, backward, search, groups, solve } = options;
    let tolerances = (solve.gap, solve.gap_absolute, solve.relaxation_gap);
    let until = until.map_or(String::new(), |criterion| format!(" {criterion:?}"));
    format!("{grid:?} {lambda2:?} {max_size:?}{until} {backward} {search:?} {groups:?} {tolerances:?}")
}

/// FNV-1a, going on from the hash of what came before.
fn hashed(hash: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(hash, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// The hash of nothing, by which FNV-1a starts.
const EMPTY: u64 = 0xcbf2_9ce4_8422_2325;

/// Of a file's text: a number changed by accident must not pass for a bound.
fn check_sum(text: &str) -> String {
    format!("{:016x}", hashed(EMPTY, text.as_bytes()))
}

/// The hash of the problem and the settings; X enters by the lengths of its columns and their products with y and with a vector
/// that treats no two samples alike: with y alone, samples of the same y could exchange their values.
fn fingerprint(problem: &Problem<'_>, settings: &str) -> Result<u64> {
    let mut hash = EMPTY;
    let mut add = |bytes: &[u8]| hash = hashed(hash, bytes);
    let p = problem.ncols();
    add(format!("{} {p} {:?} {:?} {}", problem.nrows(), problem.loss(), problem.penalty(), problem.has_intercept())
        .as_bytes());
    add(settings.as_bytes());
    let features: Vec<usize> = (0..p).collect();
    let mut products = vec![0.0; p];
    problem.design().correlate(&features, problem.y(), &mut products)?;
    let lengths = problem.squares()?;
    let probe: Vec<f64> =
        (0..problem.nrows()).map(|i| hashed(EMPTY, &i.to_le_bytes()) as f64 / 2f64.powi(64)).collect();
    let mut probed = vec![0.0; p];
    problem.design().correlate(&features, &probe, &mut probed)?;
    let (weights, offset) = (problem.weights().unwrap_or(&[]), problem.offset().unwrap_or(&[]));
    // Slopes at points that treat no two samples alike tell events and risk sets apart.
    let mut slopes = vec![0.0; if problem.coupled().is_some() { problem.nrows() } else { 0 }];
    if let Some(coupled) = problem.coupled() {
        coupled.gradient(&probe, &mut slopes);
    }
    let vectors = [problem.y(), weights, offset, &products, &probed, lengths, &slopes];
    for vector in vectors.iter().take(if slopes.is_empty() { 6 } else { 7 }) {
        add(&vector.len().to_le_bytes());
        vector.iter().for_each(|x| add(&x.to_bits().to_le_bytes()));
    }
    Ok(hash)
}
