//! CSV and its relatives, in two passes over the file: one counts lines, the other puts the numbers where they belong.

use super::fill::Fill;
use super::layout::Layout;
use super::records::{Records, is_written_number, not_utf8, number};
use super::source::Source;
use super::{ReadOptions, Survey};
use super::{is_missing, is_missing_text};
use crate::error::{FileError, Result, infinite, quoted};
use crate::levels::Levels;
use crate::matrix::Names;
use crate::table::{Gap, Table, TextColumn};
use ::csv::ByteRecord;
use std::collections::BTreeMap;
use std::io::BufRead;
use std::ops::Range;

/// The size of the table, as its first line and the number of its lines show it.
pub fn survey(source: &Source, options: &ReadOptions) -> Result<Survey> {
    let layout = Layout::find(source, options)?;
    let (names, rows, ..) = begin(source, &layout)?;
    Ok(Survey { rows: rows as u64, columns: names.len(), names: Names::Listed(names) })
}

/// The names of all columns, how many rows there are at the most, and the records from the first on, which is read.
fn begin<'s>(source: &'s Source, layout: &Layout) -> Result<(Vec<String>, usize, Records<'s>, ByteRecord)> {
    let (lines, bytes) = count(source)?;
    let (mut records, mut record) = (Records::open(source, layout.delimiter)?, ByteRecord::new());
    records.next(&mut record)?;
    let columns = record.len();
    let names = if layout.header {
        names(source, &record, usize::from(layout.unnamed))?
    } else {
        (1..=columns).map(|k| format!("x{k}")).collect()
    };
    // A row has a byte for each of its fields, delimiters and the end of the line taken together.
    Ok((names, lines.min(bytes / columns as u64 + 1) as usize, records, record))
}

pub fn read(source: &Source, options: &ReadOptions) -> Result<Table> {
    let layout = Layout::find(source, options)?;
    let (names, room, mut records, mut record) = begin(source, &layout)?;
    let mut pending = !layout.header;
    let mut rows = CsvRows::new(source, names, layout, options)?;
    let mut started = None;
    let first = loop {
        if !pending && !records.next(&mut record)? {
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
        while records.next(&mut record)? {
            rows.take(&record, &mut fill)?;
        }
    }
    rows.finish(fill, started)
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

/// The names on the first line, but for so many fields.
fn names(source: &Source, record: &ByteRecord, skipped: usize) -> Result<Vec<String>> {
    let name = |(k, field): (usize, &[u8])| match std::str::from_utf8(field) {
        Ok("") => Ok(format!("x{}", k + 1)),
        Ok(name) => Ok(name.to_owned()),
        Err(_) => Err(source.bad(format!("column {}: the name {}", k + 1, not_utf8(field))).at_line(1).into()),
    };
    record.iter().enumerate().skip(skipped).map(name).collect()
}

/// What a column is.
enum Kind {
    /// Not known before its first value.
    Open,
    Number,
    Text {
        levels: Levels,
        codes: Vec<u32>,
        /// The user said so.
        told: bool,
    },
}

impl Kind {
    fn text(told: bool) -> Self {
        Self::Text { levels: Levels::default(), codes: Vec::new(), told }
    }
}

/// The columns in the making.
struct CsvRows<'s> {
    source: &'s Source,
    layout: Layout,
    /// Of a row, without its own name.
    fields: usize,
    /// The columns that are read, and their names.
    range: Range<usize>,
    names: Vec<String>,
    kinds: Vec<Kind>,
    gaps: BTreeMap<usize, Gap>,
    /// Records read before every column was known.
    waiting: Vec<ByteRecord>,
    rows: u64,
}

/// Records that are kept until the first value of every column has been seen; a column without one by then is of numbers.
const WAITING: usize = 1000;

impl<'s> CsvRows<'s> {
    fn new(source: &'s Source, names: Vec<String>, layout: Layout, options: &ReadOptions) -> Result<Self> {
        let (fields, range) = (names.len(), options.range(names.len()));
        let mut kinds: Vec<Kind> = names.iter().map(|_| Kind::Open).collect();
        for wanted in &options.categorical {
            let by_number = || wanted.parse::<usize>().ok().and_then(|k| k.checked_sub(1)).filter(|k| *k < names.len());
            match names.iter().position(|name| name == wanted).or_else(by_number) {
                Some(k) => kinds[k] = Kind::text(true),
                None => {
                    let problem = format!("there is no column {} to be categorical", quoted(wanted));
                    return Err(source.bad(problem).into());
                }
            }
        }
        let (names, kinds) = (names[range.clone()].to_vec(), kinds.drain(range.clone()).collect());
        let (gaps, waiting) = (BTreeMap::new(), Vec::new());
        Ok(Self { source, layout, fields, range, names, kinds, gaps, waiting, rows: 0 })
    }

    /// The fields of a record that belong to a column.
    fn fields<'r>(&self, record: &'r ByteRecord) -> impl Iterator<Item = &'r [u8]> + use<'r> {
        record.iter().skip(usize::from(self.layout.row_names) + self.range.start).take(self.range.len())
    }

    /// Looks at a record for columns not known yet; true when all are.
    fn decide(&mut self, record: &ByteRecord) -> Result<bool> {
        self.check_length(record)?;
        let (mut open, fields, decimal) = (false, self.fields(record), self.layout.decimal);
        for (kind, field) in self.kinds.iter_mut().zip(fields) {
            if matches!(kind, Kind::Open) && !is_missing(field) {
                *kind = if number(field, decimal).is_some() { Kind::Number } else { Kind::text(false) };
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
        let (found, expected) = (record.len(), self.fields + usize::from(self.layout.row_names));
        if found == expected {
            return Ok(());
        }
        let delimiter = match self.layout.delimiter {
            b' ' => "blanks".to_owned(),
            other => format!("{:?}", char::from(other)),
        };
        let problem = format!("the row has {found} fields, expected {expected}; divided by {delimiter} (--delimiter)");
        Err(self.at(record, problem).into())
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
        for (k, field) in self.fields(record).enumerate() {
            let value = match &mut self.kinds[k] {
                Kind::Text { codes, .. } if is_missing_text(field) => {
                    codes.push(TextColumn::MISSING);
                    f64::NAN
                }
                Kind::Text { levels, codes, .. } => match levels.code_of(field) {
                    Ok(code) => {
                        codes.push(code);
                        0.0
                    }
                    Err(_) => {
                        row.truncate(before);
                        return Err(self.at(record, not_utf8(field)).in_column(&self.names[k]).into());
                    }
                },
                _ => match number(field, self.layout.decimal) {
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
        let text = String::from_utf8_lossy(field);
        let (name, value) = (&self.names[k], quoted(&text));
        let decimal = self.layout.decimal;
        let problem = match found {
            Some(_) => infinite(value),
            None if is_written_number(&text, decimal) => format!("{value} is not a number; {}", self.advice(name)),
            None => format!(
                "{value} is not a number, as the values above it are; if the column is of texts, say --categorical {name}"
            ),
        };
        self.at(record, problem).in_column(name).into()
    }

    /// What to do where numbers are not written as they are read.
    fn advice(&self, name: &str) -> String {
        let (sign, other) = if self.layout.decimal == b',' { (',', '.') } else { ('.', ',') };
        format!(
            "numbers are read with the decimal sign {sign:?} and nothing between thousands: say --decimal {other} if that is their \
             decimal sign, or --categorical {name} if they are categories"
        )
    }

    /// Texts that are all numbers as people write them, and those that stand among numbers in most rows, are not taken for categories: what a
    /// column is does not depend on the row that the odd one is in.
    fn check_text(&self, text: &TextColumn, first_line: Option<u64>) -> Result<()> {
        let (decimal, name) = (self.layout.decimal, &text.name);
        let written: Vec<bool> = text.levels.iter().map(|level| is_written_number(level, decimal)).collect();
        let plain: Vec<bool> = text.levels.iter().map(|level| number(level.as_bytes(), decimal).is_some()).collect();
        let known = || text.codes.iter().filter(|code| **code != TextColumn::MISSING);
        let (numbers, values) = (known().filter(|code| plain[**code as usize]).count(), known().count());
        let (places, reason) = if written.contains(&true) && plain.iter().zip(&written).all(|(p, w)| *p || *w) {
            (written, self.advice(name))
        } else if 2 * numbers > values {
            let odd = plain.iter().map(|p| !p).collect();
            let others = format!("{numbers} of the {values} values of the column are");
            (odd, format!("{others}: leave the field empty where the number is missing, or say --categorical {name}"))
        } else {
            return Ok(());
        };
        let is_odd = |code: &u32| places.get(*code as usize).copied().unwrap_or(false);
        let row = text.codes.iter().position(is_odd).unwrap_or_default();
        let problem = format!("{} is not a number; {reason}", quoted(&text.levels[text.codes[row] as usize]));
        let mut error = self.source.bad(problem).at_row(row as u64 + 1).in_column(name);
        error.line = first_line.map(|line| line + row as u64);
        Err(error.into())
    }

    fn finish(mut self, fill: Fill, first_line: Option<u64>) -> Result<Table> {
        let (mut texts, mut numbers) = (Vec::new(), Vec::new());
        let columns = std::mem::take(&mut self.kinds).into_iter().zip(std::mem::take(&mut self.names));
        for (position, (kind, name)) in columns.enumerate() {
            match kind {
                Kind::Text { levels, codes, told } => {
                    let text = TextColumn { name, position, levels: levels.texts, codes };
                    if !told {
                        self.check_text(&text, first_line)?;
                    }
                    texts.push(text);
                }
                _ => numbers.push(name),
            }
        }
        let matrix = fill.finish(self.rows as usize);
        let (source, names, notes) = (self.source.path.clone(), Names::Listed(numbers), self.layout.notes);
        Ok(Table { source, numbers: matrix, names, texts, label: None, gaps: self.gaps, first_line, notes })
    }
}
