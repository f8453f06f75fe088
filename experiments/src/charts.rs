//! The sheets of panels, from the rows.

use crate::Result;
use crate::algorithm::{ALL, Algorithm};
use crate::figures::{news20, prediction, quality, simulation};
use crate::plot::{Panel, Point, Sheet};
use crate::row::Row;
use crate::summary::{self, DataSet, SAME, data_sets, mean, median, quantile, runs};

/// Gaps below this are drawn as this.
const GAP_FLOOR: f64 = 1e-7;

/// What a panel shows of a run.
struct Measure {
    title: &'static str,
    floor: Option<f64>,
    value: fn(&Row) -> f64,
}

const TIME: Measure = Measure { title: "time, in passes over X", floor: Some(1e-3), value: |r| r.time_in_passes };
const GAP: Measure = Measure { title: "duality gap", floor: Some(GAP_FLOOR), value: |r| r.gap };
const NONZEROS: Measure = Measure { title: "non-zeros", floor: None, value: |r| r.nonzeros as f64 };
const PSSR: Measure =
    Measure { title: "PSSR, share of features", floor: None, value: |r| r.recovered_share.unwrap_or(f64::NAN) };
const ERROR: Measure =
    Measure { title: "estimation error", floor: None, value: |r| r.estimation_error.unwrap_or(f64::NAN) };
const OBJECTIVE: Measure = Measure { title: "objective P", floor: None, value: |r| r.objective };

const NOTE: &str = "Medians, with quartiles as thin bars. Dashed: the patient reading of a stopping rule. Hollow: a time cap \
                    ended runs. Points are set apart sideways so that equal ones can be seen.";

/// Figure 1: a row of panels for each SNR.
pub fn simulation(rows: &[Row]) -> Result<String> {
    let row = |snr: f64| {
        let names = simulation::SAMPLES.map(|n| format!("snr{snr}-n{n}"));
        let panels = [TIME, GAP, NONZEROS, PSSR, ERROR].map(|measure| over_samples(rows, &names, &measure));
        (format!("SNR {snr}"), panels.to_vec())
    };
    let rows = simulation::SNR.map(row).to_vec();
    Sheet { title: "Simulated data, p = 3000", note: NOTE, key: key(), rows }.svg()
}

/// Figure 2: a row of panels for each p.
pub fn news20(rows: &[Row]) -> Result<String> {
    let row = |p: usize| {
        let names = simulation::SAMPLES.map(|n| format!("p{p}-n{n}"));
        let panels = [TIME, OBJECTIVE, GAP, NONZEROS].map(|measure| over_samples(rows, &names, &measure));
        (format!("p = {p}"), panels.to_vec())
    };
    let rows = news20::FEATURES.map(row).to_vec();
    Sheet { title: "News20", note: NOTE, key: key(), rows }.svg()
}

/// Styles in the order of `ALL`: the two readings of an algorithm have its colour and its marker.
const STYLES: [usize; ALL.len()] = [0, 1, 2, 6, 3, 7, 4, 5];

fn key() -> Vec<(usize, &'static str)> {
    STYLES.into_iter().zip(ALL.map(|a| a.label)).collect()
}

fn over_samples(rows: &[Row], names: &[String], measure: &Measure) -> Panel {
    let point = |algorithm: &Algorithm, (x, name): (usize, &String)| {
        let runs = runs(rows, name, algorithm.label);
        spread(x, runs.iter().map(|r| (measure.value)(r)), runs.iter().any(|r| r.capped == 1))
    };
    Panel {
        title: measure.title.to_owned(),
        axis: "n",
        ticks: simulation::SAMPLES.iter().map(usize::to_string).collect(),
        log_floor: measure.floor,
        series: ALL.iter().map(|a| names.iter().enumerate().map(|name| point(a, name)).collect()).collect(),
    }
}

fn spread(x: usize, values: impl Iterator<Item = f64> + Clone, hollow: bool) -> Point {
    let quartiles = (quantile(values.clone(), 0.25), quantile(values.clone(), 0.75));
    Point { x, y: median(values), quartiles, hollow }
}

/// Figure 3: how often an answer is the certified optimum, and the excess of P otherwise, over three axes.
pub fn quality(rows: &[Row]) -> Result<String> {
    let sets = data_sets(rows);
    let (snr, rho, n) = quality::BASE;
    let axes: [(&'static str, Vec<(String, String)>); 3] = [
        ("SNR", quality::SNR.iter().map(|s| (s.to_string(), quality::name(*s, rho, n))).collect()),
        (
            "correlation of neighbours",
            quality::RHO.iter().map(|r| (r.to_string(), quality::name(snr, *r, n))).collect(),
        ),
        ("n", quality::SAMPLES.iter().map(|m| (m.to_string(), quality::name(snr, rho, *m))).collect()),
    ];
    let right = axes.iter().map(|a| quality_panel(&sets, a, "share of answers that are optimal", None, right_share));
    let off = axes.iter().map(|a| quality_panel(&sets, a, "excess of P over the optimum", Some(1e-7), mean_excess));
    let rows = vec![("exactly right".to_owned(), right.collect()), ("mean excess".to_owned(), off.collect())];
    let note = "Against the optimum proved by branch and bound, where it was proved within the cap; D-IHT knows the true size.";
    Sheet { title: "Answers against the certified optimum, p = 500", note, key: key(), rows }.svg()
}

fn quality_panel(
    sets: &[DataSet<'_>],
    (axis, places): &(&'static str, Vec<(String, String)>),
    title: &str,
    log_floor: Option<f64>,
    value: fn(&[f64]) -> f64,
) -> Panel {
    let point = |label: &str, x: usize, name: &str| {
        let y = value(&excesses(sets, Some(name), label));
        Point { x, y, quartiles: (y, y), hollow: false }
    };
    let line = |a: &Algorithm| places.iter().enumerate().map(|(x, (_, name))| point(a.label, x, name)).collect();
    Panel {
        title: title.to_owned(),
        axis,
        ticks: places.iter().map(|p| p.0.clone()).collect(),
        log_floor,
        series: ALL.iter().map(line).collect(),
    }
}

/// (P − P*) / P* of an algorithm on the data sets of a setting, or of all, whose optimum P* is proved.
pub fn excesses(sets: &[DataSet<'_>], setting: Option<&str>, label: &str) -> Vec<f64> {
    let within = sets.iter().filter(|set| setting.is_none_or(|name| name == set.setting));
    let excess = |set: &DataSet<'_>| {
        let best = set.certified()?;
        Some(((set.of(label)?.objective - best) / best.abs()).max(0.0))
    };
    within.filter_map(excess).collect()
}

/// Share of excesses within the tolerance of the proof; NaN of none.
pub fn right_share(excesses: &[f64]) -> f64 {
    mean(excesses.iter().map(|e| f64::from(u8::from(*e <= SAME))))
}

fn mean_excess(excesses: &[f64]) -> f64 {
    mean(excesses.iter().copied())
}

/// Figure 4: error on new data and size of the answer over SNR.
pub fn prediction(rows: &[prediction::Row]) -> Result<String> {
    // Best subset in the thick black line, then orange, sky, pink.
    let styles = [4, 5, 1, 3];
    let panel = |rho: f64, title: &str, value: fn(&prediction::Row) -> f64| {
        let point = |method: &str, x: usize, snr: f64| {
            let name = prediction::name(rho, snr);
            let found = rows.iter().filter(|r| r.setting == name && r.method == method).map(value);
            spread(x, found, false)
        };
        let line = |m: &&str| prediction::SNR.iter().enumerate().map(|(x, snr)| point(m, x, *snr)).collect();
        let series = prediction::METHODS.iter().map(line).collect();
        let ticks = prediction::SNR.iter().map(f64::to_string).collect();
        Panel { title: title.to_owned(), axis: "SNR", ticks, log_floor: None, series }
    };
    let row = |rho: f64| {
        let panels = vec![
            panel(rho, "error / noise variance", |r| r.test_error),
            panel(rho, "variance explained", |r| r.explained),
            panel(rho, "non-zeros", |r| r.nonzeros as f64),
            panel(rho, "false features", |r| (r.nonzeros - r.hits) as f64),
        ];
        (format!("ρ = {rho}"), panels)
    };
    let key = styles.into_iter().zip(prediction::METHODS).collect();
    let note = "Expected error on new data, tuned on a validation set; n = 100, p = 500, 10 true features. Medians and quartiles.";
    let rows = prediction::RHO.map(row).to_vec();
    Sheet { title: "When best subset pays: prediction of new data", note, key, rows }.svg()
}

/// Number of settings with rows, for the report.
pub fn filled(rows: &[Row], names: &[String]) -> usize {
    let known = summary::settings(rows);
    names.iter().filter(|name| known.contains(&name.as_str())).count()
}
