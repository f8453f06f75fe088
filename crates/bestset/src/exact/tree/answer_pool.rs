//! The best answers so far.

use crate::solution::Coefficients;

/// The N best subsets met, best first, each with its best coefficients.
#[derive(Debug)]
pub struct AnswerPool {
    capacity: usize,
    entries: Vec<(f64, Coefficients)>,
}

impl AnswerPool {
    /// Room for `capacity` ≥ 1 subsets.
    pub fn new(capacity: usize) -> Self {
        Self { capacity, entries: Vec::new() }
    }

    /// P that a subset must be below to be taken: that of the last one; +∞ while there is room.
    pub fn limit(&self) -> f64 {
        if self.entries.len() < self.capacity { f64::INFINITY } else { self.entries[self.capacity - 1].0 }
    }

    /// Takes the coefficients if their P is among the best; one entry for each support. Returns whether it is the best of all.
    pub fn offer(&mut self, objective: f64, coefficients: Coefficients) -> bool {
        if objective.is_nan() || objective >= self.limit() {
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
        let mut pool = AnswerPool::new(2);
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
