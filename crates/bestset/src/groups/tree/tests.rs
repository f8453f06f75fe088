//! What a look at a node promises, held against all choices of groups.

use super::dual::DualNodes;
use super::least_squares::LeastSquaresNodes;
use super::{Bounding, GroupNode, Look};
use crate::common::{Case, ChaCha8Rng, RngExt, brackets, normal, power, rng};
use crate::control::{Limits, Monitor, Options};
use crate::groups::search::Fits;
use crate::groups::{Decision, Grouped, Groups};
use crate::penalty::Penalty;

/// Least squares with a ridge, groups of one to three features.
fn drawn(rng: &mut ChaCha8Rng) -> (Case, Groups) {
    let (n, p) = (rng.random_range(6..=30), rng.random_range(4..=10));
    let x: Vec<f64> = (0..n * p).map(|_| normal(rng)).collect();
    let y: Vec<f64> = (0..n).map(|i| 2.0 * x[i] - x[2 * n + i] + 0.7 * normal(rng)).collect();
    let (lambda0, lambda2) = (n as f64 * power(rng, -2.0, 0.0), n as f64 * power(rng, -2.0, 0.0));
    let labels: Vec<usize> = (0..p).map(|j| if j < 4 { j / 2 } else { 2 + (j - 4) / 3 }).collect();
    (Case::dense(n, p, x, y, Penalty::new(lambda0, 0.0, lambda2)), Groups::new(&labels))
}

/// Every choice of groups of a node with its P, by enumeration.
fn costs(grouped: &Grouped<'_, '_>, fits: &[(f64, f64)], size: Option<usize>) -> Vec<(Vec<bool>, f64)> {
    let count = grouped.groups.len();
    let all = (0..1usize << count).map(|mask| (0..count).map(|g| mask >> g & 1 == 1).collect::<Vec<bool>>());
    let within = |choice: &[bool]| {
        let chosen: usize = (0..count).filter(|&g| choice[g]).map(|g| grouped.size(g)).sum();
        size.is_none_or(|most| chosen <= most)
    };
    let cost =
        |choice: &[bool], fit: f64| fit + (0..count).filter(|&g| choice[g]).map(|g| grouped.price(g)).sum::<f64>();
    all.zip(fits).filter(|(choice, _)| within(choice)).map(|(c, fit)| (c.clone(), cost(&c, fit.1))).collect()
}

fn is_of(choice: &[bool], choices: &[Decision]) -> bool {
    let agrees = |(is_in, decision): (&bool, &Decision)| match decision {
        Decision::In => *is_in,
        Decision::Out => !is_in,
        Decision::Open => true,
    };
    choice.iter().zip(choices).all(agrees)
}

/// Every choice of the node is in a child, whose bound it does not undercut, or the leaf, or costs at least `cut`.
fn check(node: &GroupNode, look: &Look, all: &[(Vec<bool>, f64)], context: &str) {
    for (choice, cost) in all.iter().filter(|(choice, _)| is_of(choice, &node.choices)) {
        let room = 1e-9 * cost.abs();
        let mut children = look.children.iter().filter(|(_, choices)| is_of(choice, choices)).peekable();
        let is_leaf = look.leaf.as_ref().is_some_and(|leaf| (leaf.objective - cost).abs() <= 1e-7 * cost.abs());
        if children.peek().is_none() {
            assert!(is_leaf || *cost >= look.cut - room, "{context}: {choice:?} costs {cost}, cut off at {}", look.cut);
        }
        for (bound, _) in children {
            assert!(*bound <= cost + room, "{context}: {choice:?} costs {cost}, its node says {bound}");
        }
    }
}

/// Looks at the root and then at what it is divided into.
fn descend(nodes: &mut dyn Bounding, all: &[(Vec<bool>, f64)], cutoff: f64, groups: usize, limits: &Limits) -> usize {
    let root = GroupNode { bound: 0.0, id: 0, choices: vec![Decision::Open; groups], start: None };
    let (mut open, mut looked) = (vec![root], 0);
    while let Some(node) = open.pop() {
        let look = nodes.look(&node, cutoff, limits).unwrap();
        check(&node, &look, all, &format!("cutoff {cutoff}, {:?}", node.choices));
        looked += 1;
        open.extend(look.children.iter().map(|(bound, choices)| GroupNode {
            bound: *bound,
            id: looked,
            choices: choices.clone(),
            start: look.start.clone(),
        }));
    }
    looked
}

#[test]
fn a_look_covers_its_node_and_no_bound_is_too_high() {
    let (mut by_fits, mut by_duals) = (0, 0);
    for seed in 0..120 {
        let mut rng = rng(63_000 + seed);
        let (case, groups) = drawn(&mut rng);
        let fits = brackets(&case, &groups.members);
        let size = rng.random_bool(0.4).then(|| rng.random_range(2..=case.p));
        let (options, mut silent) = (Options::default(), ());
        let limits = Monitor::new(&options, &mut silent).limits().clone();
        case.with_problem(|problem| {
            let grouped = Grouped { problem, groups: &groups };
            let all = costs(&grouped, &fits, size);
            let least = all.iter().map(|c| c.1).fold(f64::INFINITY, f64::min);
            for above in [0.0, 0.02, 0.3] {
                let cutoff = least * (1.0 + above);
                let mut nodes = LeastSquaresNodes::new(&grouped, size).unwrap();
                by_fits += descend(&mut nodes, &all, cutoff, groups.len(), &limits);
                let fits = Fits::new(&grouped, &options, &limits);
                let mut nodes = DualNodes { grouped: &grouped, fits, size, hopeless: 0.0 };
                by_duals += descend(&mut nodes, &all, cutoff, groups.len(), &limits);
            }
        });
    }
    assert!(by_fits > 500 && by_duals > 500, "{by_fits} and {by_duals} nodes");
}
