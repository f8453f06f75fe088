//! The largest diagonal below a matrix: max Σ v_jd_j over d ≥ 0 with Π − diag(d) ⪰ 0 (MATH 11.9, 11.10).

use crate::exact::curvature::worth::Worth;
use crate::exact::tuning::Tuning;
use faer::linalg::solvers::{DenseSolveCore, Llt, Solve};
use faer::{Mat, Side};

/// max Σ v_jd_j over d ≥ 0 with Π − diag(d) ⪰ 0 (MATH 11.9, 11.10), nearly: Newton steps on Σ v_jd_j + μ (log det(Π − diag d) +
/// Σ log d_j) for a shrinking μ, always strictly inside, so that it may be stopped at any time. From `before`, what was taken of
/// another Π, where most of that is known and inside.
pub fn largest_diagonal(
    rest: &Mat<f64>,
    worth: &Worth,
    before: &[f64],
    tuning: &Tuning,
    stop: impl Fn() -> bool,
) -> Vec<f64> {
    let Some((mut inner, away)) = from_before(rest, before, tuning).or_else(|| from_inverse(rest)) else {
        return vec![0.0; rest.ncols()];
    };
    let mut mu = away * worth.mean(&inner.d);
    for _ in 0..tuning.barrier_steps {
        if stop() {
            break;
        }
        let Some(step) = inner.newton_step(worth, mu) else { break };
        let Some((next, length)) = inner.along(rest, &step) else { break };
        inner = next;
        let least = tuning.barrier_left * worth.mean(&inner.d);
        if length == 1.0 && mu <= 1.01 * least {
            break;
        }
        mu = (mu * if length > 0.4 { 0.25 } else { 0.7 }).max(least);
    }
    inner.d
}

/// A diagonal strictly inside.
struct Inner {
    d: Vec<f64>,
    /// (Π − diag d)⁻¹.
    inverse: Mat<f64>,
}

impl Inner {
    fn new(rest: &Mat<f64>, d: Vec<f64>) -> Option<Self> {
        let inverse = inverse_below(rest, &d)?;
        Some(Self { d, inverse })
    }

    /// The Newton step of the barrier: with the inverse N, gradient v − μ N_jj + μ/d, curvature μ (N∘N + 1/d²).
    fn newton_step(&self, worth: &Worth, mu: f64) -> Option<Mat<f64>> {
        let Self { d, inverse } = self;
        let rises = worth.rises(d);
        let mut step = Mat::from_fn(d.len(), 1, |a, _| rises[a] / mu - inverse[(a, a)] + 1.0 / d[a]);
        let mut hessian = inverse.clone();
        for (a, d) in d.iter().enumerate() {
            hessian.col_as_slice_mut(a).iter_mut().for_each(|x| *x *= *x);
            hessian[(a, a)] += 1.0 / (d * d);
        }
        worth.add_falls(&mut hessian, mu);
        Llt::new(hessian.as_ref(), Side::Lower).ok()?.solve_in_place(step.as_mut());
        Some(step)
    }

    /// The point at the step, or at the first of its halves that is inside, and the part of the step that was taken.
    fn along(&self, rest: &Mat<f64>, step: &Mat<f64>) -> Option<(Self, f64)> {
        let mut length = 1.0f64;
        loop {
            let d: Vec<f64> = (0..self.d.len()).map(|a| self.d[a] + length * step[(a, 0)]).collect();
            if d.iter().all(|x| *x > 0.0)
                && let Some(next) = Self::new(rest, d)
            {
                return Some((next, length));
            }
            length *= 0.5;
            if length < 1e-3 {
                return None;
            }
        }
    }
}

/// (Π − diag(d))⁻¹, where that is positive definite.
fn inverse_below(rest: &Mat<f64>, d: &[f64]) -> Option<Mat<f64>> {
    let mut matrix = rest.clone();
    (0..d.len()).for_each(|a| matrix[(a, a)] -= d[a]);
    Some(Llt::new(matrix.as_ref(), Side::Lower).ok()?.inverse())
}

/// The start from what was taken before, and the part of the worth that the barrier costs at first.
fn from_before(rest: &Mat<f64>, before: &[f64], tuning: &Tuning) -> Option<(Inner, f64)> {
    if 2 * before.iter().filter(|d| **d > 0.0).count() <= before.len() {
        return None;
    }
    let start = |(a, &d): (usize, &f64)| if d > 0.0 { d } else { tuning.barrier_fresh * rest[(a, a)] };
    let inner = Inner::new(rest, before.iter().enumerate().map(start).collect())?;
    Some((inner, tuning.barrier_away * tuning.barrier_left))
}

/// diag(1/(Π⁻¹)_jj) / m is inside, Π ⪰ (1/m) diag(1/(Π⁻¹)_jj), and a larger share may be.
fn from_inverse(rest: &Mat<f64>) -> Option<(Inner, f64)> {
    let m = rest.ncols();
    let inverse = inverse_below(rest, &vec![0.0; m])?;
    [0.5, 0.2, 0.08].into_iter().chain([0.5 / m as f64]).find_map(|share| {
        let d: Vec<f64> = (0..m).map(|a| share / inverse[(a, a)]).collect();
        Some((Inner::new(rest, d)?, 1.0))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exact::tests::numbers;

    /// Strictly inside from any start, whatever was taken before; within what the barrier leaves of the optimum, which for
    /// any Z ⪰ 0 with diag(Z) ≥ v is at most tr(ΠZ): here Z of the barrier, scaled so that its diagonal is.
    #[test]
    fn the_diagonal_is_inside_and_nearly_the_largest() {
        let (tuning, mut warm) = (Tuning::default(), 0);
        for trial in 0..60u64 {
            let mut draw = numbers(trial + 1);
            let (m, n) = (1 + trial as usize % 12, 30);
            let x = Mat::from_fn(n, m, |_, _| draw());
            let rest = x.transpose() * &x;
            let weights: Vec<f64> = (0..m).map(|_| 0.02 + draw().abs()).collect();
            let cold = largest_diagonal(&rest, &Worth::linear(weights.clone()), &vec![0.0; m], &tuning, || false);
            let shrunk: Vec<f64> = cold.iter().map(|d| 0.9 * d).collect();
            let beyond: Vec<f64> = cold.iter().map(|d| 3.0 * d + 1.0).collect();
            for before in [vec![0.0; m], shrunk, beyond] {
                let d = largest_diagonal(&rest, &Worth::linear(weights.clone()), &before, &tuning, || false);
                warm += usize::from(from_before(&rest, &before, &tuning).is_some());
                assert!(d.iter().all(|d| *d > 0.0), "{trial}: {d:?}");
                let mut z = inverse_below(&rest, &d).expect("inside");
                let scales: Vec<f64> = (0..m).map(|a| (weights[a] / z[(a, a)]).sqrt()).collect();
                z = Mat::from_fn(m, m, |a, b| z[(a, b)] * scales[a] * scales[b]);
                let most: f64 = (0..m).map(|a| (0..m).map(|b| rest[(a, b)] * z[(a, b)]).sum::<f64>()).sum();
                let found: f64 = weights.iter().zip(&d).map(|(v, d)| v * d).sum();
                assert!(
                    found <= most && found >= (1.0 - 1.5 * tuning.barrier_left) * most,
                    "{trial}: {found} of {most}"
                );
            }
        }
        assert_eq!(warm, 60, "a start near the boundary is used, one beyond it is not");
    }
}
