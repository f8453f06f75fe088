//! Errors of the engine as users count: files, names of columns, lines and rows from one, and what to do on the command line.

use super::Loaded;
use crate::exit::Failure;
use bestset::Error;
use bestset::shown::power_of_ten;
use bestset_data::FileError;

/// An error that speaks of columns and samples by number says their names and places.
pub fn with_names(failure: Failure, data: &Loaded) -> Failure {
    match failure {
        Failure::Problem(error) => named(&error, data).map_or(Failure::Problem(error), Failure::Message),
        other => other,
    }
}

/// An error in the names of the data, if it speaks of columns or of samples.
pub fn named(error: &Error, data: &Loaded) -> Option<String> {
    of_columns(error, data).or_else(|| of_samples(error, data))
}

/// Of columns.
fn of_columns(error: &Error, data: &Loaded) -> Option<String> {
    let list = |columns: &[usize]| columns.iter().map(|&j| data.name(j)).collect::<Vec<_>>().join(", ");
    let in_column = |j: usize, problem: String| FileError::new(&data.set.source, problem).in_column(data.name(j));
    match error {
        Error::InFile { cause, .. } => of_columns(cause, data),
        Error::NonFiniteDesign { row, column, value } => {
            let problem = format!(
                "{value} is not finite, as every entry must be: fill it in, or leave out its row or its column"
            );
            Some(in_column(*column, problem).at_row(*row as u64 + 1).to_string())
        }
        Error::Overflow { column, value } => {
            let drop = if data.disk.is_some() { String::new() } else { format!(" (--drop {})", data.name(*column)) };
            let problem = format!(
                "its largest value is {value:e}, and the sum of its squares overflows; divide it by {:e}, or leave it out{drop}",
                power_of_ten(*value)
            );
            Some(in_column(*column, problem).to_string())
        }
        Error::Dependent { column, others, share } => Some(format!(
            "{} is nearly a combination of {}: {share:.1e} of its square is left without; leave one of them out (--drop), or give a \
             --lambda2 above 0",
            data.name(*column),
            if others.is_empty() { "others".to_owned() } else { list(others) }
        )),
        Error::Flat { column } => Some(format!(
            "{} is constant but for its last digits, of which nothing is made; leave it out (--drop), or give it with a constant \
             subtracted",
            data.name(*column)
        )),
        Error::Dependences { columns, most } => Some(format!(
            "{} are combinations of each other, and there are more such lists: leaving out one of each makes more than {most} \
             families of subsets; drop copies of columns, and one column of every category (--drop), or give a --lambda2 above 0",
            list(columns)
        )),
        Error::PartlyFree { free, other } => Some(format!(
            "{} costs nothing (--always, or a price of 0), but {} of the same category does not: a category is in or out as a whole; \
             name all of its levels or none, or give --no-groups",
            data.name(*free),
            data.name(*other)
        )),
        _ => None,
    }
}

/// Of samples.
fn of_samples(error: &Error, data: &Loaded) -> Option<String> {
    let target = &data.target.name;
    match error {
        Error::Target { index, value, loss, range } => {
            let problem = format!("the value is {value}; the {loss} loss needs targets {range}");
            Some(data.fault("y", *index, problem))
        }
        Error::Time { index, value } => {
            Some(data.fault("y", *index, format!("the time is {value}; times must be at least 0")))
        }
        Error::Entry { index, entry, time } => {
            Some(data.fault("y", *index, format!("the entry is {entry}, not before {target} {time}; it must be")))
        }
        Error::NegativeWeight { index, value } => {
            let problem = format!("the weight is {value}; weights must be at least 0, and 0 leaves a row out");
            Some(data.fault("weight", *index, problem))
        }
        Error::NoWeight { count } => {
            let column = data.weights.as_deref().unwrap_or("weights");
            Some(format!("all {count} values of {column}, the weights, are 0; one at least must be above 0"))
        }
        Error::NonFinite { what: what @ ("y" | "weight" | "offset"), index, value } => {
            Some(data.fault(what, *index, format!("{value} is not finite, as it must be in every row that is used")))
        }
        Error::TooLarge { what: "y", index, value } if data.scaling.is_some() => {
            let own = data.scaling.map_or(*value, |scaling| scaling.undo(*value));
            let problem = format!(
                "the value is {own:e}, which --scale-target makes {value:e}, and sums of squares overflow; scale it to smaller numbers"
            );
            Some(data.fault("y", *index, problem))
        }
        Error::TooLarge { what: what @ ("y" | "weight" | "offset"), index, value } => {
            let power = power_of_ten(*value);
            let problem = format!("the value is {value:e}, and sums of squares overflow; divide the column by {power:e}");
            Some(data.fault(what, *index, problem))
        }
        Error::EmptyClass { class } => data.target.labels.get(*class).map(|label| {
            format!(
                "class {label:?} of {target} has no sample with a weight above 0; leave the class out, or keep samples of it in every fold"
            )
        }),
        _ => None,
    }
}

impl Loaded {
    /// What is wrong with the target, the weight or the offset of sample i, with its place.
    fn fault(&self, what: &str, i: usize, problem: String) -> String {
        let (column, is_own) = match what {
            "weight" => (self.weights.as_deref().unwrap_or("weights"), self.has_own_table),
            "offset" => (self.offset.as_deref().unwrap_or("offset"), self.has_own_table),
            _ => (self.target.name.as_str(), true),
        };
        match &self.target_file {
            Some(file) if is_own => FileError::new(file, problem).in_column(column).at_row(i as u64 + 1).to_string(),
            _ if self.set.variants().is_empty() => self.set.fault(column, i, problem).to_string(),
            // People of a cohort may be in other orders in other files.
            _ => {
                let problem = format!("{problem}; the person is number {} of those used", i + 1);
                FileError::new(&self.set.source, problem).in_column(column).to_string()
            }
        }
    }
}
