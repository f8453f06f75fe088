//! What Python hands over: `Data`, `Spec` and `Control` of `python/bestset/_problem.py`, read attribute by attribute.

use crate::errors::Failure;
use bestset::design::{Csc, Dense, Design, Standardized};
use bestset::path::{Grid, PathOptions};
use bestset::solver::{CancelFlag, Published};
use bestset::{Bounds, Coefficients, Loss, Options, Penalty, Problem};
use numpy::{PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::time::Duration;

/// X: column-major and contiguous, or (rows, column starts, row indices, values).
#[derive(FromPyObject)]
pub enum Matrix<'py> {
    F64(PyReadonlyArray2<'py, f64>),
    F32(PyReadonlyArray2<'py, f32>),
    SparseF64(usize, PyReadonlyArray1<'py, usize>, PyReadonlyArray1<'py, u32>, PyReadonlyArray1<'py, f64>),
    SparseF32(usize, PyReadonlyArray1<'py, usize>, PyReadonlyArray1<'py, u32>, PyReadonlyArray1<'py, f32>),
}

/// The samples.
#[derive(FromPyObject)]
pub struct Data<'py> {
    x: Matrix<'py>,
    y: PyReadonlyArray1<'py, f64>,
    sample_weight: Option<PyReadonlyArray1<'py, f64>>,
    offset: Option<PyReadonlyArray1<'py, f64>>,
}

#[derive(FromPyObject)]
enum BoundsArgument<'py> {
    All(f64, f64),
    Each(PyReadonlyArray1<'py, f64>, PyReadonlyArray1<'py, f64>),
}

/// The problem posed on them.
#[derive(FromPyObject)]
pub struct SpecArgument<'py> {
    loss: String,
    delta: f64,
    lambda0: f64,
    lambda1: f64,
    lambda2: f64,
    k: Option<usize>,
    fit_intercept: bool,
    standardize: bool,
    bounds: Option<BoundsArgument<'py>>,
    price: Option<PyReadonlyArray1<'py, f64>>,
    shrinkage: Option<PyReadonlyArray1<'py, f64>>,
    always: Vec<usize>,
    never: Vec<usize>,
}

/// How it is solved.
#[derive(FromPyObject)]
pub struct Control {
    method: String,
    gap: f64,
    time_limit: Option<f64>,
    pub threads: Option<usize>,
    trace: bool,
    max_iter: Option<usize>,
    max_nodes: Option<usize>,
    max_memory: Option<usize>,
    top: usize,
    stop: String,
    warm_start: Option<(Vec<usize>, Vec<f64>, f64)>,
    pub keep_answer: bool,
}

/// The grid of a path: `lambda0s` if given, else `points` of it, spaced by logarithms if `ratio` is given.
#[derive(FromPyObject)]
pub struct GridArgument {
    lambda0s: Option<Vec<f64>>,
    lambda2s: Vec<f64>,
    points: usize,
    ratio: Option<f64>,
    max_size: Option<usize>,
}

/// Entries of X, borrowed from numpy.
enum View<'a> {
    F64(usize, usize, &'a [f64]),
    F32(usize, usize, &'a [f32]),
    SparseF64(usize, &'a [usize], &'a [u32], &'a [f64]),
    SparseF32(usize, &'a [usize], &'a [u32], &'a [f32]),
}

/// All input as slices and plain values, which other threads may read.
pub struct Input<'a> {
    view: View<'a>,
    y: &'a [f64],
    weights: Option<&'a [f64]>,
    offset: Option<&'a [f64]>,
    spec: Spec,
}

struct Spec {
    loss: Loss,
    penalty: Penalty,
    k: Option<usize>,
    fit_intercept: bool,
    standardize: bool,
    always: Vec<usize>,
    never: Vec<usize>,
}

fn columns<'a, T: numpy::Element>(array: &'a PyReadonlyArray2<'_, T>) -> PyResult<(usize, usize, &'a [T])> {
    if !array.is_fortran_contiguous() {
        return Err(PyValueError::new_err("X must be stored by columns (Fortran order)"));
    }
    let [rows, columns] = *array.shape() else { unreachable!("the array has two dimensions") };
    Ok((rows, columns, array.as_slice()?))
}

impl<'py> Data<'py> {
    /// Borrows everything; `spec` is copied, it has at most a few numbers per feature.
    pub fn borrow<'a>(&'a self, spec: &SpecArgument<'py>) -> PyResult<Input<'a>> {
        let view = match &self.x {
            Matrix::F64(x) => columns(x).map(|(n, p, x)| View::F64(n, p, x))?,
            Matrix::F32(x) => columns(x).map(|(n, p, x)| View::F32(n, p, x))?,
            Matrix::SparseF64(n, s, r, v) => View::SparseF64(*n, s.as_slice()?, r.as_slice()?, v.as_slice()?),
            Matrix::SparseF32(n, s, r, v) => View::SparseF32(*n, s.as_slice()?, r.as_slice()?, v.as_slice()?),
        };
        let weights = self.sample_weight.as_ref().map(|w| w.as_slice()).transpose()?;
        let offset = self.offset.as_ref().map(|o| o.as_slice()).transpose()?;
        Ok(Input { view, y: self.y.as_slice()?, weights, offset, spec: spec.own()? })
    }
}

impl SpecArgument<'_> {
    fn own(&self) -> PyResult<Spec> {
        let loss = match self.loss.as_str() {
            "squared" => Loss::Squared,
            "logistic" => Loss::Logistic,
            "squared_hinge" => Loss::SquaredHinge,
            "huber" => Loss::Huber { delta: self.delta },
            other => return Err(PyValueError::new_err(format!("there is no loss named {other:?}"))),
        };
        let mut penalty = Penalty::new(self.lambda0, self.lambda1, self.lambda2);
        penalty.bounds = match &self.bounds {
            None => Bounds::Free,
            Some(BoundsArgument::All(lower, upper)) => Bounds::All(*lower, *upper),
            Some(BoundsArgument::Each(lower, upper)) => {
                Bounds::Each(lower.as_slice()?.to_vec(), upper.as_slice()?.to_vec())
            }
        };
        if let Some(price) = &self.price {
            penalty = penalty.with_price(price.as_slice()?.to_vec());
        }
        if let Some(shrinkage) = &self.shrinkage {
            penalty = penalty.with_shrinkage(shrinkage.as_slice()?.to_vec());
        }
        Ok(Spec {
            loss,
            penalty,
            k: self.k,
            fit_intercept: self.fit_intercept,
            standardize: self.standardize,
            always: self.always.clone(),
            never: self.never.clone(),
        })
    }
}

impl View<'_> {
    fn design(&self) -> bestset::Result<Box<dyn Design + '_>> {
        Ok(match *self {
            View::F64(n, p, x) => Box::new(Dense::new(n, p, x)?),
            View::F32(n, p, x) => Box::new(Dense::new(n, p, x)?),
            View::SparseF64(n, s, r, v) => Box::new(Csc::new(n, s, r, v)?),
            View::SparseF32(n, s, r, v) => Box::new(Csc::new(n, s, r, v)?),
        })
    }
}

impl Input<'_> {
    /// Poses the problem, without its largest size, and hands it to `body` with the scale that coefficients come back on.
    pub fn with_problem<T>(
        &self,
        body: impl FnOnce(&Problem<'_>, &Scale<'_>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let inner = self.view.design()?;
        let mut penalty = self.spec.penalty.clone();
        penalty.validate(inner.ncols())?;
        if !self.spec.standardize {
            return body(&self.pose(&*inner, penalty)?, &Scale { view: None, bounds: Bounds::Free, k: self.spec.k });
        }
        let total: f64 = self.weights.map_or(inner.nrows() as f64, |w| w.iter().sum());
        if !(total > 0.0 && total.is_finite()) {
            // The problem names what is wrong with the weights.
            return body(&self.pose(&*inner, penalty)?, &Scale { view: None, bounds: Bounds::Free, k: self.spec.k });
        }
        let view = Standardized::fit(&*inner, self.weights, self.spec.fit_intercept, total.sqrt())?;
        let bounds = penalty.bounds.clone();
        if bounds != Bounds::Free {
            let scaled = |j: usize| (bounds.at(j).0 * view.scale()[j], bounds.at(j).1 * view.scale()[j]);
            let (lower, upper) = (0..inner.ncols()).map(scaled).unzip();
            penalty = penalty.with_bounds(Bounds::Each(lower, upper));
        }
        body(&self.pose(&view, penalty)?, &Scale { view: Some(&view), bounds, k: self.spec.k })
    }

    fn pose<'d>(&'d self, design: &'d dyn Design, mut penalty: Penalty) -> bestset::Result<Problem<'d>> {
        let (spec, p) = (&self.spec, design.ncols());
        if !spec.always.is_empty() {
            penalty = penalty.always(&spec.always, p)?;
        }
        if !spec.never.is_empty() {
            penalty = penalty.never(&spec.never, p)?;
        }
        let mut problem = Problem::new(design, self.y, penalty)?.with_intercept(spec.fit_intercept);
        if let Some(weights) = self.weights {
            problem = problem.with_weights(weights)?;
        }
        if let Some(offset) = self.offset {
            problem = problem.with_offset(offset)?;
        }
        problem.with_loss(spec.loss)
    }
}

/// Between the columns given and those of the problem; and the largest size, which not all calls put into the problem.
pub struct Scale<'d> {
    view: Option<&'d Standardized<'d>>,
    bounds: Bounds,
    k: Option<usize>,
}

impl Scale<'_> {
    /// The problem with its largest size.
    pub fn limit<'p>(&self, problem: &Problem<'p>) -> bestset::Result<Problem<'p>> {
        match self.k {
            Some(k) => problem.clone().with_max_size(k),
            None => Ok(problem.clone()),
        }
    }

    /// Coefficients of the problem, for the columns given.
    pub fn outward(&self, coefficients: &mut Coefficients) {
        let Some(view) = self.view else { return };
        let (mut values, shift) = view.unscale(&coefficients.support, &coefficients.values);
        for (b, &j) in values.iter_mut().zip(&coefficients.support) {
            // Dividing by the scale may round across a bound.
            let (lower, upper) = self.bounds.at(j);
            *b = b.clamp(lower, upper);
        }
        coefficients.values = values;
        coefficients.intercept += shift;
    }

    /// Coefficients of the columns given, for the problem.
    pub fn inward(&self, coefficients: &mut Coefficients) {
        let Some(view) = self.view else { return };
        for (b, &j) in coefficients.values.iter_mut().zip(&coefficients.support) {
            // Features that the design does not have are left to its own check.
            let (Some(centre), Some(scale)) = (view.centre().get(j), view.scale().get(j)) else { return };
            coefficients.intercept += centre * *b;
            *b *= scale;
        }
    }
}

impl Control {
    /// The options, with a new flag for cancellation.
    pub fn options(&self, scale: &Scale<'_>, cancel: &CancelFlag) -> Result<Options, Failure> {
        let time_limit = match self.time_limit {
            Some(limit) if limit.is_nan() || limit < 0.0 => {
                return Err(bestset::Error::Range { name: "time_limit", value: limit, range: "at least 0" }.into());
            }
            // Beyond what a duration can hold is as good as no limit.
            Some(limit) => Duration::try_from_secs_f64(limit).ok(),
            None => None,
        };
        let warm_start = self.warm_start.as_ref().map(|(support, values, intercept)| {
            let mut start = Coefficients { support: support.clone(), values: values.clone(), intercept: *intercept };
            scale.inward(&mut start);
            start
        });
        Ok(Options {
            method: self.method.parse()?,
            gap: self.gap,
            max_iterations: self.max_iter,
            max_nodes: self.max_nodes,
            max_memory: self.max_memory,
            top: self.top,
            time_limit,
            trace: self.trace,
            published: Published { stop: self.stop.parse()?, ..Published::default() },
            warm_start,
            cancel: cancel.clone(),
            ..Options::default()
        })
    }
}

impl GridArgument {
    /// The settings of a path with these tolerances and limits.
    pub fn options(&self, solve: &Options) -> PathOptions {
        let grid = match (&self.lambda0s, self.ratio) {
            (Some(values), _) => Grid::Given(values.clone()),
            (None, Some(ratio)) => Grid::Log { points: self.points, ratio },
            (None, None) => Grid::Dynamic { points: self.points, shrink: 0.99 },
        };
        let base = PathOptions::default();
        let solve = Options { relaxation_gap: base.solve.relaxation_gap, trace: false, ..solve.clone() };
        PathOptions { grid, lambda2: self.lambda2s.clone(), max_size: self.max_size, solve, ..base }
    }
}
