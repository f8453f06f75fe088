//! Formats made of lines. Numbers are written with as many digits as bring the same bits back.

use super::Rows;
use crate::matrix::Matrix;
use crate::table::{Place, Table};
use ::csv::WriterBuilder;
use std::io::{self, Write};
use std::path::Path;

/// A number, short where it is whole.
fn number(value: f64) -> String {
    match value {
        v if v.is_nan() => String::new(),
        v if v.fract() == 0.0 && v.abs() < 1e15 => format!("{v:.0}"),
        v => format!("{v:?}"),
    }
}

pub fn csv(table: &Table, path: &Path, out: &mut dyn Write) -> io::Result<()> {
    let name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default();
    let tabs = [".tsv", ".tab"].iter().any(|end| name.contains(end));
    let mut writer = WriterBuilder::new().delimiter(if tabs { b'\t' } else { b',' }).from_writer(out);
    let columns = table.columns();
    let places: Vec<Place> = (0..columns).map(|position| table.place(position)).collect();
    let names = (0..columns).map(|position| table.name(position));
    writer.write_record(names.chain(table.label.as_ref().map(|label| label.name.clone())))?;
    let rows = Rows::new(&table.numbers);
    let mut row = vec![0.0; table.numbers.columns()];
    for i in 0..table.rows() {
        rows.full(i, &mut row);
        for place in &places {
            match place {
                Place::Number(j) => writer.write_field(number(row[*j]))?,
                Place::Text(t) => writer.write_field(table.texts[*t].get(i).unwrap_or_default())?,
            }
        }
        if let Some(label) = &table.label {
            writer.write_field(number(label.values[i]))?;
        }
        writer.write_record(None::<&[u8]>)?;
    }
    writer.flush()
}

pub fn libsvm(table: &Table, out: &mut dyn Write) -> io::Result<()> {
    let rows = Rows::new(&table.numbers);
    let (mut entries, last) = (Vec::new(), table.numbers.columns() as u32 - 1);
    for i in 0..table.rows() {
        let label = table.label.as_ref().map_or(0.0, |label| label.values[i]);
        write!(out, "{}", number(label))?;
        rows.nonzeros(i, &mut entries);
        // The width of the matrix is that of its largest index: a zero there keeps it.
        if i == 0 && entries.last().is_none_or(|entry| entry.0 != last) {
            entries.push((last, 0.0));
        }
        for (j, value) in &entries {
            write!(out, " {}:{}", j + 1, number(*value))?;
        }
        writeln!(out)?;
    }
    Ok(())
}

pub fn market(table: &Table, out: &mut dyn Write) -> io::Result<()> {
    let (rows, columns) = (table.rows(), table.numbers.columns());
    match &table.numbers {
        Matrix::Dense { data, .. } => {
            writeln!(out, "%%MatrixMarket matrix array real general")?;
            writeln!(out, "{rows} {columns}")?;
            data.iter().try_for_each(|value| writeln!(out, "{}", number(*value)))
        }
        Matrix::Sparse { starts, indices, values, .. } => {
            writeln!(out, "%%MatrixMarket matrix coordinate real general")?;
            writeln!(out, "{rows} {columns} {}", values.len())?;
            for j in 0..columns {
                for k in starts[j]..starts[j + 1] {
                    writeln!(out, "{} {} {}", indices[k] + 1, j + 1, number(values[k]))?;
                }
            }
            Ok(())
        }
    }
}
