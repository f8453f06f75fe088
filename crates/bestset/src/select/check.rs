//! What a selection could not use is refused, never passed over.

use super::{How, Posed, Selection};
use crate::control::Method;
use crate::error::{Error, Result};
use crate::penalty::Factors;

/// What is to be done with a selection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Task {
    /// A solve at a price.
    Price,
    /// A solve with a largest size.
    Size,
    /// A path and a criterion.
    Criterion,
    /// Paths and samples left out.
    CrossValidation,
    /// A path and no choice.
    Path,
    /// Paths on subsamples.
    Stability,
}

impl Task {
    pub(super) fn of(how: &How) -> Self {
        match how {
            How::Price(_) => Self::Price,
            How::Size(_) => Self::Size,
            How::Criterion(_) => Self::Criterion,
            How::CrossValidation(_) => Self::CrossValidation,
        }
    }

    /// Whether points of a path are judged.
    pub(super) fn is_choice(self) -> bool {
        matches!(self, Self::Criterion | Self::CrossValidation)
    }

    fn place(self) -> &'static str {
        match self {
            Self::Price => "at a price",
            Self::Size => "with a largest size",
            Self::Criterion => "with a criterion",
            Self::CrossValidation => "in cross-validation",
            Self::Path => "along a path",
            Self::Stability => "in stability selection",
        }
    }
}

fn unused<T>(setting: impl Into<String>, place: &'static str, advice: &'static str) -> Result<T> {
    Err(Error::Unused { setting: setting.into(), place, advice })
}

impl Selection {
    /// Refuses settings that the task would pass over.
    pub(super) fn check(&self, posed: &Posed<'_>, task: Task) -> Result<()> {
        self.check_ridges(task)?;
        self.check_groups(posed)?;
        self.check_checkpoint(posed, task)?;
        if self.solve.warm_start.is_some() && !matches!(task, Task::Price | Task::Size) {
            return unused("a warm start", task.place(), "paths start from the null model; give a price or a size");
        }
        Ok(())
    }

    /// Several λ2 are compared by samples left out, or listed along a path; nothing else can tell them apart.
    fn check_ridges(&self, task: Task) -> Result<()> {
        if self.lambda2.len() < 2 || matches!(task, Task::CrossValidation | Task::Path) {
            return Ok(());
        }
        let values: Vec<String> = self.lambda2.iter().map(f64::to_string).collect();
        let advice = "give one value, or let cross-validation compare them";
        unused(format!("lambda2 with the values {}", values.join(", ")), task.place(), advice)
    }

    fn check_groups(&self, posed: &Posed<'_>) -> Result<()> {
        match self.solve.method {
            _ if posed.groups().is_none() => Ok(()),
            Method::Incremental | Method::Exact => Ok(()),
            other => {
                let advice = "groups are selected by method incremental or exact";
                unused(format!("method {}", other.name()), "with groups", advice)
            }
        }
    }

    fn check_checkpoint(&self, posed: &Posed<'_>, task: Task) -> Result<()> {
        let Some(file) = &self.checkpoint else { return Ok(()) };
        let setting = || format!("the checkpoint {}", file.display());
        match task {
            Task::Price | Task::Size if self.solve.method != Method::Exact => {
                let advice = "a single solve has nothing to go on from; leave it out, or use method exact";
                unused(setting(), task.place(), advice)
            }
            Task::Criterion | Task::Path if posed.groups().is_some() => {
                unused(setting(), "for a path with groups", "it cannot go on from a file; leave it out")
            }
            Task::Price | Task::Size if posed.groups().is_some() => {
                unused(setting(), "for branch and bound over groups", "it cannot go on from a file; leave it out")
            }
            Task::Stability => unused(setting(), task.place(), "it cannot go on from a file; leave it out"),
            _ => Ok(()),
        }
    }
}

impl Posed<'_> {
    /// Refuses a size where features differ in price: a size counts every feature the same, whatever it costs.
    pub(super) fn check_counted(&self) -> Result<()> {
        let is_size = |(members, price): (&Vec<usize>, &f64)| *price == members.len() as f64;
        let are_sizes = self.setup.groups.as_ref().is_none_or(|g| g.members.iter().zip(&g.prices).all(is_size));
        if self.setup.always.is_empty() && self.setup.price == Factors::One && are_sizes {
            return Ok(());
        }
        let place = "where features are always in, or features or groups have prices of their own";
        let advice = "it counts every feature the same; give a price, a criterion or cross-validation, or leave out always and prices";
        unused("a largest size", place, advice)
    }
}
