//! Where a sweep ends: bounds and looks at all of X for the points that wait for them.

use crate::control::Monitor;
use crate::error::Result;
use crate::path::Point;
use crate::path::run::Strand;
use crate::path::state::{Carried, Looked, State, features_of};
use crate::problem::Problem;
use crate::search::ladder::ENTERING;
use crate::solution::{Coefficients, Local};
use crate::solver::incremental;

/// Points whose bounds and looks at all of X are done in one sweep.
const SWEEP: usize = 8;

/// The same where reading X takes longer than the work on many points: a third of the sweeps.
const LONG_SWEEP: usize = 24;

/// Rows from which on the few dozen numbers that each point of a long sweep keeps of every feature are little beside its column.
const TALL: usize = 2048;

/// Features from which on a sweep of answers that are fits, not pivots, ends where they have doubled: the points behind the largest size are
/// the longest of a path, and nobody sees them. Poisson, n = 500, p = 1000, sizes to 28: 45 s in sweeps of eight, of which the last goes on to
/// 354 features. Sweeps of four are as fast as these, but the way back is worth its points: of 354 points 24 had a higher P.
const FEW: usize = 16;

impl Strand<'_, '_> {
    /// How many points share a sweep: a matter of the size of X alone, so that answers are the same wherever it is.
    pub(super) fn sweep(&self) -> usize {
        let (design, vast) = (self.base.design(), self.options.solve.thresholds.vast);
        if design.nrows() >= TALL && design.stored() > vast { LONG_SWEEP } else { SWEEP }
    }

    /// Whether the points that wait make a sweep: there are as many as share one, or their answers, fits of a loss that is not
    /// quadratic, have grown too large or are eight. It does not depend on where the path ends.
    pub(super) fn is_whole(&self, state: &State) -> bool {
        let (count, waiting) = (state.points.len(), &state.points[state.settled()..]);
        let size = |p: &Point| p.solution.support().len();
        let has_grown = |first: &Point, last: &Point| size(last) >= 2 * size(first).max(FEW);
        let is_long = waiting.first().zip(waiting.last()).is_some_and(|(first, last)| has_grown(first, last));
        let is_costly = !self.base.loss().is_quadratic();
        count.is_multiple_of(self.sweep()) || is_costly && (waiting.len() >= SWEEP || is_long)
    }

    /// Ends a sweep: bounds and looks at all of X, then the points from where the last sweep ended take each other's answers.
    pub(super) fn finish(
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
        if count > 0 {
            design.correlate_many(&features, &vectors, &mut swept)?;
        }
        monitor.passes += count as f64;
        let tau = |v: usize| -> Vec<f64> { swept.iter().skip(v).step_by(count.max(1)).copied().collect() };
        unknown.iter().enumerate().for_each(|(v, &k)| known[k] = tau(v));
        let mut moved = false;
        for k in 0..points {
            let point = &mut state.points[from + k];
            let problem = self.at(point.lambda0)?;
            if let (Some(ladder), Ok(look)) = (&mut memory.ladder, looks.binary_search(&k)) {
                let entering = ladder.outside(&problem, &tau(unknown.len() + look), ENTERING)?;
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
        if let Some(&look) = looks.last().filter(|look| **look + 1 == points) {
            memory.looked = Some(Looked { alpha: alphas[look].clone(), tau: tau(count - 1) });
        }
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
