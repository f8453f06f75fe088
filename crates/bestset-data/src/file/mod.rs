//! Reading files: the format is told, or known by the name or the first bytes; compression is known by the first bytes.

#[cfg(feature = "tables")]
mod csv;
mod delimiter;
#[cfg(feature = "tables")]
mod fill;
#[cfg(feature = "tables")]
mod layout;
#[cfg(feature = "tables")]
mod libsvm;
#[cfg(feature = "tables")]
mod market;
#[cfg(feature = "tables")]
mod npy;
#[cfg(feature = "tables")]
mod npz;
#[cfg(feature = "tables")]
mod parquet;
#[cfg(feature = "tables")]
mod records;
mod source;

pub(crate) use source::Source;
pub use source::{Compression, Format};

use crate::error::{FileError, Result};
use crate::matrix::Names;
#[cfg(feature = "tables")]
use crate::table::Table;
use std::ops::Range;
use std::path::Path;

/// Whether the first line of a CSV file has the names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Header {
    /// It has if none of its fields is a number, or if the numbers among them are whole and a word beside them stands over
    /// numbers.
    #[default]
    Auto,
    /// It has.
    Yes,
    /// It has not: columns are named x1, x2, …
    No,
}

/// How a file is read.
#[derive(Debug, Clone, Default)]
pub struct ReadOptions {
    /// The format; `None` to go by the name and the first bytes.
    pub format: Option<Format>,
    /// The delimiter of CSV files; `None` to go by the name and the first line.
    pub delimiter: Option<u8>,
    /// The header of CSV files.
    pub header: Header,
    /// The decimal sign of CSV files, `b'.'` or `b','`; `None` for a comma where numbers show it and commas do not divide
    /// fields.
    pub decimal: Option<u8>,
    /// Columns, by name or number, that are texts even where they look like numbers; for CSV files.
    pub categorical: Vec<String>,
    /// Most bytes that the numbers may take; `None` for what the system gives.
    pub max_memory: Option<usize>,
    /// Only these columns, by their place in the file, from zero; `None` for all. For CSV, Parquet and NPY.
    pub columns: Option<Range<usize>>,
}

/// The size of a table, before its rows are read.
pub(crate) struct Survey {
    /// At the most.
    pub rows: u64,
    /// All columns of the file.
    pub names: Names,
    pub columns: usize,
}

/// What a first reading says of a sparse matrix.
#[cfg(feature = "tables")]
pub(crate) struct SparseSurvey {
    pub rows: usize,
    /// The number of its first column.
    pub first: usize,
    /// Entries of each column that are not zero.
    pub counts: Vec<u64>,
    pub label: Option<Vec<f64>>,
}

/// What a sparse matrix has, in a format that may be read some columns at a time.
#[cfg(feature = "tables")]
pub(crate) fn survey_sparse(source: &Source, options: &ReadOptions) -> Result<Option<SparseSurvey>> {
    match options.format.map_or_else(|| source.guess_format(), Ok)? {
        Format::Libsvm => libsvm::survey(source).map(Some),
        Format::Market => market::survey(source),
        _ => Ok(None),
    }
}

/// Some columns of a sparse matrix that was surveyed, by way of no more than their own entries.
#[cfg(feature = "tables")]
pub(crate) fn sparse_columns(source: &Source, survey: &SparseSurvey, columns: Range<usize>) -> Result<crate::Matrix> {
    let (entries, width) = match survey.label {
        Some(_) => (libsvm::entries(source, survey, columns.clone())?, columns.len()),
        None => (market::entries(source, columns.clone())?, columns.len()),
    };
    if entries.len() as u64 != survey.counts[columns.clone()].iter().sum::<u64>() {
        return Err(source.bad("has other entries than a moment ago: did it change meanwhile?").into());
    }
    npz::compress(survey.rows, width, entries).map_err(|(i, j)| {
        let column = columns.start + j as usize + 1;
        source.bad(format!("the entry in row {} and column {column} comes twice", i + 1)).into()
    })
}

/// The size of a table in a format that may be read some columns at a time.
#[cfg(feature = "tables")]
pub(crate) fn survey(source: &Source, options: &ReadOptions) -> Result<Option<Survey>> {
    let format = options.format.map_or_else(|| source.guess_format(), Ok)?;
    Ok(match format {
        Format::Csv => Some(csv::survey(source, options)?),
        Format::Parquet => Some(parquet::survey(source)?),
        Format::Npy => npy::survey(source)?,
        _ => None,
    })
}

impl ReadOptions {
    /// The columns that are read of so many.
    fn range(&self, columns: usize) -> Range<usize> {
        let Range { start, end } = self.columns.clone().unwrap_or(0..columns);
        start.min(columns)..end.min(columns)
    }
}

/// Reads a file; `-` is standard input.
///
/// ```
/// use bestset_data::{ReadOptions, Roles, read};
///
/// let path = std::env::temp_dir().join(format!("bestset-doc-{}.csv", std::process::id()));
/// std::fs::write(&path, "dose,sex,y\n1,m,2.1\n2,f,3.9\n3,f,6.2\n")?;
/// let data = read(&path, &ReadOptions::default())?.into_dataset(&Roles::default())?;
/// assert_eq!(data.names.list(2), ["dose", "sex=m"]);
/// assert_eq!(data.target.unwrap().values, [2.1, 3.9, 6.2]);
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[cfg(feature = "tables")]
pub fn read(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Table> {
    let path = path.as_ref();
    let source = source::Source::new(path)?;
    let format = match options.format {
        Some(format) => format,
        None => source.guess_format()?,
    };
    let table = match format {
        Format::Csv => csv::read(&source, options),
        Format::Parquet => parquet::read(&source, options),
        Format::Libsvm => libsvm::read(&source, options),
        Format::Npy => npy::read(&source, options),
        Format::Npz => npz::read(&source, options),
        Format::Market => market::read(&source, options),
    }?;
    if table.rows() == 0 {
        return Err(FileError::new(path, "there are no rows").into());
    }
    Ok(table)
}

/// What stands for a missing value, in any case of letters.
const MISSING: [&[u8]; 7] = [b"", b"na", b"n/a", b"nan", b"null", b"?", b"."];

/// Whether a field among numbers stands for a missing one.
pub(crate) fn is_missing(field: &[u8]) -> bool {
    is_missing_text(field) || field.eq_ignore_ascii_case(b"none")
}

/// Whether a field among texts stands for a missing one: of therapies or relapses none is one.
pub(crate) fn is_missing_text(field: &[u8]) -> bool {
    field.len() <= 4 && MISSING.iter().any(|word| field.eq_ignore_ascii_case(word))
}

/// A number of bytes as people say it.
fn size(bytes: u128) -> String {
    match bytes {
        0..1024 => format!("{bytes} bytes"),
        1024..1_048_576 => format!("{} kB", bytes >> 10),
        _ => format!("{} MB", bytes >> 20),
    }
}

/// Refuses what would not fit into memory, before it is asked for.
pub(crate) fn check_memory(path: &Path, bytes: u128, options: &ReadOptions) -> Result<()> {
    let refuse = |limit: String| {
        let problem = format!("its numbers would take {}, {limit}", size(bytes));
        Err(FileError::new(path, problem).into())
    };
    match options.max_memory {
        Some(limit) if bytes > limit as u128 => {
            refuse(format!("more than the limit of {} (--max-memory)", size(limit as u128)))
        }
        // Asked for and given back: what follows may then rely on it.
        _ => match usize::try_from(bytes).ok().and_then(|n| Vec::<u8>::new().try_reserve_exact(n).ok()) {
            Some(()) => Ok(()),
            None => refuse("more than the system gives".to_owned()),
        },
    }
}
