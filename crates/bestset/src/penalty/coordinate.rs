//! The penalty of one coefficient, its dual term and its convex envelope (MATH 1.2, 3.1–3.4, 4.1–4.8, 6.2).

/// π(b) = l0·[b ≠ 0] + l1|b| + l2 b² on lower ≤ b ≤ upper, with lower ≤ 0 ≤ upper.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Coordinate {
    /// λ0.
    pub l0: f64,
    /// λ1.
    pub l1: f64,
    /// λ2.
    pub l2: f64,
    /// Lower bound, at most 0.
    pub lower: f64,
    /// Upper bound, at least 0.
    pub upper: f64,
}

impl Coordinate {
    /// The bound on |b| on the side of the given sign.
    #[inline(always)]
    fn reach(self, positive: bool) -> f64 {
        if positive { self.upper } else { -self.lower }
    }

    /// π(b) = λ0 + λ1|b| + λ2b² for b ≠ 0 within the bounds, 0 at 0, +∞ outside (MATH 1.2): the penalty in P.
    #[inline]
    pub fn value(self, b: f64) -> f64 {
        if b == 0.0 {
            0.0
        } else if b < self.lower || b > self.upper {
            f64::INFINITY
        } else {
            self.l0 + self.l1 * b.abs() + self.l2 * b * b
        }
    }

    /// argmin over 0 ≤ m ≤ B of λ2m² − pull·m (MATH 3.4): the size of a coefficient pulled by `pull` = |τ| − λ1, B = `reach`.
    #[inline(always)]
    fn size(self, pull: f64, reach: f64) -> f64 {
        // 0/0 cannot occur: pull > 0. With l2 = 0 the quotient is +∞ and the bound decides.
        if pull > 0.0 { (pull / (2.0 * self.l2)).min(reach) } else { 0.0 }
    }

    /// φ(τ) = λ0 + min_b { τb + λ1|b| + λ2b² } over the bounds (MATH 3.1); −∞ when the minimum does not exist.
    #[inline]
    pub fn phi(self, tau: f64) -> f64 {
        let pull = tau.abs() - self.l1;
        let size = self.size(pull, self.reach(tau < 0.0));
        if size == f64::INFINITY { f64::NEG_INFINITY } else { self.l0 + size * (self.l2 * size - pull) }
    }

    /// Ψ(τ) = min(0, φ(τ)) (MATH 3.2), the dual term (paper eq. dual2, psi).
    #[inline]
    pub fn psi(self, tau: f64) -> f64 {
        self.phi(tau).min(0.0)
    }

    /// 𝔅(τ) = −sign(τ) min((|τ| − λ1)/(2λ2), B) if φ(τ) ≤ 0, else 0 (MATH 3.4): a minimiser of τb + π(b) (paper eq. bigB).
    #[inline]
    pub fn link(self, tau: f64) -> f64 {
        if self.phi(tau) > 0.0 {
            return 0.0;
        }
        let size = self.size(tau.abs() - self.l1, self.reach(tau < 0.0));
        if tau < 0.0 { size } else { -size }
    }

    /// knee = min(√(λ0/λ2), B) (MATH 4.2): |b| at which the envelope leaves its linear part.
    #[inline]
    pub fn knee(self, positive: bool) -> f64 {
        let reach = self.reach(positive);
        if self.l0 == 0.0 { 0.0 } else { (self.l0 / self.l2).sqrt().min(reach) }
    }

    /// τ₀ = λ1 + 2√(λ0λ2), or λ1 + λ0/B + λ2B where a bound B < √(λ0/λ2) cuts the envelope short, +∞ where B = 0 (MATH 3.3):
    /// slope of the envelope at zero; Ψ(τ) < 0 exactly when |τ| exceeds it on the side −sign(τ).
    #[inline]
    pub fn slope(self, positive: bool) -> f64 {
        let reach = self.reach(positive);
        if reach <= 0.0 {
            f64::INFINITY
        } else if reach.is_finite() && self.l0 > self.l2 * reach * reach {
            self.l1 + self.l0 / reach + self.l2 * reach
        } else {
            self.l1 + 2.0 * (self.l0 * self.l2).sqrt()
        }
    }

    /// τ₀ of the side where it is less (MATH 3.3).
    #[inline]
    pub fn least_slope(self) -> f64 {
        self.slope(true).min(self.slope(false))
    }

    /// τ₀ on the side that a correlation τ pulls to (MATH 3.3): the coefficient has the sign of −τ.
    #[inline]
    pub fn threshold(self, tau: f64) -> f64 {
        self.slope(tau < 0.0)
    }

    /// ρ(b) = τ₀|b| up to the knee, λ0 + λ1|b| + λ2b² beyond (MATH 4.1): the convex envelope of π on the bounds.
    #[inline]
    pub fn envelope(self, b: f64) -> f64 {
        if b == 0.0 {
            return 0.0;
        }
        if b < self.lower || b > self.upper {
            return f64::INFINITY;
        }
        let (m, positive) = (b.abs(), b > 0.0);
        if m <= self.knee(positive) { self.slope(positive) * m } else { self.l0 + self.l1 * m + self.l2 * m * m }
    }

    /// argmin_b { ½cb² − qb + ρ(b) } (MATH 4.7): the step of coordinate descent on the relaxation R.
    #[inline]
    pub fn prox_envelope(self, c: f64, q: f64) -> f64 {
        let positive = q > 0.0;
        let (pull, slope) = (q.abs(), self.slope(positive));
        if pull <= slope {
            return 0.0;
        }
        let (knee, reach) = (self.knee(positive), self.reach(positive));
        // pull > slope ≥ 0 and c = 0 gives +∞, which the knee or the quadratic part cuts.
        let linear = (pull - slope) / c;
        let size = if linear <= knee { linear } else { ((pull - self.l1) / (c + 2.0 * self.l2)).max(knee).min(reach) };
        if positive { size } else { -size }
    }

    /// T(c, q) = argmin_b { ½cb² − qb + π(b) } (MATH 6.2), the non-zero one in a tie (paper eq. thresh, for any column norm).
    #[inline]
    pub fn threshold_operator(self, c: f64, q: f64) -> f64 {
        let pull = q.abs() - self.l1;
        if pull <= 0.0 {
            return 0.0;
        }
        let curvature = c + 2.0 * self.l2;
        let size = (pull / curvature).min(self.reach(q > 0.0));
        if self.l0 + size * (0.5 * curvature * size - pull) > 0.0 {
            return 0.0;
        }
        if q > 0.0 { size } else { -size }
    }

    /// argmin_b { ½cb² − qb + λ1|b| + λ2b² }, T with λ0 = 0 (MATH 6.2): the step of a fit in which the feature stays selected.
    #[inline]
    pub fn prox_selected(self, c: f64, q: f64) -> f64 {
        Self { l0: 0.0, ..self }.threshold_operator(c, q)
    }

    /// λ0 → λ0 + ν (MATH 6.6): the Lagrangian of a limit on the number of features.
    #[inline]
    pub fn priced(self, nu: f64) -> Self {
        Self { l0: self.l0 + nu, ..self }
    }

    /// λ2 → λ2 + d/2 (MATH 11.6): the penalty with ½db² on top.
    #[inline]
    pub fn curved(self, d: f64) -> Self {
        Self { l2: self.l2 + 0.5 * d, ..self }
    }

    /// ∂ρ/∂λ0 = min(1, |b|/knee), 0 at 0 (MATH 4.6): the share of its price that the envelope charges for b.
    #[inline]
    pub fn fraction(self, b: f64) -> f64 {
        let knee = self.knee(b > 0.0);
        if b == 0.0 {
            0.0
        } else if b.abs() < knee {
            b.abs() / knee
        } else {
            1.0
        }
    }

    /// λ0 → 0 (MATH 11.1): the penalty of a coefficient that is in the model for sure, its price paid outside.
    #[inline]
    pub fn selected(self) -> Self {
        Self { l0: 0.0, ..self }
    }

    /// Slope and curvature of ρ at b ≠ 0 (MATH 4.8), of the linear part up to and at the knee.
    #[inline]
    pub fn envelope_piece(self, b: f64) -> (f64, f64) {
        let (m, positive) = (b.abs(), b > 0.0);
        let (slope, curvature) = if m <= self.knee(positive) {
            (self.slope(positive), 0.0)
        } else {
            (self.l1 + 2.0 * self.l2 * m, 2.0 * self.l2)
        };
        (if positive { slope } else { -slope }, curvature)
    }

    /// One-sided derivative of ρ at b (MATH 4.8), to the right or to the left; at a bound the derivative from inside.
    #[inline]
    pub fn envelope_slope(self, b: f64, right: bool) -> f64 {
        if b == 0.0 {
            return if right { self.slope(true) } else { -self.slope(false) };
        }
        self.envelope_piece(b).0
    }

    /// Distance of −`gradient` from ∂ρ(b): zero exactly at a minimiser of τb + ρ(b), where the gap share (MATH 4.5) is zero too.
    pub fn envelope_violation(self, b: f64, gradient: f64) -> f64 {
        let pull = -gradient;
        if b == 0.0 {
            return (pull - self.slope(true)).max(-pull - self.slope(false)).max(0.0);
        }
        let positive = b > 0.0;
        let (m, pull) = (b.abs(), if positive { pull } else { -pull });
        let (knee, reach) = (self.knee(positive), self.reach(positive));
        let left = if m <= knee { self.slope(positive) } else { self.l1 + 2.0 * self.l2 * m };
        if m >= reach { (left - pull).max(0.0) } else { (pull - left).abs() }
    }
}
