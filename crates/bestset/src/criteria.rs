//! Criteria that choose a point of a path without further data (MATH 10.11–10.16).
//!
//! With dev = 2 (n_w/Σw) Σ_i w_i ℓ(u_i, y_i), n_w the number of samples, K the number of coefficients fitted, |S| of non-zero ones and one more with an
//! intercept (of many classes for all but one of them), and lack the lack of fit: n_w log(RSS/n_w) for the squared loss, −2 log-likelihood for the
//! other families (with the dispersion dev/n_w for Gamma), dev for the squared hinge, dev over what chance gains of it for Huber's loss:
//!
//! | criterion | value |
//! |---|---|
//! | AIC | lack + 2K |
//! | BIC | lack + K log n_w |
//! | EBIC | lack + K log n_w + 2γ log C(p_f, \|S\|_f), γ = 1 unless given; p_f and \|S\|_f count features with a price that may be in and that are, or groups of them |
//! | GIC | lack + K log(p_f) log(log n_w) |
//! | Cp | RSS/σ² − n_w + 2K, σ² of the largest model of the path's least λ2 (squared loss) |
//! | R², adjusted R² | 1 − dev/dev_∅, 1 − (dev/dev_∅)(n_w − K_∅)/(n_w − K), K_∅ that of the null model |
//!
//! For the squared loss RSS = dev. What n_w is depends on what the weights are:
//!
//! - Whole numbers are counts: n_w = Σw, and a weighted problem is the problem with repeated rows.
//! - Others say how much samples count beside each other, and are known up to a factor only: n_w is the number of samples with a weight
//!   above zero, as in `lm` and `BIC` of R, and the weights are scaled to the sum n_w. Multiplying all weights and all penalties by a
//!   constant then changes no criterion.
//!
//! A huge λ shrinks coefficients, and the criteria then judge the shrunk fit; [`refit`] gives
//! the fit of a chosen support without shrinkage.

use crate::control::Options;
use crate::error::{Error, Result};
use crate::groups::{Grouped, Groups};
use crate::penalty::{Bounds, Penalty};
use crate::problem::Problem;
use crate::solution::Coefficients;
use crate::solve::solve;
use serde::{Deserialize, Serialize};

/// A criterion; the smallest value wins, except for R² and adjusted R², where the largest does.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Criterion {
    /// Akaike's.
    Aic,
    /// Schwarz's.
    Bic,
    /// BIC that pays for the number of subsets of as many features, or groups, as well, with weight γ ≥ 0.
    Ebic {
        /// γ.
        gamma: f64,
    },
    /// The generalised criterion with log(p) log(log n) per coefficient (the choice of abess).
    Gic,
    /// Mallows' Cp; squared loss only.
    Cp,
    /// Share of the null model's deviance explained.
    R2,
    /// The same, adjusted for the number of coefficients.
    AdjustedR2,
}

/// What the criteria need of one fit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fit {
    /// 2 (n/Σw) Σ w ℓ.
    pub deviance: f64,
    /// The same without features.
    pub null_deviance: f64,
    /// n: Σw where weights are counts, else the number of samples with one above zero.
    pub samples: f64,
    /// What there is to choose from: the features, or groups of them, that have a price and may be in.
    pub features: usize,
    /// How many of these are in.
    pub chosen: usize,
    /// Features with a coefficient that is not zero.
    pub size: usize,
    /// Coefficients fitted for each of them: one, or for K classes the K − 1 that are not determined by the others.
    pub each: usize,
    /// Those among them that have no price, and were not chosen.
    pub free: usize,
    /// Whether there is an intercept.
    pub intercept: bool,
    /// n log(RSS/n) for the squared loss, −2 log-likelihood for the other families, d for losses that are no likelihood, of Huber's over what
    /// chance gains of it.
    pub lack: f64,
}

impl Fit {
    /// The fit of these coefficients, of features that are chosen one by one.
    pub fn new(problem: &Problem<'_>, coefficients: &Coefficients) -> Result<Self> {
        Self::of_groups(problem, None, coefficients)
    }

    /// The fit of these coefficients, of groups of features if they come in some.
    pub fn of_groups(problem: &Problem<'_>, groups: Option<&Groups>, coefficients: &Coefficients) -> Result<Self> {
        Ok(Self::null(problem, groups).with(problem, groups, coefficients, problem.loss_at(coefficients)?))
    }

    /// The fit without features: what is the same for all fits of a problem is found once.
    pub(crate) fn null(problem: &Problem<'_>, groups: Option<&Groups>) -> Self {
        let counted = Counted::new(problem);
        let deviance = 2.0 * counted.share * problem.null_objective();
        Self {
            deviance,
            null_deviance: deviance,
            samples: counted.samples,
            features: candidates(problem, groups),
            chosen: 0,
            size: 0,
            each: each(problem),
            free: 0,
            intercept: has_intercept(problem),
            lack: counted.lack(problem, deviance),
        }
    }

    /// The same problem with these coefficients, whose loss this is.
    pub(crate) fn with(
        self,
        problem: &Problem<'_>,
        groups: Option<&Groups>,
        coefficients: &Coefficients,
        loss: f64,
    ) -> Self {
        let free = problem.size_of(coefficients, |j| problem.penalty().price.at(j) == 0.0);
        let fit = self.of(problem, loss, problem.size(coefficients), free);
        match groups {
            Some(groups) => Self { chosen: chosen(&Grouped { problem, groups }, coefficients), ..fit },
            None => fit,
        }
    }

    /// The same problem with this loss and these sizes, of features that are chosen one by one.
    pub(crate) fn of(self, problem: &Problem<'_>, loss: f64, size: usize, free: usize) -> Self {
        let counted = Counted::new(problem);
        let (deviance, chosen) = (2.0 * counted.share * loss, size.saturating_sub(free));
        Self { deviance, size, free, chosen, lack: counted.lack(problem, deviance), ..self }
    }

    /// K, the coefficients fitted.
    pub(crate) fn fitted(&self) -> f64 {
        self.each as f64 * (self.size as f64 + f64::from(u8::from(self.intercept)))
    }

    /// The value of a criterion by the table above (MATH 10.12–10.16, 10.24), with K of (10.11) for k; `variance` is σ² for Cp.
    pub fn value(&self, criterion: Criterion, variance: f64) -> f64 {
        let (k, n, p) = (self.fitted(), self.samples, self.features as f64);
        match criterion {
            Criterion::Aic => self.lack + 2.0 * k,
            Criterion::Bic => self.lack + k * n.ln(),
            Criterion::Ebic { gamma } => self.lack + k * n.ln() + 2.0 * gamma * log_choose(self.features, self.chosen),
            Criterion::Gic => self.lack + k * p.ln() * n.ln().ln(),
            Criterion::Cp => self.deviance / variance - n + 2.0 * k,
            Criterion::R2 => 1.0 - self.deviance / self.null_deviance,
            Criterion::AdjustedR2 => {
                let null = n - self.each as f64 * f64::from(u8::from(self.intercept));
                // As many coefficients as samples leave nothing to adjust by.
                if n <= k {
                    return f64::NAN;
                }
                1.0 - self.deviance / self.null_deviance * null / (n - k)
            }
        }
    }
}

/// Coefficients fitted for a feature: those of one of the classes are determined by the others.
pub(crate) fn each(problem: &Problem<'_>) -> usize {
    (problem.classes() - 1).max(1)
}

/// Whether there is an intercept, or one for each class.
pub(crate) fn has_intercept(problem: &Problem<'_>) -> bool {
    problem.has_intercept() || problem.coupled().is_some_and(|loss| loss.has_intercepts())
}

/// How many samples there are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Counted {
    /// n.
    pub(crate) samples: f64,
    /// n/Σw.
    pub(crate) share: f64,
}

impl Counted {
    pub(crate) fn new(problem: &Problem<'_>) -> Self {
        let coupled = problem.coupled().map(|coupled| coupled.counted());
        let Some(weights) = problem.weights() else {
            return Self { samples: coupled.map_or(problem.nrows() as f64, |c| c.0), share: 1.0 };
        };
        let total = coupled.map_or_else(|| crate::kernel::sum(weights), |c| c.1);
        if weights.iter().all(|w| w.fract() == 0.0) {
            return Self { samples: total, share: 1.0 };
        }
        let samples = coupled.map_or_else(|| weights.iter().filter(|w| **w > 0.0).count() as f64, |c| c.0);
        Self { samples, share: samples / total }
    }

    /// n log(dev/n) for the squared loss, −2 log-likelihood for the other families, dev elsewhere, of Huber's loss over what chance gains
    /// (MATH 10.11, 10.23).
    pub(crate) fn lack(self, problem: &Problem<'_>, deviance: f64) -> f64 {
        let (n, loss) = (self.samples, problem.loss());
        if loss.is_quadratic() {
            return n * (deviance / n).ln();
        }
        self.minus_twice_log_likelihood(problem, deviance).unwrap_or(deviance / problem.chance().unwrap_or(1.0))
    }

    /// −2 log-likelihood (MATH 10.11), `None` where the loss is no likelihood.
    pub(crate) fn minus_twice_log_likelihood(self, problem: &Problem<'_>, deviance: f64) -> Option<f64> {
        let weight = |i: usize| problem.weights().map_or(1.0, |w| w[i]) * self.share;
        let samples = problem.y().iter().enumerate().map(|(i, &y)| (y, weight(i)));
        problem.loss().minus_twice_log_likelihood(deviance, self.samples, samples)
    }
}

/// min(n/2, n/(max(1, log p) · max(1, log log n))), at least 1, at most p (MATH 10.17): the largest model that the samples can support,
/// with the n of the criteria; with K classes 1/(K − 1) of it.
///
/// Beyond it a criterion judges how well noise was fitted: the best of many subsets nearly interpolates.
pub fn usual_size(problem: &Problem<'_>) -> usize {
    let (samples, p) = (Counted::new(problem).samples, problem.variables());
    let slack = (p.max(2) as f64).ln().max(1.0) * samples.max(3.0).ln().ln().max(1.0);
    let most = (samples / 2.0).min(samples / slack) / each(problem) as f64;
    (most as usize).clamp(1, p.max(1))
}

/// 1 − dev/dev_∅ (MATH 10.16) of margins, offset included, against targets: R² for the squared loss, D² for the others; the null model
/// is the best constant beside the offset.
///
/// ```
/// use bestset::Loss;
/// use bestset::criteria::explained;
///
/// let (y, u) = ([1.0, 4.0], [1f64.ln(), 4f64.ln()]);
/// assert_eq!(explained(Loss::Poisson, &y, &u, None, None)?, 1.0);
/// assert!(explained(Loss::Poisson, &y, &[2.5f64.ln(); 2], None, None)?.abs() < 1e-12);
/// # Ok::<(), bestset::Error>(())
/// ```
pub fn explained(
    loss: crate::Loss,
    y: &[f64],
    margins: &[f64],
    offset: Option<&[f64]>,
    weights: Option<&[f64]>,
) -> Result<f64> {
    crate::error::check_length("margins", margins.len(), y.len())?;
    let column = crate::design::Dense::new(y.len(), 1, vec![0.0; y.len()])?;
    let mut problem = Problem::new(&column, y, Penalty::new(0.0, 0.0, 1.0))?.with_loss(loss)?.with_intercept(true);
    if let Some(weights) = weights {
        problem = problem.with_weights(weights)?;
    }
    if let Some(offset) = offset {
        problem = problem.with_offset(offset)?;
    }
    Ok(1.0 - problem.loss_sum(margins, 0.0) / problem.null_objective())
}

/// Features that have a price and may be in, or groups with a price of which a feature may be in: what is chosen from (MATH 10.24).
pub(crate) fn candidates(problem: &Problem<'_>, groups: Option<&Groups>) -> usize {
    let penalty = problem.penalty();
    let may_be_in = |j: usize| penalty.bounds.at(j) != (0.0, 0.0);
    if let Some(groups) = groups {
        let grouped = Grouped { problem, groups };
        let is_open = |g: &usize| grouped.factor(*g) > 0.0 && groups.members[*g].iter().any(|&j| may_be_in(j));
        return (0..groups.len()).filter(is_open).count();
    }
    let is_open = |j: usize| penalty.price.at(j) > 0.0 && may_be_in(j);
    let columns =
        if penalty.is_uniform() { problem.ncols() } else { (0..problem.ncols()).filter(|&j| is_open(j)).count() };
    columns / problem.classes()
}

/// The groups with a price that are in.
fn chosen(grouped: &Grouped<'_, '_>, coefficients: &Coefficients) -> usize {
    grouped.chosen(coefficients).into_iter().filter(|&g| grouped.factor(g) > 0.0).count()
}

/// log C(p, k) (MATH 10.24).
fn log_choose(p: usize, k: usize) -> f64 {
    let k = k.min(p.saturating_sub(k));
    (1..=k).map(|i| ((p - k + i) as f64 / i as f64).ln()).sum()
}

impl std::str::FromStr for Criterion {
    type Err = Error;

    /// The criterion of this [name](Criterion::name), EBIC with γ = 1.
    fn from_str(name: &str) -> Result<Self> {
        let known = Self::ALL.into_iter().find(|c| c.name() == name);
        known.ok_or_else(|| Error::UnknownName { what: "criterion", name: name.to_owned() })
    }
}

impl Criterion {
    /// Every criterion, EBIC with γ = 1.
    pub const ALL: [Self; 7] =
        [Self::Aic, Self::Bic, Self::Ebic { gamma: 1.0 }, Self::Gic, Self::Cp, Self::R2, Self::AdjustedR2];

    /// The name in every interface.
    pub fn name(self) -> &'static str {
        match self {
            Self::Aic => "aic",
            Self::Bic => "bic",
            Self::Ebic { .. } => "ebic",
            Self::Gic => "gic",
            Self::Cp => "cp",
            Self::R2 => "r2",
            Self::AdjustedR2 => "adjusted_r2",
        }
    }

    /// EBIC with this γ; the others as they are.
    pub fn with_gamma(self, gamma: f64) -> Self {
        match self {
            Self::Ebic { .. } => Self::Ebic { gamma },
            other => other,
        }
    }

    /// As it is written.
    pub fn title(self) -> &'static str {
        match self {
            Self::Aic => "AIC",
            Self::Bic => "BIC",
            Self::Ebic { .. } => "EBIC",
            Self::Gic => "GIC",
            Self::Cp => "Cp",
            Self::R2 => "R²",
            Self::AdjustedR2 => "adjusted R²",
        }
    }

    /// Whether it is defined for the loss.
    pub fn is_defined(self, loss: crate::Loss) -> bool {
        self != Self::Cp || loss.is_quadratic()
    }

    /// Whether it is the lack of fit and what each feature adds to it (MATH 10.12–10.14).
    pub(crate) fn adds_prices(self) -> bool {
        matches!(self, Self::Aic | Self::Bic | Self::Ebic { .. } | Self::Gic)
    }

    /// Whether the largest value wins.
    pub fn is_maximised(self) -> bool {
        matches!(self, Self::R2 | Self::AdjustedR2)
    }

    /// Whether it has a value: γ and the loss are what it needs.
    pub(crate) fn check(self, loss: crate::Loss) -> Result<()> {
        if let Self::Ebic { gamma } = self
            && !(gamma >= 0.0 && gamma.is_finite())
        {
            return Err(Error::Range { name: "gamma", value: gamma, range: "finite and at least 0" });
        }
        if !self.is_defined(loss) {
            return Err(Error::Unsupported { method: "Cp", reason: "needs the squared loss" });
        }
        Ok(())
    }
}

/// The fit on a support without λ0, λ1 and λ2, within the bounds of the problem.
///
/// Columns that depend on one another have many fits: a ridge term at the level of rounding picks one.
pub fn refit(problem: &Problem<'_>, support: &[usize], options: &Options) -> Result<Coefficients> {
    let p = problem.ncols();
    Coefficients { support: support.to_vec(), values: vec![1.0; support.len()], intercept: 0.0 }.validate(p)?;
    let mut bounds = (vec![0.0; p], vec![0.0; p]);
    for &j in support {
        (bounds.0[j], bounds.1[j]) = problem.penalty().bounds.at(j);
    }
    let squares = problem.squares()?;
    let largest = support.iter().map(|&j| squares[j]).fold(0.0, f64::max);
    let penalty = Penalty::new(0.0, 0.0, 1e-12 * largest).with_bounds(Bounds::Each(bounds.0, bounds.1));
    let options = Options { method: crate::Method::Incremental, ..options.clone() };
    Ok(solve(&problem.with_penalty(penalty)?, &options)?.coefficients)
}
