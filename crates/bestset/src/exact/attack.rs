//! Every node of the tree against enumeration: from an answer of nothing said to be worth a little more than the optimum, every
//! better subset stays in an open node until it is found, and no node's bound exceeds the best of its subsets.
//!
//! A wrong decision hides where the answer was known before; here it was not.

use crate::common::{Case, ChaCha8Rng, Convex, LOSSES, RngExt, hostile, pick, power, price, rng};
use crate::control::Monitor;
use crate::design::{Dense, Design};
use crate::exact::far::tests::holds;
use crate::exact::{Seed, Tree, size};
use crate::relaxation::workspace::Workspace;
use crate::solver::incremental;
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
    for seed in number("ATTACK_FROM", 0)..number("ATTACK_TO", 2000) {
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
            if crate::leaps::is_needed(problem) {
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
            // A search that is cut short settles nodes far from their minimisers, where far features take most from the bound.
            let is_cut = seed % 5 == 4;
            if is_cut {
                options.cancel.cancel();
            }
            for _ in 0..if is_cut { 60 } else { 400 } {
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

/// Ends and places of rough correlations, for every store and view, weights and boxes, at extreme scales.
#[test]
fn rough_and_carried_correlations_hold_theirs_at_any_scale() {
    use crate::common::{Shape, case as general};
    let (mut hits, mut sures, mut nonfinite, mut carried) = (0, 0, 0, 0);
    for seed in 0..20_000u64 {
        let mut rng = rng(5_000_000 + seed);
        let shape = Shape { certified: true, attained: true, ..Shape::new(2..=40, 2..=9) };
        let mut case = if seed % 2 == 0 { general(&mut rng, &shape) } else { hostile(&mut rng, &LOSSES, 8) };
        if seed % 2 == 1 {
            for j in 0..case.p {
                let s = power(&mut rng, -60.0, 60.0);
                for i in 0..case.n {
                    case.base[j * case.n + i] *= s;
                }
            }
            case.x = case.base.clone();
            if rng.random_bool(0.3) {
                case.store = crate::common::Store::Csc64;
            }
        }
        if rng.random_bool(0.3) && case.loss == Loss::Squared {
            let t = power(&mut rng, -30.0, 30.0);
            case.y.iter_mut().for_each(|y| *y *= t);
            case.offset.iter_mut().flatten().for_each(|y| *y *= t);
        }
        if rng.random_bool(0.2)
            && let Some(w) = &mut case.weights
        {
            w.iter_mut().for_each(|w| *w *= power(&mut rng, -12.0, 12.0));
        }
        // Alpha of the null model, or near it; thresholds near each correlation.
        let (n, p) = (case.n, case.p);
        let exact0 = case.with_problem(|problem| {
            let u = problem.null_margins();
            let mut alpha = vec![0.0; n];
            problem.dual_point(&u, problem.best_intercept(&u, 0.0), &mut alpha);
            let mut t = vec![0.0; p];
            problem.design().correlate(&(0..p).collect::<Vec<_>>(), &alpha, &mut t);
            t
        });
        case.penalty.lambda0 = power(&mut rng, -5.0, 5.0);
        case.penalty.lambda2 = 1.0;
        case.penalty.lambda1 = 0.0;
        let near: Vec<f64> =
            (0..p).map(|_| 1.0 + power(&mut rng, -16.0, -0.5) * pick(&mut rng, &[1.0, -1.0])).collect();
        let shrink: Vec<f64> = (0..p)
            .map(|j| {
                let v = (exact0[j] * near[j]).powi(2) / (4.0 * case.penalty.lambda0);
                if v.is_finite() { v.max(1e-300) } else { 1.0 }
            })
            .collect();
        let side = |rng: &mut ChaCha8Rng, j: usize| {
            let knee = 2.0 * case.penalty.lambda0 / exact0[j].abs();
            match rng.random_range(0..4) {
                0 => 0.0,
                1 if knee.is_finite() => knee * power(rng, -2.0, 2.0),
                _ => f64::INFINITY,
            }
        };
        let bounds: Vec<(f64, f64)> = (0..p).map(|j| (-side(&mut rng, j), side(&mut rng, j))).collect();
        let (lo, hi): (Vec<f64>, Vec<f64>) = bounds.into_iter().unzip();
        case.penalty =
            Penalty::new(case.penalty.lambda0, 0.0, 1.0).with_shrinkage(shrink).with_bounds(Bounds::Each(lo, hi));
        if rng.random_bool(0.3) {
            case.penalty.bounds = Bounds::Free;
        }
        let ok = case.with_design(|d| Problem::new(d, case.y.clone(), case.penalty.clone()).is_ok());
        if !ok {
            continue;
        }
        case.with_problem(|problem| {
            let u = problem.null_margins();
            let (mut alpha, mut other) = (vec![0.0; n], vec![0.0; n]);
            problem.dual_point(&u, problem.best_intercept(&u, 0.0), &mut alpha);
            let all: Vec<usize> = (0..p).collect();
            let mut rough = vec![0f32; p];
            let mut exact = vec![0.0; p];
            problem.design().correlate_roughly(&all, &[&alpha], &mut rough);
            problem.design().correlate(&all, &alpha, &mut exact);
            let rough: Vec<f64> = rough.into_iter().map(f64::from).collect();
            nonfinite += rough.iter().filter(|r| !r.is_finite()).count();
            let unsure = problem.unsure(&alpha, &all, &rough, |j| problem.coordinate(j));
            let ends = problem.rough_ends(&alpha, &all, &rough, |j| problem.coordinate(j));
            let outer = problem.outer_correlations(&alpha, &all, &exact, |j| problem.coordinate(j));
            let excl = |j: usize, t: f64, room: f64| {
                crate::problem::screening::in_no_optimal_subset(problem.coordinate(j), t, 0.0, room)
            };
            for j in 0..p {
                let c = problem.coordinate(j);
                let sure = unsure.binary_search(&j).is_err();
                hits += usize::from(c.psi(outer[j]) < 0.0);
                sures += usize::from(sure);
                assert!(
                    !sure || c.psi(outer[j]) >= 0.0,
                    "{seed}: {j} passed by, outer {} exact {} rough {} {c:?} {case:?}",
                    outer[j],
                    exact[j],
                    rough[j]
                );
                for room in [0.0, 1e-12, 1e-9, 1e-6, 1e-3, 0.1, 0.9].map(|r| r * case.penalty.lambda0) {
                    assert!(
                        !excl(j, ends[j].0, room) || excl(j, outer[j], room),
                        "{seed}: {j} wrongly out, ends {:?} outer {} exact {} rough {} {c:?} {case:?}",
                        ends[j],
                        outer[j],
                        exact[j],
                        rough[j]
                    );
                    assert!(
                        !excl(j, outer[j], room) || excl(j, ends[j].1, room),
                        "{seed}: {j} nearest wrong, ends {:?} outer {} exact {} {c:?}",
                        ends[j],
                        outer[j],
                        exact[j]
                    );
                }
            }
            // Carried over from a scaled and disturbed point.
            let far = pick(&mut rng, &[0.0, 1e-15, 1e-12, 1e-9, 1e-6, 1e-3, 0.1]);
            let s = pick(&mut rng, &[1.0, 0.9, 1e-3, 1e-9]);
            other.iter_mut().zip(&alpha).for_each(|(o, a)| *o = s * a * (1.0 - far * rng.random_range(0.0..1.0)));
            problem.project(&mut other);
            if rng.random_bool(0.5) && problem.has_intercept() {
                problem.moments();
            }
            // From `other` to alpha: thresholds are near alpha's correlations.
            let mut tau = vec![0.0; p];
            problem.design().correlate(&all, &other, &mut tau);
            let Some((at, reach)) = problem.carry(&other, &tau, &alpha) else { return };
            carried += 1;
            for j in 0..p {
                let off = (exact[j] - at[j]).abs();
                assert!(
                    off <= reach[j],
                    "{seed}: {j} carried {} reach {} exact {} far {far} s {s} {case:?}",
                    at[j],
                    reach[j],
                    exact[j]
                );
            }
            let options = Options::default();
            let mut observer = ();
            let mut monitor = Monitor::new(&options, &mut observer);
            let anchor = crate::relaxation::everywhere::Anchor { alpha: other.clone(), tau };
            let known = crate::relaxation::everywhere::Everywhere::new(problem, &alpha, Some(&anchor), &mut monitor);
            let full = problem.dual_value(&alpha, &all, &exact);
            assert!(known.bound == full, "{seed}: bound {} of {full}: {case:?}", known.bound);
            for j in 0..p {
                for room in [0.0, 1e-12, 1e-9, 1e-6, 1e-3, 0.1, 0.9].map(|r| r * case.penalty.lambda0) {
                    assert!(
                        !excl(j, known.outer[j], room) || excl(j, outer[j], room),
                        "{seed}: {j} every {} {} {case:?}",
                        known.outer[j],
                        outer[j]
                    );
                }
            }
        });
    }
    assert!(
        hits > 20_000 && sures > 15_000 && nonfinite > 4000 && carried > 10_000,
        "{hits} {sures} {nonfinite} {carried}"
    );
}

/// A view takes its centres away again: the rounding of that is no difference between two ways to compute P.
#[test]
fn large_centres_are_no_false_certificate() {
    for trial in 0..200u64 {
        let mut rng = rng(trial);
        let (n, p, centre) = (6, 3, power(&mut rng, 2.0, 8.0));
        let x: Vec<f64> = (0..n * p).map(|_| centre + crate::common::normal(&mut rng)).collect();
        let y: Vec<f64> = (0..n).map(|i| x[i] - centre + 0.1 * crate::common::normal(&mut rng)).collect();
        let dense = Dense::new(n, p, x).unwrap();
        let design = crate::design::Standardized::fit(&dense, None, true, 1.0).unwrap();
        let problem = Problem::new(&design, y, Penalty::new(0.01, 0.0, 0.01)).unwrap();
        let solution = crate::solve(&problem, &Options::with_method(Method::Exact));
        assert!(solution.is_ok(), "{trial}: centre {centre}: {}", solution.unwrap_err());
    }
}
