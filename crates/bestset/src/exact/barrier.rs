//! The largest diagonal below a matrix: max Σ w_j d_j over d ≥ 0 with S − diag(d) ⪰ 0.

use faer::linalg::solvers::{DenseSolveCore, Llt, Solve};
use faer::{Mat, Side};

/// Newton steps on the barrier, each after the barrier shrank.
const STEPS: usize = 9;

/// Part of Σ w_j d_j that the barrier may still cost at the end: what is left inside the boundary is of use to the rules.
const LEFT: f64 = 0.2;

/// The same at the start from a diagonal that is known, in units of the last.
const AWAY: f64 = 4.0;

/// Part of its own curvature that a coefficient starts from which took nothing before.
const FRESH: f64 = 0.01;

/// max Σ w_j d_j over d ≥ 0 with S − diag(d) ⪰ 0, nearly: Newton steps on Σ w_j d_j + μ (log det(S − diag d) + Σ log d_j)
/// for a shrinking μ, always strictly inside, so that it may be stopped at any time. From `before`, what was taken of another S, where most of that is known and inside.
pub fn largest_diagonal(s: &Mat<f64>, w: &[f64], before: &[f64], stop: impl Fn() -> bool) -> Vec<f64> {
    let m = w.len();
    let worth = |d: &[f64]| w.iter().zip(d).map(|(w, d)| w * d).sum::<f64>() / m as f64;
    let Some((mut d, mut inverse, away)) = from_before(s, before).or_else(|| from_inverse(s)) else {
        return vec![0.0; m];
    };
    let mut mu = away * worth(&d);
    for _ in 0..STEPS {
        if stop() {
            break;
        }
        // Gradient w − μ M⁻¹_jj + μ/d, curvature μ (M⁻¹∘M⁻¹ + 1/d²).
        let mut step = Mat::from_fn(m, 1, |a, _| w[a] / mu - inverse[(a, a)] + 1.0 / d[a]);
        let mut hessian = inverse.clone();
        for (a, d) in d.iter().enumerate() {
            hessian.col_as_slice_mut(a).iter_mut().for_each(|x| *x *= *x);
            hessian[(a, a)] += 1.0 / (d * d);
        }
        let Ok(factor) = Llt::new(hessian.as_ref(), Side::Lower) else { break };
        factor.solve_in_place(step.as_mut());
        let mut t = 1.0f64;
        let moved = loop {
            let trial: Vec<f64> = (0..m).map(|a| d[a] + t * step[(a, 0)]).collect();
            if trial.iter().all(|x| *x > 0.0)
                && let Some(next) = inverse_below(s, &trial)
            {
                break Some((trial, next));
            }
            t *= 0.5;
            if t < 1e-3 {
                break None;
            }
        };
        let Some((trial, next)) = moved else { break };
        (d, inverse) = (trial, next);
        let least = LEFT * worth(&d);
        if t == 1.0 && mu <= 1.01 * least {
            break;
        }
        mu = (mu * if t > 0.4 { 0.25 } else { 0.7 }).max(least);
    }
    d
}

/// (S − diag(d))⁻¹, where that is positive definite.
fn inverse_below(s: &Mat<f64>, d: &[f64]) -> Option<Mat<f64>> {
    let mut matrix = s.clone();
    (0..d.len()).for_each(|a| matrix[(a, a)] -= d[a]);
    Some(Llt::new(matrix.as_ref(), Side::Lower).ok()?.inverse())
}

/// The start from what was taken before, with its inverse and the part of the worth that the barrier costs at first.
fn from_before(s: &Mat<f64>, before: &[f64]) -> Option<(Vec<f64>, Mat<f64>, f64)> {
    if 2 * before.iter().filter(|d| **d > 0.0).count() <= before.len() {
        return None;
    }
    let d: Vec<f64> = before.iter().enumerate().map(|(a, &d)| if d > 0.0 { d } else { FRESH * s[(a, a)] }).collect();
    let inverse = inverse_below(s, &d)?;
    Some((d, inverse, AWAY * LEFT))
}

/// diag(1/(S⁻¹)_jj) / m is inside, S ⪰ (1/m) diag(1/(S⁻¹)_jj), and a larger share may be.
fn from_inverse(s: &Mat<f64>) -> Option<(Vec<f64>, Mat<f64>, f64)> {
    let m = s.ncols();
    let inverse = inverse_below(s, &vec![0.0; m])?;
    [0.5, 0.2, 0.08].into_iter().chain([0.5 / m as f64]).find_map(|share| {
        let d: Vec<f64> = (0..m).map(|a| share / inverse[(a, a)]).collect();
        let next = inverse_below(s, &d)?;
        Some((d, next, 1.0))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exact::far::tests::numbers;

    /// Strictly inside from any start, whatever was taken before; within [`LEFT`] of the optimum, which for any Z ⪰ 0 with
    /// diag(Z) ≥ w is at most tr(SZ): here Z of the barrier, scaled so that its diagonal is.
    #[test]
    fn the_diagonal_is_inside_and_nearly_the_largest() {
        let mut warm = 0;
        for trial in 0..60u64 {
            let mut draw = numbers(trial + 1);
            let (m, n) = (1 + trial as usize % 12, 30);
            let x = Mat::from_fn(n, m, |_, _| draw());
            let s = x.transpose() * &x;
            let w: Vec<f64> = (0..m).map(|_| 0.02 + draw().abs()).collect();
            let cold = largest_diagonal(&s, &w, &vec![0.0; m], || false);
            let shrunk: Vec<f64> = cold.iter().map(|d| 0.9 * d).collect();
            let beyond: Vec<f64> = cold.iter().map(|d| 3.0 * d + 1.0).collect();
            for before in [vec![0.0; m], shrunk, beyond] {
                let d = largest_diagonal(&s, &w, &before, || false);
                warm += usize::from(from_before(&s, &before).is_some());
                assert!(d.iter().all(|d| *d > 0.0), "{trial}: {d:?}");
                let mut z = inverse_below(&s, &d).expect("inside");
                let scales: Vec<f64> = (0..m).map(|a| (w[a] / z[(a, a)]).sqrt()).collect();
                z = Mat::from_fn(m, m, |a, b| z[(a, b)] * scales[a] * scales[b]);
                let most: f64 = (0..m).map(|a| (0..m).map(|b| s[(a, b)] * z[(a, b)]).sum::<f64>()).sum();
                let found: f64 = w.iter().zip(&d).map(|(w, d)| w * d).sum();
                assert!(found <= most && found >= (1.0 - 1.5 * LEFT) * most, "{trial}: {found} of {most}");
            }
        }
        assert_eq!(warm, 60, "a start near the boundary is used, one beyond it is not");
    }
}
