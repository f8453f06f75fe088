//! What was done to the data and what is left out of them, in sentences.

use super::Loaded;
use super::load::counted;
use bestset::design::names_said;
use bestset_data::{Names, Usual};

impl Loaded {
    /// Remarks on what was done to the data, one sentence each.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        for category in &self.set.categories {
            let levels = category.levels.len();
            let whole = if levels > 1 && !self.no_groups { ", chosen as a whole" } else { "" };
            let indicators = if levels == 1 { "indicator" } else { "indicators" };
            let (column, reference) = (&category.column, &category.reference);
            notes.push(format!("Category {column}: {levels} {indicators} against {reference:?}{whole}."));
        }
        // A name for each sample says nothing of another one.
        let is_name = |levels: usize| levels > 1 && levels + 1 == self.set.rows();
        let names: Vec<&str> =
            self.set.categories.iter().filter(|c| is_name(c.levels.len())).map(|c| c.column.as_str()).collect();
        match &names[..] {
            [] => {}
            [one] => notes.push(format!(
                "{one} has another text in every row, as names of samples do: --drop {one} leaves it out."
            )),
            many => notes.push(format!(
                "{} have another text in every row, as names of samples do: --drop {} leaves them out.",
                listed(many),
                many.join(",")
            )),
        }
        notes.extend(self.set.imputed.iter().map(|imputed| {
            let (values, column) = (counted(imputed.count, "missing value"), &imputed.column);
            match &imputed.value {
                Usual::Mean(_) => format!("{values} of {column} became its mean."),
                Usual::Text(text) => format!("{values} of {column} became {text:?}, its most frequent text."),
            }
        }));
        if self.set.without_target > 0 {
            notes.push(format!("Left out: {} without a target.", counted(self.set.without_target, "row")));
        }
        if self.set.incomplete > 0 {
            notes.push(format!("Left out: {} with a missing value.", counted(self.set.incomplete, "row")));
        }
        notes.extend(self.set.remarks.iter().cloned());
        let source = &self.set.source;
        let is_array = source.file_name().is_some_and(|name| name.to_string_lossy().contains(".npy"));
        if is_array && matches!(self.set.names, Names::Listed(_)) {
            notes.push(names_said(source));
        }
        if let Some(scaling) = &self.scaling {
            notes.push(format!("The target was scaled: {} became {}.", scaling.from, scaling.low));
        }
        notes
    }

    /// The names of features taken for combinations of each other.
    pub fn names_of(&self, dependent: &[Vec<usize>]) -> Vec<Vec<String>> {
        dependent.iter().map(|features| features.iter().map(|&j| self.name(j)).collect()).collect()
    }

    /// Which features were left out because they are constant, in a sentence; the first of many.
    pub fn left_out(&self, constant: &[usize]) -> Option<String> {
        match constant.len() {
            0 => None,
            1 => Some(format!("Left out: {} is constant.", self.some(constant))),
            _ => Some(format!("Left out: {} are constant.", self.some(constant))),
        }
    }

    /// What the proof took for exact though the columns may differ in their last digits, a sentence each.
    pub fn dependences(&self, dependent: &[Vec<usize>]) -> Vec<String> {
        let flat: Vec<usize> = dependent.iter().filter(|list| list.len() == 1).map(|list| list[0]).collect();
        let constant = match flat.len() {
            0 => None,
            1 => Some(format!("{} is constant but for rounding, and was left out.", self.some(&flat))),
            _ => Some(format!("{} are constant but for rounding, and were left out.", self.some(&flat))),
        };
        let together = |names: &Vec<String>| {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            format!(
                "{} are combinations of each other but for rounding: subsets with all of them were taken to fit no better than with \
                 one less.",
                listed(&names)
            )
        };
        let lists = self.names_of(dependent);
        constant.into_iter().chain(lists.iter().filter(|names| names.len() > 1).map(together)).collect()
    }

    /// The first of these features by name, and how many more there are.
    fn some(&self, features: &[usize]) -> String {
        // A line of a terminal.
        const SHOWN: usize = 8;
        let mut names: Vec<String> = features.iter().take(SHOWN).map(|&j| self.name(j)).collect();
        if features.len() > SHOWN {
            names.push(format!("{} more", features.len() - SHOWN));
        }
        listed(&names.iter().map(String::as_str).collect::<Vec<_>>())
    }
}

/// "a, b and c".
fn listed(names: &[&str]) -> String {
    match names {
        [most @ .., last] if !most.is_empty() => format!("{} and {last}", most.join(", ")),
        _ => names.concat(),
    }
}
