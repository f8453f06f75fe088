//! The walk: every node is relaxed, decided about, and closed or split, and the file says so.

use super::coherent::{Discount, Opening};
use super::ground::{OpenNode, ProofTree};
use super::probe::Probed;
use super::resume::Replayed;
use super::rules::Decisions;
use super::stream::Record;
use super::{check, lemma, rounding};
use crate::control::{Limits, Monitor};
use crate::error::{Error, Result};
use crate::exact::node::bound::{correlate, measure, refresh};
use crate::exact::node::branch::branch;
use crate::exact::node::relax::relax;
use crate::exact::node::{Choice, MovedCurvature, NodeRelaxation};
use crate::exact::strengthen::should_move;
use std::sync::Arc;

/// Shares of its coefficients by which a point is moved beyond the best one, for slopes below λ1: from the least that rounding leaves.
const BEYOND: [f64; 5] = [1e-12, 1e-11, 1e-10, 1e-9, 1e-8];

/// A node that is to be split on a member.
struct NodeSplit {
    node: NodeRelaxation,
    lemma: Option<Arc<MovedCurvature>>,
    member: usize,
}

impl ProofTree<'_, '_, '_> {
    /// Closes all subsets, or those that an unfinished file leaves open; where those are left that add many features, at what prices.
    pub fn grow(&mut self, known: Option<Replayed>, monitor: &mut Monitor<'_>) -> Result<Option<Discount>> {
        let mut open: Vec<OpenNode> = match known {
            Some(known) => self.restore(known)?,
            None => match self.root(monitor)? {
                Opening::Closed => Vec::new(),
                Opening::Node(node) => vec![*node],
                Opening::Cheaper(discount) => return Ok(Some(discount)),
            },
        };
        while let Some(one) = open.pop() {
            check(monitor.limits())?;
            self.ground.nodes += 1;
            let Some(NodeSplit { node, lemma, member }) = self.look_at(one, monitor.limits())? else { continue };
            self.ground.join_core(&node)?;
            self.write_split(&node, member, false)?;
            let sides: &[Choice] = if self.faults.is_side_lost { &[Choice::Out] } else { &[Choice::In, Choice::Out] };
            for &side in sides {
                let mut child = node.clone();
                child.set(member, side);
                child.members.drop_out();
                open.push(OpenNode { node: child, lemma: lemma.clone() });
            }
        }
        self.out.record(Record::End)?;
        self.out.flush()?;
        Ok(None)
    }

    /// Relaxes the node and moves its curvature as long as that pays, deciding about features in between; `None` where it is closed.
    fn look_at(&mut self, one: OpenNode, limits: &Limits) -> Result<Option<NodeSplit>> {
        let OpenNode { mut node, mut lemma } = one;
        let mut looks = Looks::default();
        loop {
            if self.fill(&mut node)? {
                return Ok(None);
            }
            if self.is_answer(&node) {
                self.out.record(Record::Listed)?;
                return Ok(None);
            }
            if looks.may_fit {
                looks.may_fit = false;
                if self.close_by_fits(&node, limits)? {
                    return Ok(None);
                }
            }
            node = relax(&self.ground.context(), node, &self.goal(), limits);
            check(limits)?;
            if self.rules().closes(&self.ground.context(), &node) {
                return self.close(&node, &mut lemma).map(|()| None);
            }
            let decisions = self.rules().decide(&self.ground.context(), &node);
            if !decisions.inside.is_empty() || !decisions.outside.is_empty() {
                self.write_lemma(&node, &mut lemma)?;
                self.decide(&mut node, &decisions)?;
                continue;
            }
            if looks.may_probe {
                looks.may_probe = false;
                match self.probe(&mut node, &mut lemma, limits)? {
                    Probed::Nothing => {}
                    Probed::Decided => continue,
                    Probed::Closed => return Ok(None),
                }
            }
            if !self.move_curvature(&mut node, &mut looks, limits) {
                node = looks.best(node);
                break;
            }
        }
        match branch(&self.ground.context(), &node) {
            Some(member) => {
                self.write_lemma(&node, &mut lemma)?;
                Ok(Some(NodeSplit { node, lemma, member }))
            }
            None => match self.closed_single(&node) {
                Some(node) => self.close(&node, &mut lemma).map(|()| None),
                // One subset, and its bound is below what was to be proved.
                None => self.cover(&node, &mut lemma).map(|()| None),
            },
        }
    }

    /// The node of a single subset at a point where the checker finds it closed: its own, or one a little beyond. With λ1 slopes are λ1
    /// there but for rounding, which wide bounds on coefficients multiply; a little beyond they are below λ1, at next to no cost.
    fn closed_single(&self, node: &NodeRelaxation) -> Option<NodeRelaxation> {
        let (context, rules) = (self.ground.context(), self.rules());
        let beyond = BEYOND.iter().map(|share| {
            let mut tried = node.clone();
            tried.members.beta.iter_mut().for_each(|b| *b *= 1.0 + share);
            refresh(&context, &mut tried);
            correlate(&context, &mut tried);
            measure(&context, &mut tried);
            tried
        });
        std::iter::once(node.clone()).chain(beyond).find(|tried| rules.closes_single(&context, tried))
    }

    /// A single subset that is best with a coefficient of zero, so that it is no better than an answer that it holds: the file says so.
    fn cover(&mut self, node: &NodeRelaxation, lemma: &mut Option<Arc<MovedCurvature>>) -> Result<()> {
        let (problem, room) = (self.ground.setting.problem, self.ground.best - self.claim.bound);
        let features = self.ground.context().features(&node.members.positions);
        let mut covering = None;
        for (place, answer) in self.claim.answers.iter().enumerate().filter(|_| self.claim.excepted) {
            let is_held = answer.support.len() < features.len()
                && answer.support.iter().all(|j| features.binary_search(j).is_ok());
            if is_held && self.rules().covers(&self.ground.context(), node, problem.value(answer)? - room) {
                covering = Some(place);
            }
        }
        let Some(place) = covering else {
            if node.dual >= self.claim.bound {
                return Err(rounding());
            }
            return Err(Error::Recheck {
                what: "the bound to be proved",
                claimed: self.claim.bound,
                found: node.dual,
                slack: room,
            });
        };
        self.write_lemma(node, lemma)?;
        self.out.record(Record::Covered)?;
        self.out.whole(place)?;
        self.write_anchor(node)
    }

    /// Another look at the node's curvature, where it is worth its cost; whether there was one.
    fn move_curvature(&self, node: &mut NodeRelaxation, looks: &mut Looks, limits: &Limits) -> bool {
        let (context, goal) = (self.ground.context(), self.goal());
        let tuning = context.tuning;
        // What is split on first is decided before curvature is worth its cost, as in a search.
        if !context.first_free(node).is_empty() {
            return false;
        }
        let rises = node.dual - looks.last;
        let is_worth = looks.count < tuning.curvature_looks && goal.best - node.dual <= tuning.looks_left * rises;
        if !is_worth || !should_move(&context, node) {
            return false;
        }
        (looks.last, looks.count) = (node.dual, looks.count + 1);
        let before = node.clone();
        let is_moved = match self.has_ridge() {
            false => lemma::make_ridge(&context, node, self.faults.curvature, limits),
            true => lemma::make(&context, node, self.faults.curvature, limits),
        };
        looks.may_probe = is_moved;
        if is_moved && looks.before.as_ref().is_none_or(|best| best.dual < before.dual) {
            looks.before = Some(before);
        }
        is_moved
    }

    /// With k features in, the others are out, with more there is no subset, and the node is closed; where no more than k are left, the
    /// size costs nothing. Whether it is closed.
    fn fill(&mut self, node: &mut NodeRelaxation) -> Result<bool> {
        let Some(k) = self.ground.setting.size else { return Ok(false) };
        let (inside, count) = (node.members.inside(), node.members.len());
        if inside > k {
            self.out.record(Record::Size)?;
            return Ok(true);
        }
        if inside + usize::from(self.faults.is_size_short) >= k && count > inside {
            self.out.record(Record::Size)?;
            let free: Vec<usize> = (0..count).filter(|&a| node.members.choices[a] == Choice::Free).collect();
            free.into_iter().for_each(|a| node.set(a, Choice::Out));
            node.members.drop_out();
        }
        if node.members.len() <= k {
            node.multiplier = 0.0;
        }
        Ok(false)
    }

    /// Whether the node is one subset, and that an answer which the claim excepts.
    fn is_answer(&self, node: &NodeRelaxation) -> bool {
        let members = &node.members;
        if !(self.claim.excepted || self.faults.is_all_listed) || members.choices.contains(&Choice::Free) {
            return false;
        }
        let features = self.ground.context().features(&members.positions);
        let is_this = |answer: &crate::solution::Coefficients| answer.iter().map(|c| c.0).eq(features.iter().copied());
        self.faults.is_all_listed || self.claim.answers.iter().any(is_this)
    }

    /// What the node's bound decides, in the file and in the node.
    fn decide(&mut self, node: &mut NodeRelaxation, decisions: &Decisions) -> Result<()> {
        self.write_bound(node)?;
        self.out.flag(false)?;
        let context = self.ground.context();
        let feature = |a: &usize| context.feature(node, *a);
        let inside: Vec<usize> = decisions.inside.iter().map(feature).collect();
        let outside: Vec<usize> = decisions.outside.iter().map(feature).collect();
        self.out.features(&inside)?;
        self.out.flag(false)?;
        self.out.features(&outside)?;
        decisions.inside.iter().for_each(|&a| node.set(a, Choice::In));
        decisions.outside.iter().for_each(|&a| node.set(a, Choice::Out));
        node.members.drop_out();
        Ok(())
    }
}

/// The looks at the curvature of one node.
struct Looks {
    count: usize,
    /// The bound before the last look.
    last: f64,
    /// The node before the move that it was strongest before.
    before: Option<NodeRelaxation>,
    /// Whether curvature was moved since members were probed.
    may_probe: bool,
    /// Whether fits have not been tried.
    may_fit: bool,
}

impl Default for Looks {
    fn default() -> Self {
        Self { count: 0, last: f64::NEG_INFINITY, before: None, may_probe: false, may_fit: true }
    }
}

impl Looks {
    /// The node with the move of the best bound.
    fn best(self, node: NodeRelaxation) -> NodeRelaxation {
        match self.before {
            Some(best) if best.dual > node.dual => best.follow(&node),
            _ => node,
        }
    }
}
