//! The answer of a point, or of several whose λ0 do not depend on the answers.

use crate::control::{Monitor, Options};
use crate::error::Result;
use crate::path::run::{RENEWAL, Strand};
use crate::path::state::{Carried, State, features_of};
use crate::path::{Point, Search, batch, grid};
use crate::penalty::Penalty;
use crate::problem::Problem;
use crate::relaxation::workspace::Workspace;
use crate::search::ladder::{ENTERING, Ladder, Rung};
use crate::solution::{Coefficients, Solution};
use crate::solver::Outcome;
use crate::solver::incremental::{self, Draft, Root};

/// On a grid that does not depend on the answers, every so many of them look at the features outside. Divides both sweeps.
const LOOK: usize = 4;

impl Strand<'_, '_> {
    /// Adds the answers at several λ0 that do not depend on the answers: their relaxations share the sweeps over X.
    pub(super) fn batch(
        &self,
        lambdas: &[f64],
        memory: &mut Carried,
        state: &mut State,
        monitor: &mut Monitor<'_>,
    ) -> Result<()> {
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

    /// Adds the answer at λ0, from the answer before; the λ0 at which it changes.
    pub(super) fn point(
        &self,
        lambda0: f64,
        before: &Coefficients,
        memory: &mut Carried,
        state: &mut State,
        monitor: &mut Monitor<'_>,
    ) -> Result<f64> {
        if self.options.search == Search::Light && memory.ladder.is_some() {
            return self.light(lambda0, memory, state, monitor);
        }
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
                    Search::Neighbours | Search::Light => {
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
        let polished = outcome.pruned(&problem, monitor)?.polished(&problem, monitor)?;
        let solution = solution(&problem, polished, solve, (monitor.passes, monitor.seconds() - begun))?;
        monitor.passes += before_passes;
        let (lambda1, lambda2) = (problem.penalty().lambda1, problem.penalty().lambda2);
        state.points.push(Point { lambda0, lambda1, lambda2, solution });
        Ok(entry)
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
        let entering = ladder.outside(problem, &tau, ENTERING)?;
        let best = entering.first().map_or(0.0, |e| e.0);
        if best <= 1.0 + 1e-9 || monitor.stop(0).is_some() {
            rung.entry = rung.entry.max(ladder.entry_outside(problem, &tau)?);
            return Ok(rung);
        }
        rung = ladder.climb(problem, &features_of(&entering), monitor)?;
    }
}

pub(super) fn solution(
    problem: &Problem<'_>,
    outcome: Outcome,
    options: &Options,
    (passes, seconds): (f64, f64),
) -> Result<Solution> {
    Ok(Solution { passes, seconds, ..outcome.certified(problem, options)? })
}
