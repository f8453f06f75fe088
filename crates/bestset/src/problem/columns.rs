//! What a problem knows of the columns of its design: their moments and lengths, each computed once.

use crate::design;
use crate::design::Moments;
use crate::problem::Problem;
use crate::solution::Coefficients;

/// What the bound needs to know of all columns.
pub(super) struct Lengths {
    /// Σ_i w_i x_ij².
    pub(super) squares: Vec<f64>,
    /// √ of the largest of them.
    pub(super) longest: f64,
    /// The largest [`offset`](crate::design::Design::offset).
    pub(super) offset: f64,
    /// The least weight above zero.
    pub(super) lightest: f64,
}

impl Lengths {
    fn new(problem: &Problem<'_>, squares: Vec<f64>) -> Self {
        let longest = squares.iter().copied().fold(0.0, f64::max).sqrt();
        let offset = (0..problem.ncols()).map(|j| problem.design.offset(j)).fold(0.0, f64::max);
        let least = |w: &[f64]| w.iter().copied().filter(|w| *w > 0.0).fold(f64::INFINITY, f64::min);
        let lightest = problem.weights().map_or(1.0, least);
        Self { squares, longest, offset, lightest }
    }
}

impl Problem<'_> {
    /// Weighted moments of every column, computed once: one pass over X.
    pub fn moments(&self) -> &[Moments] {
        self.moments.get_or_init(|| design::moments(self.design, self.weights()))
    }

    /// Σ_i w_i x_ij²: the curvature of the loss along coefficient j is at most this over μ (MATH 1.5). Computed once for all
    /// columns, apart from the other moments, which only problems with an intercept need.
    #[inline]
    pub fn squares(&self, j: usize) -> f64 {
        self.lengths().squares[j]
    }

    #[inline]
    pub(super) fn lengths(&self) -> &Lengths {
        self.lengths.get_or_init(|| Lengths::new(self, design::squares(self.design, self.weights())))
    }

    /// τ = Xᵀα of every feature; also the squares of the columns, in the same reading of X, where nobody has asked for them yet.
    pub(crate) fn correlate_all(&self, alpha: &[f64], tau: &mut [f64]) {
        if self.lengths.get().is_none() && self.weights.is_none() && !self.design.is_sparse() {
            let squares = design::correlate_and_square(self.design, alpha, tau);
            self.lengths.get_or_init(|| Lengths::new(self, squares));
        } else {
            self.design.correlate(&(0..self.ncols()).collect::<Vec<_>>(), alpha, tau);
        }
    }

    /// Every feature, in order.
    pub(crate) fn features(&self) -> Vec<usize> {
        (0..self.ncols()).collect()
    }

    /// τ = Xᵀα of every feature (MATH 3.1): one pass over X.
    pub(crate) fn correlations(&self, alpha: &[f64]) -> Vec<f64> {
        let mut tau = vec![0.0; self.ncols()];
        self.design.correlate(&self.features(), alpha, &mut tau);
        tau
    }

    /// τ = Xᵀα of every feature at the dual point of the coefficients, with the best intercept.
    pub(crate) fn correlations_at(&self, coefficients: &Coefficients) -> Vec<f64> {
        let (u, mut alpha) = (self.margins(coefficients), vec![0.0; self.nrows()]);
        self.dual_point(&u, self.best_intercept(&u, coefficients.intercept), &mut alpha);
        self.correlations(&alpha)
    }

    /// ‖x̂_j‖ = √(Σ w_i (x_ij − x̄_j)²), x̄_j = 0 without an intercept (MATH 1.4): length of column j in the norm of the ball
    /// (MATH 5.1), so that |x_jᵀ(α − ᾱ)| ≤ ‖x̂_j‖ r; with an intercept the dual directions are orthogonal to the ones vector.
    pub fn length(&self, j: usize) -> f64 {
        let squares = self.squares(j);
        if self.intercept { self.moments()[j].centred.min(squares).sqrt() } else { squares.sqrt() }
    }
}
