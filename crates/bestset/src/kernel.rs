//! The inner products everything rests on, compiled for the best instruction set found at run time.
//!
//! Sixteen partial sums in a fixed order and no fused multiply-add: the same bits on every machine and for any
//! number of threads.

use pulp::{Arch, NullaryFnOnce};

/// A number that X may be stored in; arithmetic is always `f64`.
pub trait Element: Copy + Send + Sync + PartialEq + std::fmt::Debug + 'static {
    /// The stored value as `f64`, exactly.
    fn wide(self) -> f64;
}

impl Element for f64 {
    #[inline(always)]
    fn wide(self) -> f64 {
        self
    }
}

impl Element for f32 {
    #[inline(always)]
    fn wide(self) -> f64 {
        f64::from(self)
    }
}

const LANES: usize = 16;

#[inline(always)]
fn reduce(mut lanes: [f64; LANES]) -> f64 {
    let mut width = LANES / 2;
    while width > 0 {
        for k in 0..width {
            lanes[k] += lanes[k + width];
        }
        width /= 2;
    }
    lanes[0]
}

struct Dot<'a, T>(&'a [T], &'a [f64]);

impl<T: Element> NullaryFnOnce for Dot<'_, T> {
    type Output = f64;
    #[inline(always)]
    fn call(self) -> f64 {
        let n = self.0.len().min(self.1.len());
        let (x, v) = (&self.0[..n], &self.1[..n]);
        let mut lanes = [0.0; LANES];
        let (xs, vs) = (x.chunks_exact(LANES), v.chunks_exact(LANES));
        let (xr, vr) = (xs.remainder(), vs.remainder());
        for (a, b) in xs.zip(vs) {
            for k in 0..LANES {
                lanes[k] += a[k].wide() * b[k];
            }
        }
        for k in 0..xr.len() {
            lanes[k] += xr[k].wide() * vr[k];
        }
        reduce(lanes)
    }
}

/// Σ_i x_i v_i.
pub fn dot<T: Element>(x: &[T], v: &[f64]) -> f64 {
    Arch::new().dispatch(Dot(x, v))
}

/// Columns that stay in the nearest memory while all vectors pass by.
const BLOCK: usize = 8;

/// xᵀv for four v: x is read once for all of them, and the sums, each in the order of [`Dot`], do not wait for one another.
#[inline(always)]
fn dot_four<T: Element>(x: &[T], vectors: &[&[f64]; 4]) -> [f64; 4] {
    let n = x.len();
    let [v, w, y, z] = vectors.map(|v| v[..n].as_chunks::<LANES>());
    let (mut a, mut b, mut c, mut d) = ([0.0; LANES], [0.0; LANES], [0.0; LANES], [0.0; LANES]);
    let (xs, rest) = x.as_chunks::<LANES>();
    for ((((x, v), w), y), z) in xs.iter().zip(v.0).zip(w.0).zip(y.0).zip(z.0) {
        for k in 0..LANES {
            let x = x[k].wide();
            a[k] += x * v[k];
            b[k] += x * w[k];
            c[k] += x * y[k];
            d[k] += x * z[k];
        }
    }
    for k in 0..rest.len() {
        let x = rest[k].wide();
        a[k] += x * v.1[k];
        b[k] += x * w.1[k];
        c[k] += x * y.1[k];
        d[k] += x * z.1[k];
    }
    [reduce(a), reduce(b), reduce(c), reduce(d)]
}

struct DotColumnsMany<'a, T>(&'a [T], usize, &'a [usize], &'a [&'a [f64]], &'a mut [f64]);

impl<T: Element> NullaryFnOnce for DotColumnsMany<'_, T> {
    type Output = ();
    #[inline(always)]
    fn call(self) {
        let Self(data, n, columns, vectors, out) = self;
        let count = vectors.len();
        let (fours, rest) = vectors.as_chunks::<4>();
        for (block, out) in columns.chunks(BLOCK).zip(out.chunks_mut(BLOCK * count)) {
            let column = |k: usize| &data[block[k] * n..(block[k] + 1) * n];
            for (f, four) in fours.iter().enumerate() {
                for k in 0..block.len() {
                    out[k * count + 4 * f..][..4].copy_from_slice(&dot_four(column(k), four));
                }
            }
            for (v, vector) in rest.iter().enumerate() {
                for k in 0..block.len() {
                    out[k * count + 4 * fours.len() + v] = Dot(column(k), vector).call();
                }
            }
        }
    }
}

/// out_{k, v} = x_jᵀ vector_v with j = columns_k, all vectors of a column side by side: one reading of X for all of them.
pub fn dot_columns_many<T: Element>(data: &[T], n: usize, columns: &[usize], vectors: &[&[f64]], out: &mut [f64]) {
    Arch::new().dispatch(DotColumnsMany(data, n, columns, vectors, out));
}

struct DotColumns<'a, T>(&'a [T], usize, &'a [usize], &'a [f64], &'a mut [f64]);

impl<T: Element> NullaryFnOnce for DotColumns<'_, T> {
    type Output = ();
    #[inline(always)]
    fn call(self) {
        let Self(data, n, columns, v, out) = self;
        for (&j, o) in columns.iter().zip(out) {
            *o = Dot(&data[j * n..(j + 1) * n], v).call();
        }
    }
}

/// out_k = x_jᵀ v with j = columns_k, for a matrix stored by columns of length `n`.
pub fn dot_columns<T: Element>(data: &[T], n: usize, columns: &[usize], v: &[f64], out: &mut [f64]) {
    Arch::new().dispatch(DotColumns(data, n, columns, v, out));
}

struct Axpy<'a, T>(f64, &'a [T], &'a mut [f64]);

impl<T: Element> NullaryFnOnce for Axpy<'_, T> {
    type Output = ();
    #[inline(always)]
    fn call(self) {
        for (o, x) in self.2.iter_mut().zip(self.1) {
            *o += self.0 * x.wide();
        }
    }
}

/// out += a x.
pub fn axpy<T: Element>(a: f64, x: &[T], out: &mut [f64]) {
    Arch::new().dispatch(Axpy(a, x, out));
}

struct AxpyWeighted<'a>(f64, &'a [f64], &'a [f64], &'a mut [f64]);

impl NullaryFnOnce for AxpyWeighted<'_> {
    type Output = ();
    #[inline(always)]
    fn call(self) {
        for ((o, x), h) in self.3.iter_mut().zip(self.1).zip(self.2) {
            *o += self.0 * h * x;
        }
    }
}

/// out += a (h ∘ x).
pub fn axpy_weighted(a: f64, x: &[f64], h: &[f64], out: &mut [f64]) {
    Arch::new().dispatch(AxpyWeighted(a, x, h, out));
}

struct Sum<'a>(&'a [f64]);

impl NullaryFnOnce for Sum<'_> {
    type Output = f64;
    #[inline(always)]
    fn call(self) -> f64 {
        let mut lanes = [0.0; LANES];
        let chunks = self.0.chunks_exact(LANES);
        let rest = chunks.remainder();
        for c in chunks {
            for k in 0..LANES {
                lanes[k] += c[k];
            }
        }
        for k in 0..rest.len() {
            lanes[k] += rest[k];
        }
        reduce(lanes)
    }
}

/// Σ_i v_i.
pub fn sum(v: &[f64]) -> f64 {
    Arch::new().dispatch(Sum(v))
}

struct Squares<'a, T>(&'a [T]);

impl<T: Element> NullaryFnOnce for Squares<'_, T> {
    type Output = f64;
    #[inline(always)]
    fn call(self) -> f64 {
        let mut lanes = [0.0; LANES];
        let chunks = self.0.chunks_exact(LANES);
        let rest = chunks.remainder();
        for c in chunks {
            for k in 0..LANES {
                lanes[k] += c[k].wide() * c[k].wide();
            }
        }
        for k in 0..rest.len() {
            lanes[k] += rest[k].wide() * rest[k].wide();
        }
        reduce(lanes)
    }
}

/// Σ_i x_i².
pub fn squares<T: Element>(x: &[T]) -> f64 {
    Arch::new().dispatch(Squares(x))
}

struct Spread<'a>(&'a [f64], Option<&'a [f64]>, f64, f64);

impl NullaryFnOnce for Spread<'_> {
    type Output = [f64; 3];
    #[inline(always)]
    fn call(self) -> [f64; 3] {
        let Self(x, weights, shift, mean) = self;
        let mut lanes = [[0.0; LANES]; 3];
        let mut add = |k: usize, x: f64, w: f64| {
            let (x, off) = (x + shift, x + shift - mean);
            lanes[0][k] += w * x * x;
            lanes[1][k] += w * off;
            lanes[2][k] += w * off * off;
        };
        match weights {
            None => {
                let chunks = x.chunks_exact(LANES);
                let rest = chunks.remainder();
                chunks.for_each(|c| (0..LANES).for_each(|k| add(k, c[k], 1.0)));
                rest.iter().enumerate().for_each(|(k, x)| add(k, *x, 1.0));
            }
            Some(w) => x.iter().zip(w).enumerate().for_each(|(i, (x, w))| add(i % LANES, *x, *w)),
        }
        lanes.map(reduce)
    }
}

/// Σ w (x + shift)², Σ w (x + shift − mean) and Σ w (x + shift − mean)²; weights default to one.
pub fn spread(x: &[f64], weights: Option<&[f64]>, shift: f64, mean: f64) -> [f64; 3] {
    Arch::new().dispatch(Spread(x, weights, shift, mean))
}

/// Σ_i v_i².
pub fn squared_norm(v: &[f64]) -> f64 {
    dot(v, v)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_match_the_plain_sums_at_every_length() {
        for n in 0..70 {
            let x: Vec<f64> = (0..n).map(|i| (i as f64 * 0.37).sin()).collect();
            let v: Vec<f64> = (0..n).map(|i| (i as f64 * 0.91).cos()).collect();
            let narrow: Vec<f32> = x.iter().map(|&a| a as f32).collect();
            let plain: f64 = x.iter().zip(&v).map(|(a, b)| a * b).sum();
            assert!((dot(&x, &v) - plain).abs() < 1e-13);
            let plain: f64 = narrow.iter().zip(&v).map(|(a, b)| f64::from(*a) * b).sum();
            assert!((dot(&narrow, &v) - plain).abs() < 1e-13);
            let plain: f64 = narrow.iter().map(|a| f64::from(*a) * f64::from(*a)).sum();
            assert!((squares(&narrow) - plain).abs() < 1e-13);
            assert!((sum(&v) - v.iter().sum::<f64>()).abs() < 1e-13);
            let vectors = [&v[..], &x, &v, &x, &x, &v, &x];
            let (columns, mut many) = ([0, 2, 1, 2, 0, 1, 1, 2, 0, 1, 2], [0.0; 77]);
            let table: Vec<f32> = [1.0, 3.0, -0.7].iter().flat_map(|s| narrow.iter().map(move |x| x * s)).collect();
            if n > 0 {
                dot_columns_many(&table, n, &columns, &vectors, &mut many);
            }
            for (k, m) in many.iter().enumerate() {
                let column = &table[columns[k / 7] * n..][..n];
                assert_eq!(*m, dot(column, vectors[k % 7]), "the same bits");
            }
            let mut out = v.clone();
            axpy_weighted(2.0, &x, &v, &mut out);
            for i in 0..n {
                assert!((out[i] - (v[i] + 2.0 * x[i] * v[i])).abs() < 1e-15);
            }
        }
    }
}
