//! Numbers of twice the precision, about 32 digits: what rounding did is measured against them.

use std::ops::{Add, Div, Mul, Neg, Sub};

/// high + low, |low| ≤ half a unit in the last place of high.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Twofold(pub f64, pub f64);

fn two_sum(a: f64, b: f64) -> Twofold {
    let s = a + b;
    let t = s - a;
    Twofold(s, (a - (s - t)) + (b - t))
}

fn two_product(a: f64, b: f64) -> Twofold {
    let p = a * b;
    Twofold(p, a.mul_add(b, -p))
}

impl Twofold {
    pub const ZERO: Self = Self(0.0, 0.0);

    pub fn wide(self) -> f64 {
        self.0 + self.1
    }

    pub fn abs(self) -> Self {
        if self.0 < 0.0 { -self } else { self }
    }

    pub fn min(self, other: Self) -> Self {
        if other < self { other } else { self }
    }

    pub fn max(self, other: Self) -> Self {
        if other > self { other } else { self }
    }

    pub fn square(self) -> Self {
        self * self
    }

    /// Σ a_i b_i of plain numbers.
    pub fn dot(a: &[f64], b: &[f64]) -> Self {
        a.iter().zip(b).map(|(&a, &b)| two_product(a, b)).sum()
    }
}

impl From<f64> for Twofold {
    fn from(a: f64) -> Self {
        Self(a, 0.0)
    }
}

impl Neg for Twofold {
    type Output = Self;
    fn neg(self) -> Self {
        Self(-self.0, -self.1)
    }
}

impl Add for Twofold {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        let (s, t) = (two_sum(self.0, other.0), two_sum(self.1, other.1));
        let s = two_sum(s.0, s.1 + t.0);
        two_sum(s.0, s.1 + t.1)
    }
}

impl Sub for Twofold {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl Mul for Twofold {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        let p = two_product(self.0, other.0);
        two_sum(p.0, p.1 + (self.0 * other.1 + self.1 * other.0))
    }
}

impl Div for Twofold {
    type Output = Self;
    fn div(self, other: Self) -> Self {
        let first = self.0 / other.0;
        let rest = self - other * Self::from(first);
        let second = rest.0 / other.0;
        let rest = rest - other * Self::from(second);
        Self::from(first) + Self::from(second) + Self::from(rest.0 / other.0)
    }
}

impl std::iter::Sum for Twofold {
    fn sum<I: Iterator<Item = Self>>(terms: I) -> Self {
        terms.fold(Self::ZERO, |a, b| a + b)
    }
}
