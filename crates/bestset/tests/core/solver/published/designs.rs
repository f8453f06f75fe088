//! Dense, sparse and single precision agree; columns that say nothing cost nothing.

use super::data::{METHODS, options, random, variants};
use crate::common::{UNIFORM, compress, enumerate};
use bestset::design::{Csc, Dense, Design, Standardized};
use bestset::{Method, Options, Solution, Status, solve};

/// The non-zeros of a column-major matrix.
fn sparse(n: usize, x: &[f64]) -> Csc<'static> {
    let (starts, rows, values) = compress(n, x);
    Csc::new(n, starts, rows, values).unwrap()
}

fn method_options(method: Method) -> Options {
    let mut options = options(method, 0.02);
    options.max_iterations = Some(3000);
    options
}

fn agree(a: &Solution, b: &Solution, label: &str) {
    assert_eq!(a.support(), b.support(), "{label}");
    assert!((a.objective() - b.objective()).abs() < 1e-7, "{label}: {} {}", a.objective(), b.objective());
    let (d, e) = (a.certificate.lower_bound, b.certificate.lower_bound);
    assert!((d - e).abs() < 1e-6, "{label}: bounds {d} {e}");
}

#[test]
fn storage_does_not_matter() {
    for loss in UNIFORM {
        for (number, mut case) in variants(71, loss, 24, 8).into_iter().enumerate() {
            // Half the entries zero, the others exact in f32.
            for (k, v) in case.x.iter_mut().enumerate() {
                *v = if (k * 7) % 5 < 2 { 0.0 } else { f64::from(*v as f32) };
            }
            let narrow: Vec<f32> = case.x.iter().map(|&v| v as f32).collect();
            let (dense, csc) = (case.matrix(), sparse(case.n, &case.x));
            let single = Dense::new(case.n, case.p, narrow).unwrap();
            let mut methods = METHODS.to_vec();
            methods.push(Method::DualIht);
            for method in methods {
                case.max_size = (method == Method::DualIht).then_some(3);
                let run = |x: &dyn Design| solve(&case.problem(x), &method_options(method)).unwrap();
                let label = format!("{} {} variant {number}", method.name(), loss.name());
                agree(&run(&dense), &run(&csc), &label);
                agree(&run(&dense), &run(&single), &label);
            }
        }
    }
}

/// A centred view keeps sparse columns sparse with a shift: the same problem as the dense centred matrix.
#[test]
fn a_centred_sparse_view_agrees_with_the_dense_matrix() {
    for loss in UNIFORM {
        let mut case = random(73, loss, 20, 6);
        case.x.iter_mut().enumerate().filter(|e| e.0 % 3 == 0).for_each(|e| *e.1 = 0.0);
        let csc = sparse(case.n, &case.x);
        let view = Standardized::fit(&csc, None, true, 3.0).unwrap();
        let mut column = bestset::design::Column::default();
        for (j, x) in case.x.chunks_mut(20).enumerate() {
            view.column(j, &mut column).unwrap();
            column.to_dense(x);
        }
        let dense = case.matrix();
        for method in METHODS {
            for intercept in [false, true] {
                case.intercept = intercept;
                let run = |x: &dyn Design| solve(&case.problem(x), &method_options(method)).unwrap();
                agree(&run(&dense), &run(&view), &format!("{} {}", method.name(), loss.name()));
            }
        }
    }
}

/// Empty, constant and duplicated columns: coefficients stay finite and the bracket holds.
#[test]
fn degenerate_columns_are_harmless() {
    for loss in UNIFORM {
        for (number, mut case) in variants(79, loss, 20, 7).into_iter().enumerate() {
            let n = case.n;
            case.x[..n].fill(0.0);
            case.x[n..2 * n].fill(0.1);
            let copy = case.x[3 * n..4 * n].to_vec();
            case.x[2 * n..3 * n].copy_from_slice(&copy);
            case.penalty.lambda0 = if number % 2 == 0 { 0.3 } else { 1e-4 };
            let best = enumerate(&case).best;
            for x in [&case.matrix() as &dyn Design, &sparse(n, &case.x)] {
                for method in METHODS {
                    let solution = solve(&case.problem(x), &method_options(method)).unwrap();
                    let label = format!("{} {} variant {number}", method.name(), loss.name());
                    let c = &solution.certificate;
                    assert!(c.objective >= best - 1e-7 && c.objective.is_finite(), "{label}");
                    assert!(c.lower_bound <= best + 1e-7 && c.lower_bound.is_finite(), "{label}");
                    assert!(!solution.support().contains(&0), "{label}: the empty column was selected");
                    if case.intercept {
                        assert!(!solution.support().contains(&1), "{label}: the constant column was selected");
                    }
                    assert!(solution.coefficients.values.iter().all(|b| b.abs() < 100.0), "{label}");
                }
            }
        }
    }
}

/// With nothing but an intercept to explain y, rounding in a constant column must not be taken for a signal.
#[test]
fn a_constant_column_is_left_to_the_intercept() {
    let mut case = random(83, bestset::Loss::Squared, 30, 2);
    case.x[..30].fill(0.1 + 0.2);
    case.intercept = true;
    case.penalty = bestset::Penalty::new(1e-9, 0.0, 0.0);
    let x = case.matrix();
    let solution = solve(&case.problem(&x), &method_options(Method::Cdss)).unwrap();
    assert!(!solution.support().contains(&0), "{:?}", solution.coefficients);
}

#[test]
fn the_smallest_problems_work() {
    for loss in UNIFORM {
        for (n, p) in [(2, 1), (2, 2), (3, 1)] {
            let mut case = random(89, loss, n, p);
            if loss.is_classification() {
                (0..n).for_each(|i| case.y[i] = if i == 0 { 1.0 } else { -1.0 });
            }
            for intercept in [false, true] {
                case.intercept = intercept;
                let best = enumerate(&case).best;
                let x = case.matrix();
                for method in METHODS {
                    let options = Options { max_iterations: Some(1_000_000), ..options(method, 0.02) };
                    let solution = solve(&case.problem(&x), &options).unwrap();
                    let (c, label) = (solution.certificate, format!("{} {} {n} by {p}", method.name(), loss.name()));
                    assert_ne!(solution.status, Status::IterationLimit, "{label}");
                    assert!(c.lower_bound <= best + 1e-8 && c.objective >= best - 1e-8, "{label}: {c:?} {best}");
                }
            }
        }
    }
}
