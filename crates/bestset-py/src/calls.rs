//! The functions of the module. Each poses the problem inside the released section and returns dictionaries.

use crate::errors::Failure;
use crate::input::{Control, Data, GridArgument, Scale, SpecArgument};
use crate::output::{self, JudgedPath};
use crate::run::{Caller, run};
use bestset::cv::{CrossValidation, CvOptions, Score, Split, cross_validate_splits};
use bestset::groups::Groups;
use bestset::path::{Grid, Path, PathOptions};
use bestset::solver::{CancelFlag, Observer, solve_observed};
use bestset::{Certificate, Coefficients, Method, Options, Problem, Solution, Status};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::time::Instant;

type Dict<'py> = PyResult<Bound<'py, PyDict>>;

fn caller<'c>(control: &Control, callback: Option<&'c Bound<'c, PyAny>>) -> Caller<'c> {
    let (threads, keep_answer) = (control.threads, control.keep_answer);
    Caller { threads, cancel: CancelFlag::default(), keep_answer, callback }
}

/// Solves with the method asked for. The default method has no limit on the size: the search by sizes takes its place.
fn any_solve(
    problem: &Problem<'_>,
    scale: &Scale<'_>,
    options: &Options,
    observer: &mut dyn Observer,
) -> Result<Solution, bestset::Error> {
    let limited = scale.limit(problem)?;
    match (options.method, limited.max_size()) {
        (Method::Incremental, Some(k)) => {
            let found = bestset::sizes::sizes(problem, &[k], options)?;
            let solution = found.solutions.into_iter().next();
            solution.ok_or(bestset::Error::Size { k, features: problem.ncols() })
        }
        _ => solve_observed(&limited, options, observer),
    }
}

fn outward(scale: &Scale<'_>, solution: &mut Solution) {
    scale.outward(&mut solution.coefficients);
    solution.ranked.iter_mut().for_each(|r| scale.outward(&mut r.coefficients));
}

#[pyfunction]
#[pyo3(signature = (data, spec, control, callback=None))]
pub fn solve<'py>(
    py: Python<'py>,
    data: Data<'py>,
    spec: SpecArgument<'py>,
    control: Control,
    callback: Option<Bound<'py, PyAny>>,
) -> Dict<'py> {
    let (input, caller) = (data.borrow(&spec)?, caller(&control, callback.as_ref()));
    let cancel = caller.cancel.clone();
    let solution = run(py, &caller, |rows| {
        input.with_problem(|problem, scale| {
            let mut solution = any_solve(problem, scale, &control.options(scale, &cancel)?, rows)?;
            outward(scale, &mut solution);
            Ok(solution)
        })
    })?;
    output::solution(py, &solution)
}

/// A bound and gaps for the coefficients given; the solve that finds the bound comes along.
#[pyfunction]
pub fn certify<'py>(
    py: Python<'py>,
    data: Data<'py>,
    spec: SpecArgument<'py>,
    control: Control,
    given: (Vec<usize>, Vec<f64>, f64),
) -> Dict<'py> {
    let (input, caller) = (data.borrow(&spec)?, caller(&control, None));
    let cancel = caller.cancel.clone();
    let (certificate, solution) = run(py, &caller, |_| {
        input.with_problem(|problem, scale| {
            let (support, values, intercept) = given;
            let mut coefficients = Coefficients { support, values, intercept };
            coefficients.validate(problem.ncols())?;
            scale.inward(&mut coefficients);
            let mut solution = any_solve(problem, scale, &control.options(scale, &cancel)?, &mut ())?;
            let duals: Vec<&[f64]> = Some(&solution.dual[..]).filter(|d| !d.is_empty()).into_iter().collect();
            let own = scale.limit(problem)?.certify(&coefficients, &duals)?;
            // Branch and bound proves more than its dual point does.
            let lower_bound = own.lower_bound.max(solution.certificate.lower_bound);
            outward(scale, &mut solution);
            Ok((Certificate { lower_bound, ..own }, solution))
        })
    })?;
    let dict = PyDict::new(py);
    output::certificate(&certificate, &dict)?;
    dict.set_item("solution", output::solution(py, &solution)?)?;
    Ok(dict)
}

/// The path, on the scale of the columns given.
fn judged(problem: &Problem<'_>, options: &PathOptions) -> Result<JudgedPath, Failure> {
    Ok(JudgedPath::new(problem, bestset::path::path(problem, options)?))
}

#[pyfunction]
pub fn path<'py>(
    py: Python<'py>,
    data: Data<'py>,
    spec: SpecArgument<'py>,
    control: Control,
    grid: GridArgument,
) -> Dict<'py> {
    let (input, caller) = (data.borrow(&spec)?, caller(&control, None));
    let cancel = caller.cancel.clone();
    let found = run(py, &caller, |_| {
        input.with_problem(|problem, scale| {
            let mut found = judged(problem, &grid.options(&control.options(scale, &cancel)?))?;
            found.path.points.iter_mut().for_each(|p| outward(scale, &mut p.solution));
            Ok(found)
        })
    })?;
    found.to_python(py, true)
}

/// Solves anew at a point of a path: with the method and tolerance asked for, in what is left of the time.
fn solve_at(
    problem: &Problem<'_>,
    found: &Path,
    chosen: Option<usize>,
    mut options: Options,
    start: Instant,
) -> Result<(f64, Solution), Failure> {
    let mut penalty = problem.penalty().clone();
    match chosen.map(|k| &found.points[k]) {
        Some(point) => {
            (penalty.lambda0, penalty.lambda2) = (point.lambda0, point.lambda2);
            options.warm_start = Some(point.solution.coefficients.clone());
        }
        // A limit struck before the first point: at this price no feature can pay for itself.
        None => {
            let u = problem.null_margins();
            penalty.lambda0 = problem.loss_sum(&u, problem.best_intercept(&u, 0.0));
        }
    }
    options.time_limit = options.time_limit.map(|limit| limit.saturating_sub(start.elapsed()));
    let lambda0 = penalty.lambda0;
    let mut solution = bestset::solve(&problem.with_penalty(penalty)?, &options)?;
    // A limit that ended the path also ends what was chosen from it.
    if solution.status == Status::Converged && found.status != Status::Converged {
        solution.status = found.status;
    }
    Ok((lambda0, solution))
}

/// As [`solve_at`], at the middle (of the logarithms) of the prices at which the chosen subset is the answer of the path:
/// the bound is weakest at the upper end, where the path first meets it. Branch and bound has the least work there, and
/// what it proves of the subset is the same: `solve_at` is left to it.
fn solve_within(
    problem: &Problem<'_>,
    found: &Path,
    chosen: Option<usize>,
    options: Options,
    start: Instant,
) -> Result<(f64, Solution), Failure> {
    if let Some(k) = chosen.filter(|_| options.method != Method::Exact) {
        let point = &found.points[k];
        let same = |other: &&bestset::path::Point| other.solution.support() == point.solution.support();
        let last = k + found.points[k..].iter().take_while(same).count();
        if let Some(next) = found.points.get(last).filter(|next| next.lambda0 > 0.0) {
            let middle = bestset::path::Point { lambda0: (point.lambda0 * next.lambda0).sqrt(), ..point.clone() };
            let short = Path { points: vec![middle], status: found.status };
            let (lambda0, solution) = solve_at(problem, &short, Some(0), options.clone(), start)?;
            if solution.support() == point.solution.support() {
                return Ok((lambda0, solution));
            }
        }
    }
    solve_at(problem, found, chosen, options, start)
}

/// A path, its best point by a criterion, and a solve at its price.
#[pyfunction]
pub fn choose<'py>(
    py: Python<'py>,
    data: Data<'py>,
    spec: SpecArgument<'py>,
    control: Control,
    grid: GridArgument,
    criterion: &str,
) -> Dict<'py> {
    let unknown = || PyValueError::new_err(format!("there is no criterion named {criterion:?}"));
    let criterion = output::criterion(criterion).ok_or_else(unknown)?;
    let (input, caller) = (data.borrow(&spec)?, caller(&control, None));
    let cancel = caller.cancel.clone();
    let (found, chosen, lambda0, solution) = run(py, &caller, |_| {
        input.with_problem(|problem, scale| {
            let start = Instant::now();
            let options = control.options(scale, &cancel)?;
            let mut found = judged(problem, &grid.options(&options))?;
            let chosen = found.best(criterion);
            let (lambda0, mut solution) = solve_within(problem, &found.path, chosen, options, start)?;
            outward(scale, &mut solution);
            found.path.points.iter_mut().for_each(|p| outward(scale, &mut p.solution));
            Ok((found, chosen, lambda0, solution))
        })
    })?;
    let dict = PyDict::new(py);
    dict.set_item("path", found.to_python(py, false)?)?;
    dict.set_item("chosen", chosen)?;
    dict.set_item("lambda0", lambda0)?;
    dict.set_item("solution", output::solution(py, &solution)?)?;
    Ok(dict)
}

/// The grid in the middle (of the logarithms) between the prices of a dynamic grid.
///
/// A dynamic grid has its points where an answer has just become the best. At such a price a fit on other samples often has
/// one feature less, and its score would be held against the larger model. In between, the fits agree.
fn within(problem: &Problem<'_>, mut options: PathOptions, start: Instant) -> Result<PathOptions, Failure> {
    if !matches!(options.grid, Grid::Dynamic { .. }) {
        return Ok(options);
    }
    let prices: Vec<f64> = bestset::path::path(problem, &options)?.points.iter().map(|p| p.lambda0).collect();
    let mut middles: Vec<f64> = prices.windows(2).map(|w| (w[0] * w[1]).sqrt()).collect();
    middles.extend(prices.last());
    if !middles.is_empty() {
        options.grid = Grid::Given(middles);
    }
    options.solve.time_limit = options.solve.time_limit.map(|limit| limit.saturating_sub(start.elapsed()));
    Ok(options)
}

/// Cross-validates a path over the splits given as (samples of the fit, samples left out).
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "the arguments of `choose` and what cross-validation needs beside them")]
pub fn cross_validate<'py>(
    py: Python<'py>,
    data: Data<'py>,
    spec: SpecArgument<'py>,
    control: Control,
    grid: GridArgument,
    splits: Vec<(Vec<usize>, Vec<usize>)>,
    score: &str,
    one_se: bool,
) -> Dict<'py> {
    let score = match score {
        "squared_error" => Score::SquaredError,
        "absolute_error" => Score::AbsoluteError,
        "deviance" => Score::Deviance,
        "accuracy" => Score::Accuracy,
        "auc" => Score::Auc,
        other => return Err(PyValueError::new_err(format!("there is no score named {other:?}"))),
    };
    let splits: Vec<Split> = splits.into_iter().map(|(train, test)| Split { train, test }).collect();
    let (input, caller) = (data.borrow(&spec)?, caller(&control, None));
    let cancel = caller.cancel.clone();
    let (found, judged, lambda0, solution): (CrossValidation, _, _, _) = run(py, &caller, |_| {
        input.with_problem(|problem, scale| {
            let start = Instant::now();
            let options = control.options(scale, &cancel)?;
            let path = within(problem, grid.options(&options), start)?;
            let settings = CvOptions { path, score: Some(score), ..CvOptions::default() };
            let found = cross_validate_splits(problem, &settings, &splits)?;
            let chosen = if one_se { found.one_se } else { found.best };
            let chosen = Some(chosen).filter(|_| !found.path.points.is_empty());
            let ended = Path { points: found.path.points.clone(), status: found.status };
            let (lambda0, mut solution) = solve_at(problem, &ended, chosen, options, start)?;
            outward(scale, &mut solution);
            let mut judged = JudgedPath::new(problem, ended);
            judged.path.points.iter_mut().for_each(|p| outward(scale, &mut p.solution));
            Ok((found, judged, lambda0, solution))
        })
    })?;
    let dict = output::scores(py, &found)?;
    dict.set_item("path", judged.to_python(py, false)?)?;
    dict.set_item("lambda0", lambda0)?;
    dict.set_item("solution", output::solution(py, &solution)?)?;
    Ok(dict)
}

/// The best subset of every size up to `most`, and the features taken for combinations of each other.
#[pyfunction]
pub fn subsets<'py>(
    py: Python<'py>,
    data: Data<'py>,
    spec: SpecArgument<'py>,
    control: Control,
    most: usize,
) -> Dict<'py> {
    let (input, caller) = (data.borrow(&spec)?, caller(&control, None));
    let cancel = caller.cancel.clone();
    let found = run(py, &caller, |_| {
        input.with_problem(|problem, scale| {
            let mut found = bestset::subsets(problem, most, &control.options(scale, &cancel)?)?;
            found.sizes.iter_mut().for_each(|s| scale.outward(&mut s.coefficients));
            Ok(found)
        })
    })?;
    let dict = PyDict::new(py);
    dict.set_item("sizes", found.sizes.iter().map(|s| output::subset(py, s)).collect::<PyResult<Vec<_>>>()?)?;
    dict.set_item("dependent", found.dependent)?;
    Ok(dict)
}

/// Whole groups of features in or out.
#[pyfunction]
#[pyo3(signature = (data, spec, control, labels, prices=None))]
pub fn solve_groups<'py>(
    py: Python<'py>,
    data: Data<'py>,
    spec: SpecArgument<'py>,
    control: Control,
    labels: Vec<usize>,
    prices: Option<Vec<f64>>,
) -> Dict<'py> {
    let (input, caller) = (data.borrow(&spec)?, caller(&control, None));
    let cancel = caller.cancel.clone();
    let start = Instant::now();
    let solution = run(py, &caller, |_| {
        input.with_problem(|problem, scale| {
            let groups = Groups::new(&labels);
            let groups = match prices {
                Some(prices) => groups.with_prices(prices)?,
                None => groups,
            };
            let options = control.options(scale, &cancel)?;
            let mut solution = bestset::groups::solve_groups(&scale.limit(problem)?, &groups, &options)?;
            scale.outward(&mut solution.coefficients);
            Ok(solution)
        })
    })?;
    output::group_solution(py, &solution, start.elapsed().as_secs_f64())
}
