//! Columns that depend on others, exactly or nearly, and data far from zero.

use super::check;
use crate::common::{ChaCha8Rng, RngExt, assert_close, noise, normal, power, rng, twofold_sizes};
use bestset::design::{Csc, Dense, Design, Standardized};
use bestset::{Error, Method, Options, Penalty, Problem, Status, solve, subsets};

/// One column for each of four groups, which sum to one: any three of them are as good as all, and all sizes are proved.
#[test]
fn dependent_columns_are_searched_without_each_in_turn() {
    let mut data = noise(6, 24, 407);
    data.edit(|x| (0..4 * 24).for_each(|k| x[k] = if k % 24 % 4 == k / 24 { 1.0 } else { 0.0 }));
    (0..24).for_each(|i| data.y[i] += [0.0, 3.0, 1.0, -1.0][i % 4]);
    let best = twofold_sizes(&data);
    data.with_problem(|problem| {
        let found = subsets(problem, 6, &Options::default()).unwrap();
        assert_eq!(check(&data, &best, &found, "groups"), 6);
        assert_eq!(found.sizes[5].coefficients.nonzeros(), 5);
        // Seven parameters, of which six are independent.
        assert_close(found.sizes[4].criteria.cp.unwrap(), 6.0, 1e-9, &found.sizes[4]);
    });
}

/// A column that differs from another by its last digits stands for it, and the answer says so; one that differs by more is an
/// error with what is left of it. What they differ by could be fitted, and no bound holds against that.
#[test]
fn copies_but_for_rounding_are_named_and_no_others_are_taken() {
    for (apart, is_taken) in [(0.0, true), (2e-16, true), (1e-15, true), (3e-14, false), (1e-12, false), (1e-9, false)]
    {
        let mut data = noise(5, 20, 411);
        let factor = |i: usize| -2.0 * (1.0 + if i.is_multiple_of(2) { apart } else { -apart });
        data.edit(|x| (0..20).for_each(|i| x[60 + i] = x[20 + i] * factor(i)));
        data.with_problem(|problem| {
            let (all, one) =
                (subsets(problem, 4, &Options::default()), solve(problem, &Options::with_method(Method::Exact)));
            if is_taken {
                assert_eq!(all.unwrap().dependent, [[1, 3]], "{apart}");
                assert_eq!(one.unwrap().dependent, [[1, 3]], "{apart}");
            } else {
                for error in [all.unwrap_err(), one.unwrap_err()] {
                    let Error::Dependent { column: column @ (1 | 3), ref others, share } = error else {
                        panic!("{error}")
                    };
                    assert_eq!(others[..], [4 - column], "{error}");
                    assert!(share > 0.01 * apart * apart && share < 2.0 * apart * apart, "{apart}: {share}");
                }
            }
        });
    }
}

/// Combinations as people make them, computed in floating point or read from fifteen digits, far from zero or not, are taken for
/// exact ones: an error would leave them without any answer.
#[test]
fn combinations_with_rounded_entries_are_taken() {
    let rng = &mut rng(413);
    for trial in 0..120 {
        let n = [12, 60, 400, 3000][trial % 4];
        let mut data = noise(7, n, 500 + trial as u64);
        let (far, terms) = (power(rng, -3.0, 6.0), 1 + trial % 4);
        let factors: Vec<f64> = (0..terms).map(|_| normal(rng)).collect();
        data.edit(|x| {
            x.iter_mut().for_each(|x| *x += far);
            for i in 0..n {
                x[6 * n + i] = factors.iter().enumerate().map(|(j, f)| f * x[j * n + i]).sum::<f64>() + 0.3 * far;
            }
            if trial % 3 == 0 {
                x.iter_mut().for_each(|x| *x = format!("{x:.14e}").parse().unwrap());
            }
        });
        if trial % 5 == 0 {
            data.weights = Some((0..n).map(|_| power(rng, -1.0, 1.0)).collect());
        }
        let check = |problem: &Problem<'_>| {
            let found = subsets(problem, 6, &Options::default()).unwrap_or_else(|e| panic!("{trial}: {e}"));
            assert_eq!(found.dependent, [(0..terms).chain([6]).collect::<Vec<_>>()], "{trial}");
            assert_eq!(found.sizes[5].coefficients.nonzeros(), 6);
        };
        data.with_problem(|problem| {
            check(problem);
            let scaled = Standardized::fit(problem.design(), problem.weights(), true, 1.0).unwrap();
            let view = Problem::new(&scaled, problem.y().to_vec(), Penalty::new(0.0, 0.0, 0.0)).unwrap();
            let view = view.with_intercept(true);
            match problem.weights() {
                Some(w) => check(&view.with_weights(w.to_vec()).unwrap()),
                None => check(&view),
            }
        });
    }
}

/// Columns and targets up to 10^13 times their spread from zero, near copies among them, dense and sparse, standardised or not,
/// weighted or not: the claims are those for the same numbers less a constant, which is exact and all an intercept sees.
#[test]
fn data_far_from_zero_are_as_data_near_it() {
    let rng = &mut rng(414);
    let (mut proved, mut total, mut dependent) = (0, 0, 0);
    for trial in 0..240 {
        let (n, p) = (rng.random_range(8..40), 4);
        // Multiples of 2^-8: what is added to them and taken away again changes nothing.
        let grain = |x: f64| (256.0 * x).round() / 256.0;
        let mut near: Vec<f64> = (0..n * p).map(|_| grain(8.0 * normal(rng))).collect();
        if trial % 3 == 0 {
            (0..n).for_each(|i| near[n + i] = near[i] + f64::from(i as u32 % 3) / 16.0);
        }
        let y: Vec<f64> = (0..n).map(|i| grain(near[i] - near[2 * n + i] + 8.0 * normal(rng))).collect();
        let power = trial % 12;
        let (far_x, far_y) =
            (grain(power_of_ten(rng, power)), if trial % 2 == 0 { 0.0 } else { 3.0 * 10f64.powi(power) });
        let x: Vec<f64> = near.iter().map(|x| x + far_x).collect();
        let target: Vec<f64> = y.iter().map(|y| y + far_y).collect();
        let weights: Option<Vec<f64>> = (trial % 5 == 0).then(|| (0..n).map(|_| power_of_ten(rng, 0)).collect());
        let problem = |design: &dyn Design, y: &[f64]| {
            let problem = Problem::new(design, y.to_vec(), Penalty::new(0.0, 0.0, 0.0)).unwrap().with_intercept(true);
            let problem = match &weights {
                Some(w) => problem.with_weights(w.clone()).unwrap(),
                None => problem,
            };
            subsets(&problem, p, &Options::default())
        };
        let best = problem(&Dense::new(n, p, near).unwrap(), &y).unwrap();
        let dense = Dense::new(n, p, x.clone()).unwrap();
        let starts: Vec<usize> = (0..=p).map(|j| j * n).collect();
        let rows: Vec<u32> = (0..n * p).map(|k| (k % n) as u32).collect();
        let sparse = Csc::new(n, starts, rows, x).unwrap();
        let scaled = Standardized::fit(&dense, weights.as_deref(), true, 1.0).unwrap();
        let scaled_sparse = Standardized::fit(&sparse, weights.as_deref(), true, 1.0).unwrap();
        let views: [(&dyn Design, &str); 4] =
            [(&dense, "dense"), (&sparse, "sparse"), (&scaled, "scaled"), (&scaled_sparse, "scaled sparse")];
        for (design, name) in views {
            let found = match problem(design, &target) {
                Ok(found) => found,
                // The parts of a sparse column cannot be told from each other as well.
                Err(Error::Dependent { .. }) if name.ends_with("sparse") && power > 4 => {
                    dependent += 1;
                    continue;
                }
                Err(error) => panic!("{trial}, {name}, 1e{power}: {error}"),
            };
            for (s, b) in found.sizes.iter().zip(&best.sizes) {
                let context =
                    format!("{trial}, {name}, 1e{power}, size {}: {:?} for {:?}", s.size, s.certificate, b.certificate);
                let (low, high) = (b.certificate.lower_bound, b.certificate.objective);
                assert!(s.certificate.lower_bound <= high * (1.0 + 1e-10), "{context}");
                assert!(s.certificate.objective >= low * (1.0 - 1e-10), "{context}");
                if s.status == Status::Optimal {
                    assert!(s.certificate.objective <= high * (1.0 + 3e-6), "{context}");
                    proved += 1;
                }
                total += 1;
            }
        }
    }
    assert_eq!(total + 4 * dependent, 240 * 4 * 4);
    assert!(proved > total * 8 / 10 && dependent < 120, "{proved} of {total}, {dependent} dependent");
}

/// A number between 10^k and 10^(k + 1).
fn power_of_ten(rng: &mut ChaCha8Rng, k: i32) -> f64 {
    power(rng, f64::from(k), f64::from(k) + 1.0)
}

/// Columns that are constant but for their last digits are named; those that are constant need no word.
#[test]
fn constants_but_for_rounding_are_named() {
    let mut data = noise(4, 20, 412);
    data.edit(|x| {
        x[..20].fill(0.1 + 0.2);
        (20..40).for_each(|i| x[i] = 1e9 * (1.0 + if i % 3 == 0 { f64::EPSILON } else { 0.0 }));
    });
    data.with_problem(|problem| {
        let problem = problem.clone().with_intercept(true);
        let found = subsets(&problem, 4, &Options::default()).unwrap();
        assert_eq!(found.dependent, [[1]]);
        assert_eq!(found.sizes[3].coefficients.support, [2, 3]);
        let scaled = Standardized::fit(problem.design(), None, true, 1.0).unwrap();
        let view =
            Problem::new(&scaled, problem.y().to_vec(), Penalty::new(0.0, 0.0, 0.0)).unwrap().with_intercept(true);
        let found = subsets(&view, 4, &Options::default()).unwrap();
        assert_eq!(found.sizes[3].coefficients.support, [2, 3], "{:?}", found.dependent);
    });
}

#[test]
fn what_cannot_be_searched_is_named() {
    let mut data = noise(3, 8, 405);
    data.edit(|x| (0..8).for_each(|i| x[16 + i] = x[i] * (1.0 + 1e-7 * (i as f64).sin())));
    data.with_problem(|problem| {
        let error = subsets(problem, 2, &Options::default()).unwrap_err();
        let Error::Dependent { column: column @ (0 | 2), ref others, share } = error else { panic!("{error}") };
        assert!(others[..] == [2 - column] && (1e-16..1e-13).contains(&share), "{error}");
        assert_eq!(subsets(problem, 0, &Options::default()), Err(Error::Size { k: 0, features: 3 }));
        assert_eq!(subsets(problem, 4, &Options::default()), Err(Error::Size { k: 4, features: 3 }));
        // A ridge tells the two near copies from a single one.
        let ridge = problem.with_penalty(Penalty::new(0.0, 0.0, 0.1)).unwrap();
        assert!(subsets(&ridge, 3, &Options::default()).unwrap().sizes.iter().all(|s| s.status == Status::Optimal));
    });
    noise(30, 8, 406).with_problem(|problem| {
        let error = solve(problem, &Options::with_method(Method::Exact)).unwrap_err();
        assert!(matches!(error, Error::TooWide { samples: 8, features: 30, .. }), "{error}");
    });
}

/// Columns of any size that can be divided by are searched; too many dependences have an error that names one; a variance that the full
/// fit does not tell gives no Cp; a column that lowers no fit makes no second answer.
#[test]
fn small_columns_many_copies_and_no_variance() {
    let (n, scale) = (12, 2f64.powi(-545));
    let mut data = noise(3, n, 415);
    let plain = data.with_problem(|problem| subsets(problem, 3, &Options::default()).unwrap());
    data.edit(|x| x.iter_mut().for_each(|x| *x *= scale));
    let small = data.with_problem(|problem| subsets(problem, 3, &Options::default()).unwrap());
    for (a, b) in plain.sizes.iter().zip(&small.sizes) {
        assert_eq!((a.status, &a.coefficients.support), (b.status, &b.coefficients.support));
        assert_close(a.certificate.objective, b.certificate.objective, 1e-12, b);
    }
    let mut copies = noise(18, 30, 416);
    copies.edit(|x| x.copy_within(..9 * 30, 9 * 30));
    copies.with_problem(|problem| {
        let error = subsets(problem, 3, &Options::default()).unwrap_err();
        let Error::Dependences { columns, most: 256 } = &error else { panic!("{error}") };
        assert!(columns.len() == 2 && columns[1] == columns[0] + 9, "{error}");
    });
    // Five parameters for five samples.
    noise(4, 5, 417).with_problem(|problem| {
        let found = subsets(problem, 4, &Options::default()).unwrap();
        assert!(found.sizes.iter().all(|s| s.criteria.cp.is_none()), "{found:?}");
    });
    let x = Dense::new(4, 2, vec![1.0, 1.0, -1.0, -1.0, 1.0, -1.0, 1.0, -1.0]).unwrap();
    let problem = Problem::new(&x, vec![2.0, 1.0, 2.0, 1.0], Penalty::new(0.1, 0.0, 0.0)).unwrap();
    let found = solve(&problem, &Options { top: 4, ..Options::with_method(Method::Exact) }).unwrap();
    let supports: Vec<&[usize]> = found.ranked.iter().map(|r| &r.coefficients.support[..]).collect();
    assert_eq!(supports, [&[1][..], &[]], "the first column is orthogonal to the targets");
}
