//! Many classes from samples to a model: answers against the enumeration of all subsets, coefficients against a fit of their own, folds
//! by hand, files, and what is refused.

use crate::common::{ClassCase, assert_close, normal, rng, share};
use bestset::criteria::Criterion;
use bestset::cv::{Rule, Score};
use bestset::design::{Dense, Design};
use bestset::groups::Groups;
use bestset::model::Model;
use bestset::select::{By, Folded, How, Posed, Samples, Scale, Selection, Setup};
use bestset::{ClassCoefficients, Error, Loss, Method, Options, Status};

fn setup(case: &ClassCase) -> Setup {
    Setup {
        loss: Loss::Multinomial { classes: case.classes },
        intercept: case.intercept,
        scale: Scale::None,
        lambda1: case.penalty.lambda1,
        lambda2: Some(case.penalty.lambda2),
        ..Setup::default()
    }
}

/// Poses a case, its classes as numbers.
fn posed<T>(case: &ClassCase, setup: &Setup, body: impl FnOnce(&Posed<'_>, &dyn Design) -> T) -> Result<T, Error> {
    let x = Dense::new(case.n, case.p, case.x.clone())?;
    let y: Vec<f64> = case.labels.iter().map(|y| *y as f64).collect();
    let samples = Samples { x: &x, y: &y, weights: Some(&case.weights), offset: Some(&case.offset) };
    setup.pose(&samples, |posed| Ok(body(posed, &x)))
}

fn selection(how: How, method: Method) -> Selection {
    Selection { how, solve: Options::with_method(method), ..Selection::default() }
}

/// n samples of K classes, of which the first two features tell.
fn plain(seed: u64, n: usize, p: usize, classes: usize) -> ClassCase {
    let mut rng = rng(seed);
    let mut case = ClassCase::random(&mut rng, classes, false);
    (case.n, case.p, case.intercept, case.penalty.lambda1) = (n, p, true, 0.0);
    case.x = (0..n * p).map(|_| normal(&mut rng)).collect();
    let label = |i: usize| {
        let scores = (0..classes).map(|k| {
            let angle = std::f64::consts::TAU * k as f64 / classes as f64;
            2.0 * (angle.cos() * case.x[i] + angle.sin() * case.x[n + i]) + 0.5 * (7.0 * (i * (k + 2)) as f64).sin()
        });
        let scores: Vec<f64> = scores.collect();
        (0..classes).max_by(|&a, &b| scores[a].total_cmp(&scores[b])).unwrap_or(0)
    };
    case.labels = (0..n).map(label).collect();
    (case.weights, case.offset) = (vec![1.0; n], vec![0.0; n * classes]);
    case
}

#[test]
fn selections_against_enumeration() {
    let mut rng = rng(16_001);
    let mut sizes = [0; 6];
    for trial in 0..12 {
        let case = ClassCase::random(&mut rng, 2 + trial % 3, false);
        let (fits, k) = (case.fits(), 1 + trial % case.p);
        let (best, least) = (case.least_of(&fits, case.penalty.lambda0, case.p), case.least_of(&fits, 0.0, k));
        posed(&case, &setup(&case), |posed, _| {
            for (how, best) in [(How::Price(case.penalty.lambda0), best), (How::Size(k), least)] {
                let found = posed.select(&selection(how.clone(), Method::Exact), &mut ()).unwrap();
                let c = found.solution.certificate;
                assert_eq!(found.solution.status, Status::Optimal, "{trial} {how:?}: {c:?}");
                assert_close(c.objective, best, 1e-6 * (1.0 + best), &(trial, &how));
                assert!(c.lower_bound <= best + 1e-9 * (1.0 + best), "{trial} {how:?}: {c:?} {best}");
                let outside = posed.outward(&found.solution.coefficients);
                assert_eq!(outside.nonzeros(), posed.problem.size(&found.solution.coefficients));
                assert!(found.k.is_none_or(|k| outside.nonzeros() <= k), "{trial}");
                sizes[outside.nonzeros()] += 1;
            }
            // Every size at once says the same.
            let all = posed.subsets(case.p, &Options::default()).unwrap();
            assert_close(all.sizes[k - 1].certificate.objective, least, 1e-6 * (1.0 + least), &trial);
            assert!(all.sizes.windows(2).all(|w| w[1].certificate.objective <= w[0].certificate.objective + 1e-9));
        })
        .unwrap();
    }
    assert!(sizes[1..].iter().filter(|s| **s > 0).count() > 1, "{sizes:?}");
}

/// Coefficients of the model are those of the fit on its features, and sum to zero; a file brings them back.
#[test]
fn models_have_the_coefficients_of_the_fit() {
    for trial in 0..6 {
        let mut case = plain(16_100 + trial, 60, 5, 3);
        (case.penalty.lambda0, case.penalty.lambda2) = (3.0, 10f64.powi(trial as i32 - 4));
        case.weights = (0..60).map(|i| [1.0, 0.5, 2.0, 0.0][(i * i) % 4]).collect();
        case.offset = (0..180).map(|at| 0.3 * (at as f64).sin()).collect();
        posed(&case, &setup(&case), |posed, x| {
            let found = posed.select(&selection(How::Size(2), Method::Incremental), &mut ()).unwrap();
            let model = posed.model(&found).unwrap();
            let own = model.classes.clone().unwrap();
            let (_, theta) = case.fit(&own.support);
            assert_eq!((own.support.len(), own.classes(), model.features), (2, 3, 5));
            let mean = theta[6..].iter().sum::<f64>() / 3.0;
            for k in 0..3 {
                let expected = [theta[k], theta[3 + k], theta[6 + k] - mean];
                for (b, e) in own.values[k].iter().chain([&own.intercepts[k]]).zip(expected) {
                    assert_close(*b, e, 1e-8 * (1.0 + e.abs()), &trial);
                }
            }
            for place in 0..2 {
                assert!(own.values.iter().map(|row| row[place]).sum::<f64>().abs() < 1e-12);
            }
            let again = Model::from_json(&model.to_json()).unwrap();
            assert_eq!(again, model);
            assert!(model.to_json().contains("\"version\": 2"));
            let (p, classes) = (
                again.class_probabilities(x, Some(&case.offset)).unwrap(),
                again.likeliest_classes(x, Some(&case.offset)).unwrap(),
            );
            let inside = posed.problem.margins(&found.solution.coefficients).unwrap();
            for i in 0..60 {
                assert_close((0..3).map(|k| p[k * 60 + i]).sum(), 1.0, 1e-12, &i);
                let most = (0..3).max_by(|&a, &b| p[a * 60 + i].total_cmp(&p[b * 60 + i])).unwrap();
                assert_eq!(classes[i], most);
                let odds = (p[i] / p[60 + i]).ln() - (own.intercepts[0] - own.intercepts[1]);
                assert_close(odds, inside[i] - inside[60 + i], 1e-6 * (1.0 + odds.abs()), &(trial, i));
            }
            // D² of the standing is that of the probabilities against shares, offsets beside them.
            let loss = posed.problem.loss_at(&found.solution.coefficients).unwrap();
            let (null, _) = case.fit(&[]);
            assert_close(found.standing.r2, 1.0 - loss / null, 1e-9, &trial);
            assert!(again.predict(x).is_err() && again.classes(x).is_err());
            for damaged in ["\"intercepts\": [", "\"values\": [\n        ["] {
                assert!(Model::from_json(&model.to_json().replacen(damaged, &format!("{damaged}7.0, "), 1)).is_err());
            }
        })
        .unwrap();
    }
}

/// The same model whatever the units of the columns, centred inside.
#[test]
fn scales_of_columns_change_nothing() {
    let case = plain(16_200, 50, 6, 3);
    let own = Setup { loss: Loss::Multinomial { classes: 3 }, ..Setup::default() };
    let fitted = |case: &ClassCase| {
        posed(case, &own, |posed, x| {
            let found = posed.select(&Selection::default(), &mut ()).unwrap();
            (posed.model(&found).unwrap().class_probabilities(x, None).unwrap(), found.lambda0, found.standing.r2)
        })
        .unwrap()
    };
    let mut other = case.clone();
    for (j, scale) in [30.0, 1e3, 1.0, 1e-3, 7.0, 1e5].into_iter().enumerate() {
        other.x[j * 50..(j + 1) * 50].iter_mut().for_each(|x| *x = scale * (*x + 3.0));
    }
    let (a, b) = (fitted(&case), fitted(&other));
    assert!(a.2 > 0.5, "{}", a.2);
    assert_close(a.1, b.1, 1e-5 * a.1, &());
    a.0.iter().zip(&b.0).for_each(|(a, b)| assert_close(*a, *b, 1e-5, &()));
}

/// K = 2 is the logistic loss with λ2/2, whatever selects.
#[test]
fn two_classes_are_a_logistic_regression() {
    let case = plain(16_300, 70, 6, 2);
    let (x, y) = (Dense::new(70, 6, case.x.clone()).unwrap(), &case.labels);
    let signs: Vec<f64> = y.iter().map(|y| 2.0 * *y as f64 - 1.0).collect();
    let numbers: Vec<f64> = y.iter().map(|y| *y as f64).collect();
    let folded = Folded { folds: Some(5), ..Folded::default() };
    let hows = [How::Price(0.7), How::Size(2), How::Criterion(Criterion::Bic), How::CrossValidation(folded)];
    for how in hows {
        let options = selection(how.clone(), Method::Incremental);
        let one = Setup { loss: Loss::Logistic, lambda2: Some(0.005), ..Setup::default() };
        let samples = Samples { x: &x, y: &signs, weights: None, offset: None };
        let (alone, r2, score) = one
            .pose(&samples, |posed| {
                let found = posed.select(&options, &mut ())?;
                Ok::<_, Error>((posed.model(&found)?, found.standing.r2, best_score(&found)))
            })
            .unwrap();
        let two = Setup { loss: Loss::Multinomial { classes: 2 }, lambda2: Some(0.01), ..Setup::default() };
        let samples = Samples { y: &numbers, ..samples };
        let (both, other, second) = two
            .pose(&samples, |posed| {
                let found = posed.select(&options, &mut ())?;
                Ok::<_, Error>((posed.model(&found)?, found.standing.r2, best_score(&found)))
            })
            .unwrap();
        assert_eq!(alone.coefficients.support, both.coefficients.support, "{how:?}");
        assert_close(r2, other, 1e-5, &how);
        assert_close(score, second, 1e-4 * (1.0 + score.abs()), &how);
        let classes = both.classes.unwrap();
        for (place, b) in alone.coefficients.values.iter().enumerate() {
            assert_close(classes.values[1][place] - classes.values[0][place], *b, 1e-5 * (1.0 + b.abs()), &how);
        }
        let shift = classes.intercepts[1] - classes.intercepts[0];
        assert_close(shift, alone.coefficients.intercept, 1e-5 * (1.0 + shift.abs()), &how);
    }
}

fn best_score(found: &bestset::select::Selected) -> f64 {
    match found.chosen.as_ref().map(|c| &c.by) {
        Some(By::CrossValidation(cv, _)) => cv.scores[cv.best].mean,
        _ => 0.0,
    }
}

/// Scores without features are those of the shares of the classes in the training part.
#[test]
fn folds_by_hand() {
    let (n, classes) = (48, 4);
    let case = plain(16_400, n, 5, classes);
    for score in [Score::Deviance, Score::Accuracy] {
        posed(&case, &Setup { loss: Loss::Multinomial { classes }, ..Setup::default() }, |posed, _| {
            let folded = Folded { folds: Some(6), score: Some(score), rule: Rule::Min, seed: 3, ..Folded::default() };
            let found = posed.select(&selection(How::CrossValidation(folded), Method::Incremental), &mut ()).unwrap();
            let Some(By::CrossValidation(cv, _)) = found.chosen.as_ref().map(|c| &c.by) else { panic!("{score:?}") };
            let null = cv.score_of(found.lambda2, 0).unwrap();
            let parts = &cv.parts[0];
            for (part, value) in null.folds.iter().enumerate() {
                let share = |k: usize| {
                    let kept = (0..n).filter(|&i| parts[i] != part);
                    kept.clone().filter(|&i| case.labels[i] == k).count() as f64 / kept.count() as f64
                };
                let test: Vec<usize> = (0..n).filter(|&i| parts[i] == part).collect();
                let most = (1..classes).fold(0, |best, k| if share(k) > share(best) { k } else { best });
                let one = |i: &usize| match score {
                    Score::Accuracy => f64::from(u8::from(share(case.labels[*i]) == share(most))),
                    _ => -2.0 * share(case.labels[*i]).ln(),
                };
                // Of equal shares rounding may choose either.
                let tied = (0..classes).filter(|&k| share(k) == share(most)).count() > 1;
                if score == Score::Deviance || !tied {
                    assert_close(*value, test.iter().map(one).sum::<f64>() / test.len() as f64, 1e-9, &(score, part));
                }
            }
            let size = posed.problem.size(&found.solution.coefficients);
            assert!(size >= 2 && found.standing.r2 > 0.25, "{size}: {}", found.standing.r2);
            let shares = cv.frequencies(found.lambda2, size);
            assert!(shares.iter().all(|(j, share)| *j < 5 && *share > 0.0 && *share <= 1.0), "{shares:?}");
            assert_eq!(cv.left_out_classes(&posed.problem, found.lambda2, size).unwrap().len(), n);
        })
        .unwrap();
    }
}

#[test]
fn features_that_are_in_out_or_together() {
    let case = plain(16_500, 60, 6, 3);
    let usual = Setup { loss: Loss::Multinomial { classes: 3 }, ..Setup::default() };
    let support = |setup: Setup| {
        posed(&case, &setup, |posed, _| {
            let found = posed.select(&Selection::default(), &mut ()).unwrap();
            assert!(found.solution.certificate.lower_bound <= found.solution.objective());
            posed.model(&found).unwrap().coefficients.support
        })
        .unwrap()
    };
    assert_eq!(support(usual.clone()), [0, 1]);
    assert_eq!(support(Setup { always: vec![4], ..usual.clone() }), [0, 1, 4]);
    assert!(!support(Setup { never: vec![0], ..usual.clone() }).contains(&0));
    assert_eq!(support(Setup { groups: Some(Groups::new(&[0, 0, 1, 1, 2, 2])), ..usual.clone() }), [0, 1]);
    let paired = support(Setup { groups: Some(Groups::new(&[0, 1, 2, 2, 1, 0])), ..usual.clone() });
    assert_eq!(paired, [0, 1, 4, 5]);
    let mut expensive = vec![1.0; 6];
    expensive[1] = 1e6;
    let dear = Setup { price: bestset::Factors::Each(expensive), ..usual.clone() };
    posed(&case, &dear, |posed, _| {
        let found = posed.select(&selection(How::Price(1.0), Method::Incremental), &mut ()).unwrap();
        assert!(!posed.outward(&found.solution.coefficients).support.contains(&1));
    })
    .unwrap();
    // Within bounds: each b_jk.
    let bounded = Setup { bounds: bestset::Bounds::All(-0.5, 0.5), ..usual };
    posed(&case, &bounded, |posed, _| {
        let found = posed.select(&selection(How::Size(2), Method::Incremental), &mut ()).unwrap();
        let own = posed.model(&found).unwrap().classes.unwrap();
        assert!(own.values.iter().flatten().all(|b| b.abs() <= 0.5), "{own:?}");
        assert!(own.values.iter().flatten().any(|b| b.abs() == 0.5), "{own:?}");
    })
    .unwrap();
}

#[test]
fn given_coefficients_are_judged() {
    let case = plain(16_600, 60, 6, 3);
    let usual = Setup { loss: Loss::Multinomial { classes: 3 }, ..Setup::default() };
    for how in [How::Price(1.0), How::Size(2)] {
        posed(&case, &usual, |posed, _| {
            let options = selection(how.clone(), Method::Exact);
            let found = posed.select(&options, &mut ()).unwrap();
            let own = posed.model(&found).unwrap().classes.unwrap();
            let judged = posed.certify_classes(&own, &options, &mut ()).unwrap();
            assert_eq!(judged.status, Status::Optimal, "{how:?}: {:?}", judged.certificate);
            assert_close(
                judged.certificate.objective,
                found.solution.objective(),
                1e-9 * found.solution.objective(),
                &how,
            );
            // Worse intercepts, and worse coefficients, are worse.
            let mut worse = own.clone();
            worse.intercepts[0] += 1.0;
            let other = posed.certify_classes(&worse, &options, &mut ()).unwrap();
            assert!(other.certificate.objective > judged.certificate.objective + 0.01);
            assert_eq!(other.status, Status::Converged);
            worse.intercepts.pop();
            assert!(posed.certify_classes(&worse, &options, &mut ()).is_err());
            let many = ClassCoefficients { support: vec![0, 1, 2], values: vec![vec![0.1, 0.2, 0.3]; 3], ..own };
            let large = posed.certify_classes(&many, &options, &mut ()).unwrap();
            assert_eq!(large.certificate.objective.is_infinite(), how == How::Size(2));
        })
        .unwrap();
    }
}

#[test]
fn bad_input_is_named() {
    let case = plain(16_700, 30, 3, 3);
    let usual = Setup { loss: Loss::Multinomial { classes: 3 }, ..Setup::default() };
    let refused = |case: &ClassCase, setup: &Setup, how: How| {
        posed(case, setup, |posed, _| posed.select(&selection(how, Method::Incremental), &mut ()).err())
            .unwrap_or_else(Some)
            .expect("it is refused")
    };
    let one = Setup { loss: Loss::Multinomial { classes: 1 }, ..Setup::default() };
    let mut alone = case.clone();
    alone.labels.fill(0);
    alone.offset = vec![0.0; 30];
    assert!(matches!(refused(&alone, &one, How::Price(1.0)), Error::Range { name: "classes", .. }));
    alone.offset = vec![0.0; 90];
    assert_eq!(refused(&alone, &usual, How::Price(1.0)), Error::EmptyClass { class: 1 });
    let mut weightless = case.clone();
    (0..30).filter(|&i| case.labels[i] == 2).for_each(|i| weightless.weights[i] = 0.0);
    assert_eq!(refused(&weightless, &usual, How::Price(1.0)), Error::EmptyClass { class: 2 });
    let mut beyond = case.clone();
    beyond.labels[4] = 3;
    let said = refused(&beyond, &usual, How::Price(1.0));
    assert_eq!(said, Error::ClassNumber { index: 4, value: 3.0, classes: 3 });
    assert!(said.to_string().contains("from 0 to 2"), "{said}");
    let mut short = case.clone();
    short.offset = vec![0.0; 30];
    assert!(matches!(refused(&short, &usual, How::Price(1.0)), Error::Shape { found: 30, expected: 90, .. }));
    // A sample alone of its class: an answer, but no folds.
    let mut single = case.clone();
    single.labels.iter_mut().for_each(|y| *y = (*y).min(1));
    single.labels[7] = 2;
    let folds = How::CrossValidation(Folded { folds: Some(5), ..Folded::default() });
    assert_eq!(refused(&single, &usual, folds), Error::EmptyClass { class: 2 });
    posed(&single, &usual, |posed, _| {
        let found = posed.select(&Selection::default(), &mut ()).unwrap();
        assert!(found.solution.certificate.lower_bound <= found.solution.objective());
    })
    .unwrap();
    let auc = How::CrossValidation(Folded { score: Some(Score::Auc), ..Folded::default() });
    assert!(refused(&case, &usual, auc).to_string().contains("two classes"));
    let no_ridge = Setup { lambda2: Some(0.0), ..usual };
    let said = refused(&case, &no_ridge, How::Price(1.0)).to_string();
    assert!(said.contains("set lambda2 above 0") && !said.contains("method"), "{said}");
}

/// A path of many classes goes from size to size, as others do: the prices at which features enter are those of the loss where it is, not of
/// the largest curvature it can have.
#[test]
fn paths_of_classes_leave_out_few_sizes() {
    let (mut steps, mut sizes) = (0, 0);
    for seed in 0..6 {
        let mut rng = rng(4400 + seed);
        let (n, p, classes) = (90, 12, 3);
        let x: Vec<f64> = (0..n * p).map(|_| normal(&mut rng)).collect();
        let score = |i: usize, k: usize| (0..4).map(|j| x[j * n + i] * [2.0, -1.0, 1.5][(j + k) % 3]).sum::<f64>();
        let y: Vec<f64> = (0..n)
            .map(|i| {
                let noisy: Vec<f64> = (0..classes).map(|k| score(i, k) + 2.0 * normal(&mut rng)).collect();
                (0..classes).max_by(|&a, &b| noisy[a].total_cmp(&noisy[b])).unwrap() as f64
            })
            .collect();
        let x = Dense::new(n, p, x).unwrap();
        let setup = Setup { loss: Loss::Multinomial { classes }, lambda2: Some(0.01), ..Setup::default() };
        let samples = Samples { x: &x, y: &y, weights: None, offset: None };
        let how = How::Criterion(bestset::criteria::Criterion::Ebic { gamma: 1.0 });
        let options = Selection { how, ..Selection::default() };
        let found = setup.pose(&samples, |posed| posed.select(&options, &mut ())).unwrap();
        let path = &found.chosen.unwrap().path;
        let met: Vec<usize> = path.points.iter().map(|p| p.solution.support().len() / classes).collect();
        steps += met.windows(2).filter(|w| w[1] > w[0]).count();
        sizes += met.last().unwrap();
    }
    // Steps of two features or more were the rule: 0, 2, 4, 14.
    assert!(sizes > 20 && 4 * steps >= 3 * sizes, "{steps} steps to {sizes} features");
}

/// Sizes of many classes whose ridge is so small that R says little: the answer grows from nothing, is that of the proof where this is
/// within reach, and a bound is not above it.
#[test]
fn sizes_of_classes_grow_from_nothing() {
    let (mut best, total) = (0, share(8));
    for seed in 0..total as u64 {
        let mut case = plain(4500 + seed, 60, 8, 3);
        case.penalty.lambda2 = 1e-3;
        let k = 1 + seed as usize % 4;
        let found = posed(&case, &setup(&case), |posed, _| {
            posed.select(&selection(How::Size(k), Method::Incremental), &mut ()).unwrap()
        })
        .unwrap();
        let proved = posed(&case, &setup(&case), |posed, _| {
            posed.select(&selection(How::Size(k), Method::Exact), &mut ()).unwrap()
        })
        .unwrap();
        let (own, least) = (found.solution.objective(), proved.solution.objective());
        assert_eq!(proved.solution.status, Status::Optimal, "{seed}");
        assert!(own >= least * (1.0 - 1e-9), "{seed}: {own} below {least}, which is proved");
        assert!(found.solution.certificate.lower_bound <= own, "{seed}");
        best += usize::from(own <= least * (1.0 + 1e-9));
    }
    assert!(best + 1 >= total, "{best} of {total} are the best");
}

/// A near copy of a feature in the model has nothing to gain beside it: exchanging the two is looked at all the same. Of neighbours correlated
/// by .9 no answer of a size has a single exchange that lowers it.
#[test]
fn near_copies_are_exchanged() {
    let (n, p, classes, k) = (80, 300, 3, 6);
    for seed in 0..share(6) as u64 {
        let mut rng = rng(4700 + seed);
        let mut case = plain(4700 + seed, n, p, classes);
        (1..p).for_each(|j| {
            (0..n).for_each(|i| case.x[j * n + i] = 0.9 * case.x[(j - 1) * n + i] + 0.44 * case.x[j * n + i])
        });
        let score = |i: usize, c: usize| {
            (0..7).map(|j| case.x[(40 * j + 30) * n + i] * [1.0, -0.8, 0.6][(j + c) % 3]).sum::<f64>()
        };
        let label = |i: usize, rng: &mut _| {
            let noisy: Vec<f64> = (0..classes).map(|c| score(i, c) + 0.7 * normal(rng)).collect();
            (0..classes).max_by(|&a, &b| noisy[a].total_cmp(&noisy[b])).unwrap_or(0)
        };
        case.labels = (0..n).map(|i| label(i, &mut rng)).collect();
        case.penalty.lambda2 = 1e-2;
        let (own, chosen) = posed(&case, &setup(&case), |posed, _| {
            let found = posed.select(
                &Selection { prove: bestset::select::Prove::No, ..selection(How::Size(k), Method::Incremental) },
                &mut (),
            );
            let found = found.unwrap();
            (found.solution.objective(), posed.model(&found).unwrap().coefficients.support)
        })
        .unwrap();
        for at in 0..chosen.len() {
            for near in
                [chosen[at].wrapping_sub(1), chosen[at] + 1].into_iter().filter(|j| *j < p && !chosen.contains(j))
            {
                let mut other = chosen.clone();
                other[at] = near;
                other.sort_unstable();
                let value = case.fit(&other).0;
                assert!(own <= value * (1.0 + 1e-7), "{seed}: {own} on {chosen:?}, {value} on {other:?}");
            }
        }
    }
}
