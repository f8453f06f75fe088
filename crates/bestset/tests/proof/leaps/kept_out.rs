//! Features that are kept out of least squares without a ridge: the problem of the others, by the numbers of all (MATH 11.42).

use crate::common::{RngExt, assert_close, normal, rng};
use bestset::criteria::refit;
use bestset::design::{ColumnSubset, Dense};
use bestset::{Coefficients, Error, Method, Options, Penalty, Problem, Solution, Status, solve, subsets};

const SHAPE: (usize, usize) = (18, 8);

fn data(seed: u64) -> (Dense<'static>, Vec<f64>, Vec<usize>) {
    let mut rng = rng(seed);
    let (n, p) = SHAPE;
    let x: Vec<f64> = (0..n * p).map(|_| normal(&mut rng)).collect();
    let y = (0..n).map(|i| x[i] - 0.8 * x[2 * n + i] + 0.6 * x[5 * n + i] + 0.5 * normal(&mut rng)).collect();
    let mut out: Vec<usize> = (0..p).filter(|_| rng.random_range(0.0..1.0) < 0.4).collect();
    if out.is_empty() || out.len() == p {
        out = vec![2, 6];
    }
    (Dense::new(n, p, x).unwrap(), y, out)
}

/// P of the least-squares fit of every subset of the features that may be in.
fn enumerated(problem: &Problem<'_>, out: &[usize]) -> Vec<(f64, Vec<usize>)> {
    let open: Vec<usize> = (0..SHAPE.1).filter(|j| !out.contains(j)).collect();
    let one = |mask: usize| {
        let support: Vec<usize> = (0..open.len()).filter(|k| mask >> k & 1 == 1).map(|k| open[k]).collect();
        let fit = refit(problem, &support, &Options::default()).unwrap();
        (problem.objective(&fit).unwrap(), support)
    };
    let mut all: Vec<(f64, Vec<usize>)> = (0..1usize << open.len()).map(one).collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    all
}

fn exact() -> Options {
    Options::with_method(Method::Exact)
}

#[test]
fn features_that_are_kept_out_are_columns_that_are_not_there() {
    for seed in 0..30 {
        let (x, y, out) = data(seed);
        let lambda0 = [0.05, 0.4, 1.5][seed as usize % 3];
        let never = Penalty::new(lambda0, 0.0, 0.0).never(&out, SHAPE.1).unwrap();
        let problem = Problem::new(&x, y.clone(), never).unwrap().with_intercept(seed % 2 == 0);
        let all = enumerated(&problem, &out);
        let found = solve(&problem, &Options { top: 3, ..exact() }).unwrap();
        let at = |place: usize| all[place].0;
        assert_eq!(found.status, Status::Optimal, "{seed}");
        assert_close(found.objective(), at(0), 1e-8 * at(0), &seed);
        assert_eq!(found.support(), all[0].1, "{seed}");
        assert!(found.certificate.lower_bound <= at(0) * (1.0 + 1e-9), "{seed}");
        for (place, ranked) in found.ranked.iter().enumerate() {
            assert_close(ranked.objective, at(place), 1e-8 * at(place), &(seed, place));
            assert_eq!(ranked.coefficients.support, all[place].1, "{seed} {place}");
        }
        // The same bits as without the columns, from any start.
        let open: Vec<usize> = (0..SHAPE.1).filter(|j| !out.contains(j)).collect();
        let view = ColumnSubset::new(&x, open.clone()).unwrap();
        let rest = Problem::new(&view, y, Penalty::new(lambda0, 0.0, 0.0)).unwrap().with_intercept(seed % 2 == 0);
        let alone = solve(&rest, &Options { top: 3, ..exact() }).unwrap();
        assert_eq!(alone.certificate, found.certificate);
        assert_eq!(alone.coefficients.values, found.coefficients.values);
        let start = Coefficients::from_pairs(vec![(open[0], 1.0)], 0.0);
        let again = solve(&problem, &Options { warm_start: Some(start), ..exact() }).unwrap();
        assert_eq!(again.support(), found.support());
    }
}

#[test]
fn sizes_and_subsets_do_without_them_too() {
    for seed in 0..10 {
        let (x, y, out) = data(100 + seed);
        let never = Penalty::new(0.0, 0.0, 0.0).never(&out, SHAPE.1).unwrap();
        let problem = Problem::new(&x, y, never).unwrap().with_intercept(true);
        let (all, open) = (enumerated(&problem, &out), SHAPE.1 - out.len());
        let best = |k: usize| all.iter().find(|a| a.1.len() <= k).unwrap();
        let sizes = subsets(&problem, SHAPE.1, &Options::default()).unwrap().sizes;
        assert_eq!(sizes.len(), SHAPE.1);
        for size in &sizes {
            let expected = best(size.size);
            assert_eq!(
                (size.status, &size.coefficients.support),
                (Status::Optimal, &expected.1),
                "{seed} {}",
                size.size
            );
            assert_close(size.certificate.objective, expected.0, 1e-8 * expected.0, &(seed, size.size));
            assert_eq!(size.chosen, size.size.min(open));
        }
        for k in [1, open, SHAPE.1] {
            let found: Solution = solve(&problem.clone().with_max_size(k).unwrap(), &exact()).unwrap();
            assert_eq!((found.status, found.support()), (Status::Optimal, &best(k).1[..]), "{seed} {k}");
        }
    }
}

/// Columns that depend on each other are named by their numbers among all; what no other search could prove is refused as before.
#[test]
fn columns_are_named_by_their_numbers_among_all() {
    let (x, y, _) = data(3);
    let n = SHAPE.0;
    let mut values: Vec<f64> = Vec::new();
    (0..SHAPE.1).for_each(|j| {
        let mut column = bestset::design::Column::default();
        bestset::design::Design::column(&x, j, &mut column).unwrap();
        values.extend_from_slice(&column.values);
    });
    // Feature 7 is twice feature 4.
    for i in 0..n {
        values[7 * n + i] = 2.0 * values[4 * n + i];
    }
    let x = Dense::new(n, SHAPE.1, values).unwrap();
    let never = Penalty::new(0.3, 0.0, 0.0).never(&[0, 1, 5], SHAPE.1).unwrap();
    let found = solve(&Problem::new(&x, y.clone(), never).unwrap(), &exact()).unwrap();
    assert_eq!(found.dependent, [[4, 7]]);
    assert!(found.support().iter().all(|j| ![0, 1, 5].contains(j)));
    let shrunk = Penalty::new(0.3, 0.1, 0.0).never(&[0], SHAPE.1).unwrap();
    let refused = solve(&Problem::new(&x, y, shrunk).unwrap(), &exact());
    assert!(matches!(refused, Err(Error::Unsupported { .. })));
}
