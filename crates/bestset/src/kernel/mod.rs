//! The inner products everything rests on, compiled for the best instruction set found at run time.
//!
//! Sixteen partial sums in a fixed order and no fused multiply-add: the same bits on every machine and for any
//! number of threads.

pub(crate) mod compensated;
pub(crate) mod each;
pub(crate) mod integers;
pub(crate) mod rough;

use pulp::{Arch, NullaryFnOnce};

/// A number that X may be stored in; arithmetic is always `f64`.
pub trait Element: Kernels + Copy + Send + Sync + PartialEq + std::fmt::Debug + 'static {
    /// The stored value as `f64`, exactly.
    fn wide(self) -> f64;
}

/// What is done with many numbers of one kind. For every kind it is compiled here, once, and as this crate is optimised: a generic function
/// is compiled again with every crate that uses it, as that one is.
pub trait Kernels: Sized {
    /// [`dot`].
    fn dot(x: &[Self], v: &[f64]) -> f64;
    /// [`dot_columns`].
    fn dot_columns(data: &[Self], n: usize, columns: &[usize], v: &[f64], out: &mut [f64]);
    /// [`dot_columns_many`].
    fn dot_columns_many(data: &[Self], n: usize, columns: &[usize], vectors: &[&[f64]], out: &mut [f64]);
    /// `rough::dot_columns`.
    fn dot_columns_roughly(data: &[Self], n: usize, columns: &[usize], vectors: &[Vec<f32>], out: &mut [f32]);
    /// out_k = x_jᵀ v with j = columns_k, `entries` the starts of all columns, rows and values.
    fn dot_sparse(entries: (&[usize], &[u32], &[Self]), columns: &[usize], v: &[f64], out: &mut [f64]);
    /// [`axpy`].
    fn axpy(a: f64, x: &[Self], out: &mut [f64]);
    /// out += a x for a column of which `values` are in the given rows and all others are zero.
    fn axpy_sparse(a: f64, rows: &[u32], values: &[Self], out: &mut [f64]);
    /// [`squares`].
    fn squares(x: &[Self]) -> f64;
    /// The values, exactly, in place of what `out` had.
    fn widen(x: &[Self], out: &mut Vec<f64>);
}

macro_rules! elements {
    ($($number:ty),*) => {$(
        impl Element for $number {
            #[inline(always)]
            fn wide(self) -> f64 {
                f64::from(self)
            }
        }

        impl Kernels for $number {
            fn dot(x: &[Self], v: &[f64]) -> f64 {
                Arch::new().dispatch(Dot(x, v))
            }

            fn dot_columns(data: &[Self], n: usize, columns: &[usize], v: &[f64], out: &mut [f64]) {
                Arch::new().dispatch(DotColumns(data, n, columns, v, out));
            }

            fn dot_columns_many(data: &[Self], n: usize, columns: &[usize], vectors: &[&[f64]], out: &mut [f64]) {
                Arch::new().dispatch(DotColumnsMany(data, n, columns, vectors, out));
            }

            fn dot_columns_roughly(data: &[Self], n: usize, columns: &[usize], vectors: &[Vec<f32>], out: &mut [f32]) {
                Arch::new().dispatch(rough::RoughColumns(data, n, columns, vectors, out));
            }

            fn dot_sparse(
                (starts, rows, values): (&[usize], &[u32], &[Self]),
                columns: &[usize],
                v: &[f64],
                out: &mut [f64],
            ) {
                for (&j, o) in columns.iter().zip(out) {
                    let own = starts[j]..starts[j + 1];
                    *o = rows[own.clone()].iter().zip(&values[own]).map(|(&i, x)| x.wide() * v[i as usize]).sum();
                }
            }

            fn axpy(a: f64, x: &[Self], out: &mut [f64]) {
                Arch::new().dispatch(Axpy(a, x, out));
            }

            fn axpy_sparse(a: f64, rows: &[u32], values: &[Self], out: &mut [f64]) {
                for (&i, x) in rows.iter().zip(values) {
                    out[i as usize] += a * x.wide();
                }
            }

            fn squares(x: &[Self]) -> f64 {
                Arch::new().dispatch(Squares(x))
            }

            fn widen(x: &[Self], out: &mut Vec<f64>) {
                out.clear();
                out.extend(x.iter().map(|x| x.wide()));
            }
        }
    )*};
}

elements!(f64, f32, i8);

/// Partial sums of a dot product: two registers of eight numbers, as wide as processors have; sums are the same on all of them.
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
#[inline]
pub fn dot<T: Element>(x: &[T], v: &[f64]) -> f64 {
    T::dot(x, v)
}

/// Two columns with two vectors: each number that is loaded serves two products.
struct DotPairs<'a, T>([&'a [T]; 2], [&'a [f64]; 2]);

impl<T: Element> NullaryFnOnce for DotPairs<'_, T> {
    type Output = [[f64; 2]; 2];
    #[inline(always)]
    fn call(self) -> [[f64; 2]; 2] {
        let Self([x, y], [u, v]) = self;
        let n = x.len();
        let (y, u, v) = (&y[..n], &u[..n], &v[..n]);
        let mut lanes = [[0.0; LANES]; 4];
        let mut add = |x: &[T; LANES], y: &[T; LANES], u: &[f64; LANES], v: &[f64; LANES]| {
            for k in 0..LANES {
                lanes[0][k] += x[k].wide() * u[k];
                lanes[1][k] += x[k].wide() * v[k];
                lanes[2][k] += y[k].wide() * u[k];
                lanes[3][k] += y[k].wide() * v[k];
            }
        };
        let ((xs, xr), (ys, yr)) = (x.as_chunks(), y.as_chunks());
        let ((us, ur), (vs, vr)) = (u.as_chunks(), v.as_chunks());
        for (((x, y), u), v) in xs.iter().zip(ys).zip(us).zip(vs) {
            add(x, y, u, v);
        }
        if !xr.is_empty() {
            // Zeros in place of what is missing add nothing, and sums kept in an array of known length stay in registers.
            let (mut x, mut y, mut u, mut v) = ([xr[0]; LANES], [yr[0]; LANES], [0.0; LANES], [0.0; LANES]);
            x[..xr.len()].copy_from_slice(xr);
            y[..yr.len()].copy_from_slice(yr);
            u[..ur.len()].copy_from_slice(ur);
            v[..vr.len()].copy_from_slice(vr);
            add(&x, &y, &u, &v);
        }
        let [a, b, c, d] = lanes;
        [[reduce(a), reduce(b)], [reduce(c), reduce(d)]]
    }
}

/// Columns that stay in the nearest memory while all vectors pass by.
const BLOCK: usize = 4;

struct DotColumnsMany<'a, T>(&'a [T], usize, &'a [usize], &'a [&'a [f64]], &'a mut [f64]);

impl<T: Element> NullaryFnOnce for DotColumnsMany<'_, T> {
    type Output = ();
    #[inline(always)]
    fn call(self) {
        let Self(data, n, columns, vectors, out) = self;
        let count = vectors.len();
        for (block, out) in columns.chunks(BLOCK).zip(out.chunks_mut(BLOCK * count)) {
            let column = |k: usize| &data[block[k] * n..(block[k] + 1) * n];
            // The last of an odd number goes with itself.
            for v in (0..count).step_by(2) {
                let pair = [vectors[v], vectors[(v + 1).min(count - 1)]];
                for k in (0..block.len()).step_by(2) {
                    let next = (k + 1).min(block.len() - 1);
                    let found = DotPairs([column(k), column(next)], pair).call();
                    for (row, values) in [k, next].into_iter().zip(found) {
                        let own = &mut out[row * count..(row + 1) * count];
                        own[v..].iter_mut().zip(values).for_each(|(o, x)| *o = x);
                    }
                }
            }
        }
    }
}

/// out_{k, v} = x_jᵀ vector_v with j = columns_k, all vectors of a column side by side: one reading of X for all of them.
#[inline]
pub fn dot_columns_many<T: Element>(data: &[T], n: usize, columns: &[usize], vectors: &[&[f64]], out: &mut [f64]) {
    T::dot_columns_many(data, n, columns, vectors, out);
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
#[inline]
pub fn dot_columns<T: Element>(data: &[T], n: usize, columns: &[usize], v: &[f64], out: &mut [f64]) {
    T::dot_columns(data, n, columns, v, out);
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
#[inline]
pub fn axpy<T: Element>(a: f64, x: &[T], out: &mut [f64]) {
    T::axpy(a, x, out);
}

struct RankOne<'a>(f64, &'a [f64], &'a mut [f64]);

impl NullaryFnOnce for RankOne<'_> {
    type Output = ();
    #[inline(always)]
    fn call(self) {
        let Self(a, v, matrix) = self;
        for (j, column) in matrix.chunks_exact_mut(v.len().max(1)).enumerate().filter(|c| v[c.0] != 0.0) {
            let scale = a * v[j];
            for (o, x) in column[j..].iter_mut().zip(&v[j..]) {
                *o += scale * x;
            }
        }
    }
}

/// The lower triangle of M += a v vᵀ, M stored by columns.
pub fn rank_one(a: f64, v: &[f64], matrix: &mut [f64]) {
    debug_assert_eq!(matrix.len(), v.len() * v.len());
    Arch::new().dispatch(RankOne(a, v, matrix));
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
#[inline]
pub fn squares<T: Element>(x: &[T]) -> f64 {
    T::squares(x)
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
            let data: Vec<f32> = (0..7).flat_map(|j| narrow.iter().map(move |x| x * j as f32)).collect();
            for count in [1, 4, 5] {
                let (vectors, columns) = (&[&v[..], &x, &v, &x, &v][..count], [6, 3, 2, 0, 1, 5, 4]);
                let mut many = vec![0.0; count * columns.len()];
                dot_columns_many(&data, n, &columns, vectors, &mut many);
                for (m, found) in many.iter().enumerate() {
                    let j = columns[m / count];
                    assert_eq!(*found, dot(&data[j * n..(j + 1) * n], vectors[m % count]), "the same bits");
                }
            }
            let mut out = v.clone();
            axpy_weighted(2.0, &x, &v, &mut out);
            for i in 0..n {
                assert!((out[i] - (v[i] + 2.0 * x[i] * v[i])).abs() < 1e-15);
            }
        }
    }
}
