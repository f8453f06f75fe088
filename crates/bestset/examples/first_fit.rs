//! First fit: the few features that matter, and how good the answer is known to be. `cargo run --example first_fit`

use bestset::criteria::Criterion;
use bestset::design::Dense;
use bestset::path::{PathOptions, path};
use bestset::{Penalty, Problem};

fn main() -> bestset::Result<()> {
    let (n, p) = (100, 20);
    let x: Vec<f64> = (0..n * p).map(|k| (k as f64 * k as f64 * 0.7).sin()).collect();
    let noise = |i: usize| 0.5 * (3.1 * (i * i) as f64).cos();
    let y: Vec<f64> = (0..n).map(|i| 3.0 + 2.0 * x[3 * n + i] - x[7 * n + i] + noise(i)).collect();
    let design = Dense::new(n, p, x)?;

    // A path over the price of a feature; EBIC chooses.
    let problem = Problem::new(&design, y, Penalty::new(0.0, 0.0, 0.5))?.with_intercept(true);
    let found = path(&problem, &PathOptions { max_size: Some(10), ..PathOptions::default() })?;
    let chosen = &found.points[Criterion::Ebic { gamma: 1.0 }.best(&problem, &found)?];
    let certificate = chosen.solution.certificate;
    println!("features {:?} at a price of {:.3}", chosen.solution.support(), chosen.lambda0);
    println!("objective {:.4}, and no subset has less than {:.4}", certificate.objective, certificate.lower_bound);
    assert_eq!(chosen.solution.support(), &[3, 7]);
    Ok(())
}
