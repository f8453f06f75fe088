//! The genotypes of a cohort, wherever there is room for them.

use super::Stored;
use super::bed::Bed;
use super::open::Layout;
use crate::design::{Column, Counts, Design, Genotypes, People, Reading};
use crate::error::{Error, Result};
use std::borrow::Cow;
use std::path::Path;

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
        let (bed, held) = Bed::open(path, people, variants, room, keep)?;
        let (rows, columns) = (people.kept(), bed.counts().len());
        if rows == 0 || columns == 0 {
            return Err(Error::Empty { rows, columns });
        }
        match held {
            Some(packed) => {
                Ok(Self::Memory(Genotypes::counted(rows, Cow::Owned(packed), Cow::Owned(bed.into_counts()))))
            }
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
                Layout::Packed(bed) => bed.counts()[j],
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
