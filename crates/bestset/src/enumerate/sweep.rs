//! Whether any of many third features makes a pair better than what is known, in single precision (MATH 14.4–14.7).

use crate::enumerate::panel::LANES;
use pulp::{Arch, Simd, WithSimd};

/// Rounding of single precision.
pub const SINGLE: f64 = 1.0 / (1 << 24) as f64;

/// Of a column that is to be looked at whatever its products say, A_k′ is this below zero; where there is none it is this above.
pub const FAR: f32 = 1e30;

/// Two features that are in, as all third ones see them.
#[derive(Debug, Clone, Copy)]
pub struct Pair {
    /// s = 1/√d.
    stretch: f32,
    /// −g s.
    part: f32,
    /// −p_j.
    pull: f32,
    /// p_a² + p_j², what the two explain.
    pub explained: f64,
    /// What rounding may do to Ξ (MATH 14.7), +∞ where single precision says nothing.
    pub margin: f64,
}

impl Pair {
    /// a with the pull p_a and j with the pull q, whose product is g; p_a = g = 0 where there is no a. All are off by `error`.
    pub fn new(g: f64, q_a: f64, q_j: f64, error: f64) -> Self {
        let d = 1.0 - g * g;
        let s = 1.0 / d.max(f64::MIN_POSITIVE).sqrt();
        let pull = (q_j - g * q_a) * s;
        let margin = if d >= 64.0 * error { margin(error, s) } else { f64::INFINITY };
        let (stretch, part) = (s as f32, (-g * s) as f32);
        Self { stretch, part, pull: -pull as f32, explained: q_a * q_a + pull * pull, margin }
    }

    /// Ξ_k = q_k′² − Γ′A_k′ of one third feature (MATH 14.5).
    fn excess(&self, product: f32, g: f32, q: f32, lost: f32, beat: f32) -> f32 {
        let c = g * self.part + product * self.stretch;
        let v = c * self.pull + q;
        v * v + (c * c + lost) * beat
    }
}

/// 1.01 (2err(q′) + err(q′)² + err(A′) + 2.2(err + err(p)) + err(p)² + 6u) (MATH 14.6, 14.7), products and pulls being off by e.
fn margin(e: f64, s: f64) -> f64 {
    let u = SINGLE;
    let (q, d, ratio) = (3.1 * e + 3.0 * u, 2.1 * e + 3.0 * u, 1.3 * e * s * s);
    let pull = 3.2 * e * s + ratio + u;
    let c = 3.2 * e * s + ratio + 4.2 * u * s + 1.1 * u;
    let w = d + 2.0 * c + c * c + 2.0 * u;
    let v = q + pull + c + pull * c + 3.2 * u;
    let beat = 2.2 * (e + pull) + pull * pull;
    1.01 * (2.0 * v + v * v + w + beat + 6.0 * u)
}

/// The third features of a first one, side by side: g = A_ak, q = what a leaves of their pulls, lost = −(what it leaves of their
/// squares).
#[derive(Debug, Default)]
pub struct Thirds {
    g: Vec<f32>,
    q: Vec<f32>,
    lost: Vec<f32>,
}

impl Thirds {
    /// Those with the products `g` with a, pulls `q` and squares `d` beside which a has the pull `q_a`; no products where there is no a.
    pub fn fill(&mut self, g: Option<&[f32]>, q_a: f32, q: &[f32], d: &[f32]) {
        for (list, end) in [(&mut self.g, 0.0), (&mut self.q, 0.0), (&mut self.lost, -FAR)] {
            list.clear();
            list.resize(q.len() + LANES, end);
        }
        if let Some(g) = g {
            self.g[..q.len()].copy_from_slice(&g[..q.len()]);
        }
        for (k, &g) in self.g[..q.len()].iter().enumerate() {
            self.q[k] = q[k] - g * q_a;
            self.lost[k] = g * g - d[k];
        }
    }

    fn len(&self) -> usize {
        self.q.len() - LANES
    }
}

/// A second feature with its products with the thirds.
#[derive(Debug, Clone, Copy)]
pub struct Second<'s> {
    /// The two.
    pub pair: Pair,
    /// A_jk of the thirds, as many as these with what follows them.
    pub products: &'s [f32],
    /// The first third.
    pub from: usize,
    /// Γ′ (MATH 14.4).
    pub beat: f32,
}

impl Second<'_> {
    /// Whether Ξ ≤ `excess` leaves open that a third is wanted; all are where the two explain enough.
    pub fn may_be_beaten(&self, excess: f32) -> bool {
        let margin = self.pair.margin as f32;
        excess.is_nan() || excess >= -margin || self.beat <= margin
    }

    /// The thirds that may be wanted (MATH 14.7).
    pub fn survivors<'s>(&'s self, thirds: &'s Thirds) -> impl Iterator<Item = usize> + 's {
        (self.from..thirds.len()).filter(move |&k| {
            self.may_be_beaten(self.pair.excess(self.products[k], thirds.g[k], thirds.q[k], thirds.lost[k], self.beat))
        })
    }
}

struct Sweep<'s>(&'s Thirds, &'s [Second<'s>], &'s mut [f32]);

impl WithSimd for Sweep<'_> {
    type Output = ();
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self(thirds, seconds, out) = self;
        for (second, out) in seconds.iter().zip(out) {
            let whole = second.from..second.from + (thirds.len() - second.from).next_multiple_of(LANES);
            let all = [second.products, &thirds.g, &thirds.q, &thirds.lost];
            let [x, g, q, lost] = all.map(|list| S::as_simd_f32s(&list[whole.clone()]).0);
            let Pair { stretch, part, pull, .. } = second.pair;
            let [stretch, part, pull, beat] = [stretch, part, pull, second.beat].map(|v| simd.splat_f32s(v));
            let mut largest = simd.splat_f32s(f32::NEG_INFINITY);
            for (((&x, &g), &q), &lost) in x.iter().zip(g).zip(q).zip(lost) {
                let c = simd.mul_add_e_f32s(g, part, simd.mul_f32s(x, stretch));
                let v = simd.mul_add_e_f32s(c, pull, q);
                let m = simd.mul_add_e_f32s(c, c, lost);
                let h = simd.mul_add_e_f32s(v, v, simd.mul_f32s(m, beat));
                largest = simd.max_f32s(largest, h);
            }
            *out = simd.reduce_max_f32s(largest);
        }
    }
}

/// The largest Ξ over the thirds of each second.
pub fn sweep(thirds: &Thirds, seconds: &[Second<'_>], largest: &mut Vec<f32>) {
    largest.clear();
    largest.resize(seconds.len(), f32::NEG_INFINITY);
    Arch::new().dispatch(Sweep(thirds, seconds, largest));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::common::{normal, pick, rng};

    /// Vectors of length one around a common one, the last for the targets.
    fn units(rng: &mut crate::common::ChaCha8Rng, n: usize, count: usize) -> Vec<Vec<f64>> {
        let common: Vec<f64> = (0..n).map(|_| normal(rng)).collect();
        let near = pick(rng, &[3.0, 0.3, 0.03, 0.01]);
        let one = |_| {
            let v: Vec<f64> = common.iter().map(|c| c + near * normal(rng)).collect();
            let length = v.iter().map(|x| x * x).sum::<f64>().sqrt();
            v.iter().map(|x| x / length).collect()
        };
        (0..count).map(one).collect()
    }

    /// Ξ in single precision is within its bound of the one in double precision, one by one and many at once, and the bound is not far
    /// above what rounding does.
    #[test]
    fn the_rounding_is_within_its_bound_and_not_far_below() {
        let (mut rng, mut largest, mut judged) = (rng(14), 0.0f64, 0);
        for _ in 0..400 {
            let (n, count) = (9, 37);
            let columns = units(&mut rng, n, count + 1);
            let dot = |a: usize, b: usize| columns[a].iter().zip(&columns[b]).map(|(x, y)| x * y).sum::<f64>();
            let (q, g): (Vec<f64>, Vec<f64>) = (0..count).map(|k| (dot(k, count), dot(0, k))).unzip();
            let products: Vec<f64> = (0..count).map(|k| dot(1, k)).collect();
            let narrow = |v: &[f64]| v.iter().map(|x| *x as f32).collect::<Vec<f32>>();
            let (q32, g32) = (narrow(&q), narrow(&g));
            let mut row = narrow(&products);
            row.resize(count + LANES, 0.0);
            let wide = |x: f32| f64::from(x);
            let pair = Pair::new(wide(g32[1]), wide(q32[0]), wide(q32[1]), SINGLE);
            if pair.margin == f64::INFINITY {
                continue;
            }
            judged += 1;
            let s = 1.0 / (1.0 - g[1] * g[1]).sqrt();
            let pull = (q[1] - g[1] * q[0]) * s;
            let wanted = 0.9;
            let beat = wanted - q[0] * q[0] - pull * pull;
            let exact = |k: usize| {
                let c = (products[k] - g[1] * g[k]) * s;
                (q[k] - g[k] * q[0] - c * pull).powi(2) - beat * (1.0 - g[k] * g[k] - c * c)
            };
            let mut thirds = Thirds::default();
            thirds.fill(Some(&g32), q32[0], &q32, &vec![1.0; count]);
            let second = Second { pair, products: &row, from: 2, beat: (wanted - pair.explained) as f32 };
            for k in 2..count {
                let found = pair.excess(row[k], thirds.g[k], thirds.q[k], thirds.lost[k], second.beat);
                let share = (wide(found) - exact(k)).abs() / pair.margin;
                assert!(share <= 1.0, "{share}");
                largest = largest.max(share);
            }
            let mut most = Vec::new();
            sweep(&thirds, &[second], &mut most);
            let best = (2..count).map(exact).fold(f64::NEG_INFINITY, f64::max);
            // Where the two explain enough, what follows the last third has an excess too.
            assert!(second.beat <= 0.0 || (wide(most[0]) - best).abs() <= pair.margin, "{} {best}", most[0]);
            assert!(second.may_be_beaten(most[0]) || best < 0.0);
        }
        assert!(judged > 300 && largest > 0.01, "{judged} {largest}");
    }
}
