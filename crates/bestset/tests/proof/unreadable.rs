//! Designs that fail in the middle of a solve: what comes back is an error before there is an answer, the best answer and the last valid
//! bound after.

use crate::common::{Case, Shape, Watched, case, enumerate, rng};
use bestset::cv::{CvOptions, Folds, cross_validate};
use bestset::groups::{Groups, solve_groups};
use bestset::path::{Grid, PathOptions, Search, path};
use bestset::{Error, Method, Options, Problem, Result, Solution, Status, solve, subsets};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Takes one of the readings that are left, or fails.
fn read(left: &AtomicUsize) -> Result<()> {
    let taken = left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
    let failed = |_| Error::Read { what: "X".into(), place: "byte 7".into(), reason: "the disk failed".into() };
    taken.map(|_| ()).map_err(failed)
}

/// Runs `body` on the problem with a design that fails after 0, 1, 2, … reads, until it does not fail; how often it ended with an error
/// and with an answer cut short. After a hundred reads not every one is the last, but one in each hundredth of those before: all of them
/// would be as many solves as a solve has reads.
fn fail_everywhere(case: &Case, body: impl Fn(&Problem<'_>) -> Result<Option<String>>) -> (usize, usize) {
    let (mut errors, mut cut) = (0, 0);
    let mut reads = 0;
    while reads < 100_000 {
        let ended = case.with_design(|inner| {
            let left = AtomicUsize::new(reads);
            let ended = body(&case.problem(&Watched { inner, before: &|_| read(&left) }));
            (ended, left.into_inner())
        });
        match ended {
            (Err(error), _) => {
                assert!(matches!(error, Error::Read { .. }), "{reads}: {error}");
                errors += 1;
            }
            (Ok(Some(cause)), _) => {
                assert!(cause.contains("byte 7") && cause.contains("the disk failed"), "{cause}");
                cut += 1;
            }
            (Ok(None), left) => {
                if left > 0 {
                    return (errors, cut);
                }
            }
        }
        reads += 1 + reads / 100;
    }
    panic!("it reads without end");
}

/// The answer is one, and the bound is not above the least P; why it was cut short.
fn judged(case: &Case, optimum: f64, solution: &Solution) -> Option<String> {
    let (objective, room) = (solution.objective(), 1e-9 * (optimum.abs() + case.null_loss()));
    assert!(solution.certificate.lower_bound <= optimum + room, "{} above {optimum}", solution.certificate.lower_bound);
    let own = case.objective(&solution.coefficients);
    assert!((own - objective).abs() <= room, "{objective} is {own}: {:?}", solution.coefficients);
    assert_eq!(solution.cause.is_some(), solution.status == Status::ReadFailed);
    solution.cause.clone()
}

fn cases(seed: u64, count: usize, certified: bool) -> impl Iterator<Item = Case> {
    let mut rng = rng(seed);
    (0..count).map(move |_| case(&mut rng, &Shape { attained: true, certified, ..Shape::new(4..=12, 2..=6) }))
}

#[test]
fn solves_end_with_what_they_have() {
    for method in [Method::Incremental, Method::Exact, Method::PrimalDual { dynamic: true }, Method::Cdss] {
        let (mut errors, mut cut) = (0, 0);
        for case in cases(901, 12, true) {
            let optimum = enumerate(&case).best;
            let mut options =
                Options { top: if method == Method::Exact { 2 } else { 1 }, ..Options::with_method(method) };
            options.max_iterations = (method != Method::Incremental && method != Method::Exact).then_some(30);
            let counts = fail_everywhere(&case, |problem| {
                solve(problem, &options).map(|solution| judged(&case, optimum, &solution))
            });
            (errors, cut) = (errors + counts.0, cut + counts.1);
        }
        assert!(errors > 20 && cut > 20, "{method:?}: {errors} errors, {cut} cut short");
    }
}

#[test]
fn limited_sizes_end_with_what_they_have() {
    let (mut errors, mut cut) = (0, 0);
    for mut case in cases(902, 20, true) {
        case.max_size = Some(1 + case.p / 3);
        let optimum = enumerate(&case).sized[1 + case.p / 3];
        let options = Options::with_method(Method::Exact);
        let counts =
            fail_everywhere(&case, |problem| solve(problem, &options).map(|found| judged(&case, optimum, &found)));
        (errors, cut) = (errors + counts.0, cut + counts.1);
    }
    assert!(errors > 20 && cut > 20, "{errors} errors, {cut} cut short");
}

/// Without a ridge: leaps and bounds, a look at all subsets, coherence.
#[test]
fn searches_without_a_ridge_end_with_what_they_have() {
    for mut case in cases(903, 30, false) {
        if case.loss != bestset::Loss::Squared {
            continue;
        }
        case.penalty = bestset::Penalty::new(case.penalty.lambda0, 0.0, 0.0);
        let optimum = enumerate(&case).best;
        let options = Options::with_method(Method::Exact);
        let whole = case.with_problem(|problem| solve(problem, &options).map(|_| ()));
        if whole.is_ok() {
            fail_everywhere(&case, |problem| solve(problem, &options).map(|found| judged(&case, optimum, &found)));
        }
    }
}

#[test]
fn paths_end_with_the_points_they_have() {
    let (mut errors, mut cut) = (0, 0);
    for (k, case) in cases(904, 12, true).enumerate() {
        let grid =
            if k % 2 == 0 { Grid::Dynamic { points: 9, shrink: 0.9 } } else { Grid::Log { points: 9, ratio: 0.01 } };
        let search = [Search::Full, Search::Neighbours, Search::Light][k % 3];
        let options = PathOptions { grid, search, ..PathOptions::default() };
        let whole = case.with_problem(|problem| path(problem, &options).unwrap());
        let at = |lambda0: f64| Case { penalty: bestset::Penalty { lambda0, ..case.penalty.clone() }, ..case.clone() };
        let optima: Vec<f64> = whole.points.iter().map(|p| enumerate(&at(p.lambda0)).best).collect();
        let counts = fail_everywhere(&case, |problem| {
            let found = path(problem, &options)?;
            assert_eq!(found.cause.is_some(), found.status == Status::ReadFailed);
            for (point, (other, optimum)) in found.points.iter().zip(whole.points.iter().zip(&optima)) {
                assert_eq!(point.lambda0, other.lambda0);
                judged(&at(point.lambda0), *optimum, &point.solution);
            }
            Ok(found.cause)
        });
        (errors, cut) = (errors + counts.0, cut + counts.1);
    }
    assert!(errors > 20 && cut > 20, "{errors} errors, {cut} cut short");
}

#[test]
fn cross_validation_counts_the_folds_it_has() {
    let (mut errors, mut cut) = (0, 0);
    for mut case in cases(905, 4, true).filter(|case| !case.loss.is_classification() && case.n >= 6) {
        case.weights = None;
        let path =
            PathOptions { grid: Grid::Dynamic { points: 4, shrink: 0.9 }, max_size: Some(2), ..PathOptions::default() };
        let folds = Folds::Random { folds: 2, repeats: 1 };
        let options = CvOptions { path, folds, ..CvOptions::default() };
        let at = |lambda0: f64| Case { penalty: bestset::Penalty { lambda0, ..case.penalty.clone() }, ..case.clone() };
        let whole = case.with_problem(|problem| cross_validate(problem, &options).unwrap());
        let optima: Vec<f64> = whole.path.points.iter().map(|p| enumerate(&at(p.lambda0)).best).collect();
        let counts = fail_everywhere(&case, |problem| {
            let found = cross_validate(problem, &options)?;
            assert!(found.scores.iter().all(|s| s.mean.is_finite()) || found.folds() < 2);
            for (point, optimum) in found.path.points.iter().zip(&optima) {
                judged(&at(point.lambda0), *optimum, &point.solution);
            }
            Ok(found.cause)
        });
        (errors, cut) = (errors + counts.0, cut + counts.1);
    }
    assert!(errors > 5 && cut > 5, "{errors} errors, {cut} cut short");
}

#[test]
fn groups_end_with_what_they_have() {
    for method in [Method::Incremental, Method::Exact] {
        let (mut errors, mut cut) = (0, 0);
        for mut case in cases(907, 8, true) {
            case.penalty.price = bestset::Factors::One;
            let labels: Vec<usize> = (0..case.p).map(|j| j / 2).collect();
            let options = Options::with_method(method);
            let best = case.with_problem(|problem| {
                solve_groups(problem, &Groups::new(&labels), &Options::with_method(Method::Exact)).unwrap()
            });
            let optimum = best.certificate.objective;
            let counts = fail_everywhere(&case, |problem| {
                let found = solve_groups(problem, &Groups::new(&labels), &options)?;
                let room = 1e-5 * (optimum.abs() + case.null_loss());
                assert!(
                    found.certificate.lower_bound <= optimum + room && found.certificate.objective >= optimum - room
                );
                Ok((found.status == Status::ReadFailed).then(|| "byte 7: the disk failed".to_owned()))
            });
            (errors, cut) = (errors + counts.0, cut + counts.1);
        }
        assert!(errors > 5, "{method:?}: {errors} errors, {cut} cut short");
    }
}

mod long {
    use super::*;

    #[test]
    fn subsets_of_every_size_end_with_what_they_have() {
        let (mut errors, mut cut) = (0, 0);
        for mut case in cases(906, 6, true) {
            case.penalty = bestset::Penalty { lambda0: 0.0, price: bestset::Factors::One, ..case.penalty };
            let (all, most) = (enumerate(&case), case.p.min(2));
            let counts = fail_everywhere(&case, |problem| {
                let found = subsets(problem, most, &Options::default())?;
                assert_eq!(found.sizes.len(), most);
                for subset in &found.sizes {
                    let room = 1e-9 * (all.sized[subset.size].abs() + case.null_loss());
                    assert!(subset.certificate.lower_bound <= all.sized[subset.size] + room);
                    assert!(subset.coefficients.nonzeros() <= subset.size);
                    assert!((case.objective(&subset.coefficients) - subset.certificate.objective).abs() <= room);
                }
                let is_cut = found.sizes.iter().any(|s| s.status == Status::ReadFailed);
                Ok(is_cut.then(|| "byte 7: the disk failed".to_owned()))
            });
            (errors, cut) = (errors + counts.0, cut + counts.1);
        }
        assert!(errors > 5 && cut > 5, "{errors} errors, {cut} cut short");
    }
}
