//! What adding and dropping features costs at least, and the least sums of that (MATH 13.3, 13.4).

use super::discs::{STEPS, Weights};
use super::pairs::LARGEST;
use super::rows::{Left, ListedRow, Pulled};
use super::{Around, Coherent};
use crate::kernel;
use crate::penalty::Coordinate;
use crate::problem::Problem;
use rayon::prelude::*;

/// Share of its curvature that the disc of a feature is at least taken to have for itself where weights are chosen: one that is worth
/// adding alone has none. Not tuned.
const LEAST_WANTED: f64 = 0.1;

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
    fn adding(&self, place: usize, d: f64) -> f64 {
        let c = self.outside[place];
        let curvature = 4.0 * c.l2 + 2.0 * d;
        if curvature <= 0.0 || curvature.is_nan() {
            return f64::NEG_INFINITY;
        }
        let cost = c.l0 - (self.pulled.pulls[place] - c.l1).max(0.0).powi(2) / curvature * (1.0 + 8.0 * f64::EPSILON);
        if cost.is_nan() { f64::NEG_INFINITY } else { cost }
    }

    /// For every m that a subset better than `best` can have, with these curvatures.
    pub fn bounds(&self, problem: &Problem<'_>, best: f64, left: &Left) -> Coherent {
        self.bounds_within(problem, most_features(problem, best), left)
    }

    /// For every m that a subset of at most `most` features can have.
    pub fn bounds_within(&self, problem: &Problem<'_>, most: usize, left: &Left) -> Coherent {
        let outside = self.outside.len();
        let most_added = outside.min(most).min(LARGEST + 1);
        let of = |m: usize| self.bound(most, m, (0..outside).map(|j| self.adding(j, left.at(j, m.max(1)))).collect());
        let by_added: Vec<f64> = (0..=most_added).into_par_iter().map(of).collect();
        let costs = least_costs(problem, most_added + 1);
        Coherent { by_added, costs, is_complete: outside.min(most) <= most_added }
    }

    /// P(β̂) + Σ ς_j + (the least sum of features to be dropped) + (the m least of the terms) (MATH 13.4).
    fn bound(&self, most: usize, m: usize, terms: Vec<f64>) -> f64 {
        let added = least_sum(terms, m);
        let sum = self.base + self.dropped(most, m) + added - 1e-13 * added.abs();
        // The least of a number and NaN is the number: what is not known would prove everything.
        if sum.is_nan() { f64::NEG_INFINITY } else { sum }
    }

    /// The least sum of ϰ_j − ς_j over t ≥ |Â| + m − s features: with m more, so many at least must go.
    fn dropped(&self, most: usize, m: usize) -> f64 {
        let gone = (self.dropping.len() + m).saturating_sub(most);
        let sums = self.dropping.iter().scan(0.0, |sum, d| {
            *sum += d;
            Some(*sum)
        });
        std::iter::once(0.0).chain(sums).skip(gone).fold(f64::INFINITY, f64::min)
    }

    /// The same with weights that leave more curvature to those who need it (MATH 13.8), for every m whose bound does not exceed the
    /// target, until one has none. `own` is Q̃_jj of all features, of which the rows may be some.
    pub fn sharpened(
        &self,
        most: usize,
        target: f64,
        (own, rows): (&[f64], &[ListedRow]),
        known: Coherent,
    ) -> Coherent {
        let Coherent { mut by_added, costs, is_complete } = known;
        for m in 2..by_added.len().min(LARGEST + 1) {
            if by_added[m] <= target {
                by_added[m] = by_added[m].max(self.weighted((most, m), target, own, rows));
            }
            if by_added[m] == f64::NEG_INFINITY {
                break;
            }
        }
        Coherent { by_added, costs, is_complete }
    }

    /// The largest bound for m added features that is found with weights.
    fn weighted(&self, (most, m): (usize, usize), target: f64, own: &[f64], rows: &[ListedRow]) -> f64 {
        // What each of the m may cost more than it does.
        let room = (self.base + self.dropped(most, m) - target.min(self.base)) / m as f64;
        let wanted: Vec<f64> =
            (0..own.len()).map(|j| (own[j] - self.needed(j, room)).max(LEAST_WANTED * own[j])).collect();
        let (mut best, mut weights) = (f64::NEG_INFINITY, Weights::new(wanted.iter().map(|w| 1.0 / w).collect()));
        for step in 0..STEPS {
            let terms = rows.par_iter().map(|row| self.adding(row.place, weights.left(row, m))).collect();
            best = best.max(self.bound(most, m, terms));
            // Without all rows there is nothing to step by.
            if best > target || step + 1 == STEPS || rows.len() < own.len() {
                break;
            }
            let next = |row: &ListedRow| weights.of(row.place) * (weights.disc(row, m) / wanted[row.place]).sqrt();
            let stepped: Vec<f64> = rows.par_iter().map(next).collect();
            let mut of = vec![1.0; own.len()];
            rows.iter().zip(stepped).for_each(|(row, weight)| of[row.place] = weight);
            weights = Weights::new(of);
        }
        best
    }

    /// d_j with φ_j = −room: (|x_jᵀr| − λ1)₊² / 2(λ0 + room) − 2λ2.
    fn needed(&self, place: usize, room: f64) -> f64 {
        let c = self.outside[place];
        (self.pulled.pulls[place] - c.l1).max(0.0).powi(2) / (2.0 * (c.l0 + room).max(0.0)) - 2.0 * c.l2
    }
}

/// The sum of the m least.
fn least_sum(mut terms: Vec<f64>, m: usize) -> f64 {
    if m < terms.len() {
        terms.select_nth_unstable_by(m, f64::total_cmp);
        terms.truncate(m);
    }
    terms.iter().sum()
}

/// The prices, ascending.
fn prices(problem: &Problem<'_>) -> Vec<f64> {
    let mut prices: Vec<f64> = (0..problem.ncols()).map(|j| problem.coordinate(j).l0).collect();
    prices.par_sort_unstable_by(f64::total_cmp);
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
