//! The penalty λ0‖β‖₀ + λ1‖β‖₁ + λ2‖β‖² with optional factors and bounds for each coefficient.
//!
//! All formulas live in [`Coordinate`], the penalty of one coefficient; [`Penalty`] says which coordinate penalty a
//! feature has.

mod coordinate;

pub use coordinate::Coordinate;

use crate::error::{Error, Result, check_length};
use serde::{Deserialize, Serialize};

/// Bounds lo_j ≤ β_j ≤ hi_j with lo_j ≤ 0 ≤ hi_j.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub enum Bounds {
    /// No bounds.
    #[default]
    Free,
    /// The same bounds for every coefficient; `All(0.0, f64::INFINITY)` is non-negativity.
    All(f64, f64),
    /// Lower and upper bounds, one each per feature.
    Each(Vec<f64>, Vec<f64>),
}

impl Bounds {
    /// The bounds of feature j.
    #[inline]
    pub fn at(&self, j: usize) -> (f64, f64) {
        match self {
            Self::Free => (f64::NEG_INFINITY, f64::INFINITY),
            Self::All(lower, upper) => (*lower, *upper),
            Self::Each(lower, upper) => (lower[j], upper[j]),
        }
    }
}

/// Factors f_j ≥ 0 that multiply a λ, one for each feature.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub enum Factors {
    /// Every factor is one.
    #[default]
    One,
    /// One factor per feature.
    Each(Vec<f64>),
}

impl Factors {
    /// The factor of feature j.
    #[inline]
    pub fn at(&self, j: usize) -> f64 {
        match self {
            Self::One => 1.0,
            Self::Each(factors) => factors[j],
        }
    }

    /// The factors of some features, in their order.
    fn of(&self, features: &[usize]) -> Self {
        match self {
            Self::One => Self::One,
            Self::Each(factors) => Self::Each(features.iter().map(|&j| factors[j]).collect()),
        }
    }

    fn validate(&self, name: &'static str, p: usize) -> Result<()> {
        let Self::Each(factors) = self else { return Ok(()) };
        check_length(name, factors.len(), p)?;
        match factors.iter().position(|f| !(*f >= 0.0 && f.is_finite())) {
            Some(feature) => Err(Error::Factor { name, feature, value: factors[feature] }),
            None => Ok(()),
        }
    }
}

/// Σ_j [ f_j λ0 [β_j ≠ 0] + h_j (λ1|β_j| + λ2β_j²) ] within bounds (MATH 9.1); all factors f, h are one unless given.
///
/// A price factor of zero makes a feature free: it is in the model whenever it helps at all ([`Penalty::always`]). Where the size
/// is limited it counts as any other does. Bounds of zero keep it out ([`Penalty::never`]). A shrinkage factor of zero leaves it
/// unshrunk, and then only bounds on the coefficient keep the dual finite (MATH 3.1).
///
/// ```
/// use bestset::{Bounds, Penalty};
///
/// // Six features: the first is always available, the last never, the others must not be negative.
/// let penalty = Penalty::new(0.5, 0.0, 0.1).with_bounds(Bounds::All(0.0, f64::INFINITY));
/// let penalty = penalty.always(&[0], 6)?.never(&[5], 6)?;
/// assert_eq!((penalty.at(0).l0, penalty.at(1).l0), (0.0, 0.5));
/// assert_eq!((penalty.at(4).upper, penalty.at(5).upper), (f64::INFINITY, 0.0));
/// # Ok::<(), bestset::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Penalty {
    /// Price of one selected feature, λ0 ≥ 0.
    pub lambda0: f64,
    /// Price of absolute size, λ1 ≥ 0.
    pub lambda1: f64,
    /// Price of squared size, λ2 ≥ 0 (no factor ½).
    pub lambda2: f64,
    /// Bounds on the coefficients.
    pub bounds: Bounds,
    /// Factors of λ0.
    #[serde(default)]
    pub price: Factors,
    /// Factors of λ1 and λ2.
    #[serde(default)]
    pub shrinkage: Factors,
}

impl Penalty {
    /// The penalty without factors and bounds.
    pub fn new(lambda0: f64, lambda1: f64, lambda2: f64) -> Self {
        let (bounds, price, shrinkage) = (Bounds::Free, Factors::One, Factors::One);
        Self { lambda0, lambda1, lambda2, bounds, price, shrinkage }
    }

    /// The same penalty within bounds.
    pub fn with_bounds(mut self, bounds: Bounds) -> Self {
        self.bounds = bounds;
        self
    }

    /// The same penalty with a factor of λ0 for each feature.
    pub fn with_price(mut self, factors: Vec<f64>) -> Self {
        self.price = Factors::Each(factors);
        self
    }

    /// The same penalty with a factor of λ1 and λ2 for each feature.
    pub fn with_shrinkage(mut self, factors: Vec<f64>) -> Self {
        self.shrinkage = Factors::Each(factors);
        self
    }

    /// Makes these of the p features free of λ0.
    pub fn always(self, features: &[usize], p: usize) -> Result<Self> {
        self.check_list("the features always in", features, p, |j| self.bounds.at(j) != (0.0, 0.0))?;
        let mut factors: Vec<f64> = (0..p).map(|j| self.price.at(j)).collect();
        features.iter().for_each(|&j| factors[j] = 0.0);
        Ok(self.with_price(factors))
    }

    /// Keeps these of the p features out: their coefficients are bounded by zero on both sides.
    pub fn never(self, features: &[usize], p: usize) -> Result<Self> {
        self.check_list("the features never in", features, p, |j| self.price.at(j) > 0.0)?;
        let (mut lower, mut upper): (Vec<f64>, Vec<f64>) = (0..p).map(|j| self.bounds.at(j)).unzip();
        features.iter().for_each(|&j| (lower[j], upper[j]) = (0.0, 0.0));
        Ok(self.with_bounds(Bounds::Each(lower, upper)))
    }

    fn check_list(
        &self,
        what: &'static str,
        features: &[usize],
        p: usize,
        allowed: impl Fn(usize) -> bool,
    ) -> Result<()> {
        self.validate(p)?;
        for (position, &index) in features.iter().enumerate() {
            let bad = |problem| Err(Error::Index { what, position, index, problem });
            if index >= p {
                return bad("beyond the last feature");
            }
            if !allowed(index) {
                return bad(
                    "it is to be kept out, and it is also always in or has a price factor of 0; drop one of the two",
                );
            }
        }
        Ok(())
    }

    /// f_jλ0 → f_jλ0 + ν (MATH 6.6): ν on top of the price of every feature, whatever its factor.
    pub(crate) fn priced(&self, nu: f64) -> Self {
        match &self.price {
            Factors::One => Self { lambda0: self.lambda0 + nu, ..self.clone() },
            Factors::Each(factors) => {
                let prices = factors.iter().map(|f| f * self.lambda0 + nu).collect();
                Self { lambda0: 1.0, price: Factors::Each(prices), ..self.clone() }
            }
        }
    }

    /// λ0 → f_jλ0, λ1 → h_jλ1, λ2 → h_jλ2 (MATH 9.1): the penalty of coefficient j.
    #[inline]
    pub fn at(&self, j: usize) -> Coordinate {
        let ((lower, upper), shrinkage) = (self.bounds.at(j), self.shrinkage.at(j));
        let l0 = self.price.at(j) * self.lambda0;
        Coordinate { l0, l1: shrinkage * self.lambda1, l2: shrinkage * self.lambda2, lower, upper }
    }

    /// The penalty of some features alone, in their order.
    pub(crate) fn of(&self, features: &[usize]) -> Self {
        let bounds = match &self.bounds {
            Bounds::Each(..) => {
                let (lower, upper) = features.iter().map(|&j| self.bounds.at(j)).unzip();
                Bounds::Each(lower, upper)
            }
            alike => alike.clone(),
        };
        Self { bounds, price: self.price.of(features), shrinkage: self.shrinkage.of(features), ..*self }
    }

    /// Whether every coefficient has the same penalty.
    #[inline]
    pub fn is_uniform(&self) -> bool {
        let factors = matches!((&self.price, &self.shrinkage), (Factors::One, Factors::One));
        factors && !matches!(self.bounds, Bounds::Each(..))
    }

    /// Checks ranges and shapes for p features.
    pub fn validate(&self, p: usize) -> Result<()> {
        let lambdas = [("lambda0", self.lambda0), ("lambda1", self.lambda1), ("lambda2", self.lambda2)];
        for (name, value) in lambdas {
            if !(value >= 0.0 && value.is_finite()) {
                return Err(Error::Range { name, value, range: "finite and at least 0" });
            }
        }
        self.price.validate("price", p)?;
        self.shrinkage.validate("shrinkage", p)?;
        if let Bounds::Each(lower, upper) = &self.bounds {
            check_length("lower bounds", lower.len(), p)?;
            check_length("upper bounds", upper.len(), p)?;
        }
        let count = if matches!(self.bounds, Bounds::Each(..)) { p } else { 1 };
        for feature in 0..count {
            let (lower, upper) = self.bounds.at(feature);
            if !(lower <= 0.0 && 0.0 <= upper) {
                return Err(Error::Bounds { feature, lower, upper });
            }
        }
        Ok(())
    }

    /// φ is finite everywhere (MATH 3.1): λ2 > 0, or every coefficient is bounded on both sides.
    pub fn has_certificate(&self, p: usize) -> bool {
        let finite = |j: usize| {
            let c = self.at(j);
            c.l2 > 0.0 || (c.lower.is_finite() && c.upper.is_finite())
        };
        (0..if self.is_uniform() { 1 } else { p }).all(finite)
    }
}
