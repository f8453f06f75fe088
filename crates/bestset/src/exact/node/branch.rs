//! Which feature a node is split on.
//!
//! Measured on the paper's simulation (n = 200, SNR 5, seed 1; nodes to the proof): the product of the two estimates below
//! 39,081; their minimum 40,895; the coefficient nearest to half its knee 39,081; the largest one 42,159; the estimates with
//! everything else refitted, (A⁻¹)_bb in place of the column's own curvature, 40,259; the children themselves relaxed for the
//! best 4, 16 or 100 candidates 37,765, 37,451 and 37,451, at 2.5, 6 and 10 times the time. So the cheapest of them.
//! With curvature moved and members probed (SNR 2, n = 200, seeds 4 and 1; SNR 20, n = 400, seed 1): the product 496, 12,453 and 792;
//! pseudo-costs, the mean rise seen on either side of a feature for each unit of its fraction, 712, 19,952 and 937; the product
//! scaled by the mean of the rises seen over those estimated 645, 15,270 and 869.

use crate::exact::node::{Choice, NodeContext, NodeRelaxation};

/// ½c_jβ_j² · (π_j(β_j) − ρ_j(β_j)) ½c_j/(½c_j + λ2_j), the largest (MATH 11.4): the free member whose sides both raise the bound
/// most, `None` when nothing is free; those that come first before the others. When no free coefficient lies strictly between 0 and its knee, the one nearest to a change.
///
/// Leaving j out costs about ½c_jβ_j² with c_j the curvature of the loss along it; putting it in replaces ρ by π, which the
/// coefficient can answer by growing.
pub fn branch(context: &NodeContext<'_, '_, '_>, node: &NodeRelaxation) -> Option<usize> {
    let (problem, members) = (context.problem(), &node.members);
    let typical = problem.typical_curvature(&node.alpha);
    let score = |a: usize| {
        let (c, b, tau) = (context.coordinate(node, a), members.beta[a], members.tau[a]);
        if b == 0.0 {
            // Either side is rid of what a pooled member owes.
            let psi = if members.share[a] > 0.0 { c.psi(tau) } else { 0.0 };
            return (psi * psi, tau.abs() / c.threshold(tau) - 1.0);
        }
        let half = 0.5 * context.bounds.square(context.feature(node, a)) * typical;
        let rise = (c.value(b) - c.envelope(b)).max(0.0) * half / (half + c.l2);
        (rise * half * b * b, -b.abs())
    };
    let mut free = context.first_free(node);
    if free.is_empty() {
        free = (0..members.len()).filter(|&a| members.choices[a] == Choice::Free).collect();
    }
    let scored = free.into_iter().map(|a| (score(a), a));
    let best = scored.max_by(|x, y| x.0.0.total_cmp(&y.0.0).then(x.0.1.total_cmp(&y.0.1)).then(y.1.cmp(&x.1)))?;
    Some(best.1)
}
