//! Survival times of columns.

use crate::args::{self, InputArgs, TiesName};
use crate::exit::Failure;
use bestset::{Survival, Ties};
use bestset_data::{Apart, Target};

impl TiesName {
    /// As the core has them.
    pub fn ties(self) -> Ties {
        match self {
            Self::Efron => Ties::Efron,
            Self::Breslow => Ties::Breslow,
        }
    }
}

/// Texts that say that there was no event, and that there was one.
const WORDS: [(&[&str], bool); 2] = [
    (&["0", "false", "no", "n", "f", "censored", "alive"], false),
    (&["1", "true", "yes", "y", "t", "event", "dead", "died", "deceased"], true),
];

/// Times, events, entries and strata; `None` where the target is no time.
pub fn times(input: &InputArgs, target: &Target, apart: &[Apart]) -> Result<Option<Survival>, Failure> {
    let (Some(_), Some((event, others))) = (&input.time, apart.split_first()) else { return Ok(None) };
    if target.classes.is_some() || !target.labels.is_empty() {
        return Err(Failure::Message(format!(
            "--time: column {:?} holds texts, not times; of dates take the days between two of them",
            target.name
        )));
    }
    let mut others = others.iter();
    let entry = input.entry.as_ref().and_then(|_| others.next());
    if let Some(levels) = entry.and_then(|e| e.levels.as_ref()) {
        return Err(Failure::Message(format!("--entry: the column holds texts such as {:?}, not times", levels[0])));
    }
    let strata = input.strata.as_ref().and_then(|_| others.next()).map(numbered);
    let event = match input.event.as_deref().and_then(|text| args::event(text, |name| name == event.name).1) {
        Some(value) => equal(event, value)?,
        None => event.values.iter().map(|value| happened(event, *value)).collect::<Result<_, _>>()?,
    };
    Ok(Some(Survival { time: target.values.clone(), event, entry: entry.map(|e| e.values.clone()), strata }))
}

/// Whether a value says that there was an event.
fn happened(column: &Apart, value: f64) -> Result<bool, Failure> {
    let text = text(column, value);
    let lower = text.to_lowercase();
    let known = WORDS.iter().find(|(words, _)| words.contains(&lower.as_str()));
    known.map(|k| k.1).ok_or_else(|| {
        Failure::Message(format!(
            "column {0:?} holds {text:?}; --event wants 1 and 0, or texts such as yes and no, or the value that says that there was an \
             event: --event {0}=VALUE (the column holds {1})",
            column.name,
            shown(column)
        ))
    })
}

/// Which values are the one that says that there was an event; an error where none is, with those that are there.
fn equal(column: &Apart, value: &str) -> Result<Vec<bool>, Failure> {
    let is = |v: &f64| match column.levels {
        Some(_) => text(column, *v) == value,
        None => value.parse::<f64>().is_ok_and(|value| value == *v),
    };
    let found: Vec<bool> = column.values.iter().map(is).collect();
    if found.contains(&true) {
        return Ok(found);
    }
    let (name, some) = (&column.name, shown(column));
    Err(Failure::Message(format!("--event {name}={value}: column {name:?} holds no {value:?}, but {some}")))
}

/// Some of the values of a column.
fn shown(column: &Apart) -> String {
    let known = distinct(column);
    let some: Vec<String> = known.iter().take(5).map(|v| text(column, *v)).collect();
    some.join(", ") + if known.len() > some.len() { ", ..." } else { "" }
}

/// The values of a column in ascending order, each once.
fn distinct(column: &Apart) -> Vec<f64> {
    let mut known = column.values.clone();
    known.sort_unstable_by(f64::total_cmp);
    known.dedup();
    known
}

/// The place of each value among all of them.
fn numbered(column: &Apart) -> Vec<usize> {
    let known = distinct(column);
    column.values.iter().map(|v| known.partition_point(|k| k.total_cmp(v).is_lt())).collect()
}

/// What a value is called.
fn text(column: &Apart, value: f64) -> String {
    column.levels.as_ref().map_or_else(|| value.to_string(), |levels| levels[value as usize].clone())
}

/// The column of strata and their names, in the order of their numbers; none without strata.
pub fn strata(input: &InputArgs, apart: &[Apart]) -> Option<(String, Vec<String>)> {
    let column = input.strata.as_ref().and_then(|name| apart.iter().find(|a| a.name == *name))?;
    Some((column.name.clone(), distinct(column).into_iter().map(|v| text(column, v)).collect()))
}

/// The numbers of strata by the names that the fit had; an error names one that it had not.
pub fn known_strata(column: &Apart, labels: &[String]) -> Result<Vec<usize>, Failure> {
    let is = |label: &String, value: f64| match column.levels {
        Some(_) => *label == text(column, value),
        None => label.parse::<f64>().is_ok_and(|known| known == value),
    };
    let one = |&value: &f64| {
        labels.iter().position(|label| is(label, value)).ok_or_else(|| {
            let (name, found) = (&column.name, text(column, value));
            Failure::Message(format!(
                "column {name:?} holds {found:?}; the strata of the fit are {}",
                labels.join(", ")
            ))
        })
    };
    column.values.iter().map(one).collect()
}
