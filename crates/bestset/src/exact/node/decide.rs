//! The optimality rules inside a node.

use crate::exact::node::members::BUDGET_ROUNDING;
use crate::exact::node::{Choice, NodeContext, NodeRelaxation};
use crate::penalty::Coordinate;
use crate::problem::screening;

/// j is out where D′ + max(0, φ_j^{+(d_j+σ_j)}(τ_j)) > P̂ (φ′_j where β_j ≠ 0), which is below (11.13) by no more than Ψ′_j ≤ 0, and in where D′ − Ψ′_j + ½σ_jβ_j² > P̂ (MATH 5.4, 5.5, 11.13); out as well
/// where it does not fit into the budget, Σ_Iθ + θ_j > 1 (MATH 11.20). `best` is P̂; what is out is no member any more.
///
/// D and τ must belong to one dual point: the parent's bound, though better, says nothing together with the τ of this one.
pub fn decide(context: &NodeContext<'_, '_, '_>, node: &mut NodeRelaxation, best: f64) {
    let left = 1.0 + BUDGET_ROUNDING - node.members.spent();
    let free = undecided(context, node, best);
    let coordinates: Vec<Coordinate> = free.iter().map(|&a| context.coordinate(node, a)).collect();
    let tau: Vec<f64> = free.iter().map(|&a| node.members.tau[a]).collect();
    let features: Vec<usize> = free.iter().map(|&a| context.feature(node, a)).collect();
    let outer = context.bounds.outer_correlations(&node.alpha, &features, &tau, |e| coordinates[e]);
    for (e, &a) in free.iter().enumerate() {
        let (b, spare) = (node.members.beta[a], node.members.spare[a]);
        let alone = if b == 0.0 { coordinates[e].curved(spare) } else { coordinates[e] };
        // Ψ′ ≤ 0 is part of D′: with φ^{+(d+σ)} ≥ φ′ in its place the bound rises by at least max(0, φ^{+(d+σ)}).
        let excluded = screening::in_no_optimal_subset(alone, outer[e], node.dual, best);
        if excluded || node.members.share[a] > left {
            node.set(a, Choice::Out);
        } else if screening::in_every_optimal_subset(coordinates[e], tau[e], node.dual + 0.5 * spare * b * b, best) {
            node.set(a, Choice::In);
        }
    }
    node.members.drop_out();
}

/// The free members that a rule can say anything about. φ is at most the price in the node: a wider gap excludes nothing, and where Ψ = 0 nothing is
/// included either.
fn undecided(context: &NodeContext<'_, '_, '_>, node: &NodeRelaxation, best: f64) -> Vec<usize> {
    let (members, gap) = (&node.members, best - node.dual);
    let may_be_decided = |a: &usize| {
        let price = context.priced(members.positions[*a], node.multiplier).l0;
        let used = members.beta[*a] != 0.0 || members.share[*a] > 0.0;
        members.choices[*a] == Choice::Free && (price > gap || used)
    };
    (0..members.len()).filter(may_be_decided).collect()
}
