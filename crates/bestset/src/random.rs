//! A small generator for folds, subsamples and kicks: the same numbers on every platform and in every version.

/// SplitMix64 (Steele, Lea and Flood 2014).
#[derive(Debug, Clone)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform in 0..end: the high half of a product, drawn again in the part that would favour some.
    fn below(&mut self, end: usize) -> usize {
        let end = end as u64;
        loop {
            let product = u128::from(self.next()) * u128::from(end);
            if product as u64 >= end.wrapping_neg() % end {
                return (product >> 64) as usize;
            }
        }
    }

    /// Uniform in (0, 1).
    pub(crate) fn unit(&mut self) -> f64 {
        ((self.next() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    /// Puts the entries in random order.
    pub(crate) fn shuffle<T>(&mut self, values: &mut [T]) {
        for k in (1..values.len()).rev() {
            values.swap(k, self.below(k + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_reference_and_cover_their_range() {
        let mut random = Random::new(1_234_567);
        let first: Vec<u64> = (0..3).map(|_| random.next()).collect();
        assert_eq!(first, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
        let mut counts = [0; 7];
        (0..7000).for_each(|_| counts[random.below(7)] += 1);
        assert!(counts.iter().all(|c| (850..1150).contains(c)), "{counts:?}");
        let mut order: Vec<usize> = (0..50).collect();
        random.shuffle(&mut order);
        let mut sorted = order.clone();
        sorted.sort_unstable();
        assert!(order != sorted && sorted == (0..50).collect::<Vec<_>>());
    }
}
