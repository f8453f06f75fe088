//! Members of a node divided into those that give curvature (G) and those that take it (V): what is left for the takers.

use crate::relaxation::quadratic::Gram;
use faer::linalg::matmul::matmul;
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::linalg::solvers::{Llt, Solve};
use faer::{Accum, Mat, Par, Side};

/// Π = X̂_VᵀC⁻¹X̂_V = Q_VV − Q_VG(Q_GG + diag η)⁻¹Q_GV with C = Id + Σ_G x̂_jx̂_jᵀ/η_j (MATH 11.10), and what it comes from.
pub struct CurvatureSplit {
    /// Π: the curvature of the takers once the givers have answered.
    pub rest: Mat<f64>,
    /// (Q_GG + diag η)⁻¹Q_GV, with rows ζ_jᵀ/η_j (MATH 11.14): the answer of each giver to each taker.
    pub answers: Mat<f64>,
    /// Rounding in `rest`, for takers of length one.
    pub rounding: f64,
}

impl CurvatureSplit {
    /// Π = Q_VV − Q_VG(Q_GG + diag η)⁻¹Q_GV (MATH 11.10), from Q with the givers at its first positions; `gifts` are η.
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
        Some(Self { rest, answers, rounding })
    }

    /// Π = X̂_VᵀC⁻¹X̂_V (MATH 11.10), from the columns x̂ of (1.4), the givers first: with more of them than samples it is cheaper to
    /// factor C, and the answers are diag(1/η) X̂_GᵀC⁻¹X̂_V. C ⪰ Id, so that what rounding does to it is not made larger.
    pub fn of_columns(mut columns: Mat<f64>, gifts: &[f64]) -> Option<Self> {
        let (n, givers) = (columns.nrows(), gifts.len());
        let takers = columns.ncols() - givers;
        let roots: Vec<f64> = gifts.iter().map(|g| g.sqrt()).collect();
        for (g, root) in roots.iter().enumerate() {
            columns.col_as_slice_mut(g).iter_mut().for_each(|x| *x /= root);
        }
        let (scaled, taking) = (columns.as_ref().subcols(0, givers), columns.as_ref().subcols(givers, takers));
        let mut c = Mat::identity(n, n);
        let (lower, full) = (BlockStructure::TriangularLower, BlockStructure::Rectangular);
        let target = c.as_mut();
        triangular::matmul(target, lower, Accum::Add, scaled, full, scaled.transpose(), full, 1.0, Par::Seq);
        let entry = |i: usize, l: usize| c[(i.max(l), i.min(l))].abs();
        let largest = (0..n).map(|i| (0..n).map(|l| entry(i, l)).sum::<f64>()).fold(1.0, f64::max);
        let mut solved = taking.to_owned();
        Llt::new(c.as_ref(), Side::Lower).ok()?.solve_in_place(solved.as_mut());
        let mut rest = Mat::zeros(takers, takers);
        matmul(rest.as_mut(), Accum::Replace, taking.transpose(), solved.as_ref(), 1.0, Par::Seq);
        let mut answers = Mat::zeros(givers, takers);
        matmul(answers.as_mut(), Accum::Replace, scaled.transpose(), solved.as_ref(), 1.0, Par::Seq);
        for t in 0..takers {
            answers.col_as_slice_mut(t).iter_mut().zip(&roots).for_each(|(a, root)| *a /= root);
        }
        // Backward error of the factorisation and of C itself, relative to the norm of C, in each of the takers.
        let rounding = 8.0 * f64::EPSILON * (n * (n + givers) * takers) as f64 * largest;
        Some(Self { rest, answers, rounding })
    }
}
