//! How many features? The best subset of every size, each proved. `cargo run --example how_many_features`

use bestset::design::Dense;
use bestset::{Options, Penalty, Problem, Status, subsets};

fn main() -> bestset::Result<()> {
    let (n, p) = (120, 15);
    let x: Vec<f64> = (0..n * p).map(|k| (k as f64 * k as f64 * 0.7).sin()).collect();
    let noise = |i: usize| 0.8 * (3.1 * (i * i) as f64).cos();
    let y: Vec<f64> = (0..n).map(|i| 1.5 * x[n + i] - x[4 * n + i] + 0.7 * x[9 * n + i] + noise(i)).collect();
    let design = Dense::new(n, p, x)?;
    let problem = Problem::new(&design, y, Penalty::new(0.0, 0.0, 0.0))?.with_intercept(true);

    let found = subsets(&problem, 6, &Options::default())?;
    for subset in &found.sizes {
        let bic = subset.criteria.bic.unwrap_or(f64::NAN);
        println!(
            "{} features: R² {:.4}, BIC {bic:.2}, {:?}",
            subset.size, subset.criteria.r2, subset.coefficients.support
        );
        assert_eq!(subset.status, Status::Optimal);
    }
    assert_eq!(found.sizes[2].coefficients.support, [1, 4, 9]);
    Ok(())
}
