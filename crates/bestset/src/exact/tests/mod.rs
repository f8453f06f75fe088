//! Tests of the tree's private parts, each against enumeration or the definition.
//!
//! | file | what |
//! |---|---|
//! | here | small problems, what each of their subsets costs, and nodes of random decisions in them |
//! | `attack` | a hostile problem and how its tree is grown, every node of which is looked at |
//! | `tree` | trees against the subsets that their nodes hold |
//! | `curvature` | moved curvature, the bounds for one member alone, the budget |
//! | `pools` | trees whose nodes have pooled members, on problems that are hard for them |
//! | `probe` | probes |
//! | `region` | the tree for subsets that add many features |
//! | `listing` | a design whose columns stay where X is, for `region` and `apart` |
//! | `apart` | features that no better subset has together |
//! | `slices` | trees in slices, which come back, or do not |
//! | `grown` | trees that grow from a root that is known |
//! | `products` | inner products that nodes hand down |
//! | `far` | what a pass leaves of far features |
//! | `rough` | correlations in single precision, and carried from another dual point |

mod apart;
mod attack;
mod curvature;
mod far;
mod grown;
mod listing;
mod pools;
mod probe;
mod products;
mod region;
mod rough;
mod slices;
mod tree;

use crate::common::{Model, subset_costs};
use crate::control::{Limits, Monitor};
use crate::design::{Dense, Design};
use crate::exact::curvature::move_curvature;
use crate::exact::node::branch::branch;
use crate::exact::node::relax::{Goal, relax};
use crate::exact::node::start::start;
use crate::exact::node::{Choice, NodeContext, NodeRelaxation};
use crate::exact::seed::Seed;
use crate::exact::setting::Setting;
use crate::exact::tree::Tree;
use crate::exact::tuning::Tuning;
use crate::relaxation::workspace::Workspace;
use crate::solver::incremental;
use crate::{Bounds, Loss, Method, Options, Penalty, Problem};

/// Small problems have few members: they are pooled all the same.
fn tuning() -> Tuning {
    Tuning { least_pooled: 0, ..Tuning::default() }
}

/// As tight as rounding lets one.
const TIGHT: Goal = Goal { best: f64::INFINITY, cutoff: f64::MAX, room: 1e-10 };

/// A small generator: tests of this crate's inside need no more.
pub(super) fn numbers(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    move || {
        let mut sum = 0.0;
        for _ in 0..4 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            sum += (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5;
        }
        1.7 * sum
    }
}

/// The choices of a small problem.
struct Small {
    design: Dense<'static>,
    y: Vec<f64>,
    w: Vec<f64>,
    penalty: Penalty,
    loss: Loss,
    intercept: bool,
}

impl Small {
    fn problem(&self) -> Problem<'_> {
        let problem = Problem::new(&self.design, &self.y, self.penalty.clone()).unwrap().with_loss(self.loss).unwrap();
        problem.with_weights(&self.w).unwrap().with_intercept(self.intercept)
    }

    /// P of the best fit on every subset, by the reference.
    fn costs(&self) -> Vec<f64> {
        let (n, p) = (self.design.nrows(), self.design.ncols());
        let x: Vec<f64> = (0..p).flat_map(|j| self.design.col(j).to_vec()).collect();
        let (y, loss, intercept) = (&self.y, self.loss, self.intercept);
        let model = Model { n, p, x: &x, y, weights: self.w.clone(), offset: vec![0.0; n], loss, intercept };
        subset_costs(&model, &self.penalty)
    }

    /// Shows the root of a tree in which nothing is excluded, relaxed.
    fn on_root(&self, visit: impl FnOnce(&NodeContext<'_, '_, '_>, NodeRelaxation, &Limits)) {
        let (problem, mut observer) = (self.problem(), ());
        let options = Options { top: 1000, method: Method::Exact, ..Options::default() };
        let mut monitor = Monitor::new(&options, &mut observer);
        let mut tree = planted(&problem, &options, tuning(), &mut monitor);
        let (node, context) = (tree.frontier.pop().unwrap(), tree.context());
        let root = relax(&context, start(&context, &node), &TIGHT, monitor.limits());
        visit(&context, root, monitor.limits());
    }
}

/// The tree of a problem without a limited size.
fn planted<'p, 'a>(
    problem: &'p Problem<'a>,
    options: &'p Options,
    tuning: Tuning,
    monitor: &mut Monitor<'_>,
) -> Tree<'p, 'a> {
    let root = incremental::root(&mut Workspace::new(problem), options, monitor).unwrap();
    Tree::plant(Setting::new(problem, None, options, tuning), Seed { root, multiplier: 0.0 }, monitor).unwrap()
}

/// The node with a member put in or out.
fn decided(
    context: &NodeContext<'_, '_, '_>,
    mut node: NodeRelaxation,
    (a, side): (usize, Choice),
    limits: &Limits,
) -> NodeRelaxation {
    node.members.choices[a] = side;
    node.members.drop_out();
    relax(context, node, &TIGHT, limits)
}

/// Whether the subset of features is one of the node's.
fn allows(context: &NodeContext<'_, '_, '_>, node: &NodeRelaxation, mask: usize) -> bool {
    let member = |j: usize| (0..node.members.len()).find(|&a| context.feature(node, a) == j);
    (0..context.problem().ncols()).all(|j| match member(j).map(|a| node.members.choices[a]) {
        None => mask >> j & 1 == 0,
        Some(Choice::In) => mask >> j & 1 == 1,
        _ => true,
    })
}

/// The subsets of a node with what they cost, and how the node came about.
struct NodeSubsets {
    costs: Vec<(usize, f64)>,
    label: String,
    /// Whether curvature was moved in this node, and its bound before.
    is_moved: bool,
    plain: f64,
}

impl NodeSubsets {
    fn least(&self) -> f64 {
        self.costs.iter().map(|c| c.1).fold(f64::INFINITY, f64::min)
    }

    /// The least of those with the feature, or of those without it.
    fn least_on(&self, with: bool, j: usize) -> f64 {
        let sided = self.costs.iter().filter(|c| (c.0 >> j & 1 == 1) == with);
        sided.map(|c| c.1).fold(f64::INFINITY, f64::min)
    }
}

/// Problems of seven features, of any scale and with near copies.
fn of_any_scale(trial: u64, draw: &mut impl FnMut() -> f64) -> Small {
    let (n, p) = (4 + trial as usize % 15, 7);
    let scale = |j: usize| if trial.is_multiple_of(3) { 10f64.powi(j as i32 % 5 - 2) } else { 1.0 };
    let apart = [1.0, 0.3, 0.05][trial as usize % 3];
    let common: Vec<f64> = (0..n).map(|_| draw()).collect();
    let mut x: Vec<f64> = (0..n * p).map(|i| scale(i / n) * (common[i % n] + apart * draw())).collect();
    if trial % 5 == 1 {
        x.copy_within(..n, n);
    }
    let y = (0..n).map(|i| 1.0 + (x[i] - x[3 * n + i] / scale(3) + x[5 * n + i]) + draw()).collect();
    let w = (0..n).map(|i| if trial.is_multiple_of(2) { 1.0 } else { (i % 4) as f64 }).collect();
    let bounds = if trial % 4 == 3 { Bounds::All(-0.7, 1.1) } else { Bounds::Free };
    let penalty = Penalty::new(0.3, 0.1 * (trial % 2) as f64, 0.2).with_bounds(bounds);
    let penalty = penalty.with_price((0..p).map(|j| 0.5 + (j % 3) as f64).collect());
    let penalty = penalty.with_shrinkage((0..p).map(|j| scale(j).powi(2)).collect());
    Small { design: Dense::new(n, p, x).unwrap(), y, w, penalty, loss: Loss::Squared, intercept: trial % 4 < 2 }
}

/// Nodes of random decisions, one more at each step down, curvature moved in the node or above it, with what every subset costs.
fn for_each_node(trials: u64, mut visit: impl FnMut(&NodeContext<'_, '_, '_>, &NodeRelaxation, &NodeSubsets)) {
    for trial in 0..trials {
        let mut draw = numbers(trial);
        let small = of_any_scale(trial, &mut draw);
        let costs = small.costs();
        small.on_root(|context, mut node, limits| {
            assert_eq!(node.members.len(), 7, "with room in the pool nothing is excluded");
            for depth in 0..5 {
                let plain = node.dual;
                let is_moved = depth % 2 == 0 && move_curvature(context, &mut node, None, limits);
                if is_moved {
                    node = relax(context, node, &TIGHT, limits);
                }
                let own = (0..costs.len()).filter(|&mask| allows(context, &node, mask));
                let costs = own.map(|mask| (mask, costs[mask])).collect();
                visit(context, &node, &NodeSubsets { costs, label: format!("{trial}, {depth}"), is_moved, plain });
                let side = if draw() > 0.0 { Choice::In } else { Choice::Out };
                let Some(a) = branch(context, &node) else { break };
                node = decided(context, node, (a, side), limits);
            }
        });
    }
}
