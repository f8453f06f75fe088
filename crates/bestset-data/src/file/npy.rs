//! NumPy arrays. What a header promises is held against the bytes there are before memory is asked for.

use super::fill::Fill;
use super::source::{Compression, Source};
use super::{ReadOptions, Survey, check_memory};
use crate::error::{FileError, Result, infinite};
use crate::matrix::{Matrix, Names};
use crate::table::{Gap, Table};
use bestset::design::{column_names, numpy_remedy, numpy_type};
use npyz::{DType, NpyFile, Order};
use std::collections::BTreeMap;
use std::io::{self, BufRead, Cursor, Read};
use std::path::Path;

/// Most bytes of a header: that of an array of numbers has about a hundred.
const LONGEST_HEADER: u64 = 1 << 20;

/// No compression makes a byte of more than so many.
pub const MOST_COMPRESSED: u64 = 1100;

fn open(source: &Source) -> Result<Array<'_, Box<dyn BufRead + Send>>> {
    let available = match source.compression {
        Compression::None => source.size,
        // bzip2 and Zstandard shrink repetitions further than gzip does.
        _ => source.size.saturating_mul(100 * MOST_COMPRESSED),
    };
    let array = Array::open(&source.path, source.open()?, available)?;
    // Where a digit of the shape was lost, the array is smaller than its file.
    match source.size.checked_sub(array.end) {
        Some(more @ 1..) if matches!(source.compression, Compression::None) => {
            let problem =
                format!("its header promises an array of {:?}, {more} bytes less than the file has", array.shape);
            Err(FileError::new(&source.path, problem).into())
        }
        _ => Ok(array),
    }
}

/// The size of a matrix.
pub fn survey(source: &Source) -> Result<Option<Survey>> {
    let &[rows, columns] = &open(source)?.shape[..] else { return Ok(None) };
    Ok(Some(Survey { rows: rows as u64, columns, names: names(&source.path, columns)? }))
}

pub fn read(source: &Source, options: &ReadOptions) -> Result<Table> {
    let array = open(source)?;
    let columns = if let [_, columns] = array.shape[..] { columns } else { 1 };
    let names = match (names(&source.path, columns)?, options.range(columns)) {
        (Names::Listed(all), range) => Names::Listed(all[range].to_vec()),
        (Names::Numbered { .. }, range) => Names::Numbered { first: range.start + 1 },
    };
    let (numbers, gaps) = array.matrix(options, &names)?;
    let mut table = Table::of_numbers(source.path.clone(), numbers, names, None);
    table.gaps = gaps;
    Ok(table)
}

/// The names beside an array, or x1, x2, …
fn names(path: &Path, columns: usize) -> Result<Names> {
    // Standard input has nothing beside it.
    if path.as_os_str() == "-" {
        return Ok(Names::Numbered { first: 1 });
    }
    let listed = column_names(path, columns).map_err(|e| FileError::new(path, e.to_string()))?;
    Ok(listed.map_or(Names::Numbered { first: 1 }, Names::Listed))
}

/// An array whose header has been read and checked.
pub struct Array<'p, R: Read> {
    path: &'p Path,
    file: NpyFile<io::Chain<Cursor<Vec<u8>>, R>>,
    pub shape: Vec<usize>,
    /// Bytes of the header and the entries.
    end: u64,
}

type Numbers<'r> = Box<dyn Iterator<Item = io::Result<f64>> + 'r>;

impl<'p, R: Read> Array<'p, R> {
    /// Reads the header; at most `available` bytes may follow.
    pub fn open(path: &'p Path, mut reader: R, available: u64) -> Result<Self> {
        let bad = |problem: String| FileError::new(path, problem);
        let failed = |e: io::Error| bad(format!("is not a NumPy array: {e}"));
        let mut head = vec![0; 10];
        reader.read_exact(&mut head).map_err(failed)?;
        let length = match head[6] {
            1 => u64::from(u16::from_le_bytes([head[8], head[9]])),
            _ => {
                head.resize(12, 0);
                reader.read_exact(&mut head[10..]).map_err(failed)?;
                u64::from(u32::from_le_bytes([head[8], head[9], head[10], head[11]]))
            }
        };
        if length > LONGEST_HEADER {
            return Err(bad(format!("a header of {length} bytes is too long for an array of numbers")).into());
        }
        let count = reader.by_ref().take(length).read_to_end(&mut head).map_err(failed)?;
        if (count as u64) < length {
            return Err(bad(format!("the header ends after {count} of {length} bytes")).into());
        }
        let entries = promised(&head).ok_or_else(|| bad("the shape in its header is not possible".to_owned()))?;
        // What is no array of plain entries is not read at all.
        if let Some(written) = kind(&head).filter(|kind| kind.starts_with('[') || kind.contains('O')) {
            return Err(bad(refused(&written)).into());
        }
        let file = NpyFile::new(Cursor::new(head.clone()).chain(reader)).map_err(failed)?;
        let width = match file.dtype() {
            DType::Plain(kind) => kind.num_bytes().unwrap_or(0).max(1) as u64,
            other => return Err(bad(refused(&other.descr())).into()),
        };
        let Some(bytes) = entries.checked_mul(width).filter(|&bytes| bytes <= available) else {
            let problem = format!("its header promises {entries} entries, more than a file of its size can hold");
            return Err(bad(problem).into());
        };
        let shape = file.shape().iter().map(|&k| k as usize).collect();
        Ok(Self { path, file, shape, end: head.len() as u64 + bytes })
    }

    /// The array as a matrix; a vector is a column. NaN are gaps.
    pub fn matrix(self, options: &ReadOptions, names: &Names) -> Result<(Matrix, BTreeMap<usize, Gap>)> {
        let (rows, columns) = match self.shape[..] {
            [rows] => (rows, 1),
            [rows, columns] => (rows, columns),
            _ => {
                let problem = format!("an array of {} dimensions is no matrix", self.shape.len());
                return Err(FileError::new(self.path, problem).into());
            }
        };
        let (path, by_columns) = (self.path, self.file.order() == Order::Fortran || columns == 1);
        let range = options.range(columns);
        let mut gaps = BTreeMap::new();
        let mut check = |value: io::Result<f64>, i: usize, j: usize| -> Result<f64> {
            let value = value.map_err(|e| FileError::new(path, format!("cannot be read: {e}")))?;
            if value.is_nan() {
                gaps.entry(j - range.start).or_insert(Gap { row: i as u64 + 1, line: None, count: 0 }).count += 1;
            } else if value.is_infinite() {
                let error = FileError::new(path, infinite(value));
                return Err(error.at_row(i as u64 + 1).in_column(names.get(j - range.start)).into());
            }
            Ok(value)
        };
        let numbers = numbers(path, self.file)?;
        let matrix = if by_columns {
            check_memory(path, 8 * rows as u128 * range.len() as u128, options)?;
            let mut data = Vec::with_capacity(rows * range.len());
            for (k, value) in numbers.enumerate().skip(range.start * rows).take(range.len() * rows) {
                data.push(check(value, k % rows, k / rows)?);
            }
            Matrix::Dense { rows, columns: range.len(), data }
        } else {
            let mut fill = Fill::new(path, rows, range.len(), options)?;
            let mut numbers = numbers.enumerate();
            for _ in 0..rows {
                let row = fill.row();
                for (k, value) in numbers.by_ref().take(columns) {
                    if range.contains(&(k % columns)) {
                        row.push(check(value, k / columns, k % columns)?);
                    } else {
                        value.map_err(|e| FileError::new(path, format!("cannot be read: {e}")))?;
                    }
                }
            }
            fill.finish(rows)
        };
        Ok((matrix, gaps))
    }

    /// The entries in their order.
    pub fn values(self) -> Result<Vec<f64>> {
        let path = self.path;
        let all: io::Result<Vec<f64>> = numbers(path, self.file)?.collect();
        all.map_err(|e| FileError::new(path, format!("cannot be read: {e}")).into())
    }

    /// The entries as texts.
    pub fn texts(self) -> Result<Vec<String>> {
        let path = self.path;
        let bad = |e: &dyn std::fmt::Display| FileError::new(path, format!("an array of texts cannot be read: {e}"));
        let reader = self.file.data::<String>().map_err(|e| bad(&e))?;
        reader.collect::<io::Result<Vec<String>>>().map_err(|e| bad(&e).into())
    }

    /// The one entry as bytes, as SciPy writes the name of a sparse format.
    pub fn bytes(self) -> Option<Vec<u8>> {
        self.file.data::<Vec<u8>>().ok()?.next()?.ok()
    }
}

/// The type of the entries as a header writes it; a list for records.
fn kind(head: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(head);
    let written = text.split_once("'descr'")?.1.split_once(':')?.1.trim_start();
    match written.strip_prefix('\'') {
        Some(plain) => plain.split_once('\'').map(|found| found.0.to_owned()),
        None => Some(written.to_owned()),
    }
}

/// What is wrong with entries of another type, and what to do.
fn refused(written: &str) -> String {
    format!(
        "its entries are of dtype {}; read are float64, float32, whole numbers and bool: numpy.save(file, {})",
        numpy_type(written),
        numpy_remedy(written)
    )
}

/// The product of the shape that a header names, where it can be one.
fn promised(head: &[u8]) -> Option<u64> {
    let text = String::from_utf8_lossy(head);
    let shape = text.split_once("shape")?.1.split_once('(')?.1.split_once(')')?.0;
    let sizes = shape.split(',').map(str::trim).filter(|word| !word.is_empty());
    let mut product = 1u64;
    // A zero must not hide what the others would make on the way.
    for size in sizes {
        product = product.checked_mul(size.trim_end_matches('L').parse::<u64>().ok()?.max(1))?;
    }
    Some(product)
}

/// The entries as `f64`, whatever number they are.
fn numbers<'r, R: Read + 'r>(path: &Path, file: NpyFile<R>) -> Result<Numbers<'r>> {
    macro_rules! try_types {
        ($file:ident, $($kind:ty),*) => {{
            let file = $file;
            $(let file = match file.try_data::<$kind>() {
                Ok(reader) => return Ok(Box::new(reader.map(|x| x.map(|x| x as f64)))),
                Err(file) => file,
            };)*
            file
        }};
    }
    let file = try_types!(file, f64, f32, i64, i32, i16, i8, u64, u32, u16, u8);
    match file.try_data::<bool>() {
        Ok(reader) => Ok(Box::new(reader.map(|x| x.map(|x| f64::from(u8::from(x)))))),
        Err(file) => Err(FileError::new(path, refused(file.dtype().descr().trim_matches('\''))).into()),
    }
}
