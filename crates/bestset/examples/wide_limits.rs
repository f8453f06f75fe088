//! Limits on a wide problem: how long a solve takes beyond its time limit, and how it ends under little memory.
//!
//! `wide_limits METHOD N P LAMBDA2 SECONDS [SIZES [RHO [LAMBDA0]]]`: N × P normal columns of length one in single precision, ten of which matter,
//! SNR 5, λ0 = 0.1. METHOD is a method's name or `subsets`, for SIZES sizes. Given SIZES, a method looks for the best subset of so many
//! features, without a price, and so many matter; each column then correlates with the one before by RHO, and those that matter
//! are far apart. Given LAMBDA0 too, that is the price, and SIZES only says how many matter. Run it under `ulimit -v` to see that it ends with an answer and a bound.

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
    let size: Option<usize> = rest.first().map(|s| s.parse()).transpose()?;
    let rho: f32 = rest.get(1).map_or(Ok(0.0), |s| s.parse())?;
    for j in 0..p {
        let first = x.len();
        x.extend((0..n).map(|_| -> f32 { StandardNormal.sample(&mut rng) }));
        if rho > 0.0 && j > 0 {
            // The column before has length one.
            let (before, now) = x.split_at_mut(first);
            let (own, others) = ((1.0 - rho * rho).sqrt(), rho * (n as f32).sqrt());
            now.iter_mut().zip(&before[first - n..]).for_each(|(x, b)| *x = own * *x + others * b);
        }
        let length = x[first..].iter().map(|x| x * x).sum::<f32>().sqrt();
        x[first..].iter_mut().for_each(|x| *x /= length);
    }
    let matter = if rho > 0.0 { size.unwrap_or(10) } else { 10 };
    let apart = if rho > 0.0 { p / matter } else { 1 };
    let noise = (matter as f64 / n as f64 / 5.0).sqrt();
    let effect = |j: usize| if j.is_multiple_of(2) { 1.0 } else { -1.0 };
    let signal = |i: usize| (0..matter).map(|j| effect(j) * f64::from(x[j * apart * n + i])).sum::<f64>();
    let y: Vec<f64> =
        (0..n).map(|i| signal(i) + noise * Distribution::<f64>::sample(&StandardNormal, &mut rng)).collect();
    let design = Dense::new(n, p, x)?;
    let limit = Duration::from_secs_f64(seconds.parse()?);
    let options = Options { time_limit: Some(limit), ..Options::default() };
    let start = Instant::now();
    if method == "subsets" {
        let problem = Problem::new(&design, y, Penalty::new(0.0, 0.0, lambda2.parse()?))?;
        let found = subsets(&problem, size.unwrap_or(5), &options)?;
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
        let given: Option<f64> = rest.get(2).map(|s| s.parse()).transpose()?;
        let price = given.unwrap_or(if size.is_some() { 0.0 } else { 0.1 });
        let problem = Problem::new(&design, y, Penalty::new(price, 0.0, lambda2.parse()?))?;
        let problem = match size.filter(|_| given.is_none()) {
            Some(size) => problem.with_max_size(size)?,
            None => problem,
        };
        let options = Options { method: method.parse::<Method>()?, ..options };
        let found = solve(&problem, &options)?;
        let (objective, bound) = (found.objective(), found.certificate.lower_bound);
        println!(
            "{}: P {objective:.6} bound {bound:.6}, {} features, {} of them those that matter, {} iterations, {:.1} passes",
            found.status,
            found.support().len(),
            found.support().iter().filter(|&&j| j % apart == 0 && j / apart < matter).count(),
            found.iterations,
            found.passes
        );
    }
    println!("limit {:.1} s, took {:.2} s", limit.as_secs_f64(), start.elapsed().as_secs_f64());
    Ok(())
}
