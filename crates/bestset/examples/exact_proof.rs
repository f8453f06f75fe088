//! Exact proof: branch and bound closes the gap, and lists the runners-up. `cargo run --release --example exact_proof`

use bestset::design::Dense;
use bestset::{Method, Options, Penalty, Problem, Status, solve};

fn main() -> bestset::Result<()> {
    let (n, p) = (150, 60);
    let x: Vec<f64> = (0..n * p).map(|k| (k as f64 * k as f64 * 0.7).sin()).collect();
    let signal = |i: usize| (0..6).map(|j| [1.0, -0.9, 0.8, -0.7, 0.6, -0.5][j] * x[j * n + i]).sum::<f64>();
    let y: Vec<f64> = (0..n).map(|i| signal(i) + 0.7 * (3.1 * (i * i) as f64).cos()).collect();
    let design = Dense::new(n, p, x.clone())?;
    let problem = Problem::new(&design, y, Penalty::new(2.0, 0.0, 1.0))?;

    let quick = solve(&problem, &Options::default())?;
    let proved = solve(&problem, &Options { top: 3, ..Options::with_method(Method::Exact) })?;
    println!("quick answer: {:.4}, at most {:.4} too high", quick.objective(), quick.certificate.gap());
    println!("proved: {:.4}, {} after {} nodes", proved.objective(), proved.status, proved.iterations);
    for (place, subset) in proved.ranked.iter().enumerate() {
        println!("  {}. {:.4} {:?}", place + 1, subset.objective, subset.coefficients.support);
    }
    assert_eq!(proved.status, Status::Optimal);
    assert!(quick.certificate.lower_bound <= proved.objective());
    Ok(())
}
