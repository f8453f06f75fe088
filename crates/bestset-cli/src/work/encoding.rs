//! Model files: the library's, with what turns a file into features beside the model.

use super::load::Scaling;
use super::{Answer, Loaded, Posed};
use crate::args::Scale;
use crate::exit::Failure;
use bestset::model::Model;
use bestset_data::{Category, Classes, Impute, Names, Roles};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// How the columns of a file become features and margins become predictions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Encoding {
    /// Name of the target.
    pub target: String,
    /// The two classes as the file had them.
    pub classes: Option<Classes>,
    /// How the target was scaled.
    pub scaling: Option<Scaling>,
    /// Columns of texts.
    pub categories: Vec<Category>,
    /// Means in place of missing values.
    pub means: BTreeMap<String, f64>,
    /// Scale of the columns inside.
    pub standardize: Scale,
    /// Whether there is an intercept.
    pub intercept: bool,
    /// Largest number of features, where that was asked.
    pub k: Option<usize>,
    /// Column with the offset.
    pub offset: Option<String>,
}

impl Encoding {
    /// The encoding of these data.
    pub fn new(data: &Loaded, standardize: Scale, intercept: bool, k: Option<usize>, offset: Option<String>) -> Self {
        Self {
            target: data.target.name.clone(),
            classes: data.target.classes.clone(),
            scaling: data.scaling,
            categories: data.set.categories.clone(),
            means: data.set.imputed.iter().map(|i| (i.column.clone(), i.mean)).collect(),
            standardize,
            intercept,
            k,
            offset,
        }
    }

    /// Roles of the columns of new data.
    pub fn roles(&self) -> Roles {
        let levels = |c: &Category| {
            let mut levels = vec![c.reference.clone()];
            levels.extend(c.levels.iter().cloned());
            (c.column.clone(), levels)
        };
        Roles {
            needs_target: false,
            offset: self.offset.clone(),
            levels: self.categories.iter().map(levels).collect(),
            means: self.means.clone(),
            impute: if self.means.is_empty() { Impute::No } else { Impute::Mean },
            ..Roles::default()
        }
    }
}

#[derive(Deserialize)]
struct Beside {
    encoding: Option<Encoding>,
}

/// Writes the model of an answer.
pub fn save(posed: &Posed<'_>, answer: &Answer, encoding: &Encoding, path: &Path) -> Result<(), Failure> {
    let mut model = posed.model(&answer.selected)?;
    if !matches!(posed.data.set.names, Names::Numbered { first: 0 }) {
        model = model.with_names(posed.data.set.names.list(posed.features()))?;
    }
    let mut json: serde_json::Value = serde_json::from_str(&model.to_json())?;
    json["encoding"] = serde_json::to_value(encoding)?;
    let text = serde_json::to_string_pretty(&json)? + "\n";
    write_whole(path, text.as_bytes())
}

/// Reads a model; one of the library alone has no encoding.
pub fn load(path: &Path) -> Result<(Model, Option<Encoding>), Failure> {
    let text = std::fs::read_to_string(path)
        .map_err(|e| Failure::Message(format!("{}: cannot be read: {e}", path.display())))?;
    let model = Model::from_json(&text).map_err(|e| Failure::Message(format!("{}: {e}", path.display())))?;
    let beside: Beside = serde_json::from_str(&text)
        .map_err(|e| Failure::Message(format!("{}: the encoding is damaged: {e}", path.display())))?;
    Ok((model, beside.encoding))
}

/// Writes beside the target and renames: the file is whole or not there.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.part", std::process::id()));
    let part = path.with_file_name(name);
    let done = std::fs::write(&part, bytes).and_then(|()| std::fs::rename(&part, path));
    if done.is_err() {
        // Of no use any more; that it cannot be removed changes nothing.
        let _ = std::fs::remove_file(&part);
    }
    done.map_err(|e| Failure::Message(format!("{}: cannot be written: {e}", path.display())))
}
