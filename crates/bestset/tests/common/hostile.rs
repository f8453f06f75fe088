//! Hostile problems, by what they are hard for.

use super::{Case, ChaCha8Rng, RngExt, loss_at, normal, pick, power, respond};
use bestset::{Bounds, Loss, Penalty};

/// Everything at once: at most so many features, n between p/1.5 and 3p; columns that stand in for one another, scales from 1e-4 to
/// 1e4 in one problem, factors of price and shrinkage, offsets, weights of zero and boxes together.
pub fn hostile(rng: &mut ChaCha8Rng, losses: &[Loss], most: usize) -> Case {
    let p = rng.random_range(2..=most);
    let n = rng.random_range((p * 2).div_ceil(3).max(3)..=3 * p);
    let (kind, spread) = (rng.random_range(0..5), pick(rng, &[0.0, 0.0, 1.0, 4.0]));
    let near = pick(rng, &[0.3, 0.1, 0.01]);
    let scales: Vec<f64> = (0..p).map(|_| if spread > 0.0 { power(rng, -spread, spread) } else { 1.0 }).collect();
    let common: Vec<f64> = (0..n).map(|_| normal(rng)).collect();
    let mut unit: Vec<f64> = Vec::new();
    for j in 0..p {
        let column: Vec<f64> = match kind {
            // Correlations near 1, with signs.
            0 | 1 => (0..n).map(|i| common[i] + near * normal(rng)).collect(),
            2 if j % 3 > 0 => (0..n).map(|i| unit[(j - j % 3) * n + i] + near * normal(rng)).collect(),
            3 if j > 0 && rng.random_bool(0.3) => unit[..n].to_vec(),
            _ => (0..n).map(|_| normal(rng)).collect(),
        };
        unit.extend(column);
    }
    let noise = pick(rng, &[0.01, 0.5, 2.0]);
    let beta: Vec<f64> = (0..p).map(|_| if rng.random_bool(0.5) { normal(rng) } else { 0.0 }).collect();
    let shift = pick(rng, &[0.0, 0.0, 3.0]);
    let signal: Vec<f64> =
        (0..n).map(|i| shift + (0..p).map(|j| beta[j] * unit[j * n + i]).sum::<f64>() + noise * normal(rng)).collect();
    let loss = pick(rng, losses);
    let offset: Option<Vec<f64>> = rng.random_bool(0.4).then(|| (0..n).map(|_| 2.0 * normal(rng)).collect());
    let mut y = signal;
    if loss.is_classification() {
        y.iter_mut().for_each(|y| *y -= shift);
    } else if let Some(o) = &offset {
        y.iter_mut().zip(o).for_each(|(y, o)| *y += o);
    }
    respond(rng, loss, &mut y);
    let weights = rng.random_bool(0.4).then(|| {
        let mut w: Vec<f64> = (0..n).map(|_| if rng.random_bool(0.2) { 0.0 } else { power(rng, -1.0, 1.0) }).collect();
        w[..2].iter_mut().for_each(|w| *w = w.max(0.5));
        w
    });
    let x: Vec<f64> = (0..n * p).map(|i| unit[i] * scales[i / n]).collect();
    let mut case = Case::dense(n, p, x, y, Penalty::new(0.0, 0.0, 0.0));
    (case.loss, case.weights, case.offset, case.intercept) = (loss, weights, offset, rng.random_bool(0.5));
    case.penalty = penalty(rng, &case, &scales);
    case
}

fn penalty(rng: &mut ChaCha8Rng, case: &Case, scales: &[f64]) -> Penalty {
    let (n, p) = (case.n, case.p);
    let offset = case.offset.clone().unwrap_or_else(|| vec![0.0; n]);
    let at_zero = (0..n).map(|i| case.weight(i) * loss_at(case.loss, offset[i], case.y[i]).0).sum::<f64>();
    let lambda0 = if rng.random_bool(0.15) { 0.0 } else { at_zero * power(rng, -3.0, -0.7) };
    let lambda1 = if rng.random_bool(0.5) { 0.0 } else { at_zero / n as f64 * power(rng, -2.0, -0.3) };
    let boxed = rng.random_range(0..6);
    let lambda2 = if boxed < 2 && rng.random_bool(0.5) { 0.0 } else { n as f64 * power(rng, -4.0, 0.3) };
    let reach: Vec<f64> = scales.iter().map(|s| power(rng, -0.7, 0.7) / s).collect();
    let bounds = match boxed {
        0 => Bounds::Each(reach.iter().map(|r| -r).collect(), reach.clone()),
        1 => Bounds::Each((0..p).map(|j| if j % 2 == 0 { 0.0 } else { -0.3 * reach[j] }).collect(), reach.clone()),
        _ => Bounds::Free,
    };
    let mut penalty = Penalty::new(lambda0, lambda1, lambda2).with_bounds(bounds);
    if rng.random_bool(0.5) {
        let one = |rng: &mut ChaCha8Rng| pick(rng, &[0.0, 0.3, 1.0, 1.0, 4.0]);
        penalty = penalty.with_price((0..p).map(|_| one(rng)).collect());
    }
    // The scale of a column in its penalty, half of the time: otherwise large columns are nearly unshrunk.
    let scaled = rng.random_bool(0.5);
    let free = if boxed < 2 { 0.0 } else { 0.1 };
    let factor = |rng: &mut ChaCha8Rng, s: f64| pick(rng, &[free, 0.5, 1.0, 3.0]) * if scaled { s * s } else { 1.0 };
    if scaled || rng.random_bool(0.4) {
        penalty = penalty.with_shrinkage(scales.iter().map(|&s| factor(rng, s)).collect());
    }
    penalty
}

/// p columns of which some are multiples of one before, or the difference of two, but for `noise`; of `kinds` one in so many are
/// neither for sure.
fn combinations(rng: &mut ChaCha8Rng, (n, p): (usize, usize), kinds: u32, factors: &[f64], noise: f64) -> Vec<f64> {
    let mut x: Vec<f64> = Vec::new();
    let off = |rng: &mut ChaCha8Rng| if noise > 0.0 { noise * normal(rng) } else { 0.0 };
    for j in 0..p {
        let column: Vec<f64> = match rng.random_range(0..kinds) {
            0 | 1 if j > 0 => {
                let (from, by) = (rng.random_range(0..j), pick(rng, factors));
                (0..n).map(|i| by * x[from * n + i] + off(rng)).collect()
            }
            2 if j > 1 => (0..n).map(|i| x[i] - x[(j - 1) * n + i] + off(rng)).collect(),
            _ => (0..n).map(|_| normal(rng)).collect(),
        };
        x.extend(column);
    }
    x
}

/// Columns that are multiples of one another or differences of others: what a fit without a ridge cannot tell apart, and λ1 or
/// bounds can.
pub fn dependent(rng: &mut ChaCha8Rng) -> Case {
    let (n, p) = (rng.random_range(3..=12), rng.random_range(2..=8));
    let x = combinations(rng, (n, p), 5, &[0.5, 2.0, -1.0, 1.0, 10.0, -3.0], 0.0);
    let y: Vec<f64> = (0..n).map(|i| x[i] + x[(p - 1) * n + i] + 0.3 * normal(rng)).collect();
    let square: f64 = y.iter().map(|y| y * y).sum();
    let lambda1 = pick(rng, &[0.0, 0.05, 0.5]) * square.sqrt();
    let lambda2 = pick(rng, &[0.0, 0.0, 1e-14, 1e-3, 0.3]);
    let bounds = match rng.random_range(0..4) {
        0 => Bounds::All(-0.4, 0.7),
        1 => Bounds::All(0.0, 0.3),
        _ => Bounds::Free,
    };
    let penalty = Penalty::new(square * power(rng, -3.0, -0.7), lambda1, lambda2).with_bounds(bounds);
    Case::dense(n, p, x, y, penalty)
}

/// The same but for 1e-9 to 0.1 of them, and hardly a ridge: pivots lose digits, and so do fits.
pub fn nearly_dependent(rng: &mut ChaCha8Rng) -> Case {
    let (n, p) = (rng.random_range(3..=20), rng.random_range(4..=14));
    let noise = power(rng, -9.0, -1.0);
    let x = combinations(rng, (n, p), 4, &[0.5, 2.0, -1.0, 1.0, 1.0, -3.0], noise);
    let y: Vec<f64> = (0..n).map(|i| x[i] + x[(p - 1) * n + i] - x[(p / 2) * n + i] + 0.3 * normal(rng)).collect();
    let square: f64 = y.iter().map(|y| y * y).sum();
    let lambda1 = pick(rng, &[0.0, 0.0, 0.05, 0.5]) * square.sqrt();
    let lambda2 = pick(rng, &[0.0, 1e-14, 1e-10, 1e-6, 1e-3, 0.3]);
    let penalty = Penalty::new(square * power(rng, -5.0, -0.7), lambda1, lambda2);
    let mut case = Case::dense(n, p, x, y, penalty);
    case.intercept = rng.random_bool(0.3);
    case
}

/// Columns around a common one, more signals than a greedy choice sorts out, and a price at which a good half of them pay.
pub fn tangled(rng: &mut ChaCha8Rng, n: usize, p: usize, loss: Loss) -> Case {
    let (common, lambda0, lambda2) = (power(rng, -0.3, 0.5), power(rng, -1.5, 0.0), power(rng, -2.0, 0.0));
    let shared: Vec<f64> = (0..n).map(|_| normal(rng)).collect();
    let x: Vec<f64> = (0..n * p).map(|k| normal(rng) + common * shared[k % n]).collect();
    let truth: Vec<f64> = (0..p).map(|_| if rng.random_bool(0.5) { normal(rng) } else { 0.0 }).collect();
    let signal = |i: usize| (0..p).map(|j| x[j * n + i] * truth[j]).sum::<f64>();
    let mut y: Vec<f64> = (0..n).map(|i| signal(i) + 0.5 * normal(rng)).collect();
    respond(rng, loss, &mut y);
    let mut case = Case::dense(n, p, x, y, Penalty::new(lambda0, 0.1 * lambda0, lambda2));
    case.loss = loss;
    case
}

/// Columns that nearly stand in for one another, X_j ← 0.95 X_{j−1} + 0.3 X_j, and a target of a few of them.
pub fn chain(rng: &mut ChaCha8Rng, n: usize, p: usize) -> Case {
    let mut x: Vec<f64> = (0..n * p).map(|_| normal(rng)).collect();
    for i in n..n * p {
        x[i] = 0.95 * x[i - n] + 0.3 * x[i];
    }
    let beta: Vec<f64> = (0..p).map(|_| if rng.random_bool(0.4) { normal(rng) } else { 0.0 }).collect();
    let fit = |i: usize| (0..p).map(|j| beta[j] * x[j * n + i]).sum::<f64>();
    let y = (0..n).map(|i| fit(i) + normal(rng)).collect();
    Case::dense(n, p, x, y, Penalty::new(2.0, 0.0, 0.05))
}
