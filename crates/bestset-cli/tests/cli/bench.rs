//! `bestset-bench` from the outside: problem directories in, figures and coefficients out.

use crate::support::{assert_certified, code, errors};
use bestset::design::{Csc, Dense, Design};
use bestset::{Coefficients, Loss, Penalty, Problem};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

const N: usize = 20;
const P: usize = 12;

/// Small numbers that are exact in `f32`, a third of them zero, so that every storage holds the same matrix.
fn matrix() -> Vec<f64> {
    (0..N * P).map(|i| ((i * i * 7 + 3 * i) % 11) as f64).map(|v| if v < 4.0 { 0.0 } else { v / 8.0 - 0.875 }).collect()
}

fn targets(x: &[f64]) -> Vec<f64> {
    (0..N).map(|i| 2.0 * x[i] - 1.5 * x[3 * N + i] + 0.1 * (i as f64).sin()).collect()
}

fn write(path: &Path, values: impl IntoIterator<Item = impl AsRef<[u8]>>) {
    let bytes: Vec<u8> = values.into_iter().flat_map(|v| v.as_ref().to_vec()).collect();
    fs::write(path, bytes).unwrap();
}

fn header(changes: Value) -> Value {
    let mut header = json!({
        "n": N, "p": P, "format": "dense", "loss": "squared", "lambda0": 0.05, "lambda1": 0.01, "lambda2": 0.1,
        "intercept": false, "gap": 1e-9, "repeats": 2, "threads": 1, "phase": "both",
    });
    for (key, value) in changes.as_object().unwrap() {
        header[key] = value.clone();
    }
    header
}

/// Writes the directory in the format the header asks for.
fn save(directory: &Path, header: &Value) {
    let x = matrix();
    fs::write(directory.join("problem.json"), header.to_string()).unwrap();
    let labels = header["loss"] == "logistic" || header["loss"] == "squared_hinge";
    let y = targets(&x).into_iter().map(|v| if labels { v.signum() } else { v });
    write(&directory.join("y.f64"), y.map(f64::to_le_bytes));
    if header["format"] == "dense" {
        return write(&directory.join("x.f64"), x.iter().map(|v| v.to_le_bytes()));
    }
    let (starts, rows, values) = compress(&x);
    write(&directory.join("indptr.i64"), starts.iter().map(|&v| (v as i64).to_le_bytes()));
    write(&directory.join("indices.i32"), rows.iter().map(|&v| (v as i32).to_le_bytes()));
    write(&directory.join("data.f64"), values.iter().map(|v| v.to_le_bytes()));
}

fn compress(x: &[f64]) -> (Vec<usize>, Vec<u32>, Vec<f64>) {
    let (mut starts, mut rows, mut values) = (vec![0], Vec::new(), Vec::new());
    for column in x.chunks(N) {
        for (i, &v) in column.iter().enumerate().filter(|pair| *pair.1 != 0.0) {
            rows.push(i as u32);
            values.push(v);
        }
        starts.push(rows.len());
    }
    (starts, rows, values)
}

fn bench(directory: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_bestset-bench")).arg(directory).output().unwrap()
}

/// Runs a changed header in a fresh directory: figures and coefficients.
fn measure(changes: Value) -> (Value, Vec<f64>) {
    let directory = tempfile::tempdir().unwrap();
    let header = header(changes);
    save(directory.path(), &header);
    let output = bench(directory.path());
    assert_eq!(code(&output), 0, "{header}: {}", errors(&output));
    let beta = read(&directory.path().join("beta.f64"));
    // The dual point beside the coefficients proves the bound that is claimed.
    let figures: Value = serde_json::from_slice(&output.stdout).unwrap();
    let alpha = read(&directory.path().join("alpha.f64"));
    if header["k"].is_null() {
        let loss = serde_json::from_value(header["loss"].clone()).unwrap();
        let lambda = |name: &str| header[name].as_f64().unwrap();
        let penalty = Penalty::new(lambda("lambda0"), lambda("lambda1"), lambda("lambda2"));
        let bound = with_problem(loss, penalty, |problem| problem.lower_bound(&alpha).unwrap());
        assert!((bound - figures["lower_bound"].as_f64().unwrap()).abs() < 1e-9 * bound.abs(), "{header}: {figures}");
    }
    (figures, beta)
}

fn read(path: &Path) -> Vec<f64> {
    let bytes = fs::read(path).unwrap();
    bytes.chunks_exact(8).map(|b| f64::from_le_bytes(b.try_into().unwrap())).collect()
}

fn with_problem<T>(loss: Loss, penalty: Penalty, body: impl FnOnce(&Problem<'_>) -> T) -> T {
    let y = targets(&matrix()).into_iter().map(|v| if loss.is_classification() { v.signum() } else { v });
    let (design, y) = (Dense::new(N, P, matrix()).unwrap(), y.collect::<Vec<f64>>());
    body(&Problem::new(&design, y, penalty).unwrap().with_loss(loss).unwrap())
}

/// P of the coefficients, by the library.
fn objective(loss: Loss, beta: &[f64]) -> f64 {
    let coefficients = Coefficients::from_dense(beta, 0.0);
    with_problem(loss, Penalty::new(0.05, 0.01, 0.1), |problem| problem.objective(&coefficients).unwrap())
}

#[test]
fn figures_fit_the_coefficients_written() {
    let (figures, beta) = measure(json!({}));
    assert_certified(&figures);
    assert_eq!(beta.len(), P);
    assert!((figures["objective"].as_f64().unwrap() - objective(Loss::Squared, &beta)).abs() < 1e-12);
    assert_eq!(figures["nonzeros"].as_u64().unwrap() as usize, beta.iter().filter(|b| **b != 0.0).count());
    assert_eq!(figures["all_seconds"].as_array().unwrap().len(), 2);
    assert_eq!(figures["calls"], 2);
    if cfg!(unix) {
        assert!(figures["cpu_seconds"].as_f64().unwrap() > 0.0, "{figures}");
    }
    for name in ["seconds", "best_seconds", "correlate_seconds", "passes", "solution_bytes"] {
        assert!(figures[name].as_f64().unwrap() > 0.0, "{name}: {}", figures[name]);
    }
    assert!(figures["relative_relaxation_gap"].as_f64().unwrap() <= 1e-9, "{figures}");
}

#[test]
fn every_storage_gives_the_same_answer() {
    let (_, dense) = measure(json!({}));
    for changes in [json!({"format": "csc"}), json!({"storage": "f32"}), json!({"format": "csc", "storage": "f32"})] {
        let (_, beta) = measure(changes.clone());
        for (a, b) in dense.iter().zip(&beta) {
            assert!((a - b).abs() < 1e-7, "{changes}: {dense:?} against {beta:?}");
        }
    }
}

#[test]
fn losses_methods_and_phases_are_read() {
    for loss in [Loss::Logistic, Loss::SquaredHinge, Loss::Huber { delta: 0.5 }] {
        let (figures, beta) = measure(json!({"loss": loss}));
        let (_, found) = assert_certified(&figures);
        assert!((found - objective(loss, &beta)).abs() < 1e-10, "{loss:?}");
    }
    let (figures, _) = measure(json!({"method": "cdss"}));
    assert_eq!(figures["method"], "cdss");
    let (figures, _) = measure(json!({"method": "dual_iht", "k": 2, "lambda0": 0.0}));
    assert!(figures["nonzeros"].as_u64().unwrap() <= 2, "{figures}");
    let (convex, beta) = measure(json!({"phase": "convex", "lambda0": 0.0}));
    assert!(convex["relative_relaxation_gap"].as_f64().unwrap() <= 1e-9);
    assert!(beta.iter().any(|b| *b != 0.0));
}

#[test]
fn starts_and_time_limits_are_read() {
    let directory = tempfile::tempdir().unwrap();
    let start = [1.0, 0.0, 0.0, -1.0].into_iter().chain([0.0; P - 4]);
    write(&directory.path().join("start.f64"), start.map(f64::to_le_bytes));
    // Stopped before its first step, an algorithm hands back the point it was started from.
    let changes = json!({
        "method": "primal_dual_plain", "start": "start.f64", "time_limit": 1e-9, "warm_up": false, "repeats": 1,
    });
    save(directory.path(), &header(changes));
    let output = bench(directory.path());
    assert_eq!(code(&output), 0, "{}", errors(&output));
    let figures: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(figures["status"], "time_limit");
    let beta = read(&directory.path().join("beta.f64"));
    assert_eq!((beta[0], beta[3], figures["nonzeros"].as_u64()), (1.0, -1.0, Some(2)));
}

#[test]
fn bad_directories_are_named() {
    let directory = tempfile::tempdir().unwrap();
    let fails = |named: &str| {
        let output = bench(directory.path());
        assert_eq!(code(&output), 2);
        assert!(errors(&output).contains(named), "{named:?} is missing in {}", errors(&output));
        assert!(output.stdout.is_empty());
    };
    fails("problem.json");
    save(directory.path(), &header(json!({"loss": "cubic"})));
    fails("cubic");
    save(directory.path(), &header(json!({"method": "magic"})));
    fails("magic");
    save(directory.path(), &header(json!({"repeats": 0})));
    fails("repeats is 0");
    save(directory.path(), &header(json!({"time_limit": 0.0})));
    fails("time_limit is 0");
    save(directory.path(), &header(json!({"start": "missing.f64"})));
    fails("missing.f64");
    save(directory.path(), &header(json!({"n": N + 1})));
    fails("y.f64 holds 160 bytes, expected 168");
    save(directory.path(), &header(json!({"lambda1": -1.0})));
    fails("lambda1 is -1");
    save(directory.path(), &header(json!({"format": "csc"})));
    write(&directory.path().join("indptr.i64"), (0..=P as i64).map(|j| (j - 1).to_le_bytes()));
    fails("holds");
}

#[test]
fn the_test_matrix_is_the_same_dense_and_sparse() {
    let x = matrix();
    let (starts, rows, values) = compress(&x);
    let sparse = Csc::new(N, starts, rows, values).unwrap();
    assert!(sparse.stored() < N * P, "some entries are zero");
    let mut column = bestset::design::Column::default();
    let mut dense = vec![0.0; N];
    for j in 0..P {
        sparse.column(j, &mut column).unwrap();
        column.to_dense(&mut dense);
        assert_eq!(dense, x[j * N..(j + 1) * N]);
    }
}
