//! The losses, one sample at a time (PROOF, "Other losses"): conjugates and values bounded from above, slopes as they come.

use crate::round::{LEAST, down, ln, up};

/// ℓ(u) of a sample with target y.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Loss {
    /// ½(y − u)².
    Squared,
    /// log(1 + e^{−yu}), y = ±1.
    Logistic,
    /// max(0, 1 − yu)², y = ±1.
    SquaredHinge,
    /// ½r² for |r| ≤ δ, δ|r| − ½δ² beyond, r = y − u.
    Huber(f64),
    /// eᵘ − yu + y log y − y, y ≥ 0.
    Poisson,
    /// ye⁻ᵘ + u − log y − 1, y > 0.
    Gamma,
    /// (y + θ) log((θ + eᵘ)/(θ + y)) − y(u − log y), y ≥ 0.
    NegativeBinomial(f64),
}

impl Loss {
    /// Whether y is −1 or 1.
    pub fn is_classification(self) -> bool {
        matches!(self, Self::Logistic | Self::SquaredHinge)
    }

    /// Whether the loss is one of y − u: targets may be centred, and offsets taken from them.
    pub fn is_of_difference(self) -> bool {
        matches!(self, Self::Squared | Self::Huber(_))
    }

    /// Whether this may be a target.
    pub fn has_target(self, y: f64) -> bool {
        match self {
            Self::Squared | Self::Huber(_) => true,
            Self::Logistic | Self::SquaredHinge => y.abs() == 1.0,
            Self::Poisson | Self::NegativeBinomial(_) => y >= 0.0,
            Self::Gamma => y > 0.0,
        }
    }

    /// About ℓ′ and ℓ″ at v, which is u − y for losses of that and u for the others: any slope within the domain of ℓ* makes a valid bound.
    pub fn slope(self, v: f64, y: f64) -> (f64, f64) {
        match self {
            Self::Squared => (v, 1.0),
            Self::Logistic => {
                let t = 1.0 / (1.0 + (y * v).exp());
                (-y * t, t * (1.0 - t))
            }
            Self::SquaredHinge => {
                let slack = (1.0 - y * v).max(0.0);
                (-2.0 * y * slack, if slack > 0.0 { 2.0 } else { 0.0 })
            }
            Self::Huber(delta) => (v.clamp(-delta, delta), if v.abs() <= delta { 1.0 } else { 0.0 }),
            Self::Poisson => (v.exp() - y, v.exp()),
            Self::Gamma => (1.0 - y * (-v).exp(), y * (-v).exp()),
            Self::NegativeBinomial(theta) => {
                let t = 1.0 / (1.0 + theta * (-v).exp());
                ((y + theta) * t - y, (y + theta) * t * (1.0 - t))
            }
        }
    }

    /// A slope within the domain of ℓ* next to a, zero where it is next to nothing; for the logistic loss 1 − |a| is a number.
    pub fn feasible(self, a: f64, y: f64) -> f64 {
        match self {
            _ if a.abs() < LEAST => 0.0,
            Self::Squared => a,
            Self::Logistic => -y * ((1.0 + (-y * a).clamp(0.0, 1.0)) - 1.0),
            Self::SquaredHinge => -y * (-y * a).max(0.0),
            Self::Huber(delta) => a.clamp(-delta, delta),
            Self::Poisson => a.max(-y),
            Self::Gamma => a.min(1.0),
            Self::NegativeBinomial(theta) => a.max(-y).min(theta),
        }
    }

    /// Where the loss changes its shape.
    pub fn unit(self) -> f64 {
        if let Self::Huber(delta) = self { delta } else { 1.0 }
    }

    /// At least ℓ*(a) at a feasible a; +∞ where it is not.
    pub fn conjugate(self, a: f64, y: f64) -> f64 {
        let t = -y * a;
        match self {
            Self::Squared => up(up(0.5 * up(a * a)) + up(a * y)),
            Self::Logistic if (0.0..=1.0).contains(&t) => up(entropy(t) + entropy(1.0 - t)),
            Self::SquaredHinge if t >= 0.0 => up(up(0.25 * up(t * t)) - t),
            Self::Huber(delta) if a.abs() <= delta => up(up(0.5 * up(a * a)) + up(a * y)),
            Self::Poisson if a >= -y => up(up(entropy_of_sum(a, y) - least_entropy(y)) - a),
            Self::Gamma if a <= 1.0 => up(up(entropy_of_sum(1.0, -a) + times_ln(a, y)) + a),
            Self::NegativeBinomial(theta) if a >= -y && a <= theta => {
                let of_sums = up(entropy_of_sum(a, y) + entropy_of_sum(theta, -a));
                // −(θ − a) log θ.
                let known = times_ln(down(a - theta), theta).max(times_ln(up(a - theta).min(0.0), theta));
                up(up(of_sums + known) - least_entropy(y))
            }
            _ => f64::INFINITY,
        }
    }

    /// At least ℓ at v, as for [`Loss::slope`].
    pub fn value(self, v: f64, y: f64) -> f64 {
        match self {
            Self::Squared => up(0.5 * up(v * v)),
            Self::Logistic => softplus(-y * v),
            Self::SquaredHinge => {
                let slack = up(1.0 - y * v).max(0.0);
                up(slack * slack)
            }
            Self::Huber(delta) if v.abs() <= delta => up(0.5 * up(v * v)),
            Self::Huber(delta) => up(delta * up(v.abs() - 0.5 * delta)),
            Self::Poisson => up(up(exponential(v) - down(y * v)) + up(entropy(y) - y)),
            Self::Gamma => up(up(up(y * exponential(-v)) + v) - down(ln(y).0 + 1.0)),
            Self::NegativeBinomial(theta) => {
                let of_theta = ln(theta);
                let log = up(of_theta.1 + softplus(up(v - of_theta.0)));
                let (low, high) = (down(y + theta), up(y + theta));
                let by = up(log - ln(low).0);
                up(up(up(if by > 0.0 { high } else { low } * by) - down(y * v)) + entropy(y))
            }
        }
    }
}

/// At most t log t.
fn least_entropy(t: f64) -> f64 {
    if t == 0.0 { 0.0 } else { down(t * ln(t).0) }
}

/// At least t log t of t = a + b ≥ 0, which is convex: the larger at the two ends of what the sum can be. A sum of zero is exact.
fn entropy_of_sum(a: f64, b: f64) -> f64 {
    let sum = a + b;
    if sum == 0.0 { 0.0 } else { entropy(down(sum).max(0.0)).max(entropy(up(sum))) }
}

/// At least a log y.
fn times_ln(a: f64, y: f64) -> f64 {
    let (low, high) = ln(y);
    if a == 0.0 { 0.0 } else { up(a * if a > 0.0 { high } else { low }) }
}

/// At least eᶻ, whatever the platform's exponential gives: q stands for it as far as its logarithm shows it.
fn exponential(z: f64) -> f64 {
    let q = z.exp().max(1e-300);
    let missing = up(z - ln(q).0).max(0.0);
    if missing < 0.5 { up(q * up(1.0 + up(2.0 * missing))) } else { f64::INFINITY }
}

/// At least t log t.
fn entropy(t: f64) -> f64 {
    if t == 0.0 { 0.0 } else { up(t * ln(t).1) }
}

/// At least log(1 + eᶻ), whatever the platform's exponential gives: q stands for e^{−|z|} as far as its logarithm shows it.
fn softplus(z: f64) -> f64 {
    if z.is_nan() {
        return f64::INFINITY;
    }
    let q = (-z.abs()).exp().max(1e-300);
    // e^{−|z|} ≤ q where |z| ≥ −log q; otherwise log(1 + e^{−m}) has grown by no more than m has fallen.
    let missing = (up(-ln(q).0) - z.abs()).max(0.0);
    up(up(ln(up(1.0 + q)).1 + up(missing)) + z.max(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOSSES: [Loss; 7] = [
        Loss::Squared,
        Loss::Logistic,
        Loss::SquaredHinge,
        Loss::Huber(0.75),
        Loss::Poisson,
        Loss::Gamma,
        Loss::NegativeBinomial(1.5),
    ];

    /// ℓ(v) + ℓ*(a) ≥ a u with equality at a = ℓ′(u): both are bounds, and close ones.
    #[test]
    fn values_and_conjugates_are_those_of_each_other() {
        for loss in LOSSES {
            for k in -400i32..=400 {
                let (v, y) = (f64::from(k) / 16.0, if k % 2 == 0 { 1.0 } else { -1.0 });
                let target = match loss {
                    Loss::Gamma => 0.5 + f64::from(k.abs() % 7),
                    Loss::Poisson | Loss::NegativeBinomial(_) => f64::from(k.abs() % 5),
                    _ if loss.is_classification() => y,
                    _ => 0.0,
                };
                let v = if loss.is_of_difference() || loss.is_classification() { v } else { v / 4.0 };
                let a = loss.feasible(loss.slope(v, target).0, target);
                let (value, conjugate) = (loss.value(v, target), loss.conjugate(a, target));
                let gap = value + conjugate - a * v;
                let size = 1.0 + v * v + value.abs();
                assert!((-1e-15..1e-13).contains(&(gap / size)), "{loss:?} {v}: {gap:e}");
                for other in [0.25, 0.5, 0.99] {
                    let a = loss.feasible(other * a, target);
                    assert!(value + loss.conjugate(a, target) >= a * v - 1e-13 * size, "{loss:?} {v}");
                }
            }
        }
        assert_eq!(Loss::Logistic.conjugate(0.5, 1.0), f64::INFINITY);
        assert_eq!(Loss::SquaredHinge.conjugate(0.5, 1.0), f64::INFINITY);
        assert_eq!(Loss::Huber(1.0).conjugate(1.5, 0.0), f64::INFINITY);
        assert_eq!(Loss::Poisson.conjugate(-2.5, 2.0), f64::INFINITY);
        assert_eq!(Loss::Gamma.conjugate(1.5, 2.0), f64::INFINITY);
        assert_eq!(Loss::NegativeBinomial(1.0).conjugate(1.5, 2.0), f64::INFINITY);
    }

    #[test]
    fn the_logistic_loss_is_bounded_far_out_too() {
        for z in [0.0f64, 1e-300, 1e-17, 1.0, 36.0, 700.0, 750.0, 1e5] {
            for z in [z, -z] {
                let truth = if z > 0.0 { z + (-z).exp().ln_1p() } else { z.exp().ln_1p() };
                let found = softplus(z);
                assert!(found >= truth && found <= truth + 1e-13 * (1.0 + z.abs()), "{z}: {found} {truth}");
            }
        }
    }
}
