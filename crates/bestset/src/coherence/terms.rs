//! What adding and dropping features costs at least, and the least sums of that (MATH 13.3, 13.4).

use super::pairs::LARGEST;
use super::rows::{Left, Pulled};
use super::{Around, Coherent};
use crate::kernel;
use crate::penalty::Coordinate;
use crate::problem::Problem;

/// The terms of a point.
pub(super) struct Terms<'r> {
    pulled: &'r Pulled,
    /// The penalty of each feature outside Â, in units in which columns have length one.
    outside: Vec<Coordinate>,
    /// P(β̂) + Σ ς_j, at the least.
    base: f64,
    /// ϰ_j − ς_j of the features of Â, ascending: what dropping each costs at least.
    dropping: Vec<f64>,
}

/// The penalty of a feature when its column is divided by its length, 1/`scale`.
fn of_unit(coordinate: Coordinate, scale: f64) -> Coordinate {
    Coordinate { l1: coordinate.l1 * scale, l2: coordinate.l2 * scale * scale, ..coordinate }
}

impl<'r> Terms<'r> {
    /// Nothing where a term is no number: penalties of columns that are next to nothing may be too large for one.
    pub fn new(problem: &Problem<'_>, around: &Around, pulled: &'r Pulled, delta: f64) -> Option<Self> {
        // M is off by the rounding of Q_ÂÂ, which the curvature left to Â is less by.
        let delta = delta - around.rounding;
        let outside =
            pulled.features.iter().zip(&pulled.scales).map(|(&j, s)| of_unit(problem.coordinate(j), *s)).collect();
        let loss = 0.5 * kernel::squares(&around.residual);
        let noise = f64::EPSILON * (problem.nrows() as f64 + 64.0) * (2.0 * loss).sqrt();
        let (mut base, mut dropping) = (loss - around.slack, Vec::new());
        for ((&j, &b), unit) in around.support.iter().zip(&around.beta).zip(&around.columns) {
            let c = of_unit(problem.coordinate(j), unit.scale);
            let slope = -kernel::dot(&unit.values, &around.residual);
            let (penalty, curvature) = (c.l0 + c.l1 * b.abs() + c.l2 * b * b, 2.0 * c.l2 + delta);
            // ς_j = −e²/2(2λ2 + ϱ), where e is by how much β̂ is not stationary.
            let noise = noise * unit.reach;
            let e = (slope + 2.0 * c.l2 * b + c.l1 * b.signum()).abs() + noise;
            let kept = -0.5 * e * e / curvature;
            // ϰ_j = −g_jβ̂_j + ½ϱβ̂_j² − π_j(β̂_j).
            let dropped = (0.5 * delta * b - slope) * b - penalty;
            // What rounding does to these is relative to the largest of their parts.
            let rounding = 1e-13 * (penalty + (slope * b).abs() + delta * b * b) + noise * b.abs();
            base += penalty + kept - rounding;
            dropping.push(dropped - kept - rounding);
        }
        dropping.sort_unstable_by(f64::total_cmp);
        let are_numbers = base.is_finite() && dropping.iter().all(|d| d.is_finite());
        are_numbers.then_some(Self { pulled, outside, base, dropping })
    }

    /// φ_j^m = λ0 − (|x_jᵀr| − λ1)₊² / (4λ2 + 2d_j^m) of the feature at a place; −∞ where that is not convex (MATH 13.3).
    fn adding(&self, left: &Left, place: usize, m: usize) -> f64 {
        let (c, d) = (self.outside[place], left.at(place, m));
        let curvature = 4.0 * c.l2 + 2.0 * d;
        if curvature <= 0.0 || curvature.is_nan() {
            return f64::NEG_INFINITY;
        }
        let cost = c.l0 - (self.pulled.pulls[place] - c.l1).max(0.0).powi(2) / curvature * (1.0 + 8.0 * f64::EPSILON);
        if cost.is_nan() { f64::NEG_INFINITY } else { cost }
    }

    /// The sum of the m least φ_j^m.
    fn adding_least(&self, left: &Left, m: usize) -> f64 {
        let mut terms: Vec<f64> = (0..self.outside.len()).map(|place| self.adding(left, place, m)).collect();
        if m < terms.len() {
            terms.select_nth_unstable_by(m, f64::total_cmp);
            terms.truncate(m);
        }
        terms.iter().sum()
    }

    /// For every m that a subset better than `best` can have, with these curvatures.
    pub fn bounds(&self, problem: &Problem<'_>, best: f64, left: &Left) -> Coherent {
        self.bounds_within(problem, most_features(problem, best), left)
    }

    /// For every m that a subset of at most `most` features can have.
    pub fn bounds_within(&self, problem: &Problem<'_>, most: usize, left: &Left) -> Coherent {
        let (inside, outside) = (self.dropping.len(), self.outside.len());
        let prefix: Vec<f64> = std::iter::once(0.0)
            .chain(self.dropping.iter().scan(0.0, |sum, d| {
                *sum += d;
                Some(*sum)
            }))
            .collect();
        let most_added = outside.min(most).min(LARGEST + 1);
        let of = |m: usize| {
            // With m more, so many at least must go.
            let gone = (inside + m).saturating_sub(most);
            let dropped = prefix.get(gone..).into_iter().flatten().copied().fold(f64::INFINITY, f64::min);
            let added = if m == 0 { 0.0 } else { self.adding_least(left, m) };
            let sum = self.base + dropped + added - 1e-13 * added.abs();
            // The least of a number and NaN is the number: what is not known would prove everything.
            if sum.is_nan() { f64::NEG_INFINITY } else { sum }
        };
        let by_added: Vec<f64> = (0..=most_added).map(of).collect();
        let costs = least_costs(problem, most_added + 1);
        Coherent { by_added, costs, is_complete: outside.min(most) <= most_added }
    }
}

/// The prices, ascending.
fn prices(problem: &Problem<'_>) -> Vec<f64> {
    let mut prices: Vec<f64> = (0..problem.ncols()).map(|j| problem.coordinate(j).l0).collect();
    prices.sort_unstable_by(f64::total_cmp);
    prices
}

/// By which share a sum of prices may be too large.
fn rounding_of_sums(problem: &Problem<'_>) -> f64 {
    f64::max(1e-13, f64::EPSILON * problem.ncols() as f64)
}

/// What 0, 1, …, `most` features cost at least.
fn least_costs(problem: &Problem<'_>, most: usize) -> Vec<f64> {
    let (mut prices, less) = (prices(problem).into_iter(), 1.0 - rounding_of_sums(problem));
    let next = |cost: &f64| Some(cost + prices.next().unwrap_or(0.0) * less);
    std::iter::successors(Some(0.0), next).take(most + 1).collect()
}

/// The most features of a subset that is better than `best`: its loss is not negative, and it is not larger than allowed (MATH 13.4).
pub(super) fn most_features(problem: &Problem<'_>, best: f64) -> usize {
    let (mut cost, prices) = (0.0, prices(problem));
    let paid = prices.iter().take_while(|price| {
        cost += **price;
        cost * (1.0 - rounding_of_sums(problem)) < best
    });
    paid.count().min(problem.max_size().unwrap_or(usize::MAX))
}
