//! CSV and its relatives, in two passes over the file: one counts lines, the other puts the numbers where they belong.

use super::fill::Fill;
use super::source::Source;
use super::{Header, ReadOptions};
use crate::error::{FileError, Result};
use crate::matrix::Names;
use crate::table::{Gap, Table, TextColumn};
use ::csv::{ByteRecord, Reader, ReaderBuilder};
use std::collections::{BTreeMap, HashMap};
use std::io::{BufRead, Read};

/// What stands for a missing value, in any case of letters.
const MISSING: [&[u8]; 8] = [b"", b"na", b"n/a", b"nan", b"null", b"none", b"?", b"."];

pub fn read(source: &Source, options: &ReadOptions) -> Result<Table> {
    let delimiter = options.delimiter.unwrap_or_else(|| guess_delimiter(source));
    let (lines, bytes) = count(source)?;
    let mut reader = ReaderBuilder::new()
        .delimiter(delimiter)
        .has_headers(false)
        .flexible(true)
        .trim(::csv::Trim::All)
        .from_reader(skip_mark(source)?);
    let mut record = ByteRecord::new();
    if !next(source, &mut reader, &mut record)? {
        return Err(source.bad("the file is empty").into());
    }
    let columns = record.len();
    let has_header = match options.header {
        Header::Yes => true,
        Header::No => false,
        // Na may be sodium: one name that is nothing else is enough.
        Header::Auto => record.iter().all(|field| parse(field).is_none()) && !record.iter().all(is_missing),
    };
    let names = if has_header { names(source, &record)? } else { (1..=columns).map(|k| format!("x{k}")).collect() };
    // A row has a byte for each of its fields, delimiters and the end of the line taken together.
    let room = lines.min(bytes / columns as u64 + 1) as usize;
    let mut rows = Rows::new(source, names, options)?;
    let (mut pending, mut started) = (!has_header, None);
    let first = loop {
        if !pending && !next(source, &mut reader, &mut record)? {
            break None;
        }
        pending = false;
        started.get_or_insert_with(|| record.position().map_or(1, |p| p.line()));
        if rows.decide(&record)? {
            break Some(());
        }
    };
    let mut fill = Fill::new(&source.path, room, rows.numbers(), options)?;
    rows.replay(&mut fill)?;
    if first.is_some() {
        while next(source, &mut reader, &mut record)? {
            rows.take(&record, &mut fill)?;
        }
    }
    Ok(rows.finish(fill, started))
}

/// The next record.
fn next(source: &Source, reader: &mut Reader<Box<dyn BufRead + Send>>, record: &mut ByteRecord) -> Result<bool> {
    reader.read_byte_record(record).map_err(|e| {
        let line = e.position().map(|p| p.line());
        let mut error = match e.into_kind() {
            ::csv::ErrorKind::Io(e) => source.failed(e),
            other => source.bad(format!("is not CSV: {other:?}")),
        };
        error.line = line;
        error.into()
    })
}

/// Lines, the last one counted also where it does not end, and bytes.
fn count(source: &Source) -> Result<(u64, u64)> {
    let mut reader = source.open()?;
    let (mut lines, mut bytes) = (1, 0);
    loop {
        let block = reader.fill_buf().map_err(|e| source.failed(e))?;
        if block.is_empty() {
            return Ok((lines, bytes));
        }
        // A lone carriage return ends a line as well.
        lines += memchr::memchr2_iter(b'\n', b'\r', block).count() as u64;
        bytes += block.len() as u64;
        let length = block.len();
        reader.consume(length);
    }
}

/// The bytes after the mark that some programs begin UTF-8 files with.
fn skip_mark(source: &Source) -> Result<Box<dyn BufRead + Send>> {
    let mut reader = source.open()?;
    if source.start().starts_with(b"\xef\xbb\xbf") {
        reader.read_exact(&mut [0; 3]).map_err(|e| source.failed(e))?;
    }
    Ok(reader)
}

/// Tabs by the name; else what occurs most often in the first line, commas before others.
fn guess_delimiter(source: &Source) -> u8 {
    if source.is_tab_separated() {
        return b'\t';
    }
    let start = source.start();
    let end = memchr::memchr2(b'\n', b'\r', start).unwrap_or(start.len());
    let mut quoted = false;
    let mut counts = [0usize; 4];
    const KNOWN: [u8; 4] = [b'|', b'\t', b';', b','];
    for byte in &start[..end] {
        quoted ^= *byte == b'"';
        if let Some(k) = KNOWN.iter().position(|d| d == byte && !quoted) {
            counts[k] += 1;
        }
    }
    let best = (0..KNOWN.len()).max_by_key(|&k| counts[k]).unwrap_or(3);
    if counts[best] == 0 { b',' } else { KNOWN[best] }
}

fn names(source: &Source, record: &ByteRecord) -> Result<Vec<String>> {
    let name = |(k, field): (usize, &[u8])| match std::str::from_utf8(field) {
        Ok("") => Ok(format!("x{}", k + 1)),
        Ok(name) => Ok(name.to_owned()),
        Err(_) => Err(source.bad(format!("the name of column {} is not UTF-8", k + 1)).at_line(1).into()),
    };
    record.iter().enumerate().map(name).collect()
}

fn parse(field: &[u8]) -> Option<f64> {
    let value: f64 = std::str::from_utf8(field).ok()?.parse().ok()?;
    (!value.is_nan()).then_some(value)
}

fn is_missing(field: &[u8]) -> bool {
    field.len() <= 4 && MISSING.iter().any(|word| field.eq_ignore_ascii_case(word))
}

/// What a column is.
enum Kind {
    /// Not known before its first value.
    Open,
    Number,
    Text {
        levels: Vec<String>,
        known: HashMap<Vec<u8>, u32>,
        codes: Vec<u32>,
    },
}

impl Kind {
    fn text() -> Self {
        Self::Text { levels: Vec::new(), known: HashMap::new(), codes: Vec::new() }
    }
}

/// The columns in the making.
struct Rows<'s> {
    source: &'s Source,
    names: Vec<String>,
    kinds: Vec<Kind>,
    gaps: BTreeMap<usize, Gap>,
    /// Records read before every column was known.
    waiting: Vec<ByteRecord>,
    rows: u64,
}

/// Records that are kept until the first value of every column has been seen; a column without one by then is of numbers.
const WAITING: usize = 1000;

impl<'s> Rows<'s> {
    fn new(source: &'s Source, names: Vec<String>, options: &ReadOptions) -> Result<Self> {
        let mut kinds: Vec<Kind> = names.iter().map(|_| Kind::Open).collect();
        for wanted in &options.categorical {
            let by_number = || wanted.parse::<usize>().ok().and_then(|k| k.checked_sub(1)).filter(|k| *k < names.len());
            match names.iter().position(|name| name == wanted).or_else(by_number) {
                Some(k) => kinds[k] = Kind::text(),
                None => return Err(source.bad(format!("there is no column {wanted:?} to be categorical")).into()),
            }
        }
        Ok(Self { source, names, kinds, gaps: BTreeMap::new(), waiting: Vec::new(), rows: 0 })
    }

    /// Looks at a record for columns not known yet; true when all are.
    fn decide(&mut self, record: &ByteRecord) -> Result<bool> {
        self.check_length(record)?;
        let mut open = false;
        for (kind, field) in self.kinds.iter_mut().zip(record) {
            if matches!(kind, Kind::Open) && !is_missing(field) {
                *kind = if parse(field).is_some() { Kind::Number } else { Kind::text() };
            }
            open |= matches!(kind, Kind::Open);
        }
        self.waiting.push(record.clone());
        let done = !open || self.waiting.len() >= WAITING;
        Ok(done)
    }

    fn numbers(&mut self) -> usize {
        self.kinds.iter_mut().filter(|k| matches!(k, Kind::Open)).for_each(|k| *k = Kind::Number);
        self.kinds.iter().filter(|k| matches!(k, Kind::Number)).count()
    }

    fn replay(&mut self, fill: &mut Fill) -> Result<()> {
        let waiting = std::mem::take(&mut self.waiting);
        waiting.iter().try_for_each(|record| self.take(record, fill))
    }

    fn check_length(&self, record: &ByteRecord) -> Result<()> {
        let (found, expected) = (record.len(), self.names.len());
        if found == expected {
            return Ok(());
        }
        Err(self.at(record, format!("the row has {found} fields, expected {expected}")).into())
    }

    fn at(&self, record: &ByteRecord, problem: String) -> FileError {
        let mut error = self.source.bad(problem);
        error.line = record.position().map(|p| p.line());
        error
    }

    fn take(&mut self, record: &ByteRecord, fill: &mut Fill) -> Result<()> {
        self.check_length(record)?;
        let row = fill.row();
        let before = row.len();
        for (k, field) in record.iter().enumerate() {
            let value = match &mut self.kinds[k] {
                Kind::Text { levels, known, codes } => {
                    codes.push(code(field, levels, known));
                    if codes.last() != Some(&TextColumn::MISSING) { 0.0 } else { f64::NAN }
                }
                _ => match parse(field) {
                    Some(value) if value.is_finite() => {
                        row.push(value);
                        continue;
                    }
                    None if is_missing(field) => {
                        row.push(f64::NAN);
                        f64::NAN
                    }
                    found => {
                        row.truncate(before);
                        return Err(self.not_a_number(record, k, field, found));
                    }
                },
            };
            if value.is_nan() {
                let line = record.position().map(|p| p.line());
                self.gaps.entry(k).or_insert(Gap { row: self.rows + 1, line, count: 0 }).count += 1;
            }
        }
        self.rows += 1;
        Ok(())
    }

    fn not_a_number(&self, record: &ByteRecord, k: usize, field: &[u8], found: Option<f64>) -> crate::Error {
        let value = String::from_utf8_lossy(field);
        let name = &self.names[k];
        let problem = match found {
            Some(_) => format!("{value:?} is not finite"),
            None => format!(
                "{value:?} is not a number, as the values above it are; if the column is of texts, say --categorical {name}"
            ),
        };
        self.at(record, problem).in_column(name).into()
    }

    fn finish(self, fill: Fill, first_line: Option<u64>) -> Table {
        let (mut texts, mut numbers) = (Vec::new(), Vec::new());
        for (position, (kind, name)) in self.kinds.into_iter().zip(self.names).enumerate() {
            match kind {
                Kind::Text { levels, codes, .. } => texts.push(TextColumn { name, position, levels, codes }),
                _ => numbers.push(name),
            }
        }
        let matrix = fill.finish(self.rows as usize);
        let (source, names) = (self.source.path.clone(), Names::Listed(numbers));
        Table { source, numbers: matrix, names, texts, label: None, gaps: self.gaps, first_line }
    }
}

fn code(field: &[u8], levels: &mut Vec<String>, known: &mut HashMap<Vec<u8>, u32>) -> u32 {
    if is_missing(field) {
        return TextColumn::MISSING;
    }
    if let Some(code) = known.get(field) {
        return *code;
    }
    let code = levels.len() as u32;
    known.insert(field.to_owned(), code);
    levels.push(String::from_utf8_lossy(field).into_owned());
    code
}
