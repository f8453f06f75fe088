//! Which samples are left out together.

use crate::error::{Error, Result, check_length};
use crate::random::Random;

/// How the samples are divided, drawn once from a seed.
#[derive(Debug, Clone, PartialEq)]
pub enum Folds {
    /// `folds` parts of equal size, `repeats` times over.
    Random {
        /// Number of parts.
        folds: usize,
        /// How often a division is drawn.
        repeats: usize,
    },
    /// The same, each part with its share of each value of y: classes, or any y with few values.
    Stratified {
        /// Number of parts.
        folds: usize,
        /// How often a division is drawn.
        repeats: usize,
    },
    /// The part of each sample, any labels: samples with the same label are left out together.
    Given(Vec<usize>),
}

impl Default for Folds {
    fn default() -> Self {
        Self::Random { folds: 10, repeats: 1 }
    }
}

impl Folds {
    /// The part of each sample, 0, 1, …, for every repeat.
    pub fn draw(&self, y: &[f64], seed: u64) -> Result<Vec<Vec<usize>>> {
        let n = y.len();
        match self {
            Self::Given(labels) => {
                check_length("fold labels", labels.len(), n)?;
                let mut known = labels.clone();
                known.sort_unstable();
                known.dedup();
                check_folds(known.len(), n)?;
                let part = |label| known.binary_search(label).unwrap_or_default();
                Ok(vec![labels.iter().map(part).collect()])
            }
            Self::Random { folds, repeats } => repeated(*folds, *repeats, n, seed, |order| order),
            Self::Stratified { folds, repeats } => repeated(*folds, *repeats, n, seed, |mut order| {
                // Stable: within a class the order stays random, and dealing out in turn gives each part its share.
                order.sort_by(|&a, &b| y[a].total_cmp(&y[b]));
                order
            }),
        }
    }
}

fn check_folds(folds: usize, n: usize) -> Result<()> {
    if folds < 2 || folds > n {
        return Err(Error::Folds { folds, samples: n });
    }
    Ok(())
}

/// Deals the samples out in turn, in an order made from a random one.
fn repeated(
    folds: usize,
    repeats: usize,
    n: usize,
    seed: u64,
    arrange: impl Fn(Vec<usize>) -> Vec<usize>,
) -> Result<Vec<Vec<usize>>> {
    check_folds(folds, n)?;
    if repeats == 0 {
        return Err(Error::Range { name: "repeats", value: 0.0, range: "at least 1" });
    }
    let mut random = Random::new(seed);
    let one = |_| {
        let mut order: Vec<usize> = (0..n).collect();
        random.shuffle(&mut order);
        let mut parts = vec![0; n];
        arrange(order).into_iter().enumerate().for_each(|(k, i)| parts[i] = k % folds);
        parts
    };
    Ok((0..repeats).map(one).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_even_and_strata_are_kept() {
        let y: Vec<f64> = (0..23).map(|i| if i < 6 { 1.0 } else { -1.0 }).collect();
        let drawn = Folds::Stratified { folds: 3, repeats: 4 }.draw(&y, 7).unwrap();
        assert_eq!(drawn.len(), 4);
        assert_ne!(drawn[0], drawn[1]);
        for parts in &drawn {
            for part in 0..3 {
                let rare = (0..6).filter(|&i| parts[i] == part).count();
                let all = parts.iter().filter(|p| **p == part).count();
                assert!(rare == 2 && (7..=8).contains(&all), "{parts:?}");
            }
        }
        let random = Folds::Random { folds: 3, repeats: 1 };
        assert_eq!(random.draw(&y, 1), random.draw(&y, 1));
        assert_ne!(random.draw(&y, 1), random.draw(&y, 2));
        assert_eq!(Folds::Given(vec![9, 4, 9]).draw(&y[..3], 0).unwrap(), [[1, 0, 1]]);
        assert!(Folds::Given(vec![1, 1, 1]).draw(&y[..3], 0).is_err());
        assert!(Folds::Random { folds: 4, repeats: 1 }.draw(&y[..3], 0).is_err());
        assert!(Folds::Random { folds: 2, repeats: 0 }.draw(&y[..3], 0).is_err());
    }
}
