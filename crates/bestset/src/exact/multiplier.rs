//! The price ν of one feature that makes the relaxation take k of them: the maximum over ν of R_ν − νk, which is concave
//! with slope (features taken) − k.

/// Prices tried in a node after its parent's: each costs a relaxation, and any price gives a bound.
const TRIES: usize = 4;

/// A search for the root of a falling function.
pub struct Multiplier {
    size: Option<f64>,
    /// Too low, with the count there.
    low: Option<(f64, f64)>,
    /// Too high, with the count there.
    high: Option<(f64, f64)>,
    tries: usize,
    /// The first price tried.
    first: Option<f64>,
}

impl Multiplier {
    /// For at most `size` features; nothing to search without one.
    pub fn new(size: Option<usize>) -> Self {
        Self { size: size.map(|k| k as f64), low: None, high: None, tries: TRIES, first: None }
    }

    /// As [`Multiplier::new`], with more prices.
    pub fn patient(size: usize) -> Self {
        Self { tries: 10 * TRIES, ..Self::new(Some(size)) }
    }

    /// The price to try next, after `nu` took `count` features; `None` once another cannot raise the bound by a share of
    /// `wanted` worth the effort.
    pub fn next(&mut self, nu: f64, count: f64, wanted: f64) -> Option<f64> {
        let excess = count - self.size?;
        if self.tries == 0 || excess == 0.0 || (excess < 0.0 && nu <= 0.0) {
            return None;
        }
        self.tries -= 1;
        let first = *self.first.get_or_insert(nu);
        if excess > 0.0 {
            self.low = Some((nu, excess));
        } else {
            self.high = Some((nu, excess));
        }
        let next = match (self.low, self.high) {
            (Some((low, above)), Some((high, below))) => {
                // Concave: the tangents at both ends meet at the most that can be gained.
                let most = above * -below * (high - low) / (above - below);
                if most < 0.02 * wanted || high - low <= 1e-6 * high {
                    return None;
                }
                let share = (above / (above - below)).clamp(0.1, 0.9);
                low + share * (high - low)
            }
            (Some((low, _)), None) if low > 0.0 => 1.5 * low,
            // From nothing: what would close the gap if the slope stayed as it is.
            (Some((_, above)), None) => wanted / above,
            (None, Some((high, _))) if high > 1e-12 * first => high / 1.5,
            _ => 0.0,
        };
        next.is_finite().then_some(next)
    }
}
