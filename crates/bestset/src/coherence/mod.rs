//! Coherence: a bound at a sparse point, with curvature that only a few added features can see (MATH 13.1–13.4). It needs no ridge.
//!
//! For the squared loss, f(β) = ½‖ŷ − X̂β‖², columns of length one. Around a point β̂ with support Â, for every β with m features J
//! outside Â (MATH 13.3):
//!
//!   P(β) ≥ P(β̂) + Σ_{j ∈ Â, kept} ς_j + Σ_{j ∈ Â, dropped} ϰ_j + Σ_{j ∈ J} φ_j^m.
//!
//! | file | what |
//! |---|---|
//! | `apart` | features that no better subset has together (13.10) |
//! | `rows` | the features outside Â, here or where X is, and rows of Q̃ (13.1) |
//! | `curvatures` | d_j^m: the curvature that is left to a feature beside any m − 1 others (13.1) |
//! | `pairs` | the look at all pairs of features that this takes |
//! | `discs` | the same with weights (13.8) |
//! | `clusters` | the same where a few features correlate much (13.6) |
//! | `terms` | φ_j^m, ϰ_j, ς_j, and their least sums for every m (13.3), (13.4) |

mod apart;
mod clusters;
mod curvatures;
mod discs;
mod pairs;
mod rows;
mod terms;
#[cfg(test)]
mod tests;

use crate::control::{Limits, Memory};
use crate::error::Result;
use crate::kernel;
use crate::problem::Problem;
use crate::problem::whitened::{Frame, Unit};
use crate::solution::Coefficients;
pub(crate) use apart::Apart;
use clusters::Clusters;
use curvatures::Curvatures;
use faer::{Mat, Side};
use rows::{Left, Outside};
use terms::Terms;

/// Columns that are the difference of numbers this many times as large have too few digits left.
const REACH: f64 = 1e5;

/// Shares of the least curvature on Â that are left to Â; the rest stands against the correlations of Â with the others. Tried in
/// turn until one proves the answer, or until all of Â is worth keeping and a better subset must add more features than there is
/// curvature for: what is left to Â hardly changes that.
const SHARES: [f64; 3] = [0.5, 0.75, 0.25];

/// Added features up to which all is closed where no other share is tried. Not tuned.
const ENOUGH: usize = 4;

/// Features whose terms a forecast is made of: more than a subset can add. Not tuned.
const FORECAST: usize = 64;

/// What is proved of the subsets that add m features to those of a point, for m = 0, 1, …
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Coherent {
    /// Entry m: no P of such a subset is lower.
    pub by_added: Vec<f64>,
    /// Entry m: what m features cost at least.
    pub costs: Vec<f64>,
    /// Whether no subset that could be better adds more features than the entries say.
    pub is_complete: bool,
}

impl Coherent {
    /// What no P is below, of subsets better than the best known: for some m, the bounds of those that add fewer features, and what
    /// the others cost (MATH 13.4).
    pub fn bound(&self) -> f64 {
        let (mut inside, mut bound) = (f64::INFINITY, f64::NEG_INFINITY);
        for (by_added, cost) in self.by_added.iter().zip(&self.costs) {
            bound = inside.min(*cost).max(bound);
            inside = inside.min(*by_added);
        }
        let beyond = if self.is_complete { f64::INFINITY } else { self.costs[self.by_added.len()] };
        inside.min(beyond).max(bound)
    }

    /// m₀: subsets that add fewer features are not below the target.
    pub fn closes(&self, target: f64) -> usize {
        self.by_added.iter().take_while(|b| **b > target).count()
    }

    /// Bounds by either: both are valid for every number of features.
    fn better_of(self, other: Self) -> Self {
        let by_added = self.by_added.iter().zip(&other.by_added).map(|(a, b)| a.max(*b)).collect();
        Self { by_added, ..self }
    }
}

/// A look with one curvature on Â.
pub(crate) struct PlainLook {
    /// ϱ of each feature of Â, in units of the problem.
    pub curvature: Vec<f64>,
    /// The features outside Â that vary.
    pub outside: Vec<usize>,
    pub bounds: Coherent,
}

/// K and m of [`Look::reach`].
pub(crate) type Reach = (Option<usize>, Option<usize>);

/// Whether the loss has the same curvature everywhere, and columns fit into memory.
pub(crate) fn applies(problem: &Problem<'_>, memory: &Memory) -> bool {
    applies_among(problem, problem.ncols(), memory)
}

/// As [`applies`], of so many features.
pub(crate) fn applies_among(problem: &Problem<'_>, features: usize, memory: &Memory) -> bool {
    let bytes = rows::BYTES * problem.nrows() as f64 + rows::BYTES_OF_ROW;
    problem.loss().is_quadratic() && memory.allows(bytes * features as f64, 2)
}

/// As [`applies_among`], with columns that stay where X is.
pub(crate) fn applies_elsewhere(problem: &Problem<'_>, features: usize, memory: &Memory) -> bool {
    problem.loss().is_quadratic() && memory.allows(rows::BYTES_OF_ROW * features as f64, 2)
}

/// Multiplications of double precision that take as long as [`bounds`] may.
pub(crate) fn cost(problem: &Problem<'_>) -> f64 {
    cost_of(problem, (problem.ncols() as f64).powi(2))
}

/// As [`cost`], of so many pairs, counted from both sides.
pub(crate) fn cost_of(problem: &Problem<'_>, pairs: f64) -> f64 {
    let is_elsewhere = problem.design().lists_pairs() || problem.design().multiplies_pairs();
    let rate = pairs::rate(problem.nrows(), if is_elsewhere { 0.0 } else { pairs.sqrt() });
    // The processor multiplies each pair once.
    SHARES.len() as f64 * 0.5 * work_of(problem, pairs) / rate
}

/// The multiplications of one look at so many pairs of features, counted from both sides, or as many as take the processor as long where the place of X does them.
pub(crate) fn work_of(problem: &Problem<'_>, pairs: f64) -> f64 {
    let pairs = problem.nrows() as f64 * pairs;
    match (problem.design().lists_pairs(), problem.design().multiplies_pairs()) {
        (true, _) => pairs / rows::LISTING_RATE,
        (false, true) => pairs / rows::DEVICE_RATE,
        (false, false) => pairs,
    }
}

/// Bounds around the point; `target` is the P that is to be reached, and `best` the best P known, from which it follows how many
/// features a better subset can have. Nothing where columns are constant in Â, dependent, or have too few digits.
pub(crate) fn bounds(
    problem: &Problem<'_>,
    point: &Coefficients,
    aim: (f64, f64),
    limits: &Limits,
) -> Result<Option<Coherent>> {
    Look::new(problem, point)?.map_or(Ok(None), |look| look.bounds(aim, limits))
}

/// A look at the subsets around a point, before any two features are compared.
pub(crate) struct Look<'l, 'a> {
    problem: &'l Problem<'a>,
    frame: Frame<'l>,
    around: Around,
    /// The columns for the first of the shares.
    first: Option<Outside>,
    /// Whether columns stay where X is.
    is_elsewhere: bool,
    /// Features that no better subset has together, where that is known.
    apart: Option<Apart>,
}

impl<'l, 'a> Look<'l, 'a> {
    /// Nothing where columns of Â are constant, dependent, or have too few digits.
    pub fn new(problem: &'l Problem<'a>, point: &Coefficients) -> Result<Option<Self>> {
        let frame = Frame::new(problem);
        let Some(around) = Around::new(problem, &frame, point)? else { return Ok(None) };
        let first = Outside::new(problem, &frame, &around, SHARES[0] * around.least)?;
        Ok(Some(Self { problem, frame, around, first, is_elsewhere: false, apart: None }))
    }

    /// The same with columns that stay where X is, for [`Look::bounds`] alone: there is no forecast without copies, nor what a proof file says. Also
    /// nothing where the place of X cannot list pairs. With `apart` it is about subsets that are better than the P which that was made with.
    pub fn elsewhere(problem: &'l Problem<'a>, point: &Coefficients, apart: Option<Apart>) -> Result<Option<Self>> {
        let frame = Frame::new(problem);
        if !problem.design().lists_pairs() {
            return Ok(None);
        }
        let Some(around) = Around::new(problem, &frame, point)? else { return Ok(None) };
        let first = Outside::elsewhere(problem, &around, SHARES[0] * around.least, apart.as_ref())?;
        Ok(first.map(|first| Self { problem, frame, around, first: Some(first), is_elsewhere: true, apart }))
    }

    /// The features outside Â, with this curvature left to Â.
    fn outside(&self, delta: f64) -> Result<Option<Outside>> {
        match self.is_elsewhere {
            true => Outside::elsewhere(self.problem, &self.around, delta, self.apart.as_ref()),
            false => Outside::new(self.problem, &self.frame, &self.around, delta),
        }
    }

    /// What [`Look::bounds`] may be expected to find, from the features that pull most alone: their terms are the least. No proof
    /// rests on it.
    pub fn forecast(&self, best: f64) -> Option<Coherent> {
        let outside = self.first.as_ref()?;
        let (pulled, left) = outside.some(&outside.strongest(FORECAST));
        let terms = Terms::new(self.problem, &self.around, &pulled, SHARES[0] * self.around.least)?;
        Some(terms.bounds(self.problem, best, &left))
    }

    /// As [`Look::forecast`], with weights.
    pub fn forecast_by_weights(&self, (best, target): (f64, f64)) -> Option<Coherent> {
        let outside = self.first.as_ref()?;
        let rows = outside.strongest(FORECAST);
        let (pulled, left) = outside.some(&rows);
        let terms = |pulled| Terms::new(self.problem, &self.around, pulled, SHARES[0] * self.around.least);
        let plain = terms(&pulled)?.bounds(self.problem, best, &left);
        let most = terms::most_features(self.problem, best);
        Some(terms(&outside.pulled)?.sharpened(most, target, (&outside.own, &rows), plain))
    }

    /// The largest size K and the most added features m for which no subset of at most K features, and none that adds at most m, is
    /// below the target (MATH 13.7); nothing where the limits end the look.
    pub fn reach(mut self, (best, target): (f64, f64), limits: &Limits) -> Result<Option<Reach>> {
        let Some(outside) = self.first.take() else { return Ok(None) };
        let Self { problem, around, .. } = &self;
        let Some(rows) = Curvatures::new(problem, outside, limits)? else { return Ok(None) };
        let Some(terms) = Terms::new(problem, around, &rows.outside, SHARES[0] * around.least) else {
            return Ok(None);
        };
        let most = terms::most_features(problem, best);
        let of_size = |k: usize| terms.sharpened(k, target, rows.all(), terms.bounds_within(problem, k, &rows.plain));
        let is_closed = |k: &usize| limits.stop(0).is_none() && of_size(*k).bound() >= target;
        let closed = (0..=most).take_while(is_closed).count();
        let added = of_size(most).closes(target);
        Ok(Some((closed.checked_sub(1), added.checked_sub(1))))
    }

    /// As [`Look::bounds`] by single entries alone (MATH 13.1), with the one share of curvature that closes most, as the checker of a proof
    /// finds them.
    pub fn plain(mut self, (best, target): (f64, f64), limits: &Limits) -> Result<Option<PlainLook>> {
        let (mut found, mut first): (Option<PlainLook>, _) = (None, self.first.take());
        let Self { problem, frame, around, .. } = &self;
        for share in SHARES {
            let is_enough = |f: &PlainLook| f.bounds.is_complete && f.bounds.closes(target) == f.bounds.by_added.len();
            if found.as_ref().is_some_and(is_enough) || limits.stop(0).is_some() {
                break;
            }
            let delta = share * around.least;
            let outside = match first.take() {
                Some(first) => Some(first),
                None => Outside::new(problem, frame, around, delta)?,
            };
            let Some(outside) = outside else { continue };
            let Some(rows) = Curvatures::new(problem, outside.for_proof(), limits)? else { continue };
            let Some(terms) = Terms::new(problem, around, &rows.outside, delta) else { return Ok(None) };
            let bounds = terms.bounds(problem, best, &rows.plain);
            let curvature = around.columns.iter().map(|u| (delta - around.rounding) / (u.scale * u.scale)).collect();
            if found.as_ref().is_none_or(|f| f.bounds.closes(target) < bounds.closes(target)) {
                found = Some(PlainLook { curvature, outside: rows.outside.features.clone(), bounds });
            }
        }
        Ok(found)
    }

    /// As [`bounds`].
    pub fn bounds(mut self, (best, target): (f64, f64), limits: &Limits) -> Result<Option<Coherent>> {
        let (mut found, mut first): (Option<Coherent>, _) = (None, self.first.take());
        let Self { problem, around, .. } = &self;
        let most = terms::most_features(problem, best);
        for share in SHARES {
            let is_enough =
                |f: &Coherent| f.bound() >= target || (problem.max_size().is_none() && f.closes(target) > ENOUGH);
            if found.as_ref().is_some_and(is_enough) || limits.stop(0).is_some() {
                break;
            }
            let delta = share * around.least;
            let outside = match first.take() {
                Some(first) => Some(first),
                None => self.outside(delta)?,
            };
            // Another share may leave less to rounding.
            let Some(outside) = outside else { continue };
            let Some(rows) = Curvatures::new(problem, outside, limits)? else { continue };
            let Some(terms) = Terms::new(problem, around, &rows.outside, delta) else { return Ok(None) };
            let now = terms.sharpened(most, target, rows.all(), terms.bounds_within(problem, most, &rows.plain));
            let now = match found {
                Some(before) => before.better_of(now),
                None => now,
            };
            let clustered = if is_enough(&now) {
                None
            } else {
                by_clusters(&now, &rows, target, limits, |left| terms.bounds(problem, best, left))
            };
            found = Some(match clustered {
                Some(clustered) => now.better_of(clustered),
                None => now,
            });
        }
        Ok(found)
    }
}

/// The bounds with the curvature that clusters leave (MATH 13.6), as long as larger clusters leave the hope to close one more added
/// feature than `known` does.
fn by_clusters(
    known: &Coherent,
    rows: &Curvatures,
    target: f64,
    limits: &Limits,
    bounds: impl Fn(&Left) -> Coherent,
) -> Option<Coherent> {
    let closed = known.closes(target);
    let mut clusters = Clusters::new(rows)?;
    while bounds(&clusters.left(true)).by_added.get(closed).is_some_and(|b| *b > target) && clusters.grow(limits) {}
    let found = bounds(&clusters.left(false));
    (found.closes(target) > closed).then_some(found)
}

/// A sparse point, in units in which columns have length one.
struct Around {
    /// Â.
    support: Vec<usize>,
    columns: Vec<Unit>,
    /// β̂ in these units.
    beta: Vec<f64>,
    /// ŷ − X̂β̂.
    residual: Vec<f64>,
    /// What rounding may have done to ½‖ŷ − X̂β̂‖².
    slack: f64,
    /// Not more than the least eigenvalue of Q_ÂÂ.
    least: f64,
    /// What rounding may have done to the eigenvalues of Q_ÂÂ.
    rounding: f64,
    /// Q_ÂÂ.
    gram: Mat<f64>,
}

impl Around {
    fn new(problem: &Problem<'_>, frame: &Frame<'_>, point: &Coefficients) -> Result<Option<Self>> {
        let columns = point.support.iter().map(|&j| frame.unit(problem, j)).collect::<Result<Option<Vec<Unit>>>>()?;
        let Some(columns) = columns.filter(|c| c.iter().all(|u| u.reach < REACH)) else { return Ok(None) };
        let (mut residual, offset) = (frame.whiten(problem.y().to_vec()), frame.whiten(problem.null_margins()));
        residual.iter_mut().zip(&offset).for_each(|(y, o)| *y -= o);
        let beta: Vec<f64> = point.values.iter().zip(&columns).map(|(b, u)| b / u.scale).collect();
        let size = kernel::squares(&residual).sqrt() + beta.iter().map(|b| b.abs()).sum::<f64>();
        for (b, unit) in beta.iter().zip(&columns) {
            kernel::axpy(-b, &unit.values, &mut residual);
        }
        let (n, count) = (problem.nrows() as f64, columns.len());
        let reach = columns.iter().map(|u| u.reach).fold(1.0, f64::max);
        // Each entry is a sum of |Â| + 1 products, each column rounded as what it is the difference of; squared, and summed in
        // sixteen lanes.
        let slack = f64::EPSILON * (n / 8.0 + 8.0 * (count + 8) as f64) * reach * size * size;
        let gram = Mat::from_fn(count, count, |a, b| kernel::dot(&columns[a].values, &columns[b].values));
        let rounding = f64::EPSILON * count as f64 * (n + 64.0 * reach + 64.0 * count as f64);
        let least = match count {
            0 => 1.0,
            _ => match gram.self_adjoint_eigenvalues(Side::Lower) {
                Ok(values) => values.into_iter().fold(f64::INFINITY, f64::min) - rounding,
                Err(_) => return Ok(None),
            },
        };
        let support = point.support.clone();
        Ok((least > 1e-3 && slack.is_finite()).then_some(Self {
            support,
            columns,
            beta,
            residual,
            slack,
            least,
            rounding,
            gram,
        }))
    }
}
