//! How well the model tells who lives longer.

use crate::number::finite;
use crate::thin::thin;
use crate::types::FITTED_ON;
use bestset::{CoupledLoss, RiskGroup};
use serde::{Deserialize, Serialize};

/// The most corners of a curve.
const MOST_STEPS: usize = 400;

/// Groups by risk: thirds, as papers have them.
const GROUPS: usize = 3;

/// Times at which those at risk are counted.
const MARKS: usize = 6;

/// Survival of samples in groups by predicted risk.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct SurvivalFit {
    /// Which samples these are; "the samples it was fitted on" unless said otherwise.
    pub samples: String,
    /// How many samples the figures are of.
    pub count: usize,
    /// How many of them have an event.
    pub events: usize,
    /// Harrell's C.
    #[serde(with = "finite")]
    pub concordance: f64,
    /// Times at which those at risk are counted.
    pub marks: Vec<f64>,
    /// The groups, the least risk first.
    pub groups: Vec<SurvivalGroup>,
}

/// A group of samples of similar predicted risk.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct SurvivalGroup {
    /// What it is called, for instance "low risk".
    pub name: String,
    /// Samples in it.
    pub count: usize,
    /// How many of them have an event.
    pub events: usize,
    /// (time, survival from there on) by Kaplan and Meier, from (0, 1) to the last time under observation.
    pub observed: Vec<(f64, f64)>,
    /// The same as the mean of what the model predicts.
    pub predicted: Vec<(f64, f64)>,
    /// The time by which half of them have had the event; `None` where that is not reached.
    pub median: Option<f64>,
    /// Samples under observation at each of the marks.
    pub at_risk: Vec<usize>,
}

impl SurvivalFit {
    /// Of the linear predictors u of the samples `rows`, by the baseline of the model; `None` where these are no survival times.
    pub fn new(loss: &dyn CoupledLoss, fitted: &[f64], u: &[f64], rows: &[usize]) -> Option<Self> {
        let (times, baseline) = (loss.survival()?, loss.baseline(fitted)?);
        let last = rows.iter().map(|&i| times.time[i]).fold(0.0, f64::max);
        let groups = loss.risk_groups(&baseline, u, rows, GROUPS);
        let marks = marks(last);
        let (names, all) = (names(groups.len()), groups.iter().map(|g| g.rows.len()).sum());
        let one = |(group, name): (&RiskGroup, &str)| {
            let end = group.rows.iter().map(|&i| times.time[i]).fold(0.0, f64::max);
            let km = &group.observed;
            SurvivalGroup {
                name: name.to_owned(),
                count: group.rows.len(),
                events: group.events,
                observed: steps(&km.times, &km.survival, end),
                predicted: steps(&group.times, &group.predicted, last),
                median: km.times.iter().zip(&km.survival).find(|s| *s.1 <= 0.5).map(|s| *s.0),
                at_risk: marks.iter().map(|&t| group.at_risk(times, t)).collect(),
            }
        };
        Some(Self {
            samples: FITTED_ON.to_owned(),
            count: all,
            events: groups.iter().map(|g| g.events).sum(),
            concordance: loss.concordance(u, rows),
            groups: groups.iter().zip(names).map(one).collect(),
            marks,
        })
    }
}

fn names(count: usize) -> Vec<&'static str> {
    match count {
        3 => vec!["low risk", "middle risk", "high risk"],
        2 => vec!["lower risk", "higher risk"],
        _ => vec!["all samples"; count],
    }
}

/// The corners of a curve that starts at (0, 1), as far as `end`, where it stops.
fn steps(times: &[f64], survival: &[f64], end: f64) -> Vec<(f64, f64)> {
    let inside: Vec<(f64, f64)> =
        times.iter().copied().zip(survival.iter().copied()).filter(|s| s.0 <= end && s.1.is_finite()).collect();
    let kept = thin(inside.len(), MOST_STEPS).into_iter().map(|k| inside[k]);
    let mut made: Vec<(f64, f64)> = std::iter::once((0.0, 1.0)).chain(kept).collect();
    if let Some(last) = made.last().copied().filter(|last| last.0 < end) {
        made.push((end, last.1));
    }
    made
}

/// Round times from zero up to the last, about so many.
fn marks(last: f64) -> Vec<f64> {
    if !(last > 0.0 && last.is_finite()) {
        return vec![0.0];
    }
    let rough = last / MARKS as f64;
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 2.5, 5.0, 10.0].into_iter().map(|s| s * power).find(|s| *s >= rough).unwrap_or(rough);
    (0..=(last / step) as usize).map(|k| k as f64 * step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_round_and_end_before_the_last_time() {
        assert_eq!(marks(1022.0), [0.0, 200.0, 400.0, 600.0, 800.0, 1000.0]);
        assert_eq!(marks(0.7), [0.0, 0.2, 0.4, 0.6000000000000001]);
        assert_eq!((marks(0.0), marks(f64::INFINITY)), (vec![0.0], vec![0.0]));
    }

    #[test]
    fn curves_start_at_one_and_end_where_nobody_is_left() {
        assert_eq!(steps(&[1.0, 2.0, 9.0], &[0.8, 0.4, 0.1], 3.0), [(0.0, 1.0), (1.0, 0.8), (2.0, 0.4), (3.0, 0.4)]);
        assert_eq!(steps(&[], &[], 0.0), [(0.0, 1.0)]);
    }
}
