//! Answers out of a node: its minimiser, or what it is rounded to.

use crate::control::Limits;
use crate::exact::node::bound::refresh;
use crate::exact::node::minimise::{Working, minimise_on};
use crate::exact::node::products::{LatestProducts, Products};
use crate::exact::node::{Choice, NodeContext, NodeRelaxation};

/// A feasible point of a node.
pub struct RoundedPoint {
    /// Its P.
    pub value: f64,
    /// Its coefficients by position.
    pub beta: Vec<(u32, f64)>,
}

/// Keeps the features in the model and the free ones charged at least half (or the k most charged), and fits them.
pub fn round(context: &NodeContext<'_, '_, '_>, node: &NodeRelaxation, limits: &Limits) -> RoundedPoint {
    let kept = most_charged(context, node);
    let mut point = node.clone();
    point.members.beta.fill(0.0);
    kept.iter().for_each(|&a| {
        point.members.beta[a] = node.members.beta[a];
        point.members.choices[a] = Choice::In;
    });
    refresh(context, &mut point);
    if !kept.is_empty() {
        let slopes = kept.iter().map(|&a| context.correlation(&point, a)).collect();
        let nothing = Products::default();
        let working = Working { members: &kept, slopes, products: &mut LatestProducts::after(&nothing) };
        minimise_on(context, &mut point, working, 1e-13 * node.value.abs(), limits);
        refresh(context, &mut point);
    }
    let members = &point.members;
    let penalties = members.positions.iter().zip(&members.beta).map(|(&k, &b)| context.near.coordinates[k].value(b));
    RoundedPoint { value: point.loss + penalties.sum::<f64>(), beta: members.nonzeros() }
}

/// The members that a rounding keeps, ascending.
fn most_charged(context: &NodeContext<'_, '_, '_>, node: &NodeRelaxation) -> Vec<usize> {
    let members = &node.members;
    let charge = |a: usize| match members.choices[a] {
        Choice::In => 2.0,
        _ => context.coordinate(node, a).fraction(members.beta[a]),
    };
    let mut kept: Vec<usize> = (0..members.len()).filter(|&a| members.beta[a] != 0.0 && charge(a) > 0.0).collect();
    let Some(k) = context.size else {
        kept.retain(|&a| charge(a) >= 0.5);
        return kept;
    };
    let key = |a: usize| (charge(a), members.beta[a].abs());
    kept.sort_by(|&a, &b| {
        let (x, y) = (key(a), key(b));
        y.0.total_cmp(&x.0).then(y.1.total_cmp(&x.1)).then(a.cmp(&b))
    });
    kept.truncate(k);
    kept.sort_unstable();
    kept
}

/// The point of a node with nothing free, on all features in the model: those that the minimiser leaves at zero within its
/// tolerance take a step of their own. Without them the point would be on another subset, and this one unseen.
pub fn only_subset(context: &NodeContext<'_, '_, '_>, node: &NodeRelaxation) -> Vec<(u32, f64)> {
    let (problem, members) = (context.problem(), &node.members);
    let typical = problem.typical_curvature(&node.alpha);
    let step = |a: usize| {
        let curvature = context.bounds.square(context.feature(node, a)) * typical;
        context.near.coordinates[members.positions[a]].prox_selected(curvature, -members.tau[a])
    };
    let value = |a: usize| if members.beta[a] != 0.0 { members.beta[a] } else { step(a) };
    (0..members.len()).map(|a| (members.positions[a] as u32, value(a))).filter(|p| p.1 != 0.0).collect()
}
