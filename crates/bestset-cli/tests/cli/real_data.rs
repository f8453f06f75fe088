//! Files beside the project: answers that are known.

use crate::place::{Place, shared};
use crate::support::{assert_certified, json};

#[test]
fn best_subsets_of_hitters_are_the_published_ones() {
    let Some(path) = shared("hitters.csv") else { return };
    let place = Place::new();
    let result = place.json(&format!("subsets {} --target Salary --max-size 7 --json", path.display()));
    let names = |k: usize| -> Vec<String> {
        let pairs = result["sizes"][k - 1]["features"].as_array().unwrap();
        pairs.iter().map(|p| p[0].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(3), ["Hits", "CRBI", "PutOuts"]);
    assert_eq!(names(6), ["AtBat", "Hits", "Walks", "CRBI", "DivisionW", "PutOuts"]);
}

#[test]
fn golub_goes_from_file_to_certified_report() {
    let Some(path) = shared("golub.csv.gz") else { return };
    let place = Place::new();
    let output = place.run(&format!("report {} --target y --json --folds 5", path.display()));
    let result = json(&output);
    assert_certified(&result);
    assert_eq!(result["data"]["classes"]["positive"], "AML");
    assert!(place.path("golub.report.html").exists());
}
