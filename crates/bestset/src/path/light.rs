//! Points that are answers first: no relaxation, and a look at all of X only where a feature outside could pay.

use crate::control::Monitor;
use crate::error::Result;
use crate::path::Point;
use crate::path::answer::solution;
use crate::path::run::Strand;
use crate::path::state::{Carried, Looked, State, features_of};
use crate::penalty::Penalty;
use crate::problem::Problem;
use crate::relaxation::convex::best_scaled;
use crate::search::ladder::{Ladder, Rung};
use crate::solution::Status;
use crate::solver::Outcome;

/// Points after which all of X is looked at, whatever the last look said: what it said was of another answer.
const STALE: usize = 8;

/// Features that enter the tableau after a look at the most: more than where every point looks, for several points are served by it.
const WIDE: usize = 128;

/// One part in so many of the limit on memory is for the columns of the tableau and their pairs.
const MEMORY: usize = 4;

/// Bytes for each entry of these columns, whose storage grows by doubling, and for each pair of them: inner products and the tableau.
const BYTES: (f64, f64) = (24.0, 64.0);

/// Dual points that differ by no more than this of their largest entry are of one answer: they were added up in another order.
const SAME: f64 = 1e-9;

impl Strand<'_, '_> {
    /// Adds the answer at λ0 from the answer before; the λ0 at which it changes, as far as the last look knows.
    ///
    /// A feature outside the tableau that was worth less than λ0 at the last look does not enter: it is looked again once λ0 has come
    /// down to the best of these, or after [`STALE`] points.
    pub(super) fn light(
        &self,
        lambda0: f64,
        memory: &mut Carried,
        state: &mut State,
        monitor: &mut Monitor<'_>,
    ) -> Result<f64> {
        let (problem, solve) = (self.at(lambda0)?, &self.options.solve);
        // Counted from zero, so that the digits do not depend on the points before.
        let (begun, before_passes) = (monitor.seconds(), std::mem::take(&mut monitor.passes));
        let mut ladder = memory.ladder.take().unwrap_or_default();
        let mut rung = ladder.climb(&problem, &std::mem::take(&mut memory.candidates), monitor)?;
        memory.age += 1;
        while lambda0 < memory.level || memory.age > STALE {
            let before = ladder.len();
            rung = self.look_around(&problem, &mut ladder, rung, memory, monitor)?;
            // Where nothing more came in, for want of memory too, another look would say the same.
            if ladder.len() == before || monitor.stop(0).is_some() {
                break;
            }
        }
        memory.ladder = Some(ladder);
        let (bound, dual, tau) = bounded(&problem, memory.looked.as_ref())?;
        let outcome = Outcome::new(rung.coefficients, bound, dual, Status::Converged);
        memory.known.push(tau);
        memory.unsettled.push(Vec::new());
        let solution = solution(&problem, outcome, solve, (monitor.passes, monitor.seconds() - begun))?;
        monitor.passes += before_passes;
        let Penalty { lambda1, lambda2, .. } = *problem.penalty();
        state.points.push(Point { lambda0, lambda1, lambda2, solution });
        Ok(rung.entry.max(memory.level))
    }

    /// One look at all of X from an answer, and the answer that follows from what it promises. A look from the same answer is not made
    /// twice.
    fn look_around(
        &self,
        problem: &Problem<'_>,
        ladder: &mut Ladder,
        rung: Rung,
        memory: &mut Carried,
        monitor: &mut Monitor<'_>,
    ) -> Result<Rung> {
        let looked = match memory.looked.take().filter(|looked| is_same(&looked.alpha, &rung.alpha)) {
            Some(looked) => looked,
            None => {
                let tau = problem.correlations_within(&rung.alpha, &|| monitor.check())?;
                monitor.passes += 1.0;
                Looked { alpha: rung.alpha, tau }
            }
        };
        let (n, p) = (problem.nrows() as f64, problem.ncols());
        let most = self.options.solve.memory().most(MEMORY, (0, p), |m| BYTES.0 * n * m + BYTES.1 * m * m);
        let entering = ladder.outside(problem, &looked.tau, WIDE.min(most.saturating_sub(ladder.len())))?;
        let rung = ladder.climb(problem, &features_of(&entering), monitor)?;
        (memory.level, memory.age) = (ladder.entry_outside(problem, &looked.tau)?, 0);
        memory.looked = Some(looked);
        Ok(rung)
    }
}

/// max_{0≤s≤1} D_{λ0}(sα) of the dual point of the last look (MATH 10.22); that point, and x_jᵀα of every feature there.
fn bounded(problem: &Problem<'_>, looked: Option<&Looked>) -> Result<(f64, Vec<f64>, Vec<f64>)> {
    let Some(Looked { alpha, tau }) = looked else {
        return Ok((f64::NEG_INFINITY, Vec::new(), Vec::new()));
    };
    let (bound, scale) = best_scaled(problem, alpha, tau)?;
    let scaled = |numbers: &[f64]| numbers.iter().map(|x| scale * x).collect();
    Ok((bound, scaled(alpha), scaled(tau)))
}

fn is_same(a: &[f64], b: &[f64]) -> bool {
    let largest = a.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
    a.iter().zip(b).all(|(a, b)| (a - b).abs() <= SAME * largest)
}
