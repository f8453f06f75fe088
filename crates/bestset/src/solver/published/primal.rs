//! A primal point on copied columns and the coordinate steps on it.

use crate::control::Monitor;
use crate::design::Moments;
use crate::kernel;
use crate::penalty::Coordinate;
use crate::problem::Problem;
use crate::relaxation::active_set::ActiveSet;
use crate::solution::Coefficients;
use crate::solver::published::halt::Halt;

/// Entries touched between two looks at the clock: some tens of microseconds.
const ENTRIES_PER_CHECK: usize = 1 << 17;

/// A centred column shorter than this share of the column itself is rounding: the intercept explains it all.
const CONSTANT: f64 = 1e-28;

/// How coefficient j moves: β_j by Δ and the intercept by −x̄_jΔ, so that the fit moves along x_j − x̄_j (MATH 1.4).
///
/// Without an intercept the mean x̄_j is zero. With one this is T on centred columns.
#[derive(Debug, Clone, Copy)]
pub(super) struct Direction {
    /// Weighted mean of the column, zero without an intercept.
    pub mean: f64,
    /// Σ_i w_i (x_ij − mean)².
    pub squares: f64,
}

impl Direction {
    pub(super) fn of(problem: &Problem<'_>, m: &Moments) -> Self {
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
    moments: &'p [Moments],
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
    pub(super) fn new(problem: &'p Problem<'a>, features: &[usize], monitor: &Monitor<'_>) -> Result<Self, Halt> {
        let n = problem.nrows();
        let active = ActiveSet::new(problem.design());
        let (u, slopes, moments) = (problem.null_margins(), vec![0.0; n], problem.moments()?);
        let mut point = Self { problem, moments, active, beta: Vec::new(), u, intercept: 0.0, slopes, total: 0.0 };
        point.include(features, monitor)?;
        point.rebuild();
        Ok(point)
    }

    /// Copies more features in, with coefficient zero.
    pub(super) fn include(&mut self, features: &[usize], monitor: &Monitor<'_>) -> Result<(), Halt> {
        let mut checked = self.active.stored();
        for &j in features {
            self.active.extend(self.problem.design(), &[j])?;
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

    /// u = o + Xβ.
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
        self.u = self.problem.null_margins();
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

    /// β_j ← argmin_b { ½c_jb² − qb + penalty } with q = c_jβ_j − x_jᵀα (MATH 6.2), once around the positions (paper eq. thresh),
    /// then the intercept.
    ///
    /// `minimiser` solves the one-dimensional problem: [`Coordinate::threshold_operator`] is T. For the squared loss
    /// the quadratic is P itself, for the others it lies above P: neither raises P. Returns Σ_j (c_j + 2λ2)(change of β_j)², at
    /// most twice the fall of P where no coefficient enters or leaves (at a tie of T one does so for nothing); less when it was
    /// interrupted, so ask the monitor before believing a small value.
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
        let (coordinate, direction) = (self.problem.coordinate(j), Direction::of(self.problem, &self.moments[j]));
        let c = direction.squares / self.problem.mu();
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

    /// P(β, β₀) and R(β, β₀) at this point (MATH 1.1, 4.3).
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::Options;
    use crate::design::{Csc, Dense, Design, Standardized};
    use crate::loss::Loss;
    use crate::{Bounds, Penalty};

    const N: usize = 12;
    const P: usize = 5;

    fn entry(k: usize) -> f64 {
        if k % 4 == 1 { 0.0 } else { (k as f64 * 1.37).sin() + 0.4 }
    }

    fn sparse() -> Csc<'static> {
        let kept = |j: usize| (0..N).filter(move |i| entry(j * N + i) != 0.0);
        let rows: Vec<u32> = (0..P).flat_map(|j| kept(j).map(|i| i as u32)).collect();
        let values: Vec<f64> = (0..P).flat_map(|j| kept(j).map(move |i| entry(j * N + i))).collect();
        let starts: Vec<usize> = (0..=P).map(|j| (0..j).map(|j| kept(j).count()).sum()).collect();
        Csc::new(N, starts, rows, values).unwrap()
    }

    /// Every loss, with and without bounds, weights and intercept.
    fn problems(x: &dyn Design) -> Vec<Problem<'_>> {
        let mut all = Vec::new();
        for loss in [Loss::Squared, Loss::Logistic, Loss::SquaredHinge, Loss::Huber { delta: 0.5 }] {
            for mask in 0..8 {
                let y = |i: usize| if (i * 5).is_multiple_of(3) { 1.0 } else { -1.0 };
                let bounds = if mask & 1 != 0 { Bounds::All(-0.3, 0.4) } else { Bounds::Free };
                let penalty = Penalty::new(0.05, 0.1, 0.2).with_bounds(bounds);
                let problem = Problem::new(x, (0..N).map(y).collect::<Vec<f64>>(), penalty).unwrap();
                let problem = problem.with_loss(loss).unwrap().with_intercept(mask & 2 != 0);
                let weights: Vec<f64> = (0..N).map(|i| (i % 4) as f64 * 0.7).collect();
                all.push(if mask & 4 != 0 { problem.with_weights(weights).unwrap() } else { problem });
            }
        }
        all
    }

    /// P from scratch and the state after a pass, from several starts.
    fn check(problem: &Problem<'_>) {
        let options = Options::default();
        let mut observer = ();
        let mut monitor = Monitor::new(&options, &mut observer);
        let features: Vec<usize> = (0..P).collect();
        for start in 0..6 {
            let mut point = Primal::new(problem, &features, &monitor).unwrap();
            let value =
                |j: usize| 0.3 * ((start * P + j) as f64 * 2.1).sin() * f64::from(!(start + j).is_multiple_of(3));
            point.set((0..P).map(value));
            for selected in [false, true] {
                let before = problem.value(&point.coefficients()).unwrap();
                assert!((before - point.values().0).abs() < 1e-12 * (1.0 + before));
                let step =
                    |c: Coordinate, a, q| if selected { c.prox_selected(a, q) } else { c.threshold_operator(a, q) };
                let positions = if selected { point.support() } else { features.clone() };
                point.pass(positions.into_iter(), step, &mut monitor);
                let after = problem.value(&point.coefficients()).unwrap();
                assert!(after <= before * (1.0 + 1e-14), "{:?}: P rose from {before} to {after}", problem.loss());
                let mut fresh = point.clone();
                fresh.rebuild();
                let drift = (0..N).map(|i| (fresh.slopes[i] - point.slopes[i]).abs()).fold(0.0, f64::max);
                assert!(drift < 1e-12 && (fresh.total - point.total).abs() < 1e-12, "{:?}", problem.loss());
            }
        }
    }

    #[test]
    fn no_pass_raises_p_and_the_state_stays_exact() {
        let dense = Dense::new(N, P, (0..N * P).map(entry).collect::<Vec<f64>>()).unwrap();
        let sparse = sparse();
        let centred = Standardized::fit(&sparse, None, true, 2.0).unwrap();
        // Means far above the spread: steps must take the intercept along.
        let far = Dense::new(N, P, (0..N * P).map(|k| entry(k) + 5.0).collect::<Vec<f64>>()).unwrap();
        for x in [&dense as &dyn Design, &sparse, &centred, &far] {
            problems(x).iter().for_each(check);
        }
    }

    /// For the squared loss a pass with an intercept is a pass on centred data without one (MATH 1.4).
    #[test]
    fn an_intercept_is_centring_for_the_squared_loss() {
        let raw: Vec<f64> = (0..N * P).map(|k| entry(k) + 5.0).collect();
        let centre = |v: &[f64]| v.iter().map(|a| a - v.iter().sum::<f64>() / N as f64).collect::<Vec<f64>>();
        let y: Vec<f64> = (0..N).map(|i| 3.0 + (i as f64).sin()).collect();
        let (x, z) = (Dense::new(N, P, raw.clone()).unwrap(), raw.chunks(N).flat_map(centre).collect::<Vec<f64>>());
        let z = Dense::new(N, P, z).unwrap();
        let penalty = Penalty::new(0.01, 0.02, 0.3);
        let with = Problem::new(&x, &y[..], penalty.clone()).unwrap().with_intercept(true);
        let without = Problem::new(&z, centre(&y), penalty).unwrap();
        let options = Options::default();
        let mut observer = ();
        let mut monitor = Monitor::new(&options, &mut observer);
        let [a, b] = [&with, &without].map(|problem| {
            let mut point = Primal::new(problem, &[0, 1, 2, 3, 4], &monitor).unwrap();
            point.pass(0..P, |c, a, q| c.threshold_operator(a, q), &mut monitor);
            point
        });
        assert!(a.support().len() > 1);
        assert!((0..P).all(|k| (a.beta(k) - b.beta(k)).abs() < 1e-12), "{:?} {:?}", a.beta, b.beta);
        assert!((a.values().0 - b.values().0).abs() < 1e-12);
    }

    #[test]
    fn a_cancelled_pass_stops_on_the_way() {
        let (n, p) = (1000, 300);
        let x = Dense::new(n, p, (0..n * p).map(|k| (k as f64 * 0.7).sin()).collect::<Vec<f64>>()).unwrap();
        let problem = Problem::new(&x, x.col(p - 1).to_vec(), Penalty::new(0.0, 0.0, 1.0)).unwrap();
        let options = Options::default();
        let mut observer = ();
        let mut monitor = Monitor::new(&options, &mut observer);
        let mut point = Primal::new(&problem, &(0..p).collect::<Vec<_>>(), &monitor).unwrap();
        options.cancel.cancel();
        point.pass(0..p, |c, a, q| c.threshold_operator(a, q), &mut monitor);
        let last = point.support().pop().unwrap();
        assert!(last < ENTRIES_PER_CHECK / n + 1 && monitor.passes < 0.5, "{last}");
        assert!(!point.correlate(&vec![0.0; n], &mut vec![], &mut monitor));
        let stopped = Primal::new(&problem, &(0..p).collect::<Vec<_>>(), &monitor).err();
        assert!(matches!(stopped, Some(Halt::Stopped(crate::Status::Interrupted))));
    }

    #[test]
    fn retained_columns_keep_their_coefficients() {
        let x = sparse();
        let problem = &problems(&x)[2];
        let options = Options::default();
        let mut observer = ();
        let monitor = Monitor::new(&options, &mut observer);
        let mut point = Primal::new(problem, &[4, 0, 2], &monitor).unwrap();
        point.set([0.1, 0.0, -0.2].into_iter());
        point.retain(&[true, false, true]);
        assert_eq!((point.features(), point.support()), (&[4, 2][..], vec![0, 1]));
        let coefficients = point.coefficients();
        assert_eq!((coefficients.support, coefficients.values), (vec![2, 4], vec![-0.2, 0.1]));
    }
}
