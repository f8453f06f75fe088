//! Families closed by fits alone (PROOF, "FIT", "PAIRS"): leaps and bounds (MATH 11.28–11.31) against what a subset would have to be below.

use super::check;
use super::families::{FitFamily, FitRounding, blind, family};
use super::ground::ProofTree;
use super::rules::{Faults, U};
use super::statement::Claim;
use super::stream::{Record, Stream};
use crate::control::Limits;
use crate::error::Result;
use crate::exact::node::{Choice, NodeRelaxation};
use crate::leaps::{Equations, Family, Form};
use crate::solution::Coefficients;

/// Families that are looked at for one node of a tree that has relaxations too: about as long as one of these takes. Not tuned.
const FAMILIES_PER_NODE: usize = 400;

/// Share of the room below P̂ that may be left to rounding in fits where nothing is lost if a walk ends without having closed all.
const ROUNDING_SHARE: f64 = 0.3;

/// The same where the walk is only tried, and what it wrote is taken back. Not tuned.
const MOST_ROUNDING: f64 = 0.9;

/// Shares of terms that pairs are compared with to spare, four times the checker's (P12).
const OF_PAIRS: f64 = 8e-15;

/// What has become of a family.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ended {
    Closed,
    /// Rounding, or a limit of families, leaves it open.
    Open,
}

/// A depth-first search of one family for subsets below B, of which there are none.
struct FitWalk<'w, 'p, 'a> {
    equations: &'w Equations<'p, 'a>,
    claim: &'w Claim,
    faults: &'w Faults,
    limits: &'w Limits,
    /// The most features of a subset.
    most: usize,
    /// λ0.
    price: f64,
    rounding: FitRounding,
    /// The most that may be left to rounding in fits on all features.
    most_slack: f64,
    /// Positions of features that depend on each other.
    dependent: Vec<Vec<u32>>,
    /// The family of each level of branching, storage for the next ones behind.
    levels: Vec<FitFamily>,
    families: usize,
    most_families: usize,
}

impl FitWalk<'_, '_, '_> {
    /// What a fit must be for no subset of t features to be below B; nothing is where that is negative.
    fn needed(&self, t: usize, slack: f64) -> f64 {
        let needed = self.claim.bound - self.price * t as f64;
        if needed <= 0.0 { f64::NEG_INFINITY } else { needed + slack }
    }

    /// Looks whether fits on all features of a family say something, once fewer are left.
    fn sharpen(&self, one: &mut FitFamily) -> Result<()> {
        if !one.is_blind() || self.circuit(&one.family).is_some() {
            return Ok(());
        }
        let (inside, free) = (&one.family.inside, &one.family.free);
        if let Some(family) = family(self.equations, inside, free, self.rounding.eta)? {
            let slack = FitRounding::new(self.equations, &family.costs, self.claim.bound).slack;
            if slack <= self.most_slack {
                *one = FitFamily { family, slack };
            }
        }
        Ok(())
    }

    /// The free places of the first set of dependent features that are all in or free.
    fn circuit(&self, family: &Family) -> Option<Vec<usize>> {
        let place = |k: &u32| family.free.iter().position(|j| j == k);
        let is_here = |set: &&Vec<u32>| set.iter().all(|k| family.inside.contains(k) || place(k).is_some());
        self.dependent.iter().find(is_here).map(|set| set.iter().filter_map(place).collect())
    }

    /// The smallest and the largest size that may hold a subset below B (MATH 11.31), `None` where there is none.
    fn sizes(&self, one: &FitFamily, costs: &[f64]) -> Option<(usize, usize)> {
        let family = &one.family;
        let (size, most) = (family.size(), self.most.min(family.size() + family.free.len()));
        let is_left = |t: &usize| {
            let room = self.needed(*t, one.slack) - family.fit_all - self.faults.fit;
            room > 0.0 && costs.iter().filter(|cost| **cost >= room).count() <= t - size
        };
        let last = (size..=most).rev().find(is_left)?;
        Some(((size..=last).find(is_left)?, last))
    }

    /// Takes in what no subset below B lacks; the largest size that is left, `None` where none is.
    fn reduce(&self, one: &mut FitFamily, out: &mut Stream<'_>) -> Result<Option<usize>> {
        loop {
            let costs: Vec<f64> = (0..one.family.costs.len()).map(|j| one.family.costs.price(j)).collect();
            let Some((first, last)) = self.sizes(one, &costs) else {
                out.record(Record::Fit)?;
                out.flag(true)?;
                return Ok(None);
            };
            // Fewer features cost less: what is too dear to drop at the smallest size is so at all.
            let (slack, family) = (one.slack, &mut one.family);
            let room = self.needed(first, slack) - family.fit_all - self.faults.dear;
            let is_dear = |j: &usize| costs[*j] >= room;
            let mut dear: Vec<u32> = (0..family.free.len()).filter(is_dear).map(|j| family.free[j]).collect();
            if dear.is_empty() {
                return Ok(Some(last));
            }
            dear.sort_unstable();
            out.record(Record::Fit)?;
            out.flag(false)?;
            out.features(&dear.iter().map(|&j| self.equations.features[j as usize]).collect::<Vec<_>>())?;
            for j in dear {
                if let Some(place) = family.free.iter().position(|&free| free == j) {
                    self.take_in(family, place);
                }
            }
        }
    }

    /// Keeps the subsets with the feature; where too little of it is left to be eliminated, fits of few features say nothing from there on.
    fn take_in(&self, family: &mut Family, j: usize) {
        let is_sound = family.gains.at(j, j) > self.rounding.eta;
        family.take_in(j);
        if !is_sound {
            family.fit_inside = f64::NEG_INFINITY;
        }
    }

    /// Closes the family of this level: features go out one by one, after the subsets with them have been closed.
    fn close(&mut self, level: usize, out: &mut Stream<'_>) -> Result<Ended> {
        if self.levels.len() <= level + 1 {
            self.levels.push(FitFamily::default());
        }
        let mut one = std::mem::take(&mut self.levels[level]);
        loop {
            self.sharpen(&mut one)?;
            self.families += 1;
            if self.families.is_multiple_of(64) {
                check(self.limits)?;
            }
            if self.families > self.most_families {
                return Ok(Ended::Open);
            }
            let circuit = self.circuit(&one.family);
            if circuit.as_ref().is_some_and(Vec::is_empty) || self.faults.is_all_dependent {
                out.record(Record::Dependent)?;
                break;
            }
            let Some(high) = self.reduce(&mut one, out)? else { break };
            let family = &mut one.family;
            if high <= family.size() + 2 && self.is_finished(family) {
                out.record(Record::Pairs)?;
                break;
            }
            if family.size() == self.most && !family.free.is_empty() {
                out.record(Record::Size)?;
                (0..family.free.len()).rev().for_each(|j| family.take_out(j));
                continue;
            }
            // Where pairs are too near to each other, each is looked at alone.
            let Some(j) = circuit.and_then(|free| free.first().copied()).or_else(|| family.branch()) else {
                if self.is_excepted(family, &[]) {
                    out.record(Record::Listed)?;
                } else if self.closes_alone(&family.inside)? {
                    out.record(Record::Fit)?;
                    out.flag(true)?;
                } else {
                    return Ok(Ended::Open);
                }
                break;
            };
            out.record(Record::Split)?;
            out.whole(self.equations.features[family.free[j] as usize])?;
            out.flag(true)?;
            let child = &mut self.levels[level + 1];
            child.copy(&one);
            let mut child = std::mem::take(child);
            self.take_in(&mut child.family, j);
            self.levels[level + 1] = child;
            if self.close(level + 1, out)? == Ended::Open {
                return Ok(Ended::Open);
            }
            one.family.take_out(j);
        }
        self.levels[level] = one;
        Ok(Ended::Closed)
    }

    /// Whether the fit on these features alone reaches B: the eliminations on the way to a single subset have η of (P10) taken off each, and
    /// of columns that are almost copies that is much. The checker takes the inverse of the subset alone too, where that of more falls short.
    fn closes_alone(&self, inside: &[u32]) -> Result<bool> {
        let Some(alone) = family(self.equations, &[], inside, self.rounding.eta)? else { return Ok(false) };
        let slack = FitRounding::new(self.equations, &alone.costs, self.claim.bound).slack;
        Ok(alone.fit_all >= self.needed(inside.len(), slack))
    }

    /// Whether the checker finds (P12) that no subset with at most two features more is below B, but for the answers that the claim excepts.
    fn is_finished(&self, family: &Family) -> bool {
        let (size, m, targets) = (family.size(), family.free.len(), self.rounding.targets);
        let most = self.most.min(size + m);
        if !family.fit_inside.is_finite() || (0..m).any(|j| family.gains.at(j, j) <= self.rounding.eta) {
            return false;
        }
        // c_t of (P11), halved.
        let gain = |more: usize| {
            let needed = (self.claim.bound - self.price * (size + more) as f64).max(0.0);
            let square = needed + targets * ((2.0 * needed).sqrt() + targets);
            family.fit_inside - square * (1.0 + 16.0 * U) + self.faults.pair
        };
        let is_none = gain(0) >= 0.0 || self.is_excepted(family, &[]);
        let is_kept = |j: usize| family.gains.price(j) * (1.0 + 16.0 * U) <= gain(1) || self.is_excepted(family, &[j]);
        if !is_none || (most > size && !(0..m).all(is_kept)) {
            return false;
        }
        if most < size + 2 {
            return true;
        }
        // Of a pair at least 1/(A_jj(A⁻¹)_jj) of both is left: what rounding is relative to, where that is not little.
        let nearness = (0..m).map(|j| family.gains.at(j, j) * family.costs.at(j, j)).fold(1.0, f64::max);
        let spare = 64.0 * OF_PAIRS * nearness * (family.fit_inside + gain(1).max(0.0));
        if nearness < 1e8 && gain(2) > spare && family.gains.best_pair(gain(2) - spare).is_none() {
            return true;
        }
        let holds = |i: usize, j: usize| pair_holds(&family.gains, (i, j), 2.0 * gain(2));
        let mut pairs = (1..m).flat_map(|j| (0..j).map(move |i| (i, j)));
        pairs.all(|(i, j)| holds(i, j) || self.is_excepted(family, &[i, j]))
    }

    fn is_excepted(&self, family: &Family, more: &[usize]) -> bool {
        let extra = more.iter().map(|&j| family.free[j]);
        let feature = |k: u32| self.equations.features[k as usize];
        let mut subset: Vec<usize> = family.inside.iter().copied().chain(extra).map(feature).collect();
        subset.sort_unstable();
        let is_this = |answer: &Coefficients| answer.iter().map(|c| c.0).eq(subset.iter().copied());
        let holds = |set: &Vec<usize>| set.iter().all(|j| subset.binary_search(j).is_ok());
        self.claim.excepted && self.claim.answers.iter().any(is_this) || self.claim.dependent.iter().any(holds)
    }
}

/// Whether the checker finds that a pair leaves so much (P12), with terms as it compares them.
fn pair_holds(gains: &Form, (i, j): (usize, usize), room: f64) -> bool {
    let (own, other, cross) = (gains.at(j, j), gains.at(i, i), gains.at(i, j));
    let (u, v) = (gains.vector()[i], gains.vector()[j]);
    let (product, overlap) = (own * other, cross * cross);
    let (explained, shared) = (u * u * own + v * v * other, 2.0 * cross * u * v);
    let off = OF_PAIRS * (room * (product + overlap) + explained + shared.abs());
    room > 0.0
        && product - overlap > OF_PAIRS * (product + overlap)
        && room * (product - overlap) - (explained - shared) >= off
}

impl ProofTree<'_, '_, '_> {
    /// Closes the node by fits alone, if these come to an end soon enough: without a ridge whenever they do.
    pub(super) fn close_by_fits(&mut self, node: &NodeRelaxation, limits: &Limits) -> Result<bool> {
        let has_ridge = self.has_ridge();
        let Some(equations) = &self.equations else { return Ok(false) };
        let context = self.ground.context();
        let of = |choice: Choice| -> Vec<u32> {
            let is_it = |a: &usize| node.members.choices[*a] == choice;
            let place = |a: usize| equations.features.binary_search(&context.feature(node, a)).ok().map(|k| k as u32);
            (0..node.members.len()).filter(is_it).filter_map(place).collect()
        };
        let problem = self.ground.setting.problem;
        let (inside, free, nothing) = (of(Choice::In), of(Choice::Free), Form::default());
        let eta = FitRounding::new(equations, &nothing, self.claim.bound).eta;
        let (found, room) = (family(equations, &inside, &free, eta)?, self.ground.best - self.claim.bound);
        if found.is_none() && has_ridge {
            return Ok(false);
        }
        // Columns that depend on each other, or more than fit any targets: families of fewer may be fitted.
        let is_blind = found.is_none();
        let family = found.unwrap_or_else(|| blind(equations, &inside, &free, eta));
        let rounding = FitRounding::new(equations, if is_blind { &nothing } else { &family.costs }, self.claim.bound);
        let slack = if is_blind { f64::INFINITY } else { rounding.slack };
        if !is_blind && slack > MOST_ROUNDING * room {
            return Ok(false);
        }
        let place = |j: &usize| equations.features.binary_search(j).ok().map(|k| k as u32);
        let dependent = self.claim.dependent.iter().filter_map(|set| set.iter().map(place).collect()).collect();
        let mut walk = FitWalk {
            equations,
            claim: &self.claim,
            faults: self.faults,
            limits,
            most: self.ground.setting.size.unwrap_or(usize::MAX).min(problem.ncols()),
            price: problem.coordinate(equations.features[0]).l0,
            rounding,
            most_slack: MOST_ROUNDING * room,
            dependent,
            levels: vec![FitFamily { family, slack }],
            families: 0,
            most_families: if has_ridge { FAMILIES_PER_NODE } else { usize::MAX },
        };
        if is_blind || (!has_ridge && slack <= ROUNDING_SHARE * room) {
            // Nothing else closes such families as fast: what there is of the file stays, and is gone on from after a limit.
            let ended = walk.close(0, &mut self.out)?;
            self.ground.nodes += walk.families;
            return match ended {
                Ended::Closed => Ok(true),
                Ended::Open => Err(super::rounding()),
            };
        }
        let mut bytes = Vec::new();
        let ended = walk.close(0, &mut Stream::new(&mut bytes))?;
        self.ground.nodes += walk.families;
        if ended == Ended::Closed {
            self.out.raw(&bytes)?;
        }
        Ok(ended == Ended::Closed)
    }
}
