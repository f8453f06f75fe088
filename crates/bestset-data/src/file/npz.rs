//! Archives of NumPy arrays: `X` with `y` and `names`, a single matrix, or a sparse matrix of SciPy.

use super::npy::{Array, MOST_COMPRESSED};
use super::source::{Seekable, Source};
use super::{ReadOptions, check_memory};
use crate::error::{FileError, Result, infinite, infinite_target};
use crate::matrix::{Matrix, Names};
use crate::table::{Label, Table};
use std::io::Read;
use std::path::Path;
use zip::ZipArchive;

struct Archive<'p> {
    path: &'p Path,
    zip: ZipArchive<Box<dyn Seekable>>,
}

pub fn read(source: &Source, options: &ReadOptions) -> Result<Table> {
    let zip =
        ZipArchive::new(source.seekable()?).map_err(|e| source.bad(format!("is not an archive of arrays: {e}")))?;
    let mut archive = Archive { path: &source.path, zip };
    let (numbers, gaps) = match archive.has("indptr") {
        true => (archive.sparse(options)?, Default::default()),
        false => {
            let name = archive.matrix_name()?;
            archive.with(&name, |array| array.matrix(options, &Names::Numbered { first: 1 }))?
        }
    };
    let columns = numbers.columns();
    let names = match archive.has("names") {
        true => Names::Listed(archive.with("names", |array| array.texts())?),
        false => Names::Numbered { first: 1 },
    };
    if let Names::Listed(listed) = &names
        && listed.len() != columns
    {
        return Err(source.bad(format!("names has {} entries for {columns} columns", listed.len())).into());
    }
    let label = archive.label(numbers.rows())?;
    let mut table = Table::of_numbers(source.path.clone(), numbers, names, label);
    table.gaps = gaps;
    Ok(table)
}

impl Archive<'_> {
    fn has(&self, name: &str) -> bool {
        self.zip.index_for_name(&format!("{name}.npy")).is_some()
    }

    fn bad(&self, problem: String) -> FileError {
        FileError::new(self.path, problem)
    }

    /// The array that is X by name, or the only one.
    fn matrix_name(&self) -> Result<String> {
        if let Some(name) = ["X", "x", "data"].into_iter().find(|name| self.has(name)) {
            return Ok(name.to_owned());
        }
        let known = self.zip.file_names().filter_map(|name| name.ok());
        let names: Vec<String> = known.filter_map(|name| name.strip_suffix(".npy").map(str::to_owned)).collect();
        match &names[..] {
            [only] => Ok(only.clone()),
            _ => Err(self.bad(format!("which array is the matrix? There is no X among {names:?}")).into()),
        }
    }

    /// Opens an array.
    fn with<T>(&mut self, name: &str, use_it: impl FnOnce(Array<'_, &mut dyn Read>) -> Result<T>) -> Result<T> {
        let path = self.path;
        let inside = |problem: String| FileError::new(path, format!("array {name:?}: {problem}"));
        let mut entry = self.zip.by_name(&format!("{name}.npy")).map_err(|e| inside(e.to_string()))?;
        let available = entry.compressed_size().saturating_mul(MOST_COMPRESSED);
        let reader: &mut dyn Read = &mut entry;
        use_it(Array::open(path, reader, available)?).map_err(|error| match error {
            crate::Error::File(e) => {
                crate::Error::File(FileError { problem: format!("array {name:?}: {}", e.problem), ..e })
            }
            other => other,
        })
    }

    fn label(&mut self, rows: usize) -> Result<Option<Label>> {
        if !self.has("y") {
            return Ok(None);
        }
        let values = self.with("y", |array| array.values())?;
        if values.len() != rows {
            return Err(self.bad(format!("y has {} entries for {rows} rows", values.len())).into());
        }
        if let Some(row) = values.iter().position(|v| !v.is_finite()) {
            let error = self.bad(infinite_target(values[row]));
            return Err(error.at_row(row as u64 + 1).in_column("y").into());
        }
        Ok(Some(Label { name: "y".to_owned(), values }))
    }

    /// Compressed rows or columns, as `scipy.sparse.save_npz` writes them.
    fn sparse(&mut self, options: &ReadOptions) -> Result<Matrix> {
        let kind = self.with("format", |array| Ok(array.bytes()))?.unwrap_or_default();
        let shape = self.with("shape", |array| array.values())?;
        let (starts, indices) =
            (self.with("indptr", |array| array.values())?, self.with("indices", |array| array.values())?);
        let values = self.with("data", |array| array.values())?;
        let [rows, columns] = shape[..] else {
            return Err(self.bad(format!("the shape has {} entries, expected 2", shape.len())).into());
        };
        let (rows, columns) = (rows as usize, columns as usize);
        let by_rows = match kind.as_slice() {
            b"csr" => true,
            b"csc" => false,
            other => {
                let kind = String::from_utf8_lossy(other);
                return Err(self.bad(format!("the sparse format {kind:?} is none of csr and csc")).into());
            }
        };
        let (outer, inner) = if by_rows { (rows, columns) } else { (columns, rows) };
        let whole = starts.first() == Some(&0.0) && starts.last() == Some(&(values.len() as f64));
        let ascending = starts.windows(2).all(|w| w[0] <= w[1]);
        if starts.len() != outer + 1 || indices.len() != values.len() || !whole || !ascending {
            return Err(self.bad("indptr, indices and data do not fit together".to_owned()).into());
        }
        if let Some(index) = indices.iter().find(|k| !(**k >= 0.0 && **k < inner as f64)) {
            return Err(self.bad(format!("the index {index} is not below {inner}")).into());
        }
        if let Some(value) = values.iter().find(|v| !v.is_finite()) {
            return Err(self.bad(infinite(value)).into());
        }
        if u32::try_from(rows).is_err() || columns > 100_000_000 {
            return Err(self.bad(format!("{rows} x {columns} is larger than can be read")).into());
        }
        check_memory(self.path, 12 * values.len() as u128 + 8 * columns as u128, options)?;
        let mut entries: Vec<(u32, u32, f64)> = Vec::with_capacity(values.len());
        for k in 0..outer {
            for e in starts[k] as usize..starts[k + 1] as usize {
                let other = indices[e] as u32;
                let (j, i) = if by_rows { (other, k as u32) } else { (k as u32, other) };
                entries.push((j, i, values[e]));
            }
        }
        compress(rows, columns, entries)
            .map_err(|(i, j)| self.bad(format!("the entry in row {} and column {} comes twice", i + 1, j + 1)).into())
    }
}

/// Triplets (column, row, value) as compressed columns; fails at an entry that comes twice.
pub fn compress(
    rows: usize,
    columns: usize,
    mut entries: Vec<(u32, u32, f64)>,
) -> std::result::Result<Matrix, (u32, u32)> {
    entries.sort_unstable_by_key(|e| (e.0, e.1));
    if let Some(twice) = entries.windows(2).find(|w| (w[0].0, w[0].1) == (w[1].0, w[1].1)) {
        return Err((twice[0].1, twice[0].0));
    }
    entries.retain(|e| e.2 != 0.0);
    let mut starts = vec![0usize; columns + 1];
    entries.iter().for_each(|e| starts[e.0 as usize + 1] += 1);
    (1..starts.len()).for_each(|j| starts[j] += starts[j - 1]);
    let indices = entries.iter().map(|e| e.1).collect();
    let values = entries.iter().map(|e| e.2).collect();
    Ok(Matrix::Sparse { rows, starts, indices, values })
}
