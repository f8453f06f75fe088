//! The losses, one sample at a time (PROOF, "Other losses"): conjugates and values bounded from above, slopes as they come.

use crate::round::{LEAST, ln, up};

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
}

impl Loss {
    /// Whether y is −1 or 1.
    pub fn is_classification(self) -> bool {
        matches!(self, Self::Logistic | Self::SquaredHinge)
    }

    /// About ℓ′ and ℓ″ at v, which is u for classes and u − y for numbers: any slope within the domain of ℓ* makes a valid bound.
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
        }
    }
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

    const LOSSES: [Loss; 4] = [Loss::Squared, Loss::Logistic, Loss::SquaredHinge, Loss::Huber(0.75)];

    /// ℓ(v) + ℓ*(a) ≥ a u with equality at a = ℓ′(u): both are bounds, and close ones.
    #[test]
    fn values_and_conjugates_are_those_of_each_other() {
        for loss in LOSSES {
            for k in -400..=400 {
                let (v, y) = (f64::from(k) / 16.0, if k % 2 == 0 { 1.0 } else { -1.0 });
                let target = if loss.is_classification() { y } else { 0.0 };
                let a = loss.feasible(loss.slope(v, target).0, target);
                let (value, conjugate) = (loss.value(v, target), loss.conjugate(a, target));
                let gap = value + conjugate - a * v;
                assert!((-1e-15..1e-13).contains(&(gap / (1.0 + v * v))), "{loss:?} {v}: {gap:e}");
                for other in [0.25, 0.5, 0.99] {
                    let a = loss.feasible(other * a, target);
                    assert!(value + loss.conjugate(a, target) >= a * v - 1e-13 * (1.0 + v * v), "{loss:?} {v}");
                }
            }
        }
        assert_eq!(Loss::Logistic.conjugate(0.5, 1.0), f64::INFINITY);
        assert_eq!(Loss::SquaredHinge.conjugate(0.5, 1.0), f64::INFINITY);
        assert_eq!(Loss::Huber(1.0).conjugate(1.5, 0.0), f64::INFINITY);
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
