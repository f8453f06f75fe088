//! The best found for given sizes: minimise P without λ0 subject to ‖β‖₀ ≤ k, with the bound D_k (MATH 6.5).
//!
//! Least squares: a path over λ0 gives first answers and dual points. Every size then starts from the nearest of them, and from the sizes
//! beside it with one feature more or less, and exchanges features one for one until none helps. For any α,
//! D_k(α) = −Σℓ* − Σ of the k largest −φ_j⁰(x_jᵀα) bounds the answer from below; the dual points of the path are tried.
//!
//! Other losses: a path would minimise R anew for every one of its points, which for small ridges takes longer than all else. Sizes grow from
//! nothing, one feature after the other, with exchanges at each, and come down again; from each that was asked for a walk goes on at its price
//! (`sizes/roam`), and kicks after it (`sizes/kicked`); then R is minimised at the prices of the sizes asked for (`sizes/bound`).

mod bound;
mod kicked;
mod roam;

use crate::certificate::Certificate;
use crate::control::{Monitor, Options};
use crate::error::{Error, Result};
use crate::path::{Path, PathOptions, path};
use crate::penalty::{Coordinate, Factors, Penalty};
use crate::problem::Problem;
use crate::relaxation::workspace::Workspace;
use crate::search::fit::{accuracy, apply, margin};
use crate::search::outside;
use crate::search::polish::polished;
use crate::search::tableau::{Move, Tableau};
use crate::solution::{Coefficients, Solution, Status};

/// Features outside the active set that enter it at each size: those that would gain most alone.
const CANDIDATES: usize = 50;

/// The same where the model of the loss prices each of them, alone and in exchange.
const PRICED: usize = 24;

/// Exchanges that are refitted before a size is given up.
const ATTEMPTS: usize = 4;

/// Sizes are looked at one by one up to here, beyond in steps of this part of them.
const ONE_BY_ONE: usize = 32;

/// To which part of P moves are fitted before they are compared, well below what counts as better; the answer is fitted to the last digit.
const COMPARED: f64 = 1e-12;

/// What was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Sizes {
    /// The sizes asked for, in the order given.
    pub sizes: Vec<usize>,
    /// The answer for each, with at most that many features.
    pub solutions: Vec<Solution>,
    /// `Converged`, or the limit that struck: answers are then the best so far.
    pub status: Status,
}

/// The best found for each of the sizes, with its bound.
///
/// The problem's λ0 must be zero: the size takes its place.
///
/// ```
/// use bestset::design::Dense;
/// use bestset::sizes::sizes;
/// use bestset::{Options, Penalty, Problem};
///
/// let x = Dense::new(4, 3, vec![1.0, 2.0, 3.0, 4.0, 1.0, -1.0, 1.0, -1.0, 0.5, 0.5, -0.5, 0.0])?;
/// let problem = Problem::new(&x, vec![2.3, 3.8, 6.1, 7.9], Penalty::new(0.0, 0.0, 0.01))?;
/// let found = sizes(&problem, &[1, 2], &Options::default())?;
///
/// assert_eq!(found.solutions[0].support(), &[0]);
/// assert_eq!(found.solutions[1].support().len(), 2);
/// assert!(found.solutions.iter().all(|s| s.certificate.lower_bound <= s.objective()));
/// # Ok::<(), bestset::Error>(())
/// ```
pub fn sizes(problem: &Problem<'_>, sizes: &[usize], options: &Options) -> Result<Sizes> {
    let p = problem.ncols();
    if problem.classes() > 1 {
        let reason = "has features of several columns: sizes are those of solve_groups with Groups::per_class";
        return Err(Error::Unsupported { method: problem.loss().name(), reason });
    }
    if let Some(&k) = sizes.iter().find(|k| **k == 0 || **k > p) {
        return Err(Error::Size { k, features: p });
    }
    if problem.penalty().lambda0 != 0.0 {
        let range = "0 where sizes are given";
        return Err(Error::Range { name: "lambda0", value: problem.penalty().lambda0, range });
    }
    let Some(&largest) = sizes.iter().max() else {
        return Ok(Sizes { sizes: Vec::new(), solutions: Vec::new(), status: Status::Converged });
    };
    // Sizes count features; what a feature would cost per λ0 is no part of the problem.
    let penalty = Penalty { price: Factors::One, ..problem.penalty().clone() };
    let problem = problem.with_penalty(penalty)?;
    let settings = PathOptions { max_size: Some(largest), solve: options.clone(), ..PathOptions::default() };
    crate::control::on_threads(options.threads, || {
        let mut silent = ();
        let mut monitor = Monitor::new(options, &mut silent);
        let found = match problem.loss().is_quadratic() {
            true => Some(path(&problem, &settings)?),
            false => None,
        };
        let mut climb = Climb::new(&problem, found.as_ref(), largest, options)?;
        let searched = climb
            .walk(sizes, &mut monitor)
            .and_then(|()| climb.roam_all(sizes, &mut monitor))
            .and_then(|()| climb.kick_all(sizes, &mut monitor));
        match searched {
            // The limit is said by the status: what was found until then stands.
            Err(Error::Stopped) => {}
            ended => ended?,
        }
        let bounds = match &found {
            Some(path) => climb.bounds(path, sizes, &mut monitor)?,
            None => bound::at_prices(&problem, &climb.best, sizes, options, &mut monitor)?,
        };
        let mut solutions = Vec::with_capacity(sizes.len());
        for (&k, (lower_bound, dual)) in sizes.iter().zip(bounds) {
            solutions.push(climb.solution(k, lower_bound, dual, options, &monitor)?);
        }
        let status = monitor.stop(0).unwrap_or(found.map_or(Status::Converged, |path| path.status));
        Ok(Sizes { sizes: sizes.to_vec(), solutions, status })
    })
}

/// The best known of each size, and a workspace whose penalties have λ0 = 0.
struct Climb<'p, 'a> {
    work: Workspace<'p, 'a>,
    /// P without λ0 and coefficients, for at most 0, 1, … features.
    best: Vec<(f64, Coefficients)>,
    /// Whether no path gave first answers: sizes grow from nothing.
    grows: bool,
}

impl<'p, 'a> Climb<'p, 'a> {
    fn new(problem: &'p Problem<'a>, path: Option<&Path>, largest: usize, options: &Options) -> Result<Self> {
        let work = Workspace::new(problem).within(options.memory());
        let (null, grows) = (work.coefficients(), path.is_none());
        // Beyond the largest, so that it is reached from above as well.
        let most = if grows { (largest + (largest / 5).max(2)).min(problem.ncols()) } else { largest };
        let mut climb = Self { best: vec![(work.objective(), null); most + 1], work, grows };
        for point in path.map_or(&[][..], |path| &path.points) {
            match climb.work.load(&point.solution.coefficients) {
                // Columns that a limit keeps from being read again: the path knows P.
                Err(Error::Stopped) => {
                    let coefficients = &point.solution.coefficients;
                    let cost = point.lambda0 * coefficients.nonzeros() as f64;
                    climb.keep(point.solution.objective() - cost, coefficients);
                }
                loaded => loaded.map(|()| climb.offer())?,
            }
        }
        Ok(climb)
    }

    fn problem(&self) -> &'p Problem<'a> {
        self.work.problem
    }

    /// Keeps the workspace's point for its own size and the larger ones that have nothing better.
    fn offer(&mut self) {
        let (objective, coefficients) = (self.work.objective(), self.work.coefficients());
        self.keep(objective, &coefficients);
    }

    fn keep(&mut self, objective: f64, coefficients: &Coefficients) {
        for known in self.best.iter_mut().skip(coefficients.nonzeros()) {
            if objective < known.0 {
                *known = (objective, coefficients.clone());
            }
        }
    }

    /// Up from the smaller size and down from the larger one, only where an asked size needs it.
    fn walk(&mut self, sizes: &[usize], monitor: &mut Monitor<'_>) -> Result<()> {
        let largest = self.best.len() - 1;
        let mut asked = vec![false; largest + 1];
        sizes.iter().for_each(|&k| asked[k] = true);
        if self.grows {
            let steps = std::iter::successors(Some(1), |k| Some(k + (k / ONE_BY_ONE).max(1)));
            steps.take_while(|k| *k < largest).for_each(|k| asked[k] = true);
            asked[largest] = true;
        }
        let wanted: Vec<usize> = (1..=largest).filter(|&k| asked[k]).collect();
        for &k in &wanted {
            self.settle(k, monitor)?;
        }
        for &k in wanted.iter().rev() {
            // The answer of the next size asked for, without the features it misses least.
            let Some(above) = (k + 1..=largest).find(|&l| asked[l]) else { continue };
            let start = self.best[above].1.clone();
            self.work.load(&start)?;
            if start.nonzeros() > k && monitor.stop(0).is_none() {
                self.shrink(k, monitor);
                self.exchange(k, monitor)?;
            }
        }
        Ok(())
    }

    /// From the best known with at most k features, filled up to k.
    fn settle(&mut self, k: usize, monitor: &mut Monitor<'_>) -> Result<()> {
        if monitor.stop(0).is_some() {
            return Ok(());
        }
        let start = self.best[k].1.clone();
        self.work.load(&start)?;
        self.widen(monitor)?;
        while self.work.support().len() < k && monitor.stop(0).is_none() && self.take(|m| m.drop.is_none(), monitor)? {}
        self.exchange(k, monitor)
    }

    /// Drops the features that the fit misses least until k are left.
    fn shrink(&mut self, k: usize, monitor: &Monitor<'_>) {
        while self.work.support().len() > k {
            let support = self.work.support();
            let Some(costs) = self.priced(|tableau| tableau.removals()) else { return };
            let least = support.iter().zip(&costs).min_by(|a, b| a.1.0.total_cmp(&b.1.0));
            let Some((&position, _)) = least else { return };
            self.work.beta[position] = 0.0;
            self.work.refresh();
            self.refit(monitor);
        }
        self.offer();
    }

    /// Exchanges one feature for another until none lowers P.
    fn exchange(&mut self, k: usize, monitor: &mut Monitor<'_>) -> Result<()> {
        self.offer();
        while monitor.stop(0).is_none() && self.take(|m| m.drop.is_some() && m.add.is_some(), monitor)? {}
        // From the new place other features may look good.
        self.widen(monitor)?;
        while monitor.stop(0).is_none() && self.take(|m| m.drop.is_some() && m.add.is_some(), monitor)? {}
        debug_assert!(self.work.support().len() <= k || self.best[k].1.nonzeros() <= k);
        Ok(())
    }

    /// Takes the first of the best moves of the kind asked for whose refit lowers P; whether there was one.
    fn take(&mut self, kind: impl Fn(&Move) -> bool, monitor: &Monitor<'_>) -> Result<bool> {
        let squares = self.problem().squares()?;
        let (before, start) = (self.work.objective(), self.work.coefficients());
        let margin = margin(before);
        let moves = self.priced(|tableau| tableau.improving(margin, usize::MAX).0).unwrap_or_default();
        for (_, step) in moves.into_iter().filter(|m| kind(&m.1)).take(ATTEMPTS) {
            apply(&mut self.work, squares, step);
            self.refit(monitor);
            if self.work.objective() < before - margin {
                self.offer();
                return Ok(true);
            }
            self.work.load(&start)?;
        }
        Ok(false)
    }

    fn priced<T>(&mut self, body: impl FnOnce(&Tableau) -> T) -> Option<T> {
        let (gradients, beta) = (self.work.gradients(), self.work.beta.clone());
        let coordinates = self.work.coordinates.clone();
        if !self.work.has_room_for(coordinates.len()) {
            return None;
        }
        let gram = self.work.gram();
        let tableau = Tableau::new(&gram, &coordinates, &beta, &gradients)?;
        Some(body(&tableau))
    }

    /// The fit on the current support.
    fn refit(&mut self, monitor: &Monitor<'_>) {
        let support = self.work.support();
        let coordinates: Vec<Coordinate> = self.work.coordinates.clone();
        let part = if self.grows { COMPARED } else { accuracy(&self.work) };
        let tolerance = part * self.work.relaxation().abs().max(f64::MIN_POSITIVE);
        let gradients = self.work.gradients_for(&support);
        self.work.minimise(&coordinates, &support, gradients, tolerance, monitor);
    }

    /// Takes in the features that would gain most alone at the current point: one pass over X.
    fn widen(&mut self, monitor: &mut Monitor<'_>) -> Result<()> {
        if self.grows && self.widen_by_model(PRICED, monitor)? {
            return Ok(());
        }
        let problem = self.problem();
        let squares = problem.squares()?;
        let outside: Vec<usize> = (0..problem.ncols()).filter(|&j| self.work.position(j).is_none()).collect();
        let mut tau = vec![0.0; outside.len()];
        problem.design().correlate(&outside, &self.work.alpha, &mut tau)?;
        let typical = problem.typical_curvature(&self.work.alpha);
        let gain = |(&j, &t): (&usize, &f64)| {
            let (c, curvature) = (problem.coordinate(j), squares[j] * typical);
            let b = c.prox_selected(curvature, -t);
            (-(0.5 * curvature * b + t) * b - c.value(b), j)
        };
        let mut gains: Vec<(f64, usize)> = outside.iter().zip(&tau).map(gain).filter(|g| g.0 > 0.0).collect();
        gains.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        self.work.include_all(&gains.iter().take(CANDIDATES).map(|g| g.1).collect::<Vec<_>>())
    }

    /// The same by what the model of the loss says of each of them, alone and in exchange (MATH 7.11); so many at the most, and
    /// the others leave. Whether it could.
    fn widen_by_model(&mut self, most: usize, monitor: &mut Monitor<'_>) -> Result<bool> {
        let keep: Vec<bool> = self.work.beta.iter().map(|b| *b != 0.0).collect();
        self.work.retain(&keep);
        let (problem, size) = (self.problem(), self.work.active.len());
        let is_free = |j: usize| problem.coordinate(j).upper > problem.coordinate(j).lower;
        let outside: Vec<usize> =
            (0..problem.ncols()).filter(|&j| self.work.position(j).is_none() && is_free(j)).collect();
        let (tau, droppable) = (problem.correlations(&self.work.alpha)?, (0..size).collect::<Vec<_>>());
        monitor.passes += 1.0;
        let Some(worth) = outside::worth(&mut self.work, &droppable, &outside, &tau, monitor)? else {
            return Ok(false);
        };
        let mut order: Vec<(f64, usize)> = worth.into_iter().zip(outside).filter(|w| w.0 > 0.0).collect();
        order.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        self.work.include_all(&order.iter().take(most).map(|w| w.1).collect::<Vec<_>>())?;
        Ok(true)
    }

    /// The best D_k (MATH 6.5, 10.4) over the dual points of the path, each at its best multiple (MATH 3.9): one pass over X for each; where a
    /// limit has struck, of the last of them alone, or of the null model's.
    fn bounds(&self, path: &Path, sizes: &[usize], monitor: &mut Monitor<'_>) -> Result<Vec<(f64, Vec<f64>)>> {
        let problem = self.problem();
        let features = problem.features();
        let limited: Vec<Option<Problem<'_>>> = sizes.iter().map(|&k| problem.clone().with_max_size(k).ok()).collect();
        let mut found = vec![(f64::NEG_INFINITY, Vec::new()); sizes.len()];
        let skipped = if monitor.stop(0).is_some() { path.points.len().saturating_sub(1) } else { 0 };
        for point in &path.points[skipped..] {
            let alpha = &point.solution.dual;
            let tau = match problem.correlations(alpha) {
                Err(Error::Stopped) => break,
                tau => tau?,
            };
            monitor.passes += 1.0;
            for (best, limited) in found.iter_mut().zip(&limited) {
                let (bound, s) = match limited {
                    Some(limited) => limited.lower_bounds()?.best_multiple(alpha, &features, &tau),
                    None => (f64::NEG_INFINITY, 1.0),
                };
                if bound > best.0 || best.1.is_empty() {
                    *best = (bound, alpha.iter().map(|a| s * a).collect());
                }
            }
        }
        for (best, limited) in found.iter_mut().zip(&limited).filter(|_| path.points.is_empty()) {
            let null = match limited.as_ref().map(Problem::bound_after_a_stop).transpose() {
                Err(Error::Stopped) => None,
                null => null?.flatten(),
            };
            *best = null.unwrap_or_else(|| best.clone());
        }
        // Conjugates are zero at zero, and so is D.
        let nothing = || (0.0, vec![0.0; problem.nrows()]);
        found.iter_mut().filter(|best| best.1.is_empty()).for_each(|best| *best = nothing());
        Ok(found)
    }

    /// P and coefficients of the best known with at most k features, fitted to the last digits.
    fn fitted(&mut self, k: usize, monitor: &Monitor<'_>) -> Result<(f64, Coefficients)> {
        let mut coefficients = self.best[k].1.clone();
        if self.grows {
            self.work.load(&coefficients)?;
            crate::search::fit::refit(&mut self.work, monitor);
            if self.work.objective() <= self.best[k].0 {
                coefficients = self.work.coefficients();
            }
            coefficients = polished(self.problem(), coefficients, monitor)?;
        }
        Ok((self.problem().clone().with_max_size(k)?.value(&coefficients)?, coefficients))
    }

    fn solution(
        &mut self,
        k: usize,
        lower_bound: f64,
        dual: Vec<f64>,
        options: &Options,
        monitor: &Monitor<'_>,
    ) -> Result<Solution> {
        let (objective, coefficients) = match self.fitted(k, monitor) {
            // Columns that a limit keeps from being read again.
            Err(Error::Stopped) => self.best[k].clone(),
            fitted => fitted?,
        };
        let certificate = Certificate::new(objective, None, lower_bound);
        let ended = monitor.stop(0).unwrap_or(Status::Converged);
        let status = certificate.status(ended, options.absolute(self.problem()), options.gap);
        Ok(Solution { seconds: monitor.seconds(), ..Solution::new(coefficients, certificate, status, dual) })
    }
}
