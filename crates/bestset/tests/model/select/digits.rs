//! How many digits the coefficients of an answer have.

use super::{data, select};
use bestset::design::Dense;
use bestset::select::{How, Prove, Scale, Selection, Setup};
use bestset::{Coefficients, Status};

/// max_j |x_jᵀ(Xβ − y) + 2λ2β_j| / ‖x_j‖‖y‖ over the support: how far β is from the minimum on it. P knows half of the digits of this.
fn slope(n: usize, x: &[f64], y: &[f64], lambda2: f64, found: &Coefficients) -> f64 {
    let column = |j: usize| &x[j * n..(j + 1) * n];
    let mut left: Vec<f64> = y.iter().map(|y| -y).collect();
    for (j, b) in found.iter() {
        left.iter_mut().zip(column(j)).for_each(|(r, x)| *r += b * x);
    }
    let length = |v: &[f64]| v.iter().map(|v| v * v).sum::<f64>().sqrt();
    let one = |(j, b): (usize, f64)| {
        let dot: f64 = column(j).iter().zip(&left).map(|(x, r)| x * r).sum();
        (dot + 2.0 * lambda2 * b).abs() / (length(column(j)) * length(y))
    };
    found.iter().map(one).fold(0.0, f64::max)
}

/// The search for an answer ends when P has its digits; whoever has a proof made has the coefficients to theirs, whichever way P was
/// rounded when its answer was fitted once more.
#[test]
fn an_answer_that_is_proved_at_a_price_has_all_its_digits() {
    let (mut proved, mut worst) = (0, 0.0f64);
    for seed in 0..60 {
        let (n, p, lambda2) = (40, 14, 0.05);
        let (mut x, y) = data(500 + seed, n, p, 0.9);
        for column in x.chunks_mut(n) {
            let length = column.iter().map(|x| x * x).sum::<f64>().sqrt();
            column.iter_mut().for_each(|x| *x /= length);
        }
        let design = Dense::new(n, p, x.clone()).unwrap();
        let setup = Setup { intercept: false, scale: Scale::None, lambda2: Some(lambda2), ..Setup::default() };
        let usual = Selection { how: How::Price(1.0), ..Selection::default() };
        let (bare, ..) = select(&design, &y, &setup, &Selection { prove: Prove::No, ..usual.clone() });
        let (found, ..) = select(&design, &y, &setup, &usual);
        if bare.solution.status == Status::Optimal || found.solution.status != Status::Optimal {
            continue;
        }
        worst = worst.max(slope(n, &x, &y, lambda2, &found.solution.coefficients));
        proved += 1;
    }
    // Where the first fit came back in place of that of the proof it was 1e-13.
    assert!(proved > 20 && worst < 1e-15, "{proved} proofs, the worst slope is {worst:e}");
}
