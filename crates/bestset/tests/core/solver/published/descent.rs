//! CDSS: what comes to rest is stationary and swap-inescapable.

use super::data::{options, random, variants};
use crate::common::{Case, UNIFORM, refit};
use bestset::{Loss, Method, Solution, Status, solve};

fn cdss(case: &Case, swaps: bool) -> Solution {
    let mut options = options(Method::Cdss, 0.01);
    options.published.swaps = swaps;
    let x = case.matrix();
    solve(&case.problem(&x), &options).unwrap()
}

/// min P with β_i = 0 and β_j free, the others as they are: over all i in the support and j outside it. Also over
/// j = i with β_i = 0, the plain removal.
fn best_swap(case: &Case, beta: &[f64]) -> f64 {
    let mut best = f64::INFINITY;
    for i in (0..case.p).filter(|&i| beta[i] != 0.0) {
        for j in (0..case.p).filter(|&j| beta[j] == 0.0 || j == i) {
            let mut trial = beta.to_vec();
            trial[i] = 0.0;
            let free = if j == i { vec![] } else { vec![j] };
            best = best.min(case.objective(&refit(case, &free, &trial)));
        }
    }
    best
}

#[test]
fn no_swap_improves_the_answer() {
    for loss in UNIFORM {
        for seed in [61, 62] {
            for (number, case) in variants(seed, loss, 24, 9).into_iter().enumerate() {
                let solution = cdss(&case, true);
                let beta = solution.coefficients.to_dense(case.p);
                let swapped = best_swap(&case, &beta);
                let label = format!("{} seed {seed} variant {number}", loss.name());
                assert!(!beta.iter().all(|b| *b == 0.0), "{label}: nothing to swap");
                assert!(swapped >= solution.objective() * (1.0 - 2e-10), "{label}: {swapped} {}", solution.objective());
            }
        }
    }
}

/// The coefficients are the best ones for their support: spacer steps have done their work.
#[test]
fn the_support_is_fitted_exactly() {
    for loss in UNIFORM {
        for (number, case) in variants(67, loss, 24, 8).into_iter().enumerate() {
            for swaps in [false, true] {
                let solution = cdss(&case, swaps);
                let before = case.objective(&solution.coefficients);
                let beta = solution.coefficients.to_dense(case.p);
                let fall = before - case.objective(&refit(&case, solution.support(), &beta));
                assert!(fall <= 1e-11 * before, "{} variant {number}: {fall}", loss.name());
                assert!(matches!(solution.status, Status::Converged | Status::Optimal));
            }
        }
    }
}

/// Swaps only ever help, and on these data do, for every loss.
#[test]
fn swaps_leave_worse_local_minima() {
    for loss in UNIFORM {
        let mut helped = 0;
        for seed in 0..40 {
            let mut case = random(seed, loss, 20, 10);
            case.penalty.lambda2 = 0.02;
            let (without, with) = (cdss(&case, false).objective(), cdss(&case, true).objective());
            assert!(with <= without * (1.0 + 1e-12), "{} seed {seed}", loss.name());
            helped += usize::from(with < without - 1e-6);
        }
        assert!(helped > 0, "{}: swaps never helped", loss.name());
    }
}

/// Two features of which T sees only the wrong one: x_2 alone explains y, but once x_1 is in x_2 is not worth it.
#[test]
fn a_swap_finds_what_coordinate_descent_cannot() {
    let (n, p) = (4, 2);
    let x = vec![1.0, 1.0, 1.0, 0.6, 1.0, 1.0, 1.0, 1.0];
    let penalty = bestset::Penalty::new(0.05, 0.0, 0.0);
    let case = Case::dense(n, p, x, vec![1.0; 4], penalty);
    let (stuck, free) = (cdss(&case, false), cdss(&case, true));
    assert_eq!((stuck.support(), free.support()), (&[0][..], &[1][..]));
    assert!((free.objective() - 0.05).abs() < 1e-12 && stuck.objective() > 0.1);
}

/// Two columns that are almost the same make plain cyclic descent crawl for tens of thousands of passes over all
/// features; spacer steps crawl on the support alone.
#[test]
fn spacer_steps_spare_full_passes() {
    let mut case = random(5, Loss::Squared, 40, 30);
    let n = case.n;
    let signal = |i: usize| (i as f64 * 0.9).sin();
    for i in 0..n {
        case.x[i] = signal(i);
        case.x[n + i] = signal(i) + 0.03 * (i as f64 * 2.3).cos();
        case.y[i] = 30.0 * (case.x[i] - case.x[n + i]) + 20.0 * signal(i);
    }
    case.penalty = bestset::Penalty::new(1e-3, 0.0, 0.0);
    let solution = cdss(&case, false);
    assert_eq!(solution.support(), [0, 1], "{:?}", (solution.objective(), solution.iterations, &solution.coefficients));
    assert!(solution.iterations < 200, "{} passes over all features", solution.iterations);
    assert!((solution.objective() - 2e-3).abs() < 1e-9, "{}", solution.objective());
}
