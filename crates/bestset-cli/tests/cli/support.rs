//! Runs the binaries as a user would.

use serde_json::Value;
use std::process::{Command, Output};

/// The `bestset` command with these arguments, with colours neither forced nor forbidden from outside.
pub fn bestset(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bestset"));
    command.args(arguments).env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE").env_remove("CLICOLOR");
    command
}

/// Runs it to its end.
pub fn run(arguments: &[&str]) -> Output {
    bestset(arguments).output().expect("the binary starts")
}

/// Standard output as text.
pub fn text(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("output is UTF-8")
}

/// Standard error as text.
pub fn errors(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("errors are UTF-8")
}

/// Standard output as one JSON value.
pub fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {}", text(output)))
}

/// The exit code.
pub fn code(output: &Output) -> i32 {
    output.status.code().expect("not ended by a signal")
}

/// Checks that the bound and the objective of a result fit, and returns both.
pub fn assert_certified(result: &Value) -> (f64, f64) {
    let objective = result["objective"].as_f64().expect("objective is finite");
    let bound = result["lower_bound"].as_f64().expect("lower_bound is finite");
    assert!(bound <= objective, "bound {bound}, objective {objective}");
    let gap = result["gap"].as_f64().expect("gap is finite");
    assert!((gap - (objective - bound)).abs() <= 1e-12 * objective.abs());
    (bound, objective)
}
