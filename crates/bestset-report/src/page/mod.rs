//! The page: one HTML file that asks nothing of the network.

mod alternatives;
mod answer;
mod choice;
mod classes;
mod embed;
mod fit;
mod genome;
mod glossary;
mod model;
mod parts;
mod proof;
mod request;
mod survival;

use crate::Report;
use crate::series::Series;
use maud::{DOCTYPE, Markup, PreEscaped, html};

/// A custom build of Apache ECharts; `web/` says how it is made.
const ECHARTS: &str = include_str!("../../assets/echarts.min.js");
const STYLE: &str = include_str!("../../assets/report.css");
const SCRIPTS: [&str; 9] = [
    include_str!("../../assets/js/base.js"),
    include_str!("../../assets/js/proof.js"),
    include_str!("../../assets/js/scores.js"),
    include_str!("../../assets/js/choice.js"),
    include_str!("../../assets/js/fit.js"),
    include_str!("../../assets/js/classes.js"),
    include_str!("../../assets/js/survival.js"),
    include_str!("../../assets/js/frame.js"),
    include_str!("../../assets/js/start.js"),
];

/// Nothing may be fetched, whatever a name in the data says.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data: blob:; \
                      base-uri 'none'; form-action 'none'";

/// A part of the page with its place in the navigation.
pub(crate) struct Section {
    id: &'static str,
    /// In the navigation.
    short: &'static str,
    title: &'static str,
    body: Markup,
}

impl Report {
    /// The page: one HTML file with everything in it, that works without a network.
    pub fn html(&self) -> String {
        let series = Series::new(self);
        let sections: Vec<Section> = [
            model::section(self),
            genome::section(self),
            proof::section(self, &series),
            choice::section(self, &series),
            alternatives::section(self, &series),
            proof::screening(self),
            fit::section(self, &series),
            Some(request::section(self)),
        ]
        .into_iter()
        .flatten()
        .collect();
        html! {
            (DOCTYPE)
            html lang="en" {
                (self.head())
                body {
                    a.skip href="#answer" { "Skip to the answer" }
                    (self.bar(&sections))
                    main {
                        (answer::hero(self))
                        noscript { p.note { "The charts need scripts, which are off; the numbers and tables do not." } }
                        @for section in &sections { (frame(section)) }
                        (glossary::section())
                    }
                    (self.foot())
                    (glossary::popovers())
                    div #announcer.unseen aria-live="polite" {}
                    script type="application/json" id="report-data" { (PreEscaped(embed::json(&series))) }
                    script { (PreEscaped(ECHARTS)) }
                    script { (PreEscaped(embed::script(&SCRIPTS))) }
                }
            }
        }
        .into_string()
    }

    /// Whether it is about the best subset of each size and not about one answer.
    fn is_of_sizes(&self) -> bool {
        !self.subsets.is_empty() && self.model == Default::default()
    }

    fn heading(&self) -> &str {
        if self.title.is_empty() { "Best subset" } else { &self.title }
    }

    fn head(&self) -> Markup {
        html! {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="color-scheme" content="light dark";
                meta name="generator" content=(format!("bestset {}", self.version));
                link rel="icon" href=(embed::ICON);
                title { (self.heading()) " – bestset report" }
                style { (PreEscaped(STYLE)) }
                // Before anything is drawn: no flash of the other theme.
                script { (PreEscaped(embed::THEME)) }
            }
        }
    }

    fn bar(&self, sections: &[Section]) -> Markup {
        html! {
            header.bar {
                div.bar-inner {
                    a.brand href="#answer" { (embed::logo()) span { "bestset" } }
                    nav aria-label="Sections" {
                        ul {
                            @for section in sections {
                                li { a href=(format!("#{}", section.id)) { (section.short) } }
                            }
                            li { a href="#glossary" { "Glossary" } }
                        }
                    }
                    button #theme.icon-button type="button" aria-label="Dark theme" aria-pressed="false" {
                        (embed::theme_icon())
                    }
                }
            }
        }
    }

    fn foot(&self) -> Markup {
        html! {
            footer.foot {
                p {
                    "Made by bestset" @if !self.version.is_empty() { " " (self.version) }
                    @if let Some(created) = &self.created { ", " (created) }
                    ". This page is one file: it works offline and sends nothing anywhere. Charts by Apache ECharts."
                }
            }
        }
    }
}

fn frame(section: &Section) -> Markup {
    let heading = format!("{}-heading", section.id);
    html! {
        section id=(section.id) aria-labelledby=(heading) {
            h2 id=(heading) { (section.title) }
            (section.body)
        }
    }
}
