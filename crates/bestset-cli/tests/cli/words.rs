//! What is said: errors with the value, its place and what to do; bounds that stay true; what is odd about the data.

use crate::place::{FLATS, Place};
use crate::support::{code, errors};

/// 30 rows of a, b, c and y = 2a − c + something; `change` makes the fields of a row others.
fn table(change: &dyn Fn(usize, &mut Vec<String>)) -> String {
    let mut text = String::from("a,b,c,y\n");
    for i in 0..30 {
        let x = [1.7, 2.9, 4.3].map(|f| (f * (i * i + 1) as f64).sin());
        let y = 2.0 * x[0] - x[2] + 0.3 * (7.0 * i as f64).cos();
        let mut row: Vec<String> = x.iter().chain([&y]).map(f64::to_string).collect();
        change(i, &mut row);
        text += &(row.join(",") + "\n");
    }
    text
}

/// A NumPy array: its type and shape as a header has them, and its bytes.
fn array(kind: &str, order: &str, shape: &str, bytes: &[u8]) -> Vec<u8> {
    let mut head = format!("{{'descr': {kind}, 'fortran_order': {order}, 'shape': {shape}, }}");
    head += &" ".repeat(64 - (10 + head.len() + 1) % 64);
    head.push('\n');
    [&b"\x93NUMPY\x01\0"[..], &(head.len() as u16).to_le_bytes(), head.as_bytes(), bytes].concat()
}

fn doubles(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|x| x.to_le_bytes()).collect()
}

#[test]
fn errors_name_the_file_the_place_the_value_and_what_to_do() {
    let place = Place::new();
    let write = |name: &str, row: usize, field: usize, value: &str| {
        let change = |i: usize, fields: &mut Vec<String>| {
            if i == row {
                fields[field] = value.to_owned();
            }
        };
        place.write(name, &table(&change));
    };
    place.write("weight.csv", &table(&|i, row| row[1] = if i == 6 { "-2" } else { "1" }.into()));
    write("zero.csv", 99, 0, "");
    write("big.csv", 3, 1, "-2e200");
    write("far.csv", 4, 3, "1e300");
    write("inf.csv", 4, 1, "inf");
    place.write("twice.csv", &table(&|_, _| ()).replacen("a,b,c", "a,b,a", 1));
    place.write("short.csv", "y\n1\n2\n");
    place.done("convert zero.csv x.npy --drop y");
    for (line, said) in [
        (
            "fit weight.csv --weights b",
            "weight.csv, line 8, column \"b\": the weight is -2; weights must be at least 0, and 0",
        ),
        ("fit weight.csv --weights 2", "weight.csv, line 8, column \"b\": the weight is -2"),
        (
            "fit x.npy --target-file weight.csv --target y --weights 2",
            "weight.csv, row 7, column \"b\": the weight is -2",
        ),
        (
            "fit zero.csv --scale-target 0,1e300",
            "which --scale-target makes 1e300, and sums of squares overflow; scale it to smaller numbers",
        ),
        (
            "fit big.csv",
            "big.csv, column \"b\": its largest value is -2e200, and the sum of its squares overflows; divide it by 1e200, or leave it out (--drop b)",
        ),
        (
            "fit far.csv",
            "far.csv, line 6, column \"y\": the value is 1e300, and sums of squares overflow; divide the column by 1e300",
        ),
        (
            "fit inf.csv",
            "inf.csv, line 6, column \"b\": \"inf\" is not finite, as numbers must be; correct it, or make it a missing value",
        ),
        ("fit inf.csv --target b", "for --drop-missing or, in a feature, --impute mean"),
        (
            "fit twice.csv",
            "twice.csv: columns 1 and 3 are both named \"a\", and it is not clear which is meant: rename one of them",
        ),
        (
            "fit x.npy",
            "name its column with --target, or its file with --target-file; there are 3 columns: \"a\", \"b\", \"c\"",
        ),
        (
            "fit x.npy --target-file short.csv",
            "short.csv: the target has 2 values, and x.npy has 30 rows; there must be one for each row, in the same order",
        ),
        ("fit x.npy --target-file short.csv --on-disk", "short.csv: the target has 2 values, and x.npy has 30 rows"),
    ] {
        let refused = place.refused(line);
        assert!(refused.contains(said), "{line}: {refused}");
    }
}

#[test]
fn arrays_that_cannot_be_read_say_their_type_and_what_would_do() {
    let place = Place::new();
    let write = |name: &str, bytes: Vec<u8>| std::fs::write(place.path(name), bytes).unwrap();
    write("half.npy", array("'<f2'", "True", "(4, 2)", &[0; 16]));
    write("big.npy", array("'>f8'", "True", "(4, 2)", &[0; 64]));
    write("whole.npy", array("'<i8'", "True", "(4, 2)", &[0; 64]));
    write("complex.npy", array("'<c16'", "True", "(4, 2)", &[0; 128]));
    write("object.npy", array("'|O'", "False", "(4, 2)", b"\x80\x04"));
    write("texts.npy", array("'<U3'", "False", "(4, 2)", &[0; 96]));
    write("records.npy", array("[('a', '<f8'), ('b', '<f8')]", "False", "(4,)", &[0; 64]));
    let (mut numbers, mut large) = ([1.0, 2.0, 4.0, 8.0, 3.0, f64::NAN, 7.0, 9.0], [1.0; 8]);
    write("nan.npy", array("'<f8'", "True", "(4, 2)", &doubles(&numbers)));
    (numbers[5], large[6]) = (f64::INFINITY, 3e180);
    write("inf.npy", array("'<f8'", "True", "(4, 2)", &doubles(&numbers)));
    write("large.npy", array("'<f8'", "True", "(4, 2)", &doubles(&large)));
    place.write("y.csv", "y\n1\n2\n3\n5\n");
    let (single, double) = ("x.astype('float32')", "x.astype('float64')");
    for (name, on_disk, said, remedy) in [
        ("half.npy", false, "half.npy: its entries are of dtype float16 (<f2)", single),
        ("half.npy", true, "half.npy at the header: its numbers are of dtype float16 (<f2)", single),
        (
            "big.npy",
            true,
            "its numbers are of dtype big-endian float64 (>f8)",
            "numpy.asfortranarray(x.astype('float64'))",
        ),
        ("whole.npy", true, "its numbers are of dtype int64 (<i8)", double),
        ("complex.npy", false, "its entries are of dtype complex128 (<c16)", "numpy.save(file, x.real)"),
        ("complex.npy", true, "its numbers are of dtype complex128 (<c16)", "numpy.asfortranarray(x.real)"),
        ("object.npy", false, "object.npy: its entries are of dtype object (|O)", double),
        ("object.npy", true, "object.npy at the header: its entries are of dtype object (|O)", double),
        ("texts.npy", false, "texts.npy: its entries are of dtype texts (<U3)", double),
        ("texts.npy", true, "its entries are of dtype texts (<U3)", double),
        ("records.npy", false, "records.npy: its entries are of dtype records", double),
        ("records.npy", true, "its entries are of dtype records", double),
        ("nan.npy", false, "nan.npy, row 2, column \"x2\": the value is missing", "--impute mean"),
        ("nan.npy", true, "nan.npy, row 2, column \"x2\": NaN is not finite", "fill it in"),
        ("inf.npy", false, "inf.npy, row 2, column \"x2\": inf is not finite", "correct it"),
        ("inf.npy", true, "inf.npy, row 2, column \"x2\": inf is not finite", "fill it in"),
        ("large.npy", true, "large.npy, column \"x2\": its largest value is 3e180", "divide it by 1e180"),
    ] {
        let disk = if on_disk { " --on-disk" } else { "" };
        let refused = place.refused(&format!("fit {name} --target-file y.csv{disk}"));
        assert!(refused.contains(said) && refused.contains(remedy), "{name}{disk}: {refused}");
    }
}

#[test]
fn a_file_that_is_no_model_is_named_without_what_is_inside_the_program() {
    let place = Place::new();
    place.done(&format!("fit {FLATS} -o model.json"));
    let model = std::fs::read_to_string(place.path("model.json")).unwrap();
    place.write("other.json", "{\"format\": 1}");
    place.write("cut.json", &model[..model.len() / 2]);
    place.write("less.json", &model.replacen("\"features\":", "\"characters\":", 1));
    for (name, said) in [
        ("flats.csv", "flats.csv: cannot use the model file: it is not JSON, at line 1; models are written by --model"),
        (
            "other.json",
            "other.json: cannot use the model file: it is not a bestset model; models are written by --model",
        ),
        ("cut.json", "it ends too early, at line"),
        ("less.json", "less.json: cannot use the model file: it is damaged at line"),
    ] {
        let refused = place.refused(&format!("predict {name} flats.csv"));
        assert!(refused.contains(said), "{refused}");
        assert!(!refused.contains("expected") && !refused.contains("invalid type"), "{refused}");
    }
}

/// One row, one value of the target and constant columns are fitted, and said; the sizes that nobody asked for as well.
#[test]
fn what_is_odd_about_the_data_is_said() {
    let place = Place::new();
    place.write("one.csv", "a,b,y\n1,2,3\n");
    place.write("same.csv", &table(&|_, row| row[3] = "4".into()));
    place.write("flat.csv", &table(&|i, row| (row[0], row[2]) = ("1".into(), if i > 40 { "2" } else { "3" }.into())));
    place.write("plain.csv", &table(&|_, _| ()));
    for command in ["fit", "path", "subsets", "exact -k 1"] {
        let said = |name: &str| place.done(&format!("{command} {name}"));
        assert!(said("one.csv").contains("There is one sample only"), "{command}");
        assert!(said("same.csv").contains("The target is 4 in every sample"), "{command}");
        assert!(said("flat.csv").contains("Left out: a and c are constant."), "{command}");
        let plain = said("plain.csv");
        assert!(!plain.contains("one sample") && !plain.contains("in every sample") && !plain.contains("Left out"));
    }
    let json = place.json("fit flat.csv --json");
    assert_eq!(json["constant"], serde_json::json!(["a", "c"]));
    assert!(place.json("fit same.csv --json")["remarks"][0].as_str().unwrap().contains("The target is 4"));
    assert!(place.refused("cv one.csv").contains("cross-validation needs two samples at least; there is 1"));
    // Without an intercept a constant is a feature, and a target that is one is explained by others.
    assert!(!place.done("fit flat.csv --no-intercept").contains("Left out"));
    assert!(!place.done("fit same.csv --no-intercept").contains("in every sample"));
    let wide: String = (0..12).map(|j| format!("k{j},")).collect();
    place.write("many.csv", &table(&|_, row| row.insert(0, "1,".repeat(11) + "1")).replacen("a,b", &(wide + "a,b"), 1));
    assert!(place.done("fit many.csv").contains("Left out: k0, k1, k2, k3, k4, k5, k6, k7 and 4 more are constant."));
    assert!(place.done("subsets many.csv").contains("Sizes up to 8 of 15 were searched, as without --max-size"));
    assert!(!place.done("subsets many.csv --max-size 8").contains("were searched"));
}

/// Names of columns go with an array, and come back from beside it, in memory and on disk, in a model and a prediction.
#[test]
fn names_go_with_an_array() {
    let place = Place::new();
    place.write("plain.csv", &table(&|_, _| ()));
    place.done("convert plain.csv x.npy --target y --drop b --target-to y.npy");
    let names = |file: &str| std::fs::read_to_string(place.path(file)).unwrap();
    assert_eq!((names("x.npy.names").as_str(), names("y.npy.names").as_str()), ("[\"a\",\"c\"]\n", "[\"y\"]\n"));
    for disk in ["", " --on-disk"] {
        let found = place.done(&format!("fit x.npy --target-file y.npy -o m.json --lambda0 0.01{disk}"));
        assert!(found.contains("target y") && found.contains("\n a ") && found.contains("\n c "), "{found}");
        // By name: the file has other columns beside.
        assert!(place.done("predict m.json plain.csv --json").contains("predictions"));
    }
    // That names are those of another array nothing but their age can tell.
    for disk in ["", " --on-disk"] {
        let line = format!("fit x.npy --target-file y.npy{disk}");
        assert!(place.done(&line).contains("\nThe names of the columns are from x.npy.names.\n"));
        let old = std::time::SystemTime::now() - std::time::Duration::from_secs(3600);
        let file = std::fs::File::options().append(true).open(place.path("x.npy.names")).unwrap();
        file.set_modified(old).unwrap();
        let said = place.done(&line);
        assert!(said.contains("from x.npy.names, which is older than x.npy: if they are"), "{said}");
        file.set_modified(std::time::SystemTime::now() + std::time::Duration::from_secs(60)).unwrap();
    }
    // Some columns at a time, and an array of an array.
    place.done("convert x.npy again.npy --max-memory 1MB");
    assert_eq!(names("again.npy.names"), "[\"a\",\"c\"]\n");
    // Names of another array, and an array that has none.
    place.write("x.npy.names", "[\"a\"]");
    for disk in ["", " --on-disk"] {
        let refused = place.refused(&format!("fit x.npy --target-file y.npy{disk}"));
        assert!(refused.contains("x.npy.names: it has 1 names for the 2 columns of x.npy"), "{refused}");
    }
    std::fs::remove_file(place.path("again.npy.names")).unwrap();
    place.done("convert again.npy x.npy");
    assert!(!place.path("x.npy.names").exists(), "names of the array before");
    let output = place.run("fit x.npy --target-file y.npy");
    assert!(code(&output) == 0, "{}", errors(&output));
}

/// Every bound that is printed is on the side of the number in JSON on which it still is one.
#[test]
fn bounds_that_are_printed_hold() {
    let place = Place::new();
    let number = |text: &str| text.split_whitespace().next().unwrap().trim_end_matches('.').parse::<f64>().unwrap();
    let after = |text: &str, word: &str| number(text.split_once(word).unwrap_or_else(|| panic!("{word}: {text}")).1);
    let mut limits = 0;
    for lambda0 in [1.0, 3.0, 10.0, 17.0, 40.0, 90.0, 250.0, 700.0] {
        let line = format!("fit {FLATS} --lambda0 {lambda0} --lambda2 0.02 --prove 0");
        let (json, text) = (place.json(&format!("{line} --json")), place.done(&line));
        let value = |name: &str| json[name].as_f64().unwrap();
        // One that is next to P is shown by its distance.
        match text.split_once("lower bound D").unwrap().1.trim_start().strip_prefix('P') {
            Some(less) if json["gap"] == 0.0 => assert!(less.starts_with('\n'), "{text}"),
            Some(less) => assert!(after(less, "−") >= value("gap") && value("relative_gap") < 1e-6, "{text}"),
            None => assert!(after(&text, "lower bound D") <= value("lower_bound"), "{text}"),
        }
        assert!(after(&text, "gap P − D") >= value("gap"), "{text}");
        let share = text.split_once("gap P − D").unwrap().1.split_once('(').unwrap().1;
        assert!(number(share) >= 100.0 * value("relative_gap"), "{text}");
        let limit = json["standing"]["r2_limit"].as_f64().unwrap();
        if let Some((_, shown)) = text.split_once("of at most this penalty exceeds ") {
            assert!(number(shown) >= limit && number(shown) < limit + 1.001e-4, "{limit}: {text}");
            limits += 1;
        }
        if let Some((_, shown)) = text.split_once("lowers the objective by more than ") {
            assert!(number(shown) >= value("gap"), "{text}");
        }
    }
    assert!(limits > 2, "none of the answers has a limit");
}

/// What an answer says of itself in JSON, a path says as well; the best of its size is not said to be the best at its price.
#[test]
fn a_path_says_what_its_choice_says() {
    let place = Place::new();
    let huge = |i: usize, row: &mut Vec<String>| row[1] = if i > 40 { "2" } else { "3" }.into();
    place.write("flat.csv", &table(&huge));
    let json = place.json("path flat.csv --max-size 1 --loss huber --delta 2.5 --json");
    assert_eq!(json["constant"], serde_json::json!(["b"]));
    assert_eq!(json["problem"]["loss"], serde_json::json!({"huber": {"delta": 2.5}}), "{}", json["problem"]);
    assert!(
        json["remarks"][0].as_str().unwrap().contains("more than 1 feature were not compared"),
        "{}",
        json["remarks"]
    );
    assert!(place.done("path flat.csv --max-size 1").contains("Models of more than 1 feature were not compared"));
    // At its price something larger than may be is better.
    let mut wide: String = (0..40).map(|j| format!("c{j},")).collect::<String>() + "y\n";
    for i in 0..25 {
        let x: Vec<f64> = (0..40).map(|j| ((1.7 + 1.3 * f64::from(j)) * f64::from(i * i + j + 1)).sin()).collect();
        let y = x[0] - x[1] + 0.6 * (7.0 * f64::from(i) + 1.0).cos();
        wide += &x.iter().chain([&y]).map(f64::to_string).collect::<Vec<_>>().join(",");
        wide.push('\n');
    }
    place.write("wide.csv", &wide);
    let line = "fit wide.csv --criterion aic --lambda2 1e-4 --prove 0";
    let (json, text) = (place.json(&format!("{line} --json")), place.done(line));
    assert!(json["problem"]["k"].is_u64() && !text.contains("nothing better on the path"), "{text}");
    assert_eq!(json["remarks"].as_array().unwrap().len(), 1, "said once: {}", json["remarks"]);
}
