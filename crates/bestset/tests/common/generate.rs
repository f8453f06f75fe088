//! Random problems: every loss, storage, view, kind of bounds and weights, scales from 1e-6 to 1e6, odd columns.

use super::case::{Case, Store, plain};
use super::{ChaCha8Rng, RngExt, UNIFORM, normal, pick, power, respond};
use bestset::{Bounds, Loss, Penalty};
use std::ops::RangeInclusive;

/// What the generator may draw.
#[derive(Debug, Clone)]
pub struct Shape {
    pub n: RangeInclusive<usize>,
    pub p: RangeInclusive<usize>,
    /// Column scales from 1e-6 to 1e6 and odd columns.
    pub wild: bool,
    /// Only problems whose fits exist and can be found: separable classes need something that keeps β finite.
    pub attained: bool,
    /// The losses drawn.
    pub losses: &'static [Loss],
    /// Only problems with a useful dual: λ2 > 0 or bounds on both sides.
    pub certified: bool,
}

impl Shape {
    pub fn new(n: RangeInclusive<usize>, p: RangeInclusive<usize>) -> Self {
        Self { n, p, wild: true, attained: false, losses: &UNIFORM, certified: false }
    }
}

/// Some of 0..n in ascending order, `keep` of them.
fn some_of(rng: &mut ChaCha8Rng, n: usize, keep: usize) -> Vec<usize> {
    let mut all: Vec<usize> = (0..n).collect();
    while all.len() > keep {
        all.remove(rng.random_range(0..all.len()));
    }
    all
}

/// A random problem.
pub fn case(rng: &mut ChaCha8Rng, shape: &Shape) -> Case {
    let (n, p) = (rng.random_range(shape.n.clone()), rng.random_range(shape.p.clone()));
    let store = pick(rng, &[Store::Dense64, Store::Dense32, Store::Csc64, Store::Csc32]);
    let (base_rows, base_cols) = (n + pick(rng, &[0, 0, 3]), p + pick(rng, &[0, 0, 2]));
    let mut base = base_matrix(rng, base_rows, base_cols, shape.wild, store);
    if is_narrow(store) {
        base.iter_mut().for_each(|x| *x = f64::from(*x as f32));
    }
    let standard = rng.random_bool(0.3).then(|| standard_of(rng, base_rows, &base));
    let rows = (base_rows > n).then(|| some_of(rng, base_rows, n));
    let columns = (base_cols > p).then(|| {
        let mut columns = some_of(rng, base_cols, p);
        columns.reverse();
        columns
    });
    let x = plain(&base, base_rows, &standard, &rows, &columns);
    let loss = pick(rng, shape.losses);
    let weights = weights(rng, n);
    let (y, intercept) = (targets(rng, n, p, &x, loss, weights.as_deref()), rng.random_bool(0.5));
    let mut case = Case::dense(n, p, x, y, Penalty::new(0.0, 0.0, 0.0));
    (case.store, case.base, case.base_rows) = (store, base, base_rows);
    (case.standard, case.rows, case.columns) = (standard, rows, columns);
    (case.loss, case.weights, case.intercept) = (loss, weights, intercept);
    case.penalty = penalty_of(rng, &case, shape);
    case
}

fn is_narrow(store: Store) -> bool {
    matches!(store, Store::Dense32 | Store::Csc32)
}

fn base_matrix(rng: &mut ChaCha8Rng, n: usize, p: usize, wild: bool, store: Store) -> Vec<f64> {
    let sparse = matches!(store, Store::Csc64 | Store::Csc32);
    let mut base: Vec<f64> = Vec::with_capacity(n * p);
    let spread = if wild { pick(rng, &[0.0, 0.5, 6.0]) } else { 0.0 };
    for j in 0..p {
        let kind = if wild { rng.random_range(0..12) } else { 11 };
        let scale = if spread > 0.0 { power(rng, -spread, spread) } else { 1.0 };
        let column: Vec<f64> = match kind {
            0 => vec![0.0; n],
            1 => vec![scale; n],
            2 if j > 0 => base[(j - 1) * n..].iter().map(|x| -x).collect(),
            3 if j > 0 => base[..n].to_vec(),
            // Nearly a copy, for near-ties between subsets; in f32 it would no longer be a multiple.
            4 if j > 0 && !is_narrow(store) => base[..n].iter().map(|x| x * (1.0 + 1e-7)).collect(),
            _ => (0..n).map(|_| if sparse && rng.random_bool(0.5) { 0.0 } else { scale * normal(rng) }).collect(),
        };
        base.extend(column);
    }
    base
}

fn standard_of(rng: &mut ChaCha8Rng, n: usize, base: &[f64]) -> (Vec<f64>, Vec<f64>) {
    base.chunks_exact(n)
        .map(|x| {
            // A constant column becomes exactly zero: noise in its place would be a column that no two sums agree on.
            let constant = x.iter().all(|v| *v == x[0]);
            let mean = if constant { x[0] } else { x.iter().sum::<f64>() / n as f64 };
            let norm = x.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>().sqrt();
            (mean, if norm > 1e-12 * mean.abs() { norm * rng.random_range(0.5..2.0) } else { 1.0 })
        })
        .unzip()
}

fn weights(rng: &mut ChaCha8Rng, n: usize) -> Option<Vec<f64>> {
    let kind = rng.random_range(0..6);
    let mut w: Vec<f64> = match kind {
        0..=2 => return None,
        3 => (0..n).map(|_| power(rng, -2.0, 1.0)).collect(),
        4 => (0..n).map(|_| if rng.random_bool(0.3) { 0.0 } else { rng.random_range(0.1..3.0) }).collect(),
        _ => (0..n).map(|_| f64::from(rng.random_range(0..4u32))).collect(),
    };
    // The first two samples are of different classes and must both count.
    w[..2].iter_mut().for_each(|w| *w = w.max(1.0));
    Some(w)
}

fn targets(rng: &mut ChaCha8Rng, n: usize, p: usize, x: &[f64], loss: Loss, w: Option<&[f64]>) -> Vec<f64> {
    let mut u = vec![0.0; n];
    for column in x.chunks_exact(n) {
        let norm = column.iter().map(|x| x * x).sum::<f64>().sqrt();
        if norm > 0.0 && rng.random_bool((3.0 / p as f64).min(1.0)) {
            let b = normal(rng) * 2.0 * (n as f64).sqrt() / norm;
            u.iter_mut().zip(column).for_each(|(u, x)| *u += b * x);
        }
    }
    let (noise, offset) = (pick(rng, &[0.02, 0.3, 1.0]), pick(rng, &[0.0, 0.0, 1.5]));
    u.iter_mut().for_each(|u| *u += offset + noise * normal(rng));
    if loss.is_classification() || loss.has_log_link() {
        respond(rng, loss, &mut u);
        debug_assert!(w.is_none_or(|w| w[0] > 0.0 && w[1] > 0.0));
    } else if rng.random_bool(0.3) {
        u[0] += 20.0;
    }
    u
}

fn penalty_of(rng: &mut ChaCha8Rng, case: &Case, shape: &Shape) -> Penalty {
    let model = case.model();
    let at_zero = model.loss_sum(&vec![0.0; case.n], 0.0).max(1e-3);
    let alpha: Vec<f64> = (0..case.n).map(|i| case.weight(i) * super::loss_at(case.loss, 0.0, case.y[i]).1).collect();
    let pull = (0..case.p).map(|j| model.dot(j, &alpha).abs()).fold(0.0, f64::max).max(1e-6);
    let filled: Vec<usize> = (0..case.p).filter(|&j| case.norm(j) > 0.0).collect();
    let square = if filled.is_empty() { 1.0 } else { case.norm(pick(rng, &filled)).powi(2) };
    let lambda0 = if rng.random_bool(0.15) { 0.0 } else { at_zero * power(rng, -3.0, -0.5) };
    let lambda1 = if rng.random_bool(0.45) { 0.0 } else { pull * power(rng, -2.5, -0.3) };
    let lambda2 = if rng.random_bool(0.3) { 0.0 } else { square * power(rng, -2.0, 0.5) };
    let size = case.typical_size(rng.random_range(0..case.p));
    let mut bounds = match rng.random_range(0..8) {
        0..=2 => Bounds::Free,
        3 => Bounds::All(-size, size),
        4 => Bounds::All(0.0, f64::INFINITY),
        5 => Bounds::All(-0.05 * size, 0.05 * size),
        6 => Bounds::All(-0.3 * size, 2.0 * size),
        _ => {
            let side = |rng: &mut ChaCha8Rng, j| match rng.random_range(0..4) {
                0 if !shape.certified => f64::INFINITY,
                1 => 0.0,
                _ => case.typical_size(j) * power(rng, -1.5, 0.5),
            };
            let mut pair = |j| (-side(rng, j), side(rng, j));
            let (lower, upper) = (0..case.p).map(&mut pair).unzip();
            Bounds::Each(lower, upper)
        }
    };
    let mut penalty = Penalty::new(lambda0, lambda1, lambda2);
    let open = (0..case.p).any(|j| bounds.at(j).0.is_infinite() || bounds.at(j).1.is_infinite());
    let largest = (0..case.p).map(|j| case.norm(j).powi(2)).fold(0.0, f64::max);
    if shape.attained
        && lambda1 == 0.0
        && lambda2 < 1e-5 * largest
        && (case.loss.is_classification() || case.loss.has_log_link())
    {
        let (lower, upper) = (0..case.p).map(|j| (-case.typical_size(j), 2.0 * case.typical_size(j))).unzip();
        bounds = Bounds::Each(lower, upper);
    } else if shape.certified && open && lambda2 == 0.0 {
        penalty.lambda2 = square * power(rng, -2.0, 0.5);
    }
    penalty.with_bounds(bounds)
}
