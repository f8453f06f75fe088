//! What an array in a file cannot say of itself: the names of its columns, in a file beside it, and its type in words.

use crate::error::{Error, Result};
use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The file with the names of the columns of an array: beside it, named after it with `.names`.
pub fn names_file(array: &Path) -> PathBuf {
    let mut name: OsString = array.file_name().unwrap_or_default().to_owned();
    name.push(".names");
    array.with_file_name(name)
}

/// The names of the columns of an array, of so many, from the file beside it: a list of texts in JSON. `None` where there is no such file.
///
/// ```
/// use bestset::design::{column_names, write_column_names};
///
/// let array = std::env::temp_dir().join(format!("bestset-doc-{}.npy", std::process::id()));
/// assert_eq!(column_names(&array, 2)?, None);
/// write_column_names(&array, &["dose".to_owned(), "age".to_owned()]).unwrap();
/// assert_eq!(column_names(&array, 2)?.unwrap(), ["dose", "age"]);
/// assert!(column_names(&array, 3).is_err());
/// # std::fs::remove_file(bestset::design::names_file(&array)).unwrap();
/// # Ok::<(), bestset::Error>(())
/// ```
pub fn column_names(array: &Path, columns: usize) -> Result<Option<Vec<String>>> {
    let file = names_file(array);
    let bad = |problem: String| Error::File { what: "names", reason: format!("{}: {problem}", file.display()) };
    let text = match std::fs::read_to_string(&file) {
        Ok(text) => text,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(bad(e.to_string())),
    };
    const WHAT: &str = "it must be a list of texts in JSON, one for each column, as in [\"dose\", \"age\"]; without the file columns are \
                        named x1, x2, …";
    let names: Vec<String> =
        serde_json::from_str(&text).map_err(|e| bad(format!("line {}, column {}: {WHAT}", e.line(), e.column())))?;
    if names.len() != columns {
        let array = array.file_name().unwrap_or_default().display();
        return Err(bad(format!("it has {} names for the {columns} columns of {array}; {WHAT}", names.len())));
    }
    let mut known = HashMap::new();
    for (j, name) in names.iter().enumerate() {
        if let Some(first) = known.insert(name, j) {
            return Err(bad(format!(
                "columns {} and {} are both named {name:?}; rename one of them",
                first + 1,
                j + 1
            )));
        }
    }
    Ok(Some(names))
}

/// Writes the names of the columns of an array beside it.
pub fn write_column_names(array: &Path, names: &[String]) -> std::io::Result<()> {
    let text = serde_json::to_string(names).map_err(std::io::Error::other)?;
    crate::file::write(&names_file(array), (text + "\n").as_bytes())
}

/// Whether the file of names beside an array is older than the array, and may be of another that stood there before: names are written after
/// their array.
pub fn names_are_older(array: &Path) -> bool {
    let written = |path: &Path| std::fs::metadata(path).and_then(|m| m.modified());
    matches!((written(&names_file(array)), written(array)), (Ok(names), Ok(own)) if names < own)
}

/// That names are from the file beside an array, and what to think of where that is older, in a sentence.
pub fn names_said(array: &Path) -> String {
    let file = names_file(array);
    let (names, own) =
        (file.file_name().unwrap_or_default().display(), array.file_name().unwrap_or_default().display());
    match names_are_older(array) {
        true => format!(
            "The names of the columns are from {names}, which is older than {own}: if they are those of an array that stood there \
             before, remove it."
        ),
        false => format!("The names of the columns are from {names}."),
    }
}

/// Removes the file of names beside an array. Who writes another array in its place does so just before, so that an interruption leaves no names
/// beside an array that they are not of.
pub fn remove_column_names(array: &Path) -> std::io::Result<()> {
    match std::fs::remove_file(names_file(array)) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(e),
        _ => Ok(()),
    }
}

/// What makes numbers that can be read of an array x of another type, as NumPy says it, without losing a digit that a double has.
///
/// ```
/// use bestset::design::numpy_remedy;
///
/// assert_eq!((numpy_remedy("<f2"), numpy_remedy("<i8")), ("x.astype('float32')", "x.astype('float64')"));
/// assert_eq!((numpy_remedy(">f8"), numpy_remedy("<c16")), ("x.astype('float64')", "x.real"));
/// ```
pub fn numpy_remedy(written: &str) -> &'static str {
    // Whole numbers of 16 bits have no more digits than float32 does.
    match written.trim_start_matches(['<', '>', '=', '|']) {
        "f2" | "f4" | "i1" | "i2" | "u1" | "u2" | "b1" => "x.astype('float32')",
        kind if kind.starts_with('c') => "x.real",
        _ => "x.astype('float64')",
    }
}

/// A type of NumPy in words, from how a header writes it.
///
/// ```
/// use bestset::design::numpy_type;
///
/// assert_eq!((numpy_type("<f2"), numpy_type("|O")), ("float16 (<f2)".into(), "object (|O)".into()));
/// assert_eq!(numpy_type(">f8"), "big-endian float64 (>f8)");
/// ```
pub fn numpy_type(written: &str) -> String {
    let mut signs = written.trim_start_matches(['<', '>', '=', '|']).chars();
    let kind = signs.next();
    let bits = 8 * signs.as_str().parse::<u64>().unwrap_or(0);
    let name = match kind {
        Some('f') => format!("float{bits}"),
        Some('i') => format!("int{bits}"),
        Some('u') => format!("uint{bits}"),
        Some('c') => format!("complex{bits}"),
        Some('b') => "bool".to_owned(),
        Some('O') => "object".to_owned(),
        Some('U' | 'S') => "texts".to_owned(),
        Some('M' | 'm') => "dates or times".to_owned(),
        _ => "records".to_owned(),
    };
    let order = if written.starts_with('>') { "big-endian " } else { "" };
    // Records are a list that may be long.
    if name == "records" { name } else { format!("{order}{name} ({written})") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_another_length_twice_or_no_list_are_refused_with_what_would_do() {
        let array = std::env::temp_dir().join(format!("bestset-names-{}.npy", std::process::id()));
        let file = names_file(&array);
        let said = |text: &str| {
            std::fs::write(&file, text).unwrap();
            column_names(&array, 3).unwrap_err().to_string()
        };
        assert!(said("[\"a\", \"b\"]").contains(".npy.names: it has 2 names for the 3 columns of bestset-names-"));
        assert!(said("[\"a\", \"b\", \"a\"]").contains("columns 1 and 3 are both named \"a\"; rename"));
        for text in ["", "a\nb\nc\n", "{\"a\": 1}", "[1, 2, 3]"] {
            assert!(said(text).contains("it must be a list of texts in JSON"), "{text}");
        }
        std::fs::remove_file(&file).unwrap();
        assert_eq!(column_names(&array, 3), Ok(None));
    }
}
