//! Rows into a matrix by columns, without a second copy of it.

use super::{ReadOptions, check_memory};
use crate::error::Result;
use crate::matrix::Matrix;
use std::path::Path;

/// Entries that are gathered by rows before they are put into their columns: neighbours in memory are then written
/// together.
const BLOCK: usize = 1 << 16;

/// A dense matrix in the making, with room for so many rows; memory that is not written is not used.
pub struct Fill {
    room: usize,
    columns: usize,
    data: Vec<f64>,
    rows: usize,
    block: Vec<f64>,
    block_rows: usize,
}

impl Fill {
    /// Room for `rows` rows at the most.
    pub fn new(path: &Path, rows: usize, columns: usize, options: &ReadOptions) -> Result<Self> {
        check_memory(path, 8 * rows as u128 * columns as u128, options)?;
        let block_rows = (BLOCK / columns.max(1)).clamp(1, 512);
        let block = Vec::with_capacity(block_rows.min(rows.max(1)) * columns);
        Ok(Self { room: rows, columns, data: vec![0.0; rows * columns], rows: 0, block, block_rows })
    }

    /// The row that comes next; its entries are pushed to what this returns, one for each column.
    pub fn row(&mut self) -> &mut Vec<f64> {
        if self.block.len() >= self.block_rows * self.columns {
            self.flush();
        }
        &mut self.block
    }

    fn flush(&mut self) {
        if self.columns == 0 {
            return;
        }
        let count = self.block.len() / self.columns;
        debug_assert!(self.rows + count <= self.room);
        for j in 0..self.columns {
            let to = &mut self.data[j * self.room + self.rows..][..count];
            to.iter_mut().enumerate().for_each(|(i, x)| *x = self.block[i * self.columns + j]);
        }
        self.rows += count;
        self.block.clear();
    }

    /// The matrix of the rows there are; `rows` counts where there is no column.
    pub fn finish(mut self, rows: usize) -> Matrix {
        self.flush();
        let rows = if self.columns == 0 { rows } else { self.rows };
        if rows < self.room {
            for j in 1..self.columns {
                self.data.copy_within(j * self.room..j * self.room + rows, j * rows);
            }
            self.data.truncate(rows * self.columns);
        }
        Matrix::Dense { rows, columns: self.columns, data: self.data }
    }
}
