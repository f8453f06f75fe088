//! The best subsets known, with what rounding leaves open of them (MATH 14.8).

/// A subset with what its fit and price cost at the least and at the most.
#[derive(Debug, Clone)]
pub struct Candidate {
    /// Positions, ascending.
    pub members: Vec<u32>,
    /// fit(S) + λ0|S| lies between these.
    pub low: f64,
    pub high: f64,
    /// ‖A_SS⁻¹‖ at the most.
    pub inverse: f64,
}

/// The most subsets that are kept besides those wanted because rounding does not tell them apart.
const DOUBTFUL: usize = 200;

/// The `top` best, and those that may be among them.
#[derive(Debug, Clone)]
pub struct Pool {
    top: usize,
    known: Vec<Candidate>,
    /// What was not kept costs at least this.
    floor: f64,
}

impl Pool {
    /// Wants the `top` ≥ 1 best.
    pub fn new(top: usize) -> Self {
        Self { top, known: Vec::new(), floor: f64::INFINITY }
    }

    /// What a subset must cost less than to be among the wanted ones, +∞ while there are too few: the `top`-th of the most they cost.
    pub fn threshold(&self) -> f64 {
        let mut highs: Vec<f64> = self.known.iter().map(|c| c.high).collect();
        if highs.len() < self.top {
            return f64::INFINITY;
        }
        *highs.select_nth_unstable_by(self.top - 1, f64::total_cmp).1
    }

    /// Whether a subset that costs at least this may be wanted.
    pub fn may_want(&self, low: f64) -> bool {
        low < self.threshold()
    }

    /// Takes a subset, unless it is known or cannot be among the wanted ones.
    pub fn offer(&mut self, candidate: Candidate) {
        if !self.may_want(candidate.low) || self.known.iter().any(|c| c.members == candidate.members) {
            return;
        }
        self.known.push(candidate);
        let limit = self.threshold();
        self.known.retain(|c| c.low <= limit);
        if self.known.len() > self.top + DOUBTFUL {
            let worst =
                (0..self.known.len()).reduce(|a, b| if self.known[b].high > self.known[a].high { b } else { a });
            if let Some(worst) = worst {
                self.floor = self.floor.min(self.known.swap_remove(worst).low);
            }
        }
    }

    /// Takes over what another one has found that started from this one.
    pub fn merge(&mut self, other: Self) {
        self.floor = self.floor.min(other.floor);
        other.known.into_iter().for_each(|c| self.offer(c));
    }

    /// Those known.
    pub fn known(&self) -> &[Candidate] {
        &self.known
    }

    /// The one that costs least.
    pub fn best(&self) -> Option<&Candidate> {
        self.known.iter().reduce(|a, b| if b.high < a.high { b } else { a })
    }

    /// What every subset that is not known costs at least, where all were looked at.
    pub fn others(&self) -> f64 {
        self.floor.min(self.threshold())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(member: u32, low: f64, high: f64) -> Candidate {
        Candidate { members: vec![member], low, high, inverse: 1.0 }
    }

    #[test]
    fn what_rounding_does_not_tell_apart_is_kept_and_the_rest_is_bounded() {
        let mut pool = Pool::new(2);
        assert_eq!((pool.threshold(), pool.others()), (f64::INFINITY, f64::INFINITY));
        for (k, (low, high)) in [(3.0, 3.1), (5.0, 5.5), (5.2, 5.4), (6.0, 6.1), (3.0, 3.1)].into_iter().enumerate() {
            pool.offer(candidate(k as u32 % 4, low, high));
        }
        assert_eq!(pool.known().len(), 3, "the second and third may be exchanged, the fourth is dearer than both");
        assert_eq!((pool.threshold(), pool.others()), (5.4, 5.4));
        assert_eq!(pool.best().map(|c| c.members[0]), Some(0));
        // More ties than are kept: what was left out bounds the others.
        let mut ties = Pool::new(1);
        (0..300).for_each(|k| ties.offer(candidate(k, 1.0 - 1e-12 * f64::from(k), 1.0 + 1e-9)));
        assert!(ties.known().len() <= 1 + DOUBTFUL && ties.others() < 1.0);
    }
}
