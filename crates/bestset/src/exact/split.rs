//! Members of a node divided into those that give curvature and those that take it: what is left for the takers.

use crate::relaxation::active_set::ActiveSet;
use crate::relaxation::quadratic::Gram;
use faer::linalg::matmul::matmul;
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::linalg::solvers::{Llt, Solve};
use faer::{Accum, Mat, Par, Side};

/// Q_TT − Q_TG A⁻¹ Q_GT and A⁻¹Q_GT with A = Q_GG + diag(gifts), and how much rounding may be in the first.
pub struct Split {
    /// The curvature of the takers once the givers have answered.
    pub rest: Mat<f64>,
    /// The answer of each giver to each taker.
    pub answers: Mat<f64>,
    /// K⁻¹X̂_T = X̂_T − X̂_G A⁻¹Q_GT, where it was asked for.
    pub residuals: Option<Mat<f64>>,
    /// Rounding in `rest`, for takers of length one.
    pub rounding: f64,
}

impl Split {
    /// From Q, the givers being its first positions.
    pub fn of_products(gram: &Gram, gifts: &[f64], rounding: f64) -> Option<Self> {
        let givers = gifts.len();
        let takers = gram.len() - givers;
        let (mut rest, mut cross) = (Mat::zeros(takers, takers), Mat::zeros(givers, takers));
        for t in 0..takers {
            let (first, last) = gram.column(givers + t).split_at(givers);
            cross.col_as_slice_mut(t).copy_from_slice(first);
            rest.col_as_slice_mut(t).copy_from_slice(last);
        }
        let mut answers = cross.clone();
        if givers > 0 {
            let all: Vec<usize> = (0..givers).collect();
            gram.solve(&all, |g| gifts[g], answers.as_mut())?;
            matmul(rest.as_mut(), Accum::Add, cross.transpose(), answers.as_ref(), -1.0, Par::Seq);
        }
        Some(Self { rest, answers, residuals: None, rounding })
    }

    /// The residuals from the columns, where the products alone were looked at.
    pub fn with_residuals(mut self, columns: &Mat<f64>) -> Self {
        if self.residuals.is_none() {
            let (givers, takers) = (self.answers.nrows(), self.rest.ncols());
            let mut left = columns.as_ref().subcols(givers, takers).to_owned();
            matmul(
                left.as_mut(),
                Accum::Add,
                columns.as_ref().subcols(0, givers),
                self.answers.as_ref(),
                -1.0,
                Par::Seq,
            );
            self.residuals = Some(left);
        }
        self
    }

    /// From the columns x̂ = √w (x − x̄), the givers first: with more of them than samples it is cheaper to factor
    /// K = I + Σ_G x̂x̂ᵀ/gift, since rest = X̂_TᵀK⁻¹X̂_T and A⁻¹Q_GT = diag(1/gifts) X̂_GᵀK⁻¹X̂_T. K ⪰ I, so that what rounding
    /// does to it is not made larger.
    pub fn of_columns(mut columns: Mat<f64>, gifts: &[f64]) -> Option<Self> {
        let (n, givers) = (columns.nrows(), gifts.len());
        let takers = columns.ncols() - givers;
        let roots: Vec<f64> = gifts.iter().map(|g| g.sqrt()).collect();
        for (g, root) in roots.iter().enumerate() {
            columns.col_as_slice_mut(g).iter_mut().for_each(|x| *x /= root);
        }
        let (scaled, taking) = (columns.as_ref().subcols(0, givers), columns.as_ref().subcols(givers, takers));
        let mut k = Mat::identity(n, n);
        let (lower, full) = (BlockStructure::TriangularLower, BlockStructure::Rectangular);
        let target = k.as_mut();
        triangular::matmul(target, lower, Accum::Add, scaled, full, scaled.transpose(), full, 1.0, Par::Seq);
        let entry = |i: usize, l: usize| k[(i.max(l), i.min(l))].abs();
        let largest = (0..n).map(|i| (0..n).map(|l| entry(i, l)).sum::<f64>()).fold(1.0, f64::max);
        let mut solved = taking.to_owned();
        Llt::new(k.as_ref(), Side::Lower).ok()?.solve_in_place(solved.as_mut());
        let mut rest = Mat::zeros(takers, takers);
        matmul(rest.as_mut(), Accum::Replace, taking.transpose(), solved.as_ref(), 1.0, Par::Seq);
        let mut answers = Mat::zeros(givers, takers);
        matmul(answers.as_mut(), Accum::Replace, scaled.transpose(), solved.as_ref(), 1.0, Par::Seq);
        for t in 0..takers {
            answers.col_as_slice_mut(t).iter_mut().zip(&roots).for_each(|(a, root)| *a /= root);
        }
        // Backward error of the factorisation and of K itself, relative to the norm of K, in each of the takers.
        let rounding = 8.0 * f64::EPSILON * (n * (n + givers) * takers) as f64 * largest;
        Some(Self { rest, answers, residuals: Some(solved), rounding })
    }
}

/// The columns at `positions`, centred where there is an intercept and scaled by the roots of the weights.
pub fn whitened(active: &ActiveSet, positions: &[usize], weights: Option<&[f64]>, intercept: bool) -> Mat<f64> {
    let (n, total) = (active.nrows(), weights.map_or(active.nrows() as f64, crate::kernel::sum));
    let roots: Option<Vec<f64>> = weights.map(|w| w.iter().map(|w| w.sqrt()).collect());
    let mut columns = Mat::zeros(n, positions.len());
    for (a, &k) in positions.iter().enumerate() {
        let column = columns.col_as_slice_mut(a);
        active.axpy(k, 1.0, column);
        if intercept && total > 0.0 {
            let sum = weights.map_or_else(|| crate::kernel::sum(column), |w| crate::kernel::dot(column, w));
            column.iter_mut().for_each(|x| *x -= sum / total);
        }
        if let Some(roots) = &roots {
            column.iter_mut().zip(roots).for_each(|(x, r)| *x *= r);
        }
    }
    columns
}
