//! X ⊗ Id_K: every column once for each of K classes.

use crate::design::{Column, Design};
use crate::error::Result;

/// A view of X with a column for every feature and class, at j·K + k, which has x_j in the k-th of K blocks of rows and zeros elsewhere
/// (MATH 16.1).
pub struct PerClass<'a> {
    x: &'a dyn Design,
    classes: usize,
}

impl<'a> PerClass<'a> {
    /// Of K classes.
    pub fn new(x: &'a dyn Design, classes: usize) -> Self {
        Self { x, classes }
    }

    /// y_ki = 1 where sample i is of class k, else 0: the targets of these rows.
    pub fn targets(labels: &[usize], classes: usize) -> Vec<f64> {
        (0..classes).flat_map(|k| labels.iter().map(move |y| f64::from(u8::from(*y == k)))).collect()
    }
}

impl Design for PerClass<'_> {
    fn nrows(&self) -> usize {
        self.x.nrows() * self.classes
    }

    fn ncols(&self) -> usize {
        self.x.ncols() * self.classes
    }

    fn is_sparse(&self) -> bool {
        true
    }

    fn stored(&self) -> usize {
        self.x.stored() * self.classes
    }

    fn correlate(&self, features: &[usize], v: &[f64], out: &mut [f64]) -> Result<()> {
        let (n, classes) = (self.x.nrows(), self.classes);
        // Features in the order of their columns, each with all of its classes: one reading for all of them.
        let is_whole = features.len().is_multiple_of(classes)
            && features
                .chunks(classes)
                .all(|c| c[0].is_multiple_of(classes) && c.iter().enumerate().all(|(k, j)| *j == c[0] + k));
        let blocks: Vec<&[f64]> = v.chunks(n).collect();
        if is_whole {
            let own: Vec<usize> = features.iter().step_by(classes).map(|j| j / classes).collect();
            return self.x.correlate_many(&own, &blocks, out);
        }
        for (k, block) in blocks.iter().enumerate() {
            let places: Vec<usize> = (0..features.len()).filter(|&at| features[at] % classes == k).collect();
            let own: Vec<usize> = places.iter().map(|&at| features[at] / classes).collect();
            let mut found = vec![0.0; own.len()];
            self.x.correlate(&own, block, &mut found)?;
            places.iter().zip(found).for_each(|(&at, x)| out[at] = x);
        }
        Ok(())
    }

    fn axpy(&self, j: usize, a: f64, out: &mut [f64]) -> Result<()> {
        let (n, k) = (self.x.nrows(), j % self.classes);
        self.x.axpy(j / self.classes, a, &mut out[k * n..(k + 1) * n])
    }

    fn column(&self, j: usize, out: &mut Column) -> Result<()> {
        let (n, k) = (self.x.nrows(), j % self.classes);
        self.x.column(j / self.classes, out)?;
        // A constant in one block of rows is no constant: it is written out.
        if !out.sparse || out.shift != 0.0 {
            let mut dense = vec![0.0; n];
            out.to_dense(&mut dense);
            (out.values, out.rows, out.shift) = (dense, (0..n as u32).collect(), 0.0);
        }
        out.sparse = true;
        out.rows.iter_mut().for_each(|i| *i += (k * n) as u32);
        Ok(())
    }

    fn offset(&self, j: usize) -> f64 {
        self.x.offset(j / self.classes)
    }

    fn rounding(&self) -> f64 {
        self.x.rounding()
    }

    fn trip(&self) -> Option<usize> {
        self.x.trip()
    }

    fn expect(&self, features: &[usize]) -> Result<()> {
        let mut own: Vec<usize> = features.iter().map(|j| j / self.classes).collect();
        own.dedup();
        self.x.expect(&own)
    }
}
