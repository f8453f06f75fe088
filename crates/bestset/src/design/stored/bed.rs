//! Genotypes of PLINK (`.bed`): counted when they are opened, held in memory where there is room, read in blocks where there is none.

use super::Stored;
use super::npy::resize;
use super::open::Layout;
use super::source::{Source, bad};
use crate::design::{Column, Counts, Design, Genotypes, People, Reading};
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

/// The genotypes of a `.bed` file: the answers have the same bits wherever they are.
#[derive(Debug, Clone)]
pub enum GenotypeFile {
    /// Packed in memory.
    Memory(Genotypes<'static>),
    /// In their file, read in blocks.
    Disk(Stored),
}

impl GenotypeFile {
    /// The variants that `keep` says yes to, asked in their order, of the people who count. They are held in memory if that takes no
    /// more than `room` bytes.
    pub fn open(
        path: impl AsRef<Path>,
        people: &People,
        variants: usize,
        room: usize,
        keep: &mut dyn FnMut(Counts) -> bool,
    ) -> Result<Self> {
        let path = path.as_ref();
        // Counts are of 32 bits.
        if people.all() > u32::MAX as usize / 2 {
            return Err(Error::Range { name: "people", value: people.all() as f64, range: "at most 2147483647" });
        }
        let file = Source::open(path)?;
        check(&file, people.all(), variants)?;
        let (places, counts) = (Vec::with_capacity(variants), Vec::with_capacity(variants));
        let mut bed = Bed { file, people: people.clone(), places, counts };
        let held = bed.count(variants, room, keep)?;
        bed.file.check()?;
        let (rows, columns) = (people.kept(), bed.places.len());
        if rows == 0 || columns == 0 {
            return Err(Error::Empty { rows, columns });
        }
        match held {
            Some(packed) => Ok(Self::Memory(Genotypes::counted(rows, Cow::Owned(packed), Cow::Owned(bed.counts)))),
            None => Stored::new(path, rows, columns, Layout::Packed(bed)).map(Self::Disk),
        }
    }

    /// The design.
    pub fn design(&self) -> &dyn Design {
        match self {
            Self::Memory(genotypes) => genotypes,
            Self::Disk(stored) => stored,
        }
    }

    /// The design for a place that owns it; nothing is copied.
    pub fn boxed(&self) -> Box<dyn Design + '_> {
        match self {
            Self::Memory(genotypes) => Box::new(genotypes.borrowed()),
            Self::Disk(stored) => Box::new(stored.clone()),
        }
    }

    /// The design itself.
    pub fn into_design(self) -> Box<dyn Design> {
        match self {
            Self::Memory(genotypes) => Box::new(genotypes),
            Self::Disk(stored) => Box::new(stored),
        }
    }

    /// How many people have which genotype of variant j.
    pub fn counts(&self, j: usize) -> Counts {
        match self {
            Self::Memory(genotypes) => genotypes.counts(j),
            Self::Disk(stored) => match &*stored.layout {
                Layout::Packed(bed) => bed.counts[j],
                _ => Counts::default(),
            },
        }
    }

    /// Standard deviation of variant j.
    pub fn deviation(&self, j: usize) -> f64 {
        (self.counts(j).moments().centred / self.design().nrows() as f64).sqrt()
    }

    /// r² of variant j with each of the others, over all people; zero where one does not vary.
    pub fn r2(&self, j: usize, others: &[usize]) -> Result<Vec<f64>> {
        let (mut column, own, mut found) = (Column::default(), self.counts(j).moments(), vec![0.0; others.len()]);
        self.design().column(j, &mut column)?;
        column.values.iter_mut().for_each(|x| *x -= own.mean);
        self.design().correlate(others, &column.values, &mut found)?;
        for (found, &k) in found.iter_mut().zip(others) {
            let product = own.centred * self.counts(k).moments().centred;
            *found = if product > 0.0 { (*found * *found / product).min(1.0) } else { 0.0 };
        }
        Ok(found)
    }

    /// Bytes of the packed genotypes.
    pub fn bytes(&self) -> u64 {
        (self.design().nrows().div_ceil(4) * self.design().ncols()) as u64
    }

    /// What was read so far from a file; nothing where they are in memory.
    pub fn reading(&self) -> Option<Reading> {
        match self {
            Self::Memory(_) => None,
            Self::Disk(stored) => Some(stored.reading()),
        }
    }
}

/// Holds the length of a file against what it should have, and its first bytes.
fn check(file: &Source, people: usize, variants: usize) -> Result<()> {
    let (stride, mut magic) = (people.div_ceil(4), [0; 3]);
    let expected = stride.checked_mul(variants).and_then(|bytes| bytes.checked_add(MAGIC.len()));
    if expected.map(|bytes| bytes as u64) != Some(file.len()) {
        let found = file.len();
        let reason =
            format!("{found} bytes are not {variants} variants of {people} people, {stride} bytes each, and 3");
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
