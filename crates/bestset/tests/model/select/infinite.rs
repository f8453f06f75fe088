//! Coefficients without an end, where nothing shrinks them: said where the likelihood has no maximum, and only there.

use super::{Samples, Selection, Setup};
use crate::common::{normal, rng};
use bestset::design::Dense;
use bestset::select::{How, Prove, Remark};
use bestset::{Bounds, Loss, Survival, Ties};

/// Three columns, the last of them zero or one where given.
fn columns(seed: u64, n: usize, last: Option<&dyn Fn(usize) -> bool>) -> Vec<f64> {
    let mut rng = rng(seed);
    let mut x: Vec<f64> = (0..3 * n).map(|_| normal(&mut rng)).collect();
    if let Some(last) = last {
        (0..n).for_each(|i| x[2 * n + i] = f64::from(u8::from(last(i))));
    }
    x
}

/// What is said of the fit on all columns.
fn said(x: Vec<f64>, y: &[f64], setup: Setup) -> Option<Vec<usize>> {
    let x = Dense::new(y.len(), 3, x).unwrap();
    let samples = Samples { x: &x, y, weights: None, offset: None };
    let options = Selection { how: How::Price(0.0), prove: Prove::No, ..Selection::default() };
    let found = setup.pose(&samples, |posed| posed.select(&options, &mut ())).unwrap();
    found
        .remarks
        .into_iter()
        .find_map(|remark| if let Remark::Infinite(features) = remark { Some(features) } else { None })
}

fn setup(loss: Loss, lambda2: f64) -> Setup {
    Setup { loss, lambda2: Some(lambda2), ..Setup::default() }
}

#[test]
fn classes_told_apart_perfectly_or_in_part() {
    let n = 60;
    for seed in 0..8 {
        let (x, mut rng) = (columns(seed, n, None), rng(100 + seed));
        let sign = |is: bool| if is { 1.0 } else { -1.0 };
        let apart: Vec<f64> = (0..n).map(|i| sign(x[i] > 0.1)).collect();
        let mixed: Vec<f64> = (0..n).map(|i| sign(x[i] + 2.0 * normal(&mut rng) > 0.1)).collect();
        let found = said(x.clone(), &apart, setup(Loss::Logistic, 0.0));
        assert!(found.is_some_and(|features| features.contains(&0)), "seed {seed}");
        assert_eq!(said(x.clone(), &apart, setup(Loss::Logistic, 1e-3)), None, "seed {seed}");
        let bounded = Setup { bounds: Bounds::All(-0.5, 0.5), ..setup(Loss::Logistic, 0.0) };
        assert_eq!(said(x.clone(), &apart, bounded), None, "seed {seed}");
        assert_eq!(said(x, &mixed, setup(Loss::Logistic, 0.0)), None, "seed {seed}");
        // Half of one class alone has the last column: its coefficient is infinite, the others are not.
        let some = columns(seed, n, Some(&|i| mixed[i] > 0.0 && i % 2 == 0));
        assert_eq!(said(some, &mixed, setup(Loss::Logistic, 0.0)), Some(vec![2]), "seed {seed}");
    }
}

/// Where the loss has come down to zero, curvature has too; and wide bounds are bounds.
#[test]
fn classes_far_apart_and_wide_bounds() {
    let n = 40;
    for (seed, scale) in [1.0, 1e3, 1e6].into_iter().enumerate() {
        let mut x = columns(seed as u64, n, None);
        (0..n).for_each(|i| x[i] = scale * (i as f64 - 0.5 * (n - 1) as f64));
        let apart: Vec<f64> = (0..n).map(|i| if 2 * i < n { -1.0 } else { 1.0 }).collect();
        let raw = Setup { scale: bestset::select::Scale::None, ..setup(Loss::Logistic, 0.0) };
        assert!(said(x.clone(), &apart, raw.clone()).is_some_and(|features| features.contains(&0)), "{scale}");
        let bounded = Setup { bounds: Bounds::All(-1000.0, 1000.0), ..raw };
        assert_eq!(said(x, &apart, bounded), None, "{scale}");
    }
}

#[test]
fn counts_that_are_zero_wherever_a_column_is_one() {
    let n = 60;
    for seed in 0..8 {
        let mut rng = rng(200 + seed);
        let y: Vec<f64> =
            (0..n).map(|i| if i % 3 == 0 { 0.0 } else { (1.0 + normal(&mut rng)).exp().floor() }).collect();
        let x = columns(seed, n, Some(&|i| i % 6 == 0));
        assert_eq!(said(x.clone(), &y, setup(Loss::Poisson, 0.0)), Some(vec![2]), "seed {seed}");
        assert_eq!(said(x, &y, setup(Loss::Poisson, 1e-3)), None, "seed {seed}");
        assert_eq!(said(columns(seed, n, Some(&|i| i % 5 == 0)), &y, setup(Loss::Poisson, 0.0)), None, "seed {seed}");
    }
}

mod long {
    use super::*;

    #[test]
    fn events_in_the_order_of_a_column() {
        let n = 40;
        for seed in 0..4 {
            let x = columns(seed, n, None);
            let of = |time: Vec<f64>, event: &dyn Fn(usize) -> bool, lambda2: f64, bounds: Bounds| {
                let survival = Survival { event: (0..n).map(event).collect(), time, entry: None, strata: None };
                let setup = setup(Loss::Cox { ties: Ties::Efron }, lambda2);
                said(x.clone(), &vec![0.0; n], Setup { survival: Some(survival), intercept: false, bounds, ..setup })
            };
            let in_order: Vec<f64> = (0..n).map(|i| (-x[i]).exp()).collect();
            let mut rng = rng(300 + seed);
            let mixed: Vec<f64> = (0..n).map(|i| (-x[i] + 2.0 * normal(&mut rng)).exp()).collect();
            let all = |_: usize| true;
            let found = of(in_order.clone(), &all, 0.0, Bounds::Free);
            assert!(found.is_some_and(|features| features.contains(&0)), "seed {seed}");
            // Whoever is censored lives on: the order of the others is that of the column still.
            let found = of(in_order.clone(), &|i| i % 3 > 0, 0.0, Bounds::Free);
            assert!(found.is_some_and(|features| features.contains(&0)), "seed {seed}");
            assert_eq!(of(in_order.clone(), &all, 1e-3, Bounds::Free), None, "seed {seed}");
            assert_eq!(of(in_order, &all, 0.0, Bounds::All(-2.0, 2.0)), None, "seed {seed}");
            assert_eq!(of(mixed, &all, 0.0, Bounds::Free), None, "seed {seed}");
        }
    }
}
