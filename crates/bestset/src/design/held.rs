//! Some columns of another design, copied into memory.

use crate::design::{Check, Column, Dense, Design, LargeProducts};
use crate::error::Result;

/// Columns copied between two questions whether to go on: 8 MB at n = 1000.
const TOGETHER: usize = 1024;

/// Column k is a copy of column `features[k]` of the origin, rounded as that is.
pub(crate) struct Held<'a> {
    origin: &'a dyn Design,
    columns: Dense<'static>,
    offsets: Vec<f64>,
}

impl<'a> Held<'a> {
    /// Copies the columns of some features, at least one.
    pub fn new(origin: &'a dyn Design, features: &[usize], check: Check<'_>) -> Result<Self> {
        let n = origin.nrows();
        let (mut data, mut offsets) = (vec![0.0; n * features.len()], Vec::with_capacity(features.len()));
        for (together, out) in features.chunks(TOGETHER).zip(data.chunks_mut(TOGETHER * n)) {
            check()?;
            origin.columns(together, &mut |k, column| {
                column.to_dense(&mut out[k * n..(k + 1) * n]);
                offsets.push(origin.offset(together[k]).max(added(column)));
            })?;
        }
        Ok(Self { origin, columns: Dense::new(n, features.len(), data)?, offsets })
    }
}

/// The size of what the entries of a column are sums of, where they are: so they are rounded.
fn added(column: &Column) -> f64 {
    match column.shift {
        0.0 => 0.0,
        shift => column.values.iter().fold(shift.abs(), |most, x| most.max(x.abs())),
    }
}

impl Design for Held<'_> {
    fn nrows(&self) -> usize {
        self.columns.nrows()
    }

    fn ncols(&self) -> usize {
        self.columns.ncols()
    }

    fn is_sparse(&self) -> bool {
        false
    }

    fn stored(&self) -> usize {
        self.columns.stored()
    }

    fn correlate(&self, features: &[usize], v: &[f64], out: &mut [f64]) -> Result<()> {
        self.columns.correlate(features, v, out)
    }

    fn correlate_many(&self, features: &[usize], vectors: &[&[f64]], out: &mut [f64]) -> Result<()> {
        self.columns.correlate_many(features, vectors, out)
    }

    fn correlate_roughly(&self, features: &[usize], vectors: &[&[f64]], out: &mut [f32]) -> Result<()> {
        self.columns.correlate_roughly(features, vectors, out)
    }

    fn axpy(&self, j: usize, a: f64, out: &mut [f64]) -> Result<()> {
        self.columns.axpy(j, a, out)
    }

    fn column(&self, j: usize, out: &mut Column) -> Result<()> {
        self.columns.column(j, out)
    }

    fn squared_norm(&self, j: usize, buffer: &mut Column) -> Result<f64> {
        self.columns.squared_norm(j, buffer)
    }

    /// Pairs are multiplied where the origin is.
    fn multiplies_pairs(&self) -> bool {
        self.origin.multiplies_pairs()
    }

    fn largest_products(&self, left: &[&[f32]], right: &[&[f32]], count: usize) -> Result<Option<Vec<LargeProducts>>> {
        self.origin.largest_products(left, right, count)
    }

    fn offset(&self, j: usize) -> f64 {
        self.offsets[j]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::common::{RngExt, normal, rng};
    use crate::design::{Csc, Standardized};

    /// The columns are those of the origin, to the bit, its products within what rounding does to them, relative to the larger of both offsets.
    #[test]
    fn columns_are_those_of_the_origin() {
        let (n, p) = (30, 7);
        for seed in 0..20 {
            let mut rng = rng(seed);
            let far = if seed % 2 == 0 { 0.0 } else { 1e6 };
            let mut entry = || if rng.random_bool(0.4) { far + normal(&mut rng) } else { 0.0 };
            let x: Vec<f64> = (0..n * p).map(|_| entry()).collect();
            let stored: Vec<usize> = (0..n * p).filter(|k| x[*k] != 0.0).collect();
            let starts: Vec<usize> = (0..=p).map(|j| stored.partition_point(|k| k / n < j)).collect();
            let rows: Vec<u32> = stored.iter().map(|k| (k % n) as u32).collect();
            let values: Vec<f64> = stored.iter().map(|k| x[*k]).collect();
            let (dense, sparse) = (Dense::new(n, p, x).unwrap(), Csc::new(n, starts, rows, values).unwrap());
            let views =
                [&dense as &dyn Design, &sparse].map(|inner| Standardized::fit(inner, None, true, 1.0).unwrap());
            let features = [5, 0, 3];
            for origin in [&dense as &dyn Design, &sparse, &views[0], &views[1]] {
                let held = Held::new(origin, &features, &|| Ok(())).unwrap();
                let v: Vec<f64> = (0..n).map(|_| normal(&mut rng)).collect();
                let (mut there, mut here) = ([0.0; 3], [0.0; 3]);
                origin.correlate(&features, &v, &mut there).unwrap();
                held.correlate(&[0, 1, 2], &v, &mut here).unwrap();
                for (k, &j) in features.iter().enumerate() {
                    let (mut own, mut copy, mut whole) = (Column::default(), Column::default(), vec![0.0; n]);
                    origin.column(j, &mut own).unwrap();
                    held.column(k, &mut copy).unwrap();
                    own.to_dense(&mut whole);
                    assert_eq!(copy.values, whole, "{seed}: column {j}");
                    assert!(held.offset(k) >= origin.offset(j));
                    let size = |x: &f64| x.abs() + held.offset(k);
                    let room: f64 = whole.iter().zip(&v).map(|(x, v)| size(x) * v.abs()).sum();
                    let rounding = f64::EPSILON * (n as f64 / 2.0 + 12.0) * room;
                    assert!((there[k] - here[k]).abs() <= 2.0 * rounding, "{seed}: {} {}", there[k], here[k]);
                }
            }
        }
    }
}
