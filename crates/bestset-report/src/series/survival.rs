//! Survival curves of groups by risk.

use super::short;
use crate::SurvivalFit;
use crate::types::brief;
use serde::Serialize;

/// Survival of groups.
#[derive(Debug, Clone, Serialize)]
pub struct SurvivalSeries {
    /// Which samples these are, in few words.
    pub samples: String,
    /// The name of the time.
    pub time: String,
    /// The groups, the least risk first.
    pub groups: Vec<GroupSeries>,
}

/// One of them.
#[derive(Debug, Clone, Serialize)]
pub struct GroupSeries {
    /// What it is called.
    pub name: String,
    /// Corners of the Kaplan–Meier curve.
    pub observed: Vec<(Option<f64>, Option<f64>)>,
    /// Corners of the curve that the model predicts.
    pub predicted: Vec<(Option<f64>, Option<f64>)>,
}

impl SurvivalSeries {
    /// `None` without groups.
    pub fn new(fit: &SurvivalFit, time: &str) -> Option<Self> {
        let corners = |of: &[(f64, f64)]| of.iter().map(|c| (short(c.0), short(c.1))).collect();
        let one = |g: &crate::SurvivalGroup| GroupSeries {
            name: g.name.clone(),
            observed: corners(&g.observed),
            predicted: corners(&g.predicted),
        };
        (!fit.groups.is_empty()).then(|| Self {
            samples: brief(&fit.samples).to_owned(),
            time: if time.is_empty() { "time".to_owned() } else { time.to_owned() },
            groups: fit.groups.iter().map(one).collect(),
        })
    }
}
