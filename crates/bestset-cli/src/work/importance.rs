//! How much each selected feature matters.

use super::{Answer, Posed};
use crate::exit::Failure;
use bestset::design::ColumnSubset;
use bestset::{Bounds, Coefficients, Options, Penalty, Problem, solve};

/// Most features that are dropped one by one.
const MOST_DROPPED: usize = 100;

/// Standard deviation of feature j in the file.
pub fn deviation(posed: &Posed<'_>, j: usize) -> f64 {
    posed.data.set.matrix.deviation(j)
}

/// How much P rises when each selected feature is dropped and the others are refitted; `None` for too many of them.
pub fn rises(posed: &Posed<'_>, answer: &Answer, options: &Options) -> Result<Option<Vec<f64>>, Failure> {
    let Coefficients { support, .. } = &answer.solution.coefficients;
    if support.len() > MOST_DROPPED || posed.data.groups().is_some() {
        return Ok(None);
    }
    let objective = answer.solution.objective();
    let rise = |k: usize| -> Result<f64, Failure> {
        let others: Vec<usize> = support.iter().copied().filter(|j| *j != support[k]).collect();
        let price = answer.terms.lambda0 * others.len() as f64;
        Ok(price + refitted(posed, &others, options)? - objective)
    };
    Ok(Some((0..support.len()).map(rise).collect::<Result<_, _>>()?))
}

/// P without λ0 of the best fit on these features.
fn refitted(posed: &Posed<'_>, features: &[usize], options: &Options) -> Result<f64, Failure> {
    let whole = &posed.problem;
    if features.is_empty() {
        let u = whole.null_margins();
        return Ok(whole.loss_sum(&u, whole.best_intercept(&u, 0.0)));
    }
    let design = ColumnSubset::new(whole.design(), features.to_vec())?;
    let Penalty { lambda1, lambda2, bounds, .. } = whole.penalty();
    let mut penalty = Penalty::new(0.0, *lambda1, *lambda2);
    if let Bounds::All(low, high) = bounds {
        penalty = penalty.with_bounds(Bounds::All(*low, *high));
    }
    let mut problem = Problem::new(&design, whole.y(), penalty)?.with_intercept(whole.has_intercept());
    if let Some(weights) = whole.weights() {
        problem = problem.with_weights(weights)?;
    }
    if let Some(offset) = whole.offset() {
        problem = problem.with_offset(offset)?;
    }
    Ok(solve(&problem.with_loss(whole.loss())?, options)?.objective())
}
