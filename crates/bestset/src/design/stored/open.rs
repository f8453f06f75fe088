//! What the files of a matrix say of themselves, held against each other before a column is read.

use super::bed::Bed;
use super::names::{numpy_remedy, numpy_type};
use super::npy::{NpyHeader, read_numbers};
use super::source::{Source, bad};
use crate::error::Result;
use std::path::Path;

/// The numbers of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    F64,
    F32,
    I8,
    /// Two bits a person.
    Genotype,
}

impl Kind {
    pub(super) fn of(header: &NpyHeader, source: &Source) -> Result<Self> {
        match header.kind.as_str() {
            "<f8" => Ok(Self::F64),
            "<f4" => Ok(Self::F32),
            "|i1" | "<i1" => Ok(Self::I8),
            other => {
                let reason = format!(
                    "its numbers are of dtype {}; columns on disk are float64, float32 or int8, little-endian: \
                     numpy.save(file, numpy.asfortranarray({}))",
                    numpy_type(other),
                    numpy_remedy(other)
                );
                Err(bad(source.path(), "the header", reason))
            }
        }
    }

    /// Bytes of so many numbers of a column.
    pub(super) fn bytes(self, count: u64) -> u64 {
        match self {
            Self::F64 => 8 * count,
            Self::F32 => 4 * count,
            Self::I8 => count,
            Self::Genotype => count.div_ceil(4),
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::F64 => "f64",
            Self::F32 => "f32",
            Self::I8 => "i8",
            Self::Genotype => "genotypes",
        }
    }
}

pub(super) enum Layout {
    Dense { file: Source, start: u64, kind: Kind },
    Sparse { starts: Vec<u64>, rows: (Source, u64), values: (Source, u64), kind: Kind },
    Packed(Bed),
}

/// A dense matrix: samples, features, and where they lie.
pub(super) fn open_dense(path: &Path) -> Result<(usize, usize, Layout)> {
    let file = Source::open(path)?;
    let header = NpyHeader::read(&file)?;
    let wrong = |reason: &str| Err(bad(path, "the header", reason.to_owned()));
    let [n, p] = header.shape[..] else { return wrong("the array has not two dimensions: samples and features") };
    if !header.by_columns && n > 1 && p > 1 {
        return wrong(
            "the array is in C order, row after row; save it by columns: bestset convert, or numpy.save(file, numpy.asfortranarray(X))",
        );
    }
    let kind = Kind::of(&header, &file)?;
    Ok((n as usize, p as usize, Layout::Dense { file, start: header.start, kind }))
}

/// One part of a sparse matrix, a vector.
fn open_part(folder: &Path, name: &str, kinds: &[&str]) -> Result<(Source, NpyHeader)> {
    let file = Source::open(&folder.join(name))?;
    let header = NpyHeader::read(&file)?;
    if header.shape.len() != 1 || !kinds.contains(&header.kind.as_str()) {
        let reason = format!(
            "it is an array of type {:?} and shape {:?}; it must be a vector of {}",
            header.kind,
            header.shape,
            kinds.join(" or ")
        );
        return Err(bad(file.path(), "the header", reason));
    }
    Ok((file, header))
}

/// A sparse one, in a folder.
pub(super) fn open_sparse(folder: &Path) -> Result<(usize, usize, Layout)> {
    let whole = |name: &str| -> Result<Vec<i64>> {
        let (file, header) = open_part(folder, name, &["<i8"])?;
        let mut numbers = Vec::new();
        read_numbers(&file, header.start, 0, header.shape[0] as usize, &mut numbers)?;
        Ok(numbers)
    };
    let (shape, starts) = (whole("shape.npy")?, whole("indptr.npy")?);
    let wrong = |name: &str, reason: &str| Err(bad(&folder.join(name), "its numbers", reason.to_owned()));
    let &[n, p] = &shape[..] else { return wrong("shape.npy", "it must hold two numbers: samples and features") };
    if n > i64::from(i32::MAX) {
        return wrong("shape.npy", "there are more samples than row indices of 32 bits count");
    }
    if n < 0 || p < 0 || starts.len() as i64 != p.saturating_add(1) {
        return wrong("indptr.npy", "it must hold one number more than there are features");
    }
    if starts[0] != 0 || starts.windows(2).any(|pair| pair[0] > pair[1]) {
        return wrong("indptr.npy", "starts must ascend from 0");
    }
    let (rows, row_header) = open_part(folder, "indices.npy", &["<i4"])?;
    let (values, header) = open_part(folder, "data.npy", &["<f8", "<f4", "|i1"])?;
    let (count, kind) = (starts[starts.len() - 1] as u64, Kind::of(&header, &values)?);
    if row_header.shape[0] != count || header.shape[0] != count {
        return wrong("indptr.npy", "its last number must be the length of indices.npy and of data.npy");
    }
    let starts = starts.into_iter().map(|s| s as u64).collect();
    let layout = Layout::Sparse { starts, rows: (rows, row_header.start), values: (values, header.start), kind };
    Ok((n as usize, p as usize, layout))
}
