//! Who is at risk when: sums over risk sets, and over the events that a sample was at risk at.
//!
//! Only terms of one sign are ever added where digits count, never taken away again: with delayed entry the sums over a range of event
//! times are made of those over its halves, quarters and so on.

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

    /// Σ over those at risk at each event time who live on, and over those who do not.
    pub(super) fn collect(&self, v: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let (mut whole, mut own) = (vec![0.0; self.times()], vec![0.0; self.times()]);
        let mut tree = if self.delayed { Halves::new(self.times()) } else { Halves::new(0) };
        for (one, &x) in self.samples.iter().zip(v).filter(|s| *s.1 != 0.0) {
            if one.death != NONE {
                own[one.death as usize] += x;
            }
            match one.first < one.end {
                true if one.first as usize == self.strata[one.stratum as usize].times.start => {
                    whole[one.end as usize - 1] += x;
                }
                true => tree.add(one.first as usize, one.end as usize, x),
                false => {}
            }
        }
        for stratum in &self.strata {
            for k in stratum.times.clone().rev().skip(1) {
                whole[k] += whole[k + 1];
            }
        }
        if self.delayed {
            whole.iter_mut().enumerate().for_each(|(k, s)| *s += tree.above(k));
        }
        (whole, own)
    }

    /// Σ over the event times at which a sample is at risk, `own` at its death: the transpose of [`RiskSets::collect`].
    pub(super) fn gather(&self, whole: &[f64], own: &[f64]) -> Vec<f64> {
        let mut until = whole.to_vec();
        for stratum in &self.strata {
            for k in stratum.times.clone().skip(1) {
                until[k] += until[k - 1];
            }
        }
        let tree = if self.delayed { Halves::of(whole) } else { Halves::new(0) };
        let sum = |one: &AtRisk| {
            let lived = match one.first < one.end {
                true if one.first as usize == self.strata[one.stratum as usize].times.start => {
                    until[one.end as usize - 1]
                }
                true => tree.sum(one.first as usize, one.end as usize),
                false => 0.0,
            };
            if one.death == NONE { lived } else { lived + own[one.death as usize] }
        };
        self.samples.iter().map(sum).collect()
    }
}

/// A binary tree over places: sums over a range, or values added to a range, without a difference.
struct Halves {
    size: usize,
    nodes: Vec<f64>,
}

impl Halves {
    fn new(len: usize) -> Self {
        let size = len.next_power_of_two();
        Self { size, nodes: vec![0.0; 2 * size] }
    }

    fn of(values: &[f64]) -> Self {
        let mut tree = Self::new(values.len());
        tree.nodes[tree.size..tree.size + values.len()].copy_from_slice(values);
        for node in (1..tree.size).rev() {
            tree.nodes[node] = tree.nodes[2 * node] + tree.nodes[2 * node + 1];
        }
        tree
    }

    /// The nodes that make up a range.
    fn parts(&self, from: usize, to: usize, mut visit: impl FnMut(usize)) {
        let (mut low, mut high) = (from + self.size, to + self.size);
        while low < high {
            if low & 1 == 1 {
                visit(low);
                low += 1;
            }
            if high & 1 == 1 {
                high -= 1;
                visit(high);
            }
            (low, high) = (low / 2, high / 2);
        }
    }

    fn add(&mut self, from: usize, to: usize, x: f64) {
        let mut parts = [0usize; 128];
        let mut count = 0;
        self.parts(from, to, |node| {
            parts[count] = node;
            count += 1;
        });
        parts[..count].iter().for_each(|&node| self.nodes[node] += x);
    }

    /// What was added to the ranges that hold a place.
    fn above(&self, place: usize) -> f64 {
        let (mut node, mut sum) = (place + self.size, 0.0);
        while node > 0 {
            sum += self.nodes[node];
            node /= 2;
        }
        sum
    }

    fn sum(&self, from: usize, to: usize) -> f64 {
        let mut sum = 0.0;
        self.parts(from, to, |node| sum += self.nodes[node]);
        sum
    }
}
