//! Hostile problems: few samples for each feature, columns that stand in for one another, scales from 1e-4 to 1e4 in one problem,
//! factors of price and shrinkage, offsets, weights of zero and boxes together.

use super::{Case, ChaCha8Rng, RngExt, loss_at, normal, pick, power};
use bestset::{Bounds, Loss, Penalty};

/// A problem of at most so many features, with n between p/1.5 and 3p.
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
        y.iter_mut().for_each(|y| *y = if *y > shift { 1.0 } else { -1.0 });
        (y[0], y[1]) = (1.0, -1.0);
    } else if let Some(o) = &offset {
        y.iter_mut().zip(o).for_each(|(y, o)| *y += o);
    }
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
