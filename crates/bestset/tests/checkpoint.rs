//! Work that is killed goes on from its file and ends with the same bits; files of other work are refused.

mod common;

use bestset::cv::{CrossValidation, CvOptions, Folds, cross_validate};
use bestset::design::Dense;
use bestset::path::{Grid, Path, PathOptions, path};
use bestset::solver::CancelFlag;
use bestset::{Error, Loss, Penalty, Problem, Status, checkpoint};
use common::{RngExt, normal, rng};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

/// A directory of its own for each test, gone at the end.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Self {
        let place = std::env::temp_dir().join(format!("model_checkpoint_{name}_{}", std::process::id()));
        std::fs::create_dir_all(&place).unwrap();
        Self(place)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn data(n: usize, p: usize, loss: Loss) -> (Dense<'static>, Vec<f64>) {
    let mut rng = rng(601);
    let x: Vec<f64> = (0..n * p).map(|_| normal(&mut rng)).collect();
    let mut y: Vec<f64> = (0..n).map(|i| x[i] - x[n + i] + x[5 * n + i] + normal(&mut rng)).collect();
    if loss.is_classification() {
        y.iter_mut().for_each(|y| *y = if *y > 0.0 { 1.0 } else { -1.0 });
    }
    (Dense::new(n, p, x).unwrap(), y)
}

/// Everything but the seconds, with every bit.
fn bits(path: &Path) -> String {
    let mut path = path.clone();
    path.points.iter_mut().for_each(|p| p.solution.seconds = 0.0);
    format!("{path:?}")
}

fn cv_bits(found: &CrossValidation) -> String {
    format!("{:?} {:?} {} {} {}", found.scores, found.parts, found.best, found.one_se, bits(&found.path))
}

fn options(points: usize) -> PathOptions {
    PathOptions { grid: Grid::Dynamic { points, shrink: 0.97 }, lambda2: vec![0.5, 2.0], ..PathOptions::default() }
}

#[test]
fn interrupted_paths_go_on_where_they_were() {
    for loss in [Loss::Squared, Loss::Logistic] {
        let (x, y) = data(60, 90, loss);
        let problem = Problem::new(&x, y, Penalty::new(0.0, 0.05, 1.0)).unwrap().with_loss(loss).unwrap();
        let (place, mut options) = (Place::new(loss.name()), options(60));
        options.max_size = Some(40);
        let whole = path(&problem, &options).unwrap();
        assert!(whole.points.len() > 30 && whole.status == Status::Converged, "{}", whole.points.len());
        let file = place.file("path.json");
        let mut runs = 0;
        let found = loop {
            let cancel = CancelFlag::default();
            let mut part = options.clone();
            part.solve.cancel = cancel.clone();
            // Cancelled from another thread at any moment; longer each time, so that it ends.
            let stop = std::thread::spawn(move || {
                std::thread::sleep(Duration::from_millis(5 + 20 * runs));
                cancel.cancel();
            });
            let found = checkpoint::path(&problem, &part, &file).unwrap();
            stop.join().unwrap();
            runs += 1;
            if found.status == Status::Converged {
                break found;
            }
        };
        assert_eq!(bits(&found), bits(&whole), "{loss:?} after {runs} runs");
        assert_eq!(
            bits(&checkpoint::path(&problem, &options, &file).unwrap()),
            bits(&whole),
            "once more, from the end"
        );
    }
}

fn cv_problem<'a>(x: &'a Dense<'static>, y: &'a [f64]) -> (Problem<'a>, CvOptions) {
    let problem = Problem::new(x, y, Penalty::new(0.0, 0.0, 1.0)).unwrap().with_intercept(true);
    let path = PathOptions { max_size: Some(30), ..options(30) };
    (problem, CvOptions { path, folds: Folds::Random { folds: 5, repeats: 2 }, seed: 3, score: None })
}

/// What a killed process runs; by itself it does nothing.
#[test]
fn child() {
    let Ok(file) = std::env::var("BESTSET_CHECKPOINT") else { return };
    let (x, y) = data(80, 120, Loss::Squared);
    let (problem, options) = cv_problem(&x, &y);
    let found = checkpoint::cross_validate(&problem, &options, &file).unwrap();
    std::fs::write(format!("{file}.result"), cv_bits(&found)).unwrap();
}

/// Kill −9 at ten random moments of a cross-validation.
#[test]
fn killed_cross_validations_end_with_the_same_bits() {
    let place = Place::new("killed");
    let file = place.file("cv.json");
    let (x, y) = data(80, 120, Loss::Squared);
    let (problem, options) = cv_problem(&x, &y);
    let whole = cv_bits(&cross_validate(&problem, &options).unwrap());
    let mut rng = rng(602);
    let run = || {
        Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "child"])
            .env("BESTSET_CHECKPOINT", &file)
            .stdout(Stdio::null())
            .spawn()
            .unwrap()
    };
    let mut interrupted = 0;
    for _ in 0..10 {
        let mut process = run();
        std::thread::sleep(Duration::from_millis(rng.random_range(5..120)));
        // SIGKILL: nothing of it gets to tidy up.
        let running = process.try_wait().unwrap().is_none();
        process.kill().unwrap();
        process.wait().unwrap();
        interrupted += u32::from(running);
    }
    assert!(run().wait().unwrap().success());
    let result = std::fs::read_to_string(place.file("cv.json.result")).unwrap();
    assert_eq!(result, whole, "killed {interrupted} times");
}

#[test]
fn files_of_other_work_are_refused() {
    let place = Place::new("other");
    let file = place.file("path.json");
    let (x, y) = data(30, 20, Loss::Squared);
    let problem = Problem::new(&x, y.clone(), Penalty::new(0.0, 0.0, 1.0)).unwrap();
    let settings = options(5);
    checkpoint::path(&problem, &settings, &file).unwrap();
    let reason = |found: Result<Path, Error>| found.unwrap_err().to_string();
    let mut moved = y;
    moved[3] += 1e-9;
    let other = Problem::new(&x, moved, Penalty::new(0.0, 0.0, 1.0)).unwrap();
    assert!(reason(checkpoint::path(&other, &settings, &file)).contains("other data or settings"));
    assert!(reason(checkpoint::path(&problem, &options(6), &file)).contains("other data or settings"));
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, &text[..text.len() / 2]).unwrap();
    assert!(reason(checkpoint::path(&problem, &settings, &file)).contains("it is damaged"));
    std::fs::write(&file, text.replace("bestset checkpoint", "something")).unwrap();
    assert!(reason(checkpoint::path(&problem, &settings, &file)).contains("\"something\" version 1"));
    let nowhere = place.file("no/such/path.json");
    assert!(matches!(checkpoint::path(&problem, &settings, nowhere), Err(Error::File { what: "checkpoint", .. })));
}
