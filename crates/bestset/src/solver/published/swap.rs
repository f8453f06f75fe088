//! Partial swaps: one feature out, one in (MATH 6.7), PSI(1) of Hazimeh & Mazumder.
//!
//! A swap sets β_i = 0 and minimises P over β_j alone for one j outside; an intercept is solved for along the way,
//! as it is no feature.

use crate::control::Monitor;
use crate::design::Moments;
use crate::kernel;
use crate::penalty::Coordinate;
use crate::problem::Problem;
use crate::solver::published::halt::Halt;
use crate::solver::published::ledger::Ledger;
use crate::solver::published::primal::{Direction, Primal};

/// A swap must lower P by this share, so that rounding cannot swap for ever.
const TOLERANCE: f64 = 1e-10;

/// Relative accuracy of the one-dimensional minima.
const LINE_TOLERANCE: f64 = 1e-13;

/// Entries correlated between two looks at the clock.
const ENTRIES_PER_CHECK: usize = 1 << 20;

/// How the search for a swap ended.
pub(super) enum Swap {
    /// One was made: P is lower.
    Found,
    /// None lowers P.
    Inescapable,
    /// Ended before it was known.
    Halted(Halt),
}

/// Makes the best swap (MATH 6.7) for the first feature whose exchange lowers P. The point must hold all features in order.
pub(super) fn improve(
    problem: &Problem<'_>,
    primal: &mut Primal<'_, '_>,
    ledger: &mut Ledger<'_, '_>,
    monitor: &mut Monitor<'_>,
) -> Swap {
    let objective = primal.values().0;
    let target = objective - TOLERANCE * objective.abs();
    for i in primal.support() {
        let entering = match Removal::new(problem, primal, i, monitor).and_then(|r| r.best(primal, target, monitor)) {
            Ok(entering) => entering,
            Err(halt) => return Swap::Halted(halt),
        };
        let Some(entering) = entering else { continue };
        let old = primal.beta(i);
        primal.replace(i, 0.0);
        primal.replace(entering.feature, entering.value);
        primal.rebuild();
        // P itself decides, not the formula that found the swap.
        if ledger.offer(primal) <= target {
            return Swap::Found;
        }
        primal.replace(entering.feature, 0.0);
        primal.replace(i, old);
        primal.rebuild();
    }
    Swap::Inescapable
}

/// A feature outside the support and the coefficient it would get; or the removed feature itself with coefficient
/// zero, when to remove it is best.
struct Entering {
    feature: usize,
    value: f64,
}

/// The point with β_i = 0.
struct Removal<'p, 'a> {
    problem: &'p Problem<'a>,
    removed: usize,
    u: Vec<f64>,
    intercept: f64,
    /// Its loss and, apart, the penalty of the features that stay.
    loss: f64,
    penalty: f64,
    /// τ = Xᵀα at its dual point: −τ_j pulls feature j in.
    tau: Vec<f64>,
    moments: &'p [Moments],
}

impl<'p, 'a> Removal<'p, 'a> {
    /// One pass over X: τ_j = −x_jᵀ(r + β_i x_i) for the squared loss.
    fn new(
        problem: &'p Problem<'a>,
        primal: &Primal<'_, '_>,
        i: usize,
        monitor: &mut Monitor<'_>,
    ) -> Result<Self, Halt> {
        let mut u = primal.margins().to_vec();
        primal.columns().axpy(i, -primal.beta(i), &mut u);
        let intercept = problem.best_intercept(&u, primal.intercept());
        let mut alpha = vec![0.0; u.len()];
        problem.dual_point(&u, intercept, &mut alpha);
        let tau = correlate(problem, &alpha, monitor)?;
        let stay = primal.support().into_iter().filter(|&j| j != i);
        let penalty = stay.map(|j| problem.coordinate(j).value(primal.beta(j))).sum();
        Ok(Self {
            problem,
            removed: i,
            intercept,
            loss: problem.loss_sum(&u, intercept),
            u,
            penalty,
            tau,
            moments: problem.moments()?,
        })
    }

    /// The feature whose entry brings P below the target the furthest, if one does.
    fn best(&self, primal: &Primal<'_, '_>, target: f64, monitor: &Monitor<'_>) -> Result<Option<Entering>, Halt> {
        let outside = (0..self.tau.len()).filter(|&j| primal.beta(j) == 0.0);
        let bounds = outside.map(|j| (self.lowest(j), j));
        let mut candidates: Vec<(f64, usize)> = bounds.filter(|c| self.loss + self.penalty + c.0 < target).collect();
        candidates.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let (mut best, mut target) = (None, target);
        // T minimises a bound on P unless the loss is quadratic, and may keep a feature that is better left out.
        if self.loss + self.penalty < target {
            (best, target) = (Some(Entering { feature: self.removed, value: 0.0 }), self.loss + self.penalty);
        }
        for (count, &(lowest, feature)) in candidates.iter().enumerate() {
            if self.loss + self.penalty + lowest >= target {
                break;
            }
            if count % 16 == 15 {
                monitor.stop(0).map_or(Ok(()), Err)?;
            }
            if let Some((objective, value)) = self.enter(primal, feature, target)
                && objective < target
            {
                (best, target) = (Some(Entering { feature, value }), objective);
            }
        }
        Ok(best)
    }

    /// min_b { ½c_jb² + τ_jb + π_j(b) } (MATH 6.7): the change of P when feature j enters, for the squared loss. For the other
    /// losses a bound for it: a convex loss lies above its tangent, so P changes by no less than Ψ_j(τ_j).
    fn lowest(&self, j: usize) -> f64 {
        let (coordinate, direction) = (self.problem.coordinate(j), Direction::of(self.problem, &self.moments[j]));
        if direction.squares == 0.0 {
            0.0
        } else if self.problem.loss().is_quadratic() {
            let (c, q) = (direction.squares, -self.tau[j]);
            let b = coordinate.threshold_operator(c, q);
            b * (0.5 * c * b - q) + coordinate.value(b)
        } else {
            coordinate.psi(self.tau[j])
        }
    }

    /// P with the best coefficient for feature j, and that coefficient; `None` if P stays above the target.
    fn enter(&self, primal: &Primal<'_, '_>, j: usize, target: f64) -> Option<(f64, f64)> {
        let (coordinate, direction) = (self.problem.coordinate(j), Direction::of(self.problem, &self.moments[j]));
        if self.problem.loss().is_quadratic() {
            let value = coordinate.threshold_operator(direction.squares, -self.tau[j]);
            return Some((self.loss + self.penalty + self.lowest(j), value));
        }
        let mut column = vec![0.0; self.u.len()];
        primal.columns().write_dense(j, &mut column);
        let line = Line { removal: self, coordinate, column, sign: if self.tau[j] < 0.0 { 1.0 } else { -1.0 } };
        let rest = self.penalty + coordinate.l0;
        let curvature = direction.squares / self.problem.loss().mu() + 2.0 * coordinate.l2;
        let (value, size) = line.minimise(self.tau[j].abs() - coordinate.l1, curvature, target - rest)?;
        Some((value + rest, line.sign * size))
    }
}

/// τ = Xᵀα in blocks, with a look at the clock between them.
fn correlate(problem: &Problem<'_>, alpha: &[f64], monitor: &mut Monitor<'_>) -> Result<Vec<f64>, Halt> {
    let features: Vec<usize> = (0..problem.ncols()).collect();
    let mut tau = vec![0.0; features.len()];
    let per_column = problem.design().stored() / features.len() + 1;
    let block = (ENTRIES_PER_CHECK / per_column).max(1);
    for (features, tau) in features.chunks(block).zip(tau.chunks_mut(block)) {
        monitor.stop(0).map_or(Ok(()), Err)?;
        problem.design().correlate(features, alpha, tau)?;
    }
    monitor.passes += 1.0;
    Ok(tau)
}

/// H(m) = min_b Σ_i w_i ℓ(u_i + s m x_i + b, y_i) + λ1 m + λ2 m² for m ≥ 0: convex.
struct Line<'r, 'p, 'a> {
    removal: &'r Removal<'p, 'a>,
    coordinate: Coordinate,
    column: Vec<f64>,
    sign: f64,
}

/// H and H′ at m.
#[derive(Debug, Clone, Copy)]
struct Probe {
    m: f64,
    value: f64,
    slope: f64,
}

impl Probe {
    /// Where the tangents of two probes meet, and at what height: H is nowhere lower between them.
    fn crossing(self, other: Self) -> (f64, f64) {
        let rise = other.value - self.value + self.slope * self.m - other.slope * other.m;
        let m = rise / (self.slope - other.slope);
        (m, self.value + self.slope * (m - self.m))
    }
}

impl Line<'_, '_, '_> {
    fn probe(&self, m: f64) -> Probe {
        let (removal, problem) = (self.removal, self.removal.problem);
        let mut u = removal.u.clone();
        kernel::axpy(self.sign * m, &self.column, &mut u);
        let b = problem.best_intercept(&u, removal.intercept);
        let loss = problem.loss_sum(&u, b);
        let mut slopes = vec![0.0; u.len()];
        problem.derivatives(&u, b, &mut slopes);
        let (l1, l2) = (self.coordinate.l1, self.coordinate.l2);
        // The intercept is at its optimum, so it adds nothing to the slope.
        let slope = self.sign * kernel::dot(&self.column, &slopes) + l1 + 2.0 * l2 * m;
        Probe { m, value: loss + m * (l1 + l2 * m), slope }
    }

    /// min H and its minimiser, where H′(0) = −`pull` and H″ ≤ `curvature`; `None` once H is known to stay above the
    /// target.
    fn minimise(&self, pull: f64, curvature: f64, target: f64) -> Option<(f64, f64)> {
        let reach = if self.sign > 0.0 { self.coordinate.upper } else { -self.coordinate.lower };
        let mut low = Probe { m: 0.0, value: self.removal.loss, slope: -pull };
        let (mut high, mut best): (Option<Probe>, _) = (None, low);
        // The quadratic above H has its minimum at or before that of H.
        let mut m = (pull / curvature).min(reach);
        for step in 0..100 {
            let probe = self.probe(m);
            best = if probe.value < best.value { probe } else { best };
            if probe.slope > 0.0 {
                high = Some(probe);
            } else {
                low = probe;
            }
            let bound = self.bound(low, high, reach);
            if bound >= target {
                return None;
            }
            if low.slope == 0.0 || low.m == reach || best.value - bound <= LINE_TOLERANCE * best.value {
                break;
            }
            m = match high {
                None => (2.0 * m).min(reach),
                Some(high) if step % 2 == 0 => low.m - low.slope * (high.m - low.m) / (high.slope - low.slope),
                Some(high) => low.crossing(high).0,
            };
            if m <= low.m || high.is_some_and(|h| m >= h.m) {
                break;
            }
        }
        (best.m > 0.0).then_some((best.value, best.m))
    }

    /// A lower bound of H on [low, high], or on [low, reach] while no upper end is known.
    fn bound(&self, low: Probe, high: Option<Probe>, reach: f64) -> f64 {
        match high {
            Some(high) => low.crossing(high).1,
            None if low.slope == 0.0 => low.value,
            None => {
                let curved = low.value - low.slope * low.slope / (4.0 * self.coordinate.l2);
                curved.max(low.value + low.slope * (reach - low.m))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::{Monitor, Options};
    use crate::design::Dense;
    use crate::loss::Loss;
    use crate::{Bounds, Penalty};

    const N: usize = 14;
    const P: usize = 4;

    /// The entry of each feature after the removal of feature 0, against a fine grid of P itself.
    fn check(problem: &Problem<'_>) {
        let options = Options::default();
        let mut observer = ();
        let mut monitor = Monitor::new(&options, &mut observer);
        let mut point = Primal::new(problem, &[0, 1, 2, 3], &monitor).unwrap();
        point.set([0.4, 0.0, 0.0, -0.2].into_iter());
        let removal = Removal::new(problem, &point, 0, &mut monitor).unwrap();
        for j in [1, 2] {
            let value = |b: f64| point.clone_with(&[(0, 0.0), (j, b)]).values().0;
            let removed = value(0.0);
            let grid = (-400..=400).map(|k| value(f64::from(k) * 0.005)).fold(f64::INFINITY, f64::min);
            assert!(removed + removal.lowest(j) <= grid + 1e-12, "{:?}: the bound is no bound", problem.loss());
            let found = removal.enter(&point, j, removed);
            if grid < removed {
                let (objective, b) = found.expect("the grid has a better point");
                assert!(objective <= grid + 1e-12, "{:?}: {objective} {grid}", problem.loss());
                assert!((objective - value(b)).abs() < 1e-11, "{:?}: {objective} {}", problem.loss(), value(b));
                assert!(removal.enter(&point, j, objective - 1e-6).is_none_or(|e| e.0 >= objective - 1e-9));
            } else {
                assert!(found.is_none_or(|e| e.0 >= removed - 1e-12));
            }
        }
    }

    impl<'p, 'a> Primal<'p, 'a> {
        /// The point with some coefficients replaced.
        fn clone_with(&self, changes: &[(usize, f64)]) -> Self {
            let mut point = self.clone();
            changes.iter().for_each(|&(k, b)| point.replace(k, b));
            point.rebuild();
            point
        }
    }

    #[test]
    fn the_entering_coefficient_minimises_p() {
        let x: Vec<f64> = (0..N * P).map(|k| (k as f64 * 0.77).cos() + 0.2).collect();
        let x = Dense::new(N, P, x).unwrap();
        for loss in [Loss::Squared, Loss::Logistic, Loss::SquaredHinge, Loss::Huber { delta: 0.5 }] {
            for mask in 0..8 {
                let y: Vec<f64> = (0..N).map(|i| if (i * 3) % 5 < 2 { 1.0 } else { -1.0 }).collect();
                let bounds = if mask & 1 != 0 { Bounds::All(-0.25, 0.15) } else { Bounds::Free };
                let lambda2 = if mask & 4 != 0 { 0.0 } else { 0.1 };
                let problem = Problem::new(&x, y, Penalty::new(0.01, 0.05, lambda2).with_bounds(bounds)).unwrap();
                let problem = problem.with_loss(loss).unwrap().with_intercept(mask & 2 != 0);
                check(&problem);
            }
        }
    }
}
