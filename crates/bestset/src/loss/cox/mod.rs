//! The partial likelihood of Cox (MATH 15.5): L(u) = Σ_t d_t log Σ_{i∈R_t} w_i e^{u_i} − Σ_events w_iu_i − L°, ties as Breslow or Efron
//! count them, with strata and delayed entry; L° keeps weights below one from making a loss that is negative.

mod curves;
mod dual;
mod halves;
mod observed;
mod risk;
mod scale;
mod shifts;

pub use curves::{Baseline, Curve, concordance};
pub use observed::{KaplanMeier, RiskGroup};

use crate::error::{Error, Result, check_finite, check_length};
use crate::loss::{CoupledConjugate, CoupledCurvature, CoupledLoss};
use risk::{RiskSets, TimedSamples};
use scale::Uneven;
use serde::{Deserialize, Serialize};
use shifts::Shifts;
use std::sync::Arc;

/// How events at the same time are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ties {
    /// Each of m tied events is l/m gone while the l-th of them is counted.
    #[default]
    Efron,
    /// All tied events see the whole risk set.
    Breslow,
}

impl Ties {
    /// The name in every interface.
    pub fn name(self) -> &'static str {
        match self {
            Self::Efron => "efron",
            Self::Breslow => "breslow",
        }
    }
}

/// Survival times: a sample is at risk at t when entry < t ≤ time, and has an event at its time or is censored there.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Survival {
    /// Time of the event or of censoring, at least 0.
    pub time: Vec<f64>,
    /// Whether it is an event.
    pub event: Vec<bool>,
    /// When a sample comes under observation, before its time; from the beginning if `None`.
    pub entry: Option<Vec<f64>>,
    /// The stratum of each sample: risk sets are made within strata.
    pub strata: Option<Vec<usize>>,
}

impl Survival {
    /// Right-censored times.
    pub fn new(time: Vec<f64>, event: Vec<bool>) -> Self {
        Self { time, event, entry: None, strata: None }
    }

    /// Checks lengths and ranges.
    pub fn validate(&self) -> Result<()> {
        let n = self.time.len();
        check_length("event", self.event.len(), n)?;
        check_finite("time", &self.time)?;
        if let Some(index) = self.time.iter().position(|t| *t < 0.0) {
            return Err(Error::Time { index, value: self.time[index] });
        }
        if let Some(strata) = &self.strata {
            check_length("strata", strata.len(), n)?;
        }
        let Some(entry) = &self.entry else { return Ok(()) };
        check_length("entry", entry.len(), n)?;
        check_finite("entry", entry)?;
        match (0..n).find(|&i| entry[i] >= self.time[i]) {
            Some(index) => Err(Error::Entry { index, entry: entry[index], time: self.time[index] }),
            None => Ok(()),
        }
    }
}

/// The events at one time.
#[derive(Debug, Clone, Copy)]
struct Tied {
    /// The first of its terms.
    start: usize,
    /// Number of its terms: of events for Efron's ties, one for Breslow's.
    terms: usize,
    /// Weight of each term.
    weight: f64,
}

/// The loss, for samples with weights.
pub(crate) struct Cox {
    data: Arc<Survival>,
    ties: Ties,
    weights: Option<Vec<f64>>,
    risk: Arc<RiskSets>,
    tied: Vec<Tied>,
    /// w_i of the events, zero elsewhere.
    delta: Vec<f64>,
    terms: usize,
    /// L° (MATH 15.15).
    least: f64,
}

/// L° = min(0, Σ_t { W_t log W_t + (W_t/m_t) Σ_l log(1 − l/m_t) }) (MATH 15.15), and a little less for rounding: what weights below one can
/// make of the likelihood at the most. Bounds rest on losses that are not negative.
fn least_likelihood(tied: &[Tied]) -> f64 {
    let (mut sum, mut size) = (0.0, 0.0);
    for at in tied {
        let weight = at.weight * at.terms as f64;
        let shares = (1..at.terms).map(|l| ((at.terms - l) as f64 / at.terms as f64).ln());
        for part in [weight * weight.ln(), at.weight * shares.sum::<f64>()] {
            sum += part;
            size += f64::abs(part);
        }
    }
    (sum - 1e-12 * size).min(0.0)
}

/// w_ie^{u_i − m_i} (MATH 15.19), and their sums over those at risk at each event time who live on and who do not.
struct Risks {
    each: Vec<f64>,
    shifts: Shifts,
    whole: Vec<f64>,
    own: Vec<f64>,
}

impl Cox {
    /// The loss of samples of which at least one has an event.
    pub(crate) fn new(data: Arc<Survival>, ties: Ties, weights: Option<&[f64]>) -> Result<Self> {
        let (strata, entry) = (data.strata.as_deref(), data.entry.as_deref());
        let risk = RiskSets::new(&TimedSamples { time: &data.time, event: &data.event, entry, strata, weights });
        if risk.times() == 0 {
            return Err(Error::NoEvents { samples: data.time.len() });
        }
        let weight = |i: usize| weights.map_or(1.0, |w| w[i]);
        let (mut delta, mut tied) =
            (vec![0.0; risk.len()], vec![Tied { start: 0, terms: 0, weight: 0.0 }; risk.times()]);
        for i in 0..risk.len() {
            let Some(k) = risk.death(i) else { continue };
            delta[i] = weight(i);
            tied[k].terms += 1;
            tied[k].weight += weight(i);
        }
        let mut terms = 0;
        for at in &mut tied {
            at.start = terms;
            at.terms = if ties == Ties::Breslow { 1 } else { at.terms };
            at.weight /= at.terms as f64;
            terms += at.terms;
        }
        let least = least_likelihood(&tied);
        Ok(Self { data, ties, weights: weights.map(<[f64]>::to_vec), risk: Arc::new(risk), tied, delta, terms, least })
    }

    fn weight(&self, i: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |w| w[i])
    }

    /// Every term: its event time, its place and 1 − l/m, the share of those who die that is still at risk.
    fn each_term(&self) -> impl Iterator<Item = (usize, usize, f64)> + '_ {
        let of = |(k, at): (usize, &Tied)| {
            let (start, terms) = (at.start, at.terms);
            (0..terms).map(move |l| (k, start + l, (terms - l) as f64 / terms as f64))
        };
        self.tied.iter().enumerate().flat_map(of)
    }

    /// Σ_i of what is summed over the risk set of every term.
    fn of_terms(&self, whole: &[f64], own: &[f64]) -> Vec<f64> {
        self.each_term().map(|(k, _, left)| whole[k] + left * own[k]).collect()
    }

    /// Σ over the terms in whose risk set a sample is: the transpose.
    fn of_samples(&self, terms: &[f64], scales: Option<&Uneven>) -> Vec<f64> {
        let (mut whole, mut own) = (vec![0.0; self.tied.len()], vec![0.0; self.tied.len()]);
        for (k, at, left) in self.each_term() {
            whole[k] += terms[at];
            own[k] += left * terms[at];
        }
        self.risk.gather(&whole, &own, scales)
    }

    fn risks(&self, u: &[f64]) -> Risks {
        let shifts = Shifts::new(&self.risk, u);
        let one = |(i, &x): (usize, &f64)| match self.risk.stratum(i) {
            Some(s) => self.weight(i) * (x - shifts.of_sample(i, s)).exp(),
            None => 0.0,
        };
        let each: Vec<f64> = u.iter().enumerate().map(one).collect();
        let (whole, own) = self.risk.collect(&each, shifts.uneven.as_ref());
        Risks { each, shifts, whole, own }
    }

    /// M_k − u_i at the time of an event; zero of who has none.
    fn below_shift(&self, risks: &Risks, u: &[f64], i: usize) -> f64 {
        match (self.risk.death(i), self.risk.stratum(i)) {
            (Some(k), Some(s)) => risks.shifts.of_time(k, s) - u[i],
            _ => 0.0,
        }
    }

    /// d_k/S_k of every term.
    fn hazards(&self, risks: &Risks) -> Vec<f64> {
        let sums = self.of_terms(&risks.whole, &risks.own);
        self.each_term().map(|(k, at, _)| self.tied[k].weight / sums[at]).collect()
    }
}

impl CoupledLoss for Cox {
    fn nrows(&self) -> usize {
        self.risk.len()
    }

    fn weighted(&self, weights: Option<&[f64]>) -> Result<Arc<dyn CoupledLoss>> {
        Ok(Arc::new(Self::new(self.data.clone(), self.ties, weights)?))
    }

    /// Σ_k d_k log S_k − Σ_i δ_iu_i − L° (MATH 15.5).
    fn value(&self, u: &[f64]) -> f64 {
        let risks = self.risks(u);
        let sums = self.of_terms(&risks.whole, &risks.own);
        let logs: f64 = self.each_term().map(|(k, at, _)| self.tied[k].weight * sums[at].ln()).sum();
        let own = |i: usize| self.delta[i] * self.below_shift(&risks, u, i);
        let value = logs + (0..u.len()).filter(|&i| self.delta[i] > 0.0).map(own).sum::<f64>() - self.least;
        if value.is_finite() { value } else { f64::INFINITY }
    }

    fn least(&self) -> f64 {
        self.least
    }

    fn size(&self, u: &[f64], sizes: &[f64]) -> f64 {
        let (risks, mut alpha) = (self.risks(u), vec![0.0; u.len()]);
        let sums = self.of_terms(&risks.whole, &risks.own);
        let logs: f64 = self.each_term().map(|(k, at, _)| self.tied[k].weight * (1.0 + sums[at].ln().abs())).sum();
        self.gradient(u, &mut alpha);
        let own = |i: usize| {
            let below = self.below_shift(&risks, u, i).abs();
            self.delta[i] * below + 2.0 * (alpha[i].abs() + 2.0 * self.delta[i]) * sizes[i]
        };
        logs + (0..u.len()).map(own).sum::<f64>() + self.least.abs()
    }

    /// α_i = w_ie^{u_i} Σ_{k: i∈R_k} d_k/S_k − δ_i (MATH 15.6).
    fn gradient(&self, u: &[f64], alpha: &mut [f64]) {
        let risks = self.risks(u);
        let cumulated = self.of_samples(&self.hazards(&risks), risks.shifts.uneven.as_ref());
        for (i, a) in alpha.iter_mut().enumerate() {
            *a = if risks.each[i] == 0.0 { -self.delta[i] } else { risks.each[i] * cumulated[i] - self.delta[i] };
        }
    }

    fn curvature(&self, u: &[f64]) -> Box<dyn CoupledCurvature> {
        let risks = self.risks(u);
        let hazards = self.hazards(&risks);
        let cumulated = self.of_samples(&hazards, risks.shifts.uneven.as_ref());
        let diagonal = risks.each.iter().zip(&cumulated).map(|(e, h)| if *e == 0.0 { 0.0 } else { e * h }).collect();
        // √d p = √d e/S = (d/S) e/√d.
        let scales = self.each_term().map(|(k, at, _)| hazards[at] / self.tied[k].weight.sqrt()).collect();
        let left = self.each_term().map(|(k, _, left)| (k, left)).collect();
        let uneven = risks.shifts.uneven;
        Box::new(CoxCurvature { risk: self.risk.clone(), each: risks.each, diagonal, scales, left, uneven })
    }

    /// Σ_s D_s (max x − min x)²/4 over the samples of each stratum (MATH 15.7).
    fn steepest(&self, x: &[f64]) -> f64 {
        let mut ends = vec![(f64::INFINITY, f64::NEG_INFINITY); self.risk.strata.len()];
        for (i, &x) in x.iter().enumerate() {
            if let Some(s) = self.risk.stratum(i) {
                ends[s] = (ends[s].0.min(x), ends[s].1.max(x));
            }
        }
        let widths = ends.iter().map(|(low, high)| (high - low).max(0.0));
        self.risk.strata.iter().zip(widths).map(|(s, width)| 0.25 * s.weight * width * width).sum()
    }

    fn conjugate(&self, alpha: &[f64]) -> Option<CoupledConjugate> {
        self.conjugate_near(alpha)
    }

    fn project(&self, alpha: &mut [f64]) {
        self.move_into_domain(alpha);
    }

    /// Every event has the largest u of its risk set, and someone at risk has less (MATH 15.20).
    fn falls_along(&self, u: &[f64]) -> bool {
        let (largest, turned) = (self.risk.largest(u), u.iter().map(|u| -u).collect::<Vec<_>>());
        let mut ends = self.risk.largest(&turned).into_iter().zip(&largest).map(|(low, high)| (-low, *high));
        (0..u.len()).all(|i| self.risk.death(i).is_none_or(|k| u[i] == largest[k]))
            && ends.any(|(low, high)| low < high)
    }

    /// Events.
    fn counted(&self) -> (f64, f64) {
        (self.delta.iter().filter(|d| **d > 0.0).count() as f64, self.delta.iter().sum())
    }

    fn kind(&self, i: usize) -> usize {
        usize::from(self.data.event[i])
    }

    fn baseline(&self, u: &[f64]) -> Option<Baseline> {
        Some(self.curves(u))
    }

    fn concordance(&self, u: &[f64], rows: &[usize]) -> f64 {
        concordance(&self.data, self.weights.as_deref(), u, rows)
    }

    fn survival(&self) -> Option<&Survival> {
        Some(&self.data)
    }

    fn risk_groups(&self, baseline: &Baseline, u: &[f64], rows: &[usize], count: usize) -> Vec<RiskGroup> {
        observed::risk_groups((&self.data, self.weights.as_deref()), baseline, u, rows, count)
    }
}

/// ∇²L = diag(c) − Σ_k d_k p_kp_kᵀ (MATH 15.6), p_k the shares of a risk set.
struct CoxCurvature {
    risk: Arc<RiskSets>,
    each: Vec<f64>,
    diagonal: Vec<f64>,
    scales: Vec<f64>,
    /// The event time of every term, and the share of those who die that is still at risk.
    left: Vec<(usize, f64)>,
    uneven: Option<Uneven>,
}

impl CoupledCurvature for CoxCurvature {
    fn diagonal(&self) -> &[f64] {
        &self.diagonal
    }

    fn rank(&self) -> usize {
        self.scales.len()
    }

    /// √d_k p_kᵀx of every term.
    fn factor(&self, x: &[f64], out: &mut [f64]) {
        let products: Vec<f64> = self.each.iter().zip(x).map(|(e, x)| e * x).collect();
        let (whole, own) = self.risk.collect(&products, self.uneven.as_ref());
        let sums = self.left.iter().map(|&(k, left)| whole[k] + left * own[k]);
        out.iter_mut().zip(sums).zip(&self.scales).for_each(|((o, s), scale)| *o = scale * s);
    }

    /// c_iv_i − e_i Σ_{k: i∈R_k} (d_k/S_k) p_kᵀv.
    fn multiply(&self, v: &mut [f64]) {
        let (mut image, times) = (vec![0.0; self.rank()], self.risk.times());
        self.factor(v, &mut image);
        let (mut whole, mut own) = (vec![0.0; times], vec![0.0; times]);
        for ((&(k, left), scale), x) in self.left.iter().zip(&self.scales).zip(&image) {
            whole[k] += scale * x;
            own[k] += left * scale * x;
        }
        let back = self.risk.gather(&whole, &own, self.uneven.as_ref());
        v.iter_mut().enumerate().for_each(|(i, v)| *v = self.diagonal[i] * *v - self.each[i] * back[i]);
    }
}
