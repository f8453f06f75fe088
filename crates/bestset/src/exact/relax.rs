//! The relaxation in a node: its minimiser, its bound, and what the optimality rules decide there.
//!
//! Features in the model pay λ1|b| + λ2b², open ones ρ(b): R_node ≤ P on every subset of the node. With at most k features
//! every feature pays ν more and νk is paid back (Lagrange): still R_node ≤ P for any ν ≥ 0, and the best ν gives D_k of
//! MATH §6. Coefficients are found through inner products; the bound is D_node(α) at α = ℓ′(Xβ + b), from the columns
//! themselves, so that nothing in a proof depends on how β was found.

use crate::control::{Limits, Memory};
use crate::exact::RELAXING;
use crate::exact::budget::SPENT;
use crate::exact::multiplier::Multiplier;
use crate::exact::node::{Choice, Moved, Node};
use crate::penalty::Coordinate;
use crate::problem::Problem;
use crate::problem::screening;
use crate::relaxation::descend;
use crate::relaxation::quadratic::{Gram, GramModel, Metric};
use crate::relaxation::workspace::Workspace;
use std::sync::Arc;

/// Share of its threshold from which on a correlation is near it.
const NEARLY: f64 = 0.98;

/// Bytes for each pair of members whose inner products are looked at, with the copies on the way to them.
pub(super) const PAIR: f64 = 40.0;

/// Members that a node works on whatever memory there is.
const LEAST_WORKING: usize = 200;

/// What every node looks at.
pub struct Ground<'g, 'p, 'a> {
    /// The columns that nodes decide about.
    pub near: &'g Workspace<'p, 'a>,
    /// The features that were not zero in some node before, with their inner products for the squared loss.
    pub core: &'g Workspace<'p, 'a>,
    /// The most features allowed.
    pub size: Option<usize>,
    /// The most members whose curvature is looked at.
    pub crowd: usize,
    /// About the size of P.
    pub scale: f64,
    /// The limit on memory.
    pub memory: &'g Memory,
}

/// A node with its relaxation. Vectors go by member: the positions that are not out.
#[derive(Clone)]
pub struct Relaxed {
    /// Position of each member.
    pub members: Vec<usize>,
    /// In or free; after the optimality rules also out.
    pub choices: Vec<Choice>,
    /// The minimiser.
    pub beta: Vec<f64>,
    /// Its intercept.
    pub intercept: f64,
    /// The dual point of the minimiser.
    pub alpha: Vec<f64>,
    /// x_jᵀα.
    pub tau: Vec<f64>,
    /// The price ν on top of λ0.
    pub multiplier: f64,
    /// d of [`crate::exact::diagonal`]: curvature that moved from the loss to the penalty of each member.
    pub moved: Vec<f64>,
    /// s of [`crate::exact::diagonal`]: curvature left in the loss along each member alone.
    pub spare: Vec<f64>,
    /// r of [`crate::exact::budget`]: a subset better than the answers has Σ r_j ≤ 1. Free members with a share stay at zero.
    pub share: Vec<f64>,
    /// All three, as nodes below inherit them.
    pub inherited: Option<Arc<Moved>>,
    /// Σ loss at the minimiser.
    pub loss: f64,
    /// R_node at the minimiser.
    pub value: f64,
    /// −Σ Ψ′ of the free members with a share: what the bound lacks because they stay at zero.
    pub owed: f64,
    /// D_node(α) less what rounding can have added: what the optimality rules build on.
    pub dual: f64,
    /// The bound of the node: the better of its own and its parent's.
    pub bound: f64,
    /// Whether the rules have since decided about a coefficient that is not zero: the minimiser may move.
    pub stale: bool,
}

impl Relaxed {
    /// Leaves only those that are in or free.
    pub(super) fn drop_out(&mut self) {
        let kept: Vec<bool> = self.choices.iter().map(|c| *c != Choice::Out).collect();
        fn retain<T>(values: &mut Vec<T>, kept: &[bool]) {
            let mut marks = kept.iter();
            values.retain(|_| *marks.next().unwrap_or(&false));
        }
        retain(&mut self.members, &kept);
        retain(&mut self.beta, &kept);
        retain(&mut self.tau, &kept);
        retain(&mut self.moved, &kept);
        retain(&mut self.spare, &kept);
        retain(&mut self.share, &kept);
        retain(&mut self.choices, &kept);
    }

    /// Σ ½ d_j β_j².
    fn moved_value(&self) -> f64 {
        (0..self.beta.len()).map(|a| 0.5 * self.moved[a] * self.beta[a] * self.beta[a]).sum()
    }
}

/// How many are marked.
fn count(marks: &[bool]) -> usize {
    marks.iter().filter(|m| **m).count()
}

impl<'p, 'a> Ground<'_, 'p, 'a> {
    pub(super) fn problem(&self) -> &'p Problem<'a> {
        self.near.problem
    }

    /// Penalty of a member in the node.
    pub fn coordinate(&self, node: &Relaxed, a: usize) -> Coordinate {
        let own = self.near.coordinates[node.members[a]];
        match node.choices[a] {
            Choice::In => own.selected().curved(node.moved[a]),
            _ => own.priced(node.multiplier).curved(node.moved[a]),
        }
    }

    /// Whether a node may take so many bytes, while others are relaxed beside it.
    pub(super) fn fits(&self, bytes: f64) -> bool {
        self.memory.allows(bytes, RELAXING * rayon::current_num_threads())
    }

    /// Multiplications that the inner products of so many members take.
    pub(super) fn products_cost(&self, members: usize) -> f64 {
        let length = self.near.active.stored() / self.near.active.len().max(1);
        0.5 * (members * members * length) as f64
    }

    /// The most members whose inner products a node may have at once.
    fn most_working(&self) -> usize {
        let share = RELAXING * rayon::current_num_threads();
        let most = self.near.active.len().max(LEAST_WORKING);
        self.memory.most(share, (LEAST_WORKING, most), |m| PAIR * m * m)
    }

    fn features(&self, positions: &[usize]) -> Vec<usize> {
        positions.iter().map(|&k| self.near.active.features()[k]).collect()
    }

    /// Solves the relaxation until it prunes the node (bound > `cutoff`), is tight enough to branch on or, when there is
    /// nothing to branch on, until its gap is below `room`.
    pub fn relax(&self, mut now: Relaxed, cutoff: f64, room: f64, limits: &Limits) -> Relaxed {
        if now.spent() > 1.0 + SPENT {
            now.bound = f64::INFINITY;
            return now;
        }
        let mut search = Multiplier::new(self.size);
        let mut best: Option<Relaxed> = None;
        let scale = if cutoff.is_finite() { cutoff.abs() } else { self.scale }.max(f64::MIN_POSITIVE);
        let price = self.problem().penalty().lambda0 + now.multiplier;
        let mut tolerance = 0.05 * if price > 0.0 { price.min(1e-2 * scale) } else { 1e-2 * scale };
        loop {
            self.minimise(&mut now, tolerance, limits);
            self.measure(&mut now);
            let stop = limits.stop(0).is_some();
            if now.dual <= cutoff && !stop {
                let count = self.count(&now);
                if let Some(next) = search.next(now.multiplier, count, cutoff - now.dual) {
                    if best.as_ref().is_none_or(|b| b.dual < now.dual) {
                        best = Some(now.clone());
                    }
                    now.multiplier = next;
                    continue;
                }
                // What is owed does not become less when the relaxation is solved more tightly.
                let value = now.value - now.owed;
                let usable = value - now.dual <= room || self.has_fractional(&now);
                if !(value <= cutoff && usable) && tolerance > 1e-12 * scale {
                    // Between D and R the cutoff is undecided: solve more tightly, as far as rounding lets one.
                    let excess = if value > cutoff { 0.3 * (value - cutoff) } else { f64::INFINITY };
                    tolerance = (0.1 * tolerance).min(excess).max(5e-13 * scale);
                    continue;
                }
            }
            let mut now = match best {
                Some(best) if best.dual > now.dual => best,
                _ => now,
            };
            (now.bound, now.stale) = (now.dual.max(now.bound), false);
            return now;
        }
    }

    /// The node at its parent's minimiser.
    pub fn start(&self, node: &Node) -> Relaxed {
        let decided = node.choices(self.near.active.features());
        let inside = decided.iter().filter(|c| **c == Choice::In).count();
        let full = self.size.is_some_and(|k| inside >= k);
        let open = |k: &usize| decided[*k] == Choice::In || decided[*k] == Choice::Free && !full;
        let members: Vec<usize> = (0..decided.len()).filter(open).collect();
        // A size that cannot be exceeded is no limit: its price would only be paid back for places left empty.
        let unlimited = full || self.size.is_some_and(|k| members.len() + node.far.len() <= k);
        let mut before = vec![0.0; decided.len()];
        node.beta.iter().for_each(|&(k, b)| before[k as usize] = b);
        let mut moved = vec![(0.0, 0.0, 0.0); decided.len()];
        if let Some(from) = &node.moved {
            from.by_position.iter().for_each(|&(k, d, s, r)| moved[k as usize] = (d, s, r));
        }
        Relaxed {
            choices: members.iter().map(|&k| decided[k]).collect(),
            beta: members.iter().map(|&k| before[k]).collect(),
            intercept: self.near.intercept,
            alpha: vec![0.0; self.problem().nrows()],
            tau: vec![0.0; members.len()],
            multiplier: if unlimited { 0.0 } else { node.multiplier },
            moved: members.iter().map(|&k| moved[k].0).collect(),
            spare: members.iter().map(|&k| moved[k].1).collect(),
            share: members.iter().map(|&k| moved[k].2).collect(),
            inherited: node.moved.clone(),
            loss: f64::NAN,
            value: f64::NAN,
            owed: 0.0,
            dual: f64::NEG_INFINITY,
            bound: node.bound,
            stale: false,
            members,
        }
    }

    /// min R_node from the current point until the gap is about `tolerance`: on the coefficients that are not zero or whose
    /// correlations at the last point were near their thresholds, then on those as well whose correlations ask to be.
    fn minimise(&self, now: &mut Relaxed, tolerance: f64, limits: &Limits) {
        let is_near = |a: usize| {
            now.share[a] == 0.0
                && now.tau[a].abs() > self.near.coordinates[now.members[a]].l1
                && now.tau[a].abs() > NEARLY * self.coordinate(now, a).threshold(now.tau[a])
        };
        let is_first = |a: usize| now.beta[a] != 0.0 || now.choices[a] == Choice::In || is_near(a);
        let mut is_working: Vec<bool> = (0..now.beta.len()).map(is_first).collect();
        let most = self.most_working();
        let is_crowded = |is_working: &[bool]| is_working.len() > most && count(is_working) > most;
        if is_crowded(&is_working) {
            is_working
                .iter_mut()
                .enumerate()
                .for_each(|(a, w)| *w &= now.beta[a] != 0.0 || now.choices[a] == Choice::In);
        }
        self.refresh(now);
        let mut are_known = false;
        loop {
            let working: Vec<usize> = (0..is_working.len()).filter(|&a| is_working[a]).collect();
            if !working.is_empty() {
                let slope = |a: &usize| if are_known { now.tau[*a] } else { self.correlation(now, *a) };
                let slopes = working.iter().map(slope).collect();
                self.minimise_on(now, &working, slopes, 0.5 * tolerance, limits);
                self.refresh(now);
            }
            self.correlate(now);
            are_known = true;
            // λ1 is the least threshold there is: most correlations need not be looked at more closely.
            let mut missing: Vec<(usize, f64)> = (0..is_working.len())
                .filter(|&a| {
                    !is_working[a] && now.share[a] == 0.0 && now.tau[a].abs() > self.near.coordinates[now.members[a]].l1
                })
                .map(|a| (a, self.coordinate(now, a).psi(now.tau[a])))
                .filter(|m| m.1 < 0.0)
                .collect();
            let sum: f64 = missing.iter().map(|m| -m.1).sum();
            if sum <= 0.5 * tolerance || limits.stop(0).is_some() {
                return;
            }
            if count(&is_working) + missing.len() > most {
                // Those at zero make room for what is missing most.
                let stays = |a: usize| now.beta[a] != 0.0 || now.choices[a] == Choice::In;
                is_working.iter_mut().enumerate().for_each(|(a, w)| *w &= stays(a));
                missing.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
                missing.truncate(most.saturating_sub(count(&is_working)));
                if missing.is_empty() {
                    return;
                }
            }
            missing.iter().for_each(|m| is_working[m.0] = true);
        }
    }

    /// The minimisation over some members, the others fixed at zero, from the slopes along them.
    pub(super) fn minimise_on(
        &self,
        now: &mut Relaxed,
        working: &[usize],
        slopes: Vec<f64>,
        tolerance: f64,
        limits: &Limits,
    ) {
        let positions: Vec<usize> = working.iter().map(|&a| now.members[a]).collect();
        let coordinates: Vec<Coordinate> = working.iter().map(|&a| self.coordinate(now, a)).collect();
        let mut beta: Vec<f64> = working.iter().map(|&a| now.beta[a]).collect();
        let all: Vec<usize> = (0..working.len()).collect();
        // Without the matrix, through the samples, where no curvature is moved; a point that is not fitted is still a point.
        let is_large = working.len() > self.most_working();
        if !limits.has_time_for(self.products_cost(working.len())) {
            return;
        }
        if is_large && working.iter().any(|&a| now.moved[a] != 0.0) {
            return;
        }
        if self.problem().loss().is_quadratic() && !is_large {
            let mut gram = self.inner_products(&positions);
            working.iter().enumerate().for_each(|(e, &a)| gram.add_to_diagonal(e, -now.moved[a]));
            let mut model = GramModel::new(&gram, slopes);
            descend::minimise(&mut model, &coordinates, &mut beta, &all, tolerance, limits);
        } else {
            let mut part = self.near.part(&positions, beta, now.intercept);
            part.minimise(&coordinates, &all, slopes, tolerance, limits);
            (beta, now.intercept) = (part.beta, part.intercept);
        }
        working.iter().zip(&beta).for_each(|(&a, &b)| now.beta[a] = b);
    }

    /// The slope of the smooth part along every member.
    pub(super) fn correlate(&self, now: &mut Relaxed) {
        now.tau.resize(now.members.len(), 0.0);
        self.near.active.dot_many(&now.members, &now.alpha, &mut now.tau);
        let moved = now.moved.iter().zip(&now.beta).enumerate().filter(|p| *p.1.1 != 0.0);
        moved.for_each(|(a, (d, b))| now.tau[a] -= d * b);
    }

    /// x_jᵀα − d_j β_j, the slope of the smooth part along the member.
    pub(super) fn correlation(&self, now: &Relaxed, a: usize) -> f64 {
        self.near.active.dot(now.members[a], &now.alpha) - now.moved[a] * now.beta[a]
    }

    /// Q over the positions: copied from the core as far as it holds them, the products with the others made anew.
    pub(super) fn inner_products(&self, positions: &[usize]) -> Gram {
        let kept = self.core.kept_gram();
        let in_core = |&k: &usize| self.core.position(self.near.active.features()[k]).filter(|&k| k < kept.len());
        let places: Vec<Option<usize>> = positions.iter().map(in_core).collect();
        let known: Vec<usize> = places.iter().flatten().copied().collect();
        let gram = kept.select(&known);
        if known.len() == positions.len() {
            return gram;
        }
        let (first, last): (Vec<usize>, Vec<usize>) = (0..positions.len()).partition(|&e| places[e].is_some());
        let order: Vec<usize> = first.into_iter().chain(last).collect();
        let of_order: Vec<usize> = order.iter().map(|&e| positions[e]).collect();
        let (part, h, mut gram) = (self.near.active.select(&of_order), self.problem().weights(), gram);
        gram.extend(&part, h, &Metric::new(&part, h, self.problem().has_intercept()));
        let mut back = vec![0; order.len()];
        order.iter().enumerate().for_each(|(at, &e)| back[e] = at);
        gram.select(&back)
    }

    /// Intercept, dual point and R_node of the coefficients.
    pub(super) fn refresh(&self, now: &mut Relaxed) {
        let problem = self.problem();
        let mut margins = problem.null_margins();
        for (&k, &b) in now.members.iter().zip(&now.beta).filter(|p| *p.1 != 0.0) {
            self.near.active.axpy(k, b, &mut margins);
        }
        now.intercept = problem.best_intercept(&margins, now.intercept);
        problem.dual_point(&margins, now.intercept, &mut now.alpha);
        let support = (0..now.beta.len()).filter(|&a| now.beta[a] != 0.0);
        let penalties: f64 = support.map(|a| self.coordinate(now, a).envelope(now.beta[a])).sum();
        let (price, _) = self.price(now);
        now.loss = problem.loss_sum(&margins, now.intercept);
        now.value = now.loss - now.moved_value() + penalties + price;
    }

    /// Σ (λ0 + ν) of those in the model less νk, and the most that rounding can have added to it.
    fn price(&self, now: &Relaxed) -> (f64, f64) {
        let own = now.members.iter().zip(&now.choices).filter(|p| *p.1 == Choice::In);
        let (sum, count) = own.fold((0.0, 0.0), |(s, c), (&k, _)| (s + self.near.coordinates[k].l0, c + 1.0));
        let back = self.size.map_or(0.0, |k| now.multiplier * (count - k as f64));
        (sum + back, f64::EPSILON * (count + 4.0) * (sum + back.abs()))
    }

    /// D_node at the point.
    pub(super) fn measure(&self, now: &mut Relaxed) {
        let features = self.features(&now.members);
        let dual = self.problem().dual_value_with(&now.alpha, &features, &now.tau, |a| self.coordinate(now, a));
        let (price, slack) = self.price(now);
        let (moved, lost) = self.moved_back(now);
        now.dual = dual + price + moved - slack - lost - f64::EPSILON * (dual.abs() + price.abs() + moved);
        now.owed = self.shared(now).map(|a| -self.coordinate(now, a).psi(now.tau[a])).sum();
    }

    /// Features that the relaxation takes: those in, and the share of its price that each free one is charged.
    fn count(&self, now: &Relaxed) -> f64 {
        let one = |a: usize| match (now.choices[a], now.beta[a]) {
            (Choice::In, _) => 1.0,
            (_, 0.0) => 0.0,
            (_, b) => self.coordinate(now, a).fraction(b),
        };
        (0..now.beta.len()).map(one).sum()
    }

    fn is_fractional(&self, now: &Relaxed, a: usize) -> bool {
        now.beta[a] != 0.0 && now.choices[a] == Choice::Free && self.coordinate(now, a).fraction(now.beta[a]) < 1.0
    }

    /// Whether the minimiser is an answer with P = R_node, up to `room`: nothing fractional, not too many features, and no
    /// price paid back for places left empty.
    pub fn solves(&self, now: &Relaxed, room: f64) -> bool {
        let fits = |k: usize| {
            let left = k as f64 - self.count(now);
            left >= 0.0 && now.multiplier * left <= room
        };
        !self.has_fractional(now) && self.size.is_none_or(fits)
    }

    fn has_fractional(&self, now: &Relaxed) -> bool {
        now.owed > 0.0 || (0..now.beta.len()).any(|a| self.is_fractional(now, a))
    }

    /// The optimality rules of MATH §5 inside the node, with the best P known; what is out is no member any more. D and τ must
    /// belong to one dual point: the parent's bound, though better, says nothing together with the τ of this one.
    pub fn decide(&self, now: &mut Relaxed, best: f64) {
        // φ ≤ λ0 + ν: a wider gap excludes nothing, and where Ψ = 0 nothing is included either.
        let gap = best - now.dual;
        let may_move = |a: &usize| {
            let own = self.near.coordinates[now.members[*a]];
            let used = now.beta[*a] != 0.0 || now.share[*a] > 0.0;
            now.choices[*a] == Choice::Free && (own.l0 + now.multiplier > gap || used)
        };
        let left = 1.0 + SPENT - now.spent();
        let free: Vec<usize> = (0..now.beta.len()).filter(may_move).collect();
        let coordinates: Vec<Coordinate> = free.iter().map(|&a| self.coordinate(now, a)).collect();
        let tau: Vec<f64> = free.iter().map(|&a| now.tau[a]).collect();
        let features = self.features(&free.iter().map(|&a| now.members[a]).collect::<Vec<usize>>());
        let outer = self.problem().outer_correlations(&now.alpha, &features, &tau, |e| coordinates[e]);
        for (e, &a) in free.iter().enumerate() {
            let (b, s) = (now.beta[a], now.spare[a]);
            let alone = if b == 0.0 { coordinates[e].curved(s) } else { coordinates[e] };
            // Ψ′ ≤ 0 is part of D′: with φ″ ≥ φ′ in its place the bound rises by at least max(0, φ″).
            let excluded = screening::in_no_optimal_subset(alone, outer[e], now.dual, best);
            if excluded || now.share[a] > left {
                now.choices[a] = Choice::Out;
            } else if screening::in_every_optimal_subset(coordinates[e], tau[e], now.dual + 0.5 * s * b * b, best) {
                now.choices[a] = Choice::In;
            } else {
                continue;
            }
            now.stale |= now.beta[a] != 0.0;
        }
        now.drop_out();
    }
}
