//! Tables into files: whole or not there, or into the device or pipe that stands there.

mod arrays;
mod parquet;
mod text;

pub(crate) use arrays::{part, write_names};

use crate::error::{FileError, Result};
use crate::file::{Compression, Format};
use crate::matrix::Matrix;
use crate::table::Table;
use bestset::design::remove_column_names;
use bestset::file::{Place, place, replace};
use std::io::{self, BufWriter, Cursor, Seek, Write};
use std::path::Path;

/// Writes a table in the format that is given or that the name has; compressed where the name ends so.
///
/// The label goes where the format has a place for it, and is the last column elsewhere. Into a folder go the parts of a sparse matrix. NPY
/// has no place for names: they go into a file beside it ([`bestset::design::column_names`]).
///
/// ```
/// use bestset_data::{Label, Matrix, Names, ReadOptions, Table, read, write};
///
/// let numbers = Matrix::Dense { rows: 2, columns: 1, data: vec![1.5, -2.0] };
/// let label = Some(Label { name: "y".into(), values: vec![1.0, -1.0] });
/// let table = Table::of_numbers("doc".into(), numbers, Names::Listed(vec!["dose".into()]), label);
/// let path = std::env::temp_dir().join(format!("bestset-doc-{}.csv.gz", std::process::id()));
/// write(&table, &path, None)?;
/// let again = read(&path, &ReadOptions::default())?;
/// assert_eq!(again.numbers.column(1).into_owned(), [1.0, -1.0]);
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write(table: &Table, path: impl AsRef<Path>, format: Option<Format>) -> Result<()> {
    let path = path.as_ref();
    let bad = |problem: String| FileError::new(path, problem);
    if is_folder(path) {
        check_numbers(table, path)?;
        return arrays::write_parts(table, path).map_err(|e| bad(format!("cannot be written: {e}")).into());
    }
    let format = format.or_else(|| Format::of_name(path));
    let format = format.ok_or_else(|| {
        bad("the format is not known by the name: let it end with .csv, .tsv, .parquet, .libsvm, .npy, .npz or .mtx, or, for a folder with \
             the parts of a sparse matrix, with /"
            .to_owned())
    })?;
    let compression = Compression::of_name(path);
    if matches!(format, Format::Parquet | Format::Npz) && compression != Compression::None {
        return Err(bad("this format compresses its parts itself: leave out the last extension".to_owned()).into());
    }
    if !matches!(format, Format::Csv | Format::Parquet) {
        check_numbers(table, path)?;
    }
    let done = match place(path) {
        Place::Regular(file) => replace(&file, |part| {
            let mut part = BufWriter::with_capacity(1 << 18, part);
            write_to(table, path, &mut part, format, compression)?;
            part.flush()?;
            // What is written takes its place after this.
            if format == Format::Npy { remove_column_names(path) } else { Ok(()) }
        })
        .and_then(|()| if format == Format::Npy { write_names(path, &table.names) } else { Ok(()) }),
        // Formats with a table of contents go back to their beginning, which a pipe cannot.
        Place::Other(_) => {
            let mut whole = Cursor::new(Vec::new());
            write_to(table, path, &mut whole, format, compression)
                .and_then(|()| bestset::file::write(path, whole.get_ref()))
        }
    };
    done.map_err(|e| bad(format!("cannot be written: {e}")).into())
}

/// Whether a path is that of a folder: it is one, or ends as one.
pub fn is_folder(path: &Path) -> bool {
    path.is_dir() || path.as_os_str().as_encoded_bytes().ends_with(b"/")
}

fn write_to<W: Write + Seek + Send>(
    table: &Table,
    path: &Path,
    file: &mut W,
    format: Format,
    compression: Compression,
) -> io::Result<()> {
    match (format, compression) {
        (Format::Parquet, _) => parquet::write(table, file),
        (Format::Npz, _) => arrays::write_npz(table, file),
        (_, Compression::None) => plain(table, path, format, file).map(drop),
        (_, Compression::Gzip) => {
            let encoder = flate2::write::GzEncoder::new(file, flate2::Compression::default());
            plain(table, path, format, encoder)?.finish().map(drop)
        }
        (_, Compression::Bzip2) => {
            let encoder = bzip2::write::BzEncoder::new(file, bzip2::Compression::default());
            plain(table, path, format, encoder)?.finish().map(drop)
        }
        (_, Compression::Zstd) => {
            let encoder = zstd::stream::write::Encoder::new(file, 0)?;
            plain(table, path, format, encoder)?.finish().map(drop)
        }
    }
}

/// Formats that are written from front to back.
fn plain<W: Write>(table: &Table, path: &Path, format: Format, mut out: W) -> io::Result<W> {
    match format {
        Format::Csv => text::csv(table, path, &mut out)?,
        Format::Libsvm => text::libsvm(table, &mut out)?,
        Format::Market => text::market(table, &mut out)?,
        _ => arrays::write_npy(table, &mut out)?,
    }
    Ok(out)
}

/// Formats of numbers have no room for texts and missing values.
pub(crate) fn check_numbers(table: &Table, path: &Path) -> Result<()> {
    if let Some(text) = table.texts.first() {
        let problem = "holds texts, which this format cannot; write CSV or Parquet, or drop the column";
        return Err(FileError::new(path, problem).in_column(&text.name).into());
    }
    if let Some((position, gap)) = table.gaps.iter().next() {
        let problem = "a value is missing, which this format cannot say; write CSV or Parquet";
        return Err(FileError::new(path, problem).at_row(gap.row).in_column(table.name(*position)).into());
    }
    Ok(())
}

/// Rows of a matrix.
enum Rows<'m> {
    Dense { rows: usize, columns: usize, data: &'m [f64] },
    Sparse { starts: Vec<usize>, entries: Vec<(u32, f64)> },
}

impl<'m> Rows<'m> {
    fn new(matrix: &'m Matrix) -> Self {
        match matrix {
            Matrix::Dense { rows, columns, data } => Self::Dense { rows: *rows, columns: *columns, data },
            Matrix::Sparse { rows, starts, indices, values } => {
                let mut ends = vec![0usize; rows + 2];
                indices.iter().for_each(|&i| ends[i as usize + 2] += 1);
                (2..ends.len()).for_each(|i| ends[i] += ends[i - 1]);
                let mut entries = vec![(0u32, 0.0); values.len()];
                for j in 0..starts.len() - 1 {
                    for k in starts[j]..starts[j + 1] {
                        let place = &mut ends[indices[k] as usize + 1];
                        entries[*place] = (j as u32, values[k]);
                        *place += 1;
                    }
                }
                ends.pop();
                Self::Sparse { starts: ends, entries }
            }
        }
    }

    /// All entries of row i.
    fn full(&self, i: usize, out: &mut [f64]) {
        match self {
            Self::Dense { rows, data, .. } => {
                out.iter_mut().enumerate().for_each(|(j, x)| *x = data[j * rows + i]);
            }
            Self::Sparse { starts, entries } => {
                out.fill(0.0);
                entries[starts[i]..starts[i + 1]].iter().for_each(|(j, x)| out[*j as usize] = *x);
            }
        }
    }

    /// The entries of row i that are not zero.
    fn nonzeros(&self, i: usize, out: &mut Vec<(u32, f64)>) {
        out.clear();
        match self {
            Self::Dense { rows, columns, data } => {
                let all = (0..*columns).map(|j| (j as u32, data[j * rows + i]));
                out.extend(all.filter(|entry| entry.1 != 0.0));
            }
            Self::Sparse { starts, entries } => out.extend_from_slice(&entries[starts[i]..starts[i + 1]]),
        }
    }
}
