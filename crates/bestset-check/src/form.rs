//! A symmetric matrix from which features are eliminated one after the other (PROOF, "Elimination"): both halves of leaps and bounds.

use crate::bound::Choice;
use crate::round::{down, up};

/// Pivots are larger: what underflows is then far below what is allowed for.
const LEAST_PIVOT: f64 = 1e-110;

/// Entries of features with each other, with the targets, and of the targets.
#[derive(Clone)]
pub struct Form {
    /// The features, in the order of the form.
    pub features: Vec<usize>,
    /// Rows of the lower triangle.
    matrix: Vec<f64>,
    targets: Vec<f64>,
    own: f64,
    /// Features that have been eliminated.
    pub eliminated: usize,
    /// What lengths of fits are off by, and the share of their squares that rounding leaves (P14).
    error: f64,
    kept: f64,
}

/// Where row a of a packed triangle starts.
fn start(a: usize) -> usize {
    a * (a + 1) / 2
}

impl Form {
    /// entry(a, b) for b ≤ a, the targets at the place after the features.
    pub fn new(features: Vec<usize>, entry: impl Fn(usize, usize) -> f64) -> Self {
        let m = features.len();
        let matrix = (0..m).flat_map(|a| (0..=a).map(move |b| (a, b))).map(|(a, b)| entry(a, b)).collect();
        let (targets, own) = ((0..m).map(|b| entry(m, b)).collect(), entry(m, m));
        Self { features, matrix, targets, own, eliminated: 0, error: 0.0, kept: 1.0 }
    }

    /// With what (P14) allows for.
    pub fn with_error(self, error: f64, kept: f64) -> Self {
        Self { error, kept, ..self }
    }

    fn diagonal(&self, a: usize) -> f64 {
        self.matrix[start(a) + a]
    }

    /// Exchanges place a with the last.
    fn exchange(&mut self, a: usize) {
        let (last, m) = (self.features.len() - 1, &mut self.matrix);
        if a == last {
            return;
        }
        (0..a).for_each(|b| m.swap(start(a) + b, start(last) + b));
        (a + 1..last).for_each(|b| m.swap(start(b) + a, start(last) + b));
        m.swap(start(a) + a, start(last) + last);
        self.targets.swap(a, last);
        self.features.swap(a, last);
    }

    /// Forgets a place.
    fn forget(&mut self, a: usize) {
        self.exchange(a);
        self.features.pop();
        self.targets.pop();
        self.matrix.truncate(start(self.features.len()));
    }

    /// s_bc − s_bas_ac/s_aa, without a.
    fn eliminate(&mut self, a: usize) -> Result<(), String> {
        self.exchange(a);
        let last = self.features.len() - 1;
        let (head, row) = self.matrix.split_at_mut(start(last));
        let (pivot, target) = (row[last], self.targets[last]);
        let is_sound = pivot > LEAST_PIVOT && pivot.is_finite();
        if !is_sound {
            return Err(format!("feature {} depends on others of the fit", self.features[last]));
        }
        for b in 0..last {
            let share = row[b] / pivot;
            head[start(b)..=start(b) + b].iter_mut().zip(&row[..=b]).for_each(|(s, c)| *s -= share * c);
            self.targets[b] -= share * target;
        }
        self.own -= target / pivot * target;
        self.eliminated += 1;
        self.forget(last);
        Ok(())
    }

    /// Eliminates those of these features that are decided so, forgets the others.
    pub fn settle(&mut self, decided: &[usize], choices: &[Choice], gone: Choice) -> Result<(), String> {
        for &j in decided {
            match self.features.iter().rposition(|k| *k == j) {
                Some(a) if choices[j] == gone => self.eliminate(a)?,
                Some(a) => self.forget(a),
                None => {}
            }
        }
        Ok(())
    }

    /// Of an inverse: ρ, about 2 fit(T).
    pub fn with_all(&self) -> f64 {
        -self.own
    }

    /// Of an inverse: ρ + b_j²/g_jj, about 2 fit(T∖j).
    pub fn without(&self, a: usize) -> f64 {
        let square = down(self.targets[a] * self.targets[a]).max(0.0);
        down(down(square / self.diagonal(a)).max(0.0) - self.own)
    }

    /// Whether a fit that is about so much, as one of the two above, is at least ½length² by (P14).
    pub fn reaches(&self, about: f64, length: f64) -> bool {
        let needed = up(length + self.error);
        about.is_finite() && down(about * self.kept) >= up(needed * needed)
    }

    /// Whether all features have something of their own left.
    pub fn is_definite(&self) -> bool {
        (0..self.features.len()).all(|a| self.diagonal(a) > LEAST_PIVOT)
    }

    /// Whether the fit on the features that are in is at least so much.
    pub fn none_reaches(&self, least: f64) -> bool {
        self.own >= least
    }

    /// The places of single features with which the fit may be below so much.
    pub fn singles(&self, least: f64) -> Vec<usize> {
        let room = down(self.own - least);
        let holds = |a: usize| {
            let (square, q) = (self.diagonal(a), up(self.targets[a] * self.targets[a]));
            square > 0.0 && room > 0.0 && down(room * square) >= q
        };
        (0..self.features.len()).filter(|&a| !holds(a)).collect()
    }

    /// The pairs with which the fit may be below so much (P12).
    pub fn pairs(&self, least: f64) -> Vec<(usize, usize)> {
        let (m, room) = (self.features.len(), down(self.own - least));
        let diagonal: Vec<f64> = (0..m).map(|a| self.diagonal(a)).collect();
        let mut found = Vec::new();
        for a in 0..m {
            let (row, own, v) = (&self.matrix[start(a)..start(a) + a], diagonal[a], self.targets[a]);
            let holds = |b: usize| {
                let (other, cross, u) = (diagonal[b], row[b], self.targets[b]);
                let (product, overlap) = (own * other, cross * cross);
                let (explained, shared) = (u * u * own + v * v * other, 2.0 * cross * u * v);
                let excess = room * (product - overlap) - (explained - shared);
                // Eight roundings of terms of these sizes, and 10⁻²⁰⁰ for what underflows.
                let off = 2e-15 * (room * (product + overlap) + explained + shared.abs()) + 1e-200;
                let is_definite = product - overlap > 2e-15 * (product + overlap);
                is_definite & (excess >= off) & (off < f64::INFINITY)
            };
            let is_room = room > 0.0;
            let failures: u64 = (0..a).map(|b| u64::from(!holds(b))).sum();
            if !is_room || failures > 0 {
                found.extend((0..a).filter(|&b| !(is_room && holds(b))).map(|b| (b, a)));
            }
        }
        found
    }
}
