//! The walk past local minima: its prices against fits, its answers against enumeration of all subsets.

use crate::common::{LOSSES, RngExt, Shape, case, cost, enumerate, fit, rng, share, tangled};
use bestset::internals::{ActiveSet, Gram, Metric, Tableau};
use bestset::{Loss, Options, solve};

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
            active.extend(problem.design(), &(0..case.p).collect::<Vec<_>>()).unwrap();
            let mut gram = Gram::default();
            gram.extend(&active, None, &Metric::new(&active, None, false));
            let coordinates: Vec<_> = (0..case.p).map(|j| problem.coordinate(j)).collect();
            let mut beta = vec![0.0; case.p];
            beta[support[0]] = fit(&case, &support).beta[0];
            let u = problem.margins(&bestset::Coefficients::from_dense(&beta, 0.0)).unwrap();
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

/// The same over the whole product of designs, bounds, weights and intercepts.
#[test]
fn the_default_answer_is_nearly_always_the_best_subset() {
    let mut rng = rng(613);
    let (mut best, mut total) = (0, 0);
    for _ in 0..share(600) {
        let case =
            case(&mut rng, &Shape { attained: true, wild: false, certified: true, ..Shape::new(4..=20, 2..=10) });
        let all = enumerate(&case);
        let found = case.with_problem(|problem| solve(problem, &Options::default()).unwrap().objective());
        best += usize::from(found <= all.best * (1.0 + 1e-6) + 1e-9);
        total += 1;
    }
    assert!(best >= total - 3, "{best} of {total}");
}

mod long {
    use super::*;

    /// Exchanges alone leave answers here that the walk betters: with it nearly all are the best there are, for every loss.
    #[test]
    fn the_default_answer_is_the_best_subset_of_tangled_columns() {
        let mut rng = rng(612);
        for loss in LOSSES {
            let (mut best, total) = (0, 60);
            for trial in 0..total {
                let case = tangled(&mut rng, 14, 10, loss);
                let all = enumerate(&case);
                let found = case.with_problem(|problem| solve(problem, &Options::default()).unwrap().objective());
                assert!(found >= all.best * (1.0 - 1e-9), "{trial}: better than best");
                best += usize::from(found <= all.best * (1.0 + 1e-6));
            }
            // Of 600 such problems 600, 591, 583 and 599 were, in the order of the losses.
            assert!(best >= total - 2, "{loss:?}: {best} of {total}");
        }
    }
}
