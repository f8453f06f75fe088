//! Groups of three columns each: the relaxation, the answer and the proof, with the processor's work left to the caller to measure.
//!
//!     grouped_limits METHOD LOSS N GROUPS LAMBDA2 SECONDS

use bestset::design::Dense;
use bestset::groups::{Groups, solve_groups};
use bestset::{Loss, Method, Options, Penalty, Problem};
use rand::SeedableRng;
use rand_distr::{Distribution, StandardNormal};
use std::time::Duration;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let given: Vec<String> = std::env::args().skip(1).collect();
    let number =
        |k: usize| given.get(k).and_then(|v| v.parse::<f64>().ok()).ok_or("METHOD LOSS N GROUPS LAMBDA2 SECONDS");
    let (n, count, lambda2) = (number(2)? as usize, number(3)? as usize, number(4)?);
    let (logistic, exact) = (given[1] == "logistic", given[0] == "exact");
    let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(7);
    let mut normal = || -> f64 { StandardNormal.sample(&mut rng) };
    let p = 3 * count;
    let scale = 1.0 / (n as f64).sqrt();
    let x: Vec<f64> = (0..n * p).map(|_| scale * normal()).collect();
    let signal = |i: usize| (0..10.min(count)).map(|g| x[3 * g * n + i] - x[(3 * g + 1) * n + i]).sum::<f64>() / scale;
    let y: Vec<f64> =
        (0..n).map(|i| signal(i) + 2.0 * normal()).map(|v| if logistic { v.signum() } else { v }).collect();
    let x = Dense::new(n, p, x)?;
    let loss = if logistic { Loss::Logistic } else { Loss::Squared };
    let problem = Problem::new(&x, y, Penalty::new(0.0, 0.0, lambda2))?.with_intercept(true).with_loss(loss)?;
    let lambda0 = 0.1 * problem.lambda0_max()?;
    let problem = problem.with_penalty(Penalty::new(lambda0, 0.0, lambda2))?;
    let method = if exact { Method::Exact } else { Method::Incremental };
    let options = Options { time_limit: Some(Duration::from_secs_f64(number(5)?)), ..Options::with_method(method) };
    let found = solve_groups(&problem, &Groups::new(&(0..p).map(|j| j / 3).collect::<Vec<_>>()), &options)?;
    let c = found.certificate;
    println!(
        "{} P {:.12} bound {:.12} gap {:.2e} groups {:?} nodes {} {:.2} s",
        found.status,
        c.objective,
        c.lower_bound,
        c.relative_gap(),
        found.selected,
        found.nodes,
        found.seconds
    );
    Ok(())
}
