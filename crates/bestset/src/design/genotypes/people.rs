//! Which people count, and how many of them have which genotype: exact counts from packed bytes.

use pulp::NullaryFnOnce;

/// The lower bit of each of 32 codes.
const LOWER: u64 = 0x5555_5555_5555_5555;

/// The people of a packed column that count, as a mask over the lower bits of their codes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct People {
    words: Vec<u64>,
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
}

impl People {
    /// Those of `people` for whom `keep` is true.
    pub fn new(people: usize, keep: impl Fn(usize) -> bool) -> Self {
        let mut words = vec![0; people.div_ceil(32)];
        (0..people).filter(|&i| keep(i)).for_each(|i| words[i / 32] |= 1 << (2 * (i % 32)));
        let kept = words.iter().map(|w: &u64| w.count_ones() as usize).sum();
        Self { words, kept }
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
        let (mut held, mut bits) = (0u128, 0);
        for (word, &mask) in words(column).zip(&self.words) {
            let (found, count) = if mask == LOWER { (word, 64) } else { gather(word, mask) };
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

/// The codes that a mask keeps, side by side, and their bits.
fn gather(word: u64, mut mask: u64) -> (u64, u32) {
    let (mut found, mut bits) = (0, 0);
    while mask != 0 {
        found |= ((word >> mask.trailing_zeros()) & 3) << bits;
        bits += 2;
        mask &= mask - 1;
    }
    (found, bits)
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
        let Self(People { words, kept }, column) = self;
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
