//! Which curvature and which products to take (MATH 11.43): multipliers of a relaxation in second moments.
//!
//! With B for ββᵀ and coefficients of known signs the best d and Ω are the multipliers of
//!
//!   min ½⟨Q, B⟩ − cᵀβ + Σ { λ1β_j + λ2B_jj + λ0β_j²/B_jj }   over   (1 βᵀ; β B) ⪰ 0,  B_jl ≥ 0,
//!
//! found by the method of multipliers: by turns the matrix is made semidefinite, by one spectral decomposition, and its entries minimise
//! their own terms. What comes out need not be exact: it is made feasible, and the bound is computed from it.

use faer::linalg::matmul::matmul;
use faer::linalg::solvers::SelfAdjointEigen;
use faer::{Accum, Mat, Par, Side};

/// The first row of the matrix beside its other entries, which are about one: with 1 it hardly converges, 3 and 6 are alike.
const FIRST_ROW: f64 = 4.0;
/// Over-relaxation, of the customary 1.5 to 1.8.
const OVER: f64 = 1.6;
/// Steps after which the weight of the difference is looked at.
const LOOK_EVERY: usize = 10;
/// What it changes by.
const CHANGE: f64 = 1.5;
/// Newton steps for the diagonal entry of one coefficient: with so many it is known to more digits than the rest.
const NEWTON: usize = 12;

/// Coefficients that are to be ≥ 0: signs are turned before.
pub struct Moments<'t> {
    /// Q.
    pub q: &'t Mat<f64>,
    /// c − λ1.
    pub pull: &'t [f64],
    /// λ0 of each, zero for one in the model.
    pub price: &'t [f64],
    /// λ2 of each, above zero.
    pub ridge: &'t [f64],
    /// Whose products may be taken.
    pub is_sure: &'t [bool],
}

/// Both matrices of the method and the weight of their difference.
#[derive(Clone)]
pub struct State {
    z: Mat<f64>,
    u: Mat<f64>,
    rho: f64,
}

/// d and Ω.
pub struct Multipliers {
    /// d_j, unbounded yet.
    pub d: Vec<f64>,
    /// Ω_jl ≥ 0, with a zero diagonal.
    pub omega: Mat<f64>,
}

/// The problem in units in which a coefficient at its knee is one and a typical price is one.
pub struct Scaled<'t> {
    moments: &'t Moments<'t>,
    unit: Vec<f64>,
    price: Vec<f64>,
    scale: f64,
    /// The linear part of the objective: ½Q + diag(λ2), bordered by (λ1 − c)/2.
    cost: Mat<f64>,
}

impl<'t> Scaled<'t> {
    /// `None` where there is no price.
    pub fn new(moments: &'t Moments<'t>) -> Option<Self> {
        let m = moments.price.len();
        let paying: Vec<f64> = moments.price.iter().copied().filter(|l0| *l0 > 0.0).collect();
        let scale = paying.iter().sum::<f64>() / paying.len().max(1) as f64;
        if scale.is_nan() || scale <= 0.0 {
            return None;
        }
        let unit: Vec<f64> = (0..m)
            .map(|j| (if moments.price[j] > 0.0 { moments.price[j] } else { scale } / moments.ridge[j]).sqrt())
            .collect();
        let cost = Mat::from_fn(m + 1, m + 1, |a, b| match (a, b) {
            (0, 0) => 0.0,
            (0, j) | (j, 0) => -0.5 * moments.pull[j - 1] * unit[j - 1] / scale / FIRST_ROW,
            (j, l) => {
                let (j, l) = (j - 1, l - 1);
                let own = if j == l { moments.ridge[j] } else { 0.0 };
                (0.5 * moments.q[(j, l)] + own) * unit[j] * unit[l] / scale
            }
        });
        let price = moments.price.iter().map(|l0| l0 / scale).collect();
        Some(Self { moments, unit, price, scale, cost })
    }

    /// The start from coefficients alone.
    pub fn start(&self, beta: &[f64]) -> State {
        let m = beta.len();
        let x: Vec<f64> = beta.iter().zip(&self.unit).map(|(b, unit)| (b / unit).max(0.0)).collect();
        let z = Mat::from_fn(m + 1, m + 1, |a, b| match (a, b) {
            (0, 0) => FIRST_ROW * FIRST_ROW,
            (0, j) | (j, 0) => FIRST_ROW * x[j - 1],
            (j, l) if j == l && self.price[j - 1] > 0.0 => x[j - 1].max(x[j - 1] * x[j - 1]),
            (j, l) => x[j - 1] * x[l - 1],
        });
        let typical = (1..=m).map(|j| self.cost[(j, j)]).sum::<f64>() / m.max(1) as f64;
        // Where costs are about 3/2, as where a ridge is a column's curvature, 1 is right.
        State { u: Mat::zeros(m + 1, m + 1), z, rho: (typical / 1.5).clamp(1e-3, 1e6) }
    }

    /// So many steps from a state; nothing where a decomposition fails or a limit strikes.
    pub fn steps(&self, mut state: State, count: usize, stop: &dyn Fn() -> bool) -> Option<State> {
        for step in 1..=count {
            if stop() {
                return None;
            }
            let y = semidefinite(&state)?;
            let rho = state.rho;
            let next = self.entries(&y, &mut state);
            if step % LOOK_EVERY == 0 && 5 * step < 4 * count {
                let (primal, dual) = (distance(&y, &next), rho * distance(&next, &state.z));
                let by = match (primal * rho > 2.0 * dual, dual > 2.0 * primal * rho) {
                    (true, _) => CHANGE,
                    (_, true) => 1.0 / CHANGE,
                    _ => 1.0,
                };
                state.rho *= by;
                state.u.col_iter_mut().for_each(|column| column.iter_mut().for_each(|u| *u /= by));
            }
            state.z = next;
        }
        Some(state)
    }

    /// The minimisers of their own terms, with `u` brought up to date.
    fn entries(&self, y: &Mat<f64>, state: &mut State) -> Mat<f64> {
        let (m, rho) = (self.unit.len(), state.rho);
        let mixed = |a: usize, b: usize, state: &State| OVER * y[(a, b)] + (1.0 - OVER) * state.z[(a, b)];
        let at = |a: usize, b: usize, state: &State| mixed(a, b, state) + state.u[(a, b)] - self.cost[(a, b)] / rho;
        let mut next = Mat::zeros(m + 1, m + 1);
        for b in 1..=m {
            for a in 1..b {
                let free = at(a, b, state);
                let sure = self.moments.is_sure[a - 1] && self.moments.is_sure[b - 1];
                let value = if sure { free.max(0.0) } else { free };
                (next[(a, b)], next[(b, a)]) = (value, value);
            }
            let pull = (at(0, b, state) / FIRST_ROW).max(0.0);
            let (x, square) = own_entries(pull, at(b, b, state), self.price[b - 1], rho);
            (next[(0, b)], next[(b, 0)], next[(b, b)]) = (FIRST_ROW * x, FIRST_ROW * x, square);
        }
        next[(0, 0)] = FIRST_ROW * FIRST_ROW;
        for b in 0..=m {
            for a in 0..=m {
                state.u[(a, b)] += mixed(a, b, state) - next[(a, b)];
            }
        }
        next
    }

    /// d_j = Q_jj − what is left, Ω_jl what is taken of Q_jl.
    pub fn multipliers(&self, state: &State) -> Multipliers {
        let (m, moments) = (self.unit.len(), self.moments);
        let back = |j: usize, l: usize| 2.0 * self.scale / (self.unit[j] * self.unit[l]);
        let left = |j: usize, l: usize| state.rho * 0.5 * (state.u[(j + 1, l + 1)] + state.u[(l + 1, j + 1)]);
        let d = (0..m).map(|j| moments.q[(j, j)] - back(j, j) * left(j, j)).collect();
        let omega = Mat::from_fn(m, m, |a, b| {
            let (j, l) = (a.min(b), a.max(b));
            let may = j != l && moments.is_sure[j] && moments.is_sure[l] && state.z[(j + 1, l + 1)] <= 1e-12;
            if may { (back(j, l) * (self.cost[(j + 1, l + 1)] - left(j, l))).max(0.0) } else { 0.0 }
        });
        Multipliers { d, omega }
    }
}

impl State {
    /// The same for other coefficients, by their places in this one; new ones start at zero.
    pub fn changed_to(&self, places: &[Option<usize>]) -> Self {
        let part = |of: &Mat<f64>| {
            Mat::from_fn(places.len() + 1, places.len() + 1, |a, b| {
                let place = |e: usize| if e == 0 { Some(0) } else { places[e - 1].map(|k| k + 1) };
                place(a).zip(place(b)).map_or(0.0, |at| of[at])
            })
        };
        Self { z: part(&self.z), u: part(&self.u), rho: self.rho }
    }
}

/// The semidefinite part of Z − U.
fn semidefinite(state: &State) -> Option<Mat<f64>> {
    let difference = &state.z - &state.u;
    let size = difference.ncols();
    let parts = SelfAdjointEigen::new(difference.as_ref(), Side::Lower).ok()?;
    let values: Vec<f64> = (0..size).map(|e| parts.S()[e]).collect();
    let first = values.iter().position(|v| *v > 0.0).unwrap_or(size);
    if values.iter().any(|v| !v.is_finite()) || values[first..].iter().any(|v| *v <= 0.0) {
        return None;
    }
    let vectors = parts.U().subcols(first, size - first);
    let scaled = Mat::from_fn(size, size - first, |a, e| vectors[(a, e)] * values[first + e]);
    let mut y = Mat::zeros(size, size);
    matmul(y.as_mut(), Accum::Replace, scaled.as_ref(), vectors.transpose(), 1.0, Par::Seq);
    Some(y)
}

/// argmin over x ≥ 0, B ≥ 0 of ρF²(x − pull)² + ½ρ(B − square)² + price·x²/B; x = pull and B = square⁺ without a price.
fn own_entries(pull: f64, square: f64, price: f64, rho: f64) -> (f64, f64) {
    if price <= 0.0 {
        return (pull, square.max(0.0));
    }
    let room = price / (rho * FIRST_ROW * FIRST_ROW);
    let mut b = square.max(1e-3);
    for _ in 0..NEWTON {
        let slope = rho * (b - square) - price * pull * pull / ((b + room) * (b + room));
        let curvature = rho + 2.0 * price * pull * pull / (b + room).powi(3);
        b = (b - slope / curvature).max(1e-9);
    }
    (pull * b / (b + room), b)
}

/// ‖a − b‖.
fn distance(a: &Mat<f64>, b: &Mat<f64>) -> f64 {
    (a - b).norm_l2()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exact::tests::numbers;

    /// The minimum of a coefficient's own terms, against a grid around it.
    #[test]
    fn own_entries_are_the_minimum() {
        let mut draw = numbers(3);
        for _ in 0..200 {
            let (pull, square, price, rho) = (draw().abs(), draw(), 0.3 + draw().abs(), 0.2 + draw().abs());
            let f = |x: f64, b: f64| {
                rho * FIRST_ROW * FIRST_ROW * (x - pull).powi(2) + 0.5 * rho * (b - square).powi(2) + price * x * x / b
            };
            let (x, b) = own_entries(pull, square, price, rho);
            for (dx, db) in [(1e-3, 0.0), (-1e-3, 0.0), (0.0, 1e-3), (0.0, -1e-3), (1e-3, 1e-3), (-1e-3, -1e-3)] {
                if x + dx >= 0.0 && b + db > 0.0 {
                    assert!(f(x + dx, b + db) >= f(x, b) - 1e-9, "{x} {b}");
                }
            }
        }
    }
}
