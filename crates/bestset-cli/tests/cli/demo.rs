//! `bestset demo --simulated` from the outside: tables, JSON, exit codes, messages.

use crate::support::{assert_certified, bestset, code, errors, json, run, text};
use serde_json::Value;

const SMALL: [&str; 12] =
    ["demo", "--simulated", "--n", "60", "--p", "100", "--seed", "3", "--lambda0", "0.002", "--lambda2", "0.1"];

fn small<'a>(more: &[&'a str]) -> Vec<&'a str> {
    SMALL.iter().chain(more).copied().collect()
}

#[test]
fn tables_show_features_and_certificate() {
    let output = run(&small(&["--trace"]));
    assert_eq!(code(&output), 0, "{}", errors(&output));
    let shown = text(&output);
    for part in [
        "Simulated data: 60 samples, 100 features",
        "squared loss, lambda0 0.002, lambda1 0.02, lambda2 0.1, method incremental",
        "feature",
        "coefficient",
        "truth",
        "objective P",
        "relaxation R",
        "lower bound D",
        "gap P − D",
        "status",
        "seconds",
        "passes over X",
        "best D",
        "Proved: no subset",
    ] {
        assert!(shown.contains(part), "{part:?} is missing in\n{shown}");
    }
    assert!(!shown.contains('\u{1b}'), "no style where there is no terminal");
}

#[test]
fn style_can_be_forced_and_no_color_wins_by_default() {
    let forced = bestset(&SMALL).env("CLICOLOR_FORCE", "1").output().unwrap();
    assert!(text(&forced).contains("\u{1b}[1m"));
    let plain = bestset(&SMALL).env("NO_COLOR", "1").output().unwrap();
    assert!(!text(&plain).contains('\u{1b}'));
}

#[test]
fn json_is_consistent_for_every_loss() {
    for loss in ["squared", "logistic", "squared_hinge", "huber"] {
        let output = run(&small(&["--json", "--loss", loss]));
        assert_eq!(code(&output), 0, "{loss}: {}", errors(&output));
        let result = json(&output);
        let (bound, _) = assert_certified(&result);
        let relaxation = result["relaxation"].as_f64().unwrap();
        assert!(bound <= relaxation * (1.0 + 1e-12), "{loss}: D {bound}, R {relaxation}");
        let support = result["coefficients"]["support"].as_array().unwrap();
        assert!(!support.is_empty(), "{loss}: the test means something only with features selected");
        assert_eq!(result["nonzeros"].as_u64().unwrap() as usize, support.len());
        assert_eq!(result["recovery"]["selected"].as_u64().unwrap() as usize, support.len());
        assert_eq!(result["truth"]["support"].as_array().unwrap().len(), 3);
        assert!(result.get("trace").is_none(), "the trace was not asked for");
    }
}

#[test]
fn the_trace_ends_at_the_answer() {
    assert_trace_is_consistent(&json(&run(&small(&["--json", "--trace"]))));
    // Without a ridge term problems with one are solved on the way: their bounds must not show.
    assert_trace_is_consistent(&json(&run(&small_with(&["--json", "--trace", "--lambda1", "0", "--lambda2", "0"]))));
}

fn assert_trace_is_consistent(result: &Value) {
    let trace = result["trace"].as_array().unwrap();
    let column = |name: &str| trace.iter().map(|row| row[name].as_f64().unwrap()).collect::<Vec<f64>>();
    for (name, sign) in [("objective", -1.0), ("lower_bound", 1.0)] {
        let values = column(name);
        assert!(values.windows(2).all(|w| sign * w[0] <= sign * w[1]), "{name} is the best so far: {values:?}");
        let (last, answer) = (values.last().expect("a trace has rows"), result[name].as_f64().unwrap());
        assert!((last - answer).abs() <= 1e-12 * answer.abs(), "{name} ends at {last}, the answer has {answer}");
    }
    assert!(column("seconds").windows(2).all(|w| w[0] <= w[1]));
}

#[test]
fn the_same_seed_gives_the_same_answer_with_any_number_of_threads() {
    // The default size is large enough for its passes over X to be shared out.
    let answer = |threads: &str| {
        let mut result = json(&run(&["demo", "--simulated", "--json", "--threads", threads]));
        result["seconds"] = Value::Null;
        result
    };
    assert_eq!(answer("1"), answer("2"));
    let other = json(&run(&["demo", "--simulated", "--json", "--seed", "2"]));
    assert_ne!(other["objective"], answer("1")["objective"]);
}

#[test]
fn bad_arguments_exit_2_and_are_named() {
    let cases: [(&[&str], &str); 18] = [
        (&["--n", "many"], "many"),
        (&["--n", "0"], "0 samples"),
        (&["--p", "-5"], "'-5' for '--p <COUNT>'"),
        (&["--seed", "-1"], "'-1' for '--seed <SEED>'"),
        (&["--method", "dual_iht", "--lambda0", "1"], "--lambda0 has no place"),
        (&["--snr", "-2"], "snr is -2"),
        (&["--rho", "1.5"], "rho is 1.5"),
        (&["--lambda0", "-1"], "lambda0 is -1"),
        (&["--lambda2", "nan"], "lambda2 is NaN"),
        (&["--loss", "cubic"], "cubic"),
        (&["--loss", "huber", "--delta", "0"], "delta is 0"),
        (&["--method", "magic"], "magic"),
        (&["--method", "dual_iht", "--k", "101", "--lambda0", "0"], "k is 101"),
        (&["--threads", "0"], "threads is 0"),
        (&["--threads", "100000"], "threads is 100000"),
        (&["--max-nodes", "0"], "max_nodes is 0"),
        (&["--time-limit", "-1"], "'-1'"),
        (&["--unknown"], "--unknown"),
    ];
    for (arguments, named) in cases {
        let output = run(&small_with(arguments));
        assert_eq!(code(&output), 2, "{arguments:?}");
        assert!(errors(&output).contains(named), "{arguments:?}: {}", errors(&output));
        assert!(output.stdout.is_empty(), "{arguments:?}");
    }
}

/// Small data, without the settings that `arguments` change.
fn small_with<'a>(arguments: &[&'a str]) -> Vec<&'a str> {
    let mut all = vec!["demo", "--simulated"];
    for pair in SMALL[2..].chunks(2).filter(|pair| !arguments.contains(&pair[0])) {
        all.extend_from_slice(pair);
    }
    all.extend_from_slice(arguments);
    all
}

#[test]
fn a_time_limit_returns_a_valid_result() {
    let output = run(&["demo", "--simulated", "--n", "100", "--p", "1000", "--json", "--time-limit", "0.001"]);
    assert!([0, 3].contains(&code(&output)), "{}", errors(&output));
    let result = json(&output);
    assert_certified(&result);
    assert_eq!(code(&output) == 3, result["status"] == "time_limit", "{}", result["status"]);
}

#[test]
fn an_iteration_limit_exits_3() {
    let output = run(&["demo", "--simulated", "--n", "100", "--p", "1000", "--json", "--max-iterations", "1"]);
    let result = json(&output);
    assert_certified(&result);
    assert_eq!(code(&output), if result["status"] == "iteration_limit" { 3 } else { 0 });
}

#[test]
fn a_node_limit_exits_3_with_a_valid_result() {
    let output = run(&["demo", "--simulated", "--json", "--method", "exact", "--max-nodes", "1"]);
    let result = json(&output);
    assert_certified(&result);
    assert_eq!((code(&output), &result["status"]), (3, &Value::from("node_limit")));
}

#[test]
fn pure_l0_has_a_solution_and_says_that_nothing_is_proved() {
    let output = run(&small_with(&["--lambda1", "0", "--lambda2", "0"]));
    assert_eq!(code(&output), 0, "{}", errors(&output));
    assert!(text(&output).contains("Nothing is proved"), "{}", text(&output));
    let result = json(&run(&small_with(&["--lambda1", "0", "--lambda2", "0", "--json"])));
    // No bound, or the trivial one: no loss is negative.
    assert!(result["lower_bound"].as_f64().is_none_or(|bound| bound <= 0.0) && result["objective"].is_number());
}

#[test]
fn what_a_method_does_not_have_is_left_out_of_the_certificate() {
    // At most k features: no relaxation, and the proof is about subsets of that size.
    let shown = text(&run(&small_with(&["--method", "dual_iht", "--k", "3", "--lambda0", "0"])));
    assert!(shown.contains("Proved: no subset of at most 3 features"), "{shown}");
    assert!(!shown.contains("relaxation R") && !shown.contains("relaxation gap"), "{shown}");
    // Branch and bound raises D above R here.
    let settled = ["demo", "--simulated", "--p", "300", "--method", "exact"];
    let shown = text(&run(&settled));
    assert!(shown.contains("Proved: no subset has a lower objective"), "{shown}");
    assert!(shown.contains("relaxation R") && !shown.contains("relaxation gap"), "{shown}");
}

#[test]
fn fewer_features_can_be_listed() {
    let shown = text(&run(&small(&["--top", "1"])));
    assert!(shown.contains("smaller ones (--top"), "{shown}");
}

#[test]
fn a_closed_pipe_is_not_an_error() {
    let mut child =
        bestset(&SMALL).stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(code(&output), 0);
    assert!(output.stderr.is_empty(), "{}", errors(&output));
}

/// The published primal-dual method takes minutes here: it is still running when the signal comes. `timeout` sends it twice, and
/// schedulers ask to terminate.
#[cfg(unix)]
#[test]
fn a_signal_returns_a_valid_result_and_exits_130() {
    use std::os::unix::process::ExitStatusExt;
    let arguments = ["demo", "--simulated", "--method", "primal_dual", "--json"];
    for signal in ["-INT", "-TERM"] {
        let mut wait = std::time::Duration::from_millis(300);
        let output = loop {
            let child = bestset(&arguments).stdout(std::process::Stdio::piped()).spawn().unwrap();
            std::thread::sleep(wait);
            let send = || std::process::Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
            assert!(send().success());
            std::thread::sleep(std::time::Duration::from_millis(5));
            send();
            let output = child.wait_with_output().unwrap();
            // On a busy machine the signal may come before the program has begun: again, later.
            if output.status.signal().is_none() {
                break output;
            }
            wait *= 2;
        };
        assert_eq!(code(&output), 130, "{signal}");
        let result = json(&output);
        assert_eq!(result["status"], "interrupted");
        assert_certified(&result);
    }
}

#[test]
fn help_names_every_command_and_the_exit_codes() {
    let shown = text(&run(&["--help"]));
    for part in ["demo", "compare", "Exit codes: 0 done, 2 bad input", "130 interrupted"] {
        assert!(shown.contains(part), "{part:?} is missing in\n{shown}");
    }
    let shown = text(&run(&["demo", "--help"]));
    assert!(shown.contains("Examples: bestset demo") && shown.contains("primal_dual_plain"), "{shown}");
    assert!(text(&run(&["--version"])).starts_with("bestset "), "the name of the command, not of its crate");
    assert_eq!(code(&run(&[])), 2, "no command is a usage error");
}
