//! Rows put together: data sets, medians over replicates, what is proved about whom.

use crate::algorithm::{self, DEFAULT, EXACT};
use crate::row::Row;
use std::collections::BTreeMap;

/// Values within this share of each other are the same answer: the tolerance of the proof.
pub const SAME: f64 = 1e-6;

/// All runs on one data set.
#[derive(Debug, Clone)]
pub struct DataSet<'a> {
    /// Name of the setting.
    pub setting: &'a str,
    /// Replicate.
    pub replicate: u64,
    rows: Vec<&'a Row>,
}

impl<'a> DataSet<'a> {
    /// The run of the algorithm with this label.
    pub fn of(&self, label: &str) -> Option<&'a Row> {
        self.rows.iter().copied().find(|r| r.algorithm == label)
    }

    /// All runs.
    pub fn rows(&self) -> impl Iterator<Item = &'a Row> + '_ {
        self.rows.iter().copied()
    }

    /// The lowest P that any algorithm found.
    pub fn best(&self) -> f64 {
        self.rows().map(|r| r.objective).fold(f64::INFINITY, f64::min)
    }

    /// The highest bound that any algorithm proved on P with a price per feature.
    pub fn bound(&self) -> f64 {
        self.rows().filter(|r| r.bounds_priced()).map(|r| r.own_bound).fold(f64::NEG_INFINITY, f64::max)
    }

    /// P of the best subset, if it was proved.
    pub fn certified(&self) -> Option<f64> {
        self.of(EXACT.label).filter(|r| r.is_optimal()).map(|r| r.objective)
    }

    /// max D = min R, from the default solver, which minimises the relaxation to 1e-9.
    pub fn relaxation(&self) -> Option<f64> {
        self.of(DEFAULT.label).filter(|r| r.capped == 0).map(|r| r.own_bound)
    }

    /// True optimality gap of a run relative to P: what is proved about it by anyone.
    pub fn true_gap(&self, row: &Row) -> f64 {
        ((row.objective - self.bound()) / row.objective.abs()).max(0.0)
    }
}

/// Rows by data set, in the order of settings and replicates.
pub fn data_sets(rows: &[Row]) -> Vec<DataSet<'_>> {
    let mut order: Vec<&str> = Vec::new();
    let mut found: BTreeMap<(usize, u64), Vec<&Row>> = BTreeMap::new();
    for row in rows {
        let position = order.iter().position(|name| *name == row.setting).unwrap_or_else(|| {
            order.push(&row.setting);
            order.len() - 1
        });
        found.entry((position, row.replicate)).or_default().push(row);
    }
    let made = found.into_iter().map(|((at, replicate), rows)| DataSet { setting: order[at], replicate, rows });
    made.collect()
}

/// The runs of one algorithm in one setting.
pub fn runs<'a>(rows: &'a [Row], setting: &str, label: &str) -> Vec<&'a Row> {
    rows.iter().filter(|r| r.setting == setting && r.algorithm == label).collect()
}

/// Settings that have rows, in the order of the file.
pub fn settings(rows: &[Row]) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for row in rows.iter().filter(|r| r.algorithm == DEFAULT.label) {
        if !names.contains(&row.setting.as_str()) {
            names.push(&row.setting);
        }
    }
    names
}

/// The middle value; NaN of none. Of an even number the mean of the two in the middle.
pub fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    quantile(values, 0.5)
}

/// A quantile with linear interpolation; NaN of none.
pub fn quantile(values: impl IntoIterator<Item = f64>, q: f64) -> f64 {
    let mut sorted: Vec<f64> = values.into_iter().filter(|v| !v.is_nan()).collect();
    sorted.sort_by(f64::total_cmp);
    let Some(last) = sorted.len().checked_sub(1) else { return f64::NAN };
    let at = q * last as f64;
    let (below, share) = (at.floor() as usize, at.fract());
    let next = sorted[(below + 1).min(last)];
    if share == 0.0 { sorted[below] } else { sorted[below] + share * (next - sorted[below]) }
}

/// The mean; NaN of none.
pub fn mean(values: impl IntoIterator<Item = f64>) -> f64 {
    let (mut sum, mut count) = (0.0, 0usize);
    values.into_iter().for_each(|v| (sum, count) = (sum + v, count + 1));
    sum / count as f64
}

/// Where the default solver stands in one setting: the point of a panel.
#[derive(Debug, Clone, PartialEq)]
pub struct Standing {
    /// Name of the setting.
    pub setting: String,
    /// Replicates with all of the published runs and the default one.
    pub replicates: usize,
    /// Mean P of the default solver.
    pub default_mean: f64,
    /// The published algorithm with the lowest mean P, and that mean.
    pub rival: (&'static str, f64),
    /// Replicates on which no published algorithm has a lower P.
    pub lowest: usize,
    /// The published algorithm with the least median time, and how many times that of the default solver it is.
    pub fastest: (&'static str, f64),
}

impl Standing {
    /// On the lower envelope of P: no published algorithm has a lower mean.
    pub fn on_envelope(&self) -> bool {
        self.default_mean <= self.rival.1 + 1e-9 * self.rival.1.abs()
    }
}

/// The standing of the default solver in every setting with complete replicates.
pub fn standings(rows: &[Row]) -> Vec<Standing> {
    let all = data_sets(rows);
    settings(rows).into_iter().filter_map(|setting| standing(setting, &all)).collect()
}

fn standing(setting: &str, all: &[DataSet<'_>]) -> Option<Standing> {
    let labels: Vec<&'static str> = algorithm::published().map(|a| a.label).collect();
    let complete = |set: &&DataSet<'_>| {
        set.setting == setting && set.of(DEFAULT.label).is_some() && labels.iter().all(|l| set.of(l).is_some())
    };
    let sets: Vec<&DataSet<'_>> = all.iter().filter(complete).collect();
    let column = |label: &str, value: fn(&Row) -> f64| -> Vec<f64> {
        sets.iter().filter_map(|set| set.of(label)).map(value).collect()
    };
    let mean_of = |label: &'static str| (label, mean(column(label, |r| r.objective)));
    let time_of = |label: &'static str| (label, median(column(label, |r| r.time_in_passes)));
    let least = |a: &(&str, f64), b: &(&str, f64)| a.1.total_cmp(&b.1);
    let rival = labels.iter().map(|l| mean_of(l)).min_by(least)?;
    let fastest = labels.iter().map(|l| time_of(l)).min_by(least)?;
    let lowest = |set: &&&DataSet<'_>| {
        let own = set.of(DEFAULT.label).map_or(f64::INFINITY, |r| r.objective);
        labels.iter().filter_map(|l| set.of(l)).all(|r| own <= r.objective + 1e-9 * r.objective.abs())
    };
    (!sets.is_empty()).then(|| Standing {
        setting: setting.to_owned(),
        replicates: sets.len(),
        default_mean: mean_of(DEFAULT.label).1,
        rival,
        lowest: sets.iter().filter(lowest).count(),
        fastest: (fastest.0, fastest.1 / time_of(DEFAULT.label).1),
    })
}

#[cfg(test)]
pub mod tests {
    use super::*;

    pub fn row(algorithm: &str, objective: f64, own_bound: f64, time_in_passes: f64) -> Row {
        Row {
            setting: "s".into(),
            snr: 5.0,
            rho: 0.4,
            n: 10,
            p: 20,
            lambda0: 0.1,
            lambda1: 0.0,
            lambda2: 1.0,
            k: 3,
            replicate: 1,
            seed: 1,
            algorithm: algorithm.into(),
            status: "converged".into(),
            ended_by: None,
            objective,
            own_objective: objective,
            own_bound,
            relaxation: None,
            gap: objective - own_bound,
            nonzeros: 3,
            recovered: Some(0),
            recovered_share: Some(0.5),
            estimation_error: Some(0.3),
            iterations: 7,
            passes: 9.0,
            bytes_read: 100.0,
            screened_by_p: None,
            screened_by_r: None,
            cap: 20.0,
            capped: 0,
            time_in_passes,
            time_to_cdss: Some(1.0),
            pass_seconds: 1e-4,
            cpu_seconds: 0.1,
            seconds: 0.1,
        }
    }

    pub fn complete() -> Vec<Row> {
        let mut rows: Vec<Row> = algorithm::published().map(|a| row(a.label, 5.0, 3.0, 100.0)).collect();
        rows.push(row("incremental", 4.5, 4.2, 20.0));
        rows.push(Row { status: "optimal".into(), ..row("exact", 4.4, 4.4, 50.0) });
        rows
    }

    /// Puts a row in the place of the one of its algorithm.
    pub fn replace(rows: &mut [Row], row: Row) {
        let place = rows.iter().position(|r| r.algorithm == row.algorithm).unwrap();
        rows[place] = row;
    }

    #[test]
    fn medians_and_quantiles() {
        assert_eq!((median([3.0, 1.0, f64::NAN, 2.0]), median([1.0, 2.0])), (2.0, 1.5));
        assert_eq!(quantile([0.0, 10.0], 0.25), 2.5);
        assert_eq!(median([1.0, f64::INFINITY, f64::INFINITY]), f64::INFINITY);
        assert!(median([]).is_nan());
    }

    #[test]
    fn the_default_solver_is_placed_among_the_published() {
        let mut rows = complete();
        let standing = &standings(&rows)[0];
        assert!(standing.on_envelope());
        assert_eq!((standing.replicates, standing.lowest, standing.fastest.1), (1, 1, 5.0));
        rows[1].objective = 4.4;
        let standing = &standings(&rows)[0];
        assert!(!standing.on_envelope() && standing.lowest == 0 && standing.rival == ("CDSS", 4.4));
        rows.remove(0);
        assert!(standings(&rows).is_empty(), "a replicate that lacks a run compares nothing");
    }

    #[test]
    fn what_is_proved_about_a_run_is_proved_by_anyone() {
        let rows = complete();
        let sets = data_sets(&rows);
        assert_eq!((sets[0].best(), sets[0].bound(), sets[0].certified()), (4.4, 4.4, Some(4.4)));
        assert!((sets[0].true_gap(&rows[1]) - 0.6 / 5.0).abs() < 1e-15);
        assert_eq!(sets[0].relaxation(), Some(4.2));
    }
}
