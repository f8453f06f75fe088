//! An answer that waits for its page.

use crate::build::{Subject, build};
use bestset::select::{By, Posed, Selected};
use bestset::{CancelFlag, Result};

/// What a session calls its samples.
pub struct About {
    /// Where they come from.
    pub source: String,
    /// The name of what is predicted.
    pub target: String,
    /// Names of the classes in the order of their numbers; none where there are no classes.
    pub labels: Vec<String>,
    /// Names of the features, where they have some.
    pub names: Option<Vec<String>>,
    /// The number that the first feature without a name has in its language.
    pub first: usize,
    /// The call that made the answer.
    pub command: String,
    /// Seconds from start to answer.
    pub seconds: f64,
}

impl About {
    fn name(&self, j: usize) -> String {
        self.names.as_ref().map_or_else(|| format!("x{}", j + self.first), |names| names[j].clone())
    }
}

/// A selection on the scale inside, kept for its report.
pub struct Kept {
    /// The selection, without the dual points of its path.
    pub selected: Selected,
    /// Σ w ℓ of the answer: on other samples it would be another.
    loss: f64,
}

impl Kept {
    /// Without the dual points of the path, one number per sample each, which nobody asks for again.
    pub fn new(posed: &Posed<'_>, mut selected: Selected) -> Self {
        if let Some(chosen) = &mut selected.chosen {
            chosen.path.points.iter_mut().for_each(|p| p.solution.dual = Vec::new());
            if let By::CrossValidation(found, _) = &mut chosen.by {
                found.path.points.iter_mut().for_each(|p| p.solution.dual = Vec::new());
            }
        }
        // Where its columns cannot be read any more it is what P leaves of it.
        let priced = posed.priced(selected.lambda0, selected.lambda2);
        let problem = priced.as_ref().unwrap_or(&posed.problem);
        let loss = problem.loss_of(&selected.solution.coefficients, selected.solution.objective());
        Self { selected, loss }
    }

    /// The page; `None` where the samples are not those of the answer, or have been changed since.
    pub fn page(&self, posed: &Posed<'_>, about: &About, cancel: &CancelFlag) -> Result<Option<String>> {
        let loss = posed.problem.loss_at(&self.selected.solution.coefficients)?;
        if (loss - self.loss).abs() > 1e-9 * self.loss.abs() {
            return Ok(None);
        }
        let name = |j: usize| about.name(j);
        let pair = if let [first, second] = &about.labels[..] { Some((first.clone(), second.clone())) } else { None };
        let subject = Subject {
            source: about.source.clone(),
            target: about.target.clone(),
            classes: pair,
            labels: about.labels.clone(),
            names: &name,
            notes: Vec::new(),
            seconds: Some(about.seconds),
            cancel: cancel.clone(),
        };
        let mut report = build(posed, &self.selected, &subject)?;
        report.command = about.command.clone();
        Ok(Some(report.html()))
    }
}
