//! Why data could not be made, read or written.

use std::fmt;
use std::path::{Path, PathBuf};

/// A bad setting, named with its value.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No samples or no features.
    #[error("cannot simulate {n} samples of {p} features; n and p must be at least 1")]
    Empty {
        /// Samples asked for.
        n: usize,
        /// Features asked for.
        p: usize,
    },
    /// A scalar setting outside its range.
    #[error("{name} is {value}; it must be {range}")]
    Range {
        /// The setting.
        name: &'static str,
        /// Its value.
        value: f64,
        /// The values allowed.
        range: &'static str,
    },
    /// More true features than features.
    #[error("the true support cannot have {count} of {p} features")]
    Support {
        /// True features asked for.
        count: usize,
        /// Features asked for.
        p: usize,
    },
    /// A matrix that does not fit into memory.
    #[error("there is no memory for {n} x {p} entries; ask for fewer, or stream the columns from Rust")]
    Memory {
        /// Samples asked for.
        n: usize,
        /// Features asked for.
        p: usize,
    },
    /// A file that cannot be used.
    #[error(transparent)]
    File(#[from] FileError),
}

/// What is wrong with a file, and where. Lines, rows and columns count from one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FileError {
    /// The file.
    pub path: PathBuf,
    /// Line of a text file.
    pub line: Option<u64>,
    /// Row of the data.
    pub row: Option<u64>,
    /// Name of the column.
    pub column: Option<String>,
    /// What is wrong, with the offending value.
    pub problem: String,
}

impl FileError {
    /// A problem of the file as a whole.
    pub fn new(path: &Path, problem: impl Into<String>) -> Self {
        Self { path: path.to_owned(), problem: problem.into(), ..Self::default() }
    }

    /// The same problem at a line of the file.
    pub fn at_line(mut self, line: u64) -> Self {
        self.line = Some(line);
        self
    }

    /// The same problem in a row of the data.
    pub fn at_row(mut self, row: u64) -> Self {
        self.row = Some(row);
        self
    }

    /// The same problem in a column.
    pub fn in_column(mut self, column: impl Into<String>) -> Self {
        self.column = Some(column.into());
        self
    }
}

/// Most characters of a file that a message repeats in one place: they tell where it is.
const LONGEST_QUOTE: usize = 60;
/// Most characters of a message as a whole: a screen of them.
const LONGEST: usize = 1500;

/// A text of a file in quotes, its beginning alone where it is long: a line may be the whole file.
pub(crate) fn quoted(text: impl AsRef<str>) -> String {
    let text = text.as_ref();
    match text.char_indices().nth(LONGEST_QUOTE) {
        Some((end, _)) => format!("{:?}…", &text[..end]),
        None => format!("{text:?}"),
    }
}

/// What is wrong with a number that is infinite, and what to do.
#[cfg(feature = "tables")]
pub(crate) fn infinite(value: impl fmt::Display) -> String {
    format!(
        "{value} is not finite, as numbers must be; correct it, or make it a missing value (an empty field, NaN in an array) for \
         --drop-missing or, in a feature, --impute mean"
    )
}

/// The same of a target.
#[cfg(feature = "tables")]
pub(crate) fn infinite_target(value: impl fmt::Display) -> String {
    format!("{value} is not finite; the target must be a finite number in every row")
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())?;
        if let Some(line) = self.line {
            write!(f, ", line {line}")?;
        }
        if let Some(row) = self.row {
            write!(f, ", row {row}")?;
        }
        if let Some(column) = &self.column {
            write!(f, ", column {}", quoted(column))?;
        }
        match self.problem.char_indices().nth(LONGEST) {
            Some((end, _)) => write!(f, ": {}…", &self.problem[..end]),
            None => write!(f, ": {}", self.problem),
        }
    }
}

impl std::error::Error for FileError {}

/// The result of a fallible call of this crate.
pub type Result<T> = std::result::Result<T, Error>;
