//! More than two classes on the command line: fitted together by themselves, tables, JSON, predictions, what is refused.

use crate::place::Place;
use crate::support::{code, errors};

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
    let output = place.run(&format!("{FIT} --report page.html"));
    assert_eq!(code(&output), 2);
    assert!(errors(&output).contains("no page for more than two classes"), "{}", errors(&output));
    for (line, said) in [
        (format!("{FIT} --loss squared"), "holds texts"),
        (format!("{FIT} --offset x3"), "--offset and --scale-target"),
        (format!("{FIT} --family multinomial --positive oak"), "--positive makes two classes"),
        (format!("{FIT} --lambda2 0"), "lambda2"),
        ("cv alone.csv --folds 3".to_owned(), "class \"c\" of y has no sample"),
        ("fit one.csv --family multinomial".to_owned(), "one value only"),
        (format!("{} --score auc", FIT.replace("fit", "cv")), "two classes"),
    ] {
        let refused = place.refused(&line);
        assert!(refused.contains(said), "{line}: {refused}");
    }
}
