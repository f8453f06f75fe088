//! Trees in slices against enumeration: what comes back proves what one tree proves, and a bound is never false, also where slices are lost.

use crate::common::{Case, UNIFORM, rng};
use crate::control::Monitor;
use crate::error::Error;
use crate::exact::SavedTree;
use crate::exact::slices::{GrownSlice, Round, grow_slice, solve};
use crate::exact::tests::attack::{costs, draw};
use crate::exact::tuning::Tuning;
use crate::solution::Status;
use crate::{Method, Options, Problem, Result};
use serde::Serialize;
use serde_json::Value;
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

/// max(D_root, floor, min(bounds of what is closed and of what is left open)) (MATH 11.26): what slices are handed over and come back with
/// says what no bound of their tree is above, whatever answers it has.
struct Proved {
    before: Cell<f64>,
    closed: Cell<f64>,
    left: Cell<f64>,
}

impl Proved {
    fn new() -> Self {
        Self { before: Cell::new(f64::NEG_INFINITY), closed: Cell::new(f64::INFINITY), left: Cell::new(f64::INFINITY) }
    }

    /// The least bounds of slices before a round, all that is known of those that do not come back from it.
    fn hand_over(&self, slices: &[SavedTree]) -> Vec<f64> {
        let texts: Vec<Value> = slices.iter().map(text).collect();
        let known = texts.iter().flat_map(|slice| [&slice["root"]["lower_bound"], &slice["floor"]]);
        self.before.set(known.filter_map(Value::as_f64).fold(self.before.get(), f64::max));
        let starts: Vec<f64> = texts.iter().map(least_open).collect();
        self.left.set(starts.iter().copied().fold(f64::INFINITY, f64::min));
        starts
    }

    /// What a round has left of them.
    fn take_back(&self, starts: &[f64], found: &[Option<GrownSlice>]) {
        self.left.set(f64::INFINITY);
        for (start, slice) in starts.iter().zip(found) {
            let Some(slice) = slice.as_ref().map(text) else {
                self.left.set(self.left.get().min(*start));
                continue;
            };
            self.left.set(self.left.get().min(least_open(&slice["tree"])));
            self.closed.set(self.closed.get().min(number(&slice["tree"]["closed"])));
        }
    }

    fn most(&self) -> f64 {
        self.closed.get().min(self.left.get()).max(self.before.get())
    }
}

fn text(value: &impl Serialize) -> Value {
    serde_json::to_value(value).unwrap()
}

/// A bound of a text; +∞ is a word there.
fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or(f64::INFINITY)
}

fn least_open(tree: &Value) -> f64 {
    tree["open"].as_array().unwrap().iter().map(|node| number(&node["bound"])).fold(f64::INFINITY, f64::min)
}

/// Rounds it took; after so many the slices do not come back.
fn attack(case: &Case, optimum: f64, fails_after: usize) -> usize {
    let (options, rounds, proved) = (Options::default(), Cell::new(0), Proved::new());
    let room = 1e-7 * (optimum.abs() + case.null_loss());
    case.with_problem(|problem| {
        let grow = |slices: Vec<SavedTree>, round: Round| {
            assert_eq!(round.nodes, tuning().slice_nodes, "without a limit always the same");
            rounds.set(rounds.get() + 1);
            let starts = proved.hand_over(&slices);
            if rounds.get() > fails_after {
                return Err(Error::Read { what: "w".into(), place: "p".into(), reason: "lost".into() });
            }
            let found = grown(problem, slices, round)?;
            proved.take_back(&starts, &found);
            Ok(found)
        };
        let mut observer = ();
        let mut monitor = Monitor::new(&options, &mut observer);
        match solve(problem, &options, &mut monitor, &grow, tuning()) {
            Ok(outcome) => {
                // What the root ended with stays; no limit struck.
                assert!(matches!(outcome.ended, Status::Converged | Status::Stalled), "{:?}", outcome.ended);
                assert!(outcome.lower_bound <= optimum + room, "{} above {optimum}", outcome.lower_bound);
                assert!(outcome.lower_bound <= proved.most(), "{} above {}", outcome.lower_bound, proved.most());
                let found = problem.value(&outcome.coefficients).unwrap();
                assert!(found <= optimum + room && found >= optimum - room, "{found} is not {optimum}");
                assert!(found - outcome.lower_bound <= 2e-6 * found.abs() + room, "{found} {}", outcome.lower_bound);
            }
            Err(_) => {
                let bound = monitor.so_far.lower_bound;
                assert!(bound <= optimum + room, "{bound} above {optimum} where slices were lost");
                assert!(bound <= proved.most() + 1e-5 * room, "{bound} above {} where slices were lost", proved.most());
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

/// What ends the wait for slices.
#[derive(Clone, Copy, PartialEq)]
enum Ending {
    TimeLimit,
    Cancelled,
    NodeLimit,
}

/// Slices that nobody waits for any longer, in a round after so many: the first of every `missing`, as after a limit or a cancellation; where
/// nodes are limited, all come back and nobody goes on with them. Whether it came to that round, and whether a bound that counts answers
/// alone would be higher.
fn cut_short(case: &Case, optimum: f64, rounds_before: usize, missing: usize, cut: Ending) -> (bool, bool) {
    let time_limit = (cut == Ending::TimeLimit).then_some(Duration::from_millis(50));
    let max_nodes = (cut == Ending::NodeLimit).then_some(2 + rounds_before);
    let options = Options { time_limit, max_nodes, ..Options::default() };
    let (rounds, was_cut, proved) = (Cell::new(0), Cell::new(false), Proved::new());
    let room = 1e-7 * (optimum.abs() + case.null_loss());
    case.with_problem(|problem| {
        let grow = |slices: Vec<SavedTree>, round: Round| {
            assert_eq!(round.until.is_some(), time_limit.is_some());
            rounds.set(rounds.get() + 1);
            let starts = proved.hand_over(&slices);
            let mut found = grown(problem, slices, round)?;
            if cut != Ending::NodeLimit && rounds.get() > rounds_before {
                assert!(!was_cut.replace(true), "a round after the wait was over");
                if cut == Ending::Cancelled {
                    options.cancel.cancel();
                }
                while round.until.is_some_and(|until| Instant::now() < until) {
                    std::thread::sleep(Duration::from_millis(1));
                }
                found.iter_mut().step_by(missing).for_each(|slice| *slice = None);
            }
            proved.take_back(&starts, &found);
            Ok(found)
        };
        let mut observer = ();
        let mut monitor = Monitor::new(&options, &mut observer);
        let outcome = solve(problem, &options, &mut monitor, &grow, tuning()).unwrap();
        if was_cut.get() {
            let expected = if cut == Ending::Cancelled { Status::Interrupted } else { Status::TimeLimit };
            assert_eq!(outcome.ended, expected);
        }
        // What was open when it was handed over bounds what may still be found.
        let value = problem.value(&outcome.coefficients).unwrap();
        assert!(outcome.lower_bound <= optimum + room, "{} above {optimum}", outcome.lower_bound);
        assert!(value >= optimum - room);
        // The convex phase has its bound before that is computed from scratch.
        for (bound, rounding) in [(outcome.lower_bound, 0.0), (monitor.so_far.lower_bound, 1e-5 * room)] {
            let most = proved.most() + rounding;
            assert!(bound <= optimum + room && bound <= most, "{bound} above {most} or {optimum}");
        }
        let is_cut = was_cut.get() || (rounds.get() > 0 && outcome.ended == Status::NodeLimit);
        (is_cut, is_cut && proved.most() < value - room)
    })
}

#[test]
fn slices_that_nobody_waits_for_count_with_the_bound_of_their_start() {
    let (mut cuts, mut lower) = ([0; 3], [0; 3]);
    for seed in 0..150 {
        let case = draw(&mut rng(7000 + seed), seed % 6, &UNIFORM);
        let optimum = costs(&case).into_iter().fold(f64::INFINITY, f64::min);
        for rounds_before in 0..3 {
            let ends = [(1, Ending::Cancelled), (2, Ending::Cancelled), (1, Ending::NodeLimit), (2, Ending::TimeLimit)];
            // A limit is waited for, and may strike sooner: few of them, and none that is counted.
            let few = if seed % 10 == 0 { 4 } else { 3 };
            for (missing, cut) in ends.into_iter().take(few) {
                let (was_cut, is_lower) = cut_short(&case, optimum, rounds_before, missing, cut);
                cuts[cut as usize] += usize::from(was_cut);
                lower[cut as usize] += usize::from(is_lower);
            }
        }
    }
    let is_shown = cuts[1..].iter().all(|count| *count > 30) && lower[1..].iter().all(|count| *count > 10);
    assert!(
        is_shown,
        "rounds cut short by time, cancelled, by nodes: {cuts:?}, of which {lower:?} leave a lower bound"
    );
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
