//! What was asked, of which data, and how to ask it again.

use super::Section;
use crate::number::count;
use crate::{Report, Row, Task};
use maud::{Markup, html};

pub(super) fn section(report: &Report) -> Section {
    let data = &report.data;
    let task = match data.task {
        Task::Regression => "Regression",
        Task::Classification => "Classification",
        Task::Survival => "Survival times",
    };
    let mut rows = vec![
        Row::new("Data", &data.source),
        Row::new("Target", &data.target),
        Row::new("Task", task),
        Row::new("Loss", &data.loss),
        Row::new("Samples", count(data.samples)),
        Row::new("Features", count(data.features)),
    ];
    if let Some((negative, positive)) = &data.classes {
        rows.push(Row::new("Classes", format!("{negative} (negative), {positive} (positive)")));
    }
    if !data.labels.is_empty() {
        rows.push(Row::new("Classes", data.labels.join(", ")));
    }
    rows.retain(|row| !row.value.is_empty());
    let body = html! {
        div.grid {
            div.card { h3 { "The data" } (list(&rows)) }
            @if !report.asked.is_empty() { div.card { h3 { "The question" } (list(&report.asked)) } }
            @if !report.notes.is_empty() {
                div.card.wide { h3 { "Remarks" } ul.remarks { @for note in &report.notes { li { (note) } } } }
            }
            @if !report.methods.is_empty() {
                (copied("For a methods section", "methods", html! { p #methods.quote { (report.methods) } }))
            }
            @if !report.command.is_empty() {
                (copied("Do it again", "command", html! {
                    pre tabindex="0" role="region" aria-label="Command" { code #command { (report.command) } }
                }))
            }
        }
    };
    Section { id: "request", short: "Question", title: "What was asked and done", body }
}

fn list(rows: &[Row]) -> Markup {
    html! { dl.numbers { @for row in rows { div { dt { (row.label) } dd { (row.value) } } } } }
}

/// A text with a button that copies it.
fn copied(title: &str, id: &str, text: Markup) -> Markup {
    html! {
        div.card.wide {
            div.chart-head {
                h3 { (title) }
                button.tool id=(format!("copy-{id}")) type="button" data-copy=(id) aria-label=(format!("Copy: {title}")) { "Copy" }
            }
            (text)
        }
    }
}
