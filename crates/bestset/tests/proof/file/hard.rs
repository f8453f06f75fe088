//! Problems of which true proofs were rejected, or could not be written: what is proved is written, and what is written is accepted.

use super::{exact, proof, table};
use crate::common::{Case, normal, power, rng, sized};
use bestset::{Loss, Options, Penalty, Status, solve};
use bestset_check::check;

/// What became of proofs.
#[derive(Debug, Default, PartialEq)]
struct Fate {
    accepted: usize,
    /// Not proved by the search.
    open: usize,
    refused: usize,
    rejected: usize,
}

impl Fate {
    /// Solves, writes and checks; says what goes wrong.
    fn meet(&mut self, case: &Case, k: Option<usize>, options: &Options, context: &dyn std::fmt::Debug) {
        case.with_problem(|problem| {
            let problem = sized(problem.clone(), k);
            let solution = solve(&problem, options);
            let Some(solution) = solution.ok().filter(|s| s.status == Status::Optimal) else {
                self.open += 1;
                return;
            };
            match proof(&problem, &solution, options).map(|written| check(&table(&problem), None, &written.0[..])) {
                Err(error) => {
                    println!("{context:?}: not written: {error}");
                    self.refused += 1;
                }
                Ok(Err(error)) => {
                    println!("{context:?}: rejected: {error}");
                    self.rejected += 1;
                }
                Ok(Ok(_)) => self.accepted += 1,
            }
        });
    }
}

/// Columns that are copies of others but for little.
#[test]
fn near_copies_are_told_apart_or_split() {
    let (mut fate, mut rng) = (Fate::default(), rng(311));
    for trial in 0..480 {
        let (n, p) = (14 + trial % 20, 4 + trial % 7);
        let near = power(&mut rng, -8.0, -1.0);
        let mut x: Vec<f64> = (0..n * p).map(|_| normal(&mut rng)).collect();
        (0..n).for_each(|i| x[n + i] = x[i] + near * x[n + i]);
        if trial % 4 == 0 {
            (0..n).for_each(|i| x[3 * n + i] = x[2 * n + i] + near * x[3 * n + i]);
        }
        let noise = [1.0, 0.1, 1e-3][trial / 6 % 3];
        let y = (0..n).map(|i| x[i] + x[2 * n + i] + noise * normal(&mut rng)).collect();
        let price = if trial % 3 == 0 { noise * noise } else { 0.0 };
        let mut case = Case::dense(n, p, x, y, Penalty::new(price, 0.0, 0.0));
        case.intercept = trial % 2 == 0;
        let k = (price == 0.0).then_some(1 + trial % 4);
        let gap = [1e-6, 1e-3, 1e-2, 0.05][trial / 2 % 4];
        fate.meet(&case, k, &Options { top: 1 + trial % 5 / 4, gap, ..exact() }, &(trial, near, noise, k, gap));
    }
    println!("{fate:?}");
    assert!(fate.accepted > 180 && fate.rejected == 0 && fate.refused == 0, "{fate:?}");
}

/// Nothing is left of the targets, or what rounding leaves.
#[test]
fn perfect_fits_are_proved() {
    let (mut fate, mut rng) = (Fate::default(), rng(313));
    for trial in 0..120 {
        let (n, p) = (12 + trial % 9, 3 + trial % 5);
        let scale = [1.0, 1e3, 1e-4][trial % 3];
        let x: Vec<f64> = (0..n * p).map(|_| scale * normal(&mut rng)).collect();
        let noise = [0.0, 1e-8, 1e-10, 1e-12][trial / 3 % 4];
        let y = (0..n).map(|i| x[i] - 2.0 * x[n + i] + scale * noise * normal(&mut rng)).collect();
        let price = if trial % 5 == 0 { 1e-3 * scale * scale } else { 0.0 };
        let mut case = Case::dense(n, p, x, y, Penalty::new(price, 0.0, 0.0));
        case.intercept = trial % 2 == 0;
        let k = (price == 0.0).then_some(2 + trial % 2);
        let gap = [1e-6, 1e-3, 0.1][trial / 12 % 3];
        fate.meet(&case, k, &Options { gap, ..exact() }, &(trial, noise, price, gap));
    }
    println!("{fate:?}");
    assert!(fate.accepted > 40 && fate.refused + fate.rejected == 0, "{fate:?}");
}

/// A column that is the same number throughout is nothing beside an intercept.
#[test]
fn constant_columns_are_no_features() {
    let (mut fate, mut rng) = (Fate::default(), rng(314));
    for trial in 0..120 {
        let (n, p) = (12 + trial % 9, 3 + trial % 5);
        let mut x: Vec<f64> = (0..n * p).map(|_| normal(&mut rng)).collect();
        x[n..2 * n].fill([0.1, 3.0, 0.0][trial % 3]);
        let y = (0..n).map(|i| x[i] - 2.0 * x[2 * n + i] + 0.3 * normal(&mut rng)).collect();
        let (price, ridge) = ([0.0, 0.5][trial / 2 % 2], [0.0, 0.1][trial / 4 % 2]);
        let mut case = Case::dense(n, p, x, y, Penalty::new(price, 0.0, ridge));
        case.intercept = true;
        let k = (price == 0.0).then_some(1 + trial % 3);
        fate.meet(&case, k, &Options { top: 1 + trial % 2, ..exact() }, &(trial, price, ridge, k));
    }
    println!("{fate:?}");
    assert!(fate.accepted > 100 && fate.refused + fate.rejected == 0, "{fate:?}");
}

/// Large counts beside a small θ: terms of the conjugates are far larger than what they add up to.
#[test]
fn large_counts_are_proved() {
    let (mut fate, mut rng) = (Fate::default(), rng(315));
    for trial in 0..60 {
        let (n, p) = (14 + trial % 9, 2 + trial % 4);
        let x: Vec<f64> = (0..n * p).map(|_| normal(&mut rng)).collect();
        let size = [1e2, 1e3, 1e4, 1e6][trial % 4];
        let y = (0..n).map(|i| (size * (x[i] + 0.5 * normal(&mut rng)).exp()).round()).collect();
        let mut case = Case::dense(n, p, x, y, Penalty::new(0.02, 0.0, power(&mut rng, -2.0, 0.0)));
        case.loss = Loss::NegativeBinomial { theta: [0.1, 0.01, 1.0][trial / 4 % 3] };
        case.intercept = trial % 2 == 0;
        fate.meet(&case, (trial % 3 == 0).then_some(1), &exact(), &(trial, size));
    }
    println!("{fate:?}");
    assert!(fate.accepted > 50 && fate.refused + fate.rejected == 0, "{fate:?}");
}

mod long {
    use super::*;

    /// Several answers of a size: a bound may show that more features are in than the size allows, and the family is empty.
    #[test]
    fn families_with_more_features_in_than_allowed_are_empty() {
        let (mut fate, mut rng) = (Fate::default(), rng(310));
        for trial in 0..400 {
            let (n, p, k) = (12 + trial % 9, 4 + trial % 6, 1 + trial % 3);
            let common: Vec<f64> = (0..n).map(|_| normal(&mut rng)).collect();
            let share = [0.0, 0.5, 0.9][trial / 7 % 3];
            let x: Vec<f64> = (0..n * p).map(|i| share * common[i % n] + normal(&mut rng)).collect();
            let y =
                (0..n).map(|i| (0..k + 2).map(|j| x[j % p * n + i]).sum::<f64>() + 0.1 * normal(&mut rng)).collect();
            let mut case = Case::dense(n, p, x, y, Penalty::new(0.0, 0.0, power(&mut rng, -4.0, 0.0)));
            case.intercept = trial % 2 == 0;
            fate.meet(&case, Some(k), &Options { top: 2 + trial % 3, ..exact() }, &trial);
        }
        println!("{fate:?}");
        assert!(fate.accepted > 300 && fate.refused + fate.rejected == 0, "{fate:?}");
    }

    /// More features than samples, an answer whose features correlate strongly.
    #[test]
    fn problems_around_correlated_answers_are_proved() {
        let (mut fate, mut rng) = (Fate::default(), rng(312));
        for trial in 0..96 {
            let (n, p) = (60 + trial % 30, 90 + trial % 40);
            let near = [0.3, 0.15, 0.1, 0.07][trial % 4];
            let mut x: Vec<f64> = (0..n * p).map(|_| normal(&mut rng)).collect();
            (0..n).for_each(|i| x[n + i] = x[i] + near * x[n + i]);
            let noise = [0.03, 0.1, 0.3][trial / 4 % 3];
            let y = (0..n).map(|i| x[i] - x[n + i] + noise * near * normal(&mut rng)).collect();
            let mut case = Case::dense(n, p, x, y, Penalty::new(0.0, 0.0, 0.0));
            case.intercept = trial % 2 == 0;
            let gap = [1e-6, 1e-2, 0.1][trial % 3];
            fate.meet(&case, Some(2), &Options { gap, ..exact() }, &(trial, near, noise, gap));
        }
        println!("{fate:?}");
        assert!(fate.accepted > 80 && fate.refused + fate.rejected == 0, "{fate:?}");
    }
}
