//! The matrix X, seen through a few column operations.
//!
//! [`Design::correlate`] is the only operation that touches the whole matrix; everything else works on the
//! columns copied into the active set. Views (standardised, row and column subsets) wrap any other
//! design and translate these operations.

mod beside;
mod csc;
mod dense;
mod genotypes;
mod held;
mod pairs;
mod passes;
mod per_class;
mod reaching;
mod standardized;
mod stored;
mod subset;
mod unread;
mod vectors;

pub use crate::kernel::Element;
pub use beside::Beside;
pub use csc::Csc;
pub use dense::Dense;
pub use genotypes::{Counts, Genotypes, People, WholeSums};
pub(crate) use held::Held;
pub use pairs::{LargestPairs, PairsAsked};
pub(crate) use passes::each_column;
pub use passes::{
    Check, correlate, correlate_and_square, correlate_many, correlate_roughly, moments, moments_while, squares,
};
use passes::{farthest, in_blocks, long_part};
pub use per_class::PerClass;
pub use reaching::{Reaching, reaching};
pub use standardized::Standardized;
pub(crate) use standardized::is_constant;
pub use stored::{GenotypeFile, Reading, Stored, column_names, names_file, names_said, numpy_remedy, numpy_type};
pub use stored::{names_are_older, remove_column_names, write_column_names};
pub use subset::{ColumnSubset, RowSubset};
pub(crate) use unread::Unread;
pub use vectors::Vectors;

use crate::error::Result;
use crate::kernel;
use std::ops::Range;

/// A matrix of `nrows` samples and `ncols` features with finite entries.
pub trait Design: Send + Sync {
    /// Number of samples n.
    fn nrows(&self) -> usize;

    /// Number of features p.
    fn ncols(&self) -> usize;

    /// Whether [`Design::column`] returns sparse columns.
    fn is_sparse(&self) -> bool;

    /// Entries stored for all columns together: the cost of one full pass.
    fn stored(&self) -> usize;

    /// out_k = x_jᵀ v with j = features_k.
    fn correlate(&self, features: &[usize], v: &[f64], out: &mut [f64]) -> Result<()>;

    /// out_{k, v} = x_jᵀ vector_v with j = features_k, the vectors of a feature side by side, each with the bits that
    /// [`Design::correlate`] gives it.
    fn correlate_many(&self, features: &[usize], vectors: &[&[f64]], out: &mut [f64]) -> Result<()> {
        let mut one = vec![0.0; features.len()];
        for (v, vector) in vectors.iter().enumerate() {
            self.correlate(features, vector, &mut one)?;
            one.iter().enumerate().for_each(|(k, x)| out[k * vectors.len() + v] = *x);
        }
        Ok(())
    }

    /// As [`Design::correlate_many`], for one of many parts of a pass: what the design makes of the vectors serves the others as well.
    fn correlate_part(&self, features: &[usize], vectors: &Vectors<'_>, out: &mut [f64]) -> Result<()> {
        match vectors.each() {
            [v] => self.correlate(features, v, out),
            many => self.correlate_many(features, many, out),
        }
    }

    /// As [`Design::correlate_many`], but each may be off by (1032 · 2⁻²⁴ + n ε) Σ_i |x_ij v_i| and by what is lost of numbers below
    /// the least of single precision; one that is too large for it is infinite or no number.
    fn correlate_roughly(&self, features: &[usize], vectors: &[&[f64]], out: &mut [f32]) -> Result<()> {
        let mut exact = vec![0.0; out.len()];
        self.correlate_many(features, vectors, &mut exact)?;
        out.iter_mut().zip(&exact).for_each(|(o, x)| *o = *x as f32);
        Ok(())
    }

    /// For each vector the features, listed in ascending order, whose |x_jᵀv| is not below its limit, ascending, each with the number that
    /// [`Design::correlate_roughly`] may give it, where the place of the columns picks them out; of the columns (x_j − centre_j)/scale_j with a
    /// `view` (centre, scale).
    fn reaching(
        &self,
        features: &[usize],
        vectors: &[&[f64]],
        limits: &[f64],
        view: Option<(&[f64], &[f64])>,
    ) -> Result<Option<Vec<Vec<Reaching>>>> {
        let _ = (features, vectors, limits, view);
        Ok(None)
    }

    /// Whether [`Design::largest_products`] has an answer: then pairs of columns are multiplied much faster than by the processor.
    fn multiplies_pairs(&self) -> bool {
        false
    }

    /// For each column of `left`, of at most `count` ones, the places of the columns of `right` with the largest products in size, the one of its own place
    /// aside, and these products; all are of one length. Products are sums of at most 1024 products of single precision, and sums of these: no
    /// factor is rounded to fewer digits.
    fn largest_products(&self, left: &[&[f32]], right: &[&[f32]], count: usize) -> Result<Option<Vec<LargeProducts>>> {
        let _ = (left, right, count);
        Ok(None)
    }

    /// Whether [`Design::largest_pairs`] has an answer, as a rule: then no column need be copied for the products of all pairs.
    fn lists_pairs(&self) -> bool {
        false
    }

    /// For each of some features the others whose columns have the largest products with what a basis leaves of its own, by the place of the
    /// columns. Factors may be rounded there, as the answer says. `None` where these have to be copied after all.
    fn largest_pairs(&self, asked: &PairsAsked<'_>) -> Result<Option<LargestPairs>> {
        let _ = asked;
        Ok(None)
    }

    /// out += a x_j.
    fn axpy(&self, j: usize, a: f64, out: &mut [f64]) -> Result<()>;

    /// Copies column j.
    fn column(&self, j: usize, out: &mut Column) -> Result<()>;

    /// Copies the columns of `features` and shows each with its place in the list, in order: one trip for many where columns are far.
    fn columns(&self, features: &[usize], visit: &mut dyn FnMut(usize, &mut Column)) -> Result<()> {
        let mut column = Column::default();
        for (k, &j) in features.iter().enumerate() {
            self.column(j, &mut column)?;
            visit(k, &mut column);
        }
        Ok(())
    }

    /// Columns that are soon asked for one after the other, or a few at a time: where columns are far, as many of them as there is room
    /// for come in one trip.
    fn expect(&self, features: &[usize]) -> Result<()> {
        let _ = features;
        Ok(())
    }

    /// Σ_i x_ij²; `buffer` is for designs that must copy the column first.
    fn squared_norm(&self, j: usize, buffer: &mut Column) -> Result<f64> {
        self.column(j, buffer)?;
        Ok(buffer.moments(self.nrows(), None, self.nrows() as f64).squares)
    }

    /// Hands over the columns of `features` in blocks in memory, in any order, where they are not in memory already: the places of the
    /// list that a block serves, which of its columns these are, and the block. Whether they were handed over.
    fn each_block(&self, features: &[usize], body: BlockBody<'_>) -> Result<bool> {
        let _ = (features, body);
        Ok(false)
    }

    /// Whether a pass is best made of [`Design::each_block`], in one go: columns in files, of which the next are read meanwhile. Columns that
    /// are multiplied where they are have blocks only for what cannot be done there.
    fn reads_ahead(&self) -> bool {
        false
    }

    /// Weighted moments of every column, where the design has them without a copy of each; weights default to one.
    fn all_moments(&self, weights: Option<&[f64]>) -> Result<Option<Vec<Moments>>> {
        let _ = weights;
        Ok(None)
    }

    /// Moments without weights that an earlier run has kept, with the bits that [`moments`] gives.
    fn kept_moments(&self) -> Option<Vec<Moments>> {
        None
    }

    /// Keeps such moments for a later run, where that was asked for.
    fn keep_moments(&self, all: &[Moments]) -> Result<()> {
        let _ = all;
        Ok(())
    }

    /// Weighted moments of the columns (x_j − centre_j)/scale_j, where the design has them without a copy of each: as
    /// [`moments`] of a [`Standardized`] view would give them.
    fn standardized_moments(
        &self,
        centre: &[f64],
        scale: &[f64],
        weights: Option<&[f64]>,
    ) -> Result<Option<Vec<Moments>>> {
        let _ = (centre, scale, weights);
        Ok(None)
    }

    /// The share of Σ_i |x_ij v_i| by which [`Design::correlate`] may be off besides the ε(n/2 + 12) of a sum in double precision
    /// (MATH 3.10): zero where sums are such ones.
    fn rounding(&self) -> f64 {
        0.0
    }

    /// How many columns one call of [`Design::correlate`] should have at most, where a call is a trip to another place; `None` where the
    /// number of entries decides.
    fn trip(&self) -> Option<usize> {
        None
    }

    /// Entries that are multiplied in some ten milliseconds.
    fn pace(&self) -> usize {
        1 << 26
    }

    /// How much larger than those of column j the entries are that [`Design::correlate`] adds up, and takes away again:
    /// its rounding is relative to them. Zero where columns are stored as they are.
    fn offset(&self, j: usize) -> f64 {
        let _ = j;
        0.0
    }
}

/// The places of some columns, and products with them.
pub type LargeProducts = Vec<(u32, f32)>;

/// What is done with a block of columns.
pub type BlockBody<'b> = &'b mut dyn FnMut(Range<usize>, &[usize], &dyn Design) -> Result<()>;

/// A copy of one column: x_i = values_i (dense) or values at `rows` (sparse), plus `shift` in every row.
#[derive(Debug, Clone, Default)]
pub struct Column {
    /// Whether `rows` lists the positions of `values`; otherwise `values` holds all rows.
    pub sparse: bool,
    /// Ascending row indices of a sparse column.
    pub rows: Vec<u32>,
    /// The entries.
    pub values: Vec<f64>,
    /// Added to every row, stored or not (a centred sparse column stays sparse).
    pub shift: f64,
}

/// One of the values where all, but for those of weight zero, lie between half and twice each other (MATH 12.1): less that one,
/// all are exact. Zero for any others.
pub fn anchor(values: &[f64], weights: Option<&[f64]>) -> f64 {
    let (mut low, mut high) = (f64::INFINITY, 0.0f64);
    let mut first = 0.0;
    for (_, &x) in values.iter().enumerate().filter(|(i, _)| weights.is_none_or(|w| w[*i] > 0.0)) {
        first = if high == 0.0 { x } else { first };
        (low, high) = (low.min(x.abs()), high.max(x.abs()));
        if x * first.signum() <= 0.0 || high > 2.0 * low {
            return 0.0;
        }
    }
    first
}

/// Weighted sums of one column.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Moments {
    /// Σ w_i x_i / Σ w_i.
    pub mean: f64,
    /// Σ w_i x_i².
    pub squares: f64,
    /// Σ w_i (x_i − mean)², computed without cancellation.
    pub centred: f64,
}

impl Column {
    /// Weighted mean and sums of squares; `total` is Σ w_i, weights default to one.
    pub fn moments(&self, n: usize, weights: Option<&[f64]>, total: f64) -> Moments {
        let own: Vec<f64>;
        let weights = match weights {
            Some(w) if self.sparse => {
                own = self.rows.iter().map(|&i| w[i as usize]).collect();
                Some(own.as_slice())
            }
            other => other,
        };
        let stored = &self.values[..];
        let (sum, inside) = match weights {
            None => (kernel::sum(stored), stored.len() as f64),
            Some(w) => (kernel::dot(stored, w), if self.sparse { kernel::sum(w) } else { total }),
        };
        // Rows that a sparse column does not store hold `shift`; their weight is what is left of the total.
        let outside = if self.sparse && stored.len() < n { (total - inside).max(0.0) } else { 0.0 };
        let mean = sum / total + self.shift;
        let [squares, left, centred] = kernel::spread(stored, weights, self.shift, mean);
        let off = self.shift - mean;
        let (squares, left) = (squares + outside * self.shift * self.shift, left + outside * off);
        // What rounding left in the mean of a long column is taken out again, or a constant column would seem to vary.
        let centred = (centred + outside * off * off - left * left / total).max(0.0).min(squares);
        Moments { mean: mean + left / total, squares, centred }
    }

    /// The [`anchor`] of a column that stores all of n rows, zero of any other.
    pub fn anchor(&self, n: usize, weights: Option<&[f64]>) -> f64 {
        if self.values.len() < n { 0.0 } else { anchor(&self.values, weights) }
    }

    /// Writes all rows into `out`.
    pub fn to_dense(&self, out: &mut [f64]) {
        if self.sparse {
            out.fill(self.shift);
            for (&i, &x) in self.rows.iter().zip(&self.values) {
                out[i as usize] += x;
            }
        } else {
            for (o, &x) in out.iter_mut().zip(&self.values) {
                *o = x + self.shift;
            }
        }
    }
}

/// out = X β + b for coefficients given as (feature, value) pairs.
pub fn predict(design: &dyn Design, support: &[usize], values: &[f64], intercept: f64, out: &mut [f64]) -> Result<()> {
    out.fill(intercept);
    support.iter().zip(values).filter(|c| *c.1 != 0.0).try_for_each(|(&j, &b)| design.axpy(j, b, out))
}
