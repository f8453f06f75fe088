//! The chosen features, and the ones that came close.

use super::Section;
use super::parts::{Figure, features, key, plural, term};
use crate::number::number;
use crate::series::Series;
use crate::{Model, Report, Subset, Term};
use maud::{Markup, html};

/// The most rows of a table; who needs more has the model file.
const MOST_ROWS: usize = 500;
/// From so many rows on there is a field to search in.
const SEARCHED: usize = 12;

/// The model as a table with bars.
pub(super) fn section(report: &Report) -> Section {
    let model = &report.model;
    let body = html! {
        @if model.terms.is_empty() {
            div.card { p { "No feature earns its price at this λ0: the answer is the intercept alone." } (intercept(model)) }
        } @else {
            (table(model))
        }
    };
    Section { id: "model", short: "Model", title: "The model", body }
}

fn intercept(model: &Model) -> Markup {
    html! { @if let Some(value) = model.intercept { p.note { "Intercept: " b { (number(value, 6)) } } } }
}

fn table(model: &Model) -> Markup {
    let terms = model.by_importance();
    let shown = &terms[..terms.len().min(MOST_ROWS)];
    let largest = |value: &dyn Fn(&Term) -> f64| {
        shown.iter().map(|t| value(t).abs()).filter(|v| v.is_finite()).fold(f64::MIN_POSITIVE, f64::max)
    };
    let top = largest(&|t| t.coefficient);
    let top_effect = largest(&|t| t.standardized.unwrap_or(0.0));
    let top_rise = largest(&|t| t.rise.unwrap_or(0.0));
    let has_effect = shown.iter().any(|t| t.standardized.is_some());
    let has_rise = shown.iter().any(|t| t.rise.is_some());
    html! {
        div.card {
            div.table-head {
                p.caption {
                    "Coefficients are on the scale of your data. Blue raises the prediction, orange lowers it. "
                    @if has_rise { (term("rise", "Importance")) " is what the objective would lose without the feature." }
                }
                @if shown.len() >= SEARCHED {
                    label.search { span.unseen { "Find a feature" } input #find type="search" placeholder="Find a feature"; }
                }
            }
            div.scroll tabindex="0" role="region" aria-label="Table of coefficients" {
                table.sortable id="coefficients" {
                    caption.unseen { (features(terms.len())) " with their coefficients" }
                    thead { tr {
                        (column("Feature", "text", None))
                        (column("Coefficient", "number", (!has_rise && !has_effect).then_some("descending")))
                        @if has_effect { (column("Per standard deviation", "number", (!has_rise).then_some("descending"))) }
                        @if has_rise { (column("Importance", "number", Some("descending"))) }
                    } }
                    tbody {
                        @for t in shown { (row(t, (top, top_effect, top_rise), has_effect, has_rise)) }
                    }
                }
            }
            (intercept(model))
            @if shown.len() < terms.len() {
                p.note { "The " (shown.len()) " most important of " (features(terms.len())) "; the others are in the model file." }
            }
        }
    }
}

fn column(title: &str, kind: &str, sorted: Option<&str>) -> Markup {
    html! {
        th scope="col" class=(kind) aria-sort=[sorted] data-kind=(kind) { button type="button" { (title) span.arrow aria-hidden="true" {} } }
    }
}

fn row(t: &Term, top: (f64, f64, f64), has_effect: bool, has_rise: bool) -> Markup {
    html! {
        tr {
            th scope="row" { span.name title=(t.name) { (t.name) } }
            (cell(Some(t.coefficient), top.0, true))
            @if has_effect { (cell(t.standardized, top.1, true)) }
            @if has_rise { (cell(t.rise, top.2, false)) }
        }
    }
}

/// A number with a bar, to both sides of the middle or from the left.
fn cell(value: Option<f64>, top: f64, signed: bool) -> Markup {
    let known = value.filter(|v| v.is_finite());
    let share = known.map_or(0.0, |v| (v / top).abs().clamp(0.0, 1.0));
    let kind = match (signed, known.is_some_and(|v| v < 0.0)) {
        (false, _) => "meter plain",
        (true, false) => "meter both up",
        (true, true) => "meter both down",
    };
    html! {
        td.number data-value=[known] {
            span.figure { (number(value.unwrap_or(f64::NAN), 4)) }
            span class=(kind) aria-hidden="true" { span style=(format!("--share:{share:.4}")) {} }
        }
    }
}

/// The best of each size and the runners-up.
pub(super) fn alternatives(report: &Report, series: &Series) -> Option<Section> {
    if report.subsets.is_empty() && report.ranked.is_empty() {
        return None;
    }
    let body = html! {
        div.grid {
            @if let Some(sizes) = &series.subsets {
                @let said = format!(
                    "Objective of the best subset for {} sizes, from {} to {}, with the bound below each.",
                    sizes.size.len(), sizes.size[0], sizes.size[sizes.size.len() - 1]
                );
                (Figure::new("subsets", "Best of each size", html! {
                    (key("objective", "objective")) (key("bound", "lower bound")) "What each further feature brings. Where the two meet, the subset is " (term("optimal", "proved best")) " of its size."
                }, said).wide().html())
            }
            @if !report.subsets.is_empty() { (sizes(&report.subsets)) }
            @if !report.ranked.is_empty() { (runners_up(report)) }
        }
    };
    Some(Section { id: "alternatives", short: "Alternatives", title: "Alternatives", body })
}

fn sizes(subsets: &[Subset]) -> Markup {
    let has = |value: &dyn Fn(&Subset) -> Option<f64>| subsets.iter().any(|s| value(s).is_some());
    let shown = [
        ("R²", has(&|s| s.r2), 0),
        ("Adjusted R²", has(&|s| s.adjusted_r2), 1),
        ("Cp", has(&|s| s.cp), 2),
        ("AIC", has(&|s| s.aic), 3),
        ("BIC", has(&|s| s.bic), 4),
    ];
    let value = |s: &Subset, k: usize| [s.r2, s.adjusted_r2, s.cp, s.aic, s.bic][k].unwrap_or(f64::NAN);
    html! {
        div.card.wide {
            h3 { "Subsets by size" }
            div.scroll tabindex="0" role="region" aria-label="Best subset of each size" {
                table {
                    thead { tr {
                        th.number scope="col" { "Size" } th scope="col" { "Features" } th.number scope="col" { "Objective" }
                        @for column in shown.iter().filter(|c| c.1) { th.number scope="col" { (column.0) } }
                        th scope="col" { "Proof" }
                    } }
                    tbody {
                        @for s in subsets.iter().take(MOST_ROWS) {
                            tr {
                                th.number scope="row" { (s.size) }
                                td { (names(&s.features)) }
                                td.number { (number(s.objective, 5)) }
                                @for column in shown.iter().filter(|c| c.1) { td.number { (number(value(s, column.2), 4)) } }
                                td { (if s.optimal { "best".to_owned() } else { at_least(s) }) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn at_least(s: &Subset) -> String {
    let known = crate::series::useful(s.objective, s.lower_bound);
    known.map_or_else(|| "no bound".to_owned(), |bound| format!("at least {}", number(bound, 5)))
}

fn names(list: &[String]) -> Markup {
    const MOST: usize = 12;
    html! {
        span.names {
            @for (k, name) in list.iter().take(MOST).enumerate() { @if k > 0 { ", " } span.chip title=(name) { (name) } }
            @if list.len() > MOST { " and " (plural(list.len() - MOST, "other")) }
        }
    }
}

fn runners_up(report: &Report) -> Markup {
    let best = report.ranked[0].objective;
    html! {
        div.card.wide {
            h3 { "The best subsets, in order" }
            div.scroll tabindex="0" role="region" aria-label="Best subsets in order" {
                table {
                    thead { tr {
                        th.number scope="col" { "Rank" } th scope="col" { "Features" } th.number scope="col" { "Objective" }
                        th.number scope="col" { "Above the best" } th scope="col" { "Proof" }
                    } }
                    tbody {
                        @for (k, r) in report.ranked.iter().take(MOST_ROWS).enumerate() {
                            tr {
                                th.number scope="row" { (k + 1) }
                                td { (names(&r.features)) }
                                td.number { (number(r.objective, 6)) }
                                td.number { (number(r.objective - best, 3)) }
                                td { (if r.proved { "rank proved" } else { "not proved" }) }
                            }
                        }
                    }
                }
            }
        }
    }
}
