//! What errors say of columns, folds and sizes, and what is asked of them.

use crate::error::Error;

/// Columns that are named: a line of a terminal.
const SHOWN: usize = 8;

impl Error {
    /// The same of a matrix of which the columns from `first` on were looked at.
    pub(crate) fn in_columns_from(self, first: usize) -> Self {
        match self {
            Self::NonFiniteDesign { row, column, value } => {
                Self::NonFiniteDesign { row, column: column + first, value }
            }
            Self::Overflow { column, value } => Self::Overflow { column: column + first, value },
            other => other,
        }
    }

    /// The columns that it speaks of by number, the first few: those who know their names may say them.
    pub fn columns(&self) -> Vec<usize> {
        let mut columns = match self {
            Self::InFile { cause, .. } | Self::Unprovable { cause, .. } => cause.columns(),
            Self::NonFiniteDesign { column, .. } | Self::Overflow { column, .. } | Self::Flat { column } => {
                vec![*column]
            }
            Self::Bounds { feature, .. } => vec![*feature],
            // Prices of groups are counted by group.
            Self::Factor { name, feature, .. } if *name != "group price" => vec![*feature],
            Self::PartlyFree { free, other } => vec![*free, *other],
            Self::Dependent { column, others, .. } => [&[*column], &others[..]].concat(),
            Self::Dependences { columns, .. } => columns.clone(),
            _ => Vec::new(),
        };
        columns.truncate(SHOWN);
        columns
    }

    /// Whether columns could not be read, or not to the end: what there was before still stands.
    pub fn is_of_reading(&self) -> bool {
        matches!(self, Self::Read { .. } | Self::Stopped)
    }
}

/// What to do about an entry that is not finite, where it is of a sample.
pub(super) fn remedy(what: &str) -> &'static str {
    match what {
        "y" | "weight" | "offset" | "time" | "entry" => ": correct it, or leave out its sample",
        _ => "",
    }
}

/// Whose factor is wrong, in words.
pub(super) fn factor_said(name: &str, feature: usize, value: f64) -> String {
    match name {
        "group price" => format!("the price of group {feature} is {value}; prices must be finite and at least 0"),
        _ => format!("the {name} factor of feature {feature} is {value}; factors must be finite and at least 0"),
    }
}

/// How many parts there may be, in words.
pub(super) fn folds_said(folds: usize, samples: usize) -> String {
    match samples {
        0 | 1 => format!("cross-validation needs two samples at least; there is {samples}"),
        _ => format!("folds is {folds}; it must be at least 2 and at most {samples}, the number of samples"),
    }
}

/// Sizes that a search could serve, in words.
pub(super) fn sizes_up_to(most: usize) -> String {
    if most == 0 { String::new() } else { format!(", ask for at most {most} features") }
}

/// Columns in words, the first few of them.
pub(super) fn listed(columns: &[usize]) -> String {
    let shown: Vec<String> = columns.iter().take(SHOWN).map(usize::to_string).collect();
    match columns.len() {
        0 => "others".to_owned(),
        1 => format!("column {}", shown[0]),
        2..=SHOWN => format!("columns {}", shown.join(", ")),
        count => format!("columns {} and {} more", shown.join(", "), count - SHOWN),
    }
}
