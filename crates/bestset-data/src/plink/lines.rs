//! Lines of a text file as fields, with their numbers.

use crate::error::{FileError, Result, quoted};
use crate::file::Source;
use std::io::BufRead;
use std::path::Path;

/// Most bytes of a line: an allele of a structural variant may be long, a whole file on one line is none of these files.
const LONGEST: usize = 1 << 22;

/// What fields are divided by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Divider {
    /// Any blanks.
    Blanks,
    /// Tabs.
    Tabs,
    /// Commas.
    Commas,
}

impl Divider {
    /// What the first line of a table is divided by.
    pub fn of(line: &str) -> Self {
        if line.contains('\t') {
            Self::Tabs
        } else if line.contains(',') {
            Self::Commas
        } else {
            Self::Blanks
        }
    }

    /// The fields of a line.
    pub fn fields<'l>(self, line: &'l str) -> Vec<&'l str> {
        let plain = |field: &'l str| field.trim().trim_matches('"');
        match self {
            Self::Blanks => line.split_whitespace().map(plain).collect(),
            Self::Tabs => line.split('\t').map(plain).collect(),
            Self::Commas => line.split(',').map(plain).collect(),
        }
    }
}

/// Calls `body` with every line that is not empty and its number.
pub fn each(path: &Path, mut body: impl FnMut(u64, &str) -> Result<()>) -> Result<()> {
    let source = Source::new(path)?;
    let (mut reader, mut line, mut number) = (source.open()?, Vec::new(), 0);
    loop {
        line.clear();
        let mut part = std::io::Read::take(&mut reader, LONGEST as u64);
        if part.read_until(b'\n', &mut line).map_err(|e| source.failed(e))? == 0 {
            return Ok(());
        }
        number += 1;
        if line.len() == LONGEST {
            return Err(FileError::new(path, "the line is longer than a text file of PLINK has them")
                .at_line(number)
                .into());
        }
        let text = std::str::from_utf8(&line).map_err(|_| {
            let problem = format!("{} is not UTF-8 text", quoted(String::from_utf8_lossy(&line)));
            FileError::new(path, problem).at_line(number)
        })?;
        let text = text.trim_start_matches('\u{feff}').trim_end_matches(['\n', '\r']);
        if !text.trim().is_empty() {
            body(number, text)?;
        }
    }
}

/// Whether a field says that a value is not known: −9 is PLINK's word for it.
pub fn is_missing(field: &str) -> bool {
    crate::file::is_missing(field.as_bytes()) || field.parse::<f64>() == Ok(-9.0)
}
