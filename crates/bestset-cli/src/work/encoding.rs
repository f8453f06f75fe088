//! Model files: the library's, with what turns a file into features beside the model.

use super::load::Scaling;
use super::{Answer, Loaded, Posed};
use crate::args::InputArgs;
use crate::exit::Failure;
use bestset::model::Model;
use bestset::select::Scale;
use bestset_data::{Category, Classes, Impute, Imputed, KnownVariant, Names, Roles, Usual};
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
    /// The names of many classes, in the order of their numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class_names: Option<Vec<String>>,
    /// How the target was scaled.
    pub scaling: Option<Scaling>,
    /// Columns of texts.
    pub categories: Vec<Category>,
    /// Means of the columns that the model uses, and of those that had missing values. Files of older versions have the latter
    /// alone.
    pub means: BTreeMap<String, f64>,
    /// Whether missing values were filled in the data of the fit, so that they are in new data; files of older versions do not
    /// say.
    #[serde(default)]
    pub imputed: Option<bool>,
    /// Scale of the columns inside.
    pub standardize: Scale,
    /// Whether there is an intercept.
    pub intercept: bool,
    /// Largest number of features, where that was asked.
    pub k: Option<usize>,
    /// Column with the offset.
    pub offset: Option<String>,
    /// Column with the exposure, whose logarithm is part of the offset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exposure: Option<String>,
    /// The names of the strata of survival times, in the order of their numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strata: Option<Vec<String>>,
    /// The column that had them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strata_column: Option<String>,
    /// The variants that the model uses, where features are genotypes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub variants: Vec<KnownVariant>,
}

impl Encoding {
    /// The encoding of these data.
    pub fn new(data: &Loaded, standardize: Scale, intercept: bool, k: Option<usize>, input: &InputArgs) -> Self {
        let mean = |imputed: &Imputed| match imputed.value {
            Usual::Mean(mean) => Some((imputed.column.clone(), mean)),
            Usual::Text(_) => None,
        };
        let (strata_column, strata) = super::survival::strata(input, &data.set.apart).unzip();
        Self {
            target: data.target.name.clone(),
            classes: data.target.classes.clone(),
            class_names: Some(data.target.labels.clone()).filter(|labels| !labels.is_empty()),
            scaling: data.scaling,
            categories: data.set.categories.clone(),
            means: data.set.imputed.iter().filter_map(mean).collect(),
            imputed: Some(!data.set.imputed.is_empty()),
            standardize,
            intercept,
            k,
            offset: input.offset.clone(),
            exposure: input.exposure.clone(),
            strata,
            strata_column,
            variants: Vec::new(),
        }
    }

    /// With the means of the columns that these features are, and their variants: what is missing in new data is not what is
    /// usual there.
    fn with_means(mut self, data: &Loaded, features: &[usize]) -> Result<Self, Failure> {
        let numbers: Vec<usize> = features.iter().copied().filter(|j| self.category(*j).is_none()).collect();
        self.variants = features.iter().filter_map(|&j| data.variant(j)).collect();
        for j in numbers {
            let mean = data.spread(j)?.0;
            self.means.entry(data.name(j)).or_insert(mean);
        }
        Ok(self)
    }

    /// The column of the file that feature j is made of, where it is made of texts.
    pub fn category(&self, j: usize) -> Option<&Category> {
        self.categories.iter().find(|c| c.features().contains(&j))
    }

    /// Roles of the columns of new data.
    pub fn roles(&self) -> Roles {
        let levels = |c: &Category| {
            let mut levels = vec![c.reference.clone()];
            levels.extend(c.levels.iter().cloned());
            (c.column.clone(), levels)
        };
        let means = self.means.iter().map(|(column, mean)| (column.clone(), Usual::Mean(*mean)));
        let texts = self.categories.iter().filter_map(|c| Some((c.column.clone(), Usual::Text(c.usual.clone()?))));
        Roles {
            needs_target: false,
            needs_features: false,
            offset: self.offset.clone(),
            exposure: self.exposure.clone(),
            levels: self.categories.iter().map(levels).collect(),
            usual: means.chain(texts).collect(),
            impute: if self.imputed.unwrap_or(!self.means.is_empty()) { Impute::Known } else { Impute::No },
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
    let encoding = encoding.clone().with_means(posed.data, &model.coefficients.support)?;
    Ok(model.save_encoded(path, &serde_json::to_string(&encoding)?)?)
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

/// Writes a file: whole or not at all, or into the device or pipe that is there.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let written = bestset::file::write(path, bytes);
    written.map_err(|e| Failure::Message(format!("{}: cannot be written: {e}", path.display())))
}
