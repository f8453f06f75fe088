//! Groups: bounds and answers against the enumeration of all choices of groups; labels in any order.

mod attack;
mod tree;

use crate::common::{
    Case, ChaCha8Rng, RngExt, Shape, assert_close, brackets, case, enumerate, holds, least_of, members, normal, pick,
    rng,
};
use bestset::cv::{CvOptions, cross_validate};
use bestset::design::Dense;
use bestset::groups::{Groups, solve_groups};
use bestset::path::{PathOptions, path};
use bestset::{Bounds, Error, Options, Penalty, Problem, Status};

/// A random problem without bounds and with λ2 > 0, its groups, and the least P over all choices of groups.
fn grouped(rng: &mut ChaCha8Rng) -> (Case, Groups, f64) {
    let shape = Shape { attained: true, certified: true, wild: false, ..Shape::new(6..=16, 3..=9) };
    let mut case = case(rng, &shape);
    case.penalty.bounds = Bounds::Free;
    case.penalty.lambda2 = case.penalty.lambda2.max(0.05);
    let labels: Vec<usize> = (0..case.p).map(|_| pick(rng, &[2, 5, 9, 11])).collect();
    let mut groups = Groups::new(&labels);
    if rng.random_bool(0.4) {
        let prices = groups.members.iter().map(|_| rng.random_range(0.0..4.0)).collect();
        groups = groups.with_prices(prices).unwrap();
    }
    let prices = |mask: usize| members(mask).iter().map(|&g| groups.prices[g]).sum::<f64>() * case.penalty.lambda0;
    let best = least_of(&brackets(&case, &groups.members), prices).1;
    (case, groups, best)
}

#[test]
fn answers_and_bounds_against_enumeration() {
    let mut rng = rng(701);
    let (mut total, mut found_best, mut converged, mut open) = (0, 0, 0, 0);
    for trial in 0..150 {
        let (case, groups, best) = grouped(&mut rng);
        case.with_problem(|problem| {
            let found = solve_groups(problem, &groups, &Options::default()).unwrap();
            let (c, scale) = (found.certificate, best + case.null_loss());
            holds(c, found.status, best, scale, &trial);
            let relaxation = c.relaxation.unwrap();
            // The minimum of R is below P*; the value reached is above it by the relaxation gap at the most.
            let reached = relaxation - c.lower_bound;
            assert!(relaxation <= best + reached + 1e-11 * scale, "{trial}: R {relaxation} above P* {best}");
            total += 1;
            found_best += usize::from(c.objective <= best + 1e-8 * scale);
            converged += usize::from(relaxation - c.lower_bound <= 1e-6 * scale);
            open += usize::from(best - c.lower_bound > 1e-5 * scale);
        });
    }
    assert!(found_best >= total * 97 / 100, "{found_best} of {total}");
    // Strong duality between R and D, which are below P where the relaxation is not tight.
    assert!(converged >= total * 95 / 100 && open > 10, "{converged} converged, {open} open of {total}");
}

/// The same data with the columns of each group together.
#[test]
fn interleaved_labels_are_sorted_groups() {
    let mut rng = rng(702);
    let (n, p) = (40, 12);
    let x: Vec<f64> = (0..n * p).map(|_| normal(&mut rng)).collect();
    let labels = [4, 1, 9, 4, 1, 9, 7, 4, 1, 7, 9, 7];
    let y: Vec<f64> = (0..n).map(|i| x[i] + x[3 * n + i] - x[7 * n + i] + 0.3 * normal(&mut rng)).collect();
    let mut order: Vec<usize> = (0..p).collect();
    order.sort_by_key(|&j| labels[j]);
    let sorted: Vec<f64> = order.iter().flat_map(|&j| x[j * n..(j + 1) * n].to_vec()).collect();
    let run = |x: &[f64], labels: Vec<usize>| {
        let design = Dense::new(n, p, x).unwrap();
        let problem = Problem::new(&design, y.clone(), Penalty::new(1.0, 0.1, 0.5)).unwrap().with_intercept(true);
        solve_groups(&problem, &Groups::new(&labels), &Options::default()).unwrap()
    };
    let (a, b) = (run(&x, labels.to_vec()), run(&sorted, order.iter().map(|&j| labels[j]).collect()));
    assert_eq!((a.selected.as_slice(), &a.selected), (&[4][..], &b.selected));
    assert_close(a.certificate.objective, b.certificate.objective, 1e-9 * a.certificate.objective, &());
    assert_close(a.certificate.lower_bound, b.certificate.lower_bound, 1e-7 * a.certificate.objective, &());
    for (&j, &v) in a.coefficients.support.iter().zip(&a.coefficients.values) {
        let there = b.coefficients.to_dense(p)[order.iter().position(|&o| o == j).unwrap()];
        assert_close(v, there, 1e-7, &j);
    }
}

/// Groups of one feature are features.
#[test]
fn groups_of_one_are_features() {
    let mut rng = rng(703);
    for trial in 0..40 {
        let (case, ..) = grouped(&mut rng);
        let single = Groups::new(&(0..case.p).rev().collect::<Vec<_>>());
        let all = enumerate(&case);
        case.with_problem(|problem| {
            let found = solve_groups(problem, &single, &Options::default()).unwrap();
            let plain = bestset::solve(problem, &Options::default()).unwrap();
            let (a, b) = (found.certificate, plain.certificate);
            let scale = all.best + case.null_loss();
            assert!(a.objective >= all.best - 1e-11 * scale && a.lower_bound <= all.best + 1e-12 * scale, "{trial}");
            assert!((a.relaxation.unwrap() - b.relaxation.unwrap()).abs() <= 1e-5 * scale, "{trial}: {a:?} {b:?}");
        });
    }
}

#[test]
fn bad_groups_are_named() {
    let x = Dense::new(2, 2, vec![1.0, 0.0, 0.0, 1.0]).unwrap();
    let problem = |penalty| Problem::new(&x, vec![1.0, 2.0], penalty).unwrap();
    let (plain, pair) = (Penalty::new(0.1, 0.0, 1.0), Groups::new(&[3, 3]));
    let fails = |penalty, groups: &Groups| solve_groups(&problem(penalty), groups, &Options::default()).unwrap_err();
    assert_eq!(fails(plain.clone(), &Groups::new(&[1])), Error::Shape { what: "group labels", found: 1, expected: 2 });
    assert!(matches!(fails(Penalty::new(0.1, 0.0, 0.0), &pair), Error::Unpenalised { what: "a model of groups", .. }));
    let bounded = Penalty::new(0.1, 0.0, 0.0).with_bounds(Bounds::All(0.0, f64::INFINITY));
    assert!(matches!(fails(bounded, &pair), Error::Unpenalised { what: "a model of groups", .. }));
    let half = plain.with_price(vec![0.0, 1.0]);
    assert_eq!(fails(half, &pair), Error::PartlyFree { free: 0, other: 1 });
    assert!(matches!(pair.clone().with_prices(vec![-1.0]), Err(Error::Factor { name: "group price", .. })));
    assert!(matches!(pair.with_prices(vec![]), Err(Error::Shape { what: "group prices", .. })));
}

/// Every point of a path is what its own solve finds or better, its bound holds, and the folds of a cross-validation follow it.
#[test]
fn paths_of_groups_are_their_solves() {
    let mut rng = rng(704);
    let (n, p) = (50, 12);
    let x: Vec<f64> = (0..n * p).map(|_| normal(&mut rng)).collect();
    let labels: Vec<usize> = (0..p).map(|j| j % 4).collect();
    let y: Vec<f64> = (0..n).map(|i| x[i] + x[4 * n + i] - 0.4 * x[n + i] + 0.5 * normal(&mut rng)).collect();
    let design = Dense::new(n, p, x).unwrap();
    let groups = Groups::new(&labels);
    let problem = Problem::new(&design, y, Penalty::new(0.0, 0.05, 0.5)).unwrap().with_intercept(true);
    let options = PathOptions { groups: Some(groups.clone()), ..PathOptions::default() };
    let found = path(&problem, &options).unwrap();
    assert_eq!(found.status, Status::Converged);
    assert!(found.points[0].solution.support().is_empty());
    let sizes: Vec<usize> = found.points.iter().map(|p| p.solution.support().len()).collect();
    assert!([3, 6, 9].iter().all(|size| sizes.contains(size)), "{sizes:?}");
    for point in &found.points {
        let mut penalty = problem.penalty().clone();
        penalty.lambda0 = point.lambda0;
        let cold = solve_groups(&problem.with_penalty(penalty).unwrap(), &groups, &Options::default()).unwrap();
        let (a, b) = (point.solution.certificate, cold.certificate);
        assert!(a.objective <= b.objective * (1.0 + 1e-9), "{}: {} above {}", point.lambda0, a.objective, b.objective);
        assert!(a.lower_bound <= b.objective && a.lower_bound >= b.lower_bound - 1e-3 * b.objective);
        let chosen = point.solution.support().iter().map(|j| j % 4).collect::<std::collections::BTreeSet<_>>();
        assert_eq!(point.solution.support().len(), 3 * chosen.len(), "whole groups");
    }
    // Just above the first λ0 nothing is proved best, just below it no longer.
    let at = |share: f64| {
        let penalty = Penalty::new(share * found.points[0].lambda0, 0.05, 0.5);
        solve_groups(&problem.with_penalty(penalty).unwrap(), &groups, &Options::default()).unwrap().certificate
    };
    assert!(at(1.001).relative_gap() < 1e-8 && at(0.9).relaxation < at(1.001).relaxation);
    let cv = cross_validate(&problem, &CvOptions { path: options, ..CvOptions::default() }).unwrap();
    assert_eq!(cv.path.points.len(), found.points.len());
    let chosen = cv.best_point().solution.support();
    assert!(chosen.contains(&0) && chosen.len().is_multiple_of(3), "{chosen:?}");
}
