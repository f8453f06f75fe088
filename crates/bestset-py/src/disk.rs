//! A matrix in files, for Python: columns that stay on disk, genotypes that stay packed.

use crate::errors::Failure;
use bestset::design::{Column, Design, GenotypeFile, Stored, column_names, names_are_older, names_said};
use bestset::{Error, Result};
use bestset_data::{CohortFiles, CohortOptions, read_cohort};
use numpy::npyffi::NPY_ORDER;
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::{PyUserWarning, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::ffi::CString;
use std::path::PathBuf;

/// What `bestset.open` gives: taken for X by every function and estimator. Columns are read when they are needed.
///
/// Attributes
/// ----------
/// path : str
/// shape : (int, int)
///     Samples and features.
/// dtype : str
///     The type of the numbers in the files.
/// nbytes : int
///     Bytes of one reading of all columns.
/// names : list of str or None
///     Names of the columns, where the files have any: chromosome:position:other:effect of genotypes, or what the file beside an array
///     says that ``bestset convert`` writes (``x.npy.names``).
/// reading : dict
///     Bytes read so far, readings of all columns, seconds waited for the disk; zeros for genotypes that are in memory.
#[pyclass(frozen, weakref, module = "bestset")]
pub struct OnDisk {
    path: PathBuf,
    keep_moments: bool,
    held: Held,
}

enum Held {
    Stored { stored: Stored, names: Option<Vec<String>> },
    Packed { genotypes: GenotypeFile, names: Vec<String> },
}

impl OnDisk {
    /// The design that the engine reads.
    pub fn design(&self) -> &dyn Design {
        match &self.held {
            Held::Stored { stored, .. } => stored,
            Held::Packed { genotypes, .. } => genotypes.design(),
        }
    }

    fn open(path: PathBuf, keep_moments: bool) -> std::result::Result<Self, String> {
        let Some(files) = CohortFiles::of(&path) else {
            let stored = Stored::open(&path).map_err(|e| e.to_string())?;
            let stored = if keep_moments { stored.keeping_moments() } else { stored };
            let names = column_names(&path, stored.ncols()).map_err(|e| e.to_string())?;
            return Ok(Self { path, keep_moments, held: Held::Stored { stored, names } });
        };
        if keep_moments {
            return Err(format!(
                "{}: genotypes are counted when they are opened; keep_moments is for numbers",
                path.display()
            ));
        }
        let options = CohortOptions { needs_trait: false, ..CohortOptions::default() };
        let cohort = read_cohort(&files, &options).map_err(|e| e.to_string())?;
        let Some(found) = cohort.genotyped else { return Err(format!("{}: there are no genotypes", path.display())) };
        let names = cohort.names.list(found.variants.len());
        Ok(Self { path, keep_moments, held: Held::Packed { genotypes: found.genotypes, names } })
    }

    /// The features asked for, all where none are named.
    fn listed(&self, features: Option<&[i64]>) -> Result<Vec<usize>> {
        let p = self.design().ncols();
        let Some(features) = features else { return Ok((0..p).collect()) };
        let place = |(position, &j): (usize, &i64)| match usize::try_from(j) {
            Ok(j) if j < p => Ok(j),
            _ => {
                let (index, problem) = (j.unsigned_abs() as usize, "beyond the last column");
                Err(Error::Index { what: "features", position, index, problem })
            }
        };
        features.iter().enumerate().map(place).collect()
    }
}

#[pymethods]
impl OnDisk {
    #[new]
    #[pyo3(signature = (path, keep_moments=false))]
    fn new(py: Python<'_>, path: PathBuf, keep_moments: bool) -> PyResult<Self> {
        let found = py.detach(|| Self::open(path, keep_moments)).map_err(PyValueError::new_err)?;
        if matches!(&found.held, Held::Stored { names: Some(_), .. }) && names_are_older(&found.path) {
            let said = CString::new(names_said(&found.path))?;
            PyErr::warn(py, &py.get_type::<PyUserWarning>(), &said, 1)?;
        }
        Ok(found)
    }

    #[getter]
    fn path(&self) -> PathBuf {
        self.path.clone()
    }

    #[getter]
    fn shape(&self) -> (usize, usize) {
        (self.design().nrows(), self.design().ncols())
    }

    #[getter]
    fn ndim(&self) -> usize {
        2
    }

    #[getter]
    fn dtype(&self) -> &str {
        match &self.held {
            Held::Stored { stored, .. } => match stored.numbers() {
                "f64" => "float64",
                "f32" => "float32",
                _ => "int8",
            },
            Held::Packed { .. } => "genotype",
        }
    }

    #[getter]
    fn nbytes(&self) -> u64 {
        match &self.held {
            Held::Stored { stored, .. } => stored.bytes(),
            Held::Packed { genotypes, .. } => genotypes.bytes(),
        }
    }

    #[getter]
    fn names(&self) -> Option<Vec<String>> {
        match &self.held {
            Held::Stored { names, .. } => names.clone(),
            Held::Packed { names, .. } => Some(names.clone()),
        }
    }

    #[getter]
    fn reading<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let reading = match &self.held {
            Held::Stored { stored, .. } => stored.reading(),
            Held::Packed { genotypes, .. } => genotypes.reading().unwrap_or_default(),
        };
        let dict = PyDict::new(py);
        dict.set_item("bytes", reading.bytes)?;
        dict.set_item("passes", reading.passes)?;
        dict.set_item("waited", reading.waited)?;
        Ok(dict)
    }

    /// Unit roundoff and longest sum of `correlate`.
    #[getter]
    fn rounding(&self) -> (f64, f64) {
        (f64::EPSILON / 2.0, self.design().nrows() as f64)
    }

    /// X[:, features].T @ vectors, a row for each feature.
    fn correlate<'py>(
        &self,
        py: Python<'py>,
        features: Option<PyReadonlyArray1<'py, i64>>,
        vectors: PyReadonlyArray2<'py, f64>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let features = self.listed(features.as_ref().map(|f| f.as_slice()).transpose()?).map_err(Failure::from)?;
        let ([n, m], x) = ([vectors.shape()[0], vectors.shape()[1]], self.design());
        if n != x.nrows() {
            let (found, expected) = (n, x.nrows());
            return Err(Failure::from(Error::Shape { what: "vectors", found, expected }).into());
        }
        let rows = vectors.as_array();
        let columns: Vec<Vec<f64>> = (0..m).map(|k| (0..n).map(|i| rows[[i, k]]).collect()).collect();
        let mut out = vec![0.0; features.len() * m];
        let vectors: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
        py.detach(|| x.correlate_many(&features, &vectors, &mut out)).map_err(Failure::from)?;
        PyArray1::from_vec(py, out).reshape([features.len(), m])
    }

    /// X[:, features] as float64.
    #[pyo3(signature = (features=None))]
    fn columns<'py>(
        &self,
        py: Python<'py>,
        features: Option<PyReadonlyArray1<'py, i64>>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let features = self.listed(features.as_ref().map(|f| f.as_slice()).transpose()?).map_err(Failure::from)?;
        let (x, n) = (self.design(), self.design().nrows());
        let mut out = vec![0.0; n * features.len()];
        let copy = &mut |k: usize, column: &mut Column| column.to_dense(&mut out[k * n..(k + 1) * n]);
        py.detach(|| x.columns(&features, copy)).map_err(Failure::from)?;
        PyArray1::from_vec(py, out).reshape_with_order([n, features.len()], NPY_ORDER::NPY_FORTRANORDER)
    }

    fn __repr__(&self) -> String {
        let (x, path) = (self.design(), self.path.display().to_string());
        let (n, p) = (x.nrows(), x.ncols());
        match &self.held {
            Held::Packed { genotypes, .. } => {
                let place = if genotypes.reading().is_some() { "on disk" } else { "packed in memory" };
                format!("bestset.open({path:?}): {n} people, {p} variants, {place}")
            }
            Held::Stored { .. } if x.is_sparse() => {
                let stored = x.stored();
                format!(
                    "bestset.open({path:?}): {n} samples, {p} features, {stored} non-zeros on disk ({})",
                    self.dtype()
                )
            }
            Held::Stored { .. } => {
                format!("bestset.open({path:?}): {n} samples, {p} features on disk ({})", self.dtype())
            }
        }
    }

    fn __len__(&self) -> usize {
        self.design().nrows()
    }

    /// Its path: whoever loads it opens the files again.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (PathBuf, bool))> {
        Ok((py.import("bestset")?.getattr("open")?, (self.path.clone(), self.keep_moments)))
    }
}
