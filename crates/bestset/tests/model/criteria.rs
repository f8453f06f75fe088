//! Criteria by their definitions, along a path, and the refits they are taken at.

use crate::common::{Shape, assert_close, case, normal, rng, share};
use bestset::criteria::{Criterion, Fit, refit};
use bestset::design::Dense;
use bestset::groups::Groups;
use bestset::path::{Grid, PathOptions, path};
use bestset::select::{Posed, Samples, Selection, Setup};
use bestset::{Bounds, Error, Loss, Options, Penalty, Problem};

/// The criteria by hand: n = 4, p = 3, one feature and an intercept, RSS = 2, null 10.
#[test]
fn criteria_by_hand() {
    let fit = Fit {
        deviance: 2.0,
        null_deviance: 10.0,
        samples: 4.0,
        features: 3,
        chosen: 1,
        each: 1,
        size: 1,
        free: 0,
        intercept: true,
        lack: 4.0 * 0.5f64.ln(),
    };
    let lack = fit.lack;
    let value = |criterion| fit.value(criterion, 0.5);
    assert_close(value(Criterion::Aic), lack + 4.0, 1e-12, &());
    assert_close(value(Criterion::Bic), lack + 2.0 * 4f64.ln(), 1e-12, &());
    assert_close(value(Criterion::Ebic { gamma: 0.5 }), lack + 2.0 * 4f64.ln() + 3f64.ln(), 1e-12, &());
    assert_close(value(Criterion::Gic), lack + 2.0 * 3f64.ln() * 4f64.ln().ln(), 1e-12, &());
    assert_close(value(Criterion::Cp), 4.0 - 4.0 + 4.0, 1e-12, &());
    assert_close(value(Criterion::R2), 0.8, 1e-12, &());
    assert_close(value(Criterion::AdjustedR2), 1.0 - 0.2 * 3.0 / 2.0, 1e-12, &());
    // Three classes fit two coefficients for the feature and two intercepts.
    let classes = Fit { lack: 2.0, each: 2, ..fit };
    assert_close(classes.value(Criterion::Aic, 0.5), 2.0 + 8.0, 1e-12, &());
    assert_close(
        classes.value(Criterion::Ebic { gamma: 1.0 }, 0.5),
        2.0 + 4.0 * 4f64.ln() + 2.0 * 3f64.ln(),
        1e-12,
        &(),
    );
    let logistic = Fit { lack: 2.0, ..fit };
    assert_close(logistic.value(Criterion::Aic, f64::NAN), 6.0, 1e-12, &());
}

/// BIC and EBIC find the true support of an easy problem; a weighted fit has the criteria of repeated rows.
#[test]
fn criteria_choose_along_a_path() {
    let mut rng = rng(7);
    let (n, p) = (100, 20);
    let x: Vec<f64> = (0..n * p).map(|_| normal(&mut rng)).collect();
    let y: Vec<f64> = (0..n).map(|i| 3.0 * x[i] - 2.0 * x[4 * n + i] + x[9 * n + i] + normal(&mut rng)).collect();
    let design = Dense::new(n, p, x).unwrap();
    let problem = Problem::new(&design, y, Penalty::new(0.0, 0.0, 0.1)).unwrap().with_intercept(true);
    let found = path(&problem, &PathOptions::default()).unwrap();
    for criterion in [Criterion::Bic, Criterion::Ebic { gamma: 1.0 }, Criterion::Gic] {
        let best = criterion.best(&problem, &found).unwrap();
        assert_eq!(found.points[best].solution.support(), [0, 4, 9], "{criterion:?}");
    }
    let r2 = Criterion::R2.along(&problem, &found).unwrap();
    assert!(r2.windows(2).all(|w| w[1] >= w[0] - 1e-3) && r2[0].abs() < 1e-12);
    let cp = Criterion::Cp.along(&problem, &found).unwrap();
    let free = found.points.last().unwrap().solution.support().len() + 1;
    assert_close(*cp.last().unwrap(), free as f64, 1e-9, &"Cp of the largest model is K");
    // A ridge that shrinks says nothing of the noise: Cp of the largest model without much of it is K beside one, too.
    let ridges = PathOptions { lambda2: vec![0.1, 1e3], max_size: Some(8), ..PathOptions::default() };
    let both = path(&problem, &ridges).unwrap();
    let cp = Criterion::Cp.along(&problem, &both).unwrap();
    let size = |k: usize| both.points[k].solution.support().len();
    let largest = (0..cp.len()).filter(|&k| both.points[k].lambda2 == 0.1).max_by_key(|&k| size(k)).unwrap();
    assert_close(cp[largest], (size(largest) + 1) as f64, 1e-9, &"Cp of the largest model is K");
    assert!(cp.iter().all(|&cp| cp > 0.0), "{cp:?}");
    assert!(Criterion::Ebic { gamma: -1.0 }.along(&problem, &found).is_err());
    let robust = problem.clone().with_loss(Loss::Huber { delta: 1.0 }).unwrap();
    assert!(matches!(Criterion::Cp.along(&robust, &found), Err(Error::Unsupported { method: "Cp", .. })));
    // All together are each by itself, the one that chose with its own γ, and none where it is not defined.
    let own = Criterion::Ebic { gamma: 0.25 };
    for problem in [&problem, &robust] {
        let all = Criterion::all_along(problem, &found, Some(own)).unwrap();
        assert_eq!(all.iter().map(|c| c.0.name()).collect::<Vec<_>>(), Criterion::ALL.map(Criterion::name));
        assert!(all.iter().any(|c| c.0 == own));
        for (criterion, values) in all {
            match criterion.along(problem, &found) {
                Ok(single) => assert_eq!(values, single, "{criterion:?}"),
                Err(_) => assert!(criterion == Criterion::Cp && values.iter().all(|v| v.is_nan())),
            }
        }
        let fit = |p: &bestset::path::Point| Fit::new(problem, &p.solution.coefficients).unwrap();
        let bic: Vec<f64> = found.points.iter().map(|p| fit(p).value(Criterion::Bic, f64::NAN)).collect();
        assert_eq!(Criterion::Bic.along(problem, &found).unwrap(), bic);
    }
}

/// The group of each of nine features.
const LABELS: [usize; 9] = [0, 0, 1, 2, 2, 2, 3, 4, 4];

/// The subsets that have as many priced groups as this one, by looking at all subsets of columns: those that are whole groups, as far as
/// their features may be in, with all that are always in and none that is never.
fn as_many_choices(subset: &[usize], always: &[usize], never: &[usize]) -> usize {
    let of_group = |g: usize| (0..LABELS.len()).filter(move |&j| LABELS[j] == g && !never.contains(&j));
    let has = |mask: usize, j: usize| mask >> j & 1 == 1;
    let is_free = |g: usize| of_group(g).any(|j| always.contains(&j));
    let priced = |mask: usize| (0..5).filter(|&g| !is_free(g) && of_group(g).any(|j| has(mask, j))).count();
    let is_compared = |mask: usize| {
        let is_whole = (0..5).all(|g| of_group(g).all(|j| has(mask, j)) || !of_group(g).any(|j| has(mask, j)));
        is_whole && always.iter().all(|&j| has(mask, j)) && !never.iter().any(|&j| has(mask, j))
    };
    let own = priced(subset.iter().map(|j| 1 << j).sum());
    (0..1usize << LABELS.len()).filter(|&mask| is_compared(mask) && priced(mask) == own).count()
}

/// EBIC pays for the number of choices of groups, GIC for how many there are, whatever their sizes; features that are always or never in are
/// no choice (MATH 10.13, 10.14, 10.24).
#[test]
fn criteria_count_choices_of_groups() {
    let (n, p) = (80, LABELS.len());
    let gamma = 0.7;
    let mut seen = std::collections::HashSet::new();
    for trial in 0..24 {
        let mut rng = rng(741 + trial as u64);
        let x: Vec<f64> = (0..n * p).map(|_| normal(&mut rng)).collect();
        let mut y: Vec<f64> =
            (0..n).map(|i| x[i] + 0.7 * x[n + i] - x[3 * n + i] + x[6 * n + i] + 0.5 * normal(&mut rng)).collect();
        let loss = if trial % 2 == 0 { Loss::Squared } else { Loss::Multinomial { classes: 3 } };
        if trial % 2 == 1 {
            y.iter_mut().for_each(|y| *y = if *y < -0.7 { 0.0 } else { f64::from(u8::from(*y > 0.7)) + 1.0 });
        }
        let always = [vec![], vec![2], vec![7, 8]][trial / 2 % 3].clone();
        let never = [vec![], vec![6], vec![3], vec![3, 4, 5]][trial / 6].clone();
        let groups = Some(Groups::new(&LABELS));
        let setup = Setup { loss, groups, always: always.clone(), never: never.clone(), ..Setup::default() };
        let x = Dense::new(n, p, x).unwrap();
        let judge = |posed: &Posed<'_>| {
            let path = posed.path(&Selection::default())?;
            let along = |criterion: Criterion| criterion.along(&posed.problem, &path);
            let (ebic, bic) = (along(Criterion::Ebic { gamma })?, along(Criterion::Bic)?);
            let (gic, aic) = (along(Criterion::Gic)?, along(Criterion::Aic)?);
            let one_choice: Vec<usize> =
                (0..p).filter(|j| !always.contains(j) && !never.contains(j)).map(|j| LABELS[j]).collect();
            let open = one_choice.iter().collect::<std::collections::HashSet<_>>().len() as f64;
            for (k, point) in path.points.iter().enumerate() {
                let classes = posed.problem.classes();
                let mut own: Vec<usize> = point.solution.support().iter().map(|column| column / classes).collect();
                // A coefficient of a feature that is always in may be zero.
                own.extend(&always);
                own.sort_unstable();
                own.dedup();
                let ways = as_many_choices(&own, &always, &never);
                assert_close(ebic[k] - bic[k], 2.0 * gamma * (ways as f64).ln(), 1e-9, &(trial, k, ways));
                let ratio = (open.ln() * (n as f64).ln().ln() - 2.0) / ((n as f64).ln() - 2.0);
                assert_close((gic[k] - aic[k]) / (bic[k] - aic[k]), ratio, 1e-9, &(trial, k));
                seen.insert(ways);
            }
            Ok::<(), Error>(())
        };
        setup.pose(&Samples { x: &x, y: &y, weights: None, offset: None }, judge).unwrap();
    }
    assert!(seen.is_superset(&[1, 4, 5, 6, 10].into()), "{seen:?}");
}

/// A refit has no shrinkage: the residuals are orthogonal to the selected columns.
#[test]
fn refits_are_least_squares() {
    let mut rng = rng(8);
    for _ in 0..20 {
        let shape = Shape { attained: true, certified: true, wild: false, ..Shape::new(12..=20, 3..=6) };
        let mut case = case(&mut rng, &shape);
        (case.loss, case.penalty.bounds) = (Loss::Squared, Bounds::Free);
        let (y, support): (Vec<f64>, Vec<usize>) = ((0..case.n).map(|_| normal(&mut rng)).collect(), vec![0, 2]);
        case.y = y;
        case.with_problem(|problem| {
            let fit = refit(problem, &support, &Options::default()).unwrap();
            let u = problem.margins(&fit).unwrap();
            let mut alpha = vec![0.0; case.n];
            problem.dual_point(&u, fit.intercept, &mut alpha);
            for &j in &fit.support {
                assert!(case.model().dot(j, &alpha).abs() <= 1e-7 * case.norm(j), "{fit:?}");
            }
            assert!(fit.support.iter().all(|j| support.contains(j)));
            assert!(refit(problem, &[1, 0], &Options::default()).is_err(), "out of order");
        });
    }
}

/// A path for a criterion is the beginning of the path without end, and its choice is the same (MATH 10.21).
#[test]
fn a_path_for_a_criterion_ends_where_it_has_chosen() {
    let mut rng = rng(733);
    let ebic = Criterion::Ebic { gamma: 1.0 };
    let (mut all, mut made) = (0, 0);
    for trial in 0..share(24) {
        let (n, p) = (120, 40);
        let x: Vec<f64> = (0..n * p).map(|_| normal(&mut rng)).collect();
        let true_ones = trial % 5;
        let u = |i: usize| (0..true_ones).map(|j| x[j * n + i]).sum::<f64>();
        let (loss, y): (_, Vec<f64>) = match trial % 3 {
            0 => (Loss::Squared, (0..n).map(|i| u(i) + normal(&mut rng)).collect()),
            1 => (Loss::Logistic, (0..n).map(|i| (2.0 * u(i) + normal(&mut rng)).signum()).collect()),
            _ => (Loss::Poisson, (0..n).map(|i| (0.5 * u(i) + 0.5 * normal(&mut rng)).exp().round()).collect()),
        };
        let design = Dense::new(n, p, x.clone()).unwrap();
        let price = (0..p).map(|j| if j == 7 && trial % 2 == 0 { 0.0 } else { 1.0 }).collect();
        let penalty = Penalty::new(0.0, 0.0, 0.1).with_price(price);
        let problem = Problem::new(&design, y, penalty).unwrap().with_loss(loss).unwrap().with_intercept(true);
        let settings = PathOptions { grid: Grid::for_sizes(30), max_size: Some(30), ..PathOptions::default() };
        let whole = path(&problem, &settings).unwrap();
        let criteria = [ebic, Criterion::Bic, Criterion::Aic, Criterion::Gic, Criterion::Cp];
        for criterion in criteria.into_iter().filter(|c| c.is_defined(loss)) {
            let ended = path(&problem, &PathOptions { until: Some(criterion), ..settings.clone() }).unwrap();
            let (count, last) = (ended.points.len(), ended.points.len() - 1);
            // Times are no part of an answer.
            let answer =
                |p: &bestset::path::Point| (p.lambda0, p.solution.coefficients.clone(), p.solution.certificate);
            let same = ended.points.iter().zip(&whole.points).all(|(a, b)| answer(a) == answer(b));
            assert!(same && count <= whole.points.len(), "{trial} {criterion:?}");
            let choice = |of: &bestset::path::Path| criterion.best(&problem, of).unwrap();
            assert_eq!(choice(&ended), choice(&whole), "{trial} {criterion:?}: ended at {last}");
            if criterion == Criterion::Cp {
                assert_eq!(count, whole.points.len(), "its variance is that of the largest model");
            }
            if criterion == ebic {
                (all, made) = (all + whole.points.len(), made + count);
            }
        }
    }
    assert!(4 * made < 3 * all, "{made} points of {all}");
}
