//! All subsets of small sizes under attack: every claim about every size, prices and limits held against enumeration in twice the
//! precision.

use super::{at_most, check, fits_of};
use crate::common::{
    Case, ChaCha8Rng, RngExt, Tally, least_of_sizes, near_copies, pick, power, rng, seeds, wide_columns,
};
use bestset::internals::{enumerated, solve_by_enumeration};
use bestset::{Error, Options, Status};

/// Columns of all kinds with p > n, and columns alike to five digits; a column is at times the sum of others but for a little.
pub fn problem(rng: &mut ChaCha8Rng) -> Case {
    let mut case = if rng.random_bool(0.7) { wide_columns(rng, 9) } else { near_copies(rng) };
    // Of columns that vary and are of like sizes: a column of nothing but the rounding of its entries is taken for none, and named.
    let ends = |j: usize| case.col(j).iter().fold((f64::MAX, f64::MIN), |(a, b), x| (x.min(a), x.max(b)));
    let spread = |j: usize| ends(j).1 - ends(j).0;
    let size = |j: usize| ends(j).1.abs().max(ends(j).0.abs());
    let is_plain = |j: usize, k: usize| size(j) < 1e3 * spread(j) && size(j) < 1e3 * size(k);
    if case.p > 3 && rng.random_bool(0.2) && is_plain(0, 1) && is_plain(1, 0) {
        let (n, off) = (case.n, pick(rng, &[0.0, 1e-12, 1e-8, 1e-5, 1e-3]));
        let noise: Vec<f64> = (0..n).map(|_| off * (rng.random::<f64>() - 0.5)).collect();
        case.edit(|x| (0..n).for_each(|i| x[3 * n + i] = x[i] - 0.5 * x[n + i] + noise[i]));
    }
    if rng.random_bool(0.3) {
        let scale = power(rng, -6.0, 6.0);
        case.edit(|x| x.iter_mut().for_each(|x| *x *= scale));
    }
    case
}

#[test]
fn sizes_prices_and_limits_equal_enumeration() {
    let (seeds, mut tally) = (seeds(300), Tally::default());
    for seed in seeds.clone() {
        let mut rng = rng(9000 + seed);
        let mut case = problem(&mut rng);
        let sized = least_of_sizes(case.p, &fits_of(&case));
        let (best, most) = (at_most(&sized), rng.random_range(1..=case.p));
        tally.add("problems", 1);
        let max_nodes = pick(&mut rng, &[None, None, None, Some(1), Some(2)]);
        let options = Options { max_nodes, ..Options::default() };
        match case.with_problem(|problem| enumerated(problem, most, &options)) {
            Ok(found) => {
                tally.add("sizes", most);
                tally.add("proved", check(&case, &best, &found, &seed.to_string()));
            }
            // What is left of a column beside others is less than their digits tell, and hardly more where they depend on each other.
            Err(Error::Dependent { .. }) => tally.add("dependent", 1),
            Err(error) => panic!("{seed}: {error}"),
        }
        case.penalty.lambda0 = if rng.random_bool(0.3) { 0.0 } else { best[0] * power(&mut rng, -5.0, 0.0) };
        case.max_size = Some(most);
        let top = pick(&mut rng, &[1, 1, 3]);
        let solved = case.with_problem(|problem| solve_by_enumeration(problem, &Options { top, ..options.clone() }));
        let found = match solved {
            Ok(found) => found,
            Err(Error::Dependent { .. }) => continue,
            Err(error) => panic!("{seed}: {error}"),
        };
        let cost = |k: usize| best[k] + case.penalty.lambda0 * k as f64;
        let least = (0..=most).map(cost).fold(f64::INFINITY, f64::min);
        let (c, context) = (found.certificate, format!("{seed}, at most {most}, top {top}: {found:?}, least {least}"));
        assert!(c.lower_bound <= least.max(1e-24 * best[0]), "the bound is wrong: {context}");
        assert!(c.objective >= least - 1e-9 * best[0], "better than best: {context}");
        if found.status == Status::Optimal {
            tally.add("solved", 1);
            assert!(c.objective <= least * (1.0 + 1e-6) + 1e-9 * best[0], "not optimal: {context}");
        }
    }
    assert!(10 * tally.of("dependent") <= 2 * tally.of("problems"), "{tally:?}");
    tally.conclude("all subsets of small sizes", &seeds, &[("proved", 550, "sizes"), ("solved", 600, "problems")]);
}
