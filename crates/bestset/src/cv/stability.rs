//! Stability selection (Meinshausen and Bühlmann 2010): how often each feature is selected on random subsamples.

use super::check_share;
use crate::error::{Error, Result};
use crate::path::{Grid, PathOptions, path};
use crate::problem::Problem;
use crate::random::Random;
use crate::solution::Status;
use rayon::prelude::*;

/// Settings of stability selection.
///
/// | field | default | purpose | range |
/// |---|---|---|---|
/// | `path` | the defaults of paths | the grid, of all samples, and tolerances | |
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

/// How often features are selected.
#[derive(Debug, Clone, PartialEq)]
pub struct Stability {
    /// λ0 of each point.
    pub lambda0: Vec<f64>,
    /// For each point, (feature, share of the subsamples that select it), features ascending.
    pub frequencies: Vec<Vec<(usize, f64)>>,
    /// For each feature that is ever selected, its largest share over the points.
    pub largest: Vec<(usize, f64)>,
    /// Subsamples fitted.
    pub subsamples: usize,
    /// `Converged`, or the limit that struck.
    pub status: Status,
}

impl Stability {
    /// The features selected at some point in at least this share of the subsamples.
    pub fn selected(&self, threshold: f64) -> Vec<usize> {
        self.largest.iter().filter(|f| f.1 >= threshold).map(|f| f.0).collect()
    }
}

/// Fits the path on random subsamples and counts.
///
/// For classification every subsample holds `share` of each class.
pub fn stability(problem: &Problem<'_>, options: &StabilityOptions) -> Result<Stability> {
    check_share("share", options.share)?;
    if options.subsamples == 0 {
        return Err(Error::Range { name: "subsamples", value: 0.0, range: "at least 1" });
    }
    let start = std::time::Instant::now();
    let whole = path(problem, &options.path)?;
    let lambda0: Vec<f64> = whole.points.iter().map(|p| p.lambda0).collect();
    let draws = draws(problem, options);
    let one = |kept: &Vec<f64>| -> Result<Option<Vec<Vec<usize>>>> {
        let share = kept.iter().sum::<f64>() / problem.weights().map_or(kept.len() as f64, crate::kernel::sum);
        let part = problem.clone().with_weights(kept.as_slice())?;
        let mut supports = Vec::new();
        for strand in whole.strands() {
            let mut penalty = problem.penalty().clone();
            (penalty.lambda1, penalty.lambda2) = (share * penalty.lambda1, share * strand[0].lambda2);
            let grid = Grid::Given(strand.iter().map(|p| share * p.lambda0).collect());
            let mut settings =
                PathOptions { grid, lambda2: Vec::new(), max_size: Some(usize::MAX), ..options.path.clone() };
            settings.solve.threads = None;
            let left = |limit: std::time::Duration| limit.saturating_sub(start.elapsed());
            settings.solve.time_limit = settings.solve.time_limit.map(left);
            let found = path(&part.with_penalty(penalty)?, &settings)?;
            if found.status != Status::Converged {
                return Ok(None);
            }
            supports.extend(found.points.into_iter().map(|p| p.solution.coefficients.support));
        }
        Ok(Some(supports))
    };
    let fits: Result<Vec<_>> =
        crate::solver::on_threads(options.path.solve.threads, || draws.par_iter().map(one).collect());
    let fits: Vec<Vec<Vec<usize>>> = fits?.into_iter().flatten().collect();
    let cut = if options.path.solve.cancel.is_cancelled() { Status::Interrupted } else { Status::TimeLimit };
    let status = if fits.len() == draws.len() { whole.status } else { cut };
    Ok(count(lambda0, &fits, status))
}

/// The weights of each subsample: the sample's own, or zero.
fn draws(problem: &Problem<'_>, options: &StabilityOptions) -> Vec<Vec<f64>> {
    let (n, mut random) = (problem.nrows(), Random::new(options.seed));
    let weight = |i: usize| problem.weights().map_or(1.0, |w| w[i]);
    let classes = problem.loss().is_classification();
    let one = |_| {
        let mut order: Vec<usize> = (0..n).collect();
        random.shuffle(&mut order);
        let mut kept = vec![0.0; n];
        for label in [true, false] {
            let class: Vec<usize> =
                order.iter().copied().filter(|&i| !classes || (problem.y()[i] > 0.0) == label).collect();
            let count = ((options.share * class.len() as f64).round() as usize).max(1);
            class.iter().take(count).for_each(|&i| kept[i] = weight(i));
            if !classes {
                break;
            }
        }
        kept
    };
    (0..options.subsamples).map(one).collect()
}

fn count(lambda0: Vec<f64>, fits: &[Vec<Vec<usize>>], status: Status) -> Stability {
    let share = 1.0 / fits.len().max(1) as f64;
    let mut largest = std::collections::BTreeMap::new();
    let mut frequencies = Vec::with_capacity(lambda0.len());
    for k in 0..lambda0.len() {
        let mut counts = std::collections::BTreeMap::new();
        fits.iter().flat_map(|f| &f[k]).for_each(|&j| *counts.entry(j).or_insert(0usize) += 1);
        let shares: Vec<(usize, f64)> = counts.into_iter().map(|(j, c)| (j, c as f64 * share)).collect();
        for &(j, s) in &shares {
            let most = largest.entry(j).or_insert(0.0);
            *most = f64::max(*most, s);
        }
        frequencies.push(shares);
    }
    let largest = largest.into_iter().collect();
    Stability { lambda0, frequencies, largest, subsamples: fits.len(), status }
}
