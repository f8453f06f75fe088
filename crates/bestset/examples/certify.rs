//! Certify someone else's coefficients: how far are they from the best possible? `cargo run --example certify`

use bestset::design::Dense;
use bestset::{Coefficients, Method, Options, Penalty, Problem, solve};

fn main() -> bestset::Result<()> {
    // Feature 0 looks like the sum of 1 and 2, which y really is: greedy methods take it.
    let (n, p) = (80, 30);
    let mut x: Vec<f64> = (0..n * p).map(|k| (k as f64 * k as f64 * 0.7).sin()).collect();
    for i in 0..n {
        x[i] = x[n + i] + x[2 * n + i] + 0.3 * (1.7 * (i * i) as f64).sin();
    }
    let y: Vec<f64> = (0..n).map(|i| x[n + i] + x[2 * n + i] + 0.1 * (3.1 * (i * i) as f64).cos()).collect();
    let design = Dense::new(n, p, x)?;
    let problem = Problem::new(&design, y, Penalty::new(0.3, 0.0, 0.01))?;

    let greedy = Coefficients::from_pairs(vec![(0, 0.95)], 0.0);
    let best = solve(&problem, &Options::with_method(Method::Exact))?;
    let certificate = problem.certify(&greedy, &[&best.dual])?;
    println!("given: {:.4}, at most {:.4} too high", certificate.objective, certificate.gap());
    println!("best:  {:.4} with {:?}, {}", best.objective(), best.support(), best.status);
    assert!(certificate.lower_bound <= best.objective() && best.objective() < certificate.objective);
    Ok(())
}
