//! Cross-validation and stability selection: by their definition, with weights, with any number of threads.

use crate::common::{RngExt, Watched, assert_close, normal, rng};
use bestset::cv::{
    CrossValidation, CvOptions, Folds, Score, Split, StabilityOptions, cross_validate, cross_validate_observed,
    cross_validate_splits, stability,
};
use bestset::design::{Dense, RowSubset};
use bestset::path::{Grid, PathOptions, Point, path};
use bestset::{CancelFlag, Coefficients, Error, Loss, Options, Penalty, Problem, Status};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Ten features, three of which matter.
fn data(seed: u64, n: usize, loss: Loss) -> (Vec<f64>, Vec<f64>) {
    let mut rng = rng(seed);
    let x: Vec<f64> = (0..10 * n).map(|_| normal(&mut rng)).collect();
    let mut y: Vec<f64> =
        (0..n).map(|i| 2.0 * x[i] - 1.5 * x[3 * n + i] + x[7 * n + i] + 0.5 * normal(&mut rng)).collect();
    if loss.is_classification() {
        y.iter_mut().for_each(|y| *y = if *y > 0.0 { 1.0 } else { -1.0 });
    }
    (x, y)
}

fn settings(points: usize, folds: Folds) -> CvOptions {
    let path = PathOptions { grid: Grid::Dynamic { points, shrink: 0.99 }, ..PathOptions::default() };
    CvOptions { path, folds, ..CvOptions::default() }
}

/// A limit that strikes while folds are scored, which come last, is what is said, and the folds that have their scores count.
#[test]
fn a_limit_while_folds_are_scored_leaves_those_that_are() {
    let n = 40;
    let (x, y) = data(5, n, Loss::Squared);
    let x = Dense::new(n, 10, x).unwrap();
    let found = |most: usize, is_limit: bool| {
        let (readings, cancel) = (AtomicUsize::new(0), CancelFlag::default());
        let before = |_: usize| match readings.fetch_add(1, Ordering::Relaxed) < most {
            true => Ok(()),
            false if is_limit => {
                cancel.cancel();
                Err(Error::Stopped)
            }
            false => Err(Error::Read { what: "X".into(), place: "here".into(), reason: "it is gone".into() }),
        };
        let watched = Watched { inner: &x, before: &before };
        let problem = Problem::new(&watched, y.clone(), Penalty::new(0.0, 0.0, 0.1)).unwrap().with_intercept(true);
        let mut options = settings(12, Folds::Random { folds: 4, repeats: 1 });
        options.path.solve = Options { cancel: cancel.clone(), threads: Some(1), ..options.path.solve };
        (cross_validate(&problem, &options).unwrap(), readings.load(Ordering::Relaxed))
    };
    let (whole, readings) = found(usize::MAX, true);
    assert_eq!((whole.status, whole.folds()), (Status::Converged, 4));
    let mut counts = std::collections::BTreeSet::new();
    for most in readings - 120..readings {
        for (is_limit, status) in [(true, Status::Interrupted), (false, Status::ReadFailed)] {
            let (cut, _) = found(most, is_limit);
            assert_eq!((cut.status, cut.cause.is_some()), (status, !is_limit), "{most}");
            // The folds that are there have the scores that they have among all.
            for (own, all) in cut.scores.iter().zip(&whole.scores) {
                assert_eq!(own.folds[..], all.folds[..cut.folds()], "{most}");
            }
            counts.insert(cut.folds());
        }
    }
    assert!(counts.contains(&3) && counts.len() > 1, "{counts:?}");
}

#[test]
fn weights_are_repeated_rows() {
    for (seed, loss, score) in
        [(1, Loss::Squared, None), (2, Loss::Logistic, Some(Score::Auc)), (3, Loss::Logistic, Some(Score::Accuracy))]
    {
        let n = 40;
        let (x, y) = data(seed, n, loss);
        let mut rng = rng(seed);
        let weights: Vec<f64> = (0..n).map(|_| f64::from(rng.random_range(0..4u32))).collect();
        let labels: Vec<usize> = (0..n).map(|_| 5 * rng.random_range(0..4usize)).collect();
        let source: Vec<usize> = (0..n).flat_map(|i| vec![i; weights[i] as usize]).collect();
        let long: Vec<f64> = (0..10).flat_map(|j| source.iter().map(move |&i| j * n + i)).map(|k| x[k]).collect();
        let run = |x: Vec<f64>, y: Vec<f64>, weights: Option<Vec<f64>>, labels: Vec<usize>| -> CrossValidation {
            let x = Dense::new(y.len(), 10, x).unwrap();
            let problem = Problem::new(&x, y, Penalty::new(0.0, 0.1, 0.2)).unwrap().with_loss(loss).unwrap();
            let problem = match weights {
                Some(w) => problem.with_weights(w).unwrap(),
                None => problem,
            };
            let options = CvOptions { score, ..settings(12, Folds::Given(labels)) };
            cross_validate(&problem.with_intercept(true), &options).unwrap()
        };
        let pick = |from: &[f64]| source.iter().map(|&i| from[i]).collect::<Vec<f64>>();
        let repeated = run(long, pick(&y), None, source.iter().map(|&i| labels[i]).collect());
        let weighted = run(x, y, Some(weights), labels);
        assert_eq!(weighted.path.points.len(), repeated.path.points.len());
        for (a, b) in weighted.path.points.iter().zip(&repeated.path.points) {
            assert_close(a.lambda0, b.lambda0, 1e-6 * a.lambda0, &loss);
            assert_eq!(a.solution.support(), b.solution.support());
        }
        for (a, b) in weighted.scores.iter().zip(&repeated.scores) {
            assert_close(a.mean, b.mean, 1e-5 * (a.mean.abs() + 1e-3), &loss);
            assert_close(a.standard_error, b.standard_error, 1e-5 * (a.mean.abs() + 1e-3), &loss);
        }
        assert_eq!((weighted.best, weighted.one_se), (repeated.best, repeated.one_se));
    }
}

/// The best of a path's answers with at most k features, up to where it first has k.
fn of_size(points: &[Point], k: usize) -> &Coefficients {
    let size = |p: &Point| p.solution.support().len();
    let end = points.iter().position(|p| size(p) >= k).map_or(points.len(), |last| last + 1);
    let lack = |p: &&Point| p.solution.objective() - p.lambda0 * size(p) as f64;
    let best = points[..end].iter().filter(|p| size(p) <= k).min_by(|a, b| lack(a).total_cmp(&lack(b)));
    &best.unwrap().solution.coefficients
}

/// A fold's score is that of the answer of the same size on the rows kept, with λ scaled by their share.
#[test]
fn folds_are_fits_on_the_rows_kept() {
    let n = 40;
    let (x, y) = data(4, n, Loss::Squared);
    let x = Dense::new(n, 10, x).unwrap();
    let problem = Problem::new(&x, y.clone(), Penalty::new(0.0, 0.05, 0.2)).unwrap().with_intercept(true);
    let mut options = settings(10, Folds::Given((0..n).map(|i| i % 4).collect()));
    (options.path.solve.relaxation_gap, options.path.max_size) = (1e-9, Some(8));
    let found = cross_validate(&problem, &options).unwrap();
    for fold in 0..4 {
        let rows: Vec<usize> = (0..n).filter(|i| i % 4 != fold).collect();
        let kept = RowSubset::new(&x, rows.clone()).unwrap();
        let part =
            Problem::new(&kept, rows.iter().map(|&i| y[i]).collect::<Vec<f64>>(), Penalty::new(0.0, 0.0375, 0.15));
        let part = part.unwrap().with_intercept(true);
        let own = path(&part, &PathOptions { grid: Grid::for_sizes(8), ..options.path.clone() }).unwrap();
        for (k, point) in found.path.points.iter().enumerate() {
            let c = of_size(&own.points, point.solution.support().len());
            let u = problem.margins(c).unwrap();
            let test = (0..n).filter(|i| i % 4 == fold);
            let error: f64 = test.map(|i| (y[i] - u[i] - c.intercept).powi(2)).sum::<f64>() / 10.0;
            assert_close(found.scores[k].folds[fold], error, 1e-6 * error, &(k, fold));
        }
    }
    let score = &found.scores[found.best];
    let mean = score.folds.iter().sum::<f64>() / 4.0;
    let spread = score.folds.iter().map(|s| (s - mean).powi(2)).sum::<f64>() / 4.0;
    assert_close(score.mean, mean, 1e-12, &());
    assert_close(score.standard_error, (spread / 3.0).sqrt(), 1e-12, &());
    let sparsest = found.one_se_point().solution.support().len();
    for (k, s) in found.scores.iter().enumerate() {
        assert!(s.mean >= score.mean);
        let size = found.path.points[k].solution.support().len();
        assert!(size >= sparsest || s.mean > score.mean + score.standard_error, "{k}");
    }
    assert!([0, 3, 7].iter().all(|j| found.one_se_point().solution.support().contains(j)));
    // Every sample is left out once, and its margin gives the score.
    let best = found.best_point();
    let left_out = found.left_out(&problem, best.lambda2, best.solution.support().len()).unwrap();
    let error: f64 = left_out.iter().map(|&(i, u)| (y[i] - u).powi(2)).sum::<f64>() / n as f64;
    assert_eq!(left_out.len(), n);
    assert_close(score.mean, error, 1e-12 * error, &());
    let shares = found.frequencies(best.lambda2, best.solution.support().len());
    assert!(shares.iter().filter(|s| [0, 3, 7].contains(&s.0)).all(|s| s.1 == 1.0), "{shares:?}");
}

#[test]
fn given_splits_score_what_they_list() {
    let (x, y) = data(9, 40, Loss::Squared);
    let x = Dense::new(40, 10, x).unwrap();
    let problem = Problem::new(&x, y.clone(), Penalty::new(0.0, 0.0, 0.2)).unwrap();
    let options = settings(8, Folds::Given((0..40).map(|i| i % 4).collect()));
    let drawn = cross_validate(&problem, &options).unwrap();
    let split = |fold: usize| {
        let (test, train) = (0..40).partition(|i| i % 4 == fold);
        Split { train, test }
    };
    let given = cross_validate_splits(&problem, &options, &[0, 1, 2, 3].map(split)).unwrap();
    assert_eq!((given.best, given.one_se, &given.scores), (drawn.best, drawn.one_se, &drawn.scores));

    // Parts that overlap, and samples in neither: the fit is that of the rows listed.
    let train: Vec<usize> = (0..30).collect();
    let test: Vec<usize> = (20..35).collect();
    let one = cross_validate_splits(&problem, &options, &[Split { train: train.clone(), test: test.clone() }]).unwrap();
    let rows = RowSubset::new(&x, train).unwrap();
    let part = Problem::new(&rows, &y[..30], Penalty::new(0.0, 0.0, 0.15)).unwrap();
    let fitted = path(&part, &PathOptions { grid: Grid::for_sizes(10), ..PathOptions::default() }).unwrap();
    for (score, point) in one.scores.iter().zip(&one.path.points) {
        let u = problem.margins(of_size(&fitted.points, point.solution.support().len())).unwrap();
        let error = test.iter().map(|&i| (y[i] - u[i]).powi(2)).sum::<f64>() / 15.0;
        assert_close(score.mean, error, 1e-6 * error, &point.lambda0);
    }
    let bad = Split { train: vec![0, 1], test: vec![40] };
    assert!(matches!(cross_validate_splits(&problem, &options, &[bad]), Err(Error::Index { index: 40, .. })));
    assert!(cross_validate_splits(&problem, &options, &[]).is_err());
}

#[test]
fn one_seed_gives_one_answer_with_any_number_of_threads() {
    let (x, y) = data(5, 50, Loss::Logistic);
    let x = Dense::new(50, 10, x).unwrap();
    let problem = Problem::new(&x, y, Penalty::new(0.0, 0.0, 0.3)).unwrap().with_loss(Loss::Logistic).unwrap();
    let run = |threads: usize, seed: u64| {
        let mut options = settings(8, Folds::Stratified { folds: 5, repeats: 2 });
        (options.path.solve.threads, options.seed, options.path.lambda2) = (Some(threads), seed, vec![0.3, 1.0]);
        let mut found = cross_validate(&problem, &options).unwrap();
        found.path.points.iter_mut().for_each(|p| p.solution.seconds = 0.0);
        found
    };
    let one = run(1, 3);
    assert_eq!(one, run(3, 3));
    let mut options = settings(3, Folds::Random { folds: 4, repeats: 1 });
    let cancel = options.path.solve.cancel.clone();
    let seen = std::sync::Mutex::new(Vec::new());
    options.path.solve.threads = Some(1);
    let part = cross_validate_observed(&problem, &options, &|done, total| {
        seen.lock().unwrap().push((done, total));
        if done == 2 {
            cancel.cancel();
        }
    });
    let part = part.unwrap();
    assert_eq!(*seen.lock().unwrap(), [(1, 4), (2, 4)]);
    assert_eq!((part.status, part.scores[0].folds.len()), (Status::Interrupted, 2));
    assert_ne!(one.parts, run(1, 4).parts);
    assert_eq!((one.scores[0].folds.len(), one.scores.len()), (10, one.path.points.len()));
    assert_eq!(one.path.strands().count(), 2);
    assert_eq!(one.status, Status::Converged);
}

#[test]
fn limits_and_bad_settings() {
    let (x, y) = data(6, 30, Loss::Squared);
    let x = Dense::new(30, 10, x).unwrap();
    let problem = Problem::new(&x, y, Penalty::new(0.0, 0.0, 0.3)).unwrap();
    let mut late = settings(8, Folds::default());
    late.path.solve.time_limit = Some(std::time::Duration::ZERO);
    let none = cross_validate(&problem, &late).unwrap();
    assert_eq!((none.status, none.scores.len()), (Status::TimeLimit, 0));
    let fails = |options: CvOptions| cross_validate(&problem, &options).unwrap_err();
    let many = settings(8, Folds::Random { folds: 31, repeats: 1 });
    assert!(matches!(fails(many), Error::Folds { folds: 31, samples: 30 }));
    let auc = CvOptions { score: Some(Score::Auc), ..settings(8, Folds::default()) };
    assert!(matches!(fails(auc), Error::Unsupported { method: "AUC", .. }));
    let short = settings(8, Folds::Given(vec![0; 3]));
    assert!(matches!(fails(short), Error::Shape { what: "fold labels", found: 3, expected: 30 }));
    let share = StabilityOptions { share: 1.0, ..StabilityOptions::default() };
    assert!(matches!(stability(&problem, &share), Err(Error::Range { name: "share", .. })));
}

#[test]
fn stability_selection_finds_what_matters() {
    for (seed, loss) in [(7, Loss::Squared), (8, Loss::Logistic)] {
        let (x, y) = data(seed, 80, loss);
        let x = Dense::new(80, 10, x).unwrap();
        let problem = Problem::new(&x, y, Penalty::new(0.0, 0.0, 0.3)).unwrap().with_loss(loss).unwrap();
        let path = PathOptions { max_size: Some(5), ..settings(8, Folds::default()).path };
        let options = StabilityOptions { path, subsamples: 30, seed, ..StabilityOptions::default() };
        let found = stability(&problem, &options).unwrap();
        assert_eq!((found.subsamples, found.status), (30, Status::Converged));
        let mut largest = found.largest.clone();
        largest.sort_by(|a, b| b.1.total_cmp(&a.1));
        let mut first: Vec<usize> = largest[..3].iter().map(|f| f.0).collect();
        first.sort_unstable();
        assert_eq!(first, [0, 3, 7], "{:?}", found.largest);
        assert!(largest[2].1 >= 0.8 && [0, 3, 7].iter().all(|j| found.selected(0.8).contains(j)), "{largest:?}");
        assert!(found.frequencies.iter().flatten().all(|f| f.1 > 0.0 && f.1 <= 1.0));
        assert_eq!(found, stability(&problem, &options).unwrap());
        let shifted = StabilityOptions { seed: seed + 1, ..options };
        assert_ne!(found.frequencies, stability(&problem, &shifted).unwrap().frequencies);
    }
}

/// Two features with a clear effect among twenty: the folds must not be fitted just where the second has entered.
#[test]
fn clear_problems_are_not_given_more_features() {
    let mut right = 0;
    for seed in 0..8 {
        let mut rng = rng(950 + seed);
        let (n, p) = (100, 20);
        let x: Vec<f64> = (0..n * p).map(|_| normal(&mut rng)).collect();
        let y: Vec<f64> = (0..n).map(|i| 2.0 * x[i] - 1.5 * x[3 * n + i] + normal(&mut rng)).collect();
        let x = Dense::new(n, p, x).unwrap();
        let problem = Problem::new(&x, y, Penalty::new(0.0, 0.0, 0.5)).unwrap().with_intercept(true);
        let found = cross_validate(&problem, &CvOptions { seed, ..CvOptions::default() }).unwrap();
        right += usize::from(found.one_se_point().solution.support() == [0, 3]);
    }
    assert!(right >= 7, "{right} of 8");
}

mod long {
    use super::*;

    /// The score at a price is the same wherever the path ends: at every size, each with half of the problems.
    #[test]
    fn scores_do_not_depend_on_where_the_path_ends() {
        for seed in 0..12 {
            let (n, loss) = (30 + 3 * seed as usize, if seed % 4 == 3 { Loss::Logistic } else { Loss::Squared });
            let mut rng = rng(100 + seed);
            let p = if seed % 2 == 0 { 12 } else { 60 };
            let rho = [0.0, 0.5, 0.9][seed as usize % 3];
            let mut x: Vec<f64> = (0..n * p).map(|_| normal(&mut rng)).collect();
            (n..n * p).for_each(|k| x[k] += rho * x[k - n]);
            let mut y: Vec<f64> = (0..n).map(|i| x[i] - x[3 * n + i] + x[7 * n + i] + 2.0 * normal(&mut rng)).collect();
            if loss.is_classification() {
                y.iter_mut().for_each(|y| *y = if *y > 0.0 { 1.0 } else { -1.0 });
            }
            let x = Dense::new(n, p, x).unwrap();
            let problem = Problem::new(&x, y, Penalty::new(0.0, 0.0, 0.3)).unwrap().with_intercept(true);
            let problem = problem.with_loss(loss).unwrap();
            let run = |most: usize| {
                let mut options = settings(60, Folds::Random { folds: 4, repeats: 1 });
                (options.path.max_size, options.path.lambda2) = (Some(most), vec![0.1, 2.0]);
                cross_validate(&problem, &options).unwrap()
            };
            let long = run(11);
            for most in (1..11).filter(|most| (*most as u64 + seed / 2).is_multiple_of(2)) {
                let short = run(most);
                for (point, score) in short.path.points.iter().zip(&short.scores) {
                    let same = |p: &&Point| (p.lambda0, p.lambda2) == (point.lambda0, point.lambda2);
                    let k = long.path.points.iter().position(|p| same(&p)).unwrap();
                    let other = &long.path.points[k].solution;
                    assert_eq!(other.coefficients, point.solution.coefficients, "{seed} {most} {}", point.lambda0);
                    assert_eq!(&long.scores[k], score, "{seed} {most} {}", point.lambda0);
                }
            }
        }
    }
}
