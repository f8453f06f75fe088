//! Proofs in files: what the solver writes, the checker, which shares no code with it, accepts.

mod mutation;
mod rational;

use crate::common::{Case, Shape, case, hostile, rng, sized};
use bestset::design::{Column, Design};
use bestset::proof::{ProofData, ProofSummary, write_proof};
use bestset::{Error, Loss, Method, Options, Problem, Solution, Status, solve};
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
        // With λ1 or bounds a subset may be best with a coefficient of zero: it is no better than an answer, but not listed.
        Err(Error::Recheck { .. }) if options.top > 1 => return None,
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
