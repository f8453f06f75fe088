//! Inputs nobody would choose: warm starts under interrupts, views with large offsets, numbers at the ends of the range.

use crate::common::{
    Case, RngExt, Shape, Store, UNIFORM, case, compress, enumerate, normal, pick, plain, power, random_coefficients,
    rng, share,
};
use bestset::design::{Csc, Dense, Design, Standardized};
use bestset::{Bounds, CancelFlag, Coefficients, Error, Method, Options, Penalty, Problem, Solution, Status, solve};

#[test]
fn an_answer_is_never_worse_than_its_start_whenever_it_is_stopped() {
    let mut rng = rng(504);
    for trial in 0..400u64 {
        let case = case(&mut rng, &Shape { attained: true, certified: true, ..Shape::new(8..=20, 5..=9) });
        let all = enumerate(&case);
        let mut start = pick(&mut rng, &[0, 1, 2]);
        let warm = match start {
            0 => all.coefficients.clone(),
            1 => Coefficients::default(),
            _ => random_coefficients(&case, &mut rng, 0.5),
        };
        start += 1;
        case.with_problem(|problem| {
            let at_start = problem.objective(&warm).unwrap();
            let scale = at_start.abs() + all.best.abs();
            for (method, rows) in [(Method::Incremental, trial % 5), (Method::Exact, trial % 7)] {
                let cancel = CancelFlag::default();
                let (flag, mut seen) = (cancel.clone(), 0);
                let mut observer = move |_: &bestset::TraceRow| {
                    seen += 1;
                    if seen > rows {
                        flag.cancel();
                    }
                };
                let options = Options { method, cancel, warm_start: Some(warm.clone()), ..Options::default() };
                let solution = bestset::solve_observed(problem, &options, &mut observer).unwrap();
                assert!(
                    solution.objective() <= at_start + 1e-9 * scale,
                    "{trial} {method:?} {start} {rows}: {} from {at_start}, {:?} {:?}",
                    solution.objective(),
                    case.loss,
                    case.penalty
                );
                let bound = solution.certificate.lower_bound;
                assert!(bound <= all.best + 1e-12 * (case.null_loss() + all.best), "{trial}: {bound} {}", all.best);
            }
        });
    }
}

#[test]
fn standardised_sparse_columns_far_from_zero_keep_bounds_valid() {
    let mut rng = rng(505);
    let mut proved = [0; 2];
    for trial in 0..120 {
        let (n, p) = (12, 6);
        let centre_size = pick(&mut rng, &[1e3, 1e5, 1e7]);
        let mut base: Vec<f64> = (0..n * p).map(|_| centre_size + normal(&mut rng)).collect();
        base[..n].iter_mut().for_each(|x| *x -= centre_size);
        let centre: Vec<f64> = base.chunks_exact(n).map(|c| c.iter().sum::<f64>() / n as f64).collect();
        let standard = Some((centre, vec![1.0; p]));
        let x = plain(&base, n, &standard, &None, &None);
        let y: Vec<f64> = (0..n).map(|i| x[i] + x[(p - 1) * n + i] + 0.8 * normal(&mut rng)).collect();
        let penalty = Penalty::new(power(&mut rng, -1.5, 0.3), pick(&mut rng, &[0.0, 0.2]), power(&mut rng, -3.0, 0.0));
        let mut case = Case::dense(n, p, x, y, penalty);
        (case.base, case.standard, case.store) = (base, standard, Store::Csc64);
        case.intercept = trial % 2 == 0;
        let all = enumerate(&case);
        case.with_problem(|problem| {
            for (at, method) in [Method::Incremental, Method::Exact].into_iter().enumerate() {
                let options = Options { method, max_nodes: Some(2000), ..Options::default() };
                let solution = solve(problem, &options).unwrap();
                let c = solution.certificate;
                // The view itself is only as good as its entries: ε · centre beside 1.
                let room = 1e-15 * centre_size * (1.0 + all.best) * 20.0;
                assert!(c.lower_bound <= all.best + room, "{trial} {centre_size} {method:?}: {c:?} above {}", all.best);
                proved[at] += usize::from(solution.status == Status::Optimal);
            }
        });
    }
    assert_eq!(proved[1], 120, "{proved:?}");
}

fn all_finite(solution: &Solution, context: &str) {
    let c = &solution.certificate;
    assert!(solution.coefficients.values.iter().all(|b| b.is_finite()), "{context}: {solution:?}");
    assert!(solution.coefficients.intercept.is_finite(), "{context}: {solution:?}");
    assert!(!c.objective.is_nan() && !c.lower_bound.is_nan(), "{context}: {c:?}");
    assert!(c.relaxation.is_none_or(|r| !r.is_nan()), "{context}: {c:?}");
    assert!(solution.dual.iter().all(|a| a.is_finite()), "{context}");
    assert!(c.lower_bound <= c.objective * (1.0 + 1e-12) + 1e-300, "{context}: {c:?}");
    assert!(!c.gap().is_nan() && solution.passes.is_finite(), "{context}");
}

/// Random combinations of odd data, loss and penalty: no panic, no NaN, bound not above the answer. What is refused is refused for a
/// reason that the problem has. Nothing here is compared with enumeration.
#[test]
fn the_ends_of_the_range() {
    let mut rng = rng(506);
    let (mut asked, mut solved, mut refused, mut recheck) = (0, 0, 0, 0);
    for trial in 0..share(1500) {
        let (n, p) = (rng.random_range(1..=6), rng.random_range(1..=5));
        let size = pick(&mut rng, &[1.0, 1.0, 1e-150, 1e150, 1e-8, 1e8, 1e-170, 0.0]);
        let mut x: Vec<f64> = (0..n * p).map(|_| pick(&mut rng, &[1.0, 1.0, 0.0]) * normal(&mut rng)).collect();
        for j in 0..p {
            let s = pick(&mut rng, &[1.0, 1.0, 1.0, size]);
            x[j * n..(j + 1) * n].iter_mut().for_each(|v| *v *= s);
            if j > 0 && rng.random_bool(0.3) {
                let by = pick(&mut rng, &[1.0, -1.0, 3.0]);
                let copy: Vec<f64> = x[..n].iter().map(|v| by * v).collect();
                x[j * n..(j + 1) * n].copy_from_slice(&copy);
            }
        }
        let loss = pick(&mut rng, &UNIFORM);
        let y_size = pick(&mut rng, &[1.0, 1.0, 1e150, 1e-150, 0.0, 1e8]);
        let mut y: Vec<f64> = (0..n).map(|_| y_size * normal(&mut rng)).collect();
        if loss.is_classification() {
            if n < 2 {
                continue;
            }
            y.iter_mut().for_each(|y| *y = if *y > 0.0 { 1.0 } else { -1.0 });
            (y[0], y[1]) = (1.0, -1.0);
        } else if loss.has_log_link() {
            y.iter_mut().for_each(|y| *y = y.abs());
            let least = if loss == bestset::Loss::Gamma { 1e-150 } else { 0.0 };
            y.iter_mut().for_each(|y| *y = y.max(least));
            y[0] = y[0].max(1e-150);
        } else if rng.random_bool(0.2) {
            y.fill(y_size);
        }
        let extreme = [0.0, 1.0, 0.1, 1e-300, 1e300, 1e-12, 1e6];
        let bounds = match rng.random_range(0..6) {
            0 => Bounds::All(0.0, 0.0),
            1 => Bounds::All(-1e-300, 1e-300),
            2 => Bounds::All(0.0, f64::INFINITY),
            3 => Bounds::All(-1.0, 2.0),
            _ => Bounds::Free,
        };
        let penalty = Penalty::new(pick(&mut rng, &extreme), pick(&mut rng, &extreme), pick(&mut rng, &extreme));
        let penalty = penalty.with_bounds(bounds);
        let weights = match rng.random_range(0..4) {
            0 => {
                Some((0..n).map(|i| if i < 2 { 1.0 } else { pick(&mut rng, &[0.0, 1e-12, 1e12]) }).collect::<Vec<_>>())
            }
            _ => None,
        };
        let intercept = rng.random_bool(0.5);
        let warm = pick(&mut rng, &[0, 1, 2]);
        let dense = Dense::new(n, p, x.clone()).unwrap();
        let (starts, rows, values) = compress(n, &x);
        let csc = Csc::new(n, starts, rows, values).unwrap();
        let view = Standardized::new(&csc, vec![0.5; p], vec![2.0; p]).unwrap();
        let design: &dyn Design = [&dense as &dyn Design, &csc, &view][trial % 3];
        let posed = || -> Result<Problem<'_>, Error> {
            let problem =
                Problem::new(design, y.as_slice(), penalty.clone())?.with_loss(loss)?.with_intercept(intercept);
            weights.as_ref().map_or(Ok(problem.clone()), |w| problem.with_weights(w.as_slice()))
        };
        let problem = match posed() {
            Ok(problem) => problem,
            // Squares of such targets overflow.
            Err(Error::TooLarge { value, .. }) => {
                assert!(value.abs() > 1e100, "{value}");
                continue;
            }
            Err(other) => panic!("{other}"),
        };
        let context =
            format!("{trial} {loss:?} {penalty:?} n {n} p {p} intercept {intercept} {weights:?}\n{x:?}\n{y:?}");
        let warm_start = match warm {
            0 => None,
            1 => Some(Coefficients::default()),
            _ => Some(Coefficients::from_dense(&vec![1e3; p], 0.0)),
        };
        for method in [Method::Incremental, Method::Exact] {
            let (warm_start, limit) = (warm_start.clone(), Some(2000));
            let options = Options { method, warm_start, max_iterations: limit, max_nodes: limit, ..Options::default() };
            match solve(&problem, &options) {
                Ok(solution) => {
                    all_finite(&solution, &format!("{method:?} {context}"));
                    solved += 1;
                }
                Err(Error::Unsupported { method: "exact", .. }) => {
                    assert!(!penalty.has_certificate(p), "{context}");
                    refused += 1;
                }
                // Squares near the smallest number have few digits, and the bound computed anew has others.
                Err(Error::Recheck { claimed, .. }) if claimed.abs() < 1e-290 => recheck += 1,
                Err(error) => panic!("{method:?} {error}: {context}"),
            }
            asked += 1;
        }
    }
    assert_eq!(solved + refused + recheck, asked);
    assert!(
        6 * solved > 5 * asked && 25 * refused < asked && recheck < 3,
        "{solved} solved, {refused} refused, {recheck} of {asked}"
    );
}

#[test]
fn any_number_of_threads_gives_the_same_default_answer() {
    let mut rng = rng(507);
    for _ in 0..15 {
        let case = case(&mut rng, &Shape { attained: true, ..Shape::new(20..=60, 20..=60) });
        case.with_problem(|problem| {
            let run = |threads| {
                let options = Options { threads: Some(threads), max_iterations: Some(30), ..Options::default() };
                solve(problem, &options).unwrap()
            };
            let one = run(1);
            for other in [run(2), run(4)] {
                assert_eq!(one.coefficients, other.coefficients);
                assert_eq!(
                    (one.certificate, one.local, one.screened),
                    (other.certificate, other.local, other.screened)
                );
                assert_eq!(one.dual, other.dual);
            }
        });
    }
}

/// Targets whose squares overflow: P would be infinite whatever is chosen.
#[test]
fn an_infinite_objective_is_refused() {
    let mut rng = rng(512);
    let (n, p) = (6, 40);
    let x: Vec<f64> = (0..n * p).map(|_| normal(&mut rng)).collect();
    let y: Vec<f64> = (0..n).map(|_| 1e160 * normal(&mut rng)).collect();
    let design = Dense::new(n, p, x).unwrap();
    let refused = Problem::new(&design, y, Penalty::new(1.0, 0.0, 1.0));
    assert!(matches!(refused, Err(Error::TooLarge { what: "y", .. })));
}
