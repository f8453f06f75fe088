//! Files that are whole or not there, and numbers that come back bit for bit.

use crate::error::{Error, Result};
use std::io::Write;
use std::path::Path;

fn failed(what: &'static str, path: &Path, error: std::io::Error) -> Error {
    Error::File { what, reason: format!("{}: {error}", path.display()) }
}

/// Reads a text file.
pub(crate) fn read(path: &Path, what: &'static str) -> Result<String> {
    std::fs::read_to_string(path).map_err(|e| failed(what, path, e))
}

/// Writes beside the target and renames: whoever reads, also after a kill, finds the old file or the new one.
pub(crate) fn write_whole(path: &Path, what: &'static str, bytes: &[u8]) -> Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.part", std::process::id()));
    let part = path.with_file_name(name);
    let write = || {
        let mut file = std::fs::File::create(&part)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        std::fs::rename(&part, path)
    };
    write().map_err(|e| failed(what, path, e))
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
