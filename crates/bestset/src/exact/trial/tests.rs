//! Trials against the definition, and against every subset on their side.

use super::*;
use crate::control::Monitor;
use crate::design::{ColumnSubset, Dense};
use crate::exact::diagonal::tests::{for_each_node, make};
use crate::exact::far::tests::numbers;
use crate::exact::{Seed, Tree};
use crate::relaxation::workspace::Workspace;
use crate::solver::incremental;
use crate::{Bounds, Options, Penalty, solve};

impl Reduced<'_> {
    /// Every free member on both sides.
    fn for_each_trial(&self, mut visit: impl FnMut(&Self, &Trial<'_>)) {
        for side in [Choice::In, Choice::Out] {
            for (e, &member) in self.moving.iter().enumerate() {
                let (along, gain) = (self.answers.col_as_slice(e), 1.0 / self.inverse[(e, e)]);
                let (place, curvature) = (Place::Moving(e), gain - self.own[e]);
                visit(self, &Trial { member, place, side, along, gain, curvature });
            }
        }
        for (k, &member) in self.still.iter().enumerate().filter(|p| self.now.beta[*p.1] == 0.0) {
            let (along, place) = (self.left(k), Place::Still(k));
            visit(self, &Trial { member, place, side: Choice::In, along, gain: 1.0, curvature: along[k] });
        }
    }
}

/// D′ by its definition with the member on its side, from the columns, at the point that the trial has come to.
fn by_definition(ground: &Ground<'_, '_, '_>, reduced: &Reduced<'_>, trial: &Trial<'_>, state: &State) -> f64 {
    let mut at = reduced.now.clone();
    at.beta[trial.member] += state.v;
    state.work.iter().zip(&state.u).for_each(|(&k, u)| at.beta[reduced.still[k]] += u);
    for (e, &a) in reduced.moving.iter().enumerate().filter(|p| Place::Moving(p.0) != trial.place) {
        let of_others = state.work.iter().zip(&state.u).map(|(&k, u)| reduced.answers[(k, e)] * u);
        let of_tried = match trial.place {
            Place::Moving(f) => -reduced.inverse[(e, f)] * state.s,
            Place::Still(k) => reduced.answers[(k, e)] * state.s,
        };
        at.beta[a] -= of_others.sum::<f64>() + of_tried;
    }
    at.choices[trial.member] = trial.side;
    if trial.side == Choice::Out {
        assert!(at.beta[trial.member].abs() < 1e-12);
        at.drop_out();
    }
    ground.refresh(&mut at);
    ground.correlate(&mut at);
    ground.measure(&mut at);
    at.dual
}

/// The sums of a trial are D′ at its point, whoever answers.
#[test]
fn a_trial_is_the_bound_at_its_point() {
    let (mut tried, mut answered, mut curved) = (0, 0, 0);
    for seed in 0..40u64 {
        let mut draw = numbers(seed + 500);
        let (n, p) = (24, 40);
        let common: Vec<f64> = (0..n).map(|_| draw()).collect();
        let x: Vec<f64> = (0..n * p).map(|i| 0.7 * common[i % n] + draw()).collect();
        let y: Vec<f64> = (0..n).map(|i| 2.0 * x[i] - 1.5 * x[5 * n + i] + x[9 * n + i] + draw()).collect();
        let w: Vec<f64> = (0..n).map(|i| 1.0 + (seed % 2) as f64 * (i % 3) as f64).collect();
        let bounds = if seed % 3 == 2 { Bounds::All(-0.3, 0.5) } else { Bounds::Free };
        let penalty = Penalty::new(0.4, 0.05 * (seed % 2) as f64, 0.5).with_bounds(bounds);
        let design = Dense::new(n, p, x).unwrap();
        let problem = make(&design, &y, &w, penalty, seed % 4 < 2);
        let (options, mut observer) = (Options { top: 1000, ..Options::default() }, ());
        let mut monitor = Monitor::new(&options, &mut observer);
        let root = incremental::root(&mut Workspace::new(&problem), &options, &mut monitor);
        let mut tree = Tree::plant(&problem, None, &options, Seed { root, multiplier: 0.0 }, 4000);
        let (node, limits, ground) = (tree.open.pop().unwrap(), monitor.limits().clone(), tree.ground());
        let mut now = ground.relax(ground.start(&node), f64::MAX, 1e-10, &limits);
        now.choices[(seed % 40) as usize] = Choice::In;
        now = ground.relax(now, f64::MAX, 1e-10, &limits);
        let guide = now.clone();
        if seed % 5 > 0 && ground.move_curvature(&mut now, &guide, f64::INFINITY, false, &limits) {
            now = ground.relax(now, f64::MAX, if seed % 2 == 0 { 1e-10 } else { 1.0 }, &limits);
        }
        let mut other = Relaxed { stale: true, ..now.clone() };
        assert!(ground.reduce(&other).is_none(), "the minimiser of another node");
        (other.stale, other.share[0]) = (false, 0.5);
        assert!(ground.reduce(&other).is_none(), "M is not positive where members are pooled");
        let reduced = ground.reduce(&now).expect("regular");
        reduced.for_each_trial(|reduced, trial| {
            let mut state = State { slopes: reduced.tau.clone(), ..State::default() };
            for _ in 0..if now.choices[trial.member] == Choice::Free { ROUNDS } else { 0 } {
                reduced.answer(trial, &mut state);
                let slope = reduced.slope(trial, &state);
                let (charged, new) = reduced.charged(trial, &state);
                let (answers, lost) = reduced.answered(trial, &state, slope, &new);
                let bound = reduced.base(trial, &state, slope) + charged + answers;
                let (exact, room) = (by_definition(&ground, reduced, trial, &state), 1e-10 * now.dual.abs());
                assert!(bound - lost <= exact, "{seed}: {bound} less {lost} above {exact}");
                assert!((bound - exact).abs() < 0.1 * lost + room, "{seed}: {bound} and {exact}, {lost}");
                tried += 1;
                answered += usize::from(state.u.iter().any(|u| *u != 0.0));
                curved += usize::from(reduced.own.iter().any(|c| *c > 0.0));
                state.work.extend(new);
                state.u.resize(state.work.len(), 0.0);
            }
        });
    }
    assert!(tried > 8000 && 3 * answered > tried && 2 * curved > tried, "{answered}, {curved} of {tried}");
}

/// No trial gets above the best subset on its side, at any scale, and most get further than the member alone.
#[test]
fn no_trial_is_beyond_a_subset_on_its_side() {
    let (mut tried, mut further) = (0, 0);
    for_each_node(300, |ground, now, subsets| {
        let Some(reduced) = ground.reduce(now) else { return };
        reduced.for_each_trial(|reduced, trial| {
            let (a, j) = (trial.member, ground.near.active.features()[now.members[trial.member]]);
            if now.choices[a] != Choice::Free {
                return;
            }
            let least = subsets.least_on(trial.side == Choice::In, j);
            let mut state = State::default();
            let label = || format!("{}, {j} {:?}", subsets.label, trial.side);
            assert!(!reduced.is_beyond(trial, least + 1e-9 * (1.0 + least.abs()), &mut state), "{}", label());
            let (c, b, s) = (reduced.penalties[a], now.beta[a], now.spare[a]);
            let alone = match trial.side {
                Choice::In if b == 0.0 => c.curved(s).phi(now.tau[a]),
                Choice::In => 0.0,
                _ => 0.5 * s * b * b,
            };
            tried += 1;
            further += usize::from(reduced.is_beyond(trial, now.dual - c.psi(now.tau[a]) + alone, &mut state));
        });
    });
    assert!(tried > 2000 && 3 * further > 2 * tried, "{further} of {tried}");
}

/// Targets far from zero, which the intercept takes: α = Xβ + b − y then carries rounding of y, which costs δᵀX̃Δ in a trial.
/// The targets are multiples of 2⁻¹², so that adding 2^power to them is exact and changes no P.
#[test]
fn no_trial_is_beyond_where_targets_are_far_from_zero() {
    for power in [0, 20, 30, 34, 38] {
        let mut tried = 0;
        for seed in 0..150u64 {
            let mut draw = numbers(seed + 900);
            let (n, p) = (12, 4);
            let x: Vec<f64> = (0..n * p).map(|_| draw()).collect();
            let fine = |v: f64| (v * 4096.0).round() / 4096.0;
            let y: Vec<f64> = (0..n).map(|i| fine(x[i] - x[n + i] + 0.5 * x[2 * n + i] + 0.3 * draw())).collect();
            let far: Vec<f64> = y.iter().map(|y| y + 2f64.powi(power)).collect();
            let (w, penalty) = (vec![1.0; n], Penalty::new(0.01, 0.0, 1.0));
            let design = Dense::new(n, p, x).unwrap();
            let fit = |mask: usize| {
                let columns: Vec<usize> = (0..p).filter(|j| mask >> j & 1 == 1).collect();
                let prices = 0.01 * columns.len() as f64;
                if columns.is_empty() {
                    let near = make(&design, &y, &w, penalty.clone(), true);
                    let zero = vec![0.0; n];
                    return near.loss_sum(&zero, near.best_intercept(&zero, 0.0));
                }
                let part = ColumnSubset::new(&design, columns).unwrap();
                let fitted = make(&part, &y, &w, Penalty::new(0.0, 0.0, 1.0), true);
                prices + solve(&fitted, &Options::default()).unwrap().objective()
            };
            let costs: Vec<f64> = (0..1 << p).map(fit).collect();
            let problem = make(&design, &far, &w, penalty.clone(), true);
            let (options, mut observer) = (Options { top: 1000, ..Options::default() }, ());
            let mut monitor = Monitor::new(&options, &mut observer);
            let root = incremental::root(&mut Workspace::new(&problem), &options, &mut monitor);
            let mut tree = Tree::plant(&problem, None, &options, Seed { root, multiplier: 0.0 }, 4000);
            let (node, limits, ground) = (tree.open.pop().unwrap(), monitor.limits().clone(), tree.ground());
            let now = ground.relax(ground.start(&node), f64::MAX, 1e-10, &limits);
            let Some(reduced) = ground.reduce(&now) else { continue };
            reduced.for_each_trial(|reduced, trial| {
                let j = ground.near.active.features()[now.members[trial.member]];
                let sided = (0..costs.len()).filter(|m| (m >> j & 1 == 1) == (trial.side == Choice::In));
                let least = sided.map(|m| costs[m]).fold(f64::INFINITY, f64::min);
                let is_beyond = reduced.is_beyond(trial, least * (1.0 + 1e-9), &mut State::default());
                assert!(!is_beyond, "2^{power}, {seed}: {j} {:?} beyond {least}", trial.side);
                tried += 1;
            });
        }
        assert!(tried > 1000, "2^{power}: {tried}");
    }
}
