//! Packed genotypes, read block by block: what is left out never takes memory.

use super::CohortOptions;
use crate::error::{FileError, Result};
use crate::file::{ReadOptions, check_memory};
use bestset::design::{Counts, People};
use rayon::prelude::*;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

/// Bytes that are read at once.
const BLOCK: usize = 1 << 22;

/// Which people and which variants are kept.
pub struct Filter<'a> {
    pub people: &'a People,
    pub least_frequency: f64,
    pub most_missing: f64,
    pub max_memory: Option<usize>,
}

/// What was kept.
pub struct Packed {
    pub packed: Vec<u8>,
    /// For each variant of the file whether it was.
    pub kept: Vec<bool>,
    rare: u64,
    unknown: u64,
    /// Genotypes that are not known among those kept.
    missing: u64,
}

impl Packed {
    /// What was left out, a sentence each.
    pub fn remarks(&self, options: &CohortOptions) -> Vec<String> {
        let all = self.kept.len();
        let mut remarks = Vec::new();
        if self.unknown > 0 {
            let (count, most) = (self.unknown, options.most_missing);
            remarks.push(format!("Left out: {count} of {all} variants not known of more than {most} of the people."));
        }
        if self.rare > 0 {
            let (count, least) = (self.rare, options.least_frequency);
            remarks.push(format!("Left out: {count} of {all} variants with an allele rarer than {least}."));
        }
        if self.missing > 0 {
            remarks.push(format!("Missing genotypes, set to the mean of their variant: {}.", self.missing));
        }
        remarks
    }
}

enum Verdict {
    Kept(Counts),
    Rare,
    Unknown,
}

impl Filter<'_> {
    fn judge(&self, column: &[u8]) -> Verdict {
        let counts = self.people.count(column);
        let (frequency, missing) = (counts.frequency(), f64::from(counts.missing) / self.people.kept() as f64);
        if missing > self.most_missing {
            Verdict::Unknown
        } else if frequency.min(1.0 - frequency) < self.least_frequency {
            Verdict::Rare
        } else {
            Verdict::Kept(counts)
        }
    }
}

/// Opens a `.bed` file and holds its length against that of the other two.
fn open(path: &Path, people: usize, variants: usize) -> Result<File> {
    let bad = |problem: String| FileError::new(path, problem);
    let failed = |e: std::io::Error| bad(format!("cannot be read: {e}"));
    let mut file = File::open(path).map_err(failed)?;
    let metadata = file.metadata().map_err(failed)?;
    if !metadata.is_file() {
        return Err(bad("is not a file: genotypes are read from a file, not from a pipe".to_owned()).into());
    }
    let mut magic = Vec::new();
    file.by_ref().take(3).read_to_end(&mut magic).map_err(failed)?;
    match magic[..] {
        [0x6c, 0x1b, 0x01] => {}
        [0x6c, 0x1b, 0x00] => {
            let problem = "is ordered by people, as very old files are: `plink --bfile NAME --make-bed --out NEW` writes one that \
                           is ordered by variants";
            return Err(bad(problem.to_owned()).into());
        }
        [0x1f, 0x8b, ..] | [0x28, 0xb5, ..] => return Err(bad("is compressed: decompress it first".to_owned()).into()),
        _ => {
            let found = magic.iter().map(|b| format!("{b:02x}")).collect::<Vec<_>>().join(" ");
            return Err(bad(format!("is no .bed file: it begins with {found:?}, not with 6c 1b 01")).into());
        }
    }
    let stride = people.div_ceil(4) as u128;
    let (found, expected) = (u128::from(metadata.len()), 3 + stride * variants as u128);
    if found == expected {
        return Ok(file);
    }
    let whole = (found - 3) / stride;
    let what = format!(
        "has {found} bytes; {variants} variants (.bim) of {people} people (.fam) take {expected}, {stride} bytes each"
    );
    let hint = match found < expected {
        true => {
            format!("it ends after variant {whole}: the file is cut off, or the .bim or .fam file is of another cohort")
        }
        false => "the .bim or .fam file is cut off, or of another cohort".to_owned(),
    };
    Err(bad(format!("{what}; {hint}")).into())
}

/// Single columns of a file.
pub struct Columns<'p> {
    path: &'p Path,
    file: File,
    people: usize,
}

impl<'p> Columns<'p> {
    pub fn open(path: &'p Path, people: usize, variants: usize) -> Result<Self> {
        Ok(Self { path, file: open(path, people, variants)?, people })
    }

    /// Copies of the first allele of a variant, `None` where they are not known.
    pub fn copies(&mut self, variant: usize) -> Result<Vec<Option<f64>>> {
        let stride = self.people.div_ceil(4);
        let mut packed = vec![0; stride];
        let place = SeekFrom::Start(3 + stride as u64 * variant as u64);
        let read = self.file.seek(place).and_then(|_| self.file.read_exact(&mut packed));
        read.map_err(|e| FileError::new(self.path, format!("variant {} cannot be read: {e}", variant + 1)))?;
        let code = |i: usize| (packed[i / 4] >> (2 * (i % 4))) as usize & 3;
        Ok((0..self.people).map(|i| [Some(2.0), None, Some(1.0), Some(0.0)][code(i)]).collect())
    }
}

/// Reads what a filter keeps.
pub fn read(path: &Path, people: usize, variants: usize, filter: &Filter<'_>) -> Result<Packed> {
    let mut file = open(path, people, variants)?;
    let (stride, width) = (people.div_ceil(4), filter.people.kept().div_ceil(4));
    let everybody = filter.people.kept() == people;
    let options = ReadOptions { max_memory: filter.max_memory, ..ReadOptions::default() };
    check_memory(path, width as u128 * variants as u128, &options)?;
    let mut out = Packed { packed: Vec::new(), kept: Vec::with_capacity(variants), rare: 0, unknown: 0, missing: 0 };
    // Filters make it shorter; what is not used is given back.
    out.packed.reserve_exact(width * variants);
    let at_once = (BLOCK / stride).max(1);
    let mut block = vec![0; at_once * stride];
    while out.kept.len() < variants {
        let block = &mut block[..at_once.min(variants - out.kept.len()) * stride];
        file.read_exact(block).map_err(|e| {
            let from = out.kept.len() + 1;
            FileError::new(path, format!("cannot be read from variant {from} on: {e}; did it change meanwhile?"))
        })?;
        let judged: Vec<Verdict> = block.par_chunks_exact(stride).map(|column| filter.judge(column)).collect();
        for (column, verdict) in block.chunks_exact(stride).zip(judged) {
            out.kept.push(matches!(verdict, Verdict::Kept(_)));
            match verdict {
                Verdict::Rare => out.rare += 1,
                Verdict::Unknown => out.unknown += 1,
                Verdict::Kept(counts) => {
                    out.missing += u64::from(counts.missing);
                    match everybody {
                        true => out.packed.extend_from_slice(column),
                        false => filter.people.pack(column, &mut out.packed),
                    }
                }
            }
        }
    }
    if out.packed.is_empty() {
        let problem = "no variant is left: every one is too rare (--maf) or too often not known (--geno)";
        return Err(FileError::new(path, problem).into());
    }
    out.packed.shrink_to_fit();
    Ok(out)
}
