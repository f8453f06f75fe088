//! A member probed: put in the model or out of it, while all the others answer (MATH 11.15–11.18).
//!
//! A rule of MATH §5 looks at one member alone; curvature left along it (11.12) lets the others answer as they like. Here they answer as
//! their penalties let them: the member probed changes by Δ_j, those that this takes beyond their thresholds by Δ_l in a few rounds of
//! coordinate descent, N as (11.17) says, and D′ at that point with φ′_j (in) or 0 (out) in place of Ψ′_j bounds every subset of the node
//! on that side. Above P̂ there is nothing on it.
//!
//! | file | what |
//! |---|---|
//! | here | [`MemberProbe`]: one member on one side |
//! | `members` | all members of a node, one by one |
//! | `reduced` | [`Reduced`]: the node with N eliminated |

mod members;
mod reduced;

pub use members::{probe_members, promising};
pub use reduced::Reduced;

use crate::exact::node::Choice;
use crate::kernel;

/// Members whose slopes are compared with their thresholds at once, without a branch for each: two vectors of eight.
const BLOCK: usize = 16;

/// A member on one side, and what the others feel of it.
pub struct MemberProbe<'t> {
    reduced: &'t Reduced<'t>,
    /// The member.
    pub member: usize,
    place: ProbePlace,
    /// In or out.
    pub side: Choice,
    /// The slopes of Z follow χ times this: a column of M_ZN H⁻¹ (MATH 11.18) or of M_{Z|N} (MATH 11.17).
    along: &'t [f64],
    /// 1/(H⁻¹)_ll, or 1 in Z.
    gain: f64,
    /// Curvature of the loss along it once N has answered.
    curvature: f64,
}

/// Where the member is among N or Z.
#[derive(Clone, Copy, PartialEq)]
pub enum ProbePlace {
    /// In N.
    Moving(usize),
    /// In Z.
    Still(usize),
}

/// What a probe has come to.
#[derive(Default)]
pub struct ProbeState {
    /// Δ_j of the member probed.
    pub delta: f64,
    /// χ (MATH 11.18) of a member of N, Δ_j of one of Z.
    pub chi: f64,
    /// τ_Z + ξ_Z.
    pub slopes: Vec<f64>,
    /// Those of Z that answer.
    pub answering: Vec<usize>,
    /// Δ of each of them.
    pub deltas: Vec<f64>,
}

impl ProbeState {
    /// Starts again from the slopes of Z at the minimiser.
    fn restart(&mut self, tau: &[f64]) {
        (self.delta, self.chi) = (0.0, 0.0);
        self.slopes.clear();
        self.slopes.extend_from_slice(tau);
        self.answering.clear();
        self.deltas.clear();
    }

    /// More members answer, from zero.
    pub fn extend(&mut self, new: Vec<usize>) {
        self.answering.extend(new);
        self.deltas.resize(self.answering.len(), 0.0);
    }

    /// Those that answer, with what they have changed by.
    fn answers(&self) -> impl Iterator<Item = (usize, f64)> {
        self.answering.iter().copied().zip(self.deltas.iter().copied())
    }
}

/// What the others of Z are charged in a probe, and who of them is to answer next.
pub struct Charge {
    /// Σ { Ψ′_k(τ_k + ξ_k) − Ψ′_k(τ_k) − β_kξ_k } (MATH 11.15).
    pub sum: f64,
    /// Those beyond their thresholds that have not answered.
    pub new: Vec<usize>,
}

/// What N adds to a probe, and what rounding can have added to all of it.
pub struct Answer {
    /// N's terms of MATH 11.15.
    pub sum: f64,
    /// MATH 11.19.
    pub lost: f64,
}

impl<'t> MemberProbe<'t> {
    /// The e-th member of N on a side.
    pub fn moving(reduced: &'t Reduced<'t>, e: usize, side: Choice) -> Self {
        let (along, gain) = (reduced.answers.col_as_slice(e), 1.0 / reduced.inverse[(e, e)]);
        let (member, place, curvature) = (reduced.moving[e], ProbePlace::Moving(e), gain - reduced.kappa[e]);
        Self { reduced, member, place, side, along, gain, curvature }
    }

    /// The k-th member of Z put in.
    pub fn still(reduced: &'t Reduced<'t>, k: usize) -> Self {
        let (along, member, place) = (reduced.left(k), reduced.still[k], ProbePlace::Still(k));
        Self { reduced, member, place, side: Choice::In, along, gain: 1.0, curvature: along[k] }
    }

    /// Whether the member probed is there.
    pub fn is_at(&self, place: ProbePlace) -> bool {
        self.place == place
    }

    /// Whether D′ of the probe (MATH 11.15) gets above the limit within so many rounds of answers.
    pub fn is_beyond(&self, limit: f64, rounds: usize, state: &mut ProbeState) -> bool {
        state.restart(&self.reduced.tau);
        for _ in 0..rounds {
            self.answer(state);
            let slope = self.slope(state);
            if self.value(state, slope) <= limit {
                // Descent only lowers it, and D′ never passes it.
                return false;
            }
            let charge = self.charge(state);
            let bound = self.base(state, slope) + charge.sum;
            if bound > limit {
                let answer = self.answered(state, slope, &charge.new);
                if bound + answer.sum - answer.lost > limit {
                    return true;
                }
            }
            state.extend(charge.new);
        }
        false
    }

    /// One round of coordinate descent over the member probed and those of Z that answer, the slopes following by ξ_Z = M_{Z|N}Δ_Z +
    /// M_ZN H⁻¹e_lχ (MATH 11.17, 11.18).
    pub fn answer(&self, state: &mut ProbeState) {
        let reduced = self.reduced;
        let is_moving = matches!(self.place, ProbePlace::Moving(_));
        let mut slopes: Vec<f64> = state.answering.iter().map(|&k| state.slopes[k]).collect();
        let by = self.step(state);
        state.delta += by;
        slopes.iter_mut().zip(&state.answering).for_each(|(s, &k)| *s += by * self.gain * self.along[k]);
        let mut sum = 0.0;
        for e in 0..state.answering.len() {
            let (k, column) = (state.answering[e], reduced.left(state.answering[e]));
            let back = if is_moving { self.gain * self.along[k] } else { 0.0 };
            let q = (column[k] + back * self.along[k]).max(f64::MIN_POSITIVE);
            let next = reduced.penalties[reduced.still[k]].prox_envelope(q, q * state.deltas[e] - slopes[e]);
            let by = next - state.deltas[e];
            if by != 0.0 {
                let others = slopes[e + 1..].iter_mut().zip(&state.answering[e + 1..]);
                others.for_each(|(s, &l)| *s += by * (column[l] + back * self.along[l]));
                kernel::axpy(by, column, &mut state.slopes);
                state.deltas[e] = next;
            }
            sum += self.along[k] * next;
        }
        let chi = if is_moving { self.gain * (sum + state.delta) } else { state.delta };
        kernel::axpy(chi - state.chi, self.along, &mut state.slopes);
        state.chi = chi;
    }

    /// The change of Δ_j that its penalty asks for on this side.
    fn step(&self, state: &ProbeState) -> f64 {
        let (c, beta) = (self.reduced.penalties[self.member], self.beta());
        let q = self.curvature.max(f64::MIN_POSITIVE);
        let asked = c.prox_selected(q, q * (beta + state.delta) - self.slope(state));
        let to = if self.side == Choice::In { asked } else { 0.0 };
        to - beta - state.delta
    }

    /// β_j of the member probed.
    fn beta(&self) -> f64 {
        self.reduced.node.members.beta[self.member]
    }

    /// τ_j of the member probed.
    fn tau(&self) -> f64 {
        self.reduced.node.members.tau[self.member]
    }

    /// τ_j + ξ_j along the member probed: ξ_l = χ − κ_lΔ_l in N (MATH 11.18), (M_{Z|N}Δ_Z)_j in Z (MATH 11.17).
    pub fn slope(&self, state: &ProbeState) -> f64 {
        self.tau()
            + match self.place {
                ProbePlace::Moving(e) => state.chi - self.reduced.kappa[e] * state.delta,
                ProbePlace::Still(_) => {
                    let answers = state.answers().map(|(k, u)| self.along[k] * u);
                    self.curvature * state.delta + answers.sum::<f64>()
                }
            }
    }

    /// The value of the relaxation at the point, with the pieces of N for their penalties.
    fn value(&self, state: &ProbeState, slope: f64) -> f64 {
        let (reduced, tau) = (self.reduced, self.tau());
        let (c, b) = (reduced.penalties[self.member], self.beta() + state.delta);
        let paid = if self.side == Choice::In { c.l0 + c.l1 * b.abs() + c.l2 * b * b } else { 0.0 };
        let pays = |(k, u): (usize, f64)| {
            0.5 * (reduced.tau[k] + state.slopes[k]) * u + reduced.penalties[reduced.still[k]].envelope(u)
        };
        let others: f64 = state.answers().map(pays).sum();
        reduced.node.dual - c.psi(tau) + 0.5 * state.delta * (slope - tau) + tau * b + paid + others
    }

    /// D′(β) − Ψ′_j(τ_j) + φ′_j(τ_j + ξ_j) or 0 − (β_j + ½Δ_j)ξ_j − ½Σ Δ_kξ_k (MATH 11.15): D′ of the probe as far as it does not concern
    /// what others are charged.
    pub fn base(&self, state: &ProbeState, slope: f64) -> f64 {
        let (reduced, tau) = (self.reduced, self.tau());
        let c = reduced.penalties[self.member];
        let paid = if self.side == Choice::In { c.phi(slope) } else { 0.0 };
        let of_probed = (self.beta() + 0.5 * state.delta) * (slope - tau);
        let others = state.answers().map(|(k, u)| 0.5 * u * (state.slopes[k] - reduced.tau[k]));
        reduced.node.dual - c.psi(tau) + paid - of_probed - others.sum::<f64>()
    }

    /// Σ_Z { Ψ′_k(τ_k + ξ_k) − Ψ′_k(τ_k) − β_kξ_k } (MATH 11.15), but for the member probed.
    pub fn charge(&self, state: &ProbeState) -> Charge {
        let reduced = self.reduced;
        let (mut sum, mut new) = (0.0, Vec::new());
        for (block, (slopes, quiet)) in state.slopes.chunks(BLOCK).zip(reduced.quiet.chunks(BLOCK)).enumerate() {
            // Without a branch for each: most blocks hold none. What is no number is not quiet.
            if slopes.iter().zip(quiet).fold(true, |all, (slope, quiet)| all & (slope.abs() <= *quiet)) {
                continue;
            }
            for (e, (&to, &quiet)) in slopes.iter().zip(quiet).enumerate() {
                let k = block * BLOCK + e;
                if to.abs() <= quiet || self.place == ProbePlace::Still(k) {
                    continue;
                }
                let member = reduced.still[k];
                let (c, from, beta) = (reduced.penalties[member], reduced.tau[k], reduced.node.members.beta[member]);
                let psi = c.psi(to);
                sum += psi - c.psi(from) - beta * (to - from);
                if psi < 0.0 && beta == 0.0 && !state.answering.contains(&k) {
                    new.push(k);
                }
            }
        }
        Charge { sum, new }
    }

    /// Σ_N { Ψ′_e(τ_e + ξ_e) − Ψ′_e(τ_e) − (β_e + ½Δ_e)ξ_e } with ξ_e = −κ_eΔ_e (MATH 11.15, 11.17), but for the member probed, and the most that rounding can have
    /// added to the whole sum (MATH 11.19).
    pub fn answered(&self, state: &ProbeState, slope: f64, new: &[usize]) -> Answer {
        let (reduced, members, mut sum) = (self.reduced, &self.reduced.node.members, 0.0);
        let length = |k: usize| reduced.lengths[reduced.still[k]];
        let mut moved = reduced.lengths[self.member] * state.delta.abs();
        moved += state.answers().map(|(k, u)| length(k) * u.abs()).sum::<f64>();
        for (e, &a) in reduced.moving.iter().enumerate().filter(|p| ProbePlace::Moving(p.0) != self.place) {
            let by = self.answer_of(e, state);
            moved += reduced.lengths[a] * by.abs();
            if reduced.kappa[e] > 0.0 {
                let (c, t) = (reduced.penalties[a], -reduced.kappa[e] * by);
                sum += c.psi(members.tau[a] + t) - c.psi(members.tau[a]) - (members.beta[a] + 0.5 * by) * t;
            }
        }
        // Ψ′ changes by at most the coefficient it asks for, which for those that answer is about what they have.
        let asked = |a: usize, tau: f64| (a, reduced.penalties[a].selected().link(tau).abs());
        let answering = state.answering.iter().chain(new).map(|&k| asked(reduced.still[k], state.slopes[k]));
        let more: Vec<(usize, f64)> = answering.chain([asked(self.member, slope)]).collect();
        Answer { sum, lost: reduced.lost(moved, &more) }
    }

    /// (−H⁻¹M_NZΔ_Z + H⁻¹e_lχ)_e (MATH 11.17, 11.18): what the e-th member of N changes by.
    pub fn answer_of(&self, e: usize, state: &ProbeState) -> f64 {
        let column = self.reduced.answers.col_as_slice(e);
        let of_probed = match self.place {
            ProbePlace::Moving(f) => self.reduced.inverse[(e, f)] * state.chi,
            ProbePlace::Still(k) => -column[k] * state.chi,
        };
        of_probed - state.answers().map(|(k, u)| column[k] * u).sum::<f64>()
    }
}
