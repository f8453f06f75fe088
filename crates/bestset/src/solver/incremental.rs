//! The default solver: convex phase for the bound (MATH 7.1), primal phase for the answer (MATH 7.4–7.9).

use crate::control::{Limits, Monitor, Options};
use crate::error::Result;
use crate::kernel::each::count_of;
use crate::penalty::Penalty;
use crate::problem::Problem;
use crate::problem::screening;
use crate::relaxation::convex;
use crate::relaxation::convex::Relaxed;
use crate::relaxation::everywhere::Everywhere;
use crate::relaxation::workspace::Workspace;
use crate::search::fit::{BUDGET, Incumbent};
use crate::search::ladder::Ladder;
use crate::search::multistart;
use crate::solution::{Coefficients, Screened, Solution};
use crate::solver::Outcome;

/// Ridge terms of the continuation, relative to the mean curvature of the loss along one coefficient.
const RIDGES: [f64; 4] = [1.0, 0.1, 0.01, 0.001];

/// Relative relaxation gap that ends a convex phase of the continuation. Not tuned.
const LOOSE: f64 = 1e-2;

/// Part of P_∅ − R, with P_∅ of the null model, to which R − D has fallen when it shows whether R is far below every P: R itself is
/// then known to a twentieth. Not tuned.
const ROUGH: f64 = 0.05;

/// P over R at a point of the convex phase, from which on R is far below P: most features pay a small part of their price. About 3 at
/// n = 1000, p = 10⁵, λ2 = 0.05 of a column's squared norm, 30 at 0.01, 120 at 0.001.
const OVERPAID: f64 = 20.0;

/// Part of P̂ − R below which R − D is not worth another pass over X. At n = 1000, p = 10⁵, λ2 = 0.0001: 8 passes in place of 16.
const WORTH: f64 = 0.01;

/// The same as [`WORTH`] of a point of a path whose R is costly: the next point is not far, and most are never looked at again.
const WORTH_ON_PATH: f64 = 0.05;

/// R over P̂ from which on no bound is worth having: a gap of a half says no more of an answer than one of all of it. Not tuned.
pub(crate) const HOPELESS: f64 = 0.5;

/// Features of R's minimiser that a point of a path has in view at the most: a tableau of more takes longer than passes over X.
const IN_VIEW: usize = 1000;

/// The answer of the default solver and what branch-and-bound starts from.
pub struct Root {
    /// The answer with its bound.
    pub outcome: Outcome,
    /// R's minimiser.
    pub minimiser: Coefficients,
    /// x_jᵀα of every feature at the dual point that gives the bound, at the end of its rounding where φ is least.
    pub tau: Vec<f64>,
    /// P of the answer.
    pub objective: f64,
    /// Features that the convex phase had in its active set.
    pub visited: Vec<usize>,
}

impl Root {
    /// The same with what the answer was polished to.
    pub fn with_answer(mut self, found: &Solution) -> Self {
        (self.outcome.coefficients, self.objective) = (found.coefficients.clone(), found.certificate.objective);
        // What is known of changes of the support is known of that one.
        self.outcome.local = found.local;
        self
    }
}

/// Minimises R, searches P from there, and proves what it can in one last pass over X.
pub fn solve(problem: &Problem<'_>, options: &Options, monitor: &mut Monitor<'_>) -> Result<Outcome> {
    Ok(root(&mut Workspace::new(problem).within(options.memory()), options, monitor)?.outcome)
}

/// As [`solve`], on a workspace that the caller goes on with.
pub fn root(work: &mut Workspace<'_, '_>, options: &Options, monitor: &mut Monitor<'_>) -> Result<Root> {
    let problem = work.problem;
    let mut starts = load_start(work, options)?;
    let mut relaxed = relax(work, &mut starts, options, monitor)?;
    let minimiser = work.coefficients();
    if needs_continuation(problem) {
        monitor.muted = true;
        starts.extend(continuation(problem, options, monitor)?);
        monitor.muted = false;
    }
    let best = multistart::solve(work, &starts, &mut relaxed, options, monitor)?;
    conclude(problem, (relaxed, minimiser), best, monitor)
}

/// R − D ≤ 0.01 (P̂ − R) (MATH 7.10): the convex phase, ended where the bound cannot come near P. Once that shows, an answer P̂ comes
/// first and joins the starts; the bound is then worth no more than a small part of the gap that R leaves in any case.
fn relax(
    work: &mut Workspace<'_, '_>,
    starts: &mut Vec<Coefficients>,
    options: &Options,
    monitor: &mut Monitor<'_>,
) -> Result<Relaxed> {
    let mut relaxed = Relaxed::new(work);
    if work.problem.penalty().lambda0 == 0.0 {
        convex::refine(&mut relaxed, work, options, &|_, _| false, monitor)?;
        return Ok(relaxed);
    }
    let null = work.problem.null_objective();
    let is_long = |work: &Workspace<'_, '_>| work.active.stored() > options.thresholds.long;
    let is_far = |r: &Relaxed, work: &Workspace<'_, '_>| {
        let is_rough = r.gap() <= ROUGH * (null - r.relaxation);
        is_rough && (work.objective() > OVERPAID * r.relaxation || is_long(work))
            || is_long(work) && work.is_beyond_gram()
    };
    if convex::refine(&mut relaxed, work, options, &is_far, monitor)? {
        let answer = multistart::first(work, starts, monitor)?;
        let is_worthless = |r: &Relaxed, work: &Workspace<'_, '_>| {
            r.gap() <= WORTH * (answer.objective - r.relaxation) || is_long(work) && work.is_beyond_gram()
        };
        convex::refine(&mut relaxed, work, options, &is_worthless, monitor)?;
        starts.push(answer.coefficients);
    }
    Ok(relaxed)
}

/// As [`root`], the primal phase within the active set only: what a tree that may soon end starts from. Without a certificate
/// there is nothing to hurry to.
pub fn sketch(work: &mut Workspace<'_, '_>, options: &Options, monitor: &mut Monitor<'_>) -> Result<Root> {
    let problem = work.problem;
    if needs_continuation(problem) || problem.penalty().lambda0 == 0.0 {
        return root(work, options, monitor);
    }
    let mut starts = load_start(work, options)?;
    let mut relaxed = relax(work, &mut starts, options, monitor)?;
    let minimiser = work.coefficients();
    let (best, ..) = multistart::search(work, &starts, &mut relaxed, &mut BUDGET.clone(), monitor)?;
    conclude(problem, (relaxed, minimiser), best, monitor)
}

/// As [`root`], the convex phase from where the workspace is, the primal phase with moves of one feature from the starts and
/// from R's rounded minimiser only: what a path can spend on each of its points. `best` is P of an answer that is known.
pub fn neighbour(
    work: &mut Workspace<'_, '_>,
    starts: &[Coefficients],
    best: f64,
    options: &Options,
    monitor: &mut Monitor<'_>,
) -> Result<Root> {
    let (problem, mut relaxed) = (work.problem, Relaxed::new(work));
    let is_costly = !problem.loss().is_quadratic();
    let is_done = |r: &Relaxed, _: &Workspace<'_, '_>| is_costly && (is_enough(r, best) || is_hopeless(r, best));
    convex::refine(&mut relaxed, work, options, &is_done, monitor)?;
    let minimiser = work.coefficients();
    // No walk past the local minimum: what other points find does that.
    let settled = Options { gap: f64::INFINITY, ..options.clone() };
    // What R has in view may be many times what answers have: these are looked for among few columns, and then in all of X.
    let mut apart = is_costly.then(|| Workspace::new(problem).within(options.memory()));
    let near = apart.as_mut().unwrap_or(work);
    let best = multistart::neighbour(near, starts, &minimiser, &mut relaxed, &settled, monitor)?;
    conclude(problem, (relaxed, minimiser), best, monitor)
}

/// What a point of a path found before its pass over X.
pub(crate) struct Draft {
    /// The answer; its bound is that of the convex phase.
    pub(crate) outcome: Outcome,
    /// R's minimiser.
    pub(crate) minimiser: Coefficients,
    /// The answer's own dual point.
    pub(crate) alpha: Vec<f64>,
    /// The λ0 at which the answer changes.
    pub(crate) entry: f64,
}

/// As [`neighbour`] for a problem that the ladder serves; the bound from scratch and the look at all of X are left to the
/// caller, who does both for several points in one sweep and brings `candidates` for the answer, and P of the answer before.
pub(crate) fn on_ladder(
    work: &mut Workspace<'_, '_>,
    ladder: &mut Ladder,
    (mut candidates, best): (Vec<usize>, f64),
    options: &Options,
    monitor: &mut Monitor<'_>,
) -> Result<Draft> {
    let mut relaxed = Relaxed::new(work);
    let is_done = |r: &Relaxed, work: &Workspace<'_, '_>| {
        is_costly(work, options) && (is_enough(r, best) || work.is_beyond_gram())
    };
    convex::refine(&mut relaxed, work, options, &is_done, monitor)?;
    let minimiser = work.coefficients();
    if is_costly(work, options) && work.active.len() > 2 * minimiser.support.len() {
        let keep: Vec<bool> = work.beta.iter().map(|b| *b != 0.0).collect();
        work.retain(&keep);
    }
    candidates.extend(in_view(&minimiser));
    from_ladder(work.problem, relaxed, minimiser, ladder, &candidates, monitor)
}

/// R − D ≤ 0.05 (P̂ − R) (MATH 7.10): whether the bound of a point of a path is as good as is worth its while beside an answer of
/// objective `best`.
pub(crate) fn is_enough(relaxed: &Relaxed, best: f64) -> bool {
    relaxed.gap() <= WORTH_ON_PATH * (best - relaxed.relaxation)
}

/// Either of [`is_enough`] and [`is_hopeless`] of R and D as they are met on the way down.
pub(crate) fn is_settled(value: f64, bound: f64, best: f64) -> bool {
    value - bound.max(0.0) <= WORTH_ON_PATH * (best - value) || value <= HOPELESS * best
}

/// R ≤ P̂/2 (MATH 7.10) at a point on the way down: no bound can be above R, so that none is worth having of an answer of objective `best`.
pub(crate) fn is_hopeless(relaxed: &Relaxed, best: f64) -> bool {
    relaxed.relaxation <= HOPELESS * best
}

/// Whether minimising R is more than a moment's work: then it goes no further than the bound is worth (MATH 7.10), and columns that the
/// minimiser does not use are not carried from point to point.
pub(crate) fn is_costly(work: &Workspace<'_, '_>, options: &Options) -> bool {
    work.active.stored() > options.thresholds.costly
}

/// The features of R's minimiser that an answer should have in view: all, or the largest of very many.
pub(crate) fn in_view(minimiser: &Coefficients) -> Vec<usize> {
    let mut found: Vec<(usize, f64)> = minimiser.iter().collect();
    if found.len() > IN_VIEW {
        found.select_nth_unstable_by(IN_VIEW, |a, b| b.1.abs().total_cmp(&a.1.abs()).then(a.0.cmp(&b.0)));
        found.truncate(IN_VIEW);
        found.sort_unstable_by_key(|c| c.0);
    }
    found.into_iter().map(|c| c.0).collect()
}

/// The answer from the ladder beside what the convex phase found.
pub(crate) fn from_ladder(
    problem: &Problem<'_>,
    relaxed: Relaxed,
    minimiser: Coefficients,
    ladder: &mut Ladder,
    candidates: &[usize],
    limits: &Limits,
) -> Result<Draft> {
    let Relaxed { relaxation, lower_bound, dual, iterations, ended, screened, .. } = relaxed;
    let rung = ladder.climb(problem, candidates, limits)?;
    let known = Outcome::new(rung.coefficients, lower_bound, dual, ended);
    let outcome = Outcome { relaxation: Some(relaxation), iterations, screened, ..known };
    Ok(Draft { outcome, minimiser, alpha: rung.alpha, entry: rung.entry })
}

/// λ2 = 0 with λ0 > 0 and no bounds: the envelope ignores λ0, and R says nothing about which features to choose.
fn needs_continuation(problem: &Problem<'_>) -> bool {
    problem.penalty().lambda0 > 0.0 && !problem.penalty().has_certificate(problem.ncols())
}

/// Answers for a shrinking ridge term, each started from the one before, until they stay the same: starts for the problem without one.
fn continuation(problem: &Problem<'_>, options: &Options, monitor: &mut Monitor<'_>) -> Result<Vec<Coefficients>> {
    let p = problem.ncols();
    let typical = problem.typical_curvature_at(&Coefficients::default())?;
    let mean = problem.squares()?.iter().sum::<f64>() * typical / p as f64;
    let mut found: Vec<Coefficients> = Vec::new();
    for share in RIDGES {
        if monitor.stop(0).is_some() {
            break;
        }
        let penalty = Penalty { lambda2: share * mean, ..problem.penalty().clone() };
        let Ok(ridged) = problem.with_penalty(penalty) else { break };
        let mut work = Workspace::new(&ridged).within(options.memory());
        if let Some(start) = found.last() {
            work.load(start)?;
        }
        // A start need be no better than descent and exchanges make it.
        let loose = Options { relaxation_gap: options.relaxation_gap.max(LOOSE), ..options.clone() };
        convex::solve(&mut work, &loose, monitor)?;
        let starts: Vec<Coefficients> = found.last().into_iter().cloned().collect();
        let next = multistart::first(&mut work, &starts, monitor)?.coefficients;
        let is_known = found.last().is_some_and(|last| last.support == next.support);
        found.push(next);
        if is_known {
            break;
        }
    }
    Ok(found)
}

/// The caller's start, which the workspace is at afterwards.
fn load_start(work: &mut Workspace<'_, '_>, options: &Options) -> Result<Vec<Coefficients>> {
    let starts: Vec<Coefficients> = options.warm_start.iter().cloned().collect();
    starts.iter().try_for_each(|start| work.load(start))?;
    Ok(starts)
}

/// The bound from scratch at the best dual point, and what the optimality rules prove with P̂.
fn conclude(
    problem: &Problem<'_>,
    (mut relaxed, minimiser): (Relaxed, Coefficients),
    best: Incumbent,
    monitor: &mut Monitor<'_>,
) -> Result<Root> {
    let Everywhere { bound, tau, outer, .. } = relaxed.take_everywhere(problem, best.objective, monitor)?;
    let Relaxed { relaxation, dual, iterations, ended, mut screened, visited, .. } = relaxed;
    count(problem, (&tau, &outer), (bound, best.objective), &mut screened);
    let known = Outcome::new(best.coefficients, bound, dual, ended);
    let outcome = Outcome { relaxation: Some(relaxation), iterations, screened, local: best.local, ..known };
    Ok(Root { outcome, minimiser, tau: outer, objective: best.objective, visited })
}

/// The bound of a dual point with τ = Xᵀα, and what the optimality rules prove with it and P̂.
pub(crate) fn judge(
    problem: &Problem<'_>,
    dual: &[f64],
    tau: &[f64],
    best: f64,
    screened: &mut Screened,
) -> Result<f64> {
    let bounds = problem.lower_bounds()?;
    let features: Vec<usize> = (0..tau.len()).collect();
    let bound = bounds.dual_value(dual, &features, tau);
    let outer = bounds.outer_correlations(dual, &features, tau, |j| problem.coordinate(j));
    count(problem, (tau, &outer), (bound, best), screened);
    Ok(bound)
}

/// How many features the optimality rules settle with the correlations, and their ends where φ is least, at a point of this bound.
fn count(problem: &Problem<'_>, (tau, outer): (&[f64], &[f64]), (bound, best): (f64, f64), screened: &mut Screened) {
    let (excluded, included) = (screening::in_no_optimal_subset, screening::in_every_optimal_subset);
    screened.excluded += count_of(tau.len(), |j| excluded(problem.coordinate(j), outer[j], bound, best));
    screened.included += count_of(tau.len(), |j| included(problem.coordinate(j), tau[j], bound, best));
}
