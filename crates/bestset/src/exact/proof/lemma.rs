//! Curvature that the checker finds semidefinite: what is moved, less a little, so that its factorisation, with all that it takes off for
//! rounding, is sure to succeed (PROOF, "PSD").

use super::rules::U;
use crate::control::Limits;
use crate::exact::curvature::{Worth, largest_diagonal, move_curvature};
use crate::exact::node::moved::MemberCurvature;
use crate::exact::node::{Choice, MovedCurvature, NodeContext, NodeRelaxation};
use faer::Mat;
use std::sync::Arc;

/// ε of the checker: (1 − ε)Q − diag(d) is to be semidefinite.
const SHARE: f64 = 1.0 / (1 << 24) as f64;

/// The least share of its ridge that a member keeps.
const KEPT: f64 = 0.01;

/// Moves curvature for the node, by what its relaxation without any says; whether some was.
pub fn make(context: &NodeContext<'_, '_, '_>, node: &mut NodeRelaxation, fault: f64, limits: &Limits) -> bool {
    let before = node.clone();
    if !move_curvature(context, node, None, limits) || !lower(context, node, fault) {
        *node = before;
        return false;
    }
    true
}

/// Where there is no ridge: the largest diagonal below Q, by weights v (MATH 11.9) and a little for all; whether there is one.
pub fn make_ridge(context: &NodeContext<'_, '_, '_>, node: &mut NodeRelaxation, fault: f64, limits: &Limits) -> bool {
    let (before, members) = (node.clone(), &node.members);
    let gram = context.inner_products(&members.positions);
    let m = members.len();
    let weight = |a: usize| {
        let (c, b) = (context.coordinate(node, a), members.beta[a]);
        let is_fractional = members.choices[a] == Choice::Free && b != 0.0 && c.fraction(b) < 1.0;
        if is_fractional { 0.5 * b.abs() * (c.knee(b > 0.0) - b.abs()) } else { 0.0 }
    };
    let mut weights: Vec<f64> = (0..m).map(weight).collect();
    let mean = weights.iter().sum::<f64>() / m.max(1) as f64;
    let little = if mean > 0.0 && mean.is_finite() { 1e-3 * mean } else { 1.0 };
    weights.iter_mut().for_each(|v| *v = if v.is_finite() { *v + little } else { little });
    let matrix = Mat::from_fn(m, m, |a, b| gram.at(a, b));
    let nothing = vec![0.0; m];
    let d = largest_diagonal(&matrix, &Worth::linear(weights), &nothing, context.tuning, || limits.stop(0).is_some());
    if d.iter().all(|d| *d <= 0.0) {
        return false;
    }
    let one = |a: usize| MemberCurvature { position: members.positions[a] as u32, moved: d[a], spare: 0.0, share: 0.0 };
    let by_position = (0..m).map(one).collect();
    node.members.moved.copy_from_slice(&d);
    node.inherited = Some(Arc::new(MovedCurvature { by_position }));
    if !lower(context, node, fault) {
        *node = before;
        return false;
    }
    true
}

/// d less what the checker's factorisation needs; whether the penalties still have a minimum.
fn lower(context: &NodeContext<'_, '_, '_>, node: &mut NodeRelaxation, fault: f64) -> bool {
    let (m, n) = (node.members.len() as f64, context.problem().nrows() as f64);
    let slack = 4.0 * U * m * (n + 4.0 * m + 64.0);
    for a in 0..node.members.len() {
        let square = context.stored_square(node, a);
        let d = node.members.moved[a] * if node.members.moved[a] > 0.0 { 1.0 + fault } else { 1.0 };
        let lowered = d.min((1.0 - 2.0 * SHARE) * d) - slack * square;
        let own = context.near.coordinates[node.members.positions[a]];
        // With bounds on both sides a penalty without any ridge has a minimum; one that is concave is not what the relaxation is made for.
        let is_bounded = own.lower.is_finite() && own.upper.is_finite();
        let left = own.l2 + 0.5 * lowered;
        if left < 0.0 || (!is_bounded && left <= KEPT * own.l2) {
            return false;
        }
        (node.members.moved[a], node.members.spare[a], node.members.share[a]) = (lowered, 0.0, 0.0);
    }
    let Some(inherited) = &node.inherited else { return false };
    let own =
        |(a, one): (usize, &MemberCurvature)| MemberCurvature { moved: node.members.moved[a], spare: 0.0, ..*one };
    let by_position = inherited.by_position.iter().enumerate().map(own).collect();
    node.inherited = Some(Arc::new(MovedCurvature { by_position }));
    true
}
