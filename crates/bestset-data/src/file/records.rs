//! Lines as records, and fields as numbers.

use super::source::Source;
use crate::error::{Result, quoted};
use ::csv::{ByteRecord, Reader, ReaderBuilder};
use std::io::{self, BufRead, Read};

/// What is wrong with a text of another encoding, and what to do.
pub fn not_utf8(text: &[u8]) -> String {
    format!(
        "{} is not UTF-8: convert the file, for instance by iconv -f LATIN1 -t UTF-8",
        quoted(String::from_utf8_lossy(text))
    )
}

/// The number that a field is, with this decimal sign.
pub fn number(field: &[u8], decimal: u8) -> Option<f64> {
    let text = std::str::from_utf8(field).ok()?;
    let value: f64 = match decimal {
        b',' if text.contains('.') => return None,
        b',' if text.contains(',') => text.replacen(',', ".", 1).parse().ok()?,
        _ => text.parse().ok()?,
    };
    (!value.is_nan()).then_some(value)
}

/// Whether a field is a number as people write it for people, with signs that this reader does not take for one: commas or points
/// that divide thousands, or the other decimal sign.
pub fn is_written_number(text: &str, decimal: u8) -> bool {
    let (sign, other) = if decimal == b',' { (',', '.') } else { ('.', ',') };
    if text.contains(other) && number(text.as_bytes(), other as u8).is_some() {
        return true;
    }
    let text = text.trim().trim_start_matches(['+', '-']);
    let (whole, fraction) = text.split_once(sign).unwrap_or((text, ""));
    let digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
    let mut groups = whole.split(other);
    let first = groups.next().is_some_and(|g| (1..=3).contains(&g.len()) && digits(g));
    first && whole.contains(other) && groups.all(|g| g.len() == 3 && digits(g)) && digits(fraction)
}

/// The records of a file.
pub struct Records<'s> {
    source: &'s Source,
    reader: Reader<Box<dyn Read + Send>>,
}

impl<'s> Records<'s> {
    /// From the beginning; blanks, however many, divide fields where the delimiter is one.
    pub fn open(source: &'s Source, delimiter: u8) -> Result<Self> {
        let mut bytes = source.open()?;
        // Some programs begin UTF-8 files with a mark.
        if source.start().starts_with(b"\xef\xbb\xbf") {
            bytes.read_exact(&mut [0; 3]).map_err(|e| source.failed(e))?;
        }
        let bytes: Box<dyn Read + Send> = match delimiter {
            b' ' => {
                Box::new(Blanks { inner: bytes, ready: Vec::new(), given: 0, quotes: false, gap: false, start: true })
            }
            _ => Box::new(bytes),
        };
        let mut builder = ReaderBuilder::new();
        builder.delimiter(delimiter).has_headers(false).flexible(true).trim(::csv::Trim::All);
        Ok(Self { source, reader: builder.from_reader(bytes) })
    }

    /// The next record.
    pub fn next(&mut self, record: &mut ByteRecord) -> Result<bool> {
        self.reader.read_byte_record(record).map_err(|e| {
            let line = e.position().map(|p| p.line());
            let mut error = match e.into_kind() {
                ::csv::ErrorKind::Io(e) => self.source.failed(e),
                other => self.source.bad(format!("is not CSV: {other:?}")),
            };
            error.line = line;
            error.into()
        })
    }
}

/// Bytes with one blank between the words of a line, and none around them.
struct Blanks<R> {
    inner: R,
    /// Bytes made of what was read.
    ready: Vec<u8>,
    /// How many of them are handed on.
    given: usize,
    /// Within quotes blanks stay.
    quotes: bool,
    /// Blanks came after the last word.
    gap: bool,
    /// No word has come on this line.
    start: bool,
}

impl<R: BufRead> Blanks<R> {
    /// Makes more bytes; none at the end.
    fn refill(&mut self) -> io::Result<()> {
        self.ready.clear();
        self.given = 0;
        while self.ready.is_empty() {
            let block = self.inner.fill_buf()?;
            if block.is_empty() {
                return Ok(());
            }
            for &byte in block {
                match byte {
                    b' ' | b'\t' if !self.quotes => self.gap = true,
                    b'\n' | b'\r' if !self.quotes => {
                        (self.gap, self.start) = (false, true);
                        self.ready.push(byte);
                    }
                    _ => {
                        if self.gap && !self.start {
                            self.ready.push(b' ');
                        }
                        (self.gap, self.start) = (false, false);
                        self.quotes ^= byte == b'"';
                        self.ready.push(byte);
                    }
                }
            }
            let length = block.len();
            self.inner.consume(length);
        }
        Ok(())
    }
}

impl<R: BufRead> Read for Blanks<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        if self.given == self.ready.len() {
            self.refill()?;
        }
        let count = to.len().min(self.ready.len() - self.given);
        to[..count].copy_from_slice(&self.ready[self.given..self.given + count]);
        self.given += count;
        Ok(count)
    }
}
