//! Non-negative coefficients: which of many known spectra is a mixture made of? `cargo run --example non_negative`

use bestset::design::Dense;
use bestset::{Bounds, Options, Penalty, Problem, solve};

fn main() -> bestset::Result<()> {
    let (n, p) = (120, 40);
    let centre = |j: usize| (j as f64 * 0.618).fract();
    let spectrum = |i: usize, j: usize| (-(i as f64 / n as f64 - centre(j)).powi(2) / 0.002).exp();
    let x: Vec<f64> = (0..p).flat_map(|j| (0..n).map(move |i| spectrum(i, j))).collect();
    let mixture = |i: usize| 0.8 * spectrum(i, 5) + 0.5 * spectrum(i, 17) + 0.005 * (3.1 * (i * i) as f64).cos();
    let design = Dense::new(n, p, x)?;
    let penalty = Penalty::new(0.01, 0.0, 1e-3).with_bounds(Bounds::All(0.0, f64::INFINITY));
    let problem = Problem::new(&design, (0..n).map(mixture).collect::<Vec<f64>>(), penalty)?;

    let found = solve(&problem, &Options::default())?;
    println!("components {:?}, amounts {:.2?}", found.support(), found.coefficients.values);
    assert!(found.coefficients.values.iter().all(|b| *b > 0.0));
    assert_eq!(found.support(), &[5, 17]);
    Ok(())
}
