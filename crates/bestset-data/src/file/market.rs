//! Matrix Market. The format is lines of numbers; the readers there are on the registry build other matrix types by way of
//! triplets, some without limits on what a header promises, so these few lines are our own.

use super::source::Source;
use super::{ReadOptions, SparseSurvey, check_memory, npz};
use crate::error::{Result, quoted};
use crate::matrix::{Matrix, Names};
use crate::table::Table;
use std::io::BufRead;
use std::ops::Range;

#[derive(Clone, Copy, PartialEq)]
enum Symmetry {
    General,
    Symmetric,
    Skew,
}

/// The lines that count, with their numbers.
struct Lines<'s> {
    source: &'s Source,
    reader: Box<dyn BufRead + Send>,
    line: u64,
    text: String,
}

impl Lines<'_> {
    /// The next line that is neither empty nor a comment.
    fn next(&mut self) -> Result<Option<&str>> {
        loop {
            self.text.clear();
            let length = self.reader.read_line(&mut self.text);
            let length = length.map_err(|e| self.source.failed(e).at_line(self.line + 1))?;
            if length == 0 {
                return Ok(None);
            }
            self.line += 1;
            if !self.text.trim().is_empty() && !self.text.starts_with('%') {
                return Ok(Some(self.text.trim()));
            }
        }
    }

    fn bad<T>(&self, problem: impl Into<String>) -> Result<T> {
        Err(self.source.bad(problem).at_line(self.line).into())
    }

    /// The sizes on the line after the comments.
    fn sizes<const N: usize>(&mut self) -> Result<[usize; N]> {
        let Some(text) = self.next()? else {
            return Err(self.source.bad("ends before the size of the matrix").into());
        };
        let found: Option<Vec<usize>> = text.split_ascii_whitespace().map(|word| word.parse().ok()).collect();
        match found.and_then(|sizes| <[usize; N]>::try_from(sizes).ok()) {
            Some(sizes) => Ok(sizes),
            None => {
                let problem =
                    format!("{} should be the size of the matrix, {N} whole numbers", quoted(self.text.trim()));
                self.bad(problem)
            }
        }
    }
}

/// What the first line says.
#[derive(Clone, Copy)]
struct Head {
    is_array: bool,
    pattern: bool,
    symmetry: Symmetry,
}

pub fn read(source: &Source, options: &ReadOptions) -> Result<Table> {
    let (mut lines, head) = open(source)?;
    let matrix = if head.is_array { array(&mut lines, options)? } else { coordinate(&mut lines, head, options)? };
    Ok(Table::of_numbers(source.path.clone(), matrix, Names::Numbered { first: 1 }, None))
}

/// How many entries each column has; `None` of an array, which has all of them.
pub fn survey(source: &Source) -> Result<Option<SparseSurvey>> {
    let (mut lines, head) = open(source)?;
    if head.is_array {
        return Ok(None);
    }
    let sizes @ [rows, columns, _] = sizes(&mut lines, head)?;
    let mut counts = vec![0; columns];
    each_entry(&mut lines, head, sizes, |_, j, _| counts[j as usize] += 1)?;
    Ok(Some(SparseSurvey { rows, first: 1, counts, label: None }))
}

/// The entries of some columns, from the place of the first: column, row and value.
pub fn entries(source: &Source, columns: Range<usize>) -> Result<Vec<(u32, u32, f64)>> {
    let (mut lines, head) = open(source)?;
    let (sizes, mut found) = (sizes(&mut lines, head)?, Vec::new());
    each_entry(&mut lines, head, sizes, |i, j, value| {
        if columns.contains(&(j as usize)) {
            found.push((j - columns.start as u32, i, value));
        }
    })?;
    Ok(found)
}

fn open(source: &Source) -> Result<(Lines<'_>, Head)> {
    let mut lines = Lines { source, reader: source.open()?, line: 0, text: String::new() };
    let mut first = String::new();
    lines.reader.read_line(&mut first).map_err(|e| source.failed(e))?;
    lines.line = 1;
    let words: Vec<String> = first.split_ascii_whitespace().map(str::to_ascii_lowercase).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let ["%%matrixmarket", "matrix", layout, field, symmetry] = words[..] else {
        return lines.bad("does not begin with '%%MatrixMarket matrix layout field symmetry'");
    };
    let pattern = match field {
        "real" | "double" | "integer" => false,
        "pattern" => true,
        other => return lines.bad(format!("the field {} is none of real, integer and pattern", quoted(other))),
    };
    let symmetry = match symmetry {
        "general" => Symmetry::General,
        "symmetric" => Symmetry::Symmetric,
        "skew-symmetric" => Symmetry::Skew,
        other => return lines.bad(format!("the symmetry {} is not known", quoted(other))),
    };
    let is_array = match layout {
        "coordinate" => false,
        "array" if !pattern && symmetry == Symmetry::General => true,
        other => return lines.bad(format!("the layout {} with this field and symmetry is not known", quoted(other))),
    };
    Ok((lines, Head { is_array, pattern, symmetry }))
}

fn number(lines: &Lines<'_>, text: &str) -> Result<f64> {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value),
        _ => lines.bad(format!("{} is not a finite number", quoted(text))),
    }
}

/// Every entry on a line of its own, by columns.
fn array(lines: &mut Lines<'_>, options: &ReadOptions) -> Result<Matrix> {
    let [rows, columns] = lines.sizes()?;
    let expected = rows as u128 * columns as u128;
    // A compressed line of one digit takes more than a five-hundredth of a byte.
    if expected > 1000 * u128::from(lines.source.size) {
        return lines.bad(format!("{rows} x {columns} entries are more than a file of its size can hold"));
    }
    check_memory(&lines.source.path, 8 * expected, options)?;
    let mut data = Vec::with_capacity(expected as usize);
    while let Some(text) = lines.next()? {
        let text = text.to_owned();
        if data.len() as u128 == expected {
            return lines.bad(format!("there are more than {expected} entries"));
        }
        data.push(number(lines, &text)?);
    }
    if (data.len() as u128) < expected {
        return lines.bad(format!("the file ends after {} of {expected} entries", data.len()));
    }
    Ok(Matrix::Dense { rows, columns, data })
}

/// Rows, columns and entries, as far as a file of its size can have them.
fn sizes(lines: &mut Lines<'_>, head: Head) -> Result<[usize; 3]> {
    let [rows, columns, count] = lines.sizes()?;
    if u32::try_from(rows).is_err() || columns > 100_000_000 {
        return lines.bad(format!("{rows} x {columns} is larger than can be read"));
    }
    if head.symmetry != Symmetry::General && rows != columns {
        return lines.bad(format!("a symmetric matrix cannot be {rows} x {columns}"));
    }
    // As for arrays; an entry is a line of at least four bytes.
    if 4 * count as u128 > 1000 * u128::from(lines.source.size) {
        return lines.bad(format!("{count} entries are more than a file of its size can hold"));
    }
    Ok([rows, columns, count])
}

/// Entries that are not zero, in any order.
fn coordinate(lines: &mut Lines<'_>, head: Head, options: &ReadOptions) -> Result<Matrix> {
    let sizes @ [rows, columns, count] = sizes(lines, head)?;
    check_memory(&lines.source.path, 16 * count as u128 + 8 * columns as u128, options)?;
    let mut entries: Vec<(u32, u32, f64)> = Vec::new();
    each_entry(lines, head, sizes, |i, j, value| entries.push((j, i, value)))?;
    npz::compress(rows, columns, entries).map_err(|(i, j)| {
        let problem = format!("the entry in row {} and column {} comes twice", i + 1, j + 1);
        lines.source.bad(problem).into()
    })
}

/// Row, column and value of every entry that is not zero.
fn each_entry(
    lines: &mut Lines<'_>,
    Head { pattern, symmetry, .. }: Head,
    [rows, columns, count]: [usize; 3],
    mut body: impl FnMut(u32, u32, f64),
) -> Result<()> {
    let mut found = 0usize;
    while lines.next()?.is_some() {
        let (i, j, value) = entry(lines, rows, columns, pattern)?;
        found += 1;
        if found > count {
            return lines.bad(format!("there are more than the {count} entries of the header"));
        }
        if value != 0.0 {
            body(i, j, value);
            if symmetry != Symmetry::General && i != j {
                body(j, i, if symmetry == Symmetry::Skew { -value } else { value });
            }
        }
    }
    if found < count {
        return lines.bad(format!("the file ends after {found} of {count} entries"));
    }
    Ok(())
}

/// Row and column, from zero, and value of one line.
fn entry(lines: &Lines<'_>, rows: usize, columns: usize, pattern: bool) -> Result<(u32, u32, f64)> {
    let text = lines.text.trim();
    let mut words = text.split_ascii_whitespace();
    let mut index = |what: &str, most: usize| match words.next().and_then(|w| w.parse::<usize>().ok()) {
        Some(k) if (1..=most).contains(&k) => Ok((k - 1) as u32),
        _ => lines.bad(format!("the {what} in {} is not between 1 and {most}", quoted(text))),
    };
    let (i, j) = (index("row", rows)?, index("column", columns)?);
    let value = match (pattern, words.next()) {
        (true, None) => 1.0,
        (false, Some(word)) => number(lines, word)?,
        _ => return lines.bad(format!("{} has the wrong number of values", quoted(text))),
    };
    match words.next() {
        Some(more) => lines.bad(format!("{} is too much on the line", quoted(more))),
        None => Ok((i, j, value)),
    }
}
