//! Given sizes: never more features than asked for, P against enumeration, bounds never above it.

use crate::common::{Shape, assert_close, case, enumerate, holds, normal, rng};
use bestset::design::Dense;
use bestset::sizes::sizes;
use bestset::{Error, Options, Penalty, Problem, Status};

#[test]
fn answers_and_bounds_against_enumeration() {
    let mut rng = rng(501);
    let (mut total, mut best, mut tight) = (0, 0, 0);
    for trial in 0..150 {
        let shape = Shape { attained: true, certified: true, wild: trial % 2 == 0, ..Shape::new(6..=16, 2..=7) };
        let mut case = case(&mut rng, &shape);
        case.penalty.lambda0 = 0.0;
        let all = enumerate(&case);
        let asked: Vec<usize> = if trial % 3 == 0 { vec![case.p.min(2)] } else { (1..=case.p).collect() };
        let found = case.with_problem(|problem| sizes(problem, &asked, &Options::default()).unwrap());
        assert_eq!((found.sizes.len(), found.status), (found.solutions.len(), Status::Converged));
        for (&k, solution) in found.sizes.iter().zip(&found.solutions) {
            let (c, least) = (solution.certificate, all.sized[k]);
            let scale = least + case.null_loss();
            assert!(solution.support().len() <= k, "{trial}: {k}");
            holds(c, solution.status, least, scale, &(trial, k));
            total += 1;
            best += usize::from(c.objective <= least + 1e-7 * scale);
            tight += usize::from(c.gap() <= 0.05 * scale);
        }
    }
    assert!(best >= total * 97 / 100 && tight >= total / 2, "{best} best and {tight} tight of {total}");
}

/// P falls with the size, and every answer is at least as good as greedy forward selection.
#[test]
fn a_wide_problem() {
    let mut rng = rng(502);
    let (n, p) = (50, 200);
    let x: Vec<f64> = (0..n * p).map(|_| normal(&mut rng)).collect();
    let truth = [3, 50, 51, 120, 199];
    let y: Vec<f64> =
        (0..n).map(|i| truth.iter().map(|&j| x[j * n + i]).sum::<f64>() + 0.3 * normal(&mut rng)).collect();
    let x = Dense::new(n, p, x).unwrap();
    let problem = Problem::new(&x, y, Penalty::new(0.0, 0.0, 0.5)).unwrap();
    let asked: Vec<usize> = (1..=10).collect();
    let found = sizes(&problem, &asked, &Options::default()).unwrap();
    assert_eq!(found.solutions[4].support(), truth);
    let sizes_found: Vec<usize> = found.solutions.iter().map(|s| s.support().len()).collect();
    assert_eq!(sizes_found, asked);
    assert!(found.solutions.windows(2).all(|w| w[1].objective() < w[0].objective()));
    for (k, solution) in asked.iter().zip(&found.solutions) {
        let limited = problem.clone().with_max_size(*k).unwrap();
        assert_close(limited.objective(&solution.coefficients).unwrap(), solution.objective(), 1e-12, k);
        assert_close(limited.lower_bound(&solution.dual).unwrap(), solution.certificate.lower_bound, 1e-12, k);
        assert!(solution.certificate.gap().is_finite());
    }
    // One size alone is that size.
    let one = sizes(&problem, &[5], &Options::default()).unwrap();
    assert_eq!((one.sizes.as_slice(), one.solutions[0].support()), (&[5][..], &truth[..]));
}

#[test]
fn bad_sizes_are_named() {
    let x = Dense::new(2, 2, vec![1.0, 0.0, 0.0, 1.0]).unwrap();
    let problem = Problem::new(&x, vec![1.0, 2.0], Penalty::new(0.0, 0.0, 1.0)).unwrap();
    assert_eq!(sizes(&problem, &[1, 3], &Options::default()), Err(Error::Size { k: 3, features: 2 }));
    assert_eq!(sizes(&problem, &[0], &Options::default()), Err(Error::Size { k: 0, features: 2 }));
    assert!(sizes(&problem, &[], &Options::default()).unwrap().solutions.is_empty());
    let priced = problem.with_penalty(Penalty::new(0.1, 0.0, 1.0)).unwrap();
    assert!(matches!(sizes(&priced, &[1], &Options::default()), Err(Error::Range { name: "lambda0", .. })));
}
