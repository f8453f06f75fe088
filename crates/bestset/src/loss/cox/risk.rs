//! Who is at risk when: sums over risk sets, and over the events that a sample was at risk at.
//!
//! Only terms of one sign are ever added where digits count, never taken away again: with delayed entry the sums over a range of event
//! times are made of those over its halves, quarters and so on.

use crate::loss::cox::halves::Halves;
use crate::loss::cox::scale::Uneven;

/// No event time.
const NONE: u32 = u32::MAX;

/// One sample: at risk at the event times `first..end` as one who lives on, and at `death` as one who does not.
#[derive(Debug, Clone, Copy)]
struct AtRisk {
    first: u32,
    end: u32,
    death: u32,
    stratum: u32,
}

/// The event times of one stratum.
#[derive(Debug, Clone)]
pub(super) struct Stratum {
    /// What it is called.
    pub(super) label: usize,
    /// Its event times, those of all strata one after the other.
    pub(super) times: std::ops::Range<usize>,
    /// Σ of the weights of its events.
    pub(super) weight: f64,
}

/// The risk sets of some samples.
#[derive(Debug, Clone)]
pub(super) struct RiskSets {
    samples: Vec<AtRisk>,
    pub(super) strata: Vec<Stratum>,
    /// Whether someone entered after the first event time of the stratum.
    pub(super) delayed: bool,
    /// The event times, by stratum.
    pub(super) event_times: Vec<f64>,
}

/// Times, events and strata of the samples that are there.
pub(super) struct TimedSamples<'s> {
    pub(super) time: &'s [f64],
    pub(super) event: &'s [bool],
    pub(super) entry: Option<&'s [f64]>,
    pub(super) strata: Option<&'s [usize]>,
    pub(super) weights: Option<&'s [f64]>,
}

impl TimedSamples<'_> {
    fn is_there(&self, i: usize) -> bool {
        self.weights.is_none_or(|w| w[i] > 0.0)
    }

    fn stratum(&self, i: usize) -> usize {
        self.strata.map_or(0, |s| s[i])
    }
}

impl RiskSets {
    pub(super) fn new(of: &TimedSamples<'_>) -> Self {
        let n = of.time.len();
        let mut events: Vec<(usize, f64)> =
            (0..n).filter(|&i| of.event[i] && of.is_there(i)).map(|i| (of.stratum(i), of.time[i])).collect();
        events.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        events.dedup_by(|a, b| a.0 == b.0 && a.1 == b.1);
        let mut strata = Vec::new();
        let mut labels = Vec::new();
        for (k, event) in events.iter().enumerate() {
            if labels.last() != Some(&event.0) {
                labels.push(event.0);
                strata.push(Stratum { label: event.0, times: k..k, weight: 0.0 });
            }
            if let Some(last) = strata.last_mut() {
                last.times.end = k + 1;
            }
        }
        let event_times = events.iter().map(|e| e.1).collect();
        let mut sets = Self { samples: Vec::with_capacity(n), strata, delayed: false, event_times };
        for i in 0..n {
            let found = if of.is_there(i) { labels.binary_search(&of.stratum(i)).ok() } else { None };
            let one = found.map_or(AtRisk { first: 0, end: 0, death: NONE, stratum: NONE }, |s| {
                let block = sets.strata[s].times.clone();
                let times = &events[block.clone()];
                let first = of.entry.map_or(0, |e| times.partition_point(|t| t.1 <= e[i]));
                let end = times.partition_point(|t| t.1 <= of.time[i]);
                let (first, end) = ((block.start + first) as u32, (block.start + end) as u32);
                match of.event[i] {
                    true => AtRisk { first, end: end - 1, death: end - 1, stratum: s as u32 },
                    false => AtRisk { first, end: end.max(first), death: NONE, stratum: s as u32 },
                }
            });
            if one.stratum != NONE {
                let stratum = &mut sets.strata[one.stratum as usize];
                sets.delayed |= one.first as usize > stratum.times.start && one.first < one.end;
                stratum.weight += if one.death == NONE { 0.0 } else { of.weights.map_or(1.0, |w| w[i]) };
            }
            sets.samples.push(one);
        }
        sets
    }

    /// Number of event times of all strata.
    pub(super) fn times(&self) -> usize {
        self.event_times.len()
    }

    /// Number of samples.
    pub(super) fn len(&self) -> usize {
        self.samples.len()
    }

    /// The stratum of a sample that is at risk at some event.
    #[inline]
    pub(super) fn stratum(&self, i: usize) -> Option<usize> {
        let one = &self.samples[i];
        (one.first < one.end || one.death != NONE).then_some(one.stratum as usize)
    }

    /// The event time of a sample that has an event.
    #[inline]
    pub(super) fn death(&self, i: usize) -> Option<usize> {
        let death = self.samples[i].death;
        (death != NONE).then_some(death as usize)
    }

    /// The last event time at which a sample that lives on is at risk.
    #[inline]
    pub(super) fn last(&self, i: usize) -> Option<usize> {
        let one = &self.samples[i];
        (one.first < one.end).then(|| one.end as usize - 1)
    }

    /// Whether a sample was there from the first event time of its stratum.
    #[inline]
    fn is_early(&self, one: &AtRisk) -> bool {
        one.first as usize == self.strata[one.stratum as usize].times.start
    }

    /// Σ over those at risk at each event time who live on, and over those who do not. Where scales differ (MATH 15.19) v_i is in that of
    /// its sample, sums are in those of the event times.
    pub(super) fn collect(&self, v: &[f64], scales: Option<&Uneven>) -> (Vec<f64>, Vec<f64>) {
        let (mut whole, mut own) = (vec![0.0; self.times()], vec![0.0; self.times()]);
        let mut tree = if self.delayed { Halves::new(self.times()) } else { Halves::new(0) };
        for (i, (one, &x)) in self.samples.iter().zip(v).enumerate().filter(|s| *s.1.1 != 0.0) {
            let (last, death) = ((one.end as usize).wrapping_sub(1), one.death as usize);
            if one.death != NONE {
                own[death] += scales.map_or(1.0, |to| to.at_time(i, death)) * x;
            }
            match one.first < one.end {
                true if self.is_early(one) => whole[last] += self.early_factor(one, scales) * x,
                true => tree.add(one.first as usize, one.end as usize, |node| {
                    scales.map_or(1.0, |to| to.at_range(i, node)) * x
                }),
                false => {}
            }
        }
        for stratum in &self.strata {
            for k in stratum.times.clone().rev().skip(1) {
                whole[k] += scales.map_or(1.0, |to| to.step(k)) * whole[k + 1];
            }
        }
        if let Some(to) = scales {
            whole.iter_mut().enumerate().for_each(|(k, s)| *s *= to.level(k));
        }
        if self.delayed {
            tree.push_down(scales);
            whole.iter_mut().zip(&tree.nodes[tree.size..]).for_each(|(s, x)| *s += x);
        }
        (whole, own)
    }

    /// Σ over the event times at which a sample is at risk, `own` at its death: the transpose of [`RiskSets::collect`].
    pub(super) fn gather(&self, whole: &[f64], own: &[f64], scales: Option<&Uneven>) -> Vec<f64> {
        let mut until = whole.to_vec();
        if let Some(to) = scales {
            until.iter_mut().enumerate().for_each(|(k, x)| *x *= to.level(k));
        }
        for stratum in &self.strata {
            for k in stratum.times.clone().skip(1) {
                until[k] += scales.map_or(1.0, |to| to.step(k - 1)) * until[k - 1];
            }
        }
        let tree = if self.delayed { Halves::of(whole, scales) } else { Halves::new(0) };
        let sum = |(i, one): (usize, &AtRisk)| {
            let lived = match one.first < one.end {
                true if self.is_early(one) => self.early_factor(one, scales) * until[one.end as usize - 1],
                true => {
                    tree.sum(one.first as usize, one.end as usize, |node| scales.map_or(1.0, |to| to.at_range(i, node)))
                }
                false => 0.0,
            };
            let death = one.death as usize;
            if one.death == NONE { lived } else { lived + scales.map_or(1.0, |to| to.at_time(i, death)) * own[death] }
        };
        self.samples.iter().enumerate().map(sum).collect()
    }

    /// From the scale of a sample that was there early to that of the last event time at which it lives on: one who dies is in the scale
    /// of the event time after it.
    #[inline]
    fn early_factor(&self, one: &AtRisk, scales: Option<&Uneven>) -> f64 {
        match scales {
            Some(to) if one.death != NONE => to.step(one.end as usize - 1),
            _ => 1.0,
        }
    }

    /// max u_i over those at risk at each event time.
    pub(super) fn largest(&self, u: &[f64]) -> Vec<f64> {
        let (mut most, mut own) = (vec![f64::NEG_INFINITY; self.times()], vec![f64::NEG_INFINITY; self.times()]);
        let mut tree = Halves::filled(if self.delayed { self.times() } else { 0 }, f64::NEG_INFINITY);
        for (one, &x) in self.samples.iter().zip(u) {
            if one.death != NONE {
                own[one.death as usize] = own[one.death as usize].max(x);
            }
            match one.first < one.end {
                true if self.is_early(one) => most[one.end as usize - 1] = most[one.end as usize - 1].max(x),
                true => tree.change(one.first as usize, one.end as usize, |_, value| value.max(x)),
                false => {}
            }
        }
        for stratum in &self.strata {
            for k in stratum.times.clone().rev().skip(1) {
                most[k] = most[k].max(most[k + 1]);
            }
        }
        if self.delayed {
            (2..tree.nodes.len()).for_each(|node| tree.nodes[node] = tree.nodes[node].max(tree.nodes[node / 2]));
            most.iter_mut().zip(&tree.nodes[tree.size..]).for_each(|(s, x)| *s = s.max(*x));
        }
        most.iter().zip(&own).map(|(a, b)| a.max(*b)).collect()
    }

    /// The least of the shifts over the event times of a sample, `until` the least ones from the first event time on.
    pub(super) fn least_shift(&self, i: usize, (shifts, until): (&[f64], &[f64]), ranges: &Halves) -> f64 {
        let one = &self.samples[i];
        let at_death = if one.death == NONE { f64::INFINITY } else { shifts[one.death as usize] };
        match one.first < one.end {
            true if self.is_early(one) => until[one.end as usize - 1].min(at_death),
            true => ranges.least_over(one.first as usize, one.end as usize).min(at_death),
            false => at_death,
        }
    }
}
