//! Columns that stay where X is, as a device has them: pairs are listed there, with factors of few digits.

use crate::design::{Column, Dense, Design, LargestPairs, PairsAsked};
use crate::error::Result;
use crate::kernel;

/// Bits of a number that are kept: its sign, its exponent and seven more, as in bfloat16.
const KEPT: u64 = !((1 << 45) - 1);

/// A dense design that lists pairs.
pub(super) struct Listing {
    pub inner: Dense<'static>,
    /// Whether it has an answer when it is asked, as it says that it has.
    pub answers: bool,
}

/// The number cut to eight digits, the first of which is always one.
fn rough(x: f64) -> f64 {
    f64::from_bits(x.to_bits() & KEPT)
}

fn length(values: &[f64]) -> f64 {
    kernel::squares(values).sqrt()
}

/// What is kept of a vector, its length, and the length of what is lost.
struct Cut {
    kept: Vec<f64>,
    length: f64,
    lost: f64,
}

impl Cut {
    fn new(values: Vec<f64>) -> Self {
        let kept: Vec<f64> = values.iter().map(|x| rough(*x)).collect();
        let gone: Vec<f64> = values.iter().zip(&kept).map(|(x, k)| x - k).collect();
        Self { kept, length: length(&values), lost: length(&gone) }
    }
}

impl Listing {
    /// s_j x_j, less its mean where it is to be.
    fn scaled(&self, asked: &PairsAsked<'_>, place: usize) -> Result<Vec<f64>> {
        let (mut column, mut x) = (Column::default(), vec![0.0; self.nrows()]);
        self.inner.column(asked.features[place], &mut column)?;
        column.to_dense(&mut x);
        let mean = if asked.is_centred { kernel::sum(&x) / x.len() as f64 } else { 0.0 };
        x.iter_mut().for_each(|x| *x = (*x - mean) * asked.scales[place]);
        Ok(x)
    }
}

/// c − B C Bᵀc.
fn rest(asked: &PairsAsked<'_>, column: &[f64]) -> Vec<f64> {
    let (k, mut rest) = (asked.basis.len(), column.to_vec());
    let products: Vec<f64> = asked.basis.iter().map(|b| kernel::dot(b, column)).collect();
    for (a, vector) in asked.basis.iter().enumerate() {
        let weight: f64 = (0..k).map(|b| asked.inverse[a * k + b] * products[b]).sum();
        kernel::axpy(-weight, vector, &mut rest);
    }
    rest
}

impl Design for Listing {
    fn nrows(&self) -> usize {
        self.inner.nrows()
    }

    fn ncols(&self) -> usize {
        self.inner.ncols()
    }

    fn is_sparse(&self) -> bool {
        false
    }

    fn stored(&self) -> usize {
        self.inner.stored()
    }

    fn correlate(&self, features: &[usize], v: &[f64], out: &mut [f64]) -> Result<()> {
        self.inner.correlate(features, v, out)
    }

    fn axpy(&self, j: usize, a: f64, out: &mut [f64]) -> Result<()> {
        self.inner.axpy(j, a, out)
    }

    fn column(&self, j: usize, out: &mut Column) -> Result<()> {
        self.inner.column(j, out)
    }

    fn lists_pairs(&self) -> bool {
        true
    }

    fn largest_pairs(&self, asked: &PairsAsked<'_>) -> Result<Option<LargestPairs>> {
        if !self.answers {
            return Ok(None);
        }
        let columns = (0..asked.features.len()).map(|k| self.scaled(asked, k)).collect::<Result<Vec<_>>>()?;
        let rests: Vec<Cut> = columns.iter().map(|c| Cut::new(rest(asked, c))).collect();
        let columns: Vec<Cut> = columns.into_iter().map(Cut::new).collect();
        let most = |of: fn(&Cut) -> f64, list: &[Cut]| list.iter().map(of).fold(0.0, f64::max);
        let lost = [&rests, &columns].map(|list| most(|c| c.lost, list));
        let longest = [&rests, &columns].map(|list| most(|c| c.length, list));
        let error = longest[0] * lost[1] + longest[1] * lost[0] + lost[0] * lost[1] + 1e-6 * longest[0] * longest[1];
        let row = |j: usize| {
            // Of pairs that are not asked for it says nothing.
            let is_asked = |k: usize| asked.apart.is_none_or(|(costs, room)| costs[j] + costs[k] <= room);
            let made = |k: usize| if is_asked(k) { kernel::dot(&rests[j].kept, &columns[k].kept) } else { 0.0 };
            let product = |k: usize| (k as u32, made(k) as f32);
            let mut all: Vec<(u32, f32)> = (0..columns.len()).filter(|k| *k != j).map(product).collect();
            all.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
            all.truncate(asked.count);
            all
        };
        Ok(Some(LargestPairs { rows: (0..columns.len()).map(row).collect(), error }))
    }
}
