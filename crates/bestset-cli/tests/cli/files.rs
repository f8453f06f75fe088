//! The commands that work on files, from the outside: a snapshot of each, and what must hold whatever the numbers.

use crate::place::{FLATS, Place};
use crate::support::{assert_certified, code, errors, json, text};
use serde_json::Value;

/// Numbers that depend on time, on rounding and on the number of threads are not part of a snapshot.
fn settings() -> insta::Settings {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.add_filter(r"(seconds +)[0-9.e-]+", "${1}[time]");
    settings.add_filter(r"(passes over X +)[0-9.]+", "${1}[passes]");
    settings.add_filter(r"(iterations +)[0-9]+", "${1}[count]");
    settings.add_filter(r"(gap P − D +)[0-9.e-]+ \([^)]*\)", "${1}[gap]");
    settings.add_filter(r"(gap R − D +)[0-9.e-]+ \([^)]*\)", "${1}[gap]");
    settings.add_filter(r"(lower bound D +P − )[0-9.e-]+", "${1}[gap]");
    settings.add_filter(r"(-?[0-9]+\.[0-9]{2})[0-9]+", "${1}");
    settings.add_filter(r"[0-9](\.[0-9]+)?e-[0-9]+", "[small]");
    settings.add_filter(r"─+", "─");
    // Columns are as wide as their widest cell, which may be a number that is not part of the snapshot.
    settings.add_filter(r"(?m)^ +| +$", "");
    settings.add_filter(r" +", " ");
    settings
}

macro_rules! snapshot {
    ($name:literal, $text:expr) => {
        settings().bind(|| insta::assert_snapshot!($name, $text))
    };
}

#[test]
fn fit_chooses_by_a_criterion() {
    let place = Place::new();
    snapshot!("fit", place.done(&format!("fit {FLATS}")));
    let result = place.json(&format!("fit {FLATS} --json"));
    assert_certified(&result);
    let names: Vec<&str> = result["features"].as_array().unwrap().iter().map(|f| f["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"area") && names.contains(&"furnished=yes"), "{names:?}");
}

#[test]
fn path_shows_every_point() {
    let place = Place::new();
    snapshot!("path", place.done(&format!("path {FLATS} --max-size 6")));
    let result = place.json(&format!("path {FLATS} --max-size 6 --json"));
    let points = result["points"].as_array().unwrap();
    for point in points {
        assert!(point["lower_bound"].as_f64().unwrap() <= point["objective"].as_f64().unwrap() * (1.0 + 1e-12));
    }
    assert!(result["chosen"].as_u64().unwrap() < points.len() as u64);
}

#[test]
fn cv_chooses_by_samples_left_out() {
    let place = Place::new();
    snapshot!("cv", place.done(&format!("cv {FLATS} --folds 5 --seed 3 --prove 1000000 --model m.json")));
    let min = place.json(&format!("cv {FLATS} --folds 5 --seed 3 --rule min --json"));
    let one = place.json(&format!("cv {FLATS} --folds 5 --seed 3 --json"));
    assert!(one["nonzeros"].as_u64() <= min["nonzeros"].as_u64());
}

#[test]
fn subsets_are_proved_for_every_size() {
    let place = Place::new();
    snapshot!("subsets", place.done(&format!("subsets {FLATS} --max-size 5")));
    let result = place.json(&format!("subsets {FLATS} --max-size 5 --json"));
    assert!(result["sizes"].as_array().unwrap().iter().all(|s| s["status"] == "optimal"), "{result}");
}

#[test]
fn exact_proves_sizes_and_ranks() {
    let place = Place::new();
    snapshot!("exact", place.done(&format!("exact {FLATS} -k 4 --best 3")));
    let size = place.json(&format!("exact {FLATS} -k 3 --json"));
    assert_eq!((&size["status"], size["nonzeros"].as_u64()), (&Value::from("optimal"), Some(3)));
    let limited = place.run(&format!("exact {FLATS} --lambda0 200 --max-nodes 1 --json"));
    assert_eq!(code(&limited) == 3, json(&limited)["status"] == "node_limit");
    assert_certified(&json(&limited));
}

#[test]
fn proofs_are_checked_by_another_program() {
    let place = Place::new();
    place.done("simulate sim.csv --n 60 --p 30 --true-features 3 --seed 4");
    let said = place.done("exact sim.csv -k 3 --proof sim.bsp");
    assert!(said.contains("bestset-check sim.csv sim.bsp"), "{said}");
    let path = |name: &str| place.path(name);
    let check = |data: &str, proof: &str| {
        let proof = std::fs::File::open(path(proof)).unwrap();
        bestset_check::check(&bestset_check::Table::read(&path(data)).unwrap(), None, proof)
    };
    let sentence = check("sim.csv", "sim.bsp").unwrap().sentence();
    assert!(sentence.contains("no subset of at most 3 of the 30 features"), "{sentence}");
    // Texts became numbers: those are written into a file of their own.
    let line = format!("exact {FLATS} -k 3 --no-groups --proof flats.bsp");
    let refused = place.refused(&line);
    assert!(refused.contains("texts that became numbers") && refused.contains("--proof-data"), "{refused}");
    place.done(&format!("{line} --proof-data used.csv"));
    check("used.csv", "flats.bsp").unwrap();
    assert!(check("sim.csv", "flats.bsp").is_err());
    // Classes are −1 and 1 in a proof, whatever they are called.
    let row = |i: u32| format!("{},{},{}\n", i * 7 % 40, i * 11 % 13, u32::from(i * 7 % 40 + i % 9 > 22));
    std::fs::write(path("kinds.csv"), "a,b,kind\n".to_owned() + &(0..40).map(row).collect::<String>()).unwrap();
    let line = "exact kinds.csv --target kind --loss logistic --lambda0 1 --lambda2 0.1 --proof kinds.bsp";
    assert!(place.refused(line).contains("classes that became -1 and 1"), "{}", place.refused(line));
    place.done(&format!("{line} --proof-data kinds_used.csv"));
    let sentence = check("kinds_used.csv", "kinds.bsp").unwrap().sentence();
    assert!(sentence.contains("log(1 + exp(−yu)), u = Xb + b0"), "{sentence}");
    // A constant is no feature, and a file that leaves one out says so: it might as well have left out another.
    let row = |i: u32| format!("{},3,{},{}\n", i * 7 % 40, i * 11 % 13, i * 7 % 40 + i % 9);
    std::fs::write(path("flat.csv"), "a,flat,b,y\n".to_owned() + &(0..40).map(row).collect::<String>()).unwrap();
    place.done("exact flat.csv --target y -k 1 --lambda2 0 --proof flat.bsp");
    let sentence = check("flat.csv", "flat.bsp").unwrap().sentence();
    assert!(sentence.contains("(1 of them may not enter: \"flat\")"), "{sentence}");
}

/// An exposure is no offset as it is: its logarithm is one, in the file of the data as they are used. A search that a limit cuts ends as
/// any other, without a proof.
#[test]
fn proofs_of_exposures_and_of_limits() {
    let place = Place::new();
    let path = |name: &str| place.path(name);
    let row = |i: u32| format!("{},{},{},{}\n", i * 7 % 40, i * 11 % 13, 1 + i % 3, (i * 7 % 40) / 9 * (1 + i % 3));
    std::fs::write(path("cases.csv"), "a,b,years,cases\n".to_owned() + &(0..60).map(row).collect::<String>()).unwrap();
    let line =
        "exact cases.csv --target cases --family poisson --exposure years --lambda0 1 --lambda2 0.1 --proof cases.bsp";
    let refused = place.refused(line);
    assert!(refused.contains("--exposure years") && refused.contains("--proof-data"), "{refused}");
    place.done(&format!("{line} --proof-data cases_used.csv"));
    let proof = std::fs::File::open(path("cases.bsp")).unwrap();
    bestset_check::check(&bestset_check::Table::read(&path("cases_used.csv")).unwrap(), None, proof).unwrap();
    place.done("simulate hard.csv --n 60 --p 300 --true-features 20 --snr 1");
    let output = place.run("exact hard.csv --lambda0 0.01 --lambda2 0.01 --max-nodes 1 --proof hard.bsp");
    let said = errors(&output);
    assert!(code(&output) == 3 && said.contains("the proof is unfinished (node limit)"), "{}: {said}", code(&output));
    assert!(said.contains("hard.bsp") && !path("hard.bsp").exists(), "{said}");
    assert!(path("hard.bsp.search").exists(), "the search is kept beside the proof that it was for");
    let nowhere = place.refused("exact hard.csv --lambda0 0.01 --lambda2 0.01 --proof none/hard.bsp");
    assert!(nowhere.contains("none/hard.bsp"), "{nowhere}");
}

#[test]
fn predict_brings_classes_and_scales_back() {
    let place = Place::new();
    place.done(&format!("fit {FLATS} --model rent.json"));
    snapshot!("predict", place.done("predict rent.json flats.csv").lines().take(4).collect::<Vec<_>>().join("\n"));
    let shown = place.done("predict rent.json flats.csv --output p.csv");
    assert!(shown.contains("160 predictions of rent: p.csv") && shown.contains("R² 0.9"), "{shown}");
    // Only the columns of the model are needed, in any order.
    place.done("convert flats.csv fewer.parquet --drop ring_tone,rent,street_number");
    assert_eq!(place.done("predict rent.json fewer.parquet"), place.done("predict rent.json flats.csv"));

    // Scaled targets come back on their own scale.
    place.done(&format!("fit {FLATS} --scale-target -1,1 --model scaled.json"));
    let (plain, scaled) =
        (place.json("predict rent.json flats.csv --json"), place.json("predict scaled.json flats.csv --json"));
    let first = |result: &Value| result["predictions"][0].as_f64().unwrap();
    assert!((first(&plain) - first(&scaled)).abs() < 1.0, "{} {}", first(&plain), first(&scaled));

    // Classes of texts.
    let mut labelled = String::from("a,b,kind\n");
    for i in 0..40 {
        let a = f64::from(i * 7 % 40) / 10.0;
        labelled.push_str(&format!("{a},{},{}\n", i * 11 % 13, if a > 1.9 { "AML" } else { "ALL" }));
    }
    place.write("classes.csv", &labelled);
    place.done("fit classes.csv --target kind --model kind.json");
    let result = place.json("predict kind.json classes.csv --json");
    assert_eq!((&result["predictions"][0], &result["predictions"][5]), (&Value::from("ALL"), &Value::from("AML")));
    assert!(result["score"]["value"].as_f64().unwrap() > 0.9, "{}", result["score"]);
    assert!(place.refused("predict kind.json flats.csv").contains("no column \"a\", which the model uses"));
    assert!(place.refused("predict flats.csv flats.csv").contains("flats.csv: cannot use the model file"));
}

#[test]
fn certify_judges_any_coefficients() {
    let place = Place::new();
    place.write("mine.csv", "feature,coefficient\n(intercept),200\narea,9\nnoise,-4\n");
    snapshot!("certify", place.done(&format!("certify {FLATS} --coefficients mine.csv --lambda0 5000")));
    place.write("mine.json", r#"{"area": 9, "noise": -4, "(intercept)": 200}"#);
    let line = format!("certify {FLATS} --lambda0 5000 --json --coefficients");
    let (csv, object) = (place.json(&format!("{line} mine.csv")), place.json(&format!("{line} mine.json")));
    assert_eq!(csv["objective"], object["objective"]);
    assert_certified(&csv);
    // A model brings its penalties along, and its own objective is found again.
    let fitted = place.json(&format!("fit {FLATS} --model m.json --json"));
    let judged = place.json(&format!("certify {FLATS} --coefficients m.json --json"));
    let (a, b) = (fitted["objective"].as_f64().unwrap(), judged["objective"].as_f64().unwrap());
    assert!((a - b).abs() < 1e-9 * a, "{a} {b}");
    assert_eq!(judged["proved"], fitted["status"] == "optimal");
    // What is given wins over the model, or is refused where the rest of it would mean something else.
    place.json(&format!("fit {FLATS} --lambda1 2 --standardize variance --loss huber --delta 200 -o m.json --json"));
    let own = place.json(&format!("certify {FLATS} -c m.json --json"))["objective"].as_f64().unwrap();
    let other = place.json(&format!("certify {FLATS} -c m.json --lambda1 0 --json"))["objective"].as_f64().unwrap();
    assert!(other < own, "{other} {own}");
    let other = place.json(&format!("certify {FLATS} -c m.json --delta 100 --json"))["objective"].as_f64().unwrap();
    assert!(other < own, "{other} {own}");
    let refused = place.refused(&format!("certify {FLATS} -c m.json --standardize norm"));
    assert!(refused.contains("is for columns of another scale than --standardize asks for"), "{refused}");
    place.json(&format!("certify {FLATS} -c m.json --standardize norm --lambda2 0.01 --json"));
    let named = place.refused(&format!("certify {FLATS} --coefficients mine.csv"));
    assert!(named.contains("--lambda0 or -k"), "{named}");
    place.write("bad.csv", "area,1\nareas,2\n");
    assert!(place.refused(&format!("certify {FLATS} -c bad.csv --lambda0 1")).contains("no feature \"areas\""));
    for empty in ["", "\n\n", "feature,coefficient\n", "{}"] {
        place.write("bad.csv", empty);
        let refused = place.refused(&format!("certify {FLATS} -c bad.csv --lambda0 1"));
        assert!(refused.contains("bad.csv: there is no coefficient in it"), "{empty:?}: {refused}");
    }
    place.write("bad.csv", "area,1\nnoise,many\n");
    assert!(
        place.refused(&format!("certify {FLATS} -c bad.csv --lambda0 1")).contains("line 2: the coefficient \"many\"")
    );
}

/// A bound for another problem than that of the objective beside it proves nothing.
#[test]
fn certify_refuses_what_the_problem_does_not_have() {
    let place = Place::new();
    let kind = |i: usize| ["a", "b", "c", "d"][i * 7 % 4];
    let row = |i: usize| format!("{},{},{}\n", 2.0 * f64::from(kind(i) == "b") + (i % 5) as f64, i % 5, kind(i));
    place.write("kinds.csv", &format!("y,x,kind\n{}", (0..40).map(row).collect::<String>()));
    place.write("mine.json", r#"{"x": 1, "kind=b": 1.5, "(intercept)": 0.1}"#);
    let line = "certify kinds.csv --target y -c mine.json --lambda0 1 --lambda2 1";
    assert!(place.refused(line).contains("--no-groups"));
    assert_certified(&place.json(&format!("{line} --no-groups --json")));
    assert!(place.refused(&format!("{line} --no-groups --no-intercept")).contains("the intercept is 0.1"));
    place.write("mine.json", r#"{"x": -1}"#);
    let outside = place.json(&format!("{line} --no-groups --nonnegative --json"));
    assert_eq!((&outside["objective"], &outside["proved"]), (&Value::Null, &Value::Bool(false)));
    let said = text(&place.run(&format!("{line} --no-groups --nonnegative")));
    assert!(said.contains("Not allowed: the coefficients are more than k, or outside of the bounds."), "{said}");
}

#[test]
fn simulate_writes_data_and_truth() {
    let place = Place::new();
    let line = "simulate sim.csv.gz --n 80 --p 30 --true-features 3 --seed 5 --truth truth.csv";
    snapshot!("simulate", place.done(line));
    let found = place.json("exact sim.csv.gz -k 3 --json");
    let names: Vec<&str> = found["features"].as_array().unwrap().iter().map(|f| f["name"].as_str().unwrap()).collect();
    let truth = std::fs::read_to_string(place.path("truth.csv")).unwrap();
    assert!(names.iter().all(|name| truth.contains(&format!("{name},"))), "{names:?} {truth}");
}

#[test]
fn convert_takes_a_table_through_every_format() {
    let place = Place::new();
    place.done("simulate s.csv --n 20 --p 6 --true-features 2");
    snapshot!("convert", place.done("convert s.csv s.parquet"));
    for (from, to) in [
        ("s.parquet", "s.tsv.zst"),
        ("s.tsv.zst", "s.npz --target y"),
        ("s.npz", "s.libsvm.bz2"),
        ("s.libsvm.bz2", "t.csv"),
    ] {
        place.done(&format!("convert {from} {to}"));
    }
    let numbers = |name: &str| -> Vec<String> {
        let text = std::fs::read_to_string(place.path(name)).unwrap();
        text.lines().skip(1).map(str::to_owned).collect()
    };
    assert_eq!(numbers("s.csv"), numbers("t.csv"));
    // By columns and within memory, for columns that stay on disk; and sparse parts.
    let said = place.done("convert s.csv s.npy --target y --target-to y.npy --max-memory 1000000");
    assert!(said.contains("s.npy: 20 rows, 6 columns, label y"), "{said}");
    let from = |command: &str| place.done(&format!("{command} --lambda0 1 --prove 0 --json"));
    let objective = |text: String| text.lines().find(|line| line.contains("\"objective\"")).map(str::to_owned);
    assert_eq!(objective(from("fit s.npy --target-file y.npy --on-disk")), objective(from("fit s.csv")));
    place.done("convert s.libsvm.bz2 parts/");
    assert_eq!(objective(from("fit parts --target-file parts/y.npy --on-disk")), objective(from("fit s.libsvm.bz2")));
    assert!(place.refused("convert flats.csv flats.libsvm").contains("column \"balcony\": holds texts"));
    assert!(
        place
            .refused("convert flats.csv flats.what")
            .contains("the format is not known by the name: let it end with .csv")
    );
    assert!(place.refused("report flats.csv -o page.html").contains("say --report page.html"));
}

/// What is read is not overwritten, by whatever way a file is written.
#[test]
fn nothing_is_written_over_what_is_read() {
    let place = Place::new();
    let rows: String = (0..30).map(|i| format!("{},{},{i}\n", (i as f64 * 0.7).sin(), i % 5)).collect();
    place.write("s.csv", &format!("x,z,y\n{rows}"));
    place.done("fit s.csv -t y --lambda0 1 -o model.json");
    let data = std::fs::read(place.path("s.csv")).unwrap();
    for words in [
        "fit s.csv -t y --lambda0 1 -o s.csv",
        "fit s.csv -t y --lambda0 1 --report ./s.csv",
        "cv s.csv -t y --report s.csv",
        "exact s.csv -t y -k 1 --proof s.csv",
        "exact s.csv -t y -k 1 --proof s.bsp --proof-data s.csv",
        "predict model.json s.csv --output s.csv",
    ] {
        assert!(place.refused(words).contains("would be overwritten"), "{words}");
        assert_eq!(std::fs::read(place.path("s.csv")).unwrap(), data, "{words}");
    }
}

#[test]
fn report_writes_a_page() {
    let place = Place::new();
    snapshot!("report", place.done(&format!("report {FLATS} --folds 4 --prove 1000000 --plots plots")));
    let page = std::fs::read_to_string(place.path("flats.report.html")).unwrap();
    assert!(page.contains("bestset report flats.csv --target rent --folds 4"), "the command to make it again");
    assert!(page.contains("distance_centre"));
}

#[test]
fn demo_runs_the_example() {
    let place = Place::new();
    let shown = place.done("demo --directory example");
    snapshot!("demo", shown);
    assert!(place.path("example/report.html").exists() && place.path("example/model.json").exists());
    assert!(place.refused("demo --n 50").contains("--simulated"), "options of simulated data need simulated data");
}

#[test]
fn completions_and_manual_pages_are_made() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish"] {
        assert!(place.done(&format!("completions {shell}")).contains("subsets"), "{shell}");
    }
    assert!(place.done("man").contains(".TH bestset"));
    place.done("man --directory pages");
    assert!(place.path("pages/bestset-fit.1").exists());
}

/// What a limit leaves unknown is said: a list of three reads as the best three.
#[test]
fn ranks_that_a_limit_leaves_unknown_are_told() {
    let place = Place::new();
    let line = format!("exact {FLATS} --lambda0 3000 --best 200 --max-nodes 3");
    let cut = place.run(&line);
    assert_eq!(code(&cut), 3, "{}", errors(&cut));
    assert!(text(&cut).contains(" of 200 ranks known: node limit."), "{}", text(&cut));
    let remarks = json(&place.run(&format!("{line} --json")))["remarks"].clone();
    assert!(remarks[0].as_str().unwrap().ends_with("of 200 ranks known: node limit."), "{remarks}");
}

/// A setting that nothing would come of is refused.
#[test]
fn settings_without_effect_are_refused() {
    let place = Place::new();
    let refused = place.refused(&format!("fit {FLATS} --lambda0 3000 --checkpoint kept.json"));
    assert!(refused.contains("the checkpoint kept.json cannot be used at a price"), "{refused}");
    let refused = place.refused(&format!("exact {FLATS} -k 2 --always area"));
    assert!(refused.contains("a largest size cannot be used where features are always in"), "{refused}");
    let refused = place.refused(&format!("cv {FLATS} --folds 1000"));
    assert!(refused.contains("folds is 1000; it must be at least 2 and at most 160"), "{refused}");
}

#[test]
fn help_of_every_command_is_as_it_was() {
    let place = Place::new();
    for command in
        ["fit", "path", "cv", "subsets", "exact", "predict", "certify", "report", "stability", "simulate", "convert"]
    {
        let shown = place.done(&format!("{command} -h"));
        assert!(shown.contains("Example"), "{command}");
        insta::with_settings!({ snapshot_path => "snapshots", prepend_module_to_snapshot => false }, {
            insta::assert_snapshot!(format!("help-{command}"), shown);
        });
    }
}

/// Columns that differ in their last digits alone are taken for copies, and every output that rests on it says so.
#[test]
fn copies_but_for_rounding_are_named() {
    let place = Place::new();
    let rows = (0..30).map(|i| {
        let (a, b) = ((f64::from(i) * 0.7).sin(), (f64::from(i) * 1.9).cos());
        format!("{a},{b},{:.14},{}\n", 3.0 * a, a + 0.3 * b + 0.1 * (f64::from(i) * 5.3).sin())
    });
    place.write("copies.csv", &format!("a,b,c,y\n{}", rows.collect::<String>()));
    let remark = "a and c are combinations of each other but for rounding";
    for line in
        ["exact copies.csv --lambda2 0 -k 2", "exact copies.csv --lambda2 0 --lambda0 0.1", "subsets copies.csv"]
    {
        assert!(place.done(line).contains(remark), "{line}");
        let json = place.json(&format!("{line} --json"));
        assert_eq!(json["dependent"], serde_json::json!([["a", "c"]]), "{line}");
        place.done(&format!("{line} --report copies.html"));
        assert!(std::fs::read_to_string(place.path("copies.html")).unwrap().contains(remark), "{line}");
    }
    assert!(!place.done("exact copies.csv -k 2").contains(remark));
    // Further apart, they are named too: no proof, and an answer that was there before is kept.
    let apart = "c is nearly a combination of a: ";
    let rows = (0..30).map(|i| {
        let (a, b) = ((f64::from(i) * 0.7).sin(), (f64::from(i) * 1.9).cos());
        format!("{a},{b},{:.9},{}\n", 3.0 * a, a + 0.3 * b + 0.1 * (f64::from(i) * 5.3).sin())
    });
    place.write("near.csv", &format!("a,b,c,y\n{}", rows.collect::<String>()));
    assert!(place.refused("subsets near.csv").contains(apart));
    let kept = place.done("fit near.csv --lambda2 0 -k 2 --prove 1000000");
    assert!(kept.contains("objective P") && kept.contains(&format!("Not proved: {apart}")), "{kept}");
}

#[test]
fn bad_input_is_named_and_exits_2() {
    let place = Place::new();
    place.write("gap.csv", "a,b,y\n1,2,3\n4,,6\n7,8,9\n1,5,2\n");
    place.write("group.csv", "a,r,y\n1,u,3\n4,v,6\n7,w,9\n1,u,2\n3,v,3\n8,w,1\n");
    for (line, named) in [
        ("fit gap.csv", "gap.csv, line 3, row 2, column \"b\": the value is missing"),
        ("fit gap.csv --target z", "no column \"z\""),
        ("fit nowhere.csv", "nowhere.csv: cannot be read"),
        ("fit flats.csv", "name its column with --target"),
        ("fit flats.csv --target rent --lambda0 -1", "lambda0 is -1"),
        ("fit flats.csv --target rent -k 0", "a whole number from 1 up is wanted"),
        ("fit flats.csv --target rent -k 3 --lambda0 2", "cannot be used with"),
        ("fit flats.csv --target rent --loss logistic", "more than two values"),
        ("fit flats.csv --target rent --max-memory 1k", "--max-memory"),
        ("fit flats.csv --target rent --scale-target 3,1", "must be below"),
        ("fit flats.csv --target rent --delimiter ab", "one character"),
        ("cv flats.csv --target rent --folds 1", "folds is 1"),
        ("cv flats.csv --target rent --score auc", "AUC"),
        ("path flats.csv --target rent --ratio 2", "ratio is 2"),
        ("exact flats.csv --target rent --best 0", "a whole number from 1 up is wanted"),
        ("exact flats.csv --target rent -k 2 --max-size 3", "cannot be used with"),
        ("fit flats.csv --target rent --lambda0 2 --criterion bic", "cannot be used with"),
        (
            "fit flats.csv --target rent --report no/such/place.html",
            "place.html: cannot be written: there is no folder no/such",
        ),
        ("exact flats.csv --target rent -k 2 -o .", "cannot be written: it is a folder"),
        ("exact flats.csv --target rent -k 2 --checkpoint no/such/file", "there is no folder no/such"),
        (
            "fit group.csv --always r=v",
            "r=v costs nothing (--always, or a price of 0), but r=w of the same category does not",
        ),
        ("exact group.csv --lambda0 0.1 --checkpoint tree.json", "for branch and bound over groups"),
    ] {
        let shown = place.refused(line);
        assert!(shown.contains(named), "{line}: {shown}");
    }
    // A file that cannot be written does not lose the answer.
    let unwritten = place.run(&format!("fit flats.csv --target rent --report {}.html", "x".repeat(300)));
    assert_eq!(code(&unwritten), 2);
    assert!(errors(&unwritten).contains("xxx.html: cannot be written"), "{}", errors(&unwritten));
    assert!(text(&unwritten).contains("lower bound D"), "{}", text(&unwritten));
    place.done("fit gap.csv --impute mean --lambda0 0.1");
    place.done("exact group.csv --no-groups --lambda0 0.1");
    place.done("path group.csv");
    let grouped = place.json("fit group.csv --lambda0 0.0001 --json");
    assert_certified(&grouped);
    let chosen = grouped["features"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|f| f["name"].as_str().unwrap().starts_with("r="))
        .count();
    assert!([0, 2].contains(&chosen), "the category as a whole or not at all: {grouped}");
}

/// Categories as a whole in branch and bound, with a largest size, of every size and of several ranks: each proved.
#[test]
fn categories_are_proved_as_a_whole() {
    let place = Place::new();
    let kind = |i: usize| ["a", "b", "c", "d"][i * 7 % 4];
    let value = |i: usize| 3.0 * f64::from(kind(i) == "b") + (i % 5) as f64 + 0.3 * ((i * i) as f64).sin();
    let row = |i: usize| format!("{},{},{},{}\n", value(i), i % 5, (i * 3) % 7, kind(i));
    place.write("kinds.csv", &format!("y,x,z,kind\n{}", (0..40).map(row).collect::<String>()));
    let levels = |found: &Value| {
        let names = found["features"].as_array().unwrap().iter().map(|f| f["name"].as_str().unwrap().to_owned());
        names.filter(|name| name.starts_with("kind=")).count()
    };
    let best = place.json("exact kinds.csv --target y -k 4 --json");
    assert_eq!((&best["status"], levels(&best)), (&Value::from("optimal"), 3), "{best}");
    let small = place.json("fit kinds.csv --target y -k 3 --json");
    assert_eq!(&small["status"], &Value::from("optimal"), "{small}");
    let ranked = place.json("exact kinds.csv --target y --lambda0 0.1 --best 3 --json");
    assert_eq!(&ranked["status"], &Value::from("optimal"), "{ranked}");
    let sizes = place.json("subsets kinds.csv --target y --json");
    let sizes = sizes["sizes"].as_array().unwrap();
    assert!(sizes.len() == 5 && sizes.iter().all(|s| s["status"] == "optimal"), "{sizes:?}");
    let free = place.json("exact kinds.csv --target y --lambda0 1 --always kind=b,kind=c,kind=d --never z --json");
    assert_eq!((&free["status"], levels(&free)), (&Value::from("optimal"), 3), "{free}");
    // A category by the name of its column is all of its levels.
    let named = place.json("exact kinds.csv --target y --lambda0 1 --always kind --never z --json");
    assert_eq!((&named["objective"], &named["features"]), (&free["objective"], &free["features"]));
}

#[test]
fn weights_and_offsets_change_the_fit_as_they_should() {
    let place = Place::new();
    place.write("once.csv", "a,b,w,o,y\n1,2,2,1,3\n4,1,1,1,6\n7,8,1,1,9\n1,5,3,1,2\n2,2,1,1,5\n");
    place.write("often.csv", "a,b,y\n1,2,2\n1,2,2\n4,1,5\n7,8,8\n1,5,1\n1,5,1\n1,5,1\n2,2,4\n");
    let once = place.json("fit once.csv --weights w --offset o --lambda0 0.1 --lambda2 0.01 --standardize none --json");
    let often = place.json("fit often.csv --lambda0 0.1 --lambda2 0.01 --standardize none --json");
    let objective = |result: &Value| result["objective"].as_f64().unwrap();
    assert!((objective(&once) - objective(&often)).abs() < 1e-9, "{} {}", objective(&once), objective(&often));
}
