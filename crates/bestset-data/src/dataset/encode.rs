//! Columns of texts as indicators, and values in place of missing ones.

use super::{Impute, Imputed, Roles};
use crate::error::{FileError, Result};
use crate::matrix::Matrix;
use crate::table::{Table, TextColumn};
use serde::{Deserialize, Serialize};

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
}

/// Takes the texts out of the table and adds their indicators.
pub fn encode(table: &mut Table, roles: &Roles) -> Result<Vec<Category>> {
    let texts = std::mem::take(&mut table.texts);
    if texts.is_empty() {
        return Ok(Vec::new());
    }
    // Positions of gaps are those of the file with its texts: from here on they are those of the numbers.
    let (mut categories, gaps) = (Vec::new(), std::mem::take(&mut table.gaps));
    let columns = table.numbers.columns();
    let mut names = table.names.list(columns);
    for text in &texts {
        let gap = gaps.get(&text.position);
        let levels = levels_of(table, text, roles)?;
        let Some((reference, levels)) = levels.split_first() else {
            return Err(FileError::new(&table.source, "the column is empty").in_column(&text.name).into());
        };
        if let Some(gap) = gap.filter(|_| roles.impute == Impute::No) {
            return Err(table.missing(&text.name, gap, "; drop the column or give --impute mean").into());
        }
        let codes = codes(table, text, reference, levels, usual(text))?;
        let first = names.len();
        let column = |level: usize| codes.iter().map(move |c| f64::from(u8::from(*c == level + 1))).collect();
        table.numbers.append(&(0..levels.len()).map(column).collect::<Vec<Vec<f64>>>());
        names.extend(levels.iter().map(|level| format!("{}={level}", text.name)));
        let (column, reference, levels) = (text.name.clone(), reference.clone(), levels.to_vec());
        categories.push(Category { column, reference, levels, first });
    }
    for (position, gap) in gaps {
        if let Err(before) = texts.binary_search_by_key(&position, |t| t.position) {
            table.gaps.insert(position - before, gap);
        }
    }
    table.names = crate::Names::Listed(names);
    Ok(categories)
}

/// The levels known from a model, or those of the data in the order of the alphabet.
fn levels_of(table: &Table, text: &TextColumn, roles: &Roles) -> Result<Vec<String>> {
    if let Some(known) = roles.levels.get(&text.name) {
        return Ok(known.clone());
    }
    let count = text.levels.len();
    if count > roles.most_levels {
        let problem = format!(
            "{count} different texts such as {:?}, more than {}: drop the column (--drop {}) or allow more (--max-levels)",
            text.levels[0], roles.most_levels, text.name
        );
        return Err(FileError::new(&table.source, problem).in_column(&text.name).into());
    }
    let mut levels = text.levels.clone();
    levels.sort();
    Ok(levels)
}

/// The code of the most frequent text, the first of equals.
fn usual(text: &TextColumn) -> u32 {
    let mut counts = vec![0usize; text.levels.len()];
    for &code in text.codes.iter().filter(|c| **c != TextColumn::MISSING) {
        counts[code as usize] += 1;
    }
    (0..counts.len()).rev().max_by_key(|&k| counts[k]).unwrap_or_default() as u32
}

/// 0 for the reference, k + 1 for level k.
fn codes(table: &Table, text: &TextColumn, reference: &str, levels: &[String], usual: u32) -> Result<Vec<usize>> {
    let translate = |level: &String| match level == reference {
        true => Some(0),
        false => levels.iter().position(|l| l == level).map(|k| k + 1),
    };
    let known: Vec<Option<usize>> = text.levels.iter().map(translate).collect();
    let code = |(row, &code): (usize, &u32)| {
        let code = if code == TextColumn::MISSING { usual } else { code };
        known.get(code as usize).copied().flatten().ok_or_else(|| {
            let value = text.levels.get(code as usize).cloned().unwrap_or_default();
            let mut error = FileError::new(&table.source, format!("the model does not know the level {value:?}"));
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
        if roles.impute == Impute::No {
            return Err(table.missing(&name, &gap, "; drop the column or give --impute mean").into());
        }
        let Matrix::Dense { rows, data, .. } = &mut table.numbers else {
            return Err(FileError::new(&table.source, "a value is not a number").in_column(name).into());
        };
        let column = &mut data[j * *rows..(j + 1) * *rows];
        let known = || column.iter().filter(|x| !x.is_nan());
        let count = known().count();
        let own = if count > 0 { known().sum::<f64>() / count as f64 } else { 0.0 };
        let mean = roles.means.get(&name).copied().unwrap_or(own);
        column.iter_mut().filter(|x| x.is_nan()).for_each(|x| *x = mean);
        imputed.push(Imputed { column: name, count: gap.count, mean });
    }
    Ok(imputed)
}
