//! What the program answers to words and files that are not what they should be: one line, and an exit status that is documented.

use std::path::PathBuf;
use std::process::Command;

/// A folder of its own for a test.
fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("bestset-check-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// The exit status, and what was printed on either stream.
fn said(words: &[&str]) -> (i32, String) {
    let done = Command::new(env!("CARGO_BIN_EXE_bestset-check")).args(words).output().unwrap();
    let text = [done.stdout, done.stderr].concat();
    (done.status.code().unwrap(), String::from_utf8(text).unwrap())
}

/// A header of one row and one feature "a" with the target "y", no penalty, no size, and nothing after it.
fn header() -> Vec<u8> {
    let mut bytes = b"BSPROOF4".to_vec();
    bytes.extend([0; 32]);
    bytes.extend([1, 1, 1, b'y', 0, 0, 1, b'a', 0, 0, 0, 0]);
    [0.0, 0.0, 0.0, f64::NEG_INFINITY, f64::INFINITY].iter().for_each(|x: &f64| bytes.extend(x.to_le_bytes()));
    bytes.push(0);
    bytes.extend(1.0f64.to_le_bytes());
    bytes.extend([0, 0, 0]);
    bytes
}

#[test]
fn words_that_are_not_understood_take_one_line() {
    for words in [&[][..], &["a.csv"], &["a.csv", "b.bsp", "c"], &["--what", "a.csv", "b.bsp"], &["a", "b", "--target"]]
    {
        let (status, text) = said(words);
        assert_eq!((status, text.lines().count()), (2, 1), "{words:?}: {text}");
        assert!(text.contains("--help"), "{text}");
    }
    assert!(said(&["--help"]).1.contains("Exit status: 0"));
}

#[test]
fn every_file_is_called_what_it_is() {
    let folder = folder("files");
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let write = |name: &str, bytes: &[u8]| {
        std::fs::write(path(name), bytes).unwrap();
        path(name)
    };
    let (proof, numbers) = (write("one.bsp", &header()), write("numbers.csv", b"a,y\n1,2\n"));
    let old = write("old.bsp", &[b"BSPROOF3", &header()[8..]].concat());
    let short = write("short.bsp", b"BS");
    let texts = write("texts.csv", b"a,y\nblue,2\n");
    for (words, status, part) in [
        ([&proof, &numbers], 2, "this is a proof, and the data come first"),
        ([&numbers, &numbers], 2, "begins with a,y\\n1,2\\n, and this program checks BSPROOF4"),
        ([&numbers, &short], 2, "too short for a proof"),
        ([&numbers, &path("none.bsp")], 2, "none.bsp"),
        ([&path("none.csv"), &proof], 2, "none.csv"),
        ([&numbers, &old], 2, "begins with BSPROOF3, and this program checks BSPROOF4"),
        ([&texts, &proof], 2, "\"blue\" is no number"),
        ([&numbers, &proof], 1, "the proof is of other data"),
    ] {
        let (found, text) = said(&[words[0], words[1]]);
        assert!(found == status && text.contains(part), "{words:?}: {found} {text}");
    }
    std::fs::remove_dir_all(folder).unwrap();
}
