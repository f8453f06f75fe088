//! The last digits of an answer: Newton's steps on its support, judged by what they leave of the slope.

use crate::control::Limits;
use crate::error::Result;
use crate::penalty::Coordinate;
use crate::problem::Problem;
use crate::relaxation::workspace::Workspace;
use crate::search::fit::{margin, refit};
use crate::solution::Coefficients;
use faer::MatMut;

/// Steps at the most: each squares what is left, and the last one is only looked at.
const STEPS: usize = 6;

/// The longest step, relative to the largest coefficient, after which what is left is squared: an answer that is farther from a fit than this
/// has no fit near, as with classes that are told apart perfectly.
const NEAR: f64 = 1e-2;

/// A step that is longer than this part of a coefficient, and away from zero, says that it grows on: a fit's are of 1e-8 and less, those of classes
/// that are told apart perfectly a tenth to a hundredth where rounding ends them.
const GROWING: f64 = 1e-3;

/// β_S ← β_S − A_SS⁻¹g_S with g the slope of P on the support and A its second derivative (MATH 7.12), while gᵀA⁻¹g falls; coefficients at
/// their bounds stay. P is flat at its minimum: of a coefficient it knows half its own digits, the slope all.
///
/// The answer as it was for the squared loss, whose fits are linear systems, and where a limit has struck, A is singular, a step is long, turns
/// a sign, leaves the bounds or raises P by more than rounding.
pub(crate) fn polished(problem: &Problem<'_>, found: Coefficients, limits: &Limits) -> Result<Coefficients> {
    let size = found.nonzeros();
    if problem.loss().is_quadratic() || size == 0 || limits.stop(0).is_some() {
        return Ok(found);
    }
    let mut work = Workspace::new(problem).undamped();
    work.load(&found)?;
    if !work.can_price(size) || !limits.has_time_for(work.gram_cost()) {
        return Ok(found);
    }
    let most = work.objective() + f64::EPSILON * (problem.nrows() as f64).sqrt() * work.loss().abs();
    let (mut best, mut least) = (found, f64::INFINITY);
    for number in 0..STEPS {
        let Some((d, left)) = step(&mut work).filter(|s| s.1 < least) else { break };
        if number > 0 {
            best = work.coefficients();
        }
        least = left;
        if limits.stop(0).is_some() || !take(&mut work, &d) || work.objective() > most {
            break;
        }
    }
    Ok(best)
}

/// Without the coefficients that P is lower without, the others as they are, the shortest first, and fitted again: where a loss has flat parts
/// the ridge alone brings a coefficient to zero but for its last digits, and it still pays λ0. None where there is none.
pub(crate) fn pruned(problem: &Problem<'_>, found: &Coefficients, limits: &Limits) -> Result<Option<Coefficients>> {
    if found.nonzeros() == 0 || limits.stop(0).is_some() {
        return Ok(None);
    }
    let mut work = Workspace::new(problem);
    work.load(found)?;
    let mut order: Vec<usize> = work.support().into_iter().filter(|&k| work.coordinates[k].l0 > 0.0).collect();
    order.sort_by(|&a, &b| work.beta[a].abs().total_cmp(&work.beta[b].abs()));
    let (mut now, mut is_pruned) = (work.objective(), false);
    for k in order {
        let mut margins = work.margins.clone();
        work.active.axpy(k, -work.beta[k], &mut margins);
        let paid: f64 = (0..work.beta.len()).filter(|&l| l != k).map(|l| work.coordinates[l].value(work.beta[l])).sum();
        if problem.loss_sum(&margins, work.intercept) + paid < now - margin(now) {
            work.beta[k] = 0.0;
            work.refresh();
            (now, is_pruned) = (work.objective(), true);
        }
    }
    if is_pruned {
        refit(&mut work, limits);
    }
    Ok(is_pruned.then(|| work.coefficients()))
}

/// The features of an answer along which a loss over all samples together falls for ever (MATH 15.20), or whose coefficients (7.12) would
/// move by more than [`GROWING`] of themselves: P has no minimum near, it falls as they grow. An answer of a fit moves by its last digits; of
/// e^{−cβ}, whose infimum is at infinity, every step of Newton's goes 1/c on. Where the loss has come down to zero there is no step to look at:
/// then twice the answer is no worse.
pub(crate) fn growing(problem: &Problem<'_>, found: &Coefficients) -> Result<Vec<usize>> {
    let mut work = Workspace::new(problem).undamped();
    work.load(found)?;
    if found.nonzeros() == 0 || !work.can_price(found.nonzeros()) {
        return Ok(Vec::new());
    }
    // Bounds end what grows.
    let has_no_end = |c: &Coordinate, b: f64| (if b > 0.0 { c.upper } else { -c.lower }) == f64::INFINITY;
    let is_free = work.coordinates.iter().zip(&work.beta).all(|(c, &b)| b == 0.0 || has_no_end(c, b));
    let all = || found.iter().filter(|c| c.1 != 0.0).map(|c| c.0).collect();
    let offset = problem.null_margins();
    let own: Vec<f64> = work.margins.iter().zip(&offset).map(|(u, o)| u - o).collect();
    if is_free && problem.coupled().is_some_and(|coupled| coupled.falls_along(&own)) {
        return Ok(all());
    }
    let Some((d, _)) = step(&mut work) else {
        let doubled: Vec<f64> = work.margins.iter().zip(&own).map(|(u, own)| u + own).collect();
        let is_no_worse = problem.loss_sum(&doubled, 2.0 * work.intercept) <= work.loss();
        return Ok(if is_free && is_no_worse { all() } else { Vec::new() });
    };
    let is_growing = |k: &usize| {
        let (c, b, d) = (&work.coordinates[*k], work.beta[*k], d[*k]);
        d.abs() > GROWING * b.abs() && d * b > 0.0 && has_no_end(c, b)
    };
    let mut features: Vec<usize> = (0..d.len()).filter(is_growing).map(|k| work.active.features()[k]).collect();
    features.sort_unstable();
    Ok(features)
}

/// −A_SS⁻¹g_S over the positions of the workspace, zero for those at a bound, and gᵀA⁻¹g; none where A_SS is singular.
fn step(work: &mut Workspace<'_, '_>) -> Option<(Vec<f64>, f64)> {
    let (coordinates, beta) = (work.coordinates.clone(), work.beta.clone());
    let is_free = |k: &usize| beta[*k] != 0.0 && beta[*k] > coordinates[*k].lower && beta[*k] < coordinates[*k].upper;
    let free: Vec<usize> = (0..beta.len()).filter(is_free).collect();
    let slope = |&k: &usize| {
        let (c, b) = (coordinates[k], beta[k]);
        work.active.dot(k, &work.alpha) + c.l1 * b.signum() + 2.0 * c.l2 * b
    };
    let slopes: Vec<f64> = free.iter().map(slope).collect();
    let mut d: Vec<f64> = slopes.iter().map(|g| -g).collect();
    let column = MatMut::from_column_major_slice_mut(&mut d, free.len(), 1);
    work.gram().solve(&free, |a| 2.0 * coordinates[free[a]].l2, column)?;
    let left: f64 = slopes.iter().zip(&d).map(|(g, d)| -g * d).sum();
    let mut whole = vec![0.0; beta.len()];
    free.iter().zip(&d).for_each(|(&k, d)| whole[k] = *d);
    left.is_finite().then_some((whole, left))
}

/// Moves by d, unless that is far, turns a sign or leaves the bounds; whether it moved.
fn take(work: &mut Workspace<'_, '_>, d: &[f64]) -> bool {
    let largest = |of: &[f64]| of.iter().fold(0.0f64, |most, x| most.max(x.abs()));
    let stays = |k: usize| {
        let (c, b) = (&work.coordinates[k], work.beta[k] + d[k]);
        (d[k] == 0.0) || (b * work.beta[k] > 0.0 && b >= c.lower && b <= c.upper)
    };
    let (long, size) = (largest(d), largest(&work.beta));
    if long == 0.0 || long > NEAR * size || !(0..d.len()).all(stays) {
        return false;
    }
    work.beta.iter_mut().zip(d).for_each(|(b, d)| *b += d);
    work.refresh();
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::common::{normal, rng};
    use crate::control::{Monitor, Options};
    use crate::design::Dense;
    use crate::{Loss, Penalty};

    /// A coefficient that is zero but for its last digits does not pay λ0, and those that P needs stay: P only falls.
    #[test]
    fn idle_coefficients_are_left_out() {
        let (n, p) = (40, 6);
        for seed in 0..40 {
            let mut rng = rng(7_700 + seed);
            let x: Vec<f64> = (0..n * p).map(|_| normal(&mut rng)).collect();
            let y: Vec<f64> = (0..n).map(|i| if x[i] - x[n + i] > 0.0 { 1.0 } else { -1.0 }).collect();
            let x = Dense::new(n, p, x).unwrap();
            let problem = Problem::new(&x, y, Penalty::new(0.5, 0.0, 0.1)).unwrap();
            let problem = problem.with_loss(Loss::SquaredHinge).unwrap().with_intercept(seed % 2 == 0);
            let options = Options::default();
            let found = crate::solve(&problem, &options).unwrap().coefficients;
            let mut silent = ();
            let monitor = Monitor::new(&options, &mut silent);
            assert_eq!(pruned(&problem, &found, &monitor).unwrap(), None, "seed {seed}: an answer has none");
            let idle = (0..p).find(|j| !found.support.contains(j)).unwrap();
            let pairs = found.iter().chain([(idle, 5e-8)]).collect();
            let dearer = Coefficients::from_pairs(pairs, found.intercept);
            let mended = pruned(&problem, &dearer, &monitor).unwrap().expect("it has an idle coefficient");
            assert_eq!(mended.support, found.support, "seed {seed}");
            let value = |c: &Coefficients| problem.objective(c).unwrap();
            assert!(value(&mended) < value(&dearer) - 0.49, "seed {seed}");
            assert!((value(&mended) - value(&found)).abs() <= 1e-9 * value(&found), "seed {seed}");
        }
    }
}
