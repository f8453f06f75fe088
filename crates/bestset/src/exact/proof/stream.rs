//! The bytes of a proof (docs/PROOF.md): whole numbers seven bits a byte, the lowest first; numbers as eight bytes, the lowest first.

use crate::error::{Error, Result};
use std::io::Write;

/// The first bytes: a name and the version of the format.
pub const MAGIC: &[u8; 8] = b"BSPROOF4";

/// Numbers of a proof are zero or at least this in size.
pub const LEAST: f64 = 1e-60;

/// The records.
#[derive(Debug, Clone, Copy)]
pub enum Record {
    Split = 1,
    Bound = 2,
    Psd = 3,
    Size = 4,
    Listed = 5,
    End = 6,
    Fit = 7,
    Pairs = 8,
    Coherence = 9,
    Dependent = 10,
    Covered = 11,
}

/// Bytes on their way into a file.
pub struct Stream<'w> {
    out: &'w mut (dyn Write + Send),
    /// How many were written.
    pub bytes: u64,
}

impl<'w> Stream<'w> {
    pub fn new(out: &'w mut (dyn Write + Send)) -> Self {
        Self { out, bytes: 0 }
    }

    pub fn raw(&mut self, bytes: &[u8]) -> Result<()> {
        self.bytes += bytes.len() as u64;
        self.out.write_all(bytes).map_err(|error| Error::File { what: "proof", reason: error.to_string() })
    }

    pub fn record(&mut self, record: Record) -> Result<()> {
        self.raw(&[record as u8])
    }

    pub fn flag(&mut self, value: bool) -> Result<()> {
        self.raw(&[u8::from(value)])
    }

    pub fn whole(&mut self, mut value: usize) -> Result<()> {
        while value >= 0x80 {
            self.raw(&[(value & 0x7f) as u8 | 0x80])?;
            value >>= 7;
        }
        self.raw(&[value as u8])
    }

    pub fn real(&mut self, value: f64) -> Result<()> {
        self.raw(&value.to_le_bytes())
    }

    pub fn text(&mut self, text: &str) -> Result<()> {
        self.whole(text.len())?;
        self.raw(text.as_bytes())
    }

    /// Ascending features: their number, the first, and what each exceeds the one before by.
    pub fn features(&mut self, features: &[usize]) -> Result<()> {
        self.whole(features.len())?;
        let mut last = 0;
        for &j in features {
            self.whole(j - last)?;
            last = j;
        }
        Ok(())
    }

    /// Coefficients by ascending features, those that are as good as zero left out.
    pub fn sparse(&mut self, mut pairs: Vec<(usize, f64)>) -> Result<()> {
        pairs.retain(|p| p.1.abs() >= LEAST);
        self.features(&pairs.iter().map(|p| p.0).collect::<Vec<_>>())?;
        pairs.iter().try_for_each(|p| self.real(p.1))
    }

    pub fn flush(&mut self) -> Result<()> {
        self.out.flush().map_err(|error| Error::File { what: "proof", reason: error.to_string() })
    }
}
