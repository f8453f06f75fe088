//! What is proved, and how features were ruled out.

use super::Section;
use super::parts::{Figure, features, key, term};
use crate::number::{below_objective, bound, count, number, percent, seconds};
use crate::series::{Series, TraceSeries};
use crate::types::{gain, limit, measure};
use crate::{Report, Screening};
use bestset::shown::Side;
use maud::{Markup, html};

/// The certificate in numbers and over time.
pub(super) fn section(report: &Report, series: &Series) -> Option<Section> {
    if report.is_of_sizes() {
        return None;
    }
    let body = html! {
        div.grid {
            @if let Some(trace) = &series.trace { (over_time(trace)) }
            div.card.wide[series.trace.is_none()] {
                h3 { "The certificate" }
                p.caption {
                    "The " (term("bound", "lower bound")) " holds for every choice of features that the problem allows, tried or not. "
                    "The " (term("gap", "gap")) " is the most this answer can be off."
                }
                (numbers(report))
                p.claim { (report.certificate.sentence) }
            }
        }
    };
    Some(Section { id: "proof", short: "Proof", title: "The proof", body })
}

fn over_time(trace: &TraceSeries) -> Markup {
    let last = |values: &[Option<f64>]| values.last().copied().flatten().unwrap_or(f64::NAN);
    let end = last(&trace.seconds);
    let said = format!(
        "Objective and lower bound over {}. The objective ends at {}, the bound at {}.",
        seconds(end),
        number(last(&trace.objective), 5),
        bound(last(&trace.bound), 5, Side::Below)
    );
    let note =
        (trace.left_out > 0).then(|| format!("{} moments between those drawn are left out.", count(trace.left_out)));
    let caption = html! {
        (key("objective", "objective")) (key("bound", "lower bound"))
        "The one falls, the other rises; the band between them is what is still open."
    };
    Figure::new("trace", "Closing in", caption, said).note(note).html()
}

fn numbers(report: &Report) -> Markup {
    let c = &report.certificate;
    let line = |label: Markup, value: String| html! { div { dt { (label) } dd { (value) } } };
    let least = match c.lower_bound.is_finite() {
        true => below_objective(c.objective, c.lower_bound, 8),
        false => "none".to_owned(),
    };
    html! {
        dl.numbers {
            @if let Some(standing) = &c.standing {
                (line(term("r2", measure(standing)), number(standing.r2, 4)))
                @if !c.optimal && standing.r2_limit < 1.0 {
                    (line(term("penalty", "Exceeded by no subset of this penalty"), limit(standing)))
                }
                @if let Some(share) = gain(standing).filter(|_| !c.optimal) {
                    (line(term("gain", "Share of the possible gain"), format!("at least {share}")))
                }
            }
            (line(term("objective", "Objective"), number(c.objective, 8)))
            (line(term("bound", "Lower bound"), least))
            @if c.gap.is_finite() { (line(term("gap", "Gap"), bound(c.gap, 4, Side::Above))) }
            (line(term("optimal", "Status"), c.status.clone()))
        }
    }
}

/// The funnel from all features to the chosen ones.
pub(super) fn screening(report: &Report) -> Option<Section> {
    let screening = report.screening.as_ref()?;
    let body = html! {
        div.card {
            p.caption {
                "Most features never need a close look: a " (term("screening", "rule")) " proves that they cannot matter. "
                "Blue bars narrow as features are ruled out for good; green bars count features that a rule decided otherwise."
            }
            ol.funnel { (steps(screening)) }
        }
    };
    Some(Section { id: "screening", short: "Ruled out", title: "What was ruled out", body })
}

fn steps(screening: &Screening) -> Markup {
    let all = screening.features.max(1);
    let mut left = screening.features;
    let bar = |count: usize| format!("width:{:.3}%", 100.0 * (count as f64 / all as f64).min(1.0));
    let mut lines = vec![(features(all.min(screening.features)), "to begin with".to_owned(), String::new(), bar(left))];
    for rule in &screening.rules {
        if rule.removes {
            left = left.saturating_sub(rule.count);
        }
        let share = percent(rule.count as f64 / all as f64);
        let width = if rule.removes { bar(left) } else { bar(rule.count) };
        let title = format!("{}{}", if rule.removes { "−" } else { "" }, count(rule.count));
        lines.push((title, format!("{} ({share})", rule.name), rule.explanation.clone(), width));
    }
    html! {
        @for (k, (amount, name, why, width)) in lines.iter().enumerate() {
            li class=[(k > 0 && !screening.rules[k - 1].removes).then_some("kept")] {
                div.step { b { (amount) } span { (name) } @if !why.is_empty() { p { (why) } } }
                div.funnel-track aria-hidden="true" { span style=(width) {} }
            }
        }
        li.end {
            div.step { b { (features(screening.selected)) } span { "in the answer" } }
            div.funnel-track aria-hidden="true" { span style=(bar(screening.selected)) {} }
        }
    }
}
