//! The page.

use crate::Report;

impl Report {
    /// The page: one HTML file with everything in it.
    pub fn html(&self) -> String {
        format!("<!doctype html><title>{}</title>", self.title.replace('&', "&amp;").replace('<', "&lt;"))
    }
}
