//! Inner products in single precision, of many columns with several vectors: half the work, for what its rounding does not change.

use crate::kernel::Element;
use pulp::{Simd, WithSimd};

/// Columns are narrowed and filled up with zeros to a multiple of this: as many as any instruction takes.
const LANES: usize = 16;

/// Columns that are narrowed together and stay in the nearest memory while all vectors pass by.
const BLOCK: usize = 4;

/// Rows whose products are added up in single precision, the sums in double: rounding does not grow with n beyond this.
const ROWS: usize = 1024;

/// γ_n = n̂2⁻²⁴/(1 − n̂2⁻²⁴) + nε, n̂ = min(n, 1024) + 8, with |found − xᵀv| ≤ γ_n Σ|x_i v_i| (MATH 11.25): each product is of
/// two rounded numbers and is rounded itself, has as many additions ahead of it as there are rows of a block, in whatever order,
/// and the result is rounded; nε is for what is done in double precision.
pub fn rounding(n: usize) -> f64 {
    let ku = (n.min(ROWS) + 8) as f64 * f64::from(f32::EPSILON) / 2.0;
    ku / (1.0 - ku) + f64::EPSILON * n as f64
}

/// The entries in single precision; zeros beyond them stay.
#[inline(always)]
fn narrow<T: Element>(x: &[T], out: &mut [f32]) {
    out.iter_mut().zip(x).for_each(|(o, x)| *o = x.wide() as f32);
}

/// Two columns with four vectors: each number that is loaded serves several products.
#[inline(always)]
fn tile<S: Simd>(simd: S, columns: [&[f32]; 2], vectors: [&[f32]; 4]) -> [[f64; 4]; 2] {
    let mut sums = [[0.0; 4]; 2];
    for from in (0..columns[0].len()).step_by(ROWS) {
        let rows = from..(from + ROWS).min(columns[0].len());
        let [x, y] = columns.map(|c| S::as_simd_f32s(&c[rows.clone()]).0);
        let [s, t, u, v] = vectors.map(|v| S::as_simd_f32s(&v[rows.clone()]).0);
        let mut lanes = [[simd.splat_f32s(0.0); 4]; 2];
        for (((((&x, &y), &s), &t), &u), &v) in x.iter().zip(y).zip(s).zip(t).zip(u).zip(v) {
            for (k, vector) in [s, t, u, v].into_iter().enumerate() {
                lanes[0][k] = simd.mul_add_e_f32s(x, vector, lanes[0][k]);
                lanes[1][k] = simd.mul_add_e_f32s(y, vector, lanes[1][k]);
            }
        }
        for (sums, lanes) in sums.iter_mut().zip(lanes) {
            sums.iter_mut().zip(lanes).for_each(|(sum, lanes)| *sum += f64::from(simd.reduce_sum_f32s(lanes)));
        }
    }
    sums
}

pub(super) struct RoughColumns<'a, T>(
    pub(super) &'a [T],
    pub(super) usize,
    pub(super) &'a [usize],
    pub(super) &'a [Vec<f32>],
    pub(super) &'a mut [f32],
);

impl<T: Element> WithSimd for RoughColumns<'_, T> {
    type Output = ();
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self(data, n, columns, vectors, out) = self;
        let (count, stride) = (vectors.len(), n.next_multiple_of(LANES));
        let mut near = vec![0.0; BLOCK * stride];
        for (block, out) in columns.chunks(BLOCK).zip(out.chunks_mut(BLOCK * count)) {
            for (&j, own) in block.iter().zip(near.chunks_exact_mut(stride)) {
                narrow(&data[j * n..(j + 1) * n], own);
            }
            let column = |k: usize| &near[k * stride..(k + 1) * stride];
            // The last ones go with themselves where their number does not divide.
            for v in (0..count).step_by(4) {
                let four = [0, 1, 2, 3].map(|k| &vectors[(v + k).min(count - 1)][..]);
                for k in (0..block.len()).step_by(2) {
                    let next = (k + 1).min(block.len() - 1);
                    for (row, values) in [k, next].into_iter().zip(tile(simd, [column(k), column(next)], four)) {
                        let own = &mut out[row * count..(row + 1) * count];
                        own[v..].iter_mut().zip(values).for_each(|(o, x)| *o = x as f32);
                    }
                }
            }
        }
    }
}

/// out_{k, v} = x_jᵀ vector_v in single precision with j = columns_k, all vectors of a column side by side.
#[inline]
pub fn dot_columns<T: Element>(data: &[T], n: usize, columns: &[usize], vectors: &[Vec<f32>], out: &mut [f32]) {
    T::dot_columns_roughly(data, n, columns, vectors, out);
}

/// The vectors as [`dot_columns`] takes them.
pub fn narrowed(vectors: &[&[f64]]) -> Vec<Vec<f32>> {
    let one = |v: &&[f64]| {
        let mut out = vec![0.0; v.len().next_multiple_of(LANES)];
        narrow(v, &mut out);
        out
    };
    vectors.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rounding_is_within_its_bound_and_not_far_below() {
        let mut largest = 0.0f64;
        for n in [1, 5, 16, 37, 64, 1000, 5000] {
            let p = 7;
            let data: Vec<f64> = (0..n * p).map(|i| 1.0 + (i as f64 * 0.37).sin()).collect();
            let vectors: Vec<Vec<f64>> = (1..=5).map(|s| (0..n).map(|i| ((i * s) as f64).cos()).collect()).collect();
            let views: Vec<&[f64]> = vectors.iter().map(|v| &v[..]).collect();
            let columns = [6, 3, 2, 0, 1, 5, 4];
            for count in [1, 2, 5] {
                let mut found = vec![0.0; p * count];
                dot_columns(&data, n, &columns, &narrowed(&views[..count]), &mut found);
                for (m, found) in found.iter().enumerate() {
                    let (x, v) = (&data[columns[m / count] * n..], &vectors[m % count]);
                    let exact: f64 = x.iter().zip(v).map(|(x, v)| x * v).sum();
                    let size: f64 = x.iter().zip(v).map(|(x, v)| (x * v).abs()).sum();
                    let share = (f64::from(*found) - exact).abs() / (rounding(n) * size);
                    assert!(share <= 1.0, "{n}: {share}");
                    largest = largest.max(share);
                }
            }
        }
        assert!(largest > 0.02, "{largest}");
    }
}
