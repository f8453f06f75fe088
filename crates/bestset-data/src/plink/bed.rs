//! Packed genotypes: which variants are kept, and where they are read from.

use super::CohortOptions;
use crate::error::{FileError, Result};
use bestset::design::{Counts, GenotypeFile, People};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

/// What was kept.
pub struct Packed {
    pub genotypes: GenotypeFile,
    /// For each variant of the file whether it was.
    pub kept: Vec<bool>,
    tally: Tally,
}

/// What a filter has seen.
#[derive(Default)]
struct Tally {
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
        if self.tally.unknown > 0 {
            let (count, most) = (self.tally.unknown, options.most_missing);
            remarks.push(format!("Left out: {count} of {all} variants not known of more than {most} of the people."));
        }
        if self.tally.rare > 0 {
            let (count, least) = (self.tally.rare, options.least_frequency);
            remarks.push(format!("Left out: {count} of {all} variants with an allele rarer than {least}."));
        }
        if self.tally.missing > 0 {
            remarks.push(format!("Missing genotypes, set to the mean of their variant: {}.", self.tally.missing));
        }
        remarks
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
            format!(
                "it ends after variant {whole}: the file is cut off, and is to be copied again, or the .bim or .fam file is of another cohort"
            )
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

/// What the options keep of a file, of the people who count: in memory where there is room, or where it is.
pub fn read(path: &Path, people: &People, variants: usize, options: &CohortOptions) -> Result<Packed> {
    open(path, people.all(), variants)?;
    let (mut kept, mut tally) = (Vec::with_capacity(variants), Tally::default());
    let mut keep = |counts: Counts| {
        let (frequency, missing) = (counts.frequency(), f64::from(counts.missing) / people.kept() as f64);
        let (is_unknown, is_rare) =
            (missing > options.most_missing, frequency.min(1.0 - frequency) < options.least_frequency);
        match (is_unknown, is_rare) {
            (true, _) => tally.unknown += 1,
            (false, true) => tally.rare += 1,
            (false, false) => tally.missing += u64::from(counts.missing),
        }
        kept.push(!is_unknown && !is_rare);
        !is_unknown && !is_rare
    };
    let limits = bestset::Options { max_memory: options.max_memory, ..bestset::Options::default() };
    let room = if options.on_disk { 0 } else { limits.memory_limit() };
    let found = GenotypeFile::open(path, people, variants, room, &mut keep);
    if kept.len() == variants && !kept.contains(&true) {
        let problem = "no variant is left: every one is too rare (--maf) or too often not known (--geno)";
        return Err(FileError::new(path, problem).into());
    }
    let genotypes = found.map_err(|e| match e {
        bestset::Error::Read { place, reason, .. } => {
            FileError::new(path, format!("cannot be read at {place}: {reason}"))
        }
        other => FileError::new(path, other.to_string()),
    })?;
    Ok(Packed { genotypes, kept, tally })
}
