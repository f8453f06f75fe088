//! Trees in slices against enumeration: what comes back proves what one tree proves, and a bound is never false, also where slices are lost.

use crate::common::{Case, UNIFORM, rng};
use crate::control::Monitor;
use crate::error::Error;
use crate::exact::SavedTree;
use crate::exact::slices::{GrownSlice, grow_slice, solve};
use crate::exact::tests::tree::{costs, draw};
use crate::exact::tuning::Tuning;
use crate::solution::Status;
use crate::{Method, Options, Problem, Result};
use std::cell::Cell;

/// Divided at once, and few nodes at a time: small problems have small trees.
fn tuning() -> Tuning {
    Tuning {
        slices: 3,
        slice_nodes: 2,
        nodes_before_slices: 1,
        least_batch: 1,
        most_batch: 2,
        search_from: 4,
        ..Tuning::default()
    }
}

/// Each slice through a text and back, as workers get it.
fn grown(problem: &Problem<'_>, options: &Options, slices: Vec<SavedTree>) -> Result<Vec<GrownSlice>> {
    let one = |slice: SavedTree| {
        let text = serde_json::to_string(&slice).unwrap();
        let mut observer = ();
        let mut monitor = Monitor::new(options, &mut observer);
        let found = grow_slice(problem, options, &mut monitor, serde_json::from_str(&text).unwrap(), tuning())?;
        Ok(serde_json::from_str(&serde_json::to_string(&found).unwrap()).unwrap())
    };
    slices.into_iter().map(one).collect()
}

/// Rounds it took; after so many the slices do not come back.
fn attack(case: &Case, optimum: f64, fails_after: usize) -> usize {
    let (options, rounds) = (Options::default(), Cell::new(0));
    let room = 1e-7 * (optimum.abs() + case.null_loss());
    case.with_problem(|problem| {
        let grow = |slices: Vec<SavedTree>| {
            rounds.set(rounds.get() + 1);
            match rounds.get() > fails_after {
                true => Err(Error::Read { what: "w".into(), place: "p".into(), reason: "lost".into() }),
                false => grown(problem, &options, slices),
            }
        };
        let mut observer = ();
        let mut monitor = Monitor::new(&options, &mut observer);
        match solve(problem, &options, &mut monitor, &grow, tuning()) {
            Ok(outcome) => {
                // What the root ended with stays; no limit struck.
                assert!(matches!(outcome.ended, Status::Converged | Status::Stalled), "{:?}", outcome.ended);
                assert!(outcome.lower_bound <= optimum + room, "{} above {optimum}", outcome.lower_bound);
                let found = problem.value(&outcome.coefficients).unwrap();
                assert!(found <= optimum + room && found >= optimum - room, "{found} is not {optimum}");
                assert!(found - outcome.lower_bound <= 2e-6 * found.abs() + room, "{found} {}", outcome.lower_bound);
            }
            Err(_) => {
                let bound = monitor.so_far.lower_bound;
                assert!(bound <= optimum + room, "{bound} above {optimum} where slices were lost");
                assert!(monitor.so_far.answer.is_some());
            }
        }
    });
    rounds.get()
}

#[test]
fn slices_prove_what_a_tree_proves_and_lost_ones_make_no_bound_false() {
    let (mut divided, mut lost) = (0, 0);
    for seed in 0..150 {
        let mut rng = rng(7000 + seed);
        let case = draw(&mut rng, seed % 6, &UNIFORM);
        let optimum = costs(&case).into_iter().fold(f64::INFINITY, f64::min);
        let rounds = attack(&case, optimum, usize::MAX);
        divided += usize::from(rounds > 0);
        for fails_after in 0..rounds.min(3) {
            attack(&case, optimum, fails_after);
            lost += 1;
        }
    }
    assert!(divided > 20 && lost > 30, "{divided} trees were divided, {lost} times slices were lost");
}

/// Workers do not know where a start is from: that all was looked for from there is said to the slices.
#[test]
fn slices_of_a_start_that_was_searched_do_not_search_again() {
    let seen = Cell::new(0);
    for seed in 0..40 {
        let case = draw(&mut rng(7000 + seed), seed % 6, &UNIFORM);
        case.with_problem(|problem| {
            let best = crate::solve(problem, &Options::with_method(Method::Exact)).unwrap().coefficients;
            let options = Options { warm_start: Some(best), start_is_searched: true, ..Options::default() };
            let grow = |slices: Vec<SavedTree>| {
                let is_searched = |slice| serde_json::to_value(slice).unwrap()["searched"] == true;
                assert!(slices.iter().all(is_searched), "{seed}");
                seen.set(seen.get() + slices.len());
                grown(problem, &Options::default(), slices)
            };
            let mut observer = ();
            let mut monitor = Monitor::new(&options, &mut observer);
            solve(problem, &options, &mut monitor, &grow, tuning()).unwrap();
        });
    }
    assert!(seen.get() > 20, "{} slices", seen.get());
}
