//! Cancelled in the middle of a pass over X, at every one of them: what comes back has a bound that holds and, with a ridge, says something.

use crate::common::{Case, Shape, Watched, case, enumerate, rng};
use bestset::criteria::Criterion;
use bestset::design::Design;
use bestset::select::{How, Samples, Scale, Selected, Selection, Setup};
use bestset::sizes::sizes;
use bestset::{CancelFlag, Factors, Method, Options, Solution, Status, solve};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Problems without a price whose null model has a loss, and the least P of each size.
fn cases(seed: u64, count: usize) -> impl Iterator<Item = (Case, Vec<f64>)> {
    let mut rng = rng(seed);
    let draw = move || {
        let mut case = case(&mut rng, &Shape { attained: true, certified: true, ..Shape::new(8..=16, 4..=7) });
        case.penalty.lambda0 = 0.0;
        (case.penalty.price, case.penalty.shrinkage) = (Factors::One, Factors::One);
        let sized = enumerate(&case).sized;
        (case, sized)
    };
    // A fit that two features make perfect has no bound above zero; without a ridge a box may be so wide that the first points have none.
    let has_bound = |(case, sized): &(Case, Vec<f64>)| sized[2] > 1e-3 * case.null_loss() && case.penalty.lambda2 > 0.0;
    std::iter::repeat_with(draw).filter(has_bound).take(count)
}

/// Cancels in pass 0, 1, 2, … over X until the work ends before; the bounds of what was cut short.
fn cancelled(case: &Case, body: impl Fn(&dyn Design, Options) -> Solution) -> Vec<f64> {
    let mut bounds = Vec::new();
    for passes in 0..10_000 {
        let (solution, was_cut) = case.with_design(|inner| {
            let (left, cancel) = (AtomicUsize::new(passes), CancelFlag::default());
            let before = |columns: usize| {
                let take = |left: usize| left.checked_sub(1);
                if columns == inner.ncols() && left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_err() {
                    cancel.cancel();
                }
                Ok(())
            };
            let options = Options { cancel: cancel.clone(), method: Method::Exact, ..Options::default() };
            let solution = body(&Watched { inner, before: &before }, options);
            (solution, cancel.is_cancelled())
        });
        if !was_cut {
            return bounds;
        }
        assert!(solution.certificate.lower_bound <= solution.objective() * (1.0 + 1e-9));
        bounds.push(solution.certificate.lower_bound);
    }
    panic!("it passes over X without end");
}

fn judge(name: &str, case: &Case, least: f64, bounds: &[f64]) {
    let room = 1e-9 * (least.abs() + case.null_loss());
    for (passes, bound) in bounds.iter().enumerate() {
        assert!(*bound <= least + room, "{name}, pass {passes}: {bound} above {least}");
        assert!(*bound > 0.0, "{name}, pass {passes}: the bound is trivial, {:?} {least} {bounds:?}", case.loss);
    }
}

#[test]
fn a_size_has_a_bound_from_the_first_pass_on() {
    let mut cuts = 0;
    for (case, sized) in cases(1201, 20) {
        let found = cancelled(&case, |design, options| {
            solve(&case.problem(design).with_max_size(2).unwrap(), &options).unwrap()
        });
        judge("exact", &case, sized[2], &found);
        let answers = cancelled(&case, |design, options| {
            let incremental = Options { method: Method::Incremental, ..options };
            sizes(&case.problem(design), &[2], &incremental).unwrap().solutions.remove(0)
        });
        judge("sizes", &case, sized[2], &answers);
        cuts += found.len() + answers.len();
    }
    assert!(cuts > 200, "{cuts}");
}

/// A model chosen along a path, and at a price: the answer is judged by the price that it states.
#[test]
fn a_choice_has_a_bound_from_the_first_pass_on() {
    let (mut cuts, mut chosen) = (0, 0);
    for (case, sized) in cases(1202, 20) {
        for how in [How::Criterion(Criterion::Bic), How::Price(0.05 * case.null_loss())] {
            let found = cancelled(&case, |design, solve| {
                let setup = Setup {
                    loss: case.loss,
                    intercept: case.intercept,
                    lambda1: case.penalty.lambda1,
                    lambda2: Some(case.penalty.lambda2),
                    scale: Scale::None,
                    bounds: case.penalty.bounds.clone(),
                    ..Setup::default()
                };
                let samples =
                    Samples { x: design, y: &case.y, weights: case.weights.as_deref(), offset: case.offset.as_deref() };
                let selection = Selection { how: how.clone(), solve, ..Selection::default() };
                let selected = setup.pose(&samples, |posed| posed.select(&selection, &mut ())).unwrap();
                assert!(matches!(selected.solution.status, Status::Interrupted | Status::Optimal));
                judge_at_price(&case, &sized, &selected);
                selected.solution
            });
            assert!(found.iter().all(|bound| *bound > 0.0), "{how:?} {:?}: {found:?}", case.loss);
            (cuts, chosen) = (cuts + found.len(), chosen + 1);
        }
    }
    assert!(cuts > 5 * chosen, "{cuts} of {chosen}");
}

/// No subset is below the bound at the price of the answer.
fn judge_at_price(case: &Case, sized: &[f64], selected: &Selected) {
    let least = (0..).zip(sized).map(|(k, fit)| fit + selected.lambda0 * f64::from(k)).fold(f64::INFINITY, f64::min);
    let room = 1e-9 * (least.abs() + case.null_loss());
    assert!(selected.solution.certificate.lower_bound <= least + room, "{:?} above {least}", selected.solution);
}
