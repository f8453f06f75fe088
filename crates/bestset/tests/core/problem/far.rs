//! Numbers far from zero: what an intercept takes up must not cost the digits of what is left.

use crate::common::{RngExt, assert_close, normal, pick, rng};
use bestset::design::{Csc, Dense, Design};
use bestset::{Coefficients, Loss, Method, Options, Penalty, Problem, Status, solve, subsets};

/// Multiples of 2⁻⁸ near zero, n rows and p columns, with targets that follow the first.
fn grains(n: usize, p: usize, seed: u64) -> (Vec<f64>, Vec<f64>) {
    let rng = &mut rng(seed);
    let grain = |x: f64| (256.0 * x).round() / 256.0;
    let x: Vec<f64> = (0..n * p).map(|_| grain(4.0 * normal(rng))).collect();
    let y = (0..n).map(|i| grain(x[i] + 4.0 * normal(rng))).collect();
    (x, y)
}

fn moved(values: &[f64], by: f64) -> Vec<f64> {
    values.iter().map(|x| x + by).collect()
}

/// Offsets far from zero, alone or with the targets, are those near it: bounds, objectives and subsets of every size.
#[test]
fn far_offsets_are_as_offsets_near_zero() {
    let (n, p) = (14, 3);
    for trial in 0..96u64 {
        let (x, y) = grains(n, p, 700 + trial);
        let (offset, _) = grains(n, 1, 900 + trial);
        let far = [1e4, -1e7, 1e9, -1e11][trial as usize % 4];
        let with_target = trial % 3 == 0;
        let loss = if trial % 2 == 0 { Loss::Squared } else { Loss::Huber { delta: 2.0 } };
        let design = Dense::new(n, p, x).unwrap();
        let problem = |by: f64, ridge: f64, lambda0: f64| {
            let y = if with_target { moved(&y, by) } else { y.clone() };
            let problem = Problem::new(&design, y, Penalty::new(lambda0, 0.0, ridge)).unwrap().with_intercept(true);
            problem.with_loss(loss).unwrap().with_offset(moved(&offset, by)).unwrap()
        };
        let exact = Options { gap: 1e-10, ..Options::with_method(Method::Exact) };
        let (near, found) =
            (solve(&problem(0.0, 0.3, 3.0), &exact).unwrap(), solve(&problem(far, 0.3, 3.0), &exact).unwrap());
        let context = format!("{trial}: {far:e}, {:?} for {:?}", found.certificate, near.certificate);
        assert!(found.certificate.lower_bound <= near.objective() * (1.0 + 1e-11), "{context}");
        assert!(found.objective() >= near.certificate.lower_bound * (1.0 - 1e-11), "{context}");
        // What is solved has the offset in its margins, and their rounding.
        let room = if far.abs() < 1e10 { 1e-6 } else { 1e-3 };
        assert!(found.objective() <= near.objective() * (1.0 + room), "{context}");
        if loss == Loss::Squared {
            for ridge in [0.0, 0.01] {
                let all = |by: f64| subsets(&problem(by, ridge, 0.0), p, &Options::default()).unwrap();
                for (near, found) in all(0.0).sizes.iter().zip(all(far).sizes) {
                    let (low, high) = (near.certificate.lower_bound, near.certificate.objective);
                    let context = format!("{trial}, {ridge}: {far:e}, {found:?} for {near:?}");
                    assert!(found.certificate.lower_bound <= high * (1.0 + 1e-11), "{context}");
                    assert!(found.certificate.objective >= low * (1.0 - 1e-11), "{context}");
                    assert_eq!(found.status, Status::Optimal, "{context}");
                }
            }
        }
    }
}

/// The best intercept of a Huber loss where its quadratic part is narrower than the last digit of the targets, and where they are
/// larger than any other guess.
#[test]
fn huber_intercepts_of_far_targets_are_best() {
    let design = Dense::new(5, 1, vec![0.0; 5]).unwrap();
    for (far, delta) in [(1e9, 1e-8), (1e12, 1e-5), (1e4, 1e-13), (0.0, 1e-9)] {
        let y = moved(&[-2.0, -1.0, 0.0, 3.0, 9.0], far);
        let problem = Problem::new(&design, y, Penalty::new(0.0, 0.0, 1.0)).unwrap().with_intercept(true);
        let problem = problem.with_loss(Loss::Huber { delta }).unwrap();
        assert_eq!(problem.best_intercept(&[0.0; 5], far - 2.0), far, "{far:e} {delta:e}");
    }
    for size in [1e30, 1e61, 1e90] {
        let y: Vec<f64> = [1.0, 2.0, 3.0, 4.0, 9.0].iter().map(|y| y * size).collect();
        let problem = Problem::new(&design, y, Penalty::new(0.0, 0.0, 1.0)).unwrap().with_intercept(true);
        let huber = problem.clone().with_loss(Loss::Huber { delta: 0.25 * size }).unwrap();
        assert_close(huber.best_intercept(&[0.0; 5], 0.0) / size, 3.0, 0.1, &size);
        assert_close(problem.best_intercept(&[0.0; 5], 0.0) / size, 3.8, 1e-14, &size);
    }
}

/// The objective of every ranked subset is the problem's at its coefficients, also where columns are far from zero.
#[test]
fn ranked_objectives_are_those_of_the_coefficients() {
    for trial in 0..12u64 {
        let (x, y) = grains(20, 5, 800 + trial);
        let design = Dense::new(20, 5, moved(&x, [0.0, 1e6, 1e10][trial as usize % 3])).unwrap();
        let problem = Problem::new(&design, y, Penalty::new(4.0, 0.0, 0.5)).unwrap().with_intercept(true);
        let found = solve(&problem, &Options { top: 4, ..Options::with_method(Method::Exact) }).unwrap();
        assert_eq!(found.ranked[0].objective, found.objective());
        for ranked in &found.ranked {
            assert_eq!(ranked.objective, problem.objective(&ranked.coefficients).unwrap(), "{trial}");
        }
    }
}

/// P of columns far from zero is P of the columns near it at the intercept that makes up for it; a row without weight changes nothing,
/// and sparse columns that store all rows are as dense ones.
#[test]
fn objectives_of_far_columns_keep_their_digits() {
    let rng = &mut rng(801);
    for trial in 0..60u64 {
        let (n, p) = (12, 2);
        let (mut x, y) = grains(n, p, 850 + trial);
        let far = [1e5, -1e8, 1e11, -1e13][trial as usize % 4];
        let mut weights: Vec<f64> = (0..n).map(|_| pick(rng, &[0.5, 1.0, 2.0])).collect();
        weights[3] = 0.0;
        let beta = vec![pick(rng, &[0.5, -2.0, 1.0]), pick(rng, &[-0.25, 4.0])];
        let intercept = 0.125 * f64::from(rng.random_range(-8..8));
        let value = |design: &dyn Design, b: f64| {
            let problem = Problem::new(design, y.clone(), Penalty::new(0.0, 0.0, 0.0)).unwrap();
            let problem = problem.with_intercept(true).with_weights(weights.clone()).unwrap();
            problem.objective(&Coefficients::from_dense(&beta, b)).unwrap()
        };
        let near = value(&Dense::new(n, p, x.clone()).unwrap(), intercept);
        x.iter_mut().for_each(|x| *x += far);
        // Exact: sums of multiples of 2⁻⁸ below 2⁵³.
        let b = intercept - far * (beta[0] + beta[1]);
        x[3] = -far;
        assert_close(value(&Dense::new(n, p, x.clone()).unwrap(), b), near, 1e-13, &(trial, far));
        x[3] = x[2];
        let (starts, rows) = ((0..=p).map(|j| j * n).collect::<Vec<_>>(), (0..n * p).map(|k| (k % n) as u32));
        let sparse = Csc::new(n, starts, rows.collect::<Vec<_>>(), x).unwrap();
        assert_close(value(&sparse, b), near, 1e-13, &(trial, far));
        let problem = Problem::new(&sparse, y.clone(), Penalty::new(1.0, 0.0, 0.5)).unwrap().with_intercept(true);
        let found = solve(&problem, &Options::default()).unwrap();
        let intercept = problem.best_intercept(&vec![0.0; n], 0.0);
        let null = problem.loss_at(&Coefficients { intercept, ..Coefficients::default() }).unwrap();
        assert!(found.objective() <= null * (1.0 + 1e-12), "{trial}: {} {null}", found.objective());
    }
}
