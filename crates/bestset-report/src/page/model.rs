//! The chosen features.

use super::Section;
use super::parts::{features, plural, term};
use crate::number::{number, percent};
use crate::{CrossValidation, Model, Report, Task, Term};
use maud::{Markup, html};

/// The most rows of a table; who needs more has the model file.
pub(super) const MOST_ROWS: usize = 500;
/// From so many rows on there is a field to search in.
const SEARCHED: usize = 12;
/// The most features named that are in folds and not in the model.
const MOST_OTHERS: usize = 12;

/// The model as a table with bars; `None` where there is none.
pub(super) fn section(report: &Report) -> Option<Section> {
    let model = &report.model;
    if report.is_of_sizes() {
        return None;
    }
    let body = html! {
        @if model.terms.is_empty() {
            div.card {
                p {
                    "No feature earns its penalty: the answer is "
                    (if report.data.task == Task::Survival { "the baseline hazard alone." } else { "the intercept alone." })
                }
                (intercept(model, &report.data.labels))
            }
        } @else {
            (table(model, report))
        }
    };
    Some(Section { id: "model", short: "Model", title: "The model", body })
}

fn intercept(model: &Model, labels: &[String]) -> Markup {
    html! {
        @if let Some(value) = model.intercept { p.note { "Intercept: " b { (number(value, 6)) } } }
        @if !model.intercepts.is_empty() {
            p.note {
                "Intercepts: "
                @for (k, value) in model.intercepts.iter().enumerate() {
                    @if k > 0 { ", " }
                    @if let Some(label) = labels.get(k) { span.chip title=(label) { (label) } " " }
                    b { (number(*value, 6)) }
                }
            }
        }
    }
}

/// A column of numbers: its title, the number of a feature, and how it is shown.
struct Column<'c> {
    title: &'c str,
    value: &'c dyn Fn(&Term) -> Option<f64>,
    words: &'c dyn Fn(f64) -> String,
    /// Whether bars go to both sides.
    signed: bool,
    /// The end of the bars; the largest value unless given.
    top: Option<f64>,
}

fn table(model: &Model, report: &Report) -> Markup {
    let (cv, task, labels) = (report.cv.as_ref(), report.data.task, &report.data.labels);
    let terms = model.by_importance();
    let shown = &terms[..terms.len().min(MOST_ROWS)];
    let fits = cv.map_or(0, |cv| cv.fits);
    let plain = |v: f64| number(v, 4);
    let share = |v: f64| often(v, fits);
    // The logarithm is what bars and order are of.
    let ratio = |t: &Term| (task == Task::Survival).then_some(t.coefficient);
    let many = terms.iter().any(|t| !t.by_class.is_empty());
    let first = if many { "Length" } else { "Coefficient" };
    let names: Vec<String> = labels.iter().map(|label| format!("for {}", cut(label))).collect();
    let values: Vec<_> = (0..labels.len()).map(|k| move |t: &Term| t.by_class.get(k).copied()).collect();
    let own = names.iter().zip(&values);
    let by_class = own.map(|(title, value)| Column { title, value, words: &plain, signed: true, top: None });
    let general = [
        Column { title: first, value: &|t| Some(t.coefficient), words: &plain, signed: !many, top: None },
        Column { title: "Hazard ratio", value: &ratio, words: &|v| number(v.exp(), 4), signed: true, top: None },
        Column { title: "Per standard deviation", value: &|t| t.standardized, words: &plain, signed: !many, top: None },
        Column { title: "Importance", value: &|t| t.rise, words: &plain, signed: false, top: None },
        Column { title: "Chosen in folds", value: &|t| t.frequency, words: &share, signed: false, top: Some(1.0) },
    ];
    let has = |c: &Column<'_>| shown.iter().any(|t| (c.value)(t).is_some());
    let columns: Vec<Column<'_>> = by_class.chain(general).filter(|c| has(c)).collect();
    let titles: Vec<&str> = columns.iter().map(|c| c.title).collect();
    // What the rows come in the order of.
    let first = ["Importance", "Per standard deviation", first].into_iter().find(|t| titles.contains(t));
    html! {
        div.card {
            div.table-head {
                (caption(&titles, many))
                @if shown.len() >= SEARCHED {
                    label.search { span.unseen { "Find a feature" } input #find type="search" placeholder="Find a feature"; }
                }
            }
            div.scroll tabindex="0" role="region" aria-label="Table of coefficients" {
                table.sortable.many[many] id="coefficients" {
                    caption.unseen { (features(terms.len())) " with their coefficients" }
                    thead { tr {
                        (heading("Feature", "text", None))
                        @for c in &columns { (heading(c.title, "number", (Some(c.title) == first).then_some("descending"))) }
                    } }
                    tbody { (rows(shown, &columns)) }
                }
            }
            (intercept(model, &report.data.labels))
            @if let Some(cv) = cv { (others(cv)) }
            @if shown.len() < terms.len() {
                p.note { "The " (shown.len()) " most important of " (features(terms.len())) "; the others are in the model file." }
            }
        }
    }
}

/// A name that leaves room for the other columns.
fn cut(label: &str) -> String {
    // Two or three lines of a heading that is as wide as a figure.
    const MOST: usize = 24;
    if label.chars().count() <= MOST { label.to_owned() } else { label.chars().take(MOST - 1).chain(['…']).collect() }
}

fn caption(titles: &[&str], many: bool) -> Markup {
    html! {
        p.caption {
            @let what = if titles.contains(&"Hazard ratio") { "risk" } else { "prediction" };
            @if many {
                "A feature has a coefficient for every class, on the scale of your data: blue makes the class likelier, orange less likely. The length "
                "is the root of the sum of their squares. "
            } @else {
                "Coefficients are on the scale of your data. Blue raises the " (what) ", orange lowers it. "
            }
            @if titles.contains(&"Hazard ratio") {
                (term("hazard-ratio", "Hazard ratio")) ": by what the risk is multiplied for each unit of the feature. "
            }
            @if titles.contains(&"Importance") {
                (term("rise", "Importance")) " is what the objective would lose without the feature. "
            }
            @if titles.contains(&"Chosen in folds") {
                (term("frequency", "Chosen in folds")) ": how many of the fits on parts of the samples have the feature."
            }
        }
    }
}

/// "9 of 10", or a percentage where the number of fits is not known.
fn often(share: f64, fits: usize) -> String {
    if fits == 0 { percent(share) } else { format!("{} of {fits}", (share * fits as f64).round()) }
}

/// Features that fits of the same size have and the model has not: who would have been next.
fn others(cv: &CrossValidation) -> Markup {
    html! {
        @if !cv.others.is_empty() {
            p.note {
                "Not in the model, but in fits of its size: "
                @for (k, (name, share)) in cv.others.iter().take(MOST_OTHERS).enumerate() {
                    @if k > 0 { ", " }
                    span.chip title=(name) { b { (name) } } " (" (often(*share, cv.fits)) ")"
                }
                @if cv.others.len() > MOST_OTHERS { " and " (plural(cv.others.len() - MOST_OTHERS, "other")) }
                "."
            }
        }
    }
}

fn heading(title: &str, kind: &str, sorted: Option<&str>) -> Markup {
    html! {
        th scope="col" class=(kind) aria-sort=[sorted] data-kind=(kind) { button type="button" { (title) span.arrow aria-hidden="true" {} } }
    }
}

fn rows(shown: &[&Term], columns: &[Column<'_>]) -> Markup {
    let known = |c: &Column<'_>, t: &Term| (c.value)(t).filter(|v| v.is_finite());
    let largest = |c: &Column<'_>| {
        c.top.unwrap_or_else(|| shown.iter().filter_map(|t| known(c, t)).fold(f64::MIN_POSITIVE, |m, v| m.max(v.abs())))
    };
    let tops: Vec<f64> = columns.iter().map(largest).collect();
    html! {
        @for t in shown {
            tr {
                th scope="row" { span.name title=(t.name) { (t.name) } }
                @for (c, top) in columns.iter().zip(&tops) { (cell(known(c, t), c, *top)) }
            }
        }
    }
}

/// A number with a bar, to both sides of the middle or from the left.
fn cell(known: Option<f64>, column: &Column<'_>, top: f64) -> Markup {
    let share = known.map_or(0.0, |v| (v / top).abs().clamp(0.0, 1.0));
    let kind = match (column.signed, known.is_some_and(|v| v < 0.0)) {
        (false, _) => "meter plain",
        (true, false) => "meter both up",
        (true, true) => "meter both down",
    };
    html! {
        td.number data-value=[known] {
            span.figure { (known.map_or_else(|| "–".to_owned(), |v| (column.words)(v))) }
            span class=(kind) aria-hidden="true" { span style=(format!("--share:{share:.4}")) {} }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_of_folds_are_counts_where_their_number_is_known() {
        assert_eq!(
            (often(0.9, 10), often(1.0 / 3.0, 3), often(0.25, 0)),
            ("9 of 10".into(), "1 of 3".into(), "25\u{a0}%".into())
        );
    }
}
