//! Many classes in plain numbers, the loss from its definition, and a fit that shares nothing with the library.

use super::{ChaCha8Rng, RngExt, normal, power};
use bestset::design::{Dense, PerClass};
use bestset::groups::Groups;
use bestset::{Coefficients, Penalty, Problem};

/// Samples of several classes.
#[derive(Debug, Clone)]
pub struct ClassCase {
    pub n: usize,
    pub p: usize,
    pub classes: usize,
    /// Column by column.
    pub x: Vec<f64>,
    pub labels: Vec<usize>,
    pub weights: Vec<f64>,
    /// Class by class.
    pub offset: Vec<f64>,
    pub penalty: Penalty,
    pub intercept: bool,
}

impl ClassCase {
    /// Weights (some zero), offsets, copies, lambda1; columns over twelve orders of size if `wild`.
    pub fn random(rng: &mut ChaCha8Rng, classes: usize, wild: bool) -> Self {
        let (n, p) = (rng.random_range(8..=24), rng.random_range(2..=5));
        let scales: Vec<f64> = (0..p).map(|_| if wild { power(rng, -6.0, 6.0) } else { 1.0 }).collect();
        let mut x: Vec<f64> = (0..n * p).map(|at| scales[at / n] * normal(rng)).collect();
        if p > 3 && rng.random_bool(0.3) {
            x.copy_within(0..n, n);
        }
        let label = |i: usize, rng: &mut ChaCha8Rng| {
            let first = x[i] / scales[0];
            if i < classes {
                i
            } else {
                usize::from(first > 0.4) + usize::from(first + normal(rng) > 1.0) * (classes - 2)
            }
        };
        let labels = (0..n).map(|i| label(i, rng)).collect();
        let is_weighted = rng.random_bool(0.5);
        let weight = |i: usize, rng: &mut ChaCha8Rng| {
            if i >= classes && rng.random_bool(0.2) { 0.0 } else { power(rng, -1.0, 1.0) }
        };
        let weights = (0..n).map(|i| if is_weighted { weight(i, rng) } else { 1.0 }).collect();
        let is_offset = rng.random_bool(0.3);
        let offset = (0..n * classes).map(|_| if is_offset { normal(rng) } else { 0.0 }).collect();
        // On the scale of the columns, so that wild ones matter.
        let penalty =
            Penalty::new(power(rng, -1.0, 0.7), if rng.random_bool(0.3) { 0.1 } else { 0.0 }, power(rng, -2.0, 0.0));
        Self { n, p, classes, x, labels, weights, offset, penalty, intercept: rng.random_bool(0.7) }
    }

    pub fn with_problem<T>(&self, body: impl FnOnce(&Problem<'_>, &Groups) -> T) -> T {
        let x = Dense::new(self.n, self.p, self.x.clone()).unwrap();
        let design = PerClass::new(&x, self.classes);
        let stacked: Vec<f64> = (0..self.classes).flat_map(|_| self.weights.iter().copied()).collect();
        let problem = Problem::new(&design, PerClass::targets(&self.labels, self.classes), self.penalty.clone())
            .and_then(|p| p.with_classes(self.classes, self.intercept))
            .and_then(|p| p.with_weights(stacked))
            .and_then(|p| p.with_offset(self.offset.clone()))
            .unwrap();
        body(&problem, &Groups::per_class(self.p, self.classes))
    }

    /// Σ_i w_i (log Σ_k e^{v_ki} − v_yi).
    pub fn loss(&self, v: &[f64]) -> f64 {
        let one = |i: usize| {
            let scores: Vec<f64> = (0..self.classes).map(|k| v[k * self.n + i]).collect();
            let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let sum: f64 = scores.iter().map(|s| (s - most).exp()).sum();
            if self.weights[i] > 0.0 { self.weights[i] * (most + sum.ln() - scores[self.labels[i]]) } else { 0.0 }
        };
        (0..self.n).map(one).sum()
    }

    /// P of coefficients, with the intercepts that the loss says are best for them.
    pub fn objective(&self, problem: &Problem<'_>, coefficients: &Coefficients) -> f64 {
        let beta = coefficients.to_dense(self.p * self.classes);
        let mut v = self.offset.clone();
        for (place, b) in beta.iter().enumerate() {
            let (j, k) = (place / self.classes, place % self.classes);
            (0..self.n).for_each(|i| v[k * self.n + i] += b * self.x[j * self.n + i]);
        }
        let intercepts = problem.coupled().unwrap().intercepts(&v);
        v.iter_mut().enumerate().for_each(|(at, v)| *v += intercepts[at / self.n]);
        let chosen = beta.chunks(self.classes).filter(|b| b.iter().any(|b| *b != 0.0)).count();
        let shrunk: f64 = beta.iter().map(|b| self.penalty.lambda1 * b.abs() + self.penalty.lambda2 * b * b).sum();
        self.loss(&v) + shrunk + self.penalty.lambda0 * chosen as f64
    }

    /// The least loss and shrinkage on every subset, by its mask: P without its prices.
    pub fn fits(&self) -> Vec<f64> {
        let chosen = |mask: usize| (0..self.p).filter(|j| mask >> j & 1 == 1).collect::<Vec<_>>();
        (0..1 << self.p).map(|mask| self.fit(&chosen(mask)).0).collect()
    }

    /// The least P of all subsets.
    pub fn enumerated(&self) -> f64 {
        self.least_of(&self.fits(), self.penalty.lambda0, self.p)
    }

    /// The least of these fits at a price, of at most `most` features.
    pub fn least_of(&self, fits: &[f64], price: f64, most: usize) -> f64 {
        let sized = fits.iter().enumerate().map(|(mask, fit)| (mask.count_ones() as usize, fit));
        sized.filter(|s| s.0 <= most).map(|(size, fit)| fit + price * size as f64).fold(f64::INFINITY, f64::min)
    }

    /// min over the coefficients of `chosen` and the intercepts of loss and shrinkage, and where it is: b_jk feature by feature, then c_k.
    ///
    /// Columns of largest entry one; damped Newton steps that stop at zero where λ1 holds a coefficient there. Convex, so that a point
    /// whose slopes are right is the minimum: it is asserted that they are.
    pub fn fit(&self, chosen: &[usize]) -> (f64, Vec<f64>) {
        let smooth = Smooth::new(self, chosen);
        let mut theta = vec![0.0; smooth.columns.len() * self.classes];
        let (mut value, mut damping, mut idle) = (smooth.value(&theta), 1e-3, 0);
        for _ in 0..2000 {
            let (slopes, form) = smooth.slopes(&theta);
            let moving: Vec<(usize, f64)> =
                (0..theta.len()).filter_map(|a| smooth.pull(a, theta[a], slopes[a])).collect();
            let step = solved(&form, &moving, theta.len(), damping);
            let mut next = theta.clone();
            for (&(a, pull), s) in moving.iter().zip(&step) {
                let sign = if theta[a] != 0.0 { theta[a].signum() } else { -pull.signum() };
                let to = theta[a] + s;
                next[a] = if smooth.l1(a) > 0.0 && to * sign < 0.0 { 0.0 } else { to };
            }
            let there = smooth.value(&next);
            // Rounding hides what is left to be won long before steps are nothing.
            let (digits, length) = (1e-15 * (1.0 + value), step.iter().map(|s| s.abs()).fold(0.0, f64::max));
            if there <= value + digits {
                damping = (damping / 5.0).max(1e-14);
            } else {
                damping *= 8.0;
            }
            idle = if there < value - digits { 0 } else { idle + 1 };
            if there < value || (there <= value + digits && length < 1e-9) {
                (theta, value) = (next, there);
            }
            if length < 1e-12 || damping > 1e12 || idle > 60 {
                break;
            }
        }
        let (slopes, _) = smooth.slopes(&theta);
        let left = (0..theta.len()).filter_map(|a| smooth.pull(a, theta[a], slopes[a])).map(|m| m.1.abs());
        let left = left.fold(0.0, f64::max);
        assert!(left <= 1e-7 * (1.0 + value), "the reference did not end: a slope of {left} at {value}");
        let scaled = |(at, t): (usize, f64)| t / smooth.columns[at / self.classes].scale;
        (value, theta.into_iter().enumerate().map(scaled).collect())
    }
}

/// A column of the reference, or the one of the intercepts.
struct Scaled {
    entries: Vec<f64>,
    scale: f64,
    l1: f64,
    l2: f64,
}

/// Loss and shrinkage of some features.
struct Smooth<'c> {
    case: &'c ClassCase,
    columns: Vec<Scaled>,
}

impl<'c> Smooth<'c> {
    fn new(case: &'c ClassCase, chosen: &[usize]) -> Self {
        let one = |&j: &usize| {
            let own = &case.x[j * case.n..(j + 1) * case.n];
            let scale = own.iter().map(|x| x.abs()).fold(f64::MIN_POSITIVE, f64::max);
            let (l1, l2) = (case.penalty.lambda1 / scale, case.penalty.lambda2 / (scale * scale));
            Scaled { entries: own.iter().map(|x| x / scale).collect(), scale, l1, l2 }
        };
        let ones = Scaled { entries: vec![1.0; case.n], scale: 1.0, l1: 0.0, l2: 0.0 };
        let columns = chosen.iter().map(one).chain(case.intercept.then_some(ones)).collect();
        Self { case, columns }
    }

    fn l1(&self, a: usize) -> f64 {
        self.columns[a / self.case.classes].l1
    }

    fn margins(&self, theta: &[f64]) -> Vec<f64> {
        let (n, classes) = (self.case.n, self.case.classes);
        let mut v = self.case.offset.clone();
        for (a, t) in theta.iter().enumerate() {
            let column = &self.columns[a / classes].entries;
            (0..n).for_each(|i| v[a % classes * n + i] += t * column[i]);
        }
        v
    }

    fn value(&self, theta: &[f64]) -> f64 {
        let shrunk = |(a, t): (usize, &f64)| {
            let c = &self.columns[a / self.case.classes];
            c.l1 * t.abs() + c.l2 * t * t
        };
        self.case.loss(&self.margins(theta)) + theta.iter().enumerate().map(shrunk).sum::<f64>()
    }

    /// The first and second derivatives of all but λ1.
    fn slopes(&self, theta: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let (n, classes, size) = (self.case.n, self.case.classes, theta.len());
        let (v, mut first, mut second) = (self.margins(theta), vec![0.0; size], vec![0.0; size * size]);
        for i in (0..n).filter(|&i| self.case.weights[i] > 0.0) {
            let most = (0..classes).map(|k| v[k * n + i]).fold(f64::NEG_INFINITY, f64::max);
            let sum: f64 = (0..classes).map(|k| (v[k * n + i] - most).exp()).sum();
            let p: Vec<f64> = (0..classes).map(|k| (v[k * n + i] - most).exp() / sum).collect();
            let w = self.case.weights[i];
            for (j, own) in self.columns.iter().enumerate() {
                for k in 0..classes {
                    let (a, is_own) = (j * classes + k, f64::from(u8::from(self.case.labels[i] == k)));
                    first[a] += w * own.entries[i] * (p[k] - is_own);
                    let row = &mut second[a * size..][..(j + 1) * classes];
                    for (part, other) in row.chunks_exact_mut(classes).zip(&self.columns) {
                        let entries = w * own.entries[i] * other.entries[i];
                        for l in 0..classes {
                            part[l] += entries * (if k == l { p[k] } else { 0.0 } - p[k] * p[l]);
                        }
                    }
                }
            }
        }
        for a in 0..size {
            (0..a).for_each(|b| second[b * size + a] = second[a * size + b]);
            let l2 = self.columns[a / classes].l2;
            first[a] += 2.0 * l2 * theta[a];
            second[a * size + a] += 2.0 * l2;
        }
        (first, second)
    }

    /// The slope of the whole at a coefficient that λ1 does not hold at zero.
    fn pull(&self, a: usize, at: f64, slope: f64) -> Option<(usize, f64)> {
        let l1 = self.l1(a);
        match at == 0.0 {
            true if slope.abs() <= l1 => None,
            true => Some((a, slope - l1 * slope.signum())),
            false => Some((a, slope + l1 * at.signum())),
        }
    }
}

/// −(H + damping · diagonal)⁻¹ slopes on the coefficients that move, by elimination with pivots.
fn solved(form: &[f64], moving: &[(usize, f64)], size: usize, damping: f64) -> Vec<f64> {
    let count = moving.len();
    let mut rows: Vec<Vec<f64>> = (0..count)
        .map(|a| {
            let mut row: Vec<f64> = (0..count).map(|b| form[moving[a].0 * size + moving[b].0]).collect();
            row[a] += damping * (row[a] + 1e-3) + 1e-13;
            row.push(-moving[a].1);
            row
        })
        .collect();
    for k in 0..count {
        let best = (k..count).max_by(|&a, &b| rows[a][k].abs().total_cmp(&rows[b][k].abs())).unwrap_or(k);
        rows.swap(k, best);
        for a in k + 1..count {
            let share = rows[a][k] / rows[k][k];
            for b in k..=count {
                let own = rows[k][b];
                rows[a][b] -= share * own;
            }
        }
    }
    let mut step = vec![0.0; count];
    for k in (0..count).rev() {
        let known: f64 = (k + 1..count).map(|b| rows[k][b] * step[b]).sum();
        step[k] = (rows[k][count] - known) / rows[k][k];
    }
    step
}
