//! The paper's simulation (MATH §8) at n = 200, p = 3000, SNR 20.

use super::data::{normals, options};
use crate::common::{RngExt, rng};
use bestset::design::Dense;
use bestset::{Method, Options, Penalty, Problem, solve};

/// Rows from N(0, Σ), Σ_ij = 0.4^|i−j|, columns scaled to unit norm; 3 % of β uniform in [−1, 1]; noise for the SNR.
fn simulate(seed: u64, n: usize, p: usize, snr: f64) -> (Vec<f64>, Vec<f64>) {
    let mut rng = rng(seed);
    let (rho, mut x) = (0.4f64, normals(&mut rng, n * p));
    for j in 1..p {
        for i in 0..n {
            x[j * n + i] = rho * x[(j - 1) * n + i] + (1.0 - rho * rho).sqrt() * x[j * n + i];
        }
    }
    for column in x.chunks_mut(n) {
        let norm = column.iter().map(|v| v * v).sum::<f64>().sqrt();
        column.iter_mut().for_each(|v| *v /= norm);
    }
    let mut y = vec![0.0; n];
    let chosen = rand::seq::index::sample(&mut rng, p, (0.03 * p as f64).round() as usize);
    for j in chosen {
        let b: f64 = rng.random_range(-1.0..1.0);
        (0..n).for_each(|i| y[i] += b * x[j * n + i]);
    }
    let mean = y.iter().sum::<f64>() / n as f64;
    let variance = y.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n as f64;
    let noise = normals(&mut rng, n);
    (0..n).for_each(|i| y[i] += (variance / snr).sqrt() * noise[i]);
    (x, y)
}

#[test]
#[ignore = "minutes long; prints how each published algorithm ends"]
fn the_paper_simulation() {
    let (n, p) = (200, 3000);
    let (x, y) = simulate(1, n, p, 20.0);
    let x = Dense::new(n, p, x).unwrap();
    let penalty = Penalty::new(0.03, 0.02, 1.0);
    let problem = Problem::new(&x, &y[..], penalty.clone()).unwrap();
    let sparse = problem.with_penalty(Penalty { lambda0: 0.0, ..penalty }).unwrap().with_max_size(90).unwrap();
    println!(
        "{:<20}{:>10}{:>10}{:>10}{:>9}{:>9}{:>9}{:>6}  status",
        "method", "P", "D", "gap", "nonzero", "steps", "seconds", "rows"
    );
    for (method, omega) in [
        (Method::Cdss, 0.0005),
        (Method::DualIht, 0.0005),
        (Method::DualAscent, 0.0005),
        (Method::PrimalDual { dynamic: false }, 0.0005),
        (Method::PrimalDual { dynamic: true }, 0.0005),
    ] {
        let options = Options { threads: Some(1), ..options(method, omega) };
        let problem = if method == Method::DualIht { &sparse } else { &problem };
        let s = solve(problem, &options).unwrap();
        let c = &s.certificate;
        println!(
            "{:<20}{:>10.5}{:>10.5}{:>10.5}{:>9}{:>9}{:>9.2}{:>6}  {}",
            method.name(),
            c.objective,
            c.lower_bound,
            c.gap(),
            s.coefficients.nonzeros(),
            s.iterations,
            s.seconds,
            s.trace.len(),
            s.status
        );
        assert!(c.lower_bound <= c.objective && s.trace.len() < 2000);
    }
}
