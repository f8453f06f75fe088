//! The answers of a path for the squared loss: one tableau from which the next λ0 only takes a few pivots.
//!
//! The tableau of a support does not depend on λ0, and its columns stay: a point costs the moves that its λ0 makes
//! worthwhile. The features outside are looked at by the caller, for several points in one sweep over X.

use crate::control::Limits;
use crate::error::Result;
use crate::kernel::each::{chosen, largest};
use crate::problem::{Lengths, Problem};
use crate::relaxation::workspace::{Columns, Workspace};
use crate::search::tableau::Tableau;
use crate::solution::Coefficients;

/// Features that enter the tableau after a look at all of X: so many at the most.
pub(crate) const ENTERING: usize = 24;

/// Share of its price that a feature must be worth alone to be taken in: it may be worth more in exchange.
const PROMISING: f64 = 0.6;

/// Multiplications spent on one point at the most.
const BUDGET: f64 = 2e8;

/// Pivots after which the tableau is made anew, so that rounding does not gather.
const RENEWAL: usize = 200;

/// The tableau of the latest answer and the columns it is made of.
#[derive(Default)]
pub(crate) struct Ladder {
    columns: Option<Columns>,
    tableau: Option<Tableau>,
    /// −∇q(0) by position.
    origin: Vec<f64>,
    /// α at β = 0.
    null: Vec<f64>,
    pivots: usize,
}

/// The answer at one λ0.
pub(crate) struct Rung {
    pub(crate) coefficients: Coefficients,
    /// α of the answer.
    pub(crate) alpha: Vec<f64>,
    /// The largest λ0 at which one more feature in the tableau pays.
    pub(crate) entry: f64,
}

impl Ladder {
    /// Whether the tableau is exact for the problem: squared loss, no finite bounds but zeros, and an inverse.
    pub(crate) fn serves(problem: &Problem<'_>) -> bool {
        let open = |j: usize| {
            let (lower, upper) = problem.penalty().bounds.at(j);
            (lower == f64::NEG_INFINITY && upper == f64::INFINITY) || (lower == 0.0 && upper == 0.0)
        };
        problem.loss().is_quadratic()
            && problem.penalty().lambda2 > 0.0
            && (0..if problem.penalty().is_uniform() { 1 } else { problem.ncols() }).all(open)
    }

    /// Moves to the best that moves of one feature reach at the problem's λ0, from the latest answer and with `candidates`
    /// in view, and the next λ0 at which one pays (MATH 10.2).
    pub(crate) fn climb(&mut self, problem: &Problem<'_>, candidates: &[usize], limits: &Limits) -> Result<Rung> {
        let mut work = self.workspace(problem);
        work.include_all(candidates)?;
        self.descend(&mut work, limits);
        let price = |k: usize| problem.penalty().price.at(work.active.features()[k]);
        let tableau = self.tableau.iter();
        let worths = tableau.flat_map(|t| (0..t.len()).filter(|&k| price(k) > 0.0).map(|k| t.worth(k) / price(k)));
        let entry = worths.fold(0.0, f64::max);
        let (coefficients, alpha) = (work.coefficients(), work.alpha.clone());
        self.columns = Some(work.into_columns());
        Ok(Rung { coefficients, alpha, entry })
    }

    /// The best from a given support, with `candidates` in view.
    pub(crate) fn from(
        &mut self,
        problem: &Problem<'_>,
        start: &[usize],
        candidates: &[usize],
        limits: &Limits,
    ) -> Result<Coefficients> {
        let mut work = self.workspace(problem);
        let inside = start.iter().map(|&j| work.include(j)).collect::<Result<Vec<_>>>()?;
        work.include_all(candidates)?;
        self.prepare(&mut work);
        if let Some(tableau) = &mut self.tableau {
            let mut wanted = vec![false; work.active.len()];
            inside.iter().for_each(|&k| wanted[k] = true);
            for k in (0..wanted.len()).filter(|&k| tableau.contains(k) != wanted[k]).collect::<Vec<_>>() {
                tableau.pivot(k);
                self.pivots += 1;
            }
        }
        self.descend(&mut work, limits);
        let found = work.coefficients();
        self.columns = Some(work.into_columns());
        Ok(found)
    }

    /// The most promising features outside the tableau at τ = Xᵀα of an answer, each with what it brings alone over its
    /// price: above one it is sure to lower P. At most so many.
    pub(crate) fn outside(&self, problem: &Problem<'_>, tau: &[f64], most: usize) -> Result<Vec<(f64, usize)>> {
        let lengths = problem.lengths()?;
        let share = |j: usize| {
            let (worth, price) = (alone(problem, &lengths, j, tau[j]), problem.coordinate(j).l0);
            // A free feature is worth taking in when it brings anything at all.
            if worth > 0.0 { worth / price } else { 0.0 }
        };
        let mut found = chosen(tau.len(), |j| Some((share(j), j)).filter(|e| e.0 > PROMISING && !self.holds(j)));
        found.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        found.truncate(most);
        Ok(found)
    }

    /// The largest λ0 at which a feature outside the tableau pays alone (MATH 10.3), at τ = Xᵀα of an answer: however far below
    /// the price.
    pub(crate) fn entry_outside(&self, problem: &Problem<'_>, tau: &[f64]) -> Result<f64> {
        let lengths = problem.lengths()?;
        let price = |j: usize| problem.penalty().price.at(j);
        let is_outside = |j: usize| price(j) > 0.0 && !self.holds(j);
        let worth = |j: usize| if is_outside(j) { alone(problem, &lengths, j, tau[j]) / price(j) } else { 0.0 };
        Ok(largest(tau.len(), worth))
    }

    /// How many features the tableau has.
    pub(crate) fn len(&self) -> usize {
        self.columns.as_ref().map_or(0, |c| c.len())
    }

    fn holds(&self, j: usize) -> bool {
        self.columns.as_ref().is_some_and(|c| c.holds(j))
    }

    fn workspace<'p, 'a>(&mut self, problem: &'p Problem<'a>) -> Workspace<'p, 'a> {
        match self.columns.take() {
            Some(columns) => Workspace::with_columns(problem, columns),
            None => {
                let work = Workspace::new(problem);
                self.null = work.alpha.clone();
                work
            }
        }
    }

    /// The tableau at the latest support, with every column of the workspace and its prices.
    fn prepare(&mut self, work: &mut Workspace<'_, '_>) {
        for k in self.origin.len()..work.active.len() {
            self.origin.push(-work.active.dot(k, &self.null));
        }
        let coordinates = work.coordinates.clone();
        if self.pivots > RENEWAL {
            self.renew(work);
        }
        let gram = work.gram();
        match &mut self.tableau {
            Some(tableau) => {
                tableau.reprice(&coordinates);
                tableau.extend(&gram, &coordinates, &self.origin);
            }
            None => {
                let (zero, gradients) = (vec![0.0; gram.len()], self.origin.iter().map(|o| -o).collect::<Vec<f64>>());
                self.tableau = Tableau::new(&gram, &coordinates, &zero, &gradients);
            }
        }
    }

    /// Makes the tableau of the latest support anew.
    fn renew(&mut self, work: &mut Workspace<'_, '_>) {
        let Some(old) = self.tableau.take() else { return };
        let mut beta = old.beta();
        beta.resize(work.active.len(), 0.0);
        work.beta = beta;
        work.refresh();
        let (gradients, beta, coordinates) = (work.gradients(), work.beta.clone(), work.coordinates.clone());
        self.tableau = Tableau::new(&work.gram(), &coordinates, &beta, &gradients);
        self.pivots = 0;
    }

    /// Pivots while P falls and leaves the workspace at the answer.
    fn descend(&mut self, work: &mut Workspace<'_, '_>, limits: &Limits) {
        self.prepare(work);
        let Some(tableau) = &mut self.tableau else { return };
        let margin = crate::search::fit::margin(work.objective());
        let (moves, _) = tableau.descend(margin, &mut BUDGET.clone(), || limits.stop(0).is_some());
        self.pivots += 2 * moves;
        work.beta = tableau.beta();
        work.refresh();
        crate::search::fit::refit(work, limits);
    }
}

/// (|τ_j| − λ1)₊² / (2(‖x̂_j‖² + 2λ2)) (MATH 10.3): what feature j brings with everything else as it is.
fn alone(problem: &Problem<'_>, lengths: &Lengths<'_>, j: usize, tau: f64) -> f64 {
    let c = problem.coordinate(j);
    let pull = (tau.abs() - c.l1).max(0.0);
    if c.upper > c.lower { 0.5 * pull * pull / (lengths.of(j).powi(2) + 2.0 * c.l2) } else { 0.0 }
}
