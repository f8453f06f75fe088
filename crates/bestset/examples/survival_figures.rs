//! Cox at n = 500, p = 1000, ten true features: seconds of the best found of sizes 5 and 10 with next to no ridge and with the usual one, and
//! of a path. `cargo run --release --example survival_figures`; `bench/families.py` has the same beside other packages.

use bestset::design::Dense;
use bestset::path::{Grid, PathOptions, path};
use bestset::sizes::sizes;
use bestset::{Options, Penalty, Problem, Survival, Ties};
use rand::{RngExt, SeedableRng};
use std::time::Instant;

fn main() -> Result<(), bestset::Error> {
    let (n, p) = (500, 1000);
    let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(1);
    let mut x: Vec<f64> = (0..n * p).map(|_| rng.sample::<f64, _>(rand_distr::StandardNormal)).collect();
    for k in n..n * p {
        x[k] = 0.4 * x[k - n] + 0.84f64.sqrt() * x[k];
    }
    let risk = |i: usize| (0..10).map(|j| if j % 2 == 0 { -0.7 } else { 0.7 } * x[100 * j * n + i]).sum::<f64>();
    let ends: Vec<(f64, f64)> = (0..n)
        .map(|i| (-(1.0 - rng.random::<f64>()).ln() * (-risk(i)).exp(), -4.0 * (1.0 - rng.random::<f64>()).ln()))
        .collect();
    let times = Survival::new(ends.iter().map(|e| e.0.min(e.1)).collect(), ends.iter().map(|e| e.0 <= e.1).collect());
    for column in x.chunks_exact_mut(n) {
        let norm = column.iter().map(|v| v * v).sum::<f64>().sqrt();
        column.iter_mut().for_each(|v| *v /= norm);
    }
    let design = Dense::new(n, p, x)?;
    let options = Options { threads: Some(1), ..Options::default() };
    for lambda2 in [1e-6, 0.05] {
        let problem = Problem::new(&design, times.time.clone(), Penalty::new(0.0, 0.0, lambda2))?;
        let problem = problem.with_survival(times.clone(), Ties::Efron)?;
        for k in [5, 10] {
            let begun = Instant::now();
            let found = sizes(&problem, &[k], &options)?.solutions.remove(0);
            let (loss, seconds) = (problem.loss_at(&found.coefficients)?, begun.elapsed().as_secs_f64());
            let c = found.certificate;
            println!("lambda2 {lambda2}, size {k}: loss {loss:.6}, gap {:.3}, {seconds:.2} s", c.relative_gap());
            println!("  {:?}", found.support());
        }
        if lambda2 > 1e-3 {
            let settings = PathOptions {
                grid: Grid::for_sizes(28),
                max_size: Some(28),
                solve: options.clone(),
                ..PathOptions::default()
            };
            let begun = Instant::now();
            let found = path(&problem, &settings)?;
            let gaps: Vec<f64> = found.points.iter().map(|p| p.solution.certificate.relative_gap()).collect();
            let most = gaps.iter().fold(0.0, |m: f64, g| m.max(*g));
            println!("path: {} points, largest gap {most:.3}, {:.2} s", gaps.len(), begun.elapsed().as_secs_f64());
        }
    }
    Ok(())
}
