//! The plots of a report as files.

use crate::Report;

/// A picture could not be made.
#[derive(Debug)]
pub struct PlotError(String);

impl std::fmt::Display for PlotError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for PlotError {}

/// One plot of a report.
#[derive(Debug, Clone, PartialEq)]
pub struct Plot {
    /// A short name fit for a file, for instance `coefficient-path`.
    pub name: &'static str,
    /// Its heading.
    pub title: String,
    /// What it shows, in words: the text alternative.
    pub description: String,
    svg: String,
}

impl Plot {
    /// The picture as SVG.
    pub fn svg(&self) -> &str {
        &self.svg
    }

    /// The picture as PNG, twice as many pixels as the SVG has units.
    pub fn png(&self) -> Result<Vec<u8>, PlotError> {
        Err(PlotError(format!("{}: no picture yet", self.name)))
    }
}

impl Report {
    /// The plots for which there is something to show.
    pub fn plots(&self) -> Vec<Plot> {
        Vec::new()
    }
}
