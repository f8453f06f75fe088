//! The problem of MATH §1 and the functions of it that solvers and certificates use: P, R, D and the dual point.

use crate::certificate::Certificate;
use crate::design::{Column, Design, Moments};
use crate::error::{Error, Result, check_finite, check_length, check_weights};
use crate::loss::Loss;
use crate::penalty::{Coordinate, Penalty};
use crate::solution::Coefficients;
use columns::Lengths;
use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

mod bound;
mod columns;

pub(crate) use bound::outer_end;

/// minimise P(β, b) = Σ_i w_i ℓ(o_i + x_iᵀβ + b, y_i) + λ0‖β‖₀ + λ1‖β‖₁ + λ2‖β‖², optionally within bounds and ‖β‖₀ ≤ k.
///
/// Sums, never means; no ½ on the ridge term.
#[derive(Clone)]
pub struct Problem<'a> {
    design: &'a dyn Design,
    y: Cow<'a, [f64]>,
    loss: Loss,
    penalty: Penalty,
    weights: Option<Cow<'a, [f64]>>,
    offset: Option<Cow<'a, [f64]>>,
    intercept: bool,
    max_size: Option<usize>,
    lengths: Arc<OnceLock<Lengths>>,
    moments: Arc<OnceLock<Vec<Moments>>>,
}

impl<'a> Problem<'a> {
    /// Squared loss, no weights, no intercept, no limit on the size. Checks every input.
    pub fn new(design: &'a dyn Design, y: impl Into<Cow<'a, [f64]>>, penalty: Penalty) -> Result<Self> {
        let y = y.into();
        if design.nrows() == 0 || design.ncols() == 0 {
            return Err(Error::Empty { rows: design.nrows(), columns: design.ncols() });
        }
        check_length("y", y.len(), design.nrows())?;
        check_finite("y", &y)?;
        penalty.validate(design.ncols())?;
        let (loss, weights, offset, intercept, max_size) = (Loss::Squared, None, None, false, None);
        let (lengths, moments) = (Arc::default(), Arc::default());
        Ok(Self { design, y, loss, penalty, weights, offset, intercept, max_size, lengths, moments })
    }

    /// Uses another loss; classification losses need labels −1 and +1, both present.
    pub fn with_loss(mut self, loss: Loss) -> Result<Self> {
        if let Loss::Huber { delta } = loss
            && !(delta > 0.0 && delta.is_finite())
        {
            return Err(Error::Range { name: "delta", value: delta, range: "finite and above 0" });
        }
        self.loss = loss;
        self.check_labels()?;
        Ok(self)
    }

    /// Gives sample i the weight w_i ≥ 0: the same as repeating it w_i times.
    pub fn with_weights(mut self, weights: impl Into<Cow<'a, [f64]>>) -> Result<Self> {
        let weights = weights.into();
        check_weights(&weights, self.nrows())?;
        self.weights = Some(weights);
        (self.lengths, self.moments) = (Arc::default(), Arc::default());
        self.check_labels()?;
        Ok(self)
    }

    /// Adds a fixed term o_i to the linear predictor of each sample, such as the margin of a model already fitted.
    pub fn with_offset(mut self, offset: impl Into<Cow<'a, [f64]>>) -> Result<Self> {
        let offset = offset.into();
        check_length("offset", offset.len(), self.nrows())?;
        check_finite("offset", &offset)?;
        self.offset = Some(offset);
        Ok(self)
    }

    /// Adds an unpenalised intercept b.
    pub fn with_intercept(mut self, intercept: bool) -> Self {
        self.intercept = intercept;
        self
    }

    /// Allows at most k features: the k-sparse problem when λ0 = 0.
    pub fn with_max_size(mut self, k: usize) -> Result<Self> {
        if k == 0 || k > self.ncols() {
            return Err(Error::Size { k, features: self.ncols() });
        }
        self.max_size = Some(k);
        Ok(self)
    }

    /// The same problem with any number of features allowed.
    pub(crate) fn without_max_size(&self) -> Self {
        Self { max_size: None, ..self.clone() }
    }

    /// The same data under another penalty; what is known of the columns is kept.
    pub fn with_penalty(&self, penalty: Penalty) -> Result<Self> {
        penalty.validate(self.ncols())?;
        Ok(Self { penalty, ..self.clone() })
    }

    fn check_labels(&self) -> Result<()> {
        if !self.loss.is_classification() {
            return Ok(());
        }
        if let Some(index) = self.y.iter().position(|&v| v != 1.0 && v != -1.0) {
            return Err(Error::Label { index, value: self.y[index] });
        }
        let mut counted = (0..self.nrows()).filter(|&i| self.weight(i) > 0.0).map(|i| self.y[i]);
        let first = counted.next().unwrap_or(1.0);
        if counted.all(|v| v == first) { Err(Error::OneClass { label: first }) } else { Ok(()) }
    }

    /// Number of samples n.
    pub fn nrows(&self) -> usize {
        self.design.nrows()
    }

    /// Number of features p.
    pub fn ncols(&self) -> usize {
        self.design.ncols()
    }

    /// The matrix X.
    pub fn design(&self) -> &'a dyn Design {
        self.design
    }

    /// The targets or labels.
    pub fn y(&self) -> &[f64] {
        &self.y
    }

    /// The loss.
    pub fn loss(&self) -> Loss {
        self.loss
    }

    /// The penalty.
    pub fn penalty(&self) -> &Penalty {
        &self.penalty
    }

    /// The sample weights, if any.
    pub fn weights(&self) -> Option<&[f64]> {
        self.weights.as_deref()
    }

    /// The fixed terms of the linear predictor, if any.
    pub fn offset(&self) -> Option<&[f64]> {
        self.offset.as_deref()
    }

    /// Whether there is an intercept.
    pub fn has_intercept(&self) -> bool {
        self.intercept
    }

    /// The largest number of features allowed, if limited.
    pub fn max_size(&self) -> Option<usize> {
        self.max_size
    }

    /// The penalty of coefficient j.
    #[inline]
    pub fn coordinate(&self, j: usize) -> Coordinate {
        self.penalty.at(j)
    }

    fn weight(&self, i: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |w| w[i])
    }

    /// u at β = 0: the offset, or zero.
    pub fn null_margins(&self) -> Vec<f64> {
        self.offset().map_or_else(|| vec![0.0; self.nrows()], <[f64]>::to_vec)
    }

    /// u = o + Xβ, without the intercept.
    pub fn margins(&self, coefficients: &Coefficients) -> Vec<f64> {
        let mut u = self.null_margins();
        for (j, b) in coefficients.iter().filter(|c| c.1 != 0.0) {
            self.design.axpy(j, b, &mut u);
        }
        u
    }

    /// (u, b) with u + b = o + Xβ + intercept. Of columns far from zero b has the far part: u keeps the digits of what varies.
    pub fn predictor(&self, coefficients: &Coefficients) -> (Vec<f64>, f64) {
        let (mut u, mut column) = (self.null_margins(), Column::default());
        let mut b = bound::Sum::default();
        b.add(coefficients.intercept);
        for (j, value) in coefficients.iter().filter(|c| c.1 != 0.0) {
            self.design.column(j, &mut column);
            let anchor = column.anchor(self.nrows());
            b.add_product(value, anchor);
            b.add_product(value, column.shift);
            if column.sparse {
                column.rows.iter().zip(&column.values).for_each(|(&i, x)| u[i as usize] += value * (x - anchor));
            } else {
                u.iter_mut().zip(&column.values).for_each(|(u, x)| *u += value * (x - anchor));
            }
        }
        (u, b.value())
    }

    /// Σ_i w_i ℓ(o_i + x_iᵀβ + b, y_i).
    pub fn loss_at(&self, coefficients: &Coefficients) -> f64 {
        let (u, b) = self.predictor(coefficients);
        self.loss_sum(&u, b)
    }

    /// Σ_i w_i ℓ(u_i + b, y_i).
    pub fn loss_sum(&self, u: &[f64], b: f64) -> f64 {
        self.loss.total(u, b, &self.y, self.weights())
    }

    /// argmin_b Σ_i w_i ℓ(u_i + b, y_i), started at `guess`; zero without an intercept.
    ///
    /// Newton steps inside a bracket of the monotone derivative, to the last digit.
    pub fn best_intercept(&self, u: &[f64], guess: f64) -> f64 {
        if !self.intercept {
            return 0.0;
        }
        let slope = |b: f64| self.loss.slope_and_curvature(u, b, &self.y, self.weights());
        let (mut low, mut high) = (f64::NEG_INFINITY, f64::INFINITY);
        let (mut b, mut width) = (guess, 1.0f64.max(guess.abs()));
        let (mut nearest, mut least) = (guess, f64::INFINITY);
        for _ in 0..200 {
            let (s, c) = slope(b);
            if s.abs() < least {
                (nearest, least) = (b, s.abs());
            }
            if s > 0.0 {
                high = b
            } else {
                low = b
            }
            let newton = b - s / c;
            // There, or less than the last digit away.
            if s == 0.0 || newton == b {
                break;
            }
            // The slope of a quadratic loss is a line, and its root as far as it likes.
            let is_near = self.loss.is_quadratic() || (newton - b).abs() <= 2.0 * width;
            let next = if newton > low && newton < high && is_near {
                newton
            } else if low.is_finite() && high.is_finite() {
                0.5 * (low + high)
            } else {
                width *= 2.0;
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

    /// α_i = w_i ℓ′(u_i + b, y_i), the dual point of a primal point (MATH §3), made feasible for the intercept.
    pub fn dual_point(&self, u: &[f64], b: f64, alpha: &mut [f64]) {
        self.loss.derivatives(u, b, &self.y, self.weights(), alpha);
        if self.intercept {
            self.finish_intercept(alpha);
            balance(alpha);
        }
    }

    /// A Newton step of b that its last digit has no room for, taken in α where the loss is one of y − u: next to nothing, but for
    /// targets far from zero.
    fn finish_intercept(&self, alpha: &mut [f64]) {
        let reach = match self.loss {
            Loss::Squared => f64::INFINITY,
            Loss::Huber { delta } => delta,
            _ => return,
        };
        // Beyond its quadratic part a loss does not answer.
        let answers = |i: usize, a: f64| self.weight(i) > 0.0 && a.abs() < self.weight(i) * reach;
        let total: f64 = (0..alpha.len()).filter(|&i| answers(i, alpha[i])).map(|i| self.weight(i)).sum();
        let step = bound::accurate_sum(alpha.iter().copied()) / total;
        for (i, a) in alpha.iter_mut().enumerate().filter(|(i, a)| step.is_finite() && answers(*i, **a)) {
            let (w, end) = (self.weight(i), self.weight(i) * reach);
            *a = (*a - w * step).clamp(-end, end);
        }
    }

    /// Nearest point of the dual domain: conjugates finite and, with an intercept, Σ α_i = 0.
    ///
    /// Nearest in √(Σ a_i² / w_i), the norm of the ball of MATH §5: a sample of weight w moves like w samples, and a
    /// projected ascent whose steps are scaled by w has its fixed points at the maxima of D.
    pub fn project(&self, alpha: &mut [f64]) {
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

    /// The root ν of Σ clip_i(α_i − w_i ν), which falls with ν and is piecewise linear: Newton steps inside a bracket
    /// end at the root after a few pieces.
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

    /// Σ_j π(β_j), the penalty in P; +∞ outside the bounds or the allowed size.
    pub fn penalty_sum(&self, coefficients: &Coefficients) -> f64 {
        if self.max_size.is_some_and(|k| coefficients.nonzeros() > k) {
            return f64::INFINITY;
        }
        coefficients.iter().map(|(j, b)| self.coordinate(j).value(b)).sum()
    }

    /// Σ_j ρ(β_j), the penalty in R.
    pub fn envelope_sum(&self, coefficients: &Coefficients) -> f64 {
        coefficients.iter().map(|(j, b)| self.coordinate(j).envelope(b)).sum()
    }

    /// P(β, b), from scratch; +∞ outside the bounds or the allowed size. Features must ascend and be those of the design.
    pub fn objective(&self, coefficients: &Coefficients) -> Result<f64> {
        coefficients.check_places(self.ncols())?;
        Ok(self.value(coefficients))
    }

    /// P(β, b), from scratch, of coefficients whose features are known to be those of the design.
    pub(crate) fn value(&self, coefficients: &Coefficients) -> f64 {
        self.loss_at(coefficients) + self.penalty_sum(coefficients)
    }

    /// R(β, b) of MATH §4, from scratch; `None` when the size is limited, for which R is not the relaxation.
    pub fn relaxation(&self, coefficients: &Coefficients) -> Option<f64> {
        self.max_size.is_none().then(|| self.loss_at(coefficients) + self.envelope_sum(coefficients))
    }

    /// D(α) from scratch: projects α onto the dual domain, one pass over X.
    pub fn lower_bound(&self, alpha: &[f64]) -> f64 {
        let mut alpha = alpha.to_vec();
        self.project(&mut alpha);
        let features: Vec<usize> = (0..self.ncols()).collect();
        let mut tau = vec![0.0; features.len()];
        self.design.correlate(&features, &alpha, &mut tau);
        self.dual_value(&alpha, &features, &tau)
    }

    /// A bound and gaps for any coefficients, from any solver: the best of the dual points given and the one of the
    /// coefficients themselves. The coefficients must fit the design, the dual points the samples.
    pub fn certify(&self, coefficients: &Coefficients, dual_points: &[&[f64]]) -> Result<Certificate> {
        coefficients.check_places(self.ncols())?;
        dual_points.iter().try_for_each(|a| check_length("dual point", a.len(), self.nrows()))?;
        let (u, b) = self.predictor(coefficients);
        let loss = self.loss_sum(&u, b);
        let mut own = vec![0.0; self.nrows()];
        self.dual_point(&u, self.best_intercept(&u, b), &mut own);
        let bounds = dual_points.iter().copied().chain([own.as_slice()]).map(|a| self.lower_bound(a));
        Ok(Certificate {
            objective: loss + self.penalty_sum(coefficients),
            relaxation: self.max_size.is_none().then(|| loss + self.envelope_sum(coefficients)),
            lower_bound: bounds.fold(f64::NEG_INFINITY, f64::max),
        })
    }
}

/// Shrinks the heavier of the positive and negative parts until Σ α_i = 0. Domains of conjugates contain 0 and are
/// convex, so the point stays inside.
fn balance(alpha: &mut [f64]) {
    let positive = bound::accurate_sum(alpha.iter().copied().filter(|a| *a > 0.0));
    let negative = -bound::accurate_sum(alpha.iter().copied().filter(|a| *a < 0.0));
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
