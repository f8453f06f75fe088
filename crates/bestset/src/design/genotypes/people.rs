//! Which people count, and how many of them have which genotype: exact counts from packed bytes.

use crate::design::Moments;
use pulp::NullaryFnOnce;

/// The lower bit of each of 32 codes.
const LOWER: u64 = 0x5555_5555_5555_5555;

/// The people of a packed column that count, as a mask over the lower bits of their codes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct People {
    words: Vec<u64>,
    all: usize,
    kept: usize,
}

/// How many people have which genotype.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Two copies of the first allele: code 00.
    pub two: u32,
    /// One copy: code 10.
    pub one: u32,
    /// No copy: code 11.
    pub none: u32,
    /// Not known: code 01.
    pub missing: u32,
}

impl Counts {
    /// People whose genotype is known.
    pub fn known(&self) -> u32 {
        self.two + self.one + self.none
    }

    /// (2 two + one) / known: what a genotype that is not known is taken for; zero where none is.
    pub fn mean(&self) -> f64 {
        let copies = 2.0 * f64::from(self.two) + f64::from(self.one);
        if self.known() == 0 { 0.0 } else { copies / f64::from(self.known()) }
    }

    /// Frequency of the first allele, half the mean.
    pub fn frequency(&self) -> f64 {
        self.mean() / 2.0
    }

    /// Moments of the variant over these people, those not known at the mean.
    pub fn moments(&self) -> Moments {
        self.moments_with(self.mean())
    }

    /// Moments where those not known are at `filled`.
    pub(super) fn moments_with(&self, filled: f64) -> Moments {
        moments([self.two, self.one, self.none, self.missing].map(f64::from), filled)
    }
}

impl People {
    /// Those of `people` for whom `keep` is true.
    pub fn new(people: usize, keep: impl Fn(usize) -> bool) -> Self {
        let mut words = vec![0; people.div_ceil(32)];
        (0..people).filter(|&i| keep(i)).for_each(|i| words[i / 32] |= 1 << (2 * (i % 32)));
        let kept = words.iter().map(|w: &u64| w.count_ones() as usize).sum();
        Self { words, all: people, kept }
    }

    /// How many there are, those who do not count among them.
    pub fn all(&self) -> usize {
        self.all
    }

    /// How many count.
    pub fn kept(&self) -> usize {
        self.kept
    }

    /// How many of those who count have which genotype in a packed column.
    pub fn count(&self, column: &[u8]) -> Counts {
        pulp::Arch::new().dispatch(Count(self, column))
    }

    /// Appends the packed column of those who count, one behind the other.
    pub fn pack(&self, column: &[u8], out: &mut Vec<u8>) {
        if self.kept == self.all {
            return out.extend_from_slice(column);
        }
        let (mut held, mut bits) = (0u128, 0);
        for (word, &mask) in words(column).zip(&self.words) {
            let (found, count) = gather(word, mask);
            held |= u128::from(found) << bits;
            bits += count;
            while bits >= 64 {
                out.extend_from_slice(&(held as u64).to_le_bytes());
                held >>= 64;
                bits -= 64;
            }
        }
        out.extend_from_slice(&(held as u64).to_le_bytes()[..(bits as usize).div_ceil(8)]);
    }
}

/// Moments from the weight of two copies, one, none, and of what is not known, which stands for `filled`.
pub(super) fn moments(weights: [f64; 4], filled: f64) -> Moments {
    let values = [2.0, 1.0, 0.0, filled];
    let sum = |f: &dyn Fn(f64) -> f64| weights.iter().zip(values).map(|(w, x)| w * f(x)).sum::<f64>();
    let (total, first) = (weights.iter().sum::<f64>(), sum(&|x| x));
    // People without a genotype do not move the mean, but rounding might: it would make a variant that does not vary do so.
    let [two, one, none, missing] = weights;
    let known = (2.0 * two + one) / (two + one + none);
    let mean = if missing > 0.0 && known == filled { filled } else { first / total };
    let squares = sum(&|x| x * x);
    Moments { mean, squares, centred: sum(&|x| (x - mean) * (x - mean)).min(squares) }
}

/// The codes that a mask keeps, side by side, and their bits. Where it keeps most, the others are closed up one by one.
fn gather(mut word: u64, mut mask: u64) -> (u64, u32) {
    let (bits, mut gone) = (2 * mask.count_ones(), LOWER & !mask);
    if bits < 32 {
        let (mut found, mut at) = (0, 0);
        while mask != 0 {
            found |= ((word >> mask.trailing_zeros()) & 3) << at;
            at += 2;
            mask &= mask - 1;
        }
        return (found, bits);
    }
    // The highest first: those below stay where they are.
    while gone != 0 {
        let place = 62 - gone.leading_zeros() / 2 * 2;
        let below = (1 << place) - 1;
        word = word & below | word >> 2 & !below;
        gone &= !(1 << place);
    }
    (if bits < 64 { word & ((1 << bits) - 1) } else { word }, bits)
}

/// Packed bytes as words of 32 people, zeros behind the last.
pub fn words(column: &[u8]) -> impl Iterator<Item = u64> + '_ {
    let (whole, rest) = column.as_chunks::<8>();
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    let last = (!rest.is_empty()).then_some(u64::from_le_bytes(last));
    whole.iter().map(|w| u64::from_le_bytes(*w)).chain(last)
}

/// The people of a word whose genotype is not known: code 01.
#[inline(always)]
pub fn missing(word: u64) -> u64 {
    word & LOWER & !(word >> 1)
}

struct Count<'a>(&'a People, &'a [u8]);

impl NullaryFnOnce for Count<'_> {
    type Output = Counts;
    #[inline(always)]
    fn call(self) -> Counts {
        let Self(People { words, kept, .. }, column) = self;
        let (mut lower, mut upper, mut both) = (0, 0, 0);
        let mut add = |word: u64, mask: u64| {
            let (l, h) = (word & mask, (word >> 1) & mask);
            lower += l.count_ones();
            upper += h.count_ones();
            both += (l & h).count_ones();
        };
        let (whole, rest) = column.as_chunks::<8>();
        whole.iter().zip(words).for_each(|(word, &mask)| add(u64::from_le_bytes(*word), mask));
        if let (false, Some(&mask)) = (rest.is_empty(), words.get(whole.len())) {
            let mut last = [0; 8];
            last[..rest.len()].copy_from_slice(rest);
            add(u64::from_le_bytes(last), mask);
        }
        let two = *kept as u32 + both - lower - upper;
        Counts { two, one: upper - both, none: both, missing: lower - both }
    }
}
