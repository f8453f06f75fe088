//! More than two classes on the command line: fitted together by themselves, tables, JSON, predictions, what is refused.

use crate::place::Place;

/// Ninety samples of three classes, told by x1 and x2, and the same classes as numbers.
fn trees() -> Place {
    let place = Place::new();
    let row = |i: usize| {
        let t = i as f64;
        let x = [1.7, 2.9, 0.9, 4.1].map(|f: f64| (f * t).sin());
        let scores = [2.0 * x[0], 2.0 * x[1], -2.0 * (x[0] + x[1])].map(|s| s + 0.6 * (5.3 * t + s).cos());
        let kind = (0..3).max_by(|&a, &b| scores[a].total_cmp(&scores[b])).unwrap();
        let [a, b, c, d] = x;
        format!("{},{},{a},{b},{c},{d},{}\n", ["oak", "ash", "elm"][kind], kind + 1, 1 + i % 3)
    };
    place.write("trees.csv", &format!("tree,number,x1,x2,x3,x4,w\n{}", (0..90).map(row).collect::<String>()));
    place
}

const FIT: &str = "fit trees.csv -t tree --drop number,w";

#[test]
fn classes_are_fitted_together_and_predicted() {
    let place = trees();
    let found = place.json(&format!("{FIT} --json -o model.json"));
    assert_eq!(found["problem"]["loss"]["multinomial"]["classes"], 3, "{found}");
    assert_eq!(found["data"]["class_names"].as_array().unwrap(), &["ash", "elm", "oak"]);
    let mut names: Vec<&str> =
        found["features"].as_array().unwrap().iter().map(|f| f["name"].as_str().unwrap()).collect();
    names.sort_unstable();
    assert_eq!(names, ["x1", "x2"], "{found}");
    for feature in found["features"].as_array().unwrap() {
        let own: Vec<f64> = feature["coefficients"].as_array().unwrap().iter().map(|b| b.as_f64().unwrap()).collect();
        assert!(own.len() == 3 && own.iter().sum::<f64>().abs() < 1e-9, "{own:?}");
    }
    assert!(found["lower_bound"].as_f64().unwrap() <= found["objective"].as_f64().unwrap());
    let shown = place.done(FIT);
    assert!(shown.contains("target tree (ash, elm, oak)") && shown.contains("multinomial loss"), "{shown}");
    assert!(
        shown.contains("length per standard deviation") && shown.contains("share of deviance explained"),
        "{shown}"
    );
    let predicted = place.done("predict model.json trees.csv");
    assert!(predicted.starts_with("tree,probability ash,probability elm,probability oak\n"), "{predicted}");
    let told = place.json("predict model.json trees.csv --json");
    assert_eq!(told["score"]["name"], "accuracy");
    assert!(told["score"]["value"].as_f64().unwrap() > 0.7, "{}", told["score"]);
    assert!((told["d2"].as_f64().unwrap() - found["standing"]["r2"].as_f64().unwrap()).abs() < 1e-9);
    let row: f64 = told["class_probabilities"][0].as_array().unwrap().iter().map(|p| p.as_f64().unwrap()).sum();
    assert!((row - 1.0).abs() < 1e-12);
    // Files without the target, or with a class that the model does not know, are predicted all the same.
    place.write("new.csv", "x1,x2,tree\n0.1,0.9,yew\n");
    assert!(place.json("predict model.json new.csv --json")["score"].is_null());
}

#[test]
fn every_command_counts_features() {
    let place = trees();
    let rest = "trees.csv -t tree --drop number,w";
    let exact = place.json(&format!("exact {rest} -k 2 --best 2 --json"));
    assert_eq!((exact["status"].as_str(), exact["nonzeros"].as_u64()), (Some("optimal"), Some(2)), "{exact}");
    assert_eq!(exact["ranked"][0]["features"].as_array().unwrap().len(), 2, "{exact}");
    let path = place.json(&format!("path {rest} --max-size 3 --json"));
    let sizes: Vec<u64> = path["points"].as_array().unwrap().iter().map(|p| p["nonzeros"].as_u64().unwrap()).collect();
    assert!(sizes[0] == 0 && *sizes.last().unwrap() <= 3 && sizes.contains(&2), "{sizes:?}");
    assert!(place.done(&format!("path {rest} --max-size 2")).contains("+x"));
    let cv = place.json(&format!("cv {rest} --folds 5 --score accuracy --json"));
    assert!(cv["nonzeros"].as_u64().unwrap() >= 2, "{cv}");
    let subsets = place.json(&format!("subsets {rest} --max-size 2 --json"));
    assert_eq!(subsets["sizes"][1]["features"].as_array().unwrap().len(), 2, "{subsets}");
    let stable = place.done(&format!("stability {rest} --subsamples 4"));
    assert!(stable.contains("x1") && stable.contains("x2"), "{stable}");
    // The same classes as numbers, and weights.
    let numbers = place.json("fit trees.csv -t number --drop tree,w --family multinomial --json");
    assert_eq!(numbers["data"]["class_names"][2], "3");
    let named = place.json(&format!("{FIT} --json"));
    let gap = numbers["objective"].as_f64().unwrap() - named["objective"].as_f64().unwrap();
    assert!(gap.abs() < 1e-6, "{gap}");
    let weighted = place.json("fit trees.csv -t tree --drop number --weights w --json");
    assert!(weighted["objective"].as_f64().unwrap() > 1.2 * named["objective"].as_f64().unwrap());
}

#[test]
fn what_classes_cannot_do_is_named() {
    let place = trees();
    place.write("alone.csv", "y,x\na,1\na,2\nb,3\nb,1\na,5\nb,2\nc,4\n");
    place.write("one.csv", "y,x\n2,1\n2,2\n2,3\n");
    for (line, said) in [
        (format!("{FIT} --loss squared"), "holds texts"),
        (format!("{FIT} --offset x3"), "--offset and --scale-target"),
        (format!("{FIT} --family multinomial --positive oak"), "--positive makes two classes"),
        (format!("{FIT} --lambda2 0"), "lambda2"),
        ("cv alone.csv --folds 3".to_owned(), "class \"c\" of y has no sample"),
        ("fit one.csv --family multinomial".to_owned(), "one value only"),
        ("fit one.csv --family binomial".to_owned(), "one value only"),
        (format!("{} --score auc", FIT.replace("fit", "cv")), "two classes"),
    ] {
        let refused = place.refused(&line);
        assert!(refused.contains(said), "{line}: {refused}");
    }
}

#[test]
fn a_report_has_a_curve_and_coefficients_for_every_class() {
    let place = trees();
    place.done(&format!("{} --folds 5 --report page.html --plots plots", FIT.replace("fit", "cv")));
    let page = std::fs::read_to_string(place.path("page.html")).unwrap();
    for word in
        ["for ash", "for elm", "for oak", "class-roc", "Mean AUC", "Deviance explained", "says ", "samples left out"]
    {
        assert!(page.contains(word), "{word}");
    }
    assert!(
        std::fs::read_to_string(place.path("plots/class-roc.svg")).unwrap().contains("each class against all others")
    );
}

/// A model judged by itself is as far from its bound as the fit was; the same coefficients in a table, with the classes in another
/// order, are judged alike.
#[test]
fn certify_takes_coefficients_of_classes() {
    let place = trees();
    let found = place.json(&format!("{FIT} --lambda0 2 --json -o model.json"));
    let rest = FIT.replace("fit", "certify");
    let own = place.json(&format!("{rest} -c model.json --json"));
    let near = |a: &serde_json::Value, b: &serde_json::Value| (a.as_f64().unwrap() - b.as_f64().unwrap()).abs() < 1e-6;
    assert!(near(&own["objective"], &found["objective"]), "{own} {found}");
    let value = |feature: &serde_json::Value, k: usize| feature["coefficients"][k].as_f64().unwrap();
    let row = |f: &serde_json::Value| {
        format!("{},{},{},{}\n", f["name"].as_str().unwrap(), value(f, 2), value(f, 0), value(f, 1))
    };
    let rows: String = found["features"].as_array().unwrap().iter().map(row).collect();
    place.write("table.csv", &format!("feature,oak,ash,elm\n{rows}"));
    let told = place.json(&format!("{rest} -c table.csv --lambda0 2 --json"));
    // Without intercepts the best are taken.
    assert!(near(&told["objective"], &found["objective"]) && told["nonzeros"] == own["nonzeros"], "{told}");
    place.write("list.json", r#"{"x1": [1.0, 0.5, -1.5], "(intercept)": [0, 0, 0]}"#);
    let other = place.json(&format!("{rest} -c list.json --lambda0 2 --json"));
    assert!(other["objective"].as_f64() > told["objective"].as_f64() && other["nonzeros"] == 1, "{other}");
    assert!(other["lower_bound"].as_f64().unwrap() <= found["objective"].as_f64().unwrap() + 1e-9);
    place.write("short.csv", "x1,1,2\n");
    place.write("named.csv", "feature,oak,ash,yew\nx1,1,2,3\n");
    place.write("number.json", r#"{"x1": 1.0}"#);
    for (file, said) in [
        ("short.csv", "a coefficient for each class"),
        ("named.csv", "no column for class \"elm\""),
        ("number.json", "not a list of 3 numbers"),
    ] {
        let refused = place.refused(&format!("{rest} -c {file} --lambda0 2"));
        assert!(refused.contains(said), "{file}: {refused}");
    }
}

/// Classes that are numbers are named by the first line of a table as others are; a model of another number of classes is none of these data.
#[test]
fn certify_knows_whose_coefficients_they_are() {
    let place = trees();
    let numbers = "trees.csv -t number --family multinomial --drop tree,w --lambda0 2";
    place.write("numbers.csv", "feature,3,1,2\nx1,-1.5,1.0,0.5\n");
    place.write("plain.csv", "x1,1.0,0.5,-1.5\n");
    let of = |file: &str| place.json(&format!("certify {numbers} -c {file} --json"))["objective"].clone();
    assert_eq!(of("numbers.csv"), of("plain.csv"));
    place.done("fit trees.csv -t x2 --drop tree,w,number --lambda0 2 -o line.json");
    let refused = place.refused(&format!("certify {numbers} -c line.json"));
    assert!(refused.contains("coefficients of one target, the data 3 classes"), "{refused}");
    place.done(&format!("{FIT} --lambda0 2 -o model.json"));
    let refused =
        place.refused("certify trees.csv -t x2 --drop tree,w,number --loss squared --lambda0 2 -c model.json");
    assert!(refused.contains("coefficients of 3 classes, the data one target"), "{refused}");
}

/// Classes that a feature tells apart without a mistake: the likelihood grows without an end, the answer does not.
#[test]
fn separated_classes_have_a_bounded_answer() {
    let place = Place::new();
    let row = |i: usize| format!("{},{},{i},{}\n", ["a", "b", "c"][i / 10], ["u", "v"][i / 15], (2.9 * i as f64).cos());
    place.write("apart.csv", &format!("three,two,x1,x2\n{}", (0..30).map(row).collect::<String>()));
    for rest in ["-t three --drop two", "-t two --drop three", "-t two --drop three --lambda2 0"] {
        let found = place.json(&format!("fit apart.csv {rest} -k 1 --json"));
        let (objective, bound) = (found["objective"].as_f64().unwrap(), found["lower_bound"].as_f64().unwrap_or(0.0));
        assert!(objective.is_finite() && bound <= objective, "{found}");
        assert!(found["features"][0]["coefficient"].as_f64().is_some_and(f64::is_finite), "{found}");
    }
}
