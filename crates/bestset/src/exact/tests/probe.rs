//! Probes against the definition, and against every subset on their side.

use crate::design::Dense;
use crate::exact::curvature::move_curvature;
use crate::exact::node::bound::{correlate, measure, refresh};
use crate::exact::node::relax::{Goal, relax};
use crate::exact::node::{Choice, NodeContext, NodeRelaxation};
use crate::exact::probe::{MemberProbe, ProbeState, Reduced};
use crate::exact::tests::{Small, TIGHT, for_each_node, numbers, tuning};
use crate::{Bounds, Loss, Penalty};

/// Every member of N on both sides, and every one of Z at zero put in.
fn for_each_probe<'r>(reduced: &'r Reduced<'r>, mut visit: impl FnMut(&MemberProbe<'r>)) {
    for side in [Choice::In, Choice::Out] {
        (0..reduced.moving.len()).for_each(|e| visit(&MemberProbe::moving(reduced, e, side)));
    }
    let at_zero = (0..reduced.still.len()).filter(|&k| reduced.node.members.beta[reduced.still[k]] == 0.0);
    at_zero.for_each(|k| visit(&MemberProbe::still(reduced, k)));
}

/// D′ by its definition with the member on its side, from the columns, at the point that the probe has come to.
fn by_definition(
    context: &NodeContext<'_, '_, '_>,
    reduced: &Reduced<'_>,
    probe: &MemberProbe<'_>,
    state: &ProbeState,
) -> f64 {
    let mut at = reduced.node.clone();
    at.members.beta[probe.member] += state.delta;
    state.answering.iter().zip(&state.deltas).for_each(|(&k, u)| at.members.beta[reduced.still[k]] += u);
    for (e, &a) in reduced.moving.iter().enumerate().filter(|p| *p.1 != probe.member) {
        at.members.beta[a] += probe.answer_of(e, state);
    }
    at.members.choices[probe.member] = probe.side;
    if probe.side == Choice::Out {
        assert!(at.members.beta[probe.member].abs() < 1e-12);
        at.members.drop_out();
    }
    refresh(context, &mut at);
    correlate(context, &mut at);
    measure(context, &mut at);
    at.dual
}

/// More features than samples, with a common part.
fn wide(seed: u64) -> Small {
    let mut draw = numbers(seed + 500);
    let (n, p) = (24, 40);
    let common: Vec<f64> = (0..n).map(|_| draw()).collect();
    let x: Vec<f64> = (0..n * p).map(|i| 0.7 * common[i % n] + draw()).collect();
    let y = (0..n).map(|i| 2.0 * x[i] - 1.5 * x[5 * n + i] + x[9 * n + i] + draw()).collect();
    let w = (0..n).map(|i| 1.0 + (seed % 2) as f64 * (i % 3) as f64).collect();
    let bounds = if seed % 3 == 2 { Bounds::All(-0.3, 0.5) } else { Bounds::Free };
    let penalty = Penalty::new(0.4, 0.05 * (seed % 2) as f64, 0.5).with_bounds(bounds);
    Small { design: Dense::new(n, p, x).unwrap(), y, w, penalty, loss: Loss::Squared, intercept: seed % 4 < 2 }
}

/// How many points of probes were compared, with answers and with curved pieces.
#[derive(Default)]
struct Compared {
    points: usize,
    answered: usize,
    curved: usize,
}

/// The sums of a probe are D′ at its point, whoever answers.
#[test]
fn a_probe_is_the_bound_at_its_point() {
    let mut compared = Compared::default();
    for seed in 0..40u64 {
        wide(seed).on_root(|context, mut node, limits| {
            node.members.choices[(seed % 40) as usize] = Choice::In;
            node = relax(context, node, &TIGHT, limits);
            if seed % 5 > 0 && move_curvature(context, &mut node, None, limits) {
                let room = if seed % 2 == 0 { 1e-10 } else { 1.0 };
                node = relax(context, node, &Goal { room, ..TIGHT }, limits);
            }
            let mut other = NodeRelaxation { stale: true, ..node.clone() };
            assert!(Reduced::new(context, &other).is_none(), "the minimiser of another node");
            (other.stale, other.members.share[0]) = (false, 0.5);
            assert!(Reduced::new(context, &other).is_none(), "M is not positive where members are pooled");
            let reduced = Reduced::new(context, &node).expect("regular");
            for_each_probe(&reduced, |probe| compare(context, &reduced, probe, seed, &mut compared));
        });
    }
    let Compared { points, answered, curved } = compared;
    assert!(points > 8000 && 3 * answered > points && 2 * curved > points, "{answered}, {curved} of {points}");
}

/// The rounds of a probe, each against the definition.
fn compare(
    context: &NodeContext<'_, '_, '_>,
    reduced: &Reduced<'_>,
    probe: &MemberProbe<'_>,
    seed: u64,
    compared: &mut Compared,
) {
    if reduced.node.members.choices[probe.member] != Choice::Free {
        return;
    }
    let mut state = ProbeState { slopes: reduced.tau.clone(), ..ProbeState::default() };
    for _ in 0..tuning().probe_rounds {
        probe.answer(&mut state);
        let (slope, charge) = (probe.slope(&state), probe.charge(&state));
        let answer = probe.answered(&state, slope, &charge.new);
        let (bound, lost) = (probe.base(&state, slope) + charge.sum + answer.sum, answer.lost);
        let (exact, room) = (by_definition(context, reduced, probe, &state), 1e-10 * reduced.node.dual.abs());
        assert!(bound - lost <= exact, "{seed}: {bound} less {lost} above {exact}");
        assert!((bound - exact).abs() < 0.1 * lost + room, "{seed}: {bound} and {exact}, {lost}");
        compared.points += 1;
        compared.answered += usize::from(state.deltas.iter().any(|u| *u != 0.0));
        compared.curved += usize::from(reduced.kappa.iter().any(|c| *c > 0.0));
        state.extend(charge.new);
    }
}

/// No probe gets above the best subset on its side, at any scale, and most get further than the member alone.
#[test]
fn no_probe_is_beyond_a_subset_on_its_side() {
    let (mut probed, mut further, rounds) = (0, 0, tuning().probe_rounds);
    for_each_node(300, |context, node, subsets| {
        let Some(reduced) = Reduced::new(context, node) else { return };
        for_each_probe(&reduced, |probe| {
            let (a, j, members) = (probe.member, context.feature(node, probe.member), &node.members);
            if members.choices[a] != Choice::Free {
                return;
            }
            let least = subsets.least_on(probe.side == Choice::In, j);
            let (mut state, limit) = (ProbeState::default(), least + 1e-9 * (1.0 + least.abs()));
            let label = || format!("{}, {j} {:?}", subsets.label, probe.side);
            assert!(!probe.is_beyond(limit, rounds, &mut state), "{}", label());
            let (c, b, s) = (reduced.penalties[a], members.beta[a], members.spare[a]);
            let alone = match probe.side {
                Choice::In if b == 0.0 => c.curved(s).phi(members.tau[a]),
                Choice::In => 0.0,
                _ => 0.5 * s * b * b,
            };
            let limit = node.dual - c.psi(members.tau[a]) + alone;
            probed += 1;
            further += usize::from(probe.is_beyond(limit, rounds, &mut state));
        });
    });
    assert!(probed > 2000 && 3 * further > 2 * probed, "{further} of {probed}");
}

/// Targets far from zero, which the intercept takes: α = Xβ + β₀ − y then carries rounding of y, which costs ιᵀX̂Δ in a probe.
/// The targets are multiples of 2⁻¹², so that adding 2^power to them is exact and changes no P.
#[test]
fn no_probe_is_beyond_where_targets_are_far_from_zero() {
    for power in [0, 20, 30, 34, 38] {
        let mut probed = 0;
        for seed in 0..150u64 {
            let mut small = fine(seed);
            let costs = small.costs();
            small.y.iter_mut().for_each(|y| *y += 2f64.powi(power));
            small.on_root(|context, node, _| {
                let Some(reduced) = Reduced::new(context, &node) else { return };
                for_each_probe(&reduced, |probe| {
                    let j = context.feature(&node, probe.member);
                    let sided = (0..costs.len()).filter(|m| (m >> j & 1 == 1) == (probe.side == Choice::In));
                    let least = sided.map(|m| costs[m]).fold(f64::INFINITY, f64::min);
                    let (rounds, mut state) = (tuning().probe_rounds, ProbeState::default());
                    let is_beyond = probe.is_beyond(least * (1.0 + 1e-9), rounds, &mut state);
                    assert!(!is_beyond, "2^{power}, {seed}: {j} {:?} beyond {least}", probe.side);
                    probed += 1;
                });
            });
        }
        assert!(probed > 1000, "2^{power}: {probed}");
    }
}

/// Four features, targets that are multiples of 2⁻¹².
fn fine(seed: u64) -> Small {
    let mut draw = numbers(seed + 900);
    let (n, p) = (12, 4);
    let x: Vec<f64> = (0..n * p).map(|_| draw()).collect();
    let round = |v: f64| (v * 4096.0).round() / 4096.0;
    let y = (0..n).map(|i| round(x[i] - x[n + i] + 0.5 * x[2 * n + i] + 0.3 * draw())).collect();
    let (design, w, penalty) = (Dense::new(n, p, x).unwrap(), vec![1.0; n], Penalty::new(0.01, 0.0, 1.0));
    Small { design, y, w, penalty, loss: Loss::Squared, intercept: true }
}
