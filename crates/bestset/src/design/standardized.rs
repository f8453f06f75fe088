//! Centring and scaling as a view: nothing is copied, sparse columns stay sparse.

use crate::design::{
    BlockBody, Check, Column, Design, LargeProducts, LargestPairs, Moments, PairsAsked, Reaching, Vectors,
    moments_while,
};
use crate::error::{Error, Result, check_finite, check_length, check_weights};
use crate::kernel;

/// The spread below which a column is taken for constant, relative to its length: no more than the last digits of its entries, which a mean
/// or a sum of them does not keep.
const FLAT: f64 = 1e-14;

/// The columns (x_j − centre_j) / scale_j of another design; zero where the scale is infinite.
#[derive(Clone)]
pub struct Standardized<'a> {
    inner: &'a dyn Design,
    centre: Vec<f64>,
    scale: Vec<f64>,
    /// Columns that were found constant but for rounding, ascending.
    flat: Vec<usize>,
    /// What centres and scales were made of, and the weights of that: nobody need read all columns for it again.
    fitted: Option<FittedMoments>,
}

#[derive(Clone)]
struct FittedMoments {
    moments: Vec<Moments>,
    weights: Option<Vec<f64>>,
}

impl<'a> Standardized<'a> {
    /// Uses the given centres and scales; a scale must not be zero, and +∞ makes its column zero.
    pub fn new(inner: &'a dyn Design, centre: Vec<f64>, scale: Vec<f64>) -> Result<Self> {
        check_length("centre", centre.len(), inner.ncols())?;
        check_length("scale", scale.len(), inner.ncols())?;
        check_finite("centre", &centre)?;
        if let Some(index) = scale.iter().position(|s| s.is_nan() || *s == f64::NEG_INFINITY) {
            return Err(Error::NonFinite { what: "scale", index, value: scale[index] });
        }
        let inverse: Vec<f64> = scale.iter().map(|s| 1.0 / s).collect();
        check_finite("1 / scale", &inverse)?;
        Ok(Self { inner, centre, scale, flat: Vec::new(), fitted: None })
    }

    /// Weighted means as centres (zero when `centre` is false) and weighted norms of the centred columns, divided by
    /// `norm`, as scales: afterwards √(Σ w_i x̃_ij²) = `norm`. Constant columns, and those that are
    /// [constant but for rounding](Standardized::flat), have an infinite scale and are zero; so is a column of zeros, of scale one, that
    /// is not centred.
    pub fn fit(inner: &'a dyn Design, weights: Option<&[f64]>, centre: bool, norm: f64) -> Result<Self> {
        Self::fit_while(inner, weights, centre, norm, &|| Ok(()))
    }

    /// As [`Standardized::fit`], with a question between the parts of a long look at all columns.
    pub fn fit_while(
        inner: &'a dyn Design,
        weights: Option<&[f64]>,
        centre: bool,
        norm: f64,
        check: Check<'_>,
    ) -> Result<Self> {
        if !(norm > 0.0 && norm.is_finite()) {
            return Err(Error::Range { name: "norm", value: norm, range: "finite and above 0" });
        }
        if let Some(weights) = weights {
            check_weights(weights, inner.nrows())?;
        }
        let all = moments_while(inner, weights, check)?;
        let scale = all.iter().map(|m| match (if centre { m.centred } else { m.squares }, centre) {
            (_, true) if is_flat(m) => f64::INFINITY,
            (squares, _) if squares > 0.0 => squares.sqrt() / norm,
            _ => 1.0,
        });
        let scale = scale.collect();
        let flat = if centre { flat(inner, weights, &all)? } else { Vec::new() };
        let centre = all.iter().map(|m| if centre { m.mean } else { 0.0 }).collect();
        let fitted = Some(FittedMoments { moments: all, weights: weights.map(<[f64]>::to_vec) });
        Ok(Self { fitted, flat, ..Self::new(inner, centre, scale)? })
    }

    /// The columns as they are, but for those that are constant or [so but for rounding](Standardized::flat), which are zero: an
    /// intercept has what they say, and far from zero they cost digits. `None` where there is none of these.
    pub fn flattened(inner: &'a dyn Design, weights: Option<&[f64]>, check: Check<'_>) -> Result<Option<Self>> {
        let all = moments_while(inner, weights, check)?;
        if !all.iter().any(|m| m.squares > 0.0 && is_flat(m)) {
            return Ok(None);
        }
        let scale = all.iter().map(|m| if is_flat(m) { f64::INFINITY } else { 1.0 }).collect();
        let flat = flat(inner, weights, &all)?;
        Ok(Some(Self { flat, ..Self::new(inner, vec![0.0; all.len()], scale)? }))
    }

    /// The columns whose entries differ in their last digits only, ascending. What varies of them is what rounding made of a constant,
    /// and a product with them is nothing but rounding: they are zero here.
    pub fn flat(&self) -> &[usize] {
        &self.flat
    }

    /// Coefficients of the inner design: β_j / scale_j, β_j where the column is zero, and what the centring adds to the intercept,
    /// −Σ centre_j times these.
    pub fn unscale(&self, support: &[usize], values: &[f64]) -> (Vec<f64>, f64) {
        let outward = |(&j, b): (&usize, &f64)| if self.scale[j].is_finite() { b / self.scale[j] } else { *b };
        let inner: Vec<f64> = support.iter().zip(values).map(outward).collect();
        let shift = support.iter().zip(&inner).map(|(&j, b)| -self.centre[j] * b).sum();
        (inner, shift)
    }

    /// The coefficient of column j here for one of the column given; where the column is zero, as it is.
    pub fn inward(&self, j: usize, value: f64) -> f64 {
        if self.scale[j].is_finite() { value * self.scale[j] } else { value }
    }

    /// The scale of each column.
    pub fn scale(&self) -> &[f64] {
        &self.scale
    }

    /// The centre of each column.
    pub fn centre(&self) -> &[f64] {
        &self.centre
    }
}

/// Whether a column varies by no more than [`FLAT`] of its length.
fn is_flat(m: &Moments) -> bool {
    m.squares.is_finite() && m.centred <= FLAT * FLAT * m.squares
}

/// The columns that are constant but for rounding.
fn flat(inner: &dyn Design, weights: Option<&[f64]>, all: &[Moments]) -> Result<Vec<usize>> {
    let mut flat = Vec::new();
    for (j, _) in all.iter().enumerate().filter(|(_, m)| m.centred > 0.0 && is_flat(m)) {
        if !is_constant(inner, weights, j)? {
            flat.push(j);
        }
    }
    Ok(flat)
}

/// Whether the entries of column j, but for those of weight zero, are one number.
pub fn is_constant(design: &dyn Design, weights: Option<&[f64]>, j: usize) -> Result<bool> {
    let (mut column, mut values) = (Column::default(), vec![0.0; design.nrows()]);
    design.column(j, &mut column)?;
    column.to_dense(&mut values);
    let is_counted = |i: &usize| weights.is_none_or(|w| w[*i] > 0.0);
    let mut counted = (0..values.len()).filter(is_counted).map(|i| values[i]);
    let first = counted.next();
    Ok(counted.all(|x| Some(x) == first))
}

impl Design for Standardized<'_> {
    fn nrows(&self) -> usize {
        self.inner.nrows()
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
        let total = kernel::sum(v);
        self.inner.correlate(features, v, out)?;
        for (&j, o) in features.iter().zip(out) {
            *o = (*o - self.centre[j] * total) / self.scale[j];
        }
        Ok(())
    }

    fn correlate_many(&self, features: &[usize], vectors: &[&[f64]], out: &mut [f64]) -> Result<()> {
        self.correlate_part(features, &Vectors::new(vectors), out)
    }

    fn correlate_part(&self, features: &[usize], vectors: &Vectors<'_>, out: &mut [f64]) -> Result<()> {
        let totals: Vec<f64> = vectors.each().iter().map(|v| kernel::sum(v)).collect();
        self.inner.correlate_part(features, vectors, out)?;
        for (&j, out) in features.iter().zip(out.chunks_exact_mut(totals.len().max(1))) {
            out.iter_mut().zip(&totals).for_each(|(o, total)| *o = (*o - self.centre[j] * total) / self.scale[j]);
        }
        Ok(())
    }

    /// Not of a view of this view: one is all that a place knows.
    fn reaching(
        &self,
        features: &[usize],
        vectors: &[&[f64]],
        limits: &[f64],
        view: Option<(&[f64], &[f64])>,
    ) -> Result<Option<Vec<Vec<Reaching>>>> {
        match view {
            None => self.inner.reaching(features, vectors, limits, Some((&self.centre, &self.scale))),
            Some(_) => Ok(None),
        }
    }

    fn reads_ahead(&self) -> bool {
        self.inner.reads_ahead()
    }

    fn each_block(&self, features: &[usize], body: BlockBody<'_>) -> Result<bool> {
        self.inner.each_block(features, &mut |places, local, block| {
            let (mut centre, mut scale) = (vec![0.0; block.ncols()], vec![1.0; block.ncols()]);
            for (&j, &k) in features[places.clone()].iter().zip(local) {
                (centre[k], scale[k]) = (self.centre[j], self.scale[j]);
            }
            body(places, local, &Standardized { inner: block, centre, scale, flat: Vec::new(), fitted: None })
        })
    }

    fn axpy(&self, j: usize, a: f64, out: &mut [f64]) -> Result<()> {
        let a = a / self.scale[j];
        self.inner.axpy(j, a, out)?;
        let shift = a * self.centre[j];
        if shift != 0.0 {
            for o in out {
                *o -= shift;
            }
        }
        Ok(())
    }

    fn column(&self, j: usize, out: &mut Column) -> Result<()> {
        self.inner.column(j, out)?;
        self.scale_column(j, out);
        Ok(())
    }

    fn columns(&self, features: &[usize], visit: &mut dyn FnMut(usize, &mut Column)) -> Result<()> {
        self.inner.columns(features, &mut |k, column| {
            self.scale_column(features[k], column);
            visit(k, column);
        })
    }

    /// Those that it was fitted with are known, whatever the place of the columns has of its own.
    fn all_moments(&self, weights: Option<&[f64]>) -> Result<Option<Vec<Moments>>> {
        let total = weights.map_or(self.nrows() as f64, kernel::sum);
        let own = |(j, m): (usize, &Moments)| {
            let (mean, centred) = ((m.mean - self.centre[j]) / self.scale[j], m.centred / self.scale[j].powi(2));
            Moments { mean, squares: centred + total * mean * mean, centred }
        };
        if let Some(fitted) = self.fitted.as_ref().filter(|fitted| fitted.weights.as_deref() == weights) {
            return Ok(Some(fitted.moments.iter().enumerate().map(own).collect()));
        }
        if let Some(all) = self.inner.standardized_moments(&self.centre, &self.scale, weights)? {
            return Ok(Some(all));
        }
        let all = self.inner.all_moments(weights)?;
        Ok(all.map(|all| all.iter().enumerate().map(own).collect()))
    }

    fn offset(&self, j: usize) -> f64 {
        (self.inner.offset(j) + self.centre[j].abs()) / self.scale[j].abs()
    }

    fn expect(&self, features: &[usize]) -> Result<()> {
        self.inner.expect(features)
    }

    fn multiplies_pairs(&self) -> bool {
        self.inner.multiplies_pairs()
    }

    fn largest_products(&self, left: &[&[f32]], right: &[&[f32]], count: usize) -> Result<Option<Vec<LargeProducts>>> {
        self.inner.largest_products(left, right, count)
    }

    fn lists_pairs(&self) -> bool {
        self.inner.lists_pairs()
    }

    /// Centres make no difference where means are taken away; where they are not, there must be none.
    fn largest_pairs(&self, asked: &PairsAsked<'_>) -> Result<Option<LargestPairs>> {
        let is_plain = |j: &usize| (asked.is_centred || self.centre[*j] == 0.0) && self.scale[*j].is_finite();
        if !asked.features.iter().all(is_plain) {
            return Ok(None);
        }
        let scales: Vec<f64> = asked.features.iter().zip(asked.scales).map(|(&j, s)| s / self.scale[j]).collect();
        self.inner.largest_pairs(&PairsAsked { scales: &scales, ..*asked })
    }

    fn rounding(&self) -> f64 {
        self.inner.rounding()
    }

    fn pace(&self) -> usize {
        self.inner.pace()
    }

    fn trip(&self) -> Option<usize> {
        self.inner.trip()
    }
}

impl Standardized<'_> {
    /// Centres and scales a copy of column j.
    fn scale_column(&self, j: usize, out: &mut Column) {
        let (centre, scale) = (self.centre[j], self.scale[j]);
        // One that stores every row is centred as a dense one: its entries may be far from zero.
        if out.values.len() < self.nrows() {
            out.values.iter_mut().for_each(|x| *x /= scale);
            out.shift = (out.shift - centre) / scale;
        } else {
            let shift = out.shift - centre;
            out.values.iter_mut().for_each(|x| *x = (*x + shift) / scale);
            out.shift = 0.0;
        }
    }
}
