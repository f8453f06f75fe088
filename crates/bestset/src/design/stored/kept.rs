//! Moments kept beside the files they are of, so that the next solve need not read all columns for them. Only where that was asked for.

use super::Stored;
use super::source::Source;
use crate::design::Moments;
use crate::error::{Error, Result};
use std::path::Path;

/// What such a file begins with.
const TITLE: &[u8; 16] = b"bestset moments1";

/// Bytes of the moments of one column.
const EACH: usize = 24;

impl Stored {
    /// Keeps the moments of the columns, without weights, in a file beside the matrix, named after it with `.moments`, and takes them from
    /// there where the matrix is what it was then: its length, the time of its last change, and bytes here and there.
    ///
    /// A file of other moments is written anew.
    pub fn keeping_moments(mut self) -> Self {
        let mut name = self.path.file_name().unwrap_or_default().to_owned();
        name.push(".moments");
        self.moments_file = Some(self.path.with_file_name(name));
        self
    }

    /// The moments that were kept, if they are of this matrix.
    pub(super) fn read_moments(&self) -> Option<Vec<Moments>> {
        let bytes = std::fs::read(self.moments_file.as_ref()?).ok()?;
        let (said, sum) = bytes.split_at_checked(bytes.len().checked_sub(8)?)?;
        let head = self.head();
        let numbers = said.strip_prefix(&head[..])?;
        if hash(said).to_le_bytes() != sum || numbers.len() != EACH * self.ncols {
            return None;
        }
        let number = |bytes: &[u8; 8]| f64::from_le_bytes(*bytes);
        let own = |column: &[u8; EACH]| {
            let [mean, squares, centred] = column.as_chunks::<8>().0 else { return Moments::default() };
            Moments { mean: number(mean), squares: number(squares), centred: number(centred) }
        };
        Some(numbers.as_chunks::<EACH>().0.iter().map(own).collect())
    }

    /// Writes them, where that was asked for.
    pub(super) fn write_moments(&self, all: &[Moments]) -> Result<()> {
        let Some(file) = &self.moments_file else { return Ok(()) };
        let mut bytes = self.head();
        for Moments { mean, squares, centred } in all {
            [mean, squares, centred].iter().for_each(|x| bytes.extend(x.to_le_bytes()));
        }
        let sum = hash(&bytes);
        bytes.extend(sum.to_le_bytes());
        crate::file::write(file, &bytes).map_err(|e| unwritten(file, &e))
    }

    /// What says of which matrix they are.
    fn head(&self) -> Vec<u8> {
        let mut bytes = TITLE.to_vec();
        [self.nrows, self.ncols].iter().for_each(|k| bytes.extend((*k as u64).to_le_bytes()));
        self.sources().flat_map(Source::fingerprint).for_each(|k| bytes.extend(k.to_le_bytes()));
        bytes
    }
}

fn unwritten(file: &Path, error: &std::io::Error) -> Error {
    let reason = format!("{}: {error}; without keeping moments nothing is written", file.display());
    Error::File { what: "moments", reason }
}

fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3))
}
