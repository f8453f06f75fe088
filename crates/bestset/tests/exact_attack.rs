//! Branch-and-bound under attack: inputs that the other tests do not draw, every claim held against enumeration.
//!
//! Few samples for each feature, so that curvature moves in every node; columns that stand in for one another; scales from
//! 1e-4 to 1e4 in one problem; factors of price and shrinkage, offsets, weights of zero and boxes together; limits of size;
//! several answers; interrupts at any row and limits of nodes and memory.

mod common;

use bestset::solver::CancelFlag;
use bestset::{Bounds, Loss, Method, Options, Penalty, Problem, Solution, Status, TraceRow, solve};
use common::{Case, ChaCha8Rng, Enumeration, LOSSES, RngExt, enumerate, loss_at, normal, pick, power, price, rng};
use std::collections::{HashMap, HashSet};
use std::time::Duration;

/// A problem of the kind described above; `n` between p/1.5 and 3p.
fn hostile(rng: &mut ChaCha8Rng, losses: &[Loss], most: usize) -> Case {
    let p = rng.random_range(2..=most);
    let n = rng.random_range((p * 2).div_ceil(3).max(3)..=3 * p);
    let (kind, spread) = (rng.random_range(0..5), pick(rng, &[0.0, 0.0, 1.0, 4.0]));
    let near = pick(rng, &[0.3, 0.1, 0.01]);
    let scales: Vec<f64> = (0..p).map(|_| if spread > 0.0 { power(rng, -spread, spread) } else { 1.0 }).collect();
    let common: Vec<f64> = (0..n).map(|_| normal(rng)).collect();
    let mut unit: Vec<f64> = Vec::new();
    for j in 0..p {
        let column: Vec<f64> = match kind {
            // Correlations near 1, with signs.
            0 | 1 => (0..n).map(|i| common[i] + near * normal(rng)).collect(),
            2 if j % 3 > 0 => (0..n).map(|i| unit[(j - j % 3) * n + i] + near * normal(rng)).collect(),
            3 if j > 0 && rng.random_bool(0.3) => unit[..n].to_vec(),
            _ => (0..n).map(|_| normal(rng)).collect(),
        };
        unit.extend(column);
    }
    let noise = pick(rng, &[0.01, 0.5, 2.0]);
    let beta: Vec<f64> = (0..p).map(|_| if rng.random_bool(0.5) { normal(rng) } else { 0.0 }).collect();
    let shift = pick(rng, &[0.0, 0.0, 3.0]);
    let signal: Vec<f64> =
        (0..n).map(|i| shift + (0..p).map(|j| beta[j] * unit[j * n + i]).sum::<f64>() + noise * normal(rng)).collect();
    let loss = pick(rng, losses);
    let offset: Option<Vec<f64>> = rng.random_bool(0.4).then(|| (0..n).map(|_| 2.0 * normal(rng)).collect());
    let mut y = signal;
    if loss.is_classification() {
        y.iter_mut().for_each(|y| *y = if *y > shift { 1.0 } else { -1.0 });
        (y[0], y[1]) = (1.0, -1.0);
    } else if let Some(o) = &offset {
        y.iter_mut().zip(o).for_each(|(y, o)| *y += o);
    }
    let weights = rng.random_bool(0.4).then(|| {
        let mut w: Vec<f64> = (0..n).map(|_| if rng.random_bool(0.2) { 0.0 } else { power(rng, -1.0, 1.0) }).collect();
        w[..2].iter_mut().for_each(|w| *w = w.max(0.5));
        w
    });
    let x: Vec<f64> = (0..n * p).map(|i| unit[i] * scales[i / n]).collect();
    let mut case = Case::dense(n, p, x, y, Penalty::new(0.0, 0.0, 0.0));
    (case.loss, case.weights, case.offset, case.intercept) = (loss, weights, offset, rng.random_bool(0.5));
    case.penalty = penalty(rng, &case, &scales);
    case
}

fn penalty(rng: &mut ChaCha8Rng, case: &Case, scales: &[f64]) -> Penalty {
    let (n, p) = (case.n, case.p);
    let offset = case.offset.clone().unwrap_or_else(|| vec![0.0; n]);
    let at_zero = (0..n).map(|i| case.weight(i) * loss_at(case.loss, offset[i], case.y[i]).0).sum::<f64>();
    let lambda0 = if rng.random_bool(0.15) { 0.0 } else { at_zero * power(rng, -3.0, -0.7) };
    let lambda1 = if rng.random_bool(0.5) { 0.0 } else { at_zero / n as f64 * power(rng, -2.0, -0.3) };
    let boxed = rng.random_range(0..6);
    let lambda2 = if boxed < 2 && rng.random_bool(0.5) { 0.0 } else { n as f64 * power(rng, -4.0, 0.3) };
    let reach: Vec<f64> = scales.iter().map(|s| power(rng, -0.7, 0.7) / s).collect();
    let bounds = match boxed {
        0 => Bounds::Each(reach.iter().map(|r| -r).collect(), reach.clone()),
        1 => Bounds::Each((0..p).map(|j| if j % 2 == 0 { 0.0 } else { -0.3 * reach[j] }).collect(), reach.clone()),
        _ => Bounds::Free,
    };
    let mut penalty = Penalty::new(lambda0, lambda1, lambda2).with_bounds(bounds);
    if rng.random_bool(0.5) {
        let one = |rng: &mut ChaCha8Rng| pick(rng, &[0.0, 0.3, 1.0, 1.0, 4.0]);
        penalty = penalty.with_price((0..p).map(|_| one(rng)).collect());
    }
    // The scale of a column in its penalty, half of the time: otherwise large columns are nearly unshrunk.
    let scaled = rng.random_bool(0.5);
    let free = if boxed < 2 { 0.0 } else { 0.1 };
    let factor = |rng: &mut ChaCha8Rng, s: f64| pick(rng, &[free, 0.5, 1.0, 3.0]) * if scaled { s * s } else { 1.0 };
    if scaled || rng.random_bool(0.4) {
        penalty = penalty.with_shrinkage(scales.iter().map(|&s| factor(rng, s)).collect());
    }
    penalty
}

/// What rounding is relative to: the loss at nothing, without the intercept, and the terms of its sum.
fn scale(case: &Case, all: &Enumeration) -> f64 {
    let offset = case.offset.clone().unwrap_or_else(|| vec![0.0; case.n]);
    case.model().loss_sum(&offset, 0.0) + all.best
}

/// The subsets of at most k features with their costs, without those that a smaller one fits as well.
fn distinct(case: &Case, all: &Enumeration, k: usize, scale: f64) -> Vec<(f64, Vec<usize>)> {
    let fits: HashMap<&Vec<usize>, f64> = all
        .costs
        .iter()
        .rev()
        .map(|c| (&c.1, c.0 - c.1.iter().map(|&j| price(&case.penalty, j)).sum::<f64>()))
        .collect();
    let counts = |s: &Vec<usize>| {
        s.len() <= k
            && s.iter().all(|j| {
                let rest: Vec<usize> = s.iter().copied().filter(|i| i != j).collect();
                fits.get(&rest).is_some_and(|fit| fit - fits[s] > 1e-9 * scale)
            })
    };
    let mut seen = HashSet::new();
    all.costs.iter().filter(|c| counts(&c.1) && seen.insert(&c.1)).cloned().collect()
}

/// Holds every claim of a solution against enumeration; whether it was proved.
fn check(case: &Case, all: &Enumeration, k: usize, solution: &Solution, context: &str) -> bool {
    let (c, scale, least) = (solution.certificate, scale(case, all), all.sized[k]);
    let costs = if solution.ranked.iter().any(|r| r.proved) { distinct(case, all, k, scale) } else { Vec::new() };
    let context = || {
        let ranked: Vec<_> = solution.ranked.iter().map(|r| (r.objective, &r.coefficients.support, r.proved)).collect();
        format!("{context}: {} {c:?}, k = {k}, least {least}, {ranked:?}, {case:?}", solution.status)
    };
    assert!(solution.coefficients.nonzeros() <= k, "too many: {}", context());
    assert!(c.lower_bound <= least + 1e-12 * scale, "the bound is wrong by {:e}: {}", c.lower_bound - least, context());
    assert!(c.objective >= least - 1e-11 * scale, "better than best: {}", context());
    let room = 1e-6 * least.abs() + 2e-9 + 1e-12 * scale;
    let optimal = solution.status == Status::Optimal;
    assert!(!optimal || c.objective <= least + room, "not optimal: {}", context());
    let last = solution.ranked.last().map_or(0.0, |r| r.objective);
    let room = 2e-6 * last.abs() + 2e-9 + 1e-11 * scale;
    let supports: HashSet<&Vec<usize>> = solution.ranked.iter().map(|r| &r.coefficients.support).collect();
    for (rank, found) in solution.ranked.iter().enumerate().filter(|r| r.1.proved) {
        let missed = costs.iter().find(|c| c.0 < found.objective - room && !supports.contains(&c.1));
        assert!(missed.is_none(), "before rank {rank} comes {missed:?}: {}", context());
    }
    assert_eq!(supports.len(), solution.ranked.len(), "a subset twice: {}", context());
    assert!(solution.ranked.windows(2).all(|w| w[0].objective <= w[1].objective), "out of order: {}", context());
    optimal
}

fn sized<'a>(problem: &Problem<'a>, k: Option<usize>) -> Problem<'a> {
    match k {
        Some(k) => problem.clone().with_max_size(k).unwrap(),
        None => problem.clone(),
    }
}

/// Everything at once, every loss, every size, one answer or several.
#[test]
fn hostile_problems_equal_enumeration() {
    let mut rng = rng(901);
    let (mut proved, mut total, mut split) = (0, 0, 0);
    for trial in 0..400 {
        let losses: &[Loss] = if trial % 2 == 0 { &[Loss::Squared] } else { &LOSSES };
        let case = hostile(&mut rng, losses, 8);
        let all = enumerate(&case);
        let k = pick(&mut rng, &[None, Some(1), Some(case.p.div_ceil(2)), Some(case.p)]);
        let top = pick(&mut rng, &[1, 1, 3, 1000]);
        let threads = Some(pick(&mut rng, &[1, 2, 4]));
        case.with_problem(|problem| {
            let options = Options { method: Method::Exact, top, threads, max_nodes: Some(4000), ..Options::default() };
            let solution = solve(&sized(problem, k), &options).unwrap();
            let optimal = check(&case, &all, k.unwrap_or(case.p), &solution, &format!("{trial}, top {top}"));
            proved += usize::from(optimal);
            split += usize::from(solution.iterations > 1);
            total += 1;
        });
    }
    eprintln!("{proved} of {total} proved, {split} split");
    assert!(proved >= total * 9 / 10 && split > total / 4, "{proved} of {total}, {split} split");
}

/// Whenever a search is cut short, what it says is true.
#[test]
fn searches_cut_short_claim_nothing_wrong() {
    let mut rng = rng(902);
    let mut cut = [0; 3];
    for trial in 0..150 {
        let losses: &[Loss] = if trial % 3 < 2 { &[Loss::Squared] } else { &LOSSES };
        let case = hostile(&mut rng, losses, if trial % 5 == 0 { 11 } else { 7 });
        let all = enumerate(&case);
        let k = pick(&mut rng, &[None, None, Some(2), Some(case.p)]);
        case.with_problem(|problem| {
            let problem = sized(problem, k);
            let base = Options { method: Method::Exact, top: pick(&mut rng, &[1, 1, 4]), ..Options::default() };
            for _ in 0..4 {
                let cancel = CancelFlag::default();
                let (flag, after, mut rows) = (cancel.clone(), rng.random_range(0..25), 0);
                let mut observer = move |_: &TraceRow| {
                    rows += 1;
                    if rows > after {
                        flag.cancel();
                    }
                };
                let options = Options { cancel, ..base.clone() };
                let solution = bestset::solver::solve_observed(&problem, &options, &mut observer).unwrap();
                check(&case, &all, k.unwrap_or(case.p), &solution, &format!("{trial}: after {after} rows"));
                cut[0] += usize::from(solution.status == Status::Interrupted);
                let (nodes, bytes) = (rng.random_range(1..40), rng.random_range(1..400));
                let solution = solve(&problem, &Options { max_nodes: Some(nodes), ..base.clone() }).unwrap();
                check(&case, &all, k.unwrap_or(case.p), &solution, &format!("{trial}: {nodes} nodes"));
                cut[1] += usize::from(solution.status == Status::NodeLimit);
                let solution = solve(&problem, &Options { max_memory: Some(bytes), ..base.clone() }).unwrap();
                check(&case, &all, k.unwrap_or(case.p), &solution, &format!("{trial}: {bytes} bytes"));
                cut[2] += usize::from(solution.status == Status::MemoryLimit);
            }
        });
    }
    assert!(cut[0] > 40 && cut[1] > 15 && cut[2] > 0, "{cut:?}");
}

/// A proof of the answer is a bound that reaches it, wherever the clock stops the search.
#[test]
fn the_clock_proves_nothing() {
    let (mut rng, mut cut) = (rng(903), 0);
    for trial in 0..80 {
        let case = hostile(&mut rng, &LOSSES, 10);
        case.with_problem(|problem| {
            let full = solve(problem, &Options::with_method(Method::Exact)).unwrap();
            for _ in 0..30 {
                let time_limit = Some(Duration::from_secs_f64(full.seconds * rng.random_range(0.0..1.0)));
                let options = Options { method: Method::Exact, time_limit, ..Options::default() };
                let found = solve(problem, &options).unwrap();
                let closed = found.certificate.gap() <= 2e-9f64.max(2e-6 * found.objective().abs());
                let context = format!("{trial}: {} {:?} {:?}", found.status, found.certificate, found.ranked);
                assert!(closed || !found.ranked[0].proved, "proved without a bound: {context}");
                assert!(closed || found.status != Status::Converged || full.status == Status::Converged, "{context}");
                cut += usize::from(!closed);
            }
        });
    }
    assert!(cut > 100, "{cut}");
}

/// Prices of nothing for some features and a limit of size without λ0: the price that the limit adds is paid by all.
#[test]
fn free_features_count_towards_a_size() {
    let mut rng = rng(905);
    for trial in 0..60 {
        let mut case = hostile(&mut rng, &[Loss::Squared], 7);
        case.penalty.lambda0 = 0.0;
        case.penalty = case.penalty.clone().with_price((0..case.p).map(|j| [0.0, 2.0][j % 2]).collect());
        let all = enumerate(&case);
        case.with_problem(|problem| {
            for k in 1..=case.p {
                let solution = solve(&sized(problem, Some(k)), &Options::with_method(Method::Exact)).unwrap();
                let optimal = check(&case, &all, k, &solution, &trial.to_string());
                assert!(optimal || k < case.p, "a size of p is no limit: {:?}", solution.certificate);
            }
        });
    }
}
