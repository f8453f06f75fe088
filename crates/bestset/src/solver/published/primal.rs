//! A primal point on copied columns and the coordinate steps on it.

use crate::active::ActiveSet;
use crate::kernel;
use crate::penalty::Coordinate;
use crate::problem::Problem;
use crate::solution::{Coefficients, Status};
use crate::solver::Monitor;

/// Entries touched between two looks at the clock: some tens of microseconds.
const ENTRIES_PER_CHECK: usize = 1 << 17;

/// A centred column shorter than this share of the column itself is rounding: the intercept explains it all.
const CONSTANT: f64 = 1e-28;

/// How coefficient j moves: β_j by δ and the intercept by −mean·δ, so that the fit moves along x_j − mean·1.
///
/// Without an intercept the mean is zero. With one this is T on centred columns (MATH §2).
#[derive(Debug, Clone, Copy)]
pub(super) struct Direction {
    /// Weighted mean of the column, zero without an intercept.
    pub mean: f64,
    /// Σ_i w_i (x_ij − mean)².
    pub squares: f64,
}

impl Direction {
    pub(super) fn of(problem: &Problem<'_>, j: usize) -> Self {
        let m = &problem.moments()[j];
        if !problem.has_intercept() {
            return Self { mean: 0.0, squares: m.squares };
        }
        Self { mean: m.mean, squares: if m.centred > CONSTANT * m.squares { m.centred } else { 0.0 } }
    }
}

/// (β, b) on the columns of an active set, with u = Xβ and v_i = w_i ℓ′(u_i + b, y_i) kept up to date.
#[derive(Clone)]
pub(super) struct Primal<'p, 'a> {
    problem: &'p Problem<'a>,
    active: ActiveSet,
    beta: Vec<f64>,
    u: Vec<f64>,
    intercept: f64,
    slopes: Vec<f64>,
    /// Σ v_i, for columns with a shift or a mean.
    total: f64,
}

impl<'p, 'a> Primal<'p, 'a> {
    /// β = 0 on the given features; or why it was stopped while copying their columns.
    pub(super) fn new(problem: &'p Problem<'a>, features: &[usize], monitor: &Monitor<'_>) -> Result<Self, Status> {
        let n = problem.nrows();
        let active = ActiveSet::new(problem.design());
        let (u, slopes) = (vec![0.0; n], vec![0.0; n]);
        let mut point = Self { problem, active, beta: Vec::new(), u, intercept: 0.0, slopes, total: 0.0 };
        point.include(features, monitor)?;
        point.rebuild();
        Ok(point)
    }

    /// Copies more features in, with coefficient zero.
    pub(super) fn include(&mut self, features: &[usize], monitor: &Monitor<'_>) -> Result<(), Status> {
        let mut checked = self.active.stored();
        for &j in features {
            self.active.push(self.problem.design(), j);
            self.beta.push(0.0);
            if self.active.stored() - checked > ENTRIES_PER_CHECK {
                checked = self.active.stored();
                monitor.stop(0).map_or(Ok(()), Err)?;
            }
        }
        Ok(())
    }

    /// Keeps the positions for which `keep` is true.
    pub(super) fn retain(&mut self, keep: &[bool]) {
        self.active.retain(keep);
        let mut kept = keep.iter();
        self.beta.retain(|_| *kept.next().expect("one entry per position"));
        self.rebuild();
    }

    /// Number of columns.
    pub(super) fn len(&self) -> usize {
        self.active.len()
    }

    /// The feature behind each position.
    pub(super) fn features(&self) -> &[usize] {
        self.active.features()
    }

    /// u = Xβ.
    pub(super) fn margins(&self) -> &[f64] {
        &self.u
    }

    /// b.
    pub(super) fn intercept(&self) -> f64 {
        self.intercept
    }

    /// Coefficient of position k.
    pub(super) fn beta(&self, k: usize) -> f64 {
        self.beta[k]
    }

    /// The positions with a non-zero coefficient.
    pub(super) fn support(&self) -> Vec<usize> {
        (0..self.len()).filter(|&k| self.beta[k] != 0.0).collect()
    }

    /// The columns.
    pub(super) fn columns(&self) -> &ActiveSet {
        &self.active
    }

    /// Replaces β, by position; the intercept is solved for.
    pub(super) fn set(&mut self, beta: impl Iterator<Item = f64>) {
        self.beta.clear();
        self.beta.extend(beta);
        self.rebuild();
    }

    /// Sets one coefficient, for a change that is not a coordinate step.
    pub(super) fn replace(&mut self, k: usize, b: f64) {
        self.beta[k] = b;
    }

    /// u, b and v from β, free of what many small updates have lost.
    pub(super) fn rebuild(&mut self) {
        self.u.fill(0.0);
        for k in 0..self.active.len() {
            if self.beta[k] != 0.0 {
                self.active.axpy(k, self.beta[k], &mut self.u);
            }
        }
        self.solve_intercept();
    }

    /// b ← argmin_b Σ_i w_i ℓ(u_i + b, y_i).
    pub(super) fn solve_intercept(&mut self) {
        self.intercept = self.problem.best_intercept(&self.u, self.intercept);
        self.refresh();
    }

    fn refresh(&mut self) {
        let (y, w) = (self.problem.y(), self.problem.weights());
        self.problem.loss().derivatives(&self.u, self.intercept, y, w, &mut self.slopes);
        self.total = kernel::sum(&self.slopes);
    }

    /// As `refresh` when only the stored rows of column k have moved.
    fn refresh_rows(&mut self, k: usize) {
        let (loss, y, w) = (self.problem.loss(), self.problem.y(), self.problem.weights());
        for &i in self.active.entries(k).0 {
            let i = i as usize;
            let slope = w.map_or(1.0, |w| w[i]) * loss.derivative(self.u[i] + self.intercept, y[i]);
            self.total += slope - self.slopes[i];
            self.slopes[i] = slope;
        }
    }

    /// One cyclic pass over the positions: β_j ← argmin_b { ½ c b² − q b + penalty } with c = ‖x_j‖²/μ and
    /// q = c β_j − x_jᵀv (paper eq. thresh, MATH §6), then the intercept.
    ///
    /// `minimiser` solves the one-dimensional problem: [`Coordinate::threshold_operator`] is T. For the squared loss
    /// the quadratic is P itself, for the others it lies above P: neither raises P. Returns Σ_j (c + 2λ2) δ_j², at
    /// most twice the fall of P; less when it was interrupted, so ask the monitor before believing a small value.
    pub(super) fn pass(
        &mut self,
        positions: impl Iterator<Item = usize>,
        minimiser: impl Fn(Coordinate, f64, f64) -> f64,
        monitor: &mut Monitor<'_>,
    ) -> f64 {
        let (mut moved, mut entries, mut columns) = (0.0, 0, 0);
        for k in positions {
            moved += self.step(k, &minimiser);
            columns += 1;
            entries += self.active.entries(k).1.len() + 1;
            if entries > ENTRIES_PER_CHECK {
                entries = 0;
                if monitor.stop(0).is_some() {
                    break;
                }
            }
        }
        monitor.passes += f64::from(columns) / self.problem.ncols() as f64;
        if self.problem.has_intercept() {
            self.solve_intercept();
        }
        moved
    }

    fn step(&mut self, k: usize, minimiser: &impl Fn(Coordinate, f64, f64) -> f64) -> f64 {
        let j = self.active.features()[k];
        let (coordinate, direction) = (self.problem.coordinate(j), Direction::of(self.problem, j));
        let c = direction.squares / self.problem.loss().mu();
        let slope = self.active.dot_stored(k, &self.slopes) + (self.active.shift(k) - direction.mean) * self.total;
        // Along a direction of length zero only the penalty changes.
        let q = if c > 0.0 { c * self.beta[k] - slope } else { 0.0 };
        let new = minimiser(coordinate, c, q);
        let delta = new - self.beta[k];
        if delta == 0.0 {
            return 0.0;
        }
        self.beta[k] = new;
        self.active.axpy(k, delta, &mut self.u);
        self.intercept -= delta * direction.mean;
        if self.active.is_sparse() && self.active.shift(k) == 0.0 && direction.mean == 0.0 {
            self.refresh_rows(k);
        } else {
            self.refresh();
        }
        (c + 2.0 * coordinate.l2) * delta * delta
    }

    /// τ_k = x_kᵀα for every position; false when it was interrupted.
    pub(super) fn correlate(&self, alpha: &[f64], tau: &mut Vec<f64>, monitor: &mut Monitor<'_>) -> bool {
        let total = kernel::sum(alpha);
        tau.clear();
        let mut entries = 0;
        for k in 0..self.len() {
            tau.push(self.active.dot_stored(k, alpha) + self.active.shift(k) * total);
            entries += self.active.entries(k).1.len() + 1;
            if entries > ENTRIES_PER_CHECK {
                entries = 0;
                if monitor.stop(0).is_some() {
                    return false;
                }
            }
        }
        monitor.passes += self.len() as f64 / self.problem.ncols() as f64;
        true
    }

    /// P(β, b) and R(β, b) at this point (MATH §1, §4).
    pub(super) fn values(&self) -> (f64, f64) {
        let loss = self.problem.loss_sum(&self.u, self.intercept);
        let (mut penalty, mut envelope) = (0.0, 0.0);
        for (&j, &b) in self.active.features().iter().zip(&self.beta).filter(|p| *p.1 != 0.0) {
            let coordinate = self.problem.coordinate(j);
            penalty += coordinate.value(b);
            envelope += coordinate.envelope(b);
        }
        (loss + penalty, loss + envelope)
    }

    /// The point as coefficients of the full problem.
    pub(super) fn coefficients(&self) -> Coefficients {
        let pairs = self.active.features().iter().copied().zip(self.beta.iter().copied());
        Coefficients::from_pairs(pairs.filter(|p| p.1 != 0.0).collect(), self.intercept)
    }
}
