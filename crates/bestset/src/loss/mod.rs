//! Losses ℓ(u, y) (MATH 2.1–2.6): value, derivatives, conjugate with its exact domain, smoothness.
//!
//! Each loss of one sample is a small type with the same scalar methods; [`Loss`] names them and carries the loops over samples. Losses over
//! all samples together are [`CoupledLoss`]; [`Loss`] only names them.

mod coupled;
mod cox;
mod huber;
mod logistic;
mod multinomial;
mod squared;
mod squared_hinge;

pub use coupled::{CoupledConjugate, CoupledCurvature, CoupledLoss};
pub(crate) use cox::Cox;
pub use cox::{Baseline, Curve, Survival, Ties, concordance};
pub use huber::Huber;
pub use logistic::Logistic;
pub(crate) use multinomial::Multinomial;
pub use squared::Squared;
pub use squared_hinge::SquaredHinge;

use serde::{Deserialize, Serialize};

/// One sample's loss, 1/μ-smooth and convex in u.
pub trait ScalarLoss: Copy + Send + Sync {
    /// μ: the loss is 1/μ-smooth, its conjugate μ-strongly convex.
    fn mu(self) -> f64;
    /// ℓ(u, y).
    fn value(self, u: f64, y: f64) -> f64;
    /// ℓ′(u, y), always inside the domain of the conjugate.
    fn derivative(self, u: f64, y: f64) -> f64;
    /// ℓ″(u, y); at a kink of ℓ′ the larger side.
    fn curvature(self, u: f64, y: f64) -> f64;
    /// ℓ*(a) = sup_u { a u − ℓ(u, y) } (MATH 2.5): +∞ outside its domain.
    fn conjugate(self, a: f64, y: f64) -> f64;
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
            Loss::Cox { .. } | Loss::Multinomial { .. } => {
                let $loss = coupled::NotOfOne;
                $body
            }
        }
    };
}

impl Loss {
    /// The name used on the command line and in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Squared => "squared",
            Self::Logistic => "logistic",
            Self::SquaredHinge => "squared_hinge",
            Self::Huber { .. } => "huber",
            Self::Cox { .. } => "cox",
            Self::Multinomial { .. } => "multinomial",
        }
    }

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

    /// μ of one sample with weight one.
    pub fn mu(self) -> f64 {
        dispatch!(self, l => l.mu())
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
