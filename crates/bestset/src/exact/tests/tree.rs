//! Every node of the tree against enumeration: from an answer of nothing said to be worth a little more than the optimum, every
//! better subset stays in an open node until it is found, and no node's bound exceeds the best of its subsets.
//!
//! A wrong decision hides where the answer was known before; here it was not.

use crate::common::{Case, ChaCha8Rng, RngExt, UNIFORM, hostile, pick, power, price, rng, subset_costs};
use crate::control::Monitor;
use crate::design::Dense;
use crate::exact::node::products::Products;
use crate::exact::node::{Choice, Node};
use crate::exact::seed::Seed;
use crate::exact::setting::Setting;
use crate::exact::tests::{Small, numbers, planted, tuning};
use crate::exact::tree::Tree;
use crate::exact::tree::region::{Cheap, adding, part_seed};
use crate::exact::tuning::Tuning;
use crate::relaxation::workspace::Workspace;
use crate::solver::incremental::Root;
use crate::solver::{Outcome, incremental};
use crate::{Bounds, Coefficients, Loss, Method, Options, Penalty, Problem};
use std::sync::Arc;

/// Whether the subset is one of the node's.
pub(super) fn holds(tree: &Tree<'_, '_>, node: &Node, mask: usize) -> bool {
    let choices = node.choices(tree.near.active.features());
    (0..tree.setting.problem.ncols()).all(|j| match tree.near.position(j).map(|k| choices[k]) {
        Some(Choice::Free) => true,
        Some(Choice::In) => mask >> j & 1 == 1,
        Some(Choice::Out) => mask >> j & 1 == 0,
        None => mask >> j & 1 == 0 || node.far.binary_search(&j).is_ok(),
    })
}

/// An answer of nothing said to be worth `objective`: only the tree can find a better one. A `bare` root has no minimiser either,
/// so that nothing is near at first.
fn forget_answer(problem: &Problem<'_>, root: &mut Root, objective: f64, bare: bool) {
    let intercept = problem.best_intercept(&problem.null_margins(), 0.0);
    root.outcome.coefficients = Coefficients { intercept, ..Default::default() };
    root.objective = objective;
    if bare {
        root.minimiser = root.outcome.coefficients.clone();
    }
}

/// P of the best fit on every subset.
pub(super) fn costs(case: &Case) -> Vec<f64> {
    subset_costs(&case.model(), &case.penalty)
}

/// A hostile problem of one of six kinds: as they come; with hardly a ridge; targets far from zero; boxes in place of the ridge;
/// the same with fewer samples than features; these with a ridge.
pub(super) fn draw(rng: &mut ChaCha8Rng, kind: u64, losses: &[Loss]) -> Case {
    let mut case = hostile(rng, if kind < 3 { losses } else { &[Loss::Squared] }, if kind == 5 { 9 } else { 7 });
    if kind > 3 {
        let n = rng.random_range(1..=case.p.div_ceil(2)).min(case.n);
        let x: Vec<f64> = (0..case.p).flat_map(|j| case.x[j * case.n..j * case.n + n].to_vec()).collect();
        (case.base, case.base_rows, case.n, case.x) = (x.clone(), n, n, x);
        case.y.truncate(n);
        case.weights.iter_mut().for_each(|w| w.truncate(n));
        case.offset.iter_mut().for_each(|o| o.truncate(n));
    }
    match kind {
        1 if case.loss == Loss::Squared => case.penalty.lambda2 *= power(rng, -10.0, 0.0),
        2 if !case.loss.is_classification() => {
            let shift = power(rng, 0.0, 5.0);
            case.y.iter_mut().for_each(|y| *y += shift);
            case.intercept = true;
        }
        3 | 4 => {
            let reach = |j: usize, rng: &mut ChaCha8Rng| {
                power(rng, -0.5, 0.7) * (case.n as f64).sqrt() / case.norm(j).max(1e-9)
            };
            let reach: Vec<f64> = (0..case.p).map(|j| reach(j, rng)).collect();
            case.penalty.lambda2 = 0.0;
            case.penalty.bounds = Bounds::Each(reach.iter().map(|m| -m).collect(), reach);
        }
        _ => {}
    }
    case
}

/// A hostile problem, and how its tree is grown.
pub(super) struct Attack {
    pub seed: u64,
    pub case: Case,
    /// P of every subset.
    pub cost: Vec<f64>,
    /// Those of at most k features.
    allowed: Vec<usize>,
    k: Option<usize>,
    /// An answer, how many features outside of it those subsets have at least, and the ψ of the root (MATH 13.11).
    added: Option<(Vec<usize>, usize, f64)>,
    most_near: usize,
    pub top: usize,
    gap: f64,
    /// What the answer of nothing is said to be worth, above the least P and relative to it.
    above: f64,
    /// P above which no subset is of interest.
    pub ceiling: f64,
    bare: bool,
}

/// How many steps the trees took, and nodes in them with curvature moved and with far features.
#[derive(Default)]
pub(super) struct TreeTally {
    pub steps: usize,
    pub moved: usize,
    pub far: usize,
    /// Better subsets that were looked for, and bounds that were compared.
    pub claims: usize,
}

impl Attack {
    pub fn new(seed: u64) -> Self {
        let mut rng = rng(77_000 + seed);
        let losses: &[Loss] = if seed.is_multiple_of(4) { &UNIFORM } else { &[Loss::Squared] };
        let case = draw(&mut rng, seed % 6, losses);
        Self::on(case, seed, &mut rng)
    }

    /// A problem whose tree is grown in any way.
    pub fn on(case: Case, seed: u64, rng: &mut ChaCha8Rng) -> Self {
        let cost = costs(&case);
        Self::with_costs(case, cost, seed, rng)
    }

    /// The same where P of every subset is known.
    pub fn with_costs(case: Case, cost: Vec<f64>, seed: u64, rng: &mut ChaCha8Rng) -> Self {
        let k = pick(rng, &[None, None, None, Some(1), Some(2), Some(case.p / 2 + 1)]);
        let most_near = pick(rng, &[1, 2, 3, 4000, 4000, 4000]);
        let (top, gap) = (pick(rng, &[1, 1, 1, 3]), pick(rng, &[1e-6, 1e-6, 1e-4]));
        let above = pick(rng, &[1e-4, 1e-2, 0.3, 1e9]);
        let bare = rng.random_bool(0.5);
        let allowed = (0..cost.len()).filter(|m| k.is_none_or(|k| m.count_ones() as usize <= k)).collect();
        Self { seed, case, cost, allowed, k, added: None, most_near, top, gap, above, ceiling: f64::INFINITY, bare }
    }

    /// The same without a limited size.
    pub fn of_any_size(self) -> Self {
        Self { allowed: (0..self.cost.len()).collect(), k: None, ..self }
    }

    /// The same for the subsets that add so many features at least to some.
    pub fn adding(self, answer: Vec<usize>, added: usize, psi: f64) -> Self {
        let outside = |m: usize| (0..self.case.p).filter(|j| m >> j & 1 == 1 && !answer.contains(j)).count();
        let allowed = (0..self.cost.len()).filter(|m| outside(*m) >= added).collect();
        Self { allowed, k: None, top: 1, added: Some((answer, added, psi)), ..self }
    }

    pub fn label(&self) -> String {
        let Self { seed, case, k, added, most_near, top, gap, above, .. } = self;
        format!("{seed}: k {k:?}, added {added:?}, near {most_near}, top {top}, gap {gap}, above {above}, {case:?}")
    }

    /// About the size of P.
    fn scale(&self) -> f64 {
        let offset = self.case.offset.clone().unwrap_or_else(|| vec![0.0; self.case.n]);
        self.case.model().loss_sum(&offset, 0.0)
    }

    pub fn least(&self) -> f64 {
        self.allowed.iter().map(|&m| self.cost[m]).fold(f64::INFINITY, f64::min)
    }

    /// How far two ways to compute P may be apart.
    pub fn slack(&self) -> f64 {
        1e-11 * self.scale() + 1e-9 * self.least().abs()
    }

    /// Whether every feature of the subset matters: one that hardly does may be left at zero, and the subset is then another one.
    pub fn is_distinct(&self, m: usize) -> bool {
        let scale = self.scale();
        let gain = |j: usize| self.cost[m & !(1 << j)] + price(&self.case.penalty, j) - self.cost[m];
        (0..self.case.p).all(|j| m >> j & 1 == 0 || gain(j) > 1e-7 * scale)
    }

    fn seed_for(&self, setting: &Setting<'_, '_>, monitor: &mut Monitor<'_>) -> Seed {
        let mut seed = match (self.k, &self.added) {
            (_, Some((answer, added, psi))) => {
                let answer = Coefficients::from_pairs(answer.iter().map(|j| (*j, 1.0)).collect(), 0.0);
                let cheap = Cheap::new(setting.problem, &answer.support, *added, *psi).unwrap();
                let (root, _) = cheap.root(&answer, setting.options, monitor).unwrap().unwrap();
                part_seed(setting.problem, root, (*psi, setting.added.unwrap()), &answer).unwrap()
            }
            (None, _) => {
                let root = incremental::root(&mut Workspace::new(setting.problem), setting.options, monitor).unwrap();
                Seed { root, multiplier: 0.0 }
            }
            (Some(_), _) => Seed::new(setting, monitor).unwrap(),
        };
        let (least, null) = (self.least(), self.cost[0] * (1.0 + 1e-9) + 1e-9);
        let objective = (least + self.above * least.abs().max(1e-12 * self.scale())).min(null);
        forget_answer(setting.problem, &mut seed.root, objective, self.bare);
        seed
    }

    pub fn options(&self) -> Options {
        Options { method: Method::Exact, gap: self.gap, top: self.top, ..Options::default() }
    }

    /// The tree, its answer forgotten.
    pub fn plant<'p, 'a>(
        &self,
        problem: &'p Problem<'a>,
        options: &'p Options,
        tuning: Tuning,
        monitor: &mut Monitor<'_>,
    ) -> Tree<'p, 'a> {
        let mut setting = Setting::new(problem, self.k, options, tuning);
        setting.ceiling = self.ceiling;
        if let Some((answer, added, _)) = &self.added {
            (setting.added, setting.first) = (adding(problem, answer, *added), answer.clone());
        }
        let seed = self.seed_for(&setting, monitor);
        Tree::plant(setting, seed, monitor).unwrap()
    }

    /// How many subsets in which every feature matters cost less.
    pub fn below(&self, value: f64) -> usize {
        self.allowed.iter().filter(|&&m| self.cost[m] < value && self.is_distinct(m)).count()
    }

    /// The tree with the answer that there is.
    pub fn plant_as_it_is<'p, 'a>(
        &self,
        problem: &'p Problem<'a>,
        options: &'p Options,
        tuning: Tuning,
        monitor: &mut Monitor<'_>,
    ) -> Tree<'p, 'a> {
        let setting = Setting::new(problem, self.k, options, tuning);
        let seed = match self.k {
            None => {
                let root = incremental::root(&mut Workspace::new(problem), options, monitor).unwrap();
                Seed { root, multiplier: 0.0 }
            }
            Some(_) => Seed::new(&setting, monitor).unwrap(),
        };
        Tree::plant(setting, seed, monitor).unwrap()
    }

    pub fn run(&self, problem: &Problem<'_>, seen: &mut TreeTally) {
        self.run_with(problem, tuning(), seen, |_| ());
    }

    /// As [`Attack::run`], steered in another way; every step of the tree is shown.
    pub fn run_with(
        &self,
        problem: &Problem<'_>,
        tuning: Tuning,
        seen: &mut TreeTally,
        mut visit: impl FnMut(&Tree<'_, '_>),
    ) {
        let (options, mut observer) = (self.options(), ());
        let mut monitor = Monitor::new(&options, &mut observer);
        let tuning = Tuning { most_near: self.most_near, ..tuning };
        let mut tree = self.plant(problem, &options, tuning, &mut monitor);
        // A search that is cut short ends nodes away from their minimisers, where far features take most from the bound.
        let is_cut = self.seed % 5 == 4;
        if is_cut {
            options.cancel.cancel();
        }
        for _ in 0..if is_cut { 60 } else { 400 } {
            let Some(batch) = tree.next_batch() else { break };
            seen.far += batch.iter().filter(|n| !n.far.is_empty()).count();
            tree.process(batch, &mut monitor).unwrap();
            seen.steps += 1;
            seen.moved += tree.frontier.open().filter(|n| n.moved.is_some()).count();
            seen.claims += self.check(&tree);
            visit(&tree);
        }
        let (best, least, slack) = (tree.pool.entries()[0].0, self.least(), self.slack());
        let found = best <= least + tree.room().max(2e-9) + 10.0 * slack;
        let admitted = tree.frontier.len() > 0 || tree.frontier.closed <= least + slack;
        assert!(found || admitted, "{best} {least}: {}", self.label());
    }

    /// No better subset is lost, and no bound is above a subset of its node; how many there were.
    fn check(&self, tree: &Tree<'_, '_>) -> usize {
        let mut claims = tree.frontier.len();
        let (cost, slack) = (&self.cost, self.slack());
        let goal = tree.pool.limit() - tree.room() - slack;
        let entries = tree.pool.entries();
        let known: Vec<usize> = entries.iter().map(|e| e.1.support.iter().map(|j| 1 << j).sum()).collect();
        for &m in self.allowed.iter().filter(|m| cost[**m] < goal && !known.contains(m)) {
            let is_held = tree.frontier.open().any(|node| holds(tree, node, m));
            // A node that was given up says so.
            let is_admitted = tree.frontier.closed.max(tree.frontier.unseen) <= cost[m] + slack;
            let is_kept = is_held || is_admitted || !self.is_distinct(m);
            claims += 1;
            assert!(is_kept, "{m:b} of cost {} was lost below {goal}: {}", cost[m], self.label());
        }
        for node in tree.frontier.open() {
            let subsets = self.allowed.iter().filter(|m| holds(tree, node, **m));
            let least = subsets.map(|&m| cost[m]).fold(f64::INFINITY, f64::min);
            assert!(node.bound <= least + slack, "{} is above {least}: {}", node.bound, self.label());
        }
        claims
    }
}

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
