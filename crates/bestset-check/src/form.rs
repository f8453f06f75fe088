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
        Self { features, matrix, targets: (0..m).map(|b| entry(m, b)).collect(), own: entry(m, m), eliminated: 0 }
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

    /// Whether a feature is decided about in one of these ways.
    pub fn is_behind(&self, choices: &[Choice], ways: &[Choice]) -> bool {
        self.features.iter().any(|&j| ways.contains(&choices[j]))
    }

    /// Eliminates what is decided so, forgets what is decided otherwise.
    pub fn settle(&mut self, choices: &[Choice], gone: Choice) -> Result<(), String> {
        for a in (0..self.features.len()).rev() {
            let choice = choices[self.features[a]];
            if choice != Choice::Free && choice != gone {
                self.forget(a);
            }
        }
        for a in (0..self.features.len()).rev() {
            if choices[self.features[a]] == gone {
                self.eliminate(a)?;
            }
        }
        Ok(())
    }

    /// Of an inverse: g_yy, at least 1/2fit(T).
    pub fn with_all(&self) -> f64 {
        self.own
    }

    /// Of an inverse: g_yy − g_yj²/g_jj, at least 1/2fit(T∖j).
    pub fn without(&self, a: usize) -> f64 {
        let square = down(self.targets[a] * self.targets[a]).max(0.0);
        up(self.own - down(square / self.diagonal(a)).max(0.0))
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
