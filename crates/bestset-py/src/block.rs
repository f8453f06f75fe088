//! The operations of the engine on a block of columns in memory: what a worker runs on its part of a matrix, with the bits that the whole
//! matrix in one process would give.

use crate::errors::Failure;
use bestset::design::{Column, Dense, Design, Element, Genotypes, Standardized, moments};
use bestset::{Error, Result};
use numpy::npyffi::NPY_ORDER;
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rayon::ThreadPool;
use std::cell::RefCell;
use std::sync::Arc;

/// Columns one after the other, or the packed codes of people: how many they are, and ⌈people/4⌉ bytes a variant.
#[derive(FromPyObject)]
pub enum Block<'py> {
    F64(PyReadonlyArray2<'py, f64>),
    F32(PyReadonlyArray2<'py, f32>),
    I8(PyReadonlyArray2<'py, i8>),
    Packed(usize, PyReadonlyArray1<'py, u8>),
}

/// The entries as slices, which other threads may read.
enum Entries<'a> {
    F64([usize; 2], &'a [f64]),
    F32([usize; 2], &'a [f32]),
    I8([usize; 2], &'a [i8]),
    Packed(usize, &'a [u8]),
}

fn by_columns<'a, T: numpy::Element + Element>(x: &'a PyReadonlyArray2<'_, T>) -> PyResult<([usize; 2], &'a [T])> {
    if !x.is_fortran_contiguous() {
        return Err(PyValueError::new_err("it must be stored by columns (Fortran order)"));
    }
    let &[n, p] = x.shape() else { return Err(PyValueError::new_err("it must have two dimensions")) };
    Ok(([n, p], x.as_slice()?))
}

impl Block<'_> {
    fn entries(&self) -> PyResult<Entries<'_>> {
        Ok(match self {
            Self::F64(x) => by_columns(x).map(|(shape, x)| Entries::F64(shape, x))?,
            Self::F32(x) => by_columns(x).map(|(shape, x)| Entries::F32(shape, x))?,
            Self::I8(x) => by_columns(x).map(|(shape, x)| Entries::I8(shape, x))?,
            Self::Packed(people, packed) => Entries::Packed(*people, packed.as_slice()?),
        })
    }
}

impl<'a> Entries<'a> {
    fn design(&self) -> Result<Box<dyn Design + 'a>> {
        Ok(match *self {
            Self::F64([n, p], x) => Box::new(Dense::trusted(n, p, x)?),
            Self::F32([n, p], x) => Box::new(Dense::trusted(n, p, x)?),
            Self::I8([n, p], x) => Box::new(Dense::trusted(n, p, x)?),
            Self::Packed(people, packed) => {
                Box::new(Genotypes::new(people, packed.len() / people.div_ceil(4).max(1), packed)?)
            }
        })
    }
}

thread_local! {
    /// A pool of one thread for each that Python calls from, and the process it belongs to.
    static POOL: RefCell<Option<(u32, Arc<ThreadPool>)>> = const { RefCell::new(None) };
}

fn own_pool() -> Option<Arc<ThreadPool>> {
    POOL.with_borrow_mut(|pool| {
        if pool.as_ref().is_none_or(|(process, _)| *process != std::process::id()) {
            let built = rayon::ThreadPoolBuilder::new().num_threads(1).build();
            *pool = built.ok().map(|built| (std::process::id(), Arc::new(built)));
        }
        pool.as_ref().map(|(_, pool)| pool.clone())
    })
}

/// With the interpreter released and on one thread: a cluster gives its workers the processes and threads that they are to use. A
/// thread of the engine, which would take up other work of its own while it waits, does it itself.
fn alone<T: Send>(py: Python<'_>, body: impl FnOnce() -> Result<T> + Send) -> PyResult<T> {
    let found = py.detach(|| match own_pool().filter(|_| rayon::current_thread_index().is_none()) {
        Some(pool) => pool.install(body),
        None => body(),
    });
    Ok(found.map_err(Failure::from)?)
}

/// The features asked for, all where none are named.
fn listed(features: Option<&[i64]>, p: usize) -> Result<Vec<usize>> {
    let Some(features) = features else { return Ok((0..p).collect()) };
    let place = |(position, &j): (usize, &i64)| match usize::try_from(j) {
        Ok(j) if j < p => Ok(j),
        _ => {
            let (index, problem) = (j.unsigned_abs() as usize, "no column of the block");
            Err(Error::Index { what: "features", position, index, problem })
        }
    };
    features.iter().enumerate().map(place).collect()
}

type Features<'py> = Option<PyReadonlyArray1<'py, i64>>;

fn slice<'a>(features: &'a Features<'_>) -> PyResult<Option<&'a [i64]>> {
    Ok(features.as_ref().map(|f| f.as_slice()).transpose()?)
}

fn fits(what: &'static str, found: usize, expected: usize) -> Result<()> {
    if found == expected { Ok(()) } else { Err(Error::Shape { what, found, expected }) }
}

/// X_featuresᵀ vectors, a row for each feature.
#[pyfunction]
pub fn block_correlate<'py>(
    py: Python<'py>,
    block: Block<'py>,
    features: Features<'py>,
    vectors: PyReadonlyArray2<'py, f64>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let (entries, features, ([n, m], vectors)) = (block.entries()?, slice(&features)?, by_columns(&vectors)?);
    let (count, out) = alone(py, || {
        let x = entries.design()?;
        fits("vectors", n, x.nrows())?;
        let (features, vectors) = (listed(features, x.ncols())?, vectors.chunks_exact(n).collect::<Vec<_>>());
        let mut out = vec![0.0; features.len() * m];
        x.correlate_many(&features, &vectors, &mut out)?;
        Ok((features.len(), out))
    })?;
    PyArray1::from_vec(py, out).reshape([count, m])
}

/// The columns of the features, by columns.
#[pyfunction]
pub fn block_columns<'py>(
    py: Python<'py>,
    block: Block<'py>,
    features: Features<'py>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let (entries, features) = (block.entries()?, slice(&features)?);
    let (shape, out) = alone(py, || {
        let x = entries.design()?;
        let (features, mut column) = (listed(features, x.ncols())?, Column::default());
        let mut out = vec![0.0; x.nrows() * features.len()];
        for (&j, out) in features.iter().zip(out.chunks_exact_mut(x.nrows())) {
            x.column(j, &mut column)?;
            column.to_dense(out);
        }
        Ok(([x.nrows(), features.len()], out))
    })?;
    PyArray1::from_vec(py, out).reshape_with_order(shape, NPY_ORDER::NPY_FORTRANORDER)
}

/// Mean, sum of squares and centred sum of squares of each column, or of (x − centre)/scale, a row for each.
#[pyfunction]
#[pyo3(signature = (block, weights=None, centre=None, scale=None))]
pub fn block_moments<'py>(
    py: Python<'py>,
    block: Block<'py>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    centre: Option<PyReadonlyArray1<'py, f64>>,
    scale: Option<PyReadonlyArray1<'py, f64>>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let entries = block.entries()?;
    let weights = weights.as_ref().map(|w| w.as_slice()).transpose()?;
    let view = match (&centre, &scale) {
        (Some(centre), Some(scale)) => Some((centre.as_slice()?, scale.as_slice()?)),
        _ => None,
    };
    let out: Vec<f64> = alone(py, || {
        let x = entries.design()?;
        if let Some(weights) = weights {
            fits("weights", weights.len(), x.nrows())?;
        }
        let found = match view {
            None => moments(&*x, weights)?,
            Some((centre, scale)) => moments(&Standardized::new(&*x, centre.to_vec(), scale.to_vec())?, weights)?,
        };
        Ok(found.iter().flat_map(|m| [m.mean, m.squares, m.centred]).collect())
    })?;
    let count = out.len() / 3;
    PyArray1::from_vec(py, out).reshape([count, 3])
}
