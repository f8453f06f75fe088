//! Blocks of columns: which ones a list of features needs, and how they come into memory, the next while one is worked on. A few
//! buffers go round; none is asked for again within a pass.
//!
//! Every other long pass goes backwards: of a file that is larger than memory the system still has what was read last, and a pass that
//! began at the other end would find none of it.

use super::Stored;
use super::npy::{StoredNumber, read_numbers};
use super::open::Layout;
use super::source::bad;
use crate::design::{Csc, Dense, Design, Element};
use crate::error::{Error, Result};
use std::ops::Range;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// Bytes of a block: large enough for a disk, small enough that all of them stay in the processor's last cache.
const BLOCK: u64 = 4 << 20;

/// Bytes between two wanted columns that are read along rather than passed over.
const GAP: u64 = 256 << 10;

/// Threads that read: where the system has a part of the file already, one alone copies it more slowly than two are multiplied.
const READERS: usize = 2;

/// Blocks in memory: one that is worked on, those that are read, and one that waits.
const BUFFERS: usize = READERS + 2;

/// Bytes of a reader's stack: it calls little, and under a limit on the address space what is not used counts as well.
const STACK: usize = 256 << 10;

/// Columns that lie next to each other, and which of them are wanted.
pub(super) struct Span {
    /// Of the list that is asked for.
    pub(super) places: Range<usize>,
    first: usize,
    count: usize,
    /// The wanted ones, from `first` on.
    pub(super) local: Vec<usize>,
}

/// The numbers of a block.
#[derive(Default)]
struct Buffer<T> {
    values: Vec<T>,
    /// Of sparse columns, and where each begins.
    rows: Vec<u32>,
    starts: Vec<usize>,
    /// Genotypes: as the file has them, and of those who count.
    raw: Vec<u8>,
    packed: Vec<u8>,
}

/// What readers have to do.
struct Queue<T> {
    free: Receiver<Buffer<T>>,
    /// The first block that nobody has taken.
    next: usize,
}

impl<T> Queue<T> {
    /// The next of so many blocks and a buffer for it. A block is taken with its buffer in hand: the one that is waited for has one.
    fn take(&mut self, blocks: usize) -> Option<(usize, Buffer<T>)> {
        if self.next == blocks {
            return None;
        }
        let buffer = self.free.recv().ok()?;
        self.next += 1;
        Some((self.next - 1, buffer))
    }
}

/// What is done with a block in memory.
pub(super) type WithBlock<'b> = &'b mut dyn FnMut(&Span, &dyn Design) -> Result<()>;

impl Stored {
    /// The blocks that hold the features, in the order of the list.
    pub(super) fn plan(&self, features: &[usize]) -> Vec<Span> {
        let mut blocks: Vec<Span> = Vec::new();
        for (k, &j) in features.iter().enumerate() {
            if let Some(block) = blocks.last_mut() {
                let end = block.first + block.count;
                if j >= end && self.size(end, j) <= GAP && self.size(block.first, j + 1) <= BLOCK {
                    block.local.push(j - block.first);
                    (block.places.end, block.count) = (k + 1, j + 1 - block.first);
                    continue;
                }
            }
            blocks.push(Span { places: k..k + 1, first: j, count: 1, local: vec![0] });
        }
        blocks
    }

    /// Each block in turn; the next are read by other threads meanwhile.
    pub(super) fn through<T: StoredNumber + Element + Default>(
        &self,
        blocks: &[Span],
        body: WithBlock<'_>,
    ) -> Result<()> {
        if blocks.len() < 2 {
            return self.one_by_one::<T>(blocks, body);
        }
        let ((ready, taken), (used, free)) = (channel(), channel());
        (0..BUFFERS).for_each(|_| drop(used.send(Buffer::<T>::default())));
        let queue = Mutex::new(Queue { free, next: 0 });
        std::thread::scope(|scope| {
            // Those that wait for a buffer end with this.
            let (used, taken) = (used, taken);
            let start = || {
                let (queue, ready) = (&queue, ready.clone());
                let reader = std::thread::Builder::new().stack_size(STACK);
                reader.spawn_scoped(scope, move || self.read(blocks, queue, &ready)).is_ok()
            };
            if (0..READERS.min(blocks.len())).filter(|_| start()).count() == 0 {
                return self.one_by_one::<T>(blocks, body);
            }
            drop(ready);
            let mut early: Vec<(usize, Result<Buffer<T>>)> = Vec::with_capacity(BUFFERS);
            for (k, block) in blocks.iter().enumerate() {
                let asked = Instant::now();
                let loaded = loop {
                    if let Some(at) = early.iter().position(|e| e.0 == k) {
                        break early.swap_remove(at).1;
                    }
                    let next = taken.recv().map_err(|_| self.misread(block, "the thread that reads has ended"))?;
                    early.push(next);
                };
                self.waited.fetch_add(asked.elapsed().as_nanos() as u64, Ordering::Relaxed);
                let buffer = loaded?;
                self.hand_over(block, &buffer, body)?;
                // Readers that are done take none back.
                used.send(buffer).ok();
            }
            Ok(())
        })
    }

    /// Each block in turn, without another thread.
    fn one_by_one<T: StoredNumber + Element + Default>(&self, blocks: &[Span], body: WithBlock<'_>) -> Result<()> {
        let mut buffer = Buffer::<T>::default();
        blocks.iter().try_for_each(|block| {
            self.fill(block, &mut buffer)?;
            self.hand_over(block, &buffer, body)
        })
    }

    /// Reads blocks into buffers that are free, until all are read or nobody takes them.
    fn read<T: StoredNumber + Element>(
        &self,
        blocks: &[Span],
        queue: &Mutex<Queue<T>>,
        ready: &Sender<(usize, Result<Buffer<T>>)>,
    ) {
        // The lock is given back before a block is read: in the head of the loop it would be held through its body.
        let take = || queue.lock().unwrap_or_else(PoisonError::into_inner).take(blocks.len());
        while let Some((k, mut buffer)) = take() {
            let filled = self.fill(&blocks[k], &mut buffer).map(|()| buffer);
            let failed = filled.is_err();
            if ready.send((k, filled)).is_err() || failed {
                return;
            }
        }
    }

    /// Reads the columns of a block and looks whether they may be used.
    fn fill<T: StoredNumber + Element>(&self, block: &Span, buffer: &mut Buffer<T>) -> Result<()> {
        let Buffer { values, rows, starts, raw, packed } = buffer;
        match &*self.layout {
            Layout::Packed(bed) => bed.read(block.first..block.first + block.count, raw, packed)?,
            Layout::Dense { file, start, .. } => {
                let (first, count) = (block.first * self.nrows, block.count * self.nrows);
                read_numbers(file, *start, first, count, values)?;
                if !self.is_checked(block) {
                    Dense::new(self.nrows, block.count, &values[..])
                        .map_err(|e| self.in_file(e.in_columns_from(block.first)))?;
                    self.note_checked(block);
                }
            }
            Layout::Sparse { starts: all, rows: place, values: numbers, .. } => {
                let own = &all[block.first..=block.first + block.count];
                let (first, count) = (own[0] as usize, (own[block.count] - own[0]) as usize);
                starts.clear();
                starts.extend(own.iter().map(|s| (s - own[0]) as usize));
                read_numbers(&place.0, place.1, first, count, rows)?;
                if rows.iter().any(|i| *i > i32::MAX as u32) {
                    return Err(self.misread(block, "a row index is negative"));
                }
                read_numbers(&numbers.0, numbers.1, first, count, values)?;
                // The row indices are looked at every time: a wrong one would be a place outside the vectors.
                Csc::new(self.nrows, &starts[..], &rows[..], &values[..])
                    .map_err(|e| self.misread(block, &e.in_columns_from(block.first).to_string()))?;
            }
        }
        Ok(())
    }

    /// Shows a block that is filled.
    fn hand_over<T: StoredNumber + Element>(
        &self,
        block: &Span,
        buffer: &Buffer<T>,
        body: WithBlock<'_>,
    ) -> Result<()> {
        let Buffer { values, rows, starts, packed, .. } = buffer;
        match &*self.layout {
            Layout::Packed(bed) => body(block, &bed.block(block.first..block.first + block.count, packed)),
            Layout::Dense { .. } => body(block, &Dense::unchecked(self.nrows, block.count, &values[..])),
            Layout::Sparse { .. } => body(block, &Csc::unchecked(self.nrows, &starts[..], &rows[..], &values[..])),
        }
    }

    fn is_checked(&self, block: &Span) -> bool {
        (block.first..block.first + block.count)
            .all(|j| self.checked[j / 64].load(Ordering::Relaxed) >> (j % 64) & 1 == 1)
    }

    fn note_checked(&self, block: &Span) {
        for j in block.first..block.first + block.count {
            self.checked[j / 64].fetch_or(1 << (j % 64), Ordering::Relaxed);
        }
    }

    fn in_file(&self, cause: Error) -> Error {
        Error::InFile { path: self.path.display().to_string(), cause: Box::new(cause) }
    }

    fn misread(&self, block: &Span, reason: &str) -> Error {
        let place = format!("columns {} to {}", block.first, block.first + block.count - 1);
        bad(&self.path, &place, reason.to_owned())
    }
}
