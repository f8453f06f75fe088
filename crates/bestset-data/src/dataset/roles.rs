//! Which column is what.

use super::{Classes, Impute, Target, Usual};
use crate::error::{FileError, Result, quoted};
use crate::levels::same_level;
use crate::table::{Label, Place, Table, TextColumn};
use std::collections::BTreeMap;

/// Most levels of a column of texts that becomes features, unless told otherwise.
pub const MOST_LEVELS: usize = 100;

/// Columns that are not features, by name or number, and how features are made.
#[derive(Debug, Clone, PartialEq)]
pub struct Roles {
    /// The target; `None` for the label of the format, or the column named `y`.
    pub target: Option<String>,
    /// Whether there must be a target; where not, only one that is named is taken.
    pub needs_target: bool,
    /// Whether a column must be left to be a feature; a model without features predicts without.
    pub needs_features: bool,
    /// Weights of the samples.
    pub weights: Option<String>,
    /// Fixed part of the linear predictor.
    pub offset: Option<String>,
    /// What the means of the samples are in proportion to, above zero: its logarithm is added to the offset.
    pub exposure: Option<String>,
    /// Columns of numbers or texts that belong to the samples besides: events, times of entry, strata.
    pub apart: Vec<String>,
    /// Columns to be left out.
    pub drop: Vec<String>,
    /// The class that +1 stands for, against all others where there are more than two; `None` for the later one of two in the
    /// alphabet.
    pub positive: Option<String>,
    /// The names of many classes that are known already, for data that a model is applied to.
    pub labels: Vec<String>,
    /// Whether rows without a target are left out; where not, they are an error.
    pub drop_missing_target: bool,
    /// Whether rows without a value in any column that has a role are left out.
    pub drop_missing: bool,
    /// What becomes of missing values.
    pub impute: Impute,
    /// Levels of columns of texts that are known already, for data that a model is applied to; the first is the reference.
    pub levels: BTreeMap<String, Vec<String>>,
    /// What takes the place of missing values with [`Impute::Known`], for data that a model is applied to.
    pub usual: BTreeMap<String, Usual>,
    /// Most levels of a column of texts.
    pub most_levels: usize,
}

impl Default for Roles {
    fn default() -> Self {
        Self {
            target: None,
            needs_target: true,
            needs_features: true,
            weights: None,
            offset: None,
            exposure: None,
            apart: Vec::new(),
            drop: Vec::new(),
            positive: None,
            labels: Vec::new(),
            drop_missing_target: false,
            drop_missing: false,
            impute: Impute::No,
            levels: BTreeMap::new(),
            usual: BTreeMap::new(),
            most_levels: MOST_LEVELS,
        }
    }
}

/// What was taken out of the table.
pub struct Assigned {
    pub target: Option<Target>,
    pub weights: Option<Vec<f64>>,
    pub offset: Option<Vec<f64>>,
    pub apart: Vec<Apart>,
}

/// A column that belongs to the samples.
#[derive(Debug, Clone, PartialEq)]
pub struct Apart {
    /// Its name.
    pub name: String,
    /// Its numbers, or the places of its texts among `levels`.
    pub values: Vec<f64>,
    /// Its texts in the order of the alphabet, where it has texts.
    pub levels: Option<Vec<String>>,
}

impl Roles {
    /// Leaves out rows without a target, then those without another value, as far as that is wanted; how many there were of either.
    pub fn drop_rows(&self, table: &mut Table) -> Result<(u64, u64)> {
        let left = |table: &Table, problem: &str| -> Result<()> {
            if table.rows() == 0 { Err(FileError::new(&table.source, problem).into()) } else { Ok(()) }
        };
        let (mut without_target, mut incomplete) = (0, 0);
        if self.drop_missing_target || self.drop_missing {
            without_target = self.target_position(table)?.map_or(0, |position| table.drop_rows_without(&[position]));
            left(table, "no row has a target")?;
        }
        if self.drop_missing {
            let drop: Vec<usize> = self.drop.iter().map(|name| table.find(name)).collect::<Result<_>>()?;
            let used: Vec<usize> = table.gaps.keys().copied().filter(|position| !drop.contains(position)).collect();
            incomplete = table.drop_rows_without(&used);
            left(table, "no row has a value in every column; leave out columns with --drop, or give --impute mean")?;
        }
        Ok((without_target, incomplete))
    }

    /// Takes target, weights, offset and what is dropped out of the table.
    pub fn assign(&self, table: &mut Table) -> Result<Assigned> {
        let drop: Vec<usize> = self.drop.iter().map(|name| table.find(name)).collect::<Result<_>>()?;
        let target = self.target_position(table)?;
        let weights = self.weights.as_deref().map(|name| table.find(name)).transpose()?;
        let offset = self.offset.as_deref().map(|name| table.find(name)).transpose()?;
        let exposure = self.exposure.as_deref().map(|name| table.find(name)).transpose()?;
        let apart: Vec<usize> = self.apart.iter().map(|name| table.find(name)).collect::<Result<_>>()?;
        let own = apart.iter().map(|&position| ("event, entry or stratum", Some(position)));
        let single = [("target", target), ("weights", weights), ("offset", offset), ("exposure", exposure)];
        let wanted: Vec<(&str, Option<usize>)> = single.into_iter().chain(own).collect();
        for (a, (role, position)) in wanted.iter().enumerate() {
            let again = wanted[..a].iter().find(|other| position.is_some() && other.1 == *position);
            let dropped = position.is_some_and(|p| drop.contains(&p)).then_some(("dropped", None));
            if let Some((other, _)) = again.copied().or(dropped) {
                let name = table.name(position.unwrap_or_default());
                let problem = format!("column {name:?} cannot be {role} and {other} at once");
                return Err(FileError::new(&table.source, problem).into());
            }
        }
        let found = Assigned {
            target: match target {
                Some(position) => Some(self.target_of(table, position)?),
                None => table.label.take().map(|Label { name, values }| Target::of_numbers(name, values)),
            },
            weights: weights.map(|position| numbers(table, position, "weights")).transpose()?,
            offset: offset.map(|position| numbers(table, position, "the offset")).transpose()?,
            apart: apart.iter().map(|&position| beside(table, position)).collect::<Result<_>>()?,
        };
        let exposure_logs = exposure.map(|position| logarithms(table, position)).transpose()?;
        let found = match (found.offset, exposure_logs) {
            (Some(offset), Some(logs)) => {
                let sums = offset.iter().zip(logs).map(|(o, log)| o + log).collect();
                Assigned { offset: Some(sums), ..found }
            }
            (offset, logs) => Assigned { offset: offset.or(logs), ..found },
        };
        if self.needs_target && found.target.is_none() {
            let problem = format!(
                "the target is not known: name its column with --target, or its file with --target-file; there are {}",
                table.columns_like("y")
            );
            return Err(FileError::new(&table.source, problem).into());
        }
        let others = [target, weights, offset, exposure].into_iter().flatten().chain(apart);
        table.remove(drop.into_iter().chain(others).collect());
        Ok(found)
    }

    fn target_position(&self, table: &Table) -> Result<Option<usize>> {
        match &self.target {
            Some(name) if table.label.as_ref().is_some_and(|label| label.name == *name) => Ok(None),
            Some(name) => table.find(name).map(Some),
            // The label of the format, which has no position; or data that need no target.
            None if table.label.is_some() || !self.needs_target => Ok(None),
            None => Ok(table.find("y").ok()),
        }
    }

    fn target_of(&self, table: &Table, position: usize) -> Result<Target> {
        let name = table.name(position);
        const ADVICE: &str =
            "; the target must be known in every row: --drop-missing-target leaves out the rows where it is not";
        if let Some(gap) = table.gaps.get(&position).filter(|_| self.needs_target) {
            return Err(table.missing(&name, gap, ADVICE).into());
        }
        match table.place(position) {
            Place::Number(j) => Ok(Target::of_numbers(name, table.numbers.column(j).into_owned())),
            Place::Text(t) => self.classes_of(table, &table.texts[t]),
        }
    }

    /// Two classes; or the positive one and all others, where there are more, or where a model brings its classes.
    fn classes_of(&self, table: &Table, text: &TextColumn) -> Result<Target> {
        let bad = |problem: String| crate::Error::from(FileError::new(&table.source, problem).in_column(&text.name));
        if !self.labels.is_empty() {
            return Ok(many_classes(table, text, self.labels.clone()));
        }
        let mut levels: Vec<&String> = text.levels.iter().collect();
        levels.sort();
        let mut shown: Vec<String> = levels.iter().take(6).map(quoted).collect();
        if levels.len() > shown.len() {
            shown.push("…".to_owned());
        }
        let (count, shown) = (levels.len(), shown.join(", "));
        let positive = match &self.positive {
            Some(wanted) => levels.iter().copied().find(|level| same_level(level, wanted)),
            None => levels.last().copied(),
        };
        let positive = match (&self.positive, positive) {
            // A file may have one class alone, or others than the model knows.
            (Some(wanted), None) if !self.needs_target => wanted,
            (Some(wanted), None) => {
                return Err(bad(format!("the positive class {} is none of {shown}", quoted(wanted))));
            }
            (None, _) if count > self.most_levels => {
                return Err(bad(format!(
                    "a target of texts are classes; it has {count}, more than {}: {shown}; --positive CLASS sets one of them \
                     against all others, --max-levels allows more",
                    self.most_levels
                )));
            }
            (None, _) if count > 2 => {
                let labels = levels.into_iter().cloned().collect();
                return Ok(many_classes(table, text, labels));
            }
            (_, Some(positive)) if count > 1 || !self.needs_target => positive,
            _ => return Err(bad(format!("a target of texts needs two classes; it has {count}: {shown}"))),
        };
        let negative = match levels.iter().copied().filter(|level| *level != positive).collect::<Vec<_>>()[..] {
            [other] => other.clone(),
            _ => Classes::all_but(positive),
        };
        let values = (0..table.rows()).map(|i| match text.get(i) {
            Some(level) if same_level(level, positive) => 1.0,
            Some(_) => -1.0,
            None => f64::NAN,
        });
        let (name, values) = (text.name.clone(), values.collect());
        let classes = Some(Classes { negative, positive: positive.clone() });
        Ok(Target { name, values, classes, labels: Vec::new() })
    }
}

/// The places of texts among the names of classes; no number where a text is none of them.
fn many_classes(table: &Table, text: &TextColumn, labels: Vec<String>) -> Target {
    let place = |i: usize| labels.iter().position(|label| text.get(i).is_some_and(|own| same_level(own, label)));
    let values = (0..table.rows()).map(|i| place(i).map_or(f64::NAN, |k| k as f64)).collect();
    Target { name: text.name.clone(), values, classes: None, labels }
}

/// A column of numbers or of texts without gaps.
fn beside(table: &Table, position: usize) -> Result<Apart> {
    let Place::Text(t) = table.place(position) else {
        let values = numbers(table, position, "events, entries and strata")?;
        return Ok(Apart { name: table.name(position), values, levels: None });
    };
    let (name, text) = (table.name(position), &table.texts[t]);
    if let Some(gap) = table.gaps.get(&position) {
        return Err(table.missing(&name, gap, "; it must be known in every row").into());
    }
    let mut levels: Vec<String> = text.levels.to_vec();
    levels.sort();
    let place = |i: usize| text.get(i).and_then(|level| levels.iter().position(|l| l == level)).unwrap_or(0) as f64;
    let values = (0..table.rows()).map(place).collect();
    Ok(Apart { name, values, levels: Some(levels) })
}

/// A column of numbers without gaps.
fn numbers(table: &Table, position: usize, role: &str) -> Result<Vec<f64>> {
    let name = table.name(position);
    if let Some(gap) = table.gaps.get(&position) {
        return Err(table.missing(&name, gap, &format!("; {role} must be known in every row")).into());
    }
    match table.place(position) {
        Place::Number(j) => Ok(table.numbers.column(j).into_owned()),
        Place::Text(t) => {
            let value = table.texts[t].get(0).unwrap_or_default();
            let problem = format!("{} is not a number, as {role} must be", quoted(value));
            Err(FileError::new(&table.source, problem).in_column(name).into())
        }
    }
}

/// The logarithms of an exposure.
fn logarithms(table: &Table, position: usize) -> Result<Vec<f64>> {
    let values = numbers(table, position, "the exposure")?;
    if let Some(row) = values.iter().position(|e| !(*e > 0.0 && e.is_finite())) {
        let problem = format!("the exposure is {}; it must be above 0 and finite", values[row]);
        let mut error = FileError::new(&table.source, problem).in_column(table.name(position));
        error.line = table.first_line.map(|line| line + row as u64);
        error.row = Some(row as u64 + 1).filter(|_| error.line.is_none());
        return Err(error.into());
    }
    Ok(values.into_iter().map(f64::ln).collect())
}

impl Table {
    /// Leaves out the columns at these positions.
    pub(crate) fn remove(&mut self, mut positions: Vec<usize>) {
        positions.sort_unstable();
        positions.dedup();
        if positions.is_empty() {
            return;
        }
        let count = self.columns();
        let gone = |position: &usize| positions.binary_search(position).is_ok();
        let shifted = |position: usize| position - positions.partition_point(|p| *p < position);
        let keep: Vec<usize> = (0..self.numbers.columns()).filter(|&j| !gone(&self.position_of_number(j))).collect();
        if keep.len() < self.numbers.columns() {
            self.numbers.keep_columns(&keep);
            self.names.keep(&keep);
        }
        self.gaps = self.gaps.iter().filter(|g| !gone(g.0)).map(|(k, g)| (shifted(*k), *g)).collect();
        self.texts.retain(|t| !gone(&t.position));
        self.texts.iter_mut().for_each(|t| t.position = shifted(t.position));
        debug_assert_eq!(self.columns() + positions.len(), count);
    }
}
