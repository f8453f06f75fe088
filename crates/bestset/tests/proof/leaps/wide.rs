//! As many features as samples, and more: against enumeration in twice the precision.

use super::check;
use crate::common::{Case, data_file, few_samples, normal, power, rng, table, twofold_fits, twofold_sizes};
use bestset::{Error, Method, Options, Penalty, Status, solve, subsets};

/// Sizes that leave a degree of freedom are proved; from there on the fit is perfect and says so.
#[test]
fn as_many_features_as_samples_equal_enumeration() {
    let (mut proved, mut total, mut perfect) = (0, 0, 0);
    for seed in 0..120 {
        let data = few_samples(seed, 5 + seed as usize % 6);
        let (mut best, determined) = (twofold_sizes(&data), data.n - usize::from(data.intercept));
        // What the enumeration has there is its own rounding.
        best.iter_mut().skip(determined).for_each(|least| *least = 0.0);
        data.with_problem(|problem| {
            let found = subsets(problem, data.p, &Options::default()).unwrap();
            assert_eq!(found.sizes.len(), data.p);
            assert!(found.is_complete());
            proved += check(&data, &best, &found, &seed.to_string());
            total += data.p;
            for s in &found.sizes {
                let is_perfect = s.size >= determined;
                assert!(!is_perfect || s.loss < 1e-20 * best[0], "{seed}, size {}: {}", s.size, s.loss);
                assert_eq!(s.criteria.aic.is_none(), is_perfect, "{seed}, size {}: {:?}", s.size, s.criteria);
                perfect += usize::from(is_perfect);
            }
        });
    }
    assert!(proved * 100 >= total * 97 && perfect > 100, "{proved} of {total}, {perfect} perfect");
}

#[test]
fn prices_choose_among_all_sizes() {
    for seed in 0..80 {
        let mut data = few_samples(seed, 5 + seed as usize % 5);
        let best = twofold_sizes(&data);
        data.penalty.lambda0 = best[0] * power(&mut rng(seed), -5.0, -0.5);
        let limit = (seed % 3 == 0).then_some(1 + seed as usize % 4);
        data.max_size = limit;
        let cost = |k: usize| best[k] + data.penalty.lambda0 * k as f64;
        let least = (0..=limit.unwrap_or(data.p)).map(cost).fold(f64::INFINITY, f64::min);
        data.with_problem(|problem| {
            let found = solve(problem, &Options { top: 1 + seed as usize % 3, ..Options::with_method(Method::Exact) });
            let found = found.unwrap();
            let c = found.certificate;
            assert!(c.lower_bound <= least * (1.0 + 1e-12), "{seed}: {c:?}, least {least}");
            assert!((c.objective - least).abs() <= 1e-6 * least, "{seed}: {c:?}, least {least}");
            assert!(found.ranked[0].proved == (found.status == Status::Optimal) || found.ranked.len() > 1, "{seed}");
        });
    }
}

/// More columns than samples determine, but copies of few: no subset fits perfectly, and none holds a column beside its copy.
#[test]
fn copies_fit_no_better_than_what_they_are_copies_of() {
    for seed in 0..60 {
        let mut data = few_samples(seed, 7);
        let (n, distinct) = (data.n, 2 + seed as usize % 3);
        data.edit(|x| (distinct * n..7 * n).for_each(|k| x[k] = x[k / n % distinct * n + k % n]));
        let fit = twofold_fits(&data);
        data.penalty.lambda0 = fit[0] * power(&mut rng(seed), -3.0, -1.0);
        let found =
            data.with_problem(|p| solve(p, &Options { top: 200, ..Options::with_method(Method::Exact) })).unwrap();
        for one in &found.ranked {
            let own = fit[one.coefficients.support.iter().map(|j| 1usize << j).sum::<usize>()];
            let own = own + data.penalty.lambda0 * one.coefficients.nonzeros() as f64;
            assert!((one.objective - own).abs() <= 1e-9 * fit[0], "{seed}: {one:?} is not {own}");
        }
    }
}

/// The Detroit homicide data, 13 years and 13 variables: every size against all subsets.
#[test]
fn detroit() {
    let Some(path) = data_file("Detroit.csv") else { return };
    let mut columns = table(&path).columns;
    let (y, p) = (columns.pop().unwrap(), columns.len());
    let (n, x) = (y.len(), columns.concat());
    let mut data = Case::dense(n, p, x, y, Penalty::new(0.0, 0.0, 0.0));
    data.intercept = true;
    let mut best = twofold_sizes(&data);
    best[12..].fill(0.0);
    data.with_problem(|problem| {
        let found = subsets(problem, p, &Options::default()).unwrap();
        assert_eq!(check(&data, &best, &found, "Detroit"), p);
        for (s, k) in found.sizes.iter().take(11).zip(1..) {
            assert!((s.loss - best[k]).abs() <= 1e-9 * best[k], "{k}: {} {}", s.loss, best[k]);
        }
    });
}

/// What cannot be searched says what it is, and which sizes can.
#[test]
fn far_more_features_than_samples_are_an_error_that_names_both() {
    let rng = &mut rng(5);
    let (n, p) = (20, 60);
    let x = (0..n * p).map(|_| normal(rng)).collect();
    let y = (0..n).map(|_| normal(rng)).collect();
    let mut data = Case::dense(n, p, x, y, Penalty::new(0.1, 0.0, 0.0));
    data.intercept = true;
    data.with_problem(|problem| {
        let error = subsets(problem, 12, &Options::default()).unwrap_err();
        let Error::TooWide { samples: 20, features: 60, most } = error else { panic!("{error}") };
        assert_eq!(
            error.to_string(),
            format!(
                "least squares without lambda2 cannot be searched with 20 samples and 60 features: \
            set lambda2 > 0, ask for at most {most} features, or bound every coefficient"
            )
        );
        // The largest ones take a while.
        let found = subsets(problem, most.min(4), &Options::default()).unwrap();
        assert!(found.sizes.iter().all(|s| s.status == Status::Optimal));
        let unpriced = problem.with_penalty(Penalty::new(0.0, 0.0, 0.0)).unwrap();
        let limited = unpriced.with_max_size(15).unwrap();
        assert!(matches!(solve(&limited, &Options::with_method(Method::Exact)), Err(Error::TooWide { .. })));
        // At a price, what features cost bounds all subsets.
        let bounded = solve(problem, &Options::with_method(Method::Exact)).unwrap();
        assert!(bounded.certificate.lower_bound > 0.0 && bounded.certificate.lower_bound <= bounded.objective());
    });
}
