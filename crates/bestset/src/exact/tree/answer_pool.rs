//! The best answers so far.

use crate::solution::Coefficients;

/// The N best subsets met, best first, each with its best coefficients.
#[derive(Debug)]
pub struct AnswerPool {
    capacity: usize,
    entries: Vec<(f64, Coefficients)>,
    /// P above which no subset is of interest, +∞ where all are.
    ceiling: f64,
}

impl AnswerPool {
    /// Room for `capacity` ≥ 1 subsets.
    pub fn new(capacity: usize, ceiling: f64) -> Self {
        Self { capacity, entries: Vec::new(), ceiling }
    }

    /// P that a subset must be below to be of interest: that of the last one, or the ceiling.
    pub fn limit(&self) -> f64 {
        let last = self.entries.get(self.capacity - 1).map_or(f64::INFINITY, |e| e.0);
        last.min(self.ceiling)
    }

    /// What no bound is above: P of the best, or the ceiling.
    pub fn best(&self) -> f64 {
        self.entries.first().map_or(f64::INFINITY, |e| e.0).min(self.ceiling)
    }

    /// Takes the coefficients if their P is among the best; one entry for each support. Returns whether it is the best of all.
    pub fn offer(&mut self, objective: f64, coefficients: Coefficients) -> bool {
        if objective.is_nan() || self.entries.get(self.capacity - 1).is_some_and(|last| objective >= last.0) {
            return false;
        }
        if let Some(same) = self.entries.iter().position(|e| e.1.support == coefficients.support) {
            if self.entries[same].0 <= objective {
                return false;
            }
            self.entries.remove(same);
        }
        let place = self.entries.partition_point(|e| e.0 <= objective);
        self.entries.insert(place, (objective, coefficients));
        self.entries.truncate(self.capacity);
        place == 0
    }

    /// The entries, best first.
    pub fn into_entries(self) -> Vec<(f64, Coefficients)> {
        self.entries
    }

    /// The entries, best first.
    pub fn entries(&self) -> &[(f64, Coefficients)] {
        &self.entries
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(support: &[usize]) -> Coefficients {
        Coefficients { support: support.to_vec(), values: vec![1.0; support.len()], intercept: 0.0 }
    }

    #[test]
    fn keeps_the_best_of_each_support() {
        let mut pool = AnswerPool::new(2, f64::INFINITY);
        assert!(pool.offer(5.0, point(&[1])));
        assert_eq!(pool.limit(), f64::INFINITY);
        assert!(!pool.offer(6.0, point(&[1])));
        assert!(!pool.offer(f64::NAN, point(&[7])));
        assert!(!pool.offer(7.0, point(&[2])));
        assert_eq!(pool.limit(), 7.0);
        assert!(pool.offer(4.0, point(&[2])));
        assert!(!pool.offer(4.5, point(&[3])));
        let kept: Vec<(f64, Vec<usize>)> = pool.into_entries().into_iter().map(|e| (e.0, e.1.support)).collect();
        assert_eq!(kept, [(4.0, vec![2]), (4.5, vec![3])]);
    }
}
