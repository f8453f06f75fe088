//! Columns that stay on disk: the answers of columns in memory, and what is said of them.

use crate::place::Place;
use crate::support::{code, errors, text};

/// A NumPy array by columns.
fn write_array(place: &Place, name: &str, shape: &str, values: &[f64]) {
    let mut header = format!("{{'descr': '<f8', 'fortran_order': True, 'shape': ({shape}), }}");
    header.push_str(&" ".repeat(63 - (10 + header.len()) % 64));
    header.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(values.iter().flat_map(|x| x.to_le_bytes()));
    std::fs::write(place.path(name), bytes).unwrap();
}

/// y = x3 − 2 x9 and a little more.
fn written() -> Place {
    let (place, n, p) = (Place::new(), 40, 12);
    let x: Vec<f64> = (0..n * p).map(|k| ((k * k + 3 * k) as f64 * 0.37).sin()).collect();
    let y: Vec<f64> = (0..n).map(|i| x[2 * n + i] - 2.0 * x[8 * n + i] + 0.1 * (i as f64 * 1.7).cos()).collect();
    write_array(&place, "x.npy", &format!("{n}, {p}"), &x);
    write_array(&place, "y.npy", &format!("{n},"), &y);
    place
}

#[test]
fn answers_are_those_of_columns_in_memory() {
    let place = written();
    for command in ["fit", "cv --folds 3", "exact --lambda0 0.1 --lambda2 0.01", "path"] {
        let (verb, rest) = command.split_once(' ').unwrap_or((command, ""));
        let line = format!("{verb} x.npy --target-file y.npy {rest} --json");
        let (memory, disk) = (place.json(&line), place.json(&format!("{line} --on-disk")));
        for key in ["features", "objective", "lower_bound", "points", "status"] {
            assert_eq!(memory[key], disk[key], "{command}: {key}");
        }
    }
    let shown = place.run("fit x.npy --target-file y.npy --on-disk --verbose");
    assert!(text(&shown).contains("Read from disk: ") && text(&shown).contains("on disk (f64)"), "{}", text(&shown));
}

#[test]
fn large_arrays_stay_on_disk_by_themselves() {
    let place = written();
    let shown = place.run("fit x.npy --target-file y.npy --max-memory 3000");
    assert_eq!(code(&shown), 0, "{}", errors(&shown));
    assert!(text(&shown).contains("on disk (f64)"), "{}", text(&shown));
    let refused = place.run("fit x.npy --target-file y.npy --on-disk --impute mean");
    assert!(code(&refused) == 2 && errors(&refused).contains("columns in memory"), "{}", errors(&refused));
    let damaged = std::fs::read(place.path("x.npy")).unwrap();
    std::fs::write(place.path("x.npy"), &damaged[..damaged.len() - 9]).unwrap();
    let refused = place.run("fit x.npy --target-file y.npy --on-disk");
    assert!(code(&refused) == 2 && errors(&refused).contains("x.npy"), "{}", errors(&refused));
}

/// Weights and an offset of data on disk are columns of the table that has the target.
#[test]
fn weights_and_offset_are_columns_of_the_targets_table() {
    let place = written();
    let table: String = (0..40)
        .map(|i| {
            let t = i as f64;
            format!("{},{},{},p{}\n", (0.3 * t).sin(), 1.0 + 0.5 * (1.1 * t).cos(), 0.2 * (0.7 * t).sin(), i % 3)
        })
        .collect();
    std::fs::write(place.path("table.csv"), format!("y,w,o,place\n{table}")).unwrap();
    for roles in ["", "--weights w", "--weights w --offset o", "-t o --weights 2"] {
        let line = format!("fit x.npy --target-file table.csv {roles} --json");
        let (memory, disk) = (place.json(&line), place.json(&format!("{line} --on-disk")));
        for key in ["features", "objective", "lower_bound", "status"] {
            assert_eq!(memory[key], disk[key], "{roles}: {key}");
        }
        if !roles.is_empty() {
            assert_ne!(
                memory["objective"],
                place.json("fit x.npy --target-file table.csv --json")["objective"],
                "{roles}"
            );
        }
    }
    for (line, said) in [
        ("fit x.npy --target-file y.npy --weights w --on-disk", "which has the target alone"),
        ("fit x.npy --target-file y.npy -t y", "here the target is alone"),
        ("fit x.npy --target-file table.csv -t z", "z"),
        ("fit x.npy --on-disk", "--target-file FILE"),
    ] {
        let refused = place.run(line);
        assert!(code(&refused) == 2 && errors(&refused).contains(said), "{line}: {}", errors(&refused));
    }
}

/// Columns on disk are predicted as those in memory; only the model's are read.
#[test]
fn predictions_from_disk_are_those_from_memory() {
    let place = written();
    place.done("fit x.npy --target-file y.npy --on-disk -o model.json");
    let memory = place.done("predict model.json x.npy");
    assert_eq!(memory, place.done("predict model.json x.npy --max-memory 3000"));
    assert_eq!(memory.lines().count(), 41);
    let shown = place.run("predict model.json y.npy --max-memory 30");
    assert!(code(&shown) == 2 && errors(&shown).contains("y.npy"), "{}", errors(&shown));
}

#[test]
fn moments_are_kept_when_asked_for() {
    let place = written();
    let line = "fit x.npy --target-file y.npy --on-disk --json";
    let plain = place.json(line);
    assert!(!place.path("x.npy.moments").exists());
    for _ in 0..2 {
        let kept = place.json(&format!("{line} --keep-moments"));
        assert_eq!((&plain["features"], &plain["lower_bound"]), (&kept["features"], &kept["lower_bound"]));
        assert!(place.path("x.npy.moments").exists());
    }
    let refused = place.run("fit x.npy --target-file y.npy --keep-moments");
    assert!(code(&refused) == 2 && errors(&refused).contains("--on-disk"), "{}", errors(&refused));
}

/// With little address space there is the answer of plenty, as far as exchanges need no large matrix of inner products, or an error that names what
/// there was no room for: no thread's pool of memory takes it all, and no allocation ends the program.
#[cfg(target_os = "linux")]
#[test]
fn little_address_space_ends_in_an_answer_or_an_error() {
    let (place, n, p) = (Place::new(), 250, 8000);
    let x: Vec<f64> = (0..n * p).map(|k| ((k * 7 + k / 13) as f64 * 0.618).sin()).collect();
    let y: Vec<f64> = (0..n).map(|i| x[2 * n + i] - 2.0 * x[8 * n + i] + 0.1 * (i as f64 * 1.7).cos()).collect();
    write_array(&place, "x.npy", &format!("{n}, {p}"), &x);
    write_array(&place, "y.npy", &format!("{n},"), &y);
    let fit = "fit x.npy --target-file y.npy --on-disk --lambda0 1 --lambda2 0.1 --prove 0 --json";
    let plenty = place.json(fit);
    for kilobytes in [70_000, 100_000, 200_000] {
        let done = within(&place, kilobytes, fit);
        let (code, said) = (code(&done), errors(&done));
        // 3: an answer, and the reading that failed after it.
        let is_named = said.contains("memory") || said.contains("address space");
        let is_little = kilobytes < 200_000 && (code == 3 || is_named);
        assert!(code == 0 || is_little, "{kilobytes}: {code} {said}");
        if code == 0 {
            let little = crate::support::json(&done);
            for key in ["features", "objective", "lower_bound"] {
                assert_eq!(plenty[key], little[key], "{kilobytes}: {key}");
            }
        }
    }
}

/// The command under a limit on its address space.
#[cfg(target_os = "linux")]
fn within(place: &Place, kilobytes: usize, words: &str) -> std::process::Output {
    let line = format!("ulimit -v {kilobytes}; exec {} {words}", env!("CARGO_BIN_EXE_bestset"));
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", &line]).current_dir(place.path(".")).env_remove("MALLOC_ARENA_MAX").output().unwrap()
}

/// A limit that the program itself nearly fills: a message that says what to set, which is then enough, and no panic. Where not even the program fits
/// the system ends it before it begins.
#[cfg(target_os = "linux")]
#[test]
fn too_little_address_space_says_how_much_is_needed() {
    let place = Place::new();
    let rows: String = (0..40).map(|i| format!("{},{}\n", (i as f64 * 0.7).sin(), i % 5)).collect();
    std::fs::write(place.path("s.csv"), format!("x,y\n{rows}")).unwrap();
    let fit = "fit s.csv --target y";
    let mut asked = Vec::new();
    for kilobytes in (16_000..160_000).step_by(4000) {
        let done = within(&place, kilobytes, fit);
        let said = errors(&done);
        assert!(!said.contains("panicked"), "{kilobytes}: {said}");
        if let Some((_, rest)) = said.split_once("ulimit -v ") {
            assert_eq!(code(&done), 2, "{said}");
            asked.push(rest.split_whitespace().next().unwrap().parse::<usize>().unwrap());
        }
    }
    let enough = *asked.iter().max().expect("no limit was met");
    assert_eq!(code(&within(&place, enough, fit)), 0, "{enough}");
}
