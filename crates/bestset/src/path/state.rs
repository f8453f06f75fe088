//! What a path knows between two points.

use crate::path::{Point, Search};
use crate::problem::Problem;
use crate::relaxation::workspace::{Columns, Workspace};
use crate::search::ladder::Ladder;
use crate::solution::Coefficients;
use serde::{Deserialize, Serialize};

/// All that the next point depends on where the memory is new: what a checkpoint keeps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct State {
    /// The points so far.
    pub(super) points: Vec<Point>,
    /// R's minimiser at the last of them; that of the null model where none is minimised ([`Search::Light`]).
    pub(super) minimiser: Coefficients,
    /// λ0 of the last of them.
    #[serde(with = "crate::file::float")]
    pub(super) last: f64,
    /// The λ0 at which its answer should change.
    #[serde(with = "crate::file::float")]
    pub(super) entry: f64,
    /// How often it did not.
    pub(super) same: usize,
    /// Points that the observer has seen.
    pub(super) shown: usize,
    /// Whether the path is over.
    pub(super) done: bool,
}

impl State {
    pub(super) fn new(null: Coefficients) -> Self {
        let (points, last, entry) = (Vec::new(), f64::INFINITY, f64::INFINITY);
        Self { points, minimiser: null, last, entry, same: 0, shown: 0, done: false }
    }

    /// Points of the sweeps that are over.
    pub(super) fn settled(&self) -> usize {
        self.shown.min(self.points.len())
    }

    /// Takes note of the point just added.
    pub(super) fn advance(&mut self, lambda0: f64, entry: f64, before: &Coefficients) {
        let support = self.points.last().map_or(&[][..], |p| p.solution.support());
        let unchanged = self.points.len() > 1 && support == before.support;
        self.same = if unchanged { self.same + 1 } else { 0 };
        (self.last, self.entry) = (lambda0, entry);
    }
}

/// What makes the next point faster; where no relaxation is minimised ([`Search::Light`]) its answers and bounds rest on it too, and are the same after
/// an interruption because it is renewed at the same points.
pub(super) struct Carried {
    /// The columns of the convex phase.
    pub(super) columns: Option<Columns>,
    /// The answers, for problems that it serves.
    pub(super) ladder: Option<Ladder>,
    /// The dual points of answers that wait for a sweep over X; empty where only the bound does.
    pub(super) unsettled: Vec<Vec<f64>>,
    /// Xᵀα of the points' own dual points, where it is known already; empty where not.
    pub(super) known: Vec<Vec<f64>>,
    /// Features that the next point should have in view.
    pub(super) candidates: Vec<usize>,
    /// What the last look at all features saw.
    pub(super) looked: Option<Looked>,
    /// The largest λ0 at which a feature outside the tableau paid alone at the last look (MATH 10.3); ∞ before there was one.
    pub(super) level: f64,
    /// Points since that look.
    pub(super) age: usize,
}

/// A dual point of an answer, and Xᵀα there.
pub(super) struct Looked {
    pub(super) alpha: Vec<f64>,
    pub(super) tau: Vec<f64>,
}

impl Carried {
    pub(super) fn new(problem: &Problem<'_>, search: Search) -> Self {
        let serves = search != Search::Full && Ladder::serves(problem);
        let ladder = serves.then(Ladder::default);
        let (unsettled, known, candidates) = (Vec::new(), Vec::new(), Vec::new());
        Self { columns: None, ladder, unsettled, known, candidates, looked: None, level: f64::INFINITY, age: 0 }
    }

    /// Runs `body` on a workspace with the columns kept.
    pub(super) fn on_columns<T>(&mut self, problem: &Problem<'_>, body: impl FnOnce(&mut Workspace<'_, '_>) -> T) -> T {
        let mut work = match self.columns.take() {
            Some(columns) => Workspace::with_columns(problem, columns),
            None => Workspace::new(problem),
        };
        let result = body(&mut work);
        self.columns = Some(work.into_columns());
        result
    }
}

/// The features of gains that are listed with them.
pub(super) fn features_of(entering: &[(f64, usize)]) -> Vec<usize> {
    entering.iter().map(|e| e.1).collect()
}
