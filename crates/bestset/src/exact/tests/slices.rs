//! Trees in slices against enumeration: what comes back proves what one tree proves, and a bound is never false, also where slices are lost.

use crate::common::{Case, UNIFORM, rng};
use crate::control::Monitor;
use crate::error::Error;
use crate::exact::SavedTree;
use crate::exact::slices::{GrownSlice, Round, grow_slice, solve};
use crate::exact::tests::tree::{costs, draw};
use crate::exact::tuning::Tuning;
use crate::solution::Status;
use crate::{Method, Options, Problem, Result};
use std::cell::Cell;
use std::time::{Duration, Instant};

/// Divided at once, and few nodes at a time: small problems have small trees.
fn tuning() -> Tuning {
    Tuning {
        slices: 3,
        slice_nodes: 2,
        least_slice_nodes: 1,
        nodes_before_slices: 1,
        least_batch: 1,
        most_batch: 2,
        search_from: 4,
        ..Tuning::default()
    }
}

/// Each slice through a text and back, as workers get it.
fn grown(problem: &Problem<'_>, slices: Vec<SavedTree>, round: Round) -> Result<Vec<Option<GrownSlice>>> {
    let options = &Options::default();
    let one = |slice: SavedTree| {
        let text = serde_json::to_string(&slice).unwrap();
        let mut observer = ();
        let mut monitor = Monitor::new(options, &mut observer);
        let found =
            grow_slice(problem, options, &mut monitor, serde_json::from_str(&text).unwrap(), round.nodes, tuning())?;
        Ok(serde_json::from_str(&serde_json::to_string(&found).unwrap()).unwrap())
    };
    slices.into_iter().map(one).collect()
}

/// Rounds it took; after so many the slices do not come back.
fn attack(case: &Case, optimum: f64, fails_after: usize) -> usize {
    let (options, rounds) = (Options::default(), Cell::new(0));
    let room = 1e-7 * (optimum.abs() + case.null_loss());
    case.with_problem(|problem| {
        let grow = |slices: Vec<SavedTree>, round: Round| {
            assert_eq!(round.nodes, tuning().slice_nodes, "without a limit always the same");
            rounds.set(rounds.get() + 1);
            match rounds.get() > fails_after {
                true => Err(Error::Read { what: "w".into(), place: "p".into(), reason: "lost".into() }),
                false => grown(problem, slices, round),
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

/// Slices that nobody waits for any longer, in a round after so many: the first of every `missing`, as after a limit or a cancellation.
/// Whether it came to that round.
fn cut_short(case: &Case, optimum: f64, rounds_before: usize, missing: usize, is_cancelled: bool) -> bool {
    let time_limit = (!is_cancelled).then_some(Duration::from_millis(50));
    let options = Options { time_limit, ..Options::default() };
    let (rounds, was_cut) = (Cell::new(0), Cell::new(false));
    let room = 1e-7 * (optimum.abs() + case.null_loss());
    case.with_problem(|problem| {
        let grow = |slices: Vec<SavedTree>, round: Round| {
            assert_eq!(round.until.is_some(), time_limit.is_some());
            rounds.set(rounds.get() + 1);
            let mut found = grown(problem, slices, round)?;
            if rounds.get() > rounds_before {
                assert!(!was_cut.replace(true), "a round after the wait was over");
                if is_cancelled {
                    options.cancel.cancel();
                }
                while round.until.is_some_and(|until| Instant::now() < until) {
                    std::thread::sleep(Duration::from_millis(1));
                }
                found.iter_mut().step_by(missing).for_each(|slice| *slice = None);
            }
            Ok(found)
        };
        let mut observer = ();
        let mut monitor = Monitor::new(&options, &mut observer);
        let outcome = solve(problem, &options, &mut monitor, &grow, tuning()).unwrap();
        if was_cut.get() {
            let expected = if is_cancelled { Status::Interrupted } else { Status::TimeLimit };
            assert_eq!(outcome.ended, expected);
        }
        // What was open when it was handed over bounds what may still be found.
        assert!(outcome.lower_bound <= optimum + room, "{} above {optimum}", outcome.lower_bound);
        assert!(problem.value(&outcome.coefficients).unwrap() >= optimum - room);
        assert!(monitor.so_far.lower_bound <= optimum + room);
    });
    was_cut.get()
}

#[test]
fn slices_that_nobody_waits_for_count_with_the_bound_of_their_start() {
    let mut cuts = 0;
    for seed in 0..150 {
        let case = draw(&mut rng(7000 + seed), seed % 6, &UNIFORM);
        let optimum = costs(&case).into_iter().fold(f64::INFINITY, f64::min);
        for rounds_before in 0..3 {
            for missing in [1, 2, 3] {
                cuts += usize::from(cut_short(&case, optimum, rounds_before, missing, true));
            }
            // A limit is waited for.
            if seed % 10 == 0 {
                cut_short(&case, optimum, rounds_before, 2, false);
            }
        }
    }
    assert!(cuts > 100, "{cuts} rounds were cut short");
}

/// Where no limit has struck none may be missing, all, some, or one too many: an error that says so, and a bound that holds.
#[test]
fn slices_that_are_missing_for_no_reason_are_an_error() {
    let mut seen = 0;
    for seed in 0..80 {
        let case = draw(&mut rng(7000 + seed), seed % 6, &UNIFORM);
        let optimum = costs(&case).into_iter().fold(f64::INFINITY, f64::min);
        let room = 1e-7 * (optimum.abs() + case.null_loss());
        // A limit that is far off is none that has struck.
        let time_limit = (seed % 2 == 0).then_some(Duration::from_secs(3600));
        case.with_problem(|problem| {
            let (options, asked, mut observer) = (Options { time_limit, ..Options::default() }, Cell::new(0), ());
            let grow = |slices: Vec<SavedTree>, round: Round| {
                asked.set(asked.get() + 1);
                let mut found = grown(problem, slices, round)?;
                if asked.get() > seed as usize % 3 {
                    match seed % 4 {
                        0 => found.iter_mut().for_each(|slice| *slice = None),
                        1 => found.push(None),
                        _ => found[0] = None,
                    }
                }
                Ok(found)
            };
            let mut monitor = Monitor::new(&options, &mut observer);
            let found = solve(problem, &options, &mut monitor, &grow, tuning());
            let is_missing = asked.get() > seed as usize % 3;
            assert_eq!(found.is_err(), is_missing, "{seed}");
            if let Err(error) = found {
                assert!(matches!(&error, Error::Read { .. }) && error.to_string().contains("slices came back of"));
            }
            assert!(monitor.so_far.lower_bound <= optimum + room, "{} above {optimum}", monitor.so_far.lower_bound);
            seen += usize::from(is_missing);
        });
    }
    assert!(seen > 10, "{seen}");
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
            let grow = |slices: Vec<SavedTree>, round: Round| {
                let is_searched = |slice| serde_json::to_value(slice).unwrap()["searched"] == true;
                assert!(slices.iter().all(is_searched), "{seed}");
                seen.set(seen.get() + slices.len());
                grown(problem, slices, round)
            };
            let mut observer = ();
            let mut monitor = Monitor::new(&options, &mut observer);
            solve(problem, &options, &mut monitor, &grow, tuning()).unwrap();
        });
    }
    assert!(seen.get() > 20, "{} slices", seen.get());
}
