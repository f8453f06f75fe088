//! The price ν of one feature that makes the relaxation take k of them (MATH 11.5): the maximum over ν of min R_ν − νk, which is
//! concave with slope (features taken) − k.

/// A price from this share of the largest on is the largest: next to it what is saved would be lost to rounding, and there nothing is.
const ALL: f64 = 0.95;

/// A step from a price that is too low or too high to the next. Not tuned.
const STEP: f64 = 1.5;

/// How near a count that need not be met is to come, as a share: the price is then within about that share of the best one, and what it lacks of the
/// bound is of second order. Not tuned.
const NEAR: f64 = 0.15;

/// |I| + Σ_U min(1, |β_j|/knee_j) − k = 0 (MATH 11.5): a search for the root of a function that falls with ν.
pub struct Multiplier {
    size: Option<f64>,
    /// The least and the largest price.
    range: (f64, f64),
    /// Share of the size within which the count is near enough.
    near: f64,
    /// Too low, with the count there.
    low: Option<(f64, f64)>,
    /// Too high, with the count there.
    high: Option<(f64, f64)>,
    /// Prices that may still be tried.
    prices: usize,
    /// Share of what is wanted that another price must be able to gain.
    worth: f64,
    /// The first price tried.
    first: Option<f64>,
}

impl Multiplier {
    /// For at most `size` features, trying so many prices, each able to gain the share `worth` of what is wanted; nothing to search
    /// without a size.
    pub fn new(size: Option<usize>, prices: usize, worth: f64) -> Self {
        let (size, range) = (size.map(|k| k as f64), (0.0, f64::INFINITY));
        Self { size, range, near: 0.0, low: None, high: None, prices, worth, first: None }
    }

    /// ψ with Σ λ0_j z_j = λ0(m₀) over the features outside an answer (MATH 13.11): the same for a price within a range, where about so much is to be taken.
    pub fn between(range: (f64, f64), size: f64, prices: usize, worth: f64) -> Self {
        Self { range, near: NEAR, size: Some(size), ..Self::new(None, prices, worth) }
    }

    /// The price to try next, after `nu` took `count` features; `None` once another cannot raise the bound by a share of
    /// `wanted` worth the effort.
    ///
    /// Between two prices ν₁ < ν₂ with slopes ς₁ > 0 > −ς₂ the most to gain is ς₁ς₂(ν₂ − ν₁)/(ς₁ + ς₂) (MATH 11.5).
    pub fn next(&mut self, nu: f64, count: f64, wanted: f64) -> Option<f64> {
        let (size, (least, most)) = (self.size?, self.range);
        let excess = count - size;
        if self.prices == 0
            || excess.abs() <= self.near * size
            || (excess < 0.0 && nu <= least)
            || (excess > 0.0 && nu >= most)
        {
            return None;
        }
        self.prices -= 1;
        let first = *self.first.get_or_insert(nu);
        if excess > 0.0 {
            self.low = Some((nu, excess));
        } else {
            self.high = Some((nu, excess));
        }
        let next = match (self.low, self.high) {
            (Some((low, above)), Some((high, below))) => {
                let most = above * -below * (high - low) / (above - below);
                if most < self.worth * wanted || high - low <= 1e-6 * high {
                    return None;
                }
                let share = (above / (above - below)).clamp(0.1, 0.9);
                low + share * (high - low)
            }
            // The nearer, the shorter the step.
            _ if self.near > 0.0 => nu * (count / size).clamp(1.0 / STEP, STEP),
            (Some((low, _)), None) if low > 0.0 => STEP * low,
            // From nothing: what would close the gap if the slope stayed as it is.
            (Some((_, above)), None) => wanted / above,
            (None, Some((high, _))) if high > 1e-12 * first => high / STEP,
            _ => 0.0,
        };
        let next = if self.near > 0.0 && next > ALL * most { most } else { next };
        Some(next.clamp(least, most)).filter(|next| next.is_finite())
    }
}
