//! The largest products of pairs of columns, by an object that multiplies matrices.

use super::Elsewhere;
use bestset::Result;
use bestset::design::{LargeProducts, LargestPairs, PairsAsked};
use numpy::npyffi::NPY_ORDER;
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::prelude::*;
use rayon::prelude::*;

impl Elsewhere {
    /// For each column of `left` the largest products with those of `right`, as the object has them.
    pub(super) fn largest(&self, left: &[&[f32]], right: &[&[f32]], count: usize) -> Result<Vec<LargeProducts>> {
        let place = || format!("largest of {} columns", left.len());
        let wanted = [left.len(), count.min(right.len().saturating_sub(1))];
        Python::attach(|py| {
            let ended = |error: PyErr| self.ended(&place, error);
            let (left, right) = (matrix(py, left).map_err(ended)?, matrix(py, right).map_err(ended)?);
            let found = self.object.bind(py).call_method1("largest", (left, right, wanted[1])).map_err(ended)?;
            let wrong = |error: PyErr| self.failed(place(), format!("it gave no pair of arrays: {error}"));
            let (places, values) = found.extract().map_err(wrong)?;
            self.lists(&Lists::new(py, &places, &values).map_err(wrong)?, &place, wanted)
        })
    }

    /// The largest products of pairs of columns that stay where they are, as the object has them.
    pub(super) fn pairs(&self, asked: &PairsAsked<'_>) -> Result<LargestPairs> {
        let place = || format!("largest_pairs of {} features", asked.features.len());
        let (n, k, wanted) = (self.nrows, asked.basis.len(), [asked.features.len(), asked.count]);
        Python::attach(|py| {
            let ended = |error: PyErr| self.ended(&place, error);
            let features = PyArray1::from_iter(py, asked.features.iter().map(|&j| j as i64));
            let matrix = |entries: Vec<f64>, shape: [usize; 2]| {
                PyArray1::from_vec(py, entries).reshape_with_order(shape, NPY_ORDER::NPY_FORTRANORDER)
            };
            let basis = matrix(asked.basis.concat(), [n, k]).map_err(ended)?;
            let inverse = matrix(asked.inverse.to_vec(), [k, k]).map_err(ended)?;
            let costs = asked.apart.map(|(costs, _)| PyArray1::from_slice(py, costs));
            let room = asked.apart.map_or(f64::INFINITY, |(_, room)| room);
            let (scales, centred) = (PyArray1::from_slice(py, asked.scales), asked.is_centred);
            let given = (features, scales, centred, basis, inverse, asked.count, costs, room);
            let found = self.object.bind(py).call_method1("largest_pairs", given).map_err(ended)?;
            let wrong = |error: PyErr| self.failed(place(), format!("it gave no two arrays and a number: {error}"));
            let (places, values, error): (Bound<'_, PyAny>, Bound<'_, PyAny>, f64) = found.extract().map_err(wrong)?;
            let rows = self.lists(&Lists::new(py, &places, &values).map_err(wrong)?, &place, wanted)?;
            if !(error.is_finite() && error >= 0.0) {
                return Err(self.failed(place(), format!("it says that its products are off by {error}")));
            }
            Ok(LargestPairs { rows, error })
        })
    }

    /// The lists of all columns, each checked, if there are as many as are wanted, and as long.
    fn lists(&self, found: &Lists<'_>, place: &dyn Fn() -> String, wanted: [usize; 2]) -> Result<Vec<LargeProducts>> {
        let shapes = [found.places.shape().to_vec(), found.values.shape().to_vec()];
        if shapes.iter().any(|shape| *shape != wanted) {
            return Err(self.failed(place(), format!("it gave arrays of shapes {shapes:?}, expected {wanted:?}")));
        }
        let (places, values) = (found.places.readonly(), found.values.readonly());
        let (Ok(places), Ok(values)) = (places.as_slice(), values.as_slice()) else {
            return Err(self.failed(place(), "its arrays have gaps"));
        };
        let [most, count] = [wanted[0], wanted[1].max(1)];
        let rows = places.par_chunks(count).zip(values.par_chunks(count)).enumerate();
        let checked = || rows.map(|(own, (places, values))| self.checked(own, places, values, most)).collect();
        found.places.py().detach(checked)
    }

    /// The list of one column: others than itself, each once, and finite products.
    fn checked(&self, own: usize, places: &[i64], values: &[f32], most: usize) -> Result<LargeProducts> {
        let mut seen = places.to_vec();
        seen.sort_unstable();
        let is_other = |k: &i64| (0..most as i64).contains(k) && *k != own as i64;
        if !places.iter().all(is_other) || seen.windows(2).any(|two| two[0] == two[1]) {
            return Err(
                self.failed(format!("largest of column {own}"), "it lists a column that there is not, or one twice")
            );
        }
        match values.iter().find(|x| !x.is_finite()) {
            Some(x) => Err(self.failed(format!("largest of column {own}"), format!("a product of {x}"))),
            None => Ok(places.iter().zip(values).map(|(k, x)| (*k as u32, *x)).collect()),
        }
    }
}

/// The columns as an array of numpy.
fn matrix<'py>(py: Python<'py>, columns: &[&[f32]]) -> PyResult<Bound<'py, PyArray2<f32>>> {
    let shape = [columns.first().map_or(0, |c| c.len()), columns.len()];
    PyArray1::from_vec(py, columns.concat()).reshape_with_order(shape, NPY_ORDER::NPY_FORTRANORDER)
}

/// Places and products, a row for each column.
struct Lists<'py> {
    places: Bound<'py, PyArray2<i64>>,
    values: Bound<'py, PyArray2<f32>>,
}

impl<'py> Lists<'py> {
    /// Of what an object gave, if these can be arrays of numpy.
    fn new(py: Python<'py>, places: &Bound<'py, PyAny>, values: &Bound<'py, PyAny>) -> PyResult<Self> {
        let numpy = py.import("numpy")?;
        let places = numpy.call_method1("ascontiguousarray", (places, "int64"))?.cast_into()?;
        let values = numpy.call_method1("ascontiguousarray", (values, "float32"))?.cast_into()?;
        Ok(Self { places, values })
    }
}
