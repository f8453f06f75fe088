//! What moved curvature is worth: D′ as a function of d, to second order around the d that a node was relaxed with (MATH 11.9).
//!
//! By its slopes v alone a full step goes too far: a coefficient that takes leaves its fraction, is worth nothing there, and gives back in
//! the next step what it took. The slopes change with d as the minimiser answers, and with that known a step stops where they are used up:
//! two or three come to the best diagonal, from the parent's mostly one.

use crate::exact::node::context::MEMBER_PAIR_BYTES;
use crate::exact::node::{Choice, NodeContext, NodeRelaxation};
use faer::linalg::solvers::{DenseSolveCore, Llt};
use faer::{Mat, Side};

/// Σ_j v_jδ_j − ½δᵀKδ with δ = d − d° (MATH 11.9), over some members.
pub struct Worth {
    /// v.
    pub slopes: Vec<f64>,
    /// d° and K, where they are known.
    bend: Option<Bend>,
}

/// How the slopes change.
struct Bend {
    /// d°.
    at: Vec<f64>,
    /// K.
    falls: Mat<f64>,
    /// The part of a diagonal that is taken in the end.
    part: f64,
}

impl Worth {
    /// v and K = diag(own) + uuᵀ ∘ G of the takers, G = (M_NN + diag κ)⁻¹ of the members that move with the minimiser (MATH 11.9, 11.16), where curvature was
    /// moved before and memory allows.
    pub fn of(context: &NodeContext<'_, '_, '_>, node: &NodeRelaxation, who: &[(usize, Taker)], part: f64) -> Self {
        let slopes: Vec<f64> = who.iter().map(|(_, t)| t.slope).collect();
        let Some(answer) = node.inherited.as_ref().and_then(|_| answers(context, node, who)) else {
            return Self::linear(slopes.into_iter().map(|v| v.max(0.0)).collect());
        };
        let falls = Mat::from_fn(who.len(), who.len(), |e, f| {
            who[e].1.lever * answer[(e, f)] * who[f].1.lever + if e == f { who[e].1.own } else { 0.0 }
        });
        let at = who.iter().map(|(a, _)| node.members.moved[*a]).collect();
        Self { slopes, bend: Some(Bend { at, falls, part }) }
    }

    /// By the slopes alone.
    pub fn linear(slopes: Vec<f64>) -> Self {
        Self { slopes, bend: None }
    }

    /// How much the worth of the diagonal rises along each of its entries.
    pub fn rises(&self, d: &[f64]) -> Vec<f64> {
        let mut rises = self.slopes.clone();
        if let Some(Bend { at, falls, part }) = &self.bend {
            for (e, (d, at)) in d.iter().zip(at).enumerate() {
                let step = part * d - at;
                rises.iter_mut().zip(falls.col_as_slice(e)).for_each(|(v, k)| *v -= k * step);
            }
        }
        rises
    }

    /// By how much that falls, part of K, added to a matrix in units of `unit`.
    pub fn add_falls(&self, matrix: &mut Mat<f64>, unit: f64) {
        let Some(Bend { falls, part, .. }) = &self.bend else { return };
        for e in 0..falls.ncols() {
            let column = matrix.col_as_slice_mut(e).iter_mut().zip(falls.col_as_slice(e));
            column.for_each(|(x, k)| *x += part * k / unit);
        }
    }

    /// Σ v_jd_j of the entries that are worth something, for each of them: the size of what a barrier is weighed against.
    pub fn mean(&self, d: &[f64]) -> f64 {
        self.slopes.iter().zip(d).map(|(v, d)| v.max(0.0) * d).sum::<f64>() / d.len() as f64
    }
}

/// One member's part in what d is worth.
#[derive(Clone, Copy)]
pub struct Taker {
    /// v_j.
    pub slope: f64,
    /// By how much it falls with d_j alone.
    own: f64,
    /// ∂v_j/∂β_j: by how much it changes as the minimiser does.
    lever: f64,
}

/// Whether a member can take, and what that is worth; where no curvature has been moved yet, the slope alone.
///
/// v_j = ½|β_j|(knee′_j − |β_j|) between zero and the knee (MATH 11.9). A member that took until it left its fraction is drawn back to the d at which it left
/// it, knee′ = |β_j| or τ₀′ = |τ_j|; one that would have left it without any does not take.
pub fn taker(context: &NodeContext<'_, '_, '_>, node: &NodeRelaxation, a: usize) -> Option<Taker> {
    let members = &node.members;
    if members.choices[a] != Choice::Free {
        return None;
    }
    let (c, b, d) = (context.coordinate(node, a), members.beta[a].abs(), members.moved[a]);
    let knee = c.knee(members.beta[a] > 0.0);
    if b > 0.0 && b < knee {
        let (own, lever) = (b * knee / (8.0 * c.l2), (0.5 * knee - b) * members.beta[a].signum());
        return Some(Taker { slope: 0.5 * b * (knee - b), own, lever });
    }
    // λ2′ at which it comes back to its fraction.
    let back = if b > 0.0 { c.l0 / (b * b) } else { (members.tau[a].abs() - c.l1).max(0.0).powi(2) / (4.0 * c.l0) };
    let own_ridge = c.l2 - 0.5 * d;
    if !(d > 0.0 && back > own_ridge) {
        return None;
    }
    // As K has it just inside the fraction, with the column's own curvature for H⁻¹: |β|knee′/(8λ2′) at the knee, and (½knee′)²/Q_jj.
    let (reach, square) = (b.max(knee), context.bounds.square(context.feature(node, a)));
    let own = reach * reach / 8.0 / back.max(f64::MIN_POSITIVE) + 0.25 * reach * reach / square.max(f64::MIN_POSITIVE);
    Some(Taker { slope: -own * (d - 2.0 * (back - own_ridge)).max(0.0), own, lever: 0.0 })
}

/// G over the takers, zero for those that do not move.
fn answers(context: &NodeContext<'_, '_, '_>, node: &NodeRelaxation, who: &[(usize, Taker)]) -> Option<Mat<f64>> {
    let members = &node.members;
    let moving: Vec<usize> = (0..members.len()).filter(|&a| members.beta[a] != 0.0).collect();
    if !context.fits(MEMBER_PAIR_BYTES * (moving.len() as f64).powi(2)) {
        return None;
    }
    let positions: Vec<usize> = moving.iter().map(|&a| members.positions[a]).collect();
    let gram = context.inner_products(&positions);
    let bent = |e: usize| {
        let (a, c) = (moving[e], context.coordinate(node, moving[e]));
        let kappa = if members.choices[a] == Choice::In { 2.0 * c.l2 } else { c.envelope_piece(members.beta[a]).1 };
        kappa - members.moved[a]
    };
    let matrix = Mat::from_fn(moving.len(), moving.len(), |e, f| gram.at(e, f) + if e == f { bent(e) } else { 0.0 });
    let inverse = Llt::new(matrix.as_ref(), Side::Lower).ok()?.inverse();
    let place: Vec<Option<usize>> = who.iter().map(|(a, _)| moving.binary_search(a).ok()).collect();
    let entry = |e: usize, f: usize| place[e].zip(place[f]).map_or(0.0, |(e, f)| inverse[(e, f)]);
    Some(Mat::from_fn(who.len(), who.len(), entry))
}
