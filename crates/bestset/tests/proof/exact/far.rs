//! Features far from their thresholds, and targets far from zero.

use crate::common::{ChaCha8Rng, RngExt, normal, pick, power, rng};
use bestset::design::Dense;
use bestset::{Loss, Method, Options, Penalty, Problem, solve};

/// Dear features near their thresholds and more cheap ones, far from theirs, than memory holds: the best subsets after the first
/// have cheap features, and what is decided of the dear ones says nothing about them.
#[test]
fn the_best_subsets_are_looked_for_among_far_features_too() {
    let mut rng = rng(905);
    let (n, dear, cheap) = (30, 300, 4100);
    let y: Vec<f64> = (0..n).map(|_| normal(&mut rng)).collect();
    let length = y.iter().map(|y| y * y).sum::<f64>().sqrt();
    let column = |share: f64, rng: &mut ChaCha8Rng| -> Vec<f64> {
        let noise: Vec<f64> = (0..n).map(|_| normal(rng)).collect();
        let along = noise.iter().zip(&y).map(|(e, y)| e * y).sum::<f64>() / (length * length);
        noise.iter().zip(&y).map(|(e, y)| 0.1 * (e - along * y) + share * y / (length * length)).collect()
    };
    // x_jᵀy = share: thresholds are 2√(λ0 λ2) = 2 for the dear ones and 0.2 for the cheap.
    let x: Vec<f64> = (0..dear + cheap)
        .flat_map(|j| if j < dear { column(rng.random_range(0.9..1.1), &mut rng) } else { column(0.01, &mut rng) })
        .collect();
    let prices = (0..dear + cheap).map(|j| if j < dear { 1.0 } else { 0.01 }).collect();
    let design = Dense::new(n, dear + cheap, x).unwrap();
    let penalty = Penalty::new(1.0, 0.0, 1.0).with_price(prices);
    let problem = Problem::new(&design, y, penalty).unwrap();
    let options = Options { method: Method::Exact, top: 3, max_nodes: Some(400), ..Options::default() };
    let found = solve(&problem, &options).unwrap();
    let proved: Vec<&[usize]> =
        found.ranked.iter().filter(|r| r.proved).map(|r| r.coefficients.support.as_slice()).collect();
    let say: Vec<_> = found.ranked.iter().map(|r| (r.objective, r.coefficients.support.clone(), r.proved)).collect();
    assert!(proved.iter().all(|s| s.iter().all(|&j| j >= dear)), "{} {say:?}", found.status);
}

/// Targets 10^8 to 10^14 times their spread from zero: P keeps the digits that y − b has, and no claim holds for less than the
/// optimum, which is that of the targets less a constant. What the last digit of the intercept costs is part of P.
#[test]
fn targets_far_from_zero_keep_their_digits() {
    let mut rng = rng(614);
    let mut proved = [0; 7];
    for trial in 0..210 {
        let (n, p) = (rng.random_range(6..20), 5);
        let x: Vec<f64> = (0..n * p).map(|_| normal(&mut rng)).collect();
        let from = power(&mut rng, 8.0, 8.5) * 10f64.powi(trial as i32 % 7) * pick(&mut rng, &[-1.0, 1.0]);
        let far: Vec<f64> = (0..n).map(|i| x[i] + 0.5 * normal(&mut rng) + from).collect();
        // Exact, since all are nearly the same number.
        let near: Vec<f64> = far.iter().map(|y| y - far[0]).collect();
        let design = Dense::new(n, p, x).unwrap();
        let problem = |y: &[f64]| {
            let loss = if trial % 3 == 0 { Loss::Huber { delta: 0.4 } } else { Loss::Squared };
            let problem = Problem::new(&design, y.to_vec(), Penalty::new(0.3, 0.0, 0.05)).unwrap();
            problem.with_intercept(true).with_loss(loss).unwrap()
        };
        let options = Options { gap: 1e-12, gap_absolute: 0.0, ..Options::with_method(Method::Exact) };
        let (best, found) = (solve(&problem(&near), &options).unwrap(), solve(&problem(&far), &options).unwrap());
        let (low, high) = (best.certificate.lower_bound, best.objective());
        let (bound, objective) = (found.certificate.lower_bound, found.objective());
        let context = format!("{trial}: {from:e}, {bound} ≤ {low}..{high} ≤ {objective}");
        assert!(high - low <= 1e-9 * high, "{context}");
        assert!(bound <= high * (1.0 + 1e-12), "{context}");
        assert!(objective >= low * (1.0 - 1e-12), "{context}");
        // The intercept is off by half its last digit or a little more.
        let digit = f64::EPSILON * found.coefficients.intercept.abs();
        assert!(objective <= high * (1.0 + 1e-9) + n as f64 * digit * digit, "{context}");
        proved[trial % 7] += usize::from(found.certificate.relative_gap() <= 1e-6);
    }
    assert_eq!(proved[..5], [30; 5], "{proved:?}");
}
