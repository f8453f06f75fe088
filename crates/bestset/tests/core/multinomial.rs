//! Many classes: the loss against its definition, bounds and answers against the enumeration of all subsets by a slow fit of its own.

use crate::common::{ChaCha8Rng, ClassCase, normal, power, rng};
use bestset::design::{Dense, Design, PerClass};
use bestset::groups::solve_groups;
use bestset::{Error, Loss, Method, Options, Penalty, Problem, Status};

fn random_point(rng: &mut ChaCha8Rng, len: usize, size: f64) -> Vec<f64> {
    (0..len).map(|_| size * normal(rng)).collect()
}

/// Of a size that is a power of ten between the two.
fn scaled_point(rng: &mut ChaCha8Rng, len: usize, (low, high): (f64, f64)) -> Vec<f64> {
    let size = power(rng, low, high);
    random_point(rng, len, size)
}

#[test]
fn the_loss_is_its_definition_with_the_best_intercepts() {
    let mut rng = rng(15_001);
    for trial in 0..60 {
        let classes = 2 + trial % 3;
        let case = ClassCase::random(&mut rng, classes, false);
        let (u, step) = (random_point(&mut rng, case.n * classes, 2.0), 1e-5);
        case.with_problem(|problem, _| {
            let loss = problem.coupled().unwrap();
            let intercepts = loss.intercepts(&u);
            let v: Vec<f64> = (0..u.len()).map(|at| u[at] + intercepts[at / case.n]).collect();
            assert!((loss.value(&u) - case.loss(&v)).abs() <= 1e-12 * (1.0 + case.loss(&v)), "{trial}");
            assert!(
                intercepts.iter().sum::<f64>().abs() < 1e-9 && (case.intercept || intercepts.iter().all(|c| *c == 0.0))
            );
            let (mut alpha, mut moved, mut other) = (vec![0.0; u.len()], u.clone(), vec![0.0; u.len()]);
            loss.gradient(&u, &mut alpha);
            for block in alpha.chunks(case.n).filter(|_| case.intercept) {
                assert!(block.iter().sum::<f64>().abs() <= 1e-12, "{trial}: {}", block.iter().sum::<f64>());
            }
            let d = random_point(&mut rng, u.len(), 1.0);
            let along: f64 = alpha.iter().zip(&d).map(|(a, d)| a * d).sum();
            moved.iter_mut().zip(&d).for_each(|(m, d)| *m += step * d);
            let up = loss.value(&moved);
            loss.gradient(&moved, &mut other);
            moved.iter_mut().zip(&d).for_each(|(m, d)| *m -= 2.0 * step * d);
            let numeric = (up - loss.value(&moved)) / (2.0 * step);
            assert!((along - numeric).abs() <= 1e-5 * (1.0 + along.abs()), "{trial}: {along} {numeric}");
            // dᵀ∇²Ld, of the diagonal and the factor, against a difference of gradients.
            let curvature = loss.curvature(&u);
            let mut image = vec![0.0; curvature.rank()];
            curvature.factor(&d, &mut image);
            let whole: f64 = curvature.diagonal().iter().zip(&d).map(|(h, d)| h * d * d).sum();
            let own = whole - image.iter().map(|f| f * f).sum::<f64>();
            let difference: f64 = other.iter().zip(&alpha).zip(&d).map(|((o, a), d)| (o - a) * d).sum::<f64>() / step;
            assert!((own - difference).abs() <= 1e-3 * (1.0 + whole), "{trial}: {own} {difference}");
            let mut product = d.clone();
            curvature.multiply(&mut product);
            let whole_product: f64 = product.iter().zip(&d).map(|(a, d)| a * d).sum();
            assert!((whole_product - own).abs() <= 1e-9 * (1.0 + whole), "{trial}: {own} {whole_product}");
            assert!(own <= loss.steepest(&d) + 1e-9 && own >= -1e-9, "{trial}");
        });
    }
}

/// Fenchel–Young: an equality at the slopes, an inequality at any point of the domain; what the conjugate promises holds for the point
/// that it is of.
#[test]
fn the_conjugate_is_the_supremum() {
    let mut rng = rng(15_002);
    let mut far = 0;
    for trial in 0..150 {
        let classes = 2 + trial % 3;
        let case = ClassCase::random(&mut rng, classes, false);
        let u = scaled_point(&mut rng, case.n * classes, (-1.0, 1.5));
        case.with_problem(|problem, _| {
            let loss = problem.coupled().unwrap();
            let mut alpha = vec![0.0; u.len()];
            loss.gradient(&u, &mut alpha);
            let inner = |a: &[f64], u: &[f64]| a.iter().zip(u).map(|(a, u)| a * u).sum::<f64>();
            let own = loss.conjugate(&alpha).expect("the slopes are in the domain");
            let exact = inner(&alpha, &u) - loss.value(&u);
            let size = own.size + inner(&alpha, &u).abs();
            assert!((own.value - exact).abs() <= 1e-9 * size, "{trial}: {} {exact}", own.value);
            assert!(own.value >= exact - 1e-11 * size && own.moved < 1e-9, "{trial}");
            assert!(own.reach.iter().zip(&alpha).all(|(r, a)| *r >= a.abs()), "{trial}");
            let mut any = scaled_point(&mut rng, u.len(), (-1.0, 1.0));
            loss.project(&mut any);
            let found = loss.conjugate(&any).expect("a projected point is in the domain");
            for _ in 0..20 {
                let v = scaled_point(&mut rng, u.len(), (-1.0, 1.0));
                assert!(
                    inner(&any, &v) - loss.value(&v) <= found.value + 1e-9 * (found.size + inner(&any, &v).abs()),
                    "{trial}"
                );
            }
            // Points outside have none.
            let mut outside = alpha.clone();
            outside[0] += 0.5 + case.weights[0];
            far += usize::from(loss.conjugate(&outside).is_none());
        });
    }
    assert_eq!(far, 150);
}

/// A dual point whose sums over the classes of a sample are not zero has no conjugate: sup over v of αᵀv − L(v) is infinite along equal v_ki. What is
/// said of it must be said of a point near it that has one, whatever v is, and the bound made of it must be one.
#[test]
fn sums_over_classes_that_are_not_zero_raise_no_bound() {
    let mut rng = rng(15_011);
    let (mut near, mut far, mut tight) = (0, 0, 0);
    for trial in 0..120 {
        let classes = 2 + trial % 3;
        let mut case = ClassCase::random(&mut rng, classes, false);
        (case.penalty.lambda0, case.penalty.lambda1) = (0.0, 0.0);
        let (least, theta) = case.fit(&(0..case.p).collect::<Vec<_>>());
        case.with_problem(|problem, _| {
            let loss = problem.coupled().unwrap();
            let pairs = (0..case.p * classes).map(|at| (at, theta[at])).collect();
            let u = problem.margins(&bestset::Coefficients::from_pairs(pairs, 0.0)).unwrap();
            let mut alpha = vec![0.0; u.len()];
            loss.gradient(&u, &mut alpha);
            tight += usize::from(problem.lower_bound(&alpha).unwrap() > least - 1e-10 * (1.0 + least));
            for off in [1e-12, 1e-11, 1e-10, 2e-10, -1e-12, -1e-10, -2e-10, 1e-8, -1e-6] {
                let mut other = alpha.clone();
                // Where the sign of what is added is that of log p + 1, Σ p log p falls: a bound that took it as it is would be too high.
                for (at, a) in other.iter_mut().enumerate() {
                    let (k, i) = (at / case.n, at % case.n);
                    let w = case.weights[i];
                    let p = if w > 0.0 { alpha[at] / w + f64::from(u8::from(case.labels[i] == k)) } else { 0.5 };
                    *a += if p.ln() > -1.0 { -off * w } else { off * w };
                }
                let features: Vec<usize> = (0..problem.ncols()).collect();
                let mut tau = vec![0.0; features.len()];
                problem.design().correlate(&features, &other, &mut tau).unwrap();
                let as_it_is = problem.dual_value(&other, &features, &tau).unwrap();
                for bound in [as_it_is, problem.lower_bound(&other).unwrap()] {
                    assert!(bound <= least + 2e-13 * (1.0 + least), "{trial} {off}: {bound} above {least}");
                }
                let Some(own) = loss.conjugate(&other) else {
                    far += 1;
                    continue;
                };
                near += 1;
                for shift in [0.0, 1e3, -1e3, 1e6, -1e6] {
                    let v: Vec<f64> =
                        u.iter().enumerate().map(|(at, u)| u + if at % case.n == 0 { shift } else { 0.0 }).collect();
                    let inner: f64 = other.iter().zip(&v).map(|(a, v)| a * v).sum();
                    let room: f64 = own.reach.iter().zip(&v).map(|(r, v)| own.moved * r * v.abs()).sum();
                    let digits = 1e-15 * (own.size + other.iter().zip(&v).map(|(a, v)| (a * v).abs()).sum::<f64>());
                    let excess = inner - loss.value(&v) - own.value - room;
                    assert!(excess <= 100.0 * digits, "{trial} {off} {shift}: {excess}");
                }
            }
        });
    }
    assert!(near > 500 && far > 100 && tight > 100, "{near} near, {far} far, {tight} tight");
}

#[test]
fn answers_and_bounds_against_enumeration() {
    let mut rng = rng(15_003);
    let (mut best_found, mut chosen) = (0, 0);
    for trial in 0..16 {
        let case = ClassCase::random(&mut rng, 3, trial % 4 == 3);
        let best = case.enumerated();
        case.with_problem(|problem, groups| {
            for method in [Method::Incremental, Method::Exact] {
                let found = solve_groups(problem, groups, &Options::with_method(method)).unwrap();
                let (c, room) = (found.certificate, 1e-8 * (1.0 + best));
                let own = case.objective(problem, &found.coefficients);
                assert!(
                    (c.objective - own).abs() <= 1e-9 * (1.0 + own),
                    "{trial} {method:?}: {} is {own}",
                    c.objective
                );
                assert!(own >= best - room, "{trial} {method:?}: {own} below {best}");
                assert!(c.lower_bound <= best + room, "{trial} {method:?}: bound {} above {best}", c.lower_bound);
                assert!(c.lower_bound <= c.objective);
                if method == Method::Exact {
                    assert_eq!(found.status, Status::Optimal, "{trial}: {c:?} {best} {}", found.nodes);
                    assert!(c.objective <= best + 1e-6 * (1.0 + best), "{trial}: {} above {best}", c.objective);
                    chosen += found.selected.len();
                }
                best_found += usize::from(c.objective <= best + room);
            }
            // Weak duality at points that have nothing to do with the answer.
            for _ in 0..10 {
                let alpha = scaled_point(&mut rng, problem.nrows(), (-2.0, 1.0));
                let single = problem.lower_bound(&alpha).unwrap();
                assert!(single <= best + 1e-9 * (1.0 + best), "{trial}: {single}");
            }
        });
    }
    assert!(best_found >= 28 && chosen > 4, "{best_found} of 32, {chosen} chosen");
}

/// Two classes are a logistic regression with β = b₁ − b₀ = 2b₁, λ2/2 and the same price (MATH 16.1).
#[test]
fn two_classes_are_logistic() {
    let mut rng = rng(15_004);
    for trial in 0..30 {
        let mut case = ClassCase::random(&mut rng, 2, false);
        case.offset.fill(0.0);
        let (penalty, x) = (case.penalty.clone(), Dense::new(case.n, case.p, case.x.clone()).unwrap());
        let y: Vec<f64> = case.labels.iter().map(|y| if *y == 1 { 1.0 } else { -1.0 }).collect();
        let logistic = Problem::new(&x, y, Penalty::new(penalty.lambda0, penalty.lambda1, 0.5 * penalty.lambda2))
            .and_then(|p| p.with_loss(Loss::Logistic))
            .and_then(|p| p.with_weights(case.weights.clone()))
            .unwrap()
            .with_intercept(case.intercept);
        let one = bestset::solve(&logistic, &Options::with_method(Method::Exact)).unwrap();
        case.with_problem(|problem, groups| {
            let two = solve_groups(problem, groups, &Options::with_method(Method::Exact)).unwrap();
            let (a, b) = (one.certificate.objective, two.certificate.objective);
            assert!((a - b).abs() <= 1e-7 * (1.0 + a), "{trial}: {a} {b}");
            // Of two columns that are the same either may be in.
            if case.x[..case.n] == case.x[case.n..2 * case.n] {
                return;
            }
            assert_eq!(one.support(), two.selected, "{trial}");
            let pairs = two.coefficients.to_dense(2 * case.p);
            for (j, beta) in one.coefficients.iter() {
                assert!((pairs[2 * j] + pairs[2 * j + 1]).abs() <= 1e-5 * (1.0 + beta.abs()), "{trial}");
                assert!((pairs[2 * j + 1] - pairs[2 * j] - beta).abs() <= 1e-4 * (1.0 + beta.abs()), "{trial}");
            }
        });
    }
}

#[test]
fn columns_of_classes_are_those_of_the_matrix() {
    let mut rng = rng(15_005);
    let (n, p, classes) = (7, 4, 3);
    let x = Dense::new(n, p, random_point(&mut rng, n * p, 1.0)).unwrap();
    let design = PerClass::new(&x, classes);
    let v = random_point(&mut rng, n * classes, 1.0);
    let all: Vec<usize> = (0..p * classes).collect();
    let some = [11, 0, 4, 5, 3];
    let (mut whole, mut part) = (vec![0.0; all.len()], vec![0.0; some.len()]);
    design.correlate(&all, &v, &mut whole).unwrap();
    design.correlate(&some, &v, &mut part).unwrap();
    for j in all {
        let (mut column, mut dense, mut added) = (Default::default(), vec![0.0; n * classes], vec![0.0; n * classes]);
        design.column(j, &mut column).unwrap();
        column.to_dense(&mut dense);
        design.axpy(j, 1.0, &mut added).unwrap();
        assert_eq!(dense, added);
        assert!(dense.iter().enumerate().all(|(at, x)| (at / n == j % classes) || *x == 0.0));
        let product: f64 = dense.iter().zip(&v).map(|(x, v)| x * v).sum();
        assert!((product - whole[j]).abs() < 1e-12);
        some.iter().zip(&part).filter(|s| *s.0 == j).for_each(|(_, found)| assert_eq!(*found, whole[j]));
    }
}

#[test]
fn bad_classes_are_named() {
    let x = Dense::new(4, 1, vec![1.0, 2.0, 3.0, 4.0]).unwrap();
    let design = PerClass::new(&x, 3);
    let posed =
        |labels: &[usize]| Problem::new(&design, PerClass::targets(labels, 3), Penalty::new(1.0, 0.0, 1.0)).unwrap();
    assert_eq!(posed(&[0, 2, 2, 0]).with_classes(3, true).err(), Some(Error::EmptyClass { class: 1 }));
    assert_eq!(posed(&[0, 0, 0, 0]).with_classes(3, true).err(), Some(Error::EmptyClass { class: 1 }));
    let whole = posed(&[0, 1, 2, 0]).with_classes(3, true).unwrap();
    let weights: Vec<f64> = (0..12).map(|at| if at % 4 == 2 { 0.0 } else { 1.0 }).collect();
    assert_eq!(whole.clone().with_weights(weights).err(), Some(Error::EmptyClass { class: 2 }));
    // A sample with different weights in the blocks of its classes, and targets that are no classes.
    assert!(whole.with_weights((0..12).map(f64::from).collect::<Vec<_>>()).is_err());
    let mixed = Problem::new(&design, vec![0.5; 12], Penalty::new(1.0, 0.0, 1.0)).unwrap();
    assert!(matches!(mixed.with_classes(3, true), Err(Error::Label { index: 0, value: 0.5 })));
}

/// Paths and criteria count features and samples, not columns and rows.
#[test]
fn rows_of_classes_are_not_taken_for_samples() {
    use bestset::criteria::{Criterion, Fit, usual_size};
    use bestset::cv::{CvOptions, cross_validate};
    use bestset::path::{PathOptions, path};
    let mut rng = rng(15_006);
    let mut case = ClassCase::random(&mut rng, 3, false);
    (case.intercept, case.penalty.lambda1) = (true, 0.0);
    case.weights.fill(1.0);
    case.with_problem(|problem, groups| {
        let options = PathOptions { groups: Some(groups.clone()), ..PathOptions::default() };
        let found = path(problem, &options).unwrap();
        let last = &found.points.last().unwrap().solution;
        let fit = Fit::new(problem, &last.coefficients).unwrap();
        assert_eq!((fit.samples, fit.features, fit.each, fit.intercept), (case.n as f64, case.p, 2, true));
        assert_eq!(fit.size, last.support().len() / 3);
        assert!(fit.size > 0 && (1..=case.p).contains(&usual_size(problem)));
        let expected = 2.0 * problem.loss_at(&last.coefficients).unwrap() + 2.0 * 2.0 * (fit.size as f64 + 1.0);
        assert!((fit.value(Criterion::Aic, 0.0) - expected).abs() < 1e-9 * expected);
        assert!(found.points.iter().all(|p| p.solution.certificate.lower_bound <= p.solution.objective()));
        let folded = cross_validate(problem, &CvOptions { path: options, ..CvOptions::default() });
        // Folds have all classes, or say which they have not.
        assert!(matches!(folded, Ok(_) | Err(Error::EmptyClass { .. })));
        assert!(problem.clone().with_loss(Loss::Multinomial { classes: 3 }).is_err());
        // Sizes are of features: what knows columns alone refuses them.
        let limited = problem.clone().with_max_size(case.p).unwrap();
        assert!(bestset::solve(&limited, &Options::with_method(Method::Exact)).is_err());
        assert!(bestset::sizes::sizes(problem, &[1], &Options::default()).is_err());
        assert!(problem.clone().with_max_size(case.p + 1).is_err());
    });
}
