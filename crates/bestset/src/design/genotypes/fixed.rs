//! Numbers with a common unit: v_i = unit · a_i with whole a_i, so that sums are exact.

use super::sums::{Digits, LARGEST};

/// Levels of size after which what is left is added up as it is.
const LEVELS: usize = 3;

/// One in so many people may be left to be added up one by one.
const FEW: usize = 128;

/// Below this a unit would be no number.
const LEAST: f64 = 1e-270;

/// Whole numbers, and what one of them stands for.
pub struct Scaled {
    pub unit: f64,
    /// Zeros behind the last person, so that a word of packed people always has them.
    pub numbers: Vec<i64>,
    pub digits: Digits,
}

impl Scaled {
    /// Numbers of at most [`LARGEST`] each.
    pub fn new(mut numbers: Vec<i64>, unit: f64) -> Self {
        let digits = Digits::new(&numbers);
        numbers.resize(numbers.len().next_multiple_of(32), 0);
        Self { unit, numbers, digits }
    }
}

/// v = Σ_parts unit · a + rest, where |v_i − unit a_i| ≤ nε/4 · |v_i| for every person: what rounding the terms of a sum one by
/// one may cost as well, whatever weights are behind v.
///
/// With max |v| < 2^e and s = ⌊log₂ n⌋ + 1, a part takes the v_i of at least 2^(e−s) in units of 2^(e−54), off by half of one:
/// 2^(s−55) |v_i| at most. What is smaller is the next part's; the few that are left (one in 2n of evenly spread numbers) are
/// added up as they are.
#[derive(Default)]
pub struct Fixed {
    pub parts: Vec<Scaled>,
    pub rest: Vec<(usize, f64)>,
}

impl Fixed {
    pub fn new(v: &[f64]) -> Self {
        let mut fixed = Self::default();
        let mut left: Vec<(usize, f64)> = v.iter().copied().enumerate().filter(|x| x.1 != 0.0).collect();
        while left.len() > v.len() / FEW + 8 && fixed.parts.len() < LEVELS {
            let max = left.iter().fold(0.0f64, |max, x| if x.1.is_nan() { f64::INFINITY } else { max.max(x.1.abs()) });
            if !(LEAST..f64::INFINITY).contains(&max) {
                break;
            }
            let e = (max.to_bits() >> 52) as i32 - 1022;
            let (scale, unit) = (2f64.powi(54 - e), 2f64.powi(e - 54));
            let least = 2f64.powi(e - v.len().ilog2() as i32 - 1);
            let mut numbers = vec![0; v.len()];
            left.retain(|&(i, x)| {
                let taken = x.abs() >= least;
                if taken {
                    numbers[i] = (x * scale).round() as i64;
                }
                !taken
            });
            debug_assert!(numbers.iter().all(|a| a.abs() <= LARGEST));
            fixed.parts.push(Scaled::new(numbers, unit));
        }
        fixed.rest = left;
        fixed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_is_kept_to_its_last_digits() {
        // Sizes over many levels, numbers near the ends of the range, zeros.
        let sizes: [&dyn Fn(usize) -> f64; 5] = [
            &|i| (i as f64 * 0.7).sin(),
            &|i| (i as f64 * 0.7).sin() * 2f64.powi(-(i as i32 % 200)),
            &|i| if i % 3 == 0 { 0.0 } else { (i as f64).cos() * 1e300 },
            &|i| (i as f64).cos() * 1e-300,
            &|i| (1 + i) as f64 * f64::MIN_POSITIVE * f64::EPSILON,
        ];
        for (size, n) in sizes.iter().flat_map(|size| [1, 7, 100, 4097].map(|n| (size, n))) {
            let v: Vec<f64> = (0..n).map(size).collect();
            let Fixed { parts, rest } = Fixed::new(&v);
            let mut found = vec![0.0; n];
            for part in &parts {
                let own = found.iter_mut().zip(&part.numbers).filter(|x| *x.1 != 0);
                own.for_each(|(x, a)| *x = part.unit * *a as f64);
            }
            rest.iter().for_each(|&(i, x)| found[i] = x);
            for (x, y) in v.iter().zip(&found) {
                assert!((x - y).abs() <= 0.25 * n as f64 * f64::EPSILON * x.abs(), "{n}: {x} {y}");
            }
        }
    }

    #[test]
    fn numbers_that_are_none_are_added_up_as_they_are() {
        for bad in [f64::NAN, f64::INFINITY] {
            let mut v = vec![1.0; 1000];
            v[3] = bad;
            assert!(Fixed::new(&v).parts.is_empty());
        }
    }
}
