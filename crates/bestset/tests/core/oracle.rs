//! The yardstick itself: the reference solver and the enumeration against closed forms and against each other.

use crate::common::{Case, Convex, Shape, assert_close, case, dual_value, enumerate, relaxed, rng};
use bestset::{Bounds, Penalty};

/// A squared-loss case on an orthonormal design, where the best subset is a separate decision for each feature.
fn orthonormal(y: &[f64], penalty: Penalty) -> Case {
    let n = y.len();
    let x: Vec<f64> = (0..n * n).map(|k| if k % (n + 1) == 0 { 1.0 } else { 0.0 }).collect();
    Case::dense(n, n, x, y.to_vec(), penalty)
}

#[test]
fn orthonormal_columns_decide_separately() {
    let y = [3.0, -1.0, 0.4, 2.0, -0.1];
    let penalty = Penalty::new(0.5, 0.3, 0.25).with_bounds(Bounds::All(-0.5, 1.0));
    let all = enumerate(&orthonormal(&y, penalty));
    let one = |y: f64| {
        let b = (y.signum() * (y.abs() - 0.3).max(0.0) / 1.5).clamp(-0.5, 1.0);
        let kept = 0.5 + 0.5 * (y - b).powi(2) + 0.3 * b.abs() + 0.25 * b * b;
        (0.5 * y * y, kept)
    };
    let expected: f64 = y.iter().map(|&y| one(y).0.min(one(y).1)).sum();
    assert_close(all.best, expected, 1e-12, &all);
    for (j, &yj) in y.iter().enumerate() {
        let rest = expected - one(yj).0.min(one(yj).1);
        assert_close(all.with[j], rest + one(yj).1, 1e-11, &j);
        assert_close(all.without[j], rest + one(yj).0, 1e-11, &j);
    }
    let mut gains: Vec<f64> = y.iter().map(|&y| (one(y).1 - one(y).0).min(0.0)).collect();
    gains.sort_by(f64::total_cmp);
    let zero: f64 = y.iter().map(|&y| one(y).0).sum();
    for k in 0..=5 {
        assert_close(all.sized[k], zero + gains[..k].iter().sum::<f64>(), 1e-11, &k);
    }
}

#[test]
fn ridge_on_two_columns_is_the_normal_equation() {
    let x = [1.0, 2.0, -1.0, 0.5, 0.3, -0.7, 2.0, 1.0];
    let y = [1.0, 0.2, -2.0, 1.5];
    let mut case = orthonormal(&y, Penalty::new(0.0, 0.0, 0.7));
    case.replace(4, x.to_vec());
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let (u, v) = (&x[..4], &x[4..]);
    let (a, b, d) = (dot(u, u) + 1.4, dot(u, v), dot(v, v) + 1.4);
    let (r, s) = (dot(u, &y), dot(v, &y));
    let determinant = a * d - b * b;
    let beta = [(d * r - b * s) / determinant, (a * s - b * r) / determinant];
    let all = enumerate(&case);
    for j in 0..2 {
        assert_close(all.coefficients.values[j], beta[j], 1e-9, &all);
    }
    assert_close(all.best, 0.5 * dot(&y, &y) - 0.5 * (beta[0] * r + beta[1] * s), 1e-12, &all);
}

/// The reference relaxation is a relaxation, its dual is the dual, and the two meet; over the whole product.
#[test]
fn the_relaxation_is_below_the_best_subset_and_meets_its_dual() {
    let mut rng = rng(1);
    let shape = Shape { attained: true, ..Shape::new(3..=14, 1..=6) };
    let (mut met, mut exact) = (0, 0);
    for trial in 0..3000 {
        let case = case(&mut rng, &shape);
        let all = enumerate(&case);
        let model = case.model();
        let envelopes: Vec<Convex> = (0..case.p).map(|j| Convex::envelope(&case.penalty, j)).collect();
        let relaxed = relaxed(&case);
        let scale = case.null_loss() + all.best.abs();
        assert!(relaxed.value <= all.best + 1e-11 * scale, "{trial}: {} > {}", relaxed.value, all.best);
        // With little or no λ2 a far bound multiplies what the reference left of τ.
        let near = |j: usize| {
            let (lower, upper) = case.penalty.bounds.at(j);
            upper.max(-lower) <= 10.0 * case.typical_size(j)
        };
        if (0..case.p).all(|j| case.penalty.lambda2 > 1e-3 * case.norm(j).powi(2)) || (0..case.p).all(near) {
            let dual = dual_value(&model, &case.penalty, &relaxed.alpha);
            assert_close(dual, relaxed.value, 2e-11 * scale, &trial);
            met += 1;
        }
        // MATH §4: without a coordinate strictly between 0 and the knee the relaxation is exact.
        let fractional = |j: usize| {
            let (m, knee) = (relaxed.beta[j].abs(), envelopes[j].knee[usize::from(relaxed.beta[j] > 0.0)]);
            m > 0.0 && m < knee
        };
        if !(0..case.p).any(fractional) {
            assert_close(relaxed.value, all.best, 3e-11 * scale, &("exact", trial));
            exact += 1;
        }
        let least = all.sized[case.p];
        assert_eq!(least, all.best);
        assert!(all.sized.windows(2).all(|w| w[1] <= w[0]));
        assert_eq!(all.best, (0..case.p).map(|j| all.with[j].min(all.without[j])).fold(f64::INFINITY, f64::min));
    }
    assert!(met > 500 && exact > 500, "{met} {exact}");
}

/// The largest number of features that is enumerated: 32,768 fits, against the bound and the plain objective.
#[test]
fn fifteen_features() {
    let mut rng = rng(2);
    let case = case(&mut rng, &Shape { attained: true, certified: true, wild: false, ..Shape::new(20..=20, 15..=15) });
    let all = enumerate(&case);
    case.with_problem(|problem| {
        assert_close(problem.objective(&all.coefficients).unwrap(), all.best, 1e-11 * all.best, &all);
        let c = problem.certify(&all.coefficients, &[]).unwrap();
        assert!(c.lower_bound <= all.best, "{c:?}");
    });
}
