//! The report of a selection: one HTML page.

use crate::fields::{needed, Failure, Fields};
use crate::input::Stop;
use bestset::CancelFlag;
use bestset::select::Posed;
use bestset_report::{Kept, Subject};

/// What the samples are called.
pub struct About {
    source: String,
    target: String,
    classes: Option<(String, String)>,
    labels: Vec<String>,
    names: Option<Vec<String>>,
    command: String,
    seconds: f64,
}

impl About {
    /// Reads the list.
    pub fn read(from: &Fields) -> Result<Self, Failure> {
        let labels = from.texts("labels")?.unwrap_or_default();
        let classes = if let [first, second] = &labels[..] { Some((first.clone(), second.clone())) } else { None };
        Ok(Self {
            source: needed("source", from.text("source")?)?,
            target: needed("target", from.text("target")?)?,
            classes,
            labels,
            names: from.texts("names")?,
            command: needed("command", from.text("command")?)?,
            seconds: from.number("seconds")?.unwrap_or(0.0),
        })
    }
}

/// The page.
pub fn page(kept: &Kept, posed: &Posed<'_>, about: &About, cancel: &CancelFlag) -> Result<String, Stop> {
    let name = |j: usize| match &about.names {
        Some(names) => names[j].clone(),
        None => format!("x{}", j + 1),
    };
    let subject = Subject {
        source: about.source.clone(),
        target: about.target.clone(),
        classes: about.classes.clone(),
        labels: about.labels.clone(),
        names: &name,
        notes: Vec::new(),
        seconds: Some(about.seconds),
        cancel: cancel.clone(),
    };
    let Some(mut report) = kept.report(posed, &subject)? else {
        let text = "x is not what was fitted, or has been changed since: the report would not belong to the model";
        return Err(Stop(text.to_owned()));
    };
    report.command = about.command.clone();
    Ok(report.html())
}
