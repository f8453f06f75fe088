//! Columns of texts as indicators, and values in place of missing ones.

use super::{Impute, Imputed, Roles, Usual};
use crate::error::{FileError, Result, quoted};
use crate::levels::level_key;
use crate::matrix::Matrix;
use crate::table::{Gap, Table, TextColumn};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// The features made of a column of texts: one for each level but the reference, side by side.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Category {
    /// The column.
    pub column: String,
    /// The level without a feature.
    pub reference: String,
    /// The levels with a feature, named `column=level`.
    pub levels: Vec<String>,
    /// The first of these features.
    pub first: usize,
    /// The most frequent text of the column; models of older versions do not have it.
    #[serde(default)]
    pub usual: Option<String>,
}

impl Category {
    /// Its features.
    pub fn features(&self) -> std::ops::Range<usize> {
        self.first..self.first + self.levels.len()
    }
}

/// Takes the texts out of the table and adds their indicators. A column that a model knows as texts is one, also where this file
/// has numbers alone in it, or nothing.
pub fn encode(table: &mut Table, roles: &Roles) -> Result<(Vec<Category>, Vec<Imputed>)> {
    for column in roles.levels.keys() {
        if let Some(j) = table.names.find(column, table.numbers.columns()) {
            table.number_as_text(j);
        }
    }
    let texts = std::mem::take(&mut table.texts);
    if texts.is_empty() {
        return Ok((Vec::new(), Vec::new()));
    }
    // Positions of gaps are those of the file with its texts: from here on they are those of the numbers.
    let (mut categories, mut imputed, gaps) = (Vec::new(), Vec::new(), std::mem::take(&mut table.gaps));
    let mut names = table.names.list(table.numbers.columns());
    for text in &texts {
        let mut levels = levels_of(table, text, roles)?;
        if levels.is_empty() {
            return Err(FileError::new(&table.source, "the column is empty").in_column(&text.name).into());
        }
        let reference = levels.remove(0);
        let usual = usual(text);
        let own = || usual.clone().map(Usual::Text);
        let filled = gaps.get(&text.position).map(|gap| filling(table, &text.name, gap, roles, own)).transpose()?;
        let value = match filled.as_ref().map(|filled| &filled.value) {
            Some(Usual::Text(value)) => value,
            _ => &reference,
        };
        let codes = codes(table, text, &reference, &levels, value)?;
        let first = names.len();
        let column = |level: usize| codes.iter().map(move |c| f64::from(u8::from(*c == level + 1))).collect();
        table.numbers.append(&(0..levels.len()).map(column).collect::<Vec<Vec<f64>>>());
        names.extend(levels.iter().map(|level| format!("{}={level}", text.name)));
        categories.push(Category { column: text.name.clone(), reference, levels, first, usual });
        imputed.extend(filled);
    }
    for (position, gap) in gaps {
        if let Err(before) = texts.binary_search_by_key(&position, |t| t.position) {
            table.gaps.insert(position - before, gap);
        }
    }
    table.names = crate::Names::Listed(names);
    Ok((categories, imputed))
}

/// What can be done about missing values of a feature.
const MISSING_ADVICE: &str = "; drop the column (--drop), the rows (--drop-missing), or give --impute mean";

/// The same of a model that needs the column and is applied to every row.
const UNKNOWN_ADVICE: &str =
    "; the model needs it in every row: --impute puts what was usual in the data of the fit in its place";

/// What takes the place of the missing values of a column: what is usual in it, or was in the data of the fit.
fn filling(
    table: &Table,
    column: &str,
    gap: &Gap,
    roles: &Roles,
    own: impl FnOnce() -> Option<Usual>,
) -> Result<Imputed> {
    let value = match roles.impute {
        Impute::No => {
            let advice = if roles.needs_features { MISSING_ADVICE } else { UNKNOWN_ADVICE };
            return Err(table.missing(column, gap, advice).into());
        }
        Impute::Mean => own().ok_or("; the column has no value at all: drop it"),
        Impute::Known => roles.usual.get(column).cloned().ok_or(
            "; the model file does not say what was usual in the data of the fit: `bestset fit` of this version, and no older one, saves it",
        ),
    };
    let value = value.map_err(|advice| table.missing(column, gap, advice))?;
    Ok(Imputed { column: column.to_owned(), count: gap.count, value })
}

/// The levels known from a model, or those of the data in the order of the alphabet.
fn levels_of(table: &Table, text: &TextColumn, roles: &Roles) -> Result<Vec<String>> {
    if let Some(known) = roles.levels.get(&text.name) {
        return Ok(known.clone());
    }
    let count = text.levels.len();
    if count > roles.most_levels {
        let problem = format!(
            "{count} different texts such as {}, more than {}: drop the column (--drop {}) or allow more (--max-levels)",
            quoted(&text.levels[0]),
            roles.most_levels,
            text.name
        );
        return Err(FileError::new(&table.source, problem).in_column(&text.name).into());
    }
    let mut levels = text.levels.clone();
    levels.sort();
    Ok(levels)
}

/// The most frequent text, the first of equals.
fn usual(text: &TextColumn) -> Option<String> {
    let mut counts = vec![0usize; text.levels.len()];
    for &code in text.codes.iter().filter(|c| **c != TextColumn::MISSING) {
        counts[code as usize] += 1;
    }
    let most = (0..counts.len()).rev().max_by_key(|&k| counts[k])?;
    Some(text.levels[most].clone())
}

/// 0 for the reference, k + 1 for level k; what is missing has the code of `filled`.
fn codes(table: &Table, text: &TextColumn, reference: &str, levels: &[String], filled: &str) -> Result<Vec<usize>> {
    let all = std::iter::once(reference).chain(levels.iter().map(String::as_str));
    let places: HashMap<String, usize> = all.enumerate().map(|(k, l)| (level_key(l).into_owned(), k)).collect();
    let place = |level: &str| places.get(level_key(level).as_ref()).copied();
    let known: Vec<Option<usize>> = text.levels.iter().map(|level| place(level)).collect();
    let code = |(row, &code): (usize, &u32)| {
        let found =
            if code == TextColumn::MISSING { place(filled) } else { known.get(code as usize).copied().flatten() };
        found.ok_or_else(|| {
            let value = text.levels.get(code as usize).map_or(filled, String::as_str);
            let problem = format!("the model does not know the level {}", quoted(value));
            let mut error = FileError::new(&table.source, problem);
            error.line = table.first_line.map(|line| line + row as u64);
            error.at_row(row as u64 + 1).in_column(&text.name).into()
        })
    };
    text.codes.iter().enumerate().map(code).collect()
}

/// Puts means in place of missing numbers, or refuses them.
pub fn impute(table: &mut Table, roles: &Roles) -> Result<Vec<Imputed>> {
    let gaps = std::mem::take(&mut table.gaps);
    let mut imputed = Vec::new();
    for (j, gap) in gaps {
        let name = table.names.get(j);
        let mean = || {
            let column = table.numbers.column(j);
            let known = || column.iter().filter(|x| !x.is_nan());
            let count = known().count();
            (count > 0).then(|| Usual::Mean(known().sum::<f64>() / count as f64))
        };
        let filled = filling(table, &name, &gap, roles, mean)?;
        let (Matrix::Dense { rows, data, .. }, Usual::Mean(mean)) = (&mut table.numbers, &filled.value) else {
            return Err(FileError::new(&table.source, "a value is not a number").in_column(name).into());
        };
        let column = &mut data[j * *rows..(j + 1) * *rows];
        column.iter_mut().filter(|x| x.is_nan()).for_each(|x| *x = *mean);
        imputed.push(filled);
    }
    Ok(imputed)
}
