//! Folds and slices that others do: the same bits as here, and an end where nobody waits for them.

use super::{data, folded};
use crate::common::{normal, rng};
use bestset::cv::Rule;
use bestset::design::Dense;
use bestset::select::{By, How, Prove, Samples, Scale, Selected, Selection, Setup, Workers};
use bestset::{Loss, Method, Options, Result, Status};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const SHAPE: (usize, usize) = (50, 40);

/// Does the parts in this process, each from its text, as far as there are any left to do.
#[derive(Debug)]
struct Here {
    setup: Setup,
    options: Selection,
    left: AtomicUsize,
    texts: Mutex<Vec<String>>,
    had_end: Mutex<Vec<bool>>,
}

impl Workers for Here {
    fn run(&self, parts: Vec<String>, until: Option<Instant>) -> Result<Vec<Option<String>>> {
        self.texts.lock().unwrap().extend(parts.iter().cloned());
        self.had_end.lock().unwrap().push(until.is_some());
        let (x, y) = samples();
        let samples = Samples { x: &x, y: &y, weights: None, offset: None };
        let one = |text: String| {
            let take = |left: usize| left.checked_sub(1);
            if self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_err() {
                // One that never answers, as the limit strikes.
                if let Some(until) = until {
                    std::thread::sleep(until.saturating_duration_since(Instant::now()));
                }
                return Ok(None);
            }
            let setup = self.setup.of_part(&text)?;
            assert!(!setup.delta_in_spreads, "delta is estimated anew");
            setup.pose(&samples, |posed| posed.part(&self.options, &text)).map(Some)
        };
        parts.into_iter().map(one).collect()
    }
}

fn samples() -> (Dense<'static>, Vec<f64>) {
    let (values, mut y) = data(11, SHAPE.0, SHAPE.1, 0.5);
    (0..3).for_each(|i| y[i] += 30.0);
    (Dense::new(SHAPE.0, SHAPE.1, values).unwrap(), y)
}

fn selected(setup: &Setup, options: &Selection) -> Selected {
    let (x, y) = samples();
    setup.pose(&Samples { x: &x, y: &y, weights: None, offset: None }, |posed| posed.select(options, &mut ())).unwrap()
}

fn here(setup: &Setup, options: &Selection, left: usize) -> Arc<Here> {
    let (setup, options, left) = (setup.clone(), options.clone(), AtomicUsize::new(left));
    Arc::new(Here { setup, options, left, texts: Mutex::default(), had_end: Mutex::default() })
}

fn huber() -> Setup {
    Setup { loss: Loss::Huber { delta: Loss::USUAL_DELTA }, delta_in_spreads: true, ..Setup::default() }
}

#[test]
fn folds_have_the_delta_of_all_samples_and_the_bits_of_one_process() {
    let options = Selection { how: folded(Rule::Min), max_size: Some(4), prove: Prove::No, ..Selection::default() };
    for setup in [Setup::default(), huber()] {
        let (alone, workers) = (selected(&setup, &options), here(&setup, &options, usize::MAX));
        let spread = selected(&setup, &Selection { workers: Some(workers.clone()), ..options.clone() });
        assert_eq!(alone.solution.coefficients, spread.solution.coefficients);
        let scores = |found: &Selected| match &found.chosen.as_ref().unwrap().by {
            By::CrossValidation(found, _) => found.scores.clone(),
            By::Criterion(..) => panic!("samples left out choose"),
        };
        assert_eq!(scores(&alone), scores(&spread));
        assert_eq!(workers.texts.lock().unwrap().len(), 10);
        assert_eq!(*workers.had_end.lock().unwrap(), [false]);
        // A part of a problem with another delta is refused.
        if setup.delta_in_spreads {
            let (x, y) = samples();
            let samples = Samples { x: &x, y: &y, weights: None, offset: None };
            let other = Setup { loss: Loss::Huber { delta: 0.5 }, delta_in_spreads: false, ..setup.clone() };
            let text = workers.texts.lock().unwrap()[0].clone();
            let refused = other.pose(&samples, |posed| posed.part(&options, &text));
            assert!(refused.unwrap_err().to_string().contains("its delta is not that of the problem posed"));
        }
    }
}

/// Gives no part back, though there is time.
#[derive(Debug, Default)]
struct Lost(AtomicUsize);

impl Workers for Lost {
    fn run(&self, parts: Vec<String>, _: Option<Instant>) -> Result<Vec<Option<String>>> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Ok(vec![None; parts.len()])
    }
}

/// What is lost while there is time is no limit: a proof that lost slices of its tree says so.
#[test]
fn parts_that_are_lost_are_not_said_to_be_out_of_time() {
    let (mut rng, n) = (rng(5), 60);
    let values: Vec<f64> = (0..n * n).map(|_| normal(&mut rng)).collect();
    // Many weak features: a tree that is divided.
    let signal =
        |i: usize| (0..40).map(|j| if j % 2 == 0 { values[j * n + i] } else { -values[j * n + i] }).sum::<f64>();
    let y: Vec<f64> = (0..n).map(|i| signal(i) + 3.0 * normal(&mut rng)).collect();
    let x = Dense::new(n, n, values.clone()).unwrap();
    let samples = Samples { x: &x, y: &y, weights: None, offset: None };
    let setup = Setup { scale: Scale::None, lambda2: Some(4.0), ..Setup::default() };
    for time_limit in [None, Some(Duration::from_secs(3600))] {
        let solve = Options { method: Method::Exact, time_limit, ..Options::default() };
        let options = Selection { how: How::Price(10.0), prove: Prove::No, solve, ..Selection::default() };
        let selected = |options: &Selection| setup.pose(&samples, |posed| posed.select(options, &mut ())).unwrap();
        let (whole, lost) = (selected(&options), Arc::new(Lost::default()));
        let found = selected(&Selection { workers: Some(lost.clone()), ..options });
        assert_eq!((whole.solution.status, lost.0.load(Ordering::Relaxed)), (Status::Optimal, 1));
        assert_eq!(found.solution.status, Status::ReadFailed);
        let cause = found.solution.cause.clone().unwrap();
        assert!(cause.contains("0 slices came back of"), "{cause}");
        let (bound, best) = (found.solution.certificate.lower_bound, whole.solution.objective());
        assert!(bound > 0.0 && bound <= best * (1.0 + 1e-9), "{bound} above {best}");
    }
}

/// Whatever does not answer until the limit strikes: an answer, and a bound that holds.
#[test]
fn parts_that_never_answer_are_not_waited_for_beyond_the_limit() {
    let how = |how: How, method: Method, limit: Option<Duration>| {
        let solve = Options { method, time_limit: limit, ..Options::default() };
        Selection { how, max_size: Some(4), prove: Prove::No, solve, ..Selection::default() }
    };
    let cases = [(folded(Rule::Min), Method::Incremental), (How::Price(0.4), Method::Exact)];
    for (case, method) in cases {
        let setup = Setup { lambda2: Some(0.02), ..Setup::default() };
        let whole = selected(&setup, &how(case.clone(), method, None));
        for left in [0, 3, 20] {
            // Long enough to begin with the parts on any machine that is not overwhelmed; where it is, there is less to see.
            let options = how(case.clone(), method, Some(Duration::from_secs(2)));
            let workers = here(&setup, &options, left);
            let found = selected(&setup, &Selection { workers: Some(workers.clone()), ..options });
            assert!(workers.had_end.lock().unwrap().iter().all(|had| *had));
            if found.lambda0 == whole.lambda0 && found.lambda2 == whole.lambda2 {
                let (bound, best) = (found.solution.certificate.lower_bound, whole.solution.objective());
                assert!(bound <= best * (1.0 + 1e-9), "{left}: {bound} above {best}");
            }
            let cut = matches!(found.solution.status, Status::TimeLimit);
            let is_done = workers.left.load(Ordering::Relaxed) > 0;
            assert!(cut || is_done || found.solution.status == Status::Optimal, "{left} {:?}", found.solution.status);
        }
    }
}
