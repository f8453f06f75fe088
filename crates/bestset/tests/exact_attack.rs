//! Branch-and-bound under attack: inputs that the other tests do not draw, every claim held against enumeration.
//!
//! Few samples for each feature, so that curvature moves in every node; columns that stand in for one another; scales from
//! 1e-4 to 1e4 in one problem; factors of price and shrinkage, offsets, weights of zero and boxes together; limits of size;
//! several answers; interrupts at any row and limits of nodes and memory.

mod common;

use bestset::CancelFlag;
use bestset::design::Dense;
use bestset::{Bounds, Loss, Method, Options, Penalty, Problem, Solution, Status, TraceRow, solve};
use common::{Case, ChaCha8Rng, Enumeration, LOSSES, RngExt, enumerate, hostile, normal, pick, power, price, rng};
use std::collections::{HashMap, HashSet};
use std::time::Duration;

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
                let solution = bestset::solve_observed(&problem, &options, &mut observer).unwrap();
                check(&case, &all, k.unwrap_or(case.p), &solution, &format!("{trial}: after {after} rows"));
                cut[0] += usize::from(solution.status == Status::Interrupted);
                let (nodes, bytes) = (rng.random_range(1..40), rng.random_range(1..400));
                let solution = solve(&problem, &Options { max_nodes: Some(nodes), ..base.clone() }).unwrap();
                check(&case, &all, k.unwrap_or(case.p), &solution, &format!("{trial}: {nodes} nodes"));
                cut[1] += usize::from(solution.status == Status::NodeLimit);
                // With one answer asked for, few trees of this size have nodes left beside those at work.
                let many = Options { max_memory: Some(bytes), top: 40, ..base.clone() };
                let solution = solve(&problem, &many).unwrap();
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

/// Nothing to pay and a fit without loss: P is zero, and what rounding explains in the bound is not measured by it.
#[test]
fn an_answer_that_costs_nothing_is_no_false_certificate() {
    let x = vec![1.3441420418580439, 1.4150259743975853, 1.3942326166067098];
    let reach = vec![0.44380374799540845, 4.830142859749259, 1.8336176714803367];
    let bounds = Bounds::Each(reach.iter().map(|r| -r).collect(), reach);
    let mut case = Case::dense(1, 3, x, vec![0.9777580592267172], Penalty::new(0.0, 0.0, 0.0).with_bounds(bounds));
    (case.weights, case.offset) = (Some(vec![0.5]), Some(vec![-1.1150653922657983]));
    case.with_problem(|problem| {
        for k in [None, Some(1), Some(2), Some(3)] {
            for top in [1, 3, 10, 40] {
                let options = Options { method: Method::Exact, top, max_nodes: Some(4000), ..Options::default() };
                let solution = solve(&sized(problem, k), &options);
                assert!(solution.is_ok_and(|s| s.objective() < 1e-6), "{k:?}, top {top}");
            }
        }
    });
}

/// Boxes without a ridge, or with less of it than the rounding of a column: members at zero have nothing to give, and no rule
/// may take that for less than nothing.
#[test]
fn boxes_without_a_ridge_lose_no_subset() {
    let (mut rng, mut proved) = (rng(904), 0);
    for trial in 0..300 {
        let mut case = hostile(&mut rng, &[Loss::Squared], 7);
        let reach: Vec<f64> =
            (0..case.p).map(|j| power(&mut rng, -0.5, 0.7) * (case.n as f64).sqrt() / case.norm(j).max(1e-9)).collect();
        case.penalty.lambda2 = if trial % 4 == 0 { 1e-14 } else { 0.0 };
        case.penalty.bounds = Bounds::Each(reach.iter().map(|m| -m).collect(), reach);
        let all = enumerate(&case);
        case.with_problem(|problem| {
            let top = pick(&mut rng, &[1, 2, 3, 6]);
            let options = Options { method: Method::Exact, top, max_nodes: Some(4000), ..Options::default() };
            let solution = solve(problem, &options).unwrap();
            check(&case, &all, case.p, &solution, &format!("{trial}, top {top}"));
            proved += solution.ranked.iter().filter(|r| r.proved).count();
        });
    }
    assert!(proved > 500, "{proved}");
}

/// Dear features near their thresholds and more cheap ones, far from theirs, than memory holds: the best subsets after the first
/// have cheap features, and what is decided of the dear ones says nothing about them.
#[test]
fn the_best_subsets_are_looked_for_among_far_features_too() {
    let mut rng = rng(905);
    let (n, dear, cheap) = (30, 300, 4100);
    let y: Vec<f64> = (0..n).map(|_| normal(&mut rng)).collect();
    let length = y.iter().map(|y| y * y).sum::<f64>().sqrt();
    let column = |share: f64, rng: &mut ChaCha8Rng| -> Vec<f64> {
        let noise: Vec<f64> = (0..n).map(|_| normal(rng)).collect();
        let along = noise.iter().zip(&y).map(|(e, y)| e * y).sum::<f64>() / (length * length);
        noise.iter().zip(&y).map(|(e, y)| 0.1 * (e - along * y) + share * y / (length * length)).collect()
    };
    // x_jᵀy = share: thresholds are 2√(λ0 λ2) = 2 for the dear ones and 0.2 for the cheap.
    let x: Vec<f64> = (0..dear + cheap)
        .flat_map(|j| if j < dear { column(rng.random_range(0.9..1.1), &mut rng) } else { column(0.01, &mut rng) })
        .collect();
    let prices = (0..dear + cheap).map(|j| if j < dear { 1.0 } else { 0.01 }).collect();
    let design = bestset::design::Dense::new(n, dear + cheap, x).unwrap();
    let penalty = Penalty::new(1.0, 0.0, 1.0).with_price(prices);
    let problem = Problem::new(&design, y, penalty).unwrap();
    let options = Options { method: Method::Exact, top: 3, max_nodes: Some(400), ..Options::default() };
    let found = solve(&problem, &options).unwrap();
    let proved: Vec<&[usize]> =
        found.ranked.iter().filter(|r| r.proved).map(|r| r.coefficients.support.as_slice()).collect();
    let say: Vec<_> = found.ranked.iter().map(|r| (r.objective, r.coefficients.support.clone(), r.proved)).collect();
    assert!(proved.iter().all(|s| s.iter().all(|&j| j >= dear)), "{} {say:?}", found.status);
}

/// Targets 10^8 to 10^14 times their spread from zero: P keeps the digits that y − b has, and no claim holds for less than the
/// optimum, which is that of the targets less a constant. What the last digit of the intercept costs is part of P.
#[test]
fn targets_far_from_zero_keep_their_digits() {
    let mut rng = rng(614);
    let mut proved = [0; 7];
    for trial in 0..210 {
        let (n, p) = (rng.random_range(6..20), 5);
        let x: Vec<f64> = (0..n * p).map(|_| normal(&mut rng)).collect();
        let from = power(&mut rng, 8.0, 8.5) * 10f64.powi(trial as i32 % 7) * pick(&mut rng, &[-1.0, 1.0]);
        let far: Vec<f64> = (0..n).map(|i| x[i] + 0.5 * normal(&mut rng) + from).collect();
        // Exact, since all are nearly the same number.
        let near: Vec<f64> = far.iter().map(|y| y - far[0]).collect();
        let design = Dense::new(n, p, x).unwrap();
        let problem = |y: &[f64]| {
            let loss = if trial % 3 == 0 { Loss::Huber { delta: 0.4 } } else { Loss::Squared };
            let problem = Problem::new(&design, y.to_vec(), Penalty::new(0.3, 0.0, 0.05)).unwrap();
            problem.with_intercept(true).with_loss(loss).unwrap()
        };
        let options = Options { gap: 1e-12, gap_absolute: 0.0, ..Options::with_method(Method::Exact) };
        let (best, found) = (solve(&problem(&near), &options).unwrap(), solve(&problem(&far), &options).unwrap());
        let (low, high) = (best.certificate.lower_bound, best.objective());
        let (bound, objective) = (found.certificate.lower_bound, found.objective());
        let context = format!("{trial}: {from:e}, {bound} ≤ {low}..{high} ≤ {objective}");
        assert!(high - low <= 1e-9 * high, "{context}");
        assert!(bound <= high * (1.0 + 1e-12), "{context}");
        assert!(objective >= low * (1.0 - 1e-12), "{context}");
        // The intercept is off by half its last digit or a little more.
        let digit = f64::EPSILON * found.coefficients.intercept.abs();
        assert!(objective <= high * (1.0 + 1e-9) + n as f64 * digit * digit, "{context}");
        proved[trial % 7] += usize::from(found.certificate.relative_gap() <= 1e-6);
    }
    assert_eq!(proved[..5], [30; 5], "{proved:?}");
}
