//! From the columns of a file to X, y, weights and offset.

mod encode;
mod roles;

pub use encode::Category;
use roles::MOST_LEVELS;
pub use roles::{Apart, Roles};

use crate::error::{FileError, Result, quoted};
use crate::matrix::{Matrix, Names};
use crate::plink::{Genotyped, Variant};
use crate::table::{Gap, Table};
use bestset::design::{Beside, Column, Design, GenotypeFile};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::path::PathBuf;

/// What becomes of missing values among the features.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Impute {
    /// They are an error that names the row and the column.
    #[default]
    No,
    /// The mean of the column; for texts the most frequent one.
    Mean,
    /// What was usual in the data of a fit: [`Roles::usual`]. Never what is usual in these.
    Known,
}

/// What takes the place of missing values of a column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Usual {
    /// The mean of its numbers.
    Mean(f64),
    /// The most frequent of its texts.
    Text(String),
}

/// Features, target and what belongs to the samples.
#[derive(Debug, Clone)]
pub struct Dataset {
    /// The file.
    pub source: PathBuf,
    /// X, or the part of it that follows the variants.
    pub matrix: Matrix,
    /// Genotypes, the first columns of X, where the file has them.
    pub genotyped: Option<Genotyped>,
    /// Names of the columns of X, all different.
    pub names: Names,
    /// y.
    pub target: Option<Target>,
    /// Weight of each sample.
    pub weights: Option<Vec<f64>>,
    /// Fixed part of the linear predictor of each sample.
    pub offset: Option<Vec<f64>>,
    /// Columns that belong to the samples besides, as [`Roles::apart`] names them.
    pub apart: Vec<Apart>,
    /// Columns of texts and the features made of them.
    pub categories: Vec<Category>,
    /// Values that were missing and what took their place.
    pub imputed: Vec<Imputed>,
    /// Rows that were left out because they had no target.
    pub without_target: u64,
    /// Rows that were left out because they had no value in another column.
    pub incomplete: u64,
    /// What was left out of the data besides, one sentence each.
    pub remarks: Vec<String>,
    /// What was taken for granted in reading the file, one sentence each.
    pub notes: Vec<String>,
    /// Line of the file on which the first row stands, where every row is the next line.
    pub first_line: Option<u64>,
}

/// Missing values of one column and what took their place.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Imputed {
    /// The column.
    pub column: String,
    /// How many.
    pub count: u64,
    /// What took their place.
    pub value: Usual,
}

/// What is to be predicted.
#[derive(Debug, Clone, PartialEq)]
pub struct Target {
    /// Its name.
    pub name: String,
    /// Numbers, −1 and +1 for two classes, or the numbers of many classes, from 0.
    pub values: Vec<f64>,
    /// The two classes as the file has them, where the target is made of two texts.
    pub classes: Option<Classes>,
    /// The names of many classes, in the order of their numbers; empty where there are not.
    pub labels: Vec<String>,
}

/// Two classes as they are called.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Classes {
    /// The one that −1 stands for.
    pub negative: String,
    /// The one that +1 stands for.
    pub positive: String,
}

impl Target {
    /// A target of numbers.
    pub fn of_numbers(name: String, values: Vec<f64>) -> Self {
        Self { name, values, classes: None, labels: Vec::new() }
    }

    /// The values as the numbers of classes, from 0, whatever they are: texts, two classes, or numbers in their order.
    pub fn into_many_classes(self) -> std::result::Result<Self, String> {
        if !self.labels.is_empty() {
            return Ok(self);
        }
        if let Some(Classes { negative, positive }) = &self.classes {
            let values = self.values.iter().map(|v| f64::from(u8::from(*v > 0.0))).collect();
            let labels = vec![negative.clone(), positive.clone()];
            return Ok(Self { values, labels, classes: None, ..self });
        }
        let (mut levels, name) = (self.values.clone(), quoted(&self.name));
        levels.sort_unstable_by(f64::total_cmp);
        levels.dedup();
        if levels.len() < 2 {
            return Err(format!("target {name} has one value only; classification needs two classes"));
        }
        if levels.len() > MOST_LEVELS {
            let count = levels.len();
            return Err(format!("target {name} has {count} different values, more than {MOST_LEVELS}: not classes"));
        }
        let values = self.values.iter().map(|v| levels.partition_point(|l| l < v) as f64).collect();
        Ok(Self { values, labels: levels.iter().map(f64::to_string).collect(), ..self })
    }

    /// The values of a target of numbers as classes −1 and +1: the smaller and the larger of two, unless `positive` is named, or
    /// the one that is named and all others.
    ///
    /// Fails, with the values, where there are not two and none is named.
    pub fn into_classes(self, positive: Option<&str>) -> std::result::Result<Self, String> {
        let Self { name, values, classes, labels } = self;
        if let Some(classes) = classes {
            return Ok(Self { name, values, classes: Some(classes), labels });
        }
        if !labels.is_empty() {
            let count = labels.len();
            return Err(format!(
                "target {} has {count} classes: --family multinomial takes them together, --positive CLASS sets one of them \
                 against all others",
                quoted(&name)
            ));
        }
        let levels = Self::levels(&values, MOST_CLASSES + 1);
        let shown = || levels.iter().take(MOST_CLASSES).map(f64::to_string).collect::<Vec<_>>().join(", ");
        let (high, classes) = match (&levels[..], positive) {
            ([], _) | ([_], _) => {
                return Err(format!("target {} has one value only; classification needs two classes", quoted(&name)));
            }
            (_, Some(wanted)) => {
                let Some(high) = wanted.trim().parse().ok().filter(|high| values.contains(high)) else {
                    return Err(format!("the positive class {} is none of {}", quoted(wanted), shown()));
                };
                let others: Vec<&f64> = levels.iter().filter(|level| **level != high).collect();
                let negative = if let [low] = others[..] { low.to_string() } else { Classes::all_but(wanted) };
                (high, Classes { negative, positive: high.to_string() })
            }
            ([low, high], None) => (*high, Classes { negative: low.to_string(), positive: high.to_string() }),
            _ => {
                let more = if levels.len() > MOST_CLASSES { ", ..." } else { "" };
                return Err(format!(
                    "target {} has more than two values ({}{more}): not two classes; --family multinomial takes them together, \
                     --positive CLASS sets one of them against all others",
                    quoted(&name),
                    shown()
                ));
            }
        };
        let values = values.iter().map(|v| if *v == high { 1.0 } else { -1.0 }).collect();
        Ok(Self { name, values, classes: Some(classes), labels })
    }

    /// The different values, ascending, as far as there are no more than so many.
    pub fn levels(values: &[f64], most: usize) -> Vec<f64> {
        let mut levels: Vec<f64> = Vec::new();
        for &value in values {
            if levels.len() < most && !levels.contains(&value) {
                levels.push(value);
            }
        }
        levels.sort_by(f64::total_cmp);
        levels
    }
}

/// Classes that a message lists.
const MOST_CLASSES: usize = 6;

impl Classes {
    /// The name of what is not in a class.
    pub(crate) fn all_but(class: &str) -> String {
        format!("not {class}")
    }
}

impl Dataset {
    /// Numbers and their names, nothing else.
    pub(crate) fn plain(source: PathBuf, matrix: Matrix, names: Names) -> Self {
        Self {
            source,
            matrix,
            genotyped: None,
            names,
            target: None,
            weights: None,
            offset: None,
            apart: Vec::new(),
            categories: Vec::new(),
            imputed: Vec::new(),
            without_target: 0,
            incomplete: 0,
            remarks: Vec::new(),
            notes: Vec::new(),
            first_line: None,
        }
    }

    /// What is wrong with the entry of a column in row i, counted from zero: an error that names the file, the line or the row of those
    /// that are used, and the column.
    pub fn fault(&self, column: &str, i: usize, problem: impl Into<String>) -> FileError {
        let error = FileError::new(&self.source, problem).in_column(column);
        let left_out = self.without_target + self.incomplete;
        match self.first_line {
            Some(first) => error.at_line(first + i as u64),
            None if left_out == 0 => error.at_row(i as u64 + 1),
            None => {
                let problem = format!("{}; the row is number {} of those used", error.problem, i + 1);
                FileError { problem, ..error }
            }
        }
    }

    /// Number of samples.
    pub fn rows(&self) -> usize {
        self.matrix.rows()
    }

    /// Number of features.
    pub fn features(&self) -> usize {
        self.variants().len() + self.matrix.columns()
    }

    /// The variants that the first features are.
    pub fn variants(&self) -> &[Variant] {
        self.genotyped.as_ref().map_or(&[], |g| &g.variants)
    }

    /// X as a design.
    pub fn design(&self) -> bestset::Result<Box<dyn Design + '_>> {
        let Some(Genotyped { genotypes, .. }) = &self.genotyped else { return self.matrix.design() };
        Ok(match self.matrix.columns() {
            0 => genotypes.boxed(),
            _ => Box::new(Beside::new(genotypes.boxed(), self.matrix.design()?)?),
        })
    }

    /// The part of X that has feature j, and its number there.
    fn part(&self, j: usize) -> std::result::Result<(&GenotypeFile, usize), usize> {
        match &self.genotyped {
            Some(g) if j < g.variants.len() => Ok((&g.genotypes, j)),
            _ => Err(j - self.variants().len()),
        }
    }

    /// All entries of feature j.
    pub fn column(&self, j: usize) -> bestset::Result<Cow<'_, [f64]>> {
        match self.part(j) {
            Err(j) => Ok(self.matrix.column(j)),
            Ok((genotypes, j)) => {
                let mut column = Column::default();
                genotypes.design().column(j, &mut column)?;
                Ok(Cow::Owned(column.values))
            }
        }
    }

    /// Mean of feature j.
    pub fn mean(&self, j: usize) -> f64 {
        match self.part(j) {
            Ok((genotypes, j)) => genotypes.counts(j).mean(),
            Err(j) => self.matrix.mean(j),
        }
    }

    /// Standard deviation of feature j.
    pub fn deviation(&self, j: usize) -> f64 {
        match self.part(j) {
            Ok((genotypes, j)) => genotypes.deviation(j),
            Err(j) => self.matrix.deviation(j),
        }
    }

    /// The group of each feature: those made of one column of texts together, every other feature alone. `None` where every
    /// group has one member.
    pub fn groups(&self) -> Option<Vec<usize>> {
        if self.categories.iter().all(|c| c.levels.len() < 2) {
            return None;
        }
        let mut labels: Vec<usize> = (0..self.features()).collect();
        for category in &self.categories {
            let first = category.first;
            labels[first..first + category.levels.len()].fill(first);
        }
        Some(labels)
    }
}

impl Table {
    /// Gives every column its role; columns without one become features. Texts become indicators of all levels but the
    /// first in the alphabet, after the features that are numbers.
    pub fn into_dataset(mut self, roles: &Roles) -> Result<Dataset> {
        self.check_names()?;
        let (without_target, incomplete) = roles.drop_rows(&mut self)?;
        let assigned = roles.assign(&mut self)?;
        let (categories, texts) = encode::encode(&mut self, roles)?;
        let mut imputed = encode::impute(&mut self, roles)?;
        imputed.extend(texts);
        if self.numbers.columns() == 0 && roles.needs_features {
            return Err(FileError::new(&self.source, "no column is left to be a feature").into());
        }
        let roles::Assigned { target, weights, offset, apart } = assigned;
        let Self { source, numbers, names, notes, first_line, .. } = self;
        Ok(Dataset {
            source,
            matrix: numbers,
            genotyped: None,
            names,
            target,
            weights,
            offset,
            apart,
            categories,
            imputed,
            without_target,
            incomplete,
            remarks: Vec::new(),
            notes,
            first_line,
        })
    }

    /// The error for a missing value.
    pub(crate) fn missing(&self, column: &str, gap: &Gap, advice: &str) -> FileError {
        let others = match gap.count {
            1 => String::new(),
            count => format!(", the first of {count} in this column"),
        };
        let mut error = FileError::new(&self.source, format!("the value is missing{others}{advice}")).in_column(column);
        (error.line, error.row) = (gap.line, Some(gap.row));
        error
    }
}
