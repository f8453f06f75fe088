//! What is taken from u before e^u (MATH 15.18): one number for a stratum, or one for every event time.

use crate::loss::cox::halves::Halves;
use crate::loss::cox::risk::RiskSets;
use crate::loss::cox::scale::{Uneven, exp_of_drop};

/// The largest u of a risk set is at most so far from its shift: e^{±300} and the products of two are numbers.
const FAR: f64 = 300.0;

/// What is taken from u before e^u.
pub(super) struct Shifts {
    /// By stratum, where one is enough for all.
    strata: Vec<f64>,
    pub(super) uneven: Option<Uneven>,
}

impl Shifts {
    /// One shift for a stratum in which u spans no more than [`FAR`], which is the rule.
    pub(super) fn new(risk: &RiskSets, u: &[f64]) -> Self {
        let mut ends = vec![(f64::INFINITY, f64::NEG_INFINITY); risk.strata.len()];
        for (i, &x) in u.iter().enumerate() {
            if let Some(s) = risk.stratum(i) {
                ends[s] = (ends[s].0.min(x), ends[s].1.max(x));
            }
        }
        let uneven = ends.iter().any(|(low, high)| high - low > FAR).then(|| Uneven::new(risk, u, &ends));
        Self { strata: ends.iter().map(|e| e.1).collect(), uneven }
    }

    /// m_i, what is taken from u_i.
    #[inline]
    pub(super) fn of_sample(&self, i: usize, stratum: usize) -> f64 {
        self.uneven.as_ref().map_or(self.strata[stratum], |uneven| uneven.bases[i])
    }

    /// M_k.
    #[inline]
    pub(super) fn of_time(&self, k: usize, stratum: usize) -> f64 {
        self.uneven.as_ref().map_or(self.strata[stratum], |uneven| uneven.shifts[k])
    }
}

impl Uneven {
    fn new(risk: &RiskSets, u: &[f64], ends: &[(f64, f64)]) -> Self {
        let largest = risk.largest(u);
        let times = largest.len();
        let (mut shifts, mut least) = (vec![0.0; times], vec![0.0; times]);
        for (stratum, (_, high)) in risk.strata.iter().zip(ends) {
            let (mut shift, mut until) = (*high, f64::INFINITY);
            for k in stratum.times.clone() {
                if (largest[k] - shift).abs() > FAR {
                    shift = largest[k];
                }
                until = until.min(shift);
                (shifts[k], least[k]) = (shift, until);
            }
        }
        let steps =
            (0..times).map(|k| if k + 1 < times { exp_of_drop((least[k + 1] - least[k]).min(0.0)) } else { 1.0 });
        let levels = (0..times).map(|k| exp_of_drop(least[k] - shifts[k]));
        let (steps, levels) = (steps.collect(), levels.collect());
        let tree = Halves::least(if risk.delayed { &shifts } else { &[] });
        let bases = (0..u.len()).map(|i| risk.least_shift(i, (&shifts, &least), &tree)).collect();
        let ranges = tree.nodes;
        let edge = |node: usize| match node {
            0 | 1 => 1.0,
            // Beyond the last event time there is nothing.
            _ if ranges[node] == f64::INFINITY => 0.0,
            _ => exp_of_drop(ranges[node / 2] - ranges[node]),
        };
        let edges = (0..ranges.len()).map(edge).collect();
        Self { shifts, bases, steps, levels, ranges, edges }
    }
}
