//! Classification: a logistic model on a few features, and probabilities. `cargo run --example classification`

use bestset::criteria::Criterion;
use bestset::design::Dense;
use bestset::model::Model;
use bestset::path::{PathOptions, path};
use bestset::{Loss, Penalty, Problem};

fn main() -> bestset::Result<()> {
    let (n, p) = (200, 30);
    let x: Vec<f64> = (0..n * p).map(|k| (k as f64 * k as f64 * 0.7).sin()).collect();
    let margin = |i: usize| x[2 * n + i] + x[5 * n + i] + 0.4 * (3.1 * (i * i) as f64).cos();
    let y: Vec<f64> = (0..n).map(|i| if margin(i) > 0.0 { 1.0 } else { -1.0 }).collect();
    let design = Dense::new(n, p, x.clone())?;
    let problem =
        Problem::new(&design, y, Penalty::new(0.0, 0.0, 0.5))?.with_loss(Loss::Logistic)?.with_intercept(true);

    let found = path(&problem, &PathOptions { max_size: Some(8), ..PathOptions::default() })?;
    let chosen = &found.points[Criterion::Ebic { gamma: 1.0 }.best(&problem, &found)?];
    let model = Model::from_point(&problem, chosen)?;
    println!("features {:?}, first probability {:.3}", model.selected(), model.probabilities(&design)?[0]);
    assert_eq!(chosen.solution.support(), &[2, 5]);
    Ok(())
}
