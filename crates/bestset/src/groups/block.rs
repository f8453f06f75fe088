//! The penalty of one group in a relaxation: its envelope, the share of its price that the envelope charges, and the step of block
//! coordinate descent (MATH 9.6, 9.7, 9.9–9.11).

use crate::groups::Grouped;
use crate::penalty::Coordinate;

/// Halvings of the interval that holds t: to the last digits.
const HALVINGS: usize = 64;

/// A group with what it pays.
pub(crate) struct Block {
    /// The penalties of its features once it is paid for.
    coordinates: Vec<Coordinate>,
    /// λ0_g, with ν on top.
    l0: f64,
    /// The penalty of the length of β_g, without λ1, where all features have the same penalty and no bounds.
    radial: Option<Coordinate>,
}

impl Block {
    /// Group g at the price `l0`.
    pub(crate) fn new(grouped: &Grouped<'_, '_>, g: usize, l0: f64) -> Self {
        let coordinates: Vec<Coordinate> =
            grouped.groups.members[g].iter().map(|&j| grouped.problem.coordinate(j).selected()).collect();
        let first = coordinates[0];
        let is_free = first.lower == f64::NEG_INFINITY && first.upper == f64::INFINITY;
        let is_radial = is_free && coordinates.iter().all(|c| *c == first);
        let radial = is_radial.then_some(Coordinate { l0, l1: 0.0, ..first });
        Self { coordinates, l0, radial }
    }

    /// ρ_g(β_g) = λ1‖β_g‖₁ + ρ(‖β_g‖) (MATH 9.6), or min_t { tλ0_g + Σ λ1_j|β_j| + Σ λ2_jβ_j²/t } (MATH 9.9).
    pub(crate) fn envelope(&self, beta: &[f64]) -> f64 {
        if let Some(radial) = self.radial {
            let absolute: f64 = beta.iter().map(|b| b.abs()).sum();
            return self.coordinates[0].l1 * absolute + radial.envelope(length(beta));
        }
        let share = self.share(beta);
        if share == 0.0 {
            return 0.0;
        }
        let terms = self.coordinates.iter().zip(beta).map(|(c, b)| c.l1 * b.abs() + c.l2 * b * b / share);
        share * self.l0 + terms.sum::<f64>()
    }

    /// t (MATH 9.9), the share of its price that ρ_g charges: ∂ρ_g/∂λ0_g.
    pub(crate) fn share(&self, beta: &[f64]) -> f64 {
        if beta.iter().all(|b| *b == 0.0) {
            return 0.0;
        }
        if let Some(radial) = self.radial {
            return radial.fraction(length(beta));
        }
        let shrunk: f64 = self.coordinates.iter().zip(beta).map(|(c, b)| c.l2 * b * b).sum();
        let within = |(c, b): (&Coordinate, &f64)| if *b == 0.0 { 0.0 } else { b.abs() / reach(*c, *b > 0.0) };
        let least = self.coordinates.iter().zip(beta).map(within).fold(0.0, f64::max);
        let free = if self.l0 > 0.0 { (shrunk / self.l0).sqrt() } else { 1.0 };
        free.max(least).min(1.0)
    }

    /// (a, κ) with the slope aβ_g + λ1 sign β_g and the curvature a Id + κβ_gβ_gᵀ of ρ_g at β_g (MATH 9.13); none at zero, and where
    /// the penalties of the features differ.
    pub(crate) fn bend(&self, beta: &[f64]) -> Option<(f64, f64)> {
        let (radial, size) = (self.radial?, length(beta));
        if size == 0.0 {
            return None;
        }
        if size > radial.knee(true) {
            return Some((2.0 * radial.l2, 0.0));
        }
        let pull = radial.slope(true) / size;
        Some((pull, -pull / (size * size)))
    }

    /// What the penalty of the group is above its envelope at β_g: what a decision is worth.
    pub(crate) fn excess(&self, beta: &[f64]) -> f64 {
        if beta.iter().all(|b| *b == 0.0) {
            return 0.0;
        }
        let own: f64 = self.coordinates.iter().zip(beta).map(|(c, b)| c.l1 * b.abs() + c.l2 * b * b).sum();
        (self.l0 + own - self.envelope(beta)).max(0.0)
    }

    /// argmin { ½c‖b‖² − qᵀb + ρ_g(b) } with q = cβ_g − τ_g (MATH 9.7, 9.10): the step of the group.
    pub(crate) fn step(&self, curvature: f64, beta: &[f64], tau: &[f64]) -> Vec<f64> {
        if let Some(radial) = self.radial {
            let l1 = self.coordinates[0].l1;
            let target = |(b, t): (&f64, &f64)| {
                let z = b - t / curvature;
                z.signum() * (z.abs() - l1 / curvature).max(0.0)
            };
            let z: Vec<f64> = beta.iter().zip(tau).map(target).collect();
            let size = length(&z);
            let scale = if size > 0.0 { radial.prox_envelope(curvature, curvature * size) / size } else { 0.0 };
            return z.iter().map(|z| scale * z).collect();
        }
        let pulls: Vec<f64> = beta.iter().zip(tau).map(|(b, t)| curvature * b - t).collect();
        let share = self.best_share(curvature, &pulls);
        let one = |(c, q): (&Coordinate, &f64)| share * slope(*c, curvature, *q, share).copysign(*q);
        self.coordinates.iter().zip(&pulls).map(one).collect()
    }

    /// The root t of Σ_j s_j(|q_j| − λ1_j − (ct + λ2_j)s_j) = λ0_g (MATH 9.11) within [0, 1]: the left side falls with t.
    fn best_share(&self, curvature: f64, pulls: &[f64]) -> f64 {
        let gain = |share: f64| -> f64 {
            let one = |(c, q): (&Coordinate, &f64)| {
                let (pull, s) = ((q.abs() - c.l1).max(0.0), slope(*c, curvature, *q, share));
                if s > 0.0 { s * (pull - (curvature * share + c.l2) * s) } else { 0.0 }
            };
            self.coordinates.iter().zip(pulls).map(one).sum()
        };
        if gain(0.0) <= self.l0 {
            return 0.0;
        }
        if gain(1.0) >= self.l0 {
            return 1.0;
        }
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..HALVINGS {
            let middle = 0.5 * (low + high);
            if gain(middle) > self.l0 { low = middle } else { high = middle }
        }
        0.5 * (low + high)
    }
}

/// |b_j|/t = min((|q_j| − λ1_j)₊/(ct + 2λ2_j), B_j) (MATH 9.10).
fn slope(c: Coordinate, curvature: f64, q: f64, share: f64) -> f64 {
    let pull = q.abs() - c.l1;
    if pull > 0.0 { (pull / (curvature * share + 2.0 * c.l2)).min(reach(c, q > 0.0)) } else { 0.0 }
}

/// The bound on |b| on the side of the given sign.
fn reach(c: Coordinate, positive: bool) -> f64 {
    if positive { c.upper } else { -c.lower }
}

fn length(beta: &[f64]) -> f64 {
    beta.iter().map(|b| b * b).sum::<f64>().sqrt()
}
