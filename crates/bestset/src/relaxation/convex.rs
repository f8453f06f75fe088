//! Convex phase (MATH 7.1): minimise R on a working set that grows as needed, with a bound after every pass over X.

use crate::control::{Monitor, Options};
use crate::design::correlate;
use crate::error::Result;
use crate::kernel::each::{chosen, each};
use crate::problem::scaling::vertex;
use crate::problem::screening;
use crate::problem::{LowerBounds, Problem};
use crate::relaxation::everywhere::{Anchor, Everywhere};
use crate::relaxation::gap::gap_share;
use crate::relaxation::workspace::Workspace;
use crate::solution::{Screened, Status, TraceRow};
use rayon::prelude::*;

/// Share of its threshold that a correlation must exceed for the search along the dual point to look at it. What is left
/// out is checked at the end: the bound of the result covers all features.
const NEAR: f64 = 0.9;

/// Numbers that one task copies.
const COPIED: usize = 1 << 16;

/// What the convex phase proved.
pub struct Relaxed {
    /// Least R met.
    pub relaxation: f64,
    /// Best bound met.
    pub lower_bound: f64,
    /// The dual point that gives it.
    pub dual: Vec<f64>,
    /// What is known of every feature there, once asked for.
    everywhere: Option<Everywhere>,
    /// The last pass over all features that gave the bound.
    anchor: Option<Anchor>,
    /// By how much it was scaled.
    pub(crate) scale: f64,
    /// Features not proved to be zero in every minimiser of R.
    pub alive: Vec<usize>,
    /// x_jᵀα over `alive` at the better dual point of the last iterate: that of β, or the one of the dual method.
    pub tau: Vec<f64>,
    /// Whether it is that of β.
    own: bool,
    /// D there.
    pub dual_value: f64,
    /// Outer iterations.
    pub iterations: usize,
    /// How it ended.
    pub ended: Status,
    /// What screening did.
    pub screened: Screened,
    /// Features that were in the active set at some time.
    pub visited: Vec<usize>,
}

/// Minimises R until R − D ≤ `relaxation_gap` · |R| (MATH 7.1); leaves the minimiser in the workspace.
pub fn solve(work: &mut Workspace<'_, '_>, options: &Options, monitor: &mut Monitor<'_>) -> Result<Relaxed> {
    let mut state = Relaxed::new(work);
    refine(&mut state, work, options, &|_, _| false, monitor)?;
    Ok(state)
}

/// Goes on with [`solve`] until R − D ≤ `relaxation_gap` · |R| (MATH 7.1) or `is_enough`; whether it was that which ended it.
pub fn refine(
    state: &mut Relaxed,
    work: &mut Workspace<'_, '_>,
    options: &Options,
    is_enough: &dyn Fn(&Relaxed, &Workspace<'_, '_>) -> bool,
    monitor: &mut Monitor<'_>,
) -> Result<bool> {
    let problem = work.problem;
    let p = problem.ncols();
    // Without a ridge term or bounds D may stay −∞; the gap shares then measure stationarity.
    let unbounded = !problem.penalty().has_certificate(p);
    let (mut previous, mut tightening) = (f64::INFINITY, 0.1);
    loop {
        let gap = state.pass(work, monitor)?;
        record(work, state, monitor);
        state.iterations += 1;
        let target = options.relaxation_gap * state.relaxation.abs();
        if state.relaxation - state.lower_bound <= target || (unbounded && gap <= 1e-3 * target) {
            return Ok(false);
        }
        if is_enough(state, work) {
            return Ok(true);
        }
        if let Some(status) = monitor.stop(state.iterations) {
            state.ended = status;
            return Ok(false);
        }
        state.screen(work)?;
        let Some(added) = state.include(work)? else {
            state.ended = Status::MemoryLimit;
            return Ok(false);
        };
        // The same gap twice with nothing to add: the sub-problem must be solved more tightly, or rounding is reached.
        // Zero twice and NaN (nothing stops a coefficient) are stalls as well.
        let falling = gap < 0.5 * previous;
        if added == 0 && !falling {
            tightening *= 0.1;
            if tightening < 1e-9 {
                state.ended = Status::Stalled;
                return Ok(false);
            }
        }
        previous = gap;
        let gradients = state.active_gradients(work);
        let tolerance = (tightening * gap.min(state.relaxation.abs())).max(0.2 * target * tightening.min(0.1) * 10.0);
        work.relax(gradients, tolerance, monitor);
    }
}

impl Relaxed {
    /// R − D, or R where D says nothing: P is not negative.
    pub fn gap(&self) -> f64 {
        self.relaxation - self.lower_bound.max(0.0)
    }

    /// Nothing proved yet, every feature in play.
    pub(crate) fn new(work: &Workspace<'_, '_>) -> Self {
        let p = work.problem.ncols();
        Self {
            relaxation: f64::INFINITY,
            lower_bound: f64::NEG_INFINITY,
            dual: work.alpha.clone(),
            everywhere: None,
            anchor: None,
            scale: 1.0,
            alive: (0..p).collect(),
            tau: vec![0.0; p],
            own: true,
            dual_value: f64::NEG_INFINITY,
            iterations: 0,
            ended: Status::Converged,
            screened: Screened::default(),
            visited: work.active.features().to_vec(),
        }
    }

    /// One pass τ = X_aliveᵀα: R, D, the best of both; returns the gap at the last iterate.
    fn pass(&mut self, work: &Workspace<'_, '_>, monitor: &mut Monitor<'_>) -> Result<f64> {
        let problem = work.problem;
        self.tau.resize(self.alive.len(), 0.0);
        let begun = monitor.seconds();
        // A pass over all columns measures them as well, once.
        match self.alive.len() == problem.ncols() && !problem.is_measured() {
            true => problem.correlate_all(&work.alpha, &mut self.tau, &|| monitor.check())?,
            false => correlate(problem.design(), &self.alive, &work.alpha, &mut self.tau, &|| monitor.check())?,
        }
        monitor.swept((self.alive.len() * problem.nrows()) as f64, monitor.seconds() - begun);
        monitor.passes += self.alive.len() as f64 / problem.ncols() as f64;
        self.relaxation = self.relaxation.min(work.relaxation());
        let (alive, tau) = (std::mem::take(&mut self.alive), std::mem::take(&mut self.tau));
        self.dual_value = self.offer_dual(problem, &work.alpha, &alive, &tau)?;
        (self.alive, self.tau) = (alive, tau);
        let beta = |j: usize| work.position(j).map_or(0.0, |k| work.beta[k]);
        let (quiet, squares) = (problem.least_threshold(), problem.squares()?);
        let (alive, tau) = (&self.alive, &self.tau);
        let shares = chosen(alive.len(), |k| match (alive[k], beta(alive[k])) {
            // Most features: below every threshold and out.
            (_, 0.0) if tau[k].abs() < quiet => None,
            (j, b) => Some(gap_share(problem.coordinate(j), b, tau[k], squares[j])),
        });
        let gap = shares.iter().sum();
        self.own = true;
        let Some(proof) = work.proof() else { return Ok(gap) };
        let mut tau = vec![0.0; self.alive.len()];
        correlate(problem.design(), &self.alive, &proof, &mut tau, &|| monitor.check())?;
        monitor.passes += self.alive.len() as f64 / problem.ncols() as f64;
        let alive = std::mem::take(&mut self.alive);
        let value = self.offer_dual(problem, &proof, &alive, &tau)?;
        self.alive = alive;
        if value > self.dual_value {
            (self.tau, self.dual_value, self.own) = (tau, value, false);
        }
        Ok(gap.min(self.relaxation - self.lower_bound))
    }

    /// Takes over a dual point, best scaled, if its bound is better; returns D of the point itself.
    pub fn offer_dual(&mut self, problem: &Problem<'_>, alpha: &[f64], features: &[usize], tau: &[f64]) -> Result<f64> {
        let bounds = problem.lower_bounds()?;
        let full = bounds.dual_value(alpha, features, tau);
        let (dual, scale) = best_scaling(&bounds, alpha, features, tau, full);
        if dual > self.lower_bound {
            (self.lower_bound, self.scale) = (dual, scale);
            self.dual.clear();
            self.dual.extend(alpha.iter().map(|a| scale * a));
            self.everywhere = None;
            if features.len() == problem.ncols() {
                let anchor = self.anchor.get_or_insert_with(|| Anchor { alpha: Vec::new(), tau: Vec::new() });
                anchor.alpha = alpha.to_vec();
                copy(tau, &mut anchor.tau);
            }
        }
        Ok(full)
    }

    /// What is known of every feature at the dual point that gives the bound, enough to tell which of them the rules exclude with
    /// P̂ = `best`.
    pub fn everywhere(&mut self, problem: &Problem<'_>, best: f64, monitor: &mut Monitor<'_>) -> Result<&Everywhere> {
        let known = self.take_everywhere(problem, best, monitor)?;
        Ok(self.everywhere.insert(known))
    }

    /// The same, taken out.
    pub fn take_everywhere(
        &mut self,
        problem: &Problem<'_>,
        best: f64,
        monitor: &mut Monitor<'_>,
    ) -> Result<Everywhere> {
        let (dual, anchor) = (&self.dual, self.anchor.as_ref());
        let mut known = match self.everywhere.take() {
            Some(known) => known,
            None => Everywhere::new(problem, dual, anchor, monitor)?,
        };
        known.decide(problem, dual, best, monitor)?;
        Ok(known)
    }

    /// |x_jᵀα| ≤ |s x_jᵀα°| + ‖x̂_j‖ ‖α − s α°‖ (MATH 5.7): of every feature a number that x_jᵀα is not farther from zero than, from the
    /// last pass over all of them, and the features whose Ψ_j may be below zero as far as that tells.
    pub(crate) fn carried(&self, problem: &Problem<'_>, alpha: &[f64]) -> Result<Option<(Vec<f64>, Vec<usize>)>> {
        let Some(anchor) = &self.anchor else { return Ok(None) };
        let carried = problem.lower_bounds()?.carry(&anchor.alpha, &anchor.tau, alpha);
        let Some((mut tau, reach)) = carried else { return Ok(None) };
        let zero = |j: usize| screening::zero_in_relaxation(problem.coordinate(j), tau[j], 1.0, reach[j]);
        let open = chosen(tau.len(), |j| (!zero(j)).then_some(j));
        tau.iter_mut().zip(&reach).for_each(|(t, r)| *t += r.copysign(*t));
        Ok(Some((tau, open)))
    }

    /// The relaxation rule (MATH 5.2): features that are zero in every minimiser of R leave the problem.
    fn screen(&mut self, work: &mut Workspace<'_, '_>) -> Result<()> {
        let problem = work.problem;
        let radius = screening::radius(self.relaxation, self.dual_value, problem.mu());
        if !radius.is_finite() {
            return Ok(());
        }
        let lengths = problem.lengths()?;
        let zero = |j: usize, tau: f64| {
            screening::zero_in_relaxation(problem.coordinate(j), tau, lengths.of(j), radius)
                && work.position(j).is_none_or(|k| work.beta[k] == 0.0)
        };
        let kept = chosen(self.alive.len(), |k| Some(k).filter(|&k| !zero(self.alive[k], self.tau[k])));
        let removed = self.alive.len() - kept.len();
        if removed == 0 {
            return Ok(());
        }
        self.screened.relaxation += removed;
        let stays = |j: &usize| self.alive.binary_search(j).map_or(true, |k| !zero(*j, self.tau[k]));
        let active: Vec<bool> = work.active.features().iter().map(stays).collect();
        let (alive, tau) = (each(kept.len(), |k| self.alive[kept[k]]), each(kept.len(), |k| self.tau[kept[k]]));
        (self.alive, self.tau) = (alive, tau);
        if active.contains(&false) {
            work.retain(&active);
        }
        Ok(())
    }

    /// Inclusion (MATH 6.4 with faster growth): the features that violate the optimality of R most. Where memory has no room for
    /// them those at zero leave; `None` where it has none even then.
    pub(crate) fn include(&mut self, work: &mut Workspace<'_, '_>) -> Result<Option<usize>> {
        let problem = work.problem;
        let (excess, quiet) =
            (|j: usize, t: f64| t.abs() - problem.coordinate(j).threshold(t), problem.least_threshold());
        let mut violating = chosen(self.alive.len(), |k| {
            let (j, t) = (self.alive[k], self.tau[k]);
            let is_outside = t.abs() >= quiet && work.position(j).is_none();
            Some((excess(j, t), j)).filter(|v| is_outside && v.0 > 0.0)
        });
        // Fewer at first would save little of the matrix of inner products and cost passes over X.
        let least = (4.0 * (problem.ncols() as f64).ln()).ceil().max(100.0) as usize;
        let mut count = least.max(work.active.len()).min(violating.len());
        if count == 0 {
            return Ok(Some(0));
        }
        let is_crowded = work.gram_room().is_some_and(|room| count > room);
        if count > work.room() || is_crowded {
            let keep: Vec<bool> = work.beta.iter().map(|b| *b != 0.0).collect();
            work.retain(&keep);
            count = count.min(work.room());
            // Steps without the inner products of long columns take many times as long as a few passes more.
            count = work.gram_room().filter(|room| *room >= least).map_or(count, |room| count.min(room));
        }
        if count == 0 {
            return Ok(None);
        }
        if count < violating.len() {
            violating.select_nth_unstable_by(count, |a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            violating.truncate(count);
        }
        violating.sort_unstable_by_key(|v| v.1);
        let joining: Vec<usize> = violating.iter().map(|v| v.1).collect();
        work.include_all(&joining)?;
        self.visited.extend(joining);
        Ok(Some(count))
    }

    /// The gradients of the active coefficients, read off the last pass where it was at β.
    fn active_gradients(&self, work: &Workspace<'_, '_>) -> Vec<f64> {
        if !self.own {
            return work.gradients();
        }
        // In the order of the features.
        let of = |j: &usize| self.alive.binary_search(j).map_or(0.0, |k| self.tau[k]);
        work.active.features().iter().map(of).collect()
    }
}

/// Copies by all threads, into memory that is kept: of ten million numbers fresh memory takes longer than the copy.
fn copy(from: &[f64], to: &mut Vec<f64>) {
    to.resize(from.len(), 0.0);
    to.par_chunks_mut(COPIED).zip(from.par_chunks(COPIED)).for_each(|(to, from)| to.copy_from_slice(from));
}

/// max_{0≤s≤1} D(sα) and its s (MATH 3.9), from τ = Xᵀα of all features.
pub(crate) fn best_scaled(problem: &Problem<'_>, alpha: &[f64], tau: &[f64]) -> Result<(f64, f64)> {
    let (bounds, features) = (problem.lower_bounds()?, (0..tau.len()).collect::<Vec<_>>());
    let full = bounds.dual_value(alpha, &features, tau);
    Ok(best_scaling(&bounds, alpha, &features, tau, full))
}

/// max_{0≤s≤1} D(sα) and its s (MATH 3.9): a violated threshold can cost more than shrinking the dual point does, and
/// without a ridge term D(α) = −∞ until none is violated. D(sα) is concave in s; `full` is D(α).
fn best_scaling(
    problem: &LowerBounds<'_, '_>,
    alpha: &[f64],
    features: &[usize],
    tau: &[f64],
    full: f64,
) -> (f64, f64) {
    // Only features near their threshold or beyond it have a dual term at any s ≤ 1: the search looks at no others.
    let quiet = NEAR * problem.least_threshold();
    let near = chosen(features.len(), |k| {
        let (j, t) = (features[k], tau[k]);
        (t.abs() >= quiet && t.abs() > NEAR * problem.coordinate(j).threshold(t)).then_some((j, t))
    });
    let (near, near_tau): (Vec<usize>, Vec<f64>) = near.into_iter().unzip();
    // Inside every threshold by as much as τ can be wrong: the bound leaves that room, and without a ridge term it is −∞
    // until there is.
    let outer = problem.outer_correlations(alpha, &near, &near_tau, |k| problem.coordinate(near[k]));
    let widest = |t: f64, outer: f64| t.abs() + (outer - t).abs();
    let ratio = |((&j, &t), &o): ((&usize, &f64), &f64)| problem.coordinate(j).threshold(t) / widest(t, o);
    let feasible = near.iter().zip(&near_tau).zip(&outer).map(ratio).fold(1.0, f64::min);
    if feasible >= 1.0 && full > f64::NEG_INFINITY {
        return (full, 1.0);
    }
    let on = |features: &[usize], tau: &[f64], s: f64| {
        let scaled: Vec<f64> = alpha.iter().map(|a| s * a).collect();
        let tau = each(tau.len(), |k| s * tau[k]);
        problem.dual_value(&scaled, features, &tau)
    };
    let value = |s: f64| on(&near, &near_tau, s);
    // Without a ridge term there is nothing beyond the thresholds, and with more features in play than samples the bound is
    // far off in any case: the scaling that violates nothing will do.
    let refine = full > f64::NEG_INFINITY && near.len() <= alpha.len();
    let scale = best_scale(value, feasible, full, refine);
    let found = if scale < 1.0 { on(features, tau, scale) } else { full };
    if found > full { (found, scale) } else { (full, 1.0) }
}

/// The s at which the concave `value` is best (MATH 3.9), `full` at 1; no threshold is violated up to `feasible`, the only point
/// tried unless a search is to `refine` it.
fn best_scale(value: impl Fn(f64) -> f64, feasible: f64, full: f64, refine: bool) -> f64 {
    let mut best = (full, 1.0);
    let mut offer = |s: f64| {
        let v = value(s);
        if v > best.0 {
            best = (v, s);
        }
        v
    };
    // A little more for the rounding of the scaling itself.
    let inside = (0..9).map(|k| feasible * (1.0 - 1e-15 * 10f64.powi(k)));
    let inside = inside.map(|s| (s, offer(s))).find(|v| v.1 > f64::NEG_INFINITY);
    let (Some((mut low, mut at_low)), true) = (inside, refine) else { return best.1 };
    let (mut high, mut at_high) = (1.0, full);
    // D is made of parabolas in s: the vertex of the one through three points is soon close.
    let mut middle = 0.5 * (low + high);
    let mut at_middle = offer(middle);
    for _ in 0..4 {
        let Some(s) = vertex([(low, at_low), (middle, at_middle), (high, at_high)]) else { break };
        let at = offer(s);
        let (inner, outer) = if s < middle { ((s, at), (middle, at_middle)) } else { ((middle, at_middle), (s, at)) };
        // The three points around the higher of the two inner ones go on.
        if inner.1 >= outer.1 {
            (middle, at_middle, high, at_high) = (inner.0, inner.1, outer.0, outer.1);
        } else {
            (low, at_low, middle, at_middle) = (inner.0, inner.1, outer.0, outer.1);
        }
    }
    best.1
}

fn record(work: &Workspace<'_, '_>, state: &Relaxed, monitor: &mut Monitor<'_>) {
    let support = work.beta.iter().filter(|b| **b != 0.0).count();
    let objective = work.objective();
    if !monitor.muted {
        monitor.so_far.offer_bound(state.lower_bound, &state.dual);
    }
    monitor.offer(objective, || work.coefficients());
    monitor.record(TraceRow {
        seconds: 0.0,
        iteration: state.iterations,
        objective,
        relaxation: state.relaxation,
        lower_bound: state.lower_bound,
        gap: objective - state.lower_bound,
        active: work.active.len(),
        support,
    });
}
