//! Numbers in memory: dense by columns, or compressed columns; and the names of the columns.

use bestset::design::{Csc, Dense, Design};
use std::borrow::Cow;

/// A matrix of samples by features that owns its entries.
#[derive(Debug, Clone, PartialEq)]
pub enum Matrix {
    /// Every entry, by columns: (i, j) is `data[j * rows + i]`. NaN is a missing value.
    Dense {
        /// Number of rows.
        rows: usize,
        /// Number of columns.
        columns: usize,
        /// The entries.
        data: Vec<f64>,
    },
    /// Entries that are not zero, by columns: column j has `values[starts[j]..starts[j + 1]]` at these `indices`.
    Sparse {
        /// Number of rows.
        rows: usize,
        /// Where each column starts, and the number of entries.
        starts: Vec<usize>,
        /// Rows, ascending within a column.
        indices: Vec<u32>,
        /// Entries.
        values: Vec<f64>,
    },
}

impl Matrix {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        match self {
            Self::Dense { rows, .. } | Self::Sparse { rows, .. } => *rows,
        }
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        match self {
            Self::Dense { columns, .. } => *columns,
            Self::Sparse { starts, .. } => starts.len() - 1,
        }
    }

    /// Whether only entries that are not zero are stored.
    pub fn is_sparse(&self) -> bool {
        matches!(self, Self::Sparse { .. })
    }

    /// Entries stored.
    pub fn stored(&self) -> usize {
        match self {
            Self::Dense { data, .. } => data.len(),
            Self::Sparse { values, .. } => values.len(),
        }
    }

    /// All entries of column j.
    pub fn column(&self, j: usize) -> Cow<'_, [f64]> {
        match self {
            Self::Dense { rows, data, .. } => Cow::Borrowed(&data[j * rows..(j + 1) * rows]),
            Self::Sparse { rows, starts, indices, values } => {
                let mut column = vec![0.0; *rows];
                for k in starts[j]..starts[j + 1] {
                    column[indices[k] as usize] = values[k];
                }
                Cow::Owned(column)
            }
        }
    }

    /// Mean of column j.
    pub fn mean(&self, j: usize) -> f64 {
        let stored = match self {
            Self::Dense { rows, data, .. } => &data[j * rows..(j + 1) * rows],
            Self::Sparse { starts, values, .. } => &values[starts[j]..starts[j + 1]],
        };
        stored.iter().sum::<f64>() / self.rows() as f64
    }

    /// Standard deviation of column j; of what is stored alone, so that it costs no more than that.
    pub fn deviation(&self, j: usize) -> f64 {
        let rows = self.rows() as f64;
        let stored = match self {
            Self::Dense { rows, data, .. } => &data[j * rows..(j + 1) * rows],
            Self::Sparse { starts, values, .. } => &values[starts[j]..starts[j + 1]],
        };
        let mean = stored.iter().sum::<f64>() / rows;
        let zeros = rows - stored.len() as f64;
        ((stored.iter().map(|x| (x - mean).powi(2)).sum::<f64>() + zeros * mean * mean) / rows).sqrt()
    }

    /// The matrix as a design that borrows the entries; checks that all are finite.
    pub fn design(&self) -> bestset::Result<Box<dyn Design + '_>> {
        Ok(match self {
            Self::Dense { rows, columns, data } => Box::new(Dense::new(*rows, *columns, data.as_slice())?),
            Self::Sparse { rows, starts, indices, values } => {
                Box::new(Csc::new(*rows, starts.as_slice(), indices.as_slice(), values.as_slice())?)
            }
        })
    }

    /// Keeps these columns alone, ascending.
    pub fn keep_columns(&mut self, keep: &[usize]) {
        match self {
            Self::Dense { rows, columns, data } => {
                for (to, &from) in keep.iter().enumerate().filter(|(to, from)| to != *from) {
                    data.copy_within(from * *rows..(from + 1) * *rows, to * *rows);
                }
                data.truncate(keep.len() * *rows);
                *columns = keep.len();
            }
            Self::Sparse { starts, indices, values, .. } => {
                let (mut end, mut kept) = (0, Vec::with_capacity(keep.len() + 1));
                kept.push(0);
                for &j in keep {
                    let range = starts[j]..starts[j + 1];
                    indices.copy_within(range.clone(), end);
                    values.copy_within(range.clone(), end);
                    end += range.len();
                    kept.push(end);
                }
                indices.truncate(end);
                values.truncate(end);
                *starts = kept;
            }
        }
    }

    /// Keeps these rows alone, ascending.
    pub fn keep_rows(&mut self, keep: &[usize]) {
        match self {
            Self::Dense { rows, columns, data } => {
                let mut end = 0;
                for j in 0..*columns {
                    for &i in keep {
                        data[end] = data[j * *rows + i];
                        end += 1;
                    }
                }
                data.truncate(end);
                *rows = keep.len();
            }
            Self::Sparse { rows, starts, indices, values } => {
                let (mut end, mut from) = (0, 0);
                for start in starts.iter_mut().skip(1) {
                    for k in from..*start {
                        if let Ok(row) = keep.binary_search(&(indices[k] as usize)) {
                            (indices[end], values[end]) = (row as u32, values[k]);
                            end += 1;
                        }
                    }
                    from = std::mem::replace(start, end);
                }
                indices.truncate(end);
                values.truncate(end);
                *rows = keep.len();
            }
        }
    }

    /// Adds columns given in full at the end.
    pub fn append(&mut self, more: &[Vec<f64>]) {
        match self {
            Self::Dense { columns, data, .. } => {
                data.reserve_exact(more.iter().map(Vec::len).sum());
                more.iter().for_each(|column| data.extend_from_slice(column));
                *columns += more.len();
            }
            Self::Sparse { starts, indices, values, .. } => {
                for column in more {
                    let entries = column.iter().enumerate().filter(|entry| *entry.1 != 0.0);
                    for (i, x) in entries {
                        indices.push(i as u32);
                        values.push(*x);
                    }
                    starts.push(values.len());
                }
            }
        }
    }
}

/// Names of columns: a list, or a letter and a number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Names {
    /// One name each.
    Listed(Vec<String>),
    /// `x` and the position counted from `first`.
    Numbered {
        /// The number of the first column.
        first: usize,
    },
}

impl Names {
    /// The name of column j.
    pub fn get(&self, j: usize) -> String {
        match self {
            Self::Listed(names) => names[j].clone(),
            Self::Numbered { first } => format!("x{}", j + first),
        }
    }

    /// The column with this name among the first `columns`.
    pub fn find(&self, name: &str, columns: usize) -> Option<usize> {
        match self {
            Self::Listed(names) => names.iter().position(|n| n == name),
            Self::Numbered { first } => {
                let number: usize = name.strip_prefix('x')?.parse().ok()?;
                number.checked_sub(*first).filter(|j| *j < columns)
            }
        }
    }

    /// The names of these columns.
    pub fn keep(&mut self, keep: &[usize]) {
        *self = Self::Listed(keep.iter().map(|&j| self.get(j)).collect());
    }

    /// All names of so many columns.
    pub fn list(&self, columns: usize) -> Vec<String> {
        (0..columns).map(|j| self.get(j)).collect()
    }
}
