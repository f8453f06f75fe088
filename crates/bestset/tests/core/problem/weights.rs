//! A sample of weight w counts like w samples; a sample of weight zero is not there; λ0_max is where β = 0 stops being best.

use crate::common::{Case, RngExt, Shape, assert_close, case, enumerate, normal, power, random_coefficients, rng};
use bestset::design::Dense;
use bestset::{Coefficients, Penalty, Problem};

#[test]
fn integer_weights_are_repeated_rows() {
    let mut rng = rng(51);
    for trial in 0..500 {
        let mut case = case(&mut rng, &Shape::new(3..=20, 1..=8));
        let mut weights: Vec<f64> = (0..case.n).map(|_| f64::from(rng.random_range(0..5u32))).collect();
        weights[..2].iter_mut().for_each(|w| *w = w.max(1.0));
        case.weights = Some(weights.clone());
        let (long, source) = case.repeated();
        case.with_problem(|short| {
            long.with_problem(|long_problem| {
                let zero = short.objective(&Coefficients::default()).unwrap();
                for share in [0.0, 0.3, 1.0] {
                    let mut c = random_coefficients(&case, &mut rng, share);
                    let (a, b) = (short.objective(&c).unwrap(), long_problem.objective(&c).unwrap());
                    assert_close(a, b, 1e-11 * (a + zero), &("P", trial));
                    let (a, b) =
                        (short.relaxation(&c).unwrap().unwrap(), long_problem.relaxation(&c).unwrap().unwrap());
                    assert_close(a, b, 1e-11 * (a + zero), &("R", trial));
                    let u = short.margins(&c).unwrap();
                    let long_u: Vec<f64> = source.iter().map(|&i| u[i]).collect();
                    c.intercept = short.best_intercept(&u, 0.0);
                    let other = long_problem.best_intercept(&long_u, 0.0);
                    let losses = (short.loss_sum(&u, c.intercept), long_problem.loss_sum(&long_u, other));
                    assert_close(
                        losses.0,
                        losses.1,
                        1e-12 * losses.0 + if case.loss.has_log_link() { 1e-24 } else { 1e-60 },
                        &("intercept", trial),
                    );
                    // α_i is shared among the copies of sample i: D is the same.
                    let mut alpha = vec![0.0; case.n];
                    short.dual_point(&u, c.intercept, &mut alpha);
                    let spread: Vec<f64> = source.iter().map(|&i| alpha[i] / weights[i]).collect();
                    let (a, b) = (short.lower_bound(&alpha).unwrap(), long_problem.lower_bound(&spread).unwrap());
                    if a.is_finite() || b.is_finite() {
                        assert_close(a, b, 1e-8 * (a.abs() + zero), &("D", trial, case.loss));
                    }
                }
                for j in 0..case.p {
                    let (a, b) = (short.moments().unwrap()[j], long_problem.moments().unwrap()[j]);
                    assert_close(a.mean, b.mean, 1e-11 * b.squares.sqrt(), &("mean", trial));
                    assert_close(a.squares, b.squares, 1e-11 * b.squares, &("squares", trial));
                    assert_close(a.centred, b.centred, 1e-11 * b.squares, &("centred", trial));
                    assert_close(
                        short.lengths().unwrap().of(j),
                        long_problem.lengths().unwrap().of(j),
                        1e-5 * b.squares.sqrt(),
                        &("length", trial),
                    );
                }
                let (a, b) = (short.lambda0_max().unwrap(), long_problem.lambda0_max().unwrap());
                assert!(a == b || (a - b).abs() <= 1e-8 * (a + b + zero), "{trial}: lambda0_max {a} {b}");
            });
        });
    }
}

/// Whatever stands in a row of weight zero changes nothing.
#[test]
fn rows_of_weight_zero_are_not_there() {
    let mut rng = rng(52);
    for trial in 0..200 {
        let mut case = case(&mut rng, &Shape::new(4..=15, 1..=6));
        case.replace(case.n, case.x.clone());
        let mut weights: Vec<f64> = (0..case.n).map(|_| power(&mut rng, -1.0, 1.0)).collect();
        weights[case.n - 1] = 0.0;
        case.weights = Some(weights);
        let mut other = case.clone();
        for j in 0..case.p {
            other.base[(j + 1) * case.n - 1] = 1e3 * normal(&mut rng);
        }
        if !case.loss.is_classification() {
            other.y[case.n - 1] = 1e9;
        }
        let c = random_coefficients(&case, &mut rng, 0.5);
        let measure = |case: &Case| {
            case.with_problem(|problem| {
                let u = problem.margins(&c).unwrap();
                let mut alpha = vec![0.0; case.n];
                problem.dual_point(&u, problem.best_intercept(&u, 0.0), &mut alpha);
                assert_eq!(alpha[case.n - 1], 0.0);
                let lengths: Vec<f64> = (0..case.p).map(|j| problem.lengths().unwrap().of(j)).collect();
                (
                    problem.objective(&c).unwrap(),
                    problem.lower_bound(&alpha).unwrap(),
                    problem.lambda0_max().unwrap(),
                    lengths,
                )
            })
        };
        let (a, b) = (measure(&case), measure(&other));
        assert_close(a.0, b.0, 1e-12 * a.0, &("P", trial));
        assert_close(a.1, b.1, 1e-9 * (a.1.abs() + a.0), &("D", trial));
        assert_close(a.2, b.2, 1e-9 * (a.2 + a.0), &("lambda0_max", trial));
        assert_eq!(a.3, b.3, "{trial}");
    }
}

/// What is known of the columns is forgotten when the weights change, and kept when only the penalty does.
#[test]
fn moments_follow_the_weights() {
    let x = Dense::new(3, 1, vec![1.0, 2.0, 4.0]).unwrap();
    let problem = Problem::new(&x, vec![1.0, 0.0, 2.0], Penalty::new(0.1, 0.0, 1.0)).unwrap();
    assert_eq!(problem.squares().unwrap()[0], 21.0);
    let other = problem.with_penalty(Penalty::new(0.2, 0.0, 1.0)).unwrap();
    assert_eq!(other.squares().unwrap()[0], 21.0);
    let weighted = problem.with_weights(vec![2.0, 1.0, 0.0]).unwrap();
    assert_eq!((weighted.squares().unwrap()[0], weighted.moments().unwrap()[0].mean), (6.0, 4.0 / 3.0));
    assert_eq!(other.squares().unwrap()[0], 21.0);
}

/// Slightly above λ0_max β = 0 is best by enumeration and its dual point proves it; slightly below it does not.
#[test]
fn lambda0_max_is_where_the_proof_of_zero_ends() {
    let mut rng = rng(53);
    let mut checked = 0;
    for trial in 0..600 {
        let case = case(&mut rng, &Shape { attained: true, certified: true, ..Shape::new(3..=14, 1..=6) });
        let largest = case.with_problem(|problem| problem.lambda0_max().unwrap());
        assert!(largest.is_finite() && largest >= 0.0, "{trial}: {largest}");
        let with = |lambda0: f64| {
            let mut at = case.clone();
            at.penalty.lambda0 = lambda0;
            at
        };
        let zero_and_bound = |case: &Case| {
            case.with_problem(|problem| {
                let u = vec![0.0; case.n];
                let b = problem.best_intercept(&u, 0.0);
                let mut alpha = u.clone();
                problem.dual_point(&u, b, &mut alpha);
                let zero = problem.objective(&Coefficients::from_pairs(vec![], b)).unwrap();
                (zero, problem.lower_bound(&alpha).unwrap())
            })
        };
        let above = with(largest * (1.0 + 1e-6) + 1e-12);
        let (zero, bound) = zero_and_bound(&above);
        let scale = zero + above.null_loss();
        let steep = (0..case.p).map(|j| case.norm(j).powi(2)).fold(0.0, f64::max) / case.penalty.lambda2;
        if steep < 1e6 {
            assert_close(bound, zero, 1e-9 * scale, &("above", trial));
        }
        let all = enumerate(&above);
        assert_close(all.best, zero, 1e-11 * scale, &("enumerated", trial));
        if largest > 1e-6 * scale {
            let (zero, bound) = zero_and_bound(&with(largest * (1.0 - 1e-3)));
            assert!(bound < zero - 5e-4 * largest, "{trial}: {bound} at {zero}, lambda0_max {largest}");
            checked += 1;
        }
    }
    assert!(checked > 400, "{checked}");
}

/// The formula, by hand: τ = Xᵀ(−y), λ0_max = (|τ| − λ1)²/(4λ2), capped by bounds; +∞ without λ2 and bounds.
#[test]
fn lambda0_max_by_hand() {
    let x = Dense::new(2, 2, vec![1.0, 1.0, 3.0, -1.0]).unwrap();
    let problem = |l1, l2| Problem::new(&x, vec![2.0, 1.0], Penalty::new(0.7, l1, l2)).unwrap();
    // τ = (−3, −5).
    assert_close(problem(0.0, 0.5).lambda0_max().unwrap(), 12.5, 1e-12, &());
    assert_close(problem(1.0, 0.5).lambda0_max().unwrap(), 8.0, 1e-12, &());
    assert_eq!(problem(9.0, 0.5).lambda0_max().unwrap(), 0.0);
    assert_eq!(problem(1.0, 0.0).lambda0_max().unwrap(), f64::INFINITY);
    assert_eq!(problem(5.0, 0.0).lambda0_max().unwrap(), 0.0);
    let bounded =
        problem(1.0, 0.0).with_penalty(Penalty::new(0.0, 1.0, 0.0).with_bounds(bestset::Bounds::All(0.0, 0.3)));
    assert_close(bounded.unwrap().lambda0_max().unwrap(), 0.3 * 4.0, 1e-12, &());
    let other_side = Penalty::new(0.0, 1.0, 0.5).with_bounds(bestset::Bounds::All(-1.0, 0.0));
    assert_eq!(problem(1.0, 0.0).with_penalty(other_side).unwrap().lambda0_max().unwrap(), 0.0);
}
