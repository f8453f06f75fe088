//! A node in which the coefficients that are not zero answer to whatever else moves (MATH 11.15–11.17).
//!
//! N are the members whose coefficients move along one piece of their penalty, Z the others, H = M_NN + diag(κ) with κ_j = 2λ2′ for one
//! in the model or beyond its knee and 0 on the linear piece. If those of Z change by Δ_Z, the answer Δ_N = −H⁻¹M_NZΔ_Z leaves the slopes
//! along N on their pieces. For every Δ, however it was found, (11.15) is D′ at β + Δ, so that nothing but rounding stands between such
//! a sum and a bound: that of ξ, that of τ, and −ιᵀX̂Δ where α = Xβ − y + ι.

use crate::exact::node::context::MEMBER_PAIR_BYTES;
use crate::exact::node::{Choice, NodeContext, NodeRelaxation};
use crate::penalty::Coordinate;
use crate::relaxation::quadratic::Gram;
use faer::linalg::matmul::matmul;
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::linalg::solvers::{DenseSolveCore, Llt};
use faer::{Accum, Mat, Par, Side};

/// κ and H of MATH 11.16: the node, seen from the members that do not answer.
pub struct Reduced<'r> {
    /// The node at its minimiser.
    pub node: &'r NodeRelaxation,
    /// Penalty of each member.
    pub penalties: Vec<Coordinate>,
    /// N.
    pub moving: Vec<usize>,
    /// Z.
    pub still: Vec<usize>,
    /// κ, of N.
    pub kappa: Vec<f64>,
    /// H⁻¹.
    pub inverse: Mat<f64>,
    /// M_ZN H⁻¹.
    pub answers: Mat<f64>,
    /// M_{Z|N}, from the position of the size of N on.
    left: Gram,
    /// τ of Z.
    pub tau: Vec<f64>,
    /// |τ| up to which a member of Z adds nothing to the sum, less than nothing where it does already.
    pub quiet: Vec<f64>,
    /// Lengths of the columns, by member.
    pub lengths: Vec<f64>,
    /// What rounding can add.
    rounding: Rounding,
}

/// The terms of MATH 11.19 that no probe changes.
struct Rounding {
    /// In ξ_j, relative to ‖x_j‖ Σ_l ‖x_l‖ |Δ_l|.
    slopes: f64,
    /// Σ ‖x_j‖ times the largest coefficient that Ψ′_j is the steeper for.
    asked: f64,
    /// In τ, by member.
    errors: Vec<f64>,
    /// What that can add to the sum.
    unsure: f64,
    /// ‖ι‖, which is relative to the targets as far as the intercept does not take them up.
    drift: f64,
}

impl<'r> Reduced<'r> {
    /// H = M_NN + diag(κ) and M_{Z|N} = M_ZZ − M_ZN H⁻¹M_NZ (MATH 11.16, 11.17) at the node's minimiser; `None` where the loss is not
    /// quadratic, the minimiser is not that of the node any more, M is positive on some subsets only or H is singular.
    pub fn new(context: &NodeContext<'_, '_, '_>, node: &'r NodeRelaxation) -> Option<Self> {
        let members = &node.members;
        let is_pooled = members.share.iter().any(|s| *s > 0.0);
        if node.stale || !context.problem().loss().is_quadratic() || is_pooled {
            return None;
        }
        if !context.fits(MEMBER_PAIR_BYTES * (members.len() as f64).powi(2)) {
            return None;
        }
        let penalties: Vec<Coordinate> = (0..members.len()).map(|a| context.coordinate(node, a)).collect();
        let reach = |a: usize| if members.beta[a] > 0.0 { penalties[a].upper } else { -penalties[a].lower };
        let (moving, still): (Vec<usize>, Vec<usize>) =
            (0..penalties.len()).partition(|&a| members.beta[a] != 0.0 && members.beta[a].abs() < reach(a));
        let is_curved = |a: usize| members.choices[a] == Choice::In || penalties[a].fraction(members.beta[a]) >= 1.0;
        let kappa: Vec<f64> = moving.iter().map(|&a| if is_curved(a) { 2.0 * penalties[a].l2 } else { 0.0 }).collect();
        let order: Vec<usize> = moving.iter().chain(&still).map(|&a| members.positions[a]).collect();
        let (mut left, m) = (context.inner_products(&order), moving.len());
        let h =
            Mat::from_fn(m, m, |e, f| left.at(e, f) + if e == f { kappa[e] - members.moved[moving[e]] } else { 0.0 });
        let inverse = Llt::new(h.as_ref(), Side::Lower).ok()?.inverse();
        still.iter().enumerate().for_each(|(k, &a)| left.add_to_diagonal(m + k, -members.moved[a]));
        let answers = eliminate(&mut left, &inverse);
        let lengths: Vec<f64> = (0..penalties.len()).map(|a| context.stored_square(node, a).sqrt()).collect();
        let size = condition(&h, &inverse, |e| lengths[moving[e]]);
        let sums = (penalties.len() + context.problem().nrows()) as f64;
        let slopes = 8.0 * f64::EPSILON * (sums + m as f64 * size);
        let rounding = Rounding::new(context, node, &penalties, &lengths, slopes);
        let tau: Vec<f64> = still.iter().map(|&a| members.tau[a]).collect();
        let quiet = |(&a, tau): (&usize, &f64)| {
            let least = penalties[a].slope(true).min(penalties[a].slope(false));
            if tau.abs() > least || members.beta[a] != 0.0 { -1.0 } else { least }
        };
        let quiet = still.iter().zip(&tau).map(quiet).collect();
        Some(Self { node, penalties, moving, still, kappa, inverse, answers, left, tau, quiet, lengths, rounding })
    }

    /// Column k of M_{Z|N} (MATH 11.17).
    #[inline]
    pub fn left(&self, k: usize) -> &[f64] {
        let first = self.moving.len();
        &self.left.column(first + k)[first..]
    }

    /// moved·(rounding·(Σ‖x_j‖asked_j + moved) + ‖ι‖) + Σ 2·err(τ_j)·asked_j + Σ err_j·min(err_j/(2λ2′_j), reach_j) (MATH 11.19), the most that
    /// rounding adds to the sum where Σ ‖x_l‖ |Δ_l| is `moved` and the members of `more` have slopes that ask for so large coefficients, besides
    /// what is asked at the minimiser. Ψ′_j changes by the coefficient it asks for, which grows by err/2λ2′ over an error in its slope.
    pub fn lost(&self, moved: f64, more: &[(usize, f64)]) -> f64 {
        let Rounding { slopes, asked: before, errors, unsure, drift } = &self.rounding;
        let asked: f64 = more.iter().map(|&(a, asked)| asked * self.lengths[a]).sum();
        let unsure_more: f64 = more.iter().map(|&(a, asked)| 2.0 * errors[a] * asked).sum();
        let grown = |(a, c): (usize, &Coordinate)| {
            let error = self.lengths[a] * (slopes * moved + drift) + errors[a];
            error * (error / (2.0 * c.l2)).min(c.upper.max(-c.lower))
        };
        let second: f64 = self.penalties.iter().enumerate().map(grown).sum();
        moved * (slopes * (before + moved + asked) + drift) + unsure + unsure_more + second
    }
}

/// M_ZN H⁻¹, and M_{Z|N} = M_ZZ − M_ZN H⁻¹M_NZ (MATH 11.17) in place of M_ZZ in the matrix.
fn eliminate(matrix: &mut Gram, inverse: &Mat<f64>) -> Mat<f64> {
    let (m, z) = (inverse.ncols(), matrix.len() - inverse.ncols());
    let (_, _, cross, left) = matrix.as_mut().split_at_mut(m, m);
    let mut answers = Mat::zeros(z, m);
    matmul(answers.as_mut(), Accum::Replace, cross.as_ref(), inverse.as_ref(), 1.0, Par::Seq);
    let (upper, full) = (BlockStructure::TriangularUpper, BlockStructure::Rectangular);
    triangular::matmul(left, upper, Accum::Add, answers.as_ref(), full, cross.transpose(), full, -1.0, Par::Seq);
    matrix.mirror(m, m);
    answers
}

/// ‖H‖‖H⁻¹‖ in units of the columns: H times the computed inverse is the identity up to about |N|ε of it.
fn condition(h: &Mat<f64>, inverse: &Mat<f64>, unit: impl Fn(usize) -> f64) -> f64 {
    let m = h.ncols();
    let norm = |of: &dyn Fn(usize, usize) -> f64| {
        let sums = (0..m).map(|e| (0..m).map(|f| of(e, f).abs()).sum::<f64>());
        // Unlike f64::max this keeps what is no number, which proves nothing.
        sums.fold(0.0, |most, sum| if sum <= most { most } else { sum })
    };
    norm(&|e, f| h[(e, f)] / (unit(e) * unit(f))) * norm(&|e, f| inverse[(e, f)] * unit(e) * unit(f))
}

impl Rounding {
    fn new(
        context: &NodeContext<'_, '_, '_>,
        node: &NodeRelaxation,
        penalties: &[Coordinate],
        lengths: &[f64],
        slopes: f64,
    ) -> Self {
        let members = &node.members;
        let steepest = |a: usize| {
            let c = penalties[a];
            members.beta[a].abs() + c.knee(true).max(c.knee(false)) + c.selected().link(members.tau[a]).abs()
        };
        let features = context.features(&members.positions);
        let outer = context.bounds.outer_correlations(&node.alpha, &features, &members.tau, |a| penalties[a]);
        let errors: Vec<f64> = outer.iter().zip(&members.tau).map(|(outer, tau)| 2.0 * (outer - tau).abs()).collect();
        Self {
            slopes,
            asked: (0..penalties.len()).map(|a| lengths[a] * steepest(a)).sum(),
            unsure: errors.iter().enumerate().map(|(a, error)| 2.0 * error * steepest(a)).sum(),
            errors,
            drift: drift(context, node),
        }
    }
}

/// 4ε ‖√w ∘ (|o| + |y − β₀|)‖ ≥ ‖ι‖ (MATH 11.19) for α = o + Xβ + β₀ − y + ι as it is computed: what Xβ adds to it is among the sums of
/// ξ.
fn drift(context: &NodeContext<'_, '_, '_>, node: &NodeRelaxation) -> f64 {
    let (problem, margins) = (context.problem(), context.problem().null_margins());
    let size = |(i, (o, y)): (usize, (&f64, &f64))| {
        problem.weights().map_or(1.0, |w| w[i]) * (o.abs() + (y - node.intercept).abs()).powi(2)
    };
    4.0 * f64::EPSILON * margins.iter().zip(problem.y()).enumerate().map(size).sum::<f64>().sqrt()
}
