//! The report of a selection: one HTML page.

use crate::fields::{needed, Failure, Fields};
use crate::input::Stop;
use bestset::select::Posed;
use bestset::CancelFlag;
use bestset_report::{About, Kept};

/// Reads what the samples are called.
pub fn about(from: &Fields) -> Result<About, Failure> {
    Ok(About {
        source: needed("source", from.text("source")?)?,
        target: needed("target", from.text("target")?)?,
        labels: from.texts("labels")?.unwrap_or_default(),
        names: from.texts("names")?,
        first: 1,
        command: needed("command", from.text("command")?)?,
        seconds: from.number("seconds")?.unwrap_or(0.0),
    })
}

/// The page.
pub fn page(kept: &Kept, posed: &Posed<'_>, about: &About, cancel: &CancelFlag) -> Result<String, Stop> {
    let text = "x is not what was fitted, or has been changed since: the report would not belong to the model";
    kept.page(posed, about, cancel)?.ok_or_else(|| Stop(text.to_owned()))
}
