//! A matrix that lives elsewhere: a Python object that multiplies its columns where they are (`python/bestset/elsewhere.py` says how).
//!
//! The interpreter is held for the call and no longer. Columns that were fetched are kept, up to some memory: the engine asks for those
//! of the active set again and again.

mod largest;
mod over;
mod reaching;

use bestset::design::{BlockBody, Column, Dense, Design, LargeProducts, LargestPairs, Moments, PairsAsked, Reaching};
use bestset::{Error, Limits, Result};
use numpy::npyffi::NPY_ORDER;
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray2, PyUntypedArrayMethods};
use over::EndOfCall;
pub use over::{Over, Stopped};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rayon::prelude::*;
use reaching::KeptView;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Bytes of the columns that are kept.
const KEPT: usize = 512 << 20;

/// Bytes of the columns that are fetched at once.
const FETCHED: usize = 64 << 20;

/// Features whose numbers one task copies.
const COPIED: usize = 1 << 12;

/// What the object said of itself.
pub struct Elsewhere {
    object: Py<PyAny>,
    name: String,
    nrows: usize,
    ncols: usize,
    rounding: f64,
    trip: usize,
    has_moments: bool,
    has_reaching: bool,
    has_largest: bool,
    has_pairs: bool,
    over: Arc<Over>,
    /// Of the one that the call began with.
    _end: Option<EndOfCall>,
    kept: Mutex<HashMap<usize, Arc<Vec<f64>>>>,
    view: Mutex<Option<KeptView>>,
}

impl Elsewhere {
    /// Asks the object for its shape and its rounding.
    pub fn new(object: &Bound<'_, PyAny>, limits: &Limits) -> PyResult<Self> {
        let name = object.get_type().name()?.to_string();
        for method in ["correlate", "columns"] {
            if !object.hasattr(method)? {
                let text = format!("{name} is no matrix that bestset knows: it has no method `{method}`");
                return Err(PyTypeError::new_err(text));
            }
        }
        let (nrows, ncols): (usize, usize) = object.getattr("shape")?.extract()?;
        if nrows == 0 || ncols == 0 {
            return Err(PyValueError::new_err(format!("the design is empty: {nrows} rows, {ncols} columns")));
        }
        let trip = object.getattr("trip").ok().filter(|t| !t.is_none()).map(|t| t.extract()).transpose()?;
        let [has_moments, has_reaching, has_largest, has_pairs] = [
            object.hasattr("moments")?,
            object.hasattr("reaching")?,
            object.hasattr("largest")?,
            object.hasattr("largest_pairs")?,
        ];
        let rounding = rounding(object, nrows, &name)?;
        let over = Over::of_passes(limits);
        if object.hasattr("watch")? {
            object.call_method1("watch", (Bound::new(object.py(), Stopped(over.clone()))?,))?;
        }
        let (object, trip, kept, view) =
            (object.clone().unbind(), trip.unwrap_or(ncols), Mutex::default(), Mutex::default());
        Ok(Self {
            object,
            name,
            nrows,
            ncols,
            rounding,
            trip,
            has_moments,
            has_reaching,
            has_largest,
            has_pairs,
            _end: Some(EndOfCall(over.clone())),
            over,
            kept,
            view,
        })
    }

    /// The same object for another call of the engine; nothing is kept from one to the next, since the data may have changed.
    pub fn again(&self) -> Self {
        let object = Python::attach(|py| self.object.clone_ref(py));
        let (name, over) = (self.name.clone(), self.over.clone());
        Self { object, name, over, _end: None, kept: Mutex::default(), view: Mutex::default(), ..*self }
    }

    fn failed(&self, place: String, reason: impl std::fmt::Display) -> Error {
        Error::Read { what: format!("X ({})", self.name), place, reason: reason.to_string() }
    }

    /// Why a call has failed, or that nobody waits for what it gave up.
    fn ended(&self, place: &impl Fn() -> String, error: PyErr) -> Error {
        if self.over.is_over() { Error::Stopped } else { self.failed(place(), error) }
    }

    /// Calls a method and hands its array, of this shape, to `read`.
    fn ask<T: Send>(
        &self,
        place: impl Fn() -> String,
        shape: [usize; 2],
        call: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<Py<PyAny>>,
        read: impl FnOnce(&[f64]) -> T + Send,
    ) -> Result<T> {
        Python::attach(|py| {
            let fail = |error: PyErr| self.failed(place(), error);
            let found = call(self.object.bind(py)).map_err(|error| self.ended(&place, error))?;
            let (numpy, order) = (py.import("numpy").map_err(fail)?, PyDict::new(py));
            order.set_item("dtype", "float64").map_err(fail)?;
            order.set_item("order", "F").map_err(fail)?;
            let found = numpy.call_method("asarray", (found,), Some(&order)).map_err(fail)?;
            let array: PyReadonlyArray2<'_, f64> = found.extract().map_err(|_| {
                let found = found.getattr("shape").map_or_else(|e| e.to_string(), |s| s.to_string());
                self.failed(place(), format!("it gave an array of shape {found}, expected {shape:?}"))
            })?;
            if array.shape() != shape {
                let found = array.shape().to_vec();
                return Err(self.failed(place(), format!("it gave an array of shape {found:?}, expected {shape:?}")));
            }
            let entries = array.as_slice().map_err(|e| self.failed(place(), e))?;
            // Long lists of numbers are copied by all threads, while others may have the interpreter.
            Ok(py.detach(|| read(entries)))
        })
    }

    /// The list as Python has it, nothing where it is that of all features.
    fn listed<'py>(&self, py: Python<'py>, features: &[usize]) -> Option<Bound<'py, PyArray1<i64>>> {
        let is_all = features.len() == self.ncols && features.par_iter().enumerate().all(|(k, &j)| j == k);
        (!is_all).then(|| PyArray1::from_vec(py, features.par_iter().map(|&j| j as i64).collect()))
    }

    fn known(&self) -> MutexGuard<'_, HashMap<usize, Arc<Vec<f64>>>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Columns that are not kept, in one call.
    fn fetch(&self, features: &[usize]) -> Result<Vec<Arc<Vec<f64>>>> {
        let (n, count) = (self.nrows, features.len());
        let place = || format!("columns of {}", some(features));
        let call = |object: &Bound<'_, PyAny>| {
            let listed = PyArray1::from_iter(object.py(), features.iter().map(|&j| j as i64));
            Ok(object.call_method1("columns", (listed,))?.unbind())
        };
        let split = |entries: &[f64]| entries.chunks_exact(n).map(|x| Arc::new(x.to_vec())).collect::<Vec<_>>();
        let found = self.ask(place, [n, count], call, split)?;
        for (&column, x) in features.iter().zip(&found) {
            if let Some(row) = x.iter().position(|x| !x.is_finite()) {
                return Err(Error::NonFiniteDesign { row, column, value: x[row] });
            }
        }
        Ok(found)
    }

    /// The columns, those that are not kept in calls of some megabytes each.
    fn gather(&self, features: &[usize]) -> Result<Vec<Arc<Vec<f64>>>> {
        let mut found: Vec<Option<Arc<Vec<f64>>>> = {
            let kept = self.known();
            features.iter().map(|j| kept.get(j).cloned()).collect()
        };
        let mut missing: Vec<usize> =
            features.iter().zip(&found).filter(|(_, x)| x.is_none()).map(|(&j, _)| j).collect();
        missing.sort_unstable();
        missing.dedup();
        let mut fetched = HashMap::new();
        for part in missing.chunks((FETCHED / (8 * self.nrows)).max(1)) {
            fetched.extend(part.iter().copied().zip(self.fetch(part)?));
        }
        for (&j, place) in features.iter().zip(&mut found) {
            if place.is_none() {
                *place = fetched.get(&j).cloned();
            }
        }
        let mut kept = self.known();
        if (kept.len() + fetched.len()) * 8 * self.nrows > KEPT {
            kept.clear();
        }
        if fetched.len() * 8 * self.nrows <= KEPT {
            kept.extend(fetched);
        }
        Ok(found.into_iter().flatten().collect())
    }

    /// x_jᵀv of the features and vectors, as the object has them, each kept in this way; the vectors of a feature side by side.
    fn multiply<T: Send>(
        &self,
        features: &[usize],
        vectors: &[&[f64]],
        out: &mut [T],
        kept: impl Fn(f64) -> T + Sync,
    ) -> Result<()> {
        let (m, count) = (vectors.len(), features.len());
        if count == 0 || m == 0 {
            return Ok(());
        }
        let place = || format!("correlate of {}", some(features));
        let call = |object: &Bound<'_, PyAny>| {
            let py = object.py();
            Ok(object.call_method1("correlate", (self.listed(py, features), side_by_side(py, vectors)?))?.unbind())
        };
        let wrong = self.ask(place, [count, m], call, |found| {
            // By vectors there, by features here.
            let parts = out.par_chunks_mut(COPIED * m).enumerate().map(|(part, out)| {
                for (k, out) in out.chunks_exact_mut(m).enumerate() {
                    out.iter_mut().enumerate().for_each(|(v, x)| *x = kept(found[v * count + part * COPIED + k]));
                }
                let own = part * COPIED..count.min((part + 1) * COPIED);
                (0..m).find_map(|v| {
                    own.clone().find(|k| !found[v * count + k].is_finite()).map(|k| (features[k], found[v * count + k]))
                })
            });
            parts.flatten().min_by_key(|wrong| wrong.0)
        })?;
        match wrong {
            Some((j, x)) => {
                let reason = format!("{x}: every entry of X must be finite");
                Err(self.failed(format!("correlate of feature {j}"), reason))
            }
            None => Ok(()),
        }
    }

    fn moments_from(&self, weights: Option<&[f64]>, view: Option<(&[f64], &[f64])>) -> Result<Option<Vec<Moments>>> {
        if !self.has_moments {
            return Ok(None);
        }
        let call = |object: &Bound<'_, PyAny>| {
            let py = object.py();
            let array = |values: &[f64]| PyArray1::from_slice(py, values);
            let (centre, scale) = (view.map(|v| array(v.0)), view.map(|v| array(v.1)));
            Ok(object.call_method1("moments", (weights.map(array), centre, scale))?.unbind())
        };
        let p = self.ncols;
        let read = |all: &[f64]| {
            (0..p)
                .into_par_iter()
                .map(|j| Moments { mean: all[j], squares: all[p + j], centred: all[2 * p + j] })
                .collect::<Vec<Moments>>()
        };
        let found = self.ask(|| "moments".to_owned(), [p, 3], call, read)?;
        let is_sound = |m: &Moments| m.mean.is_finite() && m.squares.is_finite() && m.centred.is_finite();
        match found.par_iter().position_first(|m| !is_sound(m)) {
            Some(j) => {
                let reason =
                    format!("{:?}: every entry of the column must be finite, and its squares add up", found[j]);
                Err(self.failed(format!("moments of feature {j}"), reason))
            }
            None => Ok(Some(found)),
        }
    }
}

/// The vectors as the columns of an array.
fn side_by_side<'py>(py: Python<'py>, vectors: &[&[f64]]) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let shape = [vectors.first().map_or(0, |v| v.len()), vectors.len()];
    PyArray1::from_vec(py, vectors.concat()).reshape_with_order(shape, NPY_ORDER::NPY_FORTRANORDER)
}

/// Nv/(1 − Nv) beyond ε(n/2 + 12) (MATH 3.10), of `rounding = (v, N)`: unit roundoff and longest sum.
fn rounding(object: &Bound<'_, PyAny>, n: usize, name: &str) -> PyResult<f64> {
    let stated = object.getattr("rounding").map_err(|_| {
        let text = format!(
            "{name} has no attribute `rounding`: (unit roundoff, longest sum) of its correlations, (2**-53, n) for sums in double precision"
        );
        PyTypeError::new_err(text)
    })?;
    let (unit, terms): (f64, f64) = stated.extract()?;
    let share = unit * terms;
    if !(unit > 0.0 && terms >= 0.0 && share < 0.5) {
        let text = format!(
            "rounding of {name} is ({unit}, {terms}); the unit roundoff must be above 0 and its product with the longest sum below 1/2"
        );
        return Err(PyValueError::new_err(text));
    }
    let own = f64::EPSILON * (0.5 * n as f64 + 12.0);
    Ok((share / (1.0 - share) * (1.0 + 4.0 * f64::EPSILON) - own).max(0.0))
}

fn some(features: &[usize]) -> String {
    match features {
        [one] => format!("feature {one}"),
        [first, .., last] => format!("{} features from {first} to {last}", features.len()),
        [] => "no feature".to_owned(),
    }
}

impl Design for Elsewhere {
    fn nrows(&self) -> usize {
        self.nrows
    }

    fn ncols(&self) -> usize {
        self.ncols
    }

    fn is_sparse(&self) -> bool {
        false
    }

    fn stored(&self) -> usize {
        self.nrows * self.ncols
    }

    fn correlate(&self, features: &[usize], v: &[f64], out: &mut [f64]) -> Result<()> {
        self.correlate_many(features, &[v], out)
    }

    fn correlate_many(&self, features: &[usize], vectors: &[&[f64]], out: &mut [f64]) -> Result<()> {
        self.multiply(features, vectors, out, |x| x)
    }

    fn correlate_roughly(&self, features: &[usize], vectors: &[&[f64]], out: &mut [f32]) -> Result<()> {
        self.multiply(features, vectors, out, |x| x as f32)
    }

    fn reaching(
        &self,
        features: &[usize],
        vectors: &[&[f64]],
        limits: &[f64],
        view: Option<(&[f64], &[f64])>,
    ) -> Result<Option<Vec<Vec<Reaching>>>> {
        if self.has_reaching { self.pick(features, vectors, limits, view).map(Some) } else { Ok(None) }
    }

    fn multiplies_pairs(&self) -> bool {
        self.has_largest
    }

    fn largest_products(&self, left: &[&[f32]], right: &[&[f32]], count: usize) -> Result<Option<Vec<LargeProducts>>> {
        if self.has_largest { self.largest(left, right, count).map(Some) } else { Ok(None) }
    }

    fn lists_pairs(&self) -> bool {
        self.has_pairs
    }

    fn largest_pairs(&self, asked: &PairsAsked<'_>) -> Result<Option<LargestPairs>> {
        if self.has_pairs { self.pairs(asked).map(Some) } else { Ok(None) }
    }

    fn axpy(&self, j: usize, a: f64, out: &mut [f64]) -> Result<()> {
        let column = self.gather(&[j])?;
        out.iter_mut().zip(column[0].iter()).for_each(|(o, x)| *o += a * x);
        Ok(())
    }

    fn column(&self, j: usize, out: &mut Column) -> Result<()> {
        self.columns(&[j], &mut |_, column| std::mem::swap(column, out))
    }

    fn columns(&self, features: &[usize], visit: &mut dyn FnMut(usize, &mut Column)) -> Result<()> {
        let part = (FETCHED / (8 * self.nrows)).max(1);
        for (number, features) in features.chunks(part).enumerate() {
            for (k, values) in self.gather(features)?.into_iter().enumerate() {
                let values = values.to_vec();
                visit(number * part + k, &mut Column { sparse: false, rows: Vec::new(), values, shift: 0.0 });
            }
        }
        Ok(())
    }

    fn expect(&self, features: &[usize]) -> Result<()> {
        let room = (KEPT / 2 / (8 * self.nrows)).min(features.len());
        self.gather(&features[..room]).map(|_| ())
    }

    /// Only where the object has no moments: they are made of the columns then.
    fn each_block(&self, features: &[usize], body: BlockBody<'_>) -> Result<bool> {
        if self.has_moments {
            return Ok(false);
        }
        let part = (FETCHED / (8 * self.nrows)).max(1);
        for (number, features) in features.chunks(part).enumerate() {
            let columns = self.gather(features)?;
            let entries: Vec<f64> = columns.iter().flat_map(|x| x.iter().copied()).collect();
            let block = Dense::new(self.nrows, features.len(), entries)?;
            let local: Vec<usize> = (0..features.len()).collect();
            body(number * part..number * part + features.len(), &local, &block)?;
        }
        Ok(true)
    }

    fn all_moments(&self, weights: Option<&[f64]>) -> Result<Option<Vec<Moments>>> {
        self.moments_from(weights, None)
    }

    fn standardized_moments(
        &self,
        centre: &[f64],
        scale: &[f64],
        weights: Option<&[f64]>,
    ) -> Result<Option<Vec<Moments>>> {
        self.moments_from(weights, Some((centre, scale)))
    }

    fn rounding(&self) -> f64 {
        self.rounding
    }

    fn trip(&self) -> Option<usize> {
        Some(self.trip)
    }
}
