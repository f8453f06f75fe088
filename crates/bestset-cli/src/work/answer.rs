//! An answer with all that led to it: the core selects, progress is shown.

use super::fault::named;
use super::{Loaded, Posed, Session};
use crate::args::Terms;
use crate::exit::Failure;
use crate::numbers::{below, number};
use bestset::select::{How, Progress, Remark, Selected, Selection};
use bestset::{ClassCoefficients, Coefficients, Observer, TraceRow};

/// A selection on both scales.
pub struct Answer {
    pub selected: Selected,
    pub terms: Terms,
    /// On the scale of the file.
    pub coefficients: Coefficients,
    /// Those of every class, where there are many.
    pub classes: Option<ClassCoefficients>,
    /// What the user should know, a sentence each.
    pub remarks: Vec<String>,
}

impl Answer {
    pub fn new(posed: &Posed<'_>, selected: Selected) -> Result<Self, Failure> {
        let coefficients = posed.outward(&selected.solution.coefficients);
        let classes = posed.outward_classes(&selected.solution.coefficients)?;
        let sentence = |remark: &Remark| match remark {
            Remark::Unproved(error) => match named(error, posed.data) {
                Some(text) => format!("Not proved: {text}."),
                None => remark.to_string(),
            },
            _ => remark.to_string(),
        };
        let remarks = selected.remarks.iter().map(sentence).collect();
        Ok(Self { terms: posed.terms(&selected), coefficients, classes, remarks, selected })
    }
}

/// Shows rows of a trace as they come, and what was read from disk.
pub struct Show<'s>(pub &'s Session<'s>, pub &'s Loaded);

impl Observer for Show<'_> {
    fn record(&mut self, row: &TraceRow) {
        let (p, d) = (number(row.objective), below(row.lower_bound));
        self.0.progress.say(format!("P {p}, bound {d}, {} features{}", row.support, self.1.read_so_far()));
    }
}

/// The model, with its progress shown.
pub fn select(posed: &Posed<'_>, options: &Selection, session: &Session<'_>) -> Result<Answer, Failure> {
    let bar = &session.progress;
    let about = |text: &str| bar.start(text.to_owned());
    match &options.how {
        How::CrossValidation(_) => about("cross-validation"),
        How::Criterion(_) => about("path"),
        How::Size(k) => bar.start(format!("looking for the best {k} features")),
        How::Price(_) => about("solving"),
    }
    let show = |progress: Progress| match progress {
        Progress::Path(size) => bar.say(format!("path: {size} features{}", posed.data.read_so_far())),
        Progress::Folds(done, all) => {
            bar.say(format!("cross-validation: {done} of {all} folds{}", posed.data.read_so_far()));
        }
        Progress::Solving => bar.say("solving and proving".to_owned()),
    };
    let selected = posed.select_observed(options, &mut Show(session, posed.data), &show)?;
    Answer::new(posed, selected)
}

/// Categories that are chosen as a whole are not for every command.
pub fn refuse_groups(posed: &Posed<'_>, what: &str) -> Result<(), Failure> {
    if posed.groups().is_none() {
        return Ok(());
    }
    if posed.setup.groups.is_none() {
        return Err(Failure::Message(format!(
            "{what} is not for more than two classes together: use fit, path, cv or exact"
        )));
    }
    let widest = posed.data.set.categories.iter().max_by_key(|c| c.levels.len());
    let (column, levels) = widest.map_or(("", 0), |c| (c.column.as_str(), c.levels.len() + 1));
    Err(Failure::Message(format!(
        "category {column:?} with {levels} levels would be chosen as a whole, which {what} cannot do: \
         give --no-groups to let each level be chosen alone, or use fit, path, cv or report"
    )))
}
