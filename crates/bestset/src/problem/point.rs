//! Points of a problem: the linear predictor of coefficients, the best intercept, and the dual point of both.

use crate::design;
use crate::design::Column;
use crate::error::Result;
use crate::kernel::compensated::{CompensatedSum, accurate_sum};
use crate::loss::Loss;
use crate::problem::Problem;
use crate::solution::Coefficients;

/// The last digit of an intercept, relative to the residuals, that α is not mended for.
const NEAR: f64 = 1e-12;

impl Problem<'_> {
    /// u at β = 0: the offset, or zero.
    pub fn null_margins(&self) -> Vec<f64> {
        self.offset().map_or_else(|| vec![0.0; self.nrows()], <[f64]>::to_vec)
    }

    /// u = o + Xβ, without the intercept.
    pub fn margins(&self, coefficients: &Coefficients) -> Result<Vec<f64>> {
        let mut u = self.null_margins();
        for (j, b) in coefficients.iter().filter(|c| c.1 != 0.0) {
            self.design.axpy(j, b, &mut u)?;
        }
        Ok(u)
    }

    /// (u, b) with u + b = o + Σ_j β_j(x_j − x°_j) + (β₀ + Σ_j β_jx°_j) (MATH 12.1): of columns and offsets far from zero b has
    /// the far part, u keeps the digits of what varies.
    pub fn predictor(&self, coefficients: &Coefficients) -> Result<(Vec<f64>, f64)> {
        let mut u = self.null_margins();
        let mut b = CompensatedSum::default();
        b.add(coefficients.intercept);
        let far = design::anchor(&u, self.weights());
        if far != 0.0 {
            b.add(far);
            u.iter_mut().for_each(|u| *u -= far);
        }
        let (features, values): (Vec<usize>, Vec<f64>) = coefficients.iter().filter(|c| c.1 != 0.0).unzip();
        let mut add = |k: usize, column: &mut Column| {
            let value = values[k];
            let anchor = column.anchor(self.nrows(), self.weights());
            b.add_product(value, anchor);
            b.add_product(value, column.shift);
            if column.sparse {
                column.rows.iter().zip(&column.values).for_each(|(&i, x)| u[i as usize] += value * (x - anchor));
            } else {
                u.iter_mut().zip(&column.values).for_each(|(u, x)| *u += value * (x - anchor));
            }
        };
        self.design.columns(&features, &mut add)?;
        // What the last digit of b has no room for.
        let (value, left) = b.split();
        u.iter_mut().filter(|_| left != 0.0).for_each(|u| *u += left);
        Ok((u, value))
    }

    /// Σ_i w_i ℓ(o_i + x_iᵀβ + b, y_i).
    pub fn loss_at(&self, coefficients: &Coefficients) -> Result<f64> {
        let (u, b) = self.predictor(coefficients)?;
        Ok(self.loss_sum(&u, b))
    }

    /// As [`Problem::loss_at`], of coefficients whose P is known: what is left of it without the penalties, where the columns cannot be
    /// read any more.
    pub fn loss_of(&self, coefficients: &Coefficients, objective: f64) -> f64 {
        self.loss_at(coefficients).unwrap_or_else(|_| objective - self.penalty_sum(coefficients))
    }

    /// Σ_i w_i ℓ(u_i + b, y_i) (MATH 1.3).
    pub fn loss_sum(&self, u: &[f64], b: f64) -> f64 {
        if let Some(coupled) = self.coupled() {
            // A constant changes nothing.
            return coupled.value(u);
        }
        self.loss.total(u, b, &self.y, self.weights())
    }

    /// argmin_b Σ_i w_i ℓ(u_i + b, y_i) (MATH 2.8), started at `guess` or a better one; zero without an intercept.
    ///
    /// Newton steps inside a bracket of the monotone derivative, to the last digit.
    pub fn best_intercept(&self, u: &[f64], guess: f64) -> f64 {
        if !self.intercept {
            return 0.0;
        }
        if self.loss.is_quadratic() {
            return self.mean_intercept(u, guess);
        }
        let guess = self.log_mean_intercept(u).unwrap_or(guess);
        let slope = |b: f64| self.loss.slope_and_curvature(u, b, &self.y, self.weights());
        let (mut low, mut high) = (f64::NEG_INFINITY, f64::INFINITY);
        // Where a loss changes its shape.
        let unit = if let Loss::Huber { delta } = self.loss { delta } else { 1.0 };
        let (mut b, mut width) = (guess, unit.max(guess.abs()));
        let (mut nearest, mut least, mut is_close) = (guess, f64::INFINITY, false);
        for _ in 0..200 {
            let (s, c) = slope(b);
            if s.abs() <= least {
                (nearest, least) = (b, s.abs());
            }
            if s > 0.0 {
                high = b
            } else {
                low = b
            }
            let newton = b - s / c;
            // There, or less than the last digit away: but what is linear at some distance may be so within a digit.
            if s == 0.0 || newton == b && !matches!(self.loss, Loss::Huber { .. }) {
                break;
            }
            let next = if newton > low && newton < high && (newton - b).abs() <= 2.0 * width {
                newton
            } else if low.is_finite() && high.is_finite() {
                0.5 * (low + high)
            } else {
                // Mostly the next digit is on the other side already.
                width = if newton == b && !is_close { 4.0 * f64::EPSILON * b.abs() } else { 16.0 * width };
                is_close |= newton == b;
                if s > 0.0 { b - width } else { b + width }
            };
            if next == b || next == low || next == high {
                break;
            }
            width = if low.is_finite() && high.is_finite() { width } else { width.max((next - b).abs()) };
            b = next;
        }
        nearest
    }

    /// log(Σ w_iy_i / Σ w_ie^{u_i}), the best b for Poisson and a start for the negative binomial, and log(Σ w_iy_ie^{−u_i} / Σ w_i), that
    /// for Gamma (MATH 2.8); `None` for losses without the log link, and where it is no number.
    fn log_mean_intercept(&self, u: &[f64]) -> Option<f64> {
        if !self.loss.has_log_link() {
            return None;
        }
        let is_amount = self.loss == Loss::Gamma;
        let log_sum = |term: &dyn Fn(usize) -> f64| {
            let counted = || (0..u.len()).filter(|&i| self.weight(i) > 0.0).map(term);
            let most = counted().fold(f64::NEG_INFINITY, f64::max);
            most + counted().map(|t| (t - most).exp()).sum::<f64>().ln()
        };
        let log_weight = |i: usize| self.weight(i).ln();
        let (above, below) = match is_amount {
            true => (log_sum(&|i| log_weight(i) + self.y[i].ln() - u[i]), log_sum(&log_weight)),
            false => (log_sum(&|i| log_weight(i) + self.y[i].ln()), log_sum(&|i| log_weight(i) + u[i])),
        };
        Some(above - below).filter(|b| b.is_finite())
    }

    /// Σ w_i (y_i − u_i) / Σ w_i (MATH 2.8). From a guess as far as the residuals are large one step is exact; more of them mend
    /// what a farther one rounds.
    fn mean_intercept(&self, u: &[f64], guess: f64) -> f64 {
        let total = self.weights().map_or(self.nrows() as f64, crate::kernel::sum);
        let mut b = guess;
        for _ in 0..3 {
            let next = b - self.loss.slope(u, b, &self.y, self.weights()) / total;
            let step = (next - b).abs();
            b = next;
            if step <= 1e-3 * b.abs() {
                break;
            }
        }
        b
    }

    /// α_i = w_i ℓ′(u_i + b, y_i) (MATH 3.7), or ∇L(u), the dual point of a primal point, made feasible for the intercept.
    pub fn dual_point(&self, u: &[f64], b: f64, alpha: &mut [f64]) {
        self.derivatives(u, b, alpha);
        if self.intercept {
            self.finish_intercept(b, alpha);
            balance(alpha);
        }
    }

    /// A Newton step of b that its last digit has no room for (MATH 12.2), taken in α where the loss is one of y − u: next to
    /// nothing, but for targets far from zero.
    fn finish_intercept(&self, b: f64, alpha: &mut [f64]) {
        let reach = match self.loss {
            Loss::Squared => f64::INFINITY,
            Loss::Huber { delta } => delta,
            _ => return,
        };
        let digits = f64::EPSILON * b.abs() * (alpha.len() as f64).sqrt();
        if self.weights.is_none() && digits <= NEAR * crate::kernel::squares(alpha).sqrt() {
            return;
        }
        // Beyond its quadratic part a loss does not answer.
        let answers = |i: usize, a: f64| self.weight(i) > 0.0 && a.abs() < self.weight(i) * reach;
        let total: f64 = (0..alpha.len()).filter(|&i| answers(i, alpha[i])).map(|i| self.weight(i)).sum();
        let step = accurate_sum(alpha.iter().copied()) / total;
        for (i, a) in alpha.iter_mut().enumerate().filter(|(i, a)| step.is_finite() && answers(*i, **a)) {
            let (w, end) = (self.weight(i), self.weight(i) * reach);
            *a = (*a - w * step).clamp(-end, end);
        }
    }

    /// The curvature of the loss for each unit of ‖x_j‖² (MATH 2.14) that steps and prices are made with: 1/μ where it is the same
    /// for all samples, else Σ w_i ℓ″ / Σ w_i at the dual point α. A guess, which no bound rests on.
    pub(crate) fn typical_curvature(&self, alpha: &[f64]) -> f64 {
        if !self.loss.has_log_link() {
            return 1.0 / self.mu();
        }
        let (sum, total, _) = self.curvatures_of(alpha);
        (sum / total).max(f64::MIN_POSITIVE)
    }

    /// As [`Problem::typical_curvature`], at coefficients.
    pub(crate) fn typical_curvature_at(&self, coefficients: &Coefficients) -> Result<f64> {
        if !self.loss.has_log_link() {
            return Ok(1.0 / self.mu());
        }
        let (u, mut alpha) = (self.margins(coefficients)?, vec![0.0; self.nrows()]);
        self.dual_point(&u, self.best_intercept(&u, coefficients.intercept), &mut alpha);
        Ok(self.typical_curvature(&alpha))
    }

    /// As [`Problem::typical_curvature`], the largest of all samples.
    pub(crate) fn largest_curvature(&self, alpha: &[f64]) -> f64 {
        if self.loss.has_log_link() { self.curvatures_of(alpha).2 } else { 1.0 / self.mu() }
    }

    /// Σ w_i ℓ″, Σ w_i and max ℓ″ at α (MATH 2.14).
    fn curvatures_of(&self, alpha: &[f64]) -> (f64, f64, f64) {
        let counted = alpha.iter().enumerate().filter(|a| self.weight(a.0) > 0.0);
        counted.fold((0.0, 0.0, 0.0f64), |(sum, total, most), (i, a)| {
            let w = self.weight(i);
            let curvature = self.loss.curvature_of_slope(a / w, self.y[i]);
            (sum + w * curvature, total + w, most.max(curvature))
        })
    }

    /// α_i ← clip_i(α_i − w_i υ) (MATH 2.9): the nearest point of the dual domain, conjugates finite and, with an intercept, Σ
    /// α_i = 0.
    ///
    /// Nearest in √(Σ a_i² / w_i), the norm of the ball (MATH 5.1): a sample of weight w moves like w samples, and a
    /// projected ascent whose steps are scaled by w has its fixed points at the maxima of D.
    pub fn project(&self, alpha: &mut [f64]) {
        if let Some(coupled) = self.coupled() {
            // There may be no point.
            if !alpha.is_empty() {
                coupled.project(alpha);
            }
            return;
        }
        let clip = |i: usize, a: f64| {
            let (lower, upper) = self.loss.domain(self.y[i]);
            let w = self.weight(i);
            if w > 0.0 { a.clamp(w * lower, w * upper) } else { 0.0 }
        };
        if !self.intercept {
            alpha.iter_mut().enumerate().for_each(|(i, a)| *a = clip(i, *a));
            return;
        }
        let nu = self.centring_shift(alpha, clip);
        alpha.iter_mut().enumerate().for_each(|(i, a)| *a = clip(i, *a - self.weight(i) * nu));
        balance(alpha);
    }

    /// The root υ of Σ_i clip_i(α_i − w_i υ) (MATH 2.9), which falls with υ and is piecewise linear: Newton steps inside a
    /// bracket end at the root after a few pieces.
    fn centring_shift(&self, alpha: &[f64], clip: impl Fn(usize, f64) -> f64) -> f64 {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        let (mut sum, mut weight) = (0.0, 0.0);
        for (i, a) in alpha.iter().enumerate().filter(|p| self.weight(p.0) > 0.0) {
            let (w, ratio) = (self.weight(i), a / self.weight(i));
            // Domains contain 0: below every ratio no clipped term is negative, above every ratio none is positive.
            (low, high) = (low.min(ratio), high.max(ratio));
            (sum, weight) = (sum + a, weight + w);
        }
        let mut nu = sum / weight;
        for _ in 0..200 {
            let (mut total, mut size, mut moving) = (0.0, 0.0, 0.0);
            for (i, a) in alpha.iter().enumerate() {
                let (w, shifted) = (self.weight(i), a - self.weight(i) * nu);
                let clipped = clip(i, shifted);
                total += clipped;
                size += clipped.abs();
                moving += if clipped == shifted { w } else { 0.0 };
            }
            // Below the rounding of the sum there is no root to be found, only a walk away from it.
            if total.abs() <= f64::EPSILON * size {
                break;
            }
            if total > 0.0 {
                low = nu
            } else {
                high = nu
            }
            let newton = nu + total / moving;
            let next = if newton > low && newton < high { newton } else { 0.5 * (low + high) };
            if next == nu || next == low || next == high {
                break;
            }
            nu = next;
        }
        nu
    }
}

/// Shrinks the heavier of the positive and negative parts until Σ α_i = 0 (MATH 2.7); what rounding leaves is (MATH 2.10). Domains of conjugates contain 0 and are
/// convex, so the point stays inside.
fn balance(alpha: &mut [f64]) {
    let positive = accurate_sum(alpha.iter().copied().filter(|a| *a > 0.0));
    let negative = -accurate_sum(alpha.iter().copied().filter(|a| *a < 0.0));
    let (shrink_positive, ratio) =
        if positive > negative { (true, negative / positive) } else { (false, positive / negative) };
    if !ratio.is_finite() {
        return;
    }
    for a in alpha.iter_mut() {
        if (*a > 0.0) == shrink_positive {
            *a *= ratio;
        }
    }
}
