//! What a proof is written with: the columns all nodes look at, the file, and the records that are the same everywhere.

use super::ProofSummary;
use super::rules::{Faults, ProofRules};
use super::statement::Claim;
use super::stream::{Record, Stream};
use crate::control::Memory;
use crate::error::Result;
use crate::exact::node::relax::Goal;
use crate::exact::node::{MovedCurvature, NodeContext, NodeRelaxation};
use crate::exact::setting::Setting;
use crate::leaps::Equations;
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
            first: &self.setting.first,
            added: self.setting.added,
        }
    }

    /// Members join the core with their inner products, all where they are few, as in any tree.
    pub fn join_core(&mut self, node: &NodeRelaxation) -> Result<()> {
        let (members, tuning) = (&node.members, &self.setting.tuning);
        let most = tuning.most_curved(self.setting.problem.nrows(), self.nodes);
        let few = members.len() <= most && self.core.active.len() < tuning.most_core;
        let most = self.core.most_columns(tuning.memory_for_columns);
        let joining = (0..members.len()).filter(|&a| few || members.beta[a] != 0.0);
        self.core.include_until(joining.map(|a| self.near.active.features()[members.positions[a]]), most)?;
        self.core.gram();
        Ok(())
    }
}

/// A node that waits, with the lemma that the checker has there.
pub(super) struct OpenNode {
    pub node: NodeRelaxation,
    pub lemma: Option<Arc<MovedCurvature>>,
}

/// The tree on its way into a file.
pub(super) struct ProofTree<'p, 'a, 'w> {
    pub ground: Ground<'p, 'a>,
    pub claim: Claim,
    pub out: Stream<'w>,
    pub faults: &'w Faults,
    /// Where fits may close families.
    pub equations: Option<Equations<'p, 'a>>,
    /// Whether the subsets are those that coherence left.
    pub is_part: bool,
    /// ‖ŷ‖.
    y_norm: f64,
}

impl<'p, 'a, 'w> ProofTree<'p, 'a, 'w> {
    pub fn new(setting: Setting<'p, 'a>, best: f64, claim: Claim, out: Stream<'w>, faults: &'w Faults) -> Result<Self> {
        let (problem, memory) = (setting.problem, setting.options.memory());
        let null = problem.null_margins();
        let y_norm = (2.0 * problem.loss_sum(&null, problem.best_intercept(&null, 0.0))).max(0.0).sqrt();
        let (near, core) = (setting.workspace(), setting.workspace());
        let ground = Ground { bounds: problem.lower_bounds()?, setting, near, core, memory, best, nodes: 0 };
        Ok(Self { ground, claim, out, faults, equations: None, is_part: false, y_norm })
    }

    /// What was written.
    pub fn summary(&self) -> ProofSummary {
        ProofSummary { bound: self.claim.bound, nodes: self.ground.nodes, bytes: self.out.bytes }
    }

    pub fn rules(&self) -> ProofRules<'w> {
        ProofRules { bound: self.claim.bound, y_norm: self.y_norm, faults: self.faults }
    }

    pub(super) fn goal(&self) -> Goal {
        let (bound, room) = (self.claim.bound, self.ground.best - self.claim.bound);
        Goal { best: bound + 0.5 * room, cutoff: bound + 0.25 * room, room: 0.1 * room }
    }

    /// Whether the relaxation has a bound without curvature moved.
    pub fn has_ridge(&self) -> bool {
        let problem = self.ground.setting.problem;
        problem.penalty().has_certificate(problem.ncols())
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

    /// A bound of the node; what it decides is to follow.
    pub(super) fn write_bound(&mut self, node: &NodeRelaxation) -> Result<()> {
        self.out.record(Record::Bound)?;
        self.write_anchor(node)
    }

    /// A bound that closes the node.
    pub(super) fn close(&mut self, node: &NodeRelaxation, known: &mut Option<Arc<MovedCurvature>>) -> Result<()> {
        self.write_lemma(node, known)?;
        self.write_bound(node)?;
        self.out.flag(true)
    }

    /// The point and the price of the node's bound.
    pub(super) fn write_anchor(&mut self, node: &NodeRelaxation) -> Result<()> {
        let features = self.ground.context().features(&node.members.positions);
        self.out.sparse(features.into_iter().zip(node.members.beta.iter().copied()).collect())?;
        self.out.flag(node.inherited.is_some())?;
        self.out.real(if self.ground.setting.size.is_some() { node.multiplier } else { 0.0 })
    }
}
