//! What was observed beside what is predicted: Kaplan–Meier curves of groups of samples by risk (MATH 15.16, 15.17).

use crate::loss::Survival;
use crate::loss::cox::Baseline;

/// The Kaplan–Meier estimate of survival: a step at each event time.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct KaplanMeier {
    /// Event times, ascending.
    pub times: Vec<f64>,
    /// Survival from each of them on.
    pub survival: Vec<f64>,
    /// Its standard error by Greenwood's formula; no number once nobody is left.
    pub error: Vec<f64>,
}

impl KaplanMeier {
    /// S(t) = Π_{t_k ≤ t} (1 − d_k/n_k) (MATH 15.16) of some samples, whatever their stratum; weights count as so many samples.
    pub fn new(times: &Survival, weights: Option<&[f64]>, rows: &[usize]) -> Self {
        let weight = |i: usize| weights.map_or(1.0, |w| w[i]);
        let mut events: Vec<f64> =
            rows.iter().filter(|&&i| times.event[i] && weight(i) > 0.0).map(|&i| times.time[i]).collect();
        events.sort_unstable_by(f64::total_cmp);
        events.dedup();
        let mut made = Self::default();
        let (mut left, mut sum) = (1.0, 0.0);
        let (mut ending, mut entering) = (rows.to_vec(), rows.to_vec());
        let entry = |i: usize| times.entry.as_ref().map_or(f64::NEG_INFINITY, |e| e[i]);
        ending.sort_unstable_by(|&a, &b| times.time[a].total_cmp(&times.time[b]));
        entering.sort_unstable_by(|&a, &b| entry(a).total_cmp(&entry(b)));
        let (mut ended, mut entered) = (0, 0);
        let (mut came, mut gone) = (0.0, 0.0);
        for time in events {
            while entered < entering.len() && entry(entering[entered]) < time {
                came += weight(entering[entered]);
                entered += 1;
            }
            while ended < ending.len() && times.time[ending[ended]] < time {
                gone += weight(ending[ended]);
                ended += 1;
            }
            let tied = ending[ended..].iter().take_while(|&&i| times.time[i] == time);
            let died: f64 = tied.filter(|&&i| times.event[i]).map(|&i| weight(i)).sum();
            let at_risk = came - gone;
            // Differences of sums: what rounding leaves of nobody is nobody.
            let is_last = at_risk - died <= 1e-12 * came;
            left *= if is_last { 0.0 } else { 1.0 - died / at_risk };
            sum += if is_last { f64::INFINITY } else { died / (at_risk * (at_risk - died)) };
            made.times.push(time);
            made.survival.push(left);
            made.error.push(left * sum.sqrt());
        }
        made
    }

    /// S at a time.
    pub fn at(&self, time: f64) -> f64 {
        match self.times.partition_point(|t| *t <= time) {
            0 => 1.0,
            k => self.survival[k - 1],
        }
    }
}

/// Samples of similar risk: what became of them, and what the model says of them.
#[derive(Debug, Clone, PartialEq)]
pub struct RiskGroup {
    /// The samples.
    pub rows: Vec<usize>,
    /// The least and the largest linear predictor among them.
    pub range: (f64, f64),
    /// How many of them have an event.
    pub events: usize,
    /// What was observed.
    pub observed: KaplanMeier,
    /// Event times of the model.
    pub times: Vec<f64>,
    /// The mean of the predicted survival of the samples from each of them on (MATH 15.17).
    pub predicted: Vec<f64>,
}

impl RiskGroup {
    /// How many of them are under observation at a time: entry < t ≤ time, from the beginning those who did not enter late.
    pub fn at_risk(&self, times: &Survival, time: f64) -> usize {
        let entry = |i: usize| times.entry.as_ref().map_or(f64::NEG_INFINITY, |e| e[i]);
        self.rows.iter().filter(|&&i| times.time[i] >= time && (entry(i) < time || entry(i) <= 0.0)).count()
    }
}

/// Groups of equal size by the linear predictor u_i of `rows`, equal ones together, the least risk first; fewer than `count` where there are
/// fewer different ones.
pub(super) fn risk_groups(
    (times, weights): (&Survival, Option<&[f64]>),
    baseline: &Baseline,
    u: &[f64],
    rows: &[usize],
    count: usize,
) -> Vec<RiskGroup> {
    let mut rows: Vec<usize> = rows.iter().copied().filter(|&i| weights.is_none_or(|w| w[i] > 0.0)).collect();
    rows.sort_by(|&a, &b| u[a].total_cmp(&u[b]).then(a.cmp(&b)));
    let (mut made, mut from) = (Vec::new(), 0);
    for k in 1..=count {
        let mut to = (k * rows.len() / count).max(from);
        while to > from && to < rows.len() && u[rows[to]] == u[rows[to - 1]] {
            to += 1;
        }
        if to > from {
            made.push(risk_group((times, weights), baseline, u, rows[from..to].to_vec()));
        }
        from = to;
    }
    made
}

/// Mean of S(t | u_i) over the samples of a group, by weight (MATH 15.17).
fn risk_group(
    (times, weights): (&Survival, Option<&[f64]>),
    baseline: &Baseline,
    u: &[f64],
    rows: Vec<usize>,
) -> RiskGroup {
    let mut at: Vec<f64> = baseline.strata.iter().flat_map(|s| s.times.iter().copied()).collect();
    at.sort_unstable_by(f64::total_cmp);
    at.dedup();
    let (mut predicted, mut total) = (vec![0.0; at.len()], 0.0);
    for &i in &rows {
        // A stratum without events has no curve.
        let Ok(curve) = baseline.curve(times.strata.as_ref().map(|s| s[i])) else { continue };
        let weight = weights.map_or(1.0, |w| w[i]);
        total += weight;
        predicted.iter_mut().zip(&at).for_each(|(p, t)| *p += weight * baseline.survival(curve, u[i], *t));
    }
    predicted.iter_mut().for_each(|p| *p /= total);
    let ends = (u[rows[0]], u[rows[rows.len() - 1]]);
    let events = rows.iter().filter(|&&i| times.event[i]).count();
    let observed = KaplanMeier::new(times, weights, &rows);
    RiskGroup { rows, range: ends, events, observed, times: at, predicted }
}
