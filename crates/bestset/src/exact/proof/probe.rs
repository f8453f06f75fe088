//! Members put in or out while the others answer (MATH 11.15): in the file a split, and a bound at β + Δ that closes one side.

use super::ground::ProofTree;
use crate::control::Limits;
use crate::error::Result;
use crate::exact::node::bound::{correlate, measure, refresh};
use crate::exact::node::{Choice, MovedCurvature, NodeRelaxation};
use crate::exact::probe::{MemberProbe, ProbePlace, ProbeState, Reduced, promising};
use crate::exact::strengthen::may_fall;
use std::sync::Arc;

/// A side of a member that holds nothing, and the point that shows it.
struct EmptySide {
    member: usize,
    side: Choice,
    beta: Vec<f64>,
}

/// What probes have come to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Probed {
    /// Nothing.
    Nothing,
    /// Some members are decided.
    Decided,
    /// The node is closed.
    Closed,
}

impl ProofTree<'_, '_, '_> {
    /// Probes the members, and writes what the checker will find true.
    pub(super) fn probe(
        &mut self,
        node: &mut NodeRelaxation,
        lemma: &mut Option<Arc<MovedCurvature>>,
        limits: &Limits,
    ) -> Result<Probed> {
        let context = self.ground.context();
        let goal = self.goal();
        if !may_fall(&context, node, goal.best) || !limits.has_time_for(context.products_cost(node.members.len())) {
            return Ok(Probed::Nothing);
        }
        let found = match Reduced::new(&context, node) {
            Some(reduced) => empty_sides(reduced, goal.cutoff - self.faults.probe, context.tuning.probe_rounds, limits),
            None => return Ok(Probed::Nothing),
        };
        let (mut probed, mut last) = (Probed::Nothing, None);
        for EmptySide { member, side, beta } in found {
            let closed = self.closed_side(node, member, side, beta, last == Some(member));
            let Some(closed) = closed else { continue };
            self.write_lemma(node, lemma)?;
            if last != Some(member) {
                self.write_split(node, member, side == Choice::In)?;
            }
            self.write_bound(&closed)?;
            self.out.flag(true)?;
            if last == Some(member) {
                return Ok(Probed::Closed);
            }
            (probed, last) = (Probed::Decided, Some(member));
            node.set(member, if side == Choice::In { Choice::Out } else { Choice::In });
        }
        node.members.drop_out();
        Ok(probed)
    }

    /// The side of the member at the point, if the checker will find it closed. After its other side was, the member is on this one.
    fn closed_side(
        &self,
        node: &NodeRelaxation,
        member: usize,
        side: Choice,
        beta: Vec<f64>,
        is_decided: bool,
    ) -> Option<NodeRelaxation> {
        let mut tried = node.clone();
        tried.members.beta = beta;
        if !is_decided {
            tried.members.choices[member] = side;
        }
        tried.members.drop_out();
        let context = self.ground.context();
        refresh(&context, &mut tried);
        correlate(&context, &mut tried);
        measure(&context, &mut tried);
        self.rules().closes_probed(&context, &tried).then_some(tried)
    }
}

/// The sides that D′(β + Δ) > limit closes, the members that are put out first.
fn empty_sides(mut reduced: Reduced<'_>, limit: f64, rounds: usize, limits: &Limits) -> Vec<EmptySide> {
    let (mut found, mut state) = (Vec::new(), ProbeState::default());
    for k in promising(&reduced, limit) {
        if limits.stop(0).is_some() {
            return found;
        }
        let probe = MemberProbe::still(&reduced, k);
        if probe.is_beyond(limit, rounds, &mut state) {
            found.push(EmptySide { member: reduced.still[k], side: Choice::In, beta: point(&reduced, &probe, &state) });
            reduced.quiet[k] = f64::INFINITY;
        }
    }
    for (e, &member) in reduced.moving.iter().enumerate() {
        if reduced.node.members.choices[member] != Choice::Free || limits.stop(0).is_some() {
            continue;
        }
        let sides: &[Choice] = if reduced.kappa[e] == 0.0 { &[Choice::In, Choice::Out] } else { &[Choice::Out] };
        for &side in sides {
            let probe = MemberProbe::moving(&reduced, e, side);
            if probe.is_beyond(limit, rounds, &mut state) {
                found.push(EmptySide { member, side, beta: point(&reduced, &probe, &state) });
            }
        }
    }
    found
}

/// β + Δ of a probe (MATH 11.17, 11.18).
fn point(reduced: &Reduced<'_>, probe: &MemberProbe<'_>, state: &ProbeState) -> Vec<f64> {
    let mut beta = reduced.node.members.beta.clone();
    for (e, &a) in reduced.moving.iter().enumerate() {
        if !probe.is_at(ProbePlace::Moving(e)) {
            beta[a] += probe.answer_of(e, state);
        }
    }
    state.answering.iter().zip(&state.deltas).for_each(|(&k, delta)| beta[reduced.still[k]] += delta);
    beta[probe.member] += state.delta;
    beta
}
