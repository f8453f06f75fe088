//! Kicks: part of an answer of some size is left out and replaced, and exchanges go on from there, past the local minimum that they had ended in.

use crate::random::Random;

/// Which parts of an answer kicks leave out, in turn, two members at the least.
const PARTS: [f64; 2] = [1.0 / 3.0, 0.5];

/// Kicks after the last lower P that end elsewhere, before there are no more. Of 16 draws of many classes (n = 200, p = 500, 10 and 15 features) 12, and 3 in
/// place of [`RETURNS`], left 4 worse than these do.
const IDLE: usize = 20;

/// Kicks that end where they began, before there are no more: where an answer stands out all come back to it. Measured with [`IDLE`].
const RETURNS: usize = 5;

/// What is added to the loss without a member, as a part of the median: no member is sure to go or to stay.
const EVEN: f64 = 0.05;

/// A P that is lower by this part of it is better: fits on the way are not to the last digit.
pub(crate) const BETTER: f64 = 1e-6;

/// How a kick ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Landed {
    /// P is lower.
    Lower,
    /// Where it began.
    Back,
    /// At another local minimum.
    Elsewhere,
}

/// Kicks of one answer, the same every time.
pub(crate) struct Kicks {
    random: Random,
    kicks: usize,
    idle: usize,
    returns: usize,
}

impl Kicks {
    pub(crate) fn new() -> Self {
        Self { random: Random::new(1), kicks: 0, idle: 0, returns: 0 }
    }

    /// Which members are left out next, given what P loses without each: those that it misses least rather than others (each with a weight
    /// of one over its loss, softened by [`EVEN`]). None where there are to be no more kicks.
    pub(crate) fn next(&mut self, losses: &[f64]) -> Option<Vec<usize>> {
        if self.idle >= IDLE || self.returns >= RETURNS || losses.len() < 2 {
            return None;
        }
        let part = PARTS[self.kicks % PARTS.len()];
        let count = ((losses.len() as f64 * part).ceil() as usize).max(2).min(losses.len() - 1);
        self.kicks += 1;
        let mut sorted = losses.to_vec();
        sorted.sort_by(f64::total_cmp);
        let even = EVEN * sorted[sorted.len() / 2].max(f64::MIN_POSITIVE);
        // The least of waiting times, whose rates are the weights: drawn without putting back.
        let mut times: Vec<(f64, usize)> =
            losses.iter().enumerate().map(|(k, loss)| (-self.random.unit().ln() * (loss.max(0.0) + even), k)).collect();
        times.sort_by(|a, b| a.0.total_cmp(&b.0));
        Some(times[..count].iter().map(|t| t.1).collect())
    }

    pub(crate) fn landed(&mut self, where_to: Landed) {
        match where_to {
            Landed::Lower => (self.idle, self.returns) = (0, 0),
            Landed::Back => (self.idle, self.returns) = (self.idle + 1, self.returns + 1),
            Landed::Elsewhere => self.idle += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missed_least_goes_most_often_and_kicks_end() {
        let (losses, mut counts) = ([1.0, 100.0, 3.0, 50.0, 1e-3, 80.0], [0; 6]);
        let (mut kicks, mut number) = (Kicks::new(), 0);
        while let Some(out) = kicks.next(&losses) {
            assert_eq!(out.len(), if number % 2 == 0 { 2 } else { 3 });
            out.iter().for_each(|&k| counts[k] += 1);
            number += 1;
            kicks.landed(if number == 30 { Landed::Lower } else { Landed::Elsewhere });
            if number < 30 {
                kicks.idle = 0;
            }
        }
        assert_eq!(number, 30 + IDLE);
        assert!(counts[4] > 30 && counts[0] > counts[3] && counts[2] > counts[1] && counts[1] > 0, "{counts:?}");
        let mut kicks = Kicks::new();
        (0..RETURNS).for_each(|_| kicks.landed(Landed::Back));
        assert_eq!((kicks.next(&losses), Kicks::new().next(&[1.0])), (None, None));
    }
}
