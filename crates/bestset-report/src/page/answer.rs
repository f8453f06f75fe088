//! The answer in one look.

use super::parts::{term, tile};
use crate::number::{bound, count, number, percent, percent_bound, seconds};
use crate::types::{brief, gain, limit, measure, room};
use crate::{Certificate, CrossValidation, Diagnostics, Report, Task};
use bestset::select::Standing;
use bestset::shown::Side;
use maud::{Markup, html};

/// Headline, verdict and the facts that matter.
pub(super) fn hero(report: &Report) -> Markup {
    let certificate = &report.certificate;
    let all = report.data.features.max(report.model.terms.len());
    html! {
        section #answer.hero aria-labelledby="answer-heading" {
            div.hero-text {
                p.eyebrow { (report.heading()) }
                h1 id="answer-heading" {
                    @if report.is_of_sizes() {
                        span.count { (count(report.subsets.len())) }
                        " subsets of " (count(all)) " features" span.rest { (purpose(report)) }
                    } @else {
                        span.count { (count(report.model.terms.len())) }
                        " of " (count(all)) " features" span.rest { (purpose(report)) }
                    }
                }
                @if report.is_of_sizes() {
                    @let (tone, text) = sizes_verdict(report);
                    (pill(tone, &text))
                    p.sentence { "The best subset of each size. Proved best means: no other subset of at most that size fits better." }
                } @else {
                    (pill(tone(certificate), &verdict(certificate)))
                    p.sentence { (certificate.sentence) }
                }
            }
            @if !report.is_of_sizes() { (gauge(certificate)) }
            dl.tiles { (tiles(report)) }
        }
    }
}

/// How many of the sizes are proved.
fn sizes_verdict(report: &Report) -> (&'static str, String) {
    let (all, proved) = (report.subsets.len(), report.subsets.iter().filter(|s| s.optimal).count());
    match proved {
        0 => ("none", "None of them is proved best".to_owned()),
        _ if proved == all => ("good", "All of them proved best of their size".to_owned()),
        _ => ("fair", format!("{} of {} proved best of their size", count(proved), count(all))),
    }
}

fn pill(tone: &str, text: &str) -> Markup {
    html! { p class=(format!("verdict {tone}")) { (icon(tone)) span { (text) } } }
}

/// What the features do, with a space before it; nothing if the target has no name.
fn purpose(report: &Report) -> String {
    let data = &report.data;
    let (target, classes) = (&data.target, &data.classes);
    match (data.task, classes) {
        (Task::Classification, _) if !data.labels.is_empty() => {
            format!(" tell the {} classes of {} apart", count(data.labels.len()), cut(target))
        }
        (Task::Classification, Some((negative, positive))) => format!(" tell {} from {}", cut(positive), cut(negative)),
        _ if target.is_empty() => String::new(),
        _ => format!(" predict {}", cut(target)),
    }
}

/// A name that does not fill the whole headline.
fn cut(name: &str) -> String {
    // Half of the line that the headline has on a desk.
    const MOST: usize = 32;
    if name.chars().count() <= MOST { name.to_owned() } else { name.chars().take(MOST - 1).chain(['…']).collect() }
}

/// The proof in a few words.
pub(crate) fn verdict(certificate: &Certificate) -> String {
    match &certificate.standing {
        _ if certificate.optimal => "Proved to be the best possible".to_owned(),
        Some(standing) if standing.r2_limit < 1.0 => {
            let what = if standing.is_squared { "R²" } else { "Deviance explained" };
            format!("{what} within {} of the best possible", room(standing))
        }
        Some(standing) if certificate.is_useful() => match gain(standing) {
            Some(share) => format!("At least {share} of the largest possible gain"),
            None => NOT_PROVED.to_owned(),
        },
        None if certificate.is_useful() => {
            format!("Best possible within {} of the objective", percent_bound(certificate.relative_gap, Side::Above))
        }
        _ => NOT_PROVED.to_owned(),
    }
}

const NOT_PROVED: &str = "Not proved: the bound is too weak to say how good it is";

fn tone(certificate: &Certificate) -> &'static str {
    let close = match &certificate.standing {
        Some(standing) => standing.gain >= 0.95,
        None => certificate.relative_gap <= 0.05,
    };
    match certificate {
        c if c.optimal => "good",
        c if c.is_useful() && close => "fine",
        c if c.is_useful() => "fair",
        _ => "none",
    }
}

/// A tick, a bracket or a question mark: the colour does not carry the meaning alone.
fn icon(tone: &str) -> Markup {
    let path = match tone {
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

/// What is reached, and what no subset can exceed.
fn gauge(certificate: &Certificate) -> Markup {
    let status = html! {
        p.status { "The solver ended with: " b { (if certificate.status.is_empty() { "–" } else { &certificate.status }) } }
    };
    html! {
        div.gauge.card {
            @match &certificate.standing {
                Some(standing) => { (explained(standing, certificate.optimal)) }
                None => { (accounted(certificate)) }
            }
            (status)
        }
    }
}

/// R² on a scale from nothing to everything.
fn explained(standing: &Standing, optimal: bool) -> Markup {
    let (reached, most) = (standing.r2.clamp(0.0, 1.0), standing.r2_limit.clamp(0.0, 1.0));
    let (r2, most_text) = (number(standing.r2, 4), limit(standing));
    let open = if optimal { 0.0 } else { (most - reached).max(0.0) };
    let end = if optimal {
        "of the best subset at this penalty".to_owned()
    } else {
        format!("no subset of this penalty exceeds {most_text}")
    };
    let said = format!("{} {r2} of 1; {end}.", measure(standing));
    let title = if standing.is_squared { "Variation explained" } else { "Deviance explained" };
    html! {
        p.gauge-title { (term("r2", title)) " on the samples it was fitted on" }
        div.track.scale role="img" aria-label=(said) {
            span.filled style=(format!("width:{:.3}%", 100.0 * reached)) {}
            span.open style=(format!("width:{:.3}%", 100.0 * open)) {}
        }
        div.ends aria-hidden="true" {
            span { b { (r2) } br; "this model" }
            @if optimal {
                span.right { b { "best subset" } br; "at this penalty, proved" }
            } @else if most < 1.0 {
                span.right { b { (most_text) } br; "no subset of this penalty exceeds" }
            } @else {
                span.right { b { "no limit" } br; "proved for other subsets" }
            }
        }
    }
}

/// How much of the objective is accounted for by the bound.
fn accounted(certificate: &Certificate) -> Markup {
    let share = if certificate.optimal { 1.0 } else { (1.0 - certificate.relative_gap).clamp(0.0, 1.0) };
    let share = if share.is_finite() { share } else { 0.0 };
    let least = if certificate.lower_bound.is_finite() {
        bound(certificate.lower_bound, 5, Side::Below)
    } else {
        "no bound".into()
    };
    let objective = number(certificate.objective, 5);
    let said =
        format!("The lower bound {least} reaches {} of the objective {objective}.", percent_bound(share, Side::Below));
    html! {
        p.gauge-title { "How much of it is " (term("bound", "proved")) }
        div.track role="img" aria-label=(said) { span.filled style=(format!("width:{:.3}%", 100.0 * share)) {} }
        div.ends aria-hidden="true" {
            span { b { (least) } br; "no choice allowed can go below" }
            span.right { b { (objective) } br; "this answer" }
        }
    }
}

fn tiles(report: &Report) -> Markup {
    let data = &report.data;
    let standing = report.certificate.standing.as_ref();
    html! {
        (tile(html! { "Samples" }, &count(data.samples), &losses(&data.loss)))
        @if let Some(standing) = standing {
            @if report.certificate.optimal {
                (tile(term("gain", "Gain over no features"), "100\u{a0}%", "of the largest possible"))
            } @else if let Some(share) = gain(standing) {
                (tile(term("gain", "Gain over no features"), &format!("≥ {share}"), "of the largest possible, proved"))
            }
        } @else if !report.is_of_sizes() && report.certificate.is_useful() {
            @let left = if report.certificate.optimal { "closed".to_owned() } else { bound(report.certificate.gap, 3, Side::Above) };
            (tile(term("gap", "Gap"), &left, "what another choice could gain at the most"))
        }
        @match &report.diagnostics {
            Some(Diagnostics::Regression(fit)) => { (tile(term("r2", "R²"), &number(fit.r2, 3), &on(&fit.samples))) }
            Some(Diagnostics::Classification(fit)) => {
                (tile(term("auc", "AUC"), &number(fit.auc, 3), &on(&fit.samples)))
                (tile(html! { "Right classes" }, &percent(fit.accuracy), &on(&fit.samples)))
            }
            Some(Diagnostics::Classes(fit)) => {
                (tile(html! { "Right classes" }, &percent(fit.accuracy), &on(&fit.samples)))
                (tile(term("auc", "Mean AUC"), &number(fit.mean_area(), 3), "of each class against the others"))
            }
            Some(Diagnostics::Survival(fit)) => {
                (tile(term("concordance", "Concordance"), &number(fit.concordance, 3), &on(&fit.samples)))
            }
            None => {}
        }
        @if let Some(cv) = &report.cv && let Some(point) = cv.points.get(chosen_point(report, cv)) {
            @let error = format!("{} ± {}", cv.metric, number(point.standard_error, 2));
            (tile(term("cv", "Cross-validated"), &number(point.mean, 3), &error))
        }
        @if let Some(time) = report.seconds { (tile(html! { "Time" }, &seconds(time), "from start to answer")) }
    }
}

/// "squared loss", whether it is said so or not.
fn losses(name: &str) -> String {
    if name == "cox" {
        return "partial likelihood of Cox".to_owned();
    }
    if name.is_empty() || name.ends_with("loss") { name.to_owned() } else { format!("{} loss", name.replace('_', " ")) }
}

/// The point of the reported model, or the best one where the model is not a point of the path.
fn chosen_point(report: &Report, cv: &CrossValidation) -> usize {
    report.path.as_ref().and_then(|path| path.chosen).unwrap_or(cv.best)
}

fn on(samples: &str) -> String {
    format!("on {}", brief(samples))
}
