//! Survival times in plain numbers, and the partial likelihood written out from its definition: no sums are shared with the library.

use super::{ChaCha8Rng, RngExt, normal, power};
use bestset::design::Dense;
use bestset::{Penalty, Problem, Survival, Ties};

/// A problem of Cox.
#[derive(Debug, Clone)]
pub struct CoxCase {
    pub n: usize,
    pub p: usize,
    pub x: Vec<f64>,
    pub times: Survival,
    pub ties: Ties,
    pub weights: Option<Vec<f64>>,
    pub offset: Option<Vec<f64>>,
    pub penalty: Penalty,
}

/// Draws ties, strata, delayed entry, weights (some zero), offsets; columns over six orders of size if `wild`.
pub fn survival_case(rng: &mut ChaCha8Rng, n: usize, p: usize, wild: bool) -> CoxCase {
    let scales: Vec<f64> = (0..p).map(|_| if wild { power(rng, -3.0, 3.0) } else { 1.0 }).collect();
    let mut x: Vec<f64> = (0..n * p).map(|at| scales[at / n] * normal(rng)).collect();
    if wild && p > 1 && rng.random_bool(0.3) {
        let copy = x[..n].to_vec();
        x[n..2 * n].copy_from_slice(&copy);
    }
    let signal: Vec<f64> = (0..n).map(|i| (x[i] / scales[0]).clamp(-3.0, 3.0)).collect();
    let coarse = rng.random_bool(0.5);
    let mut time: Vec<f64> = signal.iter().map(|s| -(1.0 - rng.random::<f64>()).ln() * (-0.7 * s).exp()).collect();
    if coarse {
        time.iter_mut().for_each(|t| *t = (3.0 * *t).ceil().min(9.0));
    }
    let mut event: Vec<bool> = (0..n).map(|_| rng.random_bool(0.7)).collect();
    event[0] = true;
    let late = rng.random_bool(0.4);
    let entry = late.then(|| time.iter().map(|t| if rng.random_bool(0.5) { 0.6 * t } else { -1.0 }).collect());
    let strata = rng.random_bool(0.3).then(|| (0..n).map(|_| rng.random_range(3..6)).collect());
    let ties = if rng.random_bool(0.6) { Ties::Efron } else { Ties::Breslow };
    let weights = rng.random_bool(0.4).then(|| {
        let mut w: Vec<f64> = (0..n).map(|_| if rng.random_bool(0.2) { 0.0 } else { power(rng, -1.0, 1.0) }).collect();
        w[0] = 1.0;
        w
    });
    let offset = rng.random_bool(0.3).then(|| (0..n).map(|_| normal(rng)).collect());
    let lambda0 = power(rng, -1.5, 0.5);
    let penalty = Penalty::new(lambda0, 0.0, power(rng, -2.0, 0.0));
    CoxCase { n, p, x, times: Survival { time, event, entry, strata }, ties, weights, offset, penalty }
}

impl CoxCase {
    pub fn design(&self) -> Dense<'static> {
        Dense::new(self.n, self.p, self.x.clone()).unwrap()
    }

    pub fn problem<'a>(&self, design: &'a Dense<'a>) -> Problem<'a> {
        let mut problem = Problem::new(design, self.times.time.clone(), self.penalty.clone()).unwrap();
        if let Some(w) = &self.weights {
            problem = problem.with_weights(w.clone()).unwrap();
        }
        if let Some(o) = &self.offset {
            problem = problem.with_offset(o.clone()).unwrap();
        }
        problem.with_survival(self.times.clone(), self.ties).unwrap()
    }

    pub fn weight(&self, i: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |w| w[i])
    }

    pub fn margins(&self, support: &[usize], beta: &[f64]) -> Vec<f64> {
        let own = |i: usize| support.iter().zip(beta).map(|(&j, b)| b * self.x[j * self.n + i]).sum::<f64>();
        (0..self.n).map(|i| self.offset.as_ref().map_or(0.0, |o| o[i]) + own(i)).collect()
    }

    /// Every term: its weight, what each sample counts for in its risk set, and what its events count for in it together.
    pub fn terms(&self) -> Vec<(f64, Vec<f64>, f64)> {
        let Survival { time, event, entry, strata } = &self.times;
        let stratum = |i: usize| strata.as_ref().map_or(0, |s| s[i]);
        let died = |i: usize| event[i] && self.weight(i) > 0.0;
        let mut seen: Vec<(usize, f64)> = Vec::new();
        let mut terms = Vec::new();
        for e in (0..self.n).filter(|&e| died(e)) {
            if seen.contains(&(stratum(e), time[e])) {
                continue;
            }
            seen.push((stratum(e), time[e]));
            let tied = |i: usize| died(i) && stratum(i) == stratum(e) && time[i] == time[e];
            let (m, d) = (0..self.n).filter(|&i| tied(i)).fold((0, 0.0), |(m, d), i| (m + 1, d + self.weight(i)));
            let at_risk = |i: usize| {
                let entered = entry.as_ref().is_none_or(|s| s[i] < time[e]);
                stratum(i) == stratum(e) && entered && time[i] >= time[e]
            };
            let count = if self.ties == Ties::Breslow { 1 } else { m };
            for l in 0..count {
                let gone = if self.ties == Ties::Breslow { 0.0 } else { l as f64 / m as f64 };
                let share = |i: usize| match (at_risk(i), tied(i)) {
                    (false, _) => 0.0,
                    (true, true) => self.weight(i) * (1.0 - gone),
                    (true, false) => self.weight(i),
                };
                let own = (0..self.n).filter(|&i| tied(i)).map(share).sum();
                terms.push((d / count as f64, (0..self.n).map(share).collect(), own));
            }
        }
        terms
    }

    /// The least value of L that a saturated model has, where weights below one make it negative: every event time has its events alone.
    pub fn least(&self) -> f64 {
        self.terms().iter().map(|(d, _, own)| d * own.ln()).sum::<f64>().min(0.0)
    }

    /// L(u) with its gradient, from the definition.
    pub fn loss(&self, u: &[f64]) -> (f64, Vec<f64>) {
        let (mut value, mut slope) = (-self.least(), vec![0.0; self.n]);
        for (d, shares, _) in self.terms() {
            let most = (0..self.n).filter(|&i| shares[i] > 0.0).map(|i| u[i]).fold(f64::NEG_INFINITY, f64::max);
            let sum: f64 = (0..self.n).filter(|&i| shares[i] > 0.0).map(|i| shares[i] * (u[i] - most).exp()).sum();
            value += d * (most + sum.ln());
            (0..self.n)
                .filter(|&i| shares[i] > 0.0)
                .for_each(|i| slope[i] += d * shares[i] * (u[i] - most).exp() / sum);
        }
        for i in (0..self.n).filter(|&i| self.times.event[i] && self.weight(i) > 0.0) {
            value -= self.weight(i) * u[i];
            slope[i] -= self.weight(i);
        }
        (value, slope)
    }

    /// vᵀ∇²L(u)v, a variance for every term, from the definition.
    pub fn curvature_along(&self, u: &[f64], v: &[f64]) -> f64 {
        let one = |(d, shares, _): (f64, Vec<f64>, f64)| {
            let there = || (0..self.n).filter(|&i| shares[i] > 0.0);
            let most = there().map(|i| u[i]).fold(f64::NEG_INFINITY, f64::max);
            let risk = |i: usize| shares[i] * (u[i] - most).exp();
            let sum: f64 = there().map(risk).sum();
            let mean: f64 = there().map(|i| risk(i) * v[i]).sum::<f64>() / sum;
            d * there().map(|i| risk(i) * (v[i] - mean).powi(2)).sum::<f64>() / sum
        };
        self.terms().into_iter().map(one).sum()
    }

    /// min L + λ2‖β‖² on a support, by damped Newton steps with second derivatives from the definition.
    pub fn fit(&self, support: &[usize]) -> (f64, Vec<f64>) {
        let (k, l2) = (support.len(), self.penalty.lambda2);
        let column = |a: usize, i: usize| self.x[support[a] * self.n + i];
        let terms = self.terms();
        let value =
            |beta: &[f64]| self.loss(&self.margins(support, beta)).0 + l2 * beta.iter().map(|b| b * b).sum::<f64>();
        let mut beta = vec![0.0; k];
        for _ in 0..200 {
            let u = self.margins(support, &beta);
            let slope = self.loss(&u).1;
            let g: Vec<f64> = (0..k)
                .map(|a| (0..self.n).map(|i| column(a, i) * slope[i]).sum::<f64>() + 2.0 * l2 * beta[a])
                .collect();
            let mut h = vec![vec![0.0; k]; k];
            for (d, shares, _) in &terms {
                let most = (0..self.n).filter(|&i| shares[i] > 0.0).map(|i| u[i]).fold(f64::NEG_INFINITY, f64::max);
                let risk: Vec<f64> =
                    (0..self.n).map(|i| if shares[i] > 0.0 { shares[i] * (u[i] - most).exp() } else { 0.0 }).collect();
                let sum: f64 = risk.iter().sum();
                let mean = |a: usize| (0..self.n).map(|i| risk[i] * column(a, i)).sum::<f64>() / sum;
                let means: Vec<f64> = (0..k).map(mean).collect();
                for a in 0..k {
                    for b in 0..k {
                        let cross = |i: usize| risk[i] * (column(a, i) - means[a]) * (column(b, i) - means[b]);
                        h[a][b] += d * (0..self.n).map(cross).sum::<f64>() / sum;
                    }
                }
            }
            (0..k).for_each(|a| h[a][a] += 2.0 * l2);
            let step = solved(h, g.clone());
            let decrement: f64 = step.iter().zip(&g).map(|(s, g)| s * g).sum();
            let now = value(&beta);
            if decrement.is_nan() || decrement <= 1e-15 * now.abs().max(1e-3) {
                break;
            }
            let mut t = 1.0;
            while t > 1e-12 {
                let trial: Vec<f64> = beta.iter().zip(&step).map(|(b, s)| b - t * s).collect();
                if value(&trial) <= now - 1e-4 * t * decrement {
                    beta = trial;
                    break;
                }
                t *= 0.5;
            }
            if t <= 1e-12 {
                break;
            }
        }
        (value(&beta), beta)
    }

    /// P of the best subset.
    pub fn best(&self) -> f64 {
        let all = (0u32..1 << self.p).map(|mask| (0..self.p).filter(|j| mask >> j & 1 == 1).collect::<Vec<_>>());
        all.map(|s| self.fit(&s).0 + self.penalty.lambda0 * s.len() as f64).fold(f64::INFINITY, f64::min)
    }
}

/// A solution of h x = g by elimination.
fn solved(mut h: Vec<Vec<f64>>, mut g: Vec<f64>) -> Vec<f64> {
    let k = g.len();
    for a in 0..k {
        for b in a + 1..k {
            let ratio = h[b][a] / h[a][a];
            for c in a..k {
                h[b][c] -= ratio * h[a][c];
            }
            g[b] -= ratio * g[a];
        }
    }
    for a in (0..k).rev() {
        let later: f64 = (a + 1..k).map(|b| h[a][b] * g[b]).sum();
        g[a] = (g[a] - later) / h[a][a];
    }
    g
}
