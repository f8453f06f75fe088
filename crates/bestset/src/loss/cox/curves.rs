//! What a fit says of survival: the baseline hazard, survival curves, medians, and how often predictions order samples rightly.

use crate::error::{Error, Result};
use crate::loss::Survival;
use crate::loss::cox::Cox;
use serde::{Deserialize, Serialize};

/// The cumulative hazard Λ_s(t) of a sample whose linear predictor is `centre` (MATH 15.12), by stratum: that of one with u is Λ_s(t) e^{u −
/// centre}.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Baseline {
    /// The linear predictor that the hazards are those of.
    pub centre: f64,
    /// Of each stratum that has events.
    pub strata: Vec<Curve>,
}

/// A cumulative hazard: a step at each event time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Curve {
    /// The stratum.
    pub stratum: usize,
    /// Event times, ascending.
    pub times: Vec<f64>,
    /// The cumulative hazard from each of them on.
    pub hazards: Vec<f64>,
}

impl Baseline {
    /// The curve of a stratum; where there is one only, that of all.
    pub fn curve(&self, stratum: Option<usize>) -> Result<&Curve> {
        match (stratum, self.strata.as_slice()) {
            (_, [one]) => Ok(one),
            (Some(s), all) => all.iter().find(|c| c.stratum == s).ok_or(Error::Index {
                what: "the strata",
                position: 0,
                index: s,
                problem: "had no events when the model was fitted",
            }),
            (None, _) => Err(Error::Unsupported {
                method: "predict",
                reason: "needs the stratum of each row: the model has several",
            }),
        }
    }

    /// Λ_s(t) e^{u − centre} (MATH 15.12).
    pub fn hazard(&self, curve: &Curve, u: f64, time: f64) -> f64 {
        match curve.times.partition_point(|t| *t <= time) {
            0 => 0.0,
            k => self.scaled(curve.hazards[k - 1], u),
        }
    }

    /// Λ e^{u − centre}; by logarithms where e^{u − centre} is no number beside Λ.
    fn scaled(&self, hazard: f64, u: f64) -> f64 {
        let factor = (u - self.centre).exp();
        if factor.is_normal() { hazard * factor } else { (hazard.ln() + u - self.centre).exp() }
    }

    /// S(t) = exp(−Λ_s(t) e^{u − centre}).
    pub fn survival(&self, curve: &Curve, u: f64, time: f64) -> f64 {
        (-self.hazard(curve, u, time)).exp()
    }

    /// The first time at which S(t) ≤ ½; +∞ where it stays above.
    pub fn median(&self, curve: &Curve, u: f64) -> f64 {
        let first = curve.hazards.partition_point(|h| self.scaled(*h, u) < std::f64::consts::LN_2);
        curve.times.get(first).copied().unwrap_or(f64::INFINITY)
    }
}

impl Cox {
    /// Λ_s(t) = Σ_{k: t_k ≤ t} d_k/S_k at e^{u − centre} (MATH 15.12), centre the mean of u.
    pub(super) fn curves(&self, u: &[f64]) -> Baseline {
        let there: Vec<f64> = (0..u.len()).filter(|&i| self.risk.stratum(i).is_some()).map(|i| u[i]).collect();
        let centre = there.iter().sum::<f64>() / there.len() as f64;
        let risks = self.risks(u);
        let hazards = self.hazards(&risks);
        let curve = |(s, stratum): (usize, &super::risk::Stratum)| {
            let (mut before, mut sum, mut shift) = (0.0, 0.0, risks.shifts.of_time(stratum.times.start, s));
            let mut until = |k: usize| {
                let own = &hazards[self.tied[k].start..self.tied[k].start + self.tied[k].terms];
                // What was taken from u comes back.
                if risks.shifts.of_time(k, s) != shift {
                    before += sum * (centre - shift).exp();
                    (sum, shift) = (0.0, risks.shifts.of_time(k, s));
                }
                sum += own.iter().sum::<f64>();
                // A model's numbers are finite: beyond the largest nobody at the centre lives on.
                (before + sum * (centre - shift).exp()).min(f64::MAX)
            };
            Curve {
                stratum: stratum.label,
                times: self.risk.event_times[stratum.times.clone()].to_vec(),
                hazards: stratum.times.clone().map(&mut until).collect(),
            }
        };
        Baseline { centre, strata: self.risk.strata.iter().enumerate().map(curve).collect() }
    }
}

/// Harrell's C (MATH 15.13): of the pairs of which one has an event while the other is at risk and lives on, the share in which it has
/// the larger u, ties half; `rows` and their weights count. NaN without pairs.
pub fn concordance(times: &Survival, weights: Option<&[f64]>, u: &[f64], rows: &[usize]) -> f64 {
    let stratum = |i: usize| times.strata.as_ref().map_or(0, |s| s[i]);
    let weight = |i: usize| weights.map_or(1.0, |w| w[i]);
    let mut rows: Vec<usize> = rows.iter().copied().filter(|&i| weight(i) > 0.0).collect();
    rows.sort_unstable_by(|&a, &b| stratum(a).cmp(&stratum(b)).then(times.time[b].total_cmp(&times.time[a])));
    let (mut right, mut pairs) = (0.0, 0.0);
    for group in rows.chunk_by(|&a, &b| stratum(a) == stratum(b)) {
        let mut values: Vec<f64> = group.iter().map(|&i| u[i]).collect();
        values.sort_unstable_by(f64::total_cmp);
        values.dedup();
        let place = |i: usize| values.partition_point(|v| *v < u[i]);
        let mut at_risk = Ranks(vec![0.0; values.len() + 1]);
        let entry = |i: usize| times.entry.as_ref().map_or(f64::NEG_INFINITY, |e| e[i]);
        let mut leaving: Vec<usize> = group.to_vec();
        leaving.sort_unstable_by(|&a, &b| entry(b).total_cmp(&entry(a)));
        let (mut gone, mut total) = (0, 0.0);
        let mut inside = vec![false; u.len()];
        for tied in group.chunk_by(|&a, &b| times.time[a] == times.time[b]) {
            let time = times.time[tied[0]];
            // Those who had not entered before this time are not at risk at it, nor at any before.
            while gone < leaving.len() && entry(leaving[gone]) >= time {
                let i = leaving[gone];
                if inside[i] {
                    at_risk.add(place(i), -weight(i));
                    total -= weight(i);
                }
                gone += 1;
            }
            let (died, lived): (Vec<usize>, Vec<usize>) = tied.iter().partition(|&&i| times.event[i]);
            for &i in lived.iter() {
                at_risk.add(place(i), weight(i));
                (inside[i], total) = (true, total + weight(i));
            }
            for &i in &died {
                let (below, upto) = (at_risk.sum(place(i)), at_risk.sum(place(i) + 1));
                right += weight(i) * 0.5 * (below + upto);
                pairs += weight(i) * total;
            }
            for &i in &died {
                at_risk.add(place(i), weight(i));
                (inside[i], total) = (true, total + weight(i));
            }
        }
    }
    right / pairs
}

/// Sums of weights by rank (Fenwick).
struct Ranks(Vec<f64>);

impl Ranks {
    fn add(&mut self, place: usize, x: f64) {
        let mut at = place + 1;
        while at < self.0.len() {
            self.0[at] += x;
            at += at & at.wrapping_neg();
        }
    }

    /// Σ over the places before `end`.
    fn sum(&self, end: usize) -> f64 {
        let (mut at, mut sum) = (end, 0.0);
        while at > 0 {
            sum += self.0[at];
            at &= at - 1;
        }
        sum
    }
}
