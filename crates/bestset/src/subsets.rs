//! The best subset of every size, each with its certificate and the measures that choose between sizes.

use crate::certificate::Certificate;
use crate::control::{Method, Monitor, Options, on_threads};
use crate::criteria::{Counted, Criterion, Fit};
use crate::error::{Error, Result};
use crate::groups::{Grouped, Groups, is_single, of_features, solve_groups_observed};
use crate::kept_out::Rest;
use crate::loss::Loss;
use crate::penalty::Penalty;
use crate::problem::Problem;
use crate::solution::{Coefficients, Solution, Status};
use crate::solve::{check_searchable, solve};
use crate::{enumerate, leaps, slight};
use serde::{Deserialize, Serialize};
use std::time::Instant;

/// What [`subsets`] returns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Subsets {
    /// One for each size, from 1 up.
    pub sizes: Vec<Subset>,
    /// Branch-and-bound nodes of all sizes together.
    pub nodes: usize,
    /// Wall-clock seconds.
    pub seconds: f64,
    /// λ2 of the fits.
    pub lambda2: f64,
    /// As in [`Solution`](crate::Solution::dependent).
    pub dependent: Vec<Vec<usize>>,
}

/// The best subset of at most `size` features.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Subset {
    /// The size asked for.
    pub size: usize,
    /// The fit on it.
    pub coefficients: Coefficients,
    /// Features that are not zero.
    pub chosen: usize,
    /// P without λ0, and the bound that no subset of this size beats.
    pub certificate: Certificate,
    /// `Optimal` when the gap is within the tolerances of the options.
    pub status: Status,
    /// Σ w ℓ; for the squared loss the residual sum of squares is twice this.
    pub loss: f64,
    /// How good the size is.
    pub criteria: Criteria,
}

impl Subset {
    /// Whether this is an answer for the size asked for: a limit that struck before leaves that of a smaller one, which says nothing
    /// of this size but its bound.
    pub fn is_reached(&self) -> bool {
        let ended = matches!(self.status, Status::Optimal | Status::Converged | Status::Stalled);
        ended || self.chosen == self.size
    }
}

impl Subsets {
    /// The sizes that have an answer of their own: only these may be compared.
    pub fn reached(&self) -> impl Iterator<Item = &Subset> {
        self.sizes.iter().filter(|s| s.is_reached())
    }

    /// Whether every size has one.
    pub fn is_complete(&self) -> bool {
        self.sizes.iter().all(Subset::is_reached)
    }
}

/// Measures of a fit with k features on n samples, as the [criteria](crate::criteria) count them; d = k, plus one with an intercept.
///
/// Coefficients count in full, however much λ1 and λ2 shrink them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Criteria {
    /// 1 − L/L₀, L₀ the loss without features: R² for the squared loss, the share of deviance explained for the logistic.
    pub r2: f64,
    /// 1 − (1 − R²)(n − d₀)/(n − d), d₀ = 1 with an intercept and 0 without; none when n ≤ d.
    pub adjusted_r2: Option<f64>,
    /// Mallows' RSS/σ̂² − n + 2d with σ̂² from the fit on all features; only where that fit is least squares with n > p.
    pub cp: Option<f64>,
    /// n log(RSS/n) + 2d for the squared loss, 2L + 2d for the logistic; none for losses that are no likelihood and for perfect fits.
    pub aic: Option<f64>,
    /// The same with d log n in place of 2d.
    pub bic: Option<f64>,
}

/// The best subset of at most k features for every k = 1..=most; λ0 plays no part.
///
/// Least squares with more samples than features, or a few more features, goes by leaps and bounds; without a ridge and with many more
/// features small sizes are proved by looking at all subsets. Everything else goes by [`Method::Exact`] with
/// [`Problem::with_max_size`], each size started from the one before. Limits on time and nodes are for all sizes together.
///
/// ```
/// use bestset::design::Dense;
/// use bestset::{Options, Penalty, Problem, Status, subsets};
///
/// let x = Dense::new(4, 2, vec![1.0, 2.0, 3.0, 4.0, 1.0, -1.0, 1.0, -1.0])?;
/// let problem = Problem::new(&x, vec![2.1, 3.9, 6.0, 8.1], Penalty::new(0.0, 0.0, 0.0))?;
/// let best = subsets(&problem, 2, &Options::default())?;
/// assert_eq!(best.sizes[0].coefficients.support, [0]);
/// assert_eq!(best.sizes[0].status, Status::Optimal);
/// # Ok::<(), bestset::Error>(())
/// ```
pub fn subsets(problem: &Problem<'_>, most: usize, options: &Options) -> Result<Subsets> {
    if most == 0 || most > problem.ncols() {
        return Err(Error::Size { k: most, features: problem.ncols() });
    }
    let start = Instant::now();
    let (problem, options) = unpriced(problem, options)?;
    if let Some(rest) = Rest::new(&problem)? {
        return of_rest(&problem, &rest, most, &options);
    }
    let without_bound = !problem.penalty().has_certificate(problem.ncols());
    let (sizes, nodes, dependent) = if leaps::applies(&problem, most) {
        on_threads(options.threads, || by_leaps(&problem, most, &options))?
    } else if without_bound && enumerate::applies(&problem, most) {
        on_threads(options.threads, || by_enumeration(&problem, most, &options))?
    } else {
        one_by_one(&problem, most, &options, None, solve)?
    };
    let (seconds, lambda2) = (start.elapsed().as_secs_f64(), problem.penalty().lambda2);
    Ok(Subsets { sizes, nodes, seconds, lambda2, dependent })
}

/// As [`subsets`], of the features that are not kept out (MATH 11.42); of sizes that they do not reach the answer of the largest.
fn of_rest(whole: &Problem<'_>, rest: &Rest<'_>, most: usize, options: &Options) -> Result<Subsets> {
    let problem = rest.problem(whole)?;
    let mut found = subsets(&problem, most.min(problem.ncols()), &rest.options(options))?;
    found.sizes.iter_mut().for_each(|s| s.coefficients = rest.outward(&s.coefficients));
    found.dependent.iter_mut().for_each(|list| rest.rename(list));
    let last = found.sizes.last().cloned();
    let beyond = last.iter().flat_map(|last| (problem.ncols() + 1..=most).map(|size| Subset { size, ..last.clone() }));
    found.sizes.extend(beyond);
    Ok(found)
}

/// As [`subsets`], by looking at all of them, whatever else could prove them and however many there are.
pub fn enumerated(problem: &Problem<'_>, most: usize, options: &Options) -> Result<Subsets> {
    let start = Instant::now();
    let (problem, options) = unpriced(problem, options)?;
    let (sizes, nodes, dependent) = on_threads(options.threads, || by_enumeration(&problem, most, &options))?;
    let (seconds, lambda2) = (start.elapsed().as_secs_f64(), problem.penalty().lambda2);
    Ok(Subsets { sizes, nodes, seconds, lambda2, dependent })
}

/// As [`subsets`], where features are in or out by groups: the best choice of groups of at most k features for every k = 1..=most. A
/// group counts for as many features as it has; prices of groups play no part. Where no choice has exactly k features, the answer is
/// that of the size before.
///
/// ```
/// use bestset::design::Dense;
/// use bestset::groups::Groups;
/// use bestset::{Options, Penalty, Problem, Status, subsets_of_groups};
///
/// let x = Dense::new(5, 3, vec![1.0, 2.0, 3.0, 4.0, 6.0, 1.0, -1.0, 1.0, -1.0, 0.0, 0.5, 0.5, -0.5, 0.0, 1.0])?;
/// let problem = Problem::new(&x, vec![2.1, 3.9, 6.0, 8.1, 12.2], Penalty::new(0.0, 0.0, 0.0))?;
/// let best = subsets_of_groups(&problem, &Groups::new(&[0, 1, 1]), 3, &Options::default())?;
/// assert_eq!(best.sizes[0].coefficients.support, [0]);
/// assert!(best.sizes.iter().all(|s| s.status == Status::Optimal));
/// # Ok::<(), bestset::Error>(())
/// ```
pub fn subsets_of_groups(problem: &Problem<'_>, groups: &Groups, most: usize, options: &Options) -> Result<Subsets> {
    if most == 0 || most > problem.variables() {
        return Err(Error::Size { k: most, features: problem.variables() });
    }
    let (problem, options) = unpriced(problem, options)?;
    if is_single(groups) {
        return subsets(&of_features(&Grouped { problem: &problem, groups })?, most, &options);
    }
    let (start, mut dependent) = (Instant::now(), Vec::new());
    let (sizes, nodes, _) = one_by_one(&problem, most, &options, Some(groups), |limited, options| {
        let found = solve_groups_observed(limited, groups, options, &mut ())?;
        dependent.extend(found.dependent.iter().cloned());
        Ok(found)
    })?;
    dependent.sort();
    dependent.dedup();
    let (seconds, lambda2) = (start.elapsed().as_secs_f64(), problem.penalty().lambda2);
    Ok(Subsets { sizes, nodes, seconds, lambda2, dependent })
}

/// Which numbers of features choices of groups can have, by number.
fn reachable(grouped: &Grouped<'_, '_>, most: usize) -> Vec<bool> {
    let mut is_reached = vec![false; most + 1];
    is_reached[0] = true;
    for own in (0..grouped.groups.len()).map(|g| grouped.size(g)) {
        for size in (own..=most).rev() {
            is_reached[size] |= is_reached[size - own];
        }
    }
    is_reached
}

/// The problem without λ0, and the options of a proof.
fn unpriced<'a>(problem: &Problem<'a>, options: &Options) -> Result<(Problem<'a>, Options)> {
    let penalty = Penalty { lambda0: 0.0, ..problem.penalty().clone() };
    Ok((problem.with_penalty(penalty)?, Options { method: Method::Exact, ..options.clone() }))
}

/// The subsets, the nodes they took, and the columns taken for combinations of others.
type Searched = (Vec<Subset>, usize, Vec<Vec<usize>>);

fn by_leaps(problem: &Problem<'_>, most: usize, options: &Options) -> Result<Searched> {
    Options { method: Method::Incremental, ..options.clone() }.validate(problem)?;
    let mut observer = ();
    let mut monitor = Monitor::new(options, &mut observer);
    let before = slight::leaps_before(problem, most, options, &monitor)?;
    by_leaps_after(before, problem, most, options, &mut monitor)
}

/// By leaps and bounds, all sizes to the end or, after so many nodes, those that are left by searches of their own.
fn by_leaps_after(
    before: Option<usize>,
    problem: &Problem<'_>,
    most: usize,
    options: &Options,
    monitor: &mut Monitor<'_>,
) -> Result<Searched> {
    let first = Options { max_nodes: before.or(options.max_nodes), ..options.clone() };
    let (bests, full, dependent) = leaps::sizes(problem, most, &first, monitor)?;
    let measure = Measure::new(problem, Some(full));
    let mut found = measured(&measure, bests, dependent, options)?;
    if before.is_some() {
        close(&measure, &mut found, options, monitor)?;
    }
    Ok(found)
}

/// The sizes that leaps and bounds has left open, each by a search of its own, from its answer.
fn close(measure: &Measure<'_, '_>, found: &mut Searched, options: &Options, monitor: &Monitor<'_>) -> Result<()> {
    let (sizes, nodes, _) = found;
    let (mut failed, problem) = (None, measure.problem);
    for at in 0..sizes.len() {
        let max_nodes = options.max_nodes.map(|most| most.saturating_sub(*nodes));
        let is_over = failed.is_some() || monitor.stop(0).is_some() || max_nodes == Some(0);
        if sizes[at].status != Status::NodeLimit || is_over {
            continue;
        }
        let own = &sizes[at];
        let smaller = at.checked_sub(1).map(|before| &sizes[before]);
        let start = smaller.filter(|s| s.certificate.objective < own.certificate.objective).unwrap_or(own);
        let warm_start = Some(start.coefficients.clone());
        let limited = Options { time_limit: monitor.left(), max_nodes, warm_start, ..options.clone() };
        let solution = match solve(&problem.clone().with_max_size(own.size)?, &limited) {
            Err(error) if error.is_of_reading() => {
                failed = Some(Status::ReadFailed);
                continue;
            }
            solution => solution?,
        };
        *nodes += solution.iterations;
        let is_better = solution.certificate.objective < own.certificate.objective;
        let coefficients = if is_better { solution.coefficients } else { own.coefficients.clone() };
        let objective = solution.certificate.objective.min(own.certificate.objective);
        let bound = solution.certificate.lower_bound.max(own.certificate.lower_bound);
        let certificate = Certificate::new(objective, None, bound);
        sizes[at] = measure.subset(own.size, coefficients, certificate, solution.status, options);
    }
    let open = sizes.iter_mut().filter(|s| s.status == Status::NodeLimit);
    let ended = failed.or(monitor.stop(0));
    open.for_each(|s| s.status = ended.unwrap_or(s.status));
    Ok(())
}

fn by_enumeration(problem: &Problem<'_>, most: usize, options: &Options) -> Result<Searched> {
    options.validate_ranges(problem)?;
    let mut observer = ();
    let mut monitor = Monitor::new(options, &mut observer);
    let (bests, dependent) = enumerate::sizes(problem, most, options, &mut monitor)?;
    // With more columns than samples determine, the fit on all features is perfect.
    let rank = leaps::determined(problem);
    let full = (problem.ncols() > rank).then_some(leaps::Full { loss: 0.0, rank });
    measured(&Measure::new(problem, full), bests, dependent, options)
}

fn measured(
    measure: &Measure<'_, '_>,
    bests: Vec<leaps::BestOfSize>,
    dependent: Vec<Vec<usize>>,
    options: &Options,
) -> Result<Searched> {
    let nodes = bests.iter().map(|b| b.nodes).sum();
    let subset = |(k, best): (usize, leaps::BestOfSize)| {
        let objective = measure.problem.value(&best.coefficients)?;
        let certificate = Certificate::new(objective, None, best.lower_bound);
        Ok(measure.subset(k + 1, best.coefficients, certificate, best.ended, options))
    };
    Ok((bests.into_iter().enumerate().map(subset).collect::<Result<_>>()?, nodes, dependent))
}

/// Each size by a search of its own, `of_size`; sizes that no choice of groups has are those before.
fn one_by_one(
    problem: &Problem<'_>,
    most: usize,
    options: &Options,
    groups: Option<&Groups>,
    mut of_size: impl FnMut(&Problem<'_>, &Options) -> Result<Solution>,
) -> Result<Searched> {
    // What cannot be searched is said before smaller sizes are.
    if groups.is_none() {
        let limited = problem.clone().with_max_size(most)?;
        options.validate(&limited)?;
        check_searchable(&limited)?;
    }
    let (start, mut options, mut nodes) = (Instant::now(), options.clone(), 0);
    let (time, node_limit) = (options.time_limit, options.max_nodes);
    let measure = Measure::new(problem, None);
    let mut sizes: Vec<Subset> = Vec::new();
    let is_reached = groups.map(|groups| reachable(&Grouped { problem, groups }, most));
    for size in 1..=most {
        if let (Some(last), Some(false)) = (sizes.last(), is_reached.as_ref().map(|r| r[size])) {
            sizes.push(Subset { size, ..last.clone() });
            continue;
        }
        options.time_limit = time.map(|t| t.saturating_sub(start.elapsed()));
        options.max_nodes = node_limit.map(|most| most.saturating_sub(nodes).max(1));
        let solution = match of_size(&problem.clone().with_max_size(size)?, &options) {
            Err(error) if error.is_of_reading() && !sizes.is_empty() => {
                fill(&mut sizes, most, &[], &measure, Status::ReadFailed, &options)?;
                break;
            }
            solution => solution?,
        };
        nodes += solution.iterations;
        options.warm_start = Some(solution.coefficients.clone());
        // Losses and penalties are never negative: a search that a limit ends at once has this bound at least.
        let lower_bound = solution.certificate.lower_bound.max(0.0);
        let (status, dual) = (solution.status, solution.dual);
        let Certificate { objective, relaxation, .. } = solution.certificate;
        let certificate = Certificate::new(objective, relaxation, lower_bound);
        sizes.push(measure.subset(size, solution.coefficients, certificate, status, &options));
        let out_of_nodes = status == Status::NodeLimit && node_limit.is_some_and(|most| nodes >= most);
        if out_of_nodes || matches!(status, Status::TimeLimit | Status::Interrupted | Status::ReadFailed) {
            fill(&mut sizes, most, &dual, &measure, status, &options)?;
            break;
        }
    }
    Ok((sizes, nodes, Vec::new()))
}

/// The sizes that a limit leaves unreached: the answer of the last one, and D_k of its dual point as their bounds.
fn fill(
    sizes: &mut Vec<Subset>,
    most: usize,
    dual: &[f64],
    measure: &Measure<'_, '_>,
    status: Status,
    options: &Options,
) -> Result<()> {
    let (problem, Some(last)) = (measure.problem, sizes.last()) else { return Ok(()) };
    let (first, coefficients, objective) = (last.size + 1, last.coefficients.clone(), last.certificate.objective);
    if first > most {
        return Ok(());
    }
    let tau = if dual.is_empty() { None } else { problem.correlations(dual).ok() };
    for size in first..=most {
        // Without the columns nothing is known but that P ≥ 0.
        let bound = match &tau {
            Some(tau) => problem.clone().with_max_size(size)?.dual_value(dual, &problem.features(), tau)?,
            None => 0.0,
        };
        let certificate = Certificate::new(objective, None, bound.max(0.0));
        sizes.push(measure.subset(size, coefficients.clone(), certificate, status, options));
    }
    Ok(())
}

/// Whether least squares of this shape can be searched for subsets of at most `most` features without λ2: there are more samples than
/// features, or not many more features, or few of them are asked for.
pub fn needs_no_ridge(problem: &Problem<'_>, most: usize) -> bool {
    let penalty = Penalty { lambda0: 0.0, lambda2: 0.0, ..problem.penalty().clone() };
    let applies = |plain: &Problem<'_>| match Rest::new(plain)? {
        Some(rest) => rest.problem(plain).map(|rest| leaps::applies(&rest, most.min(rest.ncols()))),
        None => Ok(leaps::applies(plain, most)),
    };
    problem.with_penalty(penalty).and_then(|plain| applies(&plain)).unwrap_or(false)
}

/// What the criteria need to know of the problem.
struct Measure<'m, 'a> {
    problem: &'m Problem<'a>,
    /// n of the criteria, and what takes weights to it.
    counted: Counted,
    /// Samples of a weight above zero: as many parameters fit them perfectly.
    rows: f64,
    /// L₀.
    null: f64,
    /// The least-squares fit on all features.
    full: Option<leaps::Full>,
}

impl<'m, 'a> Measure<'m, 'a> {
    fn new(problem: &'m Problem<'a>, full: Option<leaps::Full>) -> Self {
        let null = problem.null_objective();
        let counted = Counted::new(problem);
        let rows = problem.weights().map_or(problem.nrows(), |w| w.iter().filter(|w| **w > 0.0).count()) as f64;
        Self { problem, counted, rows, null, full }
    }

    fn subset(
        &self,
        size: usize,
        coefficients: Coefficients,
        certificate: Certificate,
        ended: Status,
        options: &Options,
    ) -> Subset {
        let loss = self.problem.loss_of(&coefficients, certificate.objective);
        let status = certificate.status(ended, options.absolute(self.problem), options.gap);
        let chosen = self.problem.size(&coefficients);
        let criteria = self.criteria(loss, chosen);
        Subset { size, coefficients, chosen, certificate, status, loss, criteria }
    }

    fn criteria(&self, loss: f64, features: usize) -> Criteria {
        let Counted { samples: n, share } = self.counted;
        let (intercept, each) = (crate::criteria::has_intercept(self.problem), crate::criteria::each(self.problem));
        let base = if intercept { 1.0 } else { 0.0 };
        let (d, deviance) = (each as f64 * (features as f64 + base), 2.0 * share * loss);
        let fit = Fit {
            deviance,
            null_deviance: 2.0 * share * self.null,
            samples: n,
            features: crate::criteria::candidates(self.problem, None),
            chosen: features,
            size: features,
            each,
            free: 0,
            intercept,
            lack: self.counted.lack(self.problem, deviance),
        };
        let value = |criterion: Criterion| fit.value(criterion, f64::NAN);
        let r2 = if self.null > 0.0 { value(Criterion::R2) } else { 0.0 };
        let adjusted_r2 = (n > d && self.null > 0.0).then(|| value(Criterion::AdjustedR2));
        // A full fit that leaves nothing, or nothing but rounding, tells no variance.
        let least = self.problem.perfect_objective();
        let full = self.full.filter(|full| full.loss > least && n > full.rank as f64 + base);
        let variance = full.map(|full| 2.0 * share * full.loss / (n - full.rank as f64 - base));
        let cp = variance.map(|variance| fit.value(Criterion::Cp, variance));
        // As many parameters as samples, none of them shrunk or bounded, fit perfectly.
        let is_saturated = self.full.is_some() && self.problem.penalty().lambda2 == 0.0 && self.rows <= d;
        let is_likelihood = match self.problem.loss() {
            Loss::Squared | Loss::Gamma => loss > least && !is_saturated,
            Loss::Logistic
            | Loss::Poisson
            | Loss::NegativeBinomial { .. }
            | Loss::Cox { .. }
            | Loss::Multinomial { .. } => true,
            Loss::SquaredHinge | Loss::Huber { .. } => false,
        };
        let (aic, bic) = match is_likelihood {
            true => (Some(value(Criterion::Aic)), Some(value(Criterion::Bic))),
            false => (None, None),
        };
        Criteria { r2, adjusted_r2, cp, aic, bic }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::common::{normal, rng};
    use crate::design::Dense;

    /// Sizes that leaps and bounds leaves open are closed by searches of their own, with a ridge and without.
    #[test]
    fn sizes_that_are_left_are_closed() {
        let mut rng = rng(8);
        let (n, p, most) = (90, 42, 9);
        let x: Vec<f64> = (0..n * p).map(|_| normal(&mut rng)).collect();
        let y: Vec<f64> =
            (0..n).map(|i| (0..10).map(|j| x[j * n + i] / (j + 2) as f64).sum::<f64>() + normal(&mut rng)).collect();
        let design = Dense::new(n, p, x).unwrap();
        for lambda2 in [0.0, 0.5] {
            let problem = Problem::new(&design, &y, Penalty::new(0.0, 0.0, lambda2)).unwrap();
            let options = Options { gap: 1e-7, ..Options::with_method(Method::Exact) };
            let mut silent = ();
            let mut run = |before| {
                by_leaps_after(before, &problem, most, &options, &mut Monitor::new(&options, &mut silent)).unwrap().0
            };
            for (own, leapt) in run(Some(50)).iter().zip(run(None)) {
                assert_eq!((own.status, leapt.status), (Status::Optimal, Status::Optimal), "{}", own.size);
                assert_eq!(own.coefficients.support, leapt.coefficients.support, "{}", own.size);
                assert!(own.certificate.lower_bound <= leapt.certificate.objective * (1.0 + 1e-12), "{}", own.size);
                assert_eq!(own.criteria.cp.is_some(), leapt.criteria.cp.is_some());
            }
        }
    }
}
