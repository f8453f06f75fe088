//! What a criterion says of the points of a path (MATH 10.11–10.16), and where no larger size is left for it (MATH 10.21).

use crate::criteria::{Criterion, Fit};
use crate::error::{Error, Result};
use crate::groups::Groups;
use crate::path::{Path, Point, cost};
use crate::penalty::Penalty;
use crate::problem::Problem;

/// The fits of a path.
fn fits(problem: &Problem<'_>, path: &Path) -> Result<Vec<Fit>> {
    let groups = path.groups.as_ref();
    let null = Fit::null(problem, groups);
    let fit = |p: &Point| Ok(null.with(problem, groups, &p.solution.coefficients, loss(problem, groups, p)?));
    path.points.iter().map(fit).collect()
}

/// L of a point or, where its columns can no longer be read, what is left of its P without the penalties (MATH 10.1): a limit or a failure
/// after the path has found its answers takes none of them away.
fn loss(problem: &Problem<'_>, groups: Option<&Groups>, point: &Point) -> Result<f64> {
    let coefficients = &point.solution.coefficients;
    match problem.loss_at(coefficients) {
        Err(error) if error.is_of_reading() => {
            let (lambda1, lambda2) = (point.lambda1, point.lambda2);
            let unpriced = Penalty { lambda0: 0.0, lambda1, lambda2, ..problem.penalty().clone() };
            let shrunk = problem.with_penalty(unpriced)?.penalty_sum(coefficients);
            Ok(point.solution.objective() - point.lambda0 * cost(problem, groups, coefficients) - shrunk)
        }
        loss => loss,
    }
}

impl Criterion {
    /// The criterion at every point; for Cp the variance is that of the largest model with K < n of the least λ2 (MATH 10.15).
    ///
    /// ```
    /// use bestset::criteria::Criterion;
    /// use bestset::design::Dense;
    /// use bestset::path::{PathOptions, path};
    /// use bestset::{Penalty, Problem};
    ///
    /// let x = Dense::new(4, 2, vec![1.0, 2.0, 3.0, 4.0, 1.0, -1.0, 1.0, -1.0])?;
    /// let problem = Problem::new(&x, vec![2.1, 3.9, 5.9, 8.1], Penalty::new(0.0, 0.0, 0.01))?;
    /// let found = path(&problem, &PathOptions::default())?;
    /// let chosen = Criterion::Bic.best(&problem, &found)?;
    /// assert_eq!(found.points[chosen].solution.support(), &[0]);
    /// # Ok::<(), bestset::Error>(())
    /// ```
    pub fn along(self, problem: &Problem<'_>, path: &Path) -> Result<Vec<f64>> {
        self.check(problem.loss())?;
        Ok(self.over(path, &fits(problem, path)?))
    }

    /// Every criterion at every point, NaN where it is not defined for the loss; `own` stands in the place of its kind.
    pub fn all_along(problem: &Problem<'_>, path: &Path, own: Option<Self>) -> Result<Vec<(Self, Vec<f64>)>> {
        let fits = fits(problem, path)?;
        let of = |known: Self| {
            let own = own.filter(|own| own.name() == known.name()).unwrap_or(known);
            let is_defined = own.check(problem.loss()).is_ok();
            (own, if is_defined { own.over(path, &fits) } else { vec![f64::NAN; fits.len()] })
        };
        Ok(Self::ALL.into_iter().map(of).collect())
    }

    fn over(self, path: &Path, fits: &[Fit]) -> Vec<f64> {
        // σ² of the largest model that leaves degrees of freedom; what a larger ridge shrinks it leaves in the residuals.
        let least = path.points.iter().map(|point| point.lambda2).fold(f64::INFINITY, f64::min);
        let free = |fit: &&Fit| fit.fitted() < fit.samples;
        let unshrunk = fits.iter().zip(&path.points).filter(|(_, point)| point.lambda2 == least).map(|(fit, _)| fit);
        let largest = unshrunk.filter(free).max_by_key(|fit| fit.size);
        let variance = largest.map_or(f64::NAN, |fit| fit.deviance / (fit.samples - fit.fitted()));
        fits.iter().map(|fit| fit.value(self, variance)).collect()
    }

    /// The best point of a path, the earliest of equals.
    pub fn best(self, problem: &Problem<'_>, path: &Path) -> Result<usize> {
        let sign = if self.is_maximised() { -1.0 } else { 1.0 };
        let values = self.along(problem, path)?;
        let finite = values.iter().enumerate().filter(|v| !v.1.is_nan()).map(|(k, v)| (sign * v, k));
        let best = finite.min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        // Where it is a number nowhere, as for a constant target, nothing is to be chosen: the null model comes first.
        let first = (!path.points.is_empty()).then_some(0);
        best.map(|b| b.1).or(first).ok_or(Error::Empty { rows: 0, columns: 0 })
    }

    /// L(s′) = L − Σ(λ1|β_j| + λ2β_j²) − λ0(s′ − s) (MATH 10.21): whether the criterion, at the last of these points, could only grow with
    /// every size s′ up to `most`, from answers that are the best of their prices.
    pub(super) fn has_no_larger(self, problem: &Problem<'_>, points: &[Point], most: usize) -> Result<bool> {
        let price = &problem.penalty().price;
        let is_counted = (0..problem.ncols()).all(|j| price.at(j) == 0.0 || price.at(j) == 1.0);
        let (true, Some(last)) = (self.adds_prices() && is_counted, points.last()) else { return Ok(false) };
        let null = Fit::null(problem, None);
        // P and its terms are at hand; the loss itself would read the columns of every answer once more.
        let of = |point: &Point| {
            let coefficients = &point.solution.coefficients;
            let free = problem.size_of(coefficients, |j| price.at(j) == 0.0);
            let size = problem.size(coefficients);
            let paid = point.lambda0 * (size - free) as f64;
            let shrunk = problem.penalty_sum(coefficients) - problem.penalty().lambda0 * (size - free) as f64;
            (null.of(problem, point.solution.objective() - paid - shrunk, size, free), shrunk)
        };
        let best = points.iter().map(|p| of(p).0.value(self, f64::NAN)).fold(f64::INFINITY, f64::min);
        let (fit, shrunk) = of(last);
        // No more features than there are to choose from.
        let most = most.min(fit.features + fit.free);
        let loss = last.solution.objective() - last.lambda0 * (fit.size - fit.free) as f64 - 2.0 * shrunk;
        let is_worse = |size: usize| {
            let least = loss - last.lambda0 * (size - fit.size) as f64;
            least > 0.0 && null.of(problem, least, size, fit.free).value(self, f64::NAN) >= best
        };
        // The price of a choice lies between those of its neighbours: one must be larger.
        let is_past = fit.value(self, f64::NAN) > best;
        Ok(is_past && fit.size < most && is_worse(fit.size + 1) && is_worse(most))
    }
}
