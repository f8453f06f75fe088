//! The tree: grows from its root until nothing is open or a limit strikes.
//!
//! | file | what |
//! |---|---|
//! | here | [`Tree`], its outer loop, its limits and its bound |
//! | `plant` | the root: which features are open, and whose columns come into memory |
//! | `frontier` | the open nodes, and what the closed ones prove |
//! | `process` | a node relaxed, decided, strengthened, rounded; closed or split |
//! | `far` | the same for nodes with open features whose columns are not in memory |
//! | `dive` | these split on what is in memory alone, before a pass |
//! | `answers`, `answer_pool` | answers that the tree comes by, and the best of them |
//! | `harvest` | what a tree shows on its way and hands over at its end |
//! | `looks` | looks at coherence, of all features or of those that are left, here or where X is |
//! | `remainder` | the features that the open nodes leave to better subsets |
//! | `region` | a tree of its own for the subsets that coherence leaves open |
//! | `snapshot` | the tree in a form that a file holds |
//! | `slices` | the tree in parts that may be grown elsewhere |

mod answer_pool;
mod answers;
mod dive;
pub(super) mod far;
mod frontier;
mod harvest;
mod looks;
mod plant;
mod process;
pub(super) mod region;
pub(super) mod remainder;
pub mod slices;
pub mod snapshot;

use crate::control::{Memory, Monitor};
use crate::error::Result;
use crate::exact::node::{Node, NodeContext};
use crate::exact::setting::Setting;
use crate::problem::LowerBounds;
use crate::relaxation::workspace::Workspace;
use crate::snapshot::Journal;
use crate::solution::Status;
use crate::solver::Outcome;
use answer_pool::AnswerPool;
use frontier::Frontier;
use region::Outer;
use snapshot::SavedTree;

/// Bytes for each pair of the core's features: inner products with room to grow, without the tableaus of a search.
const CORE_PAIR_BYTES: f64 = 26.0;

/// Whether two lists of far features are of about one length: such lists have most of their features in common, as a rule, so that a pass over
/// both together is hardly longer than over one.
fn are_alike(a: usize, b: usize) -> bool {
    a.max(b) <= 2 * a.min(b)
}

/// The open nodes, the best answers, and what is known of the closed ones.
pub struct Tree<'p, 'a> {
    pub(super) setting: Setting<'p, 'a>,
    /// The bounds of its problem.
    pub(super) bounds: LowerBounds<'p, 'a>,
    /// The columns that nodes decide about.
    pub(super) near: Workspace<'p, 'a>,
    /// Open features up to this many all come into memory.
    pub(super) most_near: usize,
    /// The features that were not zero in some node, with their inner products; the search for answers works on it.
    core: Workspace<'p, 'a>,
    pub(super) frontier: Frontier,
    pub(super) pool: AnswerPool,
    /// Nodes that were looked at.
    processed: usize,
    /// Nodes that were made: the next one's id.
    pub(super) made: usize,
    /// Whether answers have been looked for outside the active set.
    searched: bool,
    /// What coherence proves of all subsets (MATH 13.3), −∞ before it was looked at.
    pub(super) floor: f64,
    /// How many features were left at the last look at it.
    pub(super) looked_among: Option<usize>,
    /// The tree of all subsets, where this is one for a part of them.
    outer: Option<Outer>,
    /// Whether memory had no room for features that a node needed.
    starved: bool,
    /// Whether there was no time left for a look at all features.
    out_of_time: bool,
    memory: Memory,
    /// Absolute tolerance.
    absolute: f64,
    /// The root's outcome; its coefficients are those of the first answer.
    outcome: Outcome,
}

impl<'p, 'a> Tree<'p, 'a> {
    /// A tree with no node yet, from the root's outcome.
    fn bare(setting: Setting<'p, 'a>, outcome: Outcome) -> Result<Self> {
        // What the machine has to spare is looked up once for all.
        let memory = setting.options.memory();
        let empty = || Workspace::new(setting.problem).within(memory.clone());
        let (mut near, core) = (empty(), empty());
        near.active = near.active.also_narrow();
        Ok(Self {
            bounds: setting.problem.lower_bounds()?,
            most_near: setting.tuning.most_near.min(near.most_columns(setting.tuning.memory_for_columns)),
            near,
            core,
            frontier: Frontier::new(),
            pool: AnswerPool::new(setting.options.top, setting.ceiling),
            processed: 0,
            made: 0,
            searched: false,
            floor: f64::NEG_INFINITY,
            looked_among: None,
            outer: None,
            starved: false,
            out_of_time: false,
            memory,
            absolute: setting.options.absolute(setting.problem),
            setting,
            outcome,
        })
    }

    /// Splits nodes until none is open or a limit strikes.
    pub fn grow(mut self, monitor: &mut Monitor<'_>, journal: Option<&mut Journal<'_, SavedTree>>) -> Result<Outcome> {
        let ended = self.grow_on(monitor, journal)?;
        self.harvest(ended)
    }

    /// As [`Tree::grow`]; why it ended.
    fn grow_on(
        &mut self,
        monitor: &mut Monitor<'_>,
        mut journal: Option<&mut Journal<'_, SavedTree>>,
    ) -> Result<Status> {
        let mut ended = self.outcome.ended;
        while let Some(batch) = self.next_batch() {
            if let Some(status) = self.limit(monitor) {
                ended = status;
                batch.into_iter().for_each(|node| self.frontier.push(node));
                break;
            }
            let before = self.processed;
            self.process(batch, monitor)?;
            if self.processed >= self.setting.tuning.search_from {
                self.search(monitor)?;
            }
            let is_whole = self.look_at_coherence(before, monitor)?;
            self.record(monitor);
            if let Some(journal) = &mut journal
                && is_whole
                && monitor.stop(0).is_none()
            {
                // Nodes and looks that a limit cut short are no part of what a search without limits would do.
                (journal.keep)(&|| self.save(monitor))?;
            }
        }
        if self.starved && ended == Status::Converged {
            ended = Status::MemoryLimit;
        }
        // The limit may have struck inside the last nodes.
        Ok(monitor.stop(0).unwrap_or(ended))
    }

    /// The open nodes with the lowest bounds; those that the best answer has meanwhile closed are dropped. Nodes with far features
    /// end the batch, a few with lists of about one length: its passes over X are shared by the nodes that they are split into.
    pub(super) fn next_batch(&mut self) -> Option<Vec<Node>> {
        let tuning = &self.setting.tuning;
        let size = (self.frontier.len() / tuning.batch_share).clamp(tuning.least_batch, tuning.most_batch);
        let (most_far, mut far_lengths) = (self.at_a_time(tuning.far_nodes), Vec::new());
        let mut batch: Vec<Node> = Vec::new();
        while batch.len() < size && far_lengths.len() < most_far {
            let Some(node) = self.frontier.pop() else { break };
            let bound = node.bound.max(self.floor);
            if bound > self.cutoff() {
                self.frontier.close(bound, false);
                continue;
            }
            if far_lengths.first().is_some_and(|&first| !are_alike(first, node.far.len())) {
                self.frontier.push(node);
                break;
            }
            if !node.far.is_empty() {
                far_lengths.push(node.far.len());
            }
            batch.push(node);
        }
        (!batch.is_empty()).then_some(batch)
    }

    fn limit(&self, monitor: &Monitor<'_>) -> Option<Status> {
        let (options, share, bytes) =
            (self.setting.options, self.setting.tuning.memory_for_open, self.frontier.bytes());
        let nodes = options.max_nodes.is_some_and(|most| self.processed >= most);
        let given = options.max_memory.is_some_and(|most| bytes >= most / share);
        let memory = given || !self.memory.allows(bytes as f64, share);
        let of_tree = nodes.then_some(Status::NodeLimit).or(memory.then_some(Status::MemoryLimit));
        let late = self.out_of_time.then_some(Status::TimeLimit);
        monitor.stop(0).or(of_tree).or(late)
    }

    /// max(absolute, relative · |P|) of (11.3), P of the last answer in the pool: room that the tolerances leave below the value to beat.
    pub(super) fn room(&self) -> f64 {
        let last = self.pool.entries().last().map_or(0.0, |e| e.0.abs());
        self.absolute.max(self.setting.options.gap * last)
    }

    /// A gap in a node below this is none: a part of the room.
    fn node_room(&self) -> f64 {
        0.1 * self.room()
    }

    /// P̂ − ½ max(absolute, relative · |P̂|) (MATH 11.3): a node whose bound exceeds this holds nothing better than the answers, within
    /// the tolerances.
    fn cutoff(&self) -> f64 {
        let limit = self.pool.limit();
        // Half of the tolerance: the other half is left for the rounding of the final evaluation. Where there is none, as at P = 0,
        // what is no better than the answers is closed all the same.
        if limit.is_finite() { (limit - 0.5 * self.room()).min(limit.next_down()) } else { f64::INFINITY }
    }

    /// max(D_root, min(max(bounds of open and closed nodes, floor), P of the answer)) (MATH 11.26, 13.3): what no subset outside the pool
    /// can beat, nor one in it by more than rounding.
    fn lower_bound(&self) -> f64 {
        self.frontier.bound().max(self.floor).min(self.pool.best()).max(self.root_bound())
    }

    /// P of the best answer less the bound.
    fn gap(&self) -> f64 {
        self.pool.best() - self.lower_bound()
    }

    /// D_root: the bound before branching.
    pub fn root_bound(&self) -> f64 {
        self.outcome.lower_bound
    }

    /// What the nodes look at.
    pub(super) fn context(&self) -> NodeContext<'_, 'p, 'a> {
        let scale = self.pool.entries().first().map_or(0.0, |e| e.0.abs());
        let (near, core, size, memory) = (&self.near, &self.core, self.setting.size, &self.memory);
        let (most_curved, tuning) = (self.most_curved(), &self.setting.tuning);
        NodeContext {
            bounds: self.bounds,
            near,
            core,
            size,
            most_curved,
            scale,
            memory,
            tuning,
            first: &self.setting.first,
            added: self.setting.added,
        }
    }

    /// The most members among which curvature is moved.
    fn most_curved(&self) -> usize {
        self.setting.tuning.most_curved(self.setting.problem.nrows(), self.processed)
    }

    /// Inner products of what joined the core.
    fn extend_core(&mut self) {
        if self.setting.problem.loss().is_quadratic() && self.has_room_for_core() {
            self.core.gram();
        }
    }

    /// Whether memory has room for the inner products of the core.
    fn has_room_for_core(&self) -> bool {
        let pairs = (self.core.active.len() as f64).powi(2);
        self.memory.allows(CORE_PAIR_BYTES * pairs, self.setting.tuning.memory_for_columns)
    }
}
