//! What is done for every feature besides its inner product: in parallel where there are many, in fixed blocks, the results in order. What
//! is summed of them is summed in that order, so that sums have the same bits with any number of threads.

use std::ops::Range;

use rayon::prelude::*;

/// Features that one task looks at.
const BLOCK: usize = 4096;

/// Fewer are not worth handing to other threads.
const FEW: usize = 4 * BLOCK;

fn is_few(count: usize) -> bool {
    count < FEW || rayon::current_num_threads() == 1
}

/// Every block of 0..count, in parallel, the results in order. Behind a reference, so that the compiler makes the threads' part once for a
/// type of result and not for every caller: pipelines of rayon were a fifth of all that it had to translate.
fn blocks<T: Send>(count: usize, block: &(dyn Fn(Range<usize>) -> T + Sync)) -> Vec<T> {
    let places = |b: usize| b * BLOCK..((b + 1) * BLOCK).min(count);
    (0..count.div_ceil(BLOCK)).into_par_iter().map(|b| block(places(b))).collect()
}

/// The parts one after the other.
fn together<T>(parts: Vec<Vec<T>>) -> Vec<T> {
    let mut all = Vec::with_capacity(parts.iter().map(Vec::len).sum());
    parts.into_iter().for_each(|part| all.extend(part));
    all
}

/// one(0), one(1), …
pub fn each<T: Send>(count: usize, one: impl Fn(usize) -> T + Sync) -> Vec<T> {
    if is_few(count) {
        return (0..count).map(one).collect();
    }
    // Written where it stays, by all threads: of ten million numbers a copy by one of them takes longer than all else.
    (0..count).into_par_iter().with_min_len(BLOCK).map(&one).collect()
}

/// Those of one(0), one(1), … that are something.
pub fn chosen<T: Send>(count: usize, one: impl Fn(usize) -> Option<T> + Sync) -> Vec<T> {
    if is_few(count) {
        return (0..count).filter_map(one).collect();
    }
    together(blocks(count, &|places| places.filter_map(&one).collect()))
}

/// The numbers of some ascending lists together, ascending, each once.
pub fn union(lists: &[&[usize]]) -> Vec<usize> {
    let count = lists.iter().filter_map(|list| list.last()).max().map_or(0, |last| last + 1);
    let within = |places: Range<usize>| -> Vec<usize> {
        let part = |list: &&[usize]| {
            let place = |end: usize| list.partition_point(|j| *j < end);
            list[place(places.start)..place(places.end)].to_vec()
        };
        let mut found = lists.iter().map(part).collect::<Vec<_>>().concat();
        // Some ascending parts after each other: merged, by a sort that sees them.
        found.sort();
        found.dedup();
        found
    };
    if is_few(count) { within(0..count) } else { together(blocks(count, &within)) }
}

/// How many of 0, 1, … are so.
pub fn count_of(count: usize, is_so: impl Fn(usize) -> bool + Sync) -> usize {
    if is_few(count) {
        return (0..count).filter(|k| is_so(*k)).count();
    }
    blocks(count, &|places| places.filter(|k| is_so(*k)).count()).into_iter().sum()
}

/// The largest of one(0), one(1), …, zero at the least.
pub fn largest(count: usize, one: impl Fn(usize) -> f64 + Sync) -> f64 {
    if is_few(count) {
        return (0..count).map(one).fold(0.0, f64::max);
    }
    blocks(count, &|places| places.map(&one).fold(0.0, f64::max)).into_iter().fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_results_are_in_order_with_any_number_of_threads() {
        for threads in [1, 2, 3] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            for count in [0, 1, FEW - 1, FEW, FEW + 1, 5 * BLOCK + 17] {
                pool.install(|| {
                    assert_eq!(each(count, |k| 3 * k), (0..count).map(|k| 3 * k).collect::<Vec<_>>());
                    let some = |k: usize| (k % 7 == 3).then_some(k * k);
                    assert_eq!(chosen(count, some), (0..count).filter_map(some).collect::<Vec<_>>());
                    let saw = |k: usize| ((k * 7919) % 10_007) as f64 - 5.0;
                    assert_eq!(largest(count, saw), (0..count).map(saw).fold(0.0, f64::max));
                    assert_eq!(count_of(count, |k| k % 5 == 0), count.div_ceil(5));
                    let lists = [2, 3, 7].map(|step| (0..count).step_by(step).collect::<Vec<_>>());
                    let all = (0..count).filter(|k| k % 2 == 0 || k % 3 == 0 || k % 7 == 0).collect::<Vec<_>>();
                    assert_eq!(union(&lists.each_ref().map(|list| list.as_slice())), all);
                });
            }
        }
    }
}
