//! Paths: every point against enumeration and against a solve of its own; weights, limits, factors and grids.

mod attack;

use crate::common::{Case, RngExt, Shape, assert_close, case, enumerate, holds, normal, rng};
use bestset::design::Dense;
use bestset::path::{Grid, Path, PathOptions, Search, path, path_observed};
use bestset::{Bounds, CancelFlag, Error, Loss, Penalty, Problem, Status, solve};

fn options(points: usize) -> PathOptions {
    PathOptions { grid: Grid::Dynamic { points, shrink: 0.99 }, ..PathOptions::default() }
}

fn at(case: &Case, lambda0: f64, lambda2: f64) -> Case {
    let penalty = Penalty { lambda0, lambda2, ..case.penalty.clone() };
    Case { penalty, ..case.clone() }
}

#[test]
fn every_point_is_bracketed_by_its_bound_and_enumeration() {
    let mut rng = rng(401);
    let (mut points, mut best) = (0, 0);
    for trial in 0..120 {
        let shape = Shape { attained: true, certified: true, ..Shape::new(5..=16, 2..=6) };
        let mut case = case(&mut rng, &shape);
        if trial % 3 == 0 {
            let free = rng.random_range(0..case.p);
            let price = (0..case.p).map(|j| if j == free { 0.0 } else { 1.0 }).collect();
            case.penalty = case.penalty.with_price(price);
        }
        // A grid that is known beforehand has its relaxations minimised together.
        let grid = match trial % 2 {
            0 => Grid::Dynamic { points: 8, shrink: 0.99 },
            _ => Grid::Log { points: 11, ratio: 0.03 },
        };
        let settings = PathOptions { grid, ..PathOptions::default() };
        let found = case.with_problem(|problem| path(problem, &settings).unwrap());
        assert_eq!(found.status, Status::Converged);
        for point in &found.points {
            let all = enumerate(&at(&case, point.lambda0, point.lambda2));
            let (c, scale) = (point.solution.certificate, all.best + case.null_loss());
            holds(c, point.solution.status, all.best, scale, &(trial, point.lambda0));
            points += 1;
            best += usize::from(c.objective <= all.best + 1e-8 * scale);
        }
        assert!(found.points.windows(2).all(|w| w[1].lambda0 < w[0].lambda0), "{trial}");
    }
    assert!(points > 400 && best >= points * 97 / 100, "{best} of {points}");
}

/// Points without a relaxation: bounds and answers on either side of what enumeration finds, every feature that pays in.
#[test]
fn a_light_point_is_bracketed_by_its_bound_and_enumeration() {
    let mut rng = rng(407);
    let (mut points, mut best, mut bounded) = (0, 0, 0);
    for trial in 0..160 {
        let shape = Shape { attained: true, certified: true, ..Shape::new(5..=16, 2..=7) };
        let mut case = case(&mut rng, &shape);
        if trial % 4 > 0 {
            (case.loss, case.penalty.bounds) = (Loss::Squared, Bounds::Free);
            case.y = (0..case.n).map(|_| normal(&mut rng)).collect();
            case.penalty.lambda2 = case.penalty.lambda2.max(1e-3);
        }
        let grid = match trial % 2 {
            0 => Grid::Dynamic { points: 30, shrink: 0.99 },
            _ => Grid::Log { points: 11, ratio: 0.03 },
        };
        let settings = PathOptions { grid, search: Search::Light, ..PathOptions::default() };
        let found = case.with_problem(|problem| path(problem, &settings).unwrap());
        assert_eq!(found.status, Status::Converged);
        for point in &found.points {
            let all = enumerate(&at(&case, point.lambda0, point.lambda2));
            let (c, scale) = (point.solution.certificate, all.best + case.null_loss());
            holds(c, point.solution.status, all.best, scale, &(trial, point.lambda0));
            points += 1;
            best += usize::from(c.objective <= all.best + 1e-8 * scale);
            bounded += usize::from(c.lower_bound > 0.0);
        }
        assert!(found.points.windows(2).all(|w| w[1].lambda0 < w[0].lambda0), "{trial}");
    }
    assert!(points > 800 && best >= points * 95 / 100 && bounded >= points * 9 / 10, "{best} {bounded} of {points}");
}

/// Few looks at X find what a look and a relaxation for every point find, whatever the number of threads.
#[test]
fn a_light_path_finds_the_answers_in_fewer_passes() {
    let (n, p) = (400, 300);
    let (mut same, mut all, mut passes, mut before) = (0, 0, 0.0, 0.0);
    for seed in 0..4 {
        let (x, y) = wide(20 + seed, n, p, Loss::Squared);
        let x = Dense::new(n, p, x).unwrap();
        let base = Problem::new(&x, y, Penalty::new(0.0, 0.0, 4.0)).unwrap().with_intercept(true);
        let of = |search, threads| {
            let mut settings = PathOptions { search, max_size: Some(16), ..options(60) };
            settings.solve.threads = Some(threads);
            path(&base, &settings).unwrap()
        };
        let (light, usual) = (of(Search::Light, 2), of(Search::Neighbours, 2));
        let one = of(Search::Light, 1);
        let plain = |path: &Path| {
            let of = |p: &bestset::path::Point| (p.lambda0, p.solution.coefficients.clone(), p.solution.certificate);
            path.points.iter().map(of).collect::<Vec<_>>()
        };
        assert_eq!(plain(&light), plain(&one), "{seed}");
        let total = |path: &Path| path.points.iter().map(|p| p.solution.passes).sum::<f64>();
        (passes, before) = (passes + total(&light), before + total(&usual));
        // By size: what each has at another price is no answer of the other's.
        let fit = |path: &Path, k: usize| {
            let of = |p: &bestset::path::Point| p.solution.objective() - p.lambda0 * k as f64;
            let sized = path.points.iter().filter(|p| p.solution.support().len() == k);
            sized.map(of).min_by(f64::total_cmp)
        };
        for k in 0..16 {
            let (Some(a), Some(b)) = (fit(&light, k), fit(&usual, k)) else { continue };
            (same, all) = (same + usize::from(a <= b * (1.0 + 1e-9)), all + 1);
        }
    }
    assert!(all > 30 && 10 * same >= 9 * all, "{same} of {all}");
    assert!(4.0 * passes < before, "{passes} in place of {before}");
}

/// A wide problem with correlated columns.
fn wide(seed: u64, n: usize, p: usize, loss: Loss) -> (Vec<f64>, Vec<f64>) {
    let mut rng = rng(seed);
    let mut x: Vec<f64> = (0..n * p).map(|_| normal(&mut rng)).collect();
    for k in n..n * p {
        x[k] += 0.5 * x[k - n];
    }
    let mut y: Vec<f64> = (0..n).map(|_| normal(&mut rng)).collect();
    for j in (0..p).step_by(p / 10) {
        let b = normal(&mut rng);
        (0..n).for_each(|i| y[i] += b * x[j * n + i]);
    }
    if loss.is_classification() {
        y.iter_mut().for_each(|y| *y = if *y > 0.0 { 1.0 } else { -1.0 });
    }
    (x, y)
}

/// Warm starts and shared sweeps lose little: the points together are no worse than the same search begun at each of them, and
/// their bounds are as good.
#[test]
fn points_are_as_good_as_the_same_search_alone() {
    let (n, p) = (60, 150);
    let (x, y) = wide(4, n, p, Loss::Squared);
    let x = Dense::new(n, p, x).unwrap();
    let base = Problem::new(&x, y, Penalty::new(0.0, 0.1, 2.0)).unwrap();
    let settings = PathOptions { grid: Grid::Log { points: 30, ratio: 1e-3 }, ..PathOptions::default() };
    let found = path(&base, &settings).unwrap();
    let (mut largest, mut worse, mut better) = (0, 0, 0);
    for point in &found.points {
        let alone = PathOptions { grid: Grid::Given(vec![point.lambda0]), ..settings.clone() };
        let alone = path(&base, &alone).unwrap().points[0].solution.certificate;
        let own = point.solution.certificate;
        worse += usize::from(own.objective > alone.objective * (1.0 + 1e-12));
        better += usize::from(own.objective < alone.objective * (1.0 - 1e-12));
        assert!(own.objective <= 1.05 * alone.objective, "{}: {own:?} {alone:?}", point.lambda0);
        assert!((own.lower_bound - alone.lower_bound).abs() <= 2e-4 * alone.objective, "{own:?} {alone:?}");
        assert!(own.relaxation.unwrap() - own.lower_bound <= 1e-4 * own.objective);
        largest = largest.max(point.solution.support().len());
    }
    assert!(largest > 12 && worse <= better.max(3), "{largest}: {worse} worse, {better} better");
}

/// With the full search no point is worse than a solve of its own; the first is the null model, proved best.
/// With a small ridge λ0_max is far above what any feature is worth: the second point is just below the best one's worth alone.
#[test]
fn a_dynamic_grid_begins_where_the_first_feature_pays() {
    for (seed, lambda2) in [(1, 1e-4), (2, 1e-2), (3, 1.0)] {
        let (n, p) = (40, 120);
        let (x, y) = wide(seed, n, p, Loss::Squared);
        let square = |j: usize| x[j * n..(j + 1) * n].iter().map(|v| v * v).sum::<f64>();
        let product = |j: usize| x[j * n..(j + 1) * n].iter().zip(&y).map(|(a, b)| a * b).sum::<f64>();
        let worth = |j: usize| product(j).powi(2) / (2.0 * (square(j) + 2.0 * lambda2));
        let first = (0..p).map(worth).fold(0.0, f64::max);
        let design = Dense::new(n, p, x.clone()).unwrap();
        let problem = Problem::new(&design, y.clone(), Penalty::new(0.0, 0.0, lambda2)).unwrap();
        let found = path(&problem, &options(6)).unwrap();
        let (null, next) = (&found.points[0], &found.points[1]);
        assert!(null.solution.support().is_empty() && null.lambda0 >= first * (1.0 - 1e-9));
        assert!((0.9..1.0).contains(&(next.lambda0 / first)), "{seed}: {} {first}", next.lambda0);
        assert!(!next.solution.support().is_empty());
    }
}

#[test]
fn no_point_is_worse_than_a_cold_start() {
    for (seed, loss) in [(1, Loss::Squared), (2, Loss::Logistic), (3, Loss::Huber { delta: 1.0 })] {
        let (n, p) = if loss == Loss::Squared { (60, 120) } else { (40, 40) };
        let (x, y) = wide(seed, n, p, loss);
        let x = Dense::new(n, p, x).unwrap();
        let base = Problem::new(&x, y, Penalty::new(0.0, 0.1, 2.0)).unwrap().with_loss(loss).unwrap();
        let base = base.with_intercept(seed == 2);
        let settings = PathOptions { search: Search::Full, ..options(if loss == Loss::Squared { 20 } else { 12 }) };
        let found = path(&base, &settings).unwrap();
        let first = &found.points[0].solution;
        assert!(first.support().is_empty() && first.status == Status::Optimal, "{:?}", first.certificate);
        assert_close(found.points[0].lambda0, base.lambda0_max().unwrap(), 1e-9 * base.lambda0_max().unwrap(), &loss);
        let (mut largest, mut size) = (0, 0);
        for point in &found.points {
            let cold = base.with_penalty(Penalty::new(point.lambda0, 0.1, 2.0)).unwrap();
            let cold = solve(&cold, &settings.solve).unwrap();
            let (own, other) = (point.solution.objective(), cold.objective());
            assert!(own <= other * (1.0 + 1e-9), "{loss:?} {}: {own} worse than {other}", point.lambda0);
            assert!(point.solution.certificate.relative_gap() <= cold.certificate.relative_gap() + 2e-4);
            // Beyond n/4 features of a noisy problem whole groups change places.
            if point.solution.support().len() <= 15 {
                largest = largest.max(point.solution.support().len().saturating_sub(size));
            }
            size = point.solution.support().len();
        }
        assert!(size >= 6 && largest <= 6, "{loss:?}: supports change by little: {largest}, end at {size}");
    }
}

/// A weight of w counts like w rows at every point, λ0_max included.
#[test]
fn weights_are_repeated_rows() {
    let mut rng = rng(402);
    let mut compared = 0;
    for trial in 0..40 {
        let shape = Shape { attained: true, certified: true, wild: false, ..Shape::new(6..=14, 2..=6) };
        let mut case = case(&mut rng, &shape);
        case.replace(case.n, case.x.clone());
        let mut weights: Vec<f64> = (0..case.n).map(|_| f64::from(rng.random_range(0..4u32))).collect();
        weights[..2].iter_mut().for_each(|w| *w = w.max(1.0));
        case.weights = Some(weights);
        let (long, _) = case.repeated();
        let run = |case: &Case| case.with_problem(|problem| path(problem, &options(6)).unwrap());
        let (a, b): (Path, Path) = (run(&case), run(&long));
        assert_eq!(a.points.len(), b.points.len(), "{trial}");
        for (a, b) in a.points.iter().zip(&b.points) {
            let scale = a.solution.objective() + b.solution.objective();
            assert_close(a.lambda0, b.lambda0, 1e-6 * (a.lambda0 + 1e-9), &trial);
            assert_close(a.solution.objective(), b.solution.objective(), 1e-6 * scale, &trial);
            let bounds = (a.solution.certificate.lower_bound, b.solution.certificate.lower_bound);
            assert_close(bounds.0, bounds.1, 3e-4 * scale, &trial);
            compared += 1;
        }
    }
    assert!(compared > 100, "{compared}");
}

/// A cancelled path returns the points done, which are those of the whole path.
#[test]
fn limits_return_the_points_done() {
    let (x, y) = wide(5, 40, 60, Loss::Squared);
    let x = Dense::new(40, 60, x).unwrap();
    let problem = Problem::new(&x, y, Penalty::new(0.0, 0.0, 1.0)).unwrap();
    let forward = PathOptions { backward: false, ..options(12) };
    let whole = path(&problem, &forward).unwrap();
    let cancel = CancelFlag::default();
    let mut part = forward.clone();
    part.solve.cancel = cancel.clone();
    let mut seen = 0;
    let found = path_observed(&problem, &part, &mut |_| {
        seen += 1;
        if seen == 5 {
            cancel.cancel();
        }
    });
    let found = found.unwrap();
    assert_eq!(found.status, Status::Interrupted);
    assert!((5..12).contains(&found.points.len()), "{}", found.points.len());
    for (a, b) in found.points.iter().zip(&whole.points) {
        assert_eq!((a.lambda0, &a.solution.coefficients), (b.lambda0, &b.solution.coefficients));
        assert_eq!(a.solution.certificate, b.solution.certificate);
    }
    let mut late = forward;
    late.solve.time_limit = Some(std::time::Duration::ZERO);
    let none = path(&problem, &late).unwrap();
    assert_eq!((none.status, none.points.len()), (Status::TimeLimit, 0));
}

#[test]
fn grids_ridges_and_sizes() {
    let (x, y) = wide(6, 40, 60, Loss::Squared);
    let x = Dense::new(40, 60, x).unwrap();
    let problem = Problem::new(&x, y.clone(), Penalty::new(0.0, 0.0, 1.0)).unwrap();
    let given = PathOptions { grid: Grid::Given(vec![3.0, 2.0, 0.5]), lambda2: vec![0.5, 2.0], ..options(1) };
    let found = path(&problem, &given).unwrap();
    let visited: Vec<(f64, f64)> = found.points.iter().map(|p| (p.lambda2, p.lambda0)).collect();
    assert_eq!(visited, [(0.5, 3.0), (0.5, 2.0), (0.5, 0.5), (2.0, 3.0), (2.0, 2.0), (2.0, 0.5)]);
    assert_eq!(found.strands().map(<[_]>::len).collect::<Vec<_>>(), [3, 3]);
    for point in &found.points {
        let own = Problem::new(&x, y.clone(), Penalty::new(point.lambda0, 0.0, point.lambda2)).unwrap();
        assert_close(
            own.objective(&point.solution.coefficients).unwrap(),
            point.solution.objective(),
            1e-12,
            &point.lambda0,
        );
    }
    let short = path(&problem, &PathOptions { max_size: Some(4), ..options(100) }).unwrap();
    let sizes: Vec<usize> = short.points.iter().map(|p| p.solution.support().len()).collect();
    assert!(sizes[..sizes.len() - 2].iter().all(|&s| s <= 4) && *sizes.last().unwrap() >= 4, "{sizes:?}");
    // Pure λ0 has no bound, and starts where one feature begins to pay.
    let pure = problem.with_penalty(Penalty::new(0.0, 0.0, 0.0)).unwrap();
    let found = path(&pure, &options(5)).unwrap();
    assert!(found.points[0].solution.support().len() <= 1 && found.points[4].solution.support().len() >= 2);
    let log = path(&problem, &PathOptions { grid: Grid::Log { points: 4, ratio: 0.001 }, ..options(1) }).unwrap();
    assert_close(log.points[3].lambda0, 0.001 * problem.lambda0_max().unwrap(), 1e-9, &log.points.len());
}

#[test]
fn bad_settings_are_named() {
    let x = Dense::new(2, 2, vec![1.0, 0.0, 0.0, 1.0]).unwrap();
    let problem = Problem::new(&x, vec![1.0, 2.0], Penalty::new(0.0, 0.0, 1.0)).unwrap();
    let fails = |options: PathOptions| path(&problem, &options).unwrap_err().to_string();
    assert_eq!(fails(options(0)), "points is 0; it must be at least 1");
    let negative = PathOptions { lambda2: vec![-1.0], ..options(3) };
    assert_eq!(fails(negative), "lambda2 is -1; it must be finite and at least 0");
    assert_eq!(fails(PathOptions { max_size: Some(0), ..options(3) }), "max_size is 0; it must be at least 1");
    let rising = PathOptions { grid: Grid::Given(vec![1.0, 2.0]), ..options(3) };
    assert_eq!(fails(rising), "lambda0 is 2; it must be below the one before: a path descends");
    let sized = problem.with_max_size(1).unwrap();
    assert!(matches!(path(&sized, &options(3)), Err(Error::Unsupported { method: "path", .. })));
    assert!(Bounds::Free.at(0).0.is_infinite());
}

/// Where answers are fits, not pivots, the points behind the largest size are the longest of a path: a sweep that was begun ends where sizes have
/// doubled, and but for the last of them no point is made that is much larger than what is kept.
#[test]
fn few_points_are_made_behind_the_largest_size() {
    let mut behind = 0;
    for (seed, most) in (0..6).zip([2, 4, 6, 8, 10, 12]) {
        let mut rng = rng(5100 + seed);
        let (n, p) = (120, 200);
        let x: Vec<f64> = (0..n * p).map(|_| normal(&mut rng)).collect();
        let y: Vec<f64> = (0..n).map(|i| (x[i] - x[2 * n + i] + 0.5 * normal(&mut rng)).exp().floor()).collect();
        let x = Dense::new(n, p, x).unwrap();
        let problem = Problem::new(&x, y, Penalty::new(0.0, 0.0, 0.01)).unwrap();
        let problem = problem.with_loss(Loss::Poisson).unwrap().with_intercept(true);
        let mut made: Vec<usize> = Vec::new();
        let options = PathOptions { max_size: Some(most), ..options(60) };
        let found = path_observed(&problem, &options, &mut |p| made.push(p.solution.support().len())).unwrap();
        let (kept, last) = (found.points.len(), found.points.last().unwrap().solution.support().len());
        assert!((kept..kept + 8).contains(&made.len()), "{most} features: {} made, {kept} kept", made.len());
        behind += made.len() - kept;
        made.pop();
        let largest = made.iter().max().copied().unwrap_or(0);
        assert!(largest < 2 * last.max(16) + 8, "{most} features: {made:?} made, {kept} kept with {last}");
    }
    assert!(behind > 0, "none");
}
