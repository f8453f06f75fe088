//! Columns that stay in files: read by position in blocks of a few megabytes, the next while one is worked on, never more than a few of
//! them in memory.
//!
//! | what | files |
//! |---|---|
//! | dense | one NumPy array in Fortran order (columns one after the other): `f8`, `f4` or `i1` |
//! | sparse columns | a folder with `indptr.npy`, `indices.npy`, `data.npy` and `shape.npy`, as SciPy names the parts of a CSC matrix: `i8`, `i4`, `f8` or `f4`, `i8` |
//!
//! A block is a [`Dense`] or a [`Csc`] in memory: its sums have the bits that the whole matrix in memory would give them.
//!
//! | file | what |
//! |---|---|
//! | here | [`Stored`], its blocks and how they are asked for |
//! | `source` | bytes of one file by position; whether it is what it was |
//! | `npy` | headers, and numbers out of bytes |

mod npy;
mod source;

use crate::design::{BlockBody, Column, Csc, Dense, Design, Element};
use crate::error::{Error, Result};
use npy::{NpyHeader, StoredNumber, decoded};
use source::{Source, bad};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::time::{Duration, Instant};

/// Bytes of a block: large enough for a disk, small enough to stay near the processor's last cache.
const BLOCK: u64 = 8 << 20;

/// Bytes between two wanted columns that are read along rather than passed over.
const GAP: u64 = 256 << 10;

/// Blocks that wait for the one that is worked on.
const AHEAD: usize = 2;

/// A matrix whose columns stay in files.
///
/// ```no_run
/// use bestset::design::Stored;
/// use bestset::{Options, Penalty, Problem, solve};
///
/// let x = Stored::open("big.npy")?;
/// let problem = Problem::new(&x, vec![0.0; 3000], Penalty::new(1.0, 0.0, 0.1))?;
/// let found = solve(&problem, &Options::default())?;
/// println!("{} bytes read", x.reading().bytes);
/// # Ok::<(), bestset::Error>(())
/// ```
pub struct Stored {
    path: PathBuf,
    nrows: usize,
    ncols: usize,
    layout: Layout,
    /// A bit for each column whose numbers were found finite.
    checked: Vec<AtomicU64>,
    waited: AtomicU64,
    passed: AtomicU64,
}

/// The numbers of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    F64,
    F32,
    I8,
}

impl Kind {
    fn of(header: &NpyHeader, source: &Source) -> Result<Self> {
        match header.kind.as_str() {
            "<f8" => Ok(Self::F64),
            "<f4" => Ok(Self::F32),
            "|i1" | "<i1" => Ok(Self::I8),
            other => {
                let reason = format!("numbers of type {other:?} cannot be read from disk; there are <f8, <f4 and |i1");
                Err(bad(source.path(), "the header", reason))
            }
        }
    }

    fn bytes(self) -> u64 {
        match self {
            Self::F64 => 8,
            Self::F32 => 4,
            Self::I8 => 1,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::F64 => "f64",
            Self::F32 => "f32",
            Self::I8 => "i8",
        }
    }
}

enum Layout {
    Dense { file: Source, start: u64, kind: Kind },
    Sparse { starts: Vec<u64>, rows: (Source, u64), values: (Source, u64), kind: Kind },
}

/// What was read so far.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Reading {
    /// Bytes.
    pub bytes: u64,
    /// Readings of all columns, in parts of one.
    pub passes: f64,
    /// Seconds that work waited for the disk.
    pub waited: f64,
}

/// Columns that lie next to each other, and which of them are wanted.
struct Span {
    /// Of the list that is asked for.
    places: Range<usize>,
    first: usize,
    count: usize,
    /// The wanted ones, from `first` on.
    local: Vec<usize>,
}

impl Stored {
    /// A file or folder as the [module](crate::design::Stored) names them.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let (nrows, ncols, layout) = if path.is_dir() { open_sparse(path)? } else { open_dense(path)? };
        if nrows == 0 || ncols == 0 {
            return Err(Error::Empty { rows: nrows, columns: ncols });
        }
        let checked = (0..ncols.div_ceil(64)).map(|_| AtomicU64::new(0)).collect();
        let (waited, passed) = (AtomicU64::new(0), AtomicU64::new(0));
        Ok(Self { path: path.to_owned(), nrows, ncols, layout, checked, waited, passed })
    }

    /// The file or folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The type of its numbers.
    pub fn numbers(&self) -> &'static str {
        match &self.layout {
            Layout::Dense { kind, .. } | Layout::Sparse { kind, .. } => kind.name(),
        }
    }

    /// Bytes of one reading of all columns.
    pub fn bytes(&self) -> u64 {
        match &self.layout {
            Layout::Dense { kind, .. } => kind.bytes() * self.nrows as u64 * self.ncols as u64,
            Layout::Sparse { starts, kind, .. } => (kind.bytes() + 4) * starts[self.ncols],
        }
    }

    /// What was read so far.
    pub fn reading(&self) -> Reading {
        let bytes = self.sources().map(|s| s.bytes.load(Ordering::Relaxed)).sum();
        let passes = self.passed.load(Ordering::Relaxed) as f64 / self.ncols as f64;
        Reading { bytes, passes, waited: Duration::from_nanos(self.waited.load(Ordering::Relaxed)).as_secs_f64() }
    }

    fn sources(&self) -> impl Iterator<Item = &Source> {
        let (first, second) = match &self.layout {
            Layout::Dense { file, .. } => (file, None),
            Layout::Sparse { rows, values, .. } => (&rows.0, Some(&values.0)),
        };
        std::iter::once(first).chain(second)
    }

    /// The bytes of the columns from one up to another.
    fn size(&self, from: usize, to: usize) -> u64 {
        match &self.layout {
            Layout::Dense { kind, .. } => kind.bytes() * self.nrows as u64 * (to - from) as u64,
            Layout::Sparse { starts, kind, .. } => (kind.bytes() + 4) * (starts[to] - starts[from]),
        }
    }

    /// The blocks that hold the features, in the order of the list.
    fn plan(&self, features: &[usize]) -> Vec<Span> {
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

    fn is_checked(&self, block: &Span) -> bool {
        (block.first..block.first + block.count)
            .all(|j| self.checked[j / 64].load(Ordering::Relaxed) >> (j % 64) & 1 == 1)
    }

    /// The columns of a block in memory.
    fn load(&self, block: &Span) -> Result<Box<dyn Design>> {
        match &self.layout {
            Layout::Dense { kind: Kind::F64, .. } => self.load_dense::<f64>(block),
            Layout::Dense { kind: Kind::F32, .. } => self.load_dense::<f32>(block),
            Layout::Dense { kind: Kind::I8, .. } => self.load_dense::<i8>(block),
            Layout::Sparse { kind: Kind::F64, .. } => self.load_sparse::<f64>(block),
            Layout::Sparse { kind: Kind::F32, .. } => self.load_sparse::<f32>(block),
            Layout::Sparse { kind: Kind::I8, .. } => self.load_sparse::<i8>(block),
        }
    }

    fn load_dense<T: StoredNumber + Element>(&self, block: &Span) -> Result<Box<dyn Design>> {
        let Layout::Dense { file, start, .. } = &self.layout else { return Err(self.misread(block, "it is sparse")) };
        let numbers: Vec<T> = part(file, *start, block.first * self.nrows, block.count * self.nrows)?;
        if self.is_checked(block) {
            return Ok(Box::new(Dense::unchecked(self.nrows, block.count, numbers)));
        }
        let dense = Dense::new(self.nrows, block.count, numbers).map_err(|e| e.in_columns_from(block.first))?;
        self.note_checked(block);
        Ok(Box::new(dense))
    }

    fn load_sparse<T: StoredNumber + Element>(&self, block: &Span) -> Result<Box<dyn Design>> {
        let Layout::Sparse { starts, rows, values, .. } = &self.layout else {
            return Err(self.misread(block, "it is dense"));
        };
        let (from, to) = (starts[block.first], starts[block.first + block.count]);
        let own = starts[block.first..=block.first + block.count].iter().map(|s| (s - from) as usize);
        let (own, from, count) = (own.collect::<Vec<usize>>(), from as usize, (to - from) as usize);
        let found = part::<i32>(&rows.0, rows.1, from, count)?;
        let found = found.into_iter().map(u32::try_from).collect::<std::result::Result<Vec<u32>, _>>();
        let found = found.map_err(|_| self.misread(block, "a row index is negative"))?;
        let values: Vec<T> = part(&values.0, values.1, from, count)?;
        // The row indices are looked at every time: a wrong one would be a place outside the vectors.
        let sparse = Csc::new(self.nrows, own, found, values).map_err(|e| self.misread(block, &e.to_string()))?;
        Ok(Box::new(sparse))
    }

    fn note_checked(&self, block: &Span) {
        for j in block.first..block.first + block.count {
            self.checked[j / 64].fetch_or(1 << (j % 64), Ordering::Relaxed);
        }
    }

    fn misread(&self, block: &Span, reason: &str) -> Error {
        let place = format!("columns {} to {}", block.first, block.first + block.count - 1);
        bad(&self.path, &place, reason.to_owned())
    }
}

/// So many numbers of an array that begins at `start`.
fn part<T: StoredNumber>(file: &Source, start: u64, first: usize, count: usize) -> Result<Vec<T>> {
    let mut bytes = vec![0; count * T::BYTES];
    file.read(start + (first * T::BYTES) as u64, &mut bytes)?;
    Ok(decoded(&bytes))
}

fn open_dense(path: &Path) -> Result<(usize, usize, Layout)> {
    let file = Source::open(path)?;
    let header = NpyHeader::read(&file)?;
    let wrong = |reason: &str| Err(bad(path, "the header", reason.to_owned()));
    let [n, p] = header.shape[..] else { return wrong("the array has not two dimensions: samples and features") };
    if !header.by_columns && n > 1 && p > 1 {
        return wrong(
            "the array is in C order, row after row; save it by columns: numpy.save(file, numpy.asfortranarray(X))",
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

fn open_sparse(folder: &Path) -> Result<(usize, usize, Layout)> {
    let whole = |name: &str| -> Result<Vec<i64>> {
        let (file, header) = open_part(folder, name, &["<i8"])?;
        part(&file, header.start, 0, header.shape[0] as usize)
    };
    let (shape, starts) = (whole("shape.npy")?, whole("indptr.npy")?);
    let wrong = |name: &str, reason: &str| Err(bad(&folder.join(name), "its numbers", reason.to_owned()));
    let &[n, p] = &shape[..] else { return wrong("shape.npy", "it must hold two numbers: samples and features") };
    if n < 0 || p < 0 || starts.len() as i64 != p + 1 {
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

impl Design for Stored {
    fn nrows(&self) -> usize {
        self.nrows
    }

    fn ncols(&self) -> usize {
        self.ncols
    }

    fn is_sparse(&self) -> bool {
        matches!(self.layout, Layout::Sparse { .. })
    }

    fn stored(&self) -> usize {
        match &self.layout {
            Layout::Dense { .. } => self.nrows * self.ncols,
            Layout::Sparse { starts, .. } => starts[self.ncols] as usize,
        }
    }

    fn correlate(&self, features: &[usize], v: &[f64], out: &mut [f64]) -> Result<()> {
        self.each_block(features, &mut |places, local, block| block.correlate(local, v, &mut out[places]))?;
        Ok(())
    }

    fn correlate_many(&self, features: &[usize], vectors: &[&[f64]], out: &mut [f64]) -> Result<()> {
        let count = vectors.len();
        self.each_block(features, &mut |places, local, block| {
            block.correlate_many(local, vectors, &mut out[places.start * count..places.end * count])
        })?;
        Ok(())
    }

    fn correlate_roughly(&self, features: &[usize], vectors: &[&[f64]], out: &mut [f32]) -> Result<()> {
        let count = vectors.len();
        self.each_block(features, &mut |places, local, block| {
            block.correlate_roughly(local, vectors, &mut out[places.start * count..places.end * count])
        })?;
        Ok(())
    }

    fn axpy(&self, j: usize, a: f64, out: &mut [f64]) -> Result<()> {
        self.each_block(&[j], &mut |_, local, block| block.axpy(local[0], a, out))?;
        Ok(())
    }

    fn column(&self, j: usize, out: &mut Column) -> Result<()> {
        self.each_block(&[j], &mut |_, local, block| block.column(local[0], out))?;
        Ok(())
    }

    fn columns(&self, features: &[usize], visit: &mut dyn FnMut(usize, &mut Column)) -> Result<()> {
        let mut column = Column::default();
        self.each_block(features, &mut |places, local, block| {
            for (k, &j) in places.zip(local) {
                block.column(j, &mut column)?;
                visit(k, &mut column);
            }
            Ok(())
        })?;
        Ok(())
    }

    fn squared_norm(&self, j: usize, buffer: &mut Column) -> Result<f64> {
        let mut found = 0.0;
        self.each_block(&[j], &mut |_, local, block| {
            found = block.squared_norm(local[0], buffer)?;
            Ok(())
        })?;
        Ok(found)
    }

    /// The next blocks are read by another thread while one is worked on.
    fn each_block(&self, features: &[usize], body: BlockBody<'_>) -> Result<bool> {
        self.sources().try_for_each(Source::check)?;
        let blocks = self.plan(features);
        self.passed.fetch_add(features.len() as u64, Ordering::Relaxed);
        let count = blocks.len();
        let mut hand_over = |block: &Span, loaded: &dyn Design| body(block.places.clone(), &block.local, loaded);
        if count < 2 {
            blocks.iter().try_for_each(|block| hand_over(block, &*self.load(block)?))?;
            return Ok(true);
        }
        std::thread::scope(|scope| {
            let (ready, taken) = sync_channel(AHEAD);
            let blocks = &blocks;
            let read = move |ready: SyncSender<Result<Box<dyn Design>>>| {
                for block in blocks {
                    let loaded = self.load(block);
                    let failed = loaded.is_err();
                    // Whoever takes the blocks may have gone: nothing is left to do then.
                    if ready.send(loaded).is_err() || failed {
                        return;
                    }
                }
            };
            if std::thread::Builder::new().spawn_scoped(scope, move || read(ready)).is_err() {
                // Without another thread, one after the other.
                return blocks.iter().try_for_each(|block| hand_over(block, &*self.load(block)?));
            }
            for block in blocks {
                let asked = Instant::now();
                let loaded = taken.recv();
                self.waited.fetch_add(asked.elapsed().as_nanos() as u64, Ordering::Relaxed);
                let loaded = loaded.map_err(|_| self.misread(block, "the thread that reads has ended"))??;
                hand_over(block, &*loaded)?;
            }
            Ok(())
        })?;
        Ok(true)
    }
}
