//! Tables that need not fit into memory: some columns at a time, from one file to a NumPy array by columns.

mod parts;

use crate::error::{FileError, Result};
use crate::file::{Compression, Format, ReadOptions, Source, survey};
use crate::matrix::{Matrix, Names};
use crate::table::{Label, Table};
use crate::write::{check_numbers, is_folder, write_names};
use bestset::design::remove_column_names;
use bestset::file::{Place, place, replace};
use npyz::{Order, WriteOptions, WriterBuilder};
use std::io::{BufWriter, Write};
use std::path::Path;

/// Least bytes of the columns that are read at a time: less would only mean more readings.
const LEAST: usize = 1 << 20;

/// What was converted.
#[derive(Debug, Clone, PartialEq)]
pub struct Converted {
    /// Rows.
    pub rows: usize,
    /// Columns written, the label not among them.
    pub columns: usize,
    /// The column that was to be the label.
    pub label: Option<Label>,
    /// What was taken for granted in reading, one sentence each.
    pub notes: Vec<String>,
    /// How often the file was read.
    pub readings: usize,
}

/// Columns of a file into a NumPy array in Fortran order, with a file of their names beside it ([`bestset::design::column_names`]), so many
/// at a time as `options.max_memory`, or half of what the machine has to spare, has room for: the file is read as often as that takes. So are sparse columns of LIBSVM and Matrix Market
/// into a folder of their parts, where there is a limit on memory.
/// `None` where this is no such conversion: CSV, Parquet and NPY are read so, and written to a regular file that is not compressed.
///
/// ```
/// use bestset_data::{ReadOptions, convert};
///
/// let folder = std::env::temp_dir().join(format!("bestset-doc-convert-{}", std::process::id()));
/// std::fs::create_dir_all(&folder)?;
/// std::fs::write(folder.join("t.csv"), "a,b,y\n1,2,3\n4,5,6\n")?;
/// let done = convert(folder.join("t.csv"), folder.join("t.npy"), &ReadOptions::default(), Some("y"), &[])?;
/// assert_eq!(done.unwrap().label.unwrap().values, [3.0, 6.0]);
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn convert(
    from: impl AsRef<Path>,
    to: impl AsRef<Path>,
    options: &ReadOptions,
    label: Option<&str>,
    drop: &[String],
) -> Result<Option<Converted>> {
    let (from, to) = (from.as_ref(), to.as_ref());
    if is_folder(to) && label.is_none() && drop.is_empty() && from.as_os_str() != "-" {
        return parts::convert(from, to, options);
    }
    let is_plain = Format::of_name(to) == Some(Format::Npy) && Compression::of_name(to) == Compression::None;
    let Place::Regular(file) = place(to) else { return Ok(None) };
    if !is_plain || from.as_os_str() == "-" {
        return Ok(None);
    }
    let Some(found) = survey(&Source::new(from)?, options)? else { return Ok(None) };
    let nothing = Matrix::Dense { rows: 0, columns: found.columns, data: Vec::new() };
    let all = Table::of_numbers(from.to_owned(), nothing, found.names, None);
    let label = label.map(|name| all.find(name).map(|k| (k, all.name(k)))).transpose()?;
    let mut gone = drop.iter().map(|name| all.find(name)).collect::<Result<Vec<usize>>>()?;
    gone.extend(label.iter().map(|label| label.0));
    gone.sort_unstable();
    gone.dedup();
    // Half for the columns, half for what reading and writing them takes besides.
    let limits = bestset::Options { max_memory: options.max_memory, ..bestset::Options::default() };
    let room = (limits.memory_limit() / 2).max(LEAST);
    let width = (room as u64 / (8 * found.rows.max(1))).clamp(1, found.columns.max(1) as u64) as usize;
    let names = match &all.names {
        Names::Listed(names) => {
            let kept = names.iter().enumerate().filter(|(k, _)| gone.binary_search(k).is_err());
            Names::Listed(kept.map(|(_, name)| name.clone()).collect())
        }
        numbered => numbered.clone(),
    };
    let mut task = Task { from, to, options, gone, label, width, columns: found.columns, failed: None };
    let mut done = None;
    let written = replace(&file, |part| {
        let mut out = BufWriter::with_capacity(1 << 20, part);
        done = task.run(&mut out)?;
        out.flush()?;
        // What is written takes its place after this.
        remove_column_names(to)
    })
    .and_then(|()| write_names(to, &names));
    match (task.failed.take(), written) {
        (Some(error), _) => Err(error),
        (None, Err(e)) => Err(FileError::new(to, format!("cannot be written: {e}")).into()),
        (None, Ok(())) => Ok(done),
    }
}

struct Task<'t> {
    from: &'t Path,
    to: &'t Path,
    options: &'t ReadOptions,
    /// Columns that are not written.
    gone: Vec<usize>,
    label: Option<(usize, String)>,
    /// Columns of one reading, and of all.
    width: usize,
    columns: usize,
    /// Why reading failed, which an error of writing cannot say.
    failed: Option<crate::Error>,
}

impl Task<'_> {
    fn run(&mut self, out: &mut dyn Write) -> std::io::Result<Option<Converted>> {
        let ranges: Vec<usize> = (0..self.columns).step_by(self.width).collect();
        let mut done: Option<Converted> = None;
        let mut writer = None;
        let mut out = Some(out);
        for &start in &ranges {
            let (table, label) = match self.part(start, done.as_ref().map(|d| d.rows)) {
                Ok(part) => part,
                Err(error) => {
                    self.failed = Some(error);
                    return Err(std::io::Error::other("the table cannot be read"));
                }
            };
            let (rows, columns, readings) = (table.rows(), self.columns - self.gone.len(), ranges.len());
            let notes = table.notes.clone();
            let known = done.get_or_insert(Converted { rows, columns, label: None, notes, readings });
            known.label = label.or(known.label.take());
            if let Some(out) = out.take() {
                let shape = [rows as u64, columns as u64];
                let builder = WriteOptions::<f64>::new().default_dtype().shape(&shape).order(Order::Fortran);
                writer = Some(builder.writer(out).begin_nd()?);
            }
            let Some(writer) = &mut writer else { continue };
            for j in 0..table.numbers.columns() {
                writer.extend(table.numbers.column(j).iter().copied())?;
            }
        }
        writer.map(|writer| writer.finish()).transpose()?;
        Ok(done)
    }

    /// The columns from `start` on that are wanted, and the label if it is among them.
    fn part(&self, start: usize, rows: Option<usize>) -> Result<(Table, Option<Label>)> {
        let range = start..(start + self.width).min(self.columns);
        let options = ReadOptions { columns: Some(range.clone()), ..self.options.clone() };
        let mut table = crate::read(self.from, &options)?;
        if rows.is_some_and(|rows| rows != table.rows()) {
            let problem =
                format!("had {} rows and now has {}: did it change meanwhile?", rows.unwrap_or(0), table.rows());
            return Err(FileError::new(self.from, problem).into());
        }
        let label = match self.label.as_ref().filter(|label| range.contains(&label.0)) {
            Some((place, name)) => {
                let values = table.label_at(place - start)?;
                Some(Label { name: name.clone(), values })
            }
            None => None,
        };
        table.remove(self.gone.iter().filter(|k| range.contains(k)).map(|k| k - start).collect());
        check_numbers(&table, self.to)?;
        Ok((table, label))
    }
}
