//! Losses ℓ(u, y) (MATH 2.1–2.6, 2.11–2.13): value, derivatives, conjugate with its exact domain, smoothness.
//!
//! Each loss of one sample is a small type with the same scalar methods; [`Loss`] names them and carries the loops over samples. Losses over
//! all samples together are [`CoupledLoss`]; [`Loss`] only names them.

mod coupled;
mod cox;
mod gamma;
mod huber;
mod likelihood;
mod logistic;
mod multinomial;
mod names;
mod negative_binomial;
mod poisson;
mod squared;
mod squared_hinge;

pub use coupled::{CoupledConjugate, CoupledCurvature, CoupledLoss};
pub(crate) use cox::Cox;
pub use cox::{Baseline, Curve, KaplanMeier, RiskGroup, Survival, Ties, concordance};
pub use gamma::Gamma;
pub use huber::Huber;
pub(crate) use huber::{gained_by_chance, within};
pub use logistic::Logistic;
pub(crate) use multinomial::Multinomial;
pub use negative_binomial::NegativeBinomial;
pub use poisson::Poisson;
pub use squared::Squared;
pub use squared_hinge::SquaredHinge;

use serde::{Deserialize, Serialize};

/// One sample's loss, convex in u and nowhere below zero, which it comes as near to as one likes.
pub trait ScalarLoss: Copy + Send + Sync {
    /// μ: the loss is 1/μ-smooth, its conjugate μ-strongly convex; zero where its curvature has no bound.
    fn mu(self, y: f64) -> f64;
    /// ℓ(u, y).
    fn value(self, u: f64, y: f64) -> f64;
    /// ℓ′(u, y), always inside the domain of the conjugate.
    fn derivative(self, u: f64, y: f64) -> f64;
    /// ℓ″(u, y); at a kink of ℓ′ the larger side.
    fn curvature(self, u: f64, y: f64) -> f64;
    /// A curvature with which a Newton step from u does not pass the least of ℓ (MATH 2.15): 1/μ, or what is enough.
    #[inline(always)]
    fn careful_curvature(self, _u: f64, y: f64) -> f64 {
        1.0 / self.mu(y)
    }
    /// No less than ℓ″ within `reach` of u.
    #[inline(always)]
    fn steepest(self, _u: f64, y: f64, _reach: f64) -> f64 {
        1.0 / self.mu(y)
    }
    /// ℓ″ where ℓ′ = a (MATH 2.14), or a bound of it.
    #[inline(always)]
    fn curvature_of_slope(self, _a: f64, y: f64) -> f64 {
        1.0 / self.mu(y)
    }
    /// ℓ*(a) = sup_u { a u − ℓ(u, y) } (MATH 2.5): +∞ outside its domain.
    fn conjugate(self, a: f64, y: f64) -> f64;
    /// What the rounding of ℓ*(a) is relative to, beside ℓ*(a) itself (MATH 3.12).
    #[inline(always)]
    fn parts(self, a: f64, y: f64) -> f64 {
        // Both parts of ½a² + ya, which may cancel.
        (a * y).abs() + a * a
    }
    /// A maximiser u of a u − ℓ(u, y), finite also at the ends of the domain.
    fn conjugate_derivative(self, a: f64, y: f64) -> f64;
    /// The ends of the closed domain of ℓ*.
    fn domain(self, y: f64) -> (f64, f64);
    /// (v, z) with ℓ(v, z) = ℓ(u + b, y).
    #[inline(always)]
    fn shifted(self, u: f64, b: f64, y: f64) -> (f64, f64) {
        (u + b, y)
    }
}

/// y − u − b = (y − fl(u + b)) − err with err = u + b − fl(u + b), as (err, y − fl(u + b)) (MATH 12.1): [`ScalarLoss::shifted`]
/// of a loss of y − u. Whichever two of y, u and b are far from zero and nearly cancel, no digit of the third is lost.
#[inline(always)]
fn shifted_target(u: f64, b: f64, y: f64) -> (f64, f64) {
    let s = u + b;
    let part = s - u;
    let e = (u - (s - part)) + (b - part);
    (if e.is_finite() { e } else { 0.0 }, y - s)
}

/// The largest exponent whose power the derivatives take: beyond it they are cut, so that products of them are numbers.
const LARGEST_EXPONENT: f64 = 230.0;

/// e^u, cut at a number whose square is still finite.
#[inline(always)]
fn exp(u: f64) -> f64 {
    u.min(LARGEST_EXPONENT).exp()
}

/// log y, 0 at 0, where it stands beside a factor that is zero.
#[inline(always)]
fn log(y: f64) -> f64 {
    if y > 0.0 { y.ln() } else { 0.0 }
}

/// e^t − 1 − t ≥ 0, to the last digits also near zero.
#[inline(always)]
fn excess(t: f64) -> f64 {
    if t.abs() > 0.05 {
        return (t.exp_m1() - t).max(0.0);
    }
    let series = [9.0, 8.0, 7.0, 6.0, 5.0, 4.0, 3.0].iter().fold(1.0, |sum, k| 1.0 + t / k * sum);
    0.5 * t * t * series
}

/// (a + y) log(a + y) − y log y, 0 · log 0 = 0 (MATH 2.11): with an error of a few ε of |a|(1 + |log y|) and of itself.
#[inline(always)]
fn log_difference(a: f64, y: f64) -> f64 {
    let m = a + y;
    if a.abs() < 0.5 * y { m * (a / y).ln_1p() + a * y.ln() } else { m * log(m) - y * log(y) }
}

/// max(ℓ″(u), ℓ′(u)/(u − u°)) with u° = log y, where a loss with the log link is least (MATH 2.15).
#[inline(always)]
fn chord<L: ScalarLoss>(loss: L, u: f64, y: f64) -> f64 {
    let (curvature, from) = (loss.curvature(u, y), u - y.ln());
    if from.abs() < 1e-3 { curvature } else { curvature.max(loss.derivative(u, y) / from) }
}

/// The loss of a problem.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Loss {
    /// ½(y − u)².
    Squared,
    /// log(1 + e^{−yu}), y = ±1.
    Logistic,
    /// max(0, 1 − yu)², y = ±1.
    SquaredHinge,
    /// ½r² for |r| ≤ δ, δ|r| − ½δ² beyond, r = y − u.
    Huber {
        /// Where the loss turns from quadratic to linear.
        delta: f64,
    },
    /// e^u − yu + y log y − y, y ≥ 0: counts.
    Poisson,
    /// y e^{−u} + u − log y − 1, y > 0: positive amounts whose spread grows with their mean.
    Gamma,
    /// (y + θ) log((θ + e^u)/(θ + y)) − y (u − log y), y ≥ 0: counts that vary more than Poisson's.
    NegativeBinomial {
        /// The variance of a count of mean m is m + m²/θ.
        theta: f64,
    },
    /// The partial likelihood of Cox, of all samples together ([`CoupledLoss`]).
    Cox {
        /// How events at the same time are counted.
        ties: Ties,
    },
    /// log Σ_k e^{u_k} − u_y of K classes, with an entry of u for each ([`CoupledLoss`]).
    Multinomial {
        /// K.
        classes: usize,
    },
}

/// Runs `$body` with `$loss` bound to the scalar loss: one generic loop, compiled for each loss.
macro_rules! dispatch {
    ($self:expr, $loss:ident => $body:expr) => {
        match $self {
            Loss::Squared => {
                let $loss = Squared;
                $body
            }
            Loss::Logistic => {
                let $loss = Logistic;
                $body
            }
            Loss::SquaredHinge => {
                let $loss = SquaredHinge;
                $body
            }
            Loss::Huber { delta } => {
                let $loss = Huber { delta };
                $body
            }
            Loss::Poisson => {
                let $loss = Poisson;
                $body
            }
            Loss::Gamma => {
                let $loss = Gamma;
                $body
            }
            Loss::NegativeBinomial { theta } => {
                let $loss = NegativeBinomial { theta };
                $body
            }
            Loss::Cox { .. } | Loss::Multinomial { .. } => {
                let $loss = coupled::NotOfOne;
                $body
            }
        }
    };
}

impl Loss {
    /// Whether y must be −1 or +1.
    pub fn is_classification(self) -> bool {
        matches!(self, Self::Logistic | Self::SquaredHinge)
    }

    /// Whether it is a loss of all samples together, not a sum over them: its values of one sample are no numbers.
    pub fn is_coupled(self) -> bool {
        matches!(self, Self::Cox { .. } | Self::Multinomial { .. })
    }

    /// Whether ℓ″ is the constant one, so that the fit on a support is a linear system.
    pub fn is_quadratic(self) -> bool {
        self == Self::Squared
    }

    /// Whether the mean of y is e^u.
    pub fn has_log_link(self) -> bool {
        matches!(self, Self::Poisson | Self::Gamma | Self::NegativeBinomial { .. })
    }

    /// μ of one sample with weight one; zero where ℓ″ has no bound.
    pub fn mu(self, y: f64) -> f64 {
        dispatch!(self, l => l.mu(y))
    }

    /// No less than ℓ″ within `reach` of u.
    pub(crate) fn steepest(self, u: f64, y: f64, reach: f64) -> f64 {
        dispatch!(self, l => l.steepest(u, y, reach))
    }

    /// ℓ″ where ℓ′ = a (MATH 2.14), or 1/μ.
    pub(crate) fn curvature_of_slope(self, a: f64, y: f64) -> f64 {
        dispatch!(self, l => l.curvature_of_slope(a, y))
    }

    /// ℓ(u, y).
    pub fn value(self, u: f64, y: f64) -> f64 {
        dispatch!(self, l => l.value(u, y))
    }

    /// ℓ′(u, y).
    pub fn derivative(self, u: f64, y: f64) -> f64 {
        dispatch!(self, l => l.derivative(u, y))
    }

    /// ℓ″(u, y).
    pub fn curvature(self, u: f64, y: f64) -> f64 {
        dispatch!(self, l => l.curvature(u, y))
    }

    /// ℓ*(a), +∞ outside the domain.
    pub fn conjugate(self, a: f64, y: f64) -> f64 {
        dispatch!(self, l => l.conjugate(a, y))
    }

    /// What the rounding of ℓ*(a) is relative to, beside ℓ*(a) itself (MATH 3.12).
    pub(crate) fn parts(self, a: f64, y: f64) -> f64 {
        dispatch!(self, l => l.parts(a, y))
    }

    /// ℓ*′(a).
    pub fn conjugate_derivative(self, a: f64, y: f64) -> f64 {
        dispatch!(self, l => l.conjugate_derivative(a, y))
    }

    /// The closed domain of ℓ*.
    pub fn domain(self, y: f64) -> (f64, f64) {
        dispatch!(self, l => l.domain(y))
    }

    /// Σ_i w_i ℓ(u_i + b, y_i) (MATH 1.3).
    pub fn total(self, u: &[f64], b: f64, y: &[f64], w: Option<&[f64]>) -> f64 {
        dispatch!(self, l => sum_over(l, (u, b, y), w, ScalarLoss::value))
    }

    /// Σ_i w_i ℓ′(u_i + b, y_i).
    pub fn slope(self, u: &[f64], b: f64, y: &[f64], w: Option<&[f64]>) -> f64 {
        dispatch!(self, l => sum_over(l, (u, b, y), w, ScalarLoss::derivative))
    }

    /// Σ_i w_i ℓ′(u_i + b, y_i) and Σ_i w_i ℓ″(u_i + b, y_i): the one-dimensional problem in the intercept (MATH 2.8).
    pub fn slope_and_curvature(self, u: &[f64], b: f64, y: &[f64], w: Option<&[f64]>) -> (f64, f64) {
        dispatch!(self, l => (
            sum_over(l, (u, b, y), w, ScalarLoss::derivative),
            sum_over(l, (u, b, y), w, ScalarLoss::curvature),
        ))
    }

    /// out_i = w_i ℓ′(u_i + b, y_i) (MATH 3.7).
    pub fn derivatives(self, u: &[f64], b: f64, y: &[f64], w: Option<&[f64]>, out: &mut [f64]) {
        dispatch!(self, l => fill(l, (u, b, y), w, out, ScalarLoss::derivative))
    }

    /// out_i = w_i ℓ″(u_i + b, y_i).
    pub fn curvatures(self, u: &[f64], b: f64, y: &[f64], w: Option<&[f64]>, out: &mut [f64]) {
        dispatch!(self, l => fill(l, (u, b, y), w, out, ScalarLoss::curvature))
    }

    /// out_i = w_i max(ℓ″, floor · c) with c the careful curvature (MATH 2.15).
    pub(crate) fn floored_curvatures(
        self,
        u: &[f64],
        b: f64,
        y: &[f64],
        w: Option<&[f64]>,
        floor: f64,
        out: &mut [f64],
    ) {
        dispatch!(self, l => fill(l, (u, b, y), w, out, |l, u, y| {
            l.curvature(u, y).max(floor * l.careful_curvature(u, y))
        }))
    }
}

/// Σ_i w_i f(u_i + b, y_i), f one of the methods of the loss.
#[inline(always)]
fn sum_over<L: ScalarLoss>(l: L, at: Samples<'_>, w: Option<&[f64]>, f: impl Fn(L, f64, f64) -> f64) -> f64 {
    let (u, b, y) = at;
    let term = |i: usize| {
        let (v, z) = l.shifted(u[i], b, y[i]);
        f(l, v, z)
    };
    match w {
        None => (0..u.len()).map(term).sum(),
        // 0 · ∞ must not become NaN: a sample of weight zero is not there.
        Some(w) => (0..u.len()).filter(|&i| w[i] > 0.0).map(|i| w[i] * term(i)).sum(),
    }
}

/// out_i = w_i f(u_i + b, y_i).
#[inline(always)]
fn fill<L: ScalarLoss>(l: L, at: Samples<'_>, w: Option<&[f64]>, out: &mut [f64], f: impl Fn(L, f64, f64) -> f64) {
    let (u, b, y) = at;
    let term = |i: usize| {
        let (v, z) = l.shifted(u[i], b, y[i]);
        f(l, v, z)
    };
    match w {
        None => out.iter_mut().enumerate().for_each(|(i, o)| *o = term(i)),
        Some(w) => out.iter_mut().enumerate().for_each(|(i, o)| *o = if w[i] > 0.0 { w[i] * term(i) } else { 0.0 }),
    }
}

/// u, b and y.
type Samples<'s> = (&'s [f64], f64, &'s [f64]);
