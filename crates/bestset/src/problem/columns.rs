//! What a problem knows of the columns of its design: their moments and lengths, each computed once.

use crate::design;
use crate::design::{Check, Moments};
use crate::error::Result;
use crate::kernel::each::largest;
use crate::loss::CoupledLoss;
use crate::problem::{LowerBounds, Problem};
use crate::solution::Coefficients;
use std::sync::OnceLock;

/// What the bound needs to know of all columns.
pub(super) struct Measured {
    /// Σ_i w_i x_ij².
    pub(super) squares: Vec<f64>,
    /// √ of the largest of them.
    pub(super) longest: f64,
    /// The largest [`offset`](crate::design::Design::offset).
    pub(super) offset: f64,
    /// The least weight above zero.
    pub(super) lightest: f64,
}

impl Measured {
    fn new(problem: &Problem<'_>, squares: Vec<f64>) -> Self {
        let longest = largest(squares.len(), |j| squares[j]).sqrt();
        let offset = largest(problem.ncols(), |j| problem.design.offset(j));
        let least = |w: &[f64]| w.iter().copied().filter(|w| *w > 0.0).fold(f64::INFINITY, f64::min);
        let lightest = problem.weights().map_or(1.0, least);
        Self { squares, longest, offset, lightest }
    }
}

/// ‖x̂_j‖ of every column (MATH 1.4): the length in the norm of the ball (MATH 5.1).
#[derive(Clone, Copy)]
pub struct Lengths<'p> {
    squares: &'p [f64],
    /// Where there is an intercept.
    moments: Option<&'p [Moments]>,
}

impl Lengths<'_> {
    /// ‖x̂_j‖ = √(Σ w_i (x_ij − x̄_j)²), x̄_j = 0 without an intercept (MATH 1.4), so that |x_jᵀ(α − ᾱ)| ≤ ‖x̂_j‖ r; with an
    /// intercept the dual directions are orthogonal to the ones vector.
    #[inline]
    pub fn of(&self, j: usize) -> f64 {
        let squares = self.squares[j];
        self.moments.map_or(squares, |m| m[j].centred.min(squares)).sqrt()
    }
}

/// What is there, or what `make` gives, which is then kept; a failure is not.
fn known<T>(place: &OnceLock<T>, make: impl FnOnce() -> Result<T>) -> Result<&T> {
    match place.get() {
        Some(known) => Ok(known),
        None => make().map(|made| place.get_or_init(|| made)),
    }
}

impl<'a> Problem<'a> {
    /// Weighted moments of every column, computed once: one pass over X.
    pub fn moments(&self) -> Result<&[Moments]> {
        known(&self.moments, || design::moments(self.design, self.weights())).map(Vec::as_slice)
    }

    /// Σ_i w_i x_ij² of every column, or what takes its place for a loss over all samples together (MATH 15.3): the curvature of the loss
    /// along coefficient j is at most this over μ (MATH 1.5). Computed once, apart from the other moments, which only problems with an
    /// intercept need.
    pub fn squares(&self) -> Result<&[f64]> {
        match self.coupled() {
            Some(coupled) => self.steepest(coupled),
            None => self.column_squares(),
        }
    }

    /// Σ_i w_i x_ij² of every column, whatever the loss.
    pub(crate) fn column_squares(&self) -> Result<&[f64]> {
        Ok(&self.measured()?.squares)
    }

    fn steepest(&self, coupled: &dyn CoupledLoss) -> Result<&[f64]> {
        let make = || {
            design::each_column(self.design, |design, buffer, j| {
                design.column(j, buffer)?;
                let mut x = vec![0.0; self.nrows()];
                buffer.to_dense(&mut x);
                Ok(coupled.steepest(&x))
            })
        };
        known(&self.steepest, make).map(Vec::as_slice)
    }

    /// The lengths of all columns; with an intercept these are moments.
    pub fn lengths(&self) -> Result<Lengths<'_>> {
        let moments = if self.intercept { Some(self.moments()?) } else { None };
        Ok(Lengths { squares: self.squares()?, moments })
    }

    /// The same without a pass of their own: as far as moments are known already.
    pub(super) fn known_lengths<'p>(&'p self, squares: &'p [f64]) -> Lengths<'p> {
        let moments = self.moments.get().filter(|_| self.intercept).map(Vec::as_slice);
        Lengths { squares, moments }
    }

    /// The bounds of this problem, once its columns are measured.
    pub(crate) fn lower_bounds(&self) -> Result<LowerBounds<'_, 'a>> {
        Ok(LowerBounds { problem: self, measured: self.measured()? })
    }

    /// Whether the squares of the columns are known.
    pub(crate) fn is_measured(&self) -> bool {
        self.measured.get().is_some()
    }

    /// Takes over what another problem knows of these of its columns, which are all of this one.
    pub(crate) fn knows_columns_of(&self, whole: &Problem<'_>, features: &[usize]) {
        if let Some(measured) = whole.measured.get() {
            let squares = features.iter().map(|&j| measured.squares[j]).collect();
            self.measured.get_or_init(|| Measured::new(self, squares));
        }
        if let Some(moments) = whole.moments.get() {
            self.moments.get_or_init(|| features.iter().map(|&j| moments[j]).collect());
        }
    }

    fn measured(&self) -> Result<&Measured> {
        known(&self.measured, || Ok(Measured::new(self, design::squares(self.design, self.weights())?)))
    }

    /// τ = Xᵀα of every feature; also the squares of the columns, in the same reading of X, where nobody has asked for them yet.
    pub(crate) fn correlate_all(&self, alpha: &[f64], tau: &mut [f64], check: Check<'_>) -> Result<()> {
        if self.measured.get().is_none() && self.weights.is_none() && !self.design.is_sparse() {
            let squares = design::correlate_and_square(self.design, alpha, tau, check)?;
            self.measured.get_or_init(|| Measured::new(self, squares));
            return Ok(());
        }
        design::correlate(self.design, &self.features(), alpha, tau, check)
    }

    /// Every feature, in order.
    pub(crate) fn features(&self) -> Vec<usize> {
        (0..self.ncols()).collect()
    }

    /// τ = Xᵀα of every feature (MATH 3.1): one pass over X.
    pub(crate) fn correlations(&self, alpha: &[f64]) -> Result<Vec<f64>> {
        self.correlations_within(alpha, &|| Ok(()))
    }

    /// The same, with a question between the parts of a long pass.
    pub(crate) fn correlations_within(&self, alpha: &[f64], check: Check<'_>) -> Result<Vec<f64>> {
        let mut tau = vec![0.0; self.ncols()];
        design::correlate(self.design, &self.features(), alpha, &mut tau, check)?;
        Ok(tau)
    }

    /// τ = Xᵀα of every feature at the dual point of the coefficients, with the best intercept.
    pub(crate) fn correlations_at(&self, coefficients: &Coefficients) -> Result<Vec<f64>> {
        self.correlations(&self.dual_point_of(coefficients)?)
    }

    /// The dual point of the coefficients, with the best intercept.
    pub(crate) fn dual_point_of(&self, coefficients: &Coefficients) -> Result<Vec<f64>> {
        let (u, mut alpha) = (self.margins(coefficients)?, vec![0.0; self.nrows()]);
        self.dual_point(&u, self.best_intercept(&u, coefficients.intercept), &mut alpha);
        Ok(alpha)
    }
}
