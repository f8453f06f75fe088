//! Rows of A in single precision: made from sums in double precision, kept where there is room, made again where there is not.

use crate::control::{Limits, Memory};
use crate::enumerate::columns::UnitColumns;
use crate::problem::refit::DEPENDENT;
use crate::solution::Status;
use faer::linalg::matmul::matmul;
use faer::{Accum, Par};
use rayon::prelude::*;
use std::borrow::Cow;
use std::ops::Range;

/// Rows of a panel: two of them and a part of their columns stay near the processor.
pub const ROWS: usize = 64;

/// As many numbers as any instruction takes: rows are followed by so many zeros.
pub const LANES: usize = 16;

/// UnitColumns multiplied together.
const WIDTH: usize = 512;

/// A_jk of consecutive j with all k from the first j on.
#[derive(Debug, Clone)]
pub struct Panel {
    /// The j.
    pub rows: Range<usize>,
    stride: usize,
    data: Vec<f32>,
}

impl Panel {
    /// Zeros for `rows` of `count` columns.
    pub fn zeros(rows: Range<usize>, count: usize) -> Self {
        let stride = count - rows.start + LANES;
        Self { data: vec![0.0; stride * rows.len()], rows, stride }
    }

    /// A_jk of one j; the first is that with k = the first row, and zeros follow the last.
    pub fn row(&self, j: usize) -> &[f32] {
        let at = (j - self.rows.start) * self.stride;
        &self.data[at..at + self.stride]
    }

    /// The same, to be changed.
    pub fn row_mut(&mut self, j: usize) -> &mut [f32] {
        let at = (j - self.rows.start) * self.stride;
        &mut self.data[at..at + self.stride]
    }

    /// The products of the columns, and the pairs j < k of which one leaves next to nothing of the other.
    fn new(columns: &UnitColumns<'_, '_>, rows: Range<usize>) -> crate::Result<(Self, Vec<(usize, usize)>)> {
        let (count, mut close) = (columns.len(), Vec::new());
        let mut panel = Self::zeros(rows.clone(), count);
        let own = columns.block(rows.clone())?;
        for from in (rows.start..count).step_by(WIDTH) {
            let others = columns.block(from..(from + WIDTH).min(count))?;
            let mut products = faer::Mat::<f64>::zeros(others.ncols(), own.ncols());
            matmul(products.as_mut(), Accum::Replace, others.transpose(), own.as_ref(), 1.0, Par::Seq);
            for j in rows.clone() {
                let row = panel.row_mut(j);
                for a in 0..others.ncols() {
                    let (k, product) = (from + a, products[(a, j - rows.start)]);
                    row[k - rows.start] = product as f32;
                    if k > j && 1.0 - product * product <= 2.0 * DEPENDENT {
                        close.push((j, k));
                    }
                }
            }
        }
        Ok((panel, close))
    }
}

/// A panel, if it is kept, and the pairs j < k of which one leaves next to nothing of the other.
type Made = (Option<Panel>, Vec<(usize, usize)>);

/// All panels, kept or made when they are asked for.
pub struct Panels {
    kept: Option<Vec<Panel>>,
    count: usize,
}

impl Panels {
    /// One look at all pairs of columns, which finds copies; a status where a limit ended it.
    pub fn new(
        columns: &mut UnitColumns<'_, '_>,
        memory: &Memory,
        limits: &Limits,
    ) -> crate::Result<Result<Self, Status>> {
        let count = columns.len();
        let keeps = memory.allows(2.0 * count as f64 * count as f64, 2);
        let one = |b: usize| {
            if let Some(status) = limits.stop(0) {
                return Ok(Err(status));
            }
            let (panel, close) = Panel::new(columns, b * ROWS..((b + 1) * ROWS).min(count))?;
            Ok(Ok((keeps.then_some(panel), close)))
        };
        let made: crate::Result<Vec<Result<Made, Status>>> =
            (0..count.div_ceil(ROWS)).into_par_iter().map(one).collect();
        let made = match made?.into_iter().collect::<Result<Vec<Made>, Status>>() {
            Ok(made) => made,
            Err(status) => return Ok(Err(status)),
        };
        let close: Vec<(usize, usize)> = made.iter().flat_map(|m| m.1.iter().copied()).collect();
        let kept: Vec<Option<Panel>> = made.into_iter().map(|m| m.0).collect();
        columns.note_copies(&close)?;
        let mut kept: Option<Vec<Panel>> = kept.into_iter().collect();
        let copies: Vec<usize> = (0..count).filter(|&k| columns.is_copy(k)).collect();
        for panel in kept.iter_mut().flatten() {
            let start = panel.rows.start;
            for j in panel.rows.clone() {
                let is_copy = columns.is_copy(j);
                let row = panel.row_mut(j);
                copies.iter().filter(|&&k| k >= start).for_each(|&k| row[k - start] = 0.0);
                if is_copy {
                    row.fill(0.0);
                }
            }
        }
        Ok(Ok(Self { kept, count }))
    }

    /// Number of panels.
    pub fn len(&self) -> usize {
        self.count.div_ceil(ROWS)
    }

    /// The panel of a number.
    pub fn get(&self, columns: &UnitColumns<'_, '_>, b: usize) -> crate::Result<Cow<'_, Panel>> {
        Ok(match &self.kept {
            Some(kept) => Cow::Borrowed(&kept[b]),
            None => Cow::Owned(Panel::new(columns, b * ROWS..((b + 1) * ROWS).min(self.count))?.0),
        })
    }
}
