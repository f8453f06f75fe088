//! Files that are whole or not there, and numbers that come back bit for bit.

use crate::error::{Error, Result};
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

fn failed(what: &'static str, path: &Path, error: io::Error) -> Error {
    Error::File { what, reason: format!("{}: {error}", path.display()) }
}

/// Reads a text file.
pub(crate) fn read(path: &Path, what: &'static str) -> Result<String> {
    std::fs::read_to_string(path).map_err(|e| failed(what, path, e))
}

/// As [`write`], with an error that says what the file is.
pub(crate) fn write_whole(path: &Path, what: &'static str, bytes: &[u8]) -> Result<()> {
    write(path, bytes).map_err(|e| failed(what, path, e))
}

/// Writes bytes to a path. A regular file there is replaced as a whole, as [`replace`] does it; a device or a pipe stays what it
/// is and takes the bytes; a link stays, and what it points to is written.
///
/// ```
/// let path = std::env::temp_dir().join(format!("bestset-doc-{}.txt", std::process::id()));
/// bestset::file::write(&path, b"whole")?;
/// assert_eq!(std::fs::read(&path)?, b"whole");
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    match place(path) {
        Place::Regular(file) => replace(&file, |part| part.write_all(bytes)),
        // Opened anew, standard output that goes into a file would begin at its start and overwrite what is there.
        Place::Other(_) if is_standard_output(path) => {
            let mut out = io::stdout().lock();
            out.write_all(bytes)?;
            out.flush()
        }
        Place::Other(device) => {
            let mut out = std::fs::OpenOptions::new().write(true).open(device)?;
            out.write_all(bytes)?;
            out.flush()
        }
    }
}

/// Writes beside a regular file, or where none is yet, and renames: whoever reads, also after a kill, finds the old file or the
/// new one. The permissions of the old one are kept.
pub fn replace(path: &Path, fill: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.part", std::process::id()));
    let part = path.with_file_name(name);
    let written = File::create(&part).and_then(|mut file| {
        fill(&mut file)?;
        if let Ok(old) = std::fs::metadata(path) {
            file.set_permissions(old.permissions())?;
        }
        file.sync_all()?;
        std::fs::rename(&part, path)
    });
    if written.is_err() {
        // Of no use any more; that it cannot be removed changes nothing.
        let _ = std::fs::remove_file(&part);
    }
    written
}

/// What stands where a file is to be written, at the end of all links.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// A regular file, or nothing yet: [`replace`] it.
    Regular(PathBuf),
    /// A device or a pipe, which [`fn@write`] writes into.
    Other(PathBuf),
}

/// Links that are followed; more are a ring.
const LINKS: usize = 40;

/// What stands at a path.
pub fn place(path: &Path) -> Place {
    let mut path = path.to_owned();
    for _ in 0..LINKS {
        // Links of the system name open files, which are not to be renamed away under those who have them open.
        let of_system = path.starts_with("/dev") || path.starts_with("/proc");
        match std::fs::symlink_metadata(&path) {
            Ok(found) if found.is_symlink() && !of_system => match std::fs::read_link(&path) {
                Ok(target) => path = path.parent().unwrap_or(Path::new("")).join(target),
                Err(_) => return Place::Other(path),
            },
            Ok(found) if !found.is_file() => return Place::Other(path),
            _ => return Place::Regular(path),
        }
    }
    Place::Other(path)
}

/// Whether a path is another name for standard output.
pub fn is_standard_output(path: &Path) -> bool {
    let names = ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"];
    matches!(place(path), Place::Other(found) if names.iter().any(|name| found == Path::new(name)))
}

/// An `f64` that may be infinite or NaN, in JSON: a number, or one of the strings "inf", "-inf", "NaN".
pub(crate) mod float {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Written {
        Number(f64),
        Word(String),
    }

    pub(crate) fn serialize<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
        if value.is_finite() { value.serialize(serializer) } else { value.to_string().serialize(serializer) }
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
        match Written::deserialize(deserializer)? {
            Written::Number(value) => Ok(value),
            Written::Word(word) => match word.as_str() {
                "inf" => Ok(f64::INFINITY),
                "-inf" => Ok(f64::NEG_INFINITY),
                "NaN" => Ok(f64::NAN),
                other => Err(D::Error::custom(format!("{other:?} is not a number"))),
            },
        }
    }
}

/// As [`float`], for a list.
pub(crate) mod floats {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    struct Float(#[serde(with = "super::float")] f64);

    pub(crate) fn serialize<S: Serializer>(values: &[f64], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(values.iter().map(|x| Float(*x)))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<f64>, D::Error> {
        Ok(Vec::<Float>::deserialize(deserializer)?.into_iter().map(|x| x.0).collect())
    }
}
