//! Parquet, column by column: a column goes straight to its place in the matrix.

use super::records::not_utf8;
use super::source::Source;
use super::{ReadOptions, Survey, check_memory};
use crate::error::{FileError, Result, infinite};
use crate::levels::Levels;
use crate::matrix::{Matrix, Names};
use crate::table::{Gap, Table, TextColumn};
use ::parquet::basic::{ConvertedType, LogicalType, Type};
use ::parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use ::parquet::data_type::{ByteArray, DataType, FixedLenByteArray};
use ::parquet::file::reader::{FileReader, SerializedFileReader};
use ::parquet::schema::types::ColumnDescriptor;
use std::collections::BTreeMap;
use std::panic;
use std::sync::Arc;

/// Rows read at once.
const BATCH: usize = 1 << 14;

/// What is made of a column.
enum ColumnValues {
    Numbers(Vec<f64>),
    Texts { levels: Levels, codes: Vec<u32> },
}

struct ParquetColumns<'s> {
    source: &'s Source,
    reader: Box<dyn FileReader>,
    gaps: BTreeMap<usize, Gap>,
}

pub fn read(source: &Source, options: &ReadOptions) -> Result<Table> {
    undamaged(source, || read_columns(source, options))
}

/// What the library panics at in damaged files is an error like any other.
fn undamaged<T>(source: &Source, read: impl FnOnce() -> Result<T>) -> Result<T> {
    let read = panic::catch_unwind(panic::AssertUnwindSafe(read));
    read.unwrap_or_else(|panicked| {
        let text = panicked.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panicked.downcast_ref::<&str>().copied()).unwrap_or("it cannot be read");
        Err(source.bad(format!("is damaged: {text}")).into())
    })
}

fn open(source: &Source) -> Result<Box<dyn FileReader>> {
    let reader: ::parquet::errors::Result<Box<dyn FileReader>> = match source.whole()? {
        Ok(bytes) => SerializedFileReader::new(bytes).map(|r| Box::new(r) as Box<dyn FileReader>),
        Err(file) => SerializedFileReader::new(file).map(|r| Box::new(r) as Box<dyn FileReader>),
    };
    Ok(reader.map_err(|e| source.bad(format!("is not Parquet: {e}")))?)
}

/// The size of the table, as its last bytes say.
pub fn survey(source: &Source) -> Result<Survey> {
    undamaged(source, || {
        let reader = open(source)?;
        let known = reader.metadata().file_metadata();
        let schema = known.schema_descr_ptr();
        let names: Vec<String> = (0..schema.num_columns()).map(|k| schema.column(k).path().string()).collect();
        Ok(Survey { rows: known.num_rows().max(0) as u64, columns: names.len(), names: Names::Listed(names) })
    })
}

fn read_columns(source: &Source, options: &ReadOptions) -> Result<Table> {
    let reader = open(source)?;
    let schema = reader.metadata().file_metadata().schema_descr_ptr();
    let range = options.range(schema.num_columns());
    let mut all = ParquetColumns { source, reader, gaps: BTreeMap::new() };
    let (mut names, mut texts) = (Vec::new(), Vec::new());
    let (mut data, mut rows) = (Vec::new(), None);
    let numeric = range.clone().filter(|&k| !is_text(&schema.column(k))).count();
    for (position, place) in range.enumerate() {
        let description = schema.column(place);
        let name = description.path().string();
        let values = all.column((place, position), &description, &name)?;
        let found = match &values {
            ColumnValues::Numbers(values) => values.len(),
            ColumnValues::Texts { codes, .. } => codes.len(),
        };
        if *rows.get_or_insert(found) != found {
            let problem = format!("the column has {found} rows, others {}", rows.unwrap_or_default());
            return Err(source.bad(problem).in_column(name).into());
        }
        match values {
            ColumnValues::Numbers(values) => {
                if data.is_empty() {
                    check_memory(&source.path, 8 * found as u128 * numeric as u128, options)?;
                    data.reserve_exact(found * numeric);
                }
                data.extend_from_slice(&values);
                names.push(name);
            }
            ColumnValues::Texts { levels, codes } => {
                texts.push(TextColumn { name, position, levels: levels.texts, codes });
            }
        }
    }
    let rows = rows.unwrap_or_default();
    let numbers = Matrix::Dense { rows, columns: names.len(), data };
    let names = Names::Listed(names);
    let (path, gaps) = (source.path.clone(), all.gaps);
    Ok(Table { source: path, numbers, names, texts, label: None, gaps, first_line: None, notes: Vec::new() })
}

fn is_text(column: &ColumnDescriptor) -> bool {
    column.physical_type() == Type::BYTE_ARRAY
}

impl ParquetColumns<'_> {
    fn bad(&self, name: &str, problem: impl Into<String>) -> FileError {
        self.source.bad(problem).in_column(name)
    }

    /// All rows of the column at a place of the file, which is the one of this position among those that are read.
    fn column(
        &mut self,
        (place, position): (usize, usize),
        column: &Arc<ColumnDescriptor>,
        name: &str,
    ) -> Result<ColumnValues> {
        if column.max_rep_level() > 0 {
            return Err(self.bad(name, "holds lists; a column must have one value in each row").into());
        }
        let scale = self.scale(column, name)?;
        let mut values = match is_text(column) {
            true => ColumnValues::Texts { levels: Levels::default(), codes: Vec::new() },
            false => ColumnValues::Numbers(Vec::new()),
        };
        for group in 0..self.reader.num_row_groups() {
            let failed = |e: ::parquet::errors::ParquetError| self.bad(name, format!("cannot be read: {e}"));
            let group = self.reader.get_row_group(group).map_err(failed)?;
            let chunk = group.metadata().column(place);
            let (start, bytes) =
                (chunk.dictionary_page_offset().unwrap_or(chunk.data_page_offset()), chunk.compressed_size());
            // The library takes for granted what a damaged file need not keep to.
            if start < 0 || bytes < 0 {
                return Err(self
                    .bad(name, format!("is said to begin at byte {start} and to have {bytes} bytes"))
                    .into());
            }
            let reader = group.get_column_reader(place).map_err(failed)?;
            take(reader, column, scale, &mut values).map_err(|problem| self.bad(name, problem))?;
        }
        self.find_gaps(position, name, &values)?;
        Ok(values)
    }

    /// What a whole number is multiplied with: less than one for decimals. Refuses types that mean no number.
    fn scale(&self, column: &ColumnDescriptor, name: &str) -> Result<f64> {
        let refuse = |what: &str| Err(self.bad(name, format!("holds {what}, which cannot be read as numbers")).into());
        match (column.logical_type_ref(), column.physical_type()) {
            (Some(LogicalType::Float16), _) => Ok(1.0),
            (_, Type::INT96) => refuse("timestamps"),
            (Some(LogicalType::Decimal { .. }), Type::INT32 | Type::INT64) => Ok(10f64.powi(-column.type_scale())),
            (_, Type::FIXED_LEN_BYTE_ARRAY) => refuse("bytes of fixed length"),
            (Some(LogicalType::Decimal { .. }), _) => refuse("decimals of many digits"),
            _ => Ok(1.0),
        }
    }

    fn find_gaps(&mut self, position: usize, name: &str, values: &ColumnValues) -> Result<()> {
        let mut gaps: Vec<usize> = Vec::new();
        match values {
            ColumnValues::Numbers(values) => {
                if let Some(row) = values.iter().position(|x| x.is_infinite()) {
                    let error = self.bad(name, infinite(values[row]));
                    return Err(error.at_row(row as u64 + 1).into());
                }
                gaps.extend((0..values.len()).filter(|&i| values[i].is_nan()));
            }
            ColumnValues::Texts { codes, .. } => {
                gaps.extend((0..codes.len()).filter(|&i| codes[i] == TextColumn::MISSING));
            }
        }
        if let Some(first) = gaps.first() {
            self.gaps.insert(position, Gap { row: *first as u64 + 1, line: None, count: gaps.len() as u64 });
        }
        Ok(())
    }
}

fn is_unsigned(column: &ColumnDescriptor) -> bool {
    matches!(
        column.converted_type(),
        ConvertedType::UINT_8 | ConvertedType::UINT_16 | ConvertedType::UINT_32 | ConvertedType::UINT_64
    )
}

/// A half-precision number, which is two bytes.
fn half(bytes: &FixedLenByteArray) -> f64 {
    let [low, high] = bytes.data() else { return f64::NAN };
    let bits = u16::from_le_bytes([*low, *high]);
    let (sign, exponent, fraction) = (bits >> 15, i32::from(bits >> 10 & 0x1f), f64::from(bits & 0x3ff));
    let size = match exponent {
        0 => fraction * 2f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1.0 + fraction / 1024.0) * 2f64.powi(exponent - 15),
    };
    if sign == 1 { -size } else { size }
}

/// Numbers of a column, NaN where there is none.
fn numbers<T: DataType>(
    reader: ColumnReaderImpl<T>,
    levels: i16,
    to: &mut Vec<f64>,
    convert: impl Fn(&T::T) -> f64,
) -> std::result::Result<(), String> {
    batches(reader, levels, |value| to.push(value.map_or(f64::NAN, &convert)))
}

/// Reads a chunk of a column to the end of its values.
fn take(
    reader: ColumnReader,
    column: &ColumnDescriptor,
    scale: f64,
    values: &mut ColumnValues,
) -> std::result::Result<(), String> {
    use ColumnReader::*;
    use ColumnValues::{Numbers, Texts};
    let levels = column.max_def_level();
    match (reader, values) {
        (BoolColumnReader(r), Numbers(to)) => numbers(r, levels, to, |x| f64::from(u8::from(*x))),
        (Int32ColumnReader(r), Numbers(to)) if is_unsigned(column) => numbers(r, levels, to, |x| f64::from(*x as u32)),
        (Int32ColumnReader(r), Numbers(to)) => numbers(r, levels, to, |x| f64::from(*x) * scale),
        (Int64ColumnReader(r), Numbers(to)) if is_unsigned(column) => numbers(r, levels, to, |x| *x as u64 as f64),
        (Int64ColumnReader(r), Numbers(to)) => numbers(r, levels, to, |x| *x as f64 * scale),
        (FloatColumnReader(r), Numbers(to)) => numbers(r, levels, to, |x| f64::from(*x)),
        (DoubleColumnReader(r), Numbers(to)) => numbers(r, levels, to, |x| *x),
        (FixedLenByteArrayColumnReader(r), Numbers(to)) => numbers(r, levels, to, half),
        (ByteArrayColumnReader(r), Texts { levels: known, codes }) => texts(r, levels, known, codes),
        _ => Err("is of a type that cannot be read as numbers".to_owned()),
    }
}

/// Texts by their codes; an error that shows the first one of another encoding.
fn texts<T: DataType<T = ByteArray>>(
    reader: ColumnReaderImpl<T>,
    levels: i16,
    known: &mut Levels,
    codes: &mut Vec<u32>,
) -> std::result::Result<(), String> {
    let mut foreign = None;
    let mut code = |text: &ByteArray| {
        known.code_of(text.data()).unwrap_or_else(|_| {
            foreign.get_or_insert_with(|| not_utf8(text.data()));
            TextColumn::MISSING
        })
    };
    batches(reader, levels, |text| codes.push(text.map_or(TextColumn::MISSING, &mut code)))?;
    foreign.map_or(Ok(()), Err)
}

/// Hands every row of a column to `sink`, in order.
fn batches<T: DataType>(
    mut reader: ColumnReaderImpl<T>,
    levels: i16,
    mut sink: impl FnMut(Option<&T::T>),
) -> std::result::Result<(), String> {
    let (mut values, mut defined): (Vec<T::T>, Vec<i16>) = (Vec::new(), Vec::new());
    loop {
        values.clear();
        defined.clear();
        let read = reader.read_records(BATCH, (levels > 0).then_some(&mut defined), None, &mut values);
        let (records, ..) = read.map_err(|e| format!("cannot be read: {e}"))?;
        if records == 0 {
            return Ok(());
        }
        if levels == 0 {
            values.iter().for_each(|value| sink(Some(value)));
            continue;
        }
        let mut given = values.iter();
        defined.iter().for_each(|level| sink(if *level == levels { given.next() } else { None }));
    }
}
