//! Two designs side by side.

use crate::design::{BlockBody, Column, Design, Moments, Vectors, moments};
use crate::error::{Error, Result, check_length};

/// The columns of one design, then those of another with the same samples: genotypes and covariates.
///
/// ```
/// use bestset::design::{Beside, Dense, Design, Genotypes};
///
/// let variants = Genotypes::new(3, 1, vec![0b00_11_10_00])?;
/// let ages = Dense::new(3, 1, vec![31.0, 47.0, 62.0])?;
/// let both = Beside::new(Box::new(variants), Box::new(ages))?;
/// let mut tau = [0.0; 2];
/// both.correlate(&[1, 0], &[1.0, 0.0, 0.0], &mut tau)?;
/// assert_eq!(tau, [31.0, 2.0]);
/// # Ok::<(), bestset::Error>(())
/// ```
pub struct Beside<'a> {
    first: Box<dyn Design + 'a>,
    second: Box<dyn Design + 'a>,
}

impl<'a> Beside<'a> {
    /// Both must have the same samples, and both be sparse or neither.
    pub fn new(first: Box<dyn Design + 'a>, second: Box<dyn Design + 'a>) -> Result<Self> {
        check_length("rows of the second design", second.nrows(), first.nrows())?;
        match first.is_sparse() == second.is_sparse() {
            true => Ok(Self { first, second }),
            false => {
                Err(Error::Unsupported { method: "Beside", reason: "takes two sparse designs or two that are not" })
            }
        }
    }

    /// The design that has feature j, and its number there.
    fn at(&self, j: usize) -> (&dyn Design, usize) {
        match j.checked_sub(self.first.ncols()) {
            None => (self.first.as_ref(), j),
            Some(k) => (self.second.as_ref(), k),
        }
    }
}

impl Design for Beside<'_> {
    fn nrows(&self) -> usize {
        self.first.nrows()
    }

    fn ncols(&self) -> usize {
        self.first.ncols() + self.second.ncols()
    }

    fn is_sparse(&self) -> bool {
        self.first.is_sparse()
    }

    fn stored(&self) -> usize {
        self.first.stored() + self.second.stored()
    }

    fn correlate(&self, features: &[usize], v: &[f64], out: &mut [f64]) -> Result<()> {
        self.correlate_many(features, &[v], out)
    }

    fn correlate_many(&self, features: &[usize], vectors: &[&[f64]], out: &mut [f64]) -> Result<()> {
        self.correlate_part(features, &Vectors::new(vectors), out)
    }

    fn correlate_part(&self, features: &[usize], vectors: &Vectors<'_>, out: &mut [f64]) -> Result<()> {
        let (split, count) = (self.first.ncols(), vectors.each().len());
        if features.iter().all(|j| *j < split) || count == 0 {
            return self.first.correlate_part(features, vectors, out);
        }
        for (design, from) in [(&self.first, 0), (&self.second, split)] {
            let own = |j: usize| (j >= split) == (from > 0);
            let mine: Vec<usize> = features.iter().filter(|j| own(**j)).map(|j| j - from).collect();
            let mut found = vec![0.0; mine.len() * count];
            design.correlate_part(&mine, vectors, &mut found)?;
            let places = features.iter().zip(out.chunks_exact_mut(count)).filter(|(j, _)| own(**j));
            places.zip(found.chunks_exact(count)).for_each(|((_, out), found)| out.copy_from_slice(found));
        }
        Ok(())
    }

    fn axpy(&self, j: usize, a: f64, out: &mut [f64]) -> Result<()> {
        let (design, j) = self.at(j);
        design.axpy(j, a, out)
    }

    fn column(&self, j: usize, out: &mut Column) -> Result<()> {
        let (design, j) = self.at(j);
        design.column(j, out)
    }

    fn squared_norm(&self, j: usize, buffer: &mut Column) -> Result<f64> {
        let (design, j) = self.at(j);
        design.squared_norm(j, buffer)
    }

    fn all_moments(&self, weights: Option<&[f64]>) -> Result<Option<Vec<Moments>>> {
        let (first, second) = (self.first.all_moments(weights)?, self.second.all_moments(weights)?);
        if first.is_none() && second.is_none() {
            return Ok(None);
        }
        let known = |of: Option<Vec<Moments>>, design: &dyn Design| of.map_or_else(|| moments(design, weights), Ok);
        let mut all = known(first, self.first.as_ref())?;
        all.extend(known(second, self.second.as_ref())?);
        Ok(Some(all))
    }

    fn reads_ahead(&self) -> bool {
        self.first.reads_ahead() || self.second.reads_ahead()
    }

    /// Features of one design that follow each other come together; one that is in memory is a block itself.
    fn each_block(&self, features: &[usize], body: BlockBody<'_>) -> Result<bool> {
        if !self.reads_ahead() {
            return Ok(false);
        }
        let (split, mut from) = (self.first.ncols(), 0);
        for run in features.chunk_by(|a, b| (*a < split) == (*b < split)) {
            let (design, before) = if run[0] < split { (&self.first, 0) } else { (&self.second, split) };
            let own: Vec<usize> = run.iter().map(|j| j - before).collect();
            let is_done = design.each_block(&own, &mut |places, local, block| {
                body(from + places.start..from + places.end, local, block)
            })?;
            if !is_done {
                body(from..from + own.len(), &own, design.as_ref())?;
            }
            from += run.len();
        }
        Ok(true)
    }

    fn columns(&self, features: &[usize], visit: &mut dyn FnMut(usize, &mut Column)) -> Result<()> {
        let (split, mut from) = (self.first.ncols(), 0);
        for run in features.chunk_by(|a, b| (*a < split) == (*b < split)) {
            let (design, before) = if run[0] < split { (&self.first, 0) } else { (&self.second, split) };
            let own: Vec<usize> = run.iter().map(|j| j - before).collect();
            design.columns(&own, &mut |k, column| visit(from + k, column))?;
            from += run.len();
        }
        Ok(())
    }

    fn offset(&self, j: usize) -> f64 {
        let (design, j) = self.at(j);
        design.offset(j)
    }

    fn pace(&self) -> usize {
        self.first.pace()
    }

    fn rounding(&self) -> f64 {
        self.first.rounding().max(self.second.rounding())
    }

    fn trip(&self) -> Option<usize> {
        self.first.trip().or(self.second.trip())
    }
}
