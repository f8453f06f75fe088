//! What the optimality rules (MATH 5.4, 5.5) prove of each feature while P is searched, so that the search leaves the rest alone.

use crate::control::{Limits, Monitor};
use crate::error::Result;
use crate::kernel::each::chosen;
use crate::problem::Problem;
use crate::problem::screening;
use crate::relaxation::convex::Relaxed;
use crate::relaxation::everywhere::Everywhere;
use crate::relaxation::workspace::Workspace;
use crate::search::fit::{apply, refit};
use crate::search::tableau::Move;

/// What is known of a feature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Every point without it has a higher P than the best one known.
    In,
    /// Every point with it has.
    Out,
    /// Neither is known.
    Open,
}

/// A dual point's bound and correlations, from which the verdicts follow for any P̂.
#[derive(Debug, Clone)]
pub struct Rules {
    bound: f64,
    tau: Vec<f64>,
    /// τ at the end of its rounding where φ is least.
    outer: Vec<f64>,
}

impl Rules {
    /// Nothing is proved of any feature.
    pub fn none() -> Self {
        Self { bound: f64::NEG_INFINITY, tau: Vec::new(), outer: Vec::new() }
    }

    /// At the best dual point of the convex phase, with all that can be proved there with the best P known so far.
    pub fn new(problem: &Problem<'_>, relaxed: &mut Relaxed, best: f64, monitor: &mut Monitor<'_>) -> Result<Self> {
        // Without a bound there is nothing to prove.
        if relaxed.lower_bound == f64::NEG_INFINITY {
            return Ok(Self::none());
        }
        let Everywhere { bound, tau, outer, .. } = relaxed.everywhere(problem, best, monitor)?.clone();
        Ok(Self { bound, tau, outer })
    }

    /// What the best P known proves of feature j (MATH 5.4, 5.5).
    pub fn verdict(&self, problem: &Problem<'_>, j: usize, best: f64) -> Verdict {
        if self.tau.is_empty() {
            return Verdict::Open;
        }
        let c = problem.coordinate(j);
        if screening::in_no_optimal_subset(c, self.outer[j], self.bound, best) {
            Verdict::Out
        } else if screening::in_every_optimal_subset(c, self.tau[j], self.bound, best) {
            Verdict::In
        } else {
            Verdict::Open
        }
    }

    /// The positions of the active set that are open: moves of the others cannot bring P below `best`.
    pub fn open(&self, work: &Workspace<'_, '_>, best: f64) -> Vec<usize> {
        let features = work.active.features().iter().enumerate();
        features.filter(|f| self.verdict(work.problem, *f.1, best) == Verdict::Open).map(|f| f.0).collect()
    }

    /// Drops the features that are out and takes in those that are in: what is better than `best` looks like that.
    pub fn conform(&self, work: &mut Workspace<'_, '_>, best: f64, limits: &Limits) -> Result<()> {
        let problem = work.problem;
        let squares = problem.squares()?;
        let mut changed = false;
        // Of most features the rules say nothing that would change the point: all are asked, in parallel, and few are looked at again.
        let asked = chosen(self.tau.len(), |j| {
            let is_active = work.position(j).is_some();
            (is_active || self.verdict(problem, j, best) == Verdict::In).then_some(j)
        });
        for j in asked {
            let inside = work.position(j).is_some_and(|k| work.beta[k] != 0.0);
            match self.verdict(problem, j, best) {
                Verdict::Out if inside => {
                    let drop = work.position(j);
                    apply(work, squares, Move { drop, add: None });
                    changed = true;
                }
                Verdict::In if !inside => {
                    let add = Some(work.include(j)?);
                    apply(work, squares, Move { drop: None, add });
                    changed = true;
                }
                _ => {}
            }
        }
        if changed {
            refit(work, limits);
        }
        Ok(())
    }
}
