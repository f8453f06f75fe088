//! The enumeration of one size: tasks in fixed batches, so that the answer does not depend on the number of threads.

use crate::control::Limits;
use crate::enumerate::block::{Finder, Leaf};
use crate::enumerate::columns::{LISTS, UnitColumns};
use crate::enumerate::deep::Remainder;
use crate::enumerate::judge::Judge;
use crate::enumerate::panel::Panels;
use crate::enumerate::pool::Pool;
use crate::error::Result;
use crate::solution::Status;
use rayon::prelude::*;

/// Tasks between two looks at what the others have found.
const BATCH: usize = 64;

/// What one task looks at.
#[derive(Debug, Clone, Copy)]
enum Chunk {
    /// Every feature alone.
    Singles,
    /// Pairs with the first feature in a panel.
    Pairs(usize),
    /// Triples with the first two features in two panels.
    Triples(usize, usize),
    /// Larger ones by their first one or two features.
    Deep(usize, Option<usize>),
}

/// All subsets of one size.
pub struct SizeSearch<'s, 'p, 'a> {
    judge: &'s Judge<'s, 'p, 'a>,
    panels: Option<&'s Panels>,
    root: Option<&'s Remainder>,
    leaf: Leaf,
    size: usize,
    tasks: Vec<Chunk>,
    /// Tasks done.
    pub done: usize,
    /// UnitColumns taken for combinations of others on the way.
    pub dependent: Vec<Vec<usize>>,
}

impl<'s, 'p, 'a> SizeSearch<'s, 'p, 'a> {
    /// The tasks of a size; panels for two and three features, all columns beside nothing for more.
    pub fn new(
        judge: &'s Judge<'s, 'p, 'a>,
        panels: Option<&'s Panels>,
        root: Option<&'s Remainder>,
        size: usize,
    ) -> Self {
        let columns = judge.columns;
        let is_known = columns.rounding <= crate::enumerate::block::ROUGH;
        let pulls = (0..columns.len()).map(|k| is_known.then(|| columns.pull(k)));
        let leaf = Leaf::new(Vec::new(), None, 0.0, pulls);
        let (blocks, count) = (panels.map_or(0, Panels::len), root.map_or(0, Remainder::len));
        let tasks = match size {
            0 => Vec::new(),
            1 => vec![Chunk::Singles],
            2 => (0..blocks).map(Chunk::Pairs).collect(),
            3 => (0..blocks).flat_map(|a| (a..blocks).map(move |b| Chunk::Triples(a, b))).collect(),
            4 => (0..count).map(|i| Chunk::Deep(i, None)).collect(),
            _ => (0..count).flat_map(|i| (0..count - i - 1).map(move |l| Chunk::Deep(i, Some(l)))).collect(),
        };
        Self { judge, panels, root, leaf, size, tasks, done: 0, dependent: Vec::new() }
    }

    /// Looks at all subsets, with at most so many tasks; why it ended before, if it did.
    pub fn run(&mut self, pool: &mut Pool, limits: &Limits, most: usize) -> Result<Option<Status>> {
        while self.done < self.tasks.len() {
            if self.done >= most {
                return Ok(Some(Status::NodeLimit));
            }
            let batch = &self.tasks[self.done..(self.done + BATCH).min(most).min(self.tasks.len())];
            let one = |task: &Chunk| self.one(*task, pool.clone(), limits);
            let found: Vec<Result<Found>> = batch.par_iter().map(one).collect();
            let count = found.len();
            for found in found {
                let Found { pool: better, dependent, stopped } = found?;
                pool.merge(better);
                for features in dependent {
                    if self.dependent.len() < LISTS && !self.dependent.contains(&features) {
                        self.dependent.push(features);
                    }
                }
                if stopped.is_some() {
                    return Ok(stopped);
                }
            }
            self.done += count;
        }
        Ok(None)
    }

    fn one(&self, task: Chunk, pool: Pool, limits: &Limits) -> Result<Found> {
        let columns = self.judge.columns;
        let mut finder = Finder::new(self.judge, pool, limits);
        match (task, self.panels) {
            (Chunk::Singles, _) => singles(columns, &mut finder)?,
            (Chunk::Pairs(b), Some(panels)) => finder.pairs(&self.leaf, panels.get(columns, b)?.as_ref())?,
            (Chunk::Triples(a, b), Some(panels)) => {
                let (first, second) = (panels.get(columns, a)?, panels.get(columns, b)?);
                finder.triples(&self.leaf, &first, &second)?;
            }
            (Chunk::Deep(i, next), _) => self.deep(i, next, &mut finder)?,
            _ => {}
        }
        Ok(Found { pool: finder.pool, dependent: finder.dependent, stopped: finder.stopped })
    }

    fn deep(&self, i: usize, next: Option<usize>, finder: &mut Finder<'_, '_, '_>) -> Result<()> {
        let Some(root) = self.root else { return Ok(()) };
        if finder.is_stopped() {
            return Ok(());
        }
        let first = root.with(i, finder)?;
        match next {
            None => first.enumerate(self.size - 1, finder),
            Some(l) if l < first.len() => first.with(l, finder)?.enumerate(self.size - 2, finder),
            Some(_) => Ok(()),
        }
    }
}

struct Found {
    pool: Pool,
    dependent: Vec<Vec<usize>>,
    stopped: Option<Status>,
}

/// Every feature alone.
fn singles(columns: &UnitColumns<'_, '_>, finder: &mut Finder<'_, '_, '_>) -> Result<()> {
    for k in (0..columns.len()).filter(|&k| !columns.is_copy(k)) {
        let fit = columns.total * (1.0 - columns.pull(k).powi(2) - columns.rounding);
        if finder.pool.may_want(fit + finder.judge.price) {
            finder.look(&[k as u32])?;
        }
    }
    Ok(())
}
