//! Processor time of a path with a bound at every point, and P of each point against that of a solve of its own.
//!
//!     cargo run --release -p bestset --example path_figures -- DIR n p lambda1 lambda2 [logistic] [full] [cold] [alone] [forward] [size=90] [log=RATIO]
//!
//! DIR holds `x.f64` (by columns) and `y.f64`, little-endian.

use bestset::design::Dense;
use bestset::path::{Grid, PathOptions, Search, path};
use bestset::{Loss, Options, Penalty, Problem, solve};

fn numbers(file: &str) -> Vec<f64> {
    let bytes = std::fs::read(file).expect("a file of f64");
    bytes.chunks_exact(8).map(|b| f64::from_le_bytes(b.try_into().expect("eight bytes"))).collect()
}

/// Seconds this thread has run.
fn processor() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux");
    text.split(' ').next().and_then(|t| t.parse::<f64>().ok()).expect("nanoseconds") * 1e-9
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let (dir, n, p) = (&arguments[1], arguments[2].parse().unwrap(), arguments[3].parse().unwrap());
    let (l1, l2) = (arguments[4].parse().unwrap(), arguments[5].parse().unwrap());
    let has = |word: &str| arguments.iter().any(|a| a == word);
    let x = Dense::new(n, p, numbers(&format!("{dir}/x.f64"))).unwrap();
    let mut y = numbers(&format!("{dir}/y.f64"));
    if has("logistic") {
        y.iter_mut().for_each(|y| *y = y.signum());
    }
    let problem = Problem::new(&x, y, Penalty::new(0.0, l1, l2)).unwrap();
    let problem = if has("logistic") { problem.with_loss(Loss::Logistic).unwrap() } else { problem };
    let mut options =
        PathOptions { search: if has("full") { Search::Full } else { Search::Neighbours }, ..PathOptions::default() };
    options.backward = !has("forward");
    let number = |name: &str| arguments.iter().find_map(|a| a.strip_prefix(name).map(str::to_owned));
    options.max_size = number("size=").map(|k| k.parse().unwrap());
    if let Some(ratio) = number("log=") {
        options.grid = Grid::Log { points: 100, ratio: ratio.parse().unwrap() };
    }
    for _ in 0..3 {
        let (start, clock) = (processor(), std::time::Instant::now());
        let found = path(&problem, &options).unwrap();
        let (used, seconds) = (processor() - start, clock.elapsed().as_secs_f64());
        let last = found.points.last().unwrap();
        let passes: f64 = found.points.iter().map(|p| p.solution.passes).sum();
        println!(
            "{} points to size {}: processor {used:.3} s, clock {seconds:.3} s, {passes:.0} passes",
            found.points.len(),
            last.solution.support().len()
        );
    }
    if has("alone") {
        let found = path(&problem, &options).unwrap();
        let (mut worse, mut better, mut most) = (0, 0, 0.0f64);
        for point in &found.points {
            let alone = PathOptions { grid: Grid::Given(vec![point.lambda0]), ..options.clone() };
            let alone = path(&problem, &alone).unwrap().points[0].solution.objective();
            let change = point.solution.objective() / alone - 1.0;
            worse += usize::from(change > 1e-9);
            better += usize::from(change < -1e-9);
            most = most.max(change);
        }
        println!("worse than the same search alone at {worse} points (at most {most:.1e}), better at {better}");
    }
    if has("cold") {
        let found = path(&problem, &options).unwrap();
        let (mut worse, mut better, mut most) = (0, 0, 0.0f64);
        let start = processor();
        for point in &found.points {
            let cold = problem.with_penalty(Penalty::new(point.lambda0, l1, l2)).unwrap();
            let cold = solve(&cold, &Options::default()).unwrap();
            let change = point.solution.objective() / cold.objective() - 1.0;
            let (size, k) = (point.solution.support().len(), cold.support().len());
            let gap = point.solution.certificate.relative_gap();
            println!(
                "{:.6} size {size} cold {k} P/P_cold - 1 = {change:+.2e} gap {gap:.2e} cold gap {:.2e}",
                point.lambda0,
                cold.certificate.relative_gap()
            );
            worse += usize::from(change > 1e-9);
            better += usize::from(change < -1e-9);
            most = most.max(change);
        }
        println!(
            "worse than cold at {worse} points (at most {most:.1e}), better at {better}; cold {:.2} s",
            processor() - start
        );
    }
}
