//! Features that no better subset has together (MATH 13.10): their product need not be known.

/// What every feature costs a subset that has it, at the least, and what all of its features may cost together.
#[derive(Debug, Clone)]
pub(crate) struct Apart {
    /// c_j = max(0, φ_j(x̂_jᵀα)), by feature.
    costs: Vec<f64>,
    /// P̂ − D(α), and what rounding may have taken from it.
    room: f64,
}

impl Apart {
    /// Nothing where the room is no number. A cost that is none rules nothing out.
    pub fn new(mut costs: Vec<f64>, room: f64) -> Option<Self> {
        costs.iter_mut().for_each(|c| *c = c.max(0.0));
        room.is_finite().then_some(Self { costs, room })
    }

    /// Whether a better subset may have the feature.
    pub fn may_have(&self, j: usize) -> bool {
        self.costs[j] <= self.room
    }

    /// The costs of some features, and what two may come to.
    pub fn of(&self, features: &[usize]) -> (Vec<f64>, f64) {
        (features.iter().map(|&j| self.costs[j]).collect(), self.room)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_are_those_of_the_features_asked_for() {
        let apart = Apart::new(vec![5.0, -1.0, 2.0, f64::NAN, 7.0], 6.0).unwrap();
        assert_eq!(apart.of(&[2, 4]), (vec![2.0, 7.0], 6.0));
        assert_eq!(apart.of(&[1, 3]), (vec![0.0, 0.0], 6.0));
        assert_eq!([0, 1, 2, 3, 4].map(|j| apart.may_have(j)), [true, true, true, true, false]);
        assert!(Apart::new(vec![1.0], f64::INFINITY).is_none() && Apart::new(vec![1.0], f64::NAN).is_none());
    }
}
