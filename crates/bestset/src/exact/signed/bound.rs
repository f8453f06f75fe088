//! The bound with curvature and products taken (MATH 11.44), and what must hold for it.
//!
//! M = Q − diag(d) − Ω is semidefinite on the members that are worked on, and beside them on those pooled members that the budget allows.
//! βᵀΩβ ≥ 0 where coefficients have their signs; one that has not pays for what that costs (11.45).

use crate::control::Limits;
use crate::exact::curvature::{Others, Pooled, needs};
use crate::exact::node::bound::{correlate, measure, refresh};
use crate::exact::node::context::MEMBER_PAIR_BYTES;
use crate::exact::node::{Choice, NodeContext, NodeRelaxation};
use crate::penalty::Coordinate;
use crate::relaxation::descend;
use crate::relaxation::quadratic::{Gram, GramModel};
use faer::Mat;

/// Part of its ridge that every member keeps.
const KEPT_RIDGE: f64 = 0.05;
/// Relative room in the comparisons of (11.45), far above their rounding.
const ROOM: f64 = 1e-9;

/// d and Ω for the members that are worked on, and what the others use of the budget.
pub struct Trial<'t> {
    /// B: the members that are worked on, ascending.
    pub own: &'t [usize],
    /// The sign of the coefficient of each.
    pub sign: &'t [f64],
    /// d of each.
    pub d: &'t [f64],
    /// Ω in turned signs, ≥ 0.
    pub omega: &'t Mat<f64>,
    /// What each uses of the budget with the other sign, at least.
    pub wrong: &'t [f64],
    /// W: all other members, by ascending share.
    pub pooled: &'t [usize],
    /// θ of each of them.
    pub shares: &'t [f64],
}

/// What a trial has come to.
pub struct Tried {
    /// The node with d, τ = Xᵀα − (diag(d) + Ω)β and the bound.
    pub node: NodeRelaxation,
    /// What each of B pays with the other sign at least, beyond the bound.
    pub worst: Vec<f64>,
}

/// The bound of a trial, or the pooled members that cannot give what is asked of them.
pub enum Attempt {
    /// It bounds P on every subset that is better than the best known.
    Bounds(Box<Tried>),
    /// Those that lack most first.
    Poor(Vec<usize>),
    /// A factorisation failed, (11.45) does not hold, or there is no memory.
    Impossible,
}

/// D′ of (11.44) for a node whose plain relaxation is solved.
pub fn attempt(
    context: &NodeContext<'_, '_, '_>,
    plain: &NodeRelaxation,
    trial: &Trial<'_>,
    limits: &Limits,
) -> Attempt {
    let Some(needs) = needs_of_pooled(context, plain, trial) else { return Attempt::Impossible };
    let mut node = plain.without_curvature();
    for (e, &a) in trial.own.iter().enumerate() {
        node.members.moved[a] = trial.d[e];
    }
    for (need, &a) in needs.iter().zip(trial.pooled) {
        node.members.moved[a] = -need;
    }
    let is_left = |a: &usize| {
        let alone = context.priced(node.members.positions[*a], node.multiplier);
        let left = alone.curved(node.members.moved[*a]).l2;
        left.is_finite() && left >= KEPT_RIDGE * alone.l2
    };
    let ridge = |a: usize| context.priced(node.members.positions[a], node.multiplier).l2;
    let mut poor: Vec<(f64, usize)> = (needs.iter().zip(trial.pooled))
        .filter(|(_, a)| !is_left(a))
        .map(|(need, &a)| (if need.is_nan() { f64::INFINITY } else { need / ridge(a) }, a))
        .collect();
    if !poor.is_empty() {
        poor.sort_by(|x, y| y.0.total_cmp(&x.0).then(x.1.cmp(&y.1)));
        return Attempt::Poor(poor.into_iter().map(|(_, a)| a).collect());
    }
    if !trial.own.iter().all(|a| is_left(a)) {
        return Attempt::Impossible;
    }
    minimise(context, &mut node, trial, limits);
    let taken = of_omega(&node, trial);
    refresh(context, &mut node);
    correlate(context, &mut node);
    trial.own.iter().zip(&taken).for_each(|(&a, t)| node.members.tau[a] -= t.sum);
    measure(context, &mut node);
    node.dual += back(context, &node, trial, &taken);
    let Some(worst) = worst(context, &node, trial) else { return Attempt::Impossible };
    if node.dual.is_nan() {
        return Attempt::Impossible;
    }
    Attempt::Bounds(Box::new(Tried { node, worst }))
}

/// (Ωβ)_j, and the sum of its sizes.
struct Taken {
    sum: f64,
    size: f64,
}

/// Ω_jl with the signs of the members.
fn omega(trial: &Trial<'_>, e: usize, f: usize) -> f64 {
    trial.omega[(e, f)] * trial.sign[e] * trial.sign[f]
}

fn of_omega(node: &NodeRelaxation, trial: &Trial<'_>) -> Vec<Taken> {
    let beta: Vec<f64> = trial.own.iter().map(|&a| node.members.beta[a]).collect();
    let one = |e: usize| {
        let products = (0..beta.len()).filter(|&f| beta[f] != 0.0).map(|f| omega(trial, e, f) * beta[f]);
        products.fold(Taken { sum: 0.0, size: 0.0 }, |t, x| Taken { sum: t.sum + x, size: t.size + x.abs() })
    };
    (0..beta.len()).map(one).collect()
}

/// ½βᵀΩβ (11.44), less what rounding of Ωβ can have added: as for dβ (MATH 11.8), an entry is off by ε(|B| + 4) of its size.
fn back(context: &NodeContext<'_, '_, '_>, node: &NodeRelaxation, trial: &Trial<'_>, taken: &[Taken]) -> f64 {
    let (mut sum, mut lost) = (0.0, 0.0);
    for (&a, t) in trial.own.iter().zip(taken) {
        let b = node.members.beta[a];
        let asked = context.coordinate(node, a).selected().link(node.members.tau[a]).abs();
        sum += 0.5 * b * t.sum;
        lost += t.size * (2.0 * asked + b.abs());
    }
    sum - 4.0 * f64::EPSILON * (trial.own.len() + 4) as f64 * lost
}

/// The minimiser of the relaxation with M over B, those pooled at zero. Any point bounds: it need not be exact.
fn minimise(context: &NodeContext<'_, '_, '_>, node: &mut NodeRelaxation, trial: &Trial<'_>, limits: &Limits) {
    let positions: Vec<usize> = trial.own.iter().map(|&a| node.members.positions[a]).collect();
    let gram = context.inner_products(&positions);
    let entry = |e: usize, f: usize| gram.at(e, f) - omega(trial, e, f) - if e == f { trial.d[e] } else { 0.0 };
    let left = Gram::new(gram.len(), entry);
    let mut beta: Vec<f64> = trial.own.iter().map(|&a| node.members.beta[a]).collect();
    let taken = of_omega(node, trial);
    let slope = |(e, &a): (usize, &usize)| context.correlation(node, a) - taken[e].sum;
    let mut model = GramModel::new(&left, trial.own.iter().enumerate().map(slope).collect());
    let coordinates: Vec<Coordinate> = trial.own.iter().map(|&a| context.coordinate(node, a)).collect();
    let all: Vec<usize> = (0..beta.len()).collect();
    let price = context.price(node.multiplier);
    descend::minimise(&mut model, &coordinates, &mut beta, &all, 1e-3 * price, limits);
    trial.own.iter().zip(&beta).for_each(|(&a, &b)| node.members.beta[a] = b);
}

/// η (MATH 11.22) of the pooled members beside B, whose M_BB is lowered by more than the rounding of its entries; `None` where it has no
/// factor, or there is no memory.
fn needs_of_pooled(context: &NodeContext<'_, '_, '_>, plain: &NodeRelaxation, trial: &Trial<'_>) -> Option<Vec<f64>> {
    let (n, m, w) = (context.problem().nrows() as f64, trial.own.len() as f64, trial.pooled.len() as f64);
    if !context.fits(8.0 * (w * (2.0 * n + m + 64.0) + m * n) + (MEMBER_PAIR_BYTES + 48.0) * m * m) {
        return None;
    }
    let position = |&a: &usize| plain.members.positions[a];
    let own: Vec<usize> = trial.own.iter().map(position).collect();
    let gram = context.inner_products(&own);
    let squares: Vec<f64> = trial.own.iter().map(|&a| context.stored_square(plain, a)).collect();
    let lengths: Vec<f64> = squares.iter().map(|s| if *s > 0.0 { s.sqrt() } else { 1.0 }).collect();
    let longest = squares.iter().copied().fold(0.0, f64::max);
    let margin = 8.0 * f64::EPSILON * m * (m + n) + 1e-12;
    let entry = |e: usize, f: usize| {
        let own = if e == f { trial.d[e] + margin * (longest + squares[e]) } else { 0.0 };
        (gram.at(e, f) - omega(trial, e, f) - own) / lengths[e] / lengths[f]
    };
    let matrix = Mat::from_fn(own.len(), own.len(), entry);
    let mut columns = context.whitened(&own);
    columns.col_iter_mut().zip(&lengths).for_each(|(x, length)| x.iter_mut().for_each(|x| *x /= length));
    let others = Others::new(columns, &matrix)?;
    let positions: Vec<usize> = trial.pooled.iter().map(position).collect();
    let pooled = Pooled {
        columns: context.whitened(&positions),
        lengths: trial.pooled.iter().map(|&a| context.stored_square(plain, a).sqrt()).collect(),
        shares: trial.shares.to_vec(),
    };
    Some(needs(&others, &pooled))
}

/// What each of B pays at least with the other sign, beyond D′ and beyond what βᵀΩβ may lack because of it (11.45); `None` where that is not
/// known to be positive.
fn worst(context: &NodeContext<'_, '_, '_>, node: &NodeRelaxation, trial: &Trial<'_>) -> Option<Vec<f64>> {
    let coordinates: Vec<Coordinate> = trial.own.iter().map(|&a| context.coordinate(node, a)).collect();
    let tau = |e: usize| node.members.tau[trial.own[e]];
    // What a coefficient asks for where its slope grows, at least its knee if it is free.
    let asked = |e: usize| {
        let c = coordinates[e];
        ((tau(e).abs() - c.l1).max(0.0) / (2.0 * c.l2)).max((c.l0 / c.l2).sqrt())
    };
    let asked: Vec<f64> = (0..coordinates.len()).map(asked).collect();
    let one = |e: usize| {
        let (c, wrong) = (coordinates[e], trial.wrong[e]);
        let row = (0..asked.len()).filter(|&f| trial.omega[(e, f)] > 0.0);
        let (slope, square) = row.fold((0.0, 0.0), |(slope, square), f| {
            let value = trial.omega[(e, f)];
            (slope + value * asked[f], square + value * value / (4.0 * coordinates[f].l2))
        });
        let paid = match node.members.choices[trial.own[e]] {
            Choice::In => -c.phi(tau(e)),
            _ => c.l0 - c.psi(tau(e)),
        } * (1.0 - ROOM);
        if square == 0.0 {
            return Some(paid.max(0.0));
        }
        // Where it does not fit into the budget no better subset has it with this sign.
        if wrong > 1.0 + ROOM {
            return Some(f64::INFINITY);
        }
        let curvature = c.l2 * (1.0 - ROOM) - square / wrong * (1.0 + ROOM);
        // τ pulls towards the sign, and away from the other one.
        let beyond = (slope * (1.0 + ROOM) - c.l1 + trial.sign[e] * tau(e) + ROOM * tau(e).abs()).max(0.0);
        let least = paid - beyond * beyond / (4.0 * curvature) * (1.0 + ROOM);
        (curvature > 0.0 && least >= 0.0).then_some(least)
    };
    (0..asked.len()).map(one).collect()
}
