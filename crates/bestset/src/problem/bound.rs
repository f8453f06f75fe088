//! D(α) (MATH 3.5) as a number that rounding cannot have lifted above the true one (MATH 3.10–3.13).
//!
//! Three things are only nearly true in floating point, and each is paid for: τ = Xᵀα carries the rounding of its sums,
//! Σ α_i = 0 holds up to an imbalance, and so does α_i = w_i · (end of the domain). For the first, Ψ is taken at the worse
//! end of the interval that holds τ. For the others, the point meant is the feasible one next to α.

use crate::error::Result;
use crate::kernel::compensated::CompensatedSum;
use crate::kernel::each::{chosen, each, largest};
use crate::kernel::rough::rounding;
use crate::loss::{CoupledConjugate, CoupledLoss, Loss};
use crate::penalty::Coordinate;
use crate::problem::Problem;
use crate::problem::columns::Measured;
use crate::problem::screening::zero_in_relaxation;
use crate::solution::Coefficients;

/// A dual point, measured.
pub(super) struct MeasuredPoint {
    /// Σ w_i ℓ*(α_i / w_i).
    conjugates: f64,
    /// Σ of the absolute values of the parts of its terms: what rounding in it is relative to.
    size: f64,
    /// √(Σ α_i² / w_i), dual to the weighted column norms.
    norm: f64,
    /// Σ |α_i|.
    absolute: f64,
    /// By which share the heavier of the positive and negative parts must shrink for Σ α_i = 0.
    imbalance: f64,
}

impl Problem<'_> {
    /// λ0_max = max_j −φ_j⁰(τ_j)/f_j at the dual point of β = 0 (MATH 9.2): the smallest λ0 at which that point proves that no
    /// feature is worth its price; +∞ when λ2 = 0 without bounds, and when a free feature (f_j = 0) is worth having: β = 0 is
    /// then no answer, and the fit of the free features takes its place ([`Problem::lambda0_max_at`]).
    pub fn lambda0_max(&self) -> Result<f64> {
        self.largest_worth(&self.null_dual_point(), |_| true)
    }

    /// α of the null model with the best intercept (MATH 3.7).
    pub(crate) fn null_dual_point(&self) -> Vec<f64> {
        let (u, mut alpha) = (self.null_margins(), vec![0.0; self.nrows()]);
        self.dual_point(&u, self.best_intercept(&u, 0.0), &mut alpha);
        alpha
    }

    /// As [`Problem::lambda0_max`] (MATH 9.2), at the fit of the free features: the smallest λ0 at which its dual point proves
    /// that no other feature is worth its price.
    pub fn lambda0_max_at(&self, free: &Coefficients) -> Result<f64> {
        let u = self.margins(free)?;
        let mut alpha = vec![0.0; u.len()];
        self.dual_point(&u, self.best_intercept(&u, free.intercept), &mut alpha);
        self.largest_worth(&alpha, |price| price > 0.0)
    }

    /// max_j −φ_j⁰(x_jᵀα)/f_j (MATH 9.2), over the features whose price factor is `counted`.
    fn largest_worth(&self, alpha: &[f64], counted: impl Fn(f64) -> bool) -> Result<f64> {
        let features: Vec<usize> = (0..self.ncols()).filter(|&j| counted(self.penalty.price.at(j))).collect();
        let mut tau = vec![0.0; features.len()];
        self.design.correlate(&features, alpha, &mut tau)?;
        Ok(self.worth_of(&features, &tau))
    }

    /// As [`Problem::lambda0_max_at`] (MATH 9.2), from x_jᵀα of every feature at the dual point there.
    pub(crate) fn lambda0_max_from(&self, tau: &[f64]) -> f64 {
        largest(tau.len(), |j| if self.penalty.price.at(j) > 0.0 { self.worth(j, tau[j]) } else { 0.0 })
    }

    /// max_j −φ_j⁰(τ_j)/f_j (MATH 9.2) of these features.
    pub(crate) fn worth_of(&self, features: &[usize], tau: &[f64]) -> f64 {
        largest(features.len(), |k| self.worth(features[k], tau[k]))
    }

    /// −φ_j⁰(τ)/f_j (MATH 9.2), zero at the least.
    fn worth(&self, j: usize, tau: f64) -> f64 {
        match -self.coordinate(j).selected().phi(tau) {
            worth if worth > 0.0 => worth / self.penalty.price.at(j),
            _ => 0.0,
        }
    }

    /// D(α) = −Σ_i ℓ*_i(α_i) + Σ_j Ψ_j(x_jᵀα) (MATH 3.5), the k least Ψ_j only when the size is limited (MATH 6.5), less the most
    /// that rounding can have added (MATH 3.12): a valid lower bound for P (MATH 3.6), −∞ if α is outside the dual domain.
    /// `tau[k]` = x_jᵀα for j = `features[k]` as [`correlate`](crate::design::Design::correlate) computes it; features not listed
    /// must have Ψ = 0.
    pub fn dual_value(&self, alpha: &[f64], features: &[usize], tau: &[f64]) -> Result<f64> {
        Ok(self.lower_bounds()?.dual_value(alpha, features, tau))
    }
}

/// The bounds of a problem whose columns are measured: what rounding can have added is relative to their lengths.
#[derive(Clone, Copy)]
pub(crate) struct LowerBounds<'p, 'a> {
    pub(super) problem: &'p Problem<'a>,
    pub(super) measured: &'p Measured,
}

impl<'a> std::ops::Deref for LowerBounds<'_, 'a> {
    type Target = Problem<'a>;
    fn deref(&self) -> &Problem<'a> {
        self.problem
    }
}

impl LowerBounds<'_, '_> {
    /// Σ_i w_i x_ij².
    #[inline]
    pub(crate) fn square(&self, j: usize) -> f64 {
        self.measured.squares[j]
    }

    /// As [`Problem::dual_value`].
    pub(crate) fn dual_value(&self, alpha: &[f64], features: &[usize], tau: &[f64]) -> f64 {
        self.bound(alpha, features, tau, self.least_threshold(), |k| self.coordinate(features[k]))
    }

    /// As [`Problem::dual_value`], with another penalty for the feature at each place k.
    pub(crate) fn dual_value_with(
        &self,
        alpha: &[f64],
        features: &[usize],
        tau: &[f64],
        coordinate: impl Fn(usize) -> Coordinate + Sync,
    ) -> f64 {
        self.bound(alpha, features, tau, 0.0, coordinate)
    }

    /// D(α) (MATH 3.12, 6.5) with the given penalties, none of which has a threshold below `least_threshold`.
    fn bound(
        &self,
        alpha: &[f64],
        features: &[usize],
        tau: &[f64],
        least_threshold: f64,
        coordinate: impl Fn(usize) -> Coordinate + Sync,
    ) -> f64 {
        let Some(point) = self.measure(alpha) else {
            return f64::NEG_INFINITY;
        };
        let zero_below = least_threshold - self.largest_error(&point);
        let mut terms = chosen(features.len(), |k| {
            // Most features are far inside their threshold, whatever rounding did: one comparison for them.
            if tau[k].abs() * (1.0 + 16.0 * f64::EPSILON) < zero_below {
                return None;
            }
            let least = self.least_psi(coordinate(k), features[k], tau[k], &point);
            (least < 0.0).then_some((least, k))
        });
        // With K classes k features are kK columns, of which no choice of features has a lower sum.
        if let Some(k) = self.max_size.map(|k| k * self.classes())
            && terms.len() > k
        {
            terms.select_nth_unstable_by(k, |a, b| a.0.total_cmp(&b.0));
            terms.truncate(k);
            terms.sort_unstable_by_key(|t| t.1);
        }
        let dual: f64 = terms.iter().map(|t| t.0).sum();
        let additions = (self.nrows() + terms.len()) as f64 + 16.0;
        // Conjugates are convex and zero at zero: shrinking a part of α by a share raises their sum by that share at most.
        let slack = f64::EPSILON * additions * (point.size - dual) + point.imbalance * point.size;
        let bound = dual - point.conjugates - slack;
        if bound.is_nan() { f64::NEG_INFINITY } else { bound }
    }

    /// Σ Ψ_j (MATH 11.23) over the features with the given penalties, none of which has a threshold below `least_threshold`, each the
    /// least that rounding allows; −∞ outside the dual domain.
    pub(crate) fn least_psi_sum(
        &self,
        alpha: &[f64],
        features: &[usize],
        tau: &[f64],
        least_threshold: f64,
        coordinate: impl Fn(usize) -> Coordinate + Sync,
    ) -> f64 {
        let Some(point) = self.measure(alpha) else {
            return f64::NEG_INFINITY;
        };
        let zero_below = least_threshold - self.largest_error(&point);
        let terms = chosen(features.len(), |k| match tau[k].abs() * (1.0 + 16.0 * f64::EPSILON) < zero_below {
            true => None,
            false => Some(self.least_psi(coordinate(k), features[k], tau[k], &point)),
        });
        let sum: f64 = terms.iter().sum();
        sum * (1.0 + f64::EPSILON * features.len() as f64)
    }

    /// The correlations with the least φ_j that rounding may have made into `tau` (MATH 3.13): what the rule that excludes
    /// features must be given, since φ may fall steeply (by up to the knee for each unit of τ).
    pub(crate) fn outer_correlations(
        &self,
        alpha: &[f64],
        features: &[usize],
        tau: &[f64],
        coordinate: impl Fn(usize) -> Coordinate + Sync,
    ) -> Vec<f64> {
        let Some(point) = self.measure(alpha) else {
            return vec![f64::INFINITY; tau.len()];
        };
        each(features.len(), |k| outer_end(coordinate(k), tau[k], self.correlation_error(features[k], tau[k], &point)))
    }

    /// The places of the features whose Ψ_j may be below zero, for all that `rough` tells (MATH 11.25), their correlations by
    /// [`correlate_roughly`](crate::design::Design::correlate_roughly); no penalty has a threshold below `least_threshold`.
    pub(crate) fn unsure(
        &self,
        alpha: &[f64],
        features: &[usize],
        rough: &[f64],
        least_threshold: f64,
        coordinate: impl Fn(usize) -> Coordinate + Sync,
    ) -> Vec<usize> {
        let Some(point) = self.measure(alpha) else {
            return (0..features.len()).collect();
        };
        let zero_below = least_threshold - self.largest_rough_error(&point);
        let is_zero = |k: usize, t: f64| {
            let error = self.rough_error(self.square(features[k]).sqrt(), &point);
            zero_in_relaxation(coordinate(k), t, 1.0, error + self.correlation_error(features[k], t, &point))
        };
        let sure = |k: usize| rough[k].abs() * (1.0 + 16.0 * f64::EPSILON) < zero_below || is_zero(k, rough[k]);
        chosen(features.len(), |k| (!sure(k)).then_some(k))
    }

    /// For each feature the values that [`Problem::outer_correlations`] may give, for all that `rough` tells (MATH 11.25): the
    /// one with the least φ_j and the one nearest to zero, where it is largest.
    pub(crate) fn rough_ends(
        &self,
        alpha: &[f64],
        features: &[usize],
        rough: &[f64],
        coordinate: impl Fn(usize) -> Coordinate + Sync,
    ) -> Vec<(f64, f64)> {
        let Some(point) = self.measure(alpha) else {
            return vec![(f64::INFINITY, f64::INFINITY); rough.len()];
        };
        each(features.len(), |k| {
            let (j, t) = (features[k], rough[k]);
            // What single precision cannot hold says nothing: no φ excludes at no number, on either side of any box.
            if !t.is_finite() {
                return (f64::NAN, 0.0);
            }
            // Those correlations are as far as their own error from the true ones.
            let error = self.rough_error(self.square(j).sqrt(), &point) + 2.0 * self.correlation_error(j, t, &point);
            (outer_end(coordinate(k), t, error), t - t.max(-error).min(error))
        })
    }

    /// γ_n ‖x‖ ‖α‖ ≥ γ_n Σ|x_i α_i| (MATH 11.25): how far the sums of
    /// [`correlate_roughly`](crate::design::Design::correlate_roughly) are off for a column of this length, and for each product
    /// what its numbers lose below the least of single precision.
    fn rough_error(&self, length: f64, point: &MeasuredPoint) -> f64 {
        let (n, lightest) = (self.nrows() as f64, self.measured.lightest);
        let lost = 1e-44 * (point.absolute + n + (n / lightest).sqrt() * length);
        1.01 * rounding(self.nrows()) * length * point.norm + lost
    }

    /// The most by which [`correlate_roughly`](crate::design::Design::correlate_roughly) may be off (MATH 11.25) and [`Problem::correlation_error`]
    /// add, but for the part of the latter that is relative to τ.
    pub(super) fn largest_rough_error(&self, point: &MeasuredPoint) -> f64 {
        self.rough_error(self.measured.longest, point) + self.largest_error(point)
    }

    /// |x_jᵀα − s x_jᵀα°| ≤ ‖x̂_j‖ ‖α − s α°‖ (MATH 5.7): s τ_j of every feature, with τ_j = x_jᵀα° as computed, and how far
    /// x_jᵀα can be from it, all rounding included; s makes it least. `None` where one of the points is outside the dual domain.
    pub(crate) fn carry(&self, from: &[f64], tau: &[f64], to: &[f64]) -> Option<(Vec<f64>, Vec<f64>)> {
        let (start, end) = (self.measure(from)?, self.measure(to)?);
        // Divided before it is multiplied: the square of a small number is lost, its quotient by a small weight is not.
        let over = |a: f64, b: f64, i: usize| if a == 0.0 { 0.0 } else { a / self.weight(i) * b };
        let scale =
            from.iter().zip(to).enumerate().map(|(i, (a, b))| over(*a, *b, i)).sum::<f64>() / start.norm.powi(2);
        let scale = if scale.is_finite() { scale } else { 1.0 };
        let square = |i: usize, d: f64| over(d, d, i);
        let squares = from.iter().zip(to).enumerate().map(|(i, (a, b))| square(i, b - scale * a));
        let sums = f64::EPSILON * (self.nrows() as f64 + 16.0);
        // What rounding, also that of numbers near zero, may have taken from it.
        let distance =
            (squares.sum::<f64>() * (1.0 + sums) + 1e-290).sqrt() + 2.0 * f64::EPSILON * scale.abs() * start.norm;
        // Moments are not worth a pass of their own.
        let lengths = self.known_lengths(&self.measured.squares);
        let reach = each(tau.len(), |j| {
            let (t, full) = (tau[j], self.square(j).sqrt());
            // The squares of so short a column may be lost.
            if full < 1e-140 {
                return f64::INFINITY;
            }
            (lengths.of(j) + sums * full) * (1.0 + sums) * distance
                + scale.abs() * self.correlation_error(j, t, &start)
                + self.correlation_error(j, scale * t, &end)
        });
        Some((tau.iter().map(|t| scale * t).collect(), reach))
    }

    /// min(Ψ_j(τ − err), Ψ_j(τ + err)) (MATH 3.11): the least Ψ_j, which is concave, at a correlation that rounding may have made
    /// into `tau`.
    fn least_psi(&self, coordinate: Coordinate, j: usize, tau: f64, point: &MeasuredPoint) -> f64 {
        let error = self.correlation_error(j, tau, point);
        let (low, high) = (tau - error, tau + error);
        if !(low.is_finite() && high.is_finite()) {
            return f64::NEG_INFINITY;
        }
        // Within λ1 of zero there is nothing to gain, whatever else the penalty is.
        if low.abs().max(high.abs()) <= coordinate.l1 && coordinate.l0 >= 0.0 {
            return 0.0;
        }
        // Beyond zero the interval reaches the other side of the penalty only when it holds zero.
        match (low < 0.0, high > 0.0) {
            (true, true) => coordinate.psi(low).min(coordinate.psi(high)),
            (true, false) => coordinate.psi(low),
            _ => coordinate.psi(high),
        }
    }

    /// ε(n/2 + 12) + rounding (MATH 3.10): n products and n additions in any order and the few operations of a view around them; and
    /// what a place that adds up in another way has stated.
    fn sum_rounding(&self) -> f64 {
        f64::EPSILON * (0.5 * self.nrows() as f64 + 12.0) + self.design.rounding()
    }

    /// The part of [`Problem::correlation_error`] (MATH 3.10) that does not depend on τ, for the longest column.
    fn largest_error(&self, point: &MeasuredPoint) -> f64 {
        let sums = self.sum_rounding();
        let lengths = self.measured;
        // Twice, for the rounding of all this.
        2.0 * ((sums + point.imbalance) * lengths.longest * point.norm + 2.0 * sums * lengths.offset * point.absolute)
    }

    /// err_j = (ε(n/2 + 12) + rounding + imbalance)‖x_j‖‖α‖ + 2(ε(n/2 + 12) + rounding) shift_j Σ|α_i| + 8ε|τ_j| (MATH 3.10): how far x_jᵀα of the
    /// feasible point next to α can be from the computed `tau`.
    fn correlation_error(&self, j: usize, tau: f64, point: &MeasuredPoint) -> f64 {
        let sums = self.sum_rounding();
        let (length, offset) = (self.square(j).sqrt(), self.design.offset(j));
        // The last part covers the rounding of Ψ itself.
        (sums + point.imbalance) * length * point.norm
            + 2.0 * sums * offset * point.absolute
            + 8.0 * f64::EPSILON * tau.abs()
    }
}

impl Problem<'_> {
    /// A τ₀ that none is below (MATH 3.3): Ψ_j(τ) = 0 for |τ| under it. Zero where penalties differ between features.
    pub(crate) fn least_threshold(&self) -> f64 {
        match self.penalty.is_uniform() {
            true => self.coordinate(0).least_slope(),
            false => 0.0,
        }
    }

    /// √(Σ α_i²/w_i), and Σ of the sizes of the conjugates' parts (MATH 3.12); infinite outside the dual domain.
    pub(crate) fn dual_sizes(&self, alpha: &[f64]) -> (f64, f64) {
        self.measure(alpha).map_or((f64::INFINITY, f64::INFINITY), |point| (point.norm, point.size))
    }

    /// Σ_i { w_i ℓ*(α_i/w_i) − α_i o_i } (MATH 2.6) and the sizes and norms of α (MATH 3.12); `None` outside the dual domain.
    pub(super) fn measure(&self, alpha: &[f64]) -> Option<MeasuredPoint> {
        if let Some(coupled) = self.coupled() {
            return self.measure_coupled(coupled, alpha);
        }
        let (centre, mut sum) = (self.target_centre(), CompensatedSum::default());
        let (mut conjugates, mut size, mut squares, mut absolute) = (0.0, 0.0, 0.0, 0.0f64);
        for (i, (&a, &y)) in alpha.iter().zip(self.y.iter()).enumerate() {
            let (w, y) = (self.weight(i), y - centre);
            if w == 0.0 && a == 0.0 {
                continue;
            }
            let ratio = if self.weights.is_some() { self.unweighted(a, w, y) } else { a };
            // The conjugate of ℓ(u + o, y) is ℓ*(a) − a o.
            let fixed = self.offset.as_ref().map_or(0.0, |o| a * o[i]);
            let term = w * self.loss.conjugate(ratio, y);
            conjugates += term - fixed;
            size += term.abs() + fixed.abs() + w * self.loss.parts(ratio, y);
            squares += a * ratio;
            absolute += a.abs();
            sum.add(a);
        }
        let imbalance = if self.intercept { imbalance(sum.value(), absolute) } else { 0.0 };
        // A sample of weight zero with α_i ≠ 0 has made the sum NaN or infinite.
        let inside = conjugates < f64::INFINITY && imbalance <= 8.0 * f64::EPSILON * alpha.len() as f64;
        let rounded = if self.weights.is_some() { 8.0 * f64::EPSILON } else { 0.0 };
        let imbalance = imbalance + rounded;
        inside.then_some(MeasuredPoint { conjugates, size, norm: squares.sqrt(), absolute, imbalance })
    }

    /// L*(α′) − α′ᵀo at the point α′ next to α (MATH 15.4): what α moved by is a share of the norm given, as with an imbalance.
    fn measure_coupled(&self, coupled: &dyn CoupledLoss, alpha: &[f64]) -> Option<MeasuredPoint> {
        let CoupledConjugate { value, size, moved, reach } = coupled.conjugate(alpha)?;
        let (mut fixed, mut own, mut squares, mut absolute) = (0.0, 0.0, 0.0, 0.0);
        for (i, (&a, &r)) in alpha.iter().zip(&reach).enumerate().filter(|(_, (_, r))| **r > 0.0) {
            let o = self.offset.as_ref().map_or(0.0, |o| o[i]);
            fixed += a * o;
            own += r * o.abs();
            squares += r * (r / self.weight(i));
            absolute += r;
        }
        let point = MeasuredPoint {
            conjugates: value - fixed,
            size: size + own,
            norm: squares.sqrt(),
            absolute,
            imbalance: moved,
        };
        point.norm.is_finite().then_some(point)
    }

    /// a/w (MATH 2.6), brought back to the end of the domain when only the rounding of w·(a/w) put it outside.
    fn unweighted(&self, a: f64, w: f64, y: f64) -> f64 {
        let (ratio, (lower, upper)) = (a / w, self.loss.domain(y));
        let clipped = ratio.clamp(lower, upper);
        if (ratio - clipped).abs() <= 4.0 * f64::EPSILON * ratio.abs() { clipped } else { ratio }
    }

    /// Σα_i y_i = Σα_i (y_i − ȳ) where Σα_i = 0 (MATH 2.7): with an intercept and a loss of y − u the targets may be shifted, and
    /// those far from zero lose no digits.
    fn target_centre(&self) -> f64 {
        if !self.intercept || !matches!(self.loss, Loss::Squared | Loss::Huber { .. }) {
            return 0.0;
        }
        let counted = (0..self.nrows()).filter(|&i| self.weight(i) > 0.0);
        let (sum, count) = counted.fold((0.0, 0.0), |(s, c), i| (s + self.y[i], c + 1.0));
        let mean: f64 = sum / count;
        if mean.is_finite() { mean } else { 0.0 }
    }
}

/// The end of τ ± err at which φ, which is concave, is least (MATH 3.13).
pub(crate) fn outer_end(coordinate: Coordinate, tau: f64, error: f64) -> f64 {
    let (low, high) = (tau - error, tau + error);
    if coordinate.phi(low) < coordinate.phi(high) { low } else { high }
}

/// 2|Σα_i| / Σ|α_i| + 4ε (MATH 2.10): the share of the heavier part that is too much; it holds at least half of Σ|α_i|.
fn imbalance(sum: f64, absolute: f64) -> f64 {
    if absolute == 0.0 { 0.0 } else { 2.0 * sum.abs() / absolute + 4.0 * f64::EPSILON }
}
