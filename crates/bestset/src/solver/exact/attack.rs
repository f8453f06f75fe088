//! Every node of the tree against enumeration: from an answer of nothing said to be worth a little more than the optimum, every
//! better subset stays in an open node until it is found, and no node's bound exceeds the best of its subsets.
//!
//! A wrong decision hides where the answer was known before; here it was not.

use super::far::tests::holds;
use super::{Seed, Tree, size};
use crate::common::{Case, ChaCha8Rng, Convex, LOSSES, RngExt, hostile, pick, power, price, rng};
use crate::design::{Dense, Design};
use crate::solver::workspace::Workspace;
use crate::solver::{Monitor, incremental};
use crate::{Bounds, Loss, Method, Options, Penalty, Problem};

/// P of the best fit on every subset.
fn costs(case: &Case) -> Vec<f64> {
    let model = case.model();
    let one = |mask: usize| {
        let subset: Vec<usize> = (0..case.p).filter(|j| mask >> j & 1 == 1).collect();
        let penalties: Vec<Convex> = subset.iter().map(|&j| Convex::selected(&case.penalty, j)).collect();
        let prices: f64 = subset.iter().map(|&j| price(&case.penalty, j)).sum();
        model.minimise(&subset, &penalties).value + prices
    };
    (0..1 << case.p).map(one).collect()
}

/// A hostile problem of one of six kinds: as they come; with hardly a ridge; targets far from zero; boxes in place of the ridge;
/// the same with fewer samples than features; these with a ridge.
fn draw(rng: &mut ChaCha8Rng, kind: u64, losses: &[Loss]) -> Case {
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

#[test]
fn no_node_loses_a_better_subset() {
    let number = |name: &str, usual: u64| std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(usual);
    let (mut steps, mut moved, mut far) = (0, 0, 0);
    for seed in number("ATTACK_FROM", 0)..number("ATTACK_TO", 600) {
        let mut rng = rng(77_000 + seed);
        let losses: &[Loss] = if seed % 4 > 0 { &[Loss::Squared] } else { &LOSSES };
        let case = draw(&mut rng, seed % 6, losses);
        let cost = costs(&case);
        let k = pick(&mut rng, &[None, None, None, Some(1), Some(2), Some(case.p / 2 + 1)]);
        let most_near = pick(&mut rng, &[1, 2, 3, 4000, 4000, 4000]);
        let (top, gap) = (pick(&mut rng, &[1, 1, 1, 3]), pick(&mut rng, &[1e-6, 1e-6, 1e-4]));
        let above = pick(&mut rng, &[1e-4, 1e-2, 0.3, 1e9]);
        let bare = rng.random_bool(0.5);
        case.with_problem(|problem| {
            if super::leaps::is_needed(problem) {
                return;
            }
            let offset = case.offset.clone().unwrap_or_else(|| vec![0.0; case.n]);
            let scale = case.model().loss_sum(&offset, 0.0);
            let allowed: Vec<usize> =
                (0..cost.len()).filter(|m| k.is_none_or(|k| m.count_ones() as usize <= k)).collect();
            let least = allowed.iter().map(|&m| cost[m]).fold(f64::INFINITY, f64::min);
            let slack = 1e-11 * scale + 1e-9 * least.abs();
            // A coefficient that hardly matters may be left at zero: the subset is then another one.
            let matters = |m: usize, j: usize| {
                m >> j & 1 == 0 || cost[m & !(1 << j)] + price(&case.penalty, j) - cost[m] > 1e-7 * scale
            };
            let (options, mut observer) = (Options { method: Method::Exact, gap, top, ..Options::default() }, ());
            let mut monitor = Monitor::new(&options, &mut observer);
            let mut start = match k {
                None => {
                    let root = incremental::root(&mut Workspace::new(problem), &options, &mut monitor);
                    Seed { root, multiplier: 0.0 }
                }
                Some(k) => size::root(problem, k, &options, &mut monitor),
            };
            let null = cost[0] * (1.0 + 1e-9) + 1e-9;
            let intercept = problem.best_intercept(&problem.null_margins(), 0.0);
            start.root.outcome.coefficients = crate::Coefficients { intercept, ..Default::default() };
            start.root.objective = (least + above * least.abs().max(1e-12 * scale)).min(null);
            if bare {
                start.root.minimiser = start.root.outcome.coefficients.clone();
            }
            let mut tree = Tree::plant(problem, k, &options, start, most_near);
            let context =
                || format!("{seed}: k {k:?}, near {most_near}, top {top}, gap {gap}, above {above}, {case:?}");
            for _ in 0..400 {
                let Some(batch) = tree.next_batch() else { break };
                far += batch.iter().filter(|n| !n.far.is_empty()).count();
                tree.process(batch, &mut monitor);
                steps += 1;
                moved += tree.open.iter().filter(|n| n.moved.is_some()).count();
                let goal = tree.pool.limit() - tree.room() - slack;
                let entries = tree.pool.entries();
                let known: Vec<usize> = entries.iter().map(|e| e.1.support.iter().map(|j| 1 << j).sum()).collect();
                for &m in allowed.iter().filter(|m| cost[**m] < goal && !known.contains(m)) {
                    let own = (0..case.p).all(|j| matters(m, j));
                    let held = tree.open.iter().any(|node| holds(&tree, node, m));
                    // A node that was given up says so.
                    let admitted = tree.closed.max(tree.unseen) <= cost[m] + slack;
                    assert!(!own || held || admitted, "{m:b} of cost {} was lost below {goal}: {}", cost[m], context());
                }
                for node in &tree.open {
                    let subsets = allowed.iter().filter(|m| holds(&tree, node, **m));
                    let least = subsets.map(|&m| cost[m]).fold(f64::INFINITY, f64::min);
                    assert!(node.bound <= least + slack, "{} is above {least}: {}", node.bound, context());
                }
            }
            let best = tree.pool.entries()[0].0;
            let found = best <= least + tree.room().max(2e-9) + 10.0 * slack;
            assert!(found || !tree.open.is_empty() || tree.closed <= least + slack, "{best} {least}: {}", context());
        });
    }
    assert!(steps > 1000 && moved > 500 && far > 200, "{steps} steps, {moved} moved, {far} far");
}

/// Correlations within a few roundings of single precision from their thresholds, large and small columns beside each other: a
/// feature whose Ψ_j may be below zero is never passed by, and the ends of its rough correlation hold the one in double precision.
#[test]
fn single_precision_hides_no_violated_threshold() {
    let (mut rng, mut violated, mut passed) = (rng(97), 0, 0);
    for trial in 0..300 {
        let (n, p) = (rng.random_range(1..=90), 40);
        let scale = power(&mut rng, -25.0, 15.0);
        let alpha: Vec<f64> = (0..n).map(|_| scale * rng.random_range(-1.0..1.0)).collect();
        let penalty = Penalty::new(0.1, 0.01, 0.4);
        let threshold = 0.01 + 2.0 * (0.1f64 * 0.4).sqrt();
        let mut x = Vec::with_capacity(n * p);
        for _ in 0..p {
            // As close to the threshold as rounding in single precision, or well below it.
            let near =
                if rng.random_bool(0.7) { 1.0 + power(&mut rng, -9.0, -6.0) } else { power(&mut rng, -3.0, -0.01) };
            let column: Vec<f64> = (0..n).map(|_| rng.random_range(-1.0..1.0)).collect();
            let dot: f64 = column.iter().zip(&alpha).map(|(x, a)| x * a).sum();
            x.extend(column.iter().map(|x| x * near * threshold / dot));
        }
        let design = Dense::new(n, p, x).unwrap();
        let problem = Problem::new(&design, vec![1.0; n], penalty).unwrap();
        let all: Vec<usize> = (0..p).collect();
        let (mut rough, mut exact) = (vec![0.0; p], vec![0.0; p]);
        design.correlate_roughly(&all, &[&alpha], &mut rough);
        design.correlate(&all, &alpha, &mut exact);
        let rough: Vec<f64> = rough.into_iter().map(f64::from).collect();
        let unsure = problem.unsure(&alpha, &all, &rough, |j| problem.coordinate(j));
        let ends = problem.rough_ends(&alpha, &all, &rough, |j| problem.coordinate(j));
        let outer = problem.outer_correlations(&alpha, &all, &exact, |j| problem.coordinate(j));
        for j in 0..p {
            let c = problem.coordinate(j);
            let sure = unsure.binary_search(&j).is_err();
            assert!(!sure || c.psi(outer[j]) == 0.0, "{trial}: {j} of {} was passed by", outer[j]);
            violated += usize::from(c.psi(outer[j]) < 0.0);
            passed += usize::from(sure);
            assert!(c.phi(ends[j].0) <= c.phi(outer[j]) && c.phi(outer[j]) <= c.phi(ends[j].1), "{trial}: {j}");
        }
    }
    assert!(violated > 5000 && passed > 1000, "{violated} {passed}");
}
