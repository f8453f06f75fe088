//! Survival times on the command line: columns with roles of their own, the family by its name, predictions.

use crate::place::Place;
use crate::support::{code, errors};
use serde_json::Value;

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

/// The value that says that there was an event may be any that is named: R's 1 and 2, or one cause of several.
#[test]
fn events_are_told_by_a_value() {
    let place = trial();
    let usual = place.json(&format!("{FIT} --json"));
    let text = std::fs::read_to_string(place.path("trial.csv")).unwrap();
    let coded = |codes: [&str; 3]| {
        let line = |(i, line): (usize, &str)| {
            let mut fields: Vec<&str> = line.split(',').collect();
            fields[1] = match fields[1] {
                "yes" => codes[1],
                "no" if i % 2 == 0 => codes[0],
                "no" => codes[2],
                name => name,
            };
            fields.join(",") + "\n"
        };
        place.write("coded.csv", &text.lines().enumerate().map(line).collect::<String>());
    };
    let fit = "fit coded.csv --time days --drop centre --json";
    for (codes, value) in [(["1", "2", "3"], "2"), (["lost", "relapse", "none"], "relapse")] {
        coded(codes);
        assert_eq!(place.json(&format!("{fit} --event died={value}"))["objective"], usual["objective"]);
        let refused = place.refused(&format!("{fit} --event died"));
        assert!(
            refused.contains("that says that there was an event: --event died=VALUE (the column holds"),
            "{refused}"
        );
    }
    // A name may have the sign itself.
    let renamed = std::fs::read_to_string(place.path("trial.csv")).unwrap().replacen("died", "died=yes", 1);
    place.write("renamed.csv", &renamed);
    for event in ["died=yes", "died=yes=yes"] {
        let found = place.json(&format!("fit renamed.csv --time days --drop centre --json --event {event}"));
        assert_eq!(found["objective"], usual["objective"], "{event}");
    }
    let refused = place.refused(&format!("{fit} --event died=9"));
    assert!(refused.contains("column \"died\" holds no \"9\", but"), "{refused}");
    place.write("dates.csv", "since,e,x\n2020-01-02,1,1\n2020-01-03,0,2\n2020-02-03,1,4\n2021-02-03,1,3\n");
    let refused = place.refused("fit dates.csv --time since --event e");
    assert!(refused.contains("\"since\" holds texts, not times"), "{refused}");
}

/// Each stratum has a baseline of its own: found by the column of the fit or by another that is named, refused where it is not there or holds what
/// the fit had not. Events and strata are counted aloud.
#[test]
fn strata_are_predicted_by_their_names() {
    let place = trial();
    let fit = "fit trial.csv --time days --event died --strata centre";
    let said = place.done(&format!("{fit} -o strata.json"));
    assert!(said.contains("target days (40 events, 2 strata)"), "{said}");
    assert!(place.done(FIT).contains("target days (40 events)"));
    let counted = place.json(&format!("{fit} --json"));
    assert_eq!((&counted["data"]["events"], &counted["data"]["strata"]), (&40.into(), &2.into()));
    // One row twice, once of each stratum.
    place.write("new.csv", "x1,x2,x3,centre,site\n0.2,0.1,0.3,a,b\n0.2,0.1,0.3,b,a\n");
    let curves = |more: &str| {
        let text = place.done(&format!("predict strata.json new.csv --type survival --times 3{more}"));
        text.lines().skip(1).map(|line| line.parse::<f64>().unwrap()).collect::<Vec<_>>()
    };
    let (own, other) = (curves(""), curves(" --strata site"));
    assert!(own[0] != own[1] && own[0] == other[1] && own[1] == other[0], "{own:?} {other:?}");
    let medians = place.done("predict strata.json new.csv --type median");
    assert_eq!(medians.lines().count(), 3, "{medians}");
    place.write("bare.csv", "x1,x2,x3\n0.2,0.1,0.3\n");
    let risks = place.done("predict strata.json bare.csv --type risk");
    assert!(risks.lines().count() == 2 && risks.starts_with("risk\n"), "{risks}");
    place.write("odd.csv", "x1,x2,x3,centre\n0.2,0.1,0.3,c\n");
    for (line, said) in [
        ("predict strata.json bare.csv --type median", "was fitted with strata (a, b): --strata COLUMN"),
        ("predict strata.json odd.csv --type median", "holds \"c\"; the strata of the fit are a, b"),
        ("predict strata.json bare.csv --type median --strata centre", "centre"),
    ] {
        let refused = place.refused(line);
        assert!(refused.contains(said), "{line}: {refused}");
    }
}

/// A model is judged by the problem it was fitted to: its strata and exposures are taken over, and are no features.
#[test]
fn certify_takes_over_what_the_fit_had_beside_features() {
    let place = trial();
    let close = |fit: &Value, judged: &Value| {
        let (fit, judged) = (fit["objective"].as_f64().unwrap(), judged["objective"].as_f64().unwrap());
        assert!((fit - judged).abs() < 1e-6 * fit.abs(), "{fit} {judged}");
    };
    let fitted = place.json("fit trial.csv --time days --event died --strata centre -o strata.json --json");
    let certify = "certify trial.csv --time days --event died --coefficients strata.json --json";
    close(&fitted, &place.json(certify));
    let row = |i: u32| format!("{},{},{},{}\n", i * 7 % 40, i * 11 % 13, 1 + i % 3, (i * 7 % 40) / 9 * (1 + i % 3));
    place.write("cases.csv", &("a,b,years,cases\n".to_owned() + &(0..60).map(row).collect::<String>()));
    let fitted = place.json("fit cases.csv --target cases --family poisson --exposure years -o cases.json --json");
    close(&fitted, &place.json("certify cases.csv --target cases --coefficients cases.json --json"));
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

#[test]
fn a_report_shows_groups_by_risk_and_hazard_ratios() {
    let place = trial();
    place.done(&format!("{FIT} --report page.html --plots pictures"));
    let page = std::fs::read_to_string(place.path("page.html")).unwrap();
    for word in ["Hazard ratio", "Numbers at risk", "Kaplan–Meier", "Concordance", "Deviance explained", "high risk"]
    {
        assert!(page.contains(word), "{word}");
    }
    let picture = std::fs::read_to_string(place.path("pictures/survival.svg")).unwrap();
    assert!(picture.contains("low risk") && !picture.contains("NaN"));
    // Left out by folds: said so.
    place.done(&FIT.replace("fit ", "cv ").replace(" --drop", " --folds 3 --report folds.html --drop"));
    let page = std::fs::read_to_string(place.path("folds.html")).unwrap();
    assert!(page.contains("samples left out") && page.contains("where fitted"));
}

/// Times, events, counts and amounts that cannot be: what is wrong, where, and never a panic.
#[test]
fn bad_times_and_counts_are_named() {
    let place = Place::new();
    let table = |name: &str, row: &dyn Fn(usize) -> String| {
        place.write(name, &format!("t,e,s,x1,x2\n{}", (0..12).map(row).collect::<String>()));
    };
    let x = |i: usize| format!("{},{}\n", (1.7 * i as f64).sin(), (2.9 * i as f64).cos());
    table("before.csv", &|i| format!("{},1,-9,{}", if i == 4 { -2.0 } else { 1.0 + i as f64 }, x(i)));
    table("none.csv", &|i| format!("{},0,0,{}", 1 + i, x(i)));
    table("late.csv", &|i| format!("{},1,{},{}", 1 + i, if i == 3 { 4 } else { 0 }, x(i)));
    table("counts.csv", &|i| format!("{},1,0,{}", if i == 7 { -3 } else { i as i64 }, x(i)));
    table("zero.csv", &|i| format!("{i},1,-1,{}", x(i)));
    // As R's coxph() has it, zero is a time like others.
    let output = place.run("fit zero.csv --time t --event e --drop s");
    assert!(code(&output) == 0 && errors(&output).contains("Every time is that of an event"), "{}", errors(&output));
    table("nothing.csv", &|i| format!("0,1,0,{}", x(i)));
    for (line, said) in [
        (
            "fit before.csv --time t --event e --drop s",
            "before.csv, line 6, column \"t\": the time is -2; times must be at least 0",
        ),
        ("fit none.csv --time t --event e --drop s", "has an event: all times are censored"),
        ("fit late.csv --time t --event e --entry s", "late.csv, line 5, column \"t\": the entry is 4, not before t 4"),
        ("fit counts.csv -t t --family poisson", "-3"),
        ("fit counts.csv -t t --family negbin --theta 2", "-3"),
        ("fit nothing.csv -t t --family poisson", "every count"),
        ("fit nothing.csv -t t --family gamma", "above 0"),
    ] {
        let refused = place.refused(line);
        assert!(refused.contains(said), "{line}: {refused}");
    }
}

/// The order of the times is that of a feature: the likelihood grows without an end, the answer does not, with a ridge or without; without
/// one it is said.
#[test]
fn a_monotone_likelihood_has_a_bounded_answer() {
    let place = Place::new();
    let row = |i: usize| format!("{},1,{i},{}\n", 40 - i, (2.9 * i as f64).cos());
    place.write("monotone.csv", &format!("t,e,x1,x2\n{}", (0..30).map(row).collect::<String>()));
    for ridge in ["", " --lambda2 0"] {
        let found = place.json(&format!("fit monotone.csv --time t --event e -k 1 --json{ridge}"));
        let (objective, bound) = (found["objective"].as_f64().unwrap(), found["lower_bound"].as_f64().unwrap_or(0.0));
        assert!(objective.is_finite() && bound <= objective, "{found}");
        assert!(found["features"][0]["coefficient"].as_f64().unwrap().is_finite(), "{found}");
        assert_eq!(found["remarks"].to_string().contains("may be infinite"), !ridge.is_empty(), "{found}");
    }
}
