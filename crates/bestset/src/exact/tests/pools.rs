//! Trees whose nodes have pooled members (MATH 11.22), against enumeration, on problems that are hard for them.
//!
//! In every open node with a pool Q − diag(d) has no negative eigenvalue on any set that the budget allows; no better subset is lost, and no
//! bound is above a subset. `make attack` has them on other seeds.

use crate::common::{Case, ChaCha8Rng, RngExt, Tally, normal, pick, power, price, rng, seeds};
use crate::control::Monitor;
use crate::exact::node::Choice;
use crate::exact::node::members::BUDGET_ROUNDING;
use crate::exact::node::start::start;
use crate::exact::tests::attack::{Attack, TreeTally, costs};
use crate::exact::tests::tuning;
use crate::exact::tree::Tree;
use crate::exact::tuning::Tuning;
use crate::{Bounds, Options, Penalty, Problem, Status};
use faer::Mat;
use faer::Side;
use faer::linalg::solvers::SolveLstsqCore;

/// Few or many samples, columns that stand in for one another, of lengths from 1e-6 to 1e6, ridges over many decades.
fn hard(rng: &mut ChaCha8Rng) -> Case {
    let p = pick(rng, &[5, 6, 7, 8, 8, 9, 9, 10]);
    let n = if rng.random_bool(0.5) { rng.random_range(2..=p) } else { rng.random_range(p..=3 * p) };
    let (kind, near) = (rng.random_range(0..6), power(rng, -7.0, -0.5));
    let (ar, apart) = (pick(rng, &[0.9, 0.95, 0.99, 0.999]), pick(rng, &[1.0, 0.5, 0.2]));
    let common: Vec<f64> = (0..n).map(|_| normal(rng)).collect();
    let mut unit: Vec<f64> = Vec::new();
    for j in 0..p {
        let column: Vec<f64> = match kind {
            0 | 1 if j > 0 => {
                (0..n).map(|i| ar * unit[(j - 1) * n + i] + (1.0 - ar * ar).sqrt() * normal(rng)).collect()
            }
            2 => (0..n).map(|i| common[i] + apart * normal(rng)).collect(),
            3 if j > 0 && rng.random_bool(0.4) => {
                let (from, sign) = (rng.random_range(0..j), pick(rng, &[1.0, -1.0, 0.5]));
                let off = pick(rng, &[0.0, near]);
                (0..n).map(|i| sign * unit[from * n + i] + off * normal(rng)).collect()
            }
            4 if j > 1 && j % 2 == 0 => {
                (0..n).map(|i| unit[(j - 1) * n + i] - unit[(j - 2) * n + i] + near * normal(rng)).collect()
            }
            _ => (0..n).map(|_| normal(rng)).collect(),
        };
        unit.extend(column);
    }
    let all = pick(rng, &[1.0, 1.0, 1.0 / (n as f64).sqrt(), 30.0, 1000.0, 1e6, 1e-6]);
    let spread = pick(rng, &[0.0, 0.0, 0.0, 1.0, 3.0, 6.0]);
    let scales: Vec<f64> = (0..p).map(|_| all * if spread > 0.0 { power(rng, -spread, spread) } else { 1.0 }).collect();
    let mean = pick(rng, &[0.0, 0.0, 1.0, 100.0]);
    let x: Vec<f64> = (0..n * p).map(|i| (unit[i] + mean) * scales[i / n]).collect();
    let noise = pick(rng, &[0.1, 0.5, 2.0]);
    let share = pick(rng, &[0.2, 0.5, 0.9]);
    let beta: Vec<f64> = (0..p).map(|_| if rng.random_bool(share) { normal(rng) } else { 0.0 }).collect();
    let y: Vec<f64> =
        (0..n).map(|i| (0..p).map(|j| beta[j] * unit[j * n + i]).sum::<f64>() + noise * normal(rng)).collect();
    let mut case = Case::dense(n, p, x, y, Penalty::new(0.0, 0.0, 0.0));
    case.intercept = rng.random_bool(0.3);
    if rng.random_bool(0.25) {
        let mut w: Vec<f64> = (0..n).map(|_| if rng.random_bool(0.2) { 0.0 } else { power(rng, -1.0, 1.0) }).collect();
        w[..2].iter_mut().for_each(|w| *w = w.max(0.5));
        case.weights = Some(w);
    }
    case.penalty = hard_penalty(rng, &case, all, &scales);
    case
}

/// A penalty in the units of the columns, which are `all` long but for their `scales`: with and without prices, boxes and a shrinkage of each
/// feature's own.
fn hard_penalty(rng: &mut ChaCha8Rng, case: &Case, all: f64, scales: &[f64]) -> Penalty {
    let half = 0.5 * (0..case.n).map(|i| case.weight(i) * case.y[i] * case.y[i]).sum::<f64>();
    let lambda0 = if rng.random_bool(0.05) { 0.0 } else { half * power(rng, -3.0, -0.5) };
    let is_scaled = scales.iter().any(|s| *s != all) && rng.random_bool(0.7);
    let typical = case.n as f64 * if is_scaled { 1.0 } else { all * all };
    let (is_l1, is_boxed) = (rng.random_bool(0.15), rng.random_bool(0.12));
    let lambda1 = if is_l1 { half.sqrt() * typical.sqrt() * power(rng, -2.5, -0.5) } else { 0.0 };
    let lambda2 = typical * power(rng, -3.0, 0.7) * if rng.random_bool(0.15) { power(rng, -8.0, 0.0) } else { 1.0 };
    let mut penalty = Penalty::new(lambda0, lambda1, lambda2);
    if is_boxed {
        let reach: Vec<f64> = scales.iter().map(|s| power(rng, -1.0, 0.7) / s).collect();
        let low = |(j, r): (usize, &f64)| if j % 3 == 0 { 0.0 } else { -r };
        penalty = penalty.with_bounds(Bounds::Each(reach.iter().enumerate().map(low).collect(), reach));
    }
    if rng.random_bool(0.4) {
        penalty = penalty.with_price((0..case.p).map(|_| pick(rng, &[0.0, 0.3, 1.0, 1.0, 4.0, 1e4])).collect());
    }
    if is_scaled {
        penalty = penalty.with_shrinkage(scales.iter().map(|s| s * s * pick(rng, &[0.5, 1.0, 1.0, 3.0])).collect());
    }
    penalty
}

/// Many members whose shares fit together: a price that few features pay for, a ridge that has something to give, and an answer that is close.
fn crowded(rng: &mut ChaCha8Rng) -> Case {
    let p = pick(rng, &[9, 10, 11, 12]);
    let n = pick(rng, &[p / 2, p - 1, p + 3, 3 * p]);
    let (ar, common) = (pick(rng, &[0.0, 0.5, 0.9, 0.97]), pick(rng, &[0.0, 0.0, 0.7, 2.0]));
    let shared: Vec<f64> = (0..n).map(|_| normal(rng)).collect();
    let mut unit: Vec<f64> = (0..n * p).map(|_| normal(rng)).collect();
    (n..n * p).for_each(|i| unit[i] = ar * unit[i - n] + (1.0 - ar * ar).sqrt() * unit[i]);
    if rng.random_bool(0.2) {
        let near = pick(rng, &[0.0, 1e-9, 1e-4, 0.1]);
        (0..n).for_each(|i| unit[3 * n + i] = near * normal(rng) - unit[n + i]);
    }
    let all = pick(rng, &[1.0, 1.0 / (n as f64).sqrt(), 30.0, 1000.0, 1e6, 1e-6]);
    let scales: Vec<f64> = (0..p).map(|j| all * [1.0, 1.0, 3.0][j % 3]).collect();
    let x: Vec<f64> = (0..n * p).map(|i| (unit[i] + common * shared[i % n]) * scales[i / n]).collect();
    let (share, noise) = (pick(rng, &[0.2, 0.4]), pick(rng, &[0.3, 1.0, 2.0]));
    let beta: Vec<f64> = (0..p).map(|_| if rng.random_bool(share) { normal(rng) } else { 0.0 }).collect();
    let y: Vec<f64> =
        (0..n).map(|i| (0..p).map(|j| beta[j] * unit[j * n + i]).sum::<f64>() + noise * normal(rng)).collect();
    let half = 0.5 * y.iter().map(|y| y * y).sum::<f64>();
    let lambda2 = n as f64 * all * all * power(rng, -2.0, 0.5);
    let penalty = Penalty::new(half * power(rng, -2.2, -0.7), 0.0, lambda2);
    let mut case = Case::dense(n, p, x, y, penalty);
    case.intercept = rng.random_bool(0.2);
    if rng.random_bool(0.3) {
        case.penalty = case.penalty.clone().with_price((0..p).map(|_| pick(rng, &[0.0, 0.3, 1.0, 1.0, 2.0])).collect());
    }
    case
}

/// P of every subset: by QR of the columns with the ridge below them, where there is nothing but a ridge.
fn every_cost(case: &Case) -> Vec<f64> {
    if case.penalty.lambda1 > 0.0 || !matches!(case.penalty.bounds, Bounds::Free) {
        return costs(case);
    }
    let (n, total) = (case.n, (0..case.n).map(|i| case.weight(i)).sum::<f64>());
    let centre = |v: &[f64]| -> Vec<f64> {
        let mut v = v.to_vec();
        if case.intercept {
            for _ in 0..2 {
                let mean = (0..n).map(|i| case.weight(i) * v[i]).sum::<f64>() / total;
                v.iter_mut().for_each(|x| *x -= mean);
            }
        }
        (0..n).map(|i| case.weight(i).sqrt() * v[i]).collect()
    };
    let columns: Vec<Vec<f64>> = (0..case.p).map(|j| centre(case.col(j))).collect();
    let y = centre(&case.y);
    let ridge: Vec<f64> =
        (0..case.p).map(|j| (2.0 * case.penalty.shrinkage.at(j) * case.penalty.lambda2).sqrt()).collect();
    let unit: Vec<f64> =
        (0..case.p).map(|j| columns[j].iter().map(|x| x * x).sum::<f64>().sqrt().max(ridge[j]).max(1e-300)).collect();
    let one = |mask: usize| {
        let set: Vec<usize> = (0..case.p).filter(|j| mask >> j & 1 == 1).collect();
        let paid: f64 = set.iter().map(|&j| price(&case.penalty, j)).sum();
        let (m, k) = (set.len(), n + set.len());
        let a = Mat::from_fn(k, m, |i, e| {
            let j = set[e];
            (if i < n {
                columns[j][i]
            } else if i - n == e {
                ridge[j]
            } else {
                0.0
            }) / unit[j]
        });
        let mut left = Mat::from_fn(k, 1, |i, _| if i < n { y[i] } else { 0.0 });
        if m > 0 {
            let target = left.clone();
            let mut b = left.clone();
            a.qr().solve_lstsq_in_place_with_conj(faer::Conj::No, b.as_mut());
            left = &target - &a * b.as_ref().subrows(0, m);
        }
        0.5 * left.col_as_slice(0).iter().map(|r| r * r).sum::<f64>() + paid
    };
    (0..1 << case.p).map(one).collect()
}

/// Pools of few members with small shares, at the first look, alone or after a move without one.
fn pooling(rng: &mut ChaCha8Rng) -> Tuning {
    Tuning {
        least_pooled: 0,
        most_unpooled: pick(rng, &[0, 0, 0, 300]),
        least_share: pick(rng, &[1e-3, 0.02, 0.08, 0.2]),
        pooled_taking: pick(rng, &[0.3, 0.8, 0.8, 0.99]),
        few_poor: pick(rng, &[1, 1, 32]),
        kept_ridge: pick(rng, &[0.0, 0.1, 0.1]),
        kept_distance: pick(rng, &[0.0, 0.2, 0.8]),
        looks_left: pick(rng, &[12.0, 1e9]),
        least_batch: pick(rng, &[1, 8]),
        ..tuning()
    }
}

/// In every open node with a pool: M ⪰ 0 on the members without a share and every set of the others that the budget allows.
fn check_convex(tree: &Tree<'_, '_>, tally: &mut Tally, label: &dyn Fn() -> String) {
    let context = tree.context();
    for node in tree.frontier.open().filter(|n| n.far.is_empty() && n.moved.is_some()) {
        let start = start(&context, node);
        let members = &start.members;
        let (rest, pooled): (Vec<usize>, Vec<usize>) = (0..members.len()).partition(|&a| members.share[a] == 0.0);
        if pooled.is_empty() {
            continue;
        }
        let q = context.inner_products(&members.positions);
        let held = |set: usize| pooled.iter().enumerate().filter(move |(e, _)| set >> e & 1 == 1).map(|(_, &a)| a);
        let fits = |set: usize| held(set).map(|a| members.share[a]).sum::<f64>() <= 1.0 + BUDGET_ROUNDING;
        // Sets that are in another one are allowed with it.
        let grows = |set: usize| (0..pooled.len()).any(|e| set >> e & 1 == 0 && fits(set | 1 << e));
        for set in (0..1usize << pooled.len()).filter(|&set| fits(set) && !grows(set)) {
            let part: Vec<usize> = rest.iter().copied().chain(held(set)).collect();
            let square = |a: usize| context.stored_square(&start, a) + members.moved[a].abs();
            let unit: Vec<f64> = part.iter().map(|&a| square(a).sqrt().max(1e-300)).collect();
            let left = Mat::from_fn(part.len(), part.len(), |e, f| {
                let d = if e == f { members.moved[part[e]] } else { 0.0 };
                (q.at(part[e], part[f]) - d) / (unit[e] * unit[f])
            });
            let least = left.self_adjoint_eigenvalues(Side::Lower).unwrap()[0];
            let say = || format!("{:?} {:?}: {}", members.share, members.moved, label());
            assert!(least >= -1e-13, "{least} on {set:b}, {}", say());
            tally.add("sets of several", u64::from(set.count_ones() > 1));
        }
        tally.add("nodes with a pool", 1);
        let inside = pooled.iter().filter(|&&a| members.choices[a] == Choice::In).count();
        tally.add("pooled and in", inside);
    }
}

mod attack {
    use super::*;

    /// Trees that search for an answer they were not told, whole searches and some that are stopped, with a pool in every node that is looked at.
    #[test]
    fn trees_with_pools_lose_no_better_subset() {
        let (mut tally, seeds) = (Tally::default(), seeds(400));
        for seed in seeds.clone() {
            let mut rng = rng(91_000_000 + seed);
            let case = if seed % 2 == 0 { hard(&mut rng) } else { crowded(&mut rng) };
            tally.add("problems", 1);
            // The reference is no use where it does not converge.
            let Ok(cost) = std::panic::catch_unwind(|| every_cost(&case)) else { continue };
            tally.add("with a reference", 1);
            let attack = Attack::with_costs(case, cost, seed, &mut rng);
            let (tuning, most) = (pooling(&mut rng), rng.random_range(1..12));
            let label = || format!("{tuning:?} {}", attack.label());
            attack.case.with_problem(|problem| {
                let mut seen = TreeTally::default();
                attack.run_with(problem, tuning.clone(), &mut seen, |tree| check_convex(tree, &mut tally, &label));
                tally.add("claims", seen.claims);
                for max_nodes in [None, Some(most)] {
                    let options = Options { max_nodes, ..attack.options() };
                    search(&attack, problem, (&options, tuning.clone()), &mut tally, &label);
                }
            });
        }
        tally.conclude(
            "pools",
            &seeds,
            &[
                ("with a reference", 950, "problems"),
                ("nodes with a pool", 300, "problems"),
                ("sets of several", 300, "problems"),
            ],
        );
    }

    /// The bound is above no subset, and what is said to be proved is.
    fn search(
        attack: &Attack,
        problem: &Problem<'_>,
        (options, tuning): (&Options, Tuning),
        tally: &mut Tally,
        label: &dyn Fn() -> String,
    ) {
        let (mut observer, least, slack) = ((), attack.least(), attack.slack());
        let mut monitor = Monitor::new(options, &mut observer);
        let found = attack.plant_with_answer(problem, options, tuning, &mut monitor).grow(&mut monitor, None).unwrap();
        let say = || format!("{} {:?}, {:?}, least {least}: {}", found.lower_bound, found.ended, found.ranked, label());
        let best = problem.value(&found.coefficients).unwrap();
        assert!(found.lower_bound <= least + slack && best >= least - 10.0 * slack, "{}", say());
        let room = |of: f64| (options.gap * of.abs()).max(options.absolute(problem)) + 20.0 * slack;
        if best - found.lower_bound <= room(best) {
            assert!(best <= least + room(best), "not the best: {}", say());
            tally.add("proved", 1);
        }
        if found.ranked.len() == options.top && found.ranked.iter().all(|one| one.proved) {
            let last = found.ranked.last().map_or(best, |one| one.objective);
            assert!(attack.below(last - room(last)) < options.top, "not the best ones: {}", say());
            tally.add("lists proved", 1);
        }
        tally.add("stopped", u64::from(found.ended == Status::NodeLimit));
    }
}
