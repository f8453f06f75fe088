//! min R_node (MATH 11.2): on a working set of the members, which grows by those whose correlations ask to be in it.

use crate::control::Limits;
use crate::exact::node::bound::{correlate, refresh};
use crate::exact::node::products::LatestProducts;
use crate::exact::node::{NodeContext, NodeRelaxation};
use crate::penalty::Coordinate;
use crate::relaxation::descend;
use crate::relaxation::quadratic::GramModel;

/// min R_node from the current point until the gap is about `tolerance`: on the coefficients that are not zero or whose
/// correlations at the last point were close to their thresholds, then on those as well whose correlations ask to be.
pub fn minimise(
    context: &NodeContext<'_, '_, '_>,
    node: &mut NodeRelaxation,
    products: &mut LatestProducts<'_>,
    tolerance: f64,
    limits: &Limits,
) {
    let most = context.most_working();
    let mut is_working = first_working(context, node, most);
    refresh(context, node);
    let mut are_known = false;
    loop {
        let working: Vec<usize> = (0..is_working.len()).filter(|&a| is_working[a]).collect();
        if !working.is_empty() {
            let slope = |a: &usize| if are_known { node.members.tau[*a] } else { context.correlation(node, *a) };
            let slopes = working.iter().map(slope).collect();
            minimise_on(context, node, Working { members: &working, slopes, products }, 0.5 * tolerance, limits);
            refresh(context, node);
        }
        correlate(context, node);
        are_known = true;
        let mut missing = missing(context, node, &is_working);
        let sum: f64 = missing.iter().map(|m| -m.psi).sum();
        if sum <= 0.5 * tolerance || limits.stop(0).is_some() {
            return;
        }
        if count(&is_working) + missing.len() > most {
            // Those at zero make room for what is missing most.
            is_working.iter_mut().enumerate().for_each(|(a, w)| *w &= node.members.is_active(a));
            missing.sort_by(|a, b| a.psi.total_cmp(&b.psi).then(a.member.cmp(&b.member)));
            missing.truncate(most.saturating_sub(count(&is_working)));
            if missing.is_empty() {
                return;
            }
        }
        missing.iter().for_each(|m| is_working[m.member] = true);
    }
}

/// How many are marked.
fn count(marks: &[bool]) -> usize {
    marks.iter().filter(|m| **m).count()
}

/// The active members and those close to their thresholds; the first alone where both are more than `most`.
fn first_working(context: &NodeContext<'_, '_, '_>, node: &NodeRelaxation, most: usize) -> Vec<bool> {
    let members = &node.members;
    let is_close = |a: usize| {
        let tau = members.tau[a];
        members.share[a] == 0.0
            && tau.abs() > context.near.coordinates[members.positions[a]].l1
            && tau.abs() > context.tuning.close_to_threshold * context.coordinate(node, a).threshold(tau)
    };
    let mut is_working: Vec<bool> = (0..members.len()).map(|a| members.is_active(a) || is_close(a)).collect();
    if is_working.len() > most && count(&is_working) > most {
        is_working.iter_mut().enumerate().for_each(|(a, w)| *w &= members.is_active(a));
    }
    is_working
}

/// The positions of the members that the next descent from here works on.
pub fn next_working(context: &NodeContext<'_, '_, '_>, node: &NodeRelaxation) -> Vec<usize> {
    let is_working = first_working(context, node, context.most_working());
    (0..is_working.len()).filter(|&a| is_working[a]).map(|a| node.members.positions[a]).collect()
}

/// A member outside the working set that lowers the dual.
struct Missing {
    member: usize,
    /// Ψ′_j(τ_j) < 0 (MATH 11.8).
    psi: f64,
}

/// The members beyond their thresholds that are not worked on, but for those that a share keeps at zero. λ1 is the least threshold
/// there is: most correlations need not be looked at more closely.
fn missing(context: &NodeContext<'_, '_, '_>, node: &NodeRelaxation, is_working: &[bool]) -> Vec<Missing> {
    let members = &node.members;
    let may_be = |a: &usize| {
        let least = context.near.coordinates[members.positions[*a]].l1;
        !is_working[*a] && members.share[*a] == 0.0 && members.tau[*a].abs() > least
    };
    let psi = |a: usize| context.coordinate(node, a).psi(members.tau[a]);
    let beyond = (0..is_working.len()).filter(may_be).map(|a| Missing { member: a, psi: psi(a) });
    beyond.filter(|m| m.psi < 0.0).collect()
}

/// Some members, and the slope of the smooth part along each.
pub struct Working<'w, 'b> {
    /// The members.
    pub members: &'w [usize],
    /// Their slopes.
    pub slopes: Vec<f64>,
    /// Inner products of some of them.
    pub products: &'w mut LatestProducts<'b>,
}

/// The minimisation over some members, the others fixed at zero. A point that is not fitted, for want of time or memory, is still
/// a point.
pub fn minimise_on(
    context: &NodeContext<'_, '_, '_>,
    node: &mut NodeRelaxation,
    working: Working<'_, '_>,
    tolerance: f64,
    limits: &Limits,
) {
    let Working { members: working, slopes, products } = working;
    let members = &node.members;
    let is_large = working.len() > context.most_working();
    // Without the matrix, through the samples, only where no curvature is moved.
    let is_moved = || working.iter().any(|&a| members.moved[a] != 0.0);
    if !limits.has_time_for(context.products_cost(working.len())) || (is_large && is_moved()) {
        return;
    }
    let positions: Vec<usize> = working.iter().map(|&a| members.positions[a]).collect();
    let mut beta: Vec<f64> = working.iter().map(|&a| members.beta[a]).collect();
    let coordinates: Vec<Coordinate> = working.iter().map(|&a| context.coordinate(node, a)).collect();
    let all: Vec<usize> = (0..working.len()).collect();
    if context.problem().loss().is_quadratic() && !is_large {
        let moved = |e: usize| members.moved[working[e]];
        let mut model = GramModel::new(products.over(context, positions, moved), slopes);
        descend::minimise(&mut model, &coordinates, &mut beta, &all, tolerance, limits);
    } else {
        let mut part = context.near.part(&positions, beta, node.intercept);
        part.minimise(&coordinates, &all, slopes, tolerance, limits);
        (beta, node.intercept) = (part.beta, part.intercept);
    }
    working.iter().zip(&beta).for_each(|(&a, &b)| node.members.beta[a] = b);
}
