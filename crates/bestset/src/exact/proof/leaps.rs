//! Families closed by fits alone (PROOF, "FIT", "PAIRS"): leaps and bounds (MATH 11.28–11.31) against what a subset would have to be below.

use super::check;
use super::ground::ProofTree;
use super::rules::{Faults, U};
use super::statement::Claim;
use super::stream::{Record, Stream};
use crate::control::Limits;
use crate::error::{Error, Result};
use crate::exact::node::{Choice, NodeRelaxation};
use crate::leaps::{Equations, Family, determined, is_plain};
use crate::problem::Problem;
use crate::solution::Coefficients;

/// The most features of a fit, as the checker has it.
const MOST_FITTED: usize = 256;

/// With a ridge and fewer features the relaxation of the root ends most proofs, and takes fewer bytes.
const LEAST_FITTED: usize = 12;

/// Families that are looked at for one node of a tree that has relaxations too: about as long as one of these takes. Not tuned.
const FAMILIES_PER_NODE: usize = 400;

/// Share of the room below P̂ that may be left to rounding in fits where a walk begins.
const ROUNDING_SHARE: f64 = 0.3;

/// The same on the way: coefficients of fewer features may be larger.
const MOST_ROUNDING: f64 = 0.9;

/// The equations of a problem whose families fits may close: least squares on independent columns, more samples than columns.
pub(super) fn equations<'p, 'a>(problem: &'p Problem<'a>) -> Option<Equations<'p, 'a>> {
    let (p, has_ridge) = (problem.ncols(), problem.coordinate(0).l2 > 0.0);
    let is_meant = p <= MOST_FITTED && (p >= LEAST_FITTED || !has_ridge) && determined(problem) > p;
    if !is_meant || !is_plain(problem) {
        return None;
    }
    Equations::new(problem, usize::MAX).ok().filter(Equations::is_complete)
}

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
    /// P̂ − B.
    room: f64,
    /// The family of each level of branching, storage for the next ones behind.
    levels: Vec<Family>,
    families: usize,
    most_families: usize,
}

impl FitWalk<'_, '_, '_> {
    /// Four times what the checker's fits can be below the true ones: ½Σ η_jb_j² and ½η_y of (P10), and pivots (MATH 11.34).
    fn slack(&self, family: &Family) -> f64 {
        let (n, p) = (self.equations.problem.nrows() as f64, self.equations.len() as f64);
        let share = U * (p + 1.0) * (n + 5.0 * p + 64.0);
        let squares: f64 = family.costs.vector().iter().map(|b| b * b).sum();
        4.0 * share * (self.equations.total + 0.5 * squares) + 2.0 * self.equations.slack
    }

    /// What a fit must be for no subset of t features to be below B.
    fn needed(&self, t: usize, slack: f64) -> f64 {
        self.claim.bound - self.price * t as f64 + slack
    }

    /// The smallest and the largest size that may hold a subset below B (MATH 11.31), `None` where there is none.
    fn sizes(&self, family: &Family, costs: &[f64], slack: f64) -> Option<(usize, usize)> {
        let (size, most) = (family.size(), self.most.min(family.size() + family.free.len()));
        let is_left = |t: &usize| {
            let room = self.needed(*t, slack) - family.fit_all - self.faults.fit;
            room > 0.0 && costs.iter().filter(|cost| **cost >= room).count() <= t - size
        };
        let last = (size..=most).rev().find(is_left)?;
        Some(((size..=last).find(is_left)?, last))
    }

    /// Takes in what no subset below B lacks; the largest size that is left, `None` where none is.
    fn reduce(&self, family: &mut Family, out: &mut Stream<'_>) -> Result<Option<usize>> {
        loop {
            let slack = self.slack(family);
            let costs: Vec<f64> = (0..family.costs.len()).map(|j| family.costs.price(j)).collect();
            let Some((first, last)) = self.sizes(family, &costs, slack) else {
                out.record(Record::Fit)?;
                out.flag(true)?;
                return Ok(None);
            };
            // Fewer features cost less: what is too dear to drop at the smallest size is so at all.
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
                    family.take_in(place);
                }
            }
        }
    }

    /// Closes the family of this level: features go out one by one, after the subsets with them have been closed.
    fn close(&mut self, level: usize, out: &mut Stream<'_>) -> Result<Ended> {
        if self.levels.len() <= level + 1 {
            self.levels.push(Family::default());
        }
        let mut family = std::mem::take(&mut self.levels[level]);
        loop {
            self.families += 1;
            if self.families.is_multiple_of(64) {
                check(self.limits)?;
            }
            if self.families > self.most_families || self.slack(&family) > MOST_ROUNDING * self.room {
                return Ok(Ended::Open);
            }
            let Some(high) = self.reduce(&mut family, out)? else { break };
            if high <= family.size() + 2 {
                if !self.is_finished(&family) {
                    return Ok(Ended::Open);
                }
                out.record(Record::Pairs)?;
                break;
            }
            let Some(j) = family.branch() else { return Ok(Ended::Open) };
            out.record(Record::Split)?;
            out.whole(self.equations.features[family.free[j] as usize])?;
            out.flag(true)?;
            let child = &mut self.levels[level + 1];
            child.copy(&family);
            child.take_in(j);
            if self.close(level + 1, out)? == Ended::Open {
                return Ok(Ended::Open);
            }
            family.take_out(j);
        }
        self.levels[level] = family;
        Ok(Ended::Closed)
    }

    /// Whether no subset with at most two features more is below B, but for the answers that the claim excepts.
    fn is_finished(&self, family: &Family) -> bool {
        let (size, slack, m) = (family.size(), self.slack(family), family.free.len());
        let most = self.most.min(size + m);
        let gain = |more: usize| family.fit_inside - self.needed(size + more, slack) + self.faults.pair;
        let is_none = gain(0) >= 0.0 || self.is_excepted(family, &[]);
        let is_kept = |j: usize| family.gains.price(j) <= gain(1) || self.is_excepted(family, &[j]);
        if !is_none || (most > size && !(0..m).all(is_kept)) {
            return false;
        }
        if most < size + 2 || family.gains.best_pair(gain(2)).is_none() {
            return true;
        }
        family.gains.pairs(gain(2)).all(|(_, i, j)| self.is_excepted(family, &[i, j]))
    }

    fn is_excepted(&self, family: &Family, more: &[usize]) -> bool {
        let extra = more.iter().map(|&j| family.free[j]);
        let feature = |k: u32| self.equations.features[k as usize];
        let mut subset: Vec<usize> = family.inside.iter().copied().chain(extra).map(feature).collect();
        subset.sort_unstable();
        let is_this = |answer: &Coefficients| answer.iter().map(|c| c.0).eq(subset.iter().copied());
        self.claim.excepted && self.claim.answers.iter().any(is_this)
    }
}

impl ProofTree<'_, '_, '_> {
    /// Closes the node by fits alone, if these come to an end soon enough: without a ridge whenever they do.
    pub(super) fn close_by_fits(&mut self, node: &NodeRelaxation, limits: &Limits) -> Result<bool> {
        let has_ridge = self.has_ridge();
        let Some(equations) = &self.equations else { return Ok(false) };
        let context = self.ground.context();
        let of = |choice: Choice| -> Vec<u32> {
            let is_it = |a: &usize| node.members.choices[*a] == choice;
            (0..node.members.len()).filter(is_it).map(|a| context.feature(node, a) as u32).collect()
        };
        let Ok(family) = equations.family(&of(Choice::In), &of(Choice::Free)) else { return Ok(false) };
        let problem = self.ground.setting.problem;
        let mut walk = FitWalk {
            equations,
            claim: &self.claim,
            faults: self.faults,
            limits,
            most: self.ground.setting.size.unwrap_or(usize::MAX).min(problem.ncols()),
            price: problem.coordinate(0).l0,
            room: self.ground.best - self.claim.bound,
            levels: vec![family],
            families: 0,
            most_families: if has_ridge { FAMILIES_PER_NODE } else { usize::MAX },
        };
        if !has_ridge && walk.slack(&walk.levels[0]) <= ROUNDING_SHARE * walk.room {
            // Nothing else closes such families as fast: what there is of the file stays, and is gone on from after a limit.
            let ended = walk.close(0, &mut self.out)?;
            self.ground.nodes += walk.families;
            return match ended {
                Ended::Closed => Ok(true),
                Ended::Open => Err(Error::File { what: "proof", reason: "rounding leaves subsets open".to_owned() }),
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
