//! The matrix Q of inner products, grown as columns join.

use crate::kernel;
use crate::relaxation::active_set::{ActiveSet, TALL};
use crate::relaxation::quadratic::Metric;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::{LltRegularization, cholesky_in_place, cholesky_in_place_scratch};
use faer::linalg::cholesky::llt::solve::{solve_in_place, solve_in_place_scratch};
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatMut, MatRef, Par, Spec};
use rayon::prelude::*;

/// Side of the squares in which the matrix is mirrored: one fits into the cache whole.
const TILE: usize = 32;

/// Columns of Q that are made together.
const SIDE: usize = 64;

/// Rows of Q that are made together. A few hundred columns that join ten thousand are tasks for all threads.
const HEIGHT: usize = 1024;

/// Multiplications that take as long as copying a number to another place. Not tuned.
const COPIES: usize = 4;

/// The symmetric matrix Q over the positions of an active set, grown as columns are added.
#[derive(Debug, Clone, Default)]
pub struct Gram {
    len: usize,
    stride: usize,
    data: Vec<f64>,
    /// Its lengths so far.
    grown: Vec<usize>,
}

impl Gram {
    /// Q_kl = entry(k, l).
    pub fn new(len: usize, entry: impl Fn(usize, usize) -> f64) -> Self {
        let data = (0..len * len).map(|at| entry(at % len, at / len)).collect();
        Self { len, stride: len, data, grown: Vec::new() }
    }

    /// Number of positions covered.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether no position is covered.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The lengths it grew to, one by one: extended by the same steps, another one has the same bits.
    pub fn grown(&self) -> &[usize] {
        &self.grown
    }

    /// Column k.
    #[inline]
    pub fn column(&self, k: usize) -> &[f64] {
        &self.data[k * self.stride..k * self.stride + self.len]
    }

    /// Q_kl.
    #[inline]
    pub fn at(&self, k: usize, l: usize) -> f64 {
        self.data[l * self.stride + k]
    }

    /// Covers the columns added to `active`: Q_kl = Σ_i h_i x̃_ik x̃_il.
    pub fn extend(&mut self, active: &ActiveSet, h: Option<&[f64]>, metric: &Metric) {
        let (old, new) = (self.len, active.len());
        if new == old {
            return;
        }
        self.reserve(new);
        self.grown.push(new);
        if active.is_sparse() {
            self.extend_sparse(active, h, metric, old);
        } else {
            self.extend_dense(active, h, metric, old);
        }
        self.len = new;
        self.mirror(0, old);
    }

    /// Q_lk ← Q_kl for first ≤ k < l and old ≤ l.
    pub fn mirror(&mut self, first: usize, old: usize) {
        let (len, stride) = (self.len, self.stride);
        // Columns before `old` get rows of those from there on: many by all threads.
        let (before, from_old) = self.data.split_at_mut(old * stride);
        let one = |(tile, columns): (usize, &mut [f64])| {
            let rows = (first + tile * TILE)..(first + (tile + 1) * TILE).min(old);
            for from in (old..len).step_by(TILE) {
                for l in from..(from + TILE).min(len) {
                    let source = &from_old[(l - old) * stride + rows.start..(l - old) * stride + rows.end];
                    source.iter().zip(columns.chunks_mut(stride)).for_each(|(q, column)| column[l] = *q);
                }
            }
        };
        let before = &mut before[first.min(old) * stride..];
        match is_long(COPIES * before.len() / stride.max(1) * (len - old)) {
            true => before.par_chunks_mut(TILE * stride).enumerate().for_each(one),
            false => before.chunks_mut((TILE * stride).max(1)).enumerate().for_each(one),
        }
        for from in (old..len).step_by(TILE) {
            let to = (from + TILE).min(len);
            for rows in (first.max(old)..to).step_by(TILE) {
                for l in from..to {
                    for k in rows..(rows + TILE).min(l) {
                        self.data[k * stride + l] = self.data[l * stride + k];
                    }
                }
            }
        }
    }

    /// Q as a matrix.
    pub fn as_mut(&mut self) -> MatMut<'_, f64> {
        MatMut::from_column_major_slice_with_stride_mut(&mut self.data, self.len, self.len, self.stride)
    }

    fn reserve(&mut self, len: usize) {
        if len <= self.stride {
            return;
        }
        // With room to grow: what is not used of it is not touched.
        let stride = (len + len / 2).next_multiple_of(8);
        let mut data = vec![0.0; stride * stride];
        let one = |(k, column): (usize, &mut [f64])| column[..self.len].copy_from_slice(self.column(k));
        // Fresh memory takes longer than the copy, unless all threads ask for it.
        match is_long(COPIES * self.len * self.len) {
            true => data.par_chunks_mut(stride).take(self.len).enumerate().for_each(one),
            false => data.chunks_mut(stride).take(self.len).enumerate().for_each(one),
        }
        (self.stride, self.data) = (stride, data);
    }

    fn extend_dense(&mut self, active: &ActiveSet, h: Option<&[f64]>, metric: &Metric, old: usize) {
        let (n, new, stride) = (active.nrows(), active.len(), self.stride);
        let plain = metric.shifts.iter().all(|s| *s == 0.0) || n >= TALL && is_centred(active, metric);
        // Centring before the product keeps the digits that a correction afterwards would cancel.
        let prepared: Vec<f64>;
        let columns = if h.is_none() && plain {
            active.all_values()
        } else {
            prepared = prepared_columns(active, h, metric);
            &prepared
        };
        let x = MatRef::from_column_major_slice(columns, n, new);
        // Upper triangle only, by blocks of columns: the same products for any number of threads.
        let one = |(b, block): (usize, &mut [f64])| {
            let from = old + b * SIDE;
            let to = (from + SIDE).min(new);
            let target = MatMut::from_column_major_slice_with_stride_mut(block, to, to - from, stride);
            let right = x.subcols(from, to - from);
            let multiply = |(r, rows): (usize, MatMut<'_, f64>)| {
                let left = x.subcols(r * HEIGHT, rows.nrows());
                matmul(rows, Accum::Replace, left.transpose(), right, 1.0, Par::Seq);
            };
            let (mut parts, mut rest) = (Vec::new(), target);
            while rest.nrows() > HEIGHT {
                let (part, below) = rest.split_at_row_mut(HEIGHT);
                parts.push(part);
                rest = below;
            }
            parts.push(rest);
            match is_long(n * to * (to - from)) {
                true => parts.into_par_iter().enumerate().for_each(multiply),
                false => parts.into_iter().enumerate().for_each(multiply),
            }
        };
        let data = &mut self.data[old * stride..new * stride];
        match is_long(n * new * (new - old)) {
            true => data.par_chunks_mut(SIDE * stride).enumerate().for_each(one),
            false => data.chunks_mut(SIDE * stride).enumerate().for_each(one),
        }
    }

    /// Row by row, so that only entries that meet in a row are multiplied: columns by columns would read every stored entry
    /// once for each new column.
    fn extend_sparse(&mut self, active: &ActiveSet, h: Option<&[f64]>, metric: &Metric, old: usize) {
        let by_rows = Rows::new(active);
        for l in old..active.len() {
            let (rows, values) = active.entries(l);
            let sums = &mut self.data[l * self.stride..l * self.stride + l + 1];
            sums.fill(0.0);
            for (&i, &x) in rows.iter().zip(values) {
                by_rows.add(i as usize, l, x * h.map_or(1.0, |h| h[i as usize]), sums);
            }
            let sl = metric.shifts[l];
            for (k, sum) in sums.iter_mut().enumerate() {
                let sk = metric.shifts[k];
                *sum += sk * metric.sums[l] + sl * metric.sums[k] + sk * sl * metric.total;
            }
        }
    }

    /// Keeps the positions for which `keep` is true, in order.
    pub fn retain(&mut self, keep: &[bool]) {
        let kept: Vec<usize> = (0..self.len).filter(|&k| keep[k]).collect();
        // What stays where it is need not be copied.
        let first = kept.iter().enumerate().position(|(l, &from)| l != from).unwrap_or(kept.len());
        if first == kept.len() {
            self.len = first;
            return;
        }
        for (l, &from) in kept.iter().enumerate() {
            for (k, &row) in kept.iter().enumerate() {
                self.data[l * self.stride + k] = self.data[from * self.stride + row];
            }
        }
        self.len = kept.len();
    }

    /// Q ← Q − FᵀF, the columns of F one after the other.
    pub fn subtract(&mut self, columns: &[f64], rows: usize) {
        let f = MatRef::from_column_major_slice(columns, rows, self.len);
        matmul(self.as_mut(), Accum::Add, f.transpose(), f, -1.0, Par::Seq);
    }

    /// Q_kk ← q.
    pub fn set_diagonal(&mut self, k: usize, q: f64) {
        self.data[k * self.stride + k] = q;
    }

    /// Q_kk += d.
    pub fn add_to_diagonal(&mut self, k: usize, d: f64) {
        self.data[k * self.stride + k] += d;
    }

    /// Q over the positions in `members`, in their order.
    pub fn select(&self, members: &[usize]) -> Self {
        // Column by column into memory of the right size: a chained iterator does not know its length.
        let mut data = Vec::with_capacity(members.len() * members.len());
        for &l in members {
            let column = self.column(l);
            data.extend(members.iter().map(|&k| column[k]));
        }
        Self { len: members.len(), stride: members.len(), data, grown: Vec::new() }
    }

    /// Q over the positions in `members`, in their order, as [`Gram::select`]; those that `part` has at the places given are copied from there,
    /// which is small and at hand.
    pub fn select_beside(&self, members: &[usize], part: &Gram, places: &[Option<usize>]) -> Self {
        let mut new = Self {
            len: members.len(),
            stride: members.len(),
            data: vec![0.0; members.len().pow(2)],
            grown: Vec::new(),
        };
        let known: Vec<(usize, usize)> = places.iter().enumerate().filter_map(|(k, at)| Some((k, (*at)?))).collect();
        for (l, &member) in members.iter().enumerate() {
            let target = &mut new.data[l * new.stride..(l + 1) * new.stride];
            if let Some(at) = places[l] {
                let column = part.column(at);
                known.iter().for_each(|&(k, at)| target[k] = column[at]);
            } else {
                let column = self.column(member);
                target.iter_mut().zip(members).for_each(|(q, &k)| *q = column[k]);
            }
        }
        for l in (0..members.len()).filter(|&l| places[l].is_none()) {
            known.iter().for_each(|&(k, _)| new.data[k * new.stride + l] = new.data[l * new.stride + k]);
        }
        new
    }

    /// The lower triangle L of Q_MM + diag = LLᵀ, `None` when it is not positive definite. Factored in place: a second copy
    /// of a large matrix costs as much as the rest.
    pub fn cholesky(&self, members: &[usize], diagonal: impl Fn(usize) -> f64) -> Option<Mat<f64>> {
        let mut lower = self.lower(members, diagonal);
        let mut memory = MemBuffer::new(cholesky_in_place_scratch::<f64>(members.len(), Par::Seq, Spec::default()));
        let stack = MemStack::new(&mut memory);
        cholesky_in_place(lower.as_mut(), LltRegularization::default(), Par::Seq, stack, Spec::default()).ok()?;
        Some(lower)
    }

    /// rhs ← (Q_MM + diag)⁻¹ rhs, `None` when the matrix is not positive definite.
    pub fn solve(&self, members: &[usize], diagonal: impl Fn(usize) -> f64, rhs: MatMut<'_, f64>) -> Option<()> {
        let lower = self.cholesky(members, diagonal)?;
        let mut memory = MemBuffer::new(solve_in_place_scratch::<f64>(rhs.nrows(), rhs.ncols(), Par::Seq));
        solve_in_place(lower.as_ref(), rhs, Par::Seq, MemStack::new(&mut memory));
        Some(())
    }

    /// The lower triangle of Q_MM + diag.
    fn lower(&self, members: &[usize], diagonal: impl Fn(usize) -> f64) -> Mat<f64> {
        let mut lower = Mat::zeros(members.len(), members.len());
        for (b, &from) in members.iter().enumerate() {
            let (column, out) = (self.column(from), lower.col_as_slice_mut(b));
            out[b..].iter_mut().zip(&members[b..]).for_each(|(o, &a)| *o = column[a]);
            out[b] += diagonal(b);
        }
        lower
    }
}

/// The stored entries of sparse active columns, by rows.
struct Rows {
    starts: Vec<usize>,
    /// Positions, ascending within a row, and entries.
    entries: Vec<(u32, f64)>,
}

impl Rows {
    fn new(active: &ActiveSet) -> Self {
        let mut starts = vec![0; active.nrows() + 1];
        for k in 0..active.len() {
            active.entries(k).0.iter().for_each(|&i| starts[i as usize + 1] += 1);
        }
        for i in 0..active.nrows() {
            starts[i + 1] += starts[i];
        }
        let (mut next, mut entries) = (starts.clone(), vec![(0, 0.0); active.stored()]);
        for k in 0..active.len() {
            let (rows, values) = active.entries(k);
            for (&i, &x) in rows.iter().zip(values) {
                entries[next[i as usize]] = (k as u32, x);
                next[i as usize] += 1;
            }
        }
        Self { starts, entries }
    }

    /// sums_k += a x_ik for the positions k ≤ `last` of row i.
    fn add(&self, i: usize, last: usize, a: f64, sums: &mut [f64]) {
        for &(k, x) in &self.entries[self.starts[i]..self.starts[i + 1]] {
            if k as usize > last {
                break;
            }
            sums[k as usize] += a * x;
        }
    }
}

/// n s_k² ≤ 10⁻¹⁸ ‖x_k‖² for all columns: what the shifts s change of a product is below its rounding.
fn is_centred(active: &ActiveSet, metric: &Metric) -> bool {
    let n = active.nrows() as f64;
    let is_small = |k: usize| n * metric.shifts[k].powi(2) <= 1e-18 * kernel::squares(active.entries(k).1);
    (0..active.len()).into_par_iter().all(is_small)
}

/// √h ∘ (x + shift) of all columns.
fn prepared_columns(active: &ActiveSet, h: Option<&[f64]>, metric: &Metric) -> Vec<f64> {
    let (n, roots) = (active.nrows(), h.map(|h| h.iter().map(|h| h.sqrt()).collect::<Vec<f64>>()));
    let mut prepared = vec![0.0; n * active.len()];
    let one = |(k, out): (usize, &mut [f64])| {
        let (values, shift) = (active.entries(k).1, metric.shifts[k]);
        match &roots {
            None => out.iter_mut().zip(values).for_each(|(o, x)| *o = x + shift),
            Some(roots) => out.iter_mut().zip(values).zip(roots).for_each(|((o, x), r)| *o = (x + shift) * r),
        }
    };
    match is_long(prepared.len()) {
        true => prepared.par_chunks_mut(n).enumerate().for_each(one),
        false => prepared.chunks_mut(n).enumerate().for_each(one),
    }
    prepared
}

/// Whether so many multiplications are worth handing to other threads.
fn is_long(multiplications: usize) -> bool {
    multiplications > 1 << 22 && rayon::current_num_threads() > 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::design::Dense;

    /// Integers, so that products have no rounding, in whatever blocks they are made.
    fn entry(i: usize, j: usize) -> f64 {
        ((7 * i + 3 * j + i * j) % 11) as f64 - 5.0
    }

    #[test]
    fn products_of_columns_that_join_in_steps_are_those_of_all() {
        let (n, p) = (3, HEIGHT + 2 * TILE + 7);
        let values: Vec<f64> = (0..p).flat_map(|j| (0..n).map(move |i| entry(i, j))).collect();
        let design = Dense::new(n, p, values).unwrap();
        let (mut active, mut gram) = (ActiveSet::new(&design), Gram::default());
        let mut before = 0;
        for to in [5, TILE + 1, HEIGHT - 1, p] {
            active.extend(&design, &(before..to).collect::<Vec<_>>()).unwrap();
            gram.extend(&active, None, &Metric::new(&active, None, false));
            before = to;
        }
        for k in 0..p {
            for l in 0..p {
                let product: f64 = (0..n).map(|i| entry(i, k) * entry(i, l)).sum();
                assert_eq!(gram.at(k, l), product, "columns {k} and {l}");
            }
        }
    }

    #[test]
    fn what_a_part_has_need_not_be_selected() {
        let whole = Gram::new(40, |k, l| (k + l) as f64 + 0.01 * (k * l) as f64);
        let part = whole.select(&[31, 4, 8, 2]);
        let members = [2, 3, 8, 30, 31, 39];
        let places = [Some(3), None, Some(2), None, Some(0), None];
        let (beside, anew) = (whole.select_beside(&members, &part, &places), whole.select(&members));
        (0..6).for_each(|k| assert_eq!(beside.column(k), anew.column(k), "column {k}"));
        // A part that is another's shows where it is taken from.
        let other = Gram::new(4, |_, _| -1.0);
        let mixed = whole.select_beside(&members, &other, &places);
        let is_known = |k: usize| places[k].is_some();
        for (k, l) in (0..36).map(|at| (at / 6, at % 6)) {
            assert_eq!(mixed.at(k, l), if is_known(k) && is_known(l) { -1.0 } else { anew.at(k, l) });
        }
    }
}
