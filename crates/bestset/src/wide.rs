//! Least squares without a ridge and with many features: an answer by moves of one feature, and what coherence proves of it (MATH 13.3,
//! 13.4). No relaxation says anything there, and subsets may be too many to look at.

use crate::certificate::Certificate;
use crate::coherence;
use crate::control::{Monitor, Options};
use crate::error::Result;
use crate::exact::improve_within_size;
use crate::leaps;
use crate::problem::Problem;
use crate::relaxation::workspace::Workspace;
use crate::solution::{Coefficients, Status};
use crate::solver::{Outcome, incremental};

/// Features that come into view after a look at all of X: those that pull most. Not tuned.
const PULLED: usize = 64;

/// Looks at all of X at the most; each but the last lowers P.
const ROUNDS: usize = 50;

/// Features up to which leaps and bounds or a look at all subsets take no longer. Not tuned.
const FEW: usize = 60;

/// Multiplications that a look which may prove nothing is worth where there is another way: seconds.
const WORTH: f64 = 5e9;

/// Whether this is least squares without a ridge that coherence may bound, for the best subset alone.
pub fn applies(problem: &Problem<'_>, options: &Options) -> bool {
    let is_without_ridge = leaps::is_plain(problem) && !problem.penalty().has_certificate(problem.ncols());
    is_without_ridge && options.top == 1 && coherence::applies(problem, &options.memory())
}

/// Whether a look is soon made, where other searches may take long.
pub fn is_quick(problem: &Problem<'_>) -> bool {
    problem.ncols() > FEW && coherence::cost(problem) <= WORTH
}

/// The answer with the bound of coherence; `None` where nothing is proved.
pub fn look(problem: &Problem<'_>, options: &Options, monitor: &mut Monitor<'_>) -> Result<Option<Outcome>> {
    let unlimited = problem.without_max_size();
    let coefficients = match problem.max_size() {
        None => incremental::solve(&unlimited, options, monitor)?.coefficients,
        Some(k) => of_size(&unlimited, k, options, monitor)?,
    };
    let objective = problem.value(&coefficients)?;
    // Half of the tolerance is left for the rounding of the final evaluation.
    let target = objective - 0.5 * options.absolute(problem).max(options.gap * objective.abs());
    let found = match monitor.has_time_for(coherence::cost(problem)) {
        true => coherence::bounds(problem, &coefficients, (objective, target), monitor.limits())?,
        false => None,
    };
    let ended = monitor.stop(0);
    let bound = found.map_or(0.0, |f| f.bound().min(objective).max(0.0));
    if bound == 0.0 && ended.is_none() {
        return Ok(None);
    }
    let mut dual = vec![0.0; problem.nrows()];
    let (u, b) = problem.predictor(&coefficients)?;
    problem.dual_point(&u, b, &mut dual);
    Ok(Some(Outcome::new(coefficients, bound, dual, ended.unwrap_or(Status::Converged))))
}

/// Whether the outcome is proved within the tolerances.
pub fn is_proved(problem: &Problem<'_>, options: &Options, outcome: &Outcome) -> Result<bool> {
    let certificate = Certificate::new(problem.value(&outcome.coefficients)?, None, outcome.lower_bound);
    Ok(certificate.status(outcome.ended, options.absolute(problem), options.gap) == Status::Optimal)
}

/// The better answer and the better bound of a search and a look.
pub fn better_of(problem: &Problem<'_>, mut searched: Outcome, seen: Option<Outcome>) -> Result<Outcome> {
    let Some(seen) = seen else { return Ok(searched) };
    if problem.value(&seen.coefficients)? < problem.value(&searched.coefficients)? {
        (searched.coefficients, searched.local, searched.ranked) = (seen.coefficients, seen.local, seen.ranked);
    }
    searched.lower_bound = searched.lower_bound.max(seen.lower_bound);
    Ok(searched)
}

/// At most k features, from the caller's start or from none: those that pull most come into view, moves of one feature among all in view
/// lower P, until neither helps.
fn of_size(problem: &Problem<'_>, k: usize, options: &Options, monitor: &mut Monitor<'_>) -> Result<Coefficients> {
    let mut work = Workspace::new(problem).within(options.memory());
    if let Some(start) = options.warm_start.as_ref().filter(|s| s.nonzeros() <= k) {
        work.load(start)?;
    }
    let mut best = (problem.value(&work.coefficients())?, work.coefficients());
    let lengths = problem.lengths()?;
    for _ in 0..ROUNDS {
        let tau = problem.correlations(&work.alpha)?;
        monitor.passes += 1.0;
        let pull = |j: usize| tau[j].abs() / lengths.of(j).max(f64::MIN_POSITIVE);
        let mut outside: Vec<usize> = (0..tau.len()).filter(|&j| work.position(j).is_none()).collect();
        outside.sort_unstable_by(|&a, &b| pull(b).total_cmp(&pull(a)).then(a.cmp(&b)));
        outside.truncate(PULLED.min(work.room()));
        work.include_all(&outside)?;
        improve_within_size(&mut work, k, monitor)?;
        let value = problem.value(&work.coefficients())?;
        if value >= best.0 * (1.0 - 1e-10) || monitor.stop(0).is_some() {
            break;
        }
        best = (value, work.coefficients());
        monitor.offer(best.0, || best.1.clone());
    }
    Ok(best.1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::common::{Case, Convex, RngExt, normal, power, rng};
    use crate::design::Dense;
    use crate::penalty::Penalty;

    /// P of the best fit of at most k features, by looking at all.
    fn least(case: &Case, k: usize) -> f64 {
        let model = case.model();
        let fit = |mask: usize| {
            let subset: Vec<usize> = (0..case.p).filter(|j| mask >> j & 1 == 1).collect();
            let penalties: Vec<Convex> = subset.iter().map(|&j| Convex::selected(&case.penalty, j)).collect();
            model.minimise(&subset, &penalties).value + case.penalty.lambda0 * subset.len() as f64
        };
        let small = (0..1usize << case.p).filter(|m| m.count_ones() as usize <= k);
        small.map(fit).fold(f64::INFINITY, f64::min)
    }

    /// Fewer samples than features half of the time, columns of any scale, a price or a size, copies of columns.
    #[test]
    fn no_bound_is_above_the_optimum_and_what_is_proved_is_it() {
        let (mut looked, mut proved) = (0, 0);
        for seed in 0..400 {
            let mut rng = rng(52_000 + seed);
            let p = rng.random_range(4..=10);
            let n = if rng.random_bool(0.5) { rng.random_range(4..=p) } else { rng.random_range(p..=30 * p) };
            let scale: Vec<f64> = (0..p).map(|_| power(&mut rng, -6.0, 6.0)).collect();
            let mut x: Vec<f64> = (0..n * p).map(|i| normal(&mut rng) * scale[i / n]).collect();
            if rng.random_bool(0.2) {
                (0..n).for_each(|i| x[n + i] = x[i] + 0.1 * scale[0] * normal(&mut rng));
            }
            let y: Vec<f64> =
                (0..n).map(|i| x[i] / scale[0] - x[2 * n + i] / scale[2] + 0.3 * normal(&mut rng)).collect();
            let is_priced = rng.random_bool(0.4);
            let lambda0 = if is_priced { n as f64 * power(&mut rng, -3.0, -0.5) } else { 0.0 };
            let case = Case::dense(n, p, x, y, Penalty::new(lambda0, 0.0, 0.0));
            let k = if is_priced { p } else { rng.random_range(1..=3) };
            let design = Dense::new(case.n, case.p, case.x.clone()).unwrap();
            let problem = case.problem(&design);
            let problem = if is_priced { problem } else { problem.with_max_size(k).unwrap() };
            let (options, mut silent) = (Options::with_method(crate::Method::Exact), ());
            let Some(found) = look(&problem, &options, &mut Monitor::new(&options, &mut silent)).unwrap() else {
                continue;
            };
            // So many features as samples fit perfectly.
            let perfect = if k >= n { lambda0 * n as f64 } else { f64::INFINITY };
            let optimum = least(&case, k.min(n - 1)).min(perfect);
            looked += 1;
            assert!(found.lower_bound <= optimum * (1.0 + 1e-9), "{seed}: {} above {optimum}", found.lower_bound);
            if is_proved(&problem, &options, &found).unwrap() {
                proved += 1;
                assert!(problem.value(&found.coefficients).unwrap() <= optimum * (1.0 + 2e-6), "{seed}");
            }
        }
        assert!(looked > 100 && proved > 50, "{looked} looked at, {proved} proved");
    }
}
