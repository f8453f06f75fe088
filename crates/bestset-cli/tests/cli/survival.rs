//! Survival times on the command line: columns with roles of their own, the family by its name, predictions.

use crate::place::Place;

/// Sixty samples, of which x1 shortens the time and every third is censored.
fn trial() -> Place {
    let place = Place::new();
    let row = |i: usize| {
        let t = i as f64;
        let (x1, x2, x3) = ((1.7 * t).sin(), (2.9 * t).cos(), (0.9 * t).sin());
        let time = (1.0 - 0.9 * x1 + 0.2 * (5.3 * t).sin()).exp();
        format!("{time},{},{x1},{x2},{x3},{}\n", if i.is_multiple_of(3) { "no" } else { "yes" }, ["a", "b"][i % 2])
    };
    place.write("trial.csv", &format!("days,died,x1,x2,x3,centre\n{}", (0..60).map(row).collect::<String>()));
    place
}

const FIT: &str = "fit trial.csv --time days --event died --drop centre";

#[test]
fn times_are_fitted_and_predicted() {
    let place = trial();
    let found = place.json(&format!("{FIT} --json -o model.json"));
    assert_eq!(found["features"][0]["name"], "x1", "{found}");
    assert!(found["features"][0]["coefficient"].as_f64().unwrap() > 0.5, "{found}");
    assert!(found["lower_bound"].as_f64().unwrap() <= found["objective"].as_f64().unwrap());
    let named = place.json(&format!("{FIT} --family cox --json"));
    assert_eq!(found["objective"], named["objective"]);
    let strata = "fit trial.csv --time days --event died --strata centre --ties breslow --json";
    assert!(place.json(strata)["objective"].as_f64().unwrap() < found["objective"].as_f64().unwrap());
    let curves = place.done("predict model.json trial.csv --type survival --times 1,3");
    assert_eq!(curves.lines().count(), 61, "{curves}");
    for line in curves.lines().skip(1) {
        let values: Vec<f64> = line.split(',').map(|v| v.parse().unwrap()).collect();
        assert!(values.len() == 2 && values[1] <= values[0] && (0.0..=1.0).contains(&values[1]), "{line}");
    }
}

#[test]
fn families_that_are_not_of_times_are_refused() {
    let place = trial();
    for (line, said) in [
        (format!("{FIT} --family poisson"), "--time makes the family cox, and --loss is poisson"),
        ("fit trial.csv -t days --family cox --drop died,centre".to_owned(), "--time COLUMN --event COLUMN"),
        (FIT.replace("died", "x1"), "--event wants 1 and 0"),
    ] {
        let refused = place.refused(&line);
        assert!(refused.contains(said), "{line}: {refused}");
    }
}
