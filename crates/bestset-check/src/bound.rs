//! V: what no subset of a node goes below (PROOF, "BOUND").

use crate::dual::Dual;
use crate::header::{Header, Penalty, Sparse};
use crate::lemma::{Lemma, SHARE};
use crate::loss::Loss;
use crate::model::Model;
use crate::round::{U, axpy, dot, down, gamma, up};

/// What is decided about a feature in a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// Open.
    Free,
    /// In the subset.
    In,
    /// Not in the subset.
    Out,
}

/// Where a bound is taken, and the price ν of a feature beside λ0.
pub struct Anchor<'a> {
    /// β.
    pub beta: &'a Sparse,
    /// d, none where there is none.
    pub lemma: Option<&'a Lemma>,
    /// ν.
    pub price: f64,
}

impl Anchor<'_> {
    /// d_j, zero without a lemma.
    fn curvature(&self, j: usize) -> f64 {
        self.lemma.and_then(|l| l.of(j)).unwrap_or(0.0)
    }
}

/// V, and φ of the free features.
pub struct Bound {
    /// At most V.
    pub value: f64,
    /// Each free feature with at most its φ, ascending.
    pub free: Vec<(usize, f64)>,
}

impl Bound {
    /// Whether V − Ψ_j + φ_j ≥ B: no subset with j is below B.
    pub fn excludes(&self, j: usize, bound: f64) -> bool {
        let Some(phi) = self.phi(j) else { return false };
        down(down(self.value - phi.min(0.0)) + phi) >= bound
    }

    /// Whether V − Ψ_j ≥ B: no subset without j is below B.
    pub fn includes(&self, j: usize, bound: f64) -> bool {
        let Some(phi) = self.phi(j) else { return false };
        down(self.value - phi.min(0.0)) >= bound
    }

    fn phi(&self, j: usize) -> Option<f64> {
        self.free.binary_search_by_key(&j, |f| f.0).ok().map(|k| self.free[k].1)
    }
}

/// The residual at an anchor: a ≈ H(ỹ − X̃β), r = Ha.
pub struct Residual {
    /// w ∘ a.
    pub weighted: Vec<f64>,
    /// At least ‖a‖.
    pub norm: f64,
    /// At least √W|mean of a|.
    pub mean: f64,
    /// At most ‖r‖²/2.
    pub half_square: f64,
    /// At least ‖H(ỹ − X̃β) − r‖.
    pub error: f64,
}

impl Residual {
    /// At β.
    pub fn new(model: &Model, beta: &Sparse) -> Self {
        let (mut a, mut size) = (model.y.clone(), model.y_norm);
        for &(j, b) in beta {
            axpy(-b, model.column(j), &mut a);
            size = up(size + up(model.norms[j] * b.abs()));
        }
        model.centre(&mut a);
        let (weighted, norm, mean) = (model.weighted(&a), model.norm(&a), model.mean_bound(&a));
        // A product and a difference for each coefficient, two roundings in each entry, one of the mean that is taken away.
        let error = up(up(up(gamma(beta.len() + 8) * size) + model.y_error) + up(4.0 * U * norm));
        let square = down(dot(&a, &weighted) * (1.0 - 2.0 * model.gamma));
        let half_square = down(0.5 * down(square - up(mean * mean)));
        Self { weighted, norm, mean, half_square, error }
    }

    /// At least ½‖H(ỹ − X̃β)‖².
    pub fn loss(&self) -> f64 {
        let norm = up(self.norm + self.error);
        up(0.5 * up(norm * norm))
    }
}

/// C of (P3) without νk, and slopes: where features enter a bound.
pub struct Point<'a> {
    model: &'a Model,
    /// At most C.
    pub value: f64,
    /// ∓w ∘ a: g_j = ⟨x̃_j, a⟩.
    weighted: Vec<f64>,
    sign: f64,
    /// |g_j − computed| ≤ ‖x̃_j‖ spread + M_j mean.
    spread: f64,
    mean: f64,
}

impl<'a> Point<'a> {
    /// At an anchor.
    pub fn new(model: &'a Model, anchor: &Anchor<'_>) -> Self {
        match model.loss {
            Loss::Squared => Self::squared(model, anchor),
            _ => {
                let Dual { weighted, value, spread } = Dual::new(model, anchor.beta);
                Self { model, value, weighted, sign: 1.0, spread, mean: 0.0 }
            }
        }
    }

    fn squared(model: &'a Model, anchor: &Anchor<'_>) -> Self {
        let Residual { weighted, norm, mean, half_square, error } = Residual::new(model, anchor.beta);
        // ½‖r + ι − X̂Δ‖² ≥ ½‖r‖² − ‖r‖‖ι‖ − rᵀX̂Δ + ½(1 − ε)‖X̂Δ‖² − ‖ι‖²/2ε, the last two only with a lemma.
        let mut value = down(half_square - up(norm * error));
        if anchor.lemma.is_some() {
            value = down(value - up(up(error * error) * (0.5 / SHARE)));
        }
        let mut point = Self { model, value, weighted, sign: -1.0, spread: up(model.gamma * norm), mean };
        for &(j, b) in anchor.beta {
            let ((g, error), d) = (point.slope(j), anchor.curvature(j));
            let square = down(d * down(b * b).max(0.0)).min(down(d * up(b * b)));
            point.value = down(point.value + down(down(-g * b) - up(error * b.abs())));
            point.value = down(point.value + down(0.5 * square));
        }
        point
    }

    /// g_j, and what it can be off by.
    pub fn slope(&self, j: usize) -> (f64, f64) {
        let error = up(up(self.model.norms[j] * self.spread) + up(self.model.means[j] * self.mean));
        (self.sign * dot(self.model.column(j), &self.weighted), error)
    }

    /// At most φ_j with the curvature d and the coefficient b of the anchor.
    pub fn phi(&self, penalty: Penalty, j: usize, d: f64, b: f64, price: f64) -> f64 {
        let (g, error) = self.slope(j);
        let error = up(error + up(4.0 * U * up(g.abs() + (d * b).abs())));
        least(penalty, d, g - d * b, error, price)
    }
}

/// V = C + Σ_free Ψ_j + Σ_in φ_j at an anchor whose lemma, if it has one, is about all features that are not out and those of β.
pub fn bound(header: &Header, model: &Model, choices: &[Choice], anchor: &Anchor<'_>) -> Bound {
    let Anchor { beta, price, .. } = *anchor;
    let point = Point::new(model, anchor);
    let mut value = point.value;
    if let Some(k) = header.size {
        value = down(value - up(price * k as f64));
    }
    let mut free = Vec::new();
    for (j, choice) in choices.iter().enumerate().filter(|c| *c.1 != Choice::Out) {
        let (d, b) = (anchor.curvature(j), beta.binary_search_by_key(&j, |c| c.0).map_or(0.0, |k| beta[k].1));
        let phi = point.phi(header.penalty(j), j, d, b, price);
        match choice {
            Choice::Free => {
                free.push((j, phi));
                if phi < 0.0 || phi.is_nan() {
                    value = down(value + phi);
                }
            }
            _ => value = down(value + phi),
        }
    }
    Bound { value, free }
}

/// At most φ = λ0 + ν + min { tb + ½db² + λ1|b| + λ2b² : low ≤ b ≤ high } for all t within `error` of `slope`.
pub fn least(penalty: Penalty, d: f64, slope: f64, error: f64, price: f64) -> f64 {
    let Penalty { l0, l1, l2, low, high } = penalty;
    let ridge = if d == 0.0 { l2 } else { down(l2 + 0.5 * d) };
    let side = |pull: f64, reach: f64| on_side(down(-up(up(pull + error) - l1)), ridge, reach);
    let lowest = side(-slope, high).min(side(slope, -low));
    down(down(l0 + price) + lowest)
}

/// At most min { sm + qm² : 0 ≤ m ≤ reach }, never above zero.
fn on_side(s: f64, q: f64, reach: f64) -> f64 {
    if s.is_nan() || q.is_nan() {
        return f64::NEG_INFINITY;
    }
    if reach == 0.0 || (s >= 0.0 && q >= 0.0) {
        return 0.0;
    }
    let at_end = || down(down(s * reach) + down(q * up(reach * reach)).min(down(q * down(reach * reach))));
    if q <= 0.0 {
        // Concave: least at an end.
        return if reach.is_finite() { at_end().min(0.0) } else { f64::NEG_INFINITY };
    }
    if reach.is_finite() && -s >= up(up(2.0 * q) * reach) {
        return at_end().min(0.0);
    }
    -up(up(s * s) / down(4.0 * q))
}

#[cfg(test)]
mod tests {
    use super::*;

    const INF: f64 = f64::INFINITY;

    #[test]
    fn the_least_of_one_coefficient_is_below_every_value_and_near_the_least() {
        for (d, slope, low, high) in [
            (0.0, 3.0, -INF, INF),
            (0.5, -3.0, -INF, INF),
            (-1.0, 3.0, -INF, INF),
            (0.5, 3.0, -0.25, INF),
            (0.5, -3.0, -0.25, 0.125),
            (-4.0, 0.5, -2.0, 1.0),
            (0.0, 0.1, 0.0, 0.0),
        ] {
            let penalty = Penalty { l0: 0.7, l1: 0.2, l2: 0.9, low, high };
            let found = least(penalty, d, slope, 0.0, 0.1);
            let value = |b: f64| 0.8 + slope * b + 0.5 * d * b * b + 0.2 * b.abs() + 0.9 * b * b;
            let grid = (-40000..=40000).map(|k| f64::from(k) / 8192.0).filter(|b| (low..=high).contains(b));
            let truth = grid.map(value).fold(INF, f64::min);
            assert!(found <= truth && found > truth - 1e-6, "{d} {slope}: {found} {truth}");
            assert!(least(penalty, d, slope, 0.01, 0.1) <= found);
        }
        let flat = Penalty { l0: 0.7, l1: 0.2, l2: 0.0, low: -INF, high: INF };
        assert_eq!(least(flat, 0.0, 0.3, 0.0, 0.0), -INF);
        assert_eq!(least(flat, -0.1, 0.0, 0.0, 0.0), -INF);
        assert!(least(flat, 0.0, 0.1, 0.0, 0.0) > 0.69);
        assert_eq!(least(flat, 0.0, f64::NAN, 0.0, 0.0), -INF);
    }
}
