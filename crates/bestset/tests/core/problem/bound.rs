//! D ≤ R ≤ P for any points, and D below the enumerated optimum: the promise the project stands on.

use crate::common::{
    Case, ChaCha8Rng, RngExt, Shape, assert_close, case, dual_value, enumerate, normal, pick, power,
    random_coefficients, relaxed, rng,
};
use bestset::design::Dense;
use bestset::{Coefficients, Penalty, Problem};

/// The loss of β = 0: what rounding is measured by when an objective is the small rest of large terms.
fn scale(case: &Case) -> f64 {
    case.null_loss().max(1e-3)
}

/// Dual points good and bad: of random β, near the optimum, random, badly scaled.
fn dual_points(case: &Case, problem: &Problem<'_>, best: &[f64], rng: &mut ChaCha8Rng) -> Vec<Vec<f64>> {
    let mut points = vec![vec![0.0; case.n], best.to_vec()];
    let size = best.iter().fold(1e-6f64, |m, a| m.max(a.abs()));
    for noise in [1e-12, 1e-8, 1e-4, 1e-2, 1.0] {
        points.push(best.iter().map(|a| a + noise * size * normal(rng)).collect());
    }
    for share in [0.1, 0.5] {
        let coefficients = random_coefficients(case, rng, share);
        let u = problem.margins(&coefficients).unwrap();
        let mut alpha = vec![0.0; case.n];
        problem.dual_point(&u, problem.best_intercept(&u, 0.0), &mut alpha);
        points.push(alpha);
    }
    let factor = pick(rng, &[1e-8, 1e-3, 30.0, 1e8]);
    points.push(best.iter().map(|a| factor * a).collect());
    points.push((0..case.n).map(|_| normal(rng) * power(rng, -8.0, 8.0)).collect());
    points
}

#[test]
fn any_dual_point_is_below_any_primal_point() {
    let mut rng = rng(21);
    let (mut finite, mut total) = (0, 0);
    for trial in 0..1500 {
        let case = case(&mut rng, &Shape::new(2..=25, 1..=20));
        case.with_problem(|problem| {
            let zero = vec![0.0; case.n];
            let points = dual_points(&case, problem, &zero, &mut rng);
            let bounds: Vec<f64> = points.iter().map(|a| problem.lower_bound(a).unwrap()).collect();
            for share in [0.0, 0.1, 0.4, 1.0] {
                let mut coefficients = random_coefficients(&case, &mut rng, share);
                if case.intercept && rng.random_bool(0.7) {
                    coefficients.intercept = problem.best_intercept(&problem.margins(&coefficients).unwrap(), 0.0);
                }
                let (p, r) =
                    (problem.objective(&coefficients).unwrap(), problem.relaxation(&coefficients).unwrap().unwrap());
                let room = 1e-12 * (scale(&case) + p.abs());
                assert!(p.is_finite(), "{trial}: {p}");
                assert!(r <= p + room, "{trial}: R = {r} > P = {p}");
                for &d in &bounds {
                    assert!(!d.is_nan() && d <= r + room, "{trial}: D = {d} > R = {r}");
                    finite += usize::from(d.is_finite());
                    total += 1;
                }
            }
        });
    }
    assert!(finite > total / 2 && finite < total, "{finite} of {total}");
}

#[test]
fn every_bound_is_below_the_enumerated_optimum() {
    let mut rng = rng(22);
    let (mut tight, mut useful) = (0, 0);
    for trial in 0..1200 {
        let case = case(&mut rng, &Shape { attained: true, ..Shape::new(3..=16, 1..=7) });
        let (all, best) = (enumerate(&case), relaxed(&case));
        case.with_problem(|problem| {
            let room = 1e-12 * (scale(&case) + all.best.abs());
            let found = problem.objective(&all.coefficients).unwrap();
            assert_close(found, all.best, 1e-11 * (scale(&case) + all.best.abs()), &trial);
            for alpha in dual_points(&case, problem, &best.alpha, &mut rng) {
                let bound = problem.lower_bound(&alpha).unwrap();
                assert!(!bound.is_nan() && bound <= all.best + room, "{trial}: D = {bound} > P* = {}", all.best);
                useful += usize::from(bound > 0.5 * all.best);
                tight += usize::from(bound > all.best - 1e-8 * (scale(&case) + all.best.abs()));
            }
        });
    }
    assert!(tight > 500 && useful > 3000, "{tight} {useful}");
}

/// Not only a bound but the number of MATH §3, and at R's minimiser the number of MATH §4: a bound can also fail by
/// being needlessly low.
#[test]
fn the_bound_is_the_dual_function() {
    let mut rng = rng(23);
    let mut compared = 0;
    for trial in 0..1500 {
        let case = case(&mut rng, &Shape { attained: true, certified: true, ..Shape::new(3..=20, 1..=12) });
        let (model, best) = (case.model(), relaxed(&case));
        case.with_problem(|problem| {
            for mut alpha in dual_points(&case, problem, &best.alpha, &mut rng) {
                problem.project(&mut alpha);
                let (found, plain) = (problem.lower_bound(&alpha).unwrap(), dual_value(&model, &case.penalty, &alpha));
                // What rounding is relative to: the parts of the conjugates, and how far τ moves Ψ.
                let norm = alpha.iter().map(|a| a * a).sum::<f64>().sqrt();
                let link = |j: usize| problem.coordinate(j).link(model.dot(j, &alpha)).abs();
                let length = |j: usize| case.col(j).iter().map(|x| x * x).sum::<f64>().sqrt();
                let moved: f64 = (0..case.p).map(|j| length(j) * norm * link(j)).sum();
                let parts = model.conjugate_sum(&alpha).abs();
                let linear: f64 = alpha.iter().zip(&case.y).map(|(a, y)| (a * y).abs()).sum();
                let logs = |y: f64| if case.loss.has_log_link() { 1.0 + y.max(1e-9).ln().abs() } else { 0.0 };
                let logs: f64 = alpha.iter().zip(&case.y).map(|(a, y)| a.abs() * logs(*y)).sum();
                let wide = parts + (plain + parts).abs() + linear + moved + logs;
                assert!(found <= plain + 1e-13 * wide, "{trial}: {found} > {plain}");
                if case.penalty.lambda2 > 1e-3 * (0..case.p).map(|j| case.norm(j).powi(2)).fold(0.0, f64::max) {
                    assert_close(found, plain, 1e-11 * wide, &(trial, case.loss));
                    compared += 1;
                }
            }
            if case.penalty.lambda2 > 1e-3 * (0..case.p).map(|j| case.norm(j).powi(2)).fold(0.0, f64::max) {
                assert_close(
                    problem.lower_bound(&best.alpha).unwrap(),
                    best.value,
                    1e-10 * (scale(&case) + best.value),
                    &trial,
                );
            }
        });
    }
    assert!(compared > 3000, "{compared}");
}

/// P and R from scratch against the formulas of MATH §1 and §4.
#[test]
fn objective_and_relaxation_are_their_formulas() {
    let mut rng = rng(24);
    for trial in 0..800 {
        let case = case(&mut rng, &Shape::new(2..=25, 1..=12));
        let model = case.model();
        case.with_problem(|problem| {
            let c = random_coefficients(&case, &mut rng, 0.5);
            let (l0, l1, l2) = (case.penalty.lambda0, case.penalty.lambda1, case.penalty.lambda2);
            let loss = model.loss_sum(&model.margins(&c.support, &c.values), c.intercept);
            let penalty: f64 = c.values.iter().map(|b| l0 + l1 * b.abs() + l2 * b * b).sum();
            let room = 1e-10 * (loss + penalty + scale(&case));
            assert_close(problem.objective(&c).unwrap(), loss + penalty, room, &trial);
            let envelope: f64 = c
                .iter()
                .map(|(j, b)| {
                    let (lower, upper) = case.penalty.bounds.at(j);
                    let knee = if l0 == 0.0 { 0.0 } else { (l0 / l2).sqrt().min(if b > 0.0 { upper } else { -lower }) };
                    let m = b.abs();
                    if m >= knee {
                        l0 + l1 * m + l2 * m * m
                    } else if knee.is_infinite() {
                        l1 * m
                    } else {
                        m * (l0 / knee + l1 + l2 * knee)
                    }
                })
                .sum();
            assert_close(problem.relaxation(&c).unwrap().unwrap(), loss + envelope, room, &trial);
            let parts = (
                problem.penalty_sum(&c),
                problem.envelope_sum(&c),
                problem.loss_sum(&problem.margins(&c).unwrap(), c.intercept),
            );
            assert_close(parts.0, penalty, 1e-12 * penalty, &trial);
            assert_close(parts.1, envelope, 1e-12 * penalty, &trial);
            assert_close(parts.2, loss, room, &trial);
        });
    }
}

/// D_k(α) of MATH §6 bounds the k-sparse problem, with and without a λ0 beside it.
#[test]
fn size_limited_bounds_are_below_the_enumerated_k_sparse_optimum() {
    let mut rng = rng(25);
    let (mut useful, mut above) = (0, 0);
    for trial in 0..500 {
        let mut case = case(&mut rng, &Shape { attained: true, certified: true, ..Shape::new(3..=14, 2..=7) });
        if trial % 2 == 0 {
            case.penalty.lambda0 = 0.0;
        }
        let (all, best) = (enumerate(&case), relaxed(&case));
        case.with_problem(|problem| {
            for k in 1..=case.p {
                let limited = problem.clone().with_max_size(k).unwrap();
                let least = all.sized[k];
                for alpha in dual_points(&case, &limited, &best.alpha, &mut rng) {
                    let (bound, free) = (limited.lower_bound(&alpha).unwrap(), problem.lower_bound(&alpha).unwrap());
                    assert!(bound <= least + 1e-12 * (scale(&case) + least), "{trial}, k = {k}: {bound} > {least}");
                    // Fewer features allowed, never a lower bound.
                    assert!(bound >= free - 1e-12 * (free.abs() + scale(&case)), "{trial}, k = {k}");
                    useful += usize::from(bound > 0.8 * least);
                    above += usize::from(bound > all.best + 1e-9 * scale(&case));
                }
            }
        });
    }
    assert!(useful > 3000 && above > 1000, "{useful} {above}");
}

/// MATH §4: x = 1, y = √6, λ0 = λ2 = 1, λ1 = 0. No duality gap between R and D, one of 0.1010 to P.
#[test]
fn the_counter_example_to_strong_duality() {
    let x = Dense::new(1, 1, vec![1.0]).unwrap();
    let y = 6.0f64.sqrt();
    let problem = Problem::new(&x, vec![y], Penalty::new(1.0, 0.0, 1.0)).unwrap();
    // P* by its two subsets: nothing, or y/(1 + 2λ2).
    let (none, one) = (Coefficients::default(), Coefficients::from_dense(&[y / 3.0], 0.0));
    assert_close(problem.objective(&none).unwrap(), 3.0, 1e-14, &none);
    assert_close(problem.objective(&one).unwrap(), 3.0, 1e-14, &one);
    let grid =
        (-4000..=4000).map(|k| problem.objective(&Coefficients::from_dense(&[1e-3 * f64::from(k)], 0.0)).unwrap());
    assert!(grid.fold(f64::INFINITY, f64::min) >= 3.0 - 1e-14);
    // max D by ternary search, D being concave.
    let (mut low, mut high) = (-10.0f64, 10.0);
    for _ in 0..200 {
        let (a, b) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
        if problem.lower_bound(&[a]).unwrap() < problem.lower_bound(&[b]).unwrap() { low = a } else { high = b }
    }
    let most = problem.lower_bound(&[0.5 * (low + high)]).unwrap();
    assert_close(most, 2.0 * y - 2.0, 1e-9, &most);
    assert_eq!(format!("{most:.4}"), "2.8990");
    // min R is the same number, at b = y − 2, strictly between 0 and √(λ0/λ2) = 1.
    let at = |b: f64| problem.relaxation(&Coefficients::from_dense(&[b], 0.0)).unwrap().unwrap();
    assert_close(at(y - 2.0), most, 1e-9, &most);
    let c = problem.certify(&one, &[&[0.5 * (low + high)]]).unwrap();
    assert_close(c.gap(), 5.0 - 2.0 * y, 1e-9, &c);
}

/// certify bounds any coefficients, good, bad or infeasible, from whatever dual points it is given.
#[test]
fn certify_bounds_any_coefficients() {
    let mut rng = rng(26);
    let mut better = 0;
    for trial in 0..400 {
        let case = case(&mut rng, &Shape { attained: true, ..Shape::new(3..=14, 1..=6) });
        let (all, best) = (enumerate(&case), relaxed(&case));
        case.with_problem(|problem| {
            let room = 1e-12 * (scale(&case) + all.best.abs());
            let wild: Vec<f64> = (0..case.n).map(|_| 1e6 * normal(&mut rng)).collect();
            for share in [0.0, 0.3, 1.0] {
                let mut c = random_coefficients(&case, &mut rng, share);
                c.intercept += if case.intercept { pick(&mut rng, &[0.0, 1e4]) } else { 0.0 };
                let (own, given) =
                    (problem.certify(&c, &[]).unwrap(), problem.certify(&c, &[&wild, &best.alpha]).unwrap());
                for found in [own, given] {
                    assert!(found.lower_bound <= all.best + room, "{trial}: {found:?} P* = {}", all.best);
                    assert!(found.objective >= all.best - room, "{trial}: {found:?} P* = {}", all.best);
                    assert!(found.relaxation.unwrap() <= found.objective + 1e-12 * found.objective.abs());
                    assert_close(found.objective, problem.objective(&c).unwrap(), 1e-12 * found.objective, &trial);
                }
                assert!(given.lower_bound >= own.lower_bound.max(problem.lower_bound(&best.alpha).unwrap()));
                better += usize::from(given.lower_bound > own.lower_bound);
            }
            let found = problem.certify(&all.coefficients, &[&best.alpha]).unwrap();
            assert!(
                found.gap() <= all.best - best.value + 1e-6 * (scale(&case) + all.best) || case.penalty.lambda2 < 1.0
            );
        });
    }
    assert!(better > 300, "{better}");
}
