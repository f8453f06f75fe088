//! What a file holds: columns of numbers, columns of texts, and the label that some formats have.

use crate::error::{FileError, Result, quoted};
use crate::levels::Levels;
use crate::matrix::{Matrix, Names};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The columns of a file, before anything is made of them.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// The file.
    pub source: PathBuf,
    /// The columns of numbers, in the order of the file; NaN where a value is missing.
    pub numbers: Matrix,
    /// Their names.
    pub names: Names,
    /// The columns of texts.
    pub texts: Vec<TextColumn>,
    /// The label of each row, where the format has one.
    pub label: Option<Label>,
    /// Missing values, by position of the column in the file.
    pub gaps: BTreeMap<usize, Gap>,
    /// Line of the file on which the first row stands, for text formats with one row a line.
    pub first_line: Option<u64>,
    /// What was taken for granted in reading it, one sentence each.
    pub notes: Vec<String>,
}

/// A column of texts.
#[derive(Debug, Clone, PartialEq)]
pub struct TextColumn {
    /// Its name.
    pub name: String,
    /// Its position in the file, counted from zero among all columns.
    pub position: usize,
    /// The texts that occur, in the order of their first occurrence.
    pub levels: Vec<String>,
    /// For each row the position of its text in `levels`; [`TextColumn::MISSING`] where there is none.
    pub codes: Vec<u32>,
}

impl TextColumn {
    /// The code of a missing text.
    pub const MISSING: u32 = u32::MAX;

    /// The text of a row.
    pub fn get(&self, row: usize) -> Option<&str> {
        self.levels.get(self.codes[row] as usize).map(String::as_str)
    }

    /// Keeps these rows, and of the texts those that they have.
    fn keep_rows(&mut self, rows: &[usize]) {
        let mut levels = Levels::default();
        let code = |&i: &usize| self.get(i).map_or(Self::MISSING, |text| levels.code(text));
        self.codes = rows.iter().map(code).collect();
        self.levels = levels.texts;
    }
}

/// What a format calls the label or the target.
#[derive(Debug, Clone, PartialEq)]
pub struct Label {
    /// Its name.
    pub name: String,
    /// One value for each row.
    pub values: Vec<f64>,
}

/// Missing values of one column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gap {
    /// Row of the first, counted from one.
    pub row: u64,
    /// Line of the first in a text file.
    pub line: Option<u64>,
    /// How many there are.
    pub count: u64,
}

/// A column of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Column of [`Table::numbers`].
    Number(usize),
    /// Column of [`Table::texts`].
    Text(usize),
}

impl Table {
    /// A table of numbers alone.
    pub fn of_numbers(source: PathBuf, numbers: Matrix, names: Names, label: Option<Label>) -> Self {
        Self {
            source,
            numbers,
            names,
            texts: Vec::new(),
            label,
            gaps: BTreeMap::new(),
            first_line: None,
            notes: Vec::new(),
        }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.numbers.rows()
    }

    /// Number of columns, the label not among them.
    pub fn columns(&self) -> usize {
        self.numbers.columns() + self.texts.len()
    }

    /// Where the column stands that has this position in the file.
    pub fn place(&self, position: usize) -> Place {
        let before = self.texts.partition_point(|t| t.position < position);
        match self.texts.get(before) {
            Some(text) if text.position == position => Place::Text(before),
            _ => Place::Number(position - before),
        }
    }

    /// The position in the file of a column of numbers.
    pub fn position_of_number(&self, j: usize) -> usize {
        self.texts.iter().fold(j, |position, text| position + usize::from(text.position <= position))
    }

    /// The name of the column at a position of the file.
    pub fn name(&self, position: usize) -> String {
        match self.place(position) {
            Place::Number(j) => self.names.get(j),
            Place::Text(t) => self.texts[t].name.clone(),
        }
    }

    /// The column that is called so, or has this number: from one up, or from minus one, the last, down.
    pub fn find(&self, wanted: &str) -> Result<usize> {
        if let Some(j) = self.names.find(wanted, self.numbers.columns()) {
            return Ok(self.position_of_number(j));
        }
        if let Some(text) = self.texts.iter().find(|t| t.name == wanted) {
            return Ok(text.position);
        }
        let count = self.columns();
        let by_number = wanted.parse::<i64>().ok().and_then(|number| match number {
            1.. => usize::try_from(number - 1).ok(),
            _ => number.checked_add_unsigned(count as u64).and_then(|k| usize::try_from(k).ok()),
        });
        by_number.filter(|k| *k < count).ok_or_else(|| self.unknown(wanted))
    }

    fn unknown(&self, wanted: &str) -> crate::Error {
        let problem = format!("there is no column {}; it has {}", quoted(wanted), self.columns_like(wanted));
        FileError::new(&self.source, problem).into()
    }

    /// How many columns there are and which, those with a name like this one first; and why they may have other names.
    pub(crate) fn columns_like(&self, wanted: &str) -> String {
        let count = self.columns();
        let mut names: Vec<String> = (0..count).map(|position| self.name(position)).collect();
        names.sort_by_cached_key(|name| distance(name, wanted));
        let shown: Vec<String> = names.iter().take(SHOWN).map(quoted).collect();
        let more = if count > SHOWN { ", …" } else { "" };
        let label =
            self.label.as_ref().map_or(String::new(), |label| format!(", beside the label {}", quoted(&label.name)));
        let hint = match self.first_line {
            Some(1) => "; its first line was read as data, --header yes takes it as names",
            _ => "",
        };
        let columns = if count == 1 { "column" } else { "columns" };
        format!("{count} {columns}: {}{more}{label}{hint}", shown.join(", "))
    }

    /// Names that more than one column has make it unclear which is meant.
    pub(crate) fn check_names(&self) -> Result<()> {
        let mut seen = std::collections::HashSet::new();
        let Names::Listed(names) = &self.names else { return Ok(()) };
        let mut all = names.iter().chain(self.texts.iter().map(|t| &t.name));
        let Some(twice) = all.find(|name| !seen.insert(*name)) else { return Ok(()) };
        let places: Vec<usize> = (0..self.columns()).filter(|&k| self.name(k) == *twice).map(|k| k + 1).collect();
        let (first, second) = (places.first().unwrap_or(&0), places.get(1).unwrap_or(&0));
        let problem = format!(
            "columns {first} and {second} are both named {}, and it is not clear which is meant: rename one of them",
            quoted(twice)
        );
        Err(FileError::new(&self.source, problem).into())
    }
}

impl Table {
    /// Takes a column of numbers without gaps out of the table, to be its label.
    pub fn take_label(&mut self, wanted: &str) -> Result<Vec<f64>> {
        if let Some(label) = self.label.take_if(|label| label.name == wanted) {
            return Ok(label.values);
        }
        let position = self.find(wanted)?;
        let values = self.label_at(position)?;
        self.remove(vec![position]);
        Ok(values)
    }

    /// The numbers without gaps of the column at a position.
    pub(crate) fn label_at(&self, position: usize) -> Result<Vec<f64>> {
        let name = self.name(position);
        if let Some(gap) = self.gaps.get(&position) {
            return Err(self.missing(&name, gap, "; a label must be known in every row").into());
        }
        let Place::Number(j) = self.place(position) else {
            return Err(FileError::new(&self.source, "a label must be a number").in_column(name).into());
        };
        Ok(self.numbers.column(j).into_owned())
    }

    /// Whether there is a column of this name.
    pub fn has(&self, name: &str) -> bool {
        self.names.find(name, self.numbers.columns()).is_some() || self.texts.iter().any(|t| t.name == name)
    }

    /// Keeps the columns of these names alone.
    pub fn keep_named(&mut self, wanted: &std::collections::HashSet<String>) {
        let positions = (0..self.columns()).filter(|&position| !wanted.contains(&self.name(position)));
        self.remove(positions.collect());
    }

    /// Leaves out columns, by name or number.
    pub fn drop_columns(&mut self, wanted: &[String]) -> Result<()> {
        let positions = wanted.iter().map(|name| self.find(name)).collect::<Result<_>>()?;
        self.remove(positions);
        Ok(())
    }
}

/// Names of columns that a message lists.
const SHOWN: usize = 8;

/// How far a name is from the one that was asked for: letters changed, whatever their case, and two where one has the other in it.
fn distance(name: &str, wanted: &str) -> usize {
    let letters = |text: &str| text.to_lowercase().chars().take(64).collect::<Vec<char>>();
    let (a, b) = (letters(name), letters(wanted));
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut corner = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.iter().enumerate() {
            let changes = (corner + usize::from(x != y)).min(row[j] + 1).min(row[j + 1] + 1);
            corner = std::mem::replace(&mut row[j + 1], changes);
        }
    }
    let within = |a: &[char], b: &[char]| b.len() > 1 && a.windows(b.len()).any(|part| part == b);
    let changes = row[b.len()];
    if within(&a, &b) || within(&b, &a) { changes.min(2) } else { changes }
}

impl Table {
    /// Makes a column of numbers one of texts, each number as it is written shortest.
    pub(crate) fn number_as_text(&mut self, j: usize) {
        let (name, position) = (self.names.get(j), self.position_of_number(j));
        let mut levels = Levels::default();
        let code = |x: &f64| if x.is_nan() { TextColumn::MISSING } else { levels.code(&x.to_string()) };
        let codes = self.numbers.column(j).iter().map(code).collect();
        let keep: Vec<usize> = (0..self.numbers.columns()).filter(|k| *k != j).collect();
        self.numbers.keep_columns(&keep);
        self.names.keep(&keep);
        let place = self.texts.partition_point(|t| t.position < position);
        self.texts.insert(place, TextColumn { name, position, levels: levels.texts, codes });
    }

    /// Leaves out the rows in which a column at one of these positions has no value, and returns how many there were.
    pub(crate) fn drop_rows_without(&mut self, positions: &[usize]) -> u64 {
        let mut gone = vec![false; self.rows()];
        for position in positions.iter().filter(|position| self.gaps.contains_key(position)) {
            self.missing_rows(*position).into_iter().for_each(|i| gone[i] = true);
        }
        let keep: Vec<usize> = (0..gone.len()).filter(|&i| !gone[i]).collect();
        if keep.len() == gone.len() {
            return 0;
        }
        self.numbers.keep_rows(&keep);
        self.texts.iter_mut().for_each(|text| text.keep_rows(&keep));
        if let Some(label) = &mut self.label {
            label.values = keep.iter().map(|&i| label.values[i]).collect();
        }
        self.find_gaps(&keep);
        (gone.len() - keep.len()) as u64
    }

    /// The rows in which a column has no value.
    fn missing_rows(&self, position: usize) -> Vec<usize> {
        match self.place(position) {
            Place::Number(j) => {
                let column = self.numbers.column(j);
                (0..column.len()).filter(|&i| column[i].is_nan()).collect()
            }
            Place::Text(t) => {
                let codes = &self.texts[t].codes;
                (0..codes.len()).filter(|&i| codes[i] == TextColumn::MISSING).collect()
            }
        }
    }

    /// Counts the missing values again; `origin` has the row of the file, from zero, that each row was.
    fn find_gaps(&mut self, origin: &[usize]) {
        let gaps = std::mem::take(&mut self.gaps);
        for position in gaps.into_keys() {
            let missing = self.missing_rows(position);
            if let Some(&first) = missing.first() {
                let row = origin[first] as u64;
                let (line, count) = (self.first_line.map(|line| line + row), missing.len() as u64);
                self.gaps.insert(position, Gap { row: row + 1, line, count });
            }
        }
        // Rows that follow no longer stand on the lines that follow.
        self.first_line = None;
    }
}
