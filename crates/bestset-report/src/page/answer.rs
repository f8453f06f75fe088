//! The answer in one look.

use super::parts::{term, tile};
use crate::number::{count, number, percent, seconds};
use crate::{Certificate, CrossValidation, Diagnostics, Report, Task};
use maud::{Markup, html};

/// Headline, verdict and the facts that matter.
pub(super) fn hero(report: &Report) -> Markup {
    let certificate = &report.certificate;
    let (chosen, all) = (report.model.terms.len(), report.data.features.max(report.model.terms.len()));
    let purpose = purpose(report);
    html! {
        section #answer.hero aria-labelledby="answer-heading" {
            div.hero-text {
                p.eyebrow { (report.heading()) }
                h1 id="answer-heading" {
                    span.count { (count(chosen)) }
                    " of " (count(all)) " features" span.rest { (purpose) }
                }
                p class=(format!("verdict {}", tone(certificate))) { (icon(certificate)) span { (verdict(certificate)) } }
                p.sentence { (certificate.sentence) }
            }
            (gauge(certificate))
            dl.tiles { (tiles(report)) }
        }
    }
}

/// What the features do, with a space before it; nothing if the target has no name.
fn purpose(report: &Report) -> String {
    let (target, classes) = (&report.data.target, &report.data.classes);
    match (report.data.task, classes) {
        (Task::Classification, Some((negative, positive))) => format!(" tell {} from {}", cut(positive), cut(negative)),
        _ if target.is_empty() => String::new(),
        _ => format!(" predict {}", cut(target)),
    }
}

/// A name that does not fill the whole headline.
fn cut(name: &str) -> String {
    const MOST: usize = 32;
    if name.chars().count() <= MOST { name.to_owned() } else { name.chars().take(MOST - 1).chain(['…']).collect() }
}

/// The proof in a few words.
pub(crate) fn verdict(certificate: &Certificate) -> String {
    if certificate.optimal {
        "Proved to be the best possible".to_owned()
    } else if certificate.is_useful() {
        format!("Proved to be within {} of the best possible", percent(certificate.relative_gap))
    } else {
        "Not proved: the bound is too weak to say how good it is".to_owned()
    }
}

fn tone(certificate: &Certificate) -> &'static str {
    match certificate {
        c if c.optimal => "good",
        c if c.is_useful() && c.relative_gap <= 0.05 => "fine",
        c if c.is_useful() => "fair",
        _ => "none",
    }
}

/// A tick, a bracket or a question mark: the colour does not carry the meaning alone.
fn icon(certificate: &Certificate) -> Markup {
    let path = match tone(certificate) {
        "good" => "M5 12.5l4.5 4.5L19 7.5",
        "none" => "M9 9a3 3 0 1 1 4.5 2.6c-1 .6-1.5 1.2-1.5 2.4M12 17.5v.2",
        _ => "M5 8v8M19 8v8M5 12h14",
    };
    html! {
        svg viewBox="0 0 24 24" width="22" height="22" aria-hidden="true" {
            path d=(path) fill="none" stroke="currentColor" stroke-width="2.4" stroke-linecap="round" stroke-linejoin="round" {}
        }
    }
}

/// How much of the objective is accounted for by the bound.
fn gauge(certificate: &Certificate) -> Markup {
    let share = if certificate.optimal { 1.0 } else { (1.0 - certificate.relative_gap).clamp(0.0, 1.0) };
    let share = if share.is_finite() { share } else { 0.0 };
    let (bound, objective) = (number(certificate.lower_bound, 5), number(certificate.objective, 5));
    let said = format!("The lower bound {bound} reaches {} of the objective {objective}.", percent(share));
    html! {
        div.gauge.card {
            p.gauge-title { "How much of it is " (term("bound", "proved")) }
            div.track role="img" aria-label=(said) { span.filled style=(format!("width:{:.3}%", 100.0 * share)) {} }
            div.ends aria-hidden="true" {
                span { b { (bound) } br; "no choice allowed can go below" }
                span.right { b { (objective) } br; "this answer" }
            }
            p.status { "The solver ended with: " b { (if certificate.status.is_empty() { "–" } else { &certificate.status }) } }
        }
    }
}

fn tiles(report: &Report) -> Markup {
    let data = &report.data;
    let gap = &report.certificate;
    html! {
            (tile(html! { "Samples" }, &count(data.samples), &data.loss))
    @if gap.optimal {
                (tile(term("gap", "Gap"), "closed", &format!("{} is left", percent(gap.relative_gap))))
            } @else {
                (tile(term("gap", "Gap"), &percent(gap.relative_gap), "at the most"))
            }
            @match &report.diagnostics {
                Some(Diagnostics::Regression(fit)) => { (tile(term("r2", "R²"), &number(fit.r2, 3), &on(&fit.samples))) }
                Some(Diagnostics::Classification(fit)) => { (tile(term("auc", "AUC"), &number(fit.auc, 3), &on(&fit.samples))) }
                None => {}
            }
            @if let Some(cv) = &report.cv && let Some(point) = cv.points.get(chosen_point(report, cv)) {
                @let error = format!("{} ± {}", cv.metric, number(point.standard_error, 2));
                (tile(term("cv", "Cross-validated"), &number(point.mean, 3), &error))
            }
            @if let Some(time) = report.seconds { (tile(html! { "Time" }, &seconds(time), "from start to answer")) }
        }
}

/// The point of the reported model, or the best one where the model is not a point of the path.
fn chosen_point(report: &Report, cv: &CrossValidation) -> usize {
    report.path.as_ref().and_then(|path| path.chosen).unwrap_or(cv.best)
}

fn on(samples: &str) -> String {
    format!("on {samples}")
}
