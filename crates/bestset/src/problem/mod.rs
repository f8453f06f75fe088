//! The problem (MATH 1.1) and the functions of it that solvers and certificates use: P, R, D and the dual point.

use crate::certificate::Certificate;
use crate::design::{Design, Moments};
use crate::error::{Error, Result, check_finite, check_length, check_weights};
use crate::loss::{CoupledLoss, Cox, Loss, Multinomial, Survival, Ties};
use crate::penalty::{Coordinate, Penalty};
use crate::solution::Coefficients;
use columns::Measured;
use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

mod bound;
mod columns;
mod curvature;
mod point;
pub(crate) mod refit;
pub(crate) mod scaling;
pub mod screening;
mod sweep;
pub(crate) mod whitened;

pub(crate) use bound::{LowerBounds, outer_end};
pub use columns::Lengths;
pub(crate) use curvature::Curvature;
pub(crate) use sweep::Unlisted;

/// minimise P(β, β₀) = Σ_i w_i ℓ(o_i + (Xβ)_i + β₀, y_i) + λ0‖β‖₀ + λ1‖β‖₁ + λ2‖β‖² (MATH 1.1), optionally within bounds and
/// ‖β‖₀ ≤ k (MATH 1.6).
///
/// Sums, never means; no ½ on the ridge term.
#[derive(Clone)]
pub struct Problem<'a> {
    design: &'a dyn Design,
    y: Cow<'a, [f64]>,
    loss: Loss,
    /// The loss itself where it is one over all samples together.
    coupled: Option<Arc<dyn CoupledLoss>>,
    penalty: Penalty,
    weights: Option<Cow<'a, [f64]>>,
    offset: Option<Cow<'a, [f64]>>,
    intercept: bool,
    max_size: Option<usize>,
    /// μ of all samples.
    mu: f64,
    measured: Arc<OnceLock<Measured>>,
    moments: Arc<OnceLock<Vec<Moments>>>,
    /// Squares of the lengths of the columns for a loss over all samples together (MATH 15.3).
    steepest: Arc<OnceLock<Vec<f64>>>,
    /// What chance gains of Huber's loss, by which criteria judge (MATH 10.23), once it is known.
    chance: Arc<OnceLock<f64>>,
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
        let (loss, weights, offset, intercept, max_size, mu) = (Loss::Squared, None, None, false, None, 1.0);
        let (measured, moments, steepest) = (Arc::default(), Arc::default(), Arc::default());
        let (coupled, chance) = (None, Arc::default());
        let problem = Self {
            design,
            y,
            loss,
            coupled,
            penalty,
            weights,
            offset,
            intercept,
            max_size,
            mu,
            measured,
            moments,
            steepest,
            chance,
        };
        problem.check_squares()?;
        Ok(problem)
    }

    /// Uses another loss; classification losses need labels −1 and +1, both present, counts are at least 0 and not all 0, amounts
    /// of the Gamma loss above 0.
    pub fn with_loss(mut self, loss: Loss) -> Result<Self> {
        let (name, value) = match loss {
            Loss::Huber { delta } => ("delta", delta),
            Loss::NegativeBinomial { theta } => ("theta", theta),
            _ => ("", 1.0),
        };
        if !(value > 0.0 && value.is_finite()) {
            return Err(Error::Range { name, value, range: "finite and above 0" });
        }
        if loss.is_coupled() {
            let reason = "is a loss over all samples together, which needs more than y: see Problem::with_survival and with_classes";
            return Err(Error::Unsupported { method: loss.name(), reason });
        }
        (self.loss, self.coupled, self.chance) = (loss, None, Arc::default());
        self.mu = self.y.iter().map(|&y| loss.mu(y)).fold(f64::INFINITY, f64::min);
        self.check_targets()?;
        Ok(self)
    }

    /// Uses a loss over all samples together, named by `loss`; there is no intercept besides.
    pub fn with_coupled_loss(mut self, loss: Loss, coupled: &dyn CoupledLoss) -> Result<Self> {
        check_length("the loss", coupled.nrows(), self.nrows())?;
        self.coupled = Some(coupled.weighted(self.weights())?);
        (self.loss, self.intercept, self.steepest, self.mu) = (loss, false, Arc::default(), 1.0);
        Ok(self)
    }

    /// Uses the partial likelihood of Cox (MATH 15.5); y is not looked at.
    ///
    /// ```
    /// use bestset::design::Dense;
    /// use bestset::{Options, Penalty, Problem, Survival, Ties, solve};
    ///
    /// let x = Dense::new(5, 2, vec![2.0, 1.0, 1.5, 0.5, 0.0, 1.0, -1.0, 1.0, -1.0, 0.0])?;
    /// let times = Survival::new(vec![1.0, 2.0, 3.0, 4.0, 5.0], vec![true, true, false, true, true]);
    /// let problem = Problem::new(&x, times.time.clone(), Penalty::new(0.2, 0.0, 0.1))?.with_survival(times, Ties::Efron)?;
    /// let found = solve(&problem, &Options::default())?;
    /// assert!(found.certificate.lower_bound <= found.objective());
    /// # Ok::<(), bestset::Error>(())
    /// ```
    pub fn with_survival(self, times: Survival, ties: Ties) -> Result<Self> {
        times.validate()?;
        check_length("time", times.time.len(), self.nrows())?;
        let cox = Cox::new(Arc::new(times), ties, self.weights())?;
        self.with_coupled_loss(Loss::Cox { ties }, &cox)
    }

    /// Uses the multinomial loss of K classes (MATH 16.1) on a [`PerClass`](crate::design::PerClass) design, with K intercepts of its own
    /// if asked for; y has a block of n entries for each class, 1 where a sample is of it, else 0. Weights and offsets have blocks as well.
    pub fn with_classes(self, classes: usize, intercept: bool) -> Result<Self> {
        let n = self.nrows() / classes.max(1);
        check_length("targets of classes", self.nrows(), n * classes)?;
        if let Some(index) = self.y.iter().position(|&v| v != 0.0 && v != 1.0) {
            return Err(Error::Label { index, value: self.y[index] });
        }
        let label = |i: usize| (0..classes).find(|k| self.y[k * n + i] == 1.0).unwrap_or(classes);
        let labels = (0..n).map(label).collect();
        let loss = Multinomial::new(labels, classes, intercept, self.weights())?;
        self.with_coupled_loss(Loss::Multinomial { classes }, &loss)
    }

    /// K: how many entries of u a sample has.
    pub fn classes(&self) -> usize {
        self.coupled().map_or(1, CoupledLoss::classes)
    }

    /// Number of samples: rows, or blocks of rows of a class.
    pub fn samples(&self) -> usize {
        self.nrows() / self.classes()
    }

    /// Number of features: columns, or with K classes groups of K columns.
    pub fn variables(&self) -> usize {
        self.ncols() / self.classes()
    }

    /// Number of features that are not zero; with K classes one that is in for any of them.
    pub fn size(&self, coefficients: &Coefficients) -> usize {
        self.size_of(coefficients, |_| true)
    }

    /// As [`Problem::size`], of the columns that are `counted`.
    pub(crate) fn size_of(&self, coefficients: &Coefficients, counted: impl Fn(usize) -> bool) -> usize {
        let places = coefficients.iter().filter(|(j, b)| *b != 0.0 && counted(*j)).map(|(j, _)| j / self.classes());
        let mut features: Vec<usize> = places.collect();
        features.dedup();
        features.len()
    }

    /// One number for every sample as one for every row: with K classes K times over.
    pub(crate) fn per_row(&self, of_samples: &[f64]) -> Vec<f64> {
        of_samples.repeat(self.classes())
    }

    /// Gives sample i the weight w_i ≥ 0: the same as repeating it w_i times.
    pub fn with_weights(mut self, weights: impl Into<Cow<'a, [f64]>>) -> Result<Self> {
        let weights = weights.into();
        check_weights(&weights, self.nrows())?;
        self.weights = Some(weights);
        (self.measured, self.moments, self.steepest) = (Arc::default(), Arc::default(), Arc::default());
        self.chance = Arc::default();
        if let Some(coupled) = &self.coupled {
            self.coupled = Some(coupled.weighted(self.weights())?);
        }
        self.check_targets()?;
        self.check_squares()?;
        Ok(self)
    }

    /// Adds a fixed term o_i to the linear predictor of each sample, such as the margin of a model already fitted.
    pub fn with_offset(mut self, offset: impl Into<Cow<'a, [f64]>>) -> Result<Self> {
        let offset = offset.into();
        check_length("offset", offset.len(), self.nrows())?;
        check_finite("offset", &offset)?;
        (self.offset, self.chance) = (Some(offset), Arc::default());
        self.check_squares()?;
        Ok(self)
    }

    /// Adds an unpenalised intercept b; a loss over all samples together has none, or its own.
    pub fn with_intercept(mut self, intercept: bool) -> Self {
        self.intercept = intercept && self.coupled.is_none();
        self
    }

    /// Allows at most k features: the k-sparse problem when λ0 = 0. With K classes a feature is all of its columns.
    pub fn with_max_size(mut self, k: usize) -> Result<Self> {
        if k == 0 || k > self.variables() {
            return Err(Error::Size { k, features: self.variables() });
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

    /// The same samples with other columns under their own penalty, for a loss per sample.
    pub(crate) fn with_columns<'b>(&self, design: &'b dyn Design, penalty: Penalty) -> Result<Problem<'b>> {
        check_length("the rows of other columns", design.nrows(), self.nrows())?;
        penalty.validate(design.ncols())?;
        let (measured, moments, steepest) = (Arc::default(), Arc::default(), Arc::default());
        let owned = |v: &Cow<'a, [f64]>| Cow::Owned(v.to_vec());
        Ok(Problem {
            design,
            y: owned(&self.y),
            loss: self.loss,
            coupled: None,
            penalty,
            weights: self.weights.as_ref().map(owned),
            offset: self.offset.as_ref().map(owned),
            intercept: self.intercept,
            max_size: self.max_size,
            mu: self.mu,
            measured,
            moments,
            steepest,
            chance: Arc::default(),
        })
    }

    /// Σ w_i (|y_i| + |o_i|)² must be some way from the largest number: it is multiplied before it is compared.
    fn check_squares(&self) -> Result<()> {
        // What the sums are multiplied by at the most on the way to a decision.
        const ROOM: f64 = 1e4;
        let offset = |i: usize| self.offset.as_ref().map_or(0.0, |o| o[i].abs());
        let term = |i: usize| self.weight(i) * (self.y[i].abs() + offset(i)).powi(2) * ROOM;
        if (0..self.nrows()).map(term).sum::<f64>().is_finite() {
            return Ok(());
        }
        let largest = |a: usize, b: usize| if term(b) > term(a) { b } else { a };
        let index = (0..self.nrows()).reduce(largest).unwrap_or(0);
        let (y, o, w) = (self.y[index], offset(index), self.weight(index));
        let (what, value) = match (w > y.abs() && w > o, o > y.abs()) {
            (true, _) => ("weight", w),
            (_, true) => ("offset", self.offset.as_ref().map_or(0.0, |o| o[index])),
            _ => ("y", y),
        };
        Err(Error::TooLarge { what, index, value })
    }

    /// Whether the targets are such as the loss has.
    fn check_targets(&self) -> Result<()> {
        match self.loss {
            Loss::Logistic | Loss::SquaredHinge => self.check_labels(),
            Loss::Poisson | Loss::NegativeBinomial { .. } => {
                self.check_signs(|y| y >= 0.0, "at least 0")?;
                let is_zero = |i: usize| self.weight(i) == 0.0 || self.y[i] == 0.0;
                if (0..self.nrows()).all(is_zero) { Err(Error::NoCounts { loss: self.loss.name() }) } else { Ok(()) }
            }
            Loss::Gamma => self.check_signs(|y| y > 0.0, "above 0"),
            Loss::Squared | Loss::Huber { .. } | Loss::Cox { .. } | Loss::Multinomial { .. } => Ok(()),
        }
    }

    fn check_signs(&self, is_right: impl Fn(f64) -> bool, range: &'static str) -> Result<()> {
        let loss = self.loss.name();
        // Products of so large a mean are no numbers.
        if let Some(index) = self.y.iter().position(|&y| y > 1e100) {
            return Err(Error::TooLarge { what: "y", index, value: self.y[index] });
        }
        let wrong = self.y.iter().position(|&y| !is_right(y));
        wrong.map_or(Ok(()), |index| Err(Error::Target { index, value: self.y[index], loss, range }))
    }

    fn check_labels(&self) -> Result<()> {
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

    /// What a feature that says nothing lowers the deviance of Huber's loss by (MATH 10.23): as it was made known, else for normal errors of which
    /// δ is the usual multiple. `None` for other losses.
    pub(crate) fn chance(&self) -> Option<f64> {
        let usual = |delta: f64| (delta / Loss::USUAL_DELTA).powi(2) * crate::loss::gained_by_chance(Loss::USUAL_DELTA);
        self.loss.delta().map(|delta| self.chance.get().copied().unwrap_or_else(|| usual(delta)))
    }

    /// Whether criteria want to know what chance gains, and do not.
    pub(crate) fn wants_chance(&self) -> bool {
        self.loss.delta().is_some() && self.chance.get().is_none()
    }

    /// Makes known what chance gains, here and where only the penalty is another; what was known first stays.
    pub(crate) fn know_chance(&self, chance: f64) {
        self.chance.get_or_init(|| chance);
    }

    /// μ of every sample with weight one: the least over all targets, zero where the curvature of the loss has no bound.
    pub fn mu(&self) -> f64 {
        self.mu
    }

    /// Kinds of samples of which every part of them should have its share: classes, events. `None` where all are alike.
    pub(crate) fn kinds(&self) -> Option<Vec<usize>> {
        match &self.coupled {
            Some(coupled) => Some((0..self.samples()).map(|i| coupled.kind(i)).collect()),
            None => self.loss.is_classification().then(|| self.y.iter().map(|y| usize::from(*y > 0.0)).collect()),
        }
    }

    /// The loss where it is one over all samples together.
    pub fn coupled(&self) -> Option<&dyn CoupledLoss> {
        self.coupled.as_deref()
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

    /// Σ_j π_j(β_j) (MATH 1.2), the penalty in P; +∞ outside the bounds or the allowed size (MATH 1.6).
    pub fn penalty_sum(&self, coefficients: &Coefficients) -> f64 {
        if self.max_size.is_some_and(|k| self.size(coefficients) > k) {
            return f64::INFINITY;
        }
        coefficients.iter().map(|(j, b)| self.coordinate(j).value(b)).sum()
    }

    /// Σ_j ρ_j(β_j) (MATH 4.3), the penalty in R.
    pub fn envelope_sum(&self, coefficients: &Coefficients) -> f64 {
        coefficients.iter().map(|(j, b)| self.coordinate(j).envelope(b)).sum()
    }

    /// P(β, b), from scratch; +∞ outside the bounds or the allowed size. Features must ascend and be those of the design.
    pub fn objective(&self, coefficients: &Coefficients) -> Result<f64> {
        coefficients.check_places(self.ncols())?;
        self.value(coefficients)
    }

    /// P(β, β₀) (MATH 1.1), from scratch, of coefficients whose features are known to be those of the design.
    pub(crate) fn value(&self, coefficients: &Coefficients) -> Result<f64> {
        Ok(self.loss_at(coefficients)? + self.penalty_sum(coefficients))
    }

    /// P of the null model, β = 0 with the best intercept.
    pub(crate) fn null_objective(&self) -> f64 {
        let u = self.null_margins();
        self.loss_sum(&u, self.best_intercept(&u, 0.0))
    }

    /// n (64ε)² P_∅ (MATH 12.3), with P_∅ of the null model: what the rounding of targets and predictions leaves of a perfect
    /// fit.
    pub(crate) fn perfect_objective(&self) -> f64 {
        self.nrows() as f64 * (64.0 * f64::EPSILON).powi(2) * self.null_objective()
    }

    /// R(β, β₀) = L(β, β₀) + Σ_j ρ_j(β_j) (MATH 4.3), from scratch; `None` when the size is limited, for which R is not the
    /// relaxation.
    pub fn relaxation(&self, coefficients: &Coefficients) -> Result<Option<f64>> {
        let value = || Ok(self.loss_at(coefficients)? + self.envelope_sum(coefficients));
        self.max_size.is_none().then(value).transpose()
    }

    /// D(α) (MATH 3.5) from scratch: projects α onto the dual domain, one pass over X.
    pub fn lower_bound(&self, alpha: &[f64]) -> Result<f64> {
        let mut alpha = alpha.to_vec();
        self.project(&mut alpha);
        self.dual_value(&alpha, &self.features(), &self.correlations(&alpha)?)
    }

    /// A bound and gaps (MATH 4.10) for any coefficients, from any solver: the best of the dual points given and the one of the
    /// coefficients themselves. The coefficients must fit the design, the dual points the samples.
    pub fn certify(&self, coefficients: &Coefficients, dual_points: &[&[f64]]) -> Result<Certificate> {
        coefficients.check_places(self.ncols())?;
        dual_points.iter().try_for_each(|a| check_length("dual point", a.len(), self.nrows()))?;
        let (u, b) = self.predictor(coefficients)?;
        let loss = self.loss_sum(&u, b);
        let mut own = vec![0.0; self.nrows()];
        self.dual_point(&u, self.best_intercept(&u, b), &mut own);
        let mut bound = f64::NEG_INFINITY;
        for point in dual_points.iter().copied().chain([own.as_slice()]) {
            bound = bound.max(self.lower_bound(point)?);
        }
        let relaxation = self.max_size.is_none().then(|| loss + self.envelope_sum(coefficients));
        let objective = loss + self.penalty_sum(coefficients);
        Ok(Certificate::new(objective, relaxation, bound))
    }
}
