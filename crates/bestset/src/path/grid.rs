//! Which λ0 a path visits.

use crate::error::{Error, Result};
use crate::penalty::Coordinate;
use crate::problem::Problem;
use crate::solution::Coefficients;

/// The λ0 of a path, from the largest down.
#[derive(Debug, Clone, PartialEq)]
pub enum Grid {
    /// Each λ0 is just below the largest at which one more feature would pay for itself beside the answer before, so that
    /// supports change by little from point to point (the idea of L0Learn). Starts where the null model is proved best.
    Dynamic {
        /// Points at the most.
        points: usize,
        /// How far below: λ0 is multiplied by this, which must lie strictly between 0 and 1.
        shrink: f64,
    },
    /// Evenly spaced logarithms from λ0_max down to `ratio` times it.
    Log {
        /// Number of points.
        points: usize,
        /// Smallest λ0 over the largest, strictly between 0 and 1.
        ratio: f64,
    },
    /// These, strictly descending.
    Given(Vec<f64>),
}

impl Default for Grid {
    /// A hundred points, each one percent below the λ0 at which the answer changes.
    fn default() -> Self {
        Self::Dynamic { points: 100, shrink: 0.99 }
    }
}

impl Grid {
    /// The default grid with as many points as it takes to reach this size.
    pub fn for_sizes(most: usize) -> Self {
        Self::Dynamic { points: most.saturating_mul(2).clamp(100, 10_000), shrink: 0.99 }
    }

    /// Checks ranges and order.
    pub fn validate(&self) -> Result<()> {
        let share = |name, value: f64| match value > 0.0 && value < 1.0 {
            true => Ok(()),
            false => Err(Error::Range { name, value, range: "strictly between 0 and 1" }),
        };
        let (points, checked) = match self {
            Self::Dynamic { points, shrink } => (*points, share("shrink", *shrink)),
            Self::Log { points, ratio } => (*points, share("ratio", *ratio)),
            Self::Given(values) => (values.len(), check_given(values)),
        };
        if points == 0 {
            return Err(Error::Range { name: "points", value: 0.0, range: "at least 1" });
        }
        checked
    }

    /// λ0 of point `k`; `last` is λ0 of the point before, `entry` the largest λ0 at which its answer should change
    /// (MATH 10.2, 10.3), `same` how often it did not: steps then double. `None` when the path is over.
    pub(crate) fn at(&self, k: usize, first: f64, last: f64, entry: f64, same: usize) -> Option<f64> {
        match self {
            Self::Given(values) => values.get(k).copied(),
            // Where nothing is worth any price there is one point.
            Self::Log { points, .. } if k >= *points || (k > 0 && first == 0.0) => None,
            Self::Log { points: 1, .. } => Some(first),
            Self::Log { points, ratio } => Some(first * ratio.powf(k as f64 / (*points - 1) as f64)),
            Self::Dynamic { points, .. } if k >= *points => None,
            Self::Dynamic { .. } if k == 0 => Some(first),
            Self::Dynamic { shrink, .. } => {
                let step = shrink.powi(1 << same.min(20));
                Some(step * entry.min(last)).filter(|next| *next > 0.0)
            }
        }
    }
}

fn check_given(values: &[f64]) -> Result<()> {
    for (position, &value) in values.iter().enumerate() {
        if !(value >= 0.0 && value.is_finite()) {
            return Err(Error::Range { name: "lambda0", value, range: "finite and at least 0" });
        }
        if position > 0 && values[position - 1] <= value {
            return Err(Error::Range { name: "lambda0", value, range: "below the one before: a path descends" });
        }
    }
    Ok(())
}

/// How many features are looked at along their whole line when the loss is not quadratic: those whose quadratic model promises most.
const SEARCHED: usize = 4;

/// Steps of that look, by regula falsi: a grid needs the first digits of a price only.
const SEARCH_STEPS: usize = 12;

/// max_j max_b { −τ_jb − ½c_jb² − λ1|b| − λ2b² } / f_j (MATH 10.3): the largest λ0 at which one more feature lowers P, all other
/// coefficients as they are, over the features outside the support, with τ = Xᵀα and c_j the curvature of the loss along
/// coefficient j. For a loss that is not quadratic c_j is a bound, and the most promising features are searched for what they can
/// really bring.
pub(super) fn entry(problem: &Problem<'_>, answer: &Coefficients, tau: &[f64]) -> Result<f64> {
    let lengths = problem.lengths()?;
    let price = |j: usize| problem.penalty().price.at(j);
    let bound = |j: usize| lengths.of(j).powi(2) / problem.loss().mu();
    let mut outside = vec![true; tau.len()];
    answer.support.iter().for_each(|&j| outside[j] = false);
    let candidates = (0..tau.len()).filter(|&j| outside[j] && price(j) > 0.0);
    let at = |j: usize, curvature: f64| gain(problem.coordinate(j), curvature, tau[j]) / price(j);
    let mut worth: Vec<(f64, usize)> = candidates.map(|j| (at(j, bound(j)), j)).filter(|w| w.0 > 0.0).collect();
    if problem.loss().is_quadratic() || worth.is_empty() {
        return Ok(worth.iter().map(|w| w.0).fold(0.0, f64::max));
    }
    // The bound of the curvature may be many times the curvature itself: the best are looked at along their whole line.
    worth.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    worth.truncate(SEARCHED);
    let mut largest = 0.0f64;
    for (least, j) in worth {
        largest = largest.max((searched_gain(problem, answer, j, tau[j])? / price(j)).max(least));
    }
    Ok(largest)
}

/// The most that coefficient j alone can lower the loss and its shrinkage (MATH 10.3): regula falsi on the slope, which rises.
fn searched_gain(problem: &Problem<'_>, answer: &Coefficients, j: usize, tau: f64) -> Result<f64> {
    let (coordinate, u) = (problem.coordinate(j).selected(), problem.margins(answer)?);
    let (mut column, mut x) = (crate::design::Column::default(), vec![0.0; u.len()]);
    problem.design().column(j, &mut column)?;
    column.to_dense(&mut x);
    let (mut moved, mut slopes) = (u.clone(), vec![0.0; u.len()]);
    let mut at = |b: f64| {
        moved.iter_mut().zip(&u).zip(&x).for_each(|((m, u), x)| *m = u + b * x);
        problem.derivatives(&moved, answer.intercept, &mut slopes);
        let slope = crate::kernel::dot(&x, &slopes) + b.signum() * coordinate.l1 + 2.0 * coordinate.l2 * b;
        (problem.loss_sum(&moved, answer.intercept) + coordinate.value(b), b.signum() * slope)
    };
    let (zero, first) = (at(0.0).0, coordinate.prox_selected(problem.squares()?[j] / problem.loss().mu(), -tau));
    if first == 0.0 || !first.is_finite() {
        return Ok(0.0);
    }
    // The majorised step ends before the minimum: from there outwards until the slope has turned.
    let reach = if first > 0.0 { coordinate.upper } else { coordinate.lower };
    let (mut low, mut high) = ((0.0, coordinate.l1 - tau.abs()), (first, at(first).1));
    let mut best = at(first).0;
    for _ in 0..SEARCH_STEPS {
        let turned = high.1 > 0.0;
        let next = match turned {
            true => low.0 + (high.0 - low.0) * (low.1 / (low.1 - high.1)).clamp(0.05, 0.95),
            false if high.0 == reach => break,
            false => (2.0 * high.0).clamp(reach.min(0.0), reach.max(0.0)),
        };
        let (value, slope) = at(next);
        best = best.min(value);
        match (turned, slope > 0.0) {
            (_, true) => high = (next, slope),
            (true, false) => low = (next, slope),
            (false, false) => (low, high) = (high, (next, slope)),
        }
    }
    Ok(zero - best)
}

/// −min_b { ½cb² + τb + λ1|b| + λ2b² } over the bounds (MATH 10.3).
fn gain(coordinate: Coordinate, c: f64, tau: f64) -> f64 {
    let b = coordinate.prox_selected(c, -tau);
    if !b.is_finite() {
        return 0.0;
    }
    -(0.5 * c * b * b + tau * b) - coordinate.selected().value(b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Penalty;
    use crate::design::Dense;

    #[test]
    fn entry_is_where_coordinate_descent_would_move() {
        let x = Dense::new(2, 3, vec![1.0, 0.0, 0.0, 1.0, 0.6, 0.8]).unwrap();
        let penalty = Penalty::new(0.0, 0.1, 0.5).with_price(vec![1.0, 1.0, 2.0]);
        let problem = Problem::new(&x, vec![3.0, 1.0], penalty).unwrap();
        // τ = −(3, 1, 2.6): (|τ| − 0.1)²/(2·2) over the price.
        let null = Coefficients::default();
        assert!((entry(&problem, &null, &[-3.0, -1.0, -2.6]).unwrap() - 2.9f64.powi(2) / 4.0).abs() < 1e-12);
        let first = Coefficients::from_pairs(vec![(0, 1.0)], 0.0);
        assert!((entry(&problem, &first, &[-3.0, -1.0, -2.6]).unwrap() - 2.5f64.powi(2) / 8.0).abs() < 1e-12);
    }

    #[test]
    fn grids_descend_and_end() {
        let dynamic = Grid::Dynamic { points: 3, shrink: 0.5 };
        assert_eq!(dynamic.at(0, 8.0, f64::INFINITY, f64::INFINITY, 0), Some(8.0));
        assert_eq!(dynamic.at(1, 8.0, 8.0, 3.0, 0), Some(1.5));
        assert_eq!(dynamic.at(2, 8.0, 1.5, 3.0, 0), Some(0.75), "never up again");
        assert_eq!(dynamic.at(2, 8.0, 1.5, 3.0, 1), Some(0.375), "further where nothing changed");
        assert_eq!((dynamic.at(2, 8.0, 1.5, 0.0, 0), dynamic.at(3, 8.0, 1.5, 1.0, 0)), (None, None));
        let log = Grid::Log { points: 3, ratio: 0.01 };
        assert!((log.at(1, 8.0, 8.0, 0.0, 0).unwrap() - 0.8).abs() < 1e-12 && log.at(3, 8.0, 8.0, 0.0, 0).is_none());
        assert!(Grid::Given(vec![2.0, 1.0, 1.0]).validate().is_err());
        assert!(Grid::Given(vec![]).validate().is_err() && Grid::Given(vec![0.0]).validate().is_ok());
        assert!(Grid::Dynamic { points: 1, shrink: 1.0 }.validate().is_err());
    }
}
