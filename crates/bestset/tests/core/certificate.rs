//! The certificate and what may be called optimal: the gap alone decides, and nothing undefined closes it.

use crate::common::assert_close;
use bestset::design::Dense;
use bestset::{Bounds, Certificate, Coefficients, Options, Penalty, Problem, Status};

const ENDINGS: [Status; 6] = [
    Status::Optimal,
    Status::Converged,
    Status::TimeLimit,
    Status::NodeLimit,
    Status::IterationLimit,
    Status::Interrupted,
];

fn certificate(objective: f64, lower_bound: f64) -> Certificate {
    Certificate { objective, relaxation: Some(0.5 * (objective + lower_bound)), lower_bound }
}

#[test]
fn gaps_are_differences_and_never_negative() {
    let c = Certificate { objective: 10.0, relaxation: Some(9.0), lower_bound: 8.0 };
    assert_eq!((c.gap(), c.relaxation_gap()), (2.0, Some(1.0)));
    assert_close(c.relative_gap(), 0.2, 1e-15, &c);
    assert_close(c.relative_relaxation_gap().unwrap(), 1.0 / 9.0, 1e-15, &c);
    // The bound may pass the objective by rounding.
    assert_eq!(certificate(1.0, 1.0f64.next_up()).gap(), 0.0);
    let without = Certificate { relaxation: None, ..c };
    assert_eq!((without.relaxation_gap(), without.relative_relaxation_gap()), (None, None));
    assert_eq!(certificate(0.0, 0.0).relative_gap(), 0.0);
    assert_eq!(certificate(0.0, -1.0).relative_gap(), f64::INFINITY);
    assert_eq!(certificate(3.0, f64::NEG_INFINITY).gap(), f64::INFINITY);
}

#[test]
fn optimal_is_derived_from_the_gap_alone() {
    for ended in ENDINGS {
        // Closed by the relative tolerance, by the absolute one, by neither.
        assert_eq!(certificate(1000.0, 1000.0 - 1e-4).status(ended, 0.0, 1e-6), Status::Optimal);
        assert_eq!(certificate(-1000.0, -1000.0 - 1e-4).status(ended, 0.0, 1e-6), Status::Optimal);
        assert_eq!(certificate(1e-12, 0.0).status(ended, 1e-9, 1e-6), Status::Optimal);
        let open = certificate(1.0, 0.9).status(ended, 1e-9, 1e-6);
        assert_eq!(open, if ended == Status::Optimal { Status::Converged } else { ended });
        assert_eq!(certificate(1.0, 1.0).status(ended, 0.0, 0.0), Status::Optimal);
    }
}

/// An infeasible or undefined answer is never optimal, whatever the bound, and neither is an undefined bound a proof.
#[test]
fn nothing_infinite_or_undefined_is_optimal() {
    let odd = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
    let pairs = odd.into_iter().flat_map(|o| [(o, 0.0), (o, f64::NEG_INFINITY), (o, o), (1.0, o), (f64::INFINITY, o)]);
    // A bound of +∞ proves that nothing is feasible, which β = 0 always is.
    for (objective, lower_bound) in pairs {
        let c = certificate(objective, lower_bound);
        for ended in ENDINGS {
            let status = c.status(ended, 1e-9, 1e-6);
            assert_ne!(status, Status::Optimal, "{c:?}");
        }
        assert_eq!(c.gap(), f64::INFINITY, "{c:?}");
        assert_eq!(c.relative_gap(), f64::INFINITY, "{c:?}");
    }
}

/// Coefficients outside the bounds or beyond the size are no solution: P = +∞, and the certificate says so.
#[test]
fn infeasible_coefficients_have_an_infinite_objective() {
    let x = Dense::new(2, 2, vec![1.0, 0.0, 0.0, 1.0]).unwrap();
    let penalty = Penalty::new(0.1, 0.0, 1.0).with_bounds(Bounds::All(0.0, 1.0));
    let problem = Problem::new(&x, vec![1.0, 2.0], penalty).unwrap();
    for (j, b) in [(0, -0.5), (1, 1.5), (0, f64::NAN)] {
        let coefficients = Coefficients::from_pairs(vec![(j, b)], 0.0);
        let c = problem.certify(&coefficients, &[]).unwrap();
        assert!(!c.objective.is_finite(), "{c:?}");
        assert!(c.lower_bound <= 2.5, "P(0) = 2.5: {c:?}");
        assert_eq!(c.status(Status::Converged, 1e-9, 1e-6), Status::Converged);
        assert!(!problem.objective(&coefficients).unwrap().is_finite());
    }
    let limited = problem.clone().with_max_size(1).unwrap();
    let two = Coefficients::from_dense(&[0.3, 0.3], 0.0);
    assert_eq!(limited.objective(&two).unwrap(), f64::INFINITY);
    assert_eq!(limited.relaxation(&two).unwrap(), None);
    assert!(problem.objective(&two).unwrap().is_finite());
}

#[test]
fn coefficients_keep_their_invariants() {
    let c = Coefficients::from_pairs(vec![(5, 1.0), (2, 0.0), (1, -3.0)], 0.5);
    assert_eq!(
        (c.support.as_slice(), c.values.as_slice(), c.intercept),
        ([1, 5].as_slice(), [-3.0, 1.0].as_slice(), 0.5)
    );
    assert_eq!(c.to_dense(7), [0.0, -3.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
    assert_eq!(Coefficients::from_dense(&c.to_dense(7), 0.5), c);
    assert_eq!((c.nonzeros(), c.iter().collect::<Vec<_>>()), (2, vec![(1, -3.0), (5, 1.0)]));
    assert!(c.validate(6).is_ok() && c.validate(5).is_err());
    assert_eq!(Status::TimeLimit.to_string(), "time limit");
}

/// Losses and penalties are sums of terms that are not negative: a dual point that says less than 0 says nothing, and the bound is 0.
#[test]
fn bounds_are_not_below_zero() {
    let x = Dense::new(3, 2, vec![1.0, 2.0, 2.0, 0.5, -1.0, 0.3]).unwrap();
    let problem = Problem::new(&x, vec![1.0, 2.0, 2.5], Penalty::new(0.1, 0.0, 1e-6)).unwrap();
    let far = Coefficients::from_dense(&[50.0, -30.0], 0.0);
    let judged = problem.certify(&far, &[]).unwrap();
    assert_eq!(judged.lower_bound, 0.0);
    assert_eq!(judged.gap(), judged.objective);
    assert_eq!(Certificate::new(2.0, None, -3.0).lower_bound, 0.0);
    assert_eq!(Certificate::new(2.0, None, 1.5).lower_bound, 1.5);
    // Nothing proved stays nothing proved.
    assert_eq!(Certificate::new(2.0, None, f64::NEG_INFINITY).lower_bound, f64::NEG_INFINITY);
    let mut lowest = f64::INFINITY;
    let options = Options { trace: true, max_iterations: Some(1), ..Options::default() };
    let mut watch = |row: &bestset::TraceRow| lowest = lowest.min(row.lower_bound);
    let solution = bestset::solve_observed(&problem, &options, &mut watch).unwrap();
    assert!(lowest >= 0.0 && solution.certificate.lower_bound >= 0.0, "{lowest}");
}
