//! What Python hands over: `Data` and `Setup` of `python/bestset/_problem.py`, read attribute by attribute.

use crate::disk::OnDisk;
use crate::elsewhere::Elsewhere;
use crate::errors::Failure;
use bestset::design::{Csc, Dense, Design};
use bestset::groups::Groups;
use bestset::select::{Posed, Samples, Scale, Setup};
use bestset::{Bounds, Factors, Limits, Loss, Survival, Ties};
use numpy::{PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// X: column-major and contiguous, or (rows, column starts, row indices, values), or columns in files, or an object that multiplies its columns itself.
#[derive(FromPyObject)]
pub enum Matrix<'py> {
    F64(PyReadonlyArray2<'py, f64>),
    F32(PyReadonlyArray2<'py, f32>),
    SparseF64(usize, PyReadonlyArray1<'py, usize>, PyReadonlyArray1<'py, u32>, PyReadonlyArray1<'py, f64>),
    SparseF32(usize, PyReadonlyArray1<'py, usize>, PyReadonlyArray1<'py, u32>, PyReadonlyArray1<'py, f32>),
    OnDisk(PyRef<'py, OnDisk>),
    Elsewhere(Bound<'py, PyAny>),
}

/// The samples.
#[derive(FromPyObject)]
pub struct Data<'py> {
    x: Matrix<'py>,
    y: PyReadonlyArray1<'py, f64>,
    sample_weight: Option<PyReadonlyArray1<'py, f64>>,
    offset: Option<PyReadonlyArray1<'py, f64>>,
    survival: Option<Times<'py>>,
}

#[derive(FromPyObject)]
enum BoundsArgument<'py> {
    All(f64, f64),
    Each(PyReadonlyArray1<'py, f64>, PyReadonlyArray1<'py, f64>),
}

/// The problem asked of them, but for the number of features.
#[derive(FromPyObject)]
pub struct SetupArgument<'py> {
    loss: String,
    delta: Option<f64>,
    theta: Option<f64>,
    lambda1: f64,
    lambda2: Option<f64>,
    fit_intercept: bool,
    scale: String,
    bounds: Option<BoundsArgument<'py>>,
    price: Option<PyReadonlyArray1<'py, f64>>,
    shrinkage: Option<PyReadonlyArray1<'py, f64>>,
    always: Vec<usize>,
    never: Vec<usize>,
    groups: Option<Vec<usize>>,
    group_prices: Option<Vec<f64>>,
}

/// Survival times: `Times` of `python/bestset/_survival.py`.
#[derive(FromPyObject)]
pub struct Times<'py> {
    time: PyReadonlyArray1<'py, f64>,
    event: PyReadonlyArray1<'py, bool>,
    entry: Option<PyReadonlyArray1<'py, f64>>,
    strata: Option<Vec<usize>>,
    ties: String,
}

impl Times<'_> {
    /// As the core has them.
    pub fn own(&self) -> PyResult<Survival> {
        let entry = self.entry.as_ref().map(|e| e.as_slice().map(<[f64]>::to_vec)).transpose()?;
        let (time, event) = (self.time.as_slice()?.to_vec(), self.event.as_slice()?.to_vec());
        Ok(Survival { time, event, entry, strata: self.strata.clone() })
    }
}

/// Makes the design of entries borrowed from numpy, on the thread that needs it: that reads all of them once.
type MakeDesign<'a> = Box<dyn Fn() -> bestset::Result<Box<dyn Design + 'a>> + Send + Sync + 'a>;

/// A design that is there, or one that is made when it is needed.
enum Borrowed<'a> {
    There(&'a dyn Design),
    Later(MakeDesign<'a>),
}

/// All input as slices and plain values, which other threads may read.
pub struct Input<'a> {
    design: Borrowed<'a>,
    y: &'a [f64],
    weights: Option<&'a [f64]>,
    offset: Option<&'a [f64]>,
    setup: Setup,
    /// When the call ends; a matrix that lives elsewhere looks at it in the middle of a pass.
    pub limits: Limits,
}

fn columns<'a, T: numpy::Element>(array: &'a PyReadonlyArray2<'_, T>) -> PyResult<(usize, usize, &'a [T])> {
    if !array.is_fortran_contiguous() {
        return Err(PyValueError::new_err("X must be stored by columns (Fortran order)"));
    }
    let [rows, columns] = *array.shape() else { unreachable!("the array has two dimensions") };
    Ok((rows, columns, array.as_slice()?))
}

impl Matrix<'_> {
    /// Borrows the entries: slices may be read on other threads, arrays of numpy may not.
    fn borrow(&self, limits: &Limits) -> PyResult<Borrowed<'_>> {
        fn later<'a, D: Design + 'a>(make: impl Fn() -> bestset::Result<D> + Send + Sync + 'a) -> MakeDesign<'a> {
            Box::new(move || Ok(Box::new(make()?)))
        }
        Ok(Borrowed::Later(match self {
            Self::OnDisk(x) => return Ok(Borrowed::There(x.design())),
            Self::F64(x) => columns(x).map(|(n, p, x)| later(move || Dense::new(n, p, x)))?,
            Self::F32(x) => columns(x).map(|(n, p, x)| later(move || Dense::new(n, p, x)))?,
            Self::SparseF64(n, s, r, v) => {
                let (n, s, r, v) = (*n, s.as_slice()?, r.as_slice()?, v.as_slice()?);
                later(move || Csc::new(n, s, r, v))
            }
            Self::SparseF32(n, s, r, v) => {
                let (n, s, r, v) = (*n, s.as_slice()?, r.as_slice()?, v.as_slice()?);
                later(move || Csc::new(n, s, r, v))
            }
            Self::Elsewhere(object) => {
                let design = Elsewhere::new(object, limits)?;
                later(move || Ok(design.again()))
            }
        }))
    }
}

impl<'py> Data<'py> {
    /// Borrows everything; `setup` is copied, it has at most a few numbers per feature.
    pub fn borrow<'a>(&'a self, setup: &SetupArgument<'py>, limits: Limits) -> PyResult<Input<'a>> {
        let weights = self.sample_weight.as_ref().map(|w| w.as_slice()).transpose()?;
        let offset = self.offset.as_ref().map(|o| o.as_slice()).transpose()?;
        let (design, y) = (self.x.borrow(&limits)?, self.y.as_slice()?);
        // Classes are numbered from 0.
        let last = y.iter().fold(0.0, |most: f64, y| most.max(*y));
        let classes = if setup.loss == "multinomial" { last as usize + 1 } else { 0 };
        Ok(Input { design, y, weights, offset, setup: setup.own(self.survival.as_ref(), classes)?, limits })
    }
}

/// The loss of this name; K where it is that of many classes.
pub fn loss(name: &str, delta: f64, theta: Option<f64>, ties: &str, classes: usize) -> PyResult<Loss> {
    if name == "multinomial" {
        return Ok(Loss::Multinomial { classes });
    }
    if name != "cox" {
        return Ok(Loss::named(name, delta, theta).map_err(Failure::from)?);
    }
    match [Ties::Efron, Ties::Breslow].into_iter().find(|t| t.name() == ties) {
        Some(ties) => Ok(Loss::Cox { ties }),
        None => Err(PyValueError::new_err(format!("there are no ties named {ties:?}; known are efron and breslow"))),
    }
}

impl SetupArgument<'_> {
    fn own(&self, times: Option<&Times<'_>>, classes: usize) -> PyResult<Setup> {
        let scale = match self.scale.as_str() {
            "norm" => Scale::Norm,
            "variance" => Scale::Variance,
            "none" => Scale::None,
            other => return Err(PyValueError::new_err(format!("there is no scale named {other:?}"))),
        };
        let bounds = match &self.bounds {
            None => Bounds::Free,
            Some(BoundsArgument::All(lower, upper)) => Bounds::All(*lower, *upper),
            Some(BoundsArgument::Each(lower, upper)) => {
                Bounds::Each(lower.as_slice()?.to_vec(), upper.as_slice()?.to_vec())
            }
        };
        let factors = |given: &Option<PyReadonlyArray1<'_, f64>>| -> PyResult<Factors> {
            Ok(match given {
                Some(factors) => Factors::Each(factors.as_slice()?.to_vec()),
                None => Factors::One,
            })
        };
        Ok(Setup {
            loss: loss(
                &self.loss,
                self.delta.unwrap_or(Loss::USUAL_DELTA),
                self.theta,
                times.map_or("efron", |t| &t.ties),
                classes,
            )?,
            delta_in_spreads: self.delta.is_none(),
            survival: times.map(Times::own).transpose()?,
            intercept: self.fit_intercept,
            scale,
            lambda1: self.lambda1,
            lambda2: self.lambda2,
            bounds,
            price: factors(&self.price)?,
            shrinkage: factors(&self.shrinkage)?,
            always: self.always.clone(),
            never: self.never.clone(),
            groups: self.groups()?,
        })
    }

    fn groups(&self) -> PyResult<Option<Groups>> {
        let Some(labels) = &self.groups else { return Ok(None) };
        let groups = Groups::new(labels);
        Ok(Some(match &self.group_prices {
            Some(prices) => groups.with_prices(prices.clone()).map_err(Failure::from)?,
            None => groups,
        }))
    }
}

impl Input<'_> {
    /// The same for a part of a selection.
    pub fn of_part(self, asked: &str) -> Result<Self, Failure> {
        Ok(Self { setup: self.setup.of_part(asked)?, ..self })
    }

    /// Poses the problem and hands it on.
    pub fn pose<T>(&self, body: impl FnOnce(&Posed<'_>) -> Result<T, Failure>) -> Result<T, Failure> {
        let made: Box<dyn Design + '_>;
        let x = match &self.design {
            Borrowed::There(x) => *x,
            Borrowed::Later(make) => {
                made = make()?;
                &*made
            }
        };
        let samples = Samples { x, y: self.y, weights: self.weights, offset: self.offset };
        self.setup.pose_within(&samples, &self.limits, body)
    }
}
