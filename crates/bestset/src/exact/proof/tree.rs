//! The walk: every node is relaxed, decided about, and closed or split, and the file says so.

use super::lemma;
use super::probe::Probed;
use super::resume::Replayed;
use super::rules::{Decisions, Faults, Rules};
use super::statement::Claim;
use super::stream::{Record, Stream};
use super::{ProofSummary, check};
use crate::control::{Limits, Memory, Monitor};
use crate::error::{Error, Result};
use crate::exact::curvature::unmoved;
use crate::exact::node::branch::branch;
use crate::exact::node::relax::{Goal, relax};
use crate::exact::node::{Choice, MovedCurvature, NodeContext, NodeRelaxation};
use crate::exact::setting::Setting;
use crate::exact::strengthen::should_move;
use crate::problem::LowerBounds;
use crate::relaxation::workspace::Workspace;
use std::sync::Arc;

/// What all nodes look at.
pub(super) struct Ground<'p, 'a> {
    pub setting: Setting<'p, 'a>,
    pub bounds: LowerBounds<'p, 'a>,
    pub near: Workspace<'p, 'a>,
    pub core: Workspace<'p, 'a>,
    pub memory: Memory,
    /// P of the last answer.
    pub best: f64,
    pub nodes: usize,
}

impl<'p, 'a> Ground<'p, 'a> {
    pub fn context(&self) -> NodeContext<'_, 'p, 'a> {
        let Setting { ref tuning, size, problem, .. } = self.setting;
        let (near, core, memory) = (&self.near, &self.core, &self.memory);
        let most_curved = tuning.most_curved(problem.nrows(), self.nodes);
        NodeContext {
            bounds: self.bounds,
            near,
            core,
            size,
            most_curved,
            scale: self.best.abs(),
            memory,
            tuning,
            first: &[],
        }
    }

    /// Members join the core with their inner products, all where they are few, as in any tree.
    fn join_core(&mut self, node: &NodeRelaxation) -> Result<()> {
        let (members, tuning) = (&node.members, &self.setting.tuning);
        let most = tuning.most_curved(self.setting.problem.nrows(), self.nodes);
        let few = members.len() <= most && self.core.active.len() < tuning.most_core;
        let most = self.core.most_columns(tuning.memory_for_columns);
        let joining: Vec<usize> = (0..members.len()).filter(|&a| few || members.beta[a] != 0.0).collect();
        for a in joining {
            if self.core.active.len() < most {
                self.core.include(self.near.active.features()[members.positions[a]])?;
            }
        }
        self.core.gram();
        Ok(())
    }
}

/// A node that waits, with the lemma that the checker has there.
pub(super) struct Open {
    pub node: NodeRelaxation,
    pub lemma: Option<Arc<MovedCurvature>>,
}

/// A node that is to be split on a member.
struct Split {
    node: NodeRelaxation,
    lemma: Option<Arc<MovedCurvature>>,
    member: usize,
}

/// The tree on its way into a file.
pub(super) struct ProofTree<'p, 'a, 'w> {
    pub ground: Ground<'p, 'a>,
    pub claim: Claim,
    pub out: Stream<'w>,
    pub faults: &'w Faults,
    /// ‖ŷ‖.
    pub y_norm: f64,
}

impl<'p, 'a, 'w> ProofTree<'p, 'a, 'w> {
    pub fn new(setting: Setting<'p, 'a>, best: f64, claim: Claim, out: Stream<'w>, faults: &'w Faults) -> Result<Self> {
        let (problem, memory) = (setting.problem, setting.options.memory());
        let null = problem.null_margins();
        let y_norm = (2.0 * problem.loss_sum(&null, problem.best_intercept(&null, 0.0))).max(0.0).sqrt();
        let (near, core) = (setting.workspace(), setting.workspace());
        let ground = Ground { bounds: problem.lower_bounds()?, setting, near, core, memory, best, nodes: 0 };
        Ok(Self { ground, claim, out, faults, y_norm })
    }

    /// Closes all subsets, or those that an unfinished file leaves open.
    pub fn grow(&mut self, known: Option<Replayed>, monitor: &mut Monitor<'_>) -> Result<()> {
        let mut open: Vec<Open> = match known {
            Some(known) => self.restore(known)?,
            None => self.root(monitor)?.into_iter().collect(),
        };
        while let Some(one) = open.pop() {
            check(monitor.limits())?;
            self.ground.nodes += 1;
            let Some(Split { node, lemma, member }) = self.look_at(one, monitor.limits())? else { continue };
            self.ground.join_core(&node)?;
            self.write_split(&node, member, false)?;
            let sides: &[Choice] = if self.faults.is_side_lost { &[Choice::Out] } else { &[Choice::In, Choice::Out] };
            for &side in sides {
                let mut child = node.clone();
                child.set(member, side);
                child.members.drop_out();
                open.push(Open { node: child, lemma: lemma.clone() });
            }
        }
        self.out.record(Record::End)?;
        self.out.flush()
    }

    /// What was written.
    pub fn summary(&self) -> ProofSummary {
        ProofSummary { bound: self.claim.bound, nodes: self.ground.nodes, bytes: self.out.bytes }
    }

    pub fn rules(&self) -> Rules<'w> {
        Rules { bound: self.claim.bound, y_norm: self.y_norm, faults: self.faults }
    }

    pub(super) fn goal(&self) -> Goal {
        let (bound, room) = (self.claim.bound, self.ground.best - self.claim.bound);
        Goal { best: bound + 0.5 * room, cutoff: bound + 0.25 * room, room: 0.1 * room }
    }

    /// Relaxes the node and moves its curvature as long as that pays, deciding about features in between; `None` where it is closed.
    fn look_at(&mut self, one: Open, limits: &Limits) -> Result<Option<Split>> {
        let Open { mut node, mut lemma } = one;
        let mut looks = Looks::default();
        loop {
            self.fill(&mut node)?;
            if self.is_answer(&node) {
                self.out.record(Record::Listed)?;
                return Ok(None);
            }
            node = relax(&self.ground.context(), node, &self.goal(), limits);
            check(limits)?;
            if self.rules().closes(&self.ground.context(), &node) {
                self.write_lemma(&node, &mut lemma)?;
                self.write_bound(&node)?;
                self.out.flag(true)?;
                return Ok(None);
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
                Ok(Some(Split { node, lemma, member }))
            }
            // One subset, and its bound is below what was to be proved.
            None => Err(Error::Recheck {
                what: "the bound to be proved",
                claimed: self.claim.bound,
                found: node.dual,
                slack: self.ground.best - self.claim.bound,
            }),
        }
    }

    /// Another look at the node's curvature, where it is worth its cost; whether there was one.
    fn move_curvature(&self, node: &mut NodeRelaxation, looks: &mut Looks, limits: &Limits) -> bool {
        let (context, goal) = (self.ground.context(), self.goal());
        let tuning = context.tuning;
        let rises = node.dual - looks.last;
        let is_worth = looks.count < tuning.curvature_looks && goal.best - node.dual <= tuning.looks_left * rises;
        if !is_worth || !should_move(&context, node, goal.best) {
            return false;
        }
        (looks.last, looks.count) = (node.dual, looks.count + 1);
        let before = node.clone();
        let is_moved = match self.has_ridge() {
            false => lemma::make_ridge(&context, node, self.faults.curvature, limits),
            true => {
                let guide = looks.guide.take().map_or_else(|| unmoved(&context, node, limits), |g| g.follow(node));
                let is_moved = lemma::make(&context, node, &guide, self.faults.curvature, limits);
                looks.guide = Some(guide);
                is_moved
            }
        };
        looks.may_probe = is_moved;
        if is_moved && looks.before.as_ref().is_none_or(|best| best.dual < before.dual) {
            looks.before = Some(before);
        }
        is_moved
    }

    /// Whether the relaxation has a bound without curvature moved.
    pub fn has_ridge(&self) -> bool {
        let problem = self.ground.setting.problem;
        problem.penalty().has_certificate(problem.ncols())
    }

    /// With k features in, the others are out; where no more than k are left, the size costs nothing.
    fn fill(&mut self, node: &mut NodeRelaxation) -> Result<()> {
        let Some(k) = self.ground.setting.size else { return Ok(()) };
        let (inside, count) = (node.members.inside(), node.members.len());
        if inside + usize::from(self.faults.is_size_short) >= k && count > inside {
            self.out.record(Record::Size)?;
            let free: Vec<usize> = (0..count).filter(|&a| node.members.choices[a] == Choice::Free).collect();
            free.into_iter().for_each(|a| node.set(a, Choice::Out));
            node.members.drop_out();
        }
        if node.members.len() <= k {
            node.multiplier = 0.0;
        }
        Ok(())
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

    /// The node's curvature, unless the checker has it.
    pub(super) fn write_lemma(&mut self, node: &NodeRelaxation, known: &mut Option<Arc<MovedCurvature>>) -> Result<()> {
        let Some(own) = &node.inherited else { return Ok(()) };
        if known.as_ref().is_some_and(|known| Arc::ptr_eq(known, own)) {
            return Ok(());
        }
        self.out.record(Record::Psd)?;
        self.out.features(&self.ground.context().features(&node.members.positions))?;
        node.members.moved.iter().try_for_each(|d| self.out.real(*d))?;
        *known = Some(own.clone());
        Ok(())
    }

    /// A split, and whether the side with the member comes first.
    pub(super) fn write_split(&mut self, node: &NodeRelaxation, member: usize, in_first: bool) -> Result<()> {
        self.out.record(Record::Split)?;
        self.out.whole(self.ground.context().feature(node, member))?;
        self.out.flag(in_first)
    }

    /// The point and the price of the node's bound.
    pub(super) fn write_bound(&mut self, node: &NodeRelaxation) -> Result<()> {
        let features = self.ground.context().features(&node.members.positions);
        self.out.record(Record::Bound)?;
        self.out.sparse(features.into_iter().zip(node.members.beta.iter().copied()).collect())?;
        self.out.flag(node.inherited.is_some())?;
        self.out.real(if self.ground.setting.size.is_some() { node.multiplier } else { 0.0 })
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
    /// The node with no curvature moved.
    guide: Option<NodeRelaxation>,
    /// Whether curvature was moved since members were probed.
    may_probe: bool,
}

impl Default for Looks {
    fn default() -> Self {
        Self { count: 0, last: f64::NEG_INFINITY, before: None, guide: None, may_probe: false }
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
