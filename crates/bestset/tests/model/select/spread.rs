//! Huber's loss and the units of y.

use super::{data, folded, select};
use crate::common::{assert_close, normal, rng, share};
use bestset::criteria::Criterion;
use bestset::cv::Rule;
use bestset::design::Dense;
use bestset::select::{How, Samples, Selection, Setup};
use bestset::{Coefficients, Loss};

fn usual() -> Setup {
    Setup { loss: Loss::Huber { delta: Loss::USUAL_DELTA }, delta_in_spreads: true, ..Setup::default() }
}

/// δ that a setup comes to.
fn delta(x: &Dense<'_>, y: &[f64], setup: &Setup) -> f64 {
    let samples = Samples { x, y, weights: None, offset: None };
    setup.pose(&samples, |posed| Ok::<_, bestset::Error>(posed.problem.loss().delta().unwrap())).unwrap()
}

fn scaled(v: &[f64], factor: f64) -> Vec<f64> {
    v.iter().map(|v| v * factor).collect()
}

fn assert_scaled(plain: &Coefficients, other: &Coefficients, factor: f64, label: &str) {
    assert_eq!(plain.support, other.support, "{label}");
    for (a, b) in plain.values.iter().zip(&other.values) {
        assert_close(*b / factor, *a, 1e-6 * a.abs(), &label);
    }
    assert_close(other.intercept / factor, plain.intercept, 1e-6 * plain.intercept.abs().max(1.0), &label);
}

/// y in other units: the same features, and coefficients in these units.
#[test]
fn the_units_of_y_do_not_matter() {
    for seed in 0..share(4) as u64 {
        let (n, p) = [(60, 20), (40, 30)][seed as usize % 2];
        let (values, mut y) = data(seed, n, p, 0.5);
        (0..n / 15).for_each(|i| y[i] += 40.0);
        let x = Dense::new(n, p, values).unwrap();
        let hows = [Selection::default().how, How::Criterion(Criterion::Bic), folded(Rule::Min)];
        for how in &hows[..if seed == 0 { 3 } else { 1 }] {
            let options = Selection { how: how.clone(), prove: bestset::select::Prove::No, ..Selection::default() };
            let (_, plain, _) = select(&x, &y, &usual(), &options);
            assert!(!plain.support.is_empty());
            for factor in [1000.0, 0.037] {
                let (_, other, _) = select(&x, &scaled(&y, factor), &usual(), &options);
                assert_scaled(&plain, &other, factor, &format!("{seed} {how:?} {factor}"));
                // δ that is given in the units of y is left as it is.
                let own = delta(&x, &y, &usual());
                let given = |delta: f64| Setup { loss: Loss::Huber { delta }, ..Setup::default() };
                let (_, same, _) = select(&x, &scaled(&y, factor), &given(own * factor), &options);
                assert_scaled(&plain, &same, factor, &format!("{seed} {how:?} {factor} given"));
            }
        }
    }
}

/// The spread is that of the errors, not of y, whatever a few outliers and the share that features explain.
#[test]
fn the_spread_is_that_of_the_errors() {
    for (seed, signal) in [(1, 0.5), (2, 3.0), (3, 30.0)] {
        let (n, p, mut rng) = (200, 20, rng(seed));
        let x: Vec<f64> = (0..n * p).map(|_| normal(&mut rng)).collect();
        let error = |i: usize, e: f64| if i < 10 { 500.0 } else { e };
        let y: Vec<f64> =
            (0..n).map(|i| signal * (x[3 * n + i] - x[11 * n + i]) + error(i, normal(&mut rng))).collect();
        let x = Dense::new(n, p, x).unwrap();
        let spread = delta(&x, &y, &usual()) / Loss::USUAL_DELTA;
        // What the ridge takes from large coefficients is left in the residuals.
        assert!((0.8..2.0).contains(&spread), "{signal}: {spread}");
        let (_, found, _) = select(&x, &y, &usual(), &Selection::default());
        assert_eq!(found.support, [3, 11], "{signal}");
        assert!(
            found.values.iter().all(|b| (b.abs() / signal - 1.0).abs() < 0.05 + 0.5 / signal),
            "{signal}: {found:?}"
        );
    }
}

/// Weights that are counts are rows that come so often; targets that hardly vary, or not at all, have a δ all the same.
#[test]
fn weights_and_targets_without_spread() {
    let (n, p) = (40, 8);
    let (values, y) = data(3, n, p, 0.3);
    let x = Dense::new(n, p, values.clone()).unwrap();
    let weights: Vec<f64> = (0..n).map(|i| (i % 3) as f64).collect();
    let rows: Vec<usize> = (0..n).flat_map(|i| std::iter::repeat_n(i, i % 3)).collect();
    let repeated = |v: &[f64]| rows.iter().map(|&i| v[i]).collect::<Vec<f64>>();
    let long: Vec<f64> = (0..p).flat_map(|j| repeated(&values[j * n..(j + 1) * n])).collect();
    let long = Dense::new(rows.len(), p, long).unwrap();
    let samples = Samples { x: &x, y: &y, weights: Some(&weights), offset: None };
    let weighted = usual().pose(&samples, |posed| Ok::<_, bestset::Error>(posed.problem.loss().delta().unwrap()));
    let own = delta(&long, &repeated(&y), &usual());
    assert_close(weighted.unwrap(), own, 1e-9 * own, &"weighted");
    assert_eq!(delta(&x, &[3.3; 40], &usual()), Loss::USUAL_DELTA);
    let mut few = vec![0.0; n];
    few[..6].fill(2.0);
    assert!(delta(&x, &few, &usual()) > 0.0);
    // What is wrong with the samples is said as ever.
    let bad = Samples { x: &x, y: &y[1..], weights: None, offset: None };
    assert!(usual().pose(&bad, |_| Ok::<_, bestset::Error>(())).is_err());
}

/// A δ of the user's own, meant as least squares or as the sum of absolute residuals, says nothing of the spread by which criteria judge.
#[test]
fn criteria_know_the_spread_whatever_delta_is() {
    let (n, p, mut rng) = (200, 20, rng(4));
    let x: Vec<f64> = (0..n * p).map(|_| normal(&mut rng)).collect();
    let y: Vec<f64> = (0..n).map(|i| x[3 * n + i] - x[11 * n + i] + 2.0 * normal(&mut rng)).collect();
    let x = Dense::new(n, p, x).unwrap();
    for criterion in [Criterion::Ebic { gamma: 1.0 }, Criterion::Bic] {
        let options =
            Selection { how: How::Criterion(criterion), prove: bestset::select::Prove::No, ..Selection::default() };
        for share in [1e6, 100.0, 5.0, 1.0, 0.2] {
            let given = Setup { loss: Loss::Huber { delta: 2.0 * share }, ..Setup::default() };
            let (_, found, _) = select(&x, &y, &given, &options);
            assert_eq!(found.support, [3, 11], "{criterion:?} {share}");
        }
    }
    // Outliers are errors of least squares, to its criterion as well: it takes no more than of y without a word of Huber.
    let mut wild = y.clone();
    (0..8).for_each(|i| wild[i] += 60.0);
    let (_, squared, _) = select(&x, &wild, &Setup::default(), &Selection::default());
    let given = Setup { loss: Loss::Huber { delta: 1e6 }, ..Setup::default() };
    let (_, found, _) = select(&x, &wild, &given, &Selection::default());
    assert!(found.support.len() <= squared.support.len() + 1, "{found:?} {squared:?}");
    let (_, robust, _) = select(&x, &wild, &usual(), &Selection::default());
    assert_eq!(robust.support, [3, 11]);
    // The δ that was estimated, given, is the same problem with the same criteria, to the last digit.
    let along = |setup: &Setup| {
        let samples = Samples { x: &x, y: &y, weights: None, offset: None };
        setup.pose(&samples, |posed| {
            let path = posed.path(&Selection::default())?;
            Criterion::Bic.along(&posed.problem, &path)
        })
    };
    let given = Setup { loss: Loss::Huber { delta: delta(&x, &y, &usual()) }, ..Setup::default() };
    assert_eq!(along(&usual()).unwrap(), along(&given).unwrap());
}
