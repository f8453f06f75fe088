//! Who is missing, as lists: sums over few people look at these, not at all of a column.

use super::people;
use super::{MANY_MISSING, NEARBY};
use crate::design::genotypes::people::Counts;
use rayon::prelude::*;

/// Lists may take one byte for so many of the packed genotypes; where they would take more there are none.
const SHARE: usize = 8;

/// The people whose genotype of a variant is not known, for variants of which few are not.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Absent {
    /// Of [`NEARBY`] variants, one after the other.
    lists: Vec<Vec<u32>>,
}

/// Whether so few that they are worth a list.
fn is_few(counts: Counts, people: usize) -> bool {
    counts.missing as usize <= people / MANY_MISSING
}

impl Absent {
    /// The lists of columns of ⌈people/4⌉ bytes, if they are short.
    pub fn new(people: usize, packed: &[u8], counts: &[Counts]) -> Self {
        let listed: usize = counts.iter().filter(|c| is_few(**c, people)).map(|c| c.missing as usize).sum();
        if listed == 0 || listed.saturating_mul(SHARE * size_of::<u32>()) > packed.len() {
            return Self::default();
        }
        let blocks = packed.par_chunks(NEARBY * people.div_ceil(4)).zip(counts.par_chunks(NEARBY));
        Self { lists: blocks.map(|(packed, counts)| list(people, packed, counts)).collect() }
    }

    /// Σ a_i over the people whose genotype of variant j is not known, few of them.
    pub fn sum(&self, j: usize, packed: &[u8], counts: &[Counts], people: usize, numbers: &[i64]) -> i128 {
        let Some(list) = self.lists.get(j / NEARBY) else { return one_by_one(packed, numbers) };
        let before = counts[j / NEARBY * NEARBY..j].iter().filter(|c| is_few(**c, people));
        let from = before.map(|c| c.missing as usize).sum::<usize>();
        let own = &list[from..from + counts[j].missing as usize];
        // Numbers of 55 bits: 256 of them fit into 63.
        own.chunks(256).map(|few| i128::from(few.iter().map(|&i| numbers[i as usize]).sum::<i64>())).sum()
    }
}

fn list(people: usize, packed: &[u8], counts: &[Counts]) -> Vec<u32> {
    let few = counts.iter().filter(|c| is_few(**c, people));
    let mut found = Vec::with_capacity(few.map(|c| c.missing as usize).sum());
    for (column, counts) in packed.chunks_exact(people.div_ceil(4)).zip(counts) {
        if counts.missing > 0 && is_few(*counts, people) {
            each_missing(column, people, |i| found.push(i as u32));
        }
    }
    found
}

/// Σ a_i over the people whose genotype is not known.
fn one_by_one(column: &[u8], numbers: &[i64]) -> i128 {
    let mut sum = 0;
    each_missing(column, numbers.len(), |i| sum += i128::from(numbers[i]));
    sum
}

#[inline(always)]
fn each_missing(column: &[u8], people: usize, mut visit: impl FnMut(usize)) {
    for (w, word) in people::words(column).enumerate() {
        let mut left = people::missing(word);
        while left != 0 {
            let i = 32 * w + left.trailing_zeros() as usize / 2;
            if i < people {
                visit(i);
            }
            left &= left - 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::design::genotypes::People;

    /// Columns without, with few and with many missing people, and codes behind the last person: lists say what a look at all says.
    #[test]
    fn lists_give_the_sums_of_a_look_at_all() {
        let (people, variants) = (1001usize, 3 * NEARBY + 5);
        let stride = people.div_ceil(4);
        let all = People::new(people, |_| true);
        let numbers: Vec<i64> =
            (0..people.next_multiple_of(32)).map(|i| if i < people { 1 << (i % 54) } else { 0 }).collect();
        for most in [3, 9] {
            let mut packed = vec![0xffu8; stride * variants];
            for (k, byte) in packed.iter_mut().enumerate() {
                let (j, at) = (k / stride, k % stride);
                let every = [stride, 100, 40, 3][j % 4];
                if j % 4 > 0 && at % every == j % every && j % 4 <= most {
                    *byte = 0b1111_1101;
                }
                if at + 1 == stride {
                    // People that there are not look missing.
                    *byte = 0b0101_0111;
                }
            }
            let counts: Vec<Counts> = packed.chunks_exact(stride).map(|column| all.count(column)).collect();
            let absent = Absent::new(people, &packed, &counts);
            assert!(!absent.lists.is_empty());
            for j in (0..variants).filter(|&j| is_few(counts[j], people)) {
                let column = &packed[j * stride..(j + 1) * stride];
                let found = absent.sum(j, column, &counts, people, &numbers);
                assert_eq!(found, one_by_one(column, &numbers), "{j}");
                assert_eq!(found, Absent::default().sum(j, column, &counts, people, &numbers), "{j}");
            }
        }
    }
}
