//! Proofs in files: what the solver writes, the checker, which shares no code with it, accepts.

mod hard;
mod mutation;
mod rational;
mod suite;

use crate::common::{Case, RngExt, Shape, awkward_columns, case, hostile, normal, power, respond, rng, sized};
use bestset::design::{Column, Design};
use bestset::proof::{ProofData, ProofSummary, write_proof};
use bestset::{Bounds, Error, Loss, Method, Options, Penalty, Problem, Solution, Status, solve};
use bestset_check::{Proved, Table, check};

/// Rows as a file would have them: the columns of a design, then target, weights and offsets.
pub fn table(problem: &Problem<'_>) -> Table {
    let (n, p) = (problem.nrows(), problem.ncols());
    let mut names: Vec<String> = (1..=p).map(|j| format!("x{j}")).collect();
    let mut columns: Vec<Vec<f64>> = (0..p).map(|j| dense(problem.design(), j)).collect();
    for (name, values) in [("y", Some(problem.y())), ("w", problem.weights()), ("o", problem.offset())] {
        if let Some(values) = values {
            names.push(name.to_owned());
            columns.push(values.to_vec());
        }
    }
    assert!(columns.iter().all(|c| c.len() == n));
    Table::of_columns(names, columns)
}

pub fn dense(x: &dyn Design, j: usize) -> Vec<f64> {
    let (mut column, mut values) = (Column::default(), vec![0.0; x.nrows()]);
    x.column(j, &mut column).unwrap();
    column.to_dense(&mut values);
    values
}

/// The proof of a solution.
pub fn proof(problem: &Problem<'_>, solution: &Solution, options: &Options) -> Result<(Vec<u8>, ProofSummary), Error> {
    let name = |name: &str, is_used: bool| if is_used { name.to_owned() } else { String::new() };
    let data = ProofData {
        x: problem.design(),
        scale: None,
        names: (1..=problem.ncols()).map(|j| format!("x{j}")).collect(),
        target: "y".to_owned(),
        weights: name("w", problem.weights().is_some()),
        offset: name("o", problem.offset().is_some()),
    };
    let mut bytes = Vec::new();
    let summary = write_proof(problem, &data, solution, options, &mut bytes)?;
    assert_eq!(summary.bytes, bytes.len() as u64);
    Ok((bytes, summary))
}

/// Solves, proves and checks; `None` where the search itself did not prove its answer.
fn proved(problem: &Problem<'_>, options: &Options, context: &dyn std::fmt::Debug) -> Option<Proved> {
    let solution = solve(problem, options).unwrap();
    if solution.status != Status::Optimal {
        return None;
    }
    let (bytes, summary) = match proof(problem, &solution, options) {
        Ok(written) => written,
        Err(error) => panic!("{context:?}: {error}"),
    };
    let proved = check(&table(problem), None, &bytes[..]).unwrap_or_else(|e| panic!("{context:?}: {e}"));
    assert_eq!(proved.header.bound, summary.bound);
    // A perfect fit is one but for rounding.
    let slack = 1e-9 * solution.objective().abs() + 1e-12;
    assert!(options.top > 1 || (proved.objectives[0] - solution.objective()).abs() <= slack, "{context:?}");
    Some(proved)
}

/// Branch and bound that ends.
pub fn exact() -> Options {
    Options { max_nodes: Some(2000), ..Options::with_method(Method::Exact) }
}

/// The cases of the tests of branch and bound.
pub fn squared(rng: &mut crate::common::ChaCha8Rng, shape: &Shape) -> Case {
    loop {
        let case = case(rng, shape);
        if case.loss == Loss::Squared {
            return case;
        }
    }
}

#[test]
fn proofs_of_all_kinds_of_problems_are_accepted() {
    let mut rng = rng(231);
    let (mut accepted, mut total) = (0, 0);
    for trial in 0..300 {
        let shape = Shape { wild: trial % 4 == 0, attained: true, certified: true, ..Shape::new(3..=20, 1..=10) };
        let case = squared(&mut rng, &shape);
        case.with_problem(|problem| {
            accepted += usize::from(proved(problem, &exact(), &trial).is_some());
            total += 1;
        });
    }
    assert!(accepted >= total * 98 / 100, "{accepted} of {total}");
}

/// The losses that are not the squared one.
const OTHERS: [Loss; 3] = [Loss::Logistic, Loss::SquaredHinge, Loss::Huber { delta: 0.8 }];

#[test]
fn proofs_of_other_losses_are_accepted() {
    let mut rng = rng(234);
    let (mut accepted, mut total) = ([0; 4], [0; 4]);
    for trial in 0..400 {
        let shape = Shape { wild: trial % 4 == 0, attained: true, certified: true, ..Shape::new(3..=20, 1..=8) };
        let case = case(&mut rng, &shape);
        let Some(which) = OTHERS.iter().position(|loss| *loss == case.loss) else { continue };
        case.with_problem(|problem| {
            let k = (trial % 3 == 0).then_some((1 + trial / 3 % 3).min(problem.ncols()));
            let options = Options { top: 1 + usize::from(trial % 7 == 0), ..exact() };
            accepted[which] += usize::from(proved(&sized(problem.clone(), k), &options, &(trial, case.loss)).is_some());
            total[which] += 1;
        });
    }
    println!("{accepted:?} of {total:?}");
    assert!((0..3).all(|k| total[k] > 50 && accepted[k] >= total[k] * 95 / 100), "{accepted:?} of {total:?}");
}

/// Counts and amounts of at most so many features, with a ridge; weights and offsets, an intercept or none.
pub fn counts(rng: &mut crate::common::ChaCha8Rng, trial: usize, most: usize) -> Case {
    let losses = [Loss::Poisson, Loss::Gamma, Loss::NegativeBinomial { theta: 1.7 }];
    let (which, n, p) = (trial % 3, 12 + trial % 20, 2 + trial % (most - 1));
    let scale = [1.0, 30.0, 0.01][trial / 3 % 3];
    let x: Vec<f64> = (0..n * p).map(|_| scale * normal(rng)).collect();
    let mut y: Vec<f64> = (0..n).map(|i| 0.5 + 0.8 * x[i] / scale).collect();
    respond(rng, losses[which], &mut y);
    let penalty = Penalty::new(power(rng, -2.0, 0.5), 0.0, scale * scale * power(rng, -2.0, 1.0));
    let mut case = Case::dense(n, p, x, y, penalty);
    (case.loss, case.intercept) = (losses[which], trial.is_multiple_of(2));
    case.weights = trial.is_multiple_of(5).then(|| (0..n).map(|_| power(rng, -1.0, 1.0)).collect());
    case.offset = trial.is_multiple_of(4).then(|| (0..n).map(|_| 0.3 * normal(rng)).collect());
    case
}

#[test]
fn proofs_of_counts_and_amounts_are_accepted() {
    let mut rng = rng(237);
    let (mut accepted, mut total) = ([0; 3], 0);
    for trial in 0..90 {
        let (which, case) = (trial % 3, counts(&mut rng, trial, 7));
        case.with_problem(|problem| {
            let k = (trial % 7 == 0).then_some(2);
            accepted[which] += usize::from(proved(&sized(problem.clone(), k), &exact(), &trial).is_some());
            total += 1;
        });
    }
    println!("{accepted:?} of {total}");
    assert!(accepted.iter().all(|a| *a >= 25), "{accepted:?} of {total}");
}

/// Huber's loss in wide boxes without a ridge: what is written is accepted, what rounding forbids is not written.
#[test]
fn what_rounding_forbids_is_not_written() {
    let mut rng = rng(238);
    let (mut accepted, mut refused) = (0, 0);
    for trial in 0..60 {
        let (n, p, box_of) = (6 + trial % 14, 1 + trial % 4, [10.0, 4e4, 1e7][trial % 3]);
        let x: Vec<f64> = (0..n * p).map(|_| normal(&mut rng)).collect();
        let y = (0..n).map(|i| x[i] + if i % 5 == 0 { 20.0 } else { 0.3 } * normal(&mut rng)).collect();
        let bounds = Bounds::All(-box_of, box_of);
        let mut case = Case::dense(n, p, x, y, Penalty::new(power(&mut rng, -2.0, 0.0), 0.0, 0.0).with_bounds(bounds));
        (case.loss, case.intercept) = (Loss::Huber { delta: 0.8 }, trial % 2 == 0);
        case.with_problem(|problem| {
            let solution = solve(problem, &exact()).unwrap();
            if solution.status != Status::Optimal {
                return;
            }
            match proof(problem, &solution, &exact()) {
                Err(_) => refused += 1,
                Ok((bytes, _)) => {
                    check(&table(problem), None, &bytes[..]).unwrap_or_else(|e| panic!("{trial}: {e}"));
                    accepted += 1;
                }
            }
        });
    }
    println!("{accepted} accepted, {refused} not written");
    assert!(accepted >= 55, "{accepted} accepted, {refused} not written");
}

#[test]
fn proofs_of_sizes_and_of_the_best_few_are_accepted() {
    let mut rng = rng(232);
    let mut accepted = 0;
    for trial in 0..200 {
        let shape = Shape { wild: false, attained: true, certified: true, ..Shape::new(6..=20, 4..=9) };
        let case = squared(&mut rng, &shape);
        case.with_problem(|problem| {
            let k = (trial % 2 == 0).then_some(1 + trial / 2 % 3);
            let options = Options { top: 1 + trial % 3, ..exact() };
            accepted += usize::from(proved(&sized(problem.clone(), k), &options, &(trial, k)).is_some());
        });
    }
    assert!(accepted >= 180, "{accepted}");
}

/// Least squares without a ridge, at a price or of a size: columns of all kinds, none of which depends on others to many digits.
pub fn unridged(rng: &mut crate::common::ChaCha8Rng, most: usize) -> (Case, Option<usize>) {
    let mut case = awkward_columns(rng, most, false);
    let k = rng.random_bool(0.6).then(|| rng.random_range(1..=case.p));
    let price = if k.is_none() || rng.random_bool(0.3) { case.null_loss() * power(rng, -4.0, -0.5) } else { 0.0 };
    case.penalty = Penalty::new(price, 0.0, 0.0);
    (case, k)
}

/// As many features as samples or more and no ridge, one or two of them strong: coherence.
pub fn wide(rng: &mut crate::common::ChaCha8Rng, trial: usize) -> (Case, Option<usize>) {
    let (n, size, scale) = (9 + trial % 4, 1 + trial % 2, [1.0, 30.0, 1000.0][trial % 3]);
    let p = n + trial % 3;
    let x: Vec<f64> = (0..n * p).map(|_| scale * normal(rng)).collect();
    let noise = [0.01, 0.1, 0.3][trial / 2 % 3];
    let y = (0..n).map(|i| (0..size).map(|j| x[j * n + i] / scale).sum::<f64>() + noise * normal(rng)).collect();
    let mut case = Case::dense(n, p, x, y, Penalty::new(0.0, 0.0, 0.0));
    case.intercept = trial % 4 == 3;
    (case, Some(size))
}

/// What no fit on all features closes: by coherence or, where correlations are too much for it, by pairs.
#[test]
fn proofs_of_as_many_features_as_samples_are_accepted() {
    let mut rng = rng(240);
    let (mut coherent, mut paired) = (0, 0);
    for trial in 0..240 {
        let (mut case, k) = wide(&mut rng, trial);
        if trial % 5 == 0 {
            case.weights = Some((0..case.n).map(|_| power(&mut rng, -1.0, 1.0)).collect());
        }
        if trial % 7 == 0 {
            case.offset = Some((0..case.n).map(|_| normal(&mut rng)).collect());
        }
        if case.intercept && trial % 8 == 7 {
            // A constant whose mean is rounded: nothing of it is left once centred.
            let last = (case.p - 1) * case.n;
            case.x[last..].fill(0.1);
            case.base = case.x.clone();
        }
        case.with_problem(|problem| {
            let problem = sized(problem.clone(), k);
            let solution = solve(&problem, &exact()).unwrap();
            if solution.status != Status::Optimal {
                return;
            }
            let (bytes, _) = proof(&problem, &solution, &exact()).unwrap_or_else(|e| panic!("{trial}: {e}"));
            let proved = check(&table(&problem), None, &bytes[..]).unwrap_or_else(|e| panic!("{trial}: {e}"));
            assert_eq!((proved.counts.splits, proved.counts.bounds + proved.counts.fits), (0, 1), "{trial}");
            (coherent, paired) = (coherent + proved.counts.bounds, paired + proved.counts.fits);
        });
    }
    println!("{coherent} by coherence, {paired} by pairs");
    assert!(coherent >= 60 && paired >= 60, "{coherent} by coherence, {paired} by pairs");
}

#[test]
fn proofs_without_a_ridge_are_accepted() {
    let mut rng = rng(235);
    let (mut accepted, mut refused) = (0, 0);
    for trial in 0..400 {
        let (case, k) = unridged(&mut rng, if trial % 20 == 0 { 14 } else { 8 });
        let options = Options { top: 1 + usize::from(trial % 5 == 0), ..exact() };
        case.with_problem(|problem| {
            let problem = sized(problem.clone(), k);
            let Ok(solution) = solve(&problem, &options) else { return };
            // A perfect fit leaves nothing to prove.
            if solution.status != Status::Optimal || solution.objective() < 1e-9 * case.null_loss() {
                return;
            }
            let bytes = match proof(&problem, &solution, &options) {
                Ok((bytes, _)) => bytes,
                Err(error) => {
                    println!("{trial}: {error} {:?}", solution.dependent);
                    refused += 1;
                    return;
                }
            };
            check(&table(&problem), None, &bytes[..]).unwrap_or_else(|e| panic!("{trial}, {k:?}: {e}; {case:?}"));
            accepted += 1;
        });
    }
    println!("{accepted} accepted, {refused} not written");
    assert!(accepted >= 350 && refused == 0, "{accepted} accepted, {refused} not written");
}

/// All features together leave next to nothing of the targets: that is no reason to doubt what fewer leave.
#[test]
fn proofs_are_accepted_where_all_features_fit_the_targets_almost_perfectly() {
    let mut rng = rng(239);
    let (mut accepted, mut refused) = (0, 0);
    for trial in 0..240 {
        let (p, noise) = (2 + trial % 9, [1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-9][trial % 6]);
        let (n, scale) = (p + 3 + trial % 7, [1.0, 30.0, 1000.0][trial / 6 % 3]);
        let x: Vec<f64> = (0..n * p).map(|_| scale * normal(&mut rng)).collect();
        let y = (0..n).map(|i| (0..p).map(|j| x[j * n + i]).sum::<f64>() + noise * normal(&mut rng)).collect();
        let mut case = Case::dense(n, p, x, y, Penalty::new(0.0, 0.0, 0.0));
        case.intercept = trial % 2 == 0;
        case.with_problem(|problem| {
            let problem = sized(problem.clone(), Some(1 + trial % (p - 1).max(1)));
            let solution = solve(&problem, &exact()).unwrap();
            assert_eq!(solution.status, Status::Optimal, "{trial}");
            match proof(&problem, &solution, &exact()) {
                Err(_) => refused += 1,
                Ok((bytes, _)) => {
                    check(&table(&problem), None, &bytes[..])
                        .unwrap_or_else(|e| panic!("{trial}, {p}, {noise:e}: {e}"));
                    accepted += 1;
                }
            }
        });
    }
    println!("{accepted} accepted, {refused} not written");
    assert!(refused <= accepted / 20, "{accepted} accepted, {refused} not written");
}

/// With a ridge fits close what relaxations leave open, where features are not few.
#[test]
fn proofs_with_fits_below_relaxations_are_accepted() {
    let mut rng = rng(236);
    let mut fits = 0;
    for trial in 0..12 {
        let (n, p) = (40, 14 + trial % 4);
        let common: Vec<f64> = (0..n).map(|_| normal(&mut rng)).collect();
        let x: Vec<f64> = (0..n * p).map(|i| normal(&mut rng) + common[i % n]).collect();
        let y = (0..n).map(|i| x[i] - x[n + i] + 2.0 * normal(&mut rng)).collect();
        let case = Case::dense(n, p, x, y, Penalty::new(0.0, 0.0, power(&mut rng, -3.0, 0.0)));
        case.with_problem(|problem| {
            let proved = proved(&sized(problem.clone(), Some(3 + trial % 5)), &exact(), &trial);
            fits += proved.map_or(0, |proved| proved.counts.fits);
        });
    }
    assert!(fits > 20, "{fits}");
}

#[test]
fn proofs_of_hostile_problems_are_accepted() {
    let mut rng = rng(233);
    let mut accepted = 0;
    for trial in 0..200 {
        let case = hostile(&mut rng, &[Loss::Squared], 9);
        case.with_problem(|problem| {
            accepted += usize::from(proved(problem, &exact(), &trial).is_some());
        });
    }
    assert!(accepted >= 150, "{accepted}");
}
