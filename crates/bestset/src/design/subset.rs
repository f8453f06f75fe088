//! Some rows or some columns of another design, without copying it.

use crate::design::{BlockBody, Column, Design, LargeProducts, LargestPairs, Moments, PairsAsked, Reaching, Vectors};
use crate::error::{Error, Result};
use std::borrow::Cow;

fn check_indices(what: &'static str, indices: &[usize], end: usize) -> Result<()> {
    match indices.iter().position(|&i| i >= end) {
        Some(position) => {
            Err(Error::Index { what, position, index: indices[position], problem: "beyond the end of the design" })
        }
        None => Ok(()),
    }
}

/// Chosen columns, in the given order.
#[derive(Clone)]
pub struct ColumnSubset<'a> {
    inner: &'a dyn Design,
    columns: Vec<usize>,
    is_ascending: bool,
}

impl<'a> ColumnSubset<'a> {
    /// Feature k of the view is feature `columns[k]` of the inner design.
    pub fn new(inner: &'a dyn Design, columns: Vec<usize>) -> Result<Self> {
        if columns.is_empty() {
            return Err(Error::Empty { rows: inner.nrows(), columns: 0 });
        }
        check_indices("the column subset", &columns, inner.ncols())?;
        let is_ascending = columns.windows(2).all(|two| two[0] < two[1]);
        Ok(Self { inner, columns, is_ascending })
    }
}

impl Design for ColumnSubset<'_> {
    fn nrows(&self) -> usize {
        self.inner.nrows()
    }

    fn ncols(&self) -> usize {
        self.columns.len()
    }

    fn is_sparse(&self) -> bool {
        self.inner.is_sparse()
    }

    fn stored(&self) -> usize {
        self.inner.stored() / self.inner.ncols().max(1) * self.columns.len()
    }

    fn correlate(&self, features: &[usize], v: &[f64], out: &mut [f64]) -> Result<()> {
        let mapped: Vec<usize> = features.iter().map(|&k| self.columns[k]).collect();
        self.inner.correlate(&mapped, v, out)
    }

    fn correlate_many(&self, features: &[usize], vectors: &[&[f64]], out: &mut [f64]) -> Result<()> {
        let mapped: Vec<usize> = features.iter().map(|&k| self.columns[k]).collect();
        self.inner.correlate_many(&mapped, vectors, out)
    }

    fn correlate_part(&self, features: &[usize], vectors: &Vectors<'_>, out: &mut [f64]) -> Result<()> {
        let mapped: Vec<usize> = features.iter().map(|&j| self.columns[j]).collect();
        self.inner.correlate_part(&mapped, vectors, out)
    }

    fn pace(&self) -> usize {
        self.inner.pace()
    }

    fn reads_ahead(&self) -> bool {
        self.inner.reads_ahead()
    }

    fn each_block(&self, features: &[usize], body: BlockBody<'_>) -> Result<bool> {
        let mapped: Vec<usize> = features.iter().map(|&k| self.columns[k]).collect();
        self.inner.each_block(&mapped, body)
    }

    fn axpy(&self, j: usize, a: f64, out: &mut [f64]) -> Result<()> {
        self.inner.axpy(self.columns[j], a, out)
    }

    fn column(&self, j: usize, out: &mut Column) -> Result<()> {
        self.inner.column(self.columns[j], out)
    }

    fn columns(&self, features: &[usize], visit: &mut dyn FnMut(usize, &mut Column)) -> Result<()> {
        let mapped: Vec<usize> = features.iter().map(|&k| self.columns[k]).collect();
        self.inner.columns(&mapped, visit)
    }

    fn all_moments(&self, weights: Option<&[f64]>) -> Result<Option<Vec<Moments>>> {
        let all = self.inner.all_moments(weights)?;
        Ok(all.map(|all| self.columns.iter().map(|&j| all[j]).collect()))
    }

    fn offset(&self, j: usize) -> f64 {
        self.inner.offset(self.columns[j])
    }

    fn expect(&self, features: &[usize]) -> Result<()> {
        self.inner.expect(&features.iter().map(|&k| self.columns[k]).collect::<Vec<_>>())
    }

    fn multiplies_pairs(&self) -> bool {
        self.inner.multiplies_pairs()
    }

    fn largest_products(&self, left: &[&[f32]], right: &[&[f32]], count: usize) -> Result<Option<Vec<LargeProducts>>> {
        self.inner.largest_products(left, right, count)
    }

    fn lists_pairs(&self) -> bool {
        self.is_ascending && self.inner.lists_pairs()
    }

    fn largest_pairs(&self, asked: &PairsAsked<'_>) -> Result<Option<LargestPairs>> {
        if !self.is_ascending {
            return Ok(None);
        }
        let mapped: Vec<usize> = asked.features.iter().map(|&k| self.columns[k]).collect();
        self.inner.largest_pairs(&PairsAsked { features: &mapped, ..*asked })
    }

    fn reaching(
        &self,
        features: &[usize],
        vectors: &[&[f64]],
        limits: &[f64],
        view: Option<(&[f64], &[f64])>,
    ) -> Result<Option<Vec<Vec<Reaching>>>> {
        // Of a view all columns have centres and scales, of which some are asked for here.
        if !self.is_ascending || view.is_some() {
            return Ok(None);
        }
        let mapped: Vec<usize> = features.iter().map(|&k| self.columns[k]).collect();
        let found = self.inner.reaching(&mapped, vectors, limits, None)?;
        // Both lists ascend.
        let place = |list: Vec<Reaching>| {
            let mut at = 0;
            let own = |r: Reaching| {
                at += mapped[at..].iter().take_while(|j| **j < r.feature as usize).count();
                features.get(at).map(|&k| Reaching { feature: k as u32, ..r })
            };
            list.into_iter().filter_map(own).collect()
        };
        Ok(found.map(|lists| lists.into_iter().map(place).collect()))
    }

    fn rounding(&self) -> f64 {
        self.inner.rounding()
    }

    fn trip(&self) -> Option<usize> {
        self.inner.trip()
    }
}

/// Chosen rows, in ascending order. One `correlate` scatters its vector once and then costs a pass of the inner design.
#[derive(Clone)]
pub struct RowSubset<'a> {
    inner: &'a dyn Design,
    rows: Cow<'a, [usize]>,
    /// Position in the subset of each inner row, `u32::MAX` when it is left out.
    position: Cow<'a, [u32]>,
}

impl<'a> RowSubset<'a> {
    /// Keeps `rows`, which must ascend strictly.
    pub fn new(inner: &'a dyn Design, rows: Vec<usize>) -> Result<Self> {
        if rows.is_empty() {
            return Err(Error::Empty { rows: 0, columns: inner.ncols() });
        }
        check_indices("the row subset", &rows, inner.nrows())?;
        if let Some(k) = (1..rows.len()).find(|&k| rows[k - 1] >= rows[k]) {
            let (index, problem) = (rows[k], "rows must ascend strictly");
            return Err(Error::Index { what: "the row subset", position: k, index, problem });
        }
        let mut position = vec![u32::MAX; inner.nrows()];
        for (k, &i) in rows.iter().enumerate() {
            position[i] = k as u32;
        }
        Ok(Self { inner, rows: rows.into(), position: position.into() })
    }
}

impl Design for RowSubset<'_> {
    fn nrows(&self) -> usize {
        self.rows.len()
    }

    fn ncols(&self) -> usize {
        self.inner.ncols()
    }

    fn is_sparse(&self) -> bool {
        self.inner.is_sparse()
    }

    fn stored(&self) -> usize {
        self.inner.stored()
    }

    fn correlate(&self, features: &[usize], v: &[f64], out: &mut [f64]) -> Result<()> {
        self.inner.correlate(features, &self.scattered(v), out)
    }

    fn correlate_many(&self, features: &[usize], vectors: &[&[f64]], out: &mut [f64]) -> Result<()> {
        let scattered: Vec<Vec<f64>> = vectors.iter().map(|v| self.scattered(v)).collect();
        self.inner.correlate_many(features, &scattered.iter().map(Vec::as_slice).collect::<Vec<_>>(), out)
    }

    fn reads_ahead(&self) -> bool {
        self.inner.reads_ahead()
    }

    fn each_block(&self, features: &[usize], body: BlockBody<'_>) -> Result<bool> {
        self.inner.each_block(features, &mut |places, local, block| {
            let (rows, position) = (Cow::Borrowed(&*self.rows), Cow::Borrowed(&*self.position));
            body(places, local, &RowSubset { inner: block, rows, position })
        })
    }

    fn axpy(&self, j: usize, a: f64, out: &mut [f64]) -> Result<()> {
        let mut column = Column::default();
        self.column(j, &mut column)?;
        let mut dense = vec![0.0; self.rows.len()];
        column.to_dense(&mut dense);
        crate::kernel::axpy(a, &dense, out);
        Ok(())
    }

    fn column(&self, j: usize, out: &mut Column) -> Result<()> {
        self.inner.column(j, out)?;
        self.keep_rows(out);
        Ok(())
    }

    fn columns(&self, features: &[usize], visit: &mut dyn FnMut(usize, &mut Column)) -> Result<()> {
        self.inner.columns(features, &mut |k, column| {
            self.keep_rows(column);
            visit(k, column);
        })
    }

    fn all_moments(&self, weights: Option<&[f64]>) -> Result<Option<Vec<Moments>>> {
        let mut scattered = vec![0.0; self.inner.nrows()];
        self.rows.iter().enumerate().for_each(|(k, &i)| scattered[i] = weights.map_or(1.0, |w| w[k]));
        self.inner.all_moments(Some(&scattered))
    }

    fn offset(&self, j: usize) -> f64 {
        self.inner.offset(j)
    }

    fn expect(&self, features: &[usize]) -> Result<()> {
        self.inner.expect(features)
    }

    fn rounding(&self) -> f64 {
        self.inner.rounding()
    }

    fn multiplies_pairs(&self) -> bool {
        self.inner.multiplies_pairs()
    }

    fn largest_products(&self, left: &[&[f32]], right: &[&[f32]], count: usize) -> Result<Option<Vec<LargeProducts>>> {
        self.inner.largest_products(left, right, count)
    }

    fn trip(&self) -> Option<usize> {
        self.inner.trip()
    }
}

impl RowSubset<'_> {
    /// A vector of the chosen rows among all, zero in the others.
    fn scattered(&self, v: &[f64]) -> Vec<f64> {
        let mut scattered = vec![0.0; self.inner.nrows()];
        self.rows.iter().zip(v).for_each(|(&i, &x)| scattered[i] = x);
        scattered
    }

    /// Leaves the chosen rows of a column alone.
    fn keep_rows(&self, out: &mut Column) {
        if out.sparse {
            let mut kept = 0;
            for k in 0..out.rows.len() {
                let row = self.position[out.rows[k] as usize];
                if row != u32::MAX {
                    (out.rows[kept], out.values[kept]) = (row, out.values[k]);
                    kept += 1;
                }
            }
            out.rows.truncate(kept);
            out.values.truncate(kept);
        } else {
            for (k, &i) in self.rows.iter().enumerate() {
                out.values[k] = out.values[i];
            }
            out.values.truncate(self.rows.len());
        }
    }
}
