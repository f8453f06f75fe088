//! Bounds of sizes without a path: R at the prices of the sizes (MATH 6.5).

use crate::control::{Monitor, Options};
use crate::error::{Error, Result};
use crate::penalty::Penalty;
use crate::problem::Problem;
use crate::relaxation::convex;
use crate::relaxation::convex::Relaxed;
use crate::relaxation::workspace::Workspace;
use crate::solution::Coefficients;
use crate::solver::incremental::{is_enough, is_hopeless};

/// Prices tried for a size: the bound is concave in the price, and flat around the best.
const PRICES: usize = 4;

/// By how many features, as shares of whole ones, R's minimiser may miss the size for its price to be the right one.
const NEAR: f64 = 0.5;

/// D_k (MATH 6.5) of each size at a dual point of R: of the price at which the answers of the sizes beside it change, then of prices at which
/// R's minimiser has nearer to k features, a coefficient before its knee counted by its share of it. `best` has P without λ0 of every size.
pub(super) fn at_prices(
    problem: &Problem<'_>,
    best: &[(f64, Coefficients)],
    sizes: &[usize],
    options: &Options,
    monitor: &mut Monitor<'_>,
) -> Result<Vec<(f64, Vec<f64>)>> {
    let (features, mut found) = (problem.features(), Vec::with_capacity(sizes.len()));
    let mut start = best[0].1.clone();
    for &k in sizes {
        let limited = problem.clone().with_max_size(k)?;
        let mut lambda0 = price(best, k);
        // Conjugates are zero at zero, and so is D.
        let mut bound = (0.0, vec![0.0; problem.nrows()]);
        for _ in 0..PRICES {
            let priced = problem.with_penalty(Penalty { lambda0, ..problem.penalty().clone() })?;
            let known = best[k].0 + lambda0 * k as f64;
            let (relaxed, minimiser, held) = match relax(&priced, &start, known, options, monitor) {
                Err(Error::Stopped) => break,
                relaxed => relaxed?,
            };
            let tau = match problem.correlations(&relaxed.dual) {
                Err(Error::Stopped) => break,
                tau => tau?,
            };
            monitor.passes += 1.0;
            let value = limited.dual_value(&relaxed.dual, &features, &tau)?;
            if value > bound.0 {
                bound = (value, relaxed.dual.clone());
            }
            start = minimiser;
            let is_near = (held - k as f64).abs() <= NEAR;
            if is_near || is_hopeless(&relaxed, known) || monitor.stop(0).is_some() {
                break;
            }
            lambda0 *= (held / k as f64).clamp(0.5, 2.0);
        }
        found.push(bound);
    }
    Ok(found)
}

/// The middle, by ratio, of the prices at which the answer of size k is that of its path: from what the last feature brought to what the next
/// one would.
pub(super) fn price(best: &[(f64, Coefficients)], k: usize) -> f64 {
    let brought = (best[k - 1].0 - best[k].0).max(0.0);
    let next = best.get(k + 1).map_or(0.0, |after| (best[k].0 - after.0).max(0.0));
    let least = 1e-6 * best[0].0.abs();
    (brought.max(least) * next.max(least)).sqrt().max(f64::MIN_POSITIVE)
}

/// R minimised as far as its bound is worth, its minimiser, and the number of features that has.
fn relax(
    problem: &Problem<'_>,
    start: &Coefficients,
    known: f64,
    options: &Options,
    monitor: &mut Monitor<'_>,
) -> Result<(Relaxed, Coefficients, f64)> {
    let mut work = Workspace::new(problem).within(options.memory());
    work.load(start)?;
    let mut relaxed = Relaxed::new(&work);
    // Where nothing keeps coefficients finite there is no bound to be had.
    let is_bounded = problem.penalty().has_certificate(problem.ncols());
    let is_done = |r: &Relaxed, _: &Workspace<'_, '_>| !is_bounded || is_enough(r, known) || is_hopeless(r, known);
    convex::refine(&mut relaxed, &mut work, options, &is_done, monitor)?;
    let minimiser = work.coefficients();
    let share = |(j, b): (usize, f64)| (b.abs() / problem.coordinate(j).knee(b > 0.0)).min(1.0);
    let held = minimiser.iter().map(share).filter(|s| s.is_finite()).sum();
    Ok((relaxed, minimiser, held))
}
