//! The spread of residuals, by which Huber's loss is made for the units of y, and criteria know what a feature gains by chance.

use super::run::Run;
use super::{Posed, Prove, Samples, Selection, Setup};
use crate::control::{Limits, Options};
use crate::criteria::{Criterion, Fit, usual_size};
use crate::error::{Error, Result};
use crate::loss::{Loss, within};
use crate::path::Search;
use crate::solution::{Coefficients, Status};

/// Median of |r| over the standard deviation of normal r, inverted: what makes of a median absolute deviation a standard deviation.
const NORMAL: f64 = 1.4826;

/// Paths at the most: each has δ of the spread that the last one left.
const PATHS: usize = 5;

/// The share of the last spread above which the next is taken for the same: δ need not be known better than that.
const NEAR: f64 = 0.8;

/// A spread below this share of the last is rounding: the features interpolate, and the last serves.
const LEAST: f64 = 1e-8;

/// Residuals with their weights, their spread, and n_w/(n_w − K).
struct Residuals {
    value: f64,
    residuals: Vec<(f64, f64)>,
    share: f64,
}

impl Residuals {
    /// (n_w/(n_w − K)) Σ w min(r², δ²)/(Σw m(δ/s)) (MATH 10.23); `None` where that is nothing.
    fn chance(&self, delta: f64) -> Option<f64> {
        let sum = |f: &dyn Fn(f64) -> f64| self.residuals.iter().map(|(r, w)| w * f(*r)).sum::<f64>();
        let cut = sum(&|r| (r * r).min(delta * delta)) / sum(&|_| 1.0);
        Some(self.share * cut / within(delta / self.value).0).filter(|chance| *chance > 0.0 && chance.is_finite())
    }
}

impl Setup {
    /// The same with δ in the units of y, where it is given in spreads of the residuals (MATH 2.17), and what chance gains (MATH 10.23).
    pub(super) fn in_units(&self, samples: &Samples<'_>, limits: &Limits) -> Result<Option<(Self, Option<f64>)>> {
        let Loss::Huber { delta } = self.loss else { return Ok(None) };
        if !self.delta_in_spreads {
            return Ok(None);
        }
        // What is wrong with δ, or with samples of other lengths or without numbers, is said where the problem is posed.
        let found = if delta > 0.0 { self.spread(samples, &Options::default(), limits)? } else { None };
        let delta = delta * found.as_ref().map_or(1.0, |found| found.value);
        Ok(Some((self.with_delta(delta), found.and_then(|found| found.chance(delta)))))
    }

    fn with_delta(&self, delta: f64) -> Self {
        Self { loss: Loss::Huber { delta }, delta_in_spreads: false, ..self.clone() }
    }

    /// s of (MATH 2.17), with δ = 1.345 s on the way whatever it is to be; `None` for samples of other lengths or without numbers.
    fn spread(&self, samples: &Samples<'_>, solve: &Options, limits: &Limits) -> Result<Option<Residuals>> {
        let Some(mut spread) = spread_of_targets(samples) else { return Ok(None) };
        for _ in 0..PATHS {
            let with_last = self.with_delta(Loss::USUAL_DELTA * spread.value);
            let own = |posed: &Posed<'_>| spread_of_residuals(posed, spread.value, solve, limits);
            // Where a limit strikes the last one serves: what is left to do ends at once.
            let Some(found) = with_last.pose_within(samples, limits, own).or_else(unless_stopped)? else { break };
            let is_near = found.value > NEAR * spread.value;
            spread = found;
            if is_near {
                break;
            }
        }
        Ok(Some(spread))
    }
}

impl Posed<'_> {
    /// Makes known to criteria what chance gains (MATH 10.23), where δ of Huber's loss was given and tells nothing of it.
    pub(super) fn know_chance(&self, solve: &Options) -> Result<()> {
        let problem = &self.problem;
        let is_wanted = problem.wants_chance() && self.cut.is_none();
        let Some(delta) = problem.loss().delta().filter(|_| is_wanted) else { return Ok(()) };
        let samples = Samples { x: self.x, y: problem.y(), weights: problem.weights(), offset: problem.offset() };
        // The limits and the cancellation of what it is for, which must have as much time left at least; the rest as ever, so that it is one
        // number for the same samples.
        let limits = Limits::begin(solve.time_limit.map(|limit| limit / 2), solve.cancel.clone());
        let solve = Options { threads: solve.threads, max_memory: solve.max_memory, ..Options::default() };
        if let Some(chance) = self.setup.spread(&samples, &solve, &limits)?.and_then(|found| found.chance(delta)) {
            problem.know_chance(chance);
        }
        Ok(())
    }
}

/// Nothing where a limit struck in a pass over X.
fn unless_stopped(error: Error) -> Result<Option<Residuals>> {
    if error == Error::Stopped { Ok(None) } else { Err(error) }
}

/// 1.4826 med|y − o − med(y − o)| (MATH 2.17); where half of the values are the same, the standard deviation of the others around them.
fn spread_of_targets(samples: &Samples<'_>) -> Option<Residuals> {
    let (y, n) = (samples.y, samples.x.nrows());
    let has_length = |v: Option<&[f64]>| v.is_none_or(|v| v.len() == n);
    if y.len() != n || !has_length(samples.weights) || !has_length(samples.offset) {
        return None;
    }
    let weight = |i: usize| samples.weights.map_or(1.0, |w| w[i]);
    let rest: Vec<(f64, f64)> = (0..n).map(|i| (y[i] - samples.offset.map_or(0.0, |o| o[i]), weight(i))).collect();
    let centre = median(rest.clone());
    let residuals: Vec<(f64, f64)> = rest.iter().map(|(y, w)| (y - centre, *w)).collect();
    let (sum, total) = residuals.iter().fold((0.0, 0.0), |(s, t), (r, w)| (s + w * r * r, t + w));
    let value = match deviation(&rest) {
        spread if spread > 0.0 => spread,
        _ if sum > 0.0 => (sum / total).sqrt(),
        // A target that does not vary has no spread: any will do.
        _ => 1.0,
    };
    Some(Residuals { value, residuals, share: 1.0 }).filter(|found| found.value.is_finite() && centre.is_finite())
}

/// The spread (MATH 2.17) of the residuals of the point that EBIC takes along a path; nothing where they are rounding, or where a limit has
/// cut the path short.
fn spread_of_residuals(posed: &Posed<'_>, last: f64, solve: &Options, limits: &Limits) -> Result<Option<Residuals>> {
    let solve = Options { time_limit: limits.left(), cancel: limits.cancel().clone(), ..solve.clone() };
    // Cheap where X takes long to read, and no proof where nobody sees it.
    let options = Selection { search: Search::Light, prove: Prove::No, solve, ..Selection::default() };
    let options = posed.selection_within(&options);
    let run = Run::new(posed, &options, &|_| ());
    let problem = &posed.problem;
    let path = run.path(&run.path_options(run.most(usual_size(problem))?, Vec::new()))?;
    if path.points.is_empty() || path.status != Status::Converged {
        return Ok(None);
    }
    let best = Criterion::Ebic { gamma: 1.0 }.best(problem, &path)?;
    let chosen = &path.points[best].solution.coefficients;
    let (fit, residuals) = (Fit::new(problem, chosen)?, residuals(posed, chosen)?);
    let share = fit.samples / (fit.samples - fit.fitted()).max(1.0);
    let value = deviation(&residuals) * share.sqrt();
    Ok(Some(Residuals { value, residuals, share }).filter(|found| found.value > LEAST * last))
}

fn residuals(posed: &Posed<'_>, coefficients: &Coefficients) -> Result<Vec<(f64, f64)>> {
    let problem = &posed.problem;
    let u = problem.margins(coefficients)?;
    let weight = |i: usize| problem.weights().map_or(1.0, |w| w[i]);
    Ok((0..u.len()).map(|i| (problem.y()[i] - u[i] - coefficients.intercept, weight(i))).collect())
}

/// 1.4826 med|r − med r| of values with weights.
fn deviation(values: &[(f64, f64)]) -> f64 {
    let centre = median(values.to_vec());
    NORMAL * median(values.iter().map(|(r, w)| ((r - centre).abs(), *w)).collect())
}

/// The middle of the values below and above which there is at most half of the weight.
fn median(mut values: Vec<(f64, f64)>) -> f64 {
    values.retain(|v| v.1 > 0.0);
    values.sort_by(|a, b| a.0.total_cmp(&b.0));
    let half = 0.5 * values.iter().map(|v| v.1).sum::<f64>();
    let mut below = 0.0;
    for (k, &(value, weight)) in values.iter().enumerate() {
        below += weight;
        if below == half {
            return 0.5 * (value + values.get(k + 1).map_or(value, |next| next.0));
        }
        if below > half {
            return value;
        }
    }
    f64::NAN
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::design::Dense;
    use crate::{Penalty, Problem, solve};
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    #[test]
    fn medians_by_hand() {
        let plain = |v: &[f64]| median(v.iter().map(|v| (*v, 1.0)).collect());
        assert_eq!((plain(&[3.0, 1.0, 2.0]), plain(&[4.0, 1.0, 3.0, 2.0])), (2.0, 2.5));
        // Weights are counts, and those of zero are none.
        assert_eq!(median(vec![(1.0, 3.0), (7.0, 1.0), (9.0, 0.0)]), 1.0);
        assert_eq!(median(vec![(1.0, 2.0), (7.0, 1.0), (9.0, 1.0)]), 4.0);
        assert!(median(Vec::new()).is_nan());
        let spread = deviation(&[(1.0, 1.0), (2.0, 1.0), (3.0, 1.0), (100.0, 1.0), (-50.0, 1.0)]);
        assert_eq!(spread, NORMAL);
    }

    /// A feature that says nothing lowers the lack of fit by one on average, as a likelihood does, whatever δ and the errors are (MATH 10.23).
    #[test]
    fn what_chance_gains_is_one_for_every_delta() {
        const DRAWS: usize = 500;
        let (n, mut rng) = (60, ChaCha8Rng::seed_from_u64(5));
        for wild in [0.0, 0.05] {
            let mut gained = [0.0; 4];
            for _ in 0..DRAWS {
                // Sums of twelve uniform numbers are normal enough.
                let mut normal = || (0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0;
                let x: Vec<f64> = (0..n).map(|_| normal()).collect();
                let mut y: Vec<f64> = (0..n).map(|_| 3.0 * normal()).collect();
                y.iter_mut().filter(|_| rng.random::<f64>() < wild).for_each(|y| *y *= 30.0);
                let x = Dense::new(n, 1, x).unwrap();
                let samples = Samples { x: &x, y: &y, weights: None, offset: None };
                let spread = spread_of_targets(&samples).unwrap();
                let plain = Problem::new(&x, &y, Penalty::new(0.0, 0.0, 1e-9)).unwrap();
                for (gained, c) in gained.iter_mut().zip([0.2, 0.7, Loss::USUAL_DELTA, 1e4]) {
                    let problem = plain.clone().with_loss(Loss::Huber { delta: 3.0 * c }).unwrap();
                    problem.know_chance(spread.chance(3.0 * c).unwrap());
                    let found = solve(&problem, &Options::default()).unwrap();
                    *gained += Fit::null(&problem, None).lack - Fit::new(&problem, &found.coefficients).unwrap().lack;
                }
            }
            // √2 is the deviation of one draw.
            for gained in gained {
                let mean = gained / DRAWS as f64;
                assert!((mean - 1.0).abs() < 4.0 * (2.0 / DRAWS as f64).sqrt(), "{wild}: {mean}");
            }
        }
    }
}
