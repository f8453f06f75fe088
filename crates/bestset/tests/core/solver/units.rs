//! Answers do not depend on units: targets, prices and columns scaled by powers of two, which is exact, and rows and columns in
//! another order give the same supports, statuses and ranks.

use crate::common::{Case, ChaCha8Rng, Enumeration, RngExt, chain, enumerate, normal, pick, rng, share};
use bestset::path::{Grid, PathOptions, path};
use bestset::{Bounds, Loss, Method, Options, Penalty, Problem, Solution, Status, solve, subsets};

/// Exponents of the units in which targets are measured.
const UNITS: [i32; 7] = [-40, -20, -19, -10, 10, 20, 40];

/// A chain with weights, an offset, an intercept, bounds, λ1 or the Huber loss, or none of them.
fn varied(seed: u64) -> Case {
    let mut case_rng = rng(seed);
    let mut rng = rng(1000 + seed);
    let (n, p) = (rng.random_range(12..30), rng.random_range(4..10));
    let mut case = chain(&mut case_rng, n, p);
    case.intercept = rng.random_bool(0.5);
    case.offset = rng.random_bool(0.3).then(|| (0..n).map(|_| 3.0 + normal(&mut rng)).collect());
    case.weights = rng.random_bool(0.3).then(|| (0..n).map(|_| rng.random_range(0.2..3.0)).collect());
    let (lambda0, lambda1) = (pick(&mut rng, &[0.1, 0.5, 2.0]), pick(&mut rng, &[0.0, 0.0, 0.3]));
    case.penalty = Penalty::new(lambda0, lambda1, pick(&mut rng, &[0.01, 0.05, 0.5]));
    if rng.random_bool(0.3) {
        case.penalty.bounds = pick_bounds(&mut rng);
    }
    if rng.random_bool(0.25) {
        case.loss = Loss::Huber { delta: 0.7 };
    }
    case
}

fn pick_bounds(rng: &mut ChaCha8Rng) -> Bounds {
    if rng.random_bool(0.5) { Bounds::All(0.0, f64::INFINITY) } else { Bounds::All(-0.8, 1.1) }
}

/// The same problem with targets in units of 1/c: coefficients are c times as large, and P c² times.
fn in_units(case: &Case, c: f64) -> Case {
    let mut case = case.clone();
    case.y.iter_mut().for_each(|y| *y *= c);
    case.offset.iter_mut().flatten().for_each(|o| *o *= c);
    case.penalty.lambda0 *= c * c;
    case.penalty.lambda1 *= c;
    if let Bounds::All(lower, upper) = &mut case.penalty.bounds {
        (*lower, *upper) = (c * *lower, c * *upper);
    }
    if let Loss::Huber { delta } = &mut case.loss {
        *delta *= c;
    }
    case
}

fn exact() -> Options {
    Options::with_method(Method::Exact)
}

#[track_caller]
fn near(a: f64, b: f64, share: f64, what: &str) {
    assert!(a == b || (a - b).abs() <= share * b.abs(), "{what}: {a} is not {b}");
}

/// Same support, status, P and bound, in units of 1/c; same ranks.
#[track_caller]
fn same(found: &Solution, plain: &Solution, c: f64, what: &str) {
    assert_eq!(found.support(), plain.support(), "{what}");
    assert_eq!(found.status, plain.status, "{what}");
    near(found.objective() / (c * c), plain.objective(), 1e-12, what);
    near(found.certificate.lower_bound / (c * c), plain.certificate.lower_bound, 1e-12, what);
    let ranks = |s: &Solution| -> Vec<(Vec<usize>, bool)> {
        s.ranked.iter().map(|r| (r.coefficients.support.clone(), r.proved)).collect()
    };
    assert_eq!(ranks(found), ranks(plain), "{what}");
}

/// A solve in all units.
fn in_all_units(case: &Case, what: &str, options: &Options, limit: Option<usize>) {
    let run = |case: &Case| {
        let case = Case { max_size: limit, ..case.clone() };
        case.with_problem(|problem| solve(problem, options).unwrap())
    };
    let plain = run(case);
    for unit in UNITS {
        let c = 2f64.powi(unit);
        same(&run(&in_units(case, c)), &plain, c, &format!("{what}, targets times 2^{unit}"));
    }
}

/// Targets a millionth as large, or a millionth of that: the best subsets of the enumeration, in order, and `optimal` and
/// `proved` only of them.
#[test]
fn what_is_called_optimal_is_so_in_any_unit() {
    for seed in 0..share(12) as u64 {
        let case = chain(&mut rng(seed), 30, 12);
        let Enumeration { best, costs, .. } = enumerate(&case);
        for unit in [0, -15, -19, -30, 25] {
            let c = 2f64.powi(unit);
            let found = in_units(&case, c).with_problem(|p| solve(p, &Options { top: 4, ..exact() }).unwrap());
            assert_eq!(found.status, Status::Optimal, "{seed}, 2^{unit}");
            near(found.objective() / (c * c), best, 1e-6, "P");
            for (rank, entry) in found.ranked.iter().enumerate() {
                assert!(entry.proved, "{seed}, 2^{unit}: rank {rank}");
                near(entry.objective / (c * c), costs[rank].0, 2e-6, &format!("{seed}, 2^{unit}: rank {rank}"));
            }
            assert_eq!(found.ranked.len(), 4);
        }
    }
}

#[test]
fn solves_are_the_same_in_any_unit() {
    for seed in 0..share(40) as u64 {
        let case = varied(seed);
        in_all_units(&case, &format!("{seed}: default"), &Options::default(), None);
        in_all_units(&case, &format!("{seed}: exact"), &Options { top: 3, ..exact() }, None);
        if seed % 2 == 0 {
            in_all_units(&case, &format!("{seed}: at most 2"), &exact(), Some(2));
        }
    }
}

#[test]
fn leaps_and_bounds_are_the_same_in_any_unit() {
    for seed in 0..40 {
        let mut case = varied(seed);
        (case.loss, case.penalty) = (Loss::Squared, Penalty::new(case.penalty.lambda0, 0.0, 0.0));
        in_all_units(&case, &format!("{seed}: leaps"), &Options { top: 3, ..exact() }, None);
    }
}

/// The same columns in units of their own: β_j is 1/s_j times as large, and the factor of λ2 s_j².
#[test]
fn columns_may_have_any_unit() {
    for seed in 0..30 {
        let mut case = varied(seed);
        (case.penalty.lambda1, case.penalty.bounds) = (0.0, Bounds::Free);
        let mut rng = rng(seed);
        let scales: Vec<f64> = (0..case.p).map(|_| 2f64.powi(rng.random_range(-20..20))).collect();
        let mut scaled = case.clone();
        scaled.replace(case.n, (0..case.x.len()).map(|at| case.x[at] * scales[at / case.n]).collect());
        scaled.penalty = scaled.penalty.with_shrinkage(scales.iter().map(|s| s * s).collect());
        for options in [Options::default(), Options { top: 3, ..exact() }] {
            let run = |case: &Case| case.with_problem(|p| solve(p, &options).unwrap());
            let (found, plain) = (run(&scaled), run(&case));
            let what = format!("{seed}, {}", options.method.name());
            assert_eq!((found.support(), found.status), (plain.support(), plain.status), "{what}");
            near(found.objective(), plain.objective(), 1e-9, &what);
            let supports =
                |s: &Solution| -> Vec<Vec<usize>> { s.ranked.iter().map(|r| r.coefficients.support.clone()).collect() };
            assert_eq!(supports(&found), supports(&plain), "{what}");
        }
        // Least squares alone needs no factor.
        (case.loss, case.penalty) = (Loss::Squared, Penalty::new(case.penalty.lambda0, 0.0, 0.0));
        (scaled.loss, scaled.penalty) = (Loss::Squared, case.penalty.clone());
        let run = |case: &Case| case.with_problem(|p| solve(p, &exact()).unwrap());
        let (found, plain) = (run(&scaled), run(&case));
        assert_eq!((found.support(), found.status), (plain.support(), plain.status), "{seed}, leaps");
    }
}

/// Rows and columns in another order: the same answer where it is the only one.
#[test]
fn order_does_not_matter() {
    for seed in 0..30 {
        let case = varied(seed);
        let mut rng = rng(seed);
        let mut shuffled = |count: usize| {
            let mut order: Vec<usize> = (0..count).collect();
            (1..count).for_each(|k| order.swap(k, rng.random_range(0..=k)));
            order
        };
        let (rows, columns) = (shuffled(case.n), shuffled(case.p));
        let by_rows = |of: &[f64]| -> Vec<f64> { rows.iter().map(|&i| of[i]).collect() };
        let mut other = case.clone();
        other.replace(case.n, columns.iter().flat_map(|&j| by_rows(case.col(j))).collect());
        other.y = by_rows(&case.y);
        other.offset = case.offset.as_deref().map(by_rows);
        other.weights = case.weights.as_deref().map(by_rows);
        for options in [Options::default(), Options { top: 3, ..exact() }] {
            let run = |case: &Case| case.with_problem(|p| solve(p, &options).unwrap());
            let (found, plain) = (run(&other), run(&case));
            let what = format!("{seed}, {}", options.method.name());
            let back = |support: &[usize]| -> Vec<usize> {
                let mut features: Vec<usize> = support.iter().map(|&j| columns[j]).collect();
                features.sort_unstable();
                features
            };
            assert_eq!((back(found.support()), found.status), (plain.support().to_vec(), plain.status), "{what}");
            near(found.objective(), plain.objective(), 1e-9, &what);
            for (a, b) in found.ranked.iter().zip(&plain.ranked) {
                assert_eq!((back(&a.coefficients.support), a.proved), (b.coefficients.support.clone(), b.proved));
            }
        }
    }
}

/// Targets of zero and targets that features fit perfectly end, and end as `optimal`, in any unit: there the relative gap says
/// nothing.
#[test]
fn nothing_left_to_explain_is_optimal() {
    for unit in [0, -40, 40, -300] {
        let c = 2f64.powi(unit);
        let mut case = chain(&mut rng(5), 20, 6);
        let column = case.col(2).to_vec();
        case.y = column.iter().map(|x| c * 3.0 * x).collect();
        case.penalty = Penalty::new(0.0, 0.0, 0.0);
        let found = case.with_problem(|p| solve(p, &exact()).unwrap());
        assert_eq!(found.status, Status::Optimal, "2^{unit}: {:?}", found.certificate);
        let found = case.with_problem(|p| subsets(p, 3, &Options::default()).unwrap());
        assert!(found.sizes.iter().all(|s| s.status == Status::Optimal), "2^{unit}: {:?}", found.sizes);
        for price in [0.0, 1.0] {
            case.penalty = Penalty::new(price * c * c, 0.0, 0.1);
            case.y.fill(0.0);
            for options in [Options::default(), Options { top: 2, ..exact() }] {
                let found = case.with_problem(|p| solve(p, &options).unwrap());
                assert_eq!(found.status, Status::Optimal, "2^{unit}, {price}: {:?}", found.certificate);
                assert_eq!(found.objective(), 0.0);
            }
        }
    }
}

/// One node cannot have looked at two subsets: the answer has one entry, and is not called optimal.
#[test]
fn fewer_ranks_than_asked_for_are_not_optimal() {
    for seed in 0..12 {
        let mut case = chain(&mut rng(seed), 30, 12);
        // With so much of it the relaxation is tight, and the first answer optimal at once.
        case.penalty.lambda2 = 100.0;
        let options = Options { top: 2, max_nodes: Some(1), ..exact() };
        let found = case.with_problem(|p: &Problem<'_>| solve(p, &options).unwrap());
        let complete = found.ranked.len() == 2 && found.ranked.iter().all(|r| r.proved);
        assert!(complete || found.status == Status::NodeLimit, "{seed}: {} of {:?}", found.status, found.ranked);
    }
}

mod long {
    use super::*;

    #[test]
    fn subsets_and_paths_are_the_same_in_any_unit() {
        for seed in 0..16 {
            let mut case = varied(seed);
            if seed % 2 == 1 {
                (case.loss, case.penalty) = (Loss::Squared, Penalty::new(0.0, 0.0, 0.0));
            }
            let sizes = |case: &Case| case.with_problem(|p| subsets(p, 4, &Options::default()).unwrap());
            let settings = PathOptions { grid: Grid::Dynamic { points: 8, shrink: 0.98 }, ..PathOptions::default() };
            let points = |case: &Case| case.with_problem(|p| path(p, &settings).unwrap().points);
            let (plain, line) = (sizes(&case), points(&case));
            for unit in UNITS {
                let c = 2f64.powi(unit);
                let what = format!("{seed}, targets times 2^{unit}");
                let scaled = in_units(&case, c);
                for (a, b) in sizes(&scaled).sizes.iter().zip(&plain.sizes) {
                    assert_eq!((&a.coefficients.support, a.status), (&b.coefficients.support, b.status), "{what}");
                    near(a.certificate.objective / (c * c), b.certificate.objective, 1e-12, &what);
                    near(a.criteria.r2, b.criteria.r2, 1e-12, &what);
                }
                let found = points(&scaled);
                assert_eq!(found.len(), line.len(), "{what}");
                for (a, b) in found.iter().zip(&line) {
                    near(a.lambda0 / (c * c), b.lambda0, 1e-12, &what);
                    same(&a.solution, &b.solution, c, &what);
                }
            }
        }
    }
}
