//! What the far features of a node cost beside each other (MATH 13.10).

use crate::problem::screening::MARGIN;
use std::sync::Arc;

/// Parts that the room of a node is divided into. Not tuned: more would rule out a few pairs more.
pub const PARTS: u8 = 64;

/// ⌊64 c_j / (P̂ − D(α))⌋ of far features, with c_j = max(0, φ_j(x_jᵀα)): two with more than 64 together are in no better subset of the node.
#[derive(Debug, Clone, PartialEq)]
pub struct FarCosts {
    /// Ascending.
    pub features: Arc<Vec<usize>>,
    pub parts: Vec<u8>,
}

impl FarCosts {
    /// ⌊64 c / room⌋, at the most as large as that is.
    pub fn part(cost: f64, (dual, best): (f64, f64)) -> u8 {
        let room = best - dual + MARGIN * (best.abs() + dual.abs());
        let share = cost / room * (1.0 - MARGIN);
        // What is no number costs nothing.
        if share > 0.0 { (f64::from(PARTS) * share).min(255.0) as u8 } else { 0 }
    }

    /// The parts of some of the features, ascending; nothing for those that are not listed.
    pub fn of<'c>(&'c self, features: &'c [usize]) -> impl Iterator<Item = (usize, u8)> + 'c {
        let mut known = self.features.iter().zip(&self.parts).peekable();
        features.iter().map(move |&j| {
            while known.next_if(|k| *k.0 < j).is_some() {}
            (j, known.peek().filter(|k| *k.0 == j).map_or(0, |k| *k.1))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A pair that a better subset may have is never ruled out by its parts, and one that is well beyond the room is.
    #[test]
    fn parts_are_no_larger_than_what_they_stand_for() {
        for k in 0..=1000 {
            let (cost, dual, best) = (f64::from(k) * 1e-3, 2.0, 3.0);
            let (one, other) = (FarCosts::part(cost, (dual, best)), FarCosts::part(1.0 - cost, (dual, best)));
            assert!(one <= PARTS && one as u16 + other as u16 <= u16::from(PARTS), "{cost}: {one} {other}");
            let beyond = FarCosts::part(1.05 - cost, (dual, best));
            assert!(u16::from(one) + u16::from(beyond) > u16::from(PARTS), "{cost}: {one} {beyond}");
        }
        assert_eq!(FarCosts::part(0.1, (1.0, 1.0 - 1e-3)), 0);
        assert_eq!(FarCosts::part(f64::NAN, (1.0, 2.0)), 0);
        assert_eq!(FarCosts::part(0.1, (1.0, f64::INFINITY)), 0);
    }

    #[test]
    fn what_is_not_listed_costs_nothing() {
        let known = FarCosts { features: Arc::new(vec![1, 4, 6, 9]), parts: vec![3, 2, 1, 7] };
        assert_eq!(known.of(&[0, 4, 5, 9, 12]).collect::<Vec<_>>(), [(0, 0), (4, 2), (5, 0), (9, 7), (12, 0)]);
        assert_eq!(known.of(&[]).count(), 0);
    }
}
