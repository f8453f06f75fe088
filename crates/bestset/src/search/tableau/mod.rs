//! All moves of one feature — add, drop, exchange — priced from one symmetric tableau, kept up to date by pivots.
//!
//! At the fit on a support S, with A = Q + 2 diag(λ2) and C the other positions, the tableau holds
//!
//!   M_SS = −A_SS⁻¹,   M_SC = A_SS⁻¹A_SC,   M_CC = A_CC − A_CS A_SS⁻¹ A_SC, of which M_jj = A_{j|S},   r_S = β_S,   r_C = −τ_C,
//!
//! so that, everything else refitted, with a_i = −M_ii (MATH 7.4–7.7):
//!
//! - dropping i raises the fit by β_i²/(2 a_i);
//! - adding j lowers it by (|r_j| − λ1)₊² / (2 M_jj);
//! - after i is dropped, r_j becomes r_j + M_ij β_i/a_i and M_jj becomes M_jj + M_ij²/a_i.
//!
//! With fixed signs λ1|b| ≥ λ1 sign·b: a price never promises less than a move can bring, so that no improving price means no
//! improving move (quadratic loss).

mod build;
mod grow;

use crate::kernel;
use crate::penalty::Coordinate;

/// Multiplications of a build that take as long as one of a pivot: a build is made by blocks, a pivot waits for memory. 1805 positions, 1690 of
/// them in the support: 15·10⁹ a second against 0.6 to 1.5·10⁹.
const BLOCKED: f64 = 8.0;

/// A change of the support; positions are those of the active set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Move {
    /// The feature that leaves.
    pub drop: Option<usize>,
    /// The feature that enters.
    pub add: Option<usize>,
}

/// The tableau at a support.
#[derive(Clone)]
pub struct Tableau {
    coordinates: Vec<Coordinate>,
    len: usize,
    /// The lower triangle of M, column after column: pivots are what the search spends its time on.
    data: Vec<f64>,
    /// P less that of the support it was made for.
    value: f64,
    /// Q_kk + 2λ2.
    own: Vec<f64>,
    rhs: Vec<f64>,
    /// Sign of each support coefficient as it entered, 0 outside.
    signs: Vec<f64>,
    /// What the fit that it was made for lacks of the best one on its support.
    unfitted: f64,
}

impl Tableau {
    #[inline]
    fn at(&self, i: usize, j: usize) -> f64 {
        self.data[i.min(j) * self.len + i.max(j)]
    }

    /// Column k of the whole matrix.
    fn column(&self, k: usize) -> Vec<f64> {
        let above = (0..k).map(|j| self.data[j * self.len + k]);
        above.chain(self.data[k * self.len + k..(k + 1) * self.len].iter().copied()).collect()
    }

    fn is_inside(&self, k: usize) -> bool {
        self.signs[k] != 0.0
    }

    /// Whether what is left of column k, of curvature s, is rounding.
    fn is_dependent(&self, k: usize, s: f64) -> bool {
        s <= 1e-10 * self.own[k]
    }

    /// Number of positions.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The fitted coefficients, zero outside the support.
    pub fn beta(&self) -> Vec<f64> {
        (0..self.len).map(|k| if self.is_inside(k) { self.rhs[k] } else { 0.0 }).collect()
    }

    /// β_i²/(2(A_SS⁻¹)_ii) (MATH 7.4): what the fit loses without i, its price not counted.
    fn cost(&self, i: usize) -> f64 {
        self.rhs[i] * self.rhs[i] / (-2.0 * self.at(i, i))
    }

    /// −min_b { ½sb² − qb + λ1|b| } over the bounds (MATH 7.6), s = A_{j|S}.
    #[inline]
    pub(crate) fn gain(coordinate: &Coordinate, q: f64, s: f64) -> f64 {
        let pull = q.abs() - coordinate.l1;
        let reach = if q > 0.0 { coordinate.upper } else { -coordinate.lower };
        if pull <= 0.0 || s <= 0.0 {
            return 0.0;
        }
        let size = (pull / s).min(reach);
        size * (pull - 0.5 * s * size)
    }

    /// Puts in another fit on the same support, and the gradients there.
    pub fn retarget(&mut self, beta: &[f64], gradients: &[f64]) {
        self.rhs = beta.iter().zip(gradients).map(|(&b, g)| if b != 0.0 { b } else { -g }).collect();
        self.signs = beta.iter().map(|b| if *b != 0.0 { b.signum() } else { 0.0 }).collect();
    }

    /// The change of P when position k enters or leaves the support, everything else refitted; `None` when it has nothing to
    /// bring, or depends on the support so that it could not be fitted.
    pub fn flip(&self, k: usize) -> Option<f64> {
        let c = &self.coordinates[k];
        if self.is_inside(k) {
            return Some(self.cost(k) - c.l0);
        }
        let gain = Self::gain(c, self.rhs[k], self.at(k, k));
        (gain > 0.0 && !self.is_dependent(k, self.at(k, k))).then_some(c.l0 - gain)
    }

    /// The support, and the other positions with the best flips: `room.0` for each of the support, and at least `room.1`.
    pub fn nearest(&self, room: (usize, usize)) -> Vec<usize> {
        let (mut inside, outside): (Vec<usize>, Vec<usize>) = (0..self.len).partition(|&k| self.is_inside(k));
        let price = |&k: &usize| (self.flip(k).unwrap_or(f64::INFINITY), -self.rhs[k].abs(), k);
        let mut priced: Vec<(f64, f64, usize)> = outside.iter().map(price).collect();
        priced.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.cmp(&b.2)));
        priced.truncate((room.0 * inside.len()).max(room.1));
        inside.extend(priced.iter().map(|p| p.2));
        inside.sort_unstable();
        inside
    }

    /// The tableau of some positions only, the support among them: the others just never enter.
    pub fn select(&self, positions: &[usize]) -> Self {
        let pick = |of: &[f64]| -> Vec<f64> { positions.iter().map(|&k| of[k]).collect() };
        let column = |&l: &usize| pick(&self.column(l));
        Self {
            coordinates: positions.iter().map(|&k| self.coordinates[k]).collect(),
            len: positions.len(),
            data: positions.iter().flat_map(column).collect(),
            value: self.value,
            own: pick(&self.own),
            rhs: pick(&self.rhs),
            signs: pick(&self.signs),
            unfitted: self.unfitted,
        }
    }

    /// The moves that lower P by more than `margin` (MATH 7.4–7.7), best first, at most `most`, and whether these are all that
    /// may: a column that depends on the others has a price only after the one it depends on has left, and no price holds where
    /// the coefficients are not the best on their support.
    pub fn improving(&self, margin: f64, most: usize) -> (Vec<(f64, Move)>, bool) {
        let inside: Vec<usize> = (0..self.len).filter(|&k| self.is_inside(k)).collect();
        let mut found: Vec<(f64, Move)> = Vec::new();
        let mut complete = true;
        let mut offer = |change: f64, drop: Option<usize>, add: Option<usize>, dependent: bool| {
            if change < -margin {
                match dependent {
                    true => complete = false,
                    false => found.push((change, Move { drop, add })),
                }
            }
        };
        // cost of dropping without its price, β_i/a_i and 1/a_i.
        let prices: Vec<(usize, f64, f64, f64)> = inside
            .iter()
            .map(|&i| {
                let a = -self.at(i, i);
                (i, self.cost(i) - self.coordinates[i].l0, self.rhs[i] / a, 1.0 / a)
            })
            .collect();
        for &(i, cost, ..) in &prices {
            offer(cost, Some(i), None, false);
        }
        let cheapest = prices.iter().map(|p| p.1).fold(f64::INFINITY, f64::min);
        let mut crossing = Vec::with_capacity(prices.len());
        for j in (0..self.len).filter(|&k| !self.is_inside(k)) {
            let (c, q) = (&self.coordinates[j], self.rhs[j]);
            // What is left of a dependent column is rounding: no less than that.
            let s = self.at(j, j).max(1e-15 * self.own[j]);
            offer(c.l0 - Self::gain(c, q, s), None, Some(j), self.is_dependent(j, s));
            // Dropping i can at most free (|q| + |M_ij|·|β_i|/a_i): skip the column when even the largest pull cannot pay.
            crossing.clear();
            crossing.extend(prices.iter().map(|p| self.at(p.0, j)));
            let push = prices.iter().zip(&crossing).map(|(p, v)| (v * p.2).abs()).fold(0.0, f64::max);
            if c.l0 - Self::gain(c, q.abs() + push, s).max(Self::gain(c, -q.abs() - push, s)) + cheapest >= -margin {
                continue;
            }
            for (&(i, cost, ratio, inverse), &v) in prices.iter().zip(&crossing) {
                let rest = s + v * v * inverse;
                offer(c.l0 + cost - Self::gain(c, q + v * ratio, rest), Some(i), Some(j), self.is_dependent(j, rest));
            }
        }
        let key = |m: &Move| (m.drop, m.add);
        found.sort_unstable_by(|x, y| x.0.total_cmp(&y.0).then(key(&x.1).cmp(&key(&y.1))));
        complete &= found.len() <= most && self.unfitted <= margin;
        found.truncate(most);
        (found, complete)
    }

    /// Takes position k in or out of the support: one symmetric pivot (MATH 7.7).
    pub fn pivot(&mut self, k: usize) {
        let (m, d) = (self.len, self.at(k, k));
        let entering = !self.is_inside(k);
        let column = self.column(k);
        if entering {
            self.signs[k] = self.rhs[k].signum();
            self.rhs[k] -= self.coordinates[k].l1 * self.signs[k];
        }
        let moved = self.rhs[k] / d;
        // Entering lowers the fit by r²/(2M_kk) for its price; leaving, with M_kk < 0, undoes just that.
        self.value += if entering { 1.0 } else { -1.0 } * self.coordinates[k].l0 - 0.5 * self.rhs[k] * moved;
        kernel::rank_one(-1.0 / d, &column, &mut self.data);
        kernel::axpy(-moved, &column, &mut self.rhs);
        let sign = if entering { 1.0 } else { -1.0 };
        for j in 0..m {
            self.data[j.min(k) * m + j.max(k)] = if j == k { -1.0 / d } else { sign * column[j] / d };
        }
        self.rhs[k] = sign * moved;
        if !entering {
            self.rhs[k] += self.coordinates[k].l1 * self.signs[k];
            self.signs[k] = 0.0;
        }
    }

    /// Takes the support to the positions that are `wanted`, but for those that depend on the rest of it, and drops from it what
    /// turns.
    pub fn go(&mut self, wanted: impl Fn(usize) -> bool, budget: &mut f64) {
        // What leaves does so first: a column that stands in for it cannot enter beside it.
        let mut pivoted: Vec<usize> = (0..self.len).filter(|&k| self.is_inside(k) && !wanted(k)).collect();
        pivoted.iter().for_each(|&k| self.pivot(k));
        for k in (0..self.len).filter(|&k| wanted(k)) {
            if !self.is_inside(k) && !self.is_dependent(k, self.at(k, k)) {
                self.pivot(k);
                pivoted.push(k);
            }
        }
        self.drop_turned(&mut pivoted);
        *budget -= 0.5 * pivoted.len() as f64 * (self.len * self.len) as f64;
    }

    /// Multiplications by pivots that take as long as building a tableau for m positions with a support of s, which is made by blocks.
    pub fn build_cost(m: usize, s: usize) -> f64 {
        let (m, s) = (m as f64, s as f64);
        (s * s * s / 6.0 + 0.5 * s * m * (s + m)) / BLOCKED
    }

    /// Applies moves while they lower P, dropping features whose coefficient would change sign, until none does, a
    /// coefficient leaves its bounds or the multiplications in `budget` are used up. Returns the number of moves, and
    /// whether no improving one is left.
    pub fn descend(&mut self, margin: f64, budget: &mut f64, stop: impl Fn() -> bool) -> (usize, bool) {
        let (mut count, mut value) = (0, self.value);
        while *budget > 0.0 && !stop() {
            let (moves, complete) = self.improving(margin, 1);
            let Some(&(_, step)) = moves.first() else {
                return (count, complete);
            };
            let mut pivoted: Vec<usize> = [step.drop, step.add].into_iter().flatten().collect();
            pivoted.iter().for_each(|&k| self.pivot(k));
            self.drop_turned(&mut pivoted);
            *budget -= (1 + pivoted.len()) as f64 * (self.len * self.len) as f64;
            let after = self.value;
            if after >= value - 0.5 * margin || self.leaves_bounds() {
                pivoted.iter().rev().for_each(|&k| self.pivot(k));
                break;
            }
            (value, count) = (after, count + 1);
        }
        (count, false)
    }

    /// Pivots out every coefficient whose sign is not the one it entered with: the best fit on the support has it at zero.
    pub(crate) fn drop_turned(&mut self, pivoted: &mut Vec<usize>) {
        let turned = |t: &Self| (0..t.len).find(|&k| t.signs[k] * t.rhs[k] < 0.0 && t.coordinates[k].l1 > 0.0);
        while let Some(k) = turned(self) {
            self.pivot(k);
            pivoted.push(k);
        }
    }

    fn leaves_bounds(&self) -> bool {
        let outside = |k: usize| self.rhs[k] < self.coordinates[k].lower || self.rhs[k] > self.coordinates[k].upper;
        (0..self.len).any(|k| self.is_inside(k) && outside(k))
    }

    /// P less that of the support it was made for.
    pub(crate) fn value(&self) -> f64 {
        self.value
    }

    /// For each support feature: what the fit loses without it, less its price (MATH 7.4), and the length of the vector whose
    /// product with a column x̂_j is the change of −τ_j: reach_i² = (β_i/a_i)² (a_i − Σ_l 2λ2_l (A_SS⁻¹)_li²) (MATH 7.8), without
    /// the terms of the support that is not in view at the most.
    pub fn removals(&self) -> Vec<(f64, f64)> {
        let inside: Vec<usize> = (0..self.len).filter(|&k| self.is_inside(k)).collect();
        let one = |&i: &usize| {
            let a = -self.at(i, i);
            let ridge: f64 = inside.iter().map(|&b| 2.0 * self.coordinates[b].l2 * self.at(b, i).powi(2)).sum();
            (self.cost(i) - self.coordinates[i].l0, (self.rhs[i] / a).abs() * (a - ridge).max(0.0).sqrt())
        };
        inside.iter().map(one).collect()
    }
}
