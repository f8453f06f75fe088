//! The forward pass.

use crate::control::{Monitor, Options};
use crate::error::Result;
use crate::path::state::{Carried, Looked, State, features_of};
use crate::path::{Grid, Path, PathOptions, Point, Search, cost, grid};
use crate::problem::Problem;
use crate::search::ladder::ENTERING;
use crate::solution::{Coefficients, Status};
use std::time::Duration;

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
    Ok(Path { points, status: Status::Converged, cause: None, groups: None })
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
        let is_shared = !matches!(self.options.grid, Grid::Dynamic { .. }) && self.options.search != Search::Light;
        let added = if is_shared && memory.ladder.is_some() {
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
            memory.candidates = features_of(&ladder.outside(&problem, &tau, ENTERING)?);
            memory.looked = Some(Looked { alpha, tau });
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
    pub(super) fn reached(&self, lambda0: f64, state: &State) -> f64 {
        let at = |p: &Point| {
            p.solution.objective() + (lambda0 - p.lambda0) * cost(&self.base, None, &p.solution.coefficients)
        };
        state.points.last().map_or(f64::NEG_INFINITY, at)
    }
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
