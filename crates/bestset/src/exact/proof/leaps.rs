//! Families closed by fits alone (PROOF, "FIT", "PAIRS"): leaps and bounds (MATH 11.28–11.31) against what a subset would have to be below.

use super::check;
use super::ground::ProofTree;
use super::rules::{Faults, U};
use super::statement::Claim;
use super::stream::{Record, Stream};
use crate::control::Limits;
use crate::error::{Error, Result};
use crate::exact::node::{Choice, NodeRelaxation};
use crate::kernel;
use crate::leaps::{Equations, Family, Form, determined, is_small};
use crate::loss::Loss;
use crate::problem::Problem;
use crate::solution::Coefficients;
use faer::linalg::solvers::{DenseSolveCore, Llt};
use faer::{Mat, Side};

/// The most features of a fit, as the checker has it.
const MOST_FITTED: usize = 256;

/// With a ridge and fewer features the relaxation of the root ends most proofs, and takes fewer bytes.
const LEAST_FITTED: usize = 12;

/// Families that are looked at for one node of a tree that has relaxations too: about as long as one of these takes. Not tuned.
const FAMILIES_PER_NODE: usize = 400;

/// Share of the room below P̂ that may be left to rounding in fits where nothing is lost if a walk ends without having closed all.
const ROUNDING_SHARE: f64 = 0.3;

/// The same where the walk is only tried, and what it wrote is taken back. Not tuned.
const MOST_ROUNDING: f64 = 0.9;

/// Times that the writer allows for what the checker takes off for rounding: both compute inner products, each in its own order.
const ALLOWED: f64 = 4.0;

/// Shares of terms that pairs are compared with to spare, four times the checker's (P12).
const OF_PAIRS: f64 = 8e-15;

/// The features that may enter, where all of them are plain and have one price: least squares of so many features as a fit may have.
fn plain(problem: &Problem<'_>) -> Option<Vec<usize>> {
    let may_enter = |j: &usize| (problem.coordinate(*j).lower, problem.coordinate(*j).upper) != (0.0, 0.0);
    let free: Vec<usize> = (0..problem.ncols()).filter(may_enter).collect();
    let first = problem.coordinate(*free.first()?);
    let is_plain = |j: &usize| {
        let c = problem.coordinate(*j);
        c == first && c.l1 == 0.0 && c.lower == f64::NEG_INFINITY && c.upper == f64::INFINITY
    };
    let is_meant = problem.loss() == Loss::Squared && problem.ncols() <= MOST_FITTED && free.iter().all(is_plain);
    is_meant.then_some(free)
}

/// The equations of a problem whose families fits may close; with a ridge, where there are more samples than columns.
pub(super) fn equations<'p, 'a>(problem: &'p Problem<'a>) -> Option<Equations<'p, 'a>> {
    let free = plain(problem)?;
    let has_ridge = problem.coordinate(free[0]).l2 > 0.0;
    if has_ridge && (free.len() < LEAST_FITTED || determined(problem) <= free.len()) {
        return None;
    }
    let made = Equations::of_columns(problem).ok()?;
    (made.features == free).then_some(made)
}

/// Sets of features that depend on each other as far as a search can tell, and that a subset below B could hold: without a ridge, what
/// rounding left of such columns could be fitted, and no bound holds against that.
pub(super) fn dependences(problem: &Problem<'_>, bound: f64) -> Vec<Vec<usize>> {
    let Some(free) = plain(problem) else { return Vec::new() };
    let first = problem.coordinate(free[0]);
    let affordable = if first.l0 > 0.0 { (bound / first.l0).max(0.0) as usize } else { usize::MAX };
    let most = affordable.min(problem.max_size().unwrap_or(usize::MAX)).min(free.len());
    if first.l2 > 0.0 || !is_small(problem, most) {
        return Vec::new();
    }
    let found = Equations::new(problem, most).map_or_else(|_| Vec::new(), |made| made.dependent);
    // A column that is constant but for rounding may not enter at all.
    found.into_iter().filter(|set| set.len() > 1).collect()
}

/// What the checker takes off for rounding in fits, in units of columns of length one.
#[derive(Clone, Copy)]
struct FitRounding {
    /// η of (P10), of columns and of targets.
    eta: f64,
    /// At most what (P14) can take from a fit.
    slack: f64,
    /// ‖ι_y‖ of (P11).
    targets: f64,
}

impl FitRounding {
    /// Of fits that are to reach B, with these coefficients and curvatures of all features.
    fn new(equations: &Equations<'_, '_>, costs: &Form, bound: f64) -> Self {
        let problem = equations.problem;
        let (n, p, m) = (problem.nrows() as f64, problem.ncols() as f64, costs.len() as f64);
        let length = (2.0 * equations.total).sqrt();
        // Offsets are taken from targets that may be far from zero.
        let weight = |i: usize| problem.weights().map_or(1.0, |w| w[i]);
        let far =
            |o: &[f64]| problem.y().iter().zip(o).enumerate().map(|(i, (y, o))| weight(i) * (y - o).powi(2)).sum();
        let targets = 4.0 * U * (length + problem.offset().map_or(0.0, far).sqrt());
        let fitted: f64 = costs.vector().iter().map(|b| b.abs()).sum();
        let roots: f64 = (0..costs.len()).map(|j| costs.at(j, j).max(0.0).sqrt()).sum();
        let needed = (2.0 * bound.max(0.0)).sqrt();
        let off = U * (m + 12.0) * (length + fitted) + targets + 18.0 * U * needed * roots;
        let slack = ALLOWED * (2.0 * U * (m + 8.0) * bound.max(0.0) + needed * off + 0.5 * off * off);
        Self { eta: ALLOWED * U * (p + 1.0) * (n + 5.0 * p + 48.0), slack, targets }
    }
}

/// The family as the checker has it: fits of few features from inner products less η, costs of single ones from their inverse, and what is
/// left of the targets from the residual itself. `None` where columns depend on each other.
fn family(equations: &Equations<'_, '_>, inside: &[u32], free: &[u32], eta: f64) -> Result<Option<Family>> {
    let members = [free, inside].concat();
    if members.len() >= determined(equations.problem) && equations.ridge == 0.0 {
        return Ok(None);
    }
    let Ok(all) = equations.family(&[], &members) else { return Ok(None) };
    let (form, m) = (equations.form(&members).less(eta), members.len());
    let Ok(factor) = Llt::new(Mat::from_fn(m, m, |i, j| form.at(i, j)).as_ref(), Side::Lower) else {
        return Ok(None);
    };
    let (inverse, beta) = (factor.inverse(), all.costs.vector());
    let costs = Form::new(beta[..free.len()].to_vec(), |i, j| inverse[(i, j)]);
    let (mut residual, mut fit_all) = (equations.target.clone(), 0.0);
    for (&k, b) in members.iter().zip(beta) {
        kernel::axpy(-b, &equations.column(k)?, &mut residual);
        fit_all += equations.ridge_of(k) * b * b;
    }
    fit_all += 0.5 * kernel::squares(&residual);
    Ok(Some(Family { costs, fit_all, ..blind(equations, inside, free, eta) }))
}

/// The family with the fits of few features alone: those of all say nothing, and each can be dropped for nothing.
fn blind(equations: &Equations<'_, '_>, inside: &[u32], free: &[u32], eta: f64) -> Family {
    let mut gains = equations.form(&[free, inside].concat()).less(eta);
    let mut fit_inside = equations.total * (1.0 - eta);
    for last in (free.len()..gains.len()).rev() {
        let is_sound = gains.at(last, last) > eta;
        fit_inside = if is_sound { fit_inside - gains.price(last) } else { f64::NEG_INFINITY };
        gains.eliminate_last();
    }
    let costs = Form::new(vec![0.0; free.len()], |i, j| if i == j { f64::INFINITY } else { 0.0 });
    Family { inside: inside.to_vec(), free: free.to_vec(), gains, costs, fit_inside, fit_all: 0.0, low: 0, high: 0 }
}

/// A family, and what fits on all its features are to be above what is needed by; infinite where these say nothing.
#[derive(Default)]
struct FitFamily {
    family: Family,
    slack: f64,
}

impl FitFamily {
    fn copy(&mut self, other: &Self) {
        self.family.copy(&other.family);
        self.slack = other.slack;
    }

    fn is_blind(&self) -> bool {
        self.slack == f64::INFINITY
    }
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
                if !self.is_excepted(family, &[]) {
                    return Ok(Ended::Open);
                }
                out.record(Record::Listed)?;
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
