//! Models as versioned JSON.
//!
//! Numbers are written with as many digits as bring the same bits back. A number that is not finite, which JSON has no
//! word for, is written as a string.

use crate::error::{Error, Result};
use crate::model::Model;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// What the first field of a file says.
pub const FORMAT: &str = "bestset model";

/// The latest version of the format that this version of the library reads; it writes the first one that has room for the model.
pub const VERSION: u32 = 2;

/// The version of models with one coefficient for each feature; those of many classes are of version 2.
const SINGLE: u32 = 1;

#[derive(Deserialize)]
struct Header {
    format: String,
    version: u32,
}

#[derive(Serialize, Deserialize)]
struct File<M> {
    format: String,
    version: u32,
    model: M,
    /// What front ends keep beside the model; the core passes over it.
    #[serde(skip_serializing_if = "Option::is_none", skip_deserializing)]
    encoding: Option<serde_json::Value>,
}

/// Who writes models, for those who hand over another file.
const WRITERS: &str = "models are written by --model of the command line, save() of Python and write_model() of R";

impl Model {
    /// The model as JSON.
    pub fn to_json(&self) -> String {
        self.written(None)
    }

    fn written(&self, encoding: Option<serde_json::Value>) -> String {
        let version = if self.classes.is_some() { VERSION } else { SINGLE };
        let file = File { format: FORMAT.to_owned(), version, model: self, encoding };
        serde_json::to_string_pretty(&file).expect("a model is plain data") + "\n"
    }

    /// The model in this JSON; refuses what is not a whole model of a known version.
    pub fn from_json(text: &str) -> Result<Self> {
        let bad = |reason: String| Error::File { what: "model", reason };
        let header: Header = serde_json::from_str(text).map_err(|e| match e.classify() {
            serde_json::error::Category::Eof => {
                bad(format!("it ends too early, at line {}: write it again, or copy it as a whole", e.line()))
            }
            serde_json::error::Category::Syntax => bad(format!("it is not JSON, at line {}; {WRITERS}", e.line())),
            _ => bad(format!("it is not a bestset model; {WRITERS}")),
        })?;
        if header.format != FORMAT {
            return Err(bad(format!("its format is {:?}, not {FORMAT:?}", header.format)));
        }
        if header.version == 0 || header.version > VERSION {
            return Err(bad(format!("its version is {}; this library reads up to {VERSION}", header.version)));
        }
        let file: File<Self> = serde_json::from_str(text).map_err(|e| {
            // Which field is missing is worth knowing; what type a value should have is the program's own affair.
            let said = e.to_string();
            let lacking = said.strip_prefix("missing field `").and_then(|rest| rest.split_once('`'));
            let what = lacking.map_or(String::new(), |(field, _)| format!(": {field:?} is missing"));
            bad(format!("it is damaged at line {}{what}; write it again", e.line()))
        })?;
        let model = file.model;
        model.coefficients.validate(model.features)?;
        model.check_classes()?;
        if model.names.is_empty() {
            Ok(model)
        } else {
            Self { names: Vec::new(), ..model.clone() }.with_names(model.names)
        }
    }

    /// Whether the coefficients of classes are those of the loss and of the features.
    fn check_classes(&self) -> Result<()> {
        let bad = |reason: &str| Err(Error::File { what: "model", reason: reason.to_owned() });
        match (&self.classes, self.loss) {
            (None, crate::Loss::Multinomial { .. }) => bad("it has no coefficients of classes"),
            (None, _) => Ok(()),
            (Some(own), crate::Loss::Multinomial { classes }) if own.classes() == classes => {
                own.validate(self.features)?;
                if own.support == self.coefficients.support { Ok(()) } else { bad("its classes have other features") }
            }
            (Some(_), _) => bad("its coefficients of classes are not those of its loss"),
        }
    }

    /// Writes the model to a file: whole or not at all.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        crate::file::write_whole(path.as_ref(), "model", self.to_json().as_bytes())
    }

    /// As [`Model::save`], with a JSON object of the name `encoding` beside the model: what front ends know of the columns and the
    /// target it was made of. Those who read the model alone pass over it.
    pub fn save_encoded(&self, path: impl AsRef<Path>, encoding: &str) -> Result<()> {
        let encoding = serde_json::from_str(encoding)
            .map_err(|e| Error::File { what: "model", reason: format!("the encoding is not JSON: {e}") })?;
        crate::file::write_whole(path.as_ref(), "model", self.written(Some(encoding)).as_bytes())
    }

    /// Reads a model from a file.
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        Self::from_json(&crate::file::read(path.as_ref(), "model")?)
    }
}
