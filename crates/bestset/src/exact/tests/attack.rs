//! A tree that is grown under attack: every node of it against enumeration, from an answer of nothing said to be worth a little more than the
//! optimum. A wrong decision hides where the answer was known before; here it was not.

use crate::common::{Case, ChaCha8Rng, RngExt, UNIFORM, hostile, pick, power, price, rng, subset_costs};
use crate::control::Monitor;
use crate::exact::node::{Choice, Node};
use crate::exact::seed::Seed;
use crate::exact::setting::Setting;
use crate::exact::tests::tuning;
use crate::exact::tree::Tree;
use crate::exact::tree::region::{Cheap, adding, part_seed};
use crate::exact::tuning::Tuning;
use crate::relaxation::workspace::Workspace;
use crate::solver::incremental;
use crate::solver::incremental::Root;
use crate::{Bounds, Coefficients, Loss, Method, Options, Problem};

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
pub(super) fn forget_answer(problem: &Problem<'_>, root: &mut Root, objective: f64, bare: bool) {
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

    /// The root that a search begins with, and the answer found there.
    fn found_seed(&self, setting: &Setting<'_, '_>, monitor: &mut Monitor<'_>) -> Seed {
        match self.k {
            None => {
                let root = incremental::root(&mut Workspace::new(setting.problem), setting.options, monitor).unwrap();
                Seed { root, multiplier: 0.0 }
            }
            Some(_) => Seed::new(setting, monitor).unwrap(),
        }
    }

    fn seed_for(&self, setting: &Setting<'_, '_>, monitor: &mut Monitor<'_>) -> Seed {
        let mut seed = match &self.added {
            Some((answer, added, psi)) => {
                let answer = Coefficients::from_pairs(answer.iter().map(|j| (*j, 1.0)).collect(), 0.0);
                let cheap = Cheap::new(setting.problem, &answer.support, *added, *psi).unwrap();
                let (root, _) = cheap.root(&answer, setting.options, monitor).unwrap().unwrap();
                part_seed(setting.problem, root, (*psi, setting.added.unwrap()), &answer).unwrap()
            }
            None => self.found_seed(setting, monitor),
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

    /// The tree with the answer that a search begins with.
    pub fn plant_with_answer<'p, 'a>(
        &self,
        problem: &'p Problem<'a>,
        options: &'p Options,
        tuning: Tuning,
        monitor: &mut Monitor<'_>,
    ) -> Tree<'p, 'a> {
        let setting = Setting::new(problem, self.k, options, tuning);
        let seed = self.found_seed(&setting, monitor);
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
