//! Stability selection (Meinshausen and Bühlmann 2010): how often each feature is selected on random subsamples.

use crate::cv::{Split, check_share, fold};
use crate::error::{Error, Result};
use crate::path::PathOptions;
use crate::problem::Problem;
use crate::random::Random;
use crate::solution::Status;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Settings of stability selection.
///
/// | field | default | purpose | range |
/// |---|---|---|---|
/// | `path` | the defaults of paths | tolerances, the largest size; of its λ2 the first | |
/// | `subsamples` | 100 | subsamples drawn | ≥ 1 |
/// | `share` | 0.5 | samples in each | strictly between 0 and 1 |
/// | `seed` | 0 | the draws | |
#[derive(Debug, Clone)]
pub struct StabilityOptions {
    /// The path.
    pub path: PathOptions,
    /// Subsamples drawn.
    pub subsamples: usize,
    /// Share of the samples in each.
    pub share: f64,
    /// Seed of the draws.
    pub seed: u64,
}

impl Default for StabilityOptions {
    fn default() -> Self {
        Self { path: PathOptions::default(), subsamples: 100, share: 0.5, seed: 0 }
    }
}

/// Share of the subsamples from which on a feature is called stable, unless told otherwise.
pub const STABLE_SHARE: f64 = 0.6;

/// How often features are selected.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Stability {
    /// For every size from 0 up, (feature, share of the subsamples whose answer of that size has it), features ascending.
    pub frequencies: Vec<Vec<(usize, f64)>>,
    /// For each feature that is ever selected, its largest share over the sizes.
    pub largest: Vec<(usize, f64)>,
    /// Subsamples fitted.
    pub subsamples: usize,
    /// `Converged`, or the limit that struck.
    pub status: Status,
    /// Why it ended, in words, where the status is [`Status::ReadFailed`].
    pub cause: Option<String>,
}

impl Stability {
    /// The features in at least this share of the subsamples at some size.
    pub fn selected(&self, threshold: f64) -> Vec<usize> {
        self.largest.iter().filter(|f| f.1 >= threshold).map(|f| f.0).collect()
    }

    /// The shares at one size, or at the largest there is.
    pub fn of_size(&self, size: usize) -> &[(usize, f64)] {
        self.frequencies.get(size).or(self.frequencies.last()).map_or(&[], Vec::as_slice)
    }
}

/// Fits paths on random subsamples and counts.
///
/// For classification every subsample holds `share` of each class.
pub fn stability(problem: &Problem<'_>, options: &StabilityOptions) -> Result<Stability> {
    check_share("share", options.share)?;
    if options.subsamples == 0 {
        return Err(Error::Range { name: "subsamples", value: 0.0, range: "at least 1" });
    }
    options.path.validate(problem)?;
    let start = std::time::Instant::now();
    let most = options.path.max_size.unwrap_or_else(|| crate::criteria::usual_size(problem)).min(problem.variables());
    let lambda2 = options.path.lambda2.first().map(|l| vec![*l]).unwrap_or_default();
    let path = PathOptions { lambda2, ..options.path.clone() };
    let draws = draws(problem, options);
    let one = |split: &Split| fold::fit(problem, &path, split, most, start);
    let ends: Result<Vec<_>> =
        crate::control::on_threads(options.path.solve.threads, || draws.par_iter().map(one).collect());
    let (fits, cut) = fold::done(ends?);
    let (status, cause) = cut.unwrap_or((Status::Converged, None));
    let share = 1.0 / fits.len().max(1) as f64;
    let mut largest = std::collections::BTreeMap::new();
    let mut frequencies = Vec::with_capacity(most + 1);
    for size in 0..=most {
        let mut counts = std::collections::BTreeMap::new();
        let selected = fits.iter().flat_map(|f| f.answer(0, size).features(problem.classes()));
        selected.for_each(|j| *counts.entry(j).or_insert(0usize) += 1);
        let shares: Vec<(usize, f64)> = counts.into_iter().map(|(j, c)| (j, c as f64 * share)).collect();
        for &(j, s) in &shares {
            let most = largest.entry(j).or_insert(0.0);
            *most = f64::max(*most, s);
        }
        frequencies.push(shares);
    }
    Ok(Stability { frequencies, largest: largest.into_iter().collect(), subsamples: fits.len(), status, cause })
}

/// The samples of each subsample; nothing is predicted.
fn draws(problem: &Problem<'_>, options: &StabilityOptions) -> Vec<Split> {
    let (n, mut random) = (problem.samples(), Random::new(options.seed));
    let kinds = problem.kinds();
    let last = kinds.iter().flatten().copied().max().unwrap_or(0);
    let one = |_| {
        let mut order: Vec<usize> = (0..n).collect();
        random.shuffle(&mut order);
        let mut train = Vec::new();
        for kind in (0..=last).rev() {
            let alike: Vec<usize> =
                order.iter().copied().filter(|&i| kinds.as_ref().is_none_or(|k| k[i] == kind)).collect();
            let count = ((options.share * alike.len() as f64).round() as usize).max(1);
            train.extend(alike.into_iter().take(count));
        }
        Split { train, test: Vec::new() }
    };
    (0..options.subsamples).map(one).collect()
}
