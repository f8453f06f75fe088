//! A proof as a file (docs/PROOF.md): a tree in which every node is closed, every feature decided, by bounds that the checker
//! computes anew.
//!
//! The answer and what is to be proved of it are known. What is left is to close every node, in any order: depth first, so that the
//! file is written as the tree is walked through and the checker follows it with one path in memory. Nodes are relaxed, and curvature
//! is moved, as in any search; pools are not used: nothing decides here but D′ of (11.8) at the point
//! and with the curvature that the file has, least squares on all features of a node, and coherence (13.3) at the root.
//!
//! | file | what |
//! |---|---|
//! | `statement` | the header: which data, which problem, which claim |
//! | `ground` | what all nodes look at, the file, and the records that are the same everywhere |
//! | `root`, `tree` | the bound of all subsets; the walk |
//! | `rules` | D′ with room for the checker's rounding: what is closed, in, out |
//! | `lemma` | curvature that the checker finds semidefinite |
//! | `families`, `leaps` | families that fits may close; the walk that closes them by fits alone |
//! | `coherent` | subsets closed by how many features they add |
//! | `probe` | members put in or out while the others answer |
//! | `resume` | an unfinished file, to go on from |
//! | `stream`, `hash` | bytes, SHA-256 |

mod coherent;
mod families;
mod ground;
mod hash;
mod leaps;
mod lemma;
mod probe;
mod resume;
mod root;
mod rules;
mod statement;
mod stream;
#[cfg(test)]
mod tests;
mod tree;

pub use statement::ProofData;
pub(crate) use statement::check_loss;

use crate::control::{Limits, Monitor, Options};
use crate::design::Column;
use crate::error::{Error, Result};
use crate::exact::node::Choice;
use crate::exact::setting::Setting;
use crate::exact::tuning::Tuning;
use crate::leaps::determined;
use crate::penalty::Bounds;
use crate::problem::Problem;
use crate::problem::whitened::Frame;
use crate::solution::{Coefficients, Solution, Status};
use ground::ProofTree;
use resume::replay;
use rules::Faults;
use statement::Claim;
use std::io::Write;
use stream::Stream;

/// What was written.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct ProofSummary {
    /// B: no subset, but for those listed where several were asked for, has P below it.
    pub bound: f64,
    /// Nodes of the tree.
    pub nodes: usize,
    /// Bytes of the file.
    pub bytes: u64,
}

/// Writes a proof that the solution of an exact search is the best within the tolerances of the options, for `bestset-check`.
///
/// An error where a limit strikes before every node is closed; [`resume_proof`] goes on from there.
///
/// ```
/// use bestset::design::Dense;
/// use bestset::proof::{ProofData, write_proof};
/// use bestset::{Method, Options, Penalty, Problem, solve};
///
/// let x = Dense::new(4, 2, vec![1.0, 2.0, 3.0, 4.0, 1.0, -1.0, 1.0, -1.0])?;
/// let problem = Problem::new(&x, vec![2.1, 3.9, 6.0, 8.1], Penalty::new(0.5, 0.0, 0.01))?;
/// let options = Options::with_method(Method::Exact);
/// let solution = solve(&problem, &options)?;
/// let names = vec!["a".to_owned(), "b".to_owned()];
/// let data = ProofData { x: &x, scale: None, names, target: "y".to_owned(), weights: String::new(), offset: String::new() };
/// let mut file = Vec::new();
/// let written = write_proof(&problem, &data, &solution, &options, &mut file)?;
/// assert!(written.bound < solution.objective());
/// # Ok::<(), bestset::Error>(())
/// ```
pub fn write_proof(
    problem: &Problem<'_>,
    data: &ProofData<'_>,
    solution: &Solution,
    options: &Options,
    out: &mut (dyn Write + Send),
) -> Result<ProofSummary> {
    resume_proof(problem, data, solution, options, &[], out)
}

/// As [`write_proof`], going on from what an earlier call wrote before a limit struck; from the beginning where `start` is the file of
/// another proof. All of the file is written.
pub fn resume_proof(
    problem: &Problem<'_>,
    data: &ProofData<'_>,
    solution: &Solution,
    options: &Options,
    start: &[u8],
    out: &mut (dyn Write + Send),
) -> Result<ProofSummary> {
    let mut observer = ();
    let mut monitor = Monitor::new(options, &mut observer);
    let asked = Asked { problem, data, solution, options, start };
    let written = crate::control::on_threads(options.threads, || asked.write(out, &mut monitor, &Faults::default()));
    written.map_err(|error| asked.named(error))
}

/// Whether these bytes are the beginning of such a proof, or less than its header: a file of another proof is not to be written over.
pub(crate) fn is_start(
    problem: &Problem<'_>,
    data: &ProofData<'_>,
    solution: &Solution,
    options: &Options,
    start: &[u8],
) -> Result<bool> {
    let (_, claim) = claim(problem, solution, options)?;
    let header = header(&without_constants(problem, &claim)?, data, &claim)?;
    Ok(start.starts_with(&header) || header.starts_with(start))
}

fn header(problem: &Problem<'_>, data: &ProofData<'_>, claim: &Claim) -> Result<Vec<u8>> {
    let mut header = Vec::new();
    data.write(problem, claim, &mut Stream::new(&mut header))?;
    Ok(header)
}

/// What a proof is asked of.
struct Asked<'s, 'a> {
    problem: &'s Problem<'a>,
    data: &'s ProofData<'s>,
    solution: &'s Solution,
    options: &'s Options,
    /// What there is of the file.
    start: &'s [u8],
}

impl Asked<'_, '_> {
    /// What could not be closed may be the search's not having proved all answers.
    fn named(&self, error: Error) -> Error {
        let is_unproved = self.options.top > 1 && self.solution.ranked.iter().any(|r| !r.proved);
        let is_open = matches!(error, Error::Recheck { .. }) || error.to_string() == rounding().to_string();
        match error {
            _ if is_unproved && is_open => Error::Unused {
                setting: format!("{} answers", self.solution.ranked.len()),
                place: "with a proof file here",
                advice: "the search has not proved all of them; ask for fewer",
            },
            other => other,
        }
    }

    /// Writes it, with faults that the checker is to find.
    fn write(&self, out: &mut (dyn Write + Send), monitor: &mut Monitor<'_>, faults: &Faults) -> Result<ProofSummary> {
        let Self { data, solution, start, .. } = *self;
        data.check(self.problem)?;
        let (best, claim) = claim(self.problem, solution, self.options)?;
        let problem = &without_constants(self.problem, &claim)?;
        let unlimited = problem.without_max_size();
        let options = Options { warm_start: claim.answers.first().cloned(), ..self.options.clone() };
        let setting = Setting::new(&unlimited, problem.max_size(), &options, Tuning::default());
        let header = header(problem, data, &claim)?;
        let known = start.strip_prefix(&header[..]).and_then(|records| {
            let replayed = replay(records, all_free(problem), problem.max_size())?;
            Some((&records[..replayed.end], replayed))
        });
        let mut stream = Stream::new(out);
        stream.raw(&header)?;
        known.iter().try_for_each(|(records, _)| stream.raw(records))?;
        let mut tree = ProofTree::new(setting, best, claim, stream, faults)?;
        tree.equations = families::equations(&unlimited);
        let mut known = known.map(|(_, replayed)| replayed);
        let discount = match known.as_mut().and_then(|known| known.discount.take()) {
            Some(discount) => Some(discount),
            None => tree.grow(known.take(), monitor)?,
        };
        let Some(discount) = discount else { return Ok(tree.summary()) };
        let unusable =
            || Error::File { what: "proof", reason: "prices of an unfinished file make no sense".to_owned() };
        let cheaper = discount.apply(&unlimited).ok_or_else(unusable)?;
        let mut part = discount.claim(&tree.claim);
        part.bound -= faults.discount;
        let mut setting = Setting::new(&cheaper, problem.max_size(), &options, Tuning::default());
        setting.first = discount.inside.clone();
        let ProofTree { claim, out, ground, .. } = tree;
        let best = part.bound + (ground.best - claim.bound);
        let mut tree = ProofTree::new(setting, best, part, out, faults)?;
        tree.is_part = true;
        tree.grow(known, monitor)?;
        Ok(ProofSummary { bound: claim.bound, ..tree.summary() })
    }
}

/// Refuses least squares whose features, all together, fit any targets: no curvature is left that a file could be relied on with.
fn check_curvature(problem: &Problem<'_>) -> Result<()> {
    let is_free = |j: usize| {
        let one = problem.coordinate(j);
        one.l2 == 0.0 && one.lower == f64::NEG_INFINITY && one.upper == f64::INFINITY
    };
    let (p, d) = (problem.ncols(), determined(problem));
    if !problem.loss().is_quadratic() || p < d || !(0..p).any(is_free) {
        return Ok(());
    }
    let reason = format!(
        "without lambda2 or bounds it needs more samples than features; {p} features are no fewer than the {d} that fit any target"
    );
    Err(Error::File { what: "proof", reason })
}

/// The problem that is spoken of: columns of which nothing is left beside an intercept may not enter where no curvature, or the claim
/// that no other subset is as good, stands against it. With them a subset is as good as without.
fn without_constants<'a>(problem: &Problem<'a>, claim: &Claim) -> Result<Problem<'a>> {
    let p = problem.ncols();
    if problem.penalty().has_certificate(p) && !claim.excepted {
        return Ok(problem.clone());
    }
    let frame = Frame::new(problem);
    let (mut flat, mut column, mut values) = (Vec::new(), Column::default(), vec![0.0; problem.nrows()]);
    for j in 0..p {
        problem.design().column(j, &mut column)?;
        column.to_dense(&mut values);
        let is_flat = values.iter().all(|x| *x == values[0]) && (problem.has_intercept() || values[0] == 0.0);
        if (is_flat || frame.unit(problem, j)?.is_none())
            && claim.answers.iter().all(|a| a.support.binary_search(&j).is_err())
        {
            flat.push(j);
        }
    }
    if flat.is_empty() {
        return Ok(problem.clone());
    }
    let (mut lower, mut upper): (Vec<f64>, Vec<f64>) =
        (0..p).map(|j| (problem.coordinate(j).lower, problem.coordinate(j).upper)).unzip();
    flat.iter().for_each(|&j| (lower[j], upper[j]) = (0.0, 0.0));
    problem.with_penalty(problem.penalty().clone().with_bounds(Bounds::Each(lower, upper)))
}

/// Free, but for those whose coefficient can only be zero.
fn all_free(problem: &Problem<'_>) -> Vec<Choice> {
    let may_enter = |j: usize| problem.coordinate(j).lower < 0.0 || problem.coordinate(j).upper > 0.0;
    (0..problem.ncols()).map(|j| if may_enter(j) { Choice::Free } else { Choice::Out }).collect()
}

/// P of the last answer, and what is claimed: no subset is below it by more than the tolerances; where several subsets were asked for,
/// none but those.
fn claim(problem: &Problem<'_>, solution: &Solution, options: &Options) -> Result<(f64, Claim)> {
    let excepted = options.top > 1;
    let answers: Vec<Coefficients> = match excepted {
        true => solution.ranked.iter().map(|r| r.coefficients.clone()).collect(),
        false => vec![solution.coefficients.clone()],
    };
    let mut best = f64::NEG_INFINITY;
    for answer in &answers {
        best = best.max(problem.value(answer)?);
    }
    // Conjugates are rounded relative to their own terms, also where these add up to a perfect fit.
    let least = if problem.loss().is_quadratic() { 0.0 } else { LEAST_OF_NULL * problem.null_objective() };
    let room = options.absolute(problem).max(options.gap.max(LEAST_GAP) * best.abs()).max(least);
    // The least number of a proof below zero stands for all that are nearer to it.
    let bound = if (best - room).abs() < stream::LEAST { -stream::LEAST } else { best - room };
    if !bound.is_finite() {
        return Err(Error::Range { name: "the objective", value: best, range: "finite" });
    }
    let dependent = families::dependences(problem, bound);
    Ok((best, Claim { bound, excepted, answers, dependent }))
}

/// Share of P that a proof leaves to rounding where no tolerance does.
const LEAST_GAP: f64 = 1e-9;

/// Share of the null model's P that a proof leaves to rounding where the loss is not the squared one.
const LEAST_OF_NULL: f64 = 1e-12;

/// What closes in exact arithmetic, with less to spare than the checker takes off.
fn rounding() -> Error {
    let reason =
        "rounding leaves subsets open: columns that are almost copies, or wide bounds on coefficients, and no lambda2";
    Error::File { what: "proof", reason: reason.to_owned() }
}

/// An error where a limit struck.
fn check(limits: &Limits) -> Result<()> {
    match limits.stop(0) {
        None => Ok(()),
        Some(status) => {
            let advice = "asked again, with more time, it goes on from what is written".to_owned();
            let is_interrupted = status == Status::Interrupted;
            Err(Error::Unfinished { limit: status.to_string(), is_interrupted, advice })
        }
    }
}
