//! Multinomial regression with a feature in for all classes together: the answer and its proof, on samples from a file.
//!
//!     many_classes METHOD FILE LAMBDA0 LAMBDA2 SECONDS [SIZE]
//!
//! FILE has a row for each sample, numbers separated by commas: the class, from 0, then the features. Columns are taken as they are;
//! LAMBDA0 is a share of the price at which the first feature pays. With a SIZE the price is left out, and at most so many are in.
//! Prints the features, the intercepts and the coefficients of every class.

use bestset::design::{Dense, PerClass};
use bestset::groups::{Groups, solve_groups};
use bestset::{Coefficients, Method, Options, Penalty, Problem};
use std::time::Duration;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let given: Vec<String> = std::env::args().skip(1).collect();
    let word = |k: usize| given.get(k).map(String::as_str).ok_or("METHOD FILE LAMBDA0 LAMBDA2 SECONDS [SIZE]");
    let rows: Vec<Vec<f64>> = std::fs::read_to_string(word(1)?)?
        .lines()
        .map(|line| line.split(',').map(str::parse).collect())
        .collect::<Result<_, std::num::ParseFloatError>>()?;
    let (n, p) = (rows.len(), rows[0].len() - 1);
    let labels: Vec<usize> = rows.iter().map(|row| row[0] as usize).collect();
    let classes = labels.iter().max().map_or(0, |most| most + 1);
    let x = Dense::new(n, p, (0..p).flat_map(|j| rows.iter().map(move |row| row[j + 1])).collect::<Vec<f64>>())?;
    let (design, groups) = (PerClass::new(&x, classes), Groups::per_class(p, classes));
    let lambda2: f64 = word(3)?.parse()?;
    let mut problem = Problem::new(&design, PerClass::targets(&labels, classes), Penalty::new(0.0, 0.0, lambda2))?
        .with_classes(classes, true)?;
    // The most that a feature can win at the null model (MATH 9.8).
    let mut alpha = vec![0.0; n * classes];
    problem.dual_point(&problem.null_margins(), 0.0, &mut alpha);
    let worth = |j: usize| {
        let tau = |k: usize| rows.iter().zip(&alpha[k * n..(k + 1) * n]).map(|(row, a)| row[j + 1] * a).sum::<f64>();
        (0..classes).map(|k| tau(k).powi(2)).sum::<f64>() / (4.0 * lambda2)
    };
    let largest = (0..p).map(worth).fold(0.0, f64::max);
    problem = problem.with_penalty(Penalty::new(word(2)?.parse::<f64>()? * largest, 0.0, lambda2))?;
    if let Some(size) = given.get(5) {
        problem = problem.with_max_size(size.parse::<usize>()?)?;
    }
    let method = if word(0)? == "exact" { Method::Exact } else { Method::Incremental };
    let time_limit = Some(Duration::from_secs_f64(word(4)?.parse()?));
    let found = solve_groups(&problem, &groups, &Options { time_limit, ..Options::with_method(method) })?;
    let c = found.certificate;
    println!("status {} lambda0 {:.6e}", found.status, problem.penalty().lambda0);
    println!("objective {:.12e} bound {:.12e} gap {:.3e}", c.objective, c.lower_bound, c.relative_gap());
    println!("nodes {} seconds {:.2}", found.nodes, found.seconds);
    println!("loss {:.15e}", problem.loss_at(&found.coefficients)?);
    println!("features {:?}", found.selected);
    print_classes(&problem, &found.coefficients, classes, p)
}

fn print_classes(
    problem: &Problem<'_>,
    coefficients: &Coefficients,
    classes: usize,
    p: usize,
) -> Result<(), Box<dyn std::error::Error>> {
    let loss = problem.coupled().ok_or("no classes")?;
    let (intercepts, beta) = (loss.intercepts(&problem.margins(coefficients)?), coefficients.to_dense(p * classes));
    for (k, intercept) in intercepts.iter().enumerate() {
        let own = (0..p).map(|j| beta[j * classes + k]).filter(|b| *b != 0.0);
        println!("class {k} {intercept:.15e} {}", own.map(|b| format!("{b:.15e}")).collect::<Vec<_>>().join(" "));
    }
    Ok(())
}
