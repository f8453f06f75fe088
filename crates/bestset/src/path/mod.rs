//! A path: answers with their certificates for a descending sequence of λ0.
//!
//! Forward, each point starts from the answer and the relaxation's minimiser of the point before. Backward, the points of one
//! sweep are tried with the answers of the others, since a support that is best at one λ0 may be at another; the better P is kept.
//! No answer depends on points of later sweeps, so that none depends on where the path ends. The active set and its inner
//! products are shared by all points: they do not depend on λ0.

mod answer;
mod back;
mod batch;
mod grid;
mod grouped;
mod judged;
mod light;
mod run;
mod state;
mod sweep;

pub use grid::Grid;
pub(crate) use state::State;

use crate::control::{Limits, Options};
use crate::criteria::Criterion;
use crate::error::{Error, Result};
use crate::groups::Groups;
use crate::problem::Problem;
use crate::solution::{Coefficients, Solution, Status};
use serde::{Deserialize, Serialize};

/// Settings of a path.
///
/// | field | default | purpose | range |
/// |---|---|---|---|
/// | `grid` | dynamic, 100 points | the λ0 visited | |
/// | `lambda2` | the problem's | ridge terms, one path for each | ≥ 0 |
/// | `max_size` | min(n, p) | a path ends after the first answer with this many features | ≥ 1 |
/// | `until` | none | a path ends where this criterion is left no larger size to choose; not with groups | AIC, BIC, EBIC, GIC |
/// | `backward` | true | the points of a sweep take each other's answers | |
/// | `search` | neighbours | how much is spent on the answer of each point | |
/// | `groups` | none | features that are in or out together | λ2 > 0 or bounds on every coefficient |
/// | `solve` | relaxation gap 1e-4 | tolerances, threads, time limit (of the whole path) and cancellation | |
#[derive(Debug, Clone)]
pub struct PathOptions {
    /// The λ0 visited.
    pub grid: Grid,
    /// Ridge terms, one path for each in this order; empty for the problem's own.
    pub lambda2: Vec<f64>,
    /// A path ends after the first answer with at least this many features; `None` for min(n, p).
    pub max_size: Option<usize>,
    /// A path ends after the sweep in which this criterion is left no larger size to choose, as far as its answers are the best of their
    /// prices (MATH 10.21); others than AIC, BIC, EBIC and GIC end none, and neither do prices that differ.
    pub until: Option<Criterion>,
    /// Whether answers are tried at their larger neighbours.
    pub backward: bool,
    /// How much is spent on each answer.
    pub search: Search,
    /// Groups of features that are in or out together; with them `backward` and `search` are not used.
    pub groups: Option<Groups>,
    /// Tolerances, threads, time limit and cancellation; `method` and `warm_start` are not used.
    pub solve: Options,
}

/// How much a path spends on the answer of each point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Search {
    /// Moves of one feature from the answer before and from the rounded relaxation.
    #[default]
    Neighbours,
    /// Moves of one feature from the answer before, among those that a look at all of X promised; it is looked at again where a feature
    /// outside could pay. No relaxation is minimised: a bound is that of the dual point of the last look, best scaled (MATH 10.22). As
    /// `Neighbours` but for the squared loss with λ2 > 0 and no bounds on coefficients.
    Light,
    /// A solve of its own for every point, and the neighbours' answers: no point is worse than a cold start.
    Full,
}

impl Default for PathOptions {
    fn default() -> Self {
        let solve = Options { relaxation_gap: 1e-4, ..Options::default() };
        let (grid, search) = (Grid::default(), Search::default());
        Self { grid, lambda2: Vec::new(), max_size: None, until: None, backward: true, search, groups: None, solve }
    }
}

impl PathOptions {
    /// Checks every field.
    pub fn validate(&self, problem: &Problem<'_>) -> Result<()> {
        self.grid.validate()?;
        for &value in &self.lambda2 {
            if !(value >= 0.0 && value.is_finite()) {
                return Err(Error::Range { name: "lambda2", value, range: "finite and at least 0" });
            }
        }
        if self.max_size == Some(0) {
            return Err(Error::Range { name: "max_size", value: 0.0, range: "at least 1" });
        }
        if problem.max_size().is_some() {
            let reason = "chooses the sizes by lambda0; for given sizes use `sizes`";
            return Err(Error::Unsupported { method: "path", reason });
        }
        Options { method: crate::Method::Incremental, warm_start: None, ..self.solve.clone() }.validate(problem)
    }
}

/// f(S) = Σ_{j∈S} f_j, or Σ of the prices of the groups (MATH 10.1): what an answer costs in units of λ0, the part of P that
/// changes with it.
pub(crate) fn cost(problem: &Problem<'_>, groups: Option<&Groups>, coefficients: &Coefficients) -> f64 {
    match groups {
        Some(groups) => {
            let grouped = crate::groups::Grouped { problem, groups };
            grouped.chosen(coefficients).iter().map(|&g| grouped.factor(g)).sum()
        }
        None => coefficients.support.iter().map(|&j| problem.penalty().price.at(j)).sum(),
    }
}

/// One point of a path.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// λ0.
    pub lambda0: f64,
    /// λ1.
    pub lambda1: f64,
    /// λ2.
    pub lambda2: f64,
    /// The answer with its certificate.
    pub solution: Solution,
}

/// The points of a path, λ0 descending within each λ2.
#[derive(Debug, Clone, PartialEq)]
pub struct Path {
    /// The points done.
    pub points: Vec<Point>,
    /// `Converged`, or the limit that ended it early.
    pub status: Status,
    /// Why it ended, in words, where the status is [`Status::ReadFailed`].
    pub cause: Option<String>,
    /// The groups of features that were in or out together.
    pub groups: Option<Groups>,
}

impl Path {
    /// The path as it ended with these points, if it did: by a limit, or by columns that could not be read, which is an error where
    /// there is no point yet.
    fn ended(points: &mut Vec<Point>, walked: Result<()>, limits: &Limits) -> Result<Option<Self>> {
        let cause = match walked {
            Ok(()) | Err(Error::Stopped) => None,
            Err(error) if error.is_of_reading() && !points.is_empty() => Some(error.to_string()),
            Err(error) => return Err(error),
        };
        let status = cause.as_ref().map(|_| Status::ReadFailed).or(limits.stop(0));
        Ok(status.map(|status| Self { points: std::mem::take(points), status, cause, groups: None }))
    }

    /// The points with each λ2 in turn.
    pub fn strands(&self) -> impl Iterator<Item = &[Point]> {
        self.points.chunk_by(|a, b| a.lambda2 == b.lambda2 && a.lambda0 > b.lambda0)
    }
}

/// The answers along a path.
///
/// ```
/// use bestset::design::Dense;
/// use bestset::path::{PathOptions, path};
/// use bestset::{Penalty, Problem};
///
/// let x = Dense::new(4, 3, vec![1.0, 2.0, 3.0, 4.0, 1.0, -1.0, 1.0, -1.0, 0.5, 0.5, -0.5, 0.0])?;
/// let problem = Problem::new(&x, vec![2.3, 3.8, 6.1, 7.9], Penalty::new(0.0, 0.0, 0.01))?;
/// let found = path(&problem, &PathOptions::default())?;
///
/// assert!(found.points[0].solution.support().is_empty());
/// assert_eq!(found.points[1].solution.support(), &[0]);
/// for point in &found.points {
///     assert!(point.solution.certificate.lower_bound <= point.solution.objective());
/// }
/// # Ok::<(), bestset::Error>(())
/// ```
pub fn path(problem: &Problem<'_>, options: &PathOptions) -> Result<Path> {
    path_observed(problem, options, &mut |_| ())
}

/// As [`path`], showing every point of the forward pass as it is made.
pub fn path_observed(
    problem: &Problem<'_>,
    options: &PathOptions,
    observer: &mut (dyn FnMut(&Point) + Send),
) -> Result<Path> {
    path_from(problem, options, Vec::new(), observer, &mut |_, _| Ok(()))
}

/// As [`path_observed`], from what an earlier run had done of each strand; `keeper` sees what a later one would need.
pub(crate) fn path_from(
    problem: &Problem<'_>,
    options: &PathOptions,
    known: Vec<State>,
    observer: &mut (dyn FnMut(&Point) + Send),
    keeper: run::Keeper<'_>,
) -> Result<Path> {
    options.validate(problem)?;
    let found = crate::control::on_threads(options.solve.threads, || match &options.groups {
        Some(groups) => grouped::path(problem, groups, options, observer),
        None => run::run(problem, options, known, observer, keeper),
    })?;
    Ok(Path { groups: options.groups.clone(), ..found })
}
