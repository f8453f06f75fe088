//! Loops that a test would take long for: these files are optimised, the tests are not (`Cargo.toml` of `bestset-oracle`). What they call is a
//! function that is not inlined, for a closure, and what is inlined, would be compiled where it is used.

use super::{Case, ChaCha8Rng, RngExt};
use bestset::Coordinate;

/// π(b) written out.
#[inline(never)]
pub fn pi(c: Coordinate, b: f64) -> f64 {
    f64::from(b != 0.0) * c.l0 + c.l1 * b.abs() + c.l2 * b * b
}

/// λ1|b| + λ2b², the penalty of a coefficient that is selected whatever its value.
#[inline(never)]
pub fn smooth(c: Coordinate, b: f64) -> f64 {
    c.l1 * b.abs() + c.l2 * b * b
}

/// ρ(b), the envelope.
#[inline(never)]
pub fn envelope(c: Coordinate, b: f64) -> f64 {
    c.envelope(b)
}

/// min over the bounds (and [−`far`, `far`]) of (½`curvature`b − q)b + part(b), by a grid refined around its best points; also the minimiser.
pub fn minimum(c: Coordinate, far: f64, (curvature, q): (f64, f64), part: fn(Coordinate, f64) -> f64) -> (f64, f64) {
    let f = |b: f64| (0.5 * curvature * b - q) * b + part(c, b);
    let (lower, upper) = (c.lower.max(-far), c.upper.min(far));
    let mut best = (f(0.0), 0.0);
    for (mut low, mut high) in [(lower, 0.0), (0.0, upper)] {
        for _ in 0..12 {
            let step = (high - low) / 60.0;
            let points = (0..=60).map(|k| if k == 60 { high } else { low + f64::from(k) * step });
            // The open half-line: a jump at zero must not hide the points beside it.
            let side = points.filter(|b| *b != 0.0).map(|b| (f(b), b)).min_by(|a, b| a.0.total_cmp(&b.0));
            let Some(side) = side else { break };
            if side.0 < best.0 {
                best = side;
            }
            (low, high) = ((side.1 - step).max(low), (side.1 + step).min(high));
        }
    }
    best
}

/// The least residual sum of squares of pairs, triples and quadruples, halved: features projected out one after the other.
pub fn by_loops(case: &Case, size: usize) -> f64 {
    let centred = |v: &[f64]| {
        let mean = v.iter().sum::<f64>() / v.len() as f64;
        v.iter().map(|x| x - mean).collect::<Vec<f64>>()
    };
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let columns: Vec<Vec<f64>> = (0..case.p).map(|j| centred(case.col(j))).collect();
    let y = centred(&case.y);
    let q: Vec<f64> = columns.iter().map(|c| dot(c, &y)).collect();
    let a: Vec<Vec<f64>> = columns.iter().map(|c| columns.iter().map(|d| dot(c, d)).collect()).collect();
    fn gain(a: &[Vec<f64>], q: &[f64], size: usize) -> f64 {
        let m = q.len();
        if size == 1 {
            return (0..m).filter(|&j| a[j][j] > 1e-9).map(|j| q[j] * q[j] / a[j][j]).fold(0.0, f64::max);
        }
        let mut best = 0.0f64;
        // A copy of what is in leaves nothing.
        for i in (0..m).filter(|&i| a[i][i] > 1e-9) {
            let left: Vec<usize> = (i + 1..m).collect();
            let b: Vec<Vec<f64>> =
                left.iter().map(|&j| left.iter().map(|&k| a[j][k] - a[j][i] * a[i][k] / a[i][i]).collect()).collect();
            let r: Vec<f64> = left.iter().map(|&j| q[j] - a[j][i] * q[i] / a[i][i]).collect();
            best = best.max(q[i] * q[i] / a[i][i] + gain(&b, &r, size - 1));
        }
        best
    }
    0.5 * (dot(&y, &y) - gain(&a, &q, size))
}

/// Passes over all columns, of length one, until no coefficient moves.
pub fn descend(columns: &[f64], residual: &mut [f64], beta: &mut [f64], step: fn(f64) -> f64) {
    for _ in 0..400 {
        let mut moved: f64 = 0.0;
        for (column, b) in columns.chunks(residual.len()).zip(beta.iter_mut()) {
            let new = step(*b + column.iter().zip(&*residual).map(|(x, r)| x * r).sum::<f64>());
            let by = new - *b;
            if by != 0.0 {
                residual.iter_mut().zip(column).for_each(|(r, x)| *r -= by * x);
                (*b, moved) = (new, moved.max(by.abs()));
            }
        }
        if moved < 1e-9 {
            return;
        }
    }
}

/// Packed codes of genotypes, garbage behind the last person, and the dense matrix.
pub fn genotypes(n: usize, p: usize, rng: &mut ChaCha8Rng) -> (Vec<u8>, Vec<f64>) {
    let stride = n.div_ceil(4);
    let mut packed: Vec<u8> = (0..stride * p).map(|_| rng.random_range(0..=255)).collect();
    let mut dense = vec![0.0; n * p];
    for j in 0..p {
        // None missing, few, many, all; variants of one genotype alone.
        let missing = [0.0, 0.003, 0.3, 1.0][j % 4];
        let only = (j % 5 == 4).then_some([0, 2, 3][j % 3]);
        for i in 0..n {
            let code = only.unwrap_or([0, 2, 3][rng.random_range(0..3usize)]);
            let code: u8 = if rng.random_bool(missing) { 1 } else { code };
            let byte = &mut packed[j * stride + i / 4];
            *byte = *byte & !(3 << (2 * (i % 4))) | code << (2 * (i % 4));
            dense[j * n + i] = [2.0, f64::NAN, 1.0, 0.0][code as usize];
        }
        let own = &mut dense[j * n..(j + 1) * n];
        let known: Vec<f64> = own.iter().copied().filter(|x| !x.is_nan()).collect();
        let mean = if known.is_empty() { 0.0 } else { known.iter().sum::<f64>() / known.len() as f64 };
        own.iter_mut().filter(|x| x.is_nan()).for_each(|x| *x = mean);
    }
    (packed, dense)
}
