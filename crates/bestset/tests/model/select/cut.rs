//! A limit that strikes at any reading of X, the first look with it: the best answer until then, at the least the model without features.

use super::{data, folded};
use crate::common::{Watched, assert_close};
use bestset::criteria::Criterion;
use bestset::cv::Rule;
use bestset::design::{Dense, Design};
use bestset::groups::Groups;
use bestset::select::{How, Posed, Progress, Prove, Samples, Scale, Selected, Selection, Setup};
use bestset::{CancelFlag, Coefficients, Error, Limits, Loss, Method, Options, Status};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

const SHAPE: (usize, usize) = (40, 8);

/// What `body` makes of a problem whose X is cancelled at reading 0, 1, … of it, and whether it was; ends with what is not cut short.
fn at_every_reading<T>(
    label: &str,
    setup: &Setup,
    mut body: impl FnMut(&Posed<'_>, &Limits) -> bestset::Result<T>,
) -> Vec<(T, bool)> {
    let (values, y) = data(7, SHAPE.0, SHAPE.1, 0.5);
    let x = Dense::new(SHAPE.0, SHAPE.1, values).unwrap();
    let mut all = Vec::new();
    // Every reading of the first look, then fewer and fewer: there are thousands.
    let mut readings = 0;
    loop {
        let (left, cancel) = (AtomicUsize::new(readings), CancelFlag::default());
        let before = |_: usize| {
            let take = |left: usize| left.checked_sub(1);
            let is_over = left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_err();
            if is_over {
                cancel.cancel();
            }
            if cancel.is_cancelled() { Err(Error::Stopped) } else { Ok(()) }
        };
        let watched = Watched { inner: &x, before: &before };
        let samples = Samples { x: &watched, y: &y, weights: None, offset: None };
        let limits = Limits::begin(None, cancel.clone());
        let found = setup.pose_within(&samples, &limits, |posed| body(posed, &limits));
        let found = found.unwrap_or_else(|error| panic!("{label}, reading {readings}: {error}"));
        all.push((found, cancel.is_cancelled()));
        if !cancel.is_cancelled() {
            return all;
        }
        readings += 1 + readings / 6;
    }
}

fn selection(how: &How, method: Method, limits: &Limits) -> Selection {
    let solve = Options { method, cancel: limits.cancel().clone(), threads: Some(1), ..Options::default() };
    Selection { how: how.clone(), prove: Prove::No, solve, ..Selection::default() }
}

/// P of the model without features, from y alone.
fn null(loss: Loss) -> f64 {
    let (values, y) = data(7, SHAPE.0, SHAPE.1, 0.5);
    let x = Dense::new(SHAPE.0, SHAPE.1, values).unwrap();
    let samples = Samples { x: &x, y: &y, weights: None, offset: None };
    let value = |posed: &Posed<'_>| {
        posed.priced(1.0, 1.0)?.objective(&Coefficients {
            intercept: posed.problem.best_intercept(&vec![0.0; y.len()], 0.0),
            ..Coefficients::default()
        })
    };
    Setup { loss, ..Setup::default() }.pose(&samples, value).unwrap()
}

fn setups() -> Vec<Setup> {
    let plain = |scale: Scale, lambda2: Option<f64>| Setup { scale, lambda2, ..Setup::default() };
    vec![
        plain(Scale::Norm, None),
        plain(Scale::Variance, Some(0.5)),
        plain(Scale::None, Some(0.5)),
        Setup { loss: Loss::Huber { delta: 1.345 }, delta_in_spreads: true, ..Setup::default() },
        Setup { loss: Loss::Huber { delta: 2.0 }, ..Setup::default() },
    ]
}

/// Once the path has an answer with features, or a fold is done, no limit takes it away: the choice reads columns again, but what they would
/// say is known.
#[test]
fn a_limit_after_the_path_keeps_its_answers() {
    for how in [How::Criterion(Criterion::Bic), How::Criterion(Criterion::Cp), folded(Rule::Min), folded(Rule::OneSe)] {
        for method in [Method::Incremental, Method::Exact] {
            let found = at_every_reading(&format!("{how:?} {method:?}"), &Setup::default(), |posed, limits| {
                let had = AtomicUsize::new(0);
                let seen = |progress: Progress| {
                    let has_answer = matches!(progress, Progress::Path(1..) | Progress::Folds(1.., _));
                    had.fetch_add(usize::from(has_answer), Ordering::Relaxed);
                };
                let found = posed.select_observed(&selection(&how, method, limits), &mut (), &seen)?;
                Ok((found, had.into_inner() > 0))
            });
            let kept: Vec<&Selected> = found.iter().filter(|((_, had), _)| *had).map(|((one, _), _)| one).collect();
            assert!(kept.len() > 10, "{how:?} {method:?}: {}", kept.len());
            for one in kept {
                assert!(one.chosen.is_some() && !one.solution.support().is_empty(), "{how:?} {method:?} {one:?}");
                assert!(one.solution.certificate.lower_bound > 0.0, "{how:?} {method:?}");
            }
        }
    }
}

/// The criterion of a point whose columns cannot be read is that of its P and its penalties.
#[test]
fn criteria_of_what_cannot_be_read_are_those_of_its_terms() {
    let (values, y) = data(7, SHAPE.0, SHAPE.1, 0.5);
    let x = Dense::new(SHAPE.0, SHAPE.1, values).unwrap();
    let groups = [None, Some(Groups::new(&[0, 0, 1, 1, 2, 3, 3, 4]))];
    let losses = [Loss::Squared, Loss::Huber { delta: 1.0 }];
    for (groups, loss) in groups.iter().flat_map(|groups| losses.map(|loss| (groups, loss))) {
        let is_gone = AtomicUsize::new(0);
        let before = |_: usize| if is_gone.load(Ordering::Relaxed) > 0 { Err(Error::Stopped) } else { Ok(()) };
        let watched = Watched { inner: &x, before: &before };
        let samples = Samples { x: &watched, y: &y, weights: None, offset: None };
        let setup = Setup { loss, lambda1: 0.05, groups: groups.clone(), ..Setup::default() };
        let judged = setup.pose(&samples, |posed| {
            let path = posed.path(&Selection { lambda2: vec![0.01, 0.1], ..Selection::default() })?;
            let all = || Criterion::all_along(&posed.problem, &path, None);
            let read = all()?;
            is_gone.fetch_add(1, Ordering::Relaxed);
            Ok::<_, Error>((read, all()?))
        });
        let (read, known) = judged.unwrap();
        for ((criterion, read), (_, known)) in read.iter().zip(&known) {
            for (a, b) in read.iter().zip(known) {
                assert!(a.is_nan() && b.is_nan() || (a - b).abs() < 1e-6 * (1.0 + a.abs()), "{criterion:?}: {a} {b}");
            }
        }
    }
}

fn judge(one: &Selected, label: &str) {
    assert_eq!(one.solution.status, Status::Interrupted, "{label}");
    let (bound, objective) = (one.solution.certificate.lower_bound, one.solution.objective());
    assert!(bound >= 0.0 && bound <= objective * (1.0 + 1e-9), "{label}: {bound} of {objective}");
}

#[test]
fn a_path_has_the_model_without_features_at_the_least() {
    for prices in [vec![], vec![5.0, 1.0]] {
        let found = at_every_reading("a path", &Setup::default(), |posed, limits| {
            let grid = Selection::prices(&prices, None, None);
            posed.path(&Selection { grid, ..selection(&How::Price(1.0), Method::Incremental, limits) })
        });
        for (path, was_cut) in &found {
            assert!(!path.points.is_empty());
            assert_eq!(path.status, if *was_cut { Status::Interrupted } else { Status::Converged });
            let bounds = path.points.iter().map(|p| (p.solution.certificate.lower_bound, p.solution.objective()));
            assert!(
                bounds.clone().all(|(bound, p)| (0.0..=p * (1.0 + 1e-9)).contains(&bound)),
                "{:?}",
                bounds.collect::<Vec<_>>()
            );
        }
        let first = &found[0].0.points[0];
        assert!(first.solution.support().is_empty());
        assert_eq!(first.lambda0, prices.first().copied().unwrap_or(first.lambda0));
        assert!(found.len() > 10);
    }
}

/// Where no answer can be had it is said why: λ2 that is a share of what was not read, coefficients that cannot be judged.
#[test]
fn what_cannot_be_answered_says_that_nothing_was_found() {
    let (values, y) = data(7, SHAPE.0, SHAPE.1, 0.5);
    let x = Dense::new(SHAPE.0, SHAPE.1, values).unwrap();
    let (cancel, before) = (CancelFlag::default(), |_: usize| Err(Error::Stopped));
    cancel.cancel();
    let watched = Watched { inner: &x, before: &before };
    let samples = Samples { x: &watched, y: &y, weights: None, offset: None };
    let limits = Limits::begin(None, cancel);
    let options = selection(&How::Price(1.0), Method::Incremental, &limits);
    let unscaled = Setup { scale: Scale::None, ..Setup::default() };
    let found = unscaled.pose_within(&samples, &limits, |posed| posed.select(&options, &mut ()));
    let said = found.map(|_| ()).unwrap_err().to_string();
    assert!(said.contains("before there was an answer to return"), "{said}");
    let given = Coefficients::from_pairs(vec![(1, 1.0)], 0.0);
    let found = Setup::default().pose_within(&samples, &limits, |posed| posed.certify(&given, &options, &mut ()));
    assert_eq!(found.map(|_| ()).unwrap_err(), Error::Stopped);
}

/// The limit that struck is the one that is said, and a start that is not known inside is not taken.
#[test]
fn a_time_limit_is_said_and_a_start_is_left_out() {
    let (values, y) = data(7, SHAPE.0, SHAPE.1, 0.5);
    let x = Dense::new(SHAPE.0, SHAPE.1, values).unwrap();
    let before = |_: usize| Err(Error::Stopped);
    let watched = Watched { inner: &x, before: &before };
    let samples = Samples { x: &watched, y: &y, weights: None, offset: None };
    let limits = Limits::begin(Some(Duration::ZERO), CancelFlag::default());
    for how in [How::Price(1.0), How::Size(2)] {
        let mut options = selection(&how, Method::Exact, &limits);
        options.solve.warm_start = Some(Coefficients::from_pairs(vec![(1, 1.0)], 0.0));
        let found = Setup::default().pose_within(&samples, &limits, |posed| posed.select(&options, &mut ())).unwrap();
        assert_eq!(found.solution.status, Status::TimeLimit);
        assert!(found.solution.support().is_empty());
        assert_eq!(found.solution.certificate.lower_bound, 0.0);
    }
}

/// A design of many parts for a long look.
struct InParts<'d>(&'d Dense<'d>);

impl Design for InParts<'_> {
    fn nrows(&self) -> usize {
        self.0.nrows()
    }

    fn ncols(&self) -> usize {
        self.0.ncols()
    }

    fn is_sparse(&self) -> bool {
        false
    }

    fn stored(&self) -> usize {
        self.0.stored()
    }

    fn correlate(&self, features: &[usize], v: &[f64], out: &mut [f64]) -> bestset::Result<()> {
        self.0.correlate(features, v, out)
    }

    fn axpy(&self, j: usize, a: f64, out: &mut [f64]) -> bestset::Result<()> {
        self.0.axpy(j, a, out)
    }

    fn column(&self, j: usize, out: &mut bestset::design::Column) -> bestset::Result<()> {
        self.0.column(j, out)
    }

    fn trip(&self) -> Option<usize> {
        Some(3)
    }
}

/// A look at columns in memory ends between two parts of it, and has the same bits in parts.
#[test]
fn a_long_look_at_columns_in_memory_can_be_ended() {
    let (values, _) = data(7, SHAPE.0, SHAPE.1, 0.5);
    let x = Dense::new(SHAPE.0, SHAPE.1, values).unwrap();
    let asked = AtomicUsize::new(0);
    let count = || {
        asked.fetch_add(1, Ordering::Relaxed);
        Ok(())
    };
    let found = bestset::design::moments_while(&InParts(&x), None, &count).unwrap();
    assert_eq!(found, bestset::design::moments(&x, None).unwrap());
    assert_eq!(asked.into_inner(), SHAPE.1.div_ceil(3) - 1);
    let ended = bestset::design::moments_while(&InParts(&x), None, &|| Err(Error::Stopped));
    assert_eq!(ended, Err(Error::Stopped));
}

mod long {
    use super::*;

    #[test]
    fn a_limit_at_any_reading_leaves_an_answer_with_a_bound() {
        let hows = [How::Price(3.0), How::Size(3), How::Criterion(Criterion::Bic), folded(Rule::Min)];
        for setup in setups() {
            for (how, method) in hows.iter().flat_map(|how| [(how, Method::Incremental), (how, Method::Exact)]) {
                let found =
                    at_every_reading(&format!("{how:?} {method:?} {:?}", setup.loss), &setup, |posed, limits| {
                        let found = posed.select(&selection(how, method, limits), &mut ())?;
                        let problem = match found.k {
                            Some(k) => posed.limited(k, found.lambda2)?,
                            None => posed.priced(found.lambda0, found.lambda2)?,
                        };
                        Ok((found, problem.loss().delta()))
                    });
                let ((whole, _), cuts) = (&found[found.len() - 1].0, found.len() - 1);
                assert!(cuts > 10, "{how:?} {cuts}");
                for (number, ((one, delta), _)) in found[..cuts].iter().enumerate() {
                    let label = format!("{how:?} {method:?} {:?} {number}", setup.loss);
                    // Some readings come after the answer, for what is said of it.
                    if one.solution.status == whole.solution.status {
                        assert_eq!(one.solution.support(), whole.solution.support(), "{label}");
                        let best = whole.solution.objective();
                        assert_close(one.solution.objective(), best, 1e-6 * best, &label);
                        continue;
                    }
                    judge(one, &label);
                    // The same problem: what is proved of the best subset is not above the best known.
                    if one.lambda0 == whole.lambda0 && one.lambda2 == whole.lambda2 && *delta == found[cuts].0.1 {
                        let (bound, best) = (one.solution.certificate.lower_bound, whole.solution.objective());
                        assert!(bound <= best * (1.0 + 1e-9), "{label}: {bound} above {best}");
                    }
                    if number == 0 {
                        assert!(one.solution.support().is_empty(), "{label}");
                        let loss = delta.map_or(Loss::Squared, |delta| Loss::Huber { delta });
                        assert_close(one.solution.objective(), null(loss), 1e-9 * null(loss), &label);
                    }
                }
            }
        }
    }
}
