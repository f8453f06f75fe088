//! A directory to run the command in, and the files that it finds there.

use crate::support::{bestset, code, errors, json, text};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Output;

/// The example, and what is explained in it.
pub const FLATS: &str = "flats.csv --target rent";

/// A directory with the example and small files.
pub struct Place(tempfile::TempDir);

impl Place {
    pub fn new() -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        std::fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join("data/flats.csv"), place.path("flats.csv")).unwrap();
        place
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    /// Runs the command in the directory.
    pub fn run(&self, line: &str) -> Output {
        let words: Vec<&str> = line.split_whitespace().collect();
        bestset(&words).current_dir(self.0.path()).env("COLUMNS", "100").output().expect("the binary starts")
    }

    /// Runs a command that must succeed.
    pub fn done(&self, line: &str) -> String {
        let output = self.run(line);
        assert_eq!(code(&output), 0, "{line}: {}", errors(&output));
        assert!(output.stderr.is_empty(), "quiet where there is no terminal: {}", errors(&output));
        text(&output)
    }

    pub fn json(&self, line: &str) -> Value {
        let output = self.run(line);
        assert_eq!(code(&output), 0, "{line}: {}", errors(&output));
        json(&output)
    }

    /// Runs a command that must be refused.
    pub fn refused(&self, line: &str) -> String {
        let output = self.run(line);
        assert_eq!(code(&output), 2, "{line}: {}", text(&output));
        assert!(output.stdout.is_empty(), "{line}");
        errors(&output)
    }
}

/// The data are not part of the project: found beside it, or where BESTSET_DATA says.
pub fn shared(name: &str) -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let directory = std::env::var_os("BESTSET_DATA").map_or(beside, PathBuf::from);
    let path = directory.join(name);
    if !path.exists() {
        eprintln!("skipped: there is no {}", path.display());
    }
    path.exists().then_some(path)
}
