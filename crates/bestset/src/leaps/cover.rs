//! More columns than samples determine (MATH 11.33).
//!
//! With n′ = samples of positive weight, less one with an intercept, any n′ independent columns fit perfectly: families of n′ and more have
//! no fit to bound their subsets with but 0, and normal equations that are singular. So the subsets of at most k ≤ n′ − 1
//! features are divided into families of at most n′ − 1 columns, by what is in and out of the first few columns:
//!
//!   subsets(I, U) = subsets(I, U ∖ j) ∪ subsets(I ∪ j, U ∖ j)   until |I| + |U| ≤ n′ − 1 or |I| = k,
//!
//! which makes at most binom(p − n′ + 1 + k, k) of them. Few enough only where p is not much larger than n, or k is small.

use crate::leaps::cell::Cell;
use crate::problem::Problem;

/// The most families that are searched.
const MOST: f64 = 5000.0;

/// n′ (MATH 11.33), the number of independent columns that fit any targets.
pub fn determined(problem: &Problem<'_>) -> usize {
    let samples = problem.weights().map_or(problem.nrows(), |w| w.iter().filter(|w| **w > 0.0).count());
    samples.saturating_sub(usize::from(problem.has_intercept()))
}

/// Whether there are few enough families for the subsets of at most `most` features.
pub fn is_small(problem: &Problem<'_>, most: usize) -> bool {
    let (d, p) = (determined(problem), problem.ncols());
    p <= d || d == 0 || count(p - (d - 1), most.min(d - 1)) <= MOST
}

/// The largest size for which there are few enough, 0 if none.
pub fn largest(problem: &Problem<'_>) -> usize {
    let most = determined(problem).min(problem.ncols());
    (1..=most).take_while(|&k| is_small(problem, k)).last().unwrap_or(0)
}

/// binom(out + k, k) (MATH 11.33), as far as it matters.
fn count(out: usize, k: usize) -> f64 {
    let (mut value, few) = (1.0, out.min(k));
    for i in 1..=few {
        value *= (out.max(k) + i) as f64 / i as f64;
        if value > 2.0 * MOST {
            break;
        }
    }
    value
}

/// The families of at most `cap` of the columns that hold every subset of at most `most` (MATH 11.33).
pub fn cover(columns: &[u32], cap: usize, most: usize) -> Vec<Cell> {
    let mut families = Vec::new();
    divide(Vec::new(), columns, cap, most.min(cap), &mut families);
    families
}

fn divide(inside: Vec<u32>, free: &[u32], cap: usize, most: usize, families: &mut Vec<Cell>) {
    if inside.len() == most {
        families.push(Cell { inside, free: Vec::new() });
    } else if inside.len() + free.len() <= cap {
        families.push(Cell { inside, free: free.to_vec() });
    } else if let [first, rest @ ..] = free {
        let with = [&inside[..], &[*first]].concat();
        divide(inside, rest, cap, most, families);
        divide(with, rest, cap, most, families);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every subset is in exactly one family, none is larger than allowed, and there are no more than were counted.
    #[test]
    fn families_divide_the_subsets() {
        for p in 1..=9usize {
            for cap in 1..p {
                for most in 1..=cap {
                    let columns: Vec<u32> = (0..p as u32).collect();
                    let families = cover(&columns, cap, most);
                    assert!(families.len() as f64 <= count(p - cap, most), "{p} {cap} {most}");
                    assert!(families.iter().all(|f| f.len() <= cap));
                    for mask in 0u32..1 << p {
                        let subset: Vec<u32> = columns.iter().copied().filter(|k| mask >> k & 1 == 1).collect();
                        let holds = |f: &&Cell| {
                            let known = |k: &u32| f.inside.contains(k) || f.free.contains(k);
                            f.inside.iter().all(|k| subset.contains(k)) && subset.iter().all(known)
                        };
                        let count = families.iter().filter(holds).count();
                        assert!(
                            count == 1 || subset.len() > most && count <= 1,
                            "{p} {cap} {most} {subset:?}: {count}"
                        );
                    }
                }
            }
        }
    }
}
