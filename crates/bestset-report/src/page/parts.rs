//! Pieces that every section uses.

pub(super) use crate::number::plural;

use maud::{Markup, html};

/// A word with its explanation behind it.
pub(super) fn term(id: &str, text: &str) -> Markup {
    let hint = super::glossary::explanation(id);
    html! { button.term type="button" title=(hint) popovertarget=(format!("term-{id}")) { (text) } }
}

/// A chart: heading, explanation, the drawing with its text alternative, tools, and its data as a table.
pub(super) struct Figure<'a> {
    /// Its name, also that of the drawing in the script.
    pub id: &'a str,
    /// Its heading.
    pub title: &'a str,
    /// A sentence on how to read it.
    pub caption: Markup,
    /// What it shows, in words: the text alternative.
    pub description: String,
    /// What was left out, if anything.
    pub note: Option<String>,
    /// Whether it takes the whole width.
    pub wide: bool,
    /// Settings of the chart, for instance a choice of measures.
    pub controls: Markup,
}

impl<'a> Figure<'a> {
    /// A figure of half the width without remarks.
    pub fn new(id: &'a str, title: &'a str, caption: Markup, description: String) -> Self {
        Self { id, title, caption, description, note: None, wide: false, controls: html! {} }
    }

    /// Over the whole width.
    pub fn wide(self) -> Self {
        Self { wide: true, ..self }
    }

    /// With a remark on what was left out.
    pub fn note(self, note: Option<String>) -> Self {
        Self { note, ..self }
    }

    /// With settings.
    pub fn controls(self, controls: Markup) -> Self {
        Self { controls, ..self }
    }

    /// The figure as markup.
    pub fn html(&self) -> Markup {
        let (id, heading) = (format!("chart-{}", self.id), format!("chart-{}-title", self.id));
        let save = |kind: &str| format!("Save “{}” as {kind}", self.title);
        html! {
            figure.card.chart-card.wide[self.wide] aria-labelledby=(heading) {
                figcaption {
                    div.chart-head {
                        h3 id=(heading) { (self.title) }
                        div.tools {
                            (self.controls)
                            button.tool type="button" data-save="svg" data-chart=(self.id) aria-label=(save("SVG")) { "SVG" }
                            button.tool type="button" data-save="png" data-chart=(self.id) aria-label=(save("PNG")) { "PNG" }
                        }
                    }
                    p.caption { (self.caption) }
                }
                div.chart id=(id) data-chart=(self.id) tabindex="0" role="group" aria-roledescription="chart"
                    aria-label=(format!("{} Arrow keys move from point to point.", self.description)) {}
                @if let Some(note) = &self.note { p.note { (note) } }
                details.data data-table=(self.id) {
                    summary { "Data of this chart" }
                    div.scroll tabindex="0" role="region" aria-label=(format!("Data of “{}”", self.title)) {}
                }
            }
        }
    }
}

/// A colour of a chart and what it stands for.
pub(super) fn key(colour: &str, text: &str) -> Markup {
    html! { span.key { i.swatch style=(format!("background:var(--{colour})")) {} (text) } }
}

/// A fact: a large number and what it is.
pub(super) fn tile(label: Markup, value: &str, remark: &str) -> Markup {
    html! {
        div.tile {
            dt { (label) }
            dd {
                span.value { (value) }
                @if !remark.is_empty() { span.remark { (remark) } }
            }
        }
    }
}

/// "1 feature", "2 features".
pub(super) fn features(count: usize) -> String {
    plural(count, "feature")
}
