//! Where on the genome the chosen variants are, and what is correlated with them there.

use super::Section;
use super::parts::plural;
use crate::number::number;
use crate::types::{Genome, Locus, Neighbour};
use crate::{Report, page::model::MOST_ROWS};
use maud::{Markup, html};

/// From this r² on a neighbour might have been chosen in place of the variant.
const CLOSE: f64 = 0.5;
/// Width and height of a drawing of neighbours.
const STRIP: (f64, f64) = (220.0, 36.0);
/// Length of the longest chromosome in the map, and the height of a row.
const MAP: (f64, f64) = (640.0, 20.0);

/// The section; `None` where features are no variants, or none was chosen.
pub(super) fn section(report: &Report) -> Option<Section> {
    let genome = report.genome.as_ref().filter(|genome| !genome.loci.is_empty())?;
    let body = html! {
        div.card {
            p.caption {
                "The " (plural(genome.loci.len(), "chosen variant")) " on the chromosomes, and around each the squared correlation r² of "
                "its neighbours within " (distance(genome.window)) ". A neighbour with a high r² carries nearly the same information: "
                "the variant that was chosen is the one that fits best, which need not be the one that acts."
            }
            (map(genome))
            (table(genome))
        }
    };
    Some(Section { id: "genome", short: "Genome", title: "Where on the genome", body })
}

/// A length in base pairs as people say it.
fn distance(bases: i64) -> String {
    match bases.abs() {
        0..1000 => format!("{bases} bp"),
        1000..1_000_000 => format!("{} kb", number(bases as f64 / 1e3, 3)),
        _ => format!("{} Mb", number(bases as f64 / 1e6, 4)),
    }
}

/// A line for each chromosome that has a chosen variant, marks where they are.
fn map(genome: &Genome) -> Markup {
    let has = |name: &str| genome.loci.iter().any(|l| l.chromosome == name);
    let shown: Vec<_> = genome.chromosomes.iter().filter(|c| has(&c.name)).collect();
    let longest = shown.iter().map(|c| c.to).max().unwrap_or(1).max(1) as f64;
    let ((length, row), left) = (MAP, 48.0);
    let at = |position: i64| left + length * (position.max(0) as f64 / longest).min(1.0);
    let height = row * shown.len() as f64 + 4.0;
    let what = format!("{} on {}", plural(genome.loci.len(), "variant"), plural(shown.len(), "chromosome"));
    html! {
        svg role="img" aria-label=(what) width="100%" viewBox=(format!("0 0 {} {height}", left + length + 12.0)) fill="currentColor" {
            @for (k, chromosome) in shown.iter().enumerate() {
                @let y = row * (k as f64 + 0.5) + 2.0;
                text x="0" y=(format!("{:.1}", y + 4.0)) font-size="11" { (chromosome.name) }
                line x1=(left) x2=(format!("{:.1}", at(chromosome.to))) y1=(y) y2=(y) stroke="currentColor" stroke-width="4" stroke-linecap="round" opacity="0.2" {}
                @for locus in genome.loci.iter().filter(|l| l.chromosome == chromosome.name) {
                    circle cx=(format!("{:.1}", at(locus.position))) cy=(y) r="4.5" {
                        title { (locus.name) " " (locus.id) }
                    }
                }
            }
        }
    }
}

fn table(genome: &Genome) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label="Table of chosen variants" {
            table {
                caption.unseen { "Chosen variants with their alleles and neighbours" }
                thead { tr {
                    th scope="col" { "Variant" }
                    th scope="col" { "Effect allele" }
                    th.number scope="col" { "Frequency" }
                    th.number scope="col" { "Coefficient" }
                    th scope="col" { "r² of neighbours" }
                    th scope="col" { "Closest" }
                } }
                tbody {
                    @for locus in genome.loci.iter().take(MOST_ROWS) {
                        tr {
                            th scope="row" { span.name title=(locus.name) { (locus.name) } " " (locus.id) }
                            td { (locus.effect) " (other " (locus.other) ")" }
                            td.number { (number(locus.frequency, 3)) }
                            td.number { (number(locus.coefficient, 4)) }
                            td { (strip(locus, genome.window)) }
                            td { (closest(locus)) }
                        }
                    }
                }
            }
        }
        @if genome.loci.len() > MOST_ROWS { p.note { "The first " (MOST_ROWS) "; the others are in the model file." } }
    }
}

/// Bars of r² over the distance, the variant itself in the middle.
fn strip(locus: &Locus, window: i64) -> Markup {
    let (width, height) = STRIP;
    let at = |position: i64| width / 2.0 * (1.0 + (position - locus.position) as f64 / window.max(1) as f64);
    let what = format!("{} around {}", plural(locus.neighbours.len(), "neighbour"), locus.name);
    html! {
        svg role="img" aria-label=(what) width=(width) height=(height) viewBox=(format!("0 0 {width} {height}")) fill="currentColor" {
            line x1="0" x2=(width) y1=(height - 0.5) y2=(height - 0.5) stroke="currentColor" opacity="0.3" {}
            @for n in &locus.neighbours {
                @let tall = (height - 4.0) * n.r2.clamp(0.0, 1.0);
                rect x=(format!("{:.1}", at(n.position) - 0.75)) y=(format!("{:.1}", height - tall)) width="1.5" height=(format!("{tall:.1}")) opacity="0.6" {}
            }
            circle cx=(width / 2.0) cy="4" r="3" {}
        }
    }
}

/// The neighbour that is most like it, and how many are close.
fn closest(locus: &Locus) -> Markup {
    let best: Option<&Neighbour> = locus.neighbours.iter().max_by(|a, b| a.r2.total_cmp(&b.r2));
    let close = locus.neighbours.iter().filter(|n| n.r2 >= CLOSE).count();
    html! {
        @if let Some(n) = best {
            (n.id) ", r² " (number(n.r2, 2)) " at " @if n.position >= locus.position { "+" } (distance(n.position - locus.position))
            @if close > 1 { "; " (close) " above " (CLOSE) }
        } @else { "none" }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::Chromosome;

    #[test]
    fn a_page_shows_where_variants_are_and_nothing_where_there_are_none() {
        assert!(section(&Report::default()).is_none());
        let neighbour = |position, r2| Neighbour { id: format!("rs{position}"), position, r2 };
        let locus = Locus {
            name: "1:5000:A:<b>".into(),
            id: "rs1".into(),
            chromosome: "1".into(),
            position: 5000,
            effect: "<b>".into(),
            other: "A".into(),
            frequency: 0.25,
            coefficient: -1.5,
            neighbours: vec![neighbour(4000, 0.9), neighbour(5600, 0.55)],
        };
        let chromosomes = vec![Chromosome { name: "1".into(), from: 1, to: 10_000 }];
        let genome = Some(Genome { chromosomes, loci: vec![locus], window: 10_000 });
        let html = Report { genome, ..Report::default() }.html();
        assert!(html.contains("Where on the genome") && html.contains("rs4000, r² 0.9"), "the neighbour");
        assert!(html.contains("-1 kb") || html.contains("−1 kb"), "its distance");
        assert!(html.contains("2 above 0.5") && html.contains("&lt;b&gt;") && !html.contains("A:<b>"));
    }
}
