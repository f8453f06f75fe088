//! Columns that stay in files: read by position in blocks of a few megabytes, the next while one is worked on, never more than a few of
//! them in memory.
//!
//! | what | files |
//! |---|---|
//! | dense | one NumPy array in Fortran order (columns one after the other): `f8`, `f4` or `i1` |
//! | genotypes | a `.bed` file of PLINK: [`GenotypeFile`] |
//! | sparse columns | a folder with `indptr.npy`, `indices.npy`, `data.npy` and `shape.npy`, as SciPy names the parts of a CSC matrix: `i8`, `i4`, `f8` or `f4`, `i8` |
//!
//! A block is a [`Dense`](crate::design::Dense), a [`Csc`](crate::design::Csc) or [`Genotypes`](crate::design::Genotypes) in memory: its sums have the bits that the whole matrix in memory would give them.
//!
//! | file | what |
//! |---|---|
//! | here | [`Stored`], a design made of blocks |
//! | `open` | what files say of themselves |
//! | `bed` | packed codes of PLINK, counted when the file is opened |
//! | `genotype_file` | genotypes, held in memory where there is room |
//! | `kept` | moments in a file beside the matrix, where that was asked for |
//! | `names` | names of columns in a file beside an array |
//! | `blocks` | which columns are read together, and how they come into memory |
//! | `source` | bytes of one file by position; whether it is what it was |
//! | `npy` | headers, and numbers out of bytes |

mod bed;
mod blocks;
mod genotype_file;
mod kept;
mod names;
mod npy;
mod open;
mod source;

pub use genotype_file::GenotypeFile;
pub use names::{column_names, names_are_older, names_file, names_said, numpy_remedy, numpy_type};
pub use names::{remove_column_names, write_column_names};

use crate::design::{BlockBody, Column, Design, Moments, Vectors};
use crate::error::{Error, Result};
use blocks::WithBlock;
use open::{Kind, Layout, open_dense, open_sparse};
use source::Source;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// A matrix whose columns stay in files; a clone reads the same files.
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
#[derive(Clone)]
pub struct Stored {
    path: PathBuf,
    nrows: usize,
    ncols: usize,
    layout: Arc<Layout>,
    /// A bit for each column whose numbers were found finite.
    checked: Arc<[AtomicU64]>,
    waited: Arc<AtomicU64>,
    passed: Arc<AtomicU64>,
    /// How many readings in several blocks there were.
    turns: Arc<AtomicU64>,
    /// Where moments are kept, if they are.
    moments_file: Option<PathBuf>,
}

impl std::fmt::Debug for Stored {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { path, nrows, ncols, .. } = self;
        write!(f, "Stored({nrows} x {ncols} {} in {})", self.numbers(), path.display())
    }
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

impl Stored {
    /// A file or folder as the [module](crate::design::Stored) names them.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let (nrows, ncols, layout) = if path.is_dir() { open_sparse(path)? } else { open_dense(path)? };
        Self::new(path, nrows, ncols, layout)
    }

    fn new(path: &Path, nrows: usize, ncols: usize, layout: Layout) -> Result<Self> {
        if nrows == 0 || ncols == 0 {
            return Err(Error::Empty { rows: nrows, columns: ncols });
        }
        let checked = (0..ncols.div_ceil(64)).map(|_| AtomicU64::new(0)).collect();
        let (layout, waited, passed, turns) = (Arc::new(layout), Arc::default(), Arc::default(), Arc::default());
        Ok(Self { path: path.to_owned(), nrows, ncols, layout, checked, waited, passed, turns, moments_file: None })
    }

    /// The file or folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The type of its numbers.
    pub fn numbers(&self) -> &'static str {
        self.kind().name()
    }

    fn kind(&self) -> Kind {
        match &*self.layout {
            Layout::Dense { kind, .. } | Layout::Sparse { kind, .. } => *kind,
            Layout::Packed(_) => Kind::Genotype,
        }
    }

    /// Bytes of one reading of all columns.
    pub fn bytes(&self) -> u64 {
        self.size(0, self.ncols)
    }

    /// What was read so far.
    pub fn reading(&self) -> Reading {
        let bytes = self.sources().map(|s| s.bytes.load(Ordering::Relaxed)).sum();
        let passes = self.passed.load(Ordering::Relaxed) as f64 / self.ncols as f64;
        Reading { bytes, passes, waited: Duration::from_nanos(self.waited.load(Ordering::Relaxed)).as_secs_f64() }
    }

    fn sources(&self) -> impl Iterator<Item = &Source> {
        let (first, second) = match &*self.layout {
            Layout::Dense { file, .. } => (file, None),
            Layout::Packed(bed) => (bed.file(), None),
            Layout::Sparse { rows, values, .. } => (&rows.0, Some(&values.0)),
        };
        std::iter::once(first).chain(second)
    }

    /// The bytes of the columns from one up to another.
    fn size(&self, from: usize, to: usize) -> u64 {
        match &*self.layout {
            Layout::Dense { kind, .. } => kind.bytes(self.nrows as u64) * (to - from) as u64,
            Layout::Sparse { starts, kind, .. } => (kind.bytes(1) + 4) * (starts[to] - starts[from]),
            Layout::Packed(bed) => bed.bytes(from, to),
        }
    }
}

impl Design for Stored {
    fn nrows(&self) -> usize {
        self.nrows
    }

    fn ncols(&self) -> usize {
        self.ncols
    }

    fn is_sparse(&self) -> bool {
        matches!(*self.layout, Layout::Sparse { .. })
    }

    fn stored(&self) -> usize {
        match &*self.layout {
            Layout::Dense { .. } | Layout::Packed(_) => self.nrows * self.ncols,
            Layout::Sparse { starts, .. } => starts[self.ncols] as usize,
        }
    }

    fn correlate(&self, features: &[usize], v: &[f64], out: &mut [f64]) -> Result<()> {
        self.correlate_part(features, &Vectors::new(&[v]), out)
    }

    fn correlate_many(&self, features: &[usize], vectors: &[&[f64]], out: &mut [f64]) -> Result<()> {
        self.correlate_part(features, &Vectors::new(vectors), out)
    }

    fn correlate_part(&self, features: &[usize], vectors: &Vectors<'_>, out: &mut [f64]) -> Result<()> {
        let count = vectors.each().len();
        self.each_block(features, &mut |places, local, block| {
            block.correlate_part(local, vectors, &mut out[places.start * count..places.end * count])
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
        self.read_blocks(features, false, &mut |places, local, block| {
            for (k, &j) in places.zip(local) {
                block.column(j, &mut column)?;
                visit(k, &mut column);
            }
            Ok(())
        })
    }

    fn squared_norm(&self, j: usize, buffer: &mut Column) -> Result<f64> {
        let mut found = 0.0;
        self.each_block(&[j], &mut |_, local, block| {
            found = block.squared_norm(local[0], buffer)?;
            Ok(())
        })?;
        Ok(found)
    }

    /// Of genotypes: their counts are known, and any weights are added up packed.
    fn all_moments(&self, weights: Option<&[f64]>) -> Result<Option<Vec<Moments>>> {
        let Layout::Packed(bed) = &*self.layout else { return Ok(None) };
        if weights.is_none() {
            return Ok(Some(bed.counts().iter().map(|counts| counts.moments()).collect()));
        }
        let mut made = vec![Moments::default(); self.ncols];
        self.each_block(&(0..self.ncols).collect::<Vec<_>>(), &mut |places, _, block| {
            let own = block.all_moments(weights)?.unwrap_or_default();
            made[places].iter_mut().zip(own).for_each(|(m, own)| *m = own);
            Ok(())
        })?;
        Ok(Some(made))
    }

    fn kept_moments(&self) -> Option<Vec<Moments>> {
        self.read_moments()
    }

    fn keep_moments(&self, all: &[Moments]) -> Result<()> {
        self.write_moments(all)
    }

    fn reads_ahead(&self) -> bool {
        true
    }

    /// The next blocks are read by other threads while one is worked on.
    fn each_block(&self, features: &[usize], body: BlockBody<'_>) -> Result<bool> {
        self.read_blocks(features, true, body)?;
        Ok(true)
    }
}

impl Stored {
    /// The blocks of the features, in the order of the list, or, of long lists where `any_order` will do, every other time backwards.
    fn read_blocks(&self, features: &[usize], any_order: bool, body: BlockBody<'_>) -> Result<()> {
        self.sources().try_for_each(Source::check)?;
        let mut blocks = self.plan(features);
        self.passed.fetch_add(features.len() as u64, Ordering::Relaxed);
        if any_order && blocks.len() > 1 && self.turns.fetch_add(1, Ordering::Relaxed) % 2 == 1 {
            blocks.reverse();
        }
        let body: WithBlock<'_> = &mut |block, loaded| body(block.places.clone(), &block.local, loaded);
        match self.kind() {
            Kind::F64 => self.through::<f64>(&blocks, body),
            Kind::F32 => self.through::<f32>(&blocks, body),
            // Genotypes are no numbers before they are unpacked.
            Kind::I8 | Kind::Genotype => self.through::<i8>(&blocks, body),
        }
    }
}
