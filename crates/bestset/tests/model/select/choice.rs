//! What is chosen from a path is the best at its price, or of its size, as a fit that was asked for that alone would find it.

use super::{data, folded, select};
use crate::common::share;
use bestset::criteria::Criterion;
use bestset::cv::Rule;
use bestset::design::Dense;
use bestset::groups::Groups;
use bestset::select::{By, How, Progress, Prove, Remark, Samples, Selected, Selection, Setup};
use bestset::{Method, Options};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Correlated columns: paths miss the best subsets of some prices, and have others that are best at none.
fn hard(seed: u64) -> (Dense<'static>, Vec<f64>, usize) {
    let (n, p) = [(40, 60), (50, 40), (30, 50)][seed as usize % 3];
    let (x, mut y) = data(seed, n, p, [0.6, 0.9, 1.5][seed as usize / 3 % 3]);
    // Every column a little: many subsets are nearly as good.
    (0..n * p).for_each(|k| y[k % n] += 0.02 * x[k]);
    (Dense::new(n, p, x).unwrap(), y, p)
}

fn proved(how: How, lambda2: f64, max_size: Option<usize>) -> Selection {
    let solve = Options { max_nodes: Some(500), ..Options::with_method(Method::Exact) };
    Selection { how, lambda2: vec![lambda2], max_size, solve, ..Selection::default() }
}

/// The model is no worse than the answer to its own question, and proved where that is.
fn check(found: &Selected, (x, y): (&Dense<'_>, &[f64]), label: &str) {
    let own = found.k.map_or(How::Price(found.lambda0), How::Size);
    let (fit, ..) = select(x, y, &Setup::default(), &proved(own, found.lambda2, None));
    assert_eq!(found.solution.status, fit.solution.status, "{label}");
    let (chosen, best) = (found.solution.objective(), fit.solution.objective());
    assert!(chosen <= best * (1.0 + 1e-9), "{label}: {chosen} {best} {:?}", found.k);
    let bound = found.solution.certificate.lower_bound;
    assert!(bound <= best * (1.0 + 1e-9), "{label}");
}

#[test]
fn the_model_is_the_best_at_its_price() {
    for seed in 0..share(12) as u64 {
        let (x, y, _) = hard(seed);
        for how in [folded(Rule::Min), folded(Rule::OneSe), How::Criterion(Criterion::Bic)] {
            let label = format!("{seed} {how:?}");
            let (found, ..) = select(&x, &y, &Setup::default(), &proved(how, 0.3, None));
            check(&found, (&x, &y), &label);
            let chosen = found.chosen.as_ref().unwrap();
            let point = &chosen.path.points[chosen.point];
            assert_eq!(found.solution.support(), point.solution.support(), "{label}");
            if let By::CrossValidation(scores, rule) = &chosen.by {
                assert_eq!(chosen.point, scores.chosen(*rule), "{label}");
            }
        }
    }
}

/// A criterion that takes the largest it may: at every price at which it beats the smaller ones something larger is better still, and the
/// model is the best found of its size.
#[test]
fn the_largest_model_is_the_best_of_its_size() {
    let (values, y) = data(22, 30, 60, 0.6);
    let (x, setup) = (Dense::new(30, 60, values).unwrap(), Setup { lambda2: Some(1e-4), ..Setup::default() });
    let options = Selection { how: How::Criterion(Criterion::Aic), prove: Prove::No, ..Selection::default() };
    let (found, ..) = select(&x, &y, &setup, &options);
    let size = found.solution.support().len();
    assert_eq!((found.k, found.standing.most, found.lambda0), (Some(size), Some(size), 0.0));
    assert!(found.remarks.contains(&Remark::OfItsSize(size)), "{:?}", found.remarks);
    let chosen = found.chosen.as_ref().unwrap();
    let point = &chosen.path.points[chosen.point];
    assert_eq!(found.solution.support(), point.solution.support());
    let at_its_price = |s: &Selected| s.solution.objective() + point.lambda0 * s.solution.support().len() as f64;
    let (priced, ..) = select(&x, &y, &setup, &Selection { how: How::Price(point.lambda0), ..options.clone() });
    assert!(priced.solution.objective() < at_its_price(&found) && priced.solution.support().len() > size);
    let (sized, ..) = select(&x, &y, &setup, &Selection { how: How::Size(size), ..options });
    assert!(found.solution.objective() <= sized.solution.objective() * (1.0 + 1e-9));
}

/// The same, cut at each of its solves: what is handed over has no wider gap than the point of the path that it is.
#[test]
fn a_cut_hands_over_no_worse_bound_than_the_path_has() {
    let (values, y) = data(22, 30, 60, 0.6);
    let (x, setup) = (Dense::new(30, 60, values).unwrap(), Setup { lambda2: Some(1e-4), ..Setup::default() });
    let samples = Samples { x: &x, y: &y, weights: None, offset: None };
    // Two searches at prices, and the one of its size.
    for cut in 0..3 {
        let options = Selection { how: How::Criterion(Criterion::Aic), prove: Prove::No, ..Selection::default() };
        let (solves, cancel) = (AtomicUsize::new(0), options.solve.cancel.clone());
        let progress = |progress: Progress| {
            if progress == Progress::Solving && solves.fetch_add(1, Ordering::Relaxed) == cut {
                cancel.cancel();
            }
        };
        let found = setup.pose(&samples, |posed| posed.select_observed(&options, &mut (), &progress)).unwrap();
        let chosen = found.chosen.as_ref().unwrap();
        let point = &chosen.path.points[chosen.point].solution;
        let (own, known) = (found.solution.certificate.relative_gap(), point.certificate.relative_gap());
        assert!(options.solve.cancel.is_cancelled(), "{cut}");
        assert!(known < 1.0 && own <= known * (1.0 + 1e-9), "{cut}: {own} {known} {:?}", found.k);
    }
}

/// A category with more levels than the largest model that is compared cannot be chosen, and that is said.
#[test]
fn groups_that_are_too_wide_to_be_chosen_are_remarked() {
    let (n, p) = (30, 25);
    let (values, y) = data(3, n, p, 0.5);
    let x = Dense::new(n, p, values).unwrap();
    let labels: Vec<usize> = (0..p).map(|j| if j < 20 { 0 } else { j }).collect();
    let setup = Setup { groups: Some(Groups::new(&labels)), ..Setup::default() };
    let wide = |max_size: Option<usize>, how: How| {
        let (found, ..) = select(&x, &y, &setup, &Selection { how, max_size, ..Selection::default() });
        found.remarks.iter().any(|r| matches!(r, Remark::WideGroups { groups: 1, widest: 20, most } if *most < 20))
    };
    for how in [How::Criterion(Criterion::Bic), folded(Rule::Min)] {
        assert!(wide(None, how.clone()) && wide(Some(19), how.clone()) && !wide(Some(20), how.clone()), "{how:?}");
    }
    // Where nothing is left out nothing is said.
    let (found, ..) = select(&x, &y, &Setup::default(), &Selection::default());
    assert!(!found.remarks.iter().any(|r| matches!(r, Remark::WideGroups { .. })));
}
