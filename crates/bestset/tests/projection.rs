//! The projection onto the dual domain (MATH §2, §5).

use bestset::design::Dense;
use bestset::{Loss, Penalty, Problem};

/// Σ (a_i − α_i)² / w_i of MATH §5's norm.
fn distance(a: &[f64], alpha: &[f64], w: &[f64]) -> f64 {
    (0..a.len()).map(|i| (a[i] - alpha[i]).powi(2) / w[i]).sum()
}

#[test]
fn projection_is_feasible_and_nearest_in_the_weighted_norm() {
    let (n, w) = (6, [0.5, 2.0, 1.0, 3.0, 1e-3, 1.0]);
    let x = Dense::new(n, 1, vec![1.0; n]).unwrap();
    let y = [1.0, -1.0, 1.0, -1.0, 1.0, -1.0];
    for loss in [Loss::Squared, Loss::Logistic, Loss::SquaredHinge, Loss::Huber { delta: 0.7 }] {
        let problem = Problem::new(&x, &y[..], Penalty::new(1.0, 0.0, 1.0)).unwrap();
        let problem = problem.with_loss(loss).unwrap().with_weights(&w[..]).unwrap().with_intercept(true);
        for shift in [-3.0, -0.2, 0.0, 0.4, 50.0] {
            let alpha: Vec<f64> = (0..n).map(|i| shift + (i as f64 * 1.7).sin()).collect();
            let mut a = alpha.clone();
            problem.project(&mut a);
            assert!(problem.dual_value(&a, &[], &[]).is_finite(), "{loss:?} {shift}");
            // Moving along any feasible pair direction must not bring it nearer.
            for (i, k) in (0..n).flat_map(|i| (0..n).map(move |k| (i, k))).filter(|p| p.0 != p.1) {
                let mut moved = a.clone();
                (moved[i], moved[k]) = (a[i] + 1e-6, a[k] - 1e-6);
                if problem.dual_value(&moved, &[], &[]).is_finite() {
                    let nearest = distance(&a, &alpha, &w);
                    assert!(distance(&moved, &alpha, &w) >= nearest - 1e-13 * nearest, "{loss:?} {shift}");
                }
            }
        }
    }
}
