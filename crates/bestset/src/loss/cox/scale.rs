//! Scales of risk sets far apart (MATH 15.18, 15.19): where u spans more than numbers can, every event time has a shift of its own.
//!
//! Numbers of samples are in the scale of the least shift among their event times, those of event times in their own: every factor
//! between two scales is at most one, and what it loses is nothing beside what is there.

/// Shifts M_k by event time, and the factors from one scale to another.
pub(super) struct Uneven {
    pub(super) shifts: Vec<f64>,
    /// m_i: the least shift among the event times of a sample.
    pub(super) bases: Vec<f64>,
    /// e^{P_{k+1} − P_k} with P_k the least shift of the stratum until t_k.
    pub(super) steps: Vec<f64>,
    /// e^{P_k − M_k}.
    pub(super) levels: Vec<f64>,
    /// Over ranges of event times, where someone entered late: their least shifts B, and e^{B_parent − B}.
    pub(super) ranges: Vec<f64>,
    pub(super) edges: Vec<f64>,
}

impl Uneven {
    /// e^{m_i − M_k} at an event time of a sample.
    #[inline]
    pub(super) fn at_time(&self, i: usize, k: usize) -> f64 {
        exp_of_drop(self.bases[i] - self.shifts[k])
    }

    /// e^{m_i − B} of a range of event times of a sample.
    #[inline]
    pub(super) fn at_range(&self, i: usize, node: usize) -> f64 {
        exp_of_drop(self.bases[i] - self.ranges[node])
    }

    /// e^{P_{k+1} − P_k}.
    #[inline]
    pub(super) fn step(&self, k: usize) -> f64 {
        self.steps[k]
    }

    /// e^{P_k − M_k}.
    #[inline]
    pub(super) fn level(&self, k: usize) -> f64 {
        self.levels[k]
    }

    /// e^{B_parent − B}.
    #[inline]
    pub(super) fn edge(&self, node: usize) -> f64 {
        self.edges[node]
    }
}

/// e^x; mostly two scales are the same.
pub(super) fn exp_of_drop(x: f64) -> f64 {
    if x == 0.0 { 1.0 } else { x.exp() }
}
