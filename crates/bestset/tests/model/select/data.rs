//! Samples that teach nothing and columns that say nothing: fitted, and said.

use super::{Samples, Selection, Setup, data};
use bestset::design::Dense;
use bestset::select::{How, Remark};
use bestset::{Loss, Survival, Ties};

/// What is said of a fit, and which features are constant.
fn said(
    x: &Dense<'_>,
    y: &[f64],
    weights: Option<&[f64]>,
    offset: Option<&[f64]>,
    setup: &Setup,
) -> (Vec<Remark>, Vec<usize>) {
    let samples = Samples { x, y, weights, offset };
    let options = Selection { how: How::Price(0.5), ..Selection::default() };
    setup
        .pose(&samples, |posed| {
            let found = posed.select(&options, &mut ())?;
            let of_data = found.remarks.into_iter().filter(|remark| remark.kind() == "data").collect();
            Ok::<_, bestset::Error>((of_data, posed.constant()))
        })
        .unwrap()
}

#[test]
fn one_sample_and_one_value_are_said_where_nothing_is_learnt_from_them() {
    let (n, p, setup) = (30, 6, Setup::default());
    let (x, y) = data(1, n, p, 0.3);
    let (x, same) = (Dense::new(n, p, x).unwrap(), vec![3.0; n]);
    assert_eq!(said(&x, &y, None, None, &setup).0, vec![]);
    assert_eq!(said(&x, &same, None, None, &setup).0, [Remark::ConstantTarget(3.0)]);
    let counts = Setup { loss: Loss::Poisson, ..Setup::default() };
    assert_eq!(said(&x, &same, None, None, &counts).0, [Remark::ConstantTarget(3.0)]);
    // What others of weight zero have does not count.
    let mut weights = vec![0.0; n];
    weights[4] = 2.0;
    assert_eq!(said(&x, &y, Some(&weights), None, &setup).0, [Remark::OneSample]);
    (weights[5], weights[6]) = (1.0, 1.0);
    let mut most = y.clone();
    (most[4], most[5], most[6]) = (1.5, 1.5, 1.5);
    assert_eq!(said(&x, &most, Some(&weights), None, &setup).0, [Remark::ConstantTarget(1.5)]);
    // Beside an offset, without an intercept, and of classes it is no constant that is explained.
    assert_eq!(said(&x, &same, None, Some(&y), &setup).0, vec![]);
    assert_eq!(said(&x, &same, None, None, &Setup { intercept: false, ..Setup::default() }).0, vec![]);
    let times = Survival { time: same.clone(), event: vec![true; n], entry: None, strata: None };
    let cox = Setup { loss: Loss::Cox { ties: Ties::Efron }, survival: Some(times), ..Setup::default() };
    assert_eq!(said(&x, &same, None, None, &cox).0, vec![]);
}

#[test]
fn constant_columns_are_listed_where_they_are_left_out() {
    let (n, p) = (30, 6);
    let (mut x, y) = data(2, n, p, 0.3);
    x[n..2 * n].fill(7.0);
    x[4 * n..5 * n].fill(0.0);
    // Constant but for rounding: a list of its own.
    (2 * n..3 * n).for_each(|k| x[k] = 1e8 * (1.0 + f64::from(k as u8 % 2) * f64::EPSILON));
    let x = Dense::new(n, p, x).unwrap();
    for scale in [bestset::select::Scale::Norm, bestset::select::Scale::Variance, bestset::select::Scale::None] {
        assert_eq!(said(&x, &y, None, None, &Setup { scale, ..Setup::default() }).1, [1, 4], "{scale:?}");
    }
    assert_eq!(said(&x, &y, None, None, &Setup { intercept: false, ..Setup::default() }).1, vec![0usize; 0]);
}
