//! Limits that strike, and work that goes on from where it was ended.

use crate::place::{FLATS, Place};
use crate::support::{assert_certified, code, errors, json, text};

#[test]
fn a_checkpoint_gives_the_same_answer() {
    let place = Place::new();
    let line = format!("cv {FLATS} --folds 3 --json");
    let plain = place.json(&line);
    let first = place.json(&format!("{line} --checkpoint c.json"));
    assert!(place.path("c.json").exists());
    let again = place.json(&format!("{line} --checkpoint c.json"));
    for result in [&first, &again] {
        assert_eq!((&result["objective"], &result["chosen"]), (&plain["objective"], &plain["chosen"]));
    }
    let line = format!("exact {FLATS} -k 6 --checkpoint e.json --json");
    assert_eq!(place.json(&line)["objective"], place.json(&line)["objective"]);
    assert!(place.path("e.json").exists());
}

#[test]
fn a_time_limit_exits_3_with_a_result_or_0() {
    let place = Place::new();
    place.done("simulate big.npz --n 300 --p 4000 --true-features 60 --snr 1");
    let output = place.run("exact big.npz --lambda0 0.001 --lambda2 0.05 --time-limit 0.3 --json");
    let result = json(&output);
    assert_certified(&result);
    assert_eq!(code(&output) == 3, result["status"] == "time_limit", "{}", result["status"]);
}

/// The seconds for a proof are no limit on the answer: it is whole, with whatever was proved by then.
#[test]
fn too_little_time_for_a_proof_is_no_failure() {
    let place = Place::new();
    place.done("simulate hard.npz --n 100 --p 300 --true-features 20 --snr 1");
    for command in ["fit", "cv"] {
        let result = place.json(&format!("{command} hard.npz --prove 0.001 --json"));
        assert_certified(&result);
        assert_ne!(result["status"], "time_limit", "{command}");
    }
}

mod long {
    use super::*;

    /// With no fold done in time the criterion chooses, and with no point the null model is left; the answer says so.
    #[test]
    fn a_cross_validation_cut_short_says_what_chose() {
        let place = Place::new();
        place.done("simulate wide.npz --n 200 --p 3000 --true-features 30 --snr 2");
        for limit in ["0.02", "0.05", "0.1", "0.2", "0.4", "0.8"] {
            let output = place.run(&format!("cv wide.npz --folds 10 --repeats 20 --time-limit {limit}"));
            let (shown, errors) = (text(&output), errors(&output));
            match code(&output) {
                0 => assert!(!shown.contains("folds were done"), "{limit}: {shown}"),
                3 => assert!(
                    ["before a fold was done", "folds were done", "The path was cut short"]
                        .iter()
                        .any(|t| shown.contains(t)),
                    "{limit}: {shown}"
                ),
                other => panic!("{limit}: exit code {other}: {errors}"),
            }
        }
    }
}
