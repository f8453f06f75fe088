//! A node in which the coefficients that are not zero answer to whatever else moves.
//!
//! M = Q − diag(d) of [`crate::exact::diagonal`]. A are the members whose coefficients move along one piece of their penalty, Z the others,
//! H = M_AA + diag(c) with c_e = 2λ2′ for one in the model or beyond its knee and 0 on the linear piece. If those of Z change by u,
//! the answer Δ_A = −H⁻¹M_AZ u leaves the slopes along A on their pieces,
//!
//!   t_A = −c ∘ Δ_A,   t_Z = K u,   K = M_ZZ − M_ZA H⁻¹ M_AZ,   where t = MΔ.
//!
//! For every Δ, however it was found,
//!
//!   D′(β + Δ) = D′(β) + Σ_k {Ψ′_k(τ_k + t_k) − Ψ′_k(τ_k)} − Σ_k (β_k + ½ Δ_k) t_k,
//!
//! so that nothing but rounding stands between such a sum and a bound: that of t, that of τ, and −δᵀXΔ where α = Xβ − y + δ.

use crate::exact::node::Choice;
use crate::exact::relax::{Ground, PAIR, Relaxed};
use crate::penalty::Coordinate;
use crate::relaxation::quadratic::Gram;
use faer::linalg::matmul::matmul;
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::linalg::solvers::{DenseSolveCore, Llt};
use faer::{Accum, Mat, Par, Side};

/// The node, seen from the members that do not answer.
pub struct Reduced<'r> {
    /// The node at its minimiser.
    pub now: &'r Relaxed,
    /// Penalty of each member.
    pub penalties: Vec<Coordinate>,
    /// A and Z.
    pub moving: Vec<usize>,
    pub still: Vec<usize>,
    /// c, of A.
    pub own: Vec<f64>,
    /// H⁻¹.
    pub inverse: Mat<f64>,
    /// M_ZA H⁻¹.
    pub answers: Mat<f64>,
    /// K, from the position of the size of A on.
    left: Gram,
    /// τ of Z.
    pub tau: Vec<f64>,
    /// |τ| up to which a member of Z adds nothing to the sum, less than nothing where it does already.
    pub quiet: Vec<f64>,
    /// Lengths of the columns, by member.
    pub lengths: Vec<f64>,
    /// Rounding in t_k, relative to ‖x_k‖ Σ_l ‖x_l‖ |Δ_l|.
    rounding: f64,
    /// Σ ‖x_k‖ times the largest coefficient that Ψ′_k is the steeper for.
    asked: f64,
    /// Rounding in τ, by member, and what it can add to the sum.
    errors: Vec<f64>,
    unsure: f64,
    /// ‖δ‖, which is relative to the targets as far as the intercept does not take them up.
    drift: f64,
}

impl Reduced<'_> {
    /// Column k of K.
    #[inline]
    pub fn left(&self, k: usize) -> &[f64] {
        let first = self.moving.len();
        &self.left.column(first + k)[first..]
    }

    /// The most that rounding adds to the sum where Σ ‖x_l‖ |Δ_l| is `moved` and Ψ′ asks for coefficients of `asked` in all, besides
    /// those of the thresholds. Ψ′_k changes by the coefficient it asks for, which grows by e/2λ2′ over an error of e in its slope.
    pub fn lost(&self, moved: f64, asked: f64) -> f64 {
        let grown = |(a, c): (usize, &Coordinate)| {
            let error = self.lengths[a] * (self.rounding * moved + self.drift) + self.errors[a];
            error * (error / (2.0 * c.l2)).min(c.upper.max(-c.lower))
        };
        let second: f64 = self.penalties.iter().enumerate().map(grown).sum();
        moved * (self.rounding * (self.asked + moved + asked) + self.drift) + self.unsure + second
    }
}

impl Ground<'_, '_, '_> {
    /// The node at its minimiser; `None` where the loss is not quadratic, the minimiser is not that of the node any more, M is positive
    /// on some subsets only or H is singular.
    pub(super) fn reduce<'r>(&self, now: &'r Relaxed) -> Option<Reduced<'r>> {
        if now.stale || !self.problem().loss().is_quadratic() || now.share.iter().any(|s| *s > 0.0) {
            return None;
        }
        if !self.fits(PAIR * (now.members.len() as f64).powi(2)) {
            return None;
        }
        let penalties: Vec<Coordinate> = (0..now.members.len()).map(|a| self.coordinate(now, a)).collect();
        let reach = |a: usize| if now.beta[a] > 0.0 { penalties[a].upper } else { -penalties[a].lower };
        let (moving, still): (Vec<usize>, Vec<usize>) =
            (0..penalties.len()).partition(|&a| now.beta[a] != 0.0 && now.beta[a].abs() < reach(a));
        let order: Vec<usize> = moving.iter().chain(&still).map(|&a| now.members[a]).collect();
        let (mut gram, m, z) = (self.inner_products(&order), moving.len(), still.len());
        let is_curved = |a: usize| now.choices[a] == Choice::In || penalties[a].fraction(now.beta[a]) >= 1.0;
        let own: Vec<f64> = moving.iter().map(|&a| if is_curved(a) { 2.0 * penalties[a].l2 } else { 0.0 }).collect();
        let h = Mat::from_fn(m, m, |e, f| gram.at(e, f) + if e == f { own[e] - now.moved[moving[e]] } else { 0.0 });
        let inverse = Llt::new(h.as_ref(), Side::Lower).ok()?.inverse();
        still.iter().enumerate().for_each(|(k, &a)| gram.add_to_diagonal(m + k, -now.moved[a]));
        let (_, _, cross, left) = gram.as_mut().split_at_mut(m, m);
        let mut answers = Mat::zeros(z, m);
        matmul(answers.as_mut(), Accum::Replace, cross.as_ref(), inverse.as_ref(), 1.0, Par::Seq);
        let (upper, full) = (BlockStructure::TriangularUpper, BlockStructure::Rectangular);
        triangular::matmul(left, upper, Accum::Add, answers.as_ref(), full, cross.transpose(), full, -1.0, Par::Seq);
        gram.mirror(m, m);
        let lengths: Vec<f64> = (0..penalties.len()).map(|a| self.square(now, a).sqrt()).collect();
        // H times the computed inverse is the identity up to about mε‖H‖‖H⁻¹‖, in units of the columns.
        let unit = |e: usize| lengths[moving[e]];
        let norm = |of: &dyn Fn(usize, usize) -> f64| {
            let sums = (0..m).map(|e| (0..m).map(|f| of(e, f).abs()).sum::<f64>());
            // Unlike f64::max this keeps what is no number, which proves nothing.
            sums.fold(0.0, |most, sum| if sum <= most { most } else { sum })
        };
        let size = norm(&|e, f| h[(e, f)] / (unit(e) * unit(f))) * norm(&|e, f| inverse[(e, f)] * unit(e) * unit(f));
        let sums = (penalties.len() + self.problem().nrows()) as f64;
        let tau: Vec<f64> = still.iter().map(|&a| now.tau[a]).collect();
        let quiet = |(&a, tau): (&usize, &f64)| {
            let least = penalties[a].slope(true).min(penalties[a].slope(false));
            if tau.abs() > least || now.beta[a] != 0.0 { -1.0 } else { least }
        };
        let steepest = |a: usize| {
            let c = penalties[a];
            now.beta[a].abs() + c.knee(true).max(c.knee(false)) + c.selected().link(now.tau[a]).abs()
        };
        let features: Vec<usize> = now.members.iter().map(|&k| self.near.active.features()[k]).collect();
        let outer = self.problem().outer_correlations(&now.alpha, &features, &now.tau, |a| penalties[a]);
        let errors: Vec<f64> = outer.iter().zip(&now.tau).map(|(outer, tau)| 2.0 * (outer - tau).abs()).collect();
        let unsure = errors.iter().enumerate().map(|(a, error)| 2.0 * error * steepest(a)).sum();
        Some(Reduced {
            now,
            quiet: still.iter().zip(&tau).map(quiet).collect(),
            asked: (0..penalties.len()).map(|a| lengths[a] * steepest(a)).sum(),
            rounding: 8.0 * f64::EPSILON * (sums + m as f64 * size),
            penalties,
            moving,
            still,
            own,
            inverse,
            answers,
            left: gram,
            tau,
            lengths,
            unsure,
            errors,
            drift: self.drift(now),
        })
    }

    /// ‖δ‖ for α = o + Xβ + b − y as it is computed: what Xβ adds to it is among the sums of t.
    fn drift(&self, now: &Relaxed) -> f64 {
        let (problem, margins) = (self.problem(), self.problem().null_margins());
        let size = |(i, (o, y)): (usize, (&f64, &f64))| {
            problem.weights().map_or(1.0, |w| w[i]) * (o.abs() + (y - now.intercept).abs()).powi(2)
        };
        4.0 * f64::EPSILON * margins.iter().zip(problem.y()).enumerate().map(size).sum::<f64>().sqrt()
    }
}
