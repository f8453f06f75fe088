//! A path with groups: λ0 from the largest down, each point from the answer and the relaxation before.

use crate::control::{Limits, Monitor};
use crate::error::Result;
use crate::groups::relax::GroupRelaxation;
use crate::groups::search::{Fits, KnownFits};
use crate::groups::{Grouped, Groups, SHARES, conclude, first, largest_entry, root, validate};
use crate::path::{Path, PathOptions, Point};
use crate::problem::Problem;
use crate::solution::{Coefficients, Solution, Status};

/// The same as [`SHARES`] where every change is a fit of many steps: all that R charges anything for is many times the answer, which the point
/// before is near.
const SHARES_ON_PATH: [f64; 2] = [0.5, 0.9];

/// The path of a problem whose features come in groups.
pub(crate) fn path(
    problem: &Problem<'_>,
    groups: &Groups,
    options: &PathOptions,
    observer: &mut (dyn FnMut(&Point) + Send),
) -> Result<Path> {
    let own = [problem.penalty().lambda2];
    let ridges = if options.lambda2.is_empty() { &own[..] } else { &options.lambda2 };
    let mut silent = ();
    let monitor = Monitor::new(&options.solve, &mut silent);
    let mut points = Vec::new();
    for &lambda2 in ridges {
        let mut penalty = problem.penalty().clone();
        penalty.lambda2 = lambda2;
        let walked = strand(&problem.with_penalty(penalty)?, groups, options, &monitor, &mut points, observer);
        if let Some(ended) = Path::ended(&mut points, walked, &monitor)? {
            return Ok(ended);
        }
    }
    Ok(Path { points, status: Status::Converged, cause: None, groups: None })
}

/// The points with one λ2.
fn strand(
    base: &Problem<'_>,
    groups: &Groups,
    options: &PathOptions,
    limits: &Limits,
    points: &mut Vec<Point>,
    observer: &mut (dyn FnMut(&Point) + Send),
) -> Result<()> {
    validate(base, groups)?;
    let largest = lambda0_max(&Grouped { problem: base, groups }, options, limits)?;
    let most = options.max_size.unwrap_or(base.samples().min(base.variables()));
    let (mut last, mut next, mut same) = (f64::INFINITY, f64::INFINITY, 0);
    let mut before: Option<(GroupRelaxation, Coefficients)> = None;
    let shares = if base.loss().is_quadratic() { &SHARES[..] } else { &SHARES_ON_PATH[..] };
    // What a choice of groups fits best does not depend on their price.
    let mut known = KnownFits::default();
    for k in 0.. {
        let Some(lambda0) = options.grid.at(k, largest, last, next, same) else { break };
        let mut penalty = base.penalty().clone();
        penalty.lambda0 = lambda0;
        let problem = base.with_penalty(penalty)?;
        let grouped = Grouped { problem: &problem, groups };
        let begun = limits.seconds();
        let reached = before.as_ref().map_or(Ok(f64::NEG_INFINITY), |b| grouped.objective(&b.1))?;
        let relaxed = root(&grouped, before.as_ref().map(|b| &b.0), reached, &options.solve, limits)?;
        let starts = relaxed.starts(&grouped, shares, before.as_ref().map(|b| &b.1));
        let found = first(&grouped, &starts, &mut known, &options.solve, limits)?;
        // As on paths of features, a point cut short is left out.
        if limits.stop(0).is_some() {
            break;
        }
        let unchanged = before.as_ref().is_some_and(|b| b.1.support == found.support);
        same = if unchanged { same + 1 } else { 0 };
        (last, next) = (lambda0, entry(&grouped, &found)?);
        let group = conclude(&grouped, &relaxed, found.clone(), &options.solve, limits)?;
        let solution = Solution { seconds: limits.seconds() - begun, ..group };
        let point = Point { lambda0, lambda1: base.penalty().lambda1, lambda2: base.penalty().lambda2, solution };
        observer(&point);
        let size = problem.size(&found);
        points.push(point);
        before = Some((relaxed, found));
        if size >= most {
            break;
        }
    }
    Ok(())
}

/// max_g −Σ_{j∈g} φ_j⁰(τ_j)/f_g (MATH 9.8) at the fit of the groups that cost nothing: the least λ0 at which it is best by its own
/// dual point.
fn lambda0_max(grouped: &Grouped<'_, '_>, options: &PathOptions, limits: &Limits) -> Result<f64> {
    let (problem, groups) = (grouped.problem, grouped.groups);
    let free: Vec<usize> = (0..groups.len()).filter(|&g| grouped.factor(g) == 0.0).collect();
    let null = match free.is_empty() {
        true => {
            let intercept = problem.best_intercept(&problem.null_margins(), 0.0);
            Coefficients { intercept, ..Coefficients::default() }
        }
        false => Fits::new(grouped, &options.solve, limits).fit(&free)?.coefficients,
    };
    let tau = problem.correlations_at(&null)?;
    let worth = |g: usize| groups.members[g].iter().map(|&j| grouped.selected(j).phi(tau[j])).sum::<f64>();
    let priced = (0..groups.len()).filter(|&g| grouped.factor(g) > 0.0);
    Ok(priced.map(|g| -worth(g) / grouped.factor(g)).fold(0.0, f64::max))
}

/// Groups whose entry the model of a loss that is not quadratic is asked for: those that the bound of the curvature promises most of.
const SEARCHED: usize = 8;

/// max_g Σ_{j∈g} (|τ_j| − λ1)₊² / (2(c + 2λ2) f_g) with c ≥ ‖X_g‖²/μ (MATH 9.8): the largest λ0 at which one more group lowers P
/// for sure, the other coefficients as they are. Where the loss is not quadratic its curvature at an answer may be a small part of that bound: the
/// best groups are asked for what the model there promises (MATH 9.15), or a path would leave out sizes.
fn entry(grouped: &Grouped<'_, '_>, answer: &Coefficients) -> Result<f64> {
    let groups = grouped.groups;
    let (tau, chosen) = (grouped.problem.correlations_at(answer)?, grouped.chosen(answer));
    let (squares, typical) = (grouped.problem.squares()?, grouped.problem.typical_curvature_at(answer)?);
    // Bounds may hold it back: it is where the path goes on, not part of a proof.
    let worth = |g: usize| {
        let pull = |&j: &usize| (tau[j].abs() - grouped.selected(j).l1).max(0.0).powi(2);
        let ridge = groups.members[g].iter().map(|&j| grouped.selected(j).l2).fold(0.0, f64::max);
        let pull: f64 = groups.members[g].iter().map(pull).sum();
        0.5 * pull / (typical * grouped.square(squares, g) + 2.0 * ridge) / grouped.factor(g)
    };
    let outside = (0..groups.len()).filter(|&g| grouped.factor(g) > 0.0 && chosen.binary_search(&g).is_err());
    let mut all: Vec<(f64, usize)> = outside.map(|g| (worth(g), g)).collect();
    all.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let sure = all.first().map_or(0.0, |best| best.0);
    if grouped.problem.loss().is_quadratic() {
        return Ok(sure);
    }
    let best: Vec<usize> = all.iter().take(SEARCHED).map(|worth| worth.1).collect();
    Ok(sure.max(largest_entry(grouped, answer, &chosen, &best)?))
}
