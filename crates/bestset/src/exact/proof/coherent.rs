//! Subsets closed by how many features they add to the answer's (PROOF, "COHERENCE"), and what is left of them at lower prices (MATH 13.5).

use super::ground::{OpenNode, ProofTree};
use super::statement::Claim;
use super::stream::Record;
use crate::coherence::{self, Coherent, Look};
use crate::control::Monitor;
use crate::design::Column;
use crate::error::Result;
use crate::exact::tree::region::{Cheap, PRICES};
use crate::leaps::determined;
use crate::problem::Problem;
use crate::solution::Coefficients;

/// What becomes of all subsets at first.
pub(super) enum Opening {
    /// None is left.
    Closed,
    Node(Box<OpenNode>),
    /// Those that add many features to the answer's are left, and these are cheaper.
    Cheaper(Discount),
}

/// The fewest features for which pairs are looked at where there is a ridge: fewer are closed by fits, or by relaxations.
const LEAST_COHERENT: usize = 32;

/// Shares of the price of a feature outside the answer, the same for all of these, with what a tree promises there.
struct Promised {
    share: f64,
    promise: f64,
}

/// Features outside some are cheaper: subsets that add many of them have paid for these beforehand.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Discount {
    /// Features that cost what they did, ascending.
    pub inside: Vec<usize>,
    /// m₀: all subsets that are left add as many.
    pub added: usize,
    /// μ.
    pub by: f64,
}

impl Discount {
    /// The problem with these prices.
    pub fn apply<'a>(&self, problem: &Problem<'a>) -> Option<Problem<'a>> {
        let price = outside_price(problem, &self.inside)?;
        Some(Cheap::new(problem, &self.inside, self.added, 1.0 - self.by / price)?.problem)
    }

    /// What is claimed of it: B less what m₀ features have paid, and a little more than rounding makes of that.
    pub fn claim(&self, claim: &Claim) -> Claim {
        let paid = self.by * self.added as f64;
        let bound = claim.bound - paid + 4.0 * f64::EPSILON * (claim.bound.abs() + paid);
        Claim { bound, ..claim.clone() }
    }
}

/// The price of all features outside some, where it is the same for all and not zero.
fn outside_price(problem: &Problem<'_>, inside: &[usize]) -> Option<f64> {
    let mut prices =
        (0..problem.ncols()).filter(|j| inside.binary_search(j).is_err()).map(|j| problem.coordinate(j).l0);
    let first = prices.next()?;
    (first > 0.0 && prices.all(|price| price == first)).then_some(first)
}

impl ProofTree<'_, '_, '_> {
    /// Closes the subsets that add few features to the answer's, where a forecast says that this closes all, or that a tree at lower
    /// prices closes the others; `None` where neither is so, and nothing is written.
    pub(super) fn open_by_coherence(&mut self, monitor: &mut Monitor<'_>) -> Result<Option<Opening>> {
        let (problem, size) = (self.ground.setting.problem, self.ground.setting.size);
        // Fits on all features, where these do not fit any targets, close more.
        let is_fitted = self.equations.as_ref().is_some_and(|e| e.len() < determined(problem));
        let is_meant = !self.is_part && !self.claim.excepted && !is_fitted;
        let is_small = self.has_ridge() && problem.ncols() < LEAST_COHERENT;
        if !is_meant || is_small || !coherence::applies(problem, &self.ground.memory) {
            return Ok(None);
        }
        let limited = match size {
            Some(k) => problem.clone().with_max_size(k)?,
            None => problem.clone(),
        };
        let answer = self.claim.answers[0].clone();
        let (best, target) = (self.ground.best, self.goal().cutoff + self.margin_at(&answer) - self.faults.coherence);
        let Some(look) = Look::new(&limited, &answer)? else { return Ok(None) };
        let Some(forecast) = look.forecast(best) else { return Ok(None) };
        let promised = if forecast.closes_all(target) {
            Vec::new()
        } else {
            self.promised(&answer, forecast.closes(target), target, monitor)?
        };
        if !forecast.closes_all(target) && promised.is_empty() {
            return Ok(None);
        }
        let Some(found) = look.plain((best, target), monitor.limits())? else { return Ok(None) };
        if !self.others_are_flat(&answer, &found.outside)? {
            return Ok(None);
        }
        let added = found.bounds.closes(target);
        let by = match found.bounds.closes_all(target) {
            true => 0.0,
            false => match self.discount(&answer, added, target, &promised) {
                Some(by) => by,
                None => return Ok(None),
            },
        };
        self.write_coherence(&answer, &found.curvature, added, by)?;
        let inside = answer.support;
        Ok(Some(if by > 0.0 { Opening::Cheaper(Discount { inside, added, by }) } else { Opening::Closed }))
    }

    /// Four times what the checker takes off C of (P3) at a point for rounding, with a lemma.
    fn margin_at(&self, point: &Coefficients) -> f64 {
        let length = |c: (usize, f64)| self.ground.bounds.square(c.0).sqrt() * c.1.abs();
        let fitted: f64 = point.iter().map(length).sum();
        let (n, count) = (self.ground.setting.problem.nrows(), point.support.len());
        self.rules().residual_margin(n, count, fitted, (2.0 * self.ground.best.abs()).sqrt(), fitted)
    }

    /// Whether the features that are neither the answer's nor among these are the same number throughout: the checker takes no other
    /// for constant.
    fn others_are_flat(&self, answer: &Coefficients, outside: &[usize]) -> Result<bool> {
        let problem = self.ground.setting.problem;
        let is_known = |j: &usize| answer.support.binary_search(j).is_ok() || outside.binary_search(j).is_ok();
        let (mut column, mut values) = (Column::default(), vec![0.0; problem.nrows()]);
        for j in (0..problem.ncols()).filter(|j| !is_known(j)) {
            let c = problem.coordinate(j);
            problem.design().column(j, &mut column)?;
            column.to_dense(&mut values);
            if (c.lower, c.upper) != (0.0, 0.0) && values.iter().any(|x| *x != values[0]) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn write_coherence(&mut self, answer: &Coefficients, curvature: &[f64], added: usize, by: f64) -> Result<()> {
        self.out.record(Record::Coherence)?;
        self.out.sparse(answer.iter().collect())?;
        curvature.iter().try_for_each(|rho| self.out.real(*rho))?;
        self.out.whole(added)?;
        self.out.real(by)
    }

    /// What trees at lower prices promise, those that promise to close all subsets which add so many features.
    fn promised(
        &self,
        answer: &Coefficients,
        added: usize,
        target: f64,
        monitor: &mut Monitor<'_>,
    ) -> Result<Vec<Promised>> {
        let (problem, options) = (self.ground.setting.problem, self.ground.setting.options);
        let mut found = Vec::new();
        let is_meant = added >= 2 && self.ground.setting.size.is_none() && self.has_ridge();
        if !is_meant || outside_price(problem, &answer.support).is_none() {
            return Ok(found);
        }
        let was_muted = std::mem::replace(&mut monitor.muted, true);
        for share in PRICES {
            let Some(cheap) = Cheap::new(problem, &answer.support, added, share) else { break };
            let Some((_, promise)) = cheap.root(answer, options, monitor)? else { break };
            if promise + cheap.saved > target {
                found.push(Promised { share, promise });
            }
        }
        monitor.muted = was_muted;
        Ok(found)
    }

    /// μ of what promises most once it is known how many features are added.
    fn discount(&self, answer: &Coefficients, added: usize, target: f64, promised: &[Promised]) -> Option<f64> {
        let problem = self.ground.setting.problem;
        let price = outside_price(problem, &answer.support)?;
        let of = |one: &Promised| {
            let cheap = Cheap::new(problem, &answer.support, added, one.share)?;
            Some((one.promise + cheap.saved - target, one.share))
        };
        let best = promised.iter().filter_map(of).filter(|one| one.0 > 0.0).max_by(|a, b| a.0.total_cmp(&b.0))?;
        Some(price * (1.0 - best.1))
    }
}

impl Coherent {
    /// Whether no subset is below the target, however many features it adds.
    fn closes_all(&self, target: f64) -> bool {
        self.is_complete && self.closes(target) == self.by_added.len()
    }
}
