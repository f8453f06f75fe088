//! The conjugate of the partial likelihood (MATH 15.8–15.11), as a number that rounding cannot have lowered.
//!
//! With c = α + δ, L*(α) is the least Σ_k d_k (negative entropy of p_k) over c = Σ_k d_kp_k, p_k in the simplex over the risk set of
//! term k. Any hazards h_k > 0 share every c_i out among its terms, q_ki = c_ih_kâ_ki/H_i with â_ki = a_ki/w_i; scaled to the sums d_k they are such a
//! decomposition of a c′ next to c. How h was found does not matter for that: it is right when c′ = c.

use crate::loss::CoupledConjugate;
use crate::loss::cox::{Cox, Tied};

/// The share by which the sums of a decomposition may be off before h is made better.
const CLOSE: f64 = 1e-12;

/// Newton steps for h at the most.
const STEPS: usize = 60;

/// Products with the second derivative in one of them at the most.
const PRODUCTS: usize = 300;

/// The part of the weight of an event that those at risk have left for earlier times at the least: less is rounding's.
const LEAST: f64 = 1e-18;

/// 2⁹⁰⁰: where hazards begin that fall by more than e^700.
const LARGE: f64 = 8.452712498170644e270;

/// How H_{k−1} follows from H_k.
#[derive(Debug, Clone, Copy)]
enum Back {
    Differences,
    /// From this H at the last event time.
    Masses(f64),
}

/// c shared out among the terms by hazards h.
struct SharedOut {
    /// H_i = Σ_k â_ki h_k.
    cumulated: Vec<f64>,
    /// s_k = Σ_i q_ki.
    sums: Vec<f64>,
    /// max |d_k/s_k − 1|.
    off: f64,
}

impl Cox {
    /// L*(α′) (MATH 15.10) at α′ next to α; `None` outside the domain.
    pub(super) fn conjugate_near(&self, alpha: &[f64]) -> Option<CoupledConjugate> {
        let reach: Vec<f64> = alpha.iter().zip(&self.delta).map(|(a, d)| a.abs() + d).collect();
        let mut c = Vec::with_capacity(alpha.len());
        for (i, (a, d)) in alpha.iter().zip(&self.delta).enumerate() {
            let x = a + d;
            // What only the rounding of c − δ put below zero is at zero.
            let least = if self.risk.stratum(i).is_some() { -4.0 * f64::EPSILON * reach[i] } else { 0.0 };
            if x.is_nan() || x < least || (self.risk.stratum(i).is_none() && x != 0.0) {
                return None;
            }
            c.push(x.max(0.0));
        }
        let hazards = self.shares(&c)?;
        let shared = self.share(&c, &hazards);
        if shared.off.is_nan() || shared.off >= 0.5 {
            return None;
        }
        let (mut value, mut size) = (self.least, self.least.abs());
        let mut scaled = vec![0.0; self.terms];
        for (k, at, _) in self.each_term() {
            let (d, log) = (self.tied[k].weight, (hazards[at] / shared.sums[at]).ln());
            value += d * log;
            size += d * (1.0 + log.abs());
            scaled[at] = hazards[at] * (d / shared.sums[at]);
        }
        let near = self.of_samples(&scaled, None);
        for i in (0..c.len()).filter(|&i| c[i] > 0.0) {
            let ratio = c[i] / shared.cumulated[i];
            let (part, log) = (ratio * near[i], (ratio / self.weight(i)).ln());
            value += part * log;
            size += part * (1.0 + log.abs());
        }
        let moved = shared.off * (1.0 + 1e-6) + 4.0 * f64::EPSILON * (c.len() + 16) as f64;
        (value.is_finite() && size.is_finite()).then_some(CoupledConjugate { value, size: 4.0 * size, moved, reach })
    }

    /// c′ = Σ_k d_kp_k (MATH 15.10): every α goes to a point of the domain, one in it to itself.
    pub(super) fn move_into_domain(&self, alpha: &mut [f64]) {
        let is_there = |i: usize| self.risk.stratum(i).is_some();
        let mut c: Vec<f64> = (0..alpha.len())
            .map(|i| if is_there(i) { Some(alpha[i] + self.delta[i]).filter(|c| *c > 0.0).unwrap_or(0.0) } else { 0.0 })
            .collect();
        // The sum over a stratum is that of its events.
        let mut totals = vec![0.0; self.risk.strata.len()];
        (0..c.len()).for_each(|i| totals[self.risk.stratum(i).unwrap_or(0)] += c[i]);
        for (i, c) in c.iter_mut().enumerate() {
            let Some(s) = self.risk.stratum(i) else { continue };
            let share = self.risk.strata[s].weight / totals[s];
            *c = if share.is_finite() { *c * share } else { self.delta[i] };
        }
        let near = self.shares(&c).map(|hazards| {
            let shared = self.share(&c, &hazards);
            let scaled: Vec<f64> =
                self.each_term().map(|(k, at, _)| hazards[at] * (self.tied[k].weight / shared.sums[at])).collect();
            let near = self.of_samples(&scaled, None);
            let one = |i: usize| if c[i] > 0.0 { c[i] / shared.cumulated[i] * near[i] } else { 0.0 };
            (0..c.len()).map(one).collect::<Vec<f64>>()
        });
        match near.filter(|near| near.iter().all(|c| c.is_finite())) {
            Some(near) => alpha.iter_mut().zip(near).zip(&self.delta).for_each(|((a, c), d)| *a = c - d),
            None => crate::loss::CoupledLoss::gradient(self, &vec![0.0; alpha.len()], alpha),
        }
    }

    /// q_ki = c_ih_kâ_ki/H_i (MATH 15.9).
    fn share(&self, c: &[f64], hazards: &[f64]) -> SharedOut {
        let cumulated = self.of_samples(hazards, None);
        let ratios: Vec<f64> = c.iter().zip(&cumulated).map(|(c, h)| if *c > 0.0 { c / h } else { 0.0 }).collect();
        let (whole, own) = self.risk.collect(&ratios, None);
        let sums: Vec<f64> = self.of_terms(&whole, &own).iter().zip(hazards).map(|(s, h)| s * h).collect();
        let apart = |(k, at, _): (usize, usize, f64)| (self.tied[k].weight / sums[at] - 1.0).abs();
        // No number is far off.
        let off = self.each_term().map(apart).fold(0.0, |a, b| if b <= a { a } else { b });
        SharedOut { cumulated, sums, off: if off.is_nan() { f64::INFINITY } else { off } }
    }

    /// Hazards with s_k = d_k, as nearly as they are found; `None` where they are no numbers.
    fn shares(&self, c: &[f64]) -> Option<Vec<f64>> {
        let (mut nearest, mut least) = (None, 0.1);
        for way in
            [Back::Differences, Back::Masses(1.0), Back::Masses(LARGE)].into_iter().filter(|_| !self.risk.delayed)
        {
            let Some(hazards) = self.backwards(c, way) else { continue };
            let off = self.share(c, &hazards).off;
            if off <= CLOSE * (c.len() as f64).sqrt() {
                return Some(hazards);
            }
            if off < least {
                (nearest, least) = (Some(hazards), off);
            }
        }
        if let Some(hazards) = nearest {
            return Some(self.improved(c, hazards));
        }
        let ones: Vec<f64> = (0..c.len()).map(|i| if c[i] > 0.0 { self.weight(i) } else { 0.0 }).collect();
        let (whole, own) = self.risk.collect(&ones, None);
        let sums = self.of_terms(&whole, &own);
        let start: Vec<f64> = self.each_term().map(|(k, at, _)| self.tied[k].weight / sums[at]).collect();
        start.iter().all(|h| h.is_finite() && *h > 0.0).then(|| self.improved(c, start))
    }

    /// H_{k−1} = H_k − Σ_l h_kl from the last event time back, where nobody entered late (MATH 15.11): E_k is the root of
    /// E (H_k − Σ_l (l/m) h_kl) = Σ c_i over those who die at t_k, with h_kl = d_k/(A_k + (1 − l/m) E), A_k the sum over those who live on.
    ///
    /// A difference has no digits where one event has next to all of its risk set; what those at risk have left for earlier times has:
    /// H_{k−1} = M_k/(A_k + E_k) (MATH 15.21), M_k = Σ α_i over those at risk at t_k or later.
    fn backwards(&self, c: &[f64], way: Back) -> Option<Vec<f64>> {
        let times = self.tied.len();
        let (mut lived, mut died) = (vec![0.0; times], vec![0.0; times]);
        let mut left = vec![0.0; times];
        for (i, &x) in c.iter().enumerate() {
            match (self.risk.death(i), self.risk.last(i)) {
                (Some(k), _) => (died[k], left[k]) = (died[k] + x, left[k] + (x - self.delta[i])),
                (None, Some(k)) => (lived[k], left[k]) = (lived[k] + x, left[k] + x),
                _ => {}
            }
        }
        let mut hazards = vec![0.0; self.terms];
        for stratum in &self.risk.strata {
            let start = if let Back::Masses(start) = way { start } else { 1.0 };
            let (mut cumulated, mut later, mut mass) = (start, 0.0, 0.0);
            for k in stratum.times.clone().rev() {
                let (tied, whole) = (self.tied[k], later + lived[k] / cumulated);
                let own = own_risk(tied, cumulated, whole, died[k])?;
                let mut sum = 0.0;
                for l in 0..tied.terms {
                    let h = tied.weight / (whole + (tied.terms - l) as f64 / tied.terms as f64 * own);
                    hazards[tied.start + l] = h;
                    sum += h;
                }
                later = whole + own;
                mass += left[k];
                cumulated = match way {
                    Back::Differences => cumulated - sum,
                    Back::Masses(_) => f64::max(mass, LEAST * tied.weight) / later,
                };
                if k > stratum.times.start && !(cumulated > 0.0 && later.is_finite()) {
                    return None;
                }
            }
        }
        hazards.iter().all(|h| h.is_finite() && *h > 0.0).then_some(hazards)
    }

    /// Newton's method for max_g Σ_k d_kg_k − Σ_i c_i log Σ_k â_ki e^{g_k} (MATH 15.11), h = e^g, which is concave: its slope is d − s.
    fn improved(&self, c: &[f64], mut hazards: Vec<f64>) -> Vec<f64> {
        let weights: Vec<f64> = self.each_term().map(|(k, _, _)| self.tied[k].weight).collect();
        let value = |h: &[f64], cumulated: &[f64]| -> f64 {
            let gains: f64 = weights.iter().zip(h).map(|(d, h)| d * h.ln()).sum();
            gains - (0..c.len()).filter(|&i| c[i] > 0.0).map(|i| c[i] * cumulated[i].ln()).sum::<f64>()
        };
        let mut shared = self.share(c, &hazards);
        let mut now = value(&hazards, &shared.cumulated);
        for _ in 0..STEPS {
            if shared.off.is_nan() || shared.off <= CLOSE {
                break;
            }
            let slope: Vec<f64> = weights.iter().zip(&shared.sums).map(|(d, s)| d - s).collect();
            let step = self.newton_step(c, &hazards, &shared, &slope);
            let longest = step.iter().fold(0.0f64, |a, b| a.max(b.abs()));
            let mut t = if longest > 2.0 { 2.0 / longest } else { 1.0 };
            let mut better = None;
            for _ in 0..30 {
                let trial: Vec<f64> = hazards.iter().zip(&step).map(|(h, g)| h * (t * g).exp()).collect();
                let next = self.share(c, &trial);
                let then = value(&trial, &next.cumulated);
                // Near the end the sums tell more than the value, which rounding hides.
                if then > now || next.off < 0.5 * shared.off {
                    better = Some((trial, next, then));
                    break;
                }
                t *= 0.5;
            }
            let Some((trial, next, then)) = better else { break };
            (hazards, shared, now) = (trial, next, then);
        }
        hazards
    }

    /// (diag(s) − Σ_i c_iπ_iπ_iᵀ) g = d − s by conjugate gradients, π_ki = â_ki h_k/H_i.
    fn newton_step(&self, c: &[f64], hazards: &[f64], shared: &SharedOut, slope: &[f64]) -> Vec<f64> {
        let product = |g: &[f64]| -> Vec<f64> {
            let terms: Vec<f64> = hazards.iter().zip(g).map(|(h, g)| h * g).collect();
            let mut along = self.of_samples(&terms, None);
            for (i, x) in along.iter_mut().enumerate() {
                let h = shared.cumulated[i];
                *x = if c[i] > 0.0 { *x * (c[i] / h / h) } else { 0.0 };
            }
            let (whole, own) = self.risk.collect(&along, None);
            let back = self.of_terms(&whole, &own);
            (0..g.len()).map(|k| shared.sums[k] * g[k] - hazards[k] * back[k]).collect()
        };
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
        let scaled = |r: &[f64]| -> Vec<f64> { r.iter().zip(&shared.sums).map(|(r, s)| r / s).collect() };
        let (mut step, mut rest) = (vec![0.0; slope.len()], slope.to_vec());
        let mut along = scaled(&rest);
        let mut size = dot(&rest, &along);
        let enough = size * (shared.off.min(0.1)).powi(2);
        for _ in 0..PRODUCTS {
            let image = product(&along);
            let t = size / dot(&along, &image);
            if !t.is_finite() || t <= 0.0 {
                break;
            }
            step.iter_mut().zip(&along).for_each(|(x, a)| *x += t * a);
            rest.iter_mut().zip(&image).for_each(|(r, q)| *r -= t * q);
            let next = scaled(&rest);
            let new = dot(&rest, &next);
            if new <= enough {
                break;
            }
            along.iter_mut().zip(&next).for_each(|(a, z)| *a = z + new / size * *a);
            size = new;
        }
        step
    }
}

/// The root E ≥ 0 of E H − Σ_l (l/m) d E/(A + (1 − l/m) E) = C (MATH 15.11), which is convex in E: Newton steps from beyond the root never
/// pass it.
fn own_risk(tied: Tied, cumulated: f64, whole: f64, died: f64) -> Option<f64> {
    if tied.terms == 1 || died <= 0.0 {
        return Some(died.max(0.0) / cumulated);
    }
    let m = tied.terms as f64;
    let at = |e: f64| {
        let (mut value, mut slope) = (e * cumulated - died, cumulated);
        for l in 1..tied.terms {
            let (gone, left) = (l as f64 / m, (m - l as f64) / m);
            let sum = whole + left * e;
            value -= gone * tied.weight * e / sum;
            slope -= gone * tied.weight * whole / (sum * sum);
        }
        (value, slope)
    };
    // Each of the terms taken away is at most (l/m) d/(1 − l/m) = l d/(m − l).
    let most: f64 = (1..tied.terms).map(|l| tied.weight * l as f64 / (m - l as f64)).sum();
    let mut e = (died + most) / cumulated;
    for _ in 0..100 {
        let (value, slope) = at(e);
        let next = e - value / slope;
        if !(next > 0.0 && next.is_finite()) {
            return None;
        }
        if (next - e).abs() <= 2.0 * f64::EPSILON * e {
            return Some(next);
        }
        e = next;
    }
    Some(e)
}
