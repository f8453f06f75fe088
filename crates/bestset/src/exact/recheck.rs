//! The certificate once more, from the design itself: nothing the search kept is used but its coefficients and dual point.

use crate::design::Column;
use crate::error::{Error, Result};
use crate::problem::Problem;
use crate::solution::Coefficients;
use crate::solver::Outcome;

/// |P claimed − P found| ≤ 16ε(n + |S|) of the sizes added, and the same of D_root (MATH 11.26, 11.27): P of the answer and D of the
/// root's dual point, each computed anew, must be what was claimed up to rounding, and the bound must not exceed P. `root` is the bound
/// before branching.
///
/// Bounds of the tree's nodes get no second look: each was computed from the columns at the node's own dual point, with room for
/// rounding; where curvature was moved it rests on a factorisation besides (see [`crate::exact::curvature`]).
pub fn recheck(problem: &Problem<'_>, outcome: &Outcome, root: f64) -> Result<()> {
    let claimed = problem.value(&outcome.coefficients)?;
    // n products and sums for each margin, and as many again for the loss.
    let grain = 16.0 * f64::EPSILON * (problem.nrows() + outcome.coefficients.nonzeros()) as f64;
    let (found, size) = objective(problem, &outcome.coefficients, grain)?;
    let slack = grain * size;
    // Where P overflows there is nothing to compare.
    let differs = |a: f64, b: f64| a.is_finite() && b.is_finite() && (a - b).abs() > slack;
    if differs(claimed, found) {
        return Err(Error::Recheck { what: "the objective", claimed, found, slack });
    }
    // At the very point: projecting it once more would move it by its rounding, which steep Ψ make into more than slack.
    let features: Vec<usize> = (0..problem.ncols()).collect();
    let mut tau = vec![0.0; features.len()];
    problem.design().correlate(&features, &outcome.dual, &mut tau)?;
    let bound = problem.dual_value(&outcome.dual, &features, &tau)?;
    // D has terms of its own, which an answer without loss or price has not.
    let own =
        outcome.dual.iter().zip(problem.y()).map(|(a, y)| a.abs() * (a.abs() + y.abs())).sum::<f64>() + bound.abs();
    // A place that adds up more roughly may do so in another order the second time.
    let rough = 16.0 * problem.design().rounding() * (outcome.coefficients.nonzeros() + 1) as f64;
    let room = slack + (16.0 * f64::EPSILON * (problem.nrows() + problem.ncols()) as f64 + rough) * own;
    if root.is_finite() && bound < root - room {
        return Err(Error::Recheck { what: "the bound before branching", claimed: root, found: bound, slack: room });
    }
    if outcome.lower_bound > found + slack {
        return Err(Error::Recheck { what: "the lower bound", claimed: outcome.lower_bound, found, slack });
    }
    Ok(())
}

/// P by rows of the selected columns, read from the design one by one, and the size of what was added up, of which P may be off by
/// the share `grain`.
fn objective(problem: &Problem<'_>, coefficients: &Coefficients, grain: f64) -> Result<(f64, f64)> {
    let (mut margins, mut column) = (problem.null_margins(), Column::default());
    let mut sizes: Vec<f64> = margins.iter().map(|u| u.abs() + coefficients.intercept.abs()).collect();
    for (j, b) in coefficients.iter() {
        problem.design().column(j, &mut column)?;
        let shift = b * column.shift;
        margins.iter_mut().for_each(|u| *u += shift);
        // What a view takes away again has been rounded as well.
        let offset = problem.design().offset(j);
        sizes.iter_mut().for_each(|s| *s += shift.abs() + (b * offset).abs());
        for (place, x) in column.values.iter().enumerate() {
            let i = if column.sparse { column.rows[place] as usize } else { place };
            margins[i] += b * x;
            sizes[i] += (b * x).abs();
        }
    }
    let penalty = problem.penalty_sum(coefficients);
    if let Some(coupled) = problem.coupled() {
        return Ok((coupled.value(&margins) + penalty, coupled.size(&margins, &sizes) + penalty.abs()));
    }
    let (loss, y) = (problem.loss(), problem.y());
    let weight = |i: usize| problem.weights().map_or(1.0, |w| w[i]);
    let (mut value, mut size) = (0.0, 0.0);
    for i in (0..margins.len()).filter(|&i| weight(i) > 0.0) {
        let u = margins[i] + coefficients.intercept;
        let term = weight(i) * loss.value(u, y[i]);
        value += term;
        // A margin wrong by ε moves its loss by up to |ℓ′| ε + ½ℓ″ε² with the largest ℓ″ on the way, which counts where the loss is nearly nothing.
        let own = sizes[i] + y[i].abs();
        let bend = 0.5 * grain * own * loss.steepest(u, y[i], grain * own);
        size += term.abs() + weight(i) * (loss.derivative(u, y[i]).abs() + bend) * own;
    }
    Ok((value + penalty, size + penalty.abs()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::common::{normal, power, rng};
    use crate::control::Monitor;
    use crate::design::{Dense, Standardized};
    use crate::{Method, Options, Penalty, solve};

    #[test]
    fn a_false_certificate_is_an_error() {
        let x = Dense::new(3, 2, vec![1.0, 2.0, 2.0, 0.5, -1.0, 0.3]).unwrap();
        let problem = Problem::new(&x, vec![1.0, 2.0, 2.5], Penalty::new(0.1, 0.0, 0.1)).unwrap();
        let options = Options::with_method(Method::Exact);
        let mut observer = ();
        let mut monitor = Monitor::new(&options, &mut observer);
        let outcome = crate::exact::solve(&problem, &options, &mut monitor, None, None).unwrap();
        let root = problem.lower_bound(&outcome.dual).unwrap();
        assert!(recheck(&problem, &outcome, root).is_ok());
        assert!(matches!(recheck(&problem, &outcome, root + 1e-6), Err(Error::Recheck { .. })));
        let proud = Outcome { lower_bound: problem.value(&outcome.coefficients).unwrap() + 1e-9, ..outcome };
        assert!(matches!(recheck(&problem, &proud, root), Err(Error::Recheck { what: "the lower bound", .. })));
        assert_eq!(solve(&problem, &options).unwrap().status, crate::Status::Optimal);
    }
    /// A view takes its centres away again: the rounding of that is no difference between two ways to compute P.
    #[test]
    fn large_centres_are_no_false_certificate() {
        for trial in 0..200u64 {
            let mut rng = rng(trial);
            let (n, p, centre) = (6, 3, power(&mut rng, 2.0, 8.0));
            let x: Vec<f64> = (0..n * p).map(|_| centre + normal(&mut rng)).collect();
            let y: Vec<f64> = (0..n).map(|i| x[i] - centre + 0.1 * normal(&mut rng)).collect();
            let dense = Dense::new(n, p, x).unwrap();
            let design = Standardized::fit(&dense, None, true, 1.0).unwrap();
            let problem = Problem::new(&design, y, Penalty::new(0.01, 0.0, 0.01)).unwrap();
            let solution = solve(&problem, &Options::with_method(Method::Exact));
            assert!(solution.is_ok(), "{trial}: centre {centre}: {}", solution.unwrap_err());
        }
    }
}
