//! What every better subset is known to pay, by its features and their signs (MATH 11.46).

use crate::exact::node::{Choice, NodeContext, NodeRelaxation};
use crate::penalty::Coordinate;
use crate::problem::screening::{self, MARGIN};

/// Shares of the budget: a better subset has Σ θ_j over its pooled features and its features of the other sign at most one.
pub struct Facts {
    /// θ_j of a member at zero, whatever its sign, by position.
    share: Vec<f64>,
    /// The same with the sign that it is not pulled to, at least.
    wrong: Vec<f64>,
    /// The sign that it is pulled to.
    sign: Vec<f64>,
}

impl Facts {
    /// From a bound D′ and its τ. Where products were taken for it, what B pays with the other sign at least, by member, the facts by which signs
    /// were known then, and B.
    pub fn of(
        context: &NodeContext<'_, '_, '_>,
        node: &NodeRelaxation,
        taken: Option<(&[f64], &Facts, &[usize])>,
        best: f64,
    ) -> Option<Self> {
        let (members, count) = (&node.members, context.near.active.len());
        let gap = best - node.dual + MARGIN * (best.abs() + node.dual.abs());
        if !(gap > 0.0 && gap.is_finite()) {
            return None;
        }
        let mut facts = Self { share: vec![0.0; count], wrong: vec![0.0; count], sign: vec![1.0; count] };
        let (coordinates, outer) = outer(context, node);
        let part = |paid: f64| (1.0 - MARGIN) * paid.max(0.0) / gap;
        for a in 0..members.len() {
            let (k, c, tau) = (members.positions[a], coordinates[a], members.tau[a]);
            facts.sign[k] = if tau > 0.0 { -1.0 } else { 1.0 };
            // With the other sign the slope is no help: λ0 at least, or all that the coefficient gains.
            let mut wrong = match members.choices[a] {
                Choice::In => -c.phi(tau * (1.0 - MARGIN)),
                _ => c.l0,
            };
            let mut zero =
                if members.choices[a] == Choice::Free && members.beta[a] == 0.0 { c.phi(outer[a]) } else { 0.0 };
            if let Some((worst, before, own)) = taken
                && own.binary_search(&a).is_ok()
            {
                (facts.sign[k], wrong, zero) = (before.sign[k], worst[a], zero.min(worst[a]));
            }
            (facts.share[k], facts.wrong[k]) = (part(zero).min(1.0), part(wrong));
        }
        Some(facts)
    }

    /// θ of a member.
    pub fn share(&self, node: &NodeRelaxation, a: usize) -> f64 {
        self.share[node.members.positions[a]]
    }

    /// θ of a member with the other sign.
    pub fn wrong(&self, node: &NodeRelaxation, a: usize) -> f64 {
        self.wrong[node.members.positions[a]]
    }

    /// The sign that a member is pulled to.
    pub fn sign(&self, node: &NodeRelaxation, a: usize) -> f64 {
        self.sign[node.members.positions[a]]
    }
}

/// The penalties of the members, and their τ at the end of its rounding interval where a term is least.
fn outer(context: &NodeContext<'_, '_, '_>, node: &NodeRelaxation) -> (Vec<Coordinate>, Vec<f64>) {
    let members = &node.members;
    let coordinates: Vec<Coordinate> = (0..members.len()).map(|a| context.coordinate(node, a)).collect();
    let features = context.features(&members.positions);
    let outer = context.bounds.outer_correlations(&node.alpha, &features, &members.tau, |a| coordinates[a]);
    (coordinates, outer)
}

/// The members that no better subset has, or that every one has (MATH 5.4, 5.5); with the other sign a member of B pays `worst` at least.
pub fn decided(
    context: &NodeContext<'_, '_, '_>,
    node: &NodeRelaxation,
    worst: &[f64],
    best: f64,
) -> Vec<(usize, Choice)> {
    let (coordinates, outer) = outer(context, node);
    let members = &node.members;
    let limit = best + MARGIN * (best.abs() + node.dual.abs());
    let one = |a: usize| {
        if members.choices[a] != Choice::Free {
            return None;
        }
        // Ψ′ ≤ 0 is part of D′, so that φ′ in its place is more only where it is positive.
        let is_out = screening::in_no_optimal_subset(coordinates[a], outer[a], node.dual, best);
        if is_out && node.dual + worst[a] > limit {
            return Some((a, Choice::Out));
        }
        let is_in = screening::in_every_optimal_subset(coordinates[a], members.tau[a], node.dual, best);
        is_in.then_some((a, Choice::In))
    };
    (0..members.len()).filter_map(one).collect()
}
