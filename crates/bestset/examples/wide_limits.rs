//! Limits on a wide problem: how long a solve takes beyond its time limit, and how it ends under little memory.
//!
//! `wide_limits METHOD N P LAMBDA2 SECONDS [SIZES]`: N × P normal columns of length one in single precision, ten of which matter, SNR 5,
//! λ0 = 0.1. METHOD is a method's name or `subsets`. Run it under `ulimit -v` to see that it ends with an answer and a bound.

use bestset::design::Dense;
use bestset::{Method, Options, Penalty, Problem, solve, subsets};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use std::time::{Duration, Instant};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [method, n, p, lambda2, seconds, rest @ ..] = &arguments[..] else {
        return Err("METHOD N P LAMBDA2 SECONDS".into());
    };
    let (n, p): (usize, usize) = (n.parse()?, p.parse()?);
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut x: Vec<f32> = Vec::with_capacity(n * p);
    for _ in 0..p {
        let first = x.len();
        x.extend((0..n).map(|_| -> f32 { StandardNormal.sample(&mut rng) }));
        let length = x[first..].iter().map(|x| x * x).sum::<f32>().sqrt();
        x[first..].iter_mut().for_each(|x| *x /= length);
    }
    let noise = (10.0 / n as f64 / 5.0).sqrt();
    let signal = |i: usize| (0..10).map(|j| if j % 2 == 0 { 1.0 } else { -1.0 } * f64::from(x[j * n + i])).sum::<f64>();
    let y: Vec<f64> =
        (0..n).map(|i| signal(i) + noise * Distribution::<f64>::sample(&StandardNormal, &mut rng)).collect();
    let design = Dense::new(n, p, x)?;
    let limit = Duration::from_secs_f64(seconds.parse()?);
    let options = Options { time_limit: Some(limit), ..Options::default() };
    let start = Instant::now();
    if method == "subsets" {
        let problem = Problem::new(&design, y, Penalty::new(0.0, 0.0, lambda2.parse()?))?;
        let found = subsets(&problem, rest.first().map_or(Ok(5), |s| s.parse())?, &options)?;
        for s in &found.sizes {
            println!(
                "size {} of {}: {} P {:.6} bound {:.6}",
                s.coefficients.nonzeros(),
                s.size,
                s.status,
                s.certificate.objective,
                s.certificate.lower_bound
            );
        }
    } else {
        let problem = Problem::new(&design, y, Penalty::new(0.1, 0.0, lambda2.parse()?))?;
        let options = Options { method: method.parse::<Method>()?, ..options };
        let found = solve(&problem, &options)?;
        let (objective, bound) = (found.objective(), found.certificate.lower_bound);
        println!(
            "{}: P {objective:.6} bound {bound:.6}, {} features, {} iterations",
            found.status,
            found.support().len(),
            found.iterations
        );
    }
    println!("limit {:.1} s, took {:.2} s", limit.as_secs_f64(), start.elapsed().as_secs_f64());
    Ok(())
}
