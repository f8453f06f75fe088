//! The bounds against the fit on every subset.

mod elsewhere;

use super::discs::Weights;
use super::*;
use crate::common::{Case, ChaCha8Rng, Convex, RngExt, Tally, hostile, normal, pick, power, rng, seeds, subset_costs};
use crate::control::Monitor;
use crate::design::Dense;
use crate::penalty::Penalty;
use crate::{Loss, Options};

/// (cost, features outside the support) of every subset.
fn costs(case: &Case, support: &[usize]) -> Vec<(f64, usize)> {
    let added = |mask: usize| (0..case.p).filter(|j| mask >> j & 1 == 1 && !support.contains(j)).count();
    subset_costs(&case.model(), &case.penalty).into_iter().enumerate().map(|(mask, cost)| (cost, added(mask))).collect()
}

/// Nearly orthogonal columns, where there is something to prove; no ridge half of the time.
fn incoherent(rng: &mut ChaCha8Rng) -> Case {
    let p = rng.random_range(2..=8);
    let n = rng.random_range(p + 3..=20 * p);
    let scale: Vec<f64> = (0..p).map(|_| power(rng, -3.0, 3.0)).collect();
    let mut x: Vec<f64> = (0..n * p).map(|i| normal(rng) * scale[i / n]).collect();
    let lambda2 = if rng.random_bool(0.5) { 0.0 } else { power(rng, -4.0, 0.0) };
    // A copy, or nearly one; without a ridge the reference needs something to tell them by.
    if rng.random_bool(0.2) {
        let near = scale[0] * if lambda2 > 0.0 { pick(rng, &[0.0, 1e-9, 0.01]) } else { 0.3 };
        (0..n).for_each(|i| x[n + i] = x[i] + near * normal(rng));
    }
    let signal = |i: usize| (0..p / 2).map(|j| x[j * n + i] / scale[j]).sum::<f64>();
    let y: Vec<f64> = (0..n).map(|i| signal(i) + 0.5 * normal(rng)).collect();
    let lambda1 = if rng.random_bool(0.7) { 0.0 } else { power(rng, -2.0, 0.0) };
    let mut case = Case::dense(n, p, x, y, Penalty::new(n as f64 * power(rng, -3.0, -0.5), lambda1, lambda2));
    case.intercept = rng.random_bool(0.5);
    case
}

/// A column that is next to nothing, and costs nothing: its penalty in units of its length is no number.
#[test]
fn columns_of_next_to_nothing_prove_nothing() {
    let mut rng = rng(77);
    let (n, p) = (30, 12);
    let common: Vec<f64> = (0..n).map(|_| normal(&mut rng)).collect();
    let mut x: Vec<f64> = (0..n * p).map(|i| common[i % n] + 0.3 * normal(&mut rng)).collect();
    x[..n].iter_mut().for_each(|x| *x *= 1e-160);
    let y: Vec<f64> = (0..n).map(|i| x[n + i] - x[2 * n + i] + 0.3 * normal(&mut rng)).collect();
    let design = crate::design::Dense::new(n, p, x).unwrap();
    let price = (0..p).map(|j| if j == 0 { 0.0 } else { 1.0 }).collect();
    let penalty = Penalty::new(0.02, 0.0, 0.003).with_price(price);
    let problem = Problem::new(&design, y, penalty).unwrap();
    let mut silent = ();
    let monitor = Monitor::new(&Options::default(), &mut silent);
    let point = Coefficients::from_pairs(vec![(0, 1.0), (5, 0.3)], 0.0);
    let best = problem.value(&point).unwrap();
    let found = bounds(&problem, &point, (best, f64::INFINITY), &monitor).unwrap();
    assert!(found.is_none_or(|f| f.bound() < best), "a bound made of what is no number");
    let options = Options { method: crate::Method::Exact, ..Options::default() };
    let proved = crate::solve(&problem, &options).unwrap();
    let others = Options { max_nodes: Some(1), ..options };
    let cut = crate::solve(&problem, &others).unwrap();
    assert!(cut.certificate.lower_bound <= proved.objective() * (1.0 + 1e-9));
}

/// What coherence does not reach is bounded by what it costs.
#[test]
fn features_beyond_reach_cost_what_they_cost() {
    let (by_added, costs) = (vec![8.0, 9.0], vec![0.0, 2.0, 4.0]);
    let found = Coherent { by_added, costs, is_complete: false };
    assert_eq!((found.bound(), found.closes(8.5), found.closes(7.0)), (4.0, 0, 2));
    assert_eq!(Coherent { is_complete: true, ..found.clone() }.bound(), 8.0);
    // The bound of few added features is low: so many are better bounded by what they cost.
    assert_eq!(Coherent { by_added: vec![8.0, 3.0], costs: vec![0.0, 5.0, 6.0], is_complete: true }.bound(), 5.0);
}

#[test]
fn no_subset_is_below_its_bound() {
    let (mut tally, seeds) = (Tally::default(), seeds(600));
    for seed in seeds.clone() {
        tally.add("problems", 1);
        let mut rng = rng(seed);
        let case = if seed % 3 == 0 { hostile(&mut rng, &[Loss::Squared], 7) } else { incoherent(&mut rng) };
        let design = crate::design::Dense::new(case.n, case.p, case.x.clone()).unwrap();
        let problem = case.problem(&design);
        // The fit on the best subset or on any other, stationary or moved from there.
        let any: Vec<usize> = (0..case.p).filter(|_| rng.random_bool(0.4)).collect();
        let support = if rng.random_bool(0.5) { any } else { crate::common::enumerate(&case).coefficients.support };
        let penalties: Vec<Convex> = support.iter().map(|&j| Convex::selected(&case.penalty, j)).collect();
        let fit = case.model().minimise(&support, &penalties);
        let moved = if rng.random_bool(0.3) { 1.0 + 0.1 * normal(&mut rng) } else { 1.0 };
        let pairs = support.iter().copied().zip(fit.beta.iter().map(|b| b * moved)).collect();
        let point = Coefficients::from_pairs(pairs, fit.intercept);
        let mut silent = ();
        let monitor = Monitor::new(&Options::default(), &mut silent);
        let all = costs(&case, &point.support);
        let optimum = all.iter().map(|c| c.0).fold(f64::INFINITY, f64::min);
        for best in [f64::INFINITY, optimum * (1.0 + 1e-6) + f64::MIN_POSITIVE] {
            let Some(found) = bounds(&problem, &point, (best, f64::INFINITY), &monitor).unwrap() else { continue };
            for (m, bound) in found.by_added.iter().enumerate() {
                let least = all.iter().filter(|c| c.1 == m && c.0 < best).map(|c| c.0).fold(f64::INFINITY, f64::min);
                assert!(*bound <= least * (1.0 + 1e-9) + 1e-300, "{seed}: {m} added, {bound} above {least}");
            }
            tally.add("bounds", found.by_added.len() + 1);
            let bound = found.bound().min(best);
            assert!(bound <= optimum * (1.0 + 2e-6), "{seed}: {bound} above {optimum}");
            tally.add("proved", u64::from(best < f64::INFINITY && found.bound() >= optimum * (1.0 - 1e-9)));
        }
    }
    tally.conclude("coherence", &seeds, &[("proved", 100, "problems")]);
}

/// No subset of at most K features and none that adds at most m is below the target (MATH 13.7): against all of them.
#[test]
fn what_is_reached_is_closed() {
    let (mut sized, mut added) = (0, 0);
    for seed in 0..600 {
        let mut rng = rng(4_000 + seed);
        let case = if seed % 3 == 0 { hostile(&mut rng, &[Loss::Squared], 7) } else { incoherent(&mut rng) };
        let design = Dense::new(case.n, case.p, case.x.clone()).unwrap();
        let problem = case.problem(&design);
        let problem = match rng.random_bool(0.3) {
            true => problem.with_max_size(rng.random_range(1..=case.p)).unwrap(),
            false => problem,
        };
        let support: Vec<usize> = (0..case.p).filter(|_| rng.random_bool(0.4)).collect();
        let penalties: Vec<Convex> = support.iter().map(|&j| Convex::selected(&case.penalty, j)).collect();
        let fit = case.model().minimise(&support, &penalties);
        let point = Coefficients::from_pairs(support.iter().copied().zip(fit.beta).collect(), fit.intercept);
        let best = problem.value(&point).unwrap();
        let target = best * (1.0 - 1e-6);
        let (mut silent, options) = ((), Options::default());
        let monitor = Monitor::new(&options, &mut silent);
        let Some(look) = Look::new(&problem, &point).unwrap() else { continue };
        let Some((within, most)) = look.reach((best, target), &monitor).unwrap() else { continue };
        let limit = problem.max_size().unwrap_or(case.p);
        for (mask, (cost, more)) in costs(&case, &point.support).into_iter().enumerate() {
            let size = mask.count_ones() as usize;
            let is_closed = within.is_some_and(|k| size <= k) || (size <= limit && most.is_some_and(|m| more <= m));
            assert!(
                !is_closed || cost >= target * (1.0 - 1e-9),
                "{seed}: {size} features, {more} added: {cost}, {best}"
            );
        }
        sized += usize::from(within.is_some_and(|k| k > 0 && k < case.p));
        added += usize::from(most.is_some_and(|m| m > 0));
    }
    assert!(sized > 40 && added > 20, "{sized} sizes, {added} additions");
}

/// Columns that correlate with the one before, in blocks or along a chain; no ridge half of the time.
fn linked(rng: &mut ChaCha8Rng) -> Case {
    let p = rng.random_range(4..=9);
    let n = rng.random_range(p + 3..=40 * p);
    let (rho, block) = (pick(rng, &[0.3, 0.6, 0.9f64]), pick(rng, &[2, 3, 9]));
    let mut x: Vec<f64> = (0..n * p).map(|_| normal(rng)).collect();
    for k in n..n * p {
        if k / n % block > 0 {
            x[k] = rho * x[k - n] + (1.0 - rho * rho).sqrt() * x[k];
        }
    }
    let y: Vec<f64> = (0..n).map(|i| x[i] - x[(p - 1) * n + i] + 0.5 * normal(rng)).collect();
    let scale: Vec<f64> = (0..p).map(|_| power(rng, -6.0, 6.0)).collect();
    (0..n * p).for_each(|k| x[k] *= scale[k / n]);
    let lambda2 = if rng.random_bool(0.5) { 0.0 } else { power(rng, -4.0, 0.0) };
    let mut case = Case::dense(n, p, x, y, Penalty::new(n as f64 * power(rng, -3.0, -0.5), 0.0, lambda2));
    case.intercept = rng.random_bool(0.5);
    case
}

/// Q̃_JJ − diag(d^m) has no negative eigenvalue for any J of m features, whatever sizes of clusters were looked at, and the bounds
/// made of it are below the fits on all subsets.
#[test]
fn clusters_leave_no_more_than_there_is() {
    let (mut more, mut looked) = (0, 0);
    for seed in 0..240 {
        let mut rng = rng(9000 + seed);
        let case = if seed % 4 == 0 { hostile(&mut rng, &[Loss::Squared], 7) } else { linked(&mut rng) };
        let design = Dense::new(case.n, case.p, case.x.clone()).unwrap();
        let problem = case.problem(&design);
        let support: Vec<usize> = (0..case.p).filter(|_| rng.random_bool(0.2)).collect();
        let penalties: Vec<Convex> = support.iter().map(|&j| Convex::selected(&case.penalty, j)).collect();
        let fit = case.model().minimise(&support, &penalties);
        let pairs = support.iter().copied().zip(fit.beta.iter().copied()).collect();
        let point = Coefficients::from_pairs(pairs, fit.intercept);
        let (frame, mut silent) = (Frame::new(&problem), ());
        let monitor = Monitor::new(&Options::default(), &mut silent);
        let Some(around) = Around::new(&problem, &frame, &point).unwrap() else { continue };
        let delta = 0.25 * around.least;
        let Some(outside) = Outside::new(&problem, &frame, &around, delta).unwrap() else { continue };
        let rows = Curvatures::new(&problem, outside, &monitor).unwrap().unwrap();
        let Some(terms) = Terms::new(&problem, &around, &rows.outside, delta) else { continue };
        let (all, mut clusters) = (costs(&case, &point.support), Clusters::new(&rows).unwrap());
        loop {
            let left = clusters.left(false);
            are_left(&rows, &left, seed);
            for (m, bound) in terms.bounds(&problem, f64::INFINITY, &left).by_added.iter().enumerate() {
                let least = all.iter().filter(|c| c.1 == m).map(|c| c.0).fold(f64::INFINITY, f64::min);
                assert!(*bound <= least * (1.0 + 1e-9) + 1e-300, "{seed}: {m} added, {bound} above {least}");
            }
            looked += 1;
            if !clusters.grow(&monitor) {
                let count = rows.rows.len();
                let is_more = |m: usize| (0..count).any(|j| left.at(j, m) > 0.01 + rows.plain.at(j, m).max(0.0));
                more += usize::from((1..=count.min(5)).any(is_more));
                break;
            }
        }
    }
    assert!(looked > 500 && more > 100, "{more} with more than single entries leave, {looked} looked at");
}

/// No matrix of m features has less curvature than is said to be left.
fn are_left(rows: &Curvatures, left: &Left, seed: u64) {
    let count = rows.rows.len();
    for mask in 1usize..1 << count {
        let members: Vec<usize> = (0..count).filter(|j| mask >> j & 1 == 1).collect();
        let m = members.len();
        let entry = |a: usize, b: usize| {
            let value = rows.entry(members[a.max(b)] as u32, members[a.min(b)] as u32);
            if a == b { value - left.at(members[a], m) } else { value }
        };
        let values = Mat::from_fn(m, m, entry).self_adjoint_eigenvalues(Side::Lower).unwrap();
        let least = values.into_iter().fold(f64::INFINITY, f64::min);
        assert!(least > -1e-12, "{seed}: {least:e} is left to {members:?}");
    }
}

/// Five features among two hundred along a chain, no ridge: single entries leave nothing beside four others, clusters do.
#[test]
fn correlated_columns_are_closed_by_clusters() {
    let (mut rng, n, p, k) = (rng(5), 1000, 200, 5);
    let mut x: Vec<f64> = (0..n * p).map(|_| normal(&mut rng)).collect();
    (n..n * p).for_each(|i| x[i] = 0.5 * x[i - n] + 0.75f64.sqrt() * x[i]);
    let support: Vec<usize> = (0..k).map(|j| 17 + 37 * j).collect();
    let signal = |i: usize| support.iter().map(|j| x[j * n + i]).sum::<f64>();
    let y: Vec<f64> = (0..n).map(|i| signal(i) + normal(&mut rng)).collect();
    let case = Case::dense(n, p, x, y, Penalty::new(0.0, 0.0, 0.0));
    let design = Dense::new(n, p, case.x.clone()).unwrap();
    let problem = case.problem(&design).with_max_size(k).unwrap();
    let penalties: Vec<Convex> = support.iter().map(|&j| Convex::selected(&case.penalty, j)).collect();
    let fit = case.model().minimise(&support, &penalties);
    let point = Coefficients::from_pairs(support.into_iter().zip(fit.beta).collect(), fit.intercept);
    let (best, mut silent) = (problem.value(&point).unwrap(), ());
    let monitor = Monitor::new(&Options::default(), &mut silent);
    let frame = Frame::new(&problem);
    let around = Around::new(&problem, &frame, &point).unwrap().unwrap();
    let target = best * (1.0 - 1e-6);
    let of_plain = |share: f64| {
        let outside = Outside::new(&problem, &frame, &around, share * around.least).unwrap().unwrap();
        let rows = Curvatures::new(&problem, outside, &monitor).unwrap().unwrap();
        let terms = Terms::new(&problem, &around, &rows.outside, share * around.least).unwrap();
        terms.bounds(&problem, best, &rows.plain).closes(target)
    };
    assert!(SHARES.into_iter().all(|share| of_plain(share) < k));
    let found = bounds(&problem, &point, (best, target), &monitor).unwrap().unwrap();
    assert!(found.bound() >= target, "{found:?}");
}

/// More features than a row lists: what is not listed is counted all the same, and links that one of the two does not list are links.
#[test]
fn what_is_between_clusters_is_counted_in_full() {
    let (mut rng, n, p) = (rng(6), 1000, 60);
    let mut x: Vec<f64> = (0..n * p).map(|_| normal(&mut rng)).collect();
    // Forty columns correlate with the first, more than its row lists.
    (n..41 * n).for_each(|k| x[k] += 0.5 * x[k % n]);
    let y: Vec<f64> = (0..n).map(|_| normal(&mut rng)).collect();
    let case = Case::dense(n, p, x, y, Penalty::new(0.0, 0.0, 0.1));
    let design = Dense::new(n, p, case.x.clone()).unwrap();
    let problem = case.problem(&design);
    let (frame, mut silent) = (Frame::new(&problem), ());
    let monitor = Monitor::new(&Options::default(), &mut silent);
    let around = Around::new(&problem, &frame, &Coefficients::default()).unwrap().unwrap();
    let rows = Curvatures::new(&problem, Outside::new(&problem, &frame, &around, 0.5).unwrap().unwrap(), &monitor)
        .unwrap()
        .unwrap();
    let clusters = Clusters::new(&rows).unwrap();
    for j in 0..p {
        let others = (0..p).filter(|&k| k != j && !clusters.are_linked(j, k));
        let mut sizes: Vec<f64> = others.map(|k| rows.entry(j as u32, k as u32).abs()).collect();
        sizes.sort_unstable_by(|a, b| b.total_cmp(a));
        for i in 0..=31 {
            let sum: f64 = sizes.iter().take(i).sum();
            assert!(clusters.between(j, i) >= sum, "{j}, {i}: {} for {sum}", clusters.between(j, i));
        }
        assert!((0..p).all(|k| clusters.are_linked(j, k) == clusters.are_linked(k, j)));
    }
    assert!((1..41).all(|k| clusters.are_linked(0, k)));
}

/// Any weights (MATH 13.8): Q̃_JJ − diag(d) has no negative eigenvalue for any J of m features.
#[test]
fn discs_of_any_weights_leave_no_more_than_there_is() {
    let mut more = 0;
    for seed in 0..200 {
        let mut rng = rng(12_000 + seed);
        let case = match seed % 3 {
            0 => hostile(&mut rng, &[Loss::Squared], 7),
            1 => linked(&mut rng),
            _ => incoherent(&mut rng),
        };
        let design = Dense::new(case.n, case.p, case.x.clone()).unwrap();
        let problem = case.problem(&design);
        let support: Vec<usize> = (0..case.p).filter(|_| rng.random_bool(0.2)).collect();
        let penalties: Vec<Convex> = support.iter().map(|&j| Convex::selected(&case.penalty, j)).collect();
        let fit = case.model().minimise(&support, &penalties);
        let point = Coefficients::from_pairs(support.into_iter().zip(fit.beta).collect(), fit.intercept);
        let (frame, mut silent) = (Frame::new(&problem), ());
        let monitor = Monitor::new(&Options::default(), &mut silent);
        let Some(around) = Around::new(&problem, &frame, &point).unwrap() else { continue };
        let Some(outside) = Outside::new(&problem, &frame, &around, 0.5 * around.least).unwrap() else { continue };
        let rows = Curvatures::new(&problem, outside, &monitor).unwrap().unwrap();
        let count = rows.rows.len();
        for _ in 0..4 {
            let weights = Weights::new((0..count).map(|_| power(&mut rng, -0.4, 0.4)).collect());
            let of = |j: usize, m: usize| if j < count { weights.left(&rows.rows[j], m) } else { 0.0 };
            let all = (0..count).flat_map(|j| (1..=pairs::LARGEST + 1).map(move |m| (j, m)));
            let left = Left(all.map(|(j, m)| if m <= pairs::LARGEST { of(j, m) } else { 0.0 }).collect());
            are_left(&rows, &left, seed);
            let is_more = |j: usize| left.at(j, count) > 0.02 + rows.plain.at(j, count);
            more += usize::from(count > 1 && (0..count).any(is_more));
        }
    }
    assert!(more > 300, "{more} with more than without weights");
}

/// More features than a row lists: each that is not listed counts with a weight of its own.
#[test]
fn discs_count_what_is_not_listed() {
    let (mut rng, n, p) = (rng(8), 60, 80);
    let x: Vec<f64> = (0..n * p).map(|_| normal(&mut rng)).collect();
    let y: Vec<f64> = (0..n).map(|_| normal(&mut rng)).collect();
    let case = Case::dense(n, p, x, y, Penalty::new(0.0, 0.0, 0.1));
    let design = Dense::new(n, p, case.x.clone()).unwrap();
    let problem = case.problem(&design);
    let (frame, mut silent) = (Frame::new(&problem), ());
    let monitor = Monitor::new(&Options::default(), &mut silent);
    let around = Around::new(&problem, &frame, &Coefficients::default()).unwrap().unwrap();
    let outside = Outside::new(&problem, &frame, &around, 0.5).unwrap().unwrap();
    let rows = Curvatures::new(&problem, outside, &monitor).unwrap().unwrap();
    let mut unlisted = 0;
    for _ in 0..20 {
        let given: Vec<f64> = (0..p).map(|_| pick(&mut rng, &[0.5, 0.5, 0.5, 0.6, 2.0])).collect();
        let weights = Weights::new(given);
        for (j, row) in rows.rows.iter().enumerate() {
            let product = |k: usize| (rows.entry(j as u32, k as u32).abs() * weights.of(k), k);
            let mut products: Vec<(f64, usize)> = (0..p).filter(|&k| k != j).map(product).collect();
            products.sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
            for m in 1..=pairs::LARGEST {
                let sum = products[..m - 1].iter().map(|q| q.0).sum::<f64>() / weights.of(j);
                assert!(weights.disc(row, m) >= sum, "{j}, {m}: {} for {sum}", weights.disc(row, m));
            }
            let is_listed = |k: usize| row.largest.iter().any(|e| e.place as usize == k);
            unlisted += usize::from(products[..pairs::LARGEST - 1].iter().any(|q| !is_listed(q.1)));
        }
    }
    assert!(unlisted > 500, "{unlisted} rows need what they do not list");
}

/// Three hundred columns, no ridge, five of which matter: weights close what equal ones do not.
#[test]
fn weights_close_more_added_features() {
    let (mut rng, n, p, k) = (rng(3), 600, 300, 5);
    let x: Vec<f64> = (0..n * p).map(|_| normal(&mut rng)).collect();
    let signal = |i: usize| (0..k).map(|j| x[j * n + i]).sum::<f64>();
    let y: Vec<f64> = (0..n).map(|i| signal(i) + normal(&mut rng)).collect();
    let case = Case::dense(n, p, x, y, Penalty::new(30.0, 0.0, 0.0));
    let design = Dense::new(n, p, case.x.clone()).unwrap();
    let problem = case.problem(&design);
    let support: Vec<usize> = (0..k).collect();
    let penalties: Vec<Convex> = support.iter().map(|&j| Convex::selected(&case.penalty, j)).collect();
    let fit = case.model().minimise(&support, &penalties);
    let point = Coefficients::from_pairs(support.into_iter().zip(fit.beta).collect(), fit.intercept);
    let best = problem.value(&point).unwrap();
    let (target, mut silent) = (best * (1.0 - 1e-6), ());
    let monitor = Monitor::new(&Options::default(), &mut silent);
    let frame = Frame::new(&problem);
    let around = Around::new(&problem, &frame, &point).unwrap().unwrap();
    let delta = SHARES[0] * around.least;
    let outside = Outside::new(&problem, &frame, &around, delta).unwrap().unwrap();
    let rows = Curvatures::new(&problem, outside, &monitor).unwrap().unwrap();
    let terms = Terms::new(&problem, &around, &rows.outside, delta).unwrap();
    let most = terms::most_features(&problem, best);
    let plain = terms.bounds_within(&problem, most, &rows.plain);
    let sharp = terms.sharpened(most, target, rows.all(), plain.clone());
    assert!(sharp.closes(target) > plain.closes(target), "{} and {}", sharp.closes(target), plain.closes(target));
    // A forecast is made of fewer rows.
    let look = Look::new(&problem, &point).unwrap().unwrap();
    let forecast = look.forecast_by_weights((best, target)).unwrap();
    assert!(forecast.closes(target) >= plain.closes(target), "{} forecast", forecast.closes(target));
}
