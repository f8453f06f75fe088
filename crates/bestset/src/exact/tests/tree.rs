//! Trees against enumeration: every better subset stays in an open node until it is found, and no node's bound exceeds the best of its
//! subsets.

use crate::control::Monitor;
use crate::design::Dense;
use crate::exact::node::products::Products;
use crate::exact::node::{Choice, Node};
use crate::exact::seed::Seed;
use crate::exact::setting::Setting;
use crate::exact::tests::attack::{Attack, TreeTally, forget_answer, holds};
use crate::exact::tests::{Small, numbers, planted, tuning};
use crate::exact::tree::Tree;
use crate::exact::tuning::Tuning;
use crate::relaxation::workspace::Workspace;
use crate::solver::{Outcome, incremental};
use crate::{Bounds, Loss, Method, Options, Penalty, Problem};
use std::sync::Arc;

/// What another node has brought near between a node's relaxation and its look far stays open in the node's children.
#[test]
fn features_that_came_near_meanwhile_stay_open() {
    for joins in [false, true] {
        let mut draw = numbers(5);
        let (n, p) = (12, 9);
        let x: Vec<f64> = (0..n * p).map(|_| draw()).collect();
        let y: Vec<f64> = (0..n).map(|i| x[i] + 0.8 * x[4 * n + i] + 0.5 * draw()).collect();
        let design = Dense::new(n, p, x).unwrap();
        let problem = Problem::new(&design, &y, Penalty::new(0.1, 0.0, 0.1)).unwrap();
        let (options, mut observer) = (Options { top: 100, method: Method::Exact, ..Options::default() }, ());
        let mut monitor = Monitor::new(&options, &mut observer);
        let mut tree = planted(&problem, &options, Tuning { most_near: 2, ..tuning() }, &mut monitor);
        let node = tree.frontier.pop().unwrap();
        let pending = tree.relax_near(node, &Products::default(), &monitor);
        let came = pending.node.far[0];
        tree.near.include(came).unwrap();
        tree.most_near = if joins { 4000 } else { 2 };
        tree.close_or_split_far(pending, &mut monitor).unwrap();
        assert!(tree.frontier.len() > 0);
        for node in tree.frontier.open() {
            let choices = node.choices(tree.near.active.features());
            assert_eq!(choices[tree.near.position(came).unwrap()], Choice::Free, "{joins}");
        }
    }
}

/// Nine features that stand in for one another: what is far from the relaxation's minimiser matters deeper down.
fn stand_ins(trial: u64) -> Small {
    let mut draw = numbers(trial);
    let (n, p) = (10 + trial as usize % 7, 9);
    let mut x: Vec<f64> = (0..n * p).map(|_| draw()).collect();
    if trial % 4 == 1 {
        x.copy_within(..n, n);
    }
    for i in (0..n * p).filter(|i| i / n % 3 > 0) {
        x[i] = 0.5 * x[i] + x[i % n + (i / n - i / n % 3) * n];
    }
    let loss = [Loss::Squared, Loss::Logistic, Loss::Squared, Loss::Huber { delta: 0.5 }][trial as usize % 4];
    let signal: Vec<f64> = (0..n).map(|i| x[i] + x[3 * n + i] - x[6 * n + i] + 0.7 * draw()).collect();
    let y = match loss {
        Loss::Logistic => (0..n).map(|i| if i == 0 || i > 1 && signal[i] > 0.0 { 1.0 } else { -1.0 }).collect(),
        _ => signal,
    };
    let bounds = if trial.is_multiple_of(3) { Bounds::All(-0.6, 0.9) } else { Bounds::Free };
    let lambda2 = [0.02, 0.3, 0.1][trial as usize % 3];
    let penalty = Penalty::new(0.05 + 0.3 * (trial % 5) as f64 / 5.0, 0.02, lambda2).with_bounds(bounds);
    let (design, w) = (Dense::new(n, p, x).unwrap(), vec![1.0; n]);
    Small { design, y, w, penalty, loss, intercept: trial.is_multiple_of(2) }
}

/// Branch and bound with so many columns in memory, from an answer of nothing said to be worth `known`: small problems have every
/// feature that matters in memory after the root, and the best answer; so only the tree can find it, far away.
///
/// Whatever is split, decided and brought near, the `best` subset of cost `least` stays in an open node until it is found.
fn grow(problem: &Problem<'_>, most_near: usize, known: Option<f64>, (least, best): (f64, usize)) -> Outcome {
    let (options, mut observer) = (Options::with_method(Method::Exact), ());
    let mut monitor = Monitor::new(&options, &mut observer);
    let mut root = incremental::root(&mut Workspace::new(problem), &options, &mut monitor).unwrap();
    forget_answer(problem, &mut root, 0.0, known.is_some());
    root.objective = known.unwrap_or_else(|| problem.value(&root.outcome.coefficients).unwrap());
    let tuning = Tuning { most_near, ..tuning() };
    let setting = Setting::new(problem, None, &options, tuning);
    let mut tree = Tree::plant(setting, Seed { root, multiplier: 0.0 }, &mut monitor).unwrap();
    while let Some(batch) = tree.next_batch() {
        tree.process(batch, &mut monitor).unwrap();
        let is_found = problem.value(&tree.pool.entries()[0].1).unwrap() <= least * (1.0 + 1e-5);
        let is_held = tree.frontier.open().any(|node| holds(&tree, node, best));
        assert!(is_found || is_held, "the best subset was lost");
    }
    tree.harvest(crate::Status::Converged).unwrap()
}

/// Nodes that share a pass and whose far features are others: each keeps its own, and none is closed for want of those that only another has.
#[test]
fn nodes_of_one_pass_have_far_features_of_their_own() {
    let mut shared = [0, 0];
    for trial in 0..80 {
        let small = stand_ins(trial);
        let (problem, costs) = (small.problem(), small.costs());
        let (options, mut observer) = (Options::with_method(Method::Exact), ());
        let mut monitor = Monitor::new(&options, &mut observer);
        let mut root = incremental::root(&mut Workspace::new(&problem), &options, &mut monitor).unwrap();
        forget_answer(&problem, &mut root, f64::INFINITY, true);
        let setting = Setting::new(&problem, None, &options, Tuning { most_near: 1, ..tuning() });
        let mut tree = Tree::plant(setting, Seed { root, multiplier: 0.0 }, &mut monitor).unwrap();
        let Some(whole) = tree.frontier.pop().filter(|node| node.far.len() > 4) else { continue };
        // The even ones, and the odd ones: of two nodes that are looked at together.
        let half = |odd: usize| {
            let far = whole.far.iter().copied().filter(|j| j % 2 == odd).collect();
            Node { id: odd + 1, far: Arc::new(far), ..whole.clone() }
        };
        let nodes = [half(0), half(1)];
        let held = |node: &Node, mask: usize| holds(&tree, node, mask);
        let is_open = |mask: &usize| nodes.iter().any(|node| held(node, *mask));
        let best = (0..costs.len()).filter(is_open).min_by(|&a, &b| costs[a].total_cmp(&costs[b])).unwrap();
        shared[usize::from(!held(&nodes[0], best))] += 1;
        let foreign: Vec<usize> = (0..costs.len()).filter(|mask| !is_open(mask)).collect();
        let least = costs[best];
        let nothing = tree.pool.entries()[0].1.clone();
        tree.pool.offer(least * (1.0 + 1e-4), nothing);
        nodes.into_iter().for_each(|node| tree.frontier.push(node));
        let batch = tree.next_batch().unwrap();
        assert_eq!(batch.len(), 2, "{trial}: both are looked at together");
        tree.process(batch, &mut monitor).unwrap();
        // What neither had stays out of all that they are split into.
        let reopened = |node: &Node| foreign.iter().any(|&mask| holds(&tree, node, mask));
        assert!(!tree.frontier.open().any(reopened), "{trial}");
        while let Some(batch) = tree.next_batch() {
            tree.process(batch, &mut monitor).unwrap();
        }
        let found = problem.value(&tree.pool.entries()[0].1).unwrap();
        assert!(found <= least * (1.0 + 1e-6) + 1e-9, "{trial}: {found} missed {least}");
    }
    assert!(shared.iter().all(|count| *count > 15), "{shared:?}");
}

#[test]
fn trees_that_start_with_nothing_end_with_the_enumerated_optimum() {
    let (mut split, mut proved) = (0, 0);
    for trial in 0..160 {
        let most_near = if trial < 80 { 3 } else { 4000 };
        let small = stand_ins(trial);
        let (problem, costs) = (small.problem(), small.costs());
        let best = (0..costs.len()).min_by(|&a, &b| costs[a].total_cmp(&costs[b])).unwrap();
        let least = costs[best];
        let outcome = grow(&problem, most_near, None, (least, best));
        let (bound, objective) = (outcome.lower_bound, problem.value(&outcome.coefficients).unwrap());
        let closed = objective - bound <= 1e-9f64.max(1e-6 * objective);
        assert!(bound <= least + 1e-9, "{trial}: {bound} above {least}");
        assert!(objective <= least * (1.0 + 1e-6) + 1e-9 || !closed, "{trial}: {objective} {least}");
        // A value just above the optimum closes every node that does not look far for it.
        let outcome = grow(&problem, most_near, Some(least * (1.0 + 1e-4)), (least, best));
        let objective = problem.value(&outcome.coefficients).unwrap();
        assert!(objective <= least * (1.0 + 1e-6) + 1e-9, "{trial}: {objective} missed {least}");
        split += usize::from(outcome.iterations > 1);
        proved += usize::from(closed);
    }
    assert!(split > 60 && proved > 150, "{split} {proved}");
}

mod long {
    use super::*;

    #[test]
    fn no_node_loses_a_better_subset() {
        let mut seen = TreeTally::default();
        for seed in 0..2000 {
            let attack = Attack::new(seed);
            attack.case.with_problem(|problem| {
                if !crate::leaps::is_needed(problem) {
                    attack.run(problem, &mut seen);
                }
            });
        }
        let TreeTally { steps, moved, far, .. } = seen;
        assert!(steps > 1000 && moved > 500 && far > 200, "{steps} steps, {moved} moved, {far} far");
    }
}
