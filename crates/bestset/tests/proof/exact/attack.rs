//! Branch-and-bound under attack: inputs that the other tests do not draw, every claim held against enumeration.
//!
//! Few samples for each feature, so that curvature moves in every node; columns that stand in for one another; scales from
//! 1e-4 to 1e4 in one problem; factors of price and shrinkage, offsets, weights of zero and boxes together; limits of size;
//! several answers; interrupts at any row and limits of nodes and memory.

use super::{check, scale};
use crate::common::{
    Case, Enumeration, RngExt, Tally, UNIFORM, enumerate, hostile, pick, power, price, rng, seeds, sized,
};
use bestset::{Bounds, CancelFlag, Loss, Method, Options, Penalty, Solution, Status, TraceRow, solve, solve_observed};
use std::collections::{HashMap, HashSet};
use std::time::Duration;

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

/// Holds every claim of a solution, ranks among them, against enumeration; whether it was proved.
fn check_ranks(case: &Case, all: &Enumeration, solution: &Solution, context: &str) -> bool {
    let (scale, k) = (scale(case, all), case.max_size.unwrap_or(case.p));
    let costs = if solution.ranked.iter().any(|r| r.proved) { distinct(case, all, k, scale) } else { Vec::new() };
    let is_proved = check(case, all, solution, context);
    let context = || {
        let ranked: Vec<_> = solution.ranked.iter().map(|r| (r.objective, &r.coefficients.support, r.proved)).collect();
        format!("{context}: {} {:?}, {ranked:?}, {case:?}", solution.status, solution.certificate)
    };
    assert!(solution.coefficients.nonzeros() <= k, "too many: {}", context());
    let last = solution.ranked.last().map_or(0.0, |r| r.objective);
    let room = 2e-6 * last.abs() + 2e-9 + 1e-11 * scale;
    let supports: HashSet<&Vec<usize>> = solution.ranked.iter().map(|r| &r.coefficients.support).collect();
    for (rank, found) in solution.ranked.iter().enumerate().filter(|r| r.1.proved) {
        let missed = costs.iter().find(|c| c.0 < found.objective - room && !supports.contains(&c.1));
        assert!(missed.is_none(), "before rank {rank} comes {missed:?}: {}", context());
    }
    assert_eq!(supports.len(), solution.ranked.len(), "a subset twice: {}", context());
    assert!(solution.ranked.windows(2).all(|w| w[0].objective <= w[1].objective), "out of order: {}", context());
    is_proved
}

/// Everything at once, every loss, every size, one answer or several.
#[test]
fn hostile_problems_equal_enumeration() {
    let (seeds, mut tally) = (seeds(400), Tally::default());
    for seed in seeds.clone() {
        let mut rng = rng(901_000_000 + seed);
        let losses: &[Loss] = if seed % 2 == 0 { &[Loss::Squared] } else { &UNIFORM };
        let mut case = hostile(&mut rng, losses, 8);
        case.max_size = pick(&mut rng, &[None, Some(1), Some(case.p.div_ceil(2)), Some(case.p)]);
        let all = enumerate(&case);
        let top = pick(&mut rng, &[1, 1, 3, 1000]);
        let threads = Some(pick(&mut rng, &[1, 2, 4]));
        let options = Options { method: Method::Exact, top, threads, max_nodes: Some(4000), ..Options::default() };
        let solution = case.with_problem(|problem| solve(problem, &options).unwrap());
        let proved = check_ranks(&case, &all, &solution, &format!("{seed}, top {top}"));
        tally.add("problems", 1);
        tally.add("proved", u8::from(proved));
        tally.add("split", u8::from(solution.iterations > 1));
        tally.add("ranks", solution.ranked.len());
        tally.add("ranks proved", solution.ranked.iter().filter(|r| r.proved).count());
    }
    tally.conclude(
        "hostile problems",
        &seeds,
        &[("proved", 900, "problems"), ("split", 250, "problems"), ("ranks proved", 900, "ranks")],
    );
}

/// Cancels after so many rows.
fn cancel_after(rows: usize) -> (CancelFlag, impl FnMut(&TraceRow)) {
    let (cancel, mut seen) = (CancelFlag::default(), 0);
    let flag = cancel.clone();
    let observer = move |_: &TraceRow| {
        seen += 1;
        if seen > rows {
            flag.cancel();
        }
    };
    (cancel, observer)
}

/// Whenever a search is cut short, what it says is true.
#[test]
fn searches_cut_short_claim_nothing_wrong() {
    let (seeds, mut tally) = (seeds(150), Tally::default());
    for seed in seeds.clone() {
        let mut rng = rng(902_000_000 + seed);
        let losses: &[Loss] = if seed % 3 < 2 { &[Loss::Squared] } else { &UNIFORM };
        let mut case = hostile(&mut rng, losses, if seed % 5 == 0 { 11 } else { 7 });
        case.max_size = pick(&mut rng, &[None, None, Some(2), Some(case.p)]);
        let all = enumerate(&case);
        tally.add("problems", 1);
        case.with_problem(|problem| {
            let base = Options { method: Method::Exact, top: pick(&mut rng, &[1, 1, 4]), ..Options::default() };
            for _ in 0..4 {
                let rows = rng.random_range(0..25);
                let (cancel, mut observer) = cancel_after(rows);
                let options = Options { cancel, ..base.clone() };
                let solution = solve_observed(problem, &options, &mut observer).unwrap();
                check_ranks(&case, &all, &solution, &format!("{seed}: after {rows} rows"));
                tally.add("solves", 1);
                tally.add("interrupted", u8::from(solution.status == Status::Interrupted));
                let (nodes, bytes) = (rng.random_range(1..40), rng.random_range(1..400));
                let solution = solve(problem, &Options { max_nodes: Some(nodes), ..base.clone() }).unwrap();
                check_ranks(&case, &all, &solution, &format!("{seed}: {nodes} nodes"));
                tally.add("out of nodes", u8::from(solution.status == Status::NodeLimit));
                // With one answer asked for, few trees of this size have nodes left beside those at work.
                let many = Options { max_memory: Some(bytes), top: 40, ..base.clone() };
                let solution = solve(problem, &many).unwrap();
                check_ranks(&case, &all, &solution, &format!("{seed}: {bytes} bytes"));
                tally.add("out of memory", u8::from(solution.status == Status::MemoryLimit));
            }
        });
    }
    let least = [("interrupted", 70, "solves"), ("out of nodes", 60, "solves"), ("out of memory", 300, "solves")];
    tally.conclude("searches cut short", &seeds, &least);
}

/// A proof of the answer is a bound that reaches it, wherever the search is stopped: at a row, or by the clock between two.
#[test]
fn being_stopped_proves_nothing() {
    let (seeds, mut tally) = (seeds(80), Tally::default());
    for seed in seeds.clone() {
        let mut rng = rng(903_000_000 + seed);
        let case = hostile(&mut rng, &UNIFORM, 10);
        tally.add("problems", 1);
        case.with_problem(|problem| {
            let mut rows = 0;
            let options = Options::with_method(Method::Exact);
            let full = solve_observed(problem, &options, &mut |_: &TraceRow| rows += 1).unwrap();
            let check = |found: Solution| {
                let closed = found.certificate.gap() <= 2e-9f64.max(2e-6 * found.objective().abs());
                let context = format!("{seed}: {} {:?} {:?}", found.status, found.certificate, found.ranked);
                assert!(closed || !found.ranked[0].proved, "proved without a bound: {context}");
                assert!(closed || found.status != Status::Converged || full.status == Status::Converged, "{context}");
                !closed
            };
            for _ in 0..15 {
                let (cancel, mut observer) = cancel_after(rng.random_range(0..rows));
                let cancelled = Options { cancel, ..options.clone() };
                let open = check(solve_observed(problem, &cancelled, &mut observer).unwrap());
                tally.add("stopped", 1);
                tally.add("open", u8::from(open));
                let time_limit = Some(Duration::from_secs_f64(full.seconds * rng.random_range(0.0..1.0)));
                check(solve(problem, &Options { time_limit, ..options.clone() }).unwrap());
            }
        });
    }
    tally.conclude("stopped searches", &seeds, &[("open", 400, "stopped")]);
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
        for k in 1..=case.p {
            case.max_size = Some(k);
            let solution = case.with_problem(|p| solve(p, &Options::with_method(Method::Exact)).unwrap());
            let optimal = check_ranks(&case, &all, &solution, &trial.to_string());
            assert!(optimal || k < case.p, "a size of p is no limit: {:?}", solution.certificate);
        }
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
                let solution = solve(&sized(problem.clone(), k), &options).unwrap();
                assert!(solution.objective() < 1e-6, "{k:?}, top {top}: {}", solution.objective());
            }
        }
    });
}

/// One problem without a ridge, every coefficient within bounds.
fn within_boxes(seed: u64, tally: &mut Tally) {
    let mut rng = rng(904_000_000 + seed);
    let mut case = hostile(&mut rng, &[Loss::Squared], 7);
    let reach: Vec<f64> =
        (0..case.p).map(|j| power(&mut rng, -0.5, 0.7) * (case.n as f64).sqrt() / case.norm(j).max(1e-9)).collect();
    case.penalty.lambda2 = if seed.is_multiple_of(4) { 1e-14 } else { 0.0 };
    case.penalty.bounds = Bounds::Each(reach.iter().map(|m| -m).collect(), reach);
    let all = enumerate(&case);
    let top = pick(&mut rng, &[1, 2, 3, 6]);
    let options = Options { method: Method::Exact, top, max_nodes: Some(4000), ..Options::default() };
    let solution = case.with_problem(|problem| solve(problem, &options).unwrap());
    let proved = check_ranks(&case, &all, &solution, &format!("{seed}, top {top}"));
    tally.add("problems", 1);
    tally.add("proved", u8::from(proved));
    tally.add("ranks", solution.ranked.len());
    tally.add("ranks proved", solution.ranked.iter().filter(|r| r.proved).count());
}

/// Boxes without a ridge, or with less of it than the rounding of a column: members at zero have nothing to give, and no rule
/// may take that for less than nothing.
#[test]
fn boxes_without_a_ridge_lose_no_subset() {
    let (seeds, mut tally) = (seeds(300), Tally::default());
    for seed in seeds.clone() {
        within_boxes(seed, &mut tally);
    }
    tally.conclude("boxes without a ridge", &seeds, &[("proved", 900, "problems"), ("ranks proved", 800, "ranks")]);
}

/// Every subset of this one fits perfectly and P is rounding, by which its ranks were out of order.
#[test]
fn perfect_fits_come_in_order() {
    within_boxes(500_069, &mut Tally::default());
}
