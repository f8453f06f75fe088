//! Sweeps of an object that picks out the features that matter where its columns are.

use super::{Elsewhere, side_by_side, some};
use bestset::Result;
use bestset::design::Reaching;
use numpy::{PyArray1, PyArrayMethods};
use pyo3::prelude::*;
use rayon::prelude::*;
use std::sync::PoisonError;

/// Of ten features so many make a sweep one over all: those that were not asked for cost less than a list of the others.
const NEARLY_ALL: usize = 9;

/// Numbers that one task compares.
const COMPARED: usize = 1 << 16;

/// Centres and scales as the object has been handed them: the same arrays each time, so that it may keep them where its columns are.
pub struct KeptView {
    centre: Py<PyArray1<f64>>,
    scale: Py<PyArray1<f64>>,
}

/// What a call hands over of a view.
type HandedView<'py> = (Option<Bound<'py, PyArray1<f64>>>, Option<Bound<'py, PyArray1<f64>>>);

/// Whether the array holds these numbers.
fn holds(py: Python<'_>, array: &Py<PyArray1<f64>>, values: &[f64]) -> bool {
    let array = array.bind(py).readonly();
    let Ok(own) = array.as_slice() else { return false };
    own.len() == values.len()
        && own.par_chunks(COMPARED).zip(values.par_chunks(COMPARED)).all(|(own, values)| own == values)
}

impl Elsewhere {
    /// The features whose |x_jᵀv|, with their columns seen as `view` says, reach the limits, as the object lists them.
    pub(super) fn pick(
        &self,
        features: &[usize],
        vectors: &[&[f64]],
        limits: &[f64],
        view: Option<(&[f64], &[f64])>,
    ) -> Result<Vec<Vec<Reaching>>> {
        let place = || format!("reaching of {}", some(features));
        if features.is_empty() || vectors.is_empty() {
            return Ok(vec![Vec::new(); vectors.len()]);
        }
        Python::attach(|py| {
            let failed = |error: PyErr| self.ended(&place, error);
            let (centre, scale) = self.handed(py, view);
            let listed = if 10 * features.len() >= NEARLY_ALL * self.ncols { None } else { self.listed(py, features) };
            let (given, least) = (side_by_side(py, vectors).map_err(failed)?, PyArray1::from_slice(py, limits));
            let found = self.object.bind(py).call_method1("reaching", (listed, given, least, centre, scale));
            let found: Vec<(Bound<'_, PyAny>, Bound<'_, PyAny>)> = found.and_then(|f| f.extract()).map_err(failed)?;
            if found.len() != vectors.len() {
                let reason = format!("it gave {} lists for {} vectors", found.len(), vectors.len());
                return Err(self.failed(place(), reason));
            }
            let lists: PyResult<Vec<ListedArrays<'_>>> =
                found.iter().map(|list| as_arrays(py, &list.0, &list.1)).collect();
            let lists = lists.map_err(|error| self.failed(place(), format!("not two lists: {error}")))?;
            let lists: Vec<_> = lists.iter().map(|(at, values)| (at.readonly(), values.readonly())).collect();
            let slices = lists.iter().map(|(at, values)| Some((at.as_slice().ok()?, values.as_slice().ok()?)));
            let Some(slices) = slices.collect::<Option<Vec<(&[i64], &[f64])>>>() else {
                return Err(self.failed(place(), "its lists have gaps"));
            };
            // Millions of numbers in dozens of lists: by all threads, while others may have the interpreter.
            let picked = |list: &(&[i64], &[f64])| self.picked(features, &place, *list);
            py.detach(|| slices.par_iter().map(picked).collect())
        })
    }

    /// The view as the object knows it.
    fn handed<'py>(&self, py: Python<'py>, view: Option<(&[f64], &[f64])>) -> HandedView<'py> {
        let Some((centre, scale)) = view else { return (None, None) };
        let mut kept = self.view.lock().unwrap_or_else(PoisonError::into_inner);
        let known = kept.take().filter(|k| holds(py, &k.centre, centre) && holds(py, &k.scale, scale));
        let array = |values: &[f64]| PyArray1::from_slice(py, values).unbind();
        let view = known.unwrap_or_else(|| KeptView { centre: array(centre), scale: array(scale) });
        let handed = (Some(view.centre.bind(py).clone()), Some(view.scale.bind(py).clone()));
        *kept = Some(view);
        handed
    }

    /// One list of the object's: features that were asked for, ascending, with their finite numbers.
    fn picked(
        &self,
        features: &[usize],
        place: &impl Fn() -> String,
        (at, values): (&[i64], &[f64]),
    ) -> Result<Vec<Reaching>> {
        let is_list = at.len() == values.len() && at.windows(2).all(|two| two[0] < two[1]);
        if !is_list || at.first().is_some_and(|j| *j < 0) || at.last().is_some_and(|j| *j >= self.ncols as i64) {
            let reason =
                format!("it gave {} features and {} numbers; features must be ascending", at.len(), values.len());
            return Err(self.failed(place(), reason));
        }
        if let Some(k) = values.iter().position(|x| !x.is_finite()) {
            let reason = format!("{}: every entry of X must be finite", values[k]);
            return Err(self.failed(format!("reaching of feature {}", at[k]), reason));
        }
        // Both lists ascend: each is gone through once, where a search of ten million features would begin anew for every number.
        let mut from = 0;
        let mut is_asked = |j: usize| {
            from += below(&features[from..], j);
            features.get(from) == Some(&j)
        };
        let asked = at.iter().zip(values).filter(|(j, _)| features.len() == self.ncols || is_asked(**j as usize));
        Ok(asked.map(|(j, x)| Reaching { feature: *j as u32, value: *x as f32 }).collect())
    }
}

/// How many of an ascending list are below j, looked for from its start on in steps that double.
fn below(list: &[usize], j: usize) -> usize {
    let mut step = 1;
    while step < list.len() && list[step - 1] < j {
        step *= 2;
    }
    let first = step / 2;
    first + list[first..list.len().min(step)].partition_point(|f| *f < j)
}

/// Features and their numbers.
type ListedArrays<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<f64>>);

/// Two arrays of numpy, of whole numbers and of numbers.
fn as_arrays<'py>(py: Python<'py>, at: &Bound<'py, PyAny>, values: &Bound<'py, PyAny>) -> PyResult<ListedArrays<'py>> {
    let numpy = py.import("numpy")?;
    let at = numpy.call_method1("ascontiguousarray", (at, "int64"))?.cast_into::<PyArray1<i64>>()?;
    let values = numpy.call_method1("ascontiguousarray", (values, "float64"))?.cast_into::<PyArray1<f64>>()?;
    Ok((at, values))
}
