//! Random problems with fixed seeds.

use crate::common::{Case, ChaCha8Rng, normal, rng};
use bestset::{Bounds, Loss, Method, Options, Penalty, Step};

/// Every published method for problems without a limit on the size.
pub const METHODS: [Method; 4] =
    [Method::PrimalDual { dynamic: true }, Method::PrimalDual { dynamic: false }, Method::DualAscent, Method::Cdss];

/// So many standard normal numbers.
pub fn normals(rng: &mut ChaCha8Rng, count: usize) -> Vec<f64> {
    (0..count).map(|_| normal(rng)).collect()
}

/// A few true features among correlated columns of means and lengths that differ.
pub fn random(seed: u64, loss: Loss, n: usize, p: usize) -> Case {
    let mut rng = rng(seed);
    let mut x = normals(&mut rng, n * p);
    for j in 0..p {
        let kind = (j % 7) as f64;
        let (mean, scale) = (0.3 * kind - 0.5, 0.25 + 0.1 * kind);
        for i in 0..n {
            let left = if j > 0 { x[(j - 1) * n + i] } else { 0.0 };
            x[j * n + i] = scale * (x[j * n + i] + mean) + 0.3 * left;
        }
    }
    let noise = normals(&mut rng, n);
    let signal = |i: usize| 1.5 * x[i] - 2.0 * x[(p / 2) * n + i] + 0.8 * x[(p - 1) * n + i] + 0.4;
    let u: Vec<f64> = (0..n).map(|i| signal(i) + 0.5 * noise[i]).collect();
    let y = if loss.is_classification() { u.iter().map(|u| if *u > 0.0 { 1.0 } else { -1.0 }).collect() } else { u };
    let mut case = Case::dense(n, p, x, y, Penalty::new(0.4, 0.1, 0.3));
    case.loss = loss;
    case
}

/// Every combination of bounds, weights and intercept for one loss.
pub fn variants(seed: u64, loss: Loss, n: usize, p: usize) -> Vec<Case> {
    let base = random(seed, loss, n, p);
    let mut all = Vec::new();
    for mask in 0..8 {
        let mut case = base.clone();
        if mask & 1 != 0 {
            case.penalty = case.penalty.with_bounds(Bounds::All(-0.45, 0.7));
        }
        if mask & 2 != 0 {
            // One sample of weight zero, the others between 0.4 and 2.4.
            case.weights = Some((0..n).map(|i| if i == 3 { 0.0 } else { 0.4 + (i % 6) as f64 * 0.4 }).collect());
        }
        case.intercept = mask & 4 != 0;
        all.push(case);
    }
    all
}

/// Options with a step that suits small problems.
pub fn options(method: Method, omega: f64) -> Options {
    let mut options = Options::with_method(method);
    options.trace = true;
    options.published.step = Step::Constant(omega);
    options
}
