//! Curvature moved between the squared loss and the penalty (MATH 11.6–11.14).
//!
//! With Q the matrix of inner products of a node's members and d such that M = Q − diag(d) is positive semidefinite and
//! λ2 + d_j/2 ≥ 0,
//!
//!   ½‖y − Xβ‖² + Σ π_j(β_j)  =  { ½‖y − Xβ‖² − ½ Σ d_j β_j² }  +  Σ { π_j(β_j) + ½ d_j β_j² },
//!
//! the first part is convex and the second has the ridge λ2 + d_j/2: the more of it, the closer its envelope. Along d_j the bound
//! changes by v_j of (11.9) for a fractional coefficient and not at all for one at zero whose |τ_j| is below its threshold, or
//! beyond its knee, or in the model. So those give what they can spare (d_j = −η_j), and the fractional ones take what maximises
//! Σ v_jd_j ([`crate::exact::curvature::barrier`]).

use crate::control::Limits;
use crate::exact::curvature::barrier::largest_diagonal;
use crate::exact::curvature::budget::shares;
use crate::exact::curvature::pool::{Others, Pooled, ROWS, needs};
use crate::exact::curvature::split::CurvatureSplit;
use crate::exact::curvature::worth::{Taker, Worth, taker};
use crate::exact::node::context::MEMBER_PAIR_BYTES;
use crate::exact::node::moved::MemberCurvature;
use crate::exact::node::{Choice, MovedCurvature, NodeContext, NodeRelaxation};
use faer::linalg::matmul::matmul;
use faer::linalg::solvers::{DenseSolveCore, Llt};
use faer::{Accum, Mat, Par, Side};
use std::sync::Arc;

/// Share of the curvature left along one coefficient that is relied on, for the rounding of the inverse it comes from; none where
/// the inverse is larger than the second, relative to the columns (MATH 11.14).
const SURE: f64 = 0.98;
/// See [`SURE`].
const WORST: f64 = 1e5;

/// Moves as much curvature as pays for those of its members that can take (MATH 11.9), by the minimiser that the node has with what was moved before;
/// whether any was.
///
/// Where `pool_below` names P̂, the members that a subset better than that cannot hold many of give only what
/// [`crate::exact::curvature::pool`] asks of them.
pub fn move_curvature(
    context: &NodeContext<'_, '_, '_>,
    node: &mut NodeRelaxation,
    pool_below: Option<f64>,
    limits: &Limits,
) -> bool {
    let takers: Vec<Option<Taker>> = (0..node.members.len()).map(|a| taker(context, node, a)).collect();
    if !takers.iter().flatten().any(|t| t.slope > 0.0) || !context.problem().loss().is_quadratic() {
        return false;
    }
    let mut shares = pool_below.map_or_else(|| vec![0.0; takers.len()], |best| shares(context, node, best));
    // A taker is not kept at zero.
    shares.iter_mut().zip(&takers).filter(|p| p.1.is_some()).for_each(|(share, _)| *share = 0.0);
    let mut left_out = context.tuning.poor_left_out.into_iter();
    loop {
        let poor = match CurvatureMove::new(context, node, &takers, &shares).attempt(limits) {
            Attempt::Impossible => return false,
            Attempt::Done(curvature) => {
                apply(node, curvature);
                return true;
            }
            Attempt::Poor(members) => members,
        };
        let pooled = shares.iter().filter(|s| **s > 0.0).count();
        match left_out.next() {
            // Those that lack most give as the others do; without them the rest may have enough.
            Some(part) if poor.len() < pooled => {
                let count = ((part * poor.len() as f64) as usize).max(context.tuning.few_poor);
                poor.iter().take(count).for_each(|&a| shares[a] = 0.0);
            }
            // Where all are poor the factor says too little of them. Nobody is where nobody is pooled.
            _ => shares.fill(0.0),
        }
    }
}

/// What an attempt to move curvature has come to.
enum Attempt {
    /// The curvature of every member, in their order.
    Done(Vec<MemberCurvature>),
    /// A factorisation failed, or there is no memory or time for it.
    Impossible,
    /// Pooled members that cannot give what (11.22) asks of them, those that lack most first.
    Poor(Vec<usize>),
}

/// Gives the members their new curvature, which nodes below inherit.
fn apply(node: &mut NodeRelaxation, curvature: Vec<MemberCurvature>) {
    let members = &mut node.members;
    for (a, one) in curvature.iter().enumerate() {
        (members.moved[a], members.spare[a], members.share[a]) = (one.moved, one.spare, one.share);
    }
    node.inherited = Some(Arc::new(MovedCurvature { by_position: curvature }));
}

/// Who takes (V), who gives (G) and who is pooled (W), by member, and what is certain of the gifts.
struct CurvatureMove<'m, 'g, 'p, 'a> {
    context: &'m NodeContext<'g, 'p, 'a>,
    node: &'m NodeRelaxation,
    /// θ (MATH 11.21), by member.
    shares: &'m [f64],
    takers: Vec<(usize, Taker)>,
    givers: Vec<usize>,
    /// By ascending share, as [`Pooled`] has them.
    pooled: Vec<usize>,
    /// η of the givers.
    gifts: Vec<f64>,
    /// The same, less what rounding can have added.
    sure: Vec<f64>,
    /// Positions of the givers, then of the takers.
    order: Vec<usize>,
    /// Squares of the takers' columns as stored.
    squares: Vec<f64>,
    /// Q carries the rounding of its sums and its factorisation that of its own: what is given and taken is believed only if it
    /// holds with that share of the squares less given and more taken. What (11.11) takes off is far less: nothing computes it (MATH 11.11).
    margin: f64,
}

impl<'m, 'g, 'p, 'a> CurvatureMove<'m, 'g, 'p, 'a> {
    fn new(
        context: &'m NodeContext<'g, 'p, 'a>,
        node: &'m NodeRelaxation,
        takes: &[Option<Taker>],
        shares: &'m [f64],
    ) -> Self {
        let select = |is: &dyn Fn(usize) -> bool| -> Vec<usize> { (0..takes.len()).filter(|&a| is(a)).collect() };
        let takers: Vec<(usize, Taker)> = takes.iter().enumerate().filter_map(|(a, t)| Some((a, (*t)?))).collect();
        let givers = select(&|a| takes[a].is_none() && shares[a] <= 0.0);
        let mut pooled = select(&|a| shares[a] > 0.0);
        pooled.sort_by(|&a, &b| shares[a].total_cmp(&shares[b]));
        let gifts: Vec<f64> = givers.iter().map(|&a| gift(context, node, a)).collect();
        let (m, n) = ((givers.len() + takers.len()) as f64, context.problem().nrows() as f64);
        let margin = 8.0 * f64::EPSILON * m * (m + n) + 1e-12;
        let square = |a: usize| context.stored_square(node, a);
        let sure = givers.iter().zip(&gifts).map(|(&a, gift)| gift - margin * square(a)).collect();
        let order =
            givers.iter().copied().chain(takers.iter().map(|t| t.0)).map(|a| node.members.positions[a]).collect();
        let squares = takers.iter().map(|t| square(t.0)).collect();
        Self { context, node, shares, takers, givers, pooled, gifts, sure, order, squares, margin }
    }

    /// Π_d = Π − diag(d_V) ≻ 0 with the largest Σv_jd_j (MATH 11.10); the takers take a part of it where members are pooled.
    fn attempt(&self, limits: &Limits) -> Attempt {
        let Some(split) = self.split(limits) else { return Attempt::Impossible };
        let longest = self.squares.iter().copied().fold(0.0, f64::max);
        let unsure = |t: usize| split.rounding * longest + self.margin * self.squares[t];
        if self.pooled.is_empty() {
            let taken = self.takings(&split, 1.0, limits);
            let Some(inverse) = shifted_inverse(&split.rest, |t| -taken[t] - unsure(t)) else {
                return Attempt::Impossible;
            };
            let spare = spare(&inverse, &split.answers, &self.sure, &self.squares);
            return Attempt::Done(self.curvature(&taken, &spare, &[]));
        }
        let taken = self.takings(&split, self.context.tuning.pooled_taking, limits);
        let Some(needs) = self.asked_of_pooled(|t| taken[t] + unsure(t), limits) else { return Attempt::Impossible };
        let lacking = |e: usize| needs[e] - gift(self.context, self.node, self.pooled[e]);
        let mut poor: Vec<(f64, usize)> = (0..needs.len()).map(|e| (lacking(e), self.pooled[e])).collect();
        // A NaN counts as lacking.
        poor.retain(|(lacks, _)| lacks.is_nan() || *lacks > 0.0);
        if !poor.is_empty() {
            poor.sort_by(|(x, _), (y, _)| y.total_cmp(x));
            return Attempt::Poor(poor.into_iter().map(|(_, a)| a).collect());
        }
        let nothing = Spare { takers: vec![0.0; self.takers.len()], givers: vec![0.0; self.givers.len()] };
        Attempt::Done(self.curvature(&taken, &nothing, &needs))
    }

    /// What is left for the takers, the last of the order, after the first have given.
    fn split(&self, limits: &Limits) -> Option<CurvatureSplit> {
        let (context, gifts) = (self.context, &self.sure);
        let rows = context.problem().nrows();
        let (n, m, takers) = (rows as f64, self.order.len() as f64, self.takers.len() as f64);
        let products = gifts.len() <= rows;
        let (pairs, work) = match products {
            true => (MEMBER_PAIR_BYTES * m * m, m * m * (m / 3.0 + 0.5 * n)),
            false => (24.0 * (n * (n + m) + takers * m), n * n * (0.5 * m + n / 3.0) + n * takers * (n + m)),
        };
        if !context.fits(pairs) || !limits.has_time_for(work) {
            return None;
        }
        match products {
            true => CurvatureSplit::of_products(&context.inner_products(&self.order), gifts, self.margin),
            false => CurvatureSplit::of_columns(context.whitened(&self.order), gifts),
        }
    }

    /// The `part` of the largest d_V, from what the takers have now.
    fn takings(&self, split: &CurvatureSplit, part: f64, limits: &Limits) -> Vec<f64> {
        let worth = Worth::of(self.context, self.node, &self.takers, part);
        let before: Vec<f64> = self.takers.iter().map(|t| self.node.members.moved[t.0]).collect();
        let stop = || limits.stop(0).is_some();
        let d = largest_diagonal(&split.rest, &worth, &before, self.context.tuning, stop);
        d.iter().map(|d| part * d).collect()
    }

    /// η (MATH 11.22): what the pooled members have to give. `taken` is what a taker takes, with what rounding can have added to its curvature;
    /// `None` where M_BB has no factor, or there is no memory or time for it.
    fn asked_of_pooled(&self, taken: impl Fn(usize) -> f64, limits: &Limits) -> Option<Vec<f64>> {
        let (context, node, givers) = (self.context, self.node, self.givers.len());
        let (n, m, w) = (context.problem().nrows() as f64, self.order.len() as f64, self.pooled.len() as f64);
        // Of each pooled member its column, what is left of it, its answers and its entries in a block of rows.
        let each = 2.0 * n + m + ROWS as f64;
        // Beside the products with their copies: M_BB, its factor and its inverse.
        let pairs = (MEMBER_PAIR_BYTES + 24.0) * m * m;
        let work = m * m * m + w * (n + m) * (m + w);
        if !context.fits(8.0 * (w * each + m * n) + pairs) || !limits.has_time_for(work) {
            return None;
        }
        let gram = context.inner_products(&self.order);
        let more = |a: usize| if a < givers { self.sure[a] } else { -taken(a - givers) };
        let length = |a: usize| match context.stored_square(node, a).sqrt() {
            0.0 => 1.0,
            length => length,
        };
        let lengths: Vec<f64> =
            self.givers.iter().copied().chain(self.takers.iter().map(|t| t.0)).map(length).collect();
        let own = |a: usize, b: usize| gram.at(a, b) + if a == b { more(a) } else { 0.0 };
        let matrix = Mat::from_fn(gram.len(), gram.len(), |a, b| own(a, b) / lengths[a] / lengths[b]);
        let mut columns = context.whitened(&self.order);
        columns.col_iter_mut().zip(&lengths).for_each(|(x, length)| x.iter_mut().for_each(|x| *x /= length));
        let others = Others::new(columns, &matrix)?;
        let positions: Vec<usize> = self.pooled.iter().map(|&a| node.members.positions[a]).collect();
        let pooled = Pooled {
            columns: context.whitened(&positions),
            lengths: self.pooled.iter().map(|&a| context.stored_square(node, a).sqrt()).collect(),
            shares: self.pooled.iter().map(|&a| self.shares[a]).collect(),
        };
        Some(needs(&others, &pooled))
    }

    /// The curvature of every member: d and σ of the takers, of the givers and, by `needs`, of the pooled.
    fn curvature(&self, taken: &[f64], spare: &Spare, needs: &[f64]) -> Vec<MemberCurvature> {
        let one = |a: usize| MemberCurvature {
            position: self.node.members.positions[a] as u32,
            moved: 0.0,
            spare: 0.0,
            share: self.shares[a],
        };
        let mut all: Vec<MemberCurvature> = (0..self.shares.len()).map(one).collect();
        for (e, &(a, _)) in self.takers.iter().enumerate() {
            (all[a].moved, all[a].spare) = (taken[e], spare.takers[e]);
        }
        for (e, &a) in self.givers.iter().enumerate() {
            (all[a].moved, all[a].spare) = (-self.gifts[e], spare.givers[e]);
        }
        self.pooled.iter().zip(needs).for_each(|(&a, need)| all[a].moved = -need);
        all
    }
}

/// η_j = 2(λ2 − what is needed of it), and at least a little (MATH 11.10): the ridge of a coefficient may fall to the value at which
/// it would begin to be charged.
fn gift(context: &NodeContext<'_, '_, '_>, node: &NodeRelaxation, a: usize) -> f64 {
    let (members, tuning) = (&node.members, context.tuning);
    let alone = context.priced(members.positions[a], node.multiplier);
    let (b, tau) = (members.beta[a], members.tau[a].abs());
    let needed = match members.choices[a] {
        Choice::In => 0.0,
        _ if b != 0.0 => 1.1 * alone.l0 / (b * b),
        _ => {
            let distance = (alone.threshold(members.tau[a]) - tau).max(0.0);
            let threshold = tau + tuning.kept_distance * distance;
            (threshold - alone.l1).max(0.0).powi(2) / (4.0 * alone.l0)
        }
    };
    // A little from everyone keeps Q regular.
    (2.0 * (alone.l2 - needed.max(tuning.kept_ridge * alone.l2))).max(tuning.least_gift * alone.l2)
}

/// (Π + diag(by))⁻¹, where that is positive definite.
fn shifted_inverse(rest: &Mat<f64>, by: impl Fn(usize) -> f64) -> Option<Mat<f64>> {
    let size = rest.ncols();
    let matrix = Mat::from_fn(size, size, |a, b| rest[(a, b)] + if a == b { by(a) } else { 0.0 });
    Some(Llt::new(matrix.as_ref(), Side::Lower).ok()?.inverse())
}

/// σ (MATH 11.12) of the takers and of the givers.
struct Spare {
    takers: Vec<f64>,
    givers: Vec<f64>,
}

/// σ_j ≤ 1/(M⁻¹)_jj (MATH 11.12): for each taker and each giver a σ with M − σ e_je_jᵀ ⪰ 0. `inverse` is Π_d⁻¹, which is the takers'
/// part of M⁻¹; that of a giver is at most 1/η_j + ζ_jᵀΠ_d⁻¹ζ_j/η_j² (MATH 11.14), `answers` having the rows ζ_jᵀ/η_j.
fn spare(inverse: &Mat<f64>, answers: &Mat<f64>, gifts: &[f64], squares: &[f64]) -> Spare {
    let (takers, givers) = (squares.len(), gifts.len());
    let condition: f64 = (0..takers).map(|a| inverse[(a, a)] * squares[a]).sum();
    if condition.is_nan() || condition > WORST * takers as f64 {
        return Spare { takers: vec![0.0; takers], givers: vec![0.0; givers] };
    }
    let mut weighted = Mat::zeros(givers, takers);
    matmul(weighted.as_mut(), Accum::Replace, answers.as_ref(), inverse.as_ref(), 1.0, Par::Seq);
    let given = |g: usize| {
        let sum: f64 = (0..takers).map(|a| weighted[(g, a)] * answers[(g, a)]).sum();
        // What is sure of a gift may be less than nothing where the ridge is less than the rounding of the column.
        if gifts[g] > 0.0 { SURE / (1.0 / gifts[g] + sum.max(0.0)) } else { 0.0 }
    };
    Spare { takers: (0..takers).map(|a| SURE / inverse[(a, a)]).collect(), givers: (0..givers).map(given).collect() }
}
