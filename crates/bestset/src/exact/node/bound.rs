//! R_node and D_node of a point (MATH 11.1, 11.2): what a node's minimiser costs, and what no subset of the node goes below.
//!
//! Features in the model pay λ1|b| + λ2b², open ones ρ(b): R_node ≤ P on every subset of the node. With at most k features every
//! feature pays ν more and νk is paid back (Lagrange): still R_node ≤ P for any ν ≥ 0, and the best ν gives D_k of MATH 6.6. The
//! bound is computed at α = w ∘ ℓ′(u + β₀) from the columns themselves, so that nothing in a proof depends on how β was found.

use crate::exact::node::{Choice, NodeContext, NodeRelaxation};
use crate::exact::setting::Added;

/// R_node(β) = L(β) − ½Σd_jβ_j² + Σ_U ρ′_j(β_j) + Σ_I (λ0_j + λ1|β_j| + λ2′β_j²) (MATH 11.2), with the best intercept and the dual
/// point of the coefficients.
pub fn refresh(context: &NodeContext<'_, '_, '_>, node: &mut NodeRelaxation) {
    let (problem, members) = (context.problem(), &node.members);
    let mut margins = problem.null_margins();
    for (&k, &b) in members.positions.iter().zip(&members.beta).filter(|p| *p.1 != 0.0) {
        context.near.active.axpy(k, b, &mut margins);
    }
    node.intercept = problem.best_intercept(&margins, node.intercept);
    problem.dual_point(&margins, node.intercept, &mut node.alpha);
    let support = (0..members.len()).filter(|&a| members.beta[a] != 0.0);
    let penalties: f64 = support.map(|a| context.coordinate(node, a).envelope(members.beta[a])).sum();
    let moved: f64 = (0..members.len()).map(|a| 0.5 * members.moved[a] * members.beta[a] * members.beta[a]).sum();
    node.loss = problem.loss_sum(&margins, node.intercept);
    node.value = node.loss - moved + penalties + price(context, node).sum;
}

/// τ_j = x_jᵀα − d_jβ_j of every member (MATH 11.8), the slope of the smooth part along it.
pub fn correlate(context: &NodeContext<'_, '_, '_>, node: &mut NodeRelaxation) {
    let members = &mut node.members;
    context.near.active.dot_many(&members.positions, &node.alpha, &mut members.tau);
    let moved = members.moved.iter().zip(&members.beta).enumerate().filter(|p| *p.1.1 != 0.0);
    moved.for_each(|(a, (d, b))| members.tau[a] -= d * b);
}

/// D′ = −Σ ℓ*(α_i) + ½Σd_jβ_j² + Σ_U Ψ′_j + Σ_I (λ0 + φ⁰_j) at the point, less what rounding can have added (MATH 11.1, 11.8).
pub fn measure(context: &NodeContext<'_, '_, '_>, node: &mut NodeRelaxation) {
    let features = context.features(&node.members.positions);
    let dual =
        context.bounds.dual_value_with(&node.alpha, &features, &node.members.tau, |a| context.coordinate(node, a));
    let (price, moved) = (price(context, node), moved_back(context, node));
    let grain = f64::EPSILON * (dual.abs() + price.sum.abs() + moved.sum);
    node.dual = dual + price.sum + moved.sum - price.rounding - moved.rounding - grain;
    node.owed = owed(context, node);
}

/// A sum, and the most that rounding can have added to it.
struct Rounded {
    sum: f64,
    rounding: f64,
}

/// Σ_I λ0_j + ν(|I| − k) (MATH 11.1, 11.5): what those in the model pay for sure, less what is paid back; or, among subsets that add some,
/// what they pay with ψ, and what so many must pay besides (MATH 13.11).
fn price(context: &NodeContext<'_, '_, '_>, node: &NodeRelaxation) -> Rounded {
    let inside = node.members.positions.iter().zip(&node.members.choices).filter(|p| *p.1 == Choice::In);
    let own = |k: usize| match context.added {
        Some(_) => context.priced(k, node.multiplier).l0,
        None => context.near.coordinates[k].l0,
    };
    let (sum, count) = inside.fold((0.0, 0.0), |(s, c), (&k, _)| (s + own(k), c + 1.0));
    let back = match context.added {
        Some(added) => added.saved(node.multiplier),
        None => context.size.map_or(0.0, |k| node.multiplier * (count - k as f64)),
    };
    Rounded { sum: sum + back, rounding: f64::EPSILON * (count + 4.0) * (sum + back.abs()) }
}

/// ½Σd_jβ_j² (MATH 11.8); rounding in d_jβ_j costs 4ε|d_jβ_j|(2|𝔅′_j(τ_j)| + |β_j|), as Ψ′ changes by at most the coefficient it
/// asks for, which is not far from β (the rounding after MATH 11.11).
fn moved_back(context: &NodeContext<'_, '_, '_>, node: &NodeRelaxation) -> Rounded {
    let members = &node.members;
    let (mut sum, mut size, mut lost) = (0.0, 0.0, 0.0);
    for a in (0..members.len()).filter(|&a| members.moved[a] != 0.0 && members.beta[a] != 0.0) {
        let (d, b) = (members.moved[a], members.beta[a]);
        let asked = context.coordinate(node, a).selected().link(members.tau[a]).abs();
        sum += 0.5 * d * b * b;
        size += 0.5 * d.abs() * b * b;
        lost += 4.0 * f64::EPSILON * d.abs() * b.abs() * (2.0 * asked + b.abs());
    }
    Rounded { sum, rounding: lost + f64::EPSILON * (members.len() + 4) as f64 * size }
}

/// −Σ_W Ψ′_j over the free members with a share (MATH 11.22), of which only those beyond λ1 can have any.
fn owed(context: &NodeContext<'_, '_, '_>, node: &NodeRelaxation) -> f64 {
    let members = &node.members;
    let is_pooled = |a: &usize| members.share[*a] > 0.0 && members.choices[*a] == Choice::Free;
    let is_beyond = |a: &usize| members.tau[*a].abs() > context.near.coordinates[members.positions[*a]].l1;
    let charged = (0..members.len()).filter(is_pooled).filter(is_beyond);
    charged.map(|a| -context.coordinate(node, a).psi(members.tau[a])).sum()
}

/// Σ_I 1 + Σ_U min(1, |β_j|/knee_j) (MATH 11.5): features that the relaxation takes; where some are to be added, what those outside the answer
/// cost with their own prices (MATH 13.11).
pub fn count(context: &NodeContext<'_, '_, '_>, node: &NodeRelaxation) -> f64 {
    let members = &node.members;
    let one = |a: usize| match (members.choices[a], members.beta[a]) {
        (Choice::In, _) => context.weight(members.positions[a]),
        (_, 0.0) => 0.0,
        (_, b) => context.weight(members.positions[a]) * context.coordinate(node, a).fraction(b),
    };
    (0..members.len()).map(one).sum()
}

/// Whether a free coefficient lies strictly between zero and its knee, or a pooled one may have to.
pub fn has_fractional(context: &NodeContext<'_, '_, '_>, node: &NodeRelaxation) -> bool {
    let members = &node.members;
    let is_fractional = |a: usize| {
        let b = members.beta[a];
        b != 0.0 && members.choices[a] == Choice::Free && context.coordinate(node, a).fraction(b) < 1.0
    };
    node.owed > 0.0 || (0..members.len()).any(is_fractional)
}

/// Whether the minimiser is an answer with P = R_node, up to `room`: nothing fractional, not too many features, and no price paid
/// back for places left empty.
pub fn solves(context: &NodeContext<'_, '_, '_>, node: &NodeRelaxation, room: f64) -> bool {
    let fits = |k: usize| {
        let left = k as f64 - count(context, node);
        left >= 0.0 && node.multiplier * left <= room
    };
    let pays = |added: Added| (1.0 - node.multiplier) * (added.paid - count(context, node)).abs() <= room;
    !has_fractional(context, node) && context.size.is_none_or(fits) && context.added.is_none_or(pays)
}
