//! What a search knows between two batches of nodes, in a form that a file holds: a search that goes on from it takes the same
//! steps, to the last bit, as one that was never stopped.

use crate::control::Monitor;
use crate::error::Result;
use crate::exact::node::{FarCosts, Link, MovedCurvature, Node};
use crate::exact::setting::Setting;
use crate::exact::tree::Tree;
use crate::file::float;
use crate::problem::Problem;
use crate::relaxation::workspace::Workspace;
use crate::snapshot::{SavedMonitor, misfit};
use crate::solution::{Coefficients, Local, Screened, Status};
use crate::solver::Outcome;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::sync::Arc;

/// [`Tree`], its shared parts listed once.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SavedTree {
    monitor: SavedMonitor,
    near: Vec<usize>,
    intercept: f64,
    core: Vec<usize>,
    /// Lengths of the matrix of inner products: it is made again in the same blocks, since others round differently.
    grown: Vec<usize>,
    links: Vec<SavedLink>,
    fars: Vec<Vec<usize>>,
    moves: Vec<MovedCurvature>,
    #[serde(default)]
    costs: Vec<SavedCosts>,
    open: Vec<SavedNode>,
    pool: Vec<(f64, Coefficients)>,
    #[serde(with = "float")]
    closed: f64,
    #[serde(with = "float")]
    unseen: f64,
    processed: usize,
    made: usize,
    searched: bool,
    #[serde(with = "float")]
    floor: f64,
    looked_among: Option<usize>,
    root: SavedRoot,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedLink {
    parent: Option<usize>,
    inside: Vec<u32>,
    outside: Vec<u32>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedNode {
    #[serde(with = "float")]
    bound: f64,
    id: usize,
    link: Option<usize>,
    beta: Vec<(u32, f64)>,
    far: usize,
    known: usize,
    multiplier: f64,
    moved: Option<usize>,
    #[serde(default)]
    costs: Option<usize>,
}

/// [`FarCosts`].
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedCosts {
    features: Vec<usize>,
    parts: Vec<u8>,
}

/// [`Outcome`] of the root.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedRoot {
    coefficients: Coefficients,
    relaxation: Option<f64>,
    #[serde(with = "float")]
    lower_bound: f64,
    dual: Vec<f64>,
    ended: Status,
    screened: Screened,
    local: Local,
}

/// Numbers shared values in the order in which they are met.
struct Shared<T> {
    numbers: HashMap<*const T, usize>,
    values: Vec<Arc<T>>,
}

impl<T> Shared<T> {
    fn new() -> Self {
        Self { numbers: HashMap::new(), values: Vec::new() }
    }

    fn number(&mut self, value: &Arc<T>) -> usize {
        let values = &mut self.values;
        *self.numbers.entry(Arc::as_ptr(value)).or_insert_with(|| {
            values.push(value.clone());
            values.len() - 1
        })
    }
}

/// Numbers a link after its ancestors, so that they can be made again in order.
fn number_link(links: &mut Shared<Link>, link: &Arc<Link>) -> usize {
    let mut unknown = Vec::new();
    let mut next = Some(link);
    while let Some(link) = next.filter(|l| !links.numbers.contains_key(&Arc::as_ptr(l))) {
        unknown.push(link);
        next = link.parent.as_ref();
    }
    unknown.into_iter().rev().for_each(|link| {
        links.number(link);
    });
    links.number(link)
}

/// Numbers the open nodes share: decisions, far features and curvature, each listed once.
struct SharedParts {
    links: Shared<Link>,
    fars: Shared<Vec<usize>>,
    moves: Shared<MovedCurvature>,
    costs: Shared<FarCosts>,
}

impl SharedParts {
    fn save(&mut self, node: &Node) -> SavedNode {
        SavedNode {
            bound: node.bound,
            id: node.id,
            link: node.link.as_ref().map(|link| number_link(&mut self.links, link)),
            beta: node.beta.clone(),
            far: self.fars.number(&node.far),
            known: node.known,
            multiplier: node.multiplier,
            moved: node.moved.as_ref().map(|moved| self.moves.number(moved)),
            costs: node.costs.as_ref().map(|costs| self.costs.number(costs)),
        }
    }

    fn saved_links(&self) -> Vec<SavedLink> {
        let number = |link: &Arc<Link>| self.links.numbers[&Arc::as_ptr(link)];
        let one = |link: &Arc<Link>| SavedLink {
            parent: link.parent.as_ref().map(number),
            inside: link.inside.clone(),
            outside: link.outside.clone(),
        };
        self.links.values.iter().map(one).collect()
    }
}

impl<'p, 'a> Tree<'p, 'a> {
    /// Everything that the next batches depend on.
    pub(in crate::exact) fn save(&self, monitor: &Monitor<'_>) -> SavedTree {
        let (links, fars, moves, costs) = (Shared::new(), Shared::new(), Shared::new(), Shared::new());
        let mut parts = SharedParts { links, fars, moves, costs };
        let mut nodes: Vec<&Node> = self.frontier.open().collect();
        nodes.sort_unstable_by_key(|node| node.id);
        let open = nodes.into_iter().map(|node| parts.save(node)).collect();
        SavedTree {
            monitor: SavedMonitor::new(monitor),
            near: self.near.active.features().to_vec(),
            intercept: self.near.intercept,
            core: self.core.active.features().to_vec(),
            grown: self.core.kept_gram().grown().to_vec(),
            links: parts.saved_links(),
            fars: parts.fars.values.iter().map(|far| far.to_vec()).collect(),
            moves: parts.moves.values.iter().map(|moved| (**moved).clone()).collect(),
            costs: parts.costs.values.iter().map(|costs| SavedCosts::from(&**costs)).collect(),
            open,
            pool: self.pool.entries().to_vec(),
            closed: self.frontier.closed,
            unseen: self.frontier.unseen,
            processed: self.processed,
            made: self.made,
            searched: self.searched,
            floor: self.floor,
            looked_among: self.looked_among,
            root: self.outcome.clone().into(),
        }
    }

    /// The tree that was saved, for the same problem and options.
    pub fn restore(setting: Setting<'p, 'a>, saved: SavedTree, monitor: &mut Monitor<'_>) -> Result<Self> {
        saved.check(setting.problem)?;
        let SavedTree { monitor: counted, near, intercept, core, grown, links, fars, moves, costs, open, .. } = saved;
        counted.restore(monitor);
        let mut tree = Self::bare(setting, saved.root.into())?;
        tree.near.include_all(&near)?;
        tree.near.intercept = intercept;
        fill_core(&mut tree.core, &core, &grown)?;
        saved.pool.into_iter().for_each(|(objective, coefficients)| {
            monitor.so_far.offer(objective, || coefficients.clone());
            tree.pool.offer(objective, coefficients);
        });
        monitor.so_far.offer_bound(tree.root_bound(), &tree.outcome.dual);
        open_nodes((links, fars, moves, costs), open).into_iter().for_each(|node| tree.frontier.push(node));
        (tree.frontier.closed, tree.frontier.unseen) = (saved.closed, saved.unseen);
        (tree.processed, tree.made, tree.searched) = (saved.processed, saved.made, saved.searched);
        (tree.floor, tree.looked_among) = (saved.floor, saved.looked_among);
        Ok(tree)
    }
}

/// The open nodes, with what they share made once.
fn open_nodes(
    (links, fars, moves, costs): (Vec<SavedLink>, Vec<Vec<usize>>, Vec<MovedCurvature>, Vec<SavedCosts>),
    open: Vec<SavedNode>,
) -> Vec<Node> {
    let mut made: Vec<Arc<Link>> = Vec::with_capacity(links.len());
    for SavedLink { parent, inside, outside } in links {
        made.push(Arc::new(Link { parent: parent.map(|k| made[k].clone()), inside, outside }));
    }
    let fars: Vec<Arc<Vec<usize>>> = fars.into_iter().map(Arc::new).collect();
    let moves: Vec<Arc<MovedCurvature>> = moves.into_iter().map(Arc::new).collect();
    let costs: Vec<Arc<FarCosts>> = costs.into_iter().map(|costs| Arc::new(costs.into())).collect();
    let one = |node: SavedNode| Node {
        bound: node.bound,
        id: node.id,
        link: node.link.map(|k| made[k].clone()),
        beta: node.beta,
        far: fars[node.far].clone(),
        known: node.known,
        multiplier: node.multiplier,
        moved: node.moved.map(|k| moves[k].clone()),
        costs: node.costs.map(|k| costs[k].clone()),
    };
    open.into_iter().map(one).collect()
}

/// The core's features and, in the same blocks as before, their inner products.
fn fill_core(core: &mut Workspace<'_, '_>, features: &[usize], grown: &[usize]) -> Result<()> {
    for &length in grown {
        core.include_all(&features[core.active.len().min(length)..length])?;
        core.gram();
    }
    core.include_all(&features[core.active.len()..])
}

impl From<&FarCosts> for SavedCosts {
    fn from(costs: &FarCosts) -> Self {
        Self { features: costs.features.to_vec(), parts: costs.parts.clone() }
    }
}

impl From<SavedCosts> for FarCosts {
    fn from(SavedCosts { features, parts }: SavedCosts) -> Self {
        Self { features: Arc::new(features), parts }
    }
}

impl From<Outcome> for SavedRoot {
    fn from(outcome: Outcome) -> Self {
        let Outcome { coefficients, relaxation, lower_bound, dual, ended, screened, local, .. } = outcome;
        Self { coefficients, relaxation, lower_bound, dual, ended, screened, local }
    }
}

impl From<SavedRoot> for Outcome {
    fn from(root: SavedRoot) -> Self {
        let SavedRoot { coefficients, relaxation, lower_bound, dual, ended, screened, local } = root;
        let (iterations, ranked, dependent) = (0, Vec::new(), Vec::new());
        Self { coefficients, relaxation, lower_bound, dual, ended, iterations, screened, local, ranked, dependent }
    }
}

/// What a slice of a tree has found out.
pub(super) struct ClosedSoFar<'s> {
    pub closed: f64,
    pub unseen: f64,
    pub processed: usize,
    pub pool: &'s [(f64, Coefficients)],
}

/// A slice: some of the open nodes of a tree.
impl SavedTree {
    /// How many nodes are open.
    pub(super) fn len(&self) -> usize {
        self.open.len()
    }

    /// The least bound of the open nodes, +∞ without one.
    pub(super) fn least(&self) -> f64 {
        self.open.iter().map(|node| node.bound).fold(f64::INFINITY, f64::min)
    }

    pub(super) fn known(&self) -> ClosedSoFar<'_> {
        ClosedSoFar { closed: self.closed, unseen: self.unseen, processed: self.processed, pool: &self.pool }
    }

    /// Without the trace, which the tree keeps that slices come back to.
    pub(super) fn untraced(mut self) -> Self {
        self.monitor = SavedMonitor::empty();
        self
    }

    /// The open nodes alone: what was closed is known elsewhere. Coherence is looked at before a tree is divided, or not at all.
    pub(super) fn opened(mut self) -> Self {
        (self.closed, self.unseen) = (f64::INFINITY, f64::INFINITY);
        (self.processed, self.looked_among) = (0, Some(0));
        self
    }

    /// Where answers were looked for outside the active set before a tree is divided, no slice does so again.
    pub(super) fn searched(self, searched: bool) -> Self {
        Self { searched, ..self }
    }

    /// An answer that was found in another slice.
    pub(super) fn offer(&mut self, objective: f64, answer: &Coefficients) {
        if self.pool.first().is_none_or(|best| objective < best.0) {
            self.pool = vec![(objective, answer.clone())];
        }
    }

    /// Two slices, their nodes dealt out in the order of their bounds.
    pub(super) fn halves(&self) -> [Self; 2] {
        let mut order: Vec<usize> = (0..self.open.len()).collect();
        order.sort_unstable_by(|&a, &b| {
            let (a, b) = (&self.open[a], &self.open[b]);
            a.bound.total_cmp(&b.bound).then(a.id.cmp(&b.id))
        });
        [0, 1].map(|first| self.only(order.iter().skip(first).step_by(2).copied()))
    }

    /// Some of the open nodes, with what they share.
    fn only(&self, places: impl Iterator<Item = usize>) -> Self {
        let mut open: Vec<SavedNode> = places.map(|k| self.open[k].clone()).collect();
        open.sort_unstable_by_key(|node| node.id);
        let mut is_used = vec![false; self.links.len()];
        for node in &open {
            let mut next = node.link;
            while let Some(k) = next.filter(|&k| !is_used[k]) {
                is_used[k] = true;
                next = self.links[k].parent;
            }
        }
        let mut count = 0;
        let number = |used: &bool| {
            count += usize::from(*used);
            count - usize::from(*used)
        };
        let numbers: Vec<usize> = is_used.iter().map(number).collect();
        let renamed = |link: &SavedLink| SavedLink { parent: link.parent.map(|k| numbers[k]), ..link.clone() };
        let links = self.links.iter().zip(&is_used).filter(|l| *l.1).map(|l| renamed(l.0)).collect();
        open.iter_mut().for_each(|node| node.link = node.link.map(|k| numbers[k]));
        Self { open, links, ..self.clone() }
    }
}

impl SavedTree {
    /// Indices out of range would be a panic later: the file is refused instead.
    fn check(&self, problem: &Problem<'_>) -> Result<()> {
        let (p, near) = (problem.ncols(), self.near.len());
        let features = self.near.iter().chain(&self.core).chain(self.fars.iter().flatten());
        let positions = self.links.iter().flat_map(|l| l.inside.iter().chain(&l.outside)).copied();
        let positions = positions.chain(self.moves.iter().flat_map(|m| m.by_position.iter().map(|d| d.position)));
        let mut positions = positions.chain(self.open.iter().flat_map(|n| n.beta.iter().map(|b| b.0)));
        let is_node = |n: &SavedNode| {
            let links = n.link.is_none_or(|k| k < self.links.len());
            let lists = n.far < self.fars.len() && n.costs.is_none_or(|k| k < self.costs.len());
            links && lists && n.moved.is_none_or(|k| k < self.moves.len()) && n.known <= near
        };
        let fits = features.copied().all(|j| j < p)
            && self.grown.iter().all(|&length| length <= self.core.len())
            && positions.all(|k| (k as usize) < near)
            && self.links.iter().enumerate().all(|(k, l)| l.parent.is_none_or(|parent| parent < k))
            && self.open.iter().all(is_node)
            && self.costs.iter().all(|costs| costs.parts.len() == costs.features.len())
            && self.pool.iter().all(|(_, c)| c.support.iter().all(|&j| j < p))
            && self.root.dual.len() == problem.nrows();
        if fits { Ok(()) } else { Err(misfit()) }
    }
}
