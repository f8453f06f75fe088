//! Work that is killed goes on from its file and ends with the same bits; files of other work are refused.

mod attack;

use crate::common::{RngExt, normal, rng};
use bestset::cv::{CrossValidation, CvOptions, Folds, cross_validate};
use bestset::design::{Column, Dense, Design, Stored};
use bestset::path::{Grid, Path, PathOptions, path};
use bestset::{
    Bounds, CancelFlag, Error, Loss, Method, Options, Penalty, Problem, Solution, Status, checkpoint, solve,
};
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

fn cv_problem<'a>(x: &'a Dense<'static>, y: &'a [f64]) -> (Problem<'a>, CvOptions) {
    let problem = Problem::new(x, y, Penalty::new(0.0, 0.0, 1.0)).unwrap().with_intercept(true);
    let path = PathOptions { max_size: Some(30), ..options(30) };
    (problem, CvOptions { path, folds: Folds::Random { folds: 5, repeats: 2 }, seed: 3, score: None })
}

/// What a killed process runs.
#[test]
#[ignore = "run, and killed, by the tests of killed work"]
fn child() {
    let Ok(file) = std::env::var("BESTSET_CHECKPOINT") else { return };
    if std::env::var_os("BESTSET_EXACT").is_some() {
        let (x, y) = long_search();
        let problem = Problem::new(&x, y, Penalty::new(0.6, 0.05, 0.4)).unwrap();
        let found = checkpoint::exact(&problem, &long_options(), &file).unwrap();
        return std::fs::write(format!("{file}.result"), exact_bits(&found)).unwrap();
    }
    let (x, y) = data(80, 120, Loss::Squared);
    if let Some(array) = std::env::var_os("BESTSET_DISK") {
        let stored = Stored::open(array).unwrap();
        let problem = Problem::new(&stored, y, Penalty::new(0.0, 0.0, 1.0)).unwrap();
        let found = checkpoint::path(&problem, &options(90), &file).unwrap();
        return std::fs::write(format!("{file}.result"), bits(&found)).unwrap();
    }
    let (problem, options) = cv_problem(&x, &y);
    let found = checkpoint::cross_validate(&problem, &options, &file).unwrap();
    std::fs::write(format!("{file}.result"), cv_bits(&found)).unwrap();
}

/// Kill −9 at ten random moments of a path whose columns are on disk: it ends with the bits of one from memory that nobody kills.
#[test]
fn killed_paths_from_disk_end_with_the_bits_of_memory() {
    let place = Place::new("killed_disk");
    let (file, array) = (place.file("path.json"), place.file("x.npy"));
    let (x, y) = data(80, 120, Loss::Squared);
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    let header = format!("{:117}\n", "{'descr': '<f8', 'fortran_order': True, 'shape': (80, 120), }");
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    let mut column = Column::default();
    for j in 0..120 {
        x.column(j, &mut column).unwrap();
        bytes.extend(column.values.iter().flat_map(|x| x.to_le_bytes()));
    }
    std::fs::write(&array, bytes).unwrap();
    let problem = Problem::new(&x, y, Penalty::new(0.0, 0.0, 1.0)).unwrap();
    let whole = path(&problem, &options(90)).unwrap();
    assert!(whole.points.len() > 50, "{}", whole.points.len());
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.env("BESTSET_DISK", &array);
    let (result, killed) = killed_ten_times(child, &file, 120);
    assert_eq!(result, bits(&whole), "killed {killed} times");
}

/// Kill −9 at ten random moments of a cross-validation.
#[test]
fn killed_cross_validations_end_with_the_same_bits() {
    let place = Place::new("killed");
    let file = place.file("cv.json");
    let (x, y) = data(80, 120, Loss::Squared);
    let (problem, options) = cv_problem(&x, &y);
    let whole = cv_bits(&cross_validate(&problem, &options).unwrap());
    let (result, killed) = killed_ten_times(Command::new(std::env::current_exe().unwrap()), &file, 120);
    assert_eq!(result, whole, "killed {killed} times");
}

/// Runs [`child`] ten times for a random moment of at most so many milliseconds, then to its end; what it wrote then, and how
/// often it was killed before it had.
fn killed_ten_times(mut child: Command, file: &std::path::Path, longest: u64) -> (String, u32) {
    child
        .args(["--exact", "model::checkpoint::child", "--ignored"])
        .env("BESTSET_CHECKPOINT", file)
        .stdout(Stdio::null());
    let mut rng = rng(602);
    let mut killed = 0;
    for _ in 0..10 {
        let mut process = child.spawn().unwrap();
        std::thread::sleep(Duration::from_millis(rng.random_range(5..longest)));
        // SIGKILL: nothing of it gets to tidy up.
        killed += u32::from(process.try_wait().unwrap().is_none());
        process.kill().unwrap();
        process.wait().unwrap();
    }
    assert!(child.spawn().unwrap().wait().unwrap().success());
    (std::fs::read_to_string(format!("{}.result", file.display())).unwrap(), killed)
}

fn exact_options() -> Options {
    Options { method: Method::Exact, trace: true, ..Options::default() }
}

/// Everything but the seconds, with every bit.
fn exact_bits(found: &Solution) -> String {
    let mut found = found.clone();
    found.seconds = 0.0;
    found.trace.iter_mut().for_each(|row| row.seconds = 0.0);
    format!("{found:?}")
}

/// So many nodes that the search takes a second or so.
fn long_options() -> Options {
    Options { max_nodes: Some(500), ..exact_options() }
}

/// Columns that stand in for one another, so that the search takes a while.
fn long_search() -> (Dense<'static>, Vec<f64>) {
    let (n, p) = (50, 90);
    let mut rng = rng(603);
    let common: Vec<f64> = (0..n).map(|_| normal(&mut rng)).collect();
    let x: Vec<f64> = (0..n * p).map(|k| normal(&mut rng) + common[k % n]).collect();
    let y = (0..n).map(|i| (0..12).map(|j| x[j * n + i]).sum::<f64>() + 3.0 * normal(&mut rng)).collect();
    (Dense::new(n, p, x).unwrap(), y)
}

/// Searches of every kind, ended again and again by a limit on the nodes that grows: each goes on where it was.
#[test]
fn searches_go_on_after_a_limit() {
    let (mut resumed, mut cases) = (0, 0);
    for loss in [Loss::Squared, Loss::Logistic, Loss::Huber { delta: 1.0 }] {
        for (size, top, lambda2) in [(None, 1, 0.2), (Some(3), 1, 0.2), (None, 3, 0.2), (None, 1, 0.0), (None, 3, 0.0)]
        {
            let (x, y) = data(60, 24, loss);
            if lambda2 == 0.0 && loss != Loss::Squared {
                continue;
            }
            let bounds = if cases % 2 == 0 || lambda2 == 0.0 { Bounds::Free } else { Bounds::All(-0.7, 2.0) };
            let penalty = Penalty::new(if size.is_some() { 0.0 } else { 0.7 }, 0.0, lambda2).with_bounds(bounds);
            let problem = Problem::new(&x, y, penalty).unwrap().with_loss(loss).unwrap().with_intercept(true);
            let problem = match size {
                Some(k) => problem.with_max_size(k).unwrap(),
                None => problem,
            };
            let place = Place::new(&format!("limit_{cases}"));
            let file = place.file("exact.json");
            let options = Options { top, ..exact_options() };
            let whole = solve(&problem, &options).unwrap();
            let mut nodes = 8;
            let found = loop {
                let part = Options { max_nodes: Some(nodes), ..options.clone() };
                let found = checkpoint::exact(&problem, &part, &file).unwrap();
                // The best may be proved before the others are.
                if found.iterations < nodes {
                    break found;
                }
                assert!(found.certificate.lower_bound <= whole.objective());
                resumed += usize::from(file.exists());
                nodes += 1 + nodes / 2;
            };
            assert_eq!(exact_bits(&found), exact_bits(&whole), "{loss:?} {size:?} {top} {lambda2}");
            cases += 1;
        }
    }
    assert!(resumed > cases, "{resumed} of {cases}");
}

#[test]
fn a_search_with_a_changed_number_is_refused() {
    let place = Place::new("changed");
    let file = place.file("exact.json");
    let (x, y) = long_search();
    let problem = Problem::new(&x, y, Penalty::new(0.6, 0.05, 0.4)).unwrap();
    let options = Options { max_nodes: Some(20), ..exact_options() };
    checkpoint::exact(&problem, &options, &file).unwrap();
    let text = std::fs::read_to_string(&file).unwrap();
    let at = text.find("\"bound\":").unwrap() + "\"bound\":".len() + 3;
    let digit = if &text[at..=at] == "1" { "2" } else { "1" };
    std::fs::write(&file, format!("{}{digit}{}", &text[..at], &text[at + 1..])).unwrap();
    let error = checkpoint::exact(&problem, &options, &file).unwrap_err().to_string();
    assert!(error.contains("check sum"), "{error}");
    std::fs::write(&file, &text).unwrap();
    let other = Options { top: 2, ..options };
    assert!(checkpoint::exact(&problem, &other, &file).unwrap_err().to_string().contains("other data or settings"));
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
    assert!(reason(checkpoint::path(&problem, &settings, &file)).contains("\"something\" version 7"));
    let nowhere = place.file("no/such/path.json");
    assert!(matches!(checkpoint::path(&problem, &settings, nowhere), Err(Error::File { what: "checkpoint", .. })));
}

/// Two matrices with the same lengths and the same products with y: the samples of equal y exchange their values of a column.
#[test]
fn searches_of_data_that_differ_where_y_does_not_are_refused() {
    let place = Place::new("alike");
    let mut rng = rng(604);
    let (n, p) = (40, 12);
    let x: Vec<f64> = (0..n * p).map(|_| f64::from(rng.random_range(0..2u32))).collect();
    let y: Vec<f64> = (0..n).map(|i| x[i] + x[n + i] + x[2 * n + i] + f64::from(rng.random_range(0..3u32))).collect();
    let (i, k) = (0..n * n)
        .map(|pair| (pair / n, pair % n))
        .find(|&(i, k)| y[i] == y[k] && x[5 * n + i] != x[5 * n + k])
        .unwrap();
    let mut other = x.clone();
    other.swap(5 * n + i, 5 * n + k);
    for lambda2 in [0.0, 0.5] {
        let file = place.file(&format!("{lambda2}.json"));
        let run = |x: &[f64]| {
            let design = Dense::new(n, p, x).unwrap();
            let problem = Problem::new(&design, y.clone(), Penalty::new(1.0, 0.0, lambda2)).unwrap();
            checkpoint::exact(&problem.with_intercept(true), &exact_options(), &file)
        };
        run(&x).unwrap();
        assert!(file.exists() && run(&x).is_ok());
        assert!(run(&other).unwrap_err().to_string().contains("other data or settings"), "{lambda2}");
    }
}

mod long {
    use super::*;

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
                // Cancelled from another thread at any moment; later by a third each time, so that it ends on a slow machine, too.
                let stop = std::thread::spawn(move || {
                    std::thread::sleep(Duration::from_millis(5).mul_f64(1.33f64.powi(runs)));
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

    /// Kill −9 at ten random moments of branch and bound.
    #[test]
    fn killed_searches_end_with_the_same_bits() {
        let place = Place::new("killed_search");
        let file = place.file("exact.json");
        let (x, y) = long_search();
        let problem = Problem::new(&x, y, Penalty::new(0.6, 0.05, 0.4)).unwrap();
        let whole = solve(&problem, &long_options()).unwrap();
        assert_eq!(whole.status, Status::NodeLimit);
        let mut child = Command::new(std::env::current_exe().unwrap());
        child.env("BESTSET_EXACT", "1");
        let (result, killed) = killed_ten_times(child, &file, (1e3 * whole.seconds) as u64 + 10);
        assert_eq!(result, exact_bits(&whole), "killed {killed} times");
    }
}
