//! The best of each size, and the subsets that came close.

use super::Section;
use super::model::MOST_ROWS;
use super::parts::{Figure, key, plural, term};
use crate::number::{self, number};
use crate::series::Series;
use crate::{Report, Subset};
use bestset::shown::Side;
use maud::{Markup, html};

/// The best of each size and the runners-up.
pub(super) fn section(report: &Report, series: &Series) -> Option<Section> {
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
            @if !report.subsets.is_empty() { (sizes(&report.subsets, is_squared(report))) }
            @if !report.ranked.is_empty() { (runners_up(report)) }
        }
    };
    Some(Section { id: "alternatives", short: "Alternatives", title: "Alternatives", body })
}

/// Whether the share explained is one of squares, R², not of deviance, D².
fn is_squared(report: &Report) -> bool {
    report.certificate.standing.is_none_or(|s| s.is_squared)
}

fn sizes(subsets: &[Subset], is_squared: bool) -> Markup {
    let has = |value: &dyn Fn(&Subset) -> Option<f64>| subsets.iter().any(|s| value(s).is_some());
    let shown = [
        (if is_squared { "R²" } else { "D²" }, has(&|s| s.r2), 0),
        (if is_squared { "Adjusted R²" } else { "Adjusted D²" }, has(&|s| s.adjusted_r2), 1),
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
    known.map_or_else(|| "no bound".to_owned(), |bound| format!("at least {}", number::bound(bound, 5, Side::Below)))
}

fn names(list: &[String]) -> Markup {
    // Two lines on a phone; the rest is counted.
    const MOST: usize = 12;
    html! {
        span.names {
            // A comma stays with its name.
            @for (k, name) in list.iter().take(MOST).enumerate() {
                span.chip title=(name) { (name) @if k + 1 < list.len().min(MOST) { "," } } " "
            }
            @if list.len() > MOST { " and " (plural(list.len() - MOST, "other")) }
        }
    }
}

/// How each of the best subsets differs from the first of them.
fn runners_up(report: &Report) -> Markup {
    let ranked = &report.ranked;
    let best = &ranked[0];
    let has_fit = ranked.iter().any(|r| r.r2.is_some());
    let fit = if is_squared(report) { "R²" } else { "Deviance explained" };
    let proved = ranked.iter().take_while(|r| r.proved).count();
    html! {
        div.card.wide {
            h3 { "Runners-up" }
            p.caption {
                "The best subsets after this one, and how each differs from it. A small rise of the "
                (term("objective", "objective")) " means that the data hardly tell them apart. "
                @if proved == ranked.len() {
                    "The order is " (term("ranked", "proved")) ": no subset that is not listed is better than any of these."
                } @else if proved > 0 {
                    "Ranks up to " (proved) " are " (term("ranked", "proved")) "; subsets that are not listed may be better than the others."
                } @else {
                    "The order is not " (term("ranked", "proved")) ": subsets that are not listed may be better."
                }
            }
            div.scroll tabindex="0" role="region" aria-label="Best subsets in order" {
                table.ranked {
                    thead { tr {
                        th.number scope="col" { "Rank" } th scope="col" { "Without" } th scope="col" { "Instead" }
                        th.number scope="col" { "Features" } @if has_fit { th.number scope="col" { (fit) } }
                        th.number scope="col" { "Objective" } th.number scope="col" { "Rise" } th scope="col" { "Rank proved" }
                    } }
                    tbody {
                        @for (k, r) in ranked.iter().take(MOST_ROWS).enumerate() {
                            tr {
                                th.number scope="row" { (k + 1) }
                                @if k == 0 {
                                    td colspan="2" { b { "this model" } }
                                } @else {
                                    td { (signed("−", "down", &without(&best.features, &r.features))) }
                                    td { (signed("+", "up", &without(&r.features, &best.features))) }
                                }
                                td.number { (r.features.len()) }
                                @if has_fit { td.number { (number(r.r2.unwrap_or(f64::NAN), 4)) } }
                                td.number { (number(r.objective, 6)) }
                                td.number { @if k == 0 { "–" } @else { "+" (number((r.objective - best.objective).max(0.0), 3)) } }
                                td { (if r.proved { "yes" } else { "no" }) }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The names of the first list that the second has not.
fn without(list: &[String], other: &[String]) -> Vec<String> {
    list.iter().filter(|name| !other.contains(name)).cloned().collect()
}

/// Names with a sign before them; a dash where there are none.
fn signed(sign: &str, tone: &str, list: &[String]) -> Markup {
    html! { @if list.is_empty() { "–" } @else { span class=(format!("sign {tone}")) { (sign) "\u{a0}" } (names(list)) } }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Ranked;

    #[test]
    fn runners_up_say_what_goes_and_what_comes() {
        let names = |list: &str| list.chars().map(String::from).collect::<Vec<_>>();
        assert_eq!(
            (without(&names("abc"), &names("bd")), without(&names("bd"), &names("abc"))),
            (names("ac"), names("d"))
        );
        let ranked = |list: &str, objective, proved| Ranked { features: names(list), objective, proved, r2: Some(0.5) };
        let report = Report { ranked: vec![ranked("ab", 1.0, true), ranked("a", 1.25, false)], ..Report::default() };
        let text = runners_up(&report).into_string();
        assert!(text.contains("this model") && text.contains("+0.25") && text.contains("Ranks up to 1 are"), "{text}");
    }
}
