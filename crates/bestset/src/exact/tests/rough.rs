//! Correlations in single precision, and correlations carried from another dual point: neither hides a violated threshold, and
//! nothing is excluded by them that double precision at the point itself would not exclude.

use crate::common::{Case, ChaCha8Rng, RngExt, Shape, Store, UNIFORM, case as general, hostile, pick, power, rng};
use crate::control::Monitor;
use crate::design::Dense;
use crate::problem::screening;
use crate::relaxation::everywhere::{Anchor, Everywhere};
use crate::{Bounds, Loss, Options, Penalty, Problem};

/// Correlations within a few roundings of single precision from their thresholds, large and small columns beside each other: a
/// feature whose Ψ_j may be below zero is never passed by, and the ends of its rough correlation hold the one in double precision.
#[test]
fn single_precision_hides_no_violated_threshold() {
    let (mut rng, mut violated, mut passed) = (rng(97), 0, 0);
    for trial in 0..300 {
        let (n, p) = (rng.random_range(1..=90), 40);
        let scale = power(&mut rng, -25.0, 15.0);
        let alpha: Vec<f64> = (0..n).map(|_| scale * rng.random_range(-1.0..1.0)).collect();
        let penalty = Penalty::new(0.1, 0.01, 0.4);
        let threshold = 0.01 + 2.0 * (0.1f64 * 0.4).sqrt();
        let mut x = Vec::with_capacity(n * p);
        for _ in 0..p {
            // As close to the threshold as rounding in single precision, or well below it.
            let close =
                if rng.random_bool(0.7) { 1.0 + power(&mut rng, -9.0, -6.0) } else { power(&mut rng, -3.0, -0.01) };
            let column: Vec<f64> = (0..n).map(|_| rng.random_range(-1.0..1.0)).collect();
            let dot: f64 = column.iter().zip(&alpha).map(|(x, a)| x * a).sum();
            x.extend(column.iter().map(|x| x * close * threshold / dot));
        }
        let design = Dense::new(n, p, x).unwrap();
        let problem = Problem::new(&design, vec![1.0; n], penalty).unwrap();
        let found = Correlations::new(&problem, alpha);
        for j in 0..p {
            let (c, outer, ends) = (problem.coordinate(j), found.outer[j], found.ends[j]);
            let sure = found.unsure.binary_search(&j).is_err();
            assert!(!sure || c.psi(outer) == 0.0, "{trial}: {j} of {outer} was passed by");
            violated += usize::from(c.psi(outer) < 0.0);
            passed += usize::from(sure);
            assert!(c.phi(ends.0) <= c.phi(outer) && c.phi(outer) <= c.phi(ends.1), "{trial}: {j}");
        }
    }
    assert!(violated > 5000 && passed > 1000, "{violated} {passed}");
}

/// Correlations within a few roundings from where a gap begins to exclude, and from their thresholds: what a sweep does not list is below
/// its threshold, and excluded wherever that is said.
#[test]
fn what_a_sweep_does_not_list_changes_nothing() {
    let (mut rng, mut passed, mut excluded, mut listed) = (rng(98), 0, 0, 0);
    for trial in 0..400 {
        let (n, p, nu) = (rng.random_range(1..=90), 40, pick(&mut rng, &[0.0, 0.05]));
        let (scale, gap) = (power(&mut rng, -20.0, 12.0), pick(&mut rng, &GAPS) * (0.1 + nu));
        let alpha: Vec<f64> = (0..n).map(|_| scale * rng.random_range(-1.0..1.0)).collect();
        let edge = 0.01 + 2.0 * (0.4 * (0.1 + nu - gap)).sqrt();
        let mut x = Vec::with_capacity(n * p);
        for _ in 0..p {
            let close = 1.0 + pick(&mut rng, &[1.0, -1.0]) * power(&mut rng, -9.0, -4.0);
            let close = if rng.random_bool(0.7) { close } else { power(&mut rng, -3.0, 0.3) };
            let column: Vec<f64> = (0..n).map(|_| rng.random_range(-1.0..1.0)).collect();
            let dot: f64 = column.iter().zip(&alpha).map(|(x, a)| x * a).sum();
            x.extend(column.iter().map(|x| x * close * edge / dot));
        }
        let design = Dense::new(n, p, x).unwrap();
        let problem = Problem::new(&design, vec![1.0; n], Penalty::new(0.1, 0.01, 0.4)).unwrap();
        let found = Correlations::new(&problem, alpha);
        let (bounds, dual) = (problem.lower_bounds().unwrap(), pick(&mut rng, &[0.0, 3.0]));
        let unlisted = bounds.unlisted(
            &found.alpha,
            (problem.coordinate(0).priced(nu), problem.least_threshold()),
            dual,
            dual + gap,
        );
        let all: Vec<usize> = (0..p).collect();
        let ends = bounds.rough_ends(&found.alpha, &all, &found.rough, |j| problem.coordinate(j).priced(nu));
        for j in 0..p {
            if found.rough[j].abs() >= unlisted.below {
                listed += 1;
                continue;
            }
            passed += 1;
            assert!(found.unsure.binary_search(&j).is_err(), "{trial}: {j} may violate its threshold");
            if unlisted.excluded_from <= dual {
                let one = problem.coordinate(j).priced(nu);
                assert!(screening::in_no_optimal_subset(one, ends[j].0, dual, dual + gap), "{trial}: {j} stays open");
                excluded += 1;
            }
        }
    }
    assert!(passed > 3000 && excluded > 2000 && listed > 3000, "{passed} {excluded} {listed}");
}

/// x_jᵀα of every feature, in both precisions.
struct Correlations {
    alpha: Vec<f64>,
    rough: Vec<f64>,
    exact: Vec<f64>,
    /// Features that single precision does not put below their thresholds.
    unsure: Vec<usize>,
    /// Ends of the rough correlations: where φ is least, and where it is greatest.
    ends: Vec<(f64, f64)>,
    /// The correlations in double precision at the end of their rounding where φ is least.
    outer: Vec<f64>,
}

impl Correlations {
    fn new(problem: &Problem<'_>, alpha: Vec<f64>) -> Self {
        let p = problem.ncols();
        let all: Vec<usize> = (0..p).collect();
        let (mut rough, mut exact) = (vec![0.0; p], vec![0.0; p]);
        problem.design().correlate_roughly(&all, &[&alpha], &mut rough).unwrap();
        problem.design().correlate(&all, &alpha, &mut exact).unwrap();
        let bounds = problem.lower_bounds().unwrap();
        let rough: Vec<f64> = rough.into_iter().map(f64::from).collect();
        let unsure = bounds.unsure(&alpha, &all, &rough, problem.least_threshold(), |j| problem.coordinate(j));
        let ends = bounds.rough_ends(&alpha, &all, &rough, |j| problem.coordinate(j));
        let outer = bounds.outer_correlations(&alpha, &all, &exact, |j| problem.coordinate(j));
        Self { alpha, rough, exact, unsure, ends, outer }
    }

    fn label(&self, j: usize) -> String {
        let (ends, outer, exact, rough) = (self.ends[j], self.outer[j], self.exact[j], self.rough[j]);
        format!("ends {ends:?} outer {outer} exact {exact} rough {rough}")
    }
}

/// The dual point of the null model.
fn null_point(problem: &Problem<'_>) -> Vec<f64> {
    let (u, mut alpha) = (problem.null_margins(), vec![0.0; problem.nrows()]);
    problem.dual_point(&u, problem.best_intercept(&u, 0.0), &mut alpha);
    alpha
}

/// A case of any store and view, at an extreme scale of its columns, targets and weights.
fn extreme(rng: &mut ChaCha8Rng, seed: u64) -> Case {
    let shape = Shape { certified: true, attained: true, ..Shape::new(2..=40, 2..=9) };
    let mut case = if seed.is_multiple_of(2) { general(rng, &shape) } else { hostile(rng, &UNIFORM, 8) };
    if seed % 2 == 1 {
        for j in 0..case.p {
            let s = power(rng, -60.0, 60.0);
            case.base[j * case.n..(j + 1) * case.n].iter_mut().for_each(|x| *x *= s);
        }
        case.x = case.base.clone();
        if rng.random_bool(0.3) {
            case.store = Store::Csc64;
        }
    }
    if rng.random_bool(0.3) && case.loss == Loss::Squared {
        let t = power(rng, -30.0, 30.0);
        case.y.iter_mut().for_each(|y| *y *= t);
        case.offset.iter_mut().flatten().for_each(|y| *y *= t);
    }
    if rng.random_bool(0.2)
        && let Some(w) = &mut case.weights
    {
        w.iter_mut().for_each(|w| *w *= power(rng, -12.0, 12.0));
    }
    case
}

/// A penalty whose thresholds are close to each feature's correlation in the null model, with boxes close to the knees or without.
fn close_to_thresholds(case: &mut Case, rng: &mut ChaCha8Rng) {
    let p = case.p;
    let exact = case.with_problem(|problem| {
        let mut tau = vec![0.0; p];
        problem.design().correlate(&(0..p).collect::<Vec<_>>(), &null_point(problem), &mut tau).unwrap();
        tau
    });
    let lambda0 = power(rng, -5.0, 5.0);
    let close: Vec<f64> = (0..p).map(|_| 1.0 + power(rng, -16.0, -0.5) * pick(rng, &[1.0, -1.0])).collect();
    let shrink = |j: usize| {
        let v = (exact[j] * close[j]).powi(2) / (4.0 * lambda0);
        if v.is_finite() { v.max(1e-300) } else { 1.0 }
    };
    let side = |rng: &mut ChaCha8Rng, j: usize| {
        let knee = 2.0 * lambda0 / exact[j].abs();
        match rng.random_range(0..4) {
            0 => 0.0,
            1 if knee.is_finite() => knee * power(rng, -2.0, 2.0),
            _ => f64::INFINITY,
        }
    };
    let (lo, hi) = (0..p).map(|j| (-side(rng, j), side(rng, j))).unzip();
    let bounds = if rng.random_bool(0.3) { Bounds::Free } else { Bounds::Each(lo, hi) };
    case.penalty = Penalty::new(lambda0, 0.0, 1.0).with_shrinkage((0..p).map(shrink).collect()).with_bounds(bounds);
}

/// How often what was to be tested was met.
#[derive(Default)]
struct RoughTally {
    violated: usize,
    sure: usize,
    nonfinite: usize,
    carried: usize,
}

/// Whether the exclusion rule holds at a correlation, the gap being a share of λ0.
fn excludes(problem: &Problem<'_>, j: usize, tau: f64, share: f64) -> bool {
    let room = share * problem.penalty().lambda0;
    screening::in_no_optimal_subset(problem.coordinate(j), tau, 0.0, room)
}

/// Shares of λ0 that a gap may be.
const GAPS: [f64; 7] = [0.0, 1e-12, 1e-9, 1e-6, 1e-3, 0.1, 0.9];

/// Ends and places of rough correlations, for every store and view, weights and boxes, at extreme scales.
#[test]
fn rough_and_carried_correlations_hold_theirs_at_any_scale() {
    let mut seen = RoughTally::default();
    for seed in 0..20_000u64 {
        let mut rng = rng(5_000_000 + seed);
        let mut case = extreme(&mut rng, seed);
        close_to_thresholds(&mut case, &mut rng);
        if case.with_design(|d| Problem::new(d, case.y.clone(), case.penalty.clone()).is_err()) {
            continue;
        }
        case.with_problem(|problem| {
            let found = Correlations::new(problem, null_point(problem));
            let label = || format!("{seed}: {case:?}");
            check_rough(problem, &found, &label, &mut seen);
            seen.carried += usize::from(check_carried(problem, &found, &mut rng, &label));
        });
    }
    let RoughTally { violated, sure, nonfinite, carried } = seen;
    assert!(
        violated > 20_000 && sure > 15_000 && nonfinite > 4000 && carried > 10_000,
        "{violated} {sure} {nonfinite} {carried}"
    );
}

fn check_rough(problem: &Problem<'_>, found: &Correlations, label: &dyn Fn() -> String, seen: &mut RoughTally) {
    seen.nonfinite += found.rough.iter().filter(|r| !r.is_finite()).count();
    for j in 0..problem.ncols() {
        let (c, ends, outer) = (problem.coordinate(j), found.ends[j], found.outer[j]);
        let sure = found.unsure.binary_search(&j).is_err();
        seen.violated += usize::from(c.psi(outer) < 0.0);
        seen.sure += usize::from(sure);
        assert!(!sure || c.psi(outer) >= 0.0, "{j} passed by, {} {c:?} {}", found.label(j), label());
        for gap in GAPS {
            let excludes = |tau: f64| excludes(problem, j, tau, gap);
            assert!(!excludes(ends.0) || excludes(outer), "{j} wrongly out, {} {c:?} {}", found.label(j), label());
            assert!(!excludes(outer) || excludes(ends.1), "{j} nearest wrong, {} {c:?} {}", found.label(j), label());
        }
    }
}

/// Correlations carried over from a scaled and disturbed point to the one that the thresholds are close at; whether they could be.
fn check_carried(
    problem: &Problem<'_>,
    found: &Correlations,
    rng: &mut ChaCha8Rng,
    label: &dyn Fn() -> String,
) -> bool {
    let (alpha, all): (_, Vec<usize>) = (&found.alpha, (0..problem.ncols()).collect());
    let (away, s) = (pick(rng, &[0.0, 1e-15, 1e-12, 1e-9, 1e-6, 1e-3, 0.1]), pick(rng, &[1.0, 0.9, 1e-3, 1e-9]));
    let mut other: Vec<f64> = alpha.iter().map(|a| s * a * (1.0 - away * rng.random_range(0.0..1.0))).collect();
    problem.project(&mut other);
    if rng.random_bool(0.5) && problem.has_intercept() {
        problem.moments().unwrap();
    }
    let mut tau = vec![0.0; all.len()];
    problem.design().correlate(&all, &other, &mut tau).unwrap();
    let Some((at, reach)) = problem.lower_bounds().unwrap().carry(&other, &tau, alpha) else { return false };
    for &j in &all {
        let (at, reach, exact) = (at[j], reach[j], found.exact[j]);
        let is_within = (exact - at).abs() <= reach;
        assert!(is_within, "{j} carried {at} reach {reach} exact {exact} away {away} s {s} {}", label());
    }
    let (options, mut observer) = (Options::default(), ());
    let mut monitor = Monitor::new(&options, &mut observer);
    let known = Everywhere::new(problem, alpha, Some(&Anchor { alpha: other, tau }), &mut monitor).unwrap();
    let full = problem.dual_value(alpha, &all, &found.exact).unwrap();
    assert!(known.bound == full, "bound {} of {full}: {}", known.bound, label());
    for &j in &all {
        let (carried, outer) = (known.outer[j], found.outer[j]);
        let holds = |gap: f64| !excludes(problem, j, carried, gap) || excludes(problem, j, outer, gap);
        assert!(GAPS.into_iter().all(holds), "{j} everywhere {carried} {outer} {}", label());
    }
    true
}
