//! Genotypes packed as PLINK's `.bed` has them: two bits a person.
//!
//! Everything that touches all variants works on the packed bytes: sums of whole numbers, which are exact ([`sums`]), of numbers
//! with a common unit ([`fixed`]), and counts of people ([`people`]).

mod absent;
mod fixed;
mod lanes;
mod people;
mod sums;

pub use people::{Counts, People};

use crate::design::{Column, Design, Moments, Vectors, in_blocks};
use crate::error::{Error, Result, check_length};
use crate::kernel;
use absent::Absent;
pub(super) use fixed::Fixed;
use fixed::Scaled;
use lanes::Table;
use rayon::prelude::*;
use std::borrow::Cow;

/// Copies of the first allele by code, those not known apart.
const COPIES: Table = Table::new([2, 0, 1, 0]);
/// One copy.
const ONE: Table = Table::new([0, 0, 1, 0]);
/// Not known.
const MISSING: Table = Table::new([0, 1, 0, 0]);

/// Where more than one in so many people are not known, they are added up as all others are, not one by one.
const MANY_MISSING: usize = 96;

/// Variants that are looked at together.
const NEARBY: usize = 32;

/// People by variants, an entry the number of copies of the first allele (A1 of a `.bim`, the one that `plink --export A` counts):
/// 2 for code 00, 1 for 10, 0 for 11; code 01, not known, is the mean of the variant's other entries, which is zero once centred.
///
/// Two bits an entry, ⌈n/4⌉ bytes a variant, the first person in the lowest bits of the first byte: a `.bed` file without its
/// first three bytes. [`Design::correlate`] adds whole numbers of 55 bits, exactly, so that the order of the sums, the machine and
/// the number of threads do not matter; what rounding α to them costs is less than adding up rounded numbers may.
///
/// ```
/// use bestset::design::{Design, Genotypes};
///
/// // Three people, two variants: 2 copies, 1 and none; 2, 2 and not known.
/// let x = Genotypes::new(3, 2, vec![0b00_11_10_00, 0b00_01_00_00])?;
/// let mut tau = [0.0; 2];
/// x.correlate(&[0, 1], &[1.0, 10.0, 100.0], &mut tau);
/// assert_eq!(tau, [12.0, 222.0]);
/// assert_eq!(x.counts(0).frequency(), 0.5);
/// # Ok::<(), bestset::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Genotypes<'a> {
    people: usize,
    stride: usize,
    packed: Cow<'a, [u8]>,
    counts: Cow<'a, [Counts]>,
    absent: Cow<'a, Absent>,
}

/// Σ_i x_ij a_i over the people whose genotype is known, and Σ_i a_i over those whose is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WholeSums {
    /// Copies of the first allele times a.
    pub known: i64,
    /// a of the people whose genotype is not known.
    pub missing: i64,
}

impl<'a> Genotypes<'a> {
    /// Takes the packed codes of `variants` variants of `people` people, ⌈people/4⌉ bytes each.
    pub fn new(people: usize, variants: usize, packed: impl Into<Cow<'a, [u8]>>) -> Result<Self> {
        let packed = packed.into();
        if people == 0 || variants == 0 {
            return Err(Error::Empty { rows: people, columns: variants });
        }
        // Counts are of 32 bits.
        if people > u32::MAX as usize / 2 {
            return Err(Error::Range { name: "people", value: people as f64, range: "at most 2147483647" });
        }
        let stride = people.div_ceil(4);
        check_length("packed genotypes", packed.len(), stride.saturating_mul(variants))?;
        let all = People::new(people, |_| true);
        let counts: Vec<Counts> = packed.par_chunks_exact(stride).map(|column| all.count(column)).collect();
        Ok(Self::counted(people, packed, Cow::Owned(counts)))
    }

    /// Of variants that have been counted.
    pub(super) fn counted(people: usize, packed: Cow<'a, [u8]>, counts: Cow<'a, [Counts]>) -> Self {
        let absent = Cow::Owned(Absent::new(people, &packed, &counts));
        Self { people, stride: people.div_ceil(4), packed, counts, absent }
    }

    /// How many people have which genotype of variant j.
    pub fn counts(&self, j: usize) -> Counts {
        self.counts[j]
    }

    /// The packed codes of variant j.
    pub fn packed(&self, j: usize) -> &[u8] {
        &self.packed[j * self.stride..(j + 1) * self.stride]
    }

    /// The same genotypes, not copied.
    pub fn borrowed(&self) -> Genotypes<'_> {
        let (packed, counts) = (Cow::Borrowed(&*self.packed), Cow::Borrowed(&*self.counts));
        Genotypes { packed, counts, absent: Cow::Borrowed(&*self.absent), ..*self }
    }

    /// Copies variant j.
    fn copy(&self, j: usize, out: &mut Column) {
        let entries = self.entries(j);
        out.sparse = false;
        out.shift = 0.0;
        out.rows.clear();
        out.values.clear();
        out.values.reserve(4 * self.stride);
        for byte in self.packed(j) {
            out.values.extend_from_slice(&[0, 2, 4, 6].map(|k| entries[(byte >> k) as usize & 3]));
        }
        out.values.truncate(self.people);
    }

    /// out_{k, v} = x_jᵀ vector_v with j = features_k.
    fn multiply(&self, features: &[usize], fixed: &[Fixed], out: &mut [f64]) {
        let count = fixed.len();
        if count == 0 {
            return;
        }
        in_blocks(features, out, features.len() * self.people * count, |features, out| {
            for (features, out) in features.chunks(NEARBY).zip(out.chunks_mut(NEARBY * count)) {
                for (k, v) in fixed.iter().enumerate() {
                    let found = self.products(features, v);
                    out.chunks_exact_mut(count).zip(found).for_each(|(out, found)| out[k] = found);
                }
            }
        });
    }

    /// What the codes 00, 01, 10, 11 of variant j stand for.
    fn entries(&self, j: usize) -> [f64; 4] {
        [2.0, self.counts[j].mean(), 1.0, 0.0]
    }

    /// Entry (i, j).
    pub fn get(&self, i: usize, j: usize) -> f64 {
        self.entries(j)[code(self.packed(j), i)]
    }

    /// Exact sums with whole numbers: Σ_i x_ij a_i apart for people whose genotype is known and not.
    ///
    /// Needs |a_i| ≤ 2⁵⁴ and 2 Σ|a_i| < 2⁶³, so that no sum overflows in any order; |a_i| ≤ 2⁴² does for a million people, and
    /// |a_i| ≤ 2⁴⁶ is a seventh faster than more. Any dual point is valid, also a rounded one: rounding α to these numbers,
    /// within the domain of the conjugate and with Σ a_i = 0 where there is an intercept, is the caller's.
    pub fn correlate_integers(&self, features: &[usize], a: &[i64], out: &mut [WholeSums]) -> Result<()> {
        check_length("a", a.len(), self.people)?;
        check_length("sums", out.len(), features.len())?;
        if let Some(index) = a.iter().position(|a| a.unsigned_abs() > sums::LARGEST as u64) {
            return Err(Error::TooLarge { what: "a", index, value: a[index] as f64 });
        }
        let total: i128 = a.iter().map(|a| i128::from(a.abs())).sum();
        if 2 * total > i128::from(i64::MAX) {
            return Err(Error::Range { name: "2 Σ|a_i|", value: 2.0 * total as f64, range: "below 2^63" });
        }
        let part = Scaled::new(a.to_vec(), 1.0);
        in_blocks(features, out, features.len() * self.people, |features, out| {
            for (features, out) in features.chunks(NEARBY).zip(out.chunks_mut(NEARBY)) {
                let (known, missing) = (self.sums(&COPIES, features, &part), self.missing(features, &part));
                for ((out, known), missing) in out.iter_mut().zip(known).zip(missing) {
                    *out = WholeSums { known: known as i64, missing: missing as i64 };
                }
            }
        });
        Ok(())
    }

    /// Σ_i count(code_ij) a_i of at most [`NEARBY`] variants.
    fn sums(&self, table: &Table, features: &[usize], part: &Scaled) -> [i128; NEARBY] {
        let mut found = [0; NEARBY];
        sums::sums(&self.packed, self.stride, features, table, &part.digits, &mut found[..features.len()]);
        found
    }

    /// Σ_i a_i over the people whose genotype of a variant is not known.
    fn missing(&self, features: &[usize], part: &Scaled) -> [i128; NEARBY] {
        let is_many = |j: usize| self.counts[j].missing as usize > self.people / MANY_MISSING;
        let many: Vec<usize> = features.iter().copied().filter(|&j| is_many(j)).collect();
        let mut together = self.sums(&MISSING, &many, part).into_iter();
        let mut found = [0; NEARBY];
        for (&j, found) in features.iter().zip(&mut found) {
            *found = match self.counts[j].missing {
                0 => 0,
                _ if is_many(j) => together.next().unwrap_or_default(),
                _ => self.absent.sum(j, self.packed(j), &self.counts, self.people, &part.numbers),
            };
        }
        found
    }

    /// out_k = Σ_i x_ij v_i with j = features_k, at most [`NEARBY`] of them.
    fn products(&self, features: &[usize], v: &Fixed) -> [f64; NEARBY] {
        let mut found = [0.0; NEARBY];
        for part in &v.parts {
            let (known, missing) = (self.sums(&COPIES, features, part), self.missing(features, part));
            for (k, &j) in features.iter().enumerate() {
                found[k] += part.unit * (known[k] as f64 + self.counts[j].mean() * missing[k] as f64);
            }
        }
        for (found, &j) in found.iter_mut().zip(features).filter(|_| !v.rest.is_empty()) {
            let (column, entries) = (self.packed(j), self.entries(j));
            *found += v.rest.iter().map(|&(i, x)| entries[code(column, i)] * x).sum::<f64>();
        }
        found
    }

    /// Moments over people of weight one, the others of weight zero: from counts.
    fn counted_moments(&self, people: Option<&People>) -> Vec<Moments> {
        let one = |j: usize| match people.map(|people| people.count(self.packed(j))) {
            None => self.counts[j].moments(),
            Some(counts) => counts.moments_with(self.counts[j].mean()),
        };
        (0..self.counts.len()).into_par_iter().map(one).collect()
    }

    /// Moments with any weights.
    fn weighted_moments(&self, weights: &[f64]) -> Vec<Moments> {
        let (fixed, total) = (Fixed::new(weights), kernel::sum(weights));
        let features: Vec<usize> = (0..self.counts.len()).collect();
        let few = |features: &[usize]| {
            let mut by_code = [[0.0; 4]; NEARBY];
            for part in &fixed.parts {
                let (copies, one) = (self.sums(&COPIES, features, part), self.sums(&ONE, features, part));
                let missing = self.missing(features, part);
                for (k, own) in by_code[..features.len()].iter_mut().enumerate() {
                    let more = [(copies[k] - one[k]) / 2, missing[k], one[k]].map(|sum| part.unit * sum as f64);
                    own.iter_mut().zip(more).for_each(|(own, more)| *own += more);
                }
            }
            let one = |(&j, mut by_code): (&usize, [f64; 4])| {
                fixed.rest.iter().for_each(|&(i, w)| by_code[code(self.packed(j), i)] += w);
                let [two, missing, one, _] = by_code;
                let none = (total - two - one - missing).max(0.0);
                people::moments([two, one, none, missing], self.counts[j].mean())
            };
            features.iter().zip(by_code).map(one).collect::<Vec<_>>()
        };
        features.par_chunks(NEARBY).flat_map_iter(few).collect()
    }
}

/// The code of person i.
#[inline(always)]
fn code(column: &[u8], i: usize) -> usize {
    (column[i / 4] >> (2 * (i % 4))) as usize & 3
}

impl Design for Genotypes<'_> {
    fn nrows(&self) -> usize {
        self.people
    }

    fn ncols(&self) -> usize {
        self.counts.len()
    }

    fn is_sparse(&self) -> bool {
        false
    }

    fn stored(&self) -> usize {
        self.people * self.counts.len()
    }

    fn correlate(&self, features: &[usize], v: &[f64], out: &mut [f64]) -> Result<()> {
        self.correlate_many(features, &[v], out)
    }

    fn correlate_many(&self, features: &[usize], vectors: &[&[f64]], out: &mut [f64]) -> Result<()> {
        self.correlate_part(features, &Vectors::new(vectors), out)
    }

    fn correlate_part(&self, features: &[usize], vectors: &Vectors<'_>, out: &mut [f64]) -> Result<()> {
        self.multiply(features, vectors.fixed(), out);
        Ok(())
    }

    /// Two bits an entry, 256 of them at once.
    fn pace(&self) -> usize {
        1 << 29
    }

    fn axpy(&self, j: usize, a: f64, out: &mut [f64]) -> Result<()> {
        let terms = self.entries(j).map(|x| a * x);
        for (out, byte) in out.chunks_mut(4).zip(self.packed(j)) {
            out.iter_mut().enumerate().for_each(|(k, o)| *o += terms[(byte >> (2 * k)) as usize & 3]);
        }
        Ok(())
    }

    fn column(&self, j: usize, out: &mut Column) -> Result<()> {
        self.copy(j, out);
        Ok(())
    }

    fn squared_norm(&self, j: usize, _buffer: &mut Column) -> Result<f64> {
        Ok(self.counts[j].moments().squares)
    }

    fn all_moments(&self, weights: Option<&[f64]>) -> Result<Option<Vec<Moments>>> {
        let Some(weights) = weights else { return Ok(Some(self.counted_moments(None))) };
        Ok(Some(match weights.iter().all(|w| *w == 0.0 || *w == 1.0) {
            true => self.counted_moments(Some(&People::new(self.people, |i| weights[i] == 1.0))),
            false => self.weighted_moments(weights),
        }))
    }
}
