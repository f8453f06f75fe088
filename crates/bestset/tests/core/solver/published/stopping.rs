//! When the ascents end: the rule as written on a problem worked by hand, and the patient one.

use super::data::{options, random};
use crate::common::UNIFORM;
use bestset::Stop;
use bestset::design::Dense;
use bestset::{Loss, Method, Options, Penalty, Problem, Solution, Status, StopRule, solve};

const PLAIN: Method = Method::PrimalDual { dynamic: false };
const DYNAMIC: Method = Method::PrimalDual { dynamic: true };

/// One sample, one feature: x = 1, y = 5/4, λ0 = λ2 = ½, λ1 = 0, and the step ω = ½.
///
/// P(0) = y²/2 = 25/32, and with b ≠ 0: P(b) = ½(y − b)² + ½ + ½b², 57/64 at the best b = 5/8, so P* = 25/32.
/// τ₀ = 2√(λ0λ2) = 1; below it Ψ = 0 and the link is 0, beyond it Ψ = ½ − ½α² and the link is −α.
fn by_hand(method: Method, stop: Stop) -> Solution {
    let x = Dense::new(1, 1, vec![1.0]).unwrap();
    let problem = Problem::new(&x, vec![1.25], Penalty::new(0.5, 0.0, 0.5)).unwrap();
    let mut options = options(method, 0.5);
    options.published.stop = stop;
    solve(&problem, &options).unwrap()
}

/// Bounds leave room for rounding.
fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-12, "{found} for {expected}");
}

/// α ← α + ½(β − y − α) from zero, D(α) = −½α² − yα + Ψ(α):
///
/// | t | α | D(α) | link | P of it | gap |
/// |---|---|---|---|---|---|
/// | 1 | −5/8 | 75/128 | 0 | 25/32 | 25/128 |
/// | 2 | −15/16 | 375/512 | 0 | 25/32 | 25/512 |
/// | 3 | −35/32 | 687/1024 | 35/32 | 1137/1024 | 225/512 |
///
/// The third step takes the feature in, P and the gap rise, and the loop ends there, with what it met before.
#[test]
fn dual_ascent_ends_at_the_first_gap_that_does_not_decrease() {
    let solution = by_hand(Method::DualAscent, Stop::Literal);
    assert_eq!((solution.iterations, solution.rule), (3, Some(StopRule::NotDecreasing)));
    assert_eq!(solution.status, Status::Converged);
    assert_eq!(solution.objective(), 25.0 / 32.0);
    let bounds = [0.0, 75.0 / 128.0, 375.0 / 512.0, 375.0 / 512.0];
    assert_eq!(solution.trace.len(), bounds.len());
    solution.trace.iter().zip(bounds).for_each(|(row, bound)| near(row.lower_bound, bound));
    let supports: Vec<usize> = solution.trace.iter().map(|row| row.support).collect();
    assert_eq!(supports, [0, 0, 0, 1]);
}

/// T(β) = y/(1 + 2λ2) = 5/8 is not kept, as its square 25/64 is below 2λ0/(1 + 2λ2) = ½: the pass of T takes the feature
/// out again, and P = 25/32 in every step. The gap falls while D rises, that is while |α| is below 1:
///
/// | t | α | D(α) | gap |
/// |---|---|---|---|
/// | 2 | −15/16 | 375/512 | 25/512 |
/// | 3 | −35/32 | 687/1024 | 113/1024 |
/// | 4 | −75/64 | 2423/4096 | 777/4096 |
/// | 5 | −155/128 | 8967/16384 | 3833/16384 |
///
/// On all features it ends at step 3. In Algorithm 2 the one feature enters at once and inclusion is over after the first
/// sub-problem, whose gap of 113/1024 is that of the full problem. The second makes steps 4, which has nothing to be
/// compared with, and 5, which is not lower; nor is the gap of the full problem, and the outer loop ends as well.
#[test]
fn the_primal_pass_does_not_change_where_it_ends() {
    for (method, steps) in [(PLAIN, 3), (DYNAMIC, 5)] {
        let solution = by_hand(method, Stop::Literal);
        assert_eq!((solution.iterations, solution.rule), (steps, Some(StopRule::NotDecreasing)), "{}", method.name());
        assert_eq!(solution.objective(), 25.0 / 32.0);
        assert!(solution.coefficients.support.is_empty());
    }
    near(by_hand(PLAIN, Stop::Literal).certificate.lower_bound, 375.0 / 512.0);
    near(by_hand(DYNAMIC, Stop::Literal).certificate.lower_bound, 375.0 / 512.0);
}

/// The patient rule goes on: 200 steps after the least gap, which the bound max D = D(−1) = ¾ keeps from below 1/32.
#[test]
fn the_patient_rule_goes_on() {
    for method in [Method::DualAscent, PLAIN, DYNAMIC] {
        let (literal, patient) = (by_hand(method, Stop::Literal), by_hand(method, Stop::Patient));
        assert!(patient.iterations > literal.iterations, "{}: {}", method.name(), patient.iterations);
        assert!(patient.certificate.lower_bound <= 0.75 && patient.certificate.gap() >= 1.0 / 32.0);
    }
    let patient = by_hand(Method::DualAscent, Stop::Patient);
    assert_eq!(patient.rule, Some(StopRule::NotDecreasing));
    assert!(patient.iterations > 200, "{}", patient.iterations);
}

/// With the features well above the threshold the gap closes, and the rules that say so are told apart.
#[test]
fn epsilon_and_zeta_are_recorded() {
    let mut case = random(43, Loss::Squared, 30, 3);
    case.penalty = Penalty::new(0.01, 0.05, 0.5);
    let x = case.matrix();
    let problem = case.problem(&x);
    let run = |epsilon: f64, zeta: f64| {
        let mut options = options(Method::DualAscent, 0.02);
        options.published.stop = Stop::Patient;
        (options.published.epsilon, options.published.zeta) = (epsilon, zeta);
        solve(&problem, &options).unwrap()
    };
    assert_eq!(run(1e-7, 0.0).rule, Some(StopRule::Epsilon));
    assert_eq!(run(0.0, 1e-6).rule, Some(StopRule::Zeta));
}

/// A limit that strikes is in the status; there is then no rule, and none from methods that do not climb.
#[test]
fn limits_are_no_rule() {
    for loss in UNIFORM {
        let case = random(7, loss, 20, 5);
        let x = case.matrix();
        let problem = case.problem(&x);
        for method in [Method::DualAscent, PLAIN, DYNAMIC] {
            let limited = Options { max_iterations: Some(1), ..options(method, 0.0005) };
            let solution = solve(&problem, &limited).unwrap();
            assert_eq!((solution.rule, solution.status), (None, Status::IterationLimit), "{}", method.name());
        }
        for method in [Method::Cdss, Method::Incremental] {
            assert_eq!(solve(&problem, &Options::with_method(method)).unwrap().rule, None);
        }
    }
}

/// D-IHT has no rule that the gap must decrease: the setting is nothing to it.
#[test]
fn dual_iht_has_one_way_to_end() {
    let mut case = random(21, Loss::Squared, 24, 6);
    (case.penalty.lambda0, case.max_size) = (0.0, Some(2));
    let x = case.matrix();
    let problem = case.problem(&x);
    let [literal, patient] = Stop::ALL.map(|stop| {
        let mut options = options(Method::DualIht, 0.02);
        options.published.stop = stop;
        solve(&problem, &options).unwrap()
    });
    assert_eq!(literal.iterations, patient.iterations);
    assert_eq!((literal.objective(), literal.rule), (patient.objective(), patient.rule));
}
