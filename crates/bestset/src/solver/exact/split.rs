//! Members of a node divided into those that give curvature and those that take it: what is left for the takers.

use crate::active::ActiveSet;
use crate::solver::quadratic::{Gram, Metric};
use faer::linalg::matmul::matmul;
use faer::linalg::solvers::{Llt, Solve};
use faer::{Accum, Mat, MatRef, Par, Side};

/// Q_TT − Q_TG A⁻¹ Q_GT and A⁻¹Q_GT with A = Q_GG + diag(gifts), and how much rounding may be in the first.
pub struct Split {
    /// The curvature of the takers once the givers have answered.
    pub rest: Mat<f64>,
    /// The answer of each giver to each taker.
    pub answers: Mat<f64>,
    /// Rounding in `rest`, for takers of length one.
    pub rounding: f64,
}

impl Split {
    /// From Q, the givers being its first positions.
    pub fn of_products(gram: &Gram, gifts: &[f64], rounding: f64) -> Option<Self> {
        let givers = gifts.len();
        let takers = gram.len() - givers;
        let mut rest = Mat::from_fn(takers, takers, |a, b| gram.at(givers + a, givers + b));
        let cross = Mat::from_fn(givers, takers, |g, t| gram.at(g, givers + t));
        let mut answers = cross.clone();
        if givers > 0 {
            let all: Vec<usize> = (0..givers).collect();
            gram.factor(&all, |g| gifts[g])?.solve_in_place(answers.as_mut());
            matmul(rest.as_mut(), Accum::Add, cross.transpose(), answers.as_ref(), -1.0, Par::Seq);
        }
        Some(Self { rest, answers, rounding })
    }

    /// From the columns x̂ = √w (x − x̄), the givers first: with more of them than samples it is cheaper to factor
    /// K = I + Σ_G x̂x̂ᵀ/gift, since rest = X̂_TᵀK⁻¹X̂_T and A⁻¹Q_GT = diag(1/gifts) X̂_GᵀK⁻¹X̂_T. K ⪰ I, so that what rounding
    /// does to it is not made larger.
    pub fn of_columns(columns: &Mat<f64>, gifts: &[f64]) -> Option<Self> {
        let (n, givers) = (columns.nrows(), gifts.len());
        let takers = columns.ncols() - givers;
        let (x, taking) = (columns.as_ref().subcols(0, givers), columns.as_ref().subcols(givers, takers));
        let scaled = Mat::from_fn(n, givers, |i, g| x[(i, g)] / gifts[g]);
        let mut k = Mat::identity(n, n);
        matmul(k.as_mut(), Accum::Add, x, scaled.transpose(), 1.0, Par::Seq);
        let largest = (0..n).map(|i| (0..n).map(|l| k[(i, l)].abs()).sum::<f64>()).fold(1.0, f64::max);
        let mut solved = taking.to_owned();
        Llt::new(k.as_ref(), Side::Lower).ok()?.solve_in_place(solved.as_mut());
        let mut rest = Mat::zeros(takers, takers);
        matmul(rest.as_mut(), Accum::Replace, taking.transpose(), solved.as_ref(), 1.0, Par::Seq);
        let mut answers = Mat::zeros(givers, takers);
        matmul(answers.as_mut(), Accum::Replace, scaled.transpose(), solved.as_ref(), 1.0, Par::Seq);
        // Backward error of the factorisation and of K itself, relative to the norm of K, in each of the takers.
        let rounding = 8.0 * f64::EPSILON * (n * (n + givers) * takers) as f64 * largest;
        Some(Self { rest, answers, rounding })
    }
}

/// The columns at `positions`, centred where there is an intercept and scaled by the roots of the weights.
pub fn whitened(active: &ActiveSet, positions: &[usize], weights: Option<&[f64]>, intercept: bool) -> Mat<f64> {
    let part = active.select(positions);
    let metric = Metric::new(&part, weights, intercept);
    let roots: Option<Vec<f64>> = weights.map(|w| w.iter().map(|w| w.sqrt()).collect());
    let mut values = Vec::with_capacity(part.nrows() * positions.len());
    for k in 0..part.len() {
        let from = values.len();
        values.resize(from + part.nrows(), metric.shifts[k]);
        part.axpy_stored(k, 1.0, &mut values[from..]);
        if let Some(roots) = &roots {
            values[from..].iter_mut().zip(roots).for_each(|(v, r)| *v *= r);
        }
    }
    MatRef::from_column_major_slice(&values, part.nrows(), positions.len()).to_owned()
}
