//! Trees that grow from a root that is known, with the answer that its search was polished to (MATH 11.26), against enumeration and
//! against what each part of a root is.

use crate::common::{Case, UNIFORM, rng};
use crate::control::Monitor;
use crate::exact::seed::Seed;
use crate::exact::setting::Setting;
use crate::exact::tests::attack::{costs, draw};
use crate::exact::tuning::Tuning;
use crate::relaxation::workspace::Workspace;
use crate::search::fit::margin;
use crate::solver::incremental::{self, Root};
use crate::{Certificate, Local, Method, Options, Problem, Ranked, Solution, Status};

/// A problem that branch and bound proves, what its subsets cost, and the best of them with the answer that a tree knows.
fn on_problems(count: u64, mut visit: impl FnMut(&Case, &Problem<'_>, &[f64], &[Ranked])) {
    for seed in 0..count {
        let case = draw(&mut rng(31_000 + seed), seed % 6, &UNIFORM);
        case.with_problem(|problem| {
            let is_bounded = problem.penalty().has_certificate(problem.ncols());
            if is_bounded && !crate::leaps::is_needed(problem) {
                let options = Options { top: 4, ..Options::with_method(Method::Exact) };
                visit(&case, problem, &costs(&case), &crate::solve(problem, &options).unwrap().ranked);
            }
        });
    }
}

/// What the default method ends with, and the answer in its place.
fn root_with(problem: &Problem<'_>, found: &Solution, monitor: &mut Monitor<'_>) -> Root {
    let options = Options::default();
    incremental::root(&mut Workspace::new(problem), &options, monitor).unwrap().with_answer(found)
}

fn answer(rank: &Ranked, local: Local) -> Solution {
    let certificate = Certificate::new(rank.objective, None, 0.0);
    let found = Solution::new(rank.coefficients.clone(), certificate, Status::Converged, Vec::new());
    Solution { local, ..found }
}

/// How far two ways to compute P may be apart.
fn slack(case: &Case, least: f64) -> f64 {
    1e-11 * case.null_loss() + 1e-9 * least.abs()
}

/// The bound is that of the dual point, no φ_j is above that of the point's own correlation, P is that of the answer, and what is known of
/// exchanges is known of the answer; the same after its fit, which makes no answer worse.
#[test]
fn a_known_root_is_what_its_parts_say() {
    let (mut seen, mut fitted) = (0, 0);
    on_problems(150, |case, problem, cost, ranked| {
        let options = Options::with_method(Method::Exact);
        let mut observer = ();
        let mut monitor = Monitor::new(&options, &mut observer);
        let setting = Setting::new(problem, None, &options, Tuning::default());
        let (all, p): (Vec<usize>, usize) = ((0..problem.ncols()).collect(), problem.ncols());
        let least = cost.iter().copied().fold(f64::INFINITY, f64::min);
        for (rank, local) in ranked.iter().zip([Local::None, Local::Swap, Local::None, Local::Coordinate]) {
            let found = answer(rank, local);
            let root = root_with(problem, &found, &mut monitor);
            let check = |root: &Root| {
                let (dual, bound) = (&root.outcome.dual, root.outcome.lower_bound);
                let mut tau = vec![0.0; p];
                problem.design().correlate(&all, dual, &mut tau).unwrap();
                let most = problem.dual_value(dual, &all, &tau).unwrap().min(least) + slack(case, least);
                assert!(bound <= most, "{bound} above {most}: {case:?}");
                for (&j, (kept, own)) in all.iter().zip(root.tau.iter().zip(&tau)) {
                    let c = problem.coordinate(j);
                    assert!(c.phi(*kept) <= c.phi(*own), "{j}: {kept} in place of {own}: {case:?}");
                }
                let value = problem.value(&root.outcome.coefficients).unwrap();
                assert_eq!(root.objective, value, "{case:?}");
                assert_eq!(root.outcome.local, local);
            };
            check(&root);
            assert_eq!(root.outcome.coefficients, rank.coefficients);
            let seed = Seed::grown(root, &setting, &monitor).unwrap();
            check(&seed.root);
            assert!(seed.root.objective <= rank.objective + margin(rank.objective));
            assert_eq!(seed.root.outcome.coefficients.support, rank.coefficients.support);
            fitted += usize::from(seed.root.outcome.coefficients != rank.coefficients);
            seen += 1;
        }
    });
    assert!(seen > 300 && fitted > 50, "{seen} roots, {fitted} fitted anew");
}

/// From an answer that others are better than, the tree must find the best and prove it: what it leaves out by the root's bound, its
/// correlations or the answer's P would be missed.
#[test]
fn trees_from_known_roots_find_what_is_better_than_their_answer() {
    let (mut worse, mut split) = (0, 0);
    on_problems(200, |case, problem, cost, ranked| {
        let least = cost.iter().copied().fold(f64::INFINITY, f64::min);
        let options = Options::with_method(Method::Exact);
        for rank in ranked.iter().filter(|rank| rank.objective > least * (1.0 + 1e-4)) {
            let mut observer = ();
            let mut monitor = Monitor::new(&options, &mut observer);
            let root = root_with(problem, &answer(rank, Local::None), &mut monitor);
            let outcome = crate::exact::solve(problem, &options, &mut monitor, None, Some(root)).unwrap();
            let (bound, value) = (outcome.lower_bound, problem.value(&outcome.coefficients).unwrap());
            let label = || format!("{bound} ≤ {least} ≤ {value} from {}: {case:?}", rank.objective);
            assert!(bound <= least + slack(case, least), "{}", label());
            let room = 1e-6 * least.abs() + 2e-9 + slack(case, least);
            assert!(
                value <= least + room && (value - bound <= room || outcome.ended != Status::Converged),
                "{}",
                label()
            );
            worse += 1;
            split += usize::from(outcome.iterations > 1);
        }
    });
    assert!(worse > 200 && split > 50, "{worse} answers, {split} trees");
}

/// Whether no addition, removal or exchange of one feature is better.
fn is_swap_minimum(cost: &[f64], mask: usize, slack: f64) -> bool {
    let p = cost.len().ilog2() as usize;
    let changed = |j: usize, k: usize| if j == k { mask ^ (1 << j) } else { mask ^ (1 << j) ^ (1 << k) };
    let is_change = |j: usize, k: usize| j == k || (mask >> j & 1) != (mask >> k & 1);
    let mut pairs = (0..p).flat_map(|j| (0..=j).map(move |k| (j, k))).filter(|&(j, k)| is_change(j, k));
    pairs.all(|(j, k)| cost[changed(j, k)] >= cost[mask] - slack)
}

/// A tree that ends with the answer that it was given knows of exchanges what was known of that one.
#[test]
fn what_a_tree_says_of_exchanges_is_true() {
    let (mut kept, mut said) = (0, 0);
    on_problems(200, |case, problem, cost, ranked| {
        let least = cost.iter().copied().fold(f64::INFINITY, f64::min);
        for (rank, nodes) in ranked.iter().zip([None, Some(1), Some(1), Some(1)]) {
            let options = Options { max_nodes: nodes, ..Options::with_method(Method::Exact) };
            let mut observer = ();
            let mut monitor = Monitor::new(&options, &mut observer);
            let mask_of = |support: &[usize]| support.iter().map(|j| 1 << j).sum::<usize>();
            let is_best = is_swap_minimum(cost, mask_of(&rank.coefficients.support), slack(case, least));
            let local = if is_best { Local::Swap } else { Local::None };
            let root = root_with(problem, &answer(rank, local), &mut monitor);
            let outcome = crate::exact::solve(problem, &options, &mut monitor, None, Some(root)).unwrap();
            let mask = mask_of(&outcome.coefficients.support);
            let is_true = outcome.local != Local::Swap || is_swap_minimum(cost, mask, slack(case, least));
            assert!(is_true, "{mask:b}: {case:?}");
            kept += usize::from(!is_best && outcome.coefficients.support == rank.coefficients.support);
            said += usize::from(outcome.local == Local::Swap);
        }
    });
    assert!(said > 50 && kept > 5, "{said} answers said to be minima, {kept} that are none were kept");
}
