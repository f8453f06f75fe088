//! All subsets of small sizes: against enumeration in twice the precision where p is small, against plain loops where it is not.

pub mod attack;
mod many;

use crate::common::{
    Case, RngExt, least_of_sizes, power, rng, sizes_hold, twofold_fits_beyond, twofold_sizes, wide_columns,
};
use bestset::internals::{enumerated, solve_by_enumeration};
use bestset::{Error, Factors, Options, Status, Subsets};

/// The fits of all subsets in twice the precision. Columns that are combinations of others but for the rounding of their entries, which
/// the answer names, add nothing; of any others more is left than this.
fn fits_of(data: &Case) -> Vec<f64> {
    twofold_fits_beyond(data, 1e-14)
}

/// Least fit of at most k features for every k, zero where it is nothing but rounding.
fn at_most(fits: &[f64]) -> Vec<f64> {
    let mut best = fits.to_vec();
    (1..best.len()).for_each(|k| best[k] = best[k].min(best[k - 1]));
    best.iter().map(|&least| if least < 1e-24 * fits[0] { 0.0 } else { least }).collect()
}

/// Checks every claim about every size; how many are proved. Twice the precision has no more digits than the floor.
fn check(data: &Case, best: &[f64], found: &Subsets, context: &str) -> usize {
    sizes_hold(data, best, found, (1e-24 * best[0], 1e-9 * best[0]), context)
}

/// Every size of every problem, p > n, without a ridge and with one.
#[test]
fn every_size_equals_enumeration() {
    let mut rng = rng(901);
    let (mut proved, mut total, mut dependent) = (0, 0, 0);
    for trial in 0..600 {
        let data = wide_columns(&mut rng, if trial % 40 == 0 { 12 } else { 9 });
        let best = at_most(&least_of_sizes(data.p, &fits_of(&data)));
        data.with_problem(|problem| match enumerated(problem, data.p, &Options::default()) {
            Ok(found) => {
                assert_eq!(found.sizes.len(), data.p);
                proved += check(&data, &best, &found, &trial.to_string());
                total += data.p;
            }
            Err(Error::Dependent { column, share, .. }) => {
                assert!(share < 1e-10 && column < data.p, "{column} {share:e} {data:?}");
                dependent += 1;
            }
            Err(error) => panic!("{trial}: {error}: {data:?}"),
        });
    }
    // The others fit perfectly, or columns alike to many digits make the rounding larger than the tolerance.
    assert!(proved >= total * 94 / 100 && dependent < 80, "{proved} of {total}, {dependent} dependent");
}

/// Prices, limits of size and several answers.
#[test]
fn ranks_at_a_price_equal_enumeration() {
    let mut rng = rng(902);
    let (mut proved, mut total, mut ranks) = (0, 0, 0);
    for trial in 0..300 {
        let mut data = wide_columns(&mut rng, 8);
        let fits = fits_of(&data);
        data.penalty.lambda0 = if trial % 3 == 0 { 0.0 } else { fits[0] * power(&mut rng, -4.0, -0.3) };
        let (limit, top) = (rng.random_range(1..=data.p.min(4)), [1, 1, 2, 5][trial % 4]);
        data.max_size = Some(limit);
        let size = |mask: usize| mask.count_ones() as usize;
        let cost = |mask: usize| fits[mask].max(0.0) + data.penalty.lambda0 * size(mask) as f64;
        let allowed: Vec<usize> = (0..fits.len()).filter(|&m| size(m) <= limit).collect();
        let least = allowed.iter().map(|&m| cost(m)).fold(f64::INFINITY, f64::min);
        let solved = data.with_problem(|problem| solve_by_enumeration(problem, &Options { top, ..Options::default() }));
        let found = match solved {
            Err(Error::Dependent { share, .. }) if share < 1e-10 => continue,
            other => other.unwrap(),
        };
        let (c, context) =
            (found.certificate, format!("{trial}, at most {limit}, top {top}: {found:?}, least {least}"));
        assert!(c.lower_bound <= least.max(1e-24 * fits[0]), "{context}");
        assert!(c.objective >= least - 1e-9 * fits[0] && found.coefficients.nonzeros() <= limit, "{context}");
        total += 1;
        if found.status == Status::Optimal {
            assert!(c.objective <= least * (1.0 + 1e-6) + 1e-9 * fits[0], "{context}");
            proved += 1;
        }
        let supports: Vec<usize> =
            found.ranked.iter().map(|r| r.coefficients.support.iter().map(|j| 1usize << j).sum()).collect();
        assert!(found.ranked.windows(2).all(|w| w[0].objective <= w[1].objective), "{context}");
        for (r, one) in found.ranked.iter().enumerate().filter(|r| r.1.proved) {
            ranks += 1;
            let room = 1e-6 * one.objective + 2e-9 * fits[0];
            let matters =
                |m: usize| (0..data.p).all(|j| m >> j & 1 == 0 || fits[m & !(1 << j)] - fits[m] > 1e-9 * fits[0]);
            let missed = |m: &usize| cost(*m) < one.objective - room && !supports[..r].contains(m) && matters(*m);
            let missed = allowed.iter().copied().find(missed);
            assert!(missed.is_none(), "rank {r} but {missed:?} comes before: {context}");
        }
    }
    assert!(total > 260 && proved >= total * 95 / 100 && ranks > 350, "{proved} of {total}, {ranks} ranks");
}

/// Factors of the ridge and features that are never in.
#[test]
fn factors_of_the_ridge_and_features_left_out() {
    let mut rng = rng(903);
    for trial in 0..60 {
        let mut data = wide_columns(&mut rng, 8);
        data.penalty.lambda2 = 1.0;
        let factors: Vec<f64> =
            (0..data.p).map(|j| 0.1 * data.norm(j).powi(2).max(1e-9) * power(&mut rng, -1.0, 1.0)).collect();
        data.penalty.shrinkage = Factors::Each(factors.clone());
        // x_j √(1/h_j) with the coefficient b √h_j has the ridge of every other.
        let mut plain = data.clone();
        plain.penalty.shrinkage = Factors::One;
        plain.edit(|x| {
            let n = x.len() / factors.len();
            x.iter_mut().enumerate().for_each(|(i, x)| *x /= factors[i / n].sqrt());
        });
        let best = at_most(&twofold_sizes(&plain));
        data.with_problem(|problem| {
            let found = enumerated(problem, 4, &Options::default()).unwrap();
            for (s, k) in found.sizes.iter().zip(1..) {
                let context = format!("{trial}, {k}: {s:?}, least {}", best[k]);
                assert!((s.certificate.objective - best[k]).abs() <= 1e-9 * best[0], "{context}");
                assert!(s.certificate.lower_bound <= best[k] * (1.0 + 1e-11), "{context}");
            }
            let mut penalty = problem.penalty().clone();
            let bounds = |j: usize| if j == found.sizes[0].coefficients.support[0] { 0.0 } else { f64::INFINITY };
            let (lower, upper) = (0..data.p).map(|j| (-bounds(j), bounds(j))).unzip();
            penalty.bounds = bestset::Bounds::Each(lower, upper);
            let without = enumerated(&problem.with_penalty(penalty).unwrap(), 2, &Options::default()).unwrap();
            let out = found.sizes[0].coefficients.support[0];
            assert!(without.sizes.iter().all(|s| !s.coefficients.support.contains(&out)), "{trial}");
            assert!(without.sizes[0].certificate.objective >= best[1] * (1.0 - 1e-12), "{trial}");
        });
    }
}
