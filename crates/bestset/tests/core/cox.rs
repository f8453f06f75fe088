//! The partial likelihood (MATH 15.5–15.11) against its definition: value, slopes, curvature, conjugate, bounds and answers.

use crate::common::{assert_close, normal, rng, share, survival_case};
use bestset::design::Dense;
use bestset::{
    Coefficients, CoupledLoss, Error, KaplanMeier, Method, Options, Penalty, Problem, Status, Survival, Ties, solve,
};
use rand::RngExt;

fn loss<'p>(problem: &'p Problem<'_>) -> &'p dyn CoupledLoss {
    problem.coupled().unwrap()
}

#[test]
fn value_and_slopes_are_those_of_the_definition() {
    let mut rng = rng(2101);
    for trial in 0..300 {
        let case = survival_case(&mut rng, 4 + trial % 17, 2, false);
        let design = case.design();
        let problem = case.problem(&design);
        let u: Vec<f64> = (0..case.n).map(|_| 3.0 * normal(&mut rng)).collect();
        let ((value, slope), mut alpha) = (case.loss(&u), vec![0.0; case.n]);
        loss(&problem).gradient(&u, &mut alpha);
        assert_close(loss(&problem).value(&u), value, 1e-11 * (1.0 + value.abs()), &trial);
        alpha.iter().zip(&slope).for_each(|(a, b)| assert_close(*a, *b, 1e-11, &trial));
        // A constant is not seen.
        let moved: Vec<f64> = u.iter().map(|u| u + 1.5).collect();
        assert_close(loss(&problem).value(&moved), value, 1e-11 * (1.0 + value.abs()), &trial);
    }
}

#[test]
fn the_curvature_is_the_change_of_the_slopes_and_no_more_than_its_bound() {
    let mut rng = rng(2102);
    for trial in 0..100 {
        let case = survival_case(&mut rng, 5 + trial % 13, 2, false);
        let design = case.design();
        let problem = case.problem(&design);
        let u: Vec<f64> = (0..case.n).map(|_| normal(&mut rng)).collect();
        let v: Vec<f64> = (0..case.n).map(|_| normal(&mut rng)).collect();
        let curvature = loss(&problem).curvature(&u);
        let mut image = vec![0.0; curvature.rank()];
        curvature.factor(&v, &mut image);
        let along = |h: f64| -> f64 {
            let moved: Vec<f64> = u.iter().zip(&v).map(|(u, v)| u + h * v).collect();
            case.loss(&moved).1.iter().zip(&v).map(|(a, v)| a * v).sum()
        };
        let numeric = (along(1e-5) - along(-1e-5)) / 2e-5;
        let diagonal: f64 = curvature.diagonal().iter().zip(&v).map(|(h, v)| h * v * v).sum();
        let exact = diagonal - image.iter().map(|x| x * x).sum::<f64>();
        assert_close(exact, numeric, 1e-6 * (1.0 + numeric.abs()), &trial);
        assert!(exact <= loss(&problem).steepest(&v) * (1.0 + 1e-12), "{trial}");
        let mut product = v.clone();
        curvature.multiply(&mut product);
        let again: f64 = product.iter().zip(&v).map(|(a, b)| a * b).sum();
        assert_close(again, exact, 1e-10 * (1.0 + exact.abs()), &trial);
    }
}

/// Weights below one make a likelihood above one: L is still no negative number (MATH 15.15), which bounds rest on, and comes as near to
/// zero as one likes where every event outweighs those who live on.
#[test]
fn the_loss_is_not_negative() {
    let mut rng = rng(2110);
    let mut nearest = f64::INFINITY;
    for trial in 0..300 {
        let mut case = survival_case(&mut rng, 4 + trial % 17, 2, false);
        case.weights = Some((0..case.n).map(|_| 0.05 + 0.4 * rng.random::<f64>()).collect());
        let design = case.design();
        let problem = case.problem(&design);
        let scale = if trial % 2 == 0 { 30.0 } else { 1.0 };
        let u: Vec<f64> = case.times.time.iter().map(|t| -scale * t).collect();
        let value = loss(&problem).value(&u);
        assert!(value >= 0.0, "{trial}: {value}");
        nearest = nearest.min(value);
        let found = solve(&problem, &Options::with_method(Method::Exact)).unwrap();
        assert!(found.certificate.lower_bound <= case.best() + 1e-9, "{trial}");
        assert_close(found.objective(), case.best(), 1e-6 * (1.0 + case.best()), &trial);
    }
    assert!(nearest < 1e-3, "{nearest}");
}

/// αᵀu − L(u) over many u is never above the conjugate, and reaches it where α = ∇L(u).
#[test]
fn the_conjugate_is_the_supremum() {
    let mut rng = rng(2103);
    let (mut exact, mut blended) = (0, 0);
    for trial in 0..400 {
        let case = survival_case(&mut rng, 4 + trial % 29, 2, false);
        let design = case.design();
        let problem = case.problem(&design);
        let coupled = loss(&problem);
        let spread = [0.5, 2.0, 6.0][trial % 3];
        let mut point = || -> (Vec<f64>, Vec<f64>) {
            let u: Vec<f64> = (0..case.n).map(|_| spread * normal(&mut rng)).collect();
            let mut alpha = vec![0.0; case.n];
            coupled.gradient(&u, &mut alpha);
            (u, alpha)
        };
        let ((u, alpha), (_, other)) = (point(), point());
        let supremum = alpha.iter().zip(&u).map(|(a, u)| a * u).sum::<f64>() - case.loss(&u).0;
        let found = coupled.conjugate(&alpha).expect("a gradient lies in the domain");
        assert!(found.moved < 1e-7, "{trial}: {}", found.moved);
        assert_close(found.value, supremum, 1e-7 * (1.0 + found.size), &trial);
        exact += usize::from(found.moved < 1e-10);
        let blend: Vec<f64> = alpha.iter().zip(&other).map(|(a, b)| 0.3 * a + 0.7 * b).collect();
        let Some(found) = coupled.conjugate(&blend) else { panic!("{trial}: a blend lies in the domain") };
        let slack = found.moved * found.reach.iter().sum::<f64>() * 60.0 + 1e-12 * found.size;
        for _ in 0..40 {
            let u: Vec<f64> = (0..case.n).map(|_| spread * normal(&mut rng)).collect();
            let value = blend.iter().zip(&u).map(|(a, u)| a * u).sum::<f64>() - case.loss(&u).0;
            assert!(value <= found.value + slack, "{trial}: {value} {}", found.value);
        }
        blended += 1;
    }
    assert!(exact > 380 && blended == 400, "{exact}");
}

/// Any point is taken into the domain, and its bound is below P of any coefficients.
#[test]
fn weak_duality_at_random_dual_points() {
    let mut rng = rng(2104);
    let (mut finite, total) = (0, share(300));
    for trial in 0..total {
        let case = survival_case(&mut rng, 3 + trial % 25, 3, trial % 2 == 0);
        let design = case.design();
        let problem = case.problem(&design);
        let least = case.best();
        for _ in 0..4 {
            let alpha: Vec<f64> = (0..case.n).map(|_| normal(&mut rng) * rng.random::<f64>()).collect();
            let bound = problem.lower_bound(&alpha).unwrap();
            assert!(bound <= least + 1e-12 * least.abs(), "{trial}: {bound} > {least}");
            finite += usize::from(bound.is_finite());
        }
    }
    assert!(12 * finite > 44 * total, "{finite}");
}

#[test]
fn answers_equal_enumeration() {
    let mut rng = rng(2105);
    let (mut proved, total) = (0, share(200));
    for trial in 0..total {
        let case = survival_case(&mut rng, 6 + trial % 25, 1 + trial % 6, trial % 3 == 0);
        let design = case.design();
        let (problem, best) = (case.problem(&design), case.best());
        let room = 1e-9 * (1.0 + best.abs());
        for method in [Method::Incremental, Method::Exact] {
            let found = solve(&problem, &Options { method, ..Options::default() }).unwrap();
            let certificate = found.certificate;
            assert!(certificate.objective >= best - room, "{trial}: {} {best}", certificate.objective);
            assert!(certificate.lower_bound <= best + room, "{trial}: {} > {best}", certificate.lower_bound);
            if found.status == Status::Optimal {
                assert_close(certificate.objective, best, 1e-6 * (1.0 + best.abs()), &trial);
                proved += usize::from(method == Method::Exact);
            }
        }
    }
    assert!(proved >= total - total / 40, "{proved}");
}

#[test]
fn a_fit_on_a_support_is_that_of_the_definition() {
    let mut rng = rng(2106);
    for trial in 0..100 {
        let mut case = survival_case(&mut rng, 15 + trial % 20, 3, false);
        case.penalty.lambda0 = 0.0;
        let design = case.design();
        let problem = case.problem(&design);
        let found = solve(&problem, &Options::default()).unwrap();
        let (value, beta) = case.fit(&[0, 1, 2]);
        assert_close(found.objective(), value, 1e-9 * (1.0 + value.abs()), &trial);
        let own = found.coefficients.to_dense(3);
        own.iter().zip(&beta).for_each(|(a, b)| assert_close(*a, *b, 1e-4 * (1.0 + b.abs()), &trial));
    }
}

#[test]
fn bad_times_are_named() {
    let x = Dense::new(3, 1, vec![1.0, 2.0, 3.0]).unwrap();
    let problem = || Problem::new(&x, vec![1.0, 2.0, 3.0], Penalty::new(0.1, 0.0, 0.1)).unwrap();
    let times = Survival::new(vec![1.0, 2.0, 3.0], vec![true, false, true]);
    let fails = |times: Survival| problem().with_survival(times, Ties::Efron).err().unwrap();
    let none = fails(Survival { event: vec![false; 3], ..times.clone() });
    assert_eq!(none, Error::NoEvents { samples: 3 });
    assert_eq!(fails(Survival { time: vec![1.0, -2.0, 3.0], ..times.clone() }), Error::Time { index: 1, value: -2.0 });
    let late = fails(Survival { entry: Some(vec![0.0, 2.0, 0.0]), ..times.clone() });
    assert_eq!(late, Error::Entry { index: 1, entry: 2.0, time: 2.0 });
    assert!(matches!(fails(Survival { event: vec![true; 2], ..times.clone() }), Error::Shape { what: "event", .. }));
    // A fold without events, a time of zero, and one event only.
    let posed = problem().with_survival(times.clone(), Ties::Efron).unwrap();
    assert!(matches!(posed.with_weights(vec![0.0, 1.0, 0.0]), Err(Error::NoEvents { .. })));
    let zero = Survival { time: vec![0.0, 2.0, 3.0], event: vec![true, false, false], ..times };
    let posed = problem().with_survival(zero, Ties::Breslow).unwrap();
    let found = solve(&posed, &Options { method: Method::Exact, ..Options::default() }).unwrap();
    assert!(found.certificate.lower_bound <= found.objective() && found.objective().is_finite());
    assert!(posed.objective(&Coefficients::default()).unwrap() >= found.objective());
}

/// Kaplan and Meier's estimate of its definition (MATH 15.16), sample by sample at every time; groups are of equal size, and what the model says of
/// them is the mean of its curves (MATH 15.17).
#[test]
fn survival_of_groups_is_that_of_the_definition() {
    let mut rng = rng(2111);
    let mut grouped = 0;
    for trial in 0..200 {
        let case = survival_case(&mut rng, 6 + trial % 25, 2, false);
        let design = case.design();
        let problem = case.problem(&design);
        let (times, weights) = (&case.times, case.weights.as_deref());
        let rows: Vec<usize> = (0..case.n).filter(|i| i % 5 != 3).collect();
        let found = KaplanMeier::new(times, weights, &rows);
        let entry = |i: usize| times.entry.as_ref().map_or(f64::NEG_INFINITY, |e| e[i]);
        let (mut left, mut sum) = (1.0, 0.0);
        for (k, &t) in found.times.iter().enumerate() {
            let of =
                |is: &dyn Fn(usize) -> bool| -> f64 { rows.iter().filter(|&&i| is(i)).map(|&i| case.weight(i)).sum() };
            let at_risk = of(&|i| entry(i) < t && times.time[i] >= t);
            let died = of(&|i| times.event[i] && times.time[i] == t);
            assert!(died > 0.0, "{trial}: nobody dies at {t}");
            left *= 1.0 - died / at_risk;
            sum += died / (at_risk * (at_risk - died));
            assert_close(found.survival[k], left, 1e-9, &trial);
            // Once the last at risk has died there is no error, and those who enter later change nothing.
            let (error, is_over) = (left * f64::sqrt(sum), left < 1e-12);
            let is_right = (found.error[k] - error).abs() <= 1e-9 * (1.0 + error);
            assert!(
                if is_over { found.error[k].is_nan() } else { is_right },
                "{trial}: {} not {error}",
                found.error[k]
            );
            assert!(found.at(t) == found.survival[k] && (is_over || found.at(t - 1e-9) > found.survival[k]), "{trial}");
        }
        let expected = rows.iter().filter(|&&i| times.event[i] && case.weight(i) > 0.0);
        assert!(expected.clone().all(|&i| found.times.contains(&times.time[i])), "{trial}: an event is missing");
        assert_eq!(found.times.is_empty(), expected.count() == 0);

        let u: Vec<f64> = (0..case.n).map(|_| f64::from(rng.random_range(0..9u8))).collect();
        let baseline = loss(&problem).baseline(&u).unwrap();
        let groups = loss(&problem).risk_groups(&baseline, &u, &rows, 3);
        let there = rows.iter().filter(|&&i| case.weight(i) > 0.0).count();
        assert_eq!(groups.iter().map(|g| g.rows.len()).sum::<usize>(), there, "{trial}");
        assert!(groups.windows(2).all(|g| g[0].range.1 < g[1].range.0), "{trial}: equal risks are apart");
        for group in &groups {
            let own = KaplanMeier::new(times, weights, &group.rows);
            assert_eq!((&group.observed.times, &group.observed.survival), (&own.times, &own.survival), "{trial}");
            let last = group.times.len() - 1;
            let (mut mean, mut total) = (0.0, 0.0);
            for &i in &group.rows {
                let Ok(curve) = baseline.curve(times.strata.as_ref().map(|s| s[i])) else { continue };
                mean += case.weight(i) * baseline.survival(curve, u[i], group.times[last]);
                total += case.weight(i);
            }
            assert!(total == 0.0 || (group.predicted[last] - mean / total).abs() < 1e-12, "{trial}");
            let at_risk = group.rows.iter().filter(|&&i| entry(i) < 2.0 && times.time[i] >= 2.0).count();
            assert_eq!(group.at_risk(times, 2.0), at_risk, "{trial}");
        }
        grouped += usize::from(groups.len() == 3);
    }
    assert!(grouped > 100, "{grouped} with three groups");
}

/// u far beyond what e^u can hold, in order or not: risk sets of late events are no less there than those of early ones.
#[test]
fn far_linear_predictors_are_those_of_the_definition() {
    let mut rng = rng(2112);
    let (mut far, mut apart) = (0, 0);
    for trial in 0..400 {
        let case = survival_case(&mut rng, 4 + trial % 37, 2, false);
        let design = case.design();
        let problem = case.problem(&design);
        let spread = [20.0, 200.0, 700.0, 2000.0][trial % 4];
        let order = |i: usize| if trial % 3 == 0 { -spread * case.times.time[i].min(9.0) / 9.0 } else { 0.0 };
        let u: Vec<f64> = (0..case.n).map(|i| order(i) + spread * (2.0 * rng.random::<f64>() - 1.0)).collect();
        let ((value, slope), mut alpha) = (case.loss(&u), vec![0.0; case.n]);
        loss(&problem).gradient(&u, &mut alpha);
        let room = 1e-12 * (1.0 + loss(&problem).size(&u, &vec![0.0; case.n]));
        assert_close(loss(&problem).value(&u), value, room + 1e-13 * spread * case.n as f64, &trial);
        // A difference of large numbers has lost digits before e^u is taken of it.
        let digits = 1e-12 + 1e-15 * spread;
        let weight = |i: usize| 10.0 * case.n as f64 * case.weight(i).max(1.0);
        (0..case.n).for_each(|i| assert_close(alpha[i], slope[i], digits * weight(i), &(trial, i)));
        // The last digits of c_i count where it is small, as far as shifts allow (15.18).
        for i in (0..case.n).filter(|&i| !case.times.event[i] && slope[i] > 1e-60) {
            assert_close(alpha[i] / slope[i], 1.0, 1e-10, &(trial, i));
            far += usize::from(slope[i] < 1e-20);
        }
        let v: Vec<f64> = (0..case.n).map(|_| normal(&mut rng)).collect();
        let curvature = loss(&problem).curvature(&u);
        let mut image = vec![0.0; curvature.rank()];
        curvature.factor(&v, &mut image);
        let (mut product, exact) = (v.clone(), case.curvature_along(&u, &v));
        curvature.multiply(&mut product);
        let diagonal: f64 = curvature.diagonal().iter().zip(&v).map(|(h, v)| h * v * v).sum();
        let room = 1e-10 * (1.0 + diagonal);
        assert_close(diagonal - image.iter().map(|x| x * x).sum::<f64>(), exact, room, &trial);
        assert_close(product.iter().zip(&v).map(|(a, b)| a * b).sum::<f64>(), exact, room, &trial);
        // Fenchel and Young: an equality at the gradient, where there is a decomposition of it.
        if let Some(found) = loss(&problem).conjugate(&alpha) {
            let supremum = alpha.iter().zip(&u).map(|(a, u)| a * u).sum::<f64>() - value;
            let moved = found.moved * found.reach.iter().map(|r| r * 2.0 * spread).sum::<f64>();
            assert!(supremum <= found.value + moved + room + 1e-12 * (found.size + spread * case.n as f64), "{trial}");
            apart += usize::from(found.moved < 1e-6);
        }
        let curves = loss(&problem).baseline(&u).unwrap();
        assert!(curves.strata.iter().all(|s| s.hazards.windows(2).all(|h| h[0] <= h[1])), "{trial}");
    }
    assert!(far > 100 && apart > 380, "{far} {apart}");
}

/// Events in the order of a column, next to no ridge: the fit goes as far as the ridge lets it, with a bound.
#[test]
fn events_in_order_have_a_bound() {
    let mut rng = rng(2113);
    for trial in 0..24 {
        let mut case = survival_case(&mut rng, 30, 2, false);
        case.times = Survival::new((0..case.n).map(|i| (-case.x[i]).exp()).collect(), vec![true; case.n]);
        (case.weights, case.offset) = (None, None);
        case.penalty = Penalty::new(0.1, 0.0, [1e-2, 1e-4, 1e-6][trial % 3]);
        let design = case.design();
        let problem = case.problem(&design);
        let found = solve(&problem, &Options::with_method(Method::Exact)).unwrap();
        let (certificate, one) = (found.certificate, case.fit(&[0]).0 + 0.1);
        assert!(certificate.objective <= one * (1.0 + 1e-6), "{trial}: {certificate:?} {one}");
        assert!(certificate.lower_bound > 0.9 * certificate.objective, "{trial}: {certificate:?} {one}");
        assert!(certificate.lower_bound <= one * (1.0 + 1e-9), "{trial}: {certificate:?} {one}");
    }
}
