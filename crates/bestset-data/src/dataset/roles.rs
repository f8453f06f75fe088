//! Which column is what.

use super::{Classes, Impute, Target};
use crate::error::{FileError, Result};
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
    /// Weights of the samples.
    pub weights: Option<String>,
    /// Fixed part of the linear predictor.
    pub offset: Option<String>,
    /// Columns to be left out.
    pub drop: Vec<String>,
    /// The class that +1 stands for; `None` for the later one in the alphabet.
    pub positive: Option<String>,
    /// What becomes of missing values.
    pub impute: Impute,
    /// Levels of columns of texts that are known already, for data that a model is applied to; the first is the reference.
    pub levels: BTreeMap<String, Vec<String>>,
    /// Values that take the place of missing ones, for data that a model is applied to.
    pub means: BTreeMap<String, f64>,
    /// Most levels of a column of texts.
    pub most_levels: usize,
}

impl Default for Roles {
    fn default() -> Self {
        Self {
            target: None,
            needs_target: true,
            weights: None,
            offset: None,
            drop: Vec::new(),
            positive: None,
            impute: Impute::No,
            levels: BTreeMap::new(),
            means: BTreeMap::new(),
            most_levels: MOST_LEVELS,
        }
    }
}

/// What was taken out of the table.
pub struct Assigned {
    pub target: Option<Target>,
    pub weights: Option<Vec<f64>>,
    pub offset: Option<Vec<f64>>,
}

impl Roles {
    /// Takes target, weights, offset and what is dropped out of the table.
    pub fn assign(&self, table: &mut Table) -> Result<Assigned> {
        let drop: Vec<usize> = self.drop.iter().map(|name| table.find(name)).collect::<Result<_>>()?;
        let target = self.target_position(table)?;
        let weights = self.weights.as_deref().map(|name| table.find(name)).transpose()?;
        let offset = self.offset.as_deref().map(|name| table.find(name)).transpose()?;
        let wanted = [("target", target), ("weights", weights), ("offset", offset)];
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
                None => table.label.take().map(|Label { name, values }| Target { name, values, classes: None }),
            },
            weights: weights.map(|position| numbers(table, position, "weights")).transpose()?,
            offset: offset.map(|position| numbers(table, position, "the offset")).transpose()?,
        };
        if self.needs_target && found.target.is_none() {
            let problem = format!(
                "the target is not known: name its column with --target (there are {} columns, {:?} to {:?})",
                table.columns(),
                table.name(0),
                table.name(table.columns().saturating_sub(1)),
            );
            return Err(FileError::new(&table.source, problem).into());
        }
        table.remove(drop.into_iter().chain([target, weights, offset].into_iter().flatten()).collect());
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
        if let Some(gap) = table.gaps.get(&position).filter(|_| self.needs_target) {
            return Err(table.missing(&name, gap, "; the target must be known in every row").into());
        }
        match table.place(position) {
            Place::Number(j) => Ok(Target { name, values: table.numbers.column(j).into_owned(), classes: None }),
            Place::Text(t) => self.classes_of(table, &table.texts[t]),
        }
    }

    fn classes_of(&self, table: &Table, text: &TextColumn) -> Result<Target> {
        let bad = |problem: String| FileError::new(&table.source, problem).in_column(&text.name);
        let mut levels: Vec<&String> = text.levels.iter().collect();
        levels.sort();
        let [mut negative, mut positive] = levels[..] else {
            let shown: Vec<String> = levels.iter().take(4).map(|l| format!("{l:?}")).collect();
            let count = levels.len();
            return Err(
                bad(format!("a target of texts needs two classes; it has {count}: {}", shown.join(", "))).into()
            );
        };
        if let Some(wanted) = &self.positive {
            if negative == wanted {
                std::mem::swap(&mut negative, &mut positive);
            } else if positive != wanted {
                return Err(
                    bad(format!("the positive class {wanted:?} is none of {negative:?} and {positive:?}")).into()
                );
            }
        }
        let values = (0..table.rows()).map(|i| match text.get(i) {
            Some(level) if level == positive => 1.0,
            Some(_) => -1.0,
            None => f64::NAN,
        });
        let classes = Some(Classes { negative: negative.clone(), positive: positive.clone() });
        Ok(Target { name: text.name.clone(), values: values.collect(), classes })
    }
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
            let problem = format!("{value:?} is not a number, as {role} must be");
            Err(FileError::new(&table.source, problem).in_column(name).into())
        }
    }
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
