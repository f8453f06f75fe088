//! From samples to a model: the model returned is the one chosen, and what is said of it belongs to it.

use crate::common::{RngExt, assert_close, normal, rng};
use bestset::criteria::{Criterion, Fit};
use bestset::cv::Rule;
use bestset::design::Dense;
use bestset::groups::Groups;
use bestset::select::{By, Folded, How, Prove, Remark, Samples, Scale, Selected, Selection, Setup};
use bestset::{Bounds, Coefficients, Error, Loss, Method, Options, Status};

/// Correlated columns of different scales, a few of which matter.
fn data(seed: u64, n: usize, p: usize, rho: f64) -> (Vec<f64>, Vec<f64>) {
    let mut rng = rng(seed);
    let mut x: Vec<f64> = (0..n * p).map(|_| normal(&mut rng)).collect();
    (n..n * p).for_each(|k| x[k] += rho * x[k - n]);
    let y = (0..n).map(|i| 2.0 * x[i] - x[3 * n + i] + 0.7 * x[5 * n + i] + normal(&mut rng)).collect();
    for j in 0..p {
        let (scale, shift) = (10f64.powf(rng.random_range(-2.0..2.0)), rng.random_range(-3.0..3.0));
        x[j * n..(j + 1) * n].iter_mut().for_each(|v| *v = scale * (*v + shift));
    }
    (x, y)
}

fn select(x: &Dense<'_>, y: &[f64], setup: &Setup, options: &Selection) -> (Selected, bestset::Coefficients, f64) {
    let samples = Samples { x, y, weights: None, offset: None };
    let found = setup.pose(&samples, |posed| {
        let found = posed.select(options, &mut ())?;
        let model = posed.model(&found)?;
        let problem = posed.priced(found.lambda0, found.lambda2)?;
        let objective = problem.objective(&found.solution.coefficients)?;
        Ok::<_, bestset::Error>((found, model.coefficients, objective))
    });
    found.unwrap()
}

fn folded(rule: Rule) -> How {
    How::CrossValidation(Folded { rule, ..Folded::default() })
}

/// Where branch and bound cannot start, a fit has the bound it has; only who demands a proof hears of it, as an error.
#[test]
fn what_cannot_be_proved_is_fitted_all_the_same() {
    let (x, y) = data(3, 15, 20, 0.3);
    let x = Dense::new(15, 20, x).unwrap();
    let setup = Setup { lambda2: Some(0.0), ..Setup::default() };
    for how in [How::Price(2.0), How::Criterion(Criterion::Ebic { gamma: 1.0 })] {
        let usual = Selection { how: how.clone(), ..Selection::default() };
        let (found, ..) = select(&x, &y, &setup, &usual);
        assert!(found.remarks.iter().all(|r| !matches!(r, Remark::Unproved(_))));
        let timed = Selection { prove: Prove::For(std::time::Duration::from_secs(60)), ..usual.clone() };
        let (found, ..) = select(&x, &y, &setup, &timed);
        assert!(found.remarks.iter().any(|r| matches!(r, Remark::Unproved(Error::TooWide { .. }))), "{how:?}");
        let samples = Samples { x: &x, y: &y, weights: None, offset: None };
        let fully = Selection { solve: Options::with_method(Method::Exact), ..usual };
        let failed = setup.pose(&samples, |posed| posed.select(&fully, &mut ()));
        assert!(matches!(failed, Err(Error::TooWide { .. })));
    }
}

/// Never a model worse by its criterion than one in the table beside it, never a number beside a model it does not belong to.
#[test]
fn the_model_has_the_least_criterion_in_its_table() {
    for seed in 0..30 {
        let (n, p) = [(40, 8), (60, 30), (30, 60), (100, 12)][seed as usize % 4];
        let (x, y) = data(seed, n, p, [0.0, 0.6, 0.95][seed as usize % 3]);
        let x = Dense::new(n, p, x).unwrap();
        let criteria = [Criterion::Ebic { gamma: 1.0 }, Criterion::Bic, Criterion::Aic, Criterion::AdjustedR2];
        let criterion = criteria[seed as usize % 4];
        let setup = Setup { lambda2: [None, Some(1e-4)][seed as usize / 4 % 2], ..Setup::default() };
        let options = Selection { how: How::Criterion(criterion), ..Selection::default() };
        let (found, _, objective) = select(&x, &y, &setup, &options);
        let chosen = found.chosen.as_ref().unwrap();
        let By::Criterion(_, values) = &chosen.by else { panic!() };
        let sign = if criterion.is_maximised() { -1.0 } else { 1.0 };
        let own = values[chosen.point];
        assert_eq!(values.len(), chosen.path.points.len());
        assert!(values.iter().all(|v| v.is_nan() || sign * v >= sign * own), "{seed}: {values:?}");
        assert_eq!(found.solution.support(), chosen.path.points[chosen.point].solution.support(), "{seed}");
        let samples = Samples { x: &x, y: &y, weights: None, offset: None };
        setup
            .pose(&samples, |posed| {
                let value = Fit::new(&posed.problem, &found.solution.coefficients).value(criterion, f64::NAN);
                assert_close(value, own, 1e-7 * own.abs().max(1.0), &seed);
                Ok::<_, bestset::Error>(())
            })
            .unwrap();
        assert_close(objective, found.solution.objective(), 1e-12 * objective, &seed);
        assert!(chosen.prices.0 >= found.lambda0 && found.lambda0 >= 0.99 * chosen.prices.1, "{seed}");
        assert!(found.solution.certificate.lower_bound <= objective);
    }
}

#[test]
fn cross_validation_returns_the_point_that_it_chose() {
    for seed in 0..8 {
        let (n, p) = [(50, 10), (40, 50)][seed as usize % 2];
        let (x, y) = data(seed, n, p, 0.5);
        let x = Dense::new(n, p, x).unwrap();
        for rule in [Rule::Min, Rule::OneSe] {
            let options = Selection { how: folded(rule), ..Selection::default() };
            let (found, ..) = select(&x, &y, &Setup::default(), &options);
            let chosen = found.chosen.as_ref().unwrap();
            let By::CrossValidation(scores, _) = &chosen.by else { panic!() };
            assert_eq!(scores.path.points, chosen.path.points);
            assert_eq!(chosen.point, scores.chosen(rule));
            let point = &chosen.path.points[chosen.point];
            assert_eq!((found.solution.support(), found.lambda2), (point.solution.support(), point.lambda2));
            let best = scores.scores.iter().map(|s| s.mean).fold(f64::INFINITY, f64::min);
            assert_eq!(scores.scores[scores.best].mean, best);
            assert!(rule == Rule::OneSe || scores.scores[chosen.point].mean == best);
        }
    }
}

/// A fit of few features is proved without being asked; the standing says what its numbers say.
#[test]
fn fits_are_proved_where_that_is_cheap() {
    let (x, y) = data(3, 97, 8, 0.4);
    let x = Dense::new(97, 8, x).unwrap();
    let (found, ..) = select(&x, &y, &Setup::default(), &Selection::default());
    assert_eq!(found.solution.status, Status::Optimal);
    assert!(found.standing.is_best && found.standing.to_string().contains("best possible"));
    let none = Selection { prove: Prove::No, ..Selection::default() };
    let (open, ..) = select(&x, &y, &Setup::default(), &none);
    assert_eq!(open.solution.support(), found.solution.support());
    let gap = open.solution.certificate.gap();
    assert!(gap >= 0.0 && open.solution.certificate.lower_bound <= found.solution.objective());
    let mean = y.iter().sum::<f64>() / 97.0;
    let null: f64 = 0.5 * y.iter().map(|y| (y - mean).powi(2)).sum::<f64>();
    assert_close(open.standing.r2_limit, (open.standing.r2 + gap / null).min(1.0), 1e-12, &());
}

/// No subset of at most the penalty of the answer has an R² above the limit: against enumeration.
#[test]
fn the_limit_of_r2_holds_for_every_subset() {
    for seed in 0..20 {
        let (n, p) = (25, 7);
        let (values, y) = data(seed, n, p, 0.8);
        let x = Dense::new(n, p, values).unwrap();
        let options = Selection { how: How::Price(1.0), prove: Prove::No, ..Selection::default() };
        let (found, ..) = select(&x, &y, &Setup::default(), &options);
        let samples = Samples { x: &x, y: &y, weights: None, offset: None };
        let limit = found.standing.r2_limit + 1e-9;
        let checked = Setup::default().pose(&samples, |posed| {
            let penalty = |c: &bestset::Coefficients| {
                c.support.len() as f64 + posed.lambda2() * c.values.iter().map(|b| b * b).sum::<f64>()
            };
            let own = penalty(&found.solution.coefficients);
            let mut counted = 0;
            for mask in 0..1usize << p {
                let support: Vec<usize> = (0..p).filter(|j| mask >> j & 1 == 1).collect();
                let fit = bestset::criteria::refit(&posed.problem, &support, &Options::default())?;
                // Shrunk until it pays no more than the answer.
                let fixed = support.len() as f64;
                let size = penalty(&fit) - fixed;
                if fixed > own {
                    continue;
                }
                let shrink = if size > 0.0 { ((own - fixed) / size).sqrt().min(1.0) } else { 1.0 };
                let fit = bestset::Coefficients { values: fit.values.iter().map(|b| shrink * b).collect(), ..fit };
                let r2 = Fit::new(&posed.problem, &fit).value(Criterion::R2, f64::NAN);
                assert!(r2 <= limit, "{seed} {support:?}: {r2} above {limit}");
                counted += 1;
            }
            Ok::<_, bestset::Error>(counted)
        });
        assert!(checked.unwrap() > 1);
    }
}

/// The scale of the columns changes neither the default model nor its coefficients; y changes them by its own scale.
#[test]
fn defaults_do_not_depend_on_units() {
    for seed in 0..6 {
        let (n, p) = (60, 20);
        let (values, y) = data(seed, n, p, 0.5);
        let x = Dense::new(n, p, values.clone()).unwrap();
        let run = |x: &Dense<'_>, y: &[f64], scale: Scale| {
            let setup = Setup { scale, ..Setup::default() };
            let (found, outside, _) = select(x, y, &setup, &Selection::default());
            (found.solution.status, outside)
        };
        let (status, plain) = run(&x, &y, Scale::Norm);
        let (same, other) = run(&x, &y, Scale::Variance);
        assert_eq!((&other.support, same), (&plain.support, status));
        other.values.iter().zip(&plain.values).for_each(|(a, b)| assert_close(*a, *b, 1e-6 * b.abs(), &seed));
        for power in [-40, 40] {
            let factor = 2f64.powi(power);
            let scaled = Dense::new(n, p, values.iter().map(|v| v * factor).collect::<Vec<f64>>()).unwrap();
            let (same, other) = run(&scaled, &y, Scale::Norm);
            assert_eq!((&other.support, same), (&plain.support, status));
            other.values.iter().zip(&plain.values).for_each(|(a, b)| assert_eq!(a * factor, *b));
        }
    }
}

#[test]
fn sizes_bounds_and_methods() {
    let (values, y) = data(5, 50, 10, 0.3);
    let x = Dense::new(50, 10, values).unwrap();
    let (found, outside, _) =
        select(&x, &y, &Setup::default(), &Selection { how: How::Size(2), ..Selection::default() });
    assert_eq!((outside.support.len(), found.k, found.lambda0), (2, Some(2), 0.0));
    assert_eq!(found.solution.status, Status::Optimal);
    // Bounds are meant on the scale of the columns given.
    let bounds = Bounds::All(-0.01, 0.02);
    let setup = Setup { bounds, ..Setup::default() };
    let (_, outside, _) = select(&x, &y, &setup, &Selection { how: How::Price(1e-6), ..Selection::default() });
    assert!(!outside.support.is_empty() && outside.values.iter().all(|b| (-0.01..=0.02).contains(b)), "{outside:?}");
    let exact = Selection { solve: Options::with_method(Method::Exact), ..Selection::default() };
    let (proved, ..) = select(&x, &y, &Setup::default(), &exact);
    assert_eq!((proved.solution.status, proved.method), (Status::Optimal, Method::Exact));
    let always = Setup { always: vec![9], never: vec![0], loss: Loss::Huber { delta: 1.345 }, ..Setup::default() };
    let (kept, ..) = select(&x, &y, &always, &Selection::default());
    // A size counts every feature the same; a largest size leaves room for those that are always in.
    let samples = Samples { x: &x, y: &y, weights: None, offset: None };
    let two = Setup { always: vec![1, 2], ..Setup::default() };
    let run = |options: Selection| two.pose(&samples, |posed| posed.select(&options, &mut ()));
    let sized = run(Selection { how: How::Size(3), ..Selection::default() });
    let message = sized.unwrap_err().to_string();
    assert!(message.starts_with("a largest size cannot be used where features are always in"), "{message}");
    let small = run(Selection { max_size: Some(1), ..Selection::default() });
    assert_eq!(small.unwrap_err(), bestset::Error::SizeBelowAlways { k: 1, always: 2 });
    assert!([1, 2].iter().all(|j| run(Selection::default()).unwrap().solution.support().contains(j)));
    assert!(kept.solution.support().contains(&9) && !kept.solution.support().contains(&0));
}

/// Units of y: prices whose product no number holds.
#[test]
fn prices_of_any_size_have_a_middle() {
    let (values, y) = data(8, 40, 10, 0.3);
    let x = Dense::new(40, 10, values).unwrap();
    let plain = select(&x, &y, &Setup::default(), &Selection::default()).0;
    for power in [-330, -300, 300, 400] {
        let scaled: Vec<f64> = y.iter().map(|y| y * 2f64.powi(power)).collect();
        let (found, ..) = select(&x, &scaled, &Setup::default(), &Selection::default());
        assert_eq!(
            (found.solution.support(), found.solution.status),
            (plain.solution.support(), plain.solution.status)
        );
    }
}

/// Runners-up that a limit leaves unproved are not called optimal; a second search has a file of its own, or none.
#[test]
fn ranks_and_checkpoints_of_a_choice() {
    let (values, y) = data(11, 40, 14, 0.9);
    let x = Dense::new(40, 14, values).unwrap();
    let mut options = Selection { solve: Options::with_method(Method::Exact), ..Selection::default() };
    (options.solve.top, options.solve.max_nodes) = (200, Some(1));
    let (found, ..) = select(&x, &y, &Setup::default(), &options);
    let complete = found.solution.ranked.len() == 200 && found.solution.ranked.iter().all(|r| r.proved);
    assert!(complete || found.solution.status != Status::Optimal, "{:?}", found.solution.status);
    for seed in 0..6 {
        let (values, y) = data(20 + seed, 30, 14, 0.95);
        let x = Dense::new(30, 14, values).unwrap();
        let file = std::env::temp_dir().join(format!("bestset-select-{}-{seed}.json", std::process::id()));
        let options = Selection { solve: Options::with_method(Method::Exact), ..Selection::default() };
        let plain = select(&x, &y, &Setup::default(), &options).0;
        let kept = Selection { checkpoint: Some(file.clone()), ..options };
        for _ in 0..2 {
            let found = select(&x, &y, &Setup::default(), &kept).0;
            assert_eq!((found.solution.support(), found.lambda0), (plain.solution.support(), plain.lambda0));
        }
        // It is there unless the relaxation proved the answer already.
        let _ = std::fs::remove_file(&file);
    }
}

/// As many coefficients as samples, and a target that does not vary: no criterion takes what it cannot measure.
#[test]
fn criteria_where_they_are_not_defined() {
    let (values, y) = data(2, 6, 10, 0.0);
    let x = Dense::new(6, 10, values).unwrap();
    let how = How::Criterion(Criterion::AdjustedR2);
    let (found, ..) =
        select(&x, &y, &Setup::default(), &Selection { how: how.clone(), max_size: Some(8), ..Selection::default() });
    assert!(found.solution.support().len() < 5, "{:?}", found.solution.support());
    for criterion in Criterion::ALL {
        let options = Selection { how: How::Criterion(criterion), ..Selection::default() };
        let (found, ..) = select(&x, &[3.3; 6], &Setup::default(), &options);
        assert!(found.solution.support().is_empty(), "{}", criterion.name());
    }
}

/// What a selection says when it is refused.
fn refusal(setup: &Setup, options: &Selection) -> String {
    let (values, y) = data(4, 30, 8, 0.5);
    let x = Dense::new(30, 8, values).unwrap();
    let samples = Samples { x: &x, y: &y, weights: None, offset: None };
    let found = setup.pose(&samples, |posed| posed.select(options, &mut ()));
    found.map(|found| found.solution.support().to_vec()).unwrap_err().to_string()
}

/// One λ2 is used wherever it is given; several have nobody to choose among them but samples left out.
#[test]
fn the_ridge_of_a_selection_is_used_or_refused() {
    let (values, y) = data(4, 30, 8, 0.5);
    let x = Dense::new(30, 8, values).unwrap();
    for how in [How::Price(2.0), How::Size(2), How::Criterion(Criterion::Bic)] {
        let options = Selection { how: how.clone(), lambda2: vec![0.25], ..Selection::default() };
        let (found, ..) = select(&x, &y, &Setup::default(), &options);
        let given = Setup { lambda2: Some(0.25), ..Setup::default() };
        let (same, ..) = select(&x, &y, &given, &Selection { lambda2: Vec::new(), ..options.clone() });
        assert_eq!((found.lambda2, &found.solution.coefficients), (0.25, &same.solution.coefficients), "{how:?}");
        let message = refusal(&Setup::default(), &Selection { lambda2: vec![0.25, 0.5], ..options });
        assert!(message.starts_with("lambda2 with the values 0.25, 0.5 cannot be used"), "{message}");
    }
    let samples = Samples { x: &x, y: &y, weights: None, offset: None };
    let options = Selection { lambda2: vec![0.25, 0.5], ..Selection::default() };
    let stable = Setup::default().pose(&samples, |posed| posed.stability(&options, 4, 0.5, 0));
    assert!(matches!(stable, Err(Error::Unused { place: "in stability selection", .. })));
    let path = Setup::default().pose(&samples, |posed| posed.path(&options)).unwrap();
    assert_eq!(path.strands().count(), 2);
}

/// A file, a method or a start that nothing would come of is an error, not passed over.
#[test]
fn settings_without_effect_are_refused() {
    let file = std::env::temp_dir().join(format!("bestset-unused-{}.json", std::process::id()));
    let kept = |how: How| Selection { how, checkpoint: Some(file.clone()), ..Selection::default() };
    let grouped = Setup { groups: Some(Groups::new(&[0, 0, 1, 1, 2, 2, 3, 3])), ..Setup::default() };
    let start = Options { warm_start: Some(Coefficients::default()), ..Options::default() };
    let cases = [
        (refusal(&Setup::default(), &kept(How::Price(1.0))), "at a price: a single solve has nothing to go on from"),
        (refusal(&Setup::default(), &kept(How::Size(2))), "with a largest size: a single solve"),
        (refusal(&grouped, &kept(How::Criterion(Criterion::Bic))), "for a path with groups"),
        (
            refusal(&grouped, &Selection { how: How::Size(2), ..Selection::default() }),
            "a largest size cannot be used with",
        ),
        (
            refusal(&grouped, &Selection { solve: Options::with_method(Method::Exact), ..Selection::default() }),
            "method exact cannot be used with groups",
        ),
        (
            refusal(&Setup::default(), &Selection { solve: start, ..Selection::default() }),
            "a warm start cannot be used",
        ),
        (
            refusal(
                &Setup::default(),
                &Selection {
                    how: How::CrossValidation(Folded { folds: Some(31), ..Folded::default() }),
                    ..Selection::default()
                },
            ),
            "folds is 31; it must be at least 2 and at most 30",
        ),
    ];
    for (message, expected) in cases {
        assert!(message.contains(expected), "{message}");
    }
    assert!(!file.exists());
}

/// A start counts where a size is given: the answer is never worse.
#[test]
fn starts_are_taken() {
    let (values, y) = data(4, 30, 8, 0.5);
    let x = Dense::new(30, 8, values).unwrap();
    let (best, ..) = select(&x, &y, &Setup::default(), &Selection { how: How::Size(3), ..Selection::default() });
    // No time for anything but the start.
    let mut options = Selection { how: How::Size(3), prove: Prove::No, ..Selection::default() };
    options.solve.time_limit = Some(std::time::Duration::ZERO);
    options.solve.warm_start = Some(best.solution.coefficients.clone());
    let (found, ..) = select(&x, &y, &Setup::default(), &options);
    assert!(found.solution.objective() <= best.solution.objective());
    assert!(found.solution.certificate.lower_bound <= best.solution.objective());
}

/// How many of the subsets asked for are known is said where a limit struck, and only there.
#[test]
fn missing_ranks_are_told() {
    let (values, y) = data(11, 40, 14, 0.9);
    let x = Dense::new(40, 14, values).unwrap();
    let mut options =
        Selection { solve: Options::with_method(Method::Exact), how: How::Price(1.0), ..Selection::default() };
    (options.solve.top, options.solve.max_nodes) = (200, Some(1));
    let (found, ..) = select(&x, &y, &Setup::default(), &options);
    let known = found.solution.ranked.iter().filter(|r| r.proved).count();
    assert_eq!(found.remarks, [Remark::Ranks { known, asked: 200, status: Status::NodeLimit }]);
    assert_eq!(found.remarks[0].to_string(), format!("{known} of 200 ranks known: node limit."));
    (options.solve.top, options.solve.max_nodes) = (3, None);
    let (found, ..) = select(&x, &y, &Setup::default(), &options);
    assert!(found.remarks.is_empty() && found.solution.ranked.len() == 3, "{:?}", found.remarks);
}

/// Weights that are no counts are known up to a factor: with all penalties multiplied by it, nothing changes.
#[test]
fn a_factor_of_all_weights_and_penalties_changes_nothing() {
    let (values, y) = data(12, 60, 10, 0.5);
    let x = Dense::new(60, 10, values).unwrap();
    let signs: Vec<f64> = y.iter().map(|y| if *y > 0.0 { 1.0 } else { -1.0 }).collect();
    let mut rng = rng(3);
    let weights: Vec<f64> = (0..60).map(|i| if i % 9 == 0 { 0.0 } else { rng.random_range(0.2..3.0) }).collect();
    let total: f64 = weights.iter().sum();
    for (loss, y) in [(Loss::Squared, &y), (Loss::Logistic, &signs), (Loss::Huber { delta: 1.345 }, &y)] {
        let supports = |factor: f64| -> Vec<Vec<usize>> {
            let weights: Vec<f64> = weights.iter().map(|w| factor * w).collect();
            let samples = Samples { x: &x, y, weights: Some(&weights), offset: None };
            let setup = Setup {
                loss,
                scale: Scale::None,
                lambda2: Some(0.1 * factor),
                lambda1: 0.2 * factor,
                ..Setup::default()
            };
            let chosen = |how: How| {
                let options = Selection { how, prove: Prove::No, ..Selection::default() };
                let found = setup.pose(&samples, |posed| posed.select(&options, &mut ())).unwrap();
                found.solution.support().to_vec()
            };
            let criteria = Criterion::ALL.into_iter().filter(|c| c.is_defined(loss) && *c != Criterion::R2);
            let mut all: Vec<Vec<usize>> = criteria.map(|c| chosen(How::Criterion(c))).collect();
            all.extend([chosen(How::Price(1.5 * factor)), chosen(folded(Rule::Min))]);
            all
        };
        let own = supports(1.0);
        assert!(own.iter().filter(|s| !s.is_empty()).count() > own.len() / 2, "{loss:?} {own:?}");
        for factor in [1.0 / total, 2f64.powi(-20), 37.5] {
            assert_eq!(supports(factor), own, "{loss:?} times {factor}");
        }
    }
}

/// Whole weights are counts: the model is that of repeated rows, whichever criterion chooses it.
#[test]
fn whole_weights_are_repeated_rows() {
    let (n, p) = (40, 8);
    let (values, y) = data(6, n, p, 0.5);
    let weights: Vec<f64> = (0..n).map(|i| f64::from((i * 7 % 4) as u32)).collect();
    let source: Vec<usize> = (0..n).flat_map(|i| vec![i; weights[i] as usize]).collect();
    let long: Vec<f64> = (0..p).flat_map(|j| source.iter().map(move |&i| j * n + i)).map(|k| values[k]).collect();
    let (x, long) = (Dense::new(n, p, values.clone()).unwrap(), Dense::new(source.len(), p, long).unwrap());
    let repeated: Vec<f64> = source.iter().map(|&i| y[i]).collect();
    for criterion in [Criterion::Aic, Criterion::Bic, Criterion::Ebic { gamma: 1.0 }, Criterion::Gic, Criterion::Cp] {
        let options = Selection { how: How::Criterion(criterion), ..Selection::default() };
        let samples = Samples { x: &x, y: &y, weights: Some(&weights), offset: None };
        let weighted = Setup::default().pose(&samples, |posed| posed.select(&options, &mut ())).unwrap();
        let (plain, ..) = select(&long, &repeated, &Setup::default(), &options);
        assert_eq!(weighted.solution.support(), plain.solution.support(), "{}", criterion.name());
    }
}

/// With a checkpoint, progress is shown as without.
#[test]
fn progress_is_shown_with_a_checkpoint() {
    let (values, y) = data(4, 30, 8, 0.5);
    let x = Dense::new(30, 8, values).unwrap();
    let samples = Samples { x: &x, y: &y, weights: None, offset: None };
    for how in [Selection::default().how, folded(Rule::Min)] {
        let seen = |checkpoint: Option<std::path::PathBuf>| {
            let heard = std::sync::Mutex::new(Vec::new());
            let options = Selection { how: how.clone(), checkpoint, prove: Prove::No, ..Selection::default() };
            let show = |progress| heard.lock().unwrap().push(format!("{progress:?}"));
            Setup::default().pose(&samples, |posed| posed.select_observed(&options, &mut (), &show)).unwrap();
            let mut heard = heard.into_inner().unwrap();
            heard.sort();
            heard
        };
        let file = std::env::temp_dir().join(format!("bestset-progress-{}.json", std::process::id()));
        let (plain, kept) = (seen(None), seen(Some(file.clone())));
        assert_eq!(kept, plain);
        assert!(plain.len() > 2, "{plain:?}");
        std::fs::remove_file(&file).unwrap();
    }
}

/// Calls `cancel` at its last row.
struct Last {
    rows: usize,
    cancel: bestset::CancelFlag,
}

impl bestset::Observer for Last {
    fn record(&mut self, _: &bestset::TraceRow) {
        self.rows = self.rows.saturating_sub(1);
        if self.rows == 0 {
            self.cancel.cancel();
        }
    }
}

/// Cancelled between the fit and the proof that was demanded, an answer is an interrupted one.
#[test]
fn a_proof_that_could_not_begin_was_cut_short() {
    let (values, y) = data(11, 40, 14, 0.9);
    let x = Dense::new(40, 14, values).unwrap();
    let samples = Samples { x: &x, y: &y, weights: None, offset: None };
    let run = |method: Method, rows: usize| {
        let mut options = Selection { how: How::Price(1.0), prove: Prove::No, ..Selection::default() };
        options.solve = Options { trace: true, ..Options::with_method(method) };
        let mut observer = Last { rows, cancel: options.solve.cancel.clone() };
        Setup::default().pose(&samples, |posed| posed.select(&options, &mut observer)).unwrap().solution
    };
    let fit = run(Method::Incremental, usize::MAX);
    assert_ne!(fit.status, Status::Optimal, "the fit alone proves it: the test shows nothing");
    let cut = run(Method::Exact, fit.trace.len());
    assert_eq!(cut.status, Status::Interrupted, "{} rows", fit.trace.len());
    assert!(cut.certificate.lower_bound <= cut.objective());
}
