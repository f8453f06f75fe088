//! Files as people have them: what is read, what is said of it, and what is refused.

use crate::place::{Place, shared};
use crate::support::{bestset, code, errors, json, text};
use std::io::Write;
use std::process::{Output, Stdio};

impl Place {
    /// Runs the command with these bytes on standard input.
    fn piped(&self, line: &str, bytes: &[u8]) -> Output {
        let words: Vec<&str> = line.split_whitespace().collect();
        let mut command = bestset(&words);
        command.current_dir(self.path("")).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // It may end, with an error, before it has read everything.
        let _ = child.stdin.take().unwrap().write_all(bytes);
        child.wait_with_output().unwrap()
    }

    /// What a command that must succeed says on standard error.
    fn said(&self, line: &str) -> String {
        let output = self.run(line);
        assert_eq!(code(&output), 0, "{line}: {}", errors(&output));
        errors(&output)
    }
}

/// y = 2a + 3[kind = u] + 1, without noise.
fn rows(range: std::ops::Range<usize>) -> String {
    let row = |i: usize| {
        let (a, kind) = ((i * 7 % 11) as f64 + 0.5, ["u", "v", "v"][i % 3]);
        format!("{a},{kind},{},{}\n", i * 5 % 7, 2.0 * a + 3.0 * f64::from(u8::from(kind == "u")) + 1.0)
    };
    range.map(row).collect()
}

const FIT: &str = "fit train.csv --target y --lambda0 0.001 --lambda2 0.0000001 --json -o m.json";

#[test]
fn missing_values_of_new_data_become_what_was_usual_in_the_fit() {
    let place = Place::new();
    place.write("train.csv", &format!("a,kind,b,y\n{}", rows(0..33)));
    place.json(FIT);
    // The mean of a is 5.5, and v is the most frequent kind; one row, or others around it, change nothing.
    let predicted = |name: &str, text: &str| {
        place.write(name, text);
        let output = place.run(&format!("predict m.json {name} --impute --json"));
        assert_eq!(code(&output), 0, "{}", errors(&output));
        (json(&output)["predictions"][0].as_f64().unwrap(), errors(&output))
    };
    for (text, expected, said) in [
        ("a,kind\n,u\n", 15.0, "1 missing value of a became 5.5"),
        ("a,kind\n,u\n1000,u\n", 15.0, "1 missing value of a became 5.5"),
        ("a,kind\n2,\n", 5.0, "1 missing value of kind became \"v\""),
        ("a,kind\n2,\n3,u\n4,u\n", 5.0, "1 missing value of kind became \"v\""),
        ("a,kind\n,\n", 12.0, "1 missing value of a became 5.5"),
    ] {
        let (found, noted) = predicted("new.csv", text);
        assert!((found - expected).abs() < 1e-3, "{text:?}: {found}");
        assert!(noted.contains(said), "{noted}");
    }
    // Without --impute a model that was fitted without says where.
    let refused = place.refused("predict m.json new.csv");
    assert!(refused.contains("line 2, row 1, column \"kind\": the value is missing"), "{refused}");
    // A file of an older version has no means, and says so.
    let saved = std::fs::read_to_string(place.path("m.json")).unwrap();
    let mut old: serde_json::Value = serde_json::from_str(&saved).unwrap();
    let encoding = old["encoding"].as_object_mut().unwrap();
    encoding.insert("means".to_owned(), serde_json::json!({}));
    encoding.remove("imputed");
    encoding["categories"][0].as_object_mut().unwrap().remove("usual");
    place.write("m.json", &old.to_string());
    for (text, column) in [("a,kind\n,u\n", "a"), ("a,kind\n2,\n", "kind")] {
        place.write("new.csv", text);
        let refused = place.refused("predict m.json new.csv --impute");
        assert!(
            refused.contains(&format!("column \"{column}\": the value is missing; the model file does not")),
            "{refused}"
        );
    }
    place.write("new.csv", "a,kind\n2,u\n");
    place.done("predict m.json new.csv --impute");
}

/// What fills missing values is said alike by every command.
#[test]
fn impute_has_its_value_or_none_everywhere() {
    let place = Place::new();
    place.write("train.csv", &format!("a,kind,b,y\n{}", rows(0..33)));
    place.json(FIT);
    place.write("new.csv", "a,kind\n,u\n");
    let predicted: Vec<String> = ["--impute", "--impute=mean", "--impute mean"]
        .iter()
        .flat_map(|how| [format!("predict m.json new.csv {how}"), format!("predict m.json {how} new.csv")])
        .map(|words| place.json(&format!("{words} --json"))["predictions"].to_string())
        .collect();
    assert!(predicted.windows(2).all(|two| two[0] == two[1]), "{predicted:?}");
    place.write("gaps.csv", &format!("a,kind,b,y\n,u,1,2\n{}", rows(0..33)));
    let fitted: Vec<String> = ["--impute", "--impute=mean", "--impute mean"]
        .iter()
        .flat_map(|how| [format!("fit gaps.csv --lambda0 0.1 {how}"), format!("fit {how} gaps.csv --lambda0 0.1")])
        .map(|words| place.json(&format!("{words} --json"))["objective"].to_string())
        .collect();
    assert!(fitted.windows(2).all(|two| two[0] == two[1]), "{fitted:?}");
    for refused in ["predict m.json new.csv --impute=median", "fit gaps.csv --impute=median"] {
        assert!(place.refused(refused).contains("[possible values: mean]"));
    }
}

#[test]
fn levels_are_found_by_value_and_one_row_is_enough() {
    let place = Place::new();
    let row = |i: usize| format!("{},{}\n", ["24.0", "7", "24.00"][i % 3], if i % 3 == 1 { 5 } else { 1 } + i / 3 % 2);
    place.write("train.csv", &format!("code,y\n{}", (0..30).map(row).collect::<String>()));
    let fitted = place.json("fit train.csv -t y --categorical code --lambda0 0.01 --json -o m.json");
    assert_eq!(fitted["data"]["features"], 1, "one level against the other: {fitted}");
    let one = |text: &str| {
        place.write("new.csv", text);
        place.json("predict m.json new.csv --json")["predictions"][0].as_f64().unwrap()
    };
    assert!((one("code\n24\n") - 1.5).abs() < 0.1 && (one("code\n7.0\n") - 5.5).abs() < 0.1);
    assert!(place.refused("predict m.json train.csv --drop code").contains("unexpected argument"));
    place.write("new.csv", "code\n8\n");
    assert!(place.refused("predict m.json new.csv").contains("does not know the level \"8\""));
    // A target of texts in the new file may have one class alone.
    let row = |i: usize| format!("{},{}\n", i, if i > 9 { "AML" } else { "ALL" });
    place.write("train.csv", &format!("a,y\n{}", (0..20).map(row).collect::<String>()));
    place.json("fit train.csv -t y --lambda0 0.1 --json -o m.json");
    place.write("new.csv", "a,y\n19,AML\n");
    assert_eq!(place.json("predict m.json new.csv --json")["score"]["value"], 1.0);
    place.write("new.csv", "a,y\nhigh,AML\n");
    assert!(
        place.refused("predict m.json new.csv").contains("holds texts such as \"high\"; the model knows it as numbers")
    );
}

#[test]
fn decimal_commas_are_said_and_read() {
    let place = Place::new();
    let row = |i: usize| format!("{},{};{};{},5\n", i * 3 % 7, i % 10, i % 4, i * 6 % 14);
    place.write("comma.csv", &format!("a;b;y\n{}", (0..40).map(row).collect::<String>()));
    let noted = place.said("fit comma.csv --json");
    assert!(noted.starts_with("note: the comma is the decimal sign, as in \"0,0\""), "{noted}");
    assert_eq!(place.said("fit comma.csv --decimal , --json"), "");
    assert_eq!(place.json("fit comma.csv --json")["data"]["features"], 2);
    place.write("quoted.csv", "a,y\n\"1,5\",2\n\"2,5\",3\n");
    assert!(place.refused("fit quoted.csv").contains("line 2, row 1, column \"a\": \"1,5\" is not a number; "));
    assert!(place.refused("fit quoted.csv --decimal x").contains("must be . or ,"));
}

#[test]
fn standard_input_is_a_file() {
    let place = Place::new();
    let csv = std::fs::read(place.path("flats.csv")).unwrap();
    place.done("convert flats.csv flats.parquet");
    place.done("convert flats.csv flats.csv.zst");
    place.done("convert flats.csv numbers.npz --drop balcony,furnished --target rent");
    let line = "fit --target rent --lambda0 3000 --json";
    let expected = place.json(&format!("{line} flats.csv"))["features"].clone();
    for name in ["flats.csv", "flats.parquet", "flats.csv.zst"] {
        let output = place.piped(&format!("{line} -"), &std::fs::read(place.path(name)).unwrap());
        let found = json(&output);
        assert_eq!((&found["features"], &found["data"]["source"]), (&expected, &"standard input".into()), "{name}");
    }
    let numbers = std::fs::read(place.path("numbers.npz")).unwrap();
    assert_eq!(code(&place.piped("subsets - --max-size 1 --json", &numbers)), 0);
    place.json(&format!("{line} flats.csv -o m.json"));
    let predicted = place.piped("predict m.json -", &csv);
    assert_eq!(text(&predicted), place.done("predict m.json flats.csv"), "{}", errors(&predicted));
    assert_eq!(code(&place.piped("convert - out.parquet", &csv)), 0);
    assert_eq!(code(&place.piped("report - --target rent --folds 3", &csv)), 0);
    assert!(place.path("bestset.report.html").exists());
    let nothing = place.piped("fit -", b"");
    assert!(
        code(&nothing) == 2 && errors(&nothing).contains("standard input: the file is empty"),
        "{}",
        errors(&nothing)
    );
    let foreign: [(&[u8], &str); 3] = [
        (
            b"y,b\n1,x\n2,caf\xe9\n3,x\n",
            "standard input, line 3, column \"b\": \"caf\u{fffd}\" is not UTF-8: convert the file",
        ),
        (b"y,b\xe9\n1,2\n2,3\n3,5\n", "standard input, line 1: column 2: the name \"b\u{fffd}\" is not UTF-8"),
        (b"\xff\xfey\0,\0b\0\n\0", "standard input: is UTF-16: save it as UTF-8"),
    ];
    for (bytes, expected) in foreign {
        let refused = place.piped("fit - --target y", bytes);
        assert!(code(&refused) == 2 && errors(&refused).contains(expected), "{}", errors(&refused));
    }
    let wrong = place.piped("fit - --target rest", &csv);
    assert!(errors(&wrong).contains("standard input: there is no column \"rest\"; it has 28 columns: \"rent\""));
}

#[cfg(unix)]
#[test]
fn devices_pipes_and_links_stay_what_they_are() {
    use std::os::unix::fs::FileTypeExt;
    let place = Place::new();
    let line = "fit flats.csv --target rent --lambda0 3000";
    place.done(&format!("{line} -o m.json --report page.html"));
    let (model, page) = (std::fs::read(place.path("m.json")).unwrap(), std::fs::read(place.path("page.html")).unwrap());
    place.done(&format!("{line} -o /dev/null --report /dev/null"));
    assert!(std::fs::metadata("/dev/null").unwrap().file_type().is_char_device());
    // Standard output is a pipe here; the model comes after the tables.
    let shown = place.done(&format!("{line} -o /dev/stdout"));
    assert!(shown.contains("lower bound D") && shown.contains("\"format\": \"bestset model\""), "{shown}");
    std::os::unix::fs::symlink("m.json", place.path("link.json")).unwrap();
    std::fs::write(place.path("m.json"), "old").unwrap();
    place.done(&format!("{line} -o link.json"));
    assert!(std::fs::symlink_metadata(place.path("link.json")).unwrap().is_symlink());
    assert_eq!(std::fs::read(place.path("m.json")).unwrap(), model);
    let pipe = place.path("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let reader = std::thread::spawn(move || std::fs::read(pipe).unwrap().len());
    place.done(&format!("{line} --report pipe"));
    assert!(reader.join().unwrap().abs_diff(page.len()) < page.len() / 10, "the page, but for the time it took");
    assert!(std::fs::metadata(place.path("pipe")).unwrap().file_type().is_fifo());
    // A table with its table of contents at the end, through a pipe and back.
    let output = place.run("convert flats.csv /dev/stdout --to-format parquet");
    assert_eq!(code(&output), 0, "{}", errors(&output));
    let again = place.piped("convert - again.csv", &output.stdout);
    assert_eq!(code(&again), 0, "{}", errors(&again));
    place.done("convert flats.csv once.csv");
    assert_eq!(std::fs::read(place.path("again.csv")).unwrap(), std::fs::read(place.path("once.csv")).unwrap());
}

/// Standard output that goes into a file is not begun anew by what is written to its name.
#[cfg(target_os = "linux")]
#[test]
fn a_model_follows_the_tables_into_a_file() {
    let place = Place::new();
    let file = std::fs::File::create(place.path("all.txt")).unwrap();
    let words = ["fit", "flats.csv", "--target", "rent", "--lambda0", "3000", "-o", "/dev/stdout"];
    let status = bestset(&words).current_dir(place.path("")).stdout(file).status().unwrap();
    assert!(status.success());
    let shown = std::fs::read_to_string(place.path("all.txt")).unwrap();
    let (tables, model) = shown.split_once("{\n").expect("the model comes after the tables");
    assert!(
        tables.contains("lower bound D") && model.contains("bestset model") && shown.ends_with("Model: /dev/stdout\n")
    );
}

#[test]
fn targets_that_are_meant_otherwise_are_remarked_on() {
    let place = Place::new();
    let write = |name: &str, header: &str, row: &dyn Fn(usize) -> String| {
        let rows: String = (0..60).map(|i| format!("{},{}\n", i * 7 % 13, row(i))).collect();
        place.write(name, &format!("a,{header}\n{rows}"));
    };
    write("two.csv", "y", &|i| (i % 2).to_string());
    assert!(place.said("fit two.csv --json").contains("has the values 0 and 1 and is regressed"));
    assert_eq!(place.said("fit two.csv --json --loss squared"), "");
    assert_eq!(place.json("fit two.csv --json --positive 0")["data"]["classes"]["positive"], "0");
    write("three.csv", "y", &|i| (i % 3 + 1).to_string());
    assert!(
        place
            .said("fit three.csv --json")
            .contains("has the values 1, 2, 3 and is regressed with the squared loss; --family multinomial")
    );
    write("kinds.csv", "y", &|i| ["setosa", "other", "third"][i % 3].to_owned());
    assert_eq!(place.json("fit kinds.csv --json")["data"]["class_names"][2], "third");
    let refused = place.refused("fit kinds.csv --family binomial");
    assert!(refused.contains("has 3 classes: --family multinomial takes them together, --positive CLASS"), "{refused}");
    place.done("fit kinds.csv --positive third -o m.json");
    let predicted = place.done("predict m.json kinds.csv");
    assert!(predicted.contains("not third"), "{predicted}");
    write("counts.csv", "y", &|i| (i * i % 11 * 2).to_string());
    assert!(
        place
            .said("fit counts.csv --json")
            .contains("whole numbers from 0 to 18 and is regressed with the squared loss; --family poisson")
    );
    write("times.csv", "time,status", &|i| format!("{}.5,{}", i * 31 % 97, i % 2));
    assert!(
        place.said("fit times.csv -t time --json").contains("--time time --event status takes them as survival times")
    );
    // Nothing is said of targets that only resemble them.
    write("plain.csv", "y", &|i| (20 + i * 31 % 97).to_string());
    assert_eq!(place.said("fit plain.csv --json"), "");
    assert_eq!(place.said("fit flats.csv --target rent --json"), "");
}

#[test]
fn rows_without_a_target_are_left_out_when_told() {
    let place = Place::new();
    let row = |i: usize| format!("{},{}\n", i * 7 % 13, if i % 4 == 1 { String::new() } else { (i % 5).to_string() });
    place.write("gaps.csv", &format!("a,y\n{}", (0..40).map(row).collect::<String>()));
    let refused = place.refused("fit gaps.csv --impute mean");
    assert!(refused.contains("line 3, row 2, column \"y\": the value is missing, the first of 10"), "{refused}");
    let result = place.json("fit gaps.csv --drop-missing-target --loss squared --json");
    assert_eq!(result["data"]["samples"], 30);
    assert_eq!(result["data"]["notes"][0], "Left out: 10 rows without a target.");
}

#[test]
fn incomplete_rows_are_left_out_when_told() {
    let place = Place::new();
    let row = |i: usize| {
        let gap = |every: usize| if i % every == 1 { String::new() } else { (i * 7 % 13).to_string() };
        format!("s{i},{},{},{}\n", gap(5), gap(7), i % 6)
    };
    place.write("gaps.csv", &format!("name,a,b,y\n{}", (0..60).map(row).collect::<String>()));
    let refused = place.refused("fit gaps.csv --drop name");
    assert!(refused.contains("line 3, row 2, column \"a\": the value is missing, the first of 12"), "{refused}");
    let result = place.json("fit gaps.csv --drop name --drop-missing --json");
    let incomplete = (0..60).filter(|i| i % 5 == 1 || i % 7 == 1).count();
    assert_eq!(result["data"]["samples"], 60 - incomplete);
    assert_eq!(result["data"]["notes"][0], format!("Left out: {incomplete} rows with a missing value."));
    let named = place.json("fit gaps.csv --drop-missing --json");
    assert!(named["data"]["notes"].to_string().contains("--drop name leaves it out"), "{}", named["data"]["notes"]);
    assert!(place.refused("fit gaps.csv --drop-missing --impute mean").contains("cannot be used with"));
}

#[test]
fn wrong_files_get_short_answers() {
    let place = Place::new();
    // A wide file divided by blanks is read; one that nothing divides is refused in a few words.
    let wide = |sign: &str| (0..5000).map(|j| format!("0.{j}")).collect::<Vec<_>>().join(sign);
    place.write("wide.txt", &format!("{}\n{}\n{}\n", wide(" "), wide(" "), wide(" ")));
    assert!(place.refused("fit wide.txt --target y").len() < 2000);
    assert_eq!(place.done("convert wide.txt wide.npy"), "wide.npy: 3 rows, 5000 columns\n");
    place.write("wide.csv", &format!("a,y\n1,2\n{},3\n", wide("_")));
    assert!(place.refused("fit wide.csv").len() < 2000);
    std::fs::write(place.path("snps.bed"), [0x6c, 0x1b, 1, 0]).unwrap();
    assert!(place.refused("convert snps.bed snps.csv").contains("plink --bfile NAME --recode A"));
    assert!(place.refused("fit flats.csv --target Rend").contains("; it has 28 columns: \"rent\""));
}

/// The names of eyedata.csv are numbers.
#[test]
fn names_that_are_numbers_are_names() {
    let Some(path) = shared("eyedata.csv") else { return };
    let place = Place::new();
    let line = format!("fit {} --target y --lambda0 0.5 --json", path.display());
    let output = place.run(&line);
    assert_eq!((code(&output), errors(&output)), (0, String::new()));
    assert_eq!(json(&output)["features"], place.json(&format!("{line} --header yes"))["features"]);
}
