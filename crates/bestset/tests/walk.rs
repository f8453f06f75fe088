//! The walk past local minima: its prices against fits, its answers against enumeration of all subsets.

mod common;

use bestset::internals::ActiveSet;
use bestset::internals::Tableau;
use bestset::internals::{Gram, Metric};
use bestset::{Loss, Options, Penalty, solve};
use common::{Case, ChaCha8Rng, Convex, LOSSES, RngExt, Shape, case, enumerate, normal, power, rng};

/// Least P over a given support.
fn cost(case: &Case, support: &[usize]) -> f64 {
    let penalties: Vec<Convex> = support.iter().map(|&j| Convex::selected(&case.penalty, j)).collect();
    case.model().minimise(support, &penalties).value + case.penalty.lambda0 * support.len() as f64
}

/// Correlated columns, more signals than a greedy choice sorts out, and a price at which a good half of them pay.
fn tangled(rng: &mut ChaCha8Rng, n: usize, p: usize, loss: Loss) -> Case {
    let (common, lambda0, lambda2) = (power(rng, -0.3, 0.5), power(rng, -1.5, 0.0), power(rng, -2.0, 0.0));
    let shared: Vec<f64> = (0..n).map(|_| normal(rng)).collect();
    let x: Vec<f64> = (0..n * p).map(|k| normal(rng) + common * shared[k % n]).collect();
    let truth: Vec<f64> = (0..p).map(|_| if rng.random_bool(0.5) { normal(rng) } else { 0.0 }).collect();
    let signal = |i: usize| (0..p).map(|j| x[j * n + i] * truth[j]).sum::<f64>();
    let mut y: Vec<f64> = (0..n).map(|i| signal(i) + 0.5 * normal(rng)).collect();
    if loss.is_classification() {
        y.iter_mut().for_each(|v| *v = v.signum());
        (y[0], y[1]) = (1.0, -1.0);
    }
    let mut case = Case::dense(n, p, x, y, Penalty::new(lambda0, 0.1 * lambda0, lambda2));
    case.loss = loss;
    case
}

/// A tableau of some positions, after flips of some of them: each further flip changes P by what it says.
#[test]
fn flips_of_part_of_a_tableau_cost_what_fits_say() {
    let mut rng = rng(611);
    let mut compared = 0;
    for trial in 0..300 {
        let mut case = tangled(&mut rng, 12, 9, Loss::Squared);
        case.penalty.lambda1 = 0.0;
        let mut support = vec![trial % 9];
        case.with_problem(|problem| {
            let mut active = ActiveSet::new(problem.design());
            (0..case.p).for_each(|j| active.push(problem.design(), j));
            let mut gram = Gram::default();
            gram.extend(&active, None, &Metric::new(&active, None, false));
            let coordinates: Vec<_> = (0..case.p).map(|j| problem.coordinate(j)).collect();
            let mut beta = vec![0.0; case.p];
            let fit = case.model().minimise(&support, &[Convex::selected(&case.penalty, support[0])]);
            beta[support[0]] = fit.beta[0];
            let u = problem.margins(&bestset::Coefficients::from_dense(&beta, 0.0));
            let alpha: Vec<f64> = u.iter().zip(&case.y).map(|(u, y)| u - y).collect();
            let gradients: Vec<f64> = (0..case.p).map(|j| active.dot(j, &alpha)).collect();
            let whole = Tableau::new(&gram, &coordinates, &beta, &gradients).unwrap();
            let positions = whole.nearest((0, 6));
            assert!(positions.len() == 7 && positions.contains(&support[0]), "{positions:?}");
            let mut part = whole.select(&positions);
            for _ in 0..8 {
                let value = cost(&case, &support);
                for (k, &j) in positions.iter().enumerate() {
                    let mut other: Vec<usize> = support.iter().copied().filter(|&i| i != j).collect();
                    if other.len() == support.len() {
                        other.push(j);
                    }
                    other.sort_unstable();
                    let (priced, true_change) = (part.flip(k).unwrap(), cost(&case, &other) - value);
                    assert!((priced - true_change).abs() < 1e-9 * (1.0 + value), "{trial}: {priced} {true_change}");
                    compared += 1;
                }
                let k = rng.random_range(0..positions.len());
                part.pivot(k);
                match support.iter().position(|&i| i == positions[k]) {
                    Some(at) => drop(support.remove(at)),
                    None => support.push(positions[k]),
                }
                support.sort_unstable();
            }
        });
    }
    assert!(compared > 10_000);
}

/// Exchanges alone leave answers here that the walk betters: with it nearly all are the best there are, for every loss.
#[test]
fn the_default_answer_is_the_best_subset_of_tangled_columns() {
    let mut rng = rng(612);
    for loss in LOSSES {
        let (mut best, total) = (0, 120);
        for trial in 0..total {
            let case = tangled(&mut rng, 14, 10, loss);
            let all = enumerate(&case);
            let found = case.with_problem(|problem| solve(problem, &Options::default()).unwrap().objective());
            assert!(found >= all.best * (1.0 - 1e-9), "{trial}: better than best");
            best += usize::from(found <= all.best * (1.0 + 1e-6));
        }
        // Of 600 such problems 600, 591, 583 and 599 were, in the order of the losses.
        assert!(best >= total - 4, "{loss:?}: {best} of {total}");
    }
}

/// The same over the whole product of designs, bounds, weights and intercepts.
#[test]
fn the_default_answer_is_nearly_always_the_best_subset() {
    let mut rng = rng(613);
    let (mut best, mut total) = (0, 0);
    for _ in 0..600 {
        let case =
            case(&mut rng, &Shape { attained: true, wild: false, certified: true, ..Shape::new(4..=20, 2..=10) });
        let all = enumerate(&case);
        let found = case.with_problem(|problem| solve(problem, &Options::default()).unwrap().objective());
        best += usize::from(found <= all.best * (1.0 + 1e-6) + 1e-9);
        total += 1;
    }
    assert!(best >= total - 3, "{best} of {total}");
}
