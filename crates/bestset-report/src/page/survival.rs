//! Survival of groups by risk.

use super::fit::{counted, facts, remark};
use super::parts::{Figure, key, plural, term};
use crate::SurvivalFit;
use crate::number::{count, number};
use crate::series::SurvivalSeries;
use crate::types::brief;
use maud::{Markup, html};

/// The colours of the groups, least risk first.
pub(super) fn shades(groups: usize) -> &'static [&'static str] {
    match groups {
        1 => &["accent"],
        2 => &["bound", "objective"],
        _ => &["bound", "accent", "objective"],
    }
}

pub(super) fn body(fit: &SurvivalFit, drawn: &SurvivalSeries, explained: Option<(Markup, String)>) -> Markup {
    let of = brief(&fit.samples);
    let list = [
        Some((term("concordance", "Concordance (C)"), number(fit.concordance, 4))),
        explained,
        Some((html! { "Events" }, format!("{} of {}", count(fit.events), count(fit.count)))),
    ];
    let said = format!(
        "Survival curves of {} groups of {} by predicted risk, as observed and as predicted.",
        fit.groups.len(),
        counted(&fit.samples, fit.count)
    );
    html! {
        (remark(&fit.samples, fit.count))
        (facts(&list.into_iter().flatten().collect::<Vec<_>>()))
        div.grid {
            (Figure::new("survival", "Survival by predicted risk", html! {
                @for (group, shade) in fit.groups.iter().zip(shades(fit.groups.len())) { (key(shade, &group.name)) }
                "Of " (of) " in groups of equal size. Steps: what happened (" (term("kaplan-meier", "Kaplan–Meier"))
                "); dashes: what the model predicts. Curves far apart tell the groups apart; where dashes follow the steps, the predictions can be trusted."
            }, said).wide().html())
            (table(fit, &drawn.time))
        }
    }
}

fn table(fit: &SurvivalFit, time: &str) -> Markup {
    html! {
        div.card.wide {
            h3 { "Numbers at risk" }
            p.caption { "Samples under observation at a time, by group; the median is the time by which half have had the event." }
            div.scroll tabindex="0" role="region" aria-label="Numbers at risk" {
                table {
                    caption.unseen { "Numbers at risk of " (plural(fit.groups.len(), "group")) }
                    thead {
                        tr {
                            th scope="col" { (time) }
                            @for mark in &fit.marks { th.number scope="col" { (number(*mark, 4)) } }
                            th.number scope="col" { "events" }
                            th.number scope="col" { "median" }
                        }
                    }
                    tbody {
                        @for (group, shade) in fit.groups.iter().zip(shades(fit.groups.len())) {
                            tr {
                                th scope="row" { (key(shade, &group.name)) }
                                @for at_risk in &group.at_risk { td.number { (count(*at_risk)) } }
                                td.number { (count(group.events)) }
                                td.number { (group.median.map_or_else(|| "not reached".to_owned(), |m| number(m, 4))) }
                            }
                        }
                    }
                }
            }
        }
    }
}
