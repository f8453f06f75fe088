//! What is asked of a selection.

use crate::control::Options;
use crate::criteria::Criterion;
use crate::cv::{Folds, Rule, Score, Split};
use crate::path::{Grid, Search};
use crate::problem::Problem;
use crate::select::Workers;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// What decides how many features there are.
#[derive(Debug, Clone, PartialEq)]
pub enum How {
    /// A price of a feature, λ0.
    Price(f64),
    /// At most so many features.
    Size(usize),
    /// A criterion along a path, at one λ2: a criterion judges the fit of the samples that were fitted, and of several λ2 it
    /// would always take the least.
    Criterion(Criterion),
    /// Samples left out, along a path for each λ2.
    CrossValidation(Folded),
}

/// How cross-validation is done.
#[derive(Debug, Clone, PartialEq)]
pub struct Folded {
    /// The number of parts, by class for classification; `None` for ten, or one for each sample where there are fewer. More than
    /// samples are an error.
    pub folds: Option<usize>,
    /// How often a division into parts is drawn.
    pub repeats: usize,
    /// Splits in place of the parts.
    pub splits: Vec<Split>,
    /// The score; `None` for the usual one of the loss.
    pub score: Option<Score>,
    /// Which point is taken.
    pub rule: Rule,
    /// Seed of the division.
    pub seed: u64,
}

impl Default for Folded {
    fn default() -> Self {
        Self { folds: None, repeats: 1, splits: Vec::new(), score: None, rule: Rule::Min, seed: 0 }
    }
}

impl Folded {
    /// Parts unless told otherwise: fewer leave too little to fit, more differ too little from all samples.
    const USUAL: usize = 10;

    /// The parts of the samples of a problem.
    pub(super) fn parts(&self, problem: &Problem<'_>) -> Folds {
        let (folds, repeats) = (self.folds.unwrap_or(Self::USUAL.min(problem.samples())), self.repeats);
        match problem.kinds().is_some() {
            true => Folds::Stratified { folds, repeats },
            false => Folds::Random { folds, repeats },
        }
    }
}

/// How much is spent on closing the gap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Prove {
    /// Nothing.
    No,
    /// As long again as the fit, two seconds at least, and 150 nodes at the most.
    #[default]
    Usual,
    /// So long.
    For(Duration),
    /// Until the gap is closed or a limit strikes.
    Fully,
}

/// Settings of [`Posed::select`](crate::select::Posed::select).
///
/// | field | default | purpose |
/// |---|---|---|
/// | `how` | EBIC | what decides the number of features |
/// | `grid` | dynamic | the prices of the path |
/// | `max_size` | [`usual_size`](crate::criteria::usual_size), in cross-validation 20 at least | the largest size compared |
/// | `lambda2` | as the setup says | λ2 inside, in place of that; several are for cross-validation and paths |
/// | `search` | neighbours | how much is spent on each point; a criterion takes [`Search::Light`] for neighbours where X has more than 2³⁰ entries |
/// | `prove` | usual | how much is spent on closing the gap |
/// | `checkpoint` | none | file that paths and cross-validations, or with [`Method::Exact`](crate::Method::Exact) the search, go on from |
/// | `workers` | none | those who do folds and slices of a branch-and-bound tree |
/// | `solve` | | method, tolerances, limits of the whole, threads, cancellation |
#[derive(Debug, Clone)]
pub struct Selection {
    /// What decides the number of features.
    pub how: How,
    /// The prices of the path; `None` for where answers change.
    pub grid: Option<Grid>,
    /// The largest size compared.
    pub max_size: Option<usize>,
    /// λ2, or those compared; empty for the setup's.
    pub lambda2: Vec<f64>,
    /// How much is spent on each point.
    pub search: Search,
    /// How much is spent on closing the gap; with [`Method::Exact`](crate::Method::Exact) everything.
    pub prove: Prove,
    /// File that keeps what is done.
    pub checkpoint: Option<PathBuf>,
    /// Those who do folds, and slices of a branch-and-bound tree, elsewhere.
    pub workers: Option<Arc<dyn Workers>>,
    /// Method, tolerances, limits of the whole, threads and cancellation.
    pub solve: Options,
}

impl Default for Selection {
    fn default() -> Self {
        Self {
            how: How::Criterion(Criterion::Ebic { gamma: 1.0 }),
            grid: None,
            max_size: None,
            lambda2: Vec::new(),
            search: Search::default(),
            prove: Prove::default(),
            checkpoint: None,
            workers: None,
            solve: Options::default(),
        }
    }
}

impl Selection {
    /// The prices that the words of an interface ask for: those given; or evenly spaced logarithms down to `ratio` times the largest;
    /// or at most `points` where answers change. `None`, the usual ones, where nothing is said.
    ///
    /// ```
    /// use bestset::path::Grid;
    /// use bestset::select::Selection;
    ///
    /// assert_eq!(Selection::prices(&[], None, None), None);
    /// assert_eq!(Selection::prices(&[2.0, 1.0], None, None), Some(Grid::Given(vec![2.0, 1.0])));
    /// assert!(matches!(Selection::prices(&[], Some(0.01), None), Some(Grid::Log { points: 100, .. })));
    /// ```
    pub fn prices(given: &[f64], ratio: Option<f64>, points: Option<usize>) -> Option<Grid> {
        let Grid::Dynamic { points: usual, shrink } = Grid::default() else { return None };
        match (ratio, points) {
            _ if !given.is_empty() => Some(Grid::Given(given.to_vec())),
            (Some(ratio), points) => Some(Grid::Log { points: points.unwrap_or(usual), ratio }),
            (None, Some(points)) => Some(Grid::Dynamic { points, shrink }),
            (None, None) => None,
        }
    }
}
