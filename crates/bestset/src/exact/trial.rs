//! Members tried in the model and out of it, one by one, while all the others answer.
//!
//! A rule of MATH §5 looks at one member alone; curvature left along it ([`crate::exact::diagonal`]) lets the others answer as they like. Here
//! they answer as their penalties let them, through [`crate::exact::reduced`]: the member tried changes by v, those that this takes beyond
//! their thresholds by u in a few rounds of coordinate descent, and D′ at that point with φ′_j (in) or 0 (out) in place of Ψ′_j
//! bounds every subset of the node on that side. Above P̂ there is nothing on it.
//!
//! For a member j of Z the slopes change by t_Z = Ku with u_j = v. One of A, e, no more answers but is set: with
//! s = (v + (H⁻¹M_AZ u)_e) / (H⁻¹)_ee,
//!
//!   Δ_A = −H⁻¹M_AZ u + H⁻¹_e s,   t_Z = K u + (M_ZA H⁻¹)_e s,   t_e = s − c_e v.

use crate::control::Limits;
use crate::exact::node::Choice;
use crate::exact::reduced::Reduced;
use crate::exact::relax::{Ground, Relaxed};
use crate::kernel;
use crate::problem::screening::MARGIN;

/// Rounds in which those beyond their thresholds answer. Most trials are decided in the second or third.
const ROUNDS: usize = 6;

/// Members that are looked at together.
const BLOCK: usize = 16;

/// What the trials found.
#[derive(Default)]
struct Findings {
    decided: Vec<(usize, Choice)>,
    /// There is no subset on either side of some member.
    is_empty: bool,
}

/// A member on one side, and what the others feel of it.
struct Trial<'t> {
    member: usize,
    place: Place,
    side: Choice,
    /// The slopes of Z follow s times this: a column of K or of M_ZA H⁻¹.
    along: &'t [f64],
    /// 1/(H⁻¹)_ee, or 1 in Z.
    gain: f64,
    /// Curvature of the loss along it once A has answered.
    curvature: f64,
}

#[derive(Clone, Copy, PartialEq)]
enum Place {
    Moving(usize),
    Still(usize),
}

/// What a trial has come to: v, s, the slopes along Z, and u of those that answer.
#[derive(Default)]
struct State {
    v: f64,
    s: f64,
    slopes: Vec<f64>,
    work: Vec<usize>,
    u: Vec<f64>,
}

impl Ground<'_, '_, '_> {
    /// Decides about the members that no subset with P ≤ `best` has, or does without; where it finds that there is none in the node at
    /// all, its bound says so.
    pub fn try_members(&self, now: &mut Relaxed, best: f64, limits: &Limits) {
        let limit = best + MARGIN * (best.abs() + now.dual.abs());
        if !limits.has_time_for(self.products_cost(now.members.len())) {
            return;
        }
        let Some(mut reduced) = self.reduce(now) else { return };
        let findings = reduced.try_all(limit, &|| limits.stop(0).is_some());
        if findings.is_empty {
            now.bound = now.bound.max(limit);
        }
        for (a, side) in findings.decided {
            now.choices[a] = side;
            now.stale |= now.beta[a] != 0.0;
        }
        now.drop_out();
    }
}

impl Reduced<'_> {
    fn try_all(&mut self, limit: f64, stop: &dyn Fn() -> bool) -> Findings {
        let mut findings = Findings::default();
        let mut state = State::default();
        let (now, is_free) = (self.now, |a: usize| self.now.choices[a] == Choice::Free);
        // No other member answers against it: at most this can come out.
        let most = |k: usize| {
            let (a, curvature) = (self.still[k], self.left(k)[k]);
            now.dual + self.penalties[a].curved(curvature.max(0.0)).phi(self.tau[k])
        };
        let at_zero = (0..self.still.len()).filter(|&k| is_free(self.still[k]) && now.beta[self.still[k]] == 0.0);
        let mut tried: Vec<(f64, usize)> = at_zero.map(|k| (most(k), k)).filter(|t| t.0 > limit).collect();
        tried.sort_by(|x, y| y.0.total_cmp(&x.0).then(x.1.cmp(&y.1)));
        for (_, k) in tried {
            if stop() {
                return findings;
            }
            let along = self.left(k);
            let (member, place) = (self.still[k], Place::Still(k));
            let trial = Trial { member, place, side: Choice::In, along, gain: 1.0, curvature: along[k] };
            if self.is_beyond(&trial, limit, &mut state) {
                // What is out is charged for nothing in the trials that follow.
                self.quiet[k] = f64::INFINITY;
                findings.decided.push((member, Choice::Out));
            }
        }
        for (e, &member) in self.moving.iter().enumerate().filter(|p| is_free(*p.1)) {
            let (along, gain) = (self.answers.col_as_slice(e), 1.0 / self.inverse[(e, e)]);
            let (place, curvature) = (Place::Moving(e), gain - self.own[e]);
            if stop() {
                break;
            }
            let mut fails = |side| {
                let trial = Trial { member, place, side, along, gain, curvature };
                self.is_beyond(&trial, limit, &mut state)
            };
            // Beyond its knee a coefficient pays in full already.
            match (self.own[e] == 0.0 && fails(Choice::In), fails(Choice::Out)) {
                (true, true) => findings.is_empty = true,
                (true, false) => findings.decided.push((member, Choice::Out)),
                (false, true) => findings.decided.push((member, Choice::In)),
                (false, false) => {}
            }
        }
        findings
    }

    /// Whether D′ of the trial gets above the limit.
    fn is_beyond(&self, trial: &Trial<'_>, limit: f64, state: &mut State) -> bool {
        (state.v, state.s) = (0.0, 0.0);
        state.slopes.clear();
        state.slopes.extend_from_slice(&self.tau);
        state.work.clear();
        state.u.clear();
        for _ in 0..ROUNDS {
            self.answer(trial, state);
            let slope = self.slope(trial, state);
            if self.value(trial, state, slope) <= limit {
                // Descent only lowers it, and D′ never passes it.
                return false;
            }
            let (charged, new) = self.charged(trial, state);
            let bound = self.base(trial, state, slope) + charged;
            if bound > limit {
                let (answered, lost) = self.answered(trial, state, slope, &new);
                if bound + answered - lost > limit {
                    return true;
                }
            }
            state.work.extend(new);
            state.u.resize(state.work.len(), 0.0);
        }
        false
    }

    /// One round of coordinate descent over the member tried and those that answer beyond A.
    fn answer(&self, trial: &Trial<'_>, state: &mut State) {
        let (c, beta) = (self.penalties[trial.member], self.now.beta[trial.member]);
        let (q, is_moving) = (trial.curvature.max(f64::MIN_POSITIVE), matches!(trial.place, Place::Moving(_)));
        let size = state.work.len();
        let slope = self.slope(trial, state);
        let mut slopes: Vec<f64> = state.work.iter().map(|&k| state.slopes[k]).collect();
        let asked = c.prox_selected(q, q * (beta + state.v) - slope);
        let by = if trial.side == Choice::In { asked } else { 0.0 } - beta - state.v;
        state.v += by;
        slopes.iter_mut().zip(&state.work).for_each(|(s, &k)| *s += by * trial.gain * trial.along[k]);
        let mut sum = 0.0;
        for e in 0..size {
            let (k, column) = (state.work[e], self.left(state.work[e]));
            let back = if is_moving { trial.gain * trial.along[k] } else { 0.0 };
            let q = (column[k] + back * trial.along[k]).max(f64::MIN_POSITIVE);
            let next = self.penalties[self.still[k]].prox_envelope(q, q * state.u[e] - slopes[e]);
            let by = next - state.u[e];
            if by != 0.0 {
                let others = slopes[e + 1..].iter_mut().zip(&state.work[e + 1..]);
                others.for_each(|(s, &l)| *s += by * (column[l] + back * trial.along[l]));
                kernel::axpy(by, column, &mut state.slopes);
                state.u[e] = next;
            }
            sum += trial.along[k] * next;
        }
        let s = if is_moving { trial.gain * (sum + state.v) } else { state.v };
        kernel::axpy(s - state.s, trial.along, &mut state.slopes);
        state.s = s;
    }

    /// The slope along the member tried.
    fn slope(&self, trial: &Trial<'_>, state: &State) -> f64 {
        self.now.tau[trial.member]
            + match trial.place {
                Place::Moving(e) => state.s - self.own[e] * state.v,
                Place::Still(_) => {
                    let answers = state.work.iter().zip(&state.u).map(|(&k, u)| trial.along[k] * u);
                    trial.curvature * state.v + answers.sum::<f64>()
                }
            }
    }

    /// The value of the relaxation at the point, with the pieces of A for their penalties.
    fn value(&self, trial: &Trial<'_>, state: &State, slope: f64) -> f64 {
        let (c, tau) = (self.penalties[trial.member], self.now.tau[trial.member]);
        let b = self.now.beta[trial.member] + state.v;
        let paid = if trial.side == Choice::In { c.l0 + c.l1 * b.abs() + c.l2 * b * b } else { 0.0 };
        let pays = |(&k, &u): (&usize, &f64)| {
            0.5 * (self.tau[k] + state.slopes[k]) * u + self.penalties[self.still[k]].envelope(u)
        };
        let others: f64 = state.work.iter().zip(&state.u).map(pays).sum();
        self.now.dual - c.psi(tau) + 0.5 * state.v * (slope - tau) + tau * b + paid + others
    }

    /// D′ of the trial as far as it does not concern what others are charged.
    fn base(&self, trial: &Trial<'_>, state: &State, slope: f64) -> f64 {
        let (c, tau) = (self.penalties[trial.member], self.now.tau[trial.member]);
        let paid = if trial.side == Choice::In { c.phi(slope) } else { 0.0 };
        let own = (self.now.beta[trial.member] + 0.5 * state.v) * (slope - tau);
        let others = state.work.iter().zip(&state.u).map(|(&k, u)| 0.5 * u * (state.slopes[k] - self.tau[k]));
        self.now.dual - c.psi(tau) + paid - own - others.sum::<f64>()
    }

    /// What the others of Z are charged more than before, and those beyond their thresholds that have not answered.
    fn charged(&self, trial: &Trial<'_>, state: &State) -> (f64, Vec<usize>) {
        let (mut sum, mut new) = (0.0, Vec::new());
        for (block, (slopes, quiet)) in state.slopes.chunks(BLOCK).zip(self.quiet.chunks(BLOCK)).enumerate() {
            // Without a branch for each: most blocks hold none. What is no number is not quiet.
            if slopes.iter().zip(quiet).fold(true, |all, (slope, quiet)| all & (slope.abs() <= *quiet)) {
                continue;
            }
            for (e, (&to, &quiet)) in slopes.iter().zip(quiet).enumerate() {
                let k = block * BLOCK + e;
                if to.abs() <= quiet || trial.place == Place::Still(k) {
                    continue;
                }
                let (c, from, beta) = (self.penalties[self.still[k]], self.tau[k], self.now.beta[self.still[k]]);
                let psi = c.psi(to);
                sum += psi - c.psi(from) - beta * (to - from);
                if psi < 0.0 && beta == 0.0 && !state.work.contains(&k) {
                    new.push(k);
                }
            }
        }
        (sum, new)
    }

    /// What A adds, and the most that rounding can have added to all of it.
    fn answered(&self, trial: &Trial<'_>, state: &State, slope: f64, new: &[usize]) -> (f64, f64) {
        let (now, mut sum) = (self.now, 0.0);
        let length = |k: usize| self.lengths[self.still[k]];
        let mut moved = self.lengths[trial.member] * state.v.abs();
        moved += state.work.iter().zip(&state.u).map(|(&k, u)| length(k) * u.abs()).sum::<f64>();
        for (e, &a) in self.moving.iter().enumerate().filter(|p| Place::Moving(p.0) != trial.place) {
            let column = self.answers.col_as_slice(e);
            let by = match trial.place {
                Place::Moving(f) => self.inverse[(e, f)] * state.s,
                Place::Still(k) => -column[k] * state.s,
            } - state.work.iter().zip(&state.u).map(|(&k, u)| column[k] * u).sum::<f64>();
            moved += self.lengths[a] * by.abs();
            if self.own[e] > 0.0 {
                let (c, t) = (self.penalties[a], -self.own[e] * by);
                sum += c.psi(now.tau[a] + t) - c.psi(now.tau[a]) - (now.beta[a] + 0.5 * by) * t;
            }
        }
        // Ψ′ changes by at most the coefficient it asks for, which for those that answer is about what they have.
        let asked = |k: usize, tau: f64| self.penalties[self.still[k]].selected().link(tau).abs() * length(k);
        let more: f64 = state.work.iter().chain(new).map(|&k| asked(k, state.slopes[k])).sum();
        let own = self.penalties[trial.member].selected().link(slope).abs() * self.lengths[trial.member];
        (sum, self.lost(moved, more + own))
    }
}

#[cfg(test)]
mod tests;
