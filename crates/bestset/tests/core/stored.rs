//! Columns in files: the bits of the same matrix in memory, whatever is asked of them; files that are damaged, change or shrink are errors
//! that name the place.

use crate::common::{Shape, case, compress, normal, rng, share};
use bestset::cv::{CvOptions, Folds, cross_validate};
use bestset::design::{self, Column, ColumnSubset, Csc, Dense, Design, RowSubset, Standardized, Stored};
use bestset::path::{Grid, PathOptions, path};
use bestset::{Error, Method, Options, Penalty, Problem, Solution, solve};
use std::path::{Path, PathBuf};
use tempfile::{TempDir, tempdir};

/// A NumPy array in a file.
fn write_array(path: &Path, kind: &str, shape: &str, by_columns: bool, bytes: &[u8]) {
    let order = if by_columns { "True" } else { "False" };
    let mut header = format!("{{'descr': '{kind}', 'fortran_order': {order}, 'shape': ({shape}), }}");
    header.push_str(&" ".repeat(63 - (10 + header.len()) % 64));
    header.push('\n');
    let mut all = b"\x93NUMPY\x01\x00".to_vec();
    all.extend((header.len() as u16).to_le_bytes());
    all.extend(header.as_bytes());
    all.extend(bytes);
    std::fs::write(path, all).unwrap();
}

fn of_f64(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|x| x.to_le_bytes()).collect()
}

fn of_i64(values: &[usize]) -> Vec<u8> {
    values.iter().flat_map(|x| (*x as i64).to_le_bytes()).collect()
}

/// The same matrix in memory and in a file, for each of the ways to store it.
fn stores(folder: &Path, n: usize, p: usize, x: &[f64]) -> Vec<(Box<dyn Design>, Stored)> {
    let shape = format!("{n}, {p}");
    let file = |name: &str| folder.join(name);
    write_array(&file("f8.npy"), "<f8", &shape, true, &of_f64(x));
    let narrow: Vec<f32> = x.iter().map(|x| *x as f32).collect();
    write_array(
        &file("f4.npy"),
        "<f4",
        &shape,
        true,
        &narrow.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>(),
    );
    let small: Vec<i8> = x.iter().map(|x| (20.0 * x) as i8).collect();
    write_array(&file("i1.npy"), "|i1", &shape, true, &small.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>());
    let sparse: Vec<f64> = x.iter().map(|x| if x.abs() < 0.7 { 0.0 } else { *x }).collect();
    let (starts, rows, values) = compress(n, &sparse);
    let parts = file("parts");
    std::fs::create_dir(&parts).unwrap();
    write_array(&parts.join("shape.npy"), "<i8", "2,", true, &of_i64(&[n, p]));
    write_array(&parts.join("indptr.npy"), "<i8", &format!("{},", p + 1), true, &of_i64(&starts));
    let bytes: Vec<u8> = rows.iter().flat_map(|i| (*i as i32).to_le_bytes()).collect();
    write_array(&parts.join("indices.npy"), "<i4", &format!("{},", rows.len()), true, &bytes);
    write_array(&parts.join("data.npy"), "<f8", &format!("{},", values.len()), true, &of_f64(&values));
    let memory: Vec<Box<dyn Design>> = vec![
        Box::new(Dense::new(n, p, x.to_vec()).unwrap()),
        Box::new(Dense::new(n, p, narrow).unwrap()),
        Box::new(Dense::new(n, p, small).unwrap()),
        Box::new(Csc::new(n, starts, rows, values).unwrap()),
    ];
    let files = [file("f8.npy"), file("f4.npy"), file("i1.npy"), parts];
    memory.into_iter().zip(files.map(|f| Stored::open(f).unwrap())).collect()
}

fn numbers(seed: u64, count: usize) -> Vec<f64> {
    let mut rng = rng(seed);
    (0..count).map(|_| normal(&mut rng)).collect()
}

/// Every operation of the two, on any list of features.
fn same(memory: &dyn Design, stored: &dyn Design, n: usize, p: usize) {
    let (v, w) = (numbers(1, n), numbers(2, n));
    let lists = [
        (0..p).collect::<Vec<_>>(),
        (0..p).step_by(3).collect(),
        (0..p).rev().step_by(7).collect(),
        vec![p - 1],
        vec![],
    ];
    for features in lists {
        let mut out = [vec![0.0; features.len()], vec![1.0; features.len()]];
        memory.correlate(&features, &v, &mut out[0]).unwrap();
        stored.correlate(&features, &v, &mut out[1]).unwrap();
        assert_eq!(out[0], out[1]);
        let mut out = [vec![0.0; 2 * features.len()], vec![1.0; 2 * features.len()]];
        memory.correlate_many(&features, &[&v, &w], &mut out[0]).unwrap();
        stored.correlate_many(&features, &[&v, &w], &mut out[1]).unwrap();
        assert_eq!(out[0], out[1]);
        let mut out = [vec![0.0f32; 2 * features.len()], vec![1.0f32; 2 * features.len()]];
        memory.correlate_roughly(&features, &[&v, &w], &mut out[0]).unwrap();
        stored.correlate_roughly(&features, &[&v, &w], &mut out[1]).unwrap();
        assert_eq!(out[0], out[1]);
        let copies = |design: &dyn Design| {
            let mut found = Vec::new();
            let visit = &mut |k: usize, c: &mut Column| found.push((k, c.values.clone(), c.rows.clone(), c.shift));
            design.columns(&features, visit).unwrap();
            found
        };
        assert_eq!(copies(memory), copies(stored));
    }
    let weights: Vec<f64> = w.iter().map(|w| w.abs()).collect();
    for weights in [None, Some(&weights[..])] {
        assert_eq!(design::moments(memory, weights).unwrap(), design::moments(stored, weights).unwrap());
        assert_eq!(design::squares(memory, weights).unwrap(), design::squares(stored, weights).unwrap());
    }
    let (mut a, mut b) = (v.clone(), v.clone());
    memory.axpy(p / 2, 0.3, &mut a).unwrap();
    stored.axpy(p / 2, 0.3, &mut b).unwrap();
    assert_eq!(a, b);
}

fn without_time(solution: Solution) -> Solution {
    Solution { seconds: 0.0, trace: Vec::new(), ..solution }
}

#[test]
fn solves_paths_and_folds_from_files_are_those_from_memory() {
    let mut rng = rng(81);
    for trial in 0..6 {
        let made = case(&mut rng, &Shape { attained: true, certified: true, ..Shape::new(10..=20, 4..=8) });
        let folder = tempdir().unwrap();
        for (memory, stored) in stores(folder.path(), made.n, made.p, &made.x) {
            let both = [&*memory as &dyn Design, &stored].map(|d| Standardized::fit(d, None, true, 1.0).unwrap());
            for method in [Method::Incremental, Method::Exact] {
                let options = Options::with_method(method);
                let [a, b] = both.each_ref().map(|d| solve(&made.problem(d), &options).map(without_time));
                assert_eq!(a, b, "{trial}");
            }
            let options = PathOptions { grid: Grid::Log { points: 6, ratio: 0.05 }, ..PathOptions::default() };
            let [a, b] = both.each_ref().map(|d| {
                let found = path(&made.problem(d), &options).unwrap();
                found.points.into_iter().map(|p| without_time(p.solution)).collect::<Vec<_>>()
            });
            assert_eq!(a, b);
            let folds =
                CvOptions { path: options, folds: Folds::Random { folds: 2, repeats: 1 }, ..CvOptions::default() };
            let [a, b] = both.each_ref().map(|d| cross_validate(&made.problem(d), &folds).map(|f| f.scores));
            assert_eq!(format!("{a:?}"), format!("{b:?}"));
        }
    }
}

/// A small file of numbers.
fn small() -> (TempDir, PathBuf) {
    let folder = tempdir().unwrap();
    let file = folder.path().join("x.npy");
    write_array(&file, "<f8", "6, 5", true, &of_f64(&numbers(4, 30)));
    (folder, file)
}

/// Files that are cut anywhere or changed in any byte are refused, or read as what they are: never a panic.
#[test]
fn damaged_files_are_errors() {
    let (_folder, file) = small();
    let whole = std::fs::read(&file).unwrap();
    let attempt = |bytes: &[u8]| {
        std::fs::write(&file, bytes).unwrap();
        let opened = Stored::open(&file);
        if let Ok(stored) = &opened {
            let mut tau = vec![0.0; stored.ncols()];
            let _ = stored.correlate(&(0..stored.ncols()).collect::<Vec<_>>(), &vec![1.0; stored.nrows()], &mut tau);
        }
        opened.err()
    };
    for length in 0..whole.len() {
        let error = attempt(&whole[..length]).unwrap_or_else(|| panic!("{length} bytes were accepted"));
        assert!(error.to_string().contains("x.npy"), "{error}");
    }
    let error = attempt(&[&whole[..], &[0]].concat()).unwrap();
    assert!(error.to_string().contains("[6, 5], 1 bytes less than the file has"), "{error}");
    let mut rng = rng(5);
    for _ in 0..damaged(3000) {
        use crate::common::RngExt;
        let mut bytes = whole.clone();
        for _ in 0..rng.random_range(1..4) {
            let at = rng.random_range(0..bytes.len());
            bytes[at] = rng.random_range(0..=255);
        }
        attempt(&bytes);
    }
    write_array(&file, "<f8", "6, 5", false, &of_f64(&numbers(4, 30)));
    assert!(Stored::open(&file).err().unwrap().to_string().contains("C order"));
    write_array(&file, "<c8", "6, 5", true, &of_f64(&numbers(4, 30)));
    assert!(Stored::open(&file).err().unwrap().to_string().contains("<c8"));
    let mut bad = numbers(4, 30);
    bad[20] = f64::NAN;
    write_array(&file, "<f8", "6, 5", true, &of_f64(&bad));
    let stored = Stored::open(&file).unwrap();
    let error = stored.correlate(&[2, 3], &[1.0; 6], &mut [0.0; 2]).unwrap_err();
    let Error::InFile { path, cause } = &error else { panic!("{error}") };
    assert!(matches!(**cause, Error::NonFiniteDesign { row: 2, column: 3, .. }), "{error}");
    assert!(path.ends_with("x.npy") && error.columns() == [3] && !error.is_of_reading(), "{error}");
    // What is no number has another length than its header says.
    write_array(&file, "|O", "6, 5", false, b"a pickle");
    let said = Stored::open(&file).err().unwrap().to_string();
    assert!(said.contains("dtype object (|O), no numbers; make them some"), "{said}");
}

/// Moments are written where that was asked for, and used as long as the matrix is what it was: the bits of a solve do not depend on them.
#[test]
fn moments_are_kept_beside_the_file_when_asked_for() {
    let (n, p) = (40, 300);
    let (folder, x) = (tempdir().unwrap(), numbers(11, n * p));
    for (memory, stored) in stores(folder.path(), n, p, &x) {
        let beside = |stored: &Stored| {
            let mut name = stored.path().as_os_str().to_owned();
            name.push(".moments");
            PathBuf::from(name)
        };
        let file = beside(&stored);
        let expected = design::moments(&*memory, None).unwrap();
        assert_eq!(design::moments(&stored, None).unwrap(), expected);
        assert!(!file.exists(), "nothing is written that was not asked for");
        let keeping = || Stored::open(stored.path()).unwrap().keeping_moments();
        let passes = |expected: &[design::Moments]| {
            let stored = keeping();
            assert_eq!(design::moments(&stored, None).unwrap(), expected);
            stored.reading().passes
        };
        assert_eq!((passes(&expected), passes(&expected)), (1.0, 0.0));
        // Those with weights are others.
        let weights: Vec<f64> = (0..n).map(|i| 1.0 + (i % 3) as f64).collect();
        assert_eq!(
            design::moments(&keeping(), Some(&weights)).unwrap(),
            design::moments(&*memory, Some(&weights)).unwrap()
        );
        // Damaged in any place, cut off, or of nothing: computed again.
        let whole = std::fs::read(&file).unwrap();
        for at in (0..whole.len()).step_by(97) {
            let mut bytes = whole.clone();
            bytes[at] ^= 4;
            std::fs::write(&file, if at % 2 == 0 { &bytes[..] } else { &whole[..at] }).unwrap();
            assert_eq!((passes(&expected), passes(&expected)), (1.0, 0.0), "{at}");
        }
        // Another matrix in the same place.
        let changed = if stored.path().is_dir() { stored.path().join("data.npy") } else { stored.path().to_owned() };
        let mut bytes = std::fs::read(&changed).unwrap();
        let end = bytes.len() - 1;
        // The least digits of one number: the file has the same length, and the bytes that are sampled.
        let middle = end / 2 - end / 2 % 8;
        bytes[middle] ^= 1;
        std::thread::sleep(std::time::Duration::from_millis(20));
        std::fs::write(&changed, bytes).unwrap();
        let again = Stored::open(stored.path()).unwrap();
        let now = design::moments(&again, None).unwrap();
        assert_eq!(passes(&now), 1.0);
        let y = numbers(12, n);
        let solved = |x: &dyn Design| {
            let view = Standardized::fit(x, None, true, 1.0).unwrap();
            solve(&Problem::new(&view, &y[..], Penalty::new(0.05, 0.0, 0.1)).unwrap(), &Options::default())
                .map(without_time)
        };
        assert_eq!(solved(&keeping()), solved(&again));
    }
}

/// How many damaged files of each kind: `BESTSET_DAMAGED`, or so many.
fn damaged(usual: usize) -> usize {
    std::env::var("BESTSET_DAMAGED").map_or_else(|_| share(usual), |text| text.parse().unwrap())
}

/// Parts of a sparse matrix, each damaged in turn: an error that names the folder or a part, or sums of the numbers that there are.
#[test]
fn damaged_parts_are_errors() {
    use crate::common::RngExt;
    let (folder, x) = (tempdir().unwrap(), numbers(9, 7 * 6));
    drop(stores(folder.path(), 7, 6, &x));
    let parts = folder.path().join("parts");
    let (mut rng, mut refused, mut read) = (rng(10), 0, 0);
    for name in ["shape.npy", "indptr.npy", "indices.npy", "data.npy"] {
        let file = parts.join(name);
        let whole = std::fs::read(&file).unwrap();
        for _ in 0..damaged(500) {
            let mut bytes = whole.clone();
            for _ in 0..rng.random_range(1..4) {
                let at = rng.random_range(0..bytes.len().max(1));
                match rng.random_range(0..4) {
                    0 => bytes.truncate(at),
                    1 => bytes.insert(at.min(bytes.len()), rng.random_range(0..=255)),
                    // Among the numbers, where all but the first are.
                    _ if bytes.len() > 128 => {
                        let at = rng.random_range(100..bytes.len());
                        bytes[at] = rng.random_range(0..=255);
                    }
                    _ => {}
                }
            }
            std::fs::write(&file, &bytes).unwrap();
            let found = Stored::open(&parts).and_then(|stored| {
                let (n, p) = (stored.nrows(), stored.ncols());
                assert!(n <= i32::MAX as usize);
                // A vector of so many samples is the caller's to make, and nobody has one of a damaged file's.
                if n > 1000 {
                    return Ok(Vec::new());
                }
                let mut tau = vec![0.0; p];
                stored.correlate(&(0..p).collect::<Vec<_>>(), &vec![1.0; n], &mut tau)?;
                Ok(tau)
            });
            match found {
                Ok(tau) => {
                    read += 1;
                    assert!(tau.iter().all(|t| !t.is_nan()), "{name}");
                }
                Err(error @ Error::Empty { .. }) => drop(error),
                Err(error) => {
                    refused += 1;
                    let text = error.to_string();
                    let is_named = text.contains("parts") || matches!(error, Error::NonFiniteDesign { .. });
                    assert!(is_named, "{name}: {text}");
                }
            }
        }
        std::fs::write(&file, &whole).unwrap();
    }
    assert!(refused > damaged(500) && read > damaged(500) / 5, "{refused} {read}");
}

#[test]
fn files_that_change_are_told() {
    for change in 0..3 {
        let (_folder, file) = small();
        let stored = Stored::open(&file).unwrap();
        let problem = Problem::new(&stored, numbers(6, 6), Penalty::new(0.01, 0.0, 0.1)).unwrap();
        assert!(solve(&problem, &Options::default()).unwrap().cause.is_none());
        let mut bytes = std::fs::read(&file).unwrap();
        let last = bytes.len() - 1;
        match change {
            0 => bytes.truncate(last),
            1 => bytes.push(0),
            _ => bytes[last] ^= 1,
        }
        std::fs::write(&file, bytes).unwrap();
        let error = solve(&problem, &Options::default()).unwrap_err();
        assert!(matches!(&error, Error::Read { what, .. } if what.ends_with("x.npy")), "{error}");
        assert!(error.to_string().contains("open"), "{error}");
    }
}

mod long {
    use super::*;

    /// Dense and sparse, each number type, plain and through every view, with one thread and two, blocks many and one.
    #[test]
    fn files_give_the_bits_of_memory() {
        for (n, p) in [(7, 40), (300, 9000)] {
            let (folder, x) = (tempdir().unwrap(), numbers(3, n * p));
            for (memory, stored) in stores(folder.path(), n, p, &x) {
                for threads in [1, 2] {
                    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                    pool.install(|| {
                        same(&*memory, &stored, n, p);
                        let views =
                            [&*memory as &dyn Design, &stored].map(|d| Standardized::fit(d, None, true, 1.0).unwrap());
                        same(&views[0], &views[1], n, p);
                        let rows: Vec<usize> = (0..n).filter(|i| i % 3 != 1).collect();
                        let cut = views.each_ref().map(|d| RowSubset::new(d, rows.clone()).unwrap());
                        same(&cut[0], &cut[1], rows.len(), p);
                        let columns: Vec<usize> = (0..p).rev().step_by(2).collect();
                        let chosen = cut.each_ref().map(|d| ColumnSubset::new(d, columns.clone()).unwrap());
                        same(&chosen[0], &chosen[1], rows.len(), columns.len());
                    });
                }
                assert!(stored.reading().bytes > stored.bytes());
            }
        }
    }
}
