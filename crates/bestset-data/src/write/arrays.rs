//! NumPy arrays and archives of them.

use crate::matrix::{Matrix, Names};
use crate::table::Table;
use bestset::design::write_column_names;
use bestset::file::replace;
use npyz::{AutoSerialize, DType, Order, Serialize, TypeStr, WriteOptions, WriterBuilder};
use std::io::{self, BufWriter, Seek, Write};
use std::path::Path;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// The columns of numbers by columns; a label is not part of it.
pub fn write_npy(table: &Table, out: &mut dyn Write) -> io::Result<()> {
    let shape = [table.rows() as u64, table.numbers.columns() as u64];
    let builder = WriteOptions::<f64>::new().default_dtype().shape(&shape).order(Order::Fortran);
    let mut writer = builder.writer(out).begin_nd()?;
    for j in 0..table.numbers.columns() {
        writer.extend(table.numbers.column(j).iter().copied())?;
    }
    writer.finish()
}

/// The names of columns beside their array, where they have some. Those of an array that stood there before went before this one came.
pub fn write_names(array: &Path, names: &Names) -> io::Result<()> {
    match names {
        Names::Listed(names) => write_column_names(array, names),
        Names::Numbered { .. } => Ok(()),
    }
}

/// `X` or the parts of a sparse matrix as SciPy names them, `y` where there is a label, `names` where columns have names.
pub fn write_npz(table: &Table, out: impl Write + Seek) -> io::Result<()> {
    let mut zip = ZipWriter::new(out);
    match &table.numbers {
        Matrix::Dense { .. } => {
            start(&mut zip, "X")?;
            write_npy(table, &mut zip)?;
        }
        Matrix::Sparse { rows, starts, indices, values } => {
            let text: DType = DType::Plain("|S3".parse::<TypeStr>().map_err(io::Error::other)?);
            start(&mut zip, "format")?;
            let mut writer = WriteOptions::<[u8]>::new().dtype(text).shape(&[]).writer(&mut zip).begin_nd()?;
            writer.push(b"csc".as_slice())?;
            writer.finish()?;
            vector(&mut zip, "shape", &[*rows as i64, starts.len() as i64 - 1])?;
            vector(&mut zip, "indptr", &starts.iter().map(|&k| k as i64).collect::<Vec<_>>())?;
            vector(&mut zip, "indices", &indices.iter().map(|&k| i64::from(k)).collect::<Vec<_>>())?;
            vector(&mut zip, "data", values)?;
        }
    }
    if let Some(label) = &table.label {
        vector(&mut zip, "y", &label.values)?;
    }
    if let Names::Listed(names) = &table.names {
        let longest = names.iter().map(|n| n.chars().count()).max().unwrap_or(1).max(1);
        let text: DType = DType::Plain(format!("<U{longest}").parse::<TypeStr>().map_err(io::Error::other)?);
        start(&mut zip, "names")?;
        let shape = [names.len() as u64];
        let mut writer = WriteOptions::<str>::new().dtype(text).shape(&shape).writer(&mut zip).begin_nd()?;
        names.iter().try_for_each(|name| writer.push(name.as_str()))?;
        writer.finish()?;
    }
    zip.finish().map_err(io::Error::other)?.flush()
}

/// The parts of a sparse matrix by columns, each a file of a folder, as [`Stored`](bestset::design::Stored) reads them; `y.npy` where there
/// is a label.
pub fn write_parts(table: &Table, folder: &Path) -> io::Result<()> {
    let Matrix::Sparse { rows, starts, indices, values } = &table.numbers else {
        return Err(io::Error::other(
            "a folder takes sparse columns, and the table has all of its entries: write a .npy file",
        ));
    };
    std::fs::create_dir_all(folder)?;
    let whole =
        |what: &str, i: usize| i32::try_from(i).map_err(|_| io::Error::other(format!("{what} {i} is too large")));
    let places = indices.iter().map(|&i| whole("row", i as usize)).collect::<io::Result<Vec<i32>>>()?;
    part(folder, "shape", &[*rows as i64, starts.len() as i64 - 1])?;
    part(folder, "indptr", &starts.iter().map(|&k| k as i64).collect::<Vec<_>>())?;
    part(folder, "indices", &places)?;
    part(folder, "data", values)?;
    table.label.as_ref().map_or(Ok(()), |label| part(folder, "y", &label.values))
}

/// A vector as a file of its own.
pub(crate) fn part<T: AutoSerialize + Serialize + Copy>(folder: &Path, name: &str, values: &[T]) -> io::Result<()> {
    replace(&folder.join(format!("{name}.npy")), |file| {
        let mut out = BufWriter::with_capacity(1 << 18, file);
        array(&mut out, values)?;
        out.flush()
    })
}

/// A vector as an array.
pub fn array<T: AutoSerialize + Serialize + Copy>(out: &mut dyn Write, values: &[T]) -> io::Result<()> {
    let builder = WriteOptions::<T>::new().default_dtype().shape(&[values.len() as u64]);
    let mut writer = builder.writer(out).begin_nd()?;
    writer.extend(values.iter().copied())?;
    writer.finish()
}

fn start<W: Write + Seek>(zip: &mut ZipWriter<W>, name: &str) -> io::Result<()> {
    let options = SimpleFileOptions::default().large_file(true);
    zip.start_file(format!("{name}.npy"), options).map_err(io::Error::other)
}

fn vector<T: AutoSerialize + Serialize + Copy, W: Write + Seek>(
    zip: &mut ZipWriter<W>,
    name: &str,
    values: &[T],
) -> io::Result<()> {
    start(zip, name)?;
    array(zip, values)
}
