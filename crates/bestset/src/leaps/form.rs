//! A symmetric matrix with a vector, priced and pivoted: both halves of a [`Family`](crate::leaps::family::Family) are one of these.

use pulp::{Arch, NullaryFnOnce};
use serde::{Deserialize, Serialize};

/// M and v over positions 0..f; only the upper triangle of M is held, column after column. The leading block is then a prefix of
/// the storage, and the last position is taken away by forgetting it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Form {
    matrix: Vec<f64>,
    vector: Vec<f64>,
}

/// Where column j of a packed triangle starts.
#[inline(always)]
fn start(j: usize) -> usize {
    j * (j + 1) / 2
}

impl Form {
    /// M_ij = matrix(i, j) for i ≤ j.
    pub fn new(vector: Vec<f64>, matrix: impl Fn(usize, usize) -> f64) -> Self {
        let columns = 0..vector.len();
        let matrix = columns.flat_map(|j| (0..=j).map(move |i| (i, j))).map(|(i, j)| matrix(i, j)).collect();
        Self { matrix, vector }
    }

    /// M − eta Id.
    pub fn less(mut self, eta: f64) -> Self {
        (0..self.len()).for_each(|j| self.matrix[start(j) + j] -= eta);
        self
    }

    /// Number of positions.
    pub fn len(&self) -> usize {
        self.vector.len()
    }

    /// M_ij.
    #[inline]
    pub fn at(&self, i: usize, j: usize) -> f64 {
        self.matrix[start(i.max(j)) + i.min(j)]
    }

    /// v.
    pub fn vector(&self) -> &[f64] {
        &self.vector
    }

    /// v_j² / (2 M_jj), what position j is worth: its gain or its cost (MATH 11.29).
    #[inline]
    pub fn price(&self, j: usize) -> f64 {
        self.vector[j] * self.vector[j] / (2.0 * self.matrix[start(j) + j])
    }

    /// Takes over another form, in the storage at hand.
    pub fn copy(&mut self, other: &Self) {
        self.matrix.clone_from(&other.matrix);
        self.vector.clone_from(&other.vector);
    }

    /// Exchanges position a with the last.
    pub fn swap_last(&mut self, a: usize) {
        let (last, m) = (self.len() - 1, &mut self.matrix);
        if a == last {
            return;
        }
        for i in 0..a {
            m.swap(start(a) + i, start(last) + i);
        }
        for i in a + 1..last {
            m.swap(start(i) + a, start(last) + i);
        }
        m.swap(start(a) + a, start(last) + last);
        self.vector.swap(a, last);
    }

    /// Forgets the last position.
    pub fn truncate_last(&mut self) {
        let last = self.len() - 1;
        self.matrix.truncate(start(last));
        self.vector.truncate(last);
    }

    /// M_ij −= M_il M_jl / M_ll (MATH 7.5) and v_j −= M_jl v_l / M_ll for the last position l, which is then forgotten.
    pub fn eliminate_last(&mut self) {
        Arch::new().dispatch(Eliminate(self));
        self.truncate_last();
    }

    /// ½ (v_i² M_jj + v_j² M_ii − 2 M_ij v_i v_j) / (M_ii M_jj − M_ij²) (MATH 11.30): the pair i < j worth the most, if that is
    /// more than `need`.
    pub fn best_pair(&self, need: f64) -> Option<(f64, usize, usize)> {
        Arch::new().dispatch(BestPair(self, need))
    }
}

struct Eliminate<'a>(&'a mut Form);

impl NullaryFnOnce for Eliminate<'_> {
    type Output = ();
    #[inline(always)]
    fn call(self) {
        let Form { matrix, vector } = self.0;
        let last = vector.len() - 1;
        let (head, column) = matrix.split_at_mut(start(last));
        let inverse = 1.0 / column[last];
        let moved = vector[last] * inverse;
        for j in 0..last {
            let factor = column[j] * inverse;
            for (m, c) in head[start(j)..=start(j) + j].iter_mut().zip(&column[..=j]) {
                *m -= factor * c;
            }
            vector[j] -= moved * column[j];
        }
    }
}

impl Form {
    /// Every pair of positions worth more than `need`, with what it is worth (MATH 11.30).
    pub fn pairs(&self, need: f64) -> impl Iterator<Item = (f64, usize, usize)> {
        let pairs = (1..self.len()).flat_map(|j| (0..j).map(move |i| (i, j)));
        let worth = |(i, j): (usize, usize)| {
            let (u, v, cross) = (self.vector[i], self.vector[j], self.at(i, j));
            let (own, other) = (self.at(j, j), self.at(i, i));
            0.5 * (u * u * own + v * v * other - 2.0 * cross * u * v) / (own * other - cross * cross)
        };
        pairs.map(move |(i, j)| (worth((i, j)), i, j)).filter(move |pair| pair.0 > need)
    }
}

/// Pairs looked at together: a register of eight numbers.
const LANES: usize = 8;

struct BestPair<'a>(&'a Form, f64);

impl NullaryFnOnce for BestPair<'_> {
    type Output = Option<(f64, usize, usize)>;
    #[inline(always)]
    fn call(self) -> Self::Output {
        let Self(Form { matrix, vector }, mut need) = self;
        let diagonal: Vec<f64> = (0..vector.len()).map(|j| matrix[start(j) + j]).collect();
        let mut best = None;
        for j in 1..vector.len() {
            let (v, own, column) = (vector[j], diagonal[j], &matrix[start(j)..start(j) + j]);
            // worth > need without the division, which would cost more than all the rest: a positive excess.
            let excess = |i: usize| {
                let (u, other, cross) = (vector[i], diagonal[i], column[i]);
                own * (u * u - 2.0 * need * other) + v * v * other + cross * (2.0 * need * cross - 2.0 * v * u)
            };
            let mut largest = [0.0f64; LANES];
            let whole = j / LANES * LANES;
            for block in (0..whole).step_by(LANES) {
                for lane in 0..LANES {
                    let e = excess(block + lane);
                    largest[lane] = if e > largest[lane] { e } else { largest[lane] };
                }
            }
            if largest.iter().all(|e| *e <= 0.0) && (whole..j).all(|i| excess(i) <= 0.0) {
                continue;
            }
            for i in 0..j {
                let (u, other, cross) = (vector[i], diagonal[i], column[i]);
                let worth = 0.5 * (u * u * own + v * v * other - 2.0 * cross * u * v) / (own * other - cross * cross);
                if worth > need {
                    (need, best) = (worth, Some((worth, i, j)));
                }
            }
        }
        best
    }
}
