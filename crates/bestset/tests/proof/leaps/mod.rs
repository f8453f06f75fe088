//! Leaps and bounds against enumeration in twice the precision, and against published best subsets of real data.

mod attack;
mod columns;
mod kept_out;
mod wide;

use crate::common::{
    Case, RngExt, Shape, assert_close, awkward_columns, case, enumerate, holds, noise, power, rng, sizes_hold,
    twofold_sizes,
};
use bestset::{CancelFlag, Error, Loss, Method, Options, Penalty, Status, Subsets, solve, subsets};
use std::time::Duration;

/// Checks every claim about every size; how many are proved.
fn check(data: &Case, best: &[f64], found: &Subsets, context: &str) -> usize {
    sizes_hold(data, best, found, (0.0, 1e-9), context)
}

#[test]
fn every_size_equals_enumeration() {
    let mut rng = rng(401);
    let (mut proved, mut total, mut dependent) = (0, 0, 0);
    for trial in 0..1200 {
        let data = awkward_columns(&mut rng, if trial % 40 == 0 { 12 } else { 8 }, trial % 3 == 0);
        let best = twofold_sizes(&data);
        data.with_problem(|problem| match subsets(problem, data.p, &Options::default()) {
            Ok(found) => {
                assert_eq!(found.sizes.len(), data.p);
                proved += check(&data, &best, &found, &trial.to_string());
                total += data.p;
            }
            Err(Error::Dependent { column, share, .. }) => {
                assert!(share < 1e-8 && column < data.p, "{column} {share:e} {data:?}");
                dependent += 1;
            }
            Err(error) => panic!("{error}: {data:?}"),
        });
    }
    // The others fit perfectly, or columns alike to many digits make the rounding larger than the tolerance.
    assert!(proved >= total * 93 / 100 && dependent < 100, "{proved} of {total}, {dependent} dependent");
}

#[test]
fn the_priced_problem_equals_enumeration() {
    let mut rng = rng(402);
    let (mut proved, mut total, mut dependent) = (0, 0, 0);
    for trial in 0..600 {
        let mut data = awkward_columns(&mut rng, 9, false);
        let best = twofold_sizes(&data);
        data.penalty.lambda0 = best[0] * power(&mut rng, -4.0, -0.3);
        let limit = rng.random_bool(0.5).then(|| rng.random_range(1..=data.p));
        data.max_size = limit;
        let cost = |k: usize| best[k] + data.penalty.lambda0 * k as f64;
        let least = (0..=limit.unwrap_or(data.p)).map(cost).fold(f64::INFINITY, f64::min);
        data.with_problem(|problem| {
            let solution = match solve(problem, &Options::with_method(Method::Exact)) {
                Err(Error::Dependent { share, .. }) => {
                    assert!(share < 1e-8, "{share:e} {data:?}");
                    dependent += 1;
                    return;
                }
                other => other.unwrap(),
            };
            let (c, context) = (solution.certificate, format!("{trial} {limit:?} {least} {solution:?} {data:?}"));
            assert!(c.lower_bound <= least && c.objective >= least - 1e-11 * best[0], "{context}");
            assert!(limit.is_none_or(|k| solution.coefficients.nonzeros() <= k), "{context}");
            if solution.status == Status::Optimal {
                assert!(c.objective <= least + 1e-6 * least + 1e-9, "{context}");
                proved += 1;
            }
            total += 1;
        });
    }
    assert_eq!(total + dependent, 600);
    assert!(dependent < 50 && proved >= total * 92 / 100, "{proved} of {total}, {dependent} dependent");
}

/// Orthogonal columns of equal pull: every subset of a size is a best one.
#[test]
fn ties_are_proved_too() {
    let n = 16;
    let sign = |i: usize, j: usize| if (i & j).count_ones().is_multiple_of(2) { 1.0 } else { -1.0 };
    let x: Vec<f64> = (1..=10).flat_map(|j| (0..n).map(move |i| sign(i, j))).collect();
    let y = (0..n).map(|i| (1..=15).map(|j| sign(i, j)).sum()).collect();
    let mut data = Case::dense(n, 10, x, y, Penalty::new(0.0, 0.0, 0.0));
    data.intercept = true;
    let best = twofold_sizes(&data);
    for k in 0..=10 {
        assert_close(best[k], 8.0 * (15 - k) as f64, 1e-12, &k);
    }
    data.with_problem(|problem| {
        let found = subsets(problem, 10, &Options::default()).unwrap();
        assert_eq!(check(&data, &best, &found, "ties"), 10);
    });
}

/// Every way to store a matrix and every view of it.
#[test]
fn every_design_equals_enumeration() {
    let mut rng = rng(408);
    let (mut proved, mut total, mut dependent) = (0, 0, 0);
    for trial in 0..200 {
        let shape = Shape { wild: trial % 4 == 0, ..Shape::new(10..=20, 1..=6) };
        let mut case = case(&mut rng, &shape);
        let ridge = if trial % 2 == 0 { power(&mut rng, -2.0, 1.0) } else { 0.0 };
        (case.loss, case.penalty) = (Loss::Squared, Penalty::new(0.0, 0.0, ridge));
        let all = enumerate(&case);
        let scale = case.null_loss();
        case.with_problem(|problem| {
            let found = match subsets(problem, case.p, &Options::default()) {
                Err(Error::Dependent { share, .. }) => {
                    assert!(share < 1e-8, "{trial}: {share:e}");
                    dependent += 1;
                    return;
                }
                other => other.unwrap(),
            };
            for (s, k) in found.sizes.iter().zip(1..) {
                let context = (trial, k, s, &case);
                proved += usize::from(holds(s.certificate, s.status, all.sized[k], scale, &context));
                total += 1;
            }
        });
    }
    assert!(dependent < 5 && proved >= total * 95 / 100, "{proved} of {total}, {dependent} dependent");
}

#[test]
fn limits_and_interrupts_return_valid_bounds() {
    let data = noise(36, 60, 403);
    data.with_problem(|problem| {
        let most = 13;
        let truth = subsets(problem, most, &Options::default()).unwrap();
        let least: Vec<f64> = truth.sizes.iter().map(|s| s.certificate.objective).collect();
        assert!(truth.sizes.iter().all(|s| s.status == Status::Optimal));
        assert!(truth.nodes > 4000, "{}: too easy to be cut short", truth.nodes);
        let mut ended = Vec::new();
        let mut try_with = |options: Options| {
            let found = subsets(problem, most, &options).unwrap();
            for (s, &least) in found.sizes.iter().zip(&least) {
                let c = s.certificate;
                assert!(c.lower_bound <= least + 1e-9 && least <= c.objective + 1e-9, "{s:?} {least}");
                ended.push(s.status);
            }
            let priced = problem.with_penalty(Penalty::new(0.02, 0.0, 0.0)).unwrap().with_max_size(most).unwrap();
            let least = (1..).zip(&least).map(|(k, l)| l + 0.02 * k as f64);
            let least = least.fold(problem.objective(&Default::default()).unwrap(), f64::min);
            let c = solve(&priced, &Options { method: Method::Exact, ..options }).unwrap().certificate;
            assert!(c.lower_bound <= least + 1e-9 && least <= c.objective + 1e-9, "{c:?} {least}");
        };
        try_with(Options { max_memory: Some(1), ..Options::default() });
        for max_nodes in [1, 2, 3, 10, 50, 200, 1000, 3000] {
            try_with(Options { max_nodes: Some(max_nodes), ..Options::default() });
        }
        for step in 0..20 {
            let time_limit = Some(Duration::from_micros(400 * step * step));
            try_with(Options { time_limit, ..Options::default() });
        }
        let cancel = CancelFlag::default();
        cancel.cancel();
        try_with(Options { cancel, ..Options::default() });
        for status in [Status::NodeLimit, Status::MemoryLimit, Status::TimeLimit, Status::Interrupted, Status::Optimal]
        {
            assert!(ended.contains(&status), "{status}");
        }
    });
}

#[test]
fn any_number_of_threads_gives_the_same_answer() {
    let data = noise(40, 60, 404);
    data.with_problem(|problem| {
        let run = |threads, max_nodes| {
            let options = Options { threads: Some(threads), max_nodes, ..Options::default() };
            let found = subsets(problem, 12, &options).unwrap();
            (found.sizes, found.nodes)
        };
        // Shares of 2048 nodes: the last limits strike when there are several side by side.
        for max_nodes in [None, Some(500), Some(9000), Some(20000)] {
            let one = run(1, max_nodes);
            assert_eq!(one, run(2, max_nodes));
            assert_eq!(one, run(4, max_nodes));
        }
    });
}

/// The N best subsets at a price, in order, are those of the enumeration; with columns that others stand for, none but the first
/// is said to be proved.
#[test]
fn ranked_subsets_equal_enumeration() {
    let mut rng = rng(423);
    let (mut proved, mut total) = (0, 0);
    for trial in 0..150 {
        let shape = Shape { wild: false, attained: true, ..Shape::new(12..=20, 3..=8) };
        let mut case = case(&mut rng, &shape);
        case.loss = Loss::Squared;
        let lambda0 = case.penalty.lambda0;
        case.penalty = Penalty::new(if trial % 9 == 0 { 0.0 } else { lambda0 }, 0.0, 0.0);
        let limit = (trial % 3 == 0).then_some(2);
        case.max_size = limit;
        let all = enumerate(&case);
        let costs = all.costs.iter().filter(|c| c.1.len() <= limit.unwrap_or(case.p));
        let costs: Vec<&(f64, Vec<usize>)> = costs.collect();
        let top = 2 + trial % 7;
        case.with_problem(|problem| {
            let options = Options { top, ..Options::with_method(Method::Exact) };
            let found = solve(problem, &options).unwrap();
            assert_eq!(found.ranked.len(), top.min(costs.len()), "{trial}");
            assert!(found.certificate.lower_bound <= all.sized[limit.unwrap_or(case.p)] * (1.0 + 1e-9) + 1e-9);
            total += found.ranked.len();
            for (rank, (found, cost)) in found.ranked.iter().zip(&costs).enumerate() {
                let room = 3e-6 * cost.0 + 2e-9;
                let context = format!("{trial}: rank {rank}, {} for {}", found.objective, cost.0);
                assert!((found.objective - cost.0).abs() <= room, "{context}");
                proved += usize::from(found.proved);
            }
        });
    }
    assert!(total > 400 && proved >= total * 9 / 10, "{proved} of {total}");
    let mut copies = noise(3, 12, 424);
    copies.penalty = Penalty::new(0.01, 0.0, 0.0);
    copies.edit(|x| x.copy_within(..12, 24));
    copies.with_problem(|problem| {
        let found = solve(problem, &Options { top: 4, ..Options::with_method(Method::Exact) }).unwrap();
        assert!(found.ranked[0].proved && found.ranked[1..].iter().all(|r| !r.proved));
    });
}
