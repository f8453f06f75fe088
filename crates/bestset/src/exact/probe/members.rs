//! The members of a node probed one by one, the most promising first.

use crate::control::Limits;
use crate::exact::node::{Choice, NodeContext, NodeRelaxation};
use crate::exact::probe::{MemberProbe, ProbeState, Reduced};
use crate::problem::screening::MARGIN;

/// What the probes found.
#[derive(Default)]
struct Findings {
    decided: Vec<(usize, Choice)>,
    /// There is no subset on either side of some member.
    is_empty: bool,
}

/// D′(β + Δ) > P̂ on one side of a member (MATH 11.15): decides about the members that no subset with P ≤ `best` has, or does without;
/// where it finds that there is none in the node at all, its bound says so.
pub fn probe_members(context: &NodeContext<'_, '_, '_>, node: &mut NodeRelaxation, best: f64, limits: &Limits) {
    let limit = best + MARGIN * (best.abs() + node.dual.abs());
    if !limits.has_time_for(context.products_cost(node.members.len())) {
        return;
    }
    let Some(mut reduced) = Reduced::new(context, node) else { return };
    let findings = probe_all(&mut reduced, limit, context.tuning.probe_rounds, &|| limits.stop(0).is_some());
    if findings.is_empty {
        node.bound = node.bound.max(limit);
    }
    findings.decided.into_iter().for_each(|(a, side)| node.set(a, side));
    node.members.drop_out();
}

fn probe_all(reduced: &mut Reduced<'_>, limit: f64, rounds: usize, stop: &dyn Fn() -> bool) -> Findings {
    let (mut findings, mut state) = (Findings::default(), ProbeState::default());
    for k in promising(reduced, limit) {
        if stop() {
            return findings;
        }
        if MemberProbe::still(reduced, k).is_beyond(limit, rounds, &mut state) {
            // What is out is charged for nothing in the probes that follow.
            reduced.quiet[k] = f64::INFINITY;
            findings.decided.push((reduced.still[k], Choice::Out));
        }
    }
    for (e, &member) in reduced.moving.iter().enumerate() {
        if reduced.node.members.choices[member] != Choice::Free {
            continue;
        }
        if stop() {
            break;
        }
        let mut fails = |side| MemberProbe::moving(reduced, e, side).is_beyond(limit, rounds, &mut state);
        // Beyond its knee a coefficient pays in full already.
        match (reduced.kappa[e] == 0.0 && fails(Choice::In), fails(Choice::Out)) {
            (true, true) => findings.is_empty = true,
            (true, false) => findings.decided.push((member, Choice::Out)),
            (false, true) => findings.decided.push((member, Choice::In)),
            (false, false) => {}
        }
    }
    findings
}

/// The free members of Z at zero that could be excluded if no other answered against them, those first that would be by most.
pub fn promising(reduced: &Reduced<'_>, limit: f64) -> Vec<usize> {
    let (node, members) = (reduced.node, &reduced.node.members);
    let most = |k: usize| {
        let (a, curvature) = (reduced.still[k], reduced.left(k)[k]);
        node.dual + reduced.penalties[a].curved(curvature.max(0.0)).phi(reduced.tau[k])
    };
    let is_open = |k: &usize| {
        let a = reduced.still[*k];
        members.choices[a] == Choice::Free && members.beta[a] == 0.0
    };
    let at_zero = (0..reduced.still.len()).filter(is_open);
    let mut ranked: Vec<(f64, usize)> = at_zero.map(|k| (most(k), k)).filter(|t| t.0 > limit).collect();
    ranked.sort_by(|x, y| y.0.total_cmp(&x.0).then(x.1.cmp(&y.1)));
    ranked.into_iter().map(|t| t.1).collect()
}
