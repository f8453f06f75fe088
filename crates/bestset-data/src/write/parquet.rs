//! Parquet: one row group, numbers as doubles, texts as strings, both nullable.

use crate::table::{Place, Table};
use ::parquet::basic::{Compression, LogicalType, Repetition, Type as Physical, ZstdLevel};
use ::parquet::data_type::{ByteArray, ByteArrayType, DoubleType};
use ::parquet::errors::ParquetError;
use ::parquet::file::properties::WriterProperties;
use ::parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use ::parquet::schema::types::Type;
use std::io::{self, Write};
use std::sync::Arc;

pub fn write(table: &Table, out: impl Write + Send) -> io::Result<()> {
    write_parts(table, out).map_err(io::Error::other)
}

fn write_parts(table: &Table, out: impl Write + Send) -> Result<(), ParquetError> {
    let mut fields = Vec::new();
    for position in 0..table.columns() {
        fields.push(field(&table.name(position), matches!(table.place(position), Place::Text(_)))?);
    }
    if let Some(label) = &table.label {
        fields.push(field(&label.name, false)?);
    }
    let schema = Arc::new(Type::group_type_builder("schema").with_fields(fields).build()?);
    let compression = Compression::ZSTD(ZstdLevel::default());
    let properties = Arc::new(WriterProperties::builder().set_compression(compression).build());
    let mut writer = SerializedFileWriter::new(out, schema, properties)?;
    let mut group = writer.next_row_group()?;
    for position in 0..table.columns() {
        match table.place(position) {
            Place::Number(j) => numbers(&mut group, &table.numbers.column(j))?,
            Place::Text(t) => {
                let text = &table.texts[t];
                let levels: Vec<i16> = (0..table.rows()).map(|i| i16::from(text.get(i).is_some())).collect();
                let values: Vec<ByteArray> =
                    (0..table.rows()).filter_map(|i| text.get(i)).map(ByteArray::from).collect();
                if let Some(mut column) = group.next_column()? {
                    column.typed::<ByteArrayType>().write_batch(&values, Some(&levels), None)?;
                    column.close()?;
                }
            }
        }
    }
    if let Some(label) = &table.label {
        numbers(&mut group, &label.values)?;
    }
    group.close()?;
    writer.close()?;
    Ok(())
}

fn field(name: &str, text: bool) -> Result<Arc<Type>, ParquetError> {
    let (kind, meaning) =
        if text { (Physical::BYTE_ARRAY, Some(LogicalType::String)) } else { (Physical::DOUBLE, None) };
    let builder = Type::primitive_type_builder(name, kind).with_repetition(Repetition::OPTIONAL);
    Ok(Arc::new(builder.with_logical_type(meaning).build()?))
}

fn numbers<W: Write + Send>(group: &mut SerializedRowGroupWriter<'_, W>, values: &[f64]) -> Result<(), ParquetError> {
    let levels: Vec<i16> = values.iter().map(|x| i16::from(!x.is_nan())).collect();
    let known: Vec<f64> = values.iter().copied().filter(|x| !x.is_nan()).collect();
    if let Some(mut column) = group.next_column()? {
        column.typed::<DoubleType>().write_batch(&known, Some(&levels), None)?;
        column.close()?;
    }
    Ok(())
}
