//! From samples to a model: the model returned is the one chosen, and what is said of it belongs to it.

mod choice;
mod cut;
mod data;
mod digits;
mod flat;
mod infinite;
mod proof;
mod spread;
mod workers;

use crate::common::{RngExt, assert_close, normal, rng, share};
use bestset::criteria::{Criterion, Fit};
use bestset::cv::Rule;
use bestset::design::Dense;
use bestset::groups::Groups;
use bestset::select::{By, Folded, How, Prove, Remark, Samples, Scale, Selected, Selection, Setup};
use bestset::{Bounds, Coefficients, Error, Loss, Method, Options, Solution, Status};

/// Correlated columns of different scales, a few of which matter.
pub(super) fn data(seed: u64, n: usize, p: usize, rho: f64) -> (Vec<f64>, Vec<f64>) {
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

pub(super) fn select(
    x: &Dense<'_>,
    y: &[f64],
    setup: &Setup,
    options: &Selection,
) -> (Selected, bestset::Coefficients, f64) {
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

pub(super) fn folded(rule: Rule) -> How {
    How::CrossValidation(Folded { rule, ..Folded::default() })
}

/// Never a model worse by its criterion than one in the table beside it, never a number beside a model it does not belong to.
#[test]
fn the_model_has_the_least_criterion_in_its_table() {
    for seed in 0..share(40) as u64 {
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
                let value = Fit::new(&posed.problem, &found.solution.coefficients).unwrap().value(criterion, f64::NAN);
                assert_close(value, own, 1e-7 * own.abs().max(1.0), &seed);
                Ok::<_, bestset::Error>(())
            })
            .unwrap();
        assert_close(objective, found.solution.objective(), 1e-12 * objective, &seed);
        // The largest that was asked for may be the best at no price.
        let is_priced = chosen.prices.0 >= found.lambda0 && found.lambda0 >= 0.99 * chosen.prices.1;
        let own = Remark::OfItsSize(found.solution.support().len());
        assert!(if found.k.is_none() { is_priced } else { found.remarks.contains(&own) }, "{seed}");
        assert!(found.solution.certificate.lower_bound <= objective);
    }
}

#[test]
fn cross_validation_returns_the_point_that_it_chose() {
    for seed in 0..share(8) as u64 {
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
pub(super) fn refusal(setup: &Setup, options: &Selection) -> String {
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
    let prices = Groups::new(&[0, 0, 1, 1, 2, 2, 3, 3]).with_prices(vec![1.0, 2.0, 1.0, 1.0]).unwrap();
    let priced = Setup { groups: Some(prices), ..Setup::default() };
    let start = Options { warm_start: Some(Coefficients::default()), ..Options::default() };
    let cases = [
        (refusal(&Setup::default(), &kept(How::Price(1.0))), "at a price: a single solve has nothing to go on from"),
        (refusal(&Setup::default(), &kept(How::Size(2))), "with a largest size: a single solve"),
        (refusal(&grouped, &kept(How::Criterion(Criterion::Bic))), "for a path with groups"),
        (
            refusal(&priced, &Selection { how: How::Size(2), ..Selection::default() }),
            "a largest size cannot be used where features are always in, or features or groups have prices of their own",
        ),
        (
            refusal(&grouped, &Selection { solve: Options::with_method(Method::Cdss), ..Selection::default() }),
            "method cdss cannot be used with groups",
        ),
        (
            refusal(&grouped, &Selection { solve: Options::with_method(Method::Exact), ..kept(How::Price(1.0)) }),
            "for branch and bound over groups",
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

/// Where the relaxation takes long the usual proof, which would begin with it again, is not made; one that time was set aside for is.
#[test]
fn a_usual_proof_is_made_where_it_is_cheap() {
    let (mut raised, mut asked) = (0, 0);
    for seed in 0..6 {
        let (x, y) = data(seed, 60, 40, 0.4);
        let x = Dense::new(60, 40, x).unwrap();
        let of = |long: usize, prove: Prove| {
            let thresholds = bestset::internals::Thresholds { long, ..Options::default().thresholds };
            let solve = Options { thresholds, ..Options::default() };
            select(&x, &y, &Setup::default(), &Selection { solve, prove, ..Selection::default() }).0.solution
        };
        let (long, none) = (of(0, Prove::Usual), of(0, Prove::No));
        assert_eq!(long.certificate, none.certificate, "{seed}");
        let more = |other: &Solution| usize::from(other.certificate.lower_bound > none.certificate.lower_bound);
        raised += more(&of(Options::default().thresholds.long, Prove::Usual));
        asked += more(&of(0, Prove::For(std::time::Duration::from_secs(20))));
    }
    assert!(raised > 2 && asked > 2, "{raised} {asked}");
}

/// Where X takes long to read a criterion's path ends sooner, and the model is the same.
#[test]
fn a_vast_problem_has_the_model_of_a_small_one() {
    let mut shorter = 0;
    for seed in 0..12 {
        let (x, y) = data(seed, 150, 40, 0.4);
        let x = Dense::new(150, 40, x).unwrap();
        let of = |vast: usize| {
            let thresholds = bestset::internals::Thresholds { vast, ..Options::default().thresholds };
            let solve = Options { thresholds, ..Options::default() };
            select(&x, &y, &Setup::default(), &Selection { solve, ..Selection::default() }).0
        };
        let (small, vast) = (of(usize::MAX), of(0));
        // Which sums an answer came from shows in last digits.
        assert_eq!(small.solution.support(), vast.solution.support(), "{seed}");
        assert!((small.lambda0 / vast.lambda0 - 1.0).abs() < 1e-9, "{seed}: {} {}", small.lambda0, vast.lambda0);
        let (a, b) = (small.solution.certificate, vast.solution.certificate);
        assert!((a.objective - b.objective).abs() < 1e-9 * a.objective, "{seed}: {a:?} {b:?}");
        let points = |found: &Selected| found.chosen.as_ref().unwrap().path.points.len();
        shorter += usize::from(points(&vast) < points(&small));
    }
    assert!(shorter >= 8, "{shorter}");
}
