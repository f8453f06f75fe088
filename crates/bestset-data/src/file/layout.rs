//! How the lines of a text file are laid out: delimiter, names, decimal sign.

use super::delimiter::seen;
use super::is_missing;
use super::records::{Records, number};
use super::source::Source;
use super::{Header, ReadOptions};
use crate::error::{Result, quoted};
use ::csv::ByteRecord;
use std::collections::HashSet;

/// Records that are looked at: what a thousand do not show is not the layout of the file.
const RECORDS: usize = 1000;
/// Fields that are looked at, three records at least: wide files have millions in each.
const FIELDS: usize = 1_000_000;

/// What was found out.
pub struct Layout {
    pub delimiter: u8,
    /// The first line has the names.
    pub header: bool,
    /// The first field of a row is its own name.
    pub row_names: bool,
    /// That field has an empty place among the names.
    pub unnamed: bool,
    /// The decimal sign.
    pub decimal: u8,
    /// What the user should know of it.
    pub notes: Vec<String>,
}

impl Layout {
    pub fn find(source: &Source, options: &ReadOptions) -> Result<Self> {
        let delimiter = options.delimiter.unwrap_or_else(|| delimiter(source));
        let sample = sample(source, delimiter)?;
        let Some((first, rows)) = sample.split_first() else {
            return Err(source.bad("the file is empty").into());
        };
        let mut notes = Vec::new();
        let header = match options.header {
            Header::Yes => true,
            Header::No => false,
            Header::Auto => has_names(first, rows, &mut notes),
        };
        // A delimiter at the end of every row makes a field more as well, an empty one.
        let filled = |row: &ByteRecord| row.iter().next_back().is_some_and(|field| !is_missing(field));
        let longer = |row: &ByteRecord| row.len() == first.len() + 1;
        let longer = header && rows.iter().all(longer) && rows.iter().any(filled);
        let unnamed = header && first.get(0).is_some_and(<[u8]>::is_empty) && first.len() > 1 && counts(rows);
        let row_names = longer || unnamed;
        if row_names {
            notes.push("the first field of every row has no name; it is left out as the name of the row".to_owned());
        }
        let rows = if header { rows } else { &sample[..] };
        let decimal = options.decimal.unwrap_or_else(|| decimal(rows, delimiter, header, &mut notes));
        Ok(Self { delimiter, header, row_names, unnamed, decimal, notes })
    }
}

/// Whether the first fields count the rows, from zero or one.
fn counts(rows: &[ByteRecord]) -> bool {
    let number = |row: &ByteRecord| std::str::from_utf8(row.get(0)?).ok()?.parse::<usize>().ok();
    let first = rows.first().and_then(number);
    let next = |(k, row): (usize, &ByteRecord)| number(row) == first.map(|first| first + k);
    matches!(first, Some(0 | 1)) && rows.iter().enumerate().all(next)
}

/// The first records.
fn sample(source: &Source, delimiter: u8) -> Result<Vec<ByteRecord>> {
    let mut records = Records::open(source, delimiter)?;
    let (mut sample, mut record, mut fields) = (Vec::new(), ByteRecord::new(), 0);
    while sample.len() < RECORDS && (fields < FIELDS || sample.len() < 3) && records.next(&mut record)? {
        fields += record.len();
        sample.push(record.clone());
    }
    Ok(sample)
}

/// Tabs by the name; else what occurs most often in the first line, commas before others; else blanks that divide the first two
/// lines alike.
fn delimiter(source: &Source) -> u8 {
    if source.is_tab_separated() {
        return b'\t';
    }
    seen(source.start()).unwrap_or(b',')
}

/// Whether the first line has names: if none of its fields is a number (Na may be sodium: one name that is nothing else is
/// enough), or if numbers among them are names as well.
fn has_names(first: &ByteRecord, rows: &[ByteRecord], notes: &mut Vec<String>) -> bool {
    let value = |field: &[u8]| number(field, b'.').or_else(|| number(field, b','));
    if first.iter().all(|field| value(field).is_none()) {
        return !first.iter().all(is_missing);
    }
    let shift = rows.first().map_or(0, |row| usize::from(row.len() == first.len() + 1));
    let below = |k: usize| rows.iter().filter_map(move |row| row.get(k + shift)).filter(|field| !is_missing(field));
    let is_word = |field: &[u8]| value(field).is_none() && !is_missing(field);
    let mut words = (0..first.len()).filter(|&k| is_word(&first[k]));
    let numbers: Vec<usize> = (0..first.len()).filter(|&k| value(&first[k]).is_some()).collect();
    let distinct = first.iter().collect::<HashSet<_>>().len() == first.len();
    let whole = |k: &usize| first[*k].iter().all(u8::is_ascii_digit);
    // A word over numbers is of another kind than they are.
    let over = |k: usize| below(k).next().is_some() && below(k).all(|field| value(field).is_some());
    let Some(word) = words.find(|&k| over(k)).filter(|_| distinct && numbers.iter().all(whole)) else {
        return false;
    };
    let certain = numbers.iter().all(|&k| below(k).any(|field| value(field).is_some_and(|x| x.fract() != 0.0)));
    if !certain {
        let word = String::from_utf8_lossy(&first[word]);
        notes.push(format!(
            "the first line is taken as names, since {} stands over numbers (--header no if it is a row)",
            quoted(word)
        ));
    }
    true
}

/// A comma where numbers have it and none has a point; among fields that commas divide it takes an option.
fn decimal(rows: &[ByteRecord], delimiter: u8, header: bool, notes: &mut Vec<String>) -> u8 {
    let columns = rows.first().map_or(0, ByteRecord::len);
    let column = |k: usize| rows.iter().filter_map(move |row| row.get(k)).filter(|field| !is_missing(field));
    let has = |field: &[u8], sign: u8| memchr::memchr(sign, field).is_some();
    let numeric = |k: &usize| column(*k).all(|field| number(field, b'.').or_else(|| number(field, b',')).is_some());
    let numeric: Vec<usize> = (0..columns).filter(numeric).collect();
    let point = numeric.iter().any(|&k| column(k).any(|field| has(field, b'.')));
    let example = numeric.iter().flat_map(|&k| column(k)).find(|field| has(field, b','));
    match example {
        Some(field) if !point && delimiter != b',' => {
            let (field, line) =
                (String::from_utf8_lossy(field), if header { "below the names" } else { "in the file" });
            notes.push(format!(
                "the comma is the decimal sign, as in {} {line} (--decimal . if it is not)",
                quoted(field)
            ));
            b','
        }
        _ => b'.',
    }
}
