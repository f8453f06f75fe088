//! Looks at columns that stay where X is, by places that lose all that they say they may: no subset is below their bounds.

use super::*;
use crate::design::{Column, ColumnSubset, Design, LargestPairs, PairsAsked, Standardized};
use crate::problem::screening;
use crate::relaxation::convex;
use crate::relaxation::workspace::Workspace;

/// Lists pairs, every product as small as what is stated allows.
struct Worst {
    inner: Dense<'static>,
    lost: f64,
}

impl Worst {
    /// s_j x_j, less its mean where it is to be.
    fn scaled(&self, asked: &PairsAsked<'_>, place: usize) -> Result<Vec<f64>> {
        let (mut column, mut x) = (Column::default(), vec![0.0; self.nrows()]);
        self.inner.column(asked.features[place], &mut column)?;
        column.to_dense(&mut x);
        for _ in 0..2 {
            let mean = if asked.is_centred { kernel::sum(&x) / x.len() as f64 } else { 0.0 };
            x.iter_mut().for_each(|x| *x -= mean);
        }
        x.iter_mut().for_each(|x| *x *= asked.scales[place]);
        Ok(x)
    }
}

impl Design for Worst {
    fn nrows(&self) -> usize {
        self.inner.nrows()
    }

    fn ncols(&self) -> usize {
        self.inner.ncols()
    }

    fn is_sparse(&self) -> bool {
        false
    }

    fn stored(&self) -> usize {
        self.inner.stored()
    }

    fn correlate(&self, features: &[usize], v: &[f64], out: &mut [f64]) -> Result<()> {
        self.inner.correlate(features, v, out)
    }

    fn axpy(&self, j: usize, a: f64, out: &mut [f64]) -> Result<()> {
        self.inner.axpy(j, a, out)
    }

    fn column(&self, j: usize, out: &mut Column) -> Result<()> {
        self.inner.column(j, out)
    }

    fn lists_pairs(&self) -> bool {
        true
    }

    fn largest_pairs(&self, asked: &PairsAsked<'_>) -> Result<Option<LargestPairs>> {
        assert!(asked.features.windows(2).all(|two| two[0] < two[1]) && asked.count < asked.features.len());
        let columns = (0..asked.features.len()).map(|k| self.scaled(asked, k)).collect::<Result<Vec<_>>>()?;
        assert!(asked.count > 0, "a feature alone has no pairs");
        let k = asked.basis.len();
        let weights = |c: &Vec<f64>| -> Vec<f64> {
            let q: Vec<f64> = asked.basis.iter().map(|b| kernel::dot(b, c)).collect();
            (0..k).map(|a| (0..k).map(|b| asked.inverse[a * k + b] * q[b]).sum()).collect()
        };
        let (mut rows, mut error) = (Vec::new(), 0.0f64);
        for (j, own) in columns.iter().enumerate() {
            let mut rest = own.clone();
            weights(own).iter().zip(asked.basis).for_each(|(w, b)| kernel::axpy(-w, b, &mut rest));
            let others = (0..columns.len()).filter(|k| *k != j);
            // Of pairs that are not asked for it says nothing.
            let is_asked = |k: usize| asked.apart.is_none_or(|(costs, room)| costs[j] + costs[k] <= room);
            let size = |k: usize| if is_asked(k) { kernel::dot(&rest, &columns[k]).abs() } else { 0.0 };
            let mut all: Vec<(u32, f64)> = others.map(|k| (k as u32, size(k))).collect();
            all.sort_by(|a, b| b.1.total_cmp(&a.1));
            let given = |size: f64| ((size - self.lost).max(0.0) as f32).next_up();
            let row: Vec<(u32, f32)> =
                all[..asked.count].iter().map(|(k, size)| (*k, given(*size) * [1.0, -1.0][*k as usize % 2])).collect();
            for (at, (_, size)) in all.iter().enumerate() {
                let said = f64::from(row[at.min(asked.count - 1)].1.abs());
                error = error.max(size - said);
            }
            rows.push(row);
        }
        Ok(Some(LargestPairs { rows, error }))
    }
}

/// The design that holds these columns, seen as it may be: as they are, among others, or through centres and scales.
fn of_kind(case: &mut Case, rng: &mut ChaCha8Rng, kind: usize, lost: f64) -> (Worst, Vec<usize>, Vec<f64>, Vec<f64>) {
    let (n, p) = (case.n, case.p);
    let (centre, scale): (Vec<f64>, Vec<f64>) = match kind {
        2 => (0..p)
            .map(|j| {
                let size = 2f64.powi(case.norm(j).max(1e-300).log2().round() as i32);
                let far = if case.intercept || rng.random_bool(0.1) { pick(rng, &[0.0, 1.0, 4.0, -2.0]) } else { 0.0 };
                (far * size, pick(rng, &[1.0, -4.0, 0.125]))
            })
            .unzip(),
        _ => (vec![0.0; p], vec![1.0; p]),
    };
    let (mut inner, mut places) = (Vec::new(), Vec::new());
    for j in 0..p {
        while kind > 0 && rng.random_bool(0.3) {
            inner.extend((0..n).map(|_| normal(rng)));
        }
        places.push(inner.len() / n);
        for i in 0..n {
            let stored = case.x[j * n + i] * scale[j] + centre[j];
            inner.push(stored);
            case.x[j * n + i] = (stored - centre[j]) / scale[j];
        }
    }
    case.base = case.x.clone();
    let all = inner.len() / n;
    let spread = |of: &[f64], other: f64| {
        let mut wide = vec![other; all];
        places.iter().zip(of).for_each(|(&k, x)| wide[k] = *x);
        wide
    };
    let (centre, scale) = (spread(&centre, 0.0), spread(&scale, 1.0));
    (Worst { inner: Dense::new(n, all, inner).unwrap(), lost }, places, centre, scale)
}

/// What the features cost at a dual point near that of the relaxation, and P̂ − D there (MATH 13.10).
fn apart(problem: &Problem<'_>, best: f64, rng: &mut ChaCha8Rng) -> Option<Apart> {
    let (mut silent, options) = ((), Options::default());
    let mut monitor = Monitor::new(&options, &mut silent);
    let mut alpha = convex::solve(&mut Workspace::new(problem), &options, &mut monitor).unwrap().dual;
    let shrunk = pick(rng, &[1.0, 1.0, 0.99, 0.8]);
    alpha.iter_mut().for_each(|a| *a *= shrunk);
    let (all, mut tau): (Vec<usize>, _) = ((0..problem.ncols()).collect(), vec![0.0; problem.ncols()]);
    problem.design().correlate(&all, &alpha, &mut tau).unwrap();
    let bounds = problem.lower_bounds().unwrap();
    let (dual, outer) = (
        bounds.dual_value(&alpha, &all, &tau),
        bounds.outer_correlations(&alpha, &all, &tau, |j| problem.coordinate(j)),
    );
    let costs = all.iter().map(|&j| problem.coordinate(j).phi(outer[j]).max(0.0)).collect();
    Apart::new(costs, best - dual + screening::MARGIN * (best.abs() + dual.abs()))
}

/// Squares of such columns have few digits, and so have lengths that are made of them: nothing may rest on these.
#[test]
fn columns_whose_squares_have_few_digits_prove_nothing_wrong() {
    for seed in 0..300 {
        let mut rng = rng(510_000 + seed);
        let (n, p, small) = (6, 4, 2f64.powi(-rng.random_range(480..=540)));
        let x: Vec<f64> = (0..n * p).map(|_| normal(&mut rng)).collect();
        let y: Vec<f64> = (0..n).map(|i| x[i] + 0.1 * normal(&mut rng)).collect();
        let mut case = Case::dense(n, p, x, y, Penalty::new(0.05, 0.0, 0.0));
        case.intercept = seed % 2 == 0;
        // Without a ridge no P depends on what columns are multiplied by.
        let all = costs(&case, &[]);
        let inner = Dense::new(n, p, case.x.iter().map(|x| x * small).collect::<Vec<f64>>()).unwrap();
        let worst = Worst { inner, lost: 0.0 };
        let problem = case.problem(&worst);
        let (mut silent, options) = ((), Options::default());
        let monitor = Monitor::new(&options, &mut silent);
        let point = Coefficients::from_pairs(Vec::new(), 0.0);
        let Some(look) = Look::elsewhere(&problem, &point, None).unwrap() else { continue };
        let Some(found) = look.bounds((f64::INFINITY, f64::INFINITY), &monitor).unwrap() else { continue };
        for (m, bound) in found.by_added.iter().enumerate() {
            let least = all.iter().filter(|c| c.1 == m).map(|c| c.0).fold(f64::INFINITY, f64::min);
            assert!(*bound <= least * (1.0 + 1e-9), "{seed}: {small:e}, {m} added, {bound} above {least}");
        }
    }
}

mod long {
    use super::*;

    #[test]
    fn no_subset_is_below_its_bound_where_pairs_lose_all_that_they_may() {
        let (mut looked, mut told, mut proved, mut fewer) = (0, 0, 0, 0);
        for seed in 0..3000 {
            let mut rng = rng(500_000 + seed);
            let mut case = if seed % 3 == 0 { hostile(&mut rng, &[Loss::Squared], 8) } else { incoherent(&mut rng) };
            if rng.random_bool(0.9) {
                case.weights = None;
            }
            if case.intercept {
                for j in 0..case.p {
                    let far = pick(&mut rng, &[0.0, 0.0, 0.3, 3.0, 20.0]) * case.norm(j);
                    (0..case.n).for_each(|i| case.x[j * case.n + i] += far);
                }
            }
            let lost = pick(&mut rng, &[0.0, 1e-6, 1e-3, 0.02, 0.2]);
            let (worst, places, centre, scale) = of_kind(&mut case, &mut rng, seed as usize / 3 % 3, lost);
            let view = Standardized::new(&worst, centre, scale).unwrap();
            let design = ColumnSubset::new(&view, places).unwrap();
            let problem = case.problem(&design);
            let any: Vec<usize> = (0..case.p).filter(|_| rng.random_bool(0.4)).collect();
            let support = if rng.random_bool(0.5) { any } else { crate::common::enumerate(&case).coefficients.support };
            let penalties: Vec<Convex> = support.iter().map(|&j| Convex::selected(&case.penalty, j)).collect();
            let fit = case.model().minimise(&support, &penalties);
            let moved = if rng.random_bool(0.3) { 1.0 + 0.1 * normal(&mut rng) } else { 1.0 };
            let pairs = support.iter().copied().zip(fit.beta.iter().map(|b| b * moved)).collect();
            let point = Coefficients::from_pairs(pairs, fit.intercept);
            let (mut silent, options) = ((), Options::default());
            let monitor = Monitor::new(&options, &mut silent);
            let all = costs(&case, &point.support);
            let optimum = all.iter().map(|c| c.0).fold(f64::INFINITY, f64::min);
            for best in [f64::INFINITY, optimum * (1.0 + 1e-6) + f64::MIN_POSITIVE] {
                let apart = if rng.random_bool(0.7) { apart(&problem, best, &mut rng) } else { None };
                let is_less = |apart: &Apart| {
                    let (costs, room) = apart.of(&(0..case.p).collect::<Vec<_>>());
                    costs.iter().any(|c| costs.iter().any(|d| c + d > room))
                };
                fewer += usize::from(apart.as_ref().is_some_and(is_less));
                let Some(look) = Look::elsewhere(&problem, &point, apart).unwrap() else { continue };
                looked += 1;
                let Some(found) = look.bounds((best, f64::INFINITY), &monitor).unwrap() else { continue };
                told += 1;
                for (m, bound) in found.by_added.iter().enumerate() {
                    let least =
                        all.iter().filter(|c| c.1 == m && c.0 < best).map(|c| c.0).fold(f64::INFINITY, f64::min);
                    assert!(*bound <= least * (1.0 + 1e-9) + 1e-300, "{seed}: {m} added, {bound} above {least}");
                }
                proved += usize::from(best < f64::INFINITY && found.bound() >= optimum * (1.0 - 1e-9));
            }
        }
        let counts = format!("{looked} looks, {told} told, {proved} proved, {fewer} of fewer pairs");
        assert!(looked > 3000 && told > 3000 && proved > 300 && fewer > 300, "{counts}");
    }
}
