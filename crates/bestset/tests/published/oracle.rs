//! Brute force: every subset, fitted by plain proximal steps that share no code with the solvers.

use crate::data::Case;

/// P of MATH §1 in one loop; +∞ outside bounds or size.
pub fn objective(case: &Case, beta: &[f64], b: f64) -> f64 {
    let Case { n, p, .. } = *case;
    if case.max_size.is_some_and(|k| beta.iter().filter(|b| **b != 0.0).count() > k) {
        return f64::INFINITY;
    }
    let mut total = 0.0;
    for i in 0..n {
        let u: f64 = b + (0..p).map(|j| case.x[j * n + i] * beta[j]).sum::<f64>();
        total += weight(case, i) * case.loss.value(u, case.y[i]);
    }
    for j in 0..p {
        let (lower, upper) = case.penalty.bounds.at(j);
        if beta[j] < lower || beta[j] > upper {
            return f64::INFINITY;
        }
        let l0 = if beta[j] != 0.0 { case.penalty.lambda0 } else { 0.0 };
        total += l0 + case.penalty.lambda1 * beta[j].abs() + case.penalty.lambda2 * beta[j] * beta[j];
    }
    total
}

pub fn weight(case: &Case, i: usize) -> f64 {
    case.weights.as_ref().map_or(1.0, |w| w[i])
}

/// Fits the features of `free` (and the intercept), the others as in `beta`, without λ0: proximal coordinate steps
/// until nothing moves.
pub fn fit(case: &Case, free: &[usize], beta: &mut [f64], b: &mut f64) {
    let n = case.n;
    let mu = case.loss.mu();
    let (l1, l2) = (case.penalty.lambda1, case.penalty.lambda2);
    let mut u: Vec<f64> = (0..n).map(|i| *b + (0..case.p).map(|j| case.x[j * n + i] * beta[j]).sum::<f64>()).collect();
    let column = |j: usize, i: usize| if j == case.p { 1.0 } else { case.x[j * n + i] };
    // Position p stands for the intercept.
    let mut moves: Vec<usize> = free.to_vec();
    moves.extend(case.intercept.then_some(case.p));
    for _ in 0..200_000 {
        let mut largest: f64 = 0.0;
        for &j in &moves {
            let sum = |f: &dyn Fn(usize) -> f64| (0..n).map(|i| weight(case, i) * f(i)).sum::<f64>();
            let c = sum(&|i| column(j, i).powi(2)) / mu;
            if c == 0.0 {
                continue;
            }
            let g = sum(&|i| column(j, i) * case.loss.derivative(u[i], case.y[i]));
            let old = if j == case.p { *b } else { beta[j] };
            let q = c * old - g;
            let new = if j == case.p {
                q / c
            } else {
                let (lower, upper) = case.penalty.bounds.at(j);
                (q.signum() * (q.abs() - l1).max(0.0) / (c + 2.0 * l2)).clamp(lower, upper)
            };
            (0..n).for_each(|i| u[i] += column(j, i) * (new - old));
            if j == case.p {
                *b = new
            } else {
                beta[j] = new
            }
            largest = largest.max((new - old).abs());
        }
        if largest < 1e-13 {
            break;
        }
    }
}

/// min P over all subsets (of at most k features), with β and b.
pub fn enumerate(case: &Case) -> (f64, Vec<f64>, f64) {
    let mut best = (f64::INFINITY, vec![], 0.0);
    for mask in 0u32..1 << case.p {
        if case.max_size.is_some_and(|k| mask.count_ones() as usize > k) {
            continue;
        }
        let free: Vec<usize> = (0..case.p).filter(|j| mask >> j & 1 == 1).collect();
        let (mut beta, mut b) = (vec![0.0; case.p], 0.0);
        fit(case, &free, &mut beta, &mut b);
        let value = objective(case, &beta, b);
        if value < best.0 {
            best = (value, beta, b);
        }
    }
    best
}
