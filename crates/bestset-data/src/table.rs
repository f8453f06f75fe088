//! What a file holds: columns of numbers, columns of texts, and the label that some formats have.

use crate::error::{FileError, Result};
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
        Self { source, numbers, names, texts: Vec::new(), label, gaps: BTreeMap::new(), first_line: None }
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
        let count = self.columns();
        let (first, last) = match count {
            0 => (String::new(), String::new()),
            _ => (self.name(0), self.name(count - 1)),
        };
        let problem = format!("there is no column {wanted:?} among its {count} columns ({first:?} to {last:?})");
        FileError::new(&self.source, problem).into()
    }

    /// Names that more than one column has make it unclear which is meant.
    pub(crate) fn check_names(&self) -> Result<()> {
        let mut seen = std::collections::HashSet::new();
        if let Names::Listed(names) = &self.names {
            for name in names.iter().chain(self.texts.iter().map(|t| &t.name)) {
                if !seen.insert(name) {
                    let problem = format!("two columns are named {name:?}");
                    return Err(FileError::new(&self.source, problem).into());
                }
            }
        }
        Ok(())
    }
}

impl Table {
    /// Takes a column of numbers without gaps out of the table, to be its label.
    pub fn take_label(&mut self, wanted: &str) -> Result<Vec<f64>> {
        if let Some(label) = self.label.take_if(|label| label.name == wanted) {
            return Ok(label.values);
        }
        let position = self.find(wanted)?;
        let name = self.name(position);
        if let Some(gap) = self.gaps.get(&position) {
            return Err(self.missing(&name, gap, "; a label must be known in every row").into());
        }
        let Place::Number(j) = self.place(position) else {
            return Err(FileError::new(&self.source, "a label must be a number").in_column(name).into());
        };
        let values = self.numbers.column(j).into_owned();
        self.remove(vec![position]);
        Ok(values)
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
