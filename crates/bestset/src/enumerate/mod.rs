//! Small subsets among many columns (MATH §14): the best ones of least squares by looking at all of them, with or without a ridge.
//!
//! All subsets of three features of p columns are p³/6, and two features of one cost one step of a few operations of single precision
//! for each third one: what its rounding may hide is judged in double precision, and what that does not tell apart by QR. No relaxation
//! is needed, and so no ridge; the work is known before it begins.
//!
//! | file | what |
//! |---|---|
//! | `mod` | what is within reach; the best of each size, and at a price |
//! | `prepare` | columns, products and first answers, as far as limits allow |
//! | `columns` | unit columns, the strongest first; copies of columns |
//! | `panel` | their products in single precision, kept or made when needed |
//! | `sweep` | the test of many third features, and what its rounding may do |
//! | `block` | all pairs and triples of blocks of columns |
//! | `deep` | more than three features: the first ones projected out |
//! | `search` | the tasks of a size, in batches |
//! | `judge`, `pool` | one subset in double precision; the best of them |
//! | `seed` | answers before the search |

mod block;
mod columns;
mod deep;
mod judge;
mod panel;
mod pool;
mod prepare;
mod search;
mod seed;
mod sweep;

use crate::certificate::Certificate;
use crate::control::{Monitor, Options};
use crate::error::Result;
use crate::leaps::{BestOfSize, determined};
use crate::loss::Loss;
use crate::problem::Problem;
use crate::problem::refit::Refit;
use crate::solution::{Coefficients, Ranked, Status};
use crate::solver::Outcome;
use columns::UnitColumns;
use pool::{Candidate, Pool};
use prepare::Prepared;

/// Steps that are within reach: some minutes on one processor, which takes 5·10⁹ in a second.
const REACH: f64 = 1e12;

/// Steps that it takes to project out all but three features of a subset.
const LEAF: f64 = 5e4;

/// Steps that one subset of more than three features takes: rows are short there.
const SHORT: f64 = 8.0;

/// Whether this is least squares without λ1, every feature that may be in free and at the same price.
fn is_plain(problem: &Problem<'_>) -> bool {
    let price = problem.coordinate(0).l0;
    let is_free = |j: usize| {
        let c = problem.coordinate(j);
        let free = (c.lower, c.upper) == (f64::NEG_INFINITY, f64::INFINITY);
        c.l1 == 0.0 && c.l0 == price && (free || (c.lower, c.upper) == (0.0, 0.0))
    };
    problem.loss() == Loss::Squared && (0..problem.ncols()).all(is_free)
}

fn has_no_ridge(problem: &Problem<'_>) -> bool {
    (0..problem.ncols()).all(|j| problem.coordinate(j).l2 == 0.0)
}

/// n p²/2 + binom(p, k), for k > 3 n p² + 8 binom(p, k) + 5·10⁴ binom(p, k − 3) (MATH 14.9): what all subsets of a size cost.
fn steps(samples: usize, features: usize, size: usize) -> f64 {
    let (n, p) = (samples as f64, features as f64);
    let choose = |k: usize| (0..k).map(|i| (p - i as f64).max(0.0) / (i + 1) as f64).product::<f64>();
    match size {
        0 | 1 => n * p,
        2 | 3 => 0.5 * n * p * p + choose(size),
        _ => n * p * p + SHORT * choose(size) + LEAF * choose(size - 3),
    }
}

/// Whether all subsets of at most `most` features of a plain problem can be looked at.
pub fn applies(problem: &Problem<'_>, most: usize) -> bool {
    let p = problem.ncols();
    // Without a ridge, larger ones fit perfectly.
    let perfect = if has_no_ridge(problem) { determined(problem) } else { usize::MAX };
    let most = most.min(p).min(perfect.saturating_sub(1));
    let mut left = REACH;
    let is_within = |k: usize| {
        left -= steps(problem.nrows(), p, k);
        left >= 0.0
    };
    is_plain(problem) && (1..=most).all(is_within)
}

/// The largest size within reach, 0 if there is none.
pub fn largest_size(problem: &Problem<'_>) -> usize {
    (1..=problem.ncols()).take_while(|&k| applies(problem, k)).last().unwrap_or(0)
}

/// Whether it [`applies`] to a problem of a limited size for which nothing else has a bound.
pub fn is_needed(problem: &Problem<'_>) -> bool {
    let without = !problem.penalty().has_certificate(problem.ncols());
    without && problem.max_size().is_some_and(|k| applies(problem, k))
}

/// Fewer columns than this are few for branch and bound too.
const MANY: usize = 500;

/// Steps of the work that one node of branch and bound takes for each entry of X, about.
const NODE: f64 = 200.0;

/// With a ridge: the nodes of branch and bound after which it is better to look at all subsets of a size of at most three, as many as
/// take about as long; none where that is no way.
pub fn nodes_before(problem: &Problem<'_>) -> Option<usize> {
    let (n, p) = (problem.nrows(), problem.ncols());
    let k = problem.max_size().filter(|&k| k <= 3 && p >= MANY && applies(problem, k))?;
    Some((steps(n, p, k) / (NODE * n as f64 * p as f64)).max(100.0) as usize)
}

/// The best subsets of sizes 1..=most, λ0 left aside, and the columns that others stand for.
pub fn sizes(
    problem: &Problem<'_>,
    most: usize,
    options: &Options,
    monitor: &mut Monitor<'_>,
) -> Result<(Vec<BestOfSize>, Vec<Vec<usize>>)> {
    let mut prepared = Prepared::new(problem, most, options, monitor)?;
    let mut bests: Vec<BestOfSize> = Vec::with_capacity(most);
    for size in 1..=most {
        let own = match prepared.seed(size) {
            Some(_) if prepared.is_perfect(size) => prepared.perfect(bests.last())?,
            Some(seed) => best_of_size(&mut prepared, size, seed, options, monitor)?,
            None => prepared.beyond(bests.last()),
        };
        let own = match bests.last() {
            Some(before) => at_most(problem, before, own)?,
            None => own,
        };
        bests.push(own);
    }
    Ok((bests, prepared.columns.dependent))
}

/// Looks at all subsets of a size.
fn best_of_size(
    prepared: &mut Prepared<'_, '_>,
    size: usize,
    seed: Vec<u32>,
    options: &Options,
    monitor: &Monitor<'_>,
) -> Result<BestOfSize> {
    let mut pool = Pool::new(1);
    let before = prepared.nodes;
    let stopped = prepared.search(size, &[seed], 0.0, &mut pool, options, monitor)?;
    let fits = refitted(&prepared.columns, &pool, 0.0)?;
    let bound = fits.iter().map(|f| f.1).fold(pool.others(), f64::min);
    let coefficients = fits.into_iter().next().map_or_else(|| prepared.null(), |f| f.0.coefficients);
    let (lower_bound, ended) = stopped.map_or((bound.max(0.0), Status::Converged), |status| (0.0, status));
    Ok(BestOfSize { coefficients, lower_bound, ended, nodes: prepared.nodes - before })
}

/// At most so many: where columns stand for others, or a limit struck, a smaller subset may be the better one.
fn at_most(problem: &Problem<'_>, before: &BestOfSize, own: BestOfSize) -> Result<BestOfSize> {
    let lower_bound = own.lower_bound.min(before.lower_bound);
    let is_worse = problem.value(&before.coefficients)? < problem.value(&own.coefficients)?;
    let coefficients = if is_worse { before.coefficients.clone() } else { own.coefficients };
    Ok(BestOfSize { coefficients, lower_bound, ..own })
}

/// The subsets known, refitted by QR, each with P and with what it is at least (MATH 11.35), the least first.
fn refitted(columns: &UnitColumns<'_, '_>, pool: &Pool, price: f64) -> Result<Vec<(Refit, f64, Vec<u32>)>> {
    let targets = columns.targets();
    let one = |c: &Candidate| {
        let size = c.members.len();
        let mut fit = targets.refit(&columns.terms(&c.members)?)?;
        let least = targets.at_least(&fit, size, c.inverse) + price * size as f64;
        fit.value += price * size as f64;
        Ok((fit, least, c.members.clone()))
    };
    let mut fits = pool.known().iter().map(one).collect::<Result<Vec<(Refit, f64, Vec<u32>)>>>()?;
    fits.sort_by(|a, b| a.0.value.total_cmp(&b.0.value).then_with(|| a.2.cmp(&b.2)));
    Ok(fits)
}

/// Minimises P of a problem with a limited size that [`applies`].
pub fn solve(problem: &Problem<'_>, options: &Options, monitor: &mut Monitor<'_>) -> Result<Outcome> {
    let (largest, price) = (problem.max_size().unwrap_or(problem.ncols()), problem.coordinate(0).l0);
    let mut prepared = Prepared::new(problem, largest, options, monitor)?;
    let mut pool = Pool::new(options.top);
    prepared.offer_nothing(&mut pool);
    let perfect = (1..=largest).find(|&k| prepared.is_perfect(k));
    let reached = prepared.reached().min(perfect.map_or(largest, |k| k - 1));
    let seeds = prepared.starts(reached, options);
    // Without a price a subset is no worse than any part of it: of the best one only the largest size is looked at.
    let free = price == 0.0 && options.top == 1;
    let first = if free { reached.max(1) } else { 1 };
    let last = if free && perfect.is_some() { 0 } else { reached };
    // What sizes cost at the least that are not looked at to the end.
    let (mut beyond, mut ended) = (perfect.map_or(f64::INFINITY, |k| price * k as f64), Status::Converged);
    for size in first..=last {
        if let Some(status) = prepared.search(size, &seeds, price, &mut pool, options, monitor)? {
            (beyond, ended) = (beyond.min(price * size as f64), status);
            break;
        }
    }
    if let Some(status) = prepared.stopped {
        (beyond, ended) = (beyond.min(price * (prepared.reached() + 1) as f64), status);
    }
    let answer = match perfect {
        Some(_) => prepared.interpolation(pool.best().map(|c| &c.members[..]).unwrap_or(&[]))?,
        None => None,
    };
    outcome(problem, options, &prepared, &pool, (beyond, ended), answer)
}

/// The answers by their objectives as the data have them. They are proved where every other subset costs as much; columns that others
/// stand for, or that do not vary, make subsets which were not looked at, and with them only the first is.
fn outcome(
    problem: &Problem<'_>,
    options: &Options,
    prepared: &Prepared<'_, '_>,
    pool: &Pool,
    (beyond, ended): (f64, Status),
    perfect: Option<Coefficients>,
) -> Result<Outcome> {
    let (columns, price) = (&prepared.columns, problem.coordinate(0).l0);
    let fits = refitted(columns, pool, price)?;
    let bound = fits.iter().map(|f| f.1).fold(pool.others().min(beyond), f64::min);
    let wanted = fits.len().min(options.top);
    let others = fits[wanted..].iter().map(|f| f.1).fold(pool.others().min(beyond), f64::min);
    let (complete, absolute) = (columns.is_complete(), options.absolute(problem));
    let one = |coefficients: Coefficients| {
        let objective = problem.value(&coefficients)?;
        let room = absolute.max(options.gap * objective.abs());
        Ok(Ranked { coefficients, objective, proved: complete && objective <= others + room })
    };
    let mut ranked = fits.into_iter().take(wanted).map(|f| one(f.0.coefficients)).collect::<Result<Vec<Ranked>>>()?;
    if let Some(perfect) = perfect {
        ranked.push(Ranked { proved: false, ..one(perfect)? });
    }
    ranked.sort_by(|a, b| a.objective.total_cmp(&b.objective));
    // A column that lowers no fit has the coefficient zero: with it a subset is the same answer as without.
    let mut seen: Vec<Vec<usize>> = Vec::new();
    ranked.retain(|r| {
        let is_new = !seen.contains(&r.coefficients.support);
        seen.push(r.coefficients.support.clone());
        is_new
    });
    ranked.truncate(options.top);
    let coefficients = ranked.first().map_or_else(|| prepared.null(), |r| r.coefficients.clone());
    let certificate = Certificate::new(problem.value(&coefficients)?, None, bound);
    if let Some(first) = ranked.first_mut() {
        first.proved = certificate.status(ended, absolute, options.gap) == Status::Optimal;
    }
    let mut dual = vec![0.0; problem.nrows()];
    let (u, b) = problem.predictor(&coefficients)?;
    problem.dual_point(&u, b, &mut dual);
    let dependent = columns.dependent.clone();
    let known = Outcome::new(coefficients, bound.max(0.0), dual, ended);
    Ok(Outcome { iterations: prepared.nodes, ranked, dependent, ..known })
}
