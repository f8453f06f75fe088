//! The forward pass.

use crate::control::{Monitor, Options};
use crate::error::Result;
use crate::path::state::{Carried, Looked, State};
use crate::path::{Grid, Path, PathOptions, Point, Search, batch, cost, grid};
use crate::penalty::Penalty;
use crate::problem::Problem;
use crate::relaxation::workspace::Workspace;
use crate::search::ladder::{Ladder, Rung};
use crate::solution::{Coefficients, Local, Solution, Status};
use crate::solver::Outcome;
use crate::solver::incremental;
use crate::solver::incremental::{Draft, Root};
use std::time::Duration;

/// Points whose bounds and looks at all of X are done in one sweep.
const SWEEP: usize = 8;

/// The same where reading X takes longer than the work on many points: a third of the sweeps.
const LONG_SWEEP: usize = 24;

/// Rows from which on the few dozen numbers that each point of a long sweep keeps of every feature are little beside its column.
const TALL: usize = 2048;

/// On a grid that does not depend on the answers, every so many of them look at the features outside. Divides both sweeps.
const LOOK: usize = 4;

/// Features from which on a sweep of answers that are fits, not pivots, ends where they have doubled: the points behind the largest size are
/// the longest of a path, and nobody sees them. Poisson, n = 500, p = 1000, sizes to 28: 45 s in sweeps of eight, of which the last goes on to
/// 354 features. Sweeps of four are as fast as these, but the way back is worth its points: of 354 points 24 had a higher P.
const FEW: usize = 16;

/// Points after which a path starts with a new memory, so that the points so far are all that a resumed one must know. A
/// multiple of both sweeps.
pub(super) const RENEWAL: usize = 24;

/// Sees the state of a path where it could go on from; an error ends the path.
pub(super) type Keeper<'k> = &'k mut (dyn FnMut(usize, &State) -> Result<()> + Send);

/// One path after the other, one for each λ2. `known` is what an earlier run had done of each.
pub(super) fn run(
    problem: &Problem<'_>,
    options: &PathOptions,
    mut known: Vec<State>,
    observer: &mut (dyn FnMut(&Point) + Send),
    keeper: Keeper<'_>,
) -> Result<Path> {
    let own = [problem.penalty().lambda2];
    let ridges = if options.lambda2.is_empty() { &own[..] } else { &options.lambda2 };
    let mut silent = ();
    let mut monitor = Monitor::new(&options.solve, &mut silent);
    let mut points = Vec::new();
    known.reverse();
    for (number, &lambda2) in ridges.iter().enumerate() {
        let mut penalty = problem.penalty().clone();
        penalty.lambda2 = lambda2;
        let strand = Strand { base: problem.with_penalty(penalty)?, options };
        let state = known.pop();
        let walked = strand.walk(state, &mut points, &mut monitor, observer, &mut |state| keeper(number, state));
        if let Some(ended) = Path::ended(&mut points, walked, &monitor)? {
            return Ok(ended);
        }
    }
    Ok(Path { points, status: Status::Converged, cause: None })
}

/// A path with one λ2.
pub(super) struct Strand<'o, 'a> {
    pub(super) base: Problem<'a>,
    pub(super) options: &'o PathOptions,
}

impl Strand<'_, '_> {
    /// Adds the points of this strand, as far as their columns can be read.
    fn walk(
        &self,
        known: Option<State>,
        points: &mut Vec<Point>,
        monitor: &mut Monitor<'_>,
        observer: &mut (dyn FnMut(&Point) + Send),
        keep: &mut dyn FnMut(&State) -> Result<()>,
    ) -> Result<()> {
        let solve = &self.options.solve;
        // Of the time for all λ2, what the paths before have left.
        let left = |limit: Duration| limit.saturating_sub(Duration::from_secs_f64(monitor.limits().seconds()));
        let null = null_model(&self.base, &Options { time_limit: solve.time_limit.map(left), ..solve.clone() })?;
        let mut state = known.unwrap_or_else(|| State::new(null.clone()));
        state.points.iter().for_each(&mut *observer);
        let walked = self.walk_on(&null, &mut state, monitor, observer, keep);
        // Where the columns of a sweep could not be read its points have the bounds of their own relaxations.
        let shown = state.shown.min(state.points.len());
        state.points[shown..].iter().for_each(&mut *observer);
        let end = self.end(&state.points).map_or(state.points.len(), |last| last + 1);
        state.points.truncate(end);
        points.append(&mut state.points);
        walked
    }

    /// Goes on from a state until the path is over or a limit strikes.
    fn walk_on(
        &self,
        null: &Coefficients,
        state: &mut State,
        monitor: &mut Monitor<'_>,
        observer: &mut (dyn FnMut(&Point) + Send),
        keep: &mut dyn FnMut(&State) -> Result<()>,
    ) -> Result<()> {
        let (first, looked) = self.largest(null)?;
        let (mut memory, is_finished) = (self.memory(state, Some(looked))?, state.done);
        while !state.done && self.next(first, null, &mut memory, state, monitor)? {
            if self.is_whole(state) {
                self.finish(&mut memory, state, monitor, observer)?;
                state.done = self.end(&state.points).is_some() || self.has_chosen(&state.points)?;
            }
            // What a limit has cut short is not what the next run must go on from.
            if state.points.len().is_multiple_of(RENEWAL) && monitor.stop(0).is_none() {
                keep(state)?;
                memory = self.memory(state, memory.looked)?;
            }
        }
        if !is_finished && state.settled() < state.points.len() {
            self.finish(&mut memory, state, monitor, observer)?;
        }
        if !is_finished && monitor.stop(0).is_none() {
            state.done = true;
            keep(state)?;
        }
        Ok(())
    }

    /// How many points share a sweep: a matter of the size of X alone, so that answers are the same wherever it is.
    fn sweep(&self) -> usize {
        let (design, vast) = (self.base.design(), self.options.solve.thresholds.vast);
        if design.nrows() >= TALL && design.stored() > vast { LONG_SWEEP } else { SWEEP }
    }

    /// Whether the points that wait make a sweep: there are as many as share one, or their answers, fits of a loss that is not
    /// quadratic, have grown too large or are eight. It does not depend on where the path ends.
    fn is_whole(&self, state: &State) -> bool {
        let (count, waiting) = (state.points.len(), &state.points[state.settled()..]);
        let size = |p: &Point| p.solution.support().len();
        let has_grown = |first: &Point, last: &Point| size(last) >= 2 * size(first).max(FEW);
        let is_long = waiting.first().zip(waiting.last()).is_some_and(|(first, last)| has_grown(first, last));
        let is_costly = !self.base.loss().is_quadratic();
        count.is_multiple_of(self.sweep()) || is_costly && (waiting.len() >= SWEEP || is_long)
    }

    /// The first point whose answer has the size at which the path ends.
    ///
    /// It is looked for where a sweep ends, and the points after it are dropped: an answer depends on the points of its own sweep
    /// and those before, so that it is the same wherever the path ends.
    fn end(&self, points: &[Point]) -> Option<usize> {
        let most = self.most();
        points.iter().position(|p| p.solution.support().len() >= most)
    }

    /// The size at which the path ends.
    fn most(&self) -> usize {
        self.options.max_size.unwrap_or(self.base.nrows().min(self.base.ncols()))
    }

    /// Whether the criterion that the path is for is left no larger size.
    fn has_chosen(&self, points: &[Point]) -> Result<bool> {
        self.options.until.map_or(Ok(false), |criterion| criterion.has_no_larger(&self.base, points, self.most()))
    }

    /// Ends a sweep: bounds and looks at all of X, then the points from where the last sweep ended take each other's answers.
    fn finish(
        &self,
        memory: &mut Carried,
        state: &mut State,
        monitor: &mut Monitor<'_>,
        observer: &mut (dyn FnMut(&Point) + Send),
    ) -> Result<()> {
        let from = state.settled();
        self.settle(memory, state, monitor, observer)?;
        if self.options.backward {
            self.back(&mut state.points, from, monitor)?;
        }
        Ok(())
    }

    /// Adds the next point or points; whether there was one.
    fn next(
        &self,
        first: f64,
        null: &Coefficients,
        memory: &mut Carried,
        state: &mut State,
        monitor: &mut Monitor<'_>,
    ) -> Result<bool> {
        let at = |k: usize, state: &State| self.options.grid.at(k, first, state.last, state.entry, state.same);
        let done = state.points.len();
        let Some(lambda0) = at(done, state) else { return Ok(false) };
        let is_fixed = !matches!(self.options.grid, Grid::Dynamic { .. });
        let added = if is_fixed && memory.ladder.is_some() {
            let lambdas =
                (done..(done + 1).next_multiple_of(self.sweep())).map_while(|k| at(k, state)).collect::<Vec<_>>();
            self.batch(&lambdas, memory, state, monitor)
        } else {
            let before = state.points.last().map_or(null, |p| &p.solution.coefficients).clone();
            let entry = self.point(lambda0, &before, memory, state, monitor);
            entry.map(|entry| state.advance(lambda0, entry, &before))
        };
        // Points cut short have valid bounds, but they are not the answers that the same path without a limit would have.
        if added.is_err() || monitor.stop(0).is_some() {
            state.points.truncate(done);
            let waiting = done - state.settled();
            memory.unsettled.truncate(waiting);
            memory.known.truncate(waiting);
            return added.map(|()| false);
        }
        Ok(true)
    }

    /// Adds the answers at several λ0 that do not depend on the answers: their relaxations share the sweeps over X.
    fn batch(&self, lambdas: &[f64], memory: &mut Carried, state: &mut State, monitor: &mut Monitor<'_>) -> Result<()> {
        let solve = &self.options.solve;
        let problems = lambdas.iter().map(|&lambda0| self.at(lambda0)).collect::<Result<Vec<_>>>()?;
        let (begun, before_passes) = (monitor.seconds(), std::mem::take(&mut monitor.passes));
        let reached: Vec<f64> = lambdas.iter().map(|&lambda0| self.reached(lambda0, state)).collect();
        let known = (memory.columns.take(), &state.minimiser);
        let (found, columns) = batch::relax(&problems, &reached, known, solve, monitor)?;
        memory.columns = columns;
        let shared = lambdas.len() as f64;
        let (passes, mut seconds) = (monitor.passes / shared, (monitor.seconds() - begun) / shared);
        monitor.passes += before_passes;
        for (problem, batch::BatchPoint { relaxed, tau, minimiser }) in problems.iter().zip(found) {
            let begun = monitor.seconds();
            let (ladder, answer) = (memory.ladder.as_mut(), state.points.last().map(|p| &p.solution.coefficients));
            let (Some(ladder), before) = (ladder, answer.cloned().unwrap_or_default()) else { break };
            let candidates = [std::mem::take(&mut memory.candidates), incremental::in_view(&minimiser)].concat();
            let Draft { outcome, alpha, entry, minimiser } =
                incremental::from_ladder(problem, relaxed, minimiser, ladder, &candidates, monitor)?;
            state.minimiser = minimiser;
            // What a neighbour sees the backward pass brings here. Where the memory is renewed the look is as the renewed one has it.
            let (count, answer) = (state.points.len() + 1, &outcome.coefficients);
            memory.unsettled.push(match (count.is_multiple_of(LOOK), count.is_multiple_of(RENEWAL)) {
                (true, true) => self.base.dual_point_of(answer)?,
                (true, false) => alpha,
                (false, _) => Vec::new(),
            });
            memory.known.push(tau);
            seconds += monitor.seconds() - begun;
            let solution = solution(problem, outcome, solve, (passes, seconds))?;
            let Penalty { lambda0, lambda1, lambda2, .. } = *problem.penalty();
            state.points.push(Point { lambda0, lambda1, lambda2, solution });
            state.advance(lambda0, entry, &before);
        }
        Ok(())
    }

    /// A new memory at the state's last answer, whose correlations may be those of the last look.
    fn memory(&self, state: &State, looked: Option<Looked>) -> Result<Carried> {
        let mut memory = Carried::new(&self.base, self.options.search);
        if let Some(ladder) = &mut memory.ladder {
            let last = state.points.last();
            let (lambda0, answer) = last.map_or((0.0, &state.minimiser), |p| (p.lambda0, &p.solution.coefficients));
            let (problem, alpha) = (self.at(lambda0)?, self.base.dual_point_of(answer)?);
            let tau = match looked {
                Some(looked) if looked.alpha == alpha => looked.tau,
                _ => problem.correlations(&alpha)?,
            };
            memory.candidates = features_of(&ladder.outside(&problem, &tau)?);
            let limits = Monitor::new(&Options::default(), &mut ()).limits().clone();
            if last.is_some() {
                ladder.from(&problem, &answer.support, &[], &limits)?;
            }
        }
        Ok(memory)
    }

    /// λ0 at which the null model is proved best (MATH 9.2); without a dual, at which it stops being coordinate-wise best. And what the
    /// null model sees of all features.
    fn largest(&self, null: &Coefficients) -> Result<(f64, Looked)> {
        let alpha = self.base.dual_point_of(null)?;
        let tau = self.base.correlations(&alpha)?;
        let proved = self.base.lambda0_max_from(&tau);
        let first = if proved.is_finite() { proved } else { grid::entry(&self.base, null, &tau)? };
        Ok((first, Looked { alpha, tau }))
    }

    pub(super) fn at(&self, lambda0: f64) -> Result<Problem<'_>> {
        let mut penalty = self.base.penalty().clone();
        penalty.lambda0 = lambda0;
        self.base.with_penalty(penalty)
    }

    /// P of the last answer at another λ0 (MATH 10.1), −∞ before there is one.
    fn reached(&self, lambda0: f64, state: &State) -> f64 {
        let at = |p: &Point| {
            p.solution.objective() + (lambda0 - p.lambda0) * cost(&self.base, None, &p.solution.coefficients)
        };
        state.points.last().map_or(f64::NEG_INFINITY, at)
    }

    /// Adds the answer at λ0, from the answer before; the λ0 at which it changes.
    fn point(
        &self,
        lambda0: f64,
        before: &Coefficients,
        memory: &mut Carried,
        state: &mut State,
        monitor: &mut Monitor<'_>,
    ) -> Result<f64> {
        let (problem, solve) = (self.at(lambda0)?, &self.options.solve);
        // Counted from zero, so that the digits do not depend on the points before.
        let (begun, before_passes) = (monitor.seconds(), std::mem::take(&mut monitor.passes));
        let mut ladder = memory.ladder.take();
        let (outcome, minimiser, known) = match (self.options.search, &mut ladder) {
            (Search::Neighbours, Some(ladder)) => {
                let known = (std::mem::take(&mut memory.candidates), self.reached(lambda0, state));
                let draft = memory.on_columns(&problem, |work| {
                    work.load(&state.minimiser)?;
                    incremental::on_ladder(work, ladder, known, solve, monitor)
                })?;
                let Draft { mut outcome, minimiser, mut alpha, mut entry } = draft;
                // The next λ0 depends on the features outside as well: they cannot wait for a sweep.
                let rung = look(&problem, ladder, &outcome.coefficients, alpha, entry, monitor)?;
                (outcome.coefficients, entry, alpha) = (rung.coefficients, rung.entry, Vec::new());
                memory.known.push(Vec::new());
                memory.unsettled.push(alpha);
                (outcome, minimiser, Some(entry))
            }
            (search, _) => {
                let Root { outcome, minimiser, .. } = match search {
                    Search::Full => incremental::root(&mut Workspace::new(&problem), solve, monitor)?,
                    Search::Neighbours => {
                        let reached = self.reached(lambda0, state);
                        memory.on_columns(&problem, |work| {
                            work.load(&state.minimiser)?;
                            incremental::neighbour(work, std::slice::from_ref(before), reached, solve, monitor)
                        })?
                    }
                };
                (outcome, minimiser, None)
            }
        };
        memory.ladder = ladder;
        state.minimiser = minimiser;
        let answer = &outcome.coefficients;
        let entry = match known {
            Some(entry) => entry,
            None => grid::entry(&problem, answer, &problem.correlations_at(answer)?)?,
        };
        let polished = outcome.polished(&problem, monitor)?;
        let solution = solution(&problem, polished, solve, (monitor.passes, monitor.seconds() - begun))?;
        monitor.passes += before_passes;
        let (lambda1, lambda2) = (problem.penalty().lambda1, problem.penalty().lambda2);
        state.points.push(Point { lambda0, lambda1, lambda2, solution });
        Ok(entry)
    }

    /// One sweep over X for the points that have had none: their bounds from scratch, what the optimality rules prove, and
    /// whether a feature outside the tableau would lower P; then the point goes on from there.
    fn settle(
        &self,
        memory: &mut Carried,
        state: &mut State,
        monitor: &mut Monitor<'_>,
        observer: &mut (dyn FnMut(&Point) + Send),
    ) -> Result<()> {
        let alphas = std::mem::take(&mut memory.unsettled);
        let (features, design): (Vec<usize>, _) = ((0..self.base.ncols()).collect(), self.base.design());
        let from = state.points.len() - alphas.len().min(state.points.len());
        let mut known = std::mem::take(&mut memory.known);
        known.resize(state.points.len() - from, Vec::new());
        let unknown: Vec<usize> = (0..known.len()).filter(|&k| known[k].is_empty()).collect();
        let duals = unknown.iter().map(|&k| state.points[from + k].solution.dual.as_slice());
        let looks: Vec<usize> = (0..alphas.len()).filter(|&k| !alphas[k].is_empty()).collect();
        let vectors: Vec<&[f64]> = duals.chain(looks.iter().map(|&k| alphas[k].as_slice())).collect();
        let (count, points) = (vectors.len(), state.points.len() - from);
        let mut swept = vec![0.0; features.len() * count];
        design.correlate_many(&features, &vectors, &mut swept)?;
        monitor.passes += count as f64;
        let tau = |v: usize| -> Vec<f64> { swept.iter().skip(v).step_by(count.max(1)).copied().collect() };
        unknown.iter().enumerate().for_each(|(v, &k)| known[k] = tau(v));
        let mut moved = false;
        for k in 0..points {
            let point = &mut state.points[from + k];
            let problem = self.at(point.lambda0)?;
            if let (Some(ladder), Ok(look)) = (&mut memory.ladder, looks.binary_search(&k)) {
                let entering = ladder.outside(&problem, &tau(unknown.len() + look))?;
                let candidates = features_of(&entering);
                if entering.first().is_some_and(|e| e.0 > 1.0) {
                    let found = ladder.from(&problem, point.solution.support(), &candidates, monitor)?;
                    self.offer(&problem, point, found)?;
                    moved = true;
                } else if k + 1 == points {
                    memory.candidates = candidates;
                }
            }
            let (own, best) = (&known[k], point.solution.objective());
            let solution = &mut point.solution;
            let screened = &mut solution.screened;
            solution.certificate.lower_bound = incremental::judge(&problem, &solution.dual, own, best, screened)?;
            let solve = &self.options.solve;
            solution.status = solution.certificate.status(solution.status, solve.absolute(&problem), solve.gap);
        }
        memory.looked = looks.last().filter(|look| **look + 1 == points).map(|&look| {
            let (alpha, tau) = (alphas[look].clone(), tau(count - 1));
            Looked { alpha, tau }
        });
        if let (true, Some(ladder), Some(last)) = (moved, &mut memory.ladder, state.points.last()) {
            ladder.from(&self.at(last.lambda0)?, last.solution.support(), &[], monitor)?;
        }
        let shown = state.shown.min(state.points.len());
        state.points[shown..].iter().for_each(observer);
        state.shown = state.points.len();
        Ok(())
    }

    /// Takes coefficients over if they are better than those of the point by more than rounding, or two equal supports would
    /// take turns.
    pub(super) fn offer(&self, problem: &Problem<'_>, point: &mut Point, found: Coefficients) -> Result<bool> {
        let (objective, solution) = (problem.value(&found)?, &mut point.solution);
        if objective >= solution.certificate.objective * (1.0 - 1e-12) {
            return Ok(false);
        }
        solution.certificate.objective = objective;
        let solve = &self.options.solve;
        solution.status = solution.certificate.status(solution.status, solve.absolute(problem), solve.gap);
        (solution.local, solution.coefficients) = (Local::None, found);
        Ok(true)
    }
}

/// One look from the answer at all of X, and again after every feature that is sure to lower P has been taken in.
fn look(
    problem: &Problem<'_>,
    ladder: &mut Ladder,
    answer: &Coefficients,
    alpha: Vec<f64>,
    entry: f64,
    monitor: &mut Monitor<'_>,
) -> Result<Rung> {
    let mut rung = Rung { coefficients: answer.clone(), alpha, entry };
    loop {
        let tau = problem.correlations_within(&rung.alpha, &|| monitor.check())?;
        monitor.passes += 1.0;
        let entering = ladder.outside(problem, &tau)?;
        let best = entering.first().map_or(0.0, |e| e.0);
        if best <= 1.0 + 1e-9 || monitor.stop(0).is_some() {
            rung.entry = rung.entry.max(ladder.entry_outside(problem, &tau)?);
            return Ok(rung);
        }
        rung = ladder.climb(problem, &features_of(&entering), monitor)?;
    }
}

fn features_of(entering: &[(f64, usize)]) -> Vec<usize> {
    entering.iter().map(|e| e.1).collect()
}

fn solution(
    problem: &Problem<'_>,
    outcome: Outcome,
    options: &Options,
    (passes, seconds): (f64, f64),
) -> Result<Solution> {
    Ok(Solution { passes, seconds, ..outcome.certified(problem, options)? })
}

/// The null model (MATH 9.2): the fit of the features that cost nothing; β = 0 when there is none.
fn null_model(problem: &Problem<'_>, options: &Options) -> Result<Coefficients> {
    let (p, penalty) = (problem.ncols(), problem.penalty());
    let priced: Vec<usize> = (0..p).filter(|&j| penalty.price.at(j) > 0.0).collect();
    if priced.len() == p {
        let intercept = problem.best_intercept(&problem.null_margins(), 0.0);
        return Ok(Coefficients { intercept, ..Coefficients::default() });
    }
    let free = problem.with_penalty(penalty.clone().never(&priced, p)?)?;
    let options = Options { method: crate::Method::Incremental, warm_start: None, ..options.clone() };
    Ok(crate::solve::solve_whole(&free, &options)?.coefficients)
}
