//! The default solver and branch and bound against enumeration: bounds are below P*, answers are not, what is called optimal is, and
//! features counted as settled are; also when cancelled at any moment.

use crate::common::{
    RngExt, Shape, brackets, case, dependent, enumerate, holds, holds_between, least_of, members, pick, power, price,
    rng, share,
};
use crate::core::search::moves::check_swap;
use bestset::internals::Thresholds;
use bestset::path::{Grid, PathOptions, path};
use bestset::{CancelFlag, Loss, Method, Options, Penalty, Status, solve};

#[test]
fn bounds_answers_and_claims_of_the_default_solver_are_true() {
    let mut rng = rng(71);
    let (mut optimal, mut exact, mut total) = (0, 0, 0);
    for trial in 0..share(1200) {
        let case = case(&mut rng, &Shape { attained: true, ..Shape::new(3..=16, 1..=8) });
        let all = enumerate(&case);
        case.with_problem(|problem| {
            let solution = solve(problem, &Options::default()).unwrap();
            let c = solution.certificate;
            let scale = case.null_loss() + all.best;
            let context = format!(
                "{trial}: {c:?}, P* = {}, {:?} {:?} weights {} intercept {} standardised {}",
                all.best,
                case.loss,
                case.penalty,
                case.weights.is_some(),
                case.intercept,
                case.standard.is_some()
            );
            solution.coefficients.validate(case.p).unwrap();
            optimal += usize::from(holds(c, solution.status, all.best, scale, &context));
            assert!(c.objective.is_finite(), "{context}");
            if let Some(r) = c.relaxation {
                assert!(c.lower_bound <= r + 1e-12 * scale, "{context}");
            }
            exact += usize::from(c.objective <= all.best + 1e-7 * scale);
            total += 1;
        });
    }
    assert!(optimal > total / 4 && exact > total / 2, "{optimal} {exact} {total}");
}

/// Features counted as in no or in every optimal subset, against enumeration: with copies among the columns no copy of an
/// optimal feature may be counted as either. Ridge terms near zero make φ steep, and rounding with it.
#[test]
fn counts_of_excluded_and_included_features_are_true_under_ties() {
    let mut rng = rng(509);
    let (mut excluded, mut included) = (0, 0);
    for trial in 0..500 {
        let mut case = dependent(&mut rng);
        case.penalty.lambda2 = power(&mut rng, -9.0, 0.5);
        case.intercept = trial % 2 == 0;
        if trial % 3 == 0 {
            case.y.fill(0.0);
            case.y[0] = 1.0;
            case.penalty.lambda0 = pick(&mut rng, &[0.5, 0.25, 0.05]);
        }
        let all = enumerate(&case);
        let room = 1e-9 * all.best + 1e-11 * case.null_loss();
        let never = (0..case.p).filter(|&j| all.with[j] > all.best + room).count();
        let always = (0..case.p).filter(|&j| all.without[j] > all.best + room).count();
        case.with_problem(|problem| {
            for method in [Method::Incremental, Method::Exact] {
                let options = Options { method, max_nodes: Some(2000), ..Options::default() };
                let solution = solve(problem, &options).unwrap();
                let s = solution.screened;
                let context = format!("{trial} {s:?} {never} {always} {:?} P* {}", case.penalty, all.best);
                assert!(s.excluded <= never && s.included <= always, "{context}");
                let bound = solution.certificate.lower_bound;
                assert!(bound <= all.best + room, "{context} {bound}");
                (excluded, included) = (excluded + s.excluded, included + s.included);
            }
        });
    }
    assert!(excluded > 100 && included > 10, "{excluded} {included}");
}

/// Cancelled at any moment from another thread, with any number of threads: the bound holds, `Optimal` is true.
#[test]
fn cancelled_from_another_thread() {
    let mut rng = rng(511);
    let mut interrupted = 0;
    for trial in 0..share(120) as u64 {
        let shape = Shape { attained: true, certified: true, ..Shape::new(10..=25, 9..=12) };
        let case = case(&mut rng, &shape);
        if trial % 4 > 0 && case.loss != Loss::Squared {
            continue;
        }
        let all = enumerate(&case);
        let scale = case.null_loss() + all.best;
        case.with_problem(|problem| {
            for method in [Method::Incremental, Method::Exact] {
                let threads = Some(1 + (trial % 2) as usize);
                let uncut = std::time::Instant::now();
                solve(problem, &Options { method, threads, ..Options::default() }).unwrap();
                // A moment within the run whatever the machine's speed; the first is before it begins.
                let pause = uncut.elapsed().mul_f64(rng.random_range(0.0..1.0));
                let cancel = CancelFlag::default();
                if trial == 0 {
                    cancel.cancel();
                }
                let flag = cancel.clone();
                let options = Options { method, cancel, threads, ..Options::default() };
                let solution = std::thread::scope(|scope| {
                    scope.spawn(move || {
                        std::thread::sleep(pause);
                        flag.cancel();
                    });
                    solve(problem, &options).unwrap()
                });
                holds(solution.certificate, solution.status, all.best, scale, &(trial, method));
                if case.loss == Loss::Squared {
                    check_swap(&case, &solution, &format!("{trial} {method:?}"));
                }
                interrupted += usize::from(solution.status == Status::Interrupted);
            }
        });
    }
    // The first is for sure: it is cancelled before it begins.
    assert!(interrupted > 0, "{interrupted}");
}

/// The rules that end a convex phase sooner on large problems (MATH 7.10), on small ones: bounds and answers stay true, and the rules do end
/// it sooner.
#[test]
fn bounds_are_true_where_every_problem_is_taken_for_large() {
    let mut rng = rng(72);
    let large = Thresholds { long: 0, costly: 0, ..Thresholds::default() };
    let (mut passes, mut looser, total) = ([[0.0; 2]; 2], 0, 400);
    for trial in 0..total {
        let case = case(&mut rng, &Shape { attained: true, certified: true, ..Shape::new(3..=16, 2..=8) });
        let (all, singles) = (enumerate(&case), (0..case.p).map(|j| vec![j]).collect::<Vec<_>>());
        let fits = brackets(&case, &singles);
        case.with_problem(|problem| {
            let scale = case.null_loss() + all.best;
            for (k, thresholds) in [Thresholds::default(), large].into_iter().enumerate() {
                let options = Options { thresholds, ..Options::default() };
                let found = solve(problem, &options).unwrap();
                holds(found.certificate, found.status, all.best, scale, &trial);
                passes[0][k] += found.passes;
                for grid in [Grid::Log { points: 10, ratio: 0.05 }, Grid::Dynamic { points: 6, shrink: 0.9 }] {
                    let walked = path(problem, &PathOptions { grid, solve: options.clone(), ..PathOptions::default() });
                    for point in walked.unwrap().points {
                        let at = point.lambda0;
                        let penalty = Penalty { lambda0: at, ..case.penalty.clone() };
                        let best = least_of(&fits, |mask| members(mask).iter().map(|&j| price(&penalty, j)).sum());
                        let found = &point.solution;
                        holds_between(found.certificate, found.status, best, scale + best.1, &(trial, at));
                        passes[1][k] += point.solution.passes;
                        let c = point.solution.certificate;
                        looser += usize::from(k == 1 && c.relaxation.is_some_and(|r| c.lower_bound < r - 1e-6 * scale));
                    }
                }
            }
        });
    }
    let [solves, paths] = passes;
    assert!(solves[1] < solves[0] && paths[1] < paths[0] && looser > total / 20, "{passes:?} {looser}");
}
