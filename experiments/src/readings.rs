//! What depends on the reading of a stopping rule: both readings of the paper's two ascents beside CDSS, and what ended
//! the runs.

use crate::algorithm::{Algorithm, CDSS, published};
use crate::row::{Ended, Row};
use crate::summary::{DataSet, data_sets, median, quantile, runs, settings};
use crate::tables::{markdown, number, percent};
use bestset::Method;

/// CDSS and both readings of DualAst and PrimDual.
fn compared() -> impl Iterator<Item = Algorithm> {
    published().filter(|a| !a.is_k_sparse())
}

/// Time, P, gap and recovery of the two ascents in both readings, with CDSS as the yardstick: a block of lines for each
/// value of SNR or, of data that are not simulated, of p.
pub fn table(rows: &[Row]) -> String {
    let simulated = rows.iter().any(|r| r.recovered.is_some());
    let mut header = vec![
        if simulated { "SNR" } else { "p" },
        "algorithm",
        "runs",
        "time / CDSS, middle setting",
        "least",
        "largest",
        "passes over X / CDSS",
        "features at work",
        "P above CDSS, median",
        "largest",
        "own gap, median",
        "non-zeros",
    ];
    if simulated {
        header.extend(["PSSR features", "estimation error"]);
    }
    let group = |row: &Row| if simulated { row.snr } else { row.p as f64 };
    let mut groups: Vec<f64> = rows.iter().map(group).collect();
    groups.sort_by(|a, b| if simulated { b.total_cmp(a) } else { a.total_cmp(b) });
    groups.dedup();
    let mut lines = Vec::new();
    for value in groups {
        let own: Vec<Row> = rows.iter().filter(|r| group(r) == value).cloned().collect();
        for algorithm in compared().filter(|a| own.iter().any(|r| r.algorithm == a.label)) {
            lines.push([vec![value.to_string()], line(&own, algorithm.label, simulated)].concat());
        }
    }
    markdown(&header, &lines)
}

fn line(rows: &[Row], label: &str, simulated: bool) -> Vec<String> {
    let sets = data_sets(rows);
    let runs: Vec<&Row> = rows.iter().filter(|r| r.algorithm == label).collect();
    let of = |value: fn(&Row) -> f64| number(median(runs.iter().map(|r| value(r))));
    let times = ratios(rows, label);
    let above = against(&sets, label, |r| r.objective).map(|ratio| ratio - 1.0);
    let mut line = vec![label.to_owned(), runs.len().to_string()];
    line.extend([0.5, 0.0, 1.0].map(|q| number(quantile(times.iter().copied(), q))));
    line.push(number(median(against(&sets, label, |r| r.passes))));
    line.push(percent(median(runs.iter().map(|r| at_work(r)))));
    line.extend([0.5, 1.0].map(|q| percent(quantile(above.clone(), q))));
    line.extend([of(|r| r.gap), of(|r| r.nonzeros as f64)]);
    if simulated {
        line.push(of(|r| r.recovered_share.unwrap_or(f64::NAN)));
        line.push(of(|r| r.estimation_error.unwrap_or(f64::NAN)));
    }
    line
}

/// Median time over that of CDSS in each setting.
fn ratios(rows: &[Row], label: &str) -> Vec<f64> {
    let middle = |setting: &str| median(runs(rows, setting, label).iter().filter_map(|r| r.time_to_cdss));
    settings(rows).into_iter().map(middle).filter(|r| !r.is_nan()).collect()
}

/// Share of the features that a step of an ascent works on: a step is one pass over them for the link and, in PrimDual,
/// one for T.
fn at_work(row: &Row) -> f64 {
    let passes = match Algorithm::find(&row.algorithm).map(|a| a.method) {
        Some(Method::PrimalDual { .. }) => 2.0,
        Some(Method::DualAscent) => 1.0,
        _ => f64::NAN,
    };
    row.passes / (passes * row.iterations as f64)
}

/// A measure of an algorithm over that of CDSS on the same data.
fn against<'a>(
    sets: &'a [DataSet<'_>],
    label: &'a str,
    value: fn(&Row) -> f64,
) -> impl Iterator<Item = f64> + Clone + 'a {
    sets.iter().filter_map(move |set| Some(value(set.of(label)?) / value(set.of(CDSS.label)?)))
}

/// How often each ascent ended by which rule.
pub fn endings(rows: &[Row]) -> String {
    let header = ["algorithm", "runs", "gap < ε", "change < ζ", "not decreasing", "at the cap", "not recorded"];
    let kinds = [Ended::Epsilon, Ended::Zeta, Ended::NotDecreasing, Ended::Cap].map(Some);
    let line = |label: &str| {
        let runs: Vec<&Row> = rows.iter().filter(|r| r.algorithm == label).collect();
        let count = |kind: Option<Ended>| runs.iter().filter(|r| r.ended_by == kind).count().to_string();
        let mut line = vec![label.to_owned(), runs.len().to_string()];
        line.extend(kinds.into_iter().chain([None]).map(count));
        line
    };
    let present = published().filter(|a| a.is_ascent() && rows.iter().any(|r| r.algorithm == a.label));
    markdown(&header, &present.map(|a| line(a.label)).collect::<Vec<_>>())
}

/// The time and P of one algorithm beside CDSS in words.
pub fn words(rows: &[Row], label: &str) -> String {
    if rows.is_empty() {
        return "there are no runs yet".to_owned();
    }
    let (times, sets) = (ratios(rows, label), data_sets(rows));
    let above = against(&sets, label, |r| r.objective).map(|ratio| ratio - 1.0);
    let capped = rows.iter().any(|r| r.algorithm == label && r.capped == 1);
    let (least, counts) = if capped { ("at least ", " (a run at the cap counts with the cap)") } else { ("", "") };
    format!(
        "{least}{} times the time of CDSS in the middle setting{counts}, faster than it in {} of {}; P above that of CDSS by {} in the middle and {} at the most",
        number(median(times.iter().copied())),
        times.iter().filter(|r| **r < 1.0).count(),
        times.len(),
        percent(median(above.clone())),
        percent(quantile(above, 1.0)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::tests::{complete, replace, row};

    #[test]
    fn both_readings_stand_beside_cdss() {
        let mut rows = complete();
        let literal = Row { ended_by: Some(Ended::NotDecreasing), ..row("PrimDual", 6.0, 3.0, 100.0) };
        let patient = Row { ended_by: Some(Ended::Cap), capped: 1, ..row("PrimDual (patient)", 5.5, 3.0, 900.0) };
        replace(&mut rows, Row { time_to_cdss: Some(12.0), ..literal });
        replace(&mut rows, Row { time_to_cdss: Some(90.0), ..patient });
        let table = table(&rows);
        assert_eq!(table.lines().count(), 2 + 5, "CDSS and two algorithms twice");
        assert!(table.contains("| 5 | PrimDual | 1 | 12 | 12 | 12 | 1 | 64 % | 20 % | 20 % | 3 |"), "{table}");
        let ended = endings(&rows);
        assert!(ended.contains("| PrimDual | 1 | 0 | 0 | 1 | 0 | 0 |"), "{ended}");
        assert!(ended.contains("| PrimDual (patient) | 1 | 0 | 0 | 0 | 1 | 0 |") && !ended.contains("CDSS"));
        assert!(words(&rows, "PrimDual").starts_with("12 times the time of CDSS"), "a run that was not capped");
        assert!(words(&rows, "PrimDual (patient)").starts_with("at least 90 times"));
    }
}
