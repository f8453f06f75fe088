//! The report of a selection: one HTML page.

use crate::fields::{needed, Failure, Fields};
use crate::input::Stop;
use bestset::select::{By, Posed, Selected};
use bestset_report::Subject;

/// A selection on the scale inside, kept for its report.
pub struct Answer {
    selected: Selected,
    /// Σ w ℓ of the answer: on other samples it would be another.
    loss: f64,
}

/// What the samples are called.
pub struct About {
    source: String,
    target: String,
    classes: Option<(String, String)>,
    names: Option<Vec<String>>,
    command: String,
    seconds: f64,
}

impl About {
    /// Reads the list.
    pub fn read(from: &Fields) -> Result<Self, Failure> {
        let classes = from.texts("labels")?.map(|l| (l[0].clone(), l[1].clone()));
        Ok(Self {
            source: needed("source", from.text("source")?)?,
            target: needed("target", from.text("target")?)?,
            classes,
            names: from.texts("names")?,
            command: needed("command", from.text("command")?)?,
            seconds: from.number("seconds")?.unwrap_or(0.0),
        })
    }
}

impl Answer {
    /// Without the dual points of the path, one number per sample each, which nobody asks for again.
    pub fn new(posed: &Posed<'_>, mut selected: Selected) -> Self {
        if let Some(chosen) = &mut selected.chosen {
            chosen.path.points.iter_mut().for_each(|p| p.solution.dual = Vec::new());
            if let By::CrossValidation(found, _) = &mut chosen.by {
                found.path.points.iter_mut().for_each(|p| p.solution.dual = Vec::new());
            }
        }
        let loss = posed.problem.loss_of(&selected.solution.coefficients, selected.solution.objective());
        Self { selected, loss }
    }

    /// The page.
    pub fn page(&self, posed: &Posed<'_>, about: &About) -> Result<String, Stop> {
        let loss = posed.problem.loss_at(&self.selected.solution.coefficients)?;
        if (loss - self.loss).abs() > 1e-9 * self.loss.abs() {
            let text = "x is not what was fitted, or has been changed since: the report would not belong to the model";
            return Err(Stop(text.to_owned()));
        }
        let name = |j: usize| match &about.names {
            Some(names) => names[j].clone(),
            None => format!("x{}", j + 1),
        };
        let subject = Subject {
            source: about.source.clone(),
            target: about.target.clone(),
            classes: about.classes.clone(),
            labels: Vec::new(),
            names: &name,
            notes: Vec::new(),
            seconds: Some(about.seconds),
        };
        let mut report = bestset_report::build(posed, &self.selected, &subject)?;
        report.command = about.command.clone();
        Ok(report.html())
    }
}
