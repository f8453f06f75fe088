//! Leaps and bounds against enumeration in twice the precision, and against published best subsets of real data.

mod columns;
#[path = "../common/mod.rs"]
mod common;
mod wide;

use bestset::CancelFlag;
use bestset::design::Dense;
use bestset::{Error, Loss, Method, Options, Penalty, Problem, Status, Subset, Subsets, solve, subsets};
use common::{ChaCha8Rng, RngExt, Shape, Twofold, assert_close, case, enumerate, normal, pick, power, rng};
use std::time::Duration;

/// A least-squares problem, columns first.
#[derive(Debug, Clone)]
struct Data {
    n: usize,
    p: usize,
    x: Vec<f64>,
    y: Vec<f64>,
    weights: Option<Vec<f64>>,
    intercept: bool,
    penalty: Penalty,
}

impl Data {
    fn column(&self, j: usize) -> &[f64] {
        &self.x[j * self.n..(j + 1) * self.n]
    }

    fn with_problem<T>(&self, run: impl FnOnce(&Problem<'_>) -> T) -> T {
        let design = Dense::new(self.n, self.p, self.x.as_slice()).unwrap();
        let problem = Problem::new(&design, self.y.as_slice(), self.penalty.clone()).unwrap();
        let problem = problem.with_intercept(self.intercept);
        run(&match &self.weights {
            Some(w) => problem.with_weights(w.as_slice()).unwrap(),
            None => problem,
        })
    }

    /// √w ∘ (v − mean) in twice the precision; without an intercept there is no mean.
    fn prepared(&self, v: &[f64]) -> Vec<Twofold> {
        let weight = |i: usize| Twofold::from(self.weights.as_ref().map_or(1.0, |w| w[i]));
        let total: Twofold = (0..self.n).map(weight).sum();
        let mean = (0..self.n).map(|i| weight(i) * Twofold::from(v[i])).sum::<Twofold>() / total;
        let shift = if self.intercept { mean } else { Twofold::ZERO };
        (0..self.n).map(|i| Twofold::from(v[i]) - shift).collect()
    }

    /// The least loss + λ2‖β‖² for each number of features 0..=p, by fitting every subset.
    fn enumerate(&self) -> Vec<f64> {
        let weight = |i: usize| Twofold::from(self.weights.as_ref().map_or(1.0, |w| w[i]));
        let dot = |a: &[Twofold], b: &[Twofold]| (0..self.n).map(|i| weight(i) * a[i] * b[i]).sum::<Twofold>();
        let mut columns: Vec<Vec<Twofold>> = (0..self.p).map(|j| self.prepared(self.column(j))).collect();
        columns.push(self.prepared(&self.y));
        // The last row holds the target: eliminating a feature from it too keeps yᵀy − 2 (gain so far) in its corner.
        let mut matrix: Vec<Vec<Twofold>> =
            columns.iter().map(|a| columns.iter().map(|b| dot(a, b)).collect()).collect();
        (0..self.p).for_each(|j| matrix[j][j] = matrix[j][j] + Twofold::from(2.0 * self.penalty.lambda2));
        let own = (0..self.p).map(|j| matrix[j][j]).collect::<Vec<_>>();
        let mut best = vec![f64::INFINITY; self.p + 1];
        visit(&matrix, &own, 0, 0, &mut best);
        best
    }
}

/// Decides feature j and all after it; the features taken in are eliminated from `matrix`.
fn visit(matrix: &[Vec<Twofold>], own: &[Twofold], j: usize, size: usize, best: &mut [f64]) {
    let p = own.len();
    if j == p {
        best[size] = best[size].min(0.5 * matrix[p][p].wide());
        return;
    }
    visit(matrix, own, j + 1, size, best);
    let mut inside = matrix.to_vec();
    // A column that the others determine adds nothing; without this its rounding would be fitted.
    if matrix[j][j] > own[j] * Twofold::from(1e-24) {
        for a in j + 1..=p {
            for b in j + 1..=p {
                inside[a][b] = inside[a][b] - matrix[a][j] * matrix[j][b] / matrix[j][j];
            }
        }
    }
    visit(&inside, own, j + 1, size + 1, best);
}

/// Columns of all kinds: plain, far from zero, tiny, huge, zero, nearly or exactly one or the sum of two before, and with two
/// values only, so that subsets tie.
fn data(rng: &mut ChaCha8Rng, most: usize, ridge: bool) -> Data {
    let p = rng.random_range(1..=most);
    let n = p + rng.random_range(2..=20);
    let (wild, near) = (rng.random_bool(0.5), pick(rng, &[1e-1, 1e-2, 1e-3, 1e-4]));
    let mut x: Vec<f64> = Vec::new();
    for j in 0..p {
        let kind = if wild { rng.random_range(0..10) } else { 9 };
        let other = if j > 0 { rng.random_range(0..j) } else { 0 };
        let column: Vec<f64> = (0..n)
            .map(|i| match kind {
                0 => 300.0 + normal(rng),
                1 => 1e-6 * normal(rng),
                2 => 1e6 * normal(rng),
                3 | 4 if j > 0 => x[other * n + i] + near * normal(rng),
                5 if j > 0 => -2.0 * x[other * n + i],
                6 if j > 1 => x[other * n + i] + x[(other + 1) % j * n + i],
                7 => pick(rng, &[-1.0, 1.0]),
                8 => 0.0,
                _ => normal(rng),
            })
            .collect();
        x.extend(column);
    }
    let noise = pick(rng, &[0.1, 1.0, 3.0]);
    let true_features: Vec<usize> = (0..p).filter(|_| rng.random_bool(0.4)).collect();
    let length = |j: usize| x[j * n..(j + 1) * n].iter().map(|v| v * v).sum::<f64>().sqrt().max(1e-300);
    let scale: Vec<f64> = (0..p).map(|j| (n as f64).sqrt() / length(j)).collect();
    let signal = |i: usize| true_features.iter().map(|&j| x[j * n + i] * scale[j]).sum::<f64>();
    let offset = pick(rng, &[0.0, 5.0]);
    let y = (0..n).map(|i| signal(i) + offset + noise * normal(rng)).collect();
    let weights = rng.random_bool(0.4).then(|| {
        let spare = n - p - 2;
        (0..n).map(|i| if i < spare / 2 { 0.0 } else { power(rng, -1.0, 1.0) }).collect()
    });
    let l2 = if ridge { power(rng, -3.0, 1.0) } else { 0.0 };
    Data { n, p, x, y, weights, intercept: rng.random_bool(0.6), penalty: Penalty::new(0.0, 0.0, l2) }
}

/// What rounding may do to P of given coefficients: u = Xβ is as exact as its largest term.
fn evaluation(data: &Data, s: &Subset) -> f64 {
    let weight = |i: usize| data.weights.as_ref().map_or(1.0, |w| w[i]);
    let length = |v: &[f64]| (0..data.n).map(|i| weight(i) * v[i] * v[i]).sum::<f64>().sqrt();
    let terms: f64 = s.coefficients.iter().map(|(j, b)| b.abs() * length(data.column(j))).sum();
    16.0 * f64::EPSILON * (terms + length(&data.y)) * (2.0 * s.certificate.objective).sqrt()
        + 1e-13 * s.certificate.objective
}

/// Checks every claim about every size; how many are proved.
fn check(data: &Data, best: &[f64], found: &Subsets, context: &str) -> usize {
    let mut proved = 0;
    for (s, k) in found.sizes.iter().zip(1..) {
        let (c, least) = (s.certificate, best[k]);
        let context = format!("{context}, size {k}: {} {c:?}, least {least}, {:?} {data:?}", s.status, s.coefficients);
        assert!(s.size == k && s.coefficients.nonzeros() <= k, "{context}");
        assert!(c.lower_bound <= least.max(0.0), "the bound is wrong: {context}");
        assert!(c.objective >= least - evaluation(data, s), "better than best: {context}");
        if s.status == Status::Optimal {
            assert!(c.objective <= least + 1e-6 * least + 1e-9, "not optimal: {context}");
            proved += 1;
        }
    }
    proved
}

#[test]
fn every_size_equals_enumeration() {
    let mut rng = rng(401);
    let (mut proved, mut total, mut dependent) = (0, 0, 0);
    for trial in 0..1200 {
        let data = data(&mut rng, if trial % 40 == 0 { 12 } else { 8 }, trial % 3 == 0);
        let best = data.enumerate();
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
    eprintln!("{proved} of {total}, {dependent} dependent");
    // The others fit perfectly, or columns alike to many digits make the rounding larger than the tolerance.
    assert!(proved >= total * 93 / 100 && dependent < 100, "{proved} of {total}, {dependent} dependent");
}

#[test]
fn the_priced_problem_equals_enumeration() {
    let mut rng = rng(402);
    let (mut proved, mut total) = (0, 0);
    for trial in 0..600 {
        let mut data = data(&mut rng, 9, false);
        let best = data.enumerate();
        data.penalty.lambda0 = best[0] * power(&mut rng, -4.0, -0.3);
        let limit = rng.random_bool(0.5).then(|| rng.random_range(1..=data.p));
        let cost = |k: usize| best[k] + data.penalty.lambda0 * k as f64;
        let least = (0..=limit.unwrap_or(data.p)).map(cost).fold(f64::INFINITY, f64::min);
        data.with_problem(|problem| {
            let problem = match limit {
                Some(k) => problem.clone().with_max_size(k).unwrap(),
                None => problem.clone(),
            };
            let solution = match solve(&problem, &Options::with_method(Method::Exact)) {
                Err(Error::Dependent { .. }) => return,
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
    assert!(total > 550 && proved >= total * 92 / 100, "{proved} of {total}");
}

/// Orthogonal columns of equal pull: every subset of a size is a best one.
#[test]
fn ties_are_proved_too() {
    let n = 16;
    let sign = |i: usize, j: usize| if (i & j).count_ones().is_multiple_of(2) { 1.0 } else { -1.0 };
    let x: Vec<f64> = (1..=10).flat_map(|j| (0..n).map(move |i| sign(i, j))).collect();
    let y = (0..n).map(|i| (1..=15).map(|j| sign(i, j)).sum()).collect();
    let data = Data { n, p: 10, x, y, weights: None, intercept: true, penalty: Penalty::new(0.0, 0.0, 0.0) };
    let best = data.enumerate();
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
    let (mut proved, mut total) = (0, 0);
    for trial in 0..200 {
        let shape = Shape { wild: trial % 4 == 0, ..Shape::new(10..=20, 1..=6) };
        let mut case = case(&mut rng, &shape);
        let ridge = if trial % 2 == 0 { power(&mut rng, -2.0, 1.0) } else { 0.0 };
        (case.loss, case.penalty) = (Loss::Squared, Penalty::new(0.0, 0.0, ridge));
        let all = enumerate(&case);
        let scale = case.model().loss_sum(&vec![0.0; case.n], 0.0);
        case.with_problem(|problem| {
            let found = match subsets(problem, case.p, &Options::default()) {
                Err(Error::Dependent { .. }) => return,
                Err(Error::Unsupported { .. }) if case.weights.is_some() => return,
                other => other.unwrap(),
            };
            for (s, k) in found.sizes.iter().zip(1..) {
                let (c, least) = (s.certificate, all.sized[k]);
                let context = format!("{trial}, size {k}: {s:?}, least {least}, {case:?}");
                assert!(c.lower_bound <= least + 1e-12 * scale && c.objective >= least - 1e-11 * scale, "{context}");
                if s.status == Status::Optimal {
                    assert!(c.objective <= least + 1e-6 * least + 1e-9, "not optimal: {context}");
                    proved += 1;
                }
                total += 1;
            }
        });
    }
    assert!(total > 500 && proved >= total * 95 / 100, "{proved} of {total}");
}

/// A harder problem than enumeration has time for: p features, none of them good, so that the tree is deep.
fn noise(p: usize, n: usize, seed: u64) -> Data {
    let rng = &mut rng(seed);
    let common: Vec<f64> = (0..n).map(|_| normal(rng)).collect();
    let x = (0..n * p).map(|k| normal(rng) + 0.7 * common[k % n]).collect();
    let y = (0..n).map(|_| normal(rng)).collect();
    Data { n, p, x, y, weights: None, intercept: true, penalty: Penalty::new(0.0, 0.0, 0.0) }
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
        let all = enumerate(&case);
        let costs = all.costs.iter().filter(|c| c.1.len() <= limit.unwrap_or(case.p));
        let costs: Vec<&(f64, Vec<usize>)> = costs.collect();
        let top = 2 + trial % 7;
        case.with_problem(|problem| {
            let problem = limit.map_or_else(|| problem.clone(), |k| problem.clone().with_max_size(k).unwrap());
            let options = Options { top, ..Options::with_method(Method::Exact) };
            let Ok(found) = solve(&problem, &options) else { return };
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
    copies.x.copy_within(..12, 24);
    copies.with_problem(|problem| {
        let found = solve(problem, &Options { top: 4, ..Options::with_method(Method::Exact) }).unwrap();
        assert!(found.ranked[0].proved && found.ranked[1..].iter().all(|r| !r.proved));
    });
}
