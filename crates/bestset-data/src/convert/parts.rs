//! Sparse matrices that need not fit into memory: entries are counted in a first reading, then some columns at a time are read and
//! written behind those before.

use super::{Converted, LEAST};
use crate::error::{FileError, Result};
use crate::file::{ReadOptions, Source, SparseSurvey, sparse_columns, survey_sparse};
use crate::matrix::Matrix;
use crate::table::Label;
use crate::write::part;
use bestset::file::replace;
use npyz::{WriteOptions, WriterBuilder};
use std::io::{BufWriter, Write};
use std::ops::Range;
use std::path::Path;

/// Bytes that an entry takes on its way: as it is read, and in columns.
const ENTRY: u64 = 40;

/// A folder of parts, if there is a limit on memory and the file is sparse.
pub(super) fn convert(from: &Path, folder: &Path, options: &ReadOptions) -> Result<Option<Converted>> {
    let (Some(limit), source) = (options.max_memory, Source::new(from)?) else { return Ok(None) };
    let Some(mut survey) = survey_sparse(&source, options)? else { return Ok(None) };
    if survey.rows == 0 {
        return Err(FileError::new(from, "there are no rows").into());
    }
    let ranges = ranges(&survey.counts, limit.max(LEAST) as u64 / ENTRY);
    let mut failed = None;
    let written = std::fs::create_dir_all(folder).and_then(|()| {
        replace(&folder.join("indices.npy"), |rows| {
            replace(&folder.join("data.npy"), |values| {
                let outs = [rows, values].map(|file| BufWriter::with_capacity(1 << 20, file));
                columns(&source, &survey, &ranges, outs, &mut failed)
            })
        })?;
        let starts = std::iter::once(0).chain(survey.counts.iter().scan(0, |sum, count| {
            *sum += *count as i64;
            Some(*sum)
        }));
        part(folder, "indptr", &starts.collect::<Vec<i64>>())?;
        part(folder, "shape", &[survey.rows as i64, survey.counts.len() as i64])?;
        survey.label.as_ref().map_or(Ok(()), |label| part(folder, "y", label))
    });
    match (failed, written) {
        (Some(error), _) => Err(error),
        (None, Err(e)) => Err(FileError::new(folder, format!("cannot be written: {e}")).into()),
        (None, Ok(())) => Ok(Some(Converted {
            rows: survey.rows,
            columns: survey.counts.len(),
            label: survey.label.take().map(|values| Label { name: "y".to_owned(), values }),
            notes: Vec::new(),
            readings: 1 + ranges.len(),
        })),
    }
}

/// Neighbouring columns of at most so many entries together, one column at the least.
fn ranges(counts: &[u64], most: u64) -> Vec<Range<usize>> {
    let (mut ranges, mut held) = (Vec::<Range<usize>>::new(), 0);
    for (j, &count) in counts.iter().enumerate() {
        match ranges.last_mut() {
            Some(last) if held + count <= most => (last.end, held) = (j + 1, held + count),
            _ => {
                ranges.push(j..j + 1);
                held = count;
            }
        }
    }
    ranges
}

/// Row indices and values of all columns, one reading for each range.
fn columns(
    source: &Source,
    survey: &SparseSurvey,
    ranges: &[Range<usize>],
    [mut to_rows, mut to_values]: [BufWriter<&mut std::fs::File>; 2],
    failed: &mut Option<crate::Error>,
) -> std::io::Result<()> {
    let shape = [survey.counts.iter().sum::<u64>()];
    let mut rows = WriteOptions::<i32>::new().default_dtype().shape(&shape).writer(&mut to_rows).begin_nd()?;
    let mut numbers = WriteOptions::<f64>::new().default_dtype().shape(&shape).writer(&mut to_values).begin_nd()?;
    for range in ranges {
        let (indices, values) = match sparse_columns(source, survey, range.clone()) {
            Ok(Matrix::Sparse { indices, values, .. }) => (indices, values),
            Ok(_) => (Vec::new(), Vec::new()),
            Err(error) => {
                *failed = Some(error);
                return Err(std::io::Error::other("the matrix cannot be read"));
            }
        };
        let whole = |i: u32| i32::try_from(i).map_err(|_| std::io::Error::other(format!("row {i} is too large")));
        indices.into_iter().try_for_each(|i| rows.push(&whole(i)?))?;
        numbers.extend(values)?;
    }
    rows.finish()?;
    numbers.finish()?;
    to_rows.flush()?;
    to_values.flush()
}
