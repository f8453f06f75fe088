//! Packed codes of PLINK (`.bed`): counted when the file is opened, read in blocks.

use super::npy::resize;
use super::source::{Source, bad};
use crate::design::{Counts, Genotypes, People};
use crate::error::{Error, Result};
use rayon::prelude::*;
use std::borrow::Cow;
use std::ops::Range;
use std::path::Path;

/// Bytes before the first variant, and what they are in a file that is ordered by variants.
const MAGIC: [u8; 3] = [0x6c, 0x1b, 0x01];

/// Bytes that are read at once while variants are counted.
const AT_ONCE: usize = 4 << 20;

/// Packed codes in their file.
pub(super) struct Bed {
    file: Source,
    /// Those who count, of all people of the file.
    people: People,
    /// The place in the file of each variant that was kept, ascending.
    places: Vec<usize>,
    counts: Vec<Counts>,
}

impl Bed {
    /// The variants of a file that `keep` says yes to; their packed codes too, if these take no more than `room` bytes.
    pub(super) fn open(
        path: &Path,
        people: &People,
        variants: usize,
        room: usize,
        keep: &mut dyn FnMut(Counts) -> bool,
    ) -> Result<(Self, Option<Vec<u8>>)> {
        // Counts are of 32 bits.
        if people.all() > u32::MAX as usize / 2 {
            return Err(Error::Range { name: "people", value: people.all() as f64, range: "at most 2147483647" });
        }
        let file = Source::open(path)?;
        check(&file, people.all(), variants)?;
        let (places, counts) = (Vec::with_capacity(variants), Vec::with_capacity(variants));
        let mut bed = Self { file, people: people.clone(), places, counts };
        let held = bed.count(variants, room, keep)?;
        bed.file.check()?;
        Ok((bed, held))
    }

    pub(super) fn into_counts(self) -> Vec<Counts> {
        self.counts
    }

    pub(super) fn file(&self) -> &Source {
        &self.file
    }

    pub(super) fn counts(&self) -> &[Counts] {
        &self.counts
    }

    /// Bytes of a variant in the file.
    fn stride(&self) -> usize {
        self.people.all().div_ceil(4)
    }

    /// Bytes from a variant up to another, those left out between them as well.
    pub(super) fn bytes(&self, from: usize, to: usize) -> u64 {
        let place = |k: usize| self.places.get(k).copied().unwrap_or_else(|| self.places.last().map_or(0, |j| j + 1));
        (place(to) - place(from)) as u64 * self.stride() as u64
    }

    /// The packed codes of some variants, of those who count.
    pub(super) fn read(&self, wanted: Range<usize>, raw: &mut Vec<u8>, packed: &mut Vec<u8>) -> Result<()> {
        let (stride, places) = (self.stride(), &self.places[wanted]);
        let (Some(&first), Some(&last)) = (places.first(), places.last()) else { return Ok(()) };
        let all = last + 1 - first;
        let everybody = self.people.kept() == self.people.all();
        // What is wanted as it lies in the file is not copied.
        let into = if everybody && all == places.len() { &mut *packed } else { &mut *raw };
        resize(&self.file, into, all * stride, 0)?;
        self.file.read((MAGIC.len() + first * stride) as u64, into)?;
        if everybody && all == places.len() {
            return Ok(());
        }
        packed.clear();
        for place in places {
            self.people.pack(&raw[(place - first) * stride..(place - first + 1) * stride], packed);
        }
        Ok(())
    }

    /// The block of variants that was read.
    pub(super) fn block<'b>(&'b self, wanted: Range<usize>, packed: &'b [u8]) -> Genotypes<'b> {
        Genotypes::counted(self.people.kept(), Cow::Borrowed(packed), Cow::Borrowed(&self.counts[wanted]))
    }
}

/// Holds the length of a file against what it should have, and its first bytes.
fn check(file: &Source, people: usize, variants: usize) -> Result<()> {
    let (stride, mut magic) = (people.div_ceil(4), [0; 3]);
    let expected = stride.checked_mul(variants).and_then(|bytes| bytes.checked_add(MAGIC.len()));
    if expected.map(|bytes| bytes as u64) != Some(file.len()) {
        let reason = format!(
            "it has {} bytes; {variants} variants of {people} people take {}: it is cut short or has too much, and is to be copied again, \
             or the .bim and .fam files beside it are of other data",
            file.len(),
            expected.map_or("more than can be".to_owned(), |bytes| bytes.to_string())
        );
        return Err(bad(file.path(), "its length", reason));
    }
    file.read(0, &mut magic)?;
    match magic {
        MAGIC => Ok(()),
        _ => Err(bad(file.path(), "the beginning", "this is no .bed file that is ordered by variants".into())),
    }
}

impl Bed {
    /// Counts all variants of the file and notes those to keep; their packed codes, if these take no more than `room` bytes.
    fn count(&mut self, variants: usize, room: usize, keep: &mut dyn FnMut(Counts) -> bool) -> Result<Option<Vec<u8>>> {
        let (stride, width) = (self.stride(), self.people.kept().div_ceil(4));
        let mut held = Vec::new();
        // Filters make it shorter; what is not used is given back.
        let mut fits = held.try_reserve_exact(width.saturating_mul(variants).min(room)).is_ok();
        let at_once = (AT_ONCE / stride.max(1)).max(1);
        let mut buffer = vec![0; at_once.min(variants) * stride];
        for first in (0..variants).step_by(at_once) {
            let block = &mut buffer[..at_once.min(variants - first) * stride];
            self.file.read((MAGIC.len() + first * stride) as u64, block)?;
            let counts: Vec<Counts> = block.par_chunks_exact(stride).map(|column| self.people.count(column)).collect();
            for (k, (column, counts)) in block.chunks_exact(stride).zip(counts).enumerate() {
                if !keep(counts) {
                    continue;
                }
                self.places.push(first + k);
                self.counts.push(counts);
                if fits && held.len() + width <= room {
                    self.people.pack(column, &mut held);
                } else {
                    (fits, held) = (false, Vec::new());
                }
            }
        }
        held.shrink_to_fit();
        Ok(fits.then_some(held))
    }
}
