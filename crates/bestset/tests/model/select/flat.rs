//! Columns that vary in their last digits only: in no answer, named, and no bound is above the best of the others.

use super::{Samples, Scale, Selection, Setup};
use crate::common::{RngExt, normal, rng};
use bestset::design::{Csc, Dense, Design};
use bestset::select::{How, Prove, Selected};
use bestset::{Coefficients, Error, Options, Status};

/// Entries `far` and the number `digits` of units in the last place beyond it.
fn flat(far: f64, digits: f64, pattern: &[f64]) -> Vec<f64> {
    let unit = far * f64::EPSILON;
    pattern.iter().map(|s| far + digits * unit * s).collect()
}

fn solved(x: &dyn Design, y: &[f64], setup: &Setup, how: How, prove: Prove) -> Result<Selected, Error> {
    let samples = Samples { x, y, weights: None, offset: None };
    let options = Selection { how, prove, ..Selection::default() };
    setup.pose(&samples, |posed| posed.select(&options, &mut ()))
}

/// Three columns of which the first is what y wants and varies in its last digits only: the answer is that of the other two, as if the
/// first were constant, and it says so.
#[test]
fn last_digits_make_no_answer_and_are_named() {
    let n = 12;
    for seed in 0..40 {
        let mut rng = rng(seed);
        let pattern: Vec<f64> = (0..n).map(|i| f64::from(i % 2 == 0 || rng.random_range(0..4) == 0)).collect();
        let others: Vec<f64> = (0..2 * n).map(|_| 3.0 + normal(&mut rng)).collect();
        let y: Vec<f64> = (0..n).map(|i| 10.0 * pattern[i] + others[i] + 0.1 * normal(&mut rng)).collect();
        let (far, digits) = [(2f64.powi(40), 1.0), (1e6, 8.0), (-0.3, 3.0), (1e-9, 2.0)][seed as usize % 4];
        let first = flat(far, digits, &pattern);
        let x = Dense::new(n, 3, [first.clone(), others.clone()].concat()).unwrap();
        let constant = Dense::new(n, 3, [vec![far; n], others.clone()].concat()).unwrap();
        let rows: Vec<u32> = (0..3).flat_map(|_| 0..n as u32).collect();
        let sparse = Csc::new(n, vec![0, n, 2 * n, 3 * n], rows, [first, others].concat()).unwrap();
        for scale in [Scale::Norm, Scale::Variance, Scale::None] {
            for (lambda2, prove) in [(0.0, Prove::Fully), (1e-3, Prove::Fully), (0.1, Prove::No)] {
                for how in [How::Price(0.5), How::Size(2)] {
                    let setup = Setup { scale, lambda2: Some(lambda2), ..Setup::default() };
                    let same = solved(&constant, &y, &setup, how.clone(), prove).unwrap();
                    for x in [&x as &dyn Design, &sparse] {
                        let found = solved(x, &y, &setup, how.clone(), prove).unwrap();
                        let context = format!("{seed} {scale:?} {lambda2} {how:?}");
                        assert_eq!(found.solution.dependent, [[0]], "{context}");
                        assert!(!found.solution.coefficients.support.contains(&0), "{context}");
                        let (own, beside) = (found.solution.certificate, same.solution.certificate);
                        let close = |a: f64, b: f64| (a - b).abs() <= 1e-9 * b.abs().max(1e-9);
                        assert!(close(own.objective, beside.objective), "{context}: {own:?} {beside:?}");
                        assert!(own.lower_bound <= own.objective * (1.0 + 1e-9), "{context}: {own:?}");
                        assert_eq!(found.solution.status, same.solution.status, "{context}");
                    }
                    assert!(same.solution.dependent.is_empty(), "a constant is one: {:?}", same.solution.dependent);
                }
            }
        }
    }
}

/// Subsets of every size name them too; coefficients and proofs that speak of one are refused by name.
#[test]
fn last_digits_are_refused_where_they_are_spoken_of() {
    let pattern = [0.0, 1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0];
    let other = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 9.0];
    let y: Vec<f64> = (0..8).map(|i| 10.0 * pattern[i] + 0.1 * other[i] * other[i]).collect();
    let x = Dense::new(8, 2, [flat(2f64.powi(40), 1.0, &pattern), other.to_vec()].concat()).unwrap();
    let samples = Samples { x: &x, y: &y, weights: None, offset: None };
    let setup = Setup { lambda2: Some(0.0), ..Setup::default() };
    let done = setup.pose(&samples, |posed| {
        let subsets = posed.subsets(2, &Options::default())?;
        assert_eq!(subsets.dependent, [[0]]);
        assert!(subsets.sizes.iter().all(|best| !best.coefficients.support.contains(&0)));
        let options = Selection { how: How::Price(0.5), ..Selection::default() };
        let given = posed.inward(&Coefficients { support: vec![0], values: vec![1e4], intercept: 0.0 });
        assert!(matches!(posed.certify(&given, &options, &mut ()), Err(Error::Flat { column: 0 })));
        assert!(matches!(posed.check_proof(), Err(Error::Flat { column: 0 })));
        let allowed = posed.inward(&Coefficients { support: vec![1], values: vec![1.0], intercept: 0.0 });
        let judged = posed.certify(&allowed, &options, &mut ())?;
        assert!(judged.certificate.lower_bound <= judged.certificate.objective);
        Ok::<_, Error>(())
    });
    done.unwrap();
}

/// Bounds on coefficients, weights of zero and warm starts go through what is zero inside.
#[test]
fn bounds_weights_and_starts_beside_last_digits() {
    let pattern = [0.0, 1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0];
    let other = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 9.0];
    let y: Vec<f64> = (0..8).map(|i| 10.0 * pattern[i] + 3.0 * other[i]).collect();
    // The last sample, of weight zero, is far away: among those that count the column is constant but for its last digits.
    let mut first = flat(1e6, 8.0, &pattern);
    first[7] = 0.0;
    let x = Dense::new(8, 2, [first, other.to_vec()].concat()).unwrap();
    let weights = [1.0, 2.0, 1.0, 1.0, 0.5, 1.0, 1.0, 0.0];
    let samples = Samples { x: &x, y: &y, weights: Some(&weights), offset: None };
    let bounds = bestset::Bounds::Each(vec![0.0, -1.0], vec![f64::INFINITY, 2.0]);
    let setup = Setup { lambda2: Some(0.01), bounds, ..Setup::default() };
    let found = setup.pose(&samples, |posed| {
        let start = posed.inward(&Coefficients { support: vec![0, 1], values: vec![1e9, 1.0], intercept: 0.0 });
        let solve = Options { warm_start: Some(start), ..Options::default() };
        posed.select(&Selection { how: How::Price(0.1), prove: Prove::Fully, solve, ..Selection::default() }, &mut ())
    });
    let found = found.unwrap();
    assert_eq!((found.solution.dependent, found.solution.coefficients.support), (vec![vec![0]], vec![1]));
    assert_eq!(found.solution.status, Status::Optimal);
}

/// Two columns that differ in a few last digits, which y wants: an answer that is made of the difference does not come with the bound of a
/// search that took one for the other.
#[test]
fn no_bound_is_above_an_answer_made_of_last_digits() {
    let (mut named, mut checked) = (0, 0);
    for seed in 0..400 {
        let mut rng = rng(seed);
        let n = rng.random_range(5..20);
        let far = [0.0, 10.0, 1e4][seed as usize % 3];
        let digits = [1.0, 2.0, 64.0, 1e4][seed as usize % 4];
        let a: Vec<f64> = (0..n).map(|_| far + normal(&mut rng)).collect();
        let pattern: Vec<f64> = (0..n).map(|_| f64::from(rng.random_range(-2..=2))).collect();
        let b: Vec<f64> = a.iter().zip(&pattern).map(|(a, s)| a + digits * f64::EPSILON * a.abs() * s).collect();
        let other: Vec<f64> = (0..n).map(|_| normal(&mut rng)).collect();
        let y: Vec<f64> = (0..n).map(|i| 2.0 * pattern[i] + 0.1 * normal(&mut rng)).collect();
        let x = Dense::new(n, 3, [a, b, other].concat()).unwrap();
        for intercept in [false, true] {
            for (how, prove) in
                [(How::Price(0.001), Prove::Fully), (How::Price(0.001), Prove::Usual), (How::Size(2), Prove::Fully)]
            {
                let setup = Setup { lambda2: Some(0.0), intercept, ..Setup::default() };
                let Ok(found) = solved(&x, &y, &setup, how.clone(), prove) else { continue };
                let certificate = found.solution.certificate;
                let is_below = certificate.lower_bound <= certificate.objective * (1.0 + 2e-6);
                assert!(
                    is_below,
                    "{seed} {intercept} {how:?} {prove:?}: {certificate:?} {:?}",
                    found.solution.dependent
                );
                let support = &found.solution.coefficients.support;
                let is_of_rounding = |list: &Vec<usize>| list.iter().all(|j| support.contains(j));
                assert!(
                    !found.solution.dependent.iter().any(is_of_rounding),
                    "{seed} {intercept} {how:?}: {support:?}"
                );
                checked += 1;
                named += usize::from(found.solution.dependent == [[0, 1]]);
            }
        }
    }
    assert!(checked > 1000 && named > 100, "{checked} {named}");
}
