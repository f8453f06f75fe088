//! What rounding does to a bound, measured in twice the precision: the value returned is never above the true one.

use crate::common::{Case, ChaCha8Rng, RngExt, Shape, Store, Twofold, case, normal, pick, power, relaxed, rng};
use bestset::design::{Csc, Dense, Design, Standardized};
use bestset::{Bounds, Coefficients, Loss, Penalty, Problem};

/// Entry (i, j) of the design as its views define it, without rounding.
fn entry(case: &Case, i: usize, j: usize) -> Twofold {
    let row = case.rows.as_ref().map_or(i, |r| r[i]);
    let column = case.columns.as_ref().map_or(j, |c| c[j]);
    let x = Twofold::from(case.base[column * case.base_rows + row]);
    match &case.standard {
        Some((centre, scale)) => (x - centre[column].into()) / scale[column].into(),
        None => x,
    }
}

/// D(α) of MATH §3 for the losses whose conjugate is a polynomial, in twice the precision.
fn exact_dual(case: &Case, alpha: &[f64]) -> Twofold {
    let curve = if case.loss == Loss::SquaredHinge { 0.25 } else { 0.5 };
    let conjugate = |i: usize| {
        let (a, w) = (Twofold::from(alpha[i]), case.weight(i));
        if w == 0.0 { Twofold::ZERO } else { Twofold::from(curve) * a * a / w.into() + a * case.y[i].into() }
    };
    let term = |j: usize| {
        let tau: Twofold = (0..case.n).map(|i| entry(case, i, j) * alpha[i].into()).sum();
        let (lower, upper) = case.penalty.bounds.at(j);
        let reach = if tau < Twofold::ZERO { upper } else { -lower };
        let pull = tau.abs() - case.penalty.lambda1.into();
        let l2 = Twofold::from(case.penalty.lambda2);
        if pull <= Twofold::ZERO || reach == 0.0 {
            return Twofold::ZERO;
        }
        let mut size = if l2 > Twofold::ZERO { pull / (l2 + l2) } else { Twofold::from(reach) };
        if reach.is_finite() {
            size = size.min(reach.into());
        }
        (Twofold::from(case.penalty.lambda0) + size * (l2 * size - pull)).min(Twofold::ZERO)
    };
    (0..case.p).map(term).sum::<Twofold>() - (0..case.n).map(conjugate).sum::<Twofold>()
}

/// A case whose columns may sit far from zero, as years and identifiers do.
fn far_case(rng: &mut ChaCha8Rng) -> Case {
    let shape = Shape { attained: true, certified: true, wild: false, ..Shape::new(5..=40, 2..=15) };
    let mut case = loop {
        let case = case(rng, &shape);
        if case.loss != Loss::Logistic && !case.loss.has_log_link() {
            break case;
        }
    };
    case.intercept = false;
    let offset: f64 = pick(rng, &[0.0, 1e3, 1e6, 1e8]);
    let narrow = matches!(case.store, Store::Dense32 | Store::Csc32);
    for x in case.base.chunks_exact_mut(case.base_rows) {
        let shift = (offset * rng.random_range(0.5..2.0)).round();
        x.iter_mut().for_each(|x| *x = if narrow { f64::from((*x + shift) as f32) } else { *x + shift });
    }
    if let Some((centre, _)) = &mut case.standard {
        for (c, x) in centre.iter_mut().zip(case.base.chunks_exact(case.base_rows)) {
            *c = x.iter().sum::<f64>() / case.base_rows as f64;
        }
    }
    for j in 0..case.p {
        for i in 0..case.n {
            case.x[j * case.n + i] = entry(&case, i, j).wide();
        }
    }
    case
}

#[test]
fn the_bound_is_never_above_the_exact_dual_value() {
    let mut rng = rng(31);
    let (mut close, mut at_threshold) = (0, 0);
    for trial in 0..1500 {
        let case = far_case(&mut rng);
        let best = case.standard.is_some().then(|| relaxed(&case));
        case.with_problem(|problem| {
            for noise in [0.0, 1e-15, 1e-12, 1e-6, 1.0] {
                let mut alpha: Vec<f64> = match &best {
                    Some(best) => best.alpha.clone(),
                    None => (0..case.n).map(|_| power(&mut rng, -3.0, 1.0) * normal(&mut rng)).collect(),
                };
                let size = alpha.iter().fold(0.0f64, |m, a| m.max(a.abs()));
                alpha.iter_mut().for_each(|a| *a += noise * size * normal(&mut rng));
                problem.project(&mut alpha);
                // At the optimum of R fractional coefficients sit exactly at the threshold: aim one there.
                if noise == 1.0 && case.loss == Loss::Squared {
                    let j = rng.random_range(0..case.p);
                    let tau = case.model().dot(j, &alpha);
                    let t = case.penalty.at(j).threshold(tau) / tau.abs();
                    if t.is_finite() {
                        alpha.iter_mut().for_each(|a| *a *= t);
                        at_threshold += 1;
                    }
                }
                let (found, exact) = (problem.lower_bound(&alpha).unwrap(), exact_dual(&case, &alpha));
                assert!(
                    Twofold::from(found) <= exact,
                    "{trial}: {found:e} is {:e} above {:e}, {:?} {:?} weights {} standardised {}",
                    (Twofold::from(found) - exact).wide(),
                    exact.wide(),
                    case.loss,
                    case.store,
                    case.weights.is_some(),
                    case.standard.is_some()
                );
                close += usize::from((exact - found.into()).wide() < 1e-9 * exact.wide().abs());
            }
        });
    }
    assert!(close > 3000 && at_threshold > 100, "{close} {at_threshold}");
}

/// The offsets of X and y and the scale of X.
struct Line {
    n: usize,
    x_offset: f64,
    y_offset: f64,
    x_scale: f64,
}

impl Line {
    fn data(&self, rng: &mut ChaCha8Rng) -> (Vec<f64>, Vec<f64>) {
        let spread = |i: usize, z: f64| 3.0 * (i as f64 / self.n as f64 - 0.5) + 0.3 * z;
        let x: Vec<f64> = (0..self.n).map(|i| self.x_offset + self.x_scale * spread(i, normal(rng))).collect();
        let slope = 2.0 / self.x_scale;
        let y = x.iter().map(|x| self.y_offset + slope * (x - self.x_offset) + 0.5 * normal(rng)).collect();
        (x, y)
    }
}

/// One feature with an intercept, squared loss and a slope well beyond the knee: P* = D* in closed form.
/// Returns P*, the slope and the intercept.
fn simple_regression(x: &[f64], y: &[f64], lambda0: f64, lambda2: f64) -> (Twofold, f64, f64) {
    let n = Twofold::from(x.len() as f64);
    let mean = |v: &[f64]| v.iter().map(|&v| Twofold::from(v)).sum::<Twofold>() / n;
    let (mx, my) = (mean(x), mean(y));
    let sum = |a: &[f64], ma: Twofold, b: &[f64], mb: Twofold| {
        a.iter().zip(b).map(|(&a, &b)| (Twofold::from(a) - ma) * (Twofold::from(b) - mb)).sum::<Twofold>()
    };
    let (xx, xy, yy) = (sum(x, mx, x, mx), sum(x, mx, y, my), sum(y, my, y, my));
    let curvature = xx + Twofold::from(2.0 * lambda2);
    let slope = xy / curvature;
    let best = Twofold::from(0.5) * (yy - xy * slope) + lambda0.into();
    assert!(
        slope.square().wide() > lambda0 / lambda2,
        "the slope must be beyond the knee: {slope:?} {lambda0} {lambda2}"
    );
    (best, slope.wide(), (my - slope * mx).wide())
}

#[test]
fn with_an_intercept_and_far_offsets_the_bound_stays_below_the_optimum() {
    let mut rng = rng(32);
    let mut close = 0;
    for trial in 0..600 {
        let line = Line {
            n: pick(&mut rng, &[4, 30, 400]),
            x_offset: pick(&mut rng, &[0.0, 1.0, 1e4, 1e8]),
            y_offset: pick(&mut rng, &[0.0, 1e3, 1e8]),
            x_scale: pick(&mut rng, &[1.0, 1e-3, 1e3]),
        };
        let (x, y) = line.data(&mut rng);
        let lambda2 = 0.05 * line.x_scale * line.x_scale;
        // The knee at a slope of one half of what is fitted, or less.
        let lambda0 = 0.1 * lambda2 / (line.x_scale * line.x_scale);
        let (best, slope, intercept) = simple_regression(&x, &y, lambda0, lambda2);
        let dense = Dense::new(line.n, 1, x.as_slice()).unwrap();
        let rows: Vec<u32> = (0..line.n as u32).collect();
        let sparse = Csc::new(line.n, vec![0, line.n], rows, x.as_slice()).unwrap();
        let view = Standardized::fit(&dense, None, true, 1.0).unwrap();
        let factor = view.scale()[0];
        // The same problem through the view: β̃ = scale · β, λ̃2 = λ2 / scale².
        let designs: [(&dyn Design, f64); 3] = [(&dense, 1.0), (&sparse, 1.0), (&view, factor)];
        for (design, factor) in designs {
            let penalty = Penalty::new(lambda0, 0.0, lambda2 / (factor * factor));
            let problem = Problem::new(design, y.as_slice(), penalty).unwrap().with_intercept(true);
            let shift = if factor == 1.0 { intercept } else { intercept + slope * view.centre()[0] };
            let coefficients = Coefficients::from_dense(&[slope * factor], shift);
            let found = problem.certify(&coefficients, &[]).unwrap().lower_bound;
            // The view's λ̃2 is itself rounded; that alone may move P* by an ulp or two.
            let room = if factor == 1.0 { 0.0 } else { 4.0 * f64::EPSILON * best.wide() };
            let above = (Twofold::from(found) - best).wide();
            assert!(
                above <= room,
                "{trial}: {above:e} above {}; n {} offsets {:e} {:e} scale {:e} factor {factor:e}",
                best.wide(),
                line.n,
                line.x_offset,
                line.y_offset,
                line.x_scale
            );
            close += usize::from(above > -1e-6 * best.wide());
        }
    }
    assert!(close > 1000, "{close}");
}

/// Any α that dual_value accepts as balanced must give a valid bound, however far the targets are from zero.
#[test]
fn what_passes_for_balanced_still_gives_a_bound() {
    let mut rng = rng(33);
    let mut accepted = 0;
    for trial in 0..600 {
        let (n, offset) = (pick(&mut rng, &[5, 100, 3000]), pick(&mut rng, &[1.0, 1e4, 1e8, -1e8]));
        let y: Vec<f64> = (0..n).map(|_| offset + normal(&mut rng)).collect();
        let mean = y.iter().map(|&y| Twofold::from(y)).sum::<Twofold>() / Twofold::from(n as f64);
        let best: Twofold = y.iter().map(|&y| (Twofold::from(y) - mean).square()).sum::<Twofold>() * 0.5.into();
        // One empty column: P* is the loss of the mean alone.
        let x = Dense::new(n, 1, vec![0.0; n]).unwrap();
        let problem = Problem::new(&x, y.as_slice(), Penalty::new(1.0, 0.0, 1.0)).unwrap().with_intercept(true);
        let centred: Vec<f64> = y.iter().map(|&y| (mean - y.into()).wide()).collect();
        let size: f64 = centred.iter().map(|a| a.abs()).sum();
        for k in [0.0, 0.5, 1.0, 2.0, 3.9, 8.0, 30.0, 1e3, 1e6] {
            let mut alpha = centred.clone();
            // Spread the imbalance where it lifts D the most.
            let tilt = -offset.signum() * k * f64::EPSILON * size;
            alpha.iter_mut().for_each(|a| *a += tilt);
            let bound = problem.dual_value(&alpha, &[0], &[0.0]).unwrap();
            if bound > f64::NEG_INFINITY {
                let above = (Twofold::from(bound) - best).wide();
                assert!(above <= 0.0, "{trial}: n {n} offset {offset:e} tilt {k}: {above:e} above {:e}", best.wide());
                accepted += 1;
            }
            // The same point is put right before the bound is taken.
            let bound = problem.lower_bound(&alpha).unwrap();
            assert!((Twofold::from(bound) - best).wide() <= 0.0, "{trial}: n {n} offset {offset:e} tilt {k}");
            assert!(bound.is_finite());
        }
    }
    assert!(accepted > 1000, "{accepted}");
}

/// Nothing that overflows turns into a bound, or into NaN.
#[test]
fn overflow_gives_minus_infinity() {
    let mut rng = rng(34);
    let sizes = [1e-320, 1e-200, 1e100, 1e154, 1e200, 1e300, f64::MAX, f64::INFINITY, f64::NAN];
    for trial in 0..1500 {
        let case = case(&mut rng, &Shape::new(2..=8, 1..=5));
        case.with_problem(|problem| {
            for size in sizes {
                let mut alpha: Vec<f64> = (0..case.n).map(|_| size * normal(&mut rng)).collect();
                if trial % 3 == 0 {
                    alpha[0] = 1.0;
                }
                let bound = problem.lower_bound(&alpha).unwrap();
                assert!(bound < 1e6, "{trial}: {bound} from {size:e}, {:?}", case.loss);
                let at_zero = problem.objective(&Coefficients::default()).unwrap();
                assert!(bound <= at_zero, "{trial}: {bound} > P(0) = {at_zero} from {size:e}, {:?}", case.loss);
            }
        });
    }
    // Weights of 1e250: α is inside the domain and its squares overflow; τ is ∞ − ∞.
    let x = Dense::new(3, 1, vec![1e150, -1e150, 1e150]).unwrap();
    for loss in [Loss::Squared, Loss::Huber { delta: 1.0 }, Loss::SquaredHinge, Loss::Logistic] {
        for intercept in [false, true] {
            let penalty = Penalty::new(1.0, 0.0, 1e-3).with_bounds(Bounds::All(-1e-160, 1e-160));
            let problem = Problem::new(&x, vec![1.0, -1.0, 1.0], penalty).unwrap().with_loss(loss).unwrap();
            let problem = problem.with_weights(vec![1e250; 3]).unwrap().with_intercept(intercept);
            for alpha in [[1e250, -1e250, 0.0], [-0.5e250, 0.5e250, -1e249], [-1e249, 2e249, -1e249]] {
                let bound = problem.lower_bound(&alpha).unwrap();
                let best = problem.objective(&Coefficients::default()).unwrap();
                assert!(bound <= best, "{loss:?} {intercept}: {bound}");
            }
        }
    }
}
