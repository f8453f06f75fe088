//! Tables of traits and covariates: a header with FID and IID, or IID alone, and a line a person, in any order.

use super::fam::Person;
use super::lines::{Divider, each, is_missing};
use crate::error::{FileError, Result, quoted};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// A line of a table: its number, and its fields behind the names of the person.
type Line = (u64, Vec<String>);

/// A table by the names of people.
pub struct Traits {
    path: PathBuf,
    names: Vec<String>,
    /// Whether the names of families count.
    families: bool,
    rows: HashMap<(String, String), Line>,
}

impl Traits {
    pub fn read(path: &Path) -> Result<Self> {
        let mut layout: Option<(Divider, Vec<String>, bool)> = None;
        let mut rows = HashMap::new();
        each(path, |line, text| {
            let bad = |problem: String| FileError::new(path, problem).at_line(line);
            let Some((divider, header, families)) = &layout else {
                layout = Some(head(text).map_err(bad)?);
                return Ok(());
            };
            let fields = divider.fields(text);
            if fields.len() != header.len() {
                let problem = format!("has {} fields, the first line {}", fields.len(), header.len());
                return Err(bad(problem).into());
            }
            let first = 1 + usize::from(*families);
            let family = if *families { fields[0] } else { "" };
            let key = (family.to_owned(), fields[first - 1].to_owned());
            let values = fields[first..].iter().map(|f| (*f).to_owned()).collect();
            if let Some((before, _)) = rows.insert(key.clone(), (line, values)) {
                let who =
                    if *families { format!("FID {}, IID {}", quoted(key.0), quoted(key.1)) } else { quoted(key.1) };
                return Err(bad(format!("{who} has been there before, on line {before}")).into());
            }
            Ok(())
        })?;
        let Some((_, header, families)) = layout else {
            return Err(FileError::new(path, "the file is empty").into());
        };
        let names = header[1 + usize::from(families)..].to_vec();
        if let Some(k) = (1..names.len()).find(|&k| names[..k].contains(&names[k])) {
            return Err(FileError::new(path, format!("two columns have the name {}", quoted(&names[k])))
                .at_line(1)
                .into());
        }
        Ok(Self { path: path.to_owned(), names, families, rows })
    }

    /// For each person the line and the fields of the table.
    fn joined<'t>(&'t self, people: &[Person]) -> Result<Vec<Option<&'t Line>>> {
        let key = |p: &Person| (if self.families { p.family.clone() } else { String::new() }, p.name.clone());
        if !self.families {
            let mut seen = HashMap::new();
            if let Some(twice) = people.iter().find(|p| seen.insert(&p.name, ()).is_some()) {
                let problem = format!(
                    "has IID alone, and two people of the .fam file have the IID {}: give the table a column FID as well",
                    quoted(&twice.name)
                );
                return Err(FileError::new(&self.path, problem).into());
            }
        }
        Ok(people.iter().map(|p| self.rows.get(&key(p))).collect())
    }

    /// The trait of this name, or the only one.
    pub fn column(&self, name: Option<&str>, people: &[Person]) -> Result<(String, Vec<Option<String>>)> {
        let listed = || self.names.iter().take(10).map(quoted).collect::<Vec<_>>().join(", ");
        let bad = |problem: String| FileError::new(&self.path, problem);
        let at = match (name, &self.names[..]) {
            (Some(name), names) => names.iter().position(|n| n == name),
            (None, [_]) => Some(0),
            (None, []) => return Err(bad("there is no column beside the names of people".to_owned()).into()),
            (None, _) => {
                return Err(bad(format!("has several traits: --pheno-name says which of {}", listed())).into());
            }
        };
        let Some(at) = at else {
            return Err(bad(format!("there is no trait {}; there are {}", quoted(name.unwrap_or("")), listed())).into());
        };
        let known = |row: Option<&Line>| row.map(|r| r.1[at].clone()).filter(|v| !is_missing(v));
        Ok((self.names[at].clone(), self.joined(people)?.into_iter().map(known).collect()))
    }

    /// All columns as numbers, NaN where one is not known.
    pub fn numbers(&self, people: &[Person]) -> Result<(Vec<String>, Vec<Vec<f64>>)> {
        let columns = (0..self.names.len()).map(|k| self.numbers_at(k, people)).collect::<Result<_>>()?;
        Ok((self.names.clone(), columns))
    }

    /// The column of this name as numbers, NaN where one is not known.
    pub fn number(&self, name: &str, people: &[Person]) -> Result<Vec<f64>> {
        match self.names.iter().position(|n| n == name) {
            Some(at) => self.numbers_at(at, people),
            None => {
                let listed = self.names.iter().take(10).map(quoted).collect::<Vec<_>>().join(", ");
                let problem = format!("there is no column {}; there are {listed}", quoted(name));
                Err(FileError::new(&self.path, problem).into())
            }
        }
    }

    fn numbers_at(&self, k: usize, people: &[Person]) -> Result<Vec<f64>> {
        let number = |row: &Option<&Line>| -> Result<f64> {
            let Some((line, fields)) = row else { return Ok(f64::NAN) };
            match fields[k].parse::<f64>() {
                _ if is_missing(&fields[k]) => Ok(f64::NAN),
                Ok(value) if value.is_finite() => Ok(value),
                _ => {
                    let problem = format!(
                        "{} is not a number, as covariates, weights and offsets must be: code a category as columns of 0 and 1",
                        quoted(&fields[k])
                    );
                    Err(FileError::new(&self.path, problem).at_line(*line).in_column(&self.names[k]).into())
                }
            }
        };
        self.joined(people)?.iter().map(number).collect()
    }
}

/// How the table is divided, the names of its columns, and whether there are families.
fn head(text: &str) -> std::result::Result<(Divider, Vec<String>, bool), String> {
    let divider = Divider::of(text);
    let fields = divider.fields(text.trim_start_matches('#'));
    let is = |k: usize, name: &str| fields.get(k).is_some_and(|f| f.eq_ignore_ascii_case(name));
    let families = is(0, "FID") && is(1, "IID");
    if !families && !is(0, "IID") {
        return Err(format!(
            "the first line must name the columns, FID and IID or IID alone first; it begins with {}",
            quoted(fields.first().unwrap_or(&""))
        ));
    }
    Ok((divider, fields.iter().map(|f| (*f).to_owned()).collect(), families))
}
