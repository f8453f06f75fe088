//! `bestset compare` from the outside.

use crate::support::{assert_certified, code, errors, json, run, text};

const SMALL: [&str; 9] = ["compare", "--n", "50", "--p", "80", "--seed", "2", "--time-limit", "5"];
const METHODS: [&str; 7] =
    ["primal_dual", "primal_dual_plain", "dual_ascent", "dual_iht", "cdss", "incremental", "exact"];

fn small<'a>(more: &[&'a str]) -> Vec<&'a str> {
    SMALL.iter().chain(more).copied().collect()
}

#[test]
fn every_algorithm_shows_its_trace_and_a_row_of_the_table() {
    let output = run(&small(&[]));
    assert_eq!(code(&output), 0, "{}", errors(&output));
    let shown = text(&output);
    let (traces, table) = shown.split_once("Comparison").expect("the table comes last");
    assert_eq!(traces.matches("best D").count(), METHODS.len());
    for method in METHODS {
        assert!(traces.contains(&format!("Method {method}\n")), "{method}");
        assert!(table.lines().any(|line| line.split_whitespace().next() == Some(method)), "{method} in\n{table}");
    }
    for column in ["P", "D", "gap P−D", "non-zeros", "iterations", "seconds", "ended"] {
        assert!(table.contains(column), "{column}");
    }
    assert!(table.contains("dual_iht solves the problem of at most 2 features"), "{table}");
}

#[test]
fn traces_are_thinned_and_can_be_left_out() {
    let shown = text(&run(&small(&["--methods", "dual_ascent"])));
    let rows = shown.lines().filter(|line| line.trim_start().starts_with(|c: char| c.is_ascii_digit())).count();
    assert!((2..=15).contains(&rows), "{rows} rows in\n{shown}");
    assert!(!text(&run(&small(&["--methods", "cdss", "--no-trace"]))).contains("best D"));
}

#[test]
fn json_certifies_every_run_and_bounds_agree() {
    let output = run(&small(&["--json", "--no-trace"]));
    assert_eq!(code(&output), 0, "{}", errors(&output));
    let result = json(&output);
    let runs = result["runs"].as_array().unwrap();
    assert_eq!(runs.iter().map(|run| run["method"].as_str().unwrap()).collect::<Vec<_>>(), METHODS);
    let certified: Vec<(f64, f64)> = runs.iter().map(assert_certified).collect();
    // All but the k-sparse one solve the same problem: no bound of one may exceed the objective of another.
    let same = |k: usize| runs[k]["problem"]["k"].is_null();
    for a in (0..runs.len()).filter(|&k| same(k)) {
        for b in (0..runs.len()).filter(|&k| same(k)) {
            assert!(certified[a].0 <= certified[b].1, "bound of {} above P of {}", METHODS[a], METHODS[b]);
        }
    }
}

/// The rule as written ends before the patient one, and the run says which rule it was.
#[test]
fn the_stopping_rule_of_the_ascents_can_be_chosen() {
    let given = ["compare", "--n", "50", "--p", "200", "--seed", "3", "--no-trace", "--methods", "dual_ascent,cdss"];
    let ended = |more: &[&str]| {
        let output = run(&[&given[..], &["--json"], more].concat());
        assert_eq!(code(&output), 0, "{}", errors(&output));
        let runs = json(&output)["runs"].clone();
        assert!(runs[1]["rule"].is_null(), "CDSS has no such rule");
        (runs[0]["rule"].as_str().unwrap().to_owned(), runs[0]["iterations"].as_u64().unwrap())
    };
    let (literal, patient) = (ended(&[]), ended(&["--stop", "patient"]));
    assert_eq!((literal.0.as_str(), &literal), ("not_decreasing", &ended(&["--stop", "literal"])));
    assert!(patient.1 > literal.1, "{patient:?} {literal:?}");
    assert!(text(&run(&given)).contains(": converged, gap not decreasing"));
}

#[test]
fn an_algorithm_that_cannot_solve_the_problem_says_so() {
    let output = run(&small(&["--lambda1", "0", "--lambda2", "0", "--methods", "dual_ascent,cdss"]));
    assert_eq!(code(&output), 0, "{}", errors(&output));
    let shown = text(&output);
    assert!(shown.contains("cannot run: method dual_ascent needs lambda2 > 0"), "{shown}");
    assert!(shown.contains("refused"), "{shown}");
}

#[test]
fn bad_arguments_exit_2_and_are_named() {
    let cases: [(&[&str], &str); 4] = [
        (&["--methods", "cdss,magic"], "magic"),
        (&["--stop", "soon"], "soon"),
        (&["--lambda1", "-1"], "lambda1 is -1"),
        (&["--k", "900"], "k is 900"),
    ];
    for (arguments, named) in cases {
        let output = run(&small(arguments));
        assert_eq!(code(&output), 2, "{arguments:?}");
        assert!(errors(&output).contains(named), "{arguments:?}: {}", errors(&output));
        assert!(output.stdout.is_empty(), "{arguments:?}: nothing is shown of a problem that is refused");
    }
}
