//! Factors of the penalty, features always or never in, and offsets: every bound, every rule and the exact answer against
//! enumeration.

use crate::common::{
    Case, ChaCha8Rng, RngExt, Shape, assert_close, case, dual_value, enumerate, fit, holds, normal, pick, power, price,
    random_coefficients, rng,
};
use bestset::design::Dense;
use bestset::screening::{in_every_optimal_subset, in_no_optimal_subset};
use bestset::{Bounds, Coefficients, Error, Factors, Loss, Method, Options, Penalty, Problem, Status, solve};

/// A random problem with factors, lists or an offset on top.
fn varied(rng: &mut ChaCha8Rng, p: std::ops::RangeInclusive<usize>) -> Case {
    let shape = Shape { attained: true, certified: true, ..Shape::new(4..=16, p) };
    let mut case = case(rng, &shape);
    let p = case.p;
    let mut factor = |zero: f64| if rng.random_bool(zero) { 0.0 } else { power(rng, -1.0, 1.0) };
    let price: Vec<f64> = (0..p).map(|_| factor(0.2)).collect();
    // Bounds on both sides keep the dual finite without shrinkage.
    let bounded = |j: usize| case.penalty.bounds.at(j).0.is_finite() && case.penalty.bounds.at(j).1.is_finite();
    let shrinkage: Vec<f64> = (0..p).map(|j| if bounded(j) { factor(0.2) } else { factor(0.0) }).collect();
    if rng.random_bool(0.7) {
        case.penalty = case.penalty.with_price(price);
    }
    if rng.random_bool(0.4) {
        case.penalty = case.penalty.with_shrinkage(shrinkage);
    }
    if rng.random_bool(0.3) {
        let j = rng.random_range(0..p);
        if case.penalty.price.at(j) > 0.0 {
            case.penalty = case.penalty.never(&[j], p).unwrap();
        }
    }
    if rng.random_bool(0.5) {
        let (size, shift) = (pick(rng, &[0.3, 1.0, 3.0]), pick(rng, &[0.0, 2.0]));
        case.offset = Some((0..case.n).map(|_| shift + size * normal(rng)).collect());
    }
    case
}

#[test]
fn every_bound_and_rule_holds_against_enumeration() {
    let mut rng = rng(301);
    let (mut excluded, mut included, mut fractional) = (0, 0, 0);
    for trial in 0..500 {
        let case = varied(&mut rng, 1..=6);
        let all = enumerate(&case);
        let scale = case.null_loss() + all.best;
        case.with_problem(|problem| {
            let solution = solve(problem, &Options::default()).unwrap();
            let c = solution.certificate;
            holds(c, solution.status, all.best, scale, &trial);
            assert_close(problem.objective(&all.coefficients).unwrap(), all.best, 1e-11 * scale, &trial);
            // D by its definition at the library's dual point.
            let defined = dual_value(&case.model(), &case.penalty, &solution.dual);
            assert!(c.lower_bound <= defined + 1e-11 * scale, "{trial}: {} above {defined}", c.lower_bound);
            fractional += usize::from(c.gap() > 1e-6 * scale);
            let mut tau = vec![0.0; case.p];
            problem.design().correlate(&(0..case.p).collect::<Vec<_>>(), &solution.dual, &mut tau).unwrap();
            for j in 0..case.p {
                let coordinate = problem.coordinate(j);
                if in_no_optimal_subset(coordinate, tau[j], c.lower_bound, all.best) {
                    assert!(all.with[j] > all.best, "{trial}: {j} is in the best subset");
                    excluded += 1;
                }
                if in_every_optimal_subset(coordinate, tau[j], c.lower_bound, all.best) {
                    assert!(all.without[j] > all.best, "{trial}: {j} is not needed");
                    included += 1;
                }
            }
        });
    }
    assert!(excluded > 200 && included > 200 && fractional > 50, "{excluded} {included} {fractional}");
}

#[test]
fn exact_answers_equal_enumeration() {
    let mut rng = rng(302);
    let (mut proved, total) = (0, 300);
    for trial in 0..total {
        let case = varied(&mut rng, 1..=8);
        let all = enumerate(&case);
        let scale = case.null_loss() + all.best;
        case.with_problem(|problem| {
            let options = Options { max_nodes: Some(20_000), ..Options::with_method(Method::Exact) };
            let solution = solve(problem, &options).unwrap();
            proved += usize::from(holds(solution.certificate, solution.status, all.best, scale, &trial));
        });
    }
    assert!(proved >= total * 97 / 100, "{proved} of {total}");
}

/// Non-negative problems, every loss: the exact answer is the enumerated one.
#[test]
fn non_negative_problems_equal_enumeration() {
    let mut rng = rng(303);
    let mut bound = 0;
    for trial in 0..120 {
        let shape = Shape { attained: true, certified: true, wild: false, ..Shape::new(6..=16, 2..=8) };
        let mut case = case(&mut rng, &shape);
        case.penalty.bounds = Bounds::All(0.0, f64::INFINITY);
        case.penalty.lambda2 = case.penalty.lambda2.max(0.01);
        let all = enumerate(&case);
        let free = Case { penalty: Penalty { bounds: Bounds::Free, ..case.penalty.clone() }, ..case.clone() };
        bound += usize::from(enumerate(&free).best < all.best * (1.0 - 1e-6));
        case.with_problem(|problem| {
            let solution = solve(problem, &Options::with_method(Method::Exact)).unwrap();
            assert_eq!(solution.status, Status::Optimal, "{trial}");
            assert_close(solution.objective(), all.best, 1e-6 * all.best + 2e-9, &trial);
            assert!(solution.coefficients.values.iter().all(|&b| b >= 0.0), "{trial}");
        });
    }
    assert!(bound > 40, "the bounds matter: {bound}");
}

/// For losses of y − u an offset is the same as other targets; for the others it is a column whose coefficient is one.
#[test]
fn offsets_shift_the_targets() {
    let mut rng = rng(304);
    for trial in 0..100 {
        let mut case = varied(&mut rng, 2..=6);
        if case.loss.is_classification() || case.loss.has_log_link() {
            continue;
        }
        let offset: Vec<f64> = (0..case.n).map(|_| normal(&mut rng)).collect();
        case.offset = Some(offset.clone());
        let mut shifted = case.clone();
        (shifted.offset, shifted.y) = (None, case.y.iter().zip(&offset).map(|(y, o)| y - o).collect());
        let c = random_coefficients(&case, &mut rng, 0.5);
        let measure = |case: &Case| {
            case.with_problem(|problem| {
                let certificate = problem.certify(&c, &[]).unwrap();
                // The best intercept of a Huber loss may be a whole interval, its loss is one number.
                let u = problem.margins(&c).unwrap();
                let b = problem.loss_sum(&u, problem.best_intercept(&u, 0.0));
                (certificate.objective, certificate.lower_bound, b, problem.lambda0_max().unwrap())
            })
        };
        let (a, b) = (measure(&case), measure(&shifted));
        for (a, b) in [(a.0, b.0), (a.2, b.2), (a.3, b.3)] {
            assert_close(a, b, 1e-9 * (a.abs() + b.abs() + 1.0), &trial);
        }
        assert!(a.1 == b.1 || (a.1 - b.1).abs() <= 1e-7 * (a.1.abs() + a.0 + 1.0), "{trial}: {a:?} {b:?}");
    }
}

/// Slightly above λ0_max the fit of the free features is best by enumeration; without free features it is β = 0.
#[test]
fn lambda0_max_with_price_factors() {
    let mut rng = rng(305);
    let (mut free, mut checked) = (0, 0);
    for trial in 0..300 {
        let mut case = varied(&mut rng, 1..=5);
        let all_free = (0..case.p).all(|j| case.penalty.price.at(j) == 0.0);
        let only: Vec<usize> = (0..case.p).filter(|&j| case.penalty.price.at(j) == 0.0).collect();
        let fit = fit(&case, &only);
        let null = Coefficients::from_pairs(only.iter().copied().zip(fit.beta).collect(), fit.intercept);
        let largest = case.with_problem(|problem| problem.lambda0_max_at(&null).unwrap());
        assert!(largest.is_finite() && largest >= 0.0, "{trial}: {largest}");
        if only.is_empty() {
            let plain = case.with_problem(|problem| problem.lambda0_max().unwrap());
            assert_close(plain, largest, 1e-9 * (largest + 1e-9), &trial);
        }
        case.penalty.lambda0 = largest * (1.0 + 1e-6) + 1e-12;
        let all = enumerate(&case);
        let scale = case.null_loss() + all.best;
        assert_close(all.best, fit.value, 1e-9 * scale, &trial);
        (free, checked) = (free + usize::from(!only.is_empty() && !all_free), checked + usize::from(largest > 0.0));
    }
    assert!(free > 50 && checked > 200, "{free} {checked}");
}

/// By hand: two orthonormal columns, prices 1 and 3 times λ0 = 1; a feature is worth ½y²/(1 + 2λ2).
#[test]
fn factors_by_hand() {
    let x = Dense::new(2, 2, vec![1.0, 0.0, 0.0, 1.0]).unwrap();
    let penalty = Penalty::new(1.0, 0.0, 0.5).with_price(vec![1.0, 3.0]);
    let fit = |y: [f64; 2], penalty: &Penalty| {
        let problem = Problem::new(&x, y.to_vec(), penalty.clone()).unwrap();
        solve(&problem, &Options::with_method(Method::Exact)).unwrap()
    };
    // ½·5/2 = 1.25 pays for the first, not for the second; ½·16/2 = 4 pays for both.
    assert_eq!(fit([5f64.sqrt(), 5f64.sqrt()], &penalty).support(), [0]);
    assert_eq!(fit([4.0, 4.0], &penalty).support(), [0, 1]);
    assert_close(fit([4.0, 4.0], &penalty).objective(), 16.0 - 8.0 + 4.0, 1e-9, &());
    let free = Penalty::new(100.0, 0.0, 0.5).always(&[1], 2).unwrap();
    assert_eq!(fit([4.0, 0.1], &free).support(), [1]);
    let never = Penalty::new(0.1, 0.0, 0.5).never(&[0], 2).unwrap();
    assert_eq!(fit([4.0, 4.0], &never).support(), [1]);
    // Unshrunk within bounds: β is the target itself.
    let unshrunk = Penalty::new(1.0, 0.3, 0.5).with_shrinkage(vec![0.0, 1.0]).with_bounds(Bounds::All(-9.0, 9.0));
    let solution = fit([4.0, 4.0], &unshrunk);
    assert_close(solution.coefficients.values[0], 4.0, 1e-9, &());
    assert_close(solution.coefficients.values[1], 3.7 / 2.0, 1e-9, &());
    assert_eq!(price(&penalty, 1), 3.0);
}

#[test]
fn bad_factors_and_lists_are_named() {
    let x = Dense::new(2, 2, vec![1.0, 0.0, 0.0, 1.0]).unwrap();
    let make = |penalty: Penalty| Problem::new(&x, vec![1.0, 2.0], penalty).map(|_| ());
    let plain = Penalty::new(1.0, 0.0, 0.5);
    let factor = |name, feature, value| Err(Error::Factor { name, feature, value });
    assert_eq!(make(plain.clone().with_price(vec![1.0, -2.0])), factor("price", 1, -2.0));
    assert_eq!(make(plain.clone().with_shrinkage(vec![f64::INFINITY, 1.0])), factor("shrinkage", 0, f64::INFINITY));
    let shape = Error::Shape { what: "price", found: 1, expected: 2 };
    assert_eq!(make(plain.clone().with_price(vec![1.0])), Err(shape));
    let far = plain.clone().always(&[0, 2], 2).unwrap_err();
    assert_eq!(far.to_string(), "index 2 at position 1 of the features always in: beyond the last feature");
    let both = plain.clone().always(&[1], 2).unwrap().never(&[1], 2).unwrap_err();
    assert_eq!(
        both.to_string(),
        "index 1 at position 0 of the features never in: it is to be kept out, and it is also always in or has a price factor of 0; \
         drop one of the two"
    );
    assert!(plain.clone().never(&[1], 2).unwrap().always(&[1], 2).is_err());
    let free = plain.clone().with_price(vec![1.0, 0.0]).never(&[1], 2).unwrap_err();
    assert_eq!(free, both, "a price of 0 is what makes a feature always in");
    let problem = || Problem::new(&x, vec![1.0, 2.0], plain.clone()).unwrap();
    let offset = problem().with_offset(vec![0.0]).map(|_| ()).unwrap_err();
    assert_eq!(offset, Error::Shape { what: "offset", found: 1, expected: 2 });
    let offset = problem().with_offset(vec![0.0, f64::NAN]).map(|_| ()).unwrap_err();
    assert!(matches!(offset, Error::NonFinite { what: "offset", index: 1, .. }));
}

/// Penalties written before there were factors are read as ones without.
#[test]
fn factors_default_to_one_in_files() {
    let old = r#"{"lambda0":1.0,"lambda1":0.0,"lambda2":0.5,"bounds":"Free"}"#;
    let penalty: Penalty = serde_json::from_str(old).unwrap();
    assert_eq!(penalty, Penalty::new(1.0, 0.0, 0.5));
    assert_eq!((penalty.price, penalty.shrinkage), (Factors::One, Factors::One));
    assert!(Loss::Squared.is_quadratic());
}
