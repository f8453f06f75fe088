//! Tables of RESULTS.md.

use crate::algorithm::{ALL, DEFAULT, EXACT, published};
use crate::charts::{excesses, right_share};
use crate::figures::prediction;
use crate::row::Row;
use crate::summary::{data_sets, median, quantile, runs, settings, standings};

/// A table in Markdown.
pub fn markdown(header: &[&str], rows: &[Vec<String>]) -> String {
    if rows.is_empty() {
        return "No runs yet.".to_owned();
    }
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let mut text = line(header.iter().map(|h| (*h).to_owned()).collect());
    text += &line(header.iter().enumerate().map(|(i, _)| if i == 0 { "---" } else { "---:" }.to_owned()).collect());
    rows.iter().for_each(|row| text += &line(row.clone()));
    text.trim_end().to_owned()
}

/// Four significant digits, or a power of ten; whole numbers as they are.
pub fn number(value: f64) -> String {
    match value.abs() {
        _ if value.is_nan() => "–".to_owned(),
        _ if value.is_infinite() => if value > 0.0 { "∞" } else { "−∞" }.to_owned(),
        a if a < 1e5 && value.fract() == 0.0 => format!("{value}"),
        a if (1e-3..1e5).contains(&a) => {
            let digits = (3 - a.log10().floor() as i32).max(0) as usize;
            format!("{value:.digits$}")
        }
        _ => format!("{value:.1e}"),
    }
}

/// A share as a percentage.
pub fn percent(share: f64) -> String {
    match share {
        s if s.is_nan() => "–".to_owned(),
        0.0 => "0 %".to_owned(),
        s if s.abs() < 1e-4 => format!("{:.0e} %", 100.0 * s),
        s if s.abs() < 0.1 => format!("{:.2} %", 100.0 * s),
        s => format!("{:.0} %", 100.0 * s),
    }
}

/// Medians of every algorithm in every setting.
pub fn medians(rows: &[Row]) -> String {
    let sets = data_sets(rows);
    let simulated = rows.iter().any(|r| r.recovered.is_some());
    let mut header = vec!["setting", "algorithm", "runs", "P", "bound", "gap", "true gap", "non-zeros"];
    if simulated {
        header.extend(["PSSR features", "PSSR replicates", "estimation error"]);
    }
    header.extend(["iterations", "MB of X read", "time / pass", "time / CDSS", "cap hits"]);
    let mut lines = Vec::new();
    for setting in settings(rows) {
        for algorithm in ALL {
            let runs = runs(rows, setting, algorithm.label);
            let of = |value: &dyn Fn(&Row) -> f64| number(median(runs.iter().map(|r| value(r))));
            let place = |r: &Row| sets.iter().find(|s| s.setting == r.setting && s.replicate == r.replicate);
            let true_gap = median(runs.iter().filter_map(|r| place(r).map(|set| set.true_gap(r))));
            let mut line = vec![setting.to_owned(), algorithm.label.to_owned(), runs.len().to_string()];
            line.extend([of(&|r| r.objective), of(&|r| r.own_bound), of(&|r| r.gap), percent(true_gap)]);
            line.push(of(&|r| r.nonzeros as f64));
            if simulated {
                line.push(of(&|r| r.recovered_share.unwrap_or(f64::NAN)));
                let exact: usize = runs.iter().filter(|r| r.recovered == Some(1)).count();
                line.push(format!("{exact} of {}", runs.len()));
                line.push(of(&|r| r.estimation_error.unwrap_or(f64::NAN)));
            }
            line.extend([of(&|r| r.iterations as f64), of(&|r| r.bytes_read / 1e6), of(&|r| r.time_in_passes)]);
            line.push(of(&|r| r.time_to_cdss.unwrap_or(f64::NAN)));
            line.push(runs.iter().filter(|r| r.capped == 1).count().to_string());
            lines.push(line);
        }
    }
    markdown(&header, &lines)
}

/// Where the default solver stands in every setting.
pub fn envelope(rows: &[Row]) -> String {
    let header = [
        "setting",
        "replicates",
        "mean P, default",
        "lowest mean P, published",
        "default below by",
        "lowest P on",
        "fastest published",
        "its time / default's",
    ];
    let line = |s: &crate::summary::Standing| {
        let (name, mean) = s.rival;
        vec![
            s.setting.clone(),
            s.replicates.to_string(),
            format!("{:.6}", s.default_mean),
            format!("{mean:.6} ({name})"),
            format!("{:.4} %", below(mean, s.default_mean)),
            format!("{} of {}", s.lowest, s.replicates),
            s.fastest.0.to_owned(),
            number(s.fastest.1),
        ]
    };
    markdown(&header, &standings(rows).iter().map(line).collect::<Vec<_>>())
}

/// How much lower the default's mean is, in percent; what is no more than rounding is zero.
fn below(rival: f64, own: f64) -> f64 {
    let percent = 100.0 * (rival - own) / rival.abs();
    if percent.abs() < 1e-7 { 0.0 } else { percent }
}

/// True optimality gap and excess over the certified optimum, algorithm by algorithm.
pub fn true_gaps(rows: &[Row]) -> String {
    let sets = data_sets(rows);
    let header = [
        "algorithm",
        "runs",
        "own gap / P, median",
        "true gap / P, median",
        "true gap / P, largest",
        "optimum proved on",
        "of these exactly right",
        "excess over it, median",
        "largest",
    ];
    let line = |label: &str| {
        let gaps: Vec<f64> = sets.iter().filter_map(|s| s.of(label).map(|r| s.true_gap(r))).collect();
        let own = sets.iter().filter_map(|s| s.of(label)).map(|r| r.gap / r.own_objective.abs());
        let off = excesses(&sets, None, label);
        let largest = |v: &[f64]| quantile(v.iter().copied(), 1.0);
        vec![
            label.to_owned(),
            gaps.len().to_string(),
            percent(median(own)),
            percent(median(gaps.iter().copied())),
            percent(largest(&gaps)),
            off.len().to_string(),
            percent(right_share(&off)),
            percent(median(off.iter().copied())),
            percent(largest(&off)),
        ]
    };
    let present = ALL.iter().filter(|a| rows.iter().any(|r| r.algorithm == a.label));
    markdown(&header, &present.map(|a| line(a.label)).collect::<Vec<_>>())
}

/// How the constant step fares: iterations, caps, the gap it ends with against the true one.
pub fn steps(rows: &[Row]) -> String {
    let sets = data_sets(rows);
    let header = [
        "algorithm",
        "runs",
        "iterations, median",
        "largest",
        "cap hits",
        "own P − D at the end, median",
        "its P − best bound known, median",
    ];
    let line = |label: &str| {
        let runs: Vec<&Row> = rows.iter().filter(|r| r.algorithm == label).collect();
        let iterations = |q| number(quantile(runs.iter().map(|r| r.iterations as f64), q));
        let gap = sets.iter().filter_map(|s| s.of(label).map(|r| (r.objective - s.bound()).max(0.0)));
        vec![
            label.to_owned(),
            runs.len().to_string(),
            iterations(0.5),
            iterations(1.0),
            runs.iter().filter(|r| r.capped == 1).count().to_string(),
            number(median(runs.iter().map(|r| r.gap))),
            number(median(gap)),
        ]
    };
    let ascent = published().filter(|a| a.is_ascent() && rows.iter().any(|r| r.algorithm == a.label));
    markdown(&header, &ascent.map(|a| line(a.label)).collect::<Vec<_>>())
}

/// Share of features screened at the best dual point, with the radius from P and from R.
pub fn screening(rows: &[Row]) -> String {
    let line = |setting: &str| {
        let runs = runs(rows, setting, DEFAULT.label);
        let of = |value: fn(&Row) -> Option<f64>| percent(median(runs.iter().filter_map(|r| value(r))));
        vec![setting.to_owned(), runs.len().to_string(), of(|r| r.screened_by_p), of(|r| r.screened_by_r)]
    };
    let lines: Vec<_> = settings(rows).into_iter().map(line).collect();
    markdown(&["setting", "replicates", "radius from P (published)", "radius from R"], &lines)
}

/// Strong duality, setting by setting: where P* > max D is proved.
pub fn duality(rows: &[Row]) -> String {
    let sets = data_sets(rows);
    let header =
        ["setting", "data sets", "P* > max D proved", "optimum proved", "(P* − max D) / P*, median", "largest"];
    let line = |setting: &str| {
        let own: Vec<_> = sets.iter().filter(|s| s.setting == setting && s.of(EXACT.label).is_some()).collect();
        let refuted = own.iter().filter(|s| s.relaxation().is_some_and(|d| is_above(s.bound(), d))).count();
        let lost =
            |s: &&crate::summary::DataSet<'_>| Some((s.certified()? - s.relaxation()?).max(0.0) / s.certified()?);
        let gaps: Vec<f64> = own.iter().filter_map(lost).collect();
        let cells = [own.len(), refuted, gaps.len()].map(|c| c.to_string());
        let mut line = vec![setting.to_owned()];
        line.extend(cells);
        line.extend([percent(median(gaps.iter().copied())), percent(quantile(gaps.iter().copied(), 1.0))]);
        line
    };
    markdown(&header, &settings(rows).into_iter().map(line).collect::<Vec<_>>())
}

/// Above by more than the tolerance to which max D is known.
pub fn is_above(bound: f64, relaxation: f64) -> bool {
    bound > relaxation + 1e-7 * relaxation.abs()
}

/// Medians of the prediction figure.
pub fn predictions(rows: &[prediction::Row]) -> String {
    let header = ["setting", "method", "runs", "error / σ²", "explained", "non-zeros", "true ones", "proved gap"];
    let mut lines = Vec::new();
    for setting in prediction::settings() {
        for method in prediction::METHODS {
            let runs: Vec<_> = rows.iter().filter(|r| r.setting == setting.name && r.method == method).collect();
            if runs.is_empty() {
                continue;
            }
            let of = |value: fn(&prediction::Row) -> f64| median(runs.iter().map(|r| value(r)));
            let mut line = vec![setting.name.clone(), method.to_owned(), runs.len().to_string()];
            line.extend([
                number(of(|r| r.test_error)),
                percent(of(|r| r.explained)),
                number(of(|r| r.nonzeros as f64)),
            ]);
            line.extend([number(of(|r| r.hits as f64)), percent(of(|r| r.relative_gap.unwrap_or(f64::NAN)))]);
            lines.push(line);
        }
    }
    markdown(&header, &lines)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::tests::complete;

    #[test]
    fn numbers_have_four_digits() {
        assert_eq!(
            [0.012345, 1.23456, 12345.6, 1e-9, f64::NAN].map(number),
            ["0.01235", "1.235", "12346", "1.0e-9", "–"]
        );
        assert_eq!([0.5, 0.0123, 0.0, 1e-7].map(percent), ["50 %", "1.23 %", "0 %", "1e-5 %"]);
    }

    #[test]
    fn tables_tell_what_the_rows_say() {
        let rows = complete();
        let table = true_gaps(&rows);
        let cdss = table.lines().find(|l| l.contains("CDSS")).unwrap();
        assert_eq!(cdss, "| CDSS | 1 | 40 % | 12 % | 12 % | 1 | 0 % | 14 % | 14 % |");
        assert!(table.lines().last().unwrap().contains("| exact | 1 | 0 % | 0 % | 0 % | 1 | 100 % |"));
        assert!(envelope(&rows).contains("| s | 1 | 4.500000 | 5.000000 (D-IHT) | 10.0000 % | 1 of 1 |"));
        assert!(duality(&rows).ends_with("| s | 1 | 1 | 1 | 4.55 % | 4.55 % |"));
        assert_eq!(medians(&rows).lines().count(), 2 + 8);
        assert_eq!(steps(&[]), "No runs yet.");
    }
}
