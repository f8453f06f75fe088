//! What was done to the data and what is left out of them, in sentences.

use super::Loaded;
use super::load::counted;
use bestset_data::Usual;

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
            // A name for each sample says nothing of another one.
            if levels > 1 && levels + 1 == self.set.rows() {
                notes.push(format!(
                    "{column} has another text in every row, as names of samples do: --drop {column} leaves it out."
                ));
            }
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
        // A line of a terminal.
        const SHOWN: usize = 8;
        let mut names: Vec<String> = constant.iter().take(SHOWN).map(|&j| self.name(j)).collect();
        if constant.len() > SHOWN {
            names.push(format!("{} more", constant.len() - SHOWN));
        }
        match &names[..] {
            [] => None,
            [one] => Some(format!("Left out: {one} is constant.")),
            [most @ .., last] => Some(format!("Left out: {} and {last} are constant.", most.join(", "))),
        }
    }

    /// What the proof took for exact though the columns may differ in their last digits, a sentence each.
    pub fn dependences(&self, dependent: &[Vec<usize>]) -> Vec<String> {
        let sentence = |names: Vec<String>| match &names[..] {
            [] => String::new(),
            [one] => format!("{one} is constant but for rounding, and was left out."),
            [most @ .., last] => format!(
                "{} and {last} are combinations of each other but for rounding: subsets with all of them were taken to fit no \
                     better than with one less.",
                most.join(", ")
            ),
        };
        self.names_of(dependent).into_iter().map(sentence).collect()
    }
}
